// Who may come in: the token of the link, the hosts by which the server may be addressed, where a page that asks may be from.
// Nothing here opens a socket, so that every rule can be tested.
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

// The parts of a request's head that decide.
struct Head {
  std::string_view method;                // "GET"
  std::string_view target;                // "/TOKEN/api/tensors?count=5", as it came
  std::vector<std::string_view> hosts;    // every Host header
  std::vector<std::string_view> origins;  // every Origin header
  std::string_view site;                  // Sec-Fetch-Site, which browsers send; empty without
  std::uint64_t body_bytes = 0;           // as the head states them
};

enum class Room : std::uint8_t { page, api };

// Where a request that was let in wants to go.
struct Admission {
  Room room = Room::page;
  std::string_view target;  // behind "/TOKEN/api/"
  bool change = false;      // POST
};

// Why one was not let in; its words live as long as the door. With 308, the same with a slash at its end is.
struct Refusal {
  int status = 403;
  std::string_view rule, sentence;
  ErrorKind kind = ErrorKind::usage;
};

class Door {
 public:
  // `hosts`: how a client may spell the server, such as "127.0.0.1:8080".
  // `other_host`: what somebody is told who spells it otherwise.
  Door(std::string token, std::vector<std::string> hosts,
       std::string other_host = "the request is addressed to another host")
      : token_(std::move(token)), hosts_(std::move(hosts)), other_host_(std::move(other_host)) {}

  std::optional<Refusal> refuse(const Head& head, Admission& admission) const;

 private:
  bool knows_host(std::string_view host) const;
  bool is_own_origin(std::string_view origin) const;

  std::string token_;
  std::vector<std::string> hosts_;
  std::string other_host_;
};

// How clients spell a server that has this name: with the port, which only 80 does without. A name may have a port of its own,
// "localhost:9000": the other end of a tunnel. Throws usage `view.host` for what is not a name.
std::string spelled_host(std::string_view name, std::uint16_t port);

// 32 hexadecimal digits that nobody can guess. Throws io `view.random`.
std::string random_token();

// So many requests a second, and so many at once after a pause.
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
