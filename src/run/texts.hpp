// How tokens become batches, and where their hidden states are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "io/scratch.hpp"
#include "run/executor.hpp"
#include "tare/run.hpp"

namespace tare::run {

struct Scorer::Inner {
  Plan plan;
  std::vector<SourcePtr> sources;
  Model words;                    // the model without its tensors: what a tokenizer is made of
  mutable std::mutex mutex = {};  // protects what follows
  mutable std::optional<Tokenizer> tokenizer = {};

  // Throws if a file has changed since it was opened.
  void check_sources() const;
};

// The pieces of a text, and the batches that they run in.
struct Pieces {
  std::vector<std::int32_t> tokens;  // what `batches` refer to
  std::vector<Batch> batches;
  std::vector<std::uint64_t> first;  // the number of each piece's first token in the text

  Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
};

// The usual number of tokens of a piece.
std::uint64_t context_of(const Plan& plan, const Options& options);

// Throws `run.tokens` and `run.context`. `context`: 0 for one piece.
void check_tokens(const Plan& plan, std::span<const std::int32_t> tokens, std::uint64_t context,
                  const Options& options);
// `whole`: omit a rest that is shorter than `context`. `in_batch`: the bytes that what runs side by side may take.
void cut(std::span<const std::int32_t> tokens, std::uint64_t context, bool whole, const Options& options,
         std::uint64_t in_batch, std::uint64_t bytes_per_token, Pieces& out);

// The hidden states of all batches between two layers: in memory if they are few, else in a temporary file.
class HiddenStates {
 public:
  HiddenStates(const Pieces& pieces, std::uint64_t features, std::uint64_t in_memory);

  // Each batch is put once, then turn() is called, then each is taken once, and so on.
  void put(std::size_t batch, Floats states);
  void turn();
  Floats take(std::size_t batch);

 private:
  std::vector<std::uint64_t> sizes_, begins_;  // in bytes
  std::uint64_t total_ = 0;
  bool spilled_;
  std::vector<Floats> held_;
  std::unique_ptr<io::Scratch> written_;
  SourcePtr readable_;
};

}  // namespace tare::run
