// Requirements of alt.c's own reader, a C program, in addition to the layout: it rejects empty texts, looks tokens up
// as C strings, and can hold 32,000 of them.
#include <fmt/format.h>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "formats/alt/alt.hpp"

namespace tare::alt {
namespace {

constexpr std::size_t kMostTokens = 32000;

// Returns the text as a C string has it.
std::string_view up_to_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

}  // namespace

void require_altc(const Model& model) {
  if (!model.tensors.empty())
    throw Error(ErrorKind::unsupported, "alt.write.dialect", "the dialect altc has no tensors")
        .remedy(Remedy::skip, "*");
  const auto refuse = [](std::size_t id, std::string_view sentence) {
    throw Error(ErrorKind::unsupported, "alt.write.token",
                fmt::format("token {} {}; alt.c does not read such a file, the dialect spec holds it", id, sentence))
        .about("vocabulary");
  };
  NameViewMap<std::size_t> ids;
  for (std::size_t id = 0; id < model.vocabulary.tokens.size(); ++id) {
    const std::string& text = model.vocabulary.tokens[id].text;
    if (text.empty()) refuse(id, "is empty");
    if (text.front() == '\0') refuse(id, fmt::format("(\"{}\") begins with a NUL byte", quote(text)));
    const auto [found, is_new] = ids.emplace(up_to_nul(text), id);
    if (!is_new)
      refuse(id, fmt::format("(\"{}\") is the same as token {}, up to a NUL byte", quote(text), found->second));
  }
}

std::vector<Change> remarks_altc(const Model& model) {
  std::vector<Change> lines;
  const std::size_t tokens = model.vocabulary.tokens.size();
  if (tokens > kMostTokens)
    lines.push_back({.detail = fmt::format("{} tokens: alt.c reads at most {}", tokens, kMostTokens)});
  if (tokens == 0) lines.push_back({.detail = "no tokens: alt.c does not read such a file"});
  const std::int32_t seq_len = stated_seq_len(model).value_or(0);
  const std::int32_t positions = number_or_zero(model.config.max_position_embeddings);
  if (seq_len > 0 && positions > 0 && seq_len != positions)
    lines.push_back({.detail = fmt::format("{} is {} in the source and omitted: the dialect altc has no seq_len",
                                           kSeqLenKey, seq_len)});
  return lines;
}

}  // namespace tare::alt
