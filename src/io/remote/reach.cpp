#include "io/remote/reach.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

namespace tare::io::remote {
namespace {

struct Net4 {
  std::uint32_t begin;
  unsigned bits;
  Reach reach;
};

// IANA's special-purpose addresses. The first matching row is used.
constexpr Net4 kNets4[] = {
    {0x7F000000, 8, Reach::loopback},      // 127.0.0.0/8
    {0x00000000, 8, Reach::nothing},       // 0.0.0.0/8, which is this machine on Linux
    {0x0A000000, 8, Reach::private_net},   // 10.0.0.0/8
    {0xAC100000, 12, Reach::private_net},  // 172.16.0.0/12
    {0xC0A80000, 16, Reach::private_net},  // 192.168.0.0/16
    {0x64400000, 10, Reach::private_net},  // 100.64.0.0/10, inside of providers
    {0xC6120000, 15, Reach::private_net},  // 198.18.0.0/15, for measurements
    {0xC0000000, 24, Reach::private_net},  // 192.0.0.0/24
    {0xA9FE0000, 16, Reach::link_local},   // 169.254.0.0/16
    {0xE0000000, 3, Reach::nothing},       // multicast and reserved
};

Reach reach4(std::uint32_t address) {
  for (const Net4& net : kNets4)
    if ((address ^ net.begin) >> (32 - net.bits) == 0) return net.reach;
  return Reach::public_net;
}

std::uint32_t big_endian(std::span<const unsigned char, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

Reach reach6(const std::array<unsigned char, 16>& bytes) {
  const auto begins = [&](std::initializer_list<unsigned char> with) {
    return std::equal(with.begin(), with.end(), bytes.begin());
  };
  const std::span<const unsigned char, 16> all(bytes);
  const bool zeros = std::all_of(bytes.begin(), bytes.begin() + 10, [](unsigned char byte) { return byte == 0; });
  if (zeros && bytes[10] == 0xFF && bytes[11] == 0xFF)
    return reach4(big_endian(all.subspan<12, 4>()));  // ::ffff:a.b.c.d
  if (zeros && bytes[10] == 0 && bytes[11] == 0) {
    if (std::all_of(bytes.begin() + 12, bytes.begin() + 15, [](unsigned char byte) { return byte == 0; }))
      return bytes[15] == 1 ? Reach::loopback : Reach::nothing;
    return reach4(big_endian(all.subspan<12, 4>()));  // ::a.b.c.d, obsolete
  }
  if (begins({0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0}))
    return reach4(big_endian(all.subspan<12, 4>()));  // NAT64
  if (begins({0x00, 0x64, 0xFF, 0x9B})) return Reach::private_net;
  if (begins({0x20, 0x02})) return reach4(big_endian(all.subspan<2, 4>()));  // 6to4
  if (begins({0x20, 0x01, 0, 0})) return Reach::nothing;                     // Teredo hides an IPv4 address
  if ((bytes[0] & 0xFE) == 0xFC) return Reach::private_net;                  // fc00::/7
  if (bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80) return Reach::link_local;
  if (bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0xC0) return Reach::private_net;  // fec0::/10, obsolete
  if (bytes[0] == 0xFF) return Reach::nothing;
  return Reach::public_net;
}

Reach reach_of_v4(const in_addr& address) { return reach4(ntohl(address.s_addr)); }

Reach reach_of_v6(const in6_addr& address) {
  std::array<unsigned char, 16> bytes{};
  std::memcpy(bytes.data(), &address, bytes.size());
  return reach6(bytes);
}

}  // namespace

Reach reach_of(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    return reach_of_v4(in.sin_addr);
  }
  if (address->sa_family != AF_INET6) return Reach::nothing;
  sockaddr_in6 in{};
  std::memcpy(&in, address, sizeof in);
  return reach_of_v6(in.sin6_addr);
}

Reach reach_of_text(std::string_view number) {
  const std::string text(number);
  in_addr in{};
  if (::inet_pton(AF_INET, text.c_str(), &in) == 1) return reach_of_v4(in);
  in6_addr in6{};
  if (::inet_pton(AF_INET6, text.c_str(), &in6) == 1) return reach_of_v6(in6);
  return Reach::public_net;
}

bool may_lead(Reach from, Reach to) {
  if (to == Reach::nothing || to == Reach::link_local) return false;
  return to == Reach::public_net || to == from;
}

}  // namespace tare::io::remote
