// Schemes that are recognised by their names and not decoded. The names are those of the libraries' own checkpoints: the
// arrays that a layer registers, and the config's method.
#include "codecs/packs/families.hpp"

namespace tare::codec::packs {
namespace {

constexpr std::string_view kI16[] = {"i16"}, kShorts[] = {"i8", "i16"}, kIndices[] = {"i16", "i32"},
                           kLongs[] = {"i64", "i32"};
constexpr std::string_view kByteFloats[] = {"u8", "i8", "f8_e4m3fn", "f8_e5m2"};
constexpr std::string_view kTorchaoTypes[] = {"u8", "i8", "i32", "u32", "f8_e4m3fn", "f8_e5m2"};
constexpr std::string_view kHqqTypes[] = {"u8", "i8", "i32", "f16", "bf16", "f32"};

constexpr Member kMarlin24[] = {{".weight_packed", "codes"}, {".scale_packed", "scales"}, {".meta", "groups"}};
constexpr Member kSparse[] = {
    {".bitmask", "codes"}, {".compressed", "map"}, {".row_offsets", "groups"}, {".shape", "shape"}};
constexpr Member kMarlin[] = {{".B", "codes"}, {".s", "scales"}, {".workspace", "state"}};
constexpr Member kGptqMarlin24[] = {
    {".B_24", "codes"}, {".s", "scales"}, {".B_meta", "groups"}, {".workspace", "state"}};
constexpr Member kQqq[] = {{".B", "codes"}, {".s_channel", "scales"}, {".s_group", "scales"}, {".workspace", "state"}};
constexpr Member kScaledCodes[] = {
    {".qweight", "codes"}, {".scales", "scales"}, {".qzeros", "zeros"}, {".zeros", "zeros"}};
constexpr Member kExl2[] = {{".q_weight", "codes"},  {".q_scale", "scales"},     {".q_scale_max", "scales"},
                            {".q_groups", "groups"}, {".q_group_map", "groups"}, {".q_invperm", "groups"},
                            {".q_perm", "groups"}};
constexpr Member kExl3[] = {{".trellis", "codes"}, {".suh", "signs"}, {".svh", "signs"}, {".su", "signs"},
                            {".sv", "signs"},      {".mcg", "state"}, {".mul1", "state"}};
constexpr Member kAqlm[] = {{".codes", "codes"}, {".codebooks", "map"}, {".scales", "scales"}};
constexpr Member kSvdquant[] = {
    {".qweight", "codes"}, {".wscales", "scales"}, {".wzeros", "zeros"}, {".wtscale", "scales"}};
constexpr Member kHqq[] = {{".W_q", "codes"},        {".scale", "scales"}, {".zero", "zeros"},    {".nbits", "state"},
                           {".group_size", "state"}, {".axis", "state"},   {".packing", "state"}, {".shape", "shape"}};
constexpr Member kEetq[] = {{".weight", "codes"}, {".weight_scales", "scales"}};
constexpr Member kQuanto[] = {{".weight._data", "codes"}, {".weight._scale", "scales"}, {".weight._shift", "zeros"}};
constexpr Member kVptq[] = {{".indices", "codes"},         {".centroids.weight", "map"},
                            {".res_indices", "codes"},     {".res_centroids.weight", "map"},
                            {".outlier_indices", "codes"}, {".outlier_centroids.weight", "map"},
                            {".perm", "groups"},           {".weight_scale", "scales"},
                            {".weight_bias", "zeros"}};
constexpr Member kSpqr[] = {
    {".dense_weights", "codes"}, {".row_offsets", "groups"}, {".col_vals", "codes"}, {".in_perm", "groups"}};
constexpr Member kHiggs[] = {{".weight", "codes"}, {".scales", "scales"}, {".tables", "map"}, {".tables2", "map"}};
constexpr Member kTorchao[] = {
    {"._weight_qdata", "codes"}, {"._weight_scale", "scales"}, {"._weight_zero_point", "zeros"}};
constexpr Member kFpQuant[] = {
    {".qweight", "codes"}, {".scales", "scales"}, {".weight_global_scale", "scales"}, {".act_global_scale", "scales"}};
constexpr Member kTwoScales[] = {{".weight", "codes"}, {".weight_scale", "scales"}, {".weight_zero_point", "zeros"}};

bool has_one_scale(const Shape&, const Shape& scales) { return scales.elements() == 1; }
bool has_scales(const Shape&, const Shape& scales) { return scales.elements() != 1; }

// `bits`: see Scheme.
constexpr Scheme not_decoded(std::string_view name, std::string_view title, std::string_view method, Types types,
                             std::span<const Member> members, unsigned bits, std::string_view why_not,
                             bool (*fits)(const Shape& codes, const Shape& beside) = nullptr) {
  return {.name = name,
          .title = title,
          .method = method,
          .types = types,
          .members = members,
          .bits = bits,
          .fits = fits,
          .why_not = why_not};
}

constexpr Scheme kNotDecodedSchemes[] = {
    not_decoded("compressed-tensors.marlin-24", "compressed-tensors Marlin 2:4", "compressed-tensors", kI32, kMarlin24,
                0, "marlin-24 has codes and scales in the order of its kernel, and only two of every four weights"),
    not_decoded("compressed-tensors.sparse", "compressed-tensors sparse", "compressed-tensors", kU8, kSparse, 1,
                "a sparse format of compressed-tensors: weights that are not 0, and a mask of bits"),
    not_decoded("bitnet", "BitNet", "bitnet", kU8, kTwoScales, 2,
                "BitNet has ternary weights, four rows in one of bytes", has_one_scale),
    not_decoded(
        "quark", "Quark", "quark", kU8, kTwoScales, 0,
        "bytes with scales (Quark and others): codes of 4 or 6 bits, which cannot be determined from the arrays",
        has_scales),
    not_decoded("marlin", "Marlin", "marlin", kI32, kMarlin, 0,
                "Marlin has codes and scales in the order of its kernel"),
    not_decoded("marlin-24", "Marlin 2:4", "gptq_marlin_24", kI32, kGptqMarlin24, 0,
                "Marlin 2:4 has codes and scales in the order of its kernel, and only two of every four weights"),
    not_decoded("qqq", "QQQ", "qqq", kI32, kQqq, 4, "QQQ has codes and scales in the order of its kernel"),
    not_decoded("svdquant", "SVDQuant", "svdquant", kI8, kSvdquant, 4,
                "SVDQuant has codes in the order of its kernel, and adds a product of two matrices to them"),
    not_decoded("fp_quant", "FP-Quant", "fp_quant", kU8, kFpQuant, 4,
                "FP-Quant's codes are of weights after a Hadamard transform"),
    not_decoded("bitblas", "BitBLAS", "bitblas", kI8, kScaledCodes, 0, "BitBLAS has codes in the order of its kernel"),
    not_decoded("awq.fast", "AWQ", "awq", kI16, kScaledCodes, 4,
                "AWQ's codes in words of 16 bits (gemv_fast) are in the order of its kernel"),
    not_decoded("exl2", "EXL2", "exl2", kI32, kExl2, 0,
                "EXL2 has codes of several widths in one matrix, in an order of its own"),
    not_decoded("exl3", "EXL3", "exl3", kI16, kExl3, 0,
                "EXL3 has steps of a trellis, of weights after a Hadamard transform"),
    not_decoded("aqlm", "AQLM", "aqlm", kShorts, kAqlm, 0,
                "AQLM's codes are numbers of vectors in codebooks, which are added"),
    not_decoded("hqq", "HQQ", "hqq", kHqqTypes, kHqq, 0, "HQQ's codes are packed as its own settings say"),
    not_decoded("eetq", "EETQ", "eetq", kI8, kEetq, 8, "EETQ has codes in the order of its kernel"),
    not_decoded("quanto", "Quanto", "quanto", kByteFloats, kQuanto, 0,
                "Quanto's codes are packed as its own settings say"),
    not_decoded("vptq", "VPTQ", "vptq", kIndices, kVptq, 0, "VPTQ's codes are numbers of vectors in codebooks"),
    not_decoded("spqr", "SpQR", "spqr", kLongs, kSpqr, 0,
                "SpQR has codes in the order of its kernel, and outliers next to them"),
    not_decoded("higgs", "HIGGS", "higgs", kI16, kHiggs, 0,
                "HIGGS has codes in the order of its kernel, of weights after a Hadamard transform"),
    not_decoded("torchao", "torchao", "torchao", kTorchaoTypes, kTorchao, 0,
                "torchao has classes of tensors, each with a packing of its own"),
};

}  // namespace

constinit const Family kNotDecoded = {kNotDecodedSchemes, {}};

}  // namespace tare::codec::packs
