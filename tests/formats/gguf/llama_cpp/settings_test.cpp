// Keys that a user sets, by `convert` and by `meta`: both do the same, and no file that a model carries undoes it, in
// whichever container the model is kept.
#include <fmt/format.h>

#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "convert/replace_parts.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/agreement.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/append.hpp"
#include "tare/inspect.hpp"
#include "tare/metadata.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

constexpr const char* kByteLevel =
    R"({"added_tokens":[{"id":2,"content":"<s>","special":true}],"decoder":{"type":"ByteLevel"},)"
    R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},)"
    R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"<s>":2},"merges":[]}})";

// A directory with config and tokenizer, and the GGUF file made from it, which carries both.
Model directory() {
  Model model = small("llama", R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"vocab_size":3,)"
                               R"("hidden_size":8,"intermediate_size":6,"num_hidden_layers":1,"bos_token_id":2,)"
                               R"("num_attention_heads":2,"num_key_value_heads":2,"max_position_embeddings":16,)"
                               R"("rms_norm_eps":1e-5,"rope_theta":10000.0})");
  model.format = "hf";
  model.attachments.push_back(text_file("tokenizer.json", kByteLevel));
  model.attachments.push_back(text_file("tokenizer_config.json", R"({"bos_token":"<s>","chat_template":"old"})"));
  Diagnostics silent;
  model.config = {};
  resources::describe(model, silent);
  return model;
}
Model kept_in(const Format& format, const Model& model, const AdaptOptions& options = {}) {
  return open(memory_source(write_bytes(format, adapt(model, format, options).model), "m"));
}
Model file() { return kept_in(gguf(), directory()); }

std::string text_in(const Model& model, std::string_view name) {
  const Attachment* const found = model.attachment(name);
  if (found == nullptr) return "";
  const Bytes bytes = found->blob.bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
std::string value_in(const Model& model, std::string_view name, std::string_view key) {
  const std::string text = text_in(model, name);
  const Map map = text.empty() ? Map() : resources::parse_small_json(text);
  return map.find(key) == nullptr ? "" : to_json(*map.find(key));
}
std::string entry_in(const Model& model, std::string_view key) {
  for (const MetadataEntry& entry : metadata_entries(kept_in(gguf(), model)))
    if (entry.key == key) return fmt::format("{} {}", entry.type, to_json(entry.value));
  return "";
}

// A key and what it becomes elsewhere.
struct Setting {
  const char *key, *value, *entry;
  const char *name, *says;  // the key of config.json, or of tokenizer_config.json
};
constexpr Setting kSettings[] = {
    {"llama.rope.freq_base", "7.5", "f32 7.5", "rope_theta", "7.5"},
    {"llama.rope.freq_base", "7", "f32 7.0", "rope_theta", "7.0"},
    {"llama.attention.layer_norm_rms_epsilon", "0.5", "f32 0.5", "rms_norm_eps", "0.5"},
    {"llama.context_length", "99", "u32 99", "max_position_embeddings", "99"},
    {"tokenizer.ggml.bos_token_id", "1", "u32 1", "bos_token_id", "1"},
    {"tokenizer.ggml.add_bos_token", "true", "bool true", "add_bos_token", "true"},
    {"tokenizer.chat_template", "new", "string \"new\"", "chat_template", "\"new\""},
};
std::string_view file_of(const Setting& setting) {
  return std::string_view(setting.name) == "add_bos_token" || std::string_view(setting.name) == "chat_template"
             ? "tokenizer_config.json"
             : "config.json";
}

void expect_set(const Model& model, const Setting& setting, const std::string& where) {
  SCOPED_TRACE(fmt::format("{}={} in {}", setting.key, setting.value, where));
  EXPECT_EQ(value_in(adapt(model, hf()).model, file_of(setting), setting.name), setting.says);
  EXPECT_EQ(entry_in(model, setting.key), setting.entry);
}

std::vector<const Format*> containers() {
  std::vector<const Format*> rows;
  for (const char* const name : {"gguf", "zt", "zt2", "npz", "mcf"}) rows.push_back(find_format(name));
  return rows;
}

TEST(GgufSettings, AConversionDoesNotUndoThem) {
  for (const Setting& setting : kSettings) {
    const AdaptOptions options{.set = {{setting.key, setting.value}}};
    for (const Format* const target : containers()) {
      const std::string where(target->name);
      expect_set(kept_in(*target, file(), options), setting, "gguf -> " + where);
      // From a container that only keeps a GGUF file's model. MCF has a directory's form, in which the key is not set.
      if (target->name != "mcf")
        expect_set(kept_in(*target, kept_in(*target, file()), options), setting, where + " -> " + where);
    }
    EXPECT_EQ(value_in(adapt(file(), hf(), options).model, file_of(setting), setting.name), setting.says);
    expect_set(kept_in(gguf(), directory(), options), setting, "directory -> gguf");
  }
}

TEST(GgufSettings, ValuesAreSetAsTextsAre) {
  for (const auto& [key, value, entry] : {std::tuple("llama.rope.freq_base", Value(7), "f32 7.0"),
                                          {"llama.context_length", Value(99), "u32 99"},
                                          {"tokenizer.chat_template", Value("new"), "string \"new\""}}) {
    AdaptOptions options;
    options.values.set(key, value);
    for (const Format* const target : containers())
      EXPECT_EQ(entry_in(kept_in(*target, file(), options), key), entry) << target->name;
    EXPECT_EQ(entry_in(kept_in(gguf(), directory(), options), key), entry);
  }
}

TEST(GgufSettings, NeitherDoesAnEditedFile) {
  for (const Setting& setting : kSettings)
    for (const Format* const target : containers()) {
      if (target->name == "mcf") continue;
      const Scratch scratch{Scratch::fast_place()};
      const std::string path = scratch / ("m" + std::string(target->suffixes.front()));
      put_file(path, write_bytes(*target, adapt(file(), *target).model));
      const MetadataEdit edits[] = {
          {.kind = MetadataEditKind::read, .key = setting.key, .value = std::string(setting.value)}};
      const Edited done = edit_metadata(path, edits);
      EXPECT_EQ(done.changes.size(), 1U);
      EXPECT_FALSE(done.omitted.empty()) << "the file that repeats it";
      expect_set(open(path), setting, "edited " + std::string(target->name));
    }
}

TEST(GgufSettings, ARemovedKeyIsRemovedEverywhere) {
  for (const Format* const target : containers()) {
    if (target->name == "mcf") continue;
    const Scratch scratch{Scratch::fast_place()};
    const std::string path = scratch / ("m" + std::string(target->suffixes.front()));
    put_file(path, write_bytes(*target, adapt(file(), *target).model));
    const MetadataEdit edits[] = {{.kind = MetadataEditKind::remove, .key = "tokenizer.chat_template"}};
    edit_metadata(path, edits);
    EXPECT_EQ(value_in(adapt(open(path), hf()).model, "tokenizer_config.json", "chat_template"), "") << target->name;
  }
}

// A list of whole numbers and floats is an array of floats for other programs, however it was set, and the same list again
// in Tare. Keys for which GGUF has no type are listed all the same.
TEST(GgufSettings, MixedNumbersAreKeys) {
  const Value mixed(List{1, 2.5}), tree(List{1, "a"});
  AdaptOptions options;
  options.values.set("my.mixed", mixed);
  options.values.set("my.tree", tree);
  Model carried = directory();
  carried.metadata.set("my.mixed", mixed);
  carried.metadata.set("my.tree", tree);
  Model edited = file();
  const MetadataEdit edits[] = {{.key = "my.mixed", .value = mixed}};
  edit_metadata(edited, edits);
  EXPECT_EQ(entry_in(edited, "my.mixed"), "[f32] [1.0,2.5]");
  const Model carried_file = kept_in(gguf(), carried), by_way = kept_in(gguf(), kept_in(*find_format("zt"), carried));
  for (const Model* const model : {&carried_file, &by_way})
    EXPECT_EQ(to_json(*model->metadata.find("my.mixed")), "[1,2.5]");
  for (const Model& model :
       {kept_in(gguf(), directory(), options), kept_in(gguf(), file(), options), carried_file, by_way}) {
    EXPECT_EQ(entry_in(model, "my.mixed"), "[f32] [1.0,2.5]");
    EXPECT_EQ(entry_in(model, "my.tree"), "private [1,\"a\"]");
    // Another program's value counts.
    Model changed = model;
    const MetadataEdit edit[] = {{.key = "my.mixed", .value = Value(List{3.5})}};
    edit_metadata(changed, edit);
    EXPECT_EQ(to_json(*kept_in(gguf(), changed).metadata.find("my.mixed")), "[3.5]");
    // A key that is kept apart can get a value with a type, and cannot be renamed without one.
    const MetadataEdit rename[] = {{.kind = MetadataEditKind::rename, .key = "my.tree", .to = "my.other"}};
    EXPECT_EQ(rule_of([&] { edit_metadata(changed, rename); }), "meta.kept_apart");
    const MetadataEdit set[] = {{.key = "my.tree", .value = Value("text")}};
    edit_metadata(changed, set);
    EXPECT_EQ(entry_in(changed, "my.tree"), "string \"text\"");
  }
  // 2^53 + 1 is no float.
  AdaptOptions large;
  large.values.set("my.large", Value(List{(std::int64_t{1} << 53) + 1, 2.5}));
  EXPECT_EQ(entry_in(kept_in(gguf(), directory(), large), "my.large"), "private [9007199254740993,2.5]");
}

// What `convert` and `meta` make of the same text: the entries, or the rule by which it is refused.
std::string after_convert(const std::string& key, const std::string& value) {
  std::string text;
  const std::string rule = rule_of([&] {
    for (const MetadataEntry& entry : metadata_entries(kept_in(gguf(), file(), {.set = {{key, value}}})))
      if (entry.key != "tare.private") text += fmt::format("{}:{}={}\n", entry.key, entry.type, to_json(entry.value));
  });
  return rule.empty() ? text : rule;
}
std::string after_meta(const std::string& key, const std::string& value) {
  std::string text;
  const std::string rule = rule_of([&] {
    Model model = file();
    const MetadataEdit edits[] = {{.kind = MetadataEditKind::read, .key = key, .value = value}};
    edit_metadata(model, edits);
    for (const MetadataEntry& entry : metadata_entries(kept_in(gguf(), model)))
      if (entry.key != "tare.private") text += fmt::format("{}:{}={}\n", entry.key, entry.type, to_json(entry.value));
  });
  return rule.empty() ? text : rule;
}

TEST(GgufSettings, ConvertAndMetaAreOne) {
  const std::pair<const char*, const char*> kTexts[] = {
      {"llama.rope.freq_base", "7"},
      {"llama.rope.freq_base", "seven"},
      {"llama.context_length", "4096"},
      {"llama.context_length", "-1"},
      {"llama.block_count", "9"},
      {"llama.block_count:u64", "9"},
      {"my.ids:[i32]", "[1,2]"},
      {"my.ids:u99", "1"},
      {"my.list", "[1,2,3]"},
      {"my.list", "[1,\"a\"]"},
      {"my.list", "[]"},
      {"my.list", "[1.5,2]"},
      {"my.object", "{\"a\":1}"},
      {"my.number", "18446744073709551615"},
      {"my.number", "1e400"},
      {"my.number", "0.1"},
      {"my.truth", "true"},
      {"general.name", "x"},
      {"general.file_type", "7"},
      {"general.alignment", "64"},
      {"general.alignment", "33"},
      {"general.architecture", "qwen2"},
      {"tokenizer.ggml.tokens", "[\"a\"]"},
      {"tokenizer.ggml.scores", "[1,2]"},
      {"tokenizer.ggml.scores", "[1,2,3]"},
      {"tokenizer.ggml.eos_token_id", "1"},
      {"tokenizer.ggml.pre", "qwen2"},
      {"GGUF.version", "1"},
      {"split.count", "3"},
      {"gguf.keys", "1"},
      {"tare.private", "1"},
      {"tare.file.x", "1"},
      {"rope_theta", "7"},
      {"chat_template", "x"},
      {"null", "null"},
  };
  for (const auto& [key, value] : kTexts)
    EXPECT_EQ(after_convert(key, value), after_meta(key, value)) << key << "=" << value;
  for (const char* const key : {"GGUF.version", "split.count", "gguf.keys", "tare.private", "tare.file.x"})
    EXPECT_EQ(after_convert(key, "1"), "meta.reserved") << key;
  EXPECT_EQ(after_convert("tokenizer.ggml.scores", "[1,2]"), "meta.value") << "2 scores for 3 tokens";
  EXPECT_EQ(after_convert("general.architecture", "qwen2"), "meta.value") << "the keys begin with llama.";
}

// In JSON, 2 and 2.0 are the same number.
TEST(GgufSettings, ListsOfNumbersAreListsOfNumbers) {
  for (const char* const key : {"llama.foo", "my.list"})
    for (const auto& [text, entry] : {std::pair("[1.5,2]", "[f32] [1.5,2.0]"), {"[2,1.5]", "[f32] [2.0,1.5]"}}) {
      const AdaptOptions options{.set = {{key, text}}};
      EXPECT_EQ(entry_in(kept_in(gguf(), file(), options), key), entry);
      EXPECT_EQ(entry_in(kept_in(gguf(), directory(), options), key), entry);
      Model edited = file();
      const MetadataEdit edits[] = {{.kind = MetadataEditKind::read, .key = key, .value = std::string(text)}};
      static_cast<void>(edit_metadata(edited, edits));
      EXPECT_EQ(entry_in(edited, key), entry);
    }
}

// A setting of the tokenizer makes only the files stale that are about it.
TEST(GgufSettings, OtherFilesStay) {
  Model model = directory();
  model.attachments.push_back(text_file("generation_config.json", R"({"temperature":0.5,"bos_token_id":2})"));
  model.attachments.push_back(text_file("preprocessor_config.json", "{}"));
  model.attachments.push_back(text_file("README.md", "# a model"));
  for (const Model& from : {model, kept_in(gguf(), model)}) {
    const AdaptOptions flag{.set = {{"tokenizer.ggml.add_bos_token", "true"}}},
        id{.set = {{"tokenizer.ggml.bos_token_id", "1"}}};
    const Model with_flag = kept_in(gguf(), from, flag), with_id = kept_in(gguf(), from, id);
    for (const char* const name : {"preprocessor_config.json", "README.md"})
      for (const Model* const there : {&with_flag, &with_id}) EXPECT_NE(there->attachment(name), nullptr) << name;
    EXPECT_NE(with_flag.attachment("generation_config.json"), nullptr);
    EXPECT_EQ(with_id.attachment("generation_config.json"), nullptr) << "it states the old id";
    EXPECT_EQ(with_flag.attachment("tokenizer_config.json"), nullptr);
  }
}

TEST(GgufSettings, WhatWouldChangeNothingIsRefused) {
  const auto rule = [](const Model& model, const char* to, const char* key) {
    return rule_of([&] { static_cast<void>(adapt(model, *find_format(to), {.set = {{key, "1"}}})); });
  };
  for (const char* const to : {"zt", "zt2", "npz", "mcf", "hf"}) {
    for (const char* const key : {"llama.rope.freq_base", "llama.anything", "general.architecture",
                                  "tokenizer.ggml.bos_token_id", "rope_theta", "bos_token_id", "chat_template"})
      EXPECT_EQ(rule(directory(), to, key), "meta.form") << to << " " << key;
    EXPECT_EQ(rule(directory(), to, "my.rope"), "") << to;
    EXPECT_EQ(rule(directory(), to, "tokenizer.ggml.pre"), "") << "no file of a directory has it: " << to;
  }
  EXPECT_EQ(rule(directory(), "gguf", "rope_theta"), "meta.form");
  EXPECT_EQ(rule(file(), "gguf", "rope_theta"), "meta.form");
  EXPECT_EQ(rule(file(), "zt", "rope_theta"), "meta.form");
  // Without a config, nothing contradicts a key.
  Model plain;
  plain.tensors.push_back(counted("a", {2}, 1));
  EXPECT_EQ(rule(plain, "zt", "llama.rope.freq_base"), "");
  EXPECT_EQ(rule(plain, "zt", "rope_theta"), "");

  const Scratch scratch{Scratch::fast_place()};
  for (const char* const name : {"zt", "zt2"}) {
    const Format& format = *find_format(name);
    const std::string path = scratch / ("m." + std::string(name));
    put_file(path, write_bytes(format, adapt(directory(), format).model));
    const MetadataEdit edits[] = {{.kind = MetadataEditKind::read, .key = "llama.rope.freq_base", .value = "7"}};
    EXPECT_EQ(rule_of([&] { edit_metadata(path, edits); }), "meta.form");
    // A model in GGUF's form as well: appending changes neither config nor files.
    for (const Model& model : {directory(), file()}) {
      put_file(path, write_bytes(format, adapt(model, format).model));
      Model extra;
      extra.tensors.push_back(counted("extra", {2}, 1, DType::f32));
      extra.metadata.set("llama.rope.freq_base", 7.5);
      EXPECT_EQ(rule_of([&] { append(path, extra); }), "meta.form");
      extra.metadata = {};
      extra.metadata.set("my.key", 7.5);
      EXPECT_EQ(rule_of([&] { append(path, extra); }), "");
    }
  }
}

TEST(GgufSettings, WhatDescribesTheFileStaysAsItWasSet) {
  const AdaptOptions options{.set = {{"general.file_type", "7"}}};
  EXPECT_EQ(entry_in(adapt(directory(), gguf(), options).model, "general.file_type"), "u32 7");
}

// The name of another way to split text takes precedence over the attached tokenizer.json. A name with the same cuts, or
// one that Tare does not know, does not.
TEST(GgufSettings, HowTextIsSplit) {
  const auto carried = [](const char* name) {
    const Model there = kept_in(gguf(), file(), {.set = {{"tokenizer.ggml.pre", name}}});
    return text_in(there, "tokenizer.json");
  };
  EXPECT_EQ(carried("gpt-2"), kByteLevel);
  EXPECT_EQ(carried("mpt"), kByteLevel);
  EXPECT_EQ(carried("unheard-of"), kByteLevel);
  EXPECT_EQ(carried("qwen2"), "");
  EXPECT_EQ(text_in(kept_in(gguf(), directory(), {.set = {{"tokenizer.ggml.pre", "qwen2"}}}), "tokenizer.json"), "");
  const Model back = adapt(kept_in(gguf(), file(), {.set = {{"tokenizer.ggml.pre", "qwen2"}}}), hf()).model;
  EXPECT_NE(text_in(back, "tokenizer.json").find(R"(\\p{N}|)"), std::string::npos);
}

// Another program changed an id: config.json states it, too.
TEST(GgufSettings, AnIdThatAnotherProgramChanged) {
  Model model = file();
  ASSERT_NE(model.attachment("config.json"), nullptr);
  Bytes bytes = write_bytes(gguf(), model);
  const std::string key = "tokenizer.ggml.bos_token_id";
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.find(key);
  ASSERT_NE(at, std::string::npos);
  text[at + key.size() + 4] = 1;  // after the type
  const Model changed = open(memory_source(to_bytes(text), "m.gguf"));
  EXPECT_EQ(changed.vocabulary.bos, 1);
  EXPECT_EQ(changed.attachment("config.json"), nullptr);
  EXPECT_EQ(value_in(adapt(changed, hf()).model, "config.json", "bos_token_id"), "1");
}

// Parts that a caller replaces, such as `save` of Python.
TEST(GgufSettings, ReplacedPartsAreNotUndoneByFiles) {
  for (Model model : {directory(), file()}) {
    NewParts parts;
    parts.config = model.config;
    parts.config->rope_theta = 7.5;
    parts.config->max_position_embeddings = 99;
    ASSERT_TRUE(replace_parts(model, std::move(parts)).empty());
    const Model there = adapt(model, hf()).model;
    EXPECT_EQ(value_in(there, "config.json", "rope_theta"), "7.5");
    EXPECT_EQ(value_in(there, "config.json", "max_position_embeddings"), "99");
    EXPECT_EQ(value_in(there, "config.json", "architectures"), R"(["LlamaForCausalLM"])") << "everything else stays";
    EXPECT_EQ(entry_in(model, "llama.rope.freq_base"), "f32 7.5");
    EXPECT_NE(model.attachment("tokenizer.json"), nullptr);
  }
  Model nested = file();
  std::erase_if(nested.attachments, [](const Attachment& one) { return one.name == "config.json"; });
  nested.attachments.push_back(
      text_file("config.json", R"({"model_type":"llama","rope_parameters":{"rope_theta":2.0}})"));
  nested.config = resources::parse_config(text_in(nested, "config.json"));
  NewParts theta;
  theta.config = nested.config;
  theta.config->rope_theta = 3.0;
  replace_parts(nested, std::move(theta));
  EXPECT_EQ(value_in(nested, "config.json", "rope_parameters"), R"({"rope_theta":3.0})");

  // Keys that describe the model are set as `convert` sets them.
  Model model = file();
  NewParts keys;
  keys.metadata = model.metadata;
  keys.metadata->set("llama.rope.freq_base", 7.5);
  keys.metadata->set("my.key", 1);
  AdaptOptions options;
  options.values = replace_parts(model, std::move(keys));
  EXPECT_EQ(to_json(Value(options.values)), R"({"llama.rope.freq_base":7.5})");
  const Model there = kept_in(gguf(), model, options);
  EXPECT_EQ(value_in(adapt(there, hf()).model, "config.json", "rope_theta"), "7.5");
  EXPECT_EQ(entry_in(there, "my.key"), "u32 1");

  // Another vocabulary, and a key that is not there any more.
  Model other = file();
  NewParts words;
  words.vocabulary = other.vocabulary;
  words.vocabulary->bos = 1;
  replace_parts(other, std::move(words));
  EXPECT_EQ(other.attachment("tokenizer.json"), nullptr);
  other = file();
  NewParts fewer;
  fewer.metadata = other.metadata;
  ASSERT_TRUE(fewer.metadata->erase("tokenizer.chat_template"));
  replace_parts(other, std::move(fewer));
  EXPECT_EQ(value_in(adapt(other, hf()).model, "tokenizer_config.json", "chat_template"), "");
}

std::vector<Attachment> files_with(const Model& model,
                                   std::initializer_list<std::pair<const char*, std::string>> more) {
  std::vector<Attachment> files = model.attachments;
  for (const auto& [name, text] : more) {
    std::erase_if(files, [&, name = std::string_view(name)](const Attachment& one) { return one.name == name; });
    files.push_back(text_file(name, text));
  }
  return files;
}
std::string other_config(const Model& model) {
  Map config = resources::parse_small_json(text_in(model, "config.json"));
  config.set("rms_norm_eps", 0.125);
  Map scaling;
  scaling.append("rope_type", "linear");
  scaling.append("factor", 2.0);
  config.set("rope_scaling", std::move(scaling));
  return to_json(Value(config));
}
constexpr const char* kOtherTokens =
    R"({"added_tokens":[{"id":2,"content":"<s>","special":true}],"decoder":{"type":"ByteLevel"},)"
    R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},)"
    R"("model":{"type":"BPE","vocab":{"b":0,"a":1,"<s>":2},"merges":[]}})";

// New files describe the model, whatever its container: neither its config, nor a key, nor a tensor keeps the old state.
TEST(GgufSettings, NewFilesReplaceWhatTheyDescribe) {
  for (const Format* const from : containers()) {
    SCOPED_TRACE(from->name);
    Model model = kept_in(*from, file());
    NewParts parts;
    parts.attachments = files_with(model, {{"config.json", other_config(model)}, {"tokenizer.json", kOtherTokens}});
    parts.metadata = model.metadata;
    parts.metadata->set("my.key", 1);
    ASSERT_TRUE(replace_parts(model, std::move(parts)).empty());
    EXPECT_EQ(model.config.rms_norm_eps, 0.125);
    EXPECT_EQ(model.vocabulary.tokens.front().text, "b");
    for (const Format* const to : containers()) {
      const Model there = kept_in(*to, model);
      EXPECT_EQ(entry_in(there, "llama.attention.layer_norm_rms_epsilon"), "f32 0.125") << to->name;
      EXPECT_EQ(entry_in(there, "llama.rope.scaling.type"), "string \"linear\"") << to->name;
      EXPECT_EQ(value_in(adapt(there, hf()).model, "config.json", "rms_norm_eps"), "0.125") << to->name;
      EXPECT_EQ(there.vocabulary.tokens.front().text, "b") << to->name;
      EXPECT_TRUE(resources::disagreements(there).empty()) << to->name;
      EXPECT_TRUE(content_digest(adapt(there, hf()).model) == content_digest(adapt(file(), hf()).model)) << to->name;
    }
  }
  // The ids of special tokens follow the files that name them, even if no file has the tokens.
  Model model = directory();
  NewParts names;
  names.attachments = {text_file("tokenizer_config.json", R"({"bos_token":"b"})")};
  replace_parts(model, std::move(names));
  EXPECT_EQ(model.vocabulary.bos, 1);
  EXPECT_EQ(model.vocabulary.tokens.size(), 3U);
  EXPECT_EQ(model.config, directory().config) << "no file describes it";
  // Nothing is described anew by files that are the same, or that describe nothing.
  model = file();
  NewParts same;
  same.attachments = files_with(model, {{"notes.txt", "a"}});
  replace_parts(model, std::move(same));
  EXPECT_EQ(model.format, "gguf");
  EXPECT_TRUE(model.vocabulary == file().vocabulary);
}

TEST(GgufSettings, PartsThatContradictNewFilesAreRefused) {
  const auto rule_of = [](NewParts parts) {
    Model model = directory();
    try {
      replace_parts(model, std::move(parts));
    } catch (const Error& error) {
      return error.rule();
    }
    return std::string();
  };
  const Model model = directory();
  NewParts parts;
  parts.attachments = files_with(model, {{"config.json", other_config(model)}, {"tokenizer.json", kOtherTokens}});
  EXPECT_EQ(rule_of(parts), "");
  parts.config = model.config;
  EXPECT_EQ(rule_of(parts), "config.contradiction");
  parts.config->rms_norm_eps = 0.125;
  EXPECT_EQ(rule_of(parts), "");
  for (const auto& [text, rule] : {std::pair("{\"a\":1}", "config.contradiction"), {"{\"bos_token_id\":2}", ""}}) {
    const auto bytes = std::as_bytes(std::span(std::string_view(text)));
    parts.config_json = Blob::memory(Bytes(bytes.begin(), bytes.end()));
    EXPECT_EQ(rule_of(parts), rule);
  }
  parts.vocabulary = model.vocabulary;
  EXPECT_EQ(rule_of(parts), "tokenizer.contradiction");
  std::swap(parts.vocabulary->tokens[0].text, parts.vocabulary->tokens[1].text);
  EXPECT_EQ(rule_of(parts), "");
  // A file that cannot be read must not leave an old part next to it.
  for (const auto& [name, rule] : {std::pair("config.json", "json.syntax"), {"tokenizer.json", "json.syntax"}}) {
    NewParts broken;
    broken.attachments = files_with(model, {{name, "{"}});
    EXPECT_EQ(rule_of(broken), rule) << name;
  }
  NewParts unread;
  unread.attachments = {text_file("tekken.json", "{}")};
  EXPECT_EQ(rule_of(unread), "tokenizer.unread");
}

TEST(GgufSettings, SeveralChatTemplates) {
  Model model = directory();
  std::erase_if(model.attachments, [](const Attachment& one) { return one.name == "tokenizer_config.json"; });
  model.attachments.push_back(
      text_file("tokenizer_config.json",
                R"({"chat_template":[{"name":"default","template":"A"},{"name":"tool-use","template":"B"}]})"));
  model.attachments.push_back(text_file("additional_chat_templates/rag.jinja", "C"));
  const Model there = adapt(model, gguf()).model;
  EXPECT_EQ(entry_in(there, "tokenizer.chat_template"), "string \"A\"");
  EXPECT_EQ(entry_in(there, "tokenizer.chat_template.tool_use"), "string \"B\"");
  EXPECT_EQ(entry_in(there, "tokenizer.chat_template.rag"), "string \"C\"");
  EXPECT_EQ(entry_in(there, "tokenizer.chat_templates"), R"([string] ["rag","tool_use"])");
  Model bare = kept_in(gguf(), there);
  bare.attachments.clear();
  EXPECT_EQ(value_in(adapt(bare, hf()).model, "tokenizer_config.json", "chat_template"),
            R"([{"name":"default","template":"A"},{"name":"rag","template":"C"},{"name":"tool_use","template":"B"}])");
}

TEST(GgufSettings, ChatTemplatesWhoseNamesBecomeEqualGetNumbers) {
  Model model = directory();
  std::erase_if(model.attachments, [](const Attachment& one) { return one.name == "tokenizer_config.json"; });
  model.attachments.push_back(text_file(
      "tokenizer_config.json",
      R"({"chat_template":[{"name":"a_2","template":"A"},{"name":"a","template":"B"},{"name":"a","template":"C"},)"
      R"({"name":"a","template":"D"},{"name":"a-2","template":"E"}]})"));
  const Model there = adapt(model, gguf()).model;
  EXPECT_EQ(entry_in(there, "tokenizer.chat_templates"), R"([string] ["a_2","a","a_3","a_4","a_2_2"])");
  EXPECT_EQ(entry_in(there, "tokenizer.chat_template.a_4"), "string \"D\"");
}

// A text of JSON cannot have its bytes, and the other template is not to be lost with it.
TEST(GgufSettings, ATemplateThatIsNotTextIsOmitted) {
  Model model = file();
  std::erase_if(model.attachments, [](const Attachment& one) { return one.name != "config.json"; });
  model.metadata.set("tokenizer.chat_template", Bytes{std::byte{0xFF}});
  model.metadata.set("tokenizer.chat_template.tool_use", "{{ x }}");
  const Adapted made = adapt(model, hf());
  EXPECT_EQ(value_in(made.model, "tokenizer_config.json", "chat_template"),
            R"([{"name":"tool_use","template":"{{ x }}"}])");
  EXPECT_TRUE(std::ranges::any_of(made.changes, [](const Change& change) {
    return change.impact == Impact::lost &&
           std::ranges::find(change.items, "tokenizer.chat_template") != change.items.end();
  }));
}

}  // namespace
}  // namespace tare
