// Jinja's grammar, as far as chat templates use it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/printable.hpp"
#include "chat/lexer.hpp"
#include "chat/library.hpp"
#include "chat/syntax.hpp"

namespace tare::chat {
namespace {

using Kind = Expression::Kind;
using Tokens = std::vector<TemplateToken>;

constexpr std::uint32_t kDeepestSyntax = 120;
constexpr std::size_t kLongestName = 1000;  // bytes; names are compared whenever one is looked up

class Parser {
 public:
  Parser(Tokens tokens, Template::Syntax& made) : tokens_(std::move(tokens)), made_(made) {}

  void run() {
    for (const TemplateToken& token : tokens_)
      if (token.kind == TokenKind::name && token.text.size() > kLongestName)
        throw too_much(token.place, fmt::format("a name has {} bytes", token.text.size()));
    made_.body = block({});
    if (now().kind != TokenKind::end) throw broken_syntax(now().place, "there is no block that ends here");
  }

 private:
  class Deeper {
   public:
    explicit Deeper(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > kDeepestSyntax) throw too_much(parser.now().place, "it is nested too deeply");
    }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    std::uint32_t& depth_;
  };

  // ---- tokens ----

  const TemplateToken& now() const { return tokens_[at_]; }
  const TemplateToken& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  TemplateToken take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool is_sign(std::string_view sign) const { return now().kind == TokenKind::sign && now().text == sign; }
  bool is_name(std::string_view name) const { return now().kind == TokenKind::name && now().text == name; }
  bool skip_sign(std::string_view sign) { return is_sign(sign) && (take(), true); }
  bool skip_name(std::string_view name) { return is_name(name) && (take(), true); }
  static std::string shown(const TemplateToken& token) {
    switch (token.kind) {
      case TokenKind::tag_end:
      case TokenKind::output_end: return "the end of the tag";
      case TokenKind::string: return "a string";
      case TokenKind::end: return "the end of the template";
      default: return fmt::format("'{}'", quote(token.text));
    }
  }
  Error unexpected(std::string_view wanted) const {
    return broken_syntax(now().place, fmt::format("expected {}, found {}", wanted, shown(now())));
  }
  void expect_sign(std::string_view sign) {
    if (!skip_sign(sign)) throw unexpected(fmt::format("'{}'", sign));
  }
  std::string expect_name(std::string_view what = "a name") {
    if (now().kind != TokenKind::name) throw unexpected(what);
    return take().text;
  }
  void expect_tag_end() {
    if (now().kind != TokenKind::tag_end) throw unexpected("the end of the tag");
    take();
  }

  Expression& make(Kind kind, Place place) {
    Expression& made = made_.expressions.emplace_back();
    made.kind = kind, made.place = place;
    return made;
  }
  Statement& make(Statement::Kind kind, Place place) {
    Statement& made = made_.statements.emplace_back();
    made.kind = kind, made.place = place;
    return made;
  }

  // ---- statements ----

  // Parses up to a tag that begins with one of these words, and consumes that word. Without words: up to the end.
  Block block(std::initializer_list<std::string_view> ends) {
    const Deeper deeper(*this);
    Block all;
    for (;;) {
      const Place place = now().place;
      switch (now().kind) {
        case TokenKind::text: {
          Statement& text = make(Statement::Kind::text, place);
          text.text = take().text;
          all.push_back(&text);
          break;
        }
        case TokenKind::output_begin: {
          take();
          Statement& output = make(Statement::Kind::output, place);
          output.expression = tuple_or_one(true);
          if (now().kind != TokenKind::output_end) throw unexpected("the end of the tag");
          take();
          all.push_back(&output);
          break;
        }
        case TokenKind::tag_begin:
          if (after().kind == TokenKind::name &&
              std::ranges::find(ends, std::string_view(after().text)) != ends.end()) {
            take();
            return all;
          }
          take();
          statement(place, all);
          break;
        default:
          if (ends.size() > 0)
            throw broken_syntax(place, fmt::format("expected {}, found {}", *(ends.end() - 1), shown(now())));
          return all;
      }
    }
  }

  void statement(Place place, Block& all) {
    const std::string word = expect_name("a tag");
    if (word == "if") return all.push_back(&condition(place));
    if (word == "for") return all.push_back(&loop(place));
    if (word == "set") return all.push_back(&assignment(place));
    if (word == "macro") return all.push_back(&macro(place));
    if (word == "with") return all.push_back(&with(place));
    if (word == "filter") return all.push_back(&filtered(place));
    if (word == "generation") {
      Statement& made = make(Statement::Kind::scope, place);
      expect_tag_end();
      made.body = block({"endgeneration"});
      take();
      expect_tag_end();
      return all.push_back(&made);
    }
    if (word == "break" || word == "continue") {
      if (loops_ == 0) throw broken_syntax(place, fmt::format("{} is not in a loop", word));
      all.push_back(&make(word == "break" ? Statement::Kind::leave : Statement::Kind::next, place));
      return expect_tag_end();
    }
    constexpr std::string_view kOthers[] = {"block", "extends",    "include", "import", "from", "call",
                                            "do",    "autoescape", "trans",   "debug",  "raw",  "print"};
    if (std::ranges::find(kOthers, std::string_view(word)) != std::end(kOthers))
      throw not_known(place, fmt::format("the tag '{}' is not supported", word));
    throw broken_syntax(place, fmt::format("there is no tag '{}', or nothing that it ends", quote(word)));
  }

  Statement& condition(Place place) {
    Statement& made = make(Statement::Kind::condition, place);
    for (;;) {
      const Expression* const test = tuple_or_one(false);
      expect_tag_end();
      Block body = block({"elif", "else", "endif"});
      made.branches.emplace_back(test, std::move(body));
      const std::string word = take().text;
      if (word == "elif") continue;
      if (word == "else") {
        expect_tag_end();
        made.otherwise = block({"endif"});
        take();
      }
      expect_tag_end();
      return made;
    }
  }

  Statement& loop(Place place) {
    Statement& made = make(Statement::Kind::loop, place);
    made.target = target(false);
    if (!skip_name("in")) throw unexpected("'in'");
    made.expression = tuple_or_one(false, "recursive");
    if (skip_name("if")) made.test = expression();
    if (is_name("recursive")) throw not_known(now().place, "recursive loops are not supported");
    expect_tag_end();
    ++loops_;
    made.body = block({"else", "endfor"});
    --loops_;
    if (take().text == "else") {
      expect_tag_end();
      made.otherwise = block({"endfor"});
      take();
    }
    expect_tag_end();
    return made;
  }

  Statement& assignment(Place place) {
    Statement& made = make(Statement::Kind::set, place);
    made.target = target(true);
    if (skip_sign("=")) {
      made.expression = tuple_or_one(true);
      expect_tag_end();
      return made;
    }
    made.kind = Statement::Kind::set_block;
    if (is_sign("|")) made.expression = filters(nullptr, false);
    expect_tag_end();
    made.body = block({"endset"});
    take();
    expect_tag_end();
    return made;
  }

  Statement& macro(Place place) {
    Statement& made = make(Statement::Kind::macro, place);
    made.text = expect_name();
    expect_sign("(");
    while (!skip_sign(")")) {
      if (!made.parameters.empty()) expect_sign(",");
      std::string name = expect_name();
      const Expression* value = nullptr;
      if (skip_sign("="))
        value = expression();
      else if (!made.parameters.empty() && made.parameters.back().second != nullptr)
        throw broken_syntax(now().place, "a parameter without a default follows one with a default");
      made.parameters.emplace_back(std::move(name), value);
    }
    expect_tag_end();
    const std::uint32_t outer = std::exchange(loops_, 0);
    ++macros_;
    made.body = block({"endmacro"});
    --macros_;
    loops_ = outer;
    take();
    expect_tag_end();
    return made;
  }

  Statement& with(Place place) {
    Statement& made = make(Statement::Kind::with, place);
    while (now().kind != TokenKind::tag_end) {
      if (!made.parameters.empty()) expect_sign(",");
      std::string name = expect_name();
      expect_sign("=");
      made.parameters.emplace_back(std::move(name), expression());
    }
    take();
    made.body = block({"endwith"});
    take();
    expect_tag_end();
    return made;
  }

  Statement& filtered(Place place) {
    Statement& made = make(Statement::Kind::filtered, place);
    made.expression = filters(nullptr, true);
    expect_tag_end();
    made.body = block({"endfilter"});
    take();
    expect_tag_end();
    return made;
  }

  Target one_target(bool attributes) {
    if (skip_sign("(")) {
      Target made = target(attributes);
      expect_sign(")");
      return made;
    }
    Target made;
    made.name = expect_name();
    if (made.name == "true" || made.name == "false" || made.name == "none" || made.name == "True" ||
        made.name == "False" || made.name == "None")
      throw broken_syntax(now().place, fmt::format("'{}' cannot be assigned to", made.name));
    if (attributes && skip_sign(".")) made.attribute = expect_name();
    return made;
  }
  Target target(bool attributes) {
    const Deeper deeper(*this);
    Target made = one_target(attributes);
    if (!is_sign(",")) return made;
    Target all;
    all.several.push_back(std::move(made));
    while (skip_sign(",")) {
      if (is_name("in") || is_sign("=") || is_sign(")") || now().kind == TokenKind::tag_end) break;
      all.several.push_back(one_target(attributes));
    }
    return all;
  }

  // ---- expressions ----

  const Expression* expression() {
    const Deeper deeper(*this);
    const Expression* made = either();
    while (is_name("if")) {
      Expression& condition = make(Kind::condition, take().place);
      const Expression* const test = either();
      const Expression* const other = skip_name("else") ? expression() : nullptr;
      condition.parts = {test, made, other};
      made = &condition;
    }
    return made;
  }

  // Expressions that are separated by commas are a tuple. `conditions`: an expression may be one with `if`.
  const Expression* tuple_or_one(bool conditions, std::string_view end = {}) {
    const Deeper deeper(*this);
    const Place place = now().place;
    std::vector<const Expression*> parts;
    bool comma = false;
    while (now().kind != TokenKind::tag_end && now().kind != TokenKind::output_end && !is_sign(")") &&
           (end.empty() || !is_name(end))) {
      parts.push_back(conditions ? expression() : either());
      if (!skip_sign(",")) break;
      comma = true;
    }
    if (parts.empty()) throw unexpected("an expression");
    if (!comma) return parts.front();
    Expression& made = make(Kind::tuple, place);
    made.parts = std::move(parts);
    return &made;
  }

  const Expression* either() {
    const Expression* left = both();
    while (is_name("or")) left = &two(Kind::either, left, &Parser::both);
    return left;
  }
  const Expression* both() {
    const Expression* left = negation();
    while (is_name("and")) left = &two(Kind::both, left, &Parser::negation);
    return left;
  }
  // Consumes the operator, too.
  Expression& two(Kind kind, const Expression* left, const Expression* (Parser::*next)()) {
    const TemplateToken sign = take();
    const Expression* const right = (this->*next)();
    Expression& made = make(kind, sign.place);
    made.name = sign.text;
    made.parts = {left, right};
    return made;
  }

  const Expression* negation() {
    if (!is_name("not")) return comparison();
    const Deeper deeper(*this);
    const Place place = take().place;
    const Expression* const one = negation();
    Expression& made = make(Kind::negation, place);
    made.parts = {one};
    return &made;
  }

  std::string comparison_sign() {
    constexpr std::string_view kSigns[] = {"==", "!=", "<", "<=", ">", ">="};
    if (now().kind == TokenKind::sign && std::ranges::find(kSigns, std::string_view(now().text)) != std::end(kSigns))
      return take().text;
    if (skip_name("in")) return "in";
    if (is_name("not") && after().kind == TokenKind::name && after().text == "in") {
      take(), take();
      return "not in";
    }
    return {};
  }
  const Expression* comparison() {
    const Place place = now().place;
    const Expression* const first = sum();
    std::string sign = comparison_sign();
    if (sign.empty()) return first;
    std::vector<const Expression*> parts = {first};
    std::vector<std::string> names;
    for (; !sign.empty(); sign = comparison_sign()) {
      names.push_back(sign);
      parts.push_back(sum());
    }
    Expression& made = make(Kind::compare, place);
    made.parts = std::move(parts), made.names = std::move(names);
    return &made;
  }

  const Expression* sum() {
    const Expression* left = joined();
    while (is_sign("+") || is_sign("-")) left = &two(Kind::operation, left, &Parser::joined);
    return left;
  }
  const Expression* joined() {
    const Place place = now().place;
    const Expression* const first = product();
    if (!is_sign("~")) return first;
    std::vector<const Expression*> parts = {first};
    while (skip_sign("~")) parts.push_back(product());
    Expression& made = make(Kind::join, place);
    made.parts = std::move(parts);
    return &made;
  }
  const Expression* product() {
    const Expression* left = power();
    while (is_sign("*") || is_sign("/") || is_sign("//") || is_sign("%"))
      left = &two(Kind::operation, left, &Parser::power);
    return left;
  }
  const Expression* power() {
    const Expression* left = with_sign();
    while (is_sign("**")) left = &two(Kind::operation, left, &Parser::with_sign);
    return left;
  }
  const Expression* with_sign() { return signed_value(true); }

  const Expression* signed_value(bool with_filters) {
    const Deeper deeper(*this);
    const Expression* made = nullptr;
    if (is_sign("-") || is_sign("+")) {
      const TemplateToken sign = take();
      const Expression* const one = signed_value(false);
      Expression& result = make(sign.text == "-" ? Kind::negative : Kind::positive, sign.place);
      result.parts = {one};
      made = &result;
    } else {
      made = primary();
    }
    made = with_parts(made);
    return with_filters ? filters_and_tests(made) : made;
  }

  const Expression* primary() {
    const TemplateToken& token = now();
    const Place place = token.place;
    switch (token.kind) {
      case TokenKind::name: return named(place, take().text);
      case TokenKind::string: {
        Expression& made = make(Kind::text, place);
        while (now().kind == TokenKind::string) made.name += take().text;
        return &made;
      }
      case TokenKind::integer: {
        Expression& made = make(Kind::integer, place);
        const std::string text = take().text;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), made.integer);
        if (problem != std::errc()) throw not_known(place, "numbers of more than 64 bits are not supported");
        return &made;
      }
      case TokenKind::real: {
        Expression& made = make(Kind::real, place);
        const std::string text = take().text;
        std::from_chars(text.data(), text.data() + text.size(), made.real);
        return &made;
      }
      case TokenKind::sign:
        if (token.text == "(") return in_parentheses(place);
        if (token.text == "[") return list(place);
        if (token.text == "{") return dict(place);
        break;
      default: break;
    }
    throw unexpected("an expression");
  }

  const Expression* named(Place place, std::string name) {
    if (name == "true" || name == "True" || name == "false" || name == "False") {
      Expression& made = make(Kind::boolean, place);
      made.integer = name[0] == 't' || name[0] == 'T' ? 1 : 0;
      return &made;
    }
    if (name == "none" || name == "None") return &make(Kind::none, place);
    constexpr std::string_view kInMacros[] = {"caller", "varargs", "kwargs"};
    if (macros_ > 0 && std::ranges::find(kInMacros, std::string_view(name)) != std::end(kInMacros))
      throw not_known(place, fmt::format("'{}' is not supported in a macro", name));
    constexpr std::string_view kRefused[] = {"lipsum", "cycler", "joiner", "self", "super"};
    if (std::ranges::find(kRefused, std::string_view(name)) != std::end(kRefused))
      throw not_known(place, fmt::format("'{}' is not supported", name));
    Expression& made = make(Kind::variable, place);
    made.name = std::move(name);
    return &made;
  }

  const Expression* in_parentheses(Place place) {
    take();
    if (skip_sign(")")) return &make(Kind::tuple, place);
    const Expression* const made = tuple_or_one(true);
    expect_sign(")");
    return made;
  }

  const Expression* list(Place place) {
    take();
    std::vector<const Expression*> parts;
    while (!skip_sign("]")) {
      if (!parts.empty()) expect_sign(",");
      if (skip_sign("]")) break;
      parts.push_back(expression());
    }
    Expression& made = make(Kind::list, place);
    made.parts = std::move(parts);
    return &made;
  }

  const Expression* dict(Place place) {
    take();
    std::vector<const Expression*> parts;
    while (!skip_sign("}")) {
      if (!parts.empty()) expect_sign(",");
      if (skip_sign("}")) break;
      parts.push_back(expression());
      expect_sign(":");
      parts.push_back(expression());
    }
    Expression& made = make(Kind::dict, place);
    made.parts = std::move(parts);
    return &made;
  }

  // Attributes, items and calls.
  const Expression* with_parts(const Expression* made) {
    for (;;) {
      if (is_sign(".")) {
        const Place place = take().place;
        if (now().kind == TokenKind::integer) {
          const Expression* const index = primary();
          made = &item(place, made, index);
        } else {
          Expression& one = make(Kind::attribute, place);
          one.name = expect_name("the name of an attribute");
          one.parts = {made};
          made = &one;
        }
      } else if (is_sign("[")) {
        made = subscript(made);
      } else if (is_sign("(")) {
        made = call(made);
      } else {
        return made;
      }
    }
  }

  Expression& item(Place place, const Expression* of, const Expression* index) {
    Expression& made = make(Kind::item, place);
    made.parts = {of, index};
    return made;
  }

  const Expression* subscript(const Expression* of) {
    const Place place = take().place;
    const Expression* parts[3] = {};
    std::size_t count = 0;
    bool colon = false;
    for (; !is_sign("]");) {
      if (is_sign(",")) throw not_known(now().place, "several subscripts are not supported");
      if (skip_sign(":")) {
        colon = true;
        if (++count > 2) throw unexpected("']'");
      } else {
        if (parts[count] != nullptr) throw unexpected("']'");
        parts[count] = expression();
      }
    }
    take();
    if (!colon) {
      if (parts[0] == nullptr) throw broken_syntax(place, "expected a subscript");
      return &item(place, of, parts[0]);
    }
    Expression& made = make(Kind::slice, place);
    made.parts = {of, parts[0], parts[1], parts[2]};
    return &made;
  }

  std::vector<Argument> arguments() {
    expect_sign("(");
    std::vector<Argument> all;
    bool first = true;
    while (!skip_sign(")")) {
      if (!first) expect_sign(",");
      first = false;
      if (skip_sign(")")) break;
      if (is_sign("*") || is_sign("**")) throw not_known(now().place, "arguments from a list are not supported");
      Argument& one = all.emplace_back();
      if (now().kind == TokenKind::name && after().kind == TokenKind::sign && after().text == "=") {
        one.name = take().text;
        take();
      } else if (all.size() > 1 && !all[all.size() - 2].name.empty()) {
        throw broken_syntax(now().place, "an argument without a name follows one with a name");
      }
      one.value = expression();
    }
    return all;
  }

  const Expression* call(const Expression* of) {
    const Place place = now().place;
    std::vector<Argument> all = arguments();
    Expression& made = make(Kind::call, place);
    made.parts = {of};
    made.arguments = std::move(all);
    return &made;
  }

  const Expression* filters_and_tests(const Expression* made) {
    for (;;) {
      if (is_sign("|"))
        made = filters(made, false);
      else if (is_name("is"))
        made = test(made);
      else if (is_sign("("))
        made = call(made);
      else
        return made;
    }
  }

  // `begun`: the first has no sign before it. Null: what a block encloses.
  const Expression* filters(const Expression* made, bool begun) {
    const bool block = made == nullptr;
    while (begun || is_sign("|")) {
      if (!begun) take();
      begun = false;
      Expression& one = make(Kind::filter, now().place);
      one.name = expect_name("the name of a filter");
      one.filter = find_filter(one.name);
      one.parts = {made};
      if (is_sign("(")) one.arguments = arguments();
      made = &one;
      if (!block && !is_sign("|")) break;
    }
    return made;
  }

  const Expression* test(const Expression* of) {
    take();
    const bool negated = skip_name("not");
    Expression& made = make(Kind::test, now().place);
    made.name = expect_name("the name of a test");
    made.test = find_test(made.name);
    made.parts = {of};
    const TemplateToken& next = now();
    const bool word = next.kind == TokenKind::name && next.text != "else" && next.text != "or" && next.text != "and";
    if (is_sign("(")) {
      made.arguments = arguments();
    } else if (word || next.kind == TokenKind::string || next.kind == TokenKind::integer ||
               next.kind == TokenKind::real || is_sign("[") || is_sign("{")) {
      if (is_name("is")) throw broken_syntax(next.place, "tests cannot be chained");
      made.arguments.push_back({{}, with_parts(primary())});
    }
    if (!negated) return &made;
    Expression& result = make(Kind::negation, made.place);
    result.parts = {&made};
    return &result;
  }

  Tokens tokens_;
  Template::Syntax& made_;
  std::size_t at_ = 0;
  std::uint32_t depth_ = 0, loops_ = 0, macros_ = 0;
};

}  // namespace

Template::Syntax parsed_template(std::string_view source) {
  Template::Syntax made;
  Parser parser(tokens_of_template(source), made);
  parser.run();
  return made;
}

}  // namespace tare::chat
