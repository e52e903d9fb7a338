// The summary of a model, on one screen.
#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/codec.hpp"
#include "tare/version.hpp"
#include "view/endpoints.hpp"

namespace tare::view {
namespace {

constexpr std::size_t kMostTypes = 48, kMostFiles = 64, kMostBroken = 32;

struct Sum {
  std::uint32_t type = 0;
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
};

double bits_of(const Sum& sum) {
  return sum.elements == 0 ? 0 : static_cast<double>(sum.bytes) * 8 / static_cast<double>(sum.elements);
}

void write_sum(JsonWriter& json, std::string_view name, std::string_view title, const Sum& sum) {
  json.open('{').key("type").text(name).key("title").text(title).key("tensors").number(sum.tensors);
  json.key("elements").number(sum.elements).key("bytes").number(sum.bytes).key("bits");
  write_number(json, bits_of(sum));
  json.close('}');
}

std::string_view title_of(std::string_view type) {
  for (const Codec& codec : codecs())
    if (codec.name == type || codec.layout == type) return codec.title;
  return {};
}

// Texts in the config can be of any length, so they are shortened.
Map short_config(const Model& model) {
  Map config;
  for (const auto& [key, value] : model.config.to_map())
    config.append(key, value.text() != nullptr ? Value(short_name(*value.text())) : value);
  return config;
}

void write_model(JsonWriter& json, const OpenModel& shown, bool names) {
  const Model& model = shown.model();
  std::vector<Sum> sums(shown.types().size());
  Sum all;
  std::int32_t last_layer = -1;
  for (const Item& item : shown.items()) {
    sums[item.type].type = item.type;
    for (Sum* sum : {&sums[item.type], &all}) {
      sum->tensors += 1;
      sum->elements += item.elements;
      sum->bytes += item.stored;
    }
    last_layer = std::max(last_layer, item.layer);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.bytes > b.bytes; });

  json.open('{').key("path").text(names ? shown.name() : printable(shown.path())).key("name").text(shown.name());
  const Format* const format = find_format(model.format);
  json.key("format").text(model.format).key("title").text(format == nullptr ? std::string_view() : format->title);
  json.key("version").text(short_name(model.version, 60)).key("file_bytes").number(model.file_bytes);
  json.key("family").text(short_name(shown.family(), 60)).key("layers").number(std::int64_t{last_layer + 1});
  json.key("tensors").number(all.tensors).key("elements").number(all.elements).key("bytes").number(all.bytes);
  json.key("bits");
  write_number(json, bits_of(all));
  json.key("config").raw(to_json(short_config(model)));
  json.key("types").open('[');
  Sum rest;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (i < kMostTypes) {
      write_sum(json, shown.types()[sums[i].type], title_of(shown.types()[sums[i].type]), sums[i]);
    } else {
      rest.tensors += sums[i].tensors, rest.elements += sums[i].elements, rest.bytes += sums[i].bytes;
    }
  }
  if (rest.tensors > 0) write_sum(json, "others", {}, rest);
  json.close(']').key("vocabulary");
  const Vocabulary& words = model.vocabulary;
  if (words.empty()) {
    json.null();
  } else {
    json.open('{')
        .key("kind")
        .text(short_name(words.kind, 60))
        .key("tokens")
        .number(std::uint64_t{words.tokens.size()});
    json.key("merges").number(std::uint64_t{words.merges.size()}).key("bos").number(words.bos);
    json.key("eos").number(words.eos).key("pad").number(words.pad).key("unk").number(words.unk).close('}');
  }
  json.key("metadata").number(std::uint64_t{model.metadata.size()});
  json.key("attachments").number(std::uint64_t{model.attachments.size()}).key("file_count");
  json.number(std::uint64_t{shown.files().size()}).key("files").open('[');
  for (std::size_t i = 0; i < std::min(kMostFiles, shown.files().size()); ++i)
    json.open('{').key("name").text(shown.files()[i].name).key("bytes").number(shown.files()[i].bytes).close('}');
  json.close(']').key("broken").open('[');
  for (std::size_t i = 0; i < std::min(kMostBroken, model.broken.size()); ++i)
    json.open('{')
        .key("name")
        .text(short_name(model.broken[i].tensor.name))
        .key("rule")
        .text(model.broken[i].error.rule())
        .key("sentence")
        .text(short_name(model.broken[i].error.sentence(), 1000))
        .close('}');
  json.close(']').key("broken_count").number(std::uint64_t{model.broken.size()}).close('}');
}

}  // namespace

void overview(const Context& context, const Query& query, JsonWriter& json) {
  json.open('{').key("tare").text(version()).key("models").open('[');
  for (const OpenModelPtr& model : context.models) write_model(json, *model, query.flag("names"));
  json.close(']').close('}');
}

}  // namespace tare::view
