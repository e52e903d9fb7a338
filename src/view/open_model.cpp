#include "view/open_model.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>

#include "arch/families.hpp"
#include "arch/names.hpp"
#include "arch/usual_names.hpp"
#include "base/printable.hpp"
#include "tare/codec.hpp"

namespace tare::view {
namespace {

std::string_view role_name(arch::Role role) {
  using arch::Role;
  switch (role) {
    case Role::token_embedding: return "embedding";
    case Role::position_embedding: return "positions";
    case Role::output_head: return "head";
    case Role::final_norm: return "final norm";
    case Role::rope_factors: return "rope";
    case Role::rope_factors_long: return "rope long";
    case Role::rope_factors_short: return "rope short";
    case Role::rope_inverse: return "rope inverse";
    case Role::attention_norm: return "attention norm";
    case Role::ffn_norm: return "ffn norm";
    case Role::post_attention_norm: return "post-attention norm";
    case Role::post_ffn_norm: return "post-ffn norm";
    case Role::q: return "q";
    case Role::k: return "k";
    case Role::v: return "v";
    case Role::o: return "o";
    case Role::qkv: return "qkv";
    case Role::q_norm: return "q norm";
    case Role::k_norm: return "k norm";
    case Role::gate: return "gate";
    case Role::up: return "up";
    case Role::down: return "down";
    case Role::gate_up: return "gate+up";
    case Role::router: return "router";
    case Role::router_bias: return "router bias";
    case Role::shared_router: return "shared router";
    case Role::expert_gate: return "experts gate";
    case Role::expert_up: return "experts up";
    case Role::expert_down: return "experts down";
    case Role::stacked_gate: return "experts gate";
    case Role::stacked_up: return "experts up";
    case Role::stacked_down: return "experts down";
    case Role::stacked_gate_up: return "experts gate+up";
    case Role::shared_gate: return "shared gate";
    case Role::shared_up: return "shared up";
    case Role::shared_down: return "shared down";
    case Role::q_compress: return "q compress";
    case Role::q_compress_norm: return "q compress norm";
    case Role::q_expand: return "q expand";
    case Role::kv_compress: return "kv compress";
    case Role::kv_compress_norm: return "kv compress norm";
    case Role::kv_expand: return "kv expand";
    case Role::k_expand: return "k expand";
    case Role::v_expand: return "v expand";
    case Role::next_join: return "next token join";
    case Role::next_token_norm:
    case Role::next_layer_norm:
    case Role::next_head_norm: return "next token norm";
    case Role::next_embedding: return "next token embedding";
    case Role::next_head: return "next token head";
    case Role::table_norm: return "embedding norm";
    case Role::sinks: return "sinks";
    case Role::stacked_gate_bias: return "experts gate bias";
    case Role::stacked_up_bias: return "experts up bias";
    case Role::stacked_down_bias: return "experts down bias";
    case Role::stacked_gate_up_bias: return "experts gate+up bias";
    case Role::convolution: return "convolution";
    case Role::convolution_in: return "convolution in";
    case Role::convolution_out: return "convolution out";
    case Role::attention_mask:
    case Role::attention_masked: return "mask";
    case Role::parallel_norm: return "attention and ffn norm";
    case Role::own_attention_norm: return "attention norm";
    case Role::own_ffn_norm: return "ffn norm";
    case Role::attention_gate: return "attention gate";
    case Role::index_q: return "index q";
    case Role::index_k: return "index k";
    case Role::index_k_norm: return "index k norm";
    case Role::index_weights: return "index weights";
    case Role::state_qkvz: return "state q+k+v+gate";
    case Role::state_qkv: return "state q+k+v";
    case Role::state_gate: return "state gate";
    case Role::state_step_and_share: return "state share+step";
    case Role::state_step: return "state step";
    case Role::state_share: return "state share";
    case Role::state_step_bias: return "state step bias";
    case Role::state_rate: return "state rate";
    case Role::state_norm: return "state norm";
    case Role::state_convolution: return "state convolution";
    case Role::state_out: return "state out";
    case Role::tower_patches:
    case Role::tower_second_patches:
    case Role::tower_frames: return "vision patches";
    case Role::tower_positions: return "vision positions";
    case Role::tower_class: return "vision class";
    case Role::tower_first_norm: return "vision first norm";
    case Role::tower_last_norm: return "vision last norm";
    case Role::tower_line_end: return "vision line end";
    case Role::tower_norm: return "vision attention norm";
    case Role::tower_ffn_norm: return "vision ffn norm";
    case Role::tower_q: return "vision q";
    case Role::tower_k: return "vision k";
    case Role::tower_v: return "vision v";
    case Role::tower_qkv: return "vision q+k+v";
    case Role::tower_q_norm: return "vision q norm";
    case Role::tower_k_norm: return "vision k norm";
    case Role::tower_o: return "vision out";
    case Role::tower_gate: return "vision gate";
    case Role::tower_up: return "vision up";
    case Role::tower_down: return "vision down";
    case Role::tower_scale: return "vision attention scale";
    case Role::tower_ffn_scale: return "vision ffn scale";
    case Role::tower_tap_norm: return "vision tap norm";
    case Role::tower_tap_in: return "vision tap in";
    case Role::tower_tap_out: return "vision tap out";
    case Role::projector_merger: return "projector merger";
    case Role::projector_norm: return "projector norm";
    case Role::projector_in: return "projector in";
    case Role::projector_out: return "projector out";
    case Role::state_in: return "state in";
    case Role::state_mix: return "state step+in+out";
    case Role::state_skip: return "state skip";
    case Role::token_types: return "token types";
    case Role::activation_negative:
    case Role::activation_positive:
    case Role::activation_slope:
    case Role::activation_epsilon: return "activation";
    case Role::shared_gate_up: return "shared gate+up";
    case Role::latent_down: return "latent down";
    case Role::latent_up: return "latent up";
    case Role::layer_table: return "layer embedding";
    case Role::layer_mix: return "layer embedding mix";
    case Role::layer_mix_norm: return "layer embedding norm";
    case Role::layer_gate: return "layer embedding gate";
    case Role::layer_out: return "layer embedding out";
    case Role::layer_norm_after: return "layer embedding norm";
    case Role::streams_in: return "streams in";
    case Role::stream_in: return "streams in";
    case Role::streams_out: return "streams out";
    case Role::stream_out: return "streams out";
    case Role::classifier: return "classifier";
    case Role::classifier_norm: return "classifier norm";
    case Role::classifier_out: return "classifier out";
    case Role::classifier_alone: return "classifier";
    case Role::layer_scale: return "layer scale";
    case Role::router_scale: return "router scale";
    case Role::expert_scale: return "experts scale";
    case Role::ffn_norm_of_experts: return "experts norm";
    case Role::post_ffn_norm_of_experts: return "post-experts norm";
    case Role::post_ffn_norm_of_plain: return "post-ffn norm";
    case Role::stream_correct: return "stream correction";
    case Role::stream_correct_scale: return "stream correction scale";
    case Role::stream_predict: return "stream prediction";
    case Role::stream_router: return "stream router";
    case Role::stream_router_norm: return "stream router norm";
    case Role::low_rank_down: return "low rank down";
    case Role::low_rank_up: return "low rank up";
    case Role::low_rank_norm: return "low rank norm";
    case Role::relative_bias: return "relative bias";
    case Role::cross_norm: return "cross-attention norm";
    case Role::cross_q: return "cross q";
    case Role::cross_k: return "cross k";
    case Role::cross_v: return "cross v";
    case Role::cross_o: return "cross o";
    case Role::decoder_final_norm: return "decoder final norm";
    case Role::decoder_norm: return "decoder attention norm";
    case Role::decoder_q: return "decoder q";
    case Role::decoder_k: return "decoder k";
    case Role::decoder_v: return "decoder v";
    case Role::decoder_o: return "decoder o";
    case Role::decoder_relative_bias: return "decoder relative bias";
    case Role::decoder_ffn_norm: return "decoder ffn norm";
    case Role::decoder_gate: return "decoder gate";
    case Role::decoder_up: return "decoder up";
    case Role::gated_up: return "up";
    case Role::decoder_gated_up: return "decoder up";
    case Role::decoder_down: return "decoder down";
    case Role::other: break;
  }
  return "other";
}

// Tries all families and dialects only for the first name; then tries first the one that recognised the last name.
class Namer {
 public:
  explicit Namer(const arch::Family* family) : family_(family) {}

  std::optional<arch::TensorName> parse(std::string_view name) {
    if (known_ != nullptr)
      if (auto found = arch::parse(*known_, dialect_, name)) return found;
    if (misses_ > kMostMisses) return std::nullopt;
    if (family_ != nullptr) {
      if (auto found = search(*family_, name)) return found;
    } else {
      if (const auto found = arch::recognize(name)) {
        known_ = found->family;
        dialect_ = found->dialect;
        return found->name;
      }
    }
    ++misses_;
    return std::nullopt;
  }

 private:
  static constexpr int kMostMisses = 2000;

  std::optional<arch::TensorName> search(const arch::Family& family, std::string_view name) {
    for (const arch::Dialect dialect : arch::kDialects)
      if (auto found = arch::parse(family, dialect, name)) {
        known_ = &family;
        dialect_ = dialect;
        return found;
      }
    return std::nullopt;
  }

  const arch::Family* family_;
  const arch::Family* known_ = nullptr;
  arch::Dialect dialect_ = arch::Dialect::hugging_face;
  int misses_ = 0;
};

std::optional<std::int32_t> small_number(std::string_view text) {
  std::int32_t value = 0;
  if (text.empty() || text.size() > 6) return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// Numbers the distinct strings.
class Table {
 public:
  explicit Table(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t of(std::string_view name) {
    const auto found = places_.find(name);
    if (found != places_.end()) return found->second;
    names_.emplace_back(name);
    return places_.emplace(std::string(name), static_cast<std::uint32_t>(names_.size() - 1)).first->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t, std::less<>> places_;
};

}  // namespace

Place place_by_numbers(std::string_view name) {
  Place place;
  for (const std::string_view suffix : {".weight"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, end);
    name = name.substr(std::min(end + 1, name.size()));
    const auto number = small_number(part);
    if (number && place.layer < 0) {
      place.layer = *number;
      place.role.clear();  // the part before the layer is the same for all layers
    } else if (number && place.expert < 0 && place.layer >= 0) {
      place.expert = *number;
    } else {
      place.role += place.role.empty() ? "" : ".";
      place.role += part;
    }
  }
  return place;
}

std::string short_name(std::string_view name, std::size_t most) {
  if (name.size() <= most) return one_line(name);
  const std::size_t half = most / 2;
  return one_line(name.substr(0, half)) + "..." + one_line(name.substr(name.size() - half));
}

std::string_view beginning_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto goes_on = [&] { return (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U; };
  for (int i = 0; i < 3 && most > 0 && goes_on(); ++i) --most;
  return text.substr(0, most);
}

OpenModel::OpenModel(std::string path, const ReadOptions& options) : OpenModel(path, open(path, options), options) {}

OpenModel::OpenModel(std::string path, Model model, const ReadOptions& options)
    : path_(std::move(path)), options_(options), model_(std::move(model)) {
  if (model_.sources.empty() && !model_.tensors.empty() && model_.tensors[0].components.size() > 0) {
    const SourcePtr& source = model_.tensors[0].components[0].blob.source();
    if (source != nullptr) model_.sources.push_back(source);
  }
  describe();
  place();
  locate();
}

std::string OpenModel::name() const {
  const std::size_t slash = path_.find_last_of('/', path_.size() > 1 ? path_.size() - 2 : 0);
  return one_line(slash == std::string::npos ? path_ : path_.substr(slash + 1));
}

std::string OpenModel::shown_name(std::size_t tensor) const { return short_name(model_.tensors[tensor].name); }

void OpenModel::describe() {
  Table types(types_);
  items_.resize(model_.tensors.size());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Tensor& tensor = model_.tensors[i];
    Item& item = items_[i];
    item.type = types.of(short_name(dtype_name(tensor), 60));
    item.elements = tensor.shape.elements().value_or(0);
    item.stored = tensor.stored_bytes();
    item.bits = item.elements == 0 ? 0 : static_cast<double>(item.stored) * 8 / static_cast<double>(item.elements);
  }
  by_name_.resize(items_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0U);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return model_.tensors[a].name < model_.tensors[b].name; });
}

void OpenModel::place() {
  const arch::Family* family = nullptr;
  if (model_.config.model_type) family = arch::find_family_by_any_name(*model_.config.model_type);
  family_ = family != nullptr ? std::string(family->name) : model_.config.model_type.value_or("");
  Namer namer(family);
  Table roles(roles_);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const std::string_view name = model_.tensors[i].name;
    Item& item = items_[i];
    if (const auto known = namer.parse(name); known && known->role != arch::Role::other) {
      item.layer = known->layer ? static_cast<std::int32_t>(std::min<std::uint32_t>(*known->layer, 999999)) : -1;
      item.expert = known->expert ? static_cast<std::int32_t>(std::min<std::uint32_t>(*known->expert, 999999)) : -1;
      item.role = roles.of(known->suffix == arch::Suffix::bias ? std::string(role_name(known->role)) + " bias"
                                                               : std::string(role_name(known->role)));
      continue;
    }
    Place guessed = place_by_numbers(name.substr(0, 512));
    if (guessed.layer < 0 && arch::is_embedding(name)) guessed.role = "embedding";
    if (guessed.layer < 0 && arch::is_head(name)) guessed.role = "head";
    item.layer = guessed.layer;
    item.expert = guessed.expert;
    item.role = roles.of(short_name(guessed.role, 60));
  }
}

void OpenModel::locate() {
  std::map<const Source*, std::uint32_t> numbers;
  const auto file_of = [&](const SourcePtr& source) {
    const auto [found, is_new] = numbers.emplace(source.get(), static_cast<std::uint32_t>(files_.size()));
    if (is_new) {
      const std::string& name = source->name();
      const std::size_t slash = name.find_last_of('/');
      files_.push_back({one_line(slash == std::string::npos ? name : name.substr(slash + 1)), source->size()});
    }
    return found->second;
  };
  for (const SourcePtr& source : model_.sources) file_of(source);
  for (std::size_t i = 0; i < model_.tensors.size(); ++i)
    for (const Component& component : model_.tensors[i].components)
      if (const Blob& blob = component.blob; blob.source() != nullptr)
        segments_.push_back({file_of(blob.source()), static_cast<std::int64_t>(i), -1, blob.offset(),
                             blob.stored_size(), component.role});
  for (std::size_t i = 0; i < model_.attachments.size(); ++i)
    if (const Blob& blob = model_.attachments[i].blob; blob.source() != nullptr)
      segments_.push_back(
          {file_of(blob.source()), -1, static_cast<std::int64_t>(i), blob.offset(), blob.stored_size(), {}});
  std::sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) {
    return std::tie(a.file, a.offset, a.tensor) < std::tie(b.file, b.offset, b.tensor);
  });
}

void OpenModel::check() const {
  model_.check_sources();
  for (const SourcePtr& source : model_.sources) {
    if (source->descriptor() < 0) continue;
    struct stat open_file {
    }, named{};
    if (::fstat(source->descriptor(), &open_file) != 0) continue;
    if (::stat(source->name().c_str(), &named) != 0)
      throw Error(ErrorKind::io, "view.vanished", "the file no longer exists").in(source->name());
    if (named.st_dev != open_file.st_dev || named.st_ino != open_file.st_ino)
      throw Error(ErrorKind::io, "view.replaced", "another file has taken the place of the one that is shown")
          .in(source->name());
  }
}

}  // namespace tare::view
