// Metadata keys that the caller sets.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "convert/rounded.hpp"
#include "convert/steps/adaptation.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

bool is_list(const Value& value) { return value.get<List>() != nullptr; }

Value parse_setting(const std::string& key, const std::string& text, const Model& model, const Format& target) {
  const auto refuse = [&](std::string_view sentence) {
    throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, sentence));
  };
  Value value;
  try {
    wire::TreeBounds bounds;
    value = wire::read_json(text, bounds);
  } catch (const Error&) {
    return text;  // not JSON at all
  }
  // Where the target has no type for it, a list or an object is the text that was given: other programs can read that.
  if (is_list(value) || value.get<Map>() != nullptr) {
    const Value* const before = model.metadata.find(key);
    const bool stays_list = is_list(value) && before != nullptr && is_list(*before);
    const bool typed = target.metadata == nullptr || stays_list || !target.metadata->usual_type(value).empty();
    if (target.holds.metadata == Room::strings || !typed) return text;
  }
  if (value.is_null()) refuse("null is not a value; for the text, write '\"null\"'");
  if (const std::string wrong = rounded_whole(value, text); !wrong.empty()) refuse(wrong);
  if (target.holds.metadata == Room::strings && value.text() == nullptr)
    refuse(fmt::format("{} stores only strings; for a string, write '\"{}\"'", target.name, text));
  return value;
}

// `text`: as it was given, for words.
void set_key(Adaptation& it, const std::string& key, Value value, const std::string& text) {
  const auto refuse = [&](std::string_view sentence) {
    throw Error(ErrorKind::usage, "convert.set", fmt::format("{}={}: {}", quote(key), text, sentence));
  };
  if (const std::string* const said = value.text(); said != nullptr && it.target.set_problem != nullptr)
    if (const std::string problem = it.target.set_problem(key, *said); !problem.empty()) refuse(problem);
  // Programs that read a key expect one or the other.
  const Value* const before = it.model.metadata.find(key);
  if (before != nullptr && it.target.holds.metadata == Room::tree && is_list(*before) != is_list(value))
    refuse(is_list(value) ? "the model has this key, and its value is not a list"
                          : fmt::format("the model has this key, and its value is a list; write '[{}]'",
                                        value.text() != nullptr ? to_json(value) : text));
  it.model.metadata.set(key, std::move(value));
}

}  // namespace

void steps::set_metadata(Adaptation& it) {
  for (const auto& [key, text] : it.options.set) set_key(it, key, parse_setting(key, text, it.model, it.target), text);
  for (const auto& [key, value] : it.options.values) set_key(it, key, value, to_json(value));
}

}  // namespace tare
