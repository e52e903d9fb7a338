#include "tiny_llama/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/endian.hpp"
#include "base/name_map.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/format.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tiny_llama/session.hpp"
#include "tiny_llama/weights.hpp"

namespace tiny_llama {
namespace {

using tare::Error;
using tare::ErrorKind;

const tare::Format& file_format() { return *tare::find_format("tllm"); }

// Rethrows any error about the file at `path` as the exception of Tiny Llama's document.
template <typename Work>
auto with_file(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (Error& error) {
    throw FileIOException(error.in(path));
  }
}

tare::Model read_file(const std::string& path, tare::Access access) {
  const tare::SourcePtr source = tare::open_file(path, access);
  return file_format().read({path, source}, {.access = access});
}

// Reads blobs into the weights in memory, in pieces on all cores. `blobs` are in the order of the entries; those of
// borrowed entries are not used.
void fill(Weights& weights, std::span<const tare::Blob> blobs) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;  // floats
  struct Piece {
    std::size_t entry, begin, end;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    const Weights::Entry& entry = weights.entries()[i];
    if (entry.in_memory == Weights::kElsewhere) continue;
    // Only plain blobs can be opened in the middle.
    const bool whole = !blobs[i].is_plain();
    for (std::size_t begin = 0; begin < entry.count; begin += kPiece)
      if (begin == 0 || !whole)
        pieces.push_back({i, begin, whole ? entry.count : std::min(entry.count, begin + kPiece)});
  }
  tare::parallel_for(pieces.size(), 0, [&](std::size_t p) {
    const auto& [i, begin, end] = pieces[p];
    const std::span<float> values(weights.writable(weights.entries()[i]) + begin, end - begin);
    blobs[i].read(begin * sizeof(float), std::as_writable_bytes(values));
    if constexpr (!tare::kLittleEndianHost) tare::swap_elements(std::as_writable_bytes(values), sizeof(float));
  });
}

void check_same(const ModelConfig& expected, const ModelConfig& found) {
  const tare::tllm::Header ours = header_of(expected), theirs = header_of(found);
  std::vector<std::string> differences;
  for (const auto& field : tare::tllm::kFields)
    if (ours.*field.member != theirs.*field.member)
      differences.push_back(
          fmt::format("{}: expected {}, found {}", field.name, ours.*field.member, theirs.*field.member));
  if (ours.dropout != theirs.dropout)
    differences.push_back(fmt::format("dropout rate: expected {}, found {}", ours.dropout, theirs.dropout));
  if (!differences.empty())
    throw Error(ErrorKind::unsupported, "tllm.load.config",
                fmt::format("the file's configuration is not the model's: {}", fmt::join(differences, "; ")))
        .at(8);
}

Weight weight_of(const Weights::Entry& entry) {
  const auto& place = entry.place;
  const bool vector = place.rank == 1;
  return {place.name, vector ? 1 : static_cast<std::size_t>(place.dims[0]),
          static_cast<std::size_t>(place.dims[vector ? 0 : 1]), vector, std::span(entry.values, entry.count)};
}

// The number of positions that these tokens need.
std::int32_t room_for(std::span<const std::int32_t> tokens, const ModelConfig& config) {
  const auto most = static_cast<std::size_t>(config.max_seq_length);
  return static_cast<std::int32_t>(std::min(tokens.size(), most));
}

// The number of weights before the first layer, and per layer, in the order of `for_each_place`.
constexpr std::size_t kFirstLayer = 2, kLayerParts = 12;

}  // namespace

TinyLlamaModel::TinyLlamaModel(const ModelConfig& config, std::uint64_t seed)
    : weights_(std::make_unique<Weights>(config)) {
  weights_->allocate();
  weights_->initialize(seed);
}

TinyLlamaModel::TinyLlamaModel(std::unique_ptr<Weights> weights) : weights_(std::move(weights)) {}
TinyLlamaModel::TinyLlamaModel(const TinyLlamaModel& other) : weights_(std::make_unique<Weights>(*other.weights_)) {}
TinyLlamaModel::TinyLlamaModel(TinyLlamaModel&& other) noexcept = default;
TinyLlamaModel& TinyLlamaModel::operator=(TinyLlamaModel&& other) noexcept = default;
TinyLlamaModel::~TinyLlamaModel() = default;

TinyLlamaModel& TinyLlamaModel::operator=(const TinyLlamaModel& other) {
  if (this != &other) weights_ = std::make_unique<Weights>(*other.weights_);
  return *this;
}

TinyLlamaModel TinyLlamaModel::map(const std::string& path) {
  return with_file(path, [&] { return from(read_file(path, tare::Access::mapped)); });
}

TinyLlamaModel TinyLlamaModel::from(const tare::Model& model) {
  tare::Model plain;
  plain.config = model.config;
  plain.metadata = model.metadata;
  for (const tare::Tensor& tensor : model.tensors) {
    tare::Tensor dense = tare::to_dense(tensor);
    const tare::Component& data = dense.components[0];
    if (data.dtype != tare::DType::f32 || !data.type.empty()) dense = tare::cast(dense, tare::DType::f32);
    plain.tensors.push_back(std::move(dense));
  }
  auto weights = std::make_unique<Weights>(config_of(tare::tllm::header_for(plain, "tllm.run.model")));
  tare::NameViewMap<const tare::Blob*> by_name;
  for (const tare::Tensor& tensor : plain.tensors) by_name.emplace(tensor.name, &tensor.components[0].blob);
  std::vector<tare::Blob> blobs;
  for (Weights::Entry& entry : weights->entries()) {
    blobs.push_back(*by_name.at(entry.place.name));
    weights->borrow(entry, blobs.back());
  }
  weights->allocate();
  fill(*weights, blobs);
  weights->check_sources();
  return TinyLlamaModel(std::move(weights));
}

bool TinyLlamaModel::is_in(const tare::Model& model) {
  return model.tensor("position_embedding.weight") != nullptr || model.tensor("layers.0.ffn.linear1.weight") != nullptr;
}

void TinyLlamaModel::save_model_weights(const std::string& path) const {
  with_file(path, [&] {
    const auto sink = tare::create_file(path, {.overwrite = true});
    file_format().write(to_model(), *sink, {});
    weights_->check_sources();
    sink->commit();
  });
}

void TinyLlamaModel::load_model_weights(const std::string& path) {
  with_file(path, [&] {
    // Copied, not mapped: the weights must not change when the file does.
    const tare::Model file = read_file(path, tare::Access::pread);
    check_same(config(), config_of(tare::tllm::header_for(file, "tllm.run.model")));
    // Into new memory, so that a failure does not leave a half-loaded model.
    auto loaded = std::make_unique<Weights>(config());
    loaded->allocate();
    std::vector<tare::Blob> blobs;
    for (const tare::Tensor& tensor : file.tensors) blobs.push_back(tensor.components[0].blob);
    fill(*loaded, blobs);
    weights_ = std::move(loaded);
  });
}

tare::Model TinyLlamaModel::to_model() const {
  tare::Model model;
  const tare::tllm::Header header = header_of(config());
  for (const Weights::Entry& entry : weights_->entries()) {
    const auto bytes = std::as_bytes(std::span(entry.values, entry.count));
    tare::Blob blob;
    if constexpr (tare::kLittleEndianHost) {
      blob = tare::Blob::range(tare::borrow_memory(bytes), 0, bytes.size());
    } else {
      tare::Bytes swapped(bytes.begin(), bytes.end());
      tare::swap_elements(swapped, sizeof(float));
      blob = tare::Blob::memory(std::move(swapped));
    }
    model.tensors.push_back(tare::dense(entry.place.name, entry.place.shape(), tare::DType::f32, std::move(blob)));
  }
  model.config.vocab_size = header.vocab;
  model.config.hidden_size = header.dim;
  model.config.intermediate_size = header.ffn;
  model.config.num_hidden_layers = header.layers;
  model.config.num_attention_heads = header.heads;
  model.config.max_position_embeddings = header.positions;
  model.metadata.set(tare::tllm::kHeadsKey, header.heads);
  model.metadata.set(tare::tllm::kPositionsKey, header.positions);
  model.metadata.set(tare::tllm::kDropoutKey, tare::decimal_double(header.dropout));
  return model;
}

const ModelConfig& TinyLlamaModel::config() const { return weights_->config(); }
bool TinyLlamaModel::is_writable() const { return weights_->is_writable(); }

std::size_t TinyLlamaModel::parameter_count() const {
  std::size_t count = 0;
  for (const Weights::Entry& entry : weights_->entries()) count += entry.count;
  return count;
}

std::span<const float> TinyLlamaModel::embedding() const { return weight_of(weights_->entries()[0]).values; }
std::span<const float> TinyLlamaModel::position_embedding() const { return weight_of(weights_->entries()[1]).values; }
std::span<const float> TinyLlamaModel::output() const { return weight_of(weights_->entries().back()).values; }

LayerWeights TinyLlamaModel::layer(std::int32_t number) const {
  if (number < 0 || number >= config().num_layers)
    throw Error(ErrorKind::usage, "tllm.model.layer",
                fmt::format("there is no layer {}; the model has {}", number, config().num_layers));
  const auto part = [&](std::size_t i) {
    return weight_of(weights_->entries()[kFirstLayer + kLayerParts * static_cast<std::size_t>(number) + i]).values;
  };
  return {.query = part(0),
          .key = part(1),
          .value = part(2),
          .output = part(3),
          .linear1_weight = part(4),
          .linear1_bias = part(5),
          .linear2_weight = part(6),
          .linear2_bias = part(7),
          .norm1_weight = part(8),
          .norm1_bias = part(9),
          .norm2_weight = part(10),
          .norm2_bias = part(11)};
}

std::span<const float> TinyLlamaModel::weight(std::string_view name) const {
  return weight_of(weights_->find(name)).values;
}

std::span<float> TinyLlamaModel::mutable_weight(std::string_view name) {
  const Weights::Entry& entry = weights_->find(name);
  if (!is_writable())
    throw Error(ErrorKind::usage, "tllm.model.read_only",
                "the weights are in a mapped file; a copy in memory can change")
        .about(tare::quote(name));
  return {weights_->writable(entry), entry.count};
}

void TinyLlamaModel::visit_weights(const std::function<void(const Weight&)>& visit) const {
  for (const Weights::Entry& entry : std::as_const(*weights_).entries()) visit(weight_of(entry));
}

void TinyLlamaModel::visit_mutable_weights(const std::function<void(const MutableWeight&)>& visit) {
  for (const Weights::Entry& entry : std::as_const(*weights_).entries()) {
    const Weight weight = weight_of(entry);
    visit({weight.name, weight.rows, weight.columns, weight.is_vector, mutable_weight(weight.name)});
  }
}

std::vector<float> TinyLlamaModel::forward(std::span<const std::int32_t> tokens, unsigned threads) const {
  Session session(*this, {.threads = threads, .max_positions = room_for(tokens, config())});
  const std::span<const float> logits = session.feed(tokens);
  return {logits.begin(), logits.end()};
}

std::vector<float> TinyLlamaModel::forward_all(std::span<const std::int32_t> tokens, unsigned threads) const {
  return Session(*this, {.threads = threads, .max_positions = room_for(tokens, config())}).feed_all(tokens);
}

std::vector<std::int32_t> TinyLlamaModel::generate(std::span<const std::int32_t> tokens, std::size_t count,
                                                   Sampler& sampler, const std::function<bool(std::int32_t)>& on_token,
                                                   unsigned threads) const {
  Session session(*this, {.threads = threads});
  std::span<const float> logits = session.feed(tokens);
  std::vector<std::int32_t> made;
  while (made.size() < count) {
    made.push_back(sampler.next(logits));
    if (on_token && !on_token(made.back())) break;
    if (made.size() == count || session.room() == 0) break;
    logits = session.feed(std::span(made).last(1));
  }
  return made;
}

}  // namespace tiny_llama
