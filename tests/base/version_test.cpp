#include "tare/version.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace {

TEST(VersionTest, IsTheNewestInTheChangelog) {
  std::ifstream changelog(TARE_TEST_DIR "/../CHANGELOG.md");
  std::string line;
  while (std::getline(changelog, line) && !line.starts_with("## ")) {
  }
  EXPECT_EQ(line.substr(0, line.find(',')), "## " + std::string(tare::version()));
}

}  // namespace
