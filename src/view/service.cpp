#include "view/service.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <thread>

#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "view/endpoints.hpp"

namespace tare::view {
namespace {

// Work that takes too long for one request.
struct Work {
  Endpoint start, report;                                     // starts it; writes its progress or its result
  JobPtr (*job)(const Context& context, const Query& query);  // null if it was not started
};
constexpr Work kCheck{start_check, check, check_job}, kCompare{start_compare, compare, compare_job},
    kNumbers{all_numbers, report_all_numbers, all_numbers_job}, kRun{start_run, run_models, run_job_of};

struct Row {
  std::string_view name;
  Endpoint endpoint;
  std::string_view parameters;  // names of the parameters it accepts
  bool change = false;          // starts work, so it needs POST
  bool fresh = true;            // first checks that the files are still those that were opened
  bool reads_data = false;      // reads the model's data
  const Work* work = nullptr;   // what a request is about if its answer may come later
};
constexpr bool kLooks = false, kStarts = true, kFresh = true, kReads = true;

constexpr std::string_view kCompareParameters = "search only sort way from count plot grid";

constexpr Row kRows[] = {
    {"overview", overview, "names"},
    {"layers", layers, "of"},
    {"treemap", treemap, "of under width height"},
    {"map", file_map, "of file from to most"},
    {"bytes", file_bytes, "of file from count", kLooks, kFresh, kReads},
    {"tensors", tensors, "of search type role sort way from count with"},
    {"tree", tree, "of under from count"},
    {"tensor", tensor, "of tensor"},
    {"block", block, "of tensor", kLooks, kFresh, kReads},
    {"values", values, "of tensor slice", kLooks, kFresh, kReads},
    {"numbers", numbers, "of tensor all", kLooks, kFresh, kReads},
    {"heat", heat, "of tensor by top bottom left right height width digits", kLooks, kFresh, kReads},
    {"compare", compare, kCompareParameters, kLooks, kFresh, !kReads, &kCompare},
    {"run", run_models, "", kLooks, !kFresh, !kReads, &kRun},
    {"tokens", tokens, "of search type what from count"},
    {"template", chat_template, "of", kLooks, kFresh, kReads},
    {"metadata", metadata, "of what at from count"},
    {"attachments", attachments, "of from count"},
    {"attachment", attachment, "of attachment", kLooks, kFresh, kReads},
    {"check", check, "of", kLooks, !kFresh, !kReads, &kCheck},
    {"numbers/all", all_numbers, "of tensor all", kStarts, kFresh, !kReads, &kNumbers},
    {"numbers/stop", stop_numbers, "of tensor all", kStarts, kFresh, !kReads, &kNumbers},
    {"compare/start", start_compare, kCompareParameters, kStarts, kFresh, !kReads, &kCompare},
    {"compare/all", compare_all, kCompareParameters, kStarts, kFresh, !kReads, &kCompare},
    {"compare/stop", stop_compare, kCompareParameters, kStarts, kFresh, !kReads, &kCompare},
    {"run/start", start_run, "", kStarts, kFresh, !kReads, &kRun},
    {"run/stop", stop_run, "", kStarts, !kFresh, !kReads, &kRun},
    {"check/start", start_check, "of", kStarts, kFresh, !kReads, &kCheck},
    {"check/stop", stop_check, "of", kStarts, !kFresh, !kReads, &kCheck},
};
constexpr std::string_view kReopen = "reopen";

const Row* find_row(std::string_view name) {
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

// Whether a request of that name needs POST.
bool wants_post(std::string_view name) {
  const Row* const row = find_row(name);
  return name == kReopen || (row != nullptr && row->change);
}

// "a, b" for "a b".
std::string listed_words(std::string_view words) {
  std::string list;
  for (const char c : words) list += c == ' ' ? ", " : std::string(1, c);
  return list.empty() ? "none" : list;
}

const Row& row_of(const Query& query) {
  const Row* const row = find_row(query.endpoint());
  if (row == nullptr)
    throw Error(ErrorKind::not_found, "view.endpoint",
                fmt::format("no endpoint is called '{}'; the choices are {}", query.endpoint(),
                            fmt::join(endpoint_names(), ", ")));
  // A misspelled parameter is an error, because ignoring it would answer another question.
  for (const auto& [key, value] : query.parameters()) {
    bool known = false;
    for (std::string_view words = row->parameters; !words.empty() && !known;) {
      const std::size_t end = std::min(words.find(' '), words.size());
      known = words.substr(0, end) == key;
      words = words.substr(std::min(end + 1, words.size()));
    }
    if (!known)
      throw Error(ErrorKind::usage, "view.request",
                  fmt::format("{} has no parameter '{}'; it has {}", row->name, key, listed_words(row->parameters)));
  }
  return *row;
}

// The answer of an endpoint. If `checked`, throws if a file of the models changes before or while it is read.
std::string answer_of(Endpoint endpoint, const Context& context, const Query& query, bool checked) {
  const auto check_files = [&] {
    if (!checked) return;
    for (const OpenModelPtr& model : context.models) model->check();
  };
  std::string text;
  JsonWriter json(text);
  check_files();
  endpoint(context, query, json);
  check_files();
  return text;
}

}  // namespace

Context::Context(std::vector<OpenModelPtr> shown) : models(std::move(shown)), jobs(std::make_shared<Jobs>()) {
  if (models.size() == 2)
    comparison_ = std::make_shared<Comparison>(std::make_shared<const Pairing>(pair_up(models.front(), models.back())));
}

const std::shared_ptr<Comparison>& Context::comparison() const {
  if (comparison_ == nullptr) throw Error(ErrorKind::usage, "view.request", "there is no second model");
  return comparison_;
}

const OpenModel& Context::model(const Query& query) const { return *shared(query); }

OpenModelPtr Context::shared(const Query& query) const {
  static constexpr std::string_view kSides[] = {"a", "b", "left", "right", "error"};
  const bool second = query.choice("of", kSides) == "b";
  if (second && models.size() < 2) throw Error(ErrorKind::usage, "view.request", "of: there is no second model");
  return models[second ? 1 : 0];
}

Service::Service(const std::vector<std::string>& paths, const ReadOptions& options) : paths_(paths), options_(options) {
  options_.keep_broken = true;
  reopen();
}

Service::Service(std::vector<OpenModelPtr> models) { show(std::move(models)); }

void Service::reopen() {
  if (paths_.empty()) throw Error(ErrorKind::usage, "view.request", "the model is not one of a file");
  const std::scoped_lock lock(opening_);
  std::vector<OpenModelPtr> opened;
  // A file that is compared with itself is opened once.
  for (auto path = paths_.begin(); path != paths_.end(); ++path) {
    const auto same = std::find(paths_.begin(), path, *path);
    opened.push_back(same != path ? opened[static_cast<std::size_t>(same - paths_.begin())]
                                  : std::make_shared<const OpenModel>(*path, options_));
  }
  show(std::move(opened));
}

void Service::show(std::vector<OpenModelPtr> models) {
  Context next(std::move(models));
  if (requests_expected_.load(std::memory_order_relaxed)) next.jobs->lower_priority();
  {
    const std::scoped_lock lock(mutex_);
    std::swap(shown_, next);
  }
  // The previous models are closed when the last request that uses them ends; their jobs must be stopped.
  if (next.jobs != nullptr) next.jobs->clear();
}

Context Service::shown() const {
  const std::scoped_lock lock(mutex_);
  return shown_;
}

std::vector<OpenModelPtr> Service::models() const { return shown().models; }

std::shared_ptr<const Pairing> Service::pairing() const {
  const Context context = shown();
  return context.has_two() ? std::shared_ptr<const Pairing>(context.comparison(), &context.pairing()) : nullptr;
}

bool Service::reads_data(std::string_view target) const noexcept {
  try {
    const Query query = Query::parse(target);
    if (query.endpoint() == kReopen) return true;
    const Row* const row = find_row(query.endpoint());
    return row != nullptr && row->reads_data && !is_answered_by_job(shown(), query);
  } catch (...) {
    return false;  // an invalid request is refused without reading anything
  }
}

void Service::expect_requests() {
  requests_expected_.store(true, std::memory_order_relaxed);
  shown().jobs->lower_priority();
}

void Service::check() const {
  for (const OpenModelPtr& model : shown().models) model->check();
}

std::string Service::call(std::string_view target, bool change, Files files) {
  const Query query = Query::parse(target);
  if (!change && wants_post(query.endpoint()))
    throw Error(ErrorKind::usage, "view.method", fmt::format("{} starts work and wants a POST", query.endpoint()));
  if (query.endpoint() == kReopen) {
    reopen();
    return "{\"done\":true}";
  }
  const Row& row = row_of(query);
  return answer_of(row.endpoint, shown(), query, row.fresh && files == Files::checked);
}

std::string Service::call_and_wait(std::string_view target) {
  const std::string text = call(target);
  const Query query = Query::parse(target);
  const Row* const row = find_row(query.endpoint());
  if (row == nullptr || row->work == nullptr) return text;
  const Context context = shown();
  JobPtr job = row->work->job(context, query);
  if (job == nullptr && !row->change) static_cast<void>(answer_of(row->work->start, context, query, true));
  while ((job = row->work->job(context, query)) != nullptr && !job->is_done())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return answer_of(row->work->report, context, query, false);  // the job has checked the files
}

Answer Service::answer(std::string_view target, bool change, Files files) noexcept {
  try {
    try {
      return {200, call(target, change, files)};
    } catch (const Error& error) {
      const bool method = !change && wants_post(target.substr(0, std::min(target.find('?'), target.size())));
      return {method ? 405 : status_of(error), error_json(error)};
    } catch (const std::bad_alloc&) {
      return {503, error_json(Error(ErrorKind::io, "view.memory", "out of memory"))};
    } catch (const std::exception& error) {
      return {500, error_json(Error(ErrorKind::io, "view.failed", error.what()))};
    }
  } catch (...) {
    return {503, {}};  // not even memory for an error
  }
}

std::vector<std::string_view> endpoint_names() {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  names.push_back(kReopen);
  return names;
}

int status_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::usage: return 400;
    case ErrorKind::not_found: return 404;
    case ErrorKind::io: return 409;
    case ErrorKind::limit:
      return error.subject() == Subject::machine ? 503 : 413;  // busy; or the file asks for too much
    case ErrorKind::corrupt:
    case ErrorKind::unsupported:
    case ErrorKind::lossy: return 422;
  }
  return 500;
}

std::string error_json(const Error& error) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("error").open('{').key("kind").text(name_of(error.kind())).key("rule").text(error.rule());
  json.key("sentence").text(error.sentence()).key("file").text(printable(error.file()));
  json.key("item").text(error.item()).key("offset");
  if (error.offset())
    json.number(*error.offset());
  else
    json.null();
  json.close('}').close('}');
  return text;
}

Answer error_answer(int status, ErrorKind kind, std::string_view rule, std::string_view sentence) noexcept {
  try {
    return {status, error_json(Error(kind, rule, sentence))};
  } catch (...) {
    return {status, {}};
  }
}

std::size_t tensor_of(const OpenModel& model, const Query& query) {
  const std::string_view text = query.text("tensor");
  if (!query.find("tensor"))
    throw Error(
        ErrorKind::usage, "view.request",
        fmt::format("{} is about one tensor; say which, by its number or its name: tensor=0", query.endpoint()));
  return tensor_called(model, text, "tensors?search=... finds names by a part of them");
}

std::size_t tensor_called(const OpenModel& model, std::string_view text, std::string_view advice) {
  const auto& all = model.model().tensors;
  const bool number = !text.empty() && text.size() <= 9 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number) {
    std::size_t place = 0;
    for (const char digit : text) place = place * 10 + static_cast<std::size_t>(digit - '0');
    if (place < all.size()) return place;
  } else if (const Tensor* const found = model.model().tensor(text)) {
    return static_cast<std::size_t>(found - all.data());
  }
  if (number)
    throw Error(ErrorKind::not_found, "view.tensor",
                fmt::format("there is no tensor {}; the model has {}, counted from 0", text, all.size()));
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Tensor& tensor : all) names.push_back(tensor.name);
  const std::string sentence = there_is_no("tensor", text, names);
  throw Error(ErrorKind::not_found, "view.tensor",
              fmt::format("{}{} {}", sentence, sentence.ends_with('?') ? "" : ";", advice));
}

void write_item(JsonWriter& json, const OpenModel& model, std::size_t place) {
  const Item& item = model.items()[place];
  const Tensor& tensor = model.model().tensors[place];
  json.open('{').key("tensor").number(std::uint64_t{place}).key("name").text(model.shown_name(place));
  json.key("shape").open('[');
  for (const std::uint64_t dimension : tensor.shape) json.number(dimension);
  json.close(']').key("type").text(model.types()[item.type]).key("role").text(model.roles()[item.role]);
  json.key("layer");
  if (item.layer < 0)
    json.null();
  else
    json.number(std::int64_t{item.layer});
  json.key("elements").number(item.elements).key("bytes").number(item.stored).key("bits");
  write_number(json, item.bits);
  json.close('}');
}

void write_number(JsonWriter& json, double value) {
  if (!std::isfinite(value))
    json.null();
  else
    json.raw(fmt::format("{}", value));
}

void write_drawn(JsonWriter& json, double value) {
  if (!std::isfinite(value))
    json.null();
  else
    json.raw(fmt::format("{:.6g}", value));
}

void write_element(JsonWriter& json, double value, bool is_single) {
  if (std::isnan(value))
    json.text("nan");
  else if (std::isinf(value))
    json.text(value > 0 ? "inf" : "-inf");
  else
    json.raw(is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value));
}

void write_whole(JsonWriter& json, const WideInteger& value) {
  json.raw(fmt::format("{}{}", value.negative ? "-" : "", value.magnitude));
}

void write_job(JsonWriter& json, const JobPtr& job) {
  if (job == nullptr || is_stopped(job)) {
    json.open('{').key("started").boolean(false).key("done").boolean(false).close('}');
    return;
  }
  const std::scoped_lock lock(job->mutex);
  if (job->error != nullptr) throw Error(*job->error);
  if (job->done) {
    json.raw(job->result);
    return;
  }
  json.open('{').key("started").boolean(true).key("done").boolean(false).key("waiting").boolean(!job->begun);
  json.key("progress").number(job->progress.done()).key("expected").number(job->progress.expected()).close('}');
}

}  // namespace tare::view
