// Packed weights (GPTQ, AWQ and others): several arrays that other programs store for one tensor. `open` joins them to
// one tensor; the first of these steps decodes them if the tensor changes, the last one separates them again.
#include <fmt/format.h>

#include "arch/families.hpp"
#include "base/printable.hpp"
#include "codecs/packs/expert_arrays.hpp"
#include "codecs/packs/join.hpp"
#include "convert/steps/adaptation.hpp"
#include "convert/steps/one_tensor.hpp"
#include "resources/packed_config.hpp"

namespace tare {
namespace {

// If config.json is not carried, its statement about the packing goes into the metadata, unless the arrays alone are
// unambiguous. Two ambiguous cases are GPTQ's two ways to store zero points, and the number of bits in MLX's arrays.
void keep_statement(Adaptation& it) {
  Model& model = it.model;
  if (!it.stated || it.target.holds.metadata == Room::none || resources::stated_in_files(model)) return;
  const bool all_tell = std::ranges::all_of(model.tensors, [](const Tensor& tensor) {
    return !codec::packs::is_joined(tensor) || codec::packs::describes_itself(tensor);
  });
  if (!all_tell) model.metadata.set(resources::kPackingKey, resources::packing_text(it.stated));
}

// The files of a directory state the packing for all layers: libraries would look for the codes of those that are decoded,
// and compute with random weights in place of them.
void refuse_half_decoded(const Adaptation& it) {
  if (it.completeness != Completeness::required || !has_directory_form(it.target)) return;
  if (!codec::packs::has_joined(it.model)) return;
  const std::vector<std::string> decoded = it.statements.decoded(it.model);
  if (decoded.empty()) return;
  const codec::packs::Stated stated = resources::stated_in_files(it.model);
  if (!stated) return;
  throw Error(ErrorKind::unsupported, "convert.partly_packed",
              fmt::format("{} states that the weights are packed, and libraries would look for the codes of those that "
                          "are not: decode all of them or none; decoded: {}",
                          stated.file, listed_names(decoded)))
      .about("tensor " + quote(decoded.front()))
      .remedy(Remedy::cast, "bf16")
      .remedy(Remedy::keep_names);
}

// Checks that a reader of the output will find the same packed weights. Files in the input's directory do not count.
void expect_packed_again(const Model& model) {
  if (!codec::packs::has_joined(model)) return;
  Model output;
  output.metadata = model.metadata;
  output.attachments = model.attachments;
  codec::packs::expect_joined_again(model, resources::stated_packing(output));
}

// Returns whether conventions keep a layout without loss: experts in MXFP4 of a family whose class reads these. All packed
// weights or none, because what files state about the packing holds for all of them.
bool repacks_all(const Adaptation& it) {
  const arch::Family* const family =
      it.model.config.model_type ? arch::find_family(*it.model.config.model_type) : nullptr;
  if (it.options.dtype || it.options.keep_names || family == nullptr || family->runtime.unpacked_modules.empty())
    return false;
  return std::ranges::all_of(it.model.tensors, [](const Tensor& tensor) {
    return !codec::packs::is_joined(tensor) || codec::packs::are_expert_arrays(tensor);
  });
}

}  // namespace

void steps::guard_codes(Adaptation& it) { it.packed.emplace(it.model, it.options); }

void steps::decode_packed(Adaptation& it) {
  if (!it.options.dtype && it.target.adopt == nullptr) return;
  it.repacked = repacks_all(it);
  if (it.repacked) return;
  for (Tensor& tensor : it.model.tensors)
    if (codec::packs::is_joined(tensor)) decode(tensor, *find_codec(tensor.layout), it.options, it.changes);
}

void steps::separate_packed(Adaptation& it) {
  refuse_half_decoded(it);
  keep_statement(it);
  expect_packed_again(it.model);
  codec::packs::separate(it.model);
}

}  // namespace tare
