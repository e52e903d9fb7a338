// Reads model_index.json of diffusers: {"_class_name": "StableDiffusionPipeline", "unet": ["diffusers",
// "UNet2DConditionModel"], ...}. A value that is a pair of texts is a part, and the key is the name of its folder;
// [null, null] is an omitted part.
#include "tare/pipeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/hf/hf.hpp"
#include "io/places.hpp"
#include "resources/json_file.hpp"

namespace tare::hf {
namespace {

constexpr std::string_view kPipelineFile = "model_index.json";

bool has_weights(const std::string& directory) {
  const std::vector<std::string> files = list_files(directory);
  return std::ranges::any_of(files, [](const std::string& file) { return is_weights(file) || is_torch_weights(file); });
}

Map read_pipeline_file(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kPipelineFile);
  const Links links(directory);
  const auto refuse = [&](std::string_view why) { throw Error(ErrorKind::corrupt, "hf.file.outside", why).in(path); };
  if (const auto outside = links.outside(path)) refuse(*outside);
  const SourcePtr source = open_file(path, Access::pread);
  if (!links.allow(*source)) refuse("was exchanged for another file while the directory was read");
  try {
    const Bytes bytes = Blob::range(source, 0, source->size()).bytes(resources::kMaxSmallBytes);
    return resources::parse_small_json(as_text(bytes));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io || error.kind() == ErrorKind::not_found) throw;
    throw Error(ErrorKind::corrupt, "hf.pipeline.index", error.sentence()).in(path);
  }
}

// Device and inode.
using Identity = std::pair<std::uint64_t, std::uint64_t>;

std::optional<Identity> identity_of(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

std::optional<PipelinePart> part_at(const std::string& directory, const std::string& name, const Value& value) {
  const List* const pair = value.get<List>();
  if (pair == nullptr || pair->size() != 2 || (*pair)[1].text() == nullptr) return std::nullopt;
  const std::string folder = fmt::format("{}/{}", directory, name);
  if (!is_safe_path(name) || name.find('/') != std::string::npos || !io::is_folder(folder)) return std::nullopt;
  if (const auto outside = Links(directory).outside(folder))
    throw Error(ErrorKind::corrupt, "hf.file.outside", *outside).in(folder);
  return PipelinePart{.name = name, .kind = *(*pair)[1].text(), .is_model = has_weights(folder)};
}

}  // namespace

void refuse_pipeline(const std::string& directory) {
  const auto pipeline = find_pipeline(directory);
  if (!pipeline) return;
  std::vector<std::string> models;
  for (const PipelinePart& part : pipeline->parts)
    if (part.is_model) models.push_back(quote(part.name) + "/");
  throw Error(ErrorKind::unsupported, "hf.pipeline",
              models.empty()
                  ? fmt::format("a pipeline ({}) of which no part has weights", quote(pipeline->kind))
                  : fmt::format("a pipeline ({}), of which each part is a model of its own; name one of them: {}",
                                quote(pipeline->kind), fmt::join(models, ", ")))
      .in(directory);
}

bool is_pipeline(const std::string& directory) {
  try {
    return find_pipeline(directory).has_value();
  } catch (const Error&) {
    return true;  // it is meant to be a pipeline; the reader reports what is wrong with it
  }
}

}  // namespace tare::hf

namespace tare {

std::optional<Pipeline> find_pipeline(const std::string& path) {
  const std::string directory = hf::without_slashes(path);
  if (!io::has_neighbours(directory) || !io::is_file(fmt::format("{}/{}", directory, hf::kPipelineFile)))
    return std::nullopt;
  const Spending spending;    // for all parts together
  hf::list_files(directory);  // charges the links, before one of them is followed
  const Map index = hf::read_pipeline_file(directory);
  Pipeline pipeline;
  if (const std::string* const kind = resources::get<std::string>(index, "_class_name")) pipeline.kind = *kind;
  std::map<hf::Identity, std::string> seen;  // directories, by the first part that names them
  for (const auto& [name, value] : index) {
    auto part = hf::part_at(directory, name, value);
    if (!part) continue;
    // Each part is opened as a model of its own.
    constexpr std::size_t kMostParts = 64;
    if (pipeline.parts.size() == kMostParts)
      throw Error(ErrorKind::limit, "hf.pipeline.parts",
                  fmt::format("expected a pipeline of at most {} parts, found more", kMostParts))
          .in(directory);
    if (const auto identity = hf::identity_of(fmt::format("{}/{}", directory, name)))
      if (const auto [known, is_new] = seen.emplace(*identity, name); !is_new) part->same_as = known->second;
    pipeline.parts.push_back(std::move(*part));
  }
  if (pipeline.parts.empty()) return std::nullopt;
  return pipeline;
}

}  // namespace tare
