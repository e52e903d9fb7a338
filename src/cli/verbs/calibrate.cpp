// calibrate: what a model's matrices are multiplied with, as weights for quantization.
#include "tare/calibrate.hpp"

#include <fmt/format.h>

#include "base/json_stream.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"
#include "cli/token_file.hpp"
#include "cli/verbs.hpp"
#include "tare/damage.hpp"
#include "tare/open.hpp"
#include "tare/save.hpp"

namespace tare::cli::calibrate_verb {
namespace {

using tare::run::Calibration;

struct Measured {
  Calibration calibration;
  tare::run::Damage damage = {};
};

Measured measured(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const bool own = !arguments.has("tokens") && !arguments.has("text");
  const RunInput input = own ? RunInput{.text = std::string(tare::run::calibration_text())} : run_input(arguments);
  tare::run::Options options = run_options(arguments);
  try {
    const tare::run::Scorer scorer(open(file, read_options(arguments)));
    warn_of_doubts(scorer, file, session);
    Measured found;
    {
      ProgressBar bar(session, "calibrating", std::nullopt);
      options.work.progress = bar.progress();
      found.calibration =
          input.tokens ? calibrate(scorer, *input.tokens, options) : calibrate(scorer, input.text, options);
    }
    if (!arguments.has("damage")) return found;
    ProgressBar bar(session, "adding noise", std::nullopt);
    options.work.progress = bar.progress();
    const tare::run::DamageOptions how{.run = options};
    found.damage = input.tokens ? measure_damage(scorer, *input.tokens, found.calibration, how)
                                : measure_damage(scorer, input.text, found.calibration, how);
    return found;
  } catch (Error& error) {
    throw error.in(file);
  }
}

std::string dataset_name(const Arguments& arguments) {
  for (const std::string_view option : {"tokens", "text"})
    if (arguments.has(option)) return arguments.get(option);
  return "the text that comes with Tare";
}

int run(const Arguments& arguments, Session& session) {
  const std::string out = arguments.get("output");
  if (out.empty()) throw UsageError("give -o PATH: the file to write, such as imatrix.gguf");
  const Measured both = measured(arguments, session);
  const Calibration& found = both.calibration;
  Model file = importance_model(found, dataset_name(arguments));
  tare::run::add_damage(file, both.damage);
  const Saved saved = save(std::move(file), out, {.adapt = {.keep_names = true}, .overwrite = arguments.has("force")});
  for (const Change& remark : found.remarks) session.remark(fmt::format("note: {}", printable(to_text(remark))));
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("input").text(one_line(arguments.operand(0))).key("output").text(one_line(out));
    json.key("to").text(saved.to).key("file_bytes").number(saved.file_bytes);
    json.key("tokens").number(found.tokens).key("pieces").number(found.pieces).key("context").number(found.context);
    json.key("enough").number(found.enough).key("source").text(found.source);
    json.key("damage").open('{');
    for (const auto& [name, value] : both.damage) json.key(one_line(name)).real(value);
    json.close('}').key("matrices").open('[');
    for (const tare::run::MatrixInputs& matrix : found.matrices) {
      json.open('{').key("name").text(one_line(matrix.name)).key("columns").number(matrix.columns);
      json.key("counts").open('[');
      for (const std::uint64_t count : matrix.counts) json.number(count);
      json.close(']').close('}');
    }
    json.close(']').close('}');
    session.line(text);
    return kDone;
  }
  if (!session.quiet())
    session.line(fmt::format(
        "{} -> {}: {} in {} of {}, {}", printable(arguments.operand(0)), printable(out), counted(found.tokens, "token"),
        counted(found.pieces, "piece"), found.context,
        found.matrices.size() == 1 ? std::string("1 matrix") : fmt::format("{} matrices", found.matrices.size())));
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "MODEL", .completes = Completes::files}};
constexpr Option kOptions[] = {
    {.letter = 'o',
     .name = "output",
     .value = "PATH",
     .help = "the file to write: imatrix.gguf for llama.cpp, or any container",
     .completes = Completes::files},
    {.name = "text",
     .value = "PATH",
     .help = "the file with the text, which the model's own tokenizer turns into tokens; by default, one of 24 KB that "
             "comes with Tare",
     .completes = Completes::files},
    {.name = "damage",
     .help = "also measure how much noise in each matrix changes the predictions; `quantize --bits` then spends bits "
             "where they count"},
    kTokens,
    kContext,
    kBegin,
    kForce,
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare calibrate model/ -o inputs.gguf", "with the text that comes with Tare"},
    {"tare calibrate model.gguf --text wiki.test.raw -o wiki.gguf", "with a text like those that the model will read"},
    {"tare quantize model/ weighted.gguf --method q4_k_m --importance inputs.gguf", "and with the result"},
    {"tare calibrate model/ --damage -o measured.gguf", "for `tare quantize --bits N --importance measured.gguf`"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "calibrate",
    .summary = "measure which weights matter for a text",
    .description =
        "Runs a model on a text, and measures which columns of each matrix matter: for each one it sums the squares of "
        "the "
        "numbers that the column is multiplied with, in the layers, the routers, the output head and each expert. "
        "`tare quantize --importance` makes smaller errors in columns with a large sum. The file is an imatrix, which "
        "llama.cpp's programs read, too. `tare families` lists the families that can be run (COMPUTES).\n\n"
        "With --damage, it also measures how much each matrix matters: it adds noise of known size to one group of "
        "matrices after another (those of a kind in neighbouring layers), and compares the predictions with those "
        "without noise. That takes some 60 runs of parts of the model, on up to 512 tokens.\n\n"
        "A note says if there are too few tokens, and names the experts that none of them reached. The tokens are cut "
        "into "
        "pieces as for `tare perplexity`; the rest after the last whole piece does not count.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::calibrate_verb
