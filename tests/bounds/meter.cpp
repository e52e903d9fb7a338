// Counts what the command does, when loaded before it (LD_PRELOAD): allocations and the peak of memory, calls of the
// functions that compare and move memory and the bytes they were given, bytes read from files, and bytes read back from
// temporary files without a name. All of it is the same in every run
// with one thread, on every machine; none of it is time. The sums go to the file that TARE_METER names.
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<std::uint64_t> allocations{0}, held{0}, peak{0}, calls{0}, bytes{0}, input{0}, spilled{0};

void* took(void* block) {
  if (block == nullptr) return block;
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t size = ::malloc_usable_size(block);
  const std::uint64_t now = held.fetch_add(size, std::memory_order_relaxed) + size;
  for (std::uint64_t most = peak.load(std::memory_order_relaxed); now > most;)
    if (peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) break;
  return block;
}
void gave(void* block) {
  if (block != nullptr) held.fetch_sub(::malloc_usable_size(block), std::memory_order_relaxed);
}
void worked(std::size_t count) {
  calls.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(count, std::memory_order_relaxed);
}

// The real functions. Until they have been looked up (which calls some of them), plain loops are used.
using Move = void* (*)(void*, const void*, std::size_t);
using Compare = int (*)(const void*, const void*, std::size_t);
using Find = void* (*)(const void*, int, std::size_t);
using Fill = void* (*)(void*, int, std::size_t);
using Read = ssize_t (*)(int, void*, std::size_t);
using ReadAt = ssize_t (*)(int, void*, std::size_t, off_t);
Move next_move = nullptr;
Compare next_compare = nullptr;
Find next_find = nullptr;
Fill next_fill = nullptr;
Read next_read = nullptr;
ReadAt next_read_at = nullptr;

template <typename Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void start() {
  look_up(next_read, "read");
  look_up(next_read_at, "pread");
  look_up(next_compare, "memcmp");
  look_up(next_find, "memchr");
  look_up(next_fill, "memset");
  look_up(next_move, "memmove");
}

void count_read(int file, ssize_t got) {
  if (got <= 0) return;
  struct stat status {};
  const bool is_own = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
  (is_own ? spilled : input).fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
}

__attribute__((destructor)) void stop() {
  const char* const path = std::getenv("TARE_METER");
  const int file = path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  char text[256];
  const int length = std::snprintf(
      text, sizeof text,
      "{\"allocations\": %llu, \"peak\": %llu, \"calls\": %llu, \"bytes\": %llu, \"read\": %llu, \"spilled\": %llu}\n",
      static_cast<unsigned long long>(allocations.load()), static_cast<unsigned long long>(peak.load()),
      static_cast<unsigned long long>(calls.load()), static_cast<unsigned long long>(bytes.load()),
      static_cast<unsigned long long>(input.load()), static_cast<unsigned long long>(spilled.load()));
  if (::write(file, text, static_cast<std::size_t>(length)) != length) std::abort();
  ::close(file);
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);

void* malloc(std::size_t size) { return took(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return took(__libc_calloc(count, size)); }
void* realloc(void* old, std::size_t size) {
  gave(old);
  return took(__libc_realloc(old, size));
}
void* memalign(std::size_t alignment, std::size_t size) { return took(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return took(__libc_memalign(alignment, size)); }
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  *out = took(__libc_memalign(alignment, size));
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  gave(block);
  __libc_free(block);
}

void* memmove(void* to, const void* from, std::size_t count) {
  worked(count);
  if (next_move != nullptr) return next_move(to, from, count);
  auto* const out = static_cast<volatile char*>(to);
  const auto* const in = static_cast<const volatile char*>(from);
  if (out < in)
    for (std::size_t i = 0; i < count; ++i) out[i] = in[i];
  else
    for (std::size_t i = count; i-- > 0;) out[i] = in[i];
  return to;
}
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t count) { return memmove(to, from, count); }

int memcmp(const void* a, const void* b, std::size_t count) {
  worked(count);
  if (next_compare != nullptr) return next_compare(a, b, count);
  const auto* const x = static_cast<const volatile unsigned char*>(a);
  const auto* const y = static_cast<const volatile unsigned char*>(b);
  for (std::size_t i = 0; i < count; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}
int bcmp(const void* a, const void* b, std::size_t count) { return memcmp(a, b, count); }

void* memchr(const void* in, int what, std::size_t count) {
  void* const found = next_find != nullptr ? next_find(in, what, count) : nullptr;
  if (next_find == nullptr) {
    const auto* const x = static_cast<const volatile unsigned char*>(in);
    for (std::size_t i = 0; i < count; ++i)
      if (x[i] == static_cast<unsigned char>(what)) return const_cast<unsigned char*>(x + i);
    return nullptr;
  }
  worked(found == nullptr ? count : static_cast<std::size_t>(static_cast<char*>(found) - static_cast<const char*>(in)));
  return found;
}

void* memset(void* to, int what, std::size_t count) {
  worked(count);
  if (next_fill != nullptr) return next_fill(to, what, count);
  auto* const out = static_cast<volatile char*>(to);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<char>(what);
  return to;
}

ssize_t read(int file, void* out, std::size_t count) {
  const ssize_t got = next_read(file, out, count);
  count_read(file, got);
  return got;
}
ssize_t pread(int file, void* out, std::size_t count, off_t at) {
  const ssize_t got = next_read_at(file, out, count, at);
  count_read(file, got);
  return got;
}
ssize_t pread64(int file, void* out, std::size_t count, off64_t at) { return pread(file, out, count, at); }

}  // extern "C"
