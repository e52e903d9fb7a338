// One tensor: its facts, the fields of its first block, and slices of its values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "codecs/first_block.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/inspect.hpp"
#include "tare/slice.hpp"
#include "view/endpoints.hpp"
#include "view/reading.hpp"

namespace tare::view {
namespace {

constexpr std::size_t kMostComponents = 16, kMostAttributeBytes = 16384, kMostBlockBytes = 512, kMostValues = 4096,
                      kMostName = 8192;

void write_component(JsonWriter& json, const Component& component) {
  const Blob& blob = component.blob;
  json.open('{').key("role").text(short_name(component.role)).key("type").text(short_name(component.type_name(), 60));
  json.key("offset");
  if (blob.source() != nullptr)
    json.number(blob.offset());
  else
    json.null();
  json.key("bytes").number(blob.size()).key("stored_bytes").number(blob.stored_size());
  json.key("encoding").text(name_of(blob.encoding())).key("digest").text(short_name(blob.digest().text()));
  // Without directories, because a report may be sent to others.
  const std::string file = blob.source() == nullptr ? std::string() : printable(blob.source()->name());
  json.key("file").text(file.substr(file.find_last_of('/') + 1)).close('}');
}

double value_at(codec::FieldKind kind, const std::byte* at) {
  using Kind = codec::FieldKind;
  switch (kind) {
    case Kind::f16: return f16_to_f32(load_le<std::uint16_t>(at));
    case Kind::f32: return load_le<float>(at);
    case Kind::e8m0: return std::ldexp(1.0, static_cast<int>(std::to_integer<unsigned>(*at)) - 127);
    case Kind::e4m3: {
      double value = 0;
      decode_elements(DType::u8, "f8_e4m3fn", {at, 1}, {&value, 1});
      return value;
    }
    case Kind::i8: return load_le<std::int8_t>(at);
    case Kind::i16: return load_le<std::int16_t>(at);
    case Kind::u8:
    case Kind::bits: return std::to_integer<unsigned>(*at);
    case Kind::elements: break;  // has the component's type, not one of these
  }
  return 0;
}

std::size_t width_of(codec::FieldKind kind) {
  using Kind = codec::FieldKind;
  return kind == Kind::f32 ? 4 : kind == Kind::f16 || kind == Kind::i16 ? 2 : 1;
}

std::string name_of_kind(codec::FieldKind kind, const Component& component) {
  using Kind = codec::FieldKind;
  switch (kind) {
    case Kind::f16: return "f16";
    case Kind::f32: return "f32";
    case Kind::e8m0: return "e8m0";
    case Kind::e4m3: return "e4m3";
    case Kind::u8: return "u8";
    case Kind::i8: return "i8";
    case Kind::i16: return "i16";
    case Kind::bits: return "bits";
    case Kind::elements: return short_name(component.type_name(), 60);
  }
  return {};
}

void write_numbers(JsonWriter& json, const std::vector<double>& numbers) {
  json.open('[');
  for (std::size_t i = 0; i < std::min(numbers.size(), kMostBlockBytes); ++i) write_element(json, numbers[i], false);
  json.close(']');
}

std::vector<double> numbers_in(const codec::BlockField& field, const Component& component, const Bytes& bytes) {
  using Kind = codec::FieldKind;
  std::vector<double> numbers;
  if (field.kind == Kind::elements) {
    if (!is_numeric(component.dtype, component.type)) return numbers;
    numbers.resize(bytes.size() / size_of(component.dtype));
    decode_elements(component.dtype, component.type, bytes, numbers);
  } else if (field.kind == Kind::bits) {
    // Wider fields combine several values, which `what` describes.
    constexpr unsigned kWidest = 8;
    if (field.bits > 0 && field.bits <= kWidest)
      numbers = codec::codes_in(bytes, field.bits, bytes.size() * 8 / field.bits, field.high_first);
  } else {
    const std::size_t width = width_of(field.kind);
    for (std::size_t i = 0; i + width <= bytes.size(); i += width)
      numbers.push_back(value_at(field.kind, bytes.data() + i));
  }
  return numbers;
}

void write_field(JsonWriter& json, const Component& component, const codec::BlockField& field) {
  const Bytes bytes = codec::bytes_of(component, field);
  json.open('{').key("component").text(short_name(component.role)).key("name").text(short_name(field.name));
  json.key("what").text(field.what).key("kind").text(name_of_kind(field.kind, component));
  json.key("offset").number(field.offset).key("bytes").number(field.bytes);
  json.key("runs").number(field.runs).key("stride").number(field.stride).key("bits").number(std::uint64_t{field.bits});
  json.key("hex").text(to_hex(std::span(bytes).first(std::min(bytes.size(), kMostBlockBytes)))).key("values");
  if (field.kind == codec::FieldKind::elements && component.type.empty() &&
      (component.dtype == DType::i64 || component.dtype == DType::u64)) {
    json.open('[');
    for (std::size_t i = 0; i + 8 <= std::min(bytes.size(), kMostBlockBytes * 8); i += 8)
      write_whole(json, WideInteger::load(bytes.data() + i, component.dtype == DType::i64));
    json.close(']');
  } else {
    write_numbers(json, numbers_in(field, component, bytes));
  }
  json.close('}');
}

void write_fields(JsonWriter& json, const Tensor& tensor, const std::optional<codec::FirstBlock>& block) {
  json.key("weights").number(block ? block->weights : 0).key("step").number(block ? block->step : 1);
  json.key("formula").text(block ? block->formula : std::string_view()).key("fields").open('[');
  if (block) {
    for (const codec::BlockField& field : block->fields) write_field(json, tensor.components[field.component], field);
  } else {
    // Not quantized: show the beginning of each component, read as its type.
    for (std::size_t i = 0; i < std::min<std::size_t>(tensor.components.size(), kMostComponents); ++i) {
      const Component& component = tensor.components[i];
      write_field(json, component,
                  {.name = component.role,
                   .what = "its first bytes",
                   .kind = codec::FieldKind::elements,
                   .bytes = std::min<std::uint64_t>(component.blob.size(), 64)});
    }
  }
  json.close(']').key("terms").open('[');
  if (block)
    for (const codec::BlockTerm& term : block->terms) {
      json.open('{').key("name").text(term.name).key("values");
      write_numbers(json, term.values);
      json.close('}');
    }
  json.close(']');
}

}  // namespace

Tensor subject_of(const Context& context, const Query& query) {
  const OpenModel& model = context.model(query);
  const std::size_t place = tensor_of(model, query);
  const Tensor& own = model.model().tensors[place];
  const std::string_view of = query.text("of", "a");
  if (of == "a" || of == "b") return own;
  const Pairing& pairing = context.pairing();
  const std::int64_t found = pairing.of_a[place];
  if (found < 0 || !pairing.pairs[static_cast<std::size_t>(found)].in_b())
    throw Error(ErrorKind::not_found, "view.tensor", "the second model has no such tensor").about(own.name);
  return side_of(pairing.pairs[static_cast<std::size_t>(found)], of);
}

Tensor side_of(const Pair& pair, std::string_view of) {
  if (of == "left") return pair.tensor_a();
  if (of == "right") return pair.tensor_b();
  return error_of(pair.tensor_a(), pair.tensor_b());
}

Tensor error_of(const Tensor& left, const Tensor& right) {
  Tensor error = difference(left, right);
  if (error.shape.elements() == left.shape.elements()) error.shape = left.shape;
  return error;
}

void tensor(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModel& model = context.model(query);
  const std::size_t place = tensor_of(model, query);
  const Tensor& shown = model.model().tensors[place];
  const Codec* const codec = find_codec(shown.layout);
  json.open('{').key("item");
  write_item(json, model, place);
  json.key("full_name").text(short_name(shown.name, kMostName));
  json.key("layout").text(short_name(shown.layout, 60)).key("codec");
  json.text(codec == nullptr ? std::string_view() : codec->title);
  json.key("decodes").boolean(codec != nullptr).key("decoded_bytes").number(shown.bytes()).key("components").open('[');
  for (std::size_t i = 0; i < std::min<std::size_t>(shown.components.size(), kMostComponents); ++i)
    write_component(json, shown.components[i]);
  json.close(']').key("attributes");
  const std::string attributes = to_json(shown.attributes);
  if (attributes.size() <= kMostAttributeBytes)
    json.raw(attributes);
  else
    json.open('{').key("too long").text(fmt::format("{} bytes", attributes.size())).close('}');
  json.key("parameters").open('[');
  if (codec != nullptr)
    for (const std::string_view parameter : codec->parameters) json.text(parameter);
  json.close(']').key("others").open('[');
  if (context.has_two()) {
    const Pairing& pairing = context.pairing();
    const bool first = &model == context.models[0].get();
    const std::int64_t found = (first ? pairing.of_a : pairing.of_b)[place];
    if (found >= 0) {
      const Pair& pair = pairing.pairs[static_cast<std::size_t>(found)];
      if (const std::int64_t other = first ? pair.b : pair.a; other >= 0)
        write_item(json, *context.models[first ? 1 : 0], static_cast<std::size_t>(other));
    }
  }
  json.close(']').close('}');
}

void block(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModel& model = context.model(query);
  const Tensor& shown = model.model().tensors[tensor_of(model, query)];
  const auto explained = codec::first_block(shown);
  json.open('{').key("layout").text(short_name(shown.layout, 60));
  write_fields(json, shown, explained);
  json.key("values").open('[');
  if (find_codec(shown.layout) != nullptr) {
    Reading reading(shown);
    const std::uint64_t step = explained ? explained->step : 1;
    std::vector<double> first(explained ? explained->weights : std::min<std::uint64_t>(32, reading.elements()));
    bool read = step == 1 && reading.read(0, first);
    if (step != 1) {
      read = true;
      for (std::size_t i = 0; i < first.size() && read; ++i)
        read = reading.read(i * step, std::span(first).subspan(i, 1));
    }
    for (std::size_t i = 0; i < first.size() && read; ++i)
      step == 1 && reading.is_wide_integer() ? write_whole(json, reading.wide_integer(i))
                                             : write_element(json, first[i], reading.is_single());
  }
  json.close(']').close('}');
}

void values(const Context& context, const Query& query, JsonWriter& json) {
  const Tensor shown = subject_of(context, query);
  const std::string_view text = query.short_text("slice", kMostSearched, "...");
  // A compressed tensor that can be entered only at its beginning must be decompressed up to the slice.
  const Tensor dense = to_dense(shown);
  const Component* const data = dense.component("data");
  if (data != nullptr && !data->blob.is_plain() && data->blob.seek_granularity() == 0 &&
      data->blob.size() > kReadBudget)
    throw Error(ErrorKind::limit, "view.budget",
                fmt::format("its {} bytes are compressed in one piece, of which at most {} are read at a time",
                            data->blob.size(), kReadBudget));
  const Tensor part = slice(dense, parse_slice(text));
  Reading reading(part);
  const std::uint64_t count = std::min<std::uint64_t>(reading.elements(), kMostValues);
  std::vector<double> numbers(count);
  const bool all = reading.read(0, numbers);
  if (all && count == reading.elements() && part.shape.elements() == dense.shape.elements()) reading.check_digests();
  json.open('{').key("slice").text(text).key("shape").open('[');
  for (const std::uint64_t dimension : part.shape) json.number(dimension);
  json.close(']').key("elements").number(reading.elements()).key("values").open('[');
  for (std::size_t i = 0; i < numbers.size() && all; ++i) {
    if (reading.is_wide_integer())
      write_whole(json, reading.wide_integer(i));
    else
      write_element(json, numbers[i], reading.is_single());
  }
  json.close(']').key("complete").boolean(all && count == reading.elements());
  json.key("read").number(reading.bytes_read()).close('}');
}

}  // namespace tare::view
