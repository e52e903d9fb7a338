// A set of files and its index:
//
//   {"metadata": {"total_size": bytes of all tensors, ...}, "weight_map": {tensor: file, ...}}
//
// The index and the headers of its shards can disagree, so each is checked against the other here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "base/checked.hpp"
#include "base/lookalike.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "formats/foreign_weights.hpp"
#include "formats/safetensors/json.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "io/descriptor.hpp"
#include "io/links.hpp"
#include "io/remote/url.hpp"
#include "wire/cbor.hpp"
#include "wire/value_json.hpp"

namespace tare::safetensors {
namespace {

namespace od = simdjson::ondemand;

// A shard must be in the directory of its index. The name must be plain on every system: a plain name here may be a
// path on another.
bool is_plain_name(std::string_view name) {
  return name != "." && name != ".." && !name.empty() &&
         name.find_first_of(std::string_view("/\\:\0", 4)) == std::string_view::npos;
}

class IndexParser {
 public:
  IndexParser(std::string_view text, const std::string& file)
      : json_(text, file, 0, "safetensors.index"), file_(file) {}

  Index run() {
    bool weights = false;
    json_.each_field(json_.root(), [&](std::string_view key, const char* at, od::value value) {
      at_ = json_.offset_of(at);
      if (key == "weight_map") {
        if (std::exchange(weights, true)) fail("form", "\"weight_map\" appears twice");
        read_weights(value);
      } else if (key == "metadata") {
        read_metadata(value);
      } else {
        constexpr std::size_t kNamed = 8;
        if (index_.unknowns++ < kNamed) index_.unknown.push_back(quote(key));
        json_.walk(value, 1);
      }
    });
    json_.expect_end();
    if (!weights) fail("form", "there is no \"weight_map\"");
    sort_shards();
    return std::move(index_);
  }

 private:
  [[noreturn]] void fail(std::string_view rule, const std::string& sentence) const {
    throw Error(ErrorKind::corrupt, fmt::format("safetensors.index.{}", rule), sentence).in(file_).at(at_);
  }

  void read_weights(od::value value) {
    if (json_.type_of(value) != od::json_type::object) fail("form", "\"weight_map\" is not an object");
    wire::KeyCheck names;
    json_.each_field(json_.object(value), [&](std::string_view name, const char* at, od::value entry) {
      at_ = json_.offset_of(at);
      names.add(name);
      if (json_.type_of(entry) != od::json_type::string)
        fail("form", fmt::format("the file of \"{}\" is not a string", quote(name)));
      index_.weights.push_back({std::string(name), number_of(json_.string(entry)), at_});
    });
    if (const auto twice = names.find_duplicate(); twice.data() != nullptr) {
      at_ = json_.offset_of_key(twice).value_or(at_);
      fail("duplicate", fmt::format("the tensor \"{}\" appears twice", quote(twice)));
    }
  }

  std::uint32_t number_of(std::string_view shard) {
    // Consecutive tensors are often in the same shard.
    if (!index_.shards.empty() && index_.shards[last_] == shard) return last_;
    const auto [found, is_new] =
        numbers_.try_emplace(std::string(shard), static_cast<std::uint32_t>(index_.shards.size()));
    if (is_new) {
      if (!is_plain_name(shard) || printable(shard) != shard)
        fail("path", fmt::format("\"{}\" is not the name of a file next to the index", quote(shard)));
      if (const std::string_view foreign = foreign_weights(shard); !foreign.empty())
        fail("path",
             fmt::format("an index of weights in {} ({}), which Tare cannot read yet; download the model's safetensors "
                         "files",
                         foreign, quote(shard)));
      // The index of a set in another container has the same form.
      const Format* const format = format_of_suffix(shard);
      if (format == nullptr) fail("path", fmt::format("\"{}\" is not the name of a file of weights", quote(shard)));
      if (!index_.shards.empty() && format != format_of_suffix(index_.shards.front()))
        fail("path", fmt::format("\"{}\" is not the name of a file like {}", quote(shard), index_.shards.front()));
      index_.shards.emplace_back(shard);
    }
    return last_ = found->second;
  }

  void read_metadata(od::value value) {
    if (json_.type_of(value) != od::json_type::object) return json_.walk(value, 1);
    json_.each_field(json_.object(value), [&](std::string_view key, const char* at, od::value entry) {
      const std::string raw(entry.raw_json_token());
      if (key == "total_size") {
        index_.total_at = json_.offset_of(at);
        read_total(entry, raw);
      } else if (json_.type_of(entry) == od::json_type::string) {
        keep(key, std::string(json_.string(entry)));
      } else {
        const char* const begin = entry.raw_json_token().data();
        json_.walk(entry, 2);
        keep(key, wire::read_json(json_.text_since(begin), bounds_, {.last_key_counts = true}));
      }
    });
  }

  void read_total(od::value value, std::string raw) {
    constexpr double kExact = 9007199254740992;  // 2^53
    json_.walk(value, 2);
    raw.resize(raw.find_last_not_of(" \t\r\n") + 1);
    const char* const end = raw.data() + raw.size();
    std::uint64_t total = 0;
    double real = -1;  // some writers write a floating-point number
    if (const auto whole = std::from_chars(raw.data(), end, total); whole.ec == std::errc() && whole.ptr == end)
      index_.total_size = total;
    else if (std::from_chars(raw.data(), end, real).ptr == end && real >= 0 && real <= kExact &&
             real == std::floor(real))
      index_.total_size = static_cast<std::uint64_t>(real);
    else
      index_.bad_total = quote(raw.substr(0, 40));
  }

  // If a key appears twice, the last value counts, as in the programs that write such files.
  void keep(std::string_view key, Value value) {
    if (index_.metadata.find(key) != nullptr) index_.repeated.emplace_back(key);
    index_.metadata.set(key, std::move(value));
  }

  // Sorts the shards by name: the set is read in this order, whatever the order of the map.
  void sort_shards() {
    std::vector<std::uint32_t> order(index_.shards.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return index_.shards[a] < index_.shards[b]; });
    std::vector<std::uint32_t> place(order.size());
    std::vector<std::string> sorted;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(std::move(index_.shards[order[i]]));
    }
    index_.shards = std::move(sorted);
    for (Index::Entry& entry : index_.weights) entry.shard = place[entry.shard];
  }

  Json json_;
  const std::string& file_;
  Index index_;
  NameMap<std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
  std::uint64_t at_ = 0;
  wire::TreeBounds bounds_{.depth = 128};  // bounds on all metadata together; the parser has its own limit on the depth
};

// Reads the shards and compares them with the index.
class SetReader {
 public:
  SetReader(const std::string& path, Index index, const ReadOptions& options)
      : path_(path), index_(std::move(index)), options_(options), reports_(options), links_(io::directory_of(path)) {}

  Model run(std::uint64_t index_bytes) {
    model_.file_bytes = index_bytes;
    check_shards();
    find_mentions();
    for (std::size_t i = 0; i < index_.weights.size(); ++i) expected_.emplace(index_.weights[i].tensor, i);
    found_.resize(index_.weights.size(), false);
    for (std::uint32_t i = 0; i < index_.shards.size(); ++i) read_shard(i);
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (!found_[i] && !lost_[index_.weights[i].shard])
        error("missing", fmt::format("not in {}, where the index has it", index_.shards[index_.weights[i].shard]),
              index_.weights[i]);
    check_total();
    keep_metadata();
    return std::move(model_);
  }

 private:
  void keep_metadata() {
    for (const std::string& key : index_.repeated)
      reports_->warning(
          about("metadata",
                fmt::format("the metadata key \"{}\" appears twice in the index; the last counts", quote(key)), {}));
    if (index_.unknowns > 0)
      reports_->note(
          Error(ErrorKind::lossy, "safetensors.index.key",
                fmt::format("only weight_map and metadata of an index are read; it also has {}{}",
                            fmt::join(index_.unknown, ", "), and_more(index_.unknowns, index_.unknown.size())))
              .in(path_));
    if (index_.metadata.empty()) return;
    if (model_.metadata.find(kIndexMetadata) != nullptr)
      reports_->warning(about("metadata",
                              fmt::format("a shard has a metadata key \"{}\", which stands for the metadata of the "
                                          "index here; the latter counts",
                                          kIndexMetadata),
                              {}));
    model_.metadata.set(kIndexMetadata, std::move(index_.metadata));
  }

  // The names of the shards contain their number: if the index omits one, its tensors would be lost silently.
  void check_shards() {
    if (index_.shards.empty())
      return reports_->warning(about("shards", "the weight_map is empty: the set has no tensors", {}));
    std::map<std::pair<std::string_view, std::uint32_t>, std::vector<ShardName>> sets;
    for (const std::string& file : index_.shards)
      if (const auto shard = parse_shard_name(file)) sets[{shard->stem, shard->count}].push_back(*shard);
    for (const auto& [set, named] : sets) {
      const auto& [stem, count] = set;
      if (named.size() >= count) continue;
      std::uint32_t first = named.front().number == 0 ? 0 : 1;  // the names are sorted: find the first gap
      for (const ShardName& shard : named) first += shard.number == first ? 1 : 0;
      reports_->warning(about("shards",
                              fmt::format("the index names {} of the {} shards that their names speak of; the first "
                                          "it omits is {}-{:0{}}-of-...",
                                          named.size(), count, stem, first, named.front().digits.size()),
                              {}));
    }
  }

  // Makes an Error at `at` of the index, or without an offset.
  Error about(std::string_view rule, const std::string& sentence, std::string_view tensor,
              std::optional<std::uint64_t> at = std::nullopt) const {
    Error error(ErrorKind::corrupt, fmt::format("safetensors.index.{}", rule), sentence);
    error.in(path_);
    if (at) error.at(*at);
    if (tensor.data() != nullptr) error.about("tensor " + quote(tensor));
    return error;
  }
  void error(std::string_view rule, const std::string& sentence, const Index::Entry& entry) {
    reports_->error(about(rule, sentence, entry.tensor, entry.at));
  }
  // Finds where the index first mentions each shard.
  void find_mentions() {
    mentions_.resize(index_.shards.size());
    for (auto entry = index_.weights.rbegin(); entry != index_.weights.rend(); ++entry)
      mentions_[entry->shard] = entry->at;
  }

  void read_shard(std::uint32_t number) {
    lost_.push_back(true);
    const std::string file = io::directory_of(path_) + "/" + index_.shards[number];
    SourcePtr source;
    try {
      source = open_file(file, options_.access);
    } catch (const Error& reason) {
      if (reason.kind() != ErrorKind::not_found) throw;
      Error missing(ErrorKind::not_found, "safetensors.index.missing_shard",
                    fmt::format("the shard {} is missing; download it into the same directory", index_.shards[number]));
      return reports_->error(missing.in(path_).at(mentions_[number]));
    }
    if (!links_.allow(*source))
      return reports_->error(Error(ErrorKind::unsupported, "safetensors.index.outside",
                                   links_.outside(file).value_or("was exchanged for another file while it was opened"))
                                 .in(file));
    Model shard;
    try {
      // Reports a file that is not weights at all: a git-lfs pointer, an error page.
      const Format& found = detect(*source);
      const Format* const named = format_of_suffix(file);
      if (&found != named || is_index(*source))
        throw Error(ErrorKind::corrupt, "safetensors.index.shard",
                    fmt::format("not a file of {}", named == nullptr ? "weights" : named->title))
            .in(file)
            .at(0);
      // No path is passed on: a shard that is opened by its path would open its set.
      shard = found.name == "safetensors" ? read_file(source, options_) : found.read({"", source}, options_);
    } catch (const Error& reason) {
      return reports_->error(reason);
    }
    lost_[number] = false;
    model_.file_bytes += source->size();
    model_.sources.push_back(std::move(source));
    merge_metadata(shard, number);
    for (Tensor& tensor : shard.tensors) merge(tensor, number);
    for (BrokenTensor& broken : shard.broken) {  // reported by the shard's reader
      if (const auto at = expected_.find(broken.tensor.name); at != expected_.end()) found_[at->second] = true;
      model_.broken.push_back(std::move(broken));
    }
  }

  void merge(Tensor& tensor, std::uint32_t number) {
    const auto at = expected_.find(tensor.name);
    if (at == expected_.end()) {
      reports_->warning(about("extra", fmt::format("in {}, not in the index", index_.shards[number]), tensor.name));
      if (!extra_.try_emplace(tensor.name, number).second)
        return reports_->error(about("repeated", "in two shards, and not in the index", tensor.name));
    } else if (const Index::Entry& entry = index_.weights[at->second]; found_[at->second]) {
      return error("repeated", fmt::format("in {} too", index_.shards[number]), entry);
    } else {
      found_[at->second] = true;
      if (entry.shard != number)
        error("wrong_shard",
              fmt::format("in {}, the index has it in {}", index_.shards[number], index_.shards[entry.shard]), entry);
    }
    model_.tensors.push_back(std::move(tensor));
  }

  // Keeps metadata that all shards share once; if they differ, the first shard's value counts.
  void merge_metadata(Model& shard, std::uint32_t number) {
    const auto disagree = [&](std::string_view what) {
      reports_->warning(
          about("metadata", fmt::format("{} has another {} than a shard before it", index_.shards[number], what), {}));
    };
    if (model_.config.empty())
      model_.config = shard.config;
    else if (!shard.config.empty() && model_.config != shard.config)
      disagree("config");
    if (model_.vocabulary.empty())
      model_.vocabulary = std::move(shard.vocabulary);
    else if (!shard.vocabulary.empty() && model_.vocabulary != shard.vocabulary)
      disagree("vocabulary");
    for (Attachment& file : shard.attachments) {
      if (attached_.insert(file.name).second)
        model_.attachments.push_back(std::move(file));
      else
        disagree(fmt::format("attached file {}", quote(file.name)));
    }
    for (auto& [key, value] : shard.metadata) {
      const Value* const known = model_.metadata.find(key);
      if (known == nullptr)
        model_.metadata.append(key, std::move(value));
      else if (*known != value)
        reports_->warning(about("metadata",
                                fmt::format("{} has another value of the metadata key \"{}\" than a shard before it",
                                            index_.shards[number], quote(key)),
                                {}));
    }
  }

  void check_total() {
    if (!index_.bad_total.empty())
      reports_->warning(about("total", fmt::format("total_size is {}, not a number of bytes", index_.bad_total), {},
                              index_.total_at));
    if (!index_.total_size || !model_.broken.empty() || std::find(lost_.begin(), lost_.end(), true) != lost_.end())
      return;
    std::uint64_t total = 0;
    for (const Tensor& tensor : model_.tensors) total += tensor.bytes();
    if (total != *index_.total_size)
      reports_->warning(about("total",
                              fmt::format("total_size is {}, the tensors have {} bytes", *index_.total_size, total), {},
                              index_.total_at));
  }

  const std::string& path_;
  Index index_;
  const ReadOptions& options_;
  Reports reports_;
  Links links_;
  Model model_;
  NameViewMap<std::size_t> expected_;  // indices into index_.weights
  NameMap<std::uint32_t> extra_;
  NameSet attached_;
  std::vector<bool> found_, lost_;       // per tensor; per shard
  std::vector<std::uint64_t> mentions_;  // per shard
};

}  // namespace

Index parse_index(std::string_view text, const std::string& file) {
  std::string padded(text);
  padded.resize(text.size() + Json::kPadding, '\0');
  return IndexParser(std::string_view(padded).substr(0, text.size()), file).run();
}

bool is_index(const Source& source) {
  std::array<char, std::size_t{16} << 10> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  source.read(0, std::as_writable_bytes(std::span(head).first(length)));
  const std::string_view text(head.data(), length);
  // The first 8 bytes of a safetensors file are a length and contain zeros; text contains none.
  if (text.substr(0, 8).find('\0') != std::string_view::npos) return false;
  // The name decides, whatever is wrong with the file, unless its content is a well-known other thing, which `detect`
  // describes.
  const std::string_view name = source.name();
  if (stem_of_index(name.substr(name.rfind('/') + 1)) || name.ends_with(".index.json"))
    return !looks_like_file(source) && lookalike(text).empty();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' && text.find("\"weight_map\"") != std::string_view::npos;
}

Index read_index(const std::string& path, const Source& source, const Limits& limits) {
  if (source.size() > limits.metadata_bytes)
    throw Error(ErrorKind::limit, "safetensors.index.large",
                fmt::format("expected an index of at most {} bytes, found {}", limits.metadata_bytes, source.size()))
        .in(path)
        .at(0);
  std::string text(source.size(), '\0');
  source.read(0, std::as_writable_bytes(std::span(text)));
  return parse_index(text, path);
}

Model read_set(const std::string& path, const SourcePtr& source, const ReadOptions& options) {
  if (source->descriptor() < 0 && !io::is_remote(path))
    throw Error(ErrorKind::usage, "safetensors.index.memory",
                "an index names files next to it: it must be opened as a file")
        .in(path)
        .at(0);
  return SetReader(path, read_index(path, *source, options.limits), options).run(source->size());
}

}  // namespace tare::safetensors
