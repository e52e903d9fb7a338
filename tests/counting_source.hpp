// A source that counts the bytes that are read from it.
#pragma once

#include <atomic>
#include <cstring>

#include "tare/source.hpp"

namespace tare::test {

class CountingSource final : public Source {
 public:
  explicit CountingSource(Bytes bytes) : Source("counted", bytes.size()), bytes_(std::move(bytes)) {}
  mutable std::atomic<std::uint64_t> count = 0;

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    count += out.size();
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  Bytes bytes_;
};

}  // namespace tare::test
