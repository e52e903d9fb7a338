// What every file of the extension stands on: Python's stable ABI, references that are owned, and the way from the
// exceptions of C++ to those of Python.
//
// Every function here is called with the GIL held unless it says otherwise.
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

// Thrown where Python has been told already what is wrong.
struct PythonError {};

// An owned reference, or none.
class Ref {
 public:
  Ref() = default;
  // Takes over a new reference. Null is an exception that Python knows of.
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

// -1 is an exception that Python knows of.
inline int checked(int result) {
  if (result < 0) throw PythonError();
  return result;
}

// Whether an object is of a type, or of one derived from it. What its __class__ says does not count (mocks have one of another
// type): this decides whether its memory is read as that type's.
inline bool is_of(PyObject* object, PyTypeObject* type) { return PyType_IsSubtype(Py_TYPE(object), type) != 0; }
inline bool is_of(PyObject* object, const Ref& type) {
  return is_of(object, reinterpret_cast<PyTypeObject*>(type.get()));
}

[[noreturn]] void raise_type_error(const std::string& sentence);
[[noreturn]] void raise_value_error(const std::string& sentence);

// Tells Python of an Error, as an exception of tare._errors.
void set_error(const Error& error);

// Runs a function that returns a new reference, or a number; whatever it throws is told to Python. If Python ends this
// thread in a call that is not one of gil.hpp's, the thread waits here; what the function held has been dropped by then.
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

// The bytes of an object, which keeps them where they are meanwhile.
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

// Names are text where they are UTF-8; other bytes are kept as surrogates, as Python does for file names.
Ref text(std::string_view bytes);
std::string text_of(PyObject* object, const char* what);
// A path as the system knows it, from a str or anything with __fspath__. Not from bytes, which are the content of a file wherever
// both are taken.
std::string path_of(PyObject* object);

Ref number(std::uint64_t value);
Ref number(std::int64_t value);
Ref real(double value);
Ref boolean(bool value);
Ref none();
Ref bytes(std::span<const std::byte> data);

// A dict in the making.
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

// A list of what `make` gives for each item.
template <typename Items, typename Make>
Ref list_of(const Items& items, Make make) {
  Ref list = Ref::take(PyList_New(0));
  for (const auto& item : items) checked(PyList_Append(list.get(), make(item).get()));
  return list;
}

// What the Python half hands over when it is imported: things that C++ makes or calls.
struct Half {
  Ref ndarray;  // numpy.ndarray
  Ref error;    // makes an exception of the facts of an Error
  Ref dtype;    // the NumPy type for a storage type and a logical type
  Ref tensor;   // the class of tensors
  Ref opaque;   // the class of values that only a syntax knows
};
// Filled by setup(); never freed.
Half& half();

}  // namespace tare::py
