// Opens an MCF file: container, ModelInfo, tensors. Each part is read on its own, so that verify finds all errors.
#include <fmt/format.h>

#include "formats/mcf/mcf.hpp"

namespace tare::mcf {

Model read(const Input& input, const ReadOptions& options) {
  Diagnostics throwing;
  Diagnostics& diagnostics = options.diagnostics != nullptr ? *options.diagnostics : throwing;
  // Reports the error that ends one part, and continues with the others.
  const auto guarded = [&](const Section* section, const auto& part) {
    try {
      part();
    } catch (Error& error) {
      if (section != nullptr) error.about("section " + name_of(section->type));
      diagnostics.error(error.in(input.path));
    }
  };
  try {
    const Container container = read_container(*input.source, options.limits, diagnostics);
    Model model;
    model.version = fmt::format("1.{}", container.header.minor);
    std::optional<SectionBytes> bytes;
    std::optional<Info> info;
    TensorNotes notes;  // views into `bytes`
    if (const Section* const section = container.find(SectionType::model_info))
      guarded(section, [&] {
        bytes.emplace(*input.source, *section, options.limits);
        info = read_info(*bytes, diagnostics);
      });
    fill_model(info ? &*info : nullptr, container, input, options, model, notes, diagnostics);
    guarded(container.find(SectionType::tensor_index),
            [&] { read_tensors(input, options, container, notes, model, diagnostics); });
    keep_stale_notes(notes, model, diagnostics);
    input.source->check();
    return model;
  } catch (Error& error) {
    throw error.in(input.path);
  }
}

}  // namespace tare::mcf
