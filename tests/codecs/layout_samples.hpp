// Tensors of known layouts, made by hand, and the rules of the errors of check, verify and decoding.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "produced_blob.hpp"
#include "tare/codec.hpp"
#include "tare/error.hpp"

namespace tare::layout_samples {

template <typename T>
inline Bytes packed(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) store_le<T>(bytes.data() + i * sizeof(T), values[i]);
  return bytes;
}
template <typename T>
inline std::vector<T> unpacked(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<T>(bytes.data() + i * sizeof(T));
  return values;
}
using U64s = std::vector<std::uint64_t>;
using Floats = std::vector<float>;

inline Component part(std::string role, DType dtype, Bytes bytes, std::string type = {}) {
  return {std::move(role), dtype, std::move(type), Blob::memory(std::move(bytes))};
}

inline Tensor csr(Shape shape, const Floats& values, const U64s& indices, const U64s& indptr) {
  Tensor tensor;
  tensor.name = "m";
  tensor.shape = std::move(shape);
  tensor.layout = "sparse_csr";
  tensor.components.push_back(part("values", DType::f32, packed(values)));
  tensor.components.push_back(part("indices", DType::u64, packed(indices)));
  tensor.components.push_back(part("indptr", DType::u64, packed(indptr)));
  return tensor;
}

template <typename T = float>
inline Tensor coo(Shape shape, const std::vector<T>& values, const U64s& coords, DType dtype = DType::f32,
                  std::string type = {}) {
  Tensor tensor;
  tensor.name = "m";
  tensor.shape = std::move(shape);
  tensor.layout = "sparse_coo";
  tensor.components.push_back(part("values", dtype, packed(values), std::move(type)));
  tensor.components.push_back(part("coords", DType::u64, packed(coords)));
  return tensor;
}

inline std::string check_rule(const Tensor& tensor) {
  const auto problem = find_codec(tensor.layout)->check(tensor);
  return problem ? problem->rule : "";
}

inline std::vector<std::string> verify_rules(const Tensor& tensor) {
  EXPECT_EQ(check_rule(tensor), "");
  std::vector<std::string> rules;
  find_codec(tensor.layout)->verify(tensor, [&](const Problem& problem) { rules.push_back(problem.rule); });
  return rules;
}
using Rules = std::vector<std::string>;

// The rule of the error when the decoded bytes are read.
inline std::string decode_rule(const Tensor& tensor) {
  try {
    to_dense(tensor).component("data")->blob.bytes();
  } catch (const Error& error) {
    EXPECT_EQ(error.item(), tensor.name);
    return error.rule();
  }
  return "";
}

inline Floats decoded(const Tensor& tensor) {
  return unpacked<float>(to_dense(tensor).component("data")->blob.bytes());
}

inline Component& component(Tensor& tensor, std::string_view role) {
  return *std::find_if(tensor.components.begin(), tensor.components.end(), [&](auto& c) { return c.role == role; });
}

// The same tensor with blobs that can only be read from front to back, like zstd of other programs.
inline Tensor sequential(Tensor tensor) {
  for (Component& c : tensor.components) c.blob = test::produced_blob(c.blob.bytes(), 0);
  return tensor;
}

// Reads a blob from several offsets and compares with the whole.
inline void expect_enterable(const Blob& blob) {
  const Bytes whole = blob.bytes();
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{1}, whole.size() / 3, whole.size() / 2 + 1, whole.size()}) {
    if (offset > whole.size()) continue;
    Bytes tail(whole.size() - offset);
    blob.open(offset)->read(tail);
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset))) << offset;
  }
}

}  // namespace tare::layout_samples
