// The files of a Hugging Face directory that containers carry as attachments, and what they say: the
// hyper-parameters of config.json, the vocabulary of tokenizer.json, tokenizer.model, vocab.json + merges.txt or vocab.txt.
//
// The functions that read throw Error corrupt (`config.*`, `tokenizer.*`, `json.*`, `protobuf.*`) and nothing else,
// whatever the text. The functions that write give the same bytes for the same model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare::resources {

// Longer files are not looked into.
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{128} << 20;
// So many bytes after a text may be read by a parser that is told that the text is padded.
inline constexpr std::size_t kTextPadding = 64;

enum class Role : std::uint8_t {
  described,  // what it says is in Config and Vocabulary: config.json, tokenizer.json, merges.txt, ...
  carried,    // belongs to the model, says other things: generation_config.json, the chat template, ...
  other,      // not one of the directory's well-known files
};
Role role_of(std::string_view file_name);
// Whether a vocabulary is in it, be it in a form that is not read.
bool holds_vocabulary(std::string_view file_name);

// Fills what is still empty of `model.config` and `model.vocabulary` from the attachments that describe them. A file
// that does not parse is reported as a warning naming it: it is carried along all the same. So is a vocabulary in a form
// that is not read (`tokenizer.unread`), where no other file has one, and a special token that is none (`tokenizer.special`).
void describe(Model& model, Diagnostics& diagnostics);

// Adds the files that say what config and vocabulary say and no attachment does: config.json, tokenizer.json and
// tokenizer_config.json. For containers that keep the two only as files. `tokenizer_json_only`: SentencePiece's own form
// (tokenizer.model) does not count as a file with the vocabulary, because the container's readers do not know it.
void complete(Model& model, bool tokenizer_json_only = false);

// Of config.json's text. `ignored` gets, in words, the values that are not of their field's kind.
Config parse_config(std::string_view text, std::vector<std::string>* ignored = nullptr);

// A key of a file that no field says. `harmful`: it changes what the model computes, or may: a key that is not known to be
// harmless counts as harmful.
struct LostKey {
  std::string name;
  bool harmful = true;
};
// The keys of config.json that a Config has no field for; those inside an object that fields were taken from as
// "object.key". The ids of special tokens are among them unless a vocabulary keeps them.
std::vector<LostKey> keys_beyond_config(std::string_view text, bool has_vocabulary);
// The keys of tokenizer_config.json that a Vocabulary says nothing of.
std::vector<LostKey> keys_beyond_vocabulary(std::string_view tokenizer_config);
// Whether a tokenizer.json puts special tokens around a text, which a Vocabulary does not say.
bool frames_texts(std::string_view tokenizer_json);

// A config.json for what is known of a model: its config, the ids of its special tokens, and what else its family's
// readers need in order to take the two as they are meant.
std::string config_json(const Config& config, const Vocabulary& vocabulary = {});

// How a model's rotary positions reach beyond those it was trained for, as config.json has it under rope_parameters or
// rope_scaling. What is missing, or no number, is absent.
struct RopeScaling {
  std::string kind = {};  // "linear", "yarn", "llama3", ...; empty where positions are as they are
  std::optional<double> factor = {};
  std::optional<std::int64_t> original_context = {};  // positions of the training
};
RopeScaling parse_rope_scaling(std::string_view text);
// Of the model's config.json; nothing from one that is missing or does not parse (`describe` reports that).
RopeScaling rope_scaling_of(const Model& model);
// Whether positions are told by rotating at all: not in families that learn, add or bias them, nor where a tensor is a
// table of them or config.json says otherwise.
bool rotates(const Model& model);

// Special ids are only those that tokenizer.json itself names (of the unknown token).
Vocabulary parse_tokenizer_json(std::string_view text, bool padded = false);
// {"token": id}: beside a merges.txt the tokens of a byte-level BPE, alone a list of words.
Vocabulary parse_vocab_json(std::string_view text, bool has_merges);
// Of merges.txt.
std::vector<std::string> parse_merges(std::string_view text);
// A token a line, as BERT has it: WordPiece.
Vocabulary parse_vocab_txt(std::string_view text);
// tokenizer.model or spiece.model.
Vocabulary parse_sentencepiece(std::span<const std::byte> tokenizer_model);
// What such a file does to a text before it splits it, as far as a tokenizer.json that is made from its vocabulary does
// something else. Words for people; none where that is not so, or the file is none.
std::vector<std::string> unkept_normalization(std::span<const std::byte> tokenizer_model);

// Tokens that were added after the training: {"text": id} of added_tokens.json, {"id": {"content": text}} under
// added_tokens_decoder of tokenizer_config.json.
struct AddedToken {
  std::uint64_t id;
  Token token;
};
std::vector<AddedToken> parse_added_tokens(std::string_view added_tokens);
std::vector<AddedToken> parse_added_tokens_decoder(std::string_view tokenizer_config);
// Those beyond the vocabulary; of two with one id the later. Throws `tokenizer.ids` where they leave too many gaps.
void append_added(Vocabulary& vocabulary, std::vector<AddedToken> added);

// Sets special ids that are still -1 from these files (empty text: not there), and the types of those tokens. `typed`: the
// vocabulary's own file says which tokens are special; an id in config.json makes no other token one (some name an
// ordinary token for padding). `ignored` gets, in words, the names that are no token's.
struct SpecialTokenFiles {
  std::string_view tokenizer_config = {}, special_tokens_map = {}, config = {};
  bool typed = false;
};
void find_special_tokens(Vocabulary& vocabulary, const SpecialTokenFiles& files,
                         std::vector<std::string>* ignored = nullptr);

// A tokenizer.json that the tokenizers library loads: BPE when there are merges or scores that are ranks (see
// piece_merges.hpp), WordPiece and WordLevel for those kinds, else Unigram with the scores.
// `rules`: how texts are cut and framed, where that is known; otherwise it is told from the tokens.
struct TokenizerRules;
std::string tokenizer_json(const Vocabulary& vocabulary, const TokenizerRules* rules = nullptr);
// Whether tokens are spelled in the byte-level alphabet, by what they and the merges are.
bool is_byte_level(const Vocabulary& vocabulary);
// The special tokens by name.
std::string tokenizer_config_json(const Vocabulary& vocabulary);

}  // namespace tare::resources
