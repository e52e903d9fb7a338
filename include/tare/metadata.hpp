// The metadata of a file, key by key: lists it, and edits it without touching the tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tare/export.hpp"
#include "tare/metadata_entry.hpp"
#include "tare/open.hpp"

namespace tare {

// The keys of the file that a model was read from, in its order and with its types. They include the keys for config
// and vocabulary if the container has such; otherwise they are Model::metadata. Keys for whose values the container has
// no type come last, with the type "private": the file holds them, but no other program finds them.
[[nodiscard]] TARE_API std::vector<MetadataEntry> metadata_entries(const Model& model);

enum class MetadataEditKind : std::uint8_t {
  set,  // sets `key` to `value`, of the type `type`
  // Likewise, from text that a person typed: JSON or else a string; ":TYPE" may follow the key.
  read,
  remove,  // removes `key`
  rename,  // renames `key` to `to`, in the same position
};

// A requested edit. If no type is given, an existing key keeps its type, and a new key gets the usual one.
struct MetadataEdit {
  MetadataEditKind kind = MetadataEditKind::set;
  std::string key;
  Value value = {};
  std::string type = {};
  std::string to = {};
};

// A key that changed. Only `after`: it is new; only `before`: it was removed.
struct MetadataChange {
  std::optional<MetadataEntry> before, after;
};

// Applies the edits, in order, to a model that was opened from a file. Returns the changed keys, in the order of the
// file. Throws `meta.key` for a key that does not exist, `meta.exists` for a new name that does, `meta.type` and
// `meta.value` for a type or value that the key cannot have, `meta.reserved` for keys that describe the structure of
// the file, `meta.kept_apart` for removing or renaming one that the file holds apart from its keys, `meta.room` if the
// container cannot hold the key. After an error the model is unchanged.
TARE_API std::vector<MetadataChange> edit_metadata(Model& model, std::span<const MetadataEdit> edits);

struct EditOptions {
  ReadOptions read = {};
  bool dry_run = false;  // only report what would be done
  Work work = {};        // replaces `read.work`, which is not used
};

struct Edited {
  std::vector<MetadataChange> changes;  // empty: nothing was done
  // A few bytes of the file were changed; otherwise it was rewritten with the bytes of the tensors
  // unchanged.
  bool in_place = false;
  // Attachments that repeat a changed value and would contradict it; they are omitted from the result.
  std::vector<std::string> omitted;
  std::uint64_t file_bytes = 0;  // size of the result, or of the existing file if nothing was written
};

// Edits a file or directory. At every moment, even after a kill or a power cut, the old file or the new one exists.
// Also throws `meta.files` for a model in several files of which none holds all metadata, and what `open` and `save`
// throw.
TARE_API Edited edit_metadata(const std::string& path, std::span<const MetadataEdit> edits,
                              const EditOptions& options = {});

}  // namespace tare
