// Runs models of known families: logits, perplexity, the comparison of two models, and what follows a text.
//
//   const tare::run::Scorer scorer(tare::open("model.gguf"));
//   const std::vector<float> logits = scorer.logits(tokens);
//   const tare::run::Comparison found = tare::run::compare(a, b, "A text, which both models' tokenizers turn into tokens.");
//
//   tare::run::Session session(scorer);
//   tare::run::Generated made = generate(session, scorer.tokenizer().encode("Once upon a time"));
//
// Any container and layout will do. A scorer computes in f32. It decodes the weights a tile at a time, once for all
// tokens whose states fit into Options::memory together. Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/change.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/tokenizer.hpp"
#include "tare/work.hpp"

namespace tare::run {

struct Options {
  // What hidden states and intermediate results may take, at most; they also take no more than 16 MiB and eight times the
  // bytes of the model's files. What does not fit is in a temporary file, or computed in several parts, each of which
  // reads the weights again. A text takes what it needs, though, and so does a tile.
  std::uint64_t memory = std::uint64_t{1} << 30;
  // Texts are cut into pieces of so many tokens, which know nothing of each other. 0: not cut; for perplexity() and
  // compare(), 512, or what the model has if that is less.
  std::uint64_t context = 0;
  // Replaces the first token of each piece, as llama.cpp does for models whose texts begin with a token of their own.
  // Functions that are given a text know it.
  std::optional<std::int32_t> begin = {};
  Work work = {};
};

class TARE_API Scorer {
 public:
  // Reads no weights, but checks that all are there. Keeps the files of the tokenizer. Throws unsupported `run.family`
  // and `run.setting`, corrupt `run.config` and `run.tensors`.
  explicit Scorer(Model model);
  ~Scorer();
  Scorer(Scorer&&) noexcept;
  Scorer& operator=(Scorer&&) noexcept;

  std::uint64_t vocab_size() const;
  std::uint64_t hidden_size() const;
  std::uint64_t layers() const;
  // The most tokens of a piece, as far as the model states it; else 0.
  std::uint64_t context() const;

  // What the model's files state and a scorer does not compute, so that other programs may get other results; nearly
  // always nothing. The command prints them as warnings.
  const std::vector<Change>& doubts() const;

  // For each token, the logits of the token after it: tokens.size() rows of vocab_size(). Throws usage `run.tokens` for
  // no tokens or one that does not exist, `run.context` for a text that is too long, corrupt `run.not_finite` for weights
  // that are NaN or infinite, `run.overflow`, and errors in the data.
  [[nodiscard]] std::vector<float> logits(std::span<const std::int32_t> tokens, const Options& options = {}) const;

  // Made when it is first asked for. Throws what the constructor of Tokenizer throws.
  const Tokenizer& tokenizer() const;
  // The tokens that end a text, by the model's files: eos, and the ends of turns and messages. Sorted.
  [[nodiscard]] std::vector<std::int32_t> stop_tokens() const;

  struct Inner;
  const Inner& inner() const { return *inner_; }

 private:
  std::unique_ptr<const Inner> inner_;
};

// A mean or a quantile, with its standard error.
struct Estimate {
  double value = 0, error = 0;
};

struct Perplexity {
  Estimate perplexity = {}, loss = {};  // loss: the mean negative log likelihood of a token, in nats
  std::uint64_t tokens = 0;             // that were predicted
  std::uint64_t pieces = 0;
  std::uint64_t context = 0;  // tokens of a piece
};

// By llama.cpp's convention: of each whole piece of Options::context tokens, the second half counts; what remains after
// the last whole piece does not. Throws usage `run.tokens` if there is no whole piece, and what logits() throws.
[[nodiscard]] TARE_API Perplexity perplexity(const Scorer& scorer, std::span<const std::int32_t> tokens,
                                             const Options& options = {});
// The same for the tokens that the model's tokenizer makes of a text: with the token before it that the model expects,
// which begins each piece, and none after it. Special tokens in the text are letters. Throws what Scorer::tokenizer()
// throws, too.
[[nodiscard]] TARE_API Perplexity perplexity(const Scorer& scorer, std::string_view text, const Options& options = {});

// One place of a model: the embeddings, a layer, the output.
struct PlaceDifference {
  std::string name;       // "embeddings", "layer 3", "output"
  double difference = 0;  // relative distance of the hidden states after it (output: logits) from those of A
  double own = 0;         // relative distance of its additions if B also gets A's hidden states: its own part
};

// Where two models part beyond rounding.
struct Parting {
  std::string place;
  std::optional<std::uint64_t> layer = {};
  std::string tensor = {};  // the first one that differs there, by its name in a directory; empty: none, but settings
  std::string role = {};    // what it is for: "q", "ffn.up"
  double relative_rms = 0;  // the difference of that tensor
  // The first row of it with a block that differs by more than the two types explain; none if only the whole does.
  std::optional<std::uint64_t> row = {};
};

// One token of the text after which the two disagree.
struct Position {
  std::uint64_t token = 0;  // its number in the text
  double kl = 0;
  std::int32_t best_a = -1, best_b = -1;  // the tokens that each expects most
  // As bytes, if a text was compared: the last tokens up to this one, the next one, and what was expected.
  std::string text = {}, next = {}, said_a = {}, said_b = {};
};

struct Comparison {
  std::uint64_t tokens = 0, predicted = 0;  // compared; for the perplexities
  Estimate kl, kl_median, kl_99;            // KL divergence of B's next token from A's, in nats
  double kl_largest = 0;
  Perplexity a, b;
  Estimate ratio;                       // perplexity of B / perplexity of A
  Estimate top_1, top_5;                // how often, and how many of five, both name the same tokens
  double largest_change = 0;            // largest difference of a token's probability
  std::vector<PlaceDifference> places;  // empty if the two have other layers
  std::optional<Parting> parting;
  std::vector<std::pair<std::string, std::string>> settings = {};  // that differ: name, "A -> B"
  std::vector<std::pair<std::string, std::uint64_t>> casts = {};   // "f32 -> ggml.q8_0" and how many tensors
  std::vector<Position> worst = {};                                // up to ten
};

// Runs two models on the same tokens, in pieces of Options::context; a shorter rest counts if it has two tokens. KL and
// agreement are of all tokens, perplexities of the second half of each piece. Throws usage `run.vocabularies` if the
// two do not have equally many tokens, and what logits() throws.
[[nodiscard]] TARE_API Comparison compare(const Scorer& a, const Scorer& b, std::span<const std::int32_t> tokens,
                                          const Options& options = {});
// The same for a text, as perplexity() does it. Throws usage `run.tokenizers` if the tokenizers of the two turn it into
// other tokens. If only one of the models has a tokenizer that Tare knows, it is that of both.
[[nodiscard]] TARE_API Comparison compare(const Scorer& a, const Scorer& b, std::string_view text,
                                          const Options& options = {});

// A text of 6 KB in a dozen languages, with a table and code, for a first impression.
[[nodiscard]] TARE_API std::string_view sample_text();

// ---- generating ----

struct SessionOptions {
  // The most tokens; 0: what the model states. Where positions are scaled by the length of a text (longrope, dynamic),
  // this is that length from the first token on.
  std::uint64_t positions = 0;
  // Rounds the vectors that quantized matrices are multiplied with to 8 bits, as other runtimes do: faster, but the logits
  // are those of the scorer only roughly.
  bool quantized = false;
  // What layouts that cannot be multiplied as they are stored may take when they are decoded; more of them are decoded
  // again for each token.
  std::uint64_t memory = std::uint64_t{4} << 30;
  Work work = {};
};

// A text that grows, with the keys and values of all its tokens, in f32. The scorer must outlive it. For one thread at a
// time.
class TARE_API Session {
 public:
  explicit Session(const Scorer& scorer, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Appends tokens, and returns the logits of the one after them, which are valid until the next call. Throws usage
  // `run.tokens`, `run.context` if there are not enough positions, corrupt `run.overflow`, and errors in the data; then
  // the tokens may have been appended in part.
  std::span<const float> feed(std::span<const std::int32_t> tokens);
  std::uint64_t position() const;
  std::uint64_t room() const;
  // Forgets all tokens from `position` on.
  void rewind(std::uint64_t position);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

// How the next token is chosen: the logits are divided by the temperature; of the most likely tokens, the first `top_k`
// stay, then the first that have `top_p` of the probability together, then those with at least `min_p` times the
// probability of the first.
struct Sampling {
  float temperature = 0;    // 0: the most likely token
  std::uint32_t top_k = 0;  // 0: all
  float top_p = 1, min_p = 0;
  std::uint64_t seed = 0;
};

class TARE_API Sampler {
 public:
  // Throws usage `run.sampling` for numbers that have no meaning.
  explicit Sampler(const Sampling& sampling);
  // The same logits and seed give the same token. Throws corrupt `run.overflow` if no logit is a number.
  std::int32_t next(std::span<const float> logits);

 private:
  Sampling sampling_;
  std::uint64_t state_;
  std::vector<std::pair<float, std::int32_t>> candidates_;
  std::vector<double> weights_;
};

struct GenerateOptions {
  std::uint64_t count = 128;  // the most tokens
  Sampling sampling = {};
  // Tokens that end the text; they are not part of it. Add Scorer::stop_tokens() to end where the model ends.
  std::vector<std::int32_t> stops = {};
  // Called with each token as it is made; ends after it if this returns false.
  std::function<bool(std::int32_t)> on_token = {};
};

enum class End : std::uint8_t { count, stop, positions, asked };
[[nodiscard]] TARE_API std::string_view name_of(End end);

struct Generated {
  std::vector<std::int32_t> tokens;
  End end = End::count;
};

// What follows these tokens, after those that the session has. What has been made is in the session, without the last
// token.
[[nodiscard]] TARE_API Generated generate(Session& session, std::span<const std::int32_t> tokens,
                                          const GenerateOptions& options = {});
// Makes a session for `tokens` and `count` more (`session.positions` overrides that), and generates. Throws `run.context`
// and `run.tokens` before any weight is read.
[[nodiscard]] TARE_API Generated generate(const Scorer& scorer, std::span<const std::int32_t> tokens,
                                          const GenerateOptions& options = {}, SessionOptions session = {});
// Likewise: the logits of the token after these.
[[nodiscard]] TARE_API std::vector<float> next_logits(const Scorer& scorer, std::span<const std::int32_t> tokens,
                                                      SessionOptions session = {});

// Returns the bytes that tokens add to the text before them. Special tokens add nothing. A token that the model has and
// its tokenizer does not is "<N>", with its number.
[[nodiscard]] TARE_API std::string continuation(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens);

}  // namespace tare::run
