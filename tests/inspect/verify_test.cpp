// verify, on models made in memory (the data check) and on files.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/error_runs.hpp"
#include "inspect/data_check.hpp"
#include "inspect/models.hpp"
#include "inspect/scan.hpp"
#include "tare/convert.hpp"
#include "tare/stop.hpp"

namespace tare {
namespace {

using namespace tare::test;
using inspect::scan;
using inspect::scan_kind;

TEST(InspectScan, EveryKnownLogicalTypeIsScanned) {
  for (const LogicalType& type : known_logical_types()) EXPECT_TRUE(scan_kind(type.storage, type.name)) << type.name;
  EXPECT_FALSE(scan_kind(DType::f32, "somebody's"));
}

// One odd element anywhere, across the borders of the blocks that the scan uses.
TEST(InspectScan, OneAmongMany) {
  for (const std::size_t at : {0u, 1u, 4095u, 4096u, 9998u}) {
    std::vector<float> f32(9999, -3.4e38f);
    std::vector<double> f64(9999, 1.7e308);
    std::vector<std::uint8_t> flags(9999, 1);
    f32[at] = -INFINITY;
    f64[at] = -std::numeric_limits<double>::quiet_NaN();
    flags[at] = 2;
    EXPECT_EQ(scan(kind_of(DType::f32), bytes_of(f32)).inf, 1u);
    EXPECT_EQ(scan(kind_of(DType::f32), bytes_of(f32)).nan, 0u);
    EXPECT_EQ(scan(kind_of(DType::f64), bytes_of(f64)).nan, 1u);
    EXPECT_EQ(scan(kind_of(DType::f64), bytes_of(f64)).inf, 0u);
    EXPECT_EQ(scan(kind_of(DType::boolean), bytes_of(flags)).not_boolean, 1u);
  }
}

std::vector<std::string> texts(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& f : findings)
    out.push_back(std::string(name_of(f.severity)) + " " + f.rule + " " + f.item + ": " + f.sentence);
  return out;
}

std::vector<std::string> rules(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& f : findings) out.push_back(std::string(name_of(f.severity)) + " " + f.rule + " " + f.item);
  return out;
}

using Texts = std::vector<std::string>;

std::vector<Finding> check(Model model, unsigned threads = 2, Progress* progress = nullptr) {
  model.format = "zt";
  return inspect::check_data(model, threads, progress);
}

Blob with_digest(Bytes bytes, const Digest& digest) {
  const std::uint64_t size = bytes.size();
  return Blob::range(memory_source(std::move(bytes)), 0, size, digest);
}

TEST(InspectVerify, NothingToSayAboutGoodData) {
  Model model = model_of(vector_of<float>("t", DType::f32, {1, 2, 3}));
  model.tensors.push_back(vector_of<std::uint8_t>("flags", DType::boolean, {0, 1}));
  model.tensors.push_back(tensor_of<float>("none", {0}, DType::f32, {}));
  model.tensors.push_back(csr("s", {2, 3}, {1.5f, -2.0f}, {0, 2}, {0, 1, 2}));
  model.attachments.push_back({"a", Blob::memory(Bytes(5))});
  Progress progress;
  EXPECT_EQ(texts(check(model, 2, &progress)), Texts{});
  EXPECT_EQ(progress.done(), 12u + 2 + model.tensors[3].bytes() + 5);
}

TEST(InspectVerify, NonfiniteValuesAreOneWarningATensor) {
  const auto findings = check(model_of(vector_of<float>("t", DType::f32, {1, NAN, INFINITY, -INFINITY, 0})));
  EXPECT_EQ(texts(findings), (Texts{"warning zt.data.nonfinite tensor t: 1 NaN and 2 infinite among 5 values"}));
  EXPECT_EQ(texts(check(model_of(csr("s", {1, 2}, {NAN}, {0}, {0, 1})))),
            (Texts{"warning zt.data.nonfinite tensor s: 1 NaN among 1 values"}));
}

TEST(InspectVerify, BooleansAsTheCodecSays) {
  const Tensor tensor = vector_of<std::uint8_t>("t", DType::boolean, {0, 1, 7, 1, 255});
  Texts expected;
  find_codec("dense")->verify(
      tensor, [&](const Problem& p) { expected.push_back("error zt." + p.rule + " tensor t: " + p.sentence); });
  ASSERT_EQ(expected.size(), 1u);
  EXPECT_EQ(texts(check(model_of(tensor))), expected);
}

TEST(InspectVerify, RulesOfTheCodecs) {
  EXPECT_EQ(rules(check(model_of(csr("s", {2, 3}, {1, 2}, {0, 9}, {0, 1, 2})))),
            (Texts{"error zt.csr.column tensor s"}));
  Tensor wrong_size = vector_of<float>("t", DType::f32, {1, 2});
  wrong_size.shape = {3};
  EXPECT_EQ(rules(check(model_of(wrong_size))), (Texts{"error zt.dense.size tensor t"}));
}

TEST(InspectVerify, UnknownLayoutIsANote) {
  Tensor odd = vector_of<float>("t", DType::f32, {1, NAN});
  odd.layout = "nobody.knows";
  EXPECT_EQ(rules(check(model_of(odd))),
            (Texts{"note zt.layout.unknown tensor t", "warning zt.data.nonfinite tensor t"}));
}

TEST(InspectVerify, DigestsInOnePassAndApart) {
  for (const std::size_t size : {std::size_t{100}, (std::size_t{64} << 20) + 8}) {  // fused, and too large for that
    const Bytes bytes(size);
    const Digest right = digest_of(DigestAlgorithm::crc32c, bytes);
    const Digest wrong = digest_of(DigestAlgorithm::crc32c, Bytes(3));
    EXPECT_EQ(texts(check(model_of(dense("t", {size}, DType::u8, with_digest(bytes, right))))), Texts{});
    EXPECT_EQ(rules(check(model_of(dense("t", {size}, DType::u8, with_digest(bytes, wrong))))),
              (Texts{"error digest.mismatch tensor t"}));
  }
}

TEST(InspectVerify, DigestOfUnknownAlgorithmIsAWarning) {
  const Blob blob = with_digest(Bytes(4), *Digest::parse("md9:1234"));
  const auto findings = check(model_of(dense("t", {4}, DType::u8, blob)));
  EXPECT_EQ(rules(findings), (Texts{"warning zt.digest.unknown tensor t"}));
  EXPECT_NE(findings[0].sentence.find("md9:1234"), std::string::npos);
}

TEST(InspectVerify, CompressedBytesAreDecodedToTheEnd) {
  const Bytes bytes = bytes_of(weights(3'000'000));
  EXPECT_EQ(texts(check(model_of(dense("t", {3'000'000}, DType::f32, packed(bytes))))), Texts{});

  Blob good = packed(bytes);
  Bytes stored(static_cast<std::size_t>(good.stored_size()));
  good.source()->read(0, stored);
  for (const std::uint64_t size : {bytes.size() - 4, bytes.size() + 4}) {
    const auto findings =
        check(model_of(dense("t", {size / 4}, DType::f32, Blob::zstd(memory_source(stored), 0, stored.size(), size))));
    EXPECT_EQ(rules(findings), (Texts{size < bytes.size() ? "error zstd.long tensor t" : "error zstd.short tensor t"}));
  }
  const Blob cut =
      Blob::zstd(memory_source(Bytes(stored.begin(), stored.end() - 1)), 0, stored.size() - 1, bytes.size());
  EXPECT_EQ(check(model_of(dense("t", {3'000'000}, DType::f32, cut))).size(), 1u);
  stored.assign(64, std::byte{0x11});
  const Blob rubbish = Blob::zstd(memory_source(stored), 0, stored.size(), 0);
  EXPECT_EQ(rules(check(model_of(dense("t", {0}, DType::f32, rubbish)))), (Texts{"error zstd.frame tensor t"}));
}

TEST(InspectVerify, ComponentsAndAttachmentsAreNamed) {
  Model model = model_of(csr("s", {2, 3}, {1, 2}, {0, 2}, {0, 1, 2}));
  model.tensors[0].components[0].blob =
      with_digest(bytes_of<float>({1, 2}), digest_of(DigestAlgorithm::sha256, Bytes(1)));
  model.attachments.push_back({"x", with_digest(Bytes(3), digest_of(DigestAlgorithm::xxh3, Bytes(1)))});
  const auto findings = check(model);
  EXPECT_EQ(rules(findings), (Texts{"error digest.mismatch tensor s", "error digest.mismatch attachment x"}));
  EXPECT_EQ(findings[0].sentence.find("component \"values\": "), 0u);
}

// Both the scan and the codec's rules find it.
TEST(InspectVerify, TroubleIsToldOnce) {
  Model model = model_of(csr("s", {2, 3}, {1, 2}, {0, 2}, {0, 1, 2}));
  model.tensors[0].components[2].blob = Blob::zstd(memory_source(Bytes(8)), 0, 8, 24);
  EXPECT_EQ(rules(check(model)), (Texts{"error zstd.frame tensor s"}));
}

TEST(InspectVerify, SameReportForAllThreads) {
  Model model;
  for (int i = 0; i < 60; ++i) {
    const std::string name = fmt::format("t{}", i);
    if (i % 4 == 0)
      model.tensors.push_back(vector_of<float>(name, DType::f32, std::vector<float>(100 + 7000 * i % 9999, NAN)));
    if (i % 4 == 1) model.tensors.push_back(vector_of<std::uint8_t>(name, DType::boolean, {1, 2, 3}));
    if (i % 4 == 2) model.tensors.push_back(csr(name, {2, 3}, {1, 2}, {0, 9}, {0, 1, 2}));
    if (i % 4 == 3)
      model.tensors.push_back(dense(name, {6}, DType::f32, Blob::zstd(memory_source(Bytes(8)), 0, 8, 24)));
  }
  const Texts expected = texts(check(model, 1));
  EXPECT_GE(expected.size(), 60u);
  for (const unsigned threads : {2u, 8u}) EXPECT_EQ(texts(check(model, threads)), expected);
}

// Being stopped is not a finding, neither while opening nor while reading data.
TEST(InspectVerify, AStoppedOneThrows) {
  const ScratchDirectory scratch;
  write_zt(model_of(vector_of<float>("t", DType::f32, {1, 2, 3})), scratch.file("m.zt"), {});
  Stop stop;
  stop.ask();
  const Stoppable here(stop);
  try {
    (void)verify(scratch.file("m.zt"));
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "work.stopped");
  }
}

TEST(InspectVerify, GoodFile) {
  const ScratchDirectory scratch;
  Model model = model_of(vector_of("w", DType::f32, weights(5'000'000)));
  model.tensors.push_back(csr("s", {2, 3}, {1.5f, -2.0f}, {0, 2}, {0, 1, 2}));
  const WriteOptions raw = writing({}, DigestAlgorithm::sha256), zstd = writing(1, DigestAlgorithm::crc32c);
  for (const WriteOptions& write : {raw, zstd})
    for (const Access access : {Access::mapped, Access::pread}) {
      write_zt(model, scratch.file("m.zt"), write);
      Progress progress;
      ReadOptions options;
      options.access = access;
      options.work.progress = &progress;
      const Verification result = verify(scratch.file("m.zt"), options);
      EXPECT_EQ(texts(result.findings), Texts{});
      EXPECT_TRUE(result.ok(true));
      EXPECT_EQ(result.format, "zt");
      EXPECT_EQ(result.version, "1.2.0");
      EXPECT_EQ(result.tensors, 2u);
      EXPECT_EQ(result.bytes, model.tensors[0].bytes() + model.tensors[1].bytes());
      EXPECT_EQ(progress.done(), result.bytes);
    }
}

TEST(InspectVerify, FlippedBitInData) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("m.zt");
  write_zt(model_of(vector_of<float>("w", DType::f32, {1, 2, 3, 4})), path, writing({}, DigestAlgorithm::sha256));
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(64);
    file.put('\x01');
  }
  const Verification result = verify(path);
  ASSERT_EQ(rules(result.findings), (Texts{"error digest.mismatch tensor w"}));
  EXPECT_EQ(result.findings[0].file, path);
  EXPECT_EQ(result.findings[0].offset, 64u);
  EXPECT_EQ(result.count(Severity::error), 1u);
  EXPECT_FALSE(result.ok(false));
}

// Rules about data have the name of the format in which they are found.
TEST(InspectVerify, AnotherFormat) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("m.npz");
  write_as("npz", model_of(vector_of<float>("w", DType::f32, {1, NAN, 3, 4})), path);
  const Verification result = verify(path);
  EXPECT_EQ(rules(result.findings), (Texts{"warning npz.data.nonfinite tensor w"}));
  ASSERT_TRUE(result.findings[0].offset.has_value());
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(*result.findings[0].offset));
    file.put('\x01');
  }
  EXPECT_EQ(verify(path).count(Severity::error), 1u);
}

TEST(InspectVerify, WarningsFailOnlyWhenStrict) {
  const ScratchDirectory scratch;
  write_zt(model_of(vector_of<float>("w", DType::f32, {1, NAN})), scratch.file("m.zt"));
  const Verification result = verify(scratch.file("m.zt"));
  EXPECT_EQ(rules(result.findings), (Texts{"warning zt.data.nonfinite tensor w"}));
  EXPECT_EQ(result.findings[0].offset, 64u);
  EXPECT_TRUE(result.ok(false));
  EXPECT_FALSE(result.ok(true));
}

void write_text(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

TEST(InspectVerify, WhatCannotBeReadIsAFinding) {
  const ScratchDirectory scratch;
  const auto rule = [&](const std::string& path) {
    const Verification result = verify(path);
    EXPECT_FALSE(result.ok(false));
    EXPECT_EQ(result.findings.size(), 1u);
    EXPECT_EQ(result.findings.at(0).file, path);
    EXPECT_EQ(result.format, "");
    return result.findings.at(0).rule;
  };
  EXPECT_EQ(rule(scratch.file("missing")), "io.open.missing");
  EXPECT_EQ(rule(scratch.file(".")), "open.directory");
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(rule(scratch.file("pipe")), "io.open.not_a_file");
  write_text(scratch.file("empty"), "");
  EXPECT_EQ(rule(scratch.file("empty")), "open.unrecognized");
  write_text(scratch.file("page"), "<!DOCTYPE html><html>");
  EXPECT_EQ(rule(scratch.file("page")), "open.unrecognized");
  if (::geteuid() != 0) {  // root may read everything
    write_text(scratch.file("secret"), "x");
    ASSERT_EQ(::chmod(scratch.file("secret").c_str(), 0), 0);
    EXPECT_EQ(rule(scratch.file("secret")), "io.open.refused");
  }
}

TEST(InspectVerify, CutOffFileKeepsItsFormat) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("m.zt");
  write_zt(model_of(vector_of<float>("w", DType::f32, {1, 2, 3, 4})), path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const Verification result = verify(path);
  EXPECT_EQ(result.format, "zt");
  EXPECT_GE(result.count(Severity::error), 1u);
}

// In a truncated file, every tensor after the end breaks the same rule.
TEST(Verify, ATruncatedFileIsAFewFindings) {
  const ScratchDirectory scratch;
  std::size_t containers = 0;
  for (const Format& format : formats()) {
    if (format.write == nullptr || !format.holds.many_tensors || !format.holds.architecture.empty()) continue;
    Model model;
    for (int i = 0; i < 90; ++i)
      model.tensors.push_back(
          tensor_of(fmt::format("blk.{}.attn_q.weight", i), Shape{4, 32}, DType::f32, std::vector<float>(128, 1.5F)));
    const std::string path = scratch.file(fmt::format("whole.{}", format.name));
    save(model, path, {.to = std::string(format.name)});
    ++containers;
    const std::uint64_t size = std::filesystem::file_size(path);
    for (const double part : {0.3, 0.5, 0.9, 0.999}) {
      const std::string cut = scratch.file(fmt::format("cut.{}", format.name));
      std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
      std::filesystem::resize_file(cut, static_cast<std::uint64_t>(part * static_cast<double>(size)));
      const Verification result = verify(cut);
      EXPECT_FALSE(result.ok(false)) << format.name;
      EXPECT_LE(result.findings.size(), 4U) << format.name << " " << part;
      std::uint64_t counted = 0;
      for (const Finding& finding : result.findings) {
        counted += finding.count;
        EXPECT_EQ(finding.count > 1, !finding.last.empty());
        if (finding.count > 1) {
          EXPECT_NE(finding.sentence.find(finding.last), std::string::npos) << finding.sentence;
        }
      }
      EXPECT_EQ(result.count(Severity::error), counted) << format.name;
    }
  }
  EXPECT_GE(containers, 5U);
}

// Up to three are reported separately; another rule in between starts a new group.
TEST(Verify, TensorsInARowThatBreakOneRuleAreOneFinding) {
  const auto error = [](std::string_view rule, int tensor) {
    return Error(ErrorKind::corrupt, rule, "is wrong").in("f").at(7).about(fmt::format("tensor t{}", tensor));
  };
  const auto lines = [&](const std::vector<Error>& errors) {
    Texts out;
    for (const Error& one : runs_summed_up(errors)) out.emplace_back(one.what());
    return out;
  };
  EXPECT_EQ(lines({}), Texts{});
  EXPECT_EQ(lines({error("a.b", 1), error("a.b", 2), error("a.b", 3)}).size(), 3U);
  EXPECT_EQ(lines({error("a.b", 1), error("a.b", 2), error("a.b", 3), error("a.b", 4)}),
            Texts{"f: tensor t1: is wrong; 3 more break the same rule, the last is tensor t4 (a.b, byte 7)"});
  EXPECT_EQ(lines({error("a.b", 1), error("a.b", 2), error("a.c", 3), error("a.b", 4), error("a.b", 5)}).size(), 5U);
}

// A container that keeps a config and a vocabulary next to the files that describe them.
TEST(Verify, FilesThatDifferFromTheConfigOrTheVocabulary) {
  const auto file = [](const char* name, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return Attachment{name, Blob::memory(Bytes(bytes.begin(), bytes.end()))};
  };
  Model model;
  model.tensors.push_back(dense<float>("a", {1}, std::vector<float>{1}));
  model.config.rms_norm_eps = 1e-5F;  // as a container with 32 bits has it
  model.config.rope_theta = 10000;
  model.vocabulary.kind = "bpe";
  model.vocabulary.tokens = {{"a"}, {"b"}, {"[PAD2]", 0, TokenType::unused}};
  model.vocabulary.eos = 1;
  model.attachments = {file("config.json", R"({"rms_norm_eps":1e-5,"hidden_size":8})"),
                       file("tokenizer.json", R"({"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})"),
                       file("tokenizer_config.json", R"({"eos_token":"b","bos_token":"a"})")};
  const auto found = [&] {
    const ScratchDirectory scratch;
    static_cast<void>(save(model, scratch.file("m.zt")));
    return texts(verify(scratch.file("m.zt")).findings);
  };
  EXPECT_EQ(found(), std::vector<std::string>());
  model.config.rope_theta = 10000;
  model.attachments[0] = file("config.json", R"({"rms_norm_eps":1e-5,"rope_theta":5})");
  EXPECT_EQ(found(),
            (std::vector<std::string>{
                "warning config.differs attachment config.json: its rope_theta is 5.0, but that of the model's "
                "config is 10000.0; programs that read the file differ from those that read the config"}));
  model.config.rope_theta = 5;
  const auto differs = [&](const std::string& what) {
    const std::vector<std::string> all = found();
    return all.size() == 1 &&
           all.front().find("tokenizer.differs attachment tokenizer.json: its " + what + ",") != std::string::npos;
  };
  model.attachments[2] = file("tokenizer_config.json", R"({"eos_token":"a"})");
  EXPECT_TRUE(differs("id of the eos token is 0"));
  model.attachments[2] = file("tokenizer_config.json", "{}");
  model.attachments[1] = file("tokenizer.json", R"({"model":{"type":"BPE","vocab":{"a":0,"c":1},"merges":[]}})");
  EXPECT_TRUE(differs("token 1 is \"c\""));
  model.attachments[1] =
      file("tokenizer.json", R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2,"d":3},"merges":[]}})");
  EXPECT_TRUE(differs("token 3 is \"d\""));
  model.vocabulary.merges = {"a b"};
  model.attachments[1] = file("tokenizer.json", R"({"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":["b a"]}})");
  EXPECT_TRUE(differs("merge 0 is \"b a\""));
}

}  // namespace
}  // namespace tare
