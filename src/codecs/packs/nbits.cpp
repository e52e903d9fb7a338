// Blocks of ONNX Runtime's operator MatMulNBits ("nbits.int2", "nbits.int4", "nbits.int8"), whose matrices are stored with
// one row for each output:
//
//   codes        u8 [out, blocks, block_size * bits / 8]: blocks of a row, each a stream of bits, the first code lowest;
//                the last block of a row is padded
//   scales       f32, f16 or bf16, one per block: [out * blocks] or [out, blocks]
//   zero_points  may be missing (2^(bits-1) for all); u8, a stream of bits for each row: ceil(blocks * bits / 8) bytes;
//                or of the type of floats, one per block
//   w = scale * (code - zero)
//
// The arrays have any names: the model states for each matrix which belong together, with the numbers of its node.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/packs/families.hpp"
#include "codecs/packs/groups.hpp"
#include "codecs/packs/kernels.hpp"

namespace tare::codec::packs {
namespace {

constexpr std::string_view kNbitsZeros[] = {"u8", "f32", "f16", "bf16"};
constexpr std::uint64_t kNbitsPiece = 2048;  // codes expanded at a time

std::uint64_t nbits_zero_bytes(std::uint64_t blocks, unsigned bits) { return ceil_div(product(blocks, bits), 8); }

class NbitsMaker final : public Maker {
 public:
  NbitsMaker(const Tensor& tensor, unsigned bits, std::uint64_t block_size)
      : Maker(matrix_rows(tensor), tensor.shape.back()),
        bits_(bits),
        block_size_(block_size),
        blocks_(ceil_div(columns(), block_size)),
        codes_(*tensor.component("codes")),
        scales_(*tensor.component("scales")) {
    if (const Component* const zeros = tensor.component("zero_points")) zeros_.emplace(*zeros);
    // Zero points of the type of floats are checked like scales.
    read_from({&codes_, &scales_, zeros_ ? &*zeros_ : nullptr}, {&scales_, has_float_zeros() ? &*zeros_ : nullptr});
  }

  void make(const Tile& tile, float* out) const override {
    const GroupRange range = groups_of(tile, block_size_, blocks_, nullptr);
    std::vector<float> scales(range.count), zeros(range.count, static_cast<float>(1u << (bits_ - 1)));
    std::vector<std::uint8_t> codes(kNbitsPiece);
    const std::uint64_t row_bytes = blocks_ * block_size_ * bits_ / 8;
    Bytes buffer;
    for (std::uint64_t row = tile.row; row < tile.row + tile.rows; ++row, out += tile.columns) {
      scales_.floats(row * blocks_ + range.first, range.count, scales.data());
      read_nbits_zeros(row, range.first, zeros);
      for (std::uint64_t done = 0; done < tile.columns; done += kNbitsPiece) {
        const std::uint64_t column = tile.column + done;
        const auto count = static_cast<std::size_t>(std::min(kNbitsPiece, tile.columns - done));
        const std::byte* const from = codes_.at(row * row_bytes + column * bits_ / 8, (count * bits_ + 7) / 8, buffer);
        expand(bits_, from, count, codes.data());
        scale_groups({codes.data(), count}, column - range.first * block_size_, block_size_, nullptr, scales.data(),
                     zeros.data(), out + done);
      }
    }
  }

  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(tensor, std::min({block_size_, columns(), kMostExplained}), "w = scale (q - zero)");
    block.term("q", block.codes("codes", "codes of the block, the first in the lowest bits", bits_));
    block.term("scale", block.numbers("scales", "scale of the block"));
    if (!zeros_) return block.term("zero", static_cast<double>(1u << (bits_ - 1))).take();
    if (has_float_zeros()) return block.term("zero", block.numbers("zero_points", "zero point of the block")).take();
    const Bytes bytes = block.field("zero_points", {.name = "zero_points",
                                                    .what = "zero points of the row's blocks, the first in the lowest "
                                                            "bits",
                                                    .kind = FieldKind::bits,
                                                    .bytes = 1,
                                                    .bits = bits_});
    return block.term("zero", static_cast<double>(std::to_integer<unsigned>(bytes[0]) & ((1u << bits_) - 1))).take();
  }

 private:
  bool has_float_zeros() const { return zeros_ && zeros_->component().dtype != DType::u8; }

  // Reads the zero points of some blocks of a row.
  void read_nbits_zeros(std::uint64_t row, std::uint64_t first, std::vector<float>& zeros) const {
    if (!zeros_) return;
    if (has_float_zeros()) return zeros_->floats(row * blocks_ + first, zeros.size(), zeros.data());
    const std::uint64_t line = nbits_zero_bytes(blocks_, bits_), begin = first * bits_ / 8;
    const std::uint64_t end = ceil_div((first + zeros.size()) * bits_, 8);
    Bytes buffer;
    const std::byte* const bytes = zeros_->at(row * line + begin, end - begin, buffer);
    for (std::size_t i = 0; i < zeros.size(); ++i) {
      const std::uint64_t bit = (first + i) * bits_ - begin * 8;
      const unsigned code = std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8);
      zeros[i] = static_cast<float>(code & ((1u << bits_) - 1));
    }
  }

  unsigned bits_;
  std::uint64_t block_size_, blocks_;
  Array codes_, scales_;
  std::optional<Array> zeros_;
};

std::uint64_t nbits_block(std::uint64_t size) {
  if (size < 16 || (size & (size - 1)) != 0 || size > (1u << 20))
    refuse("pack.group", fmt::format("expected blocks of a power of two from 16 on, found {}", size));
  return size;
}

template <unsigned kBits>
std::shared_ptr<const Maker> plan_nbits(const Tensor& tensor) {
  require_rank(tensor, 2, 2);
  const std::uint64_t rows = tensor.shape[0], size = nbits_block(whole_number(tensor, "group_size"));
  const std::uint64_t blocks = ceil_div(tensor.shape[1], size);
  require_array(tensor, "codes", kU8, product(product(rows, blocks), size * kBits / 8));
  require_array(tensor, "scales", kFloats, product(rows, blocks));
  const Component* const zeros = tensor.component("zero_points");
  const bool packed = zeros != nullptr && zeros->dtype == DType::u8;
  optional_array(tensor, "zero_points", kNbitsZeros, product(rows, packed ? nbits_zero_bytes(blocks, kBits) : blocks));
  return std::make_shared<NbitsMaker>(tensor, kBits, size);
}

// The number that the model states for a matrix.
std::uint64_t nbits_number(const Map& facts, std::string_view key, std::optional<std::uint64_t> otherwise = {}) {
  if (facts.find(key) == nullptr && otherwise) return *otherwise;
  if (const auto number = stated_count(facts, key)) return *number;
  refuse("pack.state", fmt::format("the model does not state {} of the matrix", key));
}

// An array of rows and blocks may be stored as a list, too.
Shape as_stored(const Tensor& array, std::uint64_t rows, std::uint64_t columns) {
  if (array.shape.rank() == 1) return {product(rows, columns)};
  return {rows, columns};
}

std::optional<Tensor> join_nbits(const Set& set) {
  const Tensor& codes = set.codes();
  const Map* const facts = set.stated_facts();
  if (facts == nullptr) return std::nullopt;
  if (set.find("g_idx") != nullptr) refuse_variant("MatMulNBits with an order of its inputs (g_idx) is not decoded");
  const std::uint64_t in = nbits_number(*facts, "K"), out = nbits_number(*facts, "N");
  const std::uint64_t bits = nbits_number(*facts, "bits", 4), size = nbits_block(nbits_number(*facts, "block_size"));
  if (nbits_number(*facts, "weight_prepacked", 0) != 0)
    refuse_variant("MatMulNBits with codes in the order of a kernel is not decoded");
  if (bits != 2 && bits != 4 && bits != 8)
    refuse_variant(fmt::format("MatMulNBits with codes of {} bits is not decoded", bits));
  const std::uint64_t blocks = ceil_div(in, size), block_bytes = size * bits / 8;
  const Tensor& scales = set.require("scales");
  Joining joining(set, fmt::format("nbits.int{}", bits), {out, in});
  joining.set("group_size", size);
  // Programs before ONNX Runtime 1.17 stored a matrix, or a list of bytes.
  joining.add(
      "codes", codes, kU8,
      codes.shape.rank() == 3 ? Shape{out, blocks, block_bytes} : as_stored(codes, out, product(blocks, block_bytes)));
  joining.add("scales", scales, kFloats, as_stored(scales, out, blocks));
  if (const Tensor* const zeros = set.find("zero_points")) {
    const bool packed = zeros->components.front().dtype == DType::u8;
    joining.add("zero_points", *zeros, kNbitsZeros,
                as_stored(*zeros, out, packed ? nbits_zero_bytes(blocks, static_cast<unsigned>(bits)) : blocks));
  }
  return joining.take();
}

// Without endings: see Scheme::by_statement.
constexpr Member kNbitsMembers[] = {
    {"", "codes", "codes"}, {"", "scales", "scales"}, {"", "zeros", "zero_points"}, {"", "groups", "g_idx"}};

constexpr Scheme kNbitsSchemes[] = {{.name = "matmulnbits",
                                     .title = "MatMulNBits",
                                     .method = "matmulnbits",
                                     .types = kU8,
                                     .members = kNbitsMembers,
                                     .join = join_nbits,
                                     .weight = "",
                                     .by_statement = true}};

constexpr std::string_view kNbitsParameters[] = {"group_size", kArrays};

template <unsigned kBits>
constexpr Pack nbits_pack(std::string_view layout, std::string_view title) {
  return {layout, title, kRoles<kNbitsMembers>, kNbitsParameters, plan_nbits<kBits>};
}

constexpr Pack kNbitsPacks[] = {
    nbits_pack<2>("nbits.int2", "MatMulNBits: 2 bits with scales and zero points for blocks of a row"),
    nbits_pack<4>("nbits.int4", "MatMulNBits: 4 bits with scales and zero points for blocks of a row"),
    nbits_pack<8>("nbits.int8", "MatMulNBits: 8 bits with scales and zero points for blocks of a row"),
};

}  // namespace

constinit const Family kNbitsFamily = {kNbitsSchemes, kNbitsPacks};

}  // namespace tare::codec::packs
