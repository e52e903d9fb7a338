// The server of `tare view`: HTTP on the loopback address, with libmicrohttpd.
//
// One thread transfers the bytes of all clients and never waits for one; a few others compute answers, whose size is
// bounded. A slow client therefore costs only a descriptor, and is disconnected if it takes too long. Requests that
// read the model's data have their own threads and queue (Service::reads_data), so that requests answered from memory
// never wait for a disk or a decoder. If a client disconnects while data is read for it, the reading stops. The library
// is loaded only when a server starts, because it pulls in TLS, which no other verb should have to load or depend on.
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
  std::string address = "127.0.0.1";    // address to listen on: numeric, or localhost
  std::uint16_t port = 0;               // 0: any free port
  std::vector<std::string> hosts = {};  // further names by which clients may address the server, with or without a port
  // The message for clients that use any other name; it explains how to get access.
  std::string other_host = "the request is addressed to another host";
  // How long a client that has not sent the token may take to send its request, if there are many clients.
  std::chrono::seconds short_patience{1};
};

// Requests without an answer yet.
struct Load {
  std::size_t waiting = 0, running = 0;            // requests answered from memory
  std::size_t data_waiting = 0, data_running = 0;  // requests that read data
  std::size_t stopping = 0;                        // those of data_running whose clients have disconnected
  std::size_t requests = 0;                        // requests of any kind that occupy memory
};

class Server {
 public:
  // Starts listening. `service` and `page` must outlive the server. Throws io `view.listen` if the address or the port
  // is not available, usage `view.host` for invalid host names, unsupported `view.library` without libmicrohttpd.
  Server(Service& service, const Page& page, const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:8080/TOKEN/"; a server on all addresses of the machine has one URL per address.
  const std::vector<std::string>& urls() const;
  // Whether the page has been requested.
  bool was_shown() const;
  Load load() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tare::view
