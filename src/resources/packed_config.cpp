#include "resources/packed_config.hpp"

#include <algorithm>

#include "resources/companion_files.hpp"
#include "resources/json_file.hpp"
#include "tare/error.hpp"

namespace tare::resources {

using codec::packs::Stated;

namespace {

// Where quantization configs are found. A file without a method implies its producer's.
struct StatedIn {
  std::string_view file;
  std::string_view key;     // empty: the whole file
  std::string_view method;  // if the config states none
};
constexpr StatedIn kPlaces[] = {
    {"config.json", "quantization_config", ""}, {"config.json", "compression_config", "compressed-tensors"},
    {"config.json", "quantization", "mlx"},     {"quantize_config.json", "", "gptq"},
    {"quant_config.json", "", "awq"},           {"hf_quant_config.json", "quantization", "modelopt"},
};
constexpr std::string_view kMethodKeys[] = {"quant_method", "quant_algo"};
constexpr std::string_view kBitsKeys[] = {"bits", "w_bit", "num_bits"};
constexpr std::string_view kGroupKeys[] = {"group_size", "q_group_size"};

template <std::size_t N>
std::optional<std::uint64_t> number_at(const Map& object, const std::string_view (&keys)[N]) {
  constexpr std::uint64_t kMost = 1 << 20;
  for (const std::string_view key : keys)
    if (const Value* const value = object.find(key)) {
      const auto number = count_of(*value);
      if (number && *number > 0 && *number <= kMost) return number;
    }
  return std::nullopt;
}

// Lower case, because ModelOpt writes NVFP4.
std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// compressed-tensors has a config for each group of layers: returns that of the first group. Null if its weights are
// not an object.
const Map* weights_of_first_group(const Map& stated) {
  const Map* const groups = get<Map>(stated, "config_groups");
  if (groups == nullptr || groups->empty()) return &stated;
  const Map* const first = sorted_entries(*groups).front()->second.get<Map>();
  const Value* const weights = first == nullptr ? nullptr : first->find("weights");
  return weights == nullptr ? &stated : weights->get<Map>();
}

bool is_true(const Map& object, std::string_view key) {
  const bool* const value = get<bool>(object, key);
  return value != nullptr && *value;
}

Stated read(const Map& stated, const StatedIn& place) {
  Stated found;
  found.file = place.file;
  found.method = place.method;
  found.config = stated;
  found.weights = codec::packs::weights_of_groups(stated);
  for (const std::string_view key : kMethodKeys)
    if (const Value* const value = stated.find(key); value != nullptr && !value->is_null())
      found.method =
          lower(value->text() != nullptr ? *value->text() : to_json(*value));  // anything but a name is unknown
  const bool four = is_true(stated, "load_in_4bit") || is_true(stated, "_load_in_4bit");
  const bool eight = is_true(stated, "load_in_8bit") || is_true(stated, "_load_in_8bit");
  if (found.method.empty() && (four || eight)) found.method = "bitsandbytes";
  if (const Map* const weights = weights_of_first_group(stated)) {
    found.bits = number_at(*weights, kBitsKeys);
    found.group = number_at(*weights, kGroupKeys);
  }
  if (!found.bits && (four || eight)) found.bits = four ? 4 : 8;
  if (const List* const block = get<List>(stated, "weight_block_size"); block != nullptr && !block->empty())
    if (const auto size = count_of(block->back())) found.group = size;
  return found;
}

// Returns the object under the key, at the top or in the text model of a multimodal one.
const Map* find_place(const Map& root, std::string_view key) {
  if (key.empty()) return &root;
  if (const Map* const top = get<Map>(root, key)) return top;
  const Map* const text = get<Map>(root, "text_config");
  return text == nullptr ? nullptr : get<Map>(*text, key);
}

// Returns nothing for a file that does not parse: its reader reports that.
std::optional<Map> parsed(const std::optional<Blob>& file) {
  if (!file || file->size() > kMaxSmallBytes) return std::nullopt;
  try {
    const Bytes bytes = file->bytes(kMaxSmallBytes);
    return parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return std::nullopt;
  }
}

// `find` returns the file of a name, or nothing. Called once for each file: a file may be large.
template <class Find>
Stated first_stated(const Find& find) {
  std::string_view file;
  std::optional<Map> root;
  for (const StatedIn& place : kPlaces) {
    if (file != place.file) root = parsed(find(file = place.file));
    if (const Map* const stated = root ? find_place(*root, place.key) : nullptr) return read(*stated, place);
  }
  return {};
}

Stated stated_in_metadata(const Value& kept) {
  constexpr StatedIn kMetadata = {"the metadata", "", ""};
  if (const Map* const map = kept.get<Map>()) return read(*map, kMetadata);
  const std::string* const text = kept.text();
  if (text == nullptr || text->size() > kMaxSmallBytes) return {};
  try {
    return read(parse_small_json(*text), kMetadata);
  } catch (const Error&) {
    return {};  // another program's use of the key
  }
}

}  // namespace

Stated stated_in_files(const Model& model) {
  return first_stated([&](std::string_view name) {
    const Attachment* const file = model.attachment(name);
    return file == nullptr ? std::nullopt : std::optional(file->blob);
  });
}

Stated stated_packing(const Model& model) {
  if (auto stated = stated_in_files(model)) return stated;
  if (const Value* const kept = model.metadata.find(kPackingKey))
    if (auto stated = stated_in_metadata(*kept)) return stated;
  // A weight file that was opened by its own path has these files in the same directory.
  return first_stated(
      [&](std::string_view name) { return model.attachment(name) == nullptr ? file_of(model, name) : std::nullopt; });
}

std::string packing_text(const Stated& stated) {
  Map config = stated.config;
  if (!stated.method.empty()) config.set(kMethodKeys[0], stated.method);
  return to_json(Value(std::move(config)));
}

codec::packs::Found find_packed(const Model& model) {
  // Most models have no codes; their files need not be read.
  if (!codec::packs::may_have_codes(model)) return {};
  return codec::packs::find_sets(model, stated_packing(model));
}

}  // namespace tare::resources
