#include "view/listening.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "view/access_control.hpp"

namespace tare::view {
namespace {

constexpr int kBacklog = 4096;  // connections that the kernel queues for us; it may allow fewer

bool is_any(const ListeningSocket& socket) { return socket.host == "0.0.0.0" || socket.host == "[::]"; }

// The machine's own addresses, as links spell them. Accepting them is safe: DNS rebinding can forge a name but not an
// address.
std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> held(all, ::freeifaddrs);
  for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
    const int family = at->ifa_addr == nullptr ? AF_UNSPEC : at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST];
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(at->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    const std::string_view name = text;
    if (name.find('%') != std::string_view::npos) continue;  // link-local with a scope, which browsers do not accept
    found.push_back(family == AF_INET6 ? fmt::format("[{}]", name) : std::string(name));
  }
  return found;
}

}  // namespace

Error cannot_listen(const ServerOptions& options, std::string_view why) {
  return Error(ErrorKind::io, "view.listen",
               fmt::format("cannot listen on {} port {}: {}", options.address, options.port, why));
}

ListeningSocket listen_on(ServerOptions options) {
  // Throws if the name is invalid.
  for (const std::string& host : options.hosts) static_cast<void>(spelled_host(host, options.port));
  if (options.address == "localhost") options.address = "127.0.0.1";
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(options.address.c_str(), nullptr, &hints, &found) != 0 || found == nullptr)
    throw cannot_listen(options, "it is not a numeric address");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held(found, ::freeaddrinfo);
  ListeningSocket made;
  made.descriptor = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made.descriptor < 0) throw cannot_listen(options, std::strerror(errno));
  const int yes = 1;
  ::setsockopt(made.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  auto* const four = reinterpret_cast<sockaddr_in*>(found->ai_addr);
  auto* const six = reinterpret_cast<sockaddr_in6*>(found->ai_addr);
  const bool is_six = found->ai_family == AF_INET6;
  (is_six ? six->sin6_port : four->sin_port) = htons(options.port);
  if (::bind(made.descriptor, found->ai_addr, found->ai_addrlen) != 0 || ::listen(made.descriptor, kBacklog) != 0) {
    const int problem = errno;
    ::close(made.descriptor);
    throw cannot_listen(options, std::strerror(problem));
  }
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ::getsockname(made.descriptor, reinterpret_cast<sockaddr*>(&own), &length);
  made.port =
      ntohs(is_six ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
  made.host = is_six ? "[" + options.address + "]" : options.address;
  return made;
}

std::vector<std::string> host_names(const ListeningSocket& socket, const std::vector<std::string>& others) {
  std::vector<std::string> names = {socket.host, "127.0.0.1", "localhost", "[::1]"};
  if (is_any(socket))
    for (std::string& address : own_addresses()) names.push_back(std::move(address));
  names.insert(names.end(), others.begin(), others.end());
  for (std::string& name : names) name = spelled_host(name, socket.port);
  return names;
}

std::vector<std::string> links_to(const ListeningSocket& socket, const std::string& token) {
  std::vector<std::string> links;
  const auto add = [&](std::string_view host) {
    links.push_back(fmt::format("http://{}:{}/{}/", host, socket.port, token));
  };
  if (!is_any(socket)) {
    add(socket.host);
    return links;
  }
  add("127.0.0.1");
  for (const std::string& address : own_addresses())
    if (address != "127.0.0.1" && address != "[::1]" && (socket.host == "[::]" || address.front() != '[')) add(address);
  return links;
}

}  // namespace tare::view
