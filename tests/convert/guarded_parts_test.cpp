// Parts of a plan that were damaged in transit are refused, whatever the options are.
#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

struct OptionSet {
  std::string name, output;
  ConvertOptions options;
};

std::vector<OptionSet> option_sets() {
  const WriteOptions zstd{.zstd_level = 3};
  AdaptOptions quantized;
  quantized.quant.method = "q8_0";
  return {{"plain", "out.zt", {}},
          {"zstd", "out.zt", {.write = zstd}},
          {"no zstd", "out.zt", {.write = {.unpack = true}}},
          {"no digest", "out.zt", {.write = {.digest = DigestAlgorithm::none}}},
          {"sha256", "out.zt", {.write = {.digest = DigestAlgorithm::sha256}}},
          {"zstd and sha256", "out.zt", {.write = {.zstd_level = 3, .digest = DigestAlgorithm::sha256}}},
          {"zstd and no digest", "out.zt", {.write = {.zstd_level = 3, .digest = DigestAlgorithm::none}}},
          {"zstd and a cast", "out.zt", {.adapt = {.dtype = DType::f64}, .write = zstd}},
          {"zt2", "out.zt2", {.write = zstd}},
          {"mcf", "out.mcf", {}},
          {"gguf", "out.gguf", {}},
          {"quantized", "out.gguf", {.adapt = quantized}},
          {"safetensors", "out.safetensors", {}}};
}

class GuardedParts : public ::testing::TestWithParam<OptionSet> {
 protected:
  GuardedParts() {
    Model model;
    for (std::uint64_t i = 0; i < 4; ++i)
      model.tensors.push_back(make_dense(fmt::format("t{}", i), {8, 64}, DType::f32, "", i + 1));
    save(model, input_, {.write = {.zstd_level = 1, .digest = DigestAlgorithm::crc32c}});
    output_ = scratch_ / GetParam().output;
    for (std::size_t i = 0; i < 2; ++i) {
      parts_.push_back(scratch_ / fmt::format("part{}", i));
      write_part(input_, output_, GetParam().options, {2 * i, 2, "plan"}, parts_.back());
      whole_.push_back(get_file(parts_.back()));
    }
  }

  // The rule by which finishing is refused; empty if it succeeds.
  std::string finish() const {
    ConvertOptions options = GetParam().options;
    options.overwrite = true;
    return rule_of([&] { static_cast<void>(convert_from_parts(input_, output_, options, parts_, "plan")); });
  }
  Bytes direct() const {
    const std::string path = scratch_ / ("direct" + std::filesystem::path(output_).extension().string());
    ConvertOptions options = GetParam().options;
    options.overwrite = true;
    (void)convert(input_, path, options);
    return get_file(path);
  }

  const Scratch scratch_{Scratch::fast_place()};
  const std::string input_ = scratch_ / "in.zt";
  std::string output_;
  std::vector<std::string> parts_;
  std::vector<Bytes> whole_;
};

TEST_P(GuardedParts, UndamagedOnesGiveTheBytesOfConvert) {
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(get_file(output_), direct());
}

TEST_P(GuardedParts, EveryFlippedBitIsRefused) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100; ++i) {
    const std::size_t part = random() % parts_.size();
    const std::size_t place = random() % whole_[part].size();
    const auto bit = static_cast<unsigned>(random() % 8);
    Bytes damaged = whole_[part];
    damaged[place] ^= std::byte{1} << bit;
    put_file(parts_[part], damaged);
    const std::string rule = finish();
    EXPECT_TRUE(rule == "plan.part.damaged" || rule == "plan.part")
        << "bit " << bit << " of byte " << place << " of part " << part << ": " << rule;
    EXPECT_FALSE(std::filesystem::exists(output_));
    put_file(parts_[part], whole_[part]);
  }
  EXPECT_EQ(finish(), "");
}

TEST_P(GuardedParts, TruncatedExtendedAndExchangedOnesAreRefused) {
  const auto with = [&](std::size_t part, Bytes bytes) {
    put_file(parts_[part], bytes);
    const std::string rule = finish();
    put_file(parts_[part], whole_[part]);
    return rule;
  };
  std::mt19937_64 random(9);
  for (int i = 0; i < 20; ++i) {
    Bytes cut = whole_[1];
    cut.resize(random() % cut.size());
    EXPECT_EQ(with(1, cut), "plan.part") << cut.size();
  }
  Bytes longer = whole_[0];
  longer.push_back(std::byte{0});
  EXPECT_EQ(with(0, longer), "plan.part");
  // A complete part, but not all of them.
  EXPECT_EQ(with(0, whole_[1]), "plan.missing");
  // A complete part of another plan.
  const std::string other = scratch_ / "other";
  write_part(input_, output_, GetParam().options, {0, 2, "other plan"}, other);
  EXPECT_EQ(with(0, get_file(other)), "plan.part");
  // Exchanged parts are fine: a part has the names of its tensors.
  put_file(parts_[0], whole_[1]);
  put_file(parts_[1], whole_[0]);
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(get_file(output_), direct());
}

INSTANTIATE_TEST_SUITE_P(Options, GuardedParts, ::testing::ValuesIn(option_sets()), [](const auto& set) {
  std::string name = set.param.name;
  std::erase(name, ' ');
  return name;
});

}  // namespace
}  // namespace tare
