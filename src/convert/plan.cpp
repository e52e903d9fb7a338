#include "tare/plan.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/budget.hpp"
#include "base/name_map.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "convert/origins.hpp"
#include "convert/refit.hpp"
#include "convert/writable.hpp"
#include "formats/open_as.hpp"
#include "formats/registry_limits.hpp"
#include "io/descriptor_source.hpp"
#include "io/directory.hpp"
#include "io/input_files.hpp"
#include "io/owner.hpp"
#include "model/pull_blob.hpp"
#include "resources/adapter.hpp"

namespace tare {
namespace {

constexpr std::string_view kPlanKey = "plan", kSourceKey = "source";

// A format that holds every tensor, whatever the target is.
const Format& part_format() {
  for (const Format& format : formats()) {
    const Capabilities& holds = format.holds;
    if (format.write != nullptr && holds.metadata == Room::tree && holds.tensor_attributes && holds.digests &&
        lists(holds.layouts, "*") && lists(holds.logical_types, "*") && holds.dtypes.size() == kAllDTypes.size())
      return format;
  }
  throw Error(ErrorKind::unsupported, "plan.format", "there is no format that holds every tensor");
}

// Checks the digests of the bytes that a run of tensors is made of. The writer checks those that it copies.
void verify_origins(const Model& run, unsigned threads) {
  std::vector<const Blob*> made;
  for (const Tensor& tensor : run.tensors)
    for (const Component& component : tensor.components)
      if (component.blob.source() == nullptr) made.push_back(&component.blob);
  parallel_for(made.size(), threads, [&](std::size_t i) { made[i]->verify(); });
}

// A digest of an adapter's tensors and of the file that states their scale. Adapters are small, so their content is
// compared, not the times of their files, which two adapters may share.
std::string adapter_digest(const std::string& path, ReadOptions read) {
  read.diagnostics = nullptr;
  read.attach.clear();
  const Model adapter = open(path, read);
  Hasher hasher(DigestAlgorithm::xxh3_128);
  const auto add = [&](std::string_view name, const Blob& blob) {
    hasher.update(fmt::format("{}:{} {}\n", name.size(), name, blob.size()));
    pull_blob(blob, [&](std::span<const std::byte> bytes) {
      hasher.update(bytes);
      return true;
    });
  };
  for (const Tensor& tensor : adapter.tensors) {
    hasher.update(fmt::format("{} {}\n", tensor.layout, tensor.shape.text()));
    for (const Component& component : tensor.components)
      add(fmt::format("{} {} {}", tensor.name, component.role, component.type_name()), component.blob);
  }
  hasher.update(to_json(adapter.metadata));
  if (const auto config = resources::adapter_config(adapter)) add("config", *config);
  return hasher.finish().hex();
}

std::string importance_digest(const Importance& importance) {
  Hasher hasher(DigestAlgorithm::xxh3_128);
  for (const auto& [name, weights] : importance) {
    hasher.update(fmt::format("{}:{} {}\n", name.size(), name, weights.size()));
    hasher.update(std::as_bytes(std::span(weights)));
  }
  return hasher.finish().hex();
}

// A digest of samples of the files' bytes. Sizes and times do not distinguish two versions if all times are the same, as in
// a Nix store or with SOURCE_DATE_EPOCH. Small files are read whole; others at their ends and at steps, of which there are
// a few thousand in all, so that a task costs little on a slow disk, too.
std::string samples_digest(const std::vector<SourcePtr>& sources, unsigned threads) {
  constexpr std::uint64_t kWhole = std::uint64_t{1} << 20, kSample = 4096, kLeastStep = 16 * kSample, kMostSteps = 4096;
  struct Piece {
    const Source* source;
    std::uint64_t offset, bytes;
  };
  std::uint64_t all = 0;
  for (const SourcePtr& source : sources) all += source->size();
  const std::uint64_t step = std::max(kLeastStep, all / kMostSteps);
  std::vector<Piece> pieces;
  for (const SourcePtr& source : sources) {
    const std::uint64_t size = source->size();
    const std::uint64_t sample = size <= kWhole ? size : kSample;
    for (std::uint64_t at = 0; at < size; at += size <= kWhole ? size : step)
      pieces.push_back({source.get(), at, std::min(sample, size - at)});
    if (size > kWhole) pieces.push_back({source.get(), size - kSample, kSample});
  }
  std::vector<Digest> digests(pieces.size());
  parallel_for(pieces.size(), threads, [&](std::size_t i) {
    const auto& [source, offset, bytes] = pieces[i];
    Bytes buffer(static_cast<std::size_t>(bytes));
    source->read(offset, buffer);
    digests[i] = digest_of(DigestAlgorithm::xxh3_128, buffer);
  });
  Hasher hasher(DigestAlgorithm::xxh3_128);
  for (const Digest& digest : digests) hasher.update(digest.bytes());
  return hasher.finish().hex();
}

// Identifies a version of the input: sizes, modification times and samples of its files, the adapters, and the weights of
// columns, which come from a file as well.
std::string stamp_of(const std::vector<SourcePtr>& sources, const ConvertOptions& options) {
  std::string stamp;
  for (const std::string& adapter : options.merge) stamp += adapter_digest(adapter, options.read) + ";";
  if (!options.adapt.quant.importance.empty()) stamp += importance_digest(options.adapt.quant.importance) + ";";
  std::vector<SourcePtr> files;
  for (const SourcePtr& source : sources) {
    struct stat status {};
    if (source->descriptor() < 0 || ::fstat(source->descriptor(), &status) != 0) continue;
    stamp += fmt::format("{}:{}.{:09};", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    files.push_back(source);
  }
  return stamp + samples_digest(files, options.work.threads);
}

// A part determines weights of the output, and any user can put a file or a link of its name into a directory that all
// users may write to. So links are not followed, and a part must belong to the user of this process or to root.
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
  io::note_input(status);
  return io::descriptor_source(std::move(file), path);
}

// Returns whether the output's compression is that of the parts.
bool compresses_as_parts(const std::string& output, const ConvertOptions& options) {
  return &format_for(output, {options.adapt, options.write, options.to, options.overwrite, options.work}) ==
         &part_format();
}

// Returns whether a tensor is compressed in a way that parts cannot hold; the input's own bytes are copied.
bool stays_in_input(const Tensor& tensor) {
  return std::ranges::any_of(tensor.components,
                             [](const Component& c) { return c.blob.encoding() == Encoding::zstd_seekable; });
}

// A part ends with a mark and the XXH3 (128 bits) of everything before it: parts travel over networks and disks, and
// the user's options decide which digests the output stores. So every part, including its metadata, is guarded whatever
// the options are.
constexpr std::string_view kPartMark = "tare part: xxh3\n";
constexpr std::size_t kPartDigest = 16, kPartTrailer = kPartMark.size() + kPartDigest;
static_assert(kPartMark.size() == 16);

Digest digest_of_source(const Source& source) {
  Hasher hasher(DigestAlgorithm::xxh3_128);
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(source.size(), std::uint64_t{1} << 20)));
  for (std::uint64_t at = 0; at < source.size();) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), source.size() - at)));
    check_stop();
    source.read(at, part);
    hasher.update(part);
    at += part.size();
  }
  return hasher.finish();
}

// The part without its trailer.
class PartContent final : public Source {
 public:
  explicit PartContent(SourcePtr file)
      : Source(file->name(), file->size() - kPartTrailer), file_(std::move(file)), digest_(read_trailer(*file_)) {}

  // Throws `plan.part.damaged` unless the bytes are those that were written.
  void verify() const {
    if (const Digest found = digest_of_source(*this); found != digest_)
      throw Error(ErrorKind::corrupt, "plan.part.damaged",
                  fmt::format("expected the digest {}, found {} of {} bytes; its task has to be run again",
                              digest_.text(), found.text(), size()))
          .in(name());
  }

  static bool has_trailer(const Source& file) {
    if (file.size() < kPartTrailer) return false;
    std::array<char, kPartMark.size()> mark{};
    file.read(file.size() - kPartTrailer, std::as_writable_bytes(std::span(mark)));
    return std::string_view(mark.data(), mark.size()) == kPartMark;
  }

  void check() const override { file_->check(); }
  int descriptor() const override { return file_->descriptor(); }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override { file_->read(offset, out); }

 private:
  static Digest read_trailer(const Source& file) {
    std::array<std::byte, kPartDigest> bytes{};
    file.read(file.size() - kPartDigest, bytes);
    return {DigestAlgorithm::xxh3_128, bytes};
  }

  SourcePtr file_;
  Digest digest_;
};

std::shared_ptr<const PartContent> content_of_part(const SourcePtr& file) {
  if (!PartContent::has_trailer(*file))
    throw Error(ErrorKind::corrupt, "plan.part", "the file is not a part: it does not end with the digest of one")
        .in(file->name());
  return std::make_shared<const PartContent>(file);
}

// Appends the trailer to what was written so far.
void guard_part(Sink& sink, const std::string& path) {
  const SourcePtr written = sink.written();
  if (written == nullptr)
    throw Error(ErrorKind::usage, "plan.part", "a part has to be a file: it is read back for its digest").in(path);
  const Digest digest = digest_of_source(*written);
  sink.write(std::as_bytes(std::span(kPartMark)));
  sink.write(digest.bytes());
}

// Throws `plan.part.exists` for a file that no task can have made: a user's file would be lost.
void refuse_foreign_file(const std::string& path) {
  const io::OnlyLooking looking;
  const io::Directory folder = io::Directory::open(io::directory_of(path).c_str());
  struct stat status {};
  if (!folder || !folder.look(io::base_of(path), status) || !S_ISREG(status.st_mode) || status.st_size == 0) return;
  if (PartContent::has_trailer(*open_part(path, Owners::any))) return;
  throw Error(
      ErrorKind::usage, "plan.part.exists",
      "the file is not a part of a plan, and a part would take its place; move it away, or remove it if it is a "
      "damaged part")
      .in(path)
      .blame(Subject::output);
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
  const StopScope stop(options.work);
  const io::InputFiles inputs;
  refuse_foreign_file(path);
  Planned planned = plan_conversion(input, output, options);
  const std::size_t count = planned.model.tensors.size();
  if (part.first > count || part.count > count - part.first)
    throw Error(
        ErrorKind::usage, "plan.range",
        fmt::format("tensors {} to {} were asked for, the output has {}", part.first, part.first + part.count, count))
        .in(output);
  Model run;
  const auto first = std::move_iterator(planned.model.tensors.begin() + static_cast<std::ptrdiff_t>(part.first));
  run.tensors.assign(first, first + static_cast<std::ptrdiff_t>(part.count));
  planned.model = {};
  run.sources = planned.source.sources;
  run.metadata.set(kPlanKey, part.plan);
  run.metadata.set(kSourceKey, stamp_of(run.sources, options));
  try {
    verify_origins(run, options.work.threads);
  } catch (Error& error) {
    Origins(planned.source).name_tensor(error);
    throw error.in(input);
  }
  const Format& format = part_format();
  WriteOptions write = options.write;
  write.work = options.work;
  if (!compresses_as_parts(output, options))
    write.zstd_level.reset();  // the output is compressed when the parts are joined
  write.dedup = false;
  write.dialect.clear();
  write.shard_bytes.reset();
  if (options.work.progress != nullptr) {
    std::uint64_t bytes = 0;
    for (const Tensor& tensor : run.tensors) bytes += tensor.bytes();
    options.work.progress->expect(bytes);
  }
  const std::unique_ptr<Sink> sink = create_file(path, {.overwrite = true, .follow_links = false});
  try {
    format.write(run, *sink, write);
    guard_part(*sink, path);
    run.check_sources();
  } catch (Error& error) {
    run.check_sources();
    throw error.in(error.subject() == Subject::input ? input : path);
  }
  check_last_stop();
  refuse_foreign_file(path);
  sink->commit();
}

bool is_part(const std::string& path, const std::string& plan) {
  try {
    return is_of_plan(open(SourcePtr(content_of_part(open_part(path, Owners::any)))), plan);
  } catch (const Error&) {
    return false;
  }
}

Conversion convert_from_parts(const std::string& input, const std::string& output, const ConvertOptions& options,
                              std::span<const std::string> parts, const std::string& plan, Owners owners) {
  const StopScope stop(options.work);
  const io::InputFiles inputs;
  // The digests of all parts are checked before any of their bytes is used.
  std::vector<std::shared_ptr<const PartContent>> contents;
  for (const std::string& path : parts) contents.push_back(content_of_part(open_part(path, owners)));
  parallel_for(contents.size(), options.work.threads, [&](std::size_t i) { contents[i]->verify(); });
  ConvertOptions rest = options;
  const bool as_parts = compresses_as_parts(output, options);
  if (as_parts) rest.write.zstd_level.reset();  // parts are compressed already
  Conversion done = convert_refitted(input, output, rest, [&](Model& model) {
    const std::string stamp = stamp_of(model.sources, options);
    struct Wanted {
      Tensor* tensor;
      std::uint64_t bytes;
    };
    NameViewMap<Wanted> wanted;
    for (Tensor& tensor : model.tensors) {
      if (!as_parts && stays_in_input(tensor)) continue;
      wanted.emplace(tensor.name, Wanted{&tensor, tensor.bytes()});
      // The parts have its bytes: how it would be made takes more memory than what is read of a part.
      tensor.components = {};
      tensor.attributes = {};
    }
    // One after the other, and each tensor is moved, so that nothing is in memory twice.
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const SeparateSpending spending(allowance_of(options.read.limits));
      // The names of parts are those of the output's tensors, which has the arrays of packed weights.
      Model part = open_as(PackedForm::stored, SourcePtr(contents[i]), options.read);
      if (!is_of_plan(part, plan))
        throw Error(ErrorKind::corrupt, "plan.part", "the file is not a part of this plan").in(parts[i]);
      const Value* const made_of = part.metadata.find(kSourceKey);
      if (made_of == nullptr || made_of->text() == nullptr || *made_of->text() != stamp)
        throw Error(ErrorKind::io, "plan.source",
                    "was made of another version of the input, or of what goes with it; its task has to be run again")
            .in(parts[i]);
      for (Tensor& made : part.tensors) {
        const auto found = wanted.find(made.name);
        if (found == wanted.end()) continue;
        const auto [place, bytes] = found->second;
        Tensor& tensor = *place;
        if (made.shape != tensor.shape || made.layout != tensor.layout || made.bytes() != bytes)
          throw Error(ErrorKind::corrupt, "plan.part",
                      fmt::format("expected {} of {} in {} bytes, found {} of {} in {} bytes", tensor.layout,
                                  tensor.shape.text(), bytes, made.layout, made.shape.text(), made.bytes()))
              .in(output)
              .about("tensor " + quote(tensor.name));
        wanted.erase(found);  // before its key, the name, moves
        tensor = std::move(made);
      }
      model.sources.insert(model.sources.end(), part.sources.begin(), part.sources.end());
    }
    if (!wanted.empty())
      throw Error(ErrorKind::not_found, "plan.missing", "no part has this tensor")
          .in(output)
          .about("tensor " + quote(wanted.begin()->first));
  });
  // The level was taken away because the parts are compressed, not the tensors.
  if (as_parts && options.write.zstd_level)
    std::erase_if(done.changes, [](const Change& change) { return change.kind == ChangeKind::unpacked; });
  return done;
}

}  // namespace tare
