// Saving a model in a format: what the format must have for it, and the writing itself.
#pragma once

#include <cstdint>
#include <string>

#include "convert/origins.hpp"
#include "tare/convert.hpp"

namespace tare {

// Throws `convert.read_only` for a format that cannot be written, `convert.option` for an option it does not have.
void require_writable(const Format& format, const WriteOptions& options);

// Where a model goes.
struct WriteJob {
  const Format& format;
  bool tree;                 // as a directory
  const std::string& input;  // the file that is named when something is wrong with the model itself
  const std::string& output;
  bool overwrite;
  Sink* sink = nullptr;                    // in place of a new file at `output`
  std::vector<Change>* changes = nullptr;  // gets what is known of the output only when it has been written
  const Source* replaces = nullptr;        // see io::create_replacement
};

// Writes a model that fits the format as it is, and returns the bytes of what was written. A single file is read back
// before it gets its name.
std::uint64_t write_fitting(const Model& model, const Origins& origins, const WriteJob& job,
                            const WriteOptions& options);

// The format that `save` would write. Throws what it would throw.
const Format& format_for(const std::string& path, const SaveOptions& options);
// The format of the file that `save` would write; null if it would be a directory. Throws what it would throw for both.
const Format* format_of_file(const std::string& path, const SaveOptions& options);
// `save` to a sink that was made for `path` before, and for a format that is one file.
Saved save_into(Sink& sink, Model model, const std::string& path, const SaveOptions& options);

}  // namespace tare
