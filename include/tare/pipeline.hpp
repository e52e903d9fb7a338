// Pipelines: directories of which each part is a model of its own, as diffusers has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tare/export.hpp"

namespace tare {

struct PipelinePart {
  std::string name;       // of its directory: "unet"
  std::string kind;       // of the class that loads it: "UNet2DConditionModel"
  bool is_model = false;  // it has weights: `open` takes its directory
};

struct Pipeline {
  std::string kind;  // of the class that loads it: "StableDiffusionPipeline"
  std::vector<PipelinePart> parts;
};

// What a directory's model_index.json says. Nothing for a path that is no directory, or whose file names no parts that are
// there; `open` takes those as models. Throws `hf.pipeline.index` if the file is not JSON, and `hf.file.*` if it cannot be
// taken.
[[nodiscard]] TARE_API std::optional<Pipeline> find_pipeline(const std::string& path);

}  // namespace tare
