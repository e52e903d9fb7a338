#include "tare/plan.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/name_map.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "convert/origins.hpp"
#include "convert/refit.hpp"
#include "convert/writable.hpp"
#include "io/descriptor_source.hpp"
#include "io/owner.hpp"
#include "model/pull_blob.hpp"

namespace tare {
namespace {

constexpr std::string_view kPlanKey = "plan", kSourceKey = "source";

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

// Tells a version of the input from the next one: sizes and times of last writing of its files.
std::string stamp_of(const std::vector<SourcePtr>& sources) {
  std::string stamp;
  for (const SourcePtr& source : sources) {
    struct stat status {};
    if (source->descriptor() < 0 || ::fstat(source->descriptor(), &status) != 0) continue;
    stamp += fmt::format("{}:{}.{:09};", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return stamp;
}

// A part decides what the output's weights are, and anybody can put a file or a link of its name into a directory that all may
// write to. So no link is followed, and a part is taken from the user of this process and from root only.
SourcePtr open_part(const std::string& path, Owners owners) {
  io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file && errno == ELOOP)
    throw Error(ErrorKind::io, "plan.part.link", "is a link, which is not followed; its task has to be run again")
        .in(path);
  if (!file)
    throw io::system_error(errno == ENOENT ? "io.open.missing" : "io.open.refused", "cannot open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw io::system_error("io.open.refused", "cannot look at", path, errno);
  if (owners == Owners::trusted && !io::is_trusted(status.st_uid))
    throw Error(
        ErrorKind::io, "plan.part.owner",
        fmt::format("belongs to user {}, not to the user of this process, and may hold anything", status.st_uid))
        .in(path)
        .remedy(Remedy::accept_owners);
  return io::descriptor_source(std::move(file), path);
}

// Whether bytes are compressed in the part as the output will have them.
bool packs_as_parts(const std::string& output, const ConvertOptions& options) {
  return &format_for(output, {options.adapt, options.write, options.to, options.overwrite}) == &part_format();
}

// Compressed in a way that parts have not; the input's own bytes are copied.
bool stays_in_input(const Tensor& tensor) {
  return std::ranges::any_of(tensor.components,
                             [](const Component& c) { return c.blob.encoding() == Encoding::zstd_seekable; });
}

// Whether the bytes of parts are hashed only so that a damaged part is noticed. (Otherwise digests are asked for, or belong to
// bytes that the parts do not have.)
bool guards_parts(const WriteOptions& options) { return !options.digest && !options.zstd_level && !options.unpack; }

// Bytes of a part, with the digest that they came with rather than that of the part; of the same algorithm, if they were
// unpacked for it.
Blob as_planned(const Blob& part, const Blob& planned) {
  const bool same = planned.encoding() == part.encoding() && planned.stored_size() == part.stored_size();
  Digest digest = same ? planned.digest() : Digest();
  if (const DigestAlgorithm own = planned.digest().algorithm(); !same && own != DigestAlgorithm::unknown) {
    Hasher hasher(own);
    pull_blob(part, [&](std::span<const std::byte> bytes) {
      hasher.update(bytes);
      return true;
    });
    digest = hasher.finish();
  }
  return part.encoding() == Encoding::zstd
             ? Blob::zstd(part.source(), part.offset(), part.stored_size(), part.size(), digest)
             : Blob::range(part.source(), part.offset(), part.size(), digest);
}

void verify_parts(const std::vector<Model>& parts, unsigned threads) {
  std::vector<std::pair<const Model*, const Blob*>> blobs;
  for (const Model& part : parts)
    for (const Tensor& tensor : part.tensors)
      for (const Component& component : tensor.components) blobs.emplace_back(&part, &component.blob);
  parallel_for(blobs.size(), threads, [&](std::size_t i) {
    try {
      blobs[i].second->verify();
    } catch (Error& error) {
      throw error.in(blobs[i].first->sources.front()->name());
    }
  });
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
  run.metadata.set(kSourceKey, stamp_of(run.sources));
  try {
    verify_origins(std::move(planned.source), run, options.write.threads);
  } catch (Error& error) {
    throw error.in(input);
  }
  const Format& format = part_format();
  WriteOptions write = options.write;
  if (!packs_as_parts(output, options)) write.zstd_level.reset();  // by whoever puts the parts together
  if (guards_parts(write)) write.digest = DigestAlgorithm::xxh3;
  write.dedup = false;
  write.dialect.clear();
  write.shard_bytes.reset();
  if (write.progress != nullptr) {
    std::uint64_t bytes = 0;
    for (const Tensor& tensor : run.tensors) bytes += tensor.bytes();
    write.progress->expect(bytes);
  }
  const std::unique_ptr<Sink> sink = create_file(path, {.overwrite = true, .follow_links = false});
  try {
    format.write(run, *sink, write);
    run.check_sources();
  } catch (Error& error) {
    run.check_sources();
    throw error.in(error.subject() == Subject::input ? input : path);
  }
  check_stop();
  sink->commit();
}

bool is_part(const std::string& path, const std::string& plan) {
  try {
    return is_of_plan(open(open_part(path, Owners::any)), plan);
  } catch (const Error&) {
    return false;
  }
}

Conversion convert_from_parts(const std::string& input, const std::string& output, const ConvertOptions& options,
                              std::span<const std::string> parts, const std::string& plan, Owners owners) {
  std::vector<Model> models;
  models.reserve(parts.size());
  NameMap<const Tensor*> made;
  for (const std::string& path : parts) {
    models.push_back(open(open_part(path, owners), options.read));
    if (!is_of_plan(models.back(), plan))
      throw Error(ErrorKind::corrupt, "plan.part", "the file is not a part of this plan").in(path);
    for (const Tensor& tensor : models.back().tensors) made.emplace(tensor.name, &tensor);
  }
  if (guards_parts(options.write)) verify_parts(models, options.write.threads);
  ConvertOptions rest = options;
  const bool as_parts = packs_as_parts(output, options);
  if (as_parts) rest.write.zstd_level.reset();  // what is compressed stays so
  return convert_refitted(input, output, rest, [&](Model& model) {
    const std::string stamp = stamp_of(model.sources);
    for (std::size_t i = 0; i < models.size(); ++i) {
      const Value* const made_of = models[i].metadata.find(kSourceKey);
      if (made_of == nullptr || made_of->text() == nullptr || *made_of->text() != stamp)
        throw Error(ErrorKind::io, "plan.source",
                    "was made of another version of the input; its task has to be run again")
            .in(parts[i]);
    }
    for (Tensor& tensor : model.tensors) {
      if (!as_parts && stays_in_input(tensor)) continue;
      const auto found = made.find(tensor.name);
      if (found == made.end())
        throw Error(ErrorKind::usage, "plan.missing", "no part has this tensor")
            .in(output)
            .about("tensor " + quote(tensor.name));
      const Tensor& part = *found->second;
      if (part.shape != tensor.shape || part.layout != tensor.layout || part.bytes() != tensor.bytes())
        throw Error(ErrorKind::corrupt, "plan.part",
                    fmt::format("expected {} of {} in {} bytes, found {} of {} in {} bytes", tensor.layout,
                                tensor.shape.text(), tensor.bytes(), part.layout, part.shape.text(), part.bytes()))
            .in(output)
            .about("tensor " + quote(tensor.name));
      const Tensor planned = std::exchange(tensor, part);
      if (!guards_parts(options.write)) continue;
      for (Component& component : tensor.components)
        if (const Component* const before = planned.component(component.role))
          component.blob = as_planned(component.blob, before->blob);
    }
    for (const Model& part : models)
      model.sources.insert(model.sources.end(), part.sources.begin(), part.sources.end());
  });
}

}  // namespace tare
