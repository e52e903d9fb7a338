// Bytes with separate scales: 8-bit floats ("fp8.tensor", "fp8.channel", "fp8.group", "fp8.block") and 8-bit integers
// ("int8.tensor", "int8.channel", "int8.group"), as written by DeepSeek, compressed-tensors, ModelOpt, FBGEMM and
// others.
//
//   weight  f8_e4m3fn (f8_e5m2, ...) or i8, [out, in], or [experts, out, in]
//   scale   f32, bf16, f16 or f8_e8m0: one for the tensor, per row, per group of a row, or per block of rows and
//           columns; multiplied with the weights, even if its name is weight_scale_inv
//   zero    i8, as many as scales (int8 only; may be missing)
//   w = scale * (byte - zero)
//
// Attributes: block_rows, block_columns. The last block of a row or column may be smaller. The names of the arrays
// differ: see kScaledSchemes. A config may state weight_block_size; otherwise a block is 128 if that fits the
// shapes, or what divides them.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/packs/families.hpp"
#include "codecs/packs/groups.hpp"
#include "codecs/packs/kernels.hpp"

namespace tare::codec::packs {
namespace {

// The values of all codes of a one-byte type.
ByteTable values_of_bytes(const Component& codes) {
  static constexpr auto kIntegers = [] {
    std::array<float, 256> values{};
    for (int i = 0; i < 256; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i < 128 ? i : i - 256);
    return values;
  }();
  const float* values = kIntegers.data();
  with_kind(kind_of(codes.dtype, codes.type), [&]<Kind K>() {
    if constexpr (kTypeOf<K>.storage == DType::u8 && kTypeOf<K>.coding.is_float()) values = kValues<K>.data();
  });
  return {values, codes.type == "f8_e4m3fn"};
}

struct Grid {
  std::uint64_t experts = 1, out = 0, in = 0;
  std::uint64_t block_rows = 1, block_columns = 1;
  std::uint64_t rows() const { return ceil_div(out, block_rows); }
  std::uint64_t columns() const { return ceil_div(in, block_columns); }
};

Grid grid_of(const Tensor& tensor) {
  Grid grid;
  const std::size_t rank = tensor.shape.rank();
  grid.in = tensor.shape[rank - 1];
  grid.out = tensor.shape[rank - 2];
  grid.experts = rank == 3 ? tensor.shape[0] : 1;
  grid.block_rows = whole_number(tensor, "block_rows");
  grid.block_columns = whole_number(tensor, "block_columns");
  if (grid.block_rows == 0 || grid.block_columns == 0) refuse("pack.group", "a block of 0 rows or columns");
  return grid;
}

class GridMaker final : public Maker {
 public:
  GridMaker(const Tensor& tensor, const Grid& grid)
      : Maker(grid.experts * grid.out, grid.in),
        grid_(grid),
        codes_(*tensor.component("weight")),
        scales_(*tensor.component("scale")),
        values_(values_of_bytes(codes_.component())) {
    if (const Component* const zero = tensor.component("zero_point")) zeros_.emplace(*zero);
    read_from({&codes_, &scales_, zeros_ ? &*zeros_ : nullptr}, {&scales_});
  }

  void make(const Tile& tile, float* out) const override {
    const GroupRange range = groups_of(tile, grid_.block_columns, grid_.columns(), nullptr);
    std::vector<float> scales(range.count), zeros(zeros_ ? range.count : 0);
    Bytes buffer;
    std::uint64_t line = UINT64_MAX;
    for (std::uint64_t i = 0; i < tile.rows; ++i, out += tile.columns) {
      const std::uint64_t row = tile.row + i;
      const std::uint64_t own = row / grid_.out * grid_.rows() + row % grid_.out / grid_.block_rows;
      if (own != line) {
        scales_.floats(own * grid_.columns() + range.first, range.count, scales.data());
        if (zeros_) zeros_->floats(own * grid_.columns() + range.first, range.count, zeros.data());
        line = own;
      }
      const std::byte* const codes =
          codes_.at(row * grid_.in + tile.column, static_cast<std::size_t>(tile.columns), buffer);
      for (std::uint64_t at = 0; at < tile.columns;) {
        const std::uint64_t block = (tile.column + at) / grid_.block_columns;
        const auto own_scale = block - range.first;
        const auto count = std::min(tile.columns, (block + 1) * grid_.block_columns - tile.column) - at;
        if (zeros_)
          for (std::size_t k = 0; k < count; ++k)
            out[at + k] =
                (values_.values[std::to_integer<std::uint8_t>(codes[at + k])] - zeros[own_scale]) * scales[own_scale];
        else
          scale_bytes(values_, codes + at, count, scales[own_scale], out + at);
        at += count;
      }
    }
  }

  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(tensor, std::min<std::uint64_t>({grid_.in, grid_.block_columns, 32}),
                    zeros_ ? "w = scale (q - zero)" : "w = scale q");
    block.term("q", block.numbers("weight", "the first of the block's first row", 0, block.weights()));
    block.term("scale", block.numbers("scale", "scale of the block"));
    if (zeros_) block.term("zero", block.numbers("zero_point", "the code that stands for 0"));
    return block.take();
  }

 private:
  Grid grid_;
  Array codes_, scales_;
  std::optional<Array> zeros_;
  ByteTable values_;
};

template <bool kFloat>
std::shared_ptr<const Maker> plan_grid(const Tensor& tensor) {
  require_rank(tensor, 2, 3);
  const std::uint64_t elements = product(matrix_rows(tensor), tensor.shape.back());
  const Grid grid = grid_of(tensor);
  const std::uint64_t scales = product(product(grid.experts, grid.rows()), grid.columns());
  require_array(tensor, "weight", kFloat ? Types(kFloat8s) : Types(kI8), elements);
  require_array(tensor, "scale", kScales, scales);
  if constexpr (!kFloat) optional_array(tensor, "zero_point", kI8, scales);
  return std::make_shared<GridMaker>(tensor, grid);
}

constexpr std::uint64_t kUsualBlock = 128;

// The length of a block if there are `blocks` along `length`; `stated`: the length in the config, or 0.
std::uint64_t block_length(std::uint64_t length, std::uint64_t blocks, std::uint64_t stated) {
  if (blocks == 1) return std::max<std::uint64_t>(length, 1);
  if (blocks == length) return 1;
  if (stated != 0) {
    if (ceil_div(length, stated) == blocks) return stated;
    refuse("pack.group", fmt::format("{} rows or columns in blocks of {}, which the config states, are not {} blocks",
                                     length, stated, blocks));
  }
  if (ceil_div(length, kUsualBlock) == blocks) return kUsualBlock;
  if (blocks == 0 || length % blocks != 0)
    refuse("pack.shape", fmt::format("{} rows or columns do not make {} blocks", length, blocks));
  return length / blocks;
}

// The block size along the rows (0) or the columns (1) that the config states; 0: none.
std::uint64_t stated_block(const Stated& stated, std::size_t axis) {
  // compressed-tensors states it per group of layers.
  const Value* value = stated.config.find("weight_block_size");
  if (value == nullptr && stated.weights) value = stated.weights->find("block_structure");
  if (value == nullptr || value->is_null()) return 0;
  const List* const sizes = value->get<List>();
  const auto* const size = sizes == nullptr || sizes->size() != 2 ? nullptr : (*sizes)[axis].get<std::int64_t>();
  if (size == nullptr || *size <= 0)
    refuse("pack.group", "the config states sizes of blocks that are not two positive numbers");
  return static_cast<std::uint64_t>(*size);
}

std::optional<Tensor> join_grid(const Set& set) {
  const Tensor& codes = set.codes();
  const Tensor& scale = set.require("scale");
  const std::size_t rank = codes.shape.rank();
  const std::string_view type = scale.components.front().type_name();
  // Vectors, and scales of other types (below), belong to something else.
  if (rank < 2) return std::nullopt;
  // compressed-tensors' mxfp8: a byte is the exponent of 32 weights of a row.
  if (type == "u8" && scale.shape.rank() == rank && product(scale.shape.back(), 32) == codes.shape.back())
    refuse_variant("8-bit floats with exponents as scales (MXFP8) are not decoded");
  if (std::ranges::find(kScales, type) == std::end(kScales)) return std::nullopt;
  if (rank > 3) refuse_variant(fmt::format("codes of {} dimensions are not decoded", rank));
  const std::uint64_t out = codes.shape[rank - 2], in = codes.shape[rank - 1];
  // The grid of scales. A matrix has one scale, one per row, or rows and columns of scales; so has each expert.
  Shape grid = scale.shape;
  if (rank == 3) {
    if (grid.rank() == 0 || grid[0] != codes.shape[0] || grid.rank() == 2 || grid.rank() > 3)
      refuse("pack.shape", fmt::format("scales of {} do not fit codes of {}", grid.text(), codes.shape.text()));
    grid = grid.rank() == 1 ? Shape{1, 1} : Shape{grid[1], grid[2]};
    // Experts that are multiplied from the left have their outputs last; FBGEMM stores their scales as a column.
    const bool turned = set.stated().method == "fbgemm_fp8" && codes.name.ends_with("down_proj");
    if (grid == Shape{in, 1} && (in != out || turned)) grid = {1, in};
  } else if (grid.elements() == 1) {
    grid = {1, 1};
  } else if (grid.rank() == 1) {
    grid = {grid[0], 1};
  }
  if (grid.rank() != 2) refuse("pack.shape", fmt::format("the scales have the shape {}", scale.shape.text()));
  const std::uint64_t block_rows = block_length(out, grid[0], stated_block(set.stated(), 0));
  const std::uint64_t block_columns = block_length(in, grid[1], stated_block(set.stated(), 1));
  // The parts of a fused matrix have separate scales and can differ in length.
  const bool told = stated_block(set.stated(), 0) != 0 || grid[0] == 1 || block_rows == 1 || block_rows == kUsualBlock;
  if (!told && grid[1] == 1)
    refuse_variant(fmt::format("{} scales for {} rows, of which nothing says how many rows each is for", grid[0], out));
  if (!told) set.assume(fmt::format("blocks of {} rows and {} columns", block_rows, block_columns));
  const bool integer = codes.components.front().type_name() == kI8[0];
  // If the config states a block size, a matrix of scales is one of blocks, even if a small weight has only one block.
  const bool stated = stated_block(set.stated(), 0) != 0 && scale.shape.rank() == rank;
  const std::string_view kind = stated && !integer                ? "block"
                                : grid[0] == 1 && grid[1] == 1    ? "tensor"
                                : grid[1] == 1 && block_rows == 1 ? "channel"
                                : block_rows == 1                 ? "group"
                                                                  : "block";
  if (integer && kind == "block") refuse_variant("integers with scales for blocks are not decoded");
  Joining joining(set, fmt::format("{}.{}", integer ? "int8" : "fp8", kind), codes.shape);
  joining.set("block_rows", block_rows).set("block_columns", block_columns);
  joining.add("weight", codes, integer ? Types(kI8) : Types(kFloat8s), codes.shape);
  joining.add("scale", scale, kScales, scale.shape);
  if (const Tensor* const zero = set.find("zero_point")) {
    if (!integer) refuse_variant("8-bit floats with zero points are not decoded");
    joining.add("zero_point", *zero, kI8, scale.shape);
  }
  return joining.carry("input_scale").take();
}

constexpr Member kWeightScaleInv[] = {{".weight", "codes", "weight"},
                                      {".weight_scale_inv", "scales", "scale", true},
                                      {".input_scale", "scales", "input_scale"}};
constexpr Member kWeightScale[] = {{".weight", "codes", "weight"},
                                   {".weight_scale", "scales", "scale"},
                                   {".weight_zero_point", "zeros", "zero_point"},
                                   {".input_scale", "scales", "input_scale"}};
constexpr Member kDotScale[] = {{".weight", "codes", "weight"}, {".scale", "scales", "scale"}};
// ComfyUI's names.
constexpr Member kScaleWeight[] = {
    {".weight", "codes", "weight"}, {".scale_weight", "scales", "scale"}, {".scale_input", "scales", "input_scale"}};
constexpr Member kScaleInv[] = {
    {"", "codes", "weight"}, {"_scale_inv", "scales", "scale"}, {"_activation_scale", "scales", "input_scale"}};
constexpr Member kScale[] = {{"", "codes", "weight"}, {"_scale", "scales", "scale"}};

constexpr Scheme fp8_scheme(std::string_view name, std::span<const Member> members, bool certain_if_stated = false) {
  return {.name = name,
          .title = "FP8",
          .method = "fp8",
          .types = kFloat8s,
          .members = members,
          .bits = 8,
          .join = join_grid,
          .weight = members[0].ending,
          .certain_if_stated = certain_if_stated};
}

constexpr Scheme kScaledSchemes[] = {
    fp8_scheme("fp8.block", kWeightScaleInv, true),
    fp8_scheme("fp8.scaled", kWeightScale),
    {.name = "int8.scaled",
     .title = "int8",
     .method = "compressed-tensors",
     .types = kI8,
     .members = kWeightScale,
     .bits = 8,
     .join = join_grid},
    fp8_scheme("fp8.scaled", kDotScale),
    fp8_scheme("fp8.scaled", kScaleWeight),
    fp8_scheme("fp8.block", kScaleInv),
    fp8_scheme("fp8.scaled", kScale),
};

constexpr std::string_view kGridParameters[] = {"block_rows", "block_columns", kArrays};

template <bool kFloat>
constexpr Pack grid_pack(std::string_view layout, std::string_view title) {
  return {layout, title, kRoles<kWeightScale>, kGridParameters, plan_grid<kFloat>};
}

constexpr Pack kScaledPacks[] = {
    grid_pack<true>("fp8.tensor", "8-bit floats with one scale"),
    grid_pack<true>("fp8.channel", "8-bit floats with a scale for each row"),
    grid_pack<true>("fp8.group", "8-bit floats with a scale for each group of a row"),
    grid_pack<true>("fp8.block", "8-bit floats with a scale for each block of rows and columns"),
    grid_pack<false>("int8.tensor", "8-bit integers with one scale"),
    grid_pack<false>("int8.channel", "8-bit integers with a scale for each row"),
    grid_pack<false>("int8.group", "8-bit integers with a scale for each group of a row"),
};

}  // namespace

constinit const Family kScaledFamily = {kScaledSchemes, kScaledPacks};

}  // namespace tare::codec::packs
