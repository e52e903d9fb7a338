// Two models on the same tokens: the numbers against their definitions, and planted faults, of which the right layer and
// tensor must be named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "conformance/scratch.hpp"
#include "run/tiny_models.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/open.hpp"
#include "tare/save.hpp"

namespace tare {
namespace {

using testing::numbers_of;
using testing::set_config;
using testing::tiny_config;
using testing::tiny_model;
using testing::tiny_tokens;
using testing::TinyShape;

const TinyShape kComparedShape{.layers = 4};
// Rows that any method of quantization takes.
const TinyShape kQuantizedShape{
    .vocabulary = 64, .hidden = 256, .intermediate = 256, .layers = 3, .heads = 4, .kv_heads = 2, .head = 64};

run::Comparison compared(const Model& a, const Model& b, const run::Options& options = {}) {
  return compare(run::Scorer(a), run::Scorer(b), tiny_tokens(90, kComparedShape.vocabulary), options);
}

// The matrices in this type, or by this method of quantization; norms stay.
Model in_type(const Model& model, std::string_view type) {
  Model made = model;
  if (type == "f32") return made;
  const Codec* const codec = find_codec_by_method(type);
  for (Tensor& tensor : made.tensors) {
    if (tensor.shape.rank() != 2) continue;
    if (codec != nullptr)
      tensor = codec->encode(tensor, {.method = std::string(type), .fast = true});
    else
      tensor = cast(tensor, type == "bf16" ? DType::bf16 : DType::f16);
  }
  return made;
}

void change(Model& model, const std::string& name, const std::function<void(std::vector<float>&)>& edit) {
  Tensor& tensor = model.at(name);
  std::vector<float> values = tensor.values<float>();
  edit(values);
  tensor = dense<float>(tensor.name, tensor.shape, values);
}

// As the rows of queries and keys are in files of another convention.
void pair_rows(std::vector<float>& rows, std::size_t head, std::size_t columns) {
  const std::vector<float> before = rows;
  for (std::size_t first = 0; first < rows.size() / columns; first += head)
    for (std::size_t i = 0; i < head; ++i)
      std::copy_n(before.begin() + static_cast<std::ptrdiff_t>((first + i % 2 * (head / 2) + i / 2) * columns), columns,
                  rows.begin() + static_cast<std::ptrdiff_t>((first + i) * columns));
}

TEST(RunCompare, TheSame) {
  const Model model = tiny_model("llama", kComparedShape);
  const run::Comparison found = compared(model, model);
  EXPECT_EQ(found.kl.value, 0);
  EXPECT_EQ(found.kl_largest, 0);
  EXPECT_EQ(found.largest_change, 0);
  EXPECT_EQ(found.top_1.value, 1);
  EXPECT_EQ(found.top_5.value, 1);
  EXPECT_EQ(found.ratio.value, 1);
  EXPECT_EQ(found.tokens, 90u);
  EXPECT_EQ(found.predicted, 44u);
  EXPECT_FALSE(found.parting);
  ASSERT_EQ(found.places.size(), 6u);
  for (const run::PlaceDifference& place : found.places) EXPECT_EQ(place.difference, 0) << place.name;
  EXPECT_TRUE(found.settings.empty() && found.casts.empty() && found.worst.empty());
}

TEST(RunCompare, ByDefinition) {
  const Model a = tiny_model("llama", kComparedShape);
  Model b = a;
  change(b, "model.layers.2.mlp.up_proj.weight", [](std::vector<float>& values) {
    for (float& value : values) value *= 1.2f;
  });
  const std::vector<std::int32_t> tokens = tiny_tokens(90, 53);
  const run::Options options{.context = 50};
  const std::vector<float> x = run::Scorer(a).logits(tokens, options), y = run::Scorer(b).logits(tokens, options);
  std::vector<double> kl;
  double change = 0, agree = 0, five = 0;
  for (std::size_t t = 0; t < 90; ++t) {
    const auto shares = [&](const std::vector<float>& logits) {
      std::vector<double> p(53);
      for (std::size_t v = 0; v < 53; ++v) p[v] = std::exp(static_cast<double>(logits[t * 53 + v]));
      const double total = std::accumulate(p.begin(), p.end(), 0.0);
      for (double& value : p) value /= total;
      return p;
    };
    const auto top = [](const std::vector<double>& p) {
      std::vector<std::size_t> order(p.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return p[i] > p[j]; });
      order.resize(5);
      return order;
    };
    const std::vector<double> p = shares(x), q = shares(y);
    double sum = 0;
    for (std::size_t v = 0; v < 53; ++v) {
      sum += p[v] * std::log(p[v] / q[v]);
      change = std::max(change, std::fabs(p[v] - q[v]));
    }
    kl.push_back(sum);
    const auto best = top(p), other = top(q);
    agree += best[0] == other[0] ? 1.0 / 90 : 0;
    for (const std::size_t v : best) five += std::ranges::count(other, v) / 450.0;
  }
  const run::Comparison found = compared(a, b, options);
  EXPECT_NEAR(found.kl.value, std::accumulate(kl.begin(), kl.end(), 0.0) / 90, 1e-6);
  EXPECT_NEAR(found.largest_change, change, 1e-6);
  EXPECT_NEAR(found.top_1.value, agree, 1e-9);
  EXPECT_NEAR(found.top_5.value, five, 1e-9);
  EXPECT_NEAR(found.kl_largest, *std::ranges::max_element(kl), 1e-6);
  std::ranges::sort(kl);
  EXPECT_NEAR(found.kl_median.value, (kl[44] + kl[45]) / 2, 1e-6);
  EXPECT_NEAR(found.ratio.value, found.b.perplexity.value / found.a.perplexity.value, 1e-6);
  EXPECT_GT(found.kl.error, 0);
  ASSERT_EQ(found.worst.size(), 10u);
  EXPECT_EQ(found.worst.front().kl, found.kl_largest);
  // What only this layer does, and what follows from it.
  EXPECT_EQ(found.places[2].difference, 0);
  EXPECT_GT(found.places[3].own, 1e-3);
  EXPECT_GT(found.places[4].difference, 1e-4);
  EXPECT_EQ(found.places[4].own, 0);
}

struct PlantedFault {
  std::string name;
  std::function<void(Model&)> plant;
  std::string place, tensor;
};

std::vector<PlantedFault> planted_faults(const TinyShape& shape) {
  std::vector<PlantedFault> all;
  for (std::uint64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string place = fmt::format("layer {}", layer), root = fmt::format("model.layers.{}.", layer);
    all.push_back({"rows of q and k",
                   [=](Model& model) {
                     for (const std::string_view name : {"q", "k"})
                       change(model, fmt::format("{}self_attn.{}_proj.weight", root, name),
                              [=](std::vector<float>& rows) { pair_rows(rows, shape.head, shape.hidden); });
                   },
                   place, root + "self_attn.q_proj.weight"});
    all.push_back({"q and k exchanged rows of two heads",
                   [=](Model& model) {
                     change(model, root + "self_attn.k_proj.weight", [=](std::vector<float>& rows) {
                       const auto head = static_cast<std::ptrdiff_t>(shape.head * shape.hidden);
                       std::rotate(rows.begin(), rows.begin() + head, rows.end());
                     });
                   },
                   place, root + "self_attn.k_proj.weight"});
    all.push_back({"a norm shifted by one",
                   [=](Model& model) {
                     change(model, root + "post_attention_layernorm.weight", [](std::vector<float>& values) {
                       for (float& value : values) value += 1;
                     });
                   },
                   place, root + "post_attention_layernorm.weight"});
    all.push_back({"a flipped block",
                   [=](Model& model) {
                     change(model, root + "mlp.down_proj.weight", [](std::vector<float>& values) {
                       for (std::size_t i = 64; i < 96; ++i) values[i] = -values[i];
                     });
                   },
                   place, root + "mlp.down_proj.weight"});
  }
  all.push_back({"another head",
                 [=](Model& model) {
                   change(model, "lm_head.weight", [=](std::vector<float>& values) {
                     std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shape.hidden),
                                 values.end());
                   });
                 },
                 "output", "lm_head.weight"});
  all.push_back({"another table",
                 [](Model& model) {
                   change(model, "model.embed_tokens.weight", [](std::vector<float>& values) { values[23] += 1; });
                 },
                 "embeddings", "model.embed_tokens.weight"});
  all.push_back(
      {"another final norm",
       [](Model& model) { change(model, "model.norm.weight", [](std::vector<float>& values) { values[3] += 1; }); },
       "output", "model.norm.weight"});
  all.push_back({"another rope base",
                 [=](Model& model) { set_config(model, tiny_config("llama", shape, R"(, "rope_theta": 500000)")); },
                 "layer 0", ""});
  return all;
}

TEST(RunCompare, NamesWhereTheyPart) {
  const Model a = tiny_model("llama", kComparedShape);
  for (const PlantedFault& fault : planted_faults(kComparedShape)) {
    Model b = a;
    fault.plant(b);
    const run::Comparison found = compared(a, b);
    ASSERT_TRUE(found.parting) << fault.name;
    EXPECT_EQ(found.parting->place, fault.place) << fault.name;
    EXPECT_EQ(found.parting->tensor, fault.tensor) << fault.name;
    EXPECT_GT(found.kl.value, 0) << fault.name;
    EXPECT_EQ(found.settings.empty(), !fault.tensor.empty()) << fault.name;
  }
}

// The same if B has another type: only the fault is named, whichever of the two has it.
TEST(RunCompare, NamesWhereTheyPartBesidesAnotherType) {
  const Model a = tiny_model("llama", kQuantizedShape);
  for (const std::string_view type : {"f32", "bf16", "f16", "q8_0", "q4_0", "q4_k"})
    for (const PlantedFault& fault : planted_faults(kQuantizedShape)) {
      Model b = a;
      fault.plant(b);
      b = in_type(b, type);
      const run::Scorer one(a), other(b);
      for (const bool turned : {false, true}) {
        const run::Comparison found =
            turned ? compare(other, one, tiny_tokens(20, 64)) : compare(one, other, tiny_tokens(20, 64));
        ASSERT_TRUE(found.parting) << fault.name << " in " << type;
        EXPECT_EQ(found.parting->place, fault.place) << fault.name << " in " << type;
        EXPECT_EQ(found.parting->tensor, fault.tensor) << fault.name << " in " << type;
      }
    }
}

// One wrong block of thousands, which changes the whole by less than a cast to BF16 does.
TEST(RunCompare, NamesTheRowOfOneWrongBlock) {
  const TinyShape shape{.vocabulary = 64, .hidden = 512, .intermediate = 1024, .layers = 1, .head = 128};
  const Model a = tiny_model("llama", shape);
  Model b = a;
  change(b, "model.layers.0.mlp.up_proj.weight", [](std::vector<float>& values) {
    for (std::size_t i = 777 * 512 + 96; i < 777 * 512 + 128; ++i) values[i] = -values[i];
  });
  for (const std::string_view type : {"bf16", "q8_0", "q4_k", "q2_k"}) {
    const run::Comparison found = compared(a, in_type(b, type));
    ASSERT_TRUE(found.parting) << type;
    EXPECT_EQ(found.parting->tensor, "model.layers.0.mlp.up_proj.weight") << type;
    EXPECT_EQ(found.parting->row, 777u) << type;
    EXPECT_FALSE(compared(a, in_type(a, type)).parting) << type;
  }
}

// Numbers that are hard to quantize: spikes, rows and blocks of other sizes, zeros, one sign only, two values only.
void make_uneven(Model& model) {
  std::size_t kind = 0;
  for (Tensor& tensor : model.tensors) {
    if (tensor.shape.rank() != 2) continue;
    std::vector<float> values = tensor.values<float>();
    const auto columns = static_cast<std::size_t>(tensor.shape[1]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float& value = values[i];
      switch (kind % 7) {
        case 0: value *= i % 97 == 5 ? 30.0f : 1.0f; break;
        case 1: value = value * value * value * 100; break;
        case 2: value *= std::exp2(-static_cast<float>(i / columns % 12)); break;
        case 3: value = i / 32 % 5 == 1 ? 0 : i / 32 % 5 == 2 ? value / 50 : value; break;
        case 4: value = std::fabs(value); break;
        case 5: value = value < 0 ? -0.1f : 0.1f; break;
        default: break;
      }
    }
    ++kind;
    tensor = dense<float>(tensor.name, tensor.shape, values);
  }
}

TEST(RunCompare, QuantizationIsNoParting) {
  const Model plain = tiny_model("llama", kQuantizedShape);
  Model uneven = plain;
  make_uneven(uneven);
  std::size_t methods = 0;
  for (const Codec& codec : codecs())
    for (const std::string_view method : codec.methods) {
      ++methods;
      for (const Model* const a : {&plain, &std::as_const(uneven)}) {
        const Model b = in_type(*a, method);
        const run::Scorer one(*a), other(b);
        for (const bool turned : {false, true}) {
          const run::Comparison found =
              turned ? compare(other, one, tiny_tokens(20, 64)) : compare(one, other, tiny_tokens(20, 64));
          EXPECT_FALSE(found.parting) << method << (a == &uneven ? ", uneven: " : ": ") << found.parting->place << " "
                                      << found.parting->tensor << " " << found.parting->relative_rms;
        }
      }
    }
  EXPECT_GE(methods, 20u);
}

TEST(RunCompare, ACastIsNoParting) {
  const Model a = tiny_model("llama", kComparedShape);
  for (const DType type : {DType::bf16, DType::f16}) {
    Model b = a;
    for (Tensor& tensor : b.tensors) tensor = cast(tensor, type);
    const run::Comparison found = compared(a, b);
    EXPECT_FALSE(found.parting) << name_of(type) << ": " << found.parting->place << found.parting->tensor;
    ASSERT_EQ(found.casts.size(), 1u);
    EXPECT_EQ(found.casts[0].first, fmt::format("f32 -> {}", name_of(type)));
    EXPECT_EQ(found.casts[0].second, a.tensors.size());
    EXPECT_GT(found.kl.value, 0);
    EXPECT_LT(found.kl.value, 1e-3);
  }
}

// Routers whose scores nearly tie: a cast makes them choose others, which is no fault of the cast; another router is one.
TEST(RunCompare, ACastThatRoutersFeelIsNoParting) {
  constexpr std::uint64_t kExperts = 8;
  const TinyShape shape{.layers = 3};
  Model a = tiny_model("mixtral", shape, R"(, "num_local_experts": 8, "num_experts_per_tok": 2)");
  std::erase_if(a.tensors, [](const Tensor& tensor) { return tensor.name.find(".mlp.") != tensor.name.npos; });
  for (std::uint64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string root = fmt::format("model.layers.{}.block_sparse_moe.", layer);
    const std::vector<float> row = numbers_of(root, shape.hidden, 1, 0),
                             off = numbers_of(root + "off", kExperts * shape.hidden, 1, 0);
    std::vector<float> router;
    for (std::size_t i = 0; i < off.size(); ++i) router.push_back(row[i % shape.hidden] + 1e-4f * off[i]);
    a.tensors.push_back(dense<float>(root + "gate.weight", {kExperts, shape.hidden}, router));
    for (std::uint64_t expert = 0; expert < kExperts; ++expert)
      for (const auto& [name, rows, columns] : {std::tuple("w1", shape.intermediate, shape.hidden),
                                                {"w3", shape.intermediate, shape.hidden},
                                                {"w2", shape.hidden, shape.intermediate}})
        testing::add_tensor(a, fmt::format("{}experts.{}.{}.weight", root, expert, name), {rows, columns});
  }
  Model b = a;
  for (Tensor& tensor : b.tensors) tensor = cast(tensor, DType::bf16);
  const run::Comparison found = compared(a, b);
  EXPECT_GT(found.places[1].difference, 0.05);  // other experts run
  for (const run::PlaceDifference& place : found.places) EXPECT_LT(place.own, 0.02) << place.name;
  EXPECT_FALSE(found.parting) << found.parting->place << found.parting->tensor;
  EXPECT_TRUE(compared(a, a).kl_largest == 0);

  Model c = a;
  change(c, "model.layers.1.block_sparse_moe.gate.weight",
         [](std::vector<float>& values) { std::rotate(values.begin(), values.begin() + 20, values.end()); });
  EXPECT_EQ(compared(a, c).parting->place, "layer 1");
}

// A broken tied head: the head that should be the table is another matrix.
TEST(RunCompare, BrokenTiedHead) {
  TinyShape tied = kComparedShape;
  tied.tied = true;
  const Model a = tiny_model("llama", tied), b = tiny_model("llama", kComparedShape);
  const run::Comparison found = compared(a, b);
  ASSERT_TRUE(found.parting);
  EXPECT_EQ(found.parting->place, "output");
  EXPECT_EQ(found.parting->role, "head");
}

TEST(RunCompare, OtherSizes) {
  TinyShape smaller = kComparedShape;
  smaller.layers = 2, smaller.hidden = 12;
  const run::Comparison found = compared(tiny_model("llama", kComparedShape), tiny_model("llama", smaller));
  EXPECT_TRUE(found.places.empty());
  EXPECT_FALSE(found.parting);
  EXPECT_GT(found.kl.value, 0);
  EXPECT_FALSE(found.settings.empty());
  smaller.vocabulary = 54;
  try {
    (void)compared(tiny_model("llama", kComparedShape), tiny_model("llama", smaller));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "run.vocabularies");
  }
}

// Neither in memory nor in parts.
TEST(RunCompare, MemoryChangesNothing) {
  const Model a = tiny_model("llama", kComparedShape);
  Model b = a;
  for (Tensor& tensor : b.tensors) tensor = cast(tensor, DType::f16);
  const run::Comparison whole = compared(a, b, {.context = 20}), parts = compared(a, b, {.memory = 1, .context = 20});
  EXPECT_EQ(whole.kl.value, parts.kl.value);
  EXPECT_EQ(whole.a.loss.value, parts.a.loss.value);
  for (std::size_t i = 0; i < whole.places.size(); ++i)
    EXPECT_NEAR(whole.places[i].own, parts.places[i].own, 1e-12) << whole.places[i].name;
}

// Whose fault it is: A is good.
TEST(RunCompare, ErrorsNameTheFile) {
  const testing::Scratch scratch;
  const Model good = tiny_model("llama", kComparedShape);
  Model with_nan = good, is_short = good;
  change(with_nan, "model.layers.2.mlp.up_proj.weight", [](std::vector<float>& values) { values[5] = NAN; });
  set_config(is_short, tiny_config("llama", kComparedShape, R"(, "max_position_embeddings": 7)"));
  save(good, scratch / "good.zt");
  save(with_nan, scratch / "nan.zt");
  save(is_short, scratch / "short.zt");
  for (const auto& [bad, rule] : {std::pair("nan.zt", "run.not_finite"), {"short.zt", "run.context"}})
    for (const bool first : {false, true}) try {
        const Model a = open(scratch / (first ? bad : "good.zt")), b = open(scratch / (first ? "good.zt" : bad));
        (void)compared(a, b, {.context = 60});
        ADD_FAILURE() << bad;
      } catch (const Error& error) {
        EXPECT_EQ(error.rule(), rule);
        EXPECT_EQ(error.file(), scratch / bad);
      }
}

}  // namespace
}  // namespace tare
