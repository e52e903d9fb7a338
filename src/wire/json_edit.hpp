// Edits of JSON texts that leave all other bytes as they are. The text must be well-formed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::wire {

// A member of an object, by its place in the text.
struct JsonMember {
  std::string_view key;           // as spelled in the text
  std::size_t begin, value, end;  // where the key, the value and the rest of the text begin
};
// The members of the object that begins at `object`; none if another value does.
std::vector<JsonMember> json_members(std::string_view text, std::size_t object);

// Returns where the value that begins at `at` ends; the text's size if it does not.
std::size_t json_end(std::string_view text, std::size_t at);

struct JsonEdit {
  std::size_t begin, end;
  std::string_view text;  // in place of these bytes
};
// Adds the edits that remove members of one object, each with the comma and the space after it; the last ones with
// those before them.
void remove_members(const std::vector<JsonMember>& members,
                    const std::function<bool(const JsonMember& member)>& unwanted, std::vector<JsonEdit>& edits);
// Returns the edited text. Edits do not overlap.
std::string edited_json(std::string_view text, std::vector<JsonEdit> edits);

}  // namespace tare::wire
