#include "tare/error.hpp"

#include <fmt/format.h>

namespace tare {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found: return "not_found";
    case ErrorKind::io: return "io";
    case ErrorKind::corrupt: return "corrupt";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::limit: return "limit";
    case ErrorKind::lossy: return "lossy";
    case ErrorKind::usage: return "usage";
  }
  return "?";
}

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "?";
}

namespace {

// Words of a file may stand in a sentence: a zero byte in them would end what(), a line feed would begin a line of
// somebody else's.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\x{:02X}", byte);
    else
      out += c;
  }
  return out;
}

}  // namespace

Error::Error(ErrorKind kind, std::string_view rule, std::string_view sentence)
    : std::runtime_error(std::string()), kind_(kind), rule_(rule), sentence_(one_line(sentence)) {
  compose();
}

Error& Error::in(std::string_view file) {
  if (file_.empty()) file_ = file;
  compose();
  return *this;
}

Error& Error::at(std::uint64_t offset) {
  if (!offset_) offset_ = offset;
  compose();
  return *this;
}

Error& Error::about(std::string_view item) {
  if (item_.empty()) item_ = one_line(item);
  compose();
  return *this;
}

void Error::compose() {
  text_.clear();
  if (!file_.empty()) text_ += one_line(file_) + ": ";
  if (!item_.empty()) text_ += item_ + ": ";
  text_ += sentence_;
  text_ += offset_ ? fmt::format(" ({}, byte {})", rule_, *offset_) : fmt::format(" ({})", rule_);
}

}  // namespace tare
