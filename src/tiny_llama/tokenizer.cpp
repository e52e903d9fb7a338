#include "tiny_llama/tokenizer.hpp"

#include <fmt/format.h>

#include "tare/error.hpp"
#include "tare/source.hpp"
#include "tiny_llama/tokenizer_tables.hpp"

namespace tiny_llama {
namespace {

TextFile read_file(const std::string& path) {
  const tare::SourcePtr source = tare::open_file(path, tare::Access::pread);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  if (source->size() > kMost)
    throw tare::Error(tare::ErrorKind::limit, "bpe.file.size",
                      fmt::format("expected at most {} bytes, found {}", kMost, source->size()))
        .in(path);
  std::string text(source->size(), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  return {path, std::move(text)};
}

// Inconsistent files are read by upstream's rules only if the vocabulary begins like upstream's own: other files should
// be repaired instead of being read by rules that were never meant for them.
TablesPtr either_tables(const TextFile& vocab, const TextFile& merges) {
  try {
    return strict_tables(vocab, merges);
  } catch (const tare::Error& error) {
    if (!begins_as_upstream(vocab.text)) throw;
    const TablesPtr tables = upstream_tables(vocab, merges);
    tables->complaint = error.what();
    return tables;
  }
}

}  // namespace

BytePairTokenizer BytePairTokenizer::from_files(const std::string& vocab_path, const std::string& merges_path,
                                                Rules rules) {
  const TextFile vocab = read_file(vocab_path), merges = read_file(merges_path);
  switch (rules) {
    case Rules::upstream: return BytePairTokenizer(upstream_tables(vocab, merges));
    case Rules::either: return BytePairTokenizer(either_tables(vocab, merges));
    default: return BytePairTokenizer(strict_tables(vocab, merges));
  }
}

BytePairTokenizer BytePairTokenizer::from_vocabulary(const tare::Vocabulary& vocabulary) {
  return BytePairTokenizer(strict_tables(vocabulary));
}

std::vector<std::int32_t> BytePairTokenizer::encode(std::string_view text) const { return tables_->encode(text); }

const std::string& BytePairTokenizer::text_of(std::int32_t token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= tables_->texts.size())
    throw tare::Error(
        tare::ErrorKind::usage, "bpe.decode.token",
        fmt::format("there is no token {}; the vocabulary has 0 to {}", token, tables_->texts.size() - 1));
  return tables_->texts[static_cast<std::size_t>(token)];
}

std::string BytePairTokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) text += text_of(token);
  return text;
}

std::size_t BytePairTokenizer::size() const { return tables_->texts.size(); }

std::optional<std::int32_t> BytePairTokenizer::find(std::string_view token) const {
  const std::int32_t found = tables_->id(std::string(token));
  return found == kNone ? std::nullopt : std::optional(found);
}

std::optional<std::int32_t> BytePairTokenizer::unknown() const {
  return tables_->unknown == kNone ? std::nullopt : std::optional(tables_->unknown);
}

Rules BytePairTokenizer::rules() const { return tables_->rules; }

const std::string& BytePairTokenizer::complaint() const { return tables_->complaint; }

}  // namespace tiny_llama
