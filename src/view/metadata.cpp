// Metadata as a tree, one level at a time; and the attachments of the model.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "view/endpoints.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kMostEntries = 500;
constexpr std::size_t kMostValue = 2000, kMostText = 256 << 10;
constexpr std::size_t kMostPreview = 64 << 10;

std::string_view kind_of(const Value& value) {
  if (value.get<bool>() != nullptr) return "boolean";
  if (value.get<std::int64_t>() != nullptr || value.get<std::uint64_t>() != nullptr) return "integer";
  if (value.get<double>() != nullptr) return "number";
  if (value.text() != nullptr) return "text";
  if (value.get<Bytes>() != nullptr) return "bytes";
  if (value.get<List>() != nullptr) return "list";
  if (value.get<Map>() != nullptr) return "map";
  if (value.get<Opaque>() != nullptr) return "opaque";
  return "null";
}

std::size_t size_of_value(const Value& value) {
  if (const auto* text = value.text()) return text->size();
  if (const auto* bytes = value.get<Bytes>()) return bytes->size();
  if (const auto* list = value.get<List>()) return list->size();
  if (const auto* map = value.get<Map>()) return map->size();
  if (const auto* opaque = value.get<Opaque>()) return opaque->bytes.size();
  return 0;
}

// A value on one line; short lists of simple values are shown completely.
std::string preview(const Value& value, std::size_t most) {
  if (const auto* text = value.text()) return std::string(beginning_of(*text, most));
  if (const auto* bytes = value.get<Bytes>()) return to_hex(std::span(*bytes).first(std::min(bytes->size(), most / 2)));
  if (const auto* opaque = value.get<Opaque>())
    return to_hex(std::span(opaque->bytes).first(std::min(opaque->bytes.size(), most / 2)));
  if (const auto* list = value.get<List>()) {
    std::string text = "[";
    for (std::size_t i = 0; i < list->size() && text.size() < most && i < 16; ++i) {
      const Value& entry = (*list)[i];
      if (entry.get<List>() != nullptr || entry.get<Map>() != nullptr || entry.get<Bytes>() != nullptr) return {};
      text += (i > 0 ? ", " : "") +
              (entry.text() != nullptr ? to_json(Value(std::string(beginning_of(*entry.text(), 60)))) : to_json(entry));
    }
    return text + (list->size() > 16 ? ", ...]" : "]");
  }
  if (value.get<Map>() != nullptr) return {};
  return to_json(value);
}

struct Node {
  const Map* map = nullptr;
  const List* list = nullptr;
  const Value* value = nullptr;
};

// Follows a path of indices: "0.3.1" is the first entry, its fourth child, that one's second.
Node walk(const Map& root, std::string_view path) {
  Node node{&root};
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    std::size_t place = 0;
    const auto [last, problem] = std::from_chars(path.data(), path.data() + end, place);
    const std::size_t size = node.map != nullptr ? node.map->size() : node.list != nullptr ? node.list->size() : 0;
    if (problem != std::errc() || last != path.data() + end || place >= size)
      throw Error(ErrorKind::not_found, "view.metadata", "the metadata has no such entry");
    node.value = node.map != nullptr ? &(node.map->begin() + place)->second : &(*node.list)[place];
    node.map = node.value->get<Map>();
    node.list = node.value->get<List>();
    path = path.substr(std::min(end + 1, path.size()));
  }
  return node;
}

void write_value(JsonWriter& json, std::size_t place, std::string_view key, const Value& value) {
  json.open('{')
      .key("place")
      .number(std::uint64_t{place})
      .key("key")
      .text(short_name(key))
      .key("kind")
      .text(kind_of(value));
  json.key("size")
      .number(std::uint64_t{size_of_value(value)})
      .key("preview")
      .text(preview(value, kMostValue))
      .close('}');
}

}  // namespace

void metadata(const Context& context, const Query& query, JsonWriter& json) {
  static constexpr std::string_view kWhat[] = {"metadata", "config"};
  const OpenModel& shown = context.model(query);
  const Map config = shown.model().config.to_map();
  const Map& root = query.choice("what", kWhat) == "config" ? config : shown.model().metadata;
  const Node node = walk(root, query.short_text("at", 400));
  json.open('{').key("at").text(query.text("at"));
  if (node.map == nullptr && node.list == nullptr) {
    // A single value, as long as an answer may be.
    json.key("kind").text(kind_of(*node.value)).key("size").number(std::uint64_t{size_of_value(*node.value)});
    json.key("text").text(preview(*node.value, kMostText)).close('}');
    return;
  }
  const std::size_t size = node.map != nullptr ? node.map->size() : node.list->size();
  const std::uint64_t from = std::min<std::uint64_t>(query.number("from", 0, 0, UINT32_MAX), size);
  const std::uint64_t count = std::min(query.number("count", 200, 0, kMostEntries), size - from);
  json.key("kind")
      .text(node.map != nullptr ? "map" : "list")
      .key("found")
      .number(std::uint64_t{size})
      .key("from")
      .number(from);
  json.key("entries").open('[');
  for (std::uint64_t i = from; i < from + count; ++i) {
    if (node.map != nullptr) {
      const auto& [key, value] = *(node.map->begin() + i);
      write_value(json, i, key, value);
    } else {
      write_value(json, i, fmt::format("{}", i), (*node.list)[i]);
    }
  }
  json.close(']').close('}');
}

void attachments(const Context& context, const Query& query, JsonWriter& json) {
  const Model& model = context.model(query).model();
  const std::uint64_t from = std::min<std::uint64_t>(query.number("from", 0, 0, UINT32_MAX), model.attachments.size());
  const std::uint64_t count = std::min(query.number("count", 200, 0, kMostEntries), model.attachments.size() - from);
  json.open('{')
      .key("found")
      .number(std::uint64_t{model.attachments.size()})
      .key("from")
      .number(from)
      .key("rows")
      .open('[');
  for (std::uint64_t i = from; i < from + count; ++i)
    json.open('{')
        .key("attachment")
        .number(i)
        .key("name")
        .text(short_name(model.attachments[i].name))
        .key("bytes")
        .number(model.attachments[i].blob.size())
        .close('}');
  json.close(']').close('}');
}

void attachment(const Context& context, const Query& query, JsonWriter& json) {
  const Model& model = context.model(query).model();
  if (model.attachments.empty()) throw Error(ErrorKind::not_found, "view.attachment", "the model carries no files");
  const Attachment& file = model.attachments[query.number("attachment", 0, 0, model.attachments.size() - 1)];
  Bytes bytes(std::min<std::uint64_t>(file.blob.size(), kMostPreview));
  if (!bytes.empty()) file.blob.read(0, bytes);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // The last character may be incomplete.
  for (int i = 0; i < 3 && !text.empty() && bytes.size() < file.blob.size() && !is_valid_utf8(text); ++i)
    text.pop_back();
  const bool is_text = is_valid_utf8(text) && text.find('\0') == std::string::npos;
  if (!is_text) bytes.resize(std::min<std::size_t>(bytes.size(), 4096));
  json.open('{').key("name").text(short_name(file.name)).key("bytes").number(file.blob.size());
  json.key("complete").boolean(bytes.size() == file.blob.size()).key("text");
  is_text ? json.text(text) : json.null();
  json.key("hex").text(is_text ? std::string() : to_hex(bytes)).close('}');
}

}  // namespace tare::view
