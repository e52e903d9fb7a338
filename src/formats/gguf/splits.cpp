// A model in several files: STEM-00001-of-00003.gguf and so on. The first has all metadata; each has its number.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "formats/gguf/gguf.hpp"
#include "formats/shard_limit.hpp"
#include "io/descriptor_source.hpp"
#include "io/links.hpp"
#include "io/listing.hpp"
#include "io/place.hpp"
#include "io/places.hpp"
#include "io/remote/url.hpp"
#include "io/tree_sink.hpp"

namespace tare::gguf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "model";
constexpr std::size_t kDigits = 5;

std::string file_name(std::string_view stem, std::uint64_t number, std::uint64_t count) {
  return fmt::format("{}-{:05}-of-{:05}{}", stem, number, count, kSuffix);
}

// "STEM-00002-of-00003.gguf"
struct PartName {
  std::string_view stem;
  std::uint32_t number = 0, count = 0;
};
std::optional<PartName> parse_name(std::string_view file) {
  constexpr std::size_t kTail = 1 + kDigits + 4 + kDigits + kSuffix.size();
  if (file.size() <= kTail || !file.ends_with(kSuffix)) return std::nullopt;
  const std::string_view tail = file.substr(file.size() - kTail);
  const auto number = [&](std::size_t at) {
    const std::string_view digits = tail.substr(at, kDigits);
    std::uint32_t value = 0;
    const bool all = digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (all) std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  };
  PartName name{file.substr(0, file.size() - kTail), number(1), number(1 + kDigits + 4)};
  if (tail.front() != '-' || tail.substr(1 + kDigits, 4) != "-of-" || name.number == 0 || name.number > name.count)
    return std::nullopt;
  return name;
}

constexpr std::string_view kOutsideRule = "gguf.split.outside";
constexpr std::string_view kExchanged = "was exchanged for another file while the model was opened";

class SetReader {
 public:
  SetReader(std::string path, const ReadOptions& options)
      : path_(std::move(path)),
        links_(io::directory_of(path_)),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics) {}

  // `opened` is the file at the path, whose entries number it as part of a set.
  Model run(const SourcePtr& opened, const Split& split) {
    const std::string file = path_.substr(path_.rfind('/') + 1);
    const auto name = parse_name(file);
    if (!name || name->count != split.count)
      throw Error(ErrorKind::corrupt, "gguf.split.name",
                  fmt::format("one of {} files that make a model, which are called {} and so on", split.count,
                              file_name("STEM", 1, split.count)))
          .in(path_)
          .at(0);
    for (std::uint32_t i = 0; i < split.count; ++i)
      read_part(io::directory_of(path_) + "/" + file_name(name->stem, i + 1, split.count), i, split.count, opened);
    if (total_ >= 0 && whole_ && static_cast<std::uint64_t>(total_) != model_.tensors.size() + model_.broken.size())
      diagnostics_.error(Error(ErrorKind::corrupt, "gguf.split.tensors",
                               fmt::format("{} tensors in all files, {} were stated: a file is of another model",
                                           model_.tensors.size() + model_.broken.size(), total_))
                             .in(path_));
    give_attributes();
    return std::move(model_);
  }

 private:
  // The first file has the attributes of all tensors.
  void give_attributes() {
    for (Tensor& tensor : model_.tensors)
      if (Value* const found = attributes_.find(tensor.name); found != nullptr && found->get<Map>() != nullptr)
        tensor.attributes = std::move(*found->get<Map>());
  }

  void wrong(const std::string& path, std::string_view rule, std::string_view sentence) {
    whole_ = false;
    diagnostics_.error(Error(ErrorKind::corrupt, rule, sentence).in(path).at(0));
  }

  // Returns null after an error.
  SourcePtr open_part(const std::string& path, std::uint32_t number, std::uint32_t count) {
    try {
      if (const auto outside = links_.outside(path)) {
        wrong(path, kOutsideRule, *outside);
        return nullptr;
      }
      SourcePtr source = open_file(path, options_.access);
      if (links_.allow(*source)) return source;
      wrong(path, kOutsideRule, kExchanged);
    } catch (const Error& reason) {
      if (reason.kind() != ErrorKind::not_found) throw;
      whole_ = false;
      diagnostics_.error(
          Error(ErrorKind::not_found, "gguf.split.missing",
                fmt::format("file {} of {} is missing; download it into the same directory", number + 1, count))
              .in(path));
    }
    return nullptr;
  }

  void read_part(const std::string& path, std::uint32_t number, std::uint32_t count, const SourcePtr& opened) {
    const SourcePtr source = path == path_ ? opened : open_part(path, number, count);
    if (source == nullptr) return;
    Parts parts;
    Model part = read_file(source, options_, parts);
    std::optional<Split>& split = parts.split;
    if (!split || split->count != count || split->number != number)
      return wrong(path, "gguf.split.number",
                   split ? fmt::format("says that it is file {} of {}", split->number + 1, split->count)
                         : std::string("does not say that it is one of several"));
    if (number == 0) {
      total_ = split->tensors;
      attributes_ = std::move(split->attributes);
      model_ = std::move(part);
      for (const Tensor& tensor : model_.tensors) names_.insert(tensor.name);
      model_.file_bytes = source->size();
      if (source != opened) model_.sources.push_back(source);
      return;
    }
    if (split->tensors != total_)
      return wrong(path, "gguf.split.tensors",
                   fmt::format("{} tensors in all files, the first file says {}", split->tensors, total_));
    part.metadata.erase(kPaddedKey);
    if (part.config != Config() || !part.vocabulary.empty() || !part.metadata.empty())
      return wrong(path, "gguf.split.metadata", "has metadata of its own; only the first file of a model has");
    if (!part.attachments.empty())
      return wrong(path, "gguf.split.metadata",
                   fmt::format("carries the file {}; only the first file of a model carries files",
                               quote(part.attachments.front().name)));
    const bool has_attributes =
        std::ranges::any_of(part.tensors, [](const Tensor& tensor) { return !tensor.attributes.empty(); });
    if (has_attributes || !split->attributes.empty())
      return wrong(path, "gguf.split.metadata",
                   "has attributes of tensors; only the first file of a model has those of all tensors");
    for (Tensor& tensor : part.tensors) {
      if (!names_.insert(tensor.name).second)
        return wrong(path, "gguf.split.duplicate", fmt::format("has the tensor {} again", quote(tensor.name)));
      model_.tensors.push_back(std::move(tensor));
    }
    for (BrokenTensor& broken : part.broken) model_.broken.push_back(std::move(broken));
    model_.file_bytes += source->size();
    if (source != opened) model_.sources.push_back(source);
  }

  std::string path_;
  Links links_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  Model model_;
  NameSet names_;
  Map attributes_;
  std::int64_t total_ = -1;
  bool whole_ = true;  // every file could be read
};

// The GGUF files of a directory; for a set, only its first file.
std::vector<std::string> first_files(const std::string& path) {
  std::vector<std::string> found;
  std::error_code none;
  for (const std::string& file : io::names_in(path, none)) {
    if (!file.ends_with(kSuffix) || file.starts_with('.')) continue;
    if (const auto name = parse_name(file); !name || name->number == 1) found.push_back(file);
  }
  return found;
}

Entry number_entry(std::string_view key, ValueType type, std::int64_t number) {
  return {std::string(key), {type, false}, Value(number)};
}

std::vector<Entry> split_entries(std::uint64_t number, std::uint64_t count, std::size_t tensors) {
  return {number_entry(kSplitNumber, ValueType::u16, static_cast<std::int64_t>(number)),
          number_entry(kSplitCount, ValueType::u16, static_cast<std::int64_t>(count)),
          number_entry(kSplitTensors, ValueType::i32, static_cast<std::int64_t>(tensors))};
}

std::vector<std::vector<const Tensor*>> plan(const Model& model, const std::vector<Entry>& entries,
                                             std::optional<std::uint64_t> most) {
  std::vector<std::vector<const Tensor*>> parts(1);
  const std::uint64_t fixed = head_bytes(split_entries(0, 0, 0), {}) + kMaxPadding;
  std::uint64_t size = fixed + head_bytes(entries, {});
  for (const Tensor& tensor : model.tensors) {
    const std::uint64_t share = head_bytes({}, {&tensor}) + kMaxPadding;
    const auto with = checked_add(tensor.bytes(), share).value_or(UINT64_MAX);
    if (most && !parts.back().empty() && checked_add(size, with).value_or(UINT64_MAX) > *most) {
      parts.emplace_back();
      size = fixed;
    }
    parts.back().push_back(&tensor);
    size = checked_add(size, with).value_or(UINT64_MAX);
  }
  return parts;
}

std::string_view stem_of(std::string_view first) {
  const auto name = parse_name(first);
  return name ? name->stem : first.substr(0, first.size() - kSuffix.size());
}

// The files that a new model replaces: an old model's first file, and the files of its set.
io::OldFiles old_files(const io::Directory& directory, const std::string& path) {
  io::OldFiles old;
  const auto is_file = [&](const std::string& name) {
    struct stat status {};
    return directory.look(name.c_str(), status) && S_ISREG(status.st_mode);
  };
  for (const std::string& first : first_files(path)) {
    const auto name = parse_name(first);
    if (!is_file(first) || stem_of(first) != kStem) continue;
    old.vital.push_back(first);
    for (std::uint32_t i = 1; name && i < name->count; ++i)
      if (std::string part = file_name(kStem, i + 1, name->count); is_file(part)) old.others.push_back(std::move(part));
  }
  return old;
}

// Throws if the directory would have two models then: no reader chooses one of them.
void refuse_other_models(const std::string& path) {
  for (const std::string& first : first_files(path))
    if (stem_of(first) != kStem)
      throw Error(
          ErrorKind::usage, "gguf.directory",
          fmt::format("the directory holds another model ({}), which would stay next to the new one; remove it, "
                      "or name another directory",
                      quote(first)))
          .in(path)
          .blame(Subject::output);
}

}  // namespace

bool is_first_of_set(std::string_view path) {
  const auto name = parse_name(path.substr(path.rfind('/') + 1));
  return name && name->number == 1;
}

Model read(const Input& input, const ReadOptions& options) {
  std::string path = input.path;
  SourcePtr source = input.source;
  if (source == nullptr) {
    const std::vector<std::string> found = first_files(path);
    if (found.size() != 1)
      throw Error(ErrorKind::unsupported, "gguf.directory",
                  fmt::format("expected one model of this format in the directory, found {}", found.size()))
          .in(path);
    const Links links(path);
    path = io::path_in(path, found.front());
    if (const auto outside = links.outside(path)) throw Error(ErrorKind::corrupt, kOutsideRule, *outside).in(path);
    source = open_file(path, options.access);
    if (!links.allow(*source)) throw Error(ErrorKind::corrupt, kOutsideRule, kExchanged).in(path);
  }
  Parts parts;
  Model model = read_file(source, options, parts);
  const std::optional<Split>& split = parts.split;
  if (split) {
    if (source->descriptor() < 0 && !io::is_remote(path))
      throw Error(ErrorKind::usage, "gguf.split.memory", "one of several files, which must be opened as files")
          .in(path);
    model = SetReader(path, options).run(source, *split);
  }
  if (input.source == nullptr) {
    model.sources.push_back(source);
    if (!split) model.file_bytes = source->size();
  }
  return model;
}

// Returns false if there are weights in another format: a directory in another layout may also contain a GGUF file.
bool recognize_tree(const std::string& path) {
  if (first_files(path).size() != 1) return false;
  std::error_code none;
  for (const std::string& file : io::names_in(path, none))
    if (const Format* const other = format_of_suffix(file);
        other != nullptr && other->name != kFormatName && !io::is_folder(io::path_in(path, file)))
      return false;
  return true;
}

std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite) {
  check_writable(model);
  const std::vector<Entry> entries = entries_of(model);
  const auto parts = plan(model, entries, options.shard_bytes);
  require_few_shards(parts.size(), "gguf.write.shards");
  if (overwrite) refuse_other_models(path);
  io::TreeSink tree(path, {.overwrite = overwrite, .durable = true, .old_files = [&](const io::Directory& directory) {
                             return old_files(directory, path);
                           }});
  std::uint64_t expected = 0;
  for (const Tensor& tensor : model.tensors) expected += tensor.bytes();
  tree.expect(expected);
  // Write the first file last: without it, the others are not a model.
  for (std::size_t i = parts.size(); i-- > 0;) {
    std::vector<Entry> said = i == 0 ? entries : std::vector<Entry>();
    if (parts.size() > 1) std::erase_if(said, [](const Entry& entry) { return is_split_key(entry.key); });
    if (parts.size() > 1)
      for (Entry& entry : split_entries(i, parts.size(), model.tensors.size())) said.push_back(std::move(entry));
    const auto sink =
        tree.file(parts.size() == 1 ? fmt::format("{}{}", kStem, kSuffix) : file_name(kStem, i + 1, parts.size()));
    write_file(said, parts[i], *sink, options, is_padded(model));
    sink->commit();
  }
  const std::uint64_t bytes = tree.bytes();
  model.check_sources();
  check_last_stop();
  tree.commit();
  return bytes;
}

}  // namespace tare::gguf
