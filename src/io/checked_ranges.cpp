#include "io/checked_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tare::io {
namespace {

Digest digest_of_range(const Source& source, std::uint64_t offset, std::uint64_t length, DigestAlgorithm algorithm) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
  Hasher hasher(algorithm);
  Bytes buffer(static_cast<std::size_t>(std::min(length, kChunk)));
  for (std::uint64_t done = 0; done < length;) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), length - done)));
    source.read(offset + done, part);
    hasher.update(part);
    done += part.size();
  }
  return hasher.finish();
}

}  // namespace

CheckedRanges::Answer& CheckedRanges::answer_for(Range range) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Answer>& answer = answers_[std::move(range)];
  if (answer == nullptr) answer = std::make_unique<Answer>();
  return *answer;
}

void CheckedRanges::check(const Source& source, std::uint64_t offset, std::uint64_t length, const Digest& digest,
                          std::span<const std::byte> have) {
  std::shared_ptr<CheckedRanges> ranges;
  {
    const std::lock_guard lock(source.checked_mutex_);
    if (source.checked_ == nullptr) source.checked_ = std::make_shared<CheckedRanges>();
    ranges = source.checked_;
  }
  Answer& answer = ranges->answer_for({offset, length, digest.text()});
  const auto compare = [&](const Digest& found) {
    if (found == digest) return;
    answer.mismatch = std::make_unique<const Error>(
        Error(ErrorKind::corrupt, "digest.mismatch",
              fmt::format("the {} stored bytes do not match their digest: expected {}, found {}", length, digest.text(),
                          found.text()))
            .in(source.name())
            .at(offset));
  };
  answer.once.run([&] {
    compare(have.size() == length ? digest_of(digest.algorithm(), have)
                                  : digest_of_range(source, offset, length, digest.algorithm()));
  });
  if (answer.mismatch) throw *answer.mismatch;
}

}  // namespace tare::io
