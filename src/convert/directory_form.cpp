#include "convert/directory_form.hpp"

#include <algorithm>

#include "base/name_map.hpp"
#include "resources/resources.hpp"

namespace tare {

std::size_t common_names(const Model& a, const Model& b) {
  NameViewSet names;
  for (const Tensor& tensor : b.tensors) names.insert(tensor.name);
  std::size_t count = 0;
  for (const Tensor& tensor : a.tensors) count += names.erase(tensor.name);
  return count;
}

bool names_differ(const Model& a, const Model& b) {
  return 2 * common_names(a, b) < std::min(a.tensors.size(), b.tensors.size());
}

bool is_directory(const Format& format) { return format.write == nullptr && format.write_tree != nullptr; }

bool has_directory_form(const Format& format) { return format.holds.wants_files || is_directory(format); }

std::vector<Renamed> release_conventions(Model& model, std::vector<Change>& lines) {
  std::vector<Renamed> renamed;
  for (const Format& format : formats())
    if (format.release != nullptr) format.release(model, lines, renamed);
  return renamed;
}

std::vector<Renamed> use_usual_names(Model& model, const Model& other) {
  const Format* const format = find_format(model.format);
  if (format != nullptr && is_directory(*format)) return {};
  NameViewSet names;
  for (const Tensor& tensor : other.tensors) names.insert(tensor.name);
  Model copy = model;
  const auto common = std::stable_partition(copy.tensors.begin(), copy.tensors.end(),
                                            [&](const Tensor& tensor) { return !names.contains(tensor.name); });
  const std::vector<Tensor> as_they_are(common, copy.tensors.end());
  copy.tensors.erase(common, copy.tensors.end());
  std::vector<Change> lines;
  try {
    std::vector<Renamed> renamed = release_conventions(copy, lines);
    model.tensors = std::move(copy.tensors);
    model.tensors.insert(model.tensors.end(), as_they_are.begin(), as_they_are.end());
    return renamed;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::lossy) throw;
    return {};
  }
}

bool pair_names(Model& a, Model& b) {
  if (!names_differ(a, b)) return false;
  Model x = a, y = b;
  use_usual_names(x, b);
  use_usual_names(y, a);
  if (common_names(x, y) <= common_names(a, b)) return false;
  a.tensors = std::move(x.tensors);
  b.tensors = std::move(y.tensors);
  return true;
}

std::vector<Attachment> directory_files(Model model, std::vector<Change>& lines) {
  const auto target = std::ranges::find_if(formats(), is_directory);
  Adapted made = adapt_as(std::move(model), *target, {}, {}, Completeness::open);
  lines.insert(lines.end(), made.changes.begin(), made.changes.end());
  resources::complete(made.model);  // as the directory's writer does
  return std::move(made.model.attachments);
}

}  // namespace tare
