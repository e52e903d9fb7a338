// Reads the bytes of a slice.
//
// A block of the result is a list of strided runs. Bytes in memory are gathered in place; otherwise slice_runs.hpp
// reads them.
//
// With permuted axes (views in PyTorch's files), neighbours in the result are far apart in the file, while steps of an
// outer axis are close together. Then a block consists of several of those steps, and its runs follow that axis, so
// that each byte is read about once.
#include "tare/slice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/block_reader.hpp"
#include "model/element_size.hpp"
#include "model/slice_runs.hpp"
#include "model/sliced_blob.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

using namespace slicing;

constexpr std::size_t kMaxRuns = 4096;  // at a time
constexpr std::uint64_t kTurnedBytes = std::uint64_t{4} << 20;

struct Turn {
  std::size_t axis;        // index into plan.outer of the axis that blocks follow
  std::uint64_t elements;  // per step of that axis
  std::uint64_t steps;     // per block
};

// The outer axis with the smallest stride, if that is smaller than the lane's and several of its steps fit into a
// block.
std::optional<Turn> find_turn(const SlicePlan& plan, std::uint64_t width) {
  const auto size = [](const SliceAxis& axis) { return axis.stride < 0 ? -axis.stride : axis.stride; };
  std::optional<Turn> turn;
  std::int64_t least = size(plan.lane);
  std::uint64_t inside = plan.run * plan.lane.count;
  for (std::size_t i = plan.outer.size(); i-- > 0; inside *= plan.outer[i].count) {
    if (inside > kTurnedBytes / width / 2) break;
    if (size(plan.outer[i]) == 0 || size(plan.outer[i]) >= least) continue;
    least = size(plan.outer[i]);
    turn = {i, inside, std::min(plan.outer[i].count, ceil_div(kTurnedBytes, inside * width))};
  }
  return turn;
}

class SliceReader final : public BlockReader {
 public:
  SliceReader(const Blob& blob, const SlicePlan& plan, std::uint64_t width, std::uint64_t first)
      : blob_(blob), plan_(plan), width_(width), next_(first), collector_(blob) {
    view_ = blob_.view();
    block_bytes_ = is_random_access(blob) ? kSpan : std::uint64_t{4} << 20;
    turn_ = find_turn(plan, width);
  }

 protected:
  std::span<const std::byte> make_block() override {
    if (turn_ && next_ % turn_->elements == 0) return make_turned_block();
    std::uint64_t count = std::min(plan_.elements - next_, std::max<std::uint64_t>(1, block_bytes_ / width_));
    if (turn_) count = std::min(count, turn_->elements - next_ % turn_->elements);
    block_.resize(count * width_);
    const std::uint64_t listed = list_runs(count);
    fetch_runs();
    if (view_) blob_.source()->check();
    next_ += listed;
    return std::span(block_).first(listed * width_);
  }

 private:
  // As many steps of that axis as fit into a block, with everything inside them.
  std::span<const std::byte> make_turned_block() {
    const SliceAxis& axis = plan_.outer[turn_->axis];
    std::uint64_t rest = next_ / turn_->elements;
    const std::uint64_t steps = std::min(axis.count - rest % axis.count, turn_->steps);
    // Unsigned on purpose: negative strides wrap to the correct result.
    std::uint64_t element = plan_.first;
    for (std::size_t i = turn_->axis + 1; i-- > 0; rest /= plan_.outer[i].count)
      element += rest % plan_.outer[i].count * static_cast<std::uint64_t>(plan_.outer[i].stride);
    block_.resize(steps * turn_->elements * width_);
    runs_.clear();
    for (std::uint64_t done = 0; done < turn_->elements; done += plan_.run) {
      rest = done / plan_.run;
      std::uint64_t from = element + rest % plan_.lane.count * static_cast<std::uint64_t>(plan_.lane.stride);
      rest /= plan_.lane.count;
      for (std::size_t i = plan_.outer.size(); --i > turn_->axis; rest /= plan_.outer[i].count)
        from += rest % plan_.outer[i].count * static_cast<std::uint64_t>(plan_.outer[i].stride);
      runs_.push_back({from * width_, steps, plan_.run * width_, axis.stride * static_cast<std::int64_t>(width_),
                       block_.data() + done * width_, turn_->elements * width_});
      if (runs_.size() < kMaxRuns) continue;
      fetch_runs();
      runs_.clear();
    }
    fetch_runs();
    if (view_) blob_.source()->check();
    next_ += steps * turn_->elements;
    return block_;
  }

  void fetch_runs() {
    if (view_) {
      for (const Run& run : runs_) copy(run);
      return;
    }
    const auto lower = [](const Run& a, const Run& b) { return a.low() < b.low(); };
    if (!std::is_sorted(runs_.begin(), runs_.end(), lower)) std::sort(runs_.begin(), runs_.end(), lower);
    for (const Run& run : runs_) collector_.add(run);
    collector_.flush();
  }

  void copy(const Run& run) const {
    // The source reads large pieces of a mapping faster than page faults do.
    if (run.count == 1 && run.length >= kSpan / 4)
      blob_.read(run.from, {run.to, static_cast<std::size_t>(run.length)});
    else
      gather(run, view_->data(), 0);
  }

  // Lists the runs of the next `count` elements; returns how many elements they cover.
  std::uint64_t list_runs(std::uint64_t count) {
    runs_.clear();
    std::uint64_t done = 0;
    while (done < count && runs_.size() < kMaxRuns) {
      std::uint64_t rest = next_ + done;
      const std::uint64_t in_run = rest % plan_.run;
      rest /= plan_.run;
      const std::uint64_t in_lane = rest % plan_.lane.count;
      rest /= plan_.lane.count;
      // Unsigned on purpose: negative strides wrap to the correct result.
      std::uint64_t element = plan_.first + in_run + in_lane * static_cast<std::uint64_t>(plan_.lane.stride);
      for (std::size_t axis = plan_.outer.size(); axis-- > 0; rest /= plan_.outer[axis].count)
        element += rest % plan_.outer[axis].count * static_cast<std::uint64_t>(plan_.outer[axis].stride);

      std::byte* const to = block_.data() + (done * width_);
      const std::uint64_t left = count - done;
      if (in_run != 0 || left < plan_.run) {
        const std::uint64_t part = std::min(plan_.run - in_run, left);
        runs_.push_back({element * width_, 1, part * width_, 0, to, part * width_});
        done += part;
      } else {
        const std::uint64_t n = std::min(plan_.lane.count - in_lane, left / plan_.run);
        runs_.push_back({element * width_, n, plan_.run * width_, plan_.lane.stride * static_cast<std::int64_t>(width_),
                         to, plan_.run * width_});
        done += n * plan_.run;
      }
    }
    return done;
  }

  Blob blob_;
  SlicePlan plan_;
  std::uint64_t width_, next_, block_bytes_ = 0;
  std::optional<Turn> turn_;
  std::optional<std::span<const std::byte>> view_;
  Collector collector_;
  std::vector<Run> runs_;
  Bytes block_;
};

class SliceProducer final : public BlobProducer {
 public:
  SliceProducer(Blob blob, SlicePlan plan, std::uint64_t width)
      : blob_(std::move(blob)), plan_(std::move(plan)), width_(width) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    // A slice reads only its own bytes, so the digest of the whole cannot be compared. A mere permutation reads all
    // bytes.
    const bool reads_all = plan_.elements * width_ == blob_.size();
    auto reader = std::make_unique<SliceReader>(reads_all ? blob_ : blob_.unchecked(), plan_, width_, offset / width_);
    reader->skip(offset % width_);
    return reader;
  }
  std::uint64_t seek_granularity() const override {
    if (!is_random_access(blob_)) return 0;
    const auto turn = find_turn(plan_, width_);
    return turn ? turn->steps * turn->elements * width_ : width_;
  }
  void verify() const override { blob_.verify(); }

 private:
  Blob blob_;
  SlicePlan plan_;
  std::uint64_t width_;
};

const Component& sliceable(const Tensor& tensor) {
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data == nullptr)
    throw Error(ErrorKind::usage, "slice.layout",
                fmt::format("only dense tensors can be sliced, this one is {}", tensor.layout))
        .about(tensor.name);
  const auto count = tensor.shape.elements();
  const auto bytes = count ? elements_bytes(*count, data->dtype, data->type) : std::nullopt;
  if (!bytes || *bytes != data->blob.size())
    throw Error(ErrorKind::corrupt, "dense.size",
                fmt::format("the shape {} of {} does not make {} bytes", tensor.shape.text(), data->type_name(),
                            data->blob.size()))
        .about(tensor.name);
  return *data;
}

}  // namespace

Blob sliced_blob(const Blob& blob, SlicePlan plan, std::uint64_t width) {
  const std::uint64_t bytes = plan.elements * width;
  return Blob::produced(bytes, std::make_shared<SliceProducer>(blob, std::move(plan), width));
}

Tensor slice(const Tensor& dense_tensor, const SliceSpec& spec) {
  const Component& data = sliceable(dense_tensor);
  SlicePlan plan;
  try {
    plan = plan_slice(dense_tensor.shape, spec);
  } catch (Error& error) {
    throw error.about(dense_tensor.name);
  }
  const std::uint64_t width = element_bytes(data.dtype, data.type);
  const Shape shape = plan.shape;
  const std::uint64_t bytes = plan.elements * width;
  Blob blob;
  if (plan.elements == 0)
    blob = Blob::memory({});
  else if (plan.run == plan.elements && bytes == data.blob.size())
    blob = data.blob;
  else if (plan.run == plan.elements && data.blob.is_plain())
    blob = Blob::range(data.blob.source(), data.blob.offset() + plan.first * width, bytes);
  else
    blob = sliced_blob(data.blob, std::move(plan), width);
  Tensor result = dense(dense_tensor.name, shape, data.dtype, std::move(blob), data.type);
  result.attributes = dense_tensor.attributes;
  return result;
}

}  // namespace tare
