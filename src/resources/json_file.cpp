#include "resources/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/budget.hpp"
#include "base/lookalike.hpp"
#include "base/text.hpp"
#include "resources/big_json.hpp"
#include "resources/resources.hpp"
#include "tare/error.hpp"
#include "wire/json.hpp"

namespace tare::resources {
namespace {

// simdjson has a depth limit as well, but no clear message for it.
void check_depth(std::string_view text) {
  unsigned depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth)
        throw Error(ErrorKind::corrupt, "json.depth", fmt::format("nested more than {} deep", kMaxDepth)).at(i);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
}

// Line and column as an editor shows them, from 1; columns count bytes.
std::string place_in(std::string_view text, std::uint64_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line = before.rfind('\n') + 1;  // where the line begins
  return fmt::format("line {}, column {}", std::count(before.begin(), before.end(), '\n') + 1,
                     before.size() - line + 1);
}

Value parse_any(std::string_view text) {
  if (text.size() > kMaxSmallBytes)
    throw Error(ErrorKind::limit, "json.size",
                fmt::format("{} bytes, more than the {} of the largest such file", text.size(), kMaxSmallBytes));
  wire::TreeBounds bounds{.depth = kMaxDepth};
  const Spending spending;
  if (spending.is_outermost()) current_budget()->grant(text.size());  // parsed on its own, not as a part of a file
  try {
    Budget::TemporaryCharge temporary(current_budget());  // temporary: the caller takes a few fields and drops the tree
    Value value = wire::read_json(text, bounds, {.python_words = true, .last_key_counts = true});
    temporary.charge();
    return value;
  } catch (const Error& error) {
    const std::uint64_t at = error.offset().value_or(0);
    // If the kind of file is recognised, name it instead of the place where parsing failed.
    const std::string_view known = lookalike(text);
    throw error
        .reworded(known.empty() ? fmt::format("{} ({})", error.sentence(), place_in(text, at)) : std::string(known))
        .at(at);
  }
}

template <typename T>
T parse_kind(std::string_view text, std::string_view kind) {
  Value json = parse_any(text);
  T* const found = json.get<T>();
  if (found == nullptr) throw Error(ErrorKind::corrupt, "json.form", fmt::format("expected a JSON {}", kind));
  return std::move(*found);
}

}  // namespace

Map parse_small_json(std::string_view text) { return parse_kind<Map>(text, "object"); }
List parse_small_json_list(std::string_view text) { return parse_kind<List>(text, "list"); }

std::optional<double> number_of(const Value& value) {
  if (const auto* const number = value.get<std::int64_t>()) return static_cast<double>(*number);
  if (const auto* const number = value.get<std::uint64_t>()) return static_cast<double>(*number);
  if (const auto* const number = value.get<double>()) return *number;
  return std::nullopt;
}

std::optional<std::uint64_t> count_of(const Value& value) {
  if (const auto* const number = value.get<std::int64_t>(); number != nullptr && *number >= 0)
    return static_cast<std::uint64_t>(*number);
  if (const auto* const number = value.get<std::uint64_t>()) return *number;
  return std::nullopt;
}

std::vector<const Map::Entry*> sorted_entries(const Map& object) {
  std::vector<const Map::Entry*> entries;
  entries.reserve(object.size());
  for (const Map::Entry& entry : object) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return entries;
}

static_assert(kTextPadding >= simdjson::SIMDJSON_PADDING);

BigJson::BigJson(std::string_view text, bool padded) {
  const auto not_json = [&](std::string_view trouble) {
    if (trouble.ends_with('.')) trouble.remove_suffix(1);  // the message is embedded in another sentence
    const std::string_view known = lookalike(text);
    return Error(ErrorKind::corrupt, "json.syntax",
                 known.empty() ? fmt::format("not JSON: {}", trouble) : std::string(known));
  };
  check_depth(text);
  simdjson::dom::element document;
  if (text.empty()) throw not_json("");
  // Versions of simdjson differ about it; the libraries that read these files refuse it.
  if (text.starts_with(kByteOrderMark)) throw not_json("it begins with a byte-order mark");
  const auto error = [&] {
    const SimdjsonCall call;
    simdjson::dom::parser parser;  // its index and its copy of the text are freed here; the document needs neither
    return parser.parse_into_document(document_, text.data(), text.size(), !padded).get(document);
  }();
  if (error != simdjson::SUCCESS) {
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    throw not_json(simdjson::error_message(error));
  }
  if (document.get(root_) != simdjson::SUCCESS) throw Error(ErrorKind::corrupt, "json.form", "expected a JSON object");
}

}  // namespace tare::resources
