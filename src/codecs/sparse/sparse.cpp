#include "codecs/sparse/sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "model/element_size.hpp"

namespace tare::codec::sparse {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;

}  // namespace

DenseReader::DenseReader(std::unique_ptr<Cursor> cursor, std::uint64_t first, std::uint64_t elements, std::size_t width)
    : cursor_(std::move(cursor)), next_(first), end_(elements), width_(width) {
  while (cursor_->place() < first) cursor_->advance();
}

std::span<const std::byte> DenseReader::make_block() {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(end_ - next_, kBlock / width_));
  block_.assign(count * width_, std::byte{});
  for (; cursor_->place() < next_ + count; cursor_->advance()) {
    // Cursors promise this, but the file may have changed, and the difference becomes an offset in memory.
    if (cursor_->place() < next_)
      throw Error(ErrorKind::corrupt, "codec.order",
                  fmt::format("an entry at place {} follows one at {} or after it", cursor_->place(), next_));
    std::memcpy(block_.data() + (cursor_->place() - next_) * width_, cursor_->value(), width_);
  }
  next_ += count;
  return block_;
}

Tensor as_dense(const Tensor& tensor, const Component& values, std::uint64_t bytes,
                std::shared_ptr<const BlobProducer> producer) {
  Blob blob = bytes == 0 ? Blob::memory({}) : Blob::produced(bytes, std::move(producer));
  Tensor result = dense(tensor.name, tensor.shape, values.dtype, std::move(blob), values.type);
  result.attributes = tensor.attributes;
  return result;
}

std::uint64_t dense_bytes(const Tensor& tensor, const Component& values) {
  const auto count = tensor.shape.elements();
  const auto bytes = count ? elements_bytes(*count, values.dtype, values.type) : std::nullopt;
  if (!bytes || *bytes > kMaxDecodedBytes)
    throw Error(ErrorKind::limit, "codec.too_large",
                fmt::format("a sparse tensor of shape {} would take {} bytes as a dense one, at most {} are allowed",
                            tensor.shape.text(), bytes ? fmt::to_string(*bytes) : "more than 2^64", kMaxDecodedBytes))
        .about(tensor.name);
  return *bytes;
}

void throw_corrupt(const Tensor& tensor, const Component& component, const Problem& problem) {
  Error error(ErrorKind::corrupt, problem.rule, problem.sentence);
  if (component.blob.source() != nullptr)
    error.in(component.blob.source()->name()).at(problem.offset.value_or(component.blob.offset()));
  throw error.about(tensor.name);
}

std::optional<Problem> check_index(const Tensor& tensor, std::string_view prefix, std::string_view role) {
  const Component* const component = tensor.component(role);
  if (component == nullptr)
    return Problem{fmt::format("{}.missing", prefix),
                   fmt::format("a {} tensor needs the component \"{}\"", tensor.layout, role)};
  if (component->dtype != DType::u64)
    return Problem{fmt::format("{}.index_type", prefix),
                   fmt::format("the component \"{}\" must be u64, found {}", role, name_of(component->dtype))};
  return std::nullopt;
}

}  // namespace tare::codec::sparse
