#include "tokenize/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace tare::tokenize {
namespace {

struct Interval {
  std::uint32_t first, last;
};

// Intervals in order, without overlaps.
bool is_in(const auto& intervals, std::uint32_t character) {
  const auto found = std::ranges::lower_bound(intervals, character, {}, &Interval::last);
  return found != std::end(intervals) && character >= found->first;
}

// The script Han. Unassigned characters at the end of its blocks are included.
constexpr Interval kHan[] = {{0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},
                             {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},
                             {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},   {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3},
                             {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2EBE0}, {0x2EBF0, 0x2EE5D},
                             {0x2F800, 0x2FA1D}, {0x30000, 0x323AF}};
// Further word characters: letters in circles and squares.
constexpr Interval kOtherWord[] = {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
// As BERT's code lists them; one block begins late there.
constexpr Interval kBertIdeographs[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
                                        {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};

constexpr Categories bit(utf8proc_category_t category) { return Categories{1} << category; }

constexpr Categories kLetters = bit(UTF8PROC_CATEGORY_LU) | bit(UTF8PROC_CATEGORY_LL) | bit(UTF8PROC_CATEGORY_LT) |
                                bit(UTF8PROC_CATEGORY_LM) | bit(UTF8PROC_CATEGORY_LO);
constexpr Categories kMarks = bit(UTF8PROC_CATEGORY_MN) | bit(UTF8PROC_CATEGORY_MC) | bit(UTF8PROC_CATEGORY_ME);
constexpr Categories kNumbers = bit(UTF8PROC_CATEGORY_ND) | bit(UTF8PROC_CATEGORY_NL) | bit(UTF8PROC_CATEGORY_NO);
constexpr Categories kPunctuation = bit(UTF8PROC_CATEGORY_PC) | bit(UTF8PROC_CATEGORY_PD) | bit(UTF8PROC_CATEGORY_PS) |
                                    bit(UTF8PROC_CATEGORY_PE) | bit(UTF8PROC_CATEGORY_PI) | bit(UTF8PROC_CATEGORY_PF) |
                                    bit(UTF8PROC_CATEGORY_PO);
constexpr Categories kSymbols =
    bit(UTF8PROC_CATEGORY_SM) | bit(UTF8PROC_CATEGORY_SC) | bit(UTF8PROC_CATEGORY_SK) | bit(UTF8PROC_CATEGORY_SO);
constexpr Categories kSeparators = bit(UTF8PROC_CATEGORY_ZS) | bit(UTF8PROC_CATEGORY_ZL) | bit(UTF8PROC_CATEGORY_ZP);
constexpr Categories kControls =
    bit(UTF8PROC_CATEGORY_CC) | bit(UTF8PROC_CATEGORY_CF) | bit(UTF8PROC_CATEGORY_CS) | bit(UTF8PROC_CATEGORY_CO);

constexpr Categories kWord =
    kLetters | kMarks | bit(UTF8PROC_CATEGORY_ND) | bit(UTF8PROC_CATEGORY_NL) | bit(UTF8PROC_CATEGORY_PC);

// Bits of kinds: each category, each category in the script Han, control characters that are blanks, and further word
// characters by their category.
constexpr unsigned kCategories = 30, kHanKinds = kCategories, kBlankControl = 60, kWordNumber = 61, kWordSymbol = 62;

constexpr std::pair<std::string_view, Categories> kNames[] = {{"L", kLetters},
                                                              {"Letter", kLetters},
                                                              {"M", kMarks},
                                                              {"Mark", kMarks},
                                                              {"N", kNumbers},
                                                              {"Number", kNumbers},
                                                              {"P", kPunctuation},
                                                              {"Punctuation", kPunctuation},
                                                              {"S", kSymbols},
                                                              {"Symbol", kSymbols},
                                                              {"Z", kSeparators},
                                                              {"Separator", kSeparators},
                                                              {"C", kControls | bit(UTF8PROC_CATEGORY_CN)},
                                                              {"Lu", bit(UTF8PROC_CATEGORY_LU)},
                                                              {"Ll", bit(UTF8PROC_CATEGORY_LL)},
                                                              {"Lt", bit(UTF8PROC_CATEGORY_LT)},
                                                              {"Lm", bit(UTF8PROC_CATEGORY_LM)},
                                                              {"Lo", bit(UTF8PROC_CATEGORY_LO)},
                                                              {"Mn", bit(UTF8PROC_CATEGORY_MN)},
                                                              {"Mc", bit(UTF8PROC_CATEGORY_MC)},
                                                              {"Me", bit(UTF8PROC_CATEGORY_ME)},
                                                              {"Nd", bit(UTF8PROC_CATEGORY_ND)},
                                                              {"Nl", bit(UTF8PROC_CATEGORY_NL)},
                                                              {"No", bit(UTF8PROC_CATEGORY_NO)},
                                                              {"Pc", bit(UTF8PROC_CATEGORY_PC)},
                                                              {"Pd", bit(UTF8PROC_CATEGORY_PD)},
                                                              {"Ps", bit(UTF8PROC_CATEGORY_PS)},
                                                              {"Pe", bit(UTF8PROC_CATEGORY_PE)},
                                                              {"Pi", bit(UTF8PROC_CATEGORY_PI)},
                                                              {"Pf", bit(UTF8PROC_CATEGORY_PF)},
                                                              {"Po", bit(UTF8PROC_CATEGORY_PO)},
                                                              {"Sm", bit(UTF8PROC_CATEGORY_SM)},
                                                              {"Sc", bit(UTF8PROC_CATEGORY_SC)},
                                                              {"Sk", bit(UTF8PROC_CATEGORY_SK)},
                                                              {"So", bit(UTF8PROC_CATEGORY_SO)},
                                                              {"Zs", bit(UTF8PROC_CATEGORY_ZS)},
                                                              {"Zl", bit(UTF8PROC_CATEGORY_ZL)},
                                                              {"Zp", bit(UTF8PROC_CATEGORY_ZP)},
                                                              {"Cc", bit(UTF8PROC_CATEGORY_CC)},
                                                              {"Cf", bit(UTF8PROC_CATEGORY_CF)},
                                                              {"Cn", bit(UTF8PROC_CATEGORY_CN)},
                                                              {"Co", bit(UTF8PROC_CATEGORY_CO)},
                                                              {"Cs", bit(UTF8PROC_CATEGORY_CS)}};

bool is_ascii_punctuation(std::uint32_t character) {
  return (character >= 0x21 && character <= 0x2F) || (character >= 0x3A && character <= 0x40) ||
         (character >= 0x5B && character <= 0x60) || (character >= 0x7B && character <= 0x7E);
}

// Oniguruma has a table of its own for these, in which powers and fractions are word characters.
bool is_latin_1(std::uint32_t character) { return character < 0x100; }

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Character first_character(std::string_view valid) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(valid[i])); };
  const std::uint32_t lead = byte(0);
  // A piece of a damaged vocabulary may end inside a character: what is cut off or begins in the middle is one byte.
  const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length > valid.size()) return {kReplacement, 1};
  if (length == 1) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

unsigned last_length(std::string_view valid) {
  unsigned length = 1;
  while (length < valid.size() && (static_cast<unsigned char>(valid[valid.size() - length]) & 0xC0) == 0x80) ++length;
  return length;
}

void append_character(std::string& text, std::uint32_t character) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

std::string_view valid_text(std::string_view text, std::string& room) {
  if (is_valid_utf8(text)) return text;
  room.clear();
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (next.valid)
      room.append(text.substr(0, next.length));
    else
      append_character(room, kReplacement);
    text.remove_prefix(next.valid ? next.length : 1);
  }
  return room;
}

Categories category_of(std::uint32_t character) {
  return Categories{1} << utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

Categories categories_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, Categories>::first);
  return found == std::end(kNames) ? 0 : found->second;
}

Kinds kind_of(std::uint32_t character) {
  const auto category = static_cast<unsigned>(utf8proc_category(static_cast<utf8proc_int32_t>(character)));
  unsigned kind = category;
  if (category == UTF8PROC_CATEGORY_CC)
    kind = is_white_space(character) ? kBlankControl : category;
  else if (category == UTF8PROC_CATEGORY_NO && is_latin_1(character))
    kind = kWordNumber;
  else if (category == UTF8PROC_CATEGORY_SO && is_in(kOtherWord, character))
    kind = kWordSymbol;
  else if (is_han(character))
    kind = kHanKinds + category;
  return Kinds{1} << kind;
}

Kinds kinds_of(Categories categories) {
  constexpr auto kind = [](unsigned number) { return Kinds{1} << number; };
  Kinds kinds = Kinds{categories} & (kind(kCategories) - 1);
  kinds |= kinds << kHanKinds;
  if ((categories & bit(UTF8PROC_CATEGORY_CC)) != 0) kinds |= kind(kBlankControl);
  if ((categories & bit(UTF8PROC_CATEGORY_NO)) != 0) kinds |= kind(kWordNumber);
  if ((categories & bit(UTF8PROC_CATEGORY_SO)) != 0) kinds |= kind(kWordSymbol);
  return kinds;
}

Kinds white_space_kinds() { return kinds_of(kSeparators) | Kinds{1} << kBlankControl; }
Kinds word_kinds() { return kinds_of(kWord) | Kinds{1} << kWordNumber | Kinds{1} << kWordSymbol; }
Kinds han_kinds() { return ((Kinds{1} << kCategories) - 1) << kHanKinds; }

bool is_white_space(std::uint32_t character) {
  if (character < 0x80) return character == ' ' || (character >= 0x09 && character <= 0x0D);
  return character == 0x85 || (category_of(character) & kSeparators) != 0;
}
bool is_word_character(std::uint32_t character) {
  static const Kinds word = word_kinds();
  return (kind_of(character) & word) != 0;
}
bool is_unicode_word_character(std::uint32_t character) {
  constexpr std::uint32_t kNonJoiner = 0x200C, kJoiner = 0x200D;
  return (category_of(character) & kWord) != 0 || character == kNonJoiner || character == kJoiner ||
         is_in(kOtherWord, character);
}
bool is_han(std::uint32_t character) { return character >= kHan[0].first && is_in(kHan, character); }
bool is_number(std::uint32_t character) { return (category_of(character) & kNumbers) != 0; }
bool is_nonspacing_mark(std::uint32_t character) { return (category_of(character) & bit(UTF8PROC_CATEGORY_MN)) != 0; }
bool is_punctuation(std::uint32_t character) {
  return is_ascii_punctuation(character) || (category_of(character) & kPunctuation) != 0;
}
bool is_other(std::uint32_t character) { return (category_of(character) & kControls) != 0; }
bool is_bert_ideograph(std::uint32_t character) { return is_in(kBertIdeographs, character); }

std::uint32_t lower_case(std::uint32_t character) {
  return static_cast<std::uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character)));
}

void append_lower_case(std::string& text, std::uint32_t character) {
  constexpr std::uint32_t kCapitalDottedI = 0x130, kDotAbove = 0x307;
  if (character == kCapitalDottedI) {
    text += 'i';
    append_character(text, kDotAbove);
  } else {
    append_character(text, lower_case(character));
  }
}

std::string normalized(std::string_view valid, Form form) {
  if (is_ascii(valid)) return std::string(valid);
  const bool composed = form == Form::nfc || form == Form::nfkc, compatible = form == Form::nfkc || form == Form::nfkd;
  const int options =
      UTF8PROC_STABLE | (composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) | (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()), static_cast<utf8proc_ssize_t>(valid.size()),
                   &made, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> kept(made, &std::free);
  if (length < 0) throw std::bad_alloc();  // the text is valid, so nothing else can be wrong
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(length)};
}

std::uint64_t steps_to_normalize(std::string_view valid) {
  constexpr std::uint64_t kPerByte = 8;
  if (is_ascii(valid)) return valid.size();
  std::uint64_t steps = kPerByte * valid.size(), marks = 0;
  for (std::string_view left = valid; !left.empty();) {
    const Character one = first_character(left);
    left.remove_prefix(one.length);
    if (one.value < 0x80 || utf8proc_get_property(static_cast<utf8proc_int32_t>(one.value))->combining_class == 0)
      marks = 0;
    else
      steps += ++marks;
  }
  return steps;
}

bool breaks_between(std::uint32_t before, std::uint32_t after, std::int32_t& state) {
  return utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before), static_cast<utf8proc_int32_t>(after),
                                          &state) != 0;
}

}  // namespace tare::tokenize
