// Inspects models: verify, content digest, statistics, differences. All stream the data and use all cores.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/export.hpp"
#include "tare/open.hpp"

namespace tare {

struct TARE_API Verification {
  std::string format, version;  // empty if the file was not recognised
  std::vector<Finding> findings;
  std::uint64_t tensors = 0, bytes = 0;

  [[nodiscard]] std::size_t count(Severity severity) const;
  [[nodiscard]] bool ok(bool strict) const;
};

// Checks everything: structure, bounds, padding, digests, compressed sizes, the data rules of each layout, NaN and Inf.
// Never throws because of a file's content; an unreadable file is a finding too.
[[nodiscard]] TARE_API Verification verify(const std::string& path, const ReadOptions& options = {});

// "tare1:<64 hex>": equal for all containers that store the same tensors.
[[nodiscard]] TARE_API std::string content_digest(const Model& model, const Work& work = {});

// Exact integers: a double holds only 53 bits.
struct WholeNumbers {
  Value min = 0, max = 0;
  List first;
};

// The histogram of the range where nearly all values are, of a tensor that has a few far ones.
struct InnerHistogram {
  double low = 0, high = 0;
  std::uint64_t below = 0, above = 0;    // finite values outside
  std::vector<std::uint64_t> histogram;  // equal bins over [low, high]
};

struct Statistics {
  std::uint64_t count = 0, nan = 0, inf = 0, zeros = 0;
  double min = 0, max = 0, mean = 0, std = 0;  // only finite values count; 0 if there are none
  std::vector<std::uint64_t> histogram;        // equal bins over [min, max]
  std::optional<InnerHistogram> inner;  // if at least 99 % of the values other than zero are in a third of [min, max]
  std::vector<double> first;
  std::optional<WholeNumbers> whole;  // integer types only: min, max and first as exact integers
};

// Decodes any known layout. Throws `codec.unknown`, `stats.type` for a tensor without numbers, usage `stats.bins` for
// too many bins or first values, and limit `stats.too_large`.
[[nodiscard]] TARE_API Statistics statistics(const Tensor& tensor, std::size_t bins = 24, std::size_t first = 8,
                                             const Work& work = {});

enum class Side : std::uint8_t { a, b };

struct TensorDifference {
  std::string name;
  // Empty if the two agree.
  std::optional<Side> only_in;
  std::string shape_a, shape_b, type_a, type_b, layout_a, layout_b;
  bool values_differ = false, compared = false;
  std::uint64_t different = 0, count = 0;  // elements
  double max_abs = 0, rms = 0, cosine = 1;
  double relative_rms = 0;  // `rms` divided by the root mean square of A; infinite if A is all zeros and B is not
  std::optional<std::uint64_t> first_difference;  // element index; of diff_bytes(), byte of `component`
  std::string component = {};                     // diff_bytes() only: the first one whose bytes differ
};

// A difference other than in tensor values.
struct MetadataDifference {
  ModelPart part = ModelPart::metadata;
  std::string tensor = {};  // the tensor whose attribute it is
  // A key of the metadata, the config or the attributes; the name of an attachment; for a vocabulary "kind", "tokens",
  // "merges", "bos", "eos", "pad", "unk", or empty if only one model has a vocabulary.
  std::string key = {};
  // The values in A and in B; nothing: absent. An attachment is represented by its number of bytes, a vocabulary by its
  // number of tokens, a list by its number of entries. If `first` is set, two lists or attachments differ from that
  // entry or byte on, and for lists these are the first entries that differ: a merge, or a token as a map of "text",
  // "type" and "score".
  std::optional<Value> a = std::nullopt, b = std::nullopt;
  std::uint64_t different = 0;  // entries that differ between the two lists
  std::optional<std::uint64_t> first = std::nullopt;
};

// "key: A -> B"; long values are elided around the first difference.
[[nodiscard]] TARE_API std::string to_text(const MetadataDifference& difference);

struct Difference {
  std::vector<TensorDifference> tensors;  // tensors that differ, by name
  std::vector<MetadataDifference> metadata;
  std::uint64_t compared = 0;
  [[nodiscard]] bool same() const { return tensors.empty() && metadata.empty(); }
};

[[nodiscard]] TARE_API Difference diff(const Model& a, const Model& b, const Work& work = {});

// Compares bytes instead of values: a tensor differs if its shape, type, layout or the bytes of a component do. Decodes
// nothing, and fills `component` and `first_difference` instead of the fields that measure values.
[[nodiscard]] TARE_API Difference diff_bytes(const Model& a, const Model& b, const Work& work = {});

// The difference b - a, element by element, as a one-dimensional f64 tensor, produced lazily; its `statistics` describe
// the error of b. Throws usage `diff.shape`, and `stats.type` for tensors without numbers.
[[nodiscard]] TARE_API Tensor difference(const Tensor& a, const Tensor& b);

}  // namespace tare
