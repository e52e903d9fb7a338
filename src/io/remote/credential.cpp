// A request that is signed has these lines, in this order; the signature is a chain of HMACs over the day, the region and the
// service, and at last over the digest of the lines:
//
//   GET / path / query, sorted / headers, sorted, "name:value" / (empty) / the headers' names / digest of the body
//
// The body is empty, and its digest is a header as well, which some servers require. Range and If-Match need not be signed.
#include "io/remote/credential.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/text.hpp"
#include "tare/digest.hpp"
#include "tare/error.hpp"

namespace tare::io::remote {
namespace {

constexpr std::string_view kNoBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string sha256(std::string_view text) {
  const Digest digest = digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(text)));
  return std::string(as_text(digest.bytes()));
}

std::string hex(std::string_view bytes) { return to_hex(std::as_bytes(std::span(bytes))); }

// HMAC-SHA-256 (RFC 2104).
std::string hmac(std::string_view key, std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::string padded = key.size() > kBlock ? sha256(key) : std::string(key);
  padded.resize(kBlock, '\0');
  std::string inner = padded, outer = padded;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  return sha256(outer + sha256(inner.append(text)));
}

// The query's parts in order; a part without a value gets an empty one.
std::string sorted_query(std::string_view query) {
  std::vector<std::string> parts;
  if (query.starts_with('?')) query.remove_prefix(1);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    std::string part(query.substr(0, end));
    if (part.find('=') == std::string::npos) part += '=';
    if (part != "=") parts.push_back(std::move(part));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  std::sort(parts.begin(), parts.end());
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : "&") + part;
  return all;
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "19700101T000000Z";
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return {text.data(), length};
}

}  // namespace

std::vector<std::string> sign(const Url& url, const SigningKeys& keys, const std::string& time) {
  const std::string origin = url.origin();
  const std::string host = origin.substr(origin.find("://") + 3);
  std::string headers = fmt::format("host:{}\nx-amz-content-sha256:{}\nx-amz-date:{}\n", host, kNoBody, time);
  std::string names = "host;x-amz-content-sha256;x-amz-date";
  if (!keys.session.empty()) {
    headers += fmt::format("x-amz-security-token:{}\n", keys.session);
    names += ";x-amz-security-token";
  }
  const std::string lines =
      fmt::format("GET\n{}\n{}\n{}\n{}\n{}", url.path, sorted_query(url.query), headers, names, kNoBody);
  const std::string day = time.substr(0, 8), scope = fmt::format("{}/{}/s3/aws4_request", day, keys.region);
  std::string key = hmac("AWS4" + keys.secret, day);
  for (const std::string_view part :
       {std::string_view(keys.region), std::string_view("s3"), std::string_view("aws4_request")})
    key = hmac(key, part);
  const std::string signature =
      hex(hmac(key, fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, hex(sha256(lines)))));
  std::vector<std::string> made = {
      fmt::format("Authorization: AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", keys.id, scope,
                  names, signature),
      fmt::format("x-amz-content-sha256: {}", kNoBody), fmt::format("x-amz-date: {}", time)};
  if (!keys.session.empty()) made.push_back(fmt::format("x-amz-security-token: {}", keys.session));
  return made;
}

std::vector<std::string> Credential::headers(const Url& url) const {
  if (empty() || url.origin() != origin || (!url.secure && !is_loopback(url.host))) return {};
  if (keys) return sign(url, *keys, now());
  return {fmt::format("Authorization: Bearer {}", token)};
}

}  // namespace tare::io::remote
