// Characters and their classes, for everything that splits or rewrites a text. The classes come from utf8proc's tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tare::tokenize {

inline constexpr std::uint32_t kReplacement = 0xFFFD;

// The first character of a non-empty text that is valid UTF-8, and its length in bytes.
struct Character {
  std::uint32_t value;
  unsigned length;
};
// A byte that begins no character, or one that is cut off, counts as a character.
Character first_character(std::string_view valid);
unsigned last_length(std::string_view valid);  // that of the last character, in bytes
void append_character(std::string& text, std::uint32_t character);

// The text with each byte that is not UTF-8 replaced by U+FFFD, as SentencePiece and llama.cpp read it. `room` holds the
// result if it differs.
std::string_view valid_text(std::string_view text, std::string& room);

// General categories as bits: 1 << category, with utf8proc's numbers.
using Categories = std::uint32_t;
Categories category_of(std::uint32_t character);
// The bits for "L", "Lu", "Letter", ...; 0 if there is no such name.
Categories categories_named(std::string_view name);

// Categories, split so that each class of characters that a pattern can name is a union of kinds. One bit each.
using Kinds = std::uint64_t;
Kinds kind_of(std::uint32_t character);
Kinds kinds_of(Categories categories);
Kinds white_space_kinds();
Kinds word_kinds();
Kinds han_kinds();

bool is_white_space(std::uint32_t character);     // the property White_Space
bool is_word_character(std::uint32_t character);  // letters, marks, numbers, connectors: \w of Oniguruma
// The same by Unicode's definition, with the joiners: \w of Rust's regular expressions, which the tokenizers library uses for
// its own patterns.
bool is_unicode_word_character(std::uint32_t character);
bool is_han(std::uint32_t character);
bool is_number(std::uint32_t character);           // Nd, Nl, No
bool is_nonspacing_mark(std::uint32_t character);  // Mn
bool is_punctuation(std::uint32_t character);      // P*, and what ASCII calls punctuation
bool is_other(std::uint32_t character);            // Cc, Cf, Co, Cs
bool is_bert_ideograph(std::uint32_t character);   // what BERT puts blanks around

std::uint32_t lower_case(std::uint32_t character);  // one character for one
// Appends the full lower case of a character: U+0130 has two.
void append_lower_case(std::string& text, std::uint32_t character);

enum class Form : std::uint8_t { nfc, nfd, nfkc, nfkd };
std::string normalized(std::string_view valid, Form form);
// About how many steps that takes: marks that follow each other are put in order by moving them one place at a time.
std::uint64_t steps_to_normalize(std::string_view valid);

// Calls visit(part) for each extended grapheme cluster.
template <typename Visit>
void for_each_grapheme(std::string_view valid, const Visit& visit);
bool breaks_between(std::uint32_t before, std::uint32_t after, std::int32_t& state);

template <typename Visit>
void for_each_grapheme(std::string_view valid, const Visit& visit) {
  std::size_t begin = 0, at = 0;
  std::int32_t state = 0;
  std::uint32_t before = 0;
  while (at < valid.size()) {
    const Character next = first_character(valid.substr(at));
    if (at > begin && breaks_between(before, next.value, state)) {
      visit(valid.substr(begin, at - begin));
      begin = at;
    }
    before = next.value;
    at += next.length;
  }
  if (at > begin) visit(valid.substr(begin));
}

}  // namespace tare::tokenize
