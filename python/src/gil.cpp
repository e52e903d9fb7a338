#include "gil.hpp"

#include <dlfcn.h>
#include <unistd.h>

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
}

Locked::Locked() noexcept {
  if (is_finalizing() && PyGILState_GetThisThreadState() == nullptr) return;
  state_ = entered([] { return PyGILState_Ensure(); });
  held_ = true;
}

Locked::~Locked() {
  if (held_) entered([this] { PyGILState_Release(state_); });
}

}  // namespace tare::py
