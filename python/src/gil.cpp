#include "gil.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>

namespace tare::py {

void park() noexcept {
  for (;;) ::pause();
}

bool is_finalizing() noexcept {
  // The first name exists in 3.13 and later. Neither is part of the stable ABI of 3.11.
  using Asked = int (*)();
  static const Asked asked = [] {
    void* const found = ::dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    return reinterpret_cast<Asked>(found != nullptr ? found : ::dlsym(RTLD_DEFAULT, "_Py_IsFinalizing"));
  }();
  return asked != nullptr && asked() != 0;
}

void Unlocked::release() noexcept { state_ = PyEval_SaveThread(); }

void Unlocked::reacquire() noexcept {
  if (!ends_python_ && is_finalizing()) park();
  // Python may start to finalize while this thread waits for the GIL.
  entered([this] { PyEval_RestoreThread(state_); });
  free_left_objects();
}

namespace {

struct LeftObject {
  void* object;
  void (*free)(void*);
  LeftObject* next;
};

// A list without a lock, so that a child of fork can use it, whatever its parent's threads were doing.
constinit std::atomic<LeftObject*> left_objects = nullptr;

}  // namespace

void free_with_gil(void* object, void (*free)(void*)) noexcept {
  if (PyGILState_GetThisThreadState() == nullptr) {
    auto* const left = new (std::nothrow) LeftObject{object, free, left_objects.load()};
    if (left == nullptr) return;  // the object stays until the process ends
    while (!left_objects.compare_exchange_weak(left->next, left)) {
    }
    return;
  }
  const PyGILState_STATE state = entered([] { return PyGILState_Ensure(); });
  entered([&] { free(object); });
  entered([&] { PyGILState_Release(state); });
}

void free_left_objects() noexcept {
  LeftObject* left = left_objects.exchange(nullptr);
  while (left != nullptr) {
    const std::unique_ptr<LeftObject> one(left);
    left = one->next;
    entered([&] { one->free(one->object); });
  }
}

}  // namespace tare::py
