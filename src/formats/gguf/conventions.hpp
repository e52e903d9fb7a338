// What llama.cpp expects of a file: names, row orders and types of tensors, keys, the tokenizer; and the way back to Hugging
// Face's conventions.
#pragma once

#include "arch/families.hpp"
#include "arch/names.hpp"
#include "formats/gguf/gguf.hpp"
#include "resources/config_file.hpp"
#include "resources/tokenizer_rules.hpp"

namespace tare::gguf {

void adopt(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
void release(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
std::size_t count_released(const Model& model);
// Vectors, norms and routers.
bool wants_f32(const Model& model, const Tensor& tensor);
// general.file_type, by which llama.cpp names a model's mix of types.
void retyped(Model& model, bool own, std::string_view mix);

// ---- parts ----

using resources::ConfigFile;

// What config.json says of rotary positions; of one kind of layers, if they differ: those that see everything.
class RopeFile {
 public:
  explicit RopeFile(const ConfigFile& file) : rope_(file.ropes().full) {}
  const Value* find(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::string kind() const;  // "yarn" and so on; empty where it says none

 private:
  const Map& rope_;
};

inline constexpr std::string_view kPreTokenizerKey = "tokenizer.ggml.pre";

// An attribute of a tensor: the type it had before it was made f32.
inline constexpr std::string_view kWasType = "gguf.was";
// Of a norm: places and values of weights that adding and taking away again would round, one behind the other.
inline constexpr std::string_view kRounded = "gguf.rounded";

// Of a head that is a copy of the token table, because llama.cpp insists on one.
inline constexpr std::string_view kCopied = "gguf.copied";

void adopt_tensors(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes,
                   std::vector<Renamed>& renamed);
// general.name and general.size_label. After the tensors have their names.
void adopt_general(Model& model, const ConfigFile& config);
// The name that adopt_general would give; empty where config.json says none.
std::string general_name(const ConfigFile& config);
// After the tensors have their names.
void adopt_keys(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes);
void adopt_tokenizer(Model& model, const arch::Family& family, std::vector<Change>& changes);
// The token of an id that has none.
std::string pad_text(std::int64_t id);

// How the names of a model begin that goes back to Hugging Face's conventions, and whether its files came along.
struct Way {
  arch::Root root = arch::Root::model;
  bool has_config = false;
};
void release_tensors(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed);
// config.json, tokenizer.json, tokenizer_config.json and those of a pooling from the keys, where the model has none.
void release_files(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes);

// An adapter in the form of llama.cpp.
bool is_adapter(const Model& model);
// PEFT's form of an adapter into that one; false for what is not an adapter. Throws `gguf.adapter` for one that llama.cpp could
// not apply, or whose model is not known, and `lora.*` for one that is not understood.
bool adopt_adapter(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
// The inverse, of a model for which is_adapter is true.
void release_adapter(Model& model, const arch::Family& family, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed);

// A key behind the architecture.
std::string key_of(const arch::Family& family, std::string_view name);

// Whether a hyper-parameter of config.json has a key beside those of Config, and which.
struct ExtraKey {
  std::string_view key;                  // behind the architecture
  std::array<std::string_view, 3> from;  // of config.json; the first that is there counts, the first is written
  ValueType type;
};
std::span<const ExtraKey> extra_keys();

// Gemma 3, for texts or for embeddings.
bool is_gemma3(const arch::Family& family);
// Of families that llama.cpp has windows for: of how many layers the last one sees everything, usually. 0: of others.
std::int64_t window_period(const arch::Family& family);

// What the keys cannot say: it is told. `config`: as adopt_keys has left it.
void tell_unsaid(const Model& model, const arch::Family& family, const ConfigFile& config,
                 std::vector<Change>& changes);
// A key of config.json that llama.cpp does not know, and what it does instead.
Change unsaid(std::string_view name, std::string detail);

// What llama.cpp takes for granted of a family, under the name of config.json: the file has no key for it.
Map taken_for_granted(const arch::Family& family, const Config& config);

// By how much longrope stretches rotated queries and keys, unless config.json says otherwise.
double long_rope_stretch(double context, double original);

// llama.cpp's numbers for how the vectors of tokens become one, and the words of sentence-transformers.
struct Pooling {
  std::int64_t number;
  std::string_view word, flag;  // "pooling_mode" of newer files; the key that is true in older ones
};
std::span<const Pooling> poolings();
inline constexpr std::string_view kModulesFile = "modules.json", kPoolingFolder = "1_Pooling";

// By how much YaRN stretches rotated queries and keys.
double yarn_stretch(double factor, double scale);

// The divisors of Llama 3's frequencies, one for each rotated pair; nothing where config.json does not ask for them.
struct Llama3Scaling {
  double factor = 8, low = 1, high = 4, context = 8192;
};
std::vector<float> llama3_divisors(const Llama3Scaling& scaling, double base, std::uint64_t head_size);
std::optional<Llama3Scaling> llama3_scaling(const ConfigFile& config);

// What llama.cpp does for a name of tokenizer.ggml.pre besides cutting texts.
struct PreFlags {
  bool ignores_merges = false;  // words that are tokens are not put together by merges
  bool begins = false;          // texts begin with bos, unless tokenizer.ggml.add_bos_token says otherwise
  bool keeps_blanks = false;    // those before punctuation, when tokens become text again
};
// What a tokenizer does, as far as it is known.
struct TokenizerTraits {
  std::vector<std::string> cuts;  // as in TokenizerRules
  bool ignores_merges = false;
  std::optional<bool> keeps_blanks = {};
  std::string model_type = {};  // of config.json
};
// As tokenizer.json and tokenizer_config.json say; null: there is no such file.
TokenizerTraits traits_of(const resources::TokenizerRules* rules, const Map* settings, const Config& config);
// The name of tokenizer.ggml.pre that fits best; empty: none is known that cuts so.
std::string_view pre_tokenizer_of(const TokenizerTraits& traits);
// The inverse; nothing for a name that is not known.
std::optional<std::vector<std::string>> cuts_of(std::string_view pre_tokenizer);
std::optional<PreFlags> flags_of(std::string_view pre_tokenizer);
// All names that are known.
std::vector<std::string_view> pre_tokenizers();

}  // namespace tare::gguf
