// Runs a parsed template.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "chat/library.hpp"
#include "chat/syntax.hpp"
#include "chat/values.hpp"

namespace tare::chat {
namespace {

using Kind = Expression::Kind;

// What a block ends with.
enum class Flow : std::uint8_t { on, leave, next };

class Renderer {
 public:
  Renderer(World& world, const Map& variables) : world_(world), meter_(world.meter), out_(&text_) {
    root_ = &world_.scope(nullptr);
    for (const auto& [name, value] : variables) root_->names.emplace_back(name, world_.from(value));
    root_ = &world_.scope(root_);
  }

  std::string run(const Block& body) {
    run_block(body, *root_);
    return std::move(text_);
  }

 private:
  // ---- variables ----

  static Any* find_in(Scope& scope, std::string_view name) {
    for (auto& [key, value] : scope.names)
      if (key == name) return &value;
    return nullptr;
  }
  Any variable(std::string_view name, Scope& scope) {
    for (Scope* one = &scope; one != nullptr; one = one->parent) {
      meter_.step(1 + one->names.size() / 8);
      if (const Any* const found = find_in(*one, name)) return *found;
    }
    if (is_global(name)) return world_.function({.what = Function::What::global, .name = name});
    return world_.undefined(std::string(name));
  }
  void set(std::string_view name, const Any& value, Scope& scope) {
    meter_.step(1 + scope.names.size() / 8);
    if (Any* const found = find_in(scope, name)) {
      *found = value;
    } else {
      meter_.take(sizeof(std::pair<std::string_view, Any>));
      scope.names.emplace_back(name, value);
    }
  }

  void assign(const Target& target, const Any& value, Scope& scope) {
    if (!target.several.empty()) {
      require_defined(world_, value);
      const std::vector<Any> items = items_of(world_, value);
      if (items.size() != target.several.size())
        throw world_.bad(fmt::format("expected {} values, found {}", target.several.size(), items.size()));
      for (std::size_t i = 0; i < items.size(); ++i) assign(target.several[i], items[i], scope);
    } else if (target.attribute.empty()) {
      set(target.name, value, scope);
    } else {
      const Any space = variable(target.name, scope);
      if (!space.is(Type::names))
        throw world_.bad(
            fmt::format("'{}' is {}, attributes can be set on namespaces only", quote(target.name), word_for(space)));
      auto& all = space.names->all;
      meter_.step(1 + all.size() / 8);
      const auto found = std::ranges::find_if(all, [&](const auto& entry) { return entry.first == target.attribute; });
      if (found != all.end()) {
        found->second = value;
      } else {
        meter_.take(64 + target.attribute.size());
        all.emplace_back(target.attribute, value);
      }
    }
  }

  // ---- statements ----

  Flow run_block(const Block& block, Scope& scope) {
    const Meter::Level level(meter_);
    for (const Statement* const one : block)
      if (const Flow flow = run_statement(*one, scope); flow != Flow::on) return flow;
    return Flow::on;
  }

  void put(std::string_view text) {
    meter_.take(text.size());
    *out_ += text;
  }

  // What a block writes.
  std::string written(const Block& block, Scope& scope) {
    std::string made;
    std::string* const outer = std::exchange(out_, &made);
    const Flow flow = run_block(block, scope);
    out_ = outer;
    if (flow != Flow::on) throw world_.unknown("a loop is left from the middle of a block");
    return made;
  }

  Flow run_statement(const Statement& it, Scope& scope) {
    using Is = Statement::Kind;
    meter_.place = it.place;
    meter_.step();
    switch (it.kind) {
      case Is::text: put(it.text); return Flow::on;
      case Is::output: {
        const Any value = evaluate(*it.expression, scope);
        meter_.place = it.place;
        add_shown(world_, value, *out_);
        return Flow::on;
      }
      case Is::condition:
        for (const auto& [test, body] : it.branches)
          if (truth(evaluate(*test, scope))) return run_block(body, scope);
        return run_block(it.otherwise, scope);
      case Is::loop: run_loop(it, scope); return Flow::on;
      case Is::set: assign(it.target, evaluate(*it.expression, scope), scope); return Flow::on;
      case Is::set_block: assign(it.target, block_value(it, scope), scope); return Flow::on;
      case Is::macro:
        set(it.text, world_.function({.what = Function::What::macro, .name = it.text, .macro = &it, .scope = &scope}),
            scope);
        return Flow::on;
      case Is::with: {
        Scope& inner = world_.scope(&scope);
        for (const auto& [name, value] : it.parameters) set(name, evaluate(*value, scope), inner);
        return run_block(it.body, inner);
      }
      case Is::filtered: {
        const Any made = block_value(it, scope);
        add_shown(world_, made, *out_);
        return Flow::on;
      }
      case Is::scope: put(written(it.body, world_.scope(&scope))); return Flow::on;
      case Is::leave: return Flow::leave;
      case Is::next: return Flow::next;
    }
    return Flow::on;
  }

  Any block_value(const Statement& it, Scope& scope) {
    const Any made = world_.text(written(it.body, world_.scope(&scope)));
    if (it.expression == nullptr) return made;
    const Any outer = std::exchange(enclosed_, made);
    const Any filtered = evaluate(*it.expression, scope);
    enclosed_ = outer;
    return filtered;
  }

  void run_loop(const Statement& it, Scope& scope) {
    const Any over = evaluate(*it.expression, scope);
    meter_.place = it.place;
    std::vector<Any> items = items_of(world_, over);
    Scope& inner = world_.scope(&scope);
    if (it.test != nullptr) {
      std::vector<Any> chosen;
      for (const Any& item : items) {
        inner.names.clear();
        assign(it.target, item, inner);
        if (truth(evaluate(*it.test, inner))) chosen.push_back(item);
      }
      items = std::move(chosen);
    }
    const Any kept = world_.list(std::move(items));
    Loop* loop = nullptr;
    const Any loop_value = world_.loop({.items = kept.items->all}, loop);
    bool finished = false;  // `else` is for loops none of whose rounds has reached its end
    for (std::size_t i = 0; i < kept.items->all.size(); ++i) {
      loop->index = i;
      inner.names.clear();
      inner.names.emplace_back("loop", loop_value);
      meter_.place = it.place;
      assign(it.target, kept.items->all[i], inner);
      const Flow flow = run_block(it.body, inner);
      if (flow == Flow::leave) break;
      finished = finished || flow == Flow::on;
    }
    if (!finished) run_block(it.otherwise, world_.scope(&scope));
  }

  // ---- expressions ----

  Any evaluate(const Expression& it, Scope& scope) {
    const Meter::Level level(meter_);
    meter_.step();
    switch (it.kind) {
      case Kind::undefined: return no_value();
      case Kind::none: return none_value();
      case Kind::boolean: return boolean_value(it.integer != 0);
      case Kind::integer: return integer_value(it.integer);
      case Kind::real: return real_value(it.real);
      case Kind::text: {
        Any made;
        made.type = Type::text, made.text = &it.name;
        return made;
      }
      case Kind::variable: return variable(it.name, scope);
      case Kind::list: return world_.list(values(it.parts, scope));
      case Kind::tuple: return world_.list(values(it.parts, scope), Type::tuple);
      case Kind::dict: return dict(it, scope);
      case Kind::attribute: {
        const Any of = evaluate(*it.parts[0], scope);
        meter_.place = it.place;
        return attribute_of(world_, of, it.name);
      }
      case Kind::item: {
        const Any of = evaluate(*it.parts[0], scope), index = evaluate(*it.parts[1], scope);
        meter_.place = it.place;
        return item_of(world_, of, index);
      }
      case Kind::slice: return slice(it, scope);
      case Kind::call: return call(it, scope);
      case Kind::filter: {
        const Any value = it.parts[0] == nullptr ? enclosed_ : evaluate(*it.parts[0], scope);
        const Given given = arguments(it.arguments, scope);
        meter_.place = it.place;
        require_plain(world_, value);
        if (it.filter == nullptr) throw world_.unknown(fmt::format("the filter '{}' is not supported", quote(it.name)));
        return it.filter->apply(world_, value, given);
      }
      case Kind::test: {
        const Any value = evaluate(*it.parts[0], scope);
        const Given given = arguments(it.arguments, scope);
        meter_.place = it.place;
        if (it.test == nullptr) throw world_.unknown(fmt::format("the test '{}' is not supported", quote(it.name)));
        return boolean_value(it.test->holds(world_, value, given));
      }
      case Kind::negative:
      case Kind::positive: {
        const Any value = evaluate(*it.parts[0], scope);
        meter_.place = it.place;
        return negated(world_, value, it.kind == Kind::negative);
      }
      case Kind::negation: return boolean_value(!truth(evaluate(*it.parts[0], scope)));
      case Kind::operation: {
        const Any a = evaluate(*it.parts[0], scope), b = evaluate(*it.parts[1], scope);
        meter_.place = it.place;
        return operate(world_, it.name, a, b);
      }
      case Kind::join: return joined(it, scope);
      case Kind::compare: return compared(it, scope);
      case Kind::both: {
        const Any left = evaluate(*it.parts[0], scope);
        return truth(left) ? evaluate(*it.parts[1], scope) : left;
      }
      case Kind::either: {
        const Any left = evaluate(*it.parts[0], scope);
        return truth(left) ? left : evaluate(*it.parts[1], scope);
      }
      case Kind::condition:
        if (truth(evaluate(*it.parts[0], scope))) return evaluate(*it.parts[1], scope);
        return it.parts[2] == nullptr ? no_value() : evaluate(*it.parts[2], scope);
    }
    return no_value();
  }

  std::vector<Any> values(const std::vector<const Expression*>& parts, Scope& scope) {
    std::vector<Any> all;
    for (const Expression* const part : parts) all.push_back(evaluate(*part, scope));
    return all;
  }

  Any dict(const Expression& it, Scope& scope) {
    std::vector<std::pair<Any, Any>> entries;
    for (std::size_t i = 0; i + 1 < it.parts.size(); i += 2) {
      const Any key = evaluate(*it.parts[i], scope);
      entries.emplace_back(key, evaluate(*it.parts[i + 1], scope));
    }
    meter_.place = it.place;
    return world_.dict(std::move(entries));
  }

  Any slice(const Expression& it, Scope& scope) {
    Any parts[4];
    for (std::size_t i = 0; i < 4; ++i)
      parts[i] = it.parts[i] == nullptr ? none_value() : evaluate(*it.parts[i], scope);
    meter_.place = it.place;
    return slice_of(world_, parts[0], parts[1], parts[2], parts[3]);
  }

  Any joined(const Expression& it, Scope& scope) {
    std::string made;
    for (const Expression* const part : it.parts) {
      const Any value = evaluate(*part, scope);
      meter_.place = it.place;
      add_shown(world_, value, made);
    }
    return world_.text(std::move(made));
  }

  bool holds(std::string_view sign, const Any& a, const Any& b) {
    if (sign == "==") return are_equal(world_, a, b);
    if (sign == "!=") return !are_equal(world_, a, b);
    if (sign == "in") return contains(world_, b, a);
    if (sign == "not in") return !contains(world_, b, a);
    const int order = order_of(world_, a, b, sign);
    return sign == "<" ? order < 0 : sign == "<=" ? order <= 0 : sign == ">" ? order > 0 : order >= 0;
  }
  Any compared(const Expression& it, Scope& scope) {
    Any left = evaluate(*it.parts[0], scope);
    for (std::size_t i = 0; i < it.names.size(); ++i) {
      const Any right = evaluate(*it.parts[i + 1], scope);
      meter_.place = it.place;
      if (!holds(it.names[i], left, right)) return boolean_value(false);
      left = right;
    }
    return boolean_value(true);
  }

  Given arguments(const std::vector<Argument>& all, Scope& scope) {
    Given given;
    for (const Argument& one : all) {
      const Any value = evaluate(*one.value, scope);
      if (one.name.empty())
        given.places.push_back(value);
      else
        given.names.emplace_back(one.name, value);
    }
    return given;
  }

  Any call(const Expression& it, Scope& scope) {
    const Any function = evaluate(*it.parts[0], scope);
    const Given given = arguments(it.arguments, scope);
    meter_.place = it.place;
    require_defined(world_, function);
    if (!function.is(Type::function)) throw world_.bad(fmt::format("{} cannot be called", word_for(function)));
    const Function& made = *function.function;
    switch (made.what) {
      case Function::What::global: return call_global(world_, made.name, given);
      case Function::What::method: return call_method(world_, made.name, made.self, given);
      case Function::What::macro: return call_macro(made, given);
      case Function::What::cycle:
        if (given.places.empty()) throw world_.bad("cycle() needs values");
        return given.places[made.self.loop->index % given.places.size()];
      case Function::What::changed: return changed(*made.self.loop, given);
    }
    return no_value();
  }

  Any changed(Loop& loop, const Given& given) {
    const Any now = world_.list(given.places, Type::tuple);
    const bool same = loop.asked && are_equal(world_, *loop.asked, now);
    loop.asked = now;
    return boolean_value(!same);
  }

  Any call_macro(const Function& function, const Given& given) {
    const Meter::Level level(meter_);
    const Statement& macro = *function.macro;
    const Place place = meter_.place;
    if (given.places.size() > macro.parameters.size())
      throw world_.bad(fmt::format("{}() takes at most {} arguments, found {}", quote(function.name),
                                   macro.parameters.size(), given.places.size()));
    Scope& scope = world_.scope(function.scope);
    std::size_t used = 0;
    for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
      const std::string& name = macro.parameters[i].first;
      const Expression* const usual = macro.parameters[i].second;
      meter_.step(1 + given.names.size() / 8);
      const auto named = std::ranges::find_if(given.names, [&](const auto& one) { return one.first == name; });
      if (named != given.names.end()) {
        if (i < given.places.size())
          throw world_.bad(fmt::format("{}() got '{}' twice", quote(function.name), quote(name)));
        ++used;
      }
      if (i < given.places.size())
        set(name, given.places[i], scope);
      else if (named != given.names.end())
        set(name, named->second, scope);
      else if (usual != nullptr)
        set(name, evaluate(*usual, scope), scope);
      else
        set(name, world_.undefined(name), scope);
    }
    if (used != given.names.size())
      throw world_.bad(fmt::format("{}() got an argument that it does not know", quote(function.name)));
    std::string made = written(macro.body, scope);
    meter_.place = place;
    return world_.text(std::move(made));
  }

  World& world_;
  Meter& meter_;
  Scope* root_ = nullptr;
  std::string text_;
  std::string* out_;
  Any enclosed_ = {};  // the text that a block's filter is applied to
};

}  // namespace

Template::Template(std::string_view source) : syntax_(std::make_shared<const Syntax>(parsed_template(source))) {}
Template::~Template() = default;

std::string Template::render(const Map& variables, const RenderOptions& options) const {
  Meter meter(options.steps, options.bytes);
  World world(meter);
  world.now = options.now;
  return Renderer(world, variables).run(syntax_->body);
}

}  // namespace tare::chat
