// 4-bit floats (e2m1) with scales: "mxfp4" and "nvfp4". Two codes per byte, the even one in the low half.
//
//   mxfp4   weight_packed u8 [.., out, in / 2] and weight_scale u8 (compressed-tensors), or weight i8 and scale f8_e8m0
//           (DeepSeek): [.., out, in / 32], powers of two: 2^(byte - 127)
//           gpt-oss stores its experts as blocks u8 [experts, out, in / 32, 16] and scales u8 [experts, out, in / 32];
//           the tensor is [experts, in, out], as in transformers
//           w = e2m1 * scale
//   nvfp4   weight_packed (ModelOpt: weight) u8 [.., out, in / 2], weight_scale f8_e4m3fn [.., out, in / 16]
//           weight_global_scale f32 (compressed-tensors): w = e2m1 * (scale / global)
//           weight_scale_2 f32 (ModelOpt):                w = e2m1 * (scale * scale_2)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "codecs/outputs_first.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/packs/families.hpp"
#include "codecs/packs/kernels.hpp"
#include "codecs/streams.hpp"
#include "model/element_types.hpp"

namespace tare::codec::packs {
namespace {

constexpr std::string_view kFp4Bytes[] = {"u8", "i8"}, kExponents[] = {"u8", "f8_e8m0"}, kFp8Scale[] = {"f8_e4m3fn"};
constexpr std::string_view kFp4E8m0[] = {"f8_e8m0"};
constexpr std::uint64_t kMx = 32, kNv = 16;  // weights that share a scale

constexpr auto kE2M1 = [] {
  std::array<float, 16> values{};
  for (std::uint32_t code = 0; code < values.size(); ++code)
    values[code] = static_cast<float>(small_coding("f4_e2m1").value(code));
  return values;
}();
constexpr auto kPowers = [] {
  std::array<float, 256> values{};
  for (std::uint32_t code = 0; code < values.size(); ++code)
    values[code] = static_cast<float>(logical_type("f8_e8m0")->coding.value(code));
  return values;
}();

// Reads the scales of a row as floats. Exponents may be stored as u8.
void read_scales(const Array& scales, std::uint64_t first, std::size_t count, std::vector<float>& out) {
  out.resize(count);
  if (scales.component().type == "f8_e4m3fn") return scales.floats(first, count, out.data());
  Bytes buffer;
  const std::byte* const bytes = scales.at(first, count, buffer);
  for (std::size_t i = 0; i < count; ++i) out[i] = kPowers[std::to_integer<std::uint8_t>(bytes[i])];
}

// Whether exponents, which may be stored as u8, include a scale that no program makes.
bool any_unusual_exponent(const Array& scales) {
  Bytes buffer;
  constexpr std::uint64_t kPart = 64 << 10;
  std::uint8_t largest = 0;
  for (std::uint64_t at = 0; at < scales.elements(); at += kPart) {
    const auto part = static_cast<std::size_t>(std::min(kPart, scales.elements() - at));
    const std::byte* const bytes = scales.at(at, part, buffer);
    for (std::size_t i = 0; i < part; ++i) largest = std::max(largest, std::to_integer<std::uint8_t>(bytes[i]));
  }
  return kPowers[largest] > kUsualScale || largest == 255;
}

void verify_exponents(const Array& scales, const std::function<void(Problem)>& report) {
  Bytes buffer;
  std::uint64_t count = 0, first = 0;
  constexpr std::uint64_t kPart = 64 << 10;
  for (std::uint64_t at = 0; at < scales.elements(); at += kPart) {
    const auto part = static_cast<std::size_t>(std::min(kPart, scales.elements() - at));
    const std::byte* const bytes = scales.at(at, part, buffer);
    for (std::size_t i = 0; i < part; ++i)
      if (bytes[i] == std::byte{255} && count++ == 0) first = at + i;
  }
  if (count > 0) report(nonfinite(scales, first, count));
}

// Explains what all these layouts share: 4-bit floats and the scale of a block.
void explain_fp4(Explainer& block, std::string_view codes_role, const Component& scales) {
  std::vector<double> codes =
      block.codes(codes_role, "4-bit floats (e2m1), two in a byte, the first in the low half", 4);
  block.term("q", codes);
  for (double& code : codes) code = kE2M1[static_cast<std::size_t>(code)];
  block.term("x", std::move(codes));
  if (scales.type == "f8_e4m3fn") {
    block.term("scale", block.numbers(scales.role, "scale of the block"));
    return;
  }
  const Bytes exponent =
      block.field(scales.role, {.what = "exponent of the block", .kind = FieldKind::e8m0, .bytes = 1});
  block.term("scale", kPowers[std::to_integer<std::uint8_t>(exponent[0])]);
}

class Fp4Maker final : public Maker {
 public:
  Fp4Maker(const Tensor& tensor, std::string_view codes, std::string_view scales, std::uint64_t group)
      : Maker(matrix_rows(tensor), tensor.shape.back()),
        group_(group),
        codes_(*tensor.component(codes)),
        scales_(*tensor.component(scales)) {
    if (const Component* const global = tensor.component("weight_global_scale")) divisor_.emplace(*global);
    if (const Component* const global = tensor.component("weight_scale_2")) factor_.emplace(*global);
    const auto of = [](const std::optional<Array>& array) { return array ? &*array : nullptr; };
    read_from({&codes_, &scales_, of(divisor_), of(factor_)},
              {group_ == kNv ? &scales_ : nullptr, of(divisor_), of(factor_)});
  }

  void make(const Tile& tile, float* out) const override {
    const NibbleTable values(kE2M1);
    float divisor = 1, factor = 1;
    if (divisor_) divisor_->floats(0, 1, &divisor);
    if (factor_) factor_->floats(0, 1, &factor);
    const std::uint64_t groups = columns() / group_;
    const std::uint64_t first = tile.column / group_, count = tile.columns / group_;
    std::vector<float> scales;
    Bytes buffer;
    for (std::uint64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      read_scales(scales_, row * groups + first, static_cast<std::size_t>(count), scales);
      if (divisor_)
        for (float& scale : scales) scale /= divisor;
      if (factor_)
        for (float& scale : scales) scale *= factor;
      const std::byte* const codes = codes_.at((row * columns() + tile.column) / 2, tile.columns / 2, buffer);
      for (std::size_t i = 0; i < scales.size(); ++i, out += group_)
        scale_nibbles(values, codes + i * group_ / 2, static_cast<std::size_t>(group_), false, scales[i], out);
    }
  }

  void verify_scales(const std::function<void(Problem)>& report) const override {
    Maker::verify_scales(report);
    if (group_ == kMx) verify_exponents(scales_, report);
    float divisor = 1;
    if (divisor_) divisor_->floats(0, 1, &divisor);
    if (divisor == 0)
      report({"pack.scale", "\"weight_global_scale\", which scales are divided by, is 0",
              file_offset(divisor_->component().blob, 0)});
  }

  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(tensor, group_,
                    divisor_  ? "w = x scale / global"
                    : factor_ ? "w = x scale scale_2"
                              : "w = x scale");
    explain_fp4(block, codes_.component().role, scales_.component());
    if (divisor_) block.term("global", block.numbers("weight_global_scale", "of the whole tensor"));
    if (factor_) block.term("scale_2", block.numbers("weight_scale_2", "of the whole tensor"));
    return block.take();
  }

 protected:
  bool may_overflow() const override {
    float divisor = 1;
    if (divisor_) divisor_->floats(0, 1, &divisor);
    return Maker::may_overflow() || (group_ == kMx && any_unusual_exponent(scales_)) ||
           !(std::abs(divisor) >= 1 / kUsualScale);
  }

 private:
  std::uint64_t group_;
  Array codes_, scales_;
  std::optional<Array> divisor_, factor_;
};

// Makes gpt-oss experts: a block is 32 inputs of one output, which here are a part of a column.
class ExpertsMaker final : public Maker {
 public:
  explicit ExpertsMaker(const Tensor& tensor)
      : Maker(matrix_rows(tensor), tensor.shape.back(), kMx),
        in_(tensor.shape[1]),
        blocks_(*tensor.component("blocks")),
        scales_(*tensor.component("scales")) {
    read_from({&blocks_, &scales_}, {});
  }

  void make(const Tile& tile, float* out) const override {
    const NibbleTable values(kE2M1);
    std::array<float, kMx> block_values;
    Bytes block_buffer, scale_buffer;
    const std::uint64_t groups = in_ / kMx, outputs = columns();
    for (std::uint64_t row = tile.row; row < tile.row + tile.rows;) {
      const std::uint64_t expert = row / in_, input = row % in_, first = input % kMx;
      const std::uint64_t rows = std::min(kMx - first, tile.row + tile.rows - row);
      for (std::uint64_t i = 0; i < tile.columns; ++i) {
        const std::uint64_t block = (expert * outputs + tile.column + i) * groups + input / kMx;
        const float scale = kPowers[std::to_integer<std::uint8_t>(*scales_.at(block, 1, scale_buffer))];
        scale_nibbles(values, blocks_.at(block * kMx / 2, kMx / 2, block_buffer), kMx, false, scale,
                      block_values.data());
        for (std::uint64_t k = 0; k < rows; ++k) out[(row - tile.row + k) * tile.columns + i] = block_values[first + k];
      }
      row += rows;
    }
  }

  void verify_scales(const std::function<void(Problem)>& report) const override { verify_exponents(scales_, report); }

  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(tensor, kMx, "w = x scale; of the first output, whose inputs are a column", columns());
    explain_fp4(block, "blocks", scales_.component());
    return block.take();
  }

 protected:
  bool may_overflow() const override { return any_unusual_exponent(scales_); }

 private:
  std::uint64_t in_;
  Array blocks_, scales_;
};

// The names of mxfp4's codes and scales, except gpt-oss.
struct MxNames {
  std::string_view codes, scale;
};
constexpr MxNames kMxNames[] = {{"weight_packed", "weight_scale"}, {"weight", "scale"}};

void require_groups(const Tensor& tensor, std::uint64_t inputs, std::uint64_t group) {
  if (inputs % group != 0)
    refuse("pack.group",
           fmt::format("{} has {} inputs, which are not whole groups of {}", tensor.layout, inputs, group));
}

std::shared_ptr<const Maker> plan_mxfp4(const Tensor& tensor) {
  require_rank(tensor, 2, 3);
  const std::uint64_t rows = matrix_rows(tensor), columns = tensor.shape.back();
  if (tensor.component("blocks") != nullptr) {
    require_rank(tensor, 3, 3);
    require_groups(tensor, tensor.shape[1], kMx);
    require_array(tensor, "blocks", kU8, product(rows, columns) / 2);
    require_array(tensor, "scales", kExponents, product(rows, columns) / kMx);
    return std::make_shared<ExpertsMaker>(tensor);
  }
  require_groups(tensor, columns, kMx);
  const MxNames& names = kMxNames[tensor.component(kMxNames[0].codes) == nullptr ? 1 : 0];
  require_array(tensor, names.codes, kFp4Bytes, product(rows, columns) / 2);
  require_array(tensor, names.scale, kExponents, product(rows, columns) / kMx);
  return std::make_shared<Fp4Maker>(tensor, names.codes, names.scale, kMx);
}

std::shared_ptr<const Maker> plan_nvfp4(const Tensor& tensor) {
  require_rank(tensor, 2, 3);
  const std::uint64_t rows = matrix_rows(tensor), columns = tensor.shape.back();
  require_groups(tensor, columns, kNv);
  const bool other = tensor.component("weight_scale_2") != nullptr;
  require_array(tensor, other ? "weight" : "weight_packed", kU8, product(rows, columns) / 2);
  require_array(tensor, "weight_scale", kFp8Scale, product(rows, columns) / kNv);
  require_array(tensor, other ? "weight_scale_2" : "weight_global_scale", kF32, 1);
  return std::make_shared<Fp4Maker>(tensor, other ? "weight" : "weight_packed", "weight_scale", kNv);
}

// The shape of weights whose codes are two per byte, and the shape of scales for groups of them.
Shape shape_of_nibbles(const Tensor& codes) {
  const std::size_t rank = codes.shape.rank();
  if (rank < 2 || rank > 3) refuse("pack.shape", fmt::format("codes of {} are not matrices", codes.shape.text()));
  Shape shape = codes.shape;
  shape[rank - 1] = product(shape[rank - 1], 2);
  return shape;
}

Shape shape_of_scales(Shape shape, std::uint64_t group) {
  if (shape.back() % group != 0)
    refuse("pack.group", fmt::format("{} inputs are not whole groups of {}", shape.back(), group));
  shape[shape.rank() - 1] /= group;
  return shape;
}

constexpr Member kCtNvfp4Members[] = {{".weight_packed", "codes", "weight_packed"},
                                      {".weight_global_scale", "scales", "weight_global_scale", true},
                                      {".weight_scale", "scales", "weight_scale"},
                                      {".input_scale", "scales", "input_scale"},
                                      {".input_global_scale", "scales", "input_global_scale"}};
constexpr Member kModeloptMembers[] = {{".weight", "codes", "weight"},
                                       {".weight_scale_2", "scales", "weight_scale_2", true},
                                       {".weight_scale", "scales", "weight_scale"},
                                       {".input_scale", "scales", "input_scale"},
                                       {".input_global_scale", "scales", "input_global_scale"}};
constexpr Member kCtMxMembers[] = {{".weight_packed", "codes", "weight_packed"},
                                   {".weight_scale", "scales", "weight_scale"}};
constexpr Member kDotMxMembers[] = {{".weight", "codes", "weight"}, {".scale", "scales", "scale"}};
constexpr Member kBlocksMembers[] = {{"_blocks", "codes", "blocks"}, {"_scales", "scales", "scales"}};

std::optional<Tensor> join_nvfp4(const Set& set, std::string_view codes_role, std::string_view global_role) {
  const Shape shape = shape_of_nibbles(set.codes());
  const Tensor& global = set.require(global_role);
  if (global.shape.elements() != 1)
    refuse("pack.shape",
           fmt::format("{} has the shape {}; expected one number", quote(global.name), global.shape.text()));
  Joining joining(set, "nvfp4", shape);
  joining.add(codes_role, set.codes(), kU8, set.codes().shape);
  joining.add("weight_scale", set.require("weight_scale"), kFp8Scale, shape_of_scales(shape, kNv));
  joining.add(global_role, global, kF32, global.shape);
  joining.carry("input_scale").carry("input_global_scale");
  return joining.take();
}

std::optional<Tensor> join_mxfp4(const Set& set, const MxNames& names, Types types) {
  const Tensor& scale = set.require(names.scale);
  if (set.find_ending(kCtNvfp4Members[1].ending) != nullptr) return std::nullopt;
  const Shape shape = shape_of_nibbles(set.codes());
  Joining joining(set, "mxfp4", shape);
  joining.add(names.codes, set.codes(), kFp4Bytes, set.codes().shape);
  joining.add(names.scale, scale, types, shape_of_scales(shape, kMx));
  return joining.take();
}

std::optional<Tensor> join_experts(const Set& set) {
  const Shape& blocks = set.codes().shape;
  if (blocks.rank() != 4 || blocks[3] != kMx / 2)
    refuse("pack.shape",
           fmt::format("blocks of {}; expected experts, outputs, groups and {} bytes", blocks.text(), kMx / 2));
  Joining joining(set, "mxfp4", {blocks[0], product(blocks[2], kMx), blocks[1]});
  joining.add("blocks", set.codes(), kU8, blocks);
  joining.add("scales", set.require("scales"), kExponents, {blocks[0], blocks[1], blocks[2]});
  return joining.take();
}

// MXFP4 and MXFP6 have one scale for 32 codes of 4 or 6 bits; 24 bytes of codes per scale mean 6 bits.
bool of_four_bits(const Shape& codes, const Shape& scales) {
  return codes.empty() || scales.empty() || codes.back() != scales.back() * 24;
}
bool of_six_bits(const Shape& codes, const Shape& scales) { return !of_four_bits(codes, scales); }

constexpr Scheme kFp4Schemes[] = {
    {.name = "compressed-tensors.nvfp4",
     .title = "compressed-tensors NVFP4",
     .method = "compressed-tensors",
     .types = kU8,
     .members = kCtNvfp4Members,
     .bits = 4,
     .join = [](const Set& set) { return join_nvfp4(set, "weight_packed", "weight_global_scale"); }},
    // Before MXFP4, which would refuse its shapes.
    {.name = "compressed-tensors.mxfp6",
     .title = "compressed-tensors MXFP6",
     .method = "compressed-tensors",
     .types = kU8,
     .members = kCtMxMembers,
     .bits = 6,
     .fits = of_six_bits,
     .why_not = "6-bit floats with exponents as scales (MXFP6) are not decoded"},
    {.name = "compressed-tensors.mxfp4",
     .title = "compressed-tensors MXFP4",
     .method = "compressed-tensors",
     .types = kU8,
     .members = kCtMxMembers,
     .bits = 4,
     .fits = of_four_bits,
     .join = [](const Set& set) { return join_mxfp4(set, kMxNames[0], kExponents); },
     .certain = true},
    {.name = "modelopt.nvfp4",
     .title = "ModelOpt NVFP4",
     .method = "modelopt",
     .types = kU8,
     .members = kModeloptMembers,
     .bits = 4,
     .join = [](const Set& set) { return join_nvfp4(set, "weight", "weight_scale_2"); }},
    {.name = "fp4.scaled",
     .title = "FP4",
     .method = "fp8",
     .types = kI8,
     .members = kDotMxMembers,
     .bits = 4,
     .join = [](const Set& set) { return join_mxfp4(set, kMxNames[1], kFp4E8m0); }},
    {.name = "mxfp4",
     .title = "MXFP4",
     .method = "mxfp4",
     .types = kU8,
     .members = kBlocksMembers,
     .bits = 4,
     .join = join_experts,
     .weight = "",
     .certain_if_stated = true,
     .certain_shape = [](const Shape& blocks) { return blocks.rank() == 4 && blocks[3] == kMx / 2; }},
};

constexpr std::string_view kFp4Parameters[] = {kArrays};

constexpr Pack kFp4Packs[] = {
    {"mxfp4", "4-bit floats with an exponent for every 32 weights (MXFP4)",
     kRoles<kCtMxMembers, kDotMxMembers, kBlocksMembers>, kFp4Parameters, plan_mxfp4},
    {"nvfp4", "4-bit floats with an 8-bit float for every 16 weights and a scale for all (NVFP4)",
     kRoles<kCtNvfp4Members, kModeloptMembers>, kFp4Parameters, plan_nvfp4},
};

}  // namespace

constinit const Family kFp4Family = {kFp4Schemes, kFp4Packs};

}  // namespace tare::codec::packs

namespace tare::codec {

// The blocks of gpt-oss experts have the bytes of compressed-tensors' codes.
std::optional<Tensor> outputs_first(const Tensor& tensor) {
  if (tensor.layout != "mxfp4" || tensor.component("blocks") == nullptr || tensor.shape.rank() != 3)
    return std::nullopt;
  Tensor turned = tensor;
  turned.shape = {tensor.shape[0], tensor.shape[2], tensor.shape[1]};
  for (Component& component : turned.components) {
    if (component.role == "blocks") component.role = "weight_packed";
    if (component.role == "scales") component.role = "weight_scale";
  }
  return turned;
}

}  // namespace tare::codec
