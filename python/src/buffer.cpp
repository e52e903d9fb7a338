#include "buffer.hpp"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/process_mutex.hpp"
#include "io/mapping_guard.hpp"

namespace tare::py {
namespace {

struct BufferObject {
  PyObject_HEAD std::span<const std::byte> bytes;
  bool writable;
  std::shared_ptr<const void> owner;
};

PyTypeObject* buffer_type = nullptr;

BufferObject& self_of(PyObject* object) { return *reinterpret_cast<BufferObject*>(object); }

void dealloc(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  BufferObject& self = self_of(object);
  std::destroy_at(&self.owner);
  PyObject_Free(object);
  drop(reinterpret_cast<PyObject*>(type));
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  const BufferObject& self = self_of(object);
  return PyBuffer_FillInfo(view, object, const_cast<std::byte*>(self.bytes.data()),
                           static_cast<Py_ssize_t>(self.bytes.size()), self.writable ? 0 : 1, flags);
}

Py_ssize_t length(PyObject* object) { return static_cast<Py_ssize_t>(self_of(object).bytes.size()); }

class HeldSource final : public Source {
 public:
  HeldSource(std::unique_ptr<View> view, std::string name)
      : Source(std::move(name), view->bytes().size()), bytes_(view->bytes()), view_(std::move(view)) {}
  ~HeldSource() override { free_with_gil(std::move(view_)); }
  HeldSource(const HeldSource&) = delete;
  HeldSource& operator=(const HeldSource&) = delete;

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  const std::byte* do_view() const override { return bytes_.data(); }

 private:
  std::span<const std::byte> bytes_;
  std::unique_ptr<View> view_;
};

// A private mapping of a whole file: changes stay in this process. All tensors of the file share one.
class PrivateMap {
 public:
  explicit PrivateMap(SourcePtr source)
      : source_(std::move(source)),
        begin_(::mmap(nullptr, source_->size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                      source_->descriptor(), 0)) {
    if (begin_ != MAP_FAILED) guard_.emplace(data(), source_->size(), true);
  }
  ~PrivateMap() {
    guard_.reset();
    if (begin_ != MAP_FAILED) ::munmap(begin_, source_->size());
  }
  PrivateMap(const PrivateMap&) = delete;
  PrivateMap& operator=(const PrivateMap&) = delete;

  bool works() const { return guard_ && guard_->works(); }
  const std::byte* data() const { return static_cast<const std::byte*>(begin_); }

 private:
  SourcePtr source_;
  void* begin_;
  std::optional<io::MappingGuard> guard_;
};

ProcessMutex maps_mutex(LockOrder::table);

// The mapping of a source. It lives as long as it is used.
std::shared_ptr<const PrivateMap> private_map_of(const SourcePtr& source) {
  static auto& maps = *new std::map<const Source*, std::weak_ptr<const PrivateMap>>;
  const std::scoped_lock lock(maps_mutex);
  std::erase_if(maps, [](const auto& entry) { return entry.second.expired(); });
  auto& place = maps[source.get()];
  auto map = place.lock();
  if (map == nullptr) place = map = std::make_shared<PrivateMap>(source);
  return map;
}

Ref buffer_of(std::span<const std::byte> bytes, bool writable, std::shared_ptr<const void> owner) {
  Ref object = Ref::take(PyType_GenericAlloc(buffer_type, 0));
  BufferObject& self = self_of(object.get());
  self.bytes = bytes;
  self.writable = writable;
  std::construct_at(&self.owner, std::move(owner));
  return object;
}

}  // namespace

void add_buffer_type(PyObject* module) {
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_tp_doc, const_cast<char*>("Bytes of a file, which stays open as long as they are used.")},
      {0, nullptr}};
  static PyType_Spec spec = {"tare._tare.Buffer", sizeof(BufferObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  buffer_type = reinterpret_cast<PyTypeObject*>(Ref::take(PyType_FromSpec(&spec)).release());
  checked(PyModule_AddObjectRef(module, "Buffer", reinterpret_cast<PyObject*>(buffer_type)));
}

Ref make_buffer(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return buffer_of(bytes, false, std::move(owner));
}

Ref make_private_buffer(const SourcePtr& source, std::uint64_t offset, std::uint64_t length) {
  if (source == nullptr || source->descriptor() < 0 || length == 0) return {};
  source->require(offset, length);
  const auto map = private_map_of(source);
  if (!map->works()) return {};
  return buffer_of({map->data() + offset, length}, true, map);
}

SourcePtr source_over(PyObject* object, std::string name) {
  return std::make_shared<HeldSource>(std::make_unique<View>(object, false), std::move(name));
}

}  // namespace tare::py
