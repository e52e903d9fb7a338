// Verb::part_thirds: queries, keys and values of a tower, which one matrix, or one bias, has one after another.
// Verb::part_frames: a kernel over two frames of a film. GGUF's runtime adds what the kernel of each frame gives.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/interleaved_blob.hpp"
#include "model/joined_blob.hpp"
#include "tare/codec.hpp"
#include "tare/slice.hpp"

namespace tare::gguf::llama_cpp {

std::vector<Tensor> part_thirds(const Tensor& tensor) {
  const Tensor all = to_dense(tensor);
  if (all.shape.empty() || all.shape[0] % 3 != 0)
    throw unmapped(fmt::format("{}: expected as many rows of queries as of keys and of values, found the shape {}",
                               quote(tensor.name), tensor.shape.text()));
  const std::uint64_t rows = all.shape[0] / 3;
  std::vector<Tensor> parts;
  for (std::uint64_t i = 0; i < 3; ++i) {
    parts.push_back(slice(all, parse_slice(fmt::format("{}:{}", i * rows, (i + 1) * rows))));
    parts.back().name = tensor.name;
  }
  return parts;
}

Tensor join_thirds(const Tensor& first, const Tensor& second, const Tensor& third) {
  Tensor all = to_dense(first);
  const Component& data = all.components.front();
  std::vector<Blob> blobs = {data.blob};
  for (const Tensor* const next : {&second, &third}) {
    const Tensor other = to_dense(*next);
    if (other.shape != all.shape || other.shape.empty() || other.components.front().dtype != data.dtype ||
        other.components.front().type != data.type)
      throw no_way_back(fmt::format("{} ({}) and {} ({}) are not parts of one tensor", quote(first.name),
                                    first.shape.text(), quote(next->name), next->shape.text()));
    blobs.push_back(other.components.front().blob);
  }
  all.shape[0] *= 3;
  all.components.front().blob = joined_blob(std::move(blobs));
  return all;
}

std::pair<Tensor, Tensor> part_frames(const Tensor& tensor) {
  constexpr std::size_t kFrames = 2;
  if (!has_elements(tensor, 5) || tensor.shape[2] != kFrames)
    throw unmapped(fmt::format("{}: expected a kernel over two frames, found the shape {}", quote(tensor.name),
                               tensor.shape.text()));
  const Shape& all = tensor.shape;
  const std::uint64_t pixels = all[3] * all[4];
  const SliceAxis axes[] = {axis(all[0] * all[1], kFrames * pixels), axis(pixels, 1)};
  const Shape one{all[0], all[1], all[3], all[4]};
  return {picked(tensor, one, 0, axes), picked(tensor, one, pixels, axes)};
}

Tensor join_frames(const Tensor& first, const Tensor& second) {
  const Tensor one = to_dense(first), other = to_dense(second);
  const Component &data = one.components.front(), &more = other.components.front();
  if (!has_elements(one, 4) || one.shape != other.shape || data.dtype != more.dtype)
    throw no_way_back(fmt::format("{} ({}) and {} ({}) are not the frames of one kernel", quote(first.name),
                                  first.shape.text(), quote(second.name), second.shape.text()));
  Tensor all = one;
  const std::uint64_t step = data.blob.size() / (one.shape[0] * one.shape[1]);
  all.shape = {one.shape[0], one.shape[1], 2, one.shape[2], one.shape[3]};
  all.components.front().blob = interleaved_blob(data.blob, step, more.blob, step);
  return all;
}

}  // namespace tare::gguf::llama_cpp
