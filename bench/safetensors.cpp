// Opens a safetensors file of 100,000 tensors, and compares with the Python package `safetensors` if it is installed.
#include "safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "formats/format.hpp"
#include "tare/tare.hpp"

namespace bench {
namespace {

using namespace tare;

constexpr std::size_t kCount = 100'000;

// Names as in real models, sorted and without gaps, as every common writer stores them.
void write_many(const std::string& path) {
  const Bytes bytes(64);
  const SourcePtr source = borrow_memory(bytes);
  Model model;
  for (std::size_t i = 0; i < kCount; ++i)
    model.tensors.push_back(dense(fmt::format("model.layers.{}.self_attn.q_proj.{}.weight", i % 97, i), Shape{4, 4},
                                  i % 10 == 0 ? DType::f32 : DType::bf16,
                                  Blob::range(source, 0, i % 10 == 0 ? 64 : 32)));
  const auto sink = create_file(path, {.overwrite = true, .durable = false});
  find_format("safetensors")->write(model, *sink, {});
  sink->commit();
}

// Microseconds per tensor, in processor time of the opening thread; nothing if it cannot be measured.
std::optional<double> python_microseconds(const std::string& path, int rounds) {
  const char* const python = std::getenv("TARE_BENCH_PYTHON");
  const std::string command = fmt::format(
      "'{}' -c '\n"
      "import sys, time\n"
      "from safetensors import safe_open\n"
      "best = 1e9\n"
      "for _ in range(int(sys.argv[2])):\n"
      "    start = time.thread_time()\n"
      "    with safe_open(sys.argv[1], framework=\"np\") as file:\n"
      "        count = len(file.keys())\n"
      "    best = min(best, time.thread_time() - start)\n"
      "print(best / count * 1e6)\n"
      "' '{}' {} 2>/dev/null",
      python == nullptr ? "python3" : python, path, rounds);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  double microseconds = 0;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf", &microseconds) != 1) return std::nullopt;
  return microseconds;
}

}  // namespace

void bench_safetensors(const std::string& directory, int rounds, Table& table) {
  const std::string path = directory + "/bench-open.safetensors";
  write_many(path);
  double best = 1e300;
  std::size_t allocated = 0;
  for (int round = 0; round < rounds * 5; ++round) {
    Model opened;
    const std::size_t before = allocations();
    best = std::min(best, best_cpu_seconds(1, [&] { opened = open(path); }));
    allocated = allocations() - before;
    std::size_t listed = 0;
    for (const Tensor& tensor : opened.tensors) listed += tensor.name.size() + tensor.shape.size() + tensor.bytes();
    if (opened.tensors.size() != kCount || listed < kCount) std::abort();
  }
  const double ours = best / kCount * 1e6;
  table.row("open 100,000 tensors of safetensors", fmt::format("{:.3f} us/tensor", ours), "0.25 us/tensor", ours / 0.25,
            1, true);
  table.row("  allocations", fmt::format("{:.3f} /tensor", static_cast<double>(allocated) / kCount), "1 /tensor",
            static_cast<double>(allocated) / kCount, 1.01, true);
  if (const auto python = python_microseconds(path, rounds * 3))
    table.row("  against the Python package", fmt::format("{:.3f} us/tensor", ours),
              fmt::format("safe_open, keys: {:.3f} us", *python), *python / ours, 4);
  else
    fmt::print(stderr,
               "the Python package safetensors is not installed (TARE_BENCH_PYTHON names a python that has it)\n");
  std::filesystem::remove(path);
}

}  // namespace bench
