// GGUF: a golden file in every version and byte order, every rule, exact round trips, sets of files, and what the
// writer refuses.
#include <set>

#include "conformance/gguf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/small_models.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"
#include "tare/metadata.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model open_bytes(const Bytes& bytes) { return open(memory_source(bytes, "f.gguf")); }

void expect_golden(const Model& model) {
  EXPECT_EQ(model.format, "gguf");
  ASSERT_EQ(model.tensors.size(), 3U);
  EXPECT_EQ(model.tensors[0].name, "token_embd.weight");
  EXPECT_EQ(model.tensors[0].shape.text(), "2x3");
  EXPECT_EQ(model.tensors[0].values<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(model.tensors[1].layout, "ggml.q8_0");
  std::vector<float> codes;
  for (int i = 0; i < 32; ++i) codes.push_back(0.5F * static_cast<float>(i - 16));
  EXPECT_EQ(model.tensors[1].values<float>(), codes);
  EXPECT_EQ(model.tensors[2].components[0].dtype, DType::bf16);
  EXPECT_EQ(model.tensors[2].values<float>(), (std::vector<float>{1, 2, 0, -1}));
  EXPECT_EQ(to_json(model.config.to_map()),
            R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"max_position_embeddings":128,)"
            R"("rms_norm_eps":1e-05})");
  const Vocabulary& vocabulary = model.vocabulary;
  EXPECT_EQ(vocabulary.kind, "bpe");
  ASSERT_EQ(vocabulary.tokens.size(), 3U);
  EXPECT_EQ(vocabulary.tokens[1].text, " z");
  EXPECT_EQ(vocabulary.tokens[2].text, "<|end|>");
  EXPECT_EQ(vocabulary.tokens[2].type, TokenType::control);
  EXPECT_EQ(vocabulary.merges, (std::vector<std::string>{"\xC4\xA0 z"}));
  EXPECT_EQ(vocabulary.eos, 2);
  EXPECT_EQ(vocabulary.bos, -1);
}

TEST(Gguf, BytesInAListComeBackAsBytes) {
  const Format& gguf = *find_format("gguf");
  Model model;
  model.metadata.set("k", List{Value(""), Value(Bytes())});
  model.metadata.set("odd", List{Value("a"), Value(Bytes{std::byte{0xFF}})});
  model.metadata.set("plain", List{Value(Bytes{std::byte{'a'}})});
  const Model again = open(memory_source(write_bytes(gguf, model), "it"));
  EXPECT_EQ(to_json(again.metadata, JsonKeys::sorted), to_json(model.metadata, JsonKeys::sorted));
  EXPECT_TRUE(again.metadata == model.metadata);
}

TEST(Gguf, GoldenFileIsRead) {
  const Model model = open_bytes(gguf_golden().bytes());
  EXPECT_EQ(model.version, "3");
  expect_golden(model);
  Map metadata = model.metadata;
  EXPECT_TRUE(metadata.erase("gguf.keys"));
  EXPECT_EQ(
      to_json(metadata),
      R"({"general.name":"golden","x.u8":200,"x.i8":-3,"x.u16":60000,"x.i16":-2,"x.i32":-1,"x.bool":true,)"
      R"("x.u64":9223372036854775813,"x.i64":-7,"x.f64":0.1,"x.floats":[0.5,-1.25],"x.bytes":{"$bytes":"0100ff"},)"
      R"("x.none":[],"x.shorts":[-1,7],"tokenizer.ggml.pre":"qwen2"})");
}

TEST(Gguf, EveryVersionAndByteOrderSaysTheSame) {
  for (const bool big : {false, true})
    for (const std::uint32_t version : {1U, 2U, 3U}) {
      SCOPED_TRACE(version);
      const Model model = open_bytes(gguf_golden(big, version).bytes());
      EXPECT_EQ(model.version, std::to_string(version) + (big ? ", big-endian" : ""));
      expect_golden(model);
      if (version == 1) continue;
      EXPECT_TRUE(model.metadata == open_bytes(gguf_golden().bytes()).metadata);
      EXPECT_TRUE(write_bytes(gguf(), model) == gguf_golden().bytes()) << "written little-endian, version 3";
    }
}

// Blocks cut anywhere: the numbers inside are swapped wherever a reader begins.
TEST(Gguf, BigEndianBlocksAreReadFromAnyByte) {
  const Model little = open_bytes(gguf_golden().bytes()), big = open_bytes(gguf_golden(true).bytes());
  const Bytes expected = little.tensors[1].components[0].blob.bytes();
  const Blob& blob = big.tensors[1].components[0].blob;
  for (std::size_t at = 0; at <= expected.size(); ++at)
    for (const std::size_t most : {std::size_t{1}, std::size_t{5}, expected.size()}) {
      Bytes found(expected.size() - at);
      const auto reader = blob.open(at);
      for (std::size_t done = 0; done < found.size(); done += most)
        reader->read(std::span(found).subspan(done, std::min(most, found.size() - done)));
      EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin() + static_cast<std::ptrdiff_t>(at))) << at;
    }
}

TEST(Gguf, WhatItHoldsIsWrittenBackByteForByte) {
  const Bytes golden = gguf_golden().bytes();
  EXPECT_TRUE(write_bytes(gguf(), open_bytes(golden)) == golden);
  GgufFile odd = gguf_golden();
  odd.u32("general.alignment", 64);
  odd.alignment = 64;
  odd.infos.clear(), odd.data.clear();
  odd.tensor("w", {}, 0, 0, gguf_floats(1, 3)).tensor("v", {0, 5}, 26, 64, [](GgufText&) {});
  odd.string("x.text", "\xFF").strings("x.texts", {"a", "\xFE"});
  odd.strings("tokenizer.ggml.added", {"\xE2\x96\x81"});
  odd.entry("x.nan", 6, [](GgufText& out) { out.u32(0x7FC00000); });
  EXPECT_TRUE(write_bytes(gguf(), open_bytes(odd.bytes())) == odd.bytes());
  // A token that does not use the byte-level alphabet.
  GgufFile plain;
  plain.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"\xC4\xA0", "\xE2\x96\x81", " "});
  EXPECT_TRUE(write_bytes(gguf(), open_bytes(plain.bytes())) == plain.bytes());
}

// llama.cpp's converter: a word begins with U+2581, and pieces inside of words have no "##".
TEST(Gguf, WordPiecesAreSpelledAsLlamaCppDoes) {
  const std::string blank = "\xE2\x96\x81";
  const auto tokens_in = [](const Bytes& file) {
    std::vector<std::string> texts;
    for (const MetadataEntry& entry : metadata_entries(open_bytes(file)))
      if (entry.key == "tokenizer.ggml.tokens")
        for (const Value& text : *entry.value.get<List>()) texts.push_back(*text.text());
    return texts;
  };
  Model model;
  model.vocabulary.kind = "wordpiece";
  for (const char* const text : {"[CLS]", "[UNK]", "hello", "##ing", "##", "", "[unused1]", "added"})
    model.vocabulary.tokens.push_back({text});
  model.vocabulary.tokens[0].type = TokenType::control;
  model.vocabulary.tokens[1].type = TokenType::unknown;
  model.vocabulary.tokens[7].type = TokenType::user_defined;
  Bytes file = write_bytes(gguf(), model);
  EXPECT_EQ(tokens_in(file), (std::vector<std::string>{"[CLS]", "[UNK]", blank + "hello", "ing", "", blank,
                                                       blank + "[unused1]", blank + "added"}));
  EXPECT_TRUE(open_bytes(file).vocabulary == model.vocabulary);
  EXPECT_TRUE(write_bytes(gguf(), open_bytes(file)) == file);
  // A piece that would look like a word.
  model.vocabulary.tokens.push_back({"##" + blank + "x"});
  file = write_bytes(gguf(), model);
  EXPECT_EQ(tokens_in(file).back(), blank + "x");
  EXPECT_TRUE(open_bytes(file).vocabulary == model.vocabulary);
  // Files of other programs may have the spelling of vocab.txt.
  GgufFile other;
  other.string("tokenizer.ggml.model", "bert").strings("tokenizer.ggml.tokens", {"hello", "##ing"});
  EXPECT_EQ(open_bytes(other.bytes()).vocabulary.tokens[1].text, "##ing");
  EXPECT_EQ(open_bytes(other.bytes()).vocabulary.tokens[0].text, "hello");
  EXPECT_TRUE(write_bytes(gguf(), open_bytes(other.bytes())) == other.bytes());
  // Models that older versions of Tare read from a file.
  model.vocabulary.tokens = {{"ing"}, {blank + "hello"}};
  EXPECT_EQ(tokens_in(write_bytes(gguf(), model)), (std::vector<std::string>{"ing", blank + "hello"}));
}

TEST(Gguf, EqualTokensAreTold) {
  const auto told = [](std::vector<Token> tokens) {
    Model model;
    model.vocabulary.kind = "spm";
    model.vocabulary.tokens = std::move(tokens);
    std::string all;
    for (const Change& change : gguf().remarks(model, {})) all += to_text(change);
    return all.find("tokens 0 and 2 have the same text, \"a\"") != all.npos;
  };
  EXPECT_TRUE(told({{"a"}, {"b"}, {"a"}}));
  EXPECT_FALSE(told({{"a"}, {"b"}, {"c"}}));
  EXPECT_FALSE(told({{""}, {"b"}, {""}})) << "llama.cpp gives them texts";
}

TEST(Gguf, SurvivesAnotherContainer) {
  const Bytes golden = gguf_golden().bytes();
  const Format& other = *find_format("zt");
  const Model back = open(memory_source(write_bytes(other, adapt(open_bytes(golden), other, {}).model), "f.zt"));
  EXPECT_TRUE(write_bytes(gguf(), adapt(back, gguf(), {}).model) == golden);
}

TEST(Gguf, EveryRuleHasItsFile) {
  for (const GgufCase& bad : gguf_cases()) {
    SCOPED_TRACE(bad.rule + "." + bad.name);
    const Scratch scratch(Scratch::fast_place());
    put_file(scratch / "f.gguf", bad.file);
    const Verification result = verify(scratch / "f.gguf");
    const auto found = std::ranges::find(result.findings, bad.rule, &Finding::rule);
    ASSERT_NE(found, result.findings.end()) << (result.findings.empty() ? "nothing" : result.findings[0].rule);
    EXPECT_EQ(found->severity, bad.warning ? Severity::warning : Severity::error) << found->sentence;
    EXPECT_FALSE(found->sentence.empty());
    EXPECT_TRUE(found->offset.has_value());
    if (bad.warning) {
      EXPECT_NO_THROW(static_cast<void>(open(scratch / "f.gguf")));
    }
  }
}

TEST(Gguf, ValuesOfTheWrongTypeAreKept) {
  GgufFile file;
  file.string("general.architecture", "llama");
  file.entry("llama.context_length", 10, [](GgufText& out) { out.u64(128); });
  file.entry("llama.feed_forward_length", 9, [](GgufText& out) { out.u32(4).u64(2).u32(7).u32(9); });
  const Model model = open_bytes(file.bytes());
  EXPECT_EQ(model.config.max_position_embeddings, 128);
  EXPECT_FALSE(model.config.intermediate_size.has_value()) << "it differs by layer";
  EXPECT_EQ(to_json(*model.metadata.find("llama.context_length")), "128");
  EXPECT_EQ(to_json(*model.metadata.find("llama.feed_forward_length")), "[7,9]");
  EXPECT_TRUE(write_bytes(gguf(), model) == file.bytes());
}

TEST(Gguf, TheVocabularyCanBeLeftOut) {
  const Bytes golden = gguf_golden().bytes();
  const Model model = open(memory_source(golden, "f.gguf"), {.vocabulary = false});
  EXPECT_TRUE(model.vocabulary.empty());
  EXPECT_EQ(model.tensors.size(), 3U);
  EXPECT_EQ(model.config.hidden_size, 64);
}

TEST(Gguf, WhatOthersChangeCountsForMore) {
  Model model;
  model.config.model_type = "mistral";
  model.config.rms_norm_eps = 0.1234567890123;
  model.config.hidden_act = "silu";
  model.config.hidden_size = 8;
  const Model back = open_bytes(write_bytes(gguf(), model));
  EXPECT_EQ(back.config, model.config) << "the private tree says what GGUF cannot";
  // The same file with other numbers in GGUF's own keys.
  GgufFile edited;
  edited.string("general.architecture", "qwen2").u32("qwen2.embedding_length", 16);
  edited.string(
      "tare.private",
      R"({"tare":1,"config":{"model_type":"mistral","hidden_size":8,"hidden_act":"silu","rms_norm_eps":0.5}})");
  const Model found = open_bytes(edited.bytes());
  EXPECT_EQ(found.config.model_type, "qwen2");
  EXPECT_EQ(found.config.hidden_size, 16);
  EXPECT_EQ(found.config.hidden_act, "silu");
  EXPECT_EQ(found.config.rms_norm_eps, 0.5);
}

// ---- sets ----

Model of_tensors(int count) {
  Model model;
  model.config.model_type = "llama";
  for (int i = 0; i < count; ++i)
    model.tensors.push_back(
        dense<float>("t" + std::to_string(i), {100}, std::vector<float>(100, static_cast<float>(i))));
  return model;
}

TEST(Gguf, SetsAreWrittenAndReadAsOne) {
  const Scratch scratch;
  const Model model = of_tensors(7);
  gguf().write_tree(model, scratch / "set", {.shard_bytes = 1200}, false);
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "set")) {
    files.insert(entry.path().filename());
    EXPECT_LE(entry.file_size(), 1200U);
  }
  EXPECT_EQ(files, (std::set<std::string>{"model-00001-of-00004.gguf", "model-00002-of-00004.gguf",
                                          "model-00003-of-00004.gguf", "model-00004-of-00004.gguf"}));
  for (const std::string& path : {std::string("set"), std::string("set/"), std::string("set/model-00001-of-00004.gguf"),
                                  std::string("set/model-00003-of-00004.gguf")}) {
    SCOPED_TRACE(path);
    const Model back = open(scratch / path);
    EXPECT_TRUE(back.metadata == model.metadata);
    EXPECT_EQ(back.config, model.config);
    ASSERT_EQ(back.tensors.size(), 7U);
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(back.tensors[i].values<float>()[99], static_cast<float>(i));
    EXPECT_NO_THROW(back.check_sources());
  }
  // A new model of fewer files replaces the old one, and nothing else.
  put_file(scratch / "set/mine.gguf.txt", to_bytes("x"));
  gguf().write_tree(model, scratch / "set", {}, true);
  EXPECT_TRUE(std::filesystem::exists(scratch / "set/mine.gguf.txt"));
  EXPECT_TRUE(std::filesystem::exists(scratch / "set/model.gguf"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "set/model-00001-of-00004.gguf"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "set/model-00004-of-00004.gguf"));
  EXPECT_EQ(open(scratch / "set").tensors.size(), 7U);
}

std::string rule_of_open(const std::string& path) {
  return rule_of([&] { static_cast<void>(open(path)); });
}

std::string rule_of_read(const std::string& directory) {
  return rule_of([&] { static_cast<void>(gguf().read({directory, nullptr}, {})); });
}

TEST(GgufSet, LinksOutOfTheDirectoryAreRefused) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  gguf().write_tree(of_tensors(4), scratch / "set", {.shard_bytes = 1200}, false);
  const std::string first = scratch / "set/model-00001-of-00002.gguf";
  for (const std::string name : {"set/model-00001-of-00002.gguf", "set/model-00002-of-00002.gguf"}) {
    fs::rename(scratch / name, scratch / "elsewhere.gguf");
    fs::create_symlink(scratch / "elsewhere.gguf", scratch / name);
    EXPECT_EQ(rule_of_open(scratch / "set"), "gguf.split.outside") << name;
    EXPECT_FALSE(verify(scratch / "set").ok(false)) << name;
    fs::remove(scratch / name);
    fs::rename(scratch / "elsewhere.gguf", scratch / name);
  }
  // A file that was opened by name may be a link to anywhere; the other files of its set may not.
  const std::string second = scratch / "set/model-00002-of-00002.gguf";
  fs::rename(second, scratch / "elsewhere.gguf");
  fs::create_symlink(scratch / "elsewhere.gguf", second);
  EXPECT_EQ(rule_of_open(first), "gguf.split.outside");
  fs::remove(second);
  fs::rename(scratch / "elsewhere.gguf", scratch / "set/second");
  fs::create_symlink("second", second);
  EXPECT_EQ(rule_of_open(first), "");
  fs::create_directory(scratch / "one");
  gguf().write_tree(of_tensors(1), scratch / "kept", {}, false);
  fs::create_symlink(scratch / "kept/model.gguf", scratch / "one/model.gguf");
  EXPECT_EQ(rule_of_open(scratch / "one"), "gguf.split.outside");
  EXPECT_EQ(rule_of_open(scratch / "one/model.gguf"), "");
}

TEST(Gguf, SetsThatAreNotWholeAreRefused) {
  namespace fs = std::filesystem;
  const Scratch scratch;
  const auto make = [&](const std::string& name, const Model& model) {
    gguf().write_tree(model, scratch / name, {.shard_bytes = 1200}, false);
    return scratch / (name + "/model-");
  };
  const std::string missing = make("missing", of_tensors(4));
  fs::remove(missing + "00002-of-00002.gguf");
  EXPECT_EQ(rule_of_open(missing + "00001-of-00002.gguf"), "gguf.split.missing");
  const std::string doubled = make("doubled", of_tensors(4));
  fs::copy_file(doubled + "00001-of-00002.gguf", doubled + "00002-of-00002.gguf", fs::copy_options::overwrite_existing);
  EXPECT_EQ(rule_of_open(doubled + "00001-of-00002.gguf"), "gguf.split.number");
  const std::string other = make("other", of_tensors(4)), wide = make("wide", of_tensors(3));
  fs::copy_file(wide + "00002-of-00002.gguf", other + "00002-of-00002.gguf", fs::copy_options::overwrite_existing);
  EXPECT_EQ(rule_of_open(other + "00001-of-00002.gguf"), "gguf.split.tensors");
  const std::string longer = make("longer", of_tensors(6));
  fs::copy_file(longer + "00002-of-00003.gguf", missing + "00002-of-00002.gguf");
  EXPECT_EQ(rule_of_open(missing + "00001-of-00002.gguf"), "gguf.split.number");
  Model renamed = of_tensors(4);
  renamed.tensors[2].name = "t0", renamed.tensors[0].name = "t2";
  const std::string names = make("names", renamed);
  const std::string good = make("good", of_tensors(4));
  fs::copy_file(names + "00002-of-00002.gguf", good + "00002-of-00002.gguf", fs::copy_options::overwrite_existing);
  EXPECT_EQ(rule_of_open(good + "00001-of-00002.gguf"), "gguf.split.duplicate");
  fs::rename(names + "00001-of-00002.gguf", scratch / "alone.gguf");
  EXPECT_EQ(rule_of_open(scratch / "alone.gguf"), "gguf.split.name");
  const Bytes part = get_file(good + "00001-of-00002.gguf");
  try {
    static_cast<void>(open(memory_source(part, "model-00001-of-00002.gguf")));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "gguf.split.memory");
  }
  // A directory without a GGUF file.
  fs::create_directory(scratch / "empty");
  EXPECT_EQ(rule_of_read(scratch / "empty"), "gguf.directory");
  // Keys that only the first file may have.
  GgufFile second;
  second.string("general.name", "x");
  second.entry("split.no", 2, [](GgufText& out) { out.u16(1); });
  second.entry("split.count", 2, [](GgufText& out) { out.u16(2); });
  second.entry("split.tensors.count", 5, [](GgufText& out) { out.u32(4); });
  put_file(good + "00002-of-00002.gguf", second.bytes());
  EXPECT_EQ(rule_of_open(good + "00001-of-00002.gguf"), "gguf.split.metadata");
}

// Files and attributes that a file other than the first has would be lost silently.
TEST(Gguf, OnlyTheFirstOfASetCarriesFilesAndAttributes) {
  const auto error_with = [&](const std::function<void(GgufFile&)>& add) {
    const Scratch scratch;
    gguf().write_tree(of_tensors(4), scratch / "set", {.shard_bytes = 1200}, false);
    const std::string stem = scratch / "set/model-";
    GgufFile second;
    add(second);
    second.entry("split.no", 2, [](GgufText& out) { out.u16(1); });
    second.entry("split.count", 2, [](GgufText& out) { out.u16(2); });
    second.entry("split.tensors.count", 5, [](GgufText& out) { out.u32(4); });
    put_file(stem + "00002-of-00002.gguf", second.bytes());
    return error_of([&] { open(stem + "00001-of-00002.gguf"); });
  };
  const auto file = error_with([](GgufFile& out) {
    out.entry("tare.file.notes.txt", 9, [](GgufText& text) { text.u32(0).length(2).number(0x6968, 2); });
  });
  ASSERT_TRUE(file);
  EXPECT_EQ(file->rule(), "gguf.split.metadata");
  EXPECT_NE(file->sentence().find("notes.txt"), std::string::npos) << file->sentence();
  const auto attributes =
      error_with([](GgufFile& out) { out.string("tare.private", R"({"tare":1,"attributes":{"t0":{"a":1}}})"); });
  ASSERT_TRUE(attributes);
  EXPECT_EQ(attributes->rule(), "gguf.split.metadata");
}

// Byte for byte, including NaN of every kind.
TEST(Gguf, NanInMetadataKeepsItsBits) {
  GgufFile file;
  file.string("general.architecture", "llama");
  for (const std::uint32_t bits : {0x7F800001u, 0x7FA00000u, 0xFFBFFFFFu, 0x7FC00000u, 0x7FC12345u}) {
    file.entry("x.f32." + std::to_string(bits), 6, [=](GgufText& out) { out.u32(bits); });
    file.entry("x.list." + std::to_string(bits), 9, [=](GgufText& out) { out.u32(6).length(2).u32(bits).f32(1); });
    file.entry("x.f64." + std::to_string(bits), 12, [=](GgufText& out) { out.u64(0x7FF0000000000000u | bits); });
  }
  const Bytes bytes = file.bytes();
  EXPECT_EQ(write_bytes(gguf(), open_bytes(bytes)), bytes);
}

// Texts of another container under the keys of hyper-parameters and tokens replace nothing.
TEST(Gguf, TextsDoNotTakeThePlaceOfNumbers) {
  Model model = of_tensors(1);
  model.config.model_type = "llama";
  model.config.max_position_embeddings = 128;
  model.vocabulary = sample_vocabulary();
  for (const char* const key : {"llama.context_length", "tokenizer.ggml.tokens", "tokenizer.ggml.scores"})
    model.metadata.set(key, "a text");
  const Model found = open_bytes(write_bytes(gguf(), model));
  EXPECT_EQ(found.config.max_position_embeddings, 128);
  EXPECT_EQ(found.vocabulary, model.vocabulary);
  for (const auto& [key, value] : model.metadata) {
    ASSERT_NE(found.metadata.find(key), nullptr) << key;
    EXPECT_EQ(*found.metadata.find(key), value) << key;
  }
}

TEST(Gguf, AMergedSetIsAFile) {
  GgufFile merged;
  merged.entry("split.no", 2, [](GgufText& out) { out.u16(0); });
  merged.entry("split.count", 2, [](GgufText& out) { out.u16(0); });
  merged.entry("split.tensors.count", 5, [](GgufText& out) { out.u32(0); });
  EXPECT_TRUE(write_bytes(gguf(), open_bytes(merged.bytes())) == merged.bytes());
}

// ---- writing ----

std::string refusal(const Model& model) {
  try {
    static_cast<void>(write_bytes(gguf(), model));
  } catch (const Error& error) {
    return error.rule();
  }
  return "";
}

TEST(Gguf, WhatCannotBeWrittenIsRefused) {
  const auto with = [](Tensor tensor) {
    Model model;
    model.tensors.push_back(std::move(tensor));
    return model;
  };
  const auto zeros = [](std::string name, Shape shape) {
    return dense(std::move(name), shape, DType::f32,
                 Blob::memory(Bytes(static_cast<std::size_t>(*shape.elements() * 4))));
  };
  EXPECT_EQ(refusal(with(zeros(std::string(63, 'n'), {1}))), "");
  EXPECT_EQ(refusal(with(zeros(std::string(64, 'n'), {1}))), "gguf.write.name");
  EXPECT_EQ(refusal(with(zeros("n", {1, 1, 1, 1}))), "");
  EXPECT_EQ(refusal(with(zeros("n", {1, 1, 1, 1, 1}))), "gguf.write.rank");
  EXPECT_EQ(refusal(with(dense("n", {2}, DType::u16, Blob::memory(Bytes(4))))), "gguf.write.type");
  Tensor table;
  table.name = "n", table.layout = "ggml.iq2_xs", table.shape = {256};
  table.components.push_back({"payload", DType::u8, {}, Blob::memory(Bytes(74))});
  EXPECT_EQ(refusal(with(table)), "");
  table.shape = {512};
  EXPECT_EQ(refusal(with(table)), "gguf.ggml.size");
  Model absurd;
  absurd.metadata.set("general.alignment", 3);
  EXPECT_EQ(refusal(absurd), "gguf.write.alignment");
}

}  // namespace
}  // namespace tare
