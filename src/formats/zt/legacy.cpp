// The containers before the footer: 0.1 (an array of flat records) and 1.0 (a map with types at the tensor).
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "formats/zt/zt.hpp"

namespace tare::zt {
namespace {

using wire::CborMajor;
using wire::CborReader;

struct LongName {
  std::string_view long_name, short_name;
};
constexpr LongName kLongNames[] = {
    {"float64", "f64"}, {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"int64", "i64"},
    {"int32", "i32"},   {"int16", "i16"},   {"int8", "i8"},     {"uint64", "u64"},    {"uint32", "u32"},
    {"uint16", "u16"},  {"uint8", "u8"},    {"bool", "bool"},
};

// Reads one record of 0.1: name, offset, size, dtype, layout, shape, encoding, data_endianness?, checksum?, custom
// keys.
void read_record(CborReader& cbor, RawObject& object) {
  object.at = cbor.offset();
  RawComponent& data = object.components.emplace_back();
  data.role = "data";
  data.at = object.at;
  Fields fields(cbor, "zt.object.duplicate_field");
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    const std::string_view key = cbor.read_text();
    if (key == "name") {
      fields.meet(0, key);
      object.name = cbor.read_text();
    } else if (key == "offset") {
      fields.meet(1, key);
      data.offset = cbor.read_uint();
    } else if (key == "size") {
      fields.meet(2, key);
      data.length = cbor.read_uint();
    } else if (key == "dtype") {
      fields.meet(3, key);
      data.dtype = short_dtype(cbor.read_text());
    } else if (key == "layout") {
      fields.meet(4, key);
      object.layout = cbor.read_text();
    } else if (key == "shape") {
      fields.meet(5, key);
      read_shape(cbor, object.shape);
    } else if (key == "encoding") {
      fields.meet(6, key);
      data.encoding = cbor.read_text();
    } else if (key == "data_endianness") {
      fields.meet(7, key);
      if (cbor.next_is_null()) continue;
      const std::string_view order = cbor.read_text();
      if (order != "little" && order != "big")
        cbor.fail("zt.object.endianness", fmt::format("byte order \"{}\" is neither little nor big", order));
      data.big_endian = order == "big";
    } else if (key == "checksum") {
      fields.meet(8, key);
      if (!cbor.next_is_null()) data.digest = cbor.read_text();
    } else {
      if (object.attributes.find(key) != nullptr || object.attributes.size() == 1024)
        cbor.fail("zt.object.duplicate_field", "a custom field appears twice, or there are more than 1024");
      object.attributes.append(std::string(key), cbor.read_value());
    }
  }
  static constexpr std::string_view kNeeded[] = {"name", "offset", "size", "dtype", "layout", "shape", "encoding"};
  for (unsigned bit = 0; bit < std::size(kNeeded); ++bit)
    if (!fields.has(bit))
      cbor.fail_at(object.at, "zt.object.missing_field", fmt::format("a record has no \"{}\"", kNeeded[bit]));
}

void read_v10_component(CborReader& cbor, RawComponent& component) {
  component.at = cbor.offset();
  Fields fields(cbor, "zt.object.duplicate_field");
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    const std::string_view key = cbor.read_text();
    if (key == "offset") {
      fields.meet(0, key);
      component.offset = cbor.read_uint();
    } else if (key == "length") {
      fields.meet(1, key);
      component.length = cbor.read_uint();
    } else if (key == "encoding") {
      fields.meet(2, key);
      if (!cbor.next_is_null()) component.encoding = cbor.read_text();
    } else if (key == "digest") {
      fields.meet(3, key);
      if (!cbor.next_is_null()) component.digest = cbor.read_text();
    } else {
      cbor.skip();
    }
  }
}

void read_v10_components(CborReader& cbor, RawObject& object) {
  wire::KeyCheck roles;
  for (auto components = cbor.enter(CborMajor::map); cbor.next(components);) {
    RawComponent& component = object.components.emplace_back();
    component.role = cbor.read_text();
    roles.add(component.role);
    read_v10_component(cbor, component);
  }
  if (const auto twice = roles.find_duplicate(); twice.data() != nullptr)
    cbor.fail("zt.component.duplicate", fmt::format("the component \"{}\" appears twice", quote(twice)));
}

}  // namespace

std::string_view short_dtype(std::string_view long_name) {
  for (const auto& [full, brief] : kLongNames)
    if (full == long_name) return brief;
  return long_name;
}

void read_v01(CborReader& cbor, ObjectChecker& checker) {
  if (cbor.at_end()) return;  // a file without tensors may have no array
  wire::KeyCheck names;
  const std::uint64_t start = cbor.offset();
  RawObject object;
  for (auto items = cbor.enter(CborMajor::array); cbor.next(items);) {
    object = {};
    read_guarded(cbor, object, checker, [&] { read_record(cbor, object); });
    names.add(object.name);
  }
  if (const auto twice = names.find_duplicate(); twice.data() != nullptr)
    cbor.fail_at(start, "zt.object.duplicate", fmt::format("the object \"{}\" appears twice", quote(twice)));
}

// Reads an object of 1.0: {dtype, shape, format, components: {role: {offset, length, encoding?, digest?}}}. Index roles
// are u64, all others have the tensor's dtype.
void read_v10_object(CborReader& cbor, RawObject& object) {
  object.at = cbor.offset();
  std::string_view dtype;
  Fields fields(cbor, "zt.object.duplicate_field");
  for (auto entries = cbor.enter(CborMajor::map); cbor.next(entries);) {
    const std::string_view key = cbor.read_text();
    if (key == "dtype") {
      fields.meet(0, key);
      dtype = short_dtype(cbor.read_text());
    } else if (key == "shape") {
      fields.meet(1, key);
      read_shape(cbor, object.shape);
    } else if (key == "format") {
      fields.meet(2, key);
      object.layout = cbor.read_text();
    } else if (key == "components") {
      fields.meet(3, key);
      read_v10_components(cbor, object);
    } else {
      cbor.skip();
    }
  }
  static constexpr std::string_view kNeeded[] = {"dtype", "shape", "format", "components"};
  for (unsigned bit = 0; bit < std::size(kNeeded); ++bit)
    if (!fields.has(bit))
      cbor.fail_at(object.at, "zt.object.missing_field",
                   fmt::format("object \"{}\" has no \"{}\"", quote(object.name), kNeeded[bit]));
  static constexpr std::string_view kIndexRoles[] = {"indices", "indptr", "coords"};
  for (RawComponent& component : object.components) {
    const bool index =
        std::find(std::begin(kIndexRoles), std::end(kIndexRoles), component.role) != std::end(kIndexRoles);
    component.dtype = index ? std::string_view("u64") : dtype;
  }
}

}  // namespace tare::zt
