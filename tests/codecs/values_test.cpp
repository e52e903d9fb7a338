// Tensor::values and Tensor::span.
#include <cmath>
#include <limits>

#include "base/endian.hpp"
#include "conformance/scratch.hpp"
#include "produced_blob.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

constexpr float kQuietNaN = std::numeric_limits<float>::quiet_NaN();

template <typename T>
std::string refusal(const Tensor& tensor) {
  return rule_of([&] { (void)tensor.values<T>(); });
}

Tensor with_bytes(DType dtype, std::vector<std::uint8_t> bytes, std::string type = {}) {
  Bytes raw(bytes.size());
  std::memcpy(raw.data(), bytes.data(), bytes.size());
  const std::uint64_t count = bytes.size() / size_of(dtype);
  return dense("t", {count}, dtype, Blob::memory(std::move(raw)), std::move(type));
}

TEST(Values, OfTheSameType) {
  EXPECT_EQ(dense("t", {2}, std::vector<float>{1.5, -2}).values<float>(), (std::vector<float>{1.5, -2}));
  EXPECT_EQ(dense("t", {}, std::vector<double>{1e300}).values<double>(), (std::vector<double>{1e300}));
  EXPECT_EQ(dense("t", {0, 7}, std::vector<std::int16_t>()).values<std::int16_t>(), std::vector<std::int16_t>());
  const std::vector<std::uint64_t> large = {0, std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(dense("t", {2}, large).values<std::uint64_t>(), large);
  const std::vector<std::int64_t> small = {std::numeric_limits<std::int64_t>::min(), -1};
  EXPECT_EQ(dense("t", {2}, small).values<std::int64_t>(), small);
}

TEST(Values, EveryTypeIsRead) {
  EXPECT_EQ(with_bytes(DType::f16, {0x00, 0x3C, 0x00, 0xC0}).values<float>(), (std::vector<float>{1, -2}));
  EXPECT_EQ(with_bytes(DType::bf16, {0x80, 0x3F, 0x00, 0xC0}).values<std::int8_t>(), (std::vector<std::int8_t>{1, -2}));
  EXPECT_EQ(with_bytes(DType::u8, {0x38, 0xC0}, "f8_e4m3fn").values<double>(), (std::vector<double>{1, -2}));
  EXPECT_EQ(with_bytes(DType::boolean, {0, 1, 1}).values<std::uint8_t>(), (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_EQ(with_bytes(DType::boolean, {0, 7}).values<float>(), (std::vector<float>{0, 1}));
}

TEST(Values, FloatsAreTheNearestAndNeverInfiniteByAccident) {
  EXPECT_EQ(dense("t", {1}, std::vector<double>{0.1}).values<float>(), (std::vector<float>{0.1F}));
  EXPECT_EQ(dense("t", {1}, std::vector<std::int32_t>{16777217}).values<float>(), (std::vector<float>{16777216}));
  EXPECT_EQ(refusal<float>(dense("t", {1}, std::vector<double>{1e39})), "cast.overflow");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(dense("t", {1}, std::vector<double>{infinity}).values<float>()[0]));
  EXPECT_TRUE(std::isnan(dense("t", {1}, std::vector<float>{kQuietNaN}).values<double>()[0]));
}

TEST(Values, IntegersAreExactOrAnError) {
  EXPECT_EQ(dense("t", {3}, std::vector<float>{-128, -0.0F, 127}).values<std::int8_t>(),
            (std::vector<std::int8_t>{-128, 0, 127}));
  EXPECT_EQ(dense("t", {1}, std::vector<double>{-0x1p63}).values<std::int64_t>()[0],
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(dense("t", {1}, std::vector<double>{0x1.fffffffffffffp63}).values<std::uint64_t>()[0], 0xFFFFFFFFFFFFF800U);
  for (const double bad :
       {0.5, -129.0, 128.0, 1e300, -1e300, double{kQuietNaN}, double{HUGE_VAL}, -double{HUGE_VAL}, 5e-324})
    EXPECT_EQ(refusal<std::int8_t>(dense("t", {2}, std::vector<double>{1, bad})), "values.inexact") << bad;
  EXPECT_EQ(refusal<std::int64_t>(dense("t", {1}, std::vector<double>{0x1p63})), "values.inexact");
  EXPECT_EQ(refusal<std::uint64_t>(dense("t", {1}, std::vector<double>{0x1p64})), "values.inexact");
  EXPECT_EQ(refusal<std::uint64_t>(dense("t", {1}, std::vector<float>{-1})), "values.inexact");
  EXPECT_EQ(refusal<std::uint32_t>(dense("t", {1}, std::vector<std::int32_t>{-1})), "values.inexact");
  EXPECT_EQ(refusal<std::int64_t>(dense("t", {1}, std::vector<std::uint64_t>{1ULL << 63})), "values.inexact");
  EXPECT_EQ(dense("t", {1}, std::vector<std::int64_t>{255}).values<std::uint8_t>(), (std::vector<std::uint8_t>{255}));

  std::vector<std::uint64_t> many(50000, 1);
  many[40000] = std::numeric_limits<std::uint64_t>::max();
  const auto error = error_of([&] { (void)dense("weights", {50000}, many).values<std::int32_t>(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->item(), "weights");
  EXPECT_EQ(error->sentence(), "element 40000 is 18446744073709551615, which i32 cannot represent");
}

TEST(Values, WhatHasNoNumbers) {
  EXPECT_EQ(refusal<float>(with_bytes(DType::f32, {0, 0, 0, 0, 0, 0, 0, 0}, "unheard_of")), "cast.type");
  Tensor complex = dense("c", {1}, DType::f32, Blob::memory(Bytes(8)), "complex64");
  EXPECT_EQ(refusal<float>(complex), "cast.type");
  Tensor strange = dense("t", {1}, std::vector<float>{1});
  strange.layout = "unheard_of";
  EXPECT_EQ(refusal<float>(strange), "codec.unknown");
  Tensor wrong = dense("t", {2}, std::vector<float>{1, 2});
  wrong.shape = {3};
  EXPECT_EQ(refusal<float>(wrong), "dense.size");
  wrong.components = {};
  EXPECT_EQ(refusal<float>(wrong), "dense.missing");
}

TEST(Values, AsLargeAsIsAllowed) {
  const Tensor tensor = dense("t", {3}, std::vector<std::uint8_t>{1, 2, 3});
  EXPECT_EQ(tensor.values<double>(24).size(), 3U);
  const auto error = error_of([&] { (void)tensor.values<double>(23); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "values.too_large");
  EXPECT_EQ(error->kind(), ErrorKind::limit);
  // Ten billion zeros in a few bytes are refused without allocating them.
  Tensor sparse;
  sparse.name = "sparse";
  sparse.shape = {100000, 50000};
  sparse.layout = "sparse_coo";
  sparse.components.push_back({"values", DType::f32, {}, Blob::memory({})});
  sparse.components.push_back({"coords", DType::u64, {}, Blob::memory({})});
  EXPECT_EQ(refusal<double>(sparse), "values.too_large");
}

TEST(Values, OfEveryLayoutAndFromEveryAccess) {
  const Scratch scratch;
  std::vector<float> numbers(512);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i));
  const Tensor plain = dense("plain", {2, 256}, numbers);
  Model model;
  model.tensors.push_back(plain);
  model.tensors.push_back(find_codec_by_method("k4")->encode(plain, {.method = "k4"}));
  model.tensors.back().name = "coded";
  Tensor sparse;
  sparse.name = "sparse";
  sparse.shape = {2, 2};
  sparse.layout = "sparse_coo";
  sparse.components.push_back({"values", DType::f32, {}, dense("", {1}, std::vector<float>{3}).components[0].blob});
  sparse.components.push_back(
      {"coords", DType::u64, {}, dense("", {2}, std::vector<std::uint64_t>{1, 0}).components[0].blob});
  model.tensors.push_back(sparse);
  save(model, scratch / "m.zt", {.write = {.zstd_level = 3}});
  for (const Access access : {Access::mapped, Access::pread}) {
    const Model again = open(scratch / "m.zt", {.access = access});
    EXPECT_EQ(again.tensor("plain")->values<float>(), numbers);
    EXPECT_EQ(again.tensor("sparse")->values<std::uint16_t>(), (std::vector<std::uint16_t>{0, 0, 3, 0}));
    const std::vector<float> coded = again.tensor("coded")->values<float>();
    ASSERT_EQ(coded.size(), numbers.size());
    for (std::size_t i = 0; i < coded.size(); ++i) EXPECT_NEAR(coded[i], numbers[i], 0.2);
  }
}

TEST(Values, OfAFileThatIsNoLongerWhatItWas) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(dense("t", {100000}, std::vector<float>(100000, 1)));
  save(model, scratch / "m.zt");
  for (const Access access : {Access::mapped, Access::pread}) {
    save(model, scratch / "m.zt", {.overwrite = true});
    const Model opened = open(scratch / "m.zt", {.access = access});
    std::filesystem::resize_file(scratch / "m.zt", 1000);
    EXPECT_EQ(refusal<float>(opened.tensors[0]), "io.source.shrank");
    const auto error = error_of([&] { (void)opened.tensors[0].span<float>(); });
    ASSERT_TRUE(error);
    // On big-endian hosts there is no span at all.
    EXPECT_EQ(error->rule(), kLittleEndianHost ? "io.source.shrank" : "span.order");
  }
}

template <typename T>
std::string no_span_of(const Tensor& tensor) {
  const auto error = error_of([&] { (void)tensor.span<T>(); });
  if (!error) return "a span";
  EXPECT_NE(error->sentence().find("values() copies them"), std::string::npos) << error->what();
  return error->rule();
}

TEST(Span, ShowsTheBytesWhereTheyAre) {
  if (!kLittleEndianHost) GTEST_SKIP() << "the bytes of a file are in the other order here";
  const Scratch scratch;
  Model model;
  model.tensors.push_back(dense("t", {3}, std::vector<float>{1, 2, 3}));
  save(model, scratch / "m.zt");
  std::span<const float> span;
  Tensor kept;
  {
    const Model opened = open(scratch / "m.zt");
    span = opened.tensors[0].span<float>();
    EXPECT_EQ(static_cast<const void*>(span.data()), opened.tensors[0].components[0].blob.view()->data());
    kept = opened.tensors[0];
  }
  EXPECT_EQ(std::vector<float>(span.begin(), span.end()), (std::vector<float>{1, 2, 3}))
      << "a copy of the tensor is enough";
  EXPECT_EQ(dense("t", {0}, std::vector<float>()).span<float>().size(), 0U);
}

TEST(Span, SaysWhyThereIsNone) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(dense("t", {1000}, std::vector<float>(1000, 1)));
  const Tensor& floats = model.tensors[0];
  EXPECT_EQ(no_span_of<double>(floats), "span.type");
  EXPECT_EQ(no_span_of<std::uint8_t>(with_bytes(DType::u8, {1, 2}, "f8_e4m3fn")), "span.type");
  EXPECT_EQ(no_span_of<std::uint8_t>(with_bytes(DType::boolean, {1})), "span.type");
  EXPECT_EQ(no_span_of<std::uint16_t>(with_bytes(DType::f16, {1, 2})), "span.type");
  Tensor strange = floats;
  strange.layout = "mcf.k4";
  EXPECT_EQ(no_span_of<float>(strange), "span.layout");
  EXPECT_EQ(no_span_of<float>(dense("t", {1}, DType::f32, test::produced_blob(Bytes(4), 1))), "span.stored");
  save(model, scratch / "packed.zt", {.write = {.zstd_level = 3}});
  EXPECT_EQ(no_span_of<float>(open(scratch / "packed.zt").tensors[0]), "span.stored");
  if (!kLittleEndianHost) {
    EXPECT_EQ(no_span_of<float>(floats), "span.order");
    return;
  }
  save(model, scratch / "plain.zt");
  EXPECT_EQ(no_span_of<float>(open(scratch / "plain.zt", {.access = Access::pread}).tensors[0]), "span.unmapped");
  const Blob crooked = Blob::range(memory_source(Bytes(16)), 1, 4);
  EXPECT_EQ(no_span_of<float>(dense("t", {1}, DType::f32, crooked)), "span.unaligned");
  EXPECT_EQ(no_span_of<std::int8_t>(dense("t", {4}, DType::i8, crooked)), "a span");
}

TEST(Values, AnErrorNamesTheFileThatTheTensorIsIn) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(dense("t", {2}, std::vector<float>{1.5, 2}));
  save(model, scratch / "t.zt");
  const Model opened = open(scratch / "t.zt");
  const Tensor& tensor = opened.tensors[0];
  for (const auto& error :
       {error_of([&] { (void)tensor.span<double>(); }), error_of([&] { (void)tensor.values<std::int8_t>(); }),
        error_of([&] { (void)tensor.values<float>(7); })}) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->file(), scratch / "t.zt");
    EXPECT_EQ(error->item(), "t");
  }
  EXPECT_EQ(error_of([&] { (void)model.tensors[0].span<double>(); })->file(), "") << "of its own memory there is none";
}

TEST(Dense, OfAsManyElementsAsTheShapeHas) {
  const std::array<float, 3> three{1, 2, 3};
  EXPECT_EQ(dense("t", {2}, std::span<const float>(three).last(2)).values<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(rule_of([] { (void)dense("t", {2}, std::vector<float>{1}); }), "values.count");
  EXPECT_EQ(rule_of([] { (void)dense("t", {}, std::vector<float>{}); }), "values.count");
  EXPECT_EQ(rule_of([] { (void)dense("t", {1ULL << 40, 1ULL << 40}, std::vector<float>{}); }), "values.count");
  const Tensor tensor = dense("t", {2, 1}, std::vector<std::uint16_t>{1, 513});
  EXPECT_EQ(tensor.components[0].dtype, DType::u16);
  EXPECT_EQ(to_text(tensor.components[0].blob.bytes()), std::string("\x01\x00\x01\x02", 4));
}

}  // namespace
}  // namespace tare
