// The numbers of the parameters sections of both versions, read and written by their names.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "base/half.hpp"
#include "base/text.hpp"
#include "formats/alt/alt.hpp"

namespace tare::alt {
namespace {

class Setter {
 public:
  Setter(const Cursor& cursor, std::string_view name, std::uint32_t bits, std::uint64_t at, Config& config)
      : cursor_(cursor), name_(name), bits_(bits), at_(at), config_(config) {}

  void operator()(std::optional<std::int64_t> Config::*member) const {
    const auto value = std::bit_cast<std::int32_t>(bits_);
    if (is_there(value)) config_.*member = value;
  }
  void operator()(std::optional<double> Config::*member) const {
    const auto value = std::bit_cast<float>(bits_);
    if (!std::isfinite(value))
      cursor_.complain("parameters.nonfinite", fmt::format("{} is {}", name_, value), at_);
    else if (is_there(value))
      config_.*member = decimal_double(value);
  }
  template <typename Member>
  void operator()(Member /*no number*/) const {}

 private:
  template <typename Number>
  bool is_there(Number value) const {
    if (value < 0) cursor_.warn("parameters.negative", fmt::format("{} is {}: taken as absent", name_, value), at_);
    return value > 0;
  }

  const Cursor& cursor_;
  std::string_view name_;
  std::uint32_t bits_;
  std::uint64_t at_;
  Config& config_;
};

class Putter {
 public:
  Putter(FieldWriter& out, const Config& config) : out_(out), config_(config) {}

  void operator()(std::optional<std::int64_t> Config::*member) const { out_.i32(number_or_zero(config_.*member)); }
  void operator()(std::optional<double> Config::*member) const {
    out_.put(f64_to_f32((config_.*member).value_or(0)) + 0.0F);  // -0.0 becomes 0
  }
  template <typename Member>
  void operator()(Member /*no number*/) const {}

 private:
  FieldWriter& out_;
  const Config& config_;
};

}  // namespace

void set_parameter(const Cursor& cursor, std::span<const OwnField> fields, std::string_view name, std::uint32_t bits,
                   std::uint64_t at, Config& config) {
  std::visit(Setter(cursor, name, bits, at, config), field_called(fields, name).member);
}

void read_numbers(Cursor& cursor, std::span<const OwnField> fields, std::span<const std::string_view> names,
                  Config& config) {
  for (const std::string_view name : names) {
    const std::uint64_t at = cursor.at();
    set_parameter(cursor, fields, name, cursor.take<std::uint32_t>(name), at, config);
  }
}

std::int32_t number_or_zero(const std::optional<std::int64_t>& field) {
  return static_cast<std::int32_t>(field.value_or(0));
}

std::optional<std::int32_t> stated_seq_len(const Model& model) {
  const Value* const value = model.metadata.find(kSeqLenKey);
  if (value == nullptr) return 0;
  const std::string* const text = value->text();
  std::int32_t number = -1;
  if (text == nullptr) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size() || number <= 0) return std::nullopt;
  return number;
}

void put_numbers(FieldWriter& out, std::span<const OwnField> fields, std::span<const std::string_view> names,
                 const Config& config) {
  for (const std::string_view name : names) std::visit(Putter(out, config), field_called(fields, name).member);
}

}  // namespace tare::alt
