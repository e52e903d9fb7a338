// "zt.sparse_csr/1" and "zt.sparse_coo/1" with indices of 32 bits: the sparse layouts, whose indices have 64, over widened
// ones. With 64 bits they are those layouts themselves.
#include <array>

#include "codecs/coordinates.hpp"
#include "codecs/rows.hpp"
#include "codecs/zt2/rules.hpp"
#include "model/widen.hpp"

namespace tare::codec::zt2 {
namespace {

constexpr std::array<std::string_view, 3> kCsrRoles = {"values", "indices", "indptr"};
constexpr std::array<std::string_view, 2> kCooRoles = {"values", "coords"};
constexpr std::string_view kWideCsr = "sparse_csr", kWideCoo = "sparse_coo";

Tensor widened(const Tensor& tensor, std::string_view layout) {
  Tensor wide = tensor;
  wide.layout = layout;
  for (Component& component : wide.components)
    if (component.role != "values" && component.dtype == DType::u32) {
      component.blob = widened_blob(std::move(component.blob), false);
      component.dtype = DType::u64;
    }
  return wide;
}

std::optional<Problem> check_as(const Tensor& tensor, std::string_view layout, std::optional<Problem> problem) {
  if (problem) return problem;
  return find_codec(layout)->check(widened(tensor, layout));
}

template <const std::string_view& Layout>
void verify_as(const Tensor& tensor, const std::function<void(Problem)>& report) {
  find_codec(Layout)->verify(widened(tensor, Layout), report);
}
// The profile allows no place twice.
void verify_coo(const Tensor& tensor, const std::function<void(Problem)>& report) {
  codec::verify_coo(widened(tensor, kWideCoo), report, Repeats::forbidden);
}
template <const std::string_view& Layout>
Tensor decode_as(const Tensor& tensor) {
  return find_codec(Layout)->decode(widened(tensor, Layout));
}

}  // namespace

constinit const Codec kNarrowCsr = {
    .layout = kCsrId,
    .name = {},
    .title = "compressed sparse rows, 32-bit indices",
    .methods = {},
    .roles = kCsrRoles,
    .check = [](const Tensor& tensor) { return check_as(tensor, kWideCsr, check_csr(tensor)); },
    .verify = verify_as<kWideCsr>,
    .decode = decode_as<kWideCsr>};

constinit const Codec kNarrowCoo = {
    .layout = kCooId,
    .name = {},
    .title = "list of coordinates, 32-bit indices",
    .methods = {},
    .roles = kCooRoles,
    .check = [](const Tensor& tensor) { return check_as(tensor, kWideCoo, check_coo(tensor)); },
    .verify = verify_coo,
    .decode = decode_as<kWideCoo>};

}  // namespace tare::codec::zt2
