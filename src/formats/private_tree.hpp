// Everything in a model that the container has no field for, as one tree.
//
//   {"tare":1, "metadata":{...}, "config":{...}, "vocabulary":{...}, "types":{TENSOR:type},
//    "attributes":{TENSOR:{...}}, "attachments":{STORED NAME:name}}
//
// Empty parts are omitted; a container may add parts of its own. As text, the tree is JSON that preserves every value
// exactly (wire/value_json.hpp). Containers whose own metadata is a tree keep each part there, under a key of its own.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/name_map.hpp"
#include "formats/format.hpp"
#include "tare/model.hpp"
#include "wire/value_json.hpp"

namespace tare {

// Bounds on the nesting of such a text: our JSON spelling takes up to three levels for one level of a value, and values
// begin three levels down.
wire::TreeBounds private_bounds(const Limits& limits);

class PrivateTree {
 public:
  // Errors in the tree are reported under `rule` (for example "npz.private.form").
  explicit PrivateTree(std::string_view rule) : rule_(rule) {}
  // Throws Error corrupt `rule` if the text is not such a tree, `version_rule` if the tree has another version, and
  // "json.*" if the text is not JSON.
  static PrivateTree parse(std::string_view text, wire::TreeBounds bounds, std::string_view rule,
                           std::string_view version_rule);
  static PrivateTree parse(std::string_view text, wire::TreeBounds bounds, std::string_view rule) {
    return parse(text, bounds, rule, rule);
  }

  // ---- writing ----
  // Empty values are omitted.
  void put(std::string_view part, Value value);
  void put(std::string_view part, Map map);
  void put(std::string_view part, List list);
  // Adds the attributes of the tensors that have some, sorted by name, so that the same tensors give the same text.
  void put_attributes(std::span<const Tensor* const> tensors);
  bool empty() const { return parts_.empty(); }
  std::string text() const;

  // ---- reading ----
  // If the tree has no such part, these return null or do nothing. They throw Error `rule` if the part has another
  // form.
  Map* map(std::string_view part);
  const Value* find(std::string_view part) const { return parts_.find(part); }
  // Moves a part out of the tree, for the container that defines it.
  Value release(std::string_view part);
  // Adds the entries of "metadata" that the model does not have yet. If the file itself has the key, its value is used,
  // because another program that does not know the tree may have set it; `repeated` is called with each such key.
  void take_metadata(Model& model, const std::function<void(const std::string& key)>& repeated);
  void take_config(Model& model);
  void take_vocabulary(Model& model);
  // Calls `take` for each entry; all of them must be texts.
  void for_texts(std::string_view part,
                 const std::function<void(const std::string& name, const std::string& text)>& take);
  // Gives the tensors their attributes; `stale` is called with each name that is not a tensor's.
  void take_attributes(const NameViewMap<Tensor*>& tensors, const std::function<void(const std::string&)>& stale);

 private:
  Error malformed(std::string_view sentence) const;

  std::string rule_;
  Map parts_;
};

// Maps names to tensors, including broken ones, which have no components. The map is valid as long as the tensors do
// not change.
NameViewMap<Tensor*> tensors_by_name(Model& model);

}  // namespace tare
