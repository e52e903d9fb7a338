// The connections of the server, and when to close one: if it takes too long, if there are too many, or if answers that
// clients do not receive take too much memory. Closing means shutting the socket down; the library then reports the end
// of the connection. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tare/stop.hpp"
#include "view/access_control.hpp"
#include "view/service.hpp"

namespace tare::view {

struct Request {
  std::string target;
  Admission admission;
  bool begun = false, queued = false, ready = false;
  bool accepts_page = false;  // a refusal is read by a person
  Stop stop = {};             // requested if the client disconnects, for requests that read data
  Answer answer;              // lives until the client has received it
};

// A connection. It owns its request, because the library does not report the end of every request: a request whose head
// needs more memory than kClientMemory ends silently. The end of a connection is always reported.
struct Client {
  enum class State : std::uint8_t { sends_request, waits, receives_answer };
  int descriptor = -1;  // -1: shut down
  State state = State::sends_request;
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  std::size_t unreceived = 0;  // bytes of an answer that the client has not received yet
  bool has_token = false;      // it has sent the token
  std::unique_ptr<Request> request = {};
};

inline constexpr std::size_t kClientMemory = 32 << 10;  // for the head of a request
// How long a client may take to receive an answer.
inline constexpr std::chrono::seconds kReceivingPatience{60};

// A null client is ignored: there was no memory for it.
class Clients {
 public:
  // `short_patience`: as in ServerOptions.
  explicit Clients(std::chrono::seconds short_patience);

  // Adds a connection. If there are too many, closes one of them, which may be the new one.
  Client* connect(int descriptor);
  void disconnect(const Client* client);

  // Returns null for a null client.
  Request* begin(Client* client, std::string_view target);
  void end(Client* client);
  void set_state(Client* client, Client::State state);
  void mark_token_sent(Client* client);
  // Records an answer that the client has not received yet. If all of these take too much memory, closes the connections
  // of the clients that have waited longest to receive theirs.
  void add_unreceived(Client* client, std::size_t bytes);
  void close_slow();

  // How many connections there may be: twice as many as clients, so that newcomers can connect while others are being
  // disconnected.
  unsigned most_connections() const { return 2 * most_; }

  // The number of requests that occupy memory.
  std::size_t requests() const;

 private:
  void close_idlest(const Client& newcomer);

  const unsigned most_;
  const std::chrono::seconds short_patience_;
  mutable std::mutex mutex_;
  std::list<Client> clients_;
};

}  // namespace tare::view
