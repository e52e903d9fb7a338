// A small fuzzer for compilers without libFuzzer (preset fuzz-gcc). It accepts the libFuzzer options that tools/fuzz
// uses:
//
//   fuzz-NAME [-max_total_time=S] [-timeout=S] [-rss_limit_mb=M] [-max_len=N] [-artifact_prefix=P] KEPT [SEEDS...]
//   fuzz-NAME -merge=1 OUT FOLDER...    copies inputs that add coverage to OUT
//   fuzz-NAME FILE...                   runs each file once
//
// A child process runs the inputs; the current one is in shared memory. Whatever ends the child (a sanitizer, a signal,
// the limits on time and memory), the parent writes that input to P, prints the reason, and exits.
//
// Coverage: GCC calls __sanitizer_cov_trace_pc at every block. Pairs of blocks are counted in a table; an input is kept
// if it reaches a new pair, or a pair twice as often as before.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "plain_mutator.hpp"

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
__attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                                          unsigned seed);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
std::uint64_t tare_fuzz_blocks = 0;
}

namespace {

namespace fs = std::filesystem;
using tare::fuzz::Input;
using tare::fuzz::Random;

constexpr unsigned kTableBits = 18;
std::array<std::uint8_t, std::size_t{1} << kTableBits> table, seen;
std::uint64_t before = 0;

}  // namespace

extern "C" __attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc() {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_return_address(0)) * 0x9E3779B97F4A7C15;
  std::uint8_t& count = table[(here ^ before >> 1) >> (64 - kTableBits)];
  if (count < 255) ++count;
  before = here;
  ++tare_fuzz_blocks;
}

namespace {

struct Shared {                  // shared by parent and child
  volatile std::uint64_t began;  // in milliseconds; 0 between inputs
  volatile std::size_t executions, size;
  std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};
Shared* shared = nullptr;

std::uint64_t milliseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

struct Options {
  std::map<std::string, std::string> named = {{"max_total_time", "60"}, {"timeout", "10"}, {"rss_limit_mb", "512"},
                                              {"max_len", "65536"},     {"merge", "0"},    {"artifact_prefix", "./"}};
  std::vector<std::string> paths;
  std::uint64_t number(const char* name) const { return std::stoull(named.at(name)); }
};

Input content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(in), {});
}

std::string name_of(const Input& input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  return std::to_string(std::hash<std::string_view>()(text));
}

void write(const fs::path& path, const Input& input) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
}

// Runs an input. Returns the number of pairs of blocks that are new, or reached twice as often as before.
std::size_t run(const Input& input) {
  shared->size = input.size();
  if (!input.empty()) std::memcpy(shared->bytes(), input.data(), input.size());
  table.fill(0);
  before = 0;
  shared->began = milliseconds();
  LLVMFuzzerTestOneInput(input.data(), input.size());
  shared->began = 0;
  shared->executions = shared->executions + 1;
  std::size_t added = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] == 0) continue;
    const auto magnitude = static_cast<std::uint8_t>(1U << (31 - __builtin_clz(table[i])));
    if ((seen[i] & magnitude) != 0) continue;
    seen[i] |= magnitude;
    ++added;
  }
  return added;
}

class Worker {
 public:
  explicit Worker(const Options& options) : options_(options), most_(options.number("max_len")) {
    for (const std::string& path : options.paths) read_folder(path);
  }

  int merge() {
    std::ranges::sort(inputs_, {}, [](const Input& input) { return input.size(); });
    for (const Input& input : inputs_)
      if (run(input) > 0) write(fs::path(options_.paths[0]) / name_of(input), input);
    return 0;
  }

  int fuzz() {
    const std::uint64_t end = milliseconds() + 1000 * options_.number("max_total_time");
    std::size_t kept = 0;
    for (std::size_t i = 0; i < inputs_.size() && milliseconds() < end; ++i) {
      const std::size_t added = run(inputs_[i]);
      features_ += added;
      if (added > 0) std::swap(inputs_[kept++], inputs_[i]);
    }
    inputs_.resize(std::max<std::size_t>(kept, 1));  // starts with an empty input if there are none
    inputs_.reserve(std::size_t{1} << 20);           // the mutator holds pointers to them
    for (const Input& input : inputs_) held_ += input.size();
    print("INITED");
    Random random(milliseconds() ^ static_cast<std::uint64_t>(::getpid()) << 32);
    for (std::uint64_t scanned = milliseconds(), now = scanned; now < end; now = milliseconds()) {
      if (now > scanned + 5000) read_others(), scanned = now;
      tare::fuzz::set_plain_mutator(random.next(), inputs_);
      try_one(mutated(random));
    }
    print("DONE");
    std::printf("stat::number_of_executed_units: %zu\n", std::size_t{shared->executions});
    return 0;
  }

 private:
  Input mutated(Random& random) {
    // Half of the time, take one of the newest inputs, which are most likely to lead to more.
    const std::size_t newest = std::min<std::size_t>(inputs_.size(), 32);
    Input input = random.one_in(2) ? random.one_of(inputs_) : inputs_[inputs_.size() - 1 - random.below(newest)];
    std::size_t size = input.size();
    input.resize(most_);
    for (std::size_t i = 1 + random.below(4); i > 0; --i) {
      const auto seed = static_cast<unsigned>(random.next());
      size = LLVMFuzzerCustomMutator != nullptr ? LLVMFuzzerCustomMutator(input.data(), size, most_, seed)
                                                : LLVMFuzzerMutate(input.data(), size, most_);
    }
    input.resize(size);
    input.shrink_to_fit();  // so that the sanitizer detects reads beyond the end
    return input;
  }

  void try_one(Input input) {
    const std::size_t added = run(input);
    if (added == 0) return;
    features_ += added;
    if (!options_.paths.empty()) {
      files_.insert(name_of(input));
      write(fs::path(options_.paths[0]) / name_of(input), input);
    }
    keep(std::move(input));
    print("NEW");
  }

  // Holds at most kMostHeld bytes, far below the limit on memory that the inputs are tested against. Once that is full,
  // a new input takes the place of an old one, which stays in its file.
  void keep(Input input) {
    held_ += input.size();
    if (held_ <= kMostHeld && inputs_.size() < inputs_.capacity()) return inputs_.push_back(std::move(input));
    Input& replaced = inputs_[next_replaced_++ % inputs_.size()];
    held_ -= replaced.size();
    replaced = std::move(input);
  }

  void read_folder(const std::string& path) {
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && entry.file_size() <= most_ && files_.insert(entry.path().filename()).second)
        inputs_.push_back(content(entry.path()));
  }
  // Reads what other processes have found.
  void read_others() {
    if (options_.paths.empty()) return;
    std::vector<Input> found;
    inputs_.swap(found), read_folder(options_.paths[0]), inputs_.swap(found);
    for (Input& input : found)
      if (run(input) > 0) keep(std::move(input));
  }

  void print(const char* what) const {
    std::printf("#%zu\t%s cov: %zu ft: %zu corp: %zu\n", std::size_t{shared->executions}, what, features_, features_,
                inputs_.size());
    std::fflush(stdout);
  }

  const Options& options_;
  const std::size_t most_;
  static constexpr std::size_t kMostHeld = std::size_t{128} << 20;
  std::vector<Input> inputs_;
  std::size_t held_ = 0, next_replaced_ = 0;  // held_: the bytes of inputs_
  std::set<std::string> files_;
  std::size_t features_ = 0;
};

std::uint64_t resident_megabytes(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t all = 0, resident = 0;
  in >> all >> resident;
  return (resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) >> 20;
}

int watch(pid_t child, const Options& options) {
  const char* reason = nullptr;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    const std::uint64_t began = shared->began, now = milliseconds();
    if (began != 0 && now > began + 1000 * options.number("timeout")) reason = "timeout";
    if (resident_megabytes(child) > options.number("rss_limit_mb")) reason = "oom";
    if (reason != nullptr) ::kill(child, SIGKILL);
    ::usleep(50000);
  }
  if (reason == nullptr && status == 0) return 0;
  const Input input(shared->bytes(), shared->bytes() + shared->size);
  const std::string what = reason != nullptr ? reason : "crash";
  const std::string path = options.named.at("artifact_prefix") + what + "-" + name_of(input);
  write(path, input);
  std::printf("SUMMARY: %s, status %d\nTest unit written to %s\n", what.c_str(), status, path.c_str());
  return 77;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (const std::string argument : std::span(argv + 1, argv + argc)) {
    const std::size_t equals = argument.find('=');
    if (argument.starts_with("-") && equals != std::string::npos)
      options.named[argument.substr(1, equals - 1)] = argument.substr(equals + 1);
    else
      options.paths.push_back(argument);
  }
  const std::size_t room = sizeof(Shared) + options.number("max_len");
  void* const memory = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  shared = static_cast<Shared*>(memory);
  if (!options.paths.empty() && fs::is_regular_file(options.paths[0])) {
    for (const std::string& path : options.paths) {
      const Input input = content(path);
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    return 0;
  }
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child > 0) return watch(child, options);
  Worker worker(options);
  return options.number("merge") != 0 ? worker.merge() : worker.fuzz();
}
