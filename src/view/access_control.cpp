#include "view/access_control.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare::view {
namespace {

// Compares in constant time, so that timing reveals no part of the secret.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i] ^ b[i]);
  return different == 0;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return small(x) == small(y);
  });
}

}  // namespace

bool AccessControl::is_own_host(std::string_view host) const {
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& known) { return same_letters(known, host); });
}

bool AccessControl::is_own_origin(std::string_view origin) const {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && is_own_host(origin.substr(kScheme.size()));
}

std::optional<Refusal> AccessControl::refuse(const Head& head, Admission& admission) const {
  const bool post = head.method == "POST";
  if (!post && head.method != "GET" && head.method != "HEAD")
    return Refusal{405, "view.method", "only GET, HEAD and POST are answered"};
  // After DNS rebinding, a foreign page's requests still carry the foreign name in Host.
  if (head.hosts.size() != 1 || !is_own_host(head.hosts.front())) return Refusal{403, "view.host", other_host_};
  if (head.origins.size() > 1 || (head.origins.size() == 1 && !is_own_origin(head.origins.front())))
    return Refusal{403, "view.origin", "the request comes from another page"};
  const bool foreign = !head.site.empty() && head.site != "same-origin" && head.site != "none";
  // A link from another site may open the page, which needs the token as well; it may not call the API.
  if (head.body_bytes > 0) return Refusal{413, "view.body", "requests have no body"};
  std::string_view target = head.target;
  if (!target.starts_with('/')) return Refusal{400, "view.request", "the request names no path"};
  target.remove_prefix(1);
  const std::size_t slash = std::min(target.find('/'), target.size());
  if (!same_secret(target.substr(0, slash), token_))
    return Refusal{403, "view.token", "the link is not complete; copy it from the terminal"};
  target = target.substr(std::min(slash + 1, target.size()));
  constexpr std::string_view kApi = "api/";
  if (target.starts_with(kApi)) {
    if (foreign) return Refusal{403, "view.origin", "the request comes from another page"};
    admission = {RequestKind::api, target.substr(kApi.size()), post};
    return std::nullopt;
  }
  if (!target.empty() || post) return Refusal{404, "view.endpoint", "nothing is there", ErrorKind::not_found};
  // The link was copied without its final slash.
  if (slash == head.target.size() - 1) return Refusal{308, "view.endpoint", "the link ends with a slash"};
  admission = {RequestKind::page, {}, false};
  return std::nullopt;
}

std::string spelled_host(std::string_view name, std::uint16_t port) {
  const std::size_t bracket = name.starts_with('[') ? name.find(']') : 0;
  const std::size_t colon = bracket == std::string_view::npos ? bracket : name.find(':', bracket);
  const std::string_view host = name.substr(0, colon), port_part = name.substr(std::min(colon, name.size()));
  const bool is_port = port_part.size() > 1 && port_part.size() <= 6 &&
                       std::all_of(port_part.begin() + 1, port_part.end(), [](char c) { return c >= '0' && c <= '9'; });
  const bool fine = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == ':' || c == '[' || c == ']';
  });
  if (host.empty() || !fine || bracket == std::string_view::npos || (!port_part.empty() && !is_port))
    throw Error(ErrorKind::usage, "view.host",
                fmt::format("a host is a name such as workstation.lan, or localhost:9000 if the port is another one, "
                            "found '{}'",
                            name));
  if (!port_part.empty()) return std::string(port_part == ":80" ? host : name);
  return port == 80 ? std::string(name) : fmt::format("{}:{}", name, port);
}

std::string random_token() {
  std::array<std::byte, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorKind::io, "view.random", "the system has no random numbers");
  return to_hex(bytes);
}

bool Rate::admit(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (last_) left_ = std::min(burst_, left_ + std::chrono::duration<double>(now - *last_).count() * per_second_);
  last_ = now;
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

}  // namespace tare::view
