#include "cli/demo/model.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "tare/codec.hpp"
#include "tiny_llama/model.hpp"

namespace tare::cli {
namespace {

// splitmix64, which gives the same numbers on every machine, unlike the distributions of <random>.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // In steps of 2^-16, so that sums are exact.
  double uniform() { return static_cast<double>(bits() >> 48) / 65536; }
  // Bell-shaped, around 0, within 0.12.
  double weight() { return (uniform() + uniform() + uniform() + uniform() - 2) * 0.0625; }

 private:
  std::uint64_t state_;
};

template <typename T>
void put(Bytes& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  store_le(bytes.data() + at, value);
}

// Appends one element of a storage type; integers are weights scaled to a byte.
void put_element(Bytes& bytes, DType type, Numbers& numbers) {
  const double weight = numbers.weight();
  const auto whole = static_cast<std::int64_t>(weight * 1000);
  const auto magnitude = static_cast<std::uint64_t>(whole < 0 ? -whole : whole);
  switch (type) {
    case DType::f64: return put(bytes, weight);
    case DType::f32: return put(bytes, static_cast<float>(weight));
    case DType::f16: return put(bytes, f64_to_f16(weight));
    case DType::bf16: return put(bytes, f64_to_bf16(weight));
    case DType::i64: return put(bytes, whole);
    case DType::i32: return put(bytes, static_cast<std::int32_t>(whole));
    case DType::i16: return put(bytes, static_cast<std::int16_t>(whole));
    case DType::i8: return put(bytes, static_cast<std::int8_t>(whole));
    case DType::u64: return put(bytes, magnitude);
    case DType::u32: return put(bytes, static_cast<std::uint32_t>(magnitude));
    case DType::u16: return put(bytes, static_cast<std::uint16_t>(magnitude));
    case DType::u8: return put(bytes, static_cast<std::uint8_t>(magnitude));
    case DType::boolean: return put(bytes, static_cast<std::uint8_t>(magnitude & 1));
  }
}

Bytes elements(DType type, std::uint64_t count, std::uint64_t seed) {
  Numbers numbers(seed);
  Bytes bytes;
  for (std::uint64_t i = 0; i < count; ++i) put_element(bytes, type, numbers);
  return bytes;
}

// Makes a tensor of a logical type. A type that is one byte wide is an 8-bit float: its bit patterns are from the
// middle of its range, where none is NaN.
Tensor filled(std::string name, Shape shape, const LogicalType& type, std::uint64_t seed) {
  const std::uint64_t count = shape.elements().value_or(0) * type.per_element;
  Bytes bytes;
  if (size_of(type.storage) == 1) {
    Numbers numbers(seed);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t bits = numbers.bits();
      put(bytes, static_cast<std::uint8_t>((0x10 + bits % 0x50) | (bits >> 32 & 0x80)));
    }
  } else {
    bytes = elements(type.storage, count, seed);
  }
  return dense(std::move(name), std::move(shape), type.storage, Blob::memory(std::move(bytes)), std::string(type.name));
}

Component part(std::string_view role, DType type, Bytes bytes) {
  Component component;
  component.role = role;
  component.dtype = type;
  component.blob = Blob::memory(std::move(bytes));
  return component;
}

Bytes u64s(std::initializer_list<std::uint64_t> values) {
  Bytes bytes;
  for (const std::uint64_t value : values) put(bytes, value);
  return bytes;
}

Tensor sparse_rows() {
  Tensor tensor;
  tensor.name = "router.weight";
  tensor.layout = "sparse_csr";
  tensor.shape = {4, 16};
  tensor.components = {part("values", DType::f32, elements(DType::f32, 6, 40)),
                       part("indices", DType::u64, u64s({1, 9, 0, 3, 15, 8})),
                       part("indptr", DType::u64, u64s({0, 2, 2, 5, 6}))};
  return tensor;
}

Tensor sparse_points() {
  Tensor tensor;
  tensor.name = "router.bias";
  tensor.layout = "sparse_coo";
  tensor.shape = {4, 16};
  tensor.components = {part("values", DType::f16, elements(DType::f16, 3, 41)),
                       part("coords", DType::u64, u64s({0, 1, 3, 5, 0, 15}))};
  return tensor;
}

// Adds one matrix for every method that accepts rows of any length.
void add_quantized(Model& model) {
  std::uint64_t seed = 50;
  for (const Codec& codec : codecs()) {
    if (codec.encode == nullptr || codec.methods.empty() || codec.row_multiple != 1) continue;
    for (const std::string_view method : codec.methods) {
      const Tensor weights = demo_tensor(fmt::format("quantized.{}.weight", method), {16, 64}, DType::f32, seed++);
      EncodeOptions options;
      options.method = method;
      model.tensors.push_back(codec.encode(weights, options));
    }
  }
}

Vocabulary vocabulary() {
  Vocabulary words;
  words.kind = "spm";
  words.unk = 0, words.bos = 1, words.eos = 2;
  words.tokens = {{"<unk>", 0, TokenType::unknown}, {"<s>", 0, TokenType::control}, {"</s>", 0, TokenType::control}};
  for (const char* text : {"▁the", "▁weight", "▁of", "▁a", "▁container", "ing", "s", "▁tare"})
    words.tokens.push_back({text, -static_cast<float>(words.tokens.size()), TokenType::normal});
  words.tokens.push_back({"\xff", -20, TokenType::byte});
  return words;
}

}  // namespace

Tensor demo_tensor(std::string name, Shape shape, DType type, std::uint64_t seed) {
  const std::uint64_t count = shape.elements().value_or(0);
  return dense(std::move(name), std::move(shape), type, Blob::memory(elements(type, count, seed)));
}

Model demo_model() {
  Model model;
  auto& tensors = model.tensors;
  tensors.push_back(demo_tensor("embed.weight", {12, 64}, DType::bf16, 1));
  tensors.push_back(demo_tensor("layers.0.attention.weight", {64, 64}, DType::f16, 2));
  tensors.push_back(demo_tensor("layers.0.mlp.weight", {128, 64}, DType::f32, 3));
  tensors.push_back(demo_tensor("layers.0.norm.weight", {64}, DType::f32, 4));
  std::uint64_t seed = 10;
  for (const DType type : kAllDTypes)
    tensors.push_back(demo_tensor(fmt::format("types.{}", name_of(type)), {3, 5}, type, seed++));
  for (const LogicalType& type : known_logical_types())
    tensors.push_back(filled(fmt::format("types.{}", type.name), {3, 5}, type, seed++));
  tensors.push_back(demo_tensor("shapes.scalar", {}, DType::f64, 30));
  tensors.push_back(demo_tensor("shapes.empty", {0, 4}, DType::f32, 31));
  tensors.push_back(demo_tensor("shapes.deep", {2, 1, 3, 1, 2}, DType::i16, 32));
  tensors.push_back(sparse_rows());
  tensors.push_back(sparse_points());
  add_quantized(model);

  model.metadata.set("general.name", "demo");
  model.metadata.set("general.layers", 1);
  model.metadata.set("general.languages", List{Value("en"), Value("de")});
  model.config.model_type = "demo";
  model.config.vocab_size = 12;
  model.config.hidden_size = 64;
  model.config.intermediate_size = 128;
  model.config.num_hidden_layers = 1;
  model.config.num_attention_heads = 4;
  model.config.rms_norm_eps = 1e-5;
  model.vocabulary = vocabulary();
  const std::string_view note = "Made by `tare demo`.\n";
  const auto bytes = std::as_bytes(std::span(note));
  model.attachments.push_back({"README.txt", Blob::memory(Bytes(bytes.begin(), bytes.end()))});
  return model;
}

Model demo_model(std::string_view architecture) {
  if (architecture != "tiny_llama")
    throw Error(ErrorKind::unsupported, "cli.demo", fmt::format("there is no demo of {}", architecture));
  const tiny_llama::TinyLlamaModel llama(
      {.model_dim = 16, .num_layers = 2, .num_heads = 2, .ffn_hidden_dim = 32, .max_seq_length = 24, .vocab_size = 40});
  Model model = llama.to_model();
  for (Tensor& tensor : model.tensors)  // copies tensors that borrow from `llama`
    tensor.components[0].blob = Blob::memory(tensor.components[0].blob.bytes());
  return model;
}

}  // namespace tare::cli
