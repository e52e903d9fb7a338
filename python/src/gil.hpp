// Rules for the GIL: releasing it, taking it back, and calling Python functions that may do either.
//
// Once Python is finalizing, only the finalizing thread may run Python. Any other thread that requests the GIL never
// gets it: Python 3.14 and later block it forever, older versions end it with pthread_exit, which unwinds its stack.
// Our stacks must not be unwound there: a destructor that throws ends the process, and destructors that free Python
// objects would do so without the GIL. Therefore, in every version, such a thread blocks forever (`park`), and its
// stack stays until the process ends.
//
// Many Python functions release the GIL internally. Those that can run Python code, and all that take or release the
// GIL, are called in this file only (tools/gil_calls.py).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <climits>
#include <exception>
#include <memory>
#include <type_traits>

namespace tare::py {

// Blocks until the process ends.
[[noreturn]] void park() noexcept;

// Whether Python is finalizing. Needs no GIL.
bool is_finalizing() noexcept;

// Its destructor distinguishes a thread that Python is ending from a C++ exception, and parks the thread in the first
// case.
class ParkIfEnded {
 public:
  ParkIfEnded() = default;
  ~ParkIfEnded() {
    if (!left_ && std::uncaught_exceptions() == exceptions_) park();
  }
  ParkIfEnded(const ParkIfEnded&) = delete;
  ParkIfEnded& operator=(const ParkIfEnded&) = delete;
  void leave() { left_ = true; }

 private:
  int exceptions_ = std::uncaught_exceptions();
  bool left_ = false;
};

// Runs a function that calls into Python. If Python ends this thread inside it, the thread is parked here. (A `catch`
// cannot do this: inside a handler of another exception, it would end the process.)
template <typename Function>
decltype(auto) entered(Function&& function) {
  ParkIfEnded park_if_ended;
  if constexpr (std::is_void_v<decltype(function())>) {
    function();
    park_if_ended.leave();
  } else {
    decltype(auto) result = function();
    park_if_ended.leave();
    return result;
  }
}

// ---- Python functions that may run Python code: finalizers, properties, methods of arbitrary objects ----
//
// They return what Python's functions return: a new reference or null; -1 on error.

template <typename... Arguments>
PyObject* call(PyObject* callable, Arguments*... arguments) {
  return entered([&] { return PyObject_CallFunctionObjArgs(callable, arguments..., nullptr); });
}
// `format` describes the arguments, as in Py_BuildValue.
template <typename... Arguments>
PyObject* call_method(PyObject* object, const char* name, const char* format, Arguments*... arguments) {
  return entered([&] { return PyObject_CallMethod(object, name, format, arguments...); });
}
inline PyObject* attribute(PyObject* object, const char* name) {
  return entered([&] { return PyObject_GetAttrString(object, name); });
}
inline bool has_attribute(PyObject* object, const char* name) {
  return entered([&] { return PyObject_HasAttrString(object, name); }) != 0;
}
inline int is_true(PyObject* object) {
  return entered([&] { return PyObject_IsTrue(object); });
}
inline PyObject* as_index(PyObject* object) {
  return entered([&] { return PyNumber_Index(object); });
}
inline double as_double(PyObject* object) {
  return entered([&] { return PyFloat_AsDouble(object); });
}
inline PyObject* as_list(PyObject* object) {
  return entered([&] { return PySequence_List(object); });
}
inline PyObject* iterator_of(PyObject* object) {
  return entered([&] { return PyObject_GetIter(object); });
}
inline PyObject* item_of(PyObject* object, Py_ssize_t index) {
  return entered([&] { return PySequence_GetItem(object, index); });
}
// Returns 0 on error.
inline int path_bytes(PyObject* object, PyObject** encoded) {
  return entered([&] { return PyUnicode_FSConverter(object, encoded); });
}
inline int set_item(PyObject* dict, PyObject* key, PyObject* value) {
  return entered([&] { return PyDict_SetItem(dict, key, value); });
}
// Also for subclasses of dict.
inline int set_mapped(PyObject* mapping, PyObject* key, PyObject* value) {
  return entered([&] { return PyObject_SetItem(mapping, key, value); });
}
inline int add_member(PyObject* set, PyObject* item) {
  return entered([&] { return PySet_Add(set, item); });
}
inline int take_buffer(PyObject* object, Py_buffer* view, int flags) {
  return entered([&] { return PyObject_GetBuffer(object, view, flags); });
}
inline void release_buffer(Py_buffer* view) {
  entered([&] { PyBuffer_Release(view); });
}
// Returns 0, with a ValueError, if a number does not fit into the unsigned type of its unit (I, k, K): PyArg_ParseTuple
// would take the number modulo 2^32 or 2^64. `format` has only units of one letter.
inline int check_unsigned(PyObject* tuple, const char* format) {
  const Py_ssize_t size = PyTuple_Size(tuple);
  for (Py_ssize_t item = 0; *format != '\0' && item < size; ++format) {
    if (*format == '|') continue;
    PyObject* const object = PyTuple_GetItem(tuple, item++);
    if (*format != 'I' && *format != 'k' && *format != 'K') continue;
    const unsigned long long most = *format == 'I' ? UINT_MAX : *format == 'k' ? ULONG_MAX : ULLONG_MAX;
    PyObject* const whole = PyNumber_Index(object);
    if (whole == nullptr) return 0;
    const unsigned long long value = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    if (PyErr_Occurred() == nullptr && value <= most) continue;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "a number is out of range: it must be between 0 and %llu", most);
    return 0;
  }
  return 1;
}
// Parses the items of a tuple as PyArg_ParseTuple does, which runs __index__, __float__ and __bool__ and reports a
// non-tuple as an internal error. Returns 0 on error.
template <typename... Places>
int parse_tuple(PyObject* tuple, const char* format, Places*... places) {
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "expected a tuple");
    return 0;
  }
  return entered([&] { return check_unsigned(tuple, format) != 0 && PyArg_ParseTuple(tuple, format, places...) != 0; });
}
inline int check_signals() {
  return entered([] { return PyErr_CheckSignals(); });
}
// Drops a reference; accepts null.
inline void drop(PyObject* object) {
  entered([&] { Py_XDECREF(object); });
}

// ---- the GIL ----

// Releases the GIL for its lifetime.
class Unlocked {
 public:
  // A thread that holds the GIL while Python is finalizing is the finalizing thread.
  Unlocked() noexcept : ends_python_(is_finalizing()) { release(); }
  ~Unlocked() { reacquire(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  // Takes the GIL back while one function runs.
  template <typename Function>
  decltype(auto) locked(const Function& function) {
    reacquire();
    const Again again{*this};
    return entered(function);
  }

 private:
  struct Again {
    Unlocked& unlocked;
    ~Again() { unlocked.release(); }
  };
  void reacquire() noexcept;
  void release() noexcept;

  bool ends_python_;
  PyThreadState* state_ = nullptr;
};

// Frees what holds Python objects, in whatever thread this is called. A thread that Python does not know only leaves
// the object for the next of Python's threads that comes by (`free_left_objects`): it must not ask for the GIL, because
// Python may begin to finalize between its last look and PyGILState_Ensure, which then crashes.
void free_with_gil(void* object, void (*free)(void*)) noexcept;
template <typename Object>
void free_with_gil(std::unique_ptr<Object> object) noexcept {
  free_with_gil(object.release(), [](void* left) { delete static_cast<Object*>(left); });
}

// Frees the objects that other threads left. Needs the GIL.
void free_left_objects() noexcept;

}  // namespace tare::py
