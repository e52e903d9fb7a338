#include "tare/sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "base/checked.hpp"
#include "io/descriptor.hpp"

namespace tare {
namespace {

constexpr std::size_t kCopyBuffer = std::size_t{1} << 20;

class DescriptorSink final : public Sink {
 public:
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  void commit() override {}

 protected:
  void do_write(std::uint64_t /*offset*/, std::span<const std::byte> bytes) override {
    io::write_all(fd_, bytes, name_);
  }

 private:
  int fd_;
  std::string name_;
};

// What a memory sink has received so far.
class SharedSource final : public Source {
 public:
  SharedSource(std::shared_ptr<const Bytes> bytes, std::string name)
      : Source(std::move(name), bytes->size()), bytes_(std::move(bytes)) {}

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    std::copy_n(bytes_->begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }
  // Not null, even if it is empty.
  const std::byte* do_view() const override {
    static constexpr std::byte kNothing{};
    return bytes_->empty() ? &kNothing : bytes_->data();
  }

 private:
  std::shared_ptr<const Bytes> bytes_;
};

}  // namespace

void Sink::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  do_write(position_, bytes);
  position_ += bytes.size();
}

void Sink::write_zeros(std::uint64_t count) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  for (; count > 0; count -= std::min<std::uint64_t>(count, kZeros.size()))
    write(std::span(kZeros).first(static_cast<std::size_t>(std::min<std::uint64_t>(count, kZeros.size()))));
}

void Sink::align(std::uint64_t alignment) {
  if (alignment == 0)
    throw Error(ErrorKind::usage, "io.sink.align", "nothing is a multiple of 0").in(name()).blame(Subject::output);
  write_zeros((alignment - position_ % alignment) % alignment);
}

void Sink::require_positional() const {
  if (!positional())
    throw Error(ErrorKind::usage, "io.sink.forward", "this output can only be written from front to back")
        .in(name())
        .blame(Subject::output);
}

void Sink::require_below_position(std::uint64_t offset, std::uint64_t length) const {
  require_positional();
  if (!fits(offset, length, position_))
    throw Error(
        ErrorKind::usage, "io.sink.range",
        fmt::format("{} bytes at {} are not inside the {} that were written or skipped", length, offset, position_))
        .in(name())
        .blame(Subject::output);
}

void Sink::skip(std::uint64_t count) {
  require_positional();
  const auto end = checked_add(position_, count);
  if (!end)
    throw Error(ErrorKind::usage, "io.sink.range", "no output has 2^64 bytes").in(name()).blame(Subject::output);
  do_skip(*end);
  position_ = *end;
}

void Sink::rewind(std::uint64_t position) {
  require_below_position(position, 0);
  position_ = position;
}

void Sink::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  require_below_position(offset, bytes.size());
  if (!bytes.empty()) do_write_at(offset, bytes);
}

void Sink::copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) {
  require_below_position(offset, length);
  if (length > 0) do_copy_at(offset, from, from_offset, length);
}

void Sink::do_skip(std::uint64_t /*new_end*/) {}

void Sink::do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) { do_write(offset, bytes); }

void Sink::do_copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) {
  if (const auto bytes = from.view(from_offset, length)) {
    from.check();
    try {
      do_write_at(offset, *bytes);
    } catch (const Error&) {
      from.check();  // the kernel reports lost pages of a mapping as a bad address; throw the real cause
      throw;
    }
    return from.check();
  }
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(length, kCopyBuffer)));
  while (length > 0) {
    const auto part = std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(length, buffer.size())));
    from.read(from_offset, part);
    do_write_at(offset, part);
    from_offset += part.size();
    offset += part.size();
    length -= part.size();
  }
}

std::unique_ptr<Sink> descriptor_sink(int descriptor, std::string name) {
  return std::make_unique<DescriptorSink>(descriptor, std::move(name));
}

// Must not run while a thread is in `write_at`. Sources from `written` keep the old bytes.
void MemorySink::resize(std::uint64_t size) {
  if (size == bytes_->size()) return;
  if (size > bytes_->max_size()) throw std::bad_alloc();
  if (bytes_.use_count() > 1) bytes_ = std::make_shared<Bytes>(*bytes_);
  bytes_->resize(size);
}

void MemorySink::do_write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes_->size() < offset + bytes.size()) resize(offset + bytes.size());
  do_write_at(offset, bytes);
}

void MemorySink::do_skip(std::uint64_t new_end) { resize(new_end); }

void MemorySink::do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::memmove(bytes_->data() + offset, bytes.data(), bytes.size());
}

SourcePtr MemorySink::written() {
  resize(position());
  return std::make_shared<SharedSource>(bytes_, name_);
}

Bytes MemorySink::take() {
  resize(position());
  const std::shared_ptr<Bytes> all = std::exchange(bytes_, std::make_shared<Bytes>());
  rewind(0);
  return all.use_count() > 1 ? *all : std::move(*all);
}

}  // namespace tare
