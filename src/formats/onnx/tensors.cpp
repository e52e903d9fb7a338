// TensorProto and SparseTensorProto.
//
//   TensorProto        1 dims (int64, repeated), 2 data_type, 3 segment, 8 name, 9 raw_data, 13 external_data (entries of
//                      1 key, 2 value), 14 data_location (1: external); or typed elements: 4 float_data, 5 int32_data,
//                      6 string_data, 7 int64_data, 10 double_data, 11 uint64_data
//   SparseTensorProto  1 values (a TensorProto of rank 1), 2 indices (of INT64), 3 dims
//
// Raw bytes are little-endian and a range of the file; so are typed floats in one packed list. Other typed elements are
// varints: they are decoded when the file is opened, and charged.
#include <fmt/format.h>

#include <charconv>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/onnx/onnx.hpp"
#include "tare/codec.hpp"

namespace tare::onnx {
namespace {

constexpr std::uint32_t kName = 8, kRaw = 9;

[[noreturn]] void fail(std::string_view rule, const std::string& sentence, ErrorKind kind = ErrorKind::corrupt) {
  throw Error(kind, rule, sentence);
}

struct External {
  std::string location;
  std::optional<std::uint64_t> offset, length;
};

// What a TensorProto states.
struct Stated {
  FileRange message;
  Shape shape;
  std::uint64_t type = 0;
  std::optional<FileRange> raw;
  bool external = false;
  External place;
  std::vector<std::uint32_t> typed;  // the numbers of the fields with typed elements, each once
};

std::uint64_t decimal(const std::string& text, std::string_view key) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || text.empty())
    fail("onnx.external.number", fmt::format("the {} of its data is {}, which is not a number", key, quote(text)));
  return number;
}

void add_dimension(Shape& shape, std::uint64_t value, const ReadOptions& options) {
  if (static_cast<std::int64_t>(value) < 0)
    fail("onnx.shape", fmt::format("a dimension is {}", static_cast<std::int64_t>(value)));
  if (shape.size() >= options.limits.rank)
    fail("onnx.rank", fmt::format("expected at most {} dimensions, found more", options.limits.rank), ErrorKind::limit);
  shape.push_back(value);
}

// Calls `visit` with the number of a field, or with those of a packed list.
template <typename Visit>
void each_number(Context& context, const Fields::Field& field, const Visit& visit) {
  if (field.type == Wire::varint) return visit(field.value);
  Fields list(context.window, field.range);
  while (!list.at_end()) visit(list.packed_varint());
}

bool is_numbers(const Fields::Field& field) { return field.type == Wire::varint || field.type == Wire::bytes; }

void read_entry(Context& context, FileRange message, External& place) {
  std::string key, value;
  Fields fields(context.window, message);
  while (const auto field = fields.next()) {
    if (field->is(1, Wire::bytes)) key = text_of(context, field->range);
    if (field->is(2, Wire::bytes)) value = text_of(context, field->range);
  }
  if (key == "location") place.location = std::move(value);
  if (key == "offset") place.offset = decimal(value, key);
  if (key == "length") place.length = decimal(value, key);
}

Stated stated_by(Context& context, FileRange message) {
  Stated stated;
  stated.message = message;
  Fields fields(context.window, message);
  while (const auto field = fields.next()) switch (field->number) {
      case 1:
        if (is_numbers(*field))
          each_number(context, *field,
                      [&](std::uint64_t value) { add_dimension(stated.shape, value, context.options); });
        break;
      case 2:
        if (field->type == Wire::varint) stated.type = field->value;
        break;
      case 3: fail("onnx.segment", "a tensor in segments, which no program writes", ErrorKind::unsupported);
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 11:
        if (std::ranges::find(stated.typed, field->number) == stated.typed.end()) stated.typed.push_back(field->number);
        break;
      case kRaw:
        if (field->type == Wire::bytes) stated.raw = field->range;
        break;
      case 13:
        if (field->type == Wire::bytes) read_entry(context, field->range, stated.place);
        break;
      case 14:
        if (field->type == Wire::varint) stated.external = field->value == 1;
        break;
      default: break;
    }
  return stated;
}

const ElementType& element_of(const Stated& stated) {
  const ElementType* const type = find_element(stated.type);
  if (type == nullptr)
    fail("onnx.type", fmt::format("the element type {} is not one of ONNX's", stated.type), ErrorKind::unsupported);
  if (type->field == Typed::strings)
    fail("onnx.type", "its elements are of type STRING; a Model has only numbers", ErrorKind::unsupported);
  return *type;
}

std::uint64_t elements_of(const Shape& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  const auto elements = shape.elements();
  if (!elements || *elements >= kMost)
    fail("onnx.shape", fmt::format("the shape {} has too many elements", shape.text()));
  return *elements;
}

// Bytes of the elements, packed as in raw_data.
std::uint64_t bytes_of(const ElementType& type, std::uint64_t elements) {
  const auto bits = checked_mul(elements, type.bits);
  if (!bits) fail("onnx.shape", fmt::format("{} elements are too many", elements));
  return ceil_div(*bits, 8);
}

void require_size(std::uint64_t found, std::uint64_t bytes, const Stated& stated, const ElementType& type) {
  if (found != bytes)
    fail("onnx.size",
         fmt::format("expected {} bytes for {} of shape {}, found {}", bytes, type.name, stated.shape.text(), found));
}

// Typed elements as the bytes that raw_data would have.
class TypedElements {
 public:
  TypedElements(Context& context, const Stated& stated, const ElementType& type, std::uint64_t bytes)
      : context_(context), stated_(stated), type_(type), bytes_(bytes) {}

  Blob take() {
    if (type_.field == Typed::floats || type_.field == Typed::doubles)
      if (const auto range = only_list()) {
        require_size(range->size(), bytes_, stated_, type_);
        return Blob::range(context_.source, range->begin, range->size());
      }
    Fields fields(context_.window, stated_.message);
    while (const auto field = fields.next())
      if (field->number == static_cast<std::uint32_t>(type_.field)) add(*field);
    if (bits_ > 0) put(pending_, 1);
    require_size(out_.size(), bytes_, stated_, type_);
    return Blob::memory(std::move(out_));
  }

 private:
  // The packed list, if all elements are in one.
  std::optional<FileRange> only_list() {
    std::optional<FileRange> found;
    Fields fields(context_.window, stated_.message);
    while (const auto field = fields.next()) {
      if (field->number != static_cast<std::uint32_t>(type_.field)) continue;
      if (found || field->type != Wire::bytes) return std::nullopt;
      found = field->range;
    }
    return found;
  }

  void add(const Fields::Field& field) {
    if (type_.field == Typed::floats || type_.field == Typed::doubles) {
      const std::size_t width = type_.field == Typed::floats ? 4 : 8;
      if (field.type == (width == 4 ? Wire::fixed32 : Wire::fixed64)) put(field.value, width);
      if (field.type != Wire::bytes) return;
      for (std::uint64_t at = field.range.begin; at < field.range.end;) {
        const auto some = context_.window.get(at, std::min<std::uint64_t>(4096, field.range.end - at));
        if (some.empty()) return;
        require_room(some.size());
        out_.insert(out_.end(), some.begin(), some.end());
        at += some.size();
      }
      return;
    }
    if (is_numbers(field)) each_number(context_, field, [&](std::uint64_t value) { add_number(value); });
  }

  void add_number(std::uint64_t value) {
    if (type_.field != Typed::int32s) {
      if (type_.bits == 32 && value > UINT32_MAX) out_of_range(value);
      return put(value, type_.bits / 8);
    }
    // Negative numbers are extended to 64 bits.
    const auto number = static_cast<std::int64_t>(value);
    if (type_.bits == 6) {
      if (number < 0 || number > 0x3F) out_of_range(value);
      pending_ |= value << bits_;
      bits_ += 6;
      for (; bits_ >= 8; bits_ -= 8, pending_ >>= 8) put(pending_ & 0xFF, 1);
      return;
    }
    // Two or four elements of fewer than 6 bits are one number, the byte that they fill.
    const unsigned bits = std::max(type_.bits, 8u);
    const bool is_signed = type_.type.empty() && (type_.dtype == DType::i32 || type_.dtype == DType::i16 ||
                                                  (type_.dtype == DType::i8 && type_.bits == 8));
    const std::int64_t half = std::int64_t{1} << (bits - 1), most = is_signed ? half - 1 : 2 * half - 1;
    // Some programs store bytes as signed numbers.
    if (number > most || number < -half) out_of_range(value);
    put(value, bits / 8);
  }

  [[noreturn]] void out_of_range(std::uint64_t value) const {
    fail("onnx.value",
         fmt::format("an element is {}, which {} cannot hold", static_cast<std::int64_t>(value), type_.name));
  }

  void require_room(std::size_t bytes) {
    charge_bytes(bytes);
    if (bytes > bytes_ - out_.size())
      fail("onnx.size",
           fmt::format("expected {} bytes for {} of shape {}, found more", bytes_, type_.name, stated_.shape.text()));
  }
  void put(std::uint64_t value, std::size_t width) {
    require_room(width);
    for (std::size_t i = 0; i < width; ++i) out_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }

  Context& context_;
  const Stated& stated_;
  const ElementType& type_;
  std::uint64_t bytes_;
  Bytes out_;
  std::uint64_t pending_ = 0;  // bits of elements that do not fill a byte yet
  unsigned bits_ = 0;
};

Blob external_data(Context& context, const Stated& stated, const ElementType& type, std::uint64_t bytes) {
  if (stated.place.location.empty()) fail("onnx.external.path", "its data is external, and no location is stated");
  const SourcePtr file = context.external.open(stated.place.location);
  const std::uint64_t offset = stated.place.offset.value_or(0);
  if (offset > file->size() || !fits(offset, stated.place.length.value_or(bytes), file->size()))
    fail("onnx.external.bounds",
         fmt::format("its {} bytes at {} of {} extend beyond the end of that file ({} bytes)",
                     stated.place.length.value_or(bytes), offset, quote(stated.place.location), file->size()));
  // Without a length, the data is the rest of the file, or a part of it if others follow.
  require_size(stated.place.length.value_or(bytes), bytes, stated, type);
  return Blob::range(file, offset, bytes);
}

Blob data_of(Context& context, const Stated& stated, const ElementType& type, std::uint64_t bytes) {
  const std::size_t places = stated.typed.size() + (stated.raw ? 1 : 0) + (stated.external ? 1 : 0);
  if (places > 1) fail("onnx.data", "its data is in several fields");
  if (stated.external) return external_data(context, stated, type, bytes);
  if (stated.raw) {
    require_size(stated.raw->size(), bytes, stated, type);
    return Blob::range(context.source, stated.raw->begin, stated.raw->size());
  }
  if (stated.typed.empty()) {
    require_size(0, bytes, stated, type);
    return Blob::memory({});
  }
  if (stated.typed.front() != static_cast<std::uint32_t>(type.field))
    fail("onnx.data", fmt::format("its data is in field {}, which has no {}", stated.typed.front(), type.name));
  return TypedElements(context, stated, type, bytes).take();
}

Tensor built(Context& context, const Stated& stated) {
  const ElementType& type = element_of(stated);
  const std::uint64_t elements = elements_of(stated.shape), bytes = bytes_of(type, elements);
  Blob data = data_of(context, stated, type, bytes);
  if (type.bits >= 8) return dense({}, stated.shape, type.dtype, std::move(data), std::string(type.type));
  // The layouts of small floats have no room for padding.
  if (type.layout.empty() || elements * type.bits % 8 != 0 || (type.bits == 6 && elements % 4 != 0))
    return dense({}, stated.shape, type.dtype, unpacked(std::move(data), type, elements), std::string(type.type));
  Tensor tensor;
  tensor.shape = stated.shape;
  tensor.layout = type.layout;
  tensor.components.push_back({"payload", DType::u8, {}, std::move(data)});
  return tensor;
}

// The flat positions of entries as one list of coordinates per dimension.
Blob split_positions(const Blob& flat, const Shape& shape) {
  const std::uint64_t entries = flat.size() / 8, rank = shape.rank();
  const auto bytes = checked_mul(entries * 8, rank);
  if (!bytes) fail("onnx.shape", "too many coordinates");
  charge_bytes(*bytes);
  const Bytes from = flat.bytes();
  Bytes out(*bytes);
  for (std::uint64_t i = 0; i < entries; ++i) {
    auto left = load_le<std::uint64_t>(from.data() + i * 8);
    // A position beyond the end stays beyond the end in the first dimension.
    for (std::uint64_t d = rank; d-- > 0;) {
      const std::uint64_t size = std::max<std::uint64_t>(shape[d], 1);
      store_le(out.data() + (d * entries + i) * 8, d == 0 ? left : left % size);
      left /= size;
    }
  }
  return Blob::memory(std::move(out));
}

// Coordinates of an entry after those of another, as one list per dimension.
Blob turned(const Blob& rows, std::uint64_t entries, std::uint64_t rank) {
  charge_bytes(rows.size());
  const Bytes from = rows.bytes();
  Bytes out(from.size());
  for (std::uint64_t i = 0; i < entries; ++i)
    for (std::uint64_t d = 0; d < rank; ++d)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>((i * rank + d) * 8), 8,
                  out.begin() + static_cast<std::ptrdiff_t>((d * entries + i) * 8));
  return Blob::memory(std::move(out));
}

}  // namespace

std::string text_of(Context& context, FileRange range) {
  if (range.size() > kMostText)
    throw Error(ErrorKind::limit, "onnx.text",
                fmt::format("expected a text of at most {} bytes, found {}", kMostText, range.size()))
        .at(range.begin);
  const auto bytes = context.window.get(range.begin, range.size());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string name_of_tensor(Context& context, FileRange message) {
  std::string name;
  Fields fields(context.window, message);
  while (const auto field = fields.next())
    if (field->is(kName, Wire::bytes)) name = text_of(context, field->range);
  return name;
}

Tensor tensor_of(Context& context, FileRange message) { return built(context, stated_by(context, message)); }

std::string name_of_sparse(Context& context, FileRange message) {
  Fields fields(context.window, message);
  while (const auto field = fields.next())
    if (field->is(1, Wire::bytes)) return name_of_tensor(context, field->range);
  return {};
}

Tensor sparse_tensor_of(Context& context, FileRange message) {
  std::optional<FileRange> values, indices;
  Tensor tensor;
  tensor.layout = "sparse_coo";
  Fields fields(context.window, message);
  while (const auto field = fields.next()) {
    if (field->is(1, Wire::bytes)) values = field->range;
    if (field->is(2, Wire::bytes)) indices = field->range;
    if (field->number == 3 && is_numbers(*field))
      each_number(context, *field, [&](std::uint64_t value) { add_dimension(tensor.shape, value, context.options); });
  }
  if (!values || !indices) fail("onnx.sparse", "a sparse tensor without values or without indices");
  static_cast<void>(elements_of(tensor.shape));
  Tensor numbers = tensor_of(context, *values), places = tensor_of(context, *indices);
  const std::uint64_t rank = tensor.shape.rank();
  if (!numbers.is_dense() || numbers.shape.rank() != 1)
    fail("onnx.sparse",
         fmt::format("expected a list of values, found {} of shape {}", numbers.layout, numbers.shape.text()));
  const std::uint64_t entries = numbers.shape[0];
  const bool flat = places.shape == Shape{entries};
  if (places.components[0].dtype != DType::i64 || rank == 0 || (!flat && places.shape != Shape{entries, rank}))
    fail("onnx.sparse",
         fmt::format("indices of type {} and shape {} for {} values of shape {}", places.components[0].type_name(),
                     places.shape.text(), entries, tensor.shape.text()));
  Component& data = numbers.components[0];
  Blob coords = std::move(places.components[0].blob);
  if (rank > 1) coords = flat ? split_positions(coords, tensor.shape) : turned(coords, entries, rank);
  tensor.components.push_back({"values", data.dtype, data.type, std::move(data.blob)});
  // Negative indices become larger than every dimension, so the layout's own rules refuse them.
  tensor.components.push_back({"coords", DType::u64, {}, std::move(coords)});
  if (const auto problem = find_codec(tensor.layout)->check(tensor)) fail("onnx.sparse", problem->sentence);
  return tensor;
}

}  // namespace tare::onnx
