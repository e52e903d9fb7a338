#include "convert/directory_form.hpp"

#include <algorithm>

#include "resources/resources.hpp"

namespace tare {

bool is_directory(const Format& format) { return format.write == nullptr && format.write_tree != nullptr; }

std::vector<Renamed> release_conventions(Model& model, std::vector<Change>& lines) {
  std::vector<Renamed> renamed;
  for (const Format& format : formats())
    if (format.release != nullptr) format.release(model, lines, renamed);
  return renamed;
}

std::vector<Attachment> directory_files(Model model, std::vector<Change>& lines) {
  const auto target = std::ranges::find_if(formats(), is_directory);
  Adapted made = adapt_as(std::move(model), *target, {}, Completeness::open);
  lines.insert(lines.end(), made.changes.begin(), made.changes.end());
  resources::complete(made.model);  // as the directory's writer does
  return std::move(made.model.attachments);
}

}  // namespace tare
