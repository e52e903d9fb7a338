// The rows of MCF's methods in the table of codecs: geometry, check and verify, decoding in parts, products of rows
// from every kind of source.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/mcf/reference.hpp"
#include "counting_source.hpp"
#include "tare/tare.hpp"

namespace tare::codec::mcf {
namespace {

Tensor coded(std::string_view layout, Shape shape, Blob payload, Domain domain = Domain::weights) {
  Tensor tensor;
  tensor.name = "w";
  tensor.shape = std::move(shape);
  tensor.layout = layout;
  set_attributes(tensor.attributes, {domain, -1, 1});
  tensor.components.push_back({"payload", DType::u8, {}, std::move(payload)});
  return tensor;
}

// A valid payload: codes in [-qmax, qmax], zero padding.
Bytes sound_payload(const Geometry& g, unsigned seed) {
  std::mt19937 random(seed);
  Bytes payload(static_cast<std::size_t>(g.bytes));
  const int qmax = g.method->qmax;
  const auto code = [&] { return static_cast<int>(random() % (2 * qmax + 1)) - qmax; };
  if (g.method->family == Family::raw) {
    if (g.elements() == 0) return payload;
    store_le<float>(&payload[g.scales.offset], 0.25f);
    if (g.domain == Domain::activations) store_le<float>(&payload[g.zero.offset], 3);
    for (std::uint64_t i = 0; i < g.elements(); ++i) put_code(g.method->bits, &payload[g.codes.offset], i, code());
    return payload;
  }
  for (std::uint64_t i = 0; i < g.scales.size; i += 2)
    store_le<std::uint16_t>(&payload[g.scales.offset + i], f32_to_f16(0.01f * static_cast<float>(1 + random() % 100)));
  for (std::uint64_t i = 0; i < g.sub_scales.size; ++i)
    payload[g.sub_scales.offset + i] = static_cast<std::byte>(random() % 64);
  for (std::uint64_t row = 0; row < g.rows; ++row)
    for (std::uint64_t column = 0; column < g.columns; ++column)
      put_code(g.method->bits, &payload[g.codes.offset + row * g.row_code_bytes()], column, code());
  return payload;
}

Geometry geometry(std::string_view method, const Shape& shape, Domain domain = Domain::weights) {
  return geometry_of(*find_method(method), domain, shape).value();
}

TEST(McfLayout, RegionsLieWhereTheDocumentSays) {
  // 3 rows of 300 columns: 10 blocks and 2 super-blocks per row.
  const Geometry k3 = geometry("k3", {3, 300});
  EXPECT_EQ(k3.scales.size, 12u);  // 3 * 2 f16
  EXPECT_EQ(k3.sub_scales.offset, 64u);
  EXPECT_EQ(k3.sub_scales.size, 30u);
  EXPECT_EQ(k3.codes.offset, 128u);
  EXPECT_EQ(k3.codes.size, 360u);  // 30 blocks of 12
  EXPECT_EQ(k3.bytes, 488u);
  const Geometry q8 = geometry("q8", {4, 320});
  EXPECT_EQ(q8.scales.size, 80u);
  EXPECT_EQ(q8.codes.offset, 128u);
  EXPECT_EQ(q8.bytes, 128u + 4 * 320);
  // A region that ends at a boundary has no padding after it: 32 blocks of f16 are 64 bytes.
  EXPECT_EQ(geometry("q4", {1, 1024}).codes.offset, 64u);
  EXPECT_EQ(geometry("int4", {3, 5}).bytes, 64u + 8);
  EXPECT_EQ(geometry("int8", {3, 5}, Domain::activations).bytes, 128u + 15);
  EXPECT_EQ(geometry("int8", {}).bytes, 65u);
}

TEST(McfLayout, EmptyTensorsHaveNoPayload) {
  for (const Method& method : all_methods())
    for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
      EXPECT_EQ(geometry(method.name, shape).bytes, 0u);
      const Tensor tensor = coded(method.layout, shape, Blob::memory({}));
      EXPECT_FALSE(find_codec(method.layout)->check(tensor));
      find_codec(method.layout)->verify(tensor, [](const Problem& problem) { FAIL() << problem.rule; });
      EXPECT_EQ(to_dense(tensor).bytes(), 0u);
      const auto rows = open_rows(tensor);
      EXPECT_EQ(rows->rows(), shape[0]);
      std::vector<float> out(static_cast<std::size_t>(shape[0]), 7), vector(static_cast<std::size_t>(shape[1]));
      rows->dot(0, shape[0], vector, out);
      for (const float v : out) EXPECT_EQ(v, 0);
    }
}

TEST(McfLayout, NothingWraps) {
  const std::uint64_t huge = std::uint64_t{1} << 62;
  Problem why;
  for (const Method& method : all_methods()) {
    EXPECT_FALSE(geometry_of(method, Domain::weights, {huge, huge}, &why));
    EXPECT_EQ(why.rule, "quant.too_large");
  }
  // 2^64 - 1 codes of one byte, plus the scale before them.
  EXPECT_FALSE(geometry_of(*find_method("int8"), Domain::weights, {~std::uint64_t{0}}, &why));
  EXPECT_EQ(why.rule, "quant.too_large");
  // Each row is padded to 32 columns.
  EXPECT_FALSE(geometry_of(*find_method("q8"), Domain::weights, {std::uint64_t{1} << 60, 1}, &why));
  EXPECT_EQ(why.rule, "quant.too_large");
}

std::string check_rule(const Tensor& tensor) {
  const auto problem = find_codec(tensor.layout)->check(tensor);
  return problem ? problem->rule : "";
}

TEST(McfCodec, CheckNamesWhatIsWrong) {
  const Bytes payload = sound_payload(geometry("q4", {2, 40}), 1);
  EXPECT_EQ(check_rule(coded("mcf.q4", {2, 40}, Blob::memory(payload))), "");
  EXPECT_EQ(check_rule(coded("mcf.q4", {80}, Blob::memory(payload))), "quant.rank");
  EXPECT_EQ(check_rule(coded("mcf.k4", {2, 40}, Blob::memory(payload), Domain::activations)), "quant.domain");
  for (const int change : {-1, 1}) {
    Bytes other = payload;
    other.resize(other.size() + static_cast<std::size_t>(change));
    EXPECT_EQ(check_rule(coded("mcf.q4", {2, 40}, Blob::memory(other))), "quant.size");
  }
  Tensor tensor = coded("mcf.q4", {2, 40}, Blob::memory(payload));
  tensor.attributes.set("domain", "elsewhere");
  EXPECT_EQ(check_rule(tensor), "quant.attributes");
  tensor.attributes.set("domain", "weights");
  tensor.attributes.set("max_clip", 1e300);
  EXPECT_EQ(check_rule(tensor), "quant.attributes");
  tensor.attributes = {};
  EXPECT_EQ(check_rule(tensor), "");
  tensor.components[0].dtype = DType::i8;
  EXPECT_EQ(check_rule(tensor), "quant.type");
  tensor.components[0].role = "data";
  EXPECT_EQ(check_rule(tensor), "quant.missing");
}

TEST(McfCodec, APayloadWithoutItsScaleIsNamed) {
  const Tensor tensor = coded("mcf.int8", {4, 8}, Blob::memory(Bytes(32)));
  const auto problem = find_codec("mcf.int8")->check(tensor);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->rule, "quant.no_scale");
  EXPECT_NE(problem->sentence.find("the scale before them is missing"), std::string::npos) << problem->sentence;
  EXPECT_NE(problem->sentence.find("96 bytes, found 32"), std::string::npos) << problem->sentence;
}

std::map<std::string, Problem> verify_rules(const Tensor& tensor) {
  std::map<std::string, Problem> found;
  EXPECT_EQ(check_rule(tensor), "");
  find_codec(tensor.layout)->verify(tensor, [&](const Problem& problem) { found[problem.rule] = problem; });
  return found;
}

TEST(McfCodec, SoundPayloadsVerify) {
  unsigned seed = 0;
  for (const Method& method : all_methods())
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 33}, Shape{2, 300}, Shape{40, 1000}}) {
      const Tensor tensor =
          coded(method.layout, shape, Blob::memory(sound_payload(geometry(method.name, shape), ++seed)));
      EXPECT_TRUE(verify_rules(tensor).empty()) << method.name << " " << shape.text();
    }
}

// Changes one byte of a valid payload and expects exactly that rule, with the offset of that byte or of the number that
// it is the last byte of.
void expect_rule(std::string_view method, const Shape& shape, std::uint64_t offset, int byte, const std::string& rule,
                 const std::string& words, Domain domain = Domain::weights) {
  Bytes payload = sound_payload(geometry(method, shape, domain), 3);
  payload.at(static_cast<std::size_t>(offset)) = static_cast<std::byte>(byte);
  const auto found = verify_rules(coded(find_method(method)->layout, shape, Blob::memory(payload), domain));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first, rule);
  const Problem& problem = found.begin()->second;
  EXPECT_NE(problem.sentence.find(words), std::string::npos) << problem.sentence;
  const std::uint64_t width = rule == "quant.scale" || rule == "quant.zero" ? (method.starts_with("int") ? 4 : 2) : 1;
  EXPECT_EQ(problem.offset, offset / width * width) << problem.sentence;
}

TEST(McfCodec, VerifyReportsEachRule) {
  const Geometry k4 = geometry("k4", {3, 300});
  // Sub-scale of row 1, block 9.
  expect_rule("k4", {3, 300}, k4.sub_scales.offset + 19, 64, "quant.sub_scale", "row 1, columns from 288");
  expect_rule("k4", {3, 300}, k4.sub_scales.offset + 19, 0x80 | 5, "quant.sub_scale", "found 0x85");
  // The upper byte of the f16 of row 1, super-block 1: 0x7C.. is an infinity or NaN.
  expect_rule("k4", {3, 300}, k4.scales.offset + 7, 0x7C, "quant.scale", "row 1, columns from 256");
  expect_rule("k4", {3, 300}, k4.scales.end(), 1, "quant.padding", "byte 12 of the payload");
  expect_rule("k4", {3, 300}, k4.codes.offset - 1, 1, "quant.padding", "byte 127 of the payload");
  // Row 2 ends with column 299; block 9 covers 288 to 319. Its 7th byte has columns 300 and 301.
  expect_rule("k4", {3, 300}, k4.codes.offset + 29 * 16 + 6, 0x10, "quant.tail", "row 2: the 20 codes");
  // Row 2, columns 30 and 31: -8 and 1.
  expect_rule("k4", {3, 300}, k4.codes.offset + 20 * 16 + 15, 0x18, "quant.code", "row 2, column 30: the code -8");
  const Geometry q8 = geometry("q8", {2, 5000});
  expect_rule("q8", {2, 5000}, q8.codes.offset + q8.row_code_bytes() + 4999, 0x80, "quant.code",
              "row 1, column 4999: the code -128");
  expect_rule("q8", {2, 5000}, q8.scales.offset + 1, 0xFE, "quant.scale", "row 0, columns from 0");
  const Geometry k3 = geometry("k3", {1, 8});
  expect_rule("k3", {1, 8}, k3.codes.offset, 0x04, "quant.code", "column 0: the code -4");
  // The 9th code of k3 begins in byte 3.
  expect_rule("k3", {1, 8}, k3.codes.offset + 3, 1, "quant.tail", "the 24 codes");
}

TEST(McfCodec, VerifyReportsTheRulesOfInt) {
  const Geometry g = geometry("int4", {3, 5});
  expect_rule("int4", {3, 5}, g.scales.offset + 3, 0xFF, "quant.scale", "finite");
  expect_rule("int4", {3, 5}, g.codes.offset + 7, 0x11, "quant.tail", "odd");
  // Element 8 is row 1, column 3.
  expect_rule("int4", {3, 5}, g.codes.offset + 4, 0x18, "quant.code", "row 1, column 3: the code -8");
  const Geometry a = geometry("int8", {3, 5}, Domain::activations);
  // 3.0f = 0x40400000; with 0x48 as the top byte it is 196608 + ..., which is not a code.
  expect_rule("int8", {3, 5}, a.zero.offset + 3, 0x48, "quant.zero", "-128 to 127", Domain::activations);
  // Activations use all codes.
  Bytes payload = sound_payload(a, 4);
  payload[a.codes.offset] = std::byte{0x80};
  EXPECT_TRUE(verify_rules(coded("mcf.int8", {3, 5}, Blob::memory(payload), Domain::activations)).empty());
}

TEST(McfCodec, CodesOfInfiniteValuesAreAWarning) {
  for (const Domain domain : {Domain::weights, Domain::activations}) {
    const Geometry g = geometry("int8", {1, 4}, domain);
    Bytes payload = sound_payload(g, 4);
    store_le<float>(payload.data() + g.scales.offset, 3e38F);
    if (domain == Domain::activations) store_le<float>(payload.data() + g.zero.offset, 1);
    const int codes[] = {0, 1, 2, -3};
    for (std::size_t i = 0; i < 4; ++i) payload[g.codes.offset + i] = static_cast<std::byte>(codes[i]);
    const auto found = verify_rules(coded("mcf.int8", {1, 4}, Blob::memory(payload), domain));
    ASSERT_EQ(found.size(), 1u);
    const Problem& problem = found.at("data.nonfinite");
    EXPECT_EQ(problem.severity, Severity::warning);
    const char* const infinite = domain == Domain::weights ? "2" : "1";
    EXPECT_EQ(problem.sentence, std::string(infinite) + " infinite among 4 values");
  }
}

TEST(McfCodec, VerifyCountsWhatItFinds) {
  const Geometry g = geometry("q4", {100, 64});
  Bytes payload = sound_payload(g, 5);
  for (std::uint64_t row = 10; row < 100; ++row) payload[g.codes.offset + row * 32] = std::byte{0x88};
  const auto found = verify_rules(coded("mcf.q4", {100, 64}, Blob::memory(payload)));
  ASSERT_EQ(found.size(), 1u);
  const Problem& problem = found.at("quant.code");
  EXPECT_NE(problem.sentence.find("row 10, column 0"), std::string::npos);
  EXPECT_NE(problem.sentence.find("180 such codes"), std::string::npos) << problem.sentence;
  EXPECT_EQ(problem.offset, g.codes.offset + 10 * 32);
}

// --- decoding in parts, from every kind of source ---

// A payload in a mapped file, in a file that is read, and in memory.
class Sources {
 public:
  explicit Sources(const Bytes& payload)
      : path_(std::filesystem::temp_directory_path() / ("tare-mcf-codec-" + std::to_string(::getpid()))) {
    std::ofstream file(path_, std::ios::binary);
    // Not at the start of a page.
    file.write("12345", 5);
    file.write(reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
    file.close();
    const SourcePtr mapped = open_file(path_.string()), read = open_file(path_.string(), Access::pread);
    blobs = {Blob::range(mapped, 5, payload.size()), Blob::range(read, 5, payload.size()), Blob::memory(payload)};
  }
  ~Sources() { std::filesystem::remove(path_); }
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  std::vector<Blob> blobs;

 private:
  std::filesystem::path path_;
};

TEST(McfCodec, AnyPartDecodesToTheSameBytes) {
  std::mt19937 random(6);
  for (const Method& method : all_methods())
    for (const Shape& shape : {Shape{1, 1}, Shape{7, 33}, Shape{3, 700}, Shape{2, 70000}}) {
      SCOPED_TRACE(std::string(method.name) + " " + shape.text());
      const Geometry g = geometry(method.name, shape);
      const Bytes payload = sound_payload(g, 7);
      std::vector<float> expected(static_cast<std::size_t>(g.elements()));
      reference_decode(rows_of(g, payload.data(), 0, g.rows), expected);
      Bytes bytes(expected.size() * 4);
      for (std::size_t i = 0; i < expected.size(); ++i) store_le<float>(&bytes[4 * i], expected[i]);

      const Sources sources(payload);
      for (const Blob& blob : sources.blobs) {
        const Tensor dense = to_dense(coded(method.layout, shape, blob));
        const Blob& data = dense.component("data")->blob;
        ASSERT_EQ(data.size(), bytes.size());
        EXPECT_EQ(data.bytes(), bytes);
        EXPECT_EQ(data.seek_granularity(), 4u);
        for (int i = 0; i < 20; ++i) {
          const std::size_t from = random() % bytes.size();
          const std::size_t count = std::min<std::size_t>(1 + random() % 5000, bytes.size() - from);
          Bytes part(count);
          data.read(from, part);
          EXPECT_EQ(std::memcmp(part.data(), &bytes[from], count), 0) << from << " " << count;
        }
        // One reader, in uneven steps, into unaligned memory.
        const auto reader = data.open(0);
        Bytes whole(bytes.size() + 1);
        for (std::size_t at = 0; at < bytes.size();) {
          const std::size_t step = std::min<std::size_t>(1 + random() % 9000, bytes.size() - at);
          reader->read(std::span(whole).subspan(1 + at, step));
          at += step;
        }
        EXPECT_EQ(std::memcmp(whole.data() + 1, bytes.data(), bytes.size()), 0);
      }
    }
}

TEST(McfCodec, AFewRowsTouchFewBytes) {
  for (const Method& method : all_methods()) {
    SCOPED_TRACE(method.name);
    const Geometry g = geometry(method.name, {4000, 1024});
    const auto source = std::make_shared<test::CountingSource>(sound_payload(g, 8));
    const Tensor tensor = coded(method.layout, {4000, 1024}, Blob::range(source, 0, source->size()));
    const std::uint64_t row_bytes = g.bytes / g.rows;
    const Tensor part = slice(to_dense(tensor), parse_slice("1000:1002"));
    source->count = 0;
    part.component("data")->blob.bytes();
    EXPECT_LE(source->count, 2 * row_bytes + 2 * 64);
    const auto rows = open_rows(tensor);
    std::vector<float> vector(1024, 1), out(3);
    source->count = 0;
    rows->dot(2000, 3, vector, out);
    EXPECT_LE(source->count, 3 * row_bytes + 2 * 64 + 8);
    source->count = 0;
    rows->dot(2000, 3, QuantizedVector(vector), out);
    EXPECT_LE(source->count, 3 * row_bytes + 2 * 64 + 8);
  }
}

TEST(McfRows, AgreeOverEveryKindOfSource) {
  for (const Method& method : all_methods())
    for (const Shape& shape : {Shape{1, 1}, Shape{9, 33}, Shape{600, 2048}, Shape{2, 3, 11}}) {
      if (shape.rank() != 2 && method.family != Family::raw) continue;
      SCOPED_TRACE(std::string(method.name) + " " + shape.text());
      const Geometry g = geometry(method.name, shape);
      const Bytes payload = sound_payload(g, 9);
      const auto columns = static_cast<std::size_t>(g.columns), count = static_cast<std::size_t>(g.rows);
      std::vector<float> vector(columns), values(count * columns), products(count), products8(count);
      std::iota(vector.begin(), vector.end(), -3.0f);
      reference_decode(rows_of(g, payload.data(), 0, g.rows), values);
      const QuantizedVector quantized(vector);
      const Sources sources(payload);
      for (const Blob& blob : sources.blobs) {
        const auto rows = open_rows(coded(method.layout, shape, blob));
        ASSERT_EQ(rows->rows(), g.rows);
        ASSERT_EQ(rows->columns(), g.columns);
        std::vector<float> found(values.size()), one(count), one8(count);
        rows->decode(0, g.rows, found);
        EXPECT_EQ(found, values);
        rows->dot(0, g.rows, vector, one);
        rows->dot(0, g.rows, quantized, one8);
        if (&blob == &sources.blobs.front()) {
          products = one, products8 = one8;
          for (std::size_t r = 0; r < count; ++r) {
            const double expected = reference_dot(row_of(rows_of(g, payload.data(), 0, g.rows), r), vector);
            double magnitude = 0;
            for (std::size_t i = 0; i < columns; ++i) magnitude += std::fabs(values[r * columns + i] * vector[i]);
            EXPECT_NEAR(one[r], expected, magnitude * 1e-5);
            // Codes of the vector are off by at most half a step, 1/254 of the largest of 32.
            EXPECT_NEAR(one8[r], expected, magnitude * 0.2 + 1e-6);
          }
        }
        EXPECT_EQ(one, products);
        EXPECT_EQ(one8, products8);
        // The same rows in two halves.
        rows->dot(0, count / 2, vector, std::span(one).first(count / 2));
        rows->dot(count / 2, count - count / 2, vector, std::span(one).subspan(count / 2));
        EXPECT_EQ(one, products);
      }
    }
}

template <class Work>
std::string rule_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.rule();
  }
  return "";
}

TEST(McfRows, ArgumentsAreChecked) {
  const Geometry g = geometry("q4", {4, 40});
  const Tensor tensor = coded("mcf.q4", {4, 40}, Blob::memory(sound_payload(g, 10)));
  const auto rows = open_rows(tensor);
  std::vector<float> vector(40), out(4), values(160);
  EXPECT_EQ(rule_of([&] { rows->dot(0, 4, vector, out); }), "");
  EXPECT_EQ(rule_of([&] { rows->dot(1, 4, vector, out); }), "rows.bounds");
  EXPECT_EQ(rule_of([&] { rows->dot(~std::uint64_t{0}, 4, vector, out); }), "rows.bounds");
  EXPECT_EQ(rule_of([&] { rows->dot(0, 3, vector, out); }), "rows.size");
  EXPECT_EQ(rule_of([&] { rows->dot(0, 4, out, out); }), "rows.size");
  EXPECT_EQ(rule_of([&] { rows->dot(0, 4, QuantizedVector(out), out); }), "rows.size");
  EXPECT_EQ(rule_of([&] { rows->decode(0, 3, values); }), "rows.size");
  EXPECT_EQ(rule_of([&] { open_rows(dense("w", {1}, DType::f32, Blob::memory(Bytes(4)))); }), "codec.no_rows");
  EXPECT_EQ(rule_of([&] { open_rows(coded("mcf.q4", {4, 41}, Blob::memory(Bytes(1)))); }), "quant.size");
}

// Values within a block's range are decoded within half a step, plus the cost of rounding the scale.
TEST(McfCodec, FastEncodingStaysWithinHalfAStep) {
  EXPECT_TRUE(rc::check("fast encoding", [] {
    const auto method = *rc::gen::element("q8", "q4", "k6", "k4", "k3", "k2");
    const auto columns = *rc::gen::inRange<std::size_t>(1, 600);
    const auto exponent = *rc::gen::inRange(-20, 10);
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    std::normal_distribution<float> normal;
    std::vector<float> row(columns);
    for (float& w : row) w = std::ldexp(normal(random), exponent);
    const Geometry g = geometry(method, {1, columns});
    Bytes payload(static_cast<std::size_t>(g.bytes));
    RC_ASSERT(!reference_encode_row(
        *g.method, row, {&payload[g.scales.offset], payload.data() + g.sub_scales.offset, &payload[g.codes.offset]}));
    const RowSpan rows = rows_of(g, payload.data(), 0, 1);
    std::vector<float> back(columns);
    reference_decode(rows, back);
    for (std::size_t i = 0; i < columns; ++i) {
      const float scale = block_scale(rows, i / kBlock);
      // The sub-scale is rounded to 1/32 of S: the largest weight may be clipped by half of that, times qmax.
      const float super = g.supers == 0 ? 0 : f16_to_f32(load_le<std::uint16_t>(rows.scales + i / kSuper * 2));
      const float cut = static_cast<float>(g.method->qmax) * (super / 64 + scale * 0x1p-10f);
      RC_ASSERT(std::fabs(back[i] - row[i]) <= scale * 0.5001f + cut);
    }
    const Tensor tensor = coded(g.method->layout, {1, columns}, Blob::memory(payload));
    RC_ASSERT(verify_rules(tensor).empty());
  }));
}

TEST(McfCodec, EveryRuleStandsOnThePage) {
  const std::filesystem::path root = std::filesystem::path(TARE_TEST_DIR) / "..";
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string page = text_of(root / "docs/quantization.md");
  std::set<std::string> rules;
  for (const auto& entry : std::filesystem::directory_iterator(root / "src/codecs/mcf")) {
    const std::string text = text_of(entry.path());
    for (std::size_t at = text.find("\"quant."); at != std::string::npos; at = text.find("\"quant.", at + 1))
      rules.insert(text.substr(at + 1, text.find('"', at + 1) - at - 1));
  }
  EXPECT_GT(rules.size(), 15u);
  for (const std::string& rule : rules) EXPECT_NE(page.find("`" + rule + "`"), std::string::npos) << rule;
}

}  // namespace
}  // namespace tare::codec::mcf
