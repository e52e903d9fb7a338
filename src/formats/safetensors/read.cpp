// Reads one file, and checks its header against its data.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/endian.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/safetensors/json.hpp"
#include "formats/safetensors/place.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "io/links.hpp"
#include "io/metadata.hpp"
#include "io/remote/url.hpp"

namespace tare::safetensors {
namespace {

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n'; });
}

std::uint64_t header_length(const Source& source, const Limits& limits) {
  const std::uint64_t size = source.size();
  const auto refuse = [&](ErrorKind kind, std::string_view rule, const std::string& sentence) {
    return Error(kind, rule, sentence).in(source.name()).at(0);
  };
  if (size < 8)
    throw refuse(ErrorKind::corrupt, "safetensors.truncated",
                 fmt::format("a safetensors file begins with 8 bytes of length, this one has {} in all", size));
  std::array<std::byte, 8> bytes{};
  source.read(0, bytes);
  const auto length = load_le<std::uint64_t>(bytes.data());
  const std::uint64_t most = std::min(kMaxHeader, limits.metadata_bytes);
  const std::string_view letters = as_text(bytes);
  if (length > most && is_text(letters))
    throw refuse(ErrorKind::corrupt, "safetensors.header.large",
                 fmt::format("the file begins with text (\"{}\"), not with the length of a header: something "
                             "else was saved in its place; download it again",
                             quote(letters)));
  if (length > most)
    throw refuse(ErrorKind::limit, "safetensors.header.large",
                 fmt::format("the file states a header of {} bytes, at most {} allowed", length, most));
  if (length > size - 8)
    throw refuse(ErrorKind::corrupt, "safetensors.truncated",
                 fmt::format("the header needs {} bytes, the file has {}: it is truncated (download it again)",
                             length + 8, size));
  return length;
}

void note_header(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  const auto warn = [&](std::string_view rule, const std::string& sentence) {
    diagnostics.warning(Error(ErrorKind::corrupt, rule, sentence).in(file).at(8));
  };
  if (text.size() > kMaxWrittenHeader)
    warn("safetensors.header.hub",
         fmt::format("a header of {} bytes; Hugging Face's tools stop at {}", text.size(), kMaxWrittenHeader));
}

}  // namespace

Model read_file(const SourcePtr& source, const ReadOptions& options) {
  Reports reports(options);
  const std::uint64_t length = header_length(*source, options.limits);
  Model model;
  const auto parse = [&](const auto& into) {
    model.metadata = {};
    Placer placer(source, 8 + length, *reports, options.limits.rank);
    if (!into(placer)) return false;
    model.tensors = placer.take();
    model.broken = placer.take_broken();
    return true;
  };
  const io::Metadata header(*source, 8, length, Json::kPadding);
  // JSON allows this, but the format does not: readers expect the brace at once.
  if (length > 0 && std::string_view(" \t\r\n").find(header.text().front()) != std::string_view::npos)
    throw Error(ErrorKind::corrupt, "safetensors.header.start", "white space before the header's first brace")
        .in(source->name())
        .at(8);
  const bool scanned = !reports->thorough() && parse([&](Placer& placer) {
    return scan_header(header.text(), source->name(), placer, model.metadata);
  });
  if (!scanned) {
    if (reports->thorough()) note_header(header.text(), source->name(), *reports);
    parse([&](Placer& placer) {
      parse_header(header.text(), source->name(), placer, model.metadata, *reports);
      return true;
    });
  }
  take_private(model, source->name(), options.limits, *reports);
  source->check();
  return model;
}

namespace {

// Returns the index next to a shard, if it names the shard.
SourcePtr index_of(const Source& file, const ReadOptions& options) {
  const std::string& path = file.name();
  const std::size_t name = path.rfind('/') + 1;
  const auto shard = parse_shard_name(std::string_view(path).substr(name));
  if (!shard) return nullptr;
  try {
    SourcePtr source = io::open_beside(file, index_name(shard->stem), options.access);
    if (source == nullptr) return nullptr;
    const std::vector<std::string> named = read_index(source->name(), *source, options.limits).shards;
    return std::find(named.begin(), named.end(), path.substr(name)) == named.end() ? nullptr : source;
  } catch (const Error& error) {
    if (error.subject() == Subject::machine) throw;
    return nullptr;  // read as a single file
  }
}

}  // namespace

Model read(const Input& input, const ReadOptions& options) {
  if (is_index(*input.source)) return read_set(input.path, input.source, options);
  if (input.source->descriptor() < 0 && !io::is_remote(input.path)) return read_file(input.source, options);
  const SourcePtr index = index_of(*input.source, options);
  if (index == nullptr) return read_file(input.source, options);
  Reports(options)->note(
      Error(ErrorKind::usage, "safetensors.index.whole", "a shard: the whole set of its index is read")
          .in(index->name()));
  Model model = read_set(index->name(), index, options);
  model.sources.push_back(index);
  return model;
}

}  // namespace tare::safetensors
