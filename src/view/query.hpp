// A request of a browser or script: the name of an endpoint and its parameters, decoded and bounded. A parameter is
// never used as a path of the file system.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tare::view {

inline constexpr std::size_t kMostTarget = 4096;    // length of "tensors?sort=bytes&limit=5", in bytes
inline constexpr std::size_t kMostParameters = 24;  // per request
inline constexpr std::size_t kMostSearched = 200;   // length of a search text or a slice, in bytes

class Query {
 public:
  // Parses "tensors?sort=bytes&limit=5". Throws usage `view.request` if it is too long or badly escaped.
  static Query parse(std::string_view target);

  const std::string& endpoint() const { return endpoint_; }
  // The value of a parameter (the first, if repeated), or nullopt.
  std::optional<std::string_view> find(std::string_view key) const;
  std::string_view text(std::string_view key, std::string_view fallback = {}) const;
  // The same, limited to `most` bytes. Throws `view.request` if it is longer: a truncated query would mean something
  // else.
  std::string_view short_text(std::string_view key, std::size_t most, std::string_view fallback = {}) const;
  // An integer from `least` to `most`; throws `view.request` otherwise.
  std::uint64_t number(std::string_view key, std::uint64_t fallback, std::uint64_t least, std::uint64_t most) const;
  bool flag(std::string_view key) const;
  const std::vector<std::pair<std::string, std::string>>& parameters() const { return parameters_; }
  // One of `words`, by default the first; throws `view.request` for any other value.
  std::string_view choice(std::string_view key, std::span<const std::string_view> words) const;

 private:
  std::string endpoint_;
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace tare::view
