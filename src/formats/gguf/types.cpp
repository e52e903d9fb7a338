// The table of tensor types, and blocks in the other byte order.
#include "formats/gguf/types.hpp"

#include <algorithm>

#include "base/endian.hpp"

namespace tare::gguf {
namespace {

constexpr TensorType dense(std::uint32_t number, DType dtype, std::uint64_t bytes) {
  return {number, "dense", dtype, 1, bytes};
}
constexpr TensorType blocks(std::uint32_t number, std::string_view layout, std::uint64_t weights, std::uint64_t bytes,
                            BlockField first = {}, BlockField second = {}) {
  return {number, layout, DType::u8, weights, bytes, {first, second}};
}
// Types that no program has written in the other byte order.
constexpr TensorType little(std::uint32_t number, std::string_view layout, std::uint64_t weights, std::uint64_t bytes) {
  TensorType type = blocks(number, layout, weights, bytes);
  type.either_order = false;
  return type;
}

// Numbers 4, 5, 31 to 33 and 36 to 38 are no longer in use.
constexpr TensorType kTensorTypes[] = {
    dense(0, DType::f32, 4),
    dense(1, DType::f16, 2),
    blocks(2, "ggml.q4_0", 32, 18, {0, 2, 1}),
    blocks(3, "ggml.q4_1", 32, 20, {0, 2, 2}),
    blocks(6, "ggml.q5_0", 32, 22, {0, 2, 1}, {2, 4, 1}),
    blocks(7, "ggml.q5_1", 32, 24, {0, 2, 2}, {4, 4, 1}),
    blocks(8, "ggml.q8_0", 32, 34, {0, 2, 1}),
    blocks(9, "ggml.q8_1", 32, 36, {0, 2, 2}),
    blocks(10, "ggml.q2_k", 256, 84, {80, 2, 2}),
    blocks(11, "ggml.q3_k", 256, 110, {108, 2, 1}),
    blocks(12, "ggml.q4_k", 256, 144, {0, 2, 2}),
    blocks(13, "ggml.q5_k", 256, 176, {0, 2, 2}),
    blocks(14, "ggml.q6_k", 256, 210, {208, 2, 1}),
    little(15, "ggml.q8_k", 256, 292),
    little(16, "ggml.iq2_xxs", 256, 66),
    little(17, "ggml.iq2_xs", 256, 74),
    little(18, "ggml.iq3_xxs", 256, 98),
    little(19, "ggml.iq1_s", 256, 50),
    blocks(20, "ggml.iq4_nl", 32, 18, {0, 2, 1}),
    little(21, "ggml.iq3_s", 256, 110),
    little(22, "ggml.iq2_s", 256, 82),
    blocks(23, "ggml.iq4_xs", 256, 136, {0, 2, 2}),
    dense(24, DType::i8, 1),
    dense(25, DType::i16, 2),
    dense(26, DType::i32, 4),
    dense(27, DType::i64, 8),
    dense(28, DType::f64, 8),
    little(29, "ggml.iq1_m", 256, 56),
    dense(30, DType::bf16, 2),
    blocks(34, "ggml.tq1_0", 256, 54, {52, 2, 1}),
    blocks(35, "ggml.tq2_0", 256, 66, {64, 2, 1}),
    blocks(39, "ggml.mxfp4", 32, 17),
    blocks(40, "ggml.nvfp4", 64, 36),
    blocks(41, "ggml.q1_0", 128, 18, {0, 2, 1}),
    blocks(42, "ggml.q2_0", 64, 18, {0, 2, 1}),
};

void swap_block(std::byte* block, const TensorType& type) {
  for (const BlockField& field : type.fields)
    if (field.count > 0)
      swap_elements({block + field.at, static_cast<std::size_t>(field.width) * field.count}, field.width);
}

// Swaps blocks. Callers read pieces of any size, so a piece may end inside a block.
class BlockSwapReader final : public BlobReader {
 public:
  BlockSwapReader(std::unique_ptr<BlobReader> reader, const TensorType& type, std::size_t skip)
      : reader_(std::move(reader)), type_(type), used_(type.bytes) {
    if (skip == 0) return;
    refill();
    used_ = skip;
  }

  void read(std::span<std::byte> out) override {
    take_cut(out);
    const auto whole = out.first(out.size() - out.size() % type_.bytes);
    if (!whole.empty()) {
      reader_->read(whole);
      for (std::size_t at = 0; at < whole.size(); at += type_.bytes) swap_block(whole.data() + at, type_);
    }
    out = out.subspan(whole.size());
    if (out.empty()) return;
    refill();
    take_cut(out);
  }

 private:
  void take_cut(std::span<std::byte>& out) {
    const std::size_t count = std::min<std::size_t>(out.size(), type_.bytes - used_);
    std::copy_n(cut_.data() + used_, count, out.data());
    used_ += count;
    out = out.subspan(count);
  }
  void refill() {
    reader_->read(std::span(cut_).first(type_.bytes));
    swap_block(cut_.data(), type_);
    used_ = 0;
  }

  std::unique_ptr<BlobReader> reader_;
  const TensorType& type_;
  std::array<std::byte, 256> cut_{};
  std::size_t used_;  // bytes used of the block that was cut; its full size means that there is none
};

class BlockSwapProducer final : public BlobProducer {
 public:
  BlockSwapProducer(Blob blob, const TensorType& type) : blob_(std::move(blob)), type_(type) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t skip = offset % type_.bytes;
    return std::make_unique<BlockSwapReader>(blob_.open(offset - skip), type_, static_cast<std::size_t>(skip));
  }
  std::uint64_t seek_granularity() const override { return type_.bytes; }
  void verify() const override { blob_.verify(); }

 private:
  Blob blob_;
  const TensorType& type_;
};

static_assert(std::ranges::all_of(kTensorTypes, [](const TensorType& type) {
  return type.fields[0].count == 0 || type.bytes <= 256;
}));

}  // namespace

std::string EntryType::text() const {
  const std::string name(kValueTypes[static_cast<std::size_t>(type)]);
  return array ? "[" + name + "]" : name;
}

std::optional<EntryType> EntryType::parse(std::string_view text) {
  EntryType result;
  if (text.starts_with('[') && text.ends_with(']')) {
    result.array = true;
    text = text.substr(1, text.size() - 2);
  }
  const auto found = std::ranges::find(kValueTypes, text);
  result.type = static_cast<ValueType>(found - kValueTypes.begin());
  if (found == kValueTypes.end() || result.type == ValueType::array) return std::nullopt;
  return result;
}

std::span<const TensorType> tensor_types() { return kTensorTypes; }

const TensorType* find_type(std::uint32_t number) {
  const auto found = std::ranges::find(kTensorTypes, number, &TensorType::number);
  return found == std::end(kTensorTypes) ? nullptr : found;
}

const TensorType* type_of(const Tensor& tensor) {
  const auto found = std::ranges::find_if(kTensorTypes, [&](const TensorType& type) {
    if (type.layout != tensor.layout) return false;
    if (!type.is_dense()) return true;
    return tensor.components.size() == 1 && tensor.components.front().type.empty() &&
           tensor.components.front().dtype == type.dtype;
  });
  return found == std::end(kTensorTypes) ? nullptr : found;
}

Blob swapped_blocks(Blob blob, const TensorType& type) {
  if (type.fields[0].count == 0) return blob;
  const std::uint64_t size = blob.size();
  return Blob::produced(size, std::make_shared<const BlockSwapProducer>(std::move(blob), type));
}

}  // namespace tare::gguf
