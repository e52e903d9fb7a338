// Tiny Llama weights: a header and the tensors of one small transformer, in a fixed order.
//
//   0   u32 magic 0x544C4C4D (on disk 4D 4C 4C 54)      then, without padding, each tensor:
//   4   u32 version = 1                                   matrix  u64 rows, u64 columns, f32 [rows][columns]
//   8   i32 model dimension D                             vector  u64 size, f32 [size]
//   12  i32 number of layers L
//   16  i32 number of heads H                           embedding.weight [V][D], position_embedding.weight [S][D],
//   20  i32 FFN hidden dimension F                      L times, as layers.N.: attention.{query,key,value,output}.weight
//   24  i32 max sequence length S                       [D][D], ffn.linear1.weight [D][F] .bias [F], ffn.linear2.weight
//   28  i32 vocabulary size V                           [F][D] .bias [D], norm1.weight, norm1.bias, norm2.weight,
//   32  f32 dropout rate                                norm2.bias [D]; finally output.weight [D][V]
//
// Everything is little-endian. Matrices are used as y = x W: rows are inputs. The header fixes every dimension, so
// those before a tensor must agree with it, and the file has exactly one possible size. Integers must be positive, H
// must divide D, and the dropout rate must be in [0, 1).
//
// As a Model: dense f32 tensors with the names above, views of a mapped file (at offsets that are multiples of 4, not
// of more). The header becomes the config. Heads, positions and dropout do not follow from the tensors, and other
// containers may have no field for them, so they are also metadata: `tllm.num_heads`, `tllm.max_sequence_length` and
// `tllm.dropout`. The writer uses the same names; the number of heads must be in the config or the metadata, the
// dropout rate is 0.1 by default. A model with other tensors, or with anything else that the file cannot hold, is
// refused.
#include "formats/tllm/tllm.hpp"

#include <fmt/format.h>

#include <cmath>

#include "arch/names.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "formats/rows.hpp"

namespace tare::tllm {

std::vector<HeaderProblem> check_header(const Header& header) {
  std::vector<HeaderProblem> problems;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const std::int32_t value = header.*kFields[i].member;
    if (value <= 0)
      problems.push_back(
          {"tllm.config.range", kFields[i].name, fmt::format("{}; it must be positive", value), 8 + 4 * i});
  }
  if (!(header.dropout >= 0 && header.dropout < 1))
    problems.push_back(
        {"tllm.config.dropout", "dropout rate", fmt::format("{}; it must be in [0, 1)", header.dropout), 32});
  if (problems.empty() && header.dim % header.heads != 0)
    problems.push_back({"tllm.config.heads", "number of heads",
                        fmt::format("{} heads do not divide a model dimension of {}", header.heads, header.dim), 16});
  return problems;
}

namespace {

using arch::Role;
using arch::Suffix;

struct LayerPart {
  Role role;
  Suffix suffix;
  std::int32_t Header::*rows;
  std::int32_t Header::*columns;  // null: a vector
};

// In file order; src/arch has their names.
constexpr LayerPart kLayerParts[] = {{Role::q, Suffix::weight, &Header::dim, &Header::dim},
                                     {Role::k, Suffix::weight, &Header::dim, &Header::dim},
                                     {Role::v, Suffix::weight, &Header::dim, &Header::dim},
                                     {Role::o, Suffix::weight, &Header::dim, &Header::dim},
                                     {Role::up, Suffix::weight, &Header::dim, &Header::ffn},
                                     {Role::up, Suffix::bias, &Header::ffn, nullptr},
                                     {Role::down, Suffix::weight, &Header::ffn, &Header::dim},
                                     {Role::down, Suffix::bias, &Header::dim, nullptr},
                                     {Role::attention_norm, Suffix::weight, &Header::dim, nullptr},
                                     {Role::attention_norm, Suffix::bias, &Header::dim, nullptr},
                                     {Role::ffn_norm, Suffix::weight, &Header::dim, nullptr},
                                     {Role::ffn_norm, Suffix::bias, &Header::dim, nullptr}};

static_assert(std::size(kLayerParts) == kLayerTensors);

Place place(const Header& header, const arch::TensorName& name, std::int32_t Header::*rows,
            std::int32_t Header::*columns) {
  Place result;
  result.name = arch::spell(arch::tiny_llama_family(), arch::Dialect::tiny_llama, name).value();
  result.rank = columns == nullptr ? 1 : 2;
  result.dims = {static_cast<std::uint64_t>(header.*rows),
                 columns == nullptr ? 0 : static_cast<std::uint64_t>(header.*columns)};
  return result;
}

}  // namespace

void for_each_place(const Header& header, const std::function<bool(const Place&)>& visit) {
  if (!visit(place(header, {.role = Role::token_embedding}, &Header::vocab, &Header::dim))) return;
  if (!visit(place(header, {.role = Role::position_embedding}, &Header::positions, &Header::dim))) return;
  for (std::int32_t layer = 0; layer < header.layers; ++layer)
    for (const LayerPart& part : kLayerParts)
      if (!visit(place(header, {.role = part.role, .layer = static_cast<std::uint32_t>(layer), .suffix = part.suffix},
                       part.rows, part.columns)))
        return;
  visit(place(header, {.role = Role::output_head}, &Header::dim, &Header::vocab));
}

std::size_t tensor_count(const Header& header) {
  return 3 + static_cast<std::size_t>(header.layers) * std::size(kLayerParts);
}

std::optional<std::uint64_t> file_bytes(const Header& header) {
  Header one = header;
  one.layers = 1;
  std::optional<std::uint64_t> layer = 0, rest = kHeaderBytes;
  for_each_place(one, [&](const Place& tensor) {
    auto& sum = tensor.name.starts_with("layers.") ? layer : rest;
    if (sum) sum = checked_add(*sum, tensor.dims_bytes() + tensor.data_bytes());
    return true;
  });
  const auto all = layer ? checked_mul(*layer, static_cast<std::uint64_t>(header.layers)) : std::nullopt;
  return all && rest ? checked_add(*all, *rest) : std::nullopt;
}

namespace {

bool recognize(const Source& source) {
  std::array<std::byte, 4> head{};
  if (source.size() < head.size()) return false;
  source.read(0, head);
  const auto magic = load_le<std::uint32_t>(head.data());
  // A file in the other byte order is recognized too, so that the reader can report it.
  return magic == kMagic || magic == kSwappedMagic;
}

constexpr DType kTypes[] = {DType::f32};
constexpr std::string_view kLayouts[] = {"dense"};
// The document uses .bin, but so do many other formats: only --to tllm chooses this one.
constexpr std::string_view kSuffixes[] = {".tllm"};
constexpr std::string_view kMetadataKeys[] = {kHeadsKey, kPositionsKey, kDropoutKey};
constexpr OwnKey kOwnKeys[] = {{.key = kHeadsKey, .repeats = "num_attention_heads"},
                               {.key = kPositionsKey, .repeats = "max_position_embeddings"},
                               {.key = kDropoutKey, .assumed = "0.1"}};

}  // namespace

constinit const Format kFormat = {
    .name = "tllm",
    .title = "Tiny Llama weights",
    .versions = "reads and writes 1; also .bin if the format is named",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kTypes,
              .logical_types = {},
              .layouts = kLayouts,
              .metadata = Room::tree,
              .config = true,
              .metadata_keys = kMetadataKeys,
              .own_fields = kOwnFields,
              .other_fields = false,
              .forward_only = true,
              .architecture = kArchitecture},
    .recognize = recognize,
    .read = read,
    .write = write,
    .remarks = remarks,
    .own_keys = kOwnKeys,
};

}  // namespace tare::tllm
