#include "cli/demo/containers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/change_report.hpp"
#include "cli/demo/compare.hpp"
#include "cli/demo/model.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {
namespace {

// The model's tensors belong to no architecture, so names are not converted.
const AdaptOptions kKeepNames = [] {
  AdaptOptions options;
  options.keep_names = true;
  return options;
}();

// Returns the parts of the model that the format cannot hold, by its row.
std::vector<ModelPart> without_room(const Model& model, const Capabilities& holds) {
  std::vector<ModelPart> drop;
  const auto fits = [&](const Map::Entry& entry) {
    const auto& keys = holds.metadata_keys;
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](auto key) { return key == "*" || key == entry.first; });
    return known &&
           (holds.metadata == Room::tree || (holds.metadata == Room::strings && entry.second.text() != nullptr));
  };
  if (!std::all_of(model.metadata.begin(), model.metadata.end(), fits)) drop.push_back(ModelPart::metadata);
  if (!model.config.empty() && !holds.config) drop.push_back(ModelPart::config);
  if (!model.vocabulary.empty() && !holds.vocabulary) drop.push_back(ModelPart::vocabulary);
  if (!model.attachments.empty() && !holds.attachments) drop.push_back(ModelPart::attachments);
  return drop;
}

// Returns the model as the format can hold it: complete if possible, else without what the format refuses. `changes`
// lists the differences.
Model prepare(const Model& original, const Format& format, std::vector<std::string>& changes) {
  Model model = original;
  AdaptOptions options;
  options.keep_names = true;
  options.drop = without_room(original, format.holds);
  std::vector<std::string> refused;
  std::erase_if(model.tensors, [&](const Tensor& tensor) {
    Model one;
    one.tensors.push_back(tensor);
    try {
      (void)adapt(one, format, kKeepNames);
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
  Adapted adapted = adapt(std::move(model), format, options);
  // One line for each layout would be too much here, so they are counted.
  std::size_t decoded = 0;
  for (ReportLine& line : weigh(adapted.changes)) {
    if (line.kind == ChangeKind::decoded)
      ++decoded;
    else
      changes.push_back(std::move(line.full));
  }
  if (decoded > 0) changes.push_back(fmt::format("{} decoded to dense", counted(decoded, "layout")));
  return std::move(adapted.model);
}

std::uint64_t write_file(const Model& model, const Format& format, const std::string& path,
                         const Arguments& arguments) {
  WriteOptions options;
  options.threads = arguments.threads();
  if (format.holds.zstd) options.zstd_level = 3;
  if (format.holds.digests) options.digest = DigestAlgorithm::sha256;
  if (format.write == nullptr) return format.write_tree(model, path, options, arguments.has("force"));
  const auto sink = create_file(path, {.overwrite = arguments.has("force"), .durable = false});
  format.write(model, *sink, options);
  const std::uint64_t bytes = sink->position();
  sink->commit();
  return bytes;
}

// Returns whether everything but the tensors was read back, as far as the format can hold it.
bool same_rest(const Model& a, const Model& b, const Capabilities& holds) {
  return (holds.metadata != Room::tree || a.metadata == b.metadata) &&
         (!holds.config || came_back(a.config, b.config)) && (!holds.vocabulary || a.vocabulary == b.vocabulary) &&
         (!holds.attachments || a.attachments.size() == b.attachments.size());
}

Visit visit(const Format& format, const Model& original, const Format& home, const std::string& directory,
            const Arguments& arguments) {
  const unsigned threads = arguments.threads();
  Visit result;
  result.format = &format;
  const Model model = prepare(original, format, result.changes);
  result.tensors = model.tensors.size();
  result.file = fmt::format("demo{}", format.suffixes.empty() ? "" : format.suffixes[0]);
  const std::string path = fmt::format("{}/{}", directory, result.file);
  result.bytes = write_file(model, format, path, arguments);

  const std::string written = content_digest(model, threads);
  Model there = open(path, read_options(arguments));
  // A container of one tensor has no name for it, and uses the file's name.
  if (!format.holds.many_tensors) there.tensors.at(0).name = model.tensors.at(0).name;
  result.kept = written == content_digest(original, threads);
  result.read = content_digest(there, threads) == written && same_rest(model, there, format.holds);

  VerifyOptions verify_options;
  verify_options.read = read_options(arguments);
  verify_options.threads = threads;
  const Verification verification = verify(path, verify_options);
  result.verified = verification.ok(false);
  result.findings = verification.count(Severity::error) + verification.count(Severity::warning) > 0;

  MemorySink sink;
  const Adapted returned = adapt(there, home, kKeepNames);
  home.write(returned.model, sink, {});
  result.back = content_digest(open(memory_source(sink.take())), threads) == written;
  return result;
}

// Returns the first container that holds the model unchanged.
const Format& home_of(const Model& model) {
  for (const Format& format : formats()) {
    if (format.write == nullptr) continue;
    try {
      if (adapt(model, format, kKeepNames).changes.empty()) return format;
    } catch (const Error&) {
      continue;  // it refuses the model
    }
  }
  throw Error(ErrorKind::unsupported, "cli.demo", "no container holds the whole model");
}

}  // namespace

std::vector<Visit> visit_containers(const std::string& directory, const Arguments& arguments) {
  const Model model = demo_model();
  const Format& home = home_of(model);
  std::vector<Visit> visits;
  for (const Format& format : formats()) {
    if (!is_writable(format)) continue;
    const std::string_view architecture = format.holds.architecture;
    visits.push_back(
        visit(format, architecture.empty() ? model : demo_model(architecture), home, directory, arguments));
    if (!architecture.empty())
      visits.back().changes.push_back(fmt::format("takes a model of its own, a {}", architecture));
  }
  return visits;
}

}  // namespace tare::cli
