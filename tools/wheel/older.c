// What libstdc++, libgcc and Tare take from the C library of Debian 12 and 2.28 does not have. tools/wheel/build links this
// with the module and the command; tools/wheel/check lists what they need in the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define OURS __attribute__((visibility("hidden")))

// 2.32: whether the program never had a second thread. No is always right.
OURS char __libc_single_threaded = 0;

// 2.35: the tables for exceptions of the object that an address is in, which libgcc of GCC 12 asks for and nothing else.
struct wanted {
  uintptr_t address;
  struct dl_find_object* result;
};

static int look_at(struct dl_phdr_info* object, size_t size, void* data) {
  (void)size;
  const struct wanted* const wanted = data;
  const ElfW(Phdr)* tables = NULL;
  const ElfW(Phdr)* inside = NULL;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) tables = part;
    if (part->p_type == PT_LOAD && wanted->address >= begin && wanted->address - begin < part->p_memsz) inside = part;
  }
  if (inside == NULL || tables == NULL) return 0;
  wanted->result->dlfo_flags = 0;
  wanted->result->dlfo_map_start = (void*)(object->dlpi_addr + inside->p_vaddr);
  wanted->result->dlfo_map_end = (void*)(object->dlpi_addr + inside->p_vaddr + inside->p_memsz);
  wanted->result->dlfo_link_map = NULL;
  wanted->result->dlfo_eh_frame = (void*)(object->dlpi_addr + tables->p_vaddr);
  return 1;
}

OURS int _dl_find_object(void* address, struct dl_find_object* result) {
  struct wanted wanted = {(uintptr_t)address, result};
  return dl_iterate_phdr(look_at, &wanted) == 1 ? 0 : -1;
}

// 2.36: std::random_device.
OURS uint32_t arc4random(void) {
  uint32_t number;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
    if (errno != EINTR) abort();
  return number;
}

// 2.30.
OURS ssize_t getdents64(int directory, void* buffer, size_t length) {
  return syscall(SYS_getdents64, directory, buffer, length);
}

// 2.30: waits by the clock of the wall instead. Whoever calls it looks at the right clock again.
OURS int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                const struct timespec* until) {
  struct timespec now, wall;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &wall) != 0) return EINVAL;
  int64_t left = (int64_t)(until->tv_sec - now.tv_sec) * 1000000000 + (until->tv_nsec - now.tv_nsec);
  if (left < 0) left = 0;
  left += wall.tv_nsec;
  wall.tv_sec += left / 1000000000;
  wall.tv_nsec = left % 1000000000;
  return pthread_cond_timedwait(condition, mutex, &wall);
}
