// Weights of columns: a file with a vector for each tensor, or what llama.cpp measures (an imatrix).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/printable.hpp"
#include "io/metadata.hpp"
#include "tare/elements.hpp"
#include "tare/quantize.hpp"

namespace tare {
namespace {

constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 26;
constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";

class ImportanceReader {
 public:
  explicit ImportanceReader(const std::string& path) : path_(path) {}

  // A vector, or a matrix of one row, for each tensor.
  Importance vectors(const Model& model) const {
    Importance all;
    for (const Tensor& stored : model.tensors) {
      const Tensor tensor = to_dense(stored);
      const Component* const data = tensor.component("data");
      const bool row = tensor.shape.rank() == 1 || (tensor.shape.rank() == 2 && tensor.shape[0] == 1);
      if (!row || data == nullptr || !is_numeric(data->dtype, data->type))
        throw bad("importance.shape", stored,
                  fmt::format("weights of columns are a vector of numbers; this is {} of shape {}", dtype_name(stored),
                              stored.shape.text()));
      require_columns(stored);
      all[tensor.name] = checked(stored, numbers_of(tensor));
    }
    return all;
  }

  // Sums of squares NAME.in_sum2 [experts][columns] and how many were added, NAME.counts [experts]. A row of experts has one
  // set of weights here: the mean of theirs.
  Importance sums(const Model& model) const {
    Importance all;
    for (const Tensor& stored : model.tensors) {
      if (!stored.name.ends_with(kSums)) continue;
      const std::string name = stored.name.substr(0, stored.name.size() - kSums.size());
      const Tensor* const counts = model.tensor(name + std::string(kCounts));
      const std::uint64_t experts = stored.shape.rank() == 2 ? stored.shape[0] : 1;
      if (counts == nullptr || stored.shape.rank() == 0 || counts->shape.elements() != experts)
        throw bad("importance.shape", stored, "sums without as many counts");
      require_columns(stored);
      const std::vector<double> sums = numbers_of(to_dense(stored)), times = numbers_of(to_dense(*counts));
      const std::size_t columns = experts == 0 ? 0 : sums.size() / static_cast<std::size_t>(experts);
      std::vector<double> weights(columns);
      for (std::size_t e = 0; e < experts; ++e)
        for (std::size_t c = 0; c < columns; ++c)
          weights[c] += (times[e] > 0 ? sums[e * columns + c] / times[e] : 1) / static_cast<double>(experts);
      all[name] = checked(stored, weights);
    }
    return all;
  }

  // i32 entries, and of each i32 length, name, i32 calls, i32 values, f32 for each value, the sum over the calls.
  Importance legacy(const Source& source) const {
    io::Window window(source, std::size_t{64} << 10);
    std::uint64_t at = 0;
    const auto take = [&](std::uint64_t count) {
      if (count > source.size() - at)
        throw Error(ErrorKind::corrupt, "importance.truncated",
                    fmt::format("{} bytes expected, the file has {} left", count, source.size() - at))
            .in(path_)
            .at(at);
      const auto bytes = window.get(at, count);
      at += count;
      return bytes;
    };
    const auto count = [&] {
      const auto number = load_le<std::int32_t>(take(4).data());
      if (number < 0)
        throw Error(ErrorKind::corrupt, "importance.truncated", fmt::format("a count of {}", number))
            .in(path_)
            .at(at - 4);
      return static_cast<std::uint64_t>(number);
    };
    Importance all;
    for (std::uint64_t left = count(); left > 0; --left) {
      const auto name = take(count());
      Tensor tensor;
      tensor.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
      const std::uint64_t calls = count(), values = count();
      if (values > kMostColumns)
        throw bad("importance.shape", tensor, fmt::format("more than {} columns", kMostColumns));
      const auto bytes = take(4 * values);
      std::vector<double> weights(static_cast<std::size_t>(values));
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] =
            static_cast<double>(load_le<float>(bytes.data() + 4 * i)) / static_cast<double>(calls > 0 ? calls : 1);
      all[tensor.name] = checked(tensor, weights);
    }
    return all;
  }

 private:
  Error bad(std::string_view rule, const Tensor& tensor, std::string_view sentence) const {
    return Error(ErrorKind::corrupt, rule, sentence).in(path_).about("tensor " + quote(tensor.name));
  }
  void require_columns(const Tensor& tensor) const {
    if (tensor.shape.elements().value_or(kMostColumns + 1) > kMostColumns)
      throw bad("importance.shape", tensor, fmt::format("more than {} columns", kMostColumns));
  }
  static std::vector<double> numbers_of(const Tensor& tensor) {
    std::vector<double> numbers;
    for_each_element_run(tensor,
                         [&](std::span<const double> run) { numbers.insert(numbers.end(), run.begin(), run.end()); });
    return numbers;
  }
  std::vector<float> checked(const Tensor& tensor, const std::vector<double>& numbers) const {
    std::vector<float> weights;
    weights.reserve(numbers.size());
    for (const double value : numbers) {
      if (!std::isfinite(value) || value < 0)
        throw bad("importance.value", tensor,
                  fmt::format("weight {} of column {} is not a finite number of at least 0", value, weights.size()));
      weights.push_back(f64_to_f32(value));
    }
    return weights;
  }

  const std::string& path_;
};

bool is_measured(const Model& model) {
  return std::ranges::any_of(model.tensors, [](const Tensor& tensor) { return tensor.name.ends_with(kSums); });
}

}  // namespace

Importance read_importance(const std::string& path, const ReadOptions& options) {
  const ImportanceReader reader(path);
  const SourcePtr source = open_file(path, options.access);
  // The older form has no magic. It is what the name says, or what is nothing else.
  const bool known = std::ranges::any_of(
      formats(), [&](const Format& format) { return format.recognize != nullptr && format.recognize(*source); });
  if (!known) {
    if (path.ends_with(".dat")) return reader.legacy(*source);
    try {
      return reader.legacy(*source);
    } catch (const Error&) {
      // `open` says better what it is.
    }
  }
  const Model model = open(path, options);
  model.refuse_broken();
  return is_measured(model) ? reader.sums(model) : reader.vectors(model);
}

}  // namespace tare
