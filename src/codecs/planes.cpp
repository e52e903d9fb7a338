#include "codecs/planes.hpp"

#include <algorithm>
#include <cstring>

namespace tare::codec {

PlaneReader::PlaneReader(const Blob& blob, std::uint64_t offset) {
  if (const auto view = blob.view())
    view_ = view->data() + offset;
  else
    reader_ = blob.open(offset);
}

const std::byte* PlaneReader::take(std::uint64_t count, std::uint64_t again) {
  if (view_ != nullptr) {
    const std::byte* const at = view_ - again;
    view_ = at + count;
    return at;
  }
  const auto kept = again, size = count;
  if (buffer_.size() < size) buffer_.resize(size);
  if (kept != 0) std::memmove(buffer_.data(), buffer_.data() + end_ - kept, kept);
  reader_->read(std::span(buffer_).subspan(kept, size - kept));
  end_ = size;
  return buffer_.data();
}

Walk::Walk(const Planes& planes, std::uint64_t row, std::uint64_t column)
    : planes_(planes), row_(row), column_(column) {
  readers_.reserve(planes.all.size());
  for (const Plane& plane : planes.all) readers_.emplace_back(plane.blob, planes.offset_of(plane, row, column));
}

Run Walk::next(std::uint64_t elements) {
  const std::uint64_t grain = planes_.grain();
  Run run{.row = row_, .column = column_, .rows = 1};
  if (column_ == 0 && planes_.columns <= std::max(elements, grain)) {
    run.rows = std::max<std::uint64_t>(1, std::min(elements / planes_.columns, planes_.rows - row_));
    run.columns = planes_.columns;
  } else {
    run.columns = std::min(std::max(elements / grain * grain, grain), planes_.columns - column_);
  }
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const Plane& plane = planes_.all[i];
    // A unit (a scale, for example) may also cover columns of the previous run.
    const std::uint64_t inside = column_ % plane.weights;
    const std::uint64_t units = ceil_div(inside + run.columns, plane.weights);
    run.at[i] = readers_[i].take(run.rows * units * plane.bytes, begun_ && inside != 0 ? plane.bytes : 0);
  }
  begun_ = true;
  column_ += run.columns;
  if (column_ == planes_.columns) {
    column_ = 0;
    row_ += run.rows;
  }
  return run;
}

void Walk::check_sources(const Planes& planes) {
  const Source* last = nullptr;
  for (const Plane& plane : planes.all) {
    const Source* const source = plane.blob.source().get();
    if (source != nullptr && source != last) source->check();
    last = source;
  }
}

}  // namespace tare::codec
