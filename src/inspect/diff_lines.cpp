// What differs outside the tensors' values, one line each: "key: A -> B".
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/name_map.hpp"
#include "inspect/diff.hpp"
#include "tare/codec.hpp"

namespace tare::inspect {
namespace {

// Longer values are cut to this many bytes.
constexpr std::size_t kLongest = 72;
constexpr std::string_view kAbsent = "(absent)";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// `text` from `begin` on, cut to a length for people, whole UTF-8 characters only.
std::string excerpt(std::string_view text, std::size_t begin) {
  while (begin > 0 && begin < text.size() && continues_character(text[begin])) --begin;
  std::size_t end = std::min(text.size(), begin + kLongest);
  while (end < text.size() && end > begin && continues_character(text[end])) --end;
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", text.substr(begin, end - begin), end < text.size() ? "..." : "");
}

// "label: A -> B". Of long values the part around the first difference is shown.
std::string change(std::string_view label, std::string_view a, std::string_view b) {
  std::size_t begin = 0;
  if (a.size() > kLongest || b.size() > kLongest) {
    const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const auto first = static_cast<std::size_t>(x - a.begin());
    if (first > kLongest / 2) begin = first - kLongest / 4;
  }
  return fmt::format("{}: {} -> {}", label, excerpt(a, begin), excerpt(b, begin));
}

class Lines {
 public:
  void compare(const std::string& label, const std::string& a, const std::string& b) {
    if (a != b) lines_.push_back(change(label, a, b));
  }
  // Keys in the order of `a`, then those only `b` has. JSON text decides: NaN equals NaN, key order does not
  // matter.
  void compare(const std::string& prefix, const Map& a, const Map& b) {
    NameViewMap<const Value*> others;
    for (const auto& [key, value] : b) others.emplace(key, &value);
    for (const auto& [key, value] : a) {
      const auto other = others.find(key);
      const std::string json = to_json(value, JsonKeys::sorted);
      compare(prefix + escape_name(key), json,
              other == others.end() ? std::string(kAbsent) : to_json(*other->second, JsonKeys::sorted));
      if (other != others.end()) others.erase(other);
    }
    for (const auto& [key, value] : b)
      if (others.contains(key))
        compare(prefix + escape_name(key), std::string(kAbsent), to_json(value, JsonKeys::sorted));
  }
  void add(std::string line) { lines_.push_back(std::move(line)); }
  std::vector<std::string> finish() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

std::string text_of(const Token& token) {
  return fmt::format("\"{}\" {} {}", escape_name(token.text), name_of(token.type), token.score);
}

std::string text_of(const std::string& merge) { return fmt::format("\"{}\"", escape_name(merge)); }

// One line for a list of tokens or merges, however many differ.
template <typename Item>
void compare_items(Lines& lines, const std::string& label, const std::vector<Item>& a, const std::vector<Item>& b) {
  lines.compare(label, fmt::format("{}", a.size()), fmt::format("{}", b.size()));
  const std::size_t common = std::min(a.size(), b.size());
  std::size_t different = 0, first = 0;
  for (std::size_t i = common; i-- > 0;) {
    if (a[i] == b[i]) continue;
    ++different;
    first = i;
  }
  if (different > 0)
    lines.add(fmt::format("{}: {} differ, the first is number {}: {} -> {}", label, different, first,
                          excerpt(text_of(a[first]), 0), excerpt(text_of(b[first]), 0)));
}

void compare_vocabularies(Lines& lines, const Vocabulary& a, const Vocabulary& b) {
  if (a.empty() != b.empty()) {
    const auto size = [](const Vocabulary& v) {
      return v.empty() ? std::string(kAbsent) : fmt::format("{} tokens", v.tokens.size());
    };
    lines.compare("vocabulary", size(a), size(b));
    return;
  }
  lines.compare("vocabulary kind", a.kind, b.kind);
  compare_items(lines, "vocabulary tokens", a.tokens, b.tokens);
  compare_items(lines, "vocabulary merges", a.merges, b.merges);
  const auto compare_id = [&](const char* label, std::int64_t x, std::int64_t y) {
    lines.compare(label, fmt::format("{}", x), fmt::format("{}", y));
  };
  compare_id("vocabulary bos", a.bos, b.bos);
  compare_id("vocabulary eos", a.eos, b.eos);
  compare_id("vocabulary pad", a.pad, b.pad);
  compare_id("vocabulary unk", a.unk, b.unk);
}

std::string bytes_text(const Blob& blob) { return fmt::format("{} bytes", blob.size()); }

void compare_attachments(Lines& lines, const Model& a, const Model& b) {
  NameViewMap<const Blob*> others;
  for (const Attachment& attachment : b.attachments) others.emplace(attachment.name, &attachment.blob);
  for (const Attachment& attachment : a.attachments) {
    const std::string label = "attachment " + escape_name(attachment.name);
    const auto other = others.find(attachment.name);
    if (other == others.end()) {
      lines.compare(label, bytes_text(attachment.blob), std::string(kAbsent));
      continue;
    }
    const Blob& x = attachment.blob;
    const Blob& y = *other->second;
    if (x.size() != y.size())
      lines.compare(label, bytes_text(x), bytes_text(y));
    else if (const auto first = first_different_byte(x, y))
      lines.add(fmt::format("{}: {} each, different from byte {} on", label, bytes_text(x), *first));
    others.erase(other);
  }
  for (const Attachment& attachment : b.attachments)
    if (others.contains(attachment.name))
      lines.compare("attachment " + escape_name(attachment.name), std::string(kAbsent), bytes_text(attachment.blob));
}

// A tensor's attributes, without the parameters of its encoding when the other one is encoded otherwise: that the
// layouts differ is told already.
Map own_attributes(const Tensor& tensor, const Tensor& other) {
  const Codec* const codec = find_codec(tensor.layout);
  if (tensor.layout == other.layout || codec == nullptr) return tensor.attributes;
  Map own;
  for (const auto& [key, value] : tensor.attributes)
    if (std::find(codec->parameters.begin(), codec->parameters.end(), key) == codec->parameters.end())
      own.append(key, value);
  return own;
}

}  // namespace

std::vector<std::string> describe_differences(const Model& a, const Model& b, std::span<const Pair> pairs) {
  Lines lines;
  lines.compare("", a.metadata, b.metadata);
  lines.compare("config ", a.config.to_map(), b.config.to_map());
  compare_vocabularies(lines, a.vocabulary, b.vocabulary);
  compare_attachments(lines, a, b);
  for (const Pair& pair : pairs) {
    const Map x = own_attributes(*pair.a, *pair.b), y = own_attributes(*pair.b, *pair.a);
    if (!x.empty() || !y.empty()) lines.compare("tensor " + escape_name(pair.a->name) + ": attribute ", x, y);
  }
  return lines.finish();
}

}  // namespace tare::inspect
