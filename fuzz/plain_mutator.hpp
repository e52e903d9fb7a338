// LLVMFuzzerMutate for programs without libFuzzer.
#pragma once

#include <span>
#include <vector>

#include "random.hpp"

namespace tare::fuzz {

using Input = std::vector<std::uint8_t>;

// What it takes pieces of other inputs from; they must stay where they are.
void set_plain_mutator(std::uint64_t seed, std::span<const Input> inputs);

}  // namespace tare::fuzz
