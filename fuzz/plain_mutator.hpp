// LLVMFuzzerMutate for programs without libFuzzer.
#pragma once

#include <span>
#include <vector>

#include "random.hpp"

namespace tare::fuzz {

using Input = std::vector<std::uint8_t>;

// `inputs`: other inputs, from which it takes pieces; they must not move.
void set_plain_mutator(std::uint64_t seed, std::span<const Input> inputs);

}  // namespace tare::fuzz
