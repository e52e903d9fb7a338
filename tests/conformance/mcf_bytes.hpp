// MCF files written field by field, for tests that need invalid ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conformance/scratch.hpp"

namespace tare::testing::mcf_bytes {

template <typename T>
std::string le(T value) {
  std::string out(sizeof value, '\0');
  for (std::size_t i = 0; i < sizeof value; ++i)
    out[i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
  return out;
}
inline std::string u16(std::uint64_t v) { return le(static_cast<std::uint16_t>(v)); }
inline std::string u32(std::uint64_t v) { return le(static_cast<std::uint32_t>(v)); }
inline std::string u64(std::uint64_t v) { return le(v); }
inline std::string f32(float v) {
  std::uint32_t bits;
  std::memcpy(&bits, &v, 4);
  return u32(bits);
}
inline std::string padded(std::string text, std::size_t alignment) {
  text.resize((text.size() + alignment - 1) / alignment * alignment, '\0');
  return text;
}

struct Entry {
  std::string name;
  std::uint32_t dtype = 1;
  std::vector<std::uint64_t> shape;
  std::string payload;
  // Values of fields that differ from what follows from the above.
  std::map<std::string, std::uint64_t> lies = {};
};

struct Record {
  std::uint32_t tensor = 0;
  std::uint8_t method = 0x20, domain = 0;
  std::uint16_t block = 32, super = 0;
  std::string reserved = std::string(6, '\0');
  float min = -1, max = 1;
};

struct File {
  std::vector<Entry> tensors;  // payloads and index in this order, so list them sorted
  std::vector<Record> records;
  std::map<std::uint32_t, std::string> sections;  // other sections, by type; they override those made from the above
  std::map<std::string, std::uint64_t> lies;      // header and index fields
  bool quant_info = false;                        // written even if there are no records
  std::uint64_t alignment = 64;
  std::function<void(std::string&)> spoil = nullptr;  // changes the finished bytes

  std::uint64_t lie(const std::string& field, std::uint64_t truth) const {
    const auto found = lies.find(field);
    return found == lies.end() ? truth : found->second;
  }
};

inline std::string record_bytes(const Record& r) {
  return u32(r.tensor) + std::string(1, static_cast<char>(r.method)) + std::string(1, static_cast<char>(r.domain)) +
         u16(r.block) + u16(r.super) + r.reserved + f32(r.min) + f32(r.max);
}

inline std::string index_bytes(const File& file, const std::vector<std::uint64_t>& offsets) {
  std::string entries, dims, strings;
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const Entry& t = file.tensors[i];
    const auto field = [&](const std::string& name, std::uint64_t truth) {
      const auto found = t.lies.find(name);
      return found == t.lies.end() ? truth : found->second;
    };
    entries += u32(field("name_off", strings.size())) + u32(field("name_len", t.name.size())) +
               u32(field("dtype", t.dtype)) + u32(field("rank", t.shape.size())) +
               u32(field("dim_off", dims.size() / 8)) + u32(field("reserved", 0)) + u64(field("data_off", offsets[i])) +
               u64(field("data_size", t.payload.size()));
    for (const std::uint64_t d : t.shape) dims += u64(d);
    strings += t.name;
  }
  const std::uint64_t dims_off = 48 + entries.size(), strings_off = dims_off + dims.size();
  return u32(file.lie("index_version", 1)) + u32(file.lie("index_flags", 3)) +
         u32(file.lie("tensor_count", file.tensors.size())) + u32(file.lie("dims_count", dims.size() / 8)) +
         u64(file.lie("entries_off", 48)) + u64(file.lie("dims_off", dims_off)) +
         u64(file.lie("strings_off", strings_off)) + u64(file.lie("strings_size", strings.size())) + entries + dims +
         strings;
}

// The header, the sections by type (but TensorData before the index), the directory.
inline Bytes bytes_of(const File& file) {
  std::string body(40, '\0');
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> directory;
  const auto put = [&](std::uint32_t type, const std::string& bytes) {
    body = padded(body, 8);
    directory[type] = {body.size(), bytes.size()};
    body += bytes;
  };
  std::vector<std::uint64_t> offsets;
  std::string data;
  body = padded(body, 8);
  for (const Entry& t : file.tensors) {
    data.resize((body.size() + data.size() + file.alignment - 1) / file.alignment * file.alignment - body.size(), '\0');
    offsets.push_back(body.size() + data.size());
    data += t.payload;
  }
  const bool has = !file.tensors.empty();
  if (has || file.sections.contains(4)) put(4, file.sections.contains(4) ? file.sections.at(4) : data);
  if (has || file.sections.contains(3))
    put(3, file.sections.contains(3) ? file.sections.at(3) : index_bytes(file, offsets));
  if (!file.records.empty() || file.quant_info) {
    std::string records = u32(file.lie("quant_version", 1)) + u32(file.lie("record_count", file.records.size()));
    for (const Record& r : file.records) records += record_bytes(r);
    put(2, records);
  }
  for (const auto& [type, bytes] : file.sections)
    if (type != 3 && type != 4) put(type, bytes);
  body = padded(body, 8);
  const std::uint64_t at = body.size();
  for (const auto& [type, range] : directory) {
    const std::string number = "_" + std::to_string(type);
    const auto field = [&](const std::string& name, std::uint64_t truth) { return file.lie(name + number, truth); };
    if (file.lie("drop" + number, 0) != 0) continue;
    body += u32(field("type", type)) + u32(field("version", 1)) + u64(field("offset", range.first)) +
            u64(field("size", range.second));
  }
  const std::uint64_t count = (body.size() - at) / 24;
  const std::string header = std::string("MCF\0", 4) + u16(file.lie("major", 1)) + u16(file.lie("minor", 1)) +
                             u32(file.lie("header_size", 40)) + u32(file.lie("section_count", count)) +
                             u64(file.lie("directory_offset", at)) + u64(file.lie("file_size", body.size())) +
                             u64(file.lie("flags", 1));
  body.replace(0, 40, header);
  if (file.spoil) file.spoil(body);
  return to_bytes(body);
}

// ModelInfo: fields by name; pairs of key, type and value bytes; each string and value at the given place.
struct Info {
  std::map<std::string, std::uint64_t> fields;  // names of the fixed fields, and "version", "flags", "zero1", "zero2"
  std::string name, base;
  struct Pair {
    std::string key;
    std::uint32_t type = 3;
    std::string value;  // a string without its length
    std::map<std::string, std::uint64_t> lies = {};
  };
  std::vector<Pair> pairs;
};

inline std::string info_bytes(const Info& info) {
  const auto field = [&](const std::string& name, std::uint64_t truth) {
    const auto found = info.fields.find(name);
    return found == info.fields.end() ? truth : found->second;
  };
  std::string blobs;
  const auto put = [&](const std::string& bytes) {
    const std::uint64_t at = 88 + blobs.size();
    blobs = padded(blobs + bytes, 8);
    return at;
  };
  const auto string = [&](const std::string& text) { return text.empty() ? 0 : put(u32(text.size()) + text); };
  const std::uint64_t name = string(info.name), base = string(info.base);
  std::string table;
  for (const auto& pair : info.pairs) {
    const auto lie = [&](const std::string& what, std::uint64_t truth) {
      const auto found = pair.lies.find(what);
      return found == pair.lies.end() ? truth : found->second;
    };
    const std::uint64_t key = string(pair.key);
    const std::uint64_t value = pair.type == 3 ? string(pair.value) : put(pair.value);
    table +=
        u64(lie("key_off", key)) + u32(lie("type", pair.type)) + u32(lie("zero", 0)) + u64(lie("value_off", value));
  }
  std::string out = u32(field("version", 1)) + u32(field("flags", 0)) + u32(field("arch", 0)) + u32(field("zero1", 0));
  for (const char* const integer :
       {"vocab", "hidden", "layers", "heads", "kv_heads", "context", "train_context", "rope_type"})
    out += u32(field(integer, 0));
  out += u32(field("rope_base", 0)) + u32(field("rope_scale", 0));
  out += u64(field("model_name_off", name)) + u64(field("base_model_off", base));
  out += u32(field("kv_count", info.pairs.size())) + u32(field("zero2", 0));
  out += u64(field("kv_off", info.pairs.empty() ? 0 : 88 + blobs.size()));
  return out + blobs + table;
}

}  // namespace tare::testing::mcf_bytes
