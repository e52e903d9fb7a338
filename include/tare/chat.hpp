// Chat templates: how a model wants a conversation to be written.
//
//   const tare::chat::Template how(*tare::chat::template_of(model));
//   const std::string text = how.render(tare::chat::conversation(model, {{"user", "Hello"}}));
//
// A template is a program in Jinja's language that comes with a file. Tare runs the part of the language that such templates use, with the
// results of transformers' `apply_chat_template`, and refuses the rest by name and place. A template can reach nothing but what it is
// given, and its steps, memory and output are bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare::chat {

struct RenderOptions {
  // What it may cost.
  std::uint64_t steps = 10'000'000;
  std::uint64_t bytes = std::uint64_t{256} << 20;  // total size of all values that it makes
  // For strftime_now: seconds since 1970, in local time; by default, the clock's.
  std::optional<std::int64_t> now = {};
};

class TARE_API Template {
 public:
  // Throws corrupt `chat.syntax` for what no Jinja template may contain, unsupported `chat.unknown` for what is not supported here (a
  // tag, a filter, ...), and limit `chat.limit` for a template that is too long or nested too deeply. Sentences name the line.
  explicit Template(std::string_view source);
  Template(const Template&) noexcept = default;
  Template(Template&&) noexcept = default;
  Template& operator=(const Template&) noexcept = default;
  Template& operator=(Template&&) noexcept = default;
  ~Template();

  // Throws usage `chat.raised` if the template itself refuses (raise_exception), corrupt `chat.value` for an operation that its operands
  // do not have, unsupported `chat.unknown`, and limit `chat.limit`. Text that is not UTF-8 is read as U+FFFD.
  [[nodiscard]] std::string render(const Map& variables, const RenderOptions& options = {}) const;

  struct Syntax;

 private:
  std::shared_ptr<const Syntax> syntax_;
};

struct Message {
  std::string role, content;
};

// The text of the model's template, wherever its container keeps it; of several, the one called "default". Nothing if there is none.
[[nodiscard]] TARE_API std::optional<std::string> template_of(const Model& model);
// The variables of a template as transformers sets them: messages, add_generation_prompt, and bos_token and the like, as far as the
// model names them.
[[nodiscard]] TARE_API Map conversation(const Model& model, std::span<const Message> messages,
                                        bool add_generation_prompt = true);

}  // namespace tare::chat
