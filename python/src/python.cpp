#include "python.hpp"

#include "options/missing_file.hpp"

namespace tare::py {

Half& half() {
  static Half* const instance = new Half;  // never destroyed: Python may be gone when statics are destroyed
  return *instance;
}

void raise_type_error(const std::string& sentence) {
  PyErr_SetString(PyExc_TypeError, sentence.c_str());
  throw PythonError();
}

void raise_value_error(const std::string& sentence) {
  PyErr_SetString(PyExc_ValueError, sentence.c_str());
  throw PythonError();
}

namespace {

// An error about a file that does not exist, with what may have been meant.
Error with_hint(const Error& error) {
  const bool missing =
      error.kind() == ErrorKind::not_found && error.subject() != Subject::output && !error.file().empty();
  return missing ? error.reworded(missing_file_sentence(error.sentence(), error.file())) : error;
}

}  // namespace

void set_error(const Error& plain) {
  guarded<int>(-1, [&] {
    const Error error = with_hint(plain);
    Dict facts;
    facts.set("kind", text(name_of(error.kind())))
        .set("rule", text(error.rule()))
        .set("sentence", text(error.sentence()))
        .set("file", error.file().empty() ? none() : text(error.file()))
        .set("item", error.item().empty() ? none() : text(error.item()))
        .set("offset", error.offset() ? number(*error.offset()) : none())
        .set("subject", text(name_of(error.subject())))
        .set("text", text(error.what()))
        .set("remedies", list_of(error.remedies(), [](const Advice& advice) {
               return Ref::take(PyTuple_Pack(2, text(name_of(advice.remedy)).get(), text(advice.argument).get()));
             }));
    const Ref made = Ref::take(call(half().error.get(), facts.done().get()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.get())), made.get());
    return 0;
  });
}

Ref text(std::string_view bytes) {
  return Ref::take(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

std::string text_of(PyObject* object, const char* what) {
  if (!PyUnicode_Check(object))
    raise_type_error(std::string(what) + " must be a str, not " +
                     text_of(Ref::take(PyType_GetName(Py_TYPE(object))).get(), "a name"));
  Py_ssize_t size = 0;
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(object, &size)) return {utf8, static_cast<std::size_t>(size)};
  PyErr_Clear();  // has surrogates for bytes that are not UTF-8
  const Ref encoded = Ref::take(PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape"));
  char* data = nullptr;
  checked(PyBytes_AsStringAndSize(encoded.get(), &data, &size));
  return {data, static_cast<std::size_t>(size)};
}

std::string path_of(PyObject* object) {
  if (PyBytes_Check(object))
    raise_type_error("a path must be a str or a pathlib.Path, not bytes; os.fsdecode makes one of bytes");
  PyObject* encoded = nullptr;
  if (path_bytes(object, &encoded) == 0) throw PythonError();
  const Ref owned = Ref::take(encoded);
  char* data = nullptr;
  Py_ssize_t size = 0;
  checked(PyBytes_AsStringAndSize(encoded, &data, &size));
  return {data, static_cast<std::size_t>(size)};
}

Ref number(std::uint64_t value) { return Ref::take(PyLong_FromUnsignedLongLong(value)); }
Ref number(std::int64_t value) { return Ref::take(PyLong_FromLongLong(value)); }
Ref real(double value) { return Ref::take(PyFloat_FromDouble(value)); }
Ref boolean(bool value) { return Ref::take(PyBool_FromLong(value ? 1 : 0)); }
Ref none() { return Ref::share(Py_None); }

Ref bytes(std::span<const std::byte> data) {
  return Ref::take(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(data.data()), static_cast<Py_ssize_t>(data.size())));
}

}  // namespace tare::py
