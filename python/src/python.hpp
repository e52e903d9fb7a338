// The base of every file of the extension: Python's stable ABI, owned references, and the translation of C++ exceptions
// to Python's.
//
// Every function here needs the GIL unless its comment states otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "gil.hpp"
#include "tare/error.hpp"

namespace tare::py {

// Thrown after a Python exception has been set.
struct PythonError {};

// An owned reference, or null.
class Ref {
 public:
  Ref() = default;
  // Takes ownership of a new reference. Null means that a Python exception is set, and throws.
  static Ref take(PyObject* object) {
    if (object == nullptr) throw PythonError();
    return Ref(object);
  }
  static Ref share(PyObject* object) { return take(Py_NewRef(object)); }
  Ref(const Ref& other) : object_(Py_XNewRef(other.object_)) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { drop(object_); }

  PyObject* get() const { return object_; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Throws if the result is -1, which means that a Python exception is set.
inline int checked(int result) {
  if (result < 0) throw PythonError();
  return result;
}

// Whether an object's type is `type` or derived from it. Ignores __class__, which mocks override, because the answer
// decides whether the object's memory is accessed as that type.
inline bool is_of(PyObject* object, PyTypeObject* type) { return PyType_IsSubtype(Py_TYPE(object), type) != 0; }
inline bool is_of(PyObject* object, const Ref& type) {
  return is_of(object, reinterpret_cast<PyTypeObject*>(type.get()));
}

[[noreturn]] void raise_type_error(const std::string& sentence);
[[noreturn]] void raise_value_error(const std::string& sentence);

// Raises an Error in Python, as an exception of tare._errors.
void set_error(const Error& error);

// Runs a function that returns a new reference or a number, and turns anything it throws into a Python exception. If
// Python ends this thread in a call that does not go through gil.hpp, the thread is parked here, after the function's
// objects have been dropped.
template <typename Result, typename Function>
Result guarded(Result failed, Function function) noexcept {
  try {
    return entered(function);
  } catch (const PythonError&) {  // NOLINT(bugprone-empty-catch): Python knows
  } catch (const Error& error) {
    set_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}
template <typename Function>
PyObject* guarded(Function function) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return function().release(); });
}

// The bytes of an object, which are pinned during the lifetime of the view.
class View {
 public:
  View(PyObject* object, bool writable) {
    checked(take_buffer(object, &view_, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE));
  }
  ~View() { release_buffer(&view_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

// Names are decoded as UTF-8; other bytes become surrogates, as in Python's file names.
Ref text(std::string_view bytes);
std::string text_of(PyObject* object, const char* what);
// A file system path from a str or an object with __fspath__. Bytes are not accepted, because functions that take both
// treat bytes as the content of a file.
std::string path_of(PyObject* object);

Ref number(std::uint64_t value);
Ref number(std::int64_t value);
Ref real(double value);
Ref boolean(bool value);
Ref none();
Ref bytes(std::span<const std::byte> data);

// A dict under construction.
class Dict {
 public:
  Dict() : dict_(Ref::take(PyDict_New())) {}
  Dict& set(const char* key, const Ref& value) {
    checked(PyDict_SetItemString(dict_.get(), key, value.get()));
    return *this;
  }
  Dict& set(std::string_view key, const Ref& value) {
    checked(set_item(dict_.get(), text(key).get(), value.get()));
    return *this;
  }
  Ref done() { return std::move(dict_); }

 private:
  Ref dict_;
};

// Lists and tuples from Python code. Python's own functions report anything else as an internal error (SystemError);
// these raise TypeError.
inline Py_ssize_t length_of_list(PyObject* list) {
  if (list == nullptr || !PyList_Check(list)) raise_type_error("expected a list");
  return PyList_Size(list);
}
inline Py_ssize_t length_of_tuple(PyObject* tuple) {
  if (tuple == nullptr || !PyTuple_Check(tuple)) raise_type_error("expected a tuple");
  return PyTuple_Size(tuple);
}
inline PyObject* item_of_tuple(PyObject* tuple, Py_ssize_t index) {
  if (length_of_tuple(tuple) <= index) raise_type_error("expected a longer tuple");
  return PyTuple_GetItem(tuple, index);
}

// A list of the results of `make` for each item.
template <typename Items, typename Make>
Ref list_of(const Items& items, Make make) {
  Ref list = Ref::take(PyList_New(0));
  for (const auto& item : items) checked(PyList_Append(list.get(), make(item).get()));
  return list;
}

// Objects that the Python half provides when it is imported, for C++ to create or call.
struct Half {
  Ref ndarray;  // numpy.ndarray
  Ref error;    // creates an exception from the fields of an Error
  Ref dtype;    // returns the NumPy type for a storage type and a logical type
  Ref tensor;   // the class of tensors
  Ref opaque;   // the class of values that only one syntax can express
};
// Filled by setup(); never freed.
Half& half();

}  // namespace tare::py
