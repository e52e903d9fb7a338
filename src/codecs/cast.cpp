// Casts between element types: a template kernel for every pair, chosen once per tensor, pulled through a buffer that
// stays in the cache.
//
// Every value is rounded once, to nearest even: no pair goes through a type that rounds on the way. To integers,
// fractions are rounded to nearest even too and values out of range saturate; NaN has no integer and is an error. To
// bool, everything but zero is true (NaN too). NaN stays NaN between floats; its payload may change. A finite value beyond
// the largest of a float type is an error too, unless the caller has chosen what becomes of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "codecs/element_kinds.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// The C++ types that storage types are stored as, in their order.
using StoredTypes = std::tuple<double, float, std::uint16_t, std::uint16_t, std::int64_t, std::int32_t, std::int16_t,
                               std::int8_t, std::uint64_t, std::uint32_t, std::uint16_t, std::uint8_t, std::uint8_t>;
template <DType To>
using Stored = std::tuple_element_t<static_cast<std::size_t>(To), StoredTypes>;

// A double that rounds to any type of at most 50 bits as the integer itself would: what does not fit is folded into
// the last bit.
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

// Of a number that is not NaN.
template <typename Int>
Int saturated(double value) {
  using Limits = std::numeric_limits<Int>;
  const double rounded = round_even(value);
  // As doubles the limits of 64-bit integers are powers of two: the upper one is already out of range.
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
    constexpr bool kFromFloat = std::is_same_v<From, float> || sizeof(From) <= 2;  // exactly an f32
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

template <typename Value>
bool is_finite(Value value) {
  if constexpr (std::is_floating_point_v<Value>)
    return std::fabs(value) <= std::numeric_limits<Value>::max();
  else
    return true;
}

// The bits of a float type's infinity.
template <DType To>
constexpr std::uint32_t kInfinity = To == DType::f16    ? 0x7C00u
                                    : To == DType::bf16 ? 0x7F80u
                                                        : 0x7F800000u;
template <DType To>
bool is_infinite(Stored<To> stored) {
  if constexpr (To == DType::f32)
    return std::fabs(stored) > std::numeric_limits<float>::max();
  else
    return (stored & 0x7FFFu) == kInfinity<To>;
}

// Whether a pair can meet a value that has no counterpart: a NaN that is to be an integer, or a finite value beyond the
// largest of a float type.
template <typename Value, DType To>
constexpr bool kToInteger = std::is_floating_point_v<Value>&& To >= DType::i64&& To <= DType::u8;
template <typename Value, DType To>
constexpr bool kOverflows = (To == DType::f16 && sizeof(Value) > 1) ||
                            (To == DType::bf16 && std::is_floating_point_v<Value>) ||
                            (To == DType::f32 && std::is_same_v<Value, double>);

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
    if constexpr (kToInteger<Value, To>) failed += std::isnan(value) ? 1 : 0;
    if constexpr (kOverflows<Value, To>) failed += is_infinite<To>(stored) & is_finite(value) ? 1 : 0;
    store_le<Out>(to + i * sizeof(Out), stored);
  }
  return failed;
}

template <Kind From>
Kernel kernel_to(DType to) {
  static constexpr auto kTable = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Kernel, sizeof...(I)>{cast_run<From, static_cast<DType>(I)>...};
  }
  (std::make_index_sequence<kAllDTypes.size()>());
  return kTable[static_cast<std::size_t>(to)];
}

// The largest number of a float type with the sign of the infinity that is there.
void clamp(std::byte* stored, DType to) {
  if (to == DType::f32) {
    const auto bits = load_le<std::uint32_t>(stored);
    store_le<std::uint32_t>(stored, (bits & 0x80000000u) | 0x7F7FFFFFu);
  } else {
    const auto bits = load_le<std::uint16_t>(stored);
    store_le<std::uint16_t>(stored,
                            static_cast<std::uint16_t>((bits & 0x8000u) | (to == DType::f16 ? 0x7BFFu : 0x7F7Fu)));
  }
}

std::string_view largest_of(DType to) {
  return to == DType::f16 ? "65504" : to == DType::bf16 ? "3.3895e38" : "3.4028e38";
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
        element_(offset / out_width_),
        reader_(tensor.component("data")->blob.open(element_ * in_width_)) {
    if (const std::size_t inside = static_cast<std::size_t>(offset % out_width_); inside != 0) {
      make(std::span(partial_).first(out_width_));
      pending_ = std::span(partial_).first(out_width_).subspan(inside);
    }
  }

  void read(std::span<std::byte> out) override {
    out = out.subspan(drain(out));
    while (out.size() >= out_width_) {
      const auto part = out.first(std::min(kRun, out.size() / out_width_) * out_width_);
      make(part);
      out = out.subspan(part.size());
    }
    if (out.empty()) return;
    pending_ = std::span(partial_).first(out_width_);
    make(std::span(partial_).first(out_width_));
    drain(out);
  }

 private:
  static constexpr std::size_t kRun = 16 << 10;  // elements; both sides stay in the cache

  std::size_t drain(std::span<std::byte> out) {
    const std::size_t part = std::min(out.size(), pending_.size());
    if (part > 0) std::memcpy(out.data(), pending_.data(), part);
    pending_ = pending_.subspan(part);
    return part;
  }

  void make(std::span<std::byte> out) {
    const std::size_t count = out.size() / out_width_;
    if (raw_.size() < count * in_width_) raw_.resize(count * in_width_);
    const auto raw = std::span(raw_).first(count * in_width_);
    reader_->read(raw);
    if (kernel_(raw.data(), out.data(), count) > 0) settle(raw, out);
    element_ += count;
  }

  // Finds the elements whose cast alone fails. Rare, so it may be slow.
  void settle(std::span<const std::byte> raw, std::span<std::byte> out) const {
    if (is_float(to_) && overflow_ == Overflow::infinity) return;
    for (std::size_t i = 0; i < out.size() / out_width_; ++i) {
      const auto element = raw.subspan(i * in_width_, in_width_);
      if (kernel_(element.data(), out.data() + i * out_width_, 1) == 0) continue;
      if (!is_float(to_) || overflow_ == Overflow::refuse) refuse(i, element);
      clamp(out.data() + i * out_width_, to_);
    }
  }

  [[noreturn]] void refuse(std::size_t i, std::span<const std::byte> element) const {
    if (!is_float(to_))
      throw Error(ErrorKind::lossy, "cast.nan", fmt::format("element {} is NaN and has no integer value", element_ + i))
          .about(name_)
          .blame(Subject::input);
    double value = 0;
    decode_elements(from_, type_, element, std::span(&value, 1));
    throw Error(
        ErrorKind::lossy, "cast.overflow",
        fmt::format("element {} is {}, beyond the largest {} ({})", element_ + i, value, name_of(to_), largest_of(to_)))
        .about(name_)
        .blame(Subject::input)
        .remedy(Remedy::accept_overflow);
  }

  std::string name_, type_;
  DType from_, to_;
  Overflow overflow_;
  Kernel kernel_;
  std::size_t in_width_, out_width_;
  std::uint64_t element_;  // next to be made
  std::unique_ptr<BlobReader> reader_;
  std::vector<std::byte> raw_;
  std::array<std::byte, 8> partial_;
  std::span<const std::byte> pending_;  // of partial_
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
    // The first offset that both sides can be entered at; widths are powers of two, so no overflow to speak of.
    return std::lcm(step, width) / width * size_of(to_);
  }
  void verify() const override { tensor_.component("data")->blob.verify(); }

 private:
  Tensor tensor_;
  Kernel kernel_;
  DType to_;
  Overflow overflow_;
};

// The set of values of a type, for comparing two: integers by their bits, floats by precision and exponents.
struct Range {
  bool is_float = false, is_signed = true;
  int digits = 0;   // bits of an integer's magnitude, or of a float's significand with the hidden one
  int lowest = 0;   // floats: exponent of the smallest subnormal
  int highest = 0;  // floats: exponent of the largest number
};

Range range_of(Kind kind) {
  switch (kind) {
    case Kind::f64: return {true, true, 53, -1074, 1023};
    case Kind::f32: return {true, true, 24, -149, 127};
    case Kind::f16: return {true, true, 11, -24, 15};
    case Kind::bf16: return {true, true, 8, -133, 127};
    case Kind::i64: return {false, true, 63, 0, 0};
    case Kind::i32: return {false, true, 31, 0, 0};
    case Kind::i16: return {false, true, 15, 0, 0};
    case Kind::i8: return {false, true, 7, 0, 0};
    case Kind::u64: return {false, false, 64, 0, 0};
    case Kind::u32: return {false, false, 32, 0, 0};
    case Kind::u16: return {false, false, 16, 0, 0};
    case Kind::u8: return {false, false, 8, 0, 0};
    case Kind::boolean: return {false, false, 1, 0, 0};
    case Kind::e4m3fn: return {true, true, 4, -9, 8};
    case Kind::e5m2: return {true, true, 3, -16, 15};
    case Kind::e4m3fnuz: return {true, true, 4, -10, 7};
    case Kind::e5m2fnuz: return {true, true, 3, -17, 15};
    case Kind::e8m0: return {true, false, 1, -127, 127};
  }
  return {};
}

Kernel kernel_of(const Component& data, DType to) {
  return with_kind(kind_of(data.dtype, data.type), [&]<Kind K>() { return kernel_to<K>(to); });
}

bool is_castable(DType dtype, std::string_view type) {
  return type.empty() || (is_numeric(dtype, type) && kind_of(dtype, type) != static_cast<Kind>(dtype));
}

}  // namespace

bool cast_is_lossless(DType from, std::string_view from_type, DType to) {
  if (!is_castable(from, from_type)) return false;
  const Range a = range_of(kind_of(from, from_type)), b = range_of(static_cast<Kind>(to));
  if (a.is_float) return b.is_float && a.digits <= b.digits && a.lowest >= b.lowest && a.highest <= b.highest;
  // The lowest signed integer has one bit more than the digits, but only the top one set.
  if (b.is_float) return a.digits <= b.digits && (a.is_signed ? a.digits : a.digits - 1) <= b.highest;
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
  if (!is_float(to) || !is_castable(data.dtype, data.type)) return 0;
  const Kernel kernel = kernel_of(data, to);
  constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
  const std::uint64_t width = size_of(data.dtype), size = data.blob.size() / width * width;
  const std::uint64_t step = std::lcm(data.blob.seek_granularity(), width);  // 0: only from the beginning
  const std::uint64_t piece = step == 0 ? std::max<std::uint64_t>(size, 1) : (kPiece + step - 1) / step * step;
  std::atomic<std::uint64_t> count{0};
  parallel_for(static_cast<std::size_t>((size + piece - 1) / piece), threads, [&](std::size_t i) {
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
