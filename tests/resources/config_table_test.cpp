// The table of hyper-parameters: complete, unambiguous, obeyed by what reads and writes them, and shown in the docs.
#include "resources/config_table.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

#include "conformance/models.hpp"
#include "resources/resources.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using resources::Column;
using resources::ConfigRow;
using resources::kConfigTable;

struct NamedColumn {
  std::string_view format, title;
  Column column;
};
constexpr NamedColumn kColumns[] = {{"alt", "ALT 2", &ConfigRow::alt},
                                    {"alt1", "ALT 1", &ConfigRow::alt1},
                                    {"mcf", "MCF", &ConfigRow::mcf},
                                    {"tllm", "Tiny Llama", &ConfigRow::tllm}};

// A value of the field's kind, no default and no zero.
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
  for (const NamedColumn& column : kColumns)
    for (const ConfigRow& row : kConfigTable)
      if (const std::string_view name = (row.*column.column).name; !name.empty()) {
        EXPECT_EQ(resources::field_called(column.column, name).name, row.field) << column.title;
      }
  EXPECT_THROW(resources::field_called(&ConfigRow::alt, "head_dim"), Error);
}

// config.json with just this key says just this field.
TEST(ConfigTable, EveryKeyOfConfigJsonIsRead) {
  for (const ConfigRow& row : kConfigTable) {
    for (const std::string_view key : row.keys) {
      if (key.empty()) continue;
      const Value value = sample(*std::ranges::find(config_fields(), row.field, &ConfigField::name));
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

// What the column names is kept by the container; what it does not name has no place there.
TEST(ConfigTable, EveryNamedFieldSurvivesItsContainer) {
  for (const NamedColumn& column : kColumns) {
    if (column.format == "tllm") continue;  // fixed by its tensors; tllm_format_test.cpp
    const Format& format = *find_format(column.format);
    for (const ConfigRow& row : kConfigTable) {
      const bool named = !(row.*column.column).name.empty();
      // MCF has a place for any.
      EXPECT_EQ(lists(format.holds.config_fields, row.field), named || column.format == "mcf") << row.field;
      EXPECT_EQ(lists(format.holds.expected_fields, row.field), (row.*column.column).expected);
      if (!named) continue;
      Map map;
      map.set(row.field, sample(resources::field_called(column.column, (row.*column.column).name)));
      Model model;
      model.config = Config::from_map(map);
      MemorySink sink;
      format.write(model, sink, {});
      sink.commit();
      Map again = tare::open(memory_source(sink.take(), "")).config.to_map();
      // ALT's byte for it cannot be absent.
      if (row.field != "tie_word_embeddings") again.erase("tie_word_embeddings");
      EXPECT_EQ(to_json(Value(again)), to_json(Value(map))) << column.title;
    }
  }
}

TEST(ConfigTable, EveryExpectedFieldHasADefault) {
  for (const ConfigRow& row : kConfigTable)
    for (const NamedColumn& column : kColumns)
      EXPECT_TRUE(!(row.*column.column).expected || row.fallback.value != nullptr) << row.field;
}

// The table of docs/convert.md. TARE_RECORD=1 writes it.
std::string rendered() {
  const auto cell = [](std::string_view name) { return name.empty() ? std::string() : fmt::format("`{}`", name); };
  std::string text = "| config (`ls --json`) | keys of config.json |";
  for (const NamedColumn& column : kColumns) text += fmt::format(" {} |", column.title);
  text += " default |\n| --- | --- |";
  for (std::size_t i = 0; i < std::size(kColumns); ++i) text += " --- |";
  text += " --- |\n";
  for (const ConfigRow& row : kConfigTable) {
    std::vector<std::string> keys;
    for (const std::string_view key : row.keys)
      if (!key.empty()) keys.push_back(cell(key));
    text += fmt::format("| `{}` | {} |", row.field, fmt::join(keys, ", "));
    for (const NamedColumn& column : kColumns) {
      const resources::Place& place = row.*column.column;
      text += fmt::format(" {}{} |", cell(place.name), place.expected ? " *" : "");
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
