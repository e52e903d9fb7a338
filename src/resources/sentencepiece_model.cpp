// tokenizer.model through the SentencePiece library.
//
// Only the pieces and the trainer's settings are handed to it. The normalizer's table and the self-tests are left out:
// loading would run them, and that code trusts its input. The library does not tell user-defined pieces from normal
// ones, so the types are taken from the message itself.
#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <bit>
#include <exception>
#include <new>

#include "base/lookalike.hpp"
#include "resources/resources.hpp"
#include "wire/protobuf.hpp"

namespace tare::resources {
namespace {

using wire::ProtobufReader;

// ModelProto: 1 pieces, 2 trainer_spec. SentencePiece: 1 piece, 2 score, 3 type.
constexpr std::uint32_t kPieces = 1, kTrainer = 2, kType = 3;
constexpr std::size_t kMostPieces = std::size_t{1} << 24;

struct Outline {
  std::string essential;  // the message without what is not needed
  std::vector<TokenType> types;
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

void read_outline(std::span<const std::byte> message, Outline& outline) {
  ProtobufReader model(message);
  while (const auto field = model.next()) {
    if (field->number != kPieces && field->number != kTrainer) continue;
    if (!field->is_bytes) throw Error(ErrorKind::corrupt, "tokenizer.piece", "a piece is not a message");
    outline.essential.append(reinterpret_cast<const char*>(field->whole.data()), field->whole.size());
    if (field->number != kPieces) continue;
    if (outline.types.size() == kMostPieces)
      throw Error(ErrorKind::limit, "tokenizer.piece", fmt::format("more than {} pieces", kMostPieces));
    outline.types.push_back(TokenType::normal);
    ProtobufReader piece(field->bytes);
    while (const auto inner = piece.next())
      if (inner->number == kType && !inner->is_bytes) outline.types.back() = type_of(inner->value);
  }
}

// "IQ== 0": a token in base64, a blank, its rank.
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

// Rather what the file is, if that can be told, than where reading it ended.
Outline outline_of(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (const auto known = lookalike(text); !known.empty())
    throw Error(ErrorKind::corrupt, "tokenizer.sentencepiece", known);
  if (looks_like_tiktoken(text))
    throw not_sentencepiece("it looks like tiktoken's text, which is not read; a tokenizer.json would have its tokens");
  Outline outline;
  try {
    read_outline(file, outline);
  } catch (const Error& error) {
    if (!outline.types.empty()) throw;  // broken behind its first pieces, it is one all the same
    throw not_sentencepiece(error.sentence());
  }
  if (outline.types.empty()) throw not_sentencepiece("it has no pieces");
  return outline;
}

void load(sentencepiece::SentencePieceProcessor& processor, const Outline& outline) {
  std::string trouble;
  try {
    const auto status = processor.LoadFromSerializedProto(outline.essential);
    if (!status.ok()) trouble = status.error_message();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    trouble = error.what();
  }
  if (trouble.empty() && static_cast<std::size_t>(processor.GetPieceSize()) != outline.types.size())
    trouble = "the number of pieces is not clear";
  if (!trouble.empty())
    throw Error(ErrorKind::corrupt, "tokenizer.sentencepiece", "the SentencePiece library refuses it: " + trouble);
}

}  // namespace

Vocabulary parse_sentencepiece(std::span<const std::byte> tokenizer_model) {
  const Outline outline = outline_of(tokenizer_model);
  sentencepiece::SentencePieceProcessor processor;
  load(processor, outline);
  Vocabulary vocabulary;
  vocabulary.kind = "spm";
  vocabulary.tokens.reserve(outline.types.size());
  for (int id = 0; id < processor.GetPieceSize(); ++id)
    vocabulary.tokens.push_back(
        {processor.IdToPiece(id), processor.GetScore(id), outline.types[static_cast<std::size_t>(id)]});
  vocabulary.unk = processor.unk_id();
  vocabulary.bos = processor.bos_id();
  vocabulary.eos = processor.eos_id();
  vocabulary.pad = processor.pad_id();
  return vocabulary;
}

}  // namespace tare::resources
