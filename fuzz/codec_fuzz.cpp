// Layouts with random payloads and attributes: everything that passes a codec's check is verified, decoded whole and in
// parts, and multiplied, without a memory error; and every SIMD target of the machine gives the same bytes as the
// scalar code.
#define HWY_WANT_AVX3_DL
#include <hwy/targets.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/checked.hpp"
#include "model_maker.hpp"
#include "tare/rows.hpp"
#include "tare/slice.hpp"

namespace {

using namespace tare;
using namespace tare::fuzz;

constexpr std::uint64_t kMost = std::uint64_t{1} << 18;  // decoded bytes; more would only take longer

[[noreturn]] void fail(const Tensor& tensor, const char* what) {
  std::fprintf(stderr, "%s %s: %s\n", tensor.layout.c_str(), tensor.shape.text().c_str(), what);
  std::abort();
}

// A tensor from the codec's own encoder, with bytes and attributes replaced.
Tensor encoded(Script& script, const Codec& codec) {
  Shape shape = {1 + script.below(4), 1 + script.below(600)};
  shape[1] = ceil_div(shape[1], codec.row_multiple) * codec.row_multiple;  // rows are whole blocks
  const EncodeOptions options{.method = std::string(script.one_of(codec.methods)),
                              .fast = script.coin(),
                              .range = codec.ranged && script.coin()};
  const std::uint64_t seed = script.byte();
  Tensor tensor = codec.encode(testing::make_dense("it", shape, DType::f32, "", seed), options);
  for (Component& component : tensor.components) component.blob = Blob::memory(component.blob.bytes(kMost));
  tensor.attributes = tensor.complete_attributes();
  if (script.coin() && tensor.attributes.size() > 0)
    (tensor.attributes.begin() + script.below(tensor.attributes.size()))->second = any_value(script, 1);
  for (Component& component : tensor.components) {
    Bytes bytes = component.blob.bytes();
    if (script.coin()) {
      bytes = script.filled(bytes.size());
    } else {
      for (std::size_t i = script.below(8); i > 0 && !bytes.empty(); --i) {
        const std::size_t where = script.word();
        bytes[where % bytes.size()] = std::byte{script.byte()};
      }
    }
    component.blob = Blob::memory(std::move(bytes));
  }
  return tensor;
}

// Components with the codec's roles, of any type, with lengths that suit the shape.
Tensor assembled(Script& script, const Codec& codec) {
  Tensor tensor;
  tensor.name = "it";
  tensor.layout = codec.layout;
  tensor.shape = any_shape(script);
  const std::size_t entries = script.below(20);
  const std::size_t rows = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape[0]);
  const std::size_t elements = static_cast<std::size_t>(*tensor.shape.elements());
  for (const std::string_view role : codec.roles) {
    const DType dtype = script.one_of(kAllDTypes);
    const std::size_t counts[] = {entries, rows + 1, entries * tensor.shape.rank(), elements, script.byte()};
    const std::size_t count = counts[script.below(std::size(counts))];
    const std::size_t small = script.below(3);  // coordinates that are close together find more
    Bytes bytes = script.take(count * size_of(dtype));
    bytes.resize(count * size_of(dtype));
    if (small > 0)
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] &= i % size_of(dtype) == 0 ? std::byte{0x0F} : std::byte{0};
    tensor.components.push_back({std::string(role), dtype, "", Blob::memory(std::move(bytes))});
  }
  for (const std::string_view parameter : codec.parameters)
    if (script.coin()) tensor.attributes.set(parameter, any_value(script, 1));
  return tensor;
}

// The decoded bytes; nothing if the data is invalid.
std::optional<Bytes> decode(const Tensor& tensor) {
  try {
    const Tensor whole = to_dense(tensor);
    if (whole.bytes() > kMost) return std::nullopt;
    Bytes bytes = whole.components[0].blob.bytes();
    // Reading from the middle gives the same bytes.
    if (const std::size_t middle = bytes.size() / 2; middle > 0) {
      Bytes half(bytes.size() - middle);
      whole.components[0].blob.read(middle, half);
      if (!std::equal(half.begin(), half.end(), bytes.begin() + static_cast<std::ptrdiff_t>(middle)))
        fail(tensor, "read from the middle it is another");
    }
    return bytes;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void check_rows(const Tensor& tensor, const Bytes& decoded) {
  const auto rows = open_rows(tensor);
  const auto columns = static_cast<std::size_t>(rows->columns());
  if (rows->rows() == 0 || columns == 0 || decoded.size() != rows->rows() * columns * sizeof(float)) return;
  std::vector<float> values(columns), vector(columns), product(1);
  for (std::size_t i = 0; i < columns; ++i) vector[i] = static_cast<float>(static_cast<int>(i % 7) - 3);
  const QuantizedVector quantized(vector);
  for (std::uint64_t row = 0; row < rows->rows(); ++row) {
    rows->decode(row, 1, values);
    if (std::memcmp(values.data(), decoded.data() + row * columns * sizeof(float), columns * sizeof(float)) != 0)
      fail(tensor, "a row is not what the whole tensor has there");
    double exact = 0, magnitude = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      exact += static_cast<double>(values[i]) * vector[i];
      magnitude += std::abs(static_cast<double>(values[i]) * vector[i]);
    }
    rows->dot(row, 1, quantized, product);
    rows->dot(row, 1, vector, product);
    // Beyond the range of f32 the sum may be anything.
    if (!std::isfinite(exact) || magnitude > 1e37) continue;
    const double bound = (static_cast<double>(columns) / 4 + 16) * 0x1p-24 * magnitude + 1e-37;
    if (!(std::abs(static_cast<double>(product[0]) - exact) <= bound)) fail(tensor, "a product is out of bounds");
  }
}

// Which NaN results depends on the processor and on the order of the operands.
bool same_floats(const Bytes& a, const Bytes& b) {
  if (a == b) return true;
  if (a.size() != b.size() || a.size() % sizeof(float) != 0) return false;
  for (std::size_t i = 0; i < a.size(); i += sizeof(float)) {
    float x = 0, y = 0;
    std::memcpy(&x, a.data() + i, sizeof(x));
    std::memcpy(&y, b.data() + i, sizeof(y));
    if (std::memcmp(&x, &y, sizeof(x)) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

// Like tests/simd_targets.hpp: always includes the scalar fallback.
void check_targets(const Codec& codec, const Tensor& tensor) {
  std::optional<std::optional<Bytes>> first;
  for (std::int64_t targets = hwy::SupportedTargets() | HWY_SCALAR; targets != 0; targets &= targets - 1) {
    const std::int64_t target = targets & ~(targets - 1);
    hwy::GetChosenTarget().Update(target);
    const std::optional<Bytes> bytes = decode(tensor);
    if (!first) first = bytes;
    if (bytes.has_value() != first->has_value() || (bytes && !same_floats(*bytes, **first)))
      fail(tensor, hwy::TargetName(target));
    if (!bytes || codec.rows == nullptr) continue;
    try {
      check_rows(tensor, *bytes);
    } catch (const Error&) {
    }
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(std::as_bytes(std::span(data, size)));
  const Codec& codec = script.one_of(codecs());
  const bool from_encoder = codec.encode != nullptr && script.coin();
  const Tensor tensor = from_encoder ? encoded(script, codec) : assembled(script, codec);
  if (codec.check(tensor)) return 0;
  try {
    codec.verify(tensor, [](const Problem&) {});
  } catch (const Error&) {
  }
  check_targets(codec, tensor);
  return 0;
}
