// The next token from its logits, and the loop that makes a text of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/splitmix64.hpp"
#include "base/stopping.hpp"
#include "run/texts.hpp"
#include "tare/run.hpp"

namespace tare::run {
namespace {

// More likely first; among equals the lower token, so that the result does not depend on the sort algorithm.
bool is_likelier(const std::pair<float, std::int32_t>& a, const std::pair<float, std::int32_t>& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

Error bad_sampling(std::string sentence) { return Error(ErrorKind::usage, "run.sampling", std::move(sentence)); }

}  // namespace

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling), state_(sampling.seed) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
    throw bad_sampling(fmt::format("the temperature is {}, expected 0 or more", sampling.temperature));
  if (!(sampling.top_p > 0 && sampling.top_p <= 1))
    throw bad_sampling(fmt::format("top-p is {}, expected a number in (0, 1]", sampling.top_p));
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1))
    throw bad_sampling(fmt::format("min-p is {}, expected a number in [0, 1]", sampling.min_p));
}

std::int32_t Sampler::next(std::span<const float> logits) {
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (std::isfinite(logits[i])) candidates_.emplace_back(logits[i], static_cast<std::int32_t>(i));
  if (candidates_.empty())
    throw Error(ErrorKind::corrupt, "run.overflow", fmt::format("none of the {} logits is finite", logits.size()))
        .blame(Subject::input);
  if (sampling_.temperature == 0) return std::ranges::min_element(candidates_, is_likelier)->second;

  const bool some = sampling_.top_k != 0 && sampling_.top_k < candidates_.size();
  if (some) {
    std::nth_element(candidates_.begin(), candidates_.begin() + sampling_.top_k, candidates_.end(), is_likelier);
    candidates_.resize(sampling_.top_k);
  }
  // All are needed in order only if some of them are omitted by their probabilities.
  if (some || sampling_.top_p < 1 || sampling_.min_p > 0)
    std::ranges::sort(candidates_, is_likelier);
  else
    std::iter_swap(candidates_.begin(), std::ranges::min_element(candidates_, is_likelier));
  const auto best = static_cast<double>(candidates_.front().first);
  weights_.clear();
  double total = 0;
  for (const auto& [logit, token] : candidates_) {
    weights_.push_back(std::exp((static_cast<double>(logit) - best) / static_cast<double>(sampling_.temperature)));
    total += weights_.back();
  }
  const auto keep = [&](std::size_t count) {
    total = 0;
    for (std::size_t i = 0; i < count; ++i) total += weights_[i];
    weights_.resize(count);
  };
  if (sampling_.top_p < 1) {
    double reached = 0;
    std::size_t kept = 0;
    while (kept < weights_.size() && reached < static_cast<double>(sampling_.top_p) * total)
      reached += weights_[kept++];
    keep(kept);
  }
  // The weight of the best is 1.
  if (sampling_.min_p > 0)
    keep(static_cast<std::size_t>(
        std::ranges::find_if(weights_, [&](double weight) { return weight < static_cast<double>(sampling_.min_p); }) -
        weights_.begin()));
  state_ += SplitMix64::kStep;
  double left = static_cast<double>(SplitMix64::mixed(state_) >> 11) * 0x1p-53 * total;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    left -= weights_[i];
    if (left < 0) return candidates_[i].second;
  }
  return candidates_[weights_.size() - 1].second;
}

std::string_view name_of(End end) {
  switch (end) {
    case End::count: return "count";
    case End::stop: return "stop";
    case End::positions: return "positions";
    case End::asked: return "asked";
  }
  return "";
}

Generated generate(Session& session, std::span<const std::int32_t> tokens, const GenerateOptions& options) {
  Sampler sampler(options.sampling);
  Generated made;
  if (options.count == 0) return made;
  std::span<const float> logits = session.feed(tokens);
  for (;;) {
    check_stop();
    const std::int32_t token = sampler.next(logits);
    if (std::ranges::find(options.stops, token) != options.stops.end()) {
      made.end = End::stop;
      return made;
    }
    made.tokens.push_back(token);
    if (options.on_token && !options.on_token(token)) {
      made.end = End::asked;
      return made;
    }
    if (made.tokens.size() == options.count) return made;
    if (session.room() == 0) {
      made.end = End::positions;
      return made;
    }
    logits = session.feed(std::span(made.tokens).last(1));
  }
}

namespace {

// A session for these tokens and `more`, unless the model cannot take them.
Session session_for(const Scorer& scorer, std::span<const std::int32_t> tokens, std::uint64_t more,
                    SessionOptions options) {
  check_tokens(scorer.inner().plan, tokens, 1, {});  // their number is checked below
  std::uint64_t most = options.positions == 0 ? tokens.size() + more : options.positions;
  if (scorer.context() != 0) most = std::min(most, scorer.context());
  if (tokens.size() > most)
    throw Error(ErrorKind::usage, "run.context",
                fmt::format("the start has {} tokens; there are {} positions", tokens.size(), most));
  options.positions = most;
  return Session(scorer, options);
}

}  // namespace

Generated generate(const Scorer& scorer, std::span<const std::int32_t> tokens, const GenerateOptions& options,
                   SessionOptions session) {
  static_cast<void>(Sampler(options.sampling));  // checked before weights are read
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  Session made = session_for(scorer, tokens, std::min(options.count, kMost), session);
  return generate(made, tokens, options);
}

std::vector<float> next_logits(const Scorer& scorer, std::span<const std::int32_t> tokens, SessionOptions session) {
  Session made = session_for(scorer, tokens, 0, session);
  const std::span<const float> logits = made.feed(tokens);
  return {logits.begin(), logits.end()};
}

}  // namespace tare::run
