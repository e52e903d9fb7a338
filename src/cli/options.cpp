#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "cli/text.hpp"
#include "model/dtype_option.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/digest.hpp"
#include "tare/quantize.hpp"

namespace tare::cli {
namespace {

Words color_words() { return {"auto", "always", "never"}; }

constexpr Option kUniversal[] = {
    {.name = "color",
     .value = "WHEN",
     .help = "when to colour; auto, the default, means on a terminal unless NO_COLOR is set",
     .words = color_words},
    {.letter = 'q', .name = "quiet", .help = "no progress and no remarks; results and errors only"},
    {.letter = 'h', .name = "help", .help = "show this help"},
};

}  // namespace

std::span<const Option> universal_options() { return kUniversal; }

std::string description_of(const Verb& verb) {
  std::string text(verb.description);
  if (verb.more != nullptr) text += "\n\n" + verb.more();
  return text;
}

std::vector<Option> own_options_of(const Verb& verb) {
  std::vector<Option> options;
  if (verb.more_options != nullptr) options = verb.more_options();
  options.insert(options.end(), verb.options.begin(), verb.options.end());
  return options;
}

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> options = own_options_of(verb);
  options.insert(options.end(), std::begin(kUniversal), std::end(kUniversal));
  return options;
}

std::string operands_text(const Verb& verb) {
  std::string text;
  for (const Operand& operand : verb.operands) {
    if (!text.empty()) text += ' ';
    const std::string name = fmt::format("{}{}", operand.name, operand.many ? "..." : "");
    text += operand.required ? name : fmt::format("[{}]", name);
  }
  return text;
}

std::string spelling(const Option& option) {
  if (option.value.empty()) return fmt::format("--{}", option.name);
  if (option.optional_value) return fmt::format("--{}[={}]", option.name, option.value);
  return fmt::format("--{} {}", option.name, option.value);
}

Words names_words() { return {"keep"}; }

Words drop_words() {
  Words words;
  for (const ModelPart part : kModelParts) words.emplace_back(name_of(part));
  return words;
}

std::vector<ModelPart> dropped_parts(const Arguments& arguments) {
  std::vector<ModelPart> parts;
  for (const std::string& word : arguments.all("drop")) parts.push_back(*parse_model_part(word));
  return parts;
}

std::string dtype_spelling(const std::string& value) {
  const auto type = parse_dtype_option(value);
  if (type) return std::string(name_of(*type));
  const auto near = nearest(value, dtype_spellings(), 1);
  return near.empty() ? value : near.front();
}

Words quant_words() {
  Words words;
  for (const Codec& codec : codecs())
    for (const std::string_view method : codec.methods) {
      const std::string full = fmt::format("{}{}", codec.name.substr(0, codec.name.find('.') + 1), method);
      if (find_codec_by_method(method) == &codec) words.emplace_back(method);
      if (find_codec_by_method(full) == &codec && full != method) words.push_back(full);
    }
  for (const Mix& mix : mixes())
    if (std::find(words.begin(), words.end(), mix.name) == words.end()) words.emplace_back(mix.name);
  return words;
}

Words digest_words() {
  Words words{std::string(name_of(DigestAlgorithm::none))};
  for (const auto algorithm :
       {DigestAlgorithm::sha256, DigestAlgorithm::crc32c, DigestAlgorithm::xxh3, DigestAlgorithm::xxh3_128})
    words.emplace_back(name_of(algorithm));
  return words;
}

ReadOptions read_options(const Arguments& arguments) {
  ReadOptions options;
  options.access = arguments.access();
  options.work.threads = arguments.threads();
  options.attach = arguments.all("attach");
  options.keep_broken = true;  // verbs that need all tensors refuse a model with broken ones
  if (arguments.has("max-expansion")) {
    options.limits.expansion = static_cast<std::uint64_t>(arguments.number("max-expansion", 32, 1, UINT32_MAX));
    options.limits.component_bytes = UINT64_MAX;
  }
  return options;
}

ReadOptions listing_options(const Arguments& arguments) {
  ReadOptions options = read_options(arguments);
  options.listing = true;
  return options;
}

namespace {

std::optional<std::uint64_t> shard_bytes(const Arguments& arguments) {
  if (!arguments.has("shard")) return std::nullopt;
  const auto bytes = parse_size(arguments.get("shard"));
  if (!bytes || *bytes == 0)
    throw UsageError(fmt::format("--shard takes a size such as 5GB or 500MiB, not '{}'", arguments.get("shard")));
  return bytes;
}

}  // namespace

Words overflow_words() { return {"error", "clamp", "infinity"}; }

Overflow overflow_from(const Arguments& arguments) {
  const std::string what = arguments.get("overflow");
  return what == "clamp" ? Overflow::clamp : what == "infinity" ? Overflow::infinity : Overflow::refuse;
}

WriteOptions write_options(const Arguments& arguments) {
  WriteOptions options;
  options.work.threads = arguments.threads();
  if (arguments.has("zstd")) options.zstd_level = static_cast<int>(arguments.number("zstd", 3, 1, 22));
  options.unpack = arguments.has("no-zstd");
  if (options.unpack && options.zstd_level) throw UsageError("--zstd and --no-zstd exclude each other");
  if (arguments.has("digest")) options.digest = parse_digest_algorithm(arguments.get("digest"));
  return options;
}

std::vector<std::pair<std::string, std::string>> set_pairs(const Arguments& arguments) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : arguments.all("set")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--set takes KEY=VALUE, not '{}'", printable(text)));
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

ConvertOptions conversion_options(const Arguments& arguments) {
  ConvertOptions options;
  options.to = arguments.get("to");
  options.read = read_options(arguments);
  options.write = write_options(arguments);
  options.write.shard_bytes = shard_bytes(arguments);
  options.overwrite = arguments.has("force");
  options.merge = arguments.all("merge");
  options.adapt.skip = arguments.all("skip");
  options.adapt.drop = dropped_parts(arguments);
  options.adapt.weights_only = arguments.has("weights-only");
  options.adapt.keep_names = arguments.has("names");
  options.adapt.set = set_pairs(arguments);
  options.work.threads = arguments.threads();
  return options;
}

bool verbose(const Arguments& arguments) {
  if (arguments.has("quiet") && arguments.has("verbose")) throw UsageError("--quiet and --verbose exclude each other");
  return arguments.has("verbose");
}

bool selected(const Arguments& arguments, std::string_view name) {
  const auto hit = [&](const std::string& pattern) { return glob_match(pattern, name); };
  const auto& match = arguments.all("match");
  const auto& skip = arguments.all("skip");
  return (match.empty() || std::any_of(match.begin(), match.end(), hit)) && std::none_of(skip.begin(), skip.end(), hit);
}

}  // namespace tare::cli
