// The arithmetic of a Tiny Llama, for every SIMD instruction set.
//
// Every sum over the inputs of a product adds one input after the other, each with one multiply-add: so a product has
// the same bits however its columns are divided among threads, and however many matrix rows are multiplied at once.
#pragma once

#include <cstddef>

namespace tiny_llama {

// y = x W, for several rows of x at once.
struct Product {
  const float* x = nullptr;  // [rows][inner]
  std::size_t rows = 0, inner = 0;
  const float* w = nullptr;  // [inner][columns]; may be unaligned
  std::size_t columns = 0;
  float* y = nullptr;  // [rows][columns]
  const float* bias = nullptr;
  bool onto = false;  // add to y instead of replacing it
  bool gelu = false;  // then apply gelu (tanh form) to y
};

// Floats of scratch that `multiply` needs.
inline constexpr std::size_t kMultiplyScratch = std::size_t{256} * 128;

// Computes columns [first, last) of the product. `scratch` must be aligned to a cache line.
void multiply(const Product& product, std::size_t first, std::size_t last, float* scratch);

// out = (x - mean) / sqrt(variance + 1e-5) * weight + bias.
void layer_norm(const float* x, const float* weight, const float* bias, std::size_t size, float* out);

// out = a + b.
void add(const float* a, const float* b, std::size_t size, float* out);

// One head of one token: out = softmax(q k^T / sqrt(head)) v over `positions` rows of k and v, each `stride` apart.
struct Attention {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  std::size_t head = 0, stride = 0, positions = 0;
  float* out = nullptr;
};
// `scores`: scratch for `positions` floats.
void attend(const Attention& job, float* scores);

}  // namespace tiny_llama
