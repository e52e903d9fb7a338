#include "tare/error.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/printable.hpp"

namespace tare {
namespace {

// Limits the text of a file that an error keeps, whatever the code that composed it quoted: a file can cause as many
// errors as it has items. `quote` keeps composing them cheap.
constexpr std::size_t kMostSentence = 4096, kMostItem = 1024, kMostArgument = 4096;

std::string kept(std::string_view text, std::size_t most) {
  const std::string_view some = beginning(text, most);
  std::string out = printable(some);
  if (some.size() < text.size()) out += "...";
  return out;
}

}  // namespace

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

std::string_view name_of(Subject subject) {
  switch (subject) {
    case Subject::unsaid: return "unsaid";
    case Subject::input: return "input";
    case Subject::output: return "output";
    case Subject::machine: return "machine";
  }
  return "?";
}

std::string_view name_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::overwrite: return "overwrite";
    case Remedy::drop: return "drop";
    case Remedy::weights_only: return "weights_only";
    case Remedy::skip: return "skip";
    case Remedy::match: return "match";
    case Remedy::cast: return "cast";
    case Remedy::keep: return "keep";
    case Remedy::use_method: return "use_method";
    case Remedy::clip: return "clip";
    case Remedy::no_range: return "no_range";
    case Remedy::decode_first: return "decode_first";
    case Remedy::accept_owners: return "accept_owners";
    case Remedy::accept_overflow: return "accept_overflow";
    case Remedy::allow_expansion: return "allow_expansion";
    case Remedy::name_format: return "name_format";
    case Remedy::keep_names: return "keep_names";
    case Remedy::set: return "set";
    case Remedy::attach: return "attach";
    case Remedy::compress: return "compress";
    case Remedy::shard: return "shard";
    case Remedy::write_dialect: return "write_dialect";
    case Remedy::list_findings: return "list_findings";
    case Remedy::restore_leftover: return "restore_leftover";
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
  Subject subject = Subject::unsaid;
  std::vector<Advice> remedies;

  // Composed on demand: most errors are changed a few times first, and many are only counted.
  mutable std::once_flag composed;
  mutable std::string text;

  Facts(ErrorKind k, std::string_view r, std::string_view s) : kind(k), rule(r), sentence(kept(s, kMostSentence)) {}
  Facts(const Facts& other)
      : kind(other.kind),
        rule(other.rule),
        sentence(other.sentence),
        file(other.file),
        item(other.item),
        offset(other.offset),
        subject(other.subject),
        remedies(other.remedies) {}

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
  changed->item = kept(item, kMostItem);
  facts_ = std::move(changed);
  return *this;
}

Error& Error::blame(Subject subject) {
  if (facts_->subject != Subject::unsaid || subject == Subject::unsaid) return *this;
  auto changed = std::make_shared<Facts>(*facts_);
  changed->subject = subject;
  facts_ = std::move(changed);
  return *this;
}

Error& Error::remedy(Remedy what, std::string_view argument) {
  auto changed = std::make_shared<Facts>(*facts_);
  // An argument is meant to be used, so one that was truncated or escaped for a terminal would be wrong.
  const bool usable = argument.size() <= kMostArgument && printable(argument) == argument;
  changed->remedies.push_back({what, std::string(usable ? argument : std::string_view())});
  facts_ = std::move(changed);
  return *this;
}

Error Error::reworded(std::string_view sentence) const {
  auto changed = std::make_shared<Facts>(*facts_);
  changed->sentence = kept(sentence, kMostSentence);
  Error error = *this;
  error.facts_ = std::move(changed);
  return error;
}

ErrorKind Error::kind() const { return facts_->kind; }
const std::string& Error::rule() const { return facts_->rule; }
const std::string& Error::sentence() const { return facts_->sentence; }
const std::string& Error::file() const { return facts_->file; }
const std::string& Error::item() const { return facts_->item; }
std::optional<std::uint64_t> Error::offset() const { return facts_->offset; }
Subject Error::subject() const { return facts_->subject; }
const std::vector<Advice>& Error::remedies() const { return facts_->remedies; }

const char* Error::what() const noexcept {
  // Copies in other threads may call this at the same time. call_once must not throw.
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
