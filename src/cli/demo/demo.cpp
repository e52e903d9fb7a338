#include "cli/demo/demo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "convert/adapt.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {
namespace {

struct Step {
  std::string_view file, made_by = "convert";
  std::optional<DType> dtype = {};
  std::string_view method = {};
};
// ALT has no bf16 and widens it; the conversion back asks for bf16 again.
constexpr std::string_view kStart = "mistral/";
constexpr Step kSteps[] = {{"mistral.alt"},
                           {"back/", "convert, bf16", DType::bf16},
                           {"mistral.mcf"},
                           {"mistral.zt"},
                           {"k4.mcf", "quantize, k4", {}, "k4"}};

// Returns whether one has all the fields of the other. A container with fixed fields may return more or fewer.
bool has_fields(const Config& config, const Config& fields) {
  const Map all = config.to_map(), wanted = fields.to_map();
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    const Value* const there = all.find(entry.first);
    return there != nullptr && *there == entry.second;
  });
}
std::string_view kept_of(const Config& now, const Config& start) {
  return now == start ? "same" : has_fields(start, now) ? "part" : "changed";
}
std::string_view kept_of(const Vocabulary& now, const Vocabulary& start) {
  return now == start ? "same" : now.tokens == start.tokens ? "part" : "changed";
}

// Returns whether all numbers are equal, whatever their types.
bool same_values(const Model& a, const Model& b, unsigned threads) {
  Model x, y;
  x.tensors = a.tensors, y.tensors = b.tensors;
  return std::ranges::none_of(diff(x, y, {.threads = threads}).tensors, [](const TensorDifference& found) {
    return found.values_differ || !found.compared || found.only_in.has_value();
  });
}

// Returns the model as the format can hold it: complete if possible, else without what the format refuses. `changes`
// lists the differences. The tensors belong to no architecture, so names are not converted.
Model prepare(Model model, const Format& format, std::vector<std::string>& changes) {
  AdaptOptions options;
  options.keep_names = true;
  std::vector<std::string> refused;
  std::erase_if(model.tensors, [&](const Tensor& tensor) {
    Model one;
    one.tensors.push_back(tensor);
    try {
      static_cast<void>(adapt(one, format, options));
      return false;
    } catch (const Error&) {
      refused.push_back(tensor.name);
      return true;
    }
  });
  if (!refused.empty())
    changes.push_back(fmt::format("{} omitted, of types it cannot hold: {}", counted(refused.size(), "tensor"),
                                  fmt::join(refused, ", ")));
  if (!format.holds.many_tensors && model.tensors.size() > 1) {
    model.tensors.resize(1);
    changes = {fmt::format("takes one tensor, without its name: {}", model.tensors[0].name)};
  }
  const Capabilities& holds = format.holds;
  if (holds.metadata != Room::tree || holds.metadata_keys[0] != "*") options.drop.push_back(ModelPart::metadata);
  if (!holds.config) options.drop.push_back(ModelPart::config);
  if (!holds.vocabulary) options.drop.push_back(ModelPart::vocabulary);
  if (!holds.attachments) options.drop.push_back(ModelPart::attachments);
  Adapted adapted = adapt(std::move(model), format, options);
  // One line for each layout would be too much here, so they are counted.
  std::size_t decoded = 0;
  for (ReportLine& line : weigh(adapted.changes))
    if (line.kind == ChangeKind::decoded)
      ++decoded;
    else
      changes.push_back(std::move(line.full));
  if (decoded > 0) changes.push_back(fmt::format("{} decoded to dense", counted(decoded, "layout")));
  return std::move(adapted.model);
}

// Returns whether everything but the tensors was read back, as far as the format can hold it.
bool same_rest(const Model& written, const Model& read, const Capabilities& holds) {
  return (holds.metadata != Room::tree || written.metadata == read.metadata) &&
         (!holds.config || has_fields(read.config, written.config)) &&
         (!holds.vocabulary || written.vocabulary == read.vocabulary) &&
         (!holds.attachments || written.attachments.size() == read.attachments.size());
}

Visit visit(const Format& format, const Model& original, const std::string& directory, const Arguments& arguments) {
  const unsigned threads = arguments.threads();
  Visit result;
  result.format = &format;
  const Model model = prepare(original, format, result.changes);
  result.tensors = model.tensors.size();
  result.file = fmt::format("demo{}", format.suffixes.empty() ? "" : format.suffixes[0]);
  const std::string path = fmt::format("{}/{}", directory, result.file);
  SaveOptions options;
  options.adapt.keep_names = true;
  options.work.threads = threads;
  if (format.holds.zstd) options.write.zstd_level = 3;
  if (format.holds.digests) options.write.digest = DigestAlgorithm::sha256;
  options.to = format.name;
  options.overwrite = arguments.has("force");
  result.bytes = save(model, path, options).file_bytes;
  result.verified = verify(path, read_options(arguments)).ok(false);

  const std::string written = content_digest(model, {.threads = threads});
  Model there = open(path, read_options(arguments));
  // A container of one tensor has no name for it, and uses the file's name.
  if (!format.holds.many_tensors) there.tensors.at(0).name = model.tensors.at(0).name;
  result.kept = written == content_digest(original, {.threads = threads});
  result.read = written == content_digest(there, {.threads = threads}) && same_rest(model, there, format.holds);
  // Back to the container that holds everything.
  MemorySink sink;
  options.write = {};
  options.to = "zt";
  static_cast<void>(save(std::move(there), sink, options));
  result.back = written == content_digest(open(memory_source(sink.take())), {.threads = threads});
  return result;
}

}  // namespace

Tour demo_tour(const std::string& directory, const Arguments& arguments) {
  const unsigned threads = arguments.threads();
  const auto path_of = [&](std::string_view file) { return fmt::format("{}/{}", directory, file); };
  ConvertOptions options;
  options.read = read_options(arguments);
  options.work.threads = threads;
  options.overwrite = arguments.has("force");
  WriteOptions write = options.write;
  write.shard_bytes = 96 << 10;  // gives two shards
  Conversion done;
  done.file_bytes = find_format("hf")->write_tree(mistral_model(), path_of(kStart), write, options.overwrite);
  const Model start = open(path_of(kStart), options.read);
  const std::string start_digest = content_digest(start, {.threads = threads});
  Tour tour;
  tour.model = fmt::format("{}, {}, {}", counted(start.tensors.size(), "tensor"), size_text(tensor_bytes(start)),
                           counted(start.vocabulary.tokens.size(), "token"));
  const auto stop_at = [&](std::string_view file, std::string_view made_by) {
    const Model model = open(path_of(file), options.read);
    const std::string digest = content_digest(model, {.threads = threads});
    Stop stop{.file = std::string(file), .made_by = made_by, .bytes = done.file_bytes, .changes = weigh(done.changes)};
    const bool same = digest == start_digest || same_values(start, model, threads);
    stop.weights = digest == start_digest  ? "same"
                   : same                  ? fmt::format("same, as {}", dtype_name(model.tensors.front()))
                   : done.outcomes.empty() ? "changed"
                                           : fmt::format("rms error {:.1f}%", 100 * relative_error(done.outcomes));
    stop.config = kept_of(model.config, start.config);
    stop.tokens = kept_of(model.vocabulary, start.vocabulary);
    stop.verified = verify(path_of(file), read_options(arguments)).ok(false);
    // Only a change since the previous stop needs an explanation.
    const bool as_before =
        same &&
        (tour.stops.empty() || (stop.config == tour.stops.back().config && stop.tokens == tour.stops.back().tokens));
    stop.good = stop.verified && (as_before || !done.changes.empty());
    tour.stops.push_back(std::move(stop));
  };
  stop_at(kStart, "-");
  tour.stops.back().weights = dtype_name(start.tensors.front());
  for (const Step& step : kSteps) {
    options.adapt.dtype = step.dtype;
    options.adapt.quant.method = step.method;
    done = convert(path_of(tour.stops.back().file), path_of(step.file), options);
    stop_at(step.file, step.made_by);
  }
  return tour;
}

std::vector<Visit> visit_containers(const std::string& directory, const Arguments& arguments) {
  const Model model = demo_model();
  std::vector<Visit> visits;
  for (const Format& format : formats()) {
    if (!is_writable(format)) continue;
    const std::string_view own = format.holds.architecture;
    visits.push_back(visit(format, own.empty() ? model : tiny_llama_model(), directory, arguments));
    if (!own.empty()) visits.back().changes.push_back(fmt::format("takes a model of its own, a {}", own));
  }
  return visits;
}

}  // namespace tare::cli
