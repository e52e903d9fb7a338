// A wrong block of 32 weights is 3e-6 of the squares of a matrix of 4096 x 4096, far less than what any type rounds away.
// So each block is compared by itself with the worst that the two types can do to it, and the whole with what they do on
// average.
//
// Floats: half a unit in the last place of each element, and twice that for programs that truncate.
// Codes with scales: the step is a part of the largest element under the scale. Scales belong to a part of a row, so a
// block is compared with the largest block of its row; if there are too few of them for that, with the largest element of
// the tensor.
// Where scales have few bits, small weights have no codes but zero and the smallest numbers that the tensor has.
// Any type: a block that is nearly the opposite of what it was is wrong, however coarse the type.
#include "run/weight_difference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"
#include "model/element_types.hpp"
#include "tare/codec.hpp"

namespace tare::run {
namespace {

constexpr std::size_t kBlock = 32;
// Norms that another container keeps with 1 added.
constexpr double kSameWeights = 1e-6;
// Quantizers choose between close candidates; values with one sign have half the precision.
constexpr double kMostOfAverage = 3, kMostOfWorst = 2, kMostOfStep = 2.2;
// The distance of a block from its opposite is twice its size. Rounding hardly turns a sign.
constexpr double kOpposite = 1.8;
constexpr std::size_t kFewElements = 16;  // rounding may turn all signs of fewer

// What a type does to weights. All zero: nothing.
struct Rounding {
  double of_element = 0;  // relative to each element, at most: floats
  double smallest = 0;    // absolute, at most: the smallest numbers of a type, or of the scales of codes
  double average = 0;     // relative to all, as a root mean square
  double of_row = 0;      // relative to the largest block of a row, at most: codes
  double of_tensor = 0;   // relative to the largest element, at most: codes with few scales
  bool codes_a = false, codes_b = false;

  bool is_coded() const { return codes_a || codes_b; }
};

const ElementType* float_type(const Component* component) {
  const ElementType* const type = component == nullptr ? nullptr : element_type(component->dtype, component->type);
  return type == nullptr || type->coding.mantissa_bits == 0 ? nullptr : type;
}

void add_float(const Coding& coding, Rounding& to) {
  const double unit = std::ldexp(1.0, -1 - static_cast<int>(coding.mantissa_bits));
  to.of_element += unit, to.average = std::hypot(to.average, unit);
}

void add_codes(const Tensor& tensor, const Weight& weight, Rounding& to) {
  const double elements = static_cast<double>(std::max<std::uint64_t>(1, tensor.shape.elements().value_or(1))),
               bits = std::min(16.0, 8 * static_cast<double>(tensor.bytes()) / elements);
  // What the bits allow with one scale for normally distributed weights.
  const double average = 2.5 * std::exp2(-bits);
  to.average = std::hypot(to.average, average);
  to.of_row += 2 * average;
  to.smallest += std::exp2(bits - 20);
  // Codes have whole bits; the rest is scales, usually of 16 bits.
  const double scales = bits - std::floor(bits);
  if (scales * static_cast<double>(weight.columns) < 16) to.of_tensor += kMostOfStep * std::exp2(-std::floor(bits));
  if (const ElementType* const type = float_type(tensor.component("data"))) add_float(type->coding, to);
}

void add_rounding(const Weight& weight, bool& codes, Rounding& to) {
  const Tensor& tensor = weight.tensor;
  const Codec* const codec = find_codec(tensor.layout);
  codes = codec != nullptr && !codec->name.empty();
  if (codes) return add_codes(tensor, weight, to);
  const Component* const data = tensor.component("data");
  const ElementType* const type = float_type(data != nullptr ? data : tensor.component("values"));
  if (type == nullptr) return;
  add_float(type->coding, to);
  to.smallest += std::ldexp(1.0, std::max(-1000, type->coding.lowest_exponent()));
}

struct Block {
  double distance = 0, a = 0, b = 0, rounding = 0;  // sums of squares
  std::size_t elements = 0;
};

// The largest and smallest magnitudes in two tensors.
struct Extremes {
  double largest = 0;                                   // the larger of the two counts
  double smallest_a = INFINITY, smallest_b = INFINITY;  // zeros do not count

  void add(double a, double b) {
    largest = std::max({largest, a, b});
    if (a != 0) smallest_a = std::min(smallest_a, a);
    if (b != 0) smallest_b = std::min(smallest_b, b);
  }
  void add(const Extremes& other) {
    largest = std::max(largest, other.largest);
    smallest_a = std::min(smallest_a, other.smallest_a), smallest_b = std::min(smallest_b, other.smallest_b);
  }
  // What such codes can do to any element, at most.
  double of_element(const Rounding& rounding) const {
    double most = rounding.of_tensor * largest;
    if (rounding.codes_a && std::isfinite(smallest_a)) most += smallest_a;
    if (rounding.codes_b && std::isfinite(smallest_b)) most += smallest_b;
    return most;
  }
};

struct Part {
  double distance = 0, size_a = 0, size_b = 0;
  Extremes extremes;
  std::optional<std::uint64_t> row;
};

class Differences {
 public:
  Differences(const Rounding& rounding, std::size_t columns) : rounding_(rounding), columns_(columns) {
    blocks_.resize(std::max<std::size_t>(1, columns / kBlock));
  }

  // `of_element`: what codes can do to any element, as far as the tensor is known.
  void add_row(const float* x, const float* y, std::uint64_t row, double of_element, Part& part) {
    double most = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const std::size_t begin = i * kBlock, end = i + 1 == blocks_.size() ? columns_ : begin + kBlock;
      Block& block = blocks_[i];
      block = {.elements = end - begin};
      for (std::size_t j = begin; j < end; ++j) {
        const double a = static_cast<double>(x[j]), b = static_cast<double>(y[j]),
                     rounding = rounding_.of_element * std::max(std::fabs(a), std::fabs(b)) + rounding_.smallest;
        block.distance += (b - a) * (b - a), block.a += a * a, block.b += b * b, block.rounding += rounding * rounding;
        part.extremes.add(std::fabs(a), std::fabs(b));
      }
      part.distance += block.distance, part.size_a += block.a, part.size_b += block.b;
      most = std::max({most, block.a, block.b});
    }
    if (!part.row &&
        std::ranges::any_of(blocks_, [&](const Block& block) { return is_beyond(block, most, of_element); }))
      part.row = row;
  }

 private:
  // `most`: the square of the largest block of the row.
  bool is_beyond(const Block& block, double most, double of_element) const {
    if (block.distance == 0) return false;
    const double distance = std::sqrt(block.distance), elements = static_cast<double>(block.elements),
                 expected = kMostOfWorst * std::sqrt(block.rounding) +
                            (rounding_.of_row * kMostOfAverage + kSameWeights) * std::sqrt(most) +
                            of_element * std::sqrt(elements);
    if (!(distance <= expected)) return true;
    return block.elements >= kFewElements && distance > kOpposite * std::sqrt(std::max(block.a, block.b)) &&
           distance > kMostOfWorst * rounding_.smallest * std::sqrt(elements);
  }

  const Rounding rounding_;
  const std::size_t columns_;
  std::vector<Block> blocks_;
};

Part measure(const Weight& a, const Weight& b, const Rounding& rounding, double of_element, const std::string& place,
             unsigned threads) {
  const std::uint64_t step = std::max<std::uint64_t>(1, (std::uint64_t{1} << 18) / a.columns);
  const auto count = static_cast<std::size_t>((a.rows + step - 1) / step);
  const auto columns = static_cast<std::size_t>(a.columns);
  std::vector<Part> parts(count);
  parallel_for(count, threads, [&](std::size_t part) {
    const std::uint64_t first = part * step, rows = std::min(step, a.rows - first);
    std::vector<float> x(static_cast<std::size_t>(rows) * columns), y(x.size());
    a.read(first, rows, x.data(), place);
    b.read(first, rows, y.data(), place);
    Differences differences(rounding, columns);
    for (std::size_t row = 0; row < rows; ++row)
      differences.add_row(x.data() + row * columns, y.data() + row * columns, first + row, of_element, parts[part]);
  });
  Part all;
  for (const Part& part : parts) {
    all.distance += part.distance, all.size_a += part.size_a, all.size_b += part.size_b;
    all.extremes.add(part.extremes);
    if (!all.row) all.row = part.row;
  }
  return all;
}

}  // namespace

WeightDifference weight_difference(const Weight& a, const Weight& b, const std::string& place, unsigned threads) {
  if (a.rows != b.rows || a.columns != b.columns) return {.relative = INFINITY, .beyond = true};
  Rounding rounding;
  if (dtype_name(a.tensor) != dtype_name(b.tensor))
    add_rounding(a, rounding.codes_a, rounding), add_rounding(b, rounding.codes_b, rounding);
  Part found = measure(a, b, rounding, 0, place, threads);
  const double of_element = found.extremes.of_element(rounding);
  if (found.row && of_element != 0) found = measure(a, b, rounding, of_element, place, threads);
  WeightDifference made;
  if (found.distance != 0) made.relative = found.size_a == 0 ? INFINITY : std::sqrt(found.distance / found.size_a);
  const double elements = std::sqrt(static_cast<double>(a.rows) * static_cast<double>(a.columns)),
               size = std::sqrt(std::max(found.size_a, found.size_b)), whole = std::sqrt(found.distance);
  double expected =
      (kMostOfAverage * rounding.average + kSameWeights) * size + (rounding.smallest + of_element) * elements;
  // Zeros in place of all weights would differ by `size`: no rounding excuses more than that.
  if (rounding.is_coded()) expected = std::min(expected, size);
  made.row = found.row;
  made.beyond = found.row || !(whole <= expected);
  return made;
}

}  // namespace tare::run
