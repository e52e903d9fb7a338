#include "encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

#include "tare/tare.hpp"

#ifdef TARE_GGML
extern "C" {
void ggml_cpu_init(void);
void quantize_row_q8_0(const float* x, void* y, std::int64_t k);
void quantize_row_q4_0(const float* x, void* y, std::int64_t k);
void quantize_row_q4_K_ref(const float* x, void* y, std::int64_t k);
void quantize_row_q6_K_ref(const float* x, void* y, std::int64_t k);
}
#endif

namespace bench {
namespace {

using namespace tare;

// Fits into an L2 cache: this measures arithmetic. Other jobs measure reading memory.
constexpr std::uint64_t kRows = 32, kColumns = 4096;
constexpr std::size_t kWeights = kRows * kColumns;

enum class Kind { gaussian, laplace };

std::vector<float> weights(Kind kind, std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  std::exponential_distribution<float> exponential(50);
  std::vector<float> values(count);
  for (float& w : values)
    w = kind == Kind::gaussian ? normal(random) : random() % 2 == 0 ? exponential(random) : -exponential(random);
  return values;
}

Tensor matrix(const std::vector<float>& values) {
  return dense("w", Shape{values.size() / kColumns, kColumns}, DType::f32,
               Blob::range(borrow_memory(std::as_bytes(std::span(values))), 0, values.size() * 4));
}

Tensor coded(const Tensor& tensor, std::string_view method, bool fast, std::shared_ptr<EncodeReport> report = nullptr) {
  EncodeOptions options;
  options.method = method;
  options.fast = fast;
  options.report = std::move(report);
  return find_codec_by_method(method)->encode(tensor, options);
}

// Produces every byte of the payload on this thread, without the cost of a consumer.
std::size_t make(const Tensor& tensor) {
  const Blob& payload = tensor.component("payload")->blob;
  std::size_t made = 0;
  for (std::size_t i = 0; i < payload.pieces(); ++i)
    payload.make_piece(i, [&](std::uint64_t, std::span<const std::byte> run) { made += run.size(); });
  return made;
}

// The obvious code: a loop over blocks, a loop over values. `kBits` is 8 or 4; scales first, then codes.
template <int kBits>
void straightforward(const std::vector<float>& values, Bytes& out) {
  constexpr float kMost = kBits == 8 ? 127 : 7;
  std::byte* scales = out.data();
  std::byte* codes = out.data() + values.size() / 32 * 2;
  for (std::size_t b = 0; b < values.size(); b += 32) {
    float most = 0;
    for (std::size_t i = b; i < b + 32; ++i) most = std::max(most, std::fabs(values[i]));
    const float scale = most / kMost;
    // The scales of these weights are normal numbers in f16.
    std::uint32_t bits;
    std::memcpy(&bits, &scale, 4);
    const auto half =
        static_cast<std::uint16_t>(scale == 0 ? 0 : ((bits + 0xFFF + (bits >> 13 & 1)) >> 13) - (112 << 10));
    std::memcpy(scales, &half, 2);
    scales += 2;
    bits = scale == 0 ? 0 : (std::uint32_t{half} + (112 << 10)) << 13;
    float stored;
    std::memcpy(&stored, &bits, 4);
    const float inverse = stored == 0 ? 0 : 1 / stored;
    for (std::size_t i = b; i < b + 32; i += 8 / kBits) {
      unsigned code = 0;
      for (int j = 0; j < 8 / kBits; ++j) {
        const auto q = static_cast<int>(std::nearbyint(values[i + static_cast<std::size_t>(j)] * inverse));
        code |= (static_cast<unsigned>(q) & ((1u << kBits) - 1)) << (j * kBits);
      }
      *codes++ = static_cast<std::byte>(code);
    }
  }
}

struct Rates {
  const std::vector<float>& values;
  Tensor tensor = matrix(values);
  int rounds;

  double of(const std::function<void()>& job, int times) const {
    return static_cast<double>(kWeights) / best_cpu_seconds(rounds * times, job) / 1e6;
  }
  double ours(std::string_view method, bool fast) const {
    const Tensor made = coded(tensor, method, fast);
    return of(
        [&] {
          if (make(made) != made.bytes()) throw Error(ErrorKind::usage, "bench.wrong", "not every byte was made");
        },
        fast ? 50 : 10);
  }
};

std::string text(double rate) { return fmt::format("{:.0f} M/s", rate); }

void compare_rates(int rounds, Table& table) {
  const std::vector<float> values = weights(Kind::gaussian, kWeights);
  const Rates rates{.values = values, .rounds = rounds};
  Bytes theirs(kWeights * 2);
  struct Plain {
    std::string_view method;
    void (*loop)(const std::vector<float>&, Bytes&);
  };
  for (const Plain& plain : {Plain{"q8", straightforward<8>}, Plain{"q4", straightforward<4>}}) {
    const double ours = rates.ours(plain.method, true);
    const double loop = rates.of([&] { plain.loop(values, theirs); }, 20);
    const Bytes payload = coded(rates.tensor, plain.method, true).component("payload")->blob.bytes();
    if (!std::equal(payload.begin(), payload.end(), theirs.begin()))
      throw Error(ErrorKind::usage, "bench.wrong", "the loop's scales and codes are not ours");
    table.row(fmt::format("encode {}, fast, weights a second", plain.method), text(ours), "plain loop: " + text(loop),
              ours / loop, 3);
  }
#ifdef TARE_GGML
  ggml_cpu_init();
  struct Rival {
    std::string_view method, name;
    bool fast;
    void (*row)(const float*, void*, std::int64_t);
    double goal;
  };
  for (const Rival& rival :
       {Rival{"q8", "Q8_0", true, quantize_row_q8_0, 1.5}, Rival{"q4", "Q4_0", true, quantize_row_q4_0, 1.5},
        Rival{"k6", "Q6_K", false, quantize_row_q6_K_ref, 4}, Rival{"k4", "Q4_K", false, quantize_row_q4_K_ref, 8}}) {
    const double row = rates.of([&] { rival.row(values.data(), theirs.data(), kWeights); }, rival.fast ? 50 : 3);
    const double ours = rates.ours(rival.method, rival.fast);
    table.row(fmt::format("encode {}{}", rival.method, rival.fast ? ", fast" : ", searched"), text(ours),
              fmt::format("ggml {}: {}", rival.name, text(row)), ours / row, rival.goal);
  }
#endif
  // The cost of the search.
  for (const std::string_view method : {"q8", "q4", "k6", "k4", "k3", "k2"}) {
    const double fast = rates.ours(method, true), searched = rates.ours(method, false);
    table.row(fmt::format("encode {}, searched", method), text(searched), "fast: " + text(fast), searched / fast, 0);
  }
}

MethodError measure_errors(std::string_view method) {
  MethodError result{.method = std::string(method), .gaussian = {}, .laplace = {}};
  for (const Kind kind : {Kind::gaussian, Kind::laplace}) {
    const std::vector<float> values = weights(kind, std::size_t{1} << 20);
    const Tensor tensor = matrix(values);
    const auto loss = [&](bool fast) {
      const auto report = std::make_shared<EncodeReport>();
      const Tensor made = coded(tensor, method, fast, report);
      result.bits =
          static_cast<double>(made.component("payload")->blob.bytes().size()) * 8 / static_cast<double>(values.size());
      return std::sqrt(report->squared_error / report->squared_sum);
    };
    MethodError::Pair& errors = kind == Kind::gaussian ? result.gaussian : result.laplace;
    errors.fast = loss(true);
    errors.searched = loss(false);
  }
  return result;
}

}  // namespace

void encode(int rounds, const std::string& plot, Table& table) {
  compare_rates(rounds, table);
  struct Goal {
    std::string_view method;
    double gaussian, laplace;
  };
  constexpr Goal kGoals[] = {{"int8", 1, 1},      {"q8", 0.94, 0.945}, {"k6", 0.955, 0.965}, {"q4", 0.945, 0.955},
                             {"k4", 0.945, 0.96}, {"int4", 1, 1},      {"k3", 0.87, 0.89},   {"k2", 0.65, 0.74}};
  std::vector<MethodError> errors;
  fmt::print(
      "| method | bits per weight | Gaussian: fast | searched | Laplace: fast | searched |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  for (const Goal& goal : kGoals) {
    const MethodError& e = errors.emplace_back(measure_errors(goal.method));
    fmt::print("| `{}` | {:.5g} | {:.5f} | {:.5f} | {:.5f} | {:.5f} |\n", e.method, e.bits, e.gaussian.fast,
               e.gaussian.searched, e.laplace.fast, e.laplace.searched);
    const auto row = [&](std::string_view kind, const MethodError::Pair& pair, double most) {
      table.row(fmt::format("error of {} on {} weights", e.method, kind), fmt::format("{:.5f}", pair.searched),
                fmt::format("fast: {:.5f}", pair.fast), pair.searched / pair.fast, most, true);
    };
    row("Gaussian", e.gaussian, goal.gaussian);
    row("Laplace", e.laplace, goal.laplace);
  }
  fmt::print("\n");
  if (plot.empty()) return;
  std::ofstream file(plot);
  file << draw_errors(errors);
  if (!file.flush()) throw Error(ErrorKind::io, "bench.plot", "cannot write " + plot);
}

}  // namespace bench
