#include "inspect/whole_numbers.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <type_traits>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/parallel.hpp"
#include "inspect/blocks.hpp"

namespace tare::inspect {
namespace {

template <typename T>
Value value_of(T number) {
  return static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(number);
}

template <typename T>
void find_range(const Component& data, unsigned threads, WholeNumbers& out) {
  const std::uint64_t count = storage_elements(data), stride = blocks_per_piece(data) * kBlockElements;
  T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::min();
  std::mutex mutex;
  parallel_for(ceil_div(count, stride), threads, [&](std::size_t piece) {
    const std::uint64_t begin = piece * stride, end = begin + std::min(stride, count - begin);
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
    pull(data.blob, begin * sizeof(T), end * sizeof(T), [&](std::span<const std::byte> bytes) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        const T number = load_le<T>(bytes.data() + at);
        least = std::min(least, number);
        most = std::max(most, number);
      }
    });
    const std::scoped_lock lock(mutex);
    low = std::min(low, least);
    high = std::max(high, most);
  });
  out.min = value_of(low);
  out.max = value_of(high);
}

template <typename T>
WholeNumbers look_at(const Component& data, std::size_t first, unsigned threads) {
  WholeNumbers out;
  const std::uint64_t count = storage_elements(data);
  if (count == 0) return out;
  find_range<T>(data, threads, out);
  Bytes bytes(static_cast<std::size_t>(std::min<std::uint64_t>(first, count)) * sizeof(T));
  data.blob.read(0, bytes);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T))
    out.first.push_back(value_of(load_le<T>(bytes.data() + at)));
  return out;
}

}  // namespace

std::optional<WholeNumbers> whole_numbers(const Component& data, std::size_t first, unsigned threads) {
  if (!data.type.empty()) return std::nullopt;
  switch (data.dtype) {
    case DType::i64: return look_at<std::int64_t>(data, first, threads);
    case DType::u64: return look_at<std::uint64_t>(data, first, threads);
    case DType::i32: return look_at<std::int32_t>(data, first, threads);
    case DType::u32: return look_at<std::uint32_t>(data, first, threads);
    case DType::i16: return look_at<std::int16_t>(data, first, threads);
    case DType::u16: return look_at<std::uint16_t>(data, first, threads);
    case DType::i8: return look_at<std::int8_t>(data, first, threads);
    case DType::u8: return look_at<std::uint8_t>(data, first, threads);
    default: return std::nullopt;
  }
}

}  // namespace tare::inspect
