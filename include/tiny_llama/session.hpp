// A run of a Tiny Llama: the tokens fed so far, as keys and values, so that one more token costs one position.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tare/export.hpp"
#include "tiny_llama/model.hpp"

namespace tiny_llama {

struct SessionOptions {
  unsigned threads = 0;            // 0: all cores. The results do not depend on it
  std::int32_t max_positions = 0;  // tokens it has room for, in memory; 0: the model's max_seq_length
};

// Uses the model, which must outlive it and not change meanwhile. Not for several threads at once.
class TARE_API Session {
 public:
  explicit Session(const TinyLlamaModel& model, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Appends tokens and returns the logits behind the last: vocab_size numbers, valid until the next call. Throws
  // `tllm.run.empty`, `tllm.run.token`, and `tllm.run.length` when they do not fit behind those fed before; then nothing
  // was appended. Throws FileIOException `io.source.shrank` when a mapped weight file became shorter meanwhile.
  std::span<const float> feed(std::span<const std::int32_t> tokens);
  // The same with the logits behind each of them, one row of vocab_size a token.
  std::vector<float> feed_all(std::span<const std::int32_t> tokens);

  // Tokens fed so far, and how many more there is room for.
  std::int32_t position() const;
  std::int32_t room() const;
  // Forgets the tokens behind the first `position`.
  void rewind(std::int32_t position = 0);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace tiny_llama
