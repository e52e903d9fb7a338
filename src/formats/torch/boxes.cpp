// Assembles a tensor from boxes, the chunks of distributed checkpoints.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/torch/torch.hpp"
#include "model/joined_blob.hpp"

namespace tare::torch {
namespace {

// Interleaves blobs: `outer` times, one run of each in turn.
class SideBySide final : public BlobProducer {
 public:
  struct Part {
    Blob blob;
    std::uint64_t run;  // bytes
  };
  SideBySide(std::vector<Part> parts, std::uint64_t outer) : parts_(std::move(parts)), outer_(outer) {
    for (const Part& part : parts_) row_ += part.run;
  }
  std::uint64_t size() const { return row_ * outer_; }

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return std::make_unique<Runs>(*this, offset);
  }
  std::uint64_t seek_granularity() const override {
    return std::ranges::all_of(parts_, [](const Part& part) { return part.blob.seek_granularity() != 0; }) ? row_ : 0;
  }
  void verify() const override {
    for (const Part& part : parts_) part.blob.verify();
  }

 private:
  class Runs final : public BlobReader {
   public:
    Runs(const SideBySide& all, std::uint64_t offset) : parts_(all.parts_) {
      const std::uint64_t row = offset / all.row_;
      std::uint64_t in_row = offset % all.row_;
      for (; in_row >= parts_[next_].run; ++next_) in_row -= parts_[next_].run;
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::uint64_t begun = i < next_ ? parts_[i].run : i == next_ ? in_row : 0;
        const std::uint64_t at = row * parts_[i].run + begun;
        readers_.push_back(at < parts_[i].blob.size() ? parts_[i].blob.open(at) : nullptr);
      }
      left_ = parts_[next_].run - in_row;
    }
    void read(std::span<std::byte> out) override {
      while (!out.empty()) {
        const auto part = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, out.size())));
        if (readers_[next_] == nullptr) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
        readers_[next_]->read(part);
        out = out.subspan(part.size());
        left_ -= part.size();
        if (left_ > 0) continue;
        next_ = (next_ + 1) % parts_.size();
        left_ = parts_[next_].run;
      }
    }

   private:
    std::vector<Part> parts_;
    std::vector<std::unique_ptr<BlobReader>> readers_;
    std::size_t next_ = 0;
    std::uint64_t left_ = 0;  // bytes that are left of the run
  };

  std::vector<Part> parts_;
  std::uint64_t outer_, row_ = 0;
};

[[noreturn]] void fail_boxes(const std::string& sentence) {
  throw Error(ErrorKind::corrupt, "torch.distributed.chunks", sentence);
}

// Joins the chunks, which agree in the axes before `axis`, into one blob.
Blob assemble(const Shape& size, std::vector<const Box*>& chunks, std::size_t axis) {
  if (axis == size.rank()) {
    if (chunks.size() != 1) fail_boxes("two chunks are in one place");
    return chunks[0]->blob;
  }
  std::map<std::uint64_t, std::vector<const Box*>> groups;
  for (const Box* const chunk : chunks) groups[chunk->offsets[axis]].push_back(chunk);
  std::vector<SideBySide::Part> parts;
  std::uint64_t outer = 1, at = 0;
  for (std::size_t i = 0; i < axis; ++i) outer *= chunks[0]->sizes[i];
  for (auto& [offset, group] : groups) {
    const std::uint64_t length = group[0]->sizes[axis];
    const bool alike = std::ranges::all_of(group, [&](const Box* chunk) { return chunk->sizes[axis] == length; });
    if (offset != at || !alike || length > size[axis] - at)
      fail_boxes(fmt::format("the chunks of {} leave a gap or overlap at {} of axis {}", size.text(), at, axis));
    at += length;
    Blob blob = assemble(size, group, axis + 1);
    const std::uint64_t bytes = blob.size();
    if (bytes > 0) parts.push_back({std::move(blob), bytes / outer});
  }
  if (at != size[axis]) fail_boxes(fmt::format("the chunks of {} end at {} of axis {}", size.text(), at, axis));
  if (parts.empty()) return Blob::memory({});
  if (parts.size() == 1) return parts[0].blob;
  if (outer == 1) {
    std::vector<Blob> blobs;
    for (SideBySide::Part& part : parts) blobs.push_back(std::move(part.blob));
    return joined_blob(std::move(blobs));
  }
  auto rows = std::make_shared<const SideBySide>(std::move(parts), outer);
  const std::uint64_t bytes = rows->size();
  return Blob::produced(bytes, std::move(rows));
}

}  // namespace

Blob join_boxes(const Shape& size, const std::vector<Box>& boxes) {
  std::vector<const Box*> all;
  for (const Box& box : boxes) {
    if (box.offsets.rank() != size.rank() || box.sizes.rank() != size.rank()) fail_boxes("chunks of different ranks");
    all.push_back(&box);
  }
  if (all.empty()) fail_boxes("a tensor without chunks");
  return assemble(size, all, 0);
}

}  // namespace tare::torch
