// Joining the arrays of packed weights to tensors, and separating them again.
//
// A set of arrays is joined only if every member is there and has the type and the shape that the scheme asks for. A set
// that is not stays as it is, plain arrays, and why is reported: a rule that is broken as a warning (an error where every
// finding is collected), a variant that is not decoded as a note.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/packs/pack.hpp"
#include "model/packed_sets.hpp"
#include "tare/model.hpp"

namespace tare::codec::packs {

using Stated = StatedPacking;

// An array and those beside it: their names begin with the same stem.
class Set {
 public:
  virtual ~Set() = default;
  // The codes, by which the set was found, and what their name begins with.
  virtual const Tensor& codes() const = 0;
  virtual std::string_view stem() const = 0;
  // The row of the table, which has the names.
  virtual const PackedSet& row() const = 0;
  // The plain array that is the member of this role. Null if there is none.
  const Tensor* find(std::string_view role) const;
  // The plain array with this ending behind the stem. Null if there is none.
  virtual const Tensor* find_ending(std::string_view ending) const = 0;
  // Its number among the tensors of the model.
  virtual std::uint64_t place_of(const Tensor& array) const = 0;
  virtual const Stated& stated() const = 0;
  // That something was taken for granted which neither the arrays nor the config tell ("blocks of 32 rows").
  virtual void assume(std::string what) const = 0;
};

// How the sets of a row are joined.
struct Scheme {
  const PackedSet* set;
  // The joined tensor without a name; nothing if the set is another scheme's. Throws Refusal.
  std::optional<Tensor> (*join)(const Set& set) = nullptr;
  std::string_view weight = ".weight";  // how the name of the joined tensor ends
  bool certain = false;                 // nobody else has arrays of such a name: without the one beside one is missing
  // What the arrays alone do not tell, and is assumed where no config states anything; empty: they tell everything.
  std::string_view guess = {};
  bool certain_if_stated = false;  // `certain` where the config states the method
  // `certain` for codes of such shapes. Null: none are.
  bool (*certain_shape)(const Shape& codes) = nullptr;
};

// Null for a row that is not decoded.
const Scheme* find_scheme(const PackedSet& set);

// Adds arrays to a tensor, as components.
class Joining {
 public:
  Joining(const Set& set, std::string layout, Shape shape);
  // Throws Refusal if the array is not of one of these types or not of this shape.
  Joining& add(std::string_view role, const Tensor& array, Types types, const Shape& shape);
  // An array that decoding does not need (scales of activations), if it is there.
  Joining& carry(std::string_view role);
  Joining& set(std::string_view attribute, Value value);
  Tensor take() { return std::move(tensor_); }

 private:
  void put(std::string_view role, const Tensor& array);

  const Set& set_;
  Tensor tensor_;
};

// The member of this role, or Refusal `pack.missing`.
const Tensor& require_beside(const Set& set, std::string_view role);
// What the config says under a key; null if it says nothing of that kind.
const std::string* stated_text(const Stated& stated, std::string_view key);
std::optional<std::uint64_t> stated_count(const Map& config, std::string_view key);
// A whole number of a config; nothing if it does not state one. Refuses anything else under that key (by `rule`).
std::optional<std::int64_t> stated_whole(const Map& config, std::string_view key, std::string_view rule);
// Whether the config has exceptions for single layers, so that what it says is not about each of them.
bool has_exceptions(const Stated& stated);
// What compressed-tensors' config says of weights: config_groups has it for each group of layers. That of all groups; null if
// there are none, or several that say different things.
const Map* stated_weights(const Stated& stated);

// Whether some array has the name and the type of codes, or tells that another is: one look at every tensor.
bool may_be_packed(const Model& model);
// Joins what can be joined. `file`: where it is from, for the reports.
void join_packs(Model& model, const Stated& stated, const std::string& file, Diagnostics& diagnostics);
// What was assumed for the joined tensors of a model, a sentence each.
std::vector<std::string> guesses(const Model& model, const Stated& stated);
// Why the array of this name was not joined; empty: it is not one of codes. Without a name: why what the config states does
// not help.
std::string why_not_joined(const Model& model, const Stated& stated, std::string_view codes);

// The floats of a tensor, of which reading throws `pack.scale` where a scale is not finite: for whoever stores them, and would
// store what nobody looks at. Other layouts are decoded as ever.
Tensor decode_strictly(const Tensor& tensor, Scales scales = Scales::finite);
// What is wrong with the scales, for a sentence; empty: nothing. Reads all of them.
std::string scale_problem(const Tensor& tensor);

// Whether the arrays of a joined tensor tell by themselves what it is: joined again without a config they are the same.
bool tells_itself(const Tensor& tensor);

// Throws `pack.changed` for a joined tensor that would not come back: its arrays, joined again with what is stated, make one
// of another name, layout or shape. A program changed it, or took away what says how it was packed.
void expect_joined_again(const Model& model, const Stated& stated);

// Whether a tensor is a joined one, which can be separated.
bool is_joined(const Tensor& tensor);
bool has_joined(const Model& model);
// The arrays in place of the joined tensors, named, shaped and ordered as they were.
void separate(Model& model);
// The arrays of one.
std::vector<Tensor> arrays_of(const Tensor& tensor);

}  // namespace tare::codec::packs
