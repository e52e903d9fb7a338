// An open model and its tensors as Python objects.
#pragma once

#include <memory>

#include "python.hpp"
#include "tare/model.hpp"

namespace tare::py {

void add_model_type(PyObject* module);
void add_tensor_type(PyObject* module);

// A model as it was opened. Throws ValueError (tare.ClosedError) for one that has been closed.
std::shared_ptr<const Model> model_of(PyObject* object);
bool is_model(PyObject* object);
// Gives an object of the class that is not open yet a model to show.
void show_model(PyObject* object, Model model);
// The same with its vocabulary, which `open` leaves out: read when it is asked for. Releases the GIL.
std::shared_ptr<const Model> complete_model_of(PyObject* object);

// The class of `like` if there is one, else half().tensor. The tensor keeps its bytes alive by itself.
Ref make_tensor(Tensor tensor, std::shared_ptr<const Model> model, PyObject* like = nullptr);
const Tensor& tensor_of(PyObject* object);
bool is_tensor(PyObject* object);

// A NumPy array over a tensor's elements, without a copy; none where that cannot be (compressed, quantized, misaligned, not
// mapped) or where the type is not known to NumPy yet.
Ref view_array(const Tensor& tensor);
// The same in memory that may be changed without changing the file.
Ref private_array(const Tensor& tensor);

}  // namespace tare::py
