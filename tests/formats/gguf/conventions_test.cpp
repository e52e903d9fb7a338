// llama.cpp's conventions and Hugging Face's: names, rows, experts, types, keys and tokenizers, there and back.
#include "formats/gguf/conventions.hpp"

#include <cmath>

#include "conformance/scratch.hpp"
#include "formats/gguf/small_models.hpp"
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
  // Row 2k + p of a head is row 2p + k of it elsewhere; rows have 8 elements.
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
  EXPECT_EQ(rule_of([&] { adapt(there, hf()); }), "convert.names");
  model.config.num_attention_heads.reset();
  model.config.num_key_value_heads.reset();
  EXPECT_EQ(rule_of([&] { adapt(model, gguf()); }), "convert.names");
}

TEST(GgufConventions, QuantizedRowsAreMovedAsTheyAre) {
  Model model = small("llama");
  add_ffn(model);
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
  const Model there = adapt(gemma, gguf()).model;
  EXPECT_EQ(there.tensor("output.weight"), nullptr) << "Gemma's head is its token table";
  EXPECT_EQ(there.tensor("output_norm.weight")->values<float>()[0], 1.5F);
  gemma.tensors.erase(gemma.tensors.begin() + 2);
  gemma.tensors[1] = dense<float>("model.norm.weight", {8}, {1e-9F, 0.1F, -0.3F, 1, -1, 0, 1e-30F, 3e5F});
  EXPECT_EQ(content_digest(taken_there_and_back(gemma)), content_digest(gemma));
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
  // Waves of 2 pi and 200 pi, of 64 positions: short enough to stay, and long enough to be slowed down.
  EXPECT_EQ(divisors->values<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(content_digest(taken_there_and_back(model)), content_digest(model));
  // Between the two a mixture.
  const std::vector<float> mixed = gguf::llama3_divisors({4, 1, 4, 64}, 9.0, 4);
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
       "starcoder"},
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
    EXPECT_EQ(gguf::cuts_of(name), gguf::cuts_of(gguf::pre_tokenizer_of(*gguf::cuts_of(name))));
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
