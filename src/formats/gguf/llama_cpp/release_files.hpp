// The files that a directory of Hugging Face's has and a GGUF file does not: config.json, those of the tokenizer, and
// those of sentence-transformers. Each has a source of its own; this is what they share.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/llama_cpp/arch_keys.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {

// The keys of the tokenizer ("tokenizer.*"). As with ArchKeys, it is known in the end which of them no file was made from.
class TokenizerKeys {
 public:
  explicit TokenizerKeys(const Model& model) : model_(model) {}

  // Null if the key does not exist.
  const Value* find(std::string_view key) const;
  const std::string* text(std::string_view key) const;  // null, too, if it is not a text
  bool flag(std::string_view key, bool otherwise) const;
  // The id of a token that exists.
  std::optional<std::int64_t> id(std::string_view key) const;
  // For a key that has no effect because of others.
  void ignore(std::string_view key) const { static_cast<void>(find(key)); }
  // The keys that were neither found nor ignored, in the order of the file.
  std::vector<std::string> unread() const;

 private:
  const Model& model_;
  mutable std::set<std::string, std::less<>> read_;
};

// The model that the files are made from, which also receives them. Its tensors still have llama.cpp's names.
struct Origin {
  Model& model;
  const arch::Family& family;
  const Way& way;
  std::vector<Change>& changes;
  ArchKeys keys;
  TokenizerKeys words;

  std::optional<double> number(std::string_view name) const { return keys.number(name); }
  // The tensor outside all layers that has this role; null if there is none.
  const Tensor* table(arch::Role role) const;
  std::int64_t head_size() const;
  bool is_yarn() const;
  void attach(std::string name, const std::string& text) const;
  // Reports a key that config.json cannot express.
  void report_key(std::string_view name, std::string detail) const;
};

// The text of config.json. Sets the model's model_type to the one of Hugging Face's class.
std::string made_config_json(const Origin& origin);
// Sets the keys of config.json for rotary positions.
void add_rope(const Origin& origin, Map& keys);
// Warns about keys that nothing has read, unless they change nothing.
void report_unread(const Origin& origin);
// Warns about sizes that llama.cpp requires and the file does not state: the class has a default in their place.
void report_unstated(const Origin& origin);
// Attaches the files that sentence-transformers reads for a model that makes one vector of a text.
void attach_pooling(const Origin& origin);
// Attaches tokenizer.json and tokenizer_config.json; also generation_config.json if several tokens end a text.
void attach_tokenizer(const Origin& origin);
// Marks the keys that Tare makes from attached files of a tokenizer as read.
void ignore_words_of_files(const Origin& origin);
// Reports keys of the tokenizer that nothing has read, unless they change nothing.
void report_unread_words(const Origin& origin);

}  // namespace tare::gguf::llama_cpp
