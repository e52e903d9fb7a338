#include "base/keyed_hash.hpp"

#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstddef>

#include "base/endian.hpp"
#include "base/process_mutex.hpp"

namespace tare {
namespace {

struct Key {
  std::uint64_t a = 0, b = 0;
};

Key draw_key() {
  Key key;
  if (::getentropy(&key, sizeof key) == 0) return key;
  // Without entropy, use the address of the stack, which is still random.
  key.a = reinterpret_cast<std::uintptr_t>(&key);
  key.b = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return key;
}

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void word(std::uint64_t m) {
    v3 ^= m;
    round();
    v0 ^= m;
  }
};

}  // namespace

std::uint64_t siphash(std::string_view text, std::uint64_t key0, std::uint64_t key1) {
  State state = {key0 ^ 0x736f6d6570736575, key1 ^ 0x646f72616e646f6d, key0 ^ 0x6c7967656e657261,
                 key1 ^ 0x7465646279746573};
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) state.word(load_le<std::uint64_t>(bytes + i));
  std::uint64_t last = std::uint64_t{text.size()} << 56;
  for (unsigned shift = 0; i < text.size(); ++i, shift += 8) last |= std::to_integer<std::uint64_t>(bytes[i]) << shift;
  state.word(last);
  state.v2 ^= 0xFF;
  for (int round = 0; round < 3; ++round) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

static const BeforeFork kKeyBeforeFork([] { static_cast<void>(keyed_hash({})); });

std::uint64_t keyed_hash(std::string_view text) {
  static const Key key = draw_key();
  return siphash(text, key.a, key.b);
}

}  // namespace tare
