#include "device.hpp"

#include <map>

#include "model.hpp"
#include "model/dtype_option.hpp"
#include "options.hpp"
#include "run_job.hpp"
#include "tare/device.hpp"

namespace tare::py {
namespace {

constexpr const char *kArrangement = "tare.device.arrangement", *kLoading = "tare.device.loading";

template <typename Held>
Held& held(PyObject* capsule, const char* name) {
  void* const pointer = PyCapsule_GetPointer(capsule, name);
  if (pointer == nullptr) throw PythonError();
  return *static_cast<Held*>(pointer);
}

// Waits for the device, so it must release the GIL.
void destroy_loading(PyObject* capsule) {
  auto* const loading = static_cast<device::Loading*>(PyCapsule_GetPointer(capsule, kLoading));
  const Unlocked others;
  delete loading;
}

void destroy_arrangement(PyObject* capsule) {
  delete static_cast<device::Arrangement*>(PyCapsule_GetPointer(capsule, kArrangement));
}

std::optional<DType> dtype_of(PyObject* object) {
  if (object == Py_None) return std::nullopt;
  const std::string name = text_of(object, "a type");
  const std::optional<DType> found = parse_dtype_option(name);
  if (!found) raise_value_error(no_such_type(name));
  return found;
}

std::uint64_t whole(PyObject* object) {
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

void* stream_from(PyObject* object) {
  return object == Py_None ? nullptr : reinterpret_cast<void*>(static_cast<std::uintptr_t>(whole(object)));
}

// [(name, dtype or None, None or (axis, begin, end)), ...]
device::Choices plan_from(PyObject* list) {
  device::Choices plan;
  const Py_ssize_t size = length_of_list(list);
  plan.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* const row = PyList_GetItem(list, i);
    device::Choice choice{text_of(item_of_tuple(row, 0), "the name of a tensor")};
    choice.decode = true;
    choice.dtype = dtype_of(item_of_tuple(row, 1));
    PyObject* const part = item_of_tuple(row, 2);
    if (part != Py_None)
      choice.part = {whole(item_of_tuple(part, 0)), whole(item_of_tuple(part, 1)), whole(item_of_tuple(part, 2))};
    plan.push_back(std::move(choice));
  }
  return plan;
}

Ref placed_shape(const Shape& shape) {
  Ref tuple = Ref::take(PyTuple_New(static_cast<Py_ssize_t>(shape.rank())));
  for (std::size_t i = 0; i < shape.rank(); ++i)
    checked(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), number(shape[i]).release()));
  return tuple;
}

// _device_layout(model, plan or None, type or None, device): (layout, bytes of the buffers). Without a plan everything
// is loaded. Tensors that are not dense are decoded.
PyObject* make_layout(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *list = nullptr, *kind = nullptr, *place = nullptr;
    if (parse_tuple(args, "OOOO", &object, &list, &kind, &place) == 0) throw PythonError();
    const auto model = model_of(object);
    const std::string device = text_of(place, "a device");
    const std::optional<DType> dtype = dtype_of(kind);
    std::optional<device::Choices> plan;
    if (list != Py_None) plan = plan_from(list);
    auto arrangement = std::make_unique<device::Arrangement>();
    {
      const Unlocked others;
      *arrangement = device::arrange(*model, plan ? *plan : device::all_of(*model, dtype, true), device);
    }
    const Ref buffers = list_of(arrangement->buffers, [](std::uint64_t bytes) { return number(bytes); });
    const Ref capsule = Ref::take(PyCapsule_New(arrangement.get(), kArrangement, destroy_arrangement));
    static_cast<void>(arrangement.release());
    return Ref::take(PyTuple_Pack(2, capsule.get(), buffers.get()));
  });
}

// _device_rows(layout): [(name, type, shape, buffer, offset, bytes), ...]
PyObject* layout_rows(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* capsule = nullptr;
    if (parse_tuple(args, "O", &capsule) == 0) throw PythonError();
    // Many tensors share few types, so each type's name is made once.
    std::map<std::string_view, Ref> types;
    return list_of(held<device::Arrangement>(capsule, kArrangement).tensors, [&](const device::Placed& placed) {
      const std::string_view type = placed.type.empty() ? name_of(placed.dtype) : std::string_view(placed.type);
      Ref& known = types[type];
      if (!known) known = text(type);
      return Ref::take(PyTuple_Pack(6, text(placed.tensor).get(), known.get(), placed_shape(placed.shape).get(),
                                    number(std::uint64_t{placed.buffer}).get(), number(placed.offset).get(),
                                    number(placed.bytes).get()));
    });
  });
}

// _device_load(model, layout, [(address, bytes), ...] or None, stream, options)
PyObject* begin_load(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *capsule = nullptr, *memory = nullptr, *stream = nullptr, *dict = nullptr;
    if (parse_tuple(args, "OOOOO", &object, &capsule, &memory, &stream, &dict) == 0) throw PythonError();
    const auto model = model_of(object);
    const auto& arrangement = held<device::Arrangement>(capsule, kArrangement);
    device::Destination destination;
    destination.stream = stream_from(stream);
    const Py_ssize_t places = memory == Py_None ? 0 : length_of_list(memory);
    for (Py_ssize_t i = 0; i < places; ++i) {
      PyObject* const row = PyList_GetItem(memory, i);
      destination.memory.push_back({whole(item_of_tuple(row, 0)), whole(item_of_tuple(row, 1))});
    }
    const Options given(dict);
    device::Options options;
    options.device = given.text("device");
    options.verify = given.flag("verify") || is_verified(object);
    destination.each = given.flag("each");
    options.work.threads = static_cast<unsigned>(given.number("threads").value_or(0));
    if (const auto bytes = given.number("pinned_bytes")) options.pinned_bytes = static_cast<std::uint64_t>(*bytes);
    std::unique_ptr<device::Loading> loading;
    {
      const Unlocked others;
      loading = std::make_unique<device::Loading>(device::load(*model, arrangement, destination, options));
    }
    Ref made = Ref::take(PyCapsule_New(loading.get(), kLoading, destroy_loading));
    static_cast<void>(loading.release());
    return made;
  });
}

// _device_next(loading, stream): the number of a tensor, or None
PyObject* next_tensor(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *capsule = nullptr, *stream = nullptr;
    if (parse_tuple(args, "OO", &capsule, &stream) == 0) throw PythonError();
    auto& loading = held<device::Loading>(capsule, kLoading);
    void* const waits = stream_from(stream);
    std::optional<std::size_t> found;
    {
      const Unlocked others;
      found = loading.next(waits);
    }
    checked(check_signals());
    return found ? number(std::uint64_t{*found}) : none();
  });
}

// _device_finish(loading, report): a dict with the results
PyObject* finish_load(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *capsule = nullptr, *progress = nullptr;
    if (parse_tuple(args, "OO", &capsule, &progress) == 0) throw PythonError();
    auto& loading = held<device::Loading>(capsule, kLoading);
    device::Report report;
    run_job(progress, [&](Progress&) { report = loading.finish(); });
    Dict facts;
    facts.set("bytes", number(report.bytes)).set("copied_bytes", number(report.copied_bytes));
    facts.set("read_bytes", number(report.read_bytes)).set("reads", number(report.reads));
    facts.set("direct_bytes", number(report.direct_bytes)).set("digests", number(report.digests));
    facts.set("unchecked", number(report.unchecked)).set("nan", number(report.nan)).set("inf", number(report.inf));
    facts.set("nonfinite", report.nonfinite.empty() ? none() : text(report.nonfinite));
    facts.set("pinned_bytes", number(report.pinned_bytes)).set("device_bytes", number(report.device_bytes));
    facts.set("threads", number(std::uint64_t{report.threads})).set("seconds", real(report.seconds));
    facts.set("first_seconds", real(report.first_seconds));
    return facts.done();
  });
}

// _device_address(loading, number)
PyObject* tensor_address(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* capsule = nullptr;
    Py_ssize_t tensor = 0;
    if (parse_tuple(args, "On", &capsule, &tensor) == 0) throw PythonError();
    return number(held<device::Loading>(capsule, kLoading).address(static_cast<std::size_t>(tensor)));
  });
}

// _device_read(device, address, bytes): a copy
PyObject* read_memory(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *place = nullptr, *address = nullptr, *size = nullptr;
    if (parse_tuple(args, "OOO", &place, &address, &size) == 0) throw PythonError();
    Bytes copy(whole(size));
    const std::string device = text_of(place, "a device");
    const std::uint64_t from = whole(address);
    {
      const Unlocked others;
      device::read_back(device, from, copy);
    }
    return bytes(copy);
  });
}

// _device_facts(device)
PyObject* device_facts(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* place = nullptr;
    if (parse_tuple(args, "O", &place) == 0) throw PythonError();
    const device::Facts found = device::facts(text_of(place, "a device"));
    Dict facts;
    facts.set("device", text(found.device)).set("name", text(found.name)).set("memory", number(found.memory));
    facts.set("free", number(found.free)).set("driver", number(std::int64_t{found.driver}));
    return facts.done();
  });
}

PyObject* release_pinned(PyObject*, PyObject*) {
  return guarded([] {
    {
      const Unlocked others;
      device::release();
    }
    return none();
  });
}

PyMethodDef device_methods[] = {{"_device_layout", make_layout, METH_VARARGS, nullptr},
                                {"_device_rows", layout_rows, METH_VARARGS, nullptr},
                                {"_device_load", begin_load, METH_VARARGS, nullptr},
                                {"_device_next", next_tensor, METH_VARARGS, nullptr},
                                {"_device_finish", finish_load, METH_VARARGS, nullptr},
                                {"_device_address", tensor_address, METH_VARARGS, nullptr},
                                {"_device_read", read_memory, METH_VARARGS, nullptr},
                                {"_device_facts", device_facts, METH_VARARGS, nullptr},
                                {"_device_release", release_pinned, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMethodDef* device_functions() { return device_methods; }

}  // namespace tare::py
