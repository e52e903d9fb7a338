// The names are those of the libraries' own checkpoints: the arrays that a layer registers, and the config's method.
#include "model/packed_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/forever.hpp"
#include "base/printable.hpp"
#include "base/process_mutex.hpp"

namespace tare {
namespace packed_fits {

// GPTQ packs several inputs into a word, AWQ several outputs; in both the scales have a column for every output.
bool outputs_whole(const Shape& codes, const Shape& scales) {
  return codes.rank() == 2 && scales.rank() == 2 && codes[1] == scales[1];
}
bool outputs_packed(const Shape& codes, const Shape& scales) {
  return codes.rank() == 2 && scales.rank() == 2 && codes[1] < scales[1];
}
// MXFP4 and MXFP6 have one scale for 32 codes of 4 or 6 bits; 24 bytes of codes per scale mean 6 bits.
bool of_four_bits(const Shape& codes, const Shape& scales) {
  return codes.empty() || scales.empty() || codes.back() != scales.back() * 24;
}
bool of_six_bits(const Shape& codes, const Shape& scales) { return !of_four_bits(codes, scales); }
bool has_one_scale(const Shape&, const Shape& scales) { return scales.elements() == 1; }
bool has_scales(const Shape&, const Shape& scales) { return scales.elements() != 1; }

}  // namespace packed_fits

namespace {

using namespace packed_types;

constexpr std::string_view kI16[] = {"i16"}, kShorts[] = {"i8", "i16"}, kIndices[] = {"i16", "i32"},
                           kLongs[] = {"i64", "i32"};
constexpr std::string_view kByteFloats[] = {"u8", "i8", "f8_e4m3fn", "f8_e5m2"};
constexpr std::string_view kTorchaoTypes[] = {"u8", "i8", "i32", "u32", "f8_e4m3fn", "f8_e5m2"};
constexpr std::string_view kHqqTypes[] = {"u8", "i8", "i32", "f16", "bf16", "f32"};

constexpr PackedMember kMarlin24[] = {{"weight_packed", ".weight_packed", "codes"},
                                      {"scale_packed", ".scale_packed", "scales"},
                                      {"meta", ".meta", "groups"}};
constexpr PackedMember kSparse[] = {{"bitmask", ".bitmask", "codes"},
                                    {"compressed", ".compressed", "map"},
                                    {"row_offsets", ".row_offsets", "groups"},
                                    {"shape", ".shape", "shape"}};
constexpr PackedMember kMarlin[] = {{"B", ".B", "codes"}, {"s", ".s", "scales"}, {"workspace", ".workspace", "state"}};
constexpr PackedMember kGptqMarlin24[] = {{"B_24", ".B_24", "codes"},
                                          {"s", ".s", "scales"},
                                          {"B_meta", ".B_meta", "groups"},
                                          {"workspace", ".workspace", "state"}};
constexpr PackedMember kQqq[] = {{"B", ".B", "codes"},
                                 {"s_channel", ".s_channel", "scales"},
                                 {"s_group", ".s_group", "scales"},
                                 {"workspace", ".workspace", "state"}};
constexpr PackedMember kScaledCodes[] = {{"qweight", ".qweight", "codes"},
                                         {"scales", ".scales", "scales"},
                                         {"qzeros", ".qzeros", "zeros"},
                                         {"zeros", ".zeros", "zeros"}};
constexpr PackedMember kExl2[] = {{"q_weight", ".q_weight", "codes"},
                                  {"q_scale", ".q_scale", "scales"},
                                  {"q_scale_max", ".q_scale_max", "scales"},
                                  {"q_groups", ".q_groups", "groups"},
                                  {"q_group_map", ".q_group_map", "groups"},
                                  {"q_invperm", ".q_invperm", "groups"},
                                  {"q_perm", ".q_perm", "groups"}};
constexpr PackedMember kExl3[] = {{"trellis", ".trellis", "codes"}, {"suh", ".suh", "signs"}, {"svh", ".svh", "signs"},
                                  {"su", ".su", "signs"},           {"sv", ".sv", "signs"},   {"mcg", ".mcg", "state"},
                                  {"mul1", ".mul1", "state"}};
constexpr PackedMember kAqlm[] = {
    {"codes", ".codes", "codes"}, {"codebooks", ".codebooks", "map"}, {"scales", ".scales", "scales"}};
constexpr PackedMember kSvdquant[] = {{"qweight", ".qweight", "codes"},
                                      {"wscales", ".wscales", "scales"},
                                      {"wzeros", ".wzeros", "zeros"},
                                      {"wtscale", ".wtscale", "scales"}};
constexpr PackedMember kHqq[] = {{"W_q", ".W_q", "codes"},
                                 {"scale", ".scale", "scales"},
                                 {"zero", ".zero", "zeros"},
                                 {"nbits", ".nbits", "state"},
                                 {"group_size", ".group_size", "state"},
                                 {"axis", ".axis", "state"},
                                 {"packing", ".packing", "state"},
                                 {"shape", ".shape", "shape"}};
constexpr PackedMember kEetq[] = {{"weight", ".weight", "codes"}, {"weight_scales", ".weight_scales", "scales"}};
constexpr PackedMember kQuanto[] = {
    {"data", ".weight._data", "codes"}, {"scale", ".weight._scale", "scales"}, {"shift", ".weight._shift", "zeros"}};
constexpr PackedMember kVptq[] = {{"indices", ".indices", "codes"},
                                  {"centroids", ".centroids.weight", "map"},
                                  {"res_indices", ".res_indices", "codes"},
                                  {"res_centroids", ".res_centroids.weight", "map"},
                                  {"outlier_indices", ".outlier_indices", "codes"},
                                  {"outlier_centroids", ".outlier_centroids.weight", "map"},
                                  {"perm", ".perm", "groups"},
                                  {"weight_scale", ".weight_scale", "scales"},
                                  {"weight_bias", ".weight_bias", "zeros"}};
constexpr PackedMember kSpqr[] = {{"dense_weights", ".dense_weights", "codes"},
                                  {"row_offsets", ".row_offsets", "groups"},
                                  {"col_vals", ".col_vals", "codes"},
                                  {"in_perm", ".in_perm", "groups"}};
constexpr PackedMember kHiggs[] = {{"weight", ".weight", "codes"},
                                   {"scales", ".scales", "scales"},
                                   {"tables", ".tables", "map"},
                                   {"tables2", ".tables2", "map"}};
constexpr PackedMember kTorchao[] = {{"qdata", "._weight_qdata", "codes"},
                                     {"scale", "._weight_scale", "scales"},
                                     {"zero_point", "._weight_zero_point", "zeros"}};
constexpr PackedMember kFpQuant[] = {{"qweight", ".qweight", "codes"},
                                     {"scales", ".scales", "scales"},
                                     {"weight_global_scale", ".weight_global_scale", "scales"},
                                     {"act_global_scale", ".act_global_scale", "scales"}};
constexpr PackedMember kTwoScales[] = {{"weight", ".weight", "codes"},
                                       {"weight_scale", ".weight_scale", "scales"},
                                       {"weight_zero_point", ".weight_zero_point", "zeros"}};

constexpr PackedSet kMxfp6Set = {.scheme = "compressed-tensors.mxfp6",
                                 .title = "compressed-tensors MXFP6",
                                 .method = "compressed-tensors",
                                 .types = kU8,
                                 .members = packed_members::kCtMxfp4,
                                 .bits = 6,
                                 .why_not = "6-bit floats with exponents as scales (MXFP6) are not decoded",
                                 .fits = packed_fits::of_six_bits};
constexpr PackedSet kMarlin24Set = {
    .scheme = "compressed-tensors.marlin-24",
    .title = "compressed-tensors Marlin 2:4",
    .method = "compressed-tensors",
    .types = kI32,
    .members = kMarlin24,
    .why_not = "marlin-24 has codes and scales in the order of its kernel, and only two of every four weights"};
constexpr PackedSet kSparseSet = {
    .scheme = "compressed-tensors.sparse",
    .title = "compressed-tensors sparse",
    .method = "compressed-tensors",
    .types = kU8,
    .members = kSparse,
    .bits = 1,
    .why_not = "a sparse format of compressed-tensors: weights that are not 0, and a mask of bits"};
constexpr PackedSet kMarlinSet = {.scheme = "marlin",
                                  .title = "Marlin",
                                  .method = "marlin",
                                  .types = kI32,
                                  .members = kMarlin,
                                  .why_not = "Marlin has codes and scales in the order of its kernel"};
constexpr PackedSet kGptqMarlin24Set = {
    .scheme = "marlin-24",
    .title = "Marlin 2:4",
    .method = "gptq_marlin_24",
    .types = kI32,
    .members = kGptqMarlin24,
    .why_not = "Marlin 2:4 has codes and scales in the order of its kernel, and only two of every four weights"};
constexpr PackedSet kQqqSet = {.scheme = "qqq",
                               .title = "QQQ",
                               .method = "qqq",
                               .types = kI32,
                               .members = kQqq,
                               .bits = 4,
                               .why_not = "QQQ has codes and scales in the order of its kernel"};
constexpr PackedSet kSvdquantSet = {
    .scheme = "svdquant",
    .title = "SVDQuant",
    .method = "svdquant",
    .types = kI8,
    .members = kSvdquant,
    .bits = 4,
    .why_not = "SVDQuant has codes in the order of its kernel, and adds a product of two matrices to them"};
constexpr PackedSet kBitblasSet = {.scheme = "bitblas",
                                   .title = "BitBLAS",
                                   .method = "bitblas",
                                   .types = kI8,
                                   .members = kScaledCodes,
                                   .why_not = "BitBLAS has codes in the order of its kernel"};
constexpr PackedSet kFpQuantSet = {.scheme = "fp_quant",
                                   .title = "FP-Quant",
                                   .method = "fp_quant",
                                   .types = kU8,
                                   .members = kFpQuant,
                                   .bits = 4,
                                   .why_not = "FP-Quant's codes are of weights after a Hadamard transform"};
constexpr PackedSet kAwqFastSet = {
    .scheme = "awq.fast",
    .title = "AWQ",
    .method = "awq",
    .types = kI16,
    .members = kScaledCodes,
    .bits = 4,
    .why_not = "AWQ's codes in words of 16 bits (gemv_fast) are in the order of its kernel"};
constexpr PackedSet kBitnetSet = {.scheme = "bitnet",
                                  .title = "BitNet",
                                  .method = "bitnet",
                                  .types = kU8,
                                  .members = kTwoScales,
                                  .bits = 2,
                                  .why_not = "BitNet has ternary weights, four rows in one of bytes",
                                  .fits = packed_fits::has_one_scale};
constexpr PackedSet kQuarkSet = {
    .scheme = "quark",
    .title = "Quark",
    .method = "quark",
    .types = kU8,
    .members = kTwoScales,
    .why_not = "bytes with scales (Quark and others): codes of 4 or 6 bits, which cannot be determined from the arrays",
    .fits = packed_fits::has_scales};
constexpr PackedSet kExl2Set = {.scheme = "exl2",
                                .title = "EXL2",
                                .method = "exl2",
                                .types = kI32,
                                .members = kExl2,
                                .why_not = "EXL2 has codes of several widths in one matrix, in an order of its own"};
constexpr PackedSet kExl3Set = {.scheme = "exl3",
                                .title = "EXL3",
                                .method = "exl3",
                                .types = kI16,
                                .members = kExl3,
                                .why_not = "EXL3 has steps of a trellis, of weights after a Hadamard transform"};
constexpr PackedSet kAqlmSet = {.scheme = "aqlm",
                                .title = "AQLM",
                                .method = "aqlm",
                                .types = kShorts,
                                .members = kAqlm,
                                .why_not = "AQLM's codes are numbers of vectors in codebooks, which are added"};
constexpr PackedSet kHqqSet = {.scheme = "hqq",
                               .title = "HQQ",
                               .method = "hqq",
                               .types = kHqqTypes,
                               .members = kHqq,
                               .why_not = "HQQ's codes are packed as its own settings say"};
constexpr PackedSet kEetqSet = {.scheme = "eetq",
                                .title = "EETQ",
                                .method = "eetq",
                                .types = kI8,
                                .members = kEetq,
                                .bits = 8,
                                .why_not = "EETQ has codes in the order of its kernel"};
constexpr PackedSet kQuantoSet = {.scheme = "quanto",
                                  .title = "Quanto",
                                  .method = "quanto",
                                  .types = kByteFloats,
                                  .members = kQuanto,
                                  .why_not = "Quanto's codes are packed as its own settings say"};
constexpr PackedSet kVptqSet = {.scheme = "vptq",
                                .title = "VPTQ",
                                .method = "vptq",
                                .types = kIndices,
                                .members = kVptq,
                                .why_not = "VPTQ's codes are numbers of vectors in codebooks"};
constexpr PackedSet kSpqrSet = {.scheme = "spqr",
                                .title = "SpQR",
                                .method = "spqr",
                                .types = kLongs,
                                .members = kSpqr,
                                .why_not = "SpQR has codes in the order of its kernel, and outliers next to them"};
constexpr PackedSet kHiggsSet = {
    .scheme = "higgs",
    .title = "HIGGS",
    .method = "higgs",
    .types = kI16,
    .members = kHiggs,
    .why_not = "HIGGS has codes in the order of its kernel, of weights after a Hadamard transform"};
constexpr PackedSet kTorchaoSet = {.scheme = "torchao",
                                   .title = "torchao",
                                   .method = "torchao",
                                   .types = kTorchaoTypes,
                                   .members = kTorchao,
                                   .why_not = "torchao has classes of tensors, each with a packing of its own"};

constexpr const PackedSet* kAll[] = {&kGptqSet,
                                     &kAwqSet,
                                     &kNf4Set,
                                     &kFp4Set,
                                     &kInt8Set,
                                     &kCtNvfp4Set,
                                     &kMarlin24Set,
                                     &kMxfp6Set,
                                     &kCtMxfp4Set,
                                     &kCtSet,
                                     &kSparseSet,
                                     &kModeloptSet,
                                     &kDotScaleFp4Set,
                                     &kBlocksSet,
                                     &kWeightScaleInvSet,
                                     &kWeightScaleSet,
                                     &kWeightScaleInt8Set,
                                     &kDotScaleSet,
                                     &kScaleWeightSet,
                                     &kScaleInvSet,
                                     &kScaleSet,
                                     &kBitnetSet,
                                     &kQuarkSet,
                                     &kMlxSet,
                                     &kMarlinSet,
                                     &kGptqMarlin24Set,
                                     &kQqqSet,
                                     &kSvdquantSet,
                                     &kFpQuantSet,
                                     &kBitblasSet,
                                     &kAwqFastSet,
                                     &kExl2Set,
                                     &kExl3Set,
                                     &kAqlmSet,
                                     &kHqqSet,
                                     &kEetqSet,
                                     &kQuantoSet,
                                     &kVptqSet,
                                     &kSpqrSet,
                                     &kHiggsSet,
                                     &kTorchaoSet};

}  // namespace

std::span<const PackedSet* const> packed_sets() { return kAll; }

std::vector<const PackedSet*> sets_with_beside(std::span<const Tensor> tensors) {
  std::vector<const PackedSet*> found, left(std::begin(kAll), std::end(kAll));
  for (const Tensor& tensor : tensors) {
    if (left.empty()) break;
    std::erase_if(left, [&](const PackedSet* row) {
      if (!tensor.name.ends_with(row->beside_ending())) return false;
      found.push_back(row);
      return true;
    });
  }
  // Restore the order of the table: the first row that fits is used.
  std::ranges::sort(found, {}, [](const PackedSet* row) { return std::ranges::find(kAll, row) - std::begin(kAll); });
  return found;
}

bool PackedSet::is_named_as_codes(std::string_view name, std::string_view type) const {
  return name.size() > codes().size() && name.ends_with(codes()) && std::ranges::find(types, type) != types.end();
}

namespace {

// The rows whose codes may be stored as floats.
const std::vector<const PackedSet*>& disguised_sets() {
  static Forever<std::vector<const PackedSet*>> found([] {
    std::vector<const PackedSet*> rows;
    for (const PackedSet* const row : kAll)
      if (std::ranges::find(row->types, name_of(DType::f32)) != row->types.end()) rows.push_back(row);
    return rows;
  }());
  return *found;
}

const BeforeFork kSetsBeforeFork([] { static_cast<void>(disguised_sets()); });

}  // namespace

bool tells_packing(const Tensor& tensor) {
  constexpr std::string_view kUsual = ".weight";
  if (!tensor.is_dense() || tensor.components.size() != 1) return false;
  const Component& data = tensor.components.front();
  const auto is_codes = [&](const PackedSet* row) { return row->is_named_as_codes(tensor.name, data.type_name()); };
  if (data.type.empty() && is_float(data.dtype))
    return std::ranges::any_of(disguised_sets(),
                               [&](const PackedSet* row) { return row->codes() != kUsual && is_codes(row); });
  return std::ranges::any_of(kAll, is_codes) || std::ranges::any_of(disguised_sets(), [&](const PackedSet* row) {
           return tensor.name.ends_with(row->beside_ending());
         });
}

StatedMethod stated_method(std::string_view method) {
  const PackedSet* found = nullptr;
  for (const PackedSet* const row : kAll)
    if (row->method == method && (found == nullptr || row->why_not.empty())) found = row;
  const std::string stated = fmt::format("the config states the method \"{}\"", quote(method));
  if (found == nullptr) return {false, false, stated + ", which is not one that Tare knows"};
  if (found->why_not.empty()) return {true, true, stated + ", and no arrays are named as it names them"};
  return {true, false, fmt::format("{}: {}", stated, found->why_not)};
}

bool is_method_name(std::string_view method) {
  // ModelOpt's quant_algo has a name for each way to quantize; the other names belong to one library each.
  constexpr std::string_view kOthers[] = {
      "auto-round",     "intel/auto-round", "fbgemm_fp8", "finegrained_fp8", "ptpc_fp8",  "modelopt_fp4",
      "nvfp4",          "nvfp4_awq",        "w4a16_awq",  "fp8_pb_wo",       "fp8_pc_pt", "fp8_per_channel_per_token",
      "mixed_precision"};
  return stated_method(method).known || std::ranges::find(kOthers, method) != std::end(kOthers);
}

bool can_hold_codes(const Tensor& tensor, bool large) {
  constexpr std::uint64_t kLongVector = 4096;  // bytes
  if (tensor.components.size() != 1) return false;
  const Component& data = tensor.components.front();
  if (data.type.empty() && (is_float(data.dtype) || data.dtype == DType::boolean)) return false;
  if (!tensor.is_dense() || tensor.name.ends_with("position_ids")) return false;
  return large ? tensor.shape.rank() >= 2 || tensor.bytes() >= kLongVector : tensor.shape.elements().value_or(2) > 1;
}

}  // namespace tare
