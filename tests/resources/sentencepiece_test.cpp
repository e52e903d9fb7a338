// tokenizer.model, from bytes made by hand. interop.py compares with the sentencepiece package.
#include "conformance/models.hpp"
#include "resources/piece_bytes.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Vocabulary parse(const std::string& bytes) { return resources::parse_sentencepiece(to_bytes(bytes)); }

std::string pieces_of(const Vocabulary& vocabulary, std::size_t most = 100) {
  std::string line;
  for (std::size_t id = 0; id < std::min(most, vocabulary.tokens.size()); ++id) {
    const Token& token = vocabulary.tokens[id];
    line += fmt::format("{}:{}:{} ", escape_name(token.text), name_of(token.type), token.score);
  }
  return line;
}

std::string trainer(const std::string& fields) { return proto_field(2, fields); }

const std::string kUnknown = proto_piece("<unk>", 0, 2);
const std::string kStart = kUnknown + proto_piece("a", -1, 1);

TEST(SentencePiece, PiecesScoresTypesAndIds) {
  const Vocabulary v = parse(small_spm());
  EXPECT_EQ(v.kind, "spm");
  ASSERT_EQ(v.tokens.size(), 262U);
  EXPECT_EQ(pieces_of(v, 7),
            "<unk>:unknown:0 <s>:control:0 </s>:control:0 \u2581a:normal:-1.5 <me>:user_defined:0 x:unused:-3 "
            "<0x00>:byte:0 ");
  EXPECT_EQ(v.unk, 0);
  EXPECT_EQ(v.bos, 1);
  EXPECT_EQ(v.eos, 2);
  EXPECT_EQ(v.pad, -1);
  EXPECT_TRUE(v.merges.empty());
}

TEST(SentencePiece, WhatAPieceDoesNotSayIsNormalAndZero) {
  EXPECT_EQ(pieces_of(parse(kUnknown + proto_field(1, proto_field(1, "a")))), "<unk>:unknown:0 a:normal:0 ");
  // Bytes need not be text, and a score need not be finite.
  EXPECT_EQ(pieces_of(parse(kStart + proto_piece("\xFF", std::numeric_limits<float>::infinity(), 1))),
            "<unk>:unknown:0 a:normal:-1 \\xFF:normal:inf ");
}

// The ids in the trainer's settings (40 to 43) are what the training asked for, not the result.
TEST(SentencePiece, SpecialPiecesAreFoundByTheirNames) {
  const std::string pieces = proto_piece("[PAD]", 0, 3) + proto_piece("[CLS]", 0, 3) + proto_piece("[SEP]", 0, 3) +
                             proto_piece("[UNK]", 0, 2) + proto_piece("a", -1, 1);
  const auto ids = [](const std::string& bytes) {
    const Vocabulary v = parse(bytes);
    return fmt::format("{} {} {} {}", v.unk, v.bos, v.eos, v.pad);
  };
  const std::string asked = proto_number(40, 0) + proto_number(41, 4) + proto_number(42, 4) + proto_number(43, 4);
  const std::string names =
      proto_field(45, "[UNK]") + proto_field(46, "[CLS]") + proto_field(47, "[SEP]") + proto_field(48, "[PAD]");
  EXPECT_EQ(ids(pieces), "3 -1 -1 -1") << "the unknown piece is known by its type, too";
  EXPECT_EQ(ids(pieces + trainer(asked)), "3 -1 -1 -1");
  EXPECT_EQ(ids(pieces + trainer(asked + names)), "3 1 2 0");
  EXPECT_EQ(ids(trainer(names) + pieces), "3 1 2 0");
  EXPECT_EQ(ids(pieces + trainer(proto_field(46, "a") + proto_field(47, "[UNK]"))), "3 -1 -1 -1") << "not control";
  EXPECT_EQ(ids(pieces + trainer(proto_field(45, "[CLS]"))), "-1 -1 -1 -1") << "a piece of that name is another";
  EXPECT_EQ(ids(kStart + proto_piece("<s>", 0, 4) + trainer("")), "0 -1 -1 -1") << "user-defined";
  EXPECT_EQ(ids(kStart + proto_piece("<s>", 0, 4) + proto_piece("<s>", 0, 3)), "0 3 -1 -1") << "the special one first";
  // An empty name does not count.
  EXPECT_EQ(ids(kStart + proto_piece("<pad>", 0, 3) + trainer(proto_field(48, "x") + proto_field(48, ""))),
            "0 -1 -1 2");
}

TEST(SentencePiece, TheMessageIsTakenAsProtocolBuffersHaveIt) {
  // Unknown fields, by number or by wire type, are skipped.
  const std::string odd = proto_field(1, proto_field(9, "x") + proto_number(1, 7) + proto_field(1, "b") +
                                             proto_number(2, 7) + proto_fixed32(3, 3) + proto_field(3, "y"));
  EXPECT_EQ(pieces_of(parse(kStart + odd)), "<unk>:unknown:0 a:normal:-1 b:normal:0 ");
  // The last of several counts.
  const std::string twice = proto_field(1, proto_field(1, "b") + proto_number(3, 1) + proto_field(1, "c") +
                                               proto_fixed32(2, 0) + proto_fixed32(2, 0x3F800000) + proto_number(3, 4));
  EXPECT_EQ(pieces_of(parse(kStart + twice)), "<unk>:unknown:0 a:normal:-1 c:user_defined:1 ");
  // Several settings are merged.
  const Vocabulary v = parse(trainer(proto_field(46, "a")) + kStart + proto_piece("B", 0, 3) + proto_piece("E", 0, 3) +
                             trainer(proto_field(46, "B")) + trainer(proto_field(47, "E")));
  EXPECT_EQ(v.bos, 2);
  EXPECT_EQ(v.eos, 3);
  // The normalizer and the self-tests are not read here.
  EXPECT_EQ(parse(kStart + proto_field(3, proto_field(2, "\xFF\xFF\xFF\x7F garbage")) +
                  proto_field(4, proto_field(1, proto_field(1, "a") + proto_field(2, "no"))))
                .tokens.size(),
            2U);
}

TEST(SentencePiece, WhatSentencePieceDoesNotLoadIsRefused) {
  const auto trouble = [](const std::string& bytes) {
    const auto error = error_of([&] { parse(bytes); });
    if (!error) return std::string();
    EXPECT_EQ(error->rule(), "tokenizer.sentencepiece");
    const std::string begins = "not a vocabulary that SentencePiece loads: ";
    EXPECT_TRUE(error->sentence().starts_with(begins)) << error->sentence();
    return error->sentence().substr(std::min(begins.size(), error->sentence().size()));
  };
  EXPECT_EQ(trouble(kStart + proto_piece("", 0, 1)), "piece 2 is empty");
  EXPECT_EQ(trouble(kStart + proto_field(1, "")), "piece 2 is empty");
  EXPECT_EQ(trouble(kStart + proto_piece("a", 0, 5)), "pieces 1 and 2 are both \"a\"");
  EXPECT_EQ(trouble(kStart + kStart), "pieces 0 and 2 are both \"<unk>\"");
  EXPECT_EQ(trouble(kStart + proto_piece("a", 0, 3)), "") << "special pieces are a list of their own";
  EXPECT_EQ(trouble(proto_piece("a", 0, 1)), "no piece is of the type unknown");
  EXPECT_EQ(trouble(kStart + proto_piece("?", 0, 2)), "pieces 0 and 2 are both of the type unknown");

  EXPECT_EQ(trouble(kUnknown), "all its pieces are special: none is left to split a text into");
  EXPECT_EQ(trouble(kUnknown + trainer(proto_number(3, 9))), trouble(kUnknown)) << "an unknown kind is the usual one";
  for (const unsigned kind : {2U, 3U, 4U}) EXPECT_EQ(trouble(kUnknown + trainer(proto_number(3, kind))), "");

  const std::string byte = proto_piece("<0x0A>", 0, 6), fallback = trainer(proto_number(35, 1));
  EXPECT_EQ(trouble(kStart + byte), "piece 2 is of the type byte, and byte_fallback is not set");
  EXPECT_EQ(trouble(fallback + kStart + byte), "byte_fallback is set: expected 256 byte pieces, found 1");
  EXPECT_EQ(trouble(fallback + kStart + proto_piece("<0x0a>", 0, 6)),
            "piece 2 is of the type byte, but \"<0x0a>\" is not a byte");
  EXPECT_EQ(trouble(fallback + kStart + byte + byte), "pieces 2 and 3 are both \"<0x0A>\"");
  EXPECT_EQ(trouble(small_spm() + trainer(proto_number(35, 0))),
            "piece 6 is of the type byte, and byte_fallback is not set");
}

TEST(SentencePiece, BadBytesAreErrorsOfOurs) {
  const std::string good = small_spm();
  EXPECT_EQ(rule_of([] { parse(""); }), "tokenizer.sentencepiece");
  EXPECT_EQ(rule_of([] { parse(trainer("")); }), "tokenizer.sentencepiece") << "no pieces";
  EXPECT_EQ(rule_of([] { parse(proto_piece("a", 0, 9)); }), "tokenizer.piece");
  EXPECT_EQ(rule_of([] { parse(kStart + proto_number(1, 9)); }), "tokenizer.piece");
  EXPECT_EQ(rule_of([] { parse(kStart + proto_number(2, 9)); }), "tokenizer.piece");
  EXPECT_EQ(rule_of([] { parse(kStart + trainer("\x0A\x05x")); }), "protobuf.truncated") << "in the settings";
  EXPECT_EQ(rule_of([&] { parse(good.substr(0, good.size() - 1)); }), "protobuf.truncated") << "half a download";
  // Lengths and numbers beyond the end of the file.
  EXPECT_EQ(rule_of([] { parse(kStart + "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"); }), "protobuf.truncated");
  EXPECT_EQ(rule_of([] { parse(kStart + "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"); }), "protobuf.syntax");
  EXPECT_EQ(rule_of([] { parse(kStart + "\x0A\xFF\xFF\xFF\xFF\x0F"); }), "protobuf.truncated");
  EXPECT_EQ(rule_of([] { parse(kStart + "\x0A"); }), "protobuf.truncated");
  EXPECT_EQ(rule_of([] { parse(kStart + "\x0B"); }), "protobuf.syntax") << "a group";
  EXPECT_EQ(rule_of([] { parse(kStart + "\x02"); }), "protobuf.syntax") << "field 0";
  for (std::size_t length = 1; length < good.size(); length += 7) error_of([&] { parse(good.substr(0, length)); });
  for (std::size_t bit = 0; bit < 200 * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    error_of([&] { parse(bad); });
  }
}

}  // namespace
}  // namespace tare
