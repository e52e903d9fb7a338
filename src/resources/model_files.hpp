// Which files of a directory belong to a model, as one table, and which others those files name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

enum class FileKind : std::uint8_t {
  described,   // what it says is in Config and Vocabulary: config.json, tokenizer.json, merges.txt, ...
  vocabulary,  // has a vocabulary, in a form that is not read
  setting,     // loaders look for it: generation_config.json, the chat template, adapter_config.json, ...
  document,    // for people: README.md, LICENSE
  code,        // Python; part of the model where another file names it
  other,       // none of the well-known files
};
// Of an attachment's name, or of a path relative to the model's directory.
FileKind kind_of(std::string_view file_name);
// Whether loaders look for a file of this very name, as opposed to one that only has the form of such names.
bool is_known_name(std::string_view file_name);
// Why a `vocabulary` is not read.
std::string_view unread_reason(std::string_view file_name);

// What the files of a model name beside themselves: code by the auto_map of a config, folders by modules.json.
struct NamedFiles {
  bool code = false;                 // all modules of the directory: they import each other
  std::vector<std::string> folders;  // relative, without a slash at the end
  // Whether a file of this (relative) name is one of them. Hidden ones are not.
  bool cover(std::string_view name) const;
};
// A file that does not parse names nothing.
NamedFiles named_by(const std::vector<Attachment>& files);

}  // namespace tare::resources
