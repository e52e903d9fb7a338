#include "cli/token_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/endian.hpp"
#include "base/printable.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "formats/format.hpp"
#include "tare/open.hpp"
#include "tare/source.hpp"

namespace tare::cli {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

Error not_ids(const std::string& path, std::string sentence) {
  return Error(ErrorKind::usage, "run.ids", sentence).in(path);
}

std::vector<std::int32_t> from_array(const std::string& path) {
  const Model model = open(path);
  if (model.tensors.size() != 1)
    throw not_ids(path, fmt::format("expected one array of tokens, found {}", model.tensors.size()));
  return model.tensors.front().values<std::int32_t>(kMostBytes);
}

std::vector<std::int32_t> from_bytes(const std::string& path, const Bytes& bytes) {
  if (bytes.size() % sizeof(std::int32_t) != 0)
    throw not_ids(path, fmt::format("expected 32-bit integers, found {} bytes", bytes.size()));
  std::vector<std::int32_t> tokens(bytes.size() / sizeof(std::int32_t));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = load_le<std::int32_t>(bytes.data() + i * sizeof(std::int32_t));
  return tokens;
}

Bytes bytes_of(const std::string& path, Access access) {
  const SourcePtr source = open_file(path, access);
  if (source->size() > kMostBytes)
    throw not_ids(path, fmt::format("it has {} bytes, at most {} are read", source->size(), kMostBytes));
  Bytes bytes(static_cast<std::size_t>(source->size()));
  source->read(0, bytes);
  return bytes;
}

// Numbers, separated by anything that is usual in lists.
std::vector<std::int32_t> from_text(const std::string& path, std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n,;[]";
  std::vector<std::int32_t> tokens;
  for (std::size_t at = text.find_first_not_of(kBetween); at != text.npos; at = text.find_first_not_of(kBetween, at)) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    std::int32_t token = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), token);
    if (error != std::errc() || stop != word.data() + word.size())
      throw not_ids(path, fmt::format("expected token ids, found \"{}\" after {} of them", quote(word), tokens.size()))
          .at(at);
    tokens.push_back(token);
    at = end;
  }
  return tokens;
}

}  // namespace

namespace {

std::vector<std::int32_t> tokens_of(const Arguments& arguments) {
  const std::string path = arguments.get("tokens");
  // A list of numbers has the suffix of no container, except for plain bytes.
  if (path.ends_with(".bin")) return from_bytes(path, bytes_of(path, arguments.access()));
  for (const Format& format : formats())
    if (std::ranges::any_of(format.suffixes, [&](std::string_view suffix) { return path.ends_with(suffix); }))
      return from_array(path);
  const Bytes bytes = bytes_of(path, arguments.access());
  return from_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string text_in(const std::string& path, Access access) {
  const Bytes bytes = bytes_of(path, access);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

RunInput run_input(const Arguments& arguments) {
  if (arguments.has("tokens") && arguments.has("text")) throw UsageError("give either --tokens or --text");
  if (arguments.has("tokens")) return {.tokens = tokens_of(arguments)};
  if (!arguments.has("text")) return {.text = std::string(run::sample_text())};
  return {.text = text_in(arguments.get("text"), arguments.access())};
}

run::Options run_options(const Arguments& arguments) {
  run::Options options;
  if (arguments.has("context"))
    options.context = static_cast<std::uint64_t>(arguments.number("context", 512, 2, 1L << 30));
  if (arguments.has("begin"))
    options.begin =
        static_cast<std::int32_t>(arguments.number("begin", 0, 0, std::numeric_limits<std::int32_t>::max()));
  options.work.threads = arguments.threads();
  return options;
}

void warn_of_doubts(const run::Scorer& scorer, const std::string& file, Session& session) {
  for (const Change& change : scorer.doubts())
    session.remark(
        fmt::format("warning: {}: {}; other programs may compute something else", printable(file), to_text(change)));
}

}  // namespace tare::cli
