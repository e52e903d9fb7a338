// Turns a plan into pieces: which bytes of which file go where.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "base/keyed_hash.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "device/decodes.hpp"
#include "device/kernels.hpp"
#include "device/pieces.hpp"
#include "inspect/scan.hpp"
#include "model/element_size.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::device {
namespace {

constexpr std::uint64_t kAligned = 16, kWellAligned = 256;
// For pieces of this size, 256 bytes of padding do not matter.
constexpr std::uint64_t kLarge = std::uint64_t{32} << 10;
constexpr std::uint64_t kBridge = 4096;  // up to this much padding in a file is read along with the pieces

Error plan_error(std::string_view rule, const std::string& tensor, const std::string& sentence) {
  return Error(ErrorKind::usage, rule, sentence).about("tensor " + quote(tensor));
}

// The runs of bytes of a part of a dense tensor.
struct Runs {
  std::uint64_t begin = 0, run = 0, stride = 0, count = 1;
};

Runs runs_of(const Shape& shape, const AxisRange& part, std::uint64_t element) {
  std::uint64_t outer = 1, inner = element;
  for (std::size_t i = 0; i < part.axis; ++i) outer *= shape[i];
  for (std::size_t i = part.axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::uint64_t stride = shape[part.axis] * inner, run = (part.end - part.begin) * inner;
  if (run == stride) return {0, outer * run, 0, 1};
  if (outer == 1 || run == 0) return {part.begin * inner, run, 0, 1};
  return {part.begin * inner, run, stride, outer};
}

class Arranger {
 public:
  Arranger(const Model& model, std::size_t choices) : model_(model) {
    arrangement_.tensors.reserve(choices);
    pieces_.all.reserve(choices);
    same_.reserve(choices);
  }

  void add(const Choice& choice) {
    const Tensor* const tensor = find(choice.tensor);
    if (tensor == nullptr) throw plan_error("device.plan.tensor", choice.tensor, "the model has no such tensor");
    if (tensor->is_dense()) (void)require_dense(*tensor);  // users rely on the shape, so it must fit the bytes
    if (choice.part) check_part(*tensor, *choice.part);
    if (choice.dtype && !is_of(*tensor, *choice.dtype))
      add_cast(*tensor, choice);
    else if (!choice.dtype && choice.decode && !tensor->is_dense())
      add_decoded(*tensor, choice);
    else if (!choice.part)
      for (const Component& component : tensor->components) add_component(*tensor, component);
    else if (tensor->is_dense())
      add_part(*tensor, *choice.part);
    else
      throw plan_error("device.plan.part", tensor->name,
                       fmt::format("a part of a tensor of layout {} exists only as decoded elements; ask for a type",
                                   tensor->layout));
  }

  Arrangement done() {
    place();
    arrangement_.pieces = std::make_shared<const Pieces>(std::move(pieces_));
    return std::move(arrangement_);
  }

 private:
  // What identifies a piece: the location of its bytes, and what is made of them.
  struct Key {
    const Source* source = nullptr;
    std::array<std::uint64_t, 5> numbers = {};
    std::string_view kernel = {};  // a name in the table of kernels, or empty
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      // Offsets come from the file.
      const std::uint64_t hash = keyed_hash(as_text(std::as_bytes(std::span(key.numbers))));
      return hash ^ reinterpret_cast<std::uintptr_t>(key.source) ^ key.kernel.size();
    }
  };

  // Most plans name the tensors in the model's order, so the next tensor is tried first.
  const Tensor* find(const std::string& name) {
    if (next_ < model_.tensors.size() && model_.tensors[next_].name == name) return &model_.tensors[next_++];
    if (!index_) index_.emplace(model_);
    const Tensor* const found = index_->tensor(name);
    if (found != nullptr) next_ = static_cast<std::size_t>(found - model_.tensors.data()) + 1;
    return found;
  }

  static void check_part(const Tensor& tensor, const AxisRange& part) {
    if (part.axis >= tensor.shape.rank())
      throw plan_error("device.plan.part", tensor.name,
                       fmt::format("a part along axis {} of a tensor of rank {}", part.axis, tensor.shape.rank()));
    if (part.begin > part.end || part.end > tensor.shape[part.axis])
      throw plan_error("device.plan.part", tensor.name,
                       fmt::format("elements {} to {} of axis {}, which has {}", part.begin, part.end, part.axis,
                                   tensor.shape[part.axis]));
  }

  static bool is_of(const Tensor& tensor, DType dtype) {
    return tensor.is_dense() && tensor.components.size() == 1 && tensor.components[0].dtype == dtype &&
           tensor.components[0].type.empty();
  }

  std::size_t file_of(const SourcePtr& source) {
    const auto [found, fresh] = files_.try_emplace(source.get(), pieces_.files.size());
    if (fresh) pieces_.files.push_back(source);
    return found->second;
  }

  // Adds a piece, or uses the one that already has the same bytes.
  void put(Piece piece, Placed placed, const std::optional<Key>& key) {
    placed.bytes = piece.bytes;
    if (key) {
      const auto [known, fresh] = same_.try_emplace(*key, pieces_.all.size());
      // Equal codes can have different scales.
      const auto alike = [&](const DeviceDecode& other) {
        return other.planes == piece.decode.planes && std::ranges::equal(other.numbers, piece.decode.numbers);
      };
      if (!fresh && alike(pieces_.all[known->second].decode)) {
        pieces_.all[known->second].placed.push_back(arrangement_.tensors.size());
        arrangement_.tensors.push_back(std::move(placed));
        return;
      }
    }
    piece.placed.push_back(arrangement_.tensors.size());
    arrangement_.tensors.push_back(std::move(placed));
    pieces_.all.push_back(std::move(piece));
  }

  static Placed placed_for(const Tensor& tensor, const Component& component) {
    Placed placed{tensor.name, component.role, tensor.layout, component.dtype, component.type, tensor.shape, 0, 0, 0};
    if (!tensor.is_dense()) placed.shape = Shape{component.blob.size() / size_of(component.dtype)};
    return placed;
  }

  Piece piece_for(const Tensor& tensor, const Component& component) {
    Piece piece;
    piece.tensor = tensor.name;
    piece.role = component.role;
    piece.buffer = file_of(component.blob.source());
    piece.scan = inspect::scan_kind(component.dtype, component.type);
    return piece;
  }

  static bool has_digest(const Blob& blob) {
    return blob.digest() && blob.digest().algorithm() != DigestAlgorithm::unknown;
  }

  void add_component(const Tensor& tensor, const Component& component) {
    const Blob& blob = component.blob;
    Piece piece = piece_for(tensor, component);
    piece.bytes = blob.size();
    std::optional<Key> key;
    if (blob.source() != nullptr)
      key = Key{blob.source().get(),
                {blob.offset(), blob.stored_size(), blob.size(), 0, static_cast<std::uint64_t>(blob.encoding())}};
    if (blob.is_plain() && blob.source() != nullptr) {
      piece.file = piece.buffer;
      piece.begin = blob.offset();
      piece.run = blob.size();
      if (has_digest(blob)) piece.digest = blob.digest();
    } else {
      piece.blob = blob;
      piece.begin = blob.source() != nullptr ? blob.offset() : UINT64_MAX;
    }
    put(std::move(piece), placed_for(tensor, component), key);
  }

  void add_part(const Tensor& tensor, const AxisRange& part) {
    const Component& component = require_dense(tensor);
    if (!component.blob.is_plain() || component.blob.source() == nullptr) return add_component_part(tensor, part);
    const Runs runs = runs_of(tensor.shape, part, element_bytes(component.dtype, component.type));
    Piece piece = piece_for(tensor, component);
    piece.file = piece.buffer;
    piece.begin = component.blob.offset() + runs.begin;
    piece.run = runs.run;
    piece.stride = runs.stride;
    piece.runs = runs.count;
    piece.bytes = runs.run * runs.count;
    if (has_digest(component.blob) && piece.bytes == component.blob.size())
      piece.digest = component.blob.digest();
    else
      piece.unchecked = has_digest(component.blob);
    Placed placed = placed_for(tensor, component);
    placed.shape[part.axis] = part.end - part.begin;
    const Key key{component.blob.source().get(), {piece.begin, piece.run, piece.stride, piece.runs, 0}};
    put(std::move(piece), std::move(placed), key);
  }

  // For bytes that are compressed or produced: the slice reads what it needs.
  void add_component_part(const Tensor& dense_tensor, const AxisRange& part) {
    SliceSpec spec(part.axis);
    SliceItem item;
    item.start = static_cast<std::int64_t>(part.begin);
    item.stop = static_cast<std::int64_t>(part.end);
    spec.push_back(item);
    const Tensor sliced = slice(dense_tensor, spec);
    Piece piece = piece_for(dense_tensor, dense_tensor.components[0]);
    piece.blob = sliced.components[0].blob;
    piece.bytes = piece.blob.size();
    piece.begin = UINT64_MAX;
    piece.unchecked = has_digest(dense_tensor.components[0].blob);
    put(std::move(piece), placed_for(sliced, sliced.components[0]), std::nullopt);
  }

  void add_decoded(const Tensor& tensor, Choice choice) {
    const Tensor made = to_dense(tensor);
    const Component& elements = made.components[0];
    if (elements.type.empty() &&
        (elements.dtype == DType::f32 || elements.dtype == DType::f16 || elements.dtype == DType::bf16)) {
      choice.dtype = elements.dtype;
      return add_cast(tensor, choice);
    }
    if (choice.part) return add_made_part(tensor, made, *choice.part);
    add_made(tensor, made);
  }

  void add_cast(const Tensor& tensor, const Choice& choice) {
    const DType dtype = *choice.dtype;
    if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::bf16)
      throw plan_error("device.plan.type", tensor.name,
                       fmt::format("elements become f32, f16 or bf16 on the way, not {}", name_of(dtype)));
    if (auto on_device = decoding_of(tensor, choice.part, dtype)) {
      Piece piece;
      piece.tensor = tensor.name;
      piece.role = "data";
      for (std::size_t i = 0; i < on_device->sources.size(); ++i)
        on_device->decode.planes[i].file = file_of(on_device->sources[i]);
      piece.buffer = piece.file = on_device->decode.planes[0].file;
      piece.begin = on_device->decode.planes[0].offset;
      piece.run = on_device->decode.planes[0].bytes;
      piece.decode = std::move(on_device->decode);
      piece.bytes = on_device->bytes;
      piece.digest = on_device->digest;
      piece.checked_separately = std::move(on_device->checked_separately);
      piece.unchecked = on_device->unchecked;
      piece.scan = on_device->scan;
      Placed placed{tensor.name, "data", "dense", dtype, {}, tensor.shape, 0, 0, 0};
      if (choice.part) placed.shape[choice.part->axis] = choice.part->end - choice.part->begin;
      const Key key{
          on_device->sources[0].get(),
          {piece.begin, piece.bytes, piece.decode.units, piece.decode.numbers[0], static_cast<std::uint64_t>(dtype)},
          piece.decode.kernel};
      return put(std::move(piece), std::move(placed), key);
    }
    Tensor made = to_dense(tensor);
    if (!is_numeric(made.components[0].dtype, made.components[0].type))
      throw plan_error("device.plan.type", tensor.name, "its elements are not numbers");
    if (!is_of(made, dtype)) made = cast(made, dtype, Overflow::infinity);
    if (choice.part) {
      made.components[0].type.clear();
      return add_made_part(tensor, made, *choice.part);
    }
    add_made(tensor, made);
  }

  void add_made(const Tensor& tensor, const Tensor& made) {
    Piece piece = piece_for(made, made.components[0]);
    piece.tensor = tensor.name;
    // A tensor belongs to the file of its first component.
    piece.buffer = file_of(tensor.components.empty() ? nullptr : tensor.components[0].blob.source());
    piece.blob = made.components[0].blob;
    piece.bytes = piece.blob.size();
    piece.begin = UINT64_MAX;
    put(std::move(piece), placed_for(made, made.components[0]), std::nullopt);
  }

  void add_made_part(const Tensor& tensor, const Tensor& made, const AxisRange& part) {
    SliceSpec spec(part.axis);
    SliceItem item;
    item.start = static_cast<std::int64_t>(part.begin);
    item.stop = static_cast<std::int64_t>(part.end);
    spec.push_back(item);
    add_made(tensor, slice(made, spec));
  }

  void place();

  const Model& model_;
  std::optional<TensorIndex> index_;
  std::size_t next_ = 0;  // index in the model after the last tensor that was found
  Arrangement arrangement_;
  Pieces pieces_;
  std::map<const Source*, std::size_t> files_;
  std::unordered_map<Key, std::size_t, KeyHash> same_;
};

// Places neighbours in a file next to each other in the buffer if they stay aligned: then one copy moves many of them.
void Arranger::place() {
  std::vector<Piece>& all = pieces_.all;
  const auto before = [](const Piece& a, const Piece& b) {
    return std::tuple(a.buffer, a.begin, a.bytes) < std::tuple(b.buffer, b.begin, b.bytes);
  };
  if (!std::is_sorted(all.begin(), all.end(), before)) std::stable_sort(all.begin(), all.end(), before);
  arrangement_.buffers.assign(pieces_.files.size(), 0);
  std::uint64_t run_bytes = 0, run_gaps = 0;  // size of the current run of joined pieces, and of the gaps in it
  for (std::size_t i = 0; i < all.size(); ++i) {
    Piece& piece = all[i];
    std::uint64_t& end = arrangement_.buffers[piece.buffer];
    const Piece* const last = i > 0 && all[i - 1].buffer == piece.buffer ? &all[i - 1] : nullptr;
    if (last != nullptr && last->plain() && piece.plain() && piece.begin >= last->end()) {
      const std::uint64_t gap = piece.begin - last->end();
      piece.joined = gap <= kBridge && run_gaps + gap <= (run_bytes + piece.bytes) / 100 &&
                     (last->offset + (piece.begin - last->begin)) % kAligned == 0;
      if (piece.joined) {
        piece.offset = last->offset + (piece.begin - last->begin);
        run_gaps += gap;
      }
    }
    if (!piece.joined) {
      const std::uint64_t alignment = piece.bytes >= kLarge || run_bytes == 0 ? kWellAligned : kAligned;
      piece.offset = (end + alignment - 1) / alignment * alignment;
      run_bytes = run_gaps = 0;
    }
    run_bytes += piece.bytes;
    end = piece.offset + piece.bytes;
    for (const std::size_t number : piece.placed) {
      arrangement_.tensors[number].buffer = piece.buffer;
      arrangement_.tensors[number].offset = piece.offset;
    }
  }
}

}  // namespace

Choices all_of(const Model& model, std::optional<DType> dtype, bool decode) {
  Choices plan;
  plan.reserve(model.tensors.size());
  for (const Tensor& tensor : model.tensors) {
    Choice& choice = plan.emplace_back(Choice{tensor.name});
    choice.decode = decode;
    if (!dtype) continue;
    if (!tensor.is_dense() || tensor.components.size() != 1) {
      choice.dtype = dtype;
      continue;
    }
    const Component& elements = tensor.components[0];
    if (elements.type.empty() ? is_float(elements.dtype) : elements.type.starts_with("f8_")) choice.dtype = dtype;
  }
  return plan;
}

Arrangement arrange(const Model& model, const Choices& plan, std::string_view device) {
  parse_device(device);  // throws if the name is invalid
  Arranger arranger(model, plan.size());
  for (const Choice& choice : plan) arranger.add(choice);
  return arranger.done();
}

}  // namespace tare::device
