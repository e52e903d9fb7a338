// A model in several files: a root, whose table has the size and the digest of the others, and files that contain only
// blobs (or are models themselves). A name in the table is a label, so these places are searched:
//
//   STEM-NAME.zt                  next to the root STEM.zt
//   blobs/ALGORITHM/DIGITS        next to the root: a content-addressed store
//   any *.zt next to the root     that has the size and the digest
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/stopping.hpp"
#include "formats/registry_limits.hpp"
#include "formats/shard_limit.hpp"
#include "formats/zt2/zt2.hpp"
#include "io/descriptor_source.hpp"
#include "io/links.hpp"
#include "io/listing.hpp"
#include "io/tree_sink.hpp"

namespace tare::zt2 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "model";
constexpr std::uint64_t kMostFiles = 99'999;

std::string positional_name(std::string_view stem, std::string_view shard) {
  return fmt::format("{}-{}{}", stem, shard, kSuffix);
}

// Empty for a digest in another form.
std::string store_name(std::string_view digest) {
  const std::size_t colon = digest.find(':');
  return fmt::format("blobs/{}/{}", digest.substr(0, colon), digest.substr(colon + 1));
}

std::string label(std::size_t number, std::size_t count) { return fmt::format("{:05}-of-{:05}", number + 1, count); }

bool has_suffix(std::string_view file) {
  return !file.starts_with('.') && (file.ends_with(kSuffix) || file.ends_with(kOwnSuffix));
}

// Recognizes the names that Tare and upstream give the shards of "model.zt": "model-00001-of-00003.zt".
bool is_called_shard(std::string_view file) {
  constexpr std::string_view kPattern = "-00000-of-00000";
  const std::string_view stem = file.substr(0, file.rfind('.'));
  if (stem.size() <= kPattern.size()) return false;
  const std::string_view end = stem.substr(stem.size() - kPattern.size());
  return std::ranges::equal(end, kPattern, [](char found, char wanted) {
    return wanted == '0' ? found >= '0' && found <= '9' : found == wanted;
  });
}

std::string stem_of(std::string_view file) { return fs::path(file).stem().string(); }

Digest whole_digest(const Source& source, DigestAlgorithm algorithm) {
  Hasher hasher(algorithm);
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(source.size(), std::size_t{1} << 20)));
  for (std::uint64_t at = 0; at < source.size();) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), source.size() - at)));
    source.read(at, part);
    hasher.update(part);
    at += part.size();
  }
  return hasher.finish();
}

// Finds the files of shards. Reading and verifying must find the same file: the digest of a file that is found by its
// name is checked by `verify` only, and never makes the reader choose another.
class ShardFinder {
 public:
  ShardFinder(const std::string& root, const ReadOptions& options)
      : root_(root),
        folder_(fs::path(root).parent_path().string()),
        options_(options),
        thorough_(options.diagnostics != nullptr && options.diagnostics->thorough()),
        links_(folder_.empty() ? "." : folder_) {}

  void find(Shard& shard) {
    shard.trouble.reset();
    if (root_.empty()) {
      shard.trouble = Error(ErrorKind::usage, "zt2.shard.memory", "one of several files, which must be opened as files")
                          .about("shard " + shard.name);
      return;
    }
    for (const std::string& name : {positional_name(stem_of(root_), shard.name), store_name(shard.digest)})
      if (take_named(shard, io::path_in(folder_, name))) return;
    if (const std::string* const path = file_with(shard.size, shard.digest)) {
      shard.source = opened_.at(*path);
      shard.trouble.reset();
    }
    if (shard.source != nullptr || shard.trouble) return;
    shard.trouble = Error(ErrorKind::not_found, "zt2.shard.missing",
                          fmt::format("{} does not exist, nor does another file of {} bytes with the digest {}",
                                      positional_name(stem_of(root_), shard.name), shard.size, shard.digest))
                        .in(root_)
                        .about("shard " + shard.name);
  }

 private:
  // The candidates, by size.
  const std::multimap<std::uint64_t, std::string>& files() {
    if (listed_) return files_;
    listed_ = true;
    std::error_code none;
    for (const std::string& name : io::names_in(folder_.empty() ? "." : folder_, none)) {
      if (!has_suffix(name)) continue;
      std::error_code failed;
      const std::uint64_t size = fs::file_size(io::path_in(folder_, name), failed);
      if (!failed) files_.emplace(size, io::path_in(folder_, name));
    }
    return files_;
  }

  // Returns null if the file does not exist.
  SourcePtr open_once(const std::string& path) {
    if (const auto known = opened_.find(path); known != opened_.end()) return known->second;
    try {
      return opened_[path] = open_file(path, options_.access);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::not_found) return nullptr;
      throw;
    }
  }

  // A file counts once, however many names and links it has.
  struct File {
    dev_t device = 0;
    ino_t inode = 0;
    friend auto operator<=>(const File&, const File&) = default;
  };
  static File file_of(const Source& source) {
    struct stat status {};
    if (::fstat(source.descriptor(), &status) != 0)
      throw io::system_error("io.open.refused", "cannot look at", source.name(), errno);
    return {status.st_dev, status.st_ino};
  }

  const Digest& digest_of_file(const Source& source, DigestAlgorithm algorithm) {
    auto& known = digests_[{file_of(source), algorithm}];
    if (!known) known = whole_digest(source, algorithm);
    return known;
  }

  // Returns why the file cannot be a shard; empty if it can.
  std::string fault_of(const Source& source) const {
    try {
      read_footer(source, options_.limits);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      return std::string(error.sentence());
    }
    return {};
  }

  // Returns whether the file at the place for this name settles the search. If not, the reason is kept as the shard's
  // trouble.
  bool take_named(Shard& shard, const std::string& path) {
    const SourcePtr source = open_once(path);
    if (source == nullptr) return false;
    const auto wrong = [&](std::string_view rule, std::string_view sentence) {
      if (!shard.trouble)
        shard.trouble = Error(ErrorKind::corrupt, rule, sentence).in(path).about("shard " + shard.name);
    };
    if (!links_.allow(*source)) {
      wrong("zt2.shard.outside", links_.outside(path).value_or("was exchanged for another file while it was opened"));
      return true;
    }
    if (source->size() != shard.size) {
      wrong("zt2.shard.identity", fmt::format("has {} bytes, the root expects {}", source->size(), shard.size));
      return false;
    }
    if (const std::string fault = fault_of(*source); !fault.empty()) {
      wrong("zt2.shard.identity", fault);
      return false;
    }
    shard.trouble.reset();
    if (thorough_) check_digest(shard, *source, wrong);
    if (!shard.trouble) shard.source = source;
    return true;
  }

  void check_digest(const Shard& shard, const Source& source, const auto& wrong) {
    const auto digest = parse_digest(shard.digest);
    if (!digest)
      return wrong("zt2.shard.identity",
                   fmt::format("the digest {} has another number of digits than its algorithm", shard.digest));
    if (digest->algorithm() == DigestAlgorithm::unknown) return;
    const Digest& found = digest_of_file(source, digest->algorithm());
    if (!(found == *digest))
      wrong("zt2.shard.identity",
            fmt::format("does not match its digest: expected {}, found {}", shard.digest, digest_text(found)));
  }

  // Finds a file next to the root with any name. Each file is opened and hashed once, however many shards are searched.
  const std::string* file_with(std::uint64_t size, const std::string& text) {
    const auto digest = parse_digest(text);
    if (!digest || digest->algorithm() == DigestAlgorithm::unknown) return nullptr;
    const auto [begin, end] = files().equal_range(size);
    if (begin == end) return nullptr;
    const auto [known, fresh] = by_digest_.try_emplace({size, digest->algorithm()});
    if (fresh)
      for (auto each = begin; each != end; ++each) {
        const std::string& path = each->second;
        const SourcePtr source = path == root_ ? nullptr : open_once(path);
        if (source == nullptr || source->size() != size || !links_.allow(*source) || !fault_of(*source).empty())
          continue;
        known->second.emplace(digest_text(digest_of_file(*source, digest->algorithm())), path);
      }
    const auto found = known->second.find(digest_text(*digest));
    return found == known->second.end() ? nullptr : &found->second;
  }

  std::string root_;
  std::string folder_;
  const ReadOptions& options_;
  bool thorough_, listed_ = false;
  Links links_;
  std::multimap<std::uint64_t, std::string> files_;
  std::map<std::string, SourcePtr> opened_;
  std::map<std::pair<File, DigestAlgorithm>, Digest> digests_;
  std::map<std::pair<std::uint64_t, DigestAlgorithm>, std::map<std::string, std::string>> by_digest_;
};

// Returns the existing files that a root's table names, relative to its directory.
std::vector<std::string> files_of_root(const io::Directory& directory, const std::string& root) {
  std::vector<std::string> names;
  io::Descriptor file = directory.read(root.c_str(), true);
  if (!file) return names;
  try {
    const SourcePtr source = io::descriptor_source(std::move(file), root);
    if (current_budget() != nullptr) grant_source(*source);
    const Manifest manifest = find_manifest(*source, {});
    if (!manifest.footer.has_manifest()) return names;
    Cbor cbor = manifest_reader(manifest.bytes(), 0);
    std::string_view key, name, field;
    for (auto entries = cbor.enter(CborMajor::map, "the manifest"); cbor.next_entry(entries, key);) {
      if (key != "shards") {
        cbor.skip();
        continue;
      }
      for (auto shards = cbor.enter(CborMajor::map, "shards"); cbor.next_entry(shards, name);) {
        if (is_shard_name(name)) names.push_back(positional_name(stem_of(root), name));
        for (auto fields = cbor.enter(CborMajor::map, "a shard"); cbor.next_entry(fields, field);)
          if (field != "digest")
            cbor.skip();
          else if (const std::string_view digest = cbor.read_text("digest"); is_digest(digest))
            names.push_back(store_name(digest));
      }
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
  return names;
}

// Returns the files of the model that a new one replaces.
io::OldFiles old_files(const io::Directory& directory) {
  io::OldFiles old;
  const std::string root = fmt::format("{}{}", kStem, kSuffix);
  const auto is_file = [&](const std::string& name) {
    struct stat status {};
    return directory.look(name.c_str(), status) && S_ISREG(status.st_mode);
  };
  if (!is_file(root)) return old;
  old.vital.push_back(root);
  for (std::string& name : files_of_root(directory, root))
    if (is_file(name)) old.others.push_back(std::move(name));
  std::ranges::sort(old.others);
  old.others.erase(std::unique(old.others.begin(), old.others.end()), old.others.end());
  return old;
}

std::uint64_t placed_bytes(const Tensor& tensor) {
  std::uint64_t all = 0;
  for (const Component& component : tensor.components)
    all += checked_align(component.blob.size(), kCanonical).value_or(UINT64_MAX / 4);
  return all;
}

// Assigns tensors to files, in the order of their names, as they are stored.
std::vector<std::vector<const Tensor*>> plan(const Model& model, std::optional<std::uint64_t> most) {
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  std::ranges::sort(tensors, {}, [](const Tensor* tensor) -> const std::string& { return tensor->name; });
  std::vector<std::vector<const Tensor*>> parts(1);
  constexpr std::uint64_t kFixed = kCanonical + 4096;  // a file without its tensors and their entries
  std::uint64_t size = kFixed;
  for (const Tensor* const tensor : tensors) {
    const std::uint64_t with = placed_bytes(*tensor) + tensor->name.size() + 300;
    if (most && !parts.back().empty() && checked_add(size, with).value_or(UINT64_MAX) > *most) {
      parts.emplace_back();
      size = kFixed;
    }
    parts.back().push_back(tensor);
    size = checked_add(size, with).value_or(UINT64_MAX);
  }
  return parts;
}

// Counts and hashes the bytes of a file without writing it.
class HashingSink final : public Sink {
 public:
  explicit HashingSink(DigestAlgorithm algorithm) : hasher_(algorithm) {}
  const std::string& name() const override { return name_; }
  void commit() override {}
  Digest finish() { return hasher_.finish(); }

 protected:
  void do_write(std::uint64_t /*offset*/, std::span<const std::byte> bytes) override { hasher_.update(bytes); }

 private:
  std::string name_ = "shard";
  Hasher hasher_;
};

// Calls `put` for each object of the shard.
void write_shard(const std::vector<const Tensor*>& tensors, Sink& sink, const WriteOptions& options,
                 const PutObject& put) {
  sink.write(std::as_bytes(std::span(kMagic)));
  EntryList objects;
  put_blobs(tensors, sink, options, kCanonical, [&](StoredObject& object) {
    add_object(objects, object);
    put(object);
  });
  put_manifest(sink, build_manifest(objects, {}), kCanonical);
}

void write_whole(const Model& model, io::TreeSink& tree, const WriteOptions& options) {
  const auto sink = tree.file(fmt::format("{}{}", kStem, kSuffix));
  write(model, *sink, options);
  sink->commit();
}

void write_split(const Model& model, const std::vector<std::vector<const Tensor*>>& parts, io::TreeSink& tree,
                 const WriteOptions& options) {
  const bool store = options.dialect == kStore;
  const DigestAlgorithm algorithm =
      store || options.digest == DigestAlgorithm::sha256 ? DigestAlgorithm::sha256 : DigestAlgorithm::xxh3;
  EntryList objects, root;
  wire::CborWriter table;
  table.map(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string file = positional_name(kStem, label(i, parts.size()));
    if (store) {  // the name is the digest, so that is computed first
      HashingSink dry(algorithm);
      WriteOptions quiet = options;
      quiet.work.progress = nullptr;
      write_shard(parts[i], dry, quiet, [](const StoredObject&) {});
      file = store_name(digest_text(dry.finish()));
    }
    const auto sink = tree.file(file);
    write_shard(parts[i], *sink, options, [&](StoredObject& object) {
      for (StoredPart& part : object.parts) part.shard = label(i, parts.size());
      add_object(objects, object);
    });
    const SourcePtr written = sink->written();
    if (written == nullptr)
      throw Error(ErrorKind::io, "zt2.write.check", "what was written cannot be read back").in(file);
    const std::string digest = digest_text(whole_digest(*written, algorithm));
    if (store && file != store_name(digest))
      throw Error(ErrorKind::io, "zt2.write.check", "the same tensors gave other bytes the second time").in(file);
    table.text(label(i, parts.size()));
    table.map(2);
    table.text("size");
    table.uint(sink->position());
    table.text("digest");
    table.text(digest);
    sink->commit();
  }
  wire::CborWriter key;
  key.text("shards");
  root.add(key.take(), table.result());
  add_attributes(root, model);
  // The root comes last: without it, the other files are not a model.
  const auto sink = tree.file(fmt::format("{}{}", kStem, kSuffix));
  sink->write(std::as_bytes(std::span(kMagic)));
  put_manifest(*sink, build_manifest(objects, std::move(root)), kCanonical);
  sink->commit();
}

}  // namespace

void find_shards(const std::string& root, const ReadOptions& options, std::vector<Shard>& files) {
  if (files.size() > kMostFiles)
    throw Error(ErrorKind::limit, "zt2.shard.many",
                fmt::format("expected at most {} shards, found {}", kMostFiles, files.size() - 1));
  ShardFinder finder(root, options);
  for (std::size_t i = 1; i < files.size(); ++i) finder.find(files[i]);
}

std::string root_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code none;
  for (std::string& file : io::names_in(directory, none))
    if (has_suffix(file) && !fs::is_directory(io::path_in(directory, file), none)) found.push_back(std::move(file));
  // The shortest name must be a prefix of all others.
  std::ranges::sort(found, {}, [](const std::string& file) { return file.size(); });
  // A shard without its root is not a model.
  if (found.empty() || is_called_shard(found.front())) return {};
  const std::string stem = stem_of(found.front()) + "-";
  if (!std::all_of(found.begin() + 1, found.end(), [&](const std::string& file) { return file.starts_with(stem); }))
    return {};
  std::string path = io::path_in(directory, found.front());
  try {
    return recognize(*open_file(path, Access::pread)) ? path : std::string();
  } catch (const Error& error) {
    if (error.subject() == Subject::machine) throw;
    return {};
  }
}

std::string listed_in(const std::string& path) {
  std::error_code none;
  // A link may have another name than the shard that it leads to.
  for (const std::string& spelled : {path, fs::canonical(path, none).string()}) {
    const std::string_view name = io::base_of(spelled);
    if (!name.ends_with(kSuffix)) continue;
    const std::string directory = io::directory_of(spelled);
    const io::Directory opened = io::Directory::open(directory.c_str());
    if (!opened || !opened.has(std::string(name).c_str())) continue;
    for (std::size_t dash = name.find('-'); dash != std::string_view::npos; dash = name.find('-', dash + 1))
      for (const std::string_view suffix : {kSuffix, kOwnSuffix}) {
        const std::string root = fmt::format("{}{}", name.substr(0, dash), suffix);
        if (!opened.has(root.c_str())) continue;
        const std::vector<std::string> listed = files_of_root(opened, root);
        if (std::ranges::find(listed, name) != listed.end()) return io::path_in(directory, root);
      }
  }
  return {};
}

// A directory in another layout may contain such a file next to its own weights.
bool recognize_tree(const std::string& path) {
  if (root_in(path).empty()) return false;
  std::error_code none;
  for (const std::string& file : io::names_in(path, none))
    if (!has_suffix(file) && format_of_suffix(file) != nullptr && !fs::is_directory(io::path_in(path, file), none))
      return false;
  return true;
}

std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite) {
  check_writable(model);
  const auto parts = plan(model, options.shard_bytes);
  require_few_shards(parts.size(), "zt2.write.shards");
  io::TreeSink tree(path, {.overwrite = overwrite, .durable = true, .old_files = old_files});
  std::uint64_t expected = 0;
  for (const Tensor& tensor : model.tensors) expected += tensor.bytes();
  tree.expect(expected);
  if (parts.size() == 1)
    write_whole(model, tree, options);
  else
    write_split(model, parts, tree, options);
  const std::uint64_t bytes = tree.bytes();
  model.check_sources();
  check_last_stop();
  tree.commit();
  return bytes;
}

}  // namespace tare::zt2
