// Tables and locks that live as long as the process. A static object is destroyed at exit, while other threads may
// still run: threads of a program that returns from main, or of a Python interpreter that ends.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace tare {

// An object that is never destroyed, for static variables.
template <typename T>
class Forever {
 public:
  template <typename... Arguments>
  explicit Forever(Arguments&&... arguments) {
    ::new (static_cast<void*>(place_)) T(std::forward<Arguments>(arguments)...);
  }
  Forever(const Forever&) = delete;
  Forever& operator=(const Forever&) = delete;

  T& operator*() { return *std::launder(reinterpret_cast<T*>(place_)); }

 private:
  alignas(T) std::byte place_[sizeof(T)];
};

}  // namespace tare
