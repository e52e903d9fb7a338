#include "codecs/mcf_encode_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tare {
namespace {

constexpr std::uint64_t kChunk = 2048;  // blocks
constexpr std::size_t kRun = 256;       // blocks that are read and coded together: 32 KiB of values

}  // namespace

struct McfChunks::Run {
  alignas(64) float values[kRun * kMcfBlock];
  std::byte scales[kRun * 2];
  std::byte sub_scales[kRun];
  std::byte codes[kRun * kMcfBlock];
};

void McfChunkBytes::clear() {
  scales.clear();
  sub_scales.clear();
  codes.clear();
}

McfChunks::McfChunks(const Tensor& tensor, const McfGeometry& geometry, const EncodeOptions& options)
    : tensor_(tensor), geometry_(geometry), options_(options) {
  const bool raw = geometry.method->family == McfFamily::raw;
  row_blocks_ = geometry.method->family == McfFamily::super ? geometry.supers * kMcfBlocksInSuper : geometry.blocks;
  blocks_ = raw ? ceil_div(geometry.elements(), kMcfBlock) : geometry.rows * row_blocks_;
  slots_.resize(static_cast<std::size_t>(ceil_div(blocks_, kChunk)));
  if (raw || options.fast || options.importance.empty()) return;
  // Relative to the largest, so that no sum of weighted squares overflows.
  const float most = *std::max_element(options.importance.begin(), options.importance.end());
  importance_.resize(static_cast<std::size_t>(row_blocks_ * kMcfBlock));
  for (std::size_t i = 0; i < options.importance.size(); ++i)
    importance_[i] = most > 0 ? options.importance[i] / most : 0;
}

std::uint64_t McfChunks::input_bytes() const { return kChunk * kMcfBlock * size_of(tensor_.component("data")->dtype); }

std::uint64_t McfChunks::first_block(std::size_t chunk) const { return std::min(blocks_, chunk * kChunk); }

std::uint64_t McfChunks::element_of(std::uint64_t block) const {
  if (geometry_.method->family == McfFamily::raw) return std::min(block * kMcfBlock, geometry_.elements());
  return block / row_blocks_ * geometry_.columns + std::min(block % row_blocks_ * kMcfBlock, geometry_.columns);
}

McfValues McfChunks::values(std::size_t chunk) const {
  return McfValues(tensor_, options_.clip, element_of(first_block(chunk)));
}

McfChunks::Place McfChunks::place(std::size_t chunk) const {
  const std::uint64_t block = first_block(chunk);
  const McfMethod& method = *geometry_.method;
  if (method.family == McfFamily::raw)
    return {0, 0, std::min(block * kMcfBlock * method.bits / 8, geometry_.codes.size)};
  const std::uint64_t stored = block / row_blocks_ * geometry_.blocks + std::min(block % row_blocks_, geometry_.blocks);
  if (method.family == McfFamily::block) return {2 * stored, 0, stored * method.block_bytes()};
  return {2 * (block / kMcfBlocksInSuper), stored, stored * method.block_bytes()};
}

void McfChunks::make(std::size_t chunk, McfValues& values, McfChunkBytes& out) const {
  Slot slot;
  const auto run = std::make_unique<Run>();
  const std::uint64_t end = first_block(chunk + 1);
  for (std::uint64_t block = first_block(chunk); block < end; block += kRun) {
    const auto blocks = static_cast<std::size_t>(std::min<std::uint64_t>(kRun, end - block));
    make_run(block, blocks, values, *run, out, slot);
  }
  values.check();
  settle(chunk, slot);
}

void McfChunks::make_run(std::uint64_t first, std::size_t blocks, McfValues& values, Run& run, McfChunkBytes& out,
                         Slot& slot) const {
  McfLoss* const loss = options_.report == nullptr ? nullptr : &slot.loss;
  const McfMethod& method = *geometry_.method;
  const auto append = [](std::vector<std::byte>& to, const std::byte* from, std::uint64_t count) {
    to.insert(to.end(), from, from + count);
  };
  if (method.family == McfFamily::raw) {
    const auto count = static_cast<std::size_t>(element_of(first + blocks) - element_of(first));
    values.read(run.values, count);
    mcf_encode_raw(method, geometry_.domain, parameters(), run.values, count, run.codes, loss, first);
    return append(out.codes, run.codes, (std::uint64_t{count} * method.bits + 7) / 8);
  }

  // Rows one after the other, with zeros behind their ends.
  const auto for_each_row = [&](const auto& visit) {
    for (std::size_t done = 0; done < blocks;) {
      const std::uint64_t in_row = (first + done) % row_blocks_;
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(blocks - done, row_blocks_ - in_row));
      visit(in_row, done, part);
      done += part;
    }
  };
  for_each_row([&](std::uint64_t in_row, std::size_t at, std::size_t part) {
    float* const to = run.values + at * kMcfBlock;
    const std::uint64_t column = std::min(in_row * kMcfBlock, geometry_.columns);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(part * kMcfBlock, geometry_.columns - column));
    values.read(to, count);
    std::fill(to + count, to + part * kMcfBlock, 0.0f);
  });

  const McfBlocks in{.method = &method,
                     .values = run.values,
                     .count = blocks,
                     .importance = importance_.empty() ? nullptr : importance_.data(),
                     .period = static_cast<std::size_t>(row_blocks_),
                     .phase = static_cast<std::size_t>(first % row_blocks_),
                     .fast = options_.fast};
  const McfEncoded result = mcf_encode_blocks(in, {run.scales, run.sub_scales, run.codes}, loss, first);
  if (result.status != McfEncoded::Status::done) refuse(result, first, run.values);
  slot.absmax = std::max(slot.absmax, result.absmax);

  if (method.family == McfFamily::super) append(out.scales, run.scales, blocks / kMcfBlocksInSuper * 2);
  for_each_row([&](std::uint64_t in_row, std::size_t at, std::size_t part) {
    const std::uint64_t stored = std::min<std::uint64_t>(part, geometry_.blocks - std::min(in_row, geometry_.blocks));
    if (method.family == McfFamily::block)
      append(out.scales, run.scales + 2 * at, 2 * stored);
    else
      append(out.sub_scales, run.sub_scales + at, stored);
    append(out.codes, run.codes + at * method.block_bytes(), stored * method.block_bytes());
  });
}

void McfChunks::refuse(const McfEncoded& why, std::uint64_t first, const float* values) const {
  const std::uint64_t element = element_of(first + why.block);
  const float* const block = values + why.block * kMcfBlock;
  if (why.status == McfEncoded::Status::not_finite) {
    const float* const bad = std::find_if(block, block + kMcfBlock, [](float v) { return !std::isfinite(v); });
    throw mcf_not_finite(tensor_, element + static_cast<std::uint64_t>(bad - block), *bad);
  }
  const bool super = geometry_.method->family == McfFamily::super;
  float most = 0;
  for (std::size_t i = 0; i < (super ? kMcfSuper : kMcfBlock); ++i) most = std::max(most, std::fabs(block[i]));
  throw Error(
      ErrorKind::unsupported, "quant.overflow",
      fmt::format("row {}, column {}: a weight of magnitude {} needs a scale of {}, more than the f16 of {} holds",
                  element / geometry_.columns, element % geometry_.columns, most,
                  most / static_cast<float>(geometry_.method->qmax), geometry_.method->layout))
      .about(tensor_.name);
}

void McfChunks::settle(std::size_t chunk, const Slot& slot) const {
  const std::scoped_lock lock(mutex_);
  if (slots_[chunk].made) return;  // with the same result
  slots_[chunk] = slot;
  slots_[chunk].made = true;
  if (++made_ == slots_.size() && options_.report != nullptr) fill_report();
}

void McfChunks::fill_report() const {
  EncodeReport& report = *options_.report;
  report.elements = geometry_.elements();
  for (const Slot& slot : slots_) {
    report.squared_sum += slot.loss.squared_sum;
    report.squared_error += slot.loss.squared_error;
    report.max_error = std::max<double>(report.max_error, slot.loss.max_error);
    if (slot.loss.worst_error <= report.worst_block_error) continue;
    report.worst_block_error = slot.loss.worst_error;
    report.worst_block = element_of(slot.loss.worst_block);
  }
  report.complete = true;
}

McfRange McfChunks::range_of_all() const {
  std::call_once(ranged_, [this] {
    // A blob that cannot be entered in the middle is read front to back.
    const std::uint64_t step = tensor_.component("data")->blob.seek_granularity();
    const std::size_t parts = step != 0 && step <= input_bytes() ? count() : 1;
    std::mutex mutex;
    McfRange all{0, 0, true};
    bool any = false;
    parallel_for(parts, options_.threads, [&](std::size_t part) {
      const std::uint64_t first = parts == 1 ? 0 : element_of(first_block(part));
      const std::uint64_t end = parts == 1 ? geometry_.elements() : element_of(first_block(part + 1));
      McfValues values(tensor_, options_.clip, first);
      std::vector<float> buffer(kRun * kMcfBlock);
      for (std::uint64_t at = first; at < end; at = values.position()) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at));
        values.read(buffer.data(), count);
        const McfRange here = mcf_range(buffer.data(), count);
        if (!here.finite) {
          const auto bad = std::find_if(buffer.begin(), buffer.end(), [](float v) { return !std::isfinite(v); });
          throw mcf_not_finite(tensor_, at + static_cast<std::uint64_t>(bad - buffer.begin()), *bad);
        }
        const std::scoped_lock lock(mutex);
        all.min = any ? std::min(all.min, here.min) : here.min;
        all.max = any ? std::max(all.max, here.max) : here.max;
        any = true;
      }
      values.check();
    });
    range_ = all;
  });
  return range_;
}

McfScaleZero McfChunks::parameters() const {
  if (options_.clip)
    return mcf_scale_zero(*geometry_.method, geometry_.domain, options_.clip->first, options_.clip->second);
  const McfRange range = range_of_all();
  return mcf_scale_zero(*geometry_.method, geometry_.domain, range.min, range.max);
}

Map McfChunks::learned() const {
  if (options_.clip) return {};
  McfQuantInfo info{geometry_.domain, 0, 0};
  float absmax = 0;
  bool known = false;
  if (geometry_.method->family != McfFamily::raw) {
    const std::scoped_lock lock(mutex_);
    known = made_ == slots_.size();
    for (const Slot& slot : slots_) absmax = std::max(absmax, slot.absmax);
  }
  if (!known) {
    const McfRange range = range_of_all();
    absmax = std::max(std::fabs(range.min), std::fabs(range.max));
    info.min_clip = std::min(range.min, 0.0f);
    info.max_clip = std::max(range.max, 0.0f);
  }
  if (geometry_.domain == McfDomain::weights) {
    info.min_clip = -absmax;
    info.max_clip = absmax;
  }
  Map attributes;
  set_mcf_attributes(attributes, info);
  return attributes;
}

}  // namespace tare
