// Joins the arrays of packed weights to tensors, and separates them again.
//
// A set of arrays is joined only if all required members exist and have the types and shapes that the scheme expects.
// Otherwise they remain plain arrays, and the reason is reported: a broken rule as a warning (as an error if all
// findings are collected), a variant that is not decoded as a note.
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

// An array of codes and the arrays that belong to it: their names begin with the same stem.
class Set {
 public:
  virtual ~Set() = default;
  // The codes, by which the set was found, and the stem of their name.
  virtual const Tensor& codes() const = 0;
  virtual std::string_view stem() const = 0;
  // The table row, which has the names.
  virtual const PackedSet& row() const = 0;
  // The plain array with this role; null if there is none.
  const Tensor* find(std::string_view role) const;
  // The plain array named by the stem and this ending; null if there is none.
  virtual const Tensor* find_ending(std::string_view ending) const = 0;
  // Its index among the tensors of the model.
  virtual std::uint64_t place_of(const Tensor& array) const = 0;
  virtual const Stated& stated() const = 0;
  // Records an assumption that neither the arrays nor the config state ("blocks of 32 rows").
  virtual void assume(std::string what) const = 0;
};

// How the sets of a table row are joined.
struct Scheme {
  const PackedSet* set;
  // Returns the joined tensor without a name; nothing if the set belongs to another scheme. Throws Refusal.
  std::optional<Tensor> (*join)(const Set& set) = nullptr;
  std::string_view weight = ".weight";  // ending of the joined tensor's name
  bool certain = false;  // only this scheme has such names: if the companion array does not exist, it is missing
  // What is assumed if there is no config, because the arrays alone do not show it; empty: nothing.
  std::string_view guess = {};
  bool certain_if_stated = false;  // `certain` if the config states the method
  // `certain` for codes of such shapes. Null: for none.
  bool (*certain_shape)(const Shape& codes) = nullptr;
};

// Null for a table row that is not decoded.
const Scheme* find_scheme(const PackedSet& set);

// Builds a joined tensor, whose components are the arrays.
class Joining {
 public:
  Joining(const Set& set, std::string layout, Shape shape);
  // Throws Refusal if the array has another type or shape.
  Joining& add(std::string_view role, const Tensor& array, Types types, const Shape& shape);
  // Adds an array that decoding does not need (scales of activations), if it exists.
  Joining& carry(std::string_view role);
  Joining& set(std::string_view attribute, Value value);
  Tensor take() { return std::move(tensor_); }

 private:
  void put(std::string_view role, const Tensor& array);

  const Set& set_;
  Tensor tensor_;
};

// The member with this role. Throws Refusal `pack.missing`.
const Tensor& require_beside(const Set& set, std::string_view role);
// The value of a key in the config; null (nothing) if it does not exist or has another type.
const std::string* stated_text(const Stated& stated, std::string_view key);
std::optional<std::uint64_t> stated_count(const Map& config, std::string_view key);
// A whole number in a config; nothing if the key does not exist. Throws Refusal `rule` for any other value.
std::optional<std::int64_t> stated_whole(const Map& config, std::string_view key, std::string_view rule);
// Whether the config has exceptions for single layers, so that its values need not be true for each layer.
bool has_exceptions(const Stated& stated);
// The weights entry of compressed-tensors' config_groups, if it is the same for all groups of layers; null if there is
// none, or if they differ.
const Map* stated_weights(const Stated& stated);

// Whether an array has the name and type of codes, or implies that another one does: one look at every tensor.
bool may_be_packed(const Model& model);
// Joins all sets that can be joined. `file` is for the reports.
void join_packs(Model& model, const Stated& stated, const std::string& file, Diagnostics& diagnostics);
// What was assumed for the joined tensors of a model, one sentence each.
std::vector<std::string> guesses(const Model& model, const Stated& stated);
// Why the array of this name was not joined; empty if it is not codes. Without a name: why the method that the config
// states is not decoded.
std::string why_not_joined(const Model& model, const Stated& stated, std::string_view codes);

// Decodes a tensor for storing its floats, which would hide a bad scale: reading throws `pack.scale` if a scale is not
// finite. Other layouts are decoded as usual.
Tensor decode_strictly(const Tensor& tensor, Scales scales = Scales::finite);
// What is wrong with the scales, as part of a sentence; empty: nothing. Reads all of them.
std::string scale_problem(const Tensor& tensor);

// Whether the arrays of a joined tensor describe it completely: without a config, they are joined to the same tensor.
bool tells_itself(const Tensor& tensor);

// Throws `pack.changed` for a joined tensor that could not be read back: its arrays, joined again with `stated`, give
// another name, layout or shape. A program changed it, or removed the config that describes the packing.
void expect_joined_again(const Model& model, const Stated& stated);

// Whether a tensor is a joined one, which can be separated.
bool is_joined(const Tensor& tensor);
bool has_joined(const Model& model);
// Replaces the joined tensors by their arrays, with their original names, shapes and order.
void separate(Model& model);
// The arrays of one joined tensor.
std::vector<Tensor> arrays_of(const Tensor& tensor);

}  // namespace tare::codec::packs
