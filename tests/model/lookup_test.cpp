// Lookup of tensors by name: in few steps, and always correct.
#include <random>
#include <thread>

#include "base/threads.hpp"
#include "conformance/scratch.hpp"
#include "model/name_table.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

std::string name_of_layer(std::size_t i) { return "model.layers." + std::to_string(i) + ".weight"; }

Model model_of(std::size_t count) {
  Model model;
  for (std::size_t i = 0; i < count; ++i) {
    Tensor tensor;
    tensor.name = name_of_layer(i);
    model.tensors.push_back(std::move(tensor));
  }
  return model;
}

// The result of a plain search through all names.
const Tensor* plainly(const Model& model, std::string_view name) {
  for (const Tensor& tensor : model.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

TEST(Lookup, AtReturnsTheTensorOrNamesTheNearest) {
  Model model = model_of(3);
  EXPECT_EQ(&model.at("model.layers.1.weight"), &model.tensors[1]);
  EXPECT_EQ(&std::as_const(model).at("model.layers.2.weight"), &model.tensors[2]);
  const auto error_of_name = [&](std::string_view name) {
    try {
      static_cast<void>(model.at(name));
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "lookup.tensor");
      EXPECT_EQ(error.kind(), ErrorKind::not_found);
      return error.sentence();
    }
    return std::string("found");
  };
  EXPECT_EQ(error_of_name("model.layer.1.weight"),
            "there is no tensor model.layer.1.weight; did you mean model.layers.1.weight, model.layers.0.weight, "
            "model.layers.2.weight?");
  EXPECT_EQ(error_of_name("x"), "there is no tensor x");
  model.broken.push_back({model.tensors[0], Error(ErrorKind::corrupt, "zt.bounds", "too short")});
  model.tensors.erase(model.tensors.begin());
  EXPECT_EQ(rule_of([&] { static_cast<void>(model.at("model.layers.0.weight")); }), "zt.bounds");
}

TEST(Lookup, LooksAtFewNames) {
  constexpr std::size_t kCount = 100'000;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kCount; ++i) names.push_back(name_of_layer(i));
  std::size_t looks = 0;
  const auto name_at = [&](std::size_t i) -> std::string_view {
    ++looks;
    return names[i];
  };
  // Model::tensor: a few searches, then one table.
  const NameHints hints;
  for (std::size_t i = kCount; i-- > 0;) ASSERT_EQ(NameLookup::find(hints, names[i], kCount, name_at), i);
  EXPECT_LE(looks, (NameLookup::kPatience + 3) * kCount);
  looks = 0;
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(NameLookup::find(hints, names[i], kCount, name_at), i);
  EXPECT_LE(looks, kCount + 100);
  // All names reversed: the table is soon found to be useless, and rebuilt.
  std::reverse(names.begin(), names.end());
  looks = 0;
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(NameLookup::find(hints, names[i], kCount, name_at), i);
  EXPECT_LE(looks, (NameLookup::kPatience + 3) * kCount);
  // TensorIndex: hits and misses.
  looks = 0;
  const NameTable table(kCount, name_at);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(table.find(names[i], kCount, name_at), i);
    ASSERT_EQ(table.find(names[i] + "x", kCount, name_at), kNoPosition);
  }
  EXPECT_LE(looks, 2 * kCount + 1000);
}

TEST(Lookup, EqualNamesByTheThousandAreNoBurden) {
  constexpr std::size_t kCount = 20'000;
  std::size_t looks = 0;
  const auto name_at = [&](std::size_t) -> std::string_view {
    ++looks;
    return "same";
  };
  const NameTable table(kCount, name_at);
  EXPECT_EQ(table.find("same", kCount, name_at), 0U);
  EXPECT_EQ(table.find("other", kCount, name_at), kNoPosition);
  EXPECT_LE(looks, 2 * kCount + 10);
}

TEST(Lookup, OneLookupMakesNoTable) {
  std::size_t looks = 0;
  const auto name_at = [&](std::size_t i) -> std::string_view {
    ++looks;
    return i == 500 ? "here" : "there";
  };
  const NameHints hints;
  EXPECT_EQ(NameLookup::find(hints, "here", 1000, name_at), 500U);
  EXPECT_EQ(looks, 501U);
}

// Every result after every edit, compared with a plain search.
TEST(Lookup, EditsNeverGiveAWrongAnswer) {
  std::mt19937 random(20);
  for (const std::size_t count : {1, 5, 40, 300}) {
    Model model = model_of(count);
    const auto check_all = [&](const Model& checked) {
      for (std::size_t i = 0; i < 2 * count; ++i)
        for (const std::string& name : {name_of_layer(i), "new." + std::to_string(i)}) {
          const Tensor* const found = checked.tensor(name);
          ASSERT_EQ(found != nullptr, plainly(checked, name) != nullptr) << name;
          if (found != nullptr) {
            ASSERT_EQ(found->name, name);
            ASSERT_TRUE(found >= checked.tensors.data() && found < checked.tensors.data() + checked.tensors.size());
          }
        }
    };
    for (int round = 0; round < 60; ++round) {
      check_all(model);
      if (HasFatalFailure()) return;
      const std::size_t at = model.tensors.empty() ? 0 : random() % model.tensors.size();
      const auto place = model.tensors.begin() + static_cast<std::ptrdiff_t>(at);
      switch (random() % 8) {
        case 0:
          if (!model.tensors.empty()) model.tensors[at].name = "new." + std::to_string(random() % count);
          break;
        case 1:
          if (!model.tensors.empty()) model.tensors.erase(place);
          break;
        case 2: model.tensors.insert(place, model_of(2 * count).tensors.back()); break;
        case 3: std::shuffle(model.tensors.begin(), model.tensors.end(), random); break;
        case 4: {
          const Model copy = model;
          check_all(copy);
          if (!model.tensors.empty()) model.tensors.pop_back();
          check_all(copy);
          break;
        }
        case 5: {
          Model moved = std::move(model);
          check_all(moved);
          model = Model();  // NOLINT(bugprone-use-after-move)
          check_all(model);
          model = std::move(moved);
          break;
        }
        case 6:
          if (!model.tensors.empty()) std::swap(model.tensors.front().name, model.tensors.back().name);
          break;
        default: {
          Model other = model_of(count / 2 + 1);
          check_all(other);
          std::swap(model, other);
          check_all(other);
          break;
        }
      }
    }
  }
}

TEST(Lookup, FromManyThreads) {
  const Model model = model_of(2000);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 2000; ++i) {
        const std::size_t at = (i * 7 + t * 501) % 2000;
        if (model.tensor(name_of_layer(at)) != &model.tensors[at]) ++wrong;
        if (i % 100 == 0 && model.tensor("nobody") != nullptr) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Lookup, BrokenTensorsThrowTheirError) {
  Model model = model_of(100);
  Tensor bad;
  bad.name = "bad";
  model.broken.push_back({bad, Error(ErrorKind::corrupt, "zt.dense.size", "too short")});
  EXPECT_EQ(rule_of([&] { (void)model.tensor("bad"); }), "zt.dense.size");
  const TensorIndex index(model);
  EXPECT_EQ(rule_of([&] { (void)index.tensor("bad"); }), "zt.dense.size");
  EXPECT_EQ(index.tensor(name_of_layer(99)), &model.tensors[99]);
  EXPECT_EQ(index.tensor("nobody"), nullptr);
  EXPECT_EQ(index.tensor(""), nullptr);
  const Model empty;
  EXPECT_EQ(TensorIndex(empty).tensor("a"), nullptr);
  EXPECT_EQ(empty.tensor("a"), nullptr);
}

TEST(Lookup, FindsWhatMayBeChanged) {
  Model model = model_of(3);
  model.attachments.push_back({"README.md", Blob()});
  ASSERT_NE(model.tensor(name_of_layer(1)), nullptr);
  model.tensor(name_of_layer(1))->name = "renamed";
  EXPECT_EQ(model.tensor("renamed"), &model.tensors[1]);
  EXPECT_EQ(model.tensor(name_of_layer(1)), nullptr);
  model.attachment("README.md")->name = "README";
  EXPECT_EQ(std::as_const(model).attachment("README"), &model.attachments[0]);
}

}  // namespace
}  // namespace tare
