// Checksums of bytes: SHA-256, CRC32C and XXH3 (64 and 128 bits), as streams and as stored values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tare/export.hpp"

namespace tare {

enum class DigestAlgorithm : std::uint8_t { none, sha256, crc32c, xxh3, xxh3_128, unknown };

[[nodiscard]] TARE_API std::string_view name_of(DigestAlgorithm algorithm);
// "sha256", "crc32c", "xxh3", "xxh3-128", "none"; nothing for other words.
[[nodiscard]] TARE_API std::optional<DigestAlgorithm> parse_digest_algorithm(std::string_view name);

// A digest as files store it: "algorithm:hex". An unknown algorithm is kept as its text.
class TARE_API Digest {
 public:
  Digest() = default;
  // `bytes` are big-endian, as many as the algorithm has (32, 4, 8 or 16). Throws `digest.length` for another number,
  // and `digest.algorithm` for an unknown algorithm.
  Digest(DigestAlgorithm algorithm, std::span<const std::byte> bytes);
  // Reads "sha256:<64 hex>", "crc32c:0x<8 hex>", "xxh3:<16 hex>", ...; other algorithms are `unknown`. Returns nothing
  // if the algorithm is known and the digits are wrong.
  [[nodiscard]] static std::optional<Digest> parse(std::string_view text);

  DigestAlgorithm algorithm() const { return algorithm_; }
  explicit operator bool() const { return algorithm_ != DigestAlgorithm::none; }
  std::span<const std::byte> bytes() const;
  // Lower-case hex of the bytes.
  std::string hex() const;
  // The stored spelling: "sha256:" + lower-case hex, "crc32c:0x" + upper-case hex; unknown digests as they were read.
  std::string text() const;
  friend TARE_API bool operator==(const Digest& a, const Digest& b);

 private:
  DigestAlgorithm algorithm_ = DigestAlgorithm::none;
  std::array<std::byte, 32> bytes_{};
  std::shared_ptr<const std::string> unknown_;
};

// A running digest. Not thread-safe. Throws `digest.finished` if it is used after `finish` or after a move.
class TARE_API Hasher {
 public:
  // Throws `digest.algorithm` for an unknown algorithm, and `digest.unavailable` if OpenSSL or xxHash reports an error.
  explicit Hasher(DigestAlgorithm algorithm);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // Returns the digest of everything so far and ends the run.
  [[nodiscard]] Digest finish();

 private:
  struct State;
  State& running() const;

  std::unique_ptr<State> state_;
};

[[nodiscard]] TARE_API Digest digest_of(DigestAlgorithm algorithm, std::span<const std::byte> bytes);

}  // namespace tare
