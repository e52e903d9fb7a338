// Files written by PyTorch: opens one of 100,000 tensors, and compares converting one with copying it.
#include "torch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "tare/tare.hpp"

namespace bench {
namespace {

using namespace tare;
namespace fs = std::filesystem;

constexpr std::size_t kTensors = 100'000;

// The number that the script prints; nothing if it fails.
std::optional<double> run_python(const std::string& script, const std::string& arguments) {
  const char* const python = std::getenv("TARE_BENCH_PYTHON");
  const std::string command =
      fmt::format("'{}' -c '{}' {} 2>/dev/null", python == nullptr ? "python3" : python, script, arguments);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  double number = 0;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf", &number) != 1) return std::nullopt;
  return number;
}

constexpr const char* kMany = R"(
import sys, torch
names = (f"model.layers.{i % 97}.self_attn.q_proj.{i}.weight" for i in range(100000))
torch.save({name: torch.zeros(4, 4) for name in names}, sys.argv[1])
print(1))";

constexpr const char* kLoad = R"(
import sys, time, torch
best = 1e9
for _ in range(int(sys.argv[2])):
    start = time.thread_time()
    torch.load(sys.argv[1], weights_only=True, mmap=True)
    best = min(best, time.thread_time() - start)
print(best * 10))";

constexpr const char* kLarge = R"(
import sys, torch
block = torch.randn(2**25).to(torch.bfloat16)
torch.save({f"w{i}": block.clone() for i in range(int(sys.argv[2]))}, sys.argv[1])
print(1))";

void bench_open(const std::string& path, int rounds, Table& table) {
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    Model opened;
    best = std::min(best, best_cpu_seconds(1, [&] { opened = open(path); }));
    if (opened.tensors.size() != kTensors) std::abort();
  }
  const double ours = best / kTensors * 1e6;
  table.row("open 100,000 tensors of PyTorch", fmt::format("{:.3f} us/tensor", ours), "2 us/tensor", ours / 2, 1, true);
  if (const auto theirs = run_python(kLoad, fmt::format("'{}' {}", path, rounds)))
    table.row("  against torch.load, mapped", fmt::format("{:.3f} us/tensor", ours),
              fmt::format("{:.3f} us/tensor", *theirs), *theirs / ours, 1);
}

void bench_convert(const std::string& in, const std::string& out, int rounds, Table& table) {
  const auto ours = [&] {
    fs::remove(out);
    (void)convert(in, out);
  };
  const auto copy = [&] {
    fs::remove(out);
    if (std::system(fmt::format("cp '{}' '{}' && sync '{}'", in, out, out).c_str()) != 0) std::abort();
  };
  const auto plain = [&] {
    fs::remove(out);
    if (std::system(fmt::format("cp '{}' '{}'", in, out).c_str()) != 0) std::abort();
  };
  const auto best = best_of(rounds, {ours, copy, plain});
  const auto total = static_cast<double>(fs::file_size(in));
  const auto rate = [&](double seconds) { return fmt::format("{:.2f} GB/s", total / seconds / 1e9); };
  const std::uint64_t memory = anonymous_growth(ours);
  table.row(fmt::format("convert {:.1f} GB of PyTorch, on disk when done", total / 1e9), rate(best[0]),
            "cp, then sync: " + rate(best[1]), best[1] / best[0], 0.7);
  table.row("  the same against a cp that does not wait", rate(best[0]), "cp: " + rate(best[2]), best[2] / best[0],
            0.7);
  table.row("  anonymous memory", fmt::format("{:.1f} MiB", static_cast<double>(memory) / (1 << 20)), "64 MiB",
            static_cast<double>(memory) / (64 << 20), 1, true);
}

}  // namespace

void torch(const std::string& directory, double gib, int rounds, Table& table) {
  const std::string many = directory + "/bench-many.pt", large = directory + "/bench-large.bin",
                    out = directory + "/bench-out.safetensors";
  if (!run_python(kMany, fmt::format("'{}'", many)) ||
      !run_python(kLarge, fmt::format("'{}' {}", large, std::max(1, static_cast<int>(gib * 16))))) {
    fmt::print(stderr, "PyTorch is not installed (TARE_BENCH_PYTHON names a python that has it)\n");
    return;
  }
  bench_open(many, rounds * 2, table);
  bench_convert(large, out, rounds, table);
  for (const std::string& path : {many, large, out}) fs::remove(path);
}

}  // namespace bench
