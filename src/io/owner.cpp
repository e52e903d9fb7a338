#include "io/owner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/process_mutex.hpp"
#include "io/descriptor.hpp"

namespace tare::io {
namespace {

// The beginning of a file in /proc; empty if it does not exist.
template <std::size_t N>
std::string_view text_of(const char* path, std::array<char, N>& buffer) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t length = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return {buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

uid_t overflow_owner() {
  std::array<char, 32> buffer{};
  const std::string_view text = text_of("/proc/sys/fs/overflowuid", buffer);
  uid_t owner = 65534;
  std::from_chars(text.data(), text.data() + text.size(), owner);
  return owner;
}

// Outside all user namespaces every number maps to itself: "0 0 4294967295".
bool is_outside_user_namespaces() {
  std::array<char, 256> buffer{};
  std::string_view text = text_of("/proc/self/uid_map", buffer);
  constexpr std::string_view kAll[] = {"0", "0", "4294967295"};
  for (const std::string_view word : kAll) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
  }
  return true;
}

const BeforeFork kOwnerBeforeFork([] { static_cast<void>(is_known(0)); });

}  // namespace

bool is_known(uid_t owner) {
  static const uid_t overflow = overflow_owner();
  return owner != overflow || is_outside_user_namespaces();
}

bool is_trusted(uid_t owner) { return (owner == ::geteuid() || owner == 0) && is_known(owner); }

}  // namespace tare::io
