// The promises of every container, checked for every row of the table of formats.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>

#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "tare/append.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;

std::vector<const Format*> rows(bool (*wanted)(const Format&)) {
  std::vector<const Format*> chosen;
  for (const Format& format : formats())
    if (wanted(format)) chosen.push_back(&format);
  return chosen;
}

bool any(const Format&) { return true; }
bool writable(const Format& format) { return format.write != nullptr; }
bool appendable(const Format& format) { return format.append != nullptr; }

class Conformance : public ::testing::TestWithParam<const Format*> {
 protected:
  const Format& format() const { return *GetParam(); }
  const Capabilities& holds() const { return GetParam()->holds; }
  Model reopen(Bytes bytes, const ReadOptions& options = {}) const {
    return open(memory_source(std::move(bytes), "it" + std::string(format().suffixes.front())), options);
  }
};
class WritableConformance : public Conformance {};
class AppendableConformance : public Conformance {};

INSTANTIATE_TEST_SUITE_P(Formats, Conformance, ::testing::ValuesIn(rows(any)), name_of_row);
INSTANTIATE_TEST_SUITE_P(Formats, WritableConformance, ::testing::ValuesIn(rows(writable)), name_of_row);
INSTANTIATE_TEST_SUITE_P(Formats, AppendableConformance, ::testing::ValuesIn(rows(appendable)), name_of_row);

TEST_P(Conformance, RowIsComplete) {
  EXPECT_FALSE(format().name.empty());
  EXPECT_FALSE(format().title.empty());
  EXPECT_FALSE(format().versions.empty());
  EXPECT_FALSE(format().suffixes.empty());
  EXPECT_FALSE(holds().dtypes.empty());
  EXPECT_FALSE(holds().layouts.empty());
  EXPECT_NE(format().recognize, nullptr);
  EXPECT_NE(format().read, nullptr);
  EXPECT_EQ(find_format(format().name), &format());
  // The first suffix belongs to this format only. Others may also belong to an earlier row; then the bytes decide.
  EXPECT_EQ(format_of_suffix("x" + std::string(format().suffixes.front())), &format());
  for (const std::string_view suffix : format().suffixes)
    EXPECT_LE(format_of_suffix("x" + std::string(suffix)), &format()) << suffix;
}

TEST_P(Conformance, NamesAreUnique) {
  for (const Format& other : formats()) {
    if (&other == &format()) continue;
    EXPECT_NE(other.name, format().name);
    EXPECT_NE(other.suffixes.front(), format().suffixes.front());
  }
}

// Also for a container that can only be read.
TEST_P(Conformance, StoredFilesAreReadWhole) {
  const Scratch scratch;
  for (const Bytes& file : stored_files(format())) {
    const std::string path = scratch / "it";
    put_file(path, file);
    EXPECT_TRUE(verify(path).ok(true)) << format().name;
    const Model mapped = open(path, {.access = Access::mapped}), read = open(path, {.access = Access::pread});
    EXPECT_EQ(mapped.format, format().name);
    EXPECT_EQ(listing(mapped), listing(read));
    // They are also the same model in a container that holds any layout.
    for (const Format& other : formats()) {
      if (other.write == nullptr || !lists(other.holds.layouts, "*")) continue;
      MemorySink sink;
      const Adapted adapted = adapt(mapped, other);
      const auto nameless = [](const Tensor& tensor) { return tensor.name.empty(); };
      // A container may require names.
      if (const auto error = error_of([&] { other.write(adapted.model, sink, {}); })) {
        EXPECT_TRUE(std::ranges::any_of(mapped.tensors, nameless)) << other.name;
        EXPECT_NE(error->rule().find("name"), std::string::npos) << error->what();
        continue;
      }
      sink.commit();
      EXPECT_EQ(content_digest(open(memory_source(sink.take(), ""))), content_digest(mapped)) << other.name;
    }
  }
}

// A reader or a caller may have made a tensor without the components of its layout.
TEST_P(WritableConformance, ATensorWithoutItsComponentsIsRefused) {
  for (const Codec& codec : codecs()) {
    Model model = small_model(holds());
    Tensor& tensor = model.tensors.front();
    tensor.layout = codec.layout;
    tensor.shape = {32, 256};
    for (const std::string_view role : {std::string_view(), std::string_view("other")}) {
      tensor.components.clear();
      if (!role.empty()) tensor.components.push_back({std::string(role), DType::u8, {}, Blob::memory(Bytes(64))});
      EXPECT_NE(rule_of([&] { write_bytes(format(), adapt(model, format(), {.dtype = DType::f32}).model); }), "")
          << codec.layout;
      EXPECT_NE(rule_of([&] { write_bytes(format(), adapt(model, format()).model); }), "") << codec.layout;
    }
  }
}

TEST_P(WritableConformance, OnlyItsOwnFilesAreRecognised) {
  const SourcePtr file = memory_source(write_bytes(format(), small_model(holds())));
  for (const Format& other : formats()) EXPECT_EQ(other.recognize(*file), &other == &format()) << other.name;
  EXPECT_EQ(&detect(*file), &format());
}

TEST_P(Conformance, ThingsThatAreNoModelsAreNotRecognised) {
  for (const std::string_view text :
       {"", "Z", "ZTEN", "PK", "\x93NUM", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "<!DOCTYPE html><html>", "{\"a\": 1}",
        "\x7F"
        "ELF\x02\x01\x01"}) {
    const SourcePtr source = memory_source(to_bytes(text));
    EXPECT_FALSE(format().recognize(*source)) << text;
  }
}

// The bytes of a file decide its format, whatever its name is.
TEST_P(WritableConformance, AnotherFirstByteIsRefusedUnderTheSameName) {
  const Scratch scratch;
  const Bytes good = write_bytes(format(), full_model(holds()));
  for (const std::string_view suffix : format().suffixes) {
    if (suffix.ends_with('/')) continue;  // is the directory's own name
    for (const unsigned change : {0x01U, 0x80U, 0xFFU}) {
      Bytes bad = good;
      bad[0] ^= static_cast<std::byte>(change);
      const std::string path = scratch / ("it" + std::string(suffix));
      put_file(path, bad);
      EXPECT_NE(rule_of([&] { open(path); }), "") << path << " with the first byte " << change;
      EXPECT_FALSE(verify(path).ok(false)) << path;
    }
  }
}

TEST_P(WritableConformance, AModelWithABrokenTensorIsRefused) {
  Model model = small_model(holds());
  model.broken.push_back({Tensor(), Error(ErrorKind::corrupt, "some.rule", "is bad")});
  EXPECT_EQ(rule_of([&] { write_bytes(format(), model); }), "some.rule");
}

TEST_P(WritableConformance, WhatIsWrittenIsReadBack) {
  const Model model = full_model(holds());
  const Model found = reopen(write_bytes(format(), model));
  expect_same(model, found, holds());
  EXPECT_EQ(found.format, format().name);
}

// The metadata without values that cannot be set: an invalid date, for example, is carried with a warning.
Map settable(const Map& metadata, const Format& format) {
  if (format.set_problem == nullptr) return metadata;
  Map kept;
  for (const auto& [key, value] : metadata)
    if (value.text() == nullptr || format.set_problem(key, *value.text()).empty()) kept.append(key, value);
  return kept;
}

TEST_P(WritableConformance, TheFileItWritesPassesStrictVerification) {
  const Scratch scratch;
  const std::string path = scratch / "it";
  Model model = full_model(holds());
  model.metadata = settable(model.metadata, format());
  put_file(path, write_bytes(format(), model));
  const Verification result = verify(path);
  for (const Finding& finding : result.findings)
    EXPECT_EQ(finding.severity, Severity::note) << finding.rule << finding.sentence << finding.item;
  EXPECT_TRUE(result.ok(true));
  EXPECT_EQ(result.format, format().name);
}

TEST_P(WritableConformance, AnEmptyModelIsReadBack) {
  if (!holds().many_tensors || !holds().architecture.empty()) GTEST_SKIP() << "the number of tensors is given";
  const Model found = reopen(write_bytes(format(), Model()));
  expect_same(Model(), found, holds());
}

TEST_P(WritableConformance, ExactlyOneTensorMeansExactlyOne) {
  if (holds().many_tensors) GTEST_SKIP() << "holds many tensors";
  EXPECT_NE(rule_of([&] { write_bytes(format(), Model()); }), "");
  Model two;
  two.tensors = {make_dense("a", {1}, DType::f32), make_dense("b", {1}, DType::f32)};
  EXPECT_NE(rule_of([&] { write_bytes(format(), two); }), "");
}

TEST_P(WritableConformance, OneArchitectureMeansNoOther) {
  if (holds().architecture.empty()) GTEST_SKIP() << "holds any tensors";
  Model model = full_model(holds());
  const auto refused = [&] { return !rule_of([&] { write_bytes(format(), model); }).empty(); };
  EXPECT_FALSE(refused());
  model.tensors.push_back(make_dense("one too many", {1}, DType::f32));
  EXPECT_TRUE(refused());
  model.tensors.pop_back();
  model.tensors.pop_back();
  EXPECT_TRUE(refused());
  model.tensors.clear();
  EXPECT_TRUE(refused());
}

TEST_P(WritableConformance, TheSameModelGivesTheSameBytes) {
  const Model model = full_and_large_model(holds(), 9 << 18);
  std::vector<WriteOptions> variants = {{}};
  if (holds().digests) variants.push_back({.digest = DigestAlgorithm::sha256});
  if (holds().zstd) variants.push_back({.zstd_level = 1});
  if (holds().zstd && holds().digests) variants.push_back({.zstd_level = 1, .digest = DigestAlgorithm::crc32c});
  for (WriteOptions options : variants) {
    options.work.threads = 1;
    const Bytes one = write_bytes(format(), model, options);
    for (const unsigned threads : {1U, 2U, 5U, 0U}) {
      options.work.threads = threads;
      EXPECT_TRUE(write_bytes(format(), model, options) == one) << threads << " threads";
    }
    expect_same(model, reopen(one), holds());
  }
}

// A pipe takes bytes from front to back; a file takes them in any order.
TEST_P(WritableConformance, EverySinkGetsTheSameBytes) {
  const Scratch scratch;
  const Model model = full_and_large_model(holds(), 1 << 16);
  std::vector<WriteOptions> variants = {{}};
  if (holds().digests) variants.push_back({.digest = DigestAlgorithm::xxh3});
  if (holds().zstd) variants.push_back({.zstd_level = 3});
  for (const WriteOptions& options : variants) {
    const Bytes expected = write_bytes(format(), model, options);
    const auto sink = create_file(scratch / "file", {.overwrite = true, .durable = false});
    format().write(model, *sink, options);
    sink->commit();
    EXPECT_TRUE(get_file(scratch / "file") == expected);

    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    Bytes piped;
    std::thread drain([&] {
      char buffer[4096];
      for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        const auto part = std::as_bytes(std::span(buffer).first(static_cast<std::size_t>(n)));
        piped.insert(piped.end(), part.begin(), part.end());
      }
    });
    const auto error = error_of([&] { format().write(model, *descriptor_sink(ends[1], "pipe"), options); });
    ::close(ends[1]);
    drain.join();
    ::close(ends[0]);
    EXPECT_EQ(error.has_value(), !holds().forward_only) << (error ? error->what() : "");
    EXPECT_TRUE(piped == expected || !holds().forward_only);
  }
}

TEST_P(WritableConformance, MappedReadAndMemorySourcesAgree) {
  const Scratch scratch;
  const std::string path = scratch / "it";
  std::vector<WriteOptions> variants = {{}};
  if (holds().zstd) variants.push_back({.zstd_level = 3});
  for (const WriteOptions& options : variants) {
    const Bytes bytes = write_bytes(format(), full_model(holds()), options);
    put_file(path, bytes);
    const std::string mapped = listing(open(path, {.access = Access::mapped}));
    EXPECT_EQ(listing(open(path, {.access = Access::pread})), mapped);
    EXPECT_EQ(listing(open(memory_source(bytes, path))), mapped);
    EXPECT_EQ(listing(open(borrow_memory(bytes, path))), mapped);
  }
}

TEST_P(WritableConformance, TenThousandTensors) {
  if (!holds().many_tensors) GTEST_SKIP() << "holds exactly one tensor";
  const Model model = wide_model(holds());
  const Model found = reopen(write_bytes(format(), model, compact(format())));
  EXPECT_EQ(found.tensors.size(), model.tensors.size());
  EXPECT_EQ(content_digest(found), content_digest(model));
}

// A name is kept unchanged or refused before a byte is written.
TEST_P(WritableConformance, StrangeNamesAreKeptOrRefused) {
  const std::string names[] = {"",
                               std::string("a\0b", 3),
                               "\xFF\xFE",
                               "..",
                               "../../etc/passwd",
                               "/",
                               "a\n",
                               std::string(70000, 'n'),
                               "a.npy",
                               "__tare__",
                               "\xEF\xBB\xBF"
                               "bom",
                               "C:\\x"};
  for (const std::string& name : names) {
    Model model;
    model.tensors = {make_dense(name, {2}, DType::f32)};
    MemorySink sink;
    if (const auto error = error_of([&] { format().write(model, sink, {}); })) {
      EXPECT_EQ(sink.bytes().size(), 0U) << escape_name(name).substr(0, 40) << error->what();
      continue;
    }
    const Model found = reopen(sink.take());
    ASSERT_EQ(found.tensors.size(), 1U);
    EXPECT_TRUE(found.tensors[0].name == name || !holds().many_tensors) << escape_name(found.tensors[0].name);
  }
}

TEST_P(WritableConformance, RepeatedNamesAreRefusedBeforeAByteIsWritten) {
  Model model;
  model.tensors = {make_dense("a", {1}, DType::f32), make_dense("b", {1}, DType::f32),
                   make_dense("a", {2}, DType::f32)};
  MemorySink sink;
  EXPECT_NE(rule_of([&] { format().write(model, sink, {}); }), "");
  EXPECT_EQ(sink.bytes().size(), 0U);
  if (!holds().attachments) return;
  // Attachments may be identified by their position, or not.
  model.tensors.resize(1);
  model.attachments = {{"x", Blob::memory(to_bytes("1"))}, {"x", Blob::memory(to_bytes("2"))}};
  if (rule_of([&] { format().write(model, sink, {}); }).empty()) {
    EXPECT_EQ(reopen(sink.take()).attachments.size(), 2U);
  } else {
    EXPECT_EQ(sink.bytes().size(), 0U);
  }
}

TEST_P(WritableConformance, ALayoutThatDoesNotFitItsShapeIsRefused) {
  Model model;
  model.tensors = {make_dense("a", {3}, DType::f32)};
  model.tensors[0].shape = {4};
  MemorySink sink;
  EXPECT_NE(rule_of([&] { format().write(model, sink, {}); }), "");
  EXPECT_EQ(sink.bytes().size(), 0U);
}

TEST_P(WritableConformance, ConvertingThereAndBackKeepsTheContent) {
  const Scratch scratch;
  for (const Format& other : formats()) {
    if (other.write == nullptr) continue;
    // One tensor is not a model of an architecture.
    const bool bound = !holds().architecture.empty() || !other.holds.architecture.empty();
    if (bound && (!holds().many_tensors || !other.holds.many_tensors)) continue;
    // Only what both hold, because adapt would change the rest.
    Model model = other.holds.architecture.empty() ? full_model(holds())
                                                   : architecture_model(other.holds.architecture, holds(), Scale::full);
    if (!other.holds.many_tensors) model.tensors.resize(1);
    std::erase_if(model.tensors, [&](const Tensor& tensor) {
      const auto& types = other.holds.dtypes;
      return !lists(other.holds.layouts, tensor.layout) || exceeds(tensor, other.holds) ||
             std::any_of(tensor.components.begin(), tensor.components.end(), [&](const Component& c) {
               if (tensor.is_dense() && std::find(types.begin(), types.end(), c.dtype) == types.end()) return true;
               return !c.type.empty() && !lists(other.holds.logical_types, c.type);
             });
    });
    if (model.tensors.empty()) continue;  // they have nothing in common
    const std::string first = scratch / ("it" + std::string(format().suffixes[0]));
    const std::string second = scratch / ("it.there" + std::string(other.suffixes[0]));
    put_file(first, write_bytes(format(), model));
    // Nothing is omitted unless the options ask for it.
    AdaptOptions there, home;
    there.keep_names = home.keep_names = true;  // the tensors belong to no architecture
    const AdaptOptions plain = there;
    there.drop = without_room(open(first), other.holds);
    const bool room = there.drop.empty();
    EXPECT_EQ(rule_of([&] {
                convert(first, second, {.adapt = plain, .to = std::string(other.name), .overwrite = true});
              }).empty(),
              room)
        << other.name;
    convert(first, second, {.adapt = there, .to = std::string(other.name), .overwrite = true});
    const std::string back = scratch / ("it" + std::string(format().suffixes[0]));
    const Bytes original = get_file(first);
    home.drop = without_room(open(second), holds());
    convert(second, back, {.adapt = home, .to = std::string(format().name), .overwrite = true});
    Model begin = open(memory_source(original, first)), end = open(back);
    forget_names(begin, other.holds);
    forget_names(end, other.holds);
    EXPECT_EQ(content_digest(end), content_digest(begin)) << "by way of " << other.name;
    if (holds().wants_files || other.holds.wants_files) forget_made_files(end, begin);
    if (room && is_lossless(other.holds)) expect_same(begin, end, holds());
  }
}

TEST_P(WritableConformance, ProgressCountsEveryByteOnce) {
  Model model = full_model(holds());
  model.attachments.clear();  // a format may or may not count them
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes += tensor.bytes();
  std::vector<WriteOptions> variants = {{}};
  if (holds().zstd) variants.push_back({.zstd_level = 1});
  for (WriteOptions options : variants) {
    Progress progress;
    options.work.progress = &progress;
    write_bytes(format(), model, options);
    EXPECT_EQ(progress.done(), bytes);
  }
}

TEST_P(WritableConformance, AFlippedBitUnderADigestIsFound) {
  if (!holds().digests) GTEST_SKIP() << "stores no digests";
  const Scratch scratch;
  const std::string path = scratch / "it";
  for (const auto algorithm :
       {DigestAlgorithm::sha256, DigestAlgorithm::crc32c, DigestAlgorithm::xxh3, DigestAlgorithm::xxh3_128}) {
    const Bytes good = write_bytes(format(), small_model(holds()), {.digest = algorithm});
    const Model model = open(memory_source(good));
    for (const Tensor& tensor : model.tensors)
      for (const Component& component : tensor.components) {
        EXPECT_EQ(component.blob.digest().algorithm(), algorithm);
        Bytes bad = good;
        bad[component.blob.offset() + component.blob.stored_size() - 1] ^= std::byte{1};
        put_file(path, bad);
        const Verification result = verify(path);
        EXPECT_FALSE(result.ok(false)) << tensor.name;
        // A conversion does not pass the damage on.
        EXPECT_EQ(rule_of([&] { convert(path, scratch / ("out" + std::string(format().suffixes[0]))); }),
                  "digest.mismatch");
        EXPECT_EQ(scratch.entries(), std::vector<std::string>{"it"});
      }
  }
}

// Calls a function at a certain read.
class CallingProducer final : public BlobProducer {
 public:
  CallingProducer(std::uint64_t at, std::function<void()> call) : at_(at), call_(std::move(call)) {}
  void verify() const override {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return std::make_unique<Reader>(*this, offset);
  }

 private:
  struct Reader final : BlobReader {
    Reader(const CallingProducer& producer, std::uint64_t position) : producer_(producer), position_(position) {}
    void read(std::span<std::byte> out) override {
      std::ranges::fill(out, std::byte{7});
      const std::uint64_t before = std::exchange(position_, position_ + out.size());
      if (before <= producer_.at_ && producer_.at_ < position_) producer_.call_();
    }
    const CallingProducer& producer_;
    std::uint64_t position_;
  };

  std::uint64_t at_;
  std::function<void()> call_;
};

// Writing after the end of a truncated file would replace its tensors by zeros.
TEST_P(AppendableConformance, AFileThatIsTruncatedMeanwhileIsAnError) {
  const Scratch scratch{Scratch::fast_place()};
  const std::string path = scratch / "it";
  Model model;
  model.tensors = {make_dense("old", {5000}, DType::f32)};
  const Bytes old = write_bytes(format(), model);
  constexpr std::uint64_t kBytes = std::uint64_t{8} << 20;
  for (const std::uint64_t at : {std::uint64_t{0}, kBytes / 2, kBytes - 1}) {
    put_file(path, old);
    Model extra;
    const auto truncate = [&] { std::filesystem::resize_file(path, old.size() / 2); };
    extra.tensors = {
        dense("new", {kBytes}, DType::u8, Blob::produced(kBytes, std::make_shared<CallingProducer>(at, truncate)))};
    EXPECT_EQ(rule_of([&] { append(path, extra); }), "io.source.shrank") << at;
    EXPECT_EQ(std::filesystem::file_size(path), old.size() / 2) << "not filled up with zeros";
  }
}

// What was read decides where the file is written and truncated. Applied to another file, that would destroy it.
TEST_P(AppendableConformance, OfTwoFilesThatAreSwappedMeanwhileOneGrowsAndOneStays) {
  const Scratch scratch{Scratch::fast_place()};
  const std::string path = scratch / "it", other = scratch / "other";
  const Model extra = [] {
    Model model;
    model.tensors = {make_dense("new", {100}, DType::f32)};
    return model;
  }();
  const auto bytes_of = [&](std::initializer_list<std::uint64_t> sizes) {
    Model model;
    for (const std::uint64_t size : sizes)
      model.tensors.push_back(make_dense("old" + std::to_string(size), {size}, DType::f32));
    return write_bytes(format(), model);
  };
  const auto grown = [&](const Bytes& bytes) {
    put_file(path, bytes);
    append(path, extra);
    return get_file(path);
  };
  const Bytes small = bytes_of({30}), large = bytes_of({700, 2000, 5000});
  const Bytes grown_small = grown(small), grown_large = grown(large);
  for (int round = 0; round < (kCountsMemory ? 200 : 20); ++round) {
    put_file(path, small);
    put_file(other, large);
    {
      const std::jthread swapper([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
      });
      append(path, extra);
    }
    Bytes first = get_file(path), second = get_file(other);
    if (first != small && first != grown_small) std::swap(first, second);
    EXPECT_TRUE((first == small && second == grown_large) || (first == grown_small && second == large)) << round;
  }
}

TEST(Detection, SaysWhatTheBytesAre) {
  const auto sentence = [](std::string_view text) {
    const auto error = error_of([&] { open(memory_source(to_bytes(text), "f")); });
    EXPECT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), "open.unrecognized");
    EXPECT_EQ(error->file(), "f");
    return error->sentence();
  };
  EXPECT_NE(sentence("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n").find("git-lfs"),
            std::string::npos);
  EXPECT_NE(sentence("  \n<!DOCTYPE HTML><html><body>404").find("HTML"), std::string::npos);
  EXPECT_NE(sentence("<html>").find("HTML"), std::string::npos);
  EXPECT_NE(sentence("<?xml version='1.0'?><Error>").find("XML"), std::string::npos);
  EXPECT_NE(sentence("").find("empty"), std::string::npos);
  EXPECT_NE(sentence(std::string(100, '\0')).find("zeros"), std::string::npos);
  EXPECT_NE(sentence("\x1F\x8B\x08 gz").find("gzip"), std::string::npos);
  EXPECT_NE(sentence("\x28\xB5\x2F\xFD....").find("zstd"), std::string::npos);
  EXPECT_NE(sentence("\x01\x02\x03").find("01 02 03"), std::string::npos);
  EXPECT_NE(sentence("   ").find("first bytes"), std::string::npos);
}

}  // namespace
}  // namespace tare
