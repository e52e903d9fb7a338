// Which networks an address belongs to, and where a redirect may lead: not from a public server into the network of the
// person that asked it.
#pragma once

#include <cstdint>
#include <string_view>

struct sockaddr;

namespace tare::io::remote {

enum class Reach : std::uint8_t {
  nothing,      // not an address to connect to: multicast, unspecified
  public_net,   // reachable from anywhere
  private_net,  // 10.0.0.0/8, fc00::/7 and the like
  link_local,   // 169.254.0.0/16, where clouds keep credentials; fe80::/10
  loopback,     // this machine
};

// Takes a struct sockaddr, as the system connects to it.
Reach reach_of(const sockaddr* address);
// Takes a number as text ("10.0.0.1", "::1"); public_net for names.
Reach reach_of_text(std::string_view number);
// A server may redirect to public servers, and into the network that it is in itself.
bool may_lead(Reach from, Reach to);

}  // namespace tare::io::remote
