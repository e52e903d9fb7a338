// The metadata of a file, key by key: what it has, and changing it without touching the tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tare/export.hpp"
#include "tare/format.hpp"

namespace tare {

// The keys of the file that a model was read from, in its order and with its types. Where a container has keys for what is
// config and vocabulary of a Model, they are among them (Format::metadata); otherwise these are Model::metadata.
[[nodiscard]] TARE_API std::vector<MetadataEntry> metadata_entries(const Model& model);

enum class MetadataEditKind : std::uint8_t {
  set,     // `key` is `value`, of the type `type`
  read,    // the same of a text that somebody typed: JSON or else a string, and ":TYPE" may follow the key
  remove,  // there is no `key` any more
  rename,  // `key` is called `to`, in the same place
};

// A change that is asked for. If no type is given, a key that exists keeps its own, and a new one gets the usual one.
struct MetadataEdit {
  MetadataEditKind kind = MetadataEditKind::set;
  std::string key;
  Value value = {};
  std::string type = {};
  std::string to = {};
};

// A key that is not as it was. Only `after`: it is new; only `before`: it is gone.
struct MetadataChange {
  std::optional<MetadataEntry> before, after;
};

// Applies the edits, in order, to a model that was opened from a file, and says what is different now, in the order of the
// file. Throws `meta.key` for a key that does not exist, `meta.exists` for a new name that does, `meta.type` and
// `meta.value` for what the key cannot be, `meta.reserved` for keys that say what the file is made of, `meta.room` if the
// container has no place for it. After an error the model is as it was.
TARE_API std::vector<MetadataChange> edit_metadata(Model& model, std::span<const MetadataEdit> edits);

struct EditOptions {
  ReadOptions read = {};
  unsigned threads = 0;          // 0: all cores
  Progress* progress = nullptr;  // counts tensor bytes written
  bool dry_run = false;          // only say what would be done
};

struct Edited {
  std::vector<MetadataChange> changes;  // none: nothing was done
  // Done by changing a few bytes of the file (Format::amend); else it is written anew, with the bytes of the tensors as
  // they are.
  bool in_place = false;
  // Attachments that repeat what was changed, and would contradict it: they are not in the result.
  std::vector<std::string> omitted;
  std::uint64_t file_bytes = 0;  // of the result; when nothing was written, of the file that is there
};

// The same for a file or directory. At every moment, a kill or a power cut included, there is the old file or the new one.
// Throws also `meta.files` for a model in several files none of which holds all metadata, and what `open` and `save` throw.
TARE_API Edited edit_metadata(const std::string& path, std::span<const MetadataEdit> edits,
                              const EditOptions& options = {});

}  // namespace tare
