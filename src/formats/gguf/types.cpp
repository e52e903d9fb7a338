// The table of tensor types, and blocks in the other byte order.
#include "formats/gguf/types.hpp"

#include <algorithm>

#include "base/endian.hpp"
#include "codecs/ggml/type_table.hpp"

namespace tare::gguf {
namespace {

constexpr TensorType dense(std::uint32_t number, DType dtype, std::uint64_t bytes) {
  return {number, "dense", dtype, 1, bytes};
}
constexpr TensorType blocks(const codec::ggml::TypeFacts& facts) {
  TensorType type = {facts.number, facts.layout, DType::u8, facts.weights, facts.bytes};
  type.either_order = facts.order.either;
  if (!type.either_order) return type;
  // An empty field comes last.
  BlockField* field = type.fields.data();
  if (facts.scales.halves() > 0) *field++ = {facts.scales.at, 2, facts.scales.halves()};
  if (facts.order.width > 0) *field = {facts.order.at, facts.order.width, 1};
  return type;
}

constexpr TensorType kDenseTypes[] = {
    dense(0, DType::f32, 4),  dense(1, DType::f16, 2),  dense(24, DType::i8, 1),  dense(25, DType::i16, 2),
    dense(26, DType::i32, 4), dense(27, DType::i64, 8), dense(28, DType::f64, 8), dense(30, DType::bf16, 2),
};

// Numbers 4, 5, 31 to 33 and 36 to 38 are no longer in use.
constexpr auto kTensorTypes = [] {
  std::array<TensorType, std::size(kDenseTypes) + std::size(codec::ggml::kTypes)> all{};
  std::ranges::transform(codec::ggml::kTypes, std::ranges::copy(kDenseTypes, all.begin()).out, blocks);
  return all;
}();

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
  return found == kTensorTypes.end() ? nullptr : &*found;
}

std::string_view name_in_ik_llama(std::uint32_t number) {
  struct OwnType {
    std::uint32_t number;
    std::string_view name;
  };
  constexpr OwnType kOwn[] = {{133, "q6_0"},    {134, "iq1_bn"}, {135, "iq2_bn"}, {137, "iq2_k"},  {138, "iq3_k"},
                              {139, "iq4_k"},   {140, "iq5_k"},  {141, "iq6_k"},  {144, "iq4_ks"}, {145, "iq2_ks"},
                              {146, "iq4_kss"}, {152, "iq5_ks"}, {153, "iq2_kt"}, {154, "iq3_kt"}, {155, "iq4_kt"},
                              {156, "iq3_ks"},  {157, "iq2_kl"}, {158, "iq1_kt"}};
  const auto* const found = std::ranges::find(kOwn, number, &OwnType::number);
  return found == std::end(kOwn) ? std::string_view() : found->name;
}

const TensorType* type_of(const Tensor& tensor) {
  const auto found = std::ranges::find_if(kTensorTypes, [&](const TensorType& type) {
    if (type.layout != tensor.layout) return false;
    if (!type.is_dense()) return true;
    return tensor.components.size() == 1 && tensor.components.front().type.empty() &&
           tensor.components.front().dtype == type.dtype;
  });
  return found == kTensorTypes.end() ? nullptr : &*found;
}

Blob swapped_blocks(Blob blob, const TensorType& type) {
  if (type.fields[0].count == 0) return blob;
  const std::uint64_t size = blob.size();
  return Blob::produced(size, std::make_shared<const BlockSwapProducer>(std::move(blob), type));
}

}  // namespace tare::gguf
