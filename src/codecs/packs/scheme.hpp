// Naming schemes: the sets of arrays in which programs store packed weights (GPTQ, AWQ, bitsandbytes, ...). Each row
// has the names of the arrays and, if Tare decodes them, how to join them to one tensor.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/name_map.hpp"
#include "codecs/packs/pack.hpp"
#include "codecs/packs/stated.hpp"
#include "tare/model.hpp"

namespace tare::codec::packs {

class Set;

// An array of a set: its name is the common stem of the set plus this ending.
struct Member {
  std::string_view ending;
  std::string_view part;       // for people: "codes", "scales", ...
  std::string_view role = {};  // the role of this component in the joined tensor; empty if it is never joined
  bool telling = false;  // only such codes have an array with this name; alone, it shows that the codes are missing
};

struct Scheme {
  std::string_view name, title;
  std::string_view method;          // quant_method in configs
  Types types;                      // types of the codes
  std::span<const Member> members;  // codes first
  std::size_t beside = 1;           // the member that must accompany the codes; the others are optional
  unsigned bits = 0;                // per code; 0: stated by the config
  // Decides by the shapes of the codes and of the array that accompanies them whether they belong to this row. Null: no
  // other row has the same names and types.
  bool (*fits)(const Shape& codes, const Shape& beside) = nullptr;
  // Why it is not decoded, as part of a sentence; empty: `join` is not null.
  std::string_view why_not = {};

  // Returns the joined tensor without a name; nothing if the set belongs to another scheme. Throws Refusal.
  std::optional<Tensor> (*join)(const Set& set) = nullptr;
  std::string_view weight = ".weight";  // ending of the joined tensor's name
  bool certain = false;  // only this scheme has such names: if the companion array does not exist, it is missing
  bool certain_if_stated = false;  // `certain` if the config states the method
  // `certain` for codes of such shapes. Null: for none.
  bool (*certain_shape)(const Shape& codes) = nullptr;
  // What is assumed if there is no config, because the arrays alone do not show it; empty: nothing.
  std::string_view guess = {};
  // The arrays have any names: the config has a map `weights` with the name of each array of codes, and for each a map of
  // the names of the other members by their roles, and numbers. The endings of the members are empty.
  bool by_statement = false;

  bool is_decoded() const { return join != nullptr; }
  constexpr std::string_view codes() const { return members[0].ending; }
  constexpr std::string_view beside_ending() const { return members[beside].ending; }
  // Whether an array with this name and type may be the codes.
  bool is_named_as_codes(std::string_view tensor, std::string_view type) const;
};

// All rows, in the order in which they are tried.
std::span<const Scheme* const> schemes();
// The rows, in order, whose required array (see Scheme) occurs among the tensors, by name: no other set can be
// complete.
std::vector<const Scheme*> schemes_with_beside(std::span<const Tensor> tensors);

// What a stated method means for arrays that match no row.
struct StatedMethod {
  bool known = false;    // the table has it
  bool decoded = false;  // Tare decodes some of its sets
  std::string why_not;   // for a sentence, with the method's name
};
StatedMethod stated_method(std::string_view method);
// Whether a config with this method describes arrays like those of a row: a method of the table, or another name for
// one.
bool is_method_name(std::string_view method);

// Whether a tensor is one array without attributes, as containers store the arrays of packed weights.
bool is_plain_array(const Tensor& tensor);

// The tensors of a model by name. Refers to the model.
class NamedTensors {
 public:
  explicit NamedTensors(const Model& model);
  // Null if there is none.
  const Tensor* find(std::string_view stem, std::string_view ending) const;
  std::size_t index_of(const Tensor& tensor) const;

 private:
  const Model& model_;
  NameViewMap<std::size_t> at_;
};

// An array of codes and the arrays that belong to it: their names begin with the same stem.
class Set {
 public:
  Set(const NamedTensors& tensors, const Scheme& scheme, const Tensor& codes, const Stated& stated);

  // The codes, by which the set was found, and the stem of their name.
  const Tensor& codes() const { return codes_; }
  const std::string& stem() const { return stem_; }
  const Scheme& scheme() const { return scheme_; }
  const Stated& stated() const { return stated_; }
  const NamedTensors& tensors() const { return tensors_; }
  // The plain array with this role, or named by the stem and this ending; null if there is none.
  const Tensor* find(std::string_view role) const;
  const Tensor* find_ending(std::string_view ending) const;
  // The array that must accompany the codes, of any form.
  const Tensor* find_beside() const;
  // What the config states for these codes (Scheme::by_statement); null if it states nothing.
  const Map* stated_facts() const;
  // The same. Throws Refusal `pack.missing`.
  const Tensor& require(std::string_view role) const;

  // Records an assumption that neither the arrays nor the config state ("blocks of 32 rows").
  void assume(std::string what) const { assumed_.push_back(std::move(what)); }
  const std::vector<std::string>& assumed() const { return assumed_; }

 private:
  const Member* member(std::string_view role) const;
  const Tensor* find_stated(std::string_view role) const;

  const NamedTensors& tensors_;
  const Scheme& scheme_;
  const Tensor& codes_;
  const Stated& stated_;
  std::string stem_;
  mutable std::vector<std::string> assumed_;
};

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

// The roles of the members of some schemes, each once, in order.
template <const auto&... kMembers>
inline constexpr auto kCollectedRoles = [] {
  std::array<std::string_view, (std::size(kMembers) + ...)> roles{};
  auto end = roles.begin();
  const auto add = [&](std::string_view role) {
    if (std::find(roles.begin(), end, role) == end) *end++ = role;
  };
  (std::ranges::for_each(kMembers, add, &Member::role), ...);
  return std::pair(roles, static_cast<std::size_t>(end - roles.begin()));
}();
template <const auto&... kMembers>
inline constexpr std::span<const std::string_view> kRoles = {kCollectedRoles<kMembers...>.first.data(),
                                                             kCollectedRoles<kMembers...>.second};

}  // namespace tare::codec::packs
