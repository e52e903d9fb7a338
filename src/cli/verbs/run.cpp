// run: generates text or tokens.
#include "cli/generating.hpp"
#include "cli/options.hpp"
#include "cli/run_model.hpp"
#include "cli/run_tiny_llama.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"
#include "tiny_llama/model.hpp"

namespace tare::cli::run_verb {
namespace {

// An option without effect misleads.
void refuse_idle_options(const Arguments& arguments) {
  constexpr std::string_view kChoosing[] = {"count", "stop", "temperature", "top-k", "top-p", "min-p", "seed"};
  if (arguments.has("logits"))
    refuse_options(arguments, kChoosing, "has no effect with --logits, which generates no tokens");
  const bool draws =
      arguments.has("temperature") && parse_number<float>("temperature", arguments.get("temperature"), "a number") != 0;
  for (const std::string_view option : {"top-k", "top-p", "min-p", "seed"})
    if (!draws && arguments.has(option))
      throw UsageError(
          "--top-k, --top-p, --min-p and --seed need --temperature; without it the most likely token is taken");
}

Words tokenizer_rules() { return {"strict", "upstream"}; }

int run(const Arguments& arguments, Session& session) {
  refuse_idle_options(arguments);
  const Model file = open(arguments.operand(0), read_options(arguments));
  file.refuse_broken();
  return tiny_llama::TinyLlamaModel::is_in(file) ? run_tiny_llama(file, arguments, session)
                                                 : run_model(file, arguments, session);
}

constexpr Operand kOperands[] = {kFile};
constexpr Option kOptions[] = {
    {.name = "tokens", .value = "N,N,...", .help = "start with these tokens"},
    {.letter = 'p', .name = "prompt", .value = "TEXT", .help = "start with this text"},
    {.name = "chat", .help = "the text is what a user says; an error if the model has no chat template"},
    {.name = "system", .value = "TEXT", .help = "begin the chat with these instructions"},
    {.name = "no-chat", .help = "continue the text as it is, though the model has a chat template"},
    {.letter = 'n',
     .name = "count",
     .value = "N",
     .help = "generate at most N tokens; by default 128, for an answer 1024, with a Tiny Llama 32"},
    {.name = "stop",
     .value = "N,N,...",
     .help = "stop before any of these tokens, in addition to those that the model's files name as ends of texts and "
             "turns"},
    {.name = "temperature", .value = "T", .help = "sample at this temperature; 0, the default, takes the most likely"},
    {.name = "top-k", .value = "K", .help = "sample from the K most likely tokens"},
    {.name = "top-p", .value = "P", .help = "sample from the most likely tokens that together reach P"},
    {.name = "min-p",
     .value = "P",
     .help = "sample from the tokens with at least P times the probability of the most likely one"},
    {.name = "seed", .value = "N", .help = "the seed of the random numbers; 0 by default"},
    {.name = "fast",
     .help = "round what quantized weights are multiplied with to 8 bits, as other runtimes do; the text may differ"},
    {.name = "logits", .help = "print the logits after the last token instead, one per line"},
    {.name = "vocab",
     .value = "PATH",
     .help = "the tokens of a Tiny Llama, one per line",
     .completes = Completes::files},
    {.name = "merges",
     .value = "PATH",
     .help = "with --vocab: the pairs to merge, best first",
     .completes = Completes::files},
    {.name = "tokenizer",
     .value = "RULES",
     .help = "how --vocab and --merges are read: strict, or upstream for the ids of Tiny Llama's own program",
     .words = tokenizer_rules},
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare run model.gguf -p 'What is the capital of France?' --system 'Be brief.'", "an answer"},
    {"tare run model/ -p 'Once upon a time' --no-chat --temperature 0.8 --top-p 0.95 --seed 7 -n 300", "a story"},
    {"tare run model.zt --tokens 1,2,3 --json", "token numbers, in and out"},
    {"tare run model.bin --prompt 'Once upon' --vocab vocab.txt --merges merges.txt", "a Tiny Llama"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "run",
    .summary = "generate text with a model",
    .description =
        "Runs the model in FILE, in any container and layout, and prints text as it is generated, or token numbers if "
        "it "
        "was started with --tokens. `tare families` lists the families that can be run (COMPUTES). If the model has a "
        "chat template, the prompt is what a user says, and the model answers it; otherwise, or with --no-chat, the "
        "model continues the text. Generation ends before a token that ends texts or turns, after --count tokens, or "
        "when the model has no more positions. It runs on the CPU; weights are used in place, in the mapped file, if "
        "their layout allows it.\n\n"
        "The same file, start and seed give the same output on the same machine, with any number of threads. A Tiny "
        "Llama runs, too; its tokens are those of --vocab and --merges, or of the file itself.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::run_verb
