#include "convert/no_match.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/glob.hpp"
#include "base/printable.hpp"

namespace tare {

std::string no_match(std::string_view glob, const Model& model, std::string_view what) {
  std::string text = fmt::format("{} matches {}", what, quote(glob));
  if (model.tensors.empty()) return text;
  text += fmt::format("; names here are like {}", quote(model.tensors[model.tensors.size() / 2].name));
  const std::string part = fmt::format("*{}*", glob);
  const bool helps = glob.find_first_of("*?[") == glob.npos &&
                     std::ranges::any_of(model.tensors, [&](const Tensor& t) { return glob_match(part, t.name); });
  return text + (helps ? fmt::format(", and a pattern must match the whole name: '{}' matches a part", quote(part))
                       : ", and a pattern must match the whole name");
}

}  // namespace tare
