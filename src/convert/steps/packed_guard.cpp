#include "convert/steps/packed_guard.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"
#include "codecs/packs/join.hpp"
#include "resources/packed_config.hpp"

namespace tare {
namespace {

// Why the arrays are not a tensor, for a sentence; empty where nothing more is known.
std::string reason(const Model& model, const std::string& codes) {
  const StatedPacking stated = resources::stated_packing(model);
  std::string why = codec::packs::why_not_joined(model, stated, codes);
  if (why.empty()) why = codec::packs::why_not_joined(model, stated, {});
  return why.empty() ? why : fmt::format(" ({})", why);
}

}  // namespace

PackedGuard::PackedGuard(const Model& model, const AdaptOptions& options) : packed_(resources::find_packed(model)) {
  const bool asked = options.dtype || !options.quant.empty();
  if (!packed_ || !asked) return;
  const std::string who = packed_->said_by.empty() ? "" : fmt::format(", as {} says", packed_->said_by);
  const std::string why = reason(model, packed_->example);
  Error refused(
      ErrorKind::unsupported, "convert.packed",
      fmt::format("the weights are quantized already ({}{}), and Tare does not decode them{}: their codes and "
                  "scales would be {} as if they were weights; without {} they are kept as they are",
                  packed_->text(), who, why, options.dtype ? "cast" : "quantized",
                  options.dtype ? "a cast" : "quantizing"));
  if (!packed_->example.empty()) refused.about("tensor " + quote(packed_->example));
  throw refused;
}

std::string why_codes(const Model& model, const Tensor& tensor) {
  const auto packed = resources::find_packed(model);
  const auto index = static_cast<std::size_t>(&tensor - model.tensors.data());
  if (!packed || packed->parts[index] != "codes") return {};
  return fmt::format("codes of weights that are quantized already ({}), which Tare does not decode{}", packed->text(),
                     reason(model, tensor.name));
}

void PackedGuard::refuse_widening(std::size_t index, const Tensor& tensor, const Format& target) const {
  if (!packed_ || packed_->parts[index] != "codes") return;
  throw Error(
      ErrorKind::unsupported, "convert.packed",
      fmt::format("codes of weights that are quantized already ({}), whose scales are in other tensors; {} has no "
                  "such type, and as floats they would be taken for the weights",
                  packed_->text(), target.name))
      .about("tensor " + quote(tensor.name));
}

}  // namespace tare
