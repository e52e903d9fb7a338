// ONNX models: values, names, external data, packed weights, limits.
#include <filesystem>

#include "conformance/hf_cases.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "conformance/onnx_cases.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model opened(const Bytes& file, const ReadOptions& options = {}) {
  return open(memory_source(file, "it.onnx"), options);
}
Bytes good(std::string_view name) {
  for (auto& [called, file] : ox::good())
    if (called == name) return file;
  ADD_FAILURE() << "no file " << name;
  return {};
}
std::vector<float> floats_of(const Model& model, std::string_view name) { return model.at(name).values<float>(); }
std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const Tensor& tensor : model.tensors) names.push_back(tensor.name);
  return names;
}

TEST(Onnx, RawBytesAreRangesOfTheFile) {
  const Model model = opened(good("small"));
  EXPECT_EQ(model.format, "onnx");
  EXPECT_EQ(model.version, "10");
  EXPECT_EQ(floats_of(model, "w"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(model.at("w").components[0].blob.is_plain());
  EXPECT_EQ(to_json(model.metadata),
            R"({"onnx.producer_name":"tare","onnx.ir_version":10,"onnx.opset_import":{"ai.onnx":21}})");
}

TEST(Onnx, TypedElementsAreDecoded) {
  const Model model = opened(good("typed"));
  EXPECT_EQ(floats_of(model, "f"), (std::vector<float>{1, 2, -3}));
  EXPECT_TRUE(model.at("f").components[0].blob.source() != nullptr);
  EXPECT_EQ(floats_of(model, "one"), (std::vector<float>{1.5F, 2.5F}));
  EXPECT_EQ(model.at("i8").values<std::int64_t>(), (std::vector<std::int64_t>{1, -1, 127}));
  EXPECT_EQ(floats_of(model, "f16"), (std::vector<float>{1}));
  EXPECT_EQ(model.at("i64").values<std::int64_t>(), (std::vector<std::int64_t>{5, -1}));
  EXPECT_EQ(model.at("scalar").shape, Shape());
  EXPECT_EQ(model.at("scalar").values<std::int64_t>(), (std::vector<std::int64_t>{7}));
  EXPECT_EQ(model.at("d").values<double>(), (std::vector<double>{0.1}));
  EXPECT_EQ(model.at("u64").values<std::uint64_t>(), (std::vector<std::uint64_t>{~std::uint64_t{0}}));
  EXPECT_EQ(model.at("c").components[0].type, "complex64");
  EXPECT_EQ(floats_of(model, "i4"), (std::vector<float>{1, 2, -1}));
  EXPECT_EQ(floats_of(model, "e2m3"), (std::vector<float>{1, 2, -7.5F, 0.125F}));
}

TEST(Onnx, ElementsOfFewBitsAreUnpacked) {
  const Model model = opened(good("narrow"));
  EXPECT_EQ(floats_of(model, "u4"), (std::vector<float>{1, 2, 3, 15}));
  EXPECT_EQ(model.at("u4").components[0].dtype, DType::u8);
  EXPECT_EQ(floats_of(model, "i4"), (std::vector<float>{-1, -8, 7}));
  EXPECT_EQ(floats_of(model, "u2"), (std::vector<float>{0, 1, 2, 3, 2}));
  EXPECT_EQ(floats_of(model, "i2"), (std::vector<float>{0, 1, -2, -1}));
  EXPECT_EQ(model.at("e2m1").layout, "packed.f4_e2m1");
  EXPECT_EQ(floats_of(model, "e2m1"), (std::vector<float>{1, -6}));
  // An odd number of them is not whole bytes.
  EXPECT_EQ(model.at("e2m1_odd").components[0].type, "f8_e4m3fn");
  EXPECT_EQ(floats_of(model, "e2m1_odd"), (std::vector<float>{1, -6, -0.5F}));
  EXPECT_EQ(model.at("e2m3").layout, "packed.f6_e2m3");
  EXPECT_EQ(floats_of(model, "e3m2_odd"), (std::vector<float>{-28}));
}

TEST(Onnx, UnpackedElementsAreReadFromAnyPlace) {
  std::string bytes(3000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 89 + 3);
  for (const auto& [type, count] : {std::pair{ox::kU4, 5999}, {ox::kU2, 11999}, {ox::kE2M3, 3999}}) {
    const Model model = opened(ox::model(ox::initializer(ox::tensor(
        "w", {static_cast<std::uint64_t>(count)}, type,
        ox::raw(std::string_view(bytes).substr(0, (static_cast<std::size_t>(count) * (type == ox::kU2   ? 2
                                                                                      : type == ox::kU4 ? 4
                                                                                                        : 6) +
                                                   7) /
                                                      8))))));
    const Blob& blob = model.at("w").components[0].blob;
    const Bytes all = blob.bytes();
    for (const std::uint64_t at : {1, 2, 3, 5, 1023, count - 1}) {
      std::byte one{};
      blob.read(at, {&one, 1});
      EXPECT_EQ(one, all[at]) << at;
    }
  }
}

TEST(Onnx, TensorsOfAllGraphsHaveNames) {
  const Model model = opened(good("graphs"));
  EXPECT_EQ(names_of(model),
            (std::vector<std::string>{"w", "c", "f", "is", "fs", "inner", "if.then_branch/w", "fun/c", "step"}));
  EXPECT_EQ(floats_of(model, "if.then_branch/w"), (std::vector<float>{9}));
  EXPECT_EQ(floats_of(model, "f"), (std::vector<float>{0.5F}));
  EXPECT_EQ(model.at("f").shape, Shape());
  EXPECT_EQ(model.at("is").values<std::int64_t>(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(floats_of(model, "fs"), (std::vector<float>{1, 2}));
  EXPECT_EQ(model.at("fun/c").values<std::int64_t>(), (std::vector<std::int64_t>{12}));
  EXPECT_EQ(*model.metadata.get<std::string>("author"), "me");
}

TEST(Onnx, SparseInitializers) {
  const Model model = opened(good("sparse"));
  const std::vector<float> wanted = {0, 7, 0, 0, 0, 8};
  EXPECT_EQ(floats_of(model, "flat"), wanted);
  EXPECT_EQ(floats_of(model, "rows"), wanted);
  EXPECT_EQ(floats_of(model, "line"), (std::vector<float>{7, 0, 0, 0, 0, 0, 0, 0, 8}));
}

// The formula, in plain C++, over the bytes of the file.
std::vector<float> expected_packed(unsigned bits, bool zeros) {
  std::vector<std::uint8_t> codes;
  const std::size_t block_bytes = 2 * bits;
  for (std::size_t i = 0; i < 6 * block_bytes; ++i) {
    const auto byte = static_cast<std::uint8_t>(i * 37 + 11);
    for (unsigned at = 0; at < 8; at += bits)
      codes.push_back(static_cast<std::uint8_t>(byte >> at & ((1u << bits) - 1)));
  }
  const float scales[] = {1, 2, 0.5F, 4, -1, 0.25F};
  const float zero_points[] = {1, 2, 3, 4, 5, 6};
  std::vector<float> out;
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 20; ++column) {
      const std::size_t block = row * 2 + column / 16;
      out.push_back(scales[block] * (static_cast<float>(codes[row * 32 + column]) -
                                     (zeros ? zero_points[block] : static_cast<float>(1u << (bits - 1)))));
    }
  return out;
}

TEST(Onnx, BlocksOfMatMulNBitsBecomePackedWeights) {
  const Model model = opened(good("packed"));
  ASSERT_EQ(names_of(model), std::vector<std::string>{"w_Q4"});
  EXPECT_EQ(model.tensors[0].layout, "nbits.int4");
  EXPECT_EQ(model.tensors[0].shape, (Shape{3, 20}));
  EXPECT_EQ(floats_of(model, "w_Q4"), expected_packed(4, true));
  const Model eight = opened(good("packed8"));
  EXPECT_EQ(eight.tensors[0].layout, "nbits.int8");
  EXPECT_EQ(floats_of(eight, "w_Q4"), expected_packed(8, false));
}

TEST(Onnx, PackedWeightsStayPackedInOtherContainers) {
  const Scratch scratch;
  put_file(scratch / "it.onnx", good("packed"));
  for (const char* const name : {"it.safetensors", "it.npz", "it.zt", "it.mcf"}) {
    convert(scratch / "it.onnx", scratch / name, {});
    const Model back = open(scratch / name);
    EXPECT_EQ(back.at("w_Q4").layout, "nbits.int4") << name;
    EXPECT_EQ(floats_of(back, "w_Q4"), expected_packed(4, true)) << name;
    EXPECT_TRUE(verify(scratch / name).ok(false)) << name;
  }
  convert(scratch / "it.onnx", scratch / "dense.safetensors", {.adapt = {.dtype = DType::f32}});
  EXPECT_EQ(floats_of(open(scratch / "dense.safetensors"), "w_Q4"), expected_packed(4, true));
}

TEST(Onnx, ExternalDataIsReadInPlace) {
  const Scratch scratch;
  const std::string folder = scratch / "m";
  const auto with = [](const std::string& data) {
    return ox::model(ox::initializer(ox::tensor("w", {2, 3}, ox::kFloat, data)));
  };
  const Bytes weights = bytes_of("pad!" + ox::six());
  put_files(folder, {{"a.onnx", with(ox::external("w.bin", "4", "24"))},
                     {"b.onnx", with(ox::external("./sub/w.bin", "4"))},
                     {"short.onnx", with(ox::external("w.bin", "8", "24"))},
                     {"size.onnx", with(ox::external("w.bin", "4", "20"))},
                     {"w.bin", weights},
                     {"sub/w.bin", weights}});
  put_file(scratch / "secret.bin", weights);
  for (const char* const name : {"/a.onnx", "/b.onnx"}) {
    const Model model = open(folder + name);
    EXPECT_EQ(floats_of(model, "w"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(model.sources.size(), 2U);
    EXPECT_EQ(model.file_bytes, std::filesystem::file_size(folder + name) + weights.size());
    EXPECT_TRUE(model.at("w").components[0].blob.is_plain());
    EXPECT_TRUE(verify(folder + name).ok(true));
  }
  EXPECT_EQ(rule_of([&] { open(folder + "/short.onnx"); }), "onnx.external.bounds");
  EXPECT_EQ(rule_of([&] { open(folder + "/size.onnx"); }), "onnx.size");
  // A link may stay in the folder, and not lead out of it.
  std::filesystem::rename(folder + "/w.bin", folder + "/sub/other.bin");
  std::filesystem::create_symlink("sub/other.bin", folder + "/w.bin");
  EXPECT_EQ(floats_of(open(folder + "/a.onnx"), "w").back(), 5);
  std::filesystem::remove(folder + "/w.bin");
  std::filesystem::create_symlink("../secret.bin", folder + "/w.bin");
  EXPECT_EQ(rule_of([&] { open(folder + "/a.onnx"); }), "io.open.outside");
  std::filesystem::remove(folder + "/w.bin");
  std::filesystem::create_directory(folder + "/w.bin");
  EXPECT_NE(rule_of([&] { open(folder + "/a.onnx"); }), "");
  // Bytes in memory have no folder.
  EXPECT_EQ(rule_of([&] { opened(get_file(folder + "/b.onnx")); }), "onnx.external.missing");
}

TEST(Onnx, RefusedTensorsCanBeSkipped) {
  const Bytes file = ox::model(ox::initializer(ox::tensor("words", {1}, ox::kString, ox::bytes(6, "x"))) +
                               ox::initializer(ox::tensor("w", {1}, ox::kFloat, ox::raw(ox::little<float>({3})))));
  EXPECT_EQ(rule_of([&] { opened(file); }), "onnx.type");
  const Model model = opened(file, {.keep_broken = true});
  EXPECT_EQ(names_of(model), std::vector<std::string>{"w"});
  ASSERT_EQ(model.broken.size(), 1U);
  EXPECT_EQ(model.broken[0].tensor.name, "words");
}

TEST(Onnx, EachRuleIsBroken) {
  for (const ox::Case& bad : ox::bad()) {
    if (bad.rule.starts_with("pack.") || bad.rule.ends_with(".bounds") || bad.rule == "onnx.metadata.duplicate")
      continue;  // found by verify: the corpus has them
    EXPECT_EQ(rule_of([&] { opened(bad.file); }), bad.rule) << bad.name;
  }
}

// A list of a million elements in two megabytes, and none beyond what the shape allows.
TEST(Onnx, TypedElementsAreBounded) {
  const std::string many(1 << 20, '\0');
  const Bytes file = ox::model(ox::initializer(ox::tensor("w", {1}, ox::kI64, ox::bytes(7, many))));
  EXPECT_EQ(rule_of([&] { opened(file); }), "onnx.size");
}

}  // namespace
}  // namespace tare
