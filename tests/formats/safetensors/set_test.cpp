// Sharded sets: the index is compared with its shards.
#include <functional>

#include "conformance/models.hpp"
#include "conformance/safetensors_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

class RuleCollector final : public Diagnostics {
 public:
  void error(const Error& error) override { rules.push_back(error.rule()); }
  void warning(const Error& error) override { rules.push_back(error.rule()); }
  std::vector<std::string> rules;
};

// Two shards: two tensors in the first, one in the second.
class SafetensorsSet : public ::testing::Test {
 protected:
  void SetUp() override {
    put("a.safetensors",
        st_file("{" + st_entry("x", "F32", "1", 0, 4) + "," + st_entry("y", "U8", "2", 4, 6) + "}", 6));
    put("b.safetensors", st_file("{\"__metadata__\":{\"format\":\"pt\"}," + st_entry("z", "F32", "2", 0, 8) + "}", 8));
    put_index(good());
  }
  static std::string good() {
    return R"({"metadata":{"total_size":14},"weight_map":{"z":"b.safetensors","x":"a.safetensors","y":"a.safetensors"}})";
  }
  void put(const std::string& name, const Bytes& bytes) { put_file(scratch_ / name, bytes); }
  void put_index(const std::string& text) { put_file(index(), to_bytes(text)); }
  std::string index() const { return scratch_ / "model.safetensors.index.json"; }
  // The rules that a change of the index breaks: the first that throws, and all that are reported.
  std::vector<std::string> rules(const std::string& from, const std::string& to) {
    std::string text = good();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    put_index(text.replace(at, from.size(), to));
    return rules();
  }
  std::vector<std::string> rules() {
    RuleCollector collector;
    if (const auto error = error_of([&] { open(index(), {.diagnostics = &collector}); }))
      collector.rules.push_back(error->rule());
    return collector.rules;
  }

  Scratch scratch_{Scratch::fast_place()};
};

using Rules = std::vector<std::string>;

TEST_F(SafetensorsSet, IsOneModel) {
  const Model model = open(index());
  ASSERT_EQ(model.tensors.size(), 3U);
  EXPECT_EQ(model.tensors[0].name, "x");
  EXPECT_EQ(model.tensors[2].name, "z");
  EXPECT_EQ(model.tensors[2].components[0].blob.source()->name(), scratch_ / "b.safetensors");
  EXPECT_EQ(*model.metadata.find("format")->text(), "pt");
  EXPECT_EQ(model.format, "safetensors");
  EXPECT_EQ(model.file_bytes, std::filesystem::file_size(index()) +
                                  std::filesystem::file_size(scratch_ / "a.safetensors") +
                                  std::filesystem::file_size(scratch_ / "b.safetensors"));
  EXPECT_TRUE(verify(index()).ok(true));
  EXPECT_TRUE(rules().empty());
}

TEST_F(SafetensorsSet, FormOfTheIndex) {
  EXPECT_EQ(rules("}}", "}"), Rules{"safetensors.index.json"});
  EXPECT_EQ(rules("}}", "}}{}"), Rules{"safetensors.index.trailing"});
  EXPECT_EQ(rules("\"z\"", "\"z\xFF\""), Rules{"safetensors.index.utf8"});
  EXPECT_EQ(rules("\"b.safetensors\"", "1"), Rules{"safetensors.index.form"});
  EXPECT_EQ(rules("\"metadata\"", "\"weight_map\":{},\"metadata\""), Rules{"safetensors.index.form"});
  EXPECT_EQ(rules("{\"metadata\"", "[{\"metadata\""), Rules{"safetensors.index.root"});
  for (const char* const word : {"nul", "nan", "n", "nullx", "[nul]"}) {
    const std::string value = word;
    EXPECT_EQ(rules("{\"metadata\"", "{\"x\":" + value + ",\"metadata\""), Rules{"safetensors.index.json"}) << word;
    EXPECT_EQ(rules("{\"total_size\":14}", value), Rules{"safetensors.index.json"}) << word;
    EXPECT_EQ(rules("14", value), Rules{"safetensors.index.json"}) << word;
  }
  put_index(R"({"weight_map":["x"], "metadata":{}})");
  EXPECT_EQ(rules(), Rules{"safetensors.index.form"});
  put_index(R"({"metadata":{"weight_map":"x"}})");
  EXPECT_EQ(rules(), Rules{"safetensors.index.form"});
  std::string deep(200, '[');
  EXPECT_EQ(rules("{\"metadata\"", "{\"x\":" + deep + std::string(200, ']') + ",\"metadata\""),
            Rules{"safetensors.index.depth"});
  EXPECT_EQ(rules("\"x\":", "\"z\":\"a.safetensors\",\"x\":"), Rules{"safetensors.index.duplicate"});
}

// Whatever is wrong with it, its name identifies an index.
TEST_F(SafetensorsSet, AnIndexIsKnownByItsName) {
  const auto rule = [&](const std::string& text) {
    put_index(text);
    return rules().at(0);
  };
  EXPECT_EQ(rule("[]"), "safetensors.index.root");
  EXPECT_EQ(rule("\xEF\xBB\xBF" + good()), "safetensors.index.root");
  EXPECT_NE(error_of([&] { open(index()); })->sentence().find("byte-order mark"), std::string::npos);
  EXPECT_EQ(rule("what is this"), "safetensors.index.root");
  EXPECT_EQ(rule("{}"), "safetensors.index.form");
  EXPECT_EQ(rule("{\"metadata\":{\"long\":\"" + std::string(20000, ' ') + "\"}}"), "safetensors.index.form");
}

TEST_F(SafetensorsSet, ForgottenShardsAreMissed) {
  const auto sentence = [&](const std::string& text) {
    put_index(text);
    for (const Finding& finding : verify(index()).findings)
      if (finding.rule == "safetensors.index.shards") {
        EXPECT_EQ(finding.severity, Severity::warning);
        return finding.sentence;
      }
    return std::string();
  };
  for (const char* const name : {"m-00001-of-000003.safetensors", "m-00003-of-000003.safetensors"})
    std::filesystem::copy_file(scratch_ / "a.safetensors", scratch_ / name);
  EXPECT_EQ(sentence(R"({"weight_map": {}})"), "the weight_map is empty: the set has no tensors");
  EXPECT_EQ(sentence(R"({"weight_map":{"x":"m-00001-of-000003.safetensors","y":"m-00003-of-000003.safetensors"}})"),
            "the index names 2 of the 3 shards that their names speak of; the first it omits is m-00002-of-...");
  EXPECT_EQ(sentence(R"({"weight_map":{"x":"m-00003-of-000003.safetensors"}})"),
            "the index names 1 of the 3 shards that their names speak of; the first it omits is m-00001-of-...");
  EXPECT_EQ(sentence(good()), "");
}

TEST_F(SafetensorsSet, ShardsLieBesideTheIndex) {
  for (const char* const name : {"../a.safetensors", "/tmp/a.safetensors", "sub/a.safetensors", "c:a.safetensors",
                                 "..\\\\a.safetensors", "..", "", "a.bin", "\\u0000.safetensors"})
    EXPECT_EQ(rules("b.safetensors", name), Rules{"safetensors.index.path"}) << name;
}

TEST_F(SafetensorsSet, IndexAndShardsMustAgree) {
  EXPECT_EQ(rules("b.safetensors", "c.safetensors"), Rules{"safetensors.index.missing_shard"});
  EXPECT_EQ(rules("\"y\"", "\"w\""), (Rules{"safetensors.index.extra", "safetensors.index.missing"}));
  EXPECT_EQ(rules(",\"y\":\"a.safetensors\"", ""), Rules{"safetensors.index.extra"});
  EXPECT_EQ(rules("\"y\":\"a.", "\"y\":\"b."), Rules{"safetensors.index.wrong_shard"});
  EXPECT_EQ(rules(":14", ":13"), Rules{"safetensors.index.total"});
  EXPECT_EQ(rules("{\"total_size\":14}", "{}"), Rules{});
  EXPECT_EQ(rules(":14", ":14.0"), Rules{}) << "some writers count in floating point";
  EXPECT_EQ(rules(":14", ":1.3e1"), Rules{"safetensors.index.total"});
  for (const char* const total : {"14.5", "\"14\"", "-1", "null", "true", "18446744073709551616", "[14]", "{}"})
    EXPECT_EQ(rules("14", total), Rules{"safetensors.index.total"}) << total;
  put_index(good());
  put("b.safetensors", st_file("{" + st_entry("z", "F32", "2", 0, 8) + "," + st_entry("x", "U8", "1", 8, 9) + "}", 9));
  EXPECT_EQ(rules(), Rules{"safetensors.index.repeated"});
  put("b.safetensors", to_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"));
  EXPECT_EQ(rules(), Rules{"open.unrecognized"});
  put("b.safetensors", to_bytes(good()));
  EXPECT_EQ(rules(), Rules{"safetensors.index.shard"});
  put("b.safetensors", st_file("{" + st_entry("z", "F32", "2", 0, 8) + "}", 5));
  EXPECT_EQ(rules(), (Rules{"safetensors.data.truncated", "safetensors.index.missing", "safetensors.index.total"}));
}

TEST_F(SafetensorsSet, ErrorsSayWhichFile) {
  std::filesystem::remove(scratch_ / "b.safetensors");
  const auto error = error_of([&] { open(index()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->file(), index());
  EXPECT_NE(error->sentence().find("b.safetensors"), std::string::npos);
  EXPECT_NE(error->sentence().find("download"), std::string::npos);
}

TEST_F(SafetensorsSet, ErrorsSayWhereInTheIndex) {
  const auto found = [&](const std::string& from, const std::string& to) {
    rules(from, to);
    auto findings = verify(index()).findings;
    std::erase_if(findings, [](const Finding& finding) { return finding.severity == Severity::note; });
    return findings;
  };
  const std::string text = good();
  EXPECT_EQ(found("\"y\":\"a.", "\"y\":\"b.").at(0).offset, text.find("\"y\""));
  EXPECT_EQ(found("\"b.", "\"c.").at(0).offset, text.find("\"z\""));
  EXPECT_EQ(found("\"y\"", "\"x\"").at(0).offset, text.find("\"x\""));
  const Finding total = found(":14", ":13").at(0);
  EXPECT_EQ(total.offset, text.find("\"total_size\""));
  EXPECT_EQ(total.sentence, "total_size is 13, the tensors have 14 bytes");
  EXPECT_EQ(total.severity, Severity::warning);
  EXPECT_FALSE(verify(index()).ok(true));
  EXPECT_TRUE(verify(index()).ok(false));
}

TEST_F(SafetensorsSet, ShardsThatDisagreeAboutMetadata) {
  put("a.safetensors", st_file("{\"__metadata__\":{\"format\":\"tf\"}," + st_entry("x", "F32", "1", 0, 4) + "," +
                                   st_entry("y", "U8", "2", 4, 6) + "}",
                               6));
  EXPECT_EQ(rules(), Rules{"safetensors.index.metadata"});
  EXPECT_EQ(*open(index()).metadata.find("format")->text(), "tf");
}

// Nothing is left out in silence: `convert` reports notes about what is lost.
TEST_F(SafetensorsSet, KeysNextToTheWeightMapAreReported) {
  struct Notes final : Diagnostics {
    void note(const Error& about) override { all.push_back(about); }
    std::vector<Error> all;
  } notes;
  std::string text = good();
  put_index(text.replace(0, 1, R"({"a":{"weight_map":{}},"b":1,)"));
  open(index(), {.diagnostics = &notes});
  ASSERT_EQ(notes.all.size(), 1u);
  EXPECT_EQ(notes.all[0].rule(), "safetensors.index.key");
  EXPECT_EQ(notes.all[0].kind(), ErrorKind::lossy);
  EXPECT_NE(notes.all[0].sentence().find("a, b"), std::string::npos) << notes.all[0].sentence();
}

TEST_F(SafetensorsSet, LimitsAndPlaces) {
  EXPECT_EQ(rule_of([&] { open(index(), {.limits = {.metadata_bytes = 50}}); }), "safetensors.index.large");
  EXPECT_EQ(rule_of([&] { open(memory_source(get_file(index()), index())); }), "safetensors.index.memory");
}

TEST_F(SafetensorsSet, OtherMetadataOfTheIndexIsCarried) {
  put_index(good().replace(good().find("{\"total"), 1, "{\"note\":\"hi\",\"epoch\":3,\"f\":0.5,\"n\":null,"));
  const Model model = open(index());
  const Map* const kept = model.metadata.find("safetensors.index")->get<Map>();
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(to_json(*kept), R"({"note":"hi","epoch":3,"f":0.5,"n":null})");
  // To one file, and to shards again: nothing is lost.
  convert(index(), scratch_ / "one.safetensors");
  EXPECT_TRUE(open(scratch_ / "one.safetensors").metadata == model.metadata);
  convert(scratch_ / "one.safetensors", scratch_ / "again/", {.write = {.shard_bytes = 1}, .to = "safetensors"});
  const Model again = open(scratch_ / "again/model.safetensors.index.json");
  EXPECT_TRUE(again.metadata == model.metadata);
  EXPECT_EQ(content_digest(again), content_digest(model));
}

TEST_F(SafetensorsSet, GoldenIndex) {
  Model model;
  model.tensors = {make_dense("b", {1000}, DType::f32), make_dense("a\"", {1000}, DType::f32)};
  find_format("safetensors")->write_tree(model, scratch_ / "d", {.shard_bytes = 10000}, false);
  EXPECT_EQ(to_text(get_file(scratch_ / "d/model.safetensors.index.json")),
            "{\n  \"metadata\": {\n    \"total_size\": 8000\n  },\n  \"weight_map\": {\n"
            "    \"a\\\"\": \"model-00002-of-00002.safetensors\",\n"
            "    \"b\": \"model-00001-of-00002.safetensors\"\n  }\n}\n");
}

// Opened by one of its files; a file that the index does not list is read alone.
TEST_F(SafetensorsSet, AShardStandsForTheWholeSet) {
  Model model;
  model.tensors = {make_dense("b", {1000}, DType::f32), make_dense("a", {1000}, DType::f32)};
  find_format("safetensors")->write_tree(model, scratch_ / "d", {.shard_bytes = 5000}, false);
  const std::string shard = scratch_ / "d/model-00002-of-00002.safetensors";
  EXPECT_EQ(open(shard).tensors.size(), 2U);
  std::vector<std::string> files;
  for (const SourcePtr& source : open(shard).sources) files.push_back(source->name());
  std::ranges::sort(files);
  const std::string folder = scratch_ / "d/";
  EXPECT_EQ(files, (std::vector<std::string>{folder + "model-00001-of-00002.safetensors", shard,
                                             folder + "model.safetensors.index.json"}))
      << "each once, and the index";
  const Verification result = verify(shard);
  EXPECT_TRUE(
      std::ranges::any_of(result.findings, [](const Finding& f) { return f.rule == "safetensors.index.whole"; }));
  std::filesystem::copy_file(shard, scratch_ / "d/other.safetensors");
  EXPECT_EQ(open(scratch_ / "d/other.safetensors").tensors.size(), 1U);
}

TEST_F(SafetensorsSet, ASetIsADirectory) {
  EXPECT_EQ(rule_of([&] { convert(index(), scratch_ / "o.safetensors", {.write = {.shard_bytes = 5000}}); }),
            "convert.shards");
  EXPECT_EQ(rule_of([&] { convert(index(), scratch_ / "o.zt", {.write = {.shard_bytes = 5000}}); }), "convert.option");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "o.safetensors"));
}

// If shards differ, the metadata and config of the first count.
TEST_F(SafetensorsSet, TheFirstShardsConfigCounts) {
  const auto shard = [&](const std::string& name, const std::string& tensor, int size) {
    put(name, st_file("{\"__metadata__\":{\"__tare__\":\"{\\\"tare\\\":1,\\\"config\\\":{\\\"hidden_size\\\":" +
                          std::to_string(size) + "}}\"}," + st_entry(tensor, "U8", "1", 0, 1) + "}",
                      1));
  };
  shard("a.safetensors", "x", 1);
  shard("b.safetensors", "z", 2);
  put_index(R"({"weight_map":{"z":"b.safetensors","x":"a.safetensors"}})");
  EXPECT_EQ(open(index()).config.hidden_size, 1);
  EXPECT_EQ(rules(), Rules{"safetensors.index.metadata"}) << "and that is said";
  shard("b.safetensors", "z", 1);
  EXPECT_EQ(rules(), Rules{});
}

// Shards of a container that holds more than tensors.
TEST_F(SafetensorsSet, VocabulariesAndFilesOfShardsAreKept) {
  const auto shard = [&](const std::string& name, const std::string& tensor, std::string_view kind) {
    Model model;
    model.tensors = {make_dense(tensor, {1}, DType::u8)};
    model.vocabulary.kind = kind;
    model.vocabulary.tokens.push_back({"a", 0, TokenType::normal});
    model.attachments = {text_file("all.txt", name), text_file(tensor + ".txt", name)};
    put(name, write_bytes(*find_format("zt"), model));
  };
  shard("a.zt", "x", "bpe");
  shard("b.zt", "z", "bpe");
  put_index(R"({"weight_map":{"z":"b.zt","x":"a.zt"}})");
  const Model model = open(index());
  EXPECT_EQ(model.vocabulary.kind, "bpe");
  std::vector<std::string> names;
  for (const Attachment& file : model.attachments) names.push_back(file.name);
  EXPECT_EQ(names, (std::vector<std::string>{"all.txt", "x.txt", "z.txt"}));
  EXPECT_EQ(rules(), Rules{"safetensors.index.metadata"}) << "the second all.txt";
  shard("b.zt", "z", "unigram");
  EXPECT_EQ(rules().size(), 2U);
}

TEST_F(SafetensorsSet, MetadataOfTheIndexThatIsNestedOrAppearsTwice) {
  put_index(good().replace(good().find("{\"total"), 1, R"({"n":{"a":[1,{"b":"c"}]}, "l" : [ 1, 2 ] ,"k":1,"k":2,)"));
  const Model model = open(index());
  EXPECT_EQ(to_json(*model.metadata.find("safetensors.index")), R"({"n":{"a":[1,{"b":"c"}]},"l":[1,2],"k":2})");
  EXPECT_EQ(rules(), Rules{"safetensors.index.metadata"});
  convert(index(), scratch_ / "again/", {.write = {.shard_bytes = 1000}, .to = "safetensors"});
  EXPECT_EQ(*open(scratch_ / "again").metadata.find("safetensors.index"), *model.metadata.find("safetensors.index"));
}

// If another program has set a key that the private tree has, too, the file's own value counts, and that is reported.
TEST_F(SafetensorsSet, AKeyOfTheFileCountsForMoreThanThePrivateTree) {
  put("one.safetensors",
      st_file(R"({"__metadata__":{"k":"new","__tare__":"{\"tare\":1,\"metadata\":{\"k\":1,\"other\":2}}"},)" +
                  st_entry("x", "U8", "1", 0, 1) + "}",
              1));
  RuleCollector collector;
  const Model model = open(scratch_ / "one.safetensors", {.diagnostics = &collector});
  EXPECT_EQ(*model.metadata.find("k"), Value("new"));
  EXPECT_EQ(*model.metadata.find("other"), Value(2));
  EXPECT_EQ(collector.rules, Rules{"safetensors.private.form"});
}

// Each is reported at its first place in the index.
TEST_F(SafetensorsSet, EveryMissingShardIsToldAtItsPlace) {
  const std::string text = R"({"weight_map":{"c":"n2.safetensors","a":"n1.safetensors","b":"n2.safetensors"}})";
  put_index(text);
  const Verification result = verify(index());
  std::vector<std::uint64_t> places;
  for (const Finding& finding : result.findings)
    if (finding.rule == "safetensors.index.missing_shard") places.push_back(finding.offset.value_or(0));
  EXPECT_EQ(places, (std::vector<std::uint64_t>{text.find("\"a\""), text.find("\"c\"")}));
}

}  // namespace
}  // namespace tare
