#include "io/staging_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "io/descriptor.hpp"
#include "io/owner.hpp"

namespace tare::io {
namespace {

constexpr std::string_view kPrefix = ".tare-";
constexpr std::size_t kRandom = 12;
constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr const char* kMarker = ".tare-marker";
constexpr int kTries = 100;

std::string random_name() {
  static std::atomic<unsigned> counter{0};
  std::array<unsigned char, kRandom> random{};
  if (::getrandom(random.data(), random.size(), GRND_NONBLOCK) != static_cast<ssize_t>(random.size())) {
    // Guessable, but a collision only means another try: names are never reused.
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    std::uint64_t state = (static_cast<std::uint64_t>(::getpid()) << 40) ^ (std::uint64_t{counter.fetch_add(1)} << 32) ^
                          static_cast<std::uint64_t>(now.tv_nsec);
    for (unsigned char& byte : random)
      byte = static_cast<unsigned char>((state = state * 6364136223846793005U + 1) >> 56);
  }
  std::string name(kPrefix);
  for (const unsigned char byte : random) name += kAlphabet[byte % kAlphabet.size()];
  return name;
}

bool has_our_form(std::string_view name) {
  return name.size() == kPrefix.size() + kRandom && name.starts_with(kPrefix) &&
         name.find_first_not_of(kAlphabet, kPrefix.size()) == std::string_view::npos;
}

std::string marker_text(std::string_view name) { return fmt::format("Tare's, and removed by it: {}\n", name); }

// The marker contains the directory's name: a directory that the user renamed to keep it is the user's.
bool is_marked(const Directory& staging, std::string_view name) {
  const Descriptor marker = staging.read(kMarker);
  struct stat status {};
  if (!marker || ::fstat(marker.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) return false;
  const std::string expected = marker_text(name);
  std::array<std::byte, 128> found{};
  if (expected.size() >= found.size()) return false;
  std::size_t length = 0;
  try {
    length = pread_all(marker.get(), 0, found, {});
  } catch (const Error&) {
    return false;
  }
  return length == expected.size() && std::memcmp(found.data(), expected.data(), length) == 0;
}

bool belongs_to_this_user(const Directory& staging) {
  struct stat status {
  }, marker{};
  return staging.status(status) && status.st_uid == ::geteuid() && is_known(status.st_uid) &&
         (!staging.look(kMarker, marker) || marker.st_uid == ::geteuid());
}

// Nothing but the marker, even if a kill left that incomplete: removing it loses nothing.
bool holds_nothing(const Directory& staging) {
  struct stat marker {};
  const std::vector<std::string> names = staging.names();
  return names.empty() || (names.size() == 1 && staging.look(kMarker, marker) && S_ISREG(marker.st_mode));
}

bool holds_user_files(const Directory& staging) { return staging.has(kTaken) || staging.has(kOld); }

// Removes the marker last, so that what a kill leaves is still recognised as ours.
bool remove_staging_directory(const Directory& parent, const Directory& staging, const char* name) noexcept {
  if (!staging.remove_inside(kMarker)) return false;
  if (!staging.remove_file(kMarker) && errno != ENOENT) return false;
  // Another process may have moved it and put something else there; this can remove only an empty directory.
  return parent.remove_folder(name);
}

}  // namespace

StagingDirectory::StagingDirectory(const Directory& parent, std::string_view rule, const std::string& shown)
    : parent_(parent.again()) {
  int code = parent_ ? 0 : errno;
  for (int tries = 0; parent_ && tries < kTries; ++tries) {
    name_ = random_name();
    if (try_name(code)) return;
    if (code != EEXIST && code != ENOENT) break;
  }
  throw system_error(rule, "cannot create a directory there", shown, code);
}

// Locks before it writes the marker: another process may remove a marked directory without a lock. An empty directory
// that is not locked yet may be taken for a leftover and removed; then the next name is tried.
bool StagingDirectory::try_name(int& code) {
  const std::string text = marker_text(name_);
  const Changing changing;
  if (!parent_.make(name_.c_str(), 0700)) {
    code = errno;
    return false;
  }
  enlist();
  directory_ = parent_.enter(name_.c_str());
  code = directory_ ? 0 : errno;
  if (code == 0 && directory_.lock() == Locked::by_another) code = EEXIST;
  if (code == 0) {
    const Descriptor marker = directory_.create(kMarker, 0600);
    if (!marker)
      code = errno;
    else if (const ssize_t written = ::write(marker.get(), text.data(), text.size());
             written != static_cast<ssize_t>(text.size()))
      code = written < 0 ? errno : ENOSPC;
  }
  for (Descriptor* const spare : {&spare_, &other_spare_}) {
    if (code != 0) break;
    *spare = Descriptor(::fcntl(directory_.descriptor(), F_DUPFD_CLOEXEC, 0));
    if (!*spare) code = errno;
  }
  if (code == 0) return true;
  const int kept = code;
  remove();
  delist();
  code = kept;
  return false;
}

void StagingDirectory::remove() noexcept {
  spare_ = Descriptor();
  other_spare_ = Descriptor();
  if (directory_) {
    if (holds_user_files(directory_)) return;
    // Try twice: the failure may be temporary.
    if (!remove_staging_directory(parent_, directory_, name_.c_str()))
      remove_staging_directory(parent_, directory_, name_.c_str());
  } else {
    parent_.remove_folder(name_.c_str());
  }
}

StagingDirectory::~StagingDirectory() {
  const Changing changing;
  if (process_.is_this()) remove();
  delist();
}

std::vector<std::string> abandoned_staging_directories(const Directory& directory) {
  std::vector<std::string> found = directory.names();
  std::erase_if(found, [&](const std::string& name) {
    if (!has_our_form(name)) return true;
    const Directory staging = directory.enter(name.c_str());
    return !staging || !is_marked(staging, name) || staging.lock() != Locked::yes;
  });
  return found;
}

void sweep_staging_directories(const Directory& directory, bool all) noexcept {
  try {
    for (const std::string& name : directory.names()) {
      if (!has_our_form(name)) continue;
      const Directory staging = directory.enter(name.c_str());
      if (!staging || !belongs_to_this_user(staging) || staging.lock() != Locked::yes) continue;
      const bool ours = holds_nothing(staging) || is_marked(staging, name);
      if (ours && (all || !holds_user_files(staging))) remove_staging_directory(directory, staging, name.c_str());
    }
  } catch (...) {  // a directory that cannot be listed, or no memory
  }
}

bool is_being_replaced(const Directory& directory) {
  for (const std::string& name : directory.names()) {
    if (!has_our_form(name)) continue;
    const Directory staging = directory.enter(name.c_str());
    if (!staging || !is_marked(staging, name)) continue;
    if (staging.has(kTaken)) return true;
    const Directory coming = staging.enter(kNew);
    if (staging.has(kOld) && coming && coming.has_files()) return true;
  }
  return false;
}

}  // namespace tare::io
