#include "packs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "tare/tare.hpp"

namespace bench {
namespace {

using namespace tare;

constexpr std::uint64_t kOut = 8192, kIn = 4096, kGroup = 128;  // 64 MiB as bf16

Bytes noise(std::uint64_t size) {
  std::mt19937_64 random(size);
  Bytes bytes(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(&bytes[i], &word, 8);
  }
  return bytes;
}

// The number 2^-7, repeated.
template <typename Word>
Bytes scales(std::uint64_t count, Word word) {
  Bytes bytes(static_cast<std::size_t>(count) * sizeof(Word));
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(Word)) std::memcpy(&bytes[i], &word, sizeof(Word));
  return bytes;
}

constexpr std::uint16_t kHalf = 0x2000;
constexpr float kSingle = 0x1p-7f;

Tensor tensor(std::string_view layout, Map attributes) {
  Tensor made;
  made.name = "w";
  made.shape = Shape{kOut, kIn};
  made.layout = layout;
  made.attributes = std::move(attributes);
  return made;
}

Component part(std::string_view role, DType dtype, Bytes bytes, std::string type = {}) {
  return {std::string(role), dtype, std::move(type), Blob::memory(std::move(bytes))};
}

Map facts(std::initializer_list<std::pair<const char*, std::uint64_t>> pairs) {
  Map map;
  for (const auto& [key, value] : pairs) map.set(key, value);
  return map;
}

Tensor gptq() {
  Tensor made = tensor("gptq4", facts({{"group_size", kGroup}, {"zero_offset", 1}}));
  made.components.push_back(part("qweight", DType::i32, noise(kIn * kOut / 2)));
  made.components.push_back(part("qzeros", DType::i32, noise(kIn / kGroup * kOut / 2)));
  made.components.push_back(part("scales", DType::f16, scales(kIn / kGroup * kOut, kHalf)));
  return made;
}

Tensor awq() {
  Tensor made = gptq();
  made.layout = "awq4";
  return made;
}

Tensor nf4() {
  Tensor made = tensor("bnb.nf4", facts({{"blocksize", 64}}));
  made.components.push_back(part("weight", DType::u8, noise(kIn * kOut / 2)));
  made.components.push_back(part("absmax", DType::f32, scales(kIn * kOut / 64, kSingle)));
  made.components.push_back(part("quant_map", DType::f32, scales(16, kSingle)));
  return made;
}

Tensor fp8() {
  Tensor made = tensor("fp8.block", facts({{"block_rows", 128}, {"block_columns", 128}}));
  Bytes codes = noise(kIn * kOut);
  for (std::byte& code : codes) code &= std::byte{0xBF};  // no NaN
  made.components.push_back(part("weight", DType::u8, std::move(codes), "f8_e4m3fn"));
  made.components.push_back(part("scale", DType::f32, scales(kIn * kOut / 128 / 128, kSingle)));
  return made;
}

// Seconds that the original libraries take, by layout; libraries that are not installed are missing.
std::map<std::string, double> original_seconds(int rounds) {
  std::map<std::string, double> seconds;
  const char* const python = std::getenv("TARE_BENCH_PYTHON");
  const std::string command =
      fmt::format("'{}' '{}/packs.py' {}", python == nullptr ? "python3" : python, TARE_BENCH_DIR, rounds);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  char layout[32];
  double best = 0;
  while (pipe != nullptr && std::fscanf(pipe.get(), "%31s %lf", layout, &best) == 2) seconds[layout] = best;
  return seconds;
}

}  // namespace

void packs(int rounds, Table& table) {
  const auto bytes = static_cast<std::size_t>(kIn * kOut * 2);
  const Bytes source = noise(bytes);
  Bytes out(bytes);
  const std::map<std::string, double> originals = original_seconds(rounds);
  for (const Tensor& made : {gptq(), awq(), nf4(), fp8()}) {
    const Tensor decoded = cast(to_dense(made), DType::bf16);
    double copy = 1e300, decode = 1e300;
    for (int round = 0; round < rounds; ++round) {
      copy = std::min(copy, best_cpu_seconds(1, [&] { std::memcpy(out.data(), source.data(), bytes); }));
      decode = std::min(decode, best_cpu_seconds(1, [&] { decoded.components[0].blob.open()->read(out); }));
    }
    const auto rate = [&](double seconds) {
      return fmt::format("{:.2f} GB/s", static_cast<double>(bytes) / seconds / 1e9);
    };
    table.row(fmt::format("decode {} to bf16, one core", made.layout), rate(decode), "memcpy: " + rate(copy),
              copy / decode, 0.4);
    if (const auto found = originals.find(made.layout); found != originals.end())
      table.row("  against the original library", rate(decode), rate(found->second), found->second / decode, 1);
  }
}

}  // namespace bench
