// zTensor 2 files, assembled by hand.
#pragma once

#include <zstd.h>

#include "conformance/cbor_text.hpp"
#include "conformance/scratch.hpp"
#include "tare/digest.hpp"

namespace tare::testing::zt2_text {

using cbor::Item;
using Entries = std::vector<cbor::Entry>;

inline const std::string kMagic("\x89ZT2\r\n\x1A\n", 8);

inline std::string le(std::uint64_t value, int width = 8) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

// Sorts keys by their encoded bytes.
inline Item map(Entries entries) {
  std::ranges::sort(entries, {}, [](const cbor::Entry& entry) { return cbor::text(entry.first); });
  return cbor::map(entries);
}

inline std::string hex_of(DigestAlgorithm algorithm, const std::string& bytes) {
  return digest_of(algorithm, std::as_bytes(std::span(bytes))).hex();
}
inline std::string xxh3(const std::string& bytes) { return "xxh3:" + hex_of(DigestAlgorithm::xxh3, bytes); }

inline std::string padded(std::string data, std::size_t alignment = 4096) {
  data.resize((data.size() + alignment - 1) / alignment * alignment, '\0');
  return data;
}

struct FooterText {
  std::optional<std::uint64_t> offset, length;
  std::optional<std::string> hash;
  std::uint64_t version = 2, reserved = 0;
  std::string magic = kMagic;
};

// The magic, `data` from byte 4096 on, the manifest on the next page, the footer.
inline std::string file_text(const std::string& data, const Item& manifest, const FooterText& footer = {}) {
  std::string out = padded(padded(kMagic) + data);
  std::string hash = hex_of(DigestAlgorithm::xxh3, manifest), bytes;  // big-endian digits
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(std::stoi(hash.substr(14 - 2 * i, 2), nullptr, 16));
  const std::uint64_t offset = out.size();
  out += manifest;
  out += le(footer.offset.value_or(offset)) + le(footer.length.value_or(manifest.size())) + footer.hash.value_or(bytes);
  return out + le(footer.version, 4) + le(footer.reserved, 4) + footer.magic;
}
inline Bytes file(const std::string& data, const Item& manifest, const FooterText& footer = {}) {
  return to_bytes(file_text(data, manifest, footer));
}

inline Item numbers(const std::vector<std::uint64_t>& all) {
  std::vector<Item> items;
  for (const auto n : all) items.push_back(cbor::number(n));
  return cbor::array(items);
}

inline Entries part(std::uint64_t offset, std::uint64_t length, std::string_view dtype = "f32") {
  return {{"blob", numbers({offset, length})}, {"dtype", cbor::text(dtype)}};
}

inline Entries object(const std::vector<std::uint64_t>& shape, std::string_view layout, const Entries& parts) {
  return {{"shape", numbers(shape)}, {"layout", cbor::text(layout)}, {"parts", map(parts)}};
}

inline const std::string kTwoFloats{"\0\0\x80\x3F\0\0\0\x40", 8};  // 1, 2

// A vector of two floats, which most cases start from.
inline Entries dense(const Entries& data) { return object({2}, "dense", {{"data", map(data)}}); }
inline Item root(const Entries& objects) { return map({{"objects", map(objects)}}); }

inline Bytes one(const Entries& only, const std::string& data = kTwoFloats) {
  return file(data, root({{"w", map(only)}}));
}
inline Bytes one_part(const Entries& data_part, const std::string& data = kTwoFloats) {
  return one(dense(data_part), data);
}

inline std::string words(const std::vector<std::uint64_t>& all, int width = 8) {
  std::string out;
  for (const auto n : all) out += le(n, width);
  return out;
}

// One frame with a checksum, and frames with their table.
inline std::string frame(const std::string& data, bool checksum = true) {
  std::string out(ZSTD_compressBound(data.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), data.data(), data.size()));
  ZSTD_freeCCtx(context);
  return out;
}
struct SeekText {
  std::string frames = {}, table = {};
  std::uint32_t count = 0;
  std::string descriptor = std::string(1, '\0');
  SeekText& add(const std::string& packed, std::uint64_t decoded) {
    frames += packed;
    table += le(packed.size(), 4) + le(decoded, 4);
    ++count;
    return *this;
  }
  std::string text() const {
    return frames + le(0x184D2A5E, 4) + le(table.size() + 9, 4) + table + le(count, 4) + descriptor + le(0x8F92EAB1, 4);
  }
};

inline Entries packed_part(const std::string& stored, std::uint64_t decoded, std::string_view dtype = "f32",
                           std::string_view encoding = "zt.zstd-seekable/1") {
  Entries entries = part(4096, stored.size(), dtype);
  entries.emplace_back("encoding", cbor::text(encoding));
  entries.emplace_back("decoded_length", cbor::number(decoded));
  return entries;
}

}  // namespace tare::testing::zt2_text
