// safetensors: golden bytes, every type, every rule.
#include <set>

#include "conformance/models.hpp"
#include "conformance/safetensors_cases.hpp"
#include "lines.hpp"

namespace tare {
namespace {

using namespace tare::testing;

const Format& st() { return *find_format("safetensors"); }

Model read_st(const Bytes& file, const ReadOptions& options = {}) {
  return st().read({"f", memory_source(file, "f")}, options);
}

class Collector final : public Diagnostics {
 public:
  void error(const Error& error) override { rules.push_back(error.rule()); }
  void warning(const Error& error) override { warnings.push_back(error.rule()); }
  void note(const Error& error) override { notes.push_back(error.rule()); }
  bool thorough() const override { return true; }
  std::vector<std::string> rules, warnings, notes;
};

TEST(Safetensors, GoldenBytes) {
  Model model;
  model.tensors = {dense("b", {2}, DType::u8, Blob::memory(to_bytes("xy"))),
                   dense("a", {1, 2}, DType::f16, Blob::memory(to_bytes("1234"))),
                   dense("\xC3\xA4\"", {}, DType::f16, Blob::memory(to_bytes("56")))};
  model.metadata.set("z", "1");
  model.metadata.set("format", "pt");
  const std::string header =
      "{\"__metadata__\":{\"format\":\"pt\",\"z\":\"1\"},"
      "\"a\":{\"dtype\":\"F16\",\"shape\":[1,2],\"data_offsets\":[0,4]},"
      "\"\xC3\xA4\\\"\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[4,6]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[6,8]}}";
  EXPECT_EQ(to_text(write_bytes(st(), model)),
            le64(4088) + header + std::string(4088 - header.size(), ' ') + "123456xy");
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  EXPECT_EQ(to_text(write_bytes(st(), model, {.dialect = "upstream"})),
            le64(padded) + header + std::string(padded - header.size(), ' ') + "123456xy");
  EXPECT_EQ(to_text(write_bytes(st(), Model(), {.dialect = "upstream"})), le64(8) + "{}      ");
}

TEST(Safetensors, EveryTypeThereAndBack) {
  struct Row {
    const char *name, *dtype, *type, *layout;
    std::size_t bits;
  };
  const Row rows[] = {{"BOOL", "bool", "", "dense", 8},
                      {"F4", "u8", "", "packed.f4_e2m1", 4},
                      {"F6_E2M3", "u8", "", "packed.f6_e2m3", 6},
                      {"F6_E3M2", "u8", "", "packed.f6_e3m2", 6},
                      {"U8", "u8", "", "dense", 8},
                      {"I8", "i8", "", "dense", 8},
                      {"F8_E5M2", "u8", "f8_e5m2", "dense", 8},
                      {"F8_E4M3", "u8", "f8_e4m3fn", "dense", 8},
                      {"F8_E8M0", "u8", "f8_e8m0", "dense", 8},
                      {"F8_E4M3FNUZ", "u8", "f8_e4m3fnuz", "dense", 8},
                      {"F8_E5M2FNUZ", "u8", "f8_e5m2fnuz", "dense", 8},
                      {"I16", "i16", "", "dense", 16},
                      {"U16", "u16", "", "dense", 16},
                      {"F16", "f16", "", "dense", 16},
                      {"BF16", "bf16", "", "dense", 16},
                      {"I32", "i32", "", "dense", 32},
                      {"U32", "u32", "", "dense", 32},
                      {"F32", "f32", "", "dense", 32},
                      {"C64", "f32", "complex64", "dense", 64},
                      {"F64", "f64", "", "dense", 64},
                      {"I64", "i64", "", "dense", 64},
                      {"U64", "u64", "", "dense", 64}};
  ASSERT_EQ(std::size(rows), 22U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const std::size_t bytes = row.bits;  // bytes of 8 elements
    const Model model = read_st(st_file("{" + st_entry("t", row.name, "2,4", 0, bytes) + "}", bytes));
    ASSERT_EQ(model.tensors.size(), 1U);
    const Tensor& tensor = model.tensors[0];
    EXPECT_EQ(tensor.layout, row.layout);
    EXPECT_EQ(tensor.shape, (Shape{2, 4}));
    EXPECT_EQ(name_of(tensor.components[0].dtype), row.dtype);
    EXPECT_EQ(tensor.components[0].type, row.type);
    EXPECT_EQ(tensor.components[0].blob.bytes().size(), bytes);
    const std::string written = to_text(write_bytes(st(), model));
    EXPECT_NE(written.find("\"dtype\":\"" + std::string(row.name) + "\",\"shape\":[2,4]"), std::string::npos);
    EXPECT_EQ(describe(read_st(to_bytes(written))), describe(model));
  }
}

// The last of the list above comes first, then by name, so that each is aligned to its own size.
TEST(Safetensors, LargeElementsComeFirst) {
  Model model;
  for (const DType type : kAllDTypes) model.tensors.push_back(make_dense(std::string(name_of(type)), {3}, type));
  std::vector<std::string> names;
  for (const Tensor& tensor : read_st(write_bytes(st(), model)).tensors) {
    names.push_back(tensor.name);
    EXPECT_EQ(tensor.components[0].blob.offset() % size_of(tensor.components[0].dtype), 0U) << tensor.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"u64", "i64", "f64", "f32", "u32", "i32", "bf16", "f16", "u16", "i16",
                                             "i8", "u8", "bool"}));
}

TEST(Safetensors, WhatTheReferenceTakesIsTaken) {
  for (const StCase& good : st_good_cases()) {
    SCOPED_TRACE(good.name);
    Collector collector;
    EXPECT_EQ(rule_of([&] { describe(read_st(good.file)); }), "");
    EXPECT_EQ(listing(read_st(good.file)), listing(read_st(good.file, {.diagnostics = &collector})));
    EXPECT_TRUE(collector.rules.empty()) << collector.rules[0];
    EXPECT_EQ(&detect(*memory_source(good.file, "f")), &st());
  }
}

TEST(Safetensors, ToleratedWithAWarning) {
  for (const StCase& odd : st_tolerated_cases()) {
    SCOPED_TRACE(odd.rule + " / " + odd.name);
    Collector collector;
    EXPECT_EQ(rule_of([&] { describe(read_st(odd.file)); }), "");
    EXPECT_EQ(read_st(odd.file, {.diagnostics = &collector}).tensors.size(), 1U);
    EXPECT_EQ(collector.warnings, std::vector<std::string>{odd.rule});
    EXPECT_TRUE(collector.rules.empty());
  }
}

TEST(Safetensors, RefusedByRule) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f";
  for (const StCase& bad : st_reject_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    const auto error = error_of([&] { read_st(bad.file); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), bad.rule) << error->what();
    EXPECT_EQ(error->file(), "f");
    ASSERT_TRUE(error->offset().has_value()) << error->what();
    EXPECT_LE(*error->offset(), bad.file.size());
    // The same as a finding, from a file that is recognised.
    put_file(path, bad.file);
    for (const Access access : {Access::mapped, Access::pread}) {
      const Verification result = verify(path, {.access = access});
      EXPECT_EQ(result.format, "safetensors");
      EXPECT_TRUE(std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& f) {
        return f.rule == bad.rule;
      })) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
    }
  }
}

// Bytes that are not recognised as safetensors, given directly to the reader.
TEST(Safetensors, TooShortToBeOne) {
  for (const std::size_t length : {0U, 1U, 7U})
    EXPECT_EQ(rule_of([&] { read_st(Bytes(length)); }), "safetensors.truncated");
  EXPECT_EQ(rule_of([&] { read_st(Bytes(8)); }), "safetensors.header.json");
  EXPECT_EQ(rule_of([&] { read_st(st_file("[]")); }), "safetensors.header.root");
  const auto marked = error_of([&] { read_st(st_file("\xEF\xBB\xBF{}")); });
  ASSERT_TRUE(marked);
  EXPECT_EQ(marked->rule(), "safetensors.header.root");
  EXPECT_EQ(marked->offset(), 8U);
  EXPECT_NE(marked->sentence().find("byte-order mark"), std::string::npos) << "said by us, whatever the parser thinks";
  EXPECT_EQ(rule_of([&] { read_st(to_bytes("version https://git-lfs.github.com/spec/v1\n")); }),
            "safetensors.header.large");
  const auto error = error_of([&] { read_st(st_file("{" + st_entry("a", "F32", "4", 0, 16) + "}", 5)); });
  ASSERT_TRUE(error);
  EXPECT_NE(error->sentence().find("need 79 bytes, the file has 68"), std::string::npos) << error->sentence();
}

TEST(Safetensors, ExactlyTheLargestHeaderIsRead) {
  std::string header = "{" + st_entry("a", "F32", "1", 0, 4) + "}";
  header.resize(100'000'000, ' ');
  EXPECT_EQ(read_st(st_file(header, 4)).tensors.size(), 1U);
  Collector collector;
  read_st(st_file(header, 4), {.diagnostics = &collector});
  EXPECT_EQ(collector.warnings, std::vector<std::string>{"safetensors.header.hub"});
}

// One invalid tensor does not hide the others.
TEST(Safetensors, FindingsAreCollected) {
  Collector collector;
  const Model model =
      read_st(st_file("{" + st_entry("a", "F32", "1", 0, 4) + "," + st_entry("b", "X", "1", 4, 8) + "," +
                          st_entry("c", "F32", "7", 8, 12) + "," + st_entry("d", "F32", "1", 12, 16) + "}",
                      14),
              {.diagnostics = &collector});
  EXPECT_EQ(collector.rules, (std::vector<std::string>{"safetensors.entry.dtype", "safetensors.tensor.size",
                                                       "safetensors.data.truncated"}));
  ASSERT_EQ(model.tensors.size(), 1U);
  EXPECT_EQ(model.tensors[0].name, "a");
}

TEST(Safetensors, UnalignedIsNoted) {
  Collector collector;
  read_st(st_file("{" + st_entry("a", "U8", "1", 0, 1) + "," + st_entry("b", "F32", "1", 1, 5) + "}", 5),
          {.diagnostics = &collector});
  EXPECT_EQ(collector.notes, std::vector<std::string>{"safetensors.tensor.unaligned"});
}

TEST(SafetensorsWrite, RefusesByRule) {
  const auto refused = [](const std::function<void(Model&)>& spoil) {
    Model model;
    model.tensors = {make_dense("a", {2}, DType::f32), make_dense("b", {2}, DType::f32)};
    spoil(model);
    MemorySink sink;
    const std::string rule = rule_of([&] { st().write(model, sink, {}); });
    EXPECT_EQ(sink.bytes().empty(), !rule.empty()) << rule;
    return rule;
  };
  EXPECT_EQ(refused([](Model&) {}), "") << "the model itself is fine";
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = "\xFF"; }), "safetensors.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = std::string("a\0", 2); }), "safetensors.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = "__metadata__"; }), "safetensors.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = "a"; }), "safetensors.write.duplicate");
  EXPECT_EQ(refused([](Model& m) {
              m.metadata.append("k", "1");
              m.metadata.append("k", "2");
            }),
            "safetensors.write.duplicate");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].components[0].type = "complex128"; }), "safetensors.write.type");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1] = make_csr("b"); }), "safetensors.write.layout");
  EXPECT_EQ(refused([](Model& m) {
              m.tensors[1].components.push_back({"more", DType::u8, "", Blob::memory({})});
            }),
            "safetensors.write.type");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].shape = {3}; }), "safetensors.dense.size");
  EXPECT_EQ(refused([](Model& m) {
              m.tensors[1].shape = {UINT64_MAX, UINT64_MAX, 0};
              m.tensors[1].components[0].blob = Blob::memory({});
            }),
            "safetensors.write.shape");
  EXPECT_EQ(refused([](Model& m) {
              Value deep;
              for (int i = 0; i < 70; ++i) deep = List{std::move(deep)};
              m.metadata.set("deep", std::move(deep));
            }),
            "safetensors.write.depth");
  EXPECT_EQ(refused([](Model& m) { m.metadata.set("long", std::string(25'000'000, 'x')); }),
            "safetensors.write.header");
}

TEST(Safetensors, ATooLongHeaderIsToldHowToSplit) {
  Model model;
  model.tensors = {make_dense("", {1}, DType::f32)};
  const auto advice = [&](const WriteOptions& options) {
    return text_of(error_of([&] { write_bytes(st(), model, options); })->remedies());
  };
  // With a name this long, only the padding is too much.
  model.tensors[0].name = std::string(24'999'000, 'x');
  EXPECT_EQ(advice({}), "shard, write_dialect upstream");
  EXPECT_EQ(advice({.shard_bytes = 1000}), "shard smaller, write_dialect upstream");
  EXPECT_EQ(rule_of([&] { write_bytes(st(), model, {.dialect = "upstream"}); }), "");
  model.tensors[0].name = std::string(25'000'000, 'x');
  EXPECT_EQ(advice({}), "shard");
  EXPECT_EQ(advice({.dialect = "upstream"}), "shard");
  model.metadata.set("long", std::string(25'000'000, 'x'));
  EXPECT_EQ(advice({}), "drop metadata");
  EXPECT_TRUE(error_of([&] { write_bytes(st(), model); })->sentence().ends_with("the metadata alone takes 25000004"));
}

TEST(Safetensors, ANameThatStandsTwiceIsShown) {
  const std::string b = "{" + st_entry("b", "U8", "0", 4, 4) + ",", a = st_entry("a", "F32", "1", 0, 4);
  const Bytes file = st_file(b + a + "," + a + "}", 4);
  EXPECT_EQ(error_of([&] { read_st(file); })->offset(), 8 + b.size());
}

// There is no magic. If nothing matches, the suffix decides which format's error is reported.
TEST(Safetensors, TheSuffixDecidesWhoseErrorsAreGiven) {
  const Bytes good = st_file("{" + st_entry("a", "F32", "1", 0, 4) + "}", 4);
  const auto rule = [](const Bytes& bytes, const std::string& name) {
    return rule_of([&] { open(memory_source(bytes, name)); });
  };
  for (std::size_t cut : {1, 7, 8, 9}) {
    const Bytes bytes(good.begin(), good.begin() + cut);
    EXPECT_EQ(rule(bytes, "m.safetensors"), "safetensors.truncated") << cut;
    EXPECT_EQ(rule(bytes, "m"), "open.unrecognized") << cut;
  }
  const Bytes huge = to_bytes(le64(std::uint64_t{1} << 40) + "{}"), list = st_file("[]");
  EXPECT_EQ(rule(huge, "m.safetensors"), "safetensors.header.large");
  EXPECT_EQ(rule(list, "m.safetensors"), "safetensors.header.root");
  EXPECT_EQ(rule(to_bytes("<html>"), "m.safetensors"), "open.unrecognized") << "a thing of its own";
  EXPECT_EQ(rule(Bytes(100), "m.safetensors"), "open.unrecognized") << "zeros";
  const auto words = error_of([&] { open(memory_source(to_bytes("Too many requests"), "m.safetensors")); });
  EXPECT_EQ(words->rule(), "safetensors.header.large");
  EXPECT_TRUE(words->sentence().starts_with("the file begins with text (\"Too many\")")) << words->sentence();
  const auto lines = error_of([&] { open(memory_source(to_bytes("\n\nToo many requests"), "m.safetensors")); });
  EXPECT_TRUE(lines->sentence().starts_with("the file begins with text (\"\\n\\nToo ma\")")) << lines->sentence();
  for (const char* const name : {"m.safetensors", "m.safetensors.index.json", "m"})
    for (const char* const answer :
         {"Entry not found", "Invalid username or password.", "{\"error\":\"Repository not found\"}",
          "\xEF\xBB\xBF<!DOCTYPE html>", "<!-- x -->\n<html>", "\n\n  <html>",
          "version https://hawser.github.com/spec/v1\noid sha256:0\n"})
      EXPECT_EQ(rule(to_bytes(answer), name), "open.unrecognized") << answer;
}

// Its header cannot be read, and the error does not come from our reader.
class OddSource final : public Source {
 public:
  OddSource() : Source("odd", st_file("{}").size()) {}

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset == 8) throw std::logic_error("what nobody foresaw");
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }

 private:
  Bytes bytes_ = st_file("{}");
};

TEST(Safetensors, WhatAReaderThrowsIsAnErrorOfOurs) {
  const auto error = error_of([&] { open(std::make_shared<OddSource>()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "open.reader");
  EXPECT_EQ(error->file(), "odd");
  EXPECT_EQ(error->sentence(), "the reader gave up: what nobody foresaw");
}

// The fast scanner for the usual form and the general parser agree; a space selects the parser.
TEST(Safetensors, BothParsersAgree) {
  const Model model = full_model(st().holds);
  const std::string usual = to_text(write_bytes(st(), model));
  const std::size_t colon = usual.find("\"shape\":");
  ASSERT_NE(colon, std::string::npos);
  std::string other = usual;
  other.insert(colon + 8, 1, ' ');
  other.erase(other.find("}  ") + 1, 1);
  ASSERT_EQ(other.size(), usual.size());
  EXPECT_EQ(listing(read_st(to_bytes(other))), listing(read_st(to_bytes(usual))));
}

TEST(Safetensors, TensorsOutOfOrderComeInTheOrderOfTheirData) {
  std::string header = "{", names;
  constexpr int kCount = 1000;
  for (int i = 0; i < kCount; ++i) {
    const int place = i * 7 % kCount;
    header += (i > 0 ? "," : "") + st_entry("t" + std::to_string(place), "U8", "2", place * 2, place * 2 + 2);
  }
  const Model model = read_st(st_file(header + "}", 2 * kCount));
  ASSERT_EQ(model.tensors.size(), std::size_t{kCount});
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(model.tensors[i].name, "t" + std::to_string(i));
    EXPECT_EQ(model.tensors[i].components[0].blob.bytes()[0], static_cast<std::byte>(i * 2));
  }
}

// Every rule in the sources is broken by a case, and is on the format's page.
TEST(Safetensors, NoRuleIsWithoutACase) {
  const std::filesystem::path root = std::filesystem::path(TARE_TEST_DIR) / "..";
  std::set<std::string> covered = {
      "safetensors.write.name", "safetensors.write.duplicate", "safetensors.write.type", "safetensors.write.shape",
      "safetensors.write.depth", "safetensors.write.header", "safetensors.header.hub", "safetensors.header.root",
      "safetensors.tensor.unaligned",
      "safetensors.write.check",   // needs a disk that returns wrong data
      "safetensors.write.shards",  // Save.InFewerFilesThanTensors
      // SafetensorsSet
      "safetensors.index.json", "safetensors.index.form", "safetensors.index.duplicate", "safetensors.index.path",
      "safetensors.index.missing_shard", "safetensors.index.missing", "safetensors.index.extra",
      "safetensors.index.wrong_shard", "safetensors.index.repeated", "safetensors.index.total",
      "safetensors.index.metadata", "safetensors.index.shard", "safetensors.index.memory", "safetensors.index.large",
      "safetensors.index.shards", "safetensors.index.root", "safetensors.index.trailing", "safetensors.index.utf8",
      "safetensors.index.depth", "safetensors.index.whole", "safetensors.index.key",
      "safetensors.index.outside"};  // Hub.LinksOutOfTheDirectoryAreRefused
  for (const StCase& bad : st_reject_cases()) covered.insert(bad.rule);
  for (const StCase& odd : st_tolerated_cases()) covered.insert(odd.rule);
  std::set<std::string> rules = covered;
  for (const auto& entry : std::filesystem::directory_iterator(root / "src/formats/safetensors")) {
    const std::string text = to_text(get_file(entry.path()));
    for (std::size_t at = text.find("\"safetensors."); at != std::string::npos;
         at = text.find("\"safetensors.", at + 1)) {
      const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.", at + 1);
      const std::string rule = text.substr(at + 1, end - at - 1);
      if (std::count(rule.begin(), rule.end(), '.') >= 2 && text[end] == '"' && !rule.ends_with('.'))
        rules.insert(rule);
    }
  }
  const std::string page = to_text(get_file(root / "docs/formats/safetensors.md"));
  EXPECT_GT(rules.size(), 40U);
  for (const std::string& rule : rules) {
    EXPECT_TRUE(covered.contains(rule)) << "no case for " << rule;
    EXPECT_NE(page.find("`" + rule + "`"), std::string::npos) << rule << " is not on the page";
  }
}

}  // namespace
}  // namespace tare
