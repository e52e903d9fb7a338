#include "model/dtype_option.hpp"

#include <algorithm>
#include <string>

#include "base/nearest.hpp"

namespace tare {
namespace {

struct Spelling {
  std::string_view name;
  DType type;
};
constexpr Spelling kSpellings[] = {{"fp64", DType::f64},      {"float64", DType::f64}, {"double", DType::f64},
                                   {"fp32", DType::f32},      {"float32", DType::f32}, {"float", DType::f32},
                                   {"fp16", DType::f16},      {"float16", DType::f16}, {"half", DType::f16},
                                   {"bfloat16", DType::bf16}, {"int64", DType::i64},   {"long", DType::i64},
                                   {"int32", DType::i32},     {"int", DType::i32},     {"int16", DType::i16},
                                   {"int8", DType::i8},       {"uint64", DType::u64},  {"uint32", DType::u32},
                                   {"uint16", DType::u16},    {"uint8", DType::u8},    {"boolean", DType::boolean}};

}  // namespace

std::optional<DType> parse_dtype_option(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const std::string_view bare = std::string_view(lower).substr(lower.rfind('.') + 1);  // without the module in front
  if (const auto type = parse_dtype(bare)) return type;
  const auto* const found = std::ranges::find(kSpellings, bare, &Spelling::name);
  return found == std::end(kSpellings) ? std::nullopt : std::optional(found->type);
}

std::vector<std::string> dtype_spellings() {
  std::vector<std::string> names;
  for (const Spelling& spelling : kSpellings) names.emplace_back(spelling.name);
  return names;
}

std::string no_such_type(std::string_view name) {
  std::vector<std::string> names = dtype_spellings();
  for (const DType type : kAllDTypes) names.emplace_back(name_of(type));
  return there_is_no("type", name, names, {}, 1);
}

}  // namespace tare
