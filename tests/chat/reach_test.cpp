// The warnings of `verify` about chat templates: none about those of real models, and one about each that reaches for
// what no template needs.
#include "chat/reach.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

std::string rules_about(std::string_view source) {
  std::string rules;
  for (const Error& error : chat::reaches_of(source)) rules += error.rule() + " ";
  return rules;
}

TEST(ChatReach, RealTemplatesDoNothingUnusual) {
  std::size_t looked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TARE_TEST_DIR) + "/chat/templates")) {
    std::ifstream file(entry.path());
    EXPECT_EQ(rules_about(std::string{std::istreambuf_iterator<char>(file), {}}), "") << entry.path();
    ++looked;
  }
  EXPECT_GE(looked, 5U);
  for (const std::string_view harmless :
       {"{{ '__' }}", "a __class__ outside of tags", "{# __class__ in a comment #}", "{{ messages[0]['role'] }}",
        "{% set ns = namespace(first=true) %}{{ ns.first }}", "{{ message.content | trim | attribute }}",
        "{{ '<|__|>' }}", "{{ self }}", "{% for m in messages %}{{ loop.index0 }}{% endfor %}"})
    EXPECT_EQ(rules_about(harmless), "") << harmless;
}

TEST(ChatReach, EachRule) {
  const std::string attribute = "chat.template.attribute ", include = "chat.template.include ",
                    object = "chat.template.object ";
  for (const std::string_view source :
       {"{{ ''.__class__ }}", "{{ messages['__class__'] }}", "{{ x|attr('name') }}", "{{ x['__cla' ~ 'ss__'] }}",
        "{{ ().__class__.__mro__[1].__subclasses__() }}", "{{ x['\\x5f\\x5fclass\\x5f\\x5f'] }}", "{{ x.mro() }}",
        "{% set a = x.__init__.__globals__ %}", "{{ {{ broken.__class__ }}"})
    EXPECT_EQ(rules_about(source), attribute) << source;
  for (const std::string_view source :
       {"{% include 'secret' %}", "{% import 'a' as b %}", "{% from 'a' import b %}", "{%- extends 'base' -%}"})
    EXPECT_EQ(rules_about(source), include) << source;
  for (const std::string_view source : {"{{ cycler.next }}", "{{ lipsum() }}", "{{ request['application'] }}"})
    EXPECT_EQ(rules_about(source), object) << source;
  EXPECT_EQ(rules_about("{% include x %}{{ lipsum.__globals__['os'].popen('id') }}"), include + object + attribute);
  const auto found = chat::reaches_of("\n  {{ x.__class__ }}");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].sentence().find("line 2, column 8"), std::string::npos) << found[0].sentence();
}

TEST(ChatReach, TemplatesAreFoundWhereverAModelHasThem) {
  const std::string bad = "{{ x.__class__ }}";
  const auto about = [](const Model& model) {
    std::string items;
    for (const Error& error : chat::reaches_of_templates(model)) items += error.item() + ";";
    return items;
  };
  Model model;
  model.metadata.set("tokenizer.chat_template", bad);
  model.metadata.set("tokenizer.chat_template.rag", bad);
  model.metadata.set("description", bad);
  EXPECT_EQ(about(model), "key tokenizer.chat_template;key tokenizer.chat_template.rag;");
  Model several;
  Map one;
  one.set("name", "tool");
  one.set("template", bad);
  several.metadata.set("chat_template", List{Value(one)});
  EXPECT_EQ(about(several), "key chat_template \"tool\";");
  Model files;
  const auto attach = [&](const std::string& name, const std::string& text) {
    files.attachments.push_back({name, Blob::memory(to_bytes(text))});
  };
  attach("chat_template.jinja", bad);
  attach("additional_chat_templates/tool.jinja", bad);
  attach("tokenizer_config.json", R"({"chat_template":"{{ x.__class__ }}"})");
  attach("chat_template.json", "not JSON");
  attach("README.md", bad);
  EXPECT_EQ(about(files),
            "file chat_template.jinja;file additional_chat_templates/tool.jinja;file tokenizer_config.json;");
}

}  // namespace
}  // namespace tare
