// The extension tare._tare: the types and functions on which the package `tare` is built.
//
// It uses Python's stable ABI, so that one build works with Python 3.11 and later, and no NumPy headers: arrays are
// made by calling numpy.ndarray with a buffer.
#include "arch/supported.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "buffer.hpp"
#include "checkpoint.hpp"
#include "device.hpp"
#include "dlpack.hpp"
#include "formats/format.hpp"
#include "model.hpp"
#include "options.hpp"
#include "parts.hpp"
#include "run.hpp"
#include "session.hpp"
#include "tare/codec.hpp"
#include "tare/config.hpp"
#include "tare/convert.hpp"
#include "tare/quantize.hpp"
#include "tare/version.hpp"
#include "values.hpp"
#include "work.hpp"

namespace tare::py {
namespace {

// _setup(ndarray, error, dtype, tensor, opaque): called once by the package.
PyObject* setup(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *ndarray = nullptr, *error = nullptr, *dtype = nullptr, *tensor = nullptr, *opaque = nullptr;
    if (parse_tuple(args, "OOOOO", &ndarray, &error, &dtype, &tensor, &opaque) == 0) throw PythonError();
    half() = {Ref::share(ndarray), Ref::share(error), Ref::share(dtype), Ref::share(tensor), Ref::share(opaque)};
    return none();
  });
}

template <typename Names>
Ref text_list(const Names& names) {
  return list_of(names, [](std::string_view name) { return text(name); });
}

PyObject* list_formats(PyObject*, PyObject*) {
  return guarded([] {
    return list_of(formats(), [](const Format& format) {
      Dict row;
      row.set("name", text(format.name)).set("title", text(format.title)).set("versions", text(format.versions));
      row.set("suffixes", text_list(format.suffixes));
      row.set("reads", boolean(format.read != nullptr));
      row.set("writes", boolean(format.write != nullptr || format.write_tree != nullptr));
      row.set("layouts", text_list(format.holds.layouts));
      row.set("logical_types", text_list(format.holds.logical_types));
      row.set("dtypes", list_of(format.holds.dtypes, [](DType type) { return text(name_of(type)); }));
      return row.done();
    });
  });
}

PyObject* list_families(PyObject*, PyObject*) {
  return guarded([] {
    return list_of(arch::supported_families(), [](const arch::Supported& family) {
      Dict row;
      row.set("gguf", text(family.gguf)).set("title", text(family.title));
      row.set("model_types", text_list(family.model_types)).set("classes", text_list(family.classes));
      row.set("computes", text_list(family.computed)).set("checked", text(family.checked));
      return row.done();
    });
  });
}

// The title of a layout, for one of its methods: "4 bits ..." for group4, instead of "2, 4 or 8 bits ...".
std::string title_of(const Codec& codec, std::string_view method) {
  const std::string title(codec.title);
  const std::size_t numbers = title.find(" bits"), digits = method.find_last_not_of("0123456789") + 1;
  const bool lists = numbers != title.npos && title.find_first_not_of("0123456789, or") >= numbers;
  if (codec.methods.size() < 2 || !lists || digits == method.size()) return title;
  return std::string(method.substr(digits)) + title.substr(numbers);
}

PyObject* list_methods(PyObject*, PyObject*) {
  return guarded([] {
    Ref all = Ref::take(PyList_New(0));
    for (const Codec& codec : codecs())
      for (const std::string_view method : codec.methods)
        checked(PyList_Append(all.get(), Ref::take(PyTuple_Pack(3, text(method).get(), text(codec.layout).get(),
                                                                text(title_of(codec, method)).get()))
                                             .get()));
    return all;
  });
}

// glob_match(pattern, name), the matching of --match.
PyObject* match_glob(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *pattern = nullptr, *name = nullptr;
    if (parse_tuple(args, "OO", &pattern, &name) == 0) throw PythonError();
    return boolean(glob_match(text_of(pattern, "a glob"), text_of(name, "a name")));
  });
}

// nearest(word, candidates, most): the candidates that are similar to a word.
PyObject* guess(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *word = nullptr, *candidates = nullptr;
    unsigned long most = 1;
    if (parse_tuple(args, "OO|k", &word, &candidates, &most) == 0) throw PythonError();
    std::vector<std::string> names;
    const Py_ssize_t size = length_of_list(candidates);
    for (Py_ssize_t i = 0; i < size; ++i) names.push_back(text_of(PyList_GetItem(candidates, i), "a candidate"));
    return list_of(nearest(text_of(word, "a word"), names, most), [](const std::string& name) { return text(name); });
  });
}

// size_text(bytes) and number_text(number): numbers as the command prints them.
PyObject* show_size(PyObject*, PyObject* args) {
  return guarded([&] {
    unsigned long long bytes = 0;
    if (parse_tuple(args, "K", &bytes) == 0) throw PythonError();
    return text(size_text(bytes));
  });
}
PyObject* show_number(PyObject*, PyObject* args) {
  return guarded([&] {
    double number = 0;
    int digits = 4;
    if (parse_tuple(args, "d|i", &number, &digits) == 0) throw PythonError();
    return text(number_text(number, digits));
  });
}

PyMethodDef functions[] = {{"_setup", setup, METH_VARARGS, nullptr},
                           {"_dlpack", make_dlpack, METH_VARARGS, nullptr},
                           {"_device_dlpack", make_device_dlpack, METH_VARARGS, nullptr},
                           {"_checkpoint", open_checkpoint, METH_VARARGS, nullptr},
                           {"glob_match", match_glob, METH_VARARGS, nullptr},
                           {"nearest", guess, METH_VARARGS, nullptr},
                           {"size_text", show_size, METH_VARARGS, nullptr},
                           {"number_text", show_number, METH_VARARGS, nullptr},
                           {"formats", list_formats, METH_NOARGS, nullptr},
                           {"families", list_families, METH_NOARGS, nullptr},
                           {"methods", list_methods, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

int execute(PyObject* module) {
  return guarded<int>(-1, [&] {
    static bool loaded = false;  // types are static, so only one interpreter per process can use them
    if (std::exchange(loaded, true)) {
      PyErr_SetString(PyExc_ImportError, "tare._tare can be imported by one interpreter of a process only");
      throw PythonError();
    }
    add_buffer_type(module);
    add_tensor_type(module);
    add_model_type(module);
    checked(PyModule_AddFunctions(module, work_functions()));
    checked(PyModule_AddFunctions(module, parts_functions()));
    checked(PyModule_AddFunctions(module, device_functions()));
    checked(PyModule_AddFunctions(module, run_functions()));
    checked(PyModule_AddFunctions(module, session_functions()));
    checked(PyModule_AddObjectRef(module, "options", option_rows().get()));
    checked(PyModule_AddObjectRef(module, "version", text(version()).get()));
    const Ref fields = list_of(config_fields(), [](const ConfigField& field) { return text(field.name); });
    checked(PyModule_AddObjectRef(module, "config_fields", fields.get()));
    const Ref names = list_of(mixes(), [](const Mix& mix) {
      return Ref::take(PyTuple_Pack(2, text(mix.name).get(), text(mix.title).get()));
    });
    checked(PyModule_AddObjectRef(module, "mixes", names.get()));
    return 0;
  });
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(execute)},
#ifdef Py_GIL_DISABLED
                            {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                            {0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tare._tare", nullptr, 0, functions, slots, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace tare::py

PyMODINIT_FUNC PyInit__tare() { return PyModuleDef_Init(&tare::py::definition); }
