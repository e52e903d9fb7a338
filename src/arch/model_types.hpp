// Facts about each model_type of config.json, also of the many that Tare has no family for: what its readers expect there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tare::arch {

// Whether a config.json of the type has a part for the language model. `unknown`: if it has such an object, it may be one.
enum class Parts : std::uint8_t { unknown, none, language };
Parts parts_of(std::string_view model_type);

// Positions are learned, added or biased, or there are none: nothing is rotated.
bool has_no_rope(std::string_view model_type);

// The class has other names for sizes than most: n_embd, n_layer and so on.
bool has_own_names(std::string_view model_type);

// The tokenizer puts its own tokens first and shifts those of the SentencePiece file: only a tokenizer.json has the
// resulting ids.
bool shifts_pieces(std::string_view model_type);

// The key that readers of a type use for a field of Config; they ignore the usual name. Empty: they compute the value, and
// refuse one that is stated.
struct TypeKey {
  std::string_view model_type, field, key;
};
std::span<const TypeKey> type_keys();

// A flag that readers of a type want if the field is stated.
enum class Tells : std::uint8_t { is_stated, is_one };
struct TypeFlag {
  std::string_view model_type;
  bool begins;  // also of all types that begin so
  std::string_view field, key;
  Tells tells;  // what `true` means

  constexpr bool is_of(std::string_view type) const {
    return begins ? type.starts_with(model_type) : type == model_type;
  }
};
std::span<const TypeFlag> type_flags();

}  // namespace tare::arch
