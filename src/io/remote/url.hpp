// Addresses of files on servers: which paths are some, and what they consist of.
//
// An address is taken apart by one parser, which accepts only what has one meaning: libcurl is given what this parser
// has composed again, so both always mean the same host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tare::io {

// Whether a path is the address of something on a server, by its spelling alone: http://, https://, hf: and s3://. A file with
// such a name is "./NAME".
bool is_remote(std::string_view path);

}  // namespace tare::io

namespace tare::io::remote {

struct Url {
  bool secure = true;  // https
  std::string host;    // lower case; an IPv6 address without its brackets
  std::uint16_t port = 443;
  std::string path = "/";  // begins with a slash; escaped
  std::string query;       // with its question mark; can hold signatures, so it is in no message

  // "https://host:port", without a default port.
  std::string origin() const;
  std::string text() const { return origin() + path + query; }
  // For messages and names.
  std::string shown() const { return origin() + path; }
  bool same_origin(const Url& other) const {
    return secure == other.secure && host == other.host && port == other.port;
  }
};

// Throws `remote.url`. Bytes that an address cannot have (spaces, letters beyond ASCII) are escaped; a user's name or
// password in the address is refused.
Url parse_url(std::string_view text);
// The address that a server's Location means. Throws `remote.redirect.form`.
Url resolve(const Url& base, std::string_view location);
// Escapes everything but unreserved characters and slashes.
std::string escape_path(std::string_view path);
// Whether the host is this machine by its name or number.
bool is_loopback(std::string_view host);

}  // namespace tare::io::remote
