// Saves a model, opens it again and checks its numbers.
#include <tare/tare.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

int main() try {
  tare::Model model;
  model.tensors.push_back(tare::dense("w", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  const tare::Saved saved = tare::save(model, "consumer.zt", {.overwrite = true});
  const tare::Model again = tare::open("consumer.zt");
  const tare::Tensor& w = *again.tensor("w");
  std::printf("%s: %zu numbers, the last is %d", saved.to.c_str(), w.span<float>().size(), w.values<int>().back());
  try {
    (void)tare::save(model, "consumer.zt");
  } catch (const tare::Error& error) {
    std::printf(", %s\n", error.rule().c_str());
  }
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
