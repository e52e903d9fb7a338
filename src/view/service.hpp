// What `tare view` answers: endpoints that make JSON of one or two models, each bounded whatever the models are. The server,
// the report, `--json` and the tests call the same function, `answer`. May be called from many threads.
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
#include "view/exhibit.hpp"
#include "view/jobs.hpp"
#include "view/pairing.hpp"
#include "view/request.hpp"

namespace tare::view {

// No answer is larger; an endpoint that would be is a defect, which the tests look for.
inline constexpr std::size_t kMostAnswer = std::size_t{2} << 20;

struct Answer {
  int status = 200;  // of HTTP
  std::string body;  // JSON
};

using ExhibitPtr = std::shared_ptr<const Exhibit>;

// What an endpoint works with.
class Context {
 public:
  Context() = default;
  explicit Context(std::vector<ExhibitPtr> shown);

  std::vector<ExhibitPtr> models;  // one or two
  std::shared_ptr<Jobs> jobs;      // of these models: opened again, they have others
  // The model that "of" names: a (the first, and the default) or b; for what two models share, the first. Throws
  // `view.request` when there is none.
  const Exhibit& model(const Query& query) const;
  ExhibitPtr shared(const Query& query) const;

  bool has_two() const { return comparison_ != nullptr; }
  // What there is of two models. Throws `view.request` when there is one: nothing else leads to it.
  const std::shared_ptr<Comparison>& comparison() const;
  const Pairing& pairing() const { return comparison()->pairing(); }

 private:
  std::shared_ptr<Comparison> comparison_;
};

class Service {
 public:
  // Opens one or two models. Throws what `open` throws.
  Service(const std::vector<std::string>& paths, const ReadOptions& options);
  // Models that are open already, which cannot be opened again.
  explicit Service(std::vector<ExhibitPtr> models);

  // Whether an answer first checks that none of the models' files changed. A model may have thousands of files: a caller that
  // asks hundreds of times leaves that out, and calls `check` before and after all of them.
  enum class Files : std::uint8_t { checked, unchecked };
  // Throws when a file of a model changed, vanished or was replaced.
  void check() const;

  // `change`: the request may start work (POST); others only look. Errors become an answer with the status that fits.
  Answer answer(std::string_view target, bool change = false, Files files = Files::checked) const noexcept;
  // The same, but throws.
  std::string call(std::string_view target, bool change = true) const;
  // The same, and waits for work that the request starts.
  std::string call_and_wait(const std::string& asked) const;

  // Whether answering reads the model's data, and so may take as long as a disk or a decoder likes. All else is answered from
  // memory: a server must not let it wait for this.
  bool is_dear(std::string_view target) const noexcept;
  // There will be many requests: long work is to leave the processors to them.
  void expect_requests() const;

  std::vector<ExhibitPtr> models() const;
  std::shared_ptr<const Pairing> pairing() const;  // null for one model

 private:
  std::string respond(std::string_view target, bool change, Files files) const;
  void reopen() const;
  void show(std::vector<ExhibitPtr> models) const;
  Context shown() const;

  std::vector<std::string> paths_;
  ReadOptions options_;
  mutable std::mutex opening_;  // one at a time
  mutable std::mutex mutex_;    // of what is shown
  mutable Context shown_;
  mutable std::atomic<bool> requests_expected_{false};
};

// The names of the endpoints, those that need a POST last.
std::vector<std::string_view> endpoint_names();

// {"error":{...}}, as every endpoint says it.
std::string error_json(const Error& error);
int status_of(const Error& error);

}  // namespace tare::view
