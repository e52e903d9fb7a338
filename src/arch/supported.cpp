#include "arch/supported.hpp"

#include <algorithm>

#include "arch/compute_facts.hpp"

namespace tare::arch {
namespace {

void add_new(std::vector<std::string_view>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Supported row_of(const Family& family) {
  Supported row{.title = family.title,
                .gguf = family.gguf,
                .model_types = {},
                .classes = {family.architectures.begin(), family.architectures.end()},
                .computed = {},
                .checked = family.checked == Checked::by_converter ? "llama.cpp" : "tests"};
  // If all files of the family are of one type, its own is llama.cpp's name.
  if (std::ranges::find(family.variants, When::always, &Variant::when) == family.variants.end())
    row.model_types.assign(family.model_types.begin(), family.model_types.end());
  for (const Variant& variant : family.variants) {
    add_new(row.model_types, variant.model_type);
    add_new(row.classes, variant.architecture);
  }
  for (const std::string_view type : row.model_types)
    if (find_compute_facts(type) != nullptr) row.computed.push_back(type);
  return row;
}

}  // namespace

bool Supported::is_called(std::string_view name) const {
  return name == gguf || std::ranges::find(model_types, name) != model_types.end() ||
         std::ranges::find(classes, name) != classes.end();
}

std::string_view type_of_family(std::string_view name) {
  const Family* const family = find_family_by_any_name(name);
  return family == nullptr || family->gguf.empty() ? std::string_view() : family->model_types.front();
}

std::vector<Supported> supported_families() {
  std::vector<Supported> rows;
  for (const Family& family : families())
    if (!family.gguf.empty()) rows.push_back(row_of(family));
  std::ranges::sort(rows, {}, &Supported::gguf);
  return rows;
}

}  // namespace tare::arch
