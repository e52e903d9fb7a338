// Asks servers for bytes: follows redirects, tries again, and accepts nothing but what was asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "io/remote/credential.hpp"
#include "io/remote/transfer.hpp"
#include "tare/value.hpp"

namespace tare::io::remote {

// What a file on a server is known to be. Two files with the same identity have the same bytes.
struct Identity {
  std::uint64_t size = 0;
  std::string etag;           // a strong one; empty: none
  std::string last_modified;  // if there is no strong ETag
  std::string content;        // "sha256:HEX", or "git:HEX" (of the object in a git repository); empty: unknown

  // A text that only files with these bytes have; empty if nothing is strong enough. `address`: that of the file, with its
  // query, so the text may hold a signature. A server can state any content, so the key of a known one has the server, too.
  std::string key(const Url& address) const;
};

// One file on a server. Any number of threads may use it.
class RemoteFile {
 public:
  // Learns the identity from the server, with the file's first bytes: `head` has room for them, and is shortened to what
  // the file has.
  RemoteFile(Url url, Credential credential, Bytes& head);
  // The identity is known; nothing is asked for yet.
  RemoteFile(Url url, Credential credential, Identity identity);

  const Identity& identity() const { return identity_; }
  // Asks for this range. Throws `io.source.changed` if the file is another one by now, and `remote.*`.
  void fetch(std::uint64_t offset, std::span<std::byte> out);
  // Asks for the whole file without a range, for small files: not every server cuts ranges out of what it generates.
  // Compares it with the content's digest, if that is known: `remote.digest`.
  Bytes fetch_all();

 private:
  struct Place {
    Url url;
    std::optional<Reach> from;  // the network of the server that redirected there
  };
  class Attempt;

  Place place() const;
  void forget(const Place& place);
  void remember(const Url& url, const std::optional<Reach>& from, const Answer& answer);

  Url named_;
  Credential credential_;
  Identity identity_;
  mutable std::mutex mutex_;
  std::optional<Place> found_;  // where the last redirect led
  std::string found_etag_;      // that of the first answer, if the identity has none
};

// The whole answer to a request, of at most `most` bytes; the status must be 200. Throws `remote.*`.
Bytes fetch_text(const Url& url, const Credential& credential, std::uint64_t most);

}  // namespace tare::io::remote
