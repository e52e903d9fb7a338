// The example of the Tiny Llama document as a program outside the tree: document_example.inc is exactly what is printed
// there.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tiny_llama/model.hpp"

static void example() {
#include "document_example.inc"
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
  } catch (const FileIOException& error) {
    std::printf("llama: %s\n", error.what());
  }
  std::remove("model_weights.bin");
  std::remove("again.bin");
}
