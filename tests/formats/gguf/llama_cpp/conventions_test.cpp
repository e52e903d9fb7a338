// Conversion between llama.cpp's conventions and Hugging Face's: names, rows, experts, types, keys and tokenizers, in
// both directions.
#include "formats/gguf/llama_cpp/conventions.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "conformance/gguf_cases.hpp"
#include "conformance/scratch.hpp"
#include "convert/directory_form.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/agreement.hpp"
#include "resources/piece_bytes.hpp"
#include "resources/resources.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

Model taken_there_and_back(const Model& model) {
  const Scratch scratch;
  const Model there = open(memory_source(write_bytes(gguf(), adapt(model, gguf()).model), "m.gguf"));
  hf().write_tree(adapt(there, hf()).model, scratch / "d", {}, false);
  Model back = open(scratch / "d");
  for (Tensor& tensor : back.tensors)
    for (Component& component : tensor.components) component.blob = Blob::memory(component.blob.bytes());
  return back;
}

TEST(GgufConventions, LlamaThereAndBack) {
  Model model = small("llama");
  add_ffn(model);
  const Model there = adapt(model, gguf()).model;
  ASSERT_NE(there.tensor("blk.0.attn_q.weight"), nullptr);
  // Row 2k + p of a head is row 2p + k in Hugging Face's order; rows have 8 elements.
  const std::vector<float> q = model.tensor("model.layers.0.self_attn.q_proj.weight")->values<float>();
  const std::vector<float> rows = there.tensor("blk.0.attn_q.weight")->values<float>();
  for (std::size_t head = 0; head < 2; ++head)
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t p = 0; p < 2; ++p)
        for (std::size_t i = 0; i < 8; ++i)
          EXPECT_EQ(rows[(4 * head + 2 * k + p) * 8 + i], q[(4 * head + 2 * p + k) * 8 + i]);
  EXPECT_EQ(there.tensor("blk.0.attn_v.weight")->values<float>(),
            model.tensor("model.layers.0.self_attn.v_proj.weight")->values<float>());
  EXPECT_EQ(there.tensor("output_norm.weight")->components[0].dtype, DType::f32);
  EXPECT_EQ(there.tensor("blk.0.ffn_down.weight")->components[0].dtype, DType::bf16);
  EXPECT_EQ(to_json(*there.metadata.find("llama.rope.dimension_count")), "4");
  const Model back = taken_there_and_back(model);
  EXPECT_EQ(content_digest(back), content_digest(model));
  EXPECT_EQ(back.config.model_type, "llama");
}

TEST(GgufConventions, WithoutTheNumberOfHeadsNothingIsMovedByGuess) {
  Model model = small("llama");
  add_ffn(model);
  Model there = adapt(model, gguf()).model;
  there.config.num_attention_heads.reset();
  there.config.num_key_value_heads.reset();
  EXPECT_EQ(rule_of([&] { adapt(there, hf()); }), "convert.config");
  model.config.num_attention_heads.reset();
  model.config.num_key_value_heads.reset();
  EXPECT_EQ(rule_of([&] { adapt(model, gguf()); }), "convert.names");
}

TEST(GgufConventions, QuantizedRowsAreMovedAsTheyAre) {
  Model model = small("llama");
  add_ffn(model);
  model.config.hidden_size.reset();  // the other matrices are narrower
  Tensor& q = model.tensors[5];
  q.shape = {8, 32};
  q.layout = "ggml.q8_0";
  q.components.clear();
  Bytes blocks(8 * 34);
  for (std::size_t row = 0; row < 8; ++row) blocks[34 * row + 2] = static_cast<std::byte>(row + 1);
  q.components.push_back({"payload", DType::u8, {}, Blob::memory(blocks)});
  const Model there = adapt(model, gguf()).model;
  const Tensor& moved = *there.tensor("blk.0.attn_q.weight");
  EXPECT_EQ(moved.layout, "ggml.q8_0");
  const Bytes bytes = moved.components[0].blob.bytes();
  const std::vector<int> expected = {1, 3, 2, 4, 5, 7, 6, 8};
  for (std::size_t row = 0; row < 8; ++row) EXPECT_EQ(std::to_integer<int>(bytes[34 * row + 2]), expected[row]);
}

TEST(GgufConventions, WhatIsDecodedToMoveRowsIsReportedToo) {
  Model model = small("llama");
  add_ffn(model);
  AdaptOptions options;
  options.quant.method = "int8";
  const Model packed = adapt(model, *find_format("mcf"), options).model;
  std::size_t codes = 0, decoded = 0;
  for (const Tensor& tensor : packed.tensors) codes += !tensor.is_dense();
  for (const Change& change : adapt(packed, gguf()).changes)
    if (change.kind == ChangeKind::decoded) decoded += change.items.size();
  EXPECT_GE(codes, 4U);
  EXPECT_EQ(decoded, codes);
}

TEST(GgufConventions, QwenKeepsItsRowsAndGemmaShiftsItsNorms) {
  Model qwen = small("qwen2");
  add_ffn(qwen);
  for (const char* const name : {"q_proj", "k_proj", "v_proj"})
    qwen.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".bias", {8}, 9));
  EXPECT_EQ(adapt(qwen, gguf()).model.tensor("blk.0.attn_q.weight")->values<float>(),
            qwen.tensor("model.layers.0.self_attn.q_proj.weight")->values<float>());
  EXPECT_EQ(content_digest(taken_there_and_back(qwen)), content_digest(qwen));
  Model gemma = small("gemma");
  gemma.config.head_dim = 4;
  add_ffn(gemma);
  gemma.tensors[2] = gemma.tensors[0];
  gemma.tensors[2].name = "lm_head.weight";
  const Model there = adapt(gemma, gguf()).model;
  EXPECT_EQ(there.tensor("output.weight"), nullptr) << "Gemma's head is its token table";
  EXPECT_EQ(there.tensor("output_norm.weight")->values<float>()[0], 1.5F);
  gemma.tensors.erase(gemma.tensors.begin() + 2);
  gemma.tensors[1] = dense<float>("model.norm.weight", {8}, {1e-9F, 0.1F, -0.3F, 1, -1, 0, 1e-30F, 3e5F});
  EXPECT_EQ(content_digest(taken_there_and_back(gemma)), content_digest(gemma));
}

// A tensor is omitted only if its replacement has the same bytes.
TEST(GgufConventions, AHeadThatIsNotTheTokenTableIsNotLeftOut) {
  for (const char* const type : {"gemma", "gemma2"})
    for (const char* const tied : {"", R"(,"tie_word_embeddings":true)"}) {
      Model model = small(type, R"({"model_type":")" + std::string(type) + '"' + tied + "}");
      model.config.head_dim = 4;
      const Tensor other = model.tensors[2];
      model.tensors[2] = model.tensors[0];
      model.tensors[2].name = "lm_head.weight";
      EXPECT_NO_THROW(static_cast<void>(adapt(model, gguf()))) << type;
      const auto error_with = [&](const Tensor& head) {
        model.tensors[2] = head;
        model.tensors[2].name = "lm_head.weight";
        return rule_of([&] { static_cast<void>(adapt(model, gguf())); });
      };
      EXPECT_EQ(error_with(other), "convert.head") << type;
      EXPECT_EQ(error_with(counted("", {3, 8}, 1, DType::f16)), "convert.head") << "of another type";
      EXPECT_EQ(error_with(counted("", {4, 8}, 1)), "convert.head") << "of another shape";
      std::vector<float> last = model.tensors[0].values<float>();
      last.back() += 1;
      EXPECT_EQ(error_with(cast(dense<float>("", {3, 8}, last), DType::bf16)), "convert.head") << "one element";
      AdaptOptions without;
      without.skip = {"lm_head.weight"};
      EXPECT_EQ(adapt(model, gguf(), without).model.tensor("output.weight"), nullptr);
    }
}

// The head equals the token table, and config.json has tie_word_embeddings false.
TEST(GgufConventions, AHeadThatWasLeftOutComesBack) {
  Model model = small("gemma", R"({"model_type":"gemma","num_key_value_heads":2,"head_dim":4,)"
                               R"("tie_word_embeddings":false})");
  model.config.head_dim = 4;
  model.tensors[2] = model.tensors[0];
  model.tensors[2].name = "lm_head.weight";
  const Model there = adapt(model, gguf()).model;
  EXPECT_EQ(there.tensor("output.weight"), nullptr);
  const Model back = adapt(there, hf()).model;
  ASSERT_NE(back.tensor("lm_head.weight"), nullptr);
  EXPECT_EQ(back.tensor("lm_head.weight")->values<float>(), model.tensors[0].values<float>());
}

// Keys of GGUF in the metadata of a model with Hugging Face's names, planted or set, change neither the conversion nor
// the values from config.json.
TEST(GgufConventions, NoKeyOfMetadataTurnsTheConventionsOff) {
  const std::string config = R"({"model_type":"llama","rope_scaling":{"rope_type":"linear","factor":2.0}})";
  const std::pair<const char*, Value> keys[] = {{"general.alignment", Value(64)},
                                                {"general.file_type", Value(1)},
                                                {"general.file_type", Value("1")},
                                                {"general.quantization_version", Value(2)},
                                                {"gguf.keys", Value(List{Value("a=u32")})},
                                                {"gguf.keys", Value("text")},
                                                {"gguf.root", Value("bare")},
                                                {"general.architecture", Value("qwen2")},
                                                {"general.type", Value("adapter")},
                                                {"adapter.type", Value("lora")},
                                                {"llama.rope.scaling.type", Value("yarn")},
                                                {"llama.rope.dimension_count", Value(2)},
                                                {"tokenizer.ggml.model", Value("gpt2")}};
  const Bytes clean = write_bytes(gguf(), adapt(small("llama", config), gguf()).model);
  const auto expect_clean = [&](const Model& model, const std::string& what) {
    const Adapted adapted = adapt(model, gguf());
    EXPECT_TRUE(write_bytes(gguf(), adapted.model) == clean) << what;
    EXPECT_TRUE(std::ranges::any_of(adapted.changes, [](const Change& change) {
      return change.impact == Impact::lost && change.part == "metadata";
    })) << what;
  };
  Model all = small("llama", config);
  for (const auto& [key, value] : keys) {
    all.metadata.set(key, value);
    Model one = small("llama", config);
    one.metadata.set(key, value);
    expect_clean(one, key);
  }
  expect_clean(all, "all of them");
  // An unknown family is refused, as it is without the key.
  Model unknown = all;
  unknown.config.model_type = "unheard_of";
  EXPECT_EQ(rule_of([&] { adapt(unknown, gguf()); }), "convert.names");
  // Most of its names may be those of a known family.
  Model kin = small("nobody_knows");
  kin.tensors.push_back(counted("model.layers.0.mlp.unheard_of.weight", {3, 8}, 1));
  const auto error = error_of([&] { adapt(kin, gguf()); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->sentence()).find("; 9 of 10 are names of a llama model"), std::string::npos)
      << error->sentence();
}

TEST(GgufConventions, AKeyThatIsSetTurnsNothingOff) {
  for (const auto& [key, text] :
       {std::pair("general.alignment", "64"), std::pair("general.file_type", "7"),
        std::pair("general.quantization_version", "2"), std::pair("llama.rope.scaling.type", "none")}) {
    Model model = small("llama", R"({"model_type":"llama"})");
    model.metadata.set(key, "planted");
    const Model there = adapt(model, gguf(), {.set = {{key, text}}}).model;
    ASSERT_NE(there.tensor("blk.0.attn_q.weight"), nullptr) << key;
    ASSERT_NE(there.metadata.find(key), nullptr) << key;
    EXPECT_EQ(to_json(*there.metadata.find(key)).find("planted"), std::string::npos) << key;
  }
}

TEST(GgufConventions, ExpertsAreStackedAndTakenApart) {
  Model model = small("mixtral");
  model.tensors.push_back(counted("model.layers.0.block_sparse_moe.gate.weight", {2, 8}, 1));
  for (int expert = 0; expert < 2; ++expert)
    for (const char* const name : {"w1", "w2", "w3"})
      model.tensors.push_back(
          counted("model.layers.0.block_sparse_moe.experts." + std::to_string(expert) + "." + name + ".weight",
                  name[1] == '2' ? Shape{8, 6} : Shape{6, 8}, static_cast<float>(10 * expert + name[1])));
  model.attachments.push_back(text_file(
      "config.json", R"({"model_type":"mixtral","num_local_experts":2,"num_experts_per_tok":1,"hidden_size":8})"));
  const Model there = adapt(model, gguf()).model;
  const Tensor& stacked = *there.tensor("blk.0.ffn_down_exps.weight");
  EXPECT_EQ(stacked.shape.text(), "2x8x6");
  EXPECT_EQ(to_json(*there.metadata.find("llama.expert_count")), "2");
  EXPECT_EQ(to_json(*there.metadata.find("llama.expert_used_count")), "1");
  EXPECT_EQ(content_digest(taken_there_and_back(model)), content_digest(model));
  model.tensors.pop_back();
  EXPECT_EQ(rule_of([&] { adapt(model, gguf()); }), "convert.names") << "an expert is missing";
}

TEST(GgufConventions, WhatIsNotKnownIsRefusedWithItsName) {
  Model model = small("llama");
  add_ffn(model);
  model.tensors.push_back(counted("model.vision_tower.patch", {2}, 1));
  const auto error = error_of([&] { adapt(model, gguf()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "convert.names");
  EXPECT_NE(error->sentence().find("model.vision_tower.patch"), std::string::npos);
  EXPECT_EQ(error->remedies().front().remedy, Remedy::keep_names);
  AdaptOptions keep;
  keep.keep_names = true;
  EXPECT_NE(adapt(model, gguf(), keep).model.tensor("model.vision_tower.patch"), nullptr);
  Model other = small("gpt2");
  EXPECT_EQ(rule_of([&] { adapt(other, gguf()); }), "convert.names");
  other.config.model_type.reset();
  EXPECT_NO_THROW(static_cast<void>(adapt(other, gguf()))) << "nothing says that it is a language model";
}

TEST(GgufConventions, Llama3sFrequencies) {
  Model model = small("llama");
  add_ffn(model);
  model.attachments.push_back(text_file(
      "config.json",
      R"({"model_type":"llama","hidden_size":8,"rope_scaling":{"rope_type":"llama3","factor":4.0,"low_freq_factor":1.0,)"
      R"("high_freq_factor":4.0,"original_max_position_embeddings":64}})"));
  const Model there = adapt(model, gguf()).model;
  const Tensor* const divisors = there.tensor("rope_freqs.weight");
  ASSERT_NE(divisors, nullptr);
  // Wavelengths of 2 pi and 200 pi, for 64 positions: the first is short enough to be kept, the second long enough to
  // be slowed.
  EXPECT_EQ(divisors->values<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(content_digest(taken_there_and_back(model)), content_digest(model));
  // Another program changed one of the two; config.json counts.
  const auto results = [](const Model& file) {
    std::vector<std::string> items;
    for (const Change& change : adapt(file, *find_format("hf")).changes)
      if (change.impact == Impact::results) items.insert(items.end(), change.items.begin(), change.items.end());
    return items;
  };
  EXPECT_TRUE(results(there).empty());
  Model edited = there;
  edited.at("rope_freqs.weight") = dense<float>("rope_freqs.weight", {2}, std::vector<float>{1, 8});
  EXPECT_EQ(results(edited), std::vector<std::string>{"rope_scaling"});
  std::erase_if(edited.tensors, [](const Tensor& tensor) { return tensor.name == "rope_freqs.weight"; });
  EXPECT_EQ(results(edited), std::vector<std::string>{"rope_scaling"});
  // Between the two, it is interpolated.
  const std::vector<float> mixed = gguf::llama_cpp::llama3_divisors({4, 1, 4, 64}, 9.0, 4);
  const double wave = 2 * 3.14159265358979323846 * std::sqrt(9.0), smooth = (64 / wave - 1) / 3;
  EXPECT_FLOAT_EQ(mixed[1], static_cast<float>(1 / ((1 - smooth) / 4 + smooth)));
}

std::string tokenizer(const std::string& pre) {
  return R"({"added_tokens":[{"id":2,"content":"<s>","special":true}],"pre_tokenizer":)" + pre +
         R"(,"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})";
}

TEST(GgufConventions, TheNameOfThePreTokenizer) {
  const std::pair<const char*, const char*> known[] = {
      {R"({"type":"ByteLevel","use_regex":true})", "gpt-2"},
      {R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"ByteLevel"}]})",
       "smollm"},
      {R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated"},{"type":"ByteLevel","use_regex":false}]})",
       "qwen2"}};
  const auto with = [](const std::string& pre) {
    Model model = small("llama");
    add_ffn(model);
    model.attachments = {text_file("tokenizer.json", tokenizer(pre)),
                         text_file("tokenizer_config.json", R"({"bos_token":"<s>"})")};
    model.vocabulary.kind = "bpe";
    model.vocabulary.tokens = {{"a"}, {"b"}, {"<s>", 0, TokenType::control}};
    return model;
  };
  for (const auto& [pre, name] : known) {
    const Model there = adapt(with(pre), gguf()).model;
    EXPECT_EQ(*there.metadata.find("tokenizer.ggml.pre"), Value(name));
    EXPECT_EQ(gguf::llama_cpp::cuts_of(name),
              gguf::llama_cpp::cuts_of(gguf::llama_cpp::pre_tokenizer_of({.cuts = *gguf::llama_cpp::cuts_of(name)})));
    // With another name, the attached tokenizer.json splits differently: the way back warns.
    const auto tells = [&](const std::string& other) {
      Model changed = there;
      changed.metadata.set("tokenizer.ggml.pre", other);
      return std::ranges::any_of(adapt(changed, hf()).changes, [](const Change& change) {
        return change.impact == Impact::results && change.detail.starts_with("it splits text as");
      });
    };
    EXPECT_FALSE(tells(name)) << name;
    EXPECT_TRUE(tells("deepseek-llm")) << name;
  }
  const Model odd = with(R"({"type":"Split","pattern":{"Regex":"x+"}})");
  const auto error = error_of([&] { adapt(odd, gguf()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "convert.pre_tokenizer");
  AdaptOptions told;
  told.set = {{"tokenizer.ggml.pre", "gpt-2"}};
  EXPECT_EQ(*adapt(odd, gguf(), told).model.metadata.find("tokenizer.ggml.pre"), Value("gpt-2"));
  AdaptOptions without;
  without.drop = {ModelPart::vocabulary};
  EXPECT_NO_THROW(static_cast<void>(adapt(odd, gguf(), without)));
}

// SmolLM's tokenizer_config.json names <|endoftext|> as its unk_token; llama.cpp's converter writes it as a control
// token.
TEST(GgufConventions, AVocabularyOfBytesHasNoUnknownToken) {
  Model model = small("llama");
  add_ffn(model);
  model.attachments = {text_file("tokenizer.json", tokenizer(R"({"type":"ByteLevel","use_regex":true})")),
                       text_file("tokenizer_config.json", R"({"unk_token":"<s>"})")};
  model.vocabulary.kind = "bpe";
  model.vocabulary.tokens = {{"a"}, {"b"}, {"<s>", 0, TokenType::unknown}};
  model.vocabulary.unk = 2;
  const Model there = open(memory_source(write_bytes(gguf(), adapt(model, gguf()).model), "m.gguf"));
  EXPECT_EQ(there.vocabulary.tokens[2].type, TokenType::control);
  EXPECT_EQ(there.vocabulary.unk, 2);
  // Piece tokenizers have an unknown token, for characters that no piece spells.
  model.attachments.clear();
  model.vocabulary.kind = "spm";
  EXPECT_EQ(adapt(model, gguf()).model.vocabulary.tokens[2].type, TokenType::unknown);
}

// Files of a fine-tune of Gemma: tokenizer.model is unchanged, and tokenizer_config.json (or tokenizer.json) has a spare
// token with a new text and a new token, and marks tokens as special.
struct StatedToken {
  std::size_t id;
  const char* text;
  bool special;
};
constexpr StatedToken kStated[] = {{1, "<s>", true},
                                   {2, "</s>", true},
                                   {4, "<me>", false},
                                   {262, "\u2581\u2581", false},
                                   {263, "<start_of_turn>", true},
                                   {264, "<|im_start|>", true},
                                   {265, "<unused1>", false},
                                   {266, "<mask>", false},
                                   {267, "\u2581<new>", false}};

std::string gemma_pieces() {
  std::string pieces = small_spm();
  for (const char* const text : {"\u2581\u2581", "<start_of_turn>", "<unused0>", "<unused1>", "<mask>"})
    pieces += proto_piece(text, 0, 4);
  return pieces;
}

Attachment stated_in_settings() {
  std::vector<std::string> tokens;
  for (const StatedToken& token : kStated)
    tokens.push_back(fmt::format(R"("{}":{{"content":"{}","special":{}}})", token.id, token.text, token.special));
  return text_file("tokenizer_config.json",
                   fmt::format(R"({{"added_tokens_decoder":{{{}}}}})", fmt::join(tokens, ",")));
}

Attachment stated_in_tokenizer() {
  std::vector<std::string> tokens;
  for (const StatedToken& token : kStated)
    tokens.push_back(fmt::format(R"({{"id":{},"content":"{}","special":{}}})", token.id, token.text, token.special));
  return text_file(
      "tokenizer.json",
      fmt::format(
          R"({{"added_tokens":[{}],"normalizer":{{"type":"Replace","pattern":{{"String":" "}},"content":"\u2581"}},)"
          R"("model":{{"type":"BPE","byte_fallback":true,"vocab":{{"<unk>":0,"\u2581a":3}},"merges":[]}}}})",
          fmt::join(tokens, ",")));
}

Model fine_tuned(Attachment stated) {
  Model model = small("llama");
  add_ffn(model);
  model.attachments = {text_file("tokenizer.model", gemma_pieces()), std::move(stated)};
  Diagnostics quiet;
  resources::describe(model, quiet);
  return model;
}

std::string texts_and_types(const Vocabulary& vocabulary) {
  std::string line;
  for (const std::size_t id : {0, 1, 2, 3, 4, 6, 262, 263, 264, 265, 266, 267})
    line += fmt::format("{}:{} ", vocabulary.tokens.at(id).text, name_of(vocabulary.tokens[id].type));
  return line;
}

// Recorded from llama.cpp's converter, for the files with tokenizer_config.json.
constexpr const char* kConverted =
    "<unk>:unknown <s>:control </s>:control \u2581a:normal <me>:user_defined <0x00>:byte   :user_defined "
    "<start_of_turn>:control <|im_start|>:control <unused1>:control <mask>:control  <new>:user_defined ";

TEST(GgufConventions, WhatTheFilesSayAboutAddedTokensPrecedesThePieces) {
  for (const Attachment& stated : {stated_in_settings(), stated_in_tokenizer()}) {
    const Model model = fine_tuned(stated);
    const Model there = open(memory_source(write_bytes(gguf(), adapt(model, gguf()).model), "m.gguf"));
    EXPECT_EQ(texts_and_types(there.vocabulary), kConverted) << stated.name;
    EXPECT_TRUE(resources::disagreements(there).empty()) << "both spellings of blanks are one token: " << stated.name;
    EXPECT_EQ(content_digest(taken_there_and_back(model)), content_digest(model)) << stated.name;
  }
}

TEST(GgufConventions, AddedTokensSurviveWithoutTheFiles) {
  const Model there = adapt(fine_tuned(stated_in_settings()), gguf()).model;
  AdaptOptions without;
  without.drop = {ModelPart::attachments};
  const Scratch scratch;
  hf().write_tree(adapt(there, hf(), without).model, scratch / "d", {}, false);
  EXPECT_EQ(texts_and_types(adapt(open(scratch / "d"), gguf()).model.vocabulary), kConverted);
}

// Files of older versions of Tare have them as pieces.
TEST(GgufConventions, BlanksOfUserDefinedPiecesAreBlanks) {
  Model model = small("llama");
  add_ffn(model);
  model.vocabulary.kind = "spm";
  model.vocabulary.tokens = {{"\u2581\u2581", -1, TokenType::user_defined},
                             {"\u2581", -1, TokenType::user_defined},
                             {" ", -1, TokenType::user_defined}};
  const Vocabulary there = adapt(model, gguf()).model.vocabulary;
  EXPECT_EQ(there.tokens[0].text, "  ");
  EXPECT_EQ(there.tokens[1].text, "\u2581") << "llama.cpp refuses two tokens of one text";
  EXPECT_EQ(there.tokens[2].text, " ");
}

// Comparing a quantized file with the original: the names differ, and so do the rows of q and k.
TEST(GgufConventions, AFileIsPairedWithTheDirectoryItWasMadeFrom) {
  const Scratch scratch;
  Model original = small("llama");
  add_ffn(original);
  for (Tensor& tensor : original.tensors) tensor = cast(tensor, DType::f32);
  hf().write_tree(original, scratch / "d", {}, false);
  convert(scratch / "d", scratch / "m.gguf", {});
  convert(scratch / "m.gguf", scratch / "m.zt", {});
  const Model directory = open(scratch / "d");
  for (const char* const name : {"m.gguf", "m.zt"}) {
    Model a = open(scratch / name), b = directory;
    const Map metadata = a.metadata;
    EXPECT_EQ(diff(a, b).compared, 0U);
    ASSERT_TRUE(pair_names(a, b)) << name;
    EXPECT_EQ(a.metadata, metadata) << "only tensors are renamed";
    const Difference found = diff(a, b);
    EXPECT_EQ(found.compared, original.tensors.size()) << name;
    EXPECT_TRUE(found.tensors.empty()) << name;
    // One changed weight in reordered rows is found under the directory's name.
    for (Tensor& tensor : b.tensors)
      if (tensor.name == "model.layers.0.self_attn.q_proj.weight") tensor = counted(tensor.name, {8, 8}, 4, DType::f32);
    const Difference changed = diff(a, b);
    ASSERT_EQ(changed.tensors.size(), 1U) << name;
    EXPECT_EQ(changed.tensors[0].name, "model.layers.0.self_attn.q_proj.weight");
  }
  // A tensor that both have under one name is left alone, and does not keep the others from being paired.
  Model with = open(scratch / "m.gguf"), and_with = directory;
  for (Model* model : {&with, &and_with}) model->tensors.push_back(counted("planted", {2}, 1));
  ASSERT_TRUE(pair_names(with, and_with));
  EXPECT_EQ(diff(with, and_with).compared, original.tensors.size() + 1);
  // Common or unknown names: nothing is renamed.
  Model a = open(scratch / "m.gguf"), b = open(scratch / "m.zt");
  EXPECT_FALSE(pair_names(a, b));
  EXPECT_EQ(a.tensors[0].name, open(scratch / "m.gguf").tensors[0].name);
  Model other;
  other.tensors = {counted("x", {2}, 1)};
  EXPECT_FALSE(pair_names(a, other));
  EXPECT_EQ(a.tensors[0].name, open(scratch / "m.gguf").tensors[0].name);
}

// What each name implies in llama.cpp b21e4de745: m merges are ignored for words that are tokens, b texts begin with
// bos, k blanks before punctuation are kept.
const std::map<std::string_view, std::string_view> kNamesOfLlamaCpp = {{"llama-bpe", "mb"},
                                                                       {"llama3", "mb"},
                                                                       {"llama-v3", "mb"},
                                                                       {"falcon3", "mb"},
                                                                       {"falcon-h1", "mb"},
                                                                       {"pixtral", "mb"},
                                                                       {"midm-2.0", "mb"},
                                                                       {"lfm2", "mb"},
                                                                       {"jina-v5-nano", "mb"},
                                                                       {"dbrx", ""},
                                                                       {"smaug-bpe", ""},
                                                                       {"glm4", ""},
                                                                       {"chatglm-bpe", ""},
                                                                       {"qwen2", "k"},
                                                                       {"deepseek-r1-qwen", "k"},
                                                                       {"kormo", "k"},
                                                                       {"f2llmv2", "k"},
                                                                       {"hunyuan", "k"},
                                                                       {"solar-open", "k"},
                                                                       {"grok-2", "k"},
                                                                       {"stablelm2", ""},
                                                                       {"megrez", ""},
                                                                       {"qwen35", "k"},
                                                                       {"gpt-2", ""},
                                                                       {"phi-2", ""},
                                                                       {"mpt", ""},
                                                                       {"olmo", ""},
                                                                       {"jais", ""},
                                                                       {"exaone4", ""},
                                                                       {"modern-bert", ""},
                                                                       {"gigachat", ""},
                                                                       {"mellum", ""},
                                                                       {"a.x-4.0", ""},
                                                                       {"jina-es", ""},
                                                                       {"jina-de", ""},
                                                                       {"jina-v2-es", ""},
                                                                       {"jina-v2-de", ""},
                                                                       {"jina-v1-en", ""},
                                                                       {"jina-v2-code", ""},
                                                                       {"roberta-bpe", ""},
                                                                       {"trillion", "k"},
                                                                       {"smollm", "k"},
                                                                       {"command-r", "k"},
                                                                       {"starcoder", ""},
                                                                       {"granite-docling", "k"},
                                                                       {"refact", ""},
                                                                       {"codeshell", ""},
                                                                       {"exaone", ""},
                                                                       {"minerva-7b", ""},
                                                                       {"mellum2", ""},
                                                                       {"tekken", "mbk"},
                                                                       {"gpt-4o", "k"},
                                                                       {"llama4", "k"},
                                                                       {"kanana2", "k"},
                                                                       {"talkie", "k"},
                                                                       {"minimax-m2", "k"},
                                                                       {"deepseek-v3", "k"},
                                                                       {"hunyuan-dense", "k"},
                                                                       {"joyai-llm", "k"},
                                                                       {"deepseek-llm", "k"},
                                                                       {"deepseek-coder", "k"},
                                                                       {"bloom", ""},
                                                                       {"gpt3-finnish", ""},
                                                                       {"poro-chat", "k"},
                                                                       {"viking", "k"},
                                                                       {"bailingmoe", "k"},
                                                                       {"bailingmoe2", "k"},
                                                                       {"llada-moe", "k"},
                                                                       {"seed-coder", "k"},
                                                                       {"minicpm5", "m"},
                                                                       {"exaone-moe", ""},
                                                                       {"jais-2", ""},
                                                                       {"tiny_aya", "k"},
                                                                       {"cohere2moe", "k"},
                                                                       {"youtu", "mk"}};

TEST(GgufConventions, MoreThanCutsHangsOnAName) {
  std::vector<std::string_view> known = gguf::llama_cpp::pre_tokenizers();
  EXPECT_EQ(known.size(), kNamesOfLlamaCpp.size());
  for (const auto& [name, flags] : kNamesOfLlamaCpp) {
    const auto found = gguf::llama_cpp::flags_of(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->ignores_merges, flags.find('m') != flags.npos) << name;
    EXPECT_EQ(found->begins, flags.find('b') != flags.npos) << name;
    EXPECT_EQ(found->keeps_blanks, flags.find('k') != flags.npos) << name;
    // The name that is derived from the traits of a name has the same traits.
    const std::string_view again = gguf::llama_cpp::pre_tokenizer_of({.cuts = *gguf::llama_cpp::cuts_of(name),
                                                                      .ignores_merges = found->ignores_merges,
                                                                      .keeps_blanks = found->keeps_blanks});
    EXPECT_EQ(gguf::llama_cpp::cuts_of(again), gguf::llama_cpp::cuts_of(name)) << name << " " << again;
    EXPECT_EQ(kNamesOfLlamaCpp.at(again), flags) << name << " " << again;
  }
  EXPECT_FALSE(gguf::llama_cpp::flags_of("unheard-of"));
}

// The names that llama.cpp's converter chooses.
TEST(GgufConventions, TheNameOfThePreTokenizerByWhatHangsOnIt) {
  const auto name = [](std::string_view like, bool ignores, std::optional<bool> keeps, std::string type = "llama") {
    return gguf::llama_cpp::pre_tokenizer_of({.cuts = *gguf::llama_cpp::cuts_of(like),
                                              .ignores_merges = ignores,
                                              .keeps_blanks = keeps,
                                              .model_type = std::move(type)});
  };
  EXPECT_EQ(name("starcoder", false, true), "smollm");
  EXPECT_EQ(name("starcoder", false, std::nullopt), "smollm") << "blanks are kept where nothing is said";
  EXPECT_EQ(name("starcoder", false, false), "starcoder");
  EXPECT_EQ(name("starcoder", false, true, "starcoder2"), "starcoder");
  EXPECT_EQ(name("starcoder", false, true, "cohere"), "command-r");
  EXPECT_EQ(name("starcoder", false, std::nullopt, "cohere2"), "command-r");
  EXPECT_EQ(name("llama-bpe", true, false), "llama-bpe");
  EXPECT_EQ(name("llama-bpe", true, true, "smollm3"), "llama-bpe");
  EXPECT_EQ(name("llama-bpe", false, false), "dbrx");
  EXPECT_EQ(name("llama-bpe", false, true, "olmo2"), "dbrx");
  EXPECT_EQ(name("llama-bpe", false, false, "glm4"), "glm4");
  EXPECT_EQ(name("qwen2", false, true, "qwen3"), "qwen2");
  EXPECT_EQ(name("qwen2", false, std::nullopt), "qwen2");
  EXPECT_EQ(name("qwen2", false, false), "stablelm2");
  EXPECT_EQ(name("gpt-2", false, std::nullopt), "gpt-2");
  EXPECT_EQ(name("gpt-2", false, false, "olmo"), "olmo");
}

// The files of DeepSeek V3 and of Seed have the ends of lines themselves in their patterns; others have escapes.
TEST(GgufConventions, EndsOfLinesInPatterns) {
  std::vector<std::string> cuts = *gguf::llama_cpp::cuts_of("deepseek-v3");
  for (std::string& cut : cuts)
    for (const auto& [escape, character] : {std::pair("\\r", "\r"), {"\\n", "\n"}})
      for (std::size_t at = cut.find(escape); at != cut.npos; at = cut.find(escape)) cut.replace(at, 2, character);
  EXPECT_NE(cuts.back().find('\n'), cuts.back().npos);
  EXPECT_EQ(gguf::llama_cpp::pre_tokenizer_of({.cuts = cuts, .keeps_blanks = true}), "deepseek-v3");
}

// A file of another program: keys, and no files.
Model with_byte_tokens(std::string_view pre) {
  Model model = small("llama");
  add_ffn(model);
  model = adapt(std::move(model), gguf()).model;
  model.format = "gguf";
  model.attachments.clear();
  model.vocabulary.kind = "bpe";
  model.vocabulary.tokens = {{"a"}, {" "}, {" a"}};
  model.vocabulary.merges = {"\u0120 a"};
  model.metadata.set("tokenizer.ggml.pre", std::string(pre));
  return model;
}

// A name is kept, whether or not another one would do, through every container.
TEST(GgufConventions, TheNameOfAPreTokenizerIsKept) {
  const Scratch scratch;
  std::vector<std::string_view> names = gguf::llama_cpp::pre_tokenizers();
  names.push_back("unheard-of");
  names.push_back("default");
  for (const std::string_view name : names) {
    save(with_byte_tokens(name), scratch / "first.gguf", {.overwrite = true});
    for (const char* const by : {"hf", "mcf", "zt", "npz", "zt2"}) {
      const std::string between = scratch / (std::string(by) == "hf" ? "hf/" : "between");
      std::filesystem::remove_all(between);
      convert(scratch / "first.gguf", between, {.to = by});
      convert(between, scratch / "second.gguf", {.overwrite = true});
      EXPECT_EQ(*open(scratch / "second.gguf").metadata.find("tokenizer.ggml.pre"), Value(name)) << by;
    }
    // The directory has the traits of the name, for programs that read only tokenizer.json.
    const auto flags = gguf::llama_cpp::flags_of(name);
    if (!flags) continue;
    const std::string settings = to_text(get_file(scratch / "hf/tokenizer_config.json"));
    EXPECT_EQ(settings.find("\"clean_up_tokenization_spaces\": false") != settings.npos, flags->keeps_blanks) << name;
    const std::string rules = to_text(get_file(scratch / "hf/tokenizer.json"));
    EXPECT_EQ(rules.find("\"ignore_merges\": true") != rules.npos, flags->ignores_merges) << name;
  }
}

// Also through a container that sorts the keys of maps.
TEST(GgufConventions, AFileComesBackAsItWasThroughEveryContainerThatKeepsMetadata) {
  const Scratch scratch;
  GgufFile file;
  file.string("general.architecture", "llama").string("z.last", "1").string("general.name", "n").string("a.first", "2");
  file.u32("llama.block_count", 1).string("tokenizer.ggml.model", "gpt2").string("tokenizer.ggml.pre", "smollm");
  file.strings("tokenizer.ggml.tokens", {"a", "b"}).string("b=c", "an equals sign");
  file.tensor("blk.0.attn_q.weight", {4}, 0, 0, gguf_floats(4, 1));
  const Bytes bytes = file.bytes();
  put_file(scratch / "first.gguf", bytes);
  convert(scratch / "first.gguf", scratch / "plain.gguf", {.to = "gguf"});
  const Bytes written = get_file(scratch / "plain.gguf");
  for (const char* const by : {"zt", "zt2", "npz"}) {
    convert(scratch / "plain.gguf", scratch / by, {.to = by});
    convert(scratch / by, scratch / "second.gguf", {.overwrite = true});
    EXPECT_EQ(get_file(scratch / "second.gguf"), written) << by;
  }
  // Earlier versions wrote a map.
  Model model = open(scratch / "plain.gguf");
  Map old;
  for (const Value& line : *model.metadata.find("gguf.keys")->get<List>()) {
    const std::size_t equals = line.text()->rfind('=');
    old.append(line.text()->substr(0, equals), line.text()->substr(equals + 1));
  }
  model.metadata.set("gguf.keys", std::move(old));
  save(model, scratch / "old.gguf");
  EXPECT_EQ(get_file(scratch / "old.gguf"), written);
}

std::vector<std::string> texts_of(const std::vector<Change>& changes) {
  std::vector<std::string> texts;
  for (const Change& change : changes) texts.push_back(to_text(change));
  return texts;
}
bool tells(const std::vector<Change>& changes, std::string_view words) {
  return std::ranges::any_of(texts_of(changes), [&](const std::string& text) { return text.find(words) != text.npos; });
}

// A container that keeps neither the kind of a tokenizer nor how it splits: the rules that are written are a guess.
TEST(GgufConventions, SplittingThatIsNotKnownIsToldAndNotLeftOut) {
  const Scratch scratch;
  Model there = with_byte_tokens("smollm");
  there.vocabulary.kind.clear();
  there.metadata.erase("tokenizer.ggml.pre");
  there.format = "alt";
  const Saved done = save(there, scratch / "hf/", {.to = "hf"});
  EXPECT_TRUE(tells(done.changes, "how the model splits text is not known; it is split as GPT-2 does"))
      << fmt::format("{}", fmt::join(texts_of(done.changes), "\n"));
  const std::string rules = to_text(get_file(scratch / "hf/tokenizer.json"));
  EXPECT_NE(rules.find(R"("use_regex": true)"), rules.npos) << rules;
  // Without GGUF's names, the same.
  Model usual = small("llama");
  add_ffn(usual);
  usual.vocabulary = there.vocabulary;
  usual.format = "alt";
  EXPECT_TRUE(tells(adapt(usual, *find_format("hf")).changes, "how the model splits text is not known"));
  // Every kind of tokenizer is a guess without its files, and what is put around a text is unknown.
  usual.format = "zt";
  usual.vocabulary = {};
  const auto guess = [&](std::string_view kind, std::vector<Token> tokens) {
    usual.vocabulary.kind = kind;
    usual.vocabulary.tokens = std::move(tokens);
    const std::vector<Change> changes = adapt(usual, *find_format("hf")).changes;
    const auto found = std::ranges::find_if(changes, [](const Change& change) {
      return change.impact == Impact::results && change.detail.starts_with("how the model splits text is not known");
    });
    return found == changes.end() ? "nothing is told" : found->detail.substr(found->detail.find(';'));
  };
  const std::string bare = ", and no special tokens are put around it";
  EXPECT_EQ(guess("wordpiece", {{"[UNK]"}, {"a"}, {"##b"}}), "; it is split as BERT does" + bare);
  EXPECT_EQ(guess("wordlevel", {{"[UNK]"}, {"a"}, {"b"}}), "; it is split at blanks and punctuation" + bare);
  for (const std::string_view kind : {"unigram", "spm", "bpe", ""})
    EXPECT_EQ(guess(kind, {{"<unk>"},
                           {"\xE2\x96\x81"
                            "a"},
                           {"b"}}),
              "; it is split as SentencePiece does, with a blank before it" + bare)
        << kind;
  EXPECT_EQ(guess("unigram", {{"<unk>"}, {"a"}, {"b"}}), "; it is not split" + bare);
  // The same on the way to GGUF, whose readers have rules of their own for each kind.
  for (const auto& [kind, name] : {std::pair("unigram", "llama"), {"spm", "llama"}, {"wordpiece", "bert"}}) {
    Model other = small("llama");
    add_ffn(other);
    other.vocabulary.kind = kind;
    other.vocabulary.tokens = {{"<unk>", 0, TokenType::unknown},
                               {"\xE2\x96\x81"
                                "a",
                                -1},
                               {"<0x0A>", -2, TokenType::byte}};
    EXPECT_TRUE(
        tells(adapt(other, gguf()).changes,
              fmt::format("is unknown without tokenizer.json; the rules of llama.cpp's \"{}\" are assumed", name)))
        << kind;
    other.attachments.push_back(text_file("tokenizer.json", R"({"model":{"type":"BPE"}})"));
    EXPECT_FALSE(tells(adapt(other, gguf()).changes, "is unknown without tokenizer.json")) << kind;
  }
  usual.attachments.push_back(text_file("tokenizer.json", "{}"));
  EXPECT_EQ(guess("wordpiece", {{"[UNK]"}, {"a"}, {"##b"}}), "nothing is told");
}

TEST(GgufConventions, SomeTensorsWithoutTheTokenTableHaveNoVocabulary) {
  Model model = small("llama");
  add_ffn(model);
  model.vocabulary.tokens = {{"a"}, {"b"}};
  AdaptOptions some;
  some.match = {"*embed_tokens*"};
  EXPECT_EQ(adapt(model, *find_format("npz"), some).model.vocabulary.tokens.size(), 2U);
  some.match = {"*mlp*"};
  const Adapted adapted = adapt(model, *find_format("npz"), some);
  EXPECT_TRUE(adapted.model.vocabulary.empty());
  EXPECT_TRUE(tells(adapted.changes, "the token table is not among the tensors that were asked for"));
  some = {};
  some.skip = {"*embed_tokens*"};
  EXPECT_EQ(adapt(model, *find_format("npz"), some).model.vocabulary.tokens.size(), 2U) << "only what was asked for";
}

TEST(GgufConventions, ADirectoryWithoutAConfigIsToldToBeOne) {
  Model model;
  for (const char* const name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight"})
    model.tensors.push_back(make_dense(name, {2, 2}, DType::f32));
  EXPECT_TRUE(tells(adapt(model, *find_format("hf")).changes, "there is no config.json"));
  EXPECT_FALSE(tells(adapt(model, *find_format("zt")).changes, "there is no config.json"));
  Model adapter = model;
  adapter.attachments = {text_file("adapter_config.json", "{}")};
  EXPECT_FALSE(tells(adapt(adapter, *find_format("hf")).changes, "there is no config.json"));
  model.config.model_type = "llama";
  EXPECT_FALSE(tells(adapt(model, *find_format("hf"), {.keep_names = true}).changes, "there is no config.json"));
}

TEST(GgufConventions, LargeFilesThatComeAlongAreTold) {
  Model model;
  model.tensors.push_back(make_dense("w", {2, 2}, DType::f32));
  model.attachments = {text_file("notes.txt", std::string(1000, 'x'))};
  EXPECT_FALSE(tells(gguf().remarks(model, {}), "attached"));
  model.attachments.push_back(text_file("tokenizer.json", std::string(300'000, ' ')));
  EXPECT_TRUE(tells(gguf().remarks(model, {}), "2 attached files take 293.9 KiB of the file; runtimes ignore them"));
}

TEST(GgufConventions, FilesThatTheKeysContradictAreLeftOut) {
  Model model = small("llama");
  add_ffn(model);
  model.attachments = {text_file("config.json", R"({"model_type":"llama","hidden_size":8})"),
                       text_file("notes.txt", "mine")};
  const Bytes bytes = write_bytes(gguf(), adapt(model, gguf()).model);
  EXPECT_EQ(open(memory_source(bytes, "m.gguf")).attachments.size(), 2U);
  // Another program changes a number.
  std::string text = to_text(bytes);
  const std::size_t at = text.find("llama.context_length") + std::string("llama.context_length").size() + 4;
  ASSERT_EQ(text[at], 16);
  text[at] = 17;
  const Model changed = open(memory_source(to_bytes(text), "m.gguf"));
  EXPECT_EQ(changed.config.max_position_embeddings, 17);
  ASSERT_EQ(changed.attachments.size(), 1U);
  EXPECT_EQ(changed.attachments[0].name, "notes.txt");
}

TEST(GgufConventions, WithoutItsVocabularyAModelWithFilesIsRead) {
  Model model = small("llama");
  add_ffn(model);
  model.attachments = {text_file("notes.txt", "mine")};
  model.vocabulary.kind = "spm";
  model.vocabulary.tokens = {{"a", 0, TokenType::normal}, {"b", 0, TokenType::normal}};
  const Bytes bytes = write_bytes(gguf(), adapt(model, gguf()).model);
  const Model read = open(memory_source(bytes, "m.gguf"), {.vocabulary = false});
  EXPECT_EQ(read.tensors.size(), model.tensors.size());
  EXPECT_TRUE(read.vocabulary.empty());
}

}  // namespace
}  // namespace tare
