// The keys of a file, and what they mean for a Model: all that llama.cpp's conventions (llama_cpp/) know of the container.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/format.hpp"
#include "formats/gguf/types.hpp"

namespace tare::gguf {

// Keys that describe the file itself.
inline constexpr std::string_view kAlignmentKey = "general.alignment", kArchitectureKey = "general.architecture";
inline constexpr std::string_view kSplitNumber = "split.no", kSplitCount = "split.count",
                                  kSplitTensors = "split.tensors.count";
bool is_split_key(std::string_view key);
// Tare's own key: a text that holds what GGUF has no field for (formats/private_tree.hpp).
inline constexpr std::string_view kPrivateKey = "tare.private";
// Tare's own keys: attached files, as arrays of u8; the file name follows the prefix.
inline constexpr std::string_view kFilePrefix = "tare.file.";
// Tare's own metadata keys of a Model. kKeysKey: the file's keys with their types, in the file's order, if a writer
// that knows only the values would choose others. kPlainTokensKey: ids of tokens that do not use the byte-level
// alphabet.
inline constexpr std::string_view kKeysKey = "gguf.keys", kPlainTokensKey = "gguf.plain_tokens";
// Likewise: true if a file without tensors has the padding before the data anyway.
inline constexpr std::string_view kPaddedKey = "gguf.padded";
// Likewise, kept in the private tree: the prefix of the tensor names in Hugging Face's files, if it is not "model.".
inline constexpr std::string_view kRootKey = "gguf.root";
// Likewise: the model is the text model of a multimodal one, whose tower was left out.
inline constexpr std::string_view kTowerKey = "gguf.tower";

// ---- hyper-parameters ----

// The names of hyper-parameters, without the prefix of the architecture.
inline constexpr OwnField kOwnFields[] = {
    {.field = "model_type", .name = "general.architecture"},
    {.field = "vocab_size", .name = "vocab_size"},
    {.field = "hidden_size", .name = "embedding_length"},
    {.field = "intermediate_size", .name = "feed_forward_length"},
    {.field = "num_hidden_layers", .name = "block_count"},
    {.field = "num_attention_heads", .name = "attention.head_count"},
    {.field = "num_key_value_heads", .name = "attention.head_count_kv", .expected = true},
    {.field = "head_dim", .name = "attention.key_length"},
    {.field = "max_position_embeddings", .name = "context_length", .expected = true},
    {.field = "sliding_window", .name = "attention.sliding_window"},
    {.field = "rope_theta", .name = "rope.freq_base"},
    {.field = "rms_norm_eps", .name = "attention.layer_norm_rms_epsilon", .expected = true},
};

// The number that a value states: a number of any type, or an array of equal numbers, one for each layer.
std::optional<Value> single_number(const Value& value);
// Sets the field of the config for which kOwnFields has this name. Returns false if the value is not a single number
// that fits it.
bool set_field(Config& config, std::string_view own_name, const Value& value);

// The type that llama.cpp requires for a key; nothing if it does not know the key or accepts several types.
std::optional<EntryType> declared_type(std::string_view key);

// Returns (key, name of the field) for each field of Config that has a key; none if the config has no model_type.
std::vector<std::pair<std::string, std::string_view>> config_keys(const Config& config);

// ---- the tokenizer ----

inline constexpr std::string_view kTokenizerModel = "tokenizer.ggml.model", kTokens = "tokenizer.ggml.tokens",
                                  kScores = "tokenizer.ggml.scores", kTokenTypes = "tokenizer.ggml.token_type",
                                  kMerges = "tokenizer.ggml.merges";

struct SpecialKey {
  std::string_view key;
  std::int64_t Vocabulary::*id;
};
inline constexpr SpecialKey kSpecialKeys[] = {{"tokenizer.ggml.bos_token_id", &Vocabulary::bos},
                                              {"tokenizer.ggml.eos_token_id", &Vocabulary::eos},
                                              {"tokenizer.ggml.unknown_token_id", &Vocabulary::unk},
                                              {"tokenizer.ggml.padding_token_id", &Vocabulary::pad}};

// The name of the rules by which a byte-level tokenizer splits text before it looks for tokens.
inline constexpr std::string_view kPreTokenizerKey = "tokenizer.ggml.pre";

// Returns the kind of a Vocabulary for the tokenizer's kind in GGUF ("bpe" for "gpt2"); empty for one that has none.
std::string_view kind_of_model(std::string_view model);
// The inverse.
std::string_view model_of_kind(std::string_view kind);

}  // namespace tare::gguf
