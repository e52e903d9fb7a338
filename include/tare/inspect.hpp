// Looking at models: verify, content digest, statistics, differences. All of them stream and use all cores.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tare/export.hpp"
#include "tare/format.hpp"

namespace tare {

struct VerifyOptions {
  ReadOptions read = {};
  unsigned threads = 0;          // 0: all cores
  Progress* progress = nullptr;  // counts decoded bytes
};

struct TARE_API Verification {
  std::string format, version;  // empty when the file could not be recognised
  std::vector<Finding> findings;
  std::uint64_t tensors = 0, bytes = 0;

  [[nodiscard]] std::size_t count(Severity severity) const;
  [[nodiscard]] bool ok(bool strict) const;
};

// Everything checkable: structure, bounds, padding, digests, compressed sizes, each layout's data rules, NaN and Inf.
// Never throws for what is in the file; an unreadable file is a finding too.
[[nodiscard]] TARE_API Verification verify(const std::string& path, const VerifyOptions& options = {});

// "tare1:<64 hex>": the same for every container that stores the same tensors.
[[nodiscard]] TARE_API std::string content_digest(const Model& model, unsigned threads = 0,
                                                  Progress* progress = nullptr);

// Integers as they are: a double holds no more than 53 bits of one.
struct WholeNumbers {
  Value min = 0, max = 0;
  List first;
};

struct Statistics {
  std::uint64_t count = 0, nan = 0, inf = 0, zeros = 0;
  double min = 0, max = 0, mean = 0, std = 0;  // over the finite values; 0 when there are none
  std::vector<std::uint64_t> histogram;        // equal bins over [min, max]
  std::vector<double> first;                   // the first values
  std::optional<WholeNumbers> whole;           // integer types only: min, max and first once more, exactly
};

// Decodes any known layout. Throws `codec.unknown` or `stats.type` for what has no numbers.
[[nodiscard]] TARE_API Statistics statistics(const Tensor& tensor, std::size_t bins = 24, std::size_t first = 8,
                                             unsigned threads = 0);

struct TensorDifference {
  std::string name;
  // Empty when the two agree in that respect.
  std::string only_in;  // "a" or "b"
  std::string shape_a, shape_b, type_a, type_b, layout_a, layout_b;
  bool values_differ = false, compared = false;
  std::uint64_t different = 0, count = 0;  // elements
  double max_abs = 0, rms = 0, cosine = 1;
  std::optional<std::uint64_t> first_difference;  // element index
};

struct Difference {
  std::vector<TensorDifference> tensors;  // those that differ, by name
  std::vector<std::string> metadata;      // one line each: "key: A -> B"
  std::uint64_t compared = 0;
  [[nodiscard]] bool same() const { return tensors.empty() && metadata.empty(); }
};

[[nodiscard]] TARE_API Difference diff(const Model& a, const Model& b, unsigned threads = 0,
                                       Progress* progress = nullptr);

// The dense f64 tensor b - a, element by element, produced lazily; what `statistics` of it says is the error of b.
// Throws usage `diff.shape`, and `stats.type` for what has no numbers.
[[nodiscard]] TARE_API Tensor difference(const Tensor& a, const Tensor& b);

}  // namespace tare
