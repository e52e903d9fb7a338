// load: loads tensors into the memory of a GPU, and measures it.
#include <fmt/format.h>

#include <chrono>

#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "tare/device.hpp"

namespace tare::cli::load_verb {
namespace {

Words dtype_words() { return {"f32", "f16", "bf16"}; }
Words reading_words() { return {"automatic", "buffered", "direct"}; }

struct Measured {
  std::string file;
  device::Facts facts;
  device::Report report;
  std::size_t tensors = 0;
  double open_seconds = 0, link = 0;
  double rate() const { return report.seconds > 0 ? static_cast<double>(report.copied_bytes) / report.seconds : 0; }
};

device::Options load_options(const Arguments& arguments) {
  device::Options options;
  options.device = arguments.get("device", "cuda:0");
  options.verify = arguments.has("verify");
  options.work.threads = arguments.threads();
  const std::string reading = arguments.get("reading", "automatic");
  if (reading == "buffered") options.reading = device::Reading::buffered;
  if (reading == "direct") options.reading = device::Reading::direct;
  if (arguments.has("pinned")) {
    const std::optional<std::uint64_t> bytes = parse_size(arguments.get("pinned"));
    if (!bytes)
      throw UsageError(fmt::format("--pinned {}: expected a size such as 64MiB", printable(arguments.get("pinned"))));
    options.pinned_bytes = *bytes;
  }
  return options;
}

device::Choices plan_of(const Model& model, const Arguments& arguments) {
  std::optional<DType> dtype;
  if (arguments.has("dtype")) dtype = parse_dtype(arguments.get("dtype"));
  device::Choices plan = device::all_of(model, dtype);
  std::erase_if(plan, [&](const device::Choice& choice) { return !selected(arguments, choice.tensor); });
  return plan;
}

device::Destination buffers_of(const device::Loading& loading) {
  device::Destination memory;
  const device::Arrangement& arrangement = loading.arrangement();
  for (const std::uint64_t bytes : arrangement.buffers) memory.memory.push_back({0, bytes});
  for (std::size_t i = 0; i < arrangement.tensors.size(); ++i)
    memory.memory[arrangement.tensors[i].buffer].address = loading.address(i) - arrangement.tensors[i].offset;
  return memory;
}

void print_text(const Measured& run, bool verify, Session& session) {
  const device::Report& report = run.report;
  session.line(fmt::format("{}: {}, {} to {} ({}) in {:.3f} s", printable(run.file), counted(run.tensors, "tensor"),
                           size_text(report.bytes), run.facts.device, printable(run.facts.name), report.seconds));
  session.line(fmt::format("  {:.1f} GB/s, {:.0f} % of the link ({:.1f} GB/s); first tensor after {:.1f} ms",
                           run.rate() / 1e9, run.link > 0 ? 100 * run.rate() / run.link : 0, run.link / 1e9,
                           report.first_seconds * 1e3));
  session.line(fmt::format("  {} over the link, {} read in {}, {} of it around the page cache",
                           size_text(report.copied_bytes), size_text(report.read_bytes), counted(report.reads, "read"),
                           size_text(report.direct_bytes)));
  session.line(fmt::format("  {}, {} pinned, {} on the device", counted(report.threads, "thread"),
                           size_text(report.pinned_bytes), size_text(report.device_bytes)));
  if (!verify) return;
  session.line(fmt::format("  {} compared, {} NaN, {} infinite{}", counted(report.digests, "digest"),
                           count_text(report.nan), count_text(report.inf),
                           report.nonfinite.empty() ? "" : fmt::format(", first in {}", printable(report.nonfinite))));
}

void print_json(const Measured& run, Session& session) {
  const device::Report& report = run.report;
  std::string text;
  JsonWriter json(text);
  json.open('{').key("file").text(run.file).key("device").text(run.facts.device).key("name").text(run.facts.name);
  json.key("tensors").number(std::uint64_t{run.tensors}).key("bytes").number(report.bytes);
  json.key("copied_bytes").number(report.copied_bytes).key("read_bytes").number(report.read_bytes);
  json.key("reads").number(report.reads).key("direct_bytes").number(report.direct_bytes);
  json.key("digests").number(report.digests).key("unchecked").number(report.unchecked);
  json.key("nan").number(report.nan).key("inf").number(report.inf).key("nonfinite");
  if (report.nonfinite.empty())
    json.null();
  else
    json.text(one_line(report.nonfinite));
  json.key("threads").number(std::uint64_t{report.threads}).key("pinned_bytes").number(report.pinned_bytes);
  json.key("device_bytes").number(report.device_bytes).key("open_seconds").real(run.open_seconds);
  json.key("seconds").real(report.seconds).key("first_seconds").real(report.first_seconds);
  json.key("bytes_per_second").real(run.rate()).key("link_bytes_per_second").real(run.link).close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  using Clock = std::chrono::steady_clock;
  device::Options options = load_options(arguments);
  const long repeat = arguments.number("repeat", 1, 1, 1000);
  Measured run;
  run.facts = device::facts(options.device);
  run.file = arguments.operand(0);
  const auto begun = Clock::now();
  const Model model = open(run.file, read_options(arguments));
  model.refuse_broken();
  run.open_seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  const device::Choices plan = plan_of(model, arguments);
  run.tensors = plan.size();
  std::vector<device::Report> reports;
  std::optional<device::Loading> first;  // the repetitions reuse its memory
  for (long i = 0; i < repeat; ++i) {
    ProgressBar bar(session, fmt::format("loading {}", printable(run.file)), std::nullopt);
    options.work.progress = bar.progress();
    const auto started = Clock::now();
    device::Arrangement arrangement = device::arrange(model, plan, options.device);
    const device::Destination again = first ? buffers_of(*first) : device::Destination();
    device::Loading loading = device::load(model, std::move(arrangement), again, options);
    reports.push_back(loading.finish());
    reports.back().seconds = std::chrono::duration<double>(Clock::now() - started).count();
    if (!first) first.emplace(std::move(loading));
  }
  run.link = device::link_speed(options.device);
  for (const device::Report& report : reports) {
    run.report = report;
    if (arguments.has("json"))
      print_json(run, session);
    else
      print_text(run, options.verify, session);
  }
  return kDone;
}

constexpr Operand kOperands[] = {kFile};
constexpr Option kOptions[] = {
    {.name = "device", .value = "NAME", .help = "where to: cuda:0 by default, cuda:1, ..."},
    {.name = "verify", .help = "compare digests and count NaN and infinities while the bytes pass"},
    {.name = "dtype",
     .value = "TYPE",
     .help = "have the device cast and dequantize to this type",
     .words = dtype_words,
     .canonical = dtype_spelling},
    kMatch,
    kSkip,
    {.name = "repeat",
     .value = "N",
     .help = "load N times into the same memory and report each; the first one also pins and allocates it"},
    {.name = "reading",
     .value = "HOW",
     .help = "automatic, by what the page cache holds; buffered; direct",
     .words = reading_words},
    {.name = "pinned", .value = "SIZE", .help = "pin at most this much memory; 128MiB by default"},
    kJson,
    kThreads,
    kMaxExpansion,
};
constexpr Example kExamples[] = {
    {"tare load model.gguf", "how fast the file gets into GPU memory"},
    {"tare load model.zt --verify --json", "checked on the way; for a program"},
};

}  // namespace

constexpr Verb kVerb{.name = "load",
                     .summary = "load into GPU memory and measure it",
                     .description =
                         "Loads the tensors into the memory of a GPU as fast as the link to it allows, and reports "
                         "bytes per second, the "
                         "share of the link, and the time until the first tensor could be used. Nothing is kept: this "
                         "is for measuring a "
                         "machine and a file, and with --verify for checking both.\n\n"
                         "Nothing of CUDA's is needed but the driver. Ranges that are in the page cache are read from "
                         "there, others around "
                         "it.\n\n"
                         "With --json, one object per line and load: file, device, name, tensors, bytes, copied_bytes, "
                         "read_bytes, reads, "
                         "direct_bytes, digests, unchecked, nan, inf, nonfinite, threads, pinned_bytes, device_bytes, "
                         "open_seconds, seconds, "
                         "first_seconds, bytes_per_second, link_bytes_per_second.",
                     .operands = kOperands,
                     .options = kOptions,
                     .examples = kExamples,
                     .run = run};

}  // namespace tare::cli::load_verb
