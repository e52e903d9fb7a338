// Reads QuantInfo: its records, checked against the index.
#include <fmt/format.h>

#include <cmath>

#include "base/printable.hpp"
#include "formats/mcf/index.hpp"

namespace tare::mcf {
namespace {

// Offsets of the fields of a record.
constexpr std::uint64_t kMethodAt = 4, kDomainAt = 5, kBlockAt = 6, kSuperAt = 8, kReservedAt = 10, kMinAt = 16,
                        kMaxAt = 20;

// Returns the rule that the record of this entry breaks, and a sentence; empty if it breaks none.
std::pair<std::string_view, std::string> broken_rule(const Entry& entry, const SectionBytes& bytes,
                                                     std::uint64_t record) {
  const auto method = bytes.load<std::uint8_t>(record + kMethodAt),
             domain = bytes.load<std::uint8_t>(record + kDomainAt);
  const auto block = bytes.load<std::uint16_t>(record + kBlockAt), super = bytes.load<std::uint16_t>(record + kSuperAt);
  const codec::mcf::Method* const known = entry.method();
  if (entry.record != 0) return {"mcf.quantinfo.duplicate", "a second record for one tensor"};
  if (known == nullptr)
    return {
        "mcf.quantinfo.method",
        fmt::format("a record of method {:#x} for a tensor that is not quantized (type {:#x})", method, entry.dtype)};
  if (method != entry.dtype)
    return {"mcf.quantinfo.method",
            fmt::format("the record says method {:#x}, the index type {:#x}", method, entry.dtype)};
  if (domain > 1) return {"mcf.quantinfo.domain", fmt::format("domain {}; 0 and 1 are defined", domain)};
  if (domain == 1 && known->family != codec::mcf::Family::raw)
    return {"mcf.quantinfo.domain", fmt::format("activations, and {} is for weights", known->layout)};
  if (block != record_of(*known).block || super != record_of(*known).super_block)
    return {"mcf.quantinfo.geometry",
            fmt::format("block {} and super-block {}, {} has {} and {}", block, super, known->layout,
                        record_of(*known).block, record_of(*known).super_block)};
  for (std::uint64_t i = kReservedAt; i < kMinAt; ++i)
    if (bytes.load<std::uint8_t>(record + i) != 0)
      return {"mcf.quantinfo.reserved", fmt::format("reserved byte {} is not 0", i)};
  if (std::isinf(bytes.load<float>(record + kMinAt)) || std::isinf(bytes.load<float>(record + kMaxAt)))
    return {"mcf.quantinfo.clip", "an infinite clipping bound"};
  return {};
}

}  // namespace

void read_records(const SectionBytes& bytes, std::span<Entry> entries, const EntryReport& report) {
  const auto broken = [&](std::string_view rule, std::string_view sentence, std::uint64_t inner) {
    return bytes.refuse(ErrorKind::corrupt, rule, sentence, inner).in(report.input.path);
  };
  if (bytes.size() < kQuantHeaderBytes)
    throw broken("mcf.quantinfo.size",
                 fmt::format("expected at least {} bytes, found {}", kQuantHeaderBytes, bytes.size()), 0);
  if (const auto version = bytes.load<std::uint32_t>(0); version != 1)
    throw bytes.refuse(ErrorKind::unsupported, "mcf.quantinfo.version",
                       fmt::format("expected version 1, found {}", version), 0);
  const std::uint64_t count = bytes.load<std::uint32_t>(4);
  if (bytes.size() != kQuantHeaderBytes + count * kQuantRecordBytes)
    throw broken("mcf.quantinfo.size",
                 fmt::format("{} records take {} bytes, the section has {}", count,
                             kQuantHeaderBytes + count * kQuantRecordBytes, bytes.size()),
                 4);
  std::uint64_t next = 0;
  bool ascending = true, known = true, in_order = true;
  for (std::uint64_t record = kQuantHeaderBytes; record < bytes.size(); record += kQuantRecordBytes) {
    const std::uint64_t number = bytes.load<std::uint32_t>(record);
    ascending = ascending && number >= next;
    next = number + 1;
    if (number >= entries.size()) {
      report.diagnostics.error(
          broken("mcf.quantinfo.tensor", fmt::format("a record for tensor {} of {}", number, entries.size()), record));
      continue;
    }
    Entry& entry = entries[number];
    if (const auto [rule, sentence] = broken_rule(entry, bytes, record); !rule.empty())
      report.bad(entry, broken(rule, sentence, record).about("tensor " + quote(entry.name)));
    entry.record = record;
    const auto low = bytes.load<float>(record + kMinAt), high = bytes.load<float>(record + kMaxAt);
    known = known && !std::isnan(low) && !std::isnan(high);
    in_order = in_order && !(low > high);
  }
  if (!ascending) report.diagnostics.warning(broken("mcf.quantinfo.order", "the records do not ascend by tensor", 0));
  if (!in_order)
    report.diagnostics.warning(broken("mcf.quantinfo.reversed", "a lower clipping bound above the upper one", 0));
  // A note, not a warning: a file without QuantInfo gets unknown bounds when it is written again.
  if (!known) report.diagnostics.note(broken("mcf.quantinfo.unknown", "a clipping bound that is not a number", 0));
}

void set_attributes(const SectionBytes& bytes, std::uint64_t record, Map& attributes) {
  const auto domain = domain_of(bytes.load<std::uint8_t>(record + kDomainAt));
  attributes.append("domain", std::string(codec::mcf::name_of(domain)));
  const auto put = [&](const char* key, float bound) {
    if (!std::isnan(bound)) attributes.append(key, static_cast<double>(bound));
  };
  put("min_clip", bytes.load<float>(record + kMinAt));
  put("max_clip", bytes.load<float>(record + kMaxAt));
}

}  // namespace tare::mcf
