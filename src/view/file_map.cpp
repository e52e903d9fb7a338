// The contents of a file by offset: tensors, attachments, and bytes that belong to neither.
#include "view/file_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "view/endpoints.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kMostShownBytes = 4096;

std::uint64_t alignment_of(const OpenModel& model, std::uint32_t file) {
  std::uint64_t bits = 0;
  for (const Segment& segment : model.segments())
    if (segment.file == file && segment.tensor >= 0 && segment.bytes > 0) bits |= segment.offset;
  return bits == 0 ? 0 : bits & (~bits + 1);
}

}  // namespace

std::vector<Span> spans_of(const OpenModel& model, std::uint32_t file, std::uint64_t from, std::uint64_t to,
                           std::size_t most) {
  std::vector<Span> spans;
  const std::uint64_t fine = std::max<std::uint64_t>(1, (to - from) / std::max<std::size_t>(1, most / 2));
  // Spans that are too short to be seen are merged with their neighbours.
  const auto add = [&](Span span) {
    if (span.offset + span.bytes <= from || span.offset >= to || span.bytes == 0) return;
    if (!spans.empty() && span.bytes < fine && spans.back().bytes < fine && spans.size() >= most / 4) {
      Span& last = spans.back();
      if (span.offset >= last.offset && span.offset + span.bytes - last.offset < 2 * fine) {
        last.bytes = std::max(last.bytes, span.offset + span.bytes - last.offset);
        last.parts += span.parts;
        last.kind = "several";
        // Padding between tensors does not hide their type.
        if (last.type == Span::kNoType)
          last.type = span.type;
        else if (span.type != Span::kNoType && span.type != last.type)
          last.type = Span::kMixed;
        last.tensor = -1;
        return;
      }
    }
    if (spans.size() < 2 * most) spans.push_back(span);
  };
  std::uint64_t position = 0;
  const std::uint64_t size = model.files()[file].bytes;
  const auto& all = model.segments();
  auto segment = std::lower_bound(all.begin(), all.end(), file,
                                  [](const Segment& s, std::uint32_t number) { return s.file < number; });
  for (; segment != all.end() && segment->file == file; ++segment) {
    if (segment->offset > position)
      add({position == 0 ? "header" : "gap", -1, -1, position, segment->offset - position, 1});
    const bool shared = segment->offset < position && segment->bytes > 0;
    add({shared                 ? "shared"
         : segment->tensor >= 0 ? "tensor"
                                : "attachment",
         segment->tensor, segment->attachment, segment->offset, segment->bytes, 1,
         segment->tensor >= 0 ? std::int64_t{model.items()[static_cast<std::size_t>(segment->tensor)].type}
                              : Span::kNoType});
    position = std::max(position, segment->offset + segment->bytes);
  }
  if (position < size) add({position == 0 ? "header" : "end", -1, -1, position, size - position, 1});
  return spans;
}

void file_map(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModel& model = context.model(query);
  if (model.files().empty())
    throw Error(ErrorKind::unsupported, "view.no_files", "the model's tensors have no bytes in a file");
  const auto file = static_cast<std::uint32_t>(query.number("file", 0, 0, model.files().size() - 1));
  const std::uint64_t size = model.files()[file].bytes;
  const std::uint64_t from = query.number("from", 0, 0, size), to = query.number("to", size, from, size);
  const auto most = query.number("most", 600, 16, 2000);
  std::array<std::uint64_t, 2> bytes{};  // bytes of tensors, bytes of gaps between them
  std::uint64_t position = 0, tensors = 0;
  for (const Segment& segment : model.segments()) {
    if (segment.file != file) continue;
    if (segment.offset > position && position > 0) bytes[1] += segment.offset - position;
    const std::uint64_t end = segment.offset + segment.bytes;
    if (segment.tensor >= 0) {
      ++tensors;
      if (end > position) bytes[0] += end - std::max(position, segment.offset);
    }
    position = std::max(position, end);
  }
  json.open('{').key("file").number(std::uint64_t{file}).key("files").number(std::uint64_t{model.files().size()});
  json.key("name")
      .text(model.files()[file].name)
      .key("bytes")
      .number(size)
      .key("from")
      .number(from)
      .key("to")
      .number(to);
  json.key("tensor_bytes").number(bytes[0]).key("gap_bytes").number(bytes[1]).key("components").number(tensors);
  json.key("alignment").number(alignment_of(model, file)).key("spans").open('[');
  for (const Span& span : spans_of(model, file, from, to, most)) {
    json.open('{').key("kind").text(span.kind).key("offset").number(span.offset).key("bytes").number(span.bytes);
    if (span.parts > 1) json.key("parts").number(span.parts);
    if (span.tensor >= 0) {
      const auto place = static_cast<std::size_t>(span.tensor);
      json.key("tensor").number(std::uint64_t{place}).key("name").text(model.shown_name(place));
    } else if (span.attachment >= 0) {
      json.key("name").text(short_name(model.model().attachments[static_cast<std::size_t>(span.attachment)].name));
    }
    if (span.type != Span::kNoType)
      json.key("type").text(span.type == Span::kMixed ? std::string_view("mixed")
                                                      : model.types()[static_cast<std::size_t>(span.type)]);
    json.close('}');
  }
  json.close(']').close('}');
}

void file_bytes(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModel& model = context.model(query);
  if (model.model().sources.empty() || model.files().empty())
    throw Error(ErrorKind::unsupported, "view.no_files", "the model's tensors have no bytes in a file");
  const auto file = query.number("file", 0, 0, model.model().sources.size() - 1);
  const Source& source = *model.model().sources[file];
  const std::uint64_t from = query.number("from", 0, 0, source.size());
  const std::uint64_t count = std::min(query.number("count", 256, 1, kMostShownBytes), source.size() - from);
  Bytes bytes(count);
  source.read(from, bytes);
  json.open('{').key("file").number(file).key("from").number(from).key("hex").text(to_hex(bytes)).close('}');
}

}  // namespace tare::view
