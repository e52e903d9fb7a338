// "zt.f4_e2m1": an odd number of 4-bit floats, two per byte, which zTensor 2 allows; the last half byte is unused and
// 0. An even number is "packed.f4_e2m1", which this layout uses for decoding.
#include <fmt/format.h>

#include <array>

#include "base/checked.hpp"
#include "codecs/rows.hpp"
#include "codecs/zt2/rules.hpp"
#include "tare/slice.hpp"

namespace tare::codec::zt2 {

void verify_last_half(const Component& halves, std::uint64_t count, const std::function<void(Problem)>& report) {
  if (count % 2 == 0) return;
  const Blob& blob = halves.blob;
  std::byte last{};
  blob.read(blob.size() - 1, {&last, 1});
  if ((last & std::byte{0xF0}) == std::byte{0}) return;
  Problem problem{"data.nibble", "the half byte after the last element is not zero"};
  if (blob.is_plain()) problem.offset = blob.offset() + blob.size() - 1;
  report(std::move(problem));
}

Component floats_of_f4(const Component& halves, std::uint64_t count) {
  static constexpr std::string_view kEven = "packed.f4_e2m1";
  Tensor even;
  even.layout = kEven;
  even.shape = {count + count % 2};
  even.components.push_back({"payload", DType::u8, {}, halves.blob});
  Tensor floats = find_codec(kEven)->decode(even);
  const SliceItem but_one{.kind = SliceItem::Kind::range, .start = 0, .stop = -1, .step = {}};
  if (count % 2 != 0) floats = slice(floats, {but_one});
  Component result = floats.components.front();
  result.role = halves.role;
  return result;
}

namespace {

constexpr std::array<std::string_view, 1> kOddRoles = {"data"};

std::optional<Problem> check_odd(const Tensor& tensor) {
  if (!has_parts(tensor, kOddRoles)) return parts_problem(kOddF4, "\"data\"");
  const Component& data = tensor.components[0];
  if (data.dtype != DType::u8 || data.type != kF4)
    return Problem{"layout.type", "the part \"data\" must be f4_e2m1 over u8"};
  const auto count = tensor.shape.elements();
  if (!count || *count % 2 == 0)
    return Problem{"layout.size", fmt::format("the shape {} has no odd number of elements", tensor.shape.text())};
  return expect_size(data, ceil_div(*count, 2));
}

void verify_odd(const Tensor& tensor, const std::function<void(Problem)>& report) {
  verify_last_half(tensor.components[0], *tensor.shape.elements(), report);
}

Tensor decode_odd(const Tensor& tensor) {
  Component floats = floats_of_f4(tensor.components[0], *tensor.shape.elements());
  Tensor result = dense(tensor.name, tensor.shape, floats.dtype, std::move(floats.blob));
  result.attributes = tensor.attributes;
  return result;
}

}  // namespace

constinit const Codec kOddFloats = {.layout = kOddF4,
                                    .name = kOddF4,
                                    .title = "an odd number of 4-bit floats (e2m1), two in a byte",
                                    .methods = {},
                                    .roles = kOddRoles,
                                    .check = check_odd,
                                    .verify = verify_odd,
                                    .decode = decode_odd,
                                    .explain = explain};

}  // namespace tare::codec::zt2
