// The table of hyper-parameters: complete, unambiguous, followed by readers and writers, and shown in the docs.
#include "arch/config_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <set>
#include <sstream>

#include "conformance/models.hpp"
#include "formats/own_fields.hpp"
#include "resources/resources.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using arch::ConfigRow;
using arch::kConfigTable;

// The containers that have names of their own for fields.
std::vector<const Format*> naming() {
  std::vector<const Format*> found;
  for (const Format& format : formats())
    if (!format.holds.own_fields.empty()) found.push_back(&format);
  return found;
}

const ConfigField& field_of(std::string_view name) {
  return *std::ranges::find(config_fields(), name, &ConfigField::name);
}

const OwnField* own(const Format& format, std::string_view field) {
  const auto found = std::ranges::find(format.holds.own_fields, field, &OwnField::field);
  return found == format.holds.own_fields.end() ? nullptr : &*found;
}

// A value of the field's type that is neither a default nor zero.
Value sample(const ConfigField& field) {
  if (std::holds_alternative<std::optional<std::string> Config::*>(field.member)) return Value("llama");
  if (std::holds_alternative<std::optional<bool> Config::*>(field.member)) return Value(true);
  if (std::holds_alternative<std::optional<double> Config::*>(field.member)) return Value(0.25);
  return Value(std::int64_t{6});
}

TEST(ConfigTable, HasOneRowForEachFieldInTheirOrder) {
  const auto fields = config_fields();
  ASSERT_EQ(std::size(kConfigTable), fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) EXPECT_EQ(kConfigTable[i].field, fields[i].name);
}

TEST(ConfigTable, CallsNoTwoFieldsTheSame) {
  std::set<std::string_view> keys;
  for (const ConfigRow& row : kConfigTable) {
    EXPECT_NE(std::ranges::find(row.keys, row.field), row.keys.end()) << row.field;
    for (const std::string_view key : row.keys) EXPECT_TRUE(key.empty() || keys.insert(key).second) << key;
  }
  for (const Format* const format : naming()) {
    std::set<std::string_view> names;
    for (const OwnField& field : format->holds.own_fields) {
      EXPECT_TRUE(names.insert(field.name).second) << format->name << " " << field.name;
      EXPECT_EQ(field_called(format->holds.own_fields, field.name).name, field.field) << format->title;
    }
    EXPECT_THROW(field_called(format->holds.own_fields, "head dimension"), Error);
  }
}

// The order is that of Config, so that reports about several fields read the same everywhere.
TEST(ConfigTable, ContainersNameFieldsInTheirOrder) {
  for (const Format* const format : naming()) {
    std::vector<std::string_view> named, ordered;
    for (const OwnField& field : format->holds.own_fields) named.push_back(field.field);
    for (const ConfigField& field : config_fields())
      if (own(*format, field.name) != nullptr) ordered.push_back(field.name);
    EXPECT_EQ(named, ordered) << format->name;
  }
}

// A config.json with only this key sets only this field.
TEST(ConfigTable, EveryKeyOfConfigJsonIsRead) {
  for (const ConfigRow& row : kConfigTable) {
    for (const std::string_view key : row.keys) {
      if (key.empty()) continue;
      const Value value = sample(field_of(row.field));
      std::string text = to_json(value);
      std::string_view path = key;
      for (std::size_t dot = path.rfind('.'); dot != path.npos; path = path.substr(0, dot), dot = path.rfind('.'))
        text = fmt::format(R"({{"{}": {}}})", path.substr(dot + 1), text);
      text = fmt::format(R"({{"{}": {}}})", path, text);
      EXPECT_EQ(to_json(Value(resources::parse_config(text).to_map())),
                fmt::format(R"({{"{}":{}}})", row.field, to_json(value)))
          << text;
    }
  }
}

// A container keeps the fields that it names; it accepts others only if its row allows that.
TEST(ConfigTable, EveryNamedFieldSurvivesItsContainer) {
  for (const Format* const format : naming()) {
    if (!format->holds.architecture.empty()) continue;  // fixed by its tensors, and tested with them
    for (const OwnField& field : format->holds.own_fields) {
      EXPECT_TRUE(format->holds.has_field(field.field));
      Map map;
      map.set(field.field, sample(field_of(field.field)));
      Model model;
      model.config = Config::from_map(map);
      MemorySink sink;
      format->write(model, sink, {});
      sink.commit();
      Map again = tare::open(memory_source(sink.take(), "")).config.to_map();
      // ALT's byte for it is always present.
      if (field.field != "tie_word_embeddings") again.erase("tie_word_embeddings");
      EXPECT_EQ(to_json(Value(again)), to_json(Value(map))) << format->title;
    }
  }
}

TEST(ConfigTable, EveryExpectedFieldHasADefault) {
  for (const ConfigRow& row : kConfigTable)
    for (const Format* const format : naming())
      EXPECT_TRUE(!format->holds.expects_field(row.field) || row.fallback.value != nullptr) << row.field;
}

// The table of docs/convert.md. TARE_RECORD=1 writes it.
std::string rendered() {
  const auto cell = [](std::string_view name) { return name.empty() ? std::string() : fmt::format("`{}`", name); };
  std::string text = "| config (`ls --json`) | keys of config.json |";
  for (const Format* const format : naming()) text += fmt::format(" {} |", format->title);
  text += " default |\n| --- | --- |";
  for (std::size_t i = 0; i < naming().size(); ++i) text += " --- |";
  text += " --- |\n";
  for (const ConfigRow& row : kConfigTable) {
    std::vector<std::string> keys;
    for (const std::string_view key : row.keys)
      if (!key.empty()) keys.push_back(cell(key));
    text += fmt::format("| `{}` | {} |", row.field, fmt::join(keys, ", "));
    for (const Format* const format : naming()) {
      const OwnField* const field = own(*format, row.field);
      text += fmt::format(" {}{} |", field == nullptr ? "" : cell(field->name),
                          field != nullptr && field->expected ? " *" : "");
    }
    text += fmt::format(" {} |\n", row.fallback.words);
  }
  return text;
}

TEST(ConfigTable, IsTheOneInTheDocs) {
  const std::string path = TARE_TEST_DIR "/../docs/convert.md";
  std::stringstream file;
  file << std::ifstream(path).rdbuf();
  std::string page = file.str();
  const std::size_t begin = page.find("| config (`ls --json`)"), end = page.find("\n\n", begin) + 1;
  ASSERT_NE(begin, page.npos);
  if (std::getenv("TARE_RECORD") != nullptr) {
    std::ofstream(path) << page.replace(begin, end - begin, rendered());
    return;
  }
  EXPECT_EQ(page.substr(begin, end - begin), rendered());
}

}  // namespace
}  // namespace tare
