// Reads metadata, config, vocabulary and attachments from ModelInfo, the header and the resource sections.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ranges>

#include "base/half.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/mcf/model.hpp"
#include "formats/private_tree.hpp"

namespace tare::mcf {
namespace {

Value value_of(const InfoPair& pair) {
  if (const auto* const number = std::get_if<std::uint32_t>(&pair.value)) return std::int64_t{*number};
  if (const auto* const number = std::get_if<float>(&pair.value)) return carry_to_f64(*number);
  return std::get<std::string_view>(pair.value);
}

class ModelReader {
 public:
  ModelReader(const Input& input, const ReadOptions& options, Model& model, TensorNotes& notes,
              Diagnostics& diagnostics)
      : input_(input), model_(model), notes_(notes), diagnostics_(diagnostics), limits_(options.limits) {}

  void run(const Info* info, const Container& container) {
    bounds_ = private_bounds(limits_);
    for (const Section& section : container.sections) add_section(section);
    const InfoFields fields = info == nullptr ? InfoFields() : info->fields;
    if (info != nullptr)
      for (const InfoPair& pair : info->pairs) add_pair(pair);
    if (info != nullptr) add_names(*info);
    restore_originals();
    mark_made();
    complete_from(fields, model_, diagnostics_);
    add_fields(fields);
    add_header(container.header);
  }

 private:
  void add_section(const Section& section) {
    std::string name = name_of(section.type);
    if (section.type <= SectionType::tensor_data && section.type >= SectionType::model_info) return;
    if (name.starts_with("0x")) name = section_name(section);
    section_names_.insert(name);
    model_.attachments.push_back({std::move(name), Blob::range(input_.source, section.offset, section.size)});
  }

  void add_pair(const InfoPair& pair) {
    if (!pair.key.starts_with(kPrivatePrefix) || !take_private(pair))
      model_.metadata.append(std::string(pair.key), value_of(pair));
  }

  void malformed(const InfoPair& pair, std::string_view why) {
    diagnostics_.warning(Error(ErrorKind::corrupt, "mcf.private.malformed",
                               fmt::format("the key {} {}; it is kept as metadata", quote(pair.key), why))
                             .in(input_.path)
                             .at(pair.at));
  }

  // Returns false if the pair is not in a form that we write; it is then ordinary metadata.
  bool take_private(const InfoPair& pair) {
    const auto* const text = std::get_if<std::string_view>(&pair.value);
    const auto rest = [&](std::string_view prefix) { return pair.key.substr(prefix.size()); };
    const bool named = pair.key.starts_with(kTypeKey) || pair.key.starts_with(kAttributesKey) ||
                       pair.key.starts_with(kAttachmentKey) || pair.key.starts_with(kOriginalKey);
    if (!named && pair.key != kMetadataKey && pair.key != kConfigKey && pair.key != kVocabularyKey &&
        pair.key != kMadeKey)
      return false;
    if (text == nullptr) {
      malformed(pair, "is not a string");
      return false;
    }
    if (pair.key.starts_with(kAttachmentKey)) return add_attachment(rest(kAttachmentKey), pair, text->size());
    if (pair.key.starts_with(kOriginalKey)) {
      originals_.push_back(pair);
      return true;
    }
    if (pair.key.starts_with(kTypeKey)) return notes_.types.emplace(rest(kTypeKey), *text).second;
    try {
      return take_map(pair, *text);
    } catch (const Error& error) {
      malformed(pair, fmt::format("does not parse: {}", error.sentence()));
      return false;
    }
  }

  // If a section holds more than the original file and has not been changed, restores the original file.
  void restore_originals() {
    for (const InfoPair& pair : originals_) {
      const std::string_view name = pair.key.substr(kOriginalKey.size());
      const auto original = std::get<std::string_view>(pair.value);
      const auto file = std::ranges::find(model_.attachments, name, &Attachment::name);
      if (name != kTokenizerConfig || file == model_.attachments.end() ||
          file->blob.size() > resources::kMaxFileBytes) {
        malformed(pair, "names a file that does not exist");
        model_.metadata.append(std::string(pair.key), original);
        continue;
      }
      const Bytes bytes = file->blob.bytes();
      const std::string_view stored = as_text(bytes);
      Attachment before{std::string(name),
                        original.empty() ? Blob() : Blob::range(input_.source, pair.at, original.size())};
      std::swap(*file, before);
      if (original.empty()) model_.attachments.erase(file);
      if (merged_tokenizer_config(model_) == stored) continue;
      diagnostics_.warning(Error(ErrorKind::corrupt, "mcf.private.stale",
                                 fmt::format("{} has changed since {} was put into it; it is read as it is now",
                                             kTokenizerConfig, kTemplateFile))
                               .in(input_.path)
                               .at(before.blob.offset()));
      if (original.empty())
        model_.attachments.push_back(std::move(before));
      else
        *std::ranges::find(model_.attachments, name, &Attachment::name) = std::move(before);
    }
  }

  bool add_attachment(std::string_view name, const InfoPair& pair, std::uint64_t size) {
    if (section_names_.contains(std::string(name))) {
      malformed(pair, "names a file that has a section of its own");
      return false;
    }
    Blob blob = size == 0 ? Blob::memory({}) : Blob::range(input_.source, pair.at, size);
    model_.attachments.push_back({std::string(name), std::move(blob)});
    return true;
  }

  bool take_map(const InfoPair& pair, std::string_view text) {
    Value value = wire::parse_value_json(text, bounds_);
    Map* const map = value.get<Map>();
    if (map == nullptr) {
      malformed(pair, "is not a JSON object");
      return false;
    }
    if (pair.key == kConfigKey)
      model_.config = Config::from_map(*map);
    else if (pair.key == kVocabularyKey)
      model_.vocabulary = Vocabulary::from_map(*map);
    else if (pair.key == kMetadataKey)
      tree_ = std::move(*map);
    else if (pair.key == kMadeKey)
      made_ = std::move(*map);
    else
      notes_.attributes.emplace(pair.key.substr(kAttributesKey.size()), std::move(*map));
    return true;
  }

  // Marks files that Tare made. A file with another digest has been replaced since, and is an attachment.
  void mark_made() {
    if (made_.empty()) return;
    for (Attachment& attachment : model_.attachments) {
      const Value* const digest = made_.find(attachment.name);
      attachment.made = digest != nullptr && digest->text() != nullptr && digest_text(attachment) == *digest->text();
    }
  }

  void add_names(const Info& info) {
    const auto is_pair = [&](std::string_view key) {
      return std::binary_search(info.pairs.begin(), info.pairs.end(), InfoPair{key, {}, 0},
                                [](const InfoPair& a, const InfoPair& b) { return a.key < b.key; });
    };
    for (auto& [key, value] : tree_)
      if (is_pair(key) && model_.metadata.find(key) != nullptr)
        conflict(key);
      else
        model_.metadata.append(key, std::move(value));
    const auto add = [&](const std::optional<std::string_view>& text, std::string_view key, std::string_view second) {
      if (text && !text->empty()) add_field(model_.metadata.find(key) == nullptr ? key : second, *text);
    };
    add(info.model_name, kNameKey, kNameKey2);
    add(info.base_model, kBaseKey, kBaseKey2);
  }

  void conflict(std::string_view key) {
    diagnostics_.warning(
        Error(ErrorKind::corrupt, "mcf.info.conflict",
              fmt::format("\"{}\" is stated in two places; the pair with that key is used", quote(key)))
            .in(input_.path));
  }

  void add_field(std::string_view key, Value value) {
    if (model_.metadata.find(key) != nullptr) return conflict(key);
    model_.metadata.append(std::string(key), std::move(value));
  }

  // Adds metadata for the fixed fields that have no config field, if they differ from what the writer would derive.
  void add_fields(const InfoFields& fields) {
    const auto warn = [&](std::string_view rule, std::string_view what, std::uint32_t number, std::uint32_t last) {
      diagnostics_.warning(Error(ErrorKind::unsupported, rule,
                                 fmt::format("{} {} is not one of the format's, 0 to {}", what, number, last))
                               .in(input_.path));
    };
    if (fields.arch > kLastArch) warn("mcf.info.arch", "the architecture", fields.arch, kLastArch);
    if (fields.rope_type >= std::size(kRopeTypes))
      warn("mcf.info.rope_type", "the rope type", fields.rope_type, std::size(kRopeTypes) - 1);
    const InfoFields usual = usual_fields(model_.config, resources::rope_scaling_of(model_));
    if (fields.arch != 0 && fields.arch != usual.arch) add_field(kArchKey, std::int64_t{fields.arch});
    if (fields.train_context != 0 && fields.train_context != usual.train_context)
      add_field(kTrainContextKey, std::int64_t{fields.train_context});
    // If all three are 0, the file does not describe rope.
    if (fields.rope_type == 0 && fields.rope_base == 0 && fields.rope_scale == 0) return;
    if (fields.rope_type != usual.rope_type) {
      if (fields.rope_type < std::size(kRopeTypes))
        add_field(kRopeTypeKey, kRopeTypes[fields.rope_type]);
      else
        add_field(kRopeTypeKey, std::int64_t{fields.rope_type});
    }
    if (std::bit_cast<std::uint32_t>(fields.rope_scale) != std::bit_cast<std::uint32_t>(usual.rope_scale))
      add_field(kRopeScaleKey, static_cast<double>(fields.rope_scale));
  }

  void add_header(const Header& header) {
    if (header.minor > kMinor) add_field(kMinorKey, std::int64_t{header.minor});
    if ((header.flags & ~kFlagAligned64) != 0) add_field(kFlagsKey, header.flags & ~kFlagAligned64);
    if (!header.extra.empty()) add_field(kHeaderKey, header.extra);
  }

  const Input& input_;
  Model& model_;
  TensorNotes& notes_;
  Diagnostics& diagnostics_;
  const Limits& limits_;
  wire::TreeBounds bounds_;  // bounds on all of them together
  Map tree_;
  std::vector<InfoPair> originals_;
  Map made_;  // digests by name
  NameSet section_names_;
};

}  // namespace

void fill_model(const Info* info, const Container& container, const Input& input, const ReadOptions& options,
                Model& model, TensorNotes& notes, Diagnostics& diagnostics) {
  ModelReader(input, options, model, notes, diagnostics).run(info, container);
}

void keep_stale_notes(const TensorNotes& notes, Model& model, Diagnostics& diagnostics) {
  std::map<std::string, Value> left;
  for (const auto& [name, type] : notes.types) left.emplace(std::string(kTypeKey) + std::string(name), type);
  for (const auto& [name, attributes] : notes.attributes)
    left.emplace(std::string(kAttributesKey) + std::string(name), wire::write_value_json(attributes));
  for (auto& [key, value] : left) {
    diagnostics.warning(Error(ErrorKind::corrupt, "mcf.private.stale",
                              fmt::format("the key {} fits no tensor; it is kept as metadata", quote(key))));
    model.metadata.append(key, std::move(value));
  }
}

}  // namespace tare::mcf
