// Writes metadata, config, vocabulary and attachments to ModelInfo, the header and the resource sections.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "codecs/mcf/layout.hpp"
#include "formats/mcf/model.hpp"
#include "model/stored_vocabulary.hpp"
#include "wire/value_json.hpp"

namespace tare::mcf {
namespace {

Error unwritable(std::string_view rule, std::string_view sentence, ErrorKind kind = ErrorKind::unsupported) {
  return Error(kind, rule, sentence);
}

// Returns the number as an f32 if that is exact and finite.
std::optional<float> exact_float(double number) {
  if (!std::isfinite(number) || std::fabs(number) > std::numeric_limits<float>::max()) return std::nullopt;
  const auto rounded = static_cast<float>(number);
  return static_cast<double>(rounded) == number ? std::optional(rounded) : std::nullopt;
}

// Returns the value if it is an integer in [low, high].
std::optional<std::uint32_t> integer_in(const Value& value, std::uint64_t low, std::uint64_t high) {
  const auto* const number = value.get<std::int64_t>();
  if (number == nullptr || *number < 0) return std::nullopt;
  const auto positive = static_cast<std::uint64_t>(*number);
  return positive >= low && positive <= high ? std::optional(static_cast<std::uint32_t>(positive)) : std::nullopt;
}

class OutlineMaker {
 public:
  explicit OutlineMaker(const Model& model) : model_(model) {}

  Outline run() {
    check_keys();
    add_attachments();
    info_.fields = fields_of(described({}, model_.config).config, resources::rope_scaling_of(model_));
    add_metadata();
    add_config_and_vocabulary();
    for (const Tensor& tensor : model_.tensors) add_notes(tensor);
    out_.info = build_info(info_);
    const std::uint64_t most = Limits().metadata_bytes;
    if (out_.info.size() > most)
      throw unwritable("mcf.write.limit",
                       fmt::format("ModelInfo would have {} bytes; readers take at most {}", out_.info.size(), most),
                       ErrorKind::limit);
    return std::move(out_);
  }

 private:
  void check_keys() const {
    NameViewSet keys;
    for (const auto& [key, value] : model_.metadata)
      if (!keys.insert(key).second)
        throw unwritable("mcf.write.duplicate", fmt::format("the metadata key {} appears twice", quote(key)));
  }

  // ---- attachments ----

  void add_attachments() {
    NameViewSet names;
    for (const Attachment& attachment : model_.attachments) {
      const Resource* const resource = resource_of(attachment.name);
      const auto section = parse_section_name(attachment.name);
      if (!names.insert(attachment.name).second) throw twice(attachment);
      if (attachment.name == kTokenizerConfig && merged_tokenizer_config(model_)) continue;
      if (resource != nullptr)
        out_.resources.push_back({{resource->type, 1, 0, attachment.blob.size()}, attachment.blob});
      else if (section)
        out_.others.push_back({{section->type, section->version, 0, attachment.blob.size()}, attachment.blob});
      else
        put(std::string(kAttachmentKey) + attachment.name, text_of(attachment));
    }
    add_chat_template();
    add_made();
    const auto by_type = [](const auto& a, const auto& b) { return a.first.type < b.first.type; };
    std::sort(out_.resources.begin(), out_.resources.end(), by_type);
    std::sort(out_.others.begin(), out_.others.end(), by_type);
    const auto same = std::adjacent_find(out_.others.begin(), out_.others.end(),
                                         [](const auto& a, const auto& b) { return a.first.type == b.first.type; });
    if (same != out_.others.end())
      throw unwritable("mcf.write.duplicate", fmt::format("two sections of type {}", name_of(same->first.type)));
  }

  // Writes the chat template to the file in which programs look for it, and keeps the original file, so that reading
  // restores it.
  void add_chat_template() {
    const auto merged = merged_tokenizer_config(model_);
    if (!merged) return;
    const auto bytes = std::as_bytes(std::span(*merged));
    out_.resources.push_back(
        {{SectionType::tokenizer_config, 1, 0, bytes.size()}, Blob::memory(Bytes(bytes.begin(), bytes.end()))});
    const Attachment* const before = model_.attachment(kTokenizerConfig);
    std::string original;
    if (before != nullptr) original = text_of(*before);
    put(fmt::format("{}{}", kOriginalKey, kTokenizerConfig), std::move(original));
  }

  // Stores a digest of each file that Tare made: a file that another program has replaced since is not ours.
  void add_made() {
    Map made;
    for (const Attachment& attachment : model_.attachments)
      if (const auto digest = attachment.made ? digest_text(attachment) : std::nullopt)
        made.set(attachment.name, *digest);
    if (!made.empty()) put(std::string(kMadeKey), wire::write_value_json(made));
  }

  static const Resource* resource_of(std::string_view name) {
    for (const Resource& resource : mcf::resources())
      if (resource.name == name) return &resource;
    return nullptr;
  }
  static Error twice(const Attachment& attachment) {
    return unwritable("mcf.write.duplicate", "the name appears twice").about("attachment " + quote(attachment.name));
  }
  static std::string text_of(const Attachment& attachment) {
    const std::uint64_t most = Limits().metadata_bytes;
    if (attachment.blob.size() > most)
      throw unwritable(
          "mcf.write.limit",
          fmt::format("{} bytes; a file without a section of its own may have {}", attachment.blob.size(), most),
          ErrorKind::limit)
          .about("attachment " + quote(attachment.name));
    return std::string(as_text(attachment.blob.bytes()));
  }

  void put(std::string key, std::string text) { info_.pairs.emplace(std::move(key), std::move(text)); }

  // ---- metadata ----

  void add_metadata() {
    for (const auto& [key, value] : model_.metadata)
      if (!take_field(key, value) && !take_pair(key, value)) tree_.append(key, value);
    if (!tree_.empty()) put(std::string(kMetadataKey), wire::write_value_json(tree_));
  }

  bool take_pair(const std::string& key, const Value& value) {
    // An empty key would be read as an absent one, and a user's key must not look like a private one.
    if (key.empty() || key.starts_with(kPrivatePrefix)) return false;
    if (const auto* const number = value.get<double>()) {
      const auto exact = exact_float(*number);
      if (exact) info_.pairs.emplace(key, *exact);
      return exact.has_value();
    }
    if (const auto number = integer_in(value, 0, kMaxU32)) {
      info_.pairs.emplace(key, *number);
      return true;
    }
    if (value.text() != nullptr) info_.pairs.emplace(key, *value.text());
    return value.text() != nullptr;
  }

  // Stores metadata that represents a field of the file, only if reading the field gives back the same value.
  bool take_field(std::string_view key, const Value& value) {
    if (key == kNameKey || key == kNameKey2) return take_name(key, value, kNameKey, kNameKey2, info_.model_name);
    if (key == kBaseKey || key == kBaseKey2) return take_name(key, value, kBaseKey, kBaseKey2, info_.base_model);
    if (!key.starts_with("mcf.")) return false;
    InfoFields& fields = info_.fields;
    if (key == kTrainContextKey) return take_train_context(value);
    if (key == kArchKey) return take_arch(value);
    if (key == kRopeTypeKey) return take_rope_type(value);
    if (key == kRopeScaleKey) {
      const auto* const number = value.get<double>();
      const auto scale = number == nullptr ? std::nullopt : exact_float(*number);
      if (scale && std::bit_cast<std::uint32_t>(*scale) == std::bit_cast<std::uint32_t>(fields.rope_scale))
        return false;
      return take(scale, fields.rope_scale);
    }
    if (key == kMinorKey) return take(integer_in(value, kMinor + 1, UINT16_MAX), out_.header.minor);
    if (key == kFlagsKey) return take_flags(value);
    if (key == kHeaderKey) return take_header(value);
    return false;
  }

  template <typename T, typename Field>
  static bool take(const std::optional<T>& value, Field& field) {
    if (value) field = static_cast<Field>(*value);
    return value.has_value();
  }

  // The second key represents the field if a pair has the first one.
  bool take_name(std::string_view key, const Value& value, std::string_view first, std::string_view second,
                 std::string& field) const {
    const auto usable = [](const Value* v) { return v != nullptr && v->text() != nullptr && !v->text()->empty(); };
    const bool second_wins = model_.metadata.find(first) != nullptr && usable(model_.metadata.find(second));
    if (!usable(&value) || key != (second_wins ? second : first)) return false;
    field = *value.text();
    return true;
  }

  bool take_arch(const Value& value) {
    const auto number = integer_in(value, 1, kMaxU32);
    if (number == info_.fields.arch) return false;
    // When it is read back, a known number becomes the model type if there is none, so it must stay metadata.
    if (number && !model_.config.model_type && *number <= kLastArch) return false;
    return take(number, info_.fields.arch);
  }

  bool take_train_context(const Value& value) {
    const auto number = integer_in(value, 1, kMaxU32);
    return number != info_.fields.train_context && take(number, info_.fields.train_context);
  }

  bool take_rope_type(const Value& value) {
    const auto usual = info_.fields.rope_type;
    if (value.text() != nullptr)
      for (std::uint32_t i = 0; i < std::size(kRopeTypes); ++i)
        if (*value.text() == kRopeTypes[i] && i != usual) return take(std::optional(i), info_.fields.rope_type);
    return take(integer_in(value, std::size(kRopeTypes), kMaxU32), info_.fields.rope_type);
  }

  bool take_flags(const Value& value) {
    std::uint64_t flags = 0;
    if (const auto* const number = value.get<std::uint64_t>()) flags = *number;
    if (const auto* const number = value.get<std::int64_t>(); number != nullptr && *number > 0)
      flags = static_cast<std::uint64_t>(*number);
    if (flags == 0 || (flags & kFlagAligned64) != 0) return false;
    out_.header.flags |= flags;
    return true;
  }

  bool take_header(const Value& value) {
    const auto* const bytes = value.get<Bytes>();
    if (bytes == nullptr || bytes->empty() || bytes->size() > kMaxU32 - kHeaderBytes) return false;
    out_.header.extra = *bytes;
    return true;
  }

  // ---- config, vocabulary ----

  // Returns what a reader gets from the fixed fields and the resource sections, given `config`.
  Model described(const InfoFields& fields, const Config& config) const {
    Diagnostics quiet;
    Model implied;
    implied.config = config;
    for (const Attachment& attachment : model_.attachments)
      if (resource_of(attachment.name) != nullptr) implied.attachments.push_back(attachment);
    complete_from(fields, implied, quiet);
    return implied;
  }

  // Adds only what a reader would not get otherwise.
  void add_config_and_vocabulary() {
    const Model implied = described(info_.fields, {});
    const Map known = implied.config.to_map();
    Map config;
    for (auto& [key, value] : model_.config.to_map()) {
      const Value* const same = known.find(key);
      if (same == nullptr || *same != value) config.append(key, value);
    }
    if (!config.empty()) put(std::string(kConfigKey), wire::write_value_json(config));
    if (!model_.vocabulary.empty() && model_.vocabulary != implied.vocabulary)
      put(std::string(kVocabularyKey), wire::write_value_json(stored_map(model_.vocabulary)));
  }

  // ---- tensors ----

  void add_notes(const Tensor& tensor) {
    if (tensor.is_dense()) {
      std::string note = stored_type(tensor.components.front()).note;
      if (!note.empty()) put(std::string(kTypeKey) + tensor.name, std::move(note));
    }
    if (tensor.attributes.empty()) return;
    Map attributes = tensor.attributes;
    if (!tensor.is_dense())
      // QuantInfo has these
      for (const std::string_view key : {"domain", "min_clip", "max_clip"}) attributes.erase(key);
    if (!attributes.empty()) put(std::string(kAttributesKey) + tensor.name, wire::write_value_json(attributes));
  }

  const Model& model_;
  Outline out_;
  InfoText info_;
  Map tree_;
};

}  // namespace

Outline outline_of(const Model& model) { return OutlineMaker(model).run(); }

}  // namespace tare::mcf
