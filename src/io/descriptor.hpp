// An owned file descriptor, and the system calls we need with errors that say which file and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "tare/error.hpp"

namespace tare::io {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// An Error that ends in the system's own words for the current `errno` (kept in `code`).
Error system_error(std::string_view rule, std::string_view doing, const std::string& file, int code);

// What a failed write is called: `io.sink.full` where there is no room, else `io.sink.write`.
[[noreturn]] void write_failed(const std::string& file, int code);

// Writes or reads everything, over short counts and interruptions. `pread_all` returns how much there was.
void write_all(int fd, std::span<const std::byte> bytes, const std::string& file);
void pwrite_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& file);
std::size_t pread_all(int fd, std::uint64_t offset, std::span<std::byte> out, const std::string& file);
void sync_file(int fd, const std::string& file);
// Throws `io.sink.full` when the file system that the open file is on has less room than this, as far as that can be told
// beforehand: not where files share their blocks or are compressed.
void expect_room(int fd, std::uint64_t bytes, const std::string& file);
// The directory part of a path; "." when there is none.
std::string directory_of(const std::string& path);

// Throws usage `io.path.zero` for a path with a zero byte in it: the system would take what is before it for the path.
void check_path(const std::string& path);

}  // namespace tare::io
