// Reads weights of columns: a file with a vector for each tensor, or llama.cpp's measurements (an imatrix).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/format.hpp"
#include "io/metadata.hpp"
#include "tare/elements.hpp"
#include "tare/quantize.hpp"

namespace tare {
namespace {

constexpr std::uint64_t kMostColumns = std::uint64_t{1} << 26;
constexpr std::string_view kSums = ".in_sum2", kCounts = ".counts";

class ImportanceReader {
 public:
  // `most`: bytes that all weights may take. Elements of one bit or byte become floats here, so the limit on what
  // `open` decodes does not bound them.
  ImportanceReader(const std::string& path, std::uint64_t most) : path_(path), most_(most) {}

  // Reads a vector, or a matrix of one row, for each tensor.
  Importance vectors(const Model& model) {
    Importance all;
    for (const Tensor& stored : model.tensors) {
      const Tensor tensor = to_dense(stored);
      const Component* const data = tensor.component("data");
      const bool row = tensor.shape.rank() == 1 || (tensor.shape.rank() == 2 && tensor.shape[0] == 1);
      if (!row || data == nullptr || !is_numeric(data->dtype, data->type))
        throw bad("importance.shape", stored,
                  fmt::format("weights of columns are a vector of numbers; this is {} of shape {}", dtype_name(stored),
                              stored.shape.text()));
      require_columns(stored, sizeof(float));
      std::vector<float> weights;
      weights.reserve(*tensor.shape.elements());
      for_each_element_run(tensor, [&](std::span<const double> run) { add_checked(stored, run, weights); });
      all[tensor.name] = std::move(weights);
    }
    return all;
  }

  // Reads sums of squares NAME.in_sum2 [experts][columns] and the number of summands NAME.counts [experts]. A stack of
  // experts has one set of weights here: the mean of theirs.
  Importance sums(const Model& model) {
    Importance all;
    for (const Tensor& stored : model.tensors) {
      if (!stored.name.ends_with(kSums)) continue;
      const std::string name = stored.name.substr(0, stored.name.size() - kSums.size());
      const Tensor* const counts = model.tensor(name + std::string(kCounts));
      const std::uint64_t experts = stored.shape.rank() == 2 ? stored.shape[0] : 1;
      if (counts == nullptr || stored.shape.rank() == 0 || counts->shape.elements() != experts)
        throw bad("importance.shape", stored, "sums without as many counts");
      require_columns(stored, sizeof(double) + sizeof(float));
      require_columns(*counts, sizeof(double));
      const std::vector<double> times = numbers_of(to_dense(*counts));
      const auto columns = experts == 0 ? 0 : *stored.shape.elements() / experts;
      std::vector<double> weights(columns);
      std::size_t e = 0, c = 0;
      for_each_element_run(to_dense(stored), [&](std::span<const double> run) {
        for (const double sum : run) {
          weights[c] += (times[e] > 0 ? sum / times[e] : 1) / static_cast<double>(experts);
          if (++c == columns) c = 0, ++e;
        }
      });
      add_checked(stored, weights, all[name]);
    }
    return all;
  }

  // Layout: i32 number of entries, then for each: i32 length, name, i32 calls, i32 number of values, f32 for each
  // value, summed over the calls.
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
      tensor.name.assign(as_text(name));
      const std::uint64_t calls = count(), values = count();
      if (values > kMostColumns)
        throw bad("importance.shape", tensor, fmt::format("more than {} columns", kMostColumns));
      const auto bytes = take(4 * values);
      std::vector<double> weights(static_cast<std::size_t>(values));
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] =
            static_cast<double>(load_le<float>(bytes.data() + 4 * i)) / static_cast<double>(calls > 0 ? calls : 1);
      std::vector<float>& checked = all[tensor.name];
      checked.clear();  // the last of two entries with one name counts
      add_checked(tensor, weights, checked);
    }
    return all;
  }

 private:
  Error bad(std::string_view rule, const Tensor& tensor, std::string_view sentence) const {
    return Error(ErrorKind::corrupt, rule, sentence).in(path_).about("tensor " + quote(tensor.name));
  }
  // `bytes`: size of each element in memory.
  void require_columns(const Tensor& tensor, std::uint64_t bytes) {
    const std::uint64_t elements = tensor.shape.elements().value_or(kMostColumns + 1);
    if (elements > kMostColumns)
      throw bad("importance.shape", tensor, fmt::format("more than {} columns", kMostColumns));
    taken_ += bytes * elements;
    if (taken_ > most_)
      throw Error(
          ErrorKind::limit, "importance.size",
          fmt::format("the weights take {} bytes up to here; a file of this size may ask for {}", taken_, most_))
          .in(path_)
          .about("tensor " + quote(tensor.name));
  }
  static std::vector<double> numbers_of(const Tensor& tensor) {
    std::vector<double> numbers;
    numbers.reserve(*tensor.shape.elements());
    for_each_element_run(tensor,
                         [&](std::span<const double> run) { numbers.insert(numbers.end(), run.begin(), run.end()); });
    return numbers;
  }
  void add_checked(const Tensor& tensor, std::span<const double> numbers, std::vector<float>& weights) const {
    weights.reserve(weights.size() + numbers.size());
    for (const double value : numbers) {
      if (!std::isfinite(value) || value < 0)
        throw bad("importance.value", tensor,
                  fmt::format("weight {} of column {} is not a finite number of at least 0", value, weights.size()));
      weights.push_back(f64_to_f32(value));
    }
  }

  const std::string& path_;
  const std::uint64_t most_;
  std::uint64_t taken_ = 0;
};

bool is_measured(const Model& model) {
  return std::ranges::any_of(model.tensors, [](const Tensor& tensor) { return tensor.name.ends_with(kSums); });
}

}  // namespace

Importance read_importance(const std::string& path, const ReadOptions& options) {
  const SourcePtr source = open_file(path, options.access);
  ImportanceReader reader(path, options.limits.decoded_from(source->size()));
  // The older form has no magic number: a file is taken for it because of its name, or because no format recognises it.
  const bool known = std::ranges::any_of(
      formats(), [&](const Format& format) { return format.recognize != nullptr && format.recognize(*source); });
  if (!known) {
    if (path.ends_with(".dat")) return reader.legacy(*source);
    try {
      return reader.legacy(*source);
    } catch (const Error&) {
      // The error of `open` is more precise.
    }
  }
  const Model model = open(path, options);
  model.refuse_broken();
  return is_measured(model) ? reader.sums(model) : reader.vectors(model);
}

}  // namespace tare
