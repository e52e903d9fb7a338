// Small models made by hand, for the tests of the inspect layer.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/endian.hpp"
#include "formats/format.hpp"
#include "io/zstd.hpp"
#include "tare/codec.hpp"
#include "tare/inspect.hpp"

namespace tare::test {

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) store_le(bytes.data() + i * sizeof(T), values[i]);
  return bytes;
}

template <typename T>
Tensor tensor_of(std::string name, Shape shape, DType dtype, const std::vector<T>& values, std::string type = {}) {
  return dense(std::move(name), std::move(shape), dtype, Blob::memory(bytes_of(values)), std::move(type));
}

template <typename T>
Tensor vector_of(std::string name, DType dtype, const std::vector<T>& values, std::string type = {}) {
  return tensor_of(std::move(name), Shape{values.size()}, dtype, values, std::move(type));
}

inline Model model_of(Tensor tensor) {
  Model model;
  model.tensors.push_back(std::move(tensor));
  return model;
}

inline Tensor csr(std::string name, Shape shape, const std::vector<float>& values,
                  const std::vector<std::uint64_t>& indices, const std::vector<std::uint64_t>& indptr) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.layout = "sparse_csr";
  tensor.components.push_back({"values", DType::f32, {}, Blob::memory(bytes_of(values))});
  tensor.components.push_back({"indices", DType::u64, {}, Blob::memory(bytes_of(indices))});
  tensor.components.push_back({"indptr", DType::u64, {}, Blob::memory(bytes_of(indptr))});
  return tensor;
}

// The same bytes, compressed in frames of `frame` bytes.
inline Blob packed(const Bytes& bytes, std::size_t frame = io::kZstdFrame) {
  io::ZstdCompressor compressor(3);
  Bytes stored;
  for (std::size_t at = 0; at < bytes.size(); at += frame) {
    const auto out = compressor.compress(std::span(bytes).subspan(at, std::min(frame, bytes.size() - at)));
    stored.insert(stored.end(), out.begin(), out.end());
  }
  const std::uint64_t length = stored.size();
  return Blob::zstd(memory_source(std::move(stored)), 0, length, bytes.size());
}

// Bytes that can only be read from the beginning.
class FromTheStart final : public BlobProducer {
 public:
  void verify() const override {}  // has no source
  explicit FromTheStart(Bytes bytes) : bytes_(std::make_shared<const Bytes>(std::move(bytes))) {}
  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    class Reader final : public BlobReader {
     public:
      Reader(std::shared_ptr<const Bytes> bytes, std::size_t at) : bytes_(std::move(bytes)), at_(at) {}
      void read(std::span<std::byte> out) override {
        if (!out.empty()) std::memcpy(out.data(), bytes_->data() + at_, out.size());
        at_ += out.size();
      }

     private:
      std::shared_ptr<const Bytes> bytes_;
      std::size_t at_;
    };
    return std::make_unique<Reader>(bytes_, static_cast<std::size_t>(offset));
  }

 private:
  std::shared_ptr<const Bytes> bytes_;
};

inline Blob from_the_start(Bytes bytes) {
  const std::uint64_t size = bytes.size();
  return Blob::produced(size, std::make_shared<const FromTheStart>(std::move(bytes)));
}

// A temporary directory, removed by the destructor.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = ::testing::TempDir() + "/inspect-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline ReadOptions reading(Access access) {
  ReadOptions options;
  options.access = access;
  return options;
}

inline WriteOptions writing(std::optional<int> zstd_level, std::optional<DigestAlgorithm> digest = {}) {
  WriteOptions options;
  options.zstd_level = zstd_level;
  options.digest = digest;
  return options;
}

inline void write_as(std::string_view format, const Model& model, const std::string& path,
                     const WriteOptions& options = {}) {
  const auto sink = create_file(path, {.overwrite = true, .durable = false});
  find_format(format)->write(model, *sink, options);
  sink->commit();
}

inline void write_zt(const Model& model, const std::string& path, const WriteOptions& options = {}) {
  write_as("zt", model, path, options);
}

// Many values that look like weights, the same on every machine.
inline std::vector<float> weights(std::size_t count, std::uint32_t seed = 1) {
  std::vector<float> values(count);
  std::uint32_t state = seed;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return values;
}

}  // namespace tare::test
