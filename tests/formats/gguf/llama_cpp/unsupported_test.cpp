// Settings of config.json and tokenizer.json beyond names and numbers: converted to keys of llama.cpp, reported, or
// refused; and conversions of files of other programs.
#include <fmt/ranges.h>

#include <cmath>

#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "formats/gguf/small_models.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_bytes.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using tare::testing::gguf;

// The key of config.json, or the words about the tokenizer, of each warning.
std::vector<std::string> warnings_of(const Model& model) {
  std::vector<std::string> warnings;
  for (const Change& change : adapt(model, gguf()).changes)
    if (change.impact == Impact::results)
      warnings.push_back(change.items.empty() ? change.detail : change.items.front());
  return warnings;
}
using Words = std::vector<std::string>;

std::string key_of(const Model& model, const std::string& key) {
  const Model there = adapt(model, gguf()).model;
  const Value* const found = there.metadata.find(key);
  return found == nullptr ? "" : to_json(*found);
}

Model gemma(const std::string& type, const std::string& config, int layers = 1) {
  Model model = small(type, config);
  model.config.head_dim = 4;
  model.config.hidden_act = "gelu_pytorch_tanh";
  model.config.sliding_window = 8;
  model.config.num_hidden_layers = layers;
  model.tensors[2] = model.tensors[0];
  model.tensors[2].name = "lm_head.weight";  // tied: a copy of the token table
  for (const char* const name : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
    model.tensors.push_back(counted("model.layers.0." + std::string(name) + ".weight", {8}, 1));
  return model;
}

TEST(GgufUnsupported, MinistralsYarn) {
  const std::string rope =
      R"({"rope_type":"yarn","factor":16.0,"beta_fast":32.0,"beta_slow":1.0,"mscale":1.0,"mscale_all_dim":1.0,)"
      R"("llama_4_scaling_beta":0.1,"original_max_position_embeddings":16,"rope_theta":1000000.0})";
  Model model = small("ministral3", R"({"model_type":"ministral3","rope_parameters":)" + rope + "}");
  model.config.head_dim = 4;
  EXPECT_EQ(key_of(model, "mistral3.rope.scaling.yarn_log_multiplier"), "1.0");
  EXPECT_EQ(key_of(model, "mistral3.attention.temperature_scale"), "0.1");
  EXPECT_EQ(key_of(model, "mistral3.rope.scaling.yarn_beta_fast"), "32.0");
  EXPECT_EQ(key_of(model, "mistral3.rope.scaling.attn_factor"), "") << "as llama.cpp computes it";
  EXPECT_EQ(warnings_of(model), Words());
}

TEST(GgufUnsupported, LlamasYarn) {
  const auto with = [](const std::string& more) {
    return small("llama", R"({"model_type":"llama","rope_scaling":{"rope_type":"yarn","factor":4.0,)" + more +
                              R"("original_max_position_embeddings":4}})");
  };
  EXPECT_EQ(key_of(with(""), "llama.rope.scaling.attn_factor"), "");
  EXPECT_EQ(warnings_of(with(R"("beta_fast":32,"beta_slow":1,)")), Words());
  // llama.cpp scales by 1 + log(4) / 10, times the value of this key.
  const Model stretched = with(R"("attention_factor":1.5,"beta_fast":8.0,)");
  EXPECT_EQ(key_of(stretched, "llama.rope.scaling.yarn_attn_factor"), "1.5");
  EXPECT_NEAR(std::stod(key_of(stretched, "llama.rope.scaling.attn_factor")), 1.5 / (1 + 0.1 * std::log(4.0)), 1e-6);
  EXPECT_EQ(key_of(stretched, "llama.rope.scaling.yarn_beta_fast"), "8.0");
  EXPECT_EQ(warnings_of(stretched), Words{"rope_scaling.beta_fast"});
  const Model scaled = with(R"("mscale":1.0,"mscale_all_dim":0.5,"truncate":false,)");
  EXPECT_NEAR(std::stod(key_of(scaled, "llama.rope.scaling.attn_factor")), 1 / (1 + 0.05 * std::log(4.0)), 1e-6);
  EXPECT_EQ(warnings_of(scaled), Words{"rope_scaling.truncate"});
  EXPECT_EQ(warnings_of(small("llama", R"({"rope_scaling":{"rope_type":"dynamic","factor":4.0}})")),
            Words{"rope_scaling"});
  EXPECT_EQ(warnings_of(small("qwen2", R"({"rope_parameters":{"rope_type":"llama3","factor":4.0}})")),
            Words{"rope_parameters"});
}

// As transformers has it: the length at the top of config.json takes precedence.
TEST(GgufUnsupported, TheContextOfTheTrainingAtTheTop) {
  const auto with = [](const std::string& rope, const std::string& top) {
    return small("llama", R"({"model_type":"llama","rope_scaling":{)" + rope + "}" + top + "}");
  };
  const std::string yarn = R"("rope_type":"yarn","factor":4.0)", inside = R"(,"original_max_position_embeddings":8)",
                    top = R"(,"original_max_position_embeddings":4)",
                    key = "llama.rope.scaling.original_context_length";
  EXPECT_EQ(key_of(with(yarn + inside, ""), key), "8");
  EXPECT_EQ(key_of(with(yarn + inside, top), key), "4");
  EXPECT_EQ(key_of(with(yarn, top), key), "4");
  EXPECT_EQ(key_of(with(R"("rope_type":"linear","factor":4.0)", top), key), "");
}

TEST(GgufUnsupported, WindowsThatLlamaCppDoesNotHave) {
  const auto with = [](const std::string& type, const std::string& config) {
    Model model = small(type, config);
    model.config.sliding_window = 8;
    return model;
  };
  EXPECT_EQ(warnings_of(with("mistral", "{}")), Words{"sliding_window"});
  EXPECT_EQ(warnings_of(with("qwen2", R"({"use_sliding_window":true,"max_window_layers":0})")),
            Words{"sliding_window"});
  EXPECT_EQ(warnings_of(with("qwen2", R"({"use_sliding_window":true,"max_window_layers":1})")), Words());
  EXPECT_EQ(warnings_of(with("qwen2", R"({"layer_types":["full_attention"]})")), Words());
  Model wide = with("mistral", "{}");
  wide.config.sliding_window = 16;
  EXPECT_EQ(warnings_of(wide), Words()) << "as wide as the context";
}

TEST(GgufUnsupported, LayersWithWindows) {
  const auto types = [](const std::string& word, int count) {
    std::string list = "\"" + word + "_attention\"";
    for (int i = 1; i < count; ++i) list += ",\"" + word + "_attention\"";
    return list;
  };
  const std::string pattern = "gemma2.attention.sliding_window_pattern";
  const auto with = [&](const std::string& list, int layers) {
    return gemma("gemma2", R"({"layer_types":[)" + list + "]}", layers);
  };
  EXPECT_EQ(key_of(with(types("sliding", 1) + "," + types("full", 1), 2), pattern), "") << "the usual ones";
  EXPECT_EQ(key_of(with(types("sliding", 2) + "," + types("full", 1), 3), pattern), "3");
  EXPECT_EQ(key_of(with(types("sliding", 3), 3), pattern), "0");
  EXPECT_EQ(key_of(with(types("full", 3), 3), pattern), "1");
  EXPECT_EQ(warnings_of(with(types("sliding", 2) + "," + types("full", 1), 3)), Words());
  EXPECT_EQ(warnings_of(with(types("full", 1) + "," + types("sliding", 2), 3)), Words{"layer_types"});
}

TEST(GgufUnsupported, FactsOfFamilies) {
  EXPECT_EQ(warnings_of(gemma("gemma2", R"({"attn_logit_softcapping":null,"final_logit_softcapping":20.0})")),
            Words{"attn_logit_softcapping"});
  EXPECT_EQ(warnings_of(gemma("gemma2", R"({"hidden_activation":"gelu"})")), Words{"hidden_act"});
  EXPECT_EQ(warnings_of(gemma("gemma2", R"({"hidden_act":"gelu","tie_word_embeddings":false})")),
            Words{"tie_word_embeddings"});
  // The first Gemma has two keys for it; programs differ in which one they use.
  const auto first = [](const std::string& config) {
    Model model = gemma("gemma", config);
    model.config.sliding_window.reset();
    std::erase_if(model.tensors,
                  [](const Tensor& tensor) { return tensor.name.find("_feedforward_") != tensor.name.npos; });
    return model;
  };
  EXPECT_EQ(warnings_of(first(R"({"hidden_activation":"gelu_pytorch_tanh","hidden_act":"silu"})")),
            Words{"hidden_activation"});
  EXPECT_EQ(warnings_of(first(R"({"hidden_activation":"gelu_pytorch_tanh","hidden_act":"gelu"})")), Words());
  EXPECT_EQ(warnings_of(first(R"({"hidden_activation":null,"hidden_act":"relu"})")), Words{"hidden_act"});
  Model llama = small("llama", "{}");
  llama.config.hidden_act = "silu";
  EXPECT_EQ(warnings_of(llama), Words());
  llama.config.hidden_act = "gelu";
  EXPECT_EQ(warnings_of(llama), Words{"hidden_act"});
  const auto smol = [](const std::string& config) {
    Model model = small("smollm3", config);
    model.config.num_hidden_layers = 4;
    return model;
  };
  EXPECT_EQ(warnings_of(smol(R"({"no_rope_layers":[1,1,1,0]})")), Words());
  EXPECT_EQ(warnings_of(smol(R"({"no_rope_layers":[0,1,1,0]})")), Words{"no_rope_layers"});
  EXPECT_EQ(warnings_of(smol(R"({"no_rope_layer_interval":4})")), Words());
  EXPECT_EQ(warnings_of(smol(R"({"no_rope_layer_interval":2})")), Words{"no_rope_layer_interval"});
}

TEST(GgufUnsupported, TensorsThatLlamaCppDoesNotLoadAreRefused) {
  const std::string bias = "model.layers.0.self_attn.o_proj.bias";
  Model llama = small("llama", "{}");
  llama.tensors.push_back(counted(bias, {8}, 1));
  EXPECT_NO_THROW(static_cast<void>(adapt(llama, gguf())));
  Model qwen = small("qwen3", "{}");
  qwen.tensors.push_back(counted("model.layers.0.self_attn.q_proj.bias", {8}, 1));
  EXPECT_NO_THROW(static_cast<void>(adapt(qwen, gguf())));
  qwen.tensors.push_back(counted(bias, {8}, 1));
  const auto error = error_of([&] { adapt(qwen, gguf()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "convert.names");
  EXPECT_NE(error->sentence().find(bias), std::string::npos);
  EXPECT_EQ(error->remedies().front().remedy, Remedy::keep_names);
  // A layer without experts.
  for (const char* const type : {"qwen2_moe", "qwen3_moe"}) {
    const auto dense_layer = error_of([&] { adapt(small(type, R"({"mlp_only_layers":[0]})"), gguf()); });
    ASSERT_TRUE(dense_layer) << type;
    EXPECT_EQ(dense_layer->rule(), "convert.names");
    EXPECT_NE(dense_layer->sentence().find("mlp.gate_proj"), std::string::npos);
  }
}

// ---- tokenizers

Model with_tokenizer(const std::string& file_text, const std::string& settings = R"({"bos_token":"<s>"})") {
  Model model = small("llama", "{}");
  model.attachments.push_back(text_file("tokenizer.json", file_text));
  model.attachments.push_back(text_file("tokenizer_config.json", settings));
  Diagnostics silent;
  resources::describe(model, silent);
  return model;
}

std::string byte_level(const std::string& more, const std::string& blank = "false") {
  return R"({"added_tokens":[{"id":2,"content":"<s>","special":true}],)" + more +
         R"("pre_tokenizer":{"type":"ByteLevel","use_regex":true,"add_prefix_space":)" + blank +
         R"(},"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})";
}

// Without its files, a vocabulary of bytes is still one: llama.cpp would look up pieces of text in it otherwise.
TEST(GgufUnsupported, BytesWithoutTheirFiles) {
  Model model = with_tokenizer(
      R"({"added_tokens":[{"id":2,"content":"<s>","special":true}],"pre_tokenizer":{"type":"ByteLevel"},)"
      R"("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"Ã":1,"Ġa":3,"Ġ":4},"merges":["Ġ a"]}})");
  std::erase_if(model.attachments, [](const Attachment& file) { return file.name != "config.json"; });
  EXPECT_EQ(key_of(model, "tokenizer.ggml.pre"), "\"gpt-2\"");
  const Words warnings = warnings_of(model);
  EXPECT_TRUE(std::ranges::any_of(warnings, [](const std::string& text) {
    return text.find("how it splits text is unknown") != std::string::npos;
  })) << fmt::format("{}", fmt::join(warnings, "\n"));
}

Model with_vocabulary(std::vector<Token> tokens, std::vector<std::string> merges = {}) {
  Model model = small("llama", "{}");
  model.vocabulary.tokens = std::move(tokens);
  model.vocabulary.merges = std::move(merges);
  model.vocabulary.bos = 2;
  return model;
}

// A container without a field for the kind, such as ALT: the tokens show it, or there is a warning that nothing does.
TEST(GgufUnsupported, KindsThatAreNotStated) {
  struct Row {
    const char* what;
    std::vector<Token> tokens;
    std::vector<std::string> merges;
    const char *kind, *warning;
  };
  const char* const guess = "how it splits text is unknown";
  const char* const pieces = "the rules of llama.cpp's \"llama\" are assumed";
  const char* const likely = "the rules of llama.cpp's \"t5\" are assumed";
  for (const auto& [what, tokens, merges, kind, warning] :
       {Row{"bytes, ranks", {{"a", -1}, {"\xC3", -2}, {"<s>"}, {" a", 0}, {" ", -3}}, {}, "bpe", guess},
        Row{"bytes, merges", {{"a"}, {"\xC3"}, {"<s>"}, {" a"}, {" "}}, {"Ġ a"}, "bpe", guess},
        Row{"text only, ranks", {{"a", -1}, {"b", -2}, {"<s>"}, {"ab", 0}}, {}, "bpe", guess},
        Row{"pieces, ranks", {{"▁", -1}, {"a", -2}, {"<s>"}, {"▁a", 0}}, {}, "spm", pieces},
        Row{"pieces, merges", {{"▁"}, {"a"}, {"<s>"}, {"▁a"}}, {"▁ a"}, "spm", pieces},
        Row{"pieces, likelihoods", {{"▁", -1.5F}, {"a", -2.5F}, {"<s>"}, {"▁a", -3.5F}}, {}, "unigram", likely},
        Row{"pieces without scores", {{"▁"}, {"a"}, {"<s>"}, {"▁a"}}, {}, "", "the kind of its tokenizer is not known"},
        Row{"words", {{"a"}, {"b"}, {"<s>"}}, {}, "", "the kind of its tokenizer is not known"}}) {
    const Model model = with_vocabulary(tokens, merges);
    EXPECT_EQ(adapt(model, gguf()).model.vocabulary.kind, kind) << what;
    const Words warnings = warnings_of(model);
    EXPECT_TRUE(std::ranges::any_of(warnings, [&, sought = std::string(warning)](
                                                  const std::string& text) { return text.find(sought) != text.npos; }))
        << what << ": " << fmt::format("{}", fmt::join(warnings, "\n"));
  }
  // The merges that the ranks came from; special tokens are found by their ids.
  const Model there = adapt(with_vocabulary({{"a", -1}, {"\xC3", -2}, {"<s>"}, {" a", 0}, {" ", -3}}), gguf()).model;
  EXPECT_EQ(there.vocabulary.merges, (Words{"Ġ a"}));
  EXPECT_EQ(there.vocabulary.tokens[2].type, TokenType::control);
  // A file of the tokenizer that was made on the way shows it as well.
  Model with_file = with_vocabulary({{"a", -1}, {"\xC3", -2}, {"<s>"}, {" a", 0}, {" ", -3}});
  with_file.attachments.push_back(text_file("tokenizer.json", resources::tokenizer_json(with_file.vocabulary)));
  EXPECT_EQ(adapt(with_file, gguf()).model.vocabulary.kind, "bpe");
  EXPECT_EQ(key_of(with_file, "tokenizer.ggml.pre"), "\"gpt-2\"");
}

// The kind that the user sets is the kind of the tokenizer, with all that follows from it.
TEST(GgufUnsupported, KindsThatAreSet) {
  struct Row {
    const char* what;
    std::vector<Token> tokens;
    std::vector<std::string> merges;
    const char *set, *kind, *pre;
    Words made;  // the merges in the file
  };
  for (const auto& [what, tokens, merges, set, kind, pre, made] :
       {Row{"words as words", {{"a"}, {"b"}, {"<s>"}}, {}, "bert", "wordpiece", "", {}},
        Row{"bytes as bytes", {{"a"}, {"b"}, {"<s>"}, {"ab"}}, {"a b"}, "gpt2", "bpe", "gpt-2", {"a b"}},
        Row{"ranks as merges",
            {{"▁", -3}, {"a", -1}, {"<s>"}, {"b", -2}, {"ab", 0}},
            {},
            "gpt2",
            "bpe",
            "gpt-2",
            {"a b"}},
        Row{"merges of pieces, as of bytes",
            {{"▁"}, {"a"}, {"<s>"}, {"▁a"}},
            {"▁ a"},
            "gpt2",
            "bpe",
            "gpt-2",
            {"âĸģ a"}},
        Row{"merges as ranks", {{"▁"}, {"a"}, {"<s>"}, {"▁a"}}, {"▁ a"}, "llama", "spm", "default", {}},
        Row{"likelihoods as ranks", {{"▁", -1.5F}, {"a", -2.5F}, {"<s>"}}, {}, "llama", "spm", "default", {}},
        Row{"ranks as likelihoods", {{"▁", -1}, {"a", 0}, {"<s>"}}, {}, "t5", "unigram", "default", {}},
        Row{"one of another runtime", {{"a"}, {"b"}, {"<s>"}}, {}, "rwkv", "", "", {}}}) {
    SCOPED_TRACE(what);
    const AdaptOptions options{.set = {{"tokenizer.ggml.model", set}}};
    const Adapted there = adapt(with_vocabulary(tokens, merges), gguf(), options);
    for (const Change& change : there.changes)
      EXPECT_EQ(to_text(change).find("the kind of its tokenizer"), std::string::npos) << to_text(change);
    const Model back = open(memory_source(write_bytes(gguf(), there.model), "m"));
    EXPECT_EQ(back.vocabulary.kind, kind);
    EXPECT_EQ(back.vocabulary.merges, made);
    ASSERT_GE(back.vocabulary.tokens.size(), tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) EXPECT_EQ(back.vocabulary.tokens[i].text, tokens[i].text);
    const Value* const splitting = back.metadata.find("tokenizer.ggml.pre");
    EXPECT_EQ(splitting == nullptr ? "" : *splitting->text(), pre);
    const bool scored =
        std::ranges::any_of(back.vocabulary.tokens, [](const Token& token) { return token.score != 0; });
    EXPECT_EQ(scored, back.vocabulary.kind == "spm" || back.vocabulary.kind == "unigram");
  }
}

// The ids that gguf's SpecialVocab finds for these files.
TEST(GgufUnsupported, WordPiecesHaveASeparatorAndAMask) {
  Model model = with_vocabulary({{"[PAD]", 0, TokenType::control},
                                 {"[UNK]", 0, TokenType::unknown},
                                 {"[MASK]", 0, TokenType::control},
                                 {"[SEP]", 0, TokenType::control},
                                 {"[CLS]", 0, TokenType::control}});
  model.vocabulary.kind = "wordpiece";
  model.vocabulary.bos = -1;
  const auto file = [](std::string name, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return Attachment{std::move(name), Blob::memory(Bytes(bytes.begin(), bytes.end()))};
  };
  model.attachments.push_back(file(
      "tokenizer.json", R"({"post_processor":{"type":"TemplateProcessing","single":[)"
                        R"({"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},)"
                        R"({"SpecialToken":{"id":"[SEP]","type_id":0}}],"special_tokens":{)"
                        R"("[CLS]":{"id":"[CLS]","ids":[4],"tokens":["[CLS]"]},)"
                        R"("[SEP]":{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}},)"
                        R"("model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[PAD]":0,"[UNK]":1,"[MASK]":2,)"
                        R"("[SEP]":3,"[CLS]":4}}})"));
  model.attachments.push_back(
      file("tokenizer_config.json", R"({"cls_token":"[CLS]","sep_token":{"content":"[SEP]"},"mask_token":"[MASK]"})"));
  const Adapted there = adapt(model, gguf());
  const auto number = [&](std::string_view key) {
    const Value* const found = there.model.metadata.find(key);
    return found == nullptr || found->get<std::int64_t>() == nullptr ? -1 : *found->get<std::int64_t>();
  };
  EXPECT_EQ(number("tokenizer.ggml.seperator_token_id"), 3);
  EXPECT_EQ(number("tokenizer.ggml.mask_token_id"), 2);
  EXPECT_EQ(there.model.vocabulary.bos, 4);
  EXPECT_EQ(there.model.vocabulary.eos, 3);
  for (const Change& change : there.changes)
    EXPECT_EQ(to_text(change).find("before a text"), std::string::npos) << to_text(change);
}

// A kind whose merges or scores do not exist is refused: llama.cpp would not load the file, or split every text into bytes.
TEST(GgufUnsupported, KindsThatLackTheirParts) {
  for (const auto& [set, needs] :
       {std::pair("gpt2", "needs merges"), {"llama", "needs scores"}, {"t5", "needs scores"}})
    for (const char* const before : {"", "wordpiece"}) {
      SCOPED_TRACE(fmt::format("{} as {}", before, set));
      Model model = with_vocabulary({{"▁"}, {"a"}, {"<s>"}, {"▁a"}});
      model.vocabulary.kind = before;
      AdaptOptions options{.set = {{"tokenizer.ggml.model", set}}};
      try {
        adapt(model, gguf(), options);
        FAIL() << "was written";
      } catch (const Error& error) {
        EXPECT_EQ(error.rule(), "convert.tokenizer_kind");
        EXPECT_NE(std::string(error.what()).find(needs), std::string::npos) << error.what();
        EXPECT_EQ(error.remedies(), (std::vector<Advice>{{Remedy::drop, "vocabulary"}}));
      }
      options.drop = {ModelPart::vocabulary};
      EXPECT_TRUE(adapt(model, gguf(), options).model.vocabulary.empty());
    }
}

// Without config.json, what its keys became is not lost, and only the others are named.
TEST(GgufUnsupported, KeysOfADroppedConfigAreNotLost) {
  Model model = small("llama", R"({"model_type":"llama","rope_scaling":{"rope_type":"linear","factor":4.0},)"
                               R"("attention_bias":false,"attention_multiplier_of_ours":3,"head_dim":4})");
  const auto lines = [&](const AdaptOptions& options) {
    Words texts;
    for (const Change& change : adapt(model, gguf(), options).changes)
      if (change.part == "config.json")
        texts.push_back(fmt::format("{}: {}", name_of(change.impact), fmt::join(change.items, " ")));
    return texts;
  };
  EXPECT_EQ(lines({}), Words());
  const AdaptOptions dropped{.drop = {ModelPart::attachments}};
  EXPECT_EQ(key_of(model, "llama.rope.scaling.factor"), "4.0");
  const Words found = lines(dropped);
  EXPECT_NE(std::ranges::find(found, "results: attention_multiplier_of_ours"), found.end())
      << fmt::format("{}", fmt::join(found, "\n"));
  for (const std::string& line : found)
    if (line.find("rope_scaling") != line.npos) {
      EXPECT_TRUE(line.starts_with("detail: ")) << line;
    }
}

// Strings of GGUF are UTF-8.
TEST(GgufUnsupported, TokensThatAreNotText) {
  const auto said = [](const Model& model) {
    std::string all;
    const Adapted made = adapt(model, gguf());
    for (const Change& change : made.changes)
      if (change.impact == Impact::results) all += to_text(change) + "\n";
    for (const Change& change : gguf().remarks(made.model, {}))
      if (change.impact == Impact::results) all += to_text(change) + "\n";
    return all;
  };
  Model model = with_vocabulary({{"▁", -1}, {"\xFF", -2}, {"<s>"}, {"\xC3", 0}});
  model.vocabulary.kind = "spm";
  EXPECT_NE(said(model).find("token 1 and 1 more are not UTF-8"), std::string::npos) << said(model);
  model.vocabulary.kind = "bpe";  // bytes are spelled as characters
  EXPECT_EQ(said(model).find("not UTF-8"), std::string::npos) << said(model);
}

// Metaspace puts a blank before a text unless the text begins with one; llama.cpp does so before every text.
TEST(GgufUnsupported, TextsThatBeginWithABlank) {
  const auto notes = [](const std::string& steps, const std::string& model) {
    std::string all;
    const std::string text = R"({"added_tokens":[{"id":2,"content":"<s>","special":true}],)" + steps +
                             R"(,"decoder":{"type":"Metaspace"},"model":)" + model + "}";
    for (const Change& change : adapt(with_tokenizer(text), gguf()).changes) all += to_text(change) + "\n";
    return all;
  };
  const std::string unigram = R"({"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁",-1],["<s>",0],["a",-2]]})",
                    pieces = R"({"type":"BPE","vocab":{"▁":0,"a":1,"<s>":2,"▁a":3},"merges":["▁ a"]})";
  const char* const note = "it puts no blank before a text that begins with one, and llama.cpp does";
  for (const std::string& model : {unigram, pieces}) {
    for (const std::string scheme : {"first", "always"}) {
      const std::string found =
          notes(fmt::format(R"("pre_tokenizer":{{"type":"Metaspace","replacement":"▁","prepend_scheme":"{}",)"
                            R"("split":false}})",
                            scheme),
                model);
      EXPECT_NE(found.find(note), std::string::npos) << scheme;
      EXPECT_EQ(found.find("it puts a blank only before a text, and llama.cpp also after each special token in it") !=
                    std::string::npos,
                scheme == "first")
          << found;
    }
    EXPECT_EQ(
        notes(R"("pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"never"})", model).find(note),
        std::string::npos);
    EXPECT_EQ(notes(R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
                    R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]})",
                    model)
                  .find(note),
              std::string::npos);
  }
}

TEST(GgufUnsupported, WhatIsDoneToATextBefore) {
  EXPECT_EQ(warnings_of(with_tokenizer(byte_level(""))), Words());
  const auto lower = warnings_of(with_tokenizer(
      byte_level(R"("normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"}]},)")));
  ASSERT_EQ(lower.size(), 1U);
  EXPECT_NE(lower[0].find("NFKC, Lowercase"), std::string::npos);
  const auto blank = warnings_of(with_tokenizer(byte_level("", "true")));
  ASSERT_EQ(blank.size(), 1U);
  EXPECT_NE(blank[0].find("a blank before a text"), std::string::npos);
}

TEST(GgufUnsupported, WhatIsPutAroundAText) {
  const auto framed = [](const std::string& items) {
    return with_tokenizer(byte_level(R"("post_processor":{"type":"TemplateProcessing","single":[)" + items + "]},"));
  };
  const std::string begin = R"({"SpecialToken":{"id":"<s>"}})", text = R"({"Sequence":{"id":"A"}})";
  EXPECT_EQ(warnings_of(framed(begin + "," + text)), Words());
  EXPECT_EQ(key_of(framed(begin + "," + text), "tokenizer.ggml.add_bos_token"), "true");
  EXPECT_EQ(warnings_of(framed(begin + "," + begin + "," + text)).size(), 1U);
  EXPECT_EQ(warnings_of(framed(text + "," + begin)).size(), 1U) << "no token that ends a text";
  const Words nothing = warnings_of(with_tokenizer(byte_level(""), R"({"bos_token":"<s>","add_bos_token":true})"));
  ASSERT_EQ(nothing.size(), 1U);
  EXPECT_NE(nothing[0].find("it puts nothing before a text"), std::string::npos) << nothing[0];
}

std::string pieces(const std::string& normalizer) {
  return R"({"added_tokens":[{"id":0,"content":"<unk>","special":true}],"normalizer":)" + normalizer +
         R"(,"model":{"type":"BPE","unk_token":"<unk>","vocab":{"<unk>":0,"▁":1,"a":2},"merges":[]}})";
}

TEST(GgufUnsupported, BlanksBeforeATextOfPieces) {
  const std::string replace = R"({"type":"Replace","pattern":{"String":" "},"content":"▁"})";
  EXPECT_EQ(key_of(with_tokenizer(pieces(replace)), "tokenizer.ggml.add_space_prefix"), "false");
  EXPECT_EQ(key_of(with_tokenizer(pieces(R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)" +
                                         replace + "]}")),
                   "tokenizer.ggml.add_space_prefix"),
            "");
  EXPECT_EQ(warnings_of(with_tokenizer(pieces(replace))), Words());
}

// Every step of tokenizer.json is understood with its values, or reported.
TEST(GgufUnsupported, StepsWithOtherValues) {
  const auto expect = [](const std::string& file, const Words& expected) {
    const Words found = warnings_of(with_tokenizer(file));
    ASSERT_EQ(found.size(), expected.size()) << file << "\n" << fmt::format("{}", fmt::join(found, "\n"));
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NE(found[i].find(expected[i]), std::string::npos) << found[i];
  };
  // Tokens around a text: the ids count, not the name.
  const auto framed = [](const std::string& ids) {
    return byte_level(R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}},)"
                      R"({"Sequence":{"id":"A"}}],"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[)" +
                      ids + "]}}},");
  };
  expect(framed("2"), {});
  expect(framed("1"), {"it puts b before a text"});
  expect(framed("2,1"), {"it puts <s> b before a text"});
  expect(byte_level(R"("post_processor":{"type":"RobertaProcessing","cls":["<s>",1],"sep":["b",1]},)"),
         {"it puts b before a text", "it puts b after a text"});
  expect(byte_level(R"("post_processor":{"type":"Unheard"},)"), {"a post-processor of the type \"Unheard\""});

  const std::string added = R"({"added_tokens":[{"id":0,"content":"<unk>","special":true}],)";
  const auto likely = [&](const std::string& metaspace, const std::string& more = R"("unk_id":0)",
                          const std::string& second = "▁") {
    return added + R"("pre_tokenizer":{"type":"Metaspace",)" + metaspace +
           R"(},"decoder":{"type":"Metaspace"},"model":{"type":"Unigram",)" + more + R"(,"vocab":[["<unk>",0],[")" +
           second + R"(",-1],["a",-2]]}})";
  };
  expect(likely(R"("replacement":"▁","prepend_scheme":"always","split":true)"), {});
  expect(likely(R"("replacement":"▁")", R"("unk_id":0)", "▁▁"), {"some of its pieces are longer (split)"});
  expect(likely(R"("replacement":"▁","split":false)", R"("unk_id":0)", "▁▁"), {});
  expect(likely(R"("replacement":"_")"),
         {"it keeps blanks as they are", "its pre-tokenizer Metaspace has the replacement \"_\""});
  expect(likely(R"("replacement":"▁","prepend_scheme":"last")"), {"has the prepend_scheme \"last\""});
  expect(likely(R"("replacement":"▁")", R"("unk_id":2)"), {"its unknown token, 2, is an ordinary piece: \"a\""});
  expect(likely(R"("replacement":"▁")", R"("unk_id":0,"alpha":0.5)"), {"its model Unigram has the alpha 0.5"});

  const auto words = [&](const std::string& model, const std::string& normalizer, const std::string& cut) {
    return added + R"("normalizer":)" + normalizer + R"(,"pre_tokenizer":{"type":")" + cut +
           R"("},"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},"model":{"type":"WordPiece",)" + model +
           R"("unk_token":"<unk>","vocab":{"<unk>":0,"a":1,"##a":2}}})";
  };
  const auto bert = [](const std::string& accents, const std::string& lower) {
    return R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":)" + accents +
           R"(,"lowercase":)" + lower + "}";
  };
  const std::string usual = R"("continuing_subword_prefix":"##","max_input_chars_per_word":100,)";
  expect(words(usual, bert("null", "true"), "BertPreTokenizer"), {});
  expect(words(usual, bert("null", "false"), "BertPreTokenizer"), {"BertNormalizer has the lowercase false"});
  expect(words(usual, bert("false", "true"), "BertPreTokenizer"), {"has the strip_accents false"});
  expect(words(usual, "null", "BertPreTokenizer"), {"it has no normalizer"});
  expect(words(usual, bert("null", "true"), "WhitespaceSplit"), {"a pre-tokenizer of the type \"WhitespaceSplit\""});
  expect(words(R"("continuing_subword_prefix":"@@",)", bert("null", "true"), "BertPreTokenizer"),
         {"has the continuing_subword_prefix \"@@\""});
  expect(words(R"("max_input_chars_per_word":4,)", bert("null", "true"), "BertPreTokenizer"),
         {"has the max_input_chars_per_word 4"});
  expect(added + R"("model":{"type":"WordLevel","unk_token":"<unk>","vocab":{"<unk>":0,"a":1,"b":2}}})",
         {"llama.cpp has no tokenizer of the kind \"wordlevel\""});
}

TEST(GgufUnsupported, ARegexAfterTheBytesIsAnother) {
  const auto file = [](const std::string& steps) {
    return R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[)" + steps +
           R"(]},"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"<s>":2},"merges":[]}})";
  };
  const std::string split =
      R"({"type":"Split","pattern":{"Regex":")"
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)"
      R"("},"behavior":"Isolated","invert":false})";
  const std::string bytes = R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false})";
  EXPECT_EQ(key_of(with_tokenizer(file(split + "," + bytes)), "tokenizer.ggml.pre"), "\"qwen2\"");
  EXPECT_EQ(rule_of([&] { static_cast<void>(adapt(with_tokenizer(file(bytes + "," + split)), gguf())); }),
            "convert.pre_tokenizer");
  // A sequence in a sequence is the same.
  EXPECT_EQ(key_of(with_tokenizer(file(R"({"type":"Sequence","pretokenizers":[)" + split + "]}," + bytes)),
                   "tokenizer.ggml.pre"),
            "\"qwen2\"");
}

TEST(GgufUnsupported, DecodersAreNoted) {
  const auto notes = [](const std::string& decoder) {
    std::string text;
    for (const Change& change : adapt(with_tokenizer(R"({"added_tokens":[{"id":0,"content":"<unk>","special":true}],)"
                                                     R"("normalizer":{"type":"Sequence","normalizers":[)"
                                                     R"({"type":"Prepend","prepend":"▁"},{"type":"Replace",)"
                                                     R"("pattern":{"String":" "},"content":"▁"}]},"decoder":)" +
                                                     decoder +
                                                     R"(,"model":{"type":"BPE","unk_token":"<unk>","vocab":)"
                                                     R"({"<unk>":0,"▁":1,"a":2},"merges":[]}})"),
                                      gguf())
                                    .changes)
      if (change.part == "tokenizer.json" && change.impact == Impact::note) text += change.detail + "|";
    return text;
  };
  const auto with = [](const std::string& last, const std::string& content = " ") {
    return R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":")" + content +
           R"("},{"type":"ByteFallback"},{"type":"Fuse"})" + last + "]}";
  };
  const std::string strip = R"(,{"type":"Strip","content":" ","start":1,"stop":0})";
  EXPECT_EQ(notes(with(strip)), "");
  EXPECT_NE(notes(with("")).find("it keeps the blank at the beginning"), std::string::npos);
  EXPECT_NE(notes("null").find("does not undo how they are spelled"), std::string::npos);
  EXPECT_NE(notes(with(strip, "_")).find("its decoder Replace has the content \"_\""), std::string::npos);
  EXPECT_NE(notes(with(strip + R"(,{"type":"CTC"})")).find("a decoder of the type \"CTC\""), std::string::npos);
}

TEST(GgufUnsupported, LikelyPiecesAreT5s) {
  const auto with = [](std::uint64_t model_type, const std::string& normalizer) {
    Model model = small("llama", "{}");
    model.attachments.push_back(
        text_file("tokenizer.model", proto_piece("<unk>", 0, 2) + proto_piece("<s>", 0, 3) + proto_piece("a", -1, 1) +
                                         proto_field(2, proto_number(3, model_type)) + proto_field(3, normalizer)));
    Diagnostics silent;
    resources::describe(model, silent);
    return model;
  };
  const std::string kept = proto_number(3, 1) + proto_number(4, 0);
  const Model unigram = adapt(with(1, proto_field(2, "tabl") + kept), gguf()).model;
  EXPECT_EQ(unigram.vocabulary.kind, "unigram");
  EXPECT_EQ(*unigram.metadata.find("tokenizer.ggml.precompiled_charsmap"), Value(to_bytes("tabl")));
  EXPECT_EQ(*unigram.metadata.find("tokenizer.ggml.add_space_prefix"), Value(true));
  EXPECT_EQ(*unigram.metadata.find("tokenizer.ggml.remove_extra_whitespaces"), Value(false));
  EXPECT_EQ(*unigram.metadata.find("tokenizer.ggml.add_eos_token"), Value(false)) << "llama.cpp would end each text";
  EXPECT_EQ(warnings_of(with(1, kept)), Words());
  EXPECT_EQ(adapt(with(2, kept), gguf()).model.vocabulary.kind, "spm");
  EXPECT_EQ(warnings_of(with(2, kept)), Words());
  EXPECT_EQ(warnings_of(with(2, proto_field(2, "tabl") + kept)).size(), 1U);
  // llama.cpp's T5 tokenizer has no byte tokens.
  Model bytes = small("llama", "{}");
  bytes.attachments.push_back(text_file("tokenizer.model", small_spm() + proto_field(3, kept)));
  Diagnostics silent;
  resources::describe(bytes, silent);
  EXPECT_EQ(adapt(bytes, gguf()).model.vocabulary.kind, "spm");
  EXPECT_NE(warnings_of(bytes).front().find("likeliest"), std::string::npos);
}

TEST(GgufUnsupported, AnIdInConfigMakesNoTokenSpecial) {
  Model model = small("llama", R"({"pad_token_id":0,"eos_token_id":1})");
  model.attachments.push_back(text_file("tokenizer.json", byte_level("")));
  model.attachments.push_back(text_file("tokenizer_config.json", R"({"bos_token":"<s>","eos_token":"b"})"));
  Diagnostics silent;
  resources::describe(model, silent);
  const Vocabulary there = adapt(model, gguf()).model.vocabulary;
  EXPECT_EQ(there.pad, 0);
  EXPECT_EQ(there.tokens[0].type, TokenType::normal);
  EXPECT_EQ(there.eos, 1);
  EXPECT_EQ(there.tokens[1].type, TokenType::control) << "it is named, too";
  EXPECT_EQ(there.tokens[2].type, TokenType::control);
}

TEST(GgufUnsupported, NameSizeAndTemplate) {
  Model model = small("llama", R"({"_name_or_path":"some-people/tiny-llama-v1.1-3b-Chat"})");
  model.attachments.push_back(text_file("tokenizer.json", byte_level("")));
  model.attachments.push_back(text_file("chat_template.json", R"({"chat_template":"{{ messages }}"})"));
  Diagnostics silent;
  resources::describe(model, silent);
  EXPECT_EQ(key_of(model, "general.name"), "\"Tiny Llama v1.1 3b Chat\"");
  // 3 x 8 twice, three norms of 8, four of 8 x 8 and three of 6 x 8.
  EXPECT_EQ(key_of(model, "general.size_label"), "\"0.47K\"");
  EXPECT_EQ(key_of(model, "tokenizer.chat_template"), "\"{{ messages }}\"");
  EXPECT_EQ(key_of(small("llama", R"({"_name_or_path":"/home/me/model"})"), "general.name"), "");
  // Generated keys are generated again, and not kept.
  const Model back = adapt(adapt(model, gguf()).model, hf()).model;
  EXPECT_EQ(back.metadata.find("general.name"), nullptr);
  EXPECT_EQ(back.metadata.find("general.size_label"), nullptr);
}

// ---- files of other programs

Map config_from_keys(Model model) {
  model = adapt(std::move(model), gguf()).model;
  model.attachments.clear();
  // As it is read: the architecture has no more information.
  model.config.model_type = std::string(arch::find_family(*model.config.model_type)->model_types.front());
  const Model back = adapt(std::move(model), hf()).model;
  const Bytes bytes = back.attachment("config.json")->blob.bytes();
  return resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
std::string text_at(const Map& map, std::string_view key) {
  const Value* const found = map.find(key);
  return found == nullptr ? "" : to_json(*found);
}

TEST(GgufUnsupported, ConfigFromKeysAlone) {
  Model seeing = gemma("gemma3", R"({"sliding_window_pattern":3})", 3);
  for (const char* const name : {"q_norm", "k_norm"})
    seeing.tensors.push_back(counted("model.layers.0.self_attn." + std::string(name) + ".weight", {4}, 1));
  const std::string first = "model.layers.0.";
  for (const Tensor& tensor : std::vector(seeing.tensors))
    for (const char* const layer : {"model.layers.1.", "model.layers.2."})
      if (tensor.name.starts_with(first)) {
        seeing.tensors.push_back(tensor);
        seeing.tensors.back().name = layer + tensor.name.substr(first.size());
      }
  const Map gemma3 = config_from_keys(seeing);
  EXPECT_EQ(text_at(gemma3, "model_type"), "\"gemma3_text\"");
  EXPECT_EQ(text_at(gemma3, "architectures"), R"(["Gemma3ForCausalLM"])");
  EXPECT_EQ(text_at(gemma3, "layer_types"), R"(["sliding_attention","sliding_attention","full_attention"])");

  const Map ministral = config_from_keys(small(
      "ministral3",
      R"({"rope_parameters":{"rope_type":"yarn","factor":16.0,"mscale":1.0,"mscale_all_dim":1.0,)"
      R"("llama_4_scaling_beta":0.1,"original_max_position_embeddings":16,"rope_theta":10000.0},"head_dim":null})"));
  EXPECT_EQ(text_at(ministral, "model_type"), "\"ministral3\"");
  EXPECT_EQ(text_at(ministral, "architectures"), R"(["Ministral3ForCausalLM"])");
  const Map& rope = *ministral.find("rope_parameters")->get<Map>();
  EXPECT_EQ(text_at(rope, "llama_4_scaling_beta"), "0.1");
  EXPECT_EQ(text_at(rope, "mscale_all_dim"), "1.0");
  EXPECT_EQ(text_at(rope, "rope_theta"), "10000.0");
  EXPECT_EQ(text_at(config_from_keys(small("mistral3", "{}")), "model_type"), "\"mistral\"") << "without YaRN";

  const Map yarn = config_from_keys(
      small("llama", R"({"rope_scaling":{"rope_type":"yarn","factor":4.0,"mscale":1.0,"mscale_all_dim":0.5,)"
                     R"("original_max_position_embeddings":4}})"));
  const double factor = *resources::number_of(*yarn.find("rope_scaling")->get<Map>()->find("attention_factor"));
  EXPECT_NEAR(factor, (1 + 0.1 * std::log(4.0)) / (1 + 0.05 * std::log(4.0)), 1e-6);

  Model phi = small("phi3", R"({"partial_rotary_factor":0.5,"original_max_position_embeddings":16})");
  std::erase_if(phi.tensors, [](const Tensor& tensor) {
    return tensor.name.find("_proj") != std::string::npos && tensor.name.find("o_proj") == std::string::npos &&
           tensor.name.find("down_proj") == std::string::npos;
  });
  phi.tensors.push_back(counted("model.layers.0.self_attn.qkv_proj.weight", {24, 8}, 1));
  phi.tensors.push_back(counted("model.layers.0.mlp.gate_up_proj.weight", {12, 8}, 1));
  EXPECT_EQ(text_at(config_from_keys(phi), "partial_rotary_factor"), "0.5");
}

// Writes llama.cpp's default for a missing key if transformers would assume another value.
TEST(GgufUnsupported, SilenceOfAFileIsSaidInConfigJson) {
  const Map mistral = config_from_keys(small("mistral3", R"({"num_key_value_heads":2,"sliding_window":null})"));
  EXPECT_EQ(text_at(mistral, "model_type"), "\"mistral\"");
  EXPECT_EQ(text_at(mistral, "sliding_window"), "null") << "transformers assumes 4096";

  const std::string type = R"({"model_type":"ministral3","num_key_value_heads":2,"head_dim":null})";
  Model silent = adapt(small("ministral3", type), gguf()).model;
  silent.attachments.clear();
  silent.config.rope_theta.reset();
  silent.config.num_key_value_heads.reset();
  const Model back = adapt(silent, hf()).model;
  const Config config = resources::parse_config([&] {
    const Bytes bytes = back.attachment("config.json")->blob.bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }());
  EXPECT_EQ(config.head_dim, 4) << "transformers assumes 128";
  EXPECT_EQ(config.num_key_value_heads, 2) << "transformers assumes 8";
  EXPECT_EQ(config.rope_theta, 10000.0) << "transformers assumes 1e6";

  Model granite = adapt(small("granite", R"({"num_key_value_heads":2})"), gguf()).model;
  granite.attachments.clear();
  granite.metadata.erase("granite.attention.scale");
  const Model stone = adapt(granite, hf()).model;
  const Bytes bytes = stone.attachment("config.json")->blob.bytes();
  EXPECT_EQ(text_at(resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}),
                    "attention_multiplier"),
            "0.5");
}

// Its class has biases unless qkv_bias is false.
TEST(GgufUnsupported, AMixtureOfQwenWithoutBiases) {
  Model model = small("qwen2_moe", R"({"num_key_value_heads":2,"num_experts":2,"moe_intermediate_size":6,)"
                                   R"("shared_expert_intermediate_size":6,"num_experts_per_tok":1,"qkv_bias":false})");
  std::erase_if(model.tensors, [](const Tensor& tensor) { return tensor.name.find(".mlp.") != std::string::npos; });
  const std::string mlp = "model.layers.0.mlp.";
  model.tensors.push_back(counted(mlp + "gate.weight", {2, 8}, 1));
  model.tensors.push_back(counted(mlp + "shared_expert_gate.weight", {1, 8}, 1));
  for (const char* const part : {"experts.0.", "experts.1.", "shared_expert."}) {
    model.tensors.push_back(counted(mlp + part + "gate_proj.weight", {6, 8}, 1));
    model.tensors.push_back(counted(mlp + part + "up_proj.weight", {6, 8}, 1));
    model.tensors.push_back(counted(mlp + part + "down_proj.weight", {8, 6}, 1));
  }
  EXPECT_EQ(text_at(config_from_keys(model), "qkv_bias"), "false");
}

}  // namespace
}  // namespace tare
