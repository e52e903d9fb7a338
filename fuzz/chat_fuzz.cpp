// Chat templates, run on a conversation with calls of tools: text, or an error of the interpreter.
#include <cstdlib>
#include <string_view>

#include "call.hpp"
#include "tare/chat.hpp"

namespace {

using namespace tare;

Map one_message(std::string_view role, std::string_view content) {
  Map made;
  made.set("role", role);
  made.set("content", content);
  return made;
}

Map variables() {
  Map arguments, function, call, made;
  arguments.set("city", "Z\u00fcrich");
  arguments.set("days", 3);
  function.set("name", "weather");
  function.set("arguments", std::move(arguments));
  call.set("id", "abcdefghi");
  call.set("function", std::move(function));
  Map calling = one_message("assistant", "<think>\nso\n</think>\n");
  calling.set("tool_calls", List{Value(std::move(call))});
  made.set("messages",
           List{Value(one_message("system", "Be brief.")), Value(one_message("user", " Hello \xF0\x9F\x91\x8D\n")),
                Value(std::move(calling)), Value(one_message("tool", "{}"))});
  made.set("tools", nullptr);
  made.set("add_generation_prompt", true);
  made.set("bos_token", "<s>");
  made.set("eos_token", "</s>");
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 1 << 13;
  if (size > kLongest) return 0;
  static const Map kVariables = variables();
  const fuzz::Call call(size);
  try {
    const chat::Template how({reinterpret_cast<const char*>(data), size});
    static_cast<void>(how.render(kVariables, {.steps = 20'000, .bytes = std::uint64_t{1} << 20, .now = 0}));
  } catch (const Error& error) {
    if (!std::string_view(error.rule()).starts_with("chat.")) std::abort();
  }
  return 0;
}
