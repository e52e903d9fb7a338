// The files of conformance/zt_cases.hpp.
#include "conformance/zt_cases.hpp"

namespace tare::testing {
namespace {

using namespace zt_text;
using Found = ZtCase::Found;

const std::uint64_t kBig[] = {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 63, UINT64_MAX};

class Cases {
 public:
  explicit Cases(Found found) : found_(found) {}
  void add(std::string rule, std::string name, Bytes file, Limits limits = {}) {
    list.push_back({found_, std::move(rule), std::move(name), std::move(file), limits});
  }
  std::vector<ZtCase> list;

 private:
  Found found_;
};

Entries good() { return component(64, 8); }

// A frame that requires a window of 128 MiB, as writers make if they do not know the size in advance.
std::string wide_frame(const std::string& data) {
  std::string out(ZSTD_compressBound(data.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 27);
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_compressStream2(context, &to, &in, ZSTD_e_continue);
  ZSTD_compressStream2(context, &to, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  return out;
}

void container_cases(Cases& cases) {
  const cbor::Item manifest = cbor::map(root({{"w", cbor::map(dense_object(good()))}}));
  cases.add("zt.truncated", "header_only", to_bytes("ZTEN1000"));
  cases.add("zt.truncated", "fifteen_bytes", to_bytes("ZTEN1000" + std::string(7, '\0')));
  cases.add("zt.truncated", "v01_header_only", to_bytes("ZTEN0001"));
  cases.add("zt.truncated", "v01_cut_inside_padding", to_bytes("ZTEN0001" + std::string(30, '\0')));
  cases.add("zt.magic", "another_name", to_bytes("XXXXXXXX" + to_text(file(kTwoFloats, manifest)).substr(8)));
  cases.add("zt.magic", "zeros", to_bytes(std::string(8, '\0') + to_text(file(kTwoFloats, manifest)).substr(8)));
  cases.add("zt.footer.magic", "no_footer", to_bytes(front("ZTEN1000", kTwoFloats) + manifest));
  cases.add("zt.footer.magic", "footer_of_another_version",
            to_bytes(front("ZTEN1000", kTwoFloats) + manifest + le64(manifest.size()) + "ZTEN1001"));
  cases.add("zt.footer.magic", "cut_inside_zeros", to_bytes("ZTEN1000" + std::string(100, '\0')));
  for (const std::uint64_t length : {std::uint64_t{0xFFFF}, kBig[0], kBig[1], kBig[2], kBig[3]}) {
    cases.add("zt.manifest.bounds", "length_" + std::to_string(length),
              to_bytes(front("ZTEN1000", kTwoFloats) + manifest + le64(length) + "ZTEN1000"));
    cases.add("zt.manifest.bounds", "v01_length_" + std::to_string(length),
              to_bytes("ZTEN0001" + std::string("\x80") + le64(length)));
  }
  cases.add("zt.manifest.bounds", "one_too_long",
            to_bytes("ZTEN1000" + manifest + le64(manifest.size() + 1) + "ZTEN1000"));
  cases.add("zt.manifest.size", "above_the_limit", file(kTwoFloats, manifest), {.metadata_bytes = 20});
  cases.add("cbor.truncated", "no_manifest", file("", ""));
  cases.add("cbor.truncated", "one_byte_too_short",
            to_bytes(front("ZTEN1000", kTwoFloats) + manifest.substr(0, manifest.size() - 1) +
                     le64(manifest.size() - 1) + "ZTEN1000"));
}

void cbor_cases(Cases& cases) {
  cases.add("cbor.type", "manifest_is_an_array", file("", "\x80"));
  cases.add("cbor.type", "root_key_is_a_number", file("", "\xA1\x01\x02"));
  cases.add("cbor.type", "objects_is_null", file("", cbor::map(with(root({}), "objects", cbor::null()))));
  cases.add("cbor.type", "shape_is_negative", one(with(dense_object(good()), "shape", cbor::array({"\x20"}))));
  cases.add("cbor.type", "encoding_is_null", one_component(with(good(), "encoding", cbor::null())));
  cases.add("cbor.type", "offset_is_a_float", one_component(with(good(), "offset", std::string("\xF9\x3C\0", 3))));
  cases.add("cbor.type", "offset_above_64_bits",
            one_component(with(good(), "offset", cbor::tag(2, cbor::bytes(std::string("\x01\0\0\0\0\0\0\0\0", 9))))));
  cases.add("cbor.type", "attributes_is_a_list", one(with(dense_object(good()), "attributes", "\x80")));
  cases.add("cbor.reserved", "reserved_head", file("", cbor::map(with(root({}), "attributes", "\x1C"))));
  cases.add("cbor.utf8", "name_is_not_utf8",
            file(kTwoFloats, cbor::map(root({{"\xFF", cbor::map(dense_object(good()))}}))));
  cases.add("cbor.string", "mixed_pieces", file("", cbor::map(with(root({}), "zz", "\x7F\x41\x61\xFF"))));
  for (const std::uint64_t count : kBig) {
    cases.add("cbor.count", "objects_" + std::to_string(count),
              file("", cbor::map(with(root({}), "objects", cbor::head(5, count)))));
    cases.add("cbor.count", "shape_" + std::to_string(count),
              one(with(dense_object(good()), "shape", cbor::head(4, count))));
    cases.add("cbor.truncated", "name_length_" + std::to_string(count),
              file("", cbor::map(with(root({}), "objects", "\xA1" + cbor::head(3, count)))));
  }
  cases.add("cbor.depth", "deep_attributes",
            file("", cbor::map(with(root({}), "attributes", cbor::map({{"a", std::string(70, '\x81') + "\x01"}})))));
  cases.add("cbor.depth", "deep_unknown_key", file("", cbor::map(with(root({}), "zz", std::string(100'000, '\x9F')))));
  cases.add("cbor.duplicate", "attribute_twice",
            file("", cbor::map(with(root({}), "attributes", cbor::map({{"a", "\x01"}, {"a", "\x02"}})))));
  cases.add(
      "cbor.duplicate", "nested_attribute_twice",
      file("", cbor::map(with(root({}), "attributes", cbor::map({{"m", cbor::map({{"a", "\x01"}, {"a", "\x02"}})}})))));
  const std::size_t many = (std::size_t{1} << 22) + 8;
  cases.add("open.values", "four_million_nulls",
            file("", cbor::map(with(root({}), "attributes",
                                    cbor::map({{"a", cbor::head(4, many) + std::string(many, '\xF6')}})))));
}

void field_cases(Cases& cases) {
  const Entries w = dense_object(good());
  cases.add("zt.version", "two", file("", cbor::map(root({}, "2.0.0"))));
  cases.add("zt.version", "zero", file("", cbor::map(root({}, "0.9"))));
  cases.add("zt.version", "ten", file("", cbor::map(root({}, "10.0"))));
  cases.add("zt.version", "empty", file("", cbor::map(root({}, ""))));
  cases.add("zt.root.missing_field", "version", file("", cbor::map({{"objects", "\xA0"}})));
  cases.add("zt.root.missing_field", "objects", file("", cbor::map({{"version", cbor::text("1.2.0")}})));
  cases.add("zt.root.missing_field", "empty_map", file("", "\xA0"));
  cases.add("zt.root.missing_field", "v10_without_tensors", file_v10("", cbor::map({{"version", cbor::text("1.0")}})));
  const auto twice = [](Entries entries, const std::string& key) {
    for (const auto& [name, item] : Entries(entries))
      if (name == key) entries.emplace_back(name, item);
    return entries;
  };
  for (const std::string key : {"version", "objects"})
    cases.add("zt.root.duplicate_field", key, file("", cbor::map(twice(root({}), key))));
  cases.add("zt.root.duplicate_field", "unknown", file("", cbor::map(twice(with(root({}), "zz", "\x01"), "zz"))));
  for (const std::string key : {"shape", "format", "components"}) {
    cases.add("zt.object.missing_field", key, one(without(w, key)));
    cases.add("zt.object.duplicate_field", key, one(twice(w, key)));
  }
  cases.add("zt.object.duplicate_field", "unknown", one(twice(with(w, "zz", "\x01"), "zz")));
  for (const std::string key : {"dtype", "offset", "length"}) {
    cases.add("zt.component.missing_field", key, one_component(without(good(), key)));
    cases.add("zt.component.duplicate_field", key, one_component(twice(good(), key)));
  }
  cases.add("zt.component.duplicate_field", "unknown", one_component(twice(with(good(), "zz", "\x01"), "zz")));
  cases.add("zt.object.duplicate", "name_twice",
            file(kTwoFloats, cbor::map(root({{"w", cbor::map(w)}, {"x", cbor::map(w)}, {"w", cbor::map(w)}}))));
  cases.add("zt.object.duplicate", "empty_name_twice",
            file(kTwoFloats, cbor::map(root({{"", cbor::map(w)}, {"", cbor::map(w)}}))));
  cases.add(
      "zt.component.duplicate", "role_twice",
      one(object({2}, "dense", {{"data", cbor::map(good())}, {"a", cbor::map(good())}, {"data", cbor::map(good())}})));
  cases.add("zt.object.rank", "sixty_five", one(with(w, "shape", shape(std::vector<std::uint64_t>(65, 1)))));
  Entries many = w;
  for (int i = 0; i < 1025; ++i) many.emplace_back("key" + std::to_string(i), "\x01");
  cases.add("zt.keys.many", "unknown_keys", one(many));
  Entries roles;
  for (int i = 0; i < 1025; ++i) roles.emplace_back("role" + std::to_string(i), cbor::map(good()));
  cases.add("zt.object.components", "more_than_a_thousand", one(object({2}, "x.custom", roles)));
}

void component_cases(Cases& cases) {
  cases.add("zt.component.dtype", "unknown", one_component(component(64, 8, "f4")));
  cases.add("zt.component.dtype", "upper_case", one_component(component(64, 8, "F32")));
  cases.add("zt.component.dtype", "empty", one_component(component(64, 8, "")));
  cases.add("zt.component.encoding", "unknown", one_component(with(good(), "encoding", cbor::text("lz4"))));
  cases.add("zt.component.encoding", "empty", one_component(with(good(), "encoding", cbor::text(""))));
  for (const std::uint64_t offset :
       {std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{68}, UINT64_MAX, (std::uint64_t{1} << 63) + 8})
    cases.add("zt.component.misaligned", "offset_" + std::to_string(offset), one_component(component(offset, 8)));
  cases.add("zt.component.header", "offset_zero", one_component(component(0, 8)));
  for (const std::uint64_t offset : {std::uint64_t{128}, kBig[0], kBig[1], kBig[2], UINT64_MAX - 63})
    cases.add("zt.component.bounds", "offset_" + std::to_string(offset), one_component(component(offset, 8)));
  for (const std::uint64_t length : {std::uint64_t{9}, kBig[0], kBig[1], kBig[2], UINT64_MAX - 63, UINT64_MAX})
    cases.add("zt.component.bounds", "length_" + std::to_string(length), one_component(component(64, length)));
  cases.add("zt.component.uncompressed_length", "raw_of_another_size",
            one_component(with(good(), "uncompressed_length", cbor::number(9))));
  const std::string frame = packed(kTwoFloats);
  const Entries zipped = with(component(64, frame.size()), "encoding", cbor::text("zstd"));
  cases.add("zt.component.uncompressed_length", "zstd_without_it", one_component(zipped, frame));
  for (const std::uint64_t size : {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 63, UINT64_MAX})
    cases.add("zt.component.ratio", "bomb_" + std::to_string(size),
              one_component(with(zipped, "uncompressed_length", cbor::number(size)), frame));
  for (const std::uint64_t size : {0, 1, 7, 9, 64})
    cases.add("zt.dense.size", "uncompressed_length_" + std::to_string(size),
              one_component(with(zipped, "uncompressed_length", cbor::number(size)), frame));
  cases.add("zt.component.limit", "uncompressed_length",
            one(object({2}, "x.custom", {{"data", cbor::map(with(zipped, "uncompressed_length", cbor::number(2000)))}}),
                frame),
            {.component_bytes = 1999});
  cases.add("zt.component.limit", "decoded_size",
            one(object({2}, "x.custom", {{"data", cbor::map(zipped)}}), frame, "1.1.0"), {.component_bytes = 7});
  for (const std::string_view digest : {"sha256:", "sha256:00", "crc32c:0x", "crc32c:0x123456789", "crc32c:0xZZ",
                                        "xxh3:1", "xxh3-128:-0000000000000000000000000000001"})
    cases.add("zt.component.digest", "malformed_" + std::to_string(cases.list.size()),
              one_component(with(good(), "digest", cbor::text(digest))));

  const auto pair = [](std::uint64_t o1, std::uint64_t l1, std::uint64_t o2, std::uint64_t l2) {
    const auto bytes = [](std::uint64_t o, std::uint64_t l) {
      return cbor::map(object({l}, "dense", {{"data", cbor::map(component(o, l, "u8"))}}));
    };
    return file(std::string(256, '\0'), cbor::map(root({{"a", bytes(o1, l1)}, {"b", bytes(o2, l2)}})));
  };
  cases.add("zt.component.overlap", "partly", pair(64, 100, 128, 10));
  cases.add("zt.component.overlap", "same_start", pair(64, 100, 64, 10));
  cases.add("zt.component.overlap", "inside", pair(128, 10, 64, 200));
}

void layout_cases(Cases& cases) {
  const auto part = [](std::uint64_t offset, std::uint64_t length, std::string_view dtype) {
    return cbor::map(component(offset, length, dtype));
  };
  cases.add("zt.dense.missing", "no_data", one(object({2}, "dense", {{"values", part(64, 8, "f32")}})));
  cases.add("zt.dense.missing", "no_components", one(object({2}, "dense", {})));
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, kBig[0], kBig[1], kBig[2],
                                kBig[3], (std::uint64_t{1} << 62) + 2})
    cases.add("zt.dense.size", "dimension_" + std::to_string(n),
              one(object({n}, "dense", {{"data", part(64, 8, "f32")}})));
  cases.add("zt.dense.size", "product_wraps_to_2",
            one(object({std::uint64_t{1} << 32, std::uint64_t{1} << 32, 2}, "dense", {{"data", part(64, 8, "f32")}})));
  cases.add("zt.dense.size", "compound_type",
            one(object({2}, "dense", {{"data", cbor::map(with(component(64, 8), "type", cbor::text("complex64")))}})));
  const std::string frame = packed(kTwoFloats);
  cases.add("zt.dense.size", "old_zstd_of_a_shape_that_overflows",
            one(object({std::uint64_t{1} << 63}, "dense",
                       {{"data", cbor::map(with(component(64, frame.size()), "encoding", cbor::text("zstd")))}}),
                frame, "1.1.0"));

  const std::string data(1024, '\0');
  const auto csr = [&](const std::vector<std::uint64_t>& dims, std::uint64_t values, std::uint64_t indices,
                       std::uint64_t indptr, std::string_view index = "u64") {
    return one(object(dims, "sparse_csr",
                      {{"indices", part(128, indices, index)},
                       {"indptr", part(256, indptr, index)},
                       {"values", part(64, values, "f32")}}),
               data);
  };
  cases.add("zt.csr.rank", "vector", csr({2}, 8, 16, 24));
  cases.add("zt.csr.rank", "cube", csr({2, 2, 2}, 8, 16, 24));
  cases.add("zt.csr.index_type", "u32", csr({2, 2}, 8, 8, 12, "u32"));
  cases.add("zt.csr.index_type", "f64", csr({2, 2}, 8, 16, 24, "f64"));
  cases.add("zt.csr.indptr", "i32_too_few", csr({2, 2}, 8, 8, 8, "i32"));
  cases.add("zt.csr.indptr", "too_few", csr({2, 2}, 8, 16, 16));
  cases.add("zt.csr.indptr", "too_many", csr({2, 2}, 8, 16, 32));
  for (const std::uint64_t rows : {kBig[0], kBig[1], kBig[2], kBig[3], (std::uint64_t{1} << 61) + 2})
    cases.add("zt.csr.indptr", "rows_" + std::to_string(rows), csr({rows, 2}, 8, 16, 24));
  cases.add("zt.csr.counts", "fewer_values", csr({2, 2}, 4, 16, 24));
  cases.add("zt.csr.counts", "half_a_value", csr({2, 2}, 6, 16, 24));
  cases.add(
      "zt.csr.missing", "no_values",
      one(object({2, 2}, "sparse_csr", {{"indices", part(128, 16, "u64")}, {"indptr", part(256, 24, "u64")}}), data));
  cases.add(
      "zt.csr.missing", "no_indptr",
      one(object({2, 2}, "sparse_csr", {{"indices", part(128, 16, "u64")}, {"values", part(64, 8, "f32")}}), data));

  const auto coo = [&](const std::vector<std::uint64_t>& dims, std::uint64_t values, std::uint64_t coords,
                       std::string_view index = "u64") {
    return one(object(dims, "sparse_coo", {{"coords", part(128, coords, index)}, {"values", part(64, values, "f32")}}),
               data);
  };
  cases.add("zt.coo.index_type", "u32", coo({2, 2}, 8, 32, "u32"));
  cases.add("zt.coo.coords", "too_few", coo({2, 2}, 8, 24));
  cases.add("zt.coo.coords", "not_whole", coo({2, 2}, 8, 31));
  cases.add("zt.coo.counts", "half_a_value", coo({2, 2}, 6, 32));
  cases.add("zt.coo.missing", "no_coords", one(object({2}, "sparse_coo", {{"values", part(64, 8, "f32")}}), data));
  cases.add("zt.coo.missing", "no_values", one(object({2}, "sparse_coo", {{"coords", part(64, 8, "u64")}}), data));

  const auto group = [&](std::uint64_t packed_bytes, std::uint64_t scales, std::uint64_t zeros,
                         std::uint64_t columns = 16) {
    Entries o = object({2, columns}, "quantized_group",
                       {{"packed_weight", part(64, packed_bytes, "i32")},
                        {"scales", part(128, scales, "f16")},
                        {"zeros", part(192, zeros, "f16")}});
    o.emplace_back("attributes",
                   cbor::map({{"bits", "\x04"}, {"group_size", "\x08"}, {"packing", cbor::text("8_per_i32")}}));
    return one(o, data);
  };
  cases.add("zt.group.size", "codes", group(20, 8, 8));
  cases.add("zt.group.size", "scales", group(16, 6, 8));
  cases.add("zt.group.size", "zeros", group(16, 8, 10));
  for (const std::uint64_t columns : {kBig[0], kBig[1], kBig[2], kBig[3]})
    cases.add("zt.group.size", "columns_" + std::to_string(columns), group(16, 8, 8, columns));
  cases.add(
      "zt.group.missing", "no_zeros",
      one(object({2, 16}, "quantized_group", {{"packed_weight", part(64, 16, "i32")}, {"scales", part(128, 8, "f16")}}),
          data));

  // Layouts of packed weights, which a container of any layout may name with any attributes.
  const auto gptq = [&](const Entries& attributes) {
    Entries o =
        object({8, 8}, "gptq4",
               {{"qweight", part(64, 32, "i32")}, {"qzeros", part(128, 4, "i32")}, {"scales", part(192, 16, "f16")}});
    o.emplace_back("attributes", cbor::map(attributes));
    return one(o, data);
  };
  cases.add("zt.pack.attribute", "no_group_size", gptq({{"zero_offset", "\x01"}}));
  cases.add("zt.pack.attribute", "a_text", gptq({{"group_size", cbor::text("8")}, {"zero_offset", "\x01"}}));
  cases.add("zt.pack.attribute", "zero_offset_of_2", gptq({{"group_size", "\x08"}, {"zero_offset", "\x02"}}));
  cases.add("zt.pack.group", "of_0", gptq({{"group_size", cbor::number(0)}, {"zero_offset", "\x01"}}));
}

void legacy_cases(Cases& cases) {
  const Entries fields = {{"name", cbor::text("w")},        {"offset", cbor::number(64)},    {"size", cbor::number(8)},
                          {"dtype", cbor::text("float32")}, {"layout", cbor::text("dense")}, {"shape", shape({2})},
                          {"encoding", cbor::text("raw")}};
  const auto v01 = [&](const Entries& e) { return file_v01(kTwoFloats, cbor::array({cbor::map(e)})); };
  for (const auto& [key, item] : fields) {
    cases.add("zt.object.missing_field", "v01_" + key, v01(without(fields, key)));
    Entries twice = fields;
    twice.emplace_back(key, item);
    cases.add("zt.object.duplicate_field", "v01_" + key, v01(twice));
  }
  Entries custom = with(fields, "zz", "\x01");
  custom.emplace_back("zz", "\x01");
  cases.add("zt.object.duplicate_field", "v01_custom", v01(custom));
  cases.add("zt.object.endianness", "v01_middle", v01(with(fields, "data_endianness", cbor::text("middle"))));
  cases.add("zt.object.duplicate", "v01_name_twice",
            file_v01(kTwoFloats, cbor::array({cbor::map(fields), cbor::map(fields)})));
  cases.add("zt.component.misaligned", "v01", v01(with(fields, "offset", cbor::number(8))));
  cases.add("zt.component.bounds", "v01", v01(with(fields, "size", cbor::number(UINT64_MAX))));
  cases.add("zt.component.dtype", "v01", v01(with(fields, "dtype", cbor::text("complex64"))));
  cases.add("zt.component.encoding", "v01", v01(with(fields, "encoding", cbor::text("gzip"))));
  cases.add("zt.dense.size", "v01", v01(with(fields, "shape", shape({3}))));
  cases.add("cbor.type", "v01_map", file_v01("", "\xA0"));

  const Entries part = {{"offset", cbor::number(64)}, {"length", cbor::number(8)}};
  const Entries old = {{"dtype", cbor::text("float32")},
                       {"shape", shape({2})},
                       {"format", cbor::text("dense")},
                       {"components", cbor::map({{"data", cbor::map(part)}})}};
  const auto v10 = [](const Entries& e) {
    return file_v10(kTwoFloats,
                    cbor::map({{"version", cbor::text("1.0")}, {"tensors", cbor::map({{"w", cbor::map(e)}})}}));
  };
  for (const auto& [key, item] : old) {
    cases.add("zt.object.missing_field", "v10_" + key, v10(without(old, key)));
    Entries twice = old;
    twice.emplace_back(key, item);
    cases.add("zt.object.duplicate_field", "v10_" + key, v10(twice));
  }
  cases.add("zt.component.duplicate", "v10",
            v10(with(old, "components", cbor::map({{"data", cbor::map(part)}, {"data", cbor::map(part)}}))));
  cases.add("zt.component.missing_field", "v10",
            v10(with(old, "components", cbor::map({{"data", cbor::map(without(part, "offset"))}}))));
  cases.add("zt.component.dtype", "v10_short_name_unknown", v10(with(old, "dtype", cbor::text("float8"))));
}

}  // namespace

std::vector<ZtCase> zt_open_cases() {
  Cases cases(Found::on_open);
  container_cases(cases);
  cbor_cases(cases);
  field_cases(cases);
  component_cases(cases);
  layout_cases(cases);
  legacy_cases(cases);
  return cases.list;
}

std::vector<ZtCase> zt_data_cases() {
  Cases reading(Found::on_read);
  const auto zipped = [](const std::string& frame, std::uint64_t size, std::uint64_t elements) {
    Entries e = with(component(64, frame.size()), "encoding", cbor::text("zstd"));
    return one(object({elements}, "dense", {{"data", cbor::map(with(e, "uncompressed_length", cbor::number(size)))}}),
               frame);
  };
  const std::string frame = packed(kTwoFloats), stream = packed_stream(kTwoFloats);
  for (const std::string& f : {frame, stream}) {
    reading.add("zstd.short", "longer_than_the_data", zipped(f, 12, 3));
    reading.add("zstd.long", "shorter_than_the_data", zipped(f, 4, 1));
    reading.add("zstd.long", "two_frames", zipped(f + f, 8, 2));
    reading.add("zstd.frame", "garbage_behind", zipped(f + "garbage!", 8, 2));
    reading.add("zstd.short", "three_bytes_behind", zipped(f + "\x28\xB5\x2F", 8, 2));
    reading.add("zstd.short", "cut", zipped(f.substr(0, f.size() - 1), 8, 2));
    reading.add("zstd.frame", "no_magic", zipped("x" + f.substr(1), 8, 2));
  }
  reading.add("zstd.window", "of_128_MiB", zipped(wide_frame(kTwoFloats), 8, 2));
  reading.add("zstd.long", "one_empty_tensor_with_data", zipped(frame, 0, 0));
  reading.add("zstd.short", "nothing_at_all",
              zipped(std::string(), 8, 2).size() > 0 ? zipped(frame.substr(0, 1), 8, 2) : Bytes());

  Cases verifying(Found::by_verify);
  verifying.add("digest.mismatch", "crc32c", one_component(with(good(), "digest", cbor::text("crc32c:0x28C0C9B2"))));
  verifying.add("digest.mismatch", "sha256",
                one_component(with(good(), "digest", cbor::text("sha256:" + std::string(64, '0')))));
  verifying.add("zt.digest.unknown", "blake3", one_component(with(good(), "digest", cbor::text("blake3:00"))));
  for (const std::string_view digest : {"", "deadbeef", ":00", "sha256"})
    verifying.add("zt.digest.form", "no_algorithm_" + std::to_string(digest.size()),
                  one_component(with(good(), "digest", cbor::text(digest))));
  verifying.add("zt.digest.case", "upper",
                one_component(with(good(), "digest", cbor::text("sha256:" + std::string(64, 'A')))));
  verifying.add(
      "zt.padding", "before_the_first_blob",
      to_bytes("ZTEN1000" + std::string(55, '\0') + "x" +
               to_text(file(kTwoFloats, cbor::map(root({{"w", cbor::map(dense_object(good()))}})))).substr(64)));
  verifying.add("zt.padding", "between_blob_and_manifest", one_component(good(), kTwoFloats + "x"));
  verifying.add("zt.manifest.indefinite", "map", file("", cbor::indefinite_map(root({}))));
  verifying.add("zt.manifest.long_head", "offset", one_component(with(good(), "length", cbor::number(8, 4))));
  verifying.add("zt.manifest.tag", "tagged_offset",
                one_component(with(good(), "length", cbor::tag(9, cbor::number(8)))));
  verifying.add("zt.manifest.trailing", "zeros", file("", cbor::map(root({})) + std::string(5, '\0')));
  verifying.add("zt.manifest.order", "root",
                file("", cbor::map({{"objects", "\xA0"}, {"version", cbor::text("1.2.0")}})));
  const Entries w = dense_object(good());
  verifying.add("zt.manifest.order", "names",
                file(kTwoFloats, cbor::map(root({{"b", cbor::map(w)}, {"aa", cbor::map(w)}}))));
  verifying.add("zt.manifest.order", "object", one({w[1], w[0], w[2]}));
  verifying.add("zt.manifest.order", "component", one_component({good()[1], good()[0], good()[2]}));
  verifying.add("zt.version.text", "line", file("", cbor::map(root({}, "1.2.0\n::warning::x"))));
  verifying.add("zt.version.text", "letters", file("", cbor::map(root({}, "1.2.x"))));
  verifying.add("zt.version.other", "v11", file("", cbor::map(root({}, "1.1.0"))));
  verifying.add("zt.version.other", "v01", file_v01("", "\x80"));
  for (const std::string key : {"tare.config", "tare.vocabulary", "tare.attachments"})
    verifying.add("zt.private.malformed", key,
                  file("", cbor::map({{"version", cbor::text("1.2.0")},
                                      {"attributes", cbor::map({{key, "\x05"}})},
                                      {"objects", "\xA0"}})));
  verifying.add("zt.private.malformed", "vocabulary_of_nothing",
                file("", cbor::map({{"version", cbor::text("1.2.0")},
                                    {"attributes", cbor::map({{"tare.vocabulary", "\xA0"}})},
                                    {"objects", "\xA0"}})));
  verifying.add("zt.bool.value", "two",
                one(object({2}, "dense", {{"data", cbor::map(component(64, 2, "bool"))}}), "\x01\x02"));

  const auto csr = [](const std::vector<std::uint64_t>& indices, const std::vector<std::uint64_t>& indptr) {
    const std::string data = padded(std::string(4 * indices.size(), '\0')) + padded(words(indices)) + words(indptr);
    return one(object({2, 3}, "sparse_csr",
                      {{"indices", cbor::map(component(128, 8 * indices.size(), "u64"))},
                       {"indptr", cbor::map(component(192, 24, "u64"))},
                       {"values", cbor::map(component(64, 4 * indices.size()))}}),
               data);
  };
  const auto signed_csr = [](std::string_view dtype, const std::string& indices, const std::string& indptr) {
    return one(object({2, 3}, "sparse_csr",
                      {{"indices", cbor::map(component(128, indices.size(), dtype))},
                       {"indptr", cbor::map(component(192, indptr.size(), dtype))},
                       {"values", cbor::map(component(64, 12))}}),
               padded(std::string(12, '\0')) + padded(indices) + indptr);
  };
  const auto narrow = [](const std::vector<std::int32_t>& numbers) {
    std::string out;
    for (const std::int32_t n : numbers) out += le64(static_cast<std::uint32_t>(n)).substr(0, 4);
    return out;
  };
  verifying.add("zt.sparse.index", "i64", signed_csr("i64", words({0, 1, 2}), words({0, 1, 3})));
  verifying.add("zt.sparse.index", "i32", signed_csr("i32", narrow({0, 1, 2}), narrow({0, 1, 3})));
  verifying.add("zt.csr.column", "negative_i64", signed_csr("i64", words({0, 1, UINT64_MAX}), words({0, 1, 3})));
  verifying.add("zt.csr.indptr_start", "one", csr({0, 1, 2}, {1, 2, 3}));
  verifying.add("zt.csr.indptr_order", "falls", csr({0, 1, 2}, {0, 4, 3}));
  verifying.add("zt.csr.indptr_end", "beyond", csr({0, 1, 2}, {0, 1, UINT64_MAX}));
  verifying.add("zt.csr.column", "beyond", csr({0, 1, 3}, {0, 1, 3}));
  verifying.add("zt.csr.column", "huge", csr({0, 1, UINT64_MAX}, {0, 1, 3}));
  verifying.add("zt.csr.order", "falls", csr({0, 2, 1}, {0, 1, 3}));
  const auto coo = [](const std::vector<std::uint64_t>& coords) {
    return one(object({2, 3}, "sparse_coo",
                      {{"coords", cbor::map(component(128, 8 * coords.size(), "u64"))},
                       {"values", cbor::map(component(64, 2 * coords.size()))}}),
               padded(std::string(2 * coords.size(), '\0')) + words(coords));
  };
  verifying.add("zt.coo.bounds", "row", coo({2, 0}));
  verifying.add("zt.coo.bounds", "huge", coo({0, UINT64_MAX}));
  verifying.add("zt.coo.duplicate", "same_place", coo({1, 1, 2, 2}));
  const auto group = [](const std::string& codes, const std::string& scales, const std::string& zeros) {
    Entries o = object({1, 7}, "quantized_group",
                       {{"packed_weight", cbor::map(component(64, 4, "i32"))},
                        {"scales", cbor::map(component(128, 2, "f16"))},
                        {"zeros", cbor::map(component(192, 2, "f16"))}});
    o.insert(
        o.begin() + 2,
        {"attributes", cbor::map({{"bits", "\x04"}, {"group_size", "\x08"}, {"packing", cbor::text("8_per_i32")}})});
    return one(o, padded(codes) + padded(scales) + zeros);
  };
  const std::string codes("\x11\x11\x11\x01", 4), f16_one("\0\x3C", 2);
  verifying.add("zt.group.scale", "infinite", group(codes, std::string("\0\x7C", 2), f16_one));
  verifying.add("zt.group.zero", "sixteen", group(codes, f16_one, std::string("\0\x4C", 2)));
  verifying.add("zt.group.unused_bits", "set", group("\x11\x11\x11\x11", f16_one, f16_one));

  Entries gptq = object({16, 2}, "quantized_group",
                        {{"packed_weight", cbor::map(component(64, 16, "i32"))},
                         {"scales", cbor::map(component(128, 8, "f16"))},
                         {"zeros", cbor::map(component(192, 8, "f16"))}});
  gptq.insert(
      gptq.begin() + 2,
      {"attributes", cbor::map({{"bits", "\x04"}, {"group_size", "\x08"}, {"packing", cbor::text("8_per_i32")}})});
  verifying.add("zt.group.orientation", "groups_along_the_first_axis", one(gptq, std::string(136, '\0')));

  std::vector<ZtCase> all = reading.list;
  all.insert(all.end(), verifying.list.begin(), verifying.list.end());
  return all;
}

}  // namespace tare::testing
