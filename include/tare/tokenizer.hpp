// Turns texts into tokens and tokens into texts, by the tokenizer of a model: tokenizer.json, tokenizer.model, vocab.txt,
// or the keys and the vocabulary of its container.
//
// Const functions may be called from many threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare {

class TARE_API Tokenizer {
 public:
  // Throws not_found `tokenizer.none` if the model has no vocabulary, unsupported `tokenizer.kind`, `tokenizer.step` or
  // `tokenizer.pattern` for one whose texts Tare does not split as its own program does, and corrupt `tokenizer.*`.
  // Keeps nothing of the model.
  explicit Tokenizer(const Model& model);
  Tokenizer(const Tokenizer&) noexcept = default;
  Tokenizer(Tokenizer&&) noexcept = default;
  Tokenizer& operator=(const Tokenizer&) noexcept = default;
  Tokenizer& operator=(Tokenizer&&) noexcept = default;
  ~Tokenizer();

  struct EncodeOptions {
    bool frame = true;     // puts the tokens around it that the model expects: bos, eos, [CLS] ... [SEP]
    bool special = false;  // special tokens that appear in the text are these tokens; otherwise their letters
  };
  // The ids of a text. Bytes that are not UTF-8 are read as U+FFFD. Time and memory are proportional to its length, with
  // a factor of its logarithm. Throws limit `tokenizer.steps`, and `tokenizer.text` for more than 1 GiB.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options) const;
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const;
  // The ids that `frame` puts before a text, and after it.
  [[nodiscard]] std::vector<std::int32_t> before() const;
  [[nodiscard]] std::vector<std::int32_t> behind() const;
  // The text of these ids, as bytes: a token may hold a part of a character. `special`: special tokens are spelled,
  // otherwise omitted. Throws usage `tokenizer.id.range` for an id that does not exist.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids, bool special = true) const;

  // What a token is in the middle of a text, as bytes: with blanks as blanks, and bytes as bytes.
  [[nodiscard]] std::string piece(std::int32_t id) const;
  // The same for each of these ids. Throws limit `tokenizer.text` if they are much longer than tokens are.
  [[nodiscard]] std::vector<std::string> pieces(std::span<const std::int32_t> ids) const;
  // How many ids there are, gaps included.
  [[nodiscard]] std::size_t size() const;

  class Engine;

 private:
  std::shared_ptr<const Engine> engine_;
};

}  // namespace tare
