// One scale for a whole tensor: the range that is found, its loss, and that it depends only on the weights.
#include "codecs/scale_search.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "conformance/models.hpp"
#include "produced_blob.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using Floats = std::vector<float>;

Floats gaussian(std::size_t count, unsigned seed, float mean = 0, float deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, deviation);
  Floats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Heavy tails: a Gaussian number divided by a uniform one.
Floats with_tails(std::size_t count, unsigned seed) {
  Floats values = gaussian(count, seed);
  std::mt19937 random(seed + 1);
  std::uniform_real_distribution<float> uniform(0.001F, 1);
  for (float& value : values) value /= uniform(random);
  return values;
}

Tensor matrix(const Floats& values, std::uint64_t rows = 1) { return dense("w", {rows, values.size() / rows}, values); }

struct Method {
  std::string name;
  bool range;
};
const Method kMethods[] = {{"mcf.int8", false},  {"mcf.int8", true},  {"mcf.int4", false},  {"mcf.int4", true},
                           {"alt.qint8", false}, {"alt.qint8", true}, {"alt.qint4", false}, {"alt.qint4", true}};

Tensor encoded(const Tensor& tensor, const Method& method, bool fast, unsigned threads = 2) {
  const std::string short_name = method.name.substr(4);
  return find_codec_by_method(short_name)
      ->encode(tensor, {.method = short_name, .threads = threads, .fast = fast, .range = method.range});
}

Floats decoded_values(const Tensor& tensor) { return tensor.values<float>(); }

double squared_error(const Floats& values, const Tensor& coded) {
  const Floats back = decoded_values(coded);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = static_cast<double>(values[i]) - static_cast<double>(back[i]);
    sum += error * error;
  }
  return sum;
}

double relative_rms(const Floats& values, const Tensor& coded) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squared_error(values, coded) / squares);
}

TEST(ScaleSearch, LosesFarLessOnGaussianWeights) {
  const Floats values = gaussian(1 << 18, 1);
  const Tensor weights = matrix(values, 256);
  for (const char* const name : {"mcf.int4", "alt.qint4"}) {
    EXPECT_GT(relative_rms(values, encoded(weights, {name, false}, true)), 0.18) << name;
    EXPECT_LT(relative_rms(values, encoded(weights, {name, false}, false)), 0.116) << name;
    EXPECT_LT(relative_rms(values, encoded(weights, {name, true}, false)), 0.110) << name;
  }
  for (const char* const name : {"mcf.int8", "alt.qint8"}) {
    EXPECT_GT(relative_rms(values, encoded(weights, {name, false}, true)), 0.0102) << name;
    EXPECT_LT(relative_rms(values, encoded(weights, {name, false}, false)), 0.0098) << name;
  }
}

TEST(ScaleSearch, NeverLosesMoreThanAllOfTheRange) {
  constexpr float kMost = std::numeric_limits<float>::max(), kTiny = std::numeric_limits<float>::denorm_min();
  std::vector<Floats> cases = {{0},
                               {0, 0},
                               {1},
                               {-1, 1},
                               {1, 2, 3},
                               {5, 5, 5},
                               {-5, -5},
                               {kMost, 0},
                               {kMost, kMost},
                               {kTiny, -kTiny, 0},
                               {kMost, 1},
                               {1e-38F, 1},
                               {1e-30F, -1e-30F, 2e-30F},
                               {1e30F, -3e30F, 2e29F},
                               {-3, 0, 40},
                               {100, 100.5F, 101, 101.5F}};
  for (unsigned seed = 0; seed < 40; ++seed) {
    cases.push_back(gaussian(1 + seed * seed * 7, seed));
    cases.push_back(gaussian(1 + seed * 11, seed, 5, 0.5F));
    cases.push_back(with_tails(2 + seed * 29, seed));
  }
  Floats outlier = gaussian(5000, 77);
  outlier[1234] = 1e4F;
  cases.push_back(outlier);
  Floats whole;  // codes without loss must be kept
  for (int i = -127; i <= 127; ++i) whole.push_back(static_cast<float>(i) * 0.25F);
  cases.push_back(whole);
  for (const Method& method : kMethods)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(method.name + (method.range ? " range, case " : ", case ") + std::to_string(i));
      const Tensor weights = matrix(cases[i]);
      const Tensor searched = encoded(weights, method, false);
      ASSERT_FALSE(find_codec(searched.layout)->check(searched).has_value());
      EXPECT_LE(squared_error(cases[i], searched), squared_error(cases[i], encoded(weights, method, true)));
    }
}

TEST(ScaleSearch, DependsOnNothingButTheWeights) {
  const Floats values = with_tails((1 << 21) + 12345, 5);  // three parts, the last one shorter
  const Tensor weights = matrix(values);
  Tensor front_to_back = weights;
  front_to_back.components.begin()->blob = test::produced_blob(weights.component("data")->blob.bytes(), 0);
  for (const Method& method : {Method{"mcf.int4", false}, Method{"alt.qint8", true}}) {
    const Bytes once = encoded(weights, method, false, 1).component("payload")->blob.bytes();
    for (const unsigned threads : {2U, 5U})
      EXPECT_EQ(encoded(weights, method, false, threads).component("payload")->blob.bytes(), once) << threads;
    EXPECT_EQ(encoded(front_to_back, method, false).component("payload")->blob.bytes(), once);
  }
}

TEST(ScaleSearch, TheRangeThatWasUsedIsStated) {
  const Floats values = gaussian(100000, 3);
  const Tensor weights = matrix(values, 10);
  const auto number = [](const Map& map, std::string_view key) {
    return static_cast<float>(*map.find(key)->get<double>());
  };
  const Tensor symmetric = encoded(weights, {"mcf.int4", false}, false);
  const Map stated = symmetric.complete_attributes();
  const float high = number(stated, "max_clip");
  EXPECT_EQ(number(stated, "min_clip"), -high);
  EXPECT_GT(high, 2.0F);
  EXPECT_LT(high, 3.5F) << "of weights up to 4.4";
  const Floats back = decoded_values(symmetric);
  EXPECT_FLOAT_EQ(*std::max_element(back.begin(), back.end()), high);

  const Tensor ranged = encoded(weights, {"alt.qint4", true}, false);
  const Floats values_back = decoded_values(ranged);
  EXPECT_EQ(*std::min_element(values_back.begin(), values_back.end()), number(ranged.attributes, "min"));
  EXPECT_FLOAT_EQ(*std::max_element(values_back.begin(), values_back.end()), number(ranged.attributes, "max"));
}

TEST(ScaleSearch, OutliersAreCutAsFarAsThatPays) {
  Floats values = gaussian(100000, 9);
  values[17] = 1e5F;  // keeping it costs less than clipping it
  EXPECT_EQ(decoded_values(encoded(matrix(values), {"alt.qint8", false}, false))[17], 1e5F);
  values[17] = 12;
  const Floats back = decoded_values(encoded(matrix(values), {"alt.qint4", false}, false));
  EXPECT_LT(back[17], 4);
}

TEST(ScaleSearch, HistogramsKeepTheMean) {
  ValueHistogram one, two;
  const Floats some = {1.0F, 1.0009765625F, -3, 0}, more = {1.0F, 1.5e-42F};
  one.add(some);
  two.add(more);
  one.add(two);
  double count = 0, sum = 0;
  for (const auto& bin : one.bins()) {
    count += bin.count;
    sum += bin.count * bin.value;
  }
  EXPECT_EQ(count, 6);
  EXPECT_NEAR(sum, 0.0009765625, 1e-6);
}

}  // namespace
}  // namespace tare
