#include "resources/model_files.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "base/name_map.hpp"
#include "base/path_parts.hpp"
#include "base/text.hpp"
#include "resources/json_file.hpp"
#include "tare/error.hpp"

namespace tare::resources {
namespace {

struct FileRow {
  std::string_view pattern;  // matches the whole name; * is any text
  FileKind kind;
  std::string_view reason = {};  // why a vocabulary is not read
};

// The first matching row counts. The tokenizers' files are those that the tokenizers of transformers declare
// (`vocab_files_names`); a test compares the table with them.
constexpr FileRow kFiles[] = {
    {"config.json", FileKind::described},
    {"tokenizer.json", FileKind::described},
    {"tokenizer.model", FileKind::described},
    {"spiece.model", FileKind::described},
    {"vocab.json", FileKind::described},
    {"merges.txt", FileKind::described},
    {"vocab.txt", FileKind::described},
    {"tokenizer_config.json", FileKind::described},
    {"special_tokens_map.json", FileKind::described},
    {"added_tokens.json", FileKind::described},

    {"sentencepiece.bpe.model", FileKind::vocabulary, "fairseq shifts its ids"},
    {"sentencepiece.model", FileKind::vocabulary, "RemBERT's ids are not those of its pieces"},
    {"spm.model", FileKind::vocabulary, "DeBERTa's ids are not those of its pieces"},
    {"spm_char.model", FileKind::vocabulary, "SpeechT5's own form"},
    {"source.spm", FileKind::vocabulary, "one of two, with ids in another file"},
    {"target.spm", FileKind::vocabulary, "one of two, with ids in another file"},
    {"target_vocab.json", FileKind::vocabulary, "one of two"},
    {"vocab-src.json", FileKind::vocabulary, "one of two"},
    {"vocab-tgt.json", FileKind::vocabulary, "one of two"},
    {"bpe.codes", FileKind::vocabulary, "merges in the form of subword-nmt"},
    {"dict.txt", FileKind::vocabulary, "fairseq's own form"},
    {"prophetnet.tokenizer", FileKind::vocabulary, "ProphetNet's own form"},
    {"tekken.json", FileKind::vocabulary, "Mistral's own form"},
    {"*.tiktoken", FileKind::vocabulary, "tiktoken's own form"},

    {"normalizer.json", FileKind::setting},
    {"entity_vocab.json", FileKind::setting},
    {"emoji.json", FileKind::setting},
    {"byte_maps.json", FileKind::setting},
    {"word_shape.json", FileKind::setting},
    {"word_pronunciation.json", FileKind::setting},
    {"artists.json", FileKind::setting},
    {"genres.json", FileKind::setting},
    {"lyrics.json", FileKind::setting},
    {"chat_template.jinja", FileKind::setting},
    {"chat_template.json", FileKind::setting},
    {"additional_chat_templates/*.jinja", FileKind::setting},
    {"generation_config.json", FileKind::setting},
    {"preprocessor_config.json", FileKind::setting},
    {"video_preprocessor_config.json", FileKind::setting},
    {"processor_config.json", FileKind::setting},
    {"adapter_config.json", FileKind::setting},
    {"quantization_config.json", FileKind::setting},
    {"quantize_config.json", FileKind::setting},
    {"quant_config.json", FileKind::setting},
    {"hf_quant_config.json", FileKind::setting},
    {"sentence_bert_config.json", FileKind::setting},
    {"scheduler_config.json", FileKind::setting},
    {"*_config.json", FileKind::setting},
    {"config_sentence_transformers.json", FileKind::setting},
    {"modules.json", FileKind::setting},
    {"params.json", FileKind::setting},
    {"recipe.yaml", FileKind::setting},

    {"README.md", FileKind::document},
    {"LICENSE*", FileKind::document},
    {"LICENCE*", FileKind::document},
    {"NOTICE*", FileKind::document},
    {"USE_POLICY*", FileKind::document},

    {"*.py", FileKind::code},
};

// Rows match files of the directory itself, unless the pattern names a folder.
bool fits(const FileRow& row, std::string_view name) {
  const auto folders = [](std::string_view path) { return std::count(path.begin(), path.end(), '/'); };
  if (row.pattern.find('*') == std::string_view::npos) return row.pattern == name;
  return folders(row.pattern) == folders(name) && stays_below(name) && !name.starts_with('.') &&
         glob_match(row.pattern, name);
}

const FileRow* row_of(std::string_view name) {
  const auto* const row =
      std::find_if(std::begin(kFiles), std::end(kFiles), [&](const FileRow& r) { return fits(r, name); });
  return row == std::end(kFiles) ? nullptr : row;
}

// The text of a small file, if it contains the word.
std::string text_with(const Attachment& file, std::string_view word) {
  if (file.blob.size() > kMaxSmallBytes) return {};
  const Bytes bytes = file.blob.bytes(kMaxSmallBytes);
  std::string text(as_text(bytes));
  return text.find(word) == std::string::npos ? std::string() : text;
}

// {"AutoModel": "modeling_x.X", "AutoTokenizer": ["tokenization_x.X", null]}; "repository--module.X" is in another
// repository.
bool names_code(const Value& auto_map) {
  if (const std::string* const text = auto_map.text())
    return text->find('.') != std::string::npos && text->find("--") == std::string::npos;
  if (const List* const list = auto_map.get<List>()) return std::any_of(list->begin(), list->end(), names_code);
  const Map* const object = auto_map.get<Map>();
  return object != nullptr &&
         std::any_of(object->begin(), object->end(), [](const Map::Entry& entry) { return names_code(entry.second); });
}

bool has_code(const Attachment& file) {
  const std::string text = text_with(file, "\"auto_map\"");
  if (text.empty()) return false;
  const Map json = parse_small_json(text);
  const Value* const found = json.find("auto_map");
  return found != nullptr && names_code(*found);
}

// [{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}, ...]
void read_modules(const Attachment& file, NamedFiles& named) {
  const std::string text = text_with(file, "\"path\"");
  if (text.empty()) return;
  NameSet folders;  // each folder is listed once, however often it is named
  for (const Value& item : parse_small_json_list(text)) {
    const Map* const module = item.get<Map>();
    if (module == nullptr) continue;
    if (const std::string* const path = get<std::string>(*module, "path")) {
      std::string folder = *path;
      while (folder.ends_with('/')) folder.pop_back();
      if (stays_below(folder) && !folder.starts_with('.') && folders.insert(folder).second)
        named.folders.push_back(std::move(folder));
    }
    // A module of the directory's own code, not of the library.
    const std::string* const type = get<std::string>(*module, "type");
    if (type != nullptr && !type->starts_with("sentence_transformers.")) named.code = true;
  }
}

}  // namespace

bool is_known_name(std::string_view file_name) {
  const FileRow* const row = row_of(file_name);
  return row != nullptr && !row->pattern.starts_with('*');
}

FileKind kind_of(std::string_view file_name) {
  const FileRow* const row = row_of(file_name);
  return row == nullptr ? FileKind::other : row->kind;
}

std::string_view unread_reason(std::string_view file_name) {
  const FileRow* const row = row_of(file_name);
  return row == nullptr ? std::string_view() : row->reason;
}

bool NamedFiles::cover(std::string_view name) const {
  if (code && kind_of(name) == FileKind::code) return true;
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return name.size() > folder.size() && name.starts_with(folder) && name[folder.size()] == '/' &&
           name.find("/.") == std::string_view::npos;
  });
}

NamedFiles named_by(const std::vector<Attachment>& files) {
  NamedFiles named;
  for (const Attachment& file : files) {
    if (!file.name.ends_with(".json") || file.name.find('/') != std::string::npos) continue;
    try {
      if (file.name == "modules.json")
        read_modules(file, named);
      else if (!named.code && file.name.ends_with("config.json"))
        named.code = has_code(file);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;  // the reader of the file reports that it does not parse
    }
  }
  return named;
}

}  // namespace tare::resources
