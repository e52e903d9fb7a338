// Replaces libFuzzer's LLVMFuzzerMutate in programs without libFuzzer: one small change of the bytes.
#include "plain_mutator.hpp"

#include <algorithm>
#include <cstring>

namespace tare::fuzz {
namespace {

Random& randomness() {
  static Random random(1);
  return random;
}
std::span<const Input> others;

}  // namespace

void set_plain_mutator(std::uint64_t seed, std::span<const Input> inputs) {
  randomness() = Random(seed);
  others = inputs;
}

}  // namespace tare::fuzz

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  using namespace tare::fuzz;
  Random& random = randomness();
  if (most == 0) return 0;
  if (size == 0) data[size++] = static_cast<std::uint8_t>(random.next());
  const std::size_t at = random.below(size);
  const auto run = [&](std::size_t longest) { return 1 + random.below(std::min(size - at, longest)); };
  switch (random.below(8)) {
    case 0: data[at] ^= static_cast<std::uint8_t>(1U << random.below(8)); return size;
    case 1: data[at] = static_cast<std::uint8_t>(random.next()); return size;
    case 2: {  // a number, in either byte order
      const std::uint64_t number = random.number();
      const std::size_t bytes = std::min(std::size_t{1} << random.below(4), size - at);
      const bool big = random.one_in(3);
      for (std::size_t i = 0; i < bytes; ++i)
        data[at + i] = static_cast<std::uint8_t>(number >> 8 * (big ? bytes - 1 - i : i));
      return size;
    }
    case 3: {  // removes bytes
      const std::size_t gone = std::min(run(64), size - 1);
      std::memmove(data + at, data + at + gone, size - at - gone);
      return size - gone;
    }
    case 4: {  // inserts a copy of some bytes
      const std::size_t length = std::min(run(256), most - size), to = random.below(size + 1);
      const Input piece(data + at, data + at + length);
      std::memmove(data + to + length, data + to, size - to);
      std::copy(piece.begin(), piece.end(), data + to);
      return size + length;
    }
    case 5: std::memset(data + at, random.one_in(2) ? 0 : 0xFF, run(16)); return size;
    case 6: {  // replaces the tail by the end of another input
      if (others.empty()) return size;
      const Input& other = random.one_of(others);
      const std::size_t from = random.below(other.size() + 1), length = std::min(other.size() - from, most - at);
      std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), length, data + at);
      return std::max<std::size_t>(at + length, 1);
    }
    default: {  // swaps two bytes
      std::swap(data[at], data[random.below(size)]);
      return size;
    }
  }
}
