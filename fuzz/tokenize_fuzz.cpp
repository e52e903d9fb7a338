// Tokenizers and texts. The first byte chooses the form of the rest. Every id must exist.
//
//   0  a tokenizer.json, a zero byte, the text
//   1  the length of a tokenizer.model in two bytes, the file, the text
//   2  a vocab.txt, a zero byte, the text
//   3  a regular expression, a zero byte, the text
#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "call.hpp"
#include "resources/resources.hpp"
#include "tare/tokenizer.hpp"
#include "tokenize/pattern.hpp"
#include "tokenize/unicode.hpp"

namespace {

using namespace tare;

Model model_of(const char* name, std::string_view content) {
  Model model;
  const auto bytes = std::as_bytes(std::span(content));
  model.attachments.push_back({name, Blob::memory(Bytes(bytes.begin(), bytes.end()))});
  return model;
}

void use(const Tokenizer& tokenizer, std::string_view text, bool frame) {
  for (const bool special : {false, true}) {
    const std::vector<std::int32_t> ids = tokenizer.encode(text, {.frame = frame, .special = special});
    for (const std::int32_t id : ids)
      if (id < 0 || static_cast<std::size_t>(id) >= tokenizer.size()) std::abort();
    static_cast<void>(tokenizer.decode(ids, special));
    if (!ids.empty()) static_cast<void>(tokenizer.piece(ids.front()));
  }
}

void split_by(std::string_view regex, std::string_view bytes) {
  const tokenize::Pattern pattern(regex);
  std::string room;
  const std::string_view text = tokenize::valid_text(bytes, room);
  tokenize::TextBudget budget = tokenize::TextBudget::of_text(0);
  tokenize::Pattern::Search search(pattern, text, budget);
  std::size_t at = 0;
  while (const auto found = search.next()) {
    if (found->begin < at || found->end < found->begin || found->end > text.size()) std::abort();
    at = found->end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 1 << 14;
  if (size < 3 || size > kLongest) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t zero = std::min(rest.find('\0'), rest.size());
  const std::string_view file = rest.substr(0, zero), text = rest.substr(std::min(zero + 1, rest.size()));
  const fuzz::Call call(size);
  try {
    switch (data[0] % 4) {
      case 0: use(Tokenizer(model_of("tokenizer.json", file)), text, true); break;
      case 1: {
        const std::size_t length = std::min<std::size_t>(data[1] | data[2] << 8, size - 3);
        Model model = model_of("tokenizer.model", rest.substr(2, length));
        model.vocabulary = resources::parse_sentencepiece(std::as_bytes(std::span(rest.substr(2, length))));
        use(Tokenizer(model), rest.substr(2 + length), false);
        break;
      }
      case 2: {
        Model model = model_of("vocab.txt", file);
        model.vocabulary = resources::parse_vocab_txt(file);
        use(Tokenizer(model), text, true);
        break;
      }
      default: split_by(file, text); break;
    }
  } catch (const Error&) {
  }
  return 0;
}
