// compare: runs two models on the same tokens.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_stream.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/session.hpp"
#include "cli/statistics_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/token_file.hpp"
#include "cli/verbs.hpp"
#include "tare/open.hpp"

namespace tare::cli::compare_verb {
namespace {

using tare::run::Comparison;
using tare::run::Estimate;
using tare::run::PlaceDifference;
using tare::run::Position;

double at_most(const Arguments& arguments) {
  const std::string text = arguments.get("at-most");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || !std::isfinite(value))
    throw UsageError(fmt::format("--at-most takes a divergence in nats, such as 0.01, not '{}'", printable(text)));
  return value;
}

tare::run::Scorer scorer_of(const Arguments& arguments, std::size_t operand) {
  try {
    return tare::run::Scorer(open(arguments.operand(operand), read_options(arguments)));
  } catch (Error& error) {
    throw error.in(arguments.operand(operand));
  }
}

std::string with_error(const Estimate& estimate) {
  return fmt::format("{} ± {}", number_text(estimate.value), number_text(estimate.error, 2));
}

std::string percent(const Estimate& estimate) {
  return fmt::format("{:.2f}% ± {:.2f}%", 100 * estimate.value, 100 * estimate.error);
}

// Where they part, or why they do not.
std::string verdict(const Comparison& found) {
  if (found.parting) {
    std::string text = fmt::format("they part at {}", found.parting->place);
    if (!found.parting->tensor.empty()) {
      text += fmt::format(": {} ({})", printable(escape_name(found.parting->tensor)), found.parting->role);
      if (std::isfinite(found.parting->relative_rms))
        text += fmt::format(", relative error {}", number_text(found.parting->relative_rms));
      if (found.parting->row) text += fmt::format(", first in row {}", *found.parting->row);
      return text;
    }
    for (const auto& [name, values] : found.settings) text += fmt::format("; {} {}", name, printable(values));
    return text;
  }
  if (found.places.empty()) return "their layers cannot be compared: they have other sizes";
  if (found.kl_largest == 0) return "they say the same";
  std::string text = "they differ by rounding only";
  for (const auto& [cast, count] : found.casts) text += fmt::format("; {} ({})", cast, counted(count, "tensor"));
  return text;
}

// A piece of the text in one line.
std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", escape_name(text)); }

// Where the two disagree most: the end of the text up to there, what follows, and what each expected instead.
void print_worst(const Comparison& found, Session& session) {
  if (found.worst.empty() || found.worst.front().text.empty()) return;
  session.line();
  Table worst({{"TOKEN", Align::right},
               {"KL", Align::right},
               {"AFTER", Align::left, true},
               {"NEXT", Align::left, true},
               {"A EXPECTS", Align::left, true},
               {"B EXPECTS", Align::left, true}});
  for (const Position& one : found.worst)
    worst.add({fmt::format("{}", one.token), number_text(one.kl), in_quotes(one.text), in_quotes(one.next),
               in_quotes(one.said_a), in_quotes(one.said_b)});
  worst.print(session);
}

void print_text(const Comparison& found, Session& session) {
  Table numbers({{"MEASURE", Align::left}, {"VALUE", Align::left, true}});
  numbers.add({"KL divergence, mean", with_error(found.kl)});
  numbers.add({"KL divergence, median", with_error(found.kl_median)});
  numbers.add({"KL divergence, 99%", with_error(found.kl_99)});
  numbers.add({"KL divergence, largest", number_text(found.kl_largest)});
  if (found.predicted > 0) {
    numbers.add({"perplexity of A", with_error(found.a.perplexity)});
    numbers.add({"perplexity of B", with_error(found.b.perplexity)});
    numbers.add({"ratio B / A", with_error(found.ratio)});
  }
  numbers.add({"same best token", percent(found.top_1)});
  numbers.add({"same of the best five", percent(found.top_5)});
  numbers.add({"largest change of a probability", number_text(found.largest_change)});
  numbers.print(session);
  if (!found.places.empty() && found.kl_largest > 0) {
    session.line();
    Table places({{"PLACE", Align::left}, {"DIFFERENCE", Align::right}, {"OWN", Align::right}});
    for (const PlaceDifference& place : found.places) {
      const bool parts = found.parting && found.parting->place == place.name;
      places.add({Cell(place.name, parts ? Style::yellow : Style::plain), number_text(place.difference),
                  number_text(place.own)});
    }
    places.print(session);
  }
  print_worst(found, session);
  if (!session.quiet()) session.line(fmt::format("{}: {} compared", verdict(found), counted(found.tokens, "token")));
}

void write_estimate(JsonWriter& json, std::string_view key, const Estimate& estimate) {
  json.key(key).open('{').key("value").real(estimate.value).key("error").real(estimate.error).close('}');
}

void print_json(const Comparison& found, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("tokens").number(found.tokens).key("predicted").number(found.predicted);
  write_estimate(json, "kl", found.kl);
  write_estimate(json, "kl_median", found.kl_median);
  write_estimate(json, "kl_99", found.kl_99);
  json.key("kl_largest").real(found.kl_largest);
  write_estimate(json, "perplexity_a", found.a.perplexity);
  write_estimate(json, "perplexity_b", found.b.perplexity);
  write_estimate(json, "ratio", found.ratio);
  write_estimate(json, "top_1", found.top_1);
  write_estimate(json, "top_5", found.top_5);
  json.key("largest_change").real(found.largest_change).key("places").open('[');
  for (const PlaceDifference& place : found.places) {
    json.open('{').key("name").text(place.name).key("difference").real(place.difference);
    json.key("own").real(place.own).close('}');
  }
  json.close(']').key("parting");
  if (found.parting) {
    json.open('{').key("place").text(found.parting->place).key("layer");
    found.parting->layer ? json.number(*found.parting->layer) : json.null();
    json.key("tensor");
    found.parting->tensor.empty() ? json.null() : json.text(one_line(found.parting->tensor));
    json.key("role");
    found.parting->role.empty() ? json.null() : json.text(found.parting->role);
    json.key("relative_rms").real(found.parting->relative_rms).close('}');
  } else {
    json.null();
  }
  json.key("settings").open('{');
  for (const auto& [name, values] : found.settings) json.key(name).text(one_line(values));
  json.close('}').key("casts").open('{');
  for (const auto& [cast, count] : found.casts) json.key(cast).number(count);
  json.close('}').key("worst").open('[');
  for (const Position& one : found.worst) {
    json.open('{').key("token").number(one.token).key("kl").real(one.kl);
    json.key("best_a").number(std::int64_t{one.best_a}).key("best_b").number(std::int64_t{one.best_b});
    if (!one.text.empty()) {
      json.key("text").text(one_line(one.text)).key("next").text(one_line(one.next));
      json.key("said_a").text(one_line(one.said_a)).key("said_b").text(one_line(one.said_b));
    }
    json.close('}');
  }
  json.close(']').close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  const double most = arguments.has("at-most") ? at_most(arguments) : 0;
  const RunInput input = run_input(arguments);
  tare::run::Options options = run_options(arguments);
  const tare::run::Scorer a = scorer_of(arguments, 0), b = scorer_of(arguments, 1);
  warn_of_doubts(a, arguments.operand(0), session);
  warn_of_doubts(b, arguments.operand(1), session);
  Comparison found;
  {
    ProgressBar bar(session, "running", std::nullopt);
    options.work.progress = bar.progress();
    found = input.tokens ? compare(a, b, *input.tokens, options) : compare(a, b, input.text, options);
  }
  if (arguments.has("json"))
    print_json(found, session);
  else
    print_text(found, session);
  return found.kl.value <= most ? kDone : kFailed;
}

constexpr Operand kOperands[] = {{.name = "A", .completes = Completes::files},
                                 {.name = "B", .completes = Completes::files}};
constexpr Option kOptions[] = {
    kText,
    kTokens,
    kContext,
    kBegin,
    {.name = "at-most",
     .value = "KL",
     .help = "exit code 0 if the mean divergence is at most this, in nats; 0 by default"},
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare compare model model.gguf", "is the conversion right?"},
    {"tare compare model.gguf model-Q4_K_M.gguf --text wiki.test.raw --at-most 0.05 -q",
     "exit code 1 if quantization cost more"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "compare",
    .summary = "compare what two models say about the same text",
    .description =
        "Runs two models on the same text or tokens, whatever their containers and layouts, and compares what they "
        "predict "
        "as the next token: the KL divergence of B from A in nats, the perplexities, and how often both expect the "
        "same token. `tare families` lists the families that can be run (COMPUTES). Both tokenizers must turn the text "
        "into the same tokens.\n\n"
        "For each layer, DIFFERENCE is the relative difference of the hidden states after it, and OWN the part that "
        "the layer itself adds, if both models get A's hidden states. The last line is the verdict: the same, "
        "rounding only, or the first layer and tensor at which the two differ by more than the rounding of their types "
        "explains (or the setting that differs). Exit code 1 if the mean divergence is larger than --at-most.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::compare_verb
