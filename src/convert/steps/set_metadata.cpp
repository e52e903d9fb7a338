// Metadata keys that the caller sets.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "convert/rounded.hpp"
#include "convert/steps/adaptation.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

Value parse_setting(const std::string& key, const std::string& text, const Format& target) {
  const auto refuse = [&](std::string_view sentence) {
    throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, sentence));
  };
  // An object or a list is a string, too: containers differ in what they can nest.
  if (const std::size_t first = text.find_first_not_of(" \t\r\n");
      first != text.npos && (text[first] == '{' || text[first] == '['))
    return text;
  Value value;
  try {
    wire::TreeBounds bounds{.depth = 0, .values = 1};
    value = wire::read_json(text, bounds);
  } catch (const Error&) {
    return text;  // not JSON at all
  }
  if (value.is_null()) refuse("null is not a value; for the text, write '\"null\"'");
  if (const std::string wrong = rounded_whole(value, text); !wrong.empty()) refuse(wrong);
  if (target.holds.metadata == Room::strings && value.text() == nullptr)
    refuse(fmt::format("{} stores only strings; for a string, write '\"{}\"'", target.name, text));
  return value;
}

}  // namespace

void steps::set_metadata(Adaptation& it) {
  const auto set = [&](const std::string& key, Value value, const std::string& text) {
    if (const std::string* const said = value.text(); said != nullptr && it.target.set_problem != nullptr)
      if (const std::string problem = it.target.set_problem(key, *said); !problem.empty())
        throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, problem));
    it.model.metadata.set(key, std::move(value));
  };
  for (const auto& [key, text] : it.options.set) set(key, parse_setting(key, text, it.target), text);
  for (const auto& [key, value] : it.options.values) set(key, value, value.text() == nullptr ? "" : *value.text());
}

}  // namespace tare
