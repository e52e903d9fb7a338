// Proves the person's identity to a server: a token, or keys that sign each request. It is for one server; it is sent nowhere else, and is
// in no message, no file and no cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/remote/url.hpp"

namespace tare::io::remote {

// Keys for Amazon's signature, version 4.
struct SigningKeys {
  std::string id, secret;
  std::string session;  // empty: none
  std::string region;
};

struct Credential {
  std::string origin = {};                         // Url::origin of the server
  std::string token = {};                          // empty: none
  std::optional<SigningKeys> keys = std::nullopt;  // instead of a token

  bool empty() const { return token.empty() && !keys; }
  // The headers for a request ("Name: value"); none if it goes to another server, or without TLS to another machine.
  std::vector<std::string> headers(const Url& url) const;
};

// The headers that sign a GET without a body. `time`: "20130524T000000Z".
std::vector<std::string> sign(const Url& url, const SigningKeys& keys, const std::string& time);

}  // namespace tare::io::remote
