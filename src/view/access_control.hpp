// Access control: the token in the link, the host names by which the server may be addressed, and the origins from
// which a page may send requests. Nothing here opens a socket, so that every rule can be tested.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"

namespace tare::view {

// The parts of a request's head that access depends on.
struct Head {
  std::string_view method;                // "GET"
  std::string_view target;                // "/TOKEN/api/tensors?count=5", as received
  std::vector<std::string_view> hosts;    // every Host header
  std::vector<std::string_view> origins;  // every Origin header
  std::string_view site;                  // Sec-Fetch-Site, which browsers send; empty if absent
  std::uint64_t body_bytes = 0;           // the length that the head states
  bool accepts_page = false;              // a browser opens it as a page: Accept lists text/html
};

enum class RequestKind : std::uint8_t { page, api };

// What an admitted request asks for.
struct Admission {
  RequestKind kind = RequestKind::page;
  std::string_view target;  // the part after "/TOKEN/api/"
  bool change = false;      // POST
};

// Why a request is refused. The strings live as long as the AccessControl. Status 308 redirects to the same target with a final
// slash.
struct Refusal {
  int status = 403;
  std::string_view rule, sentence;
  ErrorKind kind = ErrorKind::usage;
};

class AccessControl {
 public:
  // `hosts`: the accepted Host headers, such as "127.0.0.1:8080". `other_host`: the message for any other.
  AccessControl(std::string token, std::vector<std::string> hosts,
                std::string other_host = "the request is addressed to another host")
      : token_(std::move(token)), hosts_(std::move(hosts)), other_host_(std::move(other_host)) {}

  std::optional<Refusal> refuse(const Head& head, Admission& admission) const;

 private:
  bool is_own_host(std::string_view host) const;
  bool is_own_origin(std::string_view origin) const;

  std::string token_;
  std::vector<std::string> hosts_;
  std::string other_host_;
};

// The Host header that clients send for this name: with the port, unless it is 80. A name may have its own port, such
// as "localhost:9000" for the other end of a tunnel. Throws usage `view.host` if it is not a valid name.
std::string spelled_host(std::string_view name, std::uint16_t port);

// 32 unpredictable hexadecimal digits. Throws io `view.random`.
std::string random_token();

// A token bucket: `per_second` requests per second, and bursts of up to `burst`.
class Rate {
 public:
  using Clock = std::chrono::steady_clock;
  Rate(double per_second, double burst) : per_second_(per_second), burst_(burst), left_(burst) {}
  bool admit(Clock::time_point now);

 private:
  std::mutex mutex_;
  double per_second_, burst_, left_;
  std::optional<Clock::time_point> last_;
};

}  // namespace tare::view
