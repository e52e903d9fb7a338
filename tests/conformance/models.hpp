// Models that use everything a format can hold, and comparisons of models.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "conformance/architectures.hpp"
#include "conformance/scratch.hpp"
#include "formats/format.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::testing {

inline Bytes le_words(const std::vector<std::uint64_t>& numbers) {
  Bytes out;
  for (const std::uint64_t n : numbers)
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(n >> (8 * i) & 0xFF));
  return out;
}

// A file next to a model's weights.
inline Attachment text_file(std::string name, std::string_view text) {
  return {std::move(name), Blob::memory(to_bytes(text))};
}

// The name of a format's instance of a parameterized test.
inline std::string name_of_row(const ::testing::TestParamInfo<const Format*>& row) {
  return std::string(row.param->name);
}

inline Tensor make_csr(std::string name) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = {3, 4};
  tensor.layout = "sparse_csr";
  tensor.components = {{"values", DType::f32, "", Blob::memory(elements(DType::f32, 4, 7))},
                       {"indices", DType::u64, "", Blob::memory(le_words({0, 3, 1, 2}))},
                       {"indptr", DType::u64, "", Blob::memory(le_words({0, 2, 2, 4}))}};
  return tensor;
}

inline Tensor make_coo(std::string name) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = {2, 3, 4};
  tensor.layout = "sparse_coo";
  tensor.components = {{"values", DType::i16, "", Blob::memory(elements(DType::i16, 2, 9))},
                       {"coords", DType::u64, "", Blob::memory(le_words({0, 1, 2, 0, 3, 1}))}};
  return tensor;
}

// 2 matrix rows of 16 columns, with 4 bits and groups of 8.
inline Tensor make_group(std::string name) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = {2, 16};
  tensor.layout = "quantized_group";
  const Bytes halves = to_bytes(std::string("\0\x3C\0\x40\0\x44\0\x38", 8));  // 1, 2, 4, 0.5
  tensor.components = {{"packed_weight", DType::i32, "", Blob::memory(noise(16, 3))},
                       {"scales", DType::f16, "", Blob::memory(halves)},
                       {"zeros", DType::f16, "", Blob::memory(halves)}};
  tensor.components.back().blob = Blob::memory(to_bytes(std::string("\0\x3C\0\x40\0\x44\0\x48", 8)));  // 1, 2, 4, 8
  tensor.attributes.set("bits", 4);
  tensor.attributes.set("group_size", 8);
  tensor.attributes.set("packing", "8_per_i32");
  return tensor;
}

// An unknown layout.
inline Tensor make_strange(std::string name) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = {5, 7};
  tensor.layout = "x.unheard_of";
  tensor.components = {{"codes", DType::u8, "", Blob::memory(noise(13, 4))},
                       {"book", DType::bf16, "", Blob::memory(noise(32, 5))}};
  tensor.attributes.set("depth", 3);
  return tensor;
}

inline Map sample_metadata(Room room) {
  Map map;
  if (room == Room::none) return map;
  map.set("general.name", "a model");
  map.set("author", "J\xC3\xBCrgen \xE2\x80\x9Cquoted\xE2\x80\x9D \"\\\n");
  if (room == Room::strings) return map;
  map.set("epochs", 3);
  map.set("negative", -7000000000);
  map.set("huge", std::uint64_t{1} << 63);
  map.set("rate", 0.1);
  map.set("half", 1.5);
  map.set("done", true);
  map.set("nothing", nullptr);
  map.set("raw", to_bytes(std::string("\x00\xFF\x80", 3)));
  Map inner;
  inner.set("b", List{1, "two", 3.5, List{}, Map{}});
  inner.set("aa", Map{});
  map.set("nested", inner);
  map.set("", "the empty key");
  return map;
}

// A text for each key of a format: digits, because some keys hold a number.
inline Map sample_metadata(const Capabilities& holds) {
  if (lists(holds.metadata_keys, "*")) return sample_metadata(holds.metadata);
  Map map;
  // Dates and identifiers must be valid, because a reader may check them.
  for (const std::string_view key : holds.metadata_keys)
    map.set(key, key.ends_with("_at") || key == "last_modified" ? "2024-02-29"
                 : key == "uuid"                                ? "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
                                                                : std::to_string(100 + map.size()));
  return map;
}

inline Vocabulary sample_vocabulary() {
  Vocabulary vocabulary;
  vocabulary.kind = "bpe";
  vocabulary.tokens = {
      {"<s>", 0, TokenType::bos}, {"\xFF\x00z", -1.5F, TokenType::byte}, {"hello", 2, TokenType::normal}};
  vocabulary.tokens[1].text = std::string("\xFF\0z", 3);
  vocabulary.merges = {"h e", "l l"};
  vocabulary.bos = 0;
  vocabulary.unk = 2;
  return vocabulary;
}

// The vocabulary above without the parts that a format has no field for.
inline Vocabulary sample_vocabulary(const Capabilities& holds) {
  Vocabulary vocabulary = sample_vocabulary();
  const auto keeps = [&](std::string_view part) { return lists(holds.vocabulary_parts, part); };
  if (!keeps("kind")) vocabulary.kind.clear();
  if (!keeps("merges")) vocabulary.merges.clear();
  for (Token& token : vocabulary.tokens) {
    if (!keeps("scores")) token.score = 0;
    if (!keeps("types")) token.type = TokenType::normal;
  }
  return vocabulary;
}

// A config without the fields that a format lacks. Floats are short decimals, because some containers keep 32 bits.
inline Config sample_config(const Capabilities& holds, double rope_theta = 10000.0) {
  Map map;
  const auto put = [&](std::string_view key, Value value) {
    if (holds.has_field(key)) map.set(key, std::move(value));
  };
  put("model_type", "llama");
  put("hidden_size", 64);
  put("max_position_embeddings", 512);
  put("rope_theta", rope_theta);
  put("tie_word_embeddings", false);
  return Config::from_map(map);
}

// Adds everything that the format holds, except tensors.
inline void add_the_rest(Model& model, const Capabilities& holds) {
  model.metadata = sample_metadata(holds);
  if (holds.config) model.config = sample_config(holds);
  if (holds.vocabulary) model.vocabulary = sample_vocabulary(holds);
  if (holds.attachments)
    model.attachments = {{"config.json", Blob::memory(to_bytes("{\"a\": 1}\n"))},
                         {"empty", Blob::memory({})},
                         {"deep/er/merges.txt", Blob::memory(noise(300, 11))}};
}

// Whether the container cannot hold a tensor, whatever its contents.
inline bool exceeds(const Tensor& tensor, const Capabilities& holds) {
  return tensor.shape.rank() > holds.max_rank || tensor.name.size() > holds.max_name;
}

// A model of small tensors that uses everything in `holds`.
inline Model full_model(const Capabilities& holds) {
  if (!holds.architecture.empty()) return architecture_model(holds.architecture, holds, Scale::full);
  Model model;
  std::uint64_t seed = 20;
  const auto add = [&](Tensor tensor) {
    if (exceeds(tensor, holds)) return;
    if (holds.many_tensors || model.tensors.empty()) model.tensors.push_back(std::move(tensor));
  };
  for (const DType dtype : holds.dtypes)
    add(make_dense("types." + std::string(name_of(dtype)), {3, 5}, dtype, "", ++seed));
  for (const LogicalType& type : known_logical_types())
    if (lists(holds.logical_types, type.name))
      add(make_dense("logical." + std::string(type.name), {2, 3}, type.storage, std::string(type.name), ++seed));
  if (lists(holds.logical_types, "*")) add(make_dense("logical.unheard_of", {4}, DType::u16, "posit16", ++seed));
  const DType some = holds.dtypes.front();
  add(make_dense("shape.scalar", {}, some, "", ++seed));
  add(make_dense("shape.empty", {0, 4}, some));
  add(make_dense("shape.empty_last", {2, 3, 0}, some));
  add(make_dense("shape.ones", {1, 1, 1}, some, "", ++seed));
  add(make_dense("shape.rank8", {2, 1, 2, 1, 2, 1, 2, 1}, some, "", ++seed));
  add(make_dense("name with spaces, \"quotes\", 'more' and \\", {2}, some, "", ++seed));
  add(make_dense("\xE5\xB1\xA4.0.\xF0\x9F\x98\x80/\xC3\xA4", {2}, some, "", ++seed));
  add(make_dense("a/b/../c", {2}, some, "", ++seed));
  if (lists(holds.layouts, "sparse_csr")) add(make_csr("layout.csr"));
  if (lists(holds.layouts, "sparse_coo")) add(make_coo("layout.coo"));
  if (lists(holds.layouts, "quantized_group")) add(make_group("layout.group"));
  // Every codec that can encode, if the format lists its layout.
  for (const Codec& codec : codecs())
    if (codec.encode != nullptr && codec.layout != "quantized_group" &&
        std::find(holds.layouts.begin(), holds.layouts.end(), codec.layout) != holds.layouts.end())
      for (const std::string_view method : codec.methods) {
        const Shape shape = codec.row_multiple > 1 ? Shape{1, codec.row_multiple} : Shape{3, 7};
        add(codec.encode(make_dense("codec." + std::string(method), shape, DType::f32, "", ++seed),
                         {.method = std::string(method), .threads = 1}));
      }
  if (lists(holds.layouts, "*")) add(make_strange("layout.strange"));
  if (holds.tensor_attributes) {
    model.tensors.front().attributes = sample_metadata(Room::tree);
    model.tensors.back().attributes.set("note", "last");
  }
  add_the_rest(model, holds);
  return model;
}

// A few hundred bytes: for tests that try every byte of the file.
inline Model small_model(const Capabilities& holds) {
  if (!holds.architecture.empty()) return architecture_model(holds.architecture, holds, Scale::small);
  Model model;
  model.tensors.push_back(make_dense("w", {2, 3}, DType::f32, "", 5));
  if (holds.many_tensors) {
    const bool bytes = std::find(holds.dtypes.begin(), holds.dtypes.end(), DType::u8) != holds.dtypes.end();
    model.tensors.push_back(make_dense("bias", {5}, bytes ? DType::u8 : holds.dtypes.back(), "", 6));
  }
  if (lists(holds.layouts, "sparse_coo")) model.tensors.push_back(make_coo("s"));
  if (lists(holds.metadata_keys, "k") && holds.metadata != Room::none) model.metadata.set("k", "v");
  if (holds.tensor_attributes) model.tensors[0].attributes.set("a", List{1, 2.5});
  return model;
}

// The full model and a tensor of `elements` floats, if the format holds more than one tensor.
inline Model full_and_large_model(const Capabilities& holds, std::uint64_t elements) {
  if (!holds.architecture.empty()) return architecture_model(holds.architecture, holds, Scale::large);
  Model model = full_model(holds);
  if (holds.many_tensors) model.tensors.push_back(make_dense("large", {elements}, DType::f32));
  return model;
}

// The small model with one tensor of 256 KiB.
inline Model small_and_large_model(const Capabilities& holds) {
  if (!holds.architecture.empty()) return architecture_model(holds.architecture, holds, Scale::large);
  Model model = small_model(holds);
  model.tensors[0] = make_dense("w", {1 << 16}, DType::f32);
  return model;
}

// At least 10,000 tensors.
inline Model wide_model(const Capabilities& holds) {
  if (!holds.architecture.empty()) return architecture_model(holds.architecture, holds, Scale::wide);
  Model model;
  for (int i = 0; i < 10000; ++i) {
    const Bytes four(4, static_cast<std::byte>(i));
    model.tensors.push_back(dense("layer." + std::to_string(i), {1}, DType::f32, Blob::memory(four)));
  }
  return model;
}

// The valid files of fuzz/corpus, in order of name; none for a directory.
inline std::vector<Bytes> stored_files(const Format& format) {
  const std::filesystem::path folder = std::filesystem::path(TARE_TEST_DIR) / "../fuzz/corpus" / format.name;
  std::vector<std::filesystem::path> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with("valid."))
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Bytes> files;
  for (const auto& path : paths) files.push_back(get_file(path));
  return files;
}

// Options for the smallest file: a container with much padding has a dialect with less.
inline WriteOptions compact(const Format& format, WriteOptions options = {}) {
  if (lists(format.holds.dialects, "pages")) options.dialect = "pages";
  return options;
}

inline Bytes write_bytes(const Format& format, const Model& model, const WriteOptions& options = {}) {
  MemorySink sink;
  format.write(model, sink, options);
  sink.commit();
  return sink.take();
}

// A format that holds a single tensor does not store its name.
inline void forget_names(Model& model, const Capabilities& holds) {
  if (!holds.many_tensors)
    for (Tensor& tensor : model.tensors) tensor.name = "it";
}

// Everything about the tensors as text, except where they are stored.
inline std::string describe(const Model& model) {
  std::vector<std::string> lines;
  for (const Tensor& tensor : model.tensors) {
    std::string line = escape_name(tensor.name) + " " + tensor.layout + " " + tensor.shape.text() + " " +
                       to_json(tensor.complete_attributes(), JsonKeys::sorted);
    std::vector<std::string> parts;
    for (const Component& c : tensor.components)
      parts.push_back(" " + c.role + ":" + std::string(name_of(c.dtype)) + ":" + c.type + ":" +
                      digest_of(DigestAlgorithm::xxh3, c.blob.bytes()).hex());
    std::sort(parts.begin(), parts.end());
    for (const auto& part : parts) line += part;
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

// The listing of `ls`, and where everything is stored.
inline std::string listing(const Model& model) {
  std::string out = model.format + " " + model.version + " " + std::to_string(model.file_bytes) + "\n" +
                    to_json(model.metadata) + to_json(model.config.to_map()) + to_json(model.vocabulary.to_map()) +
                    "\n";
  for (const Tensor& tensor : model.tensors)
    for (const Component& c : tensor.components)
      out += escape_name(tensor.name) + " " + c.role + " " + std::to_string(c.blob.offset()) + " " +
             std::to_string(c.blob.size()) + " " + std::to_string(c.blob.stored_size()) + " " +
             std::string(name_of(c.blob.encoding())) + " " + c.blob.digest().text() + "\n";
  for (const Attachment& a : model.attachments)
    out += a.name + " " + digest_of(DigestAlgorithm::xxh3, a.blob.bytes()).hex() + "\n";
  return out + describe(model);
}

inline void expect_same_attachments(const Model& a, const Model& b) {
  ASSERT_EQ(a.attachments.size(), b.attachments.size());
  for (const Attachment& attachment : a.attachments) {
    const Attachment* other = b.attachment(attachment.name);
    ASSERT_NE(other, nullptr) << attachment.name;
    EXPECT_EQ(attachment.blob.bytes(), other->blob.bytes()) << attachment.name;
  }
}

// A format with fixed keys may fill in some, such as an identifier or a date.
inline void forget_filled_in(Model& found, const Model& expected, const Capabilities& holds) {
  if (lists(holds.metadata_keys, "*")) return;
  Map kept;
  for (const auto& [key, value] : found.metadata)
    if (expected.metadata.find(key) != nullptr) kept.append(key, value);
  found.metadata = kept;
}

// A format whose readers expect certain files gets missing ones during conversion.
inline void forget_made_files(Model& found, const Model& expected) {
  std::erase_if(found.attachments,
                [&](const Attachment& attachment) { return expected.attachment(attachment.name) == nullptr; });
}

// A UUID that ALT's writer computed from the tensors may be omitted.
inline bool is_computed(const Map::Entry& entry) {
  const std::string* const text = entry.second.text();
  return entry.first == "uuid" && text != nullptr && text->size() == 36 && (*text)[14] == '8';
}

inline void forget_computed(Model& expected, const Capabilities& holds) {
  if (holds.metadata != Room::none && lists(holds.metadata_keys, "uuid")) return;
  Map kept;
  for (const auto& entry : expected.metadata)
    if (!is_computed(entry)) kept.append(entry.first, entry.second);
  expected.metadata = kept;
}

// The parts of this model, except tensors, that a format cannot hold, as in AdaptOptions::drop.
inline std::vector<ModelPart> without_room(const Model& model, const Capabilities& holds) {
  std::vector<ModelPart> drop;
  const bool metadata = std::all_of(model.metadata.begin(), model.metadata.end(), [&](const Map::Entry& entry) {
    return is_computed(entry) || (holds.metadata != Room::none && lists(holds.metadata_keys, entry.first) &&
                                  (holds.metadata == Room::tree || entry.second.text() != nullptr));
  });
  const bool attributes = std::all_of(model.tensors.begin(), model.tensors.end(), [&](const Tensor& tensor) {
    const Codec* const codec = find_codec(tensor.layout);
    return holds.tensor_attributes ||
           std::all_of(tensor.attributes.begin(), tensor.attributes.end(),
                       [&](const auto& a) { return codec != nullptr && lists(codec->parameters, a.first); });
  });
  if (!metadata) drop.push_back(ModelPart::metadata);
  if (!attributes) drop.push_back(ModelPart::attributes);
  if (!model.config.empty() && !holds.config) drop.push_back(ModelPart::config);
  if (!model.vocabulary.empty() && !holds.vocabulary) drop.push_back(ModelPart::vocabulary);
  if (!model.attachments.empty() && !holds.attachments) drop.push_back(ModelPart::attachments);
  return drop;
}

// Whether a format holds this model completely, apart from tensors.
inline bool has_room(const Model& model, const Capabilities& holds) { return without_room(model, holds).empty(); }

// Whether it also returns everything.
inline bool is_lossless(const Capabilities& holds) {
  return lists(holds.metadata_keys, "*") && holds.other_fields && lists(holds.vocabulary_parts, "*");
}

inline void expect_same(Model expected, Model found, const Capabilities& holds) {
  forget_names(expected, holds);
  forget_names(found, holds);
  forget_filled_in(found, expected, holds);
  EXPECT_EQ(describe(found), describe(expected));
  EXPECT_EQ(content_digest(found), content_digest(expected));
  EXPECT_EQ(to_json(found.metadata, JsonKeys::sorted), to_json(expected.metadata, JsonKeys::sorted));
  EXPECT_TRUE(found.metadata == expected.metadata);
  EXPECT_TRUE(found.config == expected.config);
  EXPECT_TRUE(found.vocabulary == expected.vocabulary);
  expect_same_attachments(expected, found);
}

}  // namespace tare::testing
