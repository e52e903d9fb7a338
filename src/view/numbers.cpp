// The numbers of a tensor: extremes, moments, histograms, outliers with their positions, norms of matrix rows and
// columns. For a large tensor they are computed from a sample of matrix rows; `numbers/all` reads it completely, as a
// job.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/checked.hpp"
#include "base/stopping.hpp"
#include "inspect/inner_range.hpp"
#include "inspect/moments.hpp"
#include "view/endpoints.hpp"
#include "view/reading.hpp"
#include "view/squares.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kRun = 8192, kLongestRow = 65536;  // elements read at a time
constexpr std::size_t kBins = 96, kOutliers = 16, kPoints = 256;
constexpr std::size_t kExponents = inspect::Magnitudes::kCount;

// Which elements are read: all, or evenly spaced pieces of whole matrix rows, or of parts of rows if rows are very
// long.
struct Plan {
  std::uint64_t elements = 0, columns = 0, pieces = 0, length = 0;

  static Plan make(std::uint64_t rows, std::uint64_t columns, std::uint64_t sample) {
    Plan plan{rows * columns, columns};
    if (plan.elements == 0) return plan;
    plan.length = columns <= kRun ? kRun / columns * columns : columns <= kLongestRow ? columns : kRun;
    plan.pieces = ceil_div(plan.elements, plan.length);
    plan.pieces = std::min(plan.pieces, std::max<std::uint64_t>(1, sample / plan.length));
    return plan;
  }

  bool whole() const { return elements == 0 || pieces == ceil_div(elements, length); }
  std::uint64_t first(std::uint64_t piece) const {
    if (whole()) return piece * length;
    // The middle of its share, aligned to the beginning of a row if pieces are whole rows.
    const auto middle = static_cast<std::uint64_t>(
        (static_cast<double>(piece) + 0.5) * static_cast<double>(elements - length) / static_cast<double>(pieces));
    return length % columns == 0 ? middle / columns * columns : middle;
  }
  std::uint64_t count(std::uint64_t piece) const { return std::min(length, elements - first(piece)); }
};

struct Outlier {
  double value = 0;
  std::uint64_t row = 0, column = 0;
  WideInteger whole = {};  // for integers that doubles cannot all represent

  // Sorts by the double first: rounding to double preserves the order of magnitudes.
  std::pair<double, std::uint64_t> size() const { return {std::abs(value), whole.magnitude}; }
};

class Tally {
 public:
  explicit Tally(const Reading& reading)
      : columns_(reading.columns()),
        column_points_(std::min<std::uint64_t>(columns_, kPoints)),
        rows_(reading.rows()),
        wide_(reading.dtype() == DType::f64),
        whole_(reading.is_wide_integer()) {
    column_squares_.resize(column_points_);
    column_counts_.resize(column_points_);
  }

  // Takes the elements from `first` on, which are those `reading` has just read.
  void take(std::uint64_t first, std::span<const double> values, const Reading& reading) {
    if (whole_) take_whole(first, values, reading);
    while (!values.empty()) {
      const std::uint64_t row = first / columns_, column = first % columns_;
      const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(values.size(), columns_ - column));
      wide_ ? take_row<true>(row, column, values.first(here)) : take_row<false>(row, column, values.first(here));
      values = values.subspan(here);
      first += here;
    }
  }

  // Second pass: the moments, and the histogram over the range of the first pass, scaled by the largest magnitude.
  void begin_second_look() {
    if (finite_ > 0) scale_ = inspect::Scale::of(min_, max_);
    find_inner_range();
  }
  void bin(std::span<const double> values) {
    const double low = min_ * scale_.factor, bins_per_unit = kBins / (max_ * scale_.factor - low);
    scaled_.resize(values.size());
    std::size_t kept = 0;
    for (const double v : values) {
      scaled_[kept] = v * scale_.factor;
      kept += v >= min_ && v <= max_;  // outside if the file changed between the passes
    }
    const auto scaled = std::span<const double>(scaled_).first(kept);
    moments_.merge(inspect::moments_of(scaled));
    for (const double v : scaled) ++histogram_[inspect::bin_of((v - low) * bins_per_unit, kBins)];
    if (inner_range_) bin_inner(scaled);
  }

  void write(JsonWriter& json, bool is_single) const {
    json.key("counted").number(finite_ + nan_ + inf_).key("nan").number(nan_).key("infinite").number(inf_);
    json.key("zeros").number(zeros_);
    // Without finite elements there is no minimum, maximum or mean.
    for (const auto& [name, value] : {std::pair("min", min_), std::pair("max", max_)}) {
      json.key(name);
      if (finite_ == 0)
        json.null();
      else if (whole_)
        write_whole(json, name == std::string_view("min") ? least_whole_ : most_whole_);
      else
        write_element(json, value, is_single);
    }
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    json.key("mean");
    write_number(json, finite_ > 0 ? mean() : kNone);
    json.key("std");
    write_number(json, finite_ > 0 ? deviation() : kNone);
    json.key("rms");
    write_number(json, finite_ > 0 ? squares_.root_mean(finite_) : kNone);
    json.key("histogram").open('[');
    for (const std::uint64_t count : histogram_) json.number(count);
    json.close(']').key("inner");
    write_inner(json);
    json.key("magnitudes").open('{').key("first_exponent").number(std::int64_t{inspect::Magnitudes::kLeast});
    for (const auto& [name, side] : {std::pair("negative", &negative_), std::pair("positive", &positive_)}) {
      json.key(name).open('[');
      for (const std::uint64_t count : *side) json.number(count);
      json.close(']');
    }
    json.close('}').key("outliers").open('[');
    for (const Outlier& outlier : sorted_outliers()) {
      json.open('{').key("value");
      whole_ ? write_whole(json, outlier.whole) : write_element(json, outlier.value, is_single);
      json.key("row").number(outlier.row).key("column").number(outlier.column).close('}');
    }
    json.close(']');
    write_norms(json);
  }

 private:
  static constexpr std::size_t kMostRows = 65536;
  struct RowSum {
    std::uint64_t row;
    Squares squares;
    std::uint64_t count;
  };

  void find_inner_range() {
    std::array<std::uint64_t, kExponents> counts;
    for (std::size_t i = 0; i < kExponents; ++i) counts[i] = negative_[i] + positive_[i];
    inner_range_ = inspect::inner_range(min_, max_, counts);
  }
  void bin_inner(std::span<const double> scaled) {
    const double low = inner_range_->low * scale_.factor, high = inner_range_->high * scale_.factor;
    const double per_unit = kBins / (high - low);
    for (const double v : scaled) {
      if (v < low)
        ++below_;
      else if (v > high)
        ++above_;
      else
        ++inner_[inspect::bin_of((v - low) * per_unit, kBins)];
    }
  }
  void write_inner(JsonWriter& json) const {
    if (!inner_range_) {
      json.null();
      return;
    }
    json.open('{').key("low");
    write_number(json, inner_range_->low);
    json.key("high");
    write_number(json, inner_range_->high);
    json.key("below").number(below_).key("above").number(above_).key("histogram").open('[');
    for (const std::uint64_t count : inner_) json.number(count);
    json.close(']').close('}');
  }

  // The minimum and maximum as exact integers.
  void take_whole(std::uint64_t first, std::span<const double> values, const Reading& reading) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const WideInteger whole = reading.wide_integer(i);
      if (!any_whole_ || whole < least_whole_) least_whole_ = whole;
      if (!any_whole_ || most_whole_ < whole) most_whole_ = whole;
      any_whole_ = true;
      consider({values[i], (first + i) / columns_, (first + i) % columns_, whole});
    }
  }

  void consider(const Outlier& outlier) {
    if (outliers_.size() < kOutliers || outlier.size() > outliers_.front().size()) remember(outlier);
  }

  template <bool wide>
  void take_row(std::uint64_t row, std::uint64_t column, std::span<const double> values) {
    if (rows_seen_.empty() || rows_seen_.back().row != row) {
      if (rows_seen_.size() >= kMostRows) thin_out();
      rows_seen_.push_back({row, {}, 0});
    }
    Squares squares;
    std::uint64_t finite = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double v = values[i];
      if (!std::isfinite(v)) {
        std::isnan(v) ? ++nan_ : ++inf_;
        continue;
      }
      ++finite;
      zeros_ += v == 0;
      min_ = std::min(min_, v);
      max_ = std::max(max_, v);
      const std::size_t point = point_of(column + i);
      if constexpr (wide) {
        squares.add(v);
        column_squares_[point].add(v);
      } else {
        squares.usual += v * v;
        column_squares_[point].usual += v * v;
      }
      ++column_counts_[point];
      if (!whole_ && (outliers_.size() < kOutliers || std::abs(v) > least_)) remember({v, row, column + i});
      if (v != 0) ++(v < 0 ? negative_ : positive_)[inspect::Magnitudes::bin_of(v)];
    }
    finite_ += finite;
    squares_.add(squares);
    rows_seen_.back().squares.add(squares);
    rows_seen_.back().count += finite;
  }

  // Clamped, so that rounding cannot move the mean of equal numbers away from them.
  double mean() const { return std::clamp(std::ldexp(moments_.mean, scale_.exponent), min_, max_); }
  double deviation() const {
    if (min_ == max_ || moments_.count == 0) return 0;
    return std::ldexp(std::sqrt(moments_.squares / moments_.count), scale_.exponent);
  }

  std::size_t point_of(std::uint64_t column) const {
    return columns_ <= kPoints ? column : column * column_points_ / columns_;
  }

  // Drops every second row, if there are too many to keep a norm of each.
  void thin_out() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_seen_.size(); i += 2) rows_seen_[kept++] = rows_seen_[i];
    rows_seen_.resize(kept);
  }

  void remember(const Outlier& outlier) {
    const auto less = [](const Outlier& a, const Outlier& b) { return a.size() > b.size(); };
    outliers_.push_back(outlier);
    std::push_heap(outliers_.begin(), outliers_.end(), less);
    if (outliers_.size() > kOutliers) {
      std::pop_heap(outliers_.begin(), outliers_.end(), less);
      outliers_.pop_back();
    }
    least_ = std::abs(outliers_.front().value);
  }

  std::vector<Outlier> sorted_outliers() const {
    std::vector<Outlier> sorted = outliers_;
    std::sort(sorted.begin(), sorted.end(), [](const Outlier& a, const Outlier& b) {
      return a.size() != b.size() ? a.size() > b.size() : std::tie(a.row, a.column) < std::tie(b.row, b.column);
    });
    return sorted;
  }

  // Root mean squares per matrix row and per column (over the rows that were read). A point combines several: the
  // largest of its rows, the mean of its columns.
  void write_norms(JsonWriter& json) const {
    // In a sample, some points may have no row.
    constexpr double kNoRow = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> points(std::min<std::uint64_t>({rows_, kPoints, rows_seen_.size()}), kNoRow);
    for (const RowSum& seen : rows_seen_) {
      const std::size_t point = points.size() == rows_ ? static_cast<std::size_t>(seen.row)
                                                       : static_cast<std::size_t>(static_cast<double>(seen.row) *
                                                                                  static_cast<double>(points.size()) /
                                                                                  static_cast<double>(rows_));
      double& norm = points[std::min(point, points.size() - 1)];
      if (seen.count > 0) norm = std::fmax(norm, seen.squares.root_mean(seen.count));
    }
    json.key("row_norms").open('[');
    for (const double norm : points) write_drawn(json, norm);
    json.close(']').key("column_norms").open('[');
    for (std::size_t i = 0; i < column_points_; ++i)
      write_drawn(json, column_counts_[i] > 0 ? column_squares_[i].root_mean(column_counts_[i]) : kNoRow);
    json.close(']');
  }

  std::uint64_t columns_;
  std::size_t column_points_;
  std::uint64_t rows_;
  bool wide_;  // squares of the elements may overflow or underflow a double
  bool whole_, any_whole_ = false;
  WideInteger least_whole_, most_whole_;
  std::uint64_t finite_ = 0, nan_ = 0, inf_ = 0, zeros_ = 0;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -std::numeric_limits<double>::infinity();
  double least_ = 0;
  Squares squares_;
  inspect::Scale scale_;
  inspect::Moments moments_;
  std::vector<double> scaled_;
  std::array<std::uint64_t, kBins> histogram_{}, inner_{};
  std::optional<inspect::Range> inner_range_;
  std::uint64_t below_ = 0, above_ = 0;  // elements outside of the inner range
  std::array<std::uint64_t, kExponents> negative_{}, positive_{};
  std::vector<Outlier> outliers_;
  std::vector<RowSum> rows_seen_;
  std::vector<Squares> column_squares_;
  std::vector<std::uint64_t> column_counts_;
};

std::string numbers_json(const Tensor& tensor, std::uint64_t sample, std::uint64_t budget, Progress* progress) {
  Reading first(tensor, budget);
  Tally tally(first);
  const Plan plan = Plan::make(first.rows(), first.columns(), sample);
  std::vector<double> values(plan.length);
  if (progress != nullptr) progress->expect(2 * plan.elements);
  bool whole = plan.whole();
  std::uint64_t read = 0;
  for (int pass = 0; pass < 2; ++pass) {
    Reading reading(tensor, budget);
    if (pass == 1) tally.begin_second_look();
    for (std::uint64_t piece = 0; piece < plan.pieces; ++piece) {
      if (progress != nullptr) check_stop();
      const auto part = std::span(values).first(plan.count(piece));
      if (!reading.read(plan.first(piece), part)) {
        whole = false;
        break;
      }
      pass == 0 ? tally.take(plan.first(piece), part, reading) : tally.bin(part);
      if (progress != nullptr) progress->advance(part.size());
    }
    read += reading.bytes_read();
  }
  std::string text;
  JsonWriter json(text);
  json.open('{').key("done").boolean(true).key("rows").number(first.rows()).key("columns").number(first.columns());
  json.key("elements").number(first.elements()).key("exact").boolean(whole);
  tally.write(json, first.is_single());
  json.key("read").number(read).close('}');
  return text;
}

std::string job_name(const OpenModel& model, const Query& query) {
  return fmt::format("numbers {} {}", query.text("of", "a"), tensor_of(model, query));
}

}  // namespace

JobPtr all_numbers_job(const Context& context, const Query& query) {
  return context.jobs->find(job_name(context.model(query), query));
}

bool is_answered_by_job(const Context& context, const Query& query) {
  return query.endpoint() == "numbers" && query.flag("all") && all_numbers_job(context, query) != nullptr;
}

std::string sampled_numbers(const Tensor& tensor, std::uint64_t sample) {
  return numbers_json(tensor, sample, kReadBudget, nullptr);
}

void numbers(const Context& context, const Query& query, JsonWriter& json) {
  // The result for all elements is preferred over a sample.
  const JobPtr job = all_numbers_job(context, query);
  if (job != nullptr && query.flag("all")) return write_job(json, job);
  json.raw(sampled_numbers(subject_of(context, query)));
}

void report_all_numbers(const Context& context, const Query& query, JsonWriter& json) {
  write_job(json, all_numbers_job(context, query));
}

void stop_numbers(const Context& context, const Query& query, JsonWriter& json) {
  context.jobs->stop(job_name(context.model(query), query));
  report_all_numbers(context, query, json);
}

void all_numbers(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModelPtr held = context.shared(query);
  const Tensor subject = subject_of(context, query);
  write_job(json, context.jobs->start(job_name(*held, query), [held, subject](Job& job) {
    constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max() / 2;
    std::string text = numbers_json(subject, kNoBound, kNoBound, &job.progress);
    held->check();
    return text;
  }));
}

}  // namespace tare::view
