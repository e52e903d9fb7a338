#include "codecs/packs/join.hpp"

#include <fmt/format.h>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "tare/error.hpp"

namespace tare::codec::packs {
namespace {

void report(const Problem& problem, const Tensor& codes, const std::string& file, Diagnostics& diagnostics) {
  const Error about =
      Error(ErrorKind::corrupt, problem.rule, fmt::format("{}; the set is left as plain arrays", problem.sentence))
          .in(file)
          .about("tensor " + quote(codes.name));
  if (diagnostics.thorough())
    diagnostics.error(about);
  else
    diagnostics.warning(about);
}

// Collects variants that are not decoded. Reports each reason once, because models have hundreds of layers.
class Variants {
 public:
  Variants(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void add(const Problem& problem, const std::string& codes) {
    const auto [place, is_new] = places_.emplace(problem.sentence, all_.size());
    if (is_new) all_.push_back({problem.sentence, codes, 0});
    ++all_[place->second].count;
  }

  void tell() const {
    for (const Variant& variant : all_) {
      const std::string more = variant.count == 1 ? "" : fmt::format(" ({} such in all)", variant.count);
      diagnostics_.note(Error(ErrorKind::unsupported, "pack.variant",
                              fmt::format("{}; not decoded, left as plain arrays{}", variant.sentence, more))
                            .in(file_)
                            .about("tensor " + quote(variant.codes)));
    }
  }

 private:
  struct Variant {
    std::string sentence, codes;
    std::size_t count;
  };

  const std::string& file_;
  Diagnostics& diagnostics_;
  std::vector<Variant> all_;
  NameMap<std::size_t> places_;  // by sentence; a map, because a file can have a different reason per tensor
};

void report(const Found& found, const Model& model, const std::string& file, Diagnostics& diagnostics) {
  Variants variants(file, diagnostics);
  for (const FoundSet& set : found.sets) {
    if (!set.refused) continue;
    const Tensor& codes = model.tensors[set.codes];
    if (set.refused->severity == Severity::note)
      variants.add(*set.refused, codes.name);
    else
      report(*set.refused, codes, file, diagnostics);
  }
  for (const Orphan& orphan : found.orphans) report(orphan.problem, model.tensors[orphan.index], file, diagnostics);
  for (const std::string& guess : found.guesses)
    diagnostics.warning(Error(ErrorKind::unsupported, "pack.guess", guess).in(file));
  for (const std::size_t index : found.unnamed)
    variants.add({"pack.variant", found.why_unnamed}, model.tensors[index].name);
  variants.tell();
}

// A joined tensor takes the place of its codes.
void join_found(Model& model, Found& found) {
  std::vector<Tensor*> joined(model.tensors.size());
  std::vector<bool> taken(model.tensors.size());
  for (FoundSet& set : found.sets) {
    if (!set.joined) continue;
    joined[set.codes] = &*set.joined;
    for (const std::size_t index : set.arrays) taken[index] = true;
  }
  if (std::ranges::find(taken, true) == taken.end()) return;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    if (joined[i] != nullptr) tensors.push_back(std::move(*joined[i]));
    if (!taken[i]) tensors.push_back(std::move(model.tensors[i]));
  }
  model.tensors = std::move(tensors);
}

// Joins these arrays as `open` would with this config.
Model joined_again(std::vector<Tensor> arrays, Stated stated) {
  Model model;
  model.tensors = std::move(arrays);
  Found found = find_sets(model, std::move(stated));
  join_found(model, found);
  return model;
}

Map attributes_of(const Tensor& tensor) {
  Map attributes = tensor.attributes;
  attributes.erase(kArrays);
  return attributes;
}

bool are_same(const Tensor& a, const Tensor& b) {
  return a.layout == b.layout && a.shape == b.shape && attributes_of(a) == attributes_of(b);
}

// "gptq4 of 64x64 with {"zero_offset":1}", for a message.
std::string described(const Tensor& tensor) {
  const Map attributes = attributes_of(tensor);
  return fmt::format("{} of {}{}", tensor.layout, tensor.shape.text(),
                     attributes.empty() ? "" : fmt::format(" with {}", quote(to_json(Value(attributes)))));
}

}  // namespace

void join_packs(Model& model, Stated stated, const std::string& file, Diagnostics& diagnostics) {
  Found found = find_sets(model, std::move(stated));
  report(found, model, file, diagnostics);
  join_found(model, found);
}

bool describes_itself(const Tensor& tensor) {
  const Model alone = joined_again(arrays_of(tensor), {});
  return alone.tensors.size() == 1 && are_same(alone.tensors.front(), tensor);
}

void expect_joined_again(const Model& model, Stated stated) {
  std::vector<Tensor> all;
  for (const Tensor& tensor : model.tensors)
    for (Tensor& array : arrays_of(tensor)) all.push_back(std::move(array));
  const Model again = joined_again(std::move(all), std::move(stated));
  const TensorIndex found(again);
  for (const Tensor& tensor : model.tensors) {
    const auto arrays = placed_arrays(tensor);
    if (!arrays) continue;
    const auto refused = [&](const std::string& sentence) {
      return Error(ErrorKind::usage, "pack.changed", sentence).about("tensor " + quote(tensor.name));
    };
    const Tensor* const joined = found.tensor(tensor.name);
    if (joined == nullptr || !is_joined(*joined))
      throw refused(
          fmt::format("packed weights are stored as their arrays ({}, ...), which make no tensor of this name; "
                      "decode it to rename it",
                      quote(arrays->front().array.name)));
    if (are_same(*joined, tensor)) continue;
    throw refused(
        fmt::format("packed weights are stored as their arrays, which would be read as {}, not as {}: keep what says "
                    "how they were packed (quantization_config), and decode them to change them",
                    described(*joined), described(tensor)));
  }
}

void expect_joined_as(const Model& before, const Model& after) {
  const TensorIndex found(after);
  for (const Tensor& tensor : before.tensors) {
    if (!is_joined(tensor)) continue;  // an array may find the rest of its set
    const Tensor* const now = found.tensor(tensor.name);
    if (now != nullptr && are_same(*now, tensor)) continue;
    throw Error(
        ErrorKind::usage, "pack.changed",
        fmt::format("expected {}, found {}: what one file says about the way its weights are packed "
                    "(quantization_config) holds for all of them; first decode those that are packed in another "
                    "way",
                    described(tensor), now == nullptr ? "no tensor of this name" : described(*now)))
        .about("tensor " + quote(tensor.name));
  }
}

}  // namespace tare::codec::packs
