#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>

#include "buffer.hpp"
#include "model.hpp"
#include "model/dtype_option.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/inspect.hpp"
#include "tare/slice.hpp"
#include "values.hpp"

namespace tare::py {
namespace {

struct TensorObject {
  PyObject_HEAD Tensor tensor;
  std::shared_ptr<const Model> model;  // its files are checked after the work; may be null
  Origin origin;
  std::shared_ptr<const Tensor> dense;  // see dense_of; protected by the GIL
};

PyTypeObject* tensor_type = nullptr;

TensorObject& self_of_tensor(PyObject* object) { return *reinterpret_cast<TensorObject*>(object); }

Ref allocate_tensor(PyTypeObject* type, Tensor tensor, std::shared_ptr<const Model> model, Origin origin) {
  Ref object = Ref::take(PyType_GenericAlloc(type, 0));
  TensorObject& self = self_of_tensor(object.get());
  std::construct_at(&self.tensor, std::move(tensor));
  std::construct_at(&self.model, std::move(model));
  std::construct_at(&self.origin, std::move(origin));
  std::construct_at(&self.dense);
  return object;
}

void dealloc_tensor(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  TensorObject& self = self_of_tensor(object);
  std::destroy_at(&self.tensor);
  std::destroy_at(&self.model);
  std::destroy_at(&self.origin);
  std::destroy_at(&self.dense);
  const auto free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(object);
  drop(reinterpret_cast<PyObject*>(type));
}

// Call before bytes are handed out that nothing else compares with their digest.
void require_verified(const TensorObject& self) {
  if (self.origin.verified == nullptr) return;
  const Unlocked others;
  self.origin.verified->require(self.origin.index);
}

// The tensor as a dense one, which is decoded when it is read. Made once, because a decoder may keep what it learned
// from the data (the order of sparse entries), and a loop may ask for one row after another.
const Tensor& dense_of(TensorObject& self) {
  if (self.tensor.is_dense()) return self.tensor;
  if (self.dense == nullptr) self.dense = std::make_shared<const Tensor>(to_dense(self.tensor));
  return *self.dense;
}

// A tensor that is made from another one.
Ref derived(PyObject* object, Tensor tensor) {
  const TensorObject& self = self_of_tensor(object);
  PyTypeObject* const type = Py_TYPE(object);
  return allocate_tensor(type, std::move(tensor), self.model, self.origin);
}

void check_sources(const TensorObject& self) {
  if (self.model != nullptr) self.model->check_sources();
}

// The NumPy type of a component. Cached, because the Python half has to look for ml_dtypes.
PyObject* numpy_type(const Component& component) {
  static std::atomic<PyObject*> storage_types[kAllDTypes.size()];
  const auto storage = static_cast<std::size_t>(component.dtype);
  if (component.type.empty()) {
    if (PyObject* const known = storage_types[storage].load(std::memory_order_acquire)) return known;
    Ref made = Ref::take(call(half().dtype.get(), text(name_of(component.dtype)).get(), text("").get()));
    PyObject* expected = nullptr;
    if (!storage_types[storage].compare_exchange_strong(expected, made.get())) return expected;
    return made.release();
  }
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<DType, std::string>, PyObject*>;
  const std::pair key(component.dtype, component.type);
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  Ref made = Ref::take(call(half().dtype.get(), text(name_of(component.dtype)).get(), text(component.type).get()));
  const std::scoped_lock lock(mutex);
  const auto [found, inserted] = known.emplace(key, made.get());
  if (inserted) static_cast<void>(made.release());
  return found->second;
}

Ref shape_tuple(const Shape& shape) {
  Ref tuple = Ref::take(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i)
    checked(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), number(shape[i]).release()));
  return tuple;
}

// Bytes per element of this component.
std::size_t item_bytes(const Component& component) {
  const LogicalType* const logical = component.type.empty() ? nullptr : find_logical_type(component.type);
  return size_of(component.dtype) * (logical == nullptr ? 1 : logical->per_element);
}

const Component& component_of(const Tensor& tensor, PyObject* role) {
  const std::string name = text_of(role, "a role");
  if (const Component* const found = tensor.component(name)) return *found;
  PyErr_SetObject(PyExc_KeyError, role);
  throw PythonError();
}

PyObject* get_name(PyObject* object, void*) {
  return guarded([&] { return text(self_of_tensor(object).tensor.name); });
}
PyObject* get_shape(PyObject* object, void*) {
  return guarded([&] { return shape_tuple(self_of_tensor(object).tensor.shape); });
}
PyObject* get_layout(PyObject* object, void*) {
  return guarded([&] { return text(self_of_tensor(object).tensor.layout); });
}
PyObject* get_type(PyObject* object, void*) {
  return guarded([&] { return text(dtype_name(self_of_tensor(object).tensor)); });
}
PyObject* get_nbytes(PyObject* object, void*) {
  return guarded([&] { return number(self_of_tensor(object).tensor.bytes()); });
}
PyObject* get_stored(PyObject* object, void*) {
  return guarded([&] { return number(self_of_tensor(object).tensor.stored_bytes()); });
}
PyObject* get_attributes(PyObject* object, void*) {
  return guarded([&] { return from_map(self_of_tensor(object).tensor.attributes); });
}

Ref component_facts(const Component& component) {
  const Blob& blob = component.blob;
  Dict facts;
  facts.set("role", text(component.role))
      .set("dtype", text(name_of(component.dtype)))
      .set("type", component.type.empty() ? none() : text(component.type))
      .set("file", blob.source() == nullptr ? none() : text(blob.source()->name()))
      .set("offset", blob.source() == nullptr ? none() : number(blob.offset()))
      .set("bytes", number(blob.size()))
      .set("stored_bytes", number(blob.stored_size()))
      .set("encoding", text(name_of(blob.encoding())))
      .set("digest", blob.digest() ? text(blob.digest().text()) : none());
  return facts.done();
}

PyObject* get_components(PyObject* object, void*) {
  return guarded([&] { return list_of(self_of_tensor(object).tensor.components, component_facts); });
}

// _dtype(role): the NumPy type of a component.
PyObject* numpy_type_of(PyObject* object, PyObject* role) {
  return guarded([&] { return Ref::share(numpy_type(component_of(self_of_tensor(object).tensor, role))); });
}

PyObject* view_of(PyObject* object, PyObject*) {
  return guarded([&] {
    const TensorObject& self = self_of_tensor(object);
    Ref array = view_array(self.tensor);
    if (array) require_verified(self);
    return array ? array : none();
  });
}

// _decode(): the tensor as a dense one.
PyObject* decode(PyObject* object, PyObject*) {
  return guarded([&] { return derived(object, dense_of(self_of_tensor(object))); });
}

PyObject* cast_to(PyObject* object, PyObject* args) {
  return guarded([&] {
    const char *type = nullptr, *overflow = nullptr;
    if (parse_tuple(args, "ss", &type, &overflow) == 0) throw PythonError();
    const std::optional<DType> to = parse_dtype_option(type);
    if (!to) raise_value_error(no_such_type(type));
    const std::string_view what = overflow;
    if (what != "error" && what != "clamp" && what != "infinity")
      raise_value_error("overflow must be \"error\", \"clamp\" or \"infinity\"");
    const Overflow rule = what == "clamp"      ? Overflow::clamp
                          : what == "infinity" ? Overflow::infinity
                                               : Overflow::refuse;
    return derived(object, cast(dense_of(self_of_tensor(object)), *to, rule));
  });
}

std::optional<std::int64_t> bound_of(PyObject* object) {
  if (object == Py_None) return std::nullopt;
  const Ref index = Ref::take(as_index(object));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) return overflow > 0 ? INT64_MAX : INT64_MIN;  // out of range for any tensor; clamped as in Python
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

// _slice([(kind, start, stop, step), ...]) with kind "index", "range", "ellipsis" or "new".
PyObject* slice_of(PyObject* object, PyObject* items) {
  return guarded([&] {
    SliceSpec spec;
    const Py_ssize_t size = length_of_list(items);
    for (Py_ssize_t i = 0; i < size; ++i) {
      const char* kind = nullptr;
      PyObject *start = nullptr, *stop = nullptr, *step = nullptr;
      if (parse_tuple(PyList_GetItem(items, i), "sOOO", &kind, &start, &stop, &step) == 0) throw PythonError();
      const std::string_view word = kind;
      SliceItem item;
      item.kind = word == "index"      ? SliceItem::Kind::index
                  : word == "ellipsis" ? SliceItem::Kind::ellipsis
                  : word == "new"      ? SliceItem::Kind::new_axis
                                       : SliceItem::Kind::range;
      item.start = bound_of(start);
      item.stop = bound_of(stop);
      item.step = bound_of(step);
      spec.push_back(item);
    }
    return derived(object, slice(dense_of(self_of_tensor(object)), spec));
  });
}

// _read(role, out): fills `out` with all bytes of a component.
PyObject* read_into(PyObject* object, PyObject* args) {
  return guarded([&] {
    PyObject *role = nullptr, *out = nullptr;
    unsigned threads = 0;
    if (parse_tuple(args, "OO|I", &role, &out, &threads) == 0) throw PythonError();
    const TensorObject& self = self_of_tensor(object);
    const Component& component = component_of(self.tensor, role);
    const View view(out, true);
    if (view.bytes().size() != component.blob.size())
      raise_value_error("the buffer has " + std::to_string(view.bytes().size()) + " bytes, the component " +
                        std::to_string(component.blob.size()));
    require_verified(self);
    {
      const Unlocked others;
      component.blob.read_all(view.bytes(), threads);
      check_sources(self);
    }
    return none();
  });
}

// _bytes(role): the decoded bytes of a component, without a copy if possible.
PyObject* bytes_of(PyObject* object, PyObject* role) {
  return guarded([&] {
    const TensorObject& self = self_of_tensor(object);
    const Component& component = component_of(self.tensor, role);
    require_verified(self);
    if (const auto view = component.blob.unchecked().view())
      return make_buffer(*view, std::make_shared<Blob>(component.blob));
    auto made = std::make_shared<Bytes>();
    {
      const Unlocked others;
      *made = component.blob.bytes();
      check_sources(self);
    }
    return make_buffer(*made, made);
  });
}

// verify(): compares the stored bytes with their digests.
PyObject* verify_tensor(PyObject* object, PyObject*) {
  return guarded([&] {
    const TensorObject& self = self_of_tensor(object);
    {
      const Unlocked others;
      try {
        for (const Component& component : self.tensor.components) component.blob.verify();
      } catch (Error& error) {
        throw error.about(self.tensor.name);
      }
      check_sources(self);
    }
    return none();
  });
}

// Whether the file stores the elements as an array does.
bool is_plain_array(const Tensor& tensor) {
  if (std::endian::native != std::endian::little || tensor.components.size() != 1 || !tensor.is_dense()) return false;
  const Component& component = tensor.components[0];
  const Blob& blob = component.blob;
  if (!blob.is_plain() || blob.source() == nullptr || blob.size() == 0) return false;
  const auto elements = tensor.shape.elements();
  return elements && *elements * item_bytes(component) == blob.size();
}

Ref array_over(const Tensor& tensor, const Ref& buffer) {
  return Ref::take(
      call(half().ndarray.get(), shape_tuple(tensor.shape).get(), numpy_type(tensor.components[0]), buffer.get()));
}

// Complex numbers are aligned like their parts.
bool is_aligned(const Component& component, const std::byte* place) {
  return reinterpret_cast<std::uintptr_t>(place) % size_of(component.dtype) == 0;
}

Ref private_bytes(const Tensor& tensor) {
  if (!is_plain_array(tensor)) return {};
  const Blob& blob = tensor.components[0].blob;
  // The file is mapped at a page boundary, so the offset decides the alignment.
  if (blob.offset() % size_of(tensor.components[0].dtype) != 0 || !blob.unchecked().view()) return {};
  return make_private_buffer(blob.source(), blob.offset(), blob.size());
}

// _private(): the bytes of a dense tensor in memory that can be written without changing the file; None if the file
// does not store them uncompressed and in array form.
PyObject* private_of(PyObject* object, PyObject*) {
  return guarded([&] {
    const TensorObject& self = self_of_tensor(object);
    Ref buffer = private_bytes(self.tensor);
    if (buffer) require_verified(self);
    return buffer ? buffer : none();
  });
}

Ref statistics_dict(const Statistics& found) {
  const auto counts = [](std::uint64_t count) { return number(count); };
  Dict facts;
  facts.set("count", number(found.count)).set("nan", number(found.nan)).set("inf", number(found.inf));
  facts.set("zeros", number(found.zeros));
  facts.set("min", found.whole ? from_value(found.whole->min) : real(found.min));
  facts.set("max", found.whole ? from_value(found.whole->max) : real(found.max));
  facts.set("mean", real(found.mean)).set("std", real(found.std));
  facts.set("first", found.whole ? list_of(found.whole->first, from_value) : list_of(found.first, real));
  facts.set("low", real(found.min)).set("high", real(found.max));
  facts.set("histogram", list_of(found.histogram, counts));
  if (found.inner) {
    facts.set("inner_low", real(found.inner->low)).set("inner_high", real(found.inner->high));
    facts.set("inner", list_of(found.inner->histogram, counts));
  }
  return facts.done();
}

PyObject* statistics_of(PyObject* object, PyObject* args) {
  return guarded([&] {
    unsigned bins = 0, first = 0, threads = 0;
    if (parse_tuple(args, "II|I", &bins, &first, &threads) == 0) throw PythonError();
    const TensorObject& self = self_of_tensor(object);
    Statistics found;
    require_verified(self);
    {
      const Unlocked others;
      found = statistics(self.tensor, bins, first, {.threads = threads});
      check_sources(self);
    }
    return statistics_dict(found);
  });
}

PyMethodDef tensor_methods[] = {{"_dtype", numpy_type_of, METH_O, nullptr},
                                {"_view", view_of, METH_NOARGS, nullptr},
                                {"_decode", decode, METH_NOARGS, nullptr},
                                {"_cast", cast_to, METH_VARARGS, nullptr},
                                {"_slice", slice_of, METH_O, nullptr},
                                {"_read", read_into, METH_VARARGS, nullptr},
                                {"_bytes", bytes_of, METH_O, nullptr},
                                {"_verify", verify_tensor, METH_NOARGS, nullptr},
                                {"_private", private_of, METH_NOARGS, nullptr},
                                {"_statistics", statistics_of, METH_VARARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

PyGetSetDef tensor_facts[] = {
    {"name", get_name, nullptr, "the name", nullptr},
    {"shape", get_shape, nullptr, "the dimensions", nullptr},
    {"layout", get_layout, nullptr, "how the elements are stored: 'dense', 'mcf.k4', ...", nullptr},
    {"type", get_type, nullptr, "the type as `tare ls` shows it: 'bf16', 'mcf.k4', ...", nullptr},
    {"nbytes", get_nbytes, nullptr, "bytes of all components, decompressed", nullptr},
    {"stored_bytes", get_stored, nullptr, "bytes in the file", nullptr},
    {"attributes", get_attributes, nullptr, "named values of this tensor", nullptr},
    {"components", get_components, nullptr, "the runs of bytes that it consists of", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

Ref view_array(const Tensor& tensor) {
  if (!is_plain_array(tensor)) return {};
  const Component& component = tensor.components[0];
  const auto view = component.blob.unchecked().view();
  if (!view || !is_aligned(component, view->data())) return {};
  return array_over(tensor, make_buffer(*view, component.blob.source()));
}

Ref private_array(const Tensor& tensor) {
  const Ref buffer = private_bytes(tensor);
  return buffer ? array_over(tensor, buffer) : Ref();
}

void add_tensor_type(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc_tensor)},
                                {Py_tp_methods, tensor_methods},
                                {Py_tp_getset, tensor_facts},
                                {Py_tp_doc, const_cast<char*>("A tensor whose bytes have not been read.")},
                                {0, nullptr}};
  static PyType_Spec spec = {"tare._tare.Tensor", sizeof(TensorObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  tensor_type = reinterpret_cast<PyTypeObject*>(Ref::take(PyType_FromSpec(&spec)).release());
  checked(PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type)));
}

Ref make_tensor(Tensor tensor, std::shared_ptr<const Model> model, Origin origin) {
  return allocate_tensor(reinterpret_cast<PyTypeObject*>(half().tensor.get()), std::move(tensor), std::move(model),
                         std::move(origin));
}

bool is_tensor(PyObject* object) { return is_of(object, tensor_type); }

const Tensor& tensor_of(PyObject* object) {
  if (!is_tensor(object)) raise_type_error("expected a tensor of tare");
  return self_of_tensor(object).tensor;
}

}  // namespace tare::py
