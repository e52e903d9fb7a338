// Tensors into the memory of a GPU, at the speed of the link to it.
//
// The driver is opened when it is asked for (libcuda.so.1); without one nothing here works
// and nothing else suffers. The primary context is used, which is the one that torch, jax and cupy use, too.
//
//   const Model model = open("model.safetensors");
//   device::Loading loading = device::load(model, device::arrange(model, device::all_of(model)));
//   while (const auto i = loading.next(stream)) use(loading.address(*i));   // while the rest is being read
//   const device::Report report = loading.finish();
//
// Errors have the rules `device.*` (docs/gpu.md) beside those of the file that is read.
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
#include "tare/progress.hpp"
#include "tare/shape.hpp"

namespace tare::device {

struct Facts {
  std::string device;                  // "cuda:0"
  std::string name;                    // "NVIDIA H200"
  std::uint64_t memory = 0, free = 0;  // bytes
  int driver = 0;                      // 13000: the driver is one for CUDA 13.0
};

// Of "cuda:0", "cuda" (the first one), "cuda:1". Throws usage `device.name` for other spellings, `device.driver.missing`,
// `device.driver.old`, `device.none`, `device.index`.
[[nodiscard]] TARE_API Facts facts(std::string_view device);

// Elements begin to end - 1 of one axis, as a rank of a tensor-parallel group takes them.
struct Part {
  std::size_t axis = 0;
  std::uint64_t begin = 0, end = 0;
};

struct Choice {
  std::string tensor;
  std::optional<Part> part = std::nullopt;  // nothing: all of it
  // What the elements become on the way: f32, f16 or bf16. The packed bytes travel where the device can decode them.
  // Nothing: every component as it is stored (decompressed).
  std::optional<DType> dtype = std::nullopt;
  // Without a type: the elements of a tensor that is not dense, as it decodes to, instead of its components.
  bool decode = false;
};

using Plan = std::vector<Choice>;

// Every tensor, whole. Those whose elements are not numbers of a float type keep their type. `decode` as in Choice.
[[nodiscard]] TARE_API Plan all_of(const Model& model, std::optional<DType> dtype = std::nullopt, bool decode = false);

// A component in device memory.
struct Placed {
  std::string tensor, role;
  std::string layout;  // "dense", or that of a tensor whose components are not its elements
  DType dtype = DType::u8;
  std::string type;  // logical type; empty when it is the dtype itself
  Shape shape;       // of a component that is not dense: its storage elements
  std::size_t buffer = 0;
  std::uint64_t offset = 0, bytes = 0;  // in the buffer; offsets are multiples of 16
};

struct Pieces;

// Where everything goes: one buffer for each file, in which tensors lie as in the file, so that neighbours travel together.
struct Layout {
  std::vector<Placed> tensors;         // in the order of the plan; tensors that share their bytes share their place
  std::vector<std::uint64_t> buffers;  // bytes of each
  std::shared_ptr<const Pieces> pieces;
};

// For "cuda:0" and so on; no driver is needed. Reads no tensor data. Throws usage `device.plan.tensor`,
// `device.plan.part`, `device.plan.type`, and what to_dense throws; `dense.size` for a tensor whose bytes are not its shape.
[[nodiscard]] TARE_API Layout arrange(const Model& model, const Plan& plan, std::string_view device = "cuda:0");

struct Memory {
  std::uint64_t address = 0, bytes = 0;
};

struct Destination {
  // Device memory of the caller: for each of Layout::buffers, or, with `each`, for each of Layout::tensors. Empty: Tare
  // allocates the buffers, which live as long as the Loading.
  std::vector<Memory> memory = {};
  bool each = false;
  // The stream (CUstream) whose work up to now may still use that memory; null: the default stream.
  void* stream = nullptr;
};

// Direct reading goes around the page cache: much faster from a disk, much slower for a file that is in memory.
enum class Reading : std::uint8_t {
  automatic,  // as much of each range is in the page cache; never direct from memory or network file systems
  buffered,
  direct,  // where the file system can
};

struct Options {
  std::string device = "cuda:0";
  // Digests that the file has are compared and NaN and infinities counted, of the very bytes that are copied. A tensor is
  // handed out after its digest matched; one that does not is `digest.mismatch`.
  bool verify = false;
  unsigned threads = 0;                                   // that read; 0: up to 14, as there are cores for
  std::uint64_t pinned_bytes = std::uint64_t{128} << 20;  // at most, by all loads of the process together
  std::uint64_t chunk_bytes = std::uint64_t{4} << 20;  // read and copied at once; a multiple of 4096, 256 KiB at least
  Reading reading = Reading::automatic;
  Progress* progress = nullptr;  // counts bytes that were handed to the device
};

struct Report {
  std::uint64_t bytes = 0;         // in the places that were filled
  std::uint64_t copied_bytes = 0;  // over the link: fewer where the device decodes, a few more where there is padding
  std::uint64_t read_bytes = 0, reads = 0, direct_bytes = 0;  // from files; of those around the page cache
  std::uint64_t digests = 0;                                  // that were compared
  std::uint64_t unchecked = 0;  // components with a digest of which only a part was loaded
  std::uint64_t nan = 0, inf = 0;
  std::string nonfinite;                             // the first tensor with a NaN or an infinity
  std::uint64_t pinned_bytes = 0, device_bytes = 0;  // that were allocated
  unsigned threads = 0;
  double seconds = 0, first_seconds = 0;  // until everything, until the first tensor was in device memory
};

// A load that is under way. Its threads read and copy until everything is there, whether or not anybody asks. Of several
// threads each may ask. Destroying it ends the work, waits for what the device has begun and frees what Tare allocated.
class TARE_API Loading {
 public:
  ~Loading();
  Loading(Loading&&) noexcept;
  Loading& operator=(Loading&&) = delete;

  const Layout& layout() const;
  // Of one of Layout::tensors.
  [[nodiscard]] std::uint64_t address(std::size_t tensor) const;
  // Waits until the tensor is on its way, and has `stream` wait for it on the device: work that is put into that stream
  // from now on finds the tensor. Throws what went wrong with the load, and `work.stopped`.
  void wait(std::size_t tensor, void* stream = nullptr);
  // The same for the next tensor that is on its way, in the order of arrival; nothing when each was given once.
  [[nodiscard]] std::optional<std::size_t> next(void* stream = nullptr);
  // Waits until all of it is in device memory and the files are those that were opened. Throws what went wrong.
  Report finish();
  void cancel() noexcept;

 private:
  friend TARE_API Loading load(const Model&, Layout, Destination, const Options&);
  class State;
  explicit Loading(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Begins to load. Keeps the files open by itself; the model may go. Before anything is read it throws `device.*` for a
// device that is not there or has too little memory, and for a destination that is too small or elsewhere.
[[nodiscard]] TARE_API Loading load(const Model& model, Layout layout, Destination destination = {},
                                    const Options& options = {});

// Bytes per second from pinned memory to the device, as one large copy reaches it.
[[nodiscard]] TARE_API double link_speed(std::string_view device);

// A copy to the host, for tests and tools; waits for the device.
TARE_API void read_back(std::string_view device, std::uint64_t address, std::span<std::byte> out);

// Gives back the pinned memory that is kept for the next load, and the driver's context unless somebody uses it.
TARE_API void release() noexcept;

}  // namespace tare::device
