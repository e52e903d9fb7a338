// Files that are rewritten while they are read: every reader, and every decoder, encoder and writer with its results.
#include "changing/source.hpp"
#include "conformance/memory.hpp"
#include "use_all.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using test::ChangingSource;

struct Sample {
  std::string name;
  Bytes bytes;
};

// The corpus of one format, and models that use everything it holds.
std::vector<Sample> samples_of(const Format& format) {
  std::vector<Sample> samples;
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::path(TARE_TEST_DIR) / "../fuzz/corpus" / format.name;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with("valid."))
      samples.push_back({entry.path().filename(), get_file(entry.path())});
  if (format.write != nullptr)
    samples.push_back({"full", write_bytes(format, full_model(format.holds), compact(format))});
  if (format.write != nullptr && format.holds.zstd)
    samples.push_back({"zstd", write_bytes(format, full_model(format.holds), compact(format, {.zstd_level = 1}))});
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.name < b.name; });
  return samples;
}

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33;
}

// How a file is rewritten: zeros, the largest numbers, some noise, small changes in many places, all bytes shifted by
// one.
constexpr unsigned kKinds = 5;
Bytes rewritten(Bytes bytes, unsigned kind, std::uint64_t seed) {
  if (bytes.empty()) return bytes;
  switch (kind) {
    case 0: std::fill(bytes.begin(), bytes.end(), std::byte{0}); break;
    case 1: std::fill(bytes.begin(), bytes.end(), std::byte{0xFF}); break;
    case 2:
      for (std::byte& byte : bytes)
        if (next_random(seed) % 16 == 0) byte = static_cast<std::byte>(next_random(seed));
      break;
    case 3:
      for (std::byte& byte : bytes)
        if (next_random(seed) % 4 == 0) byte ^= std::byte{1};
      break;
    default: std::rotate(bytes.begin(), bytes.begin() + 1, bytes.end()); break;
  }
  return bytes;
}

class Changing : public ::testing::TestWithParam<const Format*> {};

// Includes formats that are only read.
std::vector<const Format*> single_files() {
  std::vector<const Format*> rows;
  for (const Format& format : formats())
    if (format.write != nullptr || !stored_files(format).empty()) rows.push_back(&format);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Formats, Changing, ::testing::ValuesIn(single_files()),
                         [](const auto& row) { return std::string(row.param->name); });

// The file changes between the first and second access, the second and third, and so on.
TEST_P(Changing, WhileItIsOpened) {
  std::uint64_t seed = 1;
  for (const Sample& sample : samples_of(*GetParam()))
    for (const bool views : {false, true}) {
      const auto open_it = [&](std::uint64_t when, unsigned kind) {
        const auto source =
            std::make_shared<ChangingSource>(sample.bytes, rewritten(sample.bytes, kind, ++seed), when, views);
        IgnoreFindings ignore_findings;
        error_of([&] { GetParam()->read({"it", source}, {}); });
        error_of([&] { GetParam()->read({"it", source}, {.diagnostics = &ignore_findings}); });
        return source->accesses();
      };
      const std::uint64_t accesses = open_it(ChangingSource::kNever, 0);
      for (std::uint64_t when = 0; when <= accesses; when += 1 + accesses / 200)
        for (unsigned kind = 0; kind < kKinds; ++kind) open_it(when, kind);
    }
}

// The bytes change after the model is opened.
TEST_P(Changing, WhileItIsUsed) {
  std::uint64_t seed = 7;
  for (const Sample& sample : samples_of(*GetParam()))
    for (const bool views : {false, true}) {
      const Model other = GetParam()->read({"other", borrow_memory(sample.bytes)}, {});
      const auto use_it = [&](std::uint64_t when, unsigned kind) {
        const auto source =
            std::make_shared<ChangingSource>(sample.bytes, rewritten(sample.bytes, kind, ++seed), when, views);
        error_of([&] { use_model(GetParam()->read({"it", source}, {}), other, when + kind); });
        return source->accesses();
      };
      const std::uint64_t accesses = use_it(ChangingSource::kNever, 0);
      // Once per kind with sanitizers, which are slow; the fuzz target covers more.
      const unsigned steps = kCountsMemory ? 2 * kKinds : kKinds;
      for (unsigned step = 0; step < steps; ++step) use_it(accesses * step / steps, step % kKinds);
    }
}

}  // namespace
}  // namespace tare
