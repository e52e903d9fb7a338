#include "convert/steps/packed_guard.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/format.hpp"
#include "resources/packed_config.hpp"

namespace tare {
namespace {

// Why codes are not decoded, for a message; empty if unknown.
std::string reason(const codec::packs::Found& found, std::optional<std::size_t> codes) {
  const std::string why = found.why_not_decoded(codes);
  return why.empty() ? why : fmt::format(" ({})", why);
}

}  // namespace

PackedGuard::PackedGuard(const Model& model, const AdaptOptions& options)
    : found_(resources::find_packed(model)), packing_(packing_of(model, found_)) {
  const bool asked = options.dtype || !options.quant.empty();
  if (!packing_ || !asked) return;
  const std::string who = packing_->said_by.empty() ? "" : fmt::format(", as {} says", packing_->said_by);
  Error refused(
      ErrorKind::unsupported, "convert.packed",
      fmt::format("the weights are quantized already ({}{}), and Tare does not decode them{}: their codes and "
                  "scales would be {} as if they were weights; without {} they are kept as they are",
                  packing_->text(), who, reason(found_, packing_->first), options.dtype ? "cast" : "quantized",
                  options.dtype ? "a cast" : "quantizing"));
  if (packing_->first) refused.about("tensor " + quote(model.tensors[*packing_->first].name));
  throw refused;
}

std::string why_codes(const Model& model, const Tensor& tensor) {
  const codec::packs::Found found = resources::find_packed(model);
  const auto index = static_cast<std::size_t>(&tensor - model.tensors.data());
  if (!found.is_codes(index)) return {};
  return fmt::format("codes of weights that are quantized already ({}), which Tare does not decode{}",
                     packing_of(model, found)->text(), reason(found, index));
}

void PackedGuard::refuse_widening(std::size_t index, const Tensor& tensor, const Format& target) const {
  if (!found_.is_codes(index)) return;
  throw Error(
      ErrorKind::unsupported, "convert.packed",
      fmt::format("codes of weights that are quantized already ({}), whose scales are in other tensors; {} has no "
                  "such type, and as floats they would be taken for the weights",
                  packing_->text(), target.name))
      .about("tensor " + quote(tensor.name));
}

}  // namespace tare
