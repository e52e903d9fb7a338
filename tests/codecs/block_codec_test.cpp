// The framework for block codecs, tested with a codec that only tests have: ggml's Q4_0, as a row of the table.
#include "codecs/block_codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "codecs/quantized_vector.hpp"
#include "codecs/rows.hpp"
#include "codecs/toy_q4_0.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "counting_source.hpp"
#include "produced_blob.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::codec {
namespace {

using namespace tare::testing;

const bool kAdded = (add_row(block_row<toy::kQ4_0>()), true);

const Codec& row() { return *find_codec("toy.q4_0"); }

std::vector<float> floats_of(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<float>(&bytes[4 * i]);
  return values;
}

Bytes bytes_of(std::span<const float> values) {
  Bytes bytes(values.size() * 4);
  for (std::size_t i = 0; i < values.size(); ++i) store_le<float>(&bytes[4 * i], values[i]);
  return bytes;
}

std::vector<float> some_weights(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-36F;
  return values;
}

Tensor floats(const std::vector<float>& values, Shape shape) {
  return dense("w", std::move(shape), DType::f32, Blob::memory(bytes_of(values)));
}

Tensor coded(Shape shape, Blob payload) {
  Tensor tensor;
  tensor.name = "w";
  tensor.layout = "toy.q4_0";
  tensor.shape = std::move(shape);
  tensor.components.push_back({"payload", DType::u8, {}, std::move(payload)});
  return tensor;
}

Bytes payload_of(const Tensor& tensor) { return tensor.component("payload")->blob.bytes(); }

Bytes encoded(const std::vector<float>& values, const Shape& shape) {
  return payload_of(row().encode(floats(values, shape), {.method = "toy4"}));
}

// The same bytes in every form that a file or a codec may offer.
std::vector<Blob> every_kind_of(const Bytes& bytes) {
  const auto counted = std::make_shared<test::CountingSource>(bytes);
  return {Blob::memory(bytes), Blob::range(counted, 0, counted->size()), test::produced_blob(bytes, 1),
          test::produced_blob(bytes, 0)};
}

// Weights from -8 to 7.5: d = -8 / -8 = 1, q = trunc(w + 8.5), which rounds half up.
TEST(BlockCodec, ABlockByHand) {
  std::vector<float> weights(32);
  for (std::size_t i = 0; i < 32; ++i) weights[i] = static_cast<float>(i) / 2 - 8;
  Bytes expected = {std::byte{0x00}, std::byte{0x3C}};
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned low = (i + 1) / 2, high = std::min((i + 17) / 2, 15u);
    expected.push_back(static_cast<std::byte>(low | high << 4));
  }
  EXPECT_EQ(encoded(weights, {1, 32}), expected);
  const std::vector<float> back = floats_of(to_dense(coded({32}, Blob::memory(expected))).components[0].blob.bytes());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(back[i], std::min(std::floor(weights[i] + 0.5F), 7.0F)) << i;
  // The weight of the largest magnitude may be positive: then the scale is negative, and nothing is clipped.
  weights[31] = 16;
  EXPECT_EQ(load_le<std::uint16_t>(encoded(weights, {1, 32}).data()), 0xC000);
  EXPECT_EQ(encoded(std::vector<float>(32), {1, 32})[0], std::byte{0x00});
}

TEST(BlockCodec, AnyPartDecodesToTheSameFromEveryKindOfSource) {
  const Bytes payload = encoded(some_weights(96 * 700), {700, 96});
  const Bytes whole = to_dense(coded({700, 96}, Blob::memory(payload))).components[0].blob.bytes();
  for (const Blob& blob : every_kind_of(payload)) {
    const Blob dense_blob = to_dense(coded({700, 96}, blob)).components[0].blob;
    EXPECT_EQ(dense_blob.seek_granularity() != 0, blob.seek_granularity() != 0);
    EXPECT_TRUE(dense_blob.bytes() == whole);
    for (const std::uint64_t offset : {0, 1, 127, 128, 384, 40000, 268799, 268800}) {
      Bytes part(std::min<std::uint64_t>(1000, whole.size() - offset));
      dense_blob.open(offset)->read(part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset))) << offset;
    }
  }
}

TEST(BlockCodec, AFewRowsTouchFewBytes) {
  const auto source = std::make_shared<test::CountingSource>(Bytes(1000 * 32 * 18));
  const auto rows = open_rows(coded({1000, 1024}, Blob::range(source, 0, source->size())));
  std::vector<float> out(2048);
  rows->decode(500, 2, out);
  rows->dot(500, 2, std::vector<float>(1024), std::span(out).first(2));
  EXPECT_LE(source->count, 2u * 2 * 32 * 18);
}

TEST(BlockCodec, RowsAreThoseOfTheDenseTensor) {
  // Blocks that cross the ends of rows also have rows, one of which begins inside a byte.
  Tensor packed = coded({3, 7, 20}, Blob::memory({}));
  packed.layout = "packed.f6_e2m3";
  Bytes codes(3 * 7 * 20 * 6 / 8);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i * 37);
  Tensor odd = row().encode(floats(some_weights(5 * 2 * 64), {5, 2, 64}), {.method = "toy4"});
  std::vector<std::pair<Tensor, Bytes>> tensors = {{packed, codes}, {odd, payload_of(odd)}};
  for (const char* const method : {"qint8", "qint4"}) {
    const Tensor alt = find_codec_by_method(method)->encode(floats(some_weights(5 * 33), {5, 33}), {.method = method});
    tensors.emplace_back(alt, payload_of(alt));
  }
  for (auto& [tensor, bytes] : tensors)
    for (const Blob& blob : every_kind_of(bytes)) {
      tensor.components[0].blob = blob;
      const auto rows = open_rows(tensor);
      const std::vector<float> whole = floats_of(to_dense(tensor).components[0].blob.bytes());
      ASSERT_EQ(rows->rows() * rows->columns(), whole.size());
      const auto columns = static_cast<std::size_t>(rows->columns());
      const std::vector<float> vector = some_weights(columns, 2);
      const QuantizedVector codes8(vector);
      for (std::uint64_t first = 0; first < rows->rows(); ++first) {
        const std::uint64_t count = std::min<std::uint64_t>(3, rows->rows() - first);
        std::vector<float> found(static_cast<std::size_t>(count * columns)), dots(3), dots8(3);
        rows->decode(first, count, found);
        rows->dot(first, count, vector, std::span(dots).first(count));
        rows->dot(first, count, codes8, std::span(dots8).first(count));
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], whole[first * columns + i]);
        for (std::size_t r = 0; r < count; ++r) {
          double expected = 0, expected8 = 0, size = 0;
          for (std::size_t i = 0; i < columns; ++i) {
            const double w = found[r * columns + i];
            expected += w * vector[i];
            expected8 += w * codes8.data().codes[i] * static_cast<double>(codes8.data().scales[i / 32]);
            size += std::fabs(w * vector[i]);
          }
          EXPECT_NEAR(dots[r], expected, (static_cast<double>(columns) / 4 + 16) * 0x1p-24 * size) << tensor.layout;
          EXPECT_NEAR(dots8[r], expected8, (static_cast<double>(columns) / 4 + 16) * 0x1p-24 * 2 * size);
        }
      }
    }
}

TEST(BlockCodec, CheckNamesWhatIsWrong) {
  const auto rule = [](const Tensor& tensor) {
    const auto problem = row().check(tensor);
    return problem ? problem->rule : std::string();
  };
  EXPECT_EQ(rule(coded({2, 64}, Blob::memory(Bytes(72)))), "");
  EXPECT_EQ(rule(coded({0, 33}, Blob::memory({}))), "toy.row");
  EXPECT_EQ(rule(coded({2, 64}, Blob::memory(Bytes(71)))), "toy.size");
  EXPECT_EQ(rule(coded({64, 2}, Blob::memory(Bytes(72)))), "toy.row");
  EXPECT_EQ(rule(coded({std::uint64_t{1} << 63, 64}, Blob::memory(Bytes(72)))), "toy.row");
  Tensor tensor = coded({2, 64}, Blob::memory(Bytes(72)));
  tensor.components[0].dtype = DType::i8;
  EXPECT_EQ(rule(tensor), "toy.type");
  tensor.components[0].role = "data";
  EXPECT_EQ(rule(tensor), "toy.components");
}

TEST(BlockCodec, VerifyTellsOfTheFirstBadBlockAndOfAll) {
  Bytes payload = encoded(some_weights(96 * 700), {700, 96});
  for (const std::size_t block : {1501u, 1502u, 2099u}) payload[block * 18 + 1] = std::byte{0x7C};
  std::vector<Problem> found;
  const Tensor tensor = coded({700, 96}, Blob::memory(payload));
  row().verify(tensor, [&](Problem problem) { found.push_back(std::move(problem)); });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "toy.block");
  EXPECT_EQ(found[0].offset, 1501u * 18);
  EXPECT_NE(found[0].sentence.find("block 1501 (row 500, columns from 32)"), std::string::npos) << found[0].sentence;
  EXPECT_NE(found[0].sentence.find("3 such blocks"), std::string::npos) << found[0].sentence;
}

TEST(BlockCodec, EncodingGivesTheSameBytesFromAnyOffsetAndSaysWhatWasLost) {
  const std::vector<float> values = some_weights(640 * 330);
  const Shape shape = {330, 640};
  for (const bool seekable : {true, false}) {
    const auto report = std::make_shared<EncodeReport>();
    const Tensor input = dense("w", shape, DType::f32, test::produced_blob(bytes_of(values), seekable ? 4 : 0));
    const Tensor tensor = row().encode(input, {.method = "toy4", .report = report});
    const Blob& blob = tensor.component("payload")->blob;
    const Bytes whole = blob.bytes();
    EXPECT_TRUE(report->complete);
    for (const std::uint64_t offset : {1, 17, 18, 4608, 4609, 100000}) {
      Bytes part(std::min<std::uint64_t>(40, whole.size() - offset));
      blob.open(offset)->read(part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset))) << offset;
    }
    const std::vector<float> back = floats_of(to_dense(tensor).components[0].blob.bytes());
    double error = 0, sum = 0, most = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double off = std::fabs(static_cast<double>(values[i]) - static_cast<double>(back[i]));
      error += off * off;
      sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
      most = std::max(most, off);
    }
    EXPECT_NEAR(report->squared_error, error, 1e-9 * error);
    EXPECT_NEAR(report->squared_sum, sum, 1e-9 * sum);
    EXPECT_EQ(report->max_error, most);
    EXPECT_EQ(report->elements, values.size());
    EXPECT_LT(std::sqrt(error / sum), 0.1);
  }
}

TEST(BlockCodec, EncodingRefusesWhatItCannotHold) {
  const auto rule = [](std::vector<float> values, const Shape& shape, EncodeOptions options = {.method = "toy4"}) {
    return rule_of([&] { payload_of(row().encode(floats(values, shape), options)); });
  };
  std::vector<float> values(64, 1);
  EXPECT_EQ(rule(values, {2, 32}), "");
  EXPECT_EQ(rule(values, {4, 16}), "toy.row");
  EXPECT_EQ(rule(values, {2, 32}, {.method = "toy4", .clip = std::pair(1.0F, -1.0F)}), "toy.clip");
  values[40] = 1e6F;
  EXPECT_EQ(rule(values, {2, 32}), "toy.overflow");
  EXPECT_EQ(rule(values, {2, 32}, {.method = "toy4", .clip = std::pair(-1.0F, 1.0F)}), "");
  values[40] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(rule(values, {2, 32}), "toy.nonfinite");
  EXPECT_EQ(rule_of([&] { row().encode(make_csr("s"), {.method = "toy4"}); }), "toy.input");
}

// Through a container that holds any layout and back, into one that does not, and with the recipes of `quantize`.
TEST(BlockCodec, TravelsLikeEveryOtherCodec) {
  Model model;
  model.tensors = {floats(some_weights(64 * 96), {64, 96})};
  AdaptOptions options;
  options.quant.method = "toy.toy4";
  const Adapted adapted = adapt(model, *find_format("zt"), options);
  MemorySink sink;
  find_format("zt")->write(adapted.model, sink, {});
  const Model read = open(memory_source(sink.bytes()));
  ASSERT_EQ(dtype_name(read.tensors[0]), "toy.q4_0");
  EXPECT_TRUE(payload_of(read.tensors[0]) == encoded(some_weights(64 * 96), {64, 96}));
  EXPECT_TRUE(adapted.outcomes[0].report->complete);
  EXPECT_EQ(adapted.outcomes[0].bits_per_weight(), 4.5);
  const Adapted out = adapt(read, *find_format("npz"), {});
  EXPECT_EQ(out.model.tensors[0].layout, "dense");
  EXPECT_TRUE(out.model.tensors[0].components[0].blob.bytes() == to_dense(read.tensors[0]).components[0].blob.bytes());
}

}  // namespace
}  // namespace tare::codec
