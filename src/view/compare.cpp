// The comparison of two models as JSON: a summary, a page of rows, the points of a plot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tare/codec.hpp"
#include "view/fuzzy.hpp"
#include "view/names.hpp"
#include "view/role_grid.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kMostCompared = 1000;  // table rows per answer
constexpr std::size_t kMostPoints = 3000;      // points in the plot
constexpr std::string_view kSampleJob = "compare", kExactJob = "compare all";

using State = Result::State;

// The tensor as its file stores it. The compared tensor may have another type, because Format::release restores the
// form of the original model.
const Tensor& stored_tensor(const OpenModel& model, std::int64_t place, const Tensor& compared) {
  return place >= 0 ? model.model().tensors[static_cast<std::size_t>(place)] : compared;
}

struct StoredPair {
  const Tensor &a, &b;
  StoredPair(const Context& context, const Pair& pair)
      : a(stored_tensor(*context.models[0], pair.a, pair.tensor_a())),
        b(stored_tensor(*context.models[1], pair.b, pair.tensor_b())) {}
};

// Bytes in the file. If the compared tensor is only a part of the stored one, the bytes of that part.
std::uint64_t stored_bytes_of(const Tensor& stored, const Tensor& compared) {
  return stored.shape.elements() == compared.shape.elements() ? stored.stored_bytes() : compared.stored_bytes();
}

double bits_per_weight(const Tensor& tensor) {
  const auto elements = tensor.shape.elements();
  return elements && *elements > 0 ? static_cast<double>(tensor.stored_bytes()) * 8 / static_cast<double>(*elements)
                                   : 0;
}

const Tensor& shown_of(const Pair& pair) { return pair.in_a() ? pair.tensor_a() : pair.tensor_b(); }

std::string type_of(const Tensor& tensor, bool there) {
  return there ? short_name(dtype_name(tensor), 60) : std::string();
}

void write_place(JsonWriter& json, const Pair& pair) {
  json.key("a");
  pair.a < 0 ? json.null() : json.number(pair.a);
  json.key("b");
  pair.b < 0 ? json.null() : json.number(pair.b);
}

// An infinite error is written as "inf", because null would hide it.
void write_error(JsonWriter& json, double error) {
  std::isinf(error) ? static_cast<void>(json.text("inf")) : write_number(json, error);
}

void write_row(JsonWriter& json, const Context& context, std::size_t place, const Result& result) {
  const Comparison& comparison = *context.comparison();
  const Pair& pair = comparison.pairing().pairs[place];
  const StoredPair stored(context, pair);
  const Tensor& shown = shown_of(pair);
  json.open('{').key("name").text(short_name(shown.name, 200));
  write_place(json, pair);
  json.key("type_a").text(type_of(stored.a, pair.in_a())).key("type_b").text(type_of(stored.b, pair.in_b()));
  json.key("elements").number(shown.shape.elements().value_or(0)).key("bytes");
  json.number(pair.in_a() ? stored_bytes_of(stored.a, pair.tensor_a()) : stored_bytes_of(stored.b, pair.tensor_b()));
  json.key("bits_a");
  write_number(json, bits_per_weight(stored.a));
  json.key("bits_b");
  write_number(json, bits_per_weight(stored.b));
  switch (result.state) {
    case State::only_a:
    case State::only_b: json.key("only_in").text(result.state == State::only_a ? "a" : "b"); break;
    case State::shapes:
      json.key("shapes").open('[').text(short_name(pair.tensor_a().shape.text(), 60));
      json.text(short_name(pair.tensor_b().shape.text(), 60)).close(']');
      break;
    case State::failed: json.key("problem").text(short_name(comparison.problem(place), 200)); break;
    case State::waiting: break;
    case State::sampled:
    case State::exact: {
      const Figures& figures = result.figures;
      json.key("compared").number(figures.count).key("exact").boolean(result.state == State::exact).key("changed");
      write_number(json, figures.share_changed());
      json.key("rms");
      write_error(json, figures.rms());
      json.key("relative_rms");
      write_error(json, figures.relative_rms());
      json.key("cosine");
      const double cosine = figures.cosine();
      std::isnan(cosine) ? json.text("nan") : json.raw(fmt::format("{}", cosine));
      json.key("max_error");
      write_error(json, figures.max_error());
      json.key("not_finite").number(figures.not_finite);
    }
  }
  json.close('}');
}

// Totals over all tensors. The error is over all elements together; a sample represents its whole tensor.
void write_summary(JsonWriter& json, const Context& context, const std::vector<Result>& results) {
  const Comparison& comparison = *context.comparison();
  std::uint64_t compared = 0, exact = 0, equal = 0, only_a = 0, only_b = 0, shapes = 0, failed = 0;
  ScaledSum error, squares;
  std::pair<double, double> most;  // relative error; to break ties between infinite ones, the absolute error
  std::size_t worst = 0;
  bool finite = true;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& result = results[i];
    only_a += result.state == State::only_a;
    only_b += result.state == State::only_b;
    shapes += result.state == State::shapes;
    failed += result.state == State::failed;
    if (!result.compared()) continue;
    const Figures& figures = result.figures;
    ++compared;
    exact += result.state == State::exact;
    equal += figures.changed == 0;
    const auto elements = static_cast<double>(shown_of(comparison.pairing().pairs[i]).shape.elements().value_or(0));
    const double weight = figures.count > 0 ? elements / static_cast<double>(figures.count) : 0;
    error.add({figures.squared_error.value * weight, figures.squared_error.exponent});
    squares.add({figures.squares_a.value * weight, figures.squares_a.exponent});
    finite = finite && figures.not_finite == 0;
    const std::pair here(figures.relative_rms(), figures.rms());
    if (here > most) most = here, worst = i;
  }
  json.key("summary").open('{').key("compared").number(compared).key("exact").number(exact).key("equal").number(equal);
  json.key("only_in_a").number(only_a).key("only_in_b").number(only_b).key("shapes").number(shapes);
  json.key("problems").number(failed).key("relative_rms");
  write_error(json, finite ? root_of_ratio(error, squares) : std::numeric_limits<double>::infinity());
  json.key("worst");
  if (most.first > 0)  // if all are equal, none is the worst
    write_row(json, context, worst, results[worst]);
  else
    json.null();
  json.close('}');
}

struct Point {
  std::size_t pair = 0;
  std::uint64_t tensors = 1;
};

// One point per tensor that has an error. If there are too many, points that would overlap share one.
std::vector<Point> points_of(const Context& context, const std::vector<Result>& results) {
  const auto& pairs = context.pairing().pairs;
  std::vector<Point> points;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].compared() && results[i].figures.relative_rms() > 0) points.push_back({i});
  if (points.size() <= kMostPoints) return points;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Point> cells;
  for (const Point& point : points) {
    const Tensor& tensor = StoredPair(context, pairs[point.pair]).b;
    const double error = results[point.pair].figures.relative_rms();
    const auto down = std::isinf(error) ? INT64_MAX : static_cast<std::int64_t>(std::floor(std::log10(error) * 40));
    const auto across = static_cast<std::int64_t>(std::round(bits_per_weight(tensor) * 10));
    const auto [cell, is_new] = cells.emplace(std::tuple(dtype_name(tensor), across, down), point);
    if (!is_new) ++cell->second.tensors;
  }
  points.clear();
  for (const auto& [key, point] : cells) points.push_back(point);
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.tensors > b.tensors; });
  if (points.size() > kMostPoints) points.resize(kMostPoints);
  return points;
}

void write_plot(JsonWriter& json, const Context& context, const std::vector<Result>& results) {
  json.key("plot").open('[');
  for (const Point& point : points_of(context, results)) {
    const Pair& pair = context.pairing().pairs[point.pair];
    const Tensor& stored = StoredPair(context, pair).b;
    json.open('{').key("name").text(short_name(shown_of(pair).name, 80));
    write_place(json, pair);
    json.key("type").text(type_of(stored, true)).key("bits");
    write_number(json, bits_per_weight(stored));
    json.key("relative_rms");
    write_error(json, results[point.pair].figures.relative_rms());
    json.key("tensors").number(point.tensors).close('}');
  }
  json.close(']');
}

// The sort key of a pair for one column.
double key_of(std::string_view by, const Pair& pair, const StoredPair& stored, const Result& result) {
  if (by == "bytes")
    return static_cast<double>(
        std::max(stored_bytes_of(stored.a, pair.tensor_a()), stored_bytes_of(stored.b, pair.tensor_b())));
  if (by == "bits") return bits_per_weight(pair.in_b() ? stored.b : stored.a);
  if (!result.compared()) return -2;
  if (by == "rms") return result.figures.rms();
  // An undefined cosine sorts as worse than any other.
  if (by == "cosine") return result.figures.not_finite > 0 ? -3 : result.figures.cosine();
  if (by == "changed") return result.figures.share_changed();
  return result.figures.relative_rms();
}

std::vector<std::size_t> order_of_pairs(const Context& context, const std::vector<Result>& results,
                                        const Query& query) {
  static constexpr std::string_view kSorts[] = {"file", "name",         "type",   "bits",   "bytes",
                                                "rms",  "relative_rms", "cosine", "changed"};
  static constexpr std::string_view kWays[] = {"up", "down"}, kOnly[] = {"all", "changed", "other"};
  const auto& pairs = context.pairing().pairs;
  const std::string_view wanted = query.short_text("search", kMostSearched), only = query.choice("only", kOnly);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (only == "changed" && !(results[i].compared() && results[i].figures.changed > 0)) continue;
    if (only == "other" && (results[i].compared() || results[i].state == State::waiting)) continue;
    if (!wanted.empty() && !fuzzy_score(wanted, shown_of(pairs[i]).name)) continue;
    order.push_back(i);
  }
  const std::string_view by = query.choice("sort", kSorts);
  const bool down = query.choice("way", kWays) == "down";
  const auto sort = [&](const auto& less) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return down ? less(y, x) : less(x, y); });
  };
  if (by == "name") {
    sort(
        [&](std::size_t x, std::size_t y) { return naturally_less(shown_of(pairs[x]).name, shown_of(pairs[y]).name); });
  } else if (by == "type") {
    std::vector<std::string> types(pairs.size());
    for (const std::size_t i : order) {
      const StoredPair stored(context, pairs[i]);
      types[i] = dtype_name(pairs[i].in_b() ? stored.b : stored.a);
    }
    sort([&](std::size_t x, std::size_t y) { return types[x] < types[y]; });
  } else if (by != "file") {
    std::vector<double> keys(pairs.size());
    for (const std::size_t i : order) keys[i] = key_of(by, pairs[i], {context, pairs[i]}, results[i]);
    sort([&](std::size_t x, std::size_t y) { return keys[x] < keys[y]; });
  } else if (down) {
    std::reverse(order.begin(), order.end());
  }
  return order;
}

// The progress of the comparison of every value.
void write_exact(JsonWriter& json, const JobPtr& job) {
  json.key("every_value").open('{').key("started").boolean(job != nullptr);
  if (job != nullptr) {
    const std::scoped_lock lock(job->mutex);
    json.key("done")
        .boolean(job->done)
        .key("waiting")
        .boolean(!job->begun)
        .key("progress")
        .number(job->progress.done());
    json.key("expected").number(job->progress.expected()).key("problem");
    job->error == nullptr ? json.null() : json.text(job->error->sentence());
  }
  json.close('}');
}

bool is_finished(const JobPtr& job) {
  if (job == nullptr) return false;
  const std::scoped_lock lock(job->mutex);
  return job->done && job->error == nullptr;
}

// Starts the work, unless it has been completed before.
void start(const Context& context, std::string_view name, void (Comparison::*work)(Progress&)) {
  const std::shared_ptr<Comparison>& comparison = context.comparison();
  if (is_finished(context.jobs->find(name))) return;
  static_cast<void>(context.jobs->start(std::string(name), [models = context.models, comparison, work](Job& job) {
    ((*comparison).*work)(job.progress);
    for (const OpenModelPtr& model : models) model->check();
    return std::string();
  }));
}

// The tensors of one layer and role.
struct Compared {
  ScaledSum error, squares;
  std::uint64_t tensors = 0, elements = 0, bytes_a = 0, bytes_b = 0;
  bool finite = true, exact = true;
  double most = -1;  // the largest relative error
  std::size_t worst = 0;
};

void write_compared(JsonWriter& json, const Context& context, const Compared& cell) {
  const Pair& pair = context.pairing().pairs[cell.worst];
  const StoredPair stored(context, pair);
  json.open('{').key("name").text(short_name(shown_of(pair).name, 80));
  write_place(json, pair);
  json.key("type_a").text(type_of(stored.a, true)).key("type_b").text(type_of(stored.b, true));
  json.key("tensors").number(cell.tensors).key("bytes_a").number(cell.bytes_a).key("bytes_b").number(cell.bytes_b);
  json.key("bits_b");
  write_drawn(json,
              cell.elements == 0 ? 0 : static_cast<double>(cell.bytes_b) * 8 / static_cast<double>(cell.elements));
  json.key("relative_rms");
  const double error = cell.finite ? root_of_ratio(cell.error, cell.squares) : std::numeric_limits<double>::infinity();
  std::isinf(error) ? static_cast<void>(json.text("inf")) : write_drawn(json, error);
  json.key("exact").boolean(cell.exact).close('}');
}

// Layers and roles, by the names of the first model: the error and the bytes of each.
void write_grid(JsonWriter& json, const Context& context, const std::vector<Result>& results) {
  constexpr std::int32_t kMostGridLayers = 400;
  constexpr std::size_t kMostGridRoles = 40, kMostGridCells = 6000;
  const OpenModel& first = *context.models[0];
  RoleGrid<Compared> cells;
  std::vector<bool> in_layers(first.roles().size());
  std::int32_t last = -1;
  bool complete = true;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Pair& pair = context.pairing().pairs[i];
    if (!results[i].compared() || pair.a < 0) continue;
    const Item& item = first.items()[static_cast<std::size_t>(pair.a)];
    if (item.layer >= kMostGridLayers) {
      complete = false;
      continue;
    }
    Compared& cell = cells[{item.layer, item.role}];
    const Figures& figures = results[i].figures;
    const StoredPair stored(context, pair);
    const std::uint64_t elements = pair.tensor_a().shape.elements().value_or(0);
    const double weight = figures.count > 0 ? static_cast<double>(elements) / static_cast<double>(figures.count) : 0;
    cell.error.add({figures.squared_error.value * weight, figures.squared_error.exponent});
    cell.squares.add({figures.squares_a.value * weight, figures.squares_a.exponent});
    cell.finite = cell.finite && figures.not_finite == 0;
    cell.exact = cell.exact && results[i].state == State::exact;
    cell.tensors += 1, cell.elements += elements;
    cell.bytes_a += stored_bytes_of(stored.a, pair.tensor_a());
    cell.bytes_b += stored_bytes_of(stored.b, pair.tensor_b());
    if (figures.relative_rms() > cell.most) cell.most = figures.relative_rms(), cell.worst = i;
    if (item.layer >= 0) in_layers[item.role] = true;
    last = std::max(last, item.layer);
  }
  std::vector<std::uint32_t> roles = roles_in_order(first, in_layers);
  const std::size_t most =
      std::min(kMostGridRoles, kMostGridCells / static_cast<std::size_t>(std::max(last + 1, std::int32_t{1})));
  complete = complete && roles.size() <= most;
  roles.resize(std::min(roles.size(), most));
  json.key("grid").open('{');
  const bool all =
      write_role_grid(json, first, cells, roles, last, kMostGridRoles,
                      [&](std::int32_t, std::uint32_t, const Compared& cell) { write_compared(json, context, cell); });
  json.key("complete").boolean(complete && all).close('}');
}

}  // namespace

void compare(const Context& context, const Query& query, JsonWriter& json) {
  const Comparison& comparison = *context.comparison();
  const JobPtr sample = context.jobs->find(kSampleJob), exact = context.jobs->find(kExactJob);
  if (!is_finished(sample) && !is_finished(exact))
    return write_job(json, sample != nullptr ? sample : is_stopped(exact) ? nullptr : exact);
  const std::vector<Result> results = comparison.results();
  const std::vector<std::size_t> order = order_of_pairs(context, results, query);
  const std::uint64_t from = std::min<std::uint64_t>(query.number("from", 0, 0, UINT32_MAX), order.size());
  const std::uint64_t count = std::min(query.number("count", kMostCompared, 0, kMostCompared), order.size() - from);
  json.open('{').key("done").boolean(true).key("pairs").number(std::uint64_t{results.size()});
  json.key("renamed").boolean(comparison.pairing().renamed).key("sampled").number(comparison.sample());
  json.key("elements").number(comparison.elements());
  write_summary(json, context, results);
  write_exact(json, exact);
  json.key("found").number(std::uint64_t{order.size()}).key("from").number(from).key("tensors").open('[');
  for (std::uint64_t i = from; i < from + count; ++i) write_row(json, context, order[i], results[order[i]]);
  json.close(']');
  if (query.flag("plot")) write_plot(json, context, results);
  if (query.flag("grid")) write_grid(json, context, results);
  json.close('}');
}

JobPtr compare_job(const Context& context, const Query& /*query*/) {
  const JobPtr sample = context.jobs->find(kSampleJob), exact = context.jobs->find(kExactJob);
  for (const JobPtr& job : {sample, exact})
    if (job != nullptr && !job->is_done()) return job;
  return sample != nullptr ? sample : is_stopped(exact) ? nullptr : exact;
}

void start_compare(const Context& context, const Query& query, JsonWriter& json) {
  start(context, kSampleJob, &Comparison::run_sample);
  compare(context, query, json);
}

void compare_all(const Context& context, const Query& query, JsonWriter& json) {
  start(context, kExactJob, &Comparison::run_exact);
  compare(context, query, json);
}

void stop_compare(const Context& context, const Query& query, JsonWriter& json) {
  context.jobs->stop(kExactJob);
  compare(context, query, json);
}

}  // namespace tare::view
