// The answers of `tare view`: endpoints that produce JSON about one or two models, of bounded size whatever the models
// are. The server, the report, `--json` and the tests all call `answer`. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_stream.hpp"
#include "tare/error.hpp"
#include "view/comparison.hpp"
#include "view/jobs.hpp"
#include "view/open_model.hpp"
#include "view/pairing.hpp"
#include "view/query.hpp"

namespace tare::view {

// The largest answer. An endpoint that exceeds it has a bug; the tests check this.
inline constexpr std::size_t kMostAnswer = std::size_t{2} << 20;

struct Answer {
  int status = 200;  // HTTP status
  std::string body;  // JSON
};

using OpenModelPtr = std::shared_ptr<const OpenModel>;

// What an endpoint works with.
class Context {
 public:
  Context() = default;
  explicit Context(std::vector<OpenModelPtr> shown);

  std::vector<OpenModelPtr> models;  // one or two
  std::shared_ptr<Jobs> jobs;        // belong to these models; a reopened model gets new ones
  // The model that the parameter "of" names: a (the first, the default) or b; the first for anything about both. Throws
  // `view.request` if there is no such model.
  const OpenModel& model(const Query& query) const;
  OpenModelPtr shared(const Query& query) const;

  bool has_two() const { return comparison_ != nullptr; }
  // The comparison of the two models. Throws `view.request` if there is only one.
  const std::shared_ptr<Comparison>& comparison() const;
  const Pairing& pairing() const { return comparison()->pairing(); }

 private:
  std::shared_ptr<Comparison> comparison_;
};

class Service {
 public:
  // Opens one or two models. Throws what `open` throws.
  Service(const std::vector<std::string>& paths, const ReadOptions& options);
  // Takes models that are open already. They cannot be reopened.
  explicit Service(std::vector<OpenModelPtr> models);

  // Whether an answer first checks that no file of the models has changed. A model may have thousands of files, so a
  // caller with hundreds of requests skips this and calls `check` before and after all of them.
  enum class Files : std::uint8_t { checked, unchecked };
  // Throws if a file of a model was changed, deleted or replaced.
  void check() const;

  // `change`: the request may start work or reopen the models (POST). Errors become an answer with a matching HTTP
  // status.
  Answer answer(std::string_view target, bool change = false, Files files = Files::checked) noexcept;
  // The same, but throws.
  std::string call(std::string_view target, bool change = true, Files files = Files::checked);
  // The same, and waits for the work that the request is about. A request for its progress also starts it, because no
  // other client will.
  std::string call_and_wait(std::string_view target);

  // Whether the answer needs the model's data and may therefore take long. All other requests are answered from memory,
  // and a server must not let them wait for these.
  bool reads_data(std::string_view target) const noexcept;
  // Announces many requests: long work then yields the processors to them.
  void expect_requests();

  std::vector<OpenModelPtr> models() const;
  std::shared_ptr<const Pairing> pairing() const;  // null if there is one model

 private:
  void reopen();
  void show(std::vector<OpenModelPtr> models);
  Context shown() const;

  std::vector<std::string> paths_;
  ReadOptions options_;
  std::mutex opening_;        // held while a model is opened; one at a time
  mutable std::mutex mutex_;  // guards shown_
  Context shown_;
  std::atomic<bool> requests_expected_{false};
};

// The names of the endpoints; those that need POST are last.
std::vector<std::string_view> endpoint_names();

// {"error":{...}}, the form that every endpoint uses.
std::string error_json(const Error& error);
int status_of(const Error& error);
// An error as an answer; its body is empty if there is no memory for it.
Answer error_answer(int status, ErrorKind kind, std::string_view rule, std::string_view sentence) noexcept;

}  // namespace tare::view
