// general.file_type: one number for the types of all tensors, which users and llama.cpp know as "Q4_K - Medium".
#include <algorithm>
#include <compare>
#include <map>
#include <optional>

#include "arch/names.hpp"
#include "arch/roles.hpp"
#include "codecs/ggml/type_table.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using arch::Role;

constexpr std::string_view kFileType = "general.file_type", kBlocksVersion = "general.quantization_version";

// The file types of files whose tensors are mostly dense; type_table.hpp has those of blocks.
struct DenseFile {
  DType dtype;
  std::int64_t number;
};
constexpr DenseFile kDenseFiles[] = {{DType::f32, 0}, {DType::f16, 1}, {DType::bf16, 32}};

// A mix keeps its number whatever types its tensors have: most of them may differ, because their rows were not whole
// blocks.
struct MixNumber {
  std::string_view mix;
  std::int64_t number;
};
constexpr MixNumber kMixNumbers[] = {
    {"q4_0", 2},     {"q4_1", 3},    {"q8_0", 7},    {"q5_0", 8},     {"q5_1", 9},    {"q2_k", 10},   {"q3_k_s", 11},
    {"q3_k_m", 12},  {"q3_k", 12},   {"q3_k_l", 13}, {"q4_k_s", 14},  {"q4_k_m", 15}, {"q4_k", 15},   {"q5_k_s", 16},
    {"q5_k_m", 17},  {"q5_k", 17},   {"q6_k", 18},   {"q2_k_s", 21},  {"iq4_nl", 25}, {"iq4_xs", 30}, {"mxfp4_moe", 38},
    {"iq2_xxs", 19}, {"iq2_xs", 20}, {"iq3_xs", 22}, {"iq3_xxs", 23}, {"iq1_s", 24},  {"iq3_s", 26},  {"iq3_m", 27},
    {"iq2_s", 28},   {"iq2_m", 29},  {"iq1_m", 31},  {"tq1_0", 36},   {"tq2_0", 37},
};

// The file type for a file of tensors like this one; -1 if there is none.
std::int64_t number_of(const Tensor& tensor) {
  if (const auto* const blocks = codec::ggml::find_facts(tensor.layout)) return blocks->file_type;
  if (!tensor.is_dense() || tensor.components.size() != 1 || !tensor.components.front().type.empty()) return -1;
  const auto found = std::ranges::find(kDenseFiles, tensor.components.front().dtype, &DenseFile::dtype);
  return found == std::end(kDenseFiles) ? -1 : found->number;
}

// The type of most of the weights.
struct MostOf {
  bool blocks = false;
  std::int64_t number = -1;
  std::string_view layout = {};

  friend auto operator<=>(const MostOf&, const MostOf&) = default;
};

MostOf type_of_most(const Model& model) {
  std::map<MostOf, std::uint64_t> elements;
  for (const Tensor& tensor : model.tensors) {
    const Role role = arch::role_of(tensor.name);
    // These two are the largest matrices of a small model and have a type of their own.
    if (tensor.shape.rank() < 2 || role == Role::token_embedding || role == Role::output_head) continue;
    // In files of towers, these are always f32.
    if (role >= Role::tower_patches && role != Role::other && arch::is_f32(role)) continue;
    const std::int64_t number = number_of(tensor);
    const MostOf type = number < 0 ? MostOf() : MostOf{!tensor.is_dense(), number, tensor.layout};
    elements[type] += tensor.shape.elements().value_or(0);
  }
  const auto most = std::ranges::max_element(elements, {}, [](const auto& entry) { return entry.second; });
  return most == elements.end() ? MostOf() : most->first;
}

// Small, medium or large: decided by the type of the tensors that get more bits first.
std::int64_t number_of_mix(const Model& model, const MostOf& most) {
  const auto has = [&](std::string_view layout, auto... roles) {
    return std::ranges::any_of(model.tensors, [&](const Tensor& tensor) {
      const Role role = arch::role_of(tensor.name);
      return tensor.layout == layout && ((role == roles) || ...);
    });
  };
  const auto has_more = [&] {
    return has("ggml.q6_k", Role::v, Role::qkv, Role::down, Role::expert_down, Role::stacked_down);
  };
  if (most.layout == "ggml.q3_k" && has("ggml.q5_k", Role::o)) return 13;
  if (most.layout == "ggml.q3_k" && has("ggml.q4_k", Role::o)) return 12;
  if (most.layout == "ggml.q4_k" && has_more()) return 15;
  if (most.layout == "ggml.q5_k" && has_more()) return 17;
  return most.number;
}

// Sets the version of ggml's blocks, which a file with blocks must have.
void state_blocks(Model& model) {
  const bool has_blocks =
      std::ranges::any_of(model.tensors, [](const Tensor& tensor) { return tensor.layout.starts_with("ggml."); });
  if (has_blocks && model.metadata.find(kBlocksVersion) == nullptr) model.metadata.set(kBlocksVersion, 2);
}

}  // namespace

bool wants_f32(const Model& model, const Tensor& tensor) {
  const Role role = arch::role_of(tensor.name);
  return model.config.model_type && (tensor.shape.rank() <= 1 || arch::is_f32(role));
}

void retyped(Model& model, bool own, std::string_view mix) {
  if (own) state_blocks(model);
  if (model.metadata.find(kFileType) == nullptr && !(own && model.config.model_type)) return;
  if (const auto asked = std::ranges::find(kMixNumbers, mix, &MixNumber::mix); asked != std::end(kMixNumbers)) {
    model.metadata.set(kFileType, asked->number);
    return;
  }
  const MostOf most = type_of_most(model);
  if (most.number < 0)
    model.metadata.erase(kFileType);
  else
    model.metadata.set(kFileType, number_of_mix(model, most));
}

}  // namespace tare::gguf::llama_cpp
