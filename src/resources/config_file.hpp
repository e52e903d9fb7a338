// config.json as the transformers library reads it: its keys, the values that its model_type assumes for missing ones,
// and the rotary positions of each kind of layer.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

// Rotary positions by the precedence of transformers 5: rope_scaling replaces rope_parameters, a value inside of an
// object takes precedence over one at the top, and in families with two kinds of layers each kind has its own. Each
// object has rope_type, and rope_theta if config.json or its model_type has one.
struct Ropes {
  Map full, sliding;  // sliding: for layers with a window; empty unless they differ
};

class ConfigFile {
 public:
  // Reads the model's config.json. Empty if there is none, if it does not parse (`describe` reports that), or if Tare
  // generated it: a key that it lacks was unknown, not left at its default.
  explicit ConfigFile(const Model& model);
  explicit ConfigFile(const Map& root);

  bool empty() const { return parts_.empty(); }
  // For a multimodal model: the type of its language model.
  const std::string& model_type() const { return type_; }
  // Returns the value of a key: from config.json itself or its language part (see language_parts), or the default of
  // the model_type; "a.b" is the key b of an object a. Null if there is none, or if it is null.
  const Value* find(std::string_view path) const&;
  const Value* find(std::string_view path) const&& = delete;  // it would point into a temporary
  // The same from config.json itself, outside of its language part.
  const Value* find_outside(std::string_view path) const&;
  std::optional<double> number(std::string_view path) const;
  bool is_null(std::string_view path) const;  // config.json has the key with the value null
  // Keys that config.json has under none of their names, with the values that its model_type assumes. A key that is
  // null counts as present.
  const Map& assumed() const { return assumed_; }
  const Ropes& ropes() const { return ropes_; }
  // Returns whether `find` has been called for this key, or for an object that holds it. A converter calls it for every
  // key that it uses or checks.
  bool was_asked_for(std::string_view path) const;

 private:
  void read(const Map& root);

  std::vector<Map> parts_;  // see language_parts
  Map top_;                 // config.json itself, if it has a language part
  std::string type_;
  Map assumed_;
  Ropes ropes_;
  mutable std::set<std::string, std::less<>> asked_;
};

// Fills the fields that config.json does not set with the defaults of its model_type. Returns those.
Map assume_fields(Config& config, const ConfigFile& file);

}  // namespace tare::resources
