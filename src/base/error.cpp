#include "tare/error.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/printable.hpp"

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

struct Error::Facts {
  ErrorKind kind;
  std::string rule, sentence, file, item;
  std::optional<std::uint64_t> offset;

  // Put together when somebody asks; most errors are changed a few times first, and many are only counted.
  mutable std::once_flag composed;
  mutable std::string text;

  Facts(ErrorKind k, std::string_view r, std::string_view s) : kind(k), rule(r), sentence(printable(s)) {}
  Facts(const Facts& other)
      : kind(other.kind),
        rule(other.rule),
        sentence(other.sentence),
        file(other.file),
        item(other.item),
        offset(other.offset) {}

  void compose() const {
    std::string whole;
    if (!file.empty()) whole += printable(file) + ": ";
    if (!item.empty()) whole += item + ": ";
    whole += sentence;
    whole += offset ? fmt::format(" ({}, byte {})", rule, *offset) : fmt::format(" ({})", rule);
    text = std::move(whole);
  }
};

Error::Error(ErrorKind kind, std::string_view rule, std::string_view sentence)
    : std::runtime_error(std::string()), facts_(std::make_shared<const Facts>(kind, rule, sentence)) {}
Error::~Error() = default;

Error& Error::in(std::string_view file) {
  if (!facts_->file.empty() || file.empty()) return *this;
  auto changed = std::make_shared<Facts>(*facts_);
  changed->file = file;
  facts_ = std::move(changed);
  return *this;
}

Error& Error::at(std::uint64_t offset) {
  if (facts_->offset) return *this;
  auto changed = std::make_shared<Facts>(*facts_);
  changed->offset = offset;
  facts_ = std::move(changed);
  return *this;
}

Error& Error::about(std::string_view item) {
  if (!facts_->item.empty() || item.empty()) return *this;
  auto changed = std::make_shared<Facts>(*facts_);
  changed->item = printable(item);
  facts_ = std::move(changed);
  return *this;
}

ErrorKind Error::kind() const { return facts_->kind; }
const std::string& Error::rule() const { return facts_->rule; }
const std::string& Error::sentence() const { return facts_->sentence; }
const std::string& Error::file() const { return facts_->file; }
const std::string& Error::item() const { return facts_->item; }
std::optional<std::uint64_t> Error::offset() const { return facts_->offset; }

const char* Error::what() const noexcept {
  // Copies in other threads may ask at the same time. Nothing is thrown out of call_once.
  std::call_once(facts_->composed, [this]() noexcept {
    try {
      facts_->compose();
    } catch (const std::exception&) {
      facts_->text.clear();
    }
  });
  return facts_->text.empty() ? facts_->sentence.c_str() : facts_->text.c_str();
}

}  // namespace tare
