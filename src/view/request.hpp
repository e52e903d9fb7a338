// What a browser or a script asks for: the name of an endpoint and its parameters, decoded and bounded. No parameter is ever
// a path of the file system.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tare::view {

inline constexpr std::size_t kMostTarget = 4096;    // bytes of "tensors?sort=bytes&limit=5"
inline constexpr std::size_t kMostParameters = 24;  // in one request
inline constexpr std::size_t kMostSearched = 200;   // bytes of what is searched for, or of a slice

class Query {
 public:
  // Of "tensors?sort=bytes&limit=5". Throws usage `view.request` for what is too long or badly escaped.
  static Query parse(std::string_view target);

  const std::string& endpoint() const { return endpoint_; }
  // The value of a parameter; nothing without one. Of several, the first.
  std::optional<std::string_view> find(std::string_view key) const;
  std::string_view text(std::string_view key, std::string_view fallback = {}) const;
  // The same of at most so many bytes; throws `view.request` for more: a question that was cut is another one.
  std::string_view short_text(std::string_view key, std::size_t most, std::string_view fallback = {}) const;
  // A whole number from `least` to `most`; throws `view.request` for another.
  std::uint64_t number(std::string_view key, std::uint64_t fallback, std::uint64_t least, std::uint64_t most) const;
  bool flag(std::string_view key) const;
  const std::vector<std::pair<std::string, std::string>>& parameters() const { return parameters_; }
  // One of these words, the first when nothing is said; throws `view.request` for another.
  std::string_view choice(std::string_view key, std::span<const std::string_view> words) const;

 private:
  std::string endpoint_;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace tare::view
