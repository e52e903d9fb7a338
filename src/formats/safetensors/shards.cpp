// Writes a directory: model.safetensors alone, or model-00001-of-0000N.safetensors and the index.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/checked.hpp"
#include "base/stopping.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "formats/shard_limit.hpp"
#include "io/descriptor_source.hpp"
#include "io/tree_sink.hpp"

namespace tare::safetensors {
namespace {

constexpr std::string_view kOnlyFile = "model.safetensors", kIndexFile = "model.safetensors.index.json";

std::string shard_name(std::string_view stem, std::size_t number, std::size_t count) {
  return fmt::format("{}-{:05}-of-{:05}{}", stem, number + 1, count, kSuffix);
}
std::string only_name(std::string_view stem) { return fmt::format("{}{}", stem, kSuffix); }

// Recognizes variants like "fp16", Hugging Face's term for alternative weights of a model; but not the "1-8b" of
// llama-3.1-8b.
bool is_variant(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

constexpr std::string_view kIndexMiddle = ".safetensors.index.", kIndexEnd = ".json";

// Removes the digits at the end of a name and returns them; nothing if there are none, or too many for a number of
// files.
std::optional<std::string_view> take_digits(std::string_view& name) {
  constexpr std::size_t kMost = 9;
  const std::size_t start = name.find_last_not_of("0123456789") + 1;
  const std::string_view digits = name.substr(start);
  name.remove_suffix(digits.size());
  return digits.empty() || digits.size() > kMost ? std::nullopt : std::optional(digits);
}

std::uint32_t value_of(std::string_view digits) {
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool take_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

void put(std::string_view text, Sink& sink) { sink.write(std::as_bytes(std::span(text))); }

// Formats the index as Hugging Face's libraries do: two spaces per level, names sorted.
std::string index_text(const Model& model, const std::vector<std::vector<const Tensor*>>& shards,
                       std::string_view stem) {
  std::uint64_t total = 0;
  std::vector<std::pair<std::string_view, std::size_t>> places;
  for (std::size_t i = 0; i < shards.size(); ++i)
    for (const Tensor* const tensor : shards[i]) {
      places.emplace_back(tensor->name, i);
      total += tensor->bytes();
    }
  std::sort(places.begin(), places.end());
  std::string text = "{\n  \"metadata\": {\n";
  if (const Value* const kept = model.metadata.find(kIndexMetadata); kept != nullptr && kept->get<Map>() != nullptr)
    for (const auto& [key, value] : *kept->get<Map>()) {
      text += "    ";
      append_json_string(text, key);
      text += fmt::format(": {},\n", to_json(value));
    }
  text += fmt::format("    \"total_size\": {}\n  }},\n  \"weight_map\": {{", total);
  for (std::size_t i = 0; i < places.size(); ++i) {
    text += i == 0 ? "\n    " : ",\n    ";
    append_json_string(text, places[i].first);
    text += ": ";
    append_json_string(text, shard_name(stem, places[i].second, shards.size()));
  }
  return text + (places.empty() ? "}\n}\n" : "\n  }\n}\n");
}

// Returns the files of the set that the new one replaces, the file that makes it a model first. Other safetensors files
// are not touched.
io::OldFiles old_set(const io::Directory& directory) {
  io::OldFiles old;
  const auto is_file = [&](std::string_view name) {
    struct stat status {};
    return directory.look(std::string(name).c_str(), status) && !S_ISDIR(status.st_mode);
  };
  for (const std::string_view name : {kOnlyFile, kIndexFile})
    if (is_file(name)) old.vital.emplace_back(name);
  for (std::string& shard : shards_named_by(directory, std::string(kIndexFile)))
    if (is_file(shard) && std::find(old.vital.begin(), old.vital.end(), shard) == old.vital.end())
      old.others.push_back(std::move(shard));
  return old;
}

// Opens what was written before it is committed: a file that its own reader refuses never appears.
void check_file(Sink& sink, std::size_t tensors) {
  const SourcePtr written = sink.written();
  if (written == nullptr) return;
  const Model found = read_file(written, {.access = Access::pread});
  if (found.tensors.size() != tensors)
    throw Error(ErrorKind::io, "safetensors.write.check",
                fmt::format("{} tensors were written, {} are read back", tensors, found.tensors.size()));
}

}  // namespace

std::optional<ShardName> parse_shard_name(std::string_view file) {
  if (!take_suffix(file, kSuffix)) return std::nullopt;
  const auto count = take_digits(file);
  if (!count || !take_suffix(file, "-of-")) return std::nullopt;
  const auto number = take_digits(file);
  if (!number || !take_suffix(file, "-")) return std::nullopt;
  return ShardName{file, value_of(*number), value_of(*count), *number};
}

std::optional<std::string> stem_of_index(std::string_view file) {
  if (file.size() > kIndexSuffix.size() && file.ends_with(kIndexSuffix))
    return std::string(file.substr(0, file.size() - kIndexSuffix.size()));
  const std::size_t middle = file.rfind(kIndexMiddle);
  if (middle == std::string_view::npos || middle == 0 || !file.ends_with(kIndexEnd)) return std::nullopt;
  const std::size_t begin = middle + kIndexMiddle.size(), end = file.size() - kIndexEnd.size();
  if (end < begin || !is_variant(file.substr(begin, end - begin))) return std::nullopt;
  return fmt::format("{}.{}", file.substr(0, middle), file.substr(begin, end - begin));
}

std::string index_name(std::string_view stem) {
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !is_variant(stem.substr(dot + 1)))
    return fmt::format("{}{}", stem, kIndexSuffix);
  return fmt::format("{}{}{}{}", stem.substr(0, dot), kIndexMiddle, stem.substr(dot + 1), kIndexEnd);
}

std::vector<std::vector<const Tensor*>> plan_shards(const Model& model, std::optional<std::uint64_t> shard_bytes) {
  std::vector<std::vector<const Tensor*>> shards(1);
  // Bytes of a file without its tensors: length, metadata, and the padding of the header.
  std::uint64_t fixed = kDataAlignment + kMetadataKey.size() + 16;
  for (const auto& [key, value] : string_metadata(model, {}, true)) fixed += 2 * (key.size() + value.size()) + 8;
  std::uint64_t size = fixed;
  for (const Tensor& tensor : model.tensors) {
    const std::uint64_t share = header_share(tensor);
    const auto grown = checked_add(size, checked_add(tensor.bytes(), share).value_or(UINT64_MAX));
    if (shard_bytes && !shards.back().empty() && (!grown || *grown > *shard_bytes)) {
      shards.emplace_back();
      size = fixed;
    }
    shards.back().push_back(&tensor);
    size = checked_add(size, checked_add(tensor.bytes(), share).value_or(UINT64_MAX)).value_or(UINT64_MAX);
  }
  for (auto& shard : shards) put_in_order(shard);
  return shards;
}

void write_set(const Model& model, const MakeSink& make, const WriteOptions& options, std::string_view stem) {
  const auto shards = plan_shards(model, options.shard_bytes);
  require_few_shards(shards.size(), "safetensors.write.shards");
  Model rest;  // the model without its tensors, which all files describe
  rest.metadata = model.metadata;
  rest.config = model.config;
  const Value* const kept = rest.metadata.find(kIndexMetadata);
  if (kept != nullptr && kept->get<Map>() != nullptr && shards.size() > 1) rest.metadata.erase(kIndexMetadata);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto sink = make(shards.size() == 1 ? only_name(stem) : shard_name(stem, i, shards.size()));
    write_file(shards[i], string_metadata(rest, shards[i], i == 0), *sink, options);
    check_file(*sink, shards[i].size());
    sink->commit();
  }
  if (shards.size() == 1) return;
  const auto sink = make(index_name(stem));
  const std::string text = index_text(model, shards, stem);
  if (parse_index(text, sink->name()).weights.size() != model.tensors.size())
    throw Error(ErrorKind::io, "safetensors.write.check", "the index does not have all tensors");
  put(text, *sink);
  sink->commit();
}

std::vector<std::string> shards_named_by(const io::Directory& directory, const std::string& index) {
  if (!stem_of_index(index)) return {};
  io::Descriptor file = directory.read(index.c_str(), true);
  // If the old index cannot be read, the files of the old set are unknown: fail instead of leaving half of it.
  if (!file && errno != ENOENT && errno != ELOOP)
    throw io::system_error("io.open.refused", "cannot open", index, errno);
  struct stat status {};
  if (!file || (::fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode))) return {};
  try {
    return read_index(index, *io::descriptor_source(std::move(file), index), {}).shards;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return {};
  }
}

std::uint64_t write_tree(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite) {
  check_writable(model);
  io::TreeSink tree(path, {.overwrite = overwrite, .durable = true, .old_files = old_set});
  std::uint64_t expected = 0;
  for (const Tensor& tensor : model.tensors) expected += tensor.bytes();
  tree.expect(expected);
  write_set(
      model, [&](const std::string& name) { return tree.file(name); }, options);
  const std::uint64_t bytes = tree.bytes();
  model.check_sources();
  check_last_stop();
  tree.commit();
  return bytes;
}

}  // namespace tare::safetensors
