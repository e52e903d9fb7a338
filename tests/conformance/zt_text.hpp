// zTensor files of every version, assembled by hand.
#pragma once

#include <zstd.h>

#include "conformance/cbor_text.hpp"
#include "conformance/scratch.hpp"

namespace tare::testing::zt_text {

inline std::string le64(std::uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

// The header, and `data` at byte 64 (without padding if it is empty).
inline std::string front(std::string_view magic, const std::string& data) {
  return data.empty() ? std::string(magic) : std::string(magic) + std::string(56, '\0') + data;
}

// Container versions 1.1 and 1.2.
inline Bytes file(const std::string& data, const cbor::Item& manifest) {
  return to_bytes(front("ZTEN1000", data) + manifest + le64(manifest.size()) + "ZTEN1000");
}
inline Bytes file_v10(const std::string& data, const cbor::Item& manifest) {
  return to_bytes(front("ZTEN1000", data) + manifest + le64(manifest.size()));
}
inline Bytes file_v01(const std::string& data, const cbor::Item& manifest) {
  return to_bytes(front("ZTEN0001", data) + manifest + le64(manifest.size()));
}

using cbor::with;
using cbor::without;
using Entries = std::vector<cbor::Entry>;

inline Entries component(std::uint64_t offset, std::uint64_t length, std::string_view dtype = "f32") {
  return {{"dtype", cbor::text(dtype)}, {"offset", cbor::number(offset)}, {"length", cbor::number(length)}};
}

inline cbor::Item shape(const std::vector<std::uint64_t>& dimensions) {
  std::vector<cbor::Item> items;
  for (const auto d : dimensions) items.push_back(cbor::number(d));
  return cbor::array(items);
}

inline Entries object(const std::vector<std::uint64_t>& dimensions, std::string_view format,
                      const Entries& components) {
  return {{"shape", shape(dimensions)}, {"format", cbor::text(format)}, {"components", cbor::map(components)}};
}

// A dense f32 vector of two elements at byte 64, with which most cases start.
inline Entries dense_object(const Entries& data) { return object({2}, "dense", {{"data", cbor::map(data)}}); }

inline Entries root(const Entries& objects, std::string_view version = "1.2.0") {
  return {{"version", cbor::text(version)}, {"objects", cbor::map(objects)}};
}

inline const std::string kTwoFloats{"\0\0\x80\x3F\0\0\0\x40", 8};  // 1, 2

// The file with a single object "w".
inline Bytes one(const Entries& only, const std::string& data = kTwoFloats, std::string_view version = "1.2.0") {
  return file(data, cbor::map(root({{"w", cbor::map(only)}}, version)));
}
// The file with a single object "w", a dense vector with this component.
inline Bytes one_component(const Entries& data_component, const std::string& data = kTwoFloats,
                           std::string_view version = "1.2.0") {
  return one(dense_object(data_component), data, version);
}

inline std::string words(const std::vector<std::uint64_t>& numbers) {
  std::string out;
  for (const auto n : numbers) out += le64(n);
  return out;
}

inline std::string padded(std::string data, std::size_t alignment = 64) {
  data.resize((data.size() + alignment - 1) / alignment * alignment, '\0');
  return data;
}

// One compressed frame, with its size in the header.
inline std::string packed(const std::string& data) {
  std::string out(ZSTD_compressBound(data.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), data.data(), data.size(), 3));
  return out;
}

// One compressed frame as upstream's streaming writers make it, without its size.
inline std::string packed_stream(const std::string& data) {
  std::string out(ZSTD_compressBound(data.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), data.data(), data.size()));
  ZSTD_freeCCtx(context);
  return out;
}

}  // namespace tare::testing::zt_text
