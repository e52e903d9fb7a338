// verify: the reader's findings about the file, then the findings about the data.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <set>
#include <utility>

#include "base/error_runs.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "chat/reach.hpp"
#include "formats/format.hpp"
#include "inspect/data_check.hpp"
#include "resources/agreement.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

class Collector final : public Diagnostics {
 public:
  void error(const Error& error) override { add(Severity::error, error); }
  void tensor_error(const Error& about) override {
    const std::uint64_t listed = run_ > kListedErrors ? 1 : run_;
    const bool goes_on = run_ > 0 && run_begin_ + listed == findings.size() &&
                         findings[run_begin_].rule == about.rule() && findings[run_begin_].file == about.file() &&
                         findings[run_begin_].kind == about.kind();
    run_ = goes_on ? run_ + 1 : 1;
    if (!goes_on) run_begin_ = findings.size();
    if (run_ <= kListedErrors) return add(Severity::error, about);
    findings.resize(run_begin_ + 1);
    findings.back().count = run_;
    findings.back().last = about.item();
  }
  void warning(const Error& about) override { add(Severity::warning, about); }
  void note(const Error& about) override { add(Severity::note, about); }
  bool thorough() const override { return true; }

  std::vector<Finding> findings;

 private:
  // Bounds the output: a file must not cause a report a hundred times its size.
  static constexpr std::size_t kMost = 10'000;

  // The latest run of tensor errors with the same rule.
  std::size_t run_begin_ = 0;
  std::uint64_t run_ = 0;

  void add(Severity severity, const Error& about) {
    if (findings.size() == kMost)
      throw Error(ErrorKind::limit, "verify.findings",
                  fmt::format("there are more than {} findings; the file was not read to its end", kMost));
    findings.push_back(inspect::finding_of(severity, about));
  }
};

// The format of a file that could not be read completely; empty if it is not recognised.
std::string recognized(const std::string& path, Access access) {
  try {
    for (const Format& format : formats())
      if (format.recognize_tree != nullptr && format.recognize_tree(path)) return std::string(format.name);
    return std::string(detect(*open_file(path, access)).name);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::size_t Verification::count(Severity severity) const {
  std::size_t number = 0;
  for (const Finding& finding : findings)
    if (finding.severity == severity) number += finding.count;
  return number;
}

bool Verification::ok(bool strict) const {
  return count(Severity::error) == 0 && (!strict || count(Severity::warning) == 0);
}

Verification verify(const std::string& path, const ReadOptions& options) {
  const StopScope stop(options.work);
  Verification result;
  Collector collector;
  ReadOptions read = options;
  read.diagnostics = &collector;
  read.keep_broken = false;  // the collector gets these errors and continues
  try {
    const Model model = open(path, read);
    result.format = model.format;
    result.version = model.version;
    result.tensors = model.tensors.size();
    for (const Tensor& tensor : model.tensors) result.bytes += tensor.bytes();
    result.findings = inspect::check_data(model, options.work.threads, options.work.progress);
    for (const Error& differs : resources::disagreements(model)) collector.warning(differs);
    for (const Error& reach : chat::reaches_of_templates(model)) collector.warning(reach);
    // Drops findings about the data that the reader has already reported as errors.
    std::set<std::pair<std::string_view, std::string_view>> errors;
    for (const Finding& reported : collector.findings)
      if (reported.severity == Severity::error) errors.emplace(reported.rule, reported.item);
    std::erase_if(result.findings, [&](const Finding& found) {
      return found.severity != Severity::error && errors.contains({found.rule, found.item});
    });
    model.check_sources();
  } catch (const Error& error) {
    collector.findings.push_back(inspect::finding_of(Severity::error, error));
    result.format = recognized(path, options.access);
  } catch (const std::bad_alloc&) {
    collector.findings.push_back(inspect::finding_of(
        Severity::error, Error(ErrorKind::limit, "verify.memory", "there is not enough memory to read the file")
                             .blame(Subject::machine)));
    result.format = recognized(path, options.access);
  }
  check_stop();  // a stop request is not a finding
  result.findings.insert(result.findings.begin(), std::make_move_iterator(collector.findings.begin()),
                         std::make_move_iterator(collector.findings.end()));
  for (Finding& finding : result.findings) {
    if (finding.file.empty()) finding.file = path;
    finding.last = printable(finding.last);
    if (finding.count > 1) finding.sentence = sentence_of_run(finding.sentence, finding.count, finding.last);
    finding.sentence = printable(finding.sentence);  // like those of an Error
    finding.item = printable(finding.item);
  }
  return result;
}

}  // namespace tare
