// Differences between two models.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "conformance/memory.hpp"
#include "conformance/scratch.hpp"
#include "counting_source.hpp"
#include "inspect/models.hpp"
#include "lines.hpp"

namespace tare {
namespace {

using namespace tare::test;
using testing::Lines, testing::lines_of;

Difference diff_of(Tensor a, Tensor b, unsigned threads = 0) {
  return diff(model_of(std::move(a)), model_of(std::move(b)), {.threads = threads});
}

TensorDifference only_difference(const Difference& difference) {
  EXPECT_EQ(difference.tensors.size(), 1u);
  return difference.tensors.empty() ? TensorDifference{} : difference.tensors.front();
}

// A picture reads a few elements at each of many places.
TEST(InspectDiff, AFewElementsOfADifferenceReadAFewOfTheTensors) {
  constexpr std::uint64_t kCount = 100'000;
  for (const DType type : {DType::f16, DType::i64}) {
    const auto source = std::make_shared<CountingSource>(Bytes(kCount * size_of(type)));
    const Tensor tensor = dense("t", {kCount}, type, Blob::range(source, 0, source->size()));
    const Blob blob = difference(tensor, tensor).component("data")->blob;
    Bytes part(24);
    for (std::uint64_t i = 0; i < 1000; ++i) blob.read(8 * (i * 97), part);
    EXPECT_LE(source->count, 1000 * 2 * 8 * size_of(type)) << name_of(type);
    source->count = 0;
    std::vector<double> values(kCount);
    decode_elements(DType::f64, "", blob.bytes(), values);
    EXPECT_EQ(values, std::vector<double>(kCount)) << "0 or -0";
    EXPECT_EQ(source->count, 2 * source->size());
  }
}

TEST(InspectDiff, EqualModelsAreTheSame) {
  Model model = model_of(vector_of<float>("t", DType::f32, {1, NAN, 3}));
  model.tensors.push_back(tensor_of<float>("empty", {0}, DType::f32, {}));
  model.tensors.push_back(csr("s", {2, 3}, {1.5f, -2.0f}, {0, 2}, {0, 1, 2}));
  model.metadata.set("nan", std::numeric_limits<double>::quiet_NaN());
  const Difference difference = diff(model, model);
  EXPECT_TRUE(difference.same());
  EXPECT_EQ(difference.compared, 3u);
}

TEST(InspectDiff, ValuesByHand) {
  const auto d = only_difference(diff_of(vector_of<float>("t", DType::f32, {1, 2, 3, 4}),  //
                                         vector_of<float>("t", DType::f32, {1, 2.5f, 3, 2})));
  EXPECT_EQ(d.name, "t");
  EXPECT_TRUE(d.compared);
  EXPECT_TRUE(d.values_differ);
  EXPECT_EQ(d.count, 4u);
  EXPECT_EQ(d.different, 2u);
  EXPECT_EQ(d.first_difference, 1u);
  EXPECT_DOUBLE_EQ(d.max_abs, 2);
  EXPECT_DOUBLE_EQ(d.rms, std::sqrt(4.25 / 4));
  EXPECT_DOUBLE_EQ(d.relative_rms, std::sqrt(4.25 / 30));
  EXPECT_DOUBLE_EQ(d.cosine, (1 + 5 + 9 + 8) / (std::sqrt(30.0) * std::sqrt(1 + 6.25 + 9 + 4)));
  EXPECT_TRUE(d.shape_a.empty() && d.type_a.empty() && d.layout_a.empty() && !d.only_in);
}

TEST(InspectDiff, NamesShapesTypesLayouts) {
  Model a, b;
  a.tensors.push_back(vector_of<float>("z", DType::f32, {1}));
  a.tensors.push_back(vector_of<float>("gone", DType::f32, {1}));
  a.tensors.push_back(tensor_of<float>("bent", {2, 3}, DType::f32, {1, 2, 3, 4, 5, 6}));
  b.tensors.push_back(tensor_of<float>("bent", {3, 2}, DType::f32, {1, 2, 3, 4, 5, 6}));
  b.tensors.push_back(vector_of<float>("come", DType::f32, {1}));
  b.tensors.push_back(vector_of<double>("z", DType::f64, {1}));
  const Difference difference = diff(a, b);
  ASSERT_EQ(difference.tensors.size(), 4u);
  EXPECT_EQ(difference.compared, 2u);
  EXPECT_EQ(difference.tensors[0].name, "bent");
  EXPECT_EQ(difference.tensors[0].shape_a, "2x3");
  EXPECT_EQ(difference.tensors[0].shape_b, "3x2");
  EXPECT_FALSE(difference.tensors[0].compared);
  EXPECT_FALSE(difference.tensors[0].values_differ);
  EXPECT_EQ(difference.tensors[1].name, "come");
  EXPECT_EQ(difference.tensors[1].only_in, Side::b);
  EXPECT_EQ(difference.tensors[2].name, "gone");
  EXPECT_EQ(difference.tensors[2].only_in, Side::a);
  EXPECT_EQ(difference.tensors[3].name, "z");
  EXPECT_EQ(difference.tensors[3].type_a, "f32");
  EXPECT_EQ(difference.tensors[3].type_b, "f64");
  EXPECT_TRUE(difference.tensors[3].compared);
  EXPECT_FALSE(difference.tensors[3].values_differ);
}

TEST(InspectDiff, AnotherLayoutIsComparedByValue) {
  const auto sparse = csr("s", {2, 3}, {1.5f, -2.0f}, {0, 2}, {0, 1, 2});
  const auto same = only_difference(diff_of(sparse, tensor_of<float>("s", {2, 3}, DType::f32, {1.5f, 0, 0, 0, 0, -2})));
  EXPECT_EQ(same.layout_a, "sparse_csr");
  EXPECT_EQ(same.layout_b, "dense");
  EXPECT_TRUE(same.compared);
  EXPECT_FALSE(same.values_differ);
  const auto other = only_difference(diff_of(sparse, tensor_of<double>("s", {2, 3}, DType::f64, {1.5, 0, 0, 0, 0, 2})));
  EXPECT_EQ(other.type_b, "f64");
  EXPECT_EQ(other.different, 1u);
  EXPECT_EQ(other.first_difference, 5u);
  EXPECT_DOUBLE_EQ(other.max_abs, 4);
}

TEST(InspectDiff, QuantizationErrorIsVisible) {
  Tensor plain = tensor_of("w", {8, 128}, DType::f32, weights(1024));
  const Tensor quantized = find_codec_by_method("group4")->encode(plain, {.method = "group4"});
  const auto d = only_difference(diff_of(plain, quantized));
  EXPECT_EQ(d.type_a, "f32");
  EXPECT_EQ(d.type_b, "zt.group");
  EXPECT_TRUE(d.values_differ);
  EXPECT_GT(d.rms, 0);
  EXPECT_LT(d.max_abs, 0.1);
  EXPECT_GT(d.cosine, 0.99);
  EXPECT_LT(d.cosine, 1);
}

TEST(InspectDiff, TheDifferenceIsATensor) {
  const Tensor a = dense("w", {2, 3}, DType::f32, Blob::memory(bytes_of<float>({1, 2, 3, 4, 5, 6})));
  const Tensor b = dense("w", {2, 3}, DType::i16, Blob::memory(bytes_of<std::int16_t>({1, 0, 3, 8, 5, 7})));
  const Tensor d = difference(a, b);
  EXPECT_EQ(d.components[0].blob.bytes(), bytes_of<double>({0, -2, 0, 4, 0, 1}));
  // Read from anywhere, also from the middle of an element.
  Bytes part(11);
  d.components[0].blob.read(13, part);
  const Bytes all = d.components[0].blob.bytes();
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 13));
  const Statistics stats = statistics(d, 2);
  EXPECT_EQ(stats.zeros, 3U);
  EXPECT_EQ(stats.min, -2);
  EXPECT_EQ(stats.max, 4);
  EXPECT_EQ(stats.histogram, (std::vector<std::uint64_t>{4, 2}));
  const Tensor other = dense("w", {3, 2}, DType::f32, Blob::memory(bytes_of<float>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(testing::rule_of([&] { difference(a, other); }), "diff.shape");
  Tensor unknown = a;
  unknown.layout = "mystery";
  EXPECT_EQ(testing::rule_of([&] { difference(a, unknown); }), "codec.unknown");
}

TEST(InspectDiff, NanEqualsNanAndZeroEqualsMinusZero) {
  const float other_nan = std::bit_cast<float>(0xFFC00001u);
  const Tensor plain = vector_of<float>("t", DType::f32, {NAN, 0.0f, INFINITY});
  EXPECT_TRUE(diff_of(plain, plain).same());
  // The values are the same, the bits are not.
  for (const Tensor& other : {vector_of<float>("t", DType::f32, {other_nan, 0.0f, INFINITY}),
                              vector_of<float>("t", DType::f32, {NAN, -0.0f, INFINITY})}) {
    const auto bits = only_difference(diff_of(plain, other));
    EXPECT_TRUE(bits.compared);
    EXPECT_FALSE(bits.values_differ);
    EXPECT_EQ(bits.different, 0U);
  }
  const auto d = only_difference(diff_of(vector_of<float>("t", DType::f32, {1, NAN}),  //
                                         vector_of<float>("t", DType::f32, {1, 2})));
  EXPECT_EQ(d.different, 1u);
  EXPECT_EQ(d.max_abs, INFINITY);
  EXPECT_EQ(d.rms, INFINITY);
  EXPECT_TRUE(std::isnan(d.cosine)) << "the values that differ most have no part in it";
  EXPECT_EQ(d.relative_rms, INFINITY);
  const auto infinite = only_difference(diff_of(vector_of<float>("t", DType::f32, {INFINITY}),  //
                                                vector_of<float>("t", DType::f32, {-INFINITY})));
  EXPECT_EQ(infinite.max_abs, INFINITY);
}

TEST(InspectDiff, LargeIntegersAreToldApart) {
  constexpr std::int64_t kBig = std::int64_t{1} << 60;
  const auto d = only_difference(diff_of(vector_of<std::int64_t>("t", DType::i64, {-3, kBig}),
                                         vector_of<std::int64_t>("t", DType::i64, {-5, kBig + 1})));
  EXPECT_EQ(d.different, 2u);
  EXPECT_EQ(d.max_abs, 2);
  const auto u = only_difference(diff_of(vector_of<std::uint64_t>("t", DType::u64, {~std::uint64_t{0}}),
                                         vector_of<std::uint64_t>("t", DType::u64, {~std::uint64_t{0} - 1})));
  EXPECT_EQ(u.different, 1u);
  EXPECT_EQ(u.max_abs, 1);
  const auto s =
      only_difference(diff_of(vector_of<std::int64_t>("t", DType::i64, {std::numeric_limits<std::int64_t>::min()}),
                              vector_of<std::int64_t>("t", DType::i64, {std::numeric_limits<std::int64_t>::max()})));
  EXPECT_EQ(s.max_abs, 18446744073709551616.0);
}

TEST(InspectDiff, HugeAndTinyValues) {
  for (const double unit : {1e300, 1e-300}) {
    const auto d = only_difference(diff_of(vector_of<double>("t", DType::f64, {unit, unit}),  //
                                           vector_of<double>("t", DType::f64, {unit, -unit})));
    EXPECT_DOUBLE_EQ(d.max_abs, 2 * unit);
    EXPECT_DOUBLE_EQ(d.rms / unit, std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(d.relative_rms, std::sqrt(2.0));
    EXPECT_NEAR(d.cosine, 0, 1e-15);
  }
  const auto zero = only_difference(diff_of(vector_of<double>("t", DType::f64, {0, 0}),  //
                                            vector_of<double>("t", DType::f64, {0, 1})));
  EXPECT_EQ(zero.cosine, 0);
  EXPECT_TRUE(std::isinf(zero.relative_rms));
}

TEST(InspectDiff, ComplexNumbersDifferOnce) {
  const auto d = only_difference(diff_of(tensor_of<float>("t", {3}, DType::f32, {1, 2, 3, 4, 5, 6}, "complex64"),
                                         tensor_of<float>("t", {3}, DType::f32, {1, 2, 0, 0, 5, 7}, "complex64")));
  EXPECT_EQ(d.count, 3u);
  EXPECT_EQ(d.different, 2u);
  EXPECT_EQ(d.first_difference, 1u);
  const auto real = only_difference(diff_of(tensor_of<float>("t", {1}, DType::f32, {1, 2}, "complex64"),
                                            tensor_of<float>("t", {1}, DType::f32, {1})));
  EXPECT_EQ(real.type_a, "complex64");
  EXPECT_FALSE(real.compared);
}

TEST(InspectDiff, UnknownLayoutsAreComparedByBytes) {
  Tensor a = vector_of<float>("t", DType::f32, {1, 2}), b = vector_of<float>("t", DType::f32, {1, 3});
  a.layout = b.layout = "nobody.knows";
  EXPECT_TRUE(diff_of(a, a).same());
  const auto d = only_difference(diff_of(a, b));
  EXPECT_TRUE(d.values_differ);
  EXPECT_FALSE(d.compared);
}

TEST(InspectDiff, SameForAllThreadsAndStorage) {
  const std::vector<float> x = weights(2'500'003);
  std::vector<float> y = x;
  for (std::size_t i = 1'100'000; i < y.size(); i += 1000) y[i] += 0.25f;
  const Shape shape{x.size()};
  const auto expected = only_difference(diff_of(vector_of("t", DType::f32, x), vector_of("t", DType::f32, y), 1));
  EXPECT_EQ(expected.first_difference, 1'100'000u);
  EXPECT_EQ(expected.different, 1401u);
  for (const Blob& blob :
       {Blob::memory(bytes_of(y)), packed(bytes_of(y)), packed(bytes_of(y), 1'000'003), from_the_start(bytes_of(y))})
    for (const unsigned threads : {1u, 2u, 7u}) {
      if (!testing::kCountsMemory && threads == 2) continue;  // slow with sanitizers
      Progress progress;
      const auto d =
          only_difference(diff(model_of(vector_of("t", DType::f32, x)), model_of(dense("t", shape, DType::f32, blob)),
                               {.threads = threads, .progress = &progress}));
      EXPECT_EQ(d.different, expected.different);
      EXPECT_EQ(d.first_difference, expected.first_difference);
      EXPECT_EQ(d.max_abs, expected.max_abs);
      EXPECT_EQ(d.rms, expected.rms);
      EXPECT_EQ(d.cosine, expected.cosine);
      EXPECT_EQ(progress.done(), x.size() * 4);
    }
}

TEST(InspectDiff, ProgressCountsEveryByteOfTheFirstModel) {
  Model a, b;
  a.tensors.push_back(vector_of<float>("alone", DType::f32, {1, 2, 3}));
  a.tensors.push_back(vector_of<float>("typed", DType::f32, {1, 2}));
  a.tensors.push_back(vector_of<float>("same", DType::f32, {1}));
  b.tensors.push_back(vector_of<double>("typed", DType::f64, {1, 2}));
  b.tensors.push_back(vector_of<float>("same", DType::f32, {1}));
  Progress progress;
  diff(a, b, {.threads = 2, .progress = &progress});
  EXPECT_EQ(progress.done(), 24u);
}

TEST(InspectDiff, MetadataAndConfigLines) {
  Model a, b;
  a.metadata.set("kept", "same");
  a.metadata.set("author", "x");
  a.metadata.set("old", 1);
  Map nested;
  nested.set("p", 1);
  nested.set("q", List{Value(2)});
  a.metadata.set("tree", nested);
  Map turned;
  turned.set("q", List{Value(2)});
  turned.set("p", 1);
  b.metadata.set("tree", turned);
  b.metadata.set("new", 2.0);
  b.metadata.set("author", "y");
  b.metadata.set("kept", "same");
  a.config.hidden_size = 64;
  b.config.hidden_size = 128;
  EXPECT_EQ(lines_of(diff(a, b).metadata), (Lines{"author: \"x\" -> \"y\"", "old: 1 -> (absent)",
                                                  "new: (absent) -> 2.0", "config hidden_size: 64 -> 128"}));
}

TEST(InspectDiff, DifferencesAreData) {
  Model a, b;
  a.metadata.set("old", 1);
  b.config.hidden_size = 128;
  a.vocabulary.tokens = {{"x", -1.5F, TokenType::normal}, {"y"}};
  b.vocabulary.tokens = {{"z", -1.5F, TokenType::normal}, {"w"}};
  b.attachments.push_back({"new", Blob::memory(Bytes(2))});
  const auto found = diff(a, b).metadata;
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].part, ModelPart::metadata);
  EXPECT_EQ(found[0].key, "old");
  EXPECT_EQ(found[0].a, Value(1));
  EXPECT_FALSE(found[0].b.has_value());
  EXPECT_EQ(found[1].part, ModelPart::config);
  EXPECT_EQ(found[1].b, Value(128));
  EXPECT_EQ(found[2].part, ModelPart::vocabulary);
  EXPECT_EQ(found[2].key, "tokens");
  EXPECT_EQ(found[2].different, 2U);
  EXPECT_EQ(found[2].first, 0U);
  ASSERT_NE(found[2].a->get<Map>(), nullptr);
  EXPECT_EQ(*found[2].a->get<Map>()->find("text"), Value("x"));
  EXPECT_EQ(*found[2].a->get<Map>()->find("score"), Value(-1.5));
  EXPECT_EQ(found[3].part, ModelPart::attachments);
  EXPECT_FALSE(found[3].a.has_value());
  EXPECT_EQ(found[3].b, Value(2));
}

TEST(InspectDiff, LongValuesAreCutAroundTheDifference) {
  Model a, b;
  const std::string common(500, 'c');
  a.metadata.set("long", common + "left" + common);
  b.metadata.set("long", common + "right" + common);
  const Lines lines = lines_of(diff(a, b).metadata);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_LT(lines[0].size(), 200u);
  EXPECT_NE(lines[0].find("left"), std::string::npos);
  EXPECT_NE(lines[0].find("right"), std::string::npos);
}

TEST(InspectDiff, AttachmentLines) {
  Model a, b;
  a.attachments.push_back({"same", Blob::memory(Bytes(4))});
  a.attachments.push_back({"config.json", Blob::memory(Bytes(560))});
  a.attachments.push_back({"old", Blob::memory(Bytes(1))});
  Bytes other(4);
  other[2] = std::byte{1};
  a.attachments.push_back({"merges", Blob::memory(Bytes(4))});
  b.attachments.push_back({"merges", Blob::memory(other)});
  b.attachments.push_back({"new", Blob::memory(Bytes(2))});
  b.attachments.push_back({"config.json", Blob::memory(Bytes(570))});
  b.attachments.push_back({"same", Blob::memory(Bytes(4))});
  EXPECT_EQ(
      lines_of(diff(a, b).metadata),
      (Lines{"attachment config.json: 560 bytes -> 570 bytes", "attachment old: 1 bytes -> (absent)",
             "attachment merges: 4 bytes each, different from byte 2 on", "attachment new: (absent) -> 2 bytes"}));
}

TEST(InspectDiff, VocabularyLines) {
  Model a, b;
  a.vocabulary.tokens = {{"<s>", 0, TokenType::control}, {"x", -1, TokenType::normal}, {"y", -2, TokenType::normal}};
  EXPECT_EQ(lines_of(diff(a, b).metadata), (Lines{"vocabulary: 3 tokens -> (absent)"}));
  b.vocabulary = a.vocabulary;
  EXPECT_TRUE(diff(a, b).same());
  b.vocabulary.tokens[1].text = "z";
  b.vocabulary.tokens.push_back({"w", 0, TokenType::normal});
  b.vocabulary.bos = 0;
  EXPECT_EQ(lines_of(diff(a, b).metadata),
            (Lines{"vocabulary tokens: 3 -> 4",
                   "vocabulary tokens: 1 differ, the first is number 1: \"x\" normal -1 -> \"z\" normal -1",
                   "vocabulary bos: -1 -> 0"}));
}

TEST(InspectDiff, AttributesOfTensorsAreLines) {
  Tensor a = vector_of<float>("t", DType::f32, {1}), b = a;
  a.attributes.set("k", 1);
  b.attributes.set("k", 2);
  const Difference difference = diff_of(a, b);
  EXPECT_TRUE(difference.tensors.empty());
  EXPECT_EQ(lines_of(difference.metadata), (Lines{"tensor t: attribute k: 1 -> 2"}));
}

TEST(InspectDiff, BadBytesAreAnError) {
  const Tensor bad = dense("t", {6}, DType::f32, Blob::zstd(memory_source(Bytes(8)), 0, 8, 24));
  EXPECT_THROW(diff_of(bad, vector_of<float>("t", DType::f32, {1, 2, 3, 4, 5, 6})), Error);
}

}  // namespace
}  // namespace tare
