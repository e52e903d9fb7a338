#include "tokenize/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>

#include "base/printable.hpp"
#include "tare/error.hpp"
#include "tokenize/unicode.hpp"

namespace tare::tokenize {

// ---- tables ----

TokenTable::TokenTable(const Rules& rules) {
  bytes_.fill(-1);
  ids_.reserve(rules.texts.size());
  for (std::size_t id = 0; id < rules.texts.size(); ++id) {
    const std::string& text = rules.texts[id];
    if (rules.in_model[id] && !text.empty()) ids_.insert_or_assign(text, static_cast<Id>(id));
    if (const auto byte = byte_of_token(text); byte && bytes_[*byte] < 0) bytes_[*byte] = static_cast<Id>(id);
  }
}

std::optional<unsigned char> byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(3, 2)) {
    if ((c < '0' || c > '9') && (c < 'A' || c > 'F')) return std::nullopt;
    value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'A' + 10);
  }
  return static_cast<unsigned char>(value);
}

bool TokenTable::append_bytes(std::string_view text, std::vector<Id>& out) const {
  if (std::ranges::any_of(text, [&](char c) { return byte(static_cast<unsigned char>(c)) < 0; })) return false;
  for (const char c : text) out.push_back(byte(static_cast<unsigned char>(c)));
  return true;
}

void require_short_piece(std::string_view text, Id id) {
  if (text.size() > kLongestPiece)
    throw Error(
        ErrorKind::limit, "tokenizer.piece.long",
        fmt::format("token {} has {} bytes; more than {} are not looked for in texts", id, text.size(), kLongestPiece));
}

void PrefixTable::finish(Equal equal) {
  for (const auto& [text, id] : rows_) require_short_piece(text, id);
  std::ranges::sort(rows_, [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return equal == Equal::last ? a.second > b.second : a.second < b.second;
  });
  const auto are_equal = [](const auto& a, const auto& b) { return a.first == b.first; };
  rows_.erase(std::unique(rows_.begin(), rows_.end(), are_equal), rows_.end());
  for (std::size_t byte = 0, row = 0; byte < 257; ++byte) {
    while (row < rows_.size() && (rows_[row].first.empty() || static_cast<unsigned char>(rows_[row].first[0]) < byte))
      ++row;
    first_[byte] = row;
  }
}

void PrefixTable::narrow(std::size_t& low, std::size_t& high, std::size_t length, unsigned char byte) const {
  if (length == 0) {
    low = first_[byte];
    high = first_[byte + 1u];
    return;
  }
  // Rows are sorted: a text that ends here comes before all longer ones.
  const auto at = [&](const std::pair<std::string_view, Id>& row) {
    return row.first.size() == length ? -1 : static_cast<int>(static_cast<unsigned char>(row.first[length]));
  };
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(low),
             end = rows_.begin() + static_cast<std::ptrdiff_t>(high);
  const auto from = std::partition_point(begin, end, [&](const auto& row) { return at(row) < byte; });
  const auto to = std::partition_point(from, end, [&](const auto& row) { return at(row) <= byte; });
  low = static_cast<std::size_t>(from - rows_.begin());
  high = static_cast<std::size_t>(to - rows_.begin());
}

namespace {

Error no_unknown_token(std::string_view word) {
  return {ErrorKind::corrupt, "tokenizer.unknown",
          fmt::format("no token stands for \"{}\", and the vocabulary has no unknown token", quote(word))};
}

// A part of a word while parts are merged: a list in an array.
struct Part {
  Id id;
  std::uint32_t before, after;  // kEnd: none
  std::uint32_t begin, size;    // bytes of the word; size 0: merged into the part before
};
constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();

void link(std::vector<Part>& parts) {
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    parts[i].before = i == 0 ? kEnd : i - 1;
    parts[i].after = i + 1 == parts.size() ? kEnd : i + 1;
  }
}

// Merges `left` with the part after it.
void join(std::vector<Part>& parts, std::uint32_t left, Id id) {
  Part& one = parts[left];
  Part& other = parts[one.after];
  one.id = id;
  one.size += other.size;
  other.size = 0;
  one.after = other.after;
  if (one.after != kEnd) parts[one.after].before = left;
}

// What cutting a word and merging its parts takes for each of its bytes.
constexpr std::uint64_t kStepsPerByte = 16;

// ---- byte-pair encoding ----

class BytePairEncoder final : public WordEncoder {
 public:
  BytePairEncoder(const Rules& rules, const BytePairs& pairs) : rules_(rules), pairs_(pairs), tokens_(rules) {
    merges_.reserve(pairs.merges.size());
    for (std::size_t rank = 0; rank < pairs.merges.size(); ++rank)
      merges_.insert_or_assign(key(pairs.merges[rank].first, pairs.merges[rank].second),
                               Merge{static_cast<std::uint32_t>(rank), pairs.merged[rank]});
    for (unsigned byte = 0; byte < 256; ++byte)
      single_[byte] = tokens_.find(std::string(1, static_cast<char>(byte))).value_or(-1);
  }

  void encode(std::string_view word, TextBudget& budget, std::vector<Id>& out) const override {
    budget.charge(kStepsPerByte * word.size());
    if (pairs_.ignores_merges)
      if (const auto whole = tokens_.find(word)) return out.push_back(*whole);
    std::vector<Part> parts;
    parts.reserve(word.size());
    if (pairs_.bytes && pairs_.end_of_word.empty())
      cut_bytes(word, parts);
    else
      cut_characters(word, budget, parts);
    merge(parts);
    for (std::uint32_t i = parts.empty() ? kEnd : 0; i != kEnd; i = parts[i].after) out.push_back(parts[i].id);
  }

 private:
  struct Merge {
    std::uint32_t rank;
    Id id;
  };
  struct Candidate {
    std::uint32_t rank, left;
    Id id;
    // The best is the last in order: the lowest rank, then the leftmost.
    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
  };

  static std::uint64_t key(Id left, Id right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }

  void cut_bytes(std::string_view word, std::vector<Part>& parts) const {
    bool unknown = false;  // whether the last byte had no token
    for (std::size_t i = 0; i < word.size(); ++i) {
      const Id id = single_[static_cast<unsigned char>(word[i])];
      if (id >= 0)
        parts.push_back({id, 0, 0, static_cast<std::uint32_t>(i), 1});
      else if (rules_.unknown && !(unknown && pairs_.fuses_unknown))
        add_unknown(parts, i, 1);
      unknown = id < 0;
    }
    link(parts);
  }

  void add_unknown(std::vector<Part>& parts, std::size_t at, std::size_t size) const {
    parts.push_back({*rules_.unknown, 0, 0, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size)});
  }

  void cut_characters(std::string_view word, TextBudget& budget, std::vector<Part>& parts) const {
    bool unknown = false;  // whether the last character had no token
    for (std::size_t at = 0, length = 0; at < word.size(); at += length) {
      length = pairs_.bytes ? 1 : first_character(word.substr(at)).length;
      const std::string_view character = word.substr(at, length);
      const bool last = at + length == word.size();
      std::string spelled(character);
      if (at > 0) spelled.insert(0, pairs_.continues_word);
      if (last) spelled += pairs_.end_of_word;
      budget.charge(spelled.size());
      if (const auto id = tokens_.find(spelled)) {
        parts.push_back({*id, 0, 0, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)});
        unknown = false;
        continue;
      }
      std::vector<Id> bytes;
      if (pairs_.byte_fallback && tokens_.append_bytes(spelled, bytes)) {
        for (const Id id : bytes) parts.push_back({id, 0, 0, static_cast<std::uint32_t>(at), 1});
        continue;
      }
      if (rules_.unknown && !(unknown && pairs_.fuses_unknown)) add_unknown(parts, at, length);
      unknown = rules_.unknown.has_value();
    }
    link(parts);
  }

  const Merge* merge_at(const std::vector<Part>& parts, std::uint32_t left) const {
    if (left == kEnd || parts[left].after == kEnd) return nullptr;
    const auto found = merges_.find(key(parts[left].id, parts[parts[left].after].id));
    return found == merges_.end() ? nullptr : &found->second;
  }

  void merge(std::vector<Part>& parts) const {
    std::priority_queue<Candidate> queue;
    const auto offer = [&](std::uint32_t left) {
      if (const Merge* const merge = merge_at(parts, left)) queue.push({merge->rank, left, merge->id});
    };
    for (std::uint32_t i = 0; i + 1 < parts.size(); ++i) offer(i);
    while (!queue.empty()) {
      const Candidate best = queue.top();
      queue.pop();
      if (parts[best.left].size == 0) continue;
      const Merge* const merge = merge_at(parts, best.left);
      if (merge == nullptr || merge->id != best.id) continue;  // one of the two was merged otherwise
      join(parts, best.left, best.id);
      offer(parts[best.left].before);
      offer(best.left);
    }
  }

  const Rules& rules_;
  const BytePairs& pairs_;
  TokenTable tokens_;
  std::unordered_map<std::uint64_t, Merge, KeyedNumberHash> merges_;
  std::array<Id, 256> single_{};
};

// ---- merges by scores ----

class ScoredPairEncoder final : public WordEncoder {
 public:
  ScoredPairEncoder(const Rules& rules, const ScoredPairs& pairs) : rules_(rules), pairs_(pairs), tokens_(rules) {
    for (std::size_t id = 0; id < rules.texts.size(); ++id) {
      if (!rules.in_model[id]) continue;
      longest_ = std::max(longest_, rules.texts[id].size());
      if (pairs.frozen[id]) frozen_.add(rules.texts[id], static_cast<Id>(id));
    }
    frozen_.finish();
  }

  void encode(std::string_view word, TextBudget& budget, std::vector<Id>& out) const override {
    budget.charge(kStepsPerByte * word.size());
    std::vector<Part> parts;
    cut(word, budget, parts);
    // Unused pieces may be made on the way, but must not be results: they are split again into these halves.
    NameViewMap<std::pair<std::size_t, std::size_t>> halves;
    std::priority_queue<Candidate> queue;
    const auto offer = [&](std::uint32_t left) {
      if (left == kEnd || parts[left].after == kEnd) return;
      const Part& one = parts[left];
      const Part& other = parts[one.after];
      if (one.id == kFrozen || other.id == kFrozen || one.size + other.size > longest_) return;
      const std::string_view text = word.substr(one.begin, one.size + other.size);
      budget.charge(text.size() / 4);
      const auto id = tokens_.find(text);
      if (!id) return;
      if (pairs_.unused[static_cast<std::size_t>(*id)])
        halves.insert_or_assign(text, std::pair(std::size_t{one.size}, std::size_t{other.size}));
      queue.push({rules_.scores[static_cast<std::size_t>(*id)], left, static_cast<std::uint32_t>(text.size())});
    };
    for (std::uint32_t i = 0; i + 1 < parts.size(); ++i) offer(i);
    while (!queue.empty()) {
      const Candidate best = queue.top();
      queue.pop();
      const Part& one = parts[best.left];
      if (one.size == 0 || one.after == kEnd || one.size + parts[one.after].size != best.size) continue;
      join(parts, best.left, kOpen);
      offer(parts[best.left].before);
      offer(best.left);
    }
    bool unknown = false;  // whether the last token was the unknown one
    for (std::uint32_t i = parts.empty() ? kEnd : 0; i != kEnd; i = parts[i].after)
      put(word.substr(parts[i].begin, parts[i].size), halves, budget, unknown, out);
  }

 private:
  static constexpr Id kOpen = 0, kFrozen = 1;  // values of Part::id: may be merged, may not

  struct Candidate {
    double score;
    std::uint32_t left, size;
    bool operator<(const Candidate& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  // The length of the character at the beginning, by its first byte alone if bytes are kept.
  std::size_t length_of(std::string_view text) const {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return std::min(length, text.size());
  }

  void cut(std::string_view word, TextBudget& budget, std::vector<Part>& parts) const {
    for (std::size_t at = 0, length = 0; at < word.size(); at += length) {
      length = frozen_.empty() ? 0 : frozen_.longest(word.substr(at), budget).length;
      const Id kind = length > 0 ? kFrozen : kOpen;
      if (length == 0) length = length_of(word.substr(at));
      parts.push_back({kind, 0, 0, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(length)});
    }
    link(parts);
  }

  void put(std::string_view text, const NameViewMap<std::pair<std::size_t, std::size_t>>& halves, TextBudget& budget,
           bool& unknown, std::vector<Id>& out) const {
    // Not by recursion: a file can make it deep.
    std::vector<std::string_view> waiting = {text};
    while (!waiting.empty()) {
      const std::string_view part = waiting.back();
      waiting.pop_back();
      budget.charge(part.size());
      const auto id = tokens_.find(part);
      if (id && pairs_.unused[static_cast<std::size_t>(*id)] && !pairs_.as_llama_cpp)
        if (const auto found = halves.find(part); found != halves.end()) {
          waiting.push_back(part.substr(found->second.first));
          waiting.push_back(part.substr(0, found->second.first));
          continue;
        }
      put_one(part, id, unknown, out);
    }
  }

  void put_one(std::string_view part, std::optional<Id> id, bool& unknown, std::vector<Id>& out) const {
    if (id && id != rules_.unknown) {
      out.push_back(*id);
      unknown = false;
      return;
    }
    if (pairs_.as_llama_cpp || pairs_.byte_fallback) {
      if (tokens_.append_bytes(part, out)) {
        unknown = false;
        return;
      }
    }
    if (rules_.unknown && !unknown) out.push_back(*rules_.unknown);
    unknown = rules_.unknown.has_value() && !pairs_.as_llama_cpp;
  }

  const Rules& rules_;
  const ScoredPairs& pairs_;
  TokenTable tokens_;
  PrefixTable frozen_;
  std::size_t longest_ = 0;
};

// ---- the likeliest pieces ----

class LikeliestEncoder final : public WordEncoder {
 public:
  LikeliestEncoder(const Rules& rules, const Likeliest& likeliest)
      : rules_(rules), likeliest_(likeliest), tokens_(rules) {
    for (std::size_t id = 0; id < rules.texts.size(); ++id)
      if (rules.in_model[id] && !likeliest.left_out[id]) pieces_.add(rules.texts[id], static_cast<Id>(id));
    pieces_.finish();
  }

  void encode(std::string_view word, TextBudget& budget, std::vector<Id>& out) const override {
    budget.charge(kStepsPerByte * word.size());
    likeliest_.single ? encode_with<float>(word, budget, out) : encode_with<double>(word, budget, out);
  }

 private:
  template <typename Score>
  Score score_of(Id id, std::size_t length) const {
    const auto i = static_cast<std::size_t>(id);
    if (!likeliest_.user_defined.empty() && likeliest_.user_defined[i]) {
      constexpr double kBelow = 0.1;  // SentencePiece's, as are the length and the highest score
      return likeliest_.user_defined_by_length
                 ? static_cast<Score>(length) * static_cast<Score>(likeliest_.highest) - static_cast<Score>(kBelow)
                 : Score{0};
    }
    return static_cast<Score>(rules_.scores[i]);
  }

  template <typename Score>
  void encode_with(std::string_view word, TextBudget& budget, std::vector<Id>& out) const {
    struct Best {
      Score score = 0;
      std::uint32_t begin = kEnd;
      Id id = -1;
    };
    constexpr double kPenalty = 10;
    const auto unknown_score = static_cast<Score>(static_cast<Score>(likeliest_.lowest) - static_cast<Score>(kPenalty));
    std::vector<Best> best(word.size() + 1);
    for (std::size_t at = 0, length = 0; at < word.size(); at += length) {
      length = likeliest_.bytes ? 1 : first_character(word.substr(at)).length;
      const Score here = best[at].score;
      const auto offer = [&](std::size_t size, Id id, Score score) {
        Best& end = best[at + size];
        const auto sum = static_cast<Score>(score + here);
        if (end.begin == kEnd || sum > end.score) end = {sum, static_cast<std::uint32_t>(at), id};
      };
      bool single = false;
      pieces_.each(word.substr(at), budget, [&](std::size_t size, Id id) {
        offer(size, id, score_of<Score>(id, size));
        single = single || size == length;
      });
      if (!single) offer(length, rules_.unknown.value_or(-1), unknown_score);
    }
    // From the end; neighbouring unknown characters are one piece.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
    std::vector<Id> ids;
    for (auto end = static_cast<std::uint32_t>(word.size()); end > 0; end = best[end].begin) {
      const Id id = best[end].id;
      const bool unknown = id == rules_.unknown.value_or(-1);
      if (unknown && !ids.empty() && ids.back() == id)
        pieces.back().first = best[end].begin;
      else {
        pieces.emplace_back(best[end].begin, end);
        ids.push_back(id);
      }
    }
    for (std::size_t i = pieces.size(); i-- > 0;)
      put(word.substr(pieces[i].first, pieces[i].second - pieces[i].first), ids[i], out);
  }

  void put(std::string_view piece, Id id, std::vector<Id>& out) const {
    if (id != rules_.unknown.value_or(-1)) return out.push_back(id);
    if (likeliest_.byte_fallback && tokens_.append_bytes(piece, out)) return;
    if (!rules_.unknown) throw no_unknown_token(piece);
    out.push_back(*rules_.unknown);
  }

  const Rules& rules_;
  const Likeliest& likeliest_;
  TokenTable tokens_;
  PrefixTable pieces_;
};

// ---- words and their pieces ----

class WordPieceEncoder final : public WordEncoder {
 public:
  WordPieceEncoder(const Rules& rules, const WordPieces& words) : rules_(rules), words_(words) {
    for (std::size_t id = 0; id < rules.texts.size(); ++id) {
      if (!rules.in_model[id] || rules.texts[id].empty()) continue;
      const std::string_view text = rules.texts[id];
      first_.add(text, static_cast<Id>(id));
      if (text.starts_with(words.prefix) && text.size() > words.prefix.size())
        later_.add(text.substr(words.prefix.size()), static_cast<Id>(id));
    }
    first_.finish();
    later_.finish();
  }

  void encode(std::string_view word, TextBudget& budget, std::vector<Id>& out) const override {
    budget.charge(word.size());
    const std::size_t before = out.size();
    if (characters(word) <= words_.longest_word) {
      std::size_t at = 0;
      while (at < word.size()) {
        const PrefixTable::Found found = (at == 0 ? first_ : later_).longest(word.substr(at), budget);
        if (found.length == 0) break;
        out.push_back(found.id);
        at += found.length;
      }
      if (at == word.size()) return;
    }
    out.resize(before);
    if (!rules_.unknown) throw no_unknown_token(word);
    out.push_back(*rules_.unknown);
  }

 private:
  static std::size_t characters(std::string_view word) {
    return static_cast<std::size_t>(
        std::ranges::count_if(word, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }

  const Rules& rules_;
  const WordPieces& words_;
  PrefixTable first_, later_;
};

class WholeWordEncoder final : public WordEncoder {
 public:
  explicit WholeWordEncoder(const Rules& rules) : rules_(rules), tokens_(rules) {}

  void encode(std::string_view word, TextBudget& budget, std::vector<Id>& out) const override {
    budget.charge(word.size());
    const auto id = tokens_.find(word);
    if (!id && !rules_.unknown) throw no_unknown_token(word);
    out.push_back(id ? *id : *rules_.unknown);
  }

 private:
  const Rules& rules_;
  TokenTable tokens_;
};

struct Maker {
  const Rules& rules;
  std::unique_ptr<WordEncoder> operator()(const BytePairs& kind) const {
    return std::make_unique<BytePairEncoder>(rules, kind);
  }
  std::unique_ptr<WordEncoder> operator()(const ScoredPairs& kind) const {
    return std::make_unique<ScoredPairEncoder>(rules, kind);
  }
  std::unique_ptr<WordEncoder> operator()(const Likeliest& kind) const {
    return std::make_unique<LikeliestEncoder>(rules, kind);
  }
  std::unique_ptr<WordEncoder> operator()(const WordPieces& kind) const {
    return std::make_unique<WordPieceEncoder>(rules, kind);
  }
  std::unique_ptr<WordEncoder> operator()(const WholeWords&) const { return std::make_unique<WholeWordEncoder>(rules); }
};

}  // namespace

std::unique_ptr<WordEncoder> make_encoder(const Rules& rules) { return std::visit(Maker{rules}, rules.model); }

}  // namespace tare::tokenize
