// ALT files with two tokens and two tensors, byte by byte: what is written, and what is read from it.
#include <set>

#include "conformance/alt_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;

// Converts "00 01 ff" to bytes; words in brackets are text, # begins a comment up to the end of the line.
Bytes hex(std::string_view text) {
  Bytes out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '#') {
      i = text.find('\n', i);
    } else if (text[i] == '[') {
      for (++i; text[i] != ']'; ++i) out.push_back(static_cast<std::byte>(text[i]));
    } else if (std::isxdigit(static_cast<unsigned char>(text[i])) != 0) {
      out.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
      ++i;
    }
  }
  return out;
}

Model golden_model() {
  Model model;
  model.config.model_type = "tiny";
  model.config.hidden_act = "silu";
  model.config.tie_word_embeddings = true;
  model.config.hidden_size = 8;
  model.config.intermediate_size = 16;
  model.config.max_position_embeddings = 64;
  model.config.num_attention_heads = 2;
  model.config.num_hidden_layers = 1;
  model.config.num_key_value_heads = 1;
  model.config.sliding_window = 32;
  model.config.rope_theta = 10000.0;
  model.config.rms_norm_eps = 1e-5;
  model.config.initializer_range = 0.02;
  model.config.head_dim = 4;
  model.metadata.set("base_model", "b");
  model.metadata.set("author", "me");
  model.metadata.set("created_at", "2024-07-05");
  model.metadata.set("last_modified", "2024-12-24");
  model.metadata.set("license", "MIT");
  model.metadata.set("uuid", "00112233-4455-8677-8899-aabbccddeeff");
  model.vocabulary.tokens = {{"<s>", 0, TokenType::bos}, {"hi", -1.5F, TokenType::normal}};
  model.vocabulary.bos = 0;
  model.tensors = {
      dense("lm_head.weight", {1, 2}, DType::f16, Blob::memory(hex("00 3C 00 40"))),
      dense("a.layers.0.mlp.up_proj.weight", {2}, DType::f32, Blob::memory(hex("00 00 80 3F 00 00 00 C0")))};
  return model;
}

constexpr std::string_view kStartAndGeneral = R"(
  00 74 6C 61 00 00 00 00   # magic: "\0tla", an int64
  20 00 00 00 00 00 00 00   # size of the start marker, all of it: 32
  02 00 00 00  20 00 00 00  # version 2, alignment 32
  00 00 00 00 00 00 00 00
  BE BA FE CA 00 00 00 00   # general
  80 00 00 00 00 00 00 00   # 16 + 94 + 18 of padding
  04 00 00 00 [tiny]        # model_type
  01 00 00 00 [b]           # base_model
  02 00 00 00 [me]          # author
  0A 00 00 00 [2024-07-05]  # created_at
  0A 00 00 00 [2024-12-24]  # last_modified
  03 00 00 00 [MIT]         # license
  24 00 00 00 [00112233-4455-8677-8899-aabbccddeeff]
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
)";

constexpr std::string_view kParametersSpec = R"(
  EF BE AD DE 00 00 00 00   # parameters
  60 00 00 00 00 00 00 00   # 16 + 53 + 27
  04 00 00 00 [silu]        # hidden_act
  01                        # tie_word_embeddings
  08 00 00 00  10 00 00 00  # hidden_size, intermediate_size
  40 00 00 00  02 00 00 00  # max_position_embeddings, num_attention_heads
  01 00 00 00  01 00 00 00  # num_hidden_layers, num_key_value_heads
  20 00 00 00               # sliding_window
  00 40 1C 46               # rope_theta 10000
  AC C5 27 37               # rms_norm_eps 1e-5
  0A D7 A3 3C               # initializer_range 0.02
  04 00 00 00               # head_size
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
)";

constexpr std::string_view kRestSpec = R"(
  FE CA DD BA 00 00 00 00   # tokenizer
  60 00 00 00 00 00 00 00   # 16 + 53 + 27
  02 00 00 00               # vocab_size
  00 00 00 00  FF FF FF FF  # bos 0, eos -1
  FF FF FF FF  FF FF FF FF  # pad -1, unk -1
  40 00 00 00               # seq_len
  03 00 00 00 [<s>] 00 00 00 00 05 00 00 00  # length, bytes, score, type bos
  02 00 00 00 [hi]  00 00 C0 BF 00 00 00 00  # score -1.5, type normal
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  ED FE CE FA 00 00 00 00   # tensors
  C0 00 00 00 00 00 00 00   # 16 + 173 + 3
  02 00 00 00 00 00 00 00   # tensor_count
  03 00 00 00 00 00 00 00   # shape_count: 1 + 2
  01 00 00 00  01 00 00 00  # block_count, unique_count
  00 00 00 00  00 00 00 00  # layers, block 0
  02 00 00 00  06 00 00 00  # mlp, up_proj
  01 00 00 00  02 00 00 00  # one dimension: 2
  1D 00 00 00 [a.layers.0.mlp.up_proj.weight]
  00 00 00 00               # float32
  00 00 00 00  00 00 00 00  00 00 00 00  00  # delta, min, max, packing_flag
  00 00 80 3F  00 00 00 C0
  02 00 00 00  FE FF FF FF  # lm_head, -2
  05 00 00 00  00 00 00 00  # weight, no projection
  02 00 00 00  01 00 00 00  02 00 00 00
  0E 00 00 00 [lm_head.weight]
  01 00 00 00               # float16
  00 00 00 00  00 00 00 00  00 00 00 00  00
  00 3C  00 40
  00 00 00
  FF FF FF 0F 00 00 00 00   # the end
)";

constexpr std::string_view kAltc = R"(
  00 74 6C 61 00 00 00 00   # magic
  08 00 00 00 00 00 00 00   # the fields only
  02 00 00 00  20 00 00 00
  00 00 00 00 00 00 00 00
  BE BA FE CA 00 00 00 00   # general
  5E 00 00 00 00 00 00 00   # 94
  04 00 00 00 [tiny]
  01 00 00 00 [b]
  02 00 00 00 [me]
  0A 00 00 00 [2024-07-05]
  0A 00 00 00 [2024-12-24]
  03 00 00 00 [MIT]
  24 00 00 00 [00112233-4455-8677-8899-aabbccddeeff]
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  EF BE AD DE 00 00 00 00   # parameters
  35 00 00 00 00 00 00 00   # 53
  04 00 00 00 [silu]
  01
  08 00 00 00  10 00 00 00
  40 00 00 00  02 00 00 00
  01 00 00 00  01 00 00 00
  20 00 00 00
  04 00 00 00               # head_size comes first here
  AC C5 27 37               # rms_norm_eps
  00 40 1C 46               # rope_theta
  0A D7 A3 3C               # initializer_range
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  FE CA DD BA 00 00 00 00   # tokenizer
  31 00 00 00 00 00 00 00   # 20 + (12 + 3) + (12 + 2): four bytes a token too few
  02 00 00 00
  00 00 00 00  FF FF FF FF
  FF FF FF FF  FF FF FF FF
  00 00 00 00  06 00 00 00  00 00 00 00  03 00 00 00 [<s>]  # score, type bos, id, length, bytes
  00 00 C0 BF  00 00 00 00  01 00 00 00  02 00 00 00 [hi]
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  FF FF FF 0F 00 00 00 00   # no tensors: the end
)";

constexpr std::string_view kVersion1 = R"(
  63 74 6C 61               # magic: "ctla"
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  EF BE AD DE 00 00 00 00   # parameters
  44 00 00 00 00 00 00 00   # 16 + 52, padding not counted
  04 00 00 00 [tiny]        # model_type
  08 00 00 00  01 00 00 00  # hidden_size, num_hidden_layers
  10 00 00 00  02 00 00 00  # intermediate_size, num_attention_heads
  01 00 00 00  20 00 00 00  # num_key_value_heads, sliding_window
  00 40 1C 46  AC C5 27 37  # rope_theta, rms_norm_eps
  04 00 00 00               # head_size
  00 00 00 00               # data_type: one float32, one float16; the lower number
  40 00 00 00               # context_length
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  FE CA DD BA 00 00 00 00   # tokenizer
  31 00 00 00 00 00 00 00   # 16 + 33
  02 00 00 00
  00 00 00 00  FF FF FF FF
  FF FF FF FF  FF FF FF FF
  03 00 00 00 [<s>]
  02 00 00 00 [hi]
  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
  ED FE CE FA 00 00 00 00   # tensors
  7B 00 00 00 00 00 00 00   # 16 + 107
  02 00 00 00 00 00 00 00   # tensor_count
  03 00 00 00 00 00 00 00   # shape_count
  01 00 00 00  1D 00 00 00  00 00 00 00  # one dimension, a name of 29 bytes, float32
  02 00 00 00 [a.layers.0.mlp.up_proj.weight]
  00 00 80 3F  00 00 00 C0
  02 00 00 00  0E 00 00 00  01 00 00 00  # float16
  01 00 00 00  02 00 00 00 [lm_head.weight]
  00 3C  00 40
  00 00 00 00 00
  FF FF FF 0F               # the end, four bytes
)";

std::string shown(std::span<const std::byte> bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char text[8];
    std::snprintf(text, sizeof text, "%02x%s", std::to_integer<unsigned>(bytes[i]), i % 16 == 15 ? "\n" : " ");
    out += text;
  }
  return out;
}

void expect_golden(std::string_view name, const Model& model, const Bytes& golden, const WriteOptions& options = {}) {
  const Format& format = *find_format(name);
  EXPECT_EQ(shown(write_bytes(format, model, options)), shown(golden));
  const Model found = open(memory_source(golden, "it"));
  EXPECT_EQ(found.format, name);
  EXPECT_EQ(describe(found), describe(model));
  EXPECT_EQ(to_json(found.config.to_map()), to_json(model.config.to_map()));
  EXPECT_EQ(to_json(found.vocabulary.to_map()), to_json(model.vocabulary.to_map()));
  EXPECT_TRUE(found.metadata == model.metadata) << to_json(found.metadata);
}

Bytes golden_v2() { return hex(std::string(kStartAndGeneral) + std::string(kParametersSpec) + std::string(kRestSpec)); }

TEST(AltGolden, Version2) { expect_golden("alt", golden_model(), golden_v2()); }

TEST(AltGolden, Version2InTheDialectOfAltc) {
  Model model = golden_model();
  model.tensors.clear();
  expect_golden("alt", model, hex(kAltc), {.dialect = "altc"});
}

TEST(AltGolden, Version1) {
  Model model = golden_model();
  model.metadata = {};
  model.config.hidden_act.reset();
  model.config.tie_word_embeddings.reset();
  model.config.initializer_range.reset();
  for (Token& token : model.vocabulary.tokens) token = {token.text, 0, TokenType::normal};
  expect_golden("alt1", model, hex(kVersion1));
}

TEST(AltGolden, QuantizedTensors) {
  // Codes 7, -7, 3, the first in the high nibble; and a range of bytes.
  Model model = golden_model();
  Tensor four;
  four.name = "q";
  four.shape = {3, 1};
  four.layout = "alt.qint4";
  four.components = {{"payload", DType::u8, "", Blob::memory(hex("79 30"))}};
  four.attributes.set("delta", 0.5);
  four.attributes.set("min", 0.0);
  four.attributes.set("max", 0.0);
  four.attributes.set("packed", true);
  Tensor eight = four;
  eight.name = "r";
  eight.layout = "alt.qint8";
  eight.components = {{"payload", DType::u8, "", Blob::memory(hex("00 80 FF"))}};
  eight.attributes.set("min", -1.0);
  eight.attributes.set("max", 126.5);
  eight.attributes.set("packed", false);
  model.tensors = {four, eight};
  const Bytes file = write_bytes(*find_format("alt"), model);
  const std::string records = shown(hex(R"(
    04 00 00 00 FC FF FF FF 00 00 00 00 00 00 00 00  02 00 00 00 03 00 00 00 01 00 00 00  01 00 00 00 [q]
    03 00 00 00  00 00 00 3F 00 00 00 00 00 00 00 00 01  79 30
    04 00 00 00 FC FF FF FF 00 00 00 00 00 00 00 00  02 00 00 00 03 00 00 00 01 00 00 00  01 00 00 00 [r]
    02 00 00 00  00 00 00 3F 00 00 80 BF 00 00 FD 42 00  00 80 FF)"));
  const std::size_t section = file.size() - 8 - 16 * 10;
  EXPECT_EQ(shown(std::span(file).subspan(section + 40, 105)), records);
  const Model found = open(memory_source(file, "it"));
  const auto floats = [&](std::string_view name) { return found.tensor(name)->values<float>(); };
  EXPECT_EQ(floats("q"), (std::vector<float>{3.5F, -3.5F, 1.5F}));
  EXPECT_EQ(floats("r"), (std::vector<float>{-1.0F, 63.0F, 126.5F}));
}

std::string uuid_in(const Bytes& file) { return *open(memory_source(file, "it")).metadata.find("uuid")->text(); }

// A UUID of version 8, from the digest's bits.
std::string uuid_of(const Bytes& hashed) {
  std::string digest = digest_of(DigestAlgorithm::xxh3_128, hashed).hex();
  digest[12] = '8';
  digest[16] = "89ab"[(digest[16] >= 'a' ? digest[16] - 'a' + 10 : digest[16] - '0') & 3];
  for (const std::size_t at : {8U, 13U, 18U, 23U}) digest.insert(at, 1, '-');
  return digest;
}

TEST(AltGolden, TheUuidIsOfConfigVocabularyAndTensors) {
  Model model = golden_model();
  model.metadata.erase("uuid");
  const Bytes golden = golden_v2();
  Bytes hashed = hex("04 00 00 00 [tiny]");
  const auto add = [&](const Bytes& bytes, std::size_t at, std::size_t count) {
    hashed.insert(hashed.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
  };
  add(golden, 160 + 16, 53);  // the parameters, without header and padding
  add(golden, 256 + 16, 53);  // the tokenizer
  const Bytes without_tensors = hashed;
  // In the order of writing: the layer first.
  const Digest tensors = digest_of(DigestAlgorithm::xxh3_128, hex("00 00 80 3F 00 00 00 C0 00 3C 00 40"));
  add(Bytes(tensors.bytes().begin(), tensors.bytes().end()), 0, 16);
  const Format& format = *find_format("alt");
  EXPECT_EQ(uuid_in(write_bytes(format, model)), uuid_of(hashed));
  // The author and the dates are not part of it.
  model.metadata.set("author", "you");
  model.metadata.set("created_at", "2025-01-01");
  EXPECT_EQ(uuid_in(write_bytes(format, model)), uuid_of(hashed));
  // Neither is the dialect.
  model.tensors.clear();
  hashed = without_tensors;
  const Digest none = digest_of(DigestAlgorithm::xxh3_128, {});
  add(Bytes(none.bytes().begin(), none.bytes().end()), 0, 16);
  EXPECT_EQ(uuid_in(write_bytes(format, model)), uuid_of(hashed));
  EXPECT_EQ(uuid_in(write_bytes(format, model, {.dialect = "altc"})), uuid_of(hashed));
  // Another tokenizer or another config makes another model.
  std::set<std::string> uuids = {uuid_of(hashed)};
  Model other = model;
  other.vocabulary.tokens[1].text = "ho";
  EXPECT_TRUE(uuids.insert(uuid_in(write_bytes(format, other))).second);
  other = model;
  other.config.rope_theta = 5000.0;
  EXPECT_TRUE(uuids.insert(uuid_in(write_bytes(format, other))).second);
  other = model;
  other.config.model_type = "small";
  EXPECT_TRUE(uuids.insert(uuid_in(write_bytes(format, other))).second);
}

TEST(AltGolden, DatesComeFromTheSourceDateEpoch) {
  Model model = golden_model();
  model.metadata.erase("created_at");
  ASSERT_EQ(::setenv("SOURCE_DATE_EPOCH", "951782400", 1), 0);
  const Model dated = open(memory_source(write_bytes(*find_format("alt"), model), "it"));
  EXPECT_EQ(*dated.metadata.find("created_at")->text(), "2000-02-29");
  EXPECT_EQ(*dated.metadata.find("last_modified")->text(), "2024-12-24");
  for (const char* const bad : {"soon", "1e9", "-1", "253402300800", "99999999999999999999"}) {
    ASSERT_EQ(::setenv("SOURCE_DATE_EPOCH", bad, 1), 0);
    EXPECT_EQ(rule_of([&] { write_bytes(*find_format("alt"), model); }), "alt.write.date") << bad;
    // The variable is used only if a date is missing.
    EXPECT_EQ(rule_of([&] { write_bytes(*find_format("alt"), golden_model()); }), "") << bad;
  }
  ASSERT_EQ(::unsetenv("SOURCE_DATE_EPOCH"), 0);
}

}  // namespace

namespace testing {

Bytes alt_golden_v2() { return golden_v2(); }
Bytes alt_golden_altc() { return hex(kAltc); }
Bytes alt_golden_v1() { return hex(kVersion1); }

}  // namespace testing
}  // namespace tare
