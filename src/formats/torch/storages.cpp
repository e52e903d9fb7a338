// Storages, and the views of them that tensors are.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "formats/torch/torch.hpp"
#include "model/sliced_blob.hpp"

namespace tare::torch {
namespace {

Error bad_view(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

SlicePlan plan_of(const View& view, std::uint64_t elements) {
  SlicePlan plan;
  plan.shape = view.shape;
  plan.elements = elements;
  plan.first = view.offset;
  InlineVector<SliceAxis, 4> axes;
  for (std::size_t i = 0; i < view.shape.size(); ++i)
    if (view.shape[i] != 1) axes.push_back({view.shape[i], static_cast<std::int64_t>(view.strides[i])});
  arrange(plan, axes);
  return plan;
}

// Returns the number of a key that PyTorch chose ("0", "1", ...); nothing for other keys.
std::optional<std::size_t> number_of_key(std::string_view key, std::size_t most) {
  std::size_t number = 0;
  if (key.empty() || key.size() > 9 || (key[0] == '0' && key.size() > 1)) return std::nullopt;
  for (const char digit : key) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<std::size_t>(digit - '0');
  }
  return number < most ? std::optional(number) : std::nullopt;
}

}  // namespace

void Storages::reserve(std::size_t count) {
  stored_.reserve(count);
  numbers_.resize(count);
}

void Storages::add(std::string_view key, Blob blob) {
  if (place_of(key)) return;
  if (const auto number = number_of_key(key, numbers_.size()))
    numbers_[*number] = static_cast<std::uint32_t>(stored_.size() + 1);
  else
    names_.emplace(key, stored_.size());
  stored_.push_back({std::move(blob)});
}

std::optional<std::size_t> Storages::place_of(std::string_view key) const {
  if (const auto number = number_of_key(key, numbers_.size()); number && numbers_[*number] != 0)
    return numbers_[*number] - 1;
  const auto found = names_.find(key);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

Storage* Storages::find(std::string_view key) {
  const auto place = place_of(key);
  if (!place) return nullptr;
  stored_[*place].used = true;
  return &stored_[*place];
}

std::size_t Storages::unused() const {
  return static_cast<std::size_t>(std::ranges::count(stored_, false, &Storage::used));
}

Blob viewed(const Storage& stored, std::uint64_t width, const View& view, const Limits& limits) {
  const Blob& storage = stored.blob;
  const std::uint64_t held = storage.size() / width;
  const auto elements = view.shape.elements();
  const auto bytes = elements ? checked_mul(*elements, width) : std::nullopt;
  if (!bytes)
    throw bad_view("torch.tensor.size",
                   fmt::format("a tensor {} has more bytes than 64 bits count", view.shape.text()));
  if (*bytes == 0) return Blob::memory({});
  // Computes the last element; strides are not negative.
  std::optional<std::uint64_t> last = view.offset;
  for (std::size_t i = 0; i < view.shape.size() && last; ++i) {
    const auto reach = checked_mul(view.shape[i] - 1, view.strides[i]);
    last = reach ? checked_add(*last, *reach) : std::nullopt;
  }
  if (!last || *last >= held)
    throw bad_view("torch.tensor.bounds",
                   fmt::format("offset {}, sizes {} and strides reach element {}, the storage has {}", view.offset,
                               view.shape.text(), last ? fmt::to_string(*last) : "2^64", held));
  SlicePlan plan = plan_of(view, *elements);
  if (*bytes > storage.size() && *bytes > limits.component_bytes)
    throw Error(ErrorKind::limit, "torch.tensor.expanded",
                fmt::format("{} bytes of storage stand for {}, at most {} allowed", storage.size(), *bytes,
                            limits.component_bytes));
  const bool whole = plan.run == plan.elements;
  if (whole && storage.is_plain())
    return Blob::range(storage.source(), storage.offset() + view.offset * width, *bytes).guarded(storage.guard());
  if (whole && *bytes == storage.size()) return storage;
  return sliced_blob(storage, std::move(plan), width);
}

}  // namespace tare::torch
