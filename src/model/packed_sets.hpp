// The sets of arrays in which programs store packed weights (GPTQ, AWQ, bitsandbytes, ...): one row per naming scheme.
// The names appear nowhere else. codecs/packs joins and decodes the rows without `why_not`; resources/packed recognises
// all rows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare {

// An array of a set: its name is the common stem of the set plus this ending.
struct PackedMember {
  std::string_view role;  // the role of this component in the joined tensor
  std::string_view ending;
  std::string_view part;  // for people: "codes", "scales", ...
  bool telling = false;   // only such codes have an array with this name; alone, it shows that the codes are missing
};

struct PackedSet {
  std::string_view scheme, title;
  std::string_view method;                  // quant_method in configs
  std::span<const std::string_view> types;  // types of the codes
  std::span<const PackedMember> members;    // codes first
  // The member that must accompany the codes; the others are optional.
  std::size_t beside = 1;
  unsigned bits = 0;  // per code; 0: stated by the config
  // Why it is not decoded, as part of a sentence; empty: codecs/packs decodes it.
  std::string_view why_not = {};
  // Decides by the shapes of the codes and of the array `beside` whether they belong to this row. Null: no other row
  // has the same names and types.
  bool (*fits)(const Shape& codes, const Shape& beside) = nullptr;

  constexpr std::string_view codes() const { return members[0].ending; }
  constexpr std::string_view beside_ending() const { return members[beside].ending; }
  // Whether an array with this name and type may be the codes.
  bool is_named_as_codes(std::string_view name, std::string_view type) const;
  // Null if no member has this role.
  constexpr const PackedMember* member(std::string_view role) const {
    for (const PackedMember& row : members)
      if (row.role == role) return &row;
    return nullptr;
  }
};

// Rows that codecs/packs decodes and refers to by name.
namespace packed_members {
inline constexpr PackedMember kGptq[] = {{"qweight", ".qweight", "codes"},
                                         {"qzeros", ".qzeros", "zeros", true},
                                         {"scales", ".scales", "scales"},
                                         {"g_idx", ".g_idx", "groups"}};
inline constexpr PackedMember kAwq[] = {
    {"qweight", ".qweight", "codes"}, {"qzeros", ".qzeros", "zeros"}, {"scales", ".scales", "scales"}};
inline constexpr PackedMember kNf4[] = {{"weight", ".weight", "codes"},
                                        {"absmax", ".weight.absmax", "scales", true},
                                        {"quant_map", ".weight.quant_map", "map"},
                                        {"nested_absmax", ".weight.nested_absmax", "scales"},
                                        {"nested_quant_map", ".weight.nested_quant_map", "map"},
                                        {"quant_state", ".weight.quant_state.bitsandbytes__nf4", "state", true}};
inline constexpr PackedMember kFp4[] = {{"weight", ".weight", "codes"},
                                        {"absmax", ".weight.absmax", "scales"},
                                        {"quant_map", ".weight.quant_map", "map"},
                                        {"nested_absmax", ".weight.nested_absmax", "scales"},
                                        {"nested_quant_map", ".weight.nested_quant_map", "map"},
                                        {"quant_state", ".weight.quant_state.bitsandbytes__fp4", "state", true}};
inline constexpr PackedMember kInt8[] = {
    {"weight", ".weight", "codes"}, {"SCB", ".SCB", "scales", true}, {"weight_format", ".weight_format", "state"}};
inline constexpr PackedMember kCtNvfp4[] = {{"weight_packed", ".weight_packed", "codes"},
                                            {"weight_global_scale", ".weight_global_scale", "scales", true},
                                            {"weight_scale", ".weight_scale", "scales"},
                                            {"input_scale", ".input_scale", "scales"},
                                            {"input_global_scale", ".input_global_scale", "scales"}};
inline constexpr PackedMember kCtMxfp4[] = {{"weight_packed", ".weight_packed", "codes"},
                                            {"weight_scale", ".weight_scale", "scales"}};
inline constexpr PackedMember kCt[] = {
    {"weight_packed", ".weight_packed", "codes"},         {"weight_scale", ".weight_scale", "scales"},
    {"weight_zero_point", ".weight_zero_point", "zeros"}, {"weight_g_idx", ".weight_g_idx", "groups"},
    {"weight_shape", ".weight_shape", "shape", true},     {"input_scale", ".input_scale", "scales"},
    {"input_zero_point", ".input_zero_point", "zeros"}};
inline constexpr PackedMember kModelopt[] = {{"weight", ".weight", "codes"},
                                             {"weight_scale_2", ".weight_scale_2", "scales", true},
                                             {"weight_scale", ".weight_scale", "scales"},
                                             {"input_scale", ".input_scale", "scales"},
                                             {"input_global_scale", ".input_global_scale", "scales"}};
inline constexpr PackedMember kBlocks[] = {{"blocks", "_blocks", "codes"}, {"scales", "_scales", "scales"}};
inline constexpr PackedMember kWeightScaleInv[] = {{"weight", ".weight", "codes"},
                                                   {"scale", ".weight_scale_inv", "scales", true},
                                                   {"input_scale", ".input_scale", "scales"}};
inline constexpr PackedMember kWeightScale[] = {{"weight", ".weight", "codes"},
                                                {"scale", ".weight_scale", "scales"},
                                                {"zero_point", ".weight_zero_point", "zeros"},
                                                {"input_scale", ".input_scale", "scales"}};
inline constexpr PackedMember kDotScale[] = {{"weight", ".weight", "codes"}, {"scale", ".scale", "scales"}};
// ComfyUI's names.
inline constexpr PackedMember kScaleWeight[] = {
    {"weight", ".weight", "codes"}, {"scale", ".scale_weight", "scales"}, {"input_scale", ".scale_input", "scales"}};
inline constexpr PackedMember kScaleInv[] = {
    {"weight", "", "codes"}, {"scale", "_scale_inv", "scales"}, {"input_scale", "_activation_scale", "scales"}};
inline constexpr PackedMember kScale[] = {{"weight", "", "codes"}, {"scale", "_scale", "scales"}};
inline constexpr PackedMember kMlx[] = {
    {"weight", ".weight", "codes"}, {"scales", ".scales", "scales"}, {"biases", ".biases", "zeros"}};
}  // namespace packed_members

namespace packed_types {
inline constexpr std::string_view kWords[] = {"i32", "u32"}, kI32[] = {"i32"}, kU32[] = {"u32"}, kU8[] = {"u8"};
inline constexpr std::string_view kI8[] = {"i8"}, kFp8[] = {"f8_e4m3fn", "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz"};
// Bytes stored as floats, for FSDP: recognised, but not decoded.
inline constexpr std::string_view kDisguised[] = {"u8", "f16", "bf16", "f32"};
}  // namespace packed_types

namespace packed_fits {
bool outputs_whole(const Shape& codes, const Shape& scales);
bool outputs_packed(const Shape& codes, const Shape& scales);
bool of_four_bits(const Shape& codes, const Shape& scales);
}  // namespace packed_fits

inline constexpr PackedSet kGptqSet = {.scheme = "gptq",
                                       .title = "GPTQ",
                                       .method = "gptq",
                                       .types = packed_types::kWords,
                                       .members = packed_members::kGptq,
                                       .beside = 2,
                                       .fits = packed_fits::outputs_whole};
inline constexpr PackedSet kAwqSet = {.scheme = "awq",
                                      .title = "AWQ",
                                      .method = "awq",
                                      .types = packed_types::kWords,
                                      .members = packed_members::kAwq,
                                      .beside = 2,
                                      .bits = 4,
                                      .fits = packed_fits::outputs_packed};
inline constexpr PackedSet kNf4Set = {.scheme = "bitsandbytes.nf4",
                                      .title = "bitsandbytes NF4",
                                      .method = "bitsandbytes",
                                      .types = packed_types::kDisguised,
                                      .members = packed_members::kNf4,
                                      .beside = 5,
                                      .bits = 4};
inline constexpr PackedSet kFp4Set = {.scheme = "bitsandbytes.fp4",
                                      .title = "bitsandbytes FP4",
                                      .method = "bitsandbytes",
                                      .types = packed_types::kDisguised,
                                      .members = packed_members::kFp4,
                                      .beside = 5,
                                      .bits = 4};
inline constexpr PackedSet kInt8Set = {.scheme = "bitsandbytes.int8",
                                       .title = "bitsandbytes int8",
                                       .method = "bitsandbytes",
                                       .types = packed_types::kI8,
                                       .members = packed_members::kInt8,
                                       .bits = 8};
inline constexpr PackedSet kCtNvfp4Set = {.scheme = "compressed-tensors.nvfp4",
                                          .title = "compressed-tensors NVFP4",
                                          .method = "compressed-tensors",
                                          .types = packed_types::kU8,
                                          .members = packed_members::kCtNvfp4,
                                          .bits = 4};
inline constexpr PackedSet kCtMxfp4Set = {.scheme = "compressed-tensors.mxfp4",
                                          .title = "compressed-tensors MXFP4",
                                          .method = "compressed-tensors",
                                          .types = packed_types::kU8,
                                          .members = packed_members::kCtMxfp4,
                                          .bits = 4,
                                          .fits = packed_fits::of_four_bits};
inline constexpr PackedSet kCtSet = {.scheme = "compressed-tensors.packed",
                                     .title = "compressed-tensors",
                                     .method = "compressed-tensors",
                                     .types = packed_types::kI32,
                                     .members = packed_members::kCt};
inline constexpr PackedSet kModeloptSet = {.scheme = "modelopt.nvfp4",
                                           .title = "ModelOpt NVFP4",
                                           .method = "modelopt",
                                           .types = packed_types::kU8,
                                           .members = packed_members::kModelopt,
                                           .bits = 4};
inline constexpr PackedSet kBlocksSet = {.scheme = "mxfp4",
                                         .title = "MXFP4",
                                         .method = "mxfp4",
                                         .types = packed_types::kU8,
                                         .members = packed_members::kBlocks,
                                         .bits = 4};
inline constexpr PackedSet kWeightScaleInvSet = {.scheme = "fp8.block",
                                                 .title = "FP8",
                                                 .method = "fp8",
                                                 .types = packed_types::kFp8,
                                                 .members = packed_members::kWeightScaleInv,
                                                 .bits = 8};
inline constexpr PackedSet kWeightScaleSet = {.scheme = "fp8.scaled",
                                              .title = "FP8",
                                              .method = "fp8",
                                              .types = packed_types::kFp8,
                                              .members = packed_members::kWeightScale,
                                              .bits = 8};
inline constexpr PackedSet kDotScaleSet = {.scheme = "fp8.scaled",
                                           .title = "FP8",
                                           .method = "fp8",
                                           .types = packed_types::kFp8,
                                           .members = packed_members::kDotScale,
                                           .bits = 8};
inline constexpr PackedSet kScaleWeightSet = {.scheme = "fp8.scaled",
                                              .title = "FP8",
                                              .method = "fp8",
                                              .types = packed_types::kFp8,
                                              .members = packed_members::kScaleWeight,
                                              .bits = 8};
inline constexpr PackedSet kScaleInvSet = {.scheme = "fp8.block",
                                           .title = "FP8",
                                           .method = "fp8",
                                           .types = packed_types::kFp8,
                                           .members = packed_members::kScaleInv,
                                           .bits = 8};
inline constexpr PackedSet kScaleSet = {.scheme = "fp8.scaled",
                                        .title = "FP8",
                                        .method = "fp8",
                                        .types = packed_types::kFp8,
                                        .members = packed_members::kScale,
                                        .bits = 8};
inline constexpr PackedSet kDotScaleFp4Set = {.scheme = "fp4.scaled",
                                              .title = "FP4",
                                              .method = "fp8",
                                              .types = packed_types::kI8,
                                              .members = packed_members::kDotScale,
                                              .bits = 4};
inline constexpr PackedSet kWeightScaleInt8Set = {.scheme = "int8.scaled",
                                                  .title = "int8",
                                                  .method = "compressed-tensors",
                                                  .types = packed_types::kI8,
                                                  .members = packed_members::kWeightScale,
                                                  .bits = 8};
inline constexpr PackedSet kMlxSet = {
    .scheme = "mlx", .title = "MLX", .method = "mlx", .types = packed_types::kU32, .members = packed_members::kMlx};

// All rows, in the order in which they are tried.
std::span<const PackedSet* const> packed_sets();
// The rows, in order, whose `beside` array occurs among the tensors, by name: no other set can be complete.
std::vector<const PackedSet*> sets_with_beside(std::span<const Tensor> tensors);

// The quantization that the files of a model state.
struct StatedPacking {
  std::string method;  // "gptq", in lower case; empty: not stated
  Map config;          // quantization_config
};

// What a stated method means for arrays that match no row.
struct StatedMethod {
  bool known = false;    // the table has it
  bool decoded = false;  // Tare decodes some of its sets
  std::string why_not;   // for a sentence, with the method's name
};
StatedMethod stated_method(std::string_view method);
// Whether a config with this method describes arrays like those of a row: a method of the table, or another name for
// one.
bool is_method_name(std::string_view method);
// Whether an array alone shows that weights are packed. A plain float weight does not, although it may contain codes
// stored as floats: then the array `beside` it does.
bool tells_packing(const Tensor& tensor);
// Whether an array can contain codes, whatever its name: integers, or floats with a logical type. `large`: only a
// matrix or a long vector, because short ones are positions and the like.
bool can_hold_codes(const Tensor& tensor, bool large);

// The roles of the members of some rows, each once, in order.
template <const PackedSet&... kSets>
inline constexpr auto kPackedRoles = [] {
  constexpr auto collect = [](auto& roles) {
    std::size_t count = 0;
    const auto add = [&](const PackedSet& set) {
      for (const PackedMember& row : set.members) {
        bool is_new = true;
        for (std::size_t i = 0; i < count; ++i) is_new = is_new && roles[i] != row.role;
        if (is_new) roles[count++] = row.role;
      }
    };
    (add(kSets), ...);
    return count;
  };
  constexpr std::size_t kCount = [&] {
    std::array<std::string_view, 64> all{};
    return collect(all);
  }();
  std::array<std::string_view, 64> all{};
  collect(all);
  std::array<std::string_view, kCount> roles{};
  for (std::size_t i = 0; i < kCount; ++i) roles[i] = all[i];
  return roles;
}();

}  // namespace tare
