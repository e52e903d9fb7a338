// Tensors that containers store as several arrays. In a Model such a tensor is joined: it has the name and shape of the
// weights, its components are the arrays, and the attribute `arrays` has their names, shapes and positions.
//
// Joined tensors never reach a container. `open` joins; the writers of the table of formats, `adapt` and
// `content_digest` take the stored form, so that their callers need not know about it. `tools/layers.py` lists
// the files that may ask for the stored form.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tare/model.hpp"

namespace tare::codec::packs {

// Whether a tensor is a joined one, which can be separated.
bool is_joined(const Tensor& tensor);
bool has_joined(const Model& model);

// An array of a joined tensor, and its index among the tensors of the file.
struct PlacedArray {
  Tensor array;
  std::uint64_t at;
};
// In the order of the file. Nothing if the tensor is not a joined one.
std::optional<std::vector<PlacedArray>> placed_arrays(const Tensor& tensor);
// The arrays of one joined tensor; none for any other.
std::vector<Tensor> arrays_of(const Tensor& tensor);

// Replaces the joined tensors by their arrays, with their original names, shapes and order.
void separate(Model& model);

// A model in the form that containers store: separated if it has joined tensors, and otherwise the model itself, which
// must outlive this.
class StoredForm {
 public:
  explicit StoredForm(const Model& model);
  StoredForm(Model&&) = delete;
  const Model& operator*() const { return separated_ ? *separated_ : given_; }
  const Model* operator->() const { return &**this; }

 private:
  const Model& given_;
  std::optional<Model> separated_;
};

}  // namespace tare::codec::packs
