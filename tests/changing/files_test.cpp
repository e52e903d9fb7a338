// Real files while another process writes to them, truncates them and extends them.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <csignal>

#include "io/mapping_guard.hpp"
#include "use_all.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// A child process that keeps rewriting a file through a mapping until it is stopped: bytes at `from` and every `step`
// bytes after it alternate between two values.
class Rewriter {
 public:
  Rewriter(const std::string& path, std::size_t from, std::size_t step) {
    const std::size_t size = std::filesystem::file_size(path);
    child_ = start_child([&] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends if the test dies
      const int fd = ::open(path.c_str(), O_RDWR);
      auto* const bytes =
          static_cast<volatile unsigned char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
      if (bytes == MAP_FAILED) return 1;
      for (unsigned round = 0;; ++round)
        for (std::size_t at = from; at < size; at += step)
          bytes[at] = bytes[at] ^ static_cast<unsigned char>(1 + round / 2 % 255);
    });
  }
  ~Rewriter() {
    ::kill(child_, SIGKILL);
    end_of(child_);
  }
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

 private:
  pid_t child_;
};

// Keys that change during std::sort break the order that it relies on, and it would leave the array.
TEST(ChangingMcf, KeysThatChangeWhileTheyAreSorted) {
  const Scratch scratch(Scratch::fast_place());
  Model model;
  for (int i = 0; i < 50'000; ++i) model.metadata.append(fmt::format("key.{:08}", i), "v");
  put_file(scratch / "m.mcf", write_bytes(*find_format("mcf"), model));
  const Rewriter rewriter(scratch / "m.mcf", 4096, 7);
  for (int round = 0; round < 12; ++round) error_of([&] { open(scratch / "m.mcf"); });
}

// The lengths of a directory entry are read when the entry is measured and again when it is parsed.
TEST(ChangingZip, LengthsThatChangeInsideTheDirectory) {
  const Scratch scratch(Scratch::fast_place());
  Model model;
  for (int i = 0; i < 2000; ++i)
    model.tensors.push_back(dense(fmt::format("t{:04}", i), {1}, DType::u8, Blob::memory(Bytes(1))));
  const Bytes bytes = write_bytes(*find_format("npz"), model);
  put_file(scratch / "m.npz", bytes);
  // Every byte of the second half, which contains the directory.
  const Rewriter rewriter(scratch / "m.npz", bytes.size() - 2000 * 60, 29);
  for (int round = 0; round < 60; ++round) error_of([&] { open(scratch / "m.npz"); });
}

// Each container is opened and used while another process overwrites it.
TEST(ChangingFiles, EveryReaderBesideAWriter) {
  const Scratch scratch(Scratch::fast_place());
  for (const Format& format : formats()) {
    const std::vector<Bytes> stored = stored_files(format);
    if (format.write == nullptr && stored.empty()) continue;
    const std::string path = scratch / ("m" + std::string(format.suffixes.front()));
    const Bytes bytes = format.write == nullptr
                            ? *std::ranges::max_element(stored, {}, [](const Bytes& file) { return file.size(); })
                            : write_bytes(format, full_model(format.holds));
    const Model other = format.read({"other", borrow_memory(bytes)}, {});
    for (const Access access : {Access::mapped, Access::pread}) {
      put_file(path, bytes);
      const Model opened = open(path, {.access = access});
      const Rewriter rewriter(path, 0, 13);
      IgnoreFindings ignore_findings;
      for (int round = 0; round < 20; ++round) {
        error_of([&] { open(path, {.access = access}); });
        error_of([&] { open(path, {.access = access, .diagnostics = &ignore_findings}); });
        error_of([&] { verify(path, {.access = access, .work = {.threads = 1}}); });
      }
      use_model(opened, other, 0);
      error_of([&] { convert(path, scratch / "out.zt", {.overwrite = true}); });
    }
  }
}

std::size_t open_beside_writers(const std::string& path) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file() || entry.file_size() == 0) continue;
    const Rewriter rewriter(entry.path(), 0, 13);
    for (std::size_t round = 0; round < 4; ++round) error_of([&] { use_model(open(path), Model(), round); });
    ++files;
  }
  return files;
}

// The same for directories and sets of shards, whose readers open further files.
TEST(ChangingFiles, DirectoriesBesideAWriter) {
  const Scratch scratch(Scratch::fast_place());
  const Format& format = *find_format("hf");
  format.write_tree(full_model(format.holds), scratch / "model", {.shard_bytes = 200}, false);
  EXPECT_GT(open_beside_writers(scratch / "model"), 5U);
}

// The same for tensors that belong together: weights, scales, zeros and an order of matrix rows.
TEST(ChangingFiles, PackedWeightsBesideAWriter) {
  const Scratch scratch(Scratch::fast_place());
  Model model;
  model.tensors.push_back(make_dense("l.qweight", {8, 64}, DType::i32, "", 1));
  model.tensors.push_back(make_dense("l.qzeros", {2, 8}, DType::i32, "", 2));
  model.tensors.push_back(make_dense("l.scales", {2, 64}, DType::f16, "", 3));
  model.tensors.push_back(dense("l.g_idx", {64}, DType::i32, Blob::memory(Bytes(256))));
  std::filesystem::create_directory(scratch / "model");
  put_file(scratch / "model/model.safetensors", write_bytes(*find_format("safetensors"), model));
  put_file(scratch / "model/config.json", to_bytes(R"({"model_type":"llama","quantization_config":)"
                                                   R"({"quant_method":"gptq","bits":4,"group_size":32}})"));
  ASSERT_EQ(open(scratch / "model").tensors.at(0).layout, "gptq4");
  EXPECT_EQ(open_beside_writers(scratch / "model"), 2U);
}

// ---- files that are truncated and extended

// An old time, so that any write is later, whatever the file system's clock.
void make_old(const std::string& path) {
  const timespec times[2] = {{.tv_sec = 1'000'000'000, .tv_nsec = 0}, {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

class ChangedFile : public ::testing::TestWithParam<Access> {
 protected:
  void SetUp() override {
    put_file(path_, write_bytes(*find_format("zt"), small_and_large_model(find_format("zt")->holds)));
    make_old(path_);
    size_ = std::filesystem::file_size(path_);
  }
  Model open_it() const { return open(path_, {.access = GetParam()}); }
  void write_one_byte() const {
    const int fd = ::open(path_.c_str(), O_WRONLY);
    ASSERT_EQ(::pwrite(fd, "x", 1, 100'000), 1);
    ::close(fd);
  }

  Scratch scratch_;
  std::string path_ = scratch_ / "f.zt";
  std::uint64_t size_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Access, ChangedFile, ::testing::Values(Access::mapped, Access::pread),
                         [](const auto& row) { return row.param == Access::mapped ? "mapped" : "pread"; });

TEST_P(ChangedFile, CutAndGrownAgainIsNoticed) {
  const Model model = open_it();
  model.check_sources();
  ASSERT_EQ(::truncate(path_.c_str(), 10), 0);
  ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size_)), 0);
  EXPECT_EQ(rule_of([&] { model.check_sources(); }), "io.source.changed");
  EXPECT_EQ(rule_of([&] { content_digest(model); }), "io.source.changed");
}

TEST_P(ChangedFile, GrownOrWrittenToIsNoticed) {
  const Model grown = open_it();
  ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size_ + 1)), 0);
  const auto error = error_of([&] { grown.check_sources(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "io.source.changed");
  EXPECT_EQ(error->kind(), ErrorKind::io);
  EXPECT_EQ(error->file(), path_);
  ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size_)), 0);
  make_old(path_);
  const Model written = open_it();
  write_one_byte();
  EXPECT_EQ(rule_of([&] { diff(written, Model()); }), "io.source.changed");
}

// It is still the same file, with the same bytes.
TEST_P(ChangedFile, RenamedOrLinkedIsNotChanged) {
  const Model model = open_it();
  std::filesystem::create_hard_link(path_, scratch_ / "other");
  std::filesystem::rename(path_, scratch_ / "elsewhere");
  EXPECT_EQ(rule_of([&] { content_digest(model); }), "");
}

// The file is written to during the conversion: the pipe's buffer is smaller than the file, so the reader controls the
// moment.
TEST_P(ChangedFile, AConversionOfItIsAnError) {
  const std::string pipe = scratch_ / "pipe.npz";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const pid_t reader = start_child([&] {
    const int fd = ::open(pipe.c_str(), O_RDONLY);
    std::array<char, 4096> part;
    if (::read(fd, part.data(), 1) != 1) return 1;
    write_one_byte();
    while (::read(fd, part.data(), part.size()) > 0) {
    }
    return 0;
  });
  ConvertOptions options{.overwrite = true};
  options.read.access = GetParam();
  EXPECT_EQ(rule_of([&] { convert(path_, pipe, options); }), "io.source.changed");
  const int status = end_of(reader);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_P(ChangedFile, ADirectoryMadeOfItIsNotKept) {
  for (const std::string_view format : {"hf", "safetensors"}) {
    make_old(path_);
    Model model = open_it();
    std::erase_if(model.tensors, [](const Tensor& tensor) { return !tensor.is_dense(); });
    for (Tensor& tensor : model.tensors) tensor.attributes = {};
    model.metadata = {};
    write_one_byte();
    EXPECT_EQ(rule_of([&] { find_format(format)->write_tree(model, scratch_ / "out", {}, false); }),
              "io.source.changed");
    EXPECT_EQ(scratch_.entries(), std::vector<std::string>{"f.zt"});
  }
}

// ---- the guard

// Unguarded, a mapping would end the process when its file is truncated.
TEST(MappingGuard, MoreThanCanBeGuardedAreReadWithPread) {
  const Scratch scratch;
  put_file(scratch / "f", Bytes(10'000, std::byte{7}));
  alignas(4096) static std::byte page[4096];
  std::vector<std::unique_ptr<io::MappingGuard>> guards;
  do guards.push_back(std::make_unique<io::MappingGuard>(page, sizeof page));
  while (guards.back()->works());
  EXPECT_LE(guards.size(), io::kMostGuarded + 1);
  const SourcePtr source = open_file(scratch / "f");
  EXPECT_FALSE(source->view(0, 1).has_value());
  Bytes out(10'000);
  source->read(0, out);
  EXPECT_EQ(out, Bytes(10'000, std::byte{7}));
  ASSERT_EQ(::truncate((scratch / "f").c_str(), 5), 0);
  EXPECT_EQ(rule_of([&] { source->read(0, out); }), "io.source.shrank");
  guards.clear();
  EXPECT_TRUE(open_file(scratch / "f")->view(0, 1).has_value());
}

// Scattered accesses: replacing single pages would split the mapping into more pieces than a process may have.
TEST(MappingGuard, ManyScatteredLooksAtAFileThatWasCut) {
  const Scratch scratch(Scratch::fast_place());
  constexpr std::uint64_t kStep = 8192, kLooks = 70'000;
  put_file(scratch / "f", Bytes(1));
  ASSERT_EQ(::truncate((scratch / "f").c_str(), static_cast<off_t>(kStep * kLooks)), 0);
  for (const bool upwards : {true, false}) {
    const SourcePtr source = open_file(scratch / "f");
    ASSERT_EQ(::truncate((scratch / "f").c_str(), 0), 0);
    const auto view = source->view(0, source->size());
    ASSERT_TRUE(view);
    std::size_t sum = 0;
    for (std::uint64_t i = 0; i < kLooks; ++i)
      sum += std::to_integer<std::size_t>((*view)[(upwards ? i : kLooks - 1 - i) * kStep]);
    EXPECT_EQ(sum, 0U);
    EXPECT_EQ(rule_of([&] { source->check(); }), "io.source.shrank");
    ASSERT_EQ(::truncate((scratch / "f").c_str(), static_cast<off_t>(kStep * kLooks)), 0);
  }
}

void ignore_it(int) {}

// The handler is installed while a file is mapped, and removed afterwards, unless another handler relies on it.
TEST(MappingGuard, TheHandlerGoesWithTheLastMapping) {
  const int status = run_child([] {
    const Scratch scratch;
    put_file(scratch / "f", Bytes(100, std::byte{7}));
    const auto handler = [] {
      struct sigaction now {};
      ::sigaction(SIGBUS, nullptr, &now);
      return now.sa_handler;
    };
    for (const auto before : {SIG_DFL, ignore_it}) {
      ::signal(SIGBUS, before);
      SourcePtr first = open_file(scratch / "f"), second = open_file(scratch / "f");
      const auto ours = handler();
      if (ours == before) return 1;
      first.reset();
      if (handler() != ours) return 2;
      second.reset();
      if (handler() != before) return 3;
    }
    SourcePtr mapped = open_file(scratch / "f");
    ::signal(SIGBUS, ignore_it);  // installed after ours
    mapped.reset();
    if (handler() != ignore_it) return 4;
    mapped = open_file(scratch / "f");
    if (handler() != ignore_it) return 5;
    if (mapped->view(0, 1)) return 6;  // that handler would not call ours: nothing is mapped
    ::signal(SIGBUS, SIG_DFL);
    mapped = open_file(scratch / "f");
    if (!mapped->view(0, 1)) return 7;
    return handler() == SIG_DFL ? 8 : 0;
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

struct sigaction found_by_other {};
std::sig_atomic_t volatile seen_by_other = 0;
void call_the_one_before(int number, siginfo_t* info, void* context) {
  seen_by_other = seen_by_other + 1;
  if ((found_by_other.sa_flags & SA_SIGINFO) != 0) found_by_other.sa_sigaction(number, info, context);
}

// A handler that was installed before ours does not see our faults; one that was installed after ours passes them on.
TEST(MappingGuard, ATruncatedFileIsNoticedNextToAnotherHandler) {
  for (const bool first : {true, false}) {
    const int status = run_child([&] {
      const Scratch scratch;
      put_file(scratch / "f", Bytes(10'000, std::byte{7}));
      struct sigaction action {};
      action.sa_sigaction = call_the_one_before;
      action.sa_flags = SA_SIGINFO;
      if (first) ::sigaction(SIGBUS, &action, &found_by_other);
      const SourcePtr source = open_file(scratch / "f");
      if (!first) ::sigaction(SIGBUS, &action, &found_by_other);
      const auto view = source->view(0, source->size());
      if (!view || ::truncate((scratch / "f").c_str(), 0) != 0) return 1;
      if ((*view)[9'000] != std::byte{0}) return 2;
      if (rule_of([&] { source->check(); }) != "io.source.shrank") return 3;
      return seen_by_other == (first ? 0 : 1) ? 0 : 4;
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << first;
  }
}

}  // namespace
}  // namespace tare
