// "zt.sparse_csr/1" and "zt.sparse_coo/1" with 32-bit indices or 4-bit values. They are widened for the sparse layouts,
// whose indices have 64 bits and whose values have whole bytes. Without either, a reader uses those layouts directly.
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

// The number of entries. The tensor has passed the profile's checks.
std::uint64_t entries_of(const Tensor& tensor) {
  const Component* const indices = tensor.component("indices");
  if (indices != nullptr) return indices->blob.size() / size_of(indices->dtype);
  const Component& coords = *tensor.component("coords");
  return coords.blob.size() / size_of(coords.dtype) / tensor.shape.rank();
}

Tensor widened(const Tensor& tensor, std::string_view layout) {
  Tensor wide = tensor;
  wide.layout = layout;
  for (Component& component : wide.components)
    if (component.role != "values" && component.dtype == DType::u32) {
      component.blob = widened_blob(std::move(component.blob), false);
      component.dtype = DType::u64;
    } else if (component.role == "values" && component.type == kF4) {
      component = floats_of_f4(component, entries_of(tensor));
    }
  return wide;
}

std::optional<Problem> check_as(const Tensor& tensor, std::string_view layout, std::optional<Problem> problem) {
  if (problem) return problem;
  return find_codec(layout)->check(widened(tensor, layout));
}

void verify_values(const Tensor& tensor, const std::function<void(Problem)>& report) {
  const Component& values = *tensor.component("values");
  if (values.type == kF4) verify_last_half(values, entries_of(tensor), report);
}
void verify_csr(const Tensor& tensor, const std::function<void(Problem)>& report) {
  verify_values(tensor, report);
  find_codec(kWideCsr)->verify(widened(tensor, kWideCsr), report);
}
// The profile forbids repeated places.
void verify_coo(const Tensor& tensor, const std::function<void(Problem)>& report) {
  verify_values(tensor, report);
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
    .title = "compressed sparse rows, 32-bit indices or 4-bit values",
    .methods = {},
    .roles = kCsrRoles,
    .check = [](const Tensor& tensor) { return check_as(tensor, kWideCsr, check_csr(tensor)); },
    .verify = verify_csr,
    .decode = decode_as<kWideCsr>};

constinit const Codec kNarrowCoo = {
    .layout = kCooId,
    .name = {},
    .title = "list of coordinates, 32-bit indices or 4-bit values",
    .methods = {},
    .roles = kCooRoles,
    .check = [](const Tensor& tensor) { return check_as(tensor, kWideCoo, check_coo(tensor)); },
    .verify = verify_coo,
    .decode = decode_as<kWideCoo>};

}  // namespace tare::codec::zt2
