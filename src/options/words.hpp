// The values that options of conversions allow.
#pragma once

#include "options/option.hpp"

namespace tare {

Words writable_format_words();
Words dtype_words();
Words dialect_words();
// The methods of --quant: those of the layouts, by short name if that is unique, and by full name; and the mixes.
Words quant_words();
// The values of --method: those of --quant, the float types, and "keep".
Words method_words();
Words names_words();
Words drop_words();
Words digest_words();
// Returns a sentence if a name is that of a layout of quantized weights that Tare reads but does not write; else an empty
// text.
std::string why_not_written(std::string_view method);
Words overflow_words();
std::optional<Overflow> parse_overflow(std::string_view word);
// Returns for example "f16" for "float16", and "float16" for "floaat16"; the value itself if no type is similar.
std::string dtype_spelling(const std::string& value);

}  // namespace tare
