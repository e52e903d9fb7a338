// quantize: converts with a recipe, and prints a table of the errors.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/advice.hpp"
#include "cli/change_report.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/quantize_recipe.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/token_file.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"
#include "tare/convert.hpp"
#include "tare/damage.hpp"
#include "tare/metadata.hpp"
#include "tare/quality.hpp"

namespace tare::cli::quantize_verb {
namespace {

// Tensors with the same new type, summed up.
struct Group {
  std::string type;
  bool encoded = false, measured = false;
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
  double squared_sum = 0, squared_error = 0, max_error = 0;
  std::uint64_t scales = 0, subnormal_scales = 0;
  std::string worst;
  double worst_rms = -1;

  void add(const TensorOutcome& outcome);
  void add(const Group& other);
  double rms() const { return squared_sum == 0 ? 0 : std::sqrt(squared_error / squared_sum); }
  double bits() const { return elements == 0 ? 0 : static_cast<double>(bytes) * 8 / static_cast<double>(elements); }
};

double rms_of(const EncodeReport& report) {
  return report.squared_sum == 0 ? 0 : std::sqrt(report.squared_error / report.squared_sum);
}

void Group::add(const TensorOutcome& outcome) {
  ++tensors;
  elements += outcome.elements;
  bytes += outcome.bytes;
  if (!is_measured(outcome)) return;
  measured = true;
  squared_sum += outcome.report->squared_sum;
  squared_error += outcome.report->squared_error;
  max_error = std::max(max_error, outcome.report->max_error);
  scales += outcome.report->scales;
  subnormal_scales += outcome.report->subnormal_scales;
  if (rms_of(*outcome.report) <= worst_rms) return;
  worst_rms = rms_of(*outcome.report);
  worst = outcome.name;
}

void Group::add(const Group& other) {
  tensors += other.tensors;
  elements += other.elements;
  bytes += other.bytes;
  measured = measured || other.measured;
  squared_sum += other.squared_sum;
  squared_error += other.squared_error;
  max_error = std::max(max_error, other.max_error);
  scales += other.scales;
  subnormal_scales += other.subnormal_scales;
  if (other.worst_rms <= worst_rms) return;
  worst_rms = other.worst_rms;
  worst = other.worst;
}

// Groups outcomes by type: encoded ones first, each kind in the order of first appearance; the sum of all last.
std::vector<Group> grouped(const std::vector<TensorOutcome>& outcomes) {
  std::vector<Group> groups;
  NameViewMap<std::size_t> places[2];  // by type: of outcomes that are kept, and of encoded ones
  Group all;
  all.type = "all";
  for (const TensorOutcome& outcome : outcomes) {
    const auto [place, is_new] = places[outcome.encoded ? 1 : 0].emplace(outcome.type, groups.size());
    if (is_new) {
      groups.emplace_back().type = outcome.type;
      groups.back().encoded = outcome.encoded;
    }
    groups[place->second].add(outcome);
    all.add(outcome);
  }
  std::stable_partition(groups.begin(), groups.end(), [](const Group& group) { return group.encoded; });
  groups.push_back(std::move(all));
  return groups;
}

// Sums up all groups but the first and the last ones: a file can name a type of its own for each tensor.
std::vector<Group> shortened(std::vector<Group> groups) {
  constexpr std::size_t kMostShown = 100;
  if (groups.size() <= kMostShown + 2) return groups;
  Group others;
  others.type = fmt::format("{} others", count_text(groups.size() - 1 - kMostShown));
  others.encoded = true;  // so that no word is added to the type
  for (std::size_t i = kMostShown; i + 1 < groups.size(); ++i) others.add(groups[i]);
  std::swap(groups[kMostShown], others);
  groups.erase(groups.begin() + kMostShown + 1, groups.end() - 1);
  return groups;
}

void print_table(const std::vector<Group>& groups, Session& session) {
  Table table({{"METHOD"},
               {.title = "TENSORS", .align = Align::right, .spare = 3},
               {.title = "WEIGHTS", .align = Align::right, .spare = 4},
               {"SIZE", Align::right},
               {"BITS/WEIGHT", Align::right},
               {"REL RMS", Align::right},
               {.title = "MAX ERROR", .align = Align::right, .spare = 2},
               {.title = "WORST", .align = Align::right, .spare = 1},
               {.title = "TENSOR", .elastic = true, .spare = 1}});
  for (const Group& group : groups) {
    const bool all = &group == &groups.back();
    const auto number = [&](double value) { return group.measured ? number_text(value) : std::string(); };
    table.add({Cell(all || group.encoded ? group.type : group.type + " (kept)", all ? Style::bold : Style::cyan),
               count_text(group.tensors), count_text(group.elements), size_text(group.bytes),
               fmt::format("{:.3f}", group.bits()), number(group.rms()), number(group.max_error),
               all ? std::string() : number(group.worst_rms),
               all ? std::string() : printable(escape_name(group.worst))});
  }
  table.print(session);
}

void write_numbers(JsonWriter& json, std::uint64_t elements, std::uint64_t bytes, double bits) {
  json.key("weights").number(elements).key("bytes").number(bytes).key("bits_per_weight").real(bits);
}

// Written only for methods with f16 scales.
void write_scales(JsonWriter& json, std::uint64_t scales, std::uint64_t subnormal) {
  if (scales > 0) json.key("scales").number(scales).key("subnormal_scales").number(subnormal);
}

void write_errors(JsonWriter& json, const Group& group) {
  if (group.measured) json.key("relative_rms").real(group.rms()).key("max_error").real(group.max_error);
  write_scales(json, group.scales, group.subnormal_scales);
}

// Warns if tensors were already quantized, because their errors are measured against the decoded weights. One line for
// all tensors, whatever their types.
std::vector<ReportLine> requantized_warning(const std::vector<Change>& changes) {
  std::size_t tensors = 0;
  std::vector<std::string_view> types;
  for (const Change& change : changes) {
    const bool coded =
        !change.before.empty() && std::ranges::find(codecs(), change.before, &Codec::name) != codecs().end();
    if (change.kind != ChangeKind::quantized || !coded) continue;
    tensors += change.items.size();
    if (std::ranges::find(types, change.before) == types.end()) types.push_back(change.before);
  }
  if (tensors == 0) return {};
  const std::string text =
      fmt::format("{} {} quantized already ({}); errors are measured against the decoded weights",
                  counted(tensors, "tensor"), tensors == 1 ? "was" : "were", fmt::join(types, ", "));
  return {{Impact::results, text, text}};
}

using tare::run::ChosenMethod;
using tare::run::Quality;

// Why each tensor got its method, the most damaged first.
void print_choice(std::vector<ChosenMethod> chosen, Session& session) {
  std::ranges::stable_sort(chosen, std::greater(), &ChosenMethod::damage);
  Table table({{.title = "TENSOR", .elastic = true},
               {"METHOD"},
               {"ERROR", Align::right},
               {"DAMAGE", Align::right},
               {"SMALLER"},
               {"DAMAGE", Align::right},
               {"LARGER"},
               {"DAMAGE", Align::right}});
  const auto name = [](const std::string& method) { return method.empty() ? std::string(kKeep) : method; };
  for (const ChosenMethod& one : chosen) {
    const auto method_of = [&](const auto& neighbour) { return neighbour ? name(neighbour->method) : std::string(); };
    const auto damage_of = [&](const auto& neighbour) {
      return neighbour ? number_text(neighbour->damage, 3) : std::string();
    };
    table.add({printable(escape_name(one.tensor)), Cell(name(one.method), Style::cyan),
               number_text(std::sqrt(one.relative_error), 3), number_text(one.damage, 3), method_of(one.smaller),
               damage_of(one.smaller), method_of(one.larger), damage_of(one.larger)});
  }
  table.print(session);
}

double expected_damage(const std::vector<ChosenMethod>& chosen) {
  double sum = 0;
  for (const ChosenMethod& one : chosen) sum += one.damage;
  return sum;
}

std::string measured_text(const Arguments& arguments) {
  return arguments.get("measure").empty() ? std::string(tare::run::sample_text())
                                          : text_in(arguments.get("measure"), arguments.access());
}

// Runs IN and OUT.
Quality measured(const Model& original, const Arguments& arguments, const ReadOptions& read, Session& session) {
  ProgressBar bar(session, "running both", std::nullopt);
  return tare::run::measure_quality(original, open(arguments.operand(1), read), measured_text(arguments),
                                    {.work = {.threads = arguments.threads(), .progress = bar.progress()}});
}

// The better of two recipes, by what is measured on a text that neither was made from; with what was measured.
std::pair<Quantization, Quality> better(const Model& original, const Arguments& arguments,
                                        const ConvertOptions& options, const std::vector<Quantization>& recipes,
                                        Session& session) {
  ProgressBar bar(session, "running both", std::nullopt);
  std::optional<std::pair<Quantization, Quality>> best;
  for (const Quantization& recipe : recipes) {
    SaveOptions how{.adapt = options.adapt, .write = options.write, .to = options.to, .work = options.work};
    how.adapt.quant = recipe;
    const Quality found =
        tare::run::draft_quality(original, arguments.operand(1), how, measured_text(arguments),
                                 {.work = {.threads = arguments.threads(), .progress = bar.progress()}});
    if (!best || found.kl.value < best->second.kl.value) best.emplace(recipe, found);
  }
  return *best;
}

void write_estimate(JsonWriter& json, std::string_view key, const tare::run::Estimate& estimate) {
  json.key(key).open('{').key("value").real(estimate.value).key("error").real(estimate.error).close('}');
}

void write_quality(JsonWriter& json, const Quality& quality) {
  json.key("quality").open('{').key("source").text(quality.source).key("text").text(quality.text);
  json.key("tokenizer").text(quality.tokenizer).key("tokens").number(quality.tokens);
  json.key("context").number(quality.context);
  write_estimate(json, "kl", quality.kl), write_estimate(json, "kl_99", quality.kl_99);
  write_estimate(json, "ratio", quality.ratio), write_estimate(json, "top_1", quality.top_1);
  json.close('}');
}

void print_json(const Conversion& done, const std::vector<Group>& groups, const std::optional<Quality>& quality,
                const Arguments& arguments, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("input").text(arguments.operand(0)).key("output").text(arguments.operand(1));
  json.key("from").text(done.from).key("to").text(done.to).key("file_bytes").number(done.file_bytes);
  write_numbers(json, groups.back().elements, groups.back().bytes, groups.back().bits());
  write_errors(json, groups.back());
  json.key("methods").open('[');
  for (const Group& group : groups) {
    if (&group == &groups.back()) break;
    json.open('{').key("method").text(group.type).key("encoded").boolean(group.encoded);
    json.key("tensors").number(group.tensors);
    write_numbers(json, group.elements, group.bytes, group.bits());
    write_errors(json, group);
    if (group.measured) {
      json.key("worst").open('{').key("name").text(one_line(group.worst));
      json.key("relative_rms").real(group.worst_rms).close('}');
    }
    json.close('}');
  }
  json.close(']').key("tensors").open('[');
  for (const TensorOutcome& outcome : done.outcomes) {
    json.open('{').key("name").text(one_line(outcome.name)).key("method").text(outcome.type);
    json.key("encoded").boolean(outcome.encoded);
    write_numbers(json, outcome.elements, outcome.bytes, outcome.bits_per_weight());
    if (is_measured(outcome))
      json.key("relative_rms").real(rms_of(*outcome.report)).key("max_error").real(outcome.report->max_error);
    if (is_measured(outcome)) write_scales(json, outcome.report->scales, outcome.report->subnormal_scales);
    json.close('}');
  }
  json.close(']');
  if (quality) write_quality(json, *quality);
  write_changes(json, done, &kVerb);
  json.close('}');
  session.line(text);
}

// Adds the option of the pattern to an error about a pattern.
Error with_option(const Error& error, const Arguments& arguments) {
  const auto is_meant = [&](std::string_view glob) { return error.item() == "pattern " + quote(glob); };
  const auto reworded = [&](std::string_view option) {
    return error.reworded(fmt::format("--{} matches no tensor; `tare ls` lists the names", option));
  };
  if (std::ranges::any_of(arguments.all("keep"), is_meant)) return reworded("keep");
  const auto glob_of = [](const std::string& word) { return std::string_view(word).substr(0, word.rfind('=')); };
  return std::ranges::any_of(arguments.all("method"), is_meant, glob_of) ? reworded("method") : error;
}

int run(const Arguments& arguments, Session& session) {
  if (arguments.operand(1) == "-") throw UsageError("the report goes to standard output; OUT must be a file");
  const bool wordy = verbose(arguments);
  ConvertOptions options = convert_verb::convert_options(arguments, kVerb);
  // Stays open: OUT may replace it.
  const Model original = open(arguments.operand(0), options.read);
  options.adapt.quant = recipe_from(arguments, options.adapt.quant, original);
  if (arguments.has("measure") && !options.merge.empty())
    throw UsageError("--measure compares OUT with IN, and --merge makes another model of it; merge first");
  std::vector<ChosenMethod> chosen;
  std::optional<Quality> quality;
  if (options.adapt.quant.bits && arguments.has("importance"))
    if (const tare::run::Damage damage = tare::run::read_damage(arguments.get("importance"), options.read);
        !damage.empty()) {
      const Quantization plain = options.adapt.quant;
      {
        ProgressBar bar(session, "measuring", std::nullopt);
        chosen = tare::run::choose_by_damage(original, options.to, plain, damage, options.work);
      }
      options.adapt.quant = tare::run::with_choice(plain, chosen);
      const Format* const target = find_format(options.to);
      if (arguments.has("measure") && target != nullptr && target->write != nullptr) {
        const auto [recipe, found] = better(original, arguments, options, {options.adapt.quant, plain}, session);
        if (recipe.bits) session.remark("note: squared errors chose better methods than damage did; they were used");
        options.adapt.quant = recipe, quality = found;
      }
    }
  if (arguments.has("explain") && chosen.empty())
    throw UsageError("--explain needs --bits, and --importance with a file of `tare calibrate --damage`");
  Conversion done;
  {
    ProgressBar bar(session, options.adapt.quant.bits ? "measuring, then quantizing" : "quantizing", std::nullopt);
    options.work.progress = bar.progress();
    try {
      done = convert(arguments.operand(0), arguments.operand(1), options);
    } catch (const Error& error) {
      throw with_option(error, arguments);
    }
  }
  const std::vector<Group> groups = grouped(done.outcomes);
  if (arguments.has("measure")) {
    if (!quality) quality = measured(original, arguments, options.read, session);
    try {
      (void)edit_metadata(arguments.operand(1), tare::run::quality_edits(*quality), {.read = options.read});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      session.remark(fmt::format("note: {} has no field for what was measured", printable(arguments.operand(1))));
    }
    done.file_bytes = open(arguments.operand(1), options.read).file_bytes;
  }
  if (arguments.has("json")) {
    print_json(done, groups, quality, arguments, session);
    return kDone;
  }
  std::vector<ReportLine> lines = scale_warnings(done.outcomes);
  for (ReportLine& line : requantized_warning(done.changes)) lines.push_back(std::move(line));
  for (ReportLine& line : weigh(done.changes, &kVerb))
    if (wordy || line.kind != ChangeKind::quantized) lines.push_back(std::move(line));
  report_changes(headline_of(done, arguments), lines, wordy, session);
  print_table(shortened(groups), session);
  if (arguments.has("explain")) {
    session.line();
    print_choice(chosen, session);
  }
  if (!chosen.empty()) session.line(fmt::format("expected KL {}", number_text(expected_damage(chosen))));
  if (quality)
    session.line(fmt::format("against {}: {}", printable(arguments.operand(0)), tare::run::to_text(*quality)));
  return kDone;
}

// Returns for example "mcf" for "mcf.q8".
std::string_view space_of(const Codec& codec) { return codec.name.substr(0, codec.name.find('.')); }

// Names the methods that can do something: "all of ggml, k6, k4", without repeating the methods of a whole family.
std::string methods_that(bool Codec::*can) {
  std::vector<std::string> parts;
  for (const Codec& first : codecs()) {
    const auto same = [&](const Codec& codec) { return !codec.methods.empty() && space_of(codec) == space_of(first); };
    if (first.methods.empty() || &*std::ranges::find_if(codecs(), same) != &first) continue;
    std::vector<std::string_view> with, without;
    for (const Codec& codec : codecs())
      if (same(codec))
        for (const std::string_view method : codec.methods) (codec.*can ? with : without).push_back(method);
    if (with.empty()) continue;
    if (without.size() >= with.size())
      parts.push_back(fmt::format("{}", fmt::join(with, ", ")));
    else if (without.empty())
      parts.push_back(fmt::format("all of {}", space_of(first)));
    else
      parts.push_back(fmt::format("all of {} but {}", space_of(first), fmt::join(without, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string about_methods() {
  std::vector<std::string> paragraphs;
  std::vector<std::string_view> mixed;
  std::string_view shown;  // the namespace of the last layout: "ggml"
  for (const Codec& codec : codecs())
    for (const std::string_view method : codec.methods) {
      const bool first = space_of(codec) != shown;
      shown = space_of(codec);
      if (first) paragraphs.push_back(fmt::format("Methods of {}: {}", shown, method));
      if (!first) paragraphs.back() += fmt::format(", {}", method);
    }
  // Most mixes have the name of a method as well, and are listed there.
  for (const Mix& mix : mixes())
    if (find_codec_by_method(mix.name) == nullptr) mixed.push_back(mix.name);
  paragraphs.push_back(
      fmt::format("Mixes of llama.cpp: {}. `q4_0` and the like are both: `--method q4_0` is llama.cpp's mix, "
                  "`GLOB=q4_0` and `--pure` the plain method",
                  fmt::join(mixed, ", ")));
  paragraphs.push_back(fmt::format("--importance: {}", methods_that(&Codec::weighted)));
  paragraphs.push_back(fmt::format("--range: {}", methods_that(&Codec::ranged)));
  paragraphs.push_back(fmt::format("Tensors of any rank: {}", methods_that(&Codec::any_rank)));
  return fmt::format("{}. `tare formats FORMAT` lists the methods that a container holds.",
                     fmt::join(paragraphs, ".\n\n"));
}

constexpr Operand kOperands[] = {{.name = "IN", .completes = Completes::files},
                                 {.name = "OUT", .completes = Completes::files}};
constexpr Example kExamples[] = {
    {"tare quantize model.safetensors model.mcf --method k4", "every matrix with 4 bits per weight"},
    {"tare quantize in.zt out.mcf --method k4 --method '*down_proj*=k6' --head q8", "a recipe"},
    {"tare quantize DIR model.gguf --method q4_k_m --importance imatrix.gguf", "for llama.cpp, with its imatrix"},
    {"tare quantize DIR model.gguf --method q4_k_m --merge my-lora/", "with an adapter added to the weights first"},
    {"tare quantize in.zt out.mcf --bits 4.5 --keep '*embed*'", "the least error with 4.5 bits per weight"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "quantize",
    .summary = "write a model with fewer bits per weight",
    .description =
        "Reads IN, whatever it is, and writes it as OUT with its float matrices quantized; everything else is kept as "
        "it is. Scales are searched for the least squared error unless --fast is given. Matrices that are quantized "
        "already are decoded first, unless they are in the method asked for. NaN and infinite weights are refused.\n\n"
        "--embeddings and --head decide first, then --keep, then --method GLOB=METHOD, and finally --method METHOD; "
        "without the last, all other tensors are kept. A note names tensors for which a GLOB=METHOD could not be "
        "followed: methods take matrices of floats, and some, asked for by name, floats of any rank.\n\n"
        "With --bits, the error of every method is estimated on a sample of each matrix and the bits are spent where "
        "they save the most. The average counts all tensors of OUT, kept ones included.\n\n"
        "Prints a table: for each method its tensors, the bits per weight, the error relative to the weights (root "
        "mean square), the largest error of one weight, and the tensor with the largest error. Before it, what "
        "was lost and changed is reported on standard error, with a warning if scales are below f16's normal "
        "numbers.\n\n"
        "--measure runs both models, as `tare compare` does, prints the KL divergence, its 99% quantile, the ratio of "
        "the "
        "perplexities and how often both expect the same token, and writes them into OUT as metadata (tare.quality.*), "
        "with the digests of IN, of the text and of its tokens. `tare verify --quality IN OUT` measures again.",
    .more = about_methods,
    .operands = kOperands,
    .options = kOptionsIn<&Option::quantize>,
    .sections = kSectionsIn<&Option::quantize>,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::quantize_verb
