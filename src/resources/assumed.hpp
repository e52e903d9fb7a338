// What the transformers library makes of a config.json: the values of keys that it does not have, and the rotary positions of
// each kind of layer.
#pragma once

#include <functional>
#include <string_view>

#include "tare/model.hpp"

namespace tare::resources {

// The keys that a model's config.json does not have, under any of their names, with the values that its model_type means by
// that; "rope_parameters" is an object. A key that is null is there. Nothing for a model without config.json.
Map assumed_keys(const Model& model);
// Fills the fields of the config that config.json leaves open, and gives rope_theta the value that counts if there are several.
// Returns the fields that it filled.
Map assume_fields(Model& model);

// Rotary positions by the precedence of transformers 5: rope_scaling takes the place of rope_parameters, what is inside of an
// object counts for more than what is beside it, and of families with two kinds of layers each kind has its own.
struct Ropes {
  Map full, sliding;           // each with rope_type and rope_theta; sliding: empty unless layers differ
  bool states_theta = false;  // config.json has one somewhere
};
// The value of a top-level key, null when there is none.
using FindKey = std::function<const Value*(std::string_view key)>;
Ropes ropes_of(std::string_view model_type, const FindKey& find);

}  // namespace tare::resources
