// Every rule of zTensor has a file that breaks it.
#include <set>

#include "conformance/models.hpp"
#include "conformance/zt_cases.hpp"
#include "lines.hpp"

namespace tare {
namespace {

Map map_of(std::initializer_list<std::pair<const char*, Value>> entries) {
  Map map;
  for (const auto& [key, value] : entries) map.set(key, value);
  return map;
}

using namespace tare::testing;

TEST(ZtRules, RefusedOnOpen) {
  for (const ZtCase& bad : zt_open_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    const auto error = error_of([&] { open(memory_source(bad.file, "f.zt"), {.limits = bad.limits}); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), bad.rule) << error->what();
    EXPECT_EQ(error->file(), "f.zt");
    ASSERT_TRUE(error->offset().has_value()) << error->what();
    EXPECT_LE(*error->offset(), bad.file.size());
    EXPECT_FALSE(error->sentence().empty());
  }
}

// The same files through `verify`: a finding with the same rule, never an exception.
TEST(ZtRules, RefusedFilesAreFindings) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f.zt";
  for (const ZtCase& bad : zt_open_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    put_file(path, bad.file);
    for (const Access access : {Access::mapped, Access::pread}) {
      const Verification result = verify(path, {.access = access, .limits = bad.limits});
      EXPECT_FALSE(result.ok(false));
      EXPECT_EQ(result.format, "zt");
      const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                      [&](const Finding& f) { return f.rule == bad.rule; });
      ASSERT_NE(found, result.findings.end()) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
      EXPECT_EQ(found->file, path);
      EXPECT_TRUE(found->offset.has_value());
    }
  }
}

TEST(ZtRules, FoundInTheData) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f.zt";
  for (const ZtCase& bad : zt_data_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    put_file(path, bad.file);
    for (const Access access : {Access::mapped, Access::pread}) {
      const Model model = open(path, {.access = access});
      if (bad.found == ZtCase::Found::on_read) {
        const auto error = error_of([&] {
          for (const Tensor& tensor : model.tensors)
            for (const Component& component : tensor.components) {
              Bytes all(component.blob.size());
              component.blob.open()->read(all);
            }
        });
        ASSERT_TRUE(error.has_value());
        EXPECT_EQ(error->rule(), bad.rule) << error->what();
        EXPECT_EQ(error->file(), path);
        EXPECT_TRUE(error->offset().has_value());
      }
      const Verification result = verify(path, {.access = access});
      const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                      [&](const Finding& f) { return f.rule == bad.rule; });
      ASSERT_NE(found, result.findings.end()) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
      EXPECT_EQ(found->file, path);
      if (bad.found == ZtCase::Found::on_read) {
        EXPECT_EQ(found->severity, Severity::error);
      }
      if (found->severity == Severity::error) {
        EXPECT_TRUE(found->offset.has_value()) << found->sentence;
      }
    }
  }
}

// bytes() of a compressed blob is as strict as its reader.
TEST(ZtRules, WholeReadsAreAsStrict) {
  for (const ZtCase& bad : zt_data_cases()) {
    if (bad.found != ZtCase::Found::on_read) continue;
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    EXPECT_EQ(rule_of([&] { describe(open(memory_source(bad.file))); }), bad.rule);
  }
}

// Identical ranges, and empty ones anywhere, are valid.
TEST(ZtRules, SharedAndEmptyRangesAreFine) {
  using namespace zt_text;
  const Entries w = dense_object(component(64, 8));
  const Entries none = object({0}, "dense", {{"data", cbor::map(component(64, 0))}});
  const Model model = open(memory_source(
      file(kTwoFloats, cbor::map(root({{"a", cbor::map(w)}, {"b", cbor::map(w)}, {"c", cbor::map(none)}})))));
  EXPECT_EQ(model.tensors.size(), 3U);
}

TEST(ZtRules, AnyOnePointSomethingIsRead) {
  using namespace zt_text;
  for (const std::string_view version : {"1", "1.0", "1.1", "1.2", "1.2.3", "1.3", "1.99.0", "1.10"})
    EXPECT_EQ(open(memory_source(file("", cbor::map(root({}, version))))).version, version);
}

TEST(ZtRules, TolerantFormsAreRead) {
  using namespace zt_text;
  // Everything at once: indefinite maps and texts, tags, long heads, another order, trailing bytes, null for absent
  // values.
  const Entries part = {{"digest", cbor::null()},
                        {"length", cbor::tag(2, cbor::bytes("\x08"))},
                        {"offset", cbor::number(64, 8)},
                        {"type", cbor::null()},
                        {"uncompressed_length", cbor::null()},
                        {"dtype", cbor::indefinite_text({"f", "32"})}};
  const Entries w = {{"components", cbor::indefinite_map({{"data", cbor::indefinite_map(part)}})},
                     {"attributes", cbor::null()},
                     {"format", cbor::tag(99, cbor::text("dense"))},
                     {"shape", cbor::indefinite_array({cbor::number(2, 4)})}};
  const Entries all = {{"objects", cbor::indefinite_map({{"w", cbor::indefinite_map(w)}})},
                       {"attributes", cbor::null()},
                       {"version", cbor::text("1.2.0")}};
  const Model model = open(memory_source(file(kTwoFloats, cbor::indefinite_map(all) + "trailing")));
  EXPECT_EQ(to_text(model.tensors.at(0).components[0].blob.bytes()), kTwoFloats);
}

// Rules about writing and appending, with the tests that break them.
const std::set<std::string> kElsewhere = {
    "zt.write.name",     "zt.write.rank",      "zt.write.duplicate", "zt.write.depth",  // ZtWrite
    "zt.write.reserved", "zt.append.exists",   "zt.append.locked",   "zt.append.format",
    "zt.append.version", "zt.append.manifest", "zt.append.index",  // ZtAppend
};
// Strings that look like rules: attribute names, the codec's name, and rules of encoding and decoding.
const std::set<std::string> kNoRules = {"zt.keys",         "zt.group",       "group.input",   "group.method",
                                        "group.nonfinite", "group.overflow", "group.packing", "group.rank",
                                        "group.type",      "dense.expected", "zstd.pack",     "coo.order"};

bool starts_with_any(const std::string& text, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return text.starts_with(beginning); });
}

// The string literals of these families in the sources with such names. Not with std::regex, for which GCC 12's
// sanitizer reports a false use of uninitialized memory.
std::set<std::string> rules_in(const std::filesystem::path& folder, const std::vector<std::string>& files,
                               const std::vector<std::string>& families, const std::string& prefix) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp" || !starts_with_any(entry.path().filename().string(), files)) continue;
    const std::string text = to_text(get_file(entry.path().string()));
    for (std::size_t quote = text.find('"'); quote != std::string::npos; quote = text.find('"', quote + 1)) {
      const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.", quote + 1);
      if (end == std::string::npos || text[end] != '"') continue;
      const std::string word = text.substr(quote + 1, end - quote - 1);
      if (starts_with_any(word, families) && !word.ends_with('.') && !kNoRules.contains(word))
        found.insert(prefix + word);
    }
  }
  return found;
}

TEST(ZtRules, NoRuleIsWithoutACase) {
  const std::filesystem::path source = std::filesystem::path(TARE_TEST_DIR) / "../src";
  std::set<std::string> rules;
  rules.merge(rules_in(source / "formats/zt", {""}, {"zt."}, ""));
  rules.merge(rules_in(source / "wire", {"cbor"}, {"cbor."}, ""));
  rules.merge(rules_in(source / "io", {"zstd"}, {"zstd."}, ""));
  for (const std::string folder : {"codecs", "codecs/sparse", "codecs/group"})
    rules.merge(rules_in(source / folder, {""}, {"bool.", "dense.", "csr.", "coo.", "group."}, "zt."));
  for (const std::string layout : {"csr", "coo"})  // composed from the layout's name
    for (const std::string rule : {"missing", "index_type"}) rules.insert("zt." + layout + "." + rule);
  rules.insert("zt.write.reserved");  // composed by formats/own_attributes.cpp
  EXPECT_GT(rules.size(), 60U);

  std::set<std::string> covered = kElsewhere;
  for (const ZtCase& bad : zt_open_cases()) covered.insert(bad.rule);
  for (const ZtCase& bad : zt_data_cases()) covered.insert(bad.rule);
  for (const std::string& rule : rules) EXPECT_TRUE(covered.contains(rule)) << "no case for " << rule;
  // Each rule is on the format's page, in full or as ".last" after its family.
  const std::string page = to_text(get_file(source / "../docs/formats/ztensor.md"));
  for (const std::string& rule : rules)
    EXPECT_TRUE(page.find("`" + rule + "`") != std::string::npos ||
                page.find("`" + rule.substr(rule.rfind('.')) + "`") != std::string::npos)
        << rule << " is not in docs/formats/ztensor.md";
  for (const std::string& rule : kElsewhere) EXPECT_TRUE(rules.contains(rule)) << rule << " is gone";
}

TEST(ZtWrite, RefusesByRule) {
  const auto refused = [](const std::function<void(Model&)>& spoil) {
    Model model;
    model.tensors = {make_dense("a", {2}, DType::f32), make_dense("b", {2}, DType::f32)};
    spoil(model);
    MemorySink sink;
    const std::string rule = rule_of([&] { find_format("zt")->write(model, sink, {}); });
    EXPECT_EQ(sink.bytes().empty(), !rule.empty()) << rule;
    return rule;
  };
  EXPECT_EQ(refused([](Model&) {}).size(), 0U) << "the model itself is fine";
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = "\xFF"; }), "zt.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].layout = "\xFF"; }), "zt.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].components[0].type = "\xFF"; }), "zt.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].attributes.set("\xFF", 1); }), "zt.write.name");
  EXPECT_EQ(refused([](Model& m) {
              m.metadata.set("k", List{Map{}});
              m.metadata.find("k")->get<List>()->at(0).get<Map>()->set("\xFF", 1);
            }),
            "zt.write.name");
  EXPECT_EQ(refused([](Model& m) { m.attachments = {{"\xFF", Blob::memory({})}}; }), "zt.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = "a"; }), "zt.write.duplicate");
  const auto reserved = [&](const char* key) {
    return refused([&](Model& m) {
      m.metadata.set(key, "the user's");
      m.config.hidden_size = 1;
      m.vocabulary.tokens.push_back({"a", 0, TokenType::normal});
      m.attachments.push_back(text_file("f", "x"));
    });
  };
  for (const char* const key : {"tare.config", "tare.vocabulary", "tare.attachments"})
    EXPECT_EQ(reserved(key), "zt.write.reserved") << key;
  EXPECT_EQ(refused([](Model& m) { m.metadata.set("tare.config", "the user's"); }), "") << "nothing else wants the key";
  EXPECT_EQ(refused([](Model& m) {
              m.metadata.set("tare.config", map_of({{"hidden_size", Value(3)}}));
            }),
            "zt.write.reserved")
      << "it would be read as the config";
  EXPECT_EQ(refused([](Model& m) {
              m.metadata.set("tare.attachments", map_of({{"f", Value(Bytes(1))}}));
            }),
            "zt.write.reserved");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].components.push_back(m.tensors[1].components[0]); }),
            "zt.write.duplicate");
  EXPECT_EQ(refused([](Model& m) {
              m.attachments = {{"x", Blob::memory({})}, {"x", Blob::memory({})}};
            }),
            "zt.write.duplicate");
  EXPECT_EQ(refused([](Model& m) {
              m.metadata.append("x", 1);
              m.metadata.append("x", 1);
            }),
            "zt.write.duplicate");
  EXPECT_EQ(refused([](Model& m) {
              m.tensors[1].shape = Shape(std::vector<std::uint64_t>(65, 1));
              m.tensors[1].components[0].blob = Blob::memory(Bytes(4));
            }),
            "zt.write.rank");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].shape = {3}; }), "zt.dense.size");
  EXPECT_EQ(refused([](Model& m) {
              Value deep;
              for (int i = 0; i < 70; ++i) deep = List{std::move(deep)};
              m.metadata.set("deep", std::move(deep));
            }),
            "zt.write.depth");
}

TEST(ZtWrite, RefusalsSayWhichTensorOrWhatToDrop) {
  Model model;
  model.tensors = {make_dense("a", {2}, DType::f32)};
  model.metadata.set("\xFF", 1);
  const auto of_model = error_of([&] { write_bytes(*find_format("zt"), model); });
  ASSERT_TRUE(of_model.has_value());
  EXPECT_EQ(text_of(of_model->remedies()), "drop metadata");
  model.metadata = {};
  model.tensors[0].attributes.set("\xFF", 1);
  const auto of_tensor = error_of([&] { write_bytes(*find_format("zt"), model); });
  ASSERT_TRUE(of_tensor.has_value());
  EXPECT_EQ(of_tensor->item(), "tensor a");
  EXPECT_TRUE(of_tensor->remedies().empty());
}

// What looks like the unknown fields of a file, and is not: a field of that name would be lost.
TEST(ZtRules, MetadataNamedLikeUnknownFieldsIsKept) {
  for (const Map& fields : {Map(), map_of({{"objects", Value(1)}, {"q", Value(5)}}), map_of({{"version", Value("2")}}),
                            map_of({{"dtype", Value("x")}, {"q", Value(5)}, {"shape", Value(1)}})}) {
    Model model;
    model.tensors = {make_dense("a", {2}, DType::f32)};
    model.metadata.set("zt.keys", fields);
    model.tensors[0].attributes.set("zt.keys", fields);
    model.tensors[0].attributes.set("zt.keys.data", fields);
    const Format& zt = *find_format("zt");
    const Model back = open(memory_source(write_bytes(zt, model), "m.zt"));
    EXPECT_TRUE(back.metadata == model.metadata) << to_json(Value(back.metadata));
    EXPECT_TRUE(back.tensors.at(0).attributes == model.tensors[0].attributes)
        << to_json(Value(back.tensors[0].attributes));
  }
}

}  // namespace
}  // namespace tare
