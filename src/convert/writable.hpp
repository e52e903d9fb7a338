// Saves a model in a format: checks what the format needs, and writes.
#pragma once

#include <cstdint>
#include <string>

#include "convert/origins.hpp"
#include "formats/format.hpp"
#include "io/input_files.hpp"
#include "tare/convert.hpp"

namespace tare {

// Throws `convert.read_only` if the format cannot be written, `convert.option` for an option that it does not have.
void require_writable(const Format& format, const WriteOptions& options);

// Where and how a model is written.
struct WriteJob {
  const Format& format;
  bool tree;                 // write a directory
  const std::string& input;  // the file that errors about the model itself name
  const std::string& output;
  bool overwrite;
  Sink* sink = nullptr;                    // replaces a new file at `output`
  std::vector<Change>* changes = nullptr;  // receives changes that are known only after the output was written
  const Source* replaces = nullptr;        // see io::create_replacement
  io::FileIds own = {};                    // inputs that the output may replace
};

// Writes a model that fits the format without changes, and returns the number of bytes written. A single file is read
// back before it gets its name; the tensors are released before that, so that no two models are in memory at a time.
std::uint64_t write_fitting(Model model, const Origins& origins, const WriteJob& job, const WriteOptions& options);

// Returns the format that `save` would write. Throws what `save` would throw.
const Format& format_for(const std::string& path, const SaveOptions& options);
// Returns the format of the file that `save` would write; null if it would be a directory. Throws what `save` would
// throw.
const Format* format_of_file(const std::string& path, const SaveOptions& options);
// `save` to a sink that was made for `path` before, for a format that is one file.
Saved save_into(Sink& sink, Model model, const std::string& path, const SaveOptions& options);

}  // namespace tare
