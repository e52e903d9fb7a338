#include "tare/sink.hpp"

#include <algorithm>
#include <array>

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

void Sink::align(std::uint64_t alignment) { write_zeros((alignment - position_ % alignment) % alignment); }

void Sink::skip(std::uint64_t count) {
  do_skip(position_ + count);
  position_ += count;
}

void Sink::rewind(std::uint64_t position) {
  if (!positional() || position > position_) do_skip(0);
  position_ = position;
}

void Sink::do_skip(std::uint64_t /*new_end*/) {
  throw Error(ErrorKind::usage, "io.sink.forward", "this output can only be written from front to back").in(name());
}

void Sink::write_at(std::uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) { do_skip(0); }

void Sink::copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) {
  if (const auto bytes = from.view(from_offset, length)) {
    from.check();
    try {
      write_at(offset, *bytes);
    } catch (const Error&) {
      from.check();  // the kernel calls lost pages of a mapping a bad address; say what really happened
      throw;
    }
    return from.check();
  }
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(length, kCopyBuffer)));
  while (length > 0) {
    const auto part = std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(length, buffer.size())));
    from.read(from_offset, part);
    write_at(offset, part);
    from_offset += part.size();
    offset += part.size();
    length -= part.size();
  }
}

std::unique_ptr<Sink> descriptor_sink(int descriptor, std::string name) {
  return std::make_unique<DescriptorSink>(descriptor, std::move(name));
}

void MemorySink::do_write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes_.size() < offset + bytes.size()) bytes_.resize(static_cast<std::size_t>(offset + bytes.size()));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
}

void MemorySink::do_skip(std::uint64_t new_end) { bytes_.resize(static_cast<std::size_t>(new_end)); }

SourcePtr MemorySink::written() {
  return borrow_memory(std::span(bytes_).first(static_cast<std::size_t>(position())), name_);
}

void MemorySink::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace tare
