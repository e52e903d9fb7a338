// Encoding with MCF's methods: the fast kernels compared with the scalar reference on every SIMD target, the promises
// of the search, and how the payload is made.
#include "codecs/mcf/encode.hpp"

#include <limits>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/mcf/encode_search.hpp"
#include "codecs/mcf/samples.hpp"
#include "conformance/models.hpp"
#include "model/transfer.hpp"
#include "produced_blob.hpp"
#include "simd_targets.hpp"
#include "tare/elements.hpp"

namespace tare::codec::mcf {
namespace {

using namespace tare::testing;

constexpr std::uint64_t kWidths[] = {1, 31, 32, 33, 64, 255, 256, 257, 300, 544, 1024};

std::vector<const Method*> block_methods() {
  std::vector<const Method*> methods;
  for (const Method& method : all_methods())
    if (method.family != Family::raw) methods.push_back(&method);
  return methods;
}

EncodeOptions by(const Method& method, bool fast = false) { return {.method = std::string(method.name), .fast = fast}; }

std::vector<float> importance_for(std::uint64_t columns) {
  std::vector<float> importance = weights(Weights::laplace, static_cast<std::size_t>(columns), 77);
  for (std::size_t i = 0; i < importance.size(); ++i) {
    importance[i] = std::fabs(importance[i]);
    if (i / 32 % 5 == 1) importance[i] = 0;
    if (i / 32 % 5 == 2) importance[i] *= 1e-30f;
  }
  importance[0] = 1;  // the largest, so that it is used unscaled
  return importance;
}

TEST(McfEncode, EverySimdTargetChoosesWhatTheReferenceChooses) {
  for (const Method* const method : block_methods())
    for (const std::uint64_t columns : kWidths)
      for (const int mode : {0, 1, 2}) {
        const std::uint64_t rows = columns < 100 ? 40 : 9;
        const auto values = weights(Weights::odd, static_cast<std::size_t>(rows * columns), 5);
        EncodeOptions options = by(*method, mode == 0);
        if (mode == 2) options.importance = importance_for(columns);
        const Bytes expected = reference_payload(*method, values, rows, columns, mode == 0, options.importance);
        for_each_simd_target([&] {
          EXPECT_TRUE(payload_of(encode(matrix(values, rows, columns), options)) == expected)
              << method->name << ", " << columns << " columns, mode " << mode;
        });
      }
}

// Weights so small that some super-scales cannot be normal f16 numbers and others can.
TEST(McfEncode, EverySimdTargetChoosesTheSameAmongSmallScales) {
  for (const std::string_view name : {"k6", "k4", "k3", "k2"})
    for (const bool weighted : {false, true}) {
      const Method& method = *find_method(name);
      const std::uint64_t rows = 24, columns = 544;
      auto values = weights(Weights::gaussian, static_cast<std::size_t>(rows * columns), 15);
      float absmax = 0;
      for (const float w : values) absmax = std::max(absmax, std::fabs(w));
      // From twice what keeps the super-scale of `fast` normal down to an eighth of it.
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] *=
            0x1p-13f * static_cast<float>(method.qmax) / absmax * std::exp2(-static_cast<float>(i / columns) / 6);
      EncodeOptions options = by(method);
      if (weighted) options.importance = importance_for(columns);
      const Bytes expected = reference_payload(method, values, rows, columns, false, options.importance);
      for_each_simd_target([&] {
        EXPECT_TRUE(payload_of(encode(matrix(values, rows, columns), options)) == expected) << name << weighted;
      });
    }
}

TEST(McfEncode, RawMethodsOnEverySimdTarget) {
  for (const std::string_view name : {"int8", "int4"})
    for (const bool range : {false, true})
      for (const std::size_t count : {1u, 31u, 2049u, 4097u}) {
        const Method& method = *find_method(name);
        auto values = weights(Weights::gaussian, count, 3);
        for (float& w : values) w += 0.03f;
        const Tensor tensor = dense("x", Shape{count}, DType::f32, matrix(values, 1, count).components[0].blob);
        const Domain domain = range ? Domain::activations : Domain::weights;
        const Geometry geometry = *geometry_of(method, domain, tensor.shape);
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const ScaleZero parameters = scale_zero(method, domain, *least, *most);
        Bytes expected(static_cast<std::size_t>(geometry.bytes));
        store_le<float>(&expected[geometry.scales.offset], parameters.scale);
        if (range) store_le<float>(&expected[geometry.zero.offset], parameters.zero);
        reference_encode_raw(method, domain, parameters, values, &expected[geometry.codes.offset], 0);
        for_each_simd_target([&] {
          const Tensor coded = encode(tensor, {.method = std::string(name), .fast = true, .range = range});
          EXPECT_TRUE(payload_of(coded) == expected) << name << " " << range << " " << count;
          EXPECT_TRUE(streamed_payload_of(coded) == expected) << name << " " << range << " " << count;
        });
        // Zero has a code, and the error of a value is at most half a step. With a range, Z is rounded, too.
        const auto back = decoded(geometry, expected);
        for (std::size_t i = 0; i < count; ++i)
          EXPECT_LE(std::fabs(back[i] - values[i]), parameters.scale * (range ? 1.001f : 0.501f));
        EXPECT_EQ(parameters.zero, std::rint(parameters.zero));
      }
}

// The largest S may be rounded up, and the ends of a range may be off by half a step; still no code may decode to
// infinity.
TEST(McfEncode, RawMethodsHoldTheLargestFloats) {
  const float most = std::numeric_limits<float>::max();
  for (const std::string_view name : {"int8", "int4"})
    for (const bool range : {false, true})
      for (const auto& [low, high] :
           {std::pair(-most, most), {-most, 0.0f}, {0.0f, most}, {-3.4e38f, 3.3e38f}, {1.0f, most}}) {
        std::vector<float> values;
        for (int i = 0; i <= 40; ++i)
          values.push_back(low * (1 - static_cast<float>(i) / 40) + high * (static_cast<float>(i) / 40));
        const Method& method = *find_method(name);
        const Geometry geometry =
            *geometry_of(method, range ? Domain::activations : Domain::weights, Shape{1, values.size()});
        for_each_simd_target([&] {
          EncodeOptions options{.method = std::string(name), .range = range};
          options.report = std::make_shared<EncodeReport>();
          const auto back = decoded(geometry, payload_of(encode(matrix(values, 1, values.size()), options)));
          const float step = most / static_cast<float>(method.qmax);
          for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_LE(std::fabs(static_cast<double>(back[i]) - values[i]), step) << name << range << ": " << values[i];
          EXPECT_TRUE(std::isfinite(options.report->squared_error));
          EXPECT_LT(options.report->squared_error, options.report->squared_sum);
        });
      }
}

TEST(McfEncode, RawTensorOfOneValueOrOfZeros) {
  for (const float value : {0.0f, -2.0f, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}) {
    const std::vector<float> values(70, value);
    for (const bool range : {false, true}) {
      const Tensor coded = encode(matrix(values, 7, 10), {.method = "int4", .range = range});
      const auto geometry =
          *geometry_of(*find_method("int4"), range ? Domain::activations : Domain::weights, coded.shape);
      for (const float back : decoded(geometry, payload_of(coded)))
        EXPECT_LE(std::fabs(back - value), std::fabs(value) * (std::fabs(value) < 1e-38f ? 1.0f : 1e-6f)) << value;
    }
  }
}

// Squared errors in f64 of every run of `group` columns in each row.
std::vector<double> errors_of(std::span<const float> values, std::span<const float> back, std::uint64_t columns,
                              std::uint64_t group, std::span<const float> importance = {}) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t column = i % columns;
    if (column % group == 0) errors.push_back(0);
    const double e = static_cast<double>(values[i]) - back[i];
    errors.back() += e * e * (importance.empty() ? 1.0 : importance[static_cast<std::size_t>(column)]);
  }
  return errors;
}

TEST(McfEncode, SearchNeverLosesMoreThanFast) {
  for (const Method* const method : block_methods())
    for (const Weights kind : {Weights::gaussian, Weights::laplace, Weights::odd})
      for (const std::uint64_t columns : {std::uint64_t{256}, std::uint64_t{1000}})
        for (const bool weighted : {false, true}) {
          const std::uint64_t rows = 40;
          const auto values = weights(kind, static_cast<std::size_t>(rows * columns), 6);
          EncodeOptions searched = by(*method);
          if (weighted) searched.importance = importance_for(columns);
          const Tensor tensor = matrix(values, rows, columns);
          const Geometry geometry = *geometry_of(*method, Domain::weights, tensor.shape);
          const std::uint64_t group = method->family == Family::block ? kBlock : kSuper;
          const auto losses = [&](const EncodeOptions& options) {
            return errors_of(values, decoded(geometry, payload_of(encode(tensor, options))), columns, group,
                             searched.importance);
          };
          const Bytes fast_payload = payload_of(encode(tensor, by(*method, true)));
          const auto fast = losses(by(*method, true)), best = losses(searched);
          ASSERT_EQ(fast.size(), best.size());
          std::size_t better = 0;
          for (std::size_t i = 0; i < fast.size(); ++i) {
            // A normal super-scale may cost a little if that of `fast` is subnormal.
            const bool super = method->family == Family::super;
            const auto bits = load_le<std::uint16_t>(&fast_payload[2 * i]);
            EXPECT_LE(best[i], fast[i] * (super && !is_normal_f16(bits) ? 1.0202 : 1))
                << method->name << ", block " << i;
            better += best[i] < fast[i] ? 1 : 0;
          }
          EXPECT_GT(better, fast.size() / (kind == Weights::odd ? 6 : 2)) << method->name;
        }
}

// Below f16's normal numbers, `fast` rounds scales up, which sometimes loses more than the nearest f16 would. The
// search tries that one, too.
TEST(McfEncode, SearchOfSubnormalScalesNeverLosesMoreThanTheNearest) {
  for (const std::string_view name : {"q8", "q4"}) {
    const Method& method = *find_method(name);
    const std::uint64_t rows = 200, columns = 32;
    auto values = weights(Weights::gaussian, static_cast<std::size_t>(rows * columns), 11);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] *= static_cast<float>(method.qmax) * std::ldexp(1.0f, -14 - static_cast<int>(i / columns % 9));
    const Geometry geometry = *geometry_of(method, Domain::weights, Shape{rows, columns});
    const auto back = decoded(geometry, payload_of(encode(matrix(values, rows, columns), by(method))));
    const auto searched = errors_of(values, back, columns, columns);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto row = std::span(values).subspan(r * columns, columns);
      float absmax = 0;
      for (const float w : row) absmax = std::max(absmax, std::fabs(w));
      const auto qmax = static_cast<float>(method.qmax);
      const float nearest = f16_to_f32(f32_to_f16(absmax / qmax));
      double error = 0;
      for (const float w : row) {
        const float q = nearest > 0 ? std::clamp(std::rint(w / nearest), -qmax, qmax) : 0;
        error += std::pow(static_cast<double>(w) - static_cast<double>(nearest * q), 2);
      }
      EXPECT_LE(searched[r], error * 1.0001) << name << ", row " << r;
    }
  }
}

// Some programs read subnormal f16 numbers as 0. If super-scales would be subnormal, the search takes normal ones if
// they cost at most 1 % of the rms error, and the report counts the others.
TEST(McfEncode, SuperScalesStayNormalWhereThatCostsLittle) {
  struct Band {
    std::string_view method;
    float deviation;
    double share;  // upper bound for the share of scales that are not normal
  };
  for (const Band& band : {Band{"k6", 0.001f, 0.05},
                           {"k6", 0.0007f, 0.6},
                           {"k4", 0.0003f, 0.0},
                           {"k4", 0.0002f, 0.05},
                           {"k3", 0.0001f, 0.0}}) {
    const Method& method = *find_method(band.method);
    const std::uint64_t rows = 64, columns = 4096;
    auto values = weights(Weights::gaussian, static_cast<std::size_t>(rows * columns), 21);
    double sum = 0;
    for (const float w : values) sum += static_cast<double>(w) * w;
    const double deviation = std::sqrt(sum / static_cast<double>(values.size()));
    for (float& w : values) w *= band.deviation / static_cast<float>(deviation);
    auto large = values;  // the same weights, scaled so that no scale is small
    for (float& w : large) w *= 1024;
    const auto report = [&](const std::vector<float>& of, bool fast) {
      EncodeOptions options = by(method, fast);
      options.report = std::make_shared<EncodeReport>();
      payload_of(encode(matrix(of, rows, columns), options));
      return *options.report;
    };
    const EncodeReport small = report(values, false), best = report(large, false);
    EXPECT_EQ(small.scales, rows * columns / kSuper);
    EXPECT_EQ(best.subnormal_scales, 0U);
    EXPECT_LE(static_cast<double>(small.subnormal_scales), band.share * static_cast<double>(small.scales))
        << band.method << " " << band.deviation;
    const double rms = std::sqrt(small.squared_error / small.squared_sum);
    EXPECT_LE(rms, std::sqrt(best.squared_error / best.squared_sum) * 1.011) << band.method << " " << band.deviation;
  }
}

TEST(McfEncode, TheReportCountsSubnormalScalesOfEveryMethod) {
  for (const Method* const method : block_methods())
    for (const bool fast : {false, true}) {
      const std::uint64_t rows = 3, columns = 300;
      auto values = weights(Weights::gaussian, static_cast<std::size_t>(rows * columns), 4);
      for (float& w : values) w *= 1e-6f;
      std::fill_n(values.begin(), columns, 0.0f);  // a row of zeros has scales of 0
      EncodeOptions options = by(*method, fast);
      options.report = std::make_shared<EncodeReport>();
      payload_of(encode(matrix(values, rows, columns), options));
      const std::uint64_t in_row = method->family == Family::super ? 2 : 10;
      EXPECT_EQ(options.report->scales, rows * in_row) << method->name;
      EXPECT_EQ(options.report->subnormal_scales, (rows - 1) * in_row) << method->name;
    }
}

TEST(McfEncode, SearchReachesTheErrorsAskedFor) {
  struct Goal {
    std::string_view method;
    double gaussian, laplace;
  };
  constexpr Goal kGoals[] = {{"q8", 0.88, 0.90},   {"q4", 0.938, 0.952}, {"k6", 0.925, 0.94},
                             {"k4", 0.938, 0.952}, {"k3", 0.863, 0.882}, {"k2", 0.645, 0.735}};
  for (const Goal& goal : kGoals)
    for (const Weights kind : {Weights::gaussian, Weights::laplace}) {
      const std::uint64_t rows = 64, columns = 4096;
      const auto values = weights(kind, static_cast<std::size_t>(rows * columns), 8);
      const Tensor tensor = matrix(values, rows, columns);
      const auto loss = [&](bool fast) {
        EncodeOptions options = by(*find_method(goal.method), fast);
        options.report = std::make_shared<EncodeReport>();
        payload_of(encode(tensor, options));
        EXPECT_TRUE(options.report->complete);
        return options.report->squared_error;
      };
      EXPECT_LE(std::sqrt(loss(false) / loss(true)), kind == Weights::gaussian ? goal.gaussian : goal.laplace)
          << goal.method;
    }
}

// Importance lowers the error of important weights.
TEST(McfEncode, ImportanceLowersTheWeightedError) {
  const std::uint64_t rows = 32, columns = 1024;
  const auto values = weights(Weights::gaussian, static_cast<std::size_t>(rows * columns), 9);
  std::vector<float> importance(columns);
  for (std::size_t i = 0; i < columns; ++i) importance[i] = i % 4 == 0 ? 300.0f : 3.0f;
  for (const Method* const method : block_methods()) {
    const Geometry geometry = *geometry_of(*method, Domain::weights, Shape{rows, columns});
    const auto weighted_error = [&](bool with) {
      EncodeOptions options = by(*method);
      if (with) options.importance = importance;
      const auto back = decoded(geometry, payload_of(encode(matrix(values, rows, columns), options)));
      double sum = 0;
      for (const double e : errors_of(values, back, columns, 32, importance)) sum += e;
      return sum;
    };
    EXPECT_LT(weighted_error(true), 0.99 * weighted_error(false)) << method->name;
  }
}

// The bound is half a step of the block for q*; for k* and the search, the sub-scale and clipping add to it, but zeros
// stay zeros and signs stay signs.
TEST(McfEncode, ValuesComeBackWithinTheBound) {
  for (const Method* const method : block_methods())
    for (const bool fast : {true, false}) {
      const std::uint64_t rows = 20, columns = 300;
      const auto values = weights(Weights::gaussian, static_cast<std::size_t>(rows * columns), 10);
      const Geometry geometry = *geometry_of(*method, Domain::weights, Shape{rows, columns});
      const auto back = decoded(geometry, payload_of(encode(matrix(values, rows, columns), by(*method, fast))));
      for (std::size_t i = 0; i < values.size(); ++i) {
        float absmax = 0;
        const std::size_t row = i / columns * columns, first = row + (i - row) / 32 * 32;
        for (std::size_t j = first; j < std::min<std::size_t>(first + 32, row + columns); ++j)
          absmax = std::max(absmax, std::fabs(values[j]));
        const float step = absmax / static_cast<float>(method->qmax);
        const bool plain = fast && method->family == Family::block;
        EXPECT_LE(std::fabs(values[i] - back[i]), plain ? 0.501f * step + absmax * 0.0006f : 0.75f * absmax);
        EXPECT_GE(values[i] * back[i], 0);
      }
    }
}

}  // namespace
}  // namespace tare::codec::mcf
