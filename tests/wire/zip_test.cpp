// The zip syntax: what is read, what is refused and by which rule, and the canonical bytes that are written.
#include "wire/zip.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "tare/sink.hpp"
#include "wire/zip_writer.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using testing::bytes_of;
using testing::made;
using testing::MadeMember;
using testing::MadeZip;
using testing::make_zip;
using testing::patch;
using testing::text_of;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 kLimit = u64{1} << 30;

SourcePtr source_of(const std::string& bytes) { return memory_source(bytes_of(bytes), "test.zip"); }

std::vector<wire::ZipMember> read(const std::string& bytes) {
  Diagnostics strict;
  return wire::read_zip(*source_of(bytes), kLimit, strict);
}

// The rule that was broken; "" if none was.
std::string rule_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    return error.rule();
  }
}

std::string rule_of(const std::string& bytes) {
  return rule_of([&] { (void)read(bytes); });
}

// The rule that decoding every member breaks.
std::string data_rule_of(const std::string& bytes) {
  return rule_of([&] {
    const SourcePtr source = source_of(bytes);
    Diagnostics strict;
    const auto members = wire::read_zip(*source, kLimit, strict);
    for (const auto& member : members) (void)wire::zip_blob(source, member).bytes();
    wire::check_zip_crcs(*source, members, strict);
  });
}

MadeZip two() { return make_zip({made("a", "first"), made("b", std::string(1000, 'x'), true)}); }

struct Collected final : Diagnostics {
  std::vector<std::string> errors, warnings;
  void error(const Error& e) override { errors.push_back(e.rule()); }
  void warning(const Error& e) override { warnings.push_back(e.rule()); }
  bool thorough() const override { return true; }
};

TEST(ZipRead, StoredAndDeflated) {
  const MadeZip zip = two();
  const SourcePtr source = source_of(zip.bytes);
  Diagnostics strict;
  const auto members = wire::read_zip(*source, kLimit, strict);
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].name, "a");
  EXPECT_EQ(members[0].data, zip.members[0].data);
  const Blob a = wire::zip_blob(source, members[0]), b = wire::zip_blob(source, members[1]);
  EXPECT_TRUE(a.is_plain());
  EXPECT_EQ(text_of(a.bytes()), "first");
  EXPECT_EQ(b.encoding(), Encoding::deflate);
  EXPECT_LT(b.stored_size(), b.size());
  EXPECT_EQ(text_of(b.bytes()), std::string(1000, 'x'));
  EXPECT_EQ(text_of(wire::zip_blob(source, members[1], 990).bytes()), std::string(10, 'x'));
  std::byte one[2];
  b.read(998, one);
  EXPECT_EQ(one[1], std::byte{'x'});
  b.verify();
}

TEST(ZipRead, OrderIsThatOfLocalHeaders) {
  MadeZip zip = make_zip({made("b", "1"), made("a", "2")});
  // Swap the two directory entries, which have the same length.
  const std::size_t length = (zip.end - zip.directory) / 2;
  std::swap_ranges(zip.bytes.begin() + static_cast<long>(zip.directory),
                   zip.bytes.begin() + static_cast<long>(zip.directory + length),
                   zip.bytes.begin() + static_cast<long>(zip.directory + length));
  const auto members = read(zip.bytes);
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].name, "b");
}

TEST(ZipRead, EmptyArchiveAndComment) {
  EXPECT_TRUE(read(make_zip({}).bytes).empty());
  EXPECT_EQ(read(make_zip({made("a", "")}, std::string(65535, 'c')).bytes).size(), 1u);
  EXPECT_EQ(read(make_zip({made("a", "")}, "PK\5\6 is only a comment").bytes).size(), 1u);
}

TEST(ZipRead, DataDescriptorIsTolerated) {
  MadeMember member = made("a", "hello");
  member.flags = 8;
  std::string descriptor = "PK\7\10";
  testing::put<u32>(descriptor, member.crc);
  testing::put<u32>(descriptor, 5);
  testing::put<u32>(descriptor, 5);
  member.after = descriptor;
  MadeZip zip = make_zip({member, made("b", "x")});
  for (const std::size_t at : {14, 18, 22}) patch<u32>(zip.bytes, zip.members[0].local + at, 0);
  EXPECT_EQ(data_rule_of(zip.bytes), "");
  Collected found;
  wire::read_zip(*source_of(zip.bytes), kLimit, found);
  EXPECT_TRUE(found.warnings.empty());
}

TEST(ZipRead, EachLieHasItsRule) {
  const MadeZip good = two();
  ASSERT_EQ(data_rule_of(good.bytes), "");
  const MadeMember &a = good.members[0], &b = good.members[1];
  const auto with = [&](const std::function<void(std::string&)>& change) {
    std::string bytes = good.bytes;
    change(bytes);
    return rule_of(bytes);
  };
  const auto with16 = [&](std::size_t at, u64 value) { return with([&](auto& s) { patch<u16>(s, at, value); }); };
  const auto with32 = [&](std::size_t at, u64 value) { return with([&](auto& s) { patch<u32>(s, at, value); }); };

  EXPECT_EQ(with([](auto& s) { s.clear(); }), "zip.end.missing");
  EXPECT_EQ(with([](auto& s) { s += "tail"; }), "zip.end.missing");
  EXPECT_EQ(with([](auto& s) { s.insert(0, "#!/bin/sh\n"); }), "zip.directory.place");
  EXPECT_EQ(with16(good.end + 4, 1), "zip.disks");
  EXPECT_EQ(with16(good.end + 8, 1), "zip.disks");
  EXPECT_EQ(with32(good.end + 12, 0x7fffffff), "zip.directory.bounds");
  EXPECT_EQ(with32(good.end + 16, 0xfffffffe), "zip.directory.bounds");
  EXPECT_EQ(with32(good.end + 16, 0xffffffff), "zip.zip64.missing");
  EXPECT_EQ(with([&](auto& s) {
              patch<u16>(s, good.end + 8, 65535);
              patch<u16>(s, good.end + 10, 65535);
            }),
            "zip.directory.count");
  EXPECT_EQ(with([&](auto& s) {
              patch<u16>(s, good.end + 8, 1);
              patch<u16>(s, good.end + 10, 1);
            }),
            "zip.directory.size");
  EXPECT_EQ(with32(a.central, 0), "zip.directory.entry");
  EXPECT_EQ(with16(b.central + 32, 60000), "zip.directory.entry");
  EXPECT_EQ(with16(a.central + 8, 1), "zip.member.encrypted");
  EXPECT_EQ(with16(a.central + 8, 0x2000), "zip.member.encrypted");
  EXPECT_EQ(with16(a.central + 8, 1 << 5), "zip.member.patch");
  EXPECT_EQ(with16(a.central + 10, 12), "zip.member.method");
  EXPECT_EQ(with16(a.central + 34, 3), "zip.disks");
  EXPECT_EQ(with32(a.central + 24, 4), "zip.member.size");
  EXPECT_EQ(with32(b.central + 24, 0xfffffffe), "zip.member.ratio");
  EXPECT_EQ(with32(b.central + 24, 0xffffffff), "zip.zip64.missing");
  EXPECT_EQ(with32(a.central + 42, 0xfffffffe), "zip.member.bounds");
  EXPECT_EQ(with32(a.central + 42, 1), "zip.local.signature");
  EXPECT_EQ(with32(b.central + 20, 0x7fffffff), "zip.member.bounds");
  EXPECT_EQ(with([&](auto& s) { s[a.local + 30] = 'z'; }), "zip.local.name");
  EXPECT_EQ(with([&](auto& s) { s[a.central + 46] = '\0'; }), "zip.member.name");
  EXPECT_EQ(with16(a.local + 6, 1), "zip.local.flags");
  EXPECT_EQ(with16(a.local + 8, 8), "zip.local.method");
  EXPECT_EQ(with32(a.local + 14, 1), "zip.local.crc");
  EXPECT_EQ(with32(a.local + 22, 4), "zip.local.size");
  EXPECT_EQ(with32(a.local + 18, 4), "zip.local.size");
}

TEST(ZipRead, DuplicatesAndOverlaps) {
  EXPECT_EQ(rule_of(make_zip({made("a", "1"), made("a", "2")}).bytes), "zip.member.duplicate");
  // The same bytes under two names, as in a zip bomb. Each header has its own name, so one member must be inside the
  // other.
  const MadeZip inner = make_zip({made("in", "12345")});
  MadeZip zip = make_zip({made("out", inner.bytes.substr(0, inner.directory)), made("in", "12345")});
  patch<u32>(zip.bytes, zip.members[1].central + 42, zip.members[0].data);
  EXPECT_EQ(rule_of(zip.bytes), "zip.member.overlap");
  EXPECT_EQ(rule_of(make_zip({made("", "1")}).bytes), "zip.member.name");
}

TEST(ZipRead, ExtraFields) {
  const std::string padding = std::string("\x35\xd9\x04\x00\x40\x00\x00\x00", 8);
  MadeMember member = made("a", "x");
  member.local_extra = padding + std::string(3, '\0');
  EXPECT_EQ(rule_of(make_zip({member}).bytes), "");
  member.local_extra = std::string("\x35\xd9\x05\x00\x40\x00\x00\x00", 8);
  EXPECT_EQ(rule_of(make_zip({member}).bytes), "zip.extra.malformed");
  const std::string zip64 = std::string("\1\0\0\0", 4);
  member.local_extra = zip64 + zip64;
  EXPECT_EQ(rule_of(make_zip({member}).bytes), "zip.extra.duplicate");
}

// A data descriptor repeats the directory's numbers, in any of its four forms.
TEST(ZipRead, DataDescriptors) {
  const auto described = [](bool is_signed, bool wide, std::uint32_t crc_off, std::uint64_t stored_off,
                            std::uint64_t size_off) {
    MadeMember member = made("a", "hello");
    member.flags = 1 << 3;
    if (is_signed) member.after = "PK\7\x08";
    testing::put<u32>(member.after, member.crc ^ crc_off);
    for (const std::uint64_t value : {5 + stored_off, 5 + size_off})
      wide ? testing::put<u64>(member.after, value) : testing::put<u32>(member.after, value);
    MadeZip zip = make_zip({member, made("b", "x")});
    for (const std::size_t at : {14, 18, 22}) patch<u32>(zip.bytes, zip.members[0].local + at, 0);
    return zip.bytes;
  };
  for (const bool is_signed : {false, true})
    for (const bool wide : {false, true}) {
      SCOPED_TRACE(fmt::format("signature {}, zip64 {}", is_signed, wide));
      EXPECT_EQ(data_rule_of(described(is_signed, wide, 0, 0, 0)), "");
      EXPECT_EQ(rule_of(described(is_signed, wide, 1, 0, 0)), "zip.descriptor");
      EXPECT_EQ(rule_of(described(is_signed, wide, 0, 1, 0)), "zip.descriptor");
      EXPECT_EQ(rule_of(described(is_signed, wide, 0, 0, 1)), "zip.descriptor");
    }
  // No descriptor, at the end of the members.
  MadeMember last = made("a", "hello");
  last.flags = 1 << 3;
  EXPECT_EQ(rule_of(make_zip({last}).bytes), "zip.descriptor");
}

// As NumPy writes it: all ones and a zip64 record in the local header, plain numbers in the directory.
TEST(ZipRead, Zip64LocalSizes) {
  MadeMember member = made("a", "hello");
  member.local_extra = std::string("\1\0\x10\0", 4);
  testing::put<u64>(member.local_extra, 5);
  testing::put<u64>(member.local_extra, 5);
  MadeZip zip = make_zip({member});
  patch<u32>(zip.bytes, zip.members[0].local + 18, 0xffffffff);
  patch<u32>(zip.bytes, zip.members[0].local + 22, 0xffffffff);
  EXPECT_EQ(data_rule_of(zip.bytes), "");
  patch<u64>(zip.bytes, zip.members[0].data - 8, 6);
  EXPECT_EQ(rule_of(zip.bytes), "zip.local.size");
}

// An archive with a zip64 end record for numbers that the short one cannot hold.
MadeZip with_zip64_end() {
  MadeZip zip = make_zip({made("a", "hello")});
  std::string large = "PK\6\6";
  testing::put<u64>(large, 44);
  testing::put<u32>(large, 45 << 16 | 45);
  testing::put<u64>(large, 0);
  testing::put<u64>(large, 1);
  testing::put<u64>(large, 1);
  testing::put<u64>(large, zip.end - zip.directory);
  testing::put<u64>(large, zip.directory);
  large += "PK\6\7";
  testing::put<u32>(large, 0);
  testing::put<u64>(large, zip.end);
  testing::put<u32>(large, 1);
  zip.bytes.insert(zip.end, large);
  patch<u32>(zip.bytes, zip.end + 76 + 8, 0xffffffff);
  patch<u32>(zip.bytes, zip.end + 76 + 12, 0xffffffff);
  patch<u32>(zip.bytes, zip.end + 76 + 16, 0xffffffff);
  return zip;
}

TEST(ZipRead, Zip64End) {
  const MadeZip good = with_zip64_end();
  EXPECT_EQ(data_rule_of(good.bytes), "");
  const auto with64 = [&](std::size_t at, u64 value) {
    std::string bytes = good.bytes;
    patch<u64>(bytes, good.end + at, value);
    return rule_of(bytes);
  };
  EXPECT_EQ(with64(56 + 8, 0), "zip.zip64.place");
  EXPECT_EQ(with64(56 + 8, ~u64{0}), "zip.zip64.place");
  EXPECT_EQ(with64(4, 45), "zip.zip64.place");
  EXPECT_EQ(with64(16, 1), "zip.disks");
  EXPECT_EQ(with64(24, 2), "zip.disks");
  EXPECT_EQ(with64(40, ~u64{0}), "zip.directory.bounds");
  EXPECT_EQ(with64(48, u64{1} << 63), "zip.directory.bounds");
  std::string bytes = good.bytes;
  patch<u64>(bytes, good.end + 24, u64{1} << 60);
  patch<u64>(bytes, good.end + 32, u64{1} << 60);
  EXPECT_EQ(rule_of(bytes), "zip.directory.count");
  bytes = good.bytes;
  patch<u16>(bytes, good.end + 76 + 10, 7);
  patch<u16>(bytes, good.end + 76 + 8, 7);
  EXPECT_EQ(rule_of(bytes), "zip.zip64.disagree");
}

TEST(ZipRead, DirectoryLimit) {
  const SourcePtr source = source_of(two().bytes);
  Diagnostics strict;
  EXPECT_EQ(rule_of([&] { wire::read_zip(*source, 10, strict); }), "zip.directory.large");
}

TEST(ZipRead, CollectsAndGoesOn) {
  MadeZip zip = make_zip({made("a", "1"), made("b", "2"), made("c", "3")});
  patch<u16>(zip.bytes, zip.members[1].central + 8, 1);
  zip.bytes[zip.members[2].data] = '4';
  const SourcePtr source = source_of(zip.bytes);
  Collected found;
  const auto members = wire::read_zip(*source, kLimit, found);
  ASSERT_EQ(members.size(), 2u);
  wire::check_zip_crcs(*source, members, found);
  EXPECT_EQ(found.errors, (std::vector<std::string>{"zip.member.encrypted", "zip.member.crc"}));
  EXPECT_EQ(found.warnings, std::vector<std::string>{"zip.gap"});
}

TEST(ZipInflate, EachLieHasItsRule) {
  const std::string content(5000, 'q');
  const auto lie = [&](const std::function<void(MadeMember&)>& change) {
    MadeMember member = made("a", content, true);
    change(member);
    return data_rule_of(make_zip({member}).bytes);
  };
  EXPECT_EQ(lie([](auto&) {}), "");
  EXPECT_EQ(lie([](auto& m) { m.size -= 1; }), "zip.deflate.long");
  EXPECT_EQ(lie([](auto& m) { m.size += 1; }), "zip.deflate.short");
  EXPECT_EQ(lie([](auto& m) { m.stored.pop_back(); }), "zip.deflate.short");
  EXPECT_EQ(lie([](auto& m) { m.stored += "??"; }), "zip.deflate.trailing");
  EXPECT_EQ(lie([](auto& m) { m.crc ^= 1; }), "zip.member.crc");
  EXPECT_EQ(lie([](auto& m) { m.stored = std::string(40, '\xff'); }), "zip.deflate.bad");
  EXPECT_EQ(lie([](auto& m) { m.stored.clear(); }), "zip.member.ratio");
}

TEST(ZipInflate, EmptyStream) {
  MadeMember member = made("a", "", true);
  EXPECT_EQ(data_rule_of(make_zip({member}).bytes), "");
  member.stored = "";
  EXPECT_EQ(data_rule_of(make_zip({member}).bytes), "zip.deflate.short");
}

// A bomb of the highest possible density decodes, in bounded memory, to exactly the stated size.
TEST(ZipInflate, DensestStream) {
  const std::string zeros(std::size_t{8} << 20, '\0');
  const SourcePtr source = source_of(make_zip({made("a", zeros, true)}).bytes);
  EXPECT_LT(source->size(), 10000u);
  Diagnostics strict;
  const Blob blob = wire::zip_blob(source, wire::read_zip(*source, kLimit, strict).at(0));
  const auto reader = blob.open();
  Bytes part(1 << 16);
  for (std::size_t done = 0; done < zeros.size(); done += part.size()) {
    reader->read(part);
    ASSERT_TRUE(std::all_of(part.begin(), part.end(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

// Every truncation and every flipped bit: an Error or the same content.
TEST(ZipHostile, TruncationsAndFlips) {
  for (const std::string& good : {two().bytes, with_zip64_end().bytes}) {
    for (std::size_t length = 0; length < good.size(); ++length)
      EXPECT_NE(data_rule_of(good.substr(0, length)), "") << length;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string bytes = good;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      (void)data_rule_of(bytes);  // must return
    }
  }
}

// ---- writing

std::string write_to_memory(std::vector<wire::ZipEntry> entries, unsigned threads = 2) {
  MemorySink sink;
  wire::write_zip(sink, std::move(entries), threads, nullptr);
  return text_of(sink.bytes());
}

// A pipe, which can only be written forward.
class ForwardSink final : public Sink {
 public:
  const std::string& name() const override { return name_; }
  void commit() override {}
  std::string bytes;

 protected:
  void do_write(u64, std::span<const std::byte> part) override {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  }

 private:
  std::string name_ = "pipe";
};

std::vector<wire::ZipEntry> some_entries() {
  std::string large(20 << 20, 'L');
  for (std::size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>(i >> 8);
  return {{"b", bytes_of("front"), Blob::memory(bytes_of("body"))},
          {"a", {}, Blob::memory(bytes_of(large))},
          {"\xc3\xa9", bytes_of(std::string(100000, 'f')), Blob::memory({})},
          {std::string(300, 'n'), {}, Blob::memory({})}};
}

// Records whether another thread than its creator reads.
class OneThreadSource final : public Source {
 public:
  explicit OneThreadSource(std::string bytes) : Source("watched", bytes.size()), bytes_(std::move(bytes)) {}
  mutable std::atomic<int> elsewhere = 0;

 protected:
  void do_read(u64 offset, std::span<std::byte> out) const override {
    if (std::this_thread::get_id() != owner_) ++elsewhere;
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  std::string bytes_;
  std::thread::id owner_ = std::this_thread::get_id();
};

TEST(ZipRead, ChecksumsTakeNoMoreThreadsThanAskedFor) {
  const auto source = std::make_shared<OneThreadSource>(write_to_memory(some_entries()));
  Collected found;
  wire::check_zip_crcs(*source, wire::read_zip(*source, kLimit, found), found, 1);
  EXPECT_TRUE(found.errors.empty());
  EXPECT_EQ(source->elsewhere, 0);
}

TEST(ZipWrite, ReadsBackAlignedAndSorted) {
  const std::string bytes = write_to_memory(some_entries());
  const SourcePtr source = source_of(bytes);
  Collected found;
  const auto members = wire::read_zip(*source, kLimit, found);
  wire::check_zip_crcs(*source, members, found);
  EXPECT_TRUE(found.errors.empty());
  EXPECT_TRUE(found.warnings.empty());
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(members[0].name, "a");
  EXPECT_EQ(members[1].name, "b");
  EXPECT_EQ(members[3].name, "\xc3\xa9");
  EXPECT_EQ(members[3].flags, wire::kZipUtf8Flag);
  EXPECT_EQ(members[0].flags, 0);
  for (const auto& member : members) EXPECT_EQ(member.data % 64, 0u);
  EXPECT_EQ(text_of(wire::zip_blob(source, members[1]).bytes()), "frontbody");
}

TEST(ZipWrite, SameBytesForwardOnlyAndOnAnyThreads) {
  const std::string expected = write_to_memory(some_entries(), 1);
  EXPECT_EQ(write_to_memory(some_entries(), 3), expected);
  ForwardSink pipe;
  Progress progress;
  wire::write_zip(pipe, some_entries(), 2, &progress);
  EXPECT_EQ(pipe.bytes, expected);
  EXPECT_EQ(progress.done(), (u64{20} << 20) + 4);
}

TEST(ZipWrite, ExactBytes) {
  const std::string bytes = write_to_memory({{"a", bytes_of("hi"), Blob()}});
  std::string expected("PK\3\4\x14\0\0\0\0\0\0\0\x21\0\xac\x2a\x93\xd8\2\0\0\0\2\0\0\0\1\0\x21\0a", 31);
  expected += std::string("\x35\xd9\x1d\0\x40\0", 6) + std::string(27, '\0') + "hi";
  expected +=
      std::string("PK\1\2\x14\3\x14\0\0\0\0\0\0\0\x21\0\xac\x2a\x93\xd8\2\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0", 40);
  expected += std::string("\xa4\x81\0\0\0\0a", 7);
  expected += std::string("PK\5\6\0\0\0\0\1\0\1\0\x2f\0\0\0\x42\0\0\0\0\0", 22);
  EXPECT_EQ(bytes, expected);
}

// Every alignment of the header: the padding record is absent, short or long.
TEST(ZipWrite, AnyNameLength) {
  for (std::size_t length = 1; length <= 130; ++length) {
    const std::string bytes = write_to_memory({{std::string(length, 'n'), {}, Blob::memory(bytes_of("data"))}});
    const auto members = read(bytes);
    ASSERT_EQ(members.size(), 1u);
    EXPECT_EQ(members[0].data % 64, 0u) << length;
  }
}

// A reader that returns other bytes the second time.
class UnstableProducer final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  struct Reader final : BlobReader {
    explicit Reader(int v) : value(v) {}
    void read(std::span<std::byte> out) override { std::fill(out.begin(), out.end(), static_cast<std::byte>(value)); }
    int value;
  };
  std::unique_ptr<BlobReader> open(u64) const override { return std::make_unique<Reader>(opened_++); }

 private:
  mutable int opened_ = 0;
};

TEST(ZipWrite, ChangedBetweenPassesIsNoticed) {
  ForwardSink pipe;
  EXPECT_EQ(
      rule_of([&] {
        wire::write_zip(pipe, {{"a", {}, Blob::produced(10, std::make_shared<const UnstableProducer>())}}, 1, nullptr);
      }),
      "zip.write.changed");
}

// ---- larger than 4 GiB, but the zeros are not stored

class Zeros final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  struct Reader final : BlobReader {
    void read(std::span<std::byte> out) override { std::memset(out.data(), 0, out.size()); }
  };
  std::unique_ptr<BlobReader> open(u64) const override { return std::make_unique<Reader>(); }
  u64 seek_granularity() const override { return 1; }
};

using Kept = std::map<u64, Bytes>;

class SparseSink final : public Sink {
 public:
  const std::string& name() const override { return name_; }
  bool positional() const override { return true; }
  void commit() override {}
  Kept kept;

 protected:
  void do_write(u64 offset, std::span<const std::byte> bytes) override {
    if (bytes.size() == std::size_t{256} << 10) return;  // whole chunks are the zeros
    const std::scoped_lock lock(mutex_);
    kept[offset] = Bytes(bytes.begin(), bytes.end());
  }
  void do_skip(u64) override {}

 private:
  std::string name_ = "sparse";
  std::mutex mutex_;
};

class SparseSource final : public Source {
 public:
  SparseSource(u64 size, Kept kept) : Source("sparse", size), kept_(std::move(kept)) {}

 protected:
  void do_read(u64 offset, std::span<std::byte> out) const override {
    std::memset(out.data(), 0, out.size());
    for (const auto& [at, bytes] : kept_) {
      const u64 from = std::max(at, offset), to = std::min(at + bytes.size(), offset + out.size());
      if (from < to) std::memcpy(&out[from - offset], &bytes[from - at], to - from);
    }
  }

 private:
  Kept kept_;
};

TEST(ZipWrite, BeyondFourGibibytes) {
  const u64 huge = (u64{4} << 30) + 12345;
  SparseSink sink;
  std::vector<wire::ZipEntry> entries;
  entries.push_back({"a", bytes_of("front"), Blob::produced(huge, std::make_shared<const Zeros>())});
  entries.push_back({"b", {}, Blob::memory(bytes_of("after"))});
  wire::write_zip(sink, std::move(entries), 0, nullptr);
  const auto source = std::make_shared<SparseSource>(sink.position(), sink.kept);
  Collected found;
  const auto members = wire::read_zip(*source, kLimit, found);
  EXPECT_TRUE(found.errors.empty());
  EXPECT_TRUE(found.warnings.empty());
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].size, huge + 5);
  EXPECT_EQ(members[0].data % 64, 0u);
  EXPECT_GT(members[1].header, u64{4} << 30);
  EXPECT_EQ(members[1].data % 64, 0u);
  EXPECT_EQ(text_of(wire::zip_blob(source, members[1]).bytes()), "after");
  // "front" and 2^32 + 12345 zeros: the CRC-32 is combined from lengths by zlib.
  uLong expected = ::crc32(0, reinterpret_cast<const Bytef*>("front"), 5);
  const std::string block(1 << 20, '\0');
  const uLong block_crc = ::crc32(0, reinterpret_cast<const Bytef*>(block.data()), 1 << 20);
  for (int i = 0; i < 4096; ++i) expected = ::crc32_combine(expected, block_crc, 1 << 20);
  expected = ::crc32(expected, reinterpret_cast<const Bytef*>(block.data()), 12345);
  EXPECT_EQ(members[0].crc, expected);
}

TEST(ZipWrite, MoreThan65535Members) {
  std::vector<wire::ZipEntry> entries;
  for (int i = 0; i < 65540; ++i) entries.push_back({fmt::format("{:05}", i), {}, Blob()});
  const std::string bytes = write_to_memory(std::move(entries));
  const auto members = read(bytes);
  ASSERT_EQ(members.size(), 65540u);
  EXPECT_EQ(members.back().name, "65539");
  EXPECT_NE(bytes.find("PK\6\6"), std::string::npos);
}

}  // namespace
}  // namespace tare
