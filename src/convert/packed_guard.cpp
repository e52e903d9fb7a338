#include "convert/packed_guard.hpp"

#include <fmt/format.h>

namespace tare {

PackedGuard::PackedGuard(const Model& model, const AdaptOptions& options) : packed_(resources::find_packed(model)) {
  const bool asked = options.dtype || !options.quant.empty();
  if (!packed_ || !asked) return;
  const std::string who = packed_->said_by.empty() ? "" : fmt::format(", as {} says", packed_->said_by);
  Error refused(
      ErrorKind::unsupported, "convert.packed",
      fmt::format("the weights are quantized already ({}{}), and Tare cannot decode them yet: their codes and "
                  "scales would be {} as if they were weights; without {} they are kept as they are",
                  packed_->text(), who, options.dtype ? "cast" : "quantized", options.dtype ? "a cast" : "quantizing"));
  if (!packed_->example.empty()) refused.about("tensor " + escape_name(packed_->example));
  throw refused;
}

void PackedGuard::refuse_widening(std::size_t index, const Tensor& tensor, const Format& target) const {
  if (!packed_ || packed_->parts[index] != "codes") return;
  throw Error(
      ErrorKind::unsupported, "convert.packed",
      fmt::format("codes of weights that are quantized already ({}), whose scales are in other tensors; {} has no "
                  "such type, and as floats they would be taken for the weights",
                  packed_->text(), target.name))
      .about("tensor " + escape_name(tensor.name));
}

}  // namespace tare
