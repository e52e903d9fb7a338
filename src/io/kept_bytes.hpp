// The decoded bytes of a compressed blob that is read out of order.
//
// Compressed bytes can be decoded only from the beginning of the blob or of a frame. Reading rows from the last to the
// first would therefore decode the blob once per row. To avoid that, the bytes that are decoded and then skipped are
// counted. When they exceed the size of the blob, the whole blob is decoded into scratch space (memory for a small blob,
// otherwise a temporary file) and read from there. In any order, this costs about three times as much as reading the
// blob once.
//
// A process keeps 64 blobs of any size, and more while all together have at most 512 MiB, which is more than two files
// of 5 MB may unpack to; beyond that, the least recently used ones are dropped. Without space for a temporary file, nothing
// is kept and reading is slow.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>

#include "tare/source.hpp"

namespace tare {
class BlobProducer;
}

namespace tare::io {

// Belongs to a producer. Any number of threads may use it.
class KeptBytes {
 public:
  KeptBytes() = default;
  ~KeptBytes() { drop(); }
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;

  // The kept bytes; null if there are none.
  SourcePtr get();
  // Called before `producer`, which makes `size` bytes, is opened at `offset`. Returns the kept bytes, or null if the
  // producer is to be opened.
  SourcePtr before_open(const BlobProducer& producer, std::uint64_t size, std::uint64_t offset);

 private:
  void keep(SourcePtr source);
  void drop();
  // Removes it from the list and returns what it kept. The caller holds the lock.
  SourcePtr take_out();

  std::atomic<std::uint64_t> skipped_{0};
  std::mutex making_;
  // Guarded by the lock of all kept bytes.
  SourcePtr source_;
  std::list<KeptBytes*>::iterator place_;  // valid while source_ is set
};

}  // namespace tare::io
