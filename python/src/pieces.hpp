// The file of a Writer, in which each piece is written directly to its final position. Shapes and types are known
// before the bytes, and therefore the layout too, unless it depends on the bytes (compression) or the container needs
// them (checksums).
//
// 1. `places_of` runs the container's writer over tensors without bytes, discards the output, and records where each
// tensor would be copied to.
// 2. `PlacedFile` is the unnamed file that becomes the target; pieces are written at these positions.
// 3. `PlacedFile::save` runs the writer again, reading from that file and writing into it; bytes that are already in
// place are not copied.
#pragma once

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "tare/convert.hpp"
#include "tare/sink.hpp"

namespace tare::py {

// A run of bytes of a tensor, in a file or in a promised source.
struct Run {
  std::uint64_t offset = 0, length = 0;
};

// A source that has a size but no bytes.
SourcePtr promised_bytes(std::uint64_t size);

// The offsets, in the file that `save` would write to `path`, of these runs of `promised`, which the tensors of `model`
// consist of. Nullopt if the target is not a regular file, if its layout depends on the bytes, or if the model does not
// fit.
std::optional<std::vector<std::uint64_t>> places_of(Model model, const Source& promised, const std::vector<Run>& runs,
                                                    const std::string& path, SaveOptions options);

class PlacedFile {
 public:
  // Throws `io.sink.*` if the file exists or cannot be created.
  PlacedFile(const std::string& path, bool overwrite);

  // Any thread may call these three at any time, without the GIL; a thread that holds the GIL must not wait for one
  // that needs it.
  // `reserve` is called before anything is put there. Throws `python.closed` after `end`.
  void reserve(const Run& place);
  // The runs must not overlap. Throws `python.closed` after `end`.
  void put(std::uint64_t offset, std::span<const std::byte> bytes);
  // Waits for pieces that are being written and accepts no more. Returns what was put, which may outlive the file.
  SourcePtr end();

  // Called once, after `end`: writes the rest of the file and gives it its name. The tensors of `model` are runs of
  // `pieces`. Returns nullopt, without losing anything, if the writer places them elsewhere after all.
  std::optional<Saved> save(Model model, const SourcePtr& pieces, const std::string& path, const SaveOptions& options);

 private:
  void require_open() const;

  std::shared_mutex mutex_;  // shared while putting; guards the members below
  bool ended_ = false;
  std::unique_ptr<Sink> file_;
  std::vector<Run> places_;
};

}  // namespace tare::py
