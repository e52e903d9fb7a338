// The functions that a template finds: Jinja's, and transformers' raise_exception and strftime_now.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/printable.hpp"
#include "chat/library.hpp"

namespace tare::chat {
namespace {

constexpr std::string_view kGlobals[] = {"range", "dict", "namespace", "raise_exception", "strftime_now"};
constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};

Any make_range(World& world, const Given& given) {
  const auto all = parameters(world, "range", given, {"start", "stop", "step"});
  std::int64_t numbers[3] = {0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!all[i]) continue;
    require_defined(world, *all[i]);
    if (!all[i]->is(Type::integer))
      throw world.bad(fmt::format("range expects whole numbers, found {}", word_for(*all[i])));
    numbers[i] = all[i]->integer;
  }
  if (!all[0]) throw world.bad("range needs an argument");
  if (!all[1]) numbers[1] = std::exchange(numbers[0], 0);
  const auto [first, last, step] = numbers;
  if (step == 0) throw world.bad("the step of a range is 0");
  constexpr std::int64_t kMost = 100'000;  // that of Jinja's sandbox
  std::vector<Any> items;
  for (std::int64_t at = first; step > 0 ? at < last : at > last;) {
    if (static_cast<std::int64_t>(items.size()) == kMost)
      throw too_much(world.meter.place, fmt::format("a range has more than {} numbers", kMost));
    items.push_back(integer_value(at));
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return world.list(std::move(items), Type::range);
}

Any make_dict(World& world, const Given& given) {
  std::vector<std::pair<Any, Any>> entries;
  if (given.places.size() > 1) throw world.bad("dict takes one argument");
  if (!given.places.empty()) {
    if (!given.places[0].is(Type::dict)) throw world.unknown("dict() of a list is not supported");
    entries = given.places[0].dict->entries;
  }
  for (const auto& [name, value] : given.names) entries.emplace_back(world.text(std::string(name)), value);
  return world.dict(std::move(entries));
}

Any make_namespace(World& world, const Given& given) {
  const Any entries = make_dict(world, given);
  const Any made = world.names();
  for (const auto& [key, value] : entries.dict->entries) {
    if (!key.is(Type::text)) throw world.unknown("a namespace with keys that are no texts is not supported");
    made.names->all.emplace_back(std::string(key.as_text()), value);
  }
  return made;
}

Any formatted_time(World& world, const Given& given) {
  const auto format = parameters(world, "strftime_now", given, {"format"})[0];
  if (!format || !format->is(Type::text)) throw world.bad("strftime_now expects a text");
  const std::time_t now = world.now ? static_cast<std::time_t>(*world.now) : std::time(nullptr);
  std::tm time{};
  if (::localtime_r(&now, &time) == nullptr) throw world.bad("the time is beyond all years");
  const std::string_view day = kDays[time.tm_wday], month = kMonths[time.tm_mon];
  const int hour = time.tm_hour % 12 == 0 ? 12 : time.tm_hour % 12;
  std::string made;
  const std::string_view text = format->as_text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i];
      continue;
    }
    const char letter = i + 1 < text.size() ? text[++i] : ' ';
    switch (letter) {
      case '%': made += '%'; break;
      case 'Y': made += fmt::to_string(time.tm_year + 1900); break;
      case 'y': made += fmt::format("{:02}", time.tm_year % 100); break;
      case 'm': made += fmt::format("{:02}", time.tm_mon + 1); break;
      case 'd': made += fmt::format("{:02}", time.tm_mday); break;
      case 'e': made += fmt::format("{:2}", time.tm_mday); break;
      case 'j': made += fmt::format("{:03}", time.tm_yday + 1); break;
      case 'H': made += fmt::format("{:02}", time.tm_hour); break;
      case 'I': made += fmt::format("{:02}", hour); break;
      case 'M': made += fmt::format("{:02}", time.tm_min); break;
      case 'S': made += fmt::format("{:02}", time.tm_sec); break;
      case 'p': made += time.tm_hour < 12 ? "AM" : "PM"; break;
      case 'A': made += day; break;
      case 'a': made += day.substr(0, 3); break;
      case 'B': made += month; break;
      case 'b': made += month.substr(0, 3); break;
      default: throw world.unknown(fmt::format("strftime_now with %{} is not supported", printable({&letter, 1})));
    }
    world.meter.take(16);
  }
  return world.text(std::move(made));
}

}  // namespace

bool is_global(std::string_view name) { return std::ranges::find(kGlobals, name) != std::end(kGlobals); }

Any call_global(World& world, std::string_view name, const Given& given) {
  if (name == "range") return make_range(world, given);
  if (name == "dict") return make_dict(world, given);
  if (name == "namespace") return make_namespace(world, given);
  if (name == "strftime_now") return formatted_time(world, given);
  const auto message = parameters(world, name, given, {"message"})[0];
  throw raised(world.meter.place,
               message ? fmt::format("it refuses: {}", quote(shown(world, *message))) : "it refuses");
}

}  // namespace tare::chat
