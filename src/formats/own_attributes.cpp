#include "formats/own_attributes.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/private_tree.hpp"
#include "model/stored_vocabulary.hpp"
#include "wire/cbor.hpp"

namespace tare {
namespace {

constexpr std::string_view kConfigKey = "tare.config", kVocabularyKey = "tare.vocabulary";
constexpr std::string_view kAttachmentsKey = "tare.attachments";
constexpr std::uint64_t kMaxAttachment = std::uint64_t{1} << 30;  // the size of the largest manifest

void take_attachments(Map& files, const std::string& rule, Model& model) {
  for (const auto& [name, bytes] : files)
    if (bytes.get<Bytes>() == nullptr) throw Error(ErrorKind::corrupt, rule, "is not a map of byte strings");
  // An entry of a few bytes makes an attachment that takes much more memory.
  constexpr std::size_t kMost = std::size_t{1} << 12;
  if (files.size() > kMost)
    throw Error(ErrorKind::limit, rule,
                fmt::format("expected at most {} attached files, found {}", kMost, files.size()));
  for (auto& [name, bytes] : files) model.attachments.push_back({name, Blob::memory(std::move(*bytes.get<Bytes>()))});
}

// Returns whether a reader would move the value out of the metadata.
bool is_taken(std::string_view key, const Value& value, std::string_view family) {
  Model alone;
  alone.metadata.set(key, value);
  Diagnostics silent;
  take_own_attributes(alone, family, silent, "", 0);
  return alone.metadata.empty();
}

}  // namespace

void check_own_attributes(const Model& model, std::string_view family) {
  const auto error = [&](std::string_view rule, std::string_view sentence) {
    return Error(ErrorKind::unsupported, fmt::format("{}.write.{}", family, rule), sentence);
  };
  // `has_part`: the model has a config, a vocabulary or attachments. Otherwise, a value that readers leave in the metadata
  // is no obstacle.
  const auto require_free = [&](std::string_view key, bool has_part) {
    if (const Value* const value = model.metadata.find(key);
        value != nullptr && (has_part || is_taken(key, *value, family)))
      throw error("reserved",
                  fmt::format("the metadata key {} is the one under which Tare keeps a part of the model in "
                              "such a file; rename it",
                              key))
          .remedy(Remedy::drop, "metadata");
  };
  require_free(kConfigKey, !model.config.empty());
  require_free(kVocabularyKey, !model.vocabulary.empty());
  require_free(kAttachmentsKey, !model.attachments.empty());
  wire::KeyCheck names;
  for (const Attachment& attachment : model.attachments) {
    if (!is_valid_utf8(attachment.name))
      throw error("name", "an attachment's name is not UTF-8, as zTensor asks")
          .about("attachment " + quote(attachment.name));
    names.add(attachment.name);
  }
  if (const auto twice = names.find_duplicate(); twice.data() != nullptr)
    throw error("duplicate", "the name appears twice").about("attachment " + quote(twice));
}

Map with_own_attributes(const Model& model) {
  Map attributes = model.metadata;
  if (!model.config.empty()) attributes.append(std::string(kConfigKey), model.config.to_map());
  if (!model.vocabulary.empty()) attributes.append(std::string(kVocabularyKey), stored_map(model.vocabulary));
  if (model.attachments.empty()) return attributes;
  Map attachments;
  for (const Attachment& attachment : model.attachments)
    attachments.append(attachment.name, attachment.blob.bytes(kMaxAttachment));
  attributes.append(std::string(kAttachmentsKey), std::move(attachments));
  return attributes;
}

void take_own_attributes(Model& model, std::string_view family, Diagnostics& diagnostics, const std::string& path,
                         std::uint64_t at) {
  const std::string rule = fmt::format("{}.private.malformed", family);
  PrivateTree tree(rule);
  const auto take = [&](std::string_view key, std::string_view part, const auto& apply) {
    Value* const kept = model.metadata.find(key);
    if (kept == nullptr) return;
    tree.put(part, std::move(*kept));
    try {
      apply();
      model.metadata.erase(key);
    } catch (const Error& error) {
      *kept = tree.release(part);
      diagnostics.warning(
          Error(ErrorKind::corrupt, rule, fmt::format("the attribute {}: {}", key, error.sentence())).in(path).at(at));
    }
  };
  take(kConfigKey, "config", [&] { tree.take_config(model); });
  take(kVocabularyKey, "vocabulary", [&] { tree.take_vocabulary(model); });
  take(kAttachmentsKey, "attachments", [&] { take_attachments(*tree.map("attachments"), rule, model); });
}

}  // namespace tare
