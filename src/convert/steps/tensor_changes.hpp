// What was done to tensors, with one entry for all tensors to which the same was done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tare/convert.hpp"

namespace tare {

class TensorChanges {
 public:
  // `change` has no items; `name` becomes one.
  void add(Change change, const std::string& name) {
    const Key key(change.kind, change.before, change.after, change.count, change.detail);
    const auto [found, is_new] = places_.emplace(key, all_.size());
    if (is_new) all_.push_back(std::move(change));
    all_[found->second].items.push_back(name);
  }
  // Whether a tensor has another type now.
  bool any_type() const {
    return std::ranges::any_of(all_, [](const Change& change) {
      return change.kind == ChangeKind::quantized || change.kind == ChangeKind::cast ||
             change.kind == ChangeKind::decoded || change.kind == ChangeKind::widened;
    });
  }
  std::vector<Change> take() { return std::move(all_); }

 private:
  using Key = std::tuple<ChangeKind, std::string, std::string, std::uint64_t, std::string>;

  std::map<Key, std::size_t> places_;
  std::vector<Change> all_;
};

}  // namespace tare
