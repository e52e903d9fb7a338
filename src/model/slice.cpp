// Reads the bytes of a slice.
//
// A block of the result is a list of strided runs. From bytes that are in memory they are gathered where they lie.
// Otherwise they are read in rising order: gaps of at most 512 bytes between needed bytes are read over (a call costs
// more than that), larger ones are never touched. A compressed blob is read forwards from the first needed byte; going
// backwards through one costs a new start for every 4 MiB of the result.
#include "tare/slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "model/block_reader.hpp"
#include "model/element_size.hpp"
#include "model/sliced_blob.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

constexpr std::uint64_t kGap = 512;          // read over rather than asked for separately
constexpr std::uint64_t kDecodedGap = 4096;  // the same where every request decodes something
constexpr std::uint64_t kSpan = std::uint64_t{256} << 10;
constexpr std::size_t kMaxRuns = 4096;     // in a block
constexpr std::uint64_t kFineStep = 4096;  // entering a blob at this granularity counts as random access

// `count` runs of `length` bytes, `stride` bytes apart (may be negative), to lie side by side in the result.
struct Run {
  std::uint64_t from;  // the first run's offset
  std::uint64_t count, length;
  std::int64_t stride;
  std::byte* to;

  std::uint64_t last() const { return from + (count - 1) * static_cast<std::uint64_t>(stride); }
  std::uint64_t low() const { return std::min(from, last()); }
  std::uint64_t high() const { return std::max(from, last()) + length; }
  std::uint64_t step() const { return static_cast<std::uint64_t>(stride < 0 ? -stride : stride); }
  // The part that holds runs [first, first + n) of it.
  Run part(std::uint64_t first, std::uint64_t n) const {
    return {from + first * static_cast<std::uint64_t>(stride), n, length, stride, to + first * length};
  }
};

template <std::size_t Width>
void gather_fixed(const Run& run, const std::byte* first) {
  std::byte* to = run.to;
  for (std::uint64_t i = 0; i < run.count; ++i, to += Width)
    std::memcpy(to, first + static_cast<std::int64_t>(i) * run.stride, Width);
}

// `bytes` begins at offset `base` of the sliced blob.
void gather(const Run& run, const std::byte* bytes, std::uint64_t base) {
  const std::byte* const first = bytes + (run.from - base);
  switch (run.length) {
    case 1: return gather_fixed<1>(run, first);
    case 2: return gather_fixed<2>(run, first);
    case 4: return gather_fixed<4>(run, first);
    case 8: return gather_fixed<8>(run, first);
    case 16: return gather_fixed<16>(run, first);
    default: break;
  }
  for (std::uint64_t i = 0; i < run.count; ++i)
    std::memcpy(run.to + i * run.length, first + static_cast<std::int64_t>(i) * run.stride,
                static_cast<std::size_t>(run.length));
}

bool is_random_access(const Blob& blob) {
  const std::uint64_t step = blob.seek_granularity();
  return step != 0 && step <= kFineStep;
}

// Reads parts of a blob in rising order, mostly.
class Fetcher {
 public:
  explicit Fetcher(const Blob& blob) : blob_(blob), step_(blob.seek_granularity()), random_(is_random_access(blob)) {}

  void read(std::uint64_t offset, std::span<std::byte> out) {
    if (random_) return blob_.read(offset, out);
    // Entering anew pays when it skips more than it decodes again.
    const bool far = step_ != 0 && offset > at_ && offset / step_ > ceil_div(at_, step_);
    if (reader_ == nullptr || offset < at_ || far) {
      reader_ = blob_.open(offset);
      at_ = offset;
    }
    scratch_.resize(static_cast<std::size_t>(std::min(kSpan, offset - at_)));
    for (; at_ < offset; at_ += std::min<std::uint64_t>(offset - at_, scratch_.size()))
      reader_->read(
          std::span(scratch_).first(static_cast<std::size_t>(std::min<std::uint64_t>(offset - at_, scratch_.size()))));
    reader_->read(out);
    at_ += out.size();
  }

 private:
  Blob blob_;
  std::uint64_t step_;
  bool random_;
  std::unique_ptr<BlobReader> reader_;
  std::uint64_t at_ = 0;
  Bytes scratch_;
};

// Collects neighbouring runs and reads them together.
class Collector {
 public:
  explicit Collector(const Blob& blob) : fetcher_(blob), gap_(blob.is_plain() ? kGap : kDecodedGap) {}

  // Runs come in rising order of their low ends and do not overlap.
  void add(const Run& run) {
    if (run.count == 1) return add_piece(run);
    // Wide gaps and long runs: each for itself. Otherwise as many at a time as a span holds.
    const bool apart = run.length >= kSpan || run.step() - run.length > gap_;
    const std::uint64_t most = apart ? 1 : (kSpan - run.length) / run.step() + 1;
    for (std::uint64_t done = 0; done < run.count; done += std::min(most, run.count - done)) {
      const std::uint64_t n = std::min(most, run.count - done);
      add_piece(run.part(run.stride < 0 ? run.count - done - n : done, n));
    }
  }

  void flush() {
    if (group_.size() == 1 && group_.front().count == 1) {
      const Run& run = group_.front();
      fetcher_.read(run.from, {run.to, static_cast<std::size_t>(run.length)});
    } else if (!group_.empty()) {
      scratch_.resize(static_cast<std::size_t>(high_ - low_));
      fetcher_.read(low_, scratch_);
      for (const Run& run : group_) gather(run, scratch_.data(), low_);
    }
    group_.clear();
  }

 private:
  void add_piece(const Run& run) {
    const std::uint64_t low = run.low(), high = run.high();
    if (!group_.empty() && (low - high_ > gap_ || high - low_ > kSpan)) flush();
    if (group_.empty()) low_ = low;
    high_ = high;
    group_.push_back(run);
  }

  Fetcher fetcher_;
  std::uint64_t gap_;
  std::vector<Run> group_;
  std::uint64_t low_ = 0, high_ = 0;
  Bytes scratch_;
};

class SliceReader final : public BlockReader {
 public:
  SliceReader(const Blob& blob, const SlicePlan& plan, std::uint64_t width, std::uint64_t first)
      : blob_(blob), plan_(plan), width_(width), next_(first), collector_(blob) {
    view_ = blob_.view();
    block_bytes_ = is_random_access(blob) ? kSpan : std::uint64_t{4} << 20;
  }

 protected:
  std::span<const std::byte> make_block() override {
    const std::uint64_t count = std::min(plan_.elements - next_, std::max<std::uint64_t>(1, block_bytes_ / width_));
    block_.resize(static_cast<std::size_t>(count * width_));
    const std::uint64_t listed = list_runs(count);
    if (view_) {
      for (const Run& run : runs_) copy(run);
      blob_.source()->check();
    } else {
      const auto lower = [](const Run& a, const Run& b) { return a.low() < b.low(); };
      if (!std::is_sorted(runs_.begin(), runs_.end(), lower)) std::sort(runs_.begin(), runs_.end(), lower);
      for (const Run& run : runs_) collector_.add(run);
      collector_.flush();
    }
    next_ += listed;
    return std::span(block_).first(static_cast<std::size_t>(listed * width_));
  }

 private:
  void copy(const Run& run) const {
    // Large copies out of a mapping go through the source: it knows a faster way than page faults.
    if (run.count == 1 && run.length >= kSpan / 4)
      blob_.read(run.from, {run.to, static_cast<std::size_t>(run.length)});
    else
      gather(run, view_->data(), 0);
  }

  // Lists the runs of the next `count` elements; returns how many elements the list came to.
  std::uint64_t list_runs(std::uint64_t count) {
    runs_.clear();
    std::uint64_t done = 0;
    while (done < count && runs_.size() < kMaxRuns) {
      std::uint64_t rest = next_ + done;
      const std::uint64_t in_run = rest % plan_.run;
      rest /= plan_.run;
      const std::uint64_t in_lane = rest % plan_.lane.count;
      rest /= plan_.lane.count;
      // Unsigned on purpose: negative strides wrap and come out right.
      std::uint64_t element = plan_.first + in_run + in_lane * static_cast<std::uint64_t>(plan_.lane.stride);
      for (std::size_t axis = plan_.outer.size(); axis-- > 0; rest /= plan_.outer[axis].count)
        element += rest % plan_.outer[axis].count * static_cast<std::uint64_t>(plan_.outer[axis].stride);

      std::byte* const to = block_.data() + static_cast<std::size_t>(done * width_);
      const std::uint64_t left = count - done;
      if (in_run != 0 || left < plan_.run) {
        const std::uint64_t part = std::min(plan_.run - in_run, left);
        runs_.push_back({element * width_, 1, part * width_, 0, to});
        done += part;
      } else {
        const std::uint64_t n = std::min(plan_.lane.count - in_lane, left / plan_.run);
        runs_.push_back(
            {element * width_, n, plan_.run * width_, plan_.lane.stride * static_cast<std::int64_t>(width_), to});
        done += n * plan_.run;
      }
    }
    return done;
  }

  Blob blob_;
  SlicePlan plan_;
  std::uint64_t width_, next_, block_bytes_ = 0;
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
    auto reader = std::make_unique<SliceReader>(blob_, plan_, width_, offset / width_);
    reader->skip(offset % width_);
    return reader;
  }
  std::uint64_t seek_granularity() const override { return is_random_access(blob_) ? width_ : 0; }
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
