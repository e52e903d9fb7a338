// How much memory a run may take, given the size of the model's files.
//
// A few kilobytes can state wide rows: zeros that are compressed, sparse tensors, codes that many tensors share. `open`
// bounds what the weights decode to (Limits::expansion); the states of a text have other sizes, and are bounded here.
#pragma once

#include <cstdint>

#include "run/plan.hpp"
#include "tare/run.hpp"

namespace tare::run {

// The bytes that each token takes in Executor::run_layer().
std::uint64_t bytes_per_token(const Plan& plan);
// Likewise, with the copies of its hidden states that a comparison has.
std::uint64_t bytes_per_compared_token(const Plan& plan);

// Throws limit `run.memory` if a piece of the usual length, the logits of a panel, or the keys, values and queries of a
// token in all layers take far more than they can for honest weights in as many bytes, or if there are far more heads.
void require_room(const Plan& plan);

struct Room {
  std::uint64_t batch = 0;   // for what runs side by side, unless a single piece takes more
  std::uint64_t states = 0;  // for the hidden states between two layers
  std::uint64_t logits = 0;
};
// Takes as much of Options::memory as the bytes of the files allow. `other`: the second model of a comparison.
Room room_of(const Options& options, const Plan& plan, const Plan* other = nullptr);

// How many panels of logits are made together. `models`: how many sets of logits there are.
std::size_t panels_at_once(const Room& room, std::uint64_t vocabulary, std::size_t models);

}  // namespace tare::run
