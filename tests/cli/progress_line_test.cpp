// The line of the progress bar: if space is short, the progress and the remaining time are kept.
#include "cli/progress_line.hpp"

#include <gtest/gtest.h>

#include "cli/text.hpp"

namespace tare::cli {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

ProgressState quantizing() { return {"quantizing", 133 * kMiB, 635 * kMiB, 4}; }

TEST(ProgressLine, ShrinksWhatTellsLeast) {
  EXPECT_EQ(progress_line(quantizing(), 200, false),
            "quantizing   21%  ####................  133.0 MiB of 635.0 MiB  33.2 MiB/s  0:15 left");
  EXPECT_EQ(progress_line(quantizing(), 79, false),
            "quantizing   21%  ##............  133.0 MiB of 635.0 MiB  33.2 MiB/s  0:15 left");
  EXPECT_EQ(progress_line(quantizing(), 65, false), "quantizing   21%  133.0 MiB of 635.0 MiB  33.2 MiB/s  0:15 left");
  EXPECT_EQ(progress_line(quantizing(), 55, false), "quantizing   21%  133.0 MiB of 635.0 MiB  0:15 left");
  EXPECT_EQ(progress_line(quantizing(), 40, false), "quantizing   21%  0:15 left");
  EXPECT_EQ(progress_line(quantizing(), 25, false), "quant...   21%  0:15 left");
  EXPECT_EQ(progress_line(quantizing(), 79, true),
            "quantizing   21%  ██░░░░░░░░░░░░  133.0 MiB of 635.0 MiB  33.2 MiB/s  0:15 left");
}

// `verify` of a truncated file reads some bytes twice.
TEST(ProgressLine, NoMoreIsDoneThanThereIs) {
  EXPECT_EQ(progress_line({"verifying", 7 * kMiB, 6 * kMiB, 0.01}, 79, false),
            "verifying  100%  ####################  6.0 MiB of 6.0 MiB");
}

TEST(ProgressLine, LongNamesAreCutBeforeNumbers) {
  ProgressState state = quantizing();
  state.doing = "hashing /a/long/way/to/a/file/with/a/name/of/many/letters.safetensors";
  const std::string line = progress_line(state, 79, false);
  EXPECT_EQ(line, "hashing /a/long/way/to/...   21%  133.0 MiB of 635.0 MiB  33.2 MiB/s  0:15 left");
  EXPECT_LE(display_width(line), 79U);
}

TEST(ProgressLine, FitsAlwaysAndKeepsTheTimeLeft) {
  for (const std::string& doing : {std::string("hashing"), std::string(100, 'x'), std::string("読む 重み.safetensors")})
    for (const std::uint64_t total : {std::uint64_t{0}, 635 * kMiB})
      for (const double seconds : {0.0, 0.2, 4.0, 100'000.0})
        for (const bool unicode : {true, false})
          for (std::size_t columns = 19; columns < 130; ++columns) {
            const std::string line = progress_line({doing, 133 * kMiB, total, seconds}, columns, unicode);
            EXPECT_LE(display_width(line), columns) << line;
            if (total == 0 || columns < 30) continue;
            EXPECT_NE(line.find("21%"), std::string::npos) << line;
            EXPECT_EQ(line.ends_with(" left"), seconds >= 0.5) << line;
          }
}

TEST(ProgressLine, BeforeAnythingIsKnown) {
  EXPECT_EQ(progress_line({"reading", 0, 0, 0}, 79, false), "reading  0 B");
  EXPECT_EQ(progress_line({"reading", 0, 100, 0.01}, 79, false), "reading    0%  ....................  0 B of 100 B");
  EXPECT_EQ(progress_line({"reading", 100, 100, 1}, 79, false),
            "reading  100%  ####################  100 B of 100 B  100 B/s");
}

}  // namespace
}  // namespace tare::cli
