// Config, vocabulary and files in conversions to targets with fixed fields.
#include <fmt/format.h>

#include "conformance/models.hpp"
#include "convert/adapt.hpp"
#include "lines.hpp"
#include "resources/resources.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model directory_model() {
  Model model;
  model.tensors = {make_dense("model.embed_tokens.weight", {3, 8}, DType::bf16),
                   make_dense("lm_head.weight", {3, 8}, DType::bf16),
                   make_dense("model.norm.weight", {8}, DType::bf16)};
  model.attachments = {
      text_file("config.json", R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "vocab_size": 3,
                              "tie_word_embeddings": false, "hidden_act": "silu", "bos_token_id": 1})"),
      text_file("tokenizer.json",
                R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})"),
      text_file("generation_config.json", "{}")};
  Diagnostics throwing;
  resources::describe(model, throwing);
  return model;
}

TEST(FixedFields, GetDefaultsAndALineForWhatStaysBehind) {
  const Adapted adapted = adapt(directory_model(), *find_format("alt"));
  const Config& config = adapted.model.config;
  EXPECT_EQ(config.num_key_value_heads, 2);
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.rope_theta, 10000.0);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.max_position_embeddings, 2048);
  EXPECT_FALSE(config.vocab_size);
  EXPECT_TRUE(adapted.model.attachments.empty());
  EXPECT_TRUE(adapted.model.vocabulary.merges.empty());
  EXPECT_EQ(adapted.model.vocabulary.bos, 1);
  EXPECT_TRUE(mentions(adapted.changes, "num_key_value_heads = 2"));
  EXPECT_FALSE(mentions(adapted.changes, "vocab_size"));  // the same as the number of rows of the embedding
  EXPECT_TRUE(mentions(adapted.changes, "the order of 1 merges kept as scores"));
  EXPECT_TRUE(mentions(adapted.changes, "its kind (bpe) omitted"));
  EXPECT_TRUE(mentions(adapted.changes, "config.json, tokenizer.json kept as config and vocabulary"));
  EXPECT_TRUE(mentions(adapted.changes, "generation_config.json omitted"));
  EXPECT_TRUE(mentions(adapted.changes, "widened from bf16 to f32"));
}

TEST(FixedFields, McfGetsDefaultsAndFilesThatItsReadersLookFor) {
  Model model = directory_model();
  model.attachments.clear();
  const Adapted adapted = adapt(model, *find_format("mcf"));
  EXPECT_EQ(adapted.model.config.num_key_value_heads, 2);
  EXPECT_EQ(adapted.model.config.rope_theta, 10000.0);
  EXPECT_FALSE(adapted.model.config.rms_norm_eps);
  EXPECT_NE(adapted.model.attachment("tokenizer.json"), nullptr);
  EXPECT_TRUE(mentions(adapted.changes, "config.json, tokenizer.json, tokenizer_config.json generated"));
  // Existing files are kept.
  EXPECT_EQ(adapt(directory_model(), *find_format("mcf")).model.attachments.size(), 3U);

  model.config.model_type = "gpt2";  // its positions are learned
  EXPECT_FALSE(adapt(model, *find_format("mcf")).model.config.rope_theta);
  model.config.model_type.reset();  // and so are those of any model that has a table of them
  model.tensors.push_back(make_dense("position_embedding.weight", {4, 8}, DType::f32));
  EXPECT_FALSE(adapt(model, *find_format("mcf")).model.config.rope_theta);
}

// Keys about a set of files mean nothing to a single file of weights. A line reports that they
// are omitted, because a user may have set them.
TEST(OwnKeys, OfASetOfFilesAreReportedWhenWeightsAloneAreWritten) {
  Model model;
  model.tensors = {make_dense("w", {4}, DType::f32)};
  for (const char* const key : {"safetensors.index", "hf.weights", "kept"}) model.metadata.append(key, "x");
  AdaptOptions options;
  options.weights_only = true;
  const Adapted adapted = adapt(model, *find_format("safetensors"), options);
  EXPECT_EQ(adapted.model.metadata.size(), 1U);
  EXPECT_TRUE(mentions(adapted.changes, "safetensors.index"));
  EXPECT_TRUE(mentions(adapted.changes, "hf.weights"));
  EXPECT_FALSE(mentions(adapted.changes, "kept omitted"));
}

// A file that Tare made has no content that config and vocabulary lack.
TEST(MadeFiles, AreNoReasonToRefuseAndAreNotCarried) {
  Model model = directory_model();
  model.attachments.clear();
  const Bytes mcf = write_bytes(*find_format("mcf"), adapt(model, *find_format("mcf")).model);
  const Model found = open(memory_source(mcf, "it"));
  ASSERT_EQ(found.attachments.size(), 3U) << "other programs look for them";
  for (const Attachment& made : found.attachments) EXPECT_TRUE(made.made) << made.name;
  for (const char* const target : {"zt", "npz", "hf", "safetensors"}) {
    AdaptOptions options;
    options.drop = {ModelPart::vocabulary};
    const Adapted adapted = adapt(found, *find_format(target), options);
    EXPECT_TRUE(adapted.model.attachments.empty()) << target;
    EXPECT_EQ(adapted.model.config.hidden_size, 8) << target;
  }
  // Back in MCF they are made again, with the same content.
  EXPECT_EQ(write_bytes(*find_format("mcf"), adapt(found, *find_format("mcf")).model), mcf);
}

TEST(MadeFiles, SomebodyElsesOfTheSameNameAreKept) {
  Model model = directory_model();
  model.attachments.clear();
  Model carried = adapt(model, *find_format("mcf")).model;
  const Bytes mcf = write_bytes(*find_format("mcf"), carried);
  // Another program changed the file's text, but not its length: it no longer counts as made.
  Bytes edited = mcf;
  std::string text = to_text(edited);
  const std::size_t at = text.find("\"hidden_size\": 8");
  ASSERT_NE(at, std::string::npos);
  edited[at + 15] = std::byte{'9'};
  const Model found = open(memory_source(edited, "it"));
  EXPECT_FALSE(found.attachment("config.json")->made);
  EXPECT_NE(adapt(found, *find_format("zt")).model.attachment("config.json"), nullptr);
  // The model's own files are not marked.
  const Model own =
      open(memory_source(write_bytes(*find_format("mcf"), adapt(directory_model(), *find_format("mcf")).model), "it"));
  for (const Attachment& file : own.attachments) EXPECT_FALSE(file.made) << file.name;
}

TEST(FixedFields, NothingIsMadeUpForAModelThatIsNoTransformer) {
  Model model;
  model.config.model_type = "mlp";
  const Adapted adapted = adapt(model, *find_format("alt"));
  EXPECT_FALSE(adapted.model.config.rope_theta);
  EXPECT_TRUE(adapted.changes.empty());
}

TEST(FixedFields, OtherFilesAndKeysAreRefusedUnlessDropped) {
  Model model = directory_model();
  model.attachments.push_back(text_file("notes.txt", "x"));
  EXPECT_EQ(rule_of([&] { adapt(model, *find_format("alt")); }), "convert.room");
  AdaptOptions options;
  options.drop = {ModelPart::attachments};
  EXPECT_TRUE(adapt(model, *find_format("alt"), options).model.attachments.empty());

  model = directory_model();
  model.metadata.set("author", "me");
  model.metadata.set("run", "7");
  const auto error = error_of([&] { adapt(model, *find_format("alt")); });
  ASSERT_TRUE(error.has_value());
  EXPECT_NE(error->sentence().find("key run"), std::string::npos);
  options.drop = {ModelPart::metadata};
  const Adapted adapted = adapt(model, *find_format("alt"), options);
  EXPECT_EQ(adapted.model.metadata.size(), 1U);  // keys that the target can hold are kept
}

TEST(FixedFields, AFileThatCannotBeReadIsNotSaidToBeKept) {
  const Format& alt = *find_format("alt");
  Model model = directory_model();
  model.vocabulary = {};
  model.attachments[1] = text_file("tokenizer.json", "version https://git-lfs.github.com/spec/v1\n");
  const auto error = error_of([&] { adapt(model, alt); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "convert.resource");
  EXPECT_TRUE(error->sentence().starts_with("tokenizer.json: a git-lfs pointer"));
  EXPECT_EQ(text_of(error->remedies()), "drop attachments");
  AdaptOptions options;
  options.drop = {ModelPart::attachments};
  EXPECT_TRUE(adapt(model, alt, options).model.vocabulary.empty());
  // A container that carries files carries this one, with a remark.
  EXPECT_TRUE(mentions(adapt(model, *find_format("mcf")).changes, "tokenizer.json: a git-lfs pointer"));

  // Another file had the vocabulary: nothing is lost.
  model = directory_model();
  model.attachments.push_back(text_file("tokenizer.model", "version https://git-lfs.github.com/spec/v1\n"));
  EXPECT_TRUE(mentions(adapt(model, alt).changes, "tokenizer.model: a git-lfs pointer"));
}

std::vector<Change> changes_of(std::string_view config_json, std::string_view target = "alt") {
  Model model;
  model.attachments = {text_file("config.json", config_json)};
  Diagnostics throwing;
  resources::describe(model, throwing);
  return adapt(model, *find_format(target)).changes;
}

TEST(FixedFields, KeysOfConfigJsonThatStayBehindAreNamed) {
  Model model = directory_model();
  model.attachments[0] =
      text_file("config.json", R"({"hidden_size": 8, "bos_token_id": 1, "rope_scaling": {"factor": 2},
                                                 "architectures": ["M"], "n_layer": 3, "torch_dtype": null})");
  const Adapted adapted = adapt(model, *find_format("alt"));
  EXPECT_TRUE(
      mentions(adapted.changes, "config.json: rope_scaling.factor omitted, which may change what the model computes"));
  EXPECT_TRUE(mentions(adapted.changes, "config.json: architectures omitted"));
  ASSERT_EQ(adapted.lost.size(), 1U);
  EXPECT_EQ(adapted.lost[0].file, "config.json");
  EXPECT_EQ(adapted.lost[0].harmful, std::vector<std::string>{"rope_scaling.factor"});
  EXPECT_EQ(adapted.lost[0].harmless, std::vector<std::string>{"architectures"});
}

// "and 4 more" would hide the key that matters.
TEST(FixedFields, KeysThatChangeResultsAreNamedInFullAndFirst) {
  std::string config = R"({"hidden_size": 8)";
  for (int i = 0; i < 12; ++i) config += fmt::format(R"(, "a_{0:02}_multiplier": 2, "z_{0:02}_dropout": 0.1)", i);
  config += R"(, "attention_bias": false, "mlp_bias": true, "num_local_experts": 8})";
  const auto changes = lines_of(changes_of(config));
  const auto line_with = [&](std::string_view word) {
    return std::ranges::find_if(changes, [&](const std::string& line) { return line.find(word) != line.npos; });
  };
  const auto harmful = line_with("a_00_multiplier"), harmless = line_with("z_00_dropout");
  ASSERT_NE(harmful, changes.end());
  ASSERT_NE(harmless, changes.end());
  EXPECT_LT(harmful, harmless);
  for (int i = 0; i < 12; ++i) EXPECT_NE(harmful->find(fmt::format("a_{:02}_multiplier", i)), std::string::npos);
  EXPECT_NE(harmful->find("mlp_bias, num_local_experts"), std::string::npos) << *harmful;
  EXPECT_EQ(harmful->find("attention_bias"), std::string::npos) << "there is none, and none is looked for";
}

// The fields of the config are kept; further keys of config.json are reported.
TEST(FixedFields, KeysThatGoWithADroppedFileAreNamed) {
  Model model = directory_model();
  model.attachments[0] = text_file("config.json", R"({"hidden_size": 8, "rope_scaling": {"factor": 2}})");
  AdaptOptions options;
  options.drop = {ModelPart::attachments, ModelPart::vocabulary};
  EXPECT_TRUE(mentions(adapt(model, *find_format("alt"), options).changes, "rope_scaling.factor omitted"));
}

TEST(FixedFields, OfThousandsOfKeysAFewAreNamed) {
  Model model;
  model.tensors = {make_dense("t", {2}, DType::f32)};
  for (int i = 0; i < 10'000; ++i) model.metadata.set(fmt::format("a\x1b[31mkey {}", i), i);
  try {
    (void)adapt(model, *find_format("alt"));
    FAIL() << "not refused";
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_LT(line.size(), 1000U) << line;
    EXPECT_NE(line.find("9992 more"), std::string::npos) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
  }
  AdaptOptions options;
  options.drop = {ModelPart::metadata};
  EXPECT_TRUE(adapt(model, *find_format("alt"), options).model.metadata.empty());
}

TEST(FixedFields, MoreRowsThanANumberCanSayAreNotCounted) {
  Model model;
  model.format = "alt";  // has no field for the size of the vocabulary
  model.config.hidden_size = 8;
  model.tensors = {make_dense("model.embed_tokens.weight", {std::uint64_t{1} << 63, 0}, DType::f32)};
  EXPECT_FALSE(adapt(model, *find_format("mcf")).model.config.vocab_size);
  model.tensors = {make_dense("model.embed_tokens.weight", {5, 0}, DType::f32)};
  EXPECT_EQ(adapt(model, *find_format("mcf")).model.config.vocab_size, 5);
}

// Without tokens there is no field for their ids.
TEST(FixedFields, IdsAreLostWithTheVocabulary) {
  EXPECT_TRUE(mentions(changes_of(R"({"hidden_size": 8, "bos_token_id": 1})"), "config.json: bos_token_id omitted"));
  EXPECT_FALSE(mentions(adapt(directory_model(), *find_format("alt")).changes, "bos_token_id omitted"));
}

TEST(FixedFields, SpecialTokensThatNobodyAddsAnyMoreAreTold) {
  Model model = directory_model();
  EXPECT_FALSE(mentions(adapt(model, *find_format("alt")).changes, "post_processor"));
  model.attachments[1] = text_file("tokenizer.json", R"({"post_processor": {"type": "TemplateProcessing"},
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
  EXPECT_TRUE(mentions(adapt(model, *find_format("alt")).changes, "post_processor"));
}

TEST(FixedFields, AMissingHeadIsATiedOne) {
  Model model = directory_model();
  model.config.tie_word_embeddings.reset();
  model.attachments.front() = text_file("config.json", "{}");  // its own tie_word_embeddings would require the head
  std::erase_if(model.tensors, [](const Tensor& tensor) { return tensor.name == "lm_head.weight"; });
  EXPECT_EQ(adapt(model, *find_format("alt")).model.config.tie_word_embeddings, true);
  model.tensors.push_back(make_dense("lm_head.weight", {3, 8}, DType::bf16));
  EXPECT_EQ(adapt(model, *find_format("alt")).model.config.tie_word_embeddings, false);

  // A container without a null for the field stated false.
  Model bare = directory_model();
  bare.attachments.clear();
  std::erase_if(bare.tensors, [](const Tensor& tensor) { return tensor.name == "lm_head.weight"; });
  const auto made_for = [](const Model& from) {
    return adapt(from, *find_format("hf")).model.config.tie_word_embeddings;
  };
  EXPECT_EQ(made_for(bare), true);
  bare.tensors.push_back(make_dense("lm_head.weight", {3, 8}, DType::bf16));
  EXPECT_EQ(made_for(bare), false);
}

TEST(FixedFields, WhatIsTakenFromAnInnerObjectDoesNotStayBehind) {
  EXPECT_TRUE(mentions(changes_of(R"({"text_config": {"hidden_size": 8, "query_pre_attn_scalar": 2},
                                      "vision_config": {"hidden_size": 9}, "eos_token_id": [1, 107],
                                      "rope_parameters": {"rope_theta": 5.0, "factor": 8.0}})"),
                       "config.json: eos_token_id, rope_parameters.factor, "
                       "text_config.query_pre_attn_scalar, vision_config omitted"));
  // Nothing of it is kept.
  const auto changes = changes_of(R"({"architectures": ["M"]})");
  EXPECT_TRUE(mentions(changes, "config.json: architectures omitted"));
  EXPECT_TRUE(mentions(changes, "config.json omitted, alt cannot hold it"));
}

// Files that are not kept are not reported as kept.
TEST(FixedFields, OnlyWhatWasReadIsSaidToBeKept) {
  AdaptOptions options;
  options.drop = {ModelPart::vocabulary};
  auto changes = adapt(directory_model(), *find_format("alt"), options).changes;
  EXPECT_TRUE(mentions(changes, "config.json kept as config, not as a file"));
  EXPECT_TRUE(mentions(changes, "tokenizer.json, generation_config.json omitted, alt cannot hold them"));
  EXPECT_FALSE(mentions(changes, "normalized"));
  options.drop = {ModelPart::config};
  changes = adapt(directory_model(), *find_format("alt"), options).changes;
  EXPECT_TRUE(mentions(changes, "tokenizer.json kept as vocabulary, not as a file"));
  EXPECT_FALSE(mentions(changes, "config.json:"));
  Model model = directory_model();
  model.attachments.push_back(text_file("tokenizer_config.json", R"({"x": 1)"));
  changes = adapt(model, *find_format("alt")).changes;
  EXPECT_TRUE(mentions(changes, "tokenizer_config.json: not JSON"));
  EXPECT_TRUE(mentions(changes, "config.json, tokenizer.json kept as config and vocabulary, not as files"));
  EXPECT_TRUE(mentions(changes, "tokenizer_config.json omitted, alt cannot hold them"));
}

// The refusal names the file that matters.
TEST(FixedFields, TroubleWithOneFileIsNoReasonToRefuseAnother) {
  Model model = directory_model();
  model.config = {};
  model.attachments[0] = text_file("config.json", R"({"architectures": ["M"]})");
  model.attachments[2] = text_file("tokenizer_config.json", "{");
  EXPECT_TRUE(mentions(adapt(model, *find_format("alt")).changes, "tokenizer_config.json: not JSON"));
  model.vocabulary = {};
  model.attachments[1] = text_file("tokenizer.json", "{");
  const auto error = error_of([&] { adapt(model, *find_format("alt")); });
  EXPECT_EQ(error.value().rule(), "convert.resource");
  EXPECT_TRUE(error.value().sentence().starts_with("tokenizer.json: ")) << error.value().sentence();
}

TEST(FixedFields, EmbeddingsThatMayBeTiedAreTold) {
  const auto told = [&](std::vector<Tensor> tensors, std::optional<bool> tie) {
    Model model;
    model.tensors = std::move(tensors);
    model.config.hidden_size = 2;
    model.config.tie_word_embeddings = tie;
    return mentions(find_format("alt")->remarks(model, {}), "the embeddings may be tied");
  };
  const Tensor embedding = make_dense("model.embed_tokens.weight", {3, 2}, DType::f32);
  const Tensor head = make_dense("lm_head.weight", {3, 2}, DType::f32);
  EXPECT_TRUE(told({embedding}, std::nullopt));
  EXPECT_FALSE(told({embedding}, false));
  EXPECT_FALSE(told({embedding, head}, std::nullopt));
  EXPECT_FALSE(told({head}, std::nullopt));
}

TEST(FixedFields, TheVocabularyIsCountedInAnEmbeddingOfAnyName) {
  for (const char* const name : {"model.embed_tokens.weight", "transformer.wte.weight", "shared.weight"}) {
    Model model;
    model.format = "alt";
    model.tensors = {make_dense(name, {7, 2}, DType::f32)};
    model.config.hidden_size = 2;
    model.vocabulary.tokens.resize(5);
    EXPECT_EQ(adapt(model, *find_format("zt")).model.config.vocab_size, 7) << name;
    // Converting to ALT loses the number only if the count differs.
    model.format = "zt";
    model.config.vocab_size = 7;
    EXPECT_FALSE(mentions(adapt(model, *find_format("alt")).changes, "vocab_size")) << name;
    model.config.vocab_size = 8;
    EXPECT_TRUE(mentions(adapt(model, *find_format("alt")).changes, "config: vocab_size omitted")) << name;
  }
}

TEST(FixedFields, OneErrorNamesEveryTensorOfATypeWithoutAPlace) {
  Model model;
  model.tensors = {make_dense("a", {2}, DType::i64), make_dense("b", {2}, DType::f64),
                   make_dense("c", {2}, DType::i64)};
  const auto error = error_of([&] { adapt(model, *find_format("alt")); });
  EXPECT_EQ(error.value().sentence(), "alt cannot hold the types i64 (a, c), f64 (b)");
  EXPECT_EQ(text_of(error.value().remedies()), "cast f32, skip");
  EXPECT_EQ(error.value().item(), "tensor a");
  // Advice that would not help is not given.
  model.tensors = {dense("z", {1}, DType::f32, Blob::memory(Bytes(8)), "complex64")};
  EXPECT_EQ(text_of(error_of([&] { adapt(model, *find_format("alt")); }).value().remedies()), "skip z");
  AdaptOptions asked;
  asked.dtype = DType::f32;
  EXPECT_EQ(text_of(error_of([&] { adapt(model, *find_format("alt"), asked); }).value().remedies()), "skip z");
  model.tensors = {make_dense("a", {2}, DType::i64)};
  // Refused, because it would be rounded in vain.
  AdaptOptions options;
  options.dtype = DType::bf16;
  EXPECT_EQ(rule_of([&] { adapt(model, *find_format("alt"), options); }), "convert.type");
}

TEST(FixedFields, WhatTokenizerConfigSaysBesideTheTokensIsNamed) {
  Model model = directory_model();
  model.attachments.push_back(
      text_file("tokenizer_config.json", R"({"bos_token": "a", "chat_template": "{{ x }}", "model_max_length": 512,
                                        "add_prefix_space": false, "extra_special_tokens": {}, "sep_token": null,
                                        "backend": "tokenizers", "is_local": true})"));
  const auto changes = adapt(model, *find_format("alt")).changes;
  EXPECT_TRUE(mentions(changes, "tokenizer_config.json: chat_template omitted, which may change what a text becomes"));
  EXPECT_TRUE(mentions(changes, "tokenizer_config.json: backend, is_local, model_max_length omitted"));
  EXPECT_TRUE(mentions(changes, "tokenizer.json: how a text is normalized and split omitted"));
}

TEST(FixedFields, NoDefaultStandsForWhatConfigJsonSaysInOtherWords) {
  const std::string heads = R"("num_attention_heads": 8, "hidden_size": 64)";
  const auto with = [&](std::string_view more) { return changes_of(fmt::format("{{{}, {}}}", heads, more), "mcf"); };
  EXPECT_TRUE(mentions(with(R"("x": 1)"), "config: num_key_value_heads = 8, rope_theta = 10000.0 by default"));
  EXPECT_TRUE(mentions(with(R"("multi_query": true)"), "config: rope_theta = 10000.0 by default"));
  EXPECT_FALSE(mentions(with(R"("alibi": true)"), "rope_theta"));
  EXPECT_FALSE(mentions(with(R"("position_embedding_type": "absolute")"), "rope_theta"));
  EXPECT_TRUE(mentions(with(R"("position_embedding_type": "rotary")"), "rope_theta"));
  EXPECT_FALSE(mentions(with(R"("model_type": "xlm-roberta")"), "rope_theta"));
}

TEST(FixedFields, OneErrorNamesEverythingWithoutAPlace) {
  Model model = directory_model();
  model.metadata.set("tensor", 1);
  const auto error = error_of([&] { adapt(model, *find_format("safetensors")); });
  EXPECT_EQ(error.value().sentence(),
            "safetensors cannot hold the vocabulary, the attachments (config.json, tokenizer.json, "
            "generation_config.json)");
  EXPECT_EQ(text_of(error.value().remedies()), "weights_only, drop vocabulary, drop attachments");
}

TEST(FixedFields, ChatTemplatesAreLeftBehind) {
  Model model = directory_model();
  model.attachments.push_back(text_file("additional_chat_templates/rag.jinja", "{{ x }}"));
  EXPECT_TRUE(mentions(adapt(model, *find_format("alt")).changes, "additional_chat_templates/rag.jinja omitted"));
  model.attachments.push_back(text_file("additional_chat_templates/rag.txt", ""));
  const auto error = error_of([&] { adapt(model, *find_format("alt")); });
  EXPECT_NE(error.value().sentence().find("attachment additional_chat_templates/rag.txt"), std::string::npos);
}

TEST(FixedFields, WhatFrameworksNoteAboutTheirFilesIsNoObstacle) {
  Model model = directory_model();
  model.metadata.set("format", "pt");
  const Adapted adapted = adapt(model, *find_format("alt"));
  EXPECT_TRUE(adapted.model.metadata.empty());
  EXPECT_TRUE(mentions(adapted.changes, "format omitted"));
  EXPECT_EQ(adapt(model, *find_format("zt")).model.metadata.size(), 1U);
}

TEST(FixedFields, AConversionSaysWhatIsEmpty) {
  const Scratch scratch;
  Model model;
  model.tensors = {make_dense("w", {2}, DType::f32)};
  put_file(scratch / "in.zt", write_bytes(*find_format("zt"), model));
  const Conversion done = convert(scratch / "in.zt", scratch / "out.alt");
  ASSERT_EQ(done.changes.size(), 1U);
  EXPECT_TRUE(mentions(
      done.changes,
      "not stated by the input, so written as empty, 0 or -1: all parameters (no config), base_model, author"));
  EXPECT_TRUE(mentions(done.changes, "license, the tokenizer (no vocabulary)"));
}

// A user that only converts must see it as well.
TEST(FixedFields, AConversionPassesOnWhatLooksWrongAboutTheInput) {
  const Scratch scratch;
  Model model;
  model.tensors = {make_dense("w", {2}, DType::f32)};
  std::filesystem::create_directory(scratch / "in");
  put_file(scratch / "in/model.safetensors", write_bytes(*find_format("safetensors"), model));
  put_file(scratch / "in/config.json", to_bytes(R"({"hidden_size": "64", "num_attention_heads": 2})"));
  const Conversion done = convert(scratch / "in", scratch / "out.zt");
  EXPECT_TRUE(mentions(done.changes, R"(config.json: hidden_size: expected a whole number, found "64")"));
}

TEST(FixedFields, ConfigAndVocabularyPassThroughAltIntoOtherContainers) {
  const Scratch scratch;
  put_file(scratch / "in.zt", write_bytes(*find_format("zt"), directory_model()));
  convert(scratch / "in.zt", scratch / "it.alt");
  convert(scratch / "it.alt", scratch / "back.zt");
  Model alt = open(scratch / "it.alt");
  const Model back = open(scratch / "back.zt");
  EXPECT_FALSE(alt.config.vocab_size);  // ALT has no field for it; converting from ALT counts the embedding
  alt.config.vocab_size = 3;
  EXPECT_TRUE(alt.config == back.config);
  EXPECT_TRUE(alt.vocabulary == back.vocabulary);
  EXPECT_EQ(back.config.hidden_size, 8);
  EXPECT_EQ(back.vocabulary.tokens[2].text, "ab");
}

TEST(Options, DialectsMustBeTheFormats) {
  const Scratch scratch;
  put_file(scratch / "in.zt", write_bytes(*find_format("zt"), Model()));
  ConvertOptions options;
  options.write.dialect = "altc";
  EXPECT_EQ(rule_of([&] { convert(scratch / "in.zt", scratch / "out.zt", options); }), "convert.option");
  convert(scratch / "in.zt", scratch / "out.alt", options);
  EXPECT_EQ(open(scratch / "out.alt").version, "2 (altc)");
  options.write.dialect = "latin";
  EXPECT_EQ(rule_of([&] { convert(scratch / "in.zt", scratch / "no.alt", options); }), "convert.option");
}

// A sink that damages its bytes after the writer is done.
TEST(ReadBack, AFileThatItsReaderRefusesGetsNoName) {
  const Scratch scratch;
  Model model;
  model.tensors = {make_dense("w", {2}, DType::f32)};
  const auto sink = create_file(scratch / "it", {});
  find_format("alt")->write(model, *sink, {});
  const SourcePtr written = sink->written();
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->size(), sink->position());
  EXPECT_EQ(find_format("alt")->read({"it", written}, {}).tensors.size(), 1U);
  sink->write_at(0, to_bytes("?"));
  EXPECT_EQ(rule_of([&] { find_format("alt")->read({"it", sink->written()}, {}); }), "alt.magic");
  EXPECT_TRUE(scratch.entries().empty());
}

}  // namespace
}  // namespace tare
