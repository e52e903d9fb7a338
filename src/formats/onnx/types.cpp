// Element types of ONNX, and elements of fewer than eight bits.
#include <algorithm>
#include <array>

#include "formats/onnx/onnx.hpp"
#include "model/block_reader.hpp"
#include "model/element_types.hpp"

namespace tare::onnx {
namespace {

constexpr ElementType kElements[] = {
    {1, "FLOAT", 32, DType::f32, "", Typed::floats},
    {2, "UINT8", 8, DType::u8, "", Typed::int32s},
    {3, "INT8", 8, DType::i8, "", Typed::int32s},
    {4, "UINT16", 16, DType::u16, "", Typed::int32s},
    {5, "INT16", 16, DType::i16, "", Typed::int32s},
    {6, "INT32", 32, DType::i32, "", Typed::int32s},
    {7, "INT64", 64, DType::i64, "", Typed::int64s},
    {8, "STRING", 0, DType::u8, "", Typed::strings},
    {9, "BOOL", 8, DType::boolean, "", Typed::int32s},
    {10, "FLOAT16", 16, DType::f16, "", Typed::int32s},
    {11, "DOUBLE", 64, DType::f64, "", Typed::doubles},
    {12, "UINT32", 32, DType::u32, "", Typed::uint64s},
    {13, "UINT64", 64, DType::u64, "", Typed::uint64s},
    {14, "COMPLEX64", 64, DType::f32, "complex64", Typed::floats},
    {15, "COMPLEX128", 128, DType::f64, "complex128", Typed::doubles},
    {16, "BFLOAT16", 16, DType::bf16, "", Typed::int32s},
    {17, "FLOAT8E4M3FN", 8, DType::u8, "f8_e4m3fn", Typed::int32s},
    {18, "FLOAT8E4M3FNUZ", 8, DType::u8, "f8_e4m3fnuz", Typed::int32s},
    {19, "FLOAT8E5M2", 8, DType::u8, "f8_e5m2", Typed::int32s},
    {20, "FLOAT8E5M2FNUZ", 8, DType::u8, "f8_e5m2fnuz", Typed::int32s},
    {21, "UINT4", 4, DType::u8, "", Typed::int32s},
    {22, "INT4", 4, DType::i8, "", Typed::int32s},
    {23, "FLOAT4E2M1", 4, DType::u8, "f8_e4m3fn", Typed::int32s, "packed.f4_e2m1"},
    {24, "FLOAT8E8M0", 8, DType::u8, "f8_e8m0", Typed::int32s},
    {25, "UINT2", 2, DType::u8, "", Typed::int32s},
    {26, "INT2", 2, DType::i8, "", Typed::int32s},
    {27, "FLOAT6E2M3", 6, DType::u8, "f8_e4m3fn", Typed::int32s, "packed.f6_e2m3"},
    {28, "FLOAT6E3M2", 6, DType::u8, "f8_e4m3fn", Typed::int32s, "packed.f6_e3m2"},
};

// The byte for each code of fewer than eight bits.
using CodeTable = std::array<std::byte, 64>;

constexpr Coding coding_of(std::string_view layout) {
  for (const SmallFloat& type : kSmallFloats)
    if (layout.ends_with(type.name)) return type.coding;
  return {};
}

CodeTable table_of(const ElementType& type) {
  CodeTable table{};
  const Coding wide = logical_type("f8_e4m3fn")->coding;
  for (std::uint32_t code = 0; code < (1u << type.bits); ++code) {
    if (type.layout.empty()) {
      const bool negative = type.dtype == DType::i8 && (code >> (type.bits - 1)) != 0;
      table[code] = static_cast<std::byte>(negative ? code | (0xFFu << type.bits) : code);
      continue;
    }
    // All of these values, minus zero among them, are values of the wider type.
    const Coding narrow = coding_of(type.layout);
    const bool negative = (code >> (narrow.bits - 1)) != 0;
    for (std::uint32_t byte = negative ? 0x80 : 0; byte < (negative ? 0x100u : 0x80u); ++byte)
      if (wide.value(byte) == narrow.value(code)) table[code] = static_cast<std::byte>(byte);
  }
  return table;
}

class UnpackingReader final : public BlockReader {
 public:
  UnpackingReader(const Blob& packed, const ElementType& type, std::uint64_t elements, std::uint64_t first)
      : table_(table_of(type)),
        bits_(type.bits),
        elements_(elements),
        next_(first),
        reader_(packed.open(first * type.bits / 8)) {}

 protected:
  // `next_` is a multiple of 4 here, with which a byte begins.
  std::span<const std::byte> make_block() override {
    constexpr std::uint64_t kBlock = 16384;
    const auto count = static_cast<std::size_t>(std::min(kBlock, elements_ - next_));
    // Another byte, because a code of 6 bits may end in the next one.
    codes_.assign((count * bits_ + 7) / 8 + 1, std::byte{0});
    out_.resize(count);
    reader_->read(std::span(codes_).first(codes_.size() - 1));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bit = i * bits_;
      const unsigned two = std::to_integer<unsigned>(codes_[bit / 8]) | std::to_integer<unsigned>(codes_[bit / 8 + 1])
                                                                            << 8;
      out_[i] = table_[(two >> (bit % 8)) & ((1u << bits_) - 1)];
    }
    next_ += count;
    return out_;
  }

 private:
  CodeTable table_;
  unsigned bits_;
  std::uint64_t elements_, next_;
  std::unique_ptr<BlobReader> reader_;
  Bytes codes_, out_;
};

class UnpackingProducer final : public BlobProducer {
 public:
  UnpackingProducer(Blob packed, const ElementType& type, std::uint64_t elements)
      : packed_(std::move(packed)), type_(type), elements_(elements) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    auto reader = std::make_unique<UnpackingReader>(packed_, type_, elements_, offset / kTogether * kTogether);
    reader->skip(offset % kTogether);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return packed_.seek_granularity() == 0 ? 0 : kTogether; }
  void verify() const override { packed_.verify(); }

 private:
  static constexpr std::uint64_t kTogether = 4;  // elements that fill whole bytes, whatever their width

  Blob packed_;
  const ElementType& type_;
  std::uint64_t elements_;
};

}  // namespace

const ElementType* find_element(std::uint64_t number) {
  const auto* const row = std::ranges::find(kElements, number, &ElementType::number);
  return row == std::end(kElements) ? nullptr : row;
}

Blob unpacked(Blob packed, const ElementType& type, std::uint64_t elements) {
  if (elements == 0) return Blob::memory({});
  return Blob::produced(elements, std::make_shared<const UnpackingProducer>(std::move(packed), type, elements));
}

}  // namespace tare::onnx
