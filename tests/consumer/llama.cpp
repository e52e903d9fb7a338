// The example of the Tiny Llama document, as a program outside the tree has it.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

// --- the document's
#include "tiny_llama/model.hpp"
using tiny_llama::TinyLlamaModel;

static void example() {
  // Create and save model weights
  TinyLlamaModel model;
  model.save_model_weights("model_weights.bin");

  // Load weights into a new model
  TinyLlamaModel loaded_model;
  loaded_model.load_model_weights("model_weights.bin");
  // --- so far
  loaded_model.save_model_weights("again.bin");
}

static std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int main() {
  try {
    example();
    if (content("model_weights.bin") != content("again.bin")) return 1;
    TinyLlamaModel({.model_dim = 64}).load_model_weights("model_weights.bin");
    return 2;
  } catch (const tiny_llama::FileIOException& error) {
    std::printf("llama: %s\n", error.what());
  }
  std::remove("model_weights.bin");
  std::remove("again.bin");
}
