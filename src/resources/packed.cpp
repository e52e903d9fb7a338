#include "resources/packed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "resources/packed_config.hpp"

namespace tare::resources {
namespace {

using Names = std::span<const std::string_view>;

// A tensor beside the codes: its name is theirs with another ending.
struct Helper {
  std::string_view ending, what;
};

struct Scheme {
  std::string_view id, title;
  std::string_view method;  // quant_method of the configs that state it
  // The codes: how their name ends, and what they are stored as.
  std::string_view codes;
  Names types;
  std::span<const Helper> helpers;  // the first makes a tensor of such a name codes; the others may be there
  unsigned bits;                    // of a code; 0: as the config says
  // Where names and types are another scheme's too. Null: they are not.
  bool (*fits)(const Shape& codes, const Shape& first_helper) = nullptr;
};

constexpr std::string_view kI32[] = {"i32"}, kU32[] = {"u32"}, kI16[] = {"i16"}, kU8[] = {"u8"}, kI8[] = {"i8"};
constexpr std::string_view kBytes[] = {"u8", "i8"}, kShorts[] = {"i8", "i16"};
constexpr std::string_view kFp8[] = {"f8_e4m3fn", "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz"};
constexpr std::string_view kAnything[] = {"u8", "f16", "bf16", "f32"};  // bytes in the guise of floats, for FSDP

constexpr Helper kGptq[] = {{".scales", "scales"}, {".qzeros", "zeros"}, {".g_idx", "groups"}};
constexpr Helper kNf4[] = {{".weight.quant_state.bitsandbytes__nf4", "state"},
                           {".weight.absmax", "scales"},
                           {".weight.quant_map", "map"},
                           {".weight.nested_absmax", "scales"},
                           {".weight.nested_quant_map", "map"}};
constexpr Helper kFp4[] = {{".weight.quant_state.bitsandbytes__fp4", "state"},
                           {".weight.absmax", "scales"},
                           {".weight.quant_map", "map"},
                           {".weight.nested_absmax", "scales"},
                           {".weight.nested_quant_map", "map"}};
constexpr Helper kInt8[] = {{".SCB", "scales"}, {".weight_format", "state"}};
constexpr Helper kNvfp4[] = {
    {".weight_global_scale", "scales"}, {".weight_scale", "scales"}, {".input_global_scale", "scales"}};
constexpr Helper kPackQuantized[] = {{".weight_scale", "scales"},
                                     {".weight_zero_point", "zeros"},
                                     {".weight_shape", "shape"},
                                     {".weight_g_idx", "groups"},
                                     {".input_scale", "scales"}};
constexpr Helper kModelopt[] = {{".weight_scale_2", "scales"}, {".weight_scale", "scales"}, {".input_scale", "scales"}};
constexpr Helper kBlocks[] = {{"_scales", "scales"}};
constexpr Helper kScaleInv[] = {{"_scale_inv", "scales"}, {"_activation_scale", "scales"}};
constexpr Helper kScale[] = {{"_scale", "scales"}, {"_zero_point", "zeros"}};
constexpr Helper kDotScale[] = {{".scale", "scales"}};
constexpr Helper kScaleWeight[] = {{".scale_weight", "scales"}, {".scale_input", "scales"}};  // ComfyUI's
constexpr Helper kMlx[] = {{".scales", "scales"}, {".biases", "zeros"}};
constexpr Helper kExl2[] = {{".q_scale", "scales"},     {".q_scale_max", "scales"}, {".q_groups", "groups"},
                            {".q_group_map", "groups"}, {".q_invperm", "groups"},   {".q_perm", "groups"}};
constexpr Helper kExl3[] = {{".suh", "signs"}, {".svh", "signs"}, {".mcg", "state"}, {".mul1", "state"}};
constexpr Helper kAqlm[] = {{".codebooks", "map"}, {".scales", "scales"}};
constexpr Helper kSvdquant[] = {{".wscales", "scales"}, {".wzeros", "zeros"}, {".wtscale", "scales"}};
constexpr Helper kHqq[] = {{".scale", "scales"}, {".zero", "zeros"}};
constexpr Helper kEetq[] = {{".weight_scales", "scales"}};
constexpr Helper kQuanto[] = {{".weight._scale", "scales"}, {".weight._shift", "zeros"}};

// GPTQ packs along the inputs, AWQ along the outputs; the scales have a column for every output in both.
bool outputs_whole(const Shape& codes, const Shape& scales) {
  return codes.rank() == 2 && scales.rank() == 2 && codes[1] == scales[1];
}
bool outputs_packed(const Shape& codes, const Shape& scales) {
  return codes.rank() == 2 && scales.rank() == 2 && codes[1] < scales[1];
}

// Of MXFP4 and MXFP6 a scale is for 32 codes, of 4 bits or of 6.
bool of_four_bits(const Shape& codes, const Shape& scales) {
  return codes.empty() || scales.empty() || codes.back() != scales.back() * 24;
}

// The first row that fits counts.
constexpr Scheme kSchemes[] = {
    {"gptq", "GPTQ", "gptq", ".qweight", kI32, kGptq, 0, outputs_whole},
    {"awq", "AWQ", "awq", ".qweight", kI32, kGptq, 4, outputs_packed},
    {"bitsandbytes.nf4", "bitsandbytes NF4", "bitsandbytes", ".weight", kAnything, kNf4, 4},
    {"bitsandbytes.fp4", "bitsandbytes FP4", "bitsandbytes", ".weight", kAnything, kFp4, 4},
    {"bitsandbytes.int8", "bitsandbytes int8", "bitsandbytes", ".weight", kI8, kInt8, 8},
    {"compressed-tensors.nvfp4", "compressed-tensors NVFP4", "compressed-tensors", ".weight_packed", kU8, kNvfp4, 4},
    {"compressed-tensors.mxfp4", "compressed-tensors MXFP4", "compressed-tensors", ".weight_packed", kU8,
     kPackQuantized, 4, of_four_bits},
    {"compressed-tensors.mxfp6", "compressed-tensors MXFP6", "compressed-tensors", ".weight_packed", kU8,
     kPackQuantized, 6},
    {"compressed-tensors.packed", "compressed-tensors", "compressed-tensors", ".weight_packed", kI32, kPackQuantized,
     0},
    {"modelopt.nvfp4", "ModelOpt NVFP4", "modelopt", ".weight", kU8, kModelopt, 4},
    {"mxfp4", "MXFP4", "mxfp4", "_blocks", kU8, kBlocks, 4},
    {"fp8.block", "FP8", "fp8", "", kFp8, kScaleInv, 8},
    {"fp8.scaled", "FP8", "fp8", ".weight", kFp8, kPackQuantized, 8},
    {"fp8.scaled", "FP8", "fp8", "", kFp8, kScale, 8},
    {"fp8.scaled", "FP8", "fp8", ".weight", kFp8, kDotScale, 8},
    {"fp8.scaled", "FP8", "fp8", ".weight", kFp8, kScaleWeight, 8},
    {"fp4.scaled", "FP4", "fp8", ".weight", kI8, kDotScale, 4},
    {"int8.scaled", "int8", "compressed-tensors", ".weight", kI8, kPackQuantized, 8},
    {"bitnet", "BitNet", "bitnet", ".weight", kU8, kPackQuantized, 2},
    {"mlx", "MLX", "mlx", ".weight", kU32, kMlx, 0},
    {"exl2", "EXL2", "exl2", ".q_weight", kI32, kExl2, 0},
    {"exl3", "EXL3", "exl3", ".trellis", kI16, kExl3, 0},
    {"aqlm", "AQLM", "aqlm", ".codes", kShorts, kAqlm, 0},
    {"svdquant", "SVDQuant", "svdquant", ".qweight", kI8, kSvdquant, 4},
    {"hqq", "HQQ", "hqq", ".W_q", kBytes, kHqq, 0},
    {"eetq", "EETQ", "eetq", ".weight", kI8, kEetq, 8},
    {"quanto", "Quanto", "quanto", ".weight._data", kBytes, kQuanto, 0},
};

constexpr std::uint64_t kLongVector = 4096;  // bytes

class Finder {
 public:
  explicit Finder(const Model& model) : model_(model), stated_(stated_quantization(model)) {
    for (std::size_t i = 0; i < model.tensors.size(); ++i) at_.emplace(model.tensors[i].name, i);
    found_.parts.resize(model.tensors.size());
  }

  std::optional<Packed> run() {
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) recognize(i);
    if (found_.tensors == 0 && !(stated_ && all_dense() && has_code_like_tensor())) return std::nullopt;
    if (stated_) take_stated();
    count();
    return std::move(found_);
  }

 private:
  const Tensor* find(std::string_view name) const {
    const auto found = at_.find(name);
    return found == at_.end() ? nullptr : &model_.tensors[found->second];
  }

  static const Component* data_of(const Tensor& tensor) {
    return tensor.is_dense() ? tensor.component("data") : nullptr;
  }

  bool is_codes(const Scheme& scheme, const Tensor& tensor, std::string& stem) const {
    const Component* const data = data_of(tensor);
    if (data == nullptr || !tensor.name.ends_with(scheme.codes) ||
        std::ranges::find(scheme.types, data->type_name()) == scheme.types.end())
      return false;
    stem.assign(tensor.name, 0, tensor.name.size() - scheme.codes.size());
    const Tensor* const helper = find(stem + std::string(scheme.helpers.front().ending));
    return helper != nullptr && (scheme.fits == nullptr || scheme.fits(tensor.shape, helper->shape));
  }

  void recognize(std::size_t index) {
    const Tensor& tensor = model_.tensors[index];
    std::string stem;
    for (const Scheme& scheme : kSchemes) {
      if (!is_codes(scheme, tensor, stem)) continue;
      if (found_.tensors++ == 0) name(scheme, tensor);
      found_.parts[index] = "codes";
      code_bits_.emplace_back(index, scheme.bits);
      for (const Helper& helper : scheme.helpers)
        if (const auto at = at_.find(stem + std::string(helper.ending)); at != at_.end())
          found_.parts[at->second] = helper.what;
      return;
    }
  }

  void name(const Scheme& scheme, const Tensor& tensor) {
    found_.scheme = scheme.id;
    found_.title = scheme.title;
    found_.stored = data_of(tensor)->type_name();
    found_.example = tensor.name;
    if (scheme.bits != 0) found_.bits = scheme.bits;
  }

  // Codes are stored as integers or eighths of floats: where all matrices are plain floats, somebody unpacked them and
  // left the statement. Vectors that are long are codes as well, short ones positions and their like.
  bool has_code_like_tensor() const {
    return std::ranges::any_of(model_.tensors, [](const Tensor& tensor) {
      const Component* const data = data_of(tensor);
      const bool large = tensor.shape.rank() >= 2 || tensor.bytes() >= kLongVector;
      return data != nullptr && large && (!data->type.empty() || !is_float(data->dtype));
    });
  }

  // Tensors of other layouts are what the statement is about.
  bool all_dense() const {
    return std::ranges::all_of(model_.tensors, [](const Tensor& tensor) { return tensor.is_dense(); });
  }

  void take_stated() {
    found_.said_by = stated_->file;
    if (found_.tensors == 0) {
      found_.scheme = stated_->method.empty() ? "unknown" : stated_->method;
      found_.title = found_.scheme;
    }
    if (!found_.bits) found_.bits = stated_->bits;
    found_.group = stated_->group;
  }

  void count() {
    std::vector<std::uint64_t> weights(model_.tensors.size(), 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto elements = model_.tensors[i].shape.elements();
      if (!elements) return;
      if (found_.parts[i].empty()) weights[i] = *elements;
    }
    if (found_.tensors == 0) return;
    for (const auto& [index, bits] : code_bits_) {
      const std::uint64_t width = bits != 0 ? bits : found_.bits.value_or(0);
      const auto stored = checked_mul(model_.tensors[index].bytes(), std::uint64_t{8});
      if (width == 0 || !stored) return;
      weights[index] = *stored / width;
    }
    std::optional<std::uint64_t> sum = 0;
    for (const std::uint64_t number : weights) sum = sum ? checked_add(*sum, number) : std::nullopt;
    found_.parameters = sum;
  }

  const Model& model_;
  std::optional<StatedQuantization> stated_;
  NameViewMap<std::size_t> at_;
  std::vector<std::pair<std::size_t, unsigned>> code_bits_;
  Packed found_;
};

}  // namespace

std::string Packed::text() const {
  std::string words = title;
  const bool whole_bytes = bits == 8 && (stored.ends_with("i8") || stored.ends_with("u8") || stored.starts_with("f8"));
  if (bits && !whole_bytes) words += fmt::format(" {}-bit", *bits);
  if (group) words += fmt::format(", group {}", *group);
  if (!stored.empty()) words += fmt::format(", {} {}", stored.starts_with('f') ? "stored as" : "packed in", stored);
  return words;
}

std::optional<Packed> find_packed(const Model& model) {
  // Every scheme has a tensor that is not of plain floats; most models have none.
  const auto plain = [](const Tensor& tensor) {
    const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
    return data != nullptr && data->type.empty() && is_float(data->dtype);
  };
  if (std::ranges::all_of(model.tensors, plain)) return std::nullopt;
  return Finder(model).run();
}

}  // namespace tare::resources
