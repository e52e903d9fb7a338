#include "convert/directory_form.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "resources/resources.hpp"

namespace tare {
namespace {

// Returns nothing if the model's names are unknown.
std::optional<std::vector<Tensor>> under_usual_names(const Model& model) {
  const Format* const format = find_format(model.format);
  if (format != nullptr && is_directory(*format)) return model.tensors;
  Model copy = model;
  std::vector<Change> lines;
  try {
    release_conventions(copy, lines);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::lossy) throw;
    return std::nullopt;
  }
  return std::move(copy.tensors);
}

}  // namespace

bool share_a_name(const Model& a, const Model& b) {
  std::set<std::string_view> names;
  for (const Tensor& tensor : a.tensors) names.insert(tensor.name);
  return std::ranges::any_of(b.tensors, [&](const Tensor& tensor) { return names.contains(tensor.name); });
}

bool is_directory(const Format& format) { return format.write == nullptr && format.write_tree != nullptr; }

std::vector<Renamed> release_conventions(Model& model, std::vector<Change>& lines) {
  std::vector<Renamed> renamed;
  for (const Format& format : formats())
    if (format.release != nullptr) format.release(model, lines, renamed);
  return renamed;
}

bool pair_names(Model& a, Model& b) {
  if (a.tensors.empty() || b.tensors.empty() || share_a_name(a, b)) return false;
  auto first = under_usual_names(a), second = under_usual_names(b);
  if (!first || !second) return false;
  a.tensors.swap(*first), b.tensors.swap(*second);
  if (share_a_name(a, b)) return true;
  a.tensors.swap(*first), b.tensors.swap(*second);
  return false;
}

std::vector<Attachment> directory_files(Model model, std::vector<Change>& lines) {
  const auto target = std::ranges::find_if(formats(), is_directory);
  Adapted made = adapt_as(std::move(model), *target, {}, {}, Completeness::open);
  lines.insert(lines.end(), made.changes.begin(), made.changes.end());
  resources::complete(made.model);  // as the directory's writer does
  return std::move(made.model.attachments);
}

}  // namespace tare
