// The report of what a conversion changed, by importance: only harmless changes may be hidden.
#include "cli/change_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/advice.hpp"

namespace tare::cli {
namespace {

using Lines = std::vector<std::string>;

// "warning: brief" for each, in the order of the report.
Lines told(const std::vector<Change>& changes) {
  Lines lines;
  for (const ReportLine& line : weigh(changes))
    lines.push_back(fmt::format("{}: {}", name_of(line.impact), line.brief));
  return lines;
}

Change widened(std::vector<std::string> names) {
  return {.kind = ChangeKind::widened,
          .impact = Impact::changed,
          .items = std::move(names),
          .before = "bf16",
          .after = "f32"};
}

Change left_out(Impact impact, std::string part, std::vector<std::string> items, std::string why = {}) {
  return {.kind = ChangeKind::left_out,
          .impact = impact,
          .part = std::move(part),
          .items = std::move(items),
          .detail = std::move(why)};
}

TEST(ChangeReport, WarnsFirstAndPutsDetailsLast) {
  EXPECT_EQ(told({{.part = "config.json", .detail = "the key x is not a number"},
                  widened({"a", "b"}),
                  left_out(Impact::detail, "metadata", {"format"}, "it is about the file it stood in"),
                  left_out(Impact::lost, "vocabulary", {"its kind (bpe)", "12 merges"}, "alt cannot hold them"),
                  left_out(Impact::results, "config.json", {"rope_scaling", "logit_scale"},
                           "which may change what the model computes"),
                  left_out(Impact::detail, "config.json", {"architectures"}),
                  {.kind = ChangeKind::overflowed,
                   .impact = Impact::results,
                   .items = {"a", "b", "c"},
                   .after = "f16",
                   .count = 7,
                   .detail = "clamped"}}),
            (Lines{"results: config.json: rope_scaling, logit_scale omitted, which may change what the model computes",
                   "results: 3 tensors with values beyond the largest f16 (7 clamped): a, b, c",
                   "lost: vocabulary: its kind (bpe), 12 merges", "changed: 2 tensors widened from bf16 to f32: a, b",
                   "note: config.json: the key x is not a number",
                   "detail: metadata: format omitted, it is about the file it stood in",
                   "detail: config.json: architectures omitted"}));
}

TEST(ChangeReport, NamesTensorsWhereThereIsRoom) {
  const std::string name(70, 'x');
  EXPECT_EQ(told({widened({"router"})}), Lines{"changed: 1 tensor widened from bf16 to f32: router"});
  EXPECT_EQ(told({widened({name, name})}), Lines{"changed: 2 tensors widened from bf16 to f32"});
  // If it matters which tensors they are, they are always named.
  EXPECT_EQ(told({{.kind = ChangeKind::unfit, .items = {name}, .after = "k4", .detail = "matrices of floats"}}),
            Lines{"note: 1 tensor kept although a rule says k4, which takes matrices of floats: " + name});
}

TEST(ChangeReport, SpellsOptionsWhereTheyBelong) {
  const auto text = [](ChangeKind kind, const Advice& advice) {
    return text_of({.kind = kind, .items = {"a"}, .after = "q4", .detail = "it", .remedies = {advice}});
  };
  EXPECT_EQ(text(ChangeKind::unpacked, {Remedy::compress, ""}), "1 tensor no longer compressed, --zstd compresses: a");
  EXPECT_EQ(text(ChangeKind::left_behind, {Remedy::attach, ""}), "omitted, it (--attach GLOB includes such files)");
  EXPECT_EQ(text(ChangeKind::unsaid, {Remedy::set, ""}),
            "not stated by the input, so written as it: a; --set KEY=TEXT fills them in");
  EXPECT_EQ(text(ChangeKind::kept, {Remedy::decode_first, "f32"}),
            "1 tensor kept: q4 already, which --range does not encode anew; decode with --dtype f32 first: a");
  EXPECT_EQ(text(ChangeKind::remark, {Remedy::list_findings, ""}), "it; `tare verify` lists them");
}

TEST(Advice, EveryRemedyHasWords) {
  for (std::size_t i = 0; name_of(static_cast<Remedy>(i)) != "?"; ++i) {
    const auto remedy = static_cast<Remedy>(i);
    if (remedy == Remedy::weights_only) continue;  // printed together with what it omits
    EXPECT_FALSE(words_for({{remedy, ""}}).empty() && words_for({{remedy, "x"}}).empty()) << name_of(remedy);
  }
}

TEST(Advice, NamesTheOptionThatHelps) {
  static constexpr Option kSkip[] = {{.name = "skip"}};
  static constexpr Verb kSkips = {.name = "skips", .options = kSkip};
  EXPECT_EQ(words_for({}), "");
  EXPECT_EQ(words_for({{Remedy::overwrite, ""}}), "--force replaces it");
  EXPECT_EQ(words_for({{Remedy::overwrite, "directory"}}), "--force replaces its files");
  EXPECT_EQ(words_for({{Remedy::drop, "config"}}), "--drop config omits it");
  EXPECT_EQ(words_for({{Remedy::drop, "attributes"}}), "--drop attributes omits them");
  EXPECT_EQ(words_for({{Remedy::weights_only, ""}, {Remedy::drop, "config"}, {Remedy::drop, "vocabulary"}}),
            "--drop config --drop vocabulary omits them, and so does --weights-only");
  EXPECT_EQ(words_for({{Remedy::weights_only, ""}, {Remedy::drop, "vocabulary"}, {Remedy::drop, "attachments"}}),
            "--drop vocabulary --drop attachments omits them, --weights-only omits the config too");
  EXPECT_EQ(words_for({{Remedy::clip, ""}, {Remedy::use_method, "int8"}, {Remedy::keep, ""}}),
            "--clip MIN,MAX limits it, --quant int8 holds it, --keep GLOB keeps the tensor as it is");
  EXPECT_EQ(words_for({{Remedy::skip, "a{}b"}}), "`tare convert --skip 'a{}b'` omits it") << "names are no patterns";
  EXPECT_EQ(words_for({{Remedy::skip, "a"}}, &kSkips), "--skip 'a' omits it") << "a verb that has the option";
  // Pasted into a shell, the advice means this name and nothing else.
  EXPECT_EQ(words_for({{Remedy::skip, "w'; rm x; '"}}, &kSkips), R"(--skip 'w'\''; rm x; '\''' omits it)");
  EXPECT_EQ(words_for({{Remedy::skip, "a\nb"}}, &kSkips), "--skip omits tensors");
  EXPECT_EQ(words_for({{Remedy::restore_leftover, "d/.tare-1/new d/"}}),
            "`tare convert d/.tare-1/new d/ --force` puts it here");
  EXPECT_EQ(words_for({{Remedy::restore_leftover, "a b; c/.tare-1/new a b; c/"}}),
            "`tare convert 'a b; c/.tare-1/new' 'a b; c/' --force` puts it here");
  EXPECT_EQ(advised("exists already", {{Remedy::overwrite, ""}}), "exists already; --force replaces it");
  EXPECT_EQ(advised("is bad", {}), "is bad");
}

// Every option in the advice is one of the current verb, or the verb that has it is named.
TEST(Advice, NamesNoOptionThatTheVerbDoesNotHave) {
  static constexpr Option kForce[] = {{.name = "force"}};
  static constexpr Verb kBare = {.name = "bare", .options = kForce};
  for (std::size_t i = 0; name_of(static_cast<Remedy>(i)) != "?"; ++i)
    for (const std::string argument : {"", "x", "*"}) {
      const auto remedy = static_cast<Remedy>(i);
      // These follow from an option that was given.
      if (remedy == Remedy::use_method || remedy == Remedy::no_range || remedy == Remedy::decode_first) continue;
      const std::string words = words_for({{remedy, argument}}, &kBare);
      const std::size_t at = words.find("--");
      EXPECT_TRUE(at == std::string::npos || words.substr(at).starts_with("--force") ||
                  words.substr(0, at).find("`tare ") != std::string::npos)
          << words;
    }
  EXPECT_EQ(words_for({{Remedy::cast, "f32"}}, &kBare), "`tare convert --dtype f32` casts tensors");
  EXPECT_EQ(words_for({{Remedy::drop, "config"}}, &kBare), "`tare convert --drop config` omits it");
}

TEST(Advice, IsInTheLineOfAnError) {
  Error error(ErrorKind::usage, "io.sink.exists", "exists already");
  error.in("m.zt").blame(Subject::output).remedy(Remedy::overwrite);
  EXPECT_EQ(error_line(error), "tare: m.zt: exists already; --force replaces it (io.sink.exists)");
  EXPECT_EQ(exit_code_of(error), kFailed) << "the files that are there, not the command line";
  EXPECT_EQ(exit_code_of(Error(ErrorKind::usage, "io.sink.exists", "by its name only")), kUsage);
}

TEST(Advice, ANameStaysInsideOfItsQuotes) {
  const std::string words = words_for({{Remedy::skip, "w'; touch x; '"}});
  EXPECT_NE(words.find("--skip 'w'\\''; touch x; '\\'''"), std::string::npos) << words;
}

}  // namespace
}  // namespace tare::cli
