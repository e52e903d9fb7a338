// The bytes of ModelInfo: fixed fields, strings and key-value pairs. model.cpp interprets them.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "formats/mcf/mcf.hpp"

namespace tare::mcf {
namespace {

constexpr std::uint32_t kU32 = 1, kF32 = 2, kString = 3;  // types of a value
// Offsets of the fixed fields.
constexpr std::uint64_t kFieldsAt = 8, kRopeBaseAt = 48, kNameAt = 56, kBaseAt = 64, kKvCountAt = 72, kKvOffAt = 80;

// The integers of the fixed part, in file order; the second is reserved.
constexpr std::uint32_t InfoFields::*kStoredIntegers[] = {
    &InfoFields::arch,          nullptr,
    &InfoFields::vocab,         &InfoFields::hidden,
    &InfoFields::layers,        &InfoFields::heads,
    &InfoFields::kv_heads,      &InfoFields::context,
    &InfoFields::train_context, &InfoFields::rope_type,
};

class InfoReader {
 public:
  InfoReader(const SectionBytes& bytes, Diagnostics& diagnostics) : bytes_(bytes), diagnostics_(diagnostics) {}

  Info run() {
    if (bytes_.size() < kInfoBytes)
      throw refuse("mcf.info.size", fmt::format("expected at least {} bytes, found {}", kInfoBytes, bytes_.size()), 0);
    if (const auto version = bytes_.load<std::uint32_t>(0); version != 1)
      throw bytes_.refuse(ErrorKind::unsupported, "mcf.info.version",
                          fmt::format("expected version 1, found {}", version), 0);
    for (const std::uint64_t reserved : {std::uint64_t{4}, kFieldsAt + 4, kKvCountAt + 4}) require_zero(reserved);

    for (std::size_t i = 0; i < std::size(kStoredIntegers); ++i)
      if (kStoredIntegers[i] != nullptr)
        info_.fields.*kStoredIntegers[i] = bytes_.load<std::uint32_t>(kFieldsAt + 4 * i);
    info_.fields.rope_base = bytes_.load<float>(kRopeBaseAt);
    info_.fields.rope_scale = bytes_.load<float>(kRopeBaseAt + 4);
    info_.model_name = optional_string(kNameAt);
    info_.base_model = optional_string(kBaseAt);
    read_pairs();
    return std::move(info_);
  }

 private:
  Error refuse(std::string_view rule, std::string_view sentence, std::uint64_t inner) const {
    return bytes_.refuse(ErrorKind::corrupt, rule, sentence, inner);
  }

  void require_zero(std::uint64_t inner) const {
    if (const auto found = bytes_.load<std::uint32_t>(inner); found != 0)
      throw refuse("mcf.info.reserved", fmt::format("a reserved field is {}, not 0", found), inner);
  }

  // Strings may share bytes, but a few bytes must not become gigabytes.
  void account(std::uint64_t length, std::uint64_t inner) {
    taken_ += length;
    if (taken_ > 4 * bytes_.size())
      throw bytes_.refuse(ErrorKind::limit, "mcf.info.strings", "overlapping strings add up to too many bytes", inner);
  }

  // `from`: the offset of the field that holds `offset`.
  std::string_view string_at(std::uint64_t offset, std::uint64_t from) {
    if (offset % 8 != 0 || offset < kInfoBytes || !fits(offset, 4, bytes_.size()))
      throw refuse("mcf.info.string",
                   fmt::format("a string at {}, where multiples of 8 from {} to {} are possible", offset, kInfoBytes,
                               bytes_.size()),
                   from);
    const auto length = bytes_.load<std::uint32_t>(offset);
    if (!fits(offset + 4, length, bytes_.size()))
      throw refuse("mcf.info.string",
                   fmt::format("a string of {} bytes at {} extends beyond the section's end at {}", length, offset + 4,
                               bytes_.size()),
                   offset);
    account(length, offset);
    if (diagnostics_.thorough()) check_padding(offset + 4 + length);
    return bytes_.text(offset + 4, length);
  }

  void check_padding(std::uint64_t end) {
    const std::uint64_t stop = std::min((end + 7) & ~std::uint64_t{7}, bytes_.size());
    for (; end < stop; ++end)
      if (bytes_.load<std::uint8_t>(end) != 0 && !padding_warned_) {
        padding_warned_ = true;
        diagnostics_.warning(refuse("mcf.info.padding", "a byte after a string is not zero", end));
      }
  }

  std::optional<std::string_view> optional_string(std::uint64_t field) {
    const auto offset = bytes_.load<std::uint64_t>(field);
    if (offset == 0) return std::nullopt;
    return string_at(offset, field);
  }

  void read_pairs() {
    const auto count = bytes_.load<std::uint32_t>(kKvCountAt);
    if (count == 0) return;
    const auto table = bytes_.load<std::uint64_t>(kKvOffAt);
    if (table % 8 != 0 || table < kInfoBytes || !fits(table, count * kKvBytes, bytes_.size()))
      throw refuse("mcf.info.kv",
                   fmt::format("{} pairs at {} do not fit the section's {} bytes", count, table, bytes_.size()),
                   kKvOffAt);
    info_.pairs.reserve(count);
    for (std::uint64_t at = table; at < table + count * kKvBytes; at += kKvBytes) info_.pairs.push_back(pair_at(at));

    const auto by_key = [](const InfoPair& a, const InfoPair& b) { return a.key < b.key; };
    if (!std::is_sorted(info_.pairs.begin(), info_.pairs.end(), by_key)) {
      diagnostics_.warning(refuse("mcf.info.order", "the pairs are not sorted by key", table));
      std::sort(info_.pairs.begin(), info_.pairs.end(), by_key);
    }
    const auto twice = std::adjacent_find(info_.pairs.begin(), info_.pairs.end(),
                                          [](const InfoPair& a, const InfoPair& b) { return a.key == b.key; });
    if (twice != info_.pairs.end())
      throw refuse("mcf.info.duplicate", fmt::format("the key \"{}\" appears twice", quote(twice->key)), table);
  }

  InfoPair pair_at(std::uint64_t at) {
    InfoPair pair;
    const auto key = bytes_.load<std::uint64_t>(at);
    if (key != 0) pair.key = string_at(key, at);
    if (pair.key.empty()) throw refuse("mcf.info.key", "a pair without a key", at);
    require_zero(at + 12);
    const auto value = bytes_.load<std::uint64_t>(at + 16);
    const auto number = [&] {
      if (value % 8 != 0 || value < kInfoBytes || !fits(value, 4, bytes_.size()))
        throw refuse("mcf.info.value",
                     fmt::format("\"{}\": a value at {}, where multiples of 8 from {} to {} are possible",
                                 quote(pair.key), value, kInfoBytes, bytes_.size()),
                     at + 16);
      return value;
    };
    switch (const auto type = bytes_.load<std::uint32_t>(at + 8)) {
      case kU32: pair.value = bytes_.load<std::uint32_t>(number()); break;
      case kF32: pair.value = bytes_.load<float>(number()); break;
      case kString:
        pair.value = value == 0 ? std::string_view() : string_at(value, at + 16);
        pair.at = bytes_.at(value + 4);
        break;
      default:
        throw bytes_.refuse(ErrorKind::unsupported, "mcf.info.type",
                            fmt::format("\"{}\" has a value of type {}; 1 to 3 are defined", quote(pair.key), type),
                            at + 8);
    }
    return pair;
  }

  const SectionBytes& bytes_;
  Diagnostics& diagnostics_;
  Info info_;
  std::uint64_t taken_ = 0;
  bool padding_warned_ = false;
};

class InfoBuilder {
 public:
  InfoBuilder() : out_(kInfoBytes) {}

  Bytes run(const InfoText& info) {
    store(0, std::uint32_t{1});
    for (std::size_t i = 0; i < std::size(kStoredIntegers); ++i)
      if (kStoredIntegers[i] != nullptr) store(kFieldsAt + 4 * i, info.fields.*kStoredIntegers[i]);
    store(kRopeBaseAt, info.fields.rope_base);
    store(kRopeBaseAt + 4, info.fields.rope_scale);
    store(kNameAt, put_string(info.model_name));
    store(kBaseAt, put_string(info.base_model));
    if (info.pairs.empty()) return std::move(out_);

    Bytes table(info.pairs.size() * kKvBytes);
    std::byte* entry = table.data();
    for (const auto& [key, value] : info.pairs) {
      store_le(entry, put_string(key));
      store_le(entry + 8, static_cast<std::uint32_t>(value.index() + 1));
      store_le(entry + 16, std::visit([&](const auto& v) { return put_value(v); }, value));
      entry += kKvBytes;
    }
    store(kKvCountAt, fit(info.pairs.size()));
    store(kKvOffAt, out_.size());
    out_.insert(out_.end(), table.begin(), table.end());
    return std::move(out_);
  }

 private:
  template <typename T>
  void store(std::uint64_t at, T value) {
    store_le(out_.data() + at, value);
  }

  static std::uint32_t fit(std::uint64_t number) {
    if (number > UINT32_MAX)
      throw Error(ErrorKind::limit, "mcf.write.limit",
                  fmt::format("a count or length of {} does not fit the 32 bits that ModelInfo has for it", number));
    return static_cast<std::uint32_t>(number);
  }

  // Appends a string, aligned to 8, and returns its offset. The empty string is written as 0, absent.
  std::uint64_t put_string(std::string_view text) {
    if (text.empty()) return 0;
    const std::uint64_t offset = out_.size();
    out_.resize((offset + 4 + text.size() + 7) & ~std::uint64_t{7});
    store(offset, fit(text.size()));
    std::copy_n(text.data(), text.size(), reinterpret_cast<char*>(out_.data() + offset + 4));
    return offset;
  }
  std::uint64_t put_value(const std::string& text) { return put_string(text); }
  template <typename Number>
  std::uint64_t put_value(Number number) {
    const std::uint64_t offset = out_.size();
    out_.resize(offset + 8);
    store(offset, number);
    return offset;
  }

  Bytes out_;
};

}  // namespace

Info read_info(const SectionBytes& bytes, Diagnostics& diagnostics) { return InfoReader(bytes, diagnostics).run(); }

Bytes build_info(const InfoText& info) { return InfoBuilder().run(info); }

}  // namespace tare::mcf
