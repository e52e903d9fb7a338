// The tokenizer section of version 2. It has three layouts and no field that names the layout. Each is tried; of those
// that end where the next section begins, the one that agrees best with the section's size is used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/alt/alt.hpp"

namespace tare::alt {
namespace {

constexpr TokenLayout kSpecLayout{false, true}, kNoSeqLen{false, false}, kAltcLayout{true, false};

// How well a layout explains a section, from worst to best.
enum class Fit : std::uint8_t {
  none,             // the bytes do not parse
  fields,           // parses up to the next section, but the size counts something else, or a score is odd
  size,             // the size also counts one of the four things that sizes may count
  size_as_in_start  // the size counts the same thing as the size of the start section
};

std::uint64_t least_record(const TokenLayout& layout) { return layout.altc ? 16 : 12; }

class TokenizerReader {
 public:
  TokenizerReader(Cursor& cursor, const Section& start, Vocabulary& vocabulary)
      : cursor_(cursor), form_(start.form()), vocabulary_(vocabulary) {}

  Tokenizer read() {
    read_.section = open_section(cursor_, "tokenizer", kTokenizer);
    read_.layout = best_layout();
    read_vocabulary();
    if (read_.layout.altc) renumber_types();
    close_section(cursor_, read_.section);
    return read_;
  }

 private:
  // If no layout fits, the first is used, so that its errors are reported.
  TokenLayout best_layout() {
    const bool altc_first = form_ == SizeForm::fields;
    const TokenLayout order[] = {altc_first ? kAltcLayout : kSpecLayout, altc_first ? kSpecLayout : kNoSeqLen,
                                 altc_first ? kNoSeqLen : kAltcLayout};
    TokenLayout best = order[0];
    Fit best_fit = Fit::none;
    for (const TokenLayout& layout : order) {
      const Fit fit = fit_of(layout);
      if (fit > best_fit) best = layout, best_fit = fit;
    }
    return best;
  }

  Fit fit_of(const TokenLayout& layout) {
    Section section = read_.section;
    odd_score_ = false;
    const auto tokens = skip_fields(section, layout);
    if (!tokens) return Fit::none;
    if (odd_score_) return Fit::fields;
    const bool as_altc = layout.altc && section.size == altc_size(section, *tokens);
    if (form_ && (section.size == section.size_in(*form_) || (as_altc && form_ == SizeForm::fields)))
      return Fit::size_as_in_start;
    return as_altc || section.form() ? Fit::size : Fit::fields;
  }

  // Returns the number of tokens if the section parses in this layout up to a marker on the next boundary. Reports
  // nothing.
  std::optional<std::uint64_t> skip_fields(Section& section, const TokenLayout& layout) {
    const std::uint64_t fields = section.begin + kHeader;
    std::optional<std::uint64_t> tokens;
    try {
      cursor_.go(fields);
      const std::int32_t size = cursor_.i32("vocab_size");
      cursor_.bytes(layout.seq_len ? 20 : 16, "ids");
      bool fits = size >= 0 && static_cast<std::uint64_t>(size) <= cursor_.left() / least_record(layout);
      for (std::int32_t id = 0; fits && id < size; ++id) fits = skip_token(layout, id);
      section.fields_end = cursor_.at();
      if (fits && padding_and_marker_follow()) tokens = static_cast<std::uint64_t>(size);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
    }
    cursor_.go(fields);
    return tokens;
  }

  bool padding_and_marker_follow() {
    const std::uint64_t end = cursor_.at(), next = cursor_.aligned(end);
    const auto zeros = cursor_.bytes(next - end, "padding");
    return std::all_of(zeros.begin(), zeros.end(), [](std::byte b) { return b == std::byte{0}; }) &&
           (next_is(cursor_, kTensors) || next_is(cursor_, kEnd));
  }

  bool skip_score_and_type() {
    // A length or a type that is read as a score is subnormal, which no real score is.
    odd_score_ |= std::fpclassify(cursor_.f32("score")) == FP_SUBNORMAL;
    const std::int32_t type = cursor_.i32("type");
    return type >= 0 && type <= 8;
  }

  bool skip_token(const TokenLayout& layout, std::int32_t id) {
    if (layout.altc && (!skip_score_and_type() || cursor_.i32("id") != id)) return false;
    const std::int32_t length = cursor_.i32("length");
    if (length < 0 || static_cast<std::uint64_t>(length) > cursor_.left()) return false;
    cursor_.go(cursor_.at() + static_cast<std::uint64_t>(length));
    return layout.altc || skip_score_and_type();
  }

  void read_vocabulary() {
    const std::uint64_t start = cursor_.at();
    const std::int32_t size = cursor_.i32("vocab_size");
    const std::uint64_t numbers = read_.layout.seq_len ? 20 : 16;
    const std::uint64_t room = cursor_.left() < numbers ? 0 : (cursor_.left() - numbers) / least_record(read_.layout);
    if (size < 0 || static_cast<std::uint64_t>(size) > room)
      cursor_.fail("tokenizer.vocab_size", fmt::format("vocab_size is {}, there is room for {} tokens", size, room),
                   start);
    read_special_ids(cursor_, size, vocabulary_);
    if (read_.layout.seq_len) read_.seq_len = cursor_.i32("seq_len");
    for (std::int32_t id = 0; id < size; ++id) vocabulary_.tokens.push_back(read_token(id));
  }

  // From 2024-12-28 to 2025-01-03 alt.c wrote these records with the document's type numbers, in which 1 is a byte. In
  // alt.c's own numbers, 1 is the unknown token, and a vocabulary has only one of those.
  void renumber_types() {
    std::vector<Token>& tokens = vocabulary_.tokens;
    const auto is_unknown = [](const Token& token) { return token.type == TokenType::unknown; };
    if (std::ranges::count_if(tokens, is_unknown) < 2) return;
    if (!std::ranges::all_of(tokens, [&](const Token& token) { return !is_unknown(token) || spells_byte(token.text); }))
      return;
    for (Token& token : tokens) token.type = token_type(number_of(token.type, true), false);
    cursor_.warn("token.types", "the token types are numbered as in the document, the rest is as alt.c has it",
                 read_.section.begin);
  }

  // A token like <0x0A>.
  static bool spells_byte(std::string_view text) {
    return text.size() == 6 && text.starts_with("<0x") && text.ends_with('>');
  }

  Token read_token(std::int32_t id) {
    cursor_.set_item(fmt::format("token {}", id));
    const std::uint64_t start = cursor_.at();
    Token token;
    std::int32_t type = 0;
    if (read_.layout.altc) {
      token.score = cursor_.f32("score");
      type = cursor_.i32("type");
      if (const std::int32_t found = cursor_.i32("id"); found != id)
        cursor_.complain("token.id", fmt::format("tokens must be in the order of their ids; this one is {}", found),
                         start + 8);
      token.text = cursor_.string("token", cursor_.size());
    } else {
      token.text = cursor_.string("token", cursor_.size());
      token.score = cursor_.f32("score");
      type = cursor_.i32("type");
    }
    if (type < 0 || type > 8)
      cursor_.complain("token.type", fmt::format("the type {} is not known", type), start), type = 0;
    token.type = token_type(type, read_.layout.altc);
    cursor_.set_item("tokenizer section");
    return token;
  }

  Cursor& cursor_;
  std::optional<SizeForm> form_;  // what the size of the start section counts
  Vocabulary& vocabulary_;
  Tokenizer read_;
  bool odd_score_ = false;
};

}  // namespace

void read_special_ids(Cursor& cursor, std::int32_t tokens, Vocabulary& vocabulary) {
  for (const SpecialId& special : kSpecialIds) {
    const std::uint64_t at = cursor.at();
    const std::int32_t id = cursor.i32(special.name);
    if (id < -1)
      cursor.warn("tokenizer.id", fmt::format("the {} is {}: taken as absent", special.name, id), at);
    else if (id >= tokens)
      cursor.warn("tokenizer.id", fmt::format("the {} is {}, there are {} tokens", special.name, id, tokens), at);
    vocabulary.*special.member = std::max(id, -1);
  }
}

Tokenizer read_tokenizer(Cursor& cursor, const Section& start, Vocabulary& vocabulary) {
  return TokenizerReader(cursor, start, vocabulary).read();
}

}  // namespace tare::alt
