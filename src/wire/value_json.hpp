// Metadata values as JSON and back, without loss: for containers that keep a whole tree in a private text.
//
// What JSON cannot represent is an object with one key: {"$bytes":"<hex>"}, {"$text":"<hex>"} (a string that is not
// UTF-8), {"$f64":"<16 hex>"} (the bits of a NaN or infinity), {"$opaque":["cbor","<hex>"]}, and
// {"$map":[[key,value],...]} for a map that would look like one of these or has a key that is not UTF-8. `to_json`
// (value.hpp) is for people and programs; this is for reading the same Value back.
#pragma once

#include <string>
#include <string_view>

#include "tare/value.hpp"
#include "wire/json.hpp"

namespace tare::wire {

std::string write_value_json(const Value& value);
// Throws `json.syntax`, `json.depth`, `json.values`, `json.duplicate`, `json.form`. The sentence gives the position in
// the text; the error has no offset, because that would be an offset in the file that contains the text.
Value parse_value_json(std::string_view text, TreeBounds& bounds);
inline Value parse_value_json(std::string_view text, TreeBounds&& bounds) { return parse_value_json(text, bounds); }

}  // namespace tare::wire
