// Opens a model with or without joining its packed weights.
#pragma once

#include <cstdint>
#include <string>

#include "formats/format.hpp"

namespace tare {

// The form of packed weights (codecs/packs/stored.hpp).
enum class PackedForm : std::uint8_t {
  joined,  // one tensor with the shape of the weights
  stored,  // the arrays that the container stores
};

// `open` is this with PackedForm::joined.
Model open_as(PackedForm form, const std::string& path, const ReadOptions& options = {});
Model open_as(PackedForm form, const SourcePtr& source, const ReadOptions& options = {});

}  // namespace tare
