// What a file may ask for, compared with its size.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <thread>

#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "conformance/safetensors_cases.hpp"
#include "conformance/scratch.hpp"
#include "conformance/zt_text.hpp"
#include "lines.hpp"
#include "model/stored_vocabulary.hpp"
#include "model/transfer.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "wire/value_json.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(Limits, SumsDoNotWrap) {
  Limits limits{.decoded_bytes = 100, .expansion = 3};
  EXPECT_EQ(limits.decoded_from(0), 100u);
  EXPECT_EQ(limits.decoded_from(7), 121u);
  limits.expansion = UINT64_MAX;
  EXPECT_EQ(limits.decoded_from(2), UINT64_MAX);
}

// ---- the decoded size of all tensors

std::string rule_with(const Bytes& file, Limits limits, bool listing = false) {
  return rule_of([&] { open(memory_source(file, "it"), {.limits = limits, .listing = listing}); });
}

// `count` tensors that share one compressed range of `size` zeros.
Bytes sharing(std::size_t count, std::size_t size) {
  using namespace zt_text;
  const std::string frame = packed(std::string(size, '\0'));
  Entries data = component(64, frame.size(), "u8"), objects;
  data.emplace_back("encoding", cbor::text("zstd"));
  data.emplace_back("uncompressed_length", cbor::number(size));
  for (std::size_t i = 0; i < count; ++i)
    objects.emplace_back("t" + std::to_string(i), cbor::map(object({size}, "dense", {{"data", cbor::map(data)}})));
  return file(frame, cbor::map(root(objects)));
}

TEST(Expansion, ArraysOfFortranCountTwice) {
  const auto archive = [](std::string_view fortran) {
    std::string header = fmt::format("{{'descr': '|u1', 'fortran_order': {}, 'shape': (300, 300), }}", fortran);
    header.resize(118, ' ');
    const std::string array = "\x93NUMPY\x01" + std::string(1, '\0') + "\x76" + std::string(1, '\0') + header;
    return bytes_of(make_zip({made("a.npy", array + std::string(90'000, '\0'), true)}).bytes);
  };
  const Limits limits{.decoded_bytes = 100'000, .expansion = 1};
  EXPECT_EQ(rule_with(archive("False"), limits), "");
  EXPECT_EQ(rule_with(archive("True"), limits), "open.expansion");
  EXPECT_EQ(rule_with(archive("True"), {.decoded_bytes = 200'000, .expansion = 1}), "");
}

TEST(Expansion, AllTensorsTogetherAreHeldAgainstTheFile) {
  const Bytes one = sharing(1, 100'000), three = sharing(3, 100'000);
  const Limits small{.decoded_bytes = 200'000, .expansion = 1};
  EXPECT_EQ(rule_with(one, small), "");
  EXPECT_EQ(rule_with(three, small), "open.expansion");
  EXPECT_EQ(rule_with(three, small, true), "") << "a listing decodes nothing";
  EXPECT_EQ(rule_with(three, {.decoded_bytes = 200'000, .expansion = 1000}), "");
  const auto error = error_of([&] { open(memory_source(three, "it"), {.limits = small}); });
  EXPECT_EQ(error->kind(), ErrorKind::limit);
  EXPECT_EQ(error->file(), "it");
  EXPECT_TRUE(text_of(error->remedies()).starts_with("allow_expansion ")) << text_of(error->remedies());
}

TEST(Expansion, SharedPlainBytesCountAsOftenAsTheyAreRead) {
  using namespace zt_text;
  Entries objects;
  for (std::size_t i = 0; i < 50; ++i)
    objects.emplace_back("t" + std::to_string(i),
                         cbor::map(object({10'000}, "dense", {{"data", cbor::map(component(64, 10'000, "u8"))}})));
  const Bytes shared = file(std::string(10'000, 'x'), cbor::map(root(objects)));
  EXPECT_EQ(rule_with(shared, {.decoded_bytes = 0, .expansion = 10}), "open.expansion");
  EXPECT_EQ(rule_with(shared, {.decoded_bytes = 0, .expansion = 50}), "");
}

// A file pays for codes and short floats with its own bytes. Beyond these, they count as the floats they decode to.
TEST(Expansion, SharedCodesCountAsFloats) {
  using namespace zt_text;
  const auto shared = [](std::size_t tensors, std::uint64_t elements, std::string_view layout, const Entries& data,
                         std::size_t length) {
    Entries objects;
    const std::string_view role = layout == "dense" ? "data" : "payload";
    for (std::size_t i = 0; i < tensors; ++i)
      objects.emplace_back(fmt::format("t{:02}", i),
                           cbor::map(object({elements / 32, 32}, layout, {{std::string(role), cbor::map(data)}})));
    return file(std::string(length, '\1'), cbor::map(root(objects)));
  };
  Entries small_floats = component(64, 32'000, "u8");
  small_floats.emplace_back("type", cbor::text("f8_e4m3fn"));
  const auto blocks = [&](std::size_t n) {
    return shared(n, 32'000, "ggml.q4_0", component(64, 18'000, "u8"), 18'000);
  };
  const auto halves = [&](std::size_t n) { return shared(n, 32'000, "dense", component(64, 64'000, "f16"), 64'000); };
  const auto eighths = [&](std::size_t n) { return shared(n, 32'000, "dense", small_floats, 32'000); };
  const auto wide = [&](std::size_t n) { return shared(n, 32'000, "dense", component(64, 128'000, "f32"), 128'000); };
  const auto limits = [](std::uint64_t most) { return Limits{.decoded_bytes = most, .expansion = 1}; };
  for (const Bytes& one : {blocks(1), halves(1), eighths(1), wide(1)}) EXPECT_EQ(rule_with(one, limits(0)), "");
  for (const Bytes& ten : {blocks(10), halves(10), eighths(10), wide(10)}) {
    EXPECT_EQ(rule_with(ten, limits(8 * 128'000)), "open.expansion");
    EXPECT_EQ(rule_with(ten, limits(9 * 128'000)), "");
  }
}

// Compressed bytes cost time even if they decode to nothing.
TEST(Expansion, PackedBytesOfNothingCount) {
  using namespace zt_text;
  std::string frame = packed("");
  for (int i = 0; i < 8; ++i) frame += frame;
  Entries data = component(64, frame.size(), "u8"), objects;
  data.emplace_back("encoding", cbor::text("zstd"));
  data.emplace_back("uncompressed_length", cbor::number(0));
  for (std::size_t i = 0; i < 100; ++i)
    objects.emplace_back("t" + std::to_string(i), cbor::map(object({0}, "dense", {{"data", cbor::map(data)}})));
  EXPECT_EQ(rule_with(file(frame, cbor::map(root(objects))), {.decoded_bytes = 0, .expansion = 32}), "open.expansion");
}

// Codes that compress well decode to floats that are many times larger.
TEST(Expansion, CompressedCodesCountAsFloats) {
  const Codec* const codec = find_codec_by_method("q2_k");
  ASSERT_NE(codec, nullptr);
  EncodeOptions options;
  options.method = "q2_k";
  Model model;
  model.tensors.push_back(codec->encode(dense("w", {1024, 1024}, std::vector<float>(1 << 20)), options));
  const std::uint64_t codes = model.tensors[0].components[0].blob.size();
  const Scratch scratch;
  const std::string path = scratch / "m.zt";
  (void)save(model, path, {.write = {.zstd_level = 3}});
  ASSERT_LT(std::filesystem::file_size(path), codes / 10);
  const auto rule = [&](std::uint64_t decoded) {
    return rule_of([&] { (void)open(path, {.limits = {.decoded_bytes = decoded, .expansion = 1}}); });
  };
  EXPECT_EQ(rule(2 * codes), "open.expansion");
  EXPECT_EQ(rule(4 << 20), "");
}

TEST(Expansion, ASparseTensorCountsAsADenseOne) {
  using namespace zt_text;
  const std::string data = std::string(64, '\0') + std::string(8, '\0');
  const Bytes bytes =
      file(data, cbor::map(root({{"m", cbor::map(object({1 << 20, 1 << 10}, "sparse_coo",
                                                        {{"values", cbor::map(component(64, 0))},
                                                         {"coords", cbor::map(component(64, 0, "u64"))}}))}})));
  EXPECT_EQ(rule_with(bytes, {}), "open.expansion");  // 4 GiB
  EXPECT_EQ(rule_with(bytes, {.decoded_bytes = std::uint64_t{4} << 30}), "");
}

TEST(Expansion, VerifyTellsItAsAFinding) {
  const Scratch scratch;
  put_file(scratch / "it.zt", sharing(3, 100'000));
  ReadOptions options;
  options.limits = {.decoded_bytes = 0, .expansion = 1};
  const Verification result = verify(scratch / "it.zt", options);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.back().rule, "open.expansion");
  EXPECT_FALSE(result.ok(false));
  EXPECT_EQ(result.format, "zt");
}

// A frame that fails after some decoding costs as much as any other.
TEST(Expansion, FramesThatFailAreChargedWhenSizesAreMeasured) {
  using namespace zt_text;
  std::string frame = packed_stream(std::string(std::size_t{1} << 20, 'x'));
  frame.resize(frame.size() - 3);
  frame += std::string(64 - frame.size() % 64, '\xFF');
  Entries objects;
  for (std::size_t i = 0; i < 20; ++i) {
    Entries data = component(64 + i * frame.size(), frame.size(), "u8");
    data.emplace_back("encoding", cbor::text("zstd"));
    objects.emplace_back(fmt::format("t{:02}", i), cbor::map(object({2}, "x.custom", {{"data", cbor::map(data)}})));
  }
  std::string all;
  for (int i = 0; i < 20; ++i) all += frame;
  const Scratch scratch;
  put_file(scratch / "it.zt", file(all, cbor::map(root(objects, "1.1.0"))));
  ReadOptions options;
  options.limits.decoded_bytes = std::uint64_t{3} << 20;
  options.limits.expansion = 0;
  const Verification result = verify(scratch / "it.zt", options);
  const auto broken = std::count_if(result.findings.begin(), result.findings.end(),
                                    [](const Finding& f) { return f.rule.starts_with("zstd."); });
  EXPECT_GE(broken, 2);
  EXPECT_LE(broken, 4) << "the others are not decoded any more";
}

// ---- metadata

TEST(Values, AreCountedOverAllTextsOfAFile) {
  wire::TreeBounds bounds{8, 7};
  EXPECT_EQ(wire::parse_value_json("[1,2,3]", bounds), Value(List{1, 2, 3}));
  EXPECT_EQ(bounds.values, 3u);
  EXPECT_EQ(rule_of([&] { wire::parse_value_json("[1,2,3]", bounds); }), "json.values");
  EXPECT_EQ(rule_of([&] { wire::parse_value_json("{\"a\":{\"b\":[]}}", {8, 2}); }), "json.values");
}

// A regression: 67 KB became 4 GB.
TEST(Values, OfADeflatedTreeAreHeldAgainstItsStoredBytes) {
  std::string text = R"({"tare":1,"metadata":{"x":[0)";
  for (int i = 0; i < 1'000'000; ++i) text += ",0";
  text += "]}}";
  const Bytes file = bytes_of(make_zip({made("__tare__.json", text, true)}).bytes);
  EXPECT_LT(file.size(), 10'000u);
  const std::size_t peak = peak_during([&] { EXPECT_EQ(rule_with(file, {}), "open.values"); });
  EXPECT_LT(kCountsMemory ? peak : 0, std::size_t{64} << 20);
}

TEST(Values, OfAManifestAreHeldAgainstItsBytes) {
  using namespace zt_text;
  const auto with = [](std::size_t count) {
    const cbor::Item zeros = cbor::array(std::vector<cbor::Item>(count, cbor::number(0)));
    Entries entries = root({});
    entries.emplace_back("attributes", cbor::map({{"x", zeros}}));
    return file("", cbor::map(entries));
  };
  EXPECT_EQ(rule_with(with(100), {.metadata_values = 90}), "");
  EXPECT_EQ(rule_with(with(1000), {.metadata_values = 90}), "open.values");
}

// ---- large vocabularies

// Short distinct texts, as many as Llama 3 has: 128,256 tokens and 280,147 merges.
Vocabulary large_vocabulary() {
  const auto word = [](std::uint64_t number) {
    std::string text;
    for (std::uint64_t left = number * 2'654'435'761 % 4'294'967'296; text.size() < 3 || left > 0; left /= 26)
      text += static_cast<char>('a' + left % 26);
    return text;
  };
  Vocabulary vocabulary{.kind = "bpe", .bos = 1, .eos = 2};
  for (std::uint64_t i = 0; i < 128'256; ++i) vocabulary.tokens.push_back({word(i), 0, TokenType::normal});
  for (std::uint64_t i = 0; i < 280'147; ++i)
    vocabulary.merges.push_back(word(i).substr(0, 4) + " " + word(i + 7).substr(0, 4));
  return vocabulary;
}

// What `write` writes into a pipe.
Bytes through_a_pipe(const std::function<void(Sink&)>& write) {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  Bytes all;
  std::thread reader([&] {
    std::vector<std::byte> some(1 << 16);
    for (ssize_t got = 0; (got = ::read(ends[0], some.data(), some.size())) > 0;)
      all.insert(all.end(), some.begin(), some.begin() + got);
  });
  write(*descriptor_sink(ends[1], "pipe"));
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  return all;
}

// Limits are the same in every build, and these files are large: with a sanitizer, one container is enough.
std::vector<std::string> these(std::vector<std::string> containers) {
  if (!kCountsMemory) containers.resize(1);
  return containers;
}

// A regression: as lists, the vocabulary had more values than the written file may ask for. A file was refused by the
// check after writing; a pipe got bytes that `open` refused.
TEST(Values, OfALargeVocabularyAreNoReasonToRefuseWhatTareWrote) {
  const Scratch scratch;
  Model model;
  model.vocabulary = large_vocabulary();
  save(model, scratch / "v.gguf");
  const Vocabulary wanted = open(scratch / "v.gguf").vocabulary;
  ASSERT_EQ(wanted.merges.size(), 280'147u);
  for (const std::string& to : these({"zt", "zt2", "npz", "mcf"})) {
    SCOPED_TRACE(to);
    const std::string file = scratch / ("v." + to);
    convert(scratch / "v.gguf", file);
    EXPECT_TRUE(open(file).vocabulary == wanted);
    convert(file, scratch / (to + ".gguf"));
    EXPECT_TRUE(open(scratch / (to + ".gguf")).vocabulary == wanted);
    if (!find_format(to)->holds.forward_only) continue;
    const Bytes piped = through_a_pipe([&](Sink& sink) { save(open(scratch / "v.gguf"), sink, {.to = to}); });
    EXPECT_TRUE(open(memory_source(piped, "piped")).vocabulary == wanted);
  }
}

// The size of the file limits the values, so a container must not store a vocabulary in fewer bytes than GGUF.
TEST(Values, OfAVocabularyOfTheShortestTextsAreAllowed) {
  const Scratch scratch;
  Model model;
  model.vocabulary.kind = "bpe";
  for (int i = 0; i < 500; ++i) model.vocabulary.tokens.push_back({fmt::format("{}", i), 0, TokenType::normal});
  model.vocabulary.merges.assign(500'000, "1 2");
  save(model, scratch / "v.gguf");
  for (const std::string& to : these({"zt", "zt2", "npz"})) {
    SCOPED_TRACE(to);
    convert(scratch / "v.gguf", scratch / ("v." + to));
    EXPECT_EQ(open(scratch / ("v." + to)).vocabulary.merges.size(), 500'000u);
  }
}

// A regression: the check after writing had only what reading the input had left, so zt could not become zt.
TEST(Values, OfTheOutputAreHeldAgainstItsOwnBytes) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(dense("w", {2}, std::vector<float>{1, 2}));
  List numbers;
  for (std::int64_t i = 0; i < 300'000; ++i) numbers.emplace_back((std::int64_t{1} << 40) + i);
  model.metadata.set("x", numbers);
  save(model, scratch / "m.zt");
  for (const std::string name : {"n.zt", "n.zt2", "n.npz"}) {
    SCOPED_TRACE(name);
    convert(scratch / "m.zt", scratch / name);
    const Model found = open(scratch / name);
    EXPECT_EQ(found.metadata.find("x")->get<List>()->size(), 300'000u);
  }
}

// A number takes four bytes in GGUF and one in zt, where too many of them are more than the file may ask for.
TEST(Values, OfAnOutputThatIsNotOpenedAreTold) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(dense("w", {2}, std::vector<float>{1, 2}));
  model.metadata.set("x", List(300'000, Value(1)));
  const auto error = error_of([&] { save(model, scratch / "m.zt"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "open.values");
  EXPECT_NE(std::string(error->sentence()).find("is not opened by default"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch / "m.zt"));
  Saved saved;
  const Bytes piped = through_a_pipe([&](Sink& sink) { saved = save(model, sink, {.to = "zt"}); });
  EXPECT_EQ(rule_with(piped, {}), "open.values");
  const auto told = [](const Change& change) {
    return change.detail.find("is not opened by default") != std::string::npos &&
           change.remedies == std::vector<Advice>{{Remedy::drop, "metadata"}};
  };
  EXPECT_TRUE(std::ranges::any_of(saved.changes, told));
  model.metadata.set("x", List(100'000, Value(1)));
  through_a_pipe([&](Sink& sink) { saved = save(model, sink, {.to = "zt"}); });
  EXPECT_TRUE(std::ranges::none_of(saved.changes, told));
}

TEST(StoredVocabulary, IsReadBackExactly) {
  Vocabulary words{.kind = "unigram", .bos = 1, .eos = 2, .pad = 3, .unk = 4};
  for (int i = 0; i < 2000; ++i)
    words.tokens.push_back({std::string(static_cast<std::size_t>(i) % 300, static_cast<char>(i)),
                            static_cast<float>(-i) / 7, static_cast<TokenType>(i % 9)});
  words.tokens[5].score = std::numeric_limits<float>::quiet_NaN();
  words.merges = {"", "a b", std::string("\xFF\0 x", 4)};
  const Map stored = stored_map(words);
  EXPECT_NE(stored.find("tokens")->get<Bytes>(), nullptr);
  EXPECT_EQ(Vocabulary::from_map(stored), words);
  words.tokens.resize(10);
  EXPECT_NE(stored_map(words).find("tokens")->get<List>(), nullptr);
  EXPECT_EQ(Vocabulary::from_map(stored_map(words)), words);
}

TEST(StoredVocabulary, OfAnotherFormIsRefused) {
  Vocabulary words;
  for (int i = 0; i < 2000; ++i) words.tokens.push_back({"a", 0, TokenType::normal});
  const auto rule = [&](std::string_view part, const std::function<void(Bytes&)>& change) {
    Map map = stored_map(words);
    change(*map.find(part)->get<Bytes>());
    return rule_of([&] { Vocabulary::from_map(map); });
  };
  const std::string malformed = "vocabulary.malformed";
  EXPECT_EQ(rule("tokens", [](Bytes&) {}), "");
  EXPECT_EQ(rule("tokens", [](Bytes& b) { b.pop_back(); }), malformed);            // within a text
  EXPECT_EQ(rule("tokens", [](Bytes& b) { b.resize(b.size() - 5); }), malformed);  // within a length
  EXPECT_EQ(rule("tokens", [](Bytes& b) { b.resize(b.size() - 9); }), malformed);  // one token less
  EXPECT_EQ(rule("tokens", [](Bytes& b) { std::fill_n(b.begin(), 8, std::byte{0xFF}); }), malformed);
  EXPECT_EQ(rule("merges", [](Bytes& b) { b.assign(7, std::byte{0}); }), malformed);
  EXPECT_EQ(rule("merges", [](Bytes& b) { b.assign(16, std::byte{0}); }), "");  // two empty ones
  EXPECT_EQ(rule("scores", [](Bytes& b) { b.pop_back(); }), malformed);
  EXPECT_EQ(rule("scores", [](Bytes& b) { b.resize(b.size() - 4); }), malformed);
  EXPECT_EQ(rule("types", [](Bytes& b) { b[7] = std::byte{9}; }), malformed);
  EXPECT_EQ(rule("types", [](Bytes& b) { b.push_back(std::byte{0}); }), malformed);
}

TEST(Ranks, OfSafetensorsAreBounded) {
  std::string shape = "1";
  for (int i = 1; i < 64; ++i) shape += ",1";
  const auto file = [](const std::string& dims) { return st_file("{" + st_entry("x", "U8", dims, 0, 1) + "}", 1); };
  EXPECT_EQ(rule_with(file(shape), {}), "");
  EXPECT_EQ(rule_with(file(shape + ",1"), {}), "safetensors.entry.rank");
  EXPECT_EQ(rule_with(file(shape + ",1"), {.rank = 65}), "");
}

// ---- texts

TEST(Texts, WordsThatJsonDoesNotHaveBecomeNull) {
  const Map json = resources::parse_small_json(R"({"a":[NaN,-Infinity,Infinity,1],"NaN":"Infinity \" NaN","b":NaN})");
  EXPECT_EQ(json.size(), 3U);
  EXPECT_TRUE(json.find("b")->is_null());
  EXPECT_EQ(*json.find("NaN"), Value("Infinity \" NaN"));
  EXPECT_EQ(*json.find("a"), Value(List{nullptr, nullptr, nullptr, 1}));
}

TEST(Texts, AVocabularyOfLineFeedsIsRefused) {
  const std::string feeds(2'000'000, '\n');
  EXPECT_EQ(rule_of([&] { resources::parse_vocab_txt(feeds); }), "tokenizer.vocab");
  std::string words;
  for (int i = 0; i < 400'000; ++i) words += std::to_string(i) + "\n";
  EXPECT_EQ(resources::parse_vocab_txt(words).tokens.size(), 400'000u);
}

TEST(Texts, PiecesOfEachOtherDoNotBecomeAMountainOfMerges) {
  Vocabulary vocabulary;
  const auto add = [&](char letter, std::size_t most) {
    for (std::size_t length = 1; length <= most; ++length)
      vocabulary.tokens.push_back(
          {std::string(length, letter), -static_cast<float>(vocabulary.tokens.size()), TokenType::normal});
  };
  for (char letter = 'a'; letter <= 'z'; ++letter) add(letter, 16);
  EXPECT_EQ(resources::merges_of_ranked(vocabulary).size(), 26u * (15 * 16 / 2));
  for (char letter = 'A'; letter <= 'Z'; ++letter) add(letter, 256);
  EXPECT_EQ(rule_of([&] { resources::merges_of_ranked(vocabulary); }), "tokenizer.merges");
}

// ---- writing

// Zeros that can be entered only at places far apart, as in a sparse matrix with long rows.
class Rows final : public BlobProducer {
 public:
  static constexpr std::uint64_t kRow = std::uint64_t{48} << 20;
  std::unique_ptr<BlobReader> open(std::uint64_t) const override { return std::make_unique<Reader>(); }
  std::uint64_t seek_granularity() const override { return kRow; }
  void verify() const override {}

 private:
  class Reader final : public BlobReader {
    void read(std::span<std::byte> out) override { std::memset(out.data(), 0, out.size()); }
  };
};

TEST(Writing, LongRowsAreNotHeldWhole) {
  if (!kCountsMemory) GTEST_SKIP() << "memory is not counted under a sanitizer";
  const Scratch scratch;
  const std::size_t peak = peak_during([&] {
    const auto sink = create_file(scratch / "out");
    TransferOptions options;
    options.running = DigestAlgorithm::xxh3;
    options.threads = 2;
    Transfer transfer(*sink, options);
    transfer.add(Blob::produced(2 * Rows::kRow, std::make_shared<Rows>()));
    transfer.finish();
  });
  EXPECT_LT(peak, std::size_t{24} << 20);
}

}  // namespace
}  // namespace tare
