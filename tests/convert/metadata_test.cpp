// Metadata key by key: the list, what an edit changes and what it keeps, in every container; types of GGUF; edits in
// place or as a new file; what is refused. That a new file appears completely or not at all is tested with the sinks
// (tests/io, kill_test.cpp, faults); that an amended zTensor file is appended to, in tests/formats/zt/append_test.cpp.
#include "tare/metadata.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

#include "conformance/gguf_cases.hpp"
#include "conformance/models.hpp"
#include "io/unfinished.hpp"
#include "tare/save.hpp"

namespace tare {
namespace {

using namespace tare::testing;

MetadataEdit typed(std::string key, std::string text) {
  return {.kind = MetadataEditKind::read, .key = std::move(key), .value = std::move(text)};
}
MetadataEdit removal(std::string key) { return {.kind = MetadataEditKind::remove, .key = std::move(key)}; }
MetadataEdit renaming(std::string key, std::string to) {
  return {.kind = MetadataEditKind::rename, .key = std::move(key), .to = std::move(to)};
}
Edited edit(const std::string& path, std::vector<MetadataEdit> edits, bool dry_run = false) {
  return edit_metadata(path, edits, {.dry_run = dry_run});
}
std::string rule_of_edit(const std::string& path, std::vector<MetadataEdit> edits) {
  return rule_of([&] { edit(path, std::move(edits)); });
}

std::string entries_text(const Model& model) {
  std::string text;
  for (const MetadataEntry& entry : metadata_entries(model))
    text += entry.key + ":" + entry.type + "=" + to_json(entry.value) + "\n";
  return text;
}

// Everything that must not change, whatever happens to the metadata.
void expect_same_rest(const Model& expected, const Model& found) {
  EXPECT_EQ(describe(found), describe(expected));
  EXPECT_EQ(content_digest(found), content_digest(expected));
  EXPECT_TRUE(found.config == expected.config);
  EXPECT_TRUE(found.vocabulary == expected.vocabulary);
  expect_same_attachments(expected, found);
}

class MetadataOf : public ::testing::TestWithParam<const Format*> {
 protected:
  const Format& format() const { return *GetParam(); }
  std::string written() {
    const Model model = full_model(format().holds);
    if (format().write == nullptr)
      format().write_tree(model, path_, {}, false);
    else
      put_file(path_, write_bytes(format(), model));
    return path_;
  }
  // A copy of the current file: an edit in place invalidates a model that was read from the file.
  Model snapshot() const {
    const std::string copy = scratch_ / ("copy" + std::string(format().suffixes.front()));
    std::filesystem::copy(path_, copy, std::filesystem::copy_options::recursive);
    return open(copy);
  }
  const Scratch scratch_{Scratch::fast_place()};
  const std::string path_ = scratch_ / ("m" + std::string(format().suffixes.front()));
};

std::vector<const Format*> rows_with_metadata() {
  std::vector<const Format*> rows;
  for (const Format& format : formats())
    if (format.holds.metadata != Room::none && (format.write != nullptr || format.write_tree != nullptr))
      rows.push_back(&format);
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Formats, MetadataOf, ::testing::ValuesIn(rows_with_metadata()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(MetadataOf, IsSetRenamedAndRemovedAndNothingElseChanges) {
  const std::string path = written();
  const Model before = snapshot();
  if (!lists(format().holds.metadata_keys, "*")) {
    const std::string key(format().holds.metadata_keys.back());
    const bool text = format().holds.metadata == Room::strings;
    EXPECT_EQ(edit(path, {typed(key, text ? "7" : "0.375")}).changes.size(), 1U);
    const Model after = open(path);
    Model expected = before;
    expected.metadata.set(key, text ? Value("7") : Value(0.375));
    EXPECT_EQ(entries_text(after), entries_text(expected));
    expect_same_rest(before, after);
    EXPECT_EQ(rule_of_edit(path, {typed("another", "1")}), "meta.room");
    return;
  }
  const Edited done = edit(path, {renaming("epochs", "rounds"), removal("done"), typed("author", "me"),
                                  typed("new.text", "hello"), typed("new.number", "-5"), typed("new.truth", "true")});
  EXPECT_EQ(done.changes.size(), 6U);
  const Model after = open(path);
  EXPECT_EQ(done.file_bytes, format().write == nullptr ? done.file_bytes : after.file_bytes);
  Map expected = before.metadata;
  for (const std::string_view own : {"gguf.keys"}) expected.erase(own);
  expected.erase("epochs");
  expected.erase("done");
  expected.set("rounds", 3);
  expected.set("author", "me");
  expected.set("new.text", "hello");
  expected.set("new.number", -5);
  expected.set("new.truth", true);
  Map found = after.metadata;
  found.erase("gguf.keys");
  EXPECT_EQ(to_json(found, JsonKeys::sorted), to_json(expected, JsonKeys::sorted));
  EXPECT_TRUE(found == expected);
  expect_same_rest(before, after);

  // And back: the same model as before.
  edit(path, {renaming("rounds", "epochs"), removal("new.text"), removal("new.number"), removal("new.truth"),
              typed("author", *before.metadata.find("author")->text()), typed("done", "true")});
  const Model again = open(path);
  EXPECT_TRUE(again.metadata.find("epochs") != nullptr && again.metadata.find("new.text") == nullptr);
  expect_same_rest(before, again);
}

// A model that another program installs while the new file is written is not replaced by the edited old one.
TEST_P(MetadataOf, AModelThatIsInstalledMeanwhileStays) {
  if (format().write == nullptr) GTEST_SKIP() << "is a directory";
  const std::string path = written(), other = scratch_ / "other";
  put_file(other, to_bytes("another model"));
  const bool any = lists(format().holds.metadata_keys, "*");
  bool installed = false;
  // The new file is complete and about to get its name.
  io::set_step_hook([&](const char* call, const char*) {
    if (!installed && call == std::string_view("mkdir")) installed = ::rename(other.c_str(), path.c_str()) == 0;
    return 0;
  });
  const std::string rule = rule_of_edit(path, {any ? typed("author", std::string(5000, 'y'))
                                                   : typed(std::string(format().holds.metadata_keys.back()), "7")});
  io::set_step_hook({});
  if (!installed) GTEST_SKIP() << "was changed in place";
  EXPECT_EQ(rule, "io.source.changed");
  EXPECT_EQ(to_text(get_file(path)), "another model");
}

// Another program: calls `act` once, when the new directory is about to be written and the old one has been read.
class WhenRead {
 public:
  explicit WhenRead(std::function<void()> act) {
    io::set_step_hook([act = std::move(act), done = false](const char* call, const char*) mutable {
      if (call == std::string_view("mkdir") && !std::exchange(done, true)) std::thread(act).join();
      return 0;
    });
  }
  ~WhenRead() { io::set_step_hook({}); }
};

class MetadataOfDirectory : public ::testing::Test {
 protected:
  MetadataOfDirectory() {
    find_format("hf")->write_tree(full_model(find_format("hf")->holds), path_, {}, false);
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      if (entry.is_regular_file()) files_.push_back(entry.path());
  }
  const Scratch scratch_{Scratch::fast_place()};
  const std::string path_ = scratch_ / "m";
  std::vector<std::string> files_;
};

TEST_F(MetadataOfDirectory, TwoWhoChangeItAtOnceDoNotUndoEachOther) {
  const std::string path = path_;
  {
    const WhenRead hook([&] { edit(path, {typed("first", "1")}); });
    EXPECT_EQ(rule_of_edit(path, {typed("second", "2")}), "io.source.changed");
  }
  EXPECT_NE(open(path).metadata.find("first"), nullptr);
  EXPECT_EQ(open(path).metadata.find("second"), nullptr);
  edit(path, {typed("second", "2")});
  {
    const WhenRead hook([&] { edit(path, {typed("third", "3")}); });
    EXPECT_EQ(rule_of([&] { (void)convert(path, path, {.overwrite = true}); }), "io.source.changed");
  }
  EXPECT_NE(open(path).metadata.find("third"), nullptr);
}

TEST_F(MetadataOfDirectory, AFileThatIsReplacedMeanwhileStays) {
  const std::string path = path_;
  for (const std::string& file : files_) {
    const Bytes before = get_file(file);
    {
      const WhenRead hook([&] {
        put_file(scratch_ / "other", to_bytes("another"));
        std::filesystem::rename(scratch_ / "other", file);
      });
      EXPECT_EQ(rule_of_edit(path, {typed("author", "x")}), "io.source.changed") << file;
    }
    EXPECT_EQ(to_text(get_file(file)), "another");
    put_file(file, before);
  }
  {
    const int lock = ::open(files_.front().c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(::flock(lock, LOCK_EX), 0);
    EXPECT_EQ(rule_of_edit(path, {typed("author", "x")}), "meta.locked");
    ::close(lock);
  }
  EXPECT_EQ(rule_of_edit(path, {typed("author", "x")}), "");
}

// Root may write to any file: the edit is made by another user.
TEST_P(MetadataOf, AReadOnlyFileIsNotReplaced) {
  const std::string path = written();
  const bool any = lists(format().holds.metadata_keys, "*");
  const auto give_away = [](const std::string& name) {
    return ::geteuid() != 0 || ::chown(name.c_str(), 65534, 65534) == 0;
  };
  ASSERT_TRUE(give_away(scratch_.path()) && give_away(path));
  std::string read_only = path;
  if (format().write == nullptr)
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      ASSERT_TRUE(give_away(entry.path()));
      if (entry.path().extension() == ".safetensors") read_only = entry.path();
    }
  ASSERT_EQ(::chmod(read_only.c_str(), 0444), 0);
  const Bytes before = get_file(read_only);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(3);
    const std::string rule =
        rule_of_edit(path, {any ? typed("author", "x") : typed(std::string(format().holds.metadata_keys.back()), "7")});
    ::_exit(rule == "meta.readonly" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get_file(read_only), before);
}

TEST_P(MetadataOf, ARefusalOrATrialChangesNothing) {
  const std::string path = written();
  const auto bytes = [&] { return listing(open(path)); };
  const std::string before = bytes();
  const std::string key = metadata_entries(open(path)).front().key;
  EXPECT_EQ(rule_of_edit(path, {removal("no such key")}), "meta.key");
  EXPECT_EQ(rule_of_edit(path, {renaming("no such key", key)}), "meta.key");
  EXPECT_EQ(rule_of_edit(path, {renaming(key, key)}), "meta.exists");
  EXPECT_EQ(rule_of_edit(path, {typed(key, "1"), typed(key, "2")}), "meta.twice");
  EXPECT_EQ(bytes(), before);
  const Edited trial = edit(path, {removal(key)}, true);
  EXPECT_EQ(trial.changes.size(), 1U);
  EXPECT_TRUE(trial.changes[0].before && !trial.changes[0].after);
  EXPECT_EQ(edit(path, {}).changes.size(), 0U);
  EXPECT_EQ(bytes(), before);
}

TEST(Metadata, OfAContainerWithoutIsRefused) {
  const Scratch scratch;
  put_file(scratch / "m.npy", write_bytes(*find_format("npy"), small_model(find_format("npy")->holds)));
  EXPECT_EQ(rule_of_edit(scratch / "m.npy", {typed("a", "1")}), "meta.room");
  EXPECT_TRUE(metadata_entries(open(scratch / "m.npy")).empty());
}

// ---- types ----

class GgufMetadata : public ::testing::Test {
 protected:
  GgufMetadata() { put_file(path_, gguf_golden().bytes()); }
  // Expects the bytes of the golden file with some parts changed.
  void expect_bytes(const std::function<void(GgufFile&)>& change) const {
    GgufFile file = gguf_golden();
    change(file);
    EXPECT_TRUE(get_file(path_) == file.bytes());
  }
  const Scratch scratch_{Scratch::fast_place()};
  const std::string path_ = scratch_ / "m.gguf";
};

TEST_F(GgufMetadata, IsListedAsTheFileHasIt) {
  EXPECT_EQ(entries_text(open(path_)),
            "general.architecture:string=\"llama\"\n"
            "general.name:string=\"golden\"\n"
            "llama.context_length:u32=128\n"
            "llama.embedding_length:u32=64\n"
            "llama.block_count:u32=2\n"
            "llama.attention.layer_norm_rms_epsilon:f32=1e-05\n"
            "x.u8:u8=200\n"
            "x.i8:i8=-3\n"
            "x.u16:u16=60000\n"
            "x.i16:i16=-2\n"
            "x.i32:i32=-1\n"
            "x.bool:bool=true\n"
            "x.u64:u64=9223372036854775813\n"
            "x.i64:i64=-7\n"
            "x.f64:f64=0.1\n"
            "x.floats:[f32]=[0.5,-1.25]\n"
            "x.bytes:[u8]={\"$bytes\":\"0100ff\"}\n"
            "x.none:[string]=[]\n"
            "x.shorts:[i16]=[-1,7]\n"
            "tokenizer.ggml.model:string=\"gpt2\"\n"
            "tokenizer.ggml.pre:string=\"qwen2\"\n"
            "tokenizer.ggml.tokens:[string]=[\"a\",\"\xC4\xA0z\",\"<|end|>\"]\n"
            "tokenizer.ggml.token_type:[i32]=[1,1,3]\n"
            "tokenizer.ggml.merges:[string]=[\"\xC4\xA0 z\"]\n"
            "tokenizer.ggml.eos_token_id:u32=2\n");
}

TEST_F(GgufMetadata, KeepsTheTypeOfAKeyAndTakesTheOneAskedFor) {
  const Edited done =
      edit(path_, {typed("x.u8", "7"), typed("x.i16", "-300"), typed("x.u64", "5"), typed("x.f64", "2"),
                   typed("x.floats", "[1, 0.1]"), typed("x.bytes", "[3,4]"), typed("x.none", "[\"a\",\"b\"]"),
                   typed("x.shorts", "[]"), typed("general.name", "42"), typed("tokenizer.ggml.eos_token_id", "1"),
                   typed("new.u64:u64", "5"), typed("new.list:[i8]", "[1,-2]"), typed("new.json", "[1,"),
                   typed("new.numbers", "[1,2]"), typed("new.real", "0.5"), typed("x.i32:i64", "9"),
                   typed("odd:key:u32", "1")});
  EXPECT_EQ(done.changes.size(), 17U);
  EXPECT_FALSE(done.in_place);
  const std::string text = entries_text(open(path_));
  for (const std::string line :
       {"x.u8:u8=7", "x.i16:i16=-300", "x.u64:u64=5", "x.f64:f64=2.0", "x.floats:[f32]=[1.0,0.1]",
        "x.bytes:[u8]={\"$bytes\":\"0304\"}", "x.none:[string]=[\"a\",\"b\"]", "x.shorts:[i16]=[]",
        "general.name:string=\"42\"", "tokenizer.ggml.eos_token_id:u32=1", "new.u64:u64=5", "new.list:[i8]=[1,-2]",
        "new.json:string=\"[1,\"", "new.numbers:[i32]=[1,2]", "new.real:f32=0.5", "x.i32:i64=9", "odd:key:u32=1"})
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\n" << text;
  EXPECT_EQ(open(path_).vocabulary.eos, 1);
}

// JSON cannot express them, but files can have them, and printed values can be set again.
TEST_F(GgufMetadata, NumbersThatAreNoneCanBeSet) {
  edit(path_,
       {typed("new.a:f32", "nan"), typed("new.b:f32", "-inf"), typed("x.f64", "Infinity"), typed("new.c", "nan")});
  const Model model = open(path_);
  const auto number = [&](std::string_view key) { return *model.metadata.find(key)->get<double>(); };
  EXPECT_TRUE(std::isnan(number("new.a")));
  EXPECT_EQ(number("new.b"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("x.f64"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(*model.metadata.find("new.c"), Value("nan")) << "without a type it is a text";
}

TEST_F(GgufMetadata, WhatDoesNotFitIsRefused) {
  for (const auto& [key, value] :
       std::initializer_list<std::pair<std::string, std::string>>{{"x.u8", "256"},
                                                                  {"x.u8", "-1"},
                                                                  {"x.u16", "1.5"},
                                                                  {"x.bool", "1"},
                                                                  {"llama.context_length", "many"},
                                                                  {"x.floats", "[1,\"a\"]"},
                                                                  {"x.floats", "1"},
                                                                  {"x.shorts", "[70000]"},
                                                                  {"x.f64", "null"},
                                                                  {"new", "null"},
                                                                  {"new:u32", "-1"},
                                                                  {"new:f32", "1e-50"},
                                                                  {"new:f32", "1e39"},
                                                                  {"x.u8", "nan"},
                                                                  {"tokenizer.ggml.token_type", "[1,1]"}})
    EXPECT_EQ(rule_of_edit(path_, {typed(key, value)}), "meta.value") << key << "=" << value;
  EXPECT_EQ(rule_of_edit(path_, {typed("x.u8:u128", "1")}), "meta.type");
  EXPECT_EQ(rule_of_edit(path_, {{.key = "new", .value = 1, .type = "int"}}), "meta.type");
  EXPECT_EQ(rule_of_edit(path_, {{.key = "new", .value = Map()}}), "meta.value");
  for (const std::string key : {"split.count", "split.no", "split.tensors.count", "tare.private", "gguf.keys"})
    EXPECT_EQ(rule_of_edit(path_, {typed(key, "1")}), "meta.reserved") << key;
  EXPECT_EQ(rule_of_edit(path_, {typed("general.alignment", "48")}), "gguf.write.alignment");
  expect_bytes([](GgufFile&) {});
}

// ---- in place, or not ----

TEST_F(GgufMetadata, AKeyThatItsProgramsKnowIsOfTheirType) {
  edit(path_, {typed("llama.rope.scaling.factor", "4"), typed("llama.rope.scaling.type", "linear"),
               typed("tokenizer.ggml.add_bos_token", "true"), typed("x.y", "4")});
  const std::string text = entries_text(open(path_));
  EXPECT_NE(text.find("llama.rope.scaling.factor:f32=4.0\n"), text.npos) << text;
  EXPECT_NE(text.find("llama.rope.scaling.type:string=\"linear\"\n"), text.npos);
  EXPECT_NE(text.find("tokenizer.ggml.add_bos_token:bool=true\n"), text.npos);
  EXPECT_NE(text.find("x.y:u32=4\n"), text.npos);
  EXPECT_EQ(rule_of_edit(path_, {typed("llama.rope.scaling.original_context_length", "many")}), "meta.value");
  // An explicit type is accepted, and `verify` warns.
  edit(path_, {typed("llama.rope.scaling.factor:u32", "4")});
  EXPECT_EQ(verify(path_).count(Severity::warning), 1U);
}

TEST_F(GgufMetadata, ATypeThatThereIsNotIsNoPartOfAName) {
  EXPECT_EQ(rule_of_edit(path_, {typed("my.x:int", "1")}), "meta.type");
  EXPECT_EQ(rule_of_edit(path_, {typed("my.x:uint32", "1")}), "meta.type");
  EXPECT_EQ(rule_of_edit(path_, {typed("my.x:[int]", "[1]")}), "meta.type");
  EXPECT_EQ(rule_of_edit(path_, {typed("my.x:zz", "1")}), "meta.type");
  EXPECT_EQ(rule_of_edit(path_, {typed("my:X y", "1")}), "");
  EXPECT_EQ(rule_of_edit(path_, {typed("my:zz:u8", "1")}), "");
  EXPECT_EQ(rule_of_edit(path_, {typed("my:zz", "2")}), "") << "a key that exists is one";
}

TEST_F(GgufMetadata, TwoWhoEditAtOnceDoNotUndoEachOther) {
  // Another program holds the lock.
  const int other = ::open(path_.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_EQ(rule_of_edit(path_, {typed("a.new.key", std::string(2000, 'x'))}), "meta.locked");
  ::close(other);
  EXPECT_EQ(rule_of_edit(path_, {typed("a.new.key", std::string(2000, 'x'))}), "");
}

TEST_F(GgufMetadata, AChangeWithinOneSectorIsMadeInPlace) {
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path_.c_str(), &before), 0);
  const auto trial = edit(path_, {typed("llama.context_length", "4096")}, true);
  EXPECT_TRUE(trial.in_place);
  expect_bytes([](GgufFile&) {});
  EXPECT_TRUE(edit(path_, {typed("llama.context_length", "4096"), typed("general.name", "silver")}).in_place);
  ASSERT_EQ(::stat(path_.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  expect_bytes([](GgufFile& file) {
    file.entries[1] = [](GgufText& out) { out.text("general.name").u32(8).text("silver"); };
    file.entries[2] = [](GgufText& out) { out.text("llama.context_length").u32(4).u32(4096); };
  });
  EXPECT_EQ(open(path_).config.max_position_embeddings, 4096);
}

TEST_F(GgufMetadata, EverythingElseIsANewFile) {
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path_.c_str(), &before), 0);
  // The first and the last key are in different sectors, as is everything after a text of another length.
  for (const std::vector<MetadataEdit>& edits :
       {std::vector{typed("llama.context_length", "1"), typed("tokenizer.ggml.eos_token_id", "0")},
        std::vector{typed("general.name", "a much longer name than before")}, std::vector{removal("general.name")}}) {
    const Edited done = edit(path_, edits);
    EXPECT_FALSE(done.in_place);
    EXPECT_EQ(done.file_bytes, get_file(path_).size());
    ASSERT_EQ(::stat(path_.c_str(), &after), 0);
    EXPECT_NE(before.st_ino, after.st_ino);
    EXPECT_TRUE(verify(path_).ok(true));
    before = after;
  }
  expect_bytes([](GgufFile& file) {
    file.entries[2] = [](GgufText& out) { out.text("llama.context_length").u32(4).u32(1); };
    file.entries.back() = [](GgufText& out) { out.text("tokenizer.ggml.eos_token_id").u32(4).u32(0); };
    file.entries.erase(file.entries.begin() + 1);
  });
}

TEST_F(GgufMetadata, AnotherAlignmentMovesTheData) {
  const std::string digest = content_digest(open(path_));
  EXPECT_FALSE(edit(path_, {typed("general.alignment", "256")}).in_place);
  const Model model = open(path_);
  EXPECT_EQ(model.tensors.front().components.front().blob.offset() % 256, 0U);
  EXPECT_EQ(content_digest(model), digest);
  EXPECT_TRUE(verify(path_).ok(true));
  EXPECT_FALSE(edit(path_, {removal("general.alignment")}).in_place);
  expect_bytes([](GgufFile&) {});
}

TEST_F(GgufMetadata, ARemovedKeyDoesNotComeBackFromThePrivateTree) {
  Model model = open(path_);
  model.config.rms_norm_eps = 1e-5 + 1e-13;  // which an f32 cannot hold
  model.config.hidden_act = "silu";
  put_file(path_, write_bytes(*find_format("gguf"), model));
  ASSERT_NE(entries_text(open(path_)).find("tare.private"), std::string::npos);
  edit(path_, {removal("llama.attention.layer_norm_rms_epsilon")});
  EXPECT_EQ(open(path_).config.rms_norm_eps, std::nullopt);
  EXPECT_EQ(open(path_).config.hidden_act, "silu");
}

TEST_F(GgufMetadata, FilesThatWouldContradictAKeyAreOmittedAndNamed) {
  Model model = open(path_);
  model.attachments = {{"config.json", Blob::memory(to_bytes("{}"))}, {"notes.txt", Blob::memory(to_bytes("mine"))}};
  put_file(path_, write_bytes(*find_format("gguf"), model));
  EXPECT_TRUE(edit(path_, {typed("general.name", "silver")}).omitted.empty());
  EXPECT_EQ(open(path_).attachments.size(), 2U);
  EXPECT_EQ(edit(path_, {typed("llama.context_length", "4096")}).omitted, (std::vector<std::string>{"config.json"}));
  const Model after = open(path_);
  EXPECT_EQ(after.config.max_position_embeddings, 4096);
  ASSERT_EQ(after.attachments.size(), 1U);
  EXPECT_EQ(after.attachments[0].name, "notes.txt");
  EXPECT_EQ(verify(path_).count(Severity::error), 0U);
}

TEST_F(GgufMetadata, WhatAMergedSetLeftStays) {
  const auto left = [](GgufFile& file) {
    file.entry("split.no", 2, [](GgufText& out) { out.u16(0); });
    file.entry("split.count", 2, [](GgufText& out) { out.u16(0); });
    file.entry("split.tensors.count", 5, [](GgufText& out) { out.u32(3); });
  };
  GgufFile merged = gguf_golden();
  left(merged);
  put_file(path_, merged.bytes());
  EXPECT_TRUE(write_bytes(*find_format("gguf"), open(path_)) == merged.bytes());
  edit(path_, {removal("general.name")});
  expect_bytes([&](GgufFile& file) {
    left(file);
    file.entries.erase(file.entries.begin() + 1);
  });
  find_format("gguf")->write_tree(open(path_), scratch_ / "set", {.shard_bytes = 1000}, false);
  EXPECT_EQ(content_digest(open(scratch_ / "set")), content_digest(open(path_)));
}

TEST_F(GgufMetadata, OlderVersionsAndTheOtherByteOrderBecomeVersion3) {
  for (const auto& [big, version] : {std::pair(false, 2U), std::pair(true, 3U)}) {
    put_file(path_, gguf_golden(big, version).bytes());
    EXPECT_FALSE(edit(path_, {typed("llama.context_length", "4096")}).in_place);
    expect_bytes([](GgufFile& file) {
      file.entries[2] = [](GgufText& out) { out.text("llama.context_length").u32(4).u32(4096); };
    });
  }
}

TEST_F(GgufMetadata, OfASetIsInTheFirstFile) {
  const std::string set = scratch_ / "set";
  Model whole = open(path_);
  whole.tensors.front().attributes.set("of", "the first");
  whole.tensors.back().attributes.set("of", "the last");
  find_format("gguf")->write_tree(whole, set, {.shard_bytes = 1000}, false);
  const Model before = open(set);
  const std::size_t count = before.sources.size();
  ASSERT_GT(count, 1U);
  const auto part = [&](std::size_t number) { return fmt::format("{}/model-{:05}-of-{:05}.gguf", set, number, count); };
  std::vector<Bytes> old;
  for (std::size_t i = 1; i <= count; ++i) old.push_back(get_file(part(i)));
  const auto expect_only_the_first_changed = [&] {
    EXPECT_NE(get_file(part(1)), old[0]);
    for (std::size_t i = 2; i <= count; ++i) EXPECT_EQ(get_file(part(i)), old[i - 1]) << i;
    EXPECT_EQ(static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(set), {})), count);
    EXPECT_EQ(verify(set).count(Severity::error), 0U);
    const Model after = open(set);
    ASSERT_EQ(after.tensors.size(), before.tensors.size());
    for (std::size_t i = 0; i < after.tensors.size(); ++i) {
      EXPECT_EQ(after.tensors[i].name, before.tensors[i].name);
      EXPECT_EQ(after.tensors[i].attributes, before.tensors[i].attributes);
      EXPECT_EQ(after.tensors[i].components[0].blob.bytes(), before.tensors[i].components[0].blob.bytes());
    }
  };
  // Opened as the directory, by the first file and by another one; in place, and as a new file.
  EXPECT_TRUE(edit(set, {typed("llama.context_length", "4096")}, true).in_place);
  EXPECT_EQ(get_file(part(1)), old[0]);
  EXPECT_TRUE(edit(set, {typed("llama.context_length", "4096")}).in_place);
  expect_only_the_first_changed();
  const std::string longer(600, 'n');
  EXPECT_FALSE(edit(part(2), {typed("general.name", longer)}, true).in_place);
  const Edited done = edit(part(2), {typed("general.name", longer)});
  EXPECT_FALSE(done.in_place);
  EXPECT_EQ(done.file_bytes, open(set).file_bytes);
  expect_only_the_first_changed();
  EXPECT_EQ(*open(set).metadata.find("general.name"), Value(longer));
  // And back: nothing else has moved.
  edit(part(1), {typed("general.name", "golden"), typed("llama.context_length", "128")});
  EXPECT_EQ(get_file(part(1)), old[0]);
  // The keys that number the files cannot be edited.
  EXPECT_EQ(rule_of_edit(set, {typed("split.count", "1")}), "meta.reserved");
}

// Some programs write the padding before data that does not exist, some do not.
TEST_F(GgufMetadata, AFileWithoutTensorsKeepsItsEnd) {
  GgufFile file = gguf_golden();
  file.infos.clear();
  file.data.clear();
  const Bytes bare = file.bytes();
  ASSERT_NE(bare.size() % 32, 0U);
  Bytes padded = bare;
  padded.resize((bare.size() + 31) / 32 * 32);
  for (const Bytes& bytes : {bare, padded}) {
    put_file(path_, bytes);
    EXPECT_TRUE(verify(path_).ok(true));
    EXPECT_EQ(write_bytes(*find_format("gguf"), open(path_)), bytes);
    edit(path_, {typed("general.name", "a longer name than it had")});
    edit(path_, {typed("general.name", "golden")});
    EXPECT_EQ(get_file(path_), bytes);
  }
  Bytes more = padded;
  more.resize(more.size() + 8);
  put_file(path_, more);
  EXPECT_FALSE(verify(path_).ok(true)) << "bytes that nobody accounts for";
}

TEST_F(GgufMetadata, OfAFileInADirectory) {
  // A directory with one file is edited as that file.
  const Scratch alone;
  put_file(alone / "llama.gguf", gguf_golden().bytes());
  edit(alone.path(), {typed("general.name", "a longer name")});
  EXPECT_EQ(alone.entries(), (std::vector<std::string>{"llama.gguf"}));
  EXPECT_EQ(*open(alone.path()).metadata.find("general.name"), Value("a longer name"));
}

TEST(Metadata, ZTensorIsAmendedByAnotherManifest) {
  const Scratch scratch{Scratch::fast_place()};
  const std::string path = scratch / "m.zt";
  put_file(path, write_bytes(*find_format("zt"), full_model(find_format("zt")->holds),
                             {.zstd_level = 3, .digest = DigestAlgorithm::sha256}));
  std::filesystem::copy(path, scratch / "copy.zt");
  const Model before = open(scratch / "copy.zt");
  struct stat old {
  }, now{};
  ASSERT_EQ(::stat(path.c_str(), &old), 0);
  EXPECT_TRUE(edit(path, {typed("new", "1")}, true).in_place);
  const Edited done = edit(path, {typed("new", "1"), removal("author")});
  EXPECT_TRUE(done.in_place);
  ASSERT_EQ(::stat(path.c_str(), &now), 0);
  EXPECT_EQ(old.st_ino, now.st_ino);
  EXPECT_EQ(done.file_bytes, static_cast<std::uint64_t>(now.st_size));
  const Model after = open(path);
  EXPECT_EQ(*after.metadata.find("new"), Value(1));
  EXPECT_EQ(after.metadata.find("author"), nullptr);
  expect_same_rest(before, after);
  ASSERT_EQ(before.tensors.size(), after.tensors.size());
  for (std::size_t i = 0; i < before.tensors.size(); ++i)
    for (std::size_t c = 0; c < before.tensors[i].components.size(); ++c) {
      const Blob &a = before.tensors[i].components[c].blob, &b = after.tensors[i].components[c].blob;
      EXPECT_EQ(a.offset(), b.offset());
      EXPECT_EQ(a.digest().text(), b.digest().text());
      EXPECT_EQ(a.encoding(), b.encoding());
    }
  EXPECT_TRUE(verify(path).ok(true));
}

TEST(Metadata, KindsAreKeptWhereTheyFit) {
  const Scratch scratch{Scratch::fast_place()};
  const std::string path = scratch / "m.zt";
  Model model;
  model.metadata.set("text", "2");
  model.metadata.set("number", 2);
  model.metadata.set("real", 0.5);
  model.metadata.set("list", List{1});
  put_file(path, write_bytes(*find_format("zt"), model));
  edit(path, {typed("text", "3"), typed("number", "three"), typed("real", "3"), typed("list", "[1, 2]"),
              typed("map:map", "{\"a\": 1}"), typed("quoted", "\"5\"")});
  EXPECT_EQ(to_json(open(path).metadata, JsonKeys::sorted),
            R"({"list":[1,2],"map":{"a":1},"number":"three","quoted":"5","real":3.0,"text":"3"})");
}

TEST(Metadata, AWholeNumberIsNotRounded) {
  const Scratch scratch{Scratch::fast_place()};
  const std::string path = scratch / "m.zt";
  put_file(path, write_bytes(*find_format("zt"), Model()));
  edit(path, {typed("most", "18446744073709551615"), typed("least", "-9223372036854775808")});
  for (const char* const beyond : {"18446744073709551616", "-9223372036854775809", "123456789012345678901234567890"})
    EXPECT_EQ(rule_of([&] { edit(path, {typed("n", beyond)}); }), "meta.value") << beyond;
  edit(path, {typed("float", "18446744073709551616.0"), typed("text", "\"18446744073709551616\"")});
  EXPECT_EQ(to_json(open(path).metadata, JsonKeys::sorted),
            R"({"float":1.8446744073709552e+19,"least":-9223372036854775808,"most":18446744073709551615,)"
            R"("text":"18446744073709551616"})");
}

TEST(Metadata, ADialectAndSharedBytesAreKept) {
  const Scratch scratch{Scratch::fast_place()};
  const Format& alt = *find_format("alt");
  Model model = full_model(alt.holds);
  model.tensors.clear();
  put_file(scratch / "m.alt", write_bytes(alt, model, {.dialect = "altc"}));
  const std::string version = open(scratch / "m.alt").version;
  edit(scratch / "m.alt", {typed("author", "somebody")});
  EXPECT_EQ(open(scratch / "m.alt").version, version);

  Model twins;
  twins.tensors = {make_dense("a", {1000}, DType::f32, "", 1), make_dense("b", {1000}, DType::f32, "", 1)};
  const Format& mcf = *find_format("mcf");
  put_file(scratch / "m.mcf", write_bytes(mcf, twins, {.dedup = true}));
  const std::uint64_t size = get_file(scratch / "m.mcf").size();
  edit(scratch / "m.mcf", {typed("a", "1")});
  EXPECT_LT(get_file(scratch / "m.mcf").size(), size + 1000);
}

TEST(Metadata, AFileThatChangedSinceIsNotAmended) {
  const Scratch scratch{Scratch::fast_place()};
  const std::string path = scratch / "m.gguf";
  put_file(path, gguf_golden().bytes());
  const Model before = open(path);
  Model after = before;
  const std::vector edits{typed("llama.context_length", "4096")};
  edit_metadata(after, edits);
  Bytes other = gguf_golden().bytes();
  other.resize(other.size() + 32);
  put_file(path, other);
  EXPECT_EQ(rule_of([&] { find_format("gguf")->amend(path, before, after, false); }).substr(0, 10), "io.source.");
  EXPECT_TRUE(get_file(path) == other);
  std::filesystem::remove(path);
  put_file(path, gguf_golden().bytes());
  EXPECT_EQ(rule_of([&] { find_format("gguf")->amend(path, before, after, false); }).substr(0, 10), "io.source.")
      << "another file under the same name";
  EXPECT_TRUE(get_file(path) == gguf_golden().bytes());
}

TEST(Metadata, WhatPackedWeightsNeedStays) {
  const Scratch scratch{Scratch::fast_place()};
  SaveOptions options;
  options.adapt.weights_only = true;
  for (const char* const packing : {"gptq4-v2", "mlx-affine6"})
    for (const char* const format : {"zt", "safetensors"}) {
      const std::string path = scratch / fmt::format("{}.{}", packing, format);
      save(open(fmt::format("{}/codecs/packs/data/{}", TARE_TEST_DIR, packing)), path, options);
      const Bytes before = get_file(path);
      EXPECT_EQ(rule_of_edit(path, {removal("quantization_config")}), "pack.changed") << path;
      EXPECT_EQ(rule_of_edit(path, {renaming("quantization_config", "a")}), "pack.changed") << path;
      EXPECT_TRUE(get_file(path) == before) << path;
      edit(path, {typed("a", "b")});
      const std::vector<Tensor> tensors = open(path).tensors;
      EXPECT_TRUE(std::ranges::any_of(tensors, [](const Tensor& tensor) { return tensor.layout != "dense"; })) << path;
    }
}

// ---- tokens ----

TEST(Vocabulary, TokensAreFound) {
  const Vocabulary vocabulary = open(memory_source(gguf_golden().bytes(), "f.gguf")).vocabulary;
  using Ids = std::vector<std::size_t>;
  EXPECT_EQ(find_tokens(vocabulary, {}), (Ids{0, 1, 2}));
  EXPECT_EQ(find_tokens(vocabulary, {.text = " z"}), Ids{1});
  EXPECT_EQ(find_tokens(vocabulary, {.text = "z"}), Ids{});
  EXPECT_EQ(find_tokens(vocabulary, {.part = "z"}), Ids{1});
  EXPECT_EQ(find_tokens(vocabulary, {.type = TokenType::control}), Ids{2});
  EXPECT_EQ(find_tokens(vocabulary, {.part = "a", .type = TokenType::control}), Ids{});
  // By its id as well: files differ in the type that they give a special token.
  Vocabulary special = vocabulary;
  special.bos = 2;
  EXPECT_EQ(find_tokens(special, {.type = TokenType::bos}), Ids{2});
  for (const TokenType type : kAllTokenTypes) EXPECT_EQ(parse_token_type(name_of(type)), type);
  EXPECT_EQ(parse_token_type("none"), std::nullopt);
}

}  // namespace
}  // namespace tare
