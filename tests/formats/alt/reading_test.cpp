// Ambiguous ALT files: the layout in which they are read, and what is reported and where.
#include "conformance/alt_cases.hpp"
#include "formats/alt/alt.hpp"
#include "lines.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using alt::FieldWriter;
using alt::SizeForm;

struct Layout {
  SizeForm sizes = SizeForm::all;  // for everything except the tokenizer section
  SizeForm tokenizer = SizeForm::all;
  bool seq_len = true;
};

// A file in the specification's own order with these tokens and nothing else.
Bytes file_of(const std::vector<Token>& tokens, const Layout& layout, std::int32_t seq_len = 0) {
  FieldWriter out;
  const std::size_t start = out.begin_section(alt::kMagic2);
  out.i32(2);
  out.i32(32);
  out.end_section(start, layout.sizes);
  const std::size_t general = out.begin_section(alt::kGeneral);
  for (int i = 0; i < 7; ++i) out.string("");
  out.end_section(general, layout.sizes);
  const std::size_t parameters = out.begin_section(alt::kParameters);
  out.string("");
  out.put<std::uint8_t>(0);
  for (int i = 0; i < 11; ++i) out.i32(0);
  out.end_section(parameters, layout.sizes);
  const std::size_t tokenizer = out.begin_section(alt::kTokenizer);
  out.i32(static_cast<std::int64_t>(tokens.size()));
  for (int i = 0; i < 4; ++i) out.i32(-1);
  if (layout.seq_len) out.i32(seq_len);
  for (const Token& token : tokens) {
    out.string(token.text);
    out.put(token.score);
    out.i32(alt::number_of(token.type, false));
  }
  out.end_section(tokenizer, layout.tokenizer);
  const std::size_t tensors = out.begin_section(alt::kTensors);
  out.put<std::uint64_t>(0);
  out.put<std::uint64_t>(0);
  out.put<std::uint64_t>(0);
  out.end_section(tensors, layout.sizes);
  out.put<std::uint64_t>(alt::kEnd);
  return out.result();
}

Verification verified(const Bytes& file) {
  const Scratch scratch(Scratch::fast_place());
  put_file(scratch / "it", file);
  return verify(scratch / "it", {.work = {.threads = 1}});
}

TEST(AltReading, TokensAreReadInTheLayoutThatTheSizeConfirms) {
  using Tokens = std::vector<Token>;
  const Tokens none, empty_byte = {{"", 0, TokenType::byte}}, empty_bos = {{"", 0, TokenType::bos}},
                     two = {{"", 0, TokenType::bos}, {"", 0, TokenType::byte}}, words = {{"a", -1, TokenType::normal}},
                     tiny_score = {{"a", 1e-45F, TokenType::normal}};
  constexpr SizeForm kForms[] = {SizeForm::fields, SizeForm::fields_and_header, SizeForm::fields_and_padding,
                                 SizeForm::all};
  for (const Tokens& tokens : {none, empty_byte, empty_bos, two, words, tiny_score})
    for (const SizeForm sizes : kForms)
      for (const SizeForm tokenizer : {sizes, SizeForm::fields})
        for (const bool seq_len : {true, false}) {
          SCOPED_TRACE(::testing::Message() << tokens.size() << " tokens, sizes " << static_cast<int>(sizes) << ", "
                                            << static_cast<int>(tokenizer) << (seq_len ? "" : ", no seq_len"));
          const Bytes file = file_of(tokens, {sizes, tokenizer, seq_len});
          const auto error = error_of([&] { open(memory_source(file, "it")); });
          ASSERT_FALSE(error.has_value()) << error->what();
          EXPECT_EQ(open(memory_source(file, "it")).vocabulary.tokens, tokens);
        }
}

TEST(AltReading, AnExplicitHeadSizeIsReadInTheDialectOfTheRest) {
  Model model;
  model.config.hidden_size = 64;
  model.config.num_attention_heads = 4;
  model.config.rope_theta = 1e6;
  model.config.rms_norm_eps = 1e-6;
  model.config.initializer_range = 0.02;
  model.config.tie_word_embeddings = false;
  model.vocabulary.tokens = {{"a", 0, TokenType::normal}, {"b", 0, TokenType::normal}};
  for (const std::int64_t head_dim : {16, 32})
    for (const std::string dialect : {"spec", "altc"})
      for (const bool tokens : {true, false}) {
        SCOPED_TRACE(dialect + " " + std::to_string(head_dim) + (tokens ? "" : ", no tokens"));
        Model written = model;
        written.config.head_dim = head_dim;
        if (!tokens) written.vocabulary = {};
        const Bytes file = write_bytes(*find_format("alt"), written, {.dialect = dialect});
        const Model found = open(memory_source(file, "it"));
        EXPECT_EQ(to_json(found.config.to_map()), to_json(written.config.to_map()));
        EXPECT_TRUE(verified(file).ok(true)) << "a head size of its own is nothing to warn of";
      }
  // Without the number of heads, no head_size can be expected.
  model.config.num_attention_heads.reset();
  model.config.initializer_range.reset();
  model.config.head_dim = 32;
  const Bytes file = write_bytes(*find_format("alt"), model, {.dialect = "altc"});
  EXPECT_EQ(to_json(open(memory_source(file, "it")).config.to_map()), to_json(model.config.to_map()));
}

TEST(AltReading, ANegativeIdIsAbsentAndNamed) {
  for (const char* const format : {"alt", "alt1"})
    for (const AltCase& bad : alt_cases()) {
      if (bad.format != format || !bad.rule.ends_with(".tokenizer.id") || bad.name != "minus_two") continue;
      const Model model = open(memory_source(bad.file, "it"));
      EXPECT_EQ(model.vocabulary.bos, -1);
      EXPECT_NO_THROW(write_bytes(*find_format(format), model));
      const Verification result = verified(bad.file);
      ASSERT_EQ(result.findings.size(), 1U);
      EXPECT_EQ(result.findings[0].sentence, "the bos id is -2: taken as absent");
    }
}

// The offsets of the findings, by rule and name of the case.
TEST(AltReading, FindingsSayWhere) {
  const std::map<std::string, std::uint64_t> places = {{"alt.dialect.mixed/parameters", 160},
                                                       {"alt.dialect.mixed/tokenizer", 256},
                                                       {"alt.tokenizer.seq_len/none", 292},
                                                       {"alt.tokenizer.seq_len_differs/32", 292},
                                                       {"alt.tensors.none/altc", 352},
                                                       {"alt.tensors.none/spec", 352},
                                                       {"alt.dialect.tensors/altc", 352},
                                                       {"alt.parameters.negative/seq_len", 292},
                                                       {"alt.data.nonfinite/codes", 466},
                                                       {"alt.parameters.nonfinite/rms_norm_eps", 217},
                                                       {"alt.parameters.head_size/zero", 225},
                                                       {"alt.parameters.head_size/altc_zero", 213},
                                                       {"alt.general.date/slashes", 67},
                                                       {"alt.general.uuid/a_g", 102},
                                                       {"alt.alignment.other/64", 20},
                                                       {"alt1.parameters.nonfinite/rms_norm_eps", 84},
                                                       {"alt1.parameters.data_type_differs/qint8", 92},
                                                       {"alt1.section.size/another_behind_the_header", 144}};
  std::size_t seen = 0;
  for (const AltCase& bad : alt_cases()) {
    const auto place = places.find(bad.rule + "/" + bad.name);
    if (place == places.end()) continue;
    ++seen;
    SCOPED_TRACE(place->first);
    const Verification result = verified(bad.file);
    const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                    [&](const Finding& f) { return f.rule == bad.rule; });
    ASSERT_NE(found, result.findings.end());
    EXPECT_EQ(found->offset, place->second);
  }
  EXPECT_EQ(seen, places.size());
}

TEST(AltReading, ASecondTensorOfANameIsToldWhereItBegins) {
  Model model;
  model.tensors = {make_dense("a", {1}, DType::f32), make_dense("b", {1}, DType::f32)};
  for (const char* const format : {"alt", "alt1"}) {
    Bytes file = write_bytes(*find_format(format), model);
    const Model sound = open(memory_source(file, "it"));
    const std::uint64_t first_end = sound.tensor("a")->components.begin()->blob.offset() + 4;
    *std::find(file.rbegin(), file.rend(), std::byte{'b'}) = std::byte{'a'};
    const auto error = error_of([&] { open(memory_source(file, "it")); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->offset(), first_end);
  }
}

TEST(AltReading, SentencesNameTheNumbers) {
  const auto sentence = [](std::string_view rule, std::string_view name) -> std::string {
    for (const AltCase& bad : alt_cases()) {
      if (bad.rule != rule || bad.name != name) continue;
      for (const Finding& finding : verified(bad.file).findings)
        if (finding.rule == rule) return finding.sentence;
    }
    return {};
  };
  EXPECT_EQ(sentence("alt.section.size", "altc_tokenizer"), "the tokenizer section: expected a size of 49, found 50");
  EXPECT_EQ(sentence("alt.section.size", "tokenizer_-1"), "the tokenizer section: expected a size of 96, found -1");
  EXPECT_EQ(sentence("alt.data.nonfinite", "codes"), "2 infinite among 8 values");
  EXPECT_EQ(sentence("alt.qint.code", "most_negative"),
            "element 0, byte 466: a code is -127 to 127, found -128 (2 such codes in all)");
}

Model reread(const Model& model, const WriteOptions& options = {}) {
  return open(memory_source(write_bytes(*find_format("alt"), model, options), "it"));
}

TEST(AltReading, ASeqLenOfItsOwnIsKept) {
  const auto file = [](std::int32_t positions, std::int32_t seq_len) {
    Bytes bytes = alt_golden_v2();
    store_le<std::int32_t>(bytes.data() + 193, positions);
    store_le<std::int32_t>(bytes.data() + 292, seq_len);
    return bytes;
  };
  const auto model = [](const Bytes& bytes) { return open(memory_source(bytes, "it")); };
  const auto kept = [](const Model& m) {
    const Value* const value = m.metadata.find("alt.seq_len");
    return value == nullptr ? std::string() : *value->text();
  };
  const Bytes differs = file(512, 99);
  EXPECT_EQ(kept(model(differs)), "99");
  EXPECT_EQ(model(differs).config.max_position_embeddings, 512);
  EXPECT_EQ(write_bytes(*find_format("alt"), model(differs)), differs);
  EXPECT_EQ(kept(model(file(512, 512))), "");
  EXPECT_EQ(kept(model(file(512, 0))), "");
  // Each replaces the other, in reading and in writing.
  EXPECT_EQ(kept(model(file(0, 99))), "");
  EXPECT_EQ(model(file(0, 99)).config.max_position_embeddings, 99);
  Model alone;
  alone.metadata.set("alt.seq_len", "99");
  EXPECT_EQ(reread(alone).config.max_position_embeddings, 99);
}

TEST(AltWriting, TheDialectWithoutASeqLenSaysSo) {
  Model model;
  model.config.max_position_embeddings = 512;
  model.metadata.set("alt.seq_len", "99");
  const auto last = [&](std::string_view dialect) {
    WriteOptions options;
    options.dialect = dialect;
    return to_text(find_format("alt")->remarks(model, options).back());
  };
  EXPECT_EQ(last("altc"), "alt.seq_len is 99 in the source and omitted: the dialect altc has no seq_len");
  EXPECT_EQ(last("").find("seq_len"), std::string::npos);
}

TEST(AltReading, AlignmentIsWhatTheFileSays) {
  for (const AltCase& odd : alt_cases()) {
    if (odd.rule != "alt.alignment.other") continue;
    const Model found = open(memory_source(odd.file, "it")), golden = open(memory_source(alt_golden_v2(), "it"));
    EXPECT_EQ(describe(found), describe(golden)) << odd.name;
    EXPECT_TRUE(found.metadata == golden.metadata && found.config == golden.config) << odd.name;
    EXPECT_EQ(write_bytes(*find_format("alt"), found), alt_golden_v2()) << "written, it is 32 again";
    EXPECT_EQ(verified(odd.file).findings.size(), 1U) << odd.name;
  }
}

TEST(AltReading, TypesThatAltcNumberedAsTheDocumentDoes) {
  for (const AltCase& odd : alt_cases()) {
    if (odd.rule != "alt.token.types") continue;
    std::vector<TokenType> types;
    for (const Token& token : open(memory_source(odd.file, "it")).vocabulary.tokens) types.push_back(token.type);
    EXPECT_EQ(types, (std::vector<TokenType>{TokenType::unknown, TokenType::byte, TokenType::byte, TokenType::normal}));
  }
  // A single token of alt.c's unknown type is the unknown token, even if it looks like a byte.
  Model model;
  model.vocabulary.tokens = {{"<0x00>", 0, TokenType::unknown}, {"<0x01>", 0, TokenType::byte}};
  EXPECT_EQ(reread(model, {.dialect = "altc"}).vocabulary.tokens, model.vocabulary.tokens);
}

TEST(AltWriting, TheDialectAltcHasNoEmptyText) {
  Model model;
  model.vocabulary.tokens = {{"a"}};
  const Bytes file = write_bytes(*find_format("alt"), model, {.dialect = "altc"});
  const std::string text = to_text(file);
  std::size_t unknown = 0;
  for (std::size_t at = text.find("unknown"); at != std::string::npos; at = text.find("unknown", at + 1)) ++unknown;
  EXPECT_EQ(unknown, 7U) << "six texts of the general section and hidden_act; there is a uuid";
  // When read back, it is absent, not a text.
  const Model found = open(memory_source(file, "it"));
  EXPECT_EQ(found.metadata.size(), 1U);
  EXPECT_TRUE(found.config.empty());
  EXPECT_TRUE(verified(file).ok(true));
  EXPECT_EQ(write_bytes(*find_format("alt"), found, {.dialect = "altc"}), file);
  // In the specification's own dialect, "unknown" is an ordinary text.
  model.metadata.set("author", "unknown");
  EXPECT_EQ(*reread(model).metadata.find("author")->text(), "unknown");
}

TEST(AltWriting, WhatAltcWillNotReadIsTold) {
  Model model;
  const auto tells = [&](std::string_view words) {
    return mentions(find_format("alt")->remarks(model, {.dialect = "altc"}), words);
  };
  EXPECT_TRUE(tells("no tokens: alt.c does not read such a file"));
  for (int i = 0; i < 32001; ++i) model.vocabulary.tokens.push_back({std::to_string(i)});
  EXPECT_TRUE(tells("32001 tokens: alt.c reads at most 32000"));
  EXPECT_TRUE(tells("so written as unknown, 0 or -1: "));
  model.vocabulary.tokens.pop_back();
  EXPECT_FALSE(tells("at most 32000"));
}

TEST(AltWriting, DatesAndUuidsThatAreNoneAreCarriedAndTold) {
  Model model;
  model.metadata.set("created_at", "2023-09-20T13:03:50+00:00");  // as alt.c gets it from the hub
  model.metadata.set("uuid", "mine");
  const auto findings = [&](const WriteOptions& options) {
    std::vector<std::string> rules;
    for (const Finding& finding : verified(write_bytes(*find_format("alt"), model, options)).findings)
      if (finding.severity == Severity::warning) rules.push_back(finding.rule);
    return rules;
  };
  EXPECT_EQ(findings({}), (std::vector<std::string>{"alt.general.date", "alt.general.uuid"}));
  EXPECT_EQ(findings({.dialect = "altc"}), (std::vector<std::string>{"alt.general.uuid"}));
  const Lines lines = lines_of(find_format("alt")->remarks(model, {}));
  EXPECT_NE(std::ranges::find(lines, "created_at is \"2023-09-20T13:03:50+00:00\", not a date YYYY-MM-DD"),
            lines.end());
}

TEST(AltWriting, RemarksNameWhatTheSourceLeavesOpen) {
  Model model;
  model.config.hidden_size = 64;
  model.config.rms_norm_eps = 1e-60;
  model.vocabulary.tokens = {{"a", 0, TokenType::normal}};
  model.vocabulary.eos = 0;
  const auto remarks = [&](std::string_view format) { return lines_of(find_format(format)->remarks(model, {})); };
  for (const char* const format : {"alt", "alt1"}) {
    const Lines lines = remarks(format);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(lines[0].ends_with(", bos id, pad id, unk id")) << lines[0];
    EXPECT_EQ(text_of(find_format(format)->remarks(model, {})[0].remedies), format == std::string("alt") ? "set" : "");
    EXPECT_EQ(lines[0].find("tie_word_embeddings") != std::string::npos, format == std::string("alt")) << lines[0];
    EXPECT_EQ(lines[1], "rms_norm_eps is 1e-60 in the source, which is 0 in a float of 32 bits");
  }
  // Version 1 has no fields for them; one token with a score or type is enough.
  const std::string bare = "token scores and types";
  EXPECT_NE(remarks("alt")[0].find(bare), std::string::npos);
  EXPECT_EQ(remarks("alt1")[0].find(bare), std::string::npos);
  model.vocabulary.tokens.push_back({"b", -1, TokenType::normal});
  EXPECT_EQ(remarks("alt")[0].find(bare), std::string::npos);
  model.config.tie_word_embeddings = false;
  EXPECT_EQ(remarks("alt")[0].find("tie_word_embeddings"), std::string::npos);
  model.config.rms_norm_eps = 0;
  EXPECT_EQ(remarks("alt")[1], "rms_norm_eps is 0 in the source, which is read back as absent");
}

}  // namespace
}  // namespace tare
