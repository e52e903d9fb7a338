// A run of a Tiny Llama. It keeps the keys and values of the tokens so far, so that one more token costs one position.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tare/export.hpp"
#include "tiny_llama/model.hpp"

namespace tiny_llama {

struct SessionOptions {
  unsigned threads = 0;            // 0: all cores; the results do not depend on it
  std::int32_t max_positions = 0;  // number of tokens to allocate memory for; 0: the model's max_seq_length
};

// Uses the model, which must outlive the session and must not change. Not thread-safe.
class TARE_API Session {
 public:
  explicit Session(const TinyLlamaModel& model, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Appends tokens and returns the logits after the last one: vocab_size numbers, valid until the next call. Throws
  // `tllm.run.empty`, `tllm.run.token`, and `tllm.run.length` if there is no room for them; nothing is appended then.
  // Throws FileIOException `io.source.shrank` if a mapped weight file was truncated during the work.
  std::span<const float> feed(std::span<const std::int32_t> tokens);
  // The same with the logits after each token, one row of vocab_size numbers each.
  std::vector<float> feed_all(std::span<const std::int32_t> tokens);

  // The number of tokens so far, and how many more there is room for.
  std::int32_t position() const;
  std::int32_t room() const;
  // Removes all tokens after the first `position`.
  void rewind(std::int32_t position = 0);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace tiny_llama
