// The files of conformance/zt2_cases.hpp, and a check that each breaks its rule.
#include <set>

#include "conformance/zt2_cases.hpp"
#include "tare/inspect.hpp"

namespace tare::testing {
namespace {

using namespace zt2_text;
using cbor::with;
using cbor::without;
using Found = Zt2Case::Found;

Entries named(std::string_view name) { return {{std::string(name), map(dense(part(4096, 8)))}}; }
Item with_attributes(const Item& attributes) { return map({{"objects", map({})}, {"attributes", attributes}}); }
Item shards(const Entries& table, const Entries& objects) {
  return map({{"shards", map(table)}, {"objects", map(objects)}});
}
Entries shard(std::uint64_t size = 65536, std::string_view digest = "xxh3:0123456789abcdef") {
  return {{"size", cbor::number(size)}, {"digest", cbor::text(digest)}};
}
Entries in_shard(std::string_view name) { return with(part(4096, 8), "shard", cbor::text(name)); }

void add_frame(std::vector<Zt2Case>& cases) {
  const std::string good = file_text(kTwoFloats, root({{"w", map(dense(part(4096, 8)))}}));
  const auto add = [&](std::string rule, std::string name, const std::string& text) {
    cases.push_back({Found::on_open, std::move(rule), std::move(name), to_bytes(text)});
  };
  const Item manifest = root({});
  add("zt2.truncated", "ten_bytes", good.substr(0, 10));
  add("zt2.footer.magic", "other", good.substr(0, good.size() - 1) + "?");
  add("zt2.version", "three", file_text("", manifest, {.version = 3}));
  add("zt2.manifest.size", "two_gib", file_text("", manifest, {.length = std::uint64_t{2} << 30}));
  add("zt2.manifest.bounds", "beyond", file_text("", manifest, {.length = 100}));
  add("zt2.manifest.bounds", "far", file_text("", manifest, {.offset = std::uint64_t{1} << 40}));
  add("zt2.manifest.bounds", "no_length", file_text("", manifest, {.length = 0}));
  add("zt2.blob.misaligned", "manifest", file_text("", manifest, {.offset = 4097}));
  add("zt2.manifest.hash", "wrong", file_text("", manifest, {.hash = std::string(8, '!')}));
}

void add_cbor(std::vector<Zt2Case>& cases) {
  const auto add = [&](std::string rule, std::string name, const Item& manifest) {
    cases.push_back({Found::on_open, std::move(rule), std::move(name), file("", manifest)});
  };
  const auto value = [](const Item& item) { return with_attributes(map({{"a", item}})); };
  add("zt2.cbor.syntax", "trailing", root({}) + std::string(1, '\0'));
  add("zt2.cbor.syntax", "cut", root({}).substr(0, 5));
  add("zt2.cbor.syntax", "tag", value(cbor::tag(1, cbor::number(5))));
  add("zt2.cbor.syntax", "indefinite", value(cbor::indefinite_array({})));
  add("zt2.cbor.syntax", "reserved", value("\x1C"));
  add("zt2.cbor.syntax", "undefined", value("\xF7"));
  add("zt2.cbor.syntax", "simple", value("\xE0"));
  add("zt2.cbor.syntax", "utf8", value(cbor::text("\xFF")));
  add("zt2.cbor.syntax", "count", value(cbor::head(4, std::uint64_t{1} << 40)));
  add("zt2.cbor.syntax", "length", value(cbor::head(2, std::uint64_t{1} << 62)));
  add("zt2.cbor.form", "long_number", value(cbor::number(5, 1)));
  add("zt2.cbor.form", "long_float", value(std::string("\xFA\x3F\x80\0\0", 5)));
  add("zt2.cbor.form", "double_float", value(std::string("\xFB\x3F\xF0\0\0\0\0\0\0", 9)));
  add("zt2.cbor.form", "nan", value("\xF9\x7E\x01"));
  add("zt2.cbor.form", "wide_nan", value(std::string("\xFA\x7F\xC0\0\0", 5)));
  add("zt2.cbor.form", "order", cbor::map({{"objects", map({})}, {"abc", cbor::number(1)}}));
  add("zt2.cbor.form", "deep_order", value(cbor::map({{"b", cbor::number(1)}, {"a", cbor::number(1)}})));
  add("zt2.cbor.duplicate", "key", cbor::map({{"objects", map({})}, {"objects", map({})}}));
  Item deep = cbor::number(0);
  for (int i = 0; i < 31; ++i) deep = cbor::array({deep});  // at depth 2 + 31
  add("zt2.cbor.depth", "thirty_three", value(deep));
}

void add_schema(std::vector<Zt2Case>& cases) {
  const auto add = [&](std::string rule, std::string name, Bytes bytes) {
    cases.push_back({Found::on_open, std::move(rule), std::move(name), std::move(bytes)});
  };
  const auto bad_part = [&](std::string rule, std::string name, const Entries& entries) {
    add(std::move(rule), std::move(name), one_part(entries));
  };
  const Entries good = part(4096, 8);
  add("zt2.schema", "not_a_map", file("", cbor::array({})));
  add("zt2.schema", "no_objects", file("", map({{"attributes", map({})}})));
  add("zt2.schema", "objects_not_a_map", file("", map({{"objects", cbor::array({})}})));
  add("zt2.schema", "attributes_not_a_map", file("", with_attributes(cbor::array({}))));
  add("zt2.schema", "attribute_key", file("", with_attributes(cbor::head(5, 1) + cbor::number(1) + cbor::number(2))));
  add("zt2.schema", "object_key", file("", map({{"objects", cbor::head(5, 1) + cbor::number(1) + cbor::number(2)}})));
  for (const char* const field : {"shape", "layout", "parts"})
    add("zt2.schema", std::string("no_") + field, one(without(dense(good), field)));
  add("zt2.schema", "no_parts_at_all", one(with(dense(good), "parts", map({}))));
  add("zt2.schema", "object_attributes", one(with(dense(good), "attributes", cbor::null())));
  for (const char* const field : {"dtype", "blob"})
    bad_part("zt2.schema", std::string("part_without_") + field, without(good, field));
  bad_part("zt2.schema", "dtype_f4", with(good, "dtype", cbor::text("f4")));
  bad_part("zt2.schema", "dtype_bool", with(good, "dtype", cbor::text("bool")));
  bad_part("zt2.schema", "blob_of_one", with(good, "blob", numbers({4096})));
  bad_part("zt2.schema", "blob_of_three", with(good, "blob", numbers({0, 4096, 8})));
  bad_part("zt2.schema", "type_null", with(good, "type", cbor::null()));
  bad_part("zt2.schema", "type_over_other", with(good, "type", cbor::text("bool")));
  bad_part("zt2.schema", "encoding_alone", with(good, "encoding", cbor::text("zt.zstd-seekable/1")));
  bad_part("zt2.schema", "decoded_alone", with(good, "decoded_length", cbor::number(8)));
  bad_part("zt2.schema", "digest_upper_case", with(good, "digest", cbor::text("xxh3:0123456789ABCDEF")));
  bad_part("zt2.schema", "digest_without_colon", with(good, "digest", cbor::text("xxh3")));
  add("zt2.name", "empty", file(kTwoFloats, root(named(""))));
  add("zt2.name", "nul", file(kTwoFloats, root(named(std::string_view("a\0b", 3)))));
  add("zt2.name", "long", file(kTwoFloats, root(named(std::string(1025, 'n')))));
  add("zt2.name", "part", one(object({2}, "x.y/1", {{"", map(good)}})));
  add("zt2.name", "attribute_empty", file("", with_attributes(map({{"", cbor::number(1)}}))));
  add("zt2.name", "attribute_nul", file("", with_attributes(map({{std::string("\0", 1), cbor::number(1)}}))));
  add("zt2.shape", "rank_65", one(object(std::vector<std::uint64_t>(65, 1), "dense", {{"data", map(good)}})));
  add("zt2.shape", "product",
      one(object({std::uint64_t{1} << 33, std::uint64_t{1} << 33}, "dense", {{"data", map(good)}})));
  Entries many;
  for (int i = 0; i < 1025; ++i) many.emplace_back(std::to_string(10000 + i), map(part(4096, 0, "u8")));
  cases.push_back({Found::on_open, "zt2.object.parts", "many", one(object({1}, "x.y/1", many))});
}

void add_places(std::vector<Zt2Case>& cases) {
  const auto add = [&](std::string rule, std::string name, Bytes bytes) {
    cases.push_back({Found::on_open, std::move(rule), std::move(name), std::move(bytes)});
  };
  const auto bytes_at = [](std::uint64_t offset, std::uint64_t count) {
    return map(object({count}, "dense", {{"data", map(part(offset, count, "u8"))}}));
  };
  add("zt2.blob.misaligned", "offset", one_part(part(4100, 8)));
  add("zt2.blob.misaligned", "zero", one_part(part(0, 8)));
  add("zt2.blob.bounds", "beyond", one_part(part(std::uint64_t{1} << 20, 8)));
  add("zt2.blob.bounds", "wraps",
      one(object({std::uint64_t{1} << 61}, "x.y/1", {{"d", map(part(4096, UINT64_MAX - 100))}})));
  add("zt2.blob.overlap", "partly",
      file(std::string(8192, 'x'), root({{"a", bytes_at(4096, 5000)}, {"b", bytes_at(8192, 8)}})));
  add("zt2.blob.overlap", "longer",
      file(std::string(4100, 'x'), root({{"a", bytes_at(4096, 8)}, {"b", bytes_at(4096, 16)}})));
  add("zt2.blob.overlap", "manifest", file(kTwoFloats, root({{"a", bytes_at(4096, 4100)}})));
  const auto in_other = [](std::uint64_t offset, std::uint64_t count) {
    return map(object({count}, "dense", {{"data", map(with(part(offset, count, "u8"), "shard", cbor::text("s")))}}));
  };
  add("zt2.blob.overlap", "in_shard",
      file("", shards({{"s", map(shard())}}, {{"a", in_other(4096, 5000)}, {"b", in_other(8192, 8)}})));
  cases.back().rule = "zt2.shard.memory";  // found first if there are no files to search
  for (const auto& [name, label] : std::vector<std::pair<std::string, std::string>>{
           {"traversal", "../x"}, {"separator", "a/b"}, {"empty", ""}, {"dot", ".a"}, {"long", std::string(65, 'a')}})
    add("zt2.shard.name", name, file("", shards({{label, map(shard())}}, {})));
  add("zt2.shard.unknown", "not_in_table", one_part(in_shard("s")));
  add("zt2.schema", "shard_key",
      file("", map({{"shards", cbor::head(5, 1) + cbor::number(1) + map(shard())}, {"objects", map({})}})));
  add("zt2.schema", "shard_without_size", file("", shards({{"s", map(without(shard(), "size"))}}, {})));
  add("zt2.schema", "shard_without_digest", file("", shards({{"s", map(without(shard(), "digest"))}}, {})));
  add("zt2.schema", "shard_small", file("", shards({{"s", map(shard(47))}}, {})));
  add("zt2.shard.memory", "table", file("", shards({{"s", map(shard())}}, {})));
}

void add_layouts(std::vector<Zt2Case>& cases) {
  const auto add = [&](std::string rule, std::string name, Bytes bytes, Found found = Found::on_open) {
    cases.push_back({found, std::move(rule), std::move(name), std::move(bytes)});
  };
  const Entries f4 = with(part(4096, 4, "u8"), "type", cbor::text("f4_e2m1"));
  add("zt2.dense.size", "short", one(object({3}, "dense", {{"data", map(part(4096, 8))}})));
  add("zt2.dense.size", "f4", one(object({5}, "dense", {{"data", map(f4)}})));
  add("zt2.layout.parts", "dense_two",
      one(object({2}, "dense", {{"data", map(part(4096, 8))}, {"more", map(part(4096, 8))}})));
  add("zt2.layout.parts", "dense_other", one(object({2}, "dense", {{"datum", map(part(4096, 8))}})));

  const auto csr = [](const std::vector<std::uint64_t>& indices, const std::vector<std::uint64_t>& indptr) {
    return padded(words(indices)) + padded(words(indptr)) + std::string(12, '\0');
  };
  const Entries parts = {{"indices", map(part(4096, 24, "u64"))},
                         {"indptr", map(part(8192, 24, "u64"))},
                         {"values", map(part(12288, 12))}};
  const std::string data = csr({0, 2, 1}, {0, 2, 3});
  const auto matrix = [&](const Entries& all, const std::vector<std::uint64_t>& shape = {2, 3}) {
    return one(object(shape, "zt.sparse_csr/1", all), data);
  };
  add("zt2.layout.rank", "csr", matrix(parts, {6}));
  add("zt2.layout.parts", "csr", matrix(without(parts, "values")));
  add("zt2.layout.type", "csr_signed", matrix(with(parts, "indices", map(part(4096, 24, "i64")))));
  add("zt2.layout.type", "csr_mixed", matrix(with(parts, "indptr", map(part(8192, 12, "u32")))));
  add("zt2.layout.size", "csr_indptr", matrix(parts, {3, 3}));
  add("zt2.layout.size", "csr_values", matrix(with(parts, "values", map(part(12288, 8)))));
  add("zt2.csr.indptr_start", "one", one(object({2, 3}, "zt.sparse_csr/1", parts), csr({0, 2, 1}, {1, 2, 3})),
      Found::by_verify);
  add("zt2.csr.column", "outside", one(object({2, 3}, "zt.sparse_csr/1", parts), csr({0, 3, 1}, {0, 2, 3})),
      Found::by_verify);
  add("zt2.csr.indptr_order", "falls", one(object({2, 3}, "zt.sparse_csr/1", parts), csr({0, 2, 1}, {0, 4, 3})),
      Found::by_verify);
  add("zt2.csr.indptr_end", "short", one(object({2, 3}, "zt.sparse_csr/1", parts), csr({0, 2, 1}, {0, 1, 2})),
      Found::by_verify);
  add("zt2.csr.order", "falls", one(object({2, 3}, "zt.sparse_csr/1", parts), csr({2, 0, 1}, {0, 2, 3})),
      Found::by_verify);

  const auto small = [&](const std::vector<std::uint64_t>& indices, std::string_view values) {
    const Entries four = with(part(12288, 2, "u8"), "type", cbor::text("f4_e2m1"));
    return one(object({2, 3}, "zt.sparse_csr/1", with(parts, "values", map(four))),
               padded(words(indices)) + padded(words({0, 2, 3})) + std::string(values));
  };
  add("zt2.csr.column", "f4", small({0, 3, 1}, "\x92\x07"), Found::by_verify);
  add("zt2.data.nibble", "csr", small({0, 2, 1}, "\x92\x17"), Found::by_verify);

  // Repeated places, which the profile forbids, in order and out of order.
  for (const int width : {4, 8}) {
    const std::string dtype = "u" + std::to_string(8 * width);
    const auto bytes = static_cast<std::uint64_t>(6 * width);
    const auto list = [&](const std::vector<std::uint64_t>& coords) {
      return one(object({2, 3}, "zt.sparse_coo/1",
                        {{"coords", map(part(4096, bytes, dtype))}, {"values", map(part(8192, 12))}}),
                 padded(words(coords, width)) + std::string(12, '\0'));
    };
    add("zt2.coo.bounds", "outside_" + dtype, list({0, 0, 2, 0, 1, 1}), Found::by_verify);
    add("zt2.coo.duplicate", "beside_" + dtype, list({0, 0, 1, 2, 2, 1}), Found::by_verify);
    add("zt2.coo.duplicate", "apart_" + dtype, list({1, 0, 1, 2, 0, 2}), Found::by_verify);
  }

  // Rules of profiles that other readers do not check: the object is carried, and verify warns.
  const auto warned = [&](std::string rule, std::string name, const Entries& entries) {
    add(std::move(rule), std::move(name), one(entries, std::string(4100, 'x')), Found::by_verify);
  };
  const Entries coo = {{"coords", map(part(4096, 16, "u64"))}, {"values", map(part(8192, 4))}};
  warned("zt2.layout.parts", "coo", object({2, 2}, "zt.sparse_coo/1", without(coo, "values")));
  warned("zt2.layout.type", "coo", object({2, 2}, "zt.sparse_coo/1", with(coo, "coords", map(part(4096, 16, "i64")))));
  warned("zt2.layout.size", "coo", object({2, 2}, "zt.sparse_coo/1", with(coo, "coords", map(part(4096, 24, "u64")))));
  warned("zt2.layout.attributes", "blocks", object({32}, "gguf.q4_0/1", {{"data", map(part(4096, 18, "u8"))}}));
  warned("zt2.layout.attributes", "mx",
         object({32}, "zt.mx/1",
                {{"data", map(with(part(4096, 16, "u8"), "type", cbor::text("f4_e2m1")))},
                 {"scales", map(with(part(8192, 1, "u8"), "type", cbor::text("f8_e8m0")))}}));
  warned("zt2.layout.attributes", "group",
         object({32}, "zt.quant_group/1", {{"data", map(part(4096, 16, "u8"))}, {"scales", map(part(8192, 4))}}));
}

void add_data(std::vector<Zt2Case>& cases) {
  const auto add = [&](std::string rule, std::string name, Bytes bytes) {
    cases.push_back({Found::by_verify, std::move(rule), std::move(name), std::move(bytes)});
  };
  add("digest.mismatch", "xxh3", one_part(with(part(4096, 8), "digest", cbor::text("xxh3:0123456789abcdef"))));
  add("digest.mismatch", "sha256",
      one_part(with(part(4096, 8), "digest", cbor::text("sha256:" + std::string(64, '0')))));
  add("zt2.digest.absent", "one_of_one", one_part(part(4096, 8)));
  add("zt2.digest.form", "short", one_part(with(part(4096, 8), "digest", cbor::text("xxh3:0123"))));
  add("zt2.digest.unknown", "blake", one_part(with(part(4096, 8), "digest", cbor::text("blake3:0123"))));
  add("zt2.bool.value", "two",
      one(object({2}, "dense", {{"data", map(with(part(4096, 2, "u8"), "type", cbor::text("bool")))}}), "\1\2"));
  add("zt2.data.nibble", "set",
      one(object({3}, "dense", {{"data", map(with(part(4096, 2, "u8"), "type", cbor::text("f4_e2m1")))}}), "\x11\x11"));
  add("zt2.data.nonfinite", "nan", one(dense(part(4096, 8)), std::string("\0\0\xC0\x7F\0\0\0\0", 8)));
  add("zt2.layout.unknown", "strange", one(object({2}, "x.custom/1", {{"d", map(part(4096, 8))}})));
  add("zt2.key.unknown", "root", file("", map({{"objects", map({})}, {"future", cbor::number(1)}})));
  add("zt2.private.malformed", "config", file("", with_attributes(map({{"tare.config", cbor::number(1)}}))));
  add("zt2.data_shard", "no_manifest", to_bytes(kMagic + std::string(24, '\0') + le(2, 4) + le(0, 4) + kMagic));
  add("zt2.canonical", "pages", one_part(with(part(4096, 8), "digest", cbor::text(xxh3(kTwoFloats)))));

  const std::string half = frame(kTwoFloats.substr(0, 4)), whole = frame(kTwoFloats);
  const auto packed = [&](std::string name, const std::string& stored, std::uint64_t decoded = 8) {
    add("zt2.encoding", std::move(name), one_part(packed_part(stored, decoded), stored));
  };
  const SeekText good = SeekText().add(whole, 8);
  packed("no_table", whole + std::string(20, '\0'));
  packed("short", whole.substr(0, 12));
  packed("descriptor", [&] {
    SeekText t = good;
    t.descriptor = "\1";
    return t.text();
  }());
  packed("count", [&] {
    SeekText t = good;
    t.count = 1000;
    return t.text();
  }());
  packed("total", SeekText().add(half, 4).text());
  packed("no_checksum", SeekText().add(frame(kTwoFloats, false), 8).text());
  packed("frame_size", SeekText().add(whole, 4).add(frame(""), 4).text());
  packed("garbage", SeekText().add(std::string(20, 'x'), 8).text());
  packed("gap", [&] {
    SeekText t = good;
    t.frames += "gap";
    return t.text();
  }());
  packed("flipped", [&] {
    SeekText t = good;
    t.frames[t.frames.size() - 1] ^= 1;
    return t.text();
  }());
  add("zt2.encoding.unknown", "lz9", one_part(packed_part(kTwoFloats, 8, "f32", "x.lz9/1"), kTwoFloats));
  const std::string uneven = SeekText().add(frame("abcd"), 4).add(frame("abc"), 3).add(frame("a"), 1).text();
  add("zt2.encoding", "uneven", one(object({8}, "dense", {{"data", map(packed_part(uneven, 8, "u8"))}}), uneven));
  add("digest.mismatch", "decoded",
      one_part(with(packed_part(good.text(), 8), "digest", cbor::text("xxh3:0123456789abcdef")), good.text()));
}

}  // namespace

std::vector<Zt2Case> zt2_cases() {
  std::vector<Zt2Case> cases;
  add_frame(cases);
  add_cbor(cases);
  add_schema(cases);
  add_places(cases);
  add_layouts(cases);
  add_data(cases);
  return cases;
}

std::map<std::string, Bytes> zt2_good() {
  std::map<std::string, Bytes> good;
  const Entries digested = with(part(4096, 8), "digest", cbor::text(xxh3(kTwoFloats)));
  good["minimal"] = one_part(part(4096, 8));
  good["digest"] = one_part(digested);
  good["sha256"] =
      one_part(with(part(4096, 8), "digest", cbor::text("sha256:" + hex_of(DigestAlgorithm::sha256, kTwoFloats))));
  good["tied"] = file(kTwoFloats, root({{"a", map(dense(digested))}, {"b", map(dense(digested))}}));
  good["scalar"] = one(object({}, "dense", {{"data", map(part(4096, 4))}}));
  good["zero"] = one(object({0, 4}, "dense", {{"data", map(part(8192, 0))}}));
  good["f4"] = one(object({4}, "dense", {{"data", map(with(part(4096, 2, "u8"), "type", cbor::text("f4_e2m1")))}}));
  good["odd_f4"] =
      one(object({3}, "dense", {{"data", map(with(part(4096, 2, "u8"), "type", cbor::text("f4_e2m1")))}}), "\x12\x03");
  good["complex"] = one(object({1}, "dense", {{"data", map(with(part(4096, 8), "type", cbor::text("complex64")))}}));
  good["unknown_type"] = one(object({7}, "dense", {{"data", map(with(part(4096, 8), "type", cbor::text("posit4")))}}));
  good["reserved"] = file(kTwoFloats, root({{"w", map(dense(part(4096, 8)))}}), {.reserved = 1});
  good["attributes"] =
      file("", with_attributes(map({{"f", "\xF9\x3E" + std::string(1, '\0')},
                                    {"n", "\xF9\x7E" + std::string(1, '\0')},
                                    {"minus", "\x20"},
                                    {"b", cbor::bytes("\1\2")},
                                    {"deep", cbor::array({map({{"", cbor::null()}})})},
                                    {"int_keys", cbor::head(5, 1) + cbor::number(1) + cbor::text("x")}})));
  const std::string packed =
      SeekText().add(frame(kTwoFloats.substr(0, 4)), 4).add(frame(kTwoFloats.substr(4)), 4).text();
  good["seekable"] = one_part(with(packed_part(packed, 8), "digest", cbor::text(xxh3(kTwoFloats))), packed);
  const std::string none = SeekText().text();
  good["seekable_empty"] = one(object({0}, "dense", {{"data", map(packed_part(none, 0))}}), none);
  const auto csr = [](std::string_view dtype, int width) {
    const std::string data = padded(words({0, 2, 1}, width)) + padded(words({0, 2, 3}, width)) + std::string(12, '\0');
    const std::uint64_t bytes = 3 * static_cast<std::uint64_t>(width);
    return one(object({2, 3}, "zt.sparse_csr/1",
                      {{"indices", map(part(4096, bytes, dtype))},
                       {"indptr", map(part(8192, bytes, dtype))},
                       {"values", map(part(12288, 12))}}),
               data);
  };
  good["csr_u64"] = csr("u64", 8);
  good["csr_u32"] = csr("u32", 4);
  // Three values of four bits: 1, -0.5, 6.
  const auto f4_values = [](std::uint64_t at) { return map(with(part(at, 2, "u8"), "type", cbor::text("f4_e2m1"))); };
  good["csr_f4"] = one(object({2, 3}, "zt.sparse_csr/1",
                              {{"indices", map(part(4096, 24, "u64"))},
                               {"indptr", map(part(8192, 24, "u64"))},
                               {"values", f4_values(12288)}}),
                       padded(words({0, 2, 1})) + padded(words({0, 2, 3})) + "\x92\x07");
  good["coo_f4"] =
      one(object({2, 3}, "zt.sparse_coo/1", {{"coords", map(part(4096, 24, "u32"))}, {"values", f4_values(8192)}}),
          padded(words({0, 0, 1, 0, 2, 1}, 4)) + "\x92\x07");
  const Item blocks = map({{"elems_per_block", cbor::number(32)}, {"block_bytes", cbor::number(18)}});
  good["q4_0"] = one(with(object({32}, "gguf.q4_0/1", {{"data", map(part(4096, 18, "u8"))}}), "attributes", blocks),
                     std::string(18, '\1'));
  const Item mx = map({{"block_size", cbor::number(32)}, {"scale_form", cbor::text("e8m0_exponent")}});
  good["mx"] = one(with(object({2, 32}, "zt.mx/1",
                               {{"data", map(with(part(4096, 32, "u8"), "type", cbor::text("f4_e2m1")))},
                                {"scales", map(with(part(8192, 2, "u8"), "type", cbor::text("f8_e8m0")))}}),
                        "attributes", mx),
                   padded(std::string(32, '\x21')) + "\x7F\x80");
  return good;
}

}  // namespace tare::testing

namespace tare {
namespace {

using namespace tare::testing;

TEST(Zt2Rules, EveryCaseBreaksItsRule) {
  const Scratch scratch;
  std::set<std::string> names;
  for (const Zt2Case& bad : zt2_cases()) {
    SCOPED_TRACE(bad.rule + " " + bad.name);
    EXPECT_TRUE(names.insert(bad.rule + "." + bad.name).second) << "made twice";
    EXPECT_LT(bad.file.size(), std::size_t{64} << 10);
    const auto error = error_of([&] { open(memory_source(bad.file, "it.zt2")); });
    if (bad.found == Zt2Case::Found::on_open) {
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->rule(), bad.rule) << error->what();
      EXPECT_EQ(error->file(), "it.zt2");
      EXPECT_TRUE(error->offset().has_value() || bad.rule == "zt2.shard.memory") << error->what();
    } else {
      EXPECT_FALSE(error.has_value()) << error->what();
      put_file(scratch / "it", bad.file);
      const Verification result = verify(scratch / "it");
      EXPECT_TRUE(
          std::ranges::any_of(result.findings, [&](const Finding& finding) { return finding.rule == bad.rule; }))
          << (result.findings.empty() ? "nothing was found"
                                      : result.findings[0].rule + " " + result.findings[0].sentence);
    }
  }
}

TEST(Zt2Rules, OtherFirstBytesAreNoZt2) {
  Bytes bytes = zt2_good().at("minimal");
  bytes[0] = std::byte{0};
  EXPECT_EQ(rule_of([&] { open(memory_source(bytes, "it.zt2")); }), "zt2.magic");
}

TEST(Zt2Rules, ValidFilesAreReadWhole) {
  const Scratch scratch;
  for (const auto& [name, bytes] : zt2_good()) {
    SCOPED_TRACE(name);
    put_file(scratch / "it", bytes);
    const Verification result = verify(scratch / "it");
    for (const Finding& finding : result.findings)
      EXPECT_EQ(finding.severity, Severity::note) << finding.rule << " " << finding.sentence;
    const Model model = open(scratch / "it");
    EXPECT_EQ(model.format, "zt2");
    for (const Tensor& tensor : model.tensors)
      for (const Component& component : tensor.components) component.blob.bytes();
  }
}

}  // namespace
}  // namespace tare
