// The file of a Writer, whose pieces go straight to where the container will have them: shapes and types are known before the
// bytes are, so the layout is, too, unless it depends on the bytes (compression) or the container wants to see them (sums).
//
// 1. `places_of` runs the container's writer over tensors without bytes, into nothing, and looks where it would copy them to.
// 2. `PlacedFile` is the unnamed file that becomes the target; pieces are written at these places.
// 3. `save_placed` runs the writer again, into that file, from that file: what is in its place already is not copied.
#pragma once

#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "tare/convert.hpp"
#include "tare/sink.hpp"

namespace tare::py {

// Bytes of a tensor, in a file or in what is promised.
struct Run {
  std::uint64_t offset = 0, length = 0;
};

// A source of a size, and without bytes.
SourcePtr promised_bytes(std::uint64_t size);

// Where the file that `save` would write to `path` has these runs of `promised`, which the tensors of `model` consist of.
// Nothing if the target is a directory or no regular file, if its layout depends on the bytes, or if the model does not fit.
std::optional<std::vector<std::uint64_t>> places_of(Model model, const Source& promised, const std::vector<Run>& runs,
                                                    const std::string& path, SaveOptions options);

class PlacedFile {
 public:
  // Throws `io.sink.*`: there is such a file, or no room for it.
  PlacedFile(const std::string& path, bool overwrite);

  // Any thread may call these three at any time, without the GIL: who has it must not wait for who needs it.
  // Before anything is put there. Throws `python.closed` after `end`.
  void reserve(const Run& place);
  // For runs that do not overlap. Throws `python.closed` after `end`.
  void put(std::uint64_t offset, std::span<const std::byte> bytes);
  // Waits for pieces that are on their way and lets no more in; gives what was put, which may outlive the file.
  SourcePtr end();

  // Once, after `end`: writes the rest of the file and gives it its name. The tensors of `model` are runs of `pieces`. Nothing,
  // and nothing is lost, if the writer wants them elsewhere after all.
  std::optional<Saved> save(Model model, const SourcePtr& pieces, const std::string& path, const SaveOptions& options);

 private:
  void require_open() const;

  std::shared_mutex mutex_;  // shared by those who put; of all that follows
  bool ended_ = false;
  std::unique_ptr<Sink> file_;
  std::vector<Run> places_;
};

}  // namespace tare::py
