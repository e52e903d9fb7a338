// The rules, in the order in which they are checked:
//
//   redirects    at most five; never from https to http; the token goes only to the server that it is for; not into another
//                network (reach.hpp). The last address is used for later ranges. If it is refused later, which
//                signed links are after some minutes, the redirect is asked for again, once per range.
//   busy         429 and 503: waits as long as Retry-After asks for, at most a minute in all
//   failures     broken connections, and 500, 502 and 504: four attempts, each continuing where the last one ended
//   ranges       206 with exactly the asked Content-Range, the known size, the known ETag, and no Content-Encoding.
//                Anything else is an error, above all 200: the server sends everything.
#include "io/remote/fetch.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <thread>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "base/text.hpp"
#include "io/remote/settings.hpp"
#include "tare/digest.hpp"

namespace tare::io::remote {
namespace {

constexpr int kMostRedirects = 5, kMostAttempts = 4;
constexpr std::uint64_t kMostWait = 60'000, kFirstWait = 100;    // milliseconds
constexpr std::uint64_t kMostIgnored = std::uint64_t{64} << 10;  // bytes of a body that is not wanted

Error about(const Url& url, ErrorKind kind, std::string_view rule, std::string_view sentence) {
  return Error(kind, rule, sentence).in(url.shown());
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

void wait(std::uint64_t milliseconds) {
  constexpr std::uint64_t kStep = 50;
  for (std::uint64_t waited = 0; waited < milliseconds; waited += kStep) {
    check_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(kStep, milliseconds - waited)));
  }
}

// A weak tag ("W/...") does not count: different bytes may have the same one.
std::string strong_etag(const Answer& answer) {
  const auto etag = answer.header("etag");
  const bool strong = etag && etag->size() >= 2 && etag->front() == '"' && etag->back() == '"';
  return strong ? std::string(*etag) : std::string();
}

void require_plain(const Url& url, const Answer& answer) {
  const auto encoding = answer.header("content-encoding");
  if (encoding && !encoding->empty() && *encoding != "identity")
    throw about(url, ErrorKind::io, "remote.encoding",
                fmt::format("the server sends the bytes encoded ({}), although asked not to", quote(*encoding)));
}

struct ContentRange {
  std::uint64_t first = 0, last = 0, size = 0;
};

// "bytes 0-99/1000".
std::optional<ContentRange> parse_range(std::string_view text) {
  ContentRange range;
  const auto number = [&](std::string_view before, std::uint64_t& into) {
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    const auto read = std::from_chars(text.data(), text.data() + text.size(), into);
    if (read.ec != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return true;
  };
  const bool whole =
      number("bytes ", range.first) && number("-", range.last) && number("/", range.size) && text.empty();
  return whole && range.first <= range.last && range.last < range.size ? std::optional(range) : std::nullopt;
}

// Requests `url` and follows redirects. `begin` sees the final answer only, not the redirects.
class Walk {
 public:
  Walk(const Credential& credential, std::uint64_t expected) : credential_(credential), expected_(expected) {}

  std::function<void(const Url&, const Answer&)> on_redirect;
  std::vector<std::string> headers;

  // Where the last request went.
  Url url;
  std::optional<Reach> from;

  Answer run(Url start, std::optional<Reach> start_from, const std::function<bool(const Url&, const Answer&)>& begin,
             const std::function<void(std::span<const std::byte>)>& take) {
    url = std::move(start);
    from = start_from;
    const std::string first = url.origin();
    for (int redirects = 0;; ++redirects) {
      if (!url.secure && !is_loopback(url.host) && !allows_plain())
        throw about(url, ErrorKind::unsupported, "remote.plain",
                    "without TLS, anybody on the way could change the bytes; use https://, or allow it by "
                    "TARE_REMOTE_ALLOW=http");
      std::uint64_t ignored = 0;
      bool wanted = false;
      Request request{.url = url, .headers = headers, .from = from, .expected = expected_, .begin = {}, .take = {}};
      request.netrc = start_from == std::nullopt && url.origin() == first && credential_.empty();
      for (std::string& header : credential_.headers(url)) request.headers.push_back(std::move(header));
      request.begin = [&](const Answer& answer) {
        wanted = !is_redirect(answer.status) && begin(url, answer);
        return wanted || answer.length().value_or(kMostIgnored) < kMostIgnored;
      };
      request.take = [&](std::span<const std::byte> bytes) {
        if (wanted) return take(bytes);
        ignored += bytes.size();
        if (ignored > kMostIgnored)
          throw about(url, ErrorKind::io, "remote.body.long", "the server's answer has more bytes than it states");
      };
      Answer answer = exchange(request);
      if (!is_redirect(answer.status)) return answer;
      if (on_redirect) on_redirect(url, answer);
      if (redirects == kMostRedirects)
        throw about(url, ErrorKind::io, "remote.redirect.many",
                    fmt::format("the server redirects more than {} times", kMostRedirects));
      follow(answer);
    }
  }

 private:
  void follow(const Answer& answer) {
    const auto location = answer.header("location");
    if (!location)
      throw about(url, ErrorKind::io, "remote.redirect.form", "the server redirects without saying where to");
    Url next;
    try {
      next = resolve(url, *location);
    } catch (Error& error) {
      throw Error(ErrorKind::io, error.rule(), error.sentence()).in(url.shown());
    }
    if (url.secure && !next.secure)
      throw about(
          url, ErrorKind::io, "remote.redirect.insecure",
          fmt::format("the server redirects from https to {}, where anybody could change the bytes", next.origin()));
    if (from || !next.same_origin(url)) from = answer.peer;
    // Checked once more for the address that is connected to (transfer.cpp).
    if (from && !may_lead(*from, reach_of_text(next.host)) && !allows_private()) throw private_redirect(next);
    url = std::move(next);
  }

  const Credential& credential_;
  std::uint64_t expected_;
};

// Decides what to do about an answer that is not the wanted one.
class Patience {
 public:
  // Returns after waiting if the request is to be sent again; throws otherwise.
  void after(const Url& url, const Answer& answer) {
    const int status = answer.status;
    if (status == 429 || status == 503) return busy(url, answer);
    if (status == 500 || status == 502 || status == 504)
      return again(about(url, ErrorKind::io, "remote.status", fmt::format("the server failed (status {})", status)));
    throw refused(url, answer);
  }
  void again(const Error& error) {
    if (++attempts_ >= kMostAttempts) throw error;
    pause(kFirstWait << attempts_, error);
  }

  static Error refused(const Url& url, const Answer& answer) {
    // The Hub's own words, bounded like all headers.
    const auto says = answer.header("x-error-message");
    const std::string words = says ? fmt::format(": {}", quote(*says)) : std::string();
    switch (answer.status) {
      case 401:
      case 403:
        return about(url, ErrorKind::io, "remote.denied",
                     fmt::format("the server denies access (status {}){}; it may need a token or another one",
                                 answer.status, words));
      case 404:
      case 410:
        return about(url, ErrorKind::not_found, "remote.missing", fmt::format("does not exist on the server{}", words));
      default:
        return about(url, ErrorKind::io, "remote.status",
                     fmt::format("expected the file, the server answered with status {}{}", answer.status, words));
    }
  }

 private:
  void busy(const Url& url, const Answer& answer) {
    std::uint64_t seconds = 0;
    const std::string_view text = answer.header("retry-after").value_or("");
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool stated = !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
    const Error error =
        about(url, ErrorKind::io, "remote.busy",
              stated ? fmt::format("the server is busy (status {}) and asks to come back after {} seconds",
                                   answer.status, seconds)
                     : fmt::format("the server is busy (status {})", answer.status));
    if (++attempts_ >= kMostAttempts) throw error;
    pause(stated ? checked_mul(seconds, 1000).value_or(UINT64_MAX) : kFirstWait << attempts_, error);
  }
  void pause(std::uint64_t milliseconds, const Error& error) {
    if (milliseconds > kMostWait - waited_) throw error;
    waited_ += milliseconds;
    wait(milliseconds);
  }

  int attempts_ = 0;
  std::uint64_t waited_ = 0;
};

// Runs `action` until it returns true.
template <typename Action>
void try_often(Patience& patience, const Action& action) {
  for (;;) try {
      if (action()) return;
    } catch (const TransferError& error) {
      if (!error.transient()) throw;
      patience.again(error);
    }
}

std::string hex_digest(std::string_view algorithm, std::span<const std::byte> bytes) {
  if (algorithm == "sha256") return digest_of(DigestAlgorithm::sha256, bytes).hex();
  // git: SHA-1 over a header and the bytes.
  const std::string head = fmt::format("blob {}", bytes.size());
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned length = 0;
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  const bool done = EVP_DigestInit_ex(context.get(), EVP_sha1(), nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), head.c_str(), head.size() + 1) == 1 &&
                    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), out.data(), &length) == 1;
  return done ? to_hex(std::as_bytes(std::span(out).first(length))) : std::string();  // empty: not available
}

}  // namespace

std::string Identity::key(const Url& address) const {
  if (!content.empty()) return fmt::format("{}\n{}", content, address.origin());
  return etag.empty() ? std::string() : fmt::format("etag:{}\n{}\n{}", address.text(), etag, size);
}

// One request for a range.
class RemoteFile::Attempt {
 public:
  // `identity` null: any; the first answer defines it.
  Attempt(RemoteFile& file, const Identity* identity, std::uint64_t offset, std::span<std::byte> out)
      : file_(file), identity_(identity), offset_(offset), out_(out) {}

  // Returns whether the range has arrived.
  bool run(Patience& patience) {
    const Place start = file_.place();
    Walk walk(file_.credential_, out_.size() - done_);
    const std::uint64_t first = offset_ + done_, last = offset_ + out_.size() - 1;
    walk.headers.push_back(fmt::format("Range: bytes={}-{}", first, last));
    const std::string etag = expected_etag();
    if (!etag.empty())
      walk.headers.push_back(fmt::format("If-Match: {}", etag));
    else if (identity_ != nullptr && !identity_->last_modified.empty())
      walk.headers.push_back(fmt::format("If-Unmodified-Since: {}", identity_->last_modified));
    walk.on_redirect = [&](const Url& url, const Answer& answer) { check_link(url, answer); };
    const Answer answer = walk.run(
        start.url, start.from,
        [&](const Url& url, const Answer& got) {
          return got.status == 206 ? accept(url, got, first, last) : got.status == 200 ? refuse_whole(url, got) : false;
        },
        [&](std::span<const std::byte> bytes) { take(bytes, walk.url); });
    if (answer.status == 206) {
      file_.remember(walk.url, walk.from, answer);
      if (done_ < wanted_)
        throw TransferError(about(walk.url, ErrorKind::io, "remote.body.short",
                                  fmt::format("the server stated {} bytes and sent {}", wanted_, done_)),
                            true);
      return true;
    }
    if (answer.status == 412) throw changed(walk.url, "it is no longer the file that was opened");
    if (answer.status == 416) {
      if (identity_ != nullptr) throw changed(walk.url, "it has become shorter");
      return take_empty(walk.url, answer);
    }
    const bool signed_link = start.from.has_value();
    if (signed_link && !resolved_again_ &&
        (answer.status == 403 || answer.status == 401 || answer.status == 410 || answer.status == 404)) {
      resolved_again_ = true;
      file_.forget(start);
      return false;
    }
    patience.after(walk.url, answer);
    return false;
  }

  std::size_t got() const { return done_; }
  Identity found;

 private:
  std::string expected_etag() const {
    if (identity_ == nullptr) return {};
    if (!identity_->etag.empty()) return identity_->etag;
    const std::scoped_lock lock(file_.mutex_);
    return file_.found_etag_;
  }

  static Error changed(const Url& url, std::string_view how) {
    return about(url, ErrorKind::io, "io.source.changed", fmt::format("the file on the server has changed: {}", how));
  }

  // The Hub's redirect states the size and the SHA-256 of the file that it leads to, so a change is noticed
  // before the file is requested.
  void check_link(const Url& url, const Answer& answer) const {
    if (identity_ == nullptr || identity_->content.empty() || url.origin() != file_.named_.origin()) return;
    const auto size = answer.header("x-linked-size"), etag = answer.header("x-linked-etag");
    if (size && *size != fmt::to_string(identity_->size))
      throw changed(url, fmt::format("{} bytes when it was listed, {} now", identity_->size, quote(*size)));
    constexpr std::string_view kSha = "sha256:";
    if (etag && identity_->content.starts_with(kSha) &&
        etag->find(identity_->content.substr(kSha.size())) == std::string_view::npos)
      throw changed(url, "its SHA-256 is another one");
  }

  bool accept(const Url& url, const Answer& answer, std::uint64_t first, std::uint64_t last) {
    require_plain(url, answer);
    const auto text = answer.header("content-range");
    const auto range = text ? parse_range(*text) : std::nullopt;
    const auto wrong = [&] {
      return about(url, ErrorKind::io, "remote.range.other",
                   fmt::format("expected bytes {} to {}, the server sends {}", first, last,
                               text ? quote(*text) : std::string("a part without saying which")));
    };
    if (!range) throw wrong();
    if (identity_ != nullptr && range->size != identity_->size)
      throw changed(url, fmt::format("{} bytes when it was opened, {} now", identity_->size, range->size));
    if (range->first != first || range->last != std::min(last, range->size - 1)) throw wrong();
    if (range->size > static_cast<std::uint64_t>(INT64_MAX)) throw wrong();
    const std::string etag = strong_etag(answer), expected = expected_etag();
    if (!expected.empty() && etag != expected)
      throw changed(url, etag.empty() ? "it has no ETag any more" : "its ETag is another one");
    const std::string modified(answer.header("last-modified").value_or(""));
    if (identity_ != nullptr && !identity_->last_modified.empty() && modified != identity_->last_modified)
      throw changed(url, "it was modified");
    if (identity_ == nullptr) {
      found = {
          .size = range->size, .etag = etag, .last_modified = etag.empty() ? modified : std::string(), .content = {}};
      if (found.etag.empty() && found.last_modified.empty())
        throw about(url, ErrorKind::unsupported, "remote.validator",
                    "the server states neither a strong ETag nor when the file was modified, so that a change during "
                    "reading would not be seen; download the file");
    }
    wanted_ = static_cast<std::size_t>(range->last - offset_ + 1);
    return true;
  }

  bool refuse_whole(const Url& url, const Answer& answer) const {
    const std::string expected = expected_etag(), etag = strong_etag(answer);
    if (!expected.empty() && !etag.empty() && etag != expected) throw changed(url, "its ETag is another one");
    throw about(url, ErrorKind::unsupported, "remote.range.ignored",
                "the server sends the whole file instead of a range of it; download the file");
  }

  // "bytes */0".
  bool take_empty(const Url& url, const Answer& answer) {
    if (answer.header("content-range").value_or("") != "bytes */0")
      throw about(url, ErrorKind::io, "remote.range.other", "the server has no bytes at the beginning of the file");
    found = {.size = 0, .etag = strong_etag(answer), .last_modified = {}, .content = {}};
    return true;
  }

  void take(std::span<const std::byte> bytes, const Url& url) {
    if (bytes.size() > wanted_ - done_)
      throw about(url, ErrorKind::io, "remote.body.long",
                  fmt::format("the server stated {} bytes and sends more", wanted_));
    std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(done_));
    done_ += bytes.size();
  }

  RemoteFile& file_;
  const Identity* identity_;
  std::uint64_t offset_;
  std::span<std::byte> out_;
  std::size_t done_ = 0, wanted_ = 0;
  bool resolved_again_ = false;
};

RemoteFile::RemoteFile(Url url, Credential credential, Bytes& head)
    : named_(std::move(url)), credential_(std::move(credential)) {
  std::optional<Attempt> attempt;
  Patience patience;
  // An attempt that continues must find the file that the first one began with, so each begins anew.
  try_often(patience, [&] { return attempt.emplace(*this, nullptr, 0, head).run(patience); });
  identity_ = attempt->found;
  head.resize(attempt->got());
}

RemoteFile::RemoteFile(Url url, Credential credential, Identity identity)
    : named_(std::move(url)), credential_(std::move(credential)), identity_(std::move(identity)) {}

RemoteFile::Place RemoteFile::place() const {
  const std::scoped_lock lock(mutex_);
  return found_ ? *found_ : Place{named_, std::nullopt};
}

void RemoteFile::forget(const Place& place) {
  const std::scoped_lock lock(mutex_);
  if (!found_ || found_->url.text() != place.url.text()) return;
  found_.reset();
  found_etag_.clear();
}

void RemoteFile::remember(const Url& url, const std::optional<Reach>& from, const Answer& answer) {
  const std::scoped_lock lock(mutex_);
  if (from && !found_) found_ = Place{url, from};
  if (found_etag_.empty()) found_etag_ = strong_etag(answer);
}

void RemoteFile::fetch(std::uint64_t offset, std::span<std::byte> out) {
  if (out.empty()) return;
  Attempt attempt(*this, &identity_, offset, out);
  Patience patience;
  try_often(patience, [&] { return attempt.run(patience); });
}

Bytes RemoteFile::fetch_all() {
  Bytes all;
  Patience patience;
  try_often(patience, [&] {
    all = Bytes(static_cast<std::size_t>(identity_.size));
    std::size_t done = 0;
    Walk walk(credential_, identity_.size);
    const Answer answer = walk.run(
        named_, std::nullopt,
        [&](const Url& url, const Answer& got) {
          if (got.status != 200) return false;
          require_plain(url, got);
          if (const auto length = got.length(); length && *length != identity_.size)
            throw about(url, ErrorKind::io, "io.source.changed",
                        fmt::format("the file on the server has changed: {} bytes when it was listed, {} now",
                                    identity_.size, *length));
          return true;
        },
        [&](std::span<const std::byte> bytes) {
          if (bytes.size() > all.size() - done)
            throw about(walk.url, ErrorKind::io, "remote.body.long",
                        fmt::format("expected {} bytes, the server sends more", all.size()));
          std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(done));
          done += bytes.size();
        });
    if (answer.status != 200) {
      patience.after(walk.url, answer);
      return false;
    }
    if (done < all.size())
      throw TransferError(about(walk.url, ErrorKind::io, "remote.body.short",
                                fmt::format("expected {} bytes, the server sent {}", all.size(), done)),
                          true);
    return true;
  });
  const std::string& content = identity_.content;
  const std::size_t colon = content.find(':');
  if (colon == std::string::npos) return all;
  const std::string found = hex_digest(std::string_view(content).substr(0, colon), all);
  if (!found.empty() && content.substr(colon + 1) != found)
    throw about(
        named_, ErrorKind::corrupt, "remote.digest",
        fmt::format("the server lists the digest {}, its bytes have {}", quote(content.substr(colon + 1)), found));
  return all;
}

Bytes fetch_text(const Url& url, const Credential& credential, std::uint64_t most) {
  Bytes all;
  Patience patience;
  try_often(patience, [&] {
    all.clear();
    Walk walk(credential, most);
    std::optional<std::uint64_t> stated;
    const Answer answer = walk.run(
        url, std::nullopt,
        [&](const Url& at, const Answer& got) {
          if (got.status != 200) return false;
          require_plain(at, got);
          stated = got.length();
          return true;
        },
        [&](std::span<const std::byte> bytes) {
          if (bytes.size() > most - all.size())
            throw about(walk.url, ErrorKind::limit, "remote.body.long",
                        fmt::format("expected an answer of at most {} bytes, the server sends more", most));
          all.insert(all.end(), bytes.begin(), bytes.end());
        });
    if (answer.status == 200) {
      if (stated && all.size() < *stated)
        throw TransferError(about(walk.url, ErrorKind::io, "remote.body.short",
                                  fmt::format("the server stated {} bytes and sent {}", *stated, all.size())),
                            true);
      return true;
    }
    patience.after(walk.url, answer);
    return false;
  });
  return all;
}

}  // namespace tare::io::remote
