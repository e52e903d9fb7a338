// The files of a model directory: the first byte chooses which file the rest is. What was read can be written and read
// again.
#include <cstdlib>
#include <string_view>

#include "call.hpp"
#include "resources/config_dtype.hpp"
#include "resources/model_files.hpp"
#include "resources/packed_config.hpp"
#include "resources/resources.hpp"

namespace {

using namespace tare;

// Ignores everything and continues.
class Collector final : public Diagnostics {
 public:
  void error(const Error&) override {}
};

void read_config(std::string_view text) {
  if (const auto restated = resources::restate_dtype(text, DType::bf16))
    if (resources::restate_dtype(restated->text, DType::bf16)) std::abort();
  Model model;
  const auto bytes = std::as_bytes(std::span(text));
  for (const char* const name : {"config.json", "modules.json"})
    model.attachments.push_back({name, Blob::memory(Bytes(bytes.begin(), bytes.end()))});
  resources::named_by(model.attachments);
  resources::stated_packing(model);
  const Config config = resources::parse_config(text);
  const std::string written = resources::config_json(config);
  if (resources::config_json(resources::parse_config(written)) != written) std::abort();
  resources::keys_beyond_config(text, true);
  resources::parse_rope_scaling(text);
}

// Splits the input at the first NUL into two files.
std::pair<std::string_view, std::string_view> halves(std::string_view text) {
  const std::size_t middle = text.find('\0');
  if (middle == std::string_view::npos) return {text, {}};
  return {text.substr(0, middle), text.substr(middle + 1)};
}

Vocabulary vocab_and_merges(std::string_view text) {
  const auto [vocab, merges] = halves(text);
  const bool has_merges = text.find('\0') != std::string_view::npos;
  Vocabulary vocabulary = resources::parse_vocab_json(vocab, has_merges);
  if (has_merges) vocabulary.merges = resources::parse_merges(merges);
  return vocabulary;
}

// A tokenizer.json, and what the files next to it add.
Vocabulary with_added(std::string_view text, bool as_config) {
  const auto [tokenizer, beside] = halves(text);
  Vocabulary vocabulary = resources::parse_tokenizer_json(tokenizer);
  resources::append_added(
      vocabulary, as_config ? resources::parse_added_tokens_decoder(beside) : resources::parse_added_tokens(beside));
  resources::find_special_tokens(vocabulary, {.tokenizer_config = beside, .special_tokens_map = beside});
  if (as_config) resources::keys_beyond_vocabulary(beside);
  return vocabulary;
}

// A directory: each file is a byte that chooses its name, and text up to a NUL. Files that describe the model are read,
// and missing ones are generated.
void read_directory(std::string_view text) {
  constexpr const char* kNames[] = {"config.json",
                                    "tokenizer.json",
                                    "tokenizer_config.json",
                                    "special_tokens_map.json",
                                    "added_tokens.json",
                                    "vocab.json",
                                    "merges.txt",
                                    "vocab.txt",
                                    "tokenizer.model",
                                    "generation_config.json",
                                    "chat_template.jinja",
                                    "spiece.model"};
  Model model;
  while (!text.empty()) {
    const auto [file, rest] = halves(text);
    text = rest;
    if (file.empty()) continue;
    const std::string name = kNames[static_cast<unsigned char>(file[0]) % std::size(kNames)];
    if (model.attachment(name) != nullptr) continue;
    const auto bytes = std::as_bytes(std::span(file.substr(1)));
    model.attachments.push_back({name, Blob::memory({bytes.begin(), bytes.end()})});
  }
  Collector collector;
  resources::describe(model, collector);
  resources::rope_scaling_of(model);
  resources::rotates(model);
  resources::complete(model);
  Model again;
  again.attachments = model.attachments;
  resources::describe(again, collector);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Vocabulary vocabulary;
  try {
    const fuzz::Call call(size);
    switch (data[0] % 8) {
      case 0: read_config(text); return 0;
      case 1: vocabulary = resources::parse_tokenizer_json(text); break;
      case 2: vocabulary = resources::parse_sentencepiece(std::as_bytes(std::span(text))); break;
      case 3: vocabulary = vocab_and_merges(text); break;
      case 4: vocabulary = resources::parse_vocab_txt(text); break;
      case 5: vocabulary = with_added(text, false); break;
      case 6: vocabulary = with_added(text, true); break;
      default: read_directory(text); return 0;
    }
    resources::find_special_tokens(vocabulary,
                                   {.config = R"({"bos_token_id": 0, "eos_token_id": [1], "pad_token_id": 2})"});
  } catch (const Error&) {
    return 0;
  }
  // Tare wrote this text, so it must parse; it may have fewer tokens (gaps at the end), never more.
  const Vocabulary back = resources::parse_tokenizer_json(resources::tokenizer_json(vocabulary));
  if (back.tokens.size() > vocabulary.tokens.size()) std::abort();
  return 0;
}
