// families: prints the families of models that can be converted to GGUF and back, for people, documents and programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arch/supported.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace tare::cli::families_verb {
namespace {

using arch::Supported;
using Rows = std::vector<Supported>;
using Texts = std::vector<std::string_view>;

std::string listed(const Texts& names) { return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", ")); }

void print_table(const Rows& rows, Session& session) {
  Table table({{"GGUF"},
               prose("MODELS"),
               {.title = "MODEL_TYPE", .elastic = true},
               {.title = "COMPUTES", .elastic = true, .spare = 2},
               {.title = "CHECKED", .spare = 1}});
  for (const Supported& row : rows)
    table.add({Cell(row.gguf, Style::cyan), row.title, listed(row.model_types), listed(row.computed),
               std::string(row.checked)});
  table.print(session);
}

std::string coded(const Texts& names) {
  std::vector<std::string> words;
  for (const std::string_view name : names) words.push_back(fmt::format("`{}`", name));
  return words.empty() ? "-" : fmt::format("{}", fmt::join(words, ", "));
}

void print_markdown(const Rows& rows, Session& session) {
  session.line("| | models | GGUF (`general.architecture`) | `model_type` | classes | Tare computes | checked by |");
  session.line("| --- | --- | --- | --- | --- | --- | --- |");
  std::size_t number = 0;
  for (const Supported& row : rows)
    session.line(fmt::format("| {} | {} | `{}` | {} | {} | {} | {} |", ++number, row.title, row.gguf,
                             coded(row.model_types), coded(row.classes), coded(row.computed),
                             row.checked == "tests" ? "Tare's tests" : "llama.cpp, transformers"));
}

void write_names(JsonWriter& json, std::string_view key, const Texts& names) {
  json.key(key).open('[');
  for (const std::string_view name : names) json.text(name);
  json.close(']');
}

void print_json(const Rows& rows, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("families").open('[');
  for (const Supported& row : rows) {
    json.line_feed().open('{').key("gguf").text(row.gguf).key("title").text(row.title);
    write_names(json, "model_types", row.model_types);
    write_names(json, "classes", row.classes);
    write_names(json, "computes", row.computed);
    json.key("checked").text(row.checked).close('}');
  }
  json.close(']').close('}');
  session.line(text);
}

// The families with this name; throws if there are none.
Rows rows_called(const std::string& name, const Rows& all) {
  Rows found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const Supported& row) { return row.is_called(name); });
  if (!found.empty()) return found;
  Words names;
  for (const Supported& row : all)
    for (const Texts& some : {Texts{row.gguf}, row.model_types, row.classes})
      for (const std::string_view one : some) names.emplace_back(one);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  throw UsageError(
      fmt::format("no known family is called '{}'{}", printable(name), did_you_mean(name, std::move(names), 1)));
}

int run(const Arguments& arguments, Session& session) {
  if (arguments.has("json") && arguments.has("markdown")) throw UsageError("--json excludes --markdown");
  const Rows all = arch::supported_families();
  const Rows rows = arguments.size() > 0 ? rows_called(arguments.operand(0), all) : all;
  (arguments.has("json") ? print_json : arguments.has("markdown") ? print_markdown : print_table)(rows, session);
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "NAME", .required = false}};
constexpr Option kOptions[] = {kJson, {.name = "markdown", .help = "print Markdown, for documents"}};
constexpr Example kExamples[] = {
    {"tare families qwen3_moe", "whether models of this model_type can be converted to GGUF and back"},
    {"tare families --json | jq -r '.families[].gguf'", "all architectures of GGUF that are known"}};

}  // namespace

constexpr Verb kVerb{
    .name = "families",
    .summary = "the families of models that convert to GGUF and back",
    .description =
        "Lists the families of models that convert between a Hugging Face directory and GGUF in both directions: "
        "GGUF's architecture, the models, and the model_type of config.json; which of these types Tare computes itself "
        "(tare run, compare, perplexity); and whether the conversion has been compared with llama.cpp's converter and "
        "with transformers, or only by Tare's own tests. With NAME, which is a model_type, a class of transformers or "
        "an architecture of GGUF, lists the families with that name. Containers hold models of any family: this "
        "concerns GGUF only.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::families_verb
