// The tensors of an MCF file on their way from TensorIndex and QuantInfo to the model.
#pragma once

#include "formats/mcf/mcf.hpp"
#include "formats/mcf/methods.hpp"

namespace tare::mcf {

// An entry of TensorIndex; of a good one every number lies inside its table.
struct Entry {
  std::string_view name;
  std::uint32_t dtype = 0, rank = 0, dim_off = 0;
  std::uint64_t data_off = 0, data_size = 0;
  std::uint64_t at = 0;      // place of the entry in the file
  std::uint64_t record = 0;  // place of its record in QuantInfo; 0: none
  bool good = false;         // nothing was reported about it

  // Null for plain types.
  const codec::mcf::Method* method() const { return dtype < 0x10 ? nullptr : find_method(dtype); }
};

// Where findings about tensors go; the reader goes on with the others.
struct EntryReport {
  const Input& input;
  Diagnostics& diagnostics;
  std::unordered_map<const Entry*, Error>& errors;  // the first of each bad entry that has a name

  Error about(const Entry& entry, std::string_view rule, std::string_view sentence,
              ErrorKind kind = ErrorKind::corrupt) const;
  // An error of this entry, which is omitted.
  void bad(Entry& entry, std::string_view rule, std::string_view sentence, ErrorKind kind = ErrorKind::corrupt) const {
    bad(entry, about(entry, rule, sentence, kind));
  }
  void bad(Entry& entry, Error error) const;
};

// TensorIndex, its tables checked. Views into the section's bytes.
class Index {
 public:
  // `data`: the TensorData section, null when there is none. Throws what is wrong with the section as a whole.
  Index(SectionBytes bytes, const Section* data, const EntryReport& report);

  std::vector<Entry>& entries() { return entries_; }
  // Empty where the entry's numbers do not lie inside the table.
  Shape shape(const Entry& entry) const;
  // Warnings about forms that are tolerated.
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

// Gives the entries their records. Throws what is wrong with the section as a whole.
void read_records(const SectionBytes& bytes, std::span<Entry> entries, const EntryReport& report);
// A record's parameters as a tensor's attributes; a clipping bound that is not a number is not known.
void set_attributes(const SectionBytes& bytes, std::uint64_t record, Map& attributes);

}  // namespace tare::mcf
