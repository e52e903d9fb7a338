// Every rule of MCF has a file that breaks it.
#include <set>

#include "conformance/mcf_cases.hpp"
#include "conformance/models.hpp"
#include "tare/formats/mcf.hpp"

namespace tare {
namespace {

using namespace tare::testing;

TEST(McfRules, TheGoodFilesAreGood) {
  const Scratch scratch(Scratch::fast_place());
  for (const mcf_bytes::File& file : {mcf_good(), mcf_good_q8()}) {
    put_file(scratch / "f.mcf", bytes_of(file));
    const Verification result = verify(scratch / "f.mcf");
    EXPECT_TRUE(result.ok(true)) << result.findings[0].rule << result.findings[0].sentence;
  }
}

TEST(McfRules, RefusedOnOpen) {
  for (const McfCase& bad : mcf_open_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    const auto error = error_of([&] { open(memory_source(bad.file, "f.mcf"), {.limits = bad.limits}); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), bad.rule) << error->what();
    EXPECT_EQ(error->file(), "f.mcf");
    ASSERT_TRUE(error->offset().has_value()) << error->what();
    EXPECT_LE(*error->offset(), bad.file.size());
    EXPECT_FALSE(error->sentence().empty());
  }
}

TEST(McfRules, AnotherMagic) {
  const Format& format = *find_format("mcf");
  for (const std::string& text : {std::string(), std::string("MC"), std::string(100, 'M')})
    EXPECT_EQ(rule_of([&] { format.read({"f", memory_source(to_bytes(text))}, {}); }), "mcf.magic");
}

// The same files through `verify`: a finding with the same rule, never an exception.
TEST(McfRules, RefusedFilesAreFindings) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f.mcf";
  for (const McfCase& bad : mcf_open_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    put_file(path, bad.file);
    for (const Access access : {Access::mapped, Access::pread}) {
      const Verification result = verify(path, {.access = access, .limits = bad.limits});
      EXPECT_FALSE(result.ok(false));
      EXPECT_EQ(result.format, "mcf");
      const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                      [&](const Finding& f) { return f.rule == bad.rule; });
      ASSERT_NE(found, result.findings.end()) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
      EXPECT_EQ(found->severity, Severity::error);
      EXPECT_EQ(found->file, path);
      EXPECT_TRUE(found->offset.has_value());
    }
  }
}

TEST(McfRules, ToleratedFormsAreReadAndTold) {
  const Scratch scratch(Scratch::fast_place());
  const std::string path = scratch / "f.mcf";
  for (const McfCase& odd : mcf_verify_cases()) {
    SCOPED_TRACE(odd.rule + " / " + odd.name);
    put_file(path, odd.file);
    for (const Access access : {Access::mapped, Access::pread}) {
      EXPECT_EQ(rule_of([&] { open(path, {.access = access}); }), "");
      const Verification result = verify(path, {.access = access});
      EXPECT_TRUE(result.ok(false));
      const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                      [&](const Finding& f) { return f.rule == odd.rule; });
      ASSERT_NE(found, result.findings.end()) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
      const bool note =
          odd.rule.ends_with(".unknown") || odd.rule == "mcf.version.other" || odd.rule == "mcf.directory.first";
      EXPECT_EQ(found->severity, note ? Severity::note : Severity::warning);
      EXPECT_EQ(found->file, path);
    }
  }
}

// One broken tensor does not hide the others.
TEST(McfRules, VerifyGoesOnBehindABadEntry) {
  const Scratch scratch(Scratch::fast_place());
  mcf_bytes::File file = mcf_good();
  file.tensors.push_back({"c", 6, {2}, "12", {}});
  file.tensors[0].lies["dtype"] = 0;
  file.tensors[2].lies["reserved"] = 1;
  put_file(scratch / "f.mcf", bytes_of(file));
  const Verification result = verify(scratch / "f.mcf");
  EXPECT_EQ(result.tensors, 1U);
  EXPECT_EQ(result.count(Severity::error), 2U);
  // Their bytes do not count as padding.
  EXPECT_EQ(result.count(Severity::warning), 0U) << result.findings.back().sentence;
}

TEST(McfRules, ARecordOfAPlainTensorIsToldAsThat) {
  mcf_bytes::File file = mcf_good();
  file.records = {{.tensor = 1, .method = 0x20}};
  const auto error = error_of([&] { open(memory_source(bytes_of(file))); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "mcf.quantinfo.method");
  EXPECT_EQ(error->sentence(), "a record of method 0x20 for a tensor that is not quantized (type 0x6)");
}

TEST(McfRules, FindingsInsideAPayloadSayWhere) {
  const Scratch scratch(Scratch::fast_place());
  Model model;
  model.tensors = {make_dense("before", {77}, DType::u8), make_dense("w", {3, 300}, DType::f32)};
  EncodeOptions options;
  options.method = "k4";
  model.tensors[1] = find_codec("mcf.k4")->encode(model.tensors[1], options);
  Bytes file = write_bytes(*find_format("mcf"), model);
  const std::uint64_t payload = open(memory_source(file)).tensors[1].components[0].blob.offset();
  file.at(static_cast<std::size_t>(payload + 64 + 17)) = std::byte{0xFF};  // one of 30 sub-scales
  put_file(scratch / "f.mcf", file);
  const Verification result = verify(scratch / "f.mcf");
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].rule, "mcf.quant.sub_scale");
  EXPECT_EQ(result.findings[0].offset, payload + 64 + 17);
}

// A file written without clipping bounds, because there were none, gets no warning.
TEST(McfRules, AFileWithoutQuantInfoIsWrittenWithoutWarnings) {
  const Scratch scratch(Scratch::fast_place());
  mcf_bytes::File file = mcf_good_q8();
  file.records.clear();
  put_file(scratch / "in.mcf", bytes_of(file));
  convert(scratch / "in.mcf", scratch / "out.mcf");
  EXPECT_FALSE(verify(scratch / "in.mcf").ok(true));
  EXPECT_TRUE(verify(scratch / "out.mcf").ok(true));
}

// Rules that other tests break, because they need writing, a request for sections, or another magic.
const std::set<std::string> kElsewhere = {"mcf.magic",      "mcf.require",          "mcf.write.limit",
                                          "mcf.write.name", "mcf.write.duplicate",  "mcf.write.layout",
                                          "mcf.write.rank", "mcf.write.components", "mcf.write.quant"};
// Metadata keys and layouts whose names look like rules.
const std::set<std::string> kNoRules = {
    "mcf.model_name", "mcf.base_model", "mcf.arch", "mcf.train_context", "mcf.rope_type", "mcf.rope_scale", "mcf.minor",
    "mcf.flags",      "mcf.header",     "mcf.int8", "mcf.int4",          "mcf.q8",        "mcf.q4",         "mcf.k6",
    "mcf.k4",         "mcf.k3",         "mcf.k2"};

TEST(McfRules, NoRuleIsWithoutACase) {
  const std::filesystem::path source = std::filesystem::path(TARE_TEST_DIR) / "../src/formats/mcf";
  std::set<std::string> rules;
  for (const auto& entry : std::filesystem::directory_iterator(source)) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = to_text(get_file(entry.path().string()));
    for (std::size_t at = text.find("\"mcf."); at != std::string::npos; at = text.find("\"mcf.", at + 1)) {
      const std::string word = text.substr(at + 1, text.find('"', at + 1) - at - 1);
      const bool is_rule = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string::npos;
      if (is_rule && !word.ends_with('.') && !kNoRules.contains(word)) rules.insert(word);
    }
  }
  EXPECT_GT(rules.size(), 60U);
  std::set<std::string> covered = kElsewhere;
  for (const McfCase& bad : mcf_open_cases()) covered.insert(bad.rule);
  for (const McfCase& odd : mcf_verify_cases()) covered.insert(odd.rule);
  for (const std::string& rule : rules) EXPECT_TRUE(covered.contains(rule)) << "no case for " << rule;
  const std::string page = to_text(get_file(source / "../../../docs/formats/mcf.md"));
  rules.merge(covered);
  for (const std::string& rule : rules)
    EXPECT_NE(page.find("`" + rule + "`"), std::string::npos) << rule << " is not in docs/formats/mcf.md";
}

}  // namespace
}  // namespace tare
