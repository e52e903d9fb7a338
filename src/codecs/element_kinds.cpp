#include "codecs/element_kinds.hpp"

#include <fmt/format.h>

#include "codecs/rows.hpp"
#include "tare/error.hpp"

namespace tare {

Kind kind_of(DType dtype, std::string_view type) {
  if (dtype == DType::u8) {
    if (type == "f8_e4m3fn") return Kind::e4m3fn;
    if (type == "f8_e5m2") return Kind::e5m2;
    if (type == "f8_e4m3fnuz") return Kind::e4m3fnuz;
    if (type == "f8_e5m2fnuz") return Kind::e5m2fnuz;
    if (type == "f8_e8m0") return Kind::e8m0;
  }
  return static_cast<Kind>(dtype);
}

const Component& require_dense(const Tensor& tensor) {
  if (!tensor.is_dense())
    throw Error(ErrorKind::usage, "dense.expected", fmt::format("a dense tensor was expected, found {}", tensor.layout))
        .about(tensor.name);
  if (const auto problem = codec::kDense.check(tensor))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about(tensor.name);
  return *tensor.component("data");
}

}  // namespace tare
