// The tensors of an MCF file between TensorIndex, QuantInfo and the model.
#pragma once

#include "formats/mcf/mcf.hpp"
#include "formats/mcf/methods.hpp"

namespace tare::mcf {

// An entry of TensorIndex. If `good`, all its numbers are within their tables.
struct Entry {
  std::string_view name;
  std::uint32_t dtype = 0, rank = 0, dim_off = 0;
  std::uint64_t data_off = 0, data_size = 0;
  std::uint64_t at = 0;      // offset of the entry in the file
  std::uint64_t record = 0;  // offset of its record in QuantInfo; 0: none
  bool good = false;         // nothing was reported about it

  // Null for plain types.
  const codec::mcf::Method* method() const { return dtype < 0x10 ? nullptr : find_method(dtype); }
};

// Receives findings about tensors; the reader continues with the others.
struct EntryReport {
  const Input& input;
  Diagnostics& diagnostics;
  std::unordered_map<const Entry*, Error>& errors;  // the first error of each bad entry that has a name

  Error about(const Entry& entry, std::string_view rule, std::string_view sentence,
              ErrorKind kind = ErrorKind::corrupt) const;
  // Reports an error of this entry; the tensor is omitted.
  void bad(Entry& entry, std::string_view rule, std::string_view sentence, ErrorKind kind = ErrorKind::corrupt) const {
    bad(entry, about(entry, rule, sentence, kind));
  }
  void bad(Entry& entry, Error error) const;
};

// TensorIndex with checked tables. The names are views into the section's bytes.
class Index {
 public:
  // `data`: the TensorData section, or null. Throws for errors that concern the whole section.
  Index(SectionBytes bytes, const Section* data, const EntryReport& report);

  std::vector<Entry>& entries() { return entries_; }
  // Empty if the entry's numbers are outside the table.
  Shape shape(const Entry& entry) const;
  // Warns of tolerated deviations.
  void note_deviations() const;

 private:
  Error refuse(std::string_view rule, std::string_view sentence, std::uint64_t inner) const;
  void read_header();
  void check_table(std::string_view what, std::uint64_t offset, std::uint64_t bytes, std::uint64_t field) const;
  void read_entries(const Section* data);
  void read_entry(Entry& entry, std::uint64_t inner, const Section* data) const;
  void check_names();
  void check_flags() const;

  SectionBytes bytes_;
  EntryReport report_;
  std::uint32_t flags_ = 0;
  std::uint64_t count_ = 0, dims_count_ = 0;
  std::uint64_t entries_off_ = 0, dims_off_ = 0, strings_off_ = 0, strings_size_ = 0;
  bool sorted_ = false;
  std::vector<Entry> entries_;
};

// Assigns the records to the entries. Throws for errors that concern the whole section.
void read_records(const SectionBytes& bytes, std::span<Entry> entries, const EntryReport& report);
// Stores a record's parameters as attributes of the tensor. A clipping bound that is NaN is unknown and omitted.
void set_attributes(const SectionBytes& bytes, std::uint64_t record, Map& attributes);

}  // namespace tare::mcf
