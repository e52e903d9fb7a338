// convert: converts a model from one container to another.
#include "tare/convert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/advice.hpp"
#include "cli/change_report.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "tare/codec.hpp"

namespace tare::cli::convert_verb {
namespace {

std::vector<std::string_view> written_suffixes() {
  std::vector<std::string_view> all;
  for (const Format& format : formats())
    for (const std::string_view suffix : is_writable(format) ? format.suffixes : decltype(format.suffixes){})
      if (std::find(all.begin(), all.end(), suffix) == all.end()) all.push_back(suffix);
  return all;
}

// Returns the end of the sentence about an output whose suffix is not known: the path that was meant, or what helps.
std::string suffix_hint(const std::string& output) {
  std::vector<std::string> suffixes;
  for (const std::string_view suffix : written_suffixes())
    if (suffix.starts_with('.')) suffixes.emplace_back(suffix.substr(1));
  const std::size_t dot = output.find_last_of("./");
  if (dot != std::string::npos && output[dot] == '.')
    if (const auto near = nearest(lower_case(output.substr(dot + 1)), suffixes, 1); !near.empty())
      return fmt::format("; did you mean {}.{}?", output.substr(0, dot), near.front());
  if (dot == std::string::npos || output[dot] == '/')
    return fmt::format("; write {}/ for a directory in Hugging Face's layout, or name the format with --to",
                       printable(output));
  return fmt::format(" ({}); name the format with --to", fmt::join(written_suffixes(), " "));
}

// Returns for example "; zt, zt2 do", for an option that `needs` a capability.
std::string those_that_do(bool Capabilities::*needs) {
  std::vector<std::string_view> names;
  for (const Format& format : formats())
    if (is_writable(format) && format.holds.*needs) names.push_back(format.name);
  return names.empty() ? std::string()
                       : fmt::format("; {} {}", fmt::join(names, ", "), names.size() == 1 ? "does" : "do");
}

// Throws if the output is the input, which may be meant, but is more often a mistake.
void refuse_input_as_output(const Arguments& arguments) {
  const std::string& output = arguments.operand(1);
  std::error_code unknown;
  if (arguments.has("force") || output == "-" || !std::filesystem::equivalent(arguments.operand(0), output, unknown))
    return;
  throw Error(ErrorKind::usage, "io.sink.exists", "OUT is IN")
      .in(output)
      .blame(Subject::output)
      .remedy(Remedy::overwrite, "itself");
}

// Returns the format of OUT. Refuses an option that this format ignores: an option without effect misleads.
const Format& target_format(const Arguments& arguments, const Verb& verb) {
  const std::string& output = arguments.operand(1);
  const std::string to = arguments.get("to");
  const Format* const format = to.empty() ? format_of_suffix(output) : find_format(to);
  if (format == nullptr)
    throw UsageError(output == "-" ? "standard output has no suffix; name the format with --to"
                                   : fmt::format("'{}' does not end in the suffix of a known format{}", output,
                                                 suffix_hint(output)));
  if (!is_writable(*format)) {
    // The row's `versions` ends with the format to write instead.
    const std::size_t clause = format->versions.rfind("; ");
    throw UsageError(fmt::format("{} ({}) can be read but not written{}, or name another format with --to",
                                 format->name, format->title,
                                 clause == std::string_view::npos ? "" : format->versions.substr(clause)));
  }
  const auto is_offered = [&](std::string_view name) {
    return std::ranges::find(verb.options, name, &Option::name) != verb.options.end();
  };
  for (const Option& option : arguments.given())
    if (option.needs != nullptr && !(format->holds.*option.needs))
      throw UsageError(
          fmt::format("{} does not support --{}{}", format->name, option.name, those_that_do(option.needs)));
  if (const std::string dialect = arguments.get("dialect"); !dialect.empty()) {
    const auto& known = format->holds.dialects;
    if (known.empty()) throw UsageError(fmt::format("{} has no dialects", format->name));
    if (std::find(known.begin(), known.end(), dialect) == known.end())
      throw UsageError(
          fmt::format("{} has no dialect '{}'; it has {}", format->name, printable(dialect), fmt::join(known, ", ")));
  }
  if (arguments.has("overflow") && !arguments.has("dtype") && !arguments.has("quant") && is_offered("quant"))
    throw UsageError("--overflow needs --dtype or --quant");
  for (const Option& option : arguments.given())
    if (is_offered(option.with) && !arguments.has(option.with))
      throw UsageError(fmt::format("--{} needs --{}", option.name, option.with));
  if (output == "-" && !format->holds.forward_only)
    throw UsageError(fmt::format("{} cannot be written to a pipe", format->name));
  return *format;
}

ConvertOptions options_from(const Arguments& arguments, const Format& target) {
  ConvertOptions options = conversion_options(arguments);
  options.to = target.name;
  return options;
}

int run(const Arguments& arguments, Session& session) {
  const std::string& output = arguments.operand(1);
  const ConvertOptions checked = convert_options(arguments);
  const bool wordy = verbose(arguments);
  if (output == "-" && arguments.has("json")) throw UsageError("--json and the file cannot both go to standard output");
  if (output == "-" && session.screen().terminal && !arguments.has("force"))
    throw UsageError("binary data is not written to a terminal; name a file, use a pipe, or give --force");
  Conversion done;
  {
    ConvertOptions options = checked;
    ProgressBar bar(session, "converting", std::nullopt);
    options.work.progress = bar.progress();
    done = convert(arguments.operand(0), output, options);
  }
  if (arguments.has("json")) {
    session.line(conversion_json(done, arguments, &kVerb));
    return kDone;
  }
  std::vector<ReportLine> lines = scale_warnings(done.outcomes);
  for (ReportLine& line : weigh(done.changes)) lines.push_back(std::move(line));
  report_changes(headline_of(done, arguments), lines, wordy, session);
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "IN", .completes = Completes::files},
                                 {.name = "OUT", .completes = Completes::files}};
constexpr Example kExamples[] = {
    {"tare convert Llama-3.2-1B/ model.gguf --quant q4_k_m", "a downloaded model, quantized for llama.cpp"},
    {"tare convert Llama-3.2-1B/ model.zt", "as one file, with its config and tokenizer"},
    {"tare convert model.zt Llama-3.2-1B/ --shard 5GB", "and back into a directory, in several files"},
    {"tare convert Llama-3.2-1B/ all.safetensors --weights-only", "its shards merged into one file"},
    {"tare convert Llama-3.2-1B/ merged/ --merge my-lora/", "with an adapter added to its weights"},
    {"tare convert model.zt small.zt --dtype bf16 --set author=me", "cast, with a metadata key"},
    {"tare convert model.npz model.zt --zstd --digest sha256", "compressed, with a digest for every tensor"},
    {"tare convert model.zt - --to npz --match 'embed*' | ssh host 'cat > embed.npz'", "some tensors, through a pipe"},
};

}  // namespace

ConvertOptions convert_options(const Arguments& arguments, const Verb& verb) {
  const Format& target = target_format(arguments, verb);
  refuse_input_as_output(arguments);
  return options_from(arguments, target);
}

constexpr Verb kVerb{
    .name = "convert",
    .summary = "write a model in another container",
    .description =
        "Reads IN, a file or a model's directory, and writes it as OUT, in the format of OUT's suffix or of --to. A "
        "name that ends in / is a directory in Hugging Face's layout. OUT may be \"-\", standard output, where the "
        "format can be written to a pipe. Memory does not grow with the model. OUT appears whole or not at all; of a "
        "directory that is not empty, --force replaces the files of a model one by one, the weights last.\n\n"
        "If the format of OUT cannot hold something, it is converted without loss, or omitted and named, or the work "
        "stops and names the option that allows it. Nothing is dropped silently. Standard error says what was lost "
        "and changed, first what may change the results; --verbose adds the harmless details. An option that the "
        "format does not support is an error.",
    .operands = kOperands,
    .options = kOptionsIn<&Option::convert>,
    .sections = kSectionsIn<&Option::convert>,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::convert_verb
