// The socket of the server, and the names by which clients reach it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"
#include "view/server.hpp"

namespace tare::view {

struct ListeningSocket {
  int descriptor = -1;
  std::uint16_t port = 0;
  std::string host;  // as links spell it: "127.0.0.1", "[::1]"
};

// The caller closes the descriptor. Throws io `view.listen` if the address or the port is not available, usage
// `view.host` if one of the further host names is invalid.
ListeningSocket listen_on(ServerOptions options);
Error cannot_listen(const ServerOptions& options, std::string_view why);

// The Host headers that a client may send. `others`: ServerOptions::hosts.
std::vector<std::string> host_names(const ListeningSocket& socket, const std::vector<std::string>& others);
// The links to the page, one per address of the machine if the socket listens on all of them.
std::vector<std::string> links_to(const ListeningSocket& socket, const std::string& token);

}  // namespace tare::view
