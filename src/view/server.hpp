// The server of `tare view`: HTTP on the loopback address, by libmicrohttpd.
//
// One thread moves bytes from and to all clients and never waits for one; a few others make answers, which are bounded. So a
// client that is slow costs a descriptor, and is sent away when it takes too long. Answers that need the model's data have
// threads and a queue of their own (Service::is_dear): what is answered from memory never waits for a disk or a decoder. Who
// goes away while data is read for it is forgotten, and the reading stops. The library is loaded when a server is started and
// not before: it brings TLS along, which no other verb wants to wait for or depend on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "view/page.hpp"
#include "view/service.hpp"

namespace tare::view {

struct ServerOptions {
  std::string address = "127.0.0.1";    // to listen on; numeric, or localhost
  std::uint16_t port = 0;               // 0: one that is free
  std::vector<std::string> hosts = {};  // more names by which clients may address it, with or without a port
  // What a client is told that addresses it by another name, and how to be let in.
  std::string other_host = "the request is addressed to another host";
  // How long a client that has not shown the secret may take to say what it wants, when there are many.
  std::chrono::seconds short_patience{1};
};

// Requests that have no answer yet.
struct Load {
  std::size_t waiting = 0, running = 0;            // answered from memory
  std::size_t dear_waiting = 0, dear_running = 0;  // that read data
  std::size_t stopping = 0;                        // of dear_running, those whose clients have gone
  std::size_t requests = 0;                        // that memory is held for, of whatever kind
};

class Server {
 public:
  // Listens from here on; both must outlive it. Throws io `view.listen` when the address or the port is not to be had,
  // usage `view.host` for names that are none, unsupported `view.library` without libmicrohttpd.
  Server(const Service& service, const Page& page, const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:8080/TOKEN/"; of a server that listens on all addresses of the machine, one for each.
  const std::vector<std::string>& urls() const;
  // Whether anybody has asked for the page.
  bool was_shown() const;
  Load load() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tare::view
