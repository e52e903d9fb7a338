// Loads tensors into the memory of a GPU, at the speed of the link to it.
//
// The driver (libcuda.so.1) is loaded on first use; everything else works without one.
// Tare uses the primary context, as torch, jax and cupy do.
//
//   const Model model = open("model.safetensors");
//   device::Loading loading = device::load(model, device::arrange(model, device::all_of(model)));
//   while (const auto i = loading.next(stream)) use(loading.address(*i));   // while the rest is being read
//   const device::Report report = loading.finish();
//
// Errors have the rules `device.*` (docs/gpu.md) or those of the file that is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/dtype.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/shape.hpp"
#include "tare/work.hpp"

namespace tare::device {

struct Facts {
  std::string device;                  // "cuda:0"
  std::string name;                    // "NVIDIA H200"
  std::uint64_t memory = 0, free = 0;  // bytes
  int driver = 0;                      // 13000: a driver for CUDA 13.0
};

// Facts about "cuda:0", "cuda" (the first one) or "cuda:1". Throws usage `device.name` for other spellings,
// `device.driver.missing`, `device.driver.old`, `device.none` and `device.index`.
[[nodiscard]] TARE_API Facts facts(std::string_view device);

// Elements begin to end - 1 of one axis, such as the share of one rank of a tensor-parallel group.
struct AxisRange {
  std::size_t axis = 0;
  std::uint64_t begin = 0, end = 0;
};

struct Choice {
  std::string tensor;
  std::optional<AxisRange> part = std::nullopt;  // nothing: the whole tensor
  // Convert the elements to f32, f16 or bf16. If the device can decode the layout, the encoded bytes are copied.
  // Nothing: load every component as it is stored (decompressed).
  std::optional<DType> dtype = std::nullopt;
  // Without a dtype: load the decoded elements of a tensor that is not dense, instead of its components.
  bool decode = false;
};

using Choices = std::vector<Choice>;

// Every tensor, whole. Tensors without numbers of a float type keep their type. `decode`: see Choice.
[[nodiscard]] TARE_API Choices all_of(const Model& model, std::optional<DType> dtype = std::nullopt,
                                      bool decode = false);

// A component in device memory.
struct Placed {
  std::string tensor, role;
  std::string layout;  // "dense", or the layout of a tensor that is loaded as components
  DType dtype = DType::u8;
  std::string type;  // logical type; empty if it is the dtype itself
  Shape shape;       // for a component that is not dense: its number of storage elements
  std::size_t buffer = 0;
  std::uint64_t offset = 0, bytes = 0;  // in the buffer; offsets are multiples of 16
};

struct Pieces;

// Where everything goes: one buffer per file, with tensors in the order of the file, so that neighbours are copied
// together.
struct Arrangement {
  std::vector<Placed> tensors;         // in the order of the plan; tensors that share their bytes share their place
  std::vector<std::uint64_t> buffers;  // bytes of each
  std::shared_ptr<const Pieces> pieces;
};

// Works without a driver. Reads no tensor data. Throws usage `device.plan.tensor`, `device.plan.part` and
// `device.plan.type`, what to_dense throws, and `dense.size` for a tensor whose bytes do not match its shape.
[[nodiscard]] TARE_API Arrangement arrange(const Model& model, const Choices& choices,
                                           std::string_view device = "cuda:0");

struct Memory {
  std::uint64_t address = 0, bytes = 0;
};

struct Destination {
  // Device memory of the caller: one for each of Arrangement::buffers or, with `each`, for each of Arrangement::tensors. Empty:
  // Tare allocates the buffers, which live as long as the Loading.
  std::vector<Memory> memory = {};
  bool each = false;
  // The stream (CUstream) whose earlier work may still use that memory; null: the default stream.
  void* stream = nullptr;
};

// Direct reads bypass the page cache: much faster from a disk, much slower if the file is cached.
enum class Reading : std::uint8_t {
  // Direct for ranges that are mostly not in the page cache; never on memory or network file systems.
  automatic,
  buffered,
  direct,  // if the file system supports it
};

struct Options {
  std::string device = "cuda:0";
  // Compare the stored digests and count NaN and infinities, on the very bytes that are copied. A tensor is handed out
  // only after its digest matched; otherwise `digest.mismatch` is thrown.
  bool verify = false;
  std::uint64_t pinned_bytes = std::uint64_t{128} << 20;  // limit for all loads of the process together
  std::uint64_t chunk_bytes = std::uint64_t{4} << 20;     // per read and copy; a multiple of 4096, at least 256 KiB
  Reading reading = Reading::automatic;
  // Threads that read; 0: as many as there are cores, up to 14 (16 with `verify`). The progress counts bytes handed to
  // the device.
  Work work = {};
};

struct Report {
  std::uint64_t bytes = 0;  // all loaded tensors in device memory
  // Over the link: fewer if the device decodes, a few more because of padding.
  std::uint64_t copied_bytes = 0;
  std::uint64_t read_bytes = 0, reads = 0, direct_bytes = 0;  // from files; direct: bypassing the page cache
  std::uint64_t digests = 0;                                  // digests compared
  std::uint64_t unchecked = 0;                                // components with a digest that were loaded only in part
  std::uint64_t nan = 0, inf = 0;
  std::string nonfinite;                             // the first tensor with a NaN or an infinity
  std::uint64_t pinned_bytes = 0, device_bytes = 0;  // allocated
  unsigned threads = 0;
  double seconds = 0, first_seconds = 0;  // until everything, and until the first tensor, was in device memory
};

// A load in progress. Its threads read and copy everything, even if no caller waits. Several threads may call it at
// once. Destroying it ends the work, waits for what the device has begun and frees what Tare allocated.
class TARE_API Loading {
 public:
  ~Loading();
  Loading(Loading&&) noexcept;
  Loading& operator=(Loading&&) = delete;

  const Arrangement& arrangement() const;
  // The device address of one of Arrangement::tensors.
  [[nodiscard]] std::uint64_t address(std::size_t tensor) const;
  // Waits until the copy of the tensor has been issued, and makes `stream` wait for it on the device: work that is put
  // into that stream from now on sees the tensor. Throws the load's error, and `work.stopped`.
  void wait(std::size_t tensor, void* stream = nullptr);
  // The same for the next tensor in the order of arrival; returns nothing after each was returned once.
  [[nodiscard]] std::optional<std::size_t> next(void* stream = nullptr);
  // Waits until everything is in device memory and checks that the files have not changed. Throws the load's error.
  Report finish();
  void cancel() noexcept;

 private:
  friend TARE_API Loading load(const Model&, Arrangement, Destination, const Options&);
  class State;
  explicit Loading(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Begins to load. Keeps the files open itself, so the model may be destroyed. Before it reads anything, it throws
// `device.*` for a device that does not exist or has too little memory, and for a destination that is too small or not
// on the device.
[[nodiscard]] TARE_API Loading load(const Model& model, Arrangement arrangement, Destination destination = {},
                                    const Options& options = {});

// Bytes per second of one large copy from pinned memory to the device.
[[nodiscard]] TARE_API double link_speed(std::string_view device);

// Copies device memory to the host, for tests and tools; waits for the device.
TARE_API void read_back(std::string_view device, std::uint64_t address, std::span<std::byte> out);

// Frees the pinned memory that is kept for the next load, and releases the driver's context unless it is in use.
TARE_API void release() noexcept;

}  // namespace tare::device
