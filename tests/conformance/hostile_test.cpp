// How every row of the table of formats handles bad bytes: truncated files, flipped bits, false numbers, random
// mixtures.
#include "conformance/memory.hpp"
#include "conformance/models.hpp"

namespace tare {
namespace {

using namespace tare::testing;

class Hostile : public ::testing::TestWithParam<const Format*> {
 protected:
  const Format& format() const { return *GetParam(); }
  // The format's own output, and the smallest stored files, which are all there is for a container that is only read.
  std::vector<Bytes> samples() const {
    std::vector<Bytes> files;
    if (format().write != nullptr)
      files.push_back(write_bytes(format(), small_model(format().holds), compact(format())));
    if (format().write != nullptr && format().holds.zstd && format().holds.digests) {
      Model model = small_model(format().holds);
      model.tensors.push_back(dense("z", {300}, DType::u8, Blob::memory(Bytes(300))));
      files.push_back(
          write_bytes(format(), model, compact(format(), {.zstd_level = 3, .digest = DigestAlgorithm::crc32c})));
    }
    std::vector<Bytes> stored = stored_files(format());
    std::ranges::sort(stored, {}, &Bytes::size);
    for (Bytes& file : stored)
      if (file.size() < 4096 && std::ranges::find(files, file) == files.end()) {
        files.push_back(std::move(file));
        break;
      }
    return files;
  }
};

// Without directories, whose files belong to other rows.
std::vector<const Format*> file_rows() {
  std::vector<const Format*> rows;
  for (const Format& format : formats())
    if (format.write != nullptr || !stored_files(format).empty()) rows.push_back(&format);
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Formats, Hostile, ::testing::ValuesIn(file_rows()), name_of_row);

// The kind of each byte: kNumber for tensor data, in which all values are equivalent, otherwise the byte itself.
constexpr int kNumber = 256;
std::vector<int> kinds_of(const Format& format, const Bytes& bytes) {
  std::vector<int> kinds(bytes.size());
  std::ranges::transform(bytes, kinds.begin(), [](std::byte byte) { return std::to_integer<int>(byte); });
  const Model model = format.read({"it", borrow_memory(bytes, "it")}, {});
  for (const Tensor& tensor : model.tensors) {
    if (!tensor.is_dense() || tensor.components[0].dtype == DType::boolean) continue;
    const Blob& blob = tensor.components[0].blob;
    const auto there = blob.view();
    if (there && !there->empty() && there->data() == bytes.data() + blob.offset())
      std::fill_n(kinds.begin() + static_cast<std::ptrdiff_t>(blob.offset()), there->size(), kNumber);
  }
  return kinds;
}

// The bytes to corrupt: all, except that a long run of one kind (padding, numbers) is covered by both ends and a few in
// between.
std::vector<std::size_t> places_in(const Format& format, const Bytes& bytes) {
  constexpr std::size_t kSome = 61;
  const std::vector<int> kinds = kinds_of(format, bytes);
  std::vector<std::size_t> places;
  for (std::size_t begin = 0; begin < bytes.size();) {
    std::size_t end = begin;
    while (end < bytes.size() && kinds[end] == kinds[begin]) ++end;
    const std::size_t length = kinds[begin] == kNumber ? 16 : 256, edge = kinds[begin] == kNumber ? 4 : 16;
    for (std::size_t at = begin; at < end; ++at)
      if (end - begin < length || at - begin < edge || end - at <= edge || (at - begin) % kSome == 0)
        places.push_back(at);
    begin = end;
  }
  return places;
}

// Opens the bytes and reads everything in them. The result is an Error or a model that can be read completely; anything
// else (a crash, another exception) fails the test. Returns a description of the model.
std::optional<std::string> read_all(const Format& format, std::span<const std::byte> bytes) {
  std::optional<std::string> found;
  error_of([&] {
    const Model model = format.read({"it", borrow_memory(bytes, "it")}, {});
    found = listing(model);
  });
  return found;
}

// The content of a model without its offsets. A format may tolerate a shorter end that loses nothing.
std::string content(const Model& model) {
  return to_json(model.metadata) + to_json(model.config.to_map()) + to_json(model.vocabulary.to_map()) +
         describe(model);
}

bool passes_strictly(std::span<const std::byte> bytes) {
  const Scratch scratch(Scratch::fast_place());
  put_file(scratch / "it", bytes);
  return verify(scratch / "it", {.work = {.threads = 1}}).ok(true);
}

// Containers without a length or a count (see their pages): a file that ends between two items is a valid
// file with fewer items.
constexpr std::string_view kOpenEnded[] = {"onnx", "ggmlbin"};
bool is_open_ended(const Format& format) { return std::ranges::find(kOpenEnded, format.name) != std::end(kOpenEnded); }

bool is_beginning(const Model& part, const Model& whole) {
  if (part.tensors.size() > whole.tensors.size()) return false;
  for (std::size_t i = 0; i < part.tensors.size(); ++i)
    if (part.tensors[i].name != whole.tensors[i].name || part.tensors[i].shape != whole.tensors[i].shape) return false;
  return std::ranges::all_of(part.metadata, [&](const auto& entry) {
    const Value* const found = whole.metadata.find(entry.first);
    return found != nullptr && *found == entry.second;
  });
}

TEST_P(Hostile, EveryTruncationIsAnError) {
  for (const Bytes& whole : samples())
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto part = std::span(whole).first(length);
      std::string found;
      const auto error = error_of([&] { found = content(open(borrow_memory(part, "it"))); });
      if (!error && found == content(open(borrow_memory(whole, "it"))) && !passes_strictly(part)) continue;
      if (!error && is_open_ended(format())) {
        EXPECT_TRUE(is_beginning(open(borrow_memory(part, "it")), open(borrow_memory(whole, "it")))) << length;
        continue;
      }
      ASSERT_TRUE(error.has_value()) << "cut at " << length << " of " << whole.size();
      EXPECT_FALSE(error->rule().empty());
      EXPECT_EQ(error->file(), "it") << error->what();
    }
}

// Calls the reader directly, as for a file with the right name: recognition must not be its only protection.
TEST_P(Hostile, EveryTruncationIsAnErrorOfTheReaderToo) {
  if (is_open_ended(format())) return;
  for (const Bytes& whole : samples())
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto part = std::span(whole).first(length);
      ASSERT_FALSE(read_all(format(), part).has_value() && passes_strictly(part)) << "cut at " << length;
    }
}

TEST_P(Hostile, EveryFlippedBitIsAnErrorOrAReadableModel) {
  for (Bytes bytes : samples())
    for (const std::size_t at : places_in(format(), bytes))
      for (unsigned bit = 0; bit < 8; ++bit) {
        const auto mask = static_cast<std::byte>(1U << bit);
        bytes[at] ^= mask;
        read_all(format(), bytes);
        bytes[at] ^= mask;
      }
}

TEST_P(Hostile, VerifyNeverThrowsForContent) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "it";
  for (Bytes bytes : samples()) {
    const std::vector<std::size_t> places = places_in(format(), bytes);
    for (std::size_t i = 0; i < places.size() * 8; i += 13) {
      const auto mask = static_cast<std::byte>(1U << (i % 8));
      bytes[places[i / 8]] ^= mask;
      put_file(path, bytes);
      EXPECT_EQ(rule_of([&] { verify(path, {.work = {.threads = 1}}); }), "");
      bytes[places[i / 8]] ^= mask;
    }
  }
}

// Values that must never be trusted as a count, a length or an offset.
constexpr std::uint64_t kLies[] = {0,
                                   1,
                                   0x7F,
                                   0xFFFF,
                                   std::uint64_t{1} << 31,
                                   std::uint64_t{1} << 32,
                                   (std::uint64_t{1} << 32) - 1,
                                   std::uint64_t{1} << 62,
                                   std::uint64_t{1} << 63,
                                   UINT64_MAX - 63,
                                   UINT64_MAX};

// Replaces every 1, 2, 4 and 8 bytes of the file by every such value, in both byte orders.
template <typename Visit>
void for_each_lie(const Format& format, Bytes bytes, const Visit& visit) {
  for (const std::size_t at : places_in(format, bytes))
    for (const std::size_t width : {1U, 2U, 4U, 8U}) {
      if (at + width > bytes.size()) continue;
      const Bytes kept(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
      for (const std::uint64_t lie : kLies)
        for (const bool big : {false, true}) {
          for (std::size_t b = 0; b < width; ++b)
            bytes[at + (big ? width - 1 - b : b)] = static_cast<std::byte>(lie >> (8 * b) & 0xFF);
          visit(std::as_const(bytes));
        }
      std::copy(kept.begin(), kept.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

TEST_P(Hostile, LyingNumbersAllocateNothing) {
  if (!kCountsMemory) GTEST_SKIP() << "memory is not counted under a sanitizer";
  const Bytes good = samples().front();
  const std::size_t most = (std::size_t{64} << 10) + 8 * good.size();
  std::size_t worst = 0;
  for_each_lie(format(), good, [&](const Bytes& bytes) {
    const std::size_t peak = peak_during([&] {
      error_of([&] { format().read({"it", borrow_memory(bytes, "it")}, {}); });
    });
    worst = std::max(worst, peak);
  });
  EXPECT_LT(worst, most);
}

TEST_P(Hostile, LyingNumbersAreErrorsOrReadable) {
  constexpr int kEvery = kCountsMemory ? 5 : 20;  // with sanitizers, each is twenty times slower
  int turn = 0;
  for (const Bytes& good : samples())
    for_each_lie(format(), good, [&](const Bytes& bytes) {
      if (++turn % kEvery == 0) read_all(format(), bytes);
    });
}

// Applies splices, repeated runs and noise to a valid file.
TEST_P(Hostile, SoupNeverCrashes) {
  const std::vector<Bytes> files = samples();
  std::uint64_t state = 42;
  const auto below = [&](std::size_t limit) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state >> 33) % limit);
  };
  for (int round = 0; round < 4000; ++round) {
    Bytes bytes = files[below(files.size())];
    for (std::size_t edits = 1 + below(6); edits > 0; --edits) {
      const std::size_t at = below(bytes.size()), count = std::min(1 + below(24), bytes.size() - at);
      const std::size_t from = below(bytes.size() - count + 1);
      switch (below(4)) {
        case 0:
          std::copy_n(Bytes(bytes).begin() + static_cast<std::ptrdiff_t>(from), count,
                      bytes.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, static_cast<std::byte>(below(256)));
          break;
        case 2:
          for (std::size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<std::byte>(below(256));
          break;
        default:
          bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + count - 1));
          break;
      }
    }
    read_all(format(), bytes);
  }
}

TEST_P(Hostile, AShrinkingFileIsAnErrorWhereverItIsCut) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "it";
  const Bytes whole =
      format().write == nullptr ? samples().front() : write_bytes(format(), small_and_large_model(format().holds));
  for (const Access access : {Access::mapped, Access::pread})
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 1}) {
      put_file(path, whole);
      const SourcePtr source = open_file(path, access);
      const Model opened = open(source);
      ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(length)), 0);
      EXPECT_EQ(rule_of([&] {
                  for (const Tensor& tensor : opened.tensors)
                    for (const Component& component : tensor.components) component.blob.bytes();
                  source->check();
                  open(source);
                }),
                "io.source.shrank");
      EXPECT_EQ(rule_of([&] { listing(open(source)); }), "io.source.shrank");
    }
}

}  // namespace
}  // namespace tare
