// verify: checks everything that can be checked, and prints findings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/advice.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text.hpp"
#include "cli/token_file.hpp"
#include "cli/verbs.hpp"
#include "formats/registry_limits.hpp"
#include "tare/inspect.hpp"
#include "tare/pipeline.hpp"
#include "tare/quality.hpp"

namespace tare::cli::verify_verb {
namespace {

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::error: return Style::red;
    case Severity::warning: return Style::yellow;
    case Severity::note: return Style::cyan;
  }
  return Style::plain;
}

// Returns the bytes that verify will read, for the progress bar; nothing if the file cannot be opened.
std::optional<std::uint64_t> total_bytes(const std::string& file, const Arguments& arguments, const Session& session) {
  if (!ProgressBar::wanted(session)) return std::nullopt;
  try {
    std::uint64_t bytes = 0;
    for (const Tensor& tensor : open(file, read_options(arguments)).tensors) bytes += tensor.bytes();
    return bytes;
  } catch (const Error&) {
    return std::nullopt;  // verify reports the reason
  }
}

void print_finding(const Finding& finding, const std::string& file, Session& session) {
  const std::string& where = finding.file.empty() ? file : finding.file;
  std::string text = fmt::format("{}: ", where);
  if (!finding.item.empty()) text += fmt::format("{}: ", finding.item);
  text += fmt::format("{} ({}{})", advised(finding.sentence, finding.remedies), finding.rule,
                      finding.offset ? fmt::format(", byte {}", *finding.offset) : "");
  const std::string_view severity = name_of(finding.severity);
  std::string before = session.paint(style_of(finding.severity), severity);
  for (const std::string& line : lines_of(fmt::format("{}: {}", severity, printable(text)), session.screen()))
    session.line(before.empty() ? line : std::exchange(before, {}) + line.substr(severity.size()));
}

// A file that could not be checked for lack of memory may be good.
std::string_view verdict(const Verification& result, bool ok) {
  if (ok) return "ok";
  const bool seen = std::any_of(result.findings.begin(), result.findings.end(), [](const Finding& finding) {
    return finding.severity != Severity::note && finding.subject != Subject::machine;
  });
  return seen ? "bad" : "not checked";
}

void print_text(const std::string& file, const Verification& result, bool ok, Session& session) {
  // A file that cannot be opened is an error, as in other verbs, not a finding about its content.
  const auto is_unopened = [&](const Finding& finding) {
    return result.format.empty() && (finding.kind == ErrorKind::io || finding.kind == ErrorKind::not_found);
  };
  std::vector<Finding> worst_first = result.findings;
  std::ranges::stable_sort(worst_first, std::greater(), &Finding::severity);
  for (const Finding& finding : worst_first) {
    if (session.quiet() && finding.severity == Severity::note) continue;
    if (is_unopened(finding))
      session.complain(Error(finding.kind, finding.rule, finding.sentence), file);
    else
      print_finding(finding, file, session);
  }
  // Nothing was checked, so there is no verdict.
  const bool unopened = !worst_first.empty() && std::ranges::all_of(worst_first, is_unopened);
  if (session.quiet() || unopened) return;
  std::vector<std::string> parts;
  if (!result.format.empty())
    parts.push_back(result.version.empty() ? result.format
                                           : fmt::format("{} {}", result.format, printable(result.version)));
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note})
    if (const std::size_t number = result.count(severity); number > 0)
      parts.push_back(counted(number, name_of(severity)));
  if (ok || result.tensors > 0) {
    parts.push_back(counted(result.tensors, "tensor"));
    parts.push_back(size_text(result.bytes));
  }
  session.line(fmt::format("{}: {}, {}", printable(file),
                           session.paint(ok ? Style::green : Style::red, verdict(result, ok)), fmt::join(parts, ", ")));
}

void print_json(const std::string& file, const Verification& result, bool ok, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("file").text(file).key("ok").boolean(ok).key("format").text(result.format);
  json.key("version").text(result.version).key("tensors").number(result.tensors).key("bytes").number(result.bytes);
  json.key("findings").open('[');
  for (const Finding& finding : result.findings) {
    json.open('{').key("severity").text(name_of(finding.severity)).key("kind").text(name_of(finding.kind));
    json.key("rule").text(finding.rule).key("item").text(one_line(finding.item)).key("offset");
    if (finding.offset)
      json.number(*finding.offset);
    else
      json.null();
    json.key("sentence").text(advised(finding.sentence, finding.remedies));
    if (finding.count > 1) json.key("count").number(finding.count).key("last").text(one_line(finding.last));
    json.close('}');
  }
  json.close(']').close('}');
  session.line(text);
}

// Returns the parts of a pipeline that are models; none if the path is a model itself.
std::vector<PipelinePart> parts_of(const std::string& path) {
  std::vector<PipelinePart> parts;
  try {
    if (auto pipeline = find_pipeline(path)) parts = std::move(pipeline->parts);
  } catch (const Error&) {
    return {};  // its error becomes a finding
  }
  std::erase_if(parts, [](const PipelinePart& part) { return !part.is_model; });
  return parts;
}

// Measures the quality that the file states, and adds what is wrong with it.
void add_refuted(const std::string& file, const Arguments& arguments, Session& session, Verification& found) {
  const std::string text = arguments.has("text") ? text_in(arguments.get("text"), arguments.access())
                                                 : std::string(tare::run::sample_text());
  ProgressBar bar(session, "running both", std::nullopt);
  for (Finding& finding : tare::run::refuted_quality(
           open(arguments.get("quality"), read_options(arguments)), open(file, read_options(arguments)), text,
           {.work = {.threads = arguments.threads(), .progress = bar.progress()}}))
    found.findings.push_back(std::move(finding));
}

Verification verification_of(const std::string& file, std::optional<std::uint64_t> total, const Arguments& arguments,
                             Session& session) {
  Verification found;
  {
    ProgressBar bar(session, fmt::format("verifying {}", printable(file)), total);
    ReadOptions options = read_options(arguments);
    options.work.progress = bar.progress();
    found = verify(file, options);
  }
  if (arguments.has("quality") && found.ok(false)) add_refuted(file, arguments, session, found);
  return found;
}

void print_result(const std::string& file, const Verification& result, const Arguments& arguments, Session& session) {
  const bool ok = result.ok(arguments.has("strict"));
  if (arguments.has("json"))
    print_json(file, result, ok, session);
  else
    print_text(file, result, ok, session);
  if (!ok) session.fail();
  session.flush();  // shows a file's verdict before the next file is read
}

void verify_pipeline(const std::string& path, const std::vector<PipelinePart>& parts, const Arguments& arguments,
                     Session& session) {
  const CountedAsOne together(read_options(arguments).limits);
  std::map<std::string, Verification> results;  // by name, for parts that are the same directory
  for (const PipelinePart& part : parts) {
    const std::string file = fmt::format("{}{}{}", path, path.ends_with('/') ? "" : "/", part.name);
    const auto same = results.find(part.same_as);
    const Verification& result =
        same != results.end()
            ? same->second
            : results.emplace(part.name, verification_of(file, std::nullopt, arguments, session)).first->second;
    print_result(file, result, arguments, session);
  }
}

int run(const Arguments& arguments, Session& session) {
  if (arguments.has("text") && !arguments.has("quality")) throw UsageError("--text needs --quality SOURCE");
  for (const std::string& operand : arguments.operands()) {
    const std::vector<PipelinePart> parts = parts_of(operand);
    if (parts.empty())
      print_result(operand, verification_of(operand, total_bytes(operand, arguments, session), arguments, session),
                   arguments, session);
    else
      verify_pipeline(operand, parts, arguments, session);
  }
  return kDone;
}

constexpr Operand kOperands[] = {kFiles};
constexpr Option kOptions[] = {
    {.name = "strict", .help = "fail on warnings too"},
    {.name = "quality",
     .value = "SOURCE",
     .help = "run the file and SOURCE, the model that it was made from, and check the losses that the file states",
     .completes = Completes::files},
    {.name = "text",
     .value = "PATH",
     .help = "the text that the quality was measured on; by default, the one of 6 KB that comes with Tare",
     .with = "quality",
     .completes = Completes::files},
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare verify *.zt", "one line per file, below its findings"},
    {"tare verify --strict --json model.zt", "for a program; fails unless the file is canonical"},
    {"tare verify model.gguf --quality model/", "does it lose as little as it says?"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "verify",
    .summary = "check everything that can be checked",
    .description =
        "Checks structure, bounds, padding, digests, compressed sizes and the data itself, and prints every "
        "finding with the id of the rule that was broken, the worst first. An error fails the file. A warning "
        "(tolerated, but "
        "not what a canonical writer emits; NaN or infinities in the weights) fails it with --strict only. A "
        "note never does. With --quality, a file whose tare.quality.* is not what is measured fails, too.\n\n"
        "With --json, one object per line and file: file, ok, format, version, tensors, bytes, findings. A finding "
        "that "
        "is about several tensors in a row, as in a truncated file, names the first and has two keys more: count, "
        "last.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::verify_verb
