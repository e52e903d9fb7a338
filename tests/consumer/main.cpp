// A program outside the tree: writes a model and opens it again.
#include <tare/tare.hpp>

#include <cstdio>

int main() {
  tare::Model model;
  model.tensors.push_back(tare::dense("w", {2, 3}, tare::DType::u8, tare::Blob::memory(tare::Bytes(6))));
  tare::MemorySink sink;
  static_cast<void>(tare::save(model, sink, {.to = "zt"}));
  const tare::Model again = tare::open(tare::memory_source(sink.take()));
  std::printf("tare %s: %s\n", tare::version().data(), again.tensors.at(0).shape.text().c_str());
}
