// Checks the entries of a header against the data, and turns them into tensors as they are parsed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/safetensors/safetensors.hpp"

namespace tare::safetensors {

class Placer {
 public:
  // `data`: the file offset of the data, which is the end of the header.
  Placer(const SourcePtr& source, std::uint64_t data, Diagnostics& diagnostics, std::size_t max_rank = Limits().rank)
      : source_(source), data_(data), room_(source->size() - data), diagnostics_(diagnostics), max_rank_(max_rank) {}

  std::size_t max_rank() const { return max_rank_; }

  // Adds a new tensor, for the caller to set its shape; `at` is the file offset of its entry. `finish` or `drop` must
  // follow.
  Tensor& begin(std::string_view name, std::uint64_t at) {
    if (tensors_.size() == tensors_.capacity()) make_room(at);
    Tensor& tensor = tensors_.emplace_back();
    tensor.name = name;
    entries_.push_back({0, 0, nullptr, at});
    return tensor;
  }
  // Sets the type and the place of the tensor's bytes, relative to the data.
  void finish(const HeaderType& type, std::uint64_t begin, std::uint64_t end);
  // Marks the tensor as broken. Its bytes still belong to no other tensor.
  void drop(Error error, std::uint64_t begin, std::uint64_t end);
  // Whether every tensor so far is valid and starts at the end of the previous one.
  bool sound() const { return deferred_ == 0; }
  bool complete() const { return sound() && end_ == room_; }

  // Returns the tensors in the order of their data, after reporting all errors.
  std::vector<Tensor> take();
  // Returns the broken tensors; called after `take`.
  std::vector<BrokenTensor> take_broken() { return std::move(broken_); }

 private:
  struct Entry {
    std::uint64_t begin, end;  // relative to the data
    const HeaderType* type;    // null: dropped
    std::uint64_t at;          // file offset of the entry, for errors
  };

  void make_room(std::uint64_t at);
  bool fits_its_shape(const Tensor& tensor, const Entry& entry) const;
  void place(Tensor& tensor, const Entry& entry);
  bool sort();
  Error about(std::size_t i, std::string_view rule, const std::string& sentence) const;
  void report(std::size_t i, std::string_view rule, const std::string& sentence);
  bool follows(std::size_t i, std::uint64_t end);
  bool has_its_size(std::size_t i);
  void check_length(std::uint64_t end);
  void note_unaligned(const std::vector<Tensor>& tensors);
  std::vector<Tensor> sorted(const std::vector<bool>& sound);

  const SourcePtr& source_;
  std::uint64_t data_, room_;
  Diagnostics& diagnostics_;
  std::size_t max_rank_;
  std::vector<Tensor> tensors_;
  std::vector<Entry> entries_;        // entries of the tensors in `tensors_`
  std::vector<std::uint32_t> order_;  // sorted by begin and end
  std::uint64_t end_ = 0;             // the end of the last tensor, while all are in order
  std::size_t deferred_ = 0;          // number of tensors that `take` must check
  std::vector<BrokenTensor> broken_;
};

}  // namespace tare::safetensors
