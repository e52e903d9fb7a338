// Who may run Python: giving the GIL up, taking it back, and calling what may do either.
//
// Once Python is ending, only the thread that ends it may run. Any other thread that asks for the GIL never gets it: Python
// 3.14 and later let it wait forever, older ones end it with pthread_exit, which unwinds its stack. Our stacks must not be
// unwound there: a destructor that lets an exception out ends the process, and those that free Python's objects would do so
// without the GIL. So here a thread waits forever in every version (`park`); its stack stays as it is until the process ends.
//
// Python gives up the GIL inside many of its functions. Those that can run Python code, and all that take or release the
// GIL, are called in this file only (tools/gil_calls.py).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <type_traits>

namespace tare::py {

// Waits until the process ends.
[[noreturn]] void park() noexcept;

// Whether Python is ending. Without the GIL, too.
bool is_finalizing() noexcept;

// In its destructor, tells a thread that Python is ending from one that an exception of C++ passes through.
class Stay {
 public:
  Stay() = default;
  ~Stay() {
    if (!left_ && std::uncaught_exceptions() == exceptions_) park();
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;
  void leave() { left_ = true; }

 private:
  int exceptions_ = std::uncaught_exceptions();
  bool left_ = false;
};

// Runs a function that calls into Python. If Python ends this thread in there, the thread waits here instead. (No `catch` for
// that: inside of a handler of another exception it would end the process.)
template <typename Function>
decltype(auto) entered(Function&& function) {
  Stay stay;
  if constexpr (std::is_void_v<decltype(function())>) {
    function();
    stay.leave();
  } else {
    decltype(auto) result = function();
    stay.leave();
    return result;
  }
}

// ---- Python's functions that may run Python code: finalizers, properties, methods of whatever object it is ----
//
// They return what Python's return: a new reference or null, -1 for an error.

template <typename... Arguments>
PyObject* call(PyObject* callable, Arguments*... arguments) {
  return entered([&] { return PyObject_CallFunctionObjArgs(callable, arguments..., nullptr); });
}
// `format`: as of Py_BuildValue, for the arguments.
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
// 0 for an error.
inline int path_bytes(PyObject* object, PyObject** encoded) {
  return entered([&] { return PyUnicode_FSConverter(object, encoded); });
}
inline int set_item(PyObject* dict, PyObject* key, PyObject* value) {
  return entered([&] { return PyDict_SetItem(dict, key, value); });
}
// Of a subclass of dict, too.
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
// The items of a tuple, as of PyArg_ParseTuple, which runs __index__, __float__ and __bool__ and takes a caller's list for an
// error of the interpreter. 0 for an error.
template <typename... Places>
int parse_tuple(PyObject* tuple, const char* format, Places*... places) {
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "expected a tuple");
    return 0;
  }
  return entered([&] { return PyArg_ParseTuple(tuple, format, places...); });
}
inline int check_signals() {
  return entered([] { return PyErr_CheckSignals(); });
}
// Drops a reference; null is none.
inline void drop(PyObject* object) {
  entered([&] { Py_XDECREF(object); });
}

// ---- the GIL ----

// Other Python threads run while one of these lives.
class Unlocked {
 public:
  // Whoever has the GIL although Python is ending is the thread that ends it.
  Unlocked() noexcept : ends_python_(is_finalizing()) { release(); }
  ~Unlocked() { reacquire(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  // Takes the GIL back for the time of one function.
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

// Holds the GIL, in a thread that may have it already, that may have given it up, or that Python does not know.
class Locked {
 public:
  Locked() noexcept;
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  // False if Python is ending, or gone, and does not know this thread: nothing of Python's may be touched.
  explicit operator bool() const { return held_; }

 private:
  bool held_ = false;
  PyGILState_STATE state_{};
};

}  // namespace tare::py
