// Chat templates: the recorded results of jinja2, what is refused, and templates that ask for too much.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "tare/chat.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

struct ChatOutcome {
  std::string text, rule, sentence;
};
ChatOutcome outcome_of(const std::string& source, const Map& variables, const chat::RenderOptions& options = {}) {
  try {
    return {chat::Template(source).render(variables, options), {}, {}};
  } catch (const Error& error) {
    return {{}, error.rule(), error.sentence()};
  }
}

Map map_of(std::string_view json) {
  wire::TreeBounds bounds;
  return *wire::read_json(json, bounds).get<Map>();
}

// jinja2's results (judge.py), for transformers' settings. What jinja2 refuses is refused; what Tare does not know may be.
TEST(ChatTemplate, Recorded) {
  ::setenv("TZ", "UTC", 1);
  const char* const other = std::getenv("TARE_CHAT_CASES");
  std::ifstream file(other != nullptr ? other : std::string(TARE_TEST_DIR) + "/chat/recorded.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  wire::TreeBounds bounds;
  bounds.values = std::uint64_t{1} << 31;
  const Value all = wire::read_json(text, bounds);
  const Map& root = *all.get<Map>();
  const chat::RenderOptions options{.now = *root.get<std::int64_t>("now")};
  const Map& values = *root.get<Map>("values");
  std::size_t compared = 0, refused = 0, failed = 0;
  std::string shown;
  for (const Value& one : *root.get<List>("templates")) {
    const std::string& source = *one.get<Map>()->get<std::string>("template");
    const bool expression = source.starts_with("{{ ");
    for (const Value& each : *one.get<Map>()->get<List>("cases")) {
      const Map& it = *each.get<Map>();
      const Map* const variables = it.get<Map>("variables");
      const ChatOutcome found = outcome_of(source, variables == nullptr ? values : *variables, options);
      const std::string* const expected = it.get<std::string>("text");
      ++compared;
      if (found.rule == "chat.unknown") ++refused;
      const bool good = expected == nullptr  ? !found.rule.empty()
                        : found.rule.empty() ? found.text == *expected
                                             : expression && found.rule == "chat.unknown";
      if (good) continue;
      ++failed;
      if (failed <= 100 && std::exchange(shown, source) != source) {  // one of each
        const std::string* const error = it.get<std::string>("error");
        ADD_FAILURE() << source.substr(0, 120) << "\n  expected " << (expected != nullptr ? "text" : "error") << ": "
                      << (expected != nullptr ? *expected : *error) << "\n  found " << found.rule << " "
                      << found.sentence << found.text << "\n  "
                      << (variables == nullptr ? std::string() : to_json(*variables).substr(0, 600));
      }
    }
  }
  EXPECT_EQ(failed, 0u);
  EXPECT_GT(compared, 500u);
  if (other != nullptr) fmt::print("{} cases, {} refused as not known\n", compared, refused);
}

TEST(ChatTemplate, ErrorsNameThePlace) {
  const auto sentence = [](const std::string& source) { return outcome_of(source, {}).sentence; };
  EXPECT_EQ(sentence("a\n {{ x.y }}"), "the chat template, line 2, column 6: 'x' is undefined");
  EXPECT_EQ(sentence("{% if %}"),
            "the chat template, line 1, column 7: expected an expression, found the end of the tag");
  EXPECT_EQ(sentence("{% include 'x' %}"), "the chat template, line 1, column 1: the tag 'include' is not supported");
  EXPECT_EQ(sentence("{{ 1|nope }}"), "the chat template, line 1, column 6: the filter 'nope' is not supported");
  EXPECT_EQ(sentence("{{ raise_exception('no\nway') }}"), "the chat template, line 1, column 19: it refuses: no\\nway");
}

TEST(ChatTemplate, Refuses) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"{% for x in y recursive %}{% endfor %}", "chat.unknown"},
      {"{% call f() %}{% endcall %}", "chat.unknown"},
      {"{% extends 'x' %}", "chat.unknown"},
      {"{{ x is nope }}", "chat.unknown"},
      {"{{ lipsum() }}", "chat.unknown"},
      {"{{ f(*x) }}", "chat.unknown"},
      {"{{ ('a'|safe)|trim }}", "chat.unknown"},
      {"{{ '{:3}'.format(1) }}", "chat.unknown"},
      {"{{ ''.__class__.__mro__ }}", "chat.unknown"},
      {"{{ [].append(1) }}", "chat.unknown"},
      {"{{ '%s' % 1 }}", "chat.unknown"},
      {"{{ 9223372036854775807 + 1 }}", "chat.unknown"},
      {"{{ 9223372036854775808 }}", "chat.unknown"},
      {"{{ range }}", "chat.unknown"},
      {"{{ [1]|map('abs') }}", "chat.unknown"},
      {"{% if x %}", "chat.syntax"},
      {"{% endif %}", "chat.syntax"},
      {"{% nope %}", "chat.syntax"},
      {"{{ x", "chat.syntax"},
      {"{{ 'x }}", "chat.syntax"},
      {"{# x", "chat.syntax"},
      {"{% raw %}x", "chat.syntax"},
      {"{{ (1] }}", "chat.syntax"},
      {"{{ 1 2 }}", "chat.syntax"},
      {"{% break %}", "chat.syntax"},
      {"{{ '\\ud800' }}", "chat.syntax"},
      {"{% set true = 1 %}", "chat.syntax"},
      {"{{ 1 + 'a' }}", "chat.value"},
      {"{{ 1 / 0 }}", "chat.value"},
      {"{{ raise_exception('x') }}", "chat.raised"},
  };
  for (const auto& [source, rule] : kCases) EXPECT_EQ(outcome_of(std::string(source), {}).rule, rule) << source;
}

std::string repeated_text(std::string_view text, std::size_t times) {
  std::string made;
  for (std::size_t i = 0; i < times; ++i) made += text;
  return made;
}

// "a0=0,a1=1,"
std::string numbered_arguments(std::size_t count) {
  std::string made;
  for (std::size_t i = 0; i < count; ++i) made += fmt::format("a{}={},", i, i);
  return made;
}

// Each would take hours or all memory without the limits.
TEST(ChatTemplate, AsksForTooMuch) {
  const std::string kCases[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% set ns = namespace(x='ab') %}{% for a in range(99999) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for a in range(99999) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for a in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=[1]) %}{% for a in range(99999) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ "
      "ns.x|tojson }}",
      "{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x == "
      "ns.x[:] }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
      "{{ 'x' * 9223372036854775807 }}",
      "{{ [1] * 4611686018427387904 }}",
      "{{ ('x' * 1000000)|replace('', 'y' * 1000000) }}",
      "{{ ('a' * 1000000).replace('a', 'b' * 1000) }}",
      "{% set s = 'a' * 1000000 %}{% for i in range(99999) %}{{ (s ~ 'b') in (s ~ s) }}{% endfor %}",
      "{% set s = 'a' * 8000000 %}{{ (s ~ s).rfind(s ~ 'b') }}",
      "{% set s = 'a' * 1000000 %}{% for i in range(99999) %}{{ s|length }}{% endfor %}",
      "{% for i in range(99999) %}{{ range(99999)|list }}{% endfor %}",
      "{{ range(100001)|list }}",
      "{% set s = 'a,' * 1000000 %}{% for i in range(1000) %}{% set t = s.split(',') %}{% endfor %}",
      "{{ 'x'|indent(1000)|indent(1000) }}{% for i in range(99999) %}{{ (('\\n' * 9999) ~ 'x')|indent(1000, true, "
      "true) }}{% endfor %}",
      "{{ " + repeated_text("(", 5000) + "1" + repeated_text(")", 5000) + " }}",
      "{{ " + repeated_text("-", 5000) + "1 }}",
      "{{ " + repeated_text("not ", 5000) + "1 }}",
      "{{ " + repeated_text("[", 5000) + repeated_text("]", 5000) + " }}",
      repeated_text("{% if 1 %}", 5000) + repeated_text("{% endif %}", 5000),
      "{{ x" + repeated_text("|trim", 5000) + " }}",
      "{{ 1" + repeated_text(" + 1", 5000) + " }}",
      "{{ x" + repeated_text(".y", 5000) + " }}",
      "{{ 1" + repeated_text(" if 1 else 1", 5000) + " }}",
      repeated_text("{{ 1 }}", 200'000),
      std::string(2'000'000, ' '),
      // Bytes that are written between others, and texts that grow when they are spelled.
      "{% set s = 'x' * 1000000 %}{{ range(20000)|list|tojson(separators=(s, ':')) }}",
      "{% set s = 'x' * 1000000 %}{{ {1: 2, 3: 4, 5: range(50)|list}|tojson(separators=('', s)) }}" +
          repeated_text("{{ {1: 2}|tojson(separators=('', 'x' * 1000000)) }}", 50),
      "{% set s = '\x01' * 9000000 %}{{ s|tojson }}",
      "{% set s = '\x01' * 9000000 %}{{ [s] }}",
      "{% set s = '&' * 9000000 %}{{ ('x'|safe) + s }}",
      // Empty parts of each other.
      "{% set ns = namespace(x=[]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson "
      "}}",
      "{% set ns = namespace(x={}) %}{% for a in range(60) %}{% set ns.x = {1: ns.x, 2: ns.x} %}{% endfor %}{{ "
      "ns.x|tojson }}",
      "{% set ns = namespace(x=()) %}{% for a in range(60) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ "
      "'x'.startswith(ns.x) }}",
      "{% set ns = namespace(x=()) %}{% for a in range(5000) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ "
      "'x'.endswith(ns.x) }}",
      // Long texts that are read again and again.
      "{% set s = 'x' * 8000000 %}{% for i in range(99999) %}{{ s.count('') }}{% endfor %}",
      "{% set s = ' ' * 8000000 %}{% for i in range(99999) %}{{ s|int }}{% endfor %}",
      "{% set s = ' ' * 8000000 %}{% for i in range(99999) %}{{ s|float }}{% endfor %}",
      "{% set s = 'x' * 8000000 %}{% set d = {s: 1} %}{% for i in range(99999) %}{{ s in d }}{% endfor %}",
      "{% set s = 'x' * 8000000 %}{% set d = {s: 1} %}{% for i in range(99999) %}{{ d[s] }}{% endfor %}",
      "{% set s = 'x' * 8000000 %}{% set n = namespace({s: 1}) %}{% for i in range(99999) %}{{ n[s] }}{% endfor %}",
      // Many names of arguments.
      "{% set s = '{z}' * 100000 %}{{ s.format(" + numbered_arguments(4000) + "z='') }}",
      "{% macro m(" + numbered_arguments(2000) + "z=1) %}{% endmacro %}{% for i in range(99999) %}{{ m(" +
          numbered_arguments(2000) + "z=1) }}{% endfor %}",
      "{{ " + std::string(1001, 'x') + " }}",
      "{% for " + repeated_text("(", 50'000) + "a" + repeated_text(")", 50'000) + " in x %}{% endfor %}",
      "{% set " + repeated_text("(a,", 5000) + "a" + repeated_text(")", 5000) + " = x %}",
  };
  for (const std::string& source : kCases) {
    const ChatOutcome found = outcome_of(source, {});
    EXPECT_EQ(found.rule, "chat.limit") << source.substr(0, 120) << " " << found.rule << " " << found.sentence
                                        << found.text.substr(0, 100);
  }
  // A namespace may hold itself.
  EXPECT_EQ(outcome_of("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns.x.x.x == ns }}", {}).text, "True");
  EXPECT_EQ(outcome_of("{{ 1 }}", {}, {.steps = 1}).rule, "chat.limit");
  EXPECT_EQ(outcome_of("{{ 'abc' * 100 }}", {}, {.bytes = 200}).rule, "chat.limit");
}

// What a template may cost grows with what it is given.
TEST(ChatTemplate, ALongConversationMayCostMore) {
  const std::string loop =
      "{% for m in messages %}{% for c in m %}{% if c == 'a' %}{% endif %}{% endfor %}{% endfor %}";
  Map long_one;
  long_one.set("messages", List{Value(std::string(300'000, 'a'))});
  EXPECT_EQ(outcome_of(loop, long_one).rule, "");
  EXPECT_EQ(outcome_of("{% for c in 'a' * 300000 %}{% if c == 'a' %}{% endif %}{% endfor %}", {}).rule, "chat.limit");
  // Both lengths count.
  EXPECT_EQ(outcome_of("{% set x = 'a' * 1000000 %}{% set y = 'a' * 500000 + 'b' %}"
                       "{% for i in range(1000) %}{% set z = x.find(y) %}{% endfor %}",
                       {})
                .rule,
            "chat.limit");
}

// Whatever the bytes, the result is a text or an error.
TEST(ChatTemplate, DamagedTemplates) {
  std::ifstream file(std::string(TARE_TEST_DIR) + "/chat/templates/headers.jinja");
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(good.size(), 1000u);
  const Map variables =
      map_of(R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]})");
  for (std::size_t end = 0; end < good.size(); end += 7) (void)outcome_of(good.substr(0, end), variables);
  constexpr std::string_view kOthers = "{}%#-+'\"()[]|.,:=~*/\\ \nax0\xFF";
  std::uint64_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = good;
    for (int k = 0; k < 3; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      damaged[(state >> 33) % damaged.size()] = kOthers[(state >> 20) % kOthers.size()];
    }
    const ChatOutcome found = outcome_of(damaged, variables);
    EXPECT_TRUE(found.rule.empty() || found.rule.starts_with("chat.")) << found.rule;
  }
}

TEST(ChatTemplate, TextThatIsNotUtf8) {
  Map variables;
  variables.set("x", std::string("a\xFF\xE2\x82"));
  EXPECT_EQ(outcome_of("{{ x }}{{ x|length }}\xFF", variables).text,
            "a\uFFFD\uFFFD\uFFFD"
            "4\uFFFD");
}

Attachment text_file(std::string name, std::string_view text) {
  return {std::move(name), Blob::memory(to_bytes(text))};
}

TEST(ChatModel, TheTemplateOfAModel) {
  Model model;
  EXPECT_FALSE(chat::template_of(model));
  model.attachments.push_back(text_file("tokenizer_config.json", R"({"chat_template": "config"})"));
  EXPECT_EQ(chat::template_of(model), "config");
  model.attachments.push_back(text_file("chat_template.jinja", "file"));
  EXPECT_EQ(chat::template_of(model), "file");
  model.metadata.set("tokenizer.chat_template", "key");
  EXPECT_EQ(chat::template_of(model), "key");
  Model several;
  several.attachments.push_back(
      text_file("tokenizer_config.json",
                R"({"chat_template": [{"name": "rag", "template": "r"}, {"name": "default", "template": "d"}]})"));
  EXPECT_EQ(chat::template_of(several), "d");
}

TEST(ChatModel, TheVariables) {
  Model model;
  model.vocabulary.tokens = {{"<u>"}, {"<b>"}, {"<e>"}};
  model.vocabulary.bos = 1, model.vocabulary.eos = 2;
  const chat::Message messages[] = {{"user", "hi"}};
  EXPECT_EQ(
      to_json(chat::conversation(model, messages)),
      R"({"messages":[{"role":"user","content":"hi"}],"tools":null,"documents":null,"add_generation_prompt":true,"bos_token":"<b>","eos_token":"<e>"})");
  model.attachments.push_back(
      text_file("tokenizer_config.json", R"({"bos_token": null, "eos_token": {"content": "<end>"}})"));
  const Map variables = chat::conversation(model, messages, false);
  EXPECT_EQ(variables.find("bos_token"), nullptr);
  EXPECT_EQ(*variables.find("eos_token")->text(), "<end>");
  EXPECT_EQ(*variables.get<bool>("add_generation_prompt"), false);
}

}  // namespace
}  // namespace tare
