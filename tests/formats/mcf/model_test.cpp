// How the fields of an MCF file map to a model and back: names, configuration, private keys, sections of later
// versions.
#include "conformance/mcf_cases.hpp"
#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "formats/mcf/write_mcf.hpp"
#include "tare/formats/mcf.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using mcf_bytes::File;
using mcf_bytes::Info;
using mcf_bytes::u32;

const Format& format() { return *find_format("mcf"); }
Model reopen(const Model& model) { return open(memory_source(write_mcf(model), "it")); }
Model open_file_of(const File& file) { return open(memory_source(bytes_of(file), "it")); }
Model open_info(const Info& info) {
  File file;
  file.sections[1] = mcf_bytes::info_bytes(info);
  return open_file_of(file);
}
std::uint64_t bits(float value) {
  std::uint32_t all;
  std::memcpy(&all, &value, 4);
  return all;
}

TEST(McfModel, FixedFieldsAreTheConfig) {
  const Model model = open_info({.fields = {{"arch", 2},
                                            {"vocab", 32000},
                                            {"hidden", 4096},
                                            {"layers", 32},
                                            {"heads", 31},
                                            {"kv_heads", 8},
                                            {"context", 32768},
                                            {"rope_type", 1},
                                            {"rope_base", bits(1e6F)},
                                            {"rope_scale", bits(1)}},
                                 .name = "Mistral",
                                 .base = "mistralai/Mistral-7B"});
  EXPECT_EQ(to_json(model.config.to_map()),
            R"({"model_type":"mistral","vocab_size":32000,"hidden_size":4096,"num_hidden_layers":32,)"
            R"("num_attention_heads":31,"num_key_value_heads":8,"max_position_embeddings":32768,)"
            R"("rope_theta":1000000.0})");
  EXPECT_EQ(to_json(model.metadata), R"({"general.name":"Mistral","base_model":"mistralai/Mistral-7B"})");
}

TEST(McfModel, FieldsTheConfigLacksAreMetadata) {
  const Info info{.fields = {{"arch", 77},
                             {"train_context", 2048},
                             {"rope_type", 3},
                             {"rope_base", bits(10000)},
                             {"rope_scale", bits(0.25)}}};
  const Model model = open_info(info);
  EXPECT_EQ(to_json(model.metadata, JsonKeys::sorted),
            R"({"mcf.arch":77,"mcf.rope_scale":0.25,"mcf.rope_type":"yarn","mcf.train_context":2048})");
  const Model again = reopen(model);
  EXPECT_TRUE(again.metadata == model.metadata);
  // They are stored in their fields, not in pairs.
  const std::string text = to_text(write_mcf(model));
  EXPECT_EQ(text.find("mcf."), std::string::npos);
}

// A user's own keys of these names, with values that no field has, are ordinary pairs.
TEST(McfModel, KeysThatLookLikeFieldsSurvive) {
  const std::vector<std::pair<std::string, Value>> entries = {{"mcf.arch", 0},
                                                              {"mcf.arch", 1},
                                                              {"mcf.arch", "llama"},
                                                              {"mcf.rope_type", "none"},
                                                              {"mcf.rope_type", "odd"},
                                                              {"mcf.rope_type", 2},
                                                              {"mcf.rope_type", 9},
                                                              {"mcf.rope_scale", 0.0},
                                                              {"mcf.rope_scale", "x"},
                                                              {"mcf.rope_scale", 0.1},
                                                              {"mcf.minor", 1},
                                                              {"mcf.minor", 70000},
                                                              {"mcf.minor", 5},
                                                              {"mcf.flags", 1},
                                                              {"mcf.flags", 6},
                                                              {"mcf.flags", -2},
                                                              {"mcf.header", to_bytes("12345678")},
                                                              {"mcf.header", "text"},
                                                              {"mcf.train_context", 0},
                                                              {"mcf.train_context", std::int64_t{1} << 32},
                                                              {"mcf.model_name", "n"},
                                                              {"general.name", ""},
                                                              {"general.name", 5},
                                                              {"general.name", List{1}},
                                                              {"tare.config", "{}"},
                                                              {"tare.metadata", "{}"},
                                                              {"tare.type.w", "bool"},
                                                              {"tare.what", 1},
                                                              {"mcf.flags", std::uint64_t{1} << 63},
                                                              {"", "nothing"}};
  for (const auto& [key, value] : entries) {
    SCOPED_TRACE(key + " = " + to_json(value));
    Model model;
    model.tensors = {make_dense("w", {3}, DType::u8)};
    model.metadata.set(key, value);
    const Model found = reopen(model);
    EXPECT_TRUE(found.metadata == model.metadata) << to_json(found.metadata);
    EXPECT_EQ(describe(found), describe(model));
    EXPECT_TRUE(found.config.empty());
    EXPECT_TRUE(write_mcf(found) == write_mcf(model));
  }
}

TEST(McfModel, NamesThatAreToldTwiceKeepBoth) {
  const Model model = open_info({.name = "field", .pairs = {{"general.name", 3, "pair"}}});
  EXPECT_EQ(to_json(model.metadata), R"({"general.name":"pair","mcf.model_name":"field"})");
  EXPECT_TRUE(reopen(model).metadata == model.metadata);
}

TEST(McfModel, PairsOfEveryType) {
  const Model model = open_info({.pairs = {{"a", 1, u32(4294967295)},
                                           {"b", 2, mcf_bytes::f32(0.1F)},
                                           {"c", 3, std::string("\xFF\0x", 3)},
                                           {"d", 3, ""}}});
  ASSERT_EQ(model.metadata.size(), 4U);
  EXPECT_EQ(*model.metadata.find("a"), Value(4294967295));
  EXPECT_EQ(*model.metadata.find("b"), Value(static_cast<double>(0.1F)));
  EXPECT_EQ(*model.metadata.find("c")->text(), std::string("\xFF\0x", 3));
  EXPECT_EQ(*model.metadata.find("d"), Value(""));
  EXPECT_TRUE(reopen(model).metadata == model.metadata);
  // A table with an offset but no entries.
  EXPECT_TRUE(open_info({.fields = {{"kv_off", 88}}}).metadata.empty());
}

TEST(McfModel, ConfigsComeBackWhateverTheyHold) {
  const auto expect_back = [](const std::function<void(Config&)>& set) {
    Model model;
    set(model.config);
    const Model found = reopen(model);
    EXPECT_TRUE(found.config == model.config) << to_json(found.config.to_map());
    EXPECT_TRUE(found.metadata.empty()) << to_json(found.metadata);
  };
  for (const char* const type : {"llama", "qwen", "qwen2", "gemma3", "smollm3", "unheard_of", ""})
    expect_back([&](Config& config) { config.model_type = type; });
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{4294967295}})
    expect_back([&](Config& config) {
      config.vocab_size = number;
      config.num_key_value_heads = number;
      config.head_dim = number;
    });
  for (const double theta : {10000.0, 0.1, 0.0, -1.0, 1e300, 5e-324})
    expect_back([&](Config& config) { config.rope_theta = theta; });
}

struct Nothing final : BlobProducer {
  std::unique_ptr<BlobReader> open(std::uint64_t /*offset*/) const override { return nullptr; }
  void verify() const override {}
};

TEST(McfModel, ThirtyTwoBitsAreNotExceededInSilence) {
  const auto refused = [](const std::function<void(Model&)>& spoil) {
    Model model;
    model.tensors = {make_dense("a", {2}, DType::f32), make_dense("b", {2}, DType::f32)};
    spoil(model);
    MemorySink sink;
    const std::string rule = rule_of([&] { format().write(model, sink, {}); });
    EXPECT_EQ(sink.bytes().empty(), !rule.empty()) << rule;
    return rule;
  };
  EXPECT_EQ(refused([](Model&) {}), "");
  EXPECT_EQ(refused([](Model& m) { m.config.vocab_size = std::int64_t{1} << 32; }), "mcf.write.limit");
  EXPECT_EQ(refused([](Model& m) { m.config.max_position_embeddings = INT64_MAX; }), "mcf.write.limit");
  // Never read: the size alone decides.
  const Blob huge = Blob::produced(std::uint64_t{1} << 32, std::make_shared<Nothing>());
  EXPECT_EQ(refused([&](Model& m) { m.attachments = {{"notes", huge}}; }), "mcf.write.limit");
  const Blob endless = Blob::produced(UINT64_MAX - 100, std::make_shared<Nothing>());
  EXPECT_EQ(refused([&](Model& m) {
              for (auto& tensor : m.tensors) tensor = dense(tensor.name, {UINT64_MAX - 100}, DType::u8, endless);
            }),
            "mcf.write.limit");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = ""; }), "mcf.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].name = "a"; }), "mcf.write.duplicate");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].layout = "sparse_csr"; }), "mcf.write.layout");
  EXPECT_EQ(refused([](Model& m) { m.tensors[1].components.push_back(m.tensors[1].components[0]); }),
            "mcf.write.components");
  EXPECT_EQ(refused([](Model& m) {
              m.tensors[1].shape = Shape(std::vector<std::uint64_t>(65, 1));
              m.tensors[1].components[0].blob = Blob::memory(Bytes(4));
            }),
            "mcf.write.rank");
  EXPECT_EQ(refused([](Model& m) {
              m.tensors[1] =
                  dense("c", Shape(std::vector<std::uint64_t>(64, 1)), DType::f32, Blob::memory(Bytes(8)), "complex64");
            }),
            "mcf.write.rank");
  EXPECT_EQ(refused([](Model& m) {
              m.metadata.append("x", 1);
              m.metadata.append("x", 1);
            }),
            "mcf.write.duplicate");
  EXPECT_EQ(
      refused([](Model& m) {
        m.attachments = {{"mcf.section.00000200.1", Blob::memory({})}, {"mcf.section.00000200.2", Blob::memory({})}};
      }),
      "mcf.write.duplicate");
}

// Files of the model fill the fields and are all that a reader needs: nothing private is added.
TEST(McfModel, ResourcesDescribeTheModel) {
  Model model;
  const std::string config = R"({"model_type":"qwen2","hidden_size":8,"rope_theta":5000.1,"rms_norm_eps":1e-6})";
  model.attachments = {{"config.json", Blob::memory(to_bytes(config))},
                       {"vocab.json", Blob::memory(to_bytes(R"({"a":0,"b":1,"ab":2})"))},
                       {"merges.txt", Blob::memory(to_bytes("a b\n"))}};
  const Bytes file = write_mcf(model);
  EXPECT_EQ(to_text(file).find("tare."), std::string::npos);
  const std::string fields = to_text(std::span(file).subspan(mcf::sections(*memory_source(file))[0].offset, 56));
  EXPECT_EQ(fields.substr(8, 4), u32(3));                    // qwen
  EXPECT_EQ(fields.substr(20, 4), u32(8));                   // hidden size
  EXPECT_EQ(fields.substr(48, 4), mcf_bytes::f32(5000.1F));  // rope base
  const Model found = open(memory_source(file));
  EXPECT_EQ(to_json(found.config.to_map()),
            R"({"model_type":"qwen2","hidden_size":8,"rope_theta":5000.1,"rms_norm_eps":1e-06})");
  ASSERT_EQ(found.vocabulary.tokens.size(), 3U);
  EXPECT_EQ(found.vocabulary.tokens[2].text, "ab");
  EXPECT_EQ(found.vocabulary.merges, std::vector<std::string>{"a b"});
  EXPECT_TRUE(found.metadata.empty()) << to_json(found.metadata);
  EXPECT_TRUE(write_mcf(found) == file);

  // Values that contradict the files are stored in addition.
  Model other = found;
  other.config.hidden_size = 16;
  other.vocabulary.tokens[0].text = "c";
  const Model again = reopen(other);
  EXPECT_TRUE(again.config == other.config);
  EXPECT_TRUE(again.vocabulary == other.vocabulary);
}

Model with_config_json(std::string_view text) {
  Model model;
  model.attachments = {{"config.json", Blob::memory(to_bytes(std::string(text)))}};
  return model;
}

// The training context, rope type, base and scale of ModelInfo.
std::string rope_fields(const Bytes& file) {
  const std::uint64_t at = mcf::sections(*memory_source(file))[0].offset;
  return to_text(std::span(file).subspan(at + 40, 16));
}
std::string rope_fields(std::uint32_t context, std::uint32_t type, float base, float scale) {
  return u32(context) + u32(type) + mcf_bytes::f32(base) + mcf_bytes::f32(scale);
}

TEST(McfModel, ScaledPositionsAreInModelInfo) {
  const auto fields = [](std::string_view config) {
    const Bytes file = write_mcf(with_config_json(config));
    const Model found = open(memory_source(file));
    EXPECT_TRUE(found.metadata.empty()) << to_json(found.metadata);
    EXPECT_TRUE(write_mcf(found) == file);
    EXPECT_TRUE(format().remarks(found, {}).empty());
    return rope_fields(file);
  };
  EXPECT_EQ(fields(R"({"rope_theta":1e4})"), rope_fields(0, 1, 10000, 1));
  EXPECT_EQ(fields(R"({"rope_theta":1e4,"rope_scaling":{"type":"linear","factor":4.0}})"), rope_fields(0, 2, 10000, 4));
  EXPECT_EQ(fields(R"({"rope_parameters":{"rope_theta":1e6,"rope_type":"yarn","factor":2.5,)"
                   R"("original_max_position_embeddings":32768}})"),
            rope_fields(32768, 3, 1e6F, 2.5));
  // Values that a 32-bit field cannot hold, or that are not factors, are omitted.
  EXPECT_EQ(fields(R"({"rope_theta":1e4,"rope_scaling":{"type":"yarn","factor":1e300,)"
                   R"("original_max_position_embeddings":4294967296}})"),
            rope_fields(0, 3, 10000, 1));
}

TEST(McfModel, AKindOfScalingWithoutANumberIsTold) {
  const Model model = with_config_json(
      R"({"rope_theta":5e5,"rope_scaling":{"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192}})");
  EXPECT_EQ(rope_fields(write_mcf(model)), rope_fields(8192, 1, 5e5F, 1));
  ASSERT_EQ(format().remarks(model, {}).size(), 1U);
  EXPECT_NE(to_text(format().remarks(model, {})[0]).find("llama3"), std::string::npos);
  EXPECT_TRUE(reopen(model).metadata.empty());
}

// If ModelInfo contradicts config.json, both are kept.
TEST(McfModel, OtherPositionsThanConfigJsonSaysAreMetadata) {
  File file;
  file.sections[0x100] = R"({"rope_theta":1e4,"rope_scaling":{"type":"yarn","factor":4.0}})";
  file.sections[1] = mcf_bytes::info_bytes(
      {.fields = {{"train_context", 512}, {"rope_type", 1}, {"rope_base", bits(10000)}, {"rope_scale", bits(1)}}});
  const Model model = open_file_of(file);
  EXPECT_EQ(to_json(model.metadata, JsonKeys::sorted),
            R"({"mcf.rope_scale":1.0,"mcf.rope_type":"standard","mcf.train_context":512})");
  EXPECT_EQ(rope_fields(write_mcf(model)), rope_fields(512, 1, 10000, 1));
  EXPECT_TRUE(reopen(model).metadata == model.metadata);
  // An empty ModelInfo, or none, contradicts nothing.
  file.sections[1] = mcf_bytes::info_bytes({});
  EXPECT_TRUE(open_file_of(file).metadata.empty());
  file.sections.erase(1);
  EXPECT_TRUE(open_file_of(file).metadata.empty());
  // A file is not refused for numbers that ModelInfo cannot hold.
  file.sections[0x100] = R"({"vocab_size":4294967296})";
  EXPECT_EQ(open_file_of(file).config.vocab_size, std::int64_t{1} << 32);
}

// Types that MCF lacks, in all combinations that a component can have.
TEST(McfModel, LogicalTypesComeBack) {
  const std::pair<DType, std::string> types[] = {
      {DType::boolean, ""},   {DType::u8, "f8_e4m3fn"},  {DType::u8, "bool"},        {DType::boolean, "truth"},
      {DType::u8, "u8:bool"}, {DType::f32, "complex64"}, {DType::f64, "complex128"}, {DType::u16, "posit16"},
      {DType::i32, "i32:x"},  {DType::i8, ":"}};
  Model model;
  for (const auto& [dtype, type] : types)
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{0, 2}, Shape{2, 2}})
      model.tensors.push_back(make_dense(std::to_string(model.tensors.size()), shape, dtype, type));
  const Model found = reopen(model);
  EXPECT_EQ(describe(found), describe(model));
  EXPECT_TRUE(found.metadata.empty()) << to_json(found.metadata);
}

// Payloads are in the model's order, the index is sorted by name; empty payloads share the offset of what follows.
TEST(McfModel, TheOrderOfTensorsIsKept) {
  Model model;
  for (const char* const name : {"z", "m", "empty", "a", "b"})
    model.tensors.push_back(make_dense(name, {std::string(name) == "empty" ? 0U : 5U}, DType::f32));
  const Model found = reopen(model);
  std::string names;
  for (const Tensor& tensor : found.tensors) names += tensor.name + " ";
  EXPECT_EQ(names, "z m empty a b ");
  EXPECT_TRUE(write_mcf(found) == write_mcf(model));
}

TEST(McfModel, UnknownSectionsAndNewerMinorsAreCarried) {
  File file = mcf_good();
  file.sections[0x200] = "something of a later version";
  file.sections[0xFFFFFFFF] = "";
  file.lies = {{"version_512", 9}, {"minor", 7}, {"flags", (std::uint64_t{1} << 63) + 5}};
  const Model model = open_file_of(file);
  EXPECT_EQ(model.version, "1.7");
  ASSERT_NE(model.attachment("mcf.section.00000200.9"), nullptr);
  ASSERT_NE(model.attachment("mcf.section.ffffffff.1"), nullptr);

  // Also through another container.
  const Format& zt = *find_format("zt");
  const Model there = open(memory_source(write_bytes(zt, adapt(model, zt).model)));
  for (const Model& from : {model, there}) {
    const SourcePtr written = memory_source(write_mcf(from));
    const Model found = open(written);
    EXPECT_EQ(found.version, "1.7");
    EXPECT_TRUE(found.metadata == model.metadata) << to_json(found.metadata);
    expect_same_attachments(model, found);
    const auto sections = mcf::sections(*written);
    ASSERT_EQ(sections.size(), 5U);
    EXPECT_EQ(sections[3].type, mcf::SectionType{0x200});
    EXPECT_EQ(sections[3].version, 9U);
    EXPECT_EQ(sections[3].size, 28U);
    EXPECT_EQ(sections[4].type, mcf::SectionType{0xFFFFFFFF});
  }
}

TEST(McfModel, ALongerHeaderIsCarried) {
  File file = mcf_good();
  file.lies["header_size"] = 56;  // extends over what is usually padding
  file.spoil = [](std::string& bytes) {
    bytes.replace(40, 16, "later fields ...");
    // Now the data begins after it.
    const std::size_t entry = bytes.size() - 24;
    bytes.replace(entry + 8, 16, mcf_bytes::u64(56) + mcf_bytes::u64(64 + 64 + 3 - 56));
  };
  const Model model = open_file_of(file);
  ASSERT_NE(model.metadata.find("mcf.header"), nullptr);
  const Bytes written = write_mcf(model);
  EXPECT_EQ(to_text(written).substr(40, 16), "later fields ...");
  EXPECT_TRUE(open(memory_source(written)).metadata == model.metadata);
}

// Only names in the exact spelling that the reader produces are sections; others are ordinary files.
TEST(McfModel, AttachmentNamesThatLookLikeSections) {
  Model model;
  for (const char* const name : {"mcf.section.00000003.1", "mcf.section.200.1", "mcf.section.00000200.01",
                                 "mcf.section.0000020G.1", "mcf.section.00000200.", "mcf.section.", "x/config.json"})
    model.attachments.push_back({name, Blob::memory(to_bytes(name))});
  const SourcePtr written = memory_source(write_mcf(model));
  EXPECT_EQ(mcf::sections(*written).size(), 1U);
  expect_same_attachments(model, open(written));
}

TEST(McfModel, RequireNamesWhatIsMissing) {
  using mcf::SectionType;
  const SourcePtr file = memory_source(bytes_of(mcf_good()), "f.mcf");
  mcf::require(*file, {});
  mcf::require(*file, {SectionType::tensor_index, SectionType::tensor_data});
  const auto missing = [&](SectionType type) {
    const auto error = error_of([&] { mcf::require(*file, {SectionType::tensor_data, type}); });
    EXPECT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), "mcf.require");
    EXPECT_EQ(error->kind(), ErrorKind::not_found);
    EXPECT_EQ(error->file(), "f.mcf");
    return error->sentence();
  };
  EXPECT_EQ(missing(SectionType::quant_info), "the file has no QuantInfo section");
  EXPECT_EQ(missing(SectionType::tokenizer), "the file has no tokenizer.json section");
  EXPECT_EQ(missing(SectionType{0x200}), "the file has no 0x00000200 section");
  EXPECT_EQ(rule_of([] { mcf::require(*memory_source(to_bytes("no")), {}); }), "mcf.magic");
}

// ---- quantized tensors ----

tare::Tensor make_coded(const std::string& name, std::string layout, Shape shape, std::size_t bytes) {
  tare::Tensor tensor;
  tensor.name = name;
  tensor.shape = std::move(shape);
  tensor.layout = std::move(layout);
  tensor.components = {{"payload", DType::u8, "", Blob::memory(Bytes(bytes))}};
  tensor.attributes.set("domain", "weights");
  tensor.attributes.set("min_clip", -0.5);
  tensor.attributes.set("max_clip", 0.5);
  return tensor;
}

TEST(McfModel, QuantizedTensorsKeepTheirAttributes) {
  Model model;
  model.tensors = {make_coded("q8", "mcf.q8", {2, 33}, 64 + 128),  // 4 scales; 4 blocks of 32
                   make_coded("q4", "mcf.q4", {2, 33}, 64 + 64),
                   make_coded("k6", "mcf.k6", {1, 256}, 128 + 192),  // super-scale; 8 sub-scales; codes
                   make_coded("k4", "mcf.k4", {1, 256}, 128 + 128),
                   make_coded("k3", "mcf.k3", {1, 256}, 128 + 96),
                   make_coded("k2", "mcf.k2", {1, 257}, 128 + 72),
                   make_coded("int8", "mcf.int8", {3, 2, 1}, 64 + 6),
                   make_coded("int4", "mcf.int4", {5}, 64 + 3),
                   make_coded("act", "mcf.int8", {4}, 128 + 4),
                   make_coded("none", "mcf.k4", {0, 256}, 0)};
  model.tensors[8].attributes.set("domain", "activations");
  model.tensors[8].attributes.set("min_clip", -1.0);
  model.tensors[0].attributes.set("note", List{1, "x"});
  const Model found = reopen(model);
  EXPECT_EQ(describe(found), describe(model));
  EXPECT_TRUE(write_mcf(found) == write_mcf(model));

  model.tensors[0].attributes.set("domain", "both");
  EXPECT_NE(rule_of([&] { write_mcf(model); }), "");
  model.tensors[0].attributes.set("domain", "weights");
  model.tensors[0].attributes.set("min_clip", "low");
  EXPECT_NE(rule_of([&] { write_mcf(model); }), "");
}

// Without QuantInfo, the size of an int* payload shows whether it has a zero point.
TEST(McfModel, DomainsFollowFromTheSizeWithoutQuantInfo) {
  File file;
  file.tensors = {{"act", 0x10, {4}, std::string(132, '\0'), {}}, {"wgt", 0x10, {4}, std::string(68, '\0'), {}}};
  const Model model = open_file_of(file);
  EXPECT_EQ(to_json(model.tensors.at(0).attributes), R"({"domain":"activations"})");
  EXPECT_EQ(to_json(model.tensors.at(1).attributes), R"({"domain":"weights"})");
  // Unknown values stay unknown.
  EXPECT_EQ(describe(reopen(model)), describe(model));
}

// ---- equal payloads ----

TEST(McfDedup, EqualPayloadsAreStoredOnce) {
  Model model;
  model.tensors = {make_dense("a", {100}, DType::f32, "", 1), make_dense("b", {100}, DType::f32, "", 2),
                   make_dense("c", {10, 10}, DType::i32, "", 3), make_dense("d", {0}, DType::u8),
                   make_dense("e", {0}, DType::u8)};
  model.tensors[2].components[0].blob = model.tensors[0].components[0].blob;
  model.tensors.push_back(make_dense("f", {400}, DType::u8));
  model.tensors[5].components[0].blob = Blob::memory(model.tensors[1].components[0].blob.bytes());
  const Bytes all = write_mcf(model), few = write_mcf(model, {.dedup = true});
  EXPECT_EQ(all.size() - few.size(), 448U + 400U);  // c with its padding; f, at the end, without
  for (const unsigned threads : {1U, 3U})
    EXPECT_TRUE(write_mcf(model, {.dedup = true, .work = {.threads = threads}}) == few);
  const Model found = open(memory_source(few));
  EXPECT_EQ(describe(found), describe(model));
  const auto offset = [&](std::string_view name) { return found.tensor(name)->components[0].blob.offset(); };
  EXPECT_EQ(offset("a"), offset("c"));
  EXPECT_EQ(offset("b"), offset("f"));
  EXPECT_NE(offset("a"), offset("b"));
  const Scratch scratch;
  put_file(scratch / "it.mcf", few);
  EXPECT_TRUE(verify(scratch / "it.mcf").ok(true));
  // A plain copy of the file stores every payload separately again; a copy with the option is the same file.
  EXPECT_GE(write_mcf(found).size(), all.size());
  EXPECT_TRUE(write_mcf(found, {.dedup = true}) == few);
}

TEST(McfDedup, OtherFormatsRefuseIt) {
  const Scratch scratch;
  put_file(scratch / "a.mcf", bytes_of(mcf_good()));
  EXPECT_EQ(rule_of([&] { convert(scratch / "a.mcf", scratch / "b.npz", {.write = {.dedup = true}}); }),
            "convert.option");
  EXPECT_EQ(rule_of([&] { convert(scratch / "a.mcf", scratch / "b.mcf", {.write = {.dedup = true}}); }), "");
}

}  // namespace
}  // namespace tare
