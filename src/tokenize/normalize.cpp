#include "tokenize/normalize.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"
#include "tokenize/characters.hpp"
#include "tokenize/models.hpp"

namespace tare::tokenize {

class NormalizerChain::Step {
 public:
  virtual ~Step() = default;
  virtual std::string apply(std::string text, TextBudget& budget, bool& keeps_beginning) const = 0;
  // The steps to charge per byte of the text, in addition to what apply() charges itself.
  virtual std::uint64_t steps_per_byte() const = 0;
};

namespace {

constexpr std::uint64_t kMatchSteps = 8;  // what a replacement takes, whatever its length

std::string in_form(std::string_view text, Form form, TextBudget& budget) {
  budget.charge(steps_to_normalize(text));
  return normalized(text, form);
}

template <typename Change>
std::string each_character(std::string_view text, bool& keeps_beginning, const Change& change) {
  std::string out;
  out.reserve(text.size());
  for (bool first = true; !text.empty(); first = false) {
    const Character one = first_character(text);
    change(out, one.value, text.substr(0, one.length));
    text.remove_prefix(one.length);
    if (first && out.empty()) keeps_beginning = false;
  }
  return out;
}

std::string without_nonspacing(std::string_view text, bool& keeps_beginning) {
  return each_character(text, keeps_beginning, [](std::string& out, std::uint32_t c, std::string_view bytes) {
    if (!is_nonspacing_mark(c)) out += bytes;
  });
}

std::string in_lower_case(std::string_view text, bool& keeps_beginning) {
  return each_character(text, keeps_beginning,
                        [](std::string& out, std::uint32_t c, std::string_view) { append_lower_case(out, c); });
}

// ---- BERT ----

std::string bert_cleaned(std::string_view text, bool& keeps_beginning) {
  return each_character(text, keeps_beginning, [](std::string& out, std::uint32_t c, std::string_view bytes) {
    const bool blank = c == '\t' || c == '\n' || c == '\r' || is_white_space(c);
    if (c == 0 || c == kReplacement || (is_other(c) && c != '\t' && c != '\n' && c != '\r')) return;
    if (blank)
      out += ' ';
    else
      out += bytes;
  });
}

std::string with_spaced_ideographs(std::string_view text, bool& keeps_beginning) {
  return each_character(text, keeps_beginning, [](std::string& out, std::uint32_t c, std::string_view bytes) {
    if (is_bert_ideograph(c))
      out.append(" ").append(bytes).append(" ");
    else
      out += bytes;
  });
}

std::size_t first_length(std::string_view text) { return text.empty() ? 0 : first_character(text).length; }

struct Applier {
  std::string text;
  TextBudget& budget;
  bool& keeps_beginning;

  std::string operator()(const EscapeBlanks& step) const {
    std::string out(step.adds_blank ? kBlank : std::string_view());
    for (const char c : text)
      if (c == ' ')
        out += kBlank;
      else
        out += c;
    return out;
  }
  std::string operator()(Form form) const { return in_form(text, form, budget); }
  std::string operator()(const Replace& step) const {
    std::string out;
    std::size_t done = 0;
    Pattern::Search search(step.pattern, text, budget);
    while (const auto match = search.next()) {
      budget.charge(kMatchSteps + step.with.size());
      out.append(text, done, match->begin - done).append(step.with);
      budget.check_length(out.size());
      // The library counts a replacement of several characters as one of the last of them: the first one is gone.
      const bool several = match->end > first_length(text);
      if (match->begin == 0 && match->end > 0 && (step.with.empty() || several)) keeps_beginning = false;
      done = match->end;
    }
    return out.append(text, done);
  }
  std::string operator()(const Prepend& step) const { return text.empty() ? text : step.text + text; }
  std::string operator()(const LowerCase&) const { return in_lower_case(text, keeps_beginning); }
  std::string operator()(const StripAccents&) const {
    return each_character(text, keeps_beginning, [](std::string& out, std::uint32_t c, std::string_view bytes) {
      static const Categories marks = categories_named("M");
      if ((category_of(c) & marks) == 0) out += bytes;
    });
  }
  std::string operator()(const StripEnds& step) const {
    std::string_view left = text;
    while (step.left && !left.empty() && is_white_space(first_character(left).value))
      left.remove_prefix(first_character(left).length);
    if (left.size() < text.size()) keeps_beginning = false;
    while (step.right && !left.empty()) {
      const unsigned length = last_length(left);
      if (!is_white_space(first_character(left.substr(left.size() - length)).value)) break;
      left.remove_suffix(length);
    }
    return std::string(left);
  }
  std::string operator()(const BertClean& step) const {
    std::string out = step.clean ? bert_cleaned(text, keeps_beginning) : text;
    if (step.ideographs) out = with_spaced_ideographs(out, keeps_beginning);
    if (step.strip_accents) out = without_nonspacing(in_form(out, Form::nfd, budget), keeps_beginning);
    return step.lower ? in_lower_case(out, keeps_beginning) : out;
  }
  std::string operator()(const RewriteCharacters&) const { return text; }  // has its own Step
  std::string operator()(const PieceText&) const { return text; }
};

struct StepsPerByte {
  std::uint64_t operator()(const LowerCase&) const { return 4; }
  std::uint64_t operator()(const StripAccents&) const { return 4; }
  std::uint64_t operator()(const BertClean&) const { return 16; }
  template <typename Other>
  std::uint64_t operator()(const Other& /*copies the text*/) const {
    return 1;
  }
};

constexpr std::uint64_t kLookUpSteps = 8;  // a character in a table

class PlainStep final : public NormalizerChain::Step {
 public:
  explicit PlainStep(Normalizer step) : step_(std::move(step)) {}
  std::string apply(std::string text, TextBudget& budget, bool& keeps_beginning) const override {
    return std::visit(Applier{std::move(text), budget, keeps_beginning}, step_);
  }
  std::uint64_t steps_per_byte() const override { return std::visit(StepsPerByte{}, step_); }

 private:
  Normalizer step_;
};

// Follows the tokenizers library: a short grapheme cluster is looked up whole, and its characters if there is no entry. An
// entry for the beginning of the cluster replaces all of it.
class RewriteStep final : public NormalizerChain::Step {
 public:
  explicit RewriteStep(const RewriteCharacters& step) : table_(checked(step.table)) {}

  std::string apply(std::string text, TextBudget& budget, bool& /*keeps_beginning*/) const override {
    constexpr std::size_t kShort = 6;
    std::string out;
    for_each_grapheme(text, [&](std::string_view cluster) {
      if (cluster.size() < kShort)
        if (const auto found = table_.find(cluster, false, budget)) {
          append(out, found->with, budget);
          return;
        }
      for (; !cluster.empty(); cluster.remove_prefix(first_character(cluster).length)) {
        const std::string_view one = cluster.substr(0, first_character(cluster).length);
        const auto found = table_.find(one, false, budget);
        append(out, found ? found->with : one, budget);
      }
    });
    return out;
  }

  std::uint64_t steps_per_byte() const override { return kLookUpSteps; }

  // The replacements of a damaged table may be anything: what follows needs characters.
  static void append(std::string& out, std::string_view with, TextBudget& budget) {
    std::string room;
    budget.charge(with.size());
    out += valid_text(with, room);
    budget.check_length(out.size());
  }
  static CharacterTable checked(std::string_view table) { return CharacterTable(table); }

 private:
  CharacterTable table_;
};

class PieceTextStep final : public NormalizerChain::Step {
 public:
  explicit PieceTextStep(const PieceText& step) : step_(step), table_(step.table) {
    for (const std::string& text : step_.kept) kept_.add(text, 0);
    kept_.finish();
  }

  std::string apply(std::string text, TextBudget& budget, bool& /*keeps_beginning*/) const override {
    return step_.as_llama_cpp ? as_llama_cpp(text, budget) : as_sentencepiece(text, budget);
  }
  std::uint64_t steps_per_byte() const override { return kLookUpSteps; }

 private:
  // What the text begins with, rewritten; removes it from the text.
  std::string next(std::string_view& text, TextBudget& budget) const {
    std::size_t length = 0;
    if (!kept_.empty()) length = kept_.longest(text, budget).length;
    std::string out;
    if (length > 0) {
      out = text.substr(0, length);
    } else if (const auto found = table_.find(text, true, budget)) {
      length = found->length;
      RewriteStep::append(out, found->with, budget);
    } else {
      const CodePoint one = first_code_point(text);
      length = one.length;
      if (one.valid)
        out = text.substr(0, length);
      else
        append_character(out, kReplacement);
    }
    text.remove_prefix(length);
    return out;
  }

  std::string_view blank() const { return step_.spells_blanks ? kBlank : std::string_view(" "); }

  void append(std::string& out, std::string_view part, TextBudget& budget) const {
    for (const char c : part)
      if (c == ' ')
        out += blank();
      else
        out += c;
    budget.check_length(out.size());
  }

  std::string as_sentencepiece(std::string_view text, TextBudget& budget) const {
    std::string out, part;
    if (step_.joins_blanks) {
      while (!text.empty()) {
        std::string_view left = text;
        if (next(left, budget) != " ") break;
        text = left;
      }
    }
    if (text.empty()) return out;
    if (step_.adds_blank) out += blank();
    bool after_blank = step_.joins_blanks;
    while (!text.empty()) {
      part = next(text, budget);
      std::string_view left = part;
      while (after_blank && left.starts_with(' ')) left.remove_prefix(1);
      if (left.empty()) continue;
      append(out, left, budget);
      after_blank = step_.joins_blanks && left.ends_with(' ');
    }
    if (step_.joins_blanks)
      while (out.ends_with(blank())) out.erase(out.end() - static_cast<std::ptrdiff_t>(blank().size()), out.end());
    return out;
  }

  std::string as_llama_cpp(std::string_view text, TextBudget& budget) const {
    std::string out;
    bool added = false, in_word = false;
    while (!text.empty()) {
      for (const char c : next(text, budget)) {
        if (c == ' ') {
          in_word = false;
          if (!step_.joins_blanks) out += blank();
          continue;
        }
        if (!in_word && ((step_.adds_blank && !added) || step_.joins_blanks)) {
          out += blank();
          added = true;
        }
        in_word = true;
        out += c;
      }
      budget.check_length(out.size());
    }
    return out;
  }

  PieceText step_;
  CharacterTable table_;
  PrefixTable kept_;
};

std::shared_ptr<const NormalizerChain::Step> make_step(const Normalizer& step) {
  if (const auto* const rewrite = std::get_if<RewriteCharacters>(&step)) return std::make_shared<RewriteStep>(*rewrite);
  if (const auto* const pieces = std::get_if<PieceText>(&step)) return std::make_shared<PieceTextStep>(*pieces);
  return std::make_shared<PlainStep>(step);
}

}  // namespace

NormalizerChain::NormalizerChain(const std::vector<Normalizer>& steps) {
  for (const Normalizer& step : steps) steps_.push_back(make_step(step));
}

std::string NormalizerChain::apply(std::string text, TextBudget& budget, bool& keeps_beginning) const {
  constexpr std::uint64_t kStepSteps = 16;  // whatever the text
  for (const auto& step : steps_) {
    const std::size_t before = text.size();
    budget.charge(kStepSteps + step->steps_per_byte() * before);
    text = step->apply(std::move(text), budget, keeps_beginning);
    budget.check_length(text.size());
    // What a step puts to a text may be as long as the file, and there may be many texts.
    if (text.size() > before) budget.charge(text.size() - before);
  }
  return text;
}

}  // namespace tare::tokenize
