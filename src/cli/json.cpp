#include "cli/json.hpp"

#include <algorithm>

#include "base/printable.hpp"
#include "cli/advice.hpp"
#include "tare/codec.hpp"

namespace tare::cli {

void write_vocabulary(JsonWriter& json, const Vocabulary& vocabulary) {
  if (vocabulary.empty()) {
    json.null();
    return;
  }
  json.open('{').key("size").number(std::uint64_t{vocabulary.tokens.size()});
  json.key("bos").number(vocabulary.bos).key("eos").number(vocabulary.eos);
  json.key("pad").number(vocabulary.pad).key("unk").number(vocabulary.unk);
  json.key("kind").text(vocabulary.kind).close('}');
}

void write_attachments(JsonWriter& json, const Model& model) {
  json.open('[');
  for (const Attachment& attachment : model.attachments)
    json.open('{').key("name").text(one_line(attachment.name)).key("bytes").number(attachment.blob.size()).close('}');
  json.close(']');
}

namespace {

void write_component(JsonWriter& json, const Component& component, std::string_view file) {
  const Blob& blob = component.blob;
  json.key(component.role).open('{').key("dtype").text(name_of(component.dtype)).key("type");
  if (component.type.empty())
    json.null();
  else
    json.text(component.type);
  json.key("offset");
  if (blob.source() != nullptr)
    json.number(blob.offset());
  else
    json.null();
  json.key("bytes").number(blob.size()).key("stored_bytes").number(blob.stored_size());
  json.key("encoding").text(name_of(blob.encoding())).key("digest");
  if (blob.digest())
    json.text(blob.digest().text());
  else
    json.null();
  if (blob.source() != nullptr && blob.source()->name() != file) json.key("file").text(blob.source()->name());
  json.close('}');
}

}  // namespace

void write_tensor(JsonWriter& json, const Tensor& tensor, std::string_view file, const Error* broken) {
  json.open('{').key("name");
  // one_line changes only characters that text() would escape too.
  const bool plain =
      std::all_of(tensor.name.begin(), tensor.name.end(), [](char c) { return c >= 0x20 && c < 0x7F && c != '\\'; });
  json.text(plain ? std::string_view(tensor.name) : std::string_view(one_line(tensor.name)));
  json.key("shape").open('[');
  for (const std::uint64_t dimension : tensor.shape) json.number(dimension);
  json.close(']').key("layout").text(tensor.layout).key("dtype").text(dtype_name(tensor));
  json.key("bytes").number(tensor.bytes()).key("attributes");
  if (tensor.attributes.empty())
    json.raw("{}");
  else
    json.raw(to_json(tensor.attributes));
  json.key("components").open('{');
  for (const Component& component : tensor.components) write_component(json, component, file);
  json.close('}');
  if (broken != nullptr) {
    json.key("error").open('{').key("kind").text(name_of(broken->kind())).key("rule").text(broken->rule());
    json.key("offset");
    if (broken->offset())
      json.number(*broken->offset());
    else
      json.null();
    json.key("sentence").text(advised(broken->sentence(), broken->remedies())).close('}');
  }
  json.close('}');
}

void write_remedies(JsonWriter& json, const std::vector<Advice>& remedies) {
  json.key("remedies").open('[');
  for (const Advice& advice : remedies)
    json.open('[').text(name_of(advice.remedy)).text(one_line(advice.argument)).close(']');
  json.close(']');
}

std::string error_json(const Error& error, std::string_view text, std::string_view file) {
  std::string out;
  JsonWriter json(out);
  json.open('{').key("error").open('{').key("kind").text(name_of(error.kind())).key("rule").text(error.rule());
  json.key("file").text(one_line(error.file().empty() ? file : std::string_view(error.file())));
  json.key("item").text(one_line(error.item())).key("offset");
  if (error.offset())
    json.number(*error.offset());
  else
    json.null();
  json.key("sentence").text(one_line(error.sentence()));
  write_remedies(json, error.remedies());
  json.key("text").text(text).close('}').close('}');
  return out;
}

}  // namespace tare::cli
