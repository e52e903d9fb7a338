// Decoding and encoding of zt.group, a few thousand columns at a time.
//
// The encoder extends the range of each group to include 0 and divides it into 2^bits - 1 steps: scale = (max - min) /
// (2^bits - 1), stored as f16; zero = the code of 0, an integer; code = round(w / scale) + zero, with the scale as
// stored. A scale below f16's normal numbers is rounded up, so that the codes cover the range. A group of zeros has
// scale 0. Each of the three components reads the weights again, so nothing is kept in memory and any part can be made
// alone; packed_weight, scales and zeros cost one pass each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/block_codec.hpp"
#include "codecs/group/group.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "codecs/weights.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare::codec::group {
namespace {

constexpr std::uint64_t kSegment = 8192;  // columns at a time; whole words for every packing
constexpr std::uint64_t kGroupSize = 128;

template <unsigned Bits>
void unpack(const std::byte* words, std::size_t count, std::uint8_t* codes) {
  constexpr unsigned kPerWord = 32 / Bits;
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = load_le<std::uint32_t>(words + 4 * i);
    for (unsigned j = 0; j < kPerWord; ++j)
      codes[i * kPerWord + j] = static_cast<std::uint8_t>((word >> (j * Bits)) & ((1u << Bits) - 1));
  }
}

Planes planes_of(const Tensor& tensor, const Plan& plan) {
  Planes planes;
  if (plan.rows == 0 || plan.columns == 0) return planes;
  planes.rows = plan.rows;
  planes.columns = plan.columns;
  planes.step = plan.per_word;
  planes.all.push_back({tensor.component("packed_weight")->blob, 0, plan.per_word, 4});
  for (const std::string_view role : {"scales", "zeros"}) {
    const Component& component = *tensor.component(role);
    planes.all.push_back({component.blob, 0, plan.group_size, size_of(component.dtype)});
  }
  return planes;
}

class Decoder final : public codec::Decoder {
 public:
  Decoder(const Tensor& tensor, const Plan& plan)
      : codec::Decoder(planes_of(tensor, plan)),
        plan_(plan),
        scale_(tensor.component("scales")->dtype),
        zero_(tensor.component("zeros")->dtype) {}

  void decode(const Run& run, float* out) const override {
    const std::uint64_t groups = groups_of(run), words = ceil_div(run.columns, plan_.per_word);
    const auto count = run.rows * groups;
    std::vector<double> scales(count), zeros(count);
    decode_elements(scale_, {}, {run.at[1], count * size_of(scale_)}, scales);
    decode_elements(zero_, {}, {run.at[2], count * size_of(zero_)}, zeros);
    if (run.column == 0 && run.columns <= std::min<std::uint64_t>(plan_.per_word, plan_.group_size))
      return decode_narrow(run, scales.data(), zeros.data(), out);
    for (std::uint64_t row = 0; row < run.rows; ++row)
      decode_row(run, run.at[0] + row * words * 4, &scales[row * groups], &zeros[row * groups],
                 out + row * run.columns);
  }

 private:
  // A run may begin inside a group, and a group may be wider than a row.
  std::uint64_t groups_of(const Run& run) const {
    return ceil_div(run.column % plan_.group_size + run.columns, plan_.group_size);
  }

  // For rows of one word and one group: a matrix of one column may have millions of them.
  void decode_narrow(const Run& run, const double* scales, const double* zeros, float* out) const {
    const std::uint32_t mask = (1u << plan_.bits) - 1;
    for (std::uint64_t row = 0; row < run.rows; ++row) {
      auto word = load_le<std::uint32_t>(run.at[0] + row * 4);
      const double scale = scales[row], zero = zeros[row];
      for (std::uint64_t i = 0; i < run.columns; ++i, word >>= plan_.bits)
        *out++ = f64_to_f32(scale * (static_cast<double>(word & mask) - zero));
    }
  }

  void decode_row(const Run& run, const std::byte* words, const double* scales, const double* zeros, float* out) const {
    std::array<std::uint8_t, kSegment> codes;
    std::uint64_t left_in_group = plan_.group_size - run.column % plan_.group_size;
    for (std::uint64_t done = 0; done < run.columns;) {
      const std::uint64_t count = std::min(kSegment, run.columns - done);
      const auto packed = ceil_div(count, plan_.per_word);
      switch (plan_.bits) {
        case 2: unpack<2>(words, packed, codes.data()); break;
        case 4: unpack<4>(words, packed, codes.data()); break;
        default: unpack<8>(words, packed, codes.data()); break;
      }
      for (std::uint64_t i = 0; i < count;) {
        const std::uint64_t end = i + std::min(left_in_group, count - i);
        left_in_group -= end - i;
        const double scale = *scales, zero = *zeros;
        for (; i < end; ++i) out[done + i] = f64_to_f32(scale * (static_cast<double>(codes[i]) - zero));
        if (left_in_group != 0) continue;
        ++scales, ++zeros;
        left_in_group = plan_.group_size;
      }
      words += packed * 4;
      done += count;
    }
  }

  Plan plan_;
  DType scale_, zero_;
};

std::shared_ptr<const Decoder> decoder_of(const Tensor& tensor) {
  const auto plan = plan_of(tensor);
  if (const auto doubt = kCodec.doubt(tensor); doubt && !plan)
    throw Error(ErrorKind::unsupported, doubt->rule, doubt->sentence).about(tensor.name);
  if (!plan)
    throw Error(
        ErrorKind::unsupported, "group.packing",
        fmt::format("only matrices of 2, 4 or 8 bits in \"<n>_per_i32\" with float scales and zeros are decoded; "
                    "the attributes are {}",
                    to_json(tensor.attributes)))
        .about(tensor.name);
  return std::make_shared<Decoder>(tensor, *plan);
}

// The parameters of one group.
struct Code {
  std::uint16_t scale_bits = 0;  // f16
  double scale = 0, zero = 0;
};

enum class Part : std::uint8_t { packed_weight, scales, zeros };

// What the three components of a tensor are made of. They share it: a small file may have 100,000 tensors.
struct Weights {
  std::string name;
  Component data;
  Plan plan;
};
using WeightsPtr = std::shared_ptr<const Weights>;

// Makes the bytes of one component.
class Writer final : public BlockReader {
  static constexpr std::size_t kGroups = 256;   // in a block
  static constexpr std::size_t kValues = 2048;  // read at a time, if rows are narrow
  static_assert(kValues >= kGroupSize);

 public:
  Writer(const Weights& from, Part part, std::uint64_t row, std::uint64_t group)
      : name_(from.name),
        plan_(from.plan),
        part_(part),
        row_(row),
        group_(group),
        weights_(from.data, std::min(row * plan_.columns + group * plan_.group_size, plan_.rows * plan_.columns)) {}

 protected:
  std::span<const std::byte> make_block() override {
    used_ = 0;
    for (std::size_t i = 0; i < kGroups && row_ < plan_.rows; ++i) {
      const std::uint64_t begin = group_ * plan_.group_size;
      const std::span<double> group = next_group(begin);
      const Code code = choose(group, begin);
      switch (part_) {
        case Part::packed_weight: pack(group, code); break;
        case Part::scales: append<std::uint16_t>(code.scale_bits); break;
        case Part::zeros: append<std::uint16_t>(f64_to_f16(code.zero)); break;
      }
      if (++group_ == plan_.groups) {
        group_ = 0;
        ++row_;
      }
    }
    return std::span(block_).first(used_);
  }

 private:
  // The weights of the next group, which may be changed. Those of narrow rows are read together: a call for each would
  // take longer than all else.
  std::span<double> next_group(std::uint64_t begin) {
    const auto size = static_cast<std::size_t>(std::min(plan_.group_size, plan_.columns - begin));
    if (at_ == end_) {
      const std::uint64_t rows = plan_.groups > 1 ? 1 : std::min<std::uint64_t>(kValues / size, plan_.rows - row_);
      at_ = 0;
      end_ = static_cast<std::size_t>(rows) * size;
      weights_.read(std::span(values_).first(end_));
    }
    return std::span(values_).subspan(std::exchange(at_, at_ + size), size);
  }

  template <typename T>
  void append(T value) {
    store_le<T>(block_.data() + used_, value);
    used_ += sizeof value;
  }

  Code choose(std::span<const double> group, std::uint64_t first_column) const {
    double low = 0, high = 0;
    // A NaN or an infinity makes the sum of x * 0 NaN, which is not zero. This needs no branch per element.
    double finite = 0;
    for (const double w : group) {
      low = w < low ? w : low;
      high = w > high ? w : high;
      finite += w * 0;
    }
    if (finite != 0) refuse(group, first_column);
    if (low == high) return {};
    const double highest = (1u << plan_.bits) - 1;
    const double exact = high / highest - low / highest;
    Code code;
    code.scale_bits = f64_to_f16(exact);
    if (exact < 0x1p-14 && f16_to_f32(code.scale_bits) < exact) ++code.scale_bits;
    code.scale = f16_to_f32(code.scale_bits);
    if (!std::isfinite(code.scale))
      throw Error(ErrorKind::unsupported, "group.overflow",
                  fmt::format("row {}, column {}: weights from {} to {} need a scale of {}, more than f16 holds", row_,
                              first_column, low, high, exact))
          .about(name_)
          .blame(Subject::input);
    code.zero = std::min(round_even(-low / code.scale), highest);
    return code;
  }

  [[noreturn]] void refuse(std::span<const double> group, std::uint64_t first_column) const {
    const auto bad = std::find_if(group.begin(), group.end(), [](double w) { return !std::isfinite(w); });
    throw Error(ErrorKind::unsupported, "group.nonfinite",
                fmt::format("element [{}, {}] is {}: only finite weights can be quantized", row_,
                            first_column + static_cast<std::uint64_t>(bad - group.begin()), *bad))
        .about(name_)
        .blame(Subject::input);
  }

  void pack(std::span<double> group, const Code& code) {
    const double highest = (1u << plan_.bits) - 1;
    // A group of zeros has scale 0, and all its codes are 0.
    const double divisor = code.scale == 0 ? 1 : code.scale;
    for (double& w : group) {
      const double c = round_even(w / divisor) + code.zero;
      w = c < 0 ? 0 : c > highest ? highest : c;
    }
    for (std::size_t i = 0; i < group.size(); i += plan_.per_word) {
      std::uint32_t word = 0;
      const std::size_t end = std::min<std::size_t>(group.size(), i + plan_.per_word);
      for (std::size_t j = i; j < end; ++j) word |= static_cast<std::uint32_t>(group[j]) << ((j - i) * plan_.bits);
      append<std::uint32_t>(word);
    }
  }

  std::string name_;
  Plan plan_;
  Part part_;
  std::uint64_t row_, group_;
  ElementStream weights_;
  std::array<double, kValues> values_;
  std::size_t at_ = 0, end_ = 0;                       // in `values_`: what has been read and not used yet
  std::array<std::byte, kGroups * kGroupSize> block_;  // a code takes a byte at most
  std::size_t used_ = 0;
};

class Encoder final : public BlobProducer {
 public:
  Encoder(WeightsPtr weights, Part part) : weights_(std::move(weights)), part_(part) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const Plan& plan = weights_->plan;
    // Whole rows are skipped first, because the last group of a row may be shorter than the others.
    const std::uint64_t row_bytes = part_ == Part::packed_weight ? plan.words * 4 : plan.groups * 2;
    const std::uint64_t group_bytes = part_ == Part::packed_weight ? plan.group_size / plan.per_word * 4 : 2;
    const std::uint64_t row = offset / row_bytes, in_row = offset % row_bytes;
    auto reader = std::make_unique<Writer>(*weights_, part_, row, in_row / group_bytes);
    reader->skip(in_row % group_bytes);
    return reader;
  }
  std::uint64_t seek_granularity() const override {
    if (!is_seekable(weights_->data.blob)) return 0;
    return part_ == Part::packed_weight ? 4 : 2;
  }
  void verify() const override { weights_->data.blob.verify(); }

 private:
  WeightsPtr weights_;
  Part part_;
};

// "group4" or "zt.group4".
unsigned bits_of(const std::string& method) {
  for (const unsigned bits : {2u, 4u, 8u})
    if (method == fmt::format("group{}", bits) || method == fmt::format("zt.group{}", bits)) return bits;
  throw Error(ErrorKind::usage, "group.method", fmt::format("zt.group has no method \"{}\"", method));
}

void require_encodable(const Tensor& tensor) {
  require_floats(tensor, "group.input", "group.type");
  if (tensor.shape.rank() != 2)
    throw Error(ErrorKind::unsupported, "group.rank",
                fmt::format("zt.group holds matrices, this tensor has {} dimensions", tensor.shape.rank()))
        .about(tensor.name);
}

Component made(const WeightsPtr& weights, Part part, std::string_view role, DType dtype, std::uint64_t per_row) {
  const auto count = checked_mul(weights->plan.rows, per_row);
  const auto bytes = count ? checked_mul(*count, size_of(dtype)) : std::nullopt;
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "the encoded tensor does not fit 64 bits of length")
        .about(weights->name);
  Blob blob = *bytes == 0 ? Blob::memory({}) : Blob::produced(*bytes, std::make_shared<Encoder>(weights, part));
  return {std::string(role), dtype, {}, std::move(blob)};
}

}  // namespace

Tensor decode(const Tensor& tensor) { return decoded(tensor, decoder_of(tensor), kCodec.parameters); }

std::unique_ptr<const Rows> make_rows(const Tensor& tensor) {
  return std::make_unique<CodedRows>(decoder_of(tensor), tensor.shape);
}

Tensor encode(const Tensor& tensor, const EncodeOptions& options) {
  require_encodable(tensor);
  Plan plan;
  plan.bits = bits_of(options.method);
  plan.per_word = 32 / plan.bits;
  plan.rows = tensor.shape[0];
  plan.columns = tensor.shape[1];
  plan.group_size = kGroupSize;
  plan.words = ceil_div(plan.columns, plan.per_word);
  plan.groups = ceil_div(plan.columns, plan.group_size);

  Tensor result;
  result.name = tensor.name;
  result.shape = tensor.shape;
  result.layout = kCodec.layout;
  result.attributes = tensor.attributes;
  result.attributes.set("bits", static_cast<int>(plan.bits));
  result.attributes.set("group_size", static_cast<int>(kGroupSize));
  result.attributes.set("packing", fmt::format("{}_per_i32", plan.per_word));
  const auto weights = std::make_shared<const Weights>(Weights{tensor.name, *tensor.component("data"), plan});
  result.components.reserve(3);
  result.components.push_back(made(weights, Part::packed_weight, "packed_weight", DType::i32, plan.words));
  result.components.push_back(made(weights, Part::scales, "scales", DType::f16, plan.groups));
  result.components.push_back(made(weights, Part::zeros, "zeros", DType::f16, plan.groups));
  return result;
}

}  // namespace tare::codec::group
