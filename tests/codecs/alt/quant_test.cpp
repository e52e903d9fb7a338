// alt.qint8 and alt.qint4: codes and values compared with plain arithmetic, one element at a time.
#include <cmath>
#include <limits>
#include <random>

#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "lines.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Tensor matrix(const std::vector<float>& values, Shape shape) { return dense("w", std::move(shape), values); }

std::vector<float> gaussian(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.1F, 1);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

double parameter(const Tensor& tensor, std::string_view key) { return *tensor.attributes.find(key)->get<double>(); }

// Without a search by default, so that scales are those of the document.
Tensor encode(const Tensor& tensor, const std::string& method, bool range = false, bool fast = true) {
  return find_codec_by_method(method)->encode(tensor, {.method = method, .threads = 2, .fast = fast, .range = range});
}

std::vector<float> decoded(const Tensor& tensor) {
  EXPECT_EQ(to_dense(tensor).component("data")->dtype, DType::f32);
  return tensor.values<float>();
}

// The code of element i as a number, directly from the payload.
int code_at(const Tensor& tensor, const Bytes& payload, std::size_t i) {
  const bool range = parameter(tensor, "max") > parameter(tensor, "min");
  if (!*tensor.attributes.find("packed")->get<bool>()) {
    const auto byte = std::to_integer<unsigned>(payload[i]);
    return range ? static_cast<int>(byte) : static_cast<int>(static_cast<std::int8_t>(byte));
  }
  const auto byte = std::to_integer<unsigned>(payload[i / 2]);
  const unsigned nibble = i % 2 == 0 ? byte >> 4 : byte & 15;
  return range || nibble < 8 ? static_cast<int>(nibble) : static_cast<int>(nibble) - 16;
}

struct Row {
  std::string method;
  bool range;
  int highest;
};
const Row kRows[] = {{"qint8", false, 127}, {"qint8", true, 255}, {"qint4", false, 7}, {"qint4", true, 15}};

TEST(AltQuant, CodesAndValuesAreWhatThePageSays) {
  for (const Row& row : kRows)
    for (const std::size_t columns : {1U, 2U, 3U, 7U, 64U, 4097U})
      for (const bool fast : {true, false}) {
        SCOPED_TRACE(row.method + (row.range ? " range " : " ") + std::to_string(columns) + (fast ? "" : " searched"));
        const std::vector<float> values = gaussian(3 * columns, static_cast<unsigned>(columns));
        const Tensor coded = encode(matrix(values, {3, columns}), row.method, row.range, fast);
        ASSERT_FALSE(find_codec(coded.layout)->check(coded).has_value());
        EXPECT_EQ(dtype_name(coded), "alt." + row.method);
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        const float delta = static_cast<float>(parameter(coded, "delta"));
        const float min = static_cast<float>(parameter(coded, "min"));
        if (!fast) {
          EXPECT_GE(min, row.range ? *low : 0);
        } else if (row.range) {
          EXPECT_EQ(min, *low);
          EXPECT_EQ(parameter(coded, "max"), static_cast<double>(*high));
          EXPECT_EQ(delta, static_cast<float>((static_cast<double>(*high) - static_cast<double>(*low)) / row.highest));
        } else {
          EXPECT_EQ(delta, std::max(std::fabs(*low), std::fabs(*high)) / static_cast<float>(row.highest));
        }
        const Bytes payload = coded.component("payload")->blob.bytes();
        const std::vector<float> back = decoded(coded);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double exact =
              row.range ? (static_cast<double>(values[i]) - static_cast<double>(min)) / static_cast<double>(delta)
                        : static_cast<double>(values[i]) / static_cast<double>(delta);
          const double lowest = row.range ? 0 : -row.highest;
          const int code = static_cast<int>(std::clamp<double>(std::round(exact), lowest, row.highest));
          ASSERT_EQ(code_at(coded, payload, i), code) << i;
          volatile float product = delta * static_cast<float>(code);
          const float value = row.range ? min + product : product;
          ASSERT_EQ(back[i], value) << i;
        }
        std::vector<Problem> problems;
        find_codec(coded.layout)->verify(coded, [&](const Problem& p) { problems.push_back(p); });
        EXPECT_TRUE(problems.empty()) << problems[0].sentence;
      }
}

TEST(AltQuant, HalvesAreRoundedAwayFromZero) {
  // delta is 1, because the largest is 127.
  const Tensor coded = encode(matrix({127, 0.5F, -0.5F, 1.5F, -2.5F, 0.49F}, {2, 3}), "qint8");
  EXPECT_EQ(parameter(coded, "delta"), 1.0);
  EXPECT_EQ(decoded(coded), (std::vector<float>{127, 1, -1, 2, -3, 0}));
}

TEST(AltQuant, ZerosConstantsAndTheSmallest) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.method + (row.range ? " range" : ""));
    EXPECT_EQ(decoded(encode(matrix({0, 0, 0, 0}, {2, 2}), row.method, row.range)), (std::vector<float>{0, 0, 0, 0}));
    for (const float constant : {5.0F, -5.0F}) {
      const Tensor coded = encode(matrix({constant, constant}, {1, 2}), row.method, row.range);
      EXPECT_FALSE(find_codec(coded.layout)->check(coded).has_value());
      for (const float value : decoded(coded)) EXPECT_NEAR(value, constant, 1e-5);
    }
    const float tiny = std::numeric_limits<float>::denorm_min();
    EXPECT_EQ(decoded(encode(matrix({tiny, -tiny}, {1, 2}), row.method, row.range)), (std::vector<float>{tiny, -tiny}));
    EXPECT_TRUE(decoded(encode(matrix({}, {0, 4}), row.method, row.range)).empty());
    const float most = std::numeric_limits<float>::max();
    for (const float other : {most, 0.0F, -most / 2, most / 3, most / 7}) {
      const Tensor largest = matrix({most, other}, {1, 2});
      if (row.range && other < 0) continue;
      for (const float value : decoded(encode(largest, row.method, row.range))) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(AltQuant, AnyPartCanBeReadAlone) {
  const std::vector<float> values = gaussian(5 * 4099, 9);
  for (const Row& row : kRows) {
    const Tensor coded = encode(matrix(values, {5, 4099}), row.method, row.range);
    const Blob& payload = coded.component("payload")->blob;
    const Bytes whole = payload.bytes();
    const Tensor plain = to_dense(coded);
    const Blob& floats = plain.component("data")->blob;
    const Bytes all = floats.bytes();
    for (const std::size_t at : {0U, 1U, 7U, 4096U, 8191U, 8192U, 8193U, 10000U}) {
      Bytes part(77);
      payload.read(at, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(at))) << at;
      floats.read(at, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(at))) << at;
    }
  }
}

TEST(AltQuant, ARangeWiderThanAFloatIsRefused) {
  for (const std::string method : {"qint8", "qint4"}) {
    const Tensor wide = matrix({3e38F, -3e38F}, {1, 2});
    const auto error = error_of([&] { encode(wide, method, true); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), "qint.overflow");
    EXPECT_EQ(error->item(), "w");
    for (const float value : decoded(encode(wide, method, false))) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(AltQuant, WhatCannotBeEncodedIsRefused) {
  const auto rule = [](const Tensor& tensor) { return rule_of([&] { encode(tensor, "qint8"); }); };
  EXPECT_EQ(rule(matrix({1, std::numeric_limits<float>::quiet_NaN()}, {1, 2})), "qint.nonfinite");
  EXPECT_EQ(rule(matrix({-std::numeric_limits<float>::infinity(), 1}, {1, 2})), "qint.nonfinite");
  EXPECT_EQ(rule(make_dense("w", {2, 2}, DType::i8)), "qint.type");
  EXPECT_EQ(rule(make_csr("w")), "qint.input");
  EXPECT_EQ(rule(dense("w", {1, 1}, std::vector<double>{1e300})), "qint.overflow");
}

TEST(AltQuant, BadAttributesAndSizesAreFound) {
  const Tensor good = encode(matrix({1, 2, 3}, {1, 3}), "qint4");
  const auto rule = [&](const auto& change) {
    Tensor tensor = good;
    change(tensor);
    const auto problem = find_codec(tensor.layout)->check(tensor);
    return problem ? problem->rule : std::string();
  };
  EXPECT_EQ(rule([](Tensor&) {}), "");
  EXPECT_EQ(rule([](Tensor& t) { t.attributes.erase("delta"); }), "qint.parameters");
  EXPECT_EQ(rule([](Tensor& t) { t.attributes.set("packed", 1); }), "qint.parameters");
  EXPECT_EQ(rule([](Tensor& t) { t.attributes.set("min", "0"); }), "qint.parameters");
  EXPECT_EQ(rule([](Tensor& t) { t.attributes.set("delta", 1e300); }), "qint.parameters");
  EXPECT_EQ(rule([](Tensor& t) { t.attributes.set("min", 1.0); }), "qint.range");
  EXPECT_EQ(rule([](Tensor& t) { t.attributes.set("packed", false); }), "qint.size");
  EXPECT_EQ(rule([](Tensor& t) { t.shape = {2, 3}; }), "qint.size");
  EXPECT_EQ(rule([](Tensor& t) { t.shape = {UINT64_MAX, 2}; }), "qint.size");
  EXPECT_EQ(rule([](Tensor& t) { t.layout = "alt.qint8"; }), "qint.packed");
  EXPECT_EQ(rule([](Tensor& t) { t.components = {}; }), "qint.missing");
}

TEST(AltQuant, WhatWasLostIsReported) {
  const std::vector<float> values = gaussian(3 * 9001, 4);
  for (const Row& row : kRows)
    for (const unsigned threads : {1U, 3U}) {
      const auto report = std::make_shared<EncodeReport>();
      EncodeOptions options{.method = row.method, .threads = threads, .range = row.range};
      options.report = report;
      const Tensor coded = find_codec_by_method(row.method)->encode(matrix(values, {3, 9001}), options);
      EXPECT_FALSE(report->complete);
      Model model;
      model.tensors = {coded};
      write_bytes(*find_format("alt"), model, {.work = {.threads = threads}});
      ASSERT_TRUE(report->complete);
      EXPECT_EQ(report->elements, values.size());
      const std::vector<float> back = decoded(coded);
      double error = 0, sum = 0, largest = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double e = static_cast<double>(values[i]) - static_cast<double>(back[i]);
        error += e * e;
        sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
        largest = std::max(largest, std::fabs(e));
      }
      EXPECT_NEAR(report->squared_error, error, 1e-9 * error);
      EXPECT_NEAR(report->squared_sum, sum, 1e-9 * sum);
      EXPECT_EQ(report->max_error, largest);
    }
}

TEST(AltQuant, RanksAndTargetsAreRespected) {
  Model model;
  model.tensors = {matrix(gaussian(24, 1), {2, 3, 4}), make_dense("vector", {4}, DType::f32)};
  AdaptOptions options;
  options.quant.method = "qint8";
  const Adapted adapted = adapt(model, *find_format("alt"), options);
  EXPECT_EQ(adapted.model.tensors[0].layout, "alt.qint8");
  EXPECT_TRUE(adapted.model.tensors[1].is_dense());
  const auto error = error_of([&] { adapt(model, *find_format("alt1"), options); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "convert.quant");
  EXPECT_NE(error->sentence().find("alt can"), std::string::npos) << error->sentence();
  // A container without the codec gets floats.
  const Adapted plain = adapt(adapted.model, *find_format("alt1"), {});
  EXPECT_EQ(dtype_name(plain.model.tensors[0]), "f32");
  EXPECT_TRUE(plain.model.tensors[0].attributes.empty());
}

TEST(AltTypes, WhatAltLacksIsWidenedOrRefusedWithTheFlag) {
  const Format& alt = *find_format("alt");
  const auto adapted = [&](const Tensor& tensor, std::optional<DType> dtype = std::nullopt) {
    Model model;
    model.tensors = {tensor};
    AdaptOptions options;
    options.dtype = dtype;
    return dtype_name(adapt(model, alt, options).model.tensors[0]);
  };
  EXPECT_EQ(adapted(make_dense("w", {2}, DType::bf16)), "f32");
  EXPECT_EQ(adapted(make_dense("w", {2}, DType::bf16), DType::f16), "f16");
  for (const DType dtype : {DType::f64, DType::i64, DType::i32, DType::i8, DType::u8, DType::boolean}) {
    const auto error = error_of([&] { adapted(make_dense("the.name", {2}, dtype)); });
    ASSERT_TRUE(error.has_value()) << name_of(dtype);
    EXPECT_EQ(error->rule(), "convert.type");
    EXPECT_NE(std::string(error->what()).find("the.name"), std::string::npos);
    EXPECT_EQ(text_of(error->remedies()), "cast f32, skip the.name");
    EXPECT_EQ(adapted(make_dense("w", {2}, dtype), DType::f32), "f32") << name_of(dtype);
  }
  EXPECT_EQ(rule_of([&] { adapted(make_dense("w", {2}, DType::u8, "f8_e4m3fn")); }), "convert.type");
  EXPECT_EQ(adapted(make_dense("w", {2}, DType::u8, "f8_e4m3fn"), DType::f16), "f16");
}

}  // namespace
}  // namespace tare
