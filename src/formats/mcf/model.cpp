// Conversions that reading and writing of ModelInfo share.
#include "formats/mcf/model.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/printable.hpp"
#include "formats/own_fields.hpp"

namespace tare::mcf {
namespace {

constexpr std::string_view kArchs[] = {"", "llama", "mistral", "qwen", "gemma", "granite", "smollm3"};
static_assert(std::size(kArchs) == kLastArch + 1);

// Members of a family that have another name in config.json.
constexpr std::pair<std::string_view, std::uint32_t> kRelatives[] = {
    {"qwen2", 3}, {"qwen3", 3}, {"gemma2", 4}, {"gemma3", 4}, {"gemma3_text", 4}};

// The counts of ModelInfo, by their names in kFields.
struct IntegerField {
  std::uint32_t InfoFields::*field;
  std::string_view name;

  const ConfigField& in_config() const { return field_called(kFields, name); }
  auto member() const { return count_called(kFields, name); }
};
constexpr IntegerField kIntegers[] = {
    {&InfoFields::vocab, "vocab"}, {&InfoFields::hidden, "hidden"},     {&InfoFields::layers, "layers"},
    {&InfoFields::heads, "heads"}, {&InfoFields::kv_heads, "kv_heads"}, {&InfoFields::context, "context"},
};

constexpr std::string_view kSectionPrefix = "mcf.section.";

template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Returns rope_theta in 32 bits; 0 if it does not fit.
float rope_base_of(const Config& config) {
  const double theta = config.rope_theta.value_or(0);
  const bool fits = std::isfinite(theta) && std::fabs(theta) <= std::numeric_limits<float>::max();
  return fits ? static_cast<float>(theta) : 0;
}

// Returns ModelInfo's number for a kind of scaling, which is its place in kRopeTypes; nothing if it has none. The first
// two mean no scaling.
std::optional<std::uint32_t> rope_type_of(std::string_view kind) {
  for (std::uint32_t i = 2; i < std::size(kRopeTypes); ++i)
    if (kRopeTypes[i] == kind) return i;
  return std::nullopt;
}

void set_scaling(InfoFields& fields, const resources::RopeScaling& scaling) {
  const std::int64_t context = scaling.original_context.value_or(0);
  if (context > 0 && context <= std::numeric_limits<std::uint32_t>::max())
    fields.train_context = static_cast<std::uint32_t>(context);
  const auto type = rope_type_of(scaling.kind);
  if (!type) return;
  fields.rope_type = *type;
  const double factor = scaling.factor.value_or(1);
  if (factor > 0 && factor <= std::numeric_limits<float>::max()) fields.rope_scale = static_cast<float>(factor);
}

}  // namespace

std::string section_name(const Section& section) {
  return fmt::format("{}{:08x}.{}", kSectionPrefix, static_cast<std::uint32_t>(section.type), section.version);
}

std::optional<Section> parse_section_name(std::string_view name) {
  if (!name.starts_with(kSectionPrefix) || name.size() < kSectionPrefix.size() + 10) return std::nullopt;
  const auto type = parse_number<std::uint32_t>(name.substr(kSectionPrefix.size(), 8), 16);
  const auto version = parse_number<std::uint32_t>(name.substr(kSectionPrefix.size() + 9), 10);
  if (!type || !version) return std::nullopt;
  const Section section = {SectionType{*type}, *version, 0, 0};
  // A section has only one spelling, and sections with a known type have none.
  if (section_name(section) != name || !name_of(section.type).starts_with("0x")) return std::nullopt;
  return section;
}

std::uint32_t arch_of(std::string_view model_type) {
  for (std::uint32_t i = 1; i < std::size(kArchs); ++i)
    if (kArchs[i] == model_type) return i;
  for (const auto& [name, arch] : kRelatives)
    if (name == model_type) return arch;
  return 0;
}

InfoFields usual_fields(const Config& config, const resources::RopeScaling& scaling) {
  InfoFields fields;
  fields.arch = arch_of(config.model_type.value_or(""));
  fields.rope_base = rope_base_of(config);
  if (fields.rope_base != 0) {
    fields.rope_type = 1;
    fields.rope_scale = 1;
  }
  set_scaling(fields, scaling);
  return fields;
}

InfoFields fields_of(const Config& config, const resources::RopeScaling& scaling) {
  InfoFields fields = usual_fields(config, scaling);
  for (const IntegerField& integer : kIntegers) {
    const std::int64_t value = (config.*integer.member()).value_or(0);
    if (value > std::numeric_limits<std::uint32_t>::max())
      throw Error(ErrorKind::limit, "mcf.write.limit",
                  fmt::format("{} is {}, which does not fit the 32 bits that ModelInfo has for it",
                              integer.in_config().name, value));
    if (value > 0) fields.*integer.field = static_cast<std::uint32_t>(value);
  }
  return fields;
}

std::vector<Change> remarks(const Model& model, const WriteOptions& /*options*/) {
  std::vector<Change> lines;
  const std::string kind = resources::rope_scaling_of(model).kind;
  if (!kind.empty() && !rope_type_of(kind) && model.metadata.find(kRopeTypeKey) == nullptr)
    lines.push_back(
        {.detail = fmt::format(
             "ModelInfo has no rope type for \"{}\" and says standard; config.json, carried unchanged, has it all",
             quote(kind))});
  if (merged_tokenizer_config(model))
    lines.push_back({.impact = Impact::detail,
                     .detail = fmt::format("{} is in the section of {}, too, where programs look for it", kTemplateFile,
                                           kTokenizerConfig)});
  return lines;
}

std::optional<std::string> digest_text(const Attachment& file) {
  if (file.blob.size() > resources::kMaxFileBytes) return std::nullopt;
  return digest_of(DigestAlgorithm::xxh3, file.blob.bytes()).text();
}

void complete_from(const InfoFields& fields, Model& model, Diagnostics& diagnostics) {
  const Config own = std::exchange(model.config, {});
  resources::describe(model, diagnostics);
  // From lowest to highest priority: config.json, the fixed fields, the config that was there before.
  Map all = model.config.to_map();
  Config stated;
  for (const IntegerField& integer : kIntegers)
    if (fields.*integer.field != 0) stated.*integer.member() = fields.*integer.field;
  // The field has 32 bits, so it agrees with every number that rounds to it.
  if (fields.rope_base != 0 && rope_base_of(model.config) != fields.rope_base)
    stated.rope_theta = static_cast<double>(fields.rope_base);
  // The field only names a family; the model_type of config.json is more precise.
  if (!model.config.model_type && fields.arch > 0 && fields.arch < std::size(kArchs))
    stated.model_type = kArchs[fields.arch];
  for (const Config* const config : std::initializer_list<const Config*>{&stated, &own})
    for (auto& [key, value] : config->to_map()) all.set(key, value);
  model.config = Config::from_map(all);
}

}  // namespace tare::mcf
