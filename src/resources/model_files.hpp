// The table of files that belong to a model, and the further files that these name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

enum class FileKind : std::uint8_t {
  described,   // its content is in Config and Vocabulary: config.json, tokenizer.json, merges.txt, ...
  vocabulary,  // has a vocabulary, in a form that is not read
  setting,     // loaders look for it: generation_config.json, the chat template, adapter_config.json, ...
  document,    // for people: README.md, LICENSE
  code,        // Python; part of the model if another file names it
  other,       // none of the well-known files
};
// Takes an attachment's name, or a path relative to the model's directory.
FileKind kind_of(std::string_view file_name);
// Returns whether loaders look for a file of exactly this name, not only for names that match a pattern.
bool is_known_name(std::string_view file_name);
// Returns whether the file is about the tokenizer: its tokens, how it splits text, or the chat template.
bool is_tokenizer_file(std::string_view file_name);
// Why a `vocabulary` is not read.
std::string_view unread_reason(std::string_view file_name);

// The further files that a model's files name: code by the auto_map of a config, folders by modules.json.
struct NamedFiles {
  bool code = false;                 // covers all modules of the directory: they import each other
  std::vector<std::string> folders;  // relative, without a trailing slash
  // Returns whether a file of this (relative) name is one of them. Hidden files are not.
  bool cover(std::string_view name) const;
};
// A file that does not parse names nothing.
NamedFiles named_by(const std::vector<Attachment>& files);

}  // namespace tare::resources
