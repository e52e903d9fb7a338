#include "base/lookalike.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/text.hpp"

namespace tare {
namespace {

// Lower case, without a leading byte order mark and white space.
std::string beginning_of(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(3);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  std::string lower(head.substr(0, 64));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

template <std::size_t N>
bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// A page may begin with a comment; no model file does.
constexpr std::array<std::string_view, 6> kPages = {"<!doctype html", "<html", "<head", "<body", "<!--", "<title"};
// Answers of hubs and their caches that downloaders save under the file's name.
constexpr std::array<std::string_view, 10> kAnswers = {"entry not found",
                                                       "invalid username or password",
                                                       "repository not found",
                                                       "access to model",
                                                       "not found",
                                                       "404: not found",
                                                       "404 not found",
                                                       "unauthorized",
                                                       "forbidden",
                                                       "access denied"};

bool is_json_error(std::string_view text) {
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with("\"error\"");
}

}  // namespace

std::string_view lookalike(std::string_view head) {
  const std::string beginning = beginning_of(head);
  if (head.empty()) return "the file is empty";
  if (head.starts_with("version https://git-lfs.github.com/spec/") ||
      head.starts_with("version https://hawser.github.com/spec/"))
    return "a git-lfs pointer, not the file it points to; fetch it with `git lfs pull`";
  if (begins_with_any(beginning, kPages))
    return "an HTML page, probably an error page saved in place of the model; download it again";
  if (beginning.starts_with("<?xml")) return "an XML document, probably a server's error saved in place of the model";
  if (begins_with_any(beginning, kAnswers) || is_json_error(beginning))
    return "a server's refusal (\"not found\" or the like) saved in place of the model; download it again";
  if (head.starts_with("\x1f\x8b")) return "gzip data; unpack it first";
  if (head.starts_with("\x28\xb5\x2f\xfd")) return "a bare zstd stream; unpack it first";
  if (head.starts_with("\x7f"
                       "ELF"))
    return "a program, not a model";
  if (head.find_first_not_of('\0') == std::string_view::npos) return "zeros only: a download that was never filled in";
  return {};
}

}  // namespace tare
