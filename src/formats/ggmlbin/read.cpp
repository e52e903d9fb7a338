// Reads a file as each program would that writes its magic, until one of them finds tensors up to its last byte. Only
// whisper.cpp is known before that: by the size of its mel filters.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "codecs/ggml/type_table.hpp"
#include "formats/ggmlbin/ggmlbin.hpp"
#include "formats/registry_limits.hpp"
#include "io/metadata.hpp"

namespace tare::ggmlbin {
namespace {

// What a program writes before the tensors.
struct Program {
  std::string_view name;                         // its metadata keys begin so
  std::span<const std::string_view> parameters;  // the first is the size of the vocabulary, the last the type
  bool filters = false;                          // mel filters
  bool counts_tokens = false;                    // the number of tokens is written before them, too
};

constexpr std::string_view kWhisperParameters[] = {"n_vocab",       "n_audio_ctx", "n_audio_state", "n_audio_head",
                                                   "n_audio_layer", "n_text_ctx",  "n_text_state",  "n_text_head",
                                                   "n_text_layer",  "n_mels",      "ftype"};
constexpr std::string_view kLlamaParameters[] = {"n_vocab", "n_embd", "n_mult", "n_head", "n_layer", "n_rot", "ftype"};
constexpr std::string_view kGpt2Parameters[] = {"n_vocab", "n_ctx", "n_embd", "n_head", "n_layer", "ftype"};
constexpr std::string_view kGptjParameters[] = {"n_vocab", "n_ctx", "n_embd", "n_head", "n_layer", "n_rot", "ftype"};
constexpr std::string_view kNeoxParameters[] = {"n_vocab", "n_ctx", "n_embd",  "n_head",
                                                "n_layer", "n_rot", "par_res", "ftype"};

constexpr Program kWhisper = {"whisper", kWhisperParameters, true, true};
constexpr Program kLlama = {"llama", kLlamaParameters};
constexpr Program kPrograms[] = {kWhisper,
                                 kLlama,
                                 {"gpt2", kGpt2Parameters, false, true},
                                 {"gptj", kGptjParameters, false, true},
                                 {"gptneox", kNeoxParameters}};
constexpr std::size_t kMelsAt = 9;             // the number of n_mels in whisper.cpp's list
constexpr std::int64_t kBlockVersions = 1000;  // the type of a file is its number plus this times the form of blocks

struct ElementType {
  std::string_view layout = "dense";
  DType dtype = DType::u8;
  std::uint64_t weights = 1, bytes = 0;
};

std::optional<ElementType> type_of(std::uint32_t number) {
  constexpr std::pair<std::uint32_t, DType> kDense[] = {{0, DType::f32},  {1, DType::f16},  {24, DType::i8},
                                                        {25, DType::i16}, {26, DType::i32}, {30, DType::bf16}};
  for (const auto& [dense, dtype] : kDense)
    if (dense == number) return ElementType{"dense", dtype, 1, size_of(dtype)};
  for (const codec::ggml::TypeFacts& facts : codec::ggml::kTypes)
    if (facts.number == number) return ElementType{facts.layout, DType::u8, facts.weights, facts.bytes};
  return std::nullopt;
}

class Reader {
 public:
  Reader(const SourcePtr& source, const ReadOptions& options) : source_(source), options_(options), window_(*source) {}

  Model run() {
    magic_ = take<std::uint32_t>("the magic number");
    if (!is_magic(magic_)) fail("ggmlbin.magic", "the magic number is none of ggml's", 0);
    if (magic_ != kPlain) version_ = take<std::uint32_t>("the version");
    const std::uint32_t newest = magic_ == kPlain ? 0 : magic_ == kWithVersion ? 1 : 3;
    if (magic_ != kPlain && (version_ == 0 || version_ > newest))
      fail("ggmlbin.version", fmt::format("expected a version from 1 to {}, found {}", newest, version_), 4,
           ErrorKind::unsupported);
    start_ = at_;
    if (magic_ != kPlain) return read_as(kLlama);
    if (looks_like_whisper()) return read_as(kWhisper);
    std::optional<Model> found;
    std::string_view first;
    for (const Program& program : kPrograms) {
      std::optional<Model> model = try_as(program);
      if (found && model)
        fail("ggmlbin.program", fmt::format("may be a file of {} or of {}: both could read it", first, program.name),
             start_, ErrorKind::unsupported);
      if (!model) continue;
      found = std::move(model);
      first = program.name;
    }
    if (!found)
      fail("ggmlbin.program",
           "its numbers are not those of a file of whisper.cpp, llama.cpp, GPT-2, GPT-J or NeoX; or it is damaged",
           start_, ErrorKind::unsupported);
    return std::move(*found);
  }

 private:
  [[noreturn]] void fail(std::string_view rule, const std::string& sentence, std::uint64_t at,
                         ErrorKind kind = ErrorKind::corrupt) const {
    throw Error(kind, rule, sentence).in(source_->name()).at(at);
  }

  std::uint64_t left() const { return source_->size() - at_; }
  void require(std::uint64_t count, std::string_view what) const {
    if (count > left())
      fail("ggmlbin.truncated", fmt::format("{} needs {} bytes, the file has {} left", what, count, left()), at_);
  }
  template <typename T>
  T take(std::string_view what) {
    require(sizeof(T), what);
    const T value = load_le<T>(window_.get(at_, sizeof(T)).data());
    at_ += sizeof(T);
    return value;
  }
  std::uint32_t count(std::string_view what) {
    const auto value = take<std::int32_t>(what);
    if (value < 0) fail("ggmlbin.count", fmt::format("{} is {}", what, value), at_ - 4);
    return static_cast<std::uint32_t>(value);
  }
  std::string text(std::uint64_t length, std::string_view what) {
    require(length, what);
    const std::string found(as_text(window_.get(at_, length)));
    at_ += length;
    return found;
  }

  // Whether the number of mel filters appears where whisper.cpp has it, twice, and a row of them has its usual length.
  bool looks_like_whisper() {
    constexpr std::size_t kNumbers = std::size(kWhisperParameters) + 2;
    constexpr std::uint32_t kColumns = 201;
    if (left() < kNumbers * 4) return false;
    const auto bytes = window_.get(at_, kNumbers * 4);
    const auto number = [&](std::size_t i) { return load_le<std::uint32_t>(bytes.data() + i * 4); };
    return number(kMelsAt) == number(kNumbers - 2) && number(kNumbers - 1) == kColumns;
  }

  // Nothing if it is not a file of this program.
  std::optional<Model> try_as(const Program& program) {
    try {
      return read_as(program);
    } catch (const Error& error) {
      // What is not supported was found after everything before it had been read as this program's.
      if (error.kind() != ErrorKind::corrupt) throw;
      return std::nullopt;
    }
  }

  Model read_as(const Program& program) {
    at_ = start_;
    Model model;
    model.version =
        magic_ == kPlain ? "ggml" : fmt::format("{} {}", magic_ == kWithVersion ? "ggmf" : "ggjt", version_);
    std::int64_t vocabulary = 0, type = 0;
    for (const std::string_view name : program.parameters) {
      type = take<std::int32_t>(name);
      if (model.metadata.empty()) vocabulary = type;
      model.metadata.append(fmt::format("{}.{}", program.name, name), type);
    }
    old_blocks_ = magic_ == kPlain ? type / kBlockVersions < 2 : version_ < 3 || magic_ != kAligned;
    NameSet names;
    if (program.filters) read_filters(model, names);
    read_tokens(program, vocabulary, type, model);
    while (left() > 0) read_tensor(model, names);
    return model;
  }

  void read_filters(Model& model, NameSet& names) {
    const std::uint64_t rows = count("the number of mel filters"), columns = count("the length of a mel filter");
    const std::uint64_t bytes = rows * columns * 4, at = at_;  // below 2^64: both are below 2^31
    require(bytes, "the mel filters");
    at_ += bytes;
    names.insert("mel_filters");
    model.tensors.push_back(dense("mel_filters", {rows, columns}, DType::f32, Blob::range(source_, at, bytes)));
  }

  void read_tokens(const Program& program, std::int64_t stated, std::int64_t type, Model& model) {
    std::uint64_t tokens = 0;
    if (program.counts_tokens) {
      tokens = count("the number of tokens");
      // whisper.cpp makes up the last ones itself.
      if (program.filters ? static_cast<std::int64_t>(tokens) > stated : static_cast<std::int64_t>(tokens) != stated)
        fail("ggmlbin.tokens", fmt::format("{} tokens follow, of a vocabulary of {}", tokens, stated), at_ - 4);
    } else {
      if (stated < 0) fail("ggmlbin.count", fmt::format("the size of the vocabulary is {}", stated), start_);
      // It is the number of tokens that other programs write there.
      if (magic_ == kPlain && type == stated)
        fail("ggmlbin.tokens", fmt::format("the type of the file is {}, like the size of its vocabulary", type),
             start_);
      tokens = static_cast<std::uint64_t>(stated);
    }
    const bool scores = magic_ != kPlain;
    if (tokens > left() / (scores ? 8 : 4))
      fail("ggmlbin.truncated", fmt::format("{} tokens do not fit into the {} bytes that are left", tokens, left()),
           at_);
    for (std::uint64_t i = 0; i < tokens; ++i) {
      const std::uint64_t length = take<std::uint32_t>("the length of a token");
      Token token;
      token.text = text(length, "a token");
      if (scores) token.score = take<float>("the score of a token");
      if (!options_.vocabulary) continue;
      charge_values();
      model.vocabulary.tokens.push_back(std::move(token));
    }
  }

  void read_tensor(Model& model, NameSet& names) {
    constexpr std::uint32_t kMostDimensions = 4, kLongestName = 4096;
    charge_values(kTensorPrice);
    const std::uint64_t start = at_;
    const std::uint32_t rank = take<std::uint32_t>("the number of dimensions");
    const std::uint32_t length = take<std::uint32_t>("the length of a name");
    const std::uint32_t number = take<std::uint32_t>("the type of a tensor");
    if (rank > kMostDimensions)
      fail("ggmlbin.rank", fmt::format("expected at most {} dimensions, found {}", kMostDimensions, rank), start);
    if (length > kLongestName)
      fail("ggmlbin.name", fmt::format("expected a name of at most {} bytes, found {}", kLongestName, length), start);
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t d = 0; d < rank; ++d) sizes.push_back(count("a dimension"));
    const Shape shape(sizes.rbegin(), sizes.rend());
    Tensor tensor;
    tensor.name = text(length, "the name of a tensor");
    if (tensor.name.empty()) fail("ggmlbin.name", "a tensor without a name", start);
    if (!names.insert(tensor.name).second)
      fail("ggmlbin.name", fmt::format("the name {} appears twice", quote(tensor.name)), start);
    if (magic_ == kAligned) skip_to_alignment();
    const auto type = type_of(number);
    if (!type)
      fail("ggmlbin.type",
           fmt::format("tensor {} has the type {}, which is not one of ggml's", quote(tensor.name), number), start);
    const std::uint64_t row = shape.empty() ? 1 : shape.back();
    const auto elements = shape.elements();
    const auto bytes = elements ? checked_mul(*elements / type->weights, type->bytes) : std::nullopt;
    if (!bytes || row % type->weights != 0)
      fail("ggmlbin.shape",
           fmt::format("tensor {} has the shape {}, which is not whole blocks of {}, or too large", quote(tensor.name),
                       shape.text(), type->weights),
           start);
    if (type->weights > 1 && old_blocks_)
      fail("ggmlbin.type.old",
           fmt::format("tensor {} has blocks of {} in a form before that of today, which no program reads any more; "
                       "quantize the original again",
                       quote(tensor.name), type->layout),
           start, ErrorKind::unsupported);
    require(*bytes, fmt::format("tensor {}", quote(tensor.name)));
    tensor.shape = shape;
    tensor.layout = type->layout;
    tensor.components.push_back(
        {type->weights == 1 ? "data" : "payload", type->dtype, {}, Blob::range(source_, at_, *bytes)});
    at_ += *bytes;
    model.tensors.push_back(std::move(tensor));
  }

  void skip_to_alignment() {
    constexpr std::uint64_t kAlignment = 32;
    const std::uint64_t padding = (kAlignment - at_ % kAlignment) % kAlignment;
    require(padding, "padding");
    at_ += padding;
  }

  SourcePtr source_;
  const ReadOptions& options_;
  io::Window window_;
  std::uint64_t at_ = 0, start_ = 0;
  std::uint32_t magic_ = 0, version_ = 0;
  bool old_blocks_ = false;
};

}  // namespace

Model read(const Input& input, const ReadOptions& options) {
  const Spending spending(allowance_of(options.limits));
  if (spending.is_outermost()) grant_source(*input.source);
  Model model = Reader(input.source, options).run();
  input.source->check();
  return model;
}

}  // namespace tare::ggmlbin
