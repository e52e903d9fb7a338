// The rows of the table of formats, each defined in its own folder.
#pragma once

#include "codecs/packs/stored.hpp"
#include "formats/format.hpp"
#include "formats/towers.hpp"

// One line a container.
// clang-format off
namespace tare::zt { extern const Format kFormat; }
namespace tare::zt2 { extern const Format kFormat; }
namespace tare::mcf { extern const Format kFormat; }
namespace tare::tllm { extern const Format kFormat; }
namespace tare::alt { extern const Format kFormat, kFormat1; }
namespace tare::npz { extern const Format kFormat; }
namespace tare::npy { extern const Format kFormat; }
namespace tare::safetensors { extern const Format kFormat; }
namespace tare::gguf { extern const Format kFormat; extern const TowerConventions kTowers; }
namespace tare::hf { extern const Format kFormat; }
namespace tare::torch { extern const Format kFormat; }
namespace tare::onnx { extern const Format kFormat; }
namespace tare::ggmlbin { extern const Format kFormat; }
// clang-format on

namespace tare {

// The row of a container as it is in the table. Its functions accept any model: the container gets packed weights as the
// arrays that it stores, whether or not the caller knows of them.
template <const Format& kRow>
Format table_row() {
  using codec::packs::StoredForm;
  Format row = kRow;
  if (row.write != nullptr)
    row.write = [](const Model& model, Sink& sink, const WriteOptions& options) {
      kRow.write(*StoredForm(model), sink, options);
    };
  if (row.write_tree != nullptr)
    row.write_tree = [](const Model& model, const std::string& path, const WriteOptions& options, bool overwrite) {
      return kRow.write_tree(*StoredForm(model), path, options, overwrite);
    };
  if (row.append != nullptr)
    row.append = [](const std::string& path, const Model& extra, const WriteOptions& options) {
      kRow.append(path, *StoredForm(extra), options);
    };
  if (row.content_digest != nullptr)
    row.content_digest = [](const Model& model, const Work& work) {
      return kRow.content_digest(*StoredForm(model), work);
    };
  return row;
}

void add_row(Format row);  // use add_format
// Adds the row of a container that is not part of Tare; it is tried after all others. Must be called before the table
// is first used.
template <const Format& kRow>
void add_format() {
  add_row(table_row<kRow>());
}

}  // namespace tare
