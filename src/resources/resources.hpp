// Interprets the files of a Hugging Face directory that containers carry as attachments: the hyper-parameters of
// config.json, the vocabulary of tokenizer.json, tokenizer.model, vocab.json + merges.txt or vocab.txt.
//
// Whatever the text, the reading functions throw only Error corrupt (`config.*`, `tokenizer.*`, `json.*`,
// `protobuf.*`). The writing functions are deterministic: the same model gives the same bytes.
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

// Longer files are not parsed.
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{128} << 20;
// A parser may read this many bytes after a text that is passed as padded.
inline constexpr std::size_t kTextPadding = 64;

enum class Role : std::uint8_t {
  described,  // its content is in Config and Vocabulary: config.json, tokenizer.json, merges.txt, ...
  carried,    // belongs to the model, but has other content: generation_config.json, the chat template, ...
  other,      // not one of the directory's well-known files
};
Role role_of(std::string_view file_name);
// Returns whether the file has a vocabulary, even in a form that is not read.
bool holds_vocabulary(std::string_view file_name);

// Fills the empty parts of `model.config` and `model.vocabulary` from the attachments that describe them. Warns about a
// file that does not parse (it is still carried), about a vocabulary in a form that is not read if no other file has
// one (`tokenizer.unread`), and about a special token that does not exist (`tokenizer.special`).
void describe(Model& model, Diagnostics& diagnostics);

// The same for a model whose files are new: their content replaces the config and the vocabulary. Parts that no file has
// are kept; of a vocabulary that is kept, the ids of the special tokens that the files name are changed. Throws what
// `describe` would warn about if a part that the model had would be lost.
void describe_anew(Model& model);

// Adds config.json, tokenizer.json and tokenizer_config.json for a config and vocabulary that no attachment has. For
// containers that keep the two only as files. `tokenizer_json_only`: tokenizer.model does not count as a file with the
// vocabulary, because the container's readers do not know it.
void complete(Model& model, bool tokenizer_json_only = false);

// Parses config.json. `ignored` receives a sentence for each value that does not have its field's type.
Config parse_config(std::string_view text, std::vector<std::string>* ignored = nullptr);

// A key of a file that no field covers. `harmful`: it changes, or may change, what the model computes; unknown keys
// count as harmful.
struct LostKey {
  std::string name;
  bool harmful = true;
};
// Returns the keys of config.json that a Config has no field for; keys inside an object that fields were taken from are
// named "object.key". The ids of special tokens are included unless a vocabulary keeps them.
std::vector<LostKey> keys_beyond_config(std::string_view text, bool has_vocabulary);
// Returns the keys of tokenizer_config.json that a Vocabulary has no field for.
std::vector<LostKey> keys_beyond_vocabulary(std::string_view tokenizer_config);
// Returns whether a tokenizer.json puts special tokens around a text, which a Vocabulary cannot express.
bool frames_texts(std::string_view tokenizer_json);

// Makes a config.json from what is known about a model: its config, the ids of its special tokens, and what else the
// family's readers need to interpret these correctly.
std::string config_json(const Config& config, const Vocabulary& vocabulary = {});

// How a model extends rotary positions beyond those of its training, from rope_parameters or rope_scaling of
// config.json. A value that is missing or not a number is absent.
struct RopeScaling {
  std::string kind = {};  // "linear", "yarn", "llama3", ...; empty if positions are not scaled
  std::optional<double> factor = {};
  std::optional<std::int64_t> original_context = {};  // positions in the training
};
RopeScaling parse_rope_scaling(std::string_view text);
// Reads the model's config.json; returns nothing if it is missing or does not parse (`describe` reports that).
RopeScaling rope_scaling_of(const Model& model);
// Returns whether the model uses rotary positions: not in families that learn, add or bias positions, and not if a
// tensor is a table of them or config.json names another way.
bool rotates(const Model& model);

// Sets only the special id that tokenizer.json itself has (that of the unknown token).
Vocabulary parse_tokenizer_json(std::string_view text, bool padded = false);
// Parses {"token": id}: with a merges.txt the tokens of a byte-level BPE, otherwise a list of words.
Vocabulary parse_vocab_json(std::string_view text, bool has_merges);
// Parses merges.txt.
std::vector<std::string> parse_merges(std::string_view text);
// Parses one token per line, as in BERT: WordPiece.
Vocabulary parse_vocab_txt(std::string_view text);
// Parses tokenizer.model or spiece.model.
Vocabulary parse_sentencepiece(std::span<const std::byte> tokenizer_model);
// Describes in words how such a file normalizes a text in ways that a tokenizer.json made from its vocabulary does not.
// Empty if there is no difference, or the file does not parse.
std::vector<std::string> unkept_normalization(std::span<const std::byte> tokenizer_model);

// Tokens that were added after the training: {"text": id} of added_tokens.json, {"id": {"content": text}} under
// added_tokens_decoder of tokenizer_config.json.
struct AddedToken {
  std::uint64_t id;
  Token token;
};
std::vector<AddedToken> parse_added_tokens(std::string_view added_tokens);
std::vector<AddedToken> parse_added_tokens_decoder(std::string_view tokenizer_config);
// Appends tokens beyond the vocabulary; tokens that it has get the new text and type, and keep their score. The later of
// two tokens with one id is used. Throws `tokenizer.ids` and changes nothing if they leave too many gaps.
void append_added(Vocabulary& vocabulary, std::vector<AddedToken> added);

// Sets special ids that are still -1 from these files (empty text: no such file), and the types of those tokens.
// `typed`: the vocabulary's own file marks special tokens, so an id in config.json does not make another token special
// (some files name an ordinary token for padding). `ignored` receives a sentence for each name that is not a token.
struct SpecialTokenFiles {
  std::string_view tokenizer_config = {}, special_tokens_map = {}, config = {};
  bool typed = false;
};
void find_special_tokens(Vocabulary& vocabulary, const SpecialTokenFiles& files,
                         std::vector<std::string>* ignored = nullptr);

// Makes a tokenizer.json that the tokenizers library loads: BPE if there are merges or scores that are ranks (see
// piece_merges.hpp), WordPiece and WordLevel for those kinds, else Unigram with the scores. `rules`: how texts are
// split and framed, if known; otherwise it is inferred from the tokens.
struct TokenizerRules;
std::string tokenizer_json(const Vocabulary& vocabulary, const TokenizerRules* rules = nullptr);
// Returns in words how a tokenizer.json that is made without rules splits text.
std::string_view inferred_splitting(const Vocabulary& vocabulary);
// Returns whether tokens are spelled in the byte-level alphabet, judging by the tokens and the merges.
bool is_byte_level(const Vocabulary& vocabulary);
// Returns whether a token spells a blank as SentencePiece does, as U+2581.
bool has_blanks(const Vocabulary& vocabulary);
// Sets the types of a vocabulary that has none: special tokens are known by their ids, bytes by their spelling.
void infer_types(Vocabulary& vocabulary);
// Makes a tokenizer_config.json that names the special tokens.
std::string tokenizer_config_json(const Vocabulary& vocabulary);

}  // namespace tare::resources
