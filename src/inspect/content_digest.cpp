// The content digest: a digest of digests, so that components can be hashed on different cores.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "codecs/packs/stored.hpp"
#include "inspect/pull.hpp"
#include "tare/inspect.hpp"

namespace tare {
namespace {

struct Line {
  const Tensor* tensor;
  const Component* component;  // null: the line of the tensor's attributes
  std::string hex;

  std::uint64_t bytes() const { return component == nullptr ? 0 : component->blob.size(); }
};

// In the order of the digest: tensors sorted by the bytes of their names; in each its attributes first, then its
// components sorted by the bytes of their roles.
std::vector<Line> lines_of(const Model& model) {
  std::vector<const Tensor*> tensors;
  tensors.reserve(model.tensors.size());
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  std::stable_sort(tensors.begin(), tensors.end(), [](auto* a, auto* b) { return a->name < b->name; });

  std::vector<Line> lines;
  lines.reserve(tensors.size());
  for (const Tensor* tensor : tensors) {
    if (!tensor->is_dense()) lines.push_back({tensor, nullptr, {}});
    const std::size_t first = lines.size();
    for (const Component& component : tensor->components) lines.push_back({tensor, &component, {}});
    std::stable_sort(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(),
                     [](const Line& a, const Line& b) { return a.component->role < b.component->role; });
  }
  return lines;
}

std::string sha256_of(const Blob& blob, Progress* progress) {
  Hasher hasher(DigestAlgorithm::sha256);
  inspect::pull(blob, 0, blob.size(), [&](std::span<const std::byte> bytes) {
    hasher.update(bytes);
    if (progress != nullptr) progress->advance(bytes.size());
  });
  return hasher.finish().hex();
}

void hash_all(std::vector<Line>& lines, unsigned threads, Progress* progress) {
  // Largest first: otherwise the largest could start last, when the other cores are already idle.
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lines[a].bytes() > lines[b].bytes(); });
  parallel_for(order.size(), threads, [&](std::size_t i) {
    Line& line = lines[order[i]];
    if (line.component == nullptr) return;
    try {
      line.hex = sha256_of(line.component->blob, progress);
    } catch (Error& error) {
      error.about("tensor " + quote(line.tensor->name));
      throw;
    }
  });
}

// Layouts, roles and types are arbitrary text, as names are; they are escaped so that they cannot forge a line.
std::string text_of(const Line& line) {
  const Tensor& tensor = *line.tensor;
  std::string text = one_line(tensor.name) + '\t' + one_line(tensor.layout) + '\t' + tensor.shape.text() + '\t';
  if (line.component == nullptr) {
    // All components have been produced by now, so all attributes are free.
    const Map attributes = tensor.complete_attributes();
    return attributes.empty() ? std::string() : text + "@\t" + to_json(attributes, JsonKeys::sorted) + '\n';
  }
  const Component& component = *line.component;
  text += one_line(component.role) + '\t';
  text += name_of(component.dtype);
  return text + '\t' + (component.type.empty() ? "-" : one_line(component.type)) + '\t' + line.hex + '\n';
}

}  // namespace

std::string content_digest(const Model& given, const Work& work) {
  const StopScope stop(work);
  given.refuse_broken();
  const codec::packs::StoredForm model(given);  // equal for all containers, whichever of them name layouts
  std::vector<Line> lines = lines_of(*model);
  hash_all(lines, work.threads, work.progress);
  given.check_sources();

  Hasher hasher(DigestAlgorithm::sha256);
  for (const Line& line : lines) hasher.update(text_of(line));
  return "tare1:" + hasher.finish().hex();
}

}  // namespace tare
