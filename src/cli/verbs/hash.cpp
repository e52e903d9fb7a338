// hash: the content digest.
#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "tare/format.hpp"
#include "tare/inspect.hpp"

namespace tare::cli::hash_verb {
namespace {

void hash_one(const std::string& file, const Arguments& arguments, Session& session) {
  const Model model = open(file, read_options(arguments));
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes += tensor.bytes();
  std::string digest;
  {
    ProgressBar bar(session, fmt::format("hashing {}", printable(file)), bytes);
    digest = content_digest(model, arguments.threads(), bar.progress());
  }
  if (!arguments.has("json")) {
    session.line(fmt::format("{}  {}", digest, printable(file)));
    return;
  }
  std::string text;
  JsonWriter(text).open('{').key("file").text(file).key("digest").text(digest).close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  for (const std::string& file : arguments.operands()) {
    try {
      hash_one(file, arguments, session);
      session.flush();
    } catch (const Error& error) {
      if (stdout_reader_gone()) throw;
      session.complain(error, file);
    }
  }
  return kDone;
}

constexpr Operand kOperands[] = {kFiles};
constexpr Option kOptions[] = {kJson, kNoMmap, kMaxExpansion, kThreads};
constexpr Example kExamples[] = {{"tare hash model.zt model.npz", "equal lines mean equal tensors"}};

}  // namespace

constexpr Verb kVerb{
    .name = "hash",
    .summary = "print the content digest",
    .description =
        "Prints a digest of the names, shapes, types and values of all tensors, which is the same in every "
        "container that stores the same tensors, in any order and however compressed. A lossless "
        "conversion keeps it.\n\n"
        "With --json, one object per line and file: file, digest.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::hash_verb
