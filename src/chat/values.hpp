// What a template computes with: Python's values, as far as templates see them.
//
// Values refer to objects that live until the run ends, so that they can be copied freely; the Meter bounds what all of them take together.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/problem.hpp"
#include "tare/value.hpp"

namespace tare::chat {

struct Statement;
struct Any;
struct Scope;

enum class Type : std::uint8_t {
  undefined,
  none,
  boolean,
  integer,
  real,
  text,
  list,
  tuple,
  range,   // like a list, with numbers
  view,    // keys, values or items of a dict
  stream,  // what can be looked through once: the result of map, select, ...
  dict,
  names,  // namespace()
  function,
  loop,
};

struct Items {
  std::vector<Any> all;
};
struct Stream {
  std::vector<Any> all;
  bool used = false;
};
struct Dict {
  std::vector<std::pair<Any, Any>> entries;
  std::map<std::string_view, std::size_t> texts;  // keys that are texts

  const Any* find(std::string_view key) const;
};
struct Names {
  std::vector<std::pair<std::string, Any>> all;
};
struct Function;
struct Loop;

struct Any {
  Type type = Type::undefined;
  bool safe = false;  // a text that the filter `safe` made: Jinja's Markup, which escapes what it is joined with
  union {
    bool boolean;
    std::int64_t integer;
    double real;
    const std::string* text;  // if undefined, the name; may be null
    const Items* items;
    Stream* stream;
    const Dict* dict;
    Names* names;
    const Function* function;
    Loop* loop;
  };

  Any() : text(nullptr) {}
  bool is(Type other) const { return type == other; }
  bool is_sequence() const { return is(Type::list) || is(Type::tuple) || is(Type::range); }
  bool has_items() const { return is_sequence() || is(Type::view); }
  bool is_number() const { return is(Type::integer) || is(Type::real) || is(Type::boolean); }
  std::string_view as_text() const { return *text; }
};

struct Loop {
  std::span<const Any> items = {};
  std::size_t index = 0;
  std::optional<Any> asked = {};  // what `changed` was asked about last
};

struct Function {
  enum class What : std::uint8_t { global, method, macro, cycle, changed };
  What what = What::global;
  std::string_view name = {};
  Any self = {};
  const Statement* macro = nullptr;
  Scope* scope = nullptr;  // the one in which the macro was defined
};

struct Scope {
  Scope* parent = nullptr;
  std::vector<std::pair<std::string_view, Any>> names = {};
};

// Arguments of a call, a filter or a test, evaluated.
struct Given {
  std::vector<Any> places = {};
  std::vector<std::pair<std::string_view, Any>> names = {};
};

// All objects of a run.
class World {
 public:
  explicit World(Meter& of_run) : meter(of_run) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Any text(std::string value);
  Any list(std::vector<Any> items, Type type = Type::list);
  Any stream(std::vector<Any> items);
  Any dict(std::vector<std::pair<Any, Any>> entries);  // a repeated key keeps its last value
  Any names();
  Any function(Function made);
  Any loop(Loop made, Loop*& out);
  Scope& scope(Scope* parent);
  Any undefined(std::string what);
  // From a caller's tree.
  Any from(const Value& value);

  Error bad(std::string_view sentence) const { return bad_value(meter.place, sentence); }
  Error unknown(std::string_view sentence) const { return not_known(meter.place, sentence); }

  Meter& meter;
  std::optional<std::int64_t> now = {};  // for strftime_now

 private:
  std::deque<std::string> texts_;
  std::deque<Items> items_;
  std::deque<Stream> streams_;
  std::deque<Dict> dicts_;
  std::deque<Names> names_;
  std::deque<Function> functions_;
  std::deque<Loop> loops_;
  std::deque<Scope> scopes_;
};

inline Any no_value() { return {}; }
Any none_value();
Any boolean_value(bool value);
Any integer_value(std::int64_t value);
Any real_value(double value);

// "a text", "a list", ... for messages.
std::string_view word_for(const Any& value);
// Throws `chat.value` if it is undefined.
void require_defined(World& world, const Any& value);
// Throws `chat.unknown` for a text from the filter `safe`.
void require_plain(World& world, const Any& value);

bool truth(const Any& value);
bool are_equal(World& world, const Any& a, const Any& b);
// Less, equal or greater as -1, 0, 1. Throws `chat.value` for kinds that have no order.
int order_of(World& world, const Any& a, const Any& b, std::string_view sign);
// What `for` goes through. Uses up a stream.
std::vector<Any> items_of(World& world, const Any& value);
std::size_t length_of(World& world, const Any& value);
bool contains(World& world, const Any& in, const Any& what);

// str(), repr() and transformers' tojson.
std::string shown(World& world, const Any& value);
void add_shown(World& world, const Any& value, std::string& out);
struct JsonStyle {
  bool ascii = false, sorted = false;
  std::optional<std::string> indent = {};
  std::optional<std::string> between = {}, after_key = {};
};
std::string json_of(World& world, const Any& value, const JsonStyle& style);

// + - * / // % **
Any operate(World& world, std::string_view sign, const Any& a, const Any& b);
Any negated(World& world, const Any& value, bool minus);
Any attribute_of(World& world, const Any& of, std::string_view name);
Any item_of(World& world, const Any& of, const Any& index);
Any slice_of(World& world, const Any& of, const Any& begin, const Any& end, const Any& step);
// Calls a method of a text, a list or a dict.
Any call_method(World& world, std::string_view name, const Any& self, const Given& given);
// The methods that a text, a list or a dict has in Python.
bool has_method(const Any& value, std::string_view name);

// Texts.
std::string replaced(World& world, std::string_view text, std::string_view old, std::string_view by, std::int64_t most);
std::string_view stripped(World& world, std::string_view text, const Any& characters, bool before, bool behind);
enum class Case : std::uint8_t { upper, lower };
std::string in_case(World& world, std::string_view text, Case wanted);
std::string capitalized(World& world, std::string_view text);
// Where it is found, from `from` on; npos.
std::size_t find_text(Meter& meter, std::string_view text, std::string_view what, std::size_t from = 0);

}  // namespace tare::chat
