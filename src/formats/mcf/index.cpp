// Reads TensorIndex: its header, entries and names.
#include "formats/mcf/index.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace tare::mcf {

Error EntryReport::about(const Entry& entry, std::string_view rule, std::string_view sentence, ErrorKind kind) const {
  return Error(kind, rule, sentence).in(input.path).at(entry.at).about("tensor " + quote(entry.name));
}

void EntryReport::bad(Entry& entry, Error error) const {
  entry.good = false;
  if (entry.name.empty()) return diagnostics.error(error);  // a tensor without a name cannot be skipped by name
  diagnostics.tensor_error(error);
  errors.emplace(&entry, std::move(error));
}

Index::Index(SectionBytes bytes, const Section* data, const EntryReport& report)
    : bytes_(std::move(bytes)), report_(report) {
  read_header();
  read_entries(data);
  check_names();
  check_flags();
}

Error Index::refuse(std::string_view rule, std::string_view sentence, std::uint64_t inner) const {
  return bytes_.refuse(ErrorKind::corrupt, rule, sentence, inner).in(report_.input.path);
}

void Index::read_header() {
  const std::uint64_t size = bytes_.size();
  if (size < kIndexHeaderBytes)
    throw refuse("mcf.index.size", fmt::format("expected at least {} bytes, found {}", kIndexHeaderBytes, size), 0);
  if (const auto version = bytes_.load<std::uint32_t>(0); version != 1)
    throw bytes_.refuse(ErrorKind::unsupported, "mcf.index.version",
                        fmt::format("expected version 1, found {}", version), 0);
  flags_ = bytes_.load<std::uint32_t>(4);
  count_ = bytes_.load<std::uint32_t>(8);
  dims_count_ = bytes_.load<std::uint32_t>(12);
  entries_off_ = bytes_.load<std::uint64_t>(16);
  dims_off_ = bytes_.load<std::uint64_t>(24);
  strings_off_ = bytes_.load<std::uint64_t>(32);
  strings_size_ = bytes_.load<std::uint64_t>(40);
  if (count_ == 0) throw refuse("mcf.index.count", "an index of no tensors: such a file has no TensorIndex", 8);
  check_table("entries", entries_off_, count_ * kIndexEntryBytes, 16);
  check_table("dimensions", dims_off_, dims_count_ * std::uint64_t{8}, 24);
  check_table("strings", strings_off_, strings_size_, 32);
}

void Index::check_table(std::string_view what, std::uint64_t offset, std::uint64_t bytes, std::uint64_t field) const {
  if (bytes > 0 && (offset < kIndexHeaderBytes || !fits(offset, bytes, bytes_.size())))
    throw refuse("mcf.index.bounds",
                 fmt::format("{} bytes of {} at {} do not fit a section of {} bytes with a header of {}", bytes, what,
                             offset, bytes_.size(), kIndexHeaderBytes),
                 field);
}

void Index::read_entries(const Section* data) {
  entries_.resize(count_);
  std::uint64_t name_bytes = 0;
  for (std::uint64_t i = 0; i < count_; ++i) {
    read_entry(entries_[i], entries_off_ + i * kIndexEntryBytes, data);
    // Names may overlap in the table, so a small file could have a huge listing.
    name_bytes += entries_[i].name.size();
    if (name_bytes > 4 * strings_size_)
      throw bytes_.refuse(ErrorKind::limit, "mcf.index.strings",
                          fmt::format("the names have more than four times the {} bytes of strings", strings_size_),
                          32);
  }
}

void Index::read_entry(Entry& entry, std::uint64_t inner, const Section* data) const {
  entry.at = bytes_.at(inner);
  const auto name_off = bytes_.load<std::uint32_t>(inner), name_len = bytes_.load<std::uint32_t>(inner + 4);
  entry.dtype = bytes_.load<std::uint32_t>(inner + 8);
  entry.rank = bytes_.load<std::uint32_t>(inner + 12);
  entry.dim_off = bytes_.load<std::uint32_t>(inner + 16);
  entry.data_off = bytes_.load<std::uint64_t>(inner + 24);
  entry.data_size = bytes_.load<std::uint64_t>(inner + 32);
  if (!fits(name_off, name_len, strings_size_))
    return report_.bad(
        entry, "mcf.tensor.name",
        fmt::format("a name of {} bytes at {} of {} bytes of strings", name_len, name_off, strings_size_));
  if (name_len == 0) return report_.bad(entry, "mcf.tensor.empty_name", "a tensor without a name");
  entry.name = bytes_.text(strings_off_ + name_off, name_len);
  if (const auto reserved = bytes_.load<std::uint32_t>(inner + 20); reserved != 0)
    return report_.bad(entry, "mcf.tensor.reserved", fmt::format("the reserved field is {}, not 0", reserved));
  if (!fits(entry.dim_off, entry.rank, dims_count_))
    return report_.bad(entry, "mcf.tensor.dims",
                       fmt::format("{} dimensions from {} of {}", entry.rank, entry.dim_off, dims_count_));
  if (entry.rank > kMaxRank)
    return report_.bad(entry, "mcf.tensor.rank",
                       fmt::format("expected at most {} dimensions, found {}", kMaxRank, entry.rank), ErrorKind::limit);
  if (!plain_type(entry.dtype) && entry.method() == nullptr)
    return report_.bad(entry, "mcf.tensor.dtype", fmt::format("the type {:#x} is not one of the format's", entry.dtype),
                       ErrorKind::unsupported);
  if (data == nullptr)
    return report_.bad(entry, "mcf.tensor.no_data", "the file has no TensorData section for its payload");
  if (entry.data_off < data->offset || !fits(entry.data_off - data->offset, entry.data_size, data->size))
    return report_.bad(entry, "mcf.tensor.bounds",
                       fmt::format("{} bytes at {} are not inside the TensorData section, {} bytes at {}",
                                   entry.data_size, entry.data_off, data->size, data->offset));
  entry.good = true;
}

// Reports names that appear twice.
void Index::check_names() {
  sorted_ =
      std::is_sorted(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  std::vector<Entry*> by_name;
  if (!sorted_) {
    by_name.reserve(entries_.size());
    for (Entry& entry : entries_) by_name.push_back(&entry);
    std::stable_sort(by_name.begin(), by_name.end(), [](const Entry* a, const Entry* b) { return a->name < b->name; });
  }
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    Entry& entry = sorted_ ? entries_[i] : *by_name[i];
    const Entry& previous = sorted_ ? entries_[i - 1] : *by_name[i - 1];
    if (entry.good && entry.name == previous.name) report_.bad(entry, "mcf.tensor.duplicate", "the name appears twice");
  }
}

// Reports flags that contradict the names.
void Index::check_flags() const {
  if (!sorted_ && (flags_ & kIndexSorted) != 0)
    report_.diagnostics.error(refuse("mcf.index.sorted", "the index says it is sorted by name and is not", 4));
  const auto strange =
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return !is_valid_utf8(entry.name); });
  if (strange != entries_.end() && (flags_ & kIndexUtf8) != 0)
    report_.diagnostics.error(
        report_.about(*strange, "mcf.index.names", "the names are marked as UTF-8, and this one is not"));
}

Shape Index::shape(const Entry& entry) const {
  Shape shape;
  if (entry.rank > kMaxRank || !fits(entry.dim_off, entry.rank, dims_count_)) return shape;
  for (std::uint64_t d = 0; d < entry.rank; ++d)
    shape.push_back(bytes_.load<std::uint64_t>(dims_off_ + 8 * (entry.dim_off + d)));
  return shape;
}

void Index::note_deviations() const {
  const auto warn = [&](std::string_view rule, std::string_view sentence, std::uint64_t inner) {
    report_.diagnostics.warning(refuse(rule, sentence, inner));
  };
  if ((flags_ & kIndexSorted) == 0) warn("mcf.index.unsorted", "the index is not marked as sorted by name", 4);
  if ((flags_ & kIndexUtf8) == 0) warn("mcf.index.utf8", "the names are not marked as UTF-8", 4);
  if ((flags_ & ~(kIndexSorted | kIndexUtf8)) != 0)
    warn("mcf.index.flags", fmt::format("unknown flags {:#x}", flags_), 4);
  const std::uint64_t dims = entries_off_ + count_ * kIndexEntryBytes, strings = dims + dims_count_ * std::uint64_t{8};
  if (entries_off_ != kIndexHeaderBytes || dims_off_ != dims || strings_off_ != strings ||
      strings + strings_size_ != bytes_.size())
    warn("mcf.index.order", "entries, dimensions and strings do not follow each other", 16);
}

}  // namespace tare::mcf
