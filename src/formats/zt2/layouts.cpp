// The profiles of zTensor 2 and the corresponding layouts of Tare.
//
//   dense                one part `data`; with the type f4_e2m1 it is packed.f4_e2m1
//   zt.sparse_csr/1      sparse_csr; with 32-bit indices or values of f4_e2m1 a layout of its own
//   zt.sparse_coo/1      sparse_coo, or a layout of its own in the same cases
//   zt.quant_group/1     quantized_group if that can express it; else a layout of its own
//   zt.mx/1              its own layout
//   gguf.q4_0/1, ...     ggml.q4_0, ...
//   tare.NAME/1          NAME: layouts of Tare without a profile (tare.mcf.k4/1)
//
// An unknown profile keeps its id as the name of its layout. A profile without a namespace gets the prefix "zt2:", as
// does an object that breaks a rule of its profile which upstream's reader does not check: it is carried, never
// decoded.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "codecs/coordinates.hpp"
#include "codecs/ggml/type_table.hpp"
#include "codecs/zt2/rules.hpp"
#include "formats/zt2/zt2.hpp"

namespace tare::zt2 {
namespace {

// The types of ggml's blocks that have a profile.
constexpr std::string_view kBlockProfiles[] = {
    "q4_0", "q4_1",  "q5_0",  "q5_1",    "q8_0",   "q8_1",  "q2_k",    "q3_k",  "q4_k",   "q5_k",   "q6_k",
    "q8_k", "iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s", "iq4_nl", "iq4_xs", "mxfp4"};
static_assert(std::ranges::all_of(kBlockProfiles, [](std::string_view type) {
  return std::ranges::find(codec::ggml::kTypes, type, &codec::ggml::TypeFacts::name) != std::end(codec::ggml::kTypes);
}));

using codec::zt2::check_coo;
using codec::zt2::check_csr;
using codec::zt2::check_group;
using codec::zt2::check_mx;
using codec::zt2::ElementSize;
using codec::zt2::expect_size;
using codec::zt2::GroupPlan;
using codec::zt2::has_parts;
using codec::zt2::kCooId;
using codec::zt2::kCsrId;
using codec::zt2::kF4;
using codec::zt2::kGroupId;
using codec::zt2::kMxId;
using codec::zt2::kOddF4;
using codec::zt2::number;
using codec::zt2::parts_problem;
using codec::zt2::submap;

constexpr std::string_view kBlocksPrefix = "gguf.", kOurs = "tare.", kFirst = "/1", kPackedF4 = "packed.f4_e2m1";
constexpr std::string_view kElements = "elems_per_block", kBlockBytes = "block_bytes";

// Returns null if the type has no profile.
const codec::ggml::TypeFacts* find_blocks(std::string_view type) {
  if (std::ranges::find(kBlockProfiles, type) == std::end(kBlockProfiles)) return nullptr;
  return std::ranges::find(codec::ggml::kTypes, type, &codec::ggml::TypeFacts::name);
}

// Returns the middle of "PREFIXxSUFFIX"; empty if the text has another form.
std::string_view inside(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (text.size() <= prefix.size() + suffix.size() || !text.starts_with(prefix) || !text.ends_with(suffix)) return {};
  return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
}

std::optional<Problem> check_dense(const Tensor& tensor) {
  static constexpr std::string_view kParts[] = {"data"};
  if (!has_parts(tensor, kParts)) return parts_problem("dense", "\"data\"");
  const Component& data = tensor.components[0];
  const ElementSize size = size_of_elements(data.dtype, data.type, *tensor.shape.elements());
  if (!size.known || size.bytes == data.blob.size()) return std::nullopt;
  return Problem{
      "dense.size",
      fmt::format("the shape {} of {} takes {} bytes, the part has {}", tensor.shape.text(), quote(data.type_name()),
                  size.bytes ? fmt::to_string(*size.bytes) : "more than 2^64", data.blob.size())};
}

std::optional<Problem> check_blocks_profile(const Tensor& tensor, std::string_view id) {
  static constexpr std::string_view kParts[] = {"data"};
  if (!has_parts(tensor, kParts)) return parts_problem(id, "\"data\"");
  const Component& data = tensor.components[0];
  if (data.dtype != DType::u8 || !data.type.empty())
    return Problem{"layout.type", "the part \"data\" must be plain u8"};
  const auto weights = number(tensor.attributes, kElements), bytes = number(tensor.attributes, kBlockBytes);
  if (weights.value_or(0) == 0 || bytes.value_or(0) == 0)
    return Problem{"layout.attributes", fmt::format("{} needs the attributes {} and {}", id, kElements, kBlockBytes)};
  const std::uint64_t elements = *tensor.shape.elements();
  if (elements % *weights != 0)
    return Problem{"layout.attributes", fmt::format("{} elements are not whole blocks of {}", elements, *weights)};
  return expect_size(data, checked_mul(elements / *weights, *bytes));
}

std::string_view factors_of(DType scales) {
  return scales == DType::f16 || scales == DType::bf16 ? "f16_factors" : "f32_factors";
}

// Returns whether the layout quantized_group can express the tensor.
bool is_our_group(const Tensor& tensor, const GroupPlan& plan) {
  const Component& data = *tensor.component("data");
  const Component& scales = *tensor.component("scales");
  const Component* const zeros = tensor.component("zeros");
  return tensor.shape.rank() == 2 && plan.axis == 1 && plan.size > 0 && plan.size <= INT64_MAX && plan.word == "u32" &&
         plan.order == "lsb_first" && (plan.bits == 2 || plan.bits == 4 || plan.bits == 8) &&
         (data.dtype == DType::i32 || data.dtype == DType::u32) && tensor.shape[1] % plan.per_word == 0 &&
         plan.scale_form == factors_of(scales.dtype) && is_float(scales.dtype) && zeros != nullptr &&
         plan.zero_packing == "plain" && is_float(zeros->dtype) && zeros->type.empty() &&
         submap(tensor.attributes, "packing")->size() == 3 && submap(tensor.attributes, "zero_point")->size() == 2;
}

void rename_part(Tensor& tensor, std::string_view from, std::string_view to) {
  for (Component& component : tensor.components)
    if (component.role == from) component.role = to;
}

void adopt_group(Tensor& tensor, const GroupPlan& plan) {
  rename_part(tensor, "data", "packed_weight");
  const std::string packing = fmt::format("{}_per_i32", plan.per_word);
  for (const std::string_view key : {"axis", "scale_form", "zero_point"}) tensor.attributes.erase(key);
  tensor.attributes.set("packing", packing);
  tensor.layout = "quantized_group";
}

// Gives the tensor a ggml layout if its blocks are those that ggml defines.
void adopt_blocks(Tensor& tensor, std::string_view id) {
  tensor.layout = id;
  const auto* const blocks = find_blocks(inside(id, kBlocksPrefix, kFirst));
  if (blocks == nullptr || number(tensor.attributes, kElements) != blocks->weights ||
      number(tensor.attributes, kBlockBytes) != blocks->bytes)
    return;
  if (tensor.shape.rank() == 0 || tensor.shape[tensor.shape.rank() - 1] % blocks->weights != 0) return;
  tensor.layout = blocks->layout;
  rename_part(tensor, "data", "payload");
  tensor.attributes.erase(kElements);
  tensor.attributes.erase(kBlockBytes);
}

std::string foreign(std::string_view id) { return fmt::format("{}{}", kForeign, id); }

// Returns whether the id has a namespace and a version: "x.custom/1".
bool is_profile_id(std::string_view id) {
  const std::size_t slash = id.rfind('/'), dot = id.find('.');
  if (slash == std::string_view::npos || dot == 0 || dot == std::string_view::npos || dot > slash) return false;
  const std::string_view version = id.substr(slash + 1);
  return !version.empty() && version.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns the layout for the id of a profile, without looking at parts and attributes.
std::string plain_layout(std::string_view id) {
  if (const std::string_view ours = inside(id, kOurs, kFirst); !ours.empty()) return std::string(ours);
  return is_profile_id(id) && !id.starts_with(kForeign) ? std::string(id) : foreign(id);
}

// The inverse of `plain_layout`.
std::string plain_id(std::string_view layout) {
  if (layout.starts_with(kForeign)) return std::string(layout.substr(kForeign.size()));
  if (is_profile_id(layout) && inside(layout, kOurs, kFirst).empty()) return std::string(layout);
  return fmt::format("{}{}{}", kOurs, layout, kFirst);
}

// Returns whether the parts of a sparse profile fit our sparse layouts: 64-bit indices, values of whole bytes.
bool has_whole_values(const Tensor& tensor, std::string_view indices) {
  return tensor.component(indices)->dtype == DType::u64 && tensor.component("values")->type != kF4;
}

std::optional<Problem> adopt_known(Tensor& tensor, std::string_view id) {
  if (id == "dense") {
    tensor.layout = id;
    if (tensor.components[0].type == kF4 && *tensor.shape.elements() % 2 != 0) {
      tensor.layout = kOddF4;
    } else if (tensor.components[0].type == kF4) {
      tensor.layout = kPackedF4;
      tensor.components[0].role = "payload";
      tensor.components[0].type.clear();
    }
    return std::nullopt;
  }
  if (id == kCsrId) {
    tensor.layout = has_whole_values(tensor, "indices") ? "sparse_csr" : std::string(id);
    return std::nullopt;
  }
  std::optional<Problem> problem;
  GroupPlan plan;
  if (id == kCooId) {
    problem = check_coo(tensor);
    if (!problem) tensor.layout = has_whole_values(tensor, "coords") ? "sparse_coo" : std::string(id);
  } else if (id == kMxId) {
    problem = check_mx(tensor, plan);
    if (!problem) tensor.layout = id;
  } else if (id == kGroupId) {
    problem = check_group(tensor, plan);
    if (!problem) tensor.layout = id;
    if (!problem && is_our_group(tensor, plan)) adopt_group(tensor, plan);
  } else if (!inside(id, kBlocksPrefix, kFirst).empty()) {
    problem = check_blocks_profile(tensor, id);
    if (!problem) adopt_blocks(tensor, id);
  } else {
    tensor.layout = plain_layout(id);
  }
  return problem;
}

}  // namespace

std::optional<std::uint64_t> product_in_order(const Shape& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t dimension : shape)
    if (__builtin_mul_overflow(product, dimension, &product)) return std::nullopt;
  return product;
}

std::optional<Problem> check_profile(const Tensor& tensor, std::string_view id) {
  if (id == "dense") return check_dense(tensor);
  if (id == kCsrId) return check_csr(tensor);
  return std::nullopt;
}

std::optional<Problem> adopt_layout(Tensor& tensor, std::string_view id) {
  if (id == "dense" && tensor.components[0].type.empty()) {  // nearly always
    tensor.layout = id;
    return std::nullopt;
  }
  Tensor adopted = tensor;
  const auto problem = adopt_known(adopted, id);
  const Codec* const codec = problem ? nullptr : find_codec(adopted.layout);
  // The container's rules allow tensors that our codec refuses, with sizes that cannot be checked: those are carried.
  if (problem || (codec != nullptr && codec->check(adopted)))
    tensor.layout = foreign(id);
  else
    tensor = std::move(adopted);
  return problem;
}

namespace {

Error unwritable(const Tensor& tensor, std::string_view rule, std::string_view sentence) {
  return Error(ErrorKind::unsupported, rule, sentence).about("tensor " + quote(tensor.name));
}

Part part_of(const Tensor& tensor, const Component& component) {
  Part part{component.role, component.dtype, component.type, &component.blob};
  if (part.dtype == DType::boolean) {
    if (!part.type.empty())
      throw unwritable(tensor, "zt2.write.type", fmt::format("zt2 has no type for {} over bool", quote(part.type)));
    part.dtype = DType::u8;
    part.type = "bool";
  }
  if (const auto storage = storage_of(part.type); storage && *storage != part.dtype)
    throw unwritable(
        tensor, "zt2.write.type",
        fmt::format("{} is stored as {} in zt2, not as {}", part.type, name_of(*storage), name_of(part.dtype)));
  return part;
}

Value map_value(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  Map map;
  for (const auto& [key, value] : entries) map.set(key, value);
  return map;
}

void state_group(const Tensor& tensor, Object& object) {
  const std::uint64_t bits = *number(tensor.attributes, "bits"), per_word = 32 / bits;
  object.layout = kGroupId;
  object.implied = {"bits", "group_size", "packing"};
  object.parameters = {{"bits", bits},
                       {"group_size", *number(tensor.attributes, "group_size")},
                       {"axis", 1},
                       {"packing", map_value({{"word", "u32"}, {"order", "lsb_first"}, {"per_word", per_word}})},
                       {"scale_form", factors_of(tensor.component("scales")->dtype)},
                       {"zero_point", map_value({{"form", "tensor"}, {"packing", "plain"}})}};
}

Map with_parameters(const Object& object, const Map& attributes) {
  Map all;
  for (const auto& [key, value] : attributes)
    if (std::ranges::find(object.implied, key) == object.implied.end()) all.append(key, value);
  for (const auto& [key, value] : object.parameters) all.set(key, value);
  return all;
}

// Returns the tensor as a reader of the file gets it.
Tensor as_read(const Object& object) {
  Tensor tensor;
  tensor.name = object.tensor->name;
  tensor.shape = object.tensor->shape;
  tensor.attributes = with_parameters(object, object.tensor->attributes);
  for (const Part& part : object.parts) {
    Component& component = tensor.components.emplace_back();
    component.role = part.name;
    component.dtype = part.type == "bool" ? DType::boolean : part.dtype;
    component.type = part.type == "bool" ? "" : part.type;
    component.blob = *part.blob;
  }
  return tensor;
}

// Returns whether the tensor, stored as an object of this profile, is read back unchanged. The parts are the object's.
bool comes_back(const Object& object) {
  Tensor tensor = as_read(object);
  return !check_profile(tensor, object.layout) && !adopt_layout(tensor, object.layout) &&
         tensor.layout == object.tensor->layout;
}

}  // namespace

namespace {

// Our layout adds repeated coordinates up, and the profile forbids them: such a tensor keeps its own layout.
bool repeats_places(const Tensor& tensor) {
  return !find_codec(tensor.layout)->check(tensor) && codec::find_repeated_place(tensor);
}

}  // namespace

Object object_of(const Tensor& tensor) {
  Object object;
  object.tensor = &tensor;
  if (tensor.components.empty())
    throw unwritable(tensor, "zt2.write.parts", "a tensor without components; zt2 has none such");
  if (!product_in_order(tensor.shape))
    throw unwritable(tensor, "zt2.write.shape", "the product of its dimensions does not fit 64 bits");
  for (const Component& component : tensor.components) object.parts.push_back(part_of(tensor, component));
  const auto rename = [&](std::string_view from, std::string_view to, std::string_view type) {
    for (Part& part : object.parts)
      if (part.name == from) {
        part.name = to;
        if (!type.empty()) part.type = type;
      }
  };
  bool mapped = true;
  const std::string_view layout = tensor.layout;
  const std::string_view blocks = layout.starts_with("ggml.") ? layout.substr(5) : std::string_view();
  if (layout == "dense" || layout == kOddF4) {
    object.layout = "dense";
  } else if (layout == kPackedF4) {
    object.layout = "dense";
    rename("payload", "data", kF4);
  } else if (layout == "sparse_csr") {
    object.layout = kCsrId;
  } else if (layout == "sparse_coo" && !repeats_places(tensor)) {
    object.layout = kCooId;
  } else if (layout == "quantized_group" && number(tensor.attributes, "bits").value_or(0) != 0 &&
             number(tensor.attributes, "group_size") && tensor.component("scales") != nullptr) {
    rename("packed_weight", "data", {});
    state_group(tensor, object);
  } else if (const auto* const known = find_blocks(blocks)) {
    object.layout = fmt::format("{}{}{}", kBlocksPrefix, blocks, kFirst);
    object.parameters = {{std::string(kElements), std::uint64_t{known->weights}},
                         {std::string(kBlockBytes), std::uint64_t{known->bytes}}};
    object.implied = {kElements, kBlockBytes};
    rename("payload", "data", {});
  } else {
    mapped = false;
    object.layout = plain_id(layout);
    // If the tensor does not fit the container's own id, the id is treated like any other name.
    if (layout.starts_with(kForeign) && check_profile(as_read(object), object.layout))
      object.layout = fmt::format("{}{}{}", kOurs, layout, kFirst);
  }
  if (mapped && !(layout == "dense" && object.parts.size() == 1 && object.parts[0].type.empty()) &&
      !comes_back(object)) {
    // Stored under its own name, unchanged.
    object.parameters.clear();
    object.implied.clear();
    object.layout = plain_id(layout);
    for (std::size_t i = 0; i < object.parts.size(); ++i) object.parts[i] = part_of(tensor, tensor.components[i]);
  }
  std::ranges::sort(object.parts, {}, &Part::name);
  return object;
}

Map attributes_of(const Object& object) { return with_parameters(object, object.tensor->complete_attributes()); }

}  // namespace tare::zt2
