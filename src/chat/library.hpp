// Filters, tests and global functions: tables, one row each.
#pragma once

#include <string_view>

#include "chat/values.hpp"

namespace tare::chat {

struct FilterRow {
  std::string_view name;
  Any (*apply)(World& world, const Any& value, const Given& given);
};
struct TestRow {
  std::string_view name;
  bool (*holds)(World& world, const Any& value, const Given& given);
};

// Null: there is none.
const FilterRow* find_filter(std::string_view name);
const TestRow* find_test(std::string_view name);
bool is_global(std::string_view name);
Any call_global(World& world, std::string_view name, const Given& given);

// The parameters of a function: those given by name and by place, in this order. Throws `chat.value` for others, and for more.
std::vector<std::optional<Any>> parameters(World& world, std::string_view function, const Given& given,
                                           std::initializer_list<std::string_view> names);

}  // namespace tare::chat
