#include "cli/demo/tour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "cli/demo/compare.hpp"
#include "cli/demo/model.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {
namespace {

struct Step {
  std::string_view file;
  std::optional<DType> dtype = {};
  std::string_view method = {};
};
// ALT has no bf16 and widens it; the conversion back asks for bf16 again.
constexpr std::string_view kStart = "mistral/";
constexpr Step kSteps[] = {
    {"mistral.alt"}, {"back/", DType::bf16}, {"mistral.mcf"}, {"mistral.zt"}, {"k4.mcf", {}, "k4"}};
constexpr std::uint64_t kShardBytes = 96 << 10;  // gives two shards

std::uint64_t bytes_at(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return std::filesystem::file_size(path);
  std::uint64_t total = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) total += entry.file_size();
  return total;
}

std::string command_of(const Step& step) {
  if (!step.method.empty()) return fmt::format("quantize, {}", step.method);
  return step.dtype ? fmt::format("convert, {}", name_of(*step.dtype)) : "convert";
}

Kept compare(const Config& now, const Config& start) {
  if (now == start) return Kept::same;
  return came_back(now, start) ? Kept::part : Kept::changed;
}

Kept compare(const Vocabulary& now, const Vocabulary& start) {
  if (now == start) return Kept::same;
  return now.tokens == start.tokens ? Kept::part : Kept::changed;
}

// Returns whether all numbers are equal, whatever their types.
bool same_values(const Model& a, const Model& b, unsigned threads) {
  Model x, y;
  x.tensors = a.tensors, y.tensors = b.tensors;
  const Difference found = diff(x, y, threads);
  return std::ranges::none_of(
      found.tensors, [](const TensorDifference& t) { return t.values_differ || !t.compared || t.only_in.has_value(); });
}

// Returns the root mean square of the errors in percent of that of the weights.
double relative_error(const std::vector<TensorOutcome>& outcomes) {
  double squared_error = 0, squared_sum = 0;
  for (const TensorOutcome& outcome : outcomes) {
    if (outcome.report == nullptr) continue;
    squared_error += outcome.report->squared_error;
    squared_sum += outcome.report->squared_sum;
  }
  return squared_sum == 0 ? 0 : 100 * std::sqrt(squared_error / squared_sum);
}

class Traveller {
 public:
  Traveller(const std::string& directory, const Arguments& arguments) : directory_(directory), arguments_(arguments) {}

  Tour travel() {
    WriteOptions write;
    write.threads = arguments_.threads();
    write.shard_bytes = kShardBytes;
    find_format("hf")->write_tree(mistral_model(), path_of(kStart), write, arguments_.has("force"));
    before_ = start_ = open_at(kStart);
    digest_before_ = digest_ = content_digest(start_, arguments_.threads());
    Tour tour;
    tour.model = fmt::format("{}, {}, {}", counted(start_.tensors.size(), "tensor"), size_text(tensor_bytes(start_)),
                             counted(start_.vocabulary.tokens.size(), "token"));
    tour.stops.push_back(stop_at({kStart}, {}));
    tour.stops.back().weights = dtype_name(start_.tensors.front());
    std::string_view from = kStart;
    for (const Step& step : kSteps) {
      tour.stops.push_back(stop_at(step, convert_to(step, from)));
      from = step.file;
    }
    return tour;
  }

 private:
  std::string path_of(std::string_view file) const { return fmt::format("{}/{}", directory_, file); }
  Model open_at(std::string_view file) const { return open(path_of(file), read_options(arguments_)); }

  Conversion convert_to(const Step& step, std::string_view from) const {
    ConvertOptions options;
    options.read = read_options(arguments_);
    options.write.threads = options.adapt.threads = arguments_.threads();
    options.adapt.dtype = step.dtype;
    options.adapt.quant.method = step.method;
    options.overwrite = arguments_.has("force");
    return convert(path_of(from), path_of(step.file), options);
  }

  Stop stop_at(const Step& step, const Conversion& done) {
    const Model model = open_at(step.file);
    const std::string digest = content_digest(model, arguments_.threads());
    Stop stop;
    stop.file = step.file;
    stop.made_by = command_of(step);
    stop.bytes = bytes_at(path_of(step.file));
    stop.changes = weigh(done.changes);
    stop.config = compare(model.config, start_.config);
    stop.tokens = compare(model.vocabulary, start_.vocabulary);
    stop.weights_same = digest == digest_ || same_values(start_, model, arguments_.threads());
    if (stop.weights_same)
      stop.weights = digest == digest_ ? "same" : fmt::format("same, as {}", dtype_name(model.tensors.front()));
    else
      stop.weights = step.method.empty() ? "changed" : fmt::format("rms error {:.1f}%", relative_error(done.outcomes));
    VerifyOptions verify_options;
    verify_options.read = read_options(arguments_);
    verify_options.threads = arguments_.threads();
    stop.verified = verify(path_of(step.file), verify_options).ok(false);
    // Only a change since the previous stop needs an explanation.
    const bool as_before =
        digest == digest_before_ && model.config == before_.config && model.vocabulary == before_.vocabulary;
    stop.good = stop.verified && (as_before || !done.changes.empty());
    before_ = model;
    digest_before_ = digest;
    return stop;
  }

  const std::string& directory_;
  const Arguments& arguments_;
  Model start_, before_;
  std::string digest_, digest_before_;
};

}  // namespace

Tour demo_tour(const std::string& directory, const Arguments& arguments) {
  return Traveller(directory, arguments).travel();
}

}  // namespace tare::cli
