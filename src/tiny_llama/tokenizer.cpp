#include "tiny_llama/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <queue>
#include <unordered_map>

#include "resources/byte_alphabet.hpp"
#include "tare/error.hpp"
#include "tare/source.hpp"

namespace tiny_llama {
namespace {

using tare::Error;
using tare::ErrorKind;
using tare::escape_name;

enum class Spelling : std::uint8_t { plain, bytes, blocks };

constexpr std::string_view kByteSpace = "\xC4\xA0";  // Ġ
constexpr std::string_view kBlock = "\xE2\x96\x81";  // ▁
constexpr std::string_view kUnknownNames[] = {"<unk>", "[UNK]", "<|unk|>", "<UNK>"};
constexpr std::int32_t kNone = -1;

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

// Bytes of the character at the front: a whole UTF-8 sequence, or one byte of what is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  return length;
}

std::string file_text(const std::string& path) {
  const tare::SourcePtr source = tare::open_file(path, tare::Access::pread);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  if (source->size() > kMost)
    throw Error(ErrorKind::limit, "bpe.file.size", fmt::format("{} bytes, at most {} allowed", source->size(), kMost))
        .in(path);
  std::string text(static_cast<std::size_t>(source->size()), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

// Calls visit(number from 0, line) for every line.
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

}  // namespace

struct BytePairTokenizer::Tables {
  struct Merge {
    std::size_t rank = 0;
    std::int32_t merged = kNone;
  };

  Spelling spelling = Spelling::plain;
  std::vector<std::string> texts;  // what a token stands for
  std::unordered_map<std::string, std::int32_t> ids;
  std::unordered_map<std::uint64_t, Merge> merges;
  std::array<std::int32_t, 256> byte_tokens{};
  std::int32_t unknown = kNone;

  static std::uint64_t pair(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }
  std::int32_t id(const std::string& token) const {
    const auto found = ids.find(token);
    return found == ids.end() ? kNone : found->second;
  }

  // Where something stands, for errors: "line 3" of a file, or of a container's vocabulary.
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

  // `spelled`: how the vocabulary writes it; `raw`: bytes already.
  void add_token(const std::string& spelled, bool raw, const Origin& origin) {
    const std::size_t number = texts.size();
    if (spelled.empty()) throw origin.error("bpe.vocab.blank", number, "a token without text");
    std::string key = spelled;
    if (spelling == Spelling::bytes && !raw) key = tare::resources::from_byte_alphabet(spelled).value_or(spelled);
    texts.push_back(spelling == Spelling::blocks ? replaced(key, kBlock, " ") : key);
    const auto [found, is_new] = ids.emplace(std::move(key), static_cast<std::int32_t>(number));
    if (!is_new)
      throw origin.error("bpe.vocab.duplicate", number,
                         fmt::format("token \"{}\" is token {} already", escape_name(spelled), found->second));
  }

  void add_merge(std::size_t number, std::string_view line, const Origin& origin) {
    const std::size_t blank = line.find(' ');
    if (blank == 0 || blank == std::string_view::npos || blank + 1 == line.size() || has(line.substr(blank + 1), " "))
      throw origin.error("bpe.merges.line", number,
                         fmt::format("\"{}\" is not two tokens with a blank between", escape_name(line)));
    const auto part = [&](std::string_view spelled) {
      std::string key(spelled);
      if (spelling == Spelling::bytes) key = tare::resources::from_byte_alphabet(spelled).value_or(key);
      return key;
    };
    const std::string left = part(line.substr(0, blank)), right = part(line.substr(blank + 1));
    const auto known = [&](const std::string& token) {
      const std::int32_t found = id(token);
      if (found == kNone)
        throw origin.error("bpe.merges.token", number,
                           fmt::format("\"{}\" is not in the vocabulary", escape_name(token)));
      return found;
    };
    const std::uint64_t key = pair(known(left), known(right));
    if (!merges.emplace(key, Merge{number, known(left + right)}).second)
      throw origin.error("bpe.merges.duplicate", number, fmt::format("\"{}\" came before", escape_name(line)));
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

  // A character that is no token.
  void add_fallback(std::string_view character, std::vector<std::int32_t>& out) const {
    const bool spelled = std::all_of(character.begin(), character.end(),
                                     [&](char c) { return byte_tokens[static_cast<unsigned char>(c)] != kNone; });
    if (spelled)
      for (const char c : character) out.push_back(byte_tokens[static_cast<unsigned char>(c)]);
    else if (unknown != kNone)
      out.push_back(unknown);
    else
      throw Error(ErrorKind::unsupported, "bpe.encode.unknown",
                  fmt::format("no token for \"{}\", and the vocabulary has no <unk>", escape_name(character)));
  }

  void encode_piece(std::string_view piece, std::vector<std::int32_t>& out) const;
};

namespace {

// A token in a row of them that are being merged.
struct Symbol {
  std::int32_t id = kNone;
  std::string_view text;  // what it was made of, for what has no token
  std::size_t before = SIZE_MAX, after = SIZE_MAX;
};

struct Candidate {
  std::size_t rank, at;      // the left one of the pair
  std::int32_t left, right;  // what they were: merged meanwhile, the candidate is stale
  // The lowest rank first, of equals the leftmost.
  bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
};

}  // namespace

void BytePairTokenizer::Tables::encode_piece(std::string_view piece, std::vector<std::int32_t>& out) const {
  std::vector<Symbol> row;
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t length = spelling == Spelling::bytes ? 1 : character_length(piece.substr(at));
    const std::string_view character = piece.substr(at, length);
    row.push_back({id(std::string(character)), character, row.empty() ? SIZE_MAX : row.size() - 1, row.size() + 1});
    at += length;
  }
  row.back().after = SIZE_MAX;
  std::priority_queue<Candidate> queue;
  const auto consider = [&](std::size_t left) {
    if (left == SIZE_MAX || row[left].after == SIZE_MAX) return;
    const std::int32_t a = row[left].id, b = row[row[left].after].id;
    if (a == kNone || b == kNone) return;
    const auto found = merges.find(pair(a, b));
    if (found != merges.end()) queue.push({found->second.rank, left, a, b});
  };
  for (std::size_t i = 0; i < row.size(); ++i) consider(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = row[best.at];
    if (left.id != best.left || left.after == SIZE_MAX || row[left.after].id != best.right) continue;
    Symbol& right = row[left.after];
    left.id = merges.at(pair(best.left, best.right)).merged;
    left.after = right.after;
    right.id = kNone;
    right.text = {};
    if (left.after != SIZE_MAX) row[left.after].before = best.at;
    consider(left.before);
    consider(best.at);
  }
  for (std::size_t i = 0; i != SIZE_MAX; i = row[i].after) {
    if (row[i].id != kNone)
      out.push_back(row[i].id);
    else
      add_fallback(row[i].text, out);
  }
}

BytePairTokenizer BytePairTokenizer::from_files(const std::string& vocab_path, const std::string& merges_path) {
  const auto tables = std::make_shared<Tables>();
  const std::string vocab = file_text(vocab_path), merges = file_text(merges_path);
  tables->spelling = has(vocab, kByteSpace) ? Spelling::bytes : has(vocab, kBlock) ? Spelling::blocks : Spelling::plain;
  const Tables::Origin vocab_lines{vocab_path}, merge_lines{merges_path};
  for_each_line(vocab,
                [&](std::size_t, std::string_view line) { tables->add_token(std::string(line), false, vocab_lines); });
  tables->finish(vocab_lines);
  for_each_line(merges, [&](std::size_t number, std::string_view line) {
    if (line.empty() || (number == 0 && line.starts_with("#version"))) return;
    tables->add_merge(number, line, merge_lines);
  });
  return BytePairTokenizer(tables);
}

BytePairTokenizer BytePairTokenizer::from_vocabulary(const tare::Vocabulary& vocabulary) {
  const auto tables = std::make_shared<Tables>();
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
  return BytePairTokenizer(tables);
}

std::vector<std::int32_t> BytePairTokenizer::encode(std::string_view text) const {
  const std::string spelled = tables_->spelling == Spelling::blocks ? replaced(text, " ", kBlock) : std::string(text);
  const std::string_view space = tables_->spelling == Spelling::blocks ? kBlock : " ";
  std::vector<std::int32_t> tokens;
  std::string_view rest = spelled;
  while (!rest.empty()) {
    std::size_t end = 0;
    while (rest.substr(end).starts_with(space)) end += space.size();
    end = rest.find(space, end);
    tables_->encode_piece(rest.substr(0, end), tokens);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  }
  return tokens;
}

const std::string& BytePairTokenizer::text_of(std::int32_t token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= tables_->texts.size())
    throw Error(ErrorKind::usage, "bpe.decode.token",
                fmt::format("there is no token {}; the vocabulary has 0 to {}", token, tables_->texts.size() - 1));
  return tables_->texts[static_cast<std::size_t>(token)];
}

std::string BytePairTokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) text += text_of(token);
  return text;
}

std::size_t BytePairTokenizer::size() const { return tables_->texts.size(); }

std::optional<std::int32_t> BytePairTokenizer::find(std::string_view token) const {
  const std::int32_t found = tables_->id(std::string(token));
  return found == kNone ? std::nullopt : std::optional(found);
}

std::optional<std::int32_t> BytePairTokenizer::unknown() const {
  return tables_->unknown == kNone ? std::nullopt : std::optional(tables_->unknown);
}

}  // namespace tiny_llama
