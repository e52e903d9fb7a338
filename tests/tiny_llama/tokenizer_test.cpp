#include "tiny_llama/tokenizer.hpp"

#include "conformance/scratch.hpp"
#include "tiny_llama/tokenizer_files.hpp"

namespace tiny_llama {
namespace {

using namespace tare::testing;
using testing::tokenizer_of;
using Tokens = std::vector<std::int32_t>;

std::string problem(const std::string& vocab, const std::string& merges) {
  const auto error = error_of([&] { tokenizer_of(vocab, merges); });
  return error ? error->rule() + ": " + error->sentence() : "";
}

TEST(BytePairTokenizer, MergesByRankNotByPlace) {
  // "abc": b c has a better rank than a b, although it comes later in the text.
  const auto tokenizer = tokenizer_of("a\nb\nc\nab\nbc\nabc\n", "b c\na b\na bc\n");
  EXPECT_EQ(tokenizer.encode("abc"), (Tokens{5}));
  EXPECT_EQ(tokenizer.encode("ab"), (Tokens{3}));
  EXPECT_EQ(tokenizer.encode("abab"), (Tokens{3, 3}));
  EXPECT_EQ(tokenizer.encode("cab"), (Tokens{2, 3}));
  EXPECT_EQ(tokenizer.encode(""), Tokens{});
  EXPECT_EQ(tokenizer.size(), 6U);
  EXPECT_EQ(tokenizer.find("bc"), 4);
  EXPECT_EQ(tokenizer.find("cb"), std::nullopt);
}

TEST(BytePairTokenizer, EqualPairsAreMergedFromTheLeft) {
  const auto tokenizer = tokenizer_of("a\naa\naaaa\n", "a a\naa aa\n");
  EXPECT_EQ(tokenizer.encode("aaa"), (Tokens{1, 0}));
  EXPECT_EQ(tokenizer.encode("aaaaa"), (Tokens{2, 0}));
  EXPECT_EQ(tokenizer.encode(std::string(4096, 'a')), Tokens(1024, 2));
}

TEST(BytePairTokenizer, PlainTokensAreCharactersOfAnyLength) {
  const auto tokenizer = tokenizer_of("h\n\xC3\xA9\n \n\xF0\x9F\x98\x80\nh\xC3\xA9\n", "h \xC3\xA9\n");
  EXPECT_EQ(tokenizer.encode("h\xC3\xA9 \xF0\x9F\x98\x80"), (Tokens{4, 2, 3}));
  EXPECT_EQ(tokenizer.decode(Tokens{4, 2, 3}), "h\xC3\xA9 \xF0\x9F\x98\x80");
}

TEST(BytePairTokenizer, ByteLevel) {
  const std::string vocab = "l\no\nlo\n\xC4\xA0\n\xC4\xA0lo\n\xC3\x83\n\xC2\xA9\n\xC4\x8A\n";  // l o lo Ġ Ġlo Ã © Ċ
  const auto tokenizer = tokenizer_of(vocab, "#version: 0.2\nl o\n\xC4\xA0 lo\n");
  EXPECT_EQ(tokenizer.encode("lo lo"), (Tokens{2, 4}));
  EXPECT_EQ(tokenizer.encode("lo  lo"), (Tokens{2, 3, 4}));
  EXPECT_EQ(tokenizer.encode("\xC3\xA9\n"), (Tokens{5, 6, 7})) << "bytes, not characters";
  EXPECT_EQ(tokenizer.decode(Tokens{2, 4, 5, 6, 7}), "lo lo\xC3\xA9\n");
}

TEST(BytePairTokenizer, SpacesAsBlocks) {
  const auto tokenizer = tokenizer_of(
      "<unk>\n\xE2\x96\x81\na\n\xE2\x96\x81"
      "a\n",
      "\xE2\x96\x81 a\n");
  EXPECT_EQ(tokenizer.encode("a a"), (Tokens{2, 3}));
  EXPECT_EQ(tokenizer.decode(Tokens{2, 3}), "a a");
}

TEST(BytePairTokenizer, UnknownCharacters) {
  const auto with_unknown = tokenizer_of("<unk>\na\n", "");
  EXPECT_EQ(with_unknown.encode("ab\xC3\xA9"
                                "a"),
            (Tokens{1, 0, 0, 1}));
  EXPECT_EQ(with_unknown.unknown(), 0);
  std::string bytes = "[UNK]\na\n";
  for (int b = 0; b < 256; ++b) {
    char line[8];
    std::snprintf(line, sizeof line, "<0x%02X>\n", static_cast<unsigned>(b));
    bytes += line;
  }
  const auto with_bytes = tokenizer_of(bytes, "");
  EXPECT_EQ(with_bytes.encode("a\xC3\xA9"), (Tokens{1, 2 + 0xC3, 2 + 0xA9}));
  EXPECT_EQ(with_bytes.decode(with_bytes.encode("a\xC3\xA9\xFF\n")), "a\xC3\xA9\xFF\n");
  const auto with_neither = tokenizer_of("a\n", "");
  const auto error = error_of([&] { with_neither.encode("ab"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "bpe.encode.unknown");
  EXPECT_NE(error->sentence().find("\"b\""), std::string::npos);
}

TEST(BytePairTokenizer, UnknownIdsAreRefused) {
  const auto tokenizer = tokenizer_of("a\nb\n", "");
  EXPECT_EQ(rule_of([&] { tokenizer.decode(Tokens{2}); }), "bpe.decode.token");
  EXPECT_EQ(rule_of([&] { tokenizer.text_of(-1); }), "bpe.decode.token");
}

TEST(BytePairTokenizer, LinesMayEndInCarriageReturns) {
  EXPECT_EQ(tokenizer_of("a\r\nb\r\nab", "a b\r\n").encode("ab"), (Tokens{2}));
}

TEST(BytePairTokenizer, BadFilesNameTheLine) {
  EXPECT_EQ(problem("", ""), "bpe.vocab.empty: line 1: a vocabulary without tokens");
  EXPECT_EQ(problem("a\n\nb\n", ""), "bpe.vocab.blank: line 2: a token without text");
  EXPECT_EQ(problem("a\nb\na\n", ""), "bpe.vocab.duplicate: line 3: token \"a\" is token 0 already");
  EXPECT_EQ(problem("a\n", "a\n"), "bpe.merges.line: line 1: \"a\" is not two tokens with a space between");
  EXPECT_EQ(problem("a\nb\nab\n", "a b\na b c\n").substr(0, 23), "bpe.merges.line: line 2");
  EXPECT_EQ(problem("a\n", "a b\n"), "bpe.merges.token: line 1: \"b\" is not in the vocabulary");
  EXPECT_EQ(problem("a\nb\n", "a b\n"), "bpe.merges.token: line 1: \"ab\" is not in the vocabulary");
  EXPECT_EQ(problem("a\nb\nab\n", "a b\na b\n"), "bpe.merges.duplicate: line 2: \"a b\" came before");
  EXPECT_TRUE(
      rule_of([] { BytePairTokenizer::from_files("/nonexistent/a", "/nonexistent/b"); }).starts_with("io.open."));
}

TEST(BytePairTokenizer, AbsurdFilesAreNotRead) {
  const Scratch scratch;
  put_file(scratch / "vocab.txt", {});
  // A sparse file without bytes on the disk.
  std::filesystem::resize_file(scratch / "vocab.txt", (std::uint64_t{1} << 30) + 1);
  EXPECT_EQ(rule_of([&] { BytePairTokenizer::from_files(scratch / "vocab.txt", scratch / "vocab.txt"); }),
            "bpe.file.size");
}

TEST(BytePairTokenizer, FromAContainersVocabulary) {
  tare::Vocabulary vocabulary;
  for (const char* const text : {"?", " ", "l", "o", "lo", " lo"}) vocabulary.tokens.push_back({text});
  vocabulary.merges = {"l o", "\xC4\xA0 lo"};
  vocabulary.unk = 0;
  const auto tokenizer = BytePairTokenizer::from_vocabulary(vocabulary);
  EXPECT_EQ(tokenizer.encode("lo lo!"), (Tokens{4, 5, 0}));
  EXPECT_EQ(tokenizer.decode(Tokens{4, 5}), "lo lo");
}

}  // namespace
}  // namespace tiny_llama
