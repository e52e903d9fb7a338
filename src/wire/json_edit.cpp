#include "wire/json_edit.hpp"

#include <algorithm>

namespace tare::wire {
namespace {

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

std::size_t json_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  do {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth, ++at;
    } else if (c == '}' || c == ']') {
      --depth, ++at;
    } else {  // a number, a word, or what separates values
      at = std::min(text.find_first_of(depth == 0 ? ",]} \t\r\n" : "\"{[]}", at), text.size());
    }
  } while (depth > 0 && at < text.size());
  return at;
}

std::vector<JsonMember> json_members(std::string_view text, std::size_t object) {
  std::vector<JsonMember> members;
  if (object >= text.size() || text[object] != '{') return members;
  for (std::size_t at = skip_space(text, object + 1); at < text.size() && text[at] != '}'; at = skip_space(text, at)) {
    if (text[at] == ',') {
      ++at;
      continue;
    }
    const std::size_t end_of_key = end_of_string(text, at);
    const std::size_t value = skip_space(text, skip_space(text, end_of_key) + 1);
    const std::size_t end = value < text.size() ? json_end(text, value) : value;
    members.push_back({text.substr(at + 1, end_of_key - at - 2), at, value, end});
    at = end;
  }
  return members;
}

void remove_members(const std::vector<JsonMember>& members,
                    const std::function<bool(const JsonMember& member)>& unwanted, std::vector<JsonEdit>& edits) {
  std::size_t kept = members.size();  // all members from here on are removed
  while (kept > 0 && unwanted(members[kept - 1])) --kept;
  for (std::size_t i = 0; i < kept; ++i)
    if (unwanted(members[i])) edits.push_back({members[i].begin, members[i + 1].begin, {}});
  if (kept < members.size())
    edits.push_back({kept > 0 ? members[kept - 1].end : members.front().begin, members.back().end, {}});
}

std::string edited_json(std::string_view text, std::vector<JsonEdit> edits) {
  std::ranges::sort(edits, {}, &JsonEdit::begin);
  std::string made;
  std::size_t copied = 0;
  for (const JsonEdit& edit : edits) {
    made.append(text.substr(copied, edit.begin - copied)).append(edit.text);
    copied = edit.end;
  }
  return made.append(text.substr(copied));
}

}  // namespace tare::wire
