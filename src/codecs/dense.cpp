// "dense": one component `data`, the elements in row-major order.
//
// Its size is product(shape) * bytes of a storage element * storage elements per logical element (2 for complex). A
// type that Tare does not know counts as its storage type. Other components are accepted and carried unchanged.
#include <fmt/format.h>

#include <array>

#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "model/element_size.hpp"

namespace tare::codec {
namespace {

constexpr std::array<std::string_view, 1> kRoles = {"data"};

std::optional<Problem> check(const Tensor& tensor) {
  const Component* const data = tensor.component("data");
  if (data == nullptr) return Problem{"dense.missing", "a dense tensor needs the component \"data\""};
  const auto count = tensor.shape.elements();
  const auto bytes = count ? elements_bytes(*count, data->dtype, data->type) : std::nullopt;
  if (!bytes)
    return Problem{"dense.size", fmt::format("the shape {} of {} does not fit 64 bits of length", tensor.shape.text(),
                                             data->type_name())};
  if (data->blob.size() != *bytes)
    return Problem{"dense.size", fmt::format("the shape {} of {} takes {} bytes, the component has {}",
                                             tensor.shape.text(), data->type_name(), *bytes, data->blob.size())};
  return std::nullopt;
}

void verify(const Tensor& tensor, const std::function<void(Problem)>& report) {
  for (const Component& component : tensor.components) {
    verify_type(component, report);
    verify_booleans(component, report);
  }
}

}  // namespace

constinit const Codec kDense = {.layout = "dense",
                                .name = {},
                                .title = "row-major array",
                                .methods = {},
                                .roles = kRoles,
                                .check = check,
                                .verify = verify,
                                .decode = nullptr,
                                .encode = nullptr};

}  // namespace tare::codec
