// The config and vocabulary in tare.json, and the check that the files it refers to have not changed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>

#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/hf/hf.hpp"
#include "resources/resources.hpp"

namespace tare::hf {
namespace {

// Returns whether config or vocabulary are read from the file. Files that are too long are not read.
bool is_read(const Attachment& file) {
  return resources::role_of(file.name) == resources::Role::described && file.blob.size() <= resources::kMaxFileBytes;
}

bool is_field(std::string_view name) {
  const auto fields = config_fields();
  return std::any_of(fields.begin(), fields.end(), [&](const ConfigField& field) { return field.name == name; });
}

// Returns whether the config accepts the value for this field.
bool fits(const std::string& name, const Value& value) {
  Map alone;
  alone.append(name, value);
  return !Config::from_map(alone).empty();
}

// Adds the elements of `wanted` that differ from `found`, each under its position; or all of them if that is shorter.
template <typename T, typename IsSame, typename ValueOf>
void put_differing(Map& parts, std::string_view name, const std::vector<T>& found, const std::vector<T>& wanted,
                   const IsSame& is_same, const ValueOf& value_of) {
  const bool as_many = found.size() == wanted.size();
  std::size_t others = 0;
  for (std::size_t i = 0; as_many && i < wanted.size(); ++i) others += is_same(found[i], wanted[i]) ? 0 : 1;
  if (as_many && others == 0) return;
  if (!as_many || others > wanted.size() / 2) {
    List all;
    all.reserve(wanted.size());
    for (const T& element : wanted) all.emplace_back(value_of(element));
    return parts.append(std::string(name), std::move(all));
  }
  Map elements;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!is_same(found[i], wanted[i])) elements.append(fmt::to_string(i), value_of(wanted[i]));
  parts.append(std::string(name), std::move(elements));
}

std::string digest_text(const Blob& blob) { return digest_of(DigestAlgorithm::xxh3, blob.bytes()).text(); }

}  // namespace

Map digests_of(const std::vector<Attachment>& files) {
  Map digests;
  for (const Attachment& file : files)
    if (is_read(file)) digests.set(file.name, digest_text(file.blob));
  return digests;
}

std::vector<std::string> edited_since(const Map& digests, const std::vector<Attachment>& files) {
  std::vector<std::string> edited;
  for (const Attachment& file : files) {
    if (!is_read(file)) continue;
    const Value* const stated = digests.find(file.name);
    if (stated == nullptr || *stated != Value(digest_text(file.blob))) edited.push_back(file.name);
  }
  return edited;
}

std::vector<std::string> missing_since(const Map& digests, const std::vector<std::string>& files) {
  std::vector<std::string> missing;
  for (const auto& [name, digest] : digests)
    if (resources::role_of(name) == resources::Role::described &&
        std::find(files.begin(), files.end(), name) == files.end())
      missing.push_back(name);
  return missing;
}

Map differences(const Config& found, const Config& wanted) {
  const Map before = found.to_map(), after = wanted.to_map();
  Map fields;
  for (const auto& [name, value] : after)
    if (const Value* const known = before.find(name); known == nullptr || *known != value) fields.append(name, value);
  for (const auto& [name, value] : before)
    if (after.find(name) == nullptr) fields.append(name, nullptr);
  return fields;
}

// The form is that of Vocabulary::to_map, but with the differences only: the whole vocabulary as values would take ten
// times the memory.
Map differences(const Vocabulary& found, const Vocabulary& wanted) {
  Map parts;
  if (found.kind != wanted.kind) parts.append("kind", wanted.kind);
  if (found.bos != wanted.bos) parts.append("bos", wanted.bos);
  if (found.eos != wanted.eos) parts.append("eos", wanted.eos);
  if (found.pad != wanted.pad) parts.append("pad", wanted.pad);
  if (found.unk != wanted.unk) parts.append("unk", wanted.unk);
  put_differing(
      parts, "tokens", found.tokens, wanted.tokens, [](const Token& a, const Token& b) { return a.text == b.text; },
      [](const Token& token) { return to_bytes(token.text); });
  put_differing(
      parts, "scores", found.tokens, wanted.tokens,
      [](const Token& a, const Token& b) {
        return std::bit_cast<std::uint32_t>(a.score) == std::bit_cast<std::uint32_t>(b.score);
      },
      [](const Token& token) { return carry_to_f64(token.score); });
  put_differing(
      parts, "types", found.tokens, wanted.tokens, [](const Token& a, const Token& b) { return a.type == b.type; },
      [](const Token& token) { return static_cast<int>(token.type); });
  put_differing(parts, "merges", found.merges, wanted.merges, std::equal_to<std::string>(), to_bytes);
  return parts;
}

Vocabulary with_differences(const Vocabulary& found, const Map& parts) {
  Map all = found.to_map();
  for (const auto& [name, value] : parts) {
    const Map* const elements = value.get<Map>();
    const Value* const known = all.find(name);
    const List* const were = known == nullptr ? nullptr : known->get<List>();
    if (elements == nullptr || were == nullptr) {
      all.set(name, value);
      continue;
    }
    List list = *were;
    for (const auto& [position, element] : *elements) {
      std::size_t i = 0;
      const auto [end, error] = std::from_chars(position.data(), position.data() + position.size(), i);
      if (error != std::errc() || end != position.data() + position.size() || i >= list.size())
        throw Error(
            ErrorKind::corrupt, "vocabulary.malformed",
            fmt::format("\"{}\" is not a position among the {} of \"{}\"", quote(position), list.size(), quote(name)))
            .about("vocabulary");
      list[i] = element;
    }
    all.set(name, std::move(list));
  }
  return Vocabulary::from_map(all);
}

Config with_differences(const Config& found, const Map& fields, bool only_missing, std::vector<std::string>& misfits) {
  Map all = found.to_map();
  for (const auto& [name, value] : fields) {
    if (!is_field(name))
      misfits.push_back(fmt::format("\"{}\" is not a field of \"config\"", quote(name)));
    else if (!value.is_null() && !fits(name, value))
      misfits.push_back(fmt::format("\"{}\" of \"config\" is not of the field's kind", name));
    else if (only_missing && all.find(name) != nullptr)
      continue;
    else if (value.is_null())
      all.erase(name);
    else
      all.set(name, value);
  }
  return Config::from_map(all);
}

}  // namespace tare::hf
