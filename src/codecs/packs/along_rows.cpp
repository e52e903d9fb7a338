// Codes packed along their rows: compressed-tensors' pack-quantized ("ct.int2" to "ct.int8") and MLX's affine
// quantization ("mlx.affine2" to "mlx.affine8").
//
//   ct    weight_packed      i32 [.., out, ceil(in * bits / 32)]: a stream of bits along the row, of codes + 2^(bits-1)
//         weight_scale       f16, bf16 or f32: [.., out, groups], or one for all
//         weight_zero_point  may be missing: i32 [.., ceil(out * bits / 32), groups], a stream of bits down each
//                            column; or i8, one per scale
//         weight_g_idx       i32 [in], the group of each input; may be missing
//         weight_shape       i64 or i32: the shape, read when a file is opened
//         w = scale * (code - zero)
//   mlx   weight             u32 [.., out, in * bits / 32]: a stream of bits along the row
//         scales, biases     f16, bf16 or f32 [.., out, in / group_size]
//         w = scale * code + bias
//
// MLX's config states bits and group_size, also for single layers; without a config, groups of 64 are assumed.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/printable.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/packs/families.hpp"
#include "codecs/packs/groups.hpp"
#include "codecs/packs/kernels.hpp"

namespace tare::codec::packs {
namespace {

constexpr std::string_view kPackedZeros[] = {"i32", "i8"}, kShapeTypes[] = {"i64", "i32"};
constexpr std::size_t kBlock = 2048;  // codes expanded at a time; a multiple of 32

class CtMaker final : public Maker {
 public:
  CtMaker(const Tensor& tensor, unsigned bits, std::uint64_t out)
      : Maker(matrix_rows(tensor), tensor.shape.back()),
        bits_(bits),
        out_(out),
        group_size_(whole_number(tensor, "group_size")),
        groups_(group_size_ == 0 ? 1 : ceil_div(columns(), group_size_)),
        codes_(*tensor.component("weight_packed")),
        scales_(*tensor.component("weight_scale")),
        order_(tensor.component("weight_g_idx"), columns(), std::max<std::uint64_t>(group_size_, 1), groups_) {
    if (const Component* const zeros = tensor.component("weight_zero_point")) zeros_.emplace(*zeros);
    read_from({&codes_, &scales_, zeros_ ? &*zeros_ : nullptr, order_.array()}, {&scales_});
  }

  void make(const Tile& tile, float* out) const override {
    const std::uint64_t words = ceil_div(columns() * bits_, std::uint64_t{32});
    const std::uint64_t size = group_size_ == 0 ? std::max<std::uint64_t>(columns(), 1) : group_size_;
    const GroupIndex* const index = order_.index();
    const GroupRange range = groups_of(tile, size, groups_, index);
    std::vector<float> scales(range.count), zeros(range.count, static_cast<float>(1u << (bits_ - 1)));
    std::vector<std::uint8_t> codes(kBlock);
    Bytes buffer;
    for (std::uint64_t row = tile.row; row < tile.row + tile.rows; ++row, out += tile.columns) {
      scales_.floats(group_size_ == 0 ? 0 : row * groups_ + range.first, range.count, scales.data());
      read_zeros(row, range.first, zeros);
      for (std::uint64_t done = 0; done < tile.columns; done += kBlock) {
        const std::uint64_t column = tile.column + done;
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, tile.columns - done));
        const std::byte* const from = codes_.at(row * words * 4 + column * bits_ / 8, (count * bits_ + 7) / 8, buffer);
        expand(bits_, from, count, codes.data());
        scale_groups({codes.data(), count}, column - range.first * size, size, index, scales.data(), zeros.data(),
                     out + done);
      }
    }
  }

  void verify(const std::function<void(Problem)>& report) const override {
    Maker::verify(report);
    order_.verify(report);
  }

  FirstBlock explain(const Tensor& tensor) const override {
    const FirstGroup first = first_group(order_, columns(), group_size_ == 0 ? columns() : group_size_);
    Explainer block(tensor, first.weights, "w = scale (q - zero)");
    block.term("q", block.codes("weight_packed", "codes of the row, the first in the lowest bits", bits_));
    block.term("scale", first.spread(block.numbers("weight_scale", "scales of the groups", 0, first.groups)));
    const double middle = 1u << (bits_ - 1);
    if (!zeros_) {
      block.term("zero", middle);
    } else if (zeros_->component().dtype == DType::i8) {
      std::vector<double> zeros =
          block.numbers("weight_zero_point", "zero points less half of the codes", 0, first.groups);
      for (double& zero : zeros) zero += middle;
      block.term("zero", first.spread(zeros));
    } else {
      const Bytes words =
          block.field("weight_zero_point", {.name = "weight_zero_point",
                                            .what = "zero points of rows, the first's in the lowest bits",
                                            .kind = FieldKind::bits,
                                            .bytes = 4 * first.groups,
                                            .bits = bits_});
      std::vector<double> zeros(static_cast<std::size_t>(first.groups));
      for (std::size_t group = 0; group < zeros.size(); ++group)
        zeros[group] = field_at(words.data() + 4 * group, 0, bits_);
      block.term("zero", first.spread(zeros));
    }
    if (order_.array() != nullptr)
      block.term("group", block.numbers("weight_g_idx", "group of each input", 0, first.weights));
    return block.take();
  }

 private:
  // Reads the zero points of some groups of a row.
  void read_zeros(std::uint64_t row, std::uint64_t group, std::vector<float>& zeros) const {
    if (!zeros_) return;
    if (zeros_->component().dtype == DType::i8) {
      zeros_->floats(group_size_ == 0 ? 0 : row * groups_ + group, zeros.size(), zeros.data());
      for (float& zero : zeros) zero += static_cast<float>(1u << (bits_ - 1));
      return;
    }
    const std::uint64_t lines = ceil_div(out_ * bits_, std::uint64_t{32}), expert = row / out_;
    const std::uint64_t bit = row % out_ * bits_, line = expert * lines + bit / 32;
    const unsigned shift = static_cast<unsigned>(bit % 32);
    const bool straddles = shift + bits_ > 32;
    Bytes low_buffer, high_buffer;
    const std::size_t bytes = zeros.size() * 4;
    const std::byte* const low = zeros_->at((line * groups_ + group) * 4, bytes, low_buffer);
    const std::byte* const high = straddles ? zeros_->at(((line + 1) * groups_ + group) * 4, bytes, high_buffer) : low;
    for (std::size_t i = 0; i < zeros.size(); ++i) {
      std::uint64_t word = load_le<std::uint32_t>(low + i * 4);
      if (straddles) word |= std::uint64_t{load_le<std::uint32_t>(high + i * 4)} << 32;
      zeros[i] = static_cast<float>(static_cast<std::uint32_t>(word >> shift) & ((1u << bits_) - 1));
    }
  }

  unsigned bits_;
  std::uint64_t out_, group_size_, groups_;  // group_size 0: one scale for all
  Array codes_, scales_;
  std::optional<Array> zeros_;
  GroupOrder order_;
};

class MlxMaker final : public Maker {
 public:
  MlxMaker(const Tensor& tensor, unsigned bits)
      : Maker(matrix_rows(tensor), tensor.shape.back()),
        bits_(bits),
        group_size_(whole_number(tensor, "group_size")),
        codes_(*tensor.component("weight")),
        scales_(*tensor.component("scales")),
        biases_(*tensor.component("biases")) {
    read_from({&codes_, &scales_, &biases_}, {&scales_, &biases_});
  }

  void make(const Tile& tile, float* out) const override {
    const std::uint64_t groups = columns() / group_size_;
    const GroupRange range = groups_of(tile, group_size_, groups, nullptr);
    std::vector<float> scales(range.count), biases(range.count);
    std::vector<std::uint8_t> codes(kBlock);
    Bytes buffer;
    for (std::uint64_t row = tile.row; row < tile.row + tile.rows; ++row, out += tile.columns) {
      scales_.floats(row * groups + range.first, range.count, scales.data());
      biases_.floats(row * groups + range.first, range.count, biases.data());
      for (std::uint64_t done = 0; done < tile.columns; done += kBlock) {
        const std::uint64_t column = tile.column + done;
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, tile.columns - done));
        const std::byte* const from =
            codes_.at((row * columns() + column) * bits_ / 8, (count * bits_ + 7) / 8, buffer);
        expand(bits_, from, count, codes.data());
        for (std::size_t at = 0; at < count;) {
          const std::uint64_t group = (column + at) / group_size_;
          const auto part = std::min<std::uint64_t>(count, (group + 1) * group_size_ - column) - at;
          scale_and_add(codes.data() + at, part, scales[group - range.first], biases[group - range.first],
                        out + done + at);
          at += part;
        }
      }
    }
  }

  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(tensor, std::min(group_size_, kMostExplained), "w = scale q + bias");
    block.term("q", block.codes("weight", "codes of the row, the first in the lowest bits", bits_));
    block.term("scale", block.numbers("scales", "scale of the group"));
    return block.term("bias", block.numbers("biases", "bias of the group")).take();
  }

 private:
  unsigned bits_;
  std::uint64_t group_size_;
  Array codes_, scales_, biases_;
};

template <unsigned kBits>
std::shared_ptr<const Maker> plan_ct(const Tensor& tensor) {
  require_rank(tensor, 2, 3);
  const std::uint64_t rows = matrix_rows(tensor), in = tensor.shape.back();
  const std::uint64_t out = tensor.shape[tensor.shape.rank() - 2], experts = out == 0 ? 0 : rows / out;
  const std::uint64_t size = whole_number(tensor, "group_size"), groups = size == 0 ? 1 : ceil_div(in, size);
  const std::uint64_t scales = size == 0 ? 1 : product(rows, groups);
  require_array(tensor, "weight_packed", kWords, product(rows, ceil_div(product(in, kBits), std::uint64_t{32})));
  require_array(tensor, "weight_scale", kFloats, scales);
  const Component* const zeros = tensor.component("weight_zero_point");
  const bool packed = zeros != nullptr && zeros->dtype == DType::i32;
  const std::uint64_t lines = product(experts, ceil_div(product(out, kBits), std::uint64_t{32}));
  optional_array(tensor, "weight_zero_point", kPackedZeros, packed ? product(lines, groups) : scales);
  optional_array(tensor, "weight_g_idx", kWords, in);
  refuse_long_index(tensor, "weight_g_idx");
  return std::make_shared<CtMaker>(tensor, kBits, std::max<std::uint64_t>(out, 1));
}

template <unsigned kBits>
std::shared_ptr<const Maker> plan_mlx(const Tensor& tensor) {
  require_rank(tensor, 2, 3);
  const std::uint64_t rows = matrix_rows(tensor), in = tensor.shape.back();
  const std::uint64_t size = whole_number(tensor, "group_size");
  if (size == 0 || in % size != 0) refuse("pack.group", fmt::format("{} inputs are not whole groups of {}", in, size));
  if (product(in, kBits) % 32 != 0)
    refuse("pack.shape", fmt::format("{} inputs of {} bits are not whole words", in, kBits));
  require_array(tensor, "weight", kWords, product(rows, in * kBits / 32));
  require_array(tensor, "scales", kFloats, product(rows, in / size));
  require_array(tensor, "biases", kFloats, product(rows, in / size));
  return std::make_shared<MlxMaker>(tensor, kBits);
}

Shape stated_shape(const Tensor& array) {
  const Component& data = array.components.front();
  const std::uint64_t count = array.shape.elements().value_or(0);
  if (std::ranges::find(kShapeTypes, data.type_name()) == std::end(kShapeTypes) || count < 2 || count > 3)
    refuse("pack.type", fmt::format("{} is not a shape of two or three dimensions", quote(array.name)));
  const Bytes bytes = data.blob.bytes();
  Shape shape;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t dimension = data.dtype == DType::i64 ? load_le<std::int64_t>(bytes.data() + i * 8)
                                                            : load_le<std::int32_t>(bytes.data() + i * 4);
    if (dimension < 0) refuse("pack.shape", fmt::format("{} states the dimension {}", quote(array.name), dimension));
    shape.push_back(static_cast<std::uint64_t>(dimension));
  }
  return shape;
}

Shape with_last(const Shape& shape, std::size_t behind, std::uint64_t first, std::uint64_t last) {
  Shape result(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(behind));
  result.push_back(first);
  result.push_back(last);
  return result;
}

std::optional<Tensor> join_ct(const Set& set) {
  const Tensor& codes = set.codes();
  const Tensor& scale = set.require("weight_scale");
  const Tensor& shape_array = set.require("weight_shape");
  const Shape shape = stated_shape(shape_array);
  const std::size_t rank = shape.rank();
  const std::uint64_t out = shape[rank - 2], in = shape[rank - 1];
  if (codes.shape.rank() != rank) refuse("pack.shape", "the codes and the stated shape have different dimensions");
  if (in == 0 || out == 0) refuse("pack.shape", fmt::format("{} states no weights", quote(shape_array.name)));
  const std::optional<Map>& stated = set.stated().weights;
  const auto said = !stated ? std::nullopt : stated_whole(*stated, "num_bits", "pack.shape");
  unsigned bits = 0;
  for (const unsigned candidate : {2u, 3u, 4u, 6u, 8u})
    if (said != bits && ceil_div(product(in, candidate), std::uint64_t{32}) == codes.shape.back()) bits = candidate;
  if (bits == 0)
    refuse_variant(fmt::format("{} words for {} inputs are not codes of 2, 3, 4, 6 or 8 bits side by side",
                               codes.shape.back(), in));
  if (said && *said != bits)
    refuse("pack.shape", fmt::format("the config states codes of {} bits, the shapes those of {}", *said, bits));
  // Release 0.17 also stores four codes of 7 bits per word.
  if (bits == 8 && !said) set.assume("codes of 8 bits, not of 7, which may take as much room");
  const auto stated_size = !stated ? std::nullopt : stated_whole(*stated, "group_size", "pack.group");
  if (stated_size == 0) refuse("pack.group", "the config states a group size of 0");
  const std::int64_t size = stated_size.value_or(-1);  // not positive: not stated
  Joining joining(set, fmt::format("ct.int{}", bits), shape);
  joining.add("weight_packed", codes, kWords, with_last(shape, 2, out, codes.shape.back()));
  const bool one = scale.shape.elements() == 1 && !(out == 1 && rank == 2);
  const std::uint64_t groups = one ? 1 : scale.shape.rank() == rank ? scale.shape.back() : 0;
  if (groups == 0) refuse("pack.shape", fmt::format("the scales have the shape {}", scale.shape.text()));
  if (!one && ceil_div(in, ceil_div(in, groups)) != groups)
    refuse("pack.group", fmt::format("{} inputs do not make {} groups", in, groups));
  if (!one && size > 0 && ceil_div(in, static_cast<std::uint64_t>(size)) != groups)
    refuse("pack.group",
           fmt::format("{} inputs in groups of {}, which the config states, are not {} groups", in, size, groups));
  const std::uint64_t own = size > 0 ? static_cast<std::uint64_t>(size) : ceil_div(in, groups);
  joining.set("group_size", one ? 0 : std::max<std::uint64_t>(own, 1));
  joining.add("weight_scale", scale, kFloats, one ? scale.shape : with_last(shape, 2, out, groups));
  if (const Tensor* const zeros = set.find("weight_zero_point")) {
    const bool packed = zeros->components.front().dtype == DType::i32;
    joining.add("weight_zero_point", *zeros, kPackedZeros,
                packed ? with_last(shape, 2, ceil_div(product(out, bits), std::uint64_t{32}), groups) : scale.shape);
  }
  if (const Tensor* const order = set.find("weight_g_idx")) joining.add("weight_g_idx", *order, kWords, {in});
  joining.add("weight_shape", shape_array, kShapeTypes, shape_array.shape);
  joining.carry("input_scale").carry("input_zero_point");
  return joining.take();
}

// What MLX's config states for a layer: in the layer's own entry, or for all layers.
struct MlxFacts {
  std::uint64_t bits = 0, group_size = 0;
  std::string mode;
};

MlxFacts mlx_facts(const Set& set) {
  MlxFacts facts;
  const auto take = [&](const Map& map) {
    if (const auto bits = stated_count(map, "bits")) facts.bits = *bits;
    if (const auto size = stated_count(map, "group_size")) {
      facts.group_size = *size;
      if (*size == 0) refuse("pack.group", "the config states a group size of 0");
    }
    if (const Value* const mode = map.find("mode"); mode != nullptr && mode->text() != nullptr)
      facts.mode = *mode->text();
  };
  take(set.stated().config);
  const Value* const own = set.stated().config.find(set.stem());
  if (own != nullptr && own->get<Map>() != nullptr) take(*own->get<Map>());
  return facts;
}

std::optional<Tensor> join_mlx(const Set& set) {
  const Tensor& codes = set.codes();
  const Tensor& scales = set.require("scales");
  const std::size_t rank = codes.shape.rank();
  if (rank < 2 || rank > 3 || scales.shape.rank() != rank)
    refuse("pack.shape", fmt::format("scales of {} do not fit codes of {}", scales.shape.text(), codes.shape.text()));
  MlxFacts facts = mlx_facts(set);
  if (!facts.mode.empty() && facts.mode != "affine")
    refuse_variant(fmt::format("MLX's mode \"{}\" is not decoded", quote(facts.mode)));
  const Tensor& biases = set.require("biases");
  const std::uint64_t groups = scales.shape.back(), words = codes.shape.back();
  if (groups == 0 || product(words, 32) % groups != 0)
    refuse("pack.shape", fmt::format("{} words do not make {} groups", words, groups));
  // Bits per group: the product of code width and group size, which only the config can separate.
  const std::uint64_t together = words * 32 / groups;
  if (facts.group_size == 0) facts.group_size = facts.bits != 0 ? together / facts.bits : 64;
  if (facts.bits == 0) facts.bits = together / facts.group_size;
  if (product(facts.bits, facts.group_size) != together)
    refuse("pack.group", fmt::format("{} bits and groups of {} do not make {} words and {} groups", facts.bits,
                                     facts.group_size, words, groups));
  if (facts.bits < 2 || facts.bits > 8 || facts.bits == 7)
    refuse_variant(fmt::format("MLX's codes of {} bits are not decoded", facts.bits));
  const Shape shape = with_last(codes.shape, 2, codes.shape[rank - 2], product(groups, facts.group_size));
  Joining joining(set, fmt::format("mlx.affine{}", facts.bits), shape);
  joining.set("group_size", facts.group_size);
  joining.add("weight", codes, kWords, codes.shape);
  joining.add("scales", scales, kFloats, with_last(codes.shape, 2, codes.shape[rank - 2], groups));
  joining.add("biases", biases, kFloats, scales.shape);
  return joining.take();
}

constexpr Member kCtMembers[] = {
    {".weight_packed", "codes", "weight_packed"},         {".weight_scale", "scales", "weight_scale"},
    {".weight_zero_point", "zeros", "weight_zero_point"}, {".weight_g_idx", "groups", "weight_g_idx"},
    {".weight_shape", "shape", "weight_shape", true},     {".input_scale", "scales", "input_scale"},
    {".input_zero_point", "zeros", "input_zero_point"}};
constexpr Member kMlxMembers[] = {
    {".weight", "codes", "weight"}, {".scales", "scales", "scales"}, {".biases", "zeros", "biases"}};

constexpr Scheme kStreamSchemes[] = {
    {.name = "compressed-tensors.packed",
     .title = "compressed-tensors",
     .method = "compressed-tensors",
     .types = kI32,
     .members = kCtMembers,
     .join = join_ct,
     .certain = true},
    {.name = "mlx",
     .title = "MLX",
     .method = "mlx",
     .types = kU32,
     .members = kMlxMembers,
     .join = join_mlx,
     .guess = "groups of 64, which says how wide a code is"},
};

constexpr std::string_view kGroupParameters[] = {"group_size", kArrays};

template <unsigned kBits>
constexpr Pack ct_pack(std::string_view layout, std::string_view title) {
  return {layout, title, kRoles<kCtMembers>, kGroupParameters, plan_ct<kBits>};
}
template <unsigned kBits>
constexpr Pack mlx_pack(std::string_view layout, std::string_view title) {
  return {layout, title, kRoles<kMlxMembers>, kGroupParameters, plan_mlx<kBits>};
}

constexpr Pack kStreamPacks[] = {
    ct_pack<2>("ct.int2", "compressed-tensors: 2 bits with scales and zero points for groups of a row"),
    ct_pack<3>("ct.int3", "compressed-tensors: 3 bits with scales and zero points for groups of a row"),
    ct_pack<4>("ct.int4", "compressed-tensors: 4 bits with scales and zero points for groups of a row"),
    ct_pack<6>("ct.int6", "compressed-tensors: 6 bits with scales and zero points for groups of a row"),
    ct_pack<8>("ct.int8", "compressed-tensors: 8 bits with scales and zero points for groups of a row"),
    mlx_pack<2>("mlx.affine2", "MLX: 2 bits with a scale and a bias for each group of a row"),
    mlx_pack<3>("mlx.affine3", "MLX: 3 bits with a scale and a bias for each group of a row"),
    mlx_pack<4>("mlx.affine4", "MLX: 4 bits with a scale and a bias for each group of a row"),
    mlx_pack<5>("mlx.affine5", "MLX: 5 bits with a scale and a bias for each group of a row"),
    mlx_pack<6>("mlx.affine6", "MLX: 6 bits with a scale and a bias for each group of a row"),
    mlx_pack<8>("mlx.affine8", "MLX: 8 bits with a scale and a bias for each group of a row"),
};

}  // namespace

constinit const Family kStreamFamily = {kStreamSchemes, kStreamPacks};

}  // namespace tare::codec::packs
