// A directory in Hugging Face's layout.
//
//   model.safetensors, or model.safetensors.index.json and its shards    the weights; if there are none, PyTorch's:
//   pytorch_model.bin, or pytorch_model.bin.index.json and its shards; or .metadata and *.distcp
//   or shard-00001-model-00001-of-00001.safetensors and so on                parts of the tensors: split.cpp
//   config.json, tokenizer.json, tokenizer.model, generation_config.json, chat_template.jinja, README.md, ...
//       attachments, carried verbatim: the table of resources/model_files.cpp; config and vocabulary are read from them
//   *.py, if the auto_map of a config names code; the folders that modules.json names (1_Pooling/)
//       also attachments, as are the files that --attach names
//   tare.json                                                            Tare's own, for what no other file can hold:
//     {"tare":1, "made":[FILE], "added":[KEY], "attachments":{FILE:NAME}, "config":{...}, "vocabulary":{...},
//      "vocabulary_changes":{...}, "digests":{FILE:DIGEST}}
//
// made: files that were written from the model's config and vocabulary and are not attachments of it. added: metadata
// keys that were added for other readers ("format":"pt", which transformers needs). attachments: files beyond the
// well-known ones, and the names of the attachments. config, vocabulary: what cannot be read back from the files;
// config has only those fields, with null for a field that the files have and the model has not. vocabulary_changes:
// the same if the files have a vocabulary: the parts that differ, and {POSITION:ELEMENT} for lists. digests: of the
// files that config and vocabulary are read from. If such a file has changed since, the user has edited it, and it
// overrides tare.json.
//
// Other files (original checkpoints, other containers of the same weights) are not part of the model. Weights with
// another name than "model" are read if they are the only candidate; the metadata key hf.weights keeps the name.
// links.cpp decides which links are followed.
#include "formats/hf/hf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/glob.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/only_tensors.hpp"
#include "formats/private_tree.hpp"
#include "formats/rows.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "io/places.hpp"
#include "io/remote/url.hpp"
#include "resources/model_files.hpp"
#include "resources/resources.hpp"

namespace tare::hf {
namespace {

namespace fs = std::filesystem;

Error problem(std::string_view rule, const std::string& sentence, const std::string& file) {
  return Error(ErrorKind::corrupt, rule, sentence).in(file);
}

class Reader {
 public:
  Reader(const Input& input, const ReadOptions& options)
      : directory_(without_slashes(input.path)), options_(options), reports_(options), links_(directory_) {}

  Model run() {
    refuse_pipeline(directory_);
    const std::vector<std::string> files = list_files(directory_);
    weights_ = choose_weights(directory_, files);
    PrivateTree own = read_private(files);
    read_weights();
    keep_stem();
    for (const std::string& file : files)
      if (is_resource(file)) attach_resource(file);
    attach_templates();
    const bool reads_files = !io::is_remote(directory_) || !OnlyTensors::wanted();
    if (reads_files) attach_named(files);
    find_edited(own, files);  // checks the directory's own files, before others of the same names
    attach_others(own);
    attach_asked_for();
    if (reads_files) {
      check_config();
      resources::describe(model_, *reports_);
    }
    apply(own);
    note_unused(files);
    for (const SourcePtr& source : model_.sources) require_inside(*source);
    return std::move(model_);
  }

 private:
  void require_inside(const Source& source) const {
    if (!links_.allow(source))
      throw problem(
          "hf.file.outside",
          links_.outside(source.name()).value_or("was exchanged for another file while the directory was read"),
          source.name());
  }
  std::string path_of(std::string_view file) const { return fmt::format("{}/{}", directory_, file); }

  // Returns why a file cannot be read; nothing if it can.
  std::optional<Error> problem_with(const std::string& path) const {
    if (const auto wrong = what_is_wrong(path)) return problem("hf.file.broken", *wrong, path);
    if (const auto outside = links_.outside(path)) return problem("hf.file.outside", *outside, path);
    return std::nullopt;
  }
  void require(const std::string& path) const {
    if (const auto bad = problem_with(path)) throw *bad;
  }

  void read_weights() {
    if (!weights_.split.empty()) {
      for (const std::string& file : weights_.split) require(path_of(file));
      model_ = read_split(directory_, weights_.split, options_);
      reports_->note(
          problem("hf.split",
                  fmt::format("the weights are {} shards of torch.distributed.checkpoint, each with boxes of "
                              "the tensors; nothing says how many shards there should be",
                              weights_.split.size()),
                  directory_));
      return;
    }
    if (weights_.parts) {
      model_ = torch::kFormat.read({directory_, nullptr}, options_);
      model_.version.clear();
      return;
    }
    const std::string path = path_of(weights_.file);
    require(path);
    const SourcePtr source = open_file(path, options_.access);
    const Format& found = detect(*source);  // throws for a git-lfs pointer or an error page
    const bool index = found.name == safetensors::kFormat.name && safetensors::is_index(*source);
    const bool ours = index || found.name == (weights_.torch ? torch::kFormat.name : safetensors::kFormat.name);
    if (!ours || index != weights_.index)
      throw problem("hf.weights.format",
                    fmt::format("expected {}, found {}",
                                weights_.index   ? "an index"
                                : weights_.torch ? "a PyTorch file"
                                                 : "safetensors",
                                index ? "an index of such files" : found.title),
                    path);
    if (index) {
      require_shards_inside();
      model_ = safetensors::read_set(path, source, options_);
    } else {
      // No path is passed on: the reader must not look at other files of the directory.
      model_ = weights_.torch ? found.read({"", source}, options_) : safetensors::read_file(source, options_);
      model_.version.clear();  // it is the version of the file, not of the directory
      model_.file_bytes = source->size();
    }
    model_.sources.push_back(source);
  }

  // Reports shards outside the directory. If the index cannot be read, `read_set` reports that in more detail.
  void require_shards_inside() {
    const std::vector<std::string>* shards = nullptr;
    try {
      shards = &shards_of_index();
    } catch (const Error&) {
      return;
    }
    for (const std::string& shard : *shards) {
      // An index may name hundreds of thousands of shards, and resolving a path takes one call per folder.
      std::error_code none;
      const bool plain =
          shard.find('/') == std::string::npos && (io::is_remote(directory_) || !fs::is_symlink(path_of(shard), none));
      if (const auto outside = plain ? std::nullopt : links_.outside(path_of(shard)))
        throw problem("hf.file.outside", *outside, path_of(shard));
    }
  }

  // The name of the file overrides the name in its metadata, which is stale if the file was renamed.
  void keep_stem() {
    if (stem_in(model_.metadata)) model_.metadata.erase(kStemKey);
    Map called;
    called.append(std::string(kStemKey), stem_of(weights_));
    if (stem_in(called)) model_.metadata.set(kStemKey, stem_of(weights_));
  }

  void attach(const std::string& file, const std::string& name) {
    const std::string path = path_of(file);
    if (const auto bad = problem_with(path)) return reports_->error(*bad);
    const SourcePtr source = open_file(path, options_.access);
    model_.file_bytes += source->size();
    model_.sources.push_back(source);
    model_.attachments.push_back({name, Blob::range(source, 0, source->size())});
  }

  // Attaches a document. One that is outside the directory or very large is left out with a remark: the model is
  // complete without it.
  void attach_resource(const std::string& file) {
    constexpr std::uint64_t kLongest = std::uint64_t{16} << 20;
    const std::string path = path_of(file);
    if (!is_vital_resource(file) && (problem_with(path) || open_file(path, Access::pread)->size() > kLongest))
      left_behind_.push_back(file);
    else
      attach(file, file);
  }

  void drop_attachment(std::string_view name) {
    std::erase_if(model_.attachments, [&](const Attachment& attachment) { return attachment.name == name; });
  }

  // Returns whether the folder is outside the directory; such a folder is not even listed.
  bool leads_out(const std::string& folder) {
    const auto outside = links_.outside(folder);
    if (outside) reports_->error(problem("hf.file.outside", *outside, folder));
    return outside.has_value();
  }

  void attach_templates() {
    const std::string folder = path_of(kTemplateFolder);
    std::error_code none;
    if (!io::is_remote(folder) ? !fs::exists(fs::symlink_status(folder, none))
                               : io::kind_at(folder) == io::EntryKind::none)
      return;
    if (!io::is_folder(folder))
      return reports_->error(problem("hf.file.broken", "is not a directory of chat templates; move it away", folder));
    if (leads_out(folder)) return;
    for (const std::string& file : list_entries(folder)) {
      const std::string name = fmt::format("{}/{}", kTemplateFolder, file);
      if (is_resource(name)) attach(name, name);
    }
  }

  // Attaches the code and folders that the files read so far name.
  void attach_named(const std::vector<std::string>& files) {
    const resources::NamedFiles named = resources::named_by(model_.attachments);
    for (const std::string& file : files)
      if (named.cover(file)) attach(file, file);
    for (const std::string& folder : named.folders) {
      if (!io::is_folder(path_of(folder))) continue;  // a module without files
      if (leads_out(path_of(folder))) continue;
      for (const std::string& file : list_below(directory_, folder))
        if (named.cover(file) && !has_attachment(file)) attach(file, file);
    }
  }

  bool has_attachment(std::string_view name) const { return model_.attachment(name) != nullptr; }

  // Attaches the files that the globs of ReadOptions::attach match, except the weights.
  void attach_asked_for() {
    if (options_.attach.empty()) return;
    const std::vector<std::string> files = list_below(directory_, "");
    for (const std::string& glob : options_.attach) {
      bool fits = false;
      for (const std::string& file : files) {
        if (file == kPrivateFile || file == weights_.file || is_shard_of_ours(file) || !glob_match(glob, file))
          continue;
        fits = true;
        if (!is_used(path_of(file))) attach(file, file);
      }
      if (!fits)
        throw Error(ErrorKind::usage, "hf.attach", fmt::format("no file of the directory matches {}", glob))
            .in(directory_);
    }
  }

  PrivateTree read_private(const std::vector<std::string>& files) {
    if (!std::binary_search(files.begin(), files.end(), std::string(kPrivateFile))) return PrivateTree(kPrivateRule);
    const std::string path = path_of(kPrivateFile);
    require(path);
    const SourcePtr source = open_file(path, options_.access);
    require_inside(*source);
    try {
      const Bytes bytes = Blob::range(source, 0, source->size()).bytes(options_.limits.metadata_bytes);
      return PrivateTree::parse(as_text(bytes), private_bounds(options_.limits), kPrivateRule);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      warn(error.sentence());
    }
    return PrivateTree(kPrivateRule);
  }

  void warn(const std::string& sentence) { reports_->warning(problem(kPrivateRule, sentence, path_of(kPrivateFile))); }

  // Reports an error of one part, so that it does not hide the others.
  template <typename Take>
  void guarded(const Take& take) {
    try {
      take();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      warn(error.sentence());
    }
  }
  const Map* map_at(PrivateTree& own, std::string_view key) {
    const Map* map = nullptr;
    guarded([&] { map = own.map(key); });
    return map;
  }

  void attach_others(PrivateTree& own) {
    const Map* const others = map_at(own, "attachments");
    if (others == nullptr) return;
    for (const auto& [file, name] : *others) {
      if (name.text() == nullptr || !is_safe_path(file) || !io::is_file(path_of(file)))
        warn(fmt::format("names a file \"{}\", which does not exist", quote(file)));
      else if (!is_used(path_of(file)))  // a file that older versions did not know
        attach(file, *name.text());
    }
  }

  // Without a readable config.json the meaning of the weights is unknown: report that instead of showing a model
  // without hyper-parameters.
  void check_config() {
    const Attachment* const config = model_.attachment("config.json");
    if (config == nullptr) return;
    try {
      const Bytes bytes = config->blob.bytes(resources::kMaxFileBytes);
      resources::parse_config(as_text(bytes));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      Error bad =
          problem("hf.config.json",
                  fmt::format("{}; repair it, or move it away to open the model without a config", error.sentence()),
                  path_of("config.json"));
      if (error.offset()) bad.at(*error.offset());
      reports_->error(bad);
      drop_attachment("config.json");  // so that it is reported once
    }
  }

  // Compares the files with the digests in tare.json. Directories from before there were digests are used as they are.
  void find_edited(PrivateTree& own, const std::vector<std::string>& files) {
    const Map* const digests = map_at(own, "digests");
    if (digests == nullptr) return;
    const auto note = [&](const std::string& sentence) {
      reports_->note(problem("hf.private.edited", sentence, directory_));
    };
    edited_ = edited_since(*digests, model_.attachments);
    if (!edited_.empty())
      note(fmt::format("changed since {} was written, and read as now: {}", kPrivateFile, fmt::join(edited_, ", ")));
    const auto missing = missing_since(*digests, files);
    tokenizer_missing_ = std::ranges::any_of(missing, [](const std::string& file) { return file != "config.json"; });
    if (!missing.empty())
      note(fmt::format("removed since {0} was written: {1}; {2}", kPrivateFile, fmt::join(missing, ", "),
                       tokenizer_missing_ && own.find("vocabulary_changes") != nullptr
                           ? "the vocabulary is what the other files say"
                           : fmt::format("the copy in {} is used", kPrivateFile)));
  }
  bool is_edited(std::string_view file) const {
    return std::find(edited_.begin(), edited_.end(), file) != edited_.end();
  }

  void apply(PrivateTree& own) {
    const auto each = [&](std::string_view key, const auto& visit) {
      const Value* const value = own.find(key);
      const List* const list = value == nullptr ? nullptr : value->get<List>();
      if (value != nullptr && list == nullptr) warn(fmt::format("\"{}\" is not a list", key));
      if (list == nullptr) return;
      for (const Value& item : *list)
        if (item.text() != nullptr)
          visit(*item.text());
        else
          warn(fmt::format("\"{}\" has an entry that is not a string", key));
    };
    NameSet made, added;
    each("made", [&](const std::string& file) {
      if (!is_edited(file)) made.insert(file);
    });
    each("added", [&](const std::string& key) { added.insert(key); });
    std::erase_if(model_.attachments, [&](const Attachment& attachment) { return made.contains(attachment.name); });
    model_.metadata.erase_if([&](const Map::Entry& entry) { return added.contains(entry.first); });
    if (const Map* const config = map_at(own, "config")) {
      std::vector<std::string> misfits;
      model_.config = with_differences(model_.config, *config, is_edited("config.json"), misfits);
      for (const std::string& misfit : misfits) warn(misfit + "; it is ignored");
    }
    const Map* const vocabulary = map_at(own, "vocabulary");
    const Map* const changes = map_at(own, "vocabulary_changes");
    const bool tokenizer_edited =
        std::any_of(edited_.begin(), edited_.end(), [](const std::string& file) { return file != "config.json"; });
    if (vocabulary != nullptr && (!tokenizer_edited || model_.vocabulary.empty()))
      guarded([&] { own.take_vocabulary(model_); });
    // The changes refer to the original files, so they apply only if none has changed.
    else if (changes != nullptr && !tokenizer_edited && !tokenizer_missing_ && !model_.vocabulary.empty())
      guarded([&] { model_.vocabulary = with_differences(model_.vocabulary, *changes); });
  }

  // Returns whether some part of the model comes from the file, or from a file in the folder.
  bool is_used(const std::string& path) const {
    const auto from_there = [&](const Blob& blob) {
      const std::string& name = blob.source()->name();
      return name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '/');
    };
    return std::any_of(model_.attachments.begin(), model_.attachments.end(),
                       [&](const Attachment& a) { return from_there(a.blob); });
  }

  // Returns whether the distributed checkpoint, whose files may have any name, was read from this file.
  bool is_read(const std::string& path) const {
    return weights_.parts &&
           std::ranges::any_of(model_.sources, [&](const SourcePtr& source) { return source->name() == path; });
  }

  const std::vector<std::string>& shards_of_index() {
    const std::string path = path_of(weights_.file);
    if (!shards_) shards_ = safetensors::read_index(path, *open_file(path, Access::pread), options_.limits).shards;
    return *shards_;
  }

  // Returns whether the file is a shard of the set, even one that could not be read.
  bool is_shard_of_ours(const std::string& file) {
    if (!weights_.index) return false;
    return std::binary_search(shards_of_index().begin(), shards_of_index().end(), file);
  }

  // Returns whether the name is that of a shard of our set that the index does not list. A shard of a set with another
  // number of files was left by an older download and is not reported.
  bool is_forgotten(const std::string& file) {
    const auto shard = safetensors::parse_shard_name(file);
    if (!weights_.index || !shard || shard->stem != stem_of(weights_)) return false;
    const auto count_of = [](const std::string& name) {
      const auto named = safetensors::parse_shard_name(name);
      return named ? named->count : 0;
    };
    const std::vector<std::string>& named = shards_of_index();
    return named.empty() || std::any_of(named.begin(), named.end(),
                                        [&](const std::string& name) { return count_of(name) == shard->count; });
  }

  void note_unused(const std::vector<std::string>& files) {
    std::vector<std::string> unused = left_behind_;
    std::vector<std::string> other_weights;
    for (const std::string& file : files) {
      if (is_resource(file) || file == kPrivateFile || file == weights_.file || is_used(path_of(file)) ||
          is_shard_of_ours(file) || is_read(path_of(file)))
        continue;
      if (!weights_.torch && (is_torch_weights(file) || is_torch_shard(file))) {
        other_weights.push_back(file);
        continue;
      }
      if (is_forgotten(file))
        reports_->warning(
            problem("hf.weights.forgotten",
                    fmt::format("a shard of the set by its name, and {} does not name it: its tensors are "
                                "not read; download the index again",
                                weights_.file),
                    path_of(file)));
      else
        unused.push_back(file);
    }
    if (!other_weights.empty())
      reports_->left_behind(
          problem("hf.weights.both",
                  fmt::format("{} holds weights, too; those of {} are read", other_weights.front(), weights_.file),
                  directory_));
    for (const std::string& folder : list_folders(directory_))
      if (folder != kTemplateFolder && !folder.starts_with('.') && !is_used(path_of(folder)))
        unused.push_back(folder + "/");
    if (unused.empty()) return;
    constexpr std::size_t kNamed = 8;
    const std::size_t named = unused.size() <= kNamed + 1 ? unused.size() : kNamed;
    reports_->left_behind(
        problem("hf.file.unused", fmt::format("not part of the model: {}", listed(unused, named)), directory_));
  }

  std::string directory_;
  const ReadOptions& options_;
  safetensors::Reports reports_;
  Links links_;
  Model model_;
  Weights weights_;
  std::vector<std::string> left_behind_;            // documents that are outside, too large, or not files
  std::vector<std::string> edited_;                 // files that changed since tare.json was written
  bool tokenizer_missing_ = false;                  // a tokenizer file that tare.json lists does not exist
  std::optional<std::vector<std::string>> shards_;  // the shards that the index names, read on first use
};

bool recognize_bytes(const Source& /*source*/) { return false; }  // a directory is never one file

constexpr std::string_view kSuffixes[] = {"/"};

}  // namespace

Model read(const Input& input, const ReadOptions& options) {
  if (input.source != nullptr)
    throw Error(ErrorKind::usage, "hf.directory", "expected a directory, found a file").in(input.path);
  return Reader(input, options).run();
}

namespace {

constexpr Capabilities held() {
  Capabilities holds = safetensors::kHolds;
  holds.vocabulary = holds.attachments = true;
  holds.forward_only = false;
  return holds;
}

}  // namespace

// The name of the weights.
constexpr OwnKey kOwnKeys[] = {{.key = kStemKey, .about_set = true}};

constinit const Format kFormat = {
    .name = "hf",
    .title = "Hugging Face directory",
    .versions = "reads and writes safetensors, whole or sharded, with config and tokenizer files",
    .suffixes = kSuffixes,
    .holds = held(),
    .recognize = recognize_bytes,
    .read = read,
    .remarks = remarks,
    .own_keys = kOwnKeys,
    .recognize_tree = recognize,
    .write_tree = write,
};

}  // namespace tare::hf
