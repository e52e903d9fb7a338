#include "values.hpp"

namespace tare::py {
namespace {

constexpr unsigned kDeepest = 64;  // same as Limits::depth: anything deeper could not be read back

Value number_of(PyObject* object, const std::string& path) {
  const Ref whole = Ref::take(as_index(object));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(whole.get(), &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
    return std::int64_t{value};
  }
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(whole.get());
    if (PyErr_Occurred() == nullptr) return std::uint64_t{large};
    PyErr_Clear();
  }
  raise_value_error(path + ": the number does not fit 64 bits");
}

}  // namespace

Ref from_value(const Value& value) {
  struct Visitor {
    Ref operator()(std::monostate) const { return none(); }
    Ref operator()(bool v) const { return boolean(v); }
    Ref operator()(std::int64_t v) const { return number(v); }
    Ref operator()(std::uint64_t v) const { return number(v); }
    Ref operator()(double v) const { return real(v); }
    Ref operator()(const std::string& v) const { return text(v); }
    Ref operator()(const Bytes& v) const { return bytes(v); }
    Ref operator()(const List& v) const { return list_of(v, from_value); }
    Ref operator()(const Map& v) const { return from_map(v); }
    Ref operator()(const Opaque& v) const {
      return Ref::take(call(half().opaque.get(), text(v.syntax).get(), bytes(v.bytes).get()));
    }
  };
  return std::visit(Visitor(), value.data());
}

Ref from_map(const Map& map) {
  Dict dict;
  for (const auto& [key, value] : map) dict.set(std::string_view(key), from_value(value));
  return dict.done();
}

Value to_value(PyObject* object, const std::string& path, unsigned depth) {
  if (depth > kDeepest) raise_value_error(path + ": more than 64 levels of metadata");
  if (object == Py_None) return {};
  if (PyBool_Check(object)) return object == Py_True;
  if (PyUnicode_Check(object)) return text_of(object, "a text");
  if (PyFloat_Check(object)) return as_double(object);
  if (PyLong_Check(object)) return number_of(object, path);
  if (has_attribute(object, "tolist")) {  // NumPy scalars and arrays
    const Ref plain = Ref::take(call_method(object, "tolist", nullptr));
    if (Py_TYPE(plain.get()) != Py_TYPE(object)) return to_value(plain.get(), path, depth + 1);
  }
  if (PyIndex_Check(object)) return number_of(object, path);
  if (is_of(object, half().opaque)) {
    const Ref syntax = Ref::take(attribute(object, "syntax"));
    const Ref data = Ref::take(attribute(object, "bytes"));
    const View view(data.get(), false);
    return Opaque{text_of(syntax.get(), "the syntax"), Bytes(view.bytes().begin(), view.bytes().end())};
  }
  if (PyDict_Check(object)) return to_map(object, path, depth);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    List list;
    const Py_ssize_t size = PySequence_Size(object);
    for (Py_ssize_t i = 0; i < size; ++i)
      list.push_back(to_value(Ref::take(item_of(object, i)).get(), path + "[" + std::to_string(i) + "]", depth + 1));
    return list;
  }
  if (PyBytes_Check(object) || PyByteArray_Check(object) || PyMemoryView_Check(object)) {
    const View view(object, false);
    return Bytes(view.bytes().begin(), view.bytes().end());
  }
  raise_type_error(path + ": " + text_of(Ref::take(PyType_GetName(Py_TYPE(object))).get(), "a name") +
                   " is not a kind of metadata; there are None, bool, int, float, str, bytes, list and dict");
}

Map to_map(PyObject* object, const std::string& path, unsigned depth) {
  if (!PyDict_Check(object)) raise_type_error(path + " must be a dict");
  Map map;
  // A copy, because converting a value can run code that changes the dict.
  const Ref items = Ref::take(PyDict_Items(object));
  const Py_ssize_t size = PyList_Size(items.get());
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* const item = PyList_GetItem(items.get(), i);
    PyObject* const key = PyTuple_GetItem(item, 0);
    if (!PyUnicode_Check(key)) raise_type_error(path + ": keys of metadata must be str");
    std::string name = text_of(key, "a key");
    Value value = to_value(PyTuple_GetItem(item, 1), path + "['" + name + "']", depth + 1);
    map.append(std::move(name), std::move(value));
  }
  return map;
}

}  // namespace tare::py
