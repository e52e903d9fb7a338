// What llama.cpp expects of a file: names, row orders and types of tensors, keys, the tokenizer; and the way back to Hugging
// Face's conventions.
#pragma once

#include "arch/families.hpp"
#include "arch/names.hpp"
#include "formats/gguf/gguf.hpp"
#include "resources/tokenizer_rules.hpp"

namespace tare::gguf {

void adopt(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
void release(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed);
// Vectors, norms and routers.
bool wants_f32(const Model& model, const Tensor& tensor);
// general.file_type, by which llama.cpp names a model's mix of types.
void retyped(Model& model, bool own);

// ---- parts ----

// config.json, language part and all: what comes first counts. Empty where there is none.
class ConfigFile {
 public:
  explicit ConfigFile(const Model& model);
  const Value* find(std::string_view path) const;
  std::optional<double> number(std::string_view path) const;
  bool is_null(std::string_view path) const;  // it stands there, and says that there is none

 private:
  std::vector<Map> parts_;
};

// What config.json says of rotary positions; of one kind of layers, if they differ: those that see everything.
class RopeFile {
 public:
  explicit RopeFile(const ConfigFile& file) : file_(file) {}
  const Value* find(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::string kind() const;  // "yarn" and so on; empty where it says none

 private:
  const ConfigFile& file_;
};

// An attribute of a tensor: the type it had before it was made f32.
inline constexpr std::string_view kWasType = "gguf.was";
// Of a norm: places and values of weights that adding and taking away again would round, one behind the other.
inline constexpr std::string_view kRounded = "gguf.rounded";

void adopt_tensors(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes,
                   std::vector<Renamed>& renamed);
// general.name and general.size_label. After the tensors have their names.
void adopt_general(Model& model, const ConfigFile& config);
// The name that adopt_general would give; empty where config.json says none.
std::string general_name(const ConfigFile& config);
// After the tensors have their names.
void adopt_keys(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes);
void adopt_tokenizer(Model& model, const arch::Family& family, std::vector<Change>& changes);

void release_tensors(Model& model, const arch::Family& family, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed);
// config.json, tokenizer.json and tokenizer_config.json from the keys, where the model has none.
void release_files(Model& model, const arch::Family& family, std::vector<Change>& changes);

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

// Of families that llama.cpp has windows for: of how many layers the last one sees everything, usually. 0: of others.
std::int64_t window_period(const arch::Family& family);

// What the keys cannot say: it is told. `config`: as adopt_keys has left it.
void tell_unsaid(const Model& model, const arch::Family& family, const ConfigFile& config,
                 std::vector<Change>& changes);
// A key of config.json that llama.cpp does not know, and what it does instead.
Change unsaid(std::string_view name, std::string detail);

// What llama.cpp takes for granted of a family, under the name of config.json: the file has no key for it.
Map taken_for_granted(const arch::Family& family, const Config& config);

// By how much YaRN stretches rotated queries and keys.
double yarn_stretch(double factor, double scale);

// The divisors of Llama 3's frequencies, one for each rotated pair; nothing where config.json does not ask for them.
struct Llama3Scaling {
  double factor = 8, low = 1, high = 4, context = 8192;
};
std::vector<float> llama3_divisors(const Llama3Scaling& scaling, double base, std::uint64_t head_size);
std::optional<Llama3Scaling> llama3_scaling(const ConfigFile& config);

// The name of tokenizer.ggml.pre for a way to cut texts; empty: none is known.
std::string_view pre_tokenizer_of(const std::vector<std::string>& cuts);
// The inverse; nothing for a name that is not known.
std::optional<std::vector<std::string>> cuts_of(std::string_view pre_tokenizer);

}  // namespace tare::gguf
