// Recipes: how each tensor is encoded, the budget of bits, and the reported outcome.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "base/endian.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "counting_source.hpp"
#include "lines.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Tensor gaussian(std::string name, std::uint64_t rows, std::uint64_t columns, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  Bytes bytes(static_cast<std::size_t>(rows * columns * 4));
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const float value = normal(random);
    store_le<float>(&bytes[i], value);
  }
  return dense(std::move(name), Shape{rows, columns}, DType::f32, Blob::memory(std::move(bytes)));
}

Model model_of_four() {
  Model model;
  model.tensors = {gaussian("embed_tokens.weight", 64, 256, 1.0F, 1), gaussian("layers.0.up.weight", 96, 512, 0.5F, 2),
                   gaussian("layers.0.down.weight", 32, 512, 4.0F, 3),
                   make_dense("layers.0.norm.weight", {256}, DType::f32)};
  return model;
}

// Adapts for zTensor, which holds every layout, and writes all bytes so that the reports are complete.
Adapted quantized(const Quantization& how, Model model = model_of_four(), const char* target = "zt") {
  AdaptOptions options;
  options.quant = how;
  Adapted adapted = adapt(std::move(model), *find_format(target), options, {.threads = 2});
  MemorySink sink;
  find_format(target)->write(adapted.model, sink, {});
  return adapted;
}

Quantization with_method(std::string method) {
  Quantization how;
  how.method = std::move(method);
  return how;
}

std::vector<std::string> types_of(const Adapted& adapted) {
  std::vector<std::string> types;
  for (const TensorOutcome& outcome : adapted.outcomes) types.push_back(outcome.type);
  return types;
}

using Types = std::vector<std::string>;

TEST(Quantize, MatricesAreEncodedTheRestIsKept) {
  const Adapted adapted = quantized(with_method("k4"));
  EXPECT_EQ(types_of(adapted), (Types{"mcf.k4", "mcf.k4", "mcf.k4", "f32"}));
  EXPECT_TRUE(adapted.outcomes[0].encoded);
  EXPECT_FALSE(adapted.outcomes[3].encoded);
  EXPECT_EQ(adapted.outcomes[3].report, nullptr);
  EXPECT_EQ(adapted.outcomes[1].elements, 96U * 512U);
  // 512 columns: each row has 2 super-scales of 2 bytes, 16 sub-scales, 256 bytes of codes; the regions are aligned
  // already.
  EXPECT_EQ(adapted.outcomes[1].bytes, 96U * (2 * 2 + 16 + 256));
  EXPECT_DOUBLE_EQ(adapted.outcomes[1].bits_per_weight(), 4.3125);
}

TEST(Quantize, TheFirstRuleThatMatchesDecides) {
  Quantization how = with_method("k4");
  how.rules = {{"*embed*", "keep"}, {"*down*", "q8"}, {"layers.*", "k6"}};
  EXPECT_EQ(types_of(quantized(how)), (Types{"f32", "mcf.k6", "mcf.q8", "f32"}));
}

bool tells(const Adapted& adapted, std::string_view words) { return mentions(adapted.changes, words); }

TEST(Quantize, WithoutAMethodForAllTheOthersAreKept) {
  Quantization how;
  how.rules = {{"*down*", "k4"}};
  EXPECT_EQ(types_of(quantized(how)), (Types{"f32", "f32", "mcf.k4", "f32"}));
}

// int* accept any rank if a rule asks for it. A rule that cannot be followed is reported.
TEST(Quantize, RulesReachOtherRanksOrSayWhyNot) {
  Model model;
  model.tensors = {make_dense("cube", {2, 3, 40}, DType::f32), make_dense("norm", {40}, DType::bf16),
                   make_dense("ids", {4, 4}, DType::i32)};
  EXPECT_EQ(types_of(quantized(with_method("int8"), model)), (Types{"f32", "bf16", "i32"}));
  Quantization how;
  how.rules = {{"*", "int8"}};
  Adapted adapted = quantized(how, model);
  EXPECT_EQ(types_of(adapted), (Types{"mcf.int8", "mcf.int8", "i32"}));
  EXPECT_TRUE(tells(adapted, "1 tensor kept although a rule says int8, which takes floats: ids"));
  how.rules = {{"*", "k4"}};
  adapted = quantized(how, model);
  EXPECT_EQ(types_of(adapted), (Types{"f32", "bf16", "i32"}));
  EXPECT_TRUE(
      tells(adapted, "3 tensors kept although a rule says k4, which takes matrices of floats: cube, norm, ids"));
}

TEST(Quantize, ImportanceThatNothingLooksAtIsTold) {
  Quantization how = with_method("int8");
  how.importance = {{"layers.0.up.weight", std::vector<float>(512, 1)}};
  EXPECT_TRUE(
      tells(quantized(how), "1 tensor with unused importance: int8 does not weigh columns: layers.0.up.weight"));
  how.method = "q8";
  EXPECT_FALSE(tells(quantized(how), "with unused importance"));
  how.fast = true;
  EXPECT_EQ(rule_of([&] { quantized(how); }), "quantize.importance");
}

// Even if it would have nothing to do.
TEST(Quantize, AMethodThatTheTargetCannotHoldIsRefused) {
  Model model;
  model.tensors = {make_dense("ids", {4}, DType::f32)};
  AdaptOptions options;
  options.quant.method = "k4";
  EXPECT_EQ(rule_of([&] { adapt(model, *find_format("alt"), options); }), "convert.quant");
  options.quant.method = "keep";
  options.quant.rules = {{"ids", "k4"}};
  EXPECT_EQ(rule_of([&] { adapt(model, *find_format("alt"), options); }), "convert.quant");
  options.quant = with_method("k4");
  EXPECT_TRUE(tells(adapt(model, *find_format("mcf"), options), "nothing was quantized"));
}

TEST(Quantize, WhatMakesNoSenseIsRefused) {
  Quantization how = with_method("k5");
  EXPECT_EQ(rule_of([&] { quantized(how); }), "convert.quant");
  how = with_method("k4");
  how.rules = {{"nothing*", "k6"}};
  EXPECT_EQ(rule_of([&] { quantized(how); }), "quantize.rule");
  how.rules = {{"*", "k7"}};
  EXPECT_EQ(rule_of([&] { quantized(how); }), "convert.quant");
  how = with_method("k4");
  how.range = true;
  EXPECT_EQ(rule_of([&] { quantized(how); }), "convert.quant");
  how.method.clear();
  how.bits = 5;
  EXPECT_EQ(rule_of([&] { quantized(how); }), "convert.quant");
  how.range = false;
  how.method = "k4";  // a method and a budget: one of them would be ignored
  EXPECT_EQ(rule_of([&] { quantized(how); }), "convert.quant");
  // A target without the layout must not quantize and decode again.
  EXPECT_EQ(rule_of([&] { quantized(with_method("k4"), model_of_four(), "npz"); }), "convert.quant");
}

TEST(Quantize, ReportsAreWhatDecodingSays) {
  for (const char* const method : {"q8", "q4", "k6", "k4", "k3", "k2", "int8", "int4"}) {
    const Model before = model_of_four();
    const Adapted adapted = quantized(with_method(method), before);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_NE(adapted.outcomes[i].report, nullptr);
      const EncodeReport& report = *adapted.outcomes[i].report;
      ASSERT_TRUE(report.complete) << method;
      const Bytes x = before.tensors[i].components[0].blob.bytes();
      const Bytes y = to_dense(adapted.model.tensors[i]).components[0].blob.bytes();
      double error = 0, sum = 0, largest = 0;
      for (std::size_t at = 0; at < x.size(); at += 4) {
        float a = 0, b = 0;
        a = load_le<float>(&x[at]);
        b = load_le<float>(&y[at]);
        const double d = static_cast<double>(a) - static_cast<double>(b);
        error += d * d;
        sum += static_cast<double>(a) * static_cast<double>(a);
        largest = std::max(largest, std::abs(d));
      }
      EXPECT_NEAR(report.squared_error, error, 1e-4 * error) << method;
      EXPECT_NEAR(report.squared_sum, sum, 1e-4 * sum) << method;
      EXPECT_NEAR(report.max_error, largest, 1e-5 * largest) << method;
      EXPECT_EQ(report.elements, adapted.outcomes[i].elements);
    }
  }
}

double squared_error_of(const Adapted& adapted) {
  double sum = 0;
  for (const TensorOutcome& outcome : adapted.outcomes)
    if (outcome.report != nullptr) sum += outcome.report->squared_error;
  return sum;
}

double bits_of(const Adapted& adapted) {
  double bytes = 0, weights = 0;
  for (const TensorOutcome& outcome : adapted.outcomes) {
    bytes += static_cast<double>(outcome.bytes);
    weights += static_cast<double>(outcome.elements);
  }
  return bytes * 8 / weights;
}

TEST(Quantize, ABudgetIsKeptAndSpentWhereItHelps) {
  double last = 1e300;
  for (const double bits : {3.0, 3.7, 4.4, 5.0, 6.5, 9.0, 33.0}) {
    Quantization how;
    how.bits = bits;
    const Adapted adapted = quantized(how);
    EXPECT_LE(bits_of(adapted), bits);
    EXPECT_LE(squared_error_of(adapted), last) << bits;
    last = squared_error_of(adapted);
  }
  EXPECT_EQ(last, 0) << "with room for everything, everything is kept";

  // With the size of k4 for all tensors, the budget must do better: the matrix of large values deserves more bits than
  // the others.
  const Adapted even = quantized(with_method("k4"));
  Quantization how;
  how.bits = bits_of(even);
  const Adapted chosen = quantized(how);
  EXPECT_LT(squared_error_of(chosen), 0.8 * squared_error_of(even));
  EXPECT_GT(chosen.outcomes[2].bits_per_weight(), chosen.outcomes[1].bits_per_weight());
}

// How well the input compresses does not count: the budget is about what is written.
TEST(Quantize, ABudgetDoesNotDependOnCompression) {
  const Scratch scratch;
  Model model;
  Tensor zeros = make_dense("w", {64, 256}, DType::f32);
  zeros.components[0].blob = Blob::memory(Bytes(64 * 256 * 4));
  model.tensors = {zeros};
  save(model, scratch / "plain.zt");
  save(model, scratch / "small.zt", {.write = {.zstd_level = 3}});
  AdaptOptions options;
  options.quant.bits = 9;
  for (const char* const file : {"plain.zt", "small.zt"})
    for (const char* const target : {"mcf", "zt"})
      EXPECT_LE(adapt(open(scratch / file), *find_format(target), options).outcomes[0].bits_per_weight(), 9)
          << file << " to " << target;
}

// A row of any length: at most a sample of it is read.
TEST(Quantize, ABudgetSamplesLongRows) {
  const std::uint64_t columns = std::uint64_t{1} << 20;
  Model model;
  model.tensors = {gaussian("w", 1, columns, 1, 4)};
  Blob& blob = model.tensors[0].components[0].blob;
  const auto source = std::make_shared<test::CountingSource>(blob.bytes());
  blob = Blob::range(source, 0, source->size());
  Quantization how;
  how.bits = 5;
  how.importance = {{"w", std::vector<float>(columns, 1)}};
  AdaptOptions options;
  options.quant = how;
  const Adapted adapted = adapt(std::move(model), *find_format("zt"), options);
  EXPECT_EQ(adapted.outcomes[0].bits_per_weight(), 4.5);  // q4: 32 codes of 4 bits and an f16
  EXPECT_LE(source->count, source->size() / 4);
}

TEST(Quantize, ABudgetChoosesAmongWhatTheTargetHolds) {
  for (const std::string_view name : {"alt", "mcf", "zt"}) {
    const Format& target = *find_format(name);
    for (const double bits : {5.0, 9.0}) {
      AdaptOptions options;
      options.quant.bits = bits;
      Model model = model_of_four();
      model.tensors[3] = make_dense("layers.0.norm.weight", {2048}, DType::bf16);  // f32 in ALT: a kept tensor may grow
      const Adapted adapted = adapt(std::move(model), target, options);
      EXPECT_LE(bits_of(adapted), bits) << name;
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(adapted.outcomes[i].encoded) << name;
        EXPECT_TRUE(lists(target.holds.layouts, adapted.model.tensors[i].layout))
            << name << " " << types_of(adapted)[i];
      }
    }
  }
  Quantization how;
  how.bits = 5;
  EXPECT_EQ(rule_of([&] { quantized(how, model_of_four(), "npz"); }), "convert.quant");
}

// Stacks of experts are most of the weights of a model that has them, and routers the least.
TEST(Quantize, ABudgetIsSpentOnStacksOfExperts) {
  Model model = model_of_four();
  Tensor stack = gaussian("blk.0.ffn_down_exps.weight", 4 * 64, 256, 1, 5);
  stack.shape = {4, 64, 256};
  model.tensors = {stack, gaussian("blk.0.ffn_gate_inp.weight", 4, 256, 1, 6),
                   gaussian("blk.0.attn_q.weight", 64, 256, 1, 7)};
  for (const double bits : {5.0, 7.0}) {
    AdaptOptions options;
    options.quant.bits = bits;
    options.quant.importance = {{stack.name, std::vector<float>(256, 1)}};
    options.keep_names = true;
    const Adapted adapted = adapt(model, *find_format("gguf"), options);
    EXPECT_LE(bits_of(adapted), bits);
    EXPECT_TRUE(adapted.outcomes[0].encoded);
    EXPECT_EQ(adapted.outcomes[1].type, "f32");
    EXPECT_TRUE(adapted.outcomes[2].encoded);
  }
}

TEST(Quantize, ABudgetLeavesRulesAlone) {
  Quantization how;
  how.bits = 12;
  how.rules = {{"*embed*", "k2"}, {"*down*", "keep"}};
  const Adapted adapted = quantized(how);
  EXPECT_EQ(adapted.outcomes[0].type, "mcf.k2");
  EXPECT_EQ(adapted.outcomes[2].type, "f32");
  EXPECT_LE(bits_of(adapted), 12);
  how.bits = 2;
  EXPECT_EQ(rule_of([&] { quantized(how); }), "quantize.bits");
}

// A rule that gives a type counts by the bytes of that type, in either direction.
TEST(Quantize, ABudgetCountsTheTypesOfRules) {
  for (const DType from : {DType::f32, DType::bf16})
    for (const char* const type : {"f16", "f32"}) {
      SCOPED_TRACE(fmt::format("{} to {}", name_of(from), type));
      Model model = model_of_four();
      for (Tensor& tensor : model.tensors) tensor = cast(tensor, from);
      Quantization how;
      how.bits = 14;
      how.rules = {{"*embed*", type}};
      const Adapted adapted = quantized(how, std::move(model));
      EXPECT_EQ(adapted.outcomes[0].type, type);
      EXPECT_LE(bits_of(adapted), 14);
      EXPECT_GT(bits_of(adapted), 11) << "the room that the rule leaves is used";
    }
}

TEST(Quantize, CodedMatricesAreDecodedFirstUnlessTheyAreInTheMethodAlready) {
  const Adapted first = quantized(with_method("k6"));
  Adapted again = quantized(with_method("k6"), first.model);
  EXPECT_FALSE(again.outcomes[0].encoded);
  EXPECT_EQ(content_digest(again.model), content_digest(first.model));
  again = quantized(with_method("k4"), first.model);
  EXPECT_TRUE(again.outcomes[0].encoded);
  EXPECT_EQ(types_of(again), (Types{"mcf.k4", "mcf.k4", "mcf.k4", "f32"}));
}

TEST(Quantize, NonFiniteWeightsAreRefusedByNameAndIndex) {
  Model model = model_of_four();
  Bytes bytes = model.tensors[1].components[0].blob.bytes();
  const float nan = std::nanf("");
  store_le<float>(&bytes[4 * (512 + 265)], nan);
  model.tensors[1].components[0].blob = Blob::memory(std::move(bytes));
  const auto error = error_of([&] { quantized(with_method("k4"), model); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "quant.nonfinite");
  EXPECT_NE(std::string(error->what()).find("layers.0.up.weight"), std::string::npos) << error->what();
  EXPECT_NE(std::string(error->what()).find("[1, 265]"), std::string::npos) << error->what();
}

// The weight is the input's, although the error occurs while the output is written.
TEST(Quantize, ABadWeightIsAnErrorOfTheInput) {
  const Scratch scratch;
  Model model;
  model.tensors = {gaussian("w", 8, 64, 1e9F, 1)};
  const std::string input = scratch / "in.npz", output = scratch / "out.zt";
  const auto sink = create_file(input, {.overwrite = true, .durable = false});
  find_format("npz")->write(model, *sink, {});
  sink->commit();
  for (const char* const method : {"mcf.k4", "zt.group4"}) {
    ConvertOptions options;
    options.adapt.quant = with_method(method);
    const auto error = error_of([&] { convert(input, output, options); });
    ASSERT_TRUE(error.has_value()) << method;
    EXPECT_TRUE(error->rule().ends_with(".overflow")) << error->what();
    EXPECT_EQ(error->file(), input) << error->what();
  }
}

TEST(Quantize, ImportanceMovesTheErrorToColumnsThatMatterLess) {
  Quantization how = with_method("k2");
  std::vector<float> weights(512, 0.01F);
  std::fill(weights.begin(), weights.begin() + 64, 100.0F);  // uniform in each block of 32: moves no error
  for (std::size_t i = 0; i < weights.size(); i += 2) weights[i] *= 1000;
  how.importance = {{"layers.0.up.weight", weights}};
  const auto weighted_error = [&](const Adapted& adapted) {
    const Bytes x = model_of_four().tensors[1].components[0].blob.bytes();
    const Bytes y = to_dense(adapted.model.tensors[1]).components[0].blob.bytes();
    double error = 0;
    for (std::size_t at = 0; at < x.size(); at += 4) {
      float a = 0, b = 0;
      a = load_le<float>(&x[at]);
      b = load_le<float>(&y[at]);
      error +=
          static_cast<double>(weights[at / 4 % 512]) * std::pow(static_cast<double>(a) - static_cast<double>(b), 2);
    }
    return error;
  };
  EXPECT_LT(weighted_error(quantized(how)), 0.95 * weighted_error(quantized(with_method("k2"))));
}

TEST(Quantize, ImportanceIsAVectorOfWeights) {
  const Scratch scratch;
  const auto file = [&](const Tensor& tensor) {
    Model model;
    model.tensors = {tensor};
    const std::string path = scratch / "importance.zt";
    const auto sink = create_file(path, {.overwrite = true, .durable = false});
    find_format("zt")->write(model, *sink, {});
    sink->commit();
    return path;
  };
  const auto floats = [](const std::vector<float>& values, Shape shape) {
    return dense("w", std::move(shape), values);
  };
  const Importance read = read_importance(file(floats({1, 0, 2.5F}, {3})));
  EXPECT_EQ(read.at("w"), (std::vector<float>{1, 0, 2.5F}));
  EXPECT_EQ(read_importance(file(floats({1, 2}, {1, 2}))).at("w").size(), 2U);
  EXPECT_EQ(rule_of([&] { read_importance(file(floats({1, 2}, {2, 1}))); }), "importance.shape");
  EXPECT_EQ(rule_of([&] { read_importance(file(floats({1, -2}, {2}))); }), "importance.value");
  EXPECT_EQ(rule_of([&] { read_importance(file(floats({1, INFINITY}, {2}))); }), "importance.value");
}

// Each element of a byte becomes a float, by way of a double: a file that decodes to exactly the limit of `open` took
// sixteen times as much.
TEST(Quantize, ImportanceOfManySmallElementsIsLimited) {
  const Scratch scratch;
  const auto file = [&](std::uint64_t elements) {
    Model model;
    model.tensors = {dense("w", {elements}, DType::u8, Blob::memory(Bytes(elements, std::byte{1})))};
    SaveOptions options;
    options.write.zstd_level = 1;
    options.overwrite = true;
    (void)save(std::move(model), scratch / "w.zt", options);
    return scratch / "w.zt";
  };
  const std::uint64_t allowed = Limits().decoded_bytes / sizeof(float);
  EXPECT_EQ(read_importance(file(allowed)).at("w").size(), allowed);
  const std::string larger = file(Limits().decoded_bytes);
  const std::size_t peak =
      peak_during([&] { EXPECT_EQ(rule_of([&] { read_importance(larger); }), "importance.size"); });
  if (kCountsMemory) {
    EXPECT_LT(peak, std::size_t{8} << 20) << "refused after it was decoded";
  }
}

TEST(Quantize, BytesDoNotDependOnThreads) {
  for (const char* const method : {"k4", "int8"}) {
    std::optional<Bytes> first;
    for (const unsigned threads : {1U, 2U, 5U}) {
      AdaptOptions options;
      options.quant = with_method(method);
      Adapted adapted = adapt(model_of_four(), *find_format("zt"), options, {.threads = threads});
      MemorySink sink;
      find_format("zt")->write(adapted.model, sink, {.work = {.threads = threads}});
      sink.commit();
      if (!first) first = sink.bytes();
      EXPECT_TRUE(sink.bytes() == *first) << method << " on " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace tare
