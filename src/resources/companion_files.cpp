#include "resources/companion_files.hpp"

#include <filesystem>
#include <string>

#include "io/descriptor.hpp"

namespace tare::resources {

std::optional<Blob> file_of(const Model& model, std::string_view name) {
  if (const Attachment* const own = model.attachment(name)) return own->blob;
  if (!model.attachments.empty() || model.sources.empty() || model.sources.front()->descriptor() < 0)
    return std::nullopt;
  const std::string path = io::directory_of(model.sources.front()->name()) + "/" + std::string(name);
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  const SourcePtr source = open_file(path, Access::pread);
  return Blob::range(source, 0, source->size());
}

}  // namespace tare::resources
