#include "tare/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/name_map.hpp"
#include "convert/origins.hpp"
#include "convert/refit.hpp"

namespace tare {
namespace {

constexpr std::string_view kPlanKey = "plan";

// One that holds every tensor, whatever the target is.
const Format& part_format() {
  for (const Format& format : formats()) {
    const Capabilities& holds = format.holds;
    if (format.write != nullptr && holds.metadata == Room::tree && holds.tensor_attributes && holds.digests &&
        lists(holds.layouts, "*") && lists(holds.logical_types, "*") && holds.dtypes.size() == kAllDTypes.size())
      return format;
  }
  throw Error(ErrorKind::unsupported, "plan.format", "there is no format that holds every tensor");
}

// The digests of the bytes that a run of tensors is made of. Where tensors have other names in the output, nobody knows
// which those are: then all.
void verify_origins(Model source, const Model& run, unsigned threads) {
  NameSet names, known;
  for (const Tensor& tensor : run.tensors) names.insert(tensor.name);
  for (const Tensor& tensor : source.tensors) known.insert(tensor.name);
  const bool same = std::ranges::all_of(run.tensors, [&](const Tensor& t) { return known.contains(t.name); });
  if (same) std::erase_if(source.tensors, [&](const Tensor& tensor) { return !names.contains(tensor.name); });
  Origins(source).verify_changed(run, threads);
}

bool is_of_plan(const Model& part, const std::string& plan) {
  const Value* const found = part.metadata.find(kPlanKey);
  return found != nullptr && found->text() != nullptr && *found->text() == plan;
}

}  // namespace

std::vector<PlannedTensor> planned_tensors(const std::string& input, const std::string& output,
                                           const ConvertOptions& options) {
  std::vector<PlannedTensor> tensors;
  for (const Tensor& tensor : plan_conversion(input, output, options).model.tensors)
    tensors.push_back({tensor.name, tensor.bytes()});
  return tensors;
}

void write_part(const std::string& input, const std::string& output, const ConvertOptions& options, const Part& part,
                const std::string& path) {
  Planned planned = plan_conversion(input, output, options);
  const std::size_t count = planned.model.tensors.size();
  if (part.first > count || part.count > count - part.first)
    throw Error(
        ErrorKind::usage, "plan.range",
        fmt::format("tensors {} to {} were asked for, the output has {}", part.first, part.first + part.count, count))
        .in(output);
  Model run;
  const auto first = planned.model.tensors.begin() + static_cast<std::ptrdiff_t>(part.first);
  run.tensors.assign(first, first + static_cast<std::ptrdiff_t>(part.count));
  run.sources = planned.source.sources;
  run.metadata.set(kPlanKey, part.plan);
  try {
    verify_origins(std::move(planned.source), run, options.write.threads);
  } catch (Error& error) {
    throw error.in(input);
  }
  const Format& format = part_format();
  WriteOptions write = options.write;
  write.dedup = false;
  write.dialect.clear();
  write.shard_bytes.reset();
  if (write.progress != nullptr) {
    std::uint64_t bytes = 0;
    for (const Tensor& tensor : run.tensors) bytes += tensor.bytes();
    write.progress->expect(bytes);
  }
  const std::unique_ptr<Sink> sink = create_file(path, {.overwrite = true});
  try {
    format.write(run, *sink, write);
    run.check_sources();
  } catch (Error& error) {
    run.check_sources();
    throw error.in(error.subject() == Subject::input ? input : path);
  }
  sink->commit();
}

bool is_part(const std::string& path, const std::string& plan) {
  try {
    return is_of_plan(open(path), plan);
  } catch (const Error&) {
    return false;
  }
}

Conversion convert_from_parts(const std::string& input, const std::string& output, const ConvertOptions& options,
                              std::span<const std::string> parts, const std::string& plan) {
  std::vector<Model> models;
  models.reserve(parts.size());
  NameMap<const Tensor*> made;
  for (const std::string& path : parts) {
    models.push_back(open(path, options.read));
    if (!is_of_plan(models.back(), plan))
      throw Error(ErrorKind::corrupt, "plan.part", "the file is not a part of this plan").in(path);
    for (const Tensor& tensor : models.back().tensors) made.emplace(tensor.name, &tensor);
  }
  ConvertOptions rest = options;
  rest.write.zstd_level.reset();  // what is compressed stays so
  return convert_refitted(input, output, rest, [&](Model& model) {
    for (Tensor& tensor : model.tensors) {
      const auto found = made.find(tensor.name);
      if (found == made.end())
        throw Error(ErrorKind::usage, "plan.missing", "no part has this tensor")
            .in(output)
            .about("tensor " + escape_name(tensor.name));
      const Tensor& part = *found->second;
      if (part.shape != tensor.shape || part.layout != tensor.layout || part.bytes() != tensor.bytes())
        throw Error(ErrorKind::corrupt, "plan.part",
                    fmt::format("expected {} of {} in {} bytes, found {} of {} in {} bytes", tensor.layout,
                                tensor.shape.text(), tensor.bytes(), part.layout, part.shape.text(), part.bytes()))
            .in(output)
            .about("tensor " + escape_name(tensor.name));
      tensor = part;
    }
    for (const Model& part : models)
      model.sources.insert(model.sources.end(), part.sources.begin(), part.sources.end());
  });
}

}  // namespace tare
