#include "resources/companion_files.hpp"

#include "io/links.hpp"

namespace tare::resources {

std::optional<Blob> file_of(const Model& model, std::string_view name) {
  if (const Attachment* const own = model.attachment(name)) return own->blob;
  if (!model.attachments.empty() || model.sources.empty()) return std::nullopt;
  const SourcePtr source = io::open_beside(*model.sources.front(), name, Access::pread);
  if (source == nullptr) return std::nullopt;
  return Blob::range(source, 0, source->size());
}

}  // namespace tare::resources
