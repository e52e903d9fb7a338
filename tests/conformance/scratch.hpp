// Helpers for tests of files: a temporary directory, whole files as bytes, the error that an action throws, a child
// process.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "tare/error.hpp"
#include "tare/value.hpp"

namespace tare::testing {

// A new directory, removed by the destructor.
class Scratch {
 public:
  explicit Scratch(std::string below = ::testing::TempDir()) : path_(std::move(below) + "/tare-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory at " + path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  // A directory in memory if the system has one, for tests that write and flush thousands of files.
  static std::string fast_place() {
    return ::access("/dev/shm", W_OK | X_OK) == 0 ? std::string("/dev/shm") : ::testing::TempDir();
  }

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // The names of everything inside, including hidden files, sorted.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

using tare::to_bytes;

inline std::string to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void put_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

inline Bytes get_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  Bytes bytes;
  for (std::size_t size = 0; in; bytes.resize(size)) {  // a pipe has no known size
    bytes.resize(size + std::max(size, std::size_t{1} << 14));
    in.read(reinterpret_cast<char*>(bytes.data() + size), static_cast<std::streamsize>(bytes.size() - size));
    size += static_cast<std::size_t>(in.gcount());
  }
  return bytes;
}

// The error that an action throws, or nothing. No other exception may leave the library.
template <typename Action>
std::optional<Error> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "an exception that is not tare::Error: " << other.what();
  }
  return std::nullopt;
}

// The rule of that error; "" if there is none.
template <typename Action>
std::string rule_of(const Action& action) {
  const auto error = error_of(action);
  return error ? error->rule() : std::string();
}

// Runs `body` in a child and returns its status, as from waitpid. The child's exit code is what `body` returns, or 99
// if it throws.
template <typename Body>
pid_t start_child(const Body& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 99;
  try {
    code = body();
  } catch (...) {
  }
  ::_exit(code);
}

inline int end_of(pid_t child) {
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

template <typename Body>
int run_child(const Body& body) {
  return end_of(start_child(body));
}

}  // namespace tare::testing
