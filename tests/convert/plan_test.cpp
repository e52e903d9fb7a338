// A conversion in parts: what they are taken from, and from whom.
#include "tare/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "conformance/scratch.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

constexpr uid_t kSomebody = 12345, kSomebodyElse = 12346;

// An input of three tensors and its parts of a plan called "p", one of each tensor.
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

  std::string rule_of_finishing() const {
    try {
      static_cast<void>(convert_from_parts(input_, output_, {.overwrite = true}, parts_, "p"));
      return {};
    } catch (const Error& error) {
      return error.rule();
    }
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

TEST_F(PlanTest, TakesNoPartOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(parts_[1].c_str(), kSomebody, 0), 0);
  EXPECT_EQ(rule_of_finishing(), "plan.part.owner");
  EXPECT_FALSE(std::filesystem::exists(output_));
  // Who owns the input decides what the weights are anyway.
  ASSERT_EQ(::chown(input_.c_str(), kSomebody, 0), 0);
  EXPECT_EQ(rule_of_finishing(), "");
  ASSERT_EQ(::chown(input_.c_str(), kSomebodyElse, 0), 0);
  EXPECT_EQ(rule_of_finishing(), "plan.part.owner");
}

}  // namespace
}  // namespace tare
