// The tensors of a model by their roles, as the weights of a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/names.hpp"
#include "base/name_map.hpp"
#include "run/plan.hpp"
#include "tare/model.hpp"

namespace tare::run {

// Rows [first, first + rows) of a matrix.
Weight part_of(const Weight& whole, std::uint64_t first, std::uint64_t rows);

// Rows of a matrix that has them in equal groups: of each of `groups` groups of `step` rows, `count` rows from `first` on.
struct RowGroups {
  std::uint64_t groups = 1, step = 0, first = 0, count = 0;
};
// The same of a bias, which has an element for each row.
Projection rows_of(const Projection& whole, const RowGroups& rows);

// Finds tensors by role, and remembers what is wrong with them.
class Tensors {
 public:
  // `stored`: the same tensors with the names that the file has for them. Both must outlive this.
  Tensors(const Model& model, const std::vector<Tensor>& stored, const arch::Family& family);

  bool has_names() const { return root_.has_value(); }
  // Whether the family has such a tensor.
  bool knows(arch::Role role) const;
  bool exists(arch::TensorName name) const;
  // Whether a directory has such tensors with this step undone.
  bool has_step(arch::Role role, arch::Verb verb) const;

  // `shape`: slowest dimension first; a vector has one.
  Weight take(arch::TensorName name, std::vector<std::uint64_t> shape);
  // A tensor with this many elements, in any shape.
  Weight take_vector(arch::TensorName name, std::uint64_t size);
  // False if the family has no such norm.
  Weight take_norm(arch::Role role, std::optional<std::uint32_t> layer, std::uint64_t size);
  Weight take_bias(arch::Role role, std::optional<std::uint32_t> layer, std::uint64_t size);
  // With the bias of the same name, if there is to be one. The family may have such matrices as [inputs][outputs].
  Projection take_projection(arch::TensorName name, std::uint64_t rows, std::uint64_t columns, bool biased);
  // The experts of a layer, whichever way they are stored. `rows`: of the gate of one.
  std::vector<FeedForward> take_experts(std::uint32_t layer, std::uint64_t count, std::uint64_t rows,
                                        std::uint64_t hidden);

  // Throws corrupt `run.tensors`.
  void require_complete() const;

 private:
  // Two matrices in one: the rows of the first, then those of the second, or in turns.
  struct Pair {
    std::uint64_t rows = 0;  // in each
    bool dealt = false;

    std::uint64_t row(std::uint64_t which, std::uint64_t i) const { return dealt ? 2 * i + which : which * rows + i; }
    std::uint64_t step() const { return dealt ? 2 : 1; }
  };

  std::optional<std::string> spelled(arch::TensorName name) const;
  Weight weight_of(const Tensor& tensor, const std::string& called, const std::vector<std::uint64_t>& shape);
  bool is_turned(arch::Role role) const;
  // From a file that has them another way than a directory has.
  const Tensor* stored(arch::Role role, std::uint32_t layer) const;
  Weight take_stored(arch::Role role, arch::Role whole, std::uint32_t layer, std::vector<std::uint64_t> shape);
  std::vector<FeedForward> take_stored_experts(std::uint32_t layer, std::uint64_t count, std::uint64_t rows,
                                               std::uint64_t hidden);
  std::vector<FeedForward> take_joined_experts(std::uint32_t layer, std::uint64_t count, std::uint64_t rows,
                                               std::uint64_t hidden);

  const arch::Family& family_;
  NameViewMap<const Tensor*> tensors_, stored_;
  std::optional<arch::Root> root_;
  std::vector<std::string> missing_, misshapen_;
};

}  // namespace tare::run
