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

Error::Error(ErrorKind kind, std::string_view rule, std::string_view sentence)
    : std::runtime_error(std::string()), kind_(kind), rule_(rule), sentence_(sentence) {
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
  if (item_.empty()) item_ = item;
  compose();
  return *this;
}

void Error::compose() {
  text_.clear();
  if (!file_.empty()) text_ += file_ + ": ";
  if (!item_.empty()) text_ += item_ + ": ";
  text_ += sentence_;
  text_ += offset_ ? fmt::format(" ({}, byte {})", rule_, *offset_) : fmt::format(" ({})", rule_);
}

}  // namespace tare
