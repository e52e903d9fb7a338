// Families whose layers have sizes of their own (Gemma 3n, Gemma 4), and heads for classes: their keys, and the way back.
#pragma once

#include "formats/gguf/llama_cpp/release_files.hpp"

namespace tare::gguf::llama_cpp {

// Sets the size of the networks from a list of config.json: that of the first.
void take_first_network(Config& config, const arch::Family& family, const ConfigFile& file);

// Sets the field to the first number of a list, if the family has such lists. Returns false for other values.
bool take_listed(std::optional<std::int64_t>& field, std::string_view own_name, const arch::Family& family,
                 const Value& value);

// How many standard deviations above the mean this part of normally distributed numbers ends, as torch computes it in f32.
// And the inverse, rounded to six digits.
float quantile(double part);
double part_below(double quantile);

// The names of classes that config.json states; empty if it has none but those that transformers makes up.
List stated_classes(const ConfigFile& file);

// Sets the keys of config.json for all of this.
void add_layer_sizes(const Origin& origin, Map& keys);
void add_proportional_rope(const Origin& origin, Map& keys);

}  // namespace tare::gguf::llama_cpp
