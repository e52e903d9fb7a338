// Verb::copy and Verb::omit_copy: a head that equals the token table exists on one side only.
#include <fmt/format.h>

#include <algorithm>

#include "base/glob.hpp"
#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Attribute of a copy that was added because llama.cpp requires the tensor.
constexpr std::string_view kCopied = "gguf.copied";

}  // namespace

bool has_same_bytes(const Tensor& a, const Tensor& b) {
  if (a.shape != b.shape || a.layout != b.layout || a.components.size() != b.components.size()) return false;
  constexpr std::uint64_t kPiece = 1 << 20;
  Bytes some(kPiece), others(kPiece);
  for (std::size_t i = 0; i < a.components.size(); ++i) {
    const Component &one = a.components[i], &other = b.components[i];
    if (one.role != other.role || one.dtype != other.dtype || one.type != other.type ||
        one.blob.size() != other.blob.size())
      return false;
    const auto left = one.blob.open(), right = other.blob.open();
    for (std::uint64_t at = 0; at < one.blob.size(); at += kPiece) {
      const auto count = static_cast<std::size_t>(std::min(kPiece, one.blob.size() - at));
      left->read(std::span(some).first(count));
      right->read(std::span(others).first(count));
      if (!std::equal(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count), others.begin())) return false;
    }
  }
  return true;
}

Tensor copy_of(const Tensor& original, std::string name) {
  Tensor copy = original;
  copy.name = std::move(name);
  copy.attributes.set(kCopied, true);
  return copy;
}

bool is_copy(const Tensor& tensor) { return tensor.attributes.find(kCopied) != nullptr; }

// A head that differs from the table is an error, even if config.json ties the two: readers of the directory use it.
void require_copy(const Tensor& head, const Tensor* table, const arch::Family& family) {
  if (table != nullptr && has_same_bytes(head, *table)) return;
  throw Error(
      ErrorKind::unsupported, "convert.head",
      fmt::format("{} differs from the token table, and llama.cpp takes the token table for the head of a {} model",
                  quote(head.name), family.name))
      .about("tensor " + quote(head.name))
      .remedy(Remedy::skip, escape_glob(head.name));
}

Tensor restored_copy(const Tensor& original, std::string name) {
  Tensor copy = original;
  copy.name = std::move(name);
  return copy;
}

}  // namespace tare::gguf::llama_cpp
