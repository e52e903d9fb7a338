// Looking at models: verify, content digest, statistics, differences. All of them stream and use all cores.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tare/change.hpp"
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

enum class Side : std::uint8_t { a, b };

struct TensorDifference {
  std::string name;
  // Empty when the two agree in that respect.
  std::optional<Side> only_in;
  std::string shape_a, shape_b, type_a, type_b, layout_a, layout_b;
  bool values_differ = false, compared = false;
  std::uint64_t different = 0, count = 0;  // elements
  double max_abs = 0, rms = 0, cosine = 1;
  std::optional<std::uint64_t> first_difference;  // element index
};

// Something beside the tensors' values that differs.
struct MetadataDifference {
  ModelPart part = ModelPart::metadata;
  std::string tensor = {};  // whose attribute it is
  // Of the metadata, the config or the attributes; the name of an attachment; of a vocabulary "kind", "tokens", "merges",
  // "bos", "eos", "pad", "unk", or empty where only one of the two has a vocabulary.
  std::string key = {};
  // In A and in B; nothing: absent. Of an attachment its bytes, of a vocabulary its tokens, of a list its entries are
  // counted. With `first`, two lists or attachments are different from that entry or byte on; of lists these are then the
  // first entries that differ: a merge, or a token as a map of "text", "type" and "score".
  std::optional<Value> a = std::nullopt, b = std::nullopt;
  std::uint64_t different = 0;  // entries of both lists that differ
  std::optional<std::uint64_t> first = std::nullopt;
};

// "key: A -> B"; long values are shown around the first difference.
[[nodiscard]] TARE_API std::string to_text(const MetadataDifference& difference);

struct Difference {
  std::vector<TensorDifference> tensors;  // those that differ, by name
  std::vector<MetadataDifference> metadata;
  std::uint64_t compared = 0;
  [[nodiscard]] bool same() const { return tensors.empty() && metadata.empty(); }
};

[[nodiscard]] TARE_API Difference diff(const Model& a, const Model& b, unsigned threads = 0,
                                       Progress* progress = nullptr);

// The dense f64 tensor b - a, element by element, produced lazily; what `statistics` of it says is the error of b.
// Throws usage `diff.shape`, and `stats.type` for what has no numbers.
[[nodiscard]] TARE_API Tensor difference(const Tensor& a, const Tensor& b);

}  // namespace tare
