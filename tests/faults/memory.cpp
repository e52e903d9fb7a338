// Allocations, mappings, threads. Calls the C library's internal names, because looking up others would allocate.
#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "faults.hpp"
#include "next.hpp"

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {
bool no_memory() {
  if (!faults::fails(faults::Kind::alloc)) return false;
  errno = ENOMEM;
  return true;
}
}  // namespace

void* malloc(std::size_t size) { return no_memory() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return no_memory() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, std::size_t size) { return no_memory() ? nullptr : __libc_realloc(old, size); }
void* memalign(std::size_t alignment, std::size_t size) {
  return no_memory() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return no_memory() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (faults::fails(faults::Kind::alloc)) return ENOMEM;
  void* const memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}

void* mmap(void* where, std::size_t length, int protection, int flags, int file, off_t offset) {
  if (faults::fails(faults::Kind::map)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return NEXT(mmap)(where, length, protection, flags, file, offset);
}
void* mmap64(void* where, std::size_t length, int protection, int flags, int file, off64_t offset) {
  return mmap(where, length, protection, flags, file, offset);
}

void abort() noexcept {
  faults::note_frames();
  NEXT(abort)();
  __builtin_unreachable();
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*body)(void*), void* argument) {
  if (faults::fails(faults::Kind::thread)) return EAGAIN;
  return NEXT(pthread_create)(thread, how, body, argument);
}

}  // extern "C"
