// The files of a model directory: the first byte chooses which one the rest is. What was read can be written, and what is
// written is read again.
#include <cstdlib>
#include <string_view>

#include "resources/config_dtype.hpp"
#include "resources/model_files.hpp"
#include "resources/packed_config.hpp"
#include "resources/resources.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tare;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Vocabulary vocabulary;
  try {
    switch (data[0] % 5) {
      case 0: {
        if (const auto restated = resources::restate_dtype(text, DType::bf16))
          if (resources::restate_dtype(restated->text, DType::bf16)) std::abort();
        Model model;
        const auto bytes = std::as_bytes(std::span(text));
        for (const char* const name : {"config.json", "modules.json"})
          model.attachments.push_back({name, Blob::memory(Bytes(bytes.begin(), bytes.end()))});
        resources::named_by(model.attachments);
        resources::stated_quantization(model);
        const Config config = resources::parse_config(text);
        if (resources::config_json(resources::parse_config(resources::config_json(config))) !=
            resources::config_json(config))
          std::abort();
        return 0;
      }
      case 1: vocabulary = resources::parse_tokenizer_json(text); break;
      case 2: vocabulary = resources::parse_sentencepiece(std::as_bytes(std::span(text))); break;
      case 3: {
        const std::size_t middle = text.find('\0');
        vocabulary = resources::parse_vocab_json(text.substr(0, middle), middle != std::string_view::npos);
        if (middle != std::string_view::npos) vocabulary.merges = resources::parse_merges(text.substr(middle + 1));
        break;
      }
      default: vocabulary = resources::parse_vocab_txt(text);
    }
    resources::find_special_tokens(vocabulary,
                                   {.config = R"({"bos_token_id": 0, "eos_token_id": [1], "pad_token_id": 2})"});
  } catch (const Error&) {
    return 0;
  }
  // Our own text, so it must parse; it may name fewer tokens (gaps at the end), never others.
  const Vocabulary back = resources::parse_tokenizer_json(resources::tokenizer_json(vocabulary));
  if (back.tokens.size() > vocabulary.tokens.size()) std::abort();
  return 0;
}
