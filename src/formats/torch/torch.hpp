// Declarations shared by the parts of the PyTorch reader; torch.cpp has the byte map.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_map.hpp"
#include "formats/format.hpp"
#include "io/metadata.hpp"
#include "wire/pickle.hpp"

namespace tare::torch {

using wire::Pickle;
using wire::PickleKind;
using Ref = Pickle::Ref;

// ---- globals (globals.cpp) ----

// What a global means. A global without a meaning is refused.
enum class Meaning : std::uint8_t {
  unknown,    // nothing that Tare can rebuild
  dangerous,  // can run code, or reach files or the network
  // Calls that make a tensor.
  tensor,
  tensor_v2,
  tensor_v3,
  parameter,
  typed_tensor,  // a subclass: another call, with the type of its result
  quantized,
  sparse,
  other_tensor,  // known but not read: nested, meta, wrapper
  // Calls that make a collection, and its parts.
  dict,
  list,
  object,  // its attributes, as a dict
  size,
  // Calls and constants that become metadata.
  text_of,      // torch.device, _get_layout
  encoded,      // _codecs.encode: bytes as text
  copied,       // the first argument, unchanged: bytearray, complex, slice
  enumeration,  // its value, which is its only argument
  member,       // getattr of an enumeration: the name of a value
  // Constants.
  storage,
  element,  // torch.float16
  scheme,   // a quantization scheme
  type,     // torch.Tensor, Parameter: types of results
  name,     // any other; shown by its name
};

constexpr bool makes_tensor(Meaning meaning) { return meaning >= Meaning::tensor && meaning <= Meaning::other_tensor; }

Meaning meaning_of(std::string_view module, std::string_view name);
// Reports every global of a pickle: refused ones as errors, the others as notes. If `verify` collects the errors,
// reading continues.
void report_globals(const Pickle& pickle, const Source& source, Diagnostics& diagnostics);

// ---- element types (types.cpp) ----

struct ElementType {
  std::string_view name;     // "float16"
  std::string_view storage;  // "HalfStorage"; empty: only untyped storages hold it
  DType dtype;
  std::string_view type = {};    // logical
  std::string_view layout = {};  // for elements that are two per byte
  bool quantized = false;
};

const ElementType* find_element(std::string_view name);
const ElementType* find_storage(std::string_view name);
// Returns the bytes per element of a storage.
std::uint64_t width_of(const ElementType& type);

// ---- storages (storages.cpp) ----

struct Storage {
  Blob blob;
  bool used = false;
};

// The storages of a file, by their keys in the pickle.
class Storages {
 public:
  // `swapped`: the file is big-endian.
  explicit Storages(bool swapped = false) : swapped_(swapped) {}
  void add(std::string_view key, Blob blob);
  // Returns null if there is none.
  Storage* find(std::string_view key);
  bool swapped() const { return swapped_; }
  std::size_t size() const { return stored_.size(); }
  std::size_t unused() const;
  void reserve(std::size_t count);

 private:
  std::optional<std::size_t> place_of(std::string_view key) const;

  bool swapped_;
  std::vector<Storage> stored_;
  std::vector<std::uint32_t> numbers_;  // place + 1 for keys that are small numbers, which nearly all are
  NameMap<std::size_t> names_;          // places for other keys
};

// A part of a storage: a tensor's offset, sizes and strides (in elements).
struct View {
  std::uint64_t offset = 0;
  Shape shape;
  InlineVector<std::uint64_t, 4> strides;
};
// Returns its elements in C order; a range of the file if they are stored in that order. Throws `torch.tensor.*` for a
// view that extends beyond the storage, or has more elements than `limits` allows.
Blob viewed(const Storage& storage, std::uint64_t width, const View& view, const Limits& limits);

// ---- quantized tensors (dequantized.cpp) ----

// A quantized tensor that is decoded to f32.
struct Dequantized {
  Blob codes;
  DType dtype;  // type of the codes
  std::uint64_t elements = 0;
  double scale = 0, zero = 0;
  // If there is one pair per channel, these are vectors of `channels` numbers; the channel of element i is i / inner %
  // channels.
  Tensor scales = {}, zeros = {};
  std::uint64_t channels = 1, inner = 1;
};
Blob dequantized_blob(Dequantized plan);

// ---- the tree (tree.cpp, tensors.cpp) ----

struct Content {
  const Pickle& pickle;
  Storages& storages;
  const Source& source;
  const ReadOptions& options;
  Diagnostics& diagnostics;
  bool lone_values = false;
};

// Returns the tensor that a call describes, without a name. Throws `torch.tensor.*`, `torch.storage.*`.
Tensor rebuild(const Content& content, const std::vector<Meaning>& meanings, Ref call);
// Adds the tensors and metadata of the pickle to the model.
void read_tree(const Content& content, Model& model);
// Returns the meanings of the pickle's globals, by their number.
std::vector<Meaning> meanings_of(const Pickle& pickle);

// The arguments of the same calls, for an ObjectMaker (objects.hpp). They throw what `rebuild` throws.
struct StorageId;
struct DenseView;
StorageId storage_id(const Content& content, const std::vector<Meaning>& meanings, Ref persistent);
DenseView dense_call(const Content& content, const std::vector<Meaning>& meanings, Meaning call, Ref arguments, Ref at);
void check_quantized(const Content& content, const std::vector<Meaning>& meanings, Ref arguments, Ref at);

// ---- layouts ----

// A pickle with a copy of its bytes.
class Loaded {
 public:
  Loaded(io::Metadata bytes, std::uint64_t base) : bytes_(std::move(bytes)), pickle_(bytes_.bytes(), base) {}
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  // Interprets the pickle and reports its globals, even if that fails.
  void run(const Source& source, Diagnostics& diagnostics);
  const Pickle& operator*() const { return pickle_; }
  const Pickle* operator->() const { return &pickle_; }

 private:
  io::Metadata bytes_;
  Pickle pickle_;
};

bool is_archive(const Source& source);
bool is_legacy(const Source& source);
bool is_old_tar(const Source& source);
// Returns whether the bytes begin like a pickle of protocol 2 or later.
bool is_pickle(const Source& source);

// Reads the archive that `source` is. `lone_values`: the object may be neither a tensor nor a collection; it then
// becomes the metadata key kLoneValue.
inline constexpr std::string_view kLoneValue = "value";
// `use` is called with the pickle and its storages, which exist only during the call.
using Use = std::function<void(const Content&, Model&)>;
Model read_archive(const SourcePtr& source, const ReadOptions& options, bool lone_values = false,
                   const Use& use = read_tree);
Model read_legacy(const SourcePtr& source, const ReadOptions& options, const Use& use = read_tree);

// A part of a tensor and its place in it (boxes.cpp).
struct Box {
  Shape offsets, sizes;
  Blob blob;
};
// Joins boxes to a tensor of this size. The boxes must form a grid without gaps. Throws `torch.distributed.chunks`.
Blob join_boxes(const Shape& size, const std::vector<Box>& boxes);

bool is_distributed(const std::string& path);
Model read_distributed(const std::string& path, const ReadOptions& options);

}  // namespace tare::torch
