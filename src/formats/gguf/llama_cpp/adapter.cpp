// LoRA adapters in llama.cpp's form:
//
//   general.type = "adapter", general.architecture of the base model, adapter.type = "lora", adapter.lora.alpha (f32)
//   blk.0.attn_q.weight.lora_a   [rank, in]      blk.0.attn_q.weight.lora_b   [out, rank]
//   token_embd.weight.lora_a     [tokens, rank]  token_embd.weight.lora_b     [hidden, rank]
//
// The scale of a layer is alpha / rank. The rows of B are the rows of the weight, so B of q and k has llama.cpp's row
// order. A is the same as in PEFT, except for the embedding, where it is transposed. All layers share one alpha, and
// the runtime ignores or refuses a tensor with any other name (llama-adapter.cpp of b21e4de7), so adapters that need
// more are refused here.
#include "resources/adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/qk_rows.hpp"
#include "base/half.hpp"
#include "base/json_writer.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "resources/json_file.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using arch::Dialect;
using arch::Role;
using arch::TensorName;
using resources::AdapterPart;

constexpr std::string_view kTypeKey = "general.type", kAdapterTypeKey = "adapter.type";
constexpr std::string_view kAlphaKey = "adapter.lora.alpha";
constexpr std::string_view kFirst = ".lora_a", kSecond = ".lora_b";
constexpr std::string_view kWrapper = "base_model.model.", kWeight = ".weight";

Error refused_adapter(std::string_view sentence) { return Error(ErrorKind::unsupported, "gguf.adapter", sentence); }
Error refused_adapter(const Tensor& tensor, std::string_view sentence) {
  return refused_adapter(sentence).about("tensor " + quote(tensor.name));
}

bool is_matrix(const Tensor& tensor) { return tensor.is_dense() && tensor.shape.rank() == 2; }

// The two factors of a weight whose rows or columns GGUF has in another order: the rows of B are those of the weight, the
// columns of A its columns. A weight that is transposed needs neither: PEFT's factors are [rank, inputs] and
// [outputs, rank] whichever way the weight is stored.
class MovedFactors {
 public:
  MovedFactors(const arch::Family& family, const Model& model)
      : family_(family), config_(model.config), heads_(state_heads_of(ConfigFile(model))) {}

  Tensor second(Tensor tensor, Role role, bool back) const {
    if (has(role, arch::Verb::sort_heads)) tensor = back ? unsort_heads(tensor, config_) : sort_heads(tensor, config_);
    if (const arch::Step* const step = arch::find_step(family_, role, arch::Verb::tile_rows)) {
      const bool by_elements = step->number == 1;
      tensor = back ? untile_rows(std::move(tensor), heads_, by_elements)
                    : tile_rows(std::move(tensor), heads_, by_elements);
    }
    return tensor;
  }
  Tensor first(Tensor tensor, Role role, bool back) const {
    if (!has(role, arch::Verb::tile_columns)) return tensor;
    return back ? untile_columns(tensor, heads_) : tile_columns(tensor, heads_);
  }

 private:
  bool has(Role role, arch::Verb verb) const { return arch::find_step(family_, role, verb) != nullptr; }

  const arch::Family& family_;
  const Config& config_;
  StateHeads heads_;
};

// The same with the sentence of a refusal in that of the adapter.
Tensor moved(const MovedFactors& factors, Tensor tensor, Role role, bool first, bool back) {
  const std::string name = tensor.name;
  try {
    return first ? factors.first(std::move(tensor), role, back) : factors.second(std::move(tensor), role, back);
  } catch (const Error& error) {
    throw refused_adapter(error.sentence()).about("tensor " + quote(name));
  }
}

// Orders the rows of matrix B like those of the weight.
Tensor with_rows_of(const Tensor& tensor, Role role, const arch::Family& family, const Config& config,
                    arch::QkOrder order) {
  if (arch::find_step(family, role, arch::Verb::pair_rows) == nullptr) return tensor;
  const auto heads = arch::rotated_heads(role, config);
  if (!heads)
    throw refused_adapter(tensor, "the number of heads, which determines the row order of q and k, is unknown");
  try {
    arch::HeadRows(family, config).check(tensor.shape.empty() ? 0 : tensor.shape[0], *heads);
    return arch::reorder_qk(tensor, *heads, order);
  } catch (const Error& error) {
    throw refused_adapter(tensor, error.sentence());
  }
}

// Verbs that make a weight something else than one matrix, so that it has no two factors in GGUF.
bool is_moved(const arch::Family& family, Role role) {
  using arch::Verb;
  constexpr Verb kMoves[] = {Verb::squeeze,    Verb::split_heads, Verb::part_heads,
                             Verb::halve_rows, Verb::deal_rows,   Verb::part_thirds};
  if (role >= Role::stacked_gate && role <= Role::stacked_gate_up) return true;
  return std::ranges::any_of(kMoves, [&](Verb verb) { return arch::find_step(family, role, verb) != nullptr; });
}

Tensor transposed(const Tensor& tensor) {
  const auto rows = static_cast<std::size_t>(tensor.shape[0]), columns = static_cast<std::size_t>(tensor.shape[1]);
  const std::vector<float> from = tensor.values<float>();
  std::vector<float> to(from.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  return cast(dense<float>(tensor.name, {columns, rows}, to), tensor.component("data")->dtype);
}

class AdapterAdopter {
 public:
  AdapterAdopter(Model& model, const resources::Adapter& facts, const arch::Family& family,
                 std::vector<Renamed>& renamed)
      : model_(model), facts_(facts), family_(family), renamed_(renamed), factors_(family, model) {}

  void run() {
    for (Tensor& tensor : model_.tensors) add(std::move(tensor));
    for (const auto& [name, parts] : parts_)
      if (parts != 3)
        throw Error(ErrorKind::corrupt, "lora.pair",
                    fmt::format("{} has matrix {} only", quote(name), parts == 1 ? "A" : "B"));
    model_.tensors = std::move(out_);
    model_.metadata.set(kTypeKey, "adapter");
    model_.metadata.set(kAdapterTypeKey, "lora");
    model_.metadata.set(kAlphaKey, decimal_double(f64_to_f32(alpha_.value_or(facts_.alpha))));
  }

  std::size_t reordered() const { return reordered_; }

 private:
  void add(Tensor tensor) {
    const resources::AdapterName part = resources::parse_adapter_name(tensor.name);
    const bool embedding = part.part == AdapterPart::embedding_a || part.part == AdapterPart::embedding_b;
    const bool first = part.part == AdapterPart::a || part.part == AdapterPart::embedding_a;
    if (!first && part.part != AdapterPart::b && part.part != AdapterPart::embedding_b)
      throw refused_adapter(tensor, "an adapter of llama.cpp holds pairs of matrices and nothing else");
    if (!is_matrix(tensor))
      throw refused_adapter(tensor,
                            fmt::format("expected a matrix, found {} of {}", tensor.layout, tensor.shape.text()));
    const TensorName name = parse(part.module, tensor);
    if (embedding != (name.role == Role::token_embedding))
      throw refused_adapter(tensor, embedding ? "a pair of this kind is for the token embedding only"
                                              : "for the token embedding, llama.cpp takes a lora_embedding pair only");
    const auto spelled = arch::spell(family_, Dialect::gguf, name);
    if (!spelled || name.expert || name.role == Role::stacked_gate_up ||
        arch::find_step(family_, name.role, arch::Verb::omit_copy) != nullptr)
      throw refused_adapter(tensor, fmt::format("llama.cpp has no matrix of its own for {}", quote(part.module)));
    if (is_moved(family_, name.role))
      throw refused_adapter(tensor, fmt::format("{} is several tensors in GGUF", quote(part.module)));
    if (first) settle_alpha(part.module, tensor);
    const std::string before = tensor.name;
    if (first && embedding) {
      tensor = transposed(tensor);
    } else if (!first) {
      const Blob old = tensor.components.front().blob;
      tensor = with_rows_of(tensor, name.role, family_, model_.config, arch::QkOrder::pairs);
      reordered_ += old.is_plain() != tensor.components.front().blob.is_plain() ? 1 : 0;
    }
    if (!embedding) tensor = moved(factors_, std::move(tensor), name.role, first, false);
    tensor.name = fmt::format("{}{}", *spelled, first ? kFirst : kSecond);
    unsigned& parts = parts_[*spelled];
    const unsigned bit = first ? 1 : 2;
    if ((parts & bit) != 0)
      throw Error(ErrorKind::corrupt, "lora.pair",
                  fmt::format("{} appears twice, in different spellings", quote(tensor.name)))
          .about("tensor " + quote(before));
    parts |= bit;
    renamed_.push_back({before, tensor.name});
    out_.push_back(std::move(tensor));
  }

  TensorName parse(const std::string& module, const Tensor& tensor) const {
    for (const std::string_view outer : {"", "model."})
      if (const auto name = arch::parse(family_, Dialect::hugging_face, fmt::format("{}{}{}", outer, module, kWeight)))
        return *name;
    throw refused_adapter(
        tensor, fmt::format("{} is not part of a {} model as llama.cpp knows it", quote(module), family_.name));
  }

  // llama.cpp scales every layer by alpha / rank. PEFT also has an alpha per layer, and alpha / sqrt(rank).
  void settle_alpha(const std::string& module, const Tensor& a) {
    const auto rank = static_cast<double>(a.shape[0]);
    const double alpha = facts_.alpha_for(module) * (facts_.rank_stabilised ? std::sqrt(rank) : 1);
    if (alpha_ && *alpha_ != alpha)
      throw refused_adapter(a,
                            fmt::format("alpha is {:g} for this layer and {:g} for others; an adapter of llama.cpp has "
                                        "one for all",
                                        alpha, *alpha_));
    if (!std::isfinite(f64_to_f32(alpha)) || alpha == 0)
      throw refused_adapter(a, fmt::format("alpha is {:g}, which llama.cpp does not take for a scale", alpha));
    alpha_ = alpha;
  }

  Model& model_;
  const resources::Adapter& facts_;
  const arch::Family& family_;
  std::vector<Renamed>& renamed_;
  MovedFactors factors_;
  std::vector<Tensor> out_;
  NameMap<unsigned> parts_;  // per weight: bit 1 for A, bit 2 for B
  std::optional<double> alpha_;
  std::size_t reordered_ = 0;
};

class AdapterReleaser {
 public:
  AdapterReleaser(Model& model, const arch::Family& family, std::vector<Renamed>& renamed)
      : model_(model), family_(family), renamed_(renamed), factors_(family, model) {}

  void run() {
    for (Tensor& tensor : model_.tensors) add(std::move(tensor));
    model_.tensors = std::move(out_);
    if (model_.attachment("adapter_config.json") == nullptr) attach_config();
    for (const std::string_view key :
         {kTypeKey, kAdapterTypeKey, kAlphaKey, kKeysKey, kAlignmentKey, std::string_view("general.file_type"),
          std::string_view("general.quantization_version")})
      model_.metadata.erase(key);
  }

 private:
  void add(Tensor tensor) {
    const bool first = tensor.name.ends_with(kFirst);
    if (!first && !tensor.name.ends_with(kSecond))
      throw refused_adapter(tensor, "the name ends in neither .lora_a nor .lora_b");
    if (!is_matrix(tensor))
      throw refused_adapter(tensor,
                            fmt::format("expected a matrix, found {} of {}", tensor.layout, tensor.shape.text()));
    const std::string_view weight = std::string_view(tensor.name).substr(0, tensor.name.size() - kFirst.size());
    auto name = arch::parse(family_, Dialect::gguf, weight);
    if (name) name->root = family_.root;
    const auto spelled = name ? arch::spell(family_, Dialect::hugging_face, *name) : std::nullopt;
    if (!spelled || !spelled->ends_with(kWeight))
      throw refused_adapter(
          tensor, fmt::format("what {} of a {} model is called elsewhere is not known", quote(weight), family_.name));
    const std::string module = spelled->substr(0, spelled->size() - kWeight.size());
    if (is_moved(family_, name->role))
      throw refused_adapter(tensor, fmt::format("{} is several tensors in GGUF", quote(module)));
    const bool embedding = name->role == Role::token_embedding;
    const std::string before = tensor.name;
    if (first && embedding) tensor = transposed(tensor);
    if (!first) tensor = with_rows_of(tensor, name->role, family_, model_.config, arch::QkOrder::halves);
    if (!embedding) tensor = moved(factors_, std::move(tensor), name->role, first, true);
    if (first) ranks_.emplace_back(module, tensor.shape[0]);
    tensor.name = embedding ? fmt::format("{}{}.lora_embedding_{}", kWrapper, module, first ? "A" : "B")
                            : fmt::format("{}{}.lora_{}.weight", kWrapper, module, first ? "A" : "B");
    renamed_.push_back({before, tensor.name});
    out_.push_back(std::move(tensor));
  }

  // Attaches the config that PEFT would write. Without alpha, llama.cpp's scale is 1, which is an alpha equal to the
  // rank.
  void attach_config() {
    const Value* const stated = model_.metadata.find(kAlphaKey);
    const double alpha = stated == nullptr ? 0 : resources::number_of(*stated).value_or(0);
    const std::uint64_t rank = ranks_.empty() ? 1 : ranks_.front().second;
    Map ranks, alphas;
    std::vector<std::string> ends;
    for (const auto& [module, own] : ranks_) {
      if (own != rank) ranks.append(module, static_cast<std::int64_t>(own));
      if (own != rank && alpha == 0) alphas.append(module, static_cast<std::int64_t>(own));
      ends.push_back(module.substr(module.rfind('.') + 1));
    }
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    List targets;
    for (std::string& end : ends) targets.emplace_back(std::move(end));
    Map config;
    config.append("alpha_pattern", std::move(alphas));
    config.append("lora_alpha", alpha == 0 ? static_cast<double>(rank) : alpha);
    config.append("peft_type", "LORA");
    config.append("r", static_cast<std::int64_t>(rank));
    config.append("rank_pattern", std::move(ranks));
    config.append("target_modules", std::move(targets));
    const std::string text = write_json(config, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
    model_.attachments.push_back({"adapter_config.json", Blob::memory(to_bytes(text))});
  }

  Model& model_;
  const arch::Family& family_;
  std::vector<Renamed>& renamed_;
  MovedFactors factors_;
  std::vector<Tensor> out_;
  std::vector<std::pair<std::string, std::uint64_t>> ranks_;
};

}  // namespace

bool is_adapter(const Model& model) {
  const Value *const type = model.metadata.find(kTypeKey), *const kind = model.metadata.find(kAdapterTypeKey);
  // The names must fit as well: these two keys alone do not turn a whole model into an adapter.
  const auto is_part = [](const Tensor& tensor) {
    return tensor.name.ends_with(".lora_a") || tensor.name.ends_with(".lora_b");
  };
  return type != nullptr && *type == Value("adapter") && kind != nullptr && *kind == Value("lora") &&
         std::ranges::all_of(model.tensors, is_part);
}

bool adopt_adapter(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) {
  if (is_adapter(model)) return true;
  const auto facts = resources::find_adapter(model);
  if (!facts || facts->layers == 0) return false;
  if (!facts->configured)
    throw refused_adapter("there is no adapter_config.json that states a peft_type: without it the scale is unknown");
  if (!facts->unmergeable.empty())
    throw refused_adapter(fmt::format("llama.cpp cannot apply the adapter: {}", facts->unmergeable));
  if (facts->weight_decomposed) throw refused_adapter("llama.cpp cannot apply DoRA; merge it into its model instead");
  const arch::Family* const family = model.config.model_type ? arch::find_family(*model.config.model_type) : nullptr;
  if (family == nullptr || family->gguf.empty())
    throw refused_adapter(fmt::format("{}: llama.cpp's names depend on the model that the adapter is for{}; {}",
                                      model.config.model_type
                                          ? fmt::format("a {} model is not known", quote(*model.config.model_type))
                                          : std::string("nothing states the architecture"),
                                      facts->base.empty() ? "" : fmt::format(" ({})", quote(facts->base)),
                                      "put a copy of that model's config.json next to adapter_config.json"));
  AdapterAdopter adopter(model, *facts, *family, renamed);
  adopter.run();
  changes.push_back(
      {.impact = Impact::detail,
       .detail = fmt::format("{} tensors are an adapter with llama.cpp's names, {} of them (B of q and k) "
                             "with its order of rows",
                             model.tensors.size(), adopter.reordered())});
  return true;
}

void release_adapter(Model& model, const arch::Family& family, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed) {
  AdapterReleaser(model, family, renamed).run();
  changes.push_back(
      {.impact = Impact::detail,
       .detail = fmt::format("{} tensors are an adapter with PEFT's names and order of rows", model.tensors.size())});
}

}  // namespace tare::gguf::llama_cpp
