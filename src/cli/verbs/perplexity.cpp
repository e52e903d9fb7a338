// perplexity: how well a model predicts given tokens.
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
#include "tare/open.hpp"

namespace tare::cli::perplexity_verb {
namespace {

int run(const Arguments& arguments, Session& session) {
  const RunInput input = run_input(arguments);
  tare::run::Options options = run_options(arguments);
  const std::string& file = arguments.operand(0);
  tare::run::Perplexity found;
  try {
    const tare::run::Scorer scorer(open(file, read_options(arguments)));
    warn_of_doubts(scorer, file, session);
    ProgressBar bar(session, "running", std::nullopt);
    options.work.progress = bar.progress();
    found = input.tokens ? perplexity(scorer, *input.tokens, options) : perplexity(scorer, input.text, options);
  } catch (Error& error) {
    throw error.in(file);
  }
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("file").text(one_line(file)).key("perplexity").real(found.perplexity.value);
    json.key("error").real(found.perplexity.error).key("loss").real(found.loss.value);
    json.key("tokens").number(found.tokens).key("pieces").number(found.pieces);
    json.key("context").number(found.context).close('}');
    session.line(text);
    return kDone;
  }
  session.line(fmt::format("{:.4f} ± {:.4f}  ({} predicted in {} of {})", found.perplexity.value,
                           found.perplexity.error, counted(found.tokens, "token"), counted(found.pieces, "piece"),
                           found.context));
  return kDone;
}

constexpr Operand kOperands[] = {kFile};
constexpr Option kOptions[] = {kText, kTokens, kContext, kBegin, kJson, kNoMmap, kMaxExpansion, kThreads};
constexpr Example kExamples[] = {
    {"tare perplexity model.gguf --text wiki.test.raw", "by the convention of llama.cpp, so that numbers compare"},
    {"tare perplexity model.zt --tokens ids.txt --context 128", "in shorter pieces"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "perplexity",
    .summary = "measure how well a model predicts a text",
    .description =
        "Runs a model on a text or on tokens, and prints the perplexity with its standard error: lower is better. "
        "`tare families` lists the families that can be run (COMPUTES). Any container and layout will do; weights are "
        "decoded to f32. As in llama.cpp, the tokens "
        "are cut into pieces, the second half of each whole piece counts, and the rest after the last one does not; "
        "the token that the model expects before a text begins each piece.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::perplexity_verb
