// The rules of `strict`: files are valid, characters are Unicode characters, and decoding restores the text.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.hpp"
#include "resources/byte_alphabet.hpp"
#include "tare/error.hpp"
#include "tiny_llama/tokenizer_tables.hpp"

namespace tiny_llama {
namespace {

using tare::Error;
using tare::ErrorKind;
using tare::quote;

enum class Spelling : std::uint8_t { plain, bytes, blocks };

constexpr std::string_view kByteSpace = "\xC4\xA0";  // Ġ
constexpr std::string_view kBlock = "\xE2\x96\x81";  // ▁
constexpr std::string_view kUnknownNames[] = {"<unk>", "[UNK]", "<|unk|>", "<UNK>"};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find(from, at);
    out += text.substr(at, next - at);
    if (next == std::string_view::npos) break;
    out += to;
    at = next + from.size();
  }
  return out;
}

// The length of the first character in bytes: a whole UTF-8 sequence, or one byte if it is not UTF-8.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  return length;
}

// Calls visit(number, line) for every line; numbers begin at 0.
template <typename Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  for (std::size_t number = 0; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(number, line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

struct StrictTables final : BytePairTokenizer::Tables {
  Spelling spelling = Spelling::plain;
  PairRanks ranks;
  std::array<std::int32_t, 256> byte_tokens{};

  // The location of an entry, for errors: "line 3" of a file, or the entry of a container's vocabulary.
  struct Origin {
    std::string file;
    std::size_t first_line = 1;
    Error error(std::string_view rule, std::size_t number, std::string_view sentence) const {
      Error error(ErrorKind::corrupt, rule,
                  file.empty() ? fmt::format("entry {}: {}", number, sentence)
                               : fmt::format("line {}: {}", number + first_line, sentence));
      if (!file.empty()) error.in(file);
      return error;
    }
  };

  // `spelled`: as the vocabulary writes it; `raw`: already bytes.
  void add_token(const std::string& spelled, bool raw, const Origin& origin) {
    const std::size_t number = texts.size();
    if (spelled.empty()) throw origin.error("bpe.vocab.blank", number, "a token without text");
    std::string key = spelled;
    if (spelling == Spelling::bytes && !raw) key = tare::resources::from_byte_alphabet(spelled).value_or(spelled);
    texts.push_back(spelling == Spelling::blocks ? replaced(key, kBlock, " ") : key);
    const auto [found, is_new] = ids.emplace(std::move(key), static_cast<std::int32_t>(number));
    if (!is_new)
      throw origin.error("bpe.vocab.duplicate", number,
                         fmt::format("token \"{}\" is token {} already", quote(spelled), found->second));
  }

  void add_merge(std::size_t number, std::string_view line, const Origin& origin) {
    const std::size_t blank = line.find(' ');
    if (blank == 0 || blank == std::string_view::npos || blank + 1 == line.size() || has(line.substr(blank + 1), " "))
      throw origin.error("bpe.merges.line", number,
                         fmt::format("\"{}\" is not two tokens with a space between", quote(line)));
    const auto part = [&](std::string_view spelled) {
      std::string key(spelled);
      if (spelling == Spelling::bytes) key = tare::resources::from_byte_alphabet(spelled).value_or(key);
      return key;
    };
    const std::string left = part(line.substr(0, blank)), right = part(line.substr(blank + 1));
    const auto known = [&](const std::string& token) {
      const std::int32_t found = id(token);
      if (found == kNone)
        throw origin.error("bpe.merges.token", number, fmt::format("\"{}\" is not in the vocabulary", quote(token)));
      return found;
    };
    const std::int32_t first = known(left), second = known(right);
    if (!ranks.add(first, second, {number, known(left + right)}))
      throw origin.error("bpe.merges.duplicate", number, fmt::format("\"{}\" came before", quote(line)));
  }

  void finish(const Origin& origin) {
    if (texts.empty()) throw origin.error("bpe.vocab.empty", 0, "a vocabulary without tokens");
    for (const std::string_view name : kUnknownNames)
      if (unknown == kNone) unknown = id(std::string(name));
    for (unsigned byte = 0; byte < 256; ++byte) {
      byte_tokens[byte] = id(fmt::format("<0x{:02X}>", byte));
      if (byte_tokens[byte] != kNone)
        texts[static_cast<std::size_t>(byte_tokens[byte])] = std::string(1, static_cast<char>(byte));
    }
  }

  // Adds a character that is not a token.
  void add_fallback(std::string_view character, std::vector<std::int32_t>& out) const {
    const bool spelled = std::all_of(character.begin(), character.end(),
                                     [&](char c) { return byte_tokens[static_cast<unsigned char>(c)] != kNone; });
    if (spelled)
      for (const char c : character) out.push_back(byte_tokens[static_cast<unsigned char>(c)]);
    else if (unknown != kNone)
      out.push_back(unknown);
    else
      throw Error(ErrorKind::unsupported, "bpe.encode.unknown",
                  fmt::format("no token for \"{}\", and the vocabulary has no <unk>", quote(character)));
  }

  void encode_piece(std::string_view piece, std::vector<std::int32_t>& out) const {
    std::vector<Symbol> row;
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t length = spelling == Spelling::bytes ? 1 : character_length(piece.substr(at));
      const std::string_view character = piece.substr(at, length);
      row.push_back({.id = id(std::string(character)), .text = character});
      at += length;
    }
    merge_row(row, ranks, MergeOrder::one_by_one);
    for (std::size_t i = 0; i != SIZE_MAX; i = row[i].after) {
      if (row[i].id != kNone)
        out.push_back(row[i].id);
      else
        add_fallback(row[i].text, out);
    }
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    const std::string spelled = spelling == Spelling::blocks ? replaced(text, " ", kBlock) : std::string(text);
    const std::string_view space = spelling == Spelling::blocks ? kBlock : " ";
    std::vector<std::int32_t> tokens;
    std::string_view rest = spelled;
    while (!rest.empty()) {
      std::size_t end = 0;
      while (rest.substr(end).starts_with(space)) end += space.size();
      end = rest.find(space, end);
      encode_piece(rest.substr(0, end), tokens);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
    }
    return tokens;
  }
};

}  // namespace

TablesPtr strict_tables(const TextFile& vocab, const TextFile& merges) {
  const auto tables = std::make_shared<StrictTables>();
  tables->spelling = has(vocab.text, kByteSpace) ? Spelling::bytes
                     : has(vocab.text, kBlock)   ? Spelling::blocks
                                                 : Spelling::plain;
  const StrictTables::Origin vocab_lines{vocab.name}, merge_lines{merges.name};
  for_each_line(vocab.text,
                [&](std::size_t, std::string_view line) { tables->add_token(std::string(line), false, vocab_lines); });
  tables->finish(vocab_lines);
  for_each_line(merges.text, [&](std::size_t number, std::string_view line) {
    if (line.empty() || (number == 0 && line.starts_with("#version"))) return;
    tables->add_merge(number, line, merge_lines);
  });
  return tables;
}

TablesPtr strict_tables(const tare::Vocabulary& vocabulary) {
  const auto tables = std::make_shared<StrictTables>();
  const auto& merges = vocabulary.merges;
  const auto& tokens = vocabulary.tokens;
  if (std::any_of(merges.begin(), merges.end(), [](const std::string& m) { return has(m, kByteSpace); }))
    tables->spelling = Spelling::bytes;
  else if (std::any_of(tokens.begin(), tokens.end(), [](const tare::Token& t) { return has(t.text, kBlock); }))
    tables->spelling = Spelling::blocks;
  for (const tare::Token& token : tokens) tables->add_token(token.text, true, {});
  if (vocabulary.unk >= 0 && vocabulary.unk < static_cast<std::int64_t>(tokens.size()))
    tables->unknown = static_cast<std::int32_t>(vocabulary.unk);
  tables->finish({});
  for (std::size_t i = 0; i < merges.size(); ++i) tables->add_merge(i, merges[i], {});
  return tables;
}

}  // namespace tiny_llama
