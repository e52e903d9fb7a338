#include "tare/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "arch/families.hpp"
#include "arch/usual_names.hpp"
#include "base/half.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "codecs/packs/pack.hpp"
#include "codecs/packs/stored.hpp"
#include "convert/merged_blob.hpp"
#include "convert/steps/statements.hpp"
#include "resources/adapter.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

using resources::Adapter;
using resources::AdapterName;
using resources::AdapterPart;

// The adapter's tensors for one layer.
struct Layer {
  std::string module;  // PEFT's name
  std::string target;  // the model's name
  const Tensor* parts[static_cast<std::size_t>(AdapterPart::whole)] = {};

  const Tensor*& at(AdapterPart part) { return parts[static_cast<std::size_t>(part)]; }
  const Tensor* at(AdapterPart part) const { return parts[static_cast<std::size_t>(part)]; }
  bool embedding() const { return at(AdapterPart::embedding_a) != nullptr || at(AdapterPart::embedding_b) != nullptr; }
};

Error unfit(std::string_view rule, const Tensor& tensor, const std::string& sentence) {
  return Error(ErrorKind::corrupt, rule, sentence).about("tensor " + quote(tensor.name));
}

// Requires a dense tensor of floats that f32 can hold.
void require_floats(const Tensor& tensor) {
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data == nullptr || !data->type.empty() || !cast_is_lossless(data->dtype, data->type, DType::f32) ||
      !is_float(data->dtype))
    throw unfit("lora.type", tensor, fmt::format("expected f32, f16 or bf16, found {}", dtype_name(tensor)));
}

class Merging {
 public:
  Merging(Model& model, const Model& adapter, std::vector<Change>& changes)
      : model_(model), adapter_(adapter), changes_(changes) {}

  void run() {
    read_adapter();
    refuse_tied();
    decode_packed();
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) places_.emplace(model_.tensors[i].name, i);
    follow_model();
    for (const auto& [name, tensor] : whole_) replace(name, *tensor);  // first: a product may be added to one of these
    find_orientation();
    for (const Layer& layer : layers_) merge(layer);
    model_.sources.insert(model_.sources.end(), adapter_.sources.begin(), adapter_.sources.end());
    report_decoded();
    changes_.push_back({.impact = Impact::changed, .detail = fmt::format("{} merged", facts_.text())});
  }

 private:
  void read_adapter() {
    adapter_.refuse_broken();
    auto facts = resources::find_adapter(adapter_);
    if (!facts)
      throw Error(
          ErrorKind::unsupported, "lora.config",
          "this is not an adapter: it has neither an adapter_config.json that states a peft_type nor tensors of "
          "one");
    if (!facts->configured)
      throw Error(
          ErrorKind::not_found, "lora.config",
          "there is no adapter_config.json that states a peft_type, neither in the directory nor next to the file; "
          "without it the scale is unknown");
    facts_ = std::move(*facts);
    if (!facts_.unmergeable.empty())
      throw Error(ErrorKind::unsupported, "lora.method",
                  fmt::format("the adapter cannot be merged: {}", facts_.unmergeable));
    NameMap<std::size_t> known;
    for (const Tensor& tensor : adapter_.tensors) {
      const AdapterName name = resources::parse_adapter_name(tensor.name);
      if (name.part == AdapterPart::unknown)
        throw unfit("lora.tensor", tensor, "this is not a part of a LoRA adapter that Tare knows");
      if (name.part == AdapterPart::whole) {
        whole_.emplace_back(name.module, &tensor);
        continue;
      }
      const auto [place, is_new] = known.emplace(name.module, layers_.size());
      if (is_new) layers_.push_back({.module = name.module, .target = name.module});
      const Tensor*& part = layers_[place->second].at(name.part);
      if (part != nullptr)
        throw unfit("lora.pair", tensor,
                    fmt::format("the layer has {} as well, which is the same part", quote(part->name)));
      require_floats(tensor);
      part = &tensor;
    }
    if (layers_.empty() && whole_.empty()) throw Error(ErrorKind::corrupt, "lora.tensor", "the adapter has no tensors");
  }

  // The embedding and the head of a tied model are one matrix. A change to one of them would change both, as it does
  // when PEFT merges it, or be lost when the model is loaded.
  void refuse_tied() {
    const Tensor *table = nullptr, *head = nullptr;
    const auto look = [&](const std::string& name, const Tensor* tensor) {
      if (arch::is_embedding(name)) table = tensor;
      if (arch::is_head(name)) head = tensor;
    };
    for (const Layer& layer : layers_)
      for (const Tensor* const part : layer.parts)
        if (part != nullptr) look(layer.module + ".weight", part);
    if (table == nullptr && head == nullptr && whole_.empty()) return;
    const bool products = table != nullptr || head != nullptr;
    for (const auto& [name, tensor] : whole_) look(name, tensor);
    const Tensor* const changed = head != nullptr ? head : table;
    if (changed == nullptr || !is_tied(head != nullptr, *changed)) return;
    if (!products && table != nullptr && head != nullptr && are_equal(*table, *head)) {
      // Keep one matrix for both.
      if (arch::ties_embeddings(model_) == true)
        std::erase_if(whole_, [&](const auto& entry) { return entry.second == head; });
      return;
    }
    throw unfit("lora.tied", *changed,
                fmt::format("it changes the {} of a model whose embedding and head are one matrix "
                            "(tie_word_embeddings), so that {}; save the model with a matrix for each and "
                            "tie_word_embeddings false, and merge into that",
                            head == nullptr ? "embedding" : "head",
                            head == nullptr ? "the head would change with it" : "the embedding would change with it"));
  }

  // `changed`: a tensor of the adapter that is for the embedding or the head.
  bool is_tied(bool head_changes, const Tensor& changed) const {
    if (model_.config.tie_word_embeddings) return *model_.config.tie_word_embeddings;
    const auto said = resources::text_model(model_);
    if (said && said->tied) return *said->tied;
    // Without a statement, Hugging Face's libraries tie a model that has no head of its own; encoders have no use for a
    // head.
    if (arch::ties_embeddings(model_) != true) return false;
    if (head_changes || (said && said->generates)) return true;
    // There is no config.json, as in a file for one runtime: all known families are text models.
    if (!said && model_.config.model_type && arch::find_family(*model_.config.model_type) != nullptr) return true;
    if (!said && model_.config.empty())
      throw unfit("lora.tied", changed,
                  "it changes the embedding of a model that has no matrix for a head, and there is no config.json that "
                  "says whether they are one matrix; put the model's config.json next to its weights");
    return false;
  }

  static bool are_equal(const Tensor& a, const Tensor& b) {
    const Component *const x = a.component("data"), *const y = b.component("data");
    if (a.shape != b.shape || x == nullptr || y == nullptr || x->type_name() != y->type_name()) return false;
    const std::uint64_t size = x->blob.size();
    if (size != y->blob.size()) return false;
    constexpr std::uint64_t kPart = 1 << 20;
    const auto left = x->blob.open(), right = y->blob.open();
    Bytes one(static_cast<std::size_t>(std::min(kPart, size))), other(one.size());
    for (std::uint64_t at = 0; at < size; at += kPart) {
      const auto part = static_cast<std::size_t>(std::min(kPart, size - at));
      left->read(std::span(one).first(part));
      right->read(std::span(other).first(part));
      if (!std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(part), other.begin())) return false;
    }
    return true;
  }

  // Decodes all packed weights: no program loads a model with some layers packed and others not.
  void decode_packed() {
    if (!codec::packs::has_joined(model_)) return;
    Change decoded{.kind = ChangeKind::decoded, .impact = Impact::changed, .after = std::string(name_of(DType::f32))};
    for (Tensor& tensor : model_.tensors) {
      if (!codec::packs::is_joined(tensor)) continue;
      decoded.before = tensor.layout;
      decoded.items.push_back(tensor.name);
      tensor = codec::packs::decode_strictly(tensor);
    }
    changes_.push_back(std::move(decoded));
    forget_packing(model_, changes_);
  }

  // Returns the model's tensor of this name, with or without the outer "model."; null if there is none.
  Tensor* find_target(const std::string& name) {
    constexpr std::string_view kOuter = "model.";
    const std::string inner = name.starts_with(kOuter) ? name.substr(kOuter.size()) : name;
    for (const std::string& candidate : {name, std::string(kOuter) + name, inner})
      if (const auto place = places_.find(candidate); place != places_.end()) return &model_.tensors[place->second];
    return nullptr;
  }

  // A model that follows the conventions of a container's programs has other names and another row order. The adapter
  // is small, so it is converted to the model's conventions, and the model keeps its own.
  void follow_model() {
    const bool known =
        std::ranges::any_of(layers_, [&](const Layer& layer) { return find_target(layer.target + ".weight"); }) ||
        std::ranges::any_of(whole_, [&](const auto& entry) { return find_target(entry.first); });
    if (known) return;
    for (const Format& format : formats())
      if (format.adopt != nullptr && follow(format)) return;
  }

  // Returns false if the model does not follow these conventions.
  bool follow(const Format& format) {
    Model pairs, whole;
    pairs.config = whole.config = model_.config;
    // One alpha for all: the product is scaled by the adapter's own numbers later.
    constexpr std::string_view kConfig = R"({"peft_type": "LORA", "lora_alpha": 1})";
    pairs.attachments.push_back({"adapter_config.json", Blob::memory(to_bytes(kConfig))});
    for (const Layer& layer : layers_)
      for (const AdapterPart part : kPairs)
        if (layer.at(part) != nullptr) pairs.tensors.push_back(*layer.at(part));
    for (const auto& [name, tensor] : whole_) {
      whole.tensors.push_back(*tensor);
      whole.tensors.back().name = name;
    }
    NameMap<std::string> names;
    try {
      std::vector<Change> ignored;
      std::vector<Renamed> renamed;
      if (!pairs.tensors.empty()) format.adopt(pairs, ignored, renamed);
      if (!whole.tensors.empty()) format.adopt(whole, ignored, renamed);
      for (const Renamed& one : renamed) names.emplace(one.before, one.after);
    } catch (const Error& error) {
      if (model_.format == format.name) throw;
      return false;  // the caller then reports that no tensor fits
    }
    for (const Layer& layer : layers_) {
      const auto found = names.find(first_of(layer)->name);
      if (found == names.end() ||
          find_target(resources::parse_adapter_name(found->second).module + ".weight") == nullptr)
        return false;
    }
    if (layers_.empty() && std::ranges::none_of(whole.tensors, [&](const Tensor& t) { return find_target(t.name); }))
      return false;
    followed_ = std::move(pairs);
    followed_whole_ = std::move(whole);
    for (Layer& layer : layers_) {
      if (layer.at(AdapterPart::magnitude) != nullptr || layer.at(AdapterPart::b_bias) != nullptr)
        throw unfit(
            "lora.method", *first_of(layer),
            "DoRA and biases are merged into a model that has the names of PEFT; convert the model into a directory "
            "first");
      layer.target = resources::parse_adapter_name(names.find(first_of(layer)->name)->second).module;
      if (const Tensor* const b = layer.at(AdapterPart::b))
        layer.at(AdapterPart::b) = followed_.tensor(names.find(b->name)->second);
    }
    whole_.clear();
    for (const Tensor& tensor : followed_whole_.tensors) whole_.emplace_back(tensor.name, &tensor);
    return true;
  }

  static constexpr AdapterPart kPairs[] = {AdapterPart::a, AdapterPart::b, AdapterPart::embedding_a,
                                           AdapterPart::embedding_b};
  static const Tensor* first_of(const Layer& layer) {
    for (const AdapterPart part : kPairs)
      if (layer.at(part) != nullptr) return layer.at(part);
    throw Error(ErrorKind::corrupt, "lora.pair", fmt::format("the layer {} has no matrix A", quote(layer.module)));
  }

  Tensor& target(const std::string& name, const Tensor& asked_by) {
    if (Tensor* const found = find_target(name)) return *found;
    throw unfit("lora.target", asked_by,
                fmt::format("it is for {}, which the model does not have; is it the model that the adapter was made "
                            "for{}?",
                            quote(name), facts_.base.empty() ? "" : fmt::format(" ({})", quote(facts_.base))));
  }

  static const Tensor& require_part(const Layer& layer, AdapterPart part, std::string_view what, const Tensor* other) {
    if (layer.at(part) != nullptr) return *layer.at(part);
    const Error error(ErrorKind::corrupt, "lora.pair",
                      fmt::format("the layer {} has no {}", quote(layer.module), what));
    throw other == nullptr ? error : Error(error).about("tensor " + quote(other->name));
  }

  // The two matrices of a layer: [rank, in] and [out, rank]. Those of convolutions have more dimensions.
  struct Pair {
    const Tensor &a, &b;
    std::uint64_t rank, in, out;
  };
  Pair pair_of(const Layer& layer) const {
    const AdapterPart first = layer.embedding() ? AdapterPart::embedding_a : AdapterPart::a;
    const AdapterPart second = layer.embedding() ? AdapterPart::embedding_b : AdapterPart::b;
    if (layer.embedding() && (layer.at(AdapterPart::a) != nullptr || layer.at(AdapterPart::b) != nullptr))
      throw Error(ErrorKind::corrupt, "lora.pair",
                  fmt::format("the layer {} has matrices of both kinds", quote(layer.module)));
    const Tensor& a = require_part(layer, first, "matrix A", layer.at(second));
    const Tensor& b = require_part(layer, second, "matrix B", &a);
    const auto all_a = a.shape.elements(), all_b = b.shape.elements();
    if (a.shape.rank() < 2 || b.shape.rank() < 2 || !all_a || !all_b || *all_a == 0 || *all_b == 0)
      throw unfit("lora.shape", a, fmt::format("{} and {} are not two matrices", a.shape.text(), b.shape.text()));
    const std::uint64_t rank = a.shape[0], out = b.shape[0];
    if (*all_b / out != rank)
      throw unfit("lora.rank", b,
                  fmt::format("the shape is {}, that of the other matrix is {}; expected the same rank", b.shape.text(),
                              a.shape.text()));
    return {a, b, rank, *all_a / rank, out};
  }

  float scale_of(const Layer& layer, const Pair& pair) const {
    const auto rank = static_cast<double>(pair.rank);
    double stated = facts_.rank_stated ? static_cast<double>(*facts_.rank) : rank;
    try {
      stated = facts_.rank_pattern.number_for(layer.module).value_or(stated);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      stated = rank;  // the pattern cannot be evaluated; the matrices have the rank
    }
    if (stated != rank)
      throw unfit("lora.rank", pair.a,
                  fmt::format("the config states rank {} for it, its shape is {}", stated, pair.a.shape.text()));
    const double alpha = facts_.alpha_for(layer.module);
    const auto scale = f64_to_f32(alpha / (facts_.rank_stabilised ? std::sqrt(rank) : rank));
    if (!std::isfinite(scale))
      throw unfit("lora.config", pair.a,
                  fmt::format("lora_alpha is {:g}, which over rank {} is not a number that f32 holds", alpha, rank));
    return scale;
  }

  static bool is_plain(const Shape& weight, const Pair& pair) {
    return weight.rank() >= 2 && weight[0] == pair.out && weight.elements() == pair.out * pair.in;
  }
  static bool is_turned(const Shape& weight, const Pair& pair) {
    return weight.rank() == 2 && weight[0] == pair.in && weight[1] == pair.out;
  }

  // Some models store their weights as [in, out] (GPT-2). Shapes show it, except for square ones: those follow the
  // others.
  void find_orientation() {
    bool plain = false, turned = false;
    for (const Layer& layer : layers_) {
      if (layer.embedding()) continue;
      const Pair pair = pair_of(layer);
      if (pair.in == pair.out) continue;
      const Shape& weight = target(layer.target + ".weight", pair.a).shape;
      plain = plain || is_plain(weight, pair);
      turned = turned || is_turned(weight, pair);
    }
    squares_turned_ = plain != turned ? turned : facts_.fan_in_fan_out;
  }

  void merge(const Layer& layer) {
    if (layer.at(AdapterPart::a) == nullptr && layer.at(AdapterPart::b) == nullptr && !layer.embedding())
      require_part(layer, AdapterPart::a, "matrix A", layer.at(AdapterPart::magnitude));
    const Pair pair = pair_of(layer);
    Tensor& weight = target(layer.target + ".weight", pair.a);
    const bool either = is_plain(weight.shape, pair) && is_turned(weight.shape, pair);
    const bool turned = layer.embedding() || (either ? squares_turned_ : is_turned(weight.shape, pair));
    if (turned ? !is_turned(weight.shape, pair) : !is_plain(weight.shape, pair))
      throw unfit("lora.shape", pair.a,
                  fmt::format("matrices of {} and {} do not fit {}, whose shape is {}", pair.b.shape.text(),
                              pair.a.shape.text(), quote(weight.name), weight.shape.text()));
    spend_products(layer, pair);
    const float scale = scale_of(layer, pair);
    LowRank added{.left = turned ? pair.a : pair.b,
                  .right = turned ? pair.b : pair.a,
                  .transposed = turned,
                  .rows = turned ? pair.in : pair.out,
                  .columns = turned ? pair.out : pair.in,
                  .rank = pair.rank,
                  .scale = scale};
    if (const Tensor* const lengths = layer.at(AdapterPart::magnitude)) {
      if (turned || weight.shape.rank() != 2)
        throw unfit("lora.method", *lengths,
                    "DoRA is merged into layers whose weights are [out, in], and into no others");
      if (lengths->shape.elements() != pair.out)
        throw unfit("lora.shape", *lengths,
                    fmt::format("the shape is {}; expected {} lengths", lengths->shape.text(), pair.out));
      added.lengths = *lengths;
    } else if (facts_.weight_decomposed) {
      throw unfit("lora.pair", pair.a, "the config states DoRA, and the layer has no magnitudes");
    }
    add(weight, std::move(added));
    if (const Tensor* const bias = layer.at(AdapterPart::b_bias)) add_bias(layer, *bias, scale);
  }

  // Layers may share their bytes, so that the number of products is bounded by nothing but the shapes. For files of B
  // bytes in all whose layers share nothing, it is largest with one square matrix: with weights of 0.195 bytes (the
  // smallest blocks) and adapters of two bytes a number, 0.22 times B to the power of 1.5. Twice that is allowed, for
  // files that are compressed. A model that was made in memory has no files, and no limit.
  void spend_products(const Layer& layer, const Pair& pair) {
    constexpr double kFree = 0x1p28;
    if (model_.file_bytes == 0 || adapter_.file_bytes == 0) return;
    const double bytes = static_cast<double>(model_.file_bytes) + static_cast<double>(adapter_.file_bytes);
    const double most = kFree + 0.5 * bytes * std::sqrt(bytes);
    products_ += static_cast<double>(pair.rank) * static_cast<double>(pair.in) * static_cast<double>(pair.out);
    if (products_ <= most) return;
    throw Error(
        ErrorKind::limit, "lora.products",
        fmt::format("up to the layer {}, merging takes {:.0f} products; files of {:.0f} bytes may ask for {:.0f}",
                    quote(layer.module), products_, bytes, most));
  }

  void add_bias(const Layer& layer, const Tensor& bias, float scale) {
    Tensor& target_bias = target(layer.target + ".bias", bias);
    if (bias.shape.elements() != target_bias.shape.elements() || bias.shape.rank() != 1)
      throw unfit("lora.shape", bias,
                  fmt::format("the shape is {}, that of {} is {}", bias.shape.text(), quote(target_bias.name),
                              target_bias.shape.text()));
    const std::uint64_t rows = bias.shape[0];
    add(target_bias, {.left = bias,
                      .right = dense("one", Shape{1, 1}, std::vector<float>{1.0f}),
                      .rows = rows,
                      .columns = 1,
                      .rank = 1,
                      .scale = scale});
  }

  // The result has the weight's own type, or f32 if the weight was quantized.
  void add(Tensor& weight, LowRank added) {
    if (!weight.is_dense()) {
      decoded_[weight.layout].push_back(weight.name);
      weight = to_dense(weight);
    }
    require_floats(weight);
    const DType type = weight.component("data")->dtype;
    weight = cast(add_low_rank(weight, std::move(added)), type);
  }

  void report_decoded() {
    for (auto& [layout, names] : decoded_)
      changes_.push_back({.kind = ChangeKind::decoded,
                          .impact = Impact::changed,
                          .items = std::move(names),
                          .before = layout,
                          .after = std::string(name_of(DType::f32))});
    if (decoded_.empty()) return;
    for (const Format& format : formats())
      if (format.retyped != nullptr) format.retyped(model_, format.name == model_.format, {});
  }

  void replace(const std::string& name, const Tensor& with) {
    Tensor& old = target(name, with);
    if (old.shape != with.shape)
      throw unfit("lora.shape", with,
                  fmt::format("it takes the place of {}, whose shape is {}; this is {}{}", quote(old.name),
                              old.shape.text(), with.shape.text(),
                              is_resized(old.shape, with.shape)
                                  ? ". The adapter was made for a model of another number of tokens: resize the "
                                    "model's embedding and head first, as PEFT asks, and merge into that"
                                  : ""));
    std::string kept = std::move(old.name);
    old = with;
    old.name = std::move(kept);
  }

  static bool is_resized(const Shape& old, const Shape& with) {
    return old.rank() == 2 && with.rank() == 2 && old[1] == with[1] && old[0] != with[0];
  }

  Model& model_;
  const Model& adapter_;
  std::vector<Change>& changes_;
  Adapter facts_;
  std::vector<Layer> layers_;
  std::vector<std::pair<std::string, const Tensor*>> whole_;
  NameMap<std::size_t> places_;
  Model followed_, followed_whole_;                          // the adapter with the model's names and row order
  std::map<std::string, std::vector<std::string>> decoded_;  // names by layout
  double products_ = 0;                                      // rows times columns times rank, of the layers so far
  bool squares_turned_ = false;
};

}  // namespace

namespace {

// Converts an adapter in the conventions of a container's programs to PEFT's names and row order. `config` is that of
// its model and has the number of heads.
Model in_usual_form(Model adapter, const Config& config) {
  const auto facts = resources::find_adapter(adapter);
  if (!facts || facts->layers == 0) return adapter;
  if (config.model_type) adapter.config = config;
  std::vector<Change> ignored;
  std::vector<Renamed> renamed;
  for (const Format& format : formats())
    if (format.release != nullptr) format.release(adapter, ignored, renamed);
  return adapter;
}

}  // namespace

Model merge_adapter(Model model, const Model& adapter, std::vector<Change>& changes) {
  model.refuse_broken();
  const Model usual = in_usual_form(adapter, model.config);
  Merging(model, usual, changes).run();
  forget_quality(model, {}, changes);
  return model;
}

}  // namespace tare
