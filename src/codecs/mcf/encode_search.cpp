#include "codecs/mcf/encode_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/half.hpp"

namespace tare::codec::mcf {
namespace {

struct Block {
  std::array<float, kBlock> a{}, p{};
  float qmax = 0, absmax = 0;
};

struct Fit {
  float scale = 0, a = 0, b = 0;
};

Block block_of(const Method& method, std::span<const float> row, std::span<const float> importance,
               std::uint64_t index) {
  Block block;
  block.qmax = static_cast<float>(method.qmax);
  const auto first = index * kBlock;
  for (std::size_t i = 0; i < std::min<std::size_t>(kBlock, row.size() - first); ++i) {
    block.a[i] = std::fabs(row[first + i]);
    block.p[i] = importance.empty() ? 1 : importance[first + i];
    block.absmax = std::max(block.absmax, block.a[i]);
  }
  return block;
}

float code_of(const Block& block, std::size_t i, float v) { return std::min(std::rint(block.a[i] * v), block.qmax); }

Fit best_fit(const Block& block, const Search& search) {
  Fit best{block.absmax / block.qmax, 0, 0};
  float most = 0;
  for (unsigned c = 0; c < search.count; ++c) {
    const float v =
        (block.qmax / std::max(block.absmax, kLeastAbsmax)) * (search.first + static_cast<float>(c) * search.step);
    float a = 0, b = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float q = code_of(block, i, v);
      a += (block.p[i] * block.a[i]) * q;
      b += block.p[i] * (q * q);
    }
    const float scale = a / b;
    // False if all codes are 0, because the scale is NaN then.
    if (a * scale > most) {
      most = a * scale;
      best = {std::min(scale, kLargestScale), a, b};
    }
  }
  return best;
}

float loss(const Block& block, float scale) {
  const float v = scale > 0 ? 1 / scale : 0;
  float sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float e = block.a[i] - scale * code_of(block, i, v);
    sum += block.p[i] * (e * e);
  }
  return sum;
}

void put_codes(const Method& method, std::span<const float> row, std::uint64_t index, float scale, std::byte* codes) {
  std::memset(codes, 0, method.block_bytes());
  const float v = scale > 0 ? 1 / scale : 0;
  const auto first = index * kBlock;
  const auto qmax = static_cast<float>(method.qmax);
  for (std::size_t i = 0; i < std::min<std::size_t>(kBlock, row.size() - first); ++i)
    put_code(method.bits, codes, i, static_cast<int>(std::clamp(std::rint(row[first + i] * v), -qmax, qmax)));
}

// The next smaller f16; the scale itself if that need not be tried.
float lower_neighbour(float scale) { return scale > 0 && scale <= kSmallScale ? scale - kSmallStep : scale; }

void search_block(const Method& method, std::span<const float> row, std::span<const float> importance,
                  std::uint64_t index, const RowTarget& target) {
  const Block block = block_of(method, row, importance, index);
  const float fast = f16_to_f32(load_le<std::uint16_t>(target.scales + 2 * index));
  const float searched = f16_to_f32(round_scale(best_fit(block, search_of(method)).scale));
  float best = searched, least = loss(block, searched);
  for (const float lower : {lower_neighbour(searched), lower_neighbour(fast)}) {
    const float found = loss(block, lower);
    if (found < least) {
      least = found;
      best = lower;
    }
  }
  if (!(least < kBetter * loss(block, fast))) return;
  store_le<std::uint16_t>(target.scales + 2 * index, f32_to_f16(best));
  put_codes(method, row, index, best, target.codes + index * method.block_bytes());
}

float sub_scale(float s, float super_scale) { return std::rint(std::clamp(s * (32 / super_scale), 1.0f, 63.0f)); }

// The f16 of the super-scale with which the fits save most. `largest` is the largest scale of the fits.
std::uint16_t best_super_scale(std::span<const Fit> fits, float largest) {
  std::uint16_t best = 0;
  float most = -1;
  for (unsigned j = 0; j < kSuperTries; ++j) {
    const std::uint16_t bits = round_scale((32 * largest) / static_cast<float>(63 - j));
    const float super_scale = f16_to_f32(bits);
    float saved = 0;
    for (const Fit& fit : fits) {
      const float t = super_scale * (sub_scale(fit.scale, super_scale) / 32);
      saved += std::max(t * ((fit.a + fit.a) - t * fit.b), 0.0f);
    }
    if (saved > most) {
      most = saved;
      best = bits;
    }
  }
  return best;
}

// A super-scale, the best sub-scales for it, and their loss.
struct Choice {
  std::uint16_t bits = 0;
  std::array<float, kBlocksInSuper> sub{};
  float loss = 0;
};

Choice best_sub_scales(std::span<const Block> blocks, std::span<const Fit> fits, std::uint16_t bits, int reach) {
  Choice choice;
  choice.bits = bits;
  const float super_scale = f16_to_f32(bits);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].absmax == 0) continue;
    const float u = sub_scale(fits[b].scale, super_scale);
    float least = loss(blocks[b], super_scale * (u / 32));
    choice.sub[b] = u;
    for (int step = -reach; step <= reach; ++step) {
      const float near = u + static_cast<float>(step);
      if (step == 0 || near < 1 || near > 63) continue;
      const float found = loss(blocks[b], super_scale * (near / 32));
      if (found < least) {
        least = found;
        choice.sub[b] = near;
      }
    }
    choice.loss += least;
  }
  return choice;
}

// Finds the first normal f16 that loses no more than `most`. Returns false if there is none.
bool find_normal_scale(std::span<const Block> blocks, std::span<const Fit> fits, float most, Choice& choice) {
  bool almost = false;
  const auto fits_in = [&](std::uint16_t bits, int reach) {
    const Choice normal = best_sub_scales(blocks, fits, bits, reach);
    almost = almost || normal.loss <= kAlmost * most;
    if (normal.loss <= most) choice = normal;
    return normal.loss;
  };
  for (unsigned j = 0; j < kNormalTries; ++j) {
    const float lost = fits_in(static_cast<std::uint16_t>(kLeastNormal + j * kNormalStep), kNormalReach);
    if (lost <= most) return true;
    if (j == 0 && lost > kHopeless * most) return false;
  }
  for (unsigned j = 0; almost && j < kCloseTries; ++j)
    if (fits_in(close_normal(j), kCloseReach) <= most) return true;
  return false;
}

void search_super(const Method& method, std::span<const float> row, std::span<const float> importance,
                  std::uint64_t first, std::uint64_t end, const RowTarget& target) {
  std::byte* const stored = target.scales + 2 * (first / kBlocksInSuper);
  const auto fast_bits = load_le<std::uint16_t>(stored);
  const float fast_scale = f16_to_f32(fast_bits);
  if (fast_scale == 0) return;  // all weights are zero
  const auto count = end - first;
  std::vector<Block> blocks(count);
  std::vector<Fit> fits(count);
  float largest = 0, fast_loss = 0;
  for (std::size_t b = 0; b < count; ++b) {
    blocks[b] = block_of(method, row, importance, first + b);
    fits[b] = best_fit(blocks[b], search_of(method));
    largest = std::max(largest, fits[b].scale);
    const auto fast_u = static_cast<float>(std::to_integer<unsigned>(target.sub_scales[first + b]));
    fast_loss += loss(blocks[b], fast_scale * (fast_u / 32));
  }
  Choice choice = best_sub_scales(blocks, fits, best_super_scale(fits, largest), 1);
  bool better = choice.loss < kBetter * fast_loss;
  if (!is_normal_f16(choice.bits)) {
    const Normal allowed = normal_allowance(choice.loss, fast_loss, is_normal_f16(fast_bits));
    if (find_normal_scale(blocks, fits, allowed.most, choice))
      better = true;
    else if (allowed.fast)
      better = false;
  }
  if (!better) return;
  const float super_scale = f16_to_f32(choice.bits);
  store_le<std::uint16_t>(stored, choice.bits);
  for (std::size_t b = 0; b < count; ++b) {
    target.sub_scales[first + b] = static_cast<std::byte>(choice.sub[b]);
    put_codes(method, row, first + b, super_scale * (choice.sub[b] / 32),
              target.codes + (first + b) * method.block_bytes());
  }
}

}  // namespace

Search search_of(const Method& method) {
  if (method.family == Family::block) return method.bits == 8 ? Search{0.89f, 0.00368f, 32} : Search{0.86f, 0.03f, 16};
  switch (method.bits) {
    case 6: return {0.84f, 0.0115f, 20};
    case 4: return {0.86f, 0.029f, 16};
    case 3: return {1.0f, 0.08f, 12};
    default: return {1.0f, 0.19f, 12};
  }
}

std::optional<std::uint64_t> reference_search_row(const Method& method, std::span<const float> row,
                                                  std::span<const float> importance, const RowTarget& target) {
  if (const auto overflow = reference_encode_row(method, row, target)) return overflow;
  const std::uint64_t blocks = ceil_div(row.size(), kBlock);
  if (method.family == Family::block) {
    for (std::uint64_t b = 0; b < blocks; ++b) search_block(method, row, importance, b, target);
  } else {
    for (std::uint64_t first = 0; first < blocks; first += kBlocksInSuper)
      search_super(method, row, importance, first, std::min(blocks, first + kBlocksInSuper), target);
  }
  return std::nullopt;
}

}  // namespace tare::codec::mcf
