// Differences other than in tensor values, and their text.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "inspect/diff.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace inspect {
namespace {

// Longer values are elided to this many bytes.
constexpr std::size_t kLongest = 72;
constexpr std::string_view kAbsent = "(absent)";
// The keys of a token's map.
constexpr std::string_view kText = "text", kType = "type", kScore = "score";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// `text` from `begin` on, elided for people, with whole UTF-8 characters only.
std::string excerpt(std::string_view text, std::size_t begin) {
  while (begin > 0 && begin < text.size() && continues_character(text[begin])) --begin;
  std::size_t end = std::min(text.size(), begin + kLongest);
  while (end < text.size() && end > begin && continues_character(text[end])) --end;
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", text.substr(begin, end - begin), end < text.size() ? "..." : "");
}

// "label: A -> B". For long values, shows the part around the first difference.
std::string change(std::string_view label, std::string_view a, std::string_view b) {
  std::size_t begin = 0;
  if (a.size() > kLongest || b.size() > kLongest) {
    const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const auto first = static_cast<std::size_t>(x - a.begin());
    if (first > kLongest / 2) begin = first - kLongest / 4;
  }
  return fmt::format("{}: {} -> {}", label, excerpt(a, begin), excerpt(b, begin));
}

class Differences {
 public:
  // `like`: a difference without values.
  void compare(MetadataDifference like, std::optional<Value> a, std::optional<Value> b) {
    if (a == b) return;
    like.a = std::move(a);
    like.b = std::move(b);
    all_.push_back(std::move(like));
  }
  // Keys in the order of `a`, then those that only `b` has. Compares JSON text: NaN equals NaN, and key order does not
  // matter.
  void compare_maps(const MetadataDifference& like, const Map& a, const Map& b) {
    NameViewMap<const Value*> others;
    for (const auto& [key, value] : b) others.emplace(key, &value);
    const auto add = [&](const std::string& key, std::optional<Value> x, std::optional<Value> y) {
      MetadataDifference& added = all_.emplace_back(like);
      added.key = key;
      added.a = std::move(x);
      added.b = std::move(y);
    };
    for (const auto& [key, value] : a) {
      const auto other = others.find(key);
      if (other == others.end()) {
        add(key, value, std::nullopt);
        continue;
      }
      if (to_json(value, JsonKeys::sorted) != to_json(*other->second, JsonKeys::sorted))
        add(key, value, *other->second);
      others.erase(other);
    }
    for (const auto& [key, value] : b)
      if (others.contains(key)) add(key, std::nullopt, value);
  }
  void add(MetadataDifference difference) { all_.push_back(std::move(difference)); }
  std::vector<MetadataDifference> finish() { return std::move(all_); }

 private:
  std::vector<MetadataDifference> all_;
};

Value value_of(const Token& token) {
  Map map;
  map.append(std::string(kText), token.text);
  map.append(std::string(kType), name_of(token.type));
  map.append(std::string(kScore), static_cast<double>(token.score));
  return map;
}

Value value_of(const std::string& merge) { return merge; }

// Adds at most one difference for the number of items and one for the items themselves, however many differ.
template <typename Item>
void compare_items(Differences& found, const std::string& key, const std::vector<Item>& a, const std::vector<Item>& b) {
  const MetadataDifference like{.part = ModelPart::vocabulary, .key = key};
  found.compare(like, Value(std::uint64_t{a.size()}), Value(std::uint64_t{b.size()}));
  const std::size_t common = std::min(a.size(), b.size());
  std::size_t different = 0, first = 0;
  for (std::size_t i = common; i-- > 0;) {
    if (a[i] == b[i]) continue;
    ++different;
    first = i;
  }
  if (different == 0) return;
  MetadataDifference items = like;
  items.a = value_of(a[first]);
  items.b = value_of(b[first]);
  items.different = different;
  items.first = first;
  found.add(std::move(items));
}

void compare_vocabularies(Differences& found, const Vocabulary& a, const Vocabulary& b) {
  if (a.empty() != b.empty()) {
    const auto size = [](const Vocabulary& v) {
      return v.empty() ? std::nullopt : std::optional<Value>(std::uint64_t{v.tokens.size()});
    };
    found.compare({.part = ModelPart::vocabulary}, size(a), size(b));
    return;
  }
  found.compare({.part = ModelPart::vocabulary, .key = "kind"}, a.kind, b.kind);
  compare_items(found, "tokens", a.tokens, b.tokens);
  compare_items(found, "merges", a.merges, b.merges);
  const auto compare_id = [&](const char* key, std::int64_t x, std::int64_t y) {
    found.compare({.part = ModelPart::vocabulary, .key = key}, Value(x), Value(y));
  };
  compare_id("bos", a.bos, b.bos);
  compare_id("eos", a.eos, b.eos);
  compare_id("pad", a.pad, b.pad);
  compare_id("unk", a.unk, b.unk);
}

void compare_attachments(Differences& found, const Model& a, const Model& b) {
  NameViewMap<const Blob*> others;
  for (const Attachment& attachment : b.attachments) others.emplace(attachment.name, &attachment.blob);
  const auto difference = [](const std::string& name, const Blob* x, const Blob* y) {
    const auto size = [](const Blob* blob) {
      return blob == nullptr ? std::nullopt : std::optional<Value>(std::uint64_t{blob->size()});
    };
    return MetadataDifference{.part = ModelPart::attachments, .key = name, .a = size(x), .b = size(y)};
  };
  for (const Attachment& attachment : a.attachments) {
    const auto other = others.find(attachment.name);
    const Blob& x = attachment.blob;
    if (other == others.end()) {
      found.add(difference(attachment.name, &x, nullptr));
      continue;
    }
    MetadataDifference here = difference(attachment.name, &x, other->second);
    if (x.size() == other->second->size()) here.first = first_different_byte(x, *other->second);
    if (x.size() != other->second->size() || here.first) found.add(std::move(here));
    others.erase(other);
  }
  for (const Attachment& attachment : b.attachments)
    if (others.contains(attachment.name)) found.add(difference(attachment.name, nullptr, &attachment.blob));
}

// A tensor's attributes. Without the parameters of its encoding if the other tensor has another layout: that difference
// is already reported.
Map own_attributes(const Tensor& tensor, const Tensor& other) {
  const Codec* const codec = find_codec(tensor.layout);
  if (tensor.layout == other.layout || codec == nullptr) return tensor.attributes;
  Map own;
  for (const auto& [key, value] : tensor.attributes)
    if (std::find(codec->parameters.begin(), codec->parameters.end(), key) == codec->parameters.end())
      own.append(key, value);
  return own;
}

std::string label_of(const MetadataDifference& difference) {
  const std::string key = quote(difference.key);
  switch (difference.part) {
    case ModelPart::metadata: return key;
    case ModelPart::config: return "config " + key;
    case ModelPart::vocabulary: return key.empty() ? "vocabulary" : "vocabulary " + key;
    case ModelPart::attachments: return "attachment " + key;
    case ModelPart::attributes: return fmt::format("tensor {}: attribute {}", quote(difference.tensor), key);
  }
  return key;
}

std::string token_text(const Map& token) {
  const auto text = [&](std::string_view key) {
    const Value* const value = token.find(key);
    return value == nullptr || value->text() == nullptr ? std::string() : *value->text();
  };
  const Value* const score = token.find(kScore);
  const double* const number = score == nullptr ? nullptr : score->get<double>();
  return fmt::format("\"{}\" {} {}", quote(text(kText)), text(kType),
                     number == nullptr ? 0 : static_cast<float>(*number));
}

// A token or a merge.
std::string item_text(const std::optional<Value>& item) {
  if (!item) return std::string(kAbsent);
  if (const Map* const token = item->get<Map>()) return token_text(*token);
  return fmt::format("\"{}\"", quote(item->text() == nullptr ? "" : *item->text()));
}

std::string value_text(const MetadataDifference& difference, const std::optional<Value>& value) {
  if (!value) return std::string(kAbsent);
  if (difference.part == ModelPart::attachments) return to_json(*value) + " bytes";
  if (difference.part != ModelPart::vocabulary) return to_json(*value, JsonKeys::sorted);
  if (difference.key.empty()) return to_json(*value) + " tokens";
  return value->text() != nullptr ? *value->text() : to_json(*value);
}

}  // namespace

std::vector<MetadataDifference> metadata_differences(const Model& a, const Model& b, std::span<const Pair> pairs) {
  Differences found;
  found.compare_maps({.part = ModelPart::metadata}, a.metadata, b.metadata);
  found.compare_maps({.part = ModelPart::config}, a.config.to_map(), b.config.to_map());
  compare_vocabularies(found, a.vocabulary, b.vocabulary);
  compare_attachments(found, a, b);
  for (const Pair& pair : pairs) {
    const Map x = own_attributes(*pair.a, *pair.b), y = own_attributes(*pair.b, *pair.a);
    if (!x.empty() || !y.empty()) found.compare_maps({.part = ModelPart::attributes, .tensor = pair.a->name}, x, y);
  }
  return found.finish();
}

}  // namespace inspect

std::string to_text(const MetadataDifference& difference) {
  const std::string label = inspect::label_of(difference);
  if (!difference.first)
    return inspect::change(label, inspect::value_text(difference, difference.a),
                           inspect::value_text(difference, difference.b));
  if (difference.part == ModelPart::attachments)
    return fmt::format("{}: {} each, different from byte {} on", label, inspect::value_text(difference, difference.a),
                       *difference.first);
  return fmt::format("{}: {} differ, the first is number {}: {} -> {}", label, difference.different, *difference.first,
                     inspect::excerpt(inspect::item_text(difference.a), 0),
                     inspect::excerpt(inspect::item_text(difference.b), 0));
}

}  // namespace tare
