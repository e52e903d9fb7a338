// Exactly the rules of Tiny Llama's own program, because that program produced the ids of a model.
//
//  vocab.txt    <unk> <pad> <bos> <eos> are 0 to 3 before the file is read. The first word of a line, up to white
//               space, gets the next id unless it has one; a line "word N" gives it the id N, replacing any other word.
//               A line of only white space is the word "" (so the line " " is not the space); an empty line is ignored.
//  merges.txt   The first line is skipped if it contains "#version". The first two words of a line are a pair; a line
//               with fewer is ignored. Ranks count the pairs; a repeated pair gets the later rank. Words need not be
//               tokens.
//  text         A-Z become a-z. Every white-space character is a word " ", which cannot be a token, so it is <unk>.
//               Other words are split into bytes; all occurrences of the best pair are merged, from the left, until
//               no pair is left. What is not a token then is <unk>: one per byte of a character that was not merged.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/name_map.hpp"
#include "tare/error.hpp"
#include "tiny_llama/tokenizer_tables.hpp"

namespace tiny_llama {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kFirstTokens[] = {"<unk>", "<pad>", "<bos>", "<eos>"};
constexpr std::int32_t kMostIds = 1 << 20;

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

// Removes and returns the first word of `line`; empty if there is none.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

// Reads an int as C++ streams do: digits at the beginning, anything after. Nothing if there are none or too many.
std::optional<std::int32_t> number_in(std::string_view word) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  std::int32_t number = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

// Removes and returns the first line, without its line feed.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

struct UpstreamTables final : BytePairTokenizer::Tables {
  tare::NameMap<std::int32_t> symbols;  // bytes, halves of pairs, pairs
  std::vector<std::int32_t> tokens;     // the token of each symbol
  PairRanks ranks;

  UpstreamTables(const TextFile& vocab, const TextFile& merges) {
    rules = Rules::upstream;
    for (const std::string_view token : kFirstTokens) add(token);
    read_vocab(vocab);
    unknown = id(std::string(kFirstTokens[0]));
    for (int byte = 0; byte < 256; ++byte) symbol(std::string(1, static_cast<char>(byte)));
    read_merges(merges);
  }

  void add(std::string_view token) {
    if (ids.emplace(token, static_cast<std::int32_t>(texts.size())).second) texts.emplace_back(token);
  }

  void read_vocab(const TextFile& file) {
    std::string_view rest = file.text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
      std::string_view line = take_line(rest);
      if (line.empty()) continue;
      const std::string token(take_word(line));
      const std::optional<std::int32_t> stated = number_in(take_word(line));
      if (!stated || *stated < 0) {
        add(token);
        continue;
      }
      if (*stated >= kMostIds)
        throw tare::Error(tare::ErrorKind::limit, "bpe.vocab.id",
                          fmt::format("line {}: expected an id of at most {}, found {}", number, kMostIds - 1, *stated))
            .in(file.name);
      const auto place = static_cast<std::size_t>(*stated);
      if (texts.size() <= place) texts.resize(place + 1);
      texts[place] = token;
      ids[token] = *stated;
    }
  }

  std::int32_t symbol(const std::string& text) {
    const auto [found, is_new] = symbols.emplace(text, static_cast<std::int32_t>(tokens.size()));
    if (is_new) tokens.push_back(ids.contains(text) ? id(text) : unknown);
    return found->second;
  }

  void read_merges(const TextFile& file) {
    std::string_view rest = file.text;
    if (std::string_view after = rest; take_line(after).find("#version") != std::string_view::npos) rest = after;
    for (std::size_t rank = 0; !rest.empty();) {
      std::string_view line = take_line(rest);
      const std::string left(take_word(line)), right(take_word(line));
      if (right.empty()) continue;
      ranks.set(symbol(left), symbol(right), {rank++, symbol(left + right)});
    }
  }

  void encode_word(std::string_view word, std::vector<std::int32_t>& out) const {
    if (word.empty()) return;
    std::vector<Symbol> row;
    row.reserve(word.size());
    // The first 256 symbols are the bytes, in order.
    for (const char c : word) row.push_back({.id = static_cast<unsigned char>(c), .text = {}});
    merge_row(row, ranks, MergeOrder::by_round);
    for (std::size_t i = 0; i != SIZE_MAX; i = row[i].after) out.push_back(tokens[static_cast<std::size_t>(row[i].id)]);
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::string lower(text);
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    std::vector<std::int32_t> out;
    for (std::string_view rest = lower; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
      encode_word(word, out);
      rest.remove_prefix(word.size());
      for (; !rest.empty() && is_blank(rest.front()); rest.remove_prefix(1)) out.push_back(unknown);
    }
    return out;
  }
};

}  // namespace

bool begins_as_upstream(std::string_view vocab) {
  return std::all_of(std::begin(kFirstTokens), std::end(kFirstTokens), [&](std::string_view token) {
    std::string_view line = take_line(vocab);
    return take_word(line) == token;
  });
}

TablesPtr upstream_tables(const TextFile& vocab, const TextFile& merges) {
  return std::make_shared<UpstreamTables>(vocab, merges);
}

}  // namespace tiny_llama
