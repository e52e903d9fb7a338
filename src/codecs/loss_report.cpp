#include "codecs/loss_report.hpp"

namespace tare::codec {

LossReport::LossReport(std::shared_ptr<EncodeReport> report, std::uint64_t elements, std::uint64_t chunks)
    : report_(std::move(report)), elements_(elements), chunks_(chunks), made_(chunks), left_(chunks) {}

void LossReport::settle(std::uint64_t chunk, const ChunkLoss& loss) {
  const std::scoped_lock lock(mutex_);
  if (made_[chunk]) return;
  made_[chunk] = true;
  chunks_[chunk] = loss;
  if (--left_ != 0) return;
  report_->elements = elements_;
  for (const ChunkLoss& one : chunks_) {
    report_->squared_sum += one.squared_sum;
    report_->squared_error += one.squared_error;
    report_->max_error = std::max(report_->max_error, one.max_error);
    report_->scales += one.scales;
    report_->subnormal_scales += one.subnormal;
    if (one.worst_error <= report_->worst_block_error) continue;
    report_->worst_block_error = one.worst_error;
    report_->worst_block = one.worst_block;
  }
  report_->complete = true;
}

}  // namespace tare::codec
