#include "model.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>

#include "buffer.hpp"
#include "convert/directory_form.hpp"
#include "formats/format.hpp"
#include "formats/open_as.hpp"
#include "io/mapping_guard.hpp"
#include "options.hpp"
#include "tare/codec.hpp"
#include "values.hpp"

namespace tare::py {
namespace {

// The parts of an open model; immutable.
struct Opened {
  std::shared_ptr<const Model> model;
  std::string path;  // empty if opened from bytes in memory
  ReadOptions options;
  bool usual_names = false;            // tensors have Hugging Face's names, whatever the container's are
  bool arrays = false;                 // the arrays of packed weights separately, as stored
  bool verify = false;                 // stored bytes are compared with their digests before they are handed out
  std::shared_ptr<Verified> verified;  // set if `verify` is
  Ref names;                           // a list

  Opened() = default;
  ~Opened() { drop(index_.load()); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  // {name: index}, made at the first lookup of a name, because it would take a third of the time to open 100,000
  // tensors.
  PyObject* index() const {
    if (PyObject* const known = index_.load(std::memory_order_acquire)) return known;
    Ref made = Ref::take(PyDict_New());
    const Py_ssize_t size = PyList_Size(names.get());
    for (Py_ssize_t i = 0; i < size; ++i)
      checked(set_item(made.get(), PyList_GetItem(names.get(), i), number(std::int64_t{i}).get()));
    PyObject* expected = nullptr;
    if (!index_.compare_exchange_strong(expected, made.get())) return expected;
    return made.release();
  }

 private:
  mutable std::atomic<PyObject*> index_{nullptr};
};

struct ModelObject {
  PyObject_HEAD std::mutex mutex;        // guards the members below: other threads may close the model
  std::shared_ptr<const Opened> opened;  // null: closed, or not open yet
  std::shared_ptr<const Model> complete;
  std::vector<std::string> warnings;  // warnings of the conversion to a directory
  std::size_t told = 0;               // number of warnings that have been returned
};

PyTypeObject* model_type = nullptr;

ModelObject& self_of_model(PyObject* object) { return *reinterpret_cast<ModelObject*>(object); }

PyObject* new_model(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&] {
    Ref object = Ref::take(PyType_GenericAlloc(type, 0));
    ModelObject& self = self_of_model(object.get());
    std::construct_at(&self.mutex);
    std::construct_at(&self.opened);
    std::construct_at(&self.complete);
    std::construct_at(&self.warnings);
    return object;
  });
}

void dealloc_model(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  ModelObject& self = self_of_model(object);
  std::destroy_at(&self.warnings);
  std::destroy_at(&self.complete);
  std::destroy_at(&self.opened);
  std::destroy_at(&self.mutex);
  const auto free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(object);
  drop(reinterpret_cast<PyObject*>(type));
}

std::shared_ptr<const Opened> opened_or_none(PyObject* object) {
  ModelObject& self = self_of_model(object);
  const std::scoped_lock lock(self.mutex);
  return self.opened;
}

std::shared_ptr<const Opened> opened(PyObject* object) {
  auto found = opened_or_none(object);
  if (found == nullptr) throw Error(ErrorKind::usage, "python.closed", "the model has been closed");
  return found;
}

// Stores, for `_warnings`, the changes that may affect the model's results. A model may be opened more than once, so
// each sentence is stored once.
void keep_warnings(PyObject* object, const std::vector<Change>& changes) {
  ModelObject& self = self_of_model(object);
  const std::scoped_lock lock(self.mutex);
  for (const Change& change : changes) {
    if (change.impact != Impact::results) continue;
    if (std::string sentence = to_text(change); std::ranges::find(self.warnings, sentence) == self.warnings.end())
      self.warnings.push_back(std::move(sentence));
  }
}

// _warnings(): the warnings that were not returned before.
PyObject* take_warnings(PyObject* object, PyObject*) {
  return guarded([&] {
    std::vector<std::string> found;
    {
      ModelObject& self = self_of_model(object);
      const std::scoped_lock lock(self.mutex);
      found.assign(self.warnings.begin() + static_cast<std::ptrdiff_t>(self.told), self.warnings.end());
      self.told = self.warnings.size();
    }
    return list_of(found, [](const std::string& sentence) { return text(sentence); });
  });
}

// The model with the requested names. A directory already has Hugging Face's names.
Model as_wanted(const Opened& wanted, Model model, std::vector<Change>& changes) {
  const Format* const format = find_format(model.format);
  if (wanted.usual_names && (format == nullptr || !is_directory(*format))) release_conventions(model, changes);
  return model;
}

PackedForm form_of(const Opened& wanted) { return wanted.arrays ? PackedForm::stored : PackedForm::joined; }

Model open_wanted(const Opened& wanted, const ReadOptions& options, std::vector<Change>& changes) {
  return as_wanted(wanted, tare::open_as(form_of(wanted), wanted.path, options), changes);
}

// Some libraries (torch) ignore that an array is read-only. This makes their writes go to private pages, so that they
// neither reach the file nor raise a signal. If the system refuses, the signal is raised.
void survive_writes(const Model& model) {
  for (const SourcePtr& source : model.sources) {
    if (source->descriptor() < 0 || source->size() == 0) continue;
    if (const auto view = source->view(0, source->size())) static_cast<void>(io::MappingGuard::let_write(*view));
  }
}

void finish_open(PyObject* object, std::shared_ptr<Opened> made) {
  made->names = list_of(made->model->tensors, [](const Tensor& tensor) { return text(tensor.name); });
  if (made->verify) made->verified = std::make_shared<Verified>(made->model);
  ModelObject& self = self_of_model(object);
  std::shared_ptr<const Opened> old = std::move(made);  // destroyed after the lock is released
  const std::scoped_lock lock(self.mutex);
  self.opened.swap(old);
}

// _open(path, options) or _open_bytes(bytes, name, options)
PyObject* open_path(PyObject* object, PyObject* args) {
  return guarded([&] {
    PyObject *path = nullptr, *options = nullptr;
    if (parse_tuple(args, "OO", &path, &options) == 0) throw PythonError();
    auto made = std::make_shared<Opened>();
    made->path = path_of(path);
    made->options = Options(options).read();
    // `complete`: the vocabulary is needed, too, and the file need not be opened again for it.
    const bool complete = Options(options).flag("complete");
    made->options.vocabulary = complete;
    made->usual_names = Options(options).flag("usual_names");
    made->arrays = Options(options).flag("arrays");
    made->verify = Options(options).flag("verify");
    std::vector<Change> changes;
    {
      const Unlocked others;
      made->model = std::make_shared<Model>(open_wanted(*made, made->options, changes));
      survive_writes(*made->model);
      std::error_code unknown;  // absolute, so that it can be reopened after a change of the current directory
      if (const auto place = std::filesystem::absolute(made->path, unknown); !unknown) made->path = place.string();
    }
    keep_warnings(object, changes);
    if (complete) {
      ModelObject& self = self_of_model(object);
      const std::scoped_lock lock(self.mutex);
      self.complete = made->model;
    }
    finish_open(object, std::move(made));
    return none();
  });
}

PyObject* open_bytes(PyObject* object, PyObject* args) {
  return guarded([&] {
    PyObject *data = nullptr, *options = nullptr;
    if (parse_tuple(args, "OO", &data, &options) == 0) throw PythonError();
    auto made = std::make_shared<Opened>();
    made->options = Options(options).read();
    made->usual_names = Options(options).flag("usual_names");
    made->arrays = Options(options).flag("arrays");
    made->verify = Options(options).flag("verify");
    const SourcePtr source = source_over(data, "bytes");
    std::vector<Change> changes;
    {
      const Unlocked others;
      made->model =
          std::make_shared<Model>(as_wanted(*made, tare::open_as(form_of(*made), source, made->options), changes));
    }
    keep_warnings(object, changes);
    finish_open(object, std::move(made));
    return none();
  });
}

// _open_like(model, options): the same model with Hugging Face's names ("usual_names"), or with its bytes compared with
// their digests ("verify"), or both.
PyObject* open_like(PyObject* object, PyObject* args) {
  return guarded([&] {
    PyObject *other = nullptr, *options = nullptr;
    if (parse_tuple(args, "OO", &other, &options) == 0) throw PythonError();
    if (!is_model(other)) raise_type_error("expected a model of tare");
    const auto source = opened(other);
    const bool rename = Options(options).flag("usual_names") && !source->usual_names;
    auto made = std::make_shared<Opened>();
    made->path = source->path;
    made->options = source->options;
    made->arrays = source->arrays;
    made->usual_names = source->usual_names || rename;
    made->verify = source->verify || Options(options).flag("verify");
    std::vector<Change> changes;
    if (rename) {
      const Unlocked others;
      made->model = std::make_shared<Model>(as_wanted(*made, *source->model, changes));
    } else {
      made->model = source->model;
    }
    keep_warnings(object, changes);
    finish_open(object, std::move(made));
    return none();
  });
}

// _directory_files(): {name: bytes} of the config files that a directory made from the model has next to its weights.
PyObject* directory_settings(PyObject* object, PyObject*) {
  return guarded([&] {
    const auto model = complete_model_of(object);
    std::vector<std::pair<std::string, Bytes>> files;
    std::vector<Change> changes;
    {
      const Unlocked others;
      for (const Attachment& file : directory_files(*model, changes))
        if (file.name == "config.json" || file.name == "generation_config.json")
          files.emplace_back(file.name, file.blob.bytes());
      model->check_sources();
    }
    keep_warnings(object, changes);
    Dict found;
    for (const auto& [name, data] : files) found.set(std::string_view(name), bytes(data));
    return found.done();
  });
}

PyObject* close(PyObject* object, PyObject*) {
  return guarded([&] {
    std::shared_ptr<const Opened> old;
    std::shared_ptr<const Model> complete;
    {
      ModelObject& self = self_of_model(object);
      const std::scoped_lock lock(self.mutex);
      old.swap(self.opened);
      complete.swap(self.complete);
    }
    return none();
  });
}

PyObject* is_closed(PyObject* object, void*) {
  return guarded([&] { return boolean(opened_or_none(object) == nullptr); });
}

// Whether opening a path twice gave the same files.
bool are_same_files(const std::vector<SourcePtr>& before, const std::vector<SourcePtr>& after) {
  return std::equal(before.begin(), before.end(), after.begin(), after.end(), [](const auto& a, const auto& b) {
    struct stat first {
    }, second{};
    return ::fstat(a->descriptor(), &first) == 0 && ::fstat(b->descriptor(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  });
}

void require_verified(const Opened& model, std::size_t index) {
  if (model.verified == nullptr) return;
  const Unlocked others;
  model.verified->require(index);
}

// The index of a name, or nullopt.
std::optional<std::size_t> index_of(const Opened& model, PyObject* name) {
  PyObject* const index = PyDict_GetItemWithError(model.index(), name);
  if (index == nullptr && PyErr_Occurred() != nullptr) throw PythonError();
  if (index == nullptr) return std::nullopt;
  return PyLong_AsSize_t(index);
}

// The error for a missing name lists similar names.
[[noreturn]] void raise_missing(PyObject* object, PyObject* name) {
  Ref::take(call_method(object, "_missing", "(O)", name));
  PyErr_SetObject(PyExc_KeyError, name);
  throw PythonError();
}

PyObject* subscript(PyObject* object, PyObject* name) {
  return guarded([&] {
    const auto model = opened(object);
    const auto index = index_of(*model, name);
    if (!index) raise_missing(object, name);
    if (Ref array = view_array(model->model->tensors[*index])) {
      require_verified(*model, *index);
      return array;
    }
    return Ref::take(call_method(object, "_load", "O", name));
  });
}

PyObject* tensor_named(PyObject* object, PyObject* name) {
  return guarded([&] {
    const auto model = opened(object);
    const auto index = index_of(*model, name);
    if (!index) raise_missing(object, name);
    return make_tensor(model->model->tensors[*index], model->model, {model->verified, *index});
  });
}

int contains(PyObject* object, PyObject* name) {
  return guarded<int>(-1, [&] { return index_of(*opened(object), name) ? 1 : 0; });
}

Py_ssize_t length_of_model(PyObject* object) {
  return guarded<Py_ssize_t>(-1, [&] { return PyList_Size(opened(object)->names.get()); });
}

PyObject* iterate(PyObject* object) {
  return guarded([&] { return Ref::take(iterator_of(opened(object)->names.get())); });
}

// _all(writable): {name: array} of all tensors, in the order of the file. `writable`: arrays that can be changed
// without changing the file.
PyObject* all_arrays(PyObject* object, PyObject* writable) {
  return guarded([&] {
    const auto model = opened(object);
    const bool changeable = checked(is_true(writable)) != 0;
    Ref all = Ref::take(PyDict_New());
    for (std::size_t i = 0; i < model->model->tensors.size(); ++i) {
      const Tensor& tensor = model->model->tensors[i];
      const Ref name = text(tensor.name);
      Ref array = changeable ? private_array(tensor) : view_array(tensor);
      if (array) require_verified(*model, i);
      if (!array) array = Ref::take(call_method(object, "_load", "OO", name.get(), writable));
      checked(set_item(all.get(), name.get(), array.get()));
    }
    return all;
  });
}

PyObject* names_of(PyObject* object, PyObject*) {
  return guarded([&] {
    const auto model = opened(object);
    return Ref::take(PyList_GetSlice(model->names.get(), 0, PyList_Size(model->names.get())));
  });
}

PyObject* metadata_of(PyObject* object, PyObject*) {
  return guarded([&] { return from_map(opened(object)->model->metadata); });
}

PyObject* config_of(PyObject* object, PyObject*) {
  return guarded([&] {
    // With the usual names, files define the config, and the vocabulary may show that they are out of date.
    const auto model = opened(object)->usual_names ? complete_model_of(object) : opened(object)->model;
    return from_map(model->config.to_map());
  });
}

PyObject* vocabulary_of(PyObject* object, PyObject*) {
  return guarded([&] {
    const auto model = complete_model_of(object);
    return model->vocabulary.empty() ? none() : from_map(model->vocabulary.to_map());
  });
}

PyObject* attachments_of(PyObject* object, PyObject*) {
  return guarded([&] {
    Dict sizes;
    // The vocabulary may show that attachments are out of date.
    const auto model = complete_model_of(object);
    for (const Attachment& attachment : model->attachments)
      sizes.set(std::string_view(attachment.name), number(attachment.blob.size()));
    return sizes.done();
  });
}

PyObject* attachment_of(PyObject* object, PyObject* name) {
  return guarded([&] {
    const auto model = complete_model_of(object);
    const Attachment* const found = model->attachment(text_of(name, "the name of an attachment"));
    if (found == nullptr) {
      PyErr_SetObject(PyExc_KeyError, name);
      throw PythonError();
    }
    Bytes data;
    {
      const Unlocked others;
      data = found->blob.bytes();
      model->check_sources();
    }
    return bytes(data);
  });
}

PyObject* facts_of(PyObject* object, PyObject*) {
  return guarded([&] {
    const auto opened_model = opened(object);
    const Model& model = *opened_model->model;
    Dict facts;
    facts.set("format", text(model.format)).set("version", text(model.version));
    facts.set("file_bytes", number(model.file_bytes));
    facts.set("files", list_of(model.sources, [](const SourcePtr& source) { return text(source->name()); }));
    return facts.done();
  });
}

// _table(): a tuple per tensor: name, type, layout, shape, bytes, stored bytes.
PyObject* table_of(PyObject* object, PyObject*) {
  return guarded([&] {
    return list_of(opened(object)->model->tensors, [](const Tensor& tensor) {
      const Ref shape = list_of(tensor.shape, [](std::uint64_t size) { return number(size); });
      return Ref::take(PyTuple_Pack(6, text(tensor.name).get(), text(dtype_name(tensor)).get(),
                                    text(tensor.layout).get(), Ref::take(PyList_AsTuple(shape.get())).get(),
                                    number(tensor.bytes()).get(), number(tensor.stored_bytes()).get()));
    });
  });
}

PyObject* check_files(PyObject* object, PyObject*) {
  return guarded([&] {
    const auto model = opened(object);
    {
      const Unlocked others;
      model->model->check_sources();
    }
    return none();
  });
}

PyMethodDef model_methods[] = {
    {"_open", open_path, METH_VARARGS, nullptr},
    {"_open_bytes", open_bytes, METH_VARARGS, nullptr},
    {"_open_like", open_like, METH_VARARGS, nullptr},
    {"_warnings", take_warnings, METH_NOARGS, nullptr},
    {"_directory_files", directory_settings, METH_NOARGS, nullptr},
    {"close", close, METH_NOARGS, "Lets the file go. Arrays and tensors that were taken from it stay valid."},
    {"check", check_files, METH_NOARGS, "Raises an error if a file has been changed since it was opened."},
    {"tensor", tensor_named, METH_O, "A tensor whose bytes are read when they are asked for."},
    {"_all", all_arrays, METH_O, nullptr},
    {"_names", names_of, METH_NOARGS, nullptr},
    {"_metadata", metadata_of, METH_NOARGS, nullptr},
    {"_config", config_of, METH_NOARGS, nullptr},
    {"_vocabulary", vocabulary_of, METH_NOARGS, nullptr},
    {"_attachments", attachments_of, METH_NOARGS, nullptr},
    {"_attachment", attachment_of, METH_O, nullptr},
    {"_facts", facts_of, METH_NOARGS, nullptr},
    {"_table", table_of, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef model_facts[] = {{"closed", is_closed, nullptr, "whether the model has been closed", nullptr},
                             {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void add_model_type(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_model)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_model)},
                                {Py_tp_methods, model_methods},
                                {Py_tp_getset, model_facts},
                                {Py_tp_iter, reinterpret_cast<void*>(iterate)},
                                {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
                                {Py_mp_length, reinterpret_cast<void*>(length_of_model)},
                                {Py_sq_contains, reinterpret_cast<void*>(contains)},
                                {Py_tp_doc, const_cast<char*>("An open model.")},
                                {0, nullptr}};
  static PyType_Spec spec = {"tare._tare.Model", sizeof(ModelObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                             slots};
  model_type = reinterpret_cast<PyTypeObject*>(Ref::take(PyType_FromSpec(&spec)).release());
  checked(PyModule_AddObjectRef(module, "Model", reinterpret_cast<PyObject*>(model_type)));
}

bool is_model(PyObject* object) { return is_of(object, model_type); }

std::shared_ptr<const Model> model_of(PyObject* object) {
  if (!is_model(object)) raise_type_error("expected a model of tare");
  return opened(object)->model;
}

bool is_verified(PyObject* object) {
  if (!is_model(object)) raise_type_error("expected a model of tare");
  return opened(object)->verify;
}

void show_model(PyObject* object, Model model, bool verify) {
  if (!is_model(object)) raise_type_error("expected a model of tare");
  survive_writes(model);
  auto made = std::make_shared<Opened>();
  made->verify = verify;
  made->model = std::make_shared<Model>(std::move(model));
  finish_open(object, std::move(made));
}

std::shared_ptr<const Model> complete_model_of(PyObject* object) {
  if (!is_model(object)) raise_type_error("expected a model of tare");
  const auto model = opened(object);
  if (model->path.empty()) return model->model;
  ModelObject& self = self_of_model(object);
  {
    const std::scoped_lock lock(self.mutex);
    if (self.complete != nullptr) return self.complete;
  }
  std::shared_ptr<const Model> complete;
  std::vector<Change> changes;
  {
    const Unlocked others;
    ReadOptions options = model->options;
    options.vocabulary = true;
    complete = std::make_shared<Model>(open_wanted(*model, options, changes));
    model->model->check_sources();
    if (!are_same_files(model->model->sources, complete->sources))
      throw Error(ErrorKind::io, "io.source.changed", "the file was replaced while it was open").in(model->path);
  }
  keep_warnings(object, changes);
  const std::scoped_lock lock(self.mutex);
  if (self.opened == model && self.complete == nullptr) self.complete = complete;
  return complete;
}

}  // namespace tare::py
