// Uses huge pages, which several threads touch before the driver pins them: six times cheaper than its own allocation.
#include "device/ring.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <new>

#include "base/parallel.hpp"
#include "base/stopping.hpp"
#include "base/text.hpp"

namespace tare::device {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

}  // namespace

// New memory, aligned to huge pages.
class Pages {
 public:
  Pages(std::size_t bytes, unsigned threads) : bytes_(bytes), mapped_(bytes + kHugePage) {
    begin_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin_ == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    (void)::madvise(data(), bytes_, MADV_HUGEPAGE);
#endif
    const std::size_t pieces = (bytes_ + kHugePage - 1) / kHugePage;
    try {
      parallel_for(pieces, threads, [&](std::size_t i) {
        volatile std::byte* const piece = data() + i * kHugePage;
        for (std::size_t at = 0; at < std::min(kHugePage, bytes_ - i * kHugePage); at += kPage)
          piece[at] = std::byte{0};
      });
    } catch (...) {
      ::munmap(begin_, mapped_);
      throw;
    }
  }
  ~Pages() { ::munmap(begin_, mapped_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const {
    const auto address = reinterpret_cast<std::uintptr_t>(begin_);
    return reinterpret_cast<std::byte*>((address + kHugePage - 1) & ~(std::uintptr_t{kHugePage} - 1));
  }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_, mapped_;
  void* begin_;
};

struct Lease::Block {
  Block(ContextPtr its_context, std::size_t bytes, unsigned threads)
      : context(std::move(its_context)), pages(bytes, threads) {
    const Result result = context->driver().host_register(pages.data(), pages.size(), kPortable);
    if (result == 0) return;
    const Error why = driver_error(context->driver(), result, "pin memory");
    throw Error(ErrorKind::limit, "device.pinned",
                fmt::format("{} of memory cannot be pinned: {}", size_text(bytes), why.sentence()))
        .blame(Subject::machine);
  }
  ~Block() { context->driver().host_unregister(pages.data()); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  ContextPtr context;  // the memory is pinned through it, so it must outlive it
  Pages pages;
  bool leased = false;
};

class Lease::Pool {
 public:
  // Never destroyed, because the driver may be unloaded first when the process ends.
  static Pool& of_process() {
    static Pool& pool = *new Pool;
    return pool;
  }

  Block* take(const ContextPtr& context, std::uint64_t wanted, std::uint64_t least, std::uint64_t most,
              unsigned threads) {
    std::unique_lock lock(mutex_);
    for (;;) {
      for (Block& block : blocks_)
        if (!block.leased && block.context == context && block.pages.size() >= wanted && block.pages.size() <= most) {
          block.leased = true;
          return &block;
        }
      drop_free();
      std::uint64_t leased = 0;
      for (const Block& block : blocks_) leased += block.pages.size();
      if (leased + least <= most) {
        const std::uint64_t bytes = std::min(wanted, most - leased) / kPage * kPage;
        Block& block = blocks_.emplace_back(context, static_cast<std::size_t>(bytes), threads);
        block.leased = true;
        return &block;
      }
      changed_.wait_for(lock, std::chrono::milliseconds(20));
      check_stop();
    }
  }
  void give_back(Block* block) noexcept {
    const std::scoped_lock lock(mutex_);
    block->leased = false;
    changed_.notify_all();
  }
  void release() noexcept {
    const std::scoped_lock lock(mutex_);
    drop_free();
  }

 private:
  void drop_free() noexcept {
    for (auto block = blocks_.begin(); block != blocks_.end();) {
      if (block->leased) {
        ++block;
        continue;
      }
      // The context must be current while memory is unpinned, and outlive that.
      const ContextPtr context = block->context;
      try {
        const Current here(*context);
        block = blocks_.erase(block);
      } catch (const Error&) {
        block = blocks_.erase(block);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Block> blocks_;
};

Lease::Lease(const ContextPtr& context, std::uint64_t wanted, std::uint64_t least, std::uint64_t most,
             unsigned threads) {
  if (least > most)
    throw Error(
        ErrorKind::usage, "device.pinned.budget",
        fmt::format("{} of pinned memory are allowed, a load needs {} at least", size_text(most), size_text(least)));
  block_ = Pool::of_process().take(context, std::max(wanted, least), least, most, threads);
}

Lease::~Lease() { Pool::of_process().give_back(block_); }

std::span<std::byte> Lease::bytes() const { return {block_->pages.data(), block_->pages.size()}; }

void release() noexcept { Lease::Pool::of_process().release(); }

}  // namespace tare::device
