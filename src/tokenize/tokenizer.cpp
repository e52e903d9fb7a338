#include "tare/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/budget.hpp"
#include "base/name_map.hpp"
#include "tare/error.hpp"
#include "tokenize/decode.hpp"
#include "tokenize/models.hpp"
#include "tokenize/normalize.hpp"
#include "tokenize/read.hpp"
#include "tokenize/split.hpp"

namespace tare {

using namespace tokenize;

class Tokenizer::Engine {
 public:
  explicit Engine(Rules rules)
      : rules_(std::move(rules)), normalizers_(rules_.normalizers), encoder_(make_encoder(rules_)) {
    std::size_t bytes = 0;
    for (const Added& added : rules_.added) {
      require_short_piece(added.text, added.id);
      bytes += added.text.size();
    }
    TextBudget budget = TextBudget::of_added(rules_.added.size(), bytes);
    spelled_.reserve(rules_.added.size());
    for (std::size_t i = 0; i < rules_.added.size(); ++i) {
      const Added& added = rules_.added[i];
      if (added.text.empty()) continue;
      bool keeps_beginning = true;
      spelled_.push_back(added.normalized ? normalizers_.apply(added.text, budget, keeps_beginning) : added.text);
      if (spelled_.back().empty())
        throw unknown_step(fmt::format("nothing is left of its token {} after the normalizers", added.id));
      (added.normalized ? in_normalized_ : in_raw_).add(spelled_.back(), static_cast<Id>(i));
    }
    require_different();
    in_raw_.finish(PrefixTable::Equal::first);
    in_normalized_.finish(PrefixTable::Equal::first);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  std::vector<Id> encode(std::string_view text, const EncodeOptions& options) const {
    constexpr std::size_t kLongest = std::size_t{1} << 30;
    if (text.size() > kLongest)
      throw Error(ErrorKind::limit, "tokenizer.text",
                  fmt::format("expected a text of at most {} bytes, found {}", kLongest, text.size()));
    std::string room;
    if (!rules_.keeps_bytes) text = valid_text(text, room);
    TextBudget budget = TextBudget::of_text(text.size());
    std::vector<Id> ids;
    if (options.frame) ids = rules_.before;
    const auto put_word = [&](std::string_view word) { encoder_->encode(word, budget, ids); };
    const std::function<void(std::string_view)> visit = put_word;
    cut_added(in_raw_, text, options.special, budget, ids, [&](std::string_view part, bool first) {
      const std::string changed = normalizers_.apply(std::string(part), budget, first);
      cut_added(in_normalized_, changed, options.special, budget, ids, [&](std::string_view words, bool begins) {
        split_words(rules_.splitters, words, first && begins, budget, visit);
      });
    });
    if (options.frame) ids.insert(ids.end(), rules_.behind.begin(), rules_.behind.end());
    return ids;
  }

  std::string decode(std::span<const Id> ids, bool special) const {
    TextBudget budget = budget_of(ids);
    std::vector<std::string> texts;
    texts.reserve(ids.size());
    for (const Id id : ids)
      if (special || !rules_.special[static_cast<std::size_t>(id)]) texts.push_back(text_of(id));
    return joined_text(rules_.decoders, std::move(texts), budget);
  }

  std::vector<std::string> pieces(std::span<const Id> ids) const {
    TextBudget budget = budget_of(ids);
    std::vector<std::string> pieces;
    pieces.reserve(ids.size());
    for (const Id id : ids) pieces.push_back(piece_text(rules_.decoders, text_of(id), budget));
    return pieces;
  }

  std::size_t size() const { return rules_.texts.size(); }
  const Rules& rules() const { return rules_; }

 private:
  // Refuses added tokens that differ only before they are normalized: which of them the library finds differs from run to
  // run.
  void require_different() const {
    NameViewMap<const Added*> known;
    for (std::size_t i = 0, next = 0; i < rules_.added.size(); ++i) {
      const Added& added = rules_.added[i];
      if (added.text.empty()) continue;
      const std::string_view spelled = spelled_[next++];
      if (!added.normalized) continue;
      const auto [found, is_new] = known.try_emplace(spelled, &added);
      if (!is_new && found->second->text != added.text)
        throw unknown_step(
            fmt::format("the normalizers make its tokens {} and {} the same", found->second->id, added.id));
    }
  }

  const std::string& text_of(Id id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= rules_.texts.size())
      throw Error(ErrorKind::usage, "tokenizer.id.range",
                  fmt::format("there is no token {}; the ids are 0 to {}", id, std::int64_t(rules_.texts.size()) - 1));
    return rules_.texts[static_cast<std::size_t>(id)];
  }

  // Checks the ids. The file decides how long a token is, and a user may ask for the same one a thousand times.
  TextBudget budget_of(std::span<const Id> ids) const {
    constexpr std::size_t kAnyway = std::size_t{1} << 24, kPerToken = 1024;
    std::size_t left = kAnyway + kPerToken * ids.size(), bytes = 0;
    for (const Id id : ids) {
      const std::size_t size = text_of(id).size();
      if (size > left)
        throw Error(ErrorKind::limit, "tokenizer.text",
                    fmt::format("the texts of these {} tokens have more than {} bytes", ids.size(),
                                kAnyway + kPerToken * ids.size()));
      left -= size;
      bytes += size;
    }
    return TextBudget::of_tokens(ids.size(), bytes);
  }

  static bool is_in_word(std::string_view text, std::size_t begin, std::size_t end) {
    const auto is_word = [&](std::size_t at) {
      return is_unicode_word_character(first_character(text.substr(at)).value);
    };
    if (begin > 0 && is_word(begin - last_length(text.substr(0, begin)))) return true;
    return end < text.size() && is_word(end);
  }

  // Appends the added tokens that a text has, the leftmost and of these the longest, and calls visit(part, whether the
  // text begins with it) for what is between them.
  template <typename Visit>
  void cut_added(const PrefixTable& table, std::string_view text, bool special, TextBudget& budget,
                 std::vector<Id>& ids, const Visit& visit) const {
    std::size_t done = 0;
    const auto visit_until = [&](std::size_t end) {
      if (end > done) visit(text.substr(done, end - done), done == 0);
    };
    for (std::size_t at = 0; at < text.size() && !table.empty();) {
      const PrefixTable::Found found = table.longest(text.substr(at), budget);
      if (found.length == 0) {
        ++at;
        continue;
      }
      const Added& added = rules_.added[static_cast<std::size_t>(found.id)];
      std::size_t begin = at, end = at + found.length;
      at = end;
      if ((added.special && !special) || (added.single_word && is_in_word(text, begin, end)) || begin < done) continue;
      while (added.left && begin > done) {
        const unsigned before = last_length(text.substr(0, begin));
        if (!is_white_space(first_character(text.substr(begin - before)).value)) break;
        begin -= before;
      }
      while (added.right && end < text.size() && is_white_space(first_character(text.substr(end)).value))
        end += first_character(text.substr(end)).length;
      visit_until(begin);
      ids.push_back(added.id);
      done = end;
    }
    visit_until(text.size());
  }

  Rules rules_;
  NormalizerChain normalizers_;
  std::unique_ptr<WordEncoder> encoder_;
  PrefixTable in_raw_, in_normalized_;
  std::vector<std::string> spelled_;  // the texts that both tables refer to
};

Tokenizer::Tokenizer(const Model& model) {
  const Spending spending;
  if (spending.is_outermost())
    for (const SourcePtr& source : model.sources) current_budget()->grant(source->size());
  engine_ = std::make_shared<const Engine>(read_rules(model));
}
Tokenizer::~Tokenizer() = default;

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return engine_->encode(text, options);
}
std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const { return encode(text, EncodeOptions()); }
std::vector<std::int32_t> Tokenizer::before() const { return engine_->rules().before; }
std::vector<std::int32_t> Tokenizer::behind() const { return engine_->rules().behind; }
std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool special) const {
  return engine_->decode(ids, special);
}
std::string Tokenizer::piece(std::int32_t id) const { return std::move(engine_->pieces({&id, 1}).front()); }
std::vector<std::string> Tokenizer::pieces(std::span<const std::int32_t> ids) const { return engine_->pieces(ids); }
std::size_t Tokenizer::size() const { return engine_->size(); }

}  // namespace tare
