// Tensors that a directory has and llama.cpp does not load: see Runtime::aside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {

// Attribute of norms whose names end in another way: the early end.
inline constexpr std::string_view kSpelled = "gguf.spelled";
inline constexpr std::pair<std::string_view, std::string_view> kNormEnds[] = {{".gamma", ".weight"},
                                                                              {".beta", ".bias"}};
// Returns the name with the early end `end` in place of the usual one, or as it is if either is not in kNormEnds.
std::string spelled_as(std::string name, const Value& end);

inline constexpr std::size_t kMaxAsideRank = 8;
// The most bytes of one: attached files are in the head of a GGUF file, which programs read as a whole.
inline constexpr std::uint64_t kMaxAsideBytes = std::uint64_t{64} << 20;

// Returns whether the family keeps the tensor of this name aside. A root before the name ("bert.") does not count.
bool is_for_aside(const arch::Family& family, std::string_view name);
// Keeps the tensor in an attached file. Returns false, and does nothing, for one that is too large or not plain.
bool set_aside(Model& model, const Tensor& tensor);
// How many tensors take_aside would return at most.
std::size_t count_aside(const Model& model);
// Removes the tensors from the attached files and returns them. Reports those whose file does not fit the list.
std::vector<Tensor> take_aside(Model& model, std::vector<Change>& changes);

}  // namespace tare::gguf::llama_cpp
