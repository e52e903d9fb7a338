#include "base/lookalike.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace tare {

std::string_view lookalike(std::string_view head) {
  std::string lower(head.substr(0, 64));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  lower.erase(0, lower.find_first_not_of(" \t\r\n"));

  if (head.empty()) return "the file is empty";
  if (head.starts_with("version https://git-lfs.github.com/spec/"))
    return "a git-lfs pointer, not the file it points to; fetch it with `git lfs pull`";
  if (lower.starts_with("<!doctype html") || lower.starts_with("<html"))
    return "an HTML page, probably an error page saved in place of the model; download it again";
  if (lower.starts_with("<?xml")) return "an XML document, probably a server's error saved in place of the model";
  if (head.starts_with("\x89ZT2\r\n\x1a\n"))
    return "a zTensor container of version 2, which Tare does not read yet; it reads versions 0.1 to 1.2";
  if (head.starts_with("\x1f\x8b")) return "gzip data; unpack it first";
  if (head.starts_with("\x28\xb5\x2f\xfd")) return "a bare zstd stream; unpack it first";
  if (head.starts_with("\x7f"
                       "ELF"))
    return "a program, not a model";
  if (head.find_first_not_of('\0') == std::string_view::npos) return "zeros only: a download that was never filled in";
  return {};
}

}  // namespace tare
