// Fields and sections, which both versions consist of.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "formats/alt/alt.hpp"

namespace tare::alt {

std::span<const std::byte> Cursor::bytes(std::uint64_t count, std::string_view what) {
  if (count > left())
    fail("truncated", fmt::format("{} needs {} bytes, the file has {} left", what, count, left()), at_);
  const auto found = window_.get(at_, count);
  at_ += count;
  return found;
}

std::string Cursor::string(std::string_view what, std::uint64_t limit) {
  const std::uint64_t start = at_;
  const std::int32_t length = i32(what);
  limit = std::min(limit, size());
  const std::uint64_t room = limit > at_ ? limit - at_ : 0;
  if (length < 0 || static_cast<std::uint64_t>(length) > room)
    fail("string.length", fmt::format("{} states {} bytes, the section has {} left", what, length, room), start);
  return std::string(as_text(bytes(static_cast<std::uint64_t>(length), what)));
}

void Cursor::padding() {
  const auto end = checked_align(at_, alignment_);
  if (!end || *end > size())
    fail("truncated", fmt::format("padding to the next multiple of {} is missing", alignment_), at_);
  const std::uint64_t start = at_;
  const auto zeros = bytes(*end - at_, "padding");
  const auto bad = std::find_if(zeros.begin(), zeros.end(), [](std::byte b) { return b != std::byte{0}; });
  if (bad != zeros.end())
    complain("padding", fmt::format("a padding byte is {}, not 0", std::to_integer<unsigned>(*bad)),
             start + static_cast<std::uint64_t>(bad - zeros.begin()));
}

Error Cursor::error(ErrorKind kind, std::string_view rule, std::string_view sentence, std::uint64_t offset) const {
  Error made(kind, fmt::format("{}.{}", format_, rule), sentence);
  made.in(source_.name()).at(offset);
  if (!item_.empty()) made.about(item_);
  return made;
}
void Cursor::fail(std::string_view rule, std::string_view sentence, std::uint64_t offset) const {
  throw error(ErrorKind::corrupt, rule, sentence, offset);
}
void Cursor::complain(std::string_view rule, std::string_view sentence, std::uint64_t offset) const {
  diagnostics_.error(error(ErrorKind::corrupt, rule, sentence, offset));
}
void Cursor::warn(std::string_view rule, std::string_view sentence, std::uint64_t offset) const {
  diagnostics_.warning(error(ErrorKind::corrupt, rule, sentence, offset));
}
void Cursor::note(std::string_view rule, std::string_view sentence, std::uint64_t offset) const {
  diagnostics_.note(error(ErrorKind::corrupt, rule, sentence, offset));
}

std::uint64_t Section::size_in(SizeForm form) const {
  const std::uint64_t padded = (fields_end + alignment - 1) / alignment * alignment;
  switch (form) {
    case SizeForm::fields: return fields_end - begin - kHeader;
    case SizeForm::fields_and_header: return fields_end - begin;
    case SizeForm::fields_and_padding: return padded - begin - kHeader;
    default: return padded - begin;
  }
}

std::optional<SizeForm> Section::form() const {
  for (const SizeForm form :
       {SizeForm::fields, SizeForm::fields_and_header, SizeForm::fields_and_padding, SizeForm::all})
    if (size == size_in(form)) return form;
  return std::nullopt;
}

std::uint64_t Section::limit() const {
  const auto end = checked_add(begin + kHeader, size);
  return end ? *end : UINT64_MAX;
}

Section open_section(Cursor& cursor, std::string_view name, std::uint64_t marker) {
  cursor.set_item(fmt::format("{} section", name));
  Section section{name, cursor.at(), 0, 0, cursor.alignment()};
  const std::uint64_t found = cursor.u64("section marker");
  if (found != marker)
    cursor.fail("section.marker", fmt::format("expected the marker {:#x}, found {:#x}", marker, found), section.begin);
  section.size = cursor.u64("section size");
  return section;
}

void close_section(Cursor& cursor, Section& section) {
  section.fields_end = cursor.at();
  cursor.padding();
  cursor.set_item({});
}

void check_size(const Cursor& cursor, const Section& section, std::uint64_t expected) {
  if (section.size == expected) return;
  const std::string sentence = fmt::format("the {} section: expected a size of {}, found {}", section.name, expected,
                                           static_cast<std::int64_t>(section.size));
  if (section.form())
    cursor.warn("section.size_form", sentence + "; other writers count this way", section.begin + 8);
  else
    cursor.complain("section.size", sentence, section.begin + 8);
}

bool next_is(Cursor& cursor, std::uint64_t marker) {
  if (cursor.left() < 4) return false;
  const std::uint64_t at = cursor.at();
  const auto low = cursor.take<std::uint32_t>("section marker");
  cursor.go(at);
  return low == marker;
}

void read_end(Cursor& cursor, std::size_t canonical_width) {
  const std::uint64_t start = cursor.at();
  if (cursor.left() < 4) cursor.fail("end.marker", "the file ends before its end marker", start);
  const auto low = cursor.take<std::uint32_t>("end marker");
  if (low != kEnd)
    cursor.fail("end.marker", fmt::format("expected the end marker {:#x}, found {:#x}", kEnd, low), start);
  std::size_t width = 4;
  if (canonical_width == 8 && cursor.left() >= 4) {
    if (const auto high = cursor.take<std::uint32_t>("end marker"); high != 0)
      cursor.complain("end.trailing", fmt::format("bytes after the end marker, the first word is {:#x}", high),
                      start + 4);
    width = 8;
  }
  if (cursor.left() > 0)
    cursor.complain("end.trailing", fmt::format("{} bytes after the end marker", cursor.left()), cursor.at());
  if (width != canonical_width)
    cursor.warn("end.short", fmt::format("expected an end marker of {} bytes, found {}", canonical_width, width),
                start);
}

std::size_t FieldWriter::begin_section(std::uint64_t marker) {
  const std::size_t begin = size();
  put<std::uint64_t>(marker);
  put<std::uint64_t>(0);
  return begin;
}

void FieldWriter::end_section(std::size_t begin, SizeForm form) {
  const Section section{{}, begin, 0, size()};
  store_le<std::uint64_t>(bytes_.data() + begin + 8, section.size_in(form));
  align();
}

}  // namespace tare::alt
