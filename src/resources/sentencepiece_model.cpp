// tokenizer.model and spiece.model: SentencePiece's ModelProto, as far as a Vocabulary needs it.
//
//   ModelProto     1 pieces, repeated   2 trainer_spec   (the rest is for normalizing texts and for self-tests)
//   SentencePiece  1 piece: text   2 score: float   3 type: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6
//   byte
//   TrainerSpec    3 model_type: 1 unigram   35 byte_fallback   45 unk_piece   46 bos_piece   47 eos_piece   48
//   pad_piece
//
// The id of a piece is its index in the list. Special pieces are found by their names: the ids in trainer_spec are
// those that the training asked for. The message follows the rules of Protocol Buffers: a field of another wire type is
// skipped, the last of several values counts, and several trainer_specs are merged.
//
// Tare refuses what SentencePiece does not load: a piece that is empty or appears twice (control, unknown and byte
// pieces are a separate list), no unknown piece or two of them, byte pieces without byte_fallback, and fewer than 256
// byte pieces with it.
#include <fmt/format.h>

#include <bit>

#include "base/lookalike.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "resources/resources.hpp"
#include "resources/vocabulary_builder.hpp"
#include "wire/protobuf.hpp"

namespace tare::resources {
namespace {

using wire::ProtobufReader;
using Wire = ProtobufReader::Type;

constexpr std::size_t kMostPieces = std::size_t{1} << 24;

struct TrainerSpec {
  bool unigram = true, byte_fallback = false;
  std::string unk = "<unk>", bos = "<s>", eos = "</s>", pad = "<pad>";
};

TokenType type_of(std::uint64_t number) {
  switch (number) {
    case 1: return TokenType::normal;
    case 2: return TokenType::unknown;
    case 3: return TokenType::control;
    case 4: return TokenType::user_defined;
    case 5: return TokenType::unused;
    case 6: return TokenType::byte;
    default: throw Error(ErrorKind::corrupt, "tokenizer.piece", fmt::format("the piece type {} is not known", number));
  }
}

Error not_sentencepiece(std::string_view why) {
  return {ErrorKind::corrupt, "tokenizer.sentencepiece", fmt::format("not a SentencePiece model: {}", why)};
}

std::string text_in(const ProtobufReader::Field& field) { return std::string(as_text(field.bytes)); }

void read_piece(std::span<const std::byte> message, Token& token) {
  ProtobufReader piece(message);
  while (const auto field = piece.next()) {
    if (field->is(1, Wire::bytes)) token.text = text_in(*field);
    if (field->is(2, Wire::fixed32)) token.score = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    if (field->is(3, Wire::varint)) token.type = type_of(field->value);
  }
}

void read_trainer(std::span<const std::byte> message, TrainerSpec& spec) {
  constexpr std::uint64_t kUnigram = 1, kLastModelType = 4;
  const TrainerSpec initially;
  const std::pair<std::uint32_t, std::string TrainerSpec::*> names[] = {
      {45, &TrainerSpec::unk}, {46, &TrainerSpec::bos}, {47, &TrainerSpec::eos}, {48, &TrainerSpec::pad}};
  ProtobufReader trainer(message);
  while (const auto field = trainer.next()) {
    if (field->is(3, Wire::varint) && field->value >= kUnigram && field->value <= kLastModelType)
      spec.unigram = field->value == kUnigram;
    if (field->is(35, Wire::varint)) spec.byte_fallback = field->value != 0;
    for (const auto& [number, name] : names)
      if (field->is(number, Wire::bytes)) spec.*name = field->bytes.empty() ? initially.*name : text_in(*field);
  }
}

void read_message(std::span<const std::byte> message, std::vector<Token>& tokens, TrainerSpec& spec) {
  ProtobufReader model(message);
  while (const auto field = model.next()) {
    if (field->number != 1 && field->number != 2) continue;
    if (field->type != Wire::bytes)
      throw Error(ErrorKind::corrupt, "tokenizer.piece",
                  field->number == 1 ? fmt::format("piece {} is not a message", tokens.size())
                                     : "the trainer's settings are not a message");
    if (field->number == 2) {
      read_trainer(field->bytes, spec);
      continue;
    }
    if (tokens.size() == kMostPieces)
      throw Error(ErrorKind::limit, "tokenizer.piece", fmt::format("more than {} pieces", kMostPieces));
    read_piece(field->bytes, tokens.emplace_back());
  }
}

// "IQ== 0": a token in base64, a space, its rank.
bool looks_like_tiktoken(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t blank = line.find(' ');
  if (blank == 0 || blank == std::string_view::npos || blank % 4 != 0 || blank + 1 == line.size()) return false;
  return line.substr(0, blank).find_first_not_of(kBase64) == std::string_view::npos &&
         line.substr(blank + 1).find_first_not_of(kDigits) == std::string_view::npos;
}

// If the kind of file is recognised, names it instead of the place where parsing failed.
void read_file(std::span<const std::byte> file, std::vector<Token>& tokens, TrainerSpec& spec) {
  const std::string_view text = as_text(file);
  if (const auto known = lookalike(text); !known.empty())
    throw Error(ErrorKind::corrupt, "tokenizer.sentencepiece", known);
  if (looks_like_tiktoken(text))
    throw not_sentencepiece("it looks like tiktoken's text, which is not read; a tokenizer.json would have its tokens");
  try {
    read_message(file, tokens, spec);
  } catch (const Error& error) {
    if (!tokens.empty()) throw;  // it has pieces, so it is a SentencePiece model that is damaged further on
    throw not_sentencepiece(error.sentence());
  }
  if (tokens.empty()) throw not_sentencepiece("it has no pieces");
}

// The pieces by their texts. The constructor checks that they are a vocabulary.
class Pieces {
 public:
  Pieces(const std::vector<Token>& tokens, const TrainerSpec& spec) : tokens_(tokens), spec_(spec) {
    for (std::size_t id = 0; id < tokens.size(); ++id) add(id);
    if (unknown_ < 0) throw refused("no piece is of the type unknown");
    if (spec.unigram && ordinary_.empty())
      throw refused("all its pieces are special: none is left to split a text into");
    if (spec.byte_fallback && bytes_ != 256)
      throw refused(fmt::format("byte_fallback is set: expected 256 byte pieces, found {}", bytes_));
  }

  // Returns -1 if no piece of that type has the name. If no piece has the unknown token's name, its type identifies it.
  std::int64_t special(std::string_view name, TokenType type) const {
    std::int64_t id = type == TokenType::unknown ? unknown_ : -1;
    if (const auto found = reserved_.find(name); found != reserved_.end())
      id = found->second;
    else if (const auto other = ordinary_.find(name); other != ordinary_.end())
      id = other->second;
    return id >= 0 && tokens_[static_cast<std::size_t>(id)].type == type ? id : -1;
  }

 private:
  static Error refused(std::string_view why) {
    return {ErrorKind::corrupt, "tokenizer.sentencepiece",
            fmt::format("not a vocabulary that SentencePiece loads: {}", why)};
  }

  void add(std::size_t id) {
    const std::string& text = tokens_[id].text;
    const TokenType type = tokens_[id].type;
    if (text.empty()) throw refused(fmt::format("piece {} is empty", id));
    const bool ordinary = type == TokenType::normal || type == TokenType::user_defined || type == TokenType::unused;
    const auto [first, is_new] = (ordinary ? ordinary_ : reserved_).emplace(text, static_cast<std::int64_t>(id));
    if (!is_new) throw refused(fmt::format("pieces {} and {} are both \"{}\"", first->second, id, quote(text)));
    if (type == TokenType::unknown) {
      if (unknown_ >= 0) throw refused(fmt::format("pieces {} and {} are both of the type unknown", unknown_, id));
      unknown_ = static_cast<std::int64_t>(id);
    }
    if (type == TokenType::byte) add_byte(id, text);
  }

  void add_byte(std::size_t id, const std::string& text) {
    if (!spec_.byte_fallback)
      throw refused(fmt::format("piece {} is of the type byte, and byte_fallback is not set", id));
    // Upper case only: each byte has one spelling, so two byte pieces cannot be the same byte.
    if (!is_byte_token(text) || text.find_first_of("abcdef") != std::string::npos)
      throw refused(fmt::format("piece {} is of the type byte, but \"{}\" is not a byte", id, quote(text)));
    ++bytes_;
  }

  const std::vector<Token>& tokens_;
  const TrainerSpec& spec_;
  NameViewMap<std::int64_t> ordinary_, reserved_;
  std::int64_t unknown_ = -1;
  std::size_t bytes_ = 0;
};

}  // namespace

Vocabulary parse_sentencepiece(std::span<const std::byte> tokenizer_model) {
  Vocabulary vocabulary;
  vocabulary.kind = "spm";
  TrainerSpec spec;
  read_file(tokenizer_model, vocabulary.tokens, spec);
  const Pieces pieces(vocabulary.tokens, spec);
  vocabulary.unk = pieces.special(spec.unk, TokenType::unknown);
  vocabulary.bos = pieces.special(spec.bos, TokenType::control);
  vocabulary.eos = pieces.special(spec.eos, TokenType::control);
  vocabulary.pad = pieces.special(spec.pad, TokenType::control);
  return vocabulary;
}

// NormalizerSpec: 2 precompiled_charsmap   3 add_dummy_prefix   4 remove_extra_whitespaces; the latter two default to
// true. TrainerSpec: 3 model_type: 3 word, 4 char   24 treat_whitespace_as_suffix.
std::vector<std::string> unkept_normalization(std::span<const std::byte> tokenizer_model) {
  bool rewrites = false, prefix = true, fewer_blanks = true, suffix = false, words = false;
  const auto read_normalizer = [&](std::span<const std::byte> message) {
    ProtobufReader normalizer(message);
    while (const auto field = normalizer.next()) {
      if (field->is(2, Wire::bytes)) rewrites = !field->bytes.empty();
      if (field->is(3, Wire::varint)) prefix = field->value != 0;
      if (field->is(4, Wire::varint)) fewer_blanks = field->value != 0;
    }
  };
  const auto read_whitespace = [&](std::span<const std::byte> message) {
    ProtobufReader trainer(message);
    while (const auto field = trainer.next()) {
      if (field->is(3, Wire::varint)) words = field->value == 3;
      if (field->is(24, Wire::varint)) suffix = field->value != 0;
    }
  };
  try {
    ProtobufReader model(tokenizer_model);
    while (const auto field = model.next()) {
      if (field->is(2, Wire::bytes)) read_whitespace(field->bytes);
      if (field->is(3, Wire::bytes)) read_normalizer(field->bytes);
    }
  } catch (const Error&) {
    return {};
  }
  std::vector<std::string> unkept;
  if (rewrites) unkept.emplace_back("characters are rewritten (NFKC and its like)");
  if (fewer_blanks) unkept.emplace_back("several blanks become one");
  if (!prefix) unkept.emplace_back("no blank is put before a text");
  if (suffix) unkept.emplace_back("blanks belong to the word before them");
  if (words) unkept.emplace_back("whole words are the pieces");
  return unkept;
}

}  // namespace tare::resources
