// Experts in 4-bit floats with an exponent for every 32 inputs (MXFP4), where Verb::transpose costs no precision: GPT-OSS
// stores the codes of these inputs in a row of bytes and the exponents in an array of their own, as a tensor
// [experts, inputs, outputs]. GGUF's blocks are rows of inputs, with the exponent first. Both have the same numbers:
//
//   GPT-OSS  byte i of 16: input 2 i in the low half, input 2 i + 1 in the high half
//   GGUF     byte i of 16: input i in the low half, input i + 16 in the high half
#include <algorithm>

#include "codecs/packs/expert_arrays.hpp"
#include "codecs/packs/pack.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/block_reader.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using codec::packs::kExpertArrays, codec::packs::kExpertCodes, codec::packs::kExpertExponents;

constexpr std::string_view kBlocks = "ggml.mxfp4";
constexpr std::size_t kInputs = 32, kCodes = 16, kBlock = 1 + kCodes;  // per block: weights, bytes of codes, all bytes
constexpr std::size_t kRun = 4096;                                     // blocks at a time

constexpr std::byte kLow{0x0F}, kHigh{0xF0};

void halves_from_pairs(const std::byte* pairs, std::byte* halves) {
  for (std::size_t i = 0; i < kCodes / 2; ++i) {
    const std::byte first = pairs[i], second = pairs[i + kCodes / 2];
    halves[2 * i] = (first & kLow) | ((second & kLow) << 4);
    halves[2 * i + 1] = (first >> 4) | (second & kHigh);
  }
}

void pairs_from_halves(const std::byte* halves, std::byte* pairs) {
  for (std::size_t i = 0; i < kCodes / 2; ++i) {
    const std::byte even = halves[2 * i], odd = halves[2 * i + 1];
    pairs[i] = (even & kLow) | ((odd & kLow) << 4);
    pairs[i + kCodes / 2] = (even >> 4) | (odd & kHigh);
  }
}

// A blob made of pieces that do not depend on each other, one for each block.
class PieceReader : public BlockReader {
 public:
  explicit PieceReader(std::uint64_t left) : left_(left) {}

 protected:
  std::span<const std::byte> make_block() final {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, kRun));
    left_ -= count;
    return make(count);
  }
  virtual std::span<const std::byte> make(std::size_t count) = 0;

 private:
  std::uint64_t left_;  // blocks
};

class BlocksReader final : public PieceReader {
 public:
  BlocksReader(const Blob& codes, const Blob& exponents, std::uint64_t first)
      : PieceReader(exponents.size() - first), codes_(codes.open(first * kCodes)), exponents_(exponents.open(first)) {}

 private:
  std::span<const std::byte> make(std::size_t count) override {
    codes_->read(std::span(pairs_).first(count * kCodes));
    exponents_->read(std::span(scales_).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      // GPT-OSS means NaN by it, and GGUF's runtime a number.
      if (scales_[i] == std::byte{255})
        throw Error(ErrorKind::corrupt, "pack.scale", "a block of packed weights has the exponent 255, which is NaN");
      made_[i * kBlock] = scales_[i];
      halves_from_pairs(pairs_.data() + i * kCodes, made_.data() + i * kBlock + 1);
    }
    return std::span(made_).first(count * kBlock);
  }

  std::unique_ptr<BlobReader> codes_, exponents_;
  Bytes pairs_ = Bytes(kRun * kCodes), scales_ = Bytes(kRun), made_ = Bytes(kRun * kBlock);
};

// One of the two arrays.
class ArrayReader final : public PieceReader {
 public:
  ArrayReader(const Blob& blocks, bool codes, std::uint64_t first)
      : PieceReader(blocks.size() / kBlock - first), codes_(codes), blocks_(blocks.open(first * kBlock)) {}

 private:
  std::span<const std::byte> make(std::size_t count) override {
    blocks_->read(std::span(stored_).first(count * kBlock));
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const block = stored_.data() + i * kBlock;
      if (codes_)
        pairs_from_halves(block + 1, made_.data() + i * kCodes);
      else
        made_[i] = block[0];
    }
    return std::span(made_).first(count * (codes_ ? kCodes : 1));
  }

  bool codes_;
  std::unique_ptr<BlobReader> blocks_;
  Bytes stored_ = Bytes(kRun * kBlock), made_ = Bytes(kRun * kCodes);
};

// Returns whether a reader can begin at each piece of `bytes` bytes.
bool opens_at(const Blob& blob, std::uint64_t bytes) {
  const std::uint64_t step = blob.seek_granularity();
  return blob.is_plain() || (step != 0 && bytes % step == 0);
}

class BlocksProducer final : public BlobProducer {
 public:
  BlocksProducer(Blob codes, Blob exponents) : codes_(std::move(codes)), exponents_(std::move(exponents)) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    auto reader = std::make_unique<BlocksReader>(codes_, exponents_, offset / kBlock);
    reader->skip(offset % kBlock);
    return reader;
  }
  std::uint64_t seek_granularity() const override {
    return opens_at(codes_, kCodes) && opens_at(exponents_, 1) ? kBlock : 0;
  }
  void verify() const override {
    codes_.verify();
    exponents_.verify();
  }

 private:
  Blob codes_, exponents_;
};

class ArrayProducer final : public BlobProducer {
 public:
  ArrayProducer(Blob blocks, bool codes) : blocks_(std::move(blocks)), codes_(codes) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t piece = codes_ ? kCodes : 1;
    auto reader = std::make_unique<ArrayReader>(blocks_, codes_, offset / piece);
    reader->skip(offset % piece);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return opens_at(blocks_, kBlock) ? (codes_ ? kCodes : 1) : 0; }
  void verify() const override { blocks_.verify(); }

 private:
  Blob blocks_;
  bool codes_;
};

// The description of an array that a joined tensor has for its component.
Map array_named(std::string name, const Shape& shape, std::int64_t at) {
  List sizes;
  for (const std::uint64_t size : shape) sizes.emplace_back(static_cast<std::int64_t>(size));
  Map facts;
  facts.set("name", std::move(name));
  facts.set("shape", std::move(sizes));
  facts.set("at", at);
  return facts;
}

}  // namespace

bool has_packed_columns(const Tensor& tensor) {
  if (tensor.layout != kExpertArrays || tensor.shape.rank() != 3 || tensor.shape.elements().value_or(0) == 0)
    return false;
  const Component *const codes = tensor.component(kExpertCodes), *const exponents = tensor.component(kExpertExponents);
  const std::uint64_t blocks = *tensor.shape.elements() / kInputs;
  return tensor.shape[1] % kInputs == 0 && codes != nullptr && exponents != nullptr && codes->type.empty() &&
         exponents->type.empty() && codes->blob.size() == blocks * kCodes && exponents->blob.size() == blocks;
}

bool has_packed_rows(const Tensor& tensor) {
  return tensor.layout == kBlocks && tensor.shape.rank() == 3 && tensor.shape.elements().value_or(0) > 0 &&
         tensor.shape[2] % kInputs == 0 && tensor.components.size() == 1 &&
         tensor.components.front().blob.size() == *tensor.shape.elements() / kInputs * kBlock;
}

Tensor packed_rows(const Tensor& columns) {
  Tensor rows;
  rows.name = columns.name;
  rows.layout = kBlocks;
  rows.shape = {columns.shape[0], columns.shape[2], columns.shape[1]};
  const Blob codes = columns.component(kExpertCodes)->blob, exponents = columns.component(kExpertExponents)->blob;
  rows.components.push_back(
      {"payload", DType::u8, "",
       Blob::produced(exponents.size() * kBlock, std::make_shared<const BlocksProducer>(codes, exponents))});
  return rows;
}

Tensor packed_columns(const Tensor& rows) {
  const Blob& blocks = rows.components.front().blob;
  const std::uint64_t count = blocks.size() / kBlock;
  Tensor columns;
  columns.name = rows.name;
  columns.layout = kExpertArrays;
  columns.shape = {rows.shape[0], rows.shape[2], rows.shape[1]};
  columns.components.push_back({std::string(kExpertCodes), DType::u8, "",
                                Blob::produced(count * kCodes, std::make_shared<const ArrayProducer>(blocks, true))});
  columns.components.push_back({std::string(kExpertExponents), DType::u8, "",
                                Blob::produced(count, std::make_shared<const ArrayProducer>(blocks, false))});
  return columns;
}

void name_arrays(Tensor& columns) {
  const std::uint64_t experts = columns.shape[0], outputs = columns.shape[2], groups = columns.shape[1] / kInputs;
  Map arrays;
  arrays.set(kExpertCodes, array_named(columns.name + "_blocks", {experts, outputs, groups, kCodes}, 0));
  arrays.set(kExpertExponents, array_named(columns.name + "_scales", {experts, outputs, groups}, 1));
  columns.attributes.set(codec::packs::kArrays, std::move(arrays));
}

}  // namespace tare::gguf::llama_cpp
