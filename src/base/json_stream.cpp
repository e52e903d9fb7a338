#include "base/json_stream.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/printable.hpp"
#include "tare/value.hpp"

namespace tare {

void JsonWriter::before() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  before();
  out_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  text(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  before();
  const std::size_t begin = out_.size();
  append_json_string(out_, value);
  const std::string_view quoted = std::string_view(out_).substr(begin);
  // Fast path: nearly all names are ASCII.
  if (std::any_of(quoted.begin(), quoted.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x7F; }))
    out_.replace(begin, quoted.size(), printable_json(quoted));
  return *this;
}

JsonWriter& JsonWriter::number(std::uint64_t value) {
  before();
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), value);
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  before();
  fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), value);
  return *this;
}

JsonWriter& JsonWriter::real(double value) { return raw(to_json(Value(value))); }

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  before();
  out_ += printable_json(json);
  return *this;
}

JsonWriter& JsonWriter::line_feed() {
  // Writes the pending comma first, so that each element begins a line.
  if (comma_) out_ += ',';
  comma_ = false;
  out_ += '\n';
  return *this;
}

}  // namespace tare
