// One exchange with a server: a request and its answer, without following redirects. Everything that a server sends is
// bounded here: headers, body, time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/remote/reach.hpp"
#include "io/remote/url.hpp"
#include "tare/error.hpp"

namespace tare::io::remote {

class Answer {
 public:
  int status = 0;
  Reach peer = Reach::nothing;  // what the server's own address is

  // The value of a header, by its name in lower case; nothing if there is none. Throws `remote.headers` if there are
  // several with different values.
  std::optional<std::string_view> header(std::string_view name) const;
  // The length that the server states for the body.
  std::optional<std::uint64_t> length() const;

  std::vector<std::pair<std::string, std::string>> headers;
};

// Why an exchange gave no answer.
class TransferError : public Error {
 public:
  TransferError(Error error, bool transient) : Error(std::move(error)), transient_(transient) {}
  // Whether the same may succeed at another time.
  bool transient() const { return transient_; }

 private:
  bool transient_;
};

struct Request {
  Url url;
  std::vector<std::string> headers;  // "Name: value"
  // Use the person's netrc. Only for the host that the person named.
  bool netrc = false;
  // What redirected here: null for the address that the person named.
  std::optional<Reach> from = std::nullopt;
  // How many bytes are expected, for the time that it may take.
  std::uint64_t expected = 0;
  // Called once the headers have arrived; returns whether to read the body. May throw.
  std::function<bool(const Answer&)> begin;
  // Gets the bytes of the body, in order. May throw.
  std::function<void(std::span<const std::byte>)> take;
};

// The error about a redirect into another network (reach.hpp).
Error private_redirect(const Url& to);

// Throws TransferError (`remote.failed`, `remote.timeout`, `remote.tls`, `remote.headers`, `remote.redirect.private`), what the
// functions throw, and `work.stopped`. At most eight exchanges at once.
Answer exchange(const Request& request);

}  // namespace tare::io::remote
