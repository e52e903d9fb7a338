// The numbers of a tensor record, which are derived from the tensor's name, and the order of the records.
#include <algorithm>
#include <charconv>

#include "formats/alt/alt.hpp"

namespace tare::alt {
namespace {

constexpr std::int32_t kNone = 0, kWeight = 5, kOtherLayer = 6, kOtherProjection = 8;

constexpr std::string_view kLayerParts[] = {"self_attn", "mlp", "input_layernorm", "post_attention_layernorm",
                                            "weight"};
constexpr std::string_view kProjections[] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                             "gate_proj", "up_proj", "down_proj"};

// Returns the position of the name in the list, from 1; `other` if it is not in the list.
std::int32_t number_in(std::span<const std::string_view> names, std::string_view name, std::int32_t other) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? other : static_cast<std::int32_t>(found - names.begin()) + 1;
}

std::string_view take_segment(std::string_view& rest) {
  const std::size_t dot = rest.find('.');
  const std::string_view segment = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  return segment;
}

// Finds "layers.N." anywhere in the name; gives N and the rest after it.
bool find_block(std::string_view name, std::int32_t& block, std::string_view& rest) {
  constexpr std::string_view kWord = "layers.";
  for (std::size_t at = name.find(kWord); at != std::string_view::npos; at = name.find(kWord, at + 1)) {
    const char* const begin = name.data() + at + kWord.size();
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(begin, end, block);
    if (parsed.ec != std::errc() || *begin == '-' || parsed.ptr == end || *parsed.ptr != '.') continue;
    rest = std::string_view(parsed.ptr + 1, static_cast<std::size_t>(end - parsed.ptr - 1));
    return true;
  }
  return false;
}

Place in_block(std::int32_t block, std::string_view rest) {
  Place place{kLayers, block, kNone, kNone};
  place.layer = number_in(kLayerParts, take_segment(rest), kOtherLayer);
  const std::string_view part = take_segment(rest);
  if (part.empty() || part == "weight" || part == "bias") return place;
  place.projection = number_in(kProjections, part, kOtherProjection);
  return place;
}

}  // namespace

Place place_of(std::string_view name) {
  std::int32_t block = 0;
  std::string_view rest;
  if (find_block(name, block, rest)) return in_block(block, rest);
  constexpr struct {
    std::string_view segment;
    std::int32_t component, block;
  } kUnique[] = {{"embed_tokens", kEmbedTokens, -1}, {"lm_head", kLmHead, -2}, {"norm", kNorm, -3}};
  const auto layer_of = [](std::string_view behind) {
    return behind.empty() ? kNone : behind == "weight" ? kWeight : kOtherLayer;
  };
  for (rest = name; !rest.empty();) {
    const std::string_view segment = take_segment(rest);
    for (const auto& unique : kUnique)
      if (segment == unique.segment) return {unique.component, unique.block, layer_of(rest), kNone};
  }
  const std::size_t dot = name.rfind('.');
  return {kOther, -4, layer_of(dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1)), kNone};
}

std::vector<const Tensor*> in_order(const std::vector<Tensor>& tensors) {
  struct Key {
    int group;
    std::int32_t block;
    const Tensor* tensor;
  };
  constexpr int kGroup[] = {1, 0, 3, 2, 4};  // order of the components
  std::vector<Key> keys;
  keys.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    const Place place = place_of(tensor.name);
    keys.push_back({kGroup[place.component], place.block, &tensor});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    if (a.group != b.group) return a.group < b.group;
    if (a.block != b.block) return a.block < b.block;
    return a.tensor->name < b.tensor->name;
  });
  std::vector<const Tensor*> order;
  order.reserve(keys.size());
  for (const Key& key : keys) order.push_back(key.tensor);
  return order;
}

// The two numberings of token types; number 8 of the first is an addition of Tare.
constexpr TokenType kSpec[] = {TokenType::normal,  TokenType::byte,   TokenType::control,
                               TokenType::unknown, TokenType::unused, TokenType::bos,
                               TokenType::eos,     TokenType::pad,    TokenType::user_defined};
constexpr TokenType kAltc[] = {TokenType::normal,       TokenType::unknown, TokenType::control,
                               TokenType::user_defined, TokenType::byte,    TokenType::unused,
                               TokenType::bos,          TokenType::eos,     TokenType::pad};

TokenType token_type(std::int32_t number, bool altc) { return (altc ? kAltc : kSpec)[number]; }

std::int32_t number_of(TokenType type, bool altc) {
  const auto& numbers = altc ? kAltc : kSpec;
  return static_cast<std::int32_t>(std::find(std::begin(numbers), std::end(numbers), type) - std::begin(numbers));
}

}  // namespace tare::alt
