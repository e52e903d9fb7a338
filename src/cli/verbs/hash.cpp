// hash: prints the content digest, Tare's or that of a container's document.
#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "convert/adapt.hpp"
#include "formats/format.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli::hash_verb {
namespace {

// Returns the digest that a container defines, if its option was given; Tare's otherwise.
std::string digest_of_model(Model model, const Arguments& arguments, const Work& work) {
  for (const Format& format : formats())
    if (format.content_digest != nullptr && arguments.has(format.name)) {
      AdaptOptions as_it_is;
      as_it_is.keep_names = true;
      return format.content_digest(adapt(std::move(model), format, as_it_is).model, work);
    }
  return content_digest(model, work);
}

void hash_one(const std::string& file, const Arguments& arguments, Session& session) {
  Model model = open(file, read_options(arguments));
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes += tensor.bytes();
  std::string digest;
  {
    ProgressBar bar(session, fmt::format("hashing {}", printable(file)), bytes);
    digest = digest_of_model(std::move(model), arguments, {.threads = arguments.threads(), .progress = bar.progress()});
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
      session.give_up(error, file);
    }
  }
  return kDone;
}

// Returns an option for each container whose document defines a digest, with the container's name.
std::vector<Option> digest_options() {
  static const std::vector<std::string> helps = [] {
    std::vector<std::string> texts;
    for (const Format& format : formats())
      texts.push_back(fmt::format("print the digest that {} defines instead", format.title));
    return texts;
  }();
  std::vector<Option> options;
  for (std::size_t i = 0; i < formats().size(); ++i)
    if (formats()[i].content_digest != nullptr) options.push_back({.name = formats()[i].name, .help = helps[i]});
  return options;
}

std::string about_digests() {
  std::string text =
      "An option named after a container prints the digest that its specification defines, for the file that a "
      "conversion to it would produce.";
  for (const Format& format : formats())
    if (format.content_digest != nullptr) text += fmt::format(" --{}: {}", format.name, format.content_digest_text);
  return text + "\n\nWith --json, one object per line and file: file, digest.";
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
        "conversion keeps it.",
    .more = about_digests,
    .operands = kOperands,
    .options = kOptions,
    .more_options = digest_options,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::hash_verb
