// A parsed template.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/problem.hpp"
#include "tare/chat.hpp"

namespace tare::chat {

struct FilterRow;
struct TestRow;
struct Expression;

struct Argument {
  std::string name = {};  // empty: by its place
  const Expression* value = nullptr;
};

struct Expression {
  enum class Kind : std::uint8_t {
    undefined,
    none,
    boolean,    // integer: 0 or 1
    integer,    // `integer`
    real,       // `real`
    text,       // `name`
    variable,   // `name`
    list,       // parts
    tuple,      // parts
    dict,       // parts: key, value, key, value, ...
    attribute,  // parts[0].name
    item,       // parts[0][parts[1]]
    slice,      // parts[0][parts[1]:parts[2]:parts[3]]; null: not stated
    call,       // parts[0](arguments)
    filter,     // parts[0]|filter(arguments); null in a block: what it encloses
    test,       // parts[0] is test(arguments)
    negative,
    positive,
    negation,   // not
    operation,  // parts[0] name parts[1]: + - * / // % **
    join,       // ~ of all parts
    compare,    // parts[0] names[0] parts[1] names[1] parts[2] ...
    both,       // and
    either,     // or
    condition,  // parts[1] if parts[0] else parts[2]; null: undefined
  };

  Kind kind = Kind::undefined;
  Place place = {};
  std::string name = {};
  std::int64_t integer = 0;
  double real = 0;
  std::vector<const Expression*> parts = {};
  std::vector<std::string> names = {};
  std::vector<Argument> arguments = {};
  // Null: there is none with that name, which is an error if it is used, as in Jinja.
  const FilterRow* filter = nullptr;
  const TestRow* test = nullptr;
};

// The left side of an assignment: a name, an attribute of a namespace, or several of these.
struct Target {
  std::string name = {}, attribute = {};
  std::vector<Target> several = {};
};

struct Statement;
using Block = std::vector<const Statement*>;

struct Statement {
  enum class Kind : std::uint8_t {
    text,       // `text`
    output,     // `expression`
    condition,  // branches, then `otherwise`
    loop,       // for target in expression if test: body; else: otherwise
    set,        // target = expression
    set_block,  // target = body, through `expression` (a filter) if there is one
    macro,      // `text`(parameters): body
    with,       // parameters = values: body
    filtered,   // body through `expression`
    scope,      // body in a scope of its own ({% generation %})
    leave,      // break
    next,       // continue
  };

  Kind kind = Kind::text;
  Place place = {};
  std::string text = {};
  const Expression* expression = nullptr;
  const Expression* test = nullptr;
  Target target = {};
  std::vector<std::pair<const Expression*, Block>> branches = {};
  std::vector<std::pair<std::string, const Expression*>> parameters = {};  // null: no default
  Block body = {}, otherwise = {};
};

struct Template::Syntax {
  std::deque<Expression> expressions = {};  // what the pointers refer to
  std::deque<Statement> statements = {};
  Block body = {};
};

// Throws `chat.syntax`, `chat.unknown`, `chat.limit`.
Template::Syntax parsed_template(std::string_view source);

}  // namespace tare::chat
