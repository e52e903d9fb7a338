// An owned file descriptor, and system calls whose errors name the file and the reason.
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

// An Error that ends with the system's message for the errno `code`.
Error system_error(std::string_view rule, std::string_view doing, const std::string& file, int code);

// Throws `io.sink.full` if the disk is full, else `io.sink.write`.
[[noreturn]] void write_failed(const std::string& file, int code);

// Repeats short or interrupted calls until everything is written or read. `pread_all` returns how much there was.
void write_all(int fd, std::span<const std::byte> bytes, const std::string& file);
void pwrite_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& file);
std::size_t pread_all(int fd, std::uint64_t offset, std::span<std::byte> out, const std::string& file);
void sync_file(int fd, const std::string& file);
// Throws `io.sink.full` if the file system of the open file has less free space than this. Does not throw if that is
// unknown: if files may share blocks or are compressed.
void expect_room(int fd, std::uint64_t bytes, const std::string& file);
// The directory part of a path; "." if there is none.
std::string directory_of(const std::string& path);

// Throws usage `io.path.zero` for a path with a zero byte, at which the system would truncate it.
void check_path(const std::string& path);

}  // namespace tare::io
