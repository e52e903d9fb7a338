#include "tllm.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "tiny_llama/session.hpp"

namespace bench {
namespace {

using tiny_llama::Session;
using tiny_llama::TinyLlamaModel;

std::string rate(double bytes, double seconds) { return fmt::format("{:.2f} GB/s", bytes / seconds / 1e9); }

// As much memory as a step reads, on huge pages like the weights, and a pass that only loads every cache line: four
// streams, one word per line.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : quarter_(bytes / kLine / 4), lines_(kPage, 4 * quarter_ * kLine) {}
  std::uint64_t read_through() const {
    std::uint64_t sums[4] = {};
    for (std::size_t i = 0; i < quarter_; ++i)
      for (std::size_t k = 0; k < 4; ++k) sums[k] ^= lines_.words()[(k * quarter_ + i) * (kLine / 8)];
    return sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  }

 private:
  static constexpr std::size_t kLine = 64, kPage = std::size_t{2} << 20;
  struct Block {
    Block(std::size_t alignment, std::size_t bytes)
        : at(std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment)) {
      ::madvise(at, bytes, MADV_HUGEPAGE);
      std::memset(at, 7, bytes);
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() { std::free(at); }
    const volatile std::uint64_t* words() const { return static_cast<const std::uint64_t*>(at); }
    void* at;
  };
  std::size_t quarter_;
  Block lines_;
};

// Bytes of the weights that one more token reads: all except the rows of the embeddings.
double bytes_of_a_step(const TinyLlamaModel& model) {
  std::size_t floats = 0;
  model.visit_weights([&](const tiny_llama::Weight& weight) {
    if (weight.name.find("embedding") == std::string_view::npos) floats += weight.values.size();
  });
  return 4.0 * static_cast<double>(floats);
}

void bench_load(const std::string& path, int rounds, Table& table) {
  TinyLlamaModel model;
  model.save_model_weights(path);
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(path));
  // Like load_model_weights, into fresh memory.
  const auto plain = [&] {
    const std::unique_ptr<std::byte[]> buffer(new std::byte[size]);
    const int file = ::open(path.c_str(), O_RDONLY);
    for (std::size_t got = 0; got < size;) {
      const ssize_t n = ::read(file, buffer.get() + got, size - got);
      if (n <= 0) std::abort();
      got += static_cast<std::size_t>(n);
    }
    ::close(file);
  };
  const std::unique_ptr<std::byte[]> kept(new std::byte[size]());
  const auto plain_again = [&] {
    const int file = ::open(path.c_str(), O_RDONLY);
    for (std::size_t got = 0; got < size;) {
      const ssize_t n = ::read(file, kept.get() + got, size - got);
      if (n <= 0) std::abort();
      got += static_cast<std::size_t>(n);
    }
    ::close(file);
  };
  const auto best = best_of(rounds * 3, {[&] { model.load_model_weights(path); }, plain, plain_again});
  const auto bytes = static_cast<double>(size);
  table.row("load Tiny Llama's default weights", rate(bytes, best[0]), "read(), new memory: " + rate(bytes, best[1]),
            best[1] / best[0], 0.9);
  table.row("  the same against memory used before", rate(bytes, best[0]), "read(): " + rate(bytes, best[2]),
            best[2] / best[0], 0.9);
  const std::uint64_t grown = anonymous_growth([&] { TinyLlamaModel::map(path); });
  table.row("  mapped, anonymous memory", fmt::format("{:.2f} MiB", static_cast<double>(grown) / (1 << 20)), "1 MiB",
            static_cast<double>(grown) / (1 << 20), 1, true);
}

void bench_steps(const TinyLlamaModel& model, std::string_view where, int rounds, Table& table) {
  constexpr int kTokens = 16;
  const std::vector<std::int32_t> prompt = {1, 2, 3, 4};
  const auto steps = [&](Session& session) {
    session.rewind();
    session.feed(prompt);
    const std::vector<std::int32_t> token = {5};
    for (int i = 0; i < kTokens; ++i) session.feed(token);
  };
  Session one(model, {.threads = 1}), two(model, {.threads = 2});
  const double bytes = bytes_of_a_step(model);
  const Memory memory(static_cast<std::size_t>(bytes));
  volatile std::uint64_t keep = 0;
  const auto best = best_of(rounds, {[&] { steps(one); }, [&] { steps(two); },
                                     [&] {
                                       for (int i = 0; i < kTokens; ++i) keep = keep + memory.read_through();
                                     }});
  const double all = bytes * kTokens;
  table.row(fmt::format("one token, one core, weights {}", where), rate(all, best[0]), "memory: " + rate(all, best[2]),
            best[2] / best[0], 0.6);
  table.row("  two cores", fmt::format("{:.2f} ms", best[1] / kTokens * 1e3),
            fmt::format("one: {:.2f} ms", best[0] / kTokens * 1e3), best[0] / best[1], 1.6);
}

void bench_prompt(const TinyLlamaModel& model, int rounds, Table& table) {
  std::vector<std::int32_t> tokens(128);
  std::iota(tokens.begin(), tokens.end(), 1);
  for (const unsigned threads : {1u, 2u}) {
    Session session(model, {.threads = threads});
    const auto at_once = [&] {
      session.rewind();
      session.feed(tokens);
    };
    const auto one_by_one = [&] {
      session.rewind();
      for (std::size_t i = 0; i < tokens.size(); ++i) session.feed(std::span(tokens).subspan(i, 1));
    };
    const auto best = best_of(std::max(1, rounds / 2), {at_once, one_by_one});
    table.row(fmt::format("a prompt of 128 tokens, {} core{}", threads, threads == 1 ? "" : "s"),
              fmt::format("{:.1f} ms", best[0] * 1e3), fmt::format("one by one: {:.1f} ms", best[1] * 1e3),
              best[1] / best[0], 5);
  }
}

}  // namespace

void bench_tllm(const std::string& directory, int rounds, Table& table) {
  const std::string path = directory + "/bench-tllm.bin";
  bench_load(path, rounds, table);
  {
    const TinyLlamaModel model;
    bench_steps(model, "in memory", rounds, table);
    bench_prompt(model, rounds, table);
  }
  bench_steps(TinyLlamaModel::map(path), "mapped", rounds, table);
  std::filesystem::remove(path);
}

}  // namespace bench
