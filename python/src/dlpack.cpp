#include "dlpack.hpp"

#include <memory>
#include <vector>

namespace tare::py {
namespace {

// The structures of DLPack 1.0; its specification fixes their layout.
struct DLDevice {
  std::int32_t device_type;  // 1: host memory
  std::int32_t device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
struct DLManagedTensorVersioned {
  std::uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

constexpr std::uint64_t kReadOnly = 1, kCopied = 2;
constexpr std::int32_t kHost = 1;

// What a capsule keeps alive.
template <typename Managed>
struct Kept {
  Managed managed{};
  std::unique_ptr<View> view;  // for host memory
  Ref owner;                   // for device memory
  std::vector<std::int64_t> shape, strides;
};

// May be called by a thread that does not hold the GIL.
template <typename Managed>
void forget(Managed* self) {
  free_with_gil(std::unique_ptr<Kept<Managed>>(static_cast<Kept<Managed>*>(self->manager_ctx)));
}

template <typename Managed>
constexpr const char* kCapsule = "dltensor";
template <>
constexpr const char* kCapsule<DLManagedTensorVersioned> = "dltensor_versioned";

// Destroys a capsule that was not consumed; a consumed one has been renamed.
template <typename Managed>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsule<Managed>) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kCapsule<Managed>));
  managed->deleter(managed);
}

struct Export {
  PyObject *data = nullptr, *shape = nullptr;
  unsigned char code = 0, bits = 0;
  int versioned = 0, read_only = 0;
  DLDevice device = {kHost, 0};
  void* address = nullptr;  // on a device; `data` is then its owner
};

template <typename Managed>
Ref make_capsule(const Export& what) {
  auto kept = std::make_unique<Kept<Managed>>();
  if (what.device.device_type == kHost)
    kept->view = std::make_unique<View>(what.data, false);
  else
    kept->owner = Ref::share(what.data);
  const Py_ssize_t rank = length_of_tuple(what.shape);
  for (Py_ssize_t i = 0; i < rank; ++i) {
    kept->shape.push_back(PyLong_AsLongLong(PyTuple_GetItem(what.shape, i)));
    if (PyErr_Occurred() != nullptr) throw PythonError();
  }
  kept->strides.assign(kept->shape.size(), 1);
  for (std::size_t i = kept->shape.size(); i-- > 1;) kept->strides[i - 1] = kept->strides[i] * kept->shape[i];
  DLTensor& tensor = kept->managed.dl_tensor;
  tensor = {kept->view != nullptr ? kept->view->bytes().data() : what.address,
            what.device,
            static_cast<std::int32_t>(rank),
            {what.code, what.bits, 1},
            kept->shape.data(),
            kept->strides.data(),
            0};
  free_left_objects();  // by threads of other libraries: their number never outgrows that of the exports
  kept->managed.manager_ctx = kept.get();
  kept->managed.deleter = forget<Managed>;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    kept->managed.major = 1;
    kept->managed.minor = 0;
    kept->managed.flags = kept->view == nullptr ? 0 : what.read_only != 0 ? kReadOnly : kCopied;
  }
  Ref capsule = Ref::take(PyCapsule_New(&kept->managed, kCapsule<Managed>, destroy_capsule<Managed>));
  static_cast<void>(kept.release());
  return capsule;
}

}  // namespace

PyObject* make_dlpack(PyObject*, PyObject* args) {
  return guarded([&] {
    Export what;
    if (parse_tuple(args, "OObbpp", &what.data, &what.shape, &what.code, &what.bits, &what.versioned,
                    &what.read_only) == 0)
      throw PythonError();
    return what.versioned != 0 ? make_capsule<DLManagedTensorVersioned>(what) : make_capsule<DLManagedTensor>(what);
  });
}

PyObject* make_device_dlpack(PyObject*, PyObject* args) {
  return guarded([&] {
    Export what;
    unsigned long long address = 0;
    if (parse_tuple(args, "KiiObbpO", &address, &what.device.device_type, &what.device.device_id, &what.shape,
                    &what.code, &what.bits, &what.versioned, &what.data) == 0)
      throw PythonError();
    what.address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    return what.versioned != 0 ? make_capsule<DLManagedTensorVersioned>(what) : make_capsule<DLManagedTensor>(what);
  });
}

}  // namespace tare::py
