#include "run/texts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/stopping.hpp"

namespace tare::run {

void Scorer::Inner::check_sources() const {
  for (const SourcePtr& source : sources) source->check();
}

std::uint64_t context_of(const Plan& plan, const Options& options) {
  constexpr std::uint64_t kUsual = 512;
  if (options.context != 0) return options.context;
  return plan.context == 0 ? kUsual : std::min(kUsual, plan.context);
}

void check_tokens(const Plan& plan, std::span<const std::int32_t> tokens, std::uint64_t context,
                  const Options& options) {
  const auto bad = [](std::string sentence) { return Error(ErrorKind::usage, "run.tokens", sentence); };
  if (tokens.empty()) throw bad("expected tokens, found none");
  const auto outside = [&](std::int32_t token) {
    return token < 0 || static_cast<std::uint64_t>(token) >= plan.vocabulary;
  };
  if (const auto found = std::ranges::find_if(tokens, outside); found != tokens.end())
    throw bad(fmt::format("token {} is {}; the model's tokens are 0 to {}", found - tokens.begin(), *found,
                          plan.vocabulary - 1));
  if (options.begin && outside(*options.begin))
    throw bad(fmt::format("the first token of each piece is {}; the model's tokens are 0 to {}", *options.begin,
                          plan.vocabulary - 1));
  const std::uint64_t longest = context == 0 ? tokens.size() : std::min<std::uint64_t>(context, tokens.size());
  if (plan.context != 0 && longest > plan.context)
    throw Error(ErrorKind::usage, "run.context",
                fmt::format("a piece has {} tokens; the model's positions are enough for {}", longest, plan.context))
        .in(plan.file);
}

void cut(std::span<const std::int32_t> tokens, std::uint64_t context, bool whole, const Options& options,
         std::uint64_t in_batch, std::uint64_t bytes_per_token, Pieces& out) {
  const std::size_t size = context == 0 ? tokens.size() : static_cast<std::size_t>(context);
  out.tokens.assign(tokens.begin(), tokens.end());
  const std::uint64_t most =
      std::max<std::uint64_t>(1, in_batch / std::max<std::uint64_t>(1, bytes_per_token) / kPanel);
  for (std::size_t first = 0; first < tokens.size(); first += size) {
    const std::size_t count = std::min(size, tokens.size() - first);
    if (count < size && (whole || (first > 0 && count < 2))) break;
    if (options.begin) out.tokens[first] = *options.begin;
    const std::size_t panels = (count + kPanel - 1) / kPanel;
    if (out.batches.empty() || out.batches.back().panels + panels > most) out.batches.emplace_back();
    out.batches.back().add(std::span<const std::int32_t>(out.tokens).subspan(first, count));
    out.first.push_back(first);
  }
}

HiddenStates::HiddenStates(const Pieces& pieces, std::uint64_t features, std::uint64_t in_memory) {
  for (const Batch& batch : pieces.batches) {
    begins_.push_back(total_);
    sizes_.push_back(batch.panels * features * kPanel * sizeof(float));
    total_ += sizes_.back();
  }
  spilled_ = sizes_.size() > 1 && total_ > in_memory;
  held_.resize(sizes_.size());
}

void HiddenStates::put(std::size_t batch, Floats states) {
  if (!spilled_) {
    held_[batch] = std::move(states);
    return;
  }
  if (written_ == nullptr) written_ = io::make_scratch(total_, 0);
  written_->write(begins_[batch], std::as_bytes(std::span<const float>(states)));
}

void HiddenStates::turn() {
  if (!spilled_) return;
  readable_ = written_->source();
  written_.reset();
}

Floats HiddenStates::take(std::size_t batch) {
  if (!spilled_) return std::move(held_[batch]);
  Floats states(static_cast<std::size_t>(sizes_[batch] / sizeof(float)));
  readable_->read(begins_[batch], std::as_writable_bytes(std::span<float>(states)));
  return states;
}

}  // namespace tare::run
