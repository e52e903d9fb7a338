#include "tokenize/decode.hpp"

#include <algorithm>

#include "tokenize/models.hpp"

namespace tare::tokenize {
namespace {

using Texts = std::vector<std::string>;

constexpr std::uint64_t kTokenSteps = 8;     // what a step takes for a token, whatever its length
constexpr std::uint64_t kReplacedSteps = 4;  // and a replacement in it

void replace_all(std::string& text, std::string_view what, std::string_view with, TextBudget& budget) {
  if (what.empty() || text.size() < what.size()) return;
  // Each place may be compared with all of it.
  budget.charge(text.size() * (1 + what.size() / 16));
  if (text.find(what) == text.npos) return;
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, done)) {
    budget.charge(kReplacedSteps + with.size() / 16);
    budget.grow(with.size() > what.size() ? with.size() - what.size() : 0);
    out.append(text, done, at - done).append(with);
    done = at + what.size();
  }
  text = out.append(text, done);
}

// What English contractions and punctuation look like after words were joined by blanks, and before they were split.
constexpr std::pair<std::string_view, std::string_view> kCleaned[] = {
    {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
    {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

struct Joiner {
  Texts& tokens;
  TextBudget& budget;

  void operator()(const JoinBytes&) const {}
  void operator()(const ReplaceText& step) const {
    for (std::string& token : tokens) replace_all(token, step.what, step.with, budget);
  }
  void operator()(const ByteTokens&) const {
    for (std::string& token : tokens)
      if (const auto byte = byte_of_token(token)) token.assign(1, static_cast<char>(*byte));
  }
  void operator()(const Fuse&) const {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, std::move(all));
  }
  void operator()(const StripText& step) const {
    if (step.what.empty()) return;
    for (std::string& token : tokens) {
      std::string_view left = token;
      for (std::size_t i = 0; i < step.start && left.starts_with(step.what); ++i) left.remove_prefix(step.what.size());
      for (std::size_t i = 0; i < step.stop && left.ends_with(step.what); ++i) left.remove_suffix(step.what.size());
      if (left.size() < token.size()) token = std::string(left);
    }
  }
  void operator()(const UnspellBlanks& step) const {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], step.replacement, i == 0 && step.adds ? "" : " ", budget);
  }
  void operator()(const JoinWordPieces& step) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0) {
        if (token.starts_with(step.prefix))
          token.erase(0, step.prefix.size());
        else
          token.insert(0, 1, ' ');
      }
      if (step.cleans)
        for (const auto& [what, with] : kCleaned) replace_all(token, what, with, budget);
    }
  }
  void operator()(const JoinSuffixes& step) const {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], step.suffix, i + 1 == tokens.size() ? "" : " ", budget);
  }
  void operator()(const JoinBlanks&) const {
    for (std::size_t i = 1; i < tokens.size(); ++i) tokens[i].insert(0, 1, ' ');
  }
};

struct Speller {
  std::string& token;
  TextBudget& budget;

  void operator()(const ReplaceText& step) const { replace_all(token, step.what, step.with, budget); }
  void operator()(const ByteTokens&) const {
    if (const auto byte = byte_of_token(token)) token.assign(1, static_cast<char>(*byte));
  }
  void operator()(const UnspellBlanks& step) const { replace_all(token, step.replacement, " ", budget); }
  void operator()(const JoinWordPieces& step) const {
    if (token.starts_with(step.prefix)) token.erase(0, step.prefix.size());
  }
  void operator()(const JoinSuffixes& step) const { replace_all(token, step.suffix, " ", budget); }
  template <typename Other>
  void operator()(const Other& /*concerns more than one token*/) const {}
};

}  // namespace

std::string joined_text(const std::vector<Decoder>& decoders, Texts tokens, TextBudget& budget) {
  for (const Decoder& step : decoders) {
    for (const std::string& token : tokens) budget.charge(kTokenSteps + token.size());
    std::visit(Joiner{tokens, budget}, step);
  }
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

std::string piece_text(const std::vector<Decoder>& decoders, std::string token, TextBudget& budget) {
  for (const Decoder& step : decoders) {
    budget.charge(kTokenSteps + token.size());
    std::visit(Speller{token, budget}, step);
  }
  return token;
}

}  // namespace tare::tokenize
