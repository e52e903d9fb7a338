// How an encoded payload is made: in pieces or from front to back, by any number of threads, from any kind of input;
// what is reported, and what is refused.
#include <limits>

#include "base/half.hpp"
#include "codecs/mcf/samples.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "lines.hpp"
#include "model/transfer.hpp"
#include "produced_blob.hpp"
#include "tare/elements.hpp"

namespace tare::codec::mcf {
namespace {

using namespace tare::testing;

Bytes written(const Tensor& tensor, Sink& sink, unsigned threads) {
  Transfer transfer(sink, {.alignment = 64, .threads = threads});
  transfer.add(tensor.component("payload")->blob);
  transfer.finish();
  sink.commit();
  return {};
}

// More than two pieces, and an odd width.
constexpr std::uint64_t kRows = 2600, kColumns = 1001;

TEST(McfEncodeStream, TheSameBytesHoweverTheyAreMade) {
  const auto values = weights(Weights::laplace, static_cast<std::size_t>(kRows * kColumns), 1);
  const Tensor tensor = matrix(values, kRows, kColumns);
  const Scratch scratch;
  for (const Method& method : all_methods())
    for (const bool fast : {true, false}) {
      if (!fast && method.name != "k4" && method.name != "q8") continue;
      const EncodeOptions options{.method = std::string(method.name), .fast = fast};
      Bytes expected;
      for (const unsigned threads : {1U, 2U, 7U}) {
        if (!kCountsMemory && threads == 2) continue;  // slow with sanitizers
        MemorySink sink;
        written(encode(tensor, options), sink, threads);
        if (expected.empty()) expected = sink.bytes();
        EXPECT_TRUE(sink.bytes() == expected) << method.name << ", " << threads << " threads";
      }
      FILE* const plain = std::fopen((scratch / "pipe").c_str(), "wb");
      written(encode(tensor, options), *descriptor_sink(fileno(plain), "pipe"), 2);
      std::fclose(plain);
      EXPECT_TRUE(get_file(scratch / "pipe") == expected) << method.name;
      if (method.family != Family::raw && fast) {
        EXPECT_TRUE(reference_payload(method, values, kRows, kColumns, true) == expected) << method.name;
      }
    }
}

TEST(McfEncodeStream, AnyOffsetCanBeOpened) {
  const auto values = weights(Weights::gaussian, std::size_t{300} * 1001, 2);
  for (const Method& method : all_methods())
    for (const bool range : {false, true}) {
      if (range && method.family != Family::raw) continue;
      const Tensor coded =
          encode(matrix(values, 300, 1001), {.method = std::string(method.name), .fast = true, .range = range});
      const Blob& blob = coded.component("payload")->blob;
      const Bytes all = blob.bytes();
      std::mt19937 random(3);
      for (int i = 0; i < 60; ++i) {
        // Near the borders of the regions, and anywhere.
        const std::uint64_t offset = i < 20 ? static_cast<std::uint64_t>(i * 7) : random() % all.size();
        Bytes part(std::min<std::size_t>(1 + random() % 70'000, all.size() - offset));
        blob.read(offset, part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(offset)))
            << method.name << " at " << offset;
      }
    }
}

TEST(McfEncodeStream, AnyFloatTypeAndAnyKindOfInput) {
  const auto values = weights(Weights::gaussian, std::size_t{90} * 777, 4);
  const Tensor f32 = matrix(values, 90, 777);
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const Tensor lazy = cast(f32, dtype);
    const Component& data = lazy.components[0];
    Tensor stored = lazy;
    stored.components[0].blob = Blob::memory(data.blob.bytes());
    Tensor front_to_back = lazy;
    front_to_back.components[0].blob = test::produced_blob(data.blob.bytes(), 0);
    Tensor by_frames = lazy;
    by_frames.components[0].blob = test::produced_blob(data.blob.bytes(), 4096);
    const Tensor same_values = cast(stored, DType::f32);
    for (const std::string_view method : {"q4", "k3", "int8"}) {
      const EncodeOptions options{.method = std::string(method)};
      const Bytes expected = payload_of(encode(same_values, options));
      for (const Tensor& tensor : {lazy, stored, front_to_back, by_frames}) {
        EXPECT_TRUE(payload_of(encode(tensor, options)) == expected) << method << " " << name_of(dtype);
        EXPECT_TRUE(streamed_payload_of(encode(tensor, options)) == expected) << method << " " << name_of(dtype);
      }
    }
  }
  Bytes codes(std::size_t{4} * 40);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i % 0x70);
  const Tensor fp8 = dense("f8", Shape{4, 40}, DType::u8, Blob::memory(codes), "f8_e4m3fn");
  EXPECT_TRUE(payload_of(encode(fp8, {.method = "q8"})) == payload_of(encode(cast(fp8, DType::f32), {.method = "q8"})));
}

std::string clips(const Tensor& tensor) { return to_json(tensor.complete_attributes()); }

TEST(McfEncodeStream, AttributesComeFromTheData) {
  std::vector<float> values(std::size_t{3} * 70, 0.25f);
  values[100] = -1.5f;
  values[200] = 0.75f;
  const Tensor tensor = matrix(values, 3, 70);
  for (const std::string_view method : {"k4", "q8", "int8"}) {
    const std::string expected = R"({"domain":"weights","min_clip":-1.5,"max_clip":1.5})";
    const Tensor before = encode(tensor, {.method = std::string(method)});
    EXPECT_EQ(clips(before), expected);
    payload_of(before);
    EXPECT_EQ(clips(before), expected);
    const Tensor after = encode(tensor, {.method = std::string(method)});
    streamed_payload_of(after);
    EXPECT_EQ(clips(after), expected);
    EXPECT_EQ(to_json(after.attributes), R"({"domain":"weights"})");
    const Tensor cut = encode(tensor, {.method = std::string(method), .clip = std::pair(-0.5f, 0.625f)});
    EXPECT_EQ(to_json(cut.attributes), R"({"domain":"weights","min_clip":-0.5,"max_clip":0.625})");
    EXPECT_EQ(clips(cut), to_json(cut.attributes));
    const auto geometry = *geometry_of(*find_method(method), Domain::weights, tensor.shape);
    const auto back = decoded(geometry, payload_of(cut));
    EXPECT_NEAR(back[100], -0.5, 0.05);
    EXPECT_NEAR(back[200], 0.625, 0.05);
  }
  EXPECT_EQ(clips(encode(tensor, {.method = "int4", .fast = true, .range = true})),
            R"({"domain":"activations","min_clip":-1.5,"max_clip":0.75})");
}

// An input that counts how often it is read.
TEST(McfEncodeStream, OnePassOverTheInputForPayloadAndAttributes) {
  class Counting final : public BlobProducer {
   public:
    void verify() const override {}  // has no source
    Counting(Bytes bytes, std::atomic<std::uint64_t>& read) : bytes_(std::move(bytes)), read_(read) {}
    std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
      struct Reader final : BlobReader {
        Reader(std::unique_ptr<BlobReader> r, std::atomic<std::uint64_t>& c) : reader(std::move(r)), count(c) {}
        std::unique_ptr<BlobReader> reader;
        std::atomic<std::uint64_t>& count;
        void read(std::span<std::byte> out) override {
          count += out.size();
          reader->read(out);
        }
      };
      return std::make_unique<Reader>(test::BytesProducer(bytes_, 4).open(offset), read_);
    }
    std::uint64_t seek_granularity() const override { return 4; }

   private:
    Bytes bytes_;
    std::atomic<std::uint64_t>& read_;
  };
  const auto values = weights(Weights::gaussian, std::size_t{1024} * 2048, 5);
  Tensor tensor = matrix(values, 1024, 2048);
  const Bytes bytes = tensor.components[0].blob.bytes();
  std::atomic<std::uint64_t> read = 0;
  tensor.components[0].blob = Blob::produced(bytes.size(), std::make_shared<Counting>(bytes, read));
  const Tensor coded = encode(tensor, {.method = "k4", .fast = true, .report = std::make_shared<EncodeReport>()});
  EXPECT_EQ(read, 0U);
  MemorySink sink;
  written(coded, sink, 2);
  clips(coded);
  // Each piece may read a little ahead.
  EXPECT_GE(read, bytes.size());
  EXPECT_LE(read, bytes.size() + coded.component("payload")->blob.pieces() * (256U << 10));
}

// Discards everything.
class NullSink final : public Sink {
 public:
  const std::string& name() const override { return name_; }
  bool positional() const override { return true; }
  void commit() override {}

 protected:
  void do_write(std::uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {}
  void do_skip(std::uint64_t /*new_end*/) override {}

 private:
  std::string name_ = "nowhere";
};

TEST(McfEncodeStream, MemoryDoesNotGrowWithTheTensor) {
  if (!kCountsMemory) GTEST_SKIP() << "memory is not counted under a sanitizer";
  class Endless final : public BlobProducer {
   public:
    void verify() const override {}  // has no source
    explicit Endless(std::uint64_t step) : step_(step) {}
    std::unique_ptr<BlobReader> open(std::uint64_t /*offset*/) const override {
      struct Reader final : BlobReader {
        void read(std::span<std::byte> out) override { std::fill(out.begin(), out.end(), std::byte{0x3C}); }
      };
      return std::make_unique<Reader>();
    }
    std::uint64_t seek_granularity() const override { return step_; }

   private:
    std::uint64_t step_;
  };
  const std::uint64_t rows = 4096, columns = 8192;  // 64 MiB of bf16
  for (const std::uint64_t step : {0U, 2U, 4U << 20})
    for (const Method& method : all_methods()) {
      const Tensor tensor = dense("w", Shape{rows, columns}, DType::bf16,
                                  Blob::produced(rows * columns * 2, std::make_shared<Endless>(step)));
      const std::size_t most = peak_during([&] {
        NullSink sink;
        written(encode(tensor, {.method = std::string(method.name), .fast = true}), sink, 2);
      });
      EXPECT_LT(most, std::size_t{6} << 20) << method.name << " " << step;
    }
}

TEST(McfEncodeStream, TheReportSaysWhatWasLost) {
  for (const Method& method : all_methods())
    for (const bool streamed : {false, true}) {
      auto values = weights(Weights::gaussian, std::size_t{300} * 333, 6);
      values[std::size_t{123} * 333 + 70] = 3;  // gives its block the largest error
      const auto report = std::make_shared<EncodeReport>();
      const Tensor coded =
          encode(matrix(values, 300, 333), {.method = std::string(method.name), .fast = true, .report = report});
      const Bytes payload = streamed ? streamed_payload_of(coded) : payload_of(coded);
      const auto back = decoded(*geometry_of(method, Domain::weights, coded.shape), payload);
      double sum = 0, error = 0, most = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double e = static_cast<double>(values[i]) - back[i];
        sum += static_cast<double>(values[i]) * values[i];
        error += e * e;
        most = std::max(most, std::fabs(e));
      }
      EXPECT_TRUE(report->complete);
      EXPECT_EQ(report->elements, values.size());
      EXPECT_NEAR(report->squared_sum / sum, 1, 1e-5) << method.name;
      EXPECT_NEAR(report->squared_error / error, 1, 1e-5) << method.name;
      EXPECT_NEAR(report->max_error / most, 1, 1e-5) << method.name;
      if (method.family == Family::raw) continue;
      double here = 0, worst = 0;
      std::size_t worst_block = 0, block = 0;
      for (std::size_t i = 0; i <= values.size(); ++i) {
        if (i == values.size() || i % 333 % 32 == 0) {
          if (here > worst) worst_block = block;
          worst = std::max(worst, here);
          block = i;
          here = 0;
        }
        if (i < values.size())
          here += (static_cast<double>(values[i]) - back[i]) * (static_cast<double>(values[i]) - back[i]);
      }
      EXPECT_EQ(report->worst_block, worst_block) << method.name;
      EXPECT_NEAR(report->worst_block_error / worst, 1, 1e-5) << method.name;
    }
}

// The report on `values` for a method, and the same figures computed by decoding.
struct ReportAndDecoded {
  EncodeReport report;
  double squared_sum = 0, squared_error = 0;
};
ReportAndDecoded report_and_decoded(const std::vector<float>& values, const Method& method,
                                    std::optional<std::pair<float, float>> clip = std::nullopt) {
  const auto report = std::make_shared<EncodeReport>();
  const Tensor coded =
      encode(matrix(values, 1, values.size()), {.method = std::string(method.name), .clip = clip, .report = report});
  const auto back = decoded(*geometry_of(method, Domain::weights, coded.shape), payload_of(coded));
  ReportAndDecoded told{*report};
  for (std::size_t i = 0; i < values.size(); ++i) {
    told.squared_sum += std::pow(static_cast<double>(values[i]), 2);
    told.squared_error += std::pow(static_cast<double>(values[i]) - back[i], 2);
  }
  return told;
}

// Squares of these overflow or underflow f32.
TEST(McfEncodeStream, TheReportHoldsForTheSmallestAndTheLargestWeights) {
  for (const float magnitude : {1e-45f, 1e-25f, 1e-15f, 1e-4f, 1e4f, 1e20f, 1e38f})
    for (const Method& method : all_methods()) {
      if (magnitude > 1e4f && method.family != Family::raw) continue;  // exceeds their scales
      auto values = weights(Weights::gaussian, 100, 6);
      for (float& w : values) w = std::clamp(w * 10, -2.0f, 2.0f) * magnitude;
      const ReportAndDecoded told = report_and_decoded(values, method);
      EXPECT_NEAR(told.report.squared_sum / told.squared_sum, 1, 1e-5) << method.name << ", " << magnitude;
      EXPECT_NEAR(told.report.squared_error / told.squared_error, 1, 1e-4) << method.name << ", " << magnitude;
    }
}

TEST(McfEncodeStream, TheReportIsAgainstTheWeightsBeforeTheClip) {
  const auto values = weights(Weights::gaussian, 1000, 6);
  for (const Method& method : all_methods())
    // The second range does not contain 0, which is the padding after the end of a row.
    for (const auto& clip : {std::pair(-0.01f, 0.02f), {0.01f, 0.02f}}) {
      const ReportAndDecoded told = report_and_decoded(values, method, clip);
      EXPECT_GT(told.squared_error, 0.05 * told.squared_sum);
      EXPECT_NEAR(told.report.squared_sum / told.squared_sum, 1, 1e-5) << method.name;
      EXPECT_NEAR(told.report.squared_error / told.squared_error, 1, 1e-4) << method.name;
    }
}

TEST(McfEncodeStream, EmptyTensors) {
  for (const Method& method : all_methods())
    for (const Shape& shape : {Shape{0, 32}, Shape{5, 0}}) {
      const auto report = std::make_shared<EncodeReport>();
      const Tensor coded = encode(dense("w", shape, DType::f32, Blob::memory({})),
                                  {.method = std::string(method.name), .report = report});
      EXPECT_EQ(coded.bytes(), 0U);
      EXPECT_TRUE(report->complete);
    }
}

TEST(McfEncodeStream, WeightsThatCannotBeCodedAreNamed) {
  for (const Method& method : all_methods())
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()})
      for (const bool clip : {false, true}) {
        auto values = weights(Weights::gaussian, std::size_t{200} * 500, 7);
        values[std::size_t{150} * 500 + 321] = bad;
        EncodeOptions options{.method = std::string(method.name)};
        if (clip) options.clip = {-1, 1};
        const Tensor tensor = matrix(values, 200, 500, "blk.3");
        const auto error = error_of([&] { payload_of(encode(tensor, options)); });
        ASSERT_TRUE(error) << method.name;
        EXPECT_EQ(error->rule(), "quant.nonfinite");
        EXPECT_EQ(error->item(), "blk.3");
        EXPECT_NE(error->sentence().find("[150, 321]"), std::string::npos) << error->sentence();
        EXPECT_EQ(rule_of([&] { streamed_payload_of(encode(tensor, options)); }), "quant.nonfinite");
      }
}

// A finite f64 beyond f32 is reported as such, and can be clipped.
TEST(McfEncodeStream, WeightsOutsideF32CanBeClipped) {
  std::vector<double> values(64, 0.5);
  values[40] = -1e300;
  const Tensor tensor = dense("w", Shape{2, 32}, values);
  for (const Method& method : all_methods()) {
    EncodeOptions options{.method = std::string(method.name)};
    const auto error = error_of([&] { payload_of(encode(tensor, options)); });
    ASSERT_TRUE(error) << method.name;
    EXPECT_NE(error->sentence().find("element [1, 8] is -1e+300, outside f32"), std::string::npos) << error->what();
    options.clip = {-1, 1};
    const Tensor coded = encode(tensor, options);
    const auto back = decoded(*geometry_of(method, Domain::weights, coded.shape), payload_of(coded));
    EXPECT_LT(back[40], -0.5f) << method.name;
  }
}

TEST(McfEncodeStream, ScalesBeyondF16AreNamed) {
  for (const Method& method : all_methods()) {
    if (method.family == Family::raw) continue;
    for (const bool fast : {true, false}) {
      std::vector<float> values(std::size_t{3} * 600, 1.0f);
      // The largest value that rounds to 65504, and the smallest that does not.
      values[600 + 400] = 65519.0f * static_cast<float>(method.qmax);
      const EncodeOptions options{.method = std::string(method.name), .fast = fast};
      EXPECT_EQ(rule_of([&] { payload_of(encode(matrix(values, 3, 600), options)); }), "") << method.name;
      values[600 + 400] = 65521.0f * static_cast<float>(method.qmax);
      const auto error = error_of([&] { payload_of(encode(matrix(values, 3, 600, "big"), options)); });
      ASSERT_TRUE(error) << method.name;
      EXPECT_EQ(error->rule(), "quant.overflow");
      EXPECT_EQ(error->item(), "big");
      EXPECT_NE(error->sentence().find("row 1, column 400: a weight of "), std::string::npos) << error->sentence();
      EXPECT_EQ(text_of(error->remedies()), "clip, use_method int8, keep");
      EXPECT_EQ(error->subject(), Subject::input);
    }
  }
}

TEST(McfEncodeStream, WhatMakesNoSenseIsRefused) {
  const Tensor tensor = matrix(std::vector<float>(64, 1.0f), 2, 32);
  const auto rule = [&](const Tensor& from, const EncodeOptions& options) {
    return rule_of([&] { encode(from, options); });
  };
  EXPECT_EQ(rule(tensor, {.method = "q6"}), "quant.method");
  EXPECT_EQ(rule(tensor, {.method = "q8", .range = true}), "quant.domain");
  EXPECT_EQ(rule(tensor, {.method = "k4", .clip = std::pair(1.0f, -1.0f)}), "quant.clip");
  EXPECT_EQ(rule(tensor, {.method = "k4", .clip = std::pair(-1.0f, std::numeric_limits<float>::infinity())}),
            "quant.clip");
  EXPECT_EQ(rule(tensor, {.method = "k4", .importance = std::vector<float>(31, 1.0f)}), "quant.importance");
  EXPECT_EQ(rule(tensor, {.method = "k4", .importance = std::vector<float>(32, -1.0f)}), "quant.importance");
  EXPECT_EQ(rule(dense("i", Shape{2, 2}, DType::i32, Blob::memory(Bytes(16))), {.method = "k4"}), "quant.input");
  EXPECT_EQ(rule(dense("short", Shape{2, 2}, DType::f32, Blob::memory(Bytes(12))), {.method = "k4"}), "quant.input");
  EXPECT_EQ(rule(make_csr("s"), {.method = "k4"}), "quant.input");
  EXPECT_EQ(rule(dense("cube", Shape{2, 2, 2}, DType::f32, Blob::memory(Bytes(32))), {.method = "k4"}), "quant.rank");
  EXPECT_EQ(rule(dense("cube", Shape{2, 2, 2}, DType::f32, Blob::memory(Bytes(32))), {.method = "int4"}), "");
}

}  // namespace
}  // namespace tare::codec::mcf
