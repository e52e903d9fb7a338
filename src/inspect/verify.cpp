// verify: what the reader has to say about the file, then what the data has to say.
#include <algorithm>
#include <iterator>
#include <new>

#include "base/printable.hpp"
#include "inspect/data_check.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

class Collector final : public Diagnostics {
 public:
  void error(const Error& error) override { findings.push_back(inspect::finding_of(Severity::error, error)); }
  void warning(const Error& about) override { findings.push_back(inspect::finding_of(Severity::warning, about)); }
  void note(const Error& about) override { findings.push_back(inspect::finding_of(Severity::note, about)); }
  bool thorough() const override { return true; }

  std::vector<Finding> findings;
};

// The format of a file that could not be read to the end; empty when it is none of ours.
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
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [&](const Finding& finding) { return finding.severity == severity; }));
}

bool Verification::ok(bool strict) const {
  return count(Severity::error) == 0 && (!strict || count(Severity::warning) == 0);
}

Verification verify(const std::string& path, const VerifyOptions& options) {
  Verification result;
  Collector collector;
  ReadOptions read = options.read;
  read.diagnostics = &collector;
  if (read.threads == 0) read.threads = options.threads;
  read.keep_broken = false;  // the collector is told, and goes on
  try {
    const Model model = open(path, read);
    result.format = model.format;
    result.version = model.version;
    result.tensors = model.tensors.size();
    for (const Tensor& tensor : model.tensors) result.bytes += tensor.bytes();
    result.findings = inspect::check_data(model, options.threads, options.progress);
    model.check_sources();
  } catch (const Error& error) {
    collector.error(error);
    result.format = recognized(path, options.read.access);
  } catch (const std::bad_alloc&) {
    collector.error(Error(ErrorKind::limit, "verify.memory", "there is not enough memory to read the file"));
    result.format = recognized(path, options.read.access);
  }
  result.findings.insert(result.findings.begin(), std::make_move_iterator(collector.findings.begin()),
                         std::make_move_iterator(collector.findings.end()));
  for (Finding& finding : result.findings) {
    if (finding.file.empty()) finding.file = path;
    finding.sentence = printable(finding.sentence);  // as an Error's
    finding.item = printable(finding.item);
  }
  return result;
}

}  // namespace tare
