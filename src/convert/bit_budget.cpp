// Spending a budget of bits where it saves the most error.
//
// Every tensor has a few choices, each a size and an error. On the lower convex hull of those points, every step up
// costs bits and saves error at a falling rate; taking the steps of all tensors in order of their rates, as long as
// they fit, is the best there is up to the last step that no longer fits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "convert/recipe.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::recipe {
namespace {

// Enough weights for an error estimate within about a percent.
constexpr std::uint64_t kSample = std::uint64_t{1} << 18;

struct Choice {
  std::string method;  // empty: kept
  std::uint64_t bytes = 0;
  double error = 0;
};

// Rows spread evenly over the tensor, in memory.
Tensor sample_of(const Tensor& floats) {
  const std::uint64_t rows = floats.shape[0], columns = floats.shape[1];
  const std::uint64_t wanted = std::max<std::uint64_t>(1, kSample / columns);
  const auto step = static_cast<std::int64_t>(std::max<std::uint64_t>(1, rows / wanted));
  SliceItem every;
  every.step = step;
  Tensor sample = slice(floats, {every});
  Component& data = sample.components.front();
  data.blob = Blob::memory(data.blob.bytes());
  return sample;
}

// Makes every byte of a coded tensor and keeps none: the report is what is wanted.
void make_all(const Blob& blob) {
  for (std::size_t piece = 0; piece < blob.pieces(); ++piece)
    blob.make_piece(piece, [](std::uint64_t, std::span<const std::byte>) {});
  if (blob.pieces() == 0) (void)blob.bytes();
}

// The choices for one tensor, smallest first; only those on the lower convex hull.
std::vector<Choice> choices_for(const Tensor& tensor, const Quantization& how) {
  const Tensor floats = as_plain_floats(tensor);
  const Tensor sample = sample_of(floats);
  const double scale = static_cast<double>(*tensor.shape.elements()) / static_cast<double>(*sample.shape.elements());
  std::vector<Choice> all = {{"", tensor.stored_bytes(), 0}};
  for (const std::string_view word : kBudgetMethods) {
    const std::string method(word);
    const Codec& codec = *find_codec_by_method(method);
    const std::uint64_t bytes = codec.encode(floats, encode_options(how, tensor.name, method, 1)).bytes();
    if (bytes >= tensor.stored_bytes()) continue;
    const EncodeOptions options = encode_options(how, tensor.name, method, 1);
    const Tensor coded = codec.encode(sample, options);
    make_all(coded.components.front().blob);
    all.push_back({method, bytes, options.report->squared_error * scale});
  }
  std::stable_sort(all.begin(), all.end(), [](const Choice& a, const Choice& b) { return a.bytes < b.bytes; });
  std::vector<Choice> hull;
  for (const Choice& next : all) {
    if (!hull.empty() && (next.bytes == hull.back().bytes || next.error >= hull.back().error)) continue;
    const auto rate = [](const Choice& from, const Choice& to) {
      return (from.error - to.error) / static_cast<double>(to.bytes - from.bytes);
    };
    while (hull.size() >= 2 && rate(hull.back(), next) >= rate(hull[hull.size() - 2], hull.back())) hull.pop_back();
    hull.push_back(next);
  }
  return hull;
}

struct Step {
  std::size_t tensor, choice;
  double rate;
};

}  // namespace

void fit_budget(const std::vector<Tensor>& tensors, const std::vector<bool>& open, const Quantization& how,
                unsigned threads, std::vector<std::string>& methods) {
  std::vector<std::vector<Choice>> choices(tensors.size());
  parallel_for(tensors.size(), threads, [&](std::size_t i) {
    if (open[i]) choices[i] = choices_for(tensors[i], how);
  });

  double weights = 0, bytes = 0;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    weights += static_cast<double>(tensors[i].shape.elements().value_or(0));
    if (open[i]) {
      bytes += static_cast<double>(choices[i].front().bytes);
      methods[i] = choices[i].front().method;
      for (std::size_t c = 1; c < choices[i].size(); ++c) {
        const Choice &from = choices[i][c - 1], &to = choices[i][c];
        steps.push_back({i, c, (from.error - to.error) / static_cast<double>(to.bytes - from.bytes)});
      }
    } else if (methods[i].empty()) {
      bytes += static_cast<double>(tensors[i].stored_bytes());
    } else {
      const Tensor floats = as_plain_floats(tensors[i]);
      bytes += static_cast<double>(find_codec_by_method(methods[i])
                                       ->encode(floats, encode_options(how, tensors[i].name, methods[i], threads))
                                       .bytes());
    }
  }
  const double most = *how.bits * weights / 8;
  if (bytes > most)
    throw Error(ErrorKind::usage, "quantize.bits",
                fmt::format("{} bits a weight are asked for, but the smallest methods and what is kept take {:.3f}",
                            *how.bits, weights == 0 ? 0 : bytes * 8 / weights));

  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.rate > b.rate; });
  std::vector<std::size_t> reached(tensors.size(), 0);
  for (const Step& step : steps) {
    if (step.choice != reached[step.tensor] + 1) continue;  // an earlier step of this tensor did not fit
    const std::vector<Choice>& of = choices[step.tensor];
    const auto more = static_cast<double>(of[step.choice].bytes - of[step.choice - 1].bytes);
    if (bytes + more > most) continue;
    bytes += more;
    reached[step.tensor] = step.choice;
    methods[step.tensor] = of[step.choice].method;
  }
}

}  // namespace tare::recipe
