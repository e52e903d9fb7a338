#include "codecs/mcf/encode_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"

namespace tare::codec::mcf {
namespace {

constexpr std::uint64_t kChunk = 2048;  // blocks
constexpr std::size_t kRun = 256;       // blocks that are read and encoded together: 32 KiB of values

}  // namespace

// Working memory for one run of blocks.
struct ChunkBytes::Scratch {
  alignas(64) float values[kRun * kBlock];
  alignas(64) float clipped[kRun * kBlock];
  alignas(64) std::byte codes[kRun * kBlock];
  std::byte sub_scales[kRun];
};

void ChunkBytes::Free::operator()(Scratch* scratch) const { delete scratch; }

Chunks::Chunks(const Tensor& tensor, const Geometry& geometry, const EncodeOptions& options)
    : tensor_(tensor), geometry_(geometry), options_(options) {
  const bool raw = geometry.method->family == Family::raw;
  row_blocks_ = geometry.method->family == Family::super ? geometry.supers * kBlocksInSuper : geometry.blocks;
  blocks_ = raw ? ceil_div(geometry.elements(), kBlock) : geometry.rows * row_blocks_;
  slots_.resize(ceil_div(blocks_, kChunk));
  if (raw || options.fast || options.importance.empty()) return;
  // Relative to the largest, so that no sum of weighted squares overflows.
  const float most = *std::max_element(options.importance.begin(), options.importance.end());
  importance_.resize(row_blocks_ * kBlock);
  for (std::size_t i = 0; i < options.importance.size(); ++i)
    importance_[i] = most > 0 ? options.importance[i] / most : 0;
}

std::uint64_t Chunks::input_bytes() const { return kChunk * kBlock * size_of(tensor_.component("data")->dtype); }

std::uint64_t Chunks::first_block(std::size_t chunk) const { return std::min(blocks_, chunk * kChunk); }

std::uint64_t Chunks::element_of(std::uint64_t block) const {
  if (geometry_.method->family == Family::raw) return std::min(block * kBlock, geometry_.elements());
  return block / row_blocks_ * geometry_.columns + std::min(block % row_blocks_ * kBlock, geometry_.columns);
}

WeightStream Chunks::values(std::size_t chunk) const {
  return WeightStream(tensor_, options_.clip ? Beyond::largest : Beyond::infinite, kNotFinite,
                      element_of(first_block(chunk)));
}

Chunks::Place Chunks::place(std::size_t chunk) const { return place_of(first_block(chunk)); }

Chunks::Place Chunks::place_of(std::uint64_t block) const {
  const Method& method = *geometry_.method;
  if (method.family == Family::raw) return {0, 0, std::min(block * kBlock * method.bits / 8, geometry_.codes.size)};
  const std::uint64_t stored = block / row_blocks_ * geometry_.blocks + std::min(block % row_blocks_, geometry_.blocks);
  if (method.family == Family::block) return {2 * stored, 0, stored * method.block_bytes()};
  return {2 * (block / kBlocksInSuper), stored, stored * method.block_bytes()};
}

void Chunks::prepare(std::size_t first, std::size_t end, ChunkBytes& bytes) const {
  const Place from = place(first), to = place(end);
  const auto scales = to.scales - from.scales;
  const auto sub_scales = to.sub_scales - from.sub_scales;
  const auto codes = to.codes - from.codes;
  if (bytes.capacity_ < scales + sub_scales + codes) {
    bytes.capacity_ = scales + sub_scales + codes;
    bytes.memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes.capacity_);
  }
  if (bytes.scratch_ == nullptr) bytes.scratch_.reset(new ChunkBytes::Scratch);
  const std::span<std::byte> all(bytes.memory_.get(), bytes.capacity_);
  bytes.scales = all.first(scales);
  bytes.sub_scales = all.subspan(scales, sub_scales);
  bytes.codes = all.subspan(scales + sub_scales, codes);
  bytes.first_ = first;
}

void Chunks::make(std::size_t chunk, WeightStream& values, ChunkBytes& bytes) const {
  Slot slot;
  const std::uint64_t end = first_block(chunk + 1);
  for (std::uint64_t block = first_block(chunk); block < end; block += kRun) {
    const auto blocks = static_cast<std::size_t>(std::min<std::uint64_t>(kRun, end - block));
    if (geometry_.method->family == Family::raw)
      make_raw(block, blocks, values, bytes, slot);
    else
      make_run(block, blocks, values, bytes, slot);
  }
  values.check();
  settle(chunk, slot);
}

void Chunks::make_raw(std::uint64_t first, std::size_t blocks, WeightStream& values, ChunkBytes& out,
                      Slot& slot) const {
  const auto count = element_of(first + blocks) - element_of(first);
  const float* const from = out.scratch_->values;
  values.read(out.scratch_->values, count);
  const Raw in{.method = geometry_.method,
               .domain = geometry_.domain,
               .parameters = parameters(),
               .values = clipped(from, count, out.scratch_->clipped),
               .source = from,
               .count = count};
  std::byte* const to = out.codes.data() + (place_of(first).codes - place(out.first_).codes);
  encode_raw(in, to, options_.report == nullptr ? nullptr : &slot.loss, first);
}

// Returns the values, or a copy of them clamped to the clip.
const float* Chunks::clipped(const float* values, std::size_t count, float* copy) const {
  if (!options_.clip) return values;
  const auto [low, high] = *options_.clip;
  for (std::size_t i = 0; i < count; ++i) copy[i] = std::clamp(values[i], low, high);
  return copy;
}

// Calls visit(block in the row, block in the run, blocks) for the part of each row in a run.
template <typename Visit>
static void for_each_row(std::uint64_t first, std::size_t blocks, std::uint64_t row_blocks, const Visit& visit) {
  for (std::size_t done = 0; done < blocks;) {
    const std::uint64_t in_row = (first + done) % row_blocks;
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(blocks - done, row_blocks - in_row));
    visit(in_row, done, part);
    done += part;
  }
}

// Reads the values of some blocks, with zeros after the ends of rows.
Chunks::Run Chunks::read_run(std::uint64_t first, std::size_t blocks, WeightStream& values,
                             ChunkBytes::Scratch& scratch) const {
  for_each_row(first, blocks, row_blocks_, [&](std::uint64_t in_row, std::size_t at, std::size_t part) {
    float* const to = scratch.values + at * kBlock;
    const std::uint64_t column = std::min(in_row * kBlock, geometry_.columns);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(part * kBlock, geometry_.columns - column));
    values.read(to, count);
    std::fill(to + count, to + part * kBlock, 0.0f);
    if (!options_.clip) return;
    float* const cut = scratch.clipped + at * kBlock;
    clipped(to, count, cut);
    std::fill(cut + count, cut + part * kBlock, 0.0f);
  });
  return {options_.clip ? scratch.clipped : scratch.values, scratch.values};
}

void Chunks::make_run(std::uint64_t first, std::size_t blocks, WeightStream& values, ChunkBytes& out,
                      Slot& slot) const {
  const Method& method = *geometry_.method;
  ChunkBytes::Scratch& scratch = *out.scratch_;
  const Run run = read_run(first, blocks, values, scratch);
  const Blocks in{.method = &method,
                  .values = run.values,
                  .source = run.source,
                  .count = blocks,
                  .importance = importance_.empty() ? nullptr : importance_.data(),
                  .period = static_cast<std::size_t>(row_blocks_),
                  .phase = first % row_blocks_,
                  .fast = options_.fast};
  const Place begin = place(out.first_);
  const auto target_of = [&](std::uint64_t block) {
    const Place at = place_of(block);
    return Coded{out.scales.data() + (at.scales - begin.scales),
                 out.sub_scales.data() + (at.sub_scales - begin.sub_scales),
                 out.codes.data() + (at.codes - begin.codes)};
  };
  Coded target = target_of(first);
  // Blocks after the ends of rows are encoded, but not stored.
  const bool some_not_stored = row_blocks_ != geometry_.blocks;
  if (some_not_stored) target = {target.scales, scratch.sub_scales, scratch.codes};
  const Encoded result = encode_blocks(in, target, options_.report == nullptr ? nullptr : &slot.loss, first);
  if (result.status != Encoded::Status::done) refuse(result, first, run.values);
  slot.absmax = std::max(slot.absmax, result.absmax);
  if (!some_not_stored) return;
  for_each_row(first, blocks, row_blocks_, [&](std::uint64_t in_row, std::size_t at, std::size_t part) {
    const auto stored =
        static_cast<std::size_t>(std::min<std::uint64_t>(part, geometry_.blocks - std::min(in_row, geometry_.blocks)));
    const Coded to = target_of(first + at);
    std::copy_n(scratch.sub_scales + at, stored, to.sub_scales);
    std::copy_n(scratch.codes + at * method.block_bytes(), stored * method.block_bytes(), to.codes);
  });
}

void Chunks::refuse(const Encoded& why, std::uint64_t first, const float* values) const {
  const std::uint64_t element = element_of(first + why.block);
  const float* const block = values + why.block * kBlock;
  if (why.status == Encoded::Status::not_finite) {
    const float* const bad = std::find_if(block, block + kBlock, [](float v) { return !std::isfinite(v); });
    throw not_finite(tensor_, element + static_cast<std::uint64_t>(bad - block), kNotFinite);
  }
  const unsigned width = geometry_.method->family == Family::super ? kSuper : kBlock;
  const float* const most =
      std::max_element(block, block + width, [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  const std::uint64_t at = element + static_cast<std::uint64_t>(most - block);
  throw Error(ErrorKind::unsupported, "quant.overflow",
              fmt::format("row {}, column {}: a weight of {} needs a scale of {}, more than the f16 of {} holds",
                          at / geometry_.columns, at % geometry_.columns, *most,
                          std::fabs(*most) / static_cast<float>(geometry_.method->qmax), geometry_.method->layout))
      .about(tensor_.name)
      .blame(Subject::input)
      .remedy(Remedy::clip)
      .remedy(Remedy::use_method, "int8")
      .remedy(Remedy::keep);
}

void Chunks::settle(std::size_t chunk, const Slot& slot) const {
  const std::scoped_lock lock(mutex_);
  if (slots_[chunk].made) return;  // made before, with the same result
  slots_[chunk] = slot;
  slots_[chunk].made = true;
  if (++made_ == slots_.size() && options_.report != nullptr) fill_report();
}

void Chunks::fill_report() const {
  EncodeReport& report = *options_.report;
  report.elements = geometry_.elements();
  for (const Slot& slot : slots_) {
    report.squared_sum += slot.loss.squared_sum;
    report.squared_error += slot.loss.squared_error;
    report.max_error = std::max<double>(report.max_error, slot.loss.max_error);
    report.scales += slot.loss.scales;
    report.subnormal_scales += slot.loss.subnormal;
    if (slot.loss.worst_error <= report.worst_block_error) continue;
    report.worst_block_error = slot.loss.worst_error;
    report.worst_block = element_of(slot.loss.worst_block);
  }
  report.complete = true;
}

}  // namespace tare::codec::mcf
