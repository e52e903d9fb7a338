// Runs the fuzz target named first on every file of the folders and files on the command line, in order of name: the
// corpus as a plain test, without libFuzzer. Measures the cost of each (cost.hpp). An empty corpus is a failure,
// because it would test nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "cost.hpp"

#define TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "targets.inc"
#undef TARGET

namespace {

struct Target {
  std::string_view name;
  int (*test)(const std::uint8_t* data, std::size_t size);
};

const Target kTargets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "targets.inc"
#undef TARGET
};

}  // namespace

int main(int argc, char** argv) {
  const Target* const target = std::ranges::find(kTargets, std::string_view(argc > 1 ? argv[1] : ""), &Target::name);
  if (target == std::end(kTargets)) {
    std::fprintf(stderr, "Usage: fuzz-replay TARGET PATH...\n");
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot open\n", path.c_str());
      return 1;
    }
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    // Print the name first, so that a crash shows the file.
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    tare::fuzz::metered(argv[1], bytes.size(),
                        [&] { target->test(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()); });
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
