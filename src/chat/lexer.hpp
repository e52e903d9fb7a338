// A template as tokens: text between tags, and the words inside of them.
//
// The rules are Jinja's with transformers' settings: a line feed right after a tag is removed (trim_blocks), and so are blanks
// between the beginning of a line and a tag (lstrip_blocks); `-` at either end of a tag removes all blanks there, `+` none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/problem.hpp"

namespace tare::chat {

enum class TokenKind : std::uint8_t {
  text,  // outside of tags
  output_begin,
  output_end,
  tag_begin,
  tag_end,
  name,
  string,
  integer,
  real,
  sign,  // operators and brackets
  end,
};

struct TemplateToken {
  TokenKind kind = TokenKind::end;
  Place place = {};
  std::string text = {};  // without quotes and escapes if it is a string
};

// Throws `chat.syntax`, `chat.unknown`, `chat.limit`.
std::vector<TemplateToken> tokens_of_template(std::string_view source);

}  // namespace tare::chat
