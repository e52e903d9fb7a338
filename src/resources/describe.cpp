// Converts attachments to Config and Vocabulary, and back.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "arch/model_types.hpp"
#include "resources/model_files.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

// Files that vocabularies are read from.
constexpr std::string_view kVocabularies[] = {"tokenizer.model", "tokenizer.json", "spiece.model", "vocab.json",
                                              "vocab.txt"};
// Ids of a Vocabulary that a file may name.
constexpr std::int64_t Vocabulary::*kSpecialIds[] = {&Vocabulary::bos, &Vocabulary::eos, &Vocabulary::pad,
                                                     &Vocabulary::unk};

// The text of a file, followed by kTextPadding bytes. Files that Tare made are in memory in this form (blob_of); other
// files are copied, because they may change while they are parsed.
class PaddedText {
 public:
  explicit PaddedText(const Attachment& file) {
    const Blob& blob = file.blob;
    if (blob.size() > kMaxFileBytes)
      throw Error(ErrorKind::limit, "blob.too_large",
                  fmt::format("expected at most {} bytes, found {}", kMaxFileBytes, blob.size()));
    const auto size = blob.size();
    if (file.made && blob.source() != nullptr && blob.source()->size() == blob.size() + kTextPadding)
      if (const auto view = blob.view()) {
        text_ = {reinterpret_cast<const char*>(view->data()), size};
        return;
      }
    copy_.resize(size + kTextPadding);
    blob.read_all(std::span(copy_).first(size));
    text_ = {reinterpret_cast<const char*>(copy_.data()), size};
  }
  PaddedText(const PaddedText&) = delete;
  PaddedText& operator=(const PaddedText&) = delete;

  std::string_view get() const { return text_; }

 private:
  Bytes copy_;
  std::string_view text_;
};

// Reads the text of attachments on demand and reports what is wrong with it.
class Files {
 public:
  Files(const Model& model, Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  bool has(std::string_view name) const { return model_.attachment(name) != nullptr; }

  // Runs `action` with the bytes of a file. Returns false if the file does not exist or is malformed.
  template <typename Action>
  bool with(std::string_view name, const Action& action) {
    const Attachment* const file = model_.attachment(name);
    if (file == nullptr || lists(bad_, name)) return false;
    try {
      action(PaddedText(*file).get());
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      warn(name, Error(error.kind(), error.rule(), error.sentence()), error.offset());
      bad_.emplace_back(name);
      return false;
    }
  }

  // `at`: byte offset in the file.
  void warn(std::string_view name, const Error& trouble, std::optional<std::uint64_t> at = std::nullopt) {
    diagnostics_.warning(located(name, trouble, at));
  }
  bool thorough() const { return diagnostics_.thorough(); }
  // Reports a value of a file that is not used.
  void ignore(std::string_view name, std::string_view rule, const std::string& sentence) {
    diagnostics_.ignored_value(located(name, Error(ErrorKind::corrupt, rule, sentence + "; it is ignored")));
  }

 private:
  Error located(std::string_view name, Error trouble, std::optional<std::uint64_t> at = std::nullopt) const {
    const Source* const source = model_.attachment(name)->blob.source().get();
    const bool own_file = source != nullptr && source->name().ends_with(name);
    if (source != nullptr) trouble.in(source->name());
    if (own_file && at) trouble.at(*at);
    return own_file ? trouble : trouble.about(name);
  }

  static bool lists(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  const Model& model_;
  Diagnostics& diagnostics_;
  std::vector<std::string> bad_;  // files already reported
};

struct Addition {
  std::string_view file;
  std::vector<AddedToken> tokens;
  std::uint64_t highest;  // id
};

std::vector<AddedToken> tokens_of(const std::vector<Addition>& additions) {
  std::vector<AddedToken> all;
  for (const Addition& addition : additions) all.insert(all.end(), addition.tokens.begin(), addition.tokens.end());
  return all;
}

// Either file may have tokens that the other lacks: only together do they show which ids are unused. If too many are,
// the file with the highest id is dropped and the other one used alone.
void add_later_tokens(Files& files, Vocabulary& vocabulary) {
  std::vector<Addition> additions;
  const auto collect = [&](std::string_view name, const auto& parse) {
    files.with(name, [&](std::string_view text) {
      Addition addition{name, parse(text), 0};
      for (const AddedToken& added : addition.tokens) addition.highest = std::max(addition.highest, added.id);
      additions.push_back(std::move(addition));
    });
  };
  // added_tokens.json does not state which of its tokens are special, and the vocabulary may.
  collect("added_tokens.json", [&](std::string_view text) {
    std::vector<AddedToken> added = parse_added_tokens(text);
    std::erase_if(added, [&](const AddedToken& token) {
      if (token.id >= vocabulary.tokens.size()) return false;
      const Token& known = vocabulary.tokens[static_cast<std::size_t>(token.id)];
      return known.type == TokenType::control && known.text == token.token.text;
    });
    return added;
  });
  collect("tokenizer_config.json", parse_added_tokens_decoder);
  while (!additions.empty()) {
    const auto farthest = std::max_element(additions.begin(), additions.end(),
                                           [](const Addition& a, const Addition& b) { return a.highest < b.highest; });
    const auto append = [&](std::string_view) { append_added(vocabulary, tokens_of(additions)); };
    if (files.with(farthest->file, append)) return;
    additions.erase(farthest);
  }
}

// Tokens added after the training are in tokenizer.json only, after the others. It also states the texts of tokens that
// were renamed, and which ones are special.
void take_tokens_of_json(Vocabulary& vocabulary, const Vocabulary& json) {
  std::vector<AddedToken> added;
  for (std::size_t id = 0; id < json.tokens.size(); ++id) {
    const Token& token = json.tokens[id];
    if (id >= vocabulary.tokens.size())
      vocabulary.tokens.push_back(token);
    else if (token.type == TokenType::control || token.type == TokenType::user_defined)
      added.push_back({id, {token.text, 0, token.type}});
  }
  append_added(vocabulary, std::move(added));
}

// Sets `typed` to whether the file with the vocabulary marks special tokens.
Vocabulary read_vocabulary(Files& files, const Config& config, bool& typed) {
  Vocabulary vocabulary;
  typed = true;
  const auto read_pieces = [&](std::string_view model) {
    vocabulary = parse_sentencepiece(std::as_bytes(std::span(model.data(), model.size())));
  };
  const auto read_spiece = [&] {
    if (!files.has("spiece.model") || !arch::shifts_pieces(config.model_type.value_or("")))
      return files.with("spiece.model", read_pieces);
    files.warn("spiece.model", Error(ErrorKind::unsupported, "tokenizer.shifted",
                                     "the ids of its pieces are not the model's; a tokenizer.json would have them"));
    return false;
  };
  const auto read_vocab_json = [&] {
    const bool has_merges = files.has("merges.txt");
    if (!files.with("vocab.json", [&](std::string_view text) { vocabulary = parse_vocab_json(text, has_merges); }))
      return false;
    files.with("merges.txt", [&](std::string_view text) { vocabulary.merges = parse_merges(text); });
    return true;
  };
  const auto read_words = [&](std::string_view text) { vocabulary = parse_vocab_txt(text); };

  if (files.with("tokenizer.model", read_pieces)) {
    files.with("tokenizer.json",
               [&](std::string_view text) { take_tokens_of_json(vocabulary, parse_tokenizer_json(text, true)); });
    add_later_tokens(files, vocabulary);
    return vocabulary;
  }
  if (files.with("tokenizer.json", [&](std::string_view text) { vocabulary = parse_tokenizer_json(text, true); }))
    return vocabulary;
  typed = read_spiece();
  if (typed || read_vocab_json() || files.with("vocab.txt", read_words)) add_later_tokens(files, vocabulary);
  return vocabulary;
}

// Tokens named in the settings take precedence over the vocabulary's own file, which fine-tunes do not update.
void read_special_tokens(Files& files, Vocabulary& vocabulary, bool typed) {
  std::vector<std::int64_t> own;
  for (const auto id : kSpecialIds) own.push_back(std::exchange(vocabulary.*id, -1));
  const auto find_in = [&](std::string_view name, std::string_view SpecialTokenFiles::*kind) {
    files.with(name, [&](std::string_view text) {
      SpecialTokenFiles only{.typed = typed};
      only.*kind = text;
      std::vector<std::string> ignored;
      find_special_tokens(vocabulary, only, &ignored);
      for (const std::string& sentence : ignored) files.ignore(name, "tokenizer.special", sentence);
    });
  };
  find_in("tokenizer_config.json", &SpecialTokenFiles::tokenizer_config);
  find_in("special_tokens_map.json", &SpecialTokenFiles::special_tokens_map);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (vocabulary.*kSpecialIds[i] < 0) vocabulary.*kSpecialIds[i] = own[i];
  files.with("config.json", [&](std::string_view text) {
    std::vector<std::string> ignored;
    find_special_tokens(vocabulary, {.config = text, .typed = typed}, &ignored);
    // Many fine-tunes have such ids, and programs work around them: only `verify` names them.
    if (files.thorough())
      for (const std::string& sentence : ignored) files.ignore("config.json", "tokenizer.id", sentence);
  });
  find_special_tokens(vocabulary, {.typed = typed});  // sets the types even if there was no file
}

void name_unread(const Model& model, Files& files) {
  for (const Attachment& file : model.attachments)
    if (kind_of(file.name) == FileKind::vocabulary)
      files.warn(file.name,
                 Error(ErrorKind::unsupported, "tokenizer.unread",
                       fmt::format("a vocabulary in a form that is not read ({}); a tokenizer.json would have it",
                                   unread_reason(file.name))));
}

template <std::size_t N>
bool among(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Blob blob_of(std::string_view text) {
  Bytes bytes(text.size() + kTextPadding);
  std::memcpy(bytes.data(), text.data(), text.size());
  return Blob::range(memory_source(std::move(bytes)), 0, text.size());
}

}  // namespace

Role role_of(std::string_view file_name) {
  const FileKind kind = kind_of(file_name);
  if (kind == FileKind::described) return Role::described;
  return kind == FileKind::other ? Role::other : Role::carried;
}

bool holds_vocabulary(std::string_view file_name) {
  return among(kVocabularies, file_name) || kind_of(file_name) == FileKind::vocabulary;
}

void describe(Model& model, Diagnostics& diagnostics) {
  Files files(model, diagnostics);
  if (model.config.empty())
    files.with("config.json", [&](std::string_view text) {
      std::vector<std::string> ignored;
      model.config = parse_config(text, &ignored);
      for (const std::string& sentence : ignored) files.ignore("config.json", "config.type", sentence);
    });
  if (!model.vocabulary.empty()) return;
  bool typed = false;
  model.vocabulary = read_vocabulary(files, model.config, typed);
  if (model.vocabulary.empty())
    name_unread(model, files);
  else
    read_special_tokens(files, model.vocabulary, typed);
}

namespace {

class Problems final : public Diagnostics {
 public:
  void warning(const Error& about) override { all_.push_back(about); }
  void ignored_value(const Error& /*about*/) override {}  // one value, not the file
  // Throws the first problem with config.json, or with another file.
  void raise(bool with_config) const {
    for (const Error& one : all_)
      if ((one.item() == "config.json" || one.file().ends_with("config.json")) == with_config) throw one;
  }

 private:
  std::vector<Error> all_;
};

}  // namespace

void describe_anew(Model& model) {
  const Config config = model.config;
  const Vocabulary vocabulary = model.vocabulary;
  Problems problems;
  if (model.attachment("config.json") != nullptr) model.config = {};
  if (std::ranges::any_of(model.attachments, holds_vocabulary, &Attachment::name)) model.vocabulary = {};
  const bool has_tokens = !model.vocabulary.empty();
  describe(model, problems);
  if (model.config.empty() && !config.empty()) problems.raise(true);
  if (model.vocabulary.empty() && !vocabulary.empty()) problems.raise(false);
  Files files(model, problems);
  if (has_tokens) read_special_tokens(files, model.vocabulary, true);
}

// Returns whether the attached files give the model's vocabulary. A placeholder, a damaged file or one of another model
// does not: what they give has less than half of its tokens. Padding to whole rows is no reason to doubt them.
bool have_vocabulary(const Model& model, bool tokenizer_json_only) {
  Model files;
  files.config = model.config;
  bool any = false;
  for (const Attachment& file : model.attachments) {
    const bool pieces = file.name == "tokenizer.model" || file.name == "spiece.model";
    if (tokenizer_json_only && pieces) continue;
    any = any || among(kVocabularies, file.name);
    if (holds_vocabulary(file.name)) files.attachments.push_back(file);
  }
  if (!any) return false;
  Problems problems;
  describe(files, problems);
  return 2 * files.vocabulary.tokens.size() >= model.vocabulary.tokens.size();
}

void complete(Model& model, bool tokenizer_json_only) {
  const auto add = [&](std::string_view name, std::string_view text) {
    if (model.attachment(name) == nullptr)
      model.attachments.push_back({.name = std::string(name), .blob = blob_of(text), .made = true});
  };
  if (!model.config.empty()) add("config.json", config_json(model.config, model.vocabulary));
  if (model.vocabulary.empty() || have_vocabulary(model, tokenizer_json_only)) return;
  add("tokenizer.json", tokenizer_json(model.vocabulary));
  add("tokenizer_config.json", tokenizer_config_json(model.vocabulary));
}

}  // namespace tare::resources
