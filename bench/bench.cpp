// Compares Tare's jobs with the machine's limits and plain tools, in one run, on the same bytes.
//
//  tare-bench [--gib N] [--dir DIR] [--rounds N] [--plot FILE] [JOB...]
//
// Jobs are in kJobs; all run unless some are named. Every result is a ratio. Files are created in DIR (default: the
// current folder) and removed; `encode` draws its errors into FILE.
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include "alt.hpp"
#include "encode.hpp"
#include "formats/format.hpp"
#include "gguf.hpp"
#include "measure.hpp"
#include "packs.hpp"
#include "quant.hpp"
#include "safetensors.hpp"
#include "tare/tare.hpp"
#include "tllm.hpp"
#include "torch.hpp"

namespace {

using namespace tare;
namespace fs = std::filesystem;

struct Settings {
  double gib = 4;
  std::string directory = ".", plot;
  int rounds = 3;
  std::vector<std::string> jobs;
};

[[noreturn]] void die(const std::string& why) {
  fmt::print(stderr, "tare-bench: {}\n", why);
  std::exit(1);
}

void require(bool condition, const std::string& what) {
  if (!condition) die("wrong result: " + what);
}

Bytes noise(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::size_t i = 0; i + 8 <= size; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(&bytes[i], &word, 8);
  }
  return bytes;
}

// Bytes that zstd can roughly halve: bf16 weights from a narrow Gaussian.
Bytes weights(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.02f);
  Bytes bytes(size);
  for (std::size_t i = 0; i + 2 <= size; i += 2) {
    const float value = normal(random);
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    const auto half = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(&bytes[i], &half, 2);
  }
  return bytes;
}

// Distance between the tensors of `shifted_model` in memory.
constexpr std::size_t kShift = 64;

// A model of `count` different bf16 matrices of `each` bytes: some containers store equal ones once. `bytes` must have
// kShift more bytes for each.
Model shifted_model(const Bytes& bytes, std::size_t each, std::size_t count) {
  const SourcePtr source = borrow_memory(bytes);
  Model model;
  for (std::size_t i = 0; i < count; ++i)
    model.tensors.push_back(dense(fmt::format("model.layers.{:03}.mlp.up_proj.weight", i), Shape{each / 2}, DType::bf16,
                                  Blob::range(source, i * kShift, each)));
  return model;
}

// A model of `count` bf16 matrices that share the same bytes in memory.
Model model_of(const Bytes& bytes, std::size_t count) {
  const SourcePtr source = borrow_memory(bytes);
  Model model;
  for (std::size_t i = 0; i < count; ++i)
    model.tensors.push_back(dense(fmt::format("model.layers.{:03}.mlp.up_proj.weight", i), Shape{bytes.size() / 2},
                                  DType::bf16, Blob::range(source, 0, bytes.size())));
  return model;
}

void write_model(const Model& model, const std::string& path, const WriteOptions& options = {},
                 std::string_view format = "zt") {
  const auto sink = create_file(path, {.overwrite = true, .durable = false});
  find_format(format)->write(model, *sink, options);
  sink->commit();
}

std::string rate(double bytes, double seconds) { return fmt::format("{:.2f} GB/s", bytes / seconds / 1e9); }

// Goals are for 100,000 tensors, in microseconds per tensor.
void bench_open_of(const Settings& settings, bench::Table& table, std::string_view format, const WriteOptions& options,
                   double goal) {
  const std::string path = settings.directory + "/bench-open.zt";
  const auto per_tensor = [&](std::size_t count) {
    Model model;
    const Bytes bytes(64);
    const SourcePtr source = borrow_memory(bytes);
    for (std::size_t i = 0; i < count; ++i)
      model.tensors.push_back(dense(fmt::format("model.layers.{}.self_attn.q_proj.{}.weight", i % 97, i), Shape{4, 4},
                                    DType::f32, Blob::range(source, 0, 64)));
    write_model(model, path, options, format);
    std::size_t allocated = 0;
    double best = 1e300;
    for (int round = 0; round < settings.rounds * 5; ++round) {
      Model opened;
      const std::size_t before = bench::allocations();
      best = std::min(best, bench::best_cpu_seconds(1, [&] {
                        opened = open(path);
                        std::size_t listed = 0;
                        for (const Tensor& tensor : opened.tensors)
                          listed += tensor.name.size() + tensor.shape.size() + tensor.bytes();
                        require(opened.tensors.size() == count && listed > count, "listing");
                      }));
      allocated = bench::allocations() - before;
    }
    return std::pair(best / static_cast<double>(count) * 1e6,
                     static_cast<double>(allocated) / static_cast<double>(count));
  };
  const auto [small, small_allocations] = per_tensor(10'000);
  const auto [large, large_allocations] = per_tensor(100'000);
  table.row(fmt::format("open and list 100,000 tensors, {}", format), fmt::format("{:.3f} us/tensor", large),
            fmt::format("{} us/tensor", goal), large / goal, 1, true);
  table.row("  cost grows with the count", fmt::format("{:.3f} us/tensor", large),
            fmt::format("{:.3f} us at 10,000", small), large / small, 1.5, true);
  table.row("  allocations", fmt::format("{:.3f} /tensor", large_allocations), "1 /tensor", large_allocations, 1.01,
            true);
  fs::remove(path);
}

void bench_open(const Settings& settings, bench::Table& table) { bench_open_of(settings, table, "zt", {}, 0.5); }

void bench_read_of(const Settings& settings, bench::Table& table, std::string_view format) {
  const std::string path = settings.directory + "/bench-read.zt";
  const std::size_t each = std::size_t{32} << 20, count = 32;
  const Bytes bytes = noise(each + count * kShift, 1);
  write_model(shifted_model(bytes, each, count), path, {}, format);
  Bytes buffer(each);
  const Model model = open(path);
  const auto ours = [&] {
    for (const Tensor& tensor : model.tensors) tensor.components[0].blob.read(0, buffer);
  };
  const auto plain = [&] {
    const int fd = ::open(path.c_str(), O_RDONLY);
    if (fd < 0) die("cannot open");
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t got = 0;
      while (got < each) {
        const ssize_t n = ::read(fd, buffer.data() + got, each - got);
        if (n <= 0) die("short read");
        got += static_cast<std::size_t>(n);
      }
    }
    ::close(fd);
  };
  const auto best = bench::best_of(settings.rounds * 2, {ours, plain});
  ours();
  require(std::equal(buffer.begin(), buffer.end(), bytes.begin() + (count - 1) * kShift), "bytes read");
  const double total = static_cast<double>(each * count);
  table.row(fmt::format("read every tensor into memory, {}", format), rate(total, best[0]),
            "read(): " + rate(total, best[1]), best[1] / best[0], 0.9);
  const std::size_t before = bench::allocations();
  for (const Tensor& tensor : model.tensors) require(tensor.components[0].blob.view().has_value(), "view");
  table.row("  mapped views, allocations", fmt::format("{}", bench::allocations() - before), "0",
            static_cast<double>(bench::allocations() - before), 0, true);
  fs::remove(path);
}

void bench_write_of(const Settings& settings, bench::Table& table, std::string_view format) {
  const std::string path = settings.directory + "/bench-write.zt";
  const std::size_t each = std::size_t{32} << 20, count = 32;
  const Bytes bytes = noise(each + count * kShift, 2);
  const Model model = shifted_model(bytes, each, count);
  // Both start without the old file, because memory that was just freed is faster than fresh memory.
  const auto ours = [&] {
    fs::remove(path);
    write_model(model, path, {.digest = DigestAlgorithm::none}, format);
  };
  const auto plain = [&] {
    fs::remove(path);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) die("cannot create");
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t done = 0; done < each;) {
        const ssize_t n = ::write(fd, bytes.data() + i * kShift + done, each - done);
        if (n <= 0) die("short write");
        done += static_cast<std::size_t>(n);
      }
    ::close(fd);
  };
  const auto best = bench::best_of(settings.rounds * 2, {plain, ours});
  const double total = static_cast<double>(each * count);
  table.row(fmt::format("write, no digest, {}", format), rate(total, best[1]), "write(): " + rate(total, best[0]),
            best[0] / best[1], 0.9);
  fs::remove(path);
}

void bench_read(const Settings& settings, bench::Table& table) { bench_read_of(settings, table, "zt"); }
void bench_write(const Settings& settings, bench::Table& table) { bench_write_of(settings, table, "zt"); }
void bench_convert_of(const Settings& settings, bench::Table& table, std::string_view format);

// Writes like the package: canonical form, a digest with every part. bench/zt2.py compares with the package itself.
void bench_zt2(const Settings& settings, bench::Table& table) {
  bench_open_of(settings, table, "zt2", {.dialect = "pages"}, 0.4);
  bench_read_of(settings, table, "zt2");
  bench_write_of(settings, table, "zt2");
  bench_convert_of(settings, table, "zt2");
  const std::string path = settings.directory + "/bench-write.zt";
  const std::size_t each = std::size_t{32} << 20, count = 32;
  const Bytes bytes = noise(each + count * kShift, 9);
  const Model model = shifted_model(bytes, each, count);
  const auto write_as = [&](std::string_view format, const WriteOptions& options) {
    return [&, format, options] {
      fs::remove(path);
      write_model(model, path, options, format);
    };
  };
  const auto best = bench::best_of(
      settings.rounds, {write_as("zt2", {}), write_as("zt", {.digest = DigestAlgorithm::xxh3}), write_as("zt", {})});
  const double total = static_cast<double>(each * count);
  table.row("write zt2, xxh3 digests, equal tensors sought", rate(total, best[0]),
            "zt with xxh3: " + rate(total, best[1]), best[1] / best[0], 0.7);
  fs::remove(path);
}

// The bytes that one core hashes per second, with the library that `openssl speed` times.
double sha256_rate() {
  const Bytes block = noise(std::size_t{1} << 20, 3);
  unsigned char out[32];
  const double best = bench::best_of(20, {[&] {
                                       for (int i = 0; i < 16; ++i)
                                         EVP_Digest(block.data(), block.size(), out, nullptr, EVP_sha256(), nullptr);
                                     }})[0];
  return 16.0 * static_cast<double>(block.size()) / best;
}

void bench_digest(const Settings& settings, bench::Table& table) {
  const std::size_t each = std::size_t{32} << 20, count = 16;
  const Bytes bytes = noise(each, 4);
  const Model model = model_of(bytes, count);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const double limit = sha256_rate() * cores;
  // Only hashing, then hashing as part of writing a file.
  const double hash = bench::best_of(settings.rounds, {[&] { (void)content_digest(model); }})[0];
  const double total = static_cast<double>(each * count);
  const std::string against = fmt::format("{} x SHA-256: {}", cores, rate(limit, 1));
  table.row("SHA-256 of every component", rate(total, hash), against, total / hash / limit, 0.85);
  const std::string path = settings.directory + "/bench-digest.zt";
  WriteOptions with_sha256;
  with_sha256.digest = DigestAlgorithm::sha256;
  const double write = bench::best_of(settings.rounds, {[&] { write_model(model, path, with_sha256); }})[0];
  table.row("  and writing the file beside it", rate(total, write), against, total / write / limit, 0);
  fs::remove(path);
}

void run_command(const std::string& command) {
  if (const int status = std::system(command.c_str()); status != 0) die(command + " failed");
}

void bench_convert_of(const Settings& settings, bench::Table& table, std::string_view format) {
  const std::string in = settings.directory + "/bench-in.zt", out = settings.directory + "/bench-out.zt";
  const std::size_t each = std::size_t{64} << 20;
  const auto count = static_cast<std::size_t>(settings.gib * 16);
  {
    const Bytes bytes = noise(each + count * kShift, 5);
    write_model(shifted_model(bytes, each, count), in, {}, format);
  }
  run_command(fmt::format("sync '{}'", in));
  const auto ours = [&] {
    fs::remove(out);
    ConvertOptions options;
    options.to = format;
    (void)convert(in, out, options);
  };
  const auto copy_synced = [&] {
    fs::remove(out);
    run_command(fmt::format("cp '{}' '{}' && sync '{}'", in, out, out));
  };
  const auto copy = [&] {
    fs::remove(out);
    run_command(fmt::format("cp '{}' '{}'", in, out));
  };
  const auto best = bench::best_of(settings.rounds, {ours, copy_synced, copy});
  const std::uint64_t memory = bench::anonymous_growth(ours);
  require(fs::file_size(in) == fs::file_size(out), "size of the converted file");
  const auto total = static_cast<double>(fs::file_size(in));
  table.row(fmt::format("convert {:.1f} GiB, on disk when done, {}", settings.gib, format), rate(total, best[0]),
            "cp, then sync: " + rate(total, best[1]), best[1] / best[0], 0.7);
  table.row("  the same against a cp that does not wait", rate(total, best[0]), "cp: " + rate(total, best[2]),
            best[2] / best[0], 0.7);
  table.row("  anonymous memory", fmt::format("{:.1f} MiB", static_cast<double>(memory) / (1 << 20)), "64 MiB",
            static_cast<double>(memory) / (64 << 20), 1, true);
  fs::remove(in);
  fs::remove(out);
}

void bench_convert(const Settings& settings, bench::Table& table) { bench_convert_of(settings, table, "zt"); }

// Quantizes a whole model of bf16 matrices, and compares with copying its file.
void bench_quantize(const Settings& settings, bench::Table& table) {
  const std::string in = settings.directory + "/bench-in.zt", out = settings.directory + "/bench-out.mcf";
  const std::size_t each = std::size_t{64} << 20;
  {
    const Bytes bytes = weights(each, 8);
    Model model = model_of(bytes, static_cast<std::size_t>(settings.gib * 16));
    for (Tensor& tensor : model.tensors) tensor.shape = {each / 2 / 4096, 4096};
    write_model(model, in);
  }
  run_command(fmt::format("sync '{}'", in));
  const auto quantize = [&](const std::string& method, bool fast) {
    return [&in, &out, method, fast] {
      fs::remove(out);
      ConvertOptions options;
      options.adapt.quant.method = method;
      options.adapt.quant.fast = fast;
      (void)convert(in, out, options);
    };
  };
  const auto copy = [&] {
    fs::remove(out);
    run_command(fmt::format("cp '{}' '{}'", in, out));
  };
  const auto best = bench::best_of(settings.rounds, {quantize("k4", true), quantize("k4", false), copy});
  const std::uint64_t memory = bench::anonymous_growth(quantize("k4", true));
  const auto total = static_cast<double>(fs::file_size(in));
  const std::string against = "cp: " + rate(total, best[2]);
  table.row(fmt::format("quantize {:.1f} GiB of bf16, k4 fast", settings.gib), rate(total, best[0]), against,
            best[2] / best[0], 0.5);
  table.row("  with the search for scales", rate(total, best[1]), against, best[2] / best[1], 0);
  table.row("  anonymous memory", fmt::format("{:.1f} MiB", static_cast<double>(memory) / (1 << 20)), "64 MiB",
            static_cast<double>(memory) / (64 << 20), 1, true);
  fs::remove(in);
  fs::remove(out);
}

void bench_zstd(const Settings& settings, bench::Table& table) {
  for (const bool compressible : {true, false}) {
    const std::size_t each = std::size_t{32} << 20, count = 8;
    const Bytes bytes = compressible ? weights(each, 6) : noise(each, 7);
    const Model model = model_of(bytes, count);
    const std::string path = settings.directory + "/bench-zstd.zt";
    const auto write = [&](const Model& from, std::optional<int> level, unsigned threads) {
      fs::remove(path);
      write_model(from, path, {.zstd_level = level, .work = {.threads = threads}});
    };
    const auto best = bench::best_of(settings.rounds, {[&] { write(model, 3, 1); }, [&] { write(model, 3, 2); }});
    const double total = static_cast<double>(each * count);
    table.row(fmt::format("zstd of {}compressible data, two cores", compressible ? "" : "in"), rate(total, best[1]),
              "one: " + rate(total, best[0]), best[0] / best[1], 1.7);
    const std::string packed_path = settings.directory + "/bench-packed.zt";
    write_model(model, packed_path, {.zstd_level = 3});
    const Model packed = open(packed_path);
    fs::remove(packed_path);  // the mapping keeps the data
    fs::remove(path);
    if (packed.tensors[0].components[0].blob.encoding() != Encoding::zstd) continue;
    const auto unpacked = bench::best_of(
        settings.rounds, {[&] { write(packed, std::nullopt, 1); }, [&] { write(packed, std::nullopt, 2); }});
    table.row("  and unpacking it", rate(total, unpacked[1]), "one: " + rate(total, unpacked[0]),
              unpacked[0] / unpacked[1], 1.5);
    fs::remove(path);
  }
}

void bench_packs(const Settings& settings, bench::Table& table) { bench::packs(settings.rounds, table); }

void bench_quant(const Settings& settings, bench::Table& table) { bench::quant(settings.rounds * 2, table); }
void bench_safetensors(const Settings& settings, bench::Table& table) {
  bench::bench_safetensors(settings.directory, settings.rounds, table);
}

void bench_alt(const Settings& settings, bench::Table& table) {
  bench::bench_alt(settings.directory, settings.gib, settings.rounds, table);
}

void bench_tllm(const Settings& settings, bench::Table& table) {
  bench::bench_tllm(settings.directory, settings.rounds * 2, table);
}

void bench_encode(const Settings& settings, bench::Table& table) {
  bench::encode(settings.rounds, settings.plot, table);
}

void bench_gguf(const Settings& settings, bench::Table& table) {
  bench::gguf(settings.directory, settings.rounds, table);
}

void bench_torch(const Settings& settings, bench::Table& table) {
  bench::torch(settings.directory, settings.gib, settings.rounds, table);
}

struct Job {
  std::string_view name;
  void (*run)(const Settings&, bench::Table&);
};
constexpr Job kJobs[] = {
    {"open", bench_open},       {"read", bench_read}, {"write", bench_write},   {"digest", bench_digest},
    {"convert", bench_convert}, {"zstd", bench_zstd}, {"quant", bench_quant},   {"quantize", bench_quantize},
    {"packs", bench_packs},     {"tllm", bench_tllm}, {"encode", bench_encode}, {"safetensors", bench_safetensors},
    {"alt", bench_alt},         {"gguf", bench_gguf}, {"zt2", bench_zt2},       {"torch", bench_torch}};

bool is_job(std::string_view name) {
  return std::any_of(std::begin(kJobs), std::end(kJobs), [&](const Job& job) { return job.name == name; });
}

std::string job_names() {
  std::string names;
  for (const Job& job : kJobs) names.append(names.empty() ? "" : " ").append(job.name);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : (die("a value is missing"), ""); };
    if (word == "--gib")
      settings.gib = std::atof(value());
    else if (word == "--dir")
      settings.directory = value();
    else if (word == "--plot")
      settings.plot = value();
    else if (word == "--rounds")
      settings.rounds = std::max(1, std::atoi(value()));
    else if (is_job(word))
      settings.jobs.emplace_back(word);
    else
      die(fmt::format(
          "no job or option {}\nusage: tare-bench [--gib N] [--dir DIR] [--rounds N] [--plot FILE] [JOB...]\n"
          "jobs: {}",
          word, job_names()));
  }
  try {
    bench::Table table;
    for (const Job& job : kJobs)
      if (settings.jobs.empty() ||
          std::find(settings.jobs.begin(), settings.jobs.end(), job.name) != settings.jobs.end())
        job.run(settings, table);
    fmt::print("machine: {}\ncommand:", bench::machine());
    for (int i = 0; i < argc; ++i) fmt::print(" {}", argv[i]);
    fmt::print("\n\n");
    return table.print() ? 0 : 1;
  } catch (const Error& error) {
    die(error.what());
  }
}
