#include "io/remote/bucket.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "io/listing.hpp"
#include "io/remote/settings.hpp"
#include "tare/error.hpp"
#include "tare/source.hpp"

namespace tare::io::remote {
namespace {

constexpr std::string_view kScheme = "s3://", kUsualRegion = "us-east-1";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Empty if it cannot be read.
std::string text_of_file(const std::string& path) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 20;
  try {
    const SourcePtr file = open_file(path, Access::pread);
    Bytes bytes(static_cast<std::size_t>(std::min(file->size(), kLongest)));
    file->read(0, bytes);
    return std::string(as_text(bytes));
  } catch (const Error&) {
    return {};
  }
}

std::string first_of(std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (std::string value = variable(name); !value.empty()) return value;
  return {};
}

std::string file_named(const char* name, std::string_view usual) {
  const std::string named = variable(name);
  return named.empty() ? path_in(home(), usual) : named;
}

SigningKeys find_keys() {
  const std::string named = variable("AWS_PROFILE"), profile = named.empty() ? "default" : named;
  SigningKeys keys{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN"), {}};
  if (keys.id.empty() || keys.secret.empty()) {
    const std::string text = text_of_file(file_named("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"));
    keys = {value_in(text, profile, "aws_access_key_id"),
            value_in(text, profile, "aws_secret_access_key"),
            value_in(text, profile, "aws_session_token"),
            {}};
  }
  keys.region = first_of({"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (keys.region.empty()) {
    const std::string text = text_of_file(file_named("AWS_CONFIG_FILE", ".aws/config"));
    keys.region = value_in(text, profile == "default" ? profile : "profile " + profile, "region");
  }
  if (keys.region.empty()) keys.region = kUsualRegion;
  for (const std::string* const part : {&keys.id, &keys.secret, &keys.session, &keys.region})
    if (!std::ranges::all_of(*part, [](char c) { return c > ' ' && c < 0x7f; }))
      throw Error(
          ErrorKind::usage, "remote.token",
          "a key, token or region of AWS_... or of its files has characters that cannot be sent; it is not used");
  return keys;
}

bool is_bucket_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 &&
         std::ranges::all_of(name,
                             [](char c) {
                               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                                      c == '_';
                             }) &&
         name.front() != '.' && name.find("..") == std::string_view::npos;
}

}  // namespace

bool is_bucket(std::string_view address) { return address.starts_with(kScheme); }

std::string value_in(std::string_view text, std::string_view section, std::string_view key) {
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      inside = line.back() == ']' && trimmed(line.substr(1, line.size() - 2)) == section;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (inside && equals != std::string_view::npos && trimmed(line.substr(0, equals)) == key)
      return std::string(trimmed(line.substr(equals + 1)));
  }
  return {};
}

BucketObject find_object(const std::string& address) {
  const std::string_view rest = std::string_view(address).substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  const std::string_view bucket = rest.substr(0, slash);
  const std::string_view key = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  if (!is_bucket_name(bucket) || key.empty() || key.size() > 1024)
    throw Error(ErrorKind::usage, "remote.url", "expected the address of an object: s3://BUCKET/KEY").in(address);
  const SigningKeys keys = find_keys();
  std::string endpoint = first_of({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  while (endpoint.ends_with('/')) endpoint.pop_back();
  BucketObject object;
  if (!endpoint.empty() || bucket.find_first_of("._") != std::string_view::npos) {
    if (endpoint.empty()) endpoint = fmt::format("https://s3.{}.amazonaws.com", keys.region);
    object.url = parse_url(fmt::format("{}/{}/{}", endpoint, bucket, escape_path(key)));
  } else {
    object.url = parse_url(fmt::format("https://{}.s3.{}.amazonaws.com/{}", bucket, keys.region, escape_path(key)));
  }
  object.credential.origin = object.url.origin();
  if (!keys.id.empty() && !keys.secret.empty()) object.credential.keys = keys;
  return object;
}

}  // namespace tare::io::remote
