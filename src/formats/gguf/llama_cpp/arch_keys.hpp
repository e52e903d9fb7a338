// Reads the keys of an architecture ("llama.*") on the way back to config.json.
//
// All code that turns keys into config.json reads them here. So no key is ignored silently: one of an unexpected type is
// an error, not a missing key, and the keys that were not read are known in the end.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {

inline constexpr std::string_view kNetworkRows = "feed_forward_length";

class ArchKeys {
 public:
  // Keys for fields of Config count as read: require_fields checks them. `model` must outlive this object.
  ArchKeys(const Model& model, const arch::Family& family);

  // Names are without the prefix of the architecture. Nothing or null if the key does not exist. All but `find` throw
  // `gguf.key.value` if it has another kind of value; `number` accepts an array of equal numbers, and for a key whose
  // type is u32 only what that type can have.
  const Value* find(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  const std::string* text(std::string_view name) const;
  // For a key that has no effect because of others.
  void ignore(std::string_view name) const { static_cast<void>(find(name)); }

  // The names that were neither found nor ignored, in the order of the file.
  std::vector<std::string> unread() const;
  Error refused(std::string_view name, const Value& found, std::string_view expected) const;

 private:
  const Model& model_;
  const arch::Family& family_;
  mutable std::set<std::string, std::less<>> read_;
};

// Sets the fields of the config whose keys the metadata has, because their type is not the usual one. Throws
// `gguf.key.value` for a key that does not give one number: a default in its place would move rows and change shapes.
void require_fields(Model& model, const arch::Family& family);
// Returns whether require_fields would throw.
bool lacks_fields(const Model& model, const arch::Family& family);

}  // namespace tare::gguf::llama_cpp
