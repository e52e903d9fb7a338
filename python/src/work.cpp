#include "work.hpp"

#include <fcntl.h>

#include <cmath>
#include <map>

#include "base/sizes.hpp"
#include "buffer.hpp"
#include "convert/directory_form.hpp"
#include "convert/replace_parts.hpp"
#include "io/descriptor.hpp"
#include "io/descriptor_source.hpp"
#include "model.hpp"
#include "model/dtype_option.hpp"
#include "options.hpp"
#include "pieces.hpp"
#include "run_job.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"
#include "tare/plan.hpp"
#include "values.hpp"

namespace tare::py {
namespace {

// Results, as dicts.

Ref remedy_list(const std::vector<Advice>& remedies) {
  return list_of(remedies, [](const Advice& advice) {
    return Ref::take(PyTuple_Pack(2, text(name_of(advice.remedy)).get(), text(advice.argument).get()));
  });
}

Ref text_list_of(const std::vector<std::string>& all) {
  return list_of(all, [](const std::string& one) { return text(one); });
}

Ref change_dict(const Change& change) {
  Dict row;
  row.set("kind", text(name_of(change.kind))).set("impact", text(name_of(change.impact)));
  row.set("part", text(change.part)).set("items", text_list_of(change.items));
  row.set("values", text_list_of(change.values));
  row.set("before", text(change.before)).set("after", text(change.after)).set("count", number(change.count));
  row.set("lossy", boolean(change.lossy)).set("detail", text(change.detail));
  row.set("remedies", remedy_list(change.remedies)).set("text", text(to_text(change)));
  return row.done();
}

Ref outcome_dict(const TensorOutcome& outcome) {
  Dict row;
  row.set("name", text(outcome.name)).set("type", text(outcome.type)).set("encoded", boolean(outcome.encoded));
  row.set("weights", number(outcome.elements)).set("bytes", number(outcome.bytes));
  row.set("bits_per_weight", real(outcome.bits_per_weight()));
  const EncodeReport* const report =
      outcome.report != nullptr && outcome.report->complete ? outcome.report.get() : nullptr;
  const auto relative = [&] {
    return report->squared_sum == 0 ? 0 : std::sqrt(report->squared_error / report->squared_sum);
  };
  row.set("relative_rms", report == nullptr ? none() : real(relative()));
  row.set("max_error", report == nullptr ? none() : real(report->max_error));
  row.set("squared_error", report == nullptr ? none() : real(report->squared_error));
  row.set("squared_sum", report == nullptr ? none() : real(report->squared_sum));
  return row.done();
}

Dict saved_dict(const Saved& done) {
  Dict facts;
  facts.set("to", text(done.to)).set("tensors", number(done.tensors)).set("bytes", number(done.bytes));
  facts.set("file_bytes", number(done.file_bytes)).set("changes", list_of(done.changes, change_dict));
  facts.set("outcomes", list_of(done.outcomes, outcome_dict));
  facts.set("lost", list_of(done.lost, [](const LostKeys& lost) {
              Dict row;
              row.set("file", text(lost.file)).set("harmful", text_list_of(lost.harmful));
              row.set("harmless", text_list_of(lost.harmless));
              return row.done();
            }));
  return facts;
}

Ref finding_dict(const Finding& finding) {
  Dict row;
  row.set("severity", text(name_of(finding.severity))).set("kind", text(name_of(finding.kind)));
  row.set("rule", text(finding.rule)).set("sentence", text(finding.sentence));
  row.set("file", finding.file.empty() ? none() : text(finding.file));
  row.set("item", finding.item.empty() ? none() : text(finding.item));
  row.set("offset", finding.offset ? number(*finding.offset) : none());
  row.set("remedies", remedy_list(finding.remedies)).set("count", number(finding.count));
  row.set("last", finding.last.empty() ? none() : text(finding.last));
  return row.done();
}

Ref difference_dict(const TensorDifference& found) {
  Dict row;
  row.set("name", text(found.name));
  row.set("only_in", found.only_in ? text(*found.only_in == Side::a ? "a" : "b") : none());
  const auto pair = [](const std::string& a, const std::string& b) {
    return a.empty() && b.empty() ? none() : Ref::take(PyTuple_Pack(2, text(a).get(), text(b).get()));
  };
  row.set("shape", pair(found.shape_a, found.shape_b)).set("type", pair(found.type_a, found.type_b));
  row.set("layout", pair(found.layout_a, found.layout_b));
  row.set("values_differ", boolean(found.values_differ)).set("compared", boolean(found.compared));
  row.set("different", number(found.different)).set("count", number(found.count));
  row.set("max_abs", real(found.max_abs))
      .set("rms", real(found.rms))
      .set("relative_rms", real(found.relative_rms))
      .set("cosine", real(found.cosine));
  row.set("first_difference", found.first_difference ? number(*found.first_difference) : none());
  return row.done();
}

Ref metadata_difference_dict(const MetadataDifference& found) {
  Dict row;
  row.set("part", text(name_of(found.part))).set("key", text(found.key));
  row.set("tensor", found.tensor.empty() ? none() : text(found.tensor));
  row.set("a", found.a ? from_value(*found.a) : none()).set("b", found.b ? from_value(*found.b) : none());
  row.set("text", text(to_text(found)));
  return row.done();
}

// Conversion of what is to be saved.

Shape shape_of(PyObject* tuple) {
  Shape shape;
  const Py_ssize_t rank = length_of_tuple(tuple);
  for (Py_ssize_t i = 0; i < rank; ++i) {
    const unsigned long long size = PyLong_AsUnsignedLongLong(PyTuple_GetItem(tuple, i));
    if (PyErr_Occurred() != nullptr) throw PythonError();
    shape.push_back(size);
  }
  return shape;
}

// Open files that contain pieces of tensors, by descriptor; kPlaced is the key of a PlacedFile.
using Spools = std::map<int, SourcePtr>;
constexpr int kPlaced = -1;

// A part of such a file: (descriptor, offset, length).
Blob spooled(PyObject* place, Spools& spools) {
  int descriptor = -1;
  unsigned long long offset = 0, length = 0;
  if (parse_tuple(place, "iKK", &descriptor, &offset, &length) == 0) throw PythonError();
  SourcePtr& source = spools[descriptor];
  if (source == nullptr) source = io::source_of(descriptor, "pieces");
  source->require(offset, length);
  return Blob::range(source, offset, length);
}

DType dtype_from(const char* name) {
  const auto found = parse_dtype(name);
  if (!found) raise_value_error(no_such_type(name));
  return *found;
}

Blob blob_from(PyObject* data, PyObject* name, Spools& spools) {
  if (PyTuple_Check(data)) return spooled(data, spools);
  const SourcePtr source = source_over(data, text_of(name, "the name of a tensor"));
  return Blob::range(source, 0, source->size());
}

// (name, shape, layout, [(role, dtype, type, bytes), ...])
Tensor composed_from(PyObject* item, Spools& spools) {
  PyObject *name = nullptr, *shape = nullptr, *components = nullptr;
  const char* layout = nullptr;
  if (parse_tuple(item, "OOsO", &name, &shape, &layout, &components) == 0) throw PythonError();
  Tensor tensor{.name = text_of(name, "the name of a tensor"), .shape = shape_of(shape), .layout = layout};
  const Py_ssize_t size = length_of_list(components);
  for (Py_ssize_t i = 0; i < size; ++i) {
    const char *role = nullptr, *dtype = nullptr, *type = nullptr;
    PyObject* data = nullptr;
    if (parse_tuple(PyList_GetItem(components, i), "sssO", &role, &dtype, &type, &data) == 0) throw PythonError();
    tensor.components.push_back({role, dtype_from(dtype), type, blob_from(data, name, spools)});
  }
  return tensor;
}

// `item` is (name, tensor); or (name, shape, dtype, type, bytes), whose bytes may be a part of a file; or as for
// composed_from.
Tensor tensor_from(PyObject* item, Spools& spools) {
  const Py_ssize_t size = length_of_tuple(item);
  if (size == 2) {
    Tensor tensor = tensor_of(PyTuple_GetItem(item, 1));
    tensor.name = text_of(PyTuple_GetItem(item, 0), "the name of a tensor");
    return tensor;
  }
  if (size == 4) return composed_from(item, spools);
  PyObject *name = nullptr, *shape = nullptr, *data = nullptr;
  const char *dtype = nullptr, *type = nullptr;
  if (parse_tuple(item, "OOssO", &name, &shape, &dtype, &type, &data) == 0) throw PythonError();
  return dense(text_of(name, "the name of a tensor"), shape_of(shape), dtype_from(dtype), blob_from(data, name, spools),
               type);
}

Blob blob_of(PyObject* bytes) {
  const View view(bytes, false);
  return Blob::memory(Bytes(view.bytes().begin(), view.bytes().end()));
}

NewParts parts_from(const Options& parts) {
  NewParts made;
  if (PyObject* const metadata = parts.find("metadata")) made.metadata = to_map(metadata, "metadata");
  if (PyObject* const config = parts.find("config")) made.config = Config::from_given(to_map(config, "config"));
  if (PyObject* const vocabulary = parts.find("vocabulary"))
    made.vocabulary = Vocabulary::from_map(to_map(vocabulary, "vocabulary"));
  if (PyObject* const text = parts.find("config_json")) made.config_json = blob_of(text);
  if (PyObject* const attachments = parts.find("attachments")) {
    if (!PyDict_Check(attachments)) raise_type_error("attachments must be a dict");
    made.attachments.emplace();
    const Ref items = Ref::take(PyDict_Items(attachments));
    const Py_ssize_t size = PyList_Size(items.get());
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject* const item = PyList_GetItem(items.get(), i);
      std::string name = text_of(PyTuple_GetItem(item, 0), "the name of an attachment");
      made.attachments->push_back({std::move(name), blob_of(PyTuple_GetItem(item, 1))});
    }
  }
  return made;
}

// Makes a model from Python lists and dicts. `base`: an open model that provides the other parts, or None. `settings`
// receives the keys that are to be set in the output.
Model model_from(PyObject* tensors, PyObject* base, PyObject* parts, Map& settings, Spools spools = {}) {
  Model model;
  if (base != Py_None) model = *complete_model_of(base);
  // With a base and without a list, its own tensors: a Python object for each would take more memory than the model.
  if (base == Py_None || tensors != Py_None) {
    model.tensors.clear();
    const Py_ssize_t size = length_of_list(tensors);
    model.tensors.reserve(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) model.tensors.push_back(tensor_from(PyList_GetItem(tensors, i), spools));
  }
  settings = replace_parts(model, parts_from(Options(parts)));
  return model;
}
// Without a base, no file contradicts the parts, and nothing is to be set.
Model model_from(PyObject* tensors, PyObject* parts, Spools spools) {
  Map none;
  return model_from(tensors, Py_None, parts, none, std::move(spools));
}

// Writes the file completely or not at all, but without waiting for the disk, as other programs do.
void write_without_sync(Model model, const std::string& output, const SaveOptions& options) {
  const std::unique_ptr<Sink> sink = create_file(output, {.overwrite = options.overwrite, .durable = false});
  static_cast<void>(save(std::move(model), *sink, options));
}

// _save(path, tensors, base, parts, options, report). If `path` is None, returns the bytes.
PyObject* save_model(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *path = nullptr, *tensors = nullptr, *base = nullptr, *parts = nullptr, *dict = nullptr, *report = nullptr;
    if (parse_tuple(args, "OOOOOO", &path, &tensors, &base, &parts, &dict, &report) == 0) throw PythonError();
    SaveOptions options = Options(dict).save();
    Model model = model_from(tensors, base, parts, options.adapt.values);
    const Format* const format = options.to.empty() ? nullptr : find_format(options.to);
    if (path != Py_None && Options(dict).flag("hasty") && format != nullptr && format->write != nullptr) {
      const std::string output = path_of(path);
      run_here([&](Progress& progress) {
        options.work.progress = &progress;
        write_without_sync(std::move(model), output, options);
      });
      return none();
    }
    if (path != Py_None) {
      const std::string output = path_of(path);
      Saved done;
      run_job(report, [&](Progress& progress) {
        options.work.progress = &progress;
        done = save(std::move(model), output, options);
      });
      return saved_dict(done).done();
    }
    if (format == nullptr || format->write == nullptr)
      raise_value_error("\"" + options.to + "\" is not the name of a format that is one file");
    MemorySink sink;
    run_job(report, [&](Progress& progress) {
      options.work.progress = &progress;
      static_cast<void>(save(std::move(model), sink, options));
    });
    return bytes(sink.bytes());
  });
}

constexpr const char* kPlacedName = "tare.placed";

PlacedFile& placed_of(PyObject* capsule) {
  void* const pointer = PyCapsule_GetPointer(capsule, kPlacedName);
  if (pointer == nullptr) throw PythonError();
  return *static_cast<PlacedFile*>(pointer);
}

std::vector<Run> runs_from(PyObject* list) {
  std::vector<Run> runs;
  const Py_ssize_t size = length_of_list(list);
  for (Py_ssize_t i = 0; i < size; ++i) {
    unsigned long long offset = 0, length = 0;
    if (parse_tuple(PyList_GetItem(list, i), "KK", &offset, &length) == 0) throw PythonError();
    runs.push_back({offset, length});
  }
  return runs;
}

// _places(path, tensors, parts, options, runs, size): the offsets of these runs in the file, or None. The tensors
// consist of these runs, whose bytes do not exist yet.
PyObject* find_places(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *path = nullptr, *tensors = nullptr, *parts = nullptr, *dict = nullptr, *list = nullptr;
    unsigned long long size = 0;
    if (parse_tuple(args, "OOOOOK", &path, &tensors, &parts, &dict, &list, &size) == 0) throw PythonError();
    const SaveOptions options = Options(dict).save();
    const SourcePtr promised = promised_bytes(size);
    Model model = model_from(tensors, parts, {{kPlaced, promised}});
    const std::string output = path_of(path);
    const std::vector<Run> runs = runs_from(list);
    std::optional<std::vector<std::uint64_t>> places;
    {
      const Unlocked others;
      places = places_of(std::move(model), *promised, runs, output, options);
    }
    return places ? list_of(*places, [](std::uint64_t offset) { return number(offset); }) : none();
  });
}

// _expect_room(descriptor, bytes, path): raises `io.sink.full` if the file system of the open file has less.
PyObject* expect_free_room(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* path = nullptr;
    int descriptor = -1;
    unsigned long long bytes = 0;
    if (parse_tuple(args, "iKO", &descriptor, &bytes, &path) == 0) throw PythonError();
    io::expect_room(descriptor, bytes, path_of(path));
    return none();
  });
}

// _placed_file(path, overwrite, places)
PyObject* create_placed(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *path = nullptr, *list = nullptr;
    int overwrite = 0;
    if (parse_tuple(args, "OpO", &path, &overwrite, &list) == 0) throw PythonError();
    auto file = std::make_unique<PlacedFile>(path_of(path), overwrite != 0);
    for (const Run& run : runs_from(list)) file->reserve(run);
    Ref capsule = Ref::take(PyCapsule_New(file.get(), kPlacedName, [](PyObject* object) {
      delete static_cast<PlacedFile*>(PyCapsule_GetPointer(object, kPlacedName));
    }));
    static_cast<void>(file.release());
    return capsule;
  });
}

// _reserve(file, offset, length)
PyObject* reserve_place(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* capsule = nullptr;
    unsigned long long offset = 0, length = 0;
    if (parse_tuple(args, "OKK", &capsule, &offset, &length) == 0) throw PythonError();
    PlacedFile& file = placed_of(capsule);
    {
      const Unlocked others;
      file.reserve({offset, length});
    }
    return none();
  });
}

// _put(file, offset, bytes)
PyObject* put_piece(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *capsule = nullptr, *data = nullptr;
    unsigned long long offset = 0;
    if (parse_tuple(args, "OKO", &capsule, &offset, &data) == 0) throw PythonError();
    PlacedFile& file = placed_of(capsule);
    const View view(data, false);
    {
      const Unlocked others;
      file.put(offset, view.bytes());
    }
    return none();
  });
}

// _save_placed(file, path, tensors, parts, options, straight, report). If not `straight`, some tensors have no position
// in the file, so all are copied to a new one.
PyObject* save_placed(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *capsule = nullptr, *path = nullptr, *tensors = nullptr, *parts = nullptr, *dict = nullptr,
             *report = nullptr;
    int straight = 0;
    if (parse_tuple(args, "OOOOOpO", &capsule, &path, &tensors, &parts, &dict, &straight, &report) == 0)
      throw PythonError();
    PlacedFile& file = placed_of(capsule);
    SaveOptions options = Options(dict).save();
    SourcePtr pieces;
    {
      const Unlocked others;
      pieces = file.end();
    }
    const Model model = model_from(tensors, parts, {{kPlaced, pieces}});
    const std::string output = path_of(path);
    std::optional<Saved> done;
    run_job(report, [&](Progress& progress) {
      options.work.progress = &progress;
      if (straight != 0) done = file.save(model, pieces, output, options);
      if (!done) done = save(model, output, options);
    });
    return saved_dict(*done).done();
  });
}

// _convert(input, output, options, report)
PyObject* convert_file(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *from = nullptr, *to = nullptr, *dict = nullptr, *report = nullptr;
    if (parse_tuple(args, "OOOO", &from, &to, &dict, &report) == 0) throw PythonError();
    ConvertOptions options = Options(dict).convert();
    const std::string input = path_of(from), output = path_of(to);
    Conversion done;
    run_job(report, [&](Progress& progress) {
      options.work.progress = &progress;
      done = convert(input, output, options);
    });
    return saved_dict(done).set("from", text(done.from)).done();
  });
}

// _parse_size(text): bytes, or None.
PyObject* size_of_text(PyObject*, PyObject* object) {
  return guarded([&] {
    const auto size = parse_size(text_of(object, "a size"));
    return size ? number(*size) : none();
  });
}

// _verify(path, options, report)
PyObject* verify_file(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *from = nullptr, *dict = nullptr, *report = nullptr;
    if (parse_tuple(args, "OOO", &from, &dict, &report) == 0) throw PythonError();
    const std::string path = path_of(from);
    ReadOptions options = Options(dict).read();
    Verification found;
    run_job(report, [&](Progress& progress) {
      options.work.progress = &progress;
      found = verify(path, options);
    });
    Dict facts;
    facts.set("format", text(found.format)).set("version", text(found.version));
    facts.set("tensors", number(found.tensors)).set("bytes", number(found.bytes));
    facts.set("findings", list_of(found.findings, finding_dict));
    return facts.done();
  });
}

// _hash(model, threads, report)
PyObject* hash_model(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *report = nullptr;
    unsigned threads = 0;
    if (parse_tuple(args, "OIO", &object, &threads, &report) == 0) throw PythonError();
    const auto model = model_of(object);
    std::string digest;
    run_job(report,
            [&](Progress& progress) { digest = content_digest(*model, {.threads = threads, .progress = &progress}); });
    return text(digest);
  });
}

// _diff(a, b, threads, report)
PyObject* diff_models(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *first = nullptr, *second = nullptr, *report = nullptr;
    unsigned threads = 0;
    if (parse_tuple(args, "OOIO", &first, &second, &threads, &report) == 0) throw PythonError();
    const auto a = complete_model_of(first), b = complete_model_of(second);
    Difference found;
    run_job(report, [&](Progress& progress) {
      if (!names_differ(*a, *b)) {
        found = diff(*a, *b, {.threads = threads, .progress = &progress});
        return;
      }
      Model x = *a, y = *b;
      pair_names(x, y);
      found = diff(x, y, {.threads = threads, .progress = &progress});
    });
    Dict facts;
    facts.set("compared", number(found.compared)).set("tensors", list_of(found.tensors, difference_dict));
    facts.set("metadata", list_of(found.metadata, metadata_difference_dict));
    return facts.done();
  });
}

// _planned(input, output, options): [(name, bytes), ...]
PyObject* planned(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *from = nullptr, *to = nullptr, *dict = nullptr;
    if (parse_tuple(args, "OOO", &from, &to, &dict) == 0) throw PythonError();
    const ConvertOptions options = Options(dict).convert();
    const std::string input = path_of(from), output = path_of(to);
    std::vector<PlannedTensor> found;
    run_job(Py_None, [&](Progress&) { found = planned_tensors(input, output, options); });
    return list_of(found, [](const PlannedTensor& tensor) {
      return Ref::take(PyTuple_Pack(2, text(tensor.name).get(), number(tensor.bytes).get()));
    });
  });
}

// _write_part(input, output, options, first, count, plan, path, report)
PyObject* write_planned_part(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *from = nullptr, *to = nullptr, *dict = nullptr, *plan = nullptr, *place = nullptr, *report = nullptr;
    Py_ssize_t first = 0, count = 0;
    if (parse_tuple(args, "OOOnnOOO", &from, &to, &dict, &first, &count, &plan, &place, &report) == 0)
      throw PythonError();
    ConvertOptions options = Options(dict).convert();
    const std::string input = path_of(from), output = path_of(to), path = path_of(place);
    const Part part{static_cast<std::size_t>(first), static_cast<std::size_t>(count), text_of(plan, "a plan")};
    run_job(report, [&](Progress& progress) {
      options.work.progress = &progress;
      write_part(input, output, options, part, path);
    });
    return none();
  });
}

// _is_part(path, plan)
PyObject* is_planned_part(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *place = nullptr, *plan = nullptr;
    if (parse_tuple(args, "OO", &place, &plan) == 0) throw PythonError();
    return boolean(is_part(path_of(place), text_of(plan, "a plan")));
  });
}

// _finish(input, output, options, parts, plan, any_owner, report)
PyObject* finish_plan(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *from = nullptr, *to = nullptr, *dict = nullptr, *list = nullptr, *plan = nullptr, *report = nullptr;
    int any_owner = 0;
    if (parse_tuple(args, "OOOOOpO", &from, &to, &dict, &list, &plan, &any_owner, &report) == 0) throw PythonError();
    ConvertOptions options = Options(dict).convert();
    const std::string input = path_of(from), output = path_of(to), id = text_of(plan, "a plan");
    std::vector<std::string> parts;
    const Py_ssize_t size = length_of_list(list);
    for (Py_ssize_t i = 0; i < size; ++i) parts.push_back(path_of(PyList_GetItem(list, i)));
    Conversion done;
    run_job(report, [&](Progress& progress) {
      options.work.progress = &progress;
      done = convert_from_parts(input, output, options, parts, id, any_owner != 0 ? Owners::any : Owners::trusted);
    });
    return saved_dict(done).set("from", text(done.from)).done();
  });
}

PyMethodDef work_methods[] = {{"_save", save_model, METH_VARARGS, nullptr},
                              {"_places", find_places, METH_VARARGS, nullptr},
                              {"_expect_room", expect_free_room, METH_VARARGS, nullptr},
                              {"_placed_file", create_placed, METH_VARARGS, nullptr},
                              {"_reserve", reserve_place, METH_VARARGS, nullptr},
                              {"_put", put_piece, METH_VARARGS, nullptr},
                              {"_save_placed", save_placed, METH_VARARGS, nullptr},
                              {"_convert", convert_file, METH_VARARGS, nullptr},
                              {"_parse_size", size_of_text, METH_O, nullptr},
                              {"_verify", verify_file, METH_VARARGS, nullptr},
                              {"_hash", hash_model, METH_VARARGS, nullptr},
                              {"_diff", diff_models, METH_VARARGS, nullptr},
                              {"_planned", planned, METH_VARARGS, nullptr},
                              {"_write_part", write_planned_part, METH_VARARGS, nullptr},
                              {"_is_part", is_planned_part, METH_VARARGS, nullptr},
                              {"_finish", finish_plan, METH_VARARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMethodDef* work_functions() { return work_methods; }

}  // namespace tare::py
