// Writes Tiny Llama weights. The sizes come from the config, or else from the tensors. One error lists everything that
// does not fit, because a model that lacks one tensor often lacks several.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "formats/fits.hpp"
#include "formats/rows.hpp"
#include "formats/tllm/tllm.hpp"
#include "model/transfer.hpp"

namespace tare::tllm {
namespace {

using ByName = NameViewMap<const Tensor*>;

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// Everything that is wrong with a model, for one error.
struct Problems {
  std::vector<std::string> missing, surplus, unfit, settings;
  bool heads_unknown = false;

  bool none() const { return missing.empty() && surplus.empty() && unfit.empty() && settings.empty(); }
  std::string text() const {
    std::string out;
    const auto add = [&](std::string_view what, const std::vector<std::string>& items) {
      constexpr std::size_t kNamed = 16;
      if (items.empty()) return;
      out += fmt::format("{}{}{}", out.empty() ? "" : "; ", what, listed(items, kNamed));
    };
    add("", settings);
    add("missing: ", missing);
    add("not of a Tiny Llama: ", surplus);
    add("wrong: ", unfit);
    return out;
  }
  Error error(std::string_view rule) const {
    Error all(ErrorKind::unsupported, rule, fmt::format("not a Tiny Llama model as tllm holds it: {}", text()));
    return heads_unknown ? all.remedy(Remedy::set, fmt::format("{}=N", kHeadsKey)) : all;
  }
};

// Returns a number of the metadata, which may be a text if the container only holds texts.
std::optional<double> number(const Map& metadata, std::string_view key, Problems& problems) {
  const Value* const value = metadata.find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = value->get<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* real = value->get<double>()) return *real;
  if (const std::string* const text = value->text()) {
    double read = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), read);
    if (error == std::errc() && end == text->data() + text->size()) return read;
  }
  problems.settings.push_back(fmt::format("metadata {} = {} is not a number", key, to_json(*value)));
  return std::nullopt;
}

// Returns a dimension of a tensor; 0 if the tensor does not exist.
std::int64_t dimension(const ByName& tensors, std::string_view name, std::size_t rank, std::size_t axis) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second->shape.rank() != rank) return 0;
  const std::uint64_t size = found->second->shape[axis];
  return size <= static_cast<std::uint64_t>(kMost) ? static_cast<std::int64_t>(size) : 0;
}

// Returns how many layers the tensor names imply. A layer counts if more than half of its tensors exist, so that
// neither a missing tensor nor a stray name changes the number.
std::int64_t layers_named(const Model& model) {
  std::map<std::int64_t, std::size_t> tensors;
  for (const Tensor& tensor : model.tensors) {
    constexpr std::string_view kPrefix = "layers.";
    if (!tensor.name.starts_with(kPrefix)) continue;
    std::int64_t layer = -1;
    std::from_chars(tensor.name.data() + kPrefix.size(), tensor.name.data() + tensor.name.size(), layer);
    // A layer number beyond the number of tensors is a stray name.
    if (layer >= 0 && layer < static_cast<std::int64_t>(model.tensors.size())) ++tensors[layer];
  }
  std::erase_if(tensors, [](const auto& layer) { return layer.second <= kLayerTensors / 2; });
  return tensors.empty() ? 0 : tensors.rbegin()->first + 1;
}

class Plan {
 public:
  explicit Plan(const Model& model) : model_(model) {
    for (const Tensor& tensor : model.tensors)
      if (!tensors_.emplace(tensor.name, &tensor).second)
        problems_.surplus.push_back(fmt::format("a second {}", quote(tensor.name)));
  }

  Header header(std::string_view rule) {
    settle_sizes();
    settle_settings();
    compare();
    // Unknown sizes are 0. If nothing is missing, a dimension of 0 really is the tensors' dimension, which `check`
    // refuses.
    if (problems_.none()) check(header_);
    if (!problems_.none()) throw problems_.error(rule);
    return header_;
  }

 private:
  // Uses the first known value: the config's field, the metadata, a tensor's dimension.
  void settle(std::int32_t Header::*member, std::string_view field, std::optional<std::int64_t> config,
              std::initializer_list<std::int64_t> others) {
    std::int64_t value = config.value_or(0);
    for (const std::int64_t other : others)
      if (value == 0) value = other;
    if (value < 0 || value > kMost) {
      problems_.settings.push_back(fmt::format("{} = {} is outside 1 to {}", field, value, kMost));
      value = 0;
    }
    header_.*member = static_cast<std::int32_t>(value);
  }

  void settle_sizes() {
    const Config& config = model_.config;
    stated_positions_ = whole(kPositionsKey);
    const auto of = [&](std::string_view name, std::size_t rank, std::size_t axis) {
      return dimension(tensors_, name, rank, axis);
    };
    const std::string_view embedding = "embedding.weight", position = "position_embedding.weight",
                           output = "output.weight", query = "layers.0.attention.query.weight",
                           linear1 = "layers.0.ffn.linear1.weight", linear2 = "layers.0.ffn.linear2.weight";
    settle(&Header::dim, "hidden_size", config.hidden_size,
           {of(embedding, 2, 1), of(position, 2, 1), of(output, 2, 0), of(query, 2, 0)});
    settle(&Header::vocab, "vocab_size", config.vocab_size, {of(embedding, 2, 0), of(output, 2, 1)});
    settle(&Header::ffn, "intermediate_size", config.intermediate_size, {of(linear1, 2, 1), of(linear2, 2, 0)});
    settle(&Header::positions, "max_position_embeddings", config.max_position_embeddings,
           {stated_positions_, of(position, 2, 0)});
    settle(&Header::layers, "num_hidden_layers", config.num_hidden_layers, {layers_named(model_)});
    if (static_cast<std::size_t>(header_.layers) > model_.tensors.size()) {
      problems_.settings.push_back(fmt::format("num_hidden_layers = {} is more than {} tensors can fill",
                                               header_.layers, model_.tensors.size()));
      header_.layers = static_cast<std::int32_t>(layers_named(model_));
    }
    header_.layers = std::max(header_.layers, 1);  // so that the missing tensors are named
  }

  std::int64_t whole(std::string_view key) {
    const auto value = number(model_.metadata, key, problems_);
    if (!value) return 0;
    if (*value >= 1 && *value <= static_cast<double>(kMost)) {
      const auto rounded = static_cast<std::int64_t>(*value);
      if (static_cast<double>(rounded) == *value) return rounded;
    }
    problems_.settings.push_back(
        fmt::format("metadata {} = {} is not a whole number from 1 to {}", key, *value, kMost));
    return 0;
  }

  void settle_settings() {
    const std::int64_t stated = whole(kHeadsKey);
    settle(&Header::heads, "num_attention_heads", model_.config.num_attention_heads, {stated});
    problems_.heads_unknown =
        header_.heads == 0 && !model_.config.num_attention_heads && model_.metadata.find(kHeadsKey) == nullptr;
    if (problems_.heads_unknown)
      problems_.settings.push_back(fmt::format(
          "the number of heads is not known: neither config num_attention_heads nor metadata {} says it", kHeadsKey));
    disagree(kHeadsKey, stated, header_.heads);
    disagree(kPositionsKey, stated_positions_, header_.positions);
    if (const auto dropout = number(model_.metadata, kDropoutKey, problems_)) header_.dropout = carry_to_f32(*dropout);
    // Unknown fields are reported elsewhere, or will be as missing tensors.
    Header checked = header_;
    for (const HeaderField& field : kFields)
      if (checked.*field.member == 0) checked.*field.member = 1;
    if (header_.dim == 0) checked.heads = 1;
    check(checked);
  }

  void check(const Header& header) {
    for (const HeaderProblem& problem : check_header(header))
      problems_.settings.push_back(fmt::format("{}: {}", problem.item, problem.sentence));
  }

  void disagree(std::string_view key, std::int64_t stated, std::int64_t used) {
    if (stated != 0 && used != 0 && stated != used)
      problems_.settings.push_back(fmt::format("metadata {} = {}, but the config says {}", key, stated, used));
  }

  void compare() {
    std::size_t known = 0;
    for_each_place(header_, [&](const Place& place) {
      const auto found = tensors_.find(place.name);
      if (found == tensors_.end()) {
        problems_.missing.push_back(place.name);
      } else {
        ++known;
        compare(place, *found->second);
      }
      return true;
    });
    if (known == tensors_.size()) return;
    ByName strays = tensors_;
    for_each_place(header_, [&](const Place& place) { return strays.erase(place.name), true; });
    for (const Tensor& tensor : model_.tensors)
      if (strays.contains(tensor.name)) problems_.surplus.push_back(quote(tensor.name));
  }

  void compare(const Place& place, const Tensor& tensor) {
    const Component* const data = tensor.component("data");
    if (!tensor.is_dense() || data == nullptr || tensor.components.size() != 1 || data->dtype != DType::f32 ||
        !data->type.empty())
      return problems_.unfit.push_back(fmt::format("{}: expected dense f32, found {} {}", place.name,
                                                   quote(tensor.layout),
                                                   data == nullptr ? "" : quote(data->type_name())));
    bool same = tensor.shape.rank() == place.rank;
    for (std::size_t d = 0; same && d < place.rank; ++d)
      same = place.dims[d] == 0 || tensor.shape[d] == place.dims[d];  // 0: unknown
    if (!same)
      return problems_.unfit.push_back(
          fmt::format("{}: expected {}, found {}", place.name, place.shape().text(), tensor.shape.text()));
    const auto elements = tensor.shape.elements();
    if (!elements || data->blob.size() / 4 != *elements || data->blob.size() % 4 != 0)
      problems_.unfit.push_back(fmt::format("{} has {} bytes of data, {} of f32 need another number", place.name,
                                            data->blob.size(), tensor.shape.text()));
  }

  const Model& model_;
  ByName tensors_;
  std::int64_t stated_positions_ = 0;
  Header header_{.dropout = kDefaultDropout};
  Problems problems_;
};

void put_header(const Header& header, Sink& sink) {
  std::array<std::byte, kHeaderBytes> bytes{};
  store_le(bytes.data(), kMagic);
  store_le(bytes.data() + 4, kVersion);
  for (std::size_t i = 0; i < kFields.size(); ++i) store_le(bytes.data() + 8 + 4 * i, header.*kFields[i].member);
  store_le(bytes.data() + 32, header.dropout);
  sink.write(bytes);
}

}  // namespace

Header header_for(const Model& model, std::string_view rule) { return Plan(model).header(rule); }

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  require_fit(model, kFormat);
  const Header header = header_for(model, "tllm.write.model");
  ByName tensors;
  for (const Tensor& tensor : model.tensors) tensors.emplace(tensor.name, &tensor);
  put_header(header, sink);
  TransferOptions transfer;
  transfer.alignment = 1;
  transfer.threads = options.work.threads;
  transfer.progress = options.work.progress;
  Transfer out(sink, transfer);
  for_each_place(header, [&](const Place& place) {
    std::array<std::byte, 16> dims{};
    for (std::size_t d = 0; d < place.dims.size(); ++d) store_le(dims.data() + 8 * d, place.dims[d]);
    sink.write(std::span(dims).first(place.dims_bytes()));
    out.add(tensors.at(place.name)->component("data")->blob);
    return true;
  });
  out.finish();
}

std::vector<Change> remarks(const Model& model, const WriteOptions& /*options*/) {
  if (model.metadata.find(kDropoutKey) != nullptr) return {};
  return {{.impact = Impact::changed,
           .part = "dropout rate",
           .detail = fmt::format("{} by default, the input has none", kDefaultDropout)}};
}

}  // namespace tare::tllm
