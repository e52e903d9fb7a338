#include "tare/digest.hpp"

// Uses OpenSSL's older interface to SHA-256 on purpose. The newer one (EVP) makes some five thousand allocations before
// it hashes the first byte, crashes if one of them fails, and depends on a configuration file that can disable the
// algorithm. This one works in the 112 bytes it is given and cannot fail.
#define OPENSSL_API_COMPAT 0x10100000L

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <new>

#include "base/endian.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// Names in files, and the length of the value in bytes.
struct AlgorithmRow {
  DigestAlgorithm algorithm;
  std::string_view name, prefix;
  std::size_t bytes;
};
constexpr AlgorithmRow kAlgorithms[] = {
    {DigestAlgorithm::sha256, "sha256", "sha256:", 32},
    {DigestAlgorithm::crc32c, "crc32c", "crc32c:0x", 4},
    {DigestAlgorithm::xxh3, "xxh3", "xxh3:", 8},
    {DigestAlgorithm::xxh3_128, "xxh3-128", "xxh3-128:", 16},
};

const AlgorithmRow* row_of(DigestAlgorithm algorithm) {
  const auto* const row = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                                       [&](const AlgorithmRow& r) { return r.algorithm == algorithm; });
  return row == std::end(kAlgorithms) ? nullptr : row;
}

// The digits of a CRC-32C as other tools write it, "crc32c:DEADBEEF". Anything but eight digits may be another
// notation.
std::string_view bare_crc(std::string_view text) {
  constexpr std::string_view kPrefix = "crc32c:";
  const std::string_view digits = text.substr(std::min(text.size(), kPrefix.size()));
  const bool hex = digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  return text.starts_with(kPrefix) && digits.size() == 8 && hex ? digits : std::string_view();
}

// Case-insensitive only in the "0x" of the prefix: upstream also reads "crc32c:0X".
bool starts_with_prefix(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i)
    if (text[i] != prefix[i] && !(prefix[i] == 'x' && i > 0 && prefix[i - 1] == '0' && text[i] == 'X')) return false;
  return true;
}

// OpenSSL returns 1 for success.
void require(int openssl_result) {
  if (openssl_result != 1)
    throw Error(ErrorKind::unsupported, "digest.unavailable", "OpenSSL cannot compute the digest");
}

void require(XXH_errorcode code) {
  if (code != XXH_OK) throw Error(ErrorKind::unsupported, "digest.unavailable", "xxHash cannot compute the digest");
}

template <typename T>
T* allocated(T* state) {
  if (state == nullptr) throw std::bad_alloc();
  return state;
}

}  // namespace

std::string_view name_of(DigestAlgorithm algorithm) {
  if (const auto* row = row_of(algorithm)) return row->name;
  return algorithm == DigestAlgorithm::none ? "none" : "unknown";
}

std::optional<DigestAlgorithm> parse_digest_algorithm(std::string_view name) {
  if (name == "none") return DigestAlgorithm::none;
  for (const auto& row : kAlgorithms)
    if (row.name == name) return row.algorithm;
  return std::nullopt;
}

Digest::Digest(DigestAlgorithm algorithm, std::span<const std::byte> bytes) : algorithm_(algorithm) {
  if (algorithm == DigestAlgorithm::unknown)
    throw Error(ErrorKind::usage, "digest.algorithm", "a digest of an unknown algorithm is made from its text only");
  if (bytes.size() != this->bytes().size())
    throw Error(ErrorKind::usage, "digest.length",
                fmt::format("{} bytes for a digest of {}, which has {}", bytes.size(), name_of(algorithm),
                            this->bytes().size()));
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

std::optional<Digest> Digest::parse(std::string_view text) {
  if (const std::string_view digits = bare_crc(text); !digits.empty()) return parse(fmt::format("crc32c:0x{}", digits));
  for (const auto& row : kAlgorithms) {
    if (!starts_with_prefix(text, row.prefix)) continue;
    const std::string_view digits = text.substr(row.prefix.size());
    // A CRC may have fewer digits: it is written as a number, not as a string of bytes.
    const bool number = row.algorithm == DigestAlgorithm::crc32c;
    if (digits.empty() || digits.size() > row.bytes * 2 || (!number && digits.size() != row.bytes * 2))
      return std::nullopt;
    std::string padded(row.bytes * 2 - digits.size(), '0');
    padded += digits;
    std::array<std::byte, 32> bytes{};
    for (std::size_t i = 0; i < row.bytes; ++i) {
      unsigned value = 0;
      const char* const pair = padded.data() + 2 * i;
      const auto [end, error] = std::from_chars(pair, pair + 2, value, 16);
      if (error != std::errc() || end != pair + 2) return std::nullopt;
      bytes[i] = static_cast<std::byte>(value);
    }
    return Digest(row.algorithm, std::span(bytes).first(row.bytes));
  }
  Digest unknown;
  unknown.algorithm_ = DigestAlgorithm::unknown;
  unknown.unknown_ = std::make_shared<const std::string>(text);
  return unknown;
}

std::span<const std::byte> Digest::bytes() const {
  const auto* const row = row_of(algorithm_);
  return std::span(bytes_).first(row == nullptr ? 0 : row->bytes);
}

std::string Digest::hex() const { return to_hex(bytes()); }

std::string Digest::text() const {
  if (algorithm_ == DigestAlgorithm::unknown) return *unknown_;
  const auto* const row = row_of(algorithm_);
  if (row == nullptr) return {};
  std::string digits = hex();
  if (algorithm_ == DigestAlgorithm::crc32c)
    for (char& c : digits) c = static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
  return std::string(row->prefix) + digits;
}

bool operator==(const Digest& a, const Digest& b) {
  if (a.algorithm_ != b.algorithm_) return false;
  if (a.algorithm_ == DigestAlgorithm::unknown) return *a.unknown_ == *b.unknown_;
  return a.bytes_ == b.bytes_;
}

struct Hasher::State {
  DigestAlgorithm algorithm = DigestAlgorithm::none;
  SHA256_CTX sha{};
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> xxh{nullptr, XXH3_freeState};
  std::uint32_t crc = 0xFFFFFFFF;
};

Hasher::Hasher(DigestAlgorithm algorithm) : state_(std::make_unique<State>()) {
  state_->algorithm = algorithm;
  switch (algorithm) {
    case DigestAlgorithm::sha256: require(SHA256_Init(&state_->sha)); break;
    case DigestAlgorithm::xxh3:
      state_->xxh.reset(allocated(XXH3_createState()));
      require(XXH3_64bits_reset(state_->xxh.get()));
      break;
    case DigestAlgorithm::xxh3_128:
      state_->xxh.reset(allocated(XXH3_createState()));
      require(XXH3_128bits_reset(state_->xxh.get()));
      break;
    case DigestAlgorithm::unknown:
      throw Error(ErrorKind::usage, "digest.algorithm", "a digest of an unknown algorithm cannot be computed");
    case DigestAlgorithm::none:
    case DigestAlgorithm::crc32c: break;
  }
}

Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher::State& Hasher::running() const {
  if (state_ == nullptr)
    throw Error(ErrorKind::usage, "digest.finished", "the digest is complete, or another hasher goes on with it");
  return *state_;
}

void Hasher::update(std::span<const std::byte> bytes) {
  State& state = running();
  if (bytes.empty()) return;
  switch (state.algorithm) {
    case DigestAlgorithm::sha256: require(SHA256_Update(&state.sha, bytes.data(), bytes.size())); break;
    case DigestAlgorithm::xxh3: require(XXH3_64bits_update(state.xxh.get(), bytes.data(), bytes.size())); break;
    case DigestAlgorithm::xxh3_128: require(XXH3_128bits_update(state.xxh.get(), bytes.data(), bytes.size())); break;
    case DigestAlgorithm::crc32c:
      while (!bytes.empty()) {  // the library counts in int and does not declare its argument const
        const auto part = bytes.first(std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
        auto* const data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(part.data()));
        state.crc = crc32_iscsi(data, static_cast<int>(part.size()), state.crc);
        bytes = bytes.subspan(part.size());
      }
      break;
    default: break;
  }
}

Digest Hasher::finish() {
  running();
  const std::unique_ptr<State> state = std::move(state_);  // the run ends even if an error is thrown
  std::array<std::byte, 32> out{};
  switch (state->algorithm) {
    case DigestAlgorithm::sha256:
      require(SHA256_Final(reinterpret_cast<unsigned char*>(out.data()), &state->sha));
      break;
    case DigestAlgorithm::crc32c: store_be(out.data(), state->crc ^ 0xFFFFFFFFu); break;
    case DigestAlgorithm::xxh3: store_be<std::uint64_t>(out.data(), XXH3_64bits_digest(state->xxh.get())); break;
    case DigestAlgorithm::xxh3_128: {
      const XXH128_hash_t hash = XXH3_128bits_digest(state->xxh.get());
      store_be<std::uint64_t>(out.data(), hash.high64);
      store_be<std::uint64_t>(out.data() + 8, hash.low64);
      break;
    }
    default: return {};
  }
  return Digest(state->algorithm, std::span(out).first(row_of(state->algorithm)->bytes));
}

Digest digest_of(DigestAlgorithm algorithm, std::span<const std::byte> bytes) {
  Hasher hasher(algorithm);
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace tare
