#include "gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <span>

#include "codecs/ggml/encode.hpp"
#include "formats/format.hpp"
#include "tare/tare.hpp"

#ifdef TARE_GGML
extern "C" {
struct gguf_context;
struct gguf_init_params {
  bool no_alloc;
  void** ctx;
};
gguf_context* gguf_init_from_file(const char* path, gguf_init_params params);
void gguf_free(gguf_context* context);

void ggml_cpu_init(void);
void ggml_fp16_to_fp32_row(const void* from, float* to, std::int64_t count);
#define TARE_RIVAL_TYPE(name)                                        \
  void quantize_row_##name##_ref(const float*, void*, std::int64_t); \
  void dequantize_row_##name(const void*, float*, std::int64_t)
TARE_RIVAL_TYPE(q4_0);
TARE_RIVAL_TYPE(q4_1);
TARE_RIVAL_TYPE(q5_0);
TARE_RIVAL_TYPE(q5_1);
TARE_RIVAL_TYPE(q8_0);
TARE_RIVAL_TYPE(q2_K);
TARE_RIVAL_TYPE(q3_K);
TARE_RIVAL_TYPE(q4_K);
TARE_RIVAL_TYPE(q5_K);
TARE_RIVAL_TYPE(q6_K);
TARE_RIVAL_TYPE(iq4_nl);
TARE_RIVAL_TYPE(iq4_xs);
TARE_RIVAL_TYPE(mxfp4);
#undef TARE_RIVAL_TYPE
#define TARE_RIVAL_TYPE(name) \
  std::size_t quantize_##name(const float*, void*, std::int64_t rows, std::int64_t columns, const float* importance)
TARE_RIVAL_TYPE(iq2_xxs);
TARE_RIVAL_TYPE(iq2_xs);
TARE_RIVAL_TYPE(iq2_s);
TARE_RIVAL_TYPE(iq3_xxs);
TARE_RIVAL_TYPE(iq3_s);
TARE_RIVAL_TYPE(iq1_s);
TARE_RIVAL_TYPE(iq1_m);
TARE_RIVAL_TYPE(tq1_0);
TARE_RIVAL_TYPE(tq2_0);
TARE_RIVAL_TYPE(nvfp4);
#undef TARE_RIVAL_TYPE
void ggml_quantize_init(int type);
void dequantize_row_iq2_xxs(const void*, float*, std::int64_t);
void dequantize_row_iq2_xs(const void*, float*, std::int64_t);
void dequantize_row_iq2_s(const void*, float*, std::int64_t);
void dequantize_row_iq3_xxs(const void*, float*, std::int64_t);
void dequantize_row_iq3_s(const void*, float*, std::int64_t);
void dequantize_row_iq1_s(const void*, float*, std::int64_t);
void dequantize_row_iq1_m(const void*, float*, std::int64_t);
void dequantize_row_tq1_0(const void*, float*, std::int64_t);
void dequantize_row_tq2_0(const void*, float*, std::int64_t);
void dequantize_row_nvfp4(const void*, float*, std::int64_t);
void dequantize_row_q8_K(const void*, float*, std::int64_t);
// These use SIMD; the others do not.
void quantize_row_q4_0(const float*, void*, std::int64_t);
void quantize_row_q8_0(const float*, void*, std::int64_t);
void quantize_row_q8_K(const float*, void*, std::int64_t);
void ggml_vec_dot_q4_0_q8_0(int n, float* s, std::size_t, const void* x, std::size_t, const void* y, std::size_t, int);
void ggml_vec_dot_q8_0_q8_0(int n, float* s, std::size_t, const void* x, std::size_t, const void* y, std::size_t, int);
void ggml_vec_dot_q4_K_q8_K(int n, float* s, std::size_t, const void* x, std::size_t, const void* y, std::size_t, int);
void ggml_vec_dot_q6_K_q8_K(int n, float* s, std::size_t, const void* x, std::size_t, const void* y, std::size_t, int);
}
#endif

namespace bench {
namespace {

using namespace tare;

constexpr std::uint64_t kRows = 32, kColumns = 4096;
constexpr std::size_t kWeights = kRows * kColumns;

[[maybe_unused]] std::string rate_text(double rate) { return fmt::format("{:.0f} M/s", rate); }

// ---- open ----

std::string token_text(std::size_t i) {
  std::string text;
  for (std::size_t rest = i + 1; rest > 0; rest /= 26) text += static_cast<char>('a' + rest % 26);
  return text;
}

void write_vocabulary(const std::string& path, std::size_t count) {
  Model model;
  model.config.model_type = "llama";
  model.vocabulary.kind = "bpe";
  for (std::size_t i = 0; i < count; ++i) {
    Token token;
    token.text = token_text(i);
    model.vocabulary.tokens.push_back(std::move(token));
    model.vocabulary.merges.push_back(fmt::format("{} {}", token_text(i / 2), token_text(i / 3)));
  }
  const Bytes bytes(64);
  model.tensors.push_back(dense("w", Shape{16}, DType::f32, Blob::range(borrow_memory(bytes), 0, bytes.size())));
  const auto sink = create_file(path, {.overwrite = true, .durable = false});
  find_format("gguf")->write(model, *sink, {});
  sink->commit();
}

std::optional<double> python_seconds(const std::string& path, int rounds) {
  const char* const python = std::getenv("TARE_BENCH_PYTHON");
  const std::string command = fmt::format(
      "'{}' -c '\n"
      "import sys, time\n"
      "from gguf import GGUFReader\n"
      "best = 1e9\n"
      "for _ in range(int(sys.argv[2])):\n"
      "    start = time.thread_time()\n"
      "    GGUFReader(sys.argv[1])\n"
      "    best = min(best, time.thread_time() - start)\n"
      "print(best)\n"
      "' '{}' {} 2>/dev/null",
      python == nullptr ? "python3" : python, path, rounds);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  double seconds = 0;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf", &seconds) != 1) return std::nullopt;
  return seconds;
}

void opening(const std::string& directory, int rounds, Table& table) {
  const std::string path = directory + "/bench-vocabulary.gguf";
  write_vocabulary(path, 128 << 10);
  const auto ms = [](double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); };
  const double whole = best_cpu_seconds(rounds * 3, [&] {
    const Model model = open(path);
    if (model.vocabulary.tokens.size() != 128 << 10) throw Error(ErrorKind::usage, "bench.wrong", "tokens");
  });
  ReadOptions tensors;
  tensors.vocabulary = false;
  const double quick = best_cpu_seconds(rounds * 3, [&] { (void)open(path, tensors); });
  if (const auto python = python_seconds(path, std::min(rounds, 2)))
    table.row("open a GGUF of 128k tokens and merges", ms(whole), "package gguf: " + ms(*python), *python / whole, 20);
#ifdef TARE_GGML
  const double theirs = best_cpu_seconds(rounds * 3, [&] {
    gguf_free(gguf_init_from_file(path.c_str(), {true, nullptr}));
  });
  table.row("open a GGUF of 128k tokens and merges", ms(whole), "gguf_init_from_file: " + ms(theirs), theirs / whole,
            1);
  table.row("  without the vocabulary", ms(quick), "gguf_init_from_file: " + ms(theirs), theirs / quick, 1);
#else
  table.row("  without the vocabulary", ms(quick), "with: " + ms(whole), whole / quick, 0);
#endif
  std::filesystem::remove(path);
}

// ---- types ----

#ifdef TARE_GGML

template <class Distribution>
std::vector<float> weights_of(Distribution distribution) {
  std::mt19937 random(1);
  std::vector<float> values(kWeights);
  for (float& w : values) w = 0.02f * static_cast<float>(distribution(random));
  return values;
}
std::vector<float> weights() { return weights_of(std::normal_distribution<float>()); }

// Data for comparing errors: distributions, and the matrices of a trained model (bench/train.py).
struct Sample {
  std::string name;
  std::vector<float> values;
};
std::vector<Sample> samples() {
  std::vector<Sample> all{{"Gaussian", weights()}, {"Student-t", weights_of(std::student_t_distribution<float>(5))}};
  std::exponential_distribution<float> size;
  std::bernoulli_distribution negative;
  all.push_back({"Laplace", weights_of([&](auto& random) { return negative(random) ? -size(random) : size(random); })});
  const char* const path = std::getenv("TARE_BENCH_MODEL");
  if (path == nullptr) return all;
  const Model model = open(path);
  for (const Tensor& tensor : model.tensors)
    if (tensor.shape.size() == 2 && tensor.shape[1] % 256 == 0) {
      const std::vector<float> values = tensor.values<float>();
      all.push_back({tensor.name, values});
    }
  return all;
}

double relative_error(const std::vector<float>& decoded, const std::vector<float>& values) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += std::pow(static_cast<double>(decoded[i]) - values[i], 2);
    size += std::pow(static_cast<double>(values[i]), 2);
  }
  return std::sqrt(error / size);
}

template <codec::ggml::Type kType>
std::size_t encode(const codec::BlockWeights& in, std::byte* blocks) {
  return codec::ggml::encode(kType, in, blocks);
}

// ggml refuses some of its types without importance; with equal importance for all columns, the errors of the others are lower than
// without.
template <std::size_t (*kQuantize)(const float*, void*, std::int64_t, std::int64_t, const float*)>
void weighted(const float* from, void* to, std::int64_t count) {
  static const std::vector<float> kOnes(kColumns, 1);
  constexpr auto kWidth = static_cast<std::int64_t>(kColumns);
  if (count % kWidth == 0)
    kQuantize(from, to, count / kWidth, kWidth, kOnes.data());
  else
    kQuantize(from, to, count / 256, 256, kOnes.data());
}

struct Rival {
  std::string_view method;
  std::size_t (*ours)(const codec::BlockWeights&, std::byte*);
  void (*encode)(const float*, void*, std::int64_t);
  void (*decode)(const void*, float*, std::int64_t);
  double encode_goal = 0, decode_goal = 1;
  // Products with 8-bit vectors; `vector` makes their blocks.
  void (*dot)(int, float*, std::size_t, const void*, std::size_t, const void*, std::size_t, int) = nullptr;
  void (*vector)(const float*, void*, std::int64_t) = nullptr;
  // Set if ggml encodes activations with another encoder than files.
  void (*activations)(const float*, void*, std::int64_t) = nullptr;
};

constexpr Rival kRivals[] = {
    {"q4_0", encode<codec::ggml::Type::q4_0>, quantize_row_q4_0, dequantize_row_q4_0, 1.5, 1, ggml_vec_dot_q4_0_q8_0,
     quantize_row_q8_0},
    {"q4_1", encode<codec::ggml::Type::q4_1>, quantize_row_q4_1_ref, dequantize_row_q4_1},
    {"q5_0", encode<codec::ggml::Type::q5_0>, quantize_row_q5_0_ref, dequantize_row_q5_0},
    {"q5_1", encode<codec::ggml::Type::q5_1>, quantize_row_q5_1_ref, dequantize_row_q5_1},
    {"q8_0", encode<codec::ggml::Type::q8_0>, quantize_row_q8_0_ref, dequantize_row_q8_0, 1.5, 1,
     ggml_vec_dot_q8_0_q8_0, quantize_row_q8_0, quantize_row_q8_0},
    {"q2_k", encode<codec::ggml::Type::q2_k>, quantize_row_q2_K_ref, dequantize_row_q2_K},
    {"q3_k", encode<codec::ggml::Type::q3_k>, quantize_row_q3_K_ref, dequantize_row_q3_K},
    {"q4_k", encode<codec::ggml::Type::q4_k>, quantize_row_q4_K_ref, dequantize_row_q4_K, 10, 1, ggml_vec_dot_q4_K_q8_K,
     quantize_row_q8_K},
    {"q5_k", encode<codec::ggml::Type::q5_k>, quantize_row_q5_K_ref, dequantize_row_q5_K},
    {"q6_k", encode<codec::ggml::Type::q6_k>, quantize_row_q6_K_ref, dequantize_row_q6_K, 6, 3, ggml_vec_dot_q6_K_q8_K,
     quantize_row_q8_K},
    {"iq4_nl", encode<codec::ggml::Type::iq4_nl>, quantize_row_iq4_nl_ref, dequantize_row_iq4_nl},
    {"iq4_xs", encode<codec::ggml::Type::iq4_xs>, quantize_row_iq4_xs_ref, dequantize_row_iq4_xs},
    {"mxfp4", encode<codec::ggml::Type::mxfp4>, quantize_row_mxfp4_ref, dequantize_row_mxfp4},
    {"iq2_xxs", encode<codec::ggml::Type::iq2_xxs>, weighted<quantize_iq2_xxs>, dequantize_row_iq2_xxs, 3},
    {"iq2_xs", encode<codec::ggml::Type::iq2_xs>, weighted<quantize_iq2_xs>, dequantize_row_iq2_xs, 3},
    {"iq2_s", encode<codec::ggml::Type::iq2_s>, weighted<quantize_iq2_s>, dequantize_row_iq2_s, 3},
    {"iq3_xxs", encode<codec::ggml::Type::iq3_xxs>, weighted<quantize_iq3_xxs>, dequantize_row_iq3_xxs, 3},
    {"iq3_s", encode<codec::ggml::Type::iq3_s>, weighted<quantize_iq3_s>, dequantize_row_iq3_s, 3},
    {"iq1_s", encode<codec::ggml::Type::iq1_s>, weighted<quantize_iq1_s>, dequantize_row_iq1_s, 3},
    {"iq1_m", encode<codec::ggml::Type::iq1_m>, weighted<quantize_iq1_m>, dequantize_row_iq1_m, 3},
    {"tq1_0", encode<codec::ggml::Type::tq1_0>, weighted<quantize_tq1_0>, dequantize_row_tq1_0, 1},
    {"tq2_0", encode<codec::ggml::Type::tq2_0>, weighted<quantize_tq2_0>, dequantize_row_tq2_0, 1},
    {"nvfp4", encode<codec::ggml::Type::nvfp4>, weighted<quantize_nvfp4>, dequantize_row_nvfp4, 1},
    {"q8_k", nullptr, nullptr, dequantize_row_q8_K},
};

class Types {
 public:
  Types(int rounds, Table& table) : rounds_(rounds), table_(table) {
    plain_ = dense("w", Shape{kRows, kColumns}, DType::f32,
                   Blob::range(borrow_memory(std::as_bytes(std::span(values_))), 0, values_.size() * 4));
  }

  void compare(const Rival& rival) {
    const Codec& codec = *find_codec(fmt::format("ggml.{}", rival.method));
    Tensor tensor;
    tensor.layout = codec.layout;
    tensor.shape = plain_.shape;
    if (rival.encode != nullptr) {
      ggml_quantize_init(static_cast<int>(codec::ggml::find_facts(codec.layout)->number));
      tensor = encode(rival, codec);
    } else {
      // Random codes, with a finite scale at each place where a type may have one.
      const std::size_t bytes = block_bytes(rival.method);
      Bytes blocks(kWeights / 256 * bytes);
      std::mt19937 random(2);
      for (std::byte& byte : blocks) byte = static_cast<std::byte>(random());
      for (std::size_t at = 0; at < blocks.size(); at += bytes)
        for (const std::size_t place : {std::size_t{1}, std::size_t{3}, bytes - 1})
          blocks[at + place] = std::byte{0x20};
      tensor.components.push_back({"payload", DType::u8, {}, Blob::memory(std::move(blocks))});
    }
    const Bytes blocks = tensor.component("payload")->blob.bytes();
    const auto rows = codec.rows(tensor);
    std::vector<float> out(kWeights);
    const double ours = rate(30, [&] { rows->decode(0, kRows, out); });
    const double theirs = rate(30, [&] { rival.decode(blocks.data(), out.data(), kWeights); });
    table_.row(fmt::format("decode {}", rival.method), rate_text(ours), "ggml: " + rate_text(theirs), ours / theirs,
               rival.decode_goal);
    if (rival.dot != nullptr) products(rival, *rows, blocks);
  }

  // Compares the searching encoder with ggml's on everything in `all`.
  void errors(const Rival& rival, const std::vector<Sample>& all) {
    const std::size_t weights =
        static_cast<std::size_t>(find_codec(fmt::format("ggml.{}", rival.method))->row_multiple);
    for (const Sample& sample : all) {
      Bytes blocks(sample.values.size() * 2);
      std::vector<float> decoded(sample.values.size());
      const auto count = static_cast<std::int64_t>(sample.values.size());
      const auto error = [&] {
        rival.decode(blocks.data(), decoded.data(), count);
        return relative_error(decoded, sample.values);
      };
      const std::size_t made = rival.ours({.weights = sample.values.data(),
                                           .importance = nullptr,
                                           .count = sample.values.size() / weights,
                                           .fast = false},
                                          blocks.data());
      if (made != sample.values.size() / weights)
        throw Error(ErrorKind::usage, "bench.wrong", "not every block was made");
      const double ours = error();
      rival.encode(sample.values.data(), blocks.data(), count);
      const double theirs = error();
      table_.row(fmt::format("error of {}, {}", rival.method, sample.name), fmt::format("{:.5f}", ours),
                 fmt::format("ggml: {:.5f}", theirs), ours / theirs, 1, true);
    }
  }

  void halves() {
    const Tensor tensor = cast(plain_, DType::f16);
    const Bytes bytes = tensor.component("data")->blob.bytes();
    const Tensor stored = dense("w", plain_.shape, DType::f16, Blob::range(borrow_memory(bytes), 0, bytes.size()));
    std::vector<float> out(kWeights);
    const Blob floats = cast(stored, DType::f32).component("data")->blob;
    const double ours = rate(30, [&] { floats.read(0, std::as_writable_bytes(std::span(out))); });
    const double theirs = rate(30, [&] { ggml_fp16_to_fp32_row(bytes.data(), out.data(), kWeights); });
    table_.row("decode f16", rate_text(ours), "ggml: " + rate_text(theirs), ours / theirs, 3);
  }

 private:
  static std::size_t block_bytes(std::string_view type) {
    if (type == "iq2_xxs") return 66;
    if (type == "iq2_xs") return 74;
    if (type == "iq2_s") return 82;
    if (type == "iq3_xxs") return 98;
    if (type == "iq3_s") return 110;
    if (type == "tq1_0") return 54;
    if (type == "tq2_0") return 66;
    if (type == "nvfp4") return 4 * 36;
    if (type == "q8_k") return 292;
    return type == "iq1_s" ? 50 : 56;
  }

  double rate(int times, const std::function<void()>& job) const {
    return static_cast<double>(kWeights) / best_cpu_seconds(rounds_ * times, job) / 1e6;
  }

  Tensor encode(const Rival& rival, const Codec& codec) {
    const auto made = [&](bool fast) {
      EncodeOptions options;
      options.method = rival.method;
      options.fast = fast;
      return codec.encode(plain_, options);
    };
    const auto speed = [&](bool fast) {
      const std::size_t blocks = kWeights / static_cast<std::size_t>(codec.row_multiple);
      Bytes out(made(fast).bytes());
      return rate(fast ? 20 : 5, [&] {
        const codec::BlockWeights in{.weights = values_.data(), .importance = nullptr, .count = blocks, .fast = fast};
        if (rival.ours(in, out.data()) != blocks)
          throw Error(ErrorKind::usage, "bench.wrong", "not every block was made");
      });
    };
    Bytes theirs(kWeights * 2);
    const double ggml = rate(5, [&] { rival.encode(values_.data(), theirs.data(), kWeights); });
    for (const bool fast : {false, true}) {
      const double ours = speed(fast);
      table_.row(fmt::format("encode {}, {}", rival.method, fast ? "fast" : "searched"), rate_text(ours),
                 "ggml: " + rate_text(ggml), ours / ggml, rival.encode_goal);
      if (!fast || rival.activations == nullptr) continue;
      const double simd = rate(20, [&] { rival.activations(values_.data(), theirs.data(), kWeights); });
      table_.row("  against its encoder of activations", rate_text(ours), "ggml: " + rate_text(simd), ours / simd, 1.5);
    }
    Tensor tensor = made(false);
    Blob& payload = tensor.components.front().blob;
    payload = Blob::memory(payload.bytes());
    return tensor;
  }

  void products(const Rival& rival, const Rows& rows, const Bytes& blocks) {
    std::vector<float> vector(values_.begin(), values_.begin() + kColumns), out(kRows), their_out(kRows);
    const QuantizedVector codes(vector);
    Bytes their_codes(kColumns * 2);
    rival.vector(vector.data(), their_codes.data(), kColumns);
    const std::size_t row_bytes = blocks.size() / kRows;
    const double ours = rate(50, [&] { rows.dot(0, kRows, codes, out); });
    const double theirs = rate(50, [&] {
      for (std::size_t r = 0; r < kRows; ++r)
        rival.dot(static_cast<int>(kColumns), &their_out[r], 0, blocks.data() + r * row_bytes, 0, their_codes.data(), 0,
                  1);
    });
    double scale = 0;
    for (std::size_t r = 0; r < kRows; ++r) scale = std::max(scale, std::fabs(static_cast<double>(their_out[r])));
    for (std::size_t r = 0; r < kRows; ++r)
      if (std::fabs(static_cast<double>(out[r]) - their_out[r]) > 0.05 * scale)
        throw Error(ErrorKind::usage, "bench.wrong", fmt::format("products of {}", rival.method));
    table_.row(fmt::format("8-bit products of {}", rival.method), rate_text(ours), "ggml: " + rate_text(theirs),
               ours / theirs, 1);
  }

  int rounds_;
  Table& table_;
  std::vector<float> values_ = weights();
  Tensor plain_;
};

#endif

// ---- a whole file ----

void quantizing(const std::string& directory, Table& table) {
  const char* const program = std::getenv("LLAMA_QUANTIZE");
  const char* const input = std::getenv("LLAMA_QUANTIZE_INPUT");
  if (program == nullptr || input == nullptr) return;
  const std::string out = directory + "/bench-quantized.gguf";
  ConvertOptions options;
  options.adapt.quant.method = "q4_k_m";
  options.overwrite = true;
  const std::string theirs = fmt::format("'{}' '{}' '{}' Q4_K_M >/dev/null 2>&1", program, input, out);
  (void)convert(input, out, options);  // loads the file into the page cache for both
  double their_seconds = 1e300, our_seconds = 1e300;
  std::uint64_t memory = 0;
  for (int round = 0; round < 2; ++round) {
    memory = anonymous_growth(
        [&] { our_seconds = std::min(our_seconds, seconds([&] { (void)convert(input, out, options); })); });
    their_seconds = std::min(their_seconds, seconds([&] {
                               if (std::system(theirs.c_str()) != 0)
                                 throw Error(ErrorKind::usage, "bench.wrong", "llama-quantize");
                             }));
  }
  table.row("quantize a GGUF to q4_k_m", fmt::format("{:.1f} s", our_seconds),
            fmt::format("llama-quantize: {:.1f} s", their_seconds), their_seconds / our_seconds, 5);
  table.row("  anonymous memory", fmt::format("{:.0f} MiB", static_cast<double>(memory) / 0x1p20), "128 MiB",
            static_cast<double>(memory) / 0x1p27, 1, true);
  std::filesystem::remove(out);
}

}  // namespace

void gguf(const std::string& directory, int rounds, Table& table) {
  opening(directory, rounds, table);
#ifdef TARE_GGML
  ggml_cpu_init();
  Types types(rounds, table);
  for (const Rival& rival : kRivals) types.compare(rival);
  types.halves();
  const std::vector<Sample> all = samples();
  for (const Rival& rival : kRivals)
    if (rival.encode != nullptr) types.errors(rival, all);
#endif
  quantizing(directory, table);
}

}  // namespace bench
