// Spends a budget of bits where it saves the most error: each tensor has a few choices, each with a size and an error
// that is estimated from a sample of the tensor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "convert/knapsack.hpp"
#include "convert/recipe.hpp"
#include "convert/steps/fit_rest.hpp"
#include "formats/format.hpp"
#include "tare/convert.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::recipe {
namespace {

// Enough weights for an error estimate within about a percent.
constexpr std::uint64_t kSample = std::uint64_t{1} << 18;
// With more tensors than kMany, fewer rows of the small ones are sampled: about kAllSamples weights in total. A row
// counts as a block at least, because codecs pad short rows.
constexpr std::uint64_t kMany = 4096, kAllSamples = std::uint64_t{1} << 25, kBlock = 256;

// Methods of fewer bits than this share of the budget, and than kFewBits, are only tried if nothing else fits: they take longest, and
// hardly ever save anything.
constexpr double kLeastShare = 0.5, kFewBits = 2.3;

struct Sample {
  Tensor tensor;
  std::uint64_t first_column = 0;
};

// Copies rows spread evenly over the tensor, and so over all experts of a stack, into memory; of rows longer than a
// sample, the middle.
Sample sample_of(Tensor floats, std::uint64_t tensors) {
  const std::uint64_t width = floats.shape[floats.shape.rank() - 1], rows = *floats.shape.elements() / width;
  floats.shape = {rows, width};
  const std::uint64_t columns = std::min(width, kSample);
  std::uint64_t wanted = std::max<std::uint64_t>(1, kSample / columns);
  if (tensors > kMany)
    wanted =
        std::min(wanted, std::max({kAllSamples / tensors / std::max(columns, kBlock), rows / 4, std::uint64_t{1}}));
  const std::uint64_t first = (width - columns) / 2;
  SliceItem every, middle;
  every.step = static_cast<std::int64_t>(std::max<std::uint64_t>(1, rows / wanted));
  middle.start = static_cast<std::int64_t>(first);
  middle.stop = static_cast<std::int64_t>(first + columns);
  Sample sample{slice(floats, {every, middle}), first};
  Component& data = sample.tensor.components.front();
  data.blob = Blob::memory(data.blob.bytes(data.blob.size(), 1));  // one thread: tensors are sampled in parallel
  return sample;
}

// Encodes the whole tensor and discards the bytes: only the report is needed.
void make_all(const Blob& blob) {
  for (std::size_t piece = 0; piece < blob.pieces(); ++piece)
    blob.make_piece(piece, [](std::uint64_t, std::span<const std::byte>) {});
  if (blob.pieces() == 0) (void)blob.bytes(blob.size(), 1);
}

std::uint64_t coded_bytes(const Tensor& tensor, const std::string& method, const Quantization& how, unsigned threads) {
  const EncodeOptions options = encode_options(how, tensor.name, method, threads);
  return find_codec_by_method(method)->encode(as_plain_floats(tensor), options).bytes();
}

double sampled_error(const Sample& sample, const std::string& method, const Quantization& how) {
  EncodeOptions options = encode_options(how, sample.tensor.name, method, 1);
  if (!options.importance.empty()) {
    const auto first = options.importance.begin() + static_cast<std::ptrdiff_t>(sample.first_column);
    options.importance = {first, first + static_cast<std::ptrdiff_t>(sample.tensor.shape[1])};
  }
  const Tensor coded = find_codec_by_method(method)->encode(sample.tensor, options);
  make_all(coded.components.front().blob);
  return options.report->squared_error;
}

// The squared error of a sample that was encoded, weighted by column, relative to the weights.
double sampled_relative_error(const Sample& sample, const std::string& method, const Quantization& how) {
  EncodeOptions options = encode_options(how, sample.tensor.name, method, 1);
  const auto columns = static_cast<std::size_t>(sample.tensor.shape[1]);
  std::vector<float> weights(columns, 1);
  if (!options.importance.empty()) {
    const auto first = options.importance.begin() + static_cast<std::ptrdiff_t>(sample.first_column);
    options.importance = {first, first + static_cast<std::ptrdiff_t>(columns)};
    weights = options.importance;
  }
  const std::vector<float>
      before = sample.tensor.values<float>(kMaxValuesBytes, 1),
      after = find_codec_by_method(method)->encode(sample.tensor, options).values<float>(kMaxValuesBytes, 1);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double weight = static_cast<double>(weights[i % columns]), value = static_cast<double>(before[i]),
                 off = static_cast<double>(after[i]) - value;
    error += weight * off * off, size += weight * value * value;
  }
  return size == 0 ? 0 : error / size;
}

// A method that a budget may choose for a target, by its full name.
struct Candidate {
  std::string method;
  const Codec* codec;
};

std::vector<Candidate> candidates_for(const Format& target) {
  std::vector<Candidate> candidates;
  for (const Codec& codec : codecs())
    if (codec.budget != nullptr && lists(target.holds.layouts, codec.layout) &&
        (!codec.budget_if_named || !lists(target.holds.layouts, "*")))
      candidates.push_back(
          {fmt::format("{}.{}", codec.name.substr(0, codec.name.find('.')), codec.methods.front()), &codec});
  if (candidates.empty())
    throw Error(ErrorKind::unsupported, "convert.quant",
                fmt::format("{} can hold no layout that a budget of bits chooses from", target.name));
  return candidates;
}

// The choices for one tensor, smallest first.
struct Offers {
  std::vector<std::string> methods;  // empty: the tensor is kept
  std::vector<Price> prices;
  std::vector<double> relative_errors;  // with an objective
};

Offers offers_for(const Tensor& tensor, std::uint64_t kept_bytes, const Quantization& how,
                  const std::vector<Candidate>& candidates, double least_bits, std::size_t tensors,
                  const Objective* objective) {
  const Sample sample = sample_of(as_plain_floats(tensor), tensors);
  const std::uint64_t columns = tensor.shape[tensor.shape.rank() - 1];
  if (const auto found = how.importance.find(tensor.name);
      found != how.importance.end() && found->second.size() != columns)
    throw Error(ErrorKind::usage, "quant.importance",
                fmt::format("{} importance values for {} columns", found->second.size(), columns))
        .about("tensor " + quote(tensor.name));
  const double scale = objective != nullptr ? objective->rate(tensor)
                                            : static_cast<double>(*tensor.shape.elements()) /
                                                  static_cast<double>(*sample.tensor.shape.elements());
  const auto error_of = [&](const std::string& method) {
    return objective != nullptr ? sampled_relative_error(sample, method, how) : sampled_error(sample, method, how);
  };
  std::vector<std::pair<std::string, Price>> all = {{"", {kept_bytes, 0}}};
  for (const auto& [method, codec] : candidates) {
    const std::size_t rank = tensor.shape.rank();
    if (rank < codec->min_rank || rank > codec->max_rank) continue;
    if (tensor.shape[rank - 1] % codec->row_multiple != 0) continue;
    const std::uint64_t bytes = codec->budget(tensor.shape);
    if (static_cast<double>(bytes) * 8 < least_bits * static_cast<double>(*tensor.shape.elements())) continue;
    if (bytes < kept_bytes) all.push_back({method, {bytes, scale * error_of(method)}});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.bytes, a.second.error) < std::pair(b.second.bytes, b.second.error);
  });
  std::vector<Price> prices;
  prices.reserve(all.size());
  for (const auto& [method, price] : all) prices.push_back(price);
  Offers offers;
  for (const std::size_t i : worth_paying(prices)) {
    offers.methods.push_back(all[i].first);
    offers.prices.push_back(prices[i]);
    offers.relative_errors.push_back(scale == 0 ? 0 : prices[i].error / scale);
  }
  return offers;
}

// The bytes of a tensor whose form is decided already: by a rule, or because no method is for it.
std::uint64_t decided_bytes(const Tensor& tensor, const Decision& decision, const Quantization& how,
                            const Target& target, unsigned threads) {
  if (!decision.method.empty()) return coded_bytes(tensor, decision.method, how, threads);
  return target.kept_bytes(decision.type ? cast(as_plain_floats(tensor), *decision.type) : tensor);
}

}  // namespace

void fit_budget(const std::vector<Tensor>& tensors, const std::vector<bool>& open, const Quantization& how,
                const Target& target, unsigned threads, std::vector<Decision>& decisions) {
  const std::vector<Candidate> candidates = candidates_for(target.format);
  std::vector<std::size_t> places;  // indices of the open tensors
  double weights = 0, fixed = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    weights += static_cast<double>(tensors[i].shape.elements().value_or(0));
    if (open[i])
      places.push_back(i);
    else
      fixed += static_cast<double>(decided_bytes(tensors[i], decisions[i], how, target, threads));
  }
  std::vector<Offers> offers(places.size());
  double least = 0;
  const auto find_offers = [&](double least_bits) {
    parallel_for(places.size(), threads, [&](std::size_t i) {
      offers[i] = offers_for(tensors[places[i]], target.kept_bytes(tensors[places[i]]), how, candidates, least_bits,
                             places.size(), target.objective);
    });
    least = fixed;
    for (const Offers& offer : offers) least += static_cast<double>(offer.prices.front().bytes);
  };
  find_offers(std::min(kLeastShare * *how.bits, kFewBits));
  if (least > *how.bits * weights / 8) find_offers(0);

  std::vector<std::vector<Price>> lists;
  lists.reserve(offers.size());
  for (const Offers& offer : offers) lists.push_back(offer.prices);
  const double left = std::min(*how.bits * weights / 8 - fixed, 0x1p62);
  const auto choice = left < 0 ? std::nullopt : least_error(lists, static_cast<std::uint64_t>(left));
  if (!choice)
    throw Error(
        ErrorKind::usage, "quantize.bits",
        fmt::format(
            "a budget of {} bits per weight is too small; the smallest methods plus the kept tensors need {:.3f}",
            *how.bits, weights == 0 ? 0 : least * 8 / weights));
  for (std::size_t i = 0; i < places.size(); ++i) decisions[places[i]].method = offers[i].methods[(*choice)[i]];
  if (target.objective == nullptr) return;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Tensor& tensor = tensors[places[i]];
    Bargain bargain{
        .tensor = tensor.name, .elements = tensor.shape.elements().value_or(0), .offers = {}, .chosen = (*choice)[i]};
    for (std::size_t o = 0; o < offers[i].prices.size(); ++o)
      bargain.offers.push_back(
          {offers[i].methods[o], offers[i].prices[o].bytes, offers[i].relative_errors[o], offers[i].prices[o].error});
    target.objective->report(std::move(bargain));
  }
}

}  // namespace tare::recipe
