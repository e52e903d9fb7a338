// From attachments to Config and Vocabulary, and back.
#include <algorithm>
#include <optional>

#include "resources/resources.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kDescribed[] = {
    "config.json", "tokenizer.json",        "tokenizer.model",         "vocab.json",
    "merges.txt",  "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};
constexpr std::string_view kCarried[] = {"generation_config.json", "chat_template.jinja", "chat_template.json",
                                         "preprocessor_config.json", "processor_config.json",
                                         // Vocabularies in forms that are not read.
                                         "vocab.txt", "spiece.model", "sentencepiece.bpe.model", "tekken.json"};
constexpr std::string_view kTemplates = "additional_chat_templates/";
// Each of these holds a vocabulary.
constexpr std::string_view kVocabularies[] = {"tokenizer.model", "tokenizer.json", "vocab.json"};

// The attachments' text, read when it is asked for, and what went wrong with it.
class Files {
 public:
  Files(const Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  bool has(std::string_view name) const { return model_.attachment(name) != nullptr; }

  // Runs `action` with the bytes of a file, if there is one. False when there is none or it is bad.
  template <typename Action>
  bool with(std::string_view name, const Action& action) {
    const Attachment* const file = model_.attachment(name);
    if (file == nullptr || lists(bad_, name)) return false;
    try {
      const Bytes bytes = file->blob.bytes(kMaxFileBytes);
      action(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      warn(name, Error(error.kind(), error.rule(), error.sentence()));
      bad_.emplace_back(name);
      return false;
    }
  }

  void warn(std::string_view name, Error trouble) {
    const Source* const source = model_.attachment(name)->blob.source().get();
    const bool own_file = source != nullptr && source->name().ends_with(name);
    if (source != nullptr) trouble.in(source->name());
    diagnostics_.warning(own_file ? trouble : trouble.about(name));
  }

 private:
  static bool lists(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  const Model& model_;
  Diagnostics& diagnostics_;
  std::vector<std::string> bad_;  // said once is enough
};

void add_later_tokens(Files& files, Vocabulary& vocabulary) {
  files.with("added_tokens.json", [&](std::string_view text) { add_tokens(vocabulary, text); });
  files.with("tokenizer_config.json", [&](std::string_view text) { add_decoder_tokens(vocabulary, text); });
}

Vocabulary read_vocabulary(Files& files) {
  Vocabulary vocabulary;
  const auto spm = [&](std::string_view model) {
    vocabulary = parse_sentencepiece(std::as_bytes(std::span(model.data(), model.size())));
  };
  if (files.with("tokenizer.model", spm)) {
    // Tokens that were added after the training stand in tokenizer.json only, behind the others.
    files.with("tokenizer.json", [&](std::string_view text) {
      const Vocabulary all = parse_tokenizer_json(text);
      for (std::size_t id = vocabulary.tokens.size(); id < all.tokens.size(); ++id)
        vocabulary.tokens.push_back(all.tokens[id]);
    });
    add_later_tokens(files, vocabulary);
    return vocabulary;
  }
  if (files.with("tokenizer.json", [&](std::string_view text) { vocabulary = parse_tokenizer_json(text); }))
    return vocabulary;
  files.with("vocab.json", [&](std::string_view vocab) {
    std::string merges;
    files.with("merges.txt", [&](std::string_view text) { merges = text; });
    vocabulary = parse_vocab_and_merges(vocab, merges);
    add_later_tokens(files, vocabulary);
  });
  return vocabulary;
}

void read_special_tokens(Files& files, Vocabulary& vocabulary) {
  files.with("tokenizer_config.json",
             [&](std::string_view text) { find_special_tokens(vocabulary, {.tokenizer_config = text}); });
  files.with("special_tokens_map.json",
             [&](std::string_view text) { find_special_tokens(vocabulary, {.special_tokens_map = text}); });
  files.with("config.json", [&](std::string_view text) { find_special_tokens(vocabulary, {.config = text}); });
}

Blob blob_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return Blob::memory(Bytes(bytes.begin(), bytes.end()));
}

}  // namespace

Role role_of(std::string_view file_name) {
  const auto among = [&](std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), file_name) != names.end();
  };
  const bool chat_template = file_name.starts_with(kTemplates) && file_name.ends_with(".jinja");
  return among(kDescribed) ? Role::described : among(kCarried) || chat_template ? Role::carried : Role::other;
}

bool holds_vocabulary(std::string_view file_name) {
  return std::find(std::begin(kVocabularies), std::end(kVocabularies), file_name) != std::end(kVocabularies);
}

void describe(Model& model, Diagnostics& diagnostics) {
  Files files(model, diagnostics);
  if (model.config.empty())
    files.with("config.json", [&](std::string_view text) {
      std::vector<std::string> ignored;
      model.config = parse_config(text, &ignored);
      for (const std::string& sentence : ignored)
        files.warn("config.json", Error(ErrorKind::corrupt, "config.type", sentence + "; it is ignored"));
    });
  if (!model.vocabulary.empty()) return;
  model.vocabulary = read_vocabulary(files);
  if (!model.vocabulary.empty()) read_special_tokens(files, model.vocabulary);
}

void complete(Model& model) {
  const auto add = [&](std::string_view name, std::string_view text) {
    if (model.attachment(name) == nullptr) model.attachments.push_back({std::string(name), blob_of(text)});
  };
  if (!model.config.empty()) add("config.json", config_json(model.config));
  const bool has_vocabulary = std::any_of(model.attachments.begin(), model.attachments.end(),
                                          [](const Attachment& file) { return holds_vocabulary(file.name); });
  if (model.vocabulary.empty() || has_vocabulary) return;
  add("tokenizer.json", tokenizer_json(model.vocabulary));
  add("tokenizer_config.json", tokenizer_config_json(model.vocabulary));
}

}  // namespace tare::resources
