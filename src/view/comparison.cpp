// Two models, tensor by tensor: what the second lost, from samples of every tensor, on a thread of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/stopping.hpp"
#include "tare/codec.hpp"
#include "view/endpoints.hpp"
#include "view/fuzzy.hpp"
#include "view/pairing.hpp"
#include "view/reading.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kPiece = 4096, kPieces = 16;  // elements of a tensor that are compared: 65,536
constexpr std::size_t kMostResults = 3000;            // tensors in one answer

struct Compared {
  std::uint64_t count = 0, changed = 0;
  double squared_error = 0, squares_a = 0, squares_b = 0, product = 0, largest = 0;

  void take(std::span<const double> a, std::span<const double> b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
      const double error = b[i] - a[i];
      ++count;
      changed += error != 0;
      squared_error += error * error;
      squares_a += a[i] * a[i];
      squares_b += b[i] * b[i];
      product += a[i] * b[i];
      largest = std::max(largest, std::abs(error));
    }
  }
  double rms() const { return count > 0 ? std::sqrt(squared_error / static_cast<double>(count)) : 0; }
  double relative() const { return squares_a > 0 ? std::sqrt(squared_error / squares_a) : 0; }
  double cosine() const {
    const double norms = std::sqrt(squares_a) * std::sqrt(squares_b);
    return norms > 0 ? std::min(1.0, product / norms) : squares_a == squares_b ? 1 : 0;
  }
};

Compared compare_pair(const Pair& pair) {
  Reading a(pair.tensor_a), b(pair.tensor_b);
  Compared compared;
  const std::uint64_t all = a.elements();
  std::vector<double> x(kPiece), y(kPiece);
  const std::uint64_t pieces = std::min(kPieces, ceil_div(all, kPiece));
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t spread = all > kPiece * kPieces ? (all - kPiece) / (kPieces - 1) * piece : piece * kPiece;
    const auto count = static_cast<std::size_t>(std::min(kPiece, all - spread));
    const auto left = std::span(x).first(count), right = std::span(y).first(count);
    if (!a.read(spread, left) || !b.read(spread, right)) break;
    compared.take(left, right);
  }
  return compared;
}

double bits_of(const Tensor& tensor) {
  const auto elements = tensor.shape.elements();
  return elements && *elements > 0 ? static_cast<double>(tensor.stored_bytes()) * 8 / static_cast<double>(*elements)
                                   : 0;
}

void write_pair(JsonWriter& json, const Pair& pair) {
  const Tensor& shown = pair.a >= 0 || !pair.tensor_a.name.empty() ? pair.tensor_a : pair.tensor_b;
  json.open('{').key("name").text(short_name(shown.name, 200)).key("a");
  pair.a < 0 ? json.null() : json.number(pair.a);
  json.key("b");
  pair.b < 0 ? json.null() : json.number(pair.b);
  json.key("type_a").text(pair.tensor_a.name.empty() ? std::string() : short_name(dtype_name(pair.tensor_a), 60));
  json.key("type_b").text(pair.tensor_b.name.empty() ? std::string() : short_name(dtype_name(pair.tensor_b), 60));
  json.key("elements").number(shown.shape.elements().value_or(0)).key("bytes").number(shown.stored_bytes());
  json.key("bits_a");
  write_number(json, bits_of(pair.tensor_a));
  json.key("bits_b");
  write_number(json, bits_of(pair.tensor_b));
  if (pair.tensor_a.name.empty() || pair.tensor_b.name.empty()) {
    json.key("only_in").text(pair.tensor_a.name.empty() ? "b" : "a").close('}');
    return;
  }
  if (pair.tensor_a.shape != pair.tensor_b.shape) {
    json.key("shapes").open('[').text(short_name(pair.tensor_a.shape.text(), 60));
    json.text(short_name(pair.tensor_b.shape.text(), 60)).close(']').close('}');
    return;
  }
  try {
    const Compared result = compare_pair(pair);
    json.key("compared").number(result.count).key("changed");
    write_number(json, result.count > 0 ? static_cast<double>(result.changed) / static_cast<double>(result.count) : 0);
    json.key("rms");
    write_number(json, result.rms());
    json.key("relative_rms");
    write_number(json, result.relative());
    json.key("cosine");
    json.raw(fmt::format("{:.9g}", std::isfinite(result.cosine()) ? result.cosine() : 0));
    json.key("max_error");
    write_number(json, result.largest);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw;  // stopped
    json.key("problem").text(error.sentence());
  }
  json.close('}');
}

}  // namespace

void compare(const Context& context, const Query& /*query*/, JsonWriter& json) {
  if (context.models.size() < 2) throw Error(ErrorKind::usage, "view.request", "there is no second model");
  write_job(json, context.jobs->find("compare"));
}

void start_compare(const Context& context, const Query& /*query*/, JsonWriter& json) {
  if (context.models.size() < 2) throw Error(ErrorKind::usage, "view.request", "there is no second model");
  write_job(json, context.jobs->start("compare", [a = context.models[0], b = context.models[1],
                                                  pairing = context.pairing](Job& job) {
    // The largest first: what is left out of an answer that has to end somewhere weighs least.
    std::vector<std::size_t> order(pairing->pairs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() > kMostResults) {
      const auto bytes = [&](std::size_t i) {
        return std::max(pairing->pairs[i].tensor_a.stored_bytes(), pairing->pairs[i].tensor_b.stored_bytes());
      };
      std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return bytes(x) > bytes(y); });
      order.resize(kMostResults);
    }
    job.progress.expect(order.size());
    std::string text;
    JsonWriter out(text);
    out.open('{').key("done").boolean(true).key("pairs").number(std::uint64_t{pairing->pairs.size()});
    out.key("renamed").boolean(pairing->renamed).key("sampled").number(kPiece * kPieces).key("tensors").open('[');
    for (const std::size_t i : order) {
      check_stop();
      write_pair(out, pairing->pairs[i]);
      job.progress.advance(1);
    }
    out.close(']').close('}');
    a->check();
    b->check();
    return text;
  }));
}

}  // namespace tare::view
