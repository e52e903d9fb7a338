// general.file_type: one number for the types of all tensors, which users and llama.cpp know as "Q4_K - Medium".
#include <algorithm>
#include <map>
#include <optional>

#include "arch/names.hpp"
#include "arch/roles.hpp"
#include "formats/gguf/conventions.hpp"

namespace tare::gguf {
namespace {

using arch::Role;

constexpr std::string_view kFileType = "general.file_type", kBlocksVersion = "general.quantization_version";

// The file type for a file whose tensors are mostly of this layout and type.
struct FileType {
  std::string_view layout;
  DType dtype;  // for dense layouts
  std::int64_t number;
};
constexpr FileType kFileTypes[] = {
    {"dense", DType::f32, 0},        {"dense", DType::f16, 1},        {"dense", DType::bf16, 32},
    {"ggml.q4_0", DType::u8, 2},     {"ggml.q4_1", DType::u8, 3},     {"ggml.q8_0", DType::u8, 7},
    {"ggml.q5_0", DType::u8, 8},     {"ggml.q5_1", DType::u8, 9},     {"ggml.q2_k", DType::u8, 10},
    {"ggml.q3_k", DType::u8, 11},    {"ggml.q4_k", DType::u8, 14},    {"ggml.q5_k", DType::u8, 16},
    {"ggml.q6_k", DType::u8, 18},    {"ggml.iq2_xxs", DType::u8, 19}, {"ggml.iq2_xs", DType::u8, 20},
    {"ggml.iq3_xxs", DType::u8, 23}, {"ggml.iq1_s", DType::u8, 24},   {"ggml.iq4_nl", DType::u8, 25},
    {"ggml.iq3_s", DType::u8, 26},   {"ggml.iq2_s", DType::u8, 28},   {"ggml.iq4_xs", DType::u8, 30},
    {"ggml.iq1_m", DType::u8, 31},   {"ggml.tq1_0", DType::u8, 36},   {"ggml.tq2_0", DType::u8, 37},
    {"ggml.mxfp4", DType::u8, 38},   {"ggml.nvfp4", DType::u8, 39},   {"ggml.q1_0", DType::u8, 40},
    {"ggml.q2_0", DType::u8, 41},
};

// A mix keeps its number whatever types its tensors have: most of them may differ, because their rows were not whole
// blocks.
struct MixNumber {
  std::string_view mix;
  std::int64_t number;
};
constexpr MixNumber kMixNumbers[] = {
    {"q4_0", 2},    {"q4_1", 3},  {"q8_0", 7},    {"q5_0", 8},    {"q5_1", 9},    {"q2_k", 10},   {"q3_k_s", 11},
    {"q3_k_m", 12}, {"q3_k", 12}, {"q3_k_l", 13}, {"q4_k_s", 14}, {"q4_k_m", 15}, {"q4_k", 15},   {"q5_k_s", 16},
    {"q5_k_m", 17}, {"q5_k", 17}, {"q6_k", 18},   {"q2_k_s", 21}, {"iq4_nl", 25}, {"iq4_xs", 30}, {"mxfp4_moe", 38},
};

const FileType* type_of_most(const Model& model) {
  std::map<const FileType*, std::uint64_t> elements;
  for (const Tensor& tensor : model.tensors) {
    const Role role = arch::role_of(tensor.name);
    // These two are the largest matrices of a small model and have a type of their own.
    if (tensor.shape.rank() < 2 || role == Role::token_embedding || role == Role::output_head) continue;
    const auto found = std::ranges::find_if(kFileTypes, [&](const FileType& type) {
      return type.layout == tensor.layout &&
             (!tensor.is_dense() || (tensor.components.size() == 1 && tensor.components.front().type.empty() &&
                                     tensor.components.front().dtype == type.dtype));
    });
    elements[found == std::end(kFileTypes) ? nullptr : found] += tensor.shape.elements().value_or(0);
  }
  const auto most = std::ranges::max_element(elements, {}, [](const auto& entry) { return entry.second; });
  return most == elements.end() ? nullptr : most->first;
}

// Small, medium or large: decided by the type of the tensors that get more bits first.
std::int64_t number_of_mix(const Model& model, const FileType& most) {
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
  return model.config.model_type &&
         (tensor.shape.rank() <= 1 || arch::is_norm(role) || role == Role::router || role == Role::shared_router);
}

void retyped(Model& model, bool own, std::string_view mix) {
  if (own) state_blocks(model);
  if (model.metadata.find(kFileType) == nullptr && !(own && model.config.model_type)) return;
  if (const auto asked = std::ranges::find(kMixNumbers, mix, &MixNumber::mix); asked != std::end(kMixNumbers)) {
    model.metadata.set(kFileType, asked->number);
    return;
  }
  const FileType* const most = type_of_most(model);
  if (most == nullptr)
    model.metadata.erase(kFileType);
  else
    model.metadata.set(kFileType, number_of_mix(model, *most));
}

}  // namespace tare::gguf
