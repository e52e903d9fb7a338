// A blob of given bytes that only a producer can make, as for compressed or converted data.
#pragma once

#include <algorithm>
#include <memory>

#include "tare/blob.hpp"
#include "tare/error.hpp"

namespace tare::test {

class BytesProducer final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  BytesProducer(Bytes bytes, std::uint64_t step)
      : bytes_(std::make_shared<const Bytes>(std::move(bytes))), step_(step) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return std::make_unique<Reader>(bytes_, static_cast<std::size_t>(offset));
  }
  std::uint64_t seek_granularity() const override { return step_; }

 private:
  class Reader final : public BlobReader {
   public:
    Reader(std::shared_ptr<const Bytes> bytes, std::size_t at) : bytes_(std::move(bytes)), at_(at) {}
    void read(std::span<std::byte> out) override {
      if (out.size() > bytes_->size() - at_) throw Error(ErrorKind::usage, "test.bounds", "read past the end");
      std::copy_n(bytes_->begin() + static_cast<std::ptrdiff_t>(at_), out.size(), out.begin());
      at_ += out.size();
    }

   private:
    std::shared_ptr<const Bytes> bytes_;
    std::size_t at_;
  };

  std::shared_ptr<const Bytes> bytes_;
  std::uint64_t step_;
};

inline Blob produced_blob(Bytes bytes, std::uint64_t seek_granularity) {
  const std::uint64_t size = bytes.size();
  return Blob::produced(size, std::make_shared<BytesProducer>(std::move(bytes), seek_granularity));
}

}  // namespace tare::test
