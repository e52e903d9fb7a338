// What a program outside the tree looks like.
#include <tare/tare.hpp>

#include <cstdio>

int main() {
  const tare::Tensor tensor = tare::dense("w", {2, 3}, tare::DType::u8, tare::Blob::memory(tare::Bytes(6)));
  std::printf("tare %s: %s\n", tare::version().data(), tensor.shape.text().c_str());
}
