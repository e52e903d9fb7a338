// Casts between element types: one template kernel per pair of types, chosen once per tensor. Data passes through a
// buffer that stays in the cache.
//
// Every value is rounded once, to nearest even; no pair goes through an intermediate type that rounds. A value beyond the
// range of the target type is an error, unless the caller chose another Overflow; so is NaN where the target has none,
// the integers, and a fraction that an integer type would lose. If bool is to clamp, everything but zero is true,
// including NaN. Between floats, NaN stays NaN; its payload may change.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "codecs/element_kinds.hpp"
#include "codecs/narrow_reader.hpp"
#include "codecs/simd_floats.hpp"
#include "codecs/simd_halves.hpp"
#include "codecs/whole_numbers.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// Returns a double that rounds to any type of at most 50 bits like the integer itself (round to odd): bits that do not
// fit are folded into the last bit.
template <typename Int>
double odd_double(Int value) {
  if constexpr (sizeof(Int) < 8) {
    return value;
  } else {
    const bool negative = value < 0;
    const std::uint64_t magnitude =
        negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const std::uint64_t folded = (magnitude >> 11) | static_cast<std::uint64_t>((magnitude & 0x7FF) != 0);
    const double result =
        magnitude < (std::uint64_t{1} << 53) ? static_cast<double>(magnitude) : static_cast<double>(folded) * 0x1p11;
    return negative ? -result : result;
  }
}

// `value` is not NaN.
template <typename Int>
Int saturated(double value) {
  using Limits = std::numeric_limits<Int>;
  const double rounded = round_even(value);
  // As doubles, the limits of 64-bit integers are powers of two, so the upper one is already out of range.
  constexpr double kLow = static_cast<double>(Limits::min());
  constexpr double kHigh = static_cast<double>(Limits::max());
  if constexpr (sizeof(Int) < 8) {
    return static_cast<Int>(rounded < kLow ? kLow : rounded > kHigh ? kHigh : rounded);
  } else {
    if (rounded < kLow) return Limits::min();
    if (rounded >= kHigh) return Limits::max();
    return static_cast<Int>(rounded);
  }
}

template <DType To, typename From>
Stored<To> convert(From value) {
  using Out = Stored<To>;
  if constexpr (To == DType::boolean) {
    return static_cast<Out>(value != 0);
  } else if constexpr (To == DType::f32 && std::is_same_v<From, double>) {
    return f64_to_f32(value);
  } else if constexpr (To == DType::f64 || To == DType::f32) {
    return static_cast<Out>(value);
  } else if constexpr (To == DType::f16 || To == DType::bf16) {
    constexpr bool kFromFloat = std::is_same_v<From, float> || sizeof(From) <= 2;  // exactly representable as f32
    if constexpr (kFromFloat && To == DType::f16)
      return f32_to_f16(static_cast<float>(value));
    else if constexpr (kFromFloat)
      return f32_to_bf16(static_cast<float>(value));
    else if constexpr (std::is_same_v<From, double> && To == DType::f16)
      return f64_to_f16(value);
    else if constexpr (std::is_same_v<From, double>)
      return f64_to_bf16(value);
    else if constexpr (To == DType::f16)
      return f64_to_f16(odd_double(value));
    else
      return f64_to_bf16(odd_double(value));
  } else if constexpr (std::is_floating_point_v<From>) {
    return saturated<Out>(std::isnan(value) ? 0.0 : static_cast<double>(value));
  } else {
    using Limits = std::numeric_limits<Out>;
    if (std::cmp_less(value, Limits::min())) return Limits::min();
    if (std::cmp_greater(value, Limits::max())) return Limits::max();
    return static_cast<Out>(value);
  }
}

// Returns whether an integer type has no such number, NaN included.
template <typename Int, typename From>
bool is_outside(From value) {
  using Limits = std::numeric_limits<Int>;
  if constexpr (std::is_floating_point_v<From>) {
    const double rounded = round_even(static_cast<double>(value));
    constexpr double kLow = static_cast<double>(Limits::min()), kHigh = static_cast<double>(Limits::max());
    // As in `saturated`: the upper limit of 64 bits is out of range as a double.
    return !(rounded >= kLow && (sizeof(Int) < 8 ? rounded <= kHigh : rounded < kHigh));
  } else {
    return std::cmp_less(value, Limits::min()) || std::cmp_greater(value, Limits::max());
  }
}

template <typename Value>
bool is_finite(Value value) {
  if constexpr (std::is_floating_point_v<Value>)
    return std::fabs(value) <= std::numeric_limits<Value>::max();
  else
    return true;
}

template <DType To>
bool is_infinite(Stored<To> stored) {
  constexpr Coding kCoding = element_type(To).coding;
  if constexpr (std::is_floating_point_v<Stored<To>>)
    return std::fabs(stored) > std::numeric_limits<Stored<To>>::max();
  else  // in 32 bits, the width of the values in the loop
    return (stored & static_cast<std::uint32_t>(kCoding.magnitude())) == kCoding.infinity();
}

// The set of values of a type, to compare two types: integers by their bits, floats by precision and exponents.
struct Range {
  bool is_float, is_signed;
  int digits;
  int lowest;   // floats: exponent of the smallest nonzero number
  int highest;  // exponent of the largest magnitude
};

constexpr Range range_of(const Coding& coding) {
  const int digits = coding.digits();
  if (coding.is_float()) return {true, coding.is_signed(), digits, coding.lowest_exponent(), coding.highest_exponent()};
  // The magnitude of the lowest signed integer needs one more bit than `digits`, but only that bit is set.
  return {false, coding.is_signed(), digits, 0, coding.is_signed() ? digits : digits - 1};
}

// Whether a pair of types can meet a value that has no counterpart: a NaN or a number out of range cast to an integer, or
// a finite value beyond the largest of a float type.
template <Kind From, DType To>
constexpr bool kLeavesIntegers = [] {
  const Coding from = kTypeOf<From>.coding, to = element_type(To).coding;
  if (!to.is_integer()) return false;
  return from.is_float() || from.digits() > to.digits() || (from.is_signed() && !to.is_signed());
}();
template <Kind From, DType To>
constexpr bool kOverflows = [] {
  const Range from = range_of(kTypeOf<From>.coding), to = range_of(element_type(To).coding);
  // With equal exponents, a value of more digits may round up beyond the largest.
  return to.is_float && (from.highest > to.highest || (from.highest == to.highest && from.digits > to.digits));
}();

// Returns how many values have no counterpart.
using Kernel = std::size_t (*)(const std::byte* from, std::byte* to, std::size_t count);

template <Kind From, DType To>
std::size_t cast_run(const std::byte* __restrict from, std::byte* __restrict to, std::size_t count) {
  using Out = Stored<To>;
  using Value = decltype(load<From>(from, 0));
  std::size_t failed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Value value = load<From>(from, i);
    const Out stored = convert<To>(value);
    if constexpr (kLeavesIntegers<From, To>) failed += is_outside<Out>(value) ? 1 : 0;
    if constexpr (kOverflows<From, To>) failed += std::size_t{is_infinite<To>(stored)} & std::size_t{is_finite(value)};
    store_le<Out>(to + i * sizeof(Out), stored);
  }
  return failed;
}

// Fast path: aligned output on a little-endian machine.
std::size_t widen_halves(const std::byte* __restrict from, std::byte* __restrict to, std::size_t count) {
  if (std::endian::native != std::endian::little || reinterpret_cast<std::uintptr_t>(to) % alignof(float) != 0)
    return cast_run<kind_of(DType::f16), DType::f32>(from, to, count);
  halves_to_floats(from, count, reinterpret_cast<float*>(to));
  return 0;
}

std::size_t narrow_floats(const std::byte* __restrict from, std::byte* __restrict to, std::size_t count) {
  return floats_to_bf16(from, count, to);
}

template <Kind From>
Kernel kernel_to(DType to) {
  static constexpr auto kTable = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Kernel, sizeof...(I)>{cast_run<From, static_cast<DType>(I)>...};
  }
  (std::make_index_sequence<kAllDTypes.size()>());
  if (From == kind_of(DType::f16) && to == DType::f32) return widen_halves;
  if (From == kind_of(DType::f32) && to == DType::bf16) return narrow_floats;
  return kTable[static_cast<std::size_t>(to)];
}

// Replaces an infinity by the largest number of its float type, with the same sign.
void clamp(std::byte* stored, const Coding& to) {
  const auto put = [&]<typename Bits>(Bits bits) {
    store_le<Bits>(stored, static_cast<Bits>((bits & ~to.magnitude()) | to.largest()));
  };
  if (to.bits == 32)
    put(load_le<std::uint32_t>(stored));
  else
    put(load_le<std::uint16_t>(stored));
}

// "65504", "3.4028e38".
std::string largest_text(const Coding& coding) {
  std::string text = fmt::format("{:.5g}", coding.value(static_cast<std::uint32_t>(coding.largest())));
  std::erase(text, '+');
  return text;
}

// "-128 to 127", of an integer type.
std::string range_text(const Coding& coding) {
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - coding.digits());
  return coding.is_signed() ? fmt::format("-{} to {}", most + 1, most) : fmt::format("0 to {}", most);
}

class CastReader final : public BlobReader {
 public:
  CastReader(const Tensor& tensor, Kernel kernel, DType to, Overflow overflow, std::uint64_t offset)
      : name_(tensor.name),
        type_(tensor.component("data")->type),
        from_(tensor.component("data")->dtype),
        to_(to),
        overflow_(overflow),
        kernel_(kernel),
        in_width_(size_of(tensor.component("data")->dtype)),
        out_width_(size_of(to)),
        keeps_whole_(!is_float(to) && overflow != Overflow::clamp &&
                     (to == DType::boolean || !type_.empty() || is_float(from_))),
        blob_(tensor.component("data")->blob),
        run_(run_of(blob_, in_width_)),
        element_(offset / out_width_),
        reader_(blob_.open(element_ * in_width_)),
        narrow_(kernel == narrow_floats ? dynamic_cast<NarrowReader*>(reader_.get()) : nullptr) {
    if (const std::size_t inside = offset % out_width_; inside != 0) {
      make(std::span(partial_).first(out_width_));
      pending_ = std::span(partial_).first(out_width_).subspan(inside);
    }
  }

  void read(std::span<std::byte> out) override {
    out = out.subspan(drain(out));
    while (out.size() >= out_width_) {
      const std::size_t most = narrow_ != nullptr ? out.size() / out_width_ : run_;
      const auto part = out.first(std::min(most, out.size() / out_width_) * out_width_);
      make(part);
      out = out.subspan(part.size());
    }
    if (out.empty()) return;
    pending_ = std::span(partial_).first(out_width_);
    make(std::span(partial_).first(out_width_));
    drain(out);
  }

 private:
  static constexpr std::size_t kRun = 16 << 10;  // elements; input and output stay in the cache together
  static constexpr std::size_t kMost = 256 << 10;

  // Elements per read. If the producer decodes in steps that are not much larger, a read covers whole steps, which the
  // producer can then decode directly into the buffer.
  static std::size_t run_of(const Blob& blob, std::size_t width) {
    const std::uint64_t step = blob.is_plain() ? 0 : blob.seek_granularity() / width;
    if (step == 0 || step > kMost) return kRun;
    return step >= kRun ? step : kRun / step * step;
  }

  std::size_t drain(std::span<std::byte> out) {
    const std::size_t part = std::min(out.size(), pending_.size());
    if (part > 0) std::memcpy(out.data(), pending_.data(), part);
    pending_ = pending_.subspan(part);
    return part;
  }

  void make(std::span<std::byte> out) {
    if (narrow_ == nullptr) return make_from(*reader_, out);
    if (narrow_->read_bf16(out)) {
      element_ += out.size() / out_width_;
      return;
    }
    // The fast path overflowed: redo this run through f32, so that the error can name the element.
    const auto again = blob_.open(element_ * in_width_);
    for (; !out.empty(); out = out.subspan(std::min(out.size(), run_ * out_width_)))
      make_from(*again, out.first(std::min(out.size(), run_ * out_width_)));
  }

  void make_from(BlobReader& reader, std::span<std::byte> out) {
    const std::size_t count = out.size() / out_width_;
    if (raw_.size() < count * in_width_) raw_.resize(count * in_width_);
    const auto raw = std::span(raw_).first(count * in_width_);
    reader.read(raw);
    if (kernel_(raw.data(), out.data(), count) > 0) settle(raw, out);
    if (keeps_whole_) require_whole(raw, count);
    element_ += count;
  }

  // Without consent, no fraction is rounded away.
  void require_whole(std::span<const std::byte> raw, std::size_t count) {
    values_.resize(count);
    decode_elements(from_, type_, raw, values_);
    for (std::size_t i = 0; i < count; ++i)
      if (!is_whole_for(to_, values_[i]))
        throw Error(ErrorKind::lossy, "cast.fraction", fraction_sentence(element_ + i, values_[i], to_))
            .about(name_)
            .blame(Subject::input)
            .remedy(Remedy::accept_overflow, "clamp");
  }

  // Finds the elements that cannot be cast, one by one. Slow, but rare.
  void settle(std::span<const std::byte> raw, std::span<std::byte> out) const {
    if (is_float(to_) && overflow_ == Overflow::infinity) return;
    for (std::size_t i = 0; i < out.size() / out_width_; ++i) {
      const auto element = raw.subspan(i * in_width_, in_width_);
      if (kernel_(element.data(), out.data() + i * out_width_, 1) == 0) continue;
      // The kernel has clamped integers.
      if (!is_float(to_) && overflow_ == Overflow::clamp && !std::isnan(value_of(element))) continue;
      if (!is_float(to_) || overflow_ == Overflow::refuse) refuse(i, value_of(element));
      clamp(out.data() + i * out_width_, element_type(to_).coding);
    }
  }

  double value_of(std::span<const std::byte> element) const {
    double value = 0;
    decode_elements(from_, type_, element, std::span(&value, 1));
    return value;
  }

  [[noreturn]] void refuse(std::size_t i, double value) const {
    const auto error = [&](std::string_view rule, const std::string& sentence) {
      return Error(ErrorKind::lossy, rule, sentence).about(name_).blame(Subject::input);
    };
    if (is_float(to_))
      throw error("cast.overflow", fmt::format("element {} is {}, beyond the largest {} ({})", element_ + i, value,
                                               name_of(to_), largest_text(element_type(to_).coding)))
          .remedy(Remedy::accept_overflow);
    if (std::isnan(value))
      throw error("cast.nan", fmt::format("element {} is NaN and has no integer value", element_ + i));
    throw error("cast.overflow", fmt::format("element {} is {}, outside of the range of {} ({})", element_ + i, value,
                                             name_of(to_), range_text(element_type(to_).coding)))
        .remedy(Remedy::accept_overflow, "clamp");
  }

  std::string name_, type_;
  DType from_, to_;
  Overflow overflow_;
  Kernel kernel_;
  std::size_t in_width_, out_width_;
  bool keeps_whole_;  // from floats to integers, and to bool
  Blob blob_;
  std::size_t run_;
  std::uint64_t element_;  // next to be cast
  std::unique_ptr<BlobReader> reader_;
  NarrowReader* narrow_;  // the reader, if it can produce bf16 itself; else null
  std::vector<std::byte> raw_;
  std::vector<double> values_;
  std::array<std::byte, 8> partial_;
  std::span<const std::byte> pending_;  // in partial_
};

class CastProducer final : public BlobProducer {
 public:
  CastProducer(const Tensor& tensor, Kernel kernel, DType to, Overflow overflow)
      : tensor_(tensor), kernel_(kernel), to_(to), overflow_(overflow) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    return std::make_unique<CastReader>(tensor_, kernel_, to_, overflow_, offset);
  }
  std::uint64_t seek_granularity() const override {
    const Component& data = *tensor_.component("data");
    const std::uint64_t step = data.blob.seek_granularity(), width = size_of(data.dtype);
    // The smallest step where both types have an element boundary; at most 8 * step, as widths are powers of two.
    return std::lcm(step, width) / width * size_of(to_);
  }
  void verify() const override { tensor_.component("data")->blob.verify(); }

 private:
  Tensor tensor_;
  Kernel kernel_;
  DType to_;
  Overflow overflow_;
};

Kernel kernel_of(const Component& data, DType to) {
  return with_kind(kind_of(data.dtype, data.type), [&]<Kind K>() { return kernel_to<K>(to); });
}

bool is_castable(DType dtype, std::string_view type) {
  const ElementType* const known = element_type(dtype, type);
  return known != nullptr && known->per_element == 1;
}

}  // namespace

bool cast_is_lossless(DType from, std::string_view from_type, DType to) {
  if (!is_castable(from, from_type)) return false;
  const Range a = range_of(element_type(from, from_type)->coding), b = range_of(element_type(to).coding);
  if (a.is_float) return b.is_float && a.digits <= b.digits && a.lowest >= b.lowest && a.highest <= b.highest;
  if (b.is_float) return a.digits <= b.digits && a.highest <= b.highest;
  return a.digits <= b.digits && (!a.is_signed || b.is_signed);
}

Tensor cast(const Tensor& dense_tensor, DType to, Overflow overflow) {
  const Component& data = require_dense(dense_tensor);
  if (data.type.empty() && data.dtype == to) return dense_tensor;
  if (!is_castable(data.dtype, data.type))
    throw Error(ErrorKind::unsupported, "cast.type", fmt::format("{} has no cast to {}", data.type_name(), name_of(to)))
        .about(dense_tensor.name);
  const auto bytes = checked_mul(data.blob.size() / size_of(data.dtype), size_of(to));
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "the cast tensor does not fit 64 bits of length")
        .about(dense_tensor.name);
  const Kernel kernel = kernel_of(data, to);
  Tensor result = dense_tensor;
  for (Component& component : result.components) {
    if (component.role != "data") continue;
    component.blob = *bytes == 0
                         ? Blob::memory({})
                         : Blob::produced(*bytes, std::make_shared<CastProducer>(dense_tensor, kernel, to, overflow));
    component.dtype = to;
    component.type.clear();
  }
  return result;
}

std::uint64_t count_overflow(const Tensor& dense_tensor, DType to, unsigned threads) {
  const Component& data = require_dense(dense_tensor);
  if (!is_castable(data.dtype, data.type)) return 0;
  const Kernel kernel = kernel_of(data, to);
  constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
  const std::uint64_t width = size_of(data.dtype), size = data.blob.size() / width * width;
  const std::uint64_t step = std::lcm(data.blob.seek_granularity(), width);  // 0: only readable from the beginning
  const std::uint64_t piece = step == 0 ? std::max<std::uint64_t>(size, 1) : (kPiece + step - 1) / step * step;
  std::atomic<std::uint64_t> count{0};
  parallel_for((size + piece - 1) / piece, threads, [&](std::size_t i) {
    const std::uint64_t begin = i * piece, end = std::min(size, begin + piece);
    const std::unique_ptr<BlobReader> reader = data.blob.open(begin);
    std::vector<std::byte> raw(64 << 10), out(raw.size() / width * size_of(to));
    std::uint64_t found = 0;
    for (std::uint64_t at = begin; at < end;) {
      const auto part = std::span(raw).first(static_cast<std::size_t>(std::min<std::uint64_t>(raw.size(), end - at)));
      reader->read(part);
      found += kernel(part.data(), out.data(), part.size() / width);
      at += part.size();
    }
    count += found;
  });
  return count;
}

}  // namespace tare
