#include "run/room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace tare::run {
namespace {

// What is allowed per byte of the files. Weights of two bits in rows of a thousand need less for the states of 512 tokens,
// even in a single layer without a token table; real models need a small part of it.
constexpr std::uint64_t kPerByte = 8;
// What is allowed in addition, for any file.
constexpr std::uint64_t kPiece = std::uint64_t{16} << 20, kLogits = std::uint64_t{4} << 20,
                        kHeadBytes = std::uint64_t{64} << 10, kHeads = 256;
constexpr std::uint64_t kBytesPerHead = 256;  // a small head whose weights take two bits each
constexpr std::uint64_t kUsualPiece = 512;    // tokens
constexpr std::uint64_t kLeastBatch = std::uint64_t{32} << 20;

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) { return checked_mul(a, b).value_or(UINT64_MAX); }

std::uint64_t allowed(std::uint64_t anyway, std::uint64_t per_byte, const Plan& plan) {
  return checked_add(anyway, saturating_product(per_byte, plan.file_bytes)).value_or(UINT64_MAX);
}

Error too_much(const std::string& sentence, const Plan& plan) {
  return Error(ErrorKind::limit, "run.memory",
               fmt::format("{} for a model that takes {} bytes", sentence, count_text(plan.file_bytes)))
      .about("config.json")
      .blame(Subject::input);
}

void require(std::uint64_t needed, std::uint64_t most, std::string_view what, const Plan& plan) {
  if (needed > most)
    throw too_much(
        fmt::format("{} would take {} bytes; expected at most {}", what, count_text(needed), count_text(most)), plan);
}

// The queries, keys and values of a token in one layer.
std::uint64_t heads_of(const Plan& plan) { return plan.queries() + plan.keys() + plan.values(); }

}  // namespace

std::uint64_t bytes_per_token(const Plan& plan) {
  const std::uint64_t latent = plan.latent == 0 ? 0 : plan.compressed() + plan.query_latent + plan.expanded(),
                      attention = heads_of(plan) + latent + (plan.head != plan.value_head ? plan.answers() : 0),
                      dense = 2 * plan.intermediate, rows = std::max(plan.expert_rows, plan.shared_rows);
  const StateSizes& state = plan.state;
  // Queries, keys, values, gates, steps and shares, and the results.
  const std::uint64_t states =
      state.key == 0 ? 4 * state.values() : 2 * state.keys() + 3 * state.values() + 2 * state.value_heads;
  const Routing& routing = plan.routing;
  const std::uint64_t experts = routing.used == 0 ? 0 : 2 * plan.hidden + 2 * rows + routing.experts + 2 * routing.used;
  // If attention and network run side by side, attention's input and result are kept while the network runs.
  const std::uint64_t beside = plan.parallel ? 2 * plan.hidden : 0,
                      gates = plan.layers_have_gates() ? plan.answers() : 0;
  return sizeof(float) * (3 * plan.hidden + beside + std::max({attention + gates, states, dense, experts}));
}

std::uint64_t bytes_per_compared_token(const Plan& plan) {
  return bytes_per_token(plan) + sizeof(float) * 4 * plan.hidden;
}

void require_room(const Plan& plan) {
  require(saturating_product(kUsualPiece, bytes_per_token(plan)), allowed(kPiece, kPerByte, plan),
          fmt::format("{} tokens", kUsualPiece), plan);
  require(saturating_product(kPanel * sizeof(float), plan.vocabulary), allowed(kLogits, kPerByte, plan),
          fmt::format("the logits of {} tokens", kPanel), plan);
  require(saturating_product(plan.layers.size(), sizeof(float) * heads_of(plan)), allowed(kHeadBytes, 1, plan),
          "the heads of a token in all layers", plan);
  const StateSizes& state = plan.state;
  require(saturating_product(plan.layers.size(), saturating_product(sizeof(float) * state.value_heads,
                                                                    saturating_product(state.key, state.value))),
          allowed(kPiece, kPerByte, plan), "the states of all layers", plan);
  require(saturating_product(plan.layers.size(), saturating_product(sizeof(float) * state.kernel, state.channels())),
          allowed(kPiece, kPerByte, plan), "what the convolutions of all layers see", plan);
  const std::uint64_t count = saturating_product(plan.layers.size(), plan.heads),
                      most = kHeads + plan.file_bytes / kBytesPerHead;
  if (count > most)
    throw too_much(fmt::format("all layers have {} heads; expected at most {}", count_text(count), count_text(most)),
                   plan);
}

Room room_of(const Options& options, const Plan& plan, const Plan* other) {
  constexpr std::uint64_t kMostLogits = std::uint64_t{256} << 20;
  std::uint64_t most = allowed(kPiece, kPerByte, plan), logits = allowed(kLogits, kPerByte, plan);
  if (other != nullptr) {
    most = std::max(most, allowed(kPiece, kPerByte, *other));
    logits = std::max(logits, allowed(kLogits, kPerByte, *other));
  }
  const std::uint64_t all = std::min(options.memory, most);
  // A batch gets a quarter, because a layer needs other buffers, too. If memory is small it gets up to a half: each batch
  // reads all weights again, so batches should not be tiny.
  return {.batch = std::min(all / 2, std::max(all / 4, kLeastBatch)),
          .states = all / 2,
          .logits = std::min(kMostLogits, logits)};
}

std::size_t panels_at_once(const Room& room, std::uint64_t vocabulary, std::size_t models) {
  return static_cast<std::size_t>(
      std::max<std::uint64_t>(1, room.logits / (vocabulary * models * kPanel * sizeof(float))));
}

}  // namespace tare::run
