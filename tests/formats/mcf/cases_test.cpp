// The files of conformance/mcf_cases.hpp.
#include <limits>

#include "conformance/mcf_cases.hpp"

namespace tare::testing {
namespace {

using namespace mcf_bytes;

const std::uint64_t kBig[] = {std::uint64_t{1} << 31, std::uint64_t{1} << 32, std::uint64_t{1} << 63, UINT64_MAX - 7,
                              UINT64_MAX};

class Cases {
 public:
  void add(std::string rule, std::string name, const File& file, Limits limits = {}) {
    list.push_back({std::move(rule), std::move(name), bytes_of(file), limits});
  }
  // A file that is valid except for one field.
  void lie(std::string rule, File file, const std::string& field, std::uint64_t value) {
    file.lies[field] = value;
    add(std::move(rule), field + "_is_" + std::to_string(value), file);
  }
  // The same for the entry of the first tensor.
  void entry(std::string rule, File file, const std::string& field, std::uint64_t value) {
    file.tensors.at(0).lies[field] = value;
    add(std::move(rule), field + "_is_" + std::to_string(value), file);
  }
  void record(std::string rule, std::string name, const Record& changed) {
    File file = mcf_good_q8();
    file.records = {changed};
    add(std::move(rule), std::move(name), file);
  }
  void info(std::string rule, std::string name, const Info& info) {
    File file;
    file.sections[1] = info_bytes(info);
    add(std::move(rule), std::move(name), file);
  }
  std::vector<McfCase> list;
};

void header_cases(Cases& cases) {
  const File good = mcf_good();
  const auto cut = [&](std::size_t length) {
    File file = good;
    file.spoil = [=](std::string& bytes) { bytes.resize(length); };
    return file;
  };
  File other = good;
  other.spoil = [](std::string& bytes) { bytes[3] = '1'; };
  cases.list.push_back({"mcf.truncated", "magic_only", to_bytes(std::string("MCF\0", 4)), {}});
  cases.add("mcf.truncated", "39_bytes", cut(39));
  cases.lie("mcf.version", good, "major", 0);
  cases.lie("mcf.version", good, "major", 2);
  cases.lie("mcf.header.size", good, "header_size", 0);
  cases.lie("mcf.header.size", good, "header_size", 39);
  cases.lie("mcf.header.size", good, "header_size", 100'000);
  cases.lie("mcf.header.size", good, "header_size", UINT32_MAX);
  cases.lie("mcf.header.sections", good, "section_count", 0);
  cases.lie("mcf.header.file_size", good, "file_size", 0);
  for (const std::uint64_t size : kBig) cases.lie("mcf.header.file_size", good, "file_size", size);
  cases.add("mcf.header.file_size", "cut", cut(100));
  File longer = good;
  longer.spoil = [](std::string& bytes) { bytes += '\0'; };
  cases.add("mcf.header.file_size", "one_byte_more", longer);
  cases.add("mcf.section.limit", "directory", good, {.metadata_bytes = 47});
  cases.add("mcf.section.limit", "index", good, {.metadata_bytes = 100});
  File wide = good;
  wide.lies["header_size"] = 64;
  cases.add("mcf.section.limit", "header", wide, {.metadata_bytes = 63});
}

void directory_cases(Cases& cases) {
  const File good = mcf_good();
  cases.lie("mcf.directory.misaligned", good, "directory_offset", 1);
  cases.lie("mcf.directory.misaligned", good, "directory_offset", UINT64_MAX);
  cases.lie("mcf.directory.bounds", good, "directory_offset", 100'000);
  for (const std::uint64_t offset : {kBig[0], kBig[1], kBig[2], kBig[3]})
    cases.lie("mcf.directory.bounds", good, "directory_offset", offset);
  cases.lie("mcf.directory.bounds", good, "section_count", UINT32_MAX);
  cases.lie("mcf.directory.overlap", good, "directory_offset", 0);
  cases.lie("mcf.directory.overlap", good, "directory_offset", 32);

  cases.lie("mcf.section.misaligned", good, "offset_3", 201);
  cases.lie("mcf.section.misaligned", good, "offset_4", UINT64_MAX);
  for (const std::uint64_t offset : {kBig[0], kBig[1], kBig[2], kBig[3]})
    cases.lie("mcf.section.bounds", good, "offset_4", offset);
  for (const std::uint64_t size : kBig) cases.lie("mcf.section.bounds", good, "size_4", size);
  cases.lie("mcf.section.header", good, "offset_4", 0);
  cases.lie("mcf.section.header", good, "offset_4", 32);
  cases.lie("mcf.section.version", good, "version_3", 2);
  cases.lie("mcf.section.version", good, "version_4", 0);
  File resource;
  resource.sections[0x100] = "{}";
  cases.lie("mcf.section.version", resource, "version_256", 7);
  cases.lie("mcf.section.duplicate", good, "type_3", 4);
  // The index overlaps the data; the data overlaps all that follows; the index overlaps the directory.
  cases.lie("mcf.section.overlap", good, "offset_3", 64);
  cases.lie("mcf.section.overlap", good, "size_4", bytes_of(good).size() - 40);
  cases.lie("mcf.directory.overlap", good, "size_3", index_bytes(good, {0, 0}).size() + 8);
}

void index_cases(Cases& cases) {
  const File good = mcf_good();
  File short_index = good;
  short_index.sections[3] = std::string(47, '\0');
  cases.add("mcf.index.size", "47_bytes", short_index);
  short_index.sections[3] = "";
  cases.add("mcf.index.size", "empty", short_index);
  cases.lie("mcf.index.version", good, "index_version", 0);
  cases.lie("mcf.index.version", good, "index_version", 2);
  cases.lie("mcf.index.count", good, "tensor_count", 0);
  for (const std::uint64_t count : {std::uint64_t{1} << 20, std::uint64_t{UINT32_MAX}}) {
    cases.lie("mcf.index.bounds", good, "tensor_count", count);
    cases.lie("mcf.index.bounds", good, "dims_count", count);
  }
  for (const std::string table : {"entries_off", "dims_off", "strings_off", "strings_size"}) {
    cases.lie("mcf.index.bounds", good, table, 10'000);
    for (const std::uint64_t offset : kBig) cases.lie("mcf.index.bounds", good, table, offset);
    if (table != "strings_size") cases.lie("mcf.index.bounds", good, table, 40);
  }
  File unsorted = good;
  std::swap(unsorted.tensors[0], unsorted.tensors[1]);
  cases.add("mcf.index.sorted", "b_before_a", unsorted);
  File strange = good;
  strange.tensors[1].name = "\xFF";
  cases.add("mcf.index.names", "not_utf8", strange);
  // Twelve names that each cover all the strings except a byte or two.
  File shared = good;
  shared.tensors.clear();
  for (int i = 0; i < 12; ++i) {
    Entry t{i == 0 ? std::string(64, 'n') : "", 6, {0}, "", {}};
    if (i > 0) t.lies = {{"name_off", 0}, {"name_len", std::uint64_t(64 - i)}};
    shared.tensors.push_back(t);
  }
  shared.lies["index_flags"] = 2;
  cases.add("mcf.index.strings", "names_upon_each_other", shared);
}

void entry_cases(Cases& cases) {
  const File good = mcf_good();
  cases.entry("mcf.tensor.name", good, "name_off", 3);
  cases.entry("mcf.tensor.name", good, "name_off", UINT32_MAX);
  cases.entry("mcf.tensor.name", good, "name_len", 3);
  cases.entry("mcf.tensor.name", good, "name_len", UINT32_MAX);
  cases.entry("mcf.tensor.empty_name", good, "name_len", 0);
  cases.entry("mcf.tensor.reserved", good, "reserved", 1);
  for (const std::uint64_t number : {0x0D, 0x0F, 0x12, 0x22, 0x34, 0xFFFF, 0x10001})
    cases.entry("mcf.tensor.dtype", good, "dtype", number);
  cases.entry("mcf.tensor.dtype", good, "dtype", 0);
  cases.entry("mcf.tensor.dims", good, "rank", 3);
  cases.entry("mcf.tensor.dims", good, "rank", UINT32_MAX);
  cases.entry("mcf.tensor.dims", good, "dim_off", 2);
  cases.entry("mcf.tensor.dims", good, "dim_off", UINT32_MAX);
  File deep = good;
  deep.tensors = {{"a", 6, std::vector<std::uint64_t>(65, 1), "x", {}}};
  cases.add("mcf.tensor.rank", "65_dimensions", deep);
  File twice = good;
  twice.tensors[1].name = "a";
  cases.add("mcf.tensor.duplicate", "a_twice", twice);

  File alone = good;
  alone.lies["drop_4"] = 1;
  cases.add("mcf.tensor.no_data", "no_section", alone);
  File nothing = alone;
  nothing.tensors = {{"a", 1, {0}, "", {}}};
  cases.add("mcf.tensor.no_data", "empty_tensor", nothing);
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{32}, std::uint64_t{200}, kBig[2], kBig[4]})
    cases.entry("mcf.tensor.bounds", good, "data_off", offset);
  for (const std::uint64_t size : {std::uint64_t{100'000}, kBig[1], kBig[4]})
    cases.entry("mcf.tensor.bounds", good, "data_size", size);
  File overlap = good;
  overlap.tensors = {{"a", 6, {8}, "12345678", {}}, {"b", 6, {8}, "12345678", {{"data_off", 68}}}};
  cases.add("mcf.tensor.overlap", "partly", overlap);
  overlap.tensors[1] = {"b", 6, {4}, "1234", {{"data_off", 64}}};
  cases.add("mcf.tensor.overlap", "same_start", overlap);

  cases.entry("mcf.dense.size", good, "data_size", 7);
  cases.entry("mcf.dense.size", good, "data_size", 9);
  cases.entry("mcf.dense.size", good, "data_size", 0);
  File wraps = good;
  wraps.tensors[0].shape = {std::uint64_t{1} << 32, std::uint64_t{1} << 32, 2};
  cases.add("mcf.dense.size", "product_wraps", wraps);
  wraps.tensors[0].shape = {(std::uint64_t{1} << 62) + 2};
  cases.add("mcf.dense.size", "bytes_wrap_to_8", wraps);
}

void quant_cases(Cases& cases) {
  const File good = mcf_good_q8();
  cases.lie("mcf.quantinfo.version", good, "quant_version", 2);
  cases.lie("mcf.quantinfo.size", good, "record_count", 0);
  cases.lie("mcf.quantinfo.size", good, "record_count", 2);
  cases.lie("mcf.quantinfo.size", good, "record_count", UINT32_MAX);
  cases.lie("mcf.quantinfo.size", good, "size_2", 7);
  cases.lie("mcf.quantinfo.size", good, "size_2", 31);
  cases.record("mcf.quantinfo.tensor", "of_a_missing_tensor", {.tensor = 1});
  cases.record("mcf.quantinfo.tensor", "of_the_last_number", {.tensor = UINT32_MAX});
  cases.record("mcf.quantinfo.method", "q4", {.method = 0x21});
  cases.record("mcf.quantinfo.method", "unknown", {.method = 0x22});
  cases.record("mcf.quantinfo.domain", "two", {.domain = 2});
  cases.record("mcf.quantinfo.domain", "activations", {.domain = 1});
  cases.record("mcf.quantinfo.clip", "infinite", {.max = std::numeric_limits<float>::infinity()});
  cases.record("mcf.quantinfo.geometry", "block_16", {.block = 16});
  cases.record("mcf.quantinfo.geometry", "super_256", {.super = 256});
  for (std::size_t i = 0; i < 6; ++i) {
    Record record;
    record.reserved[i] = 1;
    cases.record("mcf.quantinfo.reserved", "byte_" + std::to_string(10 + i), record);
  }
  File file = good;
  file.records = {Record{}, Record{}};
  cases.add("mcf.quantinfo.duplicate", "two_for_one_tensor", file);
  file.records.clear();
  file.quant_info = true;
  cases.add("mcf.quantinfo.missing", "no_record", file);
  File plain = mcf_good();
  plain.records = {{.tensor = 0, .method = 1, .block = 0}};
  cases.add("mcf.quantinfo.method", "of_a_plain_tensor", plain);
  File lonely;
  lonely.records = {Record{}};
  cases.add("mcf.quantinfo.tensor", "without_an_index", lonely);

  cases.lie("mcf.flags.aligned", good, "flags", 0);
  cases.lie("mcf.flags.aligned", good, "flags", 2);
  File off = good;
  off.alignment = 8;
  off.tensors.insert(off.tensors.begin(), {"a", 6, {1}, "x", {}});
  off.records[0].tensor = 1;
  cases.add("mcf.tensor.misaligned", "on_a_multiple_of_8", off);

  cases.entry("mcf.quant.size", good, "data_size", good.tensors[0].payload.size() - 1);
  File one_more = good;
  one_more.tensors[0].payload += '\0';
  cases.add("mcf.quant.size", "one_byte_more", one_more);
  File cube = good;
  cube.tensors[0].shape = {2, 4, 8};
  cases.add("mcf.quant.rank", "cube", cube);
  File wide = good;
  wide.tensors[0].shape = {std::uint64_t{1} << 40, std::uint64_t{1} << 40};
  cases.add("mcf.quant.too_large", "columns", wide);
  File bare = good;
  bare.tensors = {{"w", 0x10, {2, 3}, "123456", {}}};
  bare.records = {{.method = 0x10, .block = 0}};
  cases.add("mcf.quant.no_scale", "int8", bare);
}

void info_cases(Cases& cases) {
  File small;
  small.sections[1] = std::string(87, '\0');
  cases.add("mcf.info.size", "87_bytes", small);
  small.sections[1] = "";
  cases.add("mcf.info.size", "empty", small);
  cases.info("mcf.info.version", "two", {.fields = {{"version", 2}}});
  cases.info("mcf.info.reserved", "flags", {.fields = {{"flags", 1}}});
  cases.info("mcf.info.reserved", "second", {.fields = {{"zero1", 1}}});
  cases.info("mcf.info.reserved", "behind_the_count", {.fields = {{"zero2", 1}}});
  const Info::Pair pair = {"key", 3, "value"};
  const auto with = [&](const std::string& field, std::uint64_t value) {
    Info info{.pairs = {pair}};
    info.pairs[0].lies[field] = value;
    return info;
  };
  cases.info("mcf.info.reserved", "of_a_pair", with("zero", 1));
  for (const std::string field : {"model_name_off", "base_model_off"})
    for (const std::uint64_t offset : {std::uint64_t{8}, std::uint64_t{89}, std::uint64_t{10'000}, kBig[2], kBig[4]})
      cases.info("mcf.info.string", field + "_" + std::to_string(offset),
                 {.fields = {{field, offset}}, .name = "a", .base = "b"});
  for (const std::uint64_t offset : {std::uint64_t{8}, std::uint64_t{92}, std::uint64_t{10'000}, kBig[3]}) {
    cases.info("mcf.info.string", "key_" + std::to_string(offset), with("key_off", offset));
    cases.info("mcf.info.string", "value_" + std::to_string(offset), with("value_off", offset));
    Info number{.pairs = {{"key", 1, u32(5), {{"value_off", offset}}}}};
    cases.info("mcf.info.value", "u32_at_" + std::to_string(offset), number);
    number.pairs[0].type = 2;
    cases.info("mcf.info.value", "f32_at_" + std::to_string(offset), number);
    cases.info("mcf.info.kv", "table_at_" + std::to_string(offset), {.fields = {{"kv_off", offset}}, .pairs = {pair}});
  }
  cases.info("mcf.info.value", "u32_at_0", {.pairs = {{"key", 1, u32(5), {{"value_off", 0}}}}});
  cases.info("mcf.info.kv", "count_2", {.fields = {{"kv_count", 2}}, .pairs = {pair}});
  cases.info("mcf.info.kv", "count_of_everything", {.fields = {{"kv_count", UINT32_MAX}}, .pairs = {pair}});
  for (const std::uint64_t length : {std::uint64_t{1000}, std::uint64_t{UINT32_MAX}}) {
    File file;
    file.sections[1] = info_bytes({.name = "a"});
    file.sections[1].replace(88, 4, u32(length));
    cases.add("mcf.info.string", "length_" + std::to_string(length), file);
  }
  cases.info("mcf.info.key", "no_key", with("key_off", 0));
  cases.info("mcf.info.type", "zero", with("type", 0));
  cases.info("mcf.info.type", "four", with("type", 4));
  cases.info("mcf.info.duplicate", "key", {.pairs = {pair, pair}});
  // Thirty values that share the same kilobyte.
  Info shared{.pairs = {{"00", 3, std::string(1000, 'v')}}};
  for (int i = 10; i < 40; ++i) shared.pairs.push_back({std::to_string(i), 3, "", {{"value_off", 96}}});
  cases.info("mcf.info.strings", "values_upon_each_other", shared);
}

// Two resources after their directory.
File directory_first() {
  File file;
  file.sections[0x100] = file.sections[0x101] = "{}";
  file.spoil = [](std::string& bytes) {
    std::string directory = bytes.substr(bytes.size() - 48);
    bytes.resize(bytes.size() - 48);
    for (const std::size_t entry : {0, 24}) directory[entry + 8] = static_cast<char>(directory[entry + 8] + 48);
    bytes.insert(40, directory);
    bytes.replace(16, 8, u64(40));
  };
  return file;
}

}  // namespace

File mcf_good() {
  File file;
  file.tensors = {{"a", 1, {2}, f32(1) + f32(-2), {}}, {"b", 6, {3}, "xyz", {}}};
  return file;
}

File mcf_good_q8() {
  File file;
  // Two f16 scales of 1, padding to 64, 2 x 32 codes.
  file.tensors = {{"w", 0x20, {2, 32}, padded(u16(0x3C00) + u16(0x3C00), 64) + std::string(64, '\x01'), {}}};
  file.records = {Record{}};
  return file;
}

std::vector<McfCase> mcf_open_cases() {
  Cases cases;
  header_cases(cases);
  directory_cases(cases);
  index_cases(cases);
  entry_cases(cases);
  quant_cases(cases);
  info_cases(cases);
  return std::move(cases.list);
}

std::vector<McfCase> mcf_verify_cases() {
  Cases cases;
  const File good = mcf_good();
  const auto spoiled = [&](std::size_t at, char value) {
    File file = good;
    file.spoil = [=](std::string& bytes) { bytes[at] = value; };
    return file;
  };
  cases.add("mcf.padding", "between_header_and_first_payload", spoiled(50, 1));
  cases.add("mcf.padding", "between_payloads", spoiled(100, 1));
  cases.add("mcf.padding", "behind_the_data", spoiled(64 + 64 + 3, 1));
  File reversed = good;
  reversed.spoil = [](std::string& bytes) {
    const std::string first = bytes.substr(bytes.size() - 48, 24), second = bytes.substr(bytes.size() - 24);
    bytes.replace(bytes.size() - 48, 48, second + first);
  };
  cases.add("mcf.directory.order", "by_falling_type", reversed);
  cases.add("mcf.directory.first", "as_in_the_figure", directory_first());
  File hole;
  hole.sections[0x100] = "{}";
  hole.sections[0x200] = std::string(16, '\0');
  hole.lies["drop_512"] = 1;
  cases.add("mcf.gap", "of_a_section_that_is_not_listed", hole);
  cases.info("mcf.info.arch", "seven", {.fields = {{"arch", 7}}});
  cases.info("mcf.info.rope_type", "four", {.fields = {{"rope_type", 4}}});
  File changed;
  changed.sections[0x103] = R"({"chat_template": "another"})";
  changed.sections[1] = info_bytes({.pairs = {{"tare.attachment.chat_template.jinja", 3, "mine"},
                                              {"tare.original.tokenizer_config.json", 3, "{}"}}});
  cases.add("mcf.private.stale", "another_template_since", changed);
  cases.info("mcf.private.malformed", "original_of_no_file", {.pairs = {{"tare.original.vocab.json", 3, "{}"}}});
  cases.lie("mcf.version.other", good, "minor", 0);
  cases.lie("mcf.version.other", good, "minor", 9);
  cases.lie("mcf.flags.unknown", good, "flags", 3);
  File unknown;
  unknown.sections[0x200] = "of a later version";
  cases.add("mcf.section.unknown", "0x200", unknown);
  cases.lie("mcf.index.unsorted", good, "index_flags", 2);
  cases.lie("mcf.index.utf8", good, "index_flags", 1);
  cases.lie("mcf.index.flags", good, "index_flags", 7);
  File strange = good;
  strange.tensors[1].name = "\xFF";
  strange.lies["index_flags"] = 1;
  cases.add("mcf.index.utf8", "a_name_that_is_not", strange);
  File swapped = good;
  std::swap(swapped.tensors[0], swapped.tensors[1]);
  swapped.lies["index_flags"] = 2;
  cases.add("mcf.index.unsorted", "b_before_a", swapped);
  File gap = good;
  gap.sections[3] = index_bytes(good, {64, 128}) + "tail";
  cases.add("mcf.index.order", "bytes_behind", gap);
  File close = good;
  close.alignment = 8;
  cases.add("mcf.tensor.unaligned", "on_multiples_of_8", close);
  File bare = mcf_good_q8();
  bare.records.clear();
  cases.add("mcf.quantinfo.absent", "q8", bare);
  cases.record("mcf.quantinfo.reversed", "lower_above_upper", {.min = 2, .max = -2});
  cases.record("mcf.quantinfo.unknown", "no_numbers",
               {.min = std::numeric_limits<float>::quiet_NaN(), .max = std::numeric_limits<float>::quiet_NaN()});
  File two = mcf_good_q8();
  two.tensors.push_back(two.tensors[0]);
  two.tensors[1].name = "x";
  two.records = {{.tensor = 1}, {.tensor = 0}};
  cases.add("mcf.quantinfo.order", "falling", two);

  cases.info("mcf.info.order", "keys", {.pairs = {{"b", 3, "1"}, {"a", 3, "2"}}});
  File padding;
  padding.sections[1] = info_bytes({.name = "a"});
  padding.sections[1][94] = 'x';
  cases.add("mcf.info.padding", "behind_a_name", padding);
  cases.info("mcf.info.conflict", "name_told_thrice",
             {.name = "n", .pairs = {{"general.name", 3, "a"}, {"mcf.model_name", 3, "b"}}});
  cases.info("mcf.info.conflict", "tree_and_pair", {.pairs = {{"a", 3, "1"}, {"tare.metadata", 3, R"({"a":[1]})"}}});
  for (const std::string key : {"tare.config", "tare.metadata", "tare.vocabulary", "tare.attributes.a"}) {
    cases.info("mcf.private.malformed", key + "_no_json", {.pairs = {{key, 3, "{"}}});
    cases.info("mcf.private.malformed", key + "_no_object", {.pairs = {{key, 3, "[]"}}});
    cases.info("mcf.private.malformed", key + "_no_string", {.pairs = {{key, 1, u32(1)}}});
  }
  cases.info("mcf.private.malformed", "vocabulary_of_nothing", {.pairs = {{"tare.vocabulary", 3, R"({"tokens":1})"}}});
  File both;
  both.sections[0x105] = "a b";
  both.sections[1] = info_bytes({.pairs = {{"tare.attachment.merges.txt", 3, "c d"}}});
  cases.add("mcf.private.malformed", "attachment_twice", both);
  cases.info("mcf.private.stale", "type", {.pairs = {{"tare.type.gone", 3, "bool"}}});
  cases.info("mcf.private.stale", "attributes", {.pairs = {{"tare.attributes.gone", 3, R"({"a":1})"}}});
  for (const std::string type : {"bool", "f8_e4m3fn", "complex64", "i32:x", "f32:"}) {
    File file = good;
    file.sections[1] = info_bytes({.pairs = {{"tare.type.a", 3, type}}});
    if (type == "complex64") file.tensors[0] = {"a", 1, {1, 3}, std::string(12, '\0'), {}};
    std::string name = type;
    std::replace(name.begin(), name.end(), ':', '_');
    cases.add("mcf.private.type", name, file);
  }
  return std::move(cases.list);
}

}  // namespace tare::testing
