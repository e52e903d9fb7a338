// Writes edited entries back.
//
// Only the entries are rebuilt. The tensor infos and the data are copied unchanged, whatever types they have: offsets
// count from the beginning of the data.
//
// The edit is made in place if it fits one sector: the new header is built as a whole and must have the length of the
// old one, up to the first byte of the data. Then one call writes the bytes that differ. A disk writes 512 bytes at a
// multiple of 512 either completely or not at all, and so does the kernel to its cache, so no reader can see half of
// the edit. All other edits are written as a new file. In a set, only the first file has entries; the others are not
// changed.
#include <algorithm>

#include "base/checked.hpp"
#include "formats/amend_file.hpp"
#include "formats/gguf/gguf.hpp"
#include "io/file_sink.hpp"
#include "io/unfinished.hpp"
#include "model/transfer.hpp"
#include "tare/sink.hpp"

namespace tare::gguf {
namespace {

constexpr std::uint64_t kSector = 512;

// The file that has the entries: the first file of a set.
struct Root {
  std::string path;
  Model model;  // this file alone, not the set
  Parts parts;
  std::uint64_t alignment = kAlignment;
};

std::optional<Root> open_root(const std::string& path, const SourcePtr& source) {
  // Tensors that Tare cannot interpret are copied unchanged.
  struct Quiet final : Diagnostics {
    void error(const Error&) override {}
  } quiet;
  Root root{path, {}, {}};
  root.model = read_file(source, {.diagnostics = &quiet}, root.parts);
  root.model.sources = {source};
  if (root.model.version != std::to_string(kVersion)) return std::nullopt;
  root.alignment = alignment_in(entries_of(root.model));
  return root;
}

std::optional<Root> root_of(const std::string& path, const Model& model) {
  if (model.sources.size() == 1) return open_root(path, model.sources.front());
  for (const SourcePtr& source : model.sources) {
    if (!is_first_of_set(source->name())) continue;
    auto root = open_root(source->name(), source);
    if (root && root->parts.split && root->parts.split->count == model.sources.size()) return root;
  }
  return std::nullopt;
}

// Everything before the data: the entries of `model`, with those that number the files of a set at their old positions.
Bytes make_head(const Root& root, const Model& model) {
  std::vector<Entry> entries = entries_of(model);
  if (root.parts.split)
    for (const SplitEntry& own : root.parts.split->entries) {
      const auto before = std::ranges::find(entries, own.behind, &Entry::key);
      entries.insert(
          before != entries.end() ? before + 1 : entries.begin() + std::ptrdiff_t(std::min(own.index, entries.size())),
          own.entry);
    }
  Bytes infos(root.parts.infos_end - root.parts.infos);
  root.model.sources.front()->read(root.parts.infos, infos);
  return gguf::make_head(entries, root.parts.tensors, infos);
}

// The alignment determines the offsets of the tensors.
bool keeps_alignment(const Root& root, const Model& after) { return alignment_in(entries_of(after)) == root.alignment; }

}  // namespace

bool amend(const std::string& path, const Model& before, const Model& after, bool dry_run) {
  const std::optional<Root> root = root_of(path, before);
  if (!root || root->parts.tensors == 0 || !keeps_alignment(*root, after)) return false;
  Bytes head = make_head(*root, after);
  const auto start = checked_align(root->parts.infos_end, root->alignment);
  if (!start || checked_align(head.size(), root->alignment) != start) return false;
  head.resize(static_cast<std::size_t>(*start));

  const io::Descriptor file = open_to_amend(root->path, root->model);
  if (!file) return false;
  Bytes old(head.size());
  if (io::pread_all(file.get(), 0, old, root->path) != old.size()) return false;
  const auto first = std::ranges::mismatch(head, old).in1 - head.begin();
  if (first == std::ssize(head)) return true;
  const auto end = std::mismatch(head.rbegin(), head.rend(), old.rbegin()).first.base() - head.begin();
  if (static_cast<std::uint64_t>(first) / kSector != static_cast<std::uint64_t>(end - 1) / kSector) return false;
  if (dry_run) return true;
  const io::Changing changing;
  io::pwrite_all(file.get(), static_cast<std::uint64_t>(first),
                 std::span(head).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)),
                 root->path);
  io::sync_file(file.get(), root->path);
  return true;
}

bool rewrite_metadata(const std::string& path, const Model& before, const Model& after, const WriteOptions& options,
                      bool dry_run) {
  const std::optional<Root> root = root_of(path, before);
  if (!root || !keeps_alignment(*root, after)) return false;
  require_writable_file(root->path);
  if (dry_run) return true;
  const io::Descriptor lock = lock_to_rewrite(root->path, root->model);
  const SourcePtr& source = root->model.sources.front();
  const std::unique_ptr<Sink> sink = io::create_replacement(root->path, *source);
  sink->write(make_head(*root, after));
  if (root->parts.tensors > 0 || is_padded(root->model)) sink->align(root->alignment);
  const auto start = checked_align(root->parts.infos_end, root->alignment).value_or(source->size());
  if (root->parts.tensors > 0 && start < source->size()) {
    Transfer transfer(*sink, {.alignment = 1,
                              .zstd_level = std::nullopt,
                              .digest = std::nullopt,
                              .threads = options.work.threads,
                              .progress = options.work.progress});
    transfer.add(Blob::range(source, start, source->size() - start));
    transfer.finish();
  }
  const SourcePtr written = sink->written();
  const auto again = written == nullptr ? std::nullopt : open_root(root->path, written);
  if (written != nullptr && (!again || again->parts.tensors != root->parts.tensors))
    throw Error(ErrorKind::io, "convert.check", "what was written is read back as another file").in(root->path);
  before.check_sources();
  sink->commit();
  return true;
}

}  // namespace tare::gguf
