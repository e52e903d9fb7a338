// Jinja's tests: `x is defined`.
#include <fmt/format.h>

#include <algorithm>

#include "chat/characters.hpp"
#include "chat/library.hpp"

namespace tare::chat {
namespace {

using Given_ = const Given&;

const Any& the_argument(World& world, Given_ given) {
  if (given.places.size() != 1 || !given.names.empty()) throw world.bad("the test takes one argument");
  return given.places.front();
}
void no_argument(World& world, Given_ given) {
  if (!given.places.empty() || !given.names.empty()) throw world.bad("the test takes no arguments");
}

template <Type... types>
bool is_one_of(World& world, const Any& value, Given_ given) {
  no_argument(world, given);
  return ((value.type == types) || ...);
}
bool is_defined(World& world, const Any& value, Given_ given) {
  no_argument(world, given);
  return !value.is(Type::undefined);
}
bool is_true(World& world, const Any& value, Given_ given) {
  no_argument(world, given);
  return value.is(Type::boolean) && value.boolean;
}
bool is_false(World& world, const Any& value, Given_ given) {
  no_argument(world, given);
  return value.is(Type::boolean) && !value.boolean;
}
bool is_equal(World& world, const Any& value, Given_ given) {
  return are_equal(world, value, the_argument(world, given));
}
bool is_unequal(World& world, const Any& value, Given_ given) { return !is_equal(world, value, given); }
template <int wanted, bool or_equal>
bool is_ordered(World& world, const Any& value, Given_ given) {
  const int found = order_of(world, value, the_argument(world, given), wanted < 0 ? "<" : ">");
  return found == wanted || (or_equal && found == 0);
}
bool is_in(World& world, const Any& value, Given_ given) { return contains(world, the_argument(world, given), value); }
bool is_same(World& world, const Any& value, Given_ given) {
  const Any& other = the_argument(world, given);
  const auto one_of_a_kind = [](const Any& any) { return any.is(Type::none) || any.is(Type::boolean); };
  if (!one_of_a_kind(value) && !one_of_a_kind(other))
    throw world.unknown("'sameas' is supported for none, true and false only");
  return value.type == other.type && (value.is(Type::none) || value.boolean == other.boolean);
}
std::int64_t rest_of(World& world, const Any& value, std::int64_t by) {
  const Any rest = operate(world, "%", value, integer_value(by));
  if (!rest.is(Type::integer)) throw world.unknown("the test is supported for whole numbers only");
  return rest.integer;
}
bool is_odd(World& world, const Any& value, Given_ given) {
  no_argument(world, given);
  return rest_of(world, value, 2) == 1;
}
bool is_even(World& world, const Any& value, Given_ given) {
  no_argument(world, given);
  return rest_of(world, value, 2) == 0;
}
bool is_divisible(World& world, const Any& value, Given_ given) {
  const Any& by = the_argument(world, given);
  if (!by.is(Type::integer)) throw world.bad("'divisibleby' expects a whole number");
  return rest_of(world, value, by.integer) == 0;
}
bool has_case(World& world, const Any& value, Given_ given, std::string_view method) {
  no_argument(world, given);
  return call_method(world, method, world.text(shown(world, value)), {}).boolean;
}
bool is_lower(World& world, const Any& value, Given_ given) { return has_case(world, value, given, "islower"); }
bool is_upper(World& world, const Any& value, Given_ given) { return has_case(world, value, given, "isupper"); }

constexpr TestRow kTests[] = {
    {"!=", is_unequal},
    {"==", is_equal},
    {"boolean", is_one_of<Type::boolean>},
    {"callable", is_one_of<Type::function, Type::undefined>},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"even", is_even},
    {"false", is_false},
    {"float", is_one_of<Type::real>},
    {"ge", is_ordered<1, true>},
    {"greaterthan", is_ordered<1, false>},
    {"gt", is_ordered<1, false>},
    {"in", is_in},
    {"integer", is_one_of<Type::integer>},
    // An undefined value can be gone through, and it has a length.
    {"iterable", is_one_of<Type::undefined, Type::text, Type::list, Type::tuple, Type::range, Type::view, Type::stream,
                           Type::dict, Type::loop>},
    {"le", is_ordered<-1, true>},
    {"lessthan", is_ordered<-1, false>},
    {"lower", is_lower},
    {"lt", is_ordered<-1, false>},
    {"mapping", is_one_of<Type::dict>},
    {"ne", is_unequal},
    {"none", is_one_of<Type::none>},
    {"number", is_one_of<Type::integer, Type::real, Type::boolean>},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_one_of<Type::undefined, Type::text, Type::list, Type::tuple, Type::range, Type::dict>},
    {"string", is_one_of<Type::text>},
    {"true", is_true},
    {"undefined", is_one_of<Type::undefined>},
    {"upper", is_upper},
};

}  // namespace

const TestRow* find_test(std::string_view name) {
  const auto found = std::ranges::find(kTests, name, &TestRow::name);
  return found == std::end(kTests) ? nullptr : &*found;
}

}  // namespace tare::chat
