// Verb::negate_exp: what a state keeps of itself per step. Hugging Face has the logarithm of the rate; GGUF's runtime needs the
// rate itself, below zero.
#include <fmt/format.h>

#include <cmath>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/plain_float.hpp"

namespace tare::gguf::llama_cpp {
namespace {

float rate_of(float logarithm) { return static_cast<float>(-std::exp(double{logarithm})); }
float logarithm_of(float rate) { return static_cast<float>(std::log(-double{rate})); }

}  // namespace

Tensor negate_exp(Tensor tensor) {
  if (!is_plain_float(tensor) || !fits(tensor, DType::f32))
    throw unmapped(fmt::format("{}: expected logarithms that f32 can hold", quote(tensor.name)));
  return changed_numbers(std::move(tensor), rate_of, logarithm_of);
}

Tensor undo_negate_exp(Tensor tensor) {
  if (!is_plain_float(tensor)) return tensor;
  return restored_numbers(std::move(tensor), rate_of, logarithm_of);
}

}  // namespace tare::gguf::llama_cpp
