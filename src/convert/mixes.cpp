// The mixes of llama.cpp's quantizer: what a tensor is for, and where in the model it is, decide how many bits it gets.
#include <algorithm>
#include <charconv>
#include <optional>

#include "arch/names.hpp"
#include "arch/roles.hpp"
#include "convert/recipe.hpp"

namespace tare {
namespace {

using arch::Role;

// Which layers of a role get more.
enum class More : std::uint8_t {
  none,
  all,
  first_2,
  first_4,
  first_16th,  // of the layers
  first_8th,
  spread,  // the first and the last eighth, and every third between them
};

struct Extra {
  More where = More::none;
  std::string_view method = {};     // there
  std::string_view elsewhere = {};  // in other layers; empty: the base
};

struct Recipe {
  Mix mix;
  std::string_view base;
  Extra v, o, down;
};

constexpr Recipe kRecipes[] = {
    {{"q2_k", "2 bits, 3 where they matter"}, "q2_k", {More::all, "q3_k"}, {More::all, "q3_k"}, {More::all, "q3_k"}},
    {{"q3_k_s", "3 bits"}, "q3_k", {}, {}, {}},
    {{"q3_k_m", "3 bits, 4 and 5 where they matter"},
     "q3_k",
     {More::first_2, "q5_k", "q4_k"},
     {More::all, "q4_k"},
     {More::first_16th, "q5_k", "q4_k"}},
    {{"q3_k_l", "3 bits, 5 where they matter"}, "q3_k", {More::all, "q5_k"}, {More::all, "q5_k"}, {More::all, "q5_k"}},
    {{"q4_k_s", "4 bits, 5 in the first layers"}, "q4_k", {More::first_4, "q5_k"}, {}, {More::first_8th, "q5_k"}},
    {{"q4_k_m", "4 bits, 6 where they matter"}, "q4_k", {More::spread, "q6_k"}, {}, {More::spread, "q6_k"}},
    {{"q5_k_s", "5 bits"}, "q5_k", {}, {}, {}},
    {{"q5_k_m", "5 bits, 6 where they matter"}, "q5_k", {More::spread, "q6_k"}, {}, {More::spread, "q6_k"}},
};

constexpr auto kMixes = [] {
  std::array<Mix, std::size(kRecipes)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kRecipes[i].mix;
  return all;
}();

bool gets_more(More where, std::uint64_t layer, std::uint64_t layers) {
  switch (where) {
    case More::none: return false;
    case More::all: return true;
    case More::first_2: return layer < 2;
    case More::first_4: return layer < 4;
    case More::first_16th: return layer < layers / 16;
    case More::first_8th: return layer < layers / 8;
    case More::spread: return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
  }
  return false;
}

// The number behind "blk." or "layers.".
std::optional<std::uint64_t> layer_in(std::string_view name) {
  for (const std::string_view word : {"blk.", "layers."}) {
    const std::size_t at = name.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view digits = name.substr(at + word.size());
    std::uint64_t number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

bool is_called_weight(const Tensor& tensor) { return tensor.name.ends_with("weight"); }

// Tensors that a mix leaves alone though they are matrices.
bool is_left_alone(Role role, const Tensor& tensor) {
  return tensor.shape.rank() < 2 || arch::is_norm(role) || role == Role::router || role == Role::shared_router ||
         role == Role::position_embedding;
}

class Mixer {
 public:
  Mixer(const Recipe& recipe, const std::vector<Tensor>& tensors, const Config& config) : recipe_(recipe) {
    const std::int64_t heads = config.num_attention_heads.value_or(0),
                       shared = config.num_key_value_heads.value_or(heads);
    sharing_ = shared > 0 ? heads / shared : 1;
    has_weights_ = std::ranges::any_of(tensors, is_called_weight);
    for (const Tensor& tensor : tensors) {
      if (const auto layer = layer_in(tensor.name)) layers_ = std::max(layers_, *layer + 1);
      if (arch::role_of(tensor.name) == Role::output_head) tied_ = false;
      if (arch::role_of(tensor.name) == Role::stacked_down && tensor.shape.rank() == 3) experts_ = tensor.shape[0];
    }
  }

  std::string method_for(const Tensor& tensor) const {
    const Role role = arch::role_of(tensor.name);
    if (is_left_alone(role, tensor) || (has_weights_ && !is_called_weight(tensor))) return {};
    if (role == Role::output_head || (role == Role::token_embedding && tied_)) return "q6_k";
    const std::uint64_t layer = layer_in(tensor.name).value_or(0);
    switch (role) {
      case Role::v:
      case Role::qkv: return for_values(layer);
      case Role::k: return experts_ == 8 ? "q8_0" : std::string(recipe_.base);
      case Role::o: return experts_ == 8 && recipe_.base != "q5_k" ? "q5_k" : extra(recipe_.o, layer);
      case Role::down:
      case Role::expert_down:
      case Role::stacked_down: return extra(recipe_.down, layer);
      default: return std::string(recipe_.base);
    }
  }

 private:
  std::string extra(const Extra& more, std::uint64_t layer) const {
    if (gets_more(more.where, layer, layers_)) return std::string(more.method);
    return std::string(more.elsewhere.empty() ? recipe_.base : more.elsewhere);
  }

  // They are small where many heads share them, and count for all of these.
  std::string for_values(std::uint64_t layer) const {
    if (experts_ == 8) return "q8_0";
    std::string method = extra(recipe_.v, layer);
    if (recipe_.base == "q2_k" && sharing_ >= 4) method = "q4_k";
    const bool of_70_billion = layers_ == 80 && sharing_ == 8;
    if (of_70_billion && (method == "q3_k" || method == "q4_k")) method = "q5_k";
    return method;
  }

  const Recipe& recipe_;
  std::uint64_t layers_ = 0, experts_ = 0;
  std::int64_t sharing_ = 1;
  bool tied_ = true;
  bool has_weights_ = false;  // else these are arrays of somebody's, and any matrix is as good as another
};

}  // namespace

std::span<const Mix> mixes() { return kMixes; }

std::vector<std::string> recipe::methods_of_mix(std::string_view mix, const std::vector<Tensor>& tensors,
                                                const Config& config) {
  const auto found = std::ranges::find_if(kRecipes, [&](const Recipe& recipe) { return recipe.mix.name == mix; });
  const Mixer mixer(*found, tensors, config);
  std::vector<std::string> methods;
  methods.reserve(tensors.size());
  for (const Tensor& tensor : tensors) methods.push_back(mixer.method_for(tensor));
  return methods;
}

}  // namespace tare
