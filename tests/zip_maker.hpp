// Makes zip archives byte by byte, so that tests can break each in one place.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "tare/value.hpp"

namespace tare::testing {

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

inline std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

inline std::string deflate_raw(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A member as the archive describes it; every field may be false.
struct MadeMember {
  std::string name, stored;
  std::uint16_t method = 0, flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  std::string local_extra, central_extra, after;
  // Filled in by `make_zip`.
  std::size_t local = 0, data = 0, central = 0;
};

inline MadeMember made(std::string name, std::string_view content, bool deflated = false) {
  MadeMember member;
  member.name = std::move(name);
  member.stored = deflated ? deflate_raw(content) : std::string(content);
  member.method = deflated ? 8 : 0;
  member.crc = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
  member.size = content.size();
  return member;
}

template <typename T>
void put(std::string& out, std::uint64_t value) {
  char field[sizeof(T)];
  store_le(field, static_cast<T>(value));
  out.append(field, sizeof field);
}

template <typename T>
void patch(std::string& out, std::size_t at, std::uint64_t value) {
  store_le(out.data() + at, static_cast<T>(value));
}

struct MadeZip {
  std::string bytes;
  std::vector<MadeMember> members;
  std::size_t directory = 0, end = 0;
};

inline void put_common(std::string& out, const MadeMember& m, std::size_t extra) {
  put<std::uint16_t>(out, m.flags);
  put<std::uint16_t>(out, m.method);
  put<std::uint32_t>(out, 0x00210000);
  put<std::uint32_t>(out, m.crc);
  put<std::uint32_t>(out, m.stored.size());
  put<std::uint32_t>(out, m.size);
  put<std::uint16_t>(out, m.name.size());
  put<std::uint16_t>(out, extra);
}

inline MadeZip make_zip(std::vector<MadeMember> members, std::string_view comment = "") {
  MadeZip zip;
  for (MadeMember& m : members) {
    m.local = zip.bytes.size();
    zip.bytes += "PK\3\4";
    put<std::uint16_t>(zip.bytes, 20);
    put_common(zip.bytes, m, m.local_extra.size());
    zip.bytes += m.name + m.local_extra;
    m.data = zip.bytes.size();
    zip.bytes += m.stored + m.after;
  }
  zip.directory = zip.bytes.size();
  for (MadeMember& m : members) {
    m.central = zip.bytes.size();
    zip.bytes += "PK\1\2";
    put<std::uint16_t>(zip.bytes, 20);
    put<std::uint16_t>(zip.bytes, 20);
    put_common(zip.bytes, m, m.central_extra.size());
    for (int i = 0; i < 3; ++i) put<std::uint16_t>(zip.bytes, 0);
    put<std::uint32_t>(zip.bytes, 0);
    put<std::uint32_t>(zip.bytes, m.local);
    zip.bytes += m.name + m.central_extra;
  }
  zip.end = zip.bytes.size();
  zip.bytes += "PK\5\6";
  put<std::uint32_t>(zip.bytes, 0);
  put<std::uint16_t>(zip.bytes, members.size());
  put<std::uint16_t>(zip.bytes, members.size());
  put<std::uint32_t>(zip.bytes, zip.end - zip.directory);
  put<std::uint32_t>(zip.bytes, zip.directory);
  put<std::uint16_t>(zip.bytes, comment.size());
  zip.bytes += comment;
  zip.members = std::move(members);
  return zip;
}

}  // namespace tare::testing
