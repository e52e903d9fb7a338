// The parts of the conversion to llama.cpp's conventions, and what they share.
#pragma once

#include "arch/families.hpp"
#include "arch/layer_kinds.hpp"
#include "arch/names.hpp"
#include "formats/gguf/llama_cpp/llama_cpp.hpp"
#include "resources/config_file.hpp"
#include "resources/tokenizer_rules.hpp"

namespace tare::gguf::llama_cpp {

using resources::ConfigFile;

// The rotary settings of config.json. If they differ by layer: those of the layers with full attention.
class RopeFile {
 public:
  explicit RopeFile(const ConfigFile& file) : rope_(file.ropes().full) {}
  const Value* find(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::string kind() const;  // "yarn" and so on; empty if config.json has none

 private:
  const Map& rope_;
};

// The kind of each layer by config.json. Throws `convert.config` if it does not list them.
std::vector<arch::LayerKind> stated_layer_kinds(const ConfigFile& file);

// The chat template. Further ones have keys of their own, with a dot and their name at the end; kTemplatesKey lists the
// names.
inline constexpr std::string_view kTemplateKey = "tokenizer.chat_template", kTemplatesKey = "tokenizer.chat_templates";

// How many kinds of tokens an encoder has.
inline constexpr std::string_view kTokenTypesKey = "tokenizer.ggml.token_type_count";

// Tensor attribute: the type that the tensor had before it was widened to f32.
inline constexpr std::string_view kWasType = "gguf.was";

// An error for a tensor that cannot have llama.cpp's form. The names can be kept instead.
Error unmapped(const std::string& sentence);
// The same for the way back.
Error no_way_back(const std::string& sentence);

void adopt_tensors(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes,
                   std::vector<Renamed>& renamed);
// Sets general.name and general.size_label. Call it after the tensors are renamed.
void adopt_general(Model& model, const ConfigFile& config);
// The name that adopt_general sets; empty if config.json has none.
std::string general_name(const ConfigFile& config);
// Call these after the tensors are renamed.
void adopt_keys(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes);
void adopt_tokenizer(Model& model, const arch::Family& family, std::vector<Change>& changes);
// The text of the token that fills an unused id.
std::string pad_text(std::int64_t id);

// For families with Runtime::next_layers_apart: whether a tensor is part of a layer that predicts further tokens; its name as
// one of a layer after the last, of `layers` in all; and the inverse. Other names stay.
bool is_apart(const arch::Family& family, std::string_view name);
std::string name_among_layers(std::string_view name, std::uint32_t layers);
std::string name_apart(std::string_view name, std::uint32_t layers);

// How to return to Hugging Face's conventions: the prefix of the tensor names, and whether the model carries its
// config.json.
struct Way {
  arch::Root root = arch::Root::model;
  bool has_config = false;
  bool packs = false;  // experts in MXFP4 stay packed
};
// Returns whether all experts are in MXFP4, and the family's class reads that.
bool can_pack(const Model& model, const arch::Family& family);
void release_tensors(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed);
// The number of tensors that release_tensors would make; 0 if it would throw.
std::size_t count_released_tensors(const Model& model, const arch::Family& family, bool has_config);
// Gives all matrices of a group that has biases together a bias, if any of them has one: zeros. Throws `convert.surplus`
// for biases that the class does not have, whose names in the input are in `renamed`.
void complete_biases(Model& model, const arch::Family& family, std::vector<Change>& changes,
                     const std::vector<Renamed>& renamed);
// Makes config.json, tokenizer.json, tokenizer_config.json and the pooling files from the keys, unless the model
// carries them: see release_files.hpp.
void release_files(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes);
// Changes the attached config.json to one that does not tie the head to the token table. All other bytes are kept.
void state_untied(Model& model);

// Returns whether the tensors already have llama.cpp's names. A single name that belongs only to another dialect means
// no: then all tensors are converted, and unknown names are refused. Names that several dialects share
// ("output.weight") decide nothing.
bool follows_llama_cpp(const Model& model, const arch::Family& family);

// Returns whether the model is an adapter in llama.cpp's form.
bool is_adapter(const Model& model);
// Converts an adapter from PEFT's form; returns false if the model is not an adapter. Throws `gguf.adapter` if
// llama.cpp could not apply the adapter or if the base model's family is unknown, and `lora.*` if the adapter is
// malformed.
bool adopt_adapter(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
// The inverse, for a model for which is_adapter is true.
void release_adapter(Model& model, const arch::Family& family, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed);

// The key with the architecture as its prefix: "llama." + name.
std::string key_of(const arch::Family& family, std::string_view name);

// Returns whether llama.cpp reads the key as a float; otherwise it is a whole number.
bool takes_float(const arch::KeyRow& row);

// Reports settings of config.json that no key can express. `config`: as adopt_keys left it.
void report_unsupported(const Model& model, const arch::Family& family, const ConfigFile& config,
                        std::vector<Change>& changes);
// Describes a setting of config.json that llama.cpp does not know, and what it does instead.
Change unsupported(std::string_view name, std::string detail);

// Settings that llama.cpp hard-codes for a family, under their names in config.json: the file has no key for them.
Map llama_cpp_assumptions(const arch::Family& family, const Config& config);

// The rotary base that "dynamic" scaling with an alpha means, and the context that such models have.
inline constexpr std::int64_t kAlphaContext = 256 * 1024;
// The context of models that nothing turns with positions, as llama.cpp's converter states it.
inline constexpr std::int64_t kEndless = 1 << 20;
double alpha_base(double base, double alpha, double head_size);

// The factor by which longrope scales rotated queries and keys, unless config.json overrides it.
double long_rope_stretch(double context, double original);

// llama.cpp's number for a way to pool token vectors into one, and sentence-transformers' words for it.
struct Pooling {
  std::int64_t number;
  std::string_view word, flag;  // "pooling_mode" in newer files; the key that is true in older ones
};
std::span<const Pooling> poolings();
inline constexpr std::string_view kModulesFile = "modules.json", kPoolingFolder = "1_Pooling";

// The factor by which YaRN scales rotated queries and keys.
double yarn_stretch(double factor, double scale);

// What llama.cpp derives from a name in tokenizer.ggml.pre, in addition to how it splits text.
struct PreFlags {
  bool ignores_merges = false;  // a word that is a token is not built by merges
  bool begins = false;          // texts begin with bos, unless tokenizer.ggml.add_bos_token overrides it
  bool keeps_blanks = false;    // detokenizing keeps blanks before punctuation
};
// What is known about a tokenizer.
struct TokenizerTraits {
  std::vector<std::string> cuts;  // as in TokenizerRules
  bool ignores_merges = false;
  std::optional<bool> keeps_blanks = {};
  std::string model_type = {};  // from config.json
};
// Takes the traits from tokenizer.json and tokenizer_config.json; null if the model has no such file.
TokenizerTraits traits_of(const resources::TokenizerRules* rules, const Map* settings, const Config& config);
// The name for tokenizer.ggml.pre that fits best; empty if no known name splits text this way.
std::string_view pre_tokenizer_of(const TokenizerTraits& traits);
// Returns whether the attached tokenizer.json splits text in another way than tokenizer.ggml.pre names. False if either
// is unknown.
bool splits_otherwise(const Model& model);
// Returns whether the attached files imply the very name in tokenizer.ggml.pre, or there is no such name.
bool names_attached_cuts(const Model& model);
// Warns if another program changed the name, so that it contradicts the attached tokenizer.json.
void report_other_cuts(const Model& model, std::vector<Change>& changes);
// The inverse; nothing for an unknown name.
std::optional<std::vector<std::string>> cuts_of(std::string_view pre_tokenizer);
std::optional<PreFlags> flags_of(std::string_view pre_tokenizer);
// All known names.
std::vector<std::string_view> pre_tokenizers();

}  // namespace tare::gguf::llama_cpp
