#include "view/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "view/endpoints.hpp"

namespace tare::view {
namespace {

struct Row {
  std::string_view name;
  Endpoint endpoint;
  bool change = false;  // starts work: POST
  bool fresh = true;    // looks at files: first make sure that they are those that were opened
};

constexpr Row kRows[] = {
    {"overview", overview},
    {"layers", layers},
    {"treemap", treemap},
    {"map", file_map},
    {"bytes", file_bytes},
    {"tensors", tensors},
    {"tree", tree},
    {"tensor", tensor},
    {"block", block},
    {"values", values},
    {"numbers", numbers},
    {"heat", heat},
    {"compare", compare},
    {"tokens", tokens},
    {"template", chat_template},
    {"metadata", metadata},
    {"attachments", attachments},
    {"attachment", attachment},
    {"check", check, false, false},
    {"numbers/all", all_numbers, true},
    {"compare/start", start_compare, true},
    {"check/start", start_check, true, false},
};
constexpr std::string_view kReopen = "reopen";

const Row& row_of(const Query& query, bool change) {
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == query.endpoint(); });
  if (row == std::end(kRows))
    throw Error(ErrorKind::not_found, "view.endpoint", fmt::format("no endpoint is called '{}'", query.endpoint()));
  if (row->change && !change)
    throw Error(ErrorKind::usage, "view.method", fmt::format("{} starts work and wants a POST", row->name));
  return *row;
}

}  // namespace

const Exhibit& Context::model(const Query& query) const { return *shared(query); }

ExhibitPtr Context::shared(const Query& query) const {
  static constexpr std::string_view kSides[] = {"a", "b", "error"};
  const bool second = query.choice("of", kSides) == "b";
  if (second && models.size() < 2) throw Error(ErrorKind::usage, "view.request", "of: there is no second model");
  return models[second ? 1 : 0];
}

Service::Service(const std::vector<std::string>& paths, const ReadOptions& options) : paths_(paths), options_(options) {
  options_.keep_broken = true;
  reopen();
}

Service::Service(std::vector<ExhibitPtr> models) { show(std::move(models)); }

void Service::reopen() const {
  if (paths_.empty()) throw Error(ErrorKind::usage, "view.request", "the model is not one of a file");
  std::vector<ExhibitPtr> opened;
  for (const std::string& path : paths_) opened.push_back(std::make_shared<const Exhibit>(path, options_));
  show(std::move(opened));
}

void Service::show(std::vector<ExhibitPtr> models) const {
  std::shared_ptr<const Pairing> pairing;
  if (models.size() == 2) pairing = std::make_shared<const Pairing>(pair_up(*models[0], *models[1]));
  jobs_.clear();
  const std::scoped_lock lock(mutex_);
  models_ = std::move(models);
  pairing_ = std::move(pairing);
}

std::vector<ExhibitPtr> Service::models() const {
  const std::scoped_lock lock(mutex_);
  return models_;
}

std::string Service::call(std::string_view target, bool change) const {
  const Query query = Query::parse(target);
  std::string text;
  if (query.endpoint() == kReopen) {
    if (!change) throw Error(ErrorKind::usage, "view.method", "reopen starts work and wants a POST");
    reopen();
    return "{\"done\":true}";
  }
  const Row& row = row_of(query, change);
  Context context;
  context.jobs = &jobs_;
  {
    const std::scoped_lock lock(mutex_);
    context.models = models_;
    context.pairing = pairing_;
  }
  if (row.fresh)
    for (const ExhibitPtr& model : context.models) model->check();
  JsonWriter json(text);
  row.endpoint(context, query, json);
  // What was read may be of a file that changed on the way.
  if (row.fresh)
    for (const ExhibitPtr& model : context.models) model->check();
  return text;
}

Answer Service::answer(std::string_view target, bool change) const noexcept {
  try {
    try {
      return {200, call(target, change)};
    } catch (const Error& error) {
      return {status_of(error), error_json(error)};
    } catch (const std::bad_alloc&) {
      return {503, error_json(Error(ErrorKind::io, "view.memory", "out of memory"))};
    } catch (const std::exception& error) {
      return {500, error_json(Error(ErrorKind::io, "view.failed", error.what()))};
    }
  } catch (...) {
    return {503, {}};  // not even memory to say so
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
    case ErrorKind::limit: return 413;
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

std::size_t tensor_of(const Exhibit& model, const Query& query) {
  const std::string_view text = query.text("tensor");
  const auto& all = model.model().tensors;
  const bool number = !text.empty() && text.size() <= 9 &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (number) {
    const std::uint64_t place = query.number("tensor", 0, 0, 999'999'999);
    if (place < all.size()) return place;
  } else if (const Tensor* const found = model.model().tensor(text)) {
    return static_cast<std::size_t>(found - all.data());
  }
  throw Error(ErrorKind::not_found, "view.tensor", fmt::format("no tensor is called '{}'", text));
}

void write_item(JsonWriter& json, const Exhibit& model, std::size_t place) {
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
    json.raw(fmt::format("{:.6g}", value));
}

void write_job(JsonWriter& json, const JobPtr& job) {
  if (job == nullptr) {
    json.open('{').key("started").boolean(false).key("done").boolean(false).close('}');
    return;
  }
  const std::scoped_lock lock(job->mutex);
  if (job->error != nullptr) throw Error(*job->error);
  if (job->done) {
    json.raw(job->result);
    return;
  }
  json.open('{').key("started").boolean(true).key("done").boolean(false);
  json.key("progress").number(job->progress.done()).key("expected").number(job->progress.expected()).close('}');
}

}  // namespace tare::view
