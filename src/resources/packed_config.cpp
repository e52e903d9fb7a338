#include "resources/packed_config.hpp"

#include <algorithm>

#include "resources/json_file.hpp"
#include "tare/error.hpp"

namespace tare::resources {
namespace {

// Who states it where. A file that states nothing of its method is of the program that writes it.
struct StatedIn {
  std::string_view file;
  std::string_view key;     // empty: the whole file
  std::string_view method;  // where nothing else is said
};
constexpr StatedIn kPlaces[] = {
    {"config.json", "quantization_config", ""}, {"config.json", "compression_config", "compressed-tensors"},
    {"config.json", "quantization", "mlx"},     {"quantize_config.json", "", "gptq"},
    {"quant_config.json", "", "awq"},           {"hf_quant_config.json", "quantization", "modelopt"},
};
constexpr std::string_view kMethodKeys[] = {"quant_method", "quant_algo"};
constexpr std::string_view kBitsKeys[] = {"bits", "w_bit", "num_bits"};
constexpr std::string_view kGroupKeys[] = {"group_size", "q_group_size"};

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

template <std::size_t N>
std::optional<std::uint64_t> number_at(const Json& object, const std::string_view (&keys)[N]) {
  constexpr std::uint64_t kMost = 1 << 20;
  for (const std::string_view key : keys)
    if (const Json* const value = member(object, key); value != nullptr && value->is_number_unsigned()) {
      const auto number = value->get<std::uint64_t>();
      if (number > 0 && number <= kMost) return number;
    }
  return std::nullopt;
}

// In lower case: ModelOpt writes NVFP4.
std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// compressed-tensors has them for each group of layers: the first group's.
const Json& weights_of_first_group(const Json& stated) {
  const Json* const groups = member(stated, "config_groups");
  if (groups != nullptr && groups->is_object() && !groups->empty())
    if (const Json* const weights = member(*groups->begin(), "weights")) return *weights;
  return stated;
}

bool is_true(const Json& object, std::string_view key) {
  const Json* const value = member(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

StatedQuantization read(const Json& stated, const StatedIn& place) {
  StatedQuantization found;
  found.file = place.file;
  found.method = place.method;
  for (const std::string_view key : kMethodKeys)
    if (const Json* const method = member(stated, key); method != nullptr && method->is_string())
      found.method = lower(method->text());
  const bool four = is_true(stated, "load_in_4bit") || is_true(stated, "_load_in_4bit");
  const bool eight = is_true(stated, "load_in_8bit") || is_true(stated, "_load_in_8bit");
  if (found.method.empty() && (four || eight)) found.method = "bitsandbytes";
  const Json& weights = weights_of_first_group(stated);
  found.bits = number_at(weights, kBitsKeys);
  found.group = number_at(weights, kGroupKeys);
  if (!found.bits && (four || eight)) found.bits = four ? 4 : 8;
  if (const Json* const block = member(stated, "weight_block_size");
      block != nullptr && block->is_array() && !block->empty() && block->back().is_number_unsigned())
    found.group = block->back().get<std::uint64_t>();
  return found;
}

// What the file has under the place's key, at the top or for the model of text inside one for several.
const Json* find_place(const Json& root, std::string_view key) {
  if (key.empty()) return &root;
  if (const Json* const top = member(root, key); top != nullptr && top->is_object()) return top;
  const Json* const text = member(root, "text_config");
  const Json* const inner = text == nullptr ? nullptr : member(*text, key);
  return inner != nullptr && inner->is_object() ? inner : nullptr;
}

}  // namespace

std::optional<StatedQuantization> stated_quantization(const Model& model) {
  for (const StatedIn& place : kPlaces) {
    const Attachment* const file = model.attachment(place.file);
    if (file == nullptr || file->blob.size() > kMaxSmallBytes) continue;
    try {
      const Bytes bytes = file->blob.bytes(kMaxSmallBytes);
      const Json root = parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      if (const Json* const stated = find_place(root, place.key)) return read(*stated, place);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;  // that it does not parse is told where it is read
    }
  }
  return std::nullopt;
}

}  // namespace tare::resources
