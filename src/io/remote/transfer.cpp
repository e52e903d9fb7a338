#include "io/remote/transfer.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <exception>
#include <memory>

#include "base/forever.hpp"
#include "base/process_mutex.hpp"
#include "base/stopping.hpp"
#include "io/remote/library.hpp"
#include "io/remote/settings.hpp"
#include "tare/version.hpp"

namespace tare::io::remote {
namespace {

constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 10;
constexpr unsigned kMostExchanges = 8;
constexpr int kResponseCode = 0x200002, kPrimaryIp = 0x100020;  // numbers for curl_easy_getinfo
constexpr int kBadSocket = -1;

// Connections are kept and used again, but only for what they were opened for: one that a person asked for, on this
// machine, must not serve a redirect of a public server.
using Purpose = std::optional<Reach>;

struct Kept {
  Handle* handle;
  Purpose purpose;
};

struct Pool {
  std::vector<Kept> idle;
  unsigned used = 0;
  std::condition_variable free;
};

Forever<Pool> pool;

// In the child of a fork: the connections belong to the parent, which goes on with them, so they are not even closed.
void forget_connections() { ::new (static_cast<void*>(&*pool)) Pool; }

ProcessMutex pool_mutex(LockOrder::table, forget_connections);

// Takes a handle out of the pool for one exchange.
class Borrowed {
 public:
  explicit Borrowed(const Purpose& purpose) : purpose_(purpose) {
    const Library& curl = library();
    {
      std::unique_lock lock(pool_mutex.plain());
      (*pool).free.wait(lock, [] { return (*pool).used < kMostExchanges; });
      ++(*pool).used;
      auto& idle = (*pool).idle;
      const auto found =
          std::find_if(idle.begin(), idle.end(), [&](const Kept& kept) { return kept.purpose == purpose; });
      if (found != idle.end()) {
        handle_ = found->handle;
        idle.erase(found);
      }
    }
    if (handle_ == nullptr) handle_ = curl.easy_init();
    if (handle_ != nullptr) return;
    release();
    throw std::bad_alloc();
  }
  ~Borrowed() {
    if (owner_ == ::getpid() && handle_ != nullptr) library().easy_reset(handle_);
    release();
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  Handle* get() const { return handle_; }

 private:
  void release() noexcept {
    if (owner_ != ::getpid()) return;
    Handle* dropped = nullptr;
    {
      const std::scoped_lock lock(pool_mutex.plain());
      --(*pool).used;
      if (handle_ != nullptr) try {
          auto& idle = (*pool).idle;
          idle.push_back({handle_, purpose_});
          if (idle.size() > 2 * kMostExchanges) {
            dropped = idle.front().handle;
            idle.erase(idle.begin());
          }
        } catch (const std::bad_alloc&) {
          dropped = handle_;
        }
    }
    (*pool).free.notify_one();
    if (dropped != nullptr) library().easy_cleanup(dropped);
  }

  pid_t owner_ = ::getpid();
  Purpose purpose_;
  Handle* handle_ = nullptr;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

class Exchange {
 public:
  explicit Exchange(const Request& request) : request_(request), curl_(library()), borrowed_(request.from) {}
  ~Exchange() { curl_.slist_free_all(list_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Answer run() {
    prepare();
    const int code = curl_.easy_perform(borrowed_.get());
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
    check_stop();
    if (blocked_) throw TransferError(private_redirect(request_.url), false);
    // A body that is not wanted was cut off on purpose.
    if (code != 0 && !(complete_ && !wanted_)) throw failed(code);
    if (!complete_) throw TransferError(problem("remote.failed", "the server answered without headers"), true);
    read_peer();
    return std::move(answer_);
  }

 private:
  Error problem(std::string_view rule, std::string_view sentence) const {
    return Error(ErrorKind::io, rule, sentence).in(request_.url.shown());
  }

  template <typename Value>
  void set(CurlOption option, Value value) {
    const int code = curl_.easy_setopt(borrowed_.get(), static_cast<int>(option), value);
    if (code != 0)
      throw Error(ErrorKind::unsupported, "remote.library",
                  fmt::format("libcurl does not accept the setting {}: {}", static_cast<int>(option),
                              curl_.easy_strerror(code)))
          .blame(Subject::machine);
  }

  void prepare() {
    constexpr long kHttpAndHttps = 3, kHttp2OverTls = 4, kOptionalNetrc = 1, kBuffer = 256 << 10;
    constexpr std::uint64_t kSlowest = 32 << 10;  // bytes per second
    const long patience_s = patience();
    url_ = request_.url.text();
    set(CurlOption::url, url_.c_str());
    set(CurlOption::http_get, 1L);
    set(CurlOption::protocols, kHttpAndHttps);
    // Not every libcurl has HTTP/2; it is optional.
    curl_.easy_setopt(borrowed_.get(), static_cast<int>(CurlOption::http_version), kHttp2OverTls);
    set(CurlOption::http09_allowed, 0L);
    set(CurlOption::path_as_is, 1L);
    set(CurlOption::http_content_decoding, 0L);
    set(CurlOption::proxy, "");  // reach.hpp could not check what a proxy connects to
    set(CurlOption::no_signal, 1L);
    set(CurlOption::tcp_keepalive, 1L);
    set(CurlOption::buffer_size, kBuffer);
    set(CurlOption::user_agent, user_agent().c_str());
    set(CurlOption::connect_timeout_ms, 1000 * std::min(patience_s, 15L));
    set(CurlOption::low_speed_limit, 1024L);
    set(CurlOption::low_speed_time, patience_s);
    const auto seconds = static_cast<std::uint64_t>(2 * patience_s) + request_.expected / kSlowest;
    set(CurlOption::timeout_ms, static_cast<long>(1000 * std::min<std::uint64_t>(seconds, 1'000'000)));
    set(CurlOption::error_buffer, message_.data());
    if (request_.netrc && (request_.url.secure || is_loopback(request_.url.host))) {
      set(CurlOption::netrc, kOptionalNetrc);
      netrc_ = variable("NETRC");
      if (!netrc_.empty()) set(CurlOption::netrc_file, netrc_.c_str());
    }
    for (const char* const name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"})
      if (ca_.empty()) ca_ = variable(name);
    if (!ca_.empty()) set(CurlOption::ca_info, ca_.c_str());
    add_header("Accept-Encoding: identity");
    for (const std::string& header : request_.headers) add_header(header);
    set(CurlOption::http_header, list_);
    set(CurlOption::header_function, &on_header);
    set(CurlOption::header_data, static_cast<void*>(this));
    set(CurlOption::write_function, &on_body);
    set(CurlOption::write_data, static_cast<void*>(this));
    set(CurlOption::open_socket_function, &on_socket);
    set(CurlOption::open_socket_data, static_cast<void*>(this));
    set(CurlOption::progress_function, &on_progress);
    set(CurlOption::progress_data, static_cast<void*>(this));
    set(CurlOption::no_progress, 0L);
  }

  static std::string user_agent() { return fmt::format("tare/{}", version()); }

  void add_header(const std::string& header) {
    HeaderList* const longer = curl_.slist_append(list_, header.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    list_ = longer;
  }

  // Exceptions must not pass through C: they are kept, and the transfer is ended.
  template <typename Action>
  std::size_t guarded(std::size_t bytes, const Action& action) noexcept {
    if (thrown_ != nullptr) return 0;
    try {
      return action() ? bytes : 0;
    } catch (...) {
      thrown_ = std::current_exception();
      return 0;
    }
  }

  static std::size_t on_header(char* text, std::size_t one, std::size_t count, void* data) noexcept {
    auto& self = *static_cast<Exchange*>(data);
    return self.guarded(one * count, [&] { return self.take_header({text, one * count}); });
  }
  static std::size_t on_body(char* bytes, std::size_t one, std::size_t count, void* data) noexcept {
    auto& self = *static_cast<Exchange*>(data);
    return self.guarded(one * count, [&] {
      if (!self.wanted_) return false;
      self.request_.take(std::as_bytes(std::span<const char>(bytes, one * count)));
      return true;
    });
  }
  static int on_progress(void* /*data*/, std::int64_t, std::int64_t, std::int64_t, std::int64_t) noexcept {
    const Stop* const stop = current_stop();
    return stop != nullptr && stop->asked() ? 1 : 0;
  }
  static int on_socket(void* data, int /*purpose*/, CurlAddress* address) noexcept {
    auto& self = *static_cast<Exchange*>(data);
    const auto* const to = reinterpret_cast<const sockaddr*>(address->address);
    if (self.request_.from && !may_lead(*self.request_.from, reach_of(to)) && !allows_private()) {
      self.blocked_ = true;
      return kBadSocket;
    }
    return ::socket(address->family, address->type | SOCK_CLOEXEC, address->protocol);
  }

  bool take_header(std::string_view line) {
    header_bytes_ += line.size();
    if (header_bytes_ > kMostHeaderBytes)
      throw TransferError(
          problem("remote.headers", fmt::format("the server sends more than {} bytes of headers", kMostHeaderBytes)),
          false);
    if (complete_) return true;  // trailers
    if (line.starts_with("HTTP/")) {
      answer_.headers.clear();
      return true;
    }
    const std::string_view text = trim(line);
    if (!text.empty()) {
      const std::size_t colon = text.find(':');
      if (colon != std::string_view::npos)
        answer_.headers.emplace_back(lower(trim(text.substr(0, colon))), std::string(trim(text.substr(colon + 1))));
      return true;
    }
    long status = 0;
    curl_.easy_getinfo(borrowed_.get(), kResponseCode, &status);
    if (status < 200) return true;  // another answer follows
    answer_.status = static_cast<int>(status);
    complete_ = true;
    read_peer();
    wanted_ = request_.begin(answer_);
    return wanted_;
  }

  void read_peer() {
    const char* number = nullptr;
    curl_.easy_getinfo(borrowed_.get(), kPrimaryIp, &number);
    if (number != nullptr && *number != '\0') answer_.peer = reach_of_text(number);
  }

  TransferError failed(int code) const {
    constexpr int kTimeout = 28;
    constexpr std::array kTls = {35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98};
    const std::string why = message_[0] != '\0' ? message_.data() : curl_.easy_strerror(code);
    if (code == kTimeout) return {problem("remote.timeout", fmt::format("the server is too slow: {}", why)), true};
    if (std::ranges::find(kTls, code) != kTls.end())
      return {problem("remote.tls", fmt::format("there is no secure connection to the server: {}", why)), false};
    constexpr int kNoHost = 6, kRefused = 7, kPartial = 18;
    if (code == kPartial)
      return {problem("remote.body.short", fmt::format("the server sent less than it stated: {}", why)), true};
    return {problem("remote.failed", fmt::format("the connection failed: {}", why)),
            code != kNoHost && code != kRefused};
  }

  const Request& request_;
  const Library& curl_;
  Borrowed borrowed_;
  HeaderList* list_ = nullptr;
  std::string url_, netrc_, ca_;
  std::array<char, 256> message_{};
  Answer answer_;
  std::size_t header_bytes_ = 0;
  bool complete_ = false, wanted_ = false, blocked_ = false;
  std::exception_ptr thrown_;
};

}  // namespace

std::optional<std::string_view> Answer::header(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const auto& [key, value] : headers) {
    if (key != name) continue;
    if (found && *found != value)
      throw Error(ErrorKind::io, "remote.headers",
                  fmt::format("the server sends the header {} twice, with different values", name));
    found = value;
  }
  return found;
}

std::optional<std::uint64_t> Answer::length() const {
  const auto text = header("content-length");
  if (!text) return std::nullopt;
  std::uint64_t length = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), length);
  if (text->empty() || read.ec != std::errc() || read.ptr != text->data() + text->size())
    throw Error(ErrorKind::io, "remote.headers", "the server states a length that is not a number");
  return length;
}

Error private_redirect(const Url& to) {
  return Error(ErrorKind::io, "remote.redirect.private",
               fmt::format("the server redirects to {}, which is in another network than itself, and a private one; "
                           "TARE_REMOTE_ALLOW=private follows it",
                           to.origin()))
      .in(to.shown());
}

Answer exchange(const Request& request) { return Exchange(request).run(); }

}  // namespace tare::io::remote
