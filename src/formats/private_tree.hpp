// What a model has and a container has no field for: one tree of ours, wherever the container keeps it.
//
//   {"tare":1, "metadata":{...}, "config":{...}, "vocabulary":{...}, "types":{TENSOR:type},
//    "attributes":{TENSOR:{...}}, "attachments":{STORED NAME:name}}
//
// Each part is there only when it has something to say; a container may add parts that only it knows. As a text it is
// JSON in which every value comes back as it was (wire/value_json.hpp). Containers with a tree of their own keep the
// parts in it, each under a key.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/name_map.hpp"
#include "tare/format.hpp"
#include "tare/model.hpp"
#include "wire/value_json.hpp"

namespace tare {

// How deep such a text may be nested: our spellings take up to three levels for one of the value's, and the value is three
// levels down.
wire::TreeBounds private_bounds(const Limits& limits);

// An attached file takes much more memory than its entry in a tree, where it can be of a few bytes. Throws Error `rule` for more
// than any model has.
void require_few_attachments(std::size_t count, std::string_view rule);

class PrivateTree {
 public:
  // `rule`: what is wrong with a tree is reported under it ("npz.private.form").
  explicit PrivateTree(std::string_view rule) : rule_(rule) {}
  // Throws Error corrupt `rule` for a text that is not such a tree, or `version_rule` for one of another version; "json.*"
  // for what is not JSON.
  static PrivateTree parse(std::string_view text, wire::TreeBounds bounds, std::string_view rule,
                           std::string_view version_rule);
  static PrivateTree parse(std::string_view text, wire::TreeBounds bounds, std::string_view rule) {
    return parse(text, bounds, rule, rule);
  }

  // ---- writing ----
  // What is empty has nothing to say.
  void put(std::string_view part, Value value);
  void put(std::string_view part, Map map);
  void put(std::string_view part, List list);
  // Of the tensors that have some, by name: the same tensors give the same text.
  void put_attributes(std::span<const Tensor* const> tensors);
  bool empty() const { return parts_.empty(); }
  std::string text() const;

  // ---- reading: null, or nothing happens, where the tree has no such part; Error `rule` where it is of another form ----
  Map* map(std::string_view part);
  const Value* find(std::string_view part) const { return parts_.find(part); }
  // Gives a part back to the container that keeps it.
  Value release(std::string_view part);
  // Entries of "metadata" that the model does not have yet. An entry of the file itself counts for more: another program that
  // did not know of the tree has set it. `repeated` hears the keys of those.
  void take_metadata(Model& model, const std::function<void(const std::string& key)>& repeated);
  void take_config(Model& model);
  void take_vocabulary(Model& model);
  // Entries that are texts.
  void for_texts(std::string_view part,
                 const std::function<void(const std::string& name, const std::string& text)>& take);
  // Gives tensors their attributes; `stale` hears the names of those that are not there.
  void take_attributes(const NameViewMap<Tensor*>& tensors, const std::function<void(const std::string&)>& stale);

 private:
  Error malformed(std::string_view sentence) const;

  std::string rule_;
  Map parts_;
};

// Puts what Tare keeps of a model among the metadata of a file, under a key of its own. Throws Error unsupported `rule` if the
// model's metadata has that key: one of the two would be lost.
void put_own(Map& metadata, std::string_view key, Value value, std::string_view rule);
// The same refusal before anything is written, of a container that keeps config, vocabulary and attachments under these keys.
struct OwnKeys {
  std::string_view config, vocabulary, attachments;
};
void check_own(const Model& model, const OwnKeys& keys, std::string_view rule);

// The tensors by name, also those that are broken, which have no components; valid as long as nobody changes them.
NameViewMap<Tensor*> tensors_by_name(Model& model);

}  // namespace tare
