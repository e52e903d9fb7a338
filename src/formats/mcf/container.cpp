// The outermost layer: header, section directory, and the bytes between the sections.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "formats/mcf/mcf.hpp"

namespace tare::mcf {
namespace {

constexpr Resource kResources[] = {
    {SectionType::config, "config.json"},       {SectionType::generation_config, "generation_config.json"},
    {SectionType::tokenizer, "tokenizer.json"}, {SectionType::tokenizer_config, "tokenizer_config.json"},
    {SectionType::vocab, "vocab.json"},         {SectionType::merges, "merges.txt"},
};

// Offsets of the header's fields.
constexpr std::uint64_t kSizeAt = 8, kCountAt = 12, kDirectoryAt = 16, kFileSizeAt = 24, kFlagsAt = 32;

class ContainerReader {
 public:
  ContainerReader(const Source& source, const Limits& limits, Diagnostics& diagnostics)
      : source_(source), limits_(limits), diagnostics_(diagnostics) {}

  Container run() {
    read_header();
    read_directory();
    check_overlaps();
    if (diagnostics_.thorough()) note_deviations();
    return std::move(out_);
  }

 private:
  Error refuse(std::string_view rule, std::string_view sentence, std::uint64_t at,
               ErrorKind kind = ErrorKind::corrupt) const {
    return Error(kind, rule, sentence).in(source_.name()).at(at);
  }

  void read_header() {
    const std::uint64_t size = source_.size();
    std::array<std::byte, kHeaderBytes> head{};
    const auto there = std::span(head).first(static_cast<std::size_t>(std::min(size, kHeaderBytes)));
    source_.read(0, there);
    if (there.size() < kMagic.size() ||
        std::string_view(reinterpret_cast<const char*>(head.data()), kMagic.size()) != kMagic)
      throw refuse("mcf.magic", "does not start with MCF and a zero byte", 0);
    if (size < kHeaderBytes)
      throw refuse("mcf.truncated", fmt::format("an MCF header has {} bytes, the file {}", kHeaderBytes, size), 0);

    Header& header = out_.header;
    const auto major = load_le<std::uint16_t>(&head[4]);
    header.minor = load_le<std::uint16_t>(&head[6]);
    if (major != kMajor)
      throw refuse("mcf.version", fmt::format("expected version 1.x, found {}.{}", major, header.minor), 4,
                   ErrorKind::unsupported);
    header_size_ = load_le<std::uint32_t>(&head[kSizeAt]);
    header.section_count = load_le<std::uint32_t>(&head[kCountAt]);
    header.directory_offset = load_le<std::uint64_t>(&head[kDirectoryAt]);
    header.file_size = load_le<std::uint64_t>(&head[kFileSizeAt]);
    header.flags = load_le<std::uint64_t>(&head[kFlagsAt]);
    if (header.file_size != size)
      throw refuse("mcf.header.file_size",
                   fmt::format("the header says {} bytes, the file has {}{}", header.file_size, size,
                               size < header.file_size ? ": it is truncated (download it again)" : ""),
                   kFileSizeAt);
    if (header_size_ < kHeaderBytes || header_size_ > size)
      throw refuse("mcf.header.size",
                   fmt::format("expected a header of {1} to {2} bytes, found {0}", header_size_, kHeaderBytes, size),
                   kSizeAt);
    if (header.section_count == 0) throw refuse("mcf.header.sections", "the file has no sections", kCountAt);
    if (header_size_ > limits_.metadata_bytes)
      throw refuse("mcf.section.limit",
                   fmt::format("expected a header of at most {} bytes, found {}", limits_.metadata_bytes, header_size_),
                   kSizeAt, ErrorKind::limit);
    header.extra.resize(header_size_ - kHeaderBytes);
    source_.read(kHeaderBytes, header.extra);
  }

  void read_directory() {
    const Header& header = out_.header;
    const std::uint64_t bytes = header.section_count * kDirectoryEntryBytes;
    if (header.directory_offset % kSectionAlignment != 0)
      throw refuse("mcf.directory.misaligned", fmt::format("offset {} is not a multiple of 8", header.directory_offset),
                   kDirectoryAt);
    if (!fits(header.directory_offset, bytes, source_.size()))
      throw refuse("mcf.directory.bounds",
                   fmt::format("{} entries at {} extend beyond the end of the file at {}", header.section_count,
                               header.directory_offset, source_.size()),
                   kDirectoryAt);
    if (header.directory_offset < header_size_)
      throw refuse(
          "mcf.directory.overlap",
          fmt::format("the directory at {} overlaps the header's {} bytes", header.directory_offset, header_size_),
          kDirectoryAt);
    const SectionBytes entries(source_, {{}, 1, header.directory_offset, bytes}, limits_);
    out_.sections.reserve(header.section_count);
    for (std::uint64_t at = 0; at < bytes; at += kDirectoryEntryBytes) {
      const Section section = {SectionType{entries.load<std::uint32_t>(at)}, entries.load<std::uint32_t>(at + 4),
                               entries.load<std::uint64_t>(at + 8), entries.load<std::uint64_t>(at + 16)};
      sorted_ = sorted_ && (out_.sections.empty() || out_.sections.back().type < section.type);
      check(section, entries.at(at));
    }
    std::stable_sort(out_.sections.begin(), out_.sections.end(),
                     [](const Section& a, const Section& b) { return a.type < b.type; });
    for (std::size_t i = 1; i < out_.sections.size(); ++i)
      if (out_.sections[i].type == out_.sections[i - 1].type)
        report(out_.sections[i], header.directory_offset, "mcf.section.duplicate",
               "there are two sections of this type");
  }

  void report(const Section& section, std::uint64_t at, std::string_view rule, std::string_view sentence,
              ErrorKind kind = ErrorKind::corrupt) {
    diagnostics_.error(refuse(rule, sentence, at, kind).about("section " + name_of(section.type)));
  }

  void check(const Section& section, std::uint64_t at) {
    if (section.offset % kSectionAlignment != 0)
      return report(section, at, "mcf.section.misaligned",
                    fmt::format("offset {} is not a multiple of 8", section.offset));
    if (!fits(section.offset, section.size, source_.size()))
      return report(section, at, "mcf.section.bounds",
                    fmt::format("{} bytes at {} extend beyond the end of the file at {}", section.size, section.offset,
                                source_.size()));
    if (section.offset < header_size_)
      return report(section, at, "mcf.section.header",
                    fmt::format("offset {} is inside the header's {} bytes", section.offset, header_size_));
    if (section.version != 1 && is_known(section.type))
      return report(section, at, "mcf.section.version", fmt::format("expected version 1, found {}", section.version),
                    ErrorKind::unsupported);
    out_.sections.push_back(section);
  }

  static bool is_known(SectionType type) {
    return (type >= SectionType::model_info && type <= SectionType::tensor_data) ||
           (type >= SectionType::config && type <= SectionType::merges);
  }

  void check_overlaps() {
    const Header& header = out_.header;
    const Section directory = {{}, 1, header.directory_offset, header.section_count * kDirectoryEntryBytes};
    std::vector<const Section*> by_offset = {&directory};
    for (const Section& section : out_.sections)
      if (section.size > 0) by_offset.push_back(&section);
    std::sort(by_offset.begin(), by_offset.end(),
              [](const Section* a, const Section* b) { return a->offset < b->offset; });
    const Section* farthest = by_offset.front();
    for (std::size_t i = 1; i < by_offset.size(); ++i) {
      const Section &a = *farthest, &b = *by_offset[i];
      if (b.offset + b.size > a.offset + a.size) farthest = &b;
      if (b.offset >= a.offset + a.size) continue;
      const bool with_directory = &a == &directory || &b == &directory;
      const auto sentence = fmt::format("{} bytes at {} overlap {} bytes at {}", b.size, b.offset, a.size, a.offset);
      report(&b == &directory ? a : b, b.offset, with_directory ? "mcf.directory.overlap" : "mcf.section.overlap",
             sentence);
    }
    if (!diagnostics_.thorough()) return;
    std::vector<Range> used = {{0, header_size_}};
    for (const Section* section : by_offset) used.push_back({section->offset, section->size});
    check_gaps(source_, used, 0, source_.size(), diagnostics_);
    warn_of_room(used);
    directory_last_ = by_offset.back() == &directory;
  }

  // Warns of bytes that no section covers, beyond the padding before the next section.
  void warn_of_room(std::span<const Range> used) {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i <= used.size(); ++i) {
      const std::uint64_t next = i < used.size() ? used[i].offset : source_.size();
      if (next >= at + kSectionAlignment)
        return diagnostics_.warning(refuse("mcf.gap", fmt::format("{} bytes belong to no section", next - at), at));
      if (i < used.size()) at = std::max(at, used[i].offset + used[i].length);
    }
  }

  void note_deviations() {
    const Header& header = out_.header;
    // The document's figure has the directory here.
    const bool first = header.directory_offset - header_size_ < kSectionAlignment;
    if (sorted_ && !directory_last_ && first)
      diagnostics_.note(refuse("mcf.directory.first", "the directory is before the sections", header.directory_offset));
    else if (!sorted_ || !directory_last_)
      diagnostics_.warning(refuse("mcf.directory.order", "the directory is not sorted by type after the sections",
                                  header.directory_offset));
    if (header.minor != kMinor)
      diagnostics_.note(refuse("mcf.version.other", fmt::format("version 1.{}", header.minor), 6));
    if ((header.flags & ~kFlagAligned64) != 0)
      diagnostics_.note(
          refuse("mcf.flags.unknown",
                 fmt::format("flags {:#x} have no meaning in version 1.1", header.flags & ~kFlagAligned64), kFlagsAt));
    for (const Section& section : out_.sections)
      if (!is_known(section.type))
        diagnostics_.note(refuse("mcf.section.unknown",
                                 "a type that the format does not define; it is carried unchanged", section.offset)
                              .about("section " + name_of(section.type)));
  }

  const Source& source_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  std::uint64_t header_size_ = 0;
  bool sorted_ = true, directory_last_ = true;
  Container out_;
};

}  // namespace

std::span<const Resource> resources() { return kResources; }

std::string name_of(SectionType type) {
  constexpr std::string_view kOwn[] = {"ModelInfo", "QuantInfo", "TensorIndex", "TensorData"};
  if (type >= SectionType::model_info && type <= SectionType::tensor_data)
    return std::string(kOwn[static_cast<std::uint32_t>(type) - 1]);
  for (const Resource& resource : kResources)
    if (resource.type == type) return std::string(resource.name);
  return fmt::format("{:#010x}", static_cast<std::uint32_t>(type));
}

const Section* Container::find(SectionType type) const {
  const auto found = std::lower_bound(sections.begin(), sections.end(), type,
                                      [](const Section& section, SectionType t) { return section.type < t; });
  return found != sections.end() && found->type == type ? &*found : nullptr;
}

Container read_container(const Source& source, const Limits& limits, Diagnostics& diagnostics) {
  return ContainerReader(source, limits, diagnostics).run();
}

void check_gaps(const Source& source, std::span<const Range> used, std::uint64_t begin, std::uint64_t end,
                Diagnostics& diagnostics) {
  Bytes buffer(std::size_t{1} << 16);
  std::uint64_t at = begin;
  for (std::size_t i = 0; i <= used.size(); ++i) {
    const std::uint64_t stop = i < used.size() ? used[i].offset : end;
    while (at < stop) {
      const auto part =
          std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), stop - at)));
      source.read(at, part);
      const auto bad = std::find_if(part.begin(), part.end(), [](std::byte b) { return b != std::byte{0}; });
      if (bad != part.end())
        return diagnostics.warning(
            Error(ErrorKind::corrupt, "mcf.padding", "a byte that belongs to nothing is not zero")
                .in(source.name())
                .at(at + static_cast<std::uint64_t>(bad - part.begin())));
      at += part.size();
    }
    if (i < used.size()) at = std::max(at, used[i].offset + used[i].length);
  }
}

SectionBytes::SectionBytes(const Source& source, const Section& section, const Limits& limits)
    : offset_(section.offset) {
  if (section.size > limits.metadata_bytes)
    throw refuse(ErrorKind::limit, "mcf.section.limit",
                 fmt::format("expected at most {} bytes of metadata, found {}", limits.metadata_bytes, section.size),
                 0);
  bytes_ = io::Metadata(source, section.offset, section.size);
}

Error SectionBytes::refuse(ErrorKind kind, std::string_view rule, std::string_view sentence,
                           std::uint64_t inner) const {
  return Error(kind, rule, sentence).at(at(inner));
}

std::vector<Section> sections(const Source& source) {
  Diagnostics throwing;
  const Limits limits;
  Container container = read_container(source, limits, throwing);
  source.check();
  return std::move(container.sections);
}

void require(const Source& source, std::span<const SectionType> types) {
  const std::vector<Section> there = sections(source);
  for (const SectionType type : types)
    if (std::none_of(there.begin(), there.end(), [&](const Section& section) { return section.type == type; }))
      throw Error(ErrorKind::not_found, "mcf.require", fmt::format("the file has no {} section", name_of(type)))
          .in(source.name());
}

}  // namespace tare::mcf
