#include "codecs/element_kinds.hpp"

#include <fmt/format.h>

#include "codecs/rows.hpp"
#include "tare/error.hpp"

namespace tare {

Kind kind_of(DType dtype, std::string_view type) {
  const ElementType* const known = element_type(dtype, type);
  return known == nullptr ? kind_of(dtype) : kind_of_numbers(*known);
}

const Component& require_dense(const Tensor& tensor) {
  if (!tensor.is_dense())
    throw Error(ErrorKind::usage, "dense.expected", fmt::format("expected a dense tensor, found {}", tensor.layout))
        .about(tensor.name);
  if (const auto problem = codec::kDense.check(tensor))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about(tensor.name);
  return *tensor.component("data");
}

}  // namespace tare
