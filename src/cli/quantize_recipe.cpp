#include "cli/quantize_recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/usual_names.hpp"
#include "cli/options.hpp"
#include "cli/text.hpp"
#include "model/dtype_option.hpp"
#include "options/words.hpp"
#include "tare/convert.hpp"

namespace tare::cli {
namespace {

// Returns the method in lower case: file names have it in upper case, Q4_K_M; and a float type by its own name: f16 for
// float16. What is not similar to a method is left to the library, whose error lists all of them.
std::string method_from(std::string_view option, const std::string& word) {
  std::string method = lower_case(word);
  const Words known = method_words();
  if (std::ranges::find(known, method) != known.end() || find_codec_by_method(method) != nullptr) return method;
  if (const auto type = parse_dtype_option(word)) return std::string(name_of(*type));
  if (const std::string why = why_not_written(method); !why.empty())
    throw UsageError(fmt::format("--{}: {}", option, why));
  if (const auto near = nearest(method, known, 1); !near.empty())
    throw UsageError(fmt::format("--{}: unknown METHOD '{}'; did you mean {}?", option, printable(word), near.front()));
  return method;
}

// Adds rules for the tensors of a kind, if the option is given.
void add_kind(std::string_view option, std::span<const std::string_view> globs, const Arguments& arguments,
              const Model& model, Quantization& recipe) {
  if (!arguments.has(option)) return;
  const auto before = recipe.rules.size();
  for (const std::string_view glob : globs)
    if (std::any_of(model.tensors.begin(), model.tensors.end(),
                    [&](const Tensor& tensor) { return glob_match(glob, tensor.name); }))
      recipe.rules.emplace_back(glob, method_from(option, arguments.get(option)));
  if (recipe.rules.size() == before)
    throw UsageError(fmt::format("--{}: no tensor has one of the usual names ({}); use --method GLOB=METHOD", option,
                                 fmt::join(globs, ", ")));
}

void add_methods(const Arguments& arguments, Quantization& recipe) {
  for (const std::string& word : arguments.all("method")) {
    // A method contains no "=", but a glob may.
    const auto equals = word.rfind('=');
    if (equals != std::string::npos)
      recipe.rules.emplace_back(word.substr(0, equals), method_from("method", word.substr(equals + 1)));
    else if (recipe.method.empty())
      recipe.method = method_from("method", word);
    else
      throw UsageError(
          fmt::format("--method {} and --method {}: only one can be for all tensors; write the other as GLOB=METHOD",
                      recipe.method, word));
  }
}

}  // namespace

// The first matching rule counts, so the most specific option comes first.
Quantization recipe_from(const Arguments& arguments, Quantization recipe, const Model& model) {
  add_kind("embeddings", arch::embedding_globs(), arguments, model, recipe);
  add_kind("head", arch::head_globs(), arguments, model, recipe);
  for (const std::string& glob : arguments.all("keep")) recipe.rules.emplace_back(glob, kKeep);
  add_methods(arguments, recipe);
  if (recipe.bits && !recipe.method.empty())
    throw UsageError("--bits chooses the methods itself; with it, --method takes GLOB=METHOD only");
  const bool says_how = recipe.bits || std::any_of(recipe.rules.begin(), recipe.rules.end(),
                                                   [](const auto& rule) { return rule.second != kKeep; });
  if (!says_how && recipe.method.empty()) throw UsageError("give --method METHOD or --bits N");
  if (recipe.pure && std::ranges::find(mixes(), recipe.method, &Mix::name) == mixes().end())
    throw UsageError("--pure needs --method with the name of a mix, such as q4_0 or q4_k_m");
  if (arguments.has("importance"))
    recipe.importance = read_importance(arguments.get("importance"), read_options(arguments));
  return recipe;
}

}  // namespace tare::cli
