// A conversion in parts: which parts are accepted, and from which owners.
#include "tare/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "codecs/packs/fixtures.hpp"
#include "conformance/scratch.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

constexpr uid_t kSomebody = 12345;

// An input of three tensors and its parts of a plan called "p", one for each tensor.
class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    Model model;
    for (const char* const name : {"a", "b", "c"})
      model.tensors.push_back(dense(name, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
    save(model, input_);
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
      parts_.push_back(scratch_ / fmt::format("part{}", i));
      write_part(input_, output_, {}, {i, 1, "p"}, parts_.back());
    }
  }

  std::string rule_of_finishing(Owners owners = Owners::trusted) const {
    return rule_of(
        [&] { static_cast<void>(convert_from_parts(input_, output_, {.overwrite = true}, parts_, "p", owners)); });
  }

  const Scratch scratch_;
  const std::string input_ = scratch_ / "in.zt", output_ = scratch_ / "out.mcf";
  std::vector<std::string> parts_;
};

TEST_F(PlanTest, GivesTheBytesOfConvert) {
  EXPECT_EQ(rule_of_finishing(), "");
  convert(input_, scratch_ / "direct.mcf");
  EXPECT_EQ(get_file(output_), get_file(scratch_ / "direct.mcf"));
}

TEST_F(PlanTest, WhatIsNoPartOrNotAllOfThem) {
  EXPECT_TRUE(is_part(parts_[1], "p"));
  EXPECT_FALSE(is_part(parts_[1], "q"));
  EXPECT_FALSE(is_part(input_, "p"));
  EXPECT_FALSE(is_part(scratch_ / "missing", "p"));
  const std::string last = std::exchange(parts_.back(), input_);
  EXPECT_EQ(rule_of_finishing(), "plan.part");
  parts_.pop_back();
  EXPECT_EQ(rule_of_finishing(), "plan.missing");
  parts_.push_back(last);
  EXPECT_EQ(rule_of_finishing(), "");
  EXPECT_THROW(write_part(input_, output_, {}, {2, 2, "p"}, last), Error);
}

TEST_F(PlanTest, ATensorThatNoPartHasIsNotFound) {
  parts_.pop_back();
  const auto error = error_of([&] {
    static_cast<void>(convert_from_parts(input_, output_, {.overwrite = true}, parts_, "p", Owners::trusted));
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::not_found) << "the command ends with 1, as for a task that was not done";
}

// The output's tensors are the arrays of packed weights; a part, read by itself, would join them.
TEST(PlanOfPacks, GivesTheBytesOfConvert) {
  for (const std::string& name : pack_fixtures::names()) {
    SCOPED_TRACE(name);
    const Scratch scratch;
    const std::string input = pack_fixtures::path_of(name), output = scratch / "out.zt";
    const std::size_t count = planned_tensors(input, output, {}).size();
    const std::vector<std::string> parts = {scratch / "part0", scratch / "part1"};
    write_part(input, output, {}, {0, count / 2, "p"}, parts[0]);
    write_part(input, output, {}, {count / 2, count - count / 2, "p"}, parts[1]);
    ASSERT_EQ(rule_of([&] { static_cast<void>(convert_from_parts(input, output, {}, parts, "p")); }), "");
    convert(input, scratch / "direct.zt");
    EXPECT_EQ(get_file(output), get_file(scratch / "direct.zt"));
  }
}

// The weights of columns come from a file that may change between two tasks, like the input.
TEST_F(PlanTest, PartsOfOtherImportanceAreRefused) {
  ConvertOptions options{.overwrite = true};
  options.adapt.quant.method = "k4";
  const std::string target = scratch_ / "quantized.mcf";
  const auto make = [&](std::size_t number, float weight) {
    options.adapt.quant.importance = {{"a", {1, weight, 1}}};
    write_part(input_, target, options, {number, 1, "p"}, parts_[number]);
  };
  const auto finish = [&] {
    return rule_of([&] { static_cast<void>(convert_from_parts(input_, target, options, parts_, "p")); });
  };
  for (const std::size_t number : {0U, 1U, 2U}) make(number, 2);
  EXPECT_EQ(finish(), "");
  make(2, 3);
  EXPECT_EQ(finish(), "plan.source");
  options.adapt.quant.importance.clear();
  EXPECT_EQ(finish(), "plan.source");
}

// In a store, two versions of a model may have files of the same sizes and times.
TEST_F(PlanTest, PartsOfAnotherVersionWithTheSameSizeAndTimeAreRefused) {
  const auto time = std::filesystem::last_write_time(input_);
  const auto size = std::filesystem::file_size(input_);
  Model model;
  for (const char* const name : {"a", "b", "c"})
    model.tensors.push_back(dense(name, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 7}));
  save(model, input_, {.overwrite = true});
  std::filesystem::last_write_time(input_, time);
  ASSERT_EQ(std::filesystem::file_size(input_), size);
  write_part(input_, output_, {}, {1, 1, "p"}, parts_[1]);
  EXPECT_EQ(rule_of_finishing(), "plan.source");
  for (const std::size_t number : {0U, 2U}) write_part(input_, output_, {}, {number, 1, "p"}, parts_[number]);
  EXPECT_EQ(rule_of_finishing(), "");
}

TEST_F(PlanTest, TakesNoPartOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(parts_[1].c_str(), kSomebody, 0), 0);
  EXPECT_EQ(rule_of_finishing(), "plan.part.owner");
  ASSERT_EQ(::chown(input_.c_str(), kSomebody, 0), 0);
  EXPECT_EQ(rule_of_finishing(), "plan.part.owner");
  EXPECT_FALSE(std::filesystem::exists(output_));
  EXPECT_EQ(rule_of_finishing(Owners::any), "");
}

TEST_F(PlanTest, FollowsNoLinks) {
  const std::string elsewhere = scratch_ / "elsewhere";
  std::filesystem::rename(parts_[1], elsewhere);
  std::filesystem::create_symlink(elsewhere, parts_[1]);
  EXPECT_FALSE(is_part(parts_[1], "p"));
  EXPECT_EQ(rule_of_finishing(), "plan.part.link");
  EXPECT_EQ(rule_of_finishing(Owners::any), "plan.part.link");
  put_file(elsewhere, to_bytes("mine"));
  EXPECT_EQ(rule_of([&] { write_part(input_, output_, {}, {1, 1, "p"}, parts_[1]); }), "io.sink.link");
  EXPECT_EQ(to_text(get_file(elsewhere)), "mine");
}

TEST_F(PlanTest, ATaskReplacesPartsOnly) {
  const Bytes part = get_file(parts_[1]);
  const auto again = [&] { return rule_of([&] { write_part(input_, output_, {}, {1, 1, "p"}, parts_[1]); }); };
  put_file(parts_[1], to_bytes("my notes"));
  EXPECT_EQ(again(), "plan.part.exists");
  EXPECT_EQ(to_text(get_file(parts_[1])), "my notes");
  Bytes damaged = part;
  damaged[40] ^= std::byte{1};
  for (const Bytes& bytes : {damaged, part, Bytes()}) {
    put_file(parts_[1], bytes);
    EXPECT_EQ(again(), "");
    EXPECT_EQ(get_file(parts_[1]), part);
  }
}

}  // namespace
}  // namespace tare
