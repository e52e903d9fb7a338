// Runs `verify` as a job, with progress, and lists its findings.
#include <algorithm>

#include "base/printable.hpp"
#include "tare/inspect.hpp"
#include "view/endpoints.hpp"

namespace tare::view {
namespace {

constexpr std::size_t kMostFindings = 500;

std::string check_name(const Query& query) { return "check " + std::string(query.text("of", "a")); }

std::string base_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return one_line(slash == std::string::npos ? path : path.substr(slash + 1));
}

// The worst first: only so many are listed.
std::vector<Finding> worst_first(std::vector<Finding> findings) {
  const auto rank = [](const Finding& finding) {
    return finding.severity == Severity::error ? 0 : finding.severity == Severity::warning ? 1 : 2;
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
  return findings;
}

std::string findings_json(const OpenModel& model, const Verification& result) {
  const std::vector<Finding> findings = worst_first(result.findings);
  const auto number_of = [&](Severity severity) {
    return std::uint64_t(std::count_if(findings.begin(), findings.end(),
                                       [&](const Finding& finding) { return finding.severity == severity; }));
  };
  std::string text;
  JsonWriter json(text);
  json.open('{').key("done").boolean(true).key("ok").boolean(result.ok(false)).key("strict").boolean(result.ok(true));
  json.key("format").text(result.format).key("version").text(printable(result.version));
  json.key("tensors").number(result.tensors).key("bytes").number(result.bytes);
  json.key("found").number(std::uint64_t{findings.size()});
  json.key("errors").number(number_of(Severity::error)).key("warnings").number(number_of(Severity::warning));
  json.key("findings").open('[');
  for (std::size_t i = 0; i < std::min(kMostFindings, findings.size()); ++i) {
    const Finding& finding = findings[i];
    const std::string file = base_name(finding.file.empty() ? model.path() : finding.file);
    json.open('{').key("severity").text(name_of(finding.severity)).key("kind").text(name_of(finding.kind));
    json.key("rule").text(finding.rule).key("item").text(short_name(finding.item)).key("file_name").text(file);
    json.key("sentence").text(short_name(finding.sentence, 1000)).key("offset");
    finding.offset ? json.number(*finding.offset) : json.null();
    const auto known =
        std::find_if(model.files().begin(), model.files().end(), [&](const File& f) { return f.name == file; });
    json.key("file");
    known == model.files().end() ? json.null() : json.number(std::int64_t{known - model.files().begin()});
    json.close('}');
  }
  json.close(']').close('}');
  return text;
}

}  // namespace

JobPtr check_job(const Context& context, const Query& query) { return context.jobs->find(check_name(query)); }

void check(const Context& context, const Query& query, JsonWriter& json) { write_job(json, check_job(context, query)); }

void stop_check(const Context& context, const Query& query, JsonWriter& json) {
  context.jobs->stop(check_name(query));
  check(context, query, json);
}

void start_check(const Context& context, const Query& query, JsonWriter& json) {
  write_job(json, context.jobs->start(check_name(query), [held = context.shared(query)](Job& job) {
    ReadOptions options = held->options();
    options.keep_broken = false;
    options.work.progress = &job.progress;
    std::uint64_t bytes = 0;
    for (const Tensor& tensor : held->model().tensors) bytes += tensor.bytes();
    job.progress.expect(bytes);
    std::string found = findings_json(*held, verify(held->path(), options));
    held->check();
    return found;
  }));
}

}  // namespace tare::view
