// "zt.f4_e2m1": an odd number of 4-bit floats, which zTensor 2 allows: two in a byte, and half a byte, which is 0, is left
// over. An even number is "packed.f4_e2m1", over which this one is decoded.
#include <fmt/format.h>

#include <array>

#include "base/checked.hpp"
#include "codecs/rows.hpp"
#include "codecs/zt2/rules.hpp"
#include "tare/slice.hpp"

namespace tare::codec::zt2 {
namespace {

constexpr std::array<std::string_view, 1> kOddRoles = {"data"};
constexpr std::string_view kEven = "packed.f4_e2m1";

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
  const Blob& blob = tensor.components[0].blob;
  std::byte last{};
  blob.read(blob.size() - 1, {&last, 1});
  if ((last & std::byte{0xF0}) == std::byte{0}) return;
  Problem problem{"data.nibble", "the half byte after the last element is not zero"};
  if (blob.is_plain()) problem.offset = blob.offset() + blob.size() - 1;
  report(std::move(problem));
}

Tensor decode_odd(const Tensor& tensor) {
  const std::uint64_t count = *tensor.shape.elements();
  Tensor even = tensor;
  even.layout = kEven;
  even.shape = {count + 1};
  even.components[0].role = "payload";
  even.components[0].type.clear();
  const SliceItem but_one{.kind = SliceItem::Kind::range, .start = 0, .stop = -1, .step = {}};
  Tensor dense = slice(find_codec(kEven)->decode(even), {but_one});
  dense.shape = tensor.shape;
  return dense;
}

}  // namespace

constinit const Codec kOddFloats = {.layout = kOddF4,
                                    .name = kOddF4,
                                    .title = "an odd number of 4-bit floats (e2m1), two in a byte",
                                    .methods = {},
                                    .roles = kOddRoles,
                                    .check = check_odd,
                                    .verify = verify_odd,
                                    .decode = decode_odd};

}  // namespace tare::codec::zt2
