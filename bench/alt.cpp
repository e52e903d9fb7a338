#include "alt.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>

#include "formats/format.hpp"
#include "tare/tare.hpp"

namespace bench {
namespace {

using namespace tare;
namespace fs = std::filesystem;

std::string rate(double bytes, double seconds) { return fmt::format("{:.2f} GB/s", bytes / seconds / 1e9); }

[[noreturn]] void die(const std::string& what) {
  fmt::print(stderr, "tare-bench: {}\n", what);
  std::exit(1);
}

// bf16 weights of magnitude 0.0078 to 0.03: f16 represents all of them.
Bytes weights(std::size_t size) {
  std::mt19937 random(11);
  Bytes bytes(size);
  for (std::size_t i = 0; i + 2 <= size; i += 2) {
    const auto half = static_cast<std::uint16_t>(0x3C00u | (random() & 0x80FFu));
    std::memcpy(&bytes[i], &half, 2);
  }
  return bytes;
}

Model model_over(const Bytes& bytes, std::size_t count, DType dtype) {
  const SourcePtr source = borrow_memory(bytes);
  Model model;
  for (std::size_t i = 0; i < count; ++i)
    model.tensors.push_back(dense(fmt::format("model.layers.{}.mlp.up_proj.weight", i),
                                  Shape{bytes.size() / size_of(dtype) / 1024, 1024}, dtype,
                                  Blob::range(source, 0, bytes.size())));
  return model;
}

void write_to(const Model& model, const char* format, const std::string& path) {
  const auto sink = create_file(path, {.overwrite = true, .durable = false});
  find_format(format)->write(model, *sink, {});
  sink->commit();
}

struct Aligned {
  explicit Aligned(std::size_t size) : at(static_cast<std::byte*>(std::aligned_alloc(4096, size))) {
    std::memset(at, 1, size);
  }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  ~Aligned() { std::free(at); }
  std::byte* at;
};

// Reads every tensor of a file in memory, at an unaligned offset, into an aligned buffer, and compares with memcpy
// between aligned buffers in pieces of the same size: above some size the C library uses stores that bypass the cache.
void bench_read(int rounds, Table& table) {
  constexpr std::size_t kEach = std::size_t{64} << 20, kCount = 4;
  const Bytes bytes = weights(kEach);
  MemorySink sink;
  find_format("alt")->write(model_over(bytes, kCount, DType::f16), sink, {});
  sink.commit();
  const Model model = open(borrow_memory(sink.bytes(), "it"));
  Aligned to(kEach * kCount), from(kEach * kCount);
  const auto ours = [&] {
    std::byte* at = to.at;
    for (const Tensor& tensor : model.tensors) {
      tensor.components.begin()->blob.read(0, std::span(at, kEach));
      at += kEach;
    }
  };
  const auto copy = [&] {
    for (std::size_t at = 0; at < kEach * kCount; at += kEach) std::memcpy(to.at + at, from.at + at, kEach);
  };
  const auto best = best_of(rounds * 3, {ours, copy});
  ours();
  if (std::memcmp(to.at + kEach, bytes.data(), kEach) != 0) die("wrong result: a tensor read from ALT");
  if (model.tensors[1].components.begin()->blob.offset() % 16 == 0) die("the data is aligned by chance");
  constexpr double kTotal = kEach * kCount;
  table.row("read unaligned ALT tensors into aligned buffers", rate(kTotal, best[0]),
            "memcpy: " + rate(kTotal, best[1]), best[1] / best[0], 0.85);
}

void run_command(const std::string& command) {
  if (std::system(command.c_str()) != 0) die("failed: " + command);
}

// Writes the same number of bytes from memory to a new file and waits until they are on the disk, as convert does.
void plain_write(const std::string& path, const Bytes& bytes, std::uint64_t size) {
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  for (std::uint64_t at = 0; at < size;) {
    const ssize_t n =
        ::write(file, bytes.data(), static_cast<std::size_t>(std::min<std::uint64_t>(size - at, bytes.size())));
    if (n <= 0) die("cannot write " + path);
    at += static_cast<std::uint64_t>(n);
  }
  ::fsync(file);
  ::close(file);
}

void bench_make(const std::string& directory, double gib, int rounds, Table& table) {
  const std::string in = directory + "/bench-in.zt", out = directory + "/bench-out.alt";
  const Bytes bytes = weights(std::size_t{64} << 20);
  write_to(model_over(bytes, static_cast<std::size_t>(gib * 16), DType::bf16), "zt", in);
  run_command(fmt::format("sync '{}'", in));
  const auto size = static_cast<double>(fs::file_size(in));
  const auto make = [&](std::optional<DType> dtype) {
    return [&in, &out, dtype] {
      fs::remove(out);
      ConvertOptions options;
      options.adapt.dtype = dtype;
      (void)convert(in, out, options);
    };
  };
  const auto copy = [&] {
    fs::remove(out);
    run_command(fmt::format("cp '{}' '{}' && sync '{}'", in, out, out));
  };
  const auto write = [&] {
    fs::remove(out);
    plain_write(out, bytes, 2 * static_cast<std::uint64_t>(size));
  };
  const auto best = best_of(rounds, {make(DType::f16), copy, make(std::nullopt), write});
  const std::uint64_t memory = anonymous_growth(make(DType::f16));
  table.row(fmt::format("{:.1f} GiB of bf16 to ALT as f16", gib), rate(size, best[0]),
            "cp, then sync: " + rate(size, best[1]), best[1] / best[0], 0.5);
  table.row("  the same as f32, by output bytes", rate(2 * size, best[2]),
            "write, then fsync: " + rate(2 * size, best[3]), best[3] / best[2], 0.5);
  table.row("  anonymous memory", fmt::format("{:.1f} MiB", static_cast<double>(memory) / (1 << 20)), "64 MiB",
            static_cast<double>(memory) / (64 << 20), 1, true);
  fs::remove(in);
  fs::remove(out);
}

}  // namespace

void bench_alt(const std::string& directory, double gib, int rounds, Table& table) {
  bench_read(rounds, table);
  bench_make(directory, gib, rounds, table);
}

}  // namespace bench
