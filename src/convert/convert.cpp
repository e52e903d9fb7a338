#include "tare/convert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "arch/supported.hpp"
#include "base/budget.hpp"
#include "base/name_map.hpp"
#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "convert/adapt.hpp"
#include "convert/directory_form.hpp"
#include "convert/origins.hpp"
#include "convert/refit.hpp"
#include "convert/wording.hpp"
#include "convert/writable.hpp"
#include "formats/registry_limits.hpp"
#include "formats/towers.hpp"
#include "io/directory.hpp"
#include "io/file_sink.hpp"
#include "io/listing.hpp"
#include "io/places.hpp"
#include "io/watched_tree.hpp"
#include "resources/model_files.hpp"
#include "resources/resources.hpp"
#include "tare/merge.hpp"

namespace tare {

void require_writable(const Format& format, const WriteOptions& options) {
  if (format.write == nullptr && format.write_tree == nullptr)
    throw Error(ErrorKind::unsupported, "convert.read_only",
                fmt::format("{} can be read, not written ({})", format.name, format.versions));
  if ((options.zstd_level || options.unpack) && !format.holds.zstd)
    throw Error(ErrorKind::usage, "convert.option", fmt::format("{} does not compress with zstd", format.name));
  if (options.zstd_level && (*options.zstd_level < 1 || *options.zstd_level > 22))
    throw Error(ErrorKind::usage, "convert.option",
                fmt::format("expected a zstd level from 1 to 22, found {}", *options.zstd_level));
  if (options.shard_bytes == std::uint64_t{0}) throw Error(ErrorKind::usage, "convert.option", "shards of 0 bytes");
  if (options.digest && !format.holds.digests)
    throw Error(ErrorKind::usage, "convert.option", fmt::format("{} cannot hold digests", format.name));
  if (options.dedup && !format.holds.dedup)
    throw Error(ErrorKind::usage, "convert.option", fmt::format("{} cannot share bytes between tensors", format.name));
  if (options.shard_bytes && !format.holds.shards)
    throw Error(ErrorKind::usage, "convert.option", fmt::format("{} is never split into shards", format.name));
  const auto& dialects = format.holds.dialects;
  if (!options.dialect.empty() && std::find(dialects.begin(), dialects.end(), options.dialect) == dialects.end())
    throw Error(ErrorKind::usage, "convert.option",
                dialects.empty() ? fmt::format("{} has no dialects", format.name)
                                 : fmt::format("{} has no dialect \"{}\"; it has {}", format.name, options.dialect,
                                               fmt::join(dialects, ", ")));
}

namespace {

const Format& target_of(const std::string& output, const SaveOptions& options) {
  const Format* format = options.to.empty() ? format_of_suffix(output) : find_format(options.to);
  if (format == nullptr && options.to.empty())
    throw Error(ErrorKind::usage, "convert.format", "the name has no suffix that Tare knows")
        .in(output)
        .remedy(Remedy::name_format);
  if (format == nullptr) {
    std::vector<std::string_view> names;
    for (const Format& known : formats()) names.push_back(known.name);
    throw Error(ErrorKind::usage, "convert.format",
                fmt::format("no format \"{}\"; the choices are {}", options.to, fmt::join(names, ", ")));
  }
  require_writable(*format, options.write);
  return *format;
}

// Returns whether the output is a directory: the format has no other form, or a directory was asked for.
bool is_tree(const std::string& output, const Format& format, const SaveOptions& options) {
  std::error_code none;
  const bool named = output.ends_with('/') || (output != "-" && std::filesystem::is_directory(output, none));
  if (format.write_tree == nullptr) return false;
  if (options.write.shard_bytes && !named && format.write != nullptr)
    throw Error(ErrorKind::usage, "convert.shards", "a sharded set is a directory; end its name with a /").in(output);
  return named || format.write == nullptr;
}

std::unique_ptr<Sink> sink_for(const std::string& output, const Format& format, bool overwrite,
                               const Source* replaces = nullptr) {
  std::unique_ptr<Sink> sink = output == "-"         ? descriptor_sink(STDOUT_FILENO, "standard output")
                               : replaces != nullptr ? io::create_replacement(output, *replaces)
                                                     : create_file(output, {.overwrite = overwrite});
  if (output != "-") refuse_listed(output, "convert.files", "replaced");
  if (!sink->positional() && !format.holds.forward_only)
    throw Error(ErrorKind::unsupported, "convert.pipe",
                fmt::format("{} cannot be written to a pipe; name a file", format.name))
        .in(output);
  return sink;
}

void check_digests(const Model& model, unsigned threads) {
  std::vector<const Blob*> blobs;
  for (const Tensor& tensor : model.tensors)
    for (const Component& component : tensor.components) blobs.push_back(&component.blob);
  parallel_for(blobs.size(), threads, [&](std::size_t i) { blobs[i]->verify(); });
}

// The values of metadata in a tree, as base/budget.hpp counts them.
std::uint64_t count_values(const Map& map);
std::uint64_t count_values(const Value& value) {
  if (const Map* const map = value.get<Map>()) return count_values(*map);
  std::uint64_t count = 1;
  if (const List* const list = value.get<List>())
    for (const Value& element : *list) count += count_values(element);
  return count;
}
std::uint64_t count_values(const Map& map) {
  std::uint64_t count = 1;
  for (const auto& [key, value] : map) count += kKeyPrice + count_values(value);
  return count;
}

// Reads with the limits of a later `open`, whatever this conversion has spent already. `bytes` is the size of the output.
Model read_back(const SourcePtr& written, const std::string& name, const Format& target, std::uint64_t bytes) {
  const ReadOptions options{.access = Access::pread, .limits = limits_of_own_output()};
  const SeparateSpending spending(allowance_of(options.limits));
  current_budget()->grant(bytes);
  try {
    return target.read({name, written}, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::limit) throw;
    throw error.reworded(fmt::format("the output is not opened by default: {}", error.sentence()))
        .remedy(Remedy::drop, "metadata");
  }
}

// Adds a change if `open` refuses by default what was written to a pipe. A pipe cannot be read back, so the metadata is
// written once more, into memory, if there are enough values of it to matter.
void report_values(const Map& metadata, const Format& target, std::uint64_t bytes, std::vector<Change>& changes) {
  if (count_values(metadata) <= Limits().metadata_values) return;
  Model rest;
  rest.metadata = metadata;
  MemorySink sink;
  try {
    target.write(rest, sink, {});
    read_back(sink.written(), sink.name(), target, bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::limit) return;  // for example a container that needs a tensor
    changes.push_back(
        {.impact = Impact::changed, .detail = error.sentence(), .remedies = {{Remedy::drop, "metadata"}}});
  }
}

// What is remembered of a model that was written.
struct Written {
  std::size_t tensors = 0;
  std::uint64_t decoded = 0;  // bytes that the output decodes to
  Map metadata;
};

// Reads the output back before it gets its name: a file that its own reader refuses never appears.
void check_written(Sink& sink, const Format& target, const Written& model, std::vector<Change>* changes) {
  const SourcePtr written = sink.written();
  if (written == nullptr) {
    if (changes == nullptr) return;
    report_values(model.metadata, target, sink.position(), *changes);
    return report_expansion(Expansion{.stored = sink.position(), .decoded = model.decoded}, *changes);
  }
  Model found = read_back(written, sink.name(), target, written->size());
  if (found.tensors.size() != model.tensors)
    throw Error(ErrorKind::io, "convert.check",
                fmt::format("{} tensors were written, {} are read back", model.tensors, found.tensors.size()));
  found.file_bytes = written->size();
  if (changes != nullptr) report_expansion(found, *changes);
}

// Passes everything on, and collects what the user should know: what looks wrong with the input, and files in the
// directory that are not part of the model and are not converted.
class Remarks final : public Diagnostics {
 public:
  Remarks(Diagnostics* next, bool thorough) : next_(next != nullptr ? *next : throwing_), thorough_(thorough) {}
  void error(const Error& error) override { next_.error(error); }
  void warning(const Error& about) override {
    remember(about);
    next_.warning(about);
  }
  void ignored_value(const Error& about) override {
    remember(about);
    next_.ignored_value(about);
  }
  // Remembers only notes about a meaning that was lost.
  void note(const Error& about) override {
    if (about.kind() == ErrorKind::lossy) remember(about);
    next_.note(about);
  }
  void left_behind(const Error& about) override {
    left_behind_.push_back(
        {.kind = ChangeKind::left_behind, .detail = about.sentence(), .remedies = {{Remedy::attach, ""}}});
    next_.left_behind(about);
  }
  bool thorough() const override { return thorough_ || next_.thorough(); }

  std::vector<Change> changes() const {
    std::vector<Change> all = reported_;
    if (warnings_ > kMost)
      all.push_back({.count = warnings_ - kMost,
                     .detail = fmt::format("{} more warnings about the input", warnings_ - kMost),
                     .remedies = {{Remedy::list_findings, ""}}});
    all.insert(all.end(), left_behind_.begin(), left_behind_.end());
    return all;
  }

 private:
  static constexpr std::size_t kMost = 8;

  void remember(const Error& about) {
    if (++warnings_ <= kMost) reported_.push_back(remark_about(about));
  }

  Diagnostics throwing_;
  Diagnostics& next_;
  bool thorough_;
  std::vector<Change> reported_, left_behind_;
  std::size_t warnings_ = 0;
};

bool is_compressed(const Tensor& tensor) {
  return std::any_of(tensor.components.begin(), tensor.components.end(),
                     [](const Component& component) { return component.blob.encoding() == Encoding::zstd; });
}

NameSet compressed_tensors(const Model& model) {
  NameSet names;
  for (const Tensor& tensor : model.tensors)
    if (is_compressed(tensor)) names.insert(tensor.name);
  return names;
}

// Compressed tensors stay compressed unless their bytes change in the conversion. Reports those that change.
void report_decompressed(const Model& model, const NameSet& compressed, const WriteOptions& options,
                         std::vector<Change>& changes) {
  if (options.zstd_level || options.unpack) return;
  Change change{.kind = ChangeKind::unpacked, .impact = Impact::changed, .remedies = {{Remedy::compress, ""}}};
  for (const Tensor& tensor : model.tensors)
    if (compressed.contains(tensor.name) && !is_compressed(tensor)) change.items.push_back(tensor.name);
  if (!change.items.empty()) changes.push_back(std::move(change));
}

// The file that an error of the writer is about. Bytes are encoded while they are written, so a codec may find a weight
// that it cannot hold only then; that weight is the input's.
const std::string& file_at_fault(const Error& error, const std::string& input, const std::string& output) {
  return error.subject() == Subject::input ? input : output;
}

Error wrong_directory(const std::string& directory, const std::string& sentence) {
  return Error(ErrorKind::usage, "convert.directory", sentence + "; remove it, or name another directory")
      .in(directory)
      .blame(Subject::output);
}

// Returns the model in the directory; a model without tensors if there is none that can be opened.
Model old_model(const std::string& directory) {
  try {
    return open(directory, {.limits = limits_of_own_output(), .vocabulary = false});
  } catch (const Error&) {
    return {};
  }
}

// Returns a file of the model in the directory that is not of this format; empty if there is no model, or no such file.
std::string other_weights(const std::string& directory, const Format& target) {
  const Model found = old_model(directory);
  if (find_format(found.format) == &target) return {};
  for (const Tensor& tensor : found.tensors)
    for (const Component& component : tensor.components)
      if (const SourcePtr& source = component.blob.source();
          source != nullptr && format_of_suffix(source->name()) != &target)
        return source->name();
  return {};
}

// Throws `convert.directory` if an adapter_config.json would stay that is not the model's: transformers would load the
// model that it names. That of an adapter is replaced together with the adapter.
void refuse_adapter(const std::string& directory, const Model& model) {
  constexpr const char* kConfig = "adapter_config.json";
  std::error_code none;
  if (directory.find('\0') != directory.npos) return;  // the writer refuses such a path
  if (model.attachment(kConfig) != nullptr || !std::filesystem::exists(io::path_in(directory, kConfig), none)) return;
  const auto of_adapter = [](const SourcePtr& source) {
    return std::filesystem::path(source->name()).filename().string().starts_with("adapter_model");
  };
  if (std::ranges::any_of(old_model(directory).sources, of_adapter)) return;
  throw wrong_directory(directory,
                        fmt::format("the directory holds an {}, which would stay: transformers would load the "
                                    "model that it names in place of the new one",
                                    kConfig));
}

// Throws `convert.directory` if the directory has a config.json and the new model has none: the old one would be removed,
// or stay next to weights that it does not describe. Likewise for the tokenizer of a model, which would be removed.
void refuse_undescribed(const std::string& directory, const Model& model) {
  if (directory.find('\0') != directory.npos) return;  // the writer refuses such a path
  const io::Directory opened = io::Directory::open(directory.c_str());
  if (!opened) return;  // the writer reports it
  const auto has_file = [&](const auto& is_such) {
    return std::ranges::any_of(model.attachments, is_such, &Attachment::name);
  };
  const bool has_config =
      !model.config.empty() || has_file([](const std::string& name) { return name == "config.json"; });
  const bool has_tokens = !model.vocabulary.empty() || has_file(resources::holds_vocabulary);
  for (const std::string& name : opened.names()) {
    const bool is_config = name == "config.json";
    const bool is_tokenizer = resources::holds_vocabulary(name) && resources::is_known_name(name);
    if ((is_config && !has_config) || (is_tokenizer && !has_tokens && !old_model(directory).tensors.empty()))
      throw wrong_directory(directory, fmt::format("the directory holds a {}, and the new model has no {} to take its "
                                                   "place (a directory that is converted brings its own along)",
                                                   quote(name), is_config ? "config" : "tokenizer"));
  }
}

// Throws `convert.directory` if the directory holds a model in another container: its weights would remain, and the
// directory would be opened as that model, or not at all. Likewise if its config.json would remain, next to weights that
// it does not describe.
void refuse_other_container(const std::string& directory, const Model& model, const Format& target) {
  // A directory is opened by the files that this format writes, except by PEFT.
  if (is_directory(target)) {
    refuse_adapter(directory, model);
    return refuse_undescribed(directory, model);
  }
  if (const std::string weights = other_weights(directory, target); !weights.empty())
    throw wrong_directory(directory, fmt::format("the directory holds a model in another container ({}), which would "
                                                 "stay and be opened in place of the new one",
                                                 quote(weights)));
  std::error_code none;
  for (const char* const name : {"config.json", "adapter_config.json"})
    if (std::filesystem::exists(io::path_in(directory, name), none))
      throw wrong_directory(
          directory,
          fmt::format("the directory holds the {} of a model, which would stay and describe the new weights", name));
}

// The files in a directory and in the folders directly in it, relative to it, sorted and without hidden ones.
std::vector<std::string> files_below(const std::string& directory) {
  constexpr std::size_t kMost = 10'000;  // more are not a model's
  std::vector<std::string> files, folders;
  const auto list = [&](const std::string& folder) {
    std::error_code failed;
    const std::string path = folder.empty() ? directory : io::path_in(directory, folder);
    for (const std::string& name : io::names_in(path, failed)) {
      if (name.starts_with('.') || files.size() == kMost) continue;
      struct stat status {};
      if (::lstat(io::path_in(path, name).c_str(), &status) != 0) continue;
      std::string relative = folder.empty() ? name : io::path_in(folder, name);
      if (!S_ISDIR(status.st_mode))
        files.push_back(std::move(relative));
      else if (folder.empty())
        folders.push_back(std::move(relative));
    }
  };
  list("");
  for (const std::string& folder : folders) list(folder);
  std::ranges::sort(files);
  return files;
}

// Reports the files of a replaced model that are gone although no new file has taken their place. New weights have taken
// that of the old ones, whatever their names are.
void report_removed(const std::string& directory, std::vector<std::string> before, std::vector<Change>& changes) {
  const std::vector<std::string> after = files_below(directory);
  std::erase_if(before, [&](const std::string& name) {
    return std::ranges::binary_search(after, name) || name.ends_with(".index.json") ||
           format_of_suffix(name) != nullptr;
  });
  if (before.empty()) return;
  std::string detail = fmt::format(
      "removed from the directory together with the old model, and the new one has none: {}", listed_names(before));
  changes.push_back({.impact = Impact::lost, .items = std::move(before), .detail = std::move(detail)});
}

}  // namespace

std::uint64_t write_fitting(Model model, const Origins& origins, const WriteJob& job, const WriteOptions& options) {
  const io::MayReplace own(job.own);
  if (job.tree) {
    try {
      if (job.overwrite) refuse_other_container(job.output, model, job.format);
      const bool replaces = job.overwrite && job.changes != nullptr;
      std::vector<std::string> before = replaces ? files_below(job.output) : std::vector<std::string>();
      const std::uint64_t bytes = job.format.write_tree(model, job.output, options, job.overwrite);
      if (!before.empty()) report_removed(job.output, std::move(before), *job.changes);
      if (job.changes != nullptr && (job.format.holds.zstd || job.format.holds.dedup))
        report_expansion(job.output, *job.changes);
      return bytes;
    } catch (Error& error) {
      model.check_sources();  // reports it if an input changed during the conversion, which explains any error
      origins.name_tensor(error);
      throw error.in(file_at_fault(error, job.input, job.output));
    }
  }
  // OpensGate last: a refusal above must not touch the output.
  const std::unique_ptr<Sink> made =
      job.sink == nullptr ? sink_for(job.output, job.format, job.overwrite, job.replaces) : nullptr;
  Sink& sink = made == nullptr ? *job.sink : *made;
  try {
    job.format.write(model, sink, options);
    const Written written{model.tensors.size(), decoded_size(model), std::move(model.metadata)};
    Model rest;  // all that is needed from here on
    rest.sources = std::move(model.sources);
    model = std::move(rest);
    check_written(sink, job.format, written, job.changes);
    model.check_sources();
  } catch (Error& error) {
    model.check_sources();
    origins.name_tensor(error);
    throw error.in(file_at_fault(error, job.input, job.output));
  }
  const std::uint64_t bytes = sink.position();
  check_last_stop();
  sink.commit();
  return bytes;
}

namespace {

NameSet skipped_in(const std::vector<Change>& changes) {
  NameSet names;
  for (const Change& change : changes)
    if (change.kind == ChangeKind::skipped) names.insert(change.items.begin(), change.items.end());
  return names;
}

// Where a model is written, determined before anything is read.
struct Destination {
  const Format& format;
  bool tree;

  Destination(const std::string& output, const SaveOptions& options)
      : format(target_of(output, options)), tree(is_tree(output, format, options)) {}
  // A sink, which is one file whatever its name is.
  explicit Destination(const Format& one_file) : format(one_file), tree(false) {}
};

// The files of the model that is saved.
struct OwnFiles {
  io::FileIds weights;  // those of Model::sources
  io::FileIds all;      // and what was read next to them

  explicit OwnFiles(const Model& model) : weights(io::ids_of(model.sources)), all(weights) {}
  // A new directory takes the place of all of them. A file takes the place of a model that is one file; next to the other
  // files of a set or a directory it would be a foreign one.
  io::FileIds replaced_by(const Destination& to) const {
    return to.tree ? all : weights.size() == 1 ? weights : io::FileIds();
  }
};

// `input`: the file that errors about the model itself name. `refit`: see convert_refitted; may be null. `sink`: see
// WriteJob.
Saved save_to(const Destination& to, Model model, const OwnFiles& own, const std::string& input,
              const std::string& output, const SaveOptions& options, bool check, const Refit& refit,
              Sink* sink = nullptr) {
  const StopScope stop(options.work);
  const Format& format = to.format;
  Saved done;
  done.to = format.name;
  const Origins origins(model);
  NameSet compressed;
  if (format.holds.zstd) compressed = compressed_tensors(model);
  Adapted adapted;
  std::vector<Change> decompressed;
  try {
    if (check) check_digests(model, options.work.threads);
    adapted = adapt(std::move(model), format, options.adapt, options.work);
    report_decompressed(adapted.model, compressed, options.write,
                        decompressed);  // before parts take the place of tensors
    if (refit != nullptr)
      refit(adapted.model);  // the digests of the bytes that these tensors are made of were checked when they were made
    else
      origins.verify_changed(adapted.model, skipped_in(adapted.changes), options.work.threads);
  } catch (Error& error) {
    origins.name_tensor(error);
    throw error.in(input);
  }
  done.changes = std::move(adapted.changes);
  done.outcomes = std::move(adapted.outcomes);
  done.lost = std::move(adapted.lost);
  std::ranges::move(decompressed, std::back_inserter(done.changes));
  if (format.remarks != nullptr)
    for (Change& remark : format.remarks(adapted.model, options.write)) done.changes.push_back(std::move(remark));
  done.tensors = adapted.model.tensors.size();
  for (const Tensor& tensor : adapted.model.tensors) done.bytes += tensor.bytes();
  if (options.work.progress != nullptr) options.work.progress->expect(done.bytes);
  WriteOptions write = options.write;
  write.work = options.work;

  done.file_bytes = write_fitting(std::move(adapted.model), origins,
                                  {.format = format,
                                   .tree = to.tree,
                                   .input = input,
                                   .output = output,
                                   .overwrite = options.overwrite,
                                   .sink = sink,
                                   .changes = &done.changes,
                                   .own = own.replaced_by(to)},
                                  write);
  return done;
}

// `save_to` of a model that was opened before.
Saved save_opened(const Destination& to, Model model, const std::string& path, const SaveOptions& options,
                  Sink* sink = nullptr) {
  io::InputFiles inputs;
  const OwnFiles own(model);
  inputs.add(own.all);
  return save_to(to, std::move(model), own, path, path, options, false, nullptr, sink);
}

}  // namespace

Saved save(Model model, const std::string& path, const SaveOptions& options) {
  return save_opened(Destination(path, options), std::move(model), path, options);
}

Saved save(Model model, Sink& sink, const SaveOptions& options) {
  const std::string name = sink.name();
  if (options.write.shard_bytes)
    throw Error(ErrorKind::usage, "convert.shards", "a sharded set is a directory, and this is one file").in(name);
  const Format& format = target_of(name, options);
  if (format.write == nullptr)
    throw Error(ErrorKind::usage, "convert.format", fmt::format("{} is a directory, not one file", format.name));
  return save_opened(Destination(format), std::move(model), name, options, &sink);
}

const Format& format_for(const std::string& path, const SaveOptions& options) { return target_of(path, options); }

const Format* format_of_file(const std::string& path, const SaveOptions& options) {
  const Destination to(path, options);
  return to.tree ? nullptr : &to.format;
}

Saved save_into(Sink& sink, Model model, const std::string& path, const SaveOptions& options) {
  return save_opened(Destination(path, options), std::move(model), path, options, &sink);
}

Conversion convert(const std::string& input, const std::string& output, const ConvertOptions& options) {
  return convert_refitted(input, output, options, nullptr);
}

namespace {

Model merged(Model model, const std::string& input, const std::string& adapter, const ConvertOptions& options,
             std::vector<Change>& changes) {
  ReadOptions read = options.read;
  read.work = options.work;
  read.diagnostics = nullptr;
  read.attach.clear();
  Model opened = open(adapter, read);
  if (options.check) check_digests(opened, options.work.threads);
  try {
    return merge_adapter(std::move(model), opened, changes);
  } catch (Error& error) {
    throw error.in(error.kind() == ErrorKind::io ? input : adapter);
  }
}

// Opens the input and merges all adapters. A plan, its tasks and `convert` all begin with this. `own`: receives the files
// of the input alone; may be null.
Model opened_for(const std::string& input, const ConvertOptions& options, Diagnostics* diagnostics,
                 std::vector<Change>& changes, std::optional<OwnFiles>* own) {
  if (!options.read.attach.empty() && !io::is_folder(input))
    throw Error(ErrorKind::usage, "convert.attach",
                "files to attach are those of a model's directory; this is one file")
        .in(input);
  ReadOptions read = options.read;
  read.work = options.work;
  read.diagnostics = diagnostics;
  read.keep_broken = true;  // they may be skipped; adapt refuses those that are not
  const io::InputFiles files;
  Model model = open(input, read);
  if (own != nullptr) own->emplace(model).all.merge(io::FileIds(files.files()));
  if (!options.family.empty()) {
    const std::string_view type = arch::type_of_family(options.family);
    if (type.empty())
      throw Error(ErrorKind::usage, "convert.family",
                  fmt::format("no family {} is known; `tare families` lists those that are", quote(options.family)));
    model.config.model_type = std::string(type);
  }
  for (const std::string& adapter : options.merge) model = merged(std::move(model), input, adapter, options, changes);
  return model;
}

// Whether the input is the directory that the output replaces, or a file in it.
bool reads_from(const std::string& input, const std::string& output) {
  std::error_code none;
  return std::filesystem::equivalent(input, output, none) ||
         std::filesystem::equivalent(io::directory_of(input), output, none);
}

SaveOptions save_options(const ConvertOptions& options) {
  return {options.adapt, options.write, options.to, options.overwrite, options.work};
}

}  // namespace

namespace {

// The file of a vision tower, next to the model that is written or read.
class TowerFile {
 public:
  // Throws unless the target, or the model, can have one.
  TowerFile(const ConvertOptions& options, const std::string& output, const Destination& to)
      : options_(options), writes_(options.mmproj.empty() ? nullptr : tower_conventions(to.format)) {
    if (options.mmproj.empty()) return;
    if (writes_ == nullptr && !has_directory_form(to.format))
      throw Error(ErrorKind::usage, "convert.mmproj",
                  fmt::format("{} has no files of vision towers, and is not a directory of both", to.format.title));
    if (writes_ == nullptr) return;
    if (options.mmproj == "-" || options.mmproj == output)
      throw Error(ErrorKind::usage, "convert.mmproj", "the vision tower needs a file of its own").in(options.mmproj);
    sink_ = sink_for(options.mmproj, to.format, options.overwrite);
  }

  // Before the model is adapted.
  void take(Model& model, const std::string& input, std::vector<Change>& changes) {
    if (options_.mmproj.empty()) return;
    try {
      if (writes_ != nullptr)
        tower_ = writes_->adopt(model, changes);
      else
        join(model, changes);
    } catch (Error& error) {
      throw error.in(input);
    }
  }

  // After the model was written.
  void write(const OwnFiles& own, const std::string& input, const Destination& to, std::vector<Change>& changes) {
    if (!tower_) return;
    SaveOptions save;
    save.adapt.dtype = options_.adapt.dtype;
    save.adapt.overflow = options_.adapt.overflow;
    save.to = to.format.name;
    save.work = options_.work;
    Saved saved = save_to(Destination(to.format), std::move(*tower_), own, input, options_.mmproj, save, options_.check,
                          nullptr, sink_.get());
    std::erase_if(changes, [](const Change& change) { return change.part == kTowerPart; });
    std::ranges::move(saved.changes, std::back_inserter(changes));
    changes.push_back({.impact = Impact::note,
                       .detail = fmt::format("the vision tower is in {}: {} tensors, {}", quote(options_.mmproj),
                                             saved.tensors, size_text(saved.file_bytes))});
  }

 private:
  void join(Model& model, std::vector<Change>& changes) const {
    ReadOptions read = options_.read;
    read.work = options_.work;
    read.diagnostics = nullptr;
    read.attach.clear();
    Model tower = open(options_.mmproj, read);
    if (options_.check) check_digests(tower, options_.work.threads);
    const TowerConventions* const conventions = tower_conventions_of(model);
    if (conventions == nullptr)
      throw Error(ErrorKind::unsupported, "convert.tower",
                  "expected a text model in a container that keeps the vision tower in a file of its own");
    conventions->join(model, std::move(tower), changes);
  }

  const ConvertOptions& options_;
  const TowerConventions* writes_;
  std::unique_ptr<Sink> sink_;
  std::optional<Model> tower_;
};

}  // namespace

Planned plan_conversion(const std::string& input, const std::string& output, const ConvertOptions& options) {
  if (!options.mmproj.empty())
    throw Error(ErrorKind::usage, "convert.mmproj", "a plan writes one model; its vision tower is written by convert");
  const StopScope stop(options.work);
  const Spending spending(allowance_of(options.read.limits));
  const Destination target(output, save_options(options));
  Planned planned;
  std::vector<Change> ignored;
  planned.source = opened_for(input, options, options.read.diagnostics, ignored, nullptr);
  const Origins origins(planned.source);
  try {
    planned.model = adapt(planned.source, target.format, options.adapt, options.work).model;
  } catch (Error& error) {
    origins.name_tensor(error);
    throw error.in(input);
  }
  return planned;
}

Conversion convert_refitted(const std::string& input, const std::string& output, const ConvertOptions& options,
                            const Refit& refit) {
  const StopScope stop(options.work);
  const Spending spending(allowance_of(options.read.limits));  // for the model, its adapters and what is made of them
  const SaveOptions save = save_options(options);
  const Destination target(output, save);
  Remarks remarks(options.read.diagnostics, options.check);  // also checks sums that only a reader knows (zip)
  std::vector<Change> changes;
  const io::InputFiles inputs;
  TowerFile tower(options, output, target);
  std::optional<io::WatchedTree> watched;
  if (target.tree && reads_from(input, output)) watched.emplace(output);
  std::optional<OwnFiles> own;
  Model model = opened_for(input, options, &remarks, changes, &own);
  Conversion done;
  done.from = model.format;
  tower.take(model, input, changes);
  static_cast<Saved&>(done) = save_to(target, std::move(model), *own, input, output, save, options.check, refit);
  tower.write(*own, input, target, done.changes);
  std::ranges::move(remarks.changes(), std::back_inserter(changes));
  for (Change& change : done.changes)
    if (std::ranges::find(changes, change) == changes.end()) changes.push_back(std::move(change));
  done.changes = std::move(changes);
  return done;
}

}  // namespace tare
