// An open model and its tensors as Python objects.
#pragma once

#include <memory>

#include "base/once.hpp"
#include "python.hpp"
#include "tare/model.hpp"

namespace tare::py {

void add_model_type(PyObject* module);
void add_tensor_type(PyObject* module);

// The model of an open object. Throws ValueError (tare.ClosedError) if it is closed.
std::shared_ptr<const Model> model_of(PyObject* object);
bool is_model(PyObject* object);
// Sets the model of an object that is not open yet. `verify`: see Verified.
void show_model(PyObject* object, Model model, bool verify);
// Whether the model was opened with verify=True.
bool is_verified(PyObject* object);
// The same, including the vocabulary, which `open` does not read. Releases the GIL.
std::shared_ptr<const Model> complete_model_of(PyObject* object);

// The tensors of a model that was opened with verify=True: their stored bytes are compared with their digests before
// any of them is handed out, once for each tensor.
class Verified {
 public:
  explicit Verified(std::shared_ptr<const Model> model)
      : model_(std::move(model)), once_(std::make_unique<Once[]>(model_->tensors.size())) {}
  // Throws `digest.mismatch`. Needs no GIL.
  void require(std::size_t index) {
    const Tensor& tensor = model_->tensors[index];
    once_[index].run([&] {
      try {
        for (const Component& component : tensor.components) component.blob.verify();
      } catch (Error& error) {
        throw error.about(tensor.name);
      }
    });
  }

 private:
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Once[]> once_;
};

// A tensor of a model that was opened with verify=True, and all that is made from it; null: of another model.
struct Origin {
  std::shared_ptr<Verified> verified = nullptr;
  std::size_t index = 0;
};

// An object of the class half().tensor. The tensor itself keeps its bytes alive.
Ref make_tensor(Tensor tensor, std::shared_ptr<const Model> model, Origin origin);
const Tensor& tensor_of(PyObject* object);
bool is_tensor(PyObject* object);

// A NumPy array over a tensor's elements, without a copy. Empty if that is impossible (compressed, quantized,
// misaligned or not mapped), or if NumPy does not know the type yet.
Ref view_array(const Tensor& tensor);
// The same, in memory that can be changed without changing the file.
Ref private_array(const Tensor& tensor);

}  // namespace tare::py
