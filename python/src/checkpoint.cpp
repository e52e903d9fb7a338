#include "checkpoint.hpp"

#include <filesystem>

#include "buffer.hpp"
#include "formats/format.hpp"
#include "formats/rows.hpp"
#include "formats/torch/objects.hpp"
#include "model.hpp"
#include "options.hpp"

namespace tare::py {
namespace {

using tare::torch::ObjectMaker;
using tare::wire::Pickle;
using tare::wire::PickleKind;

template <typename Numbers>
Ref number_tuple(const Numbers& numbers) {
  Ref tuple = Ref::take(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    checked(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), number(std::uint64_t{numbers[i]}).release()));
  return tuple;
}

// Makes plain data here. Methods of `half` make what needs torch: large, constant, call, set_state, storage, dense.
class PythonMaker final : public ObjectMaker {
 public:
  explicit PythonMaker(const Ref& half)
      : large_(method(half, "large")),
        constant_(method(half, "constant")),
        call_(method(half, "call")),
        set_state_(method(half, "set_state")),
        storage_(method(half, "storage")),
        dense_(method(half, "dense")) {}

  Ref take(Made made) const { return objects_[made]; }

  Made value(const Pickle& pickle, Pickle::Ref ref) override {
    switch (pickle.kind(ref)) {
      case PickleKind::boolean: return keep(py::boolean(pickle.boolean(ref)));
      case PickleKind::integer: return keep(number(pickle.integer(ref)));
      case PickleKind::real: return keep(real(pickle.real(ref)));
      case PickleKind::text: return keep(text_in(pickle, ref));
      case PickleKind::bytes: return keep(raw(pickle.text(ref)));
      case PickleKind::large:
        return keep(Ref::take(py::call(
            large_.get(), pickle.is_decimal(ref) ? py::text(pickle.text(ref)).get() : raw(pickle.text(ref)).get())));
      default: return keep(none());
    }
  }
  Made tuple(std::span<const Made> items) override {
    Ref made = Ref::take(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    for (std::size_t i = 0; i < items.size(); ++i)
      checked(PyTuple_SetItem(made.get(), static_cast<Py_ssize_t>(i), Ref(objects_[items[i]]).release()));
    return keep(std::move(made));
  }
  Made list() override { return keep(Ref::take(PyList_New(0))); }
  Made dict() override { return keep(Ref::take(PyDict_New())); }
  Made set() override { return keep(Ref::take(py::call(reinterpret_cast<PyObject*>(&PySet_Type)))); }
  void append(Made list, Made item) override { checked(PyList_Append(objects_[list].get(), objects_[item].get())); }
  bool set_item(Made dict, Made key, Made value) override {
    return is_hashed(py::set_mapped(objects_[dict].get(), objects_[key].get(), objects_[value].get()));
  }
  bool add(Made set, Made item) override {
    return is_hashed(py::add_member(objects_[set].get(), objects_[item].get()));
  }
  Made constant(std::string_view module, std::string_view name) override {
    return keep(Ref::take(py::call(constant_.get(), py::text(module).get(), py::text(name).get())));
  }
  Made call(std::string_view module, std::string_view name, std::span<const Made> arguments,
            std::uint64_t at) override {
    const Ref given = objects_[tuple(arguments)];
    return keep(
        Ref::take(py::call(call_.get(), py::text(module).get(), py::text(name).get(), given.get(), number(at).get())));
  }
  void set_state(Made object, Made state, std::uint64_t at) override {
    Ref::take(py::call(set_state_.get(), objects_[object].get(), objects_[state].get(), number(at).get()));
  }
  Made storage(const tare::torch::StorageId& id) override {
    return keep(Ref::take(
        py::call(storage_.get(), py::text(id.key).get(), py::text(id.type).get(), py::text(id.device).get())));
  }
  Made dense(const tare::torch::DenseView& tensor, std::uint64_t at) override {
    const unsigned flags =
        (tensor.requires_grad ? 1U : 0U) | (tensor.conjugated ? 2U : 0U) | (tensor.negated ? 4U : 0U);
    return keep(Ref::take(
        py::call(dense_.get(), py::text(tensor.storage.key).get(), py::text(tensor.storage.device).get(),
                 py::text(tensor.type).get(), number(tensor.view.offset).get(), number_tuple(tensor.view.shape).get(),
                 number_tuple(tensor.view.strides).get(), number(std::uint64_t{flags}).get(), number(at).get())));
  }

 private:
  static Ref method(const Ref& half, const char* name) { return Ref::take(attribute(half.get(), name)); }
  static Ref raw(std::string_view data) { return bytes(std::as_bytes(std::span(data))); }
  // Decodes as PyTorch does: single surrogates are characters; other bytes that are not UTF-8 are an error.
  static Ref text_in(const Pickle& pickle, Pickle::Ref ref) {
    const std::string_view said = pickle.text(ref);
    PyObject* const made = PyUnicode_DecodeUTF8(said.data(), static_cast<Py_ssize_t>(said.size()), "surrogatepass");
    if (made != nullptr) return Ref::take(made);
    PyErr_Clear();
    throw Error(ErrorKind::corrupt, "pickle.text", "a string that is not UTF-8").at(pickle.at(ref));
  }
  static bool is_hashed(int result) {
    if (result == 0) return true;
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError();
    PyErr_Clear();
    return false;
  }
  Made keep(Ref object) {
    objects_.push_back(std::move(object));
    return static_cast<Made>(objects_.size() - 1);
  }

  Ref large_, constant_, call_, set_state_, storage_, dense_;
  std::vector<Ref> objects_;
};

// Whether the table of containers recognises the bytes as those of torch.save.
bool is_saved(const Source& source) {
  try {
    return detect(source).read == tare::torch::kFormat.read && !tare::torch::is_old_tar(source);
  } catch (const Error&) {
    return false;  // `open` reports what is wrong
  }
}

}  // namespace

// _checkpoint(path or bytes, options, model, begin): None if it is not a file of torch.save, otherwise a tuple with the
// object in it. Sets the storages as the tensors of `model`, each a tensor of bytes; then begin() returns the object
// whose methods make all others.
PyObject* open_checkpoint(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *from = nullptr, *dict = nullptr, *model = nullptr, *begin = nullptr;
    if (parse_tuple(args, "OOOO", &from, &dict, &model, &begin) == 0) throw PythonError();
    const ReadOptions options = Options(dict).read();
    const bool verify = Options(dict).flag("verify");
    SourcePtr source;
    std::string path;
    if (PyBytes_Check(from) || PyByteArray_Check(from) || PyMemoryView_Check(from))
      source = source_over(from, "bytes");
    else
      path = path_of(from);
    Ref made;
    {
      Unlocked others;
      std::error_code unknown;
      if (source == nullptr && !std::filesystem::is_directory(path, unknown)) source = open_file(path, options.access);
      if (source != nullptr && is_saved(*source))
        tare::torch::read_objects(source, options, [&](const tare::torch::Content& content) {
          others.locked([&] {
            Model storages;
            storages.format = tare::torch::kFormat.name;
            storages.tensors = tare::torch::storages_of(content);
            storages.sources.push_back(source);
            show_model(model, std::move(storages), verify);
            PythonMaker maker(Ref::take(call(begin)));
            made = Ref::take(PyTuple_Pack(1, maker.take(tare::torch::make_objects(content, maker)).get()));
          });
        });
    }
    return made ? made : none();
  });
}

}  // namespace tare::py
