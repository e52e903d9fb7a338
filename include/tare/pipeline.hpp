// Pipelines: directories in which each part is a model of its own, as diffusers writes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tare/export.hpp"

namespace tare {

struct PipelinePart {
  std::string name;          // the name of its directory: "unet"
  std::string kind;          // the class that loads it: "UNet2DConditionModel"
  bool is_model = false;     // it has weights: `open` accepts its directory
  std::string same_as = {};  // an earlier part that is the same directory; empty: none
};

struct Pipeline {
  std::string kind;  // the class that loads it: "StableDiffusionPipeline"
  std::vector<PipelinePart> parts;
};

// Reads a directory's model_index.json. Returns nothing for a path that is not a directory, or if the file names no
// part that exists; `open` treats those as models. Throws `hf.pipeline.index` if the file is not JSON,
// `hf.pipeline.parts` if it names too many parts, and `hf.file.*` if it cannot be read.
[[nodiscard]] TARE_API std::optional<Pipeline> find_pipeline(const std::string& path);

}  // namespace tare
