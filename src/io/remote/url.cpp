#include "io/remote/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/printable.hpp"
#include "io/remote/reach.hpp"
#include "tare/error.hpp"

namespace tare::io {

bool is_remote(std::string_view path) {
  constexpr std::string_view kSchemes[] = {"https://", "http://", "hf:", "s3://"};
  return std::ranges::any_of(kSchemes, [&](std::string_view scheme) { return path.starts_with(scheme); });
}

}  // namespace tare::io

namespace tare::io::remote {
namespace {

constexpr std::size_t kLongestUrl = 8192;

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// What a path or a query may have unescaped. The percent sign is kept: the text may be escaped already.
bool is_plain(char c) {
  return is_letter_or_digit(c) || std::string_view("-._~!$&'()*+,;=:@/%?[]").find(c) != std::string_view::npos;
}

std::string escape(std::string_view text, bool (*keep)(char)) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text)
    if (keep(c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

// Without the query, which can hold a signature, and without a password.
std::string shown_text(std::string_view text) {
  text = text.substr(0, text.find('?'));
  const std::size_t slashes = text.find("://");
  const std::size_t begin = slashes == std::string_view::npos ? 0 : slashes + 3;
  const std::size_t at = text.rfind('@');
  return at == std::string_view::npos || at < begin ? std::string(text)
                                                    : fmt::format("{}{}", text.substr(0, begin), text.substr(at + 1));
}

Error bad_url(std::string_view rule, std::string_view text, std::string_view why) {
  return Error(ErrorKind::usage, rule, why).in(shown_text(text));
}

class UrlParser {
 public:
  UrlParser(std::string_view text, std::string_view rule) : text_(text), rule_(rule) {}

  Url run() {
    if (text_.size() > kLongestUrl) fail("an address of more than 8192 bytes");
    Url url;
    std::string_view rest = text_;
    if (rest.starts_with("https://"))
      rest.remove_prefix(8);
    else if (rest.starts_with("http://")) {
      rest.remove_prefix(7);
      url.secure = false;
      url.port = 80;
    } else {
      fail("expected an address with https:// or http://");
    }
    const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
    take_authority(rest.substr(0, end), url);
    rest.remove_prefix(end);
    rest = rest.substr(0, rest.find('#'));
    const std::size_t question = std::min(rest.find('?'), rest.size());
    if (question > 0) url.path = escape(rest.substr(0, question), is_plain);
    url.query = escape(rest.substr(question), is_plain);
    require_plain_parts(url.path);
    return url;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const { throw bad_url(rule_, text_, why); }

  void take_authority(std::string_view authority, Url& url) const {
    if (authority.find('@') != std::string_view::npos)
      fail(
          "an address with a user's name or password in it, which others could read on the command line; put them into "
          "~/.netrc");
    std::string_view host = authority, port;
    if (host.starts_with('[')) {
      const std::size_t close = host.find(']');
      if (close == std::string_view::npos) fail("a bracket of the host is not closed");
      port = host.substr(close + 1);
      host = host.substr(1, close - 1);
      if (host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos || host.empty())
        fail("expected an IPv6 address in the brackets");
    } else {
      const std::size_t colon = std::min(host.find(':'), host.size());
      port = host.substr(colon);
      host = host.substr(0, colon);
      const auto fits = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_'; };
      if (host.empty() || host.size() > 253 || !std::ranges::all_of(host, fits) || host.starts_with('.'))
        fail("expected the name of a host");
    }
    url.host = host;
    std::ranges::transform(url.host, url.host.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (port.empty()) return;
    const char* const last = port.data() + port.size();
    const auto read = std::from_chars(port.data() + 1, last, url.port);
    if (port.front() != ':' || read.ec != std::errc() || read.ptr != last || url.port == 0)
      fail("expected the number of a port after the host");
  }

  // An index of shards, or a Location, must not lead to another folder by "..".
  void require_plain_parts(std::string_view path) const {
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find('/', at), path.size());
      if (is_dots(path.substr(at, end - at))) fail("a part of the path is . or ..");
      at = end + 1;
    }
  }

  // . or .., in which a dot may be written as %2e.
  static bool is_dots(std::string_view part) {
    std::size_t dots = 0;
    for (; !part.empty(); ++dots) {
      if (part.starts_with('.'))
        part.remove_prefix(1);
      else if (part.starts_with("%2e") || part.starts_with("%2E"))
        part.remove_prefix(3);
      else
        return false;
    }
    return dots == 1 || dots == 2;
  }

  std::string_view text_, rule_;
};

}  // namespace

std::string Url::origin() const {
  const bool usual = port == (secure ? 443 : 80);
  const bool number = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}{}", secure ? "https" : "http", number ? "[" : "", host, number ? "]" : "",
                     usual ? std::string() : fmt::format(":{}", port));
}

Url parse_url(std::string_view text) { return UrlParser(text, "remote.url").run(); }

Url resolve(const Url& base, std::string_view location) {
  constexpr std::string_view kRule = "remote.redirect.form";
  const auto is_visible = [](char c) { return c > ' ' && c < 0x7f && c != '\\'; };
  if (location.empty() || !std::ranges::all_of(location, is_visible))
    throw bad_url(kRule, location, "the server redirects to something that is not an address");
  const std::size_t colon = location.find_first_of(":/?#");
  if (colon != std::string_view::npos && location[colon] == ':') {
    std::string lower(location.substr(0, colon));
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return UrlParser(lower + std::string(location.substr(colon)), kRule).run();
  }
  std::string text;
  if (location.starts_with("//"))
    text = fmt::format("{}:{}", base.secure ? "https" : "http", location);
  else if (location.starts_with('/'))
    text = base.origin() + std::string(location);
  else if (location.starts_with('?'))
    text = base.shown() + std::string(location);
  else
    text = base.origin() + base.path.substr(0, base.path.rfind('/') + 1) + std::string(location);
  return UrlParser(text, kRule).run();
}

std::string escape_path(std::string_view path) {
  return escape(
      path, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~' || c == '/'; });
}

bool is_loopback(std::string_view host) { return host == "localhost" || reach_of_text(host) == Reach::loopback; }

}  // namespace tare::io::remote
