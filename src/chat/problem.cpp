#include "chat/problem.hpp"

#include <fmt/format.h>

namespace tare::chat {
namespace {

Error made_error(ErrorKind kind, std::string_view rule, Place place, std::string_view sentence) {
  return Error(kind, rule, fmt::format("the chat template, line {}, column {}: {}", place.line, place.column, sentence))
      .blame(Subject::input);
}

}  // namespace

Error broken_syntax(Place place, std::string_view sentence) {
  return made_error(ErrorKind::corrupt, "chat.syntax", place, sentence);
}
Error not_known(Place place, std::string_view sentence) {
  return made_error(ErrorKind::unsupported, "chat.unknown", place, sentence);
}
Error bad_value(Place place, std::string_view sentence) {
  return made_error(ErrorKind::corrupt, "chat.value", place, sentence);
}
Error too_much(Place place, std::string_view sentence) {
  return made_error(ErrorKind::limit, "chat.limit", place, sentence);
}
Error raised(Place place, std::string_view sentence) {
  return made_error(ErrorKind::usage, "chat.raised", place, sentence);
}

void Meter::no_steps() const { throw too_much(place, "it takes too many steps"); }
void Meter::no_bytes() const { throw too_much(place, "it makes too much text, or too many lists"); }
void Meter::too_deep() const { throw too_much(place, "its calls or expressions are nested too deeply"); }

}  // namespace tare::chat
