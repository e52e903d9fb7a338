#include "quant.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>

#include "tare/tare.hpp"

namespace bench {
namespace {

using namespace tare;

constexpr std::uint64_t kColumns = 4096, kRows = 16384;  // 256 MiB as f32
constexpr std::uint64_t kRepeats = 8;                    // 544 MiB as q8: larger than any cache

std::string gigabytes(double bytes, double seconds) { return fmt::format("{:.2f} GB/s", bytes / seconds / 1e9); }
std::string weights_rate(double weights, double seconds) { return fmt::format("{:.1f} G/s", weights / seconds / 1e9); }

void require(bool condition, const char* what) {
  if (!condition) throw Error(ErrorKind::usage, "bench.wrong", fmt::format("wrong result: {}", what));
}

std::vector<float> gaussian(std::uint64_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> tile(std::size_t{1} << 16), values(static_cast<std::size_t>(count));
  for (float& w : tile) w = normal(random);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = tile[i % tile.size()];
  return values;
}

Bytes payload_of(std::string_view method, const std::vector<float>& weights) {
  const Tensor plain = dense("w", Shape{weights.size() / kColumns, kColumns}, DType::f32,
                             Blob::range(borrow_memory(std::as_bytes(std::span(weights))), 0, weights.size() * 4));
  EncodeOptions options;
  options.method = method;
  options.fast = true;
  return find_codec_by_method(method)->encode(plain, options).component("payload")->blob.bytes();
}

Tensor coded(std::string_view method, std::uint64_t rows, const Bytes& payload) {
  Tensor tensor;
  tensor.name = "w";
  tensor.shape = Shape{rows, kColumns};
  tensor.layout = fmt::format("mcf.{}", method);
  tensor.components.push_back({"payload", DType::u8, {}, Blob::range(borrow_memory(payload), 0, payload.size())});
  return tensor;
}

// The same q8 rows many times: all scales, then all codes. Both are multiples of 64 bytes.
Bytes repeated_q8(const Bytes& payload) {
  const std::size_t scales = kRows * kColumns / 32 * 2, codes = kRows * kColumns;
  require(payload.size() == scales + codes, "size of a q8 payload");
  Bytes many(kRepeats * payload.size());
  for (std::size_t i = 0; i < kRepeats; ++i) {
    std::memcpy(&many[i * scales], payload.data(), scales);
    std::memcpy(&many[kRepeats * scales + i * codes], &payload[scales], codes);
  }
  return many;
}

// Reads every byte; the result keeps the loop from being optimized away.
std::uint64_t sum_of(const Bytes& bytes) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i + 64 <= bytes.size(); i += 64)
    for (std::size_t j = 0; j < 8; ++j) {
      std::uint64_t word;
      std::memcpy(&word, &bytes[i + 8 * j], 8);
      sums[j] += word;
    }
  for (std::size_t j = 1; j < 8; ++j) sums[0] += sums[j];
  return sums[0];
}

double dot_of(const float* a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void decoding(int rounds, const std::vector<float>& weights, Table& table) {
  std::vector<float> out(weights.size(), 1);
  const auto bytes = static_cast<double>(weights.size() * 4);
  for (const std::string_view method : {"q8", "q4", "k4", "k6", "k3", "k2"}) {
    const Bytes payload = payload_of(method, weights);
    const auto rows = open_rows(coded(method, kRows, payload));
    double copy = 1e300, decode = 1e300;
    for (int round = 0; round < rounds; ++round) {
      copy = std::min(copy, best_cpu_seconds(1, [&] { std::memcpy(out.data(), weights.data(), weights.size() * 4); }));
      decode = std::min(decode, best_cpu_seconds(1, [&] { rows->decode(0, kRows, out); }));
    }
    require(std::fabs(out[0] - weights[0]) < 0.05f, "decoded weight");
    const bool asked = method == "q8" || method == "q4" || method == "k4";
    table.row(fmt::format("decode {} to f32, one core", method), gigabytes(bytes, decode),
              "memcpy: " + gigabytes(bytes, copy), copy / decode, asked ? 0.5 : 0);
  }
}

void products(int rounds, const std::vector<float>& weights, Table& table) {
  const std::vector<float> vector(weights.begin() + 77, weights.begin() + 77 + kColumns);
  const QuantizedVector quantized(vector);
  std::vector<float> out(kRows * kRepeats);
  {
    const Bytes many = repeated_q8(payload_of("q8", weights));
    const auto rows = open_rows(coded("q8", kRows * kRepeats, many));
    double read = 1e300, by_floats = 1e300, by_codes = 1e300;
    std::uint64_t sum = 0;
    for (int round = 0; round < rounds; ++round) {
      read = std::min(read, best_cpu_seconds(1, [&] { sum += sum_of(many); }));
      by_codes = std::min(by_codes, best_cpu_seconds(1, [&] { rows->dot(0, out.size(), quantized, out); }));
      by_floats = std::min(by_floats, best_cpu_seconds(1, [&] { rows->dot(0, out.size(), vector, out); }));
    }
    require(sum != 0, "sum");
    const double expected = dot_of(&weights[5 * kColumns], vector);
    require(std::fabs(out[5] - expected) < 0.02, "product of a row");
    const auto bytes = static_cast<double>(many.size());
    const std::string against = "reading: " + gigabytes(bytes, read);
    table.row("q8 rows times a float vector, out of cache", gigabytes(bytes, by_floats), against, read / by_floats,
              0.7);
    table.row("  times a vector of 8-bit codes", gigabytes(bytes, by_codes), against, read / by_codes, 0.7);
  }
  // In the L2 cache; docs/quantization.md compares these with other libraries.
  for (const std::string_view method : {"q8", "q4", "k6", "k4", "k3", "k2"}) {
    const std::uint64_t few = 64;
    const Bytes payload = payload_of(method, {weights.begin(), weights.begin() + few * kColumns});
    const auto rows = open_rows(coded(method, few, payload));
    const auto part = std::span(out).first(few);
    const double by_codes = best_cpu_seconds(rounds * 100, [&] { rows->dot(0, few, quantized, part); });
    const double by_floats = best_cpu_seconds(rounds * 100, [&] { rows->dot(0, few, vector, part); });
    const auto count = static_cast<double>(few * kColumns);
    table.row(fmt::format("{} rows in cache times 8-bit codes", method), weights_rate(count, by_codes),
              "floats: " + weights_rate(count, by_floats), by_floats / by_codes, 0);
  }
}

}  // namespace

void quant(int rounds, Table& table) {
  const std::vector<float> weights = gaussian(kRows * kColumns);
  decoding(rounds, weights, table);
  products(rounds, weights, table);
}

}  // namespace bench
