// An open model and its tensors as Python objects.
#pragma once

#include <memory>

#include "python.hpp"
#include "tare/model.hpp"

namespace tare::py {

void add_model_type(PyObject* module);
void add_tensor_type(PyObject* module);

// The model of an open object. Throws ValueError (tare.ClosedError) if it is closed.
std::shared_ptr<const Model> model_of(PyObject* object);
bool is_model(PyObject* object);
// Sets the model of an object that is not open yet.
void show_model(PyObject* object, Model model);
// The same, including the vocabulary, which `open` does not read. Releases the GIL.
std::shared_ptr<const Model> complete_model_of(PyObject* object);

// The class is that of `like`, if given, otherwise half().tensor. The tensor itself keeps its bytes alive.
Ref make_tensor(Tensor tensor, std::shared_ptr<const Model> model, PyObject* like = nullptr);
const Tensor& tensor_of(PyObject* object);
bool is_tensor(PyObject* object);

// A NumPy array over a tensor's elements, without a copy. Empty if that is impossible (compressed, quantized,
// misaligned or not mapped), or if NumPy does not know the type yet.
Ref view_array(const Tensor& tensor);
// The same, in memory that can be changed without changing the file.
Ref private_array(const Tensor& tensor);

}  // namespace tare::py
