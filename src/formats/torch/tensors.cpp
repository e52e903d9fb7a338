// Derives tensors from the calls that would rebuild them.
//
//   _rebuild_tensor(storage, offset, size, stride)
//   _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata])
//   _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype[, metadata])
//   _rebuild_parameter[_with_state](tensor, requires_grad, hooks[, state])
//   _rebuild_from_type_v2(call, type, arguments, state)
//   _rebuild_sparse_tensor(layout, (indices, values, size[, coalesced])  or  (rows, columns, values, size))
//   _rebuild_qtensor(storage, offset, size, stride, (scheme, scale(s), zero point(s)[, axis]), requires_grad, hooks)
//
// A storage is a persistent id: ("storage", type, key, device, elements[, view]), the last only in old files.
#include <fmt/format.h>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/printable.hpp"
#include "formats/torch/objects.hpp"
#include "model/byte_swap.hpp"
#include "tare/codec.hpp"

namespace tare::torch {
namespace {

class Rebuilder {
 public:
  Rebuilder(const Content& content, const std::vector<Meaning>& meanings)
      : content_(content), p_(content.pickle), meanings_(meanings) {}

  Tensor call(Ref ref, unsigned depth = 0) {
    const Meaning meaning = meaning_of_callable(ref);
    return call_as(meaning, p_.callable(ref), p_.arguments(ref), ref, depth);
  }

  StorageId storage_id(Ref ref) {
    static_cast<void>(storage_of(ref));
    const std::span<const Ref> parts = p_.tuple(p_.persistent(ref));
    return {p_.text(parts[2]), p_.name_of(parts[1]), p_.kind(parts[3]) == PickleKind::text ? p_.text(parts[3]) : ""};
  }

  DenseView dense_call(Meaning meaning, Ref arguments, Ref at) {
    const std::span<const Ref> given = p_.tuple(arguments);
    const std::size_t plain = meaning == Meaning::tensor ? 4 : meaning == Meaning::tensor_v2 ? 6 : 7;
    require(given, plain, plain + (meaning == Meaning::tensor ? 0 : 1), at);
    const Stored stored = storage_of(given[0]);
    const ElementType& type = meaning == Meaning::tensor_v3 ? element_of(given[6], at) : *stored.type;
    if (type.quantized) fail("torch.tensor.form", "a quantized storage without its scale", at);
    DenseView tensor{storage_id(given[0]), type.name, view_of(given, at)};
    static_cast<void>(viewed(*stored.storage, width_of(type), tensor.view, content_.options.limits));
    tensor.requires_grad = given.size() > 4 && p_.kind(given[4]) == PickleKind::boolean && p_.boolean(given[4]);
    if (given.size() > plain)
      each_flag(given[plain], at, [&](std::string_view flag) {
        if (flag != "conj" && flag != "neg")
          fail("torch.tensor.form", fmt::format("a tensor with the flag {}", quote(flag)), at);
        (flag == "conj" ? tensor.conjugated : tensor.negated) = true;
      });
    return tensor;
  }

  void check_quantized(Ref arguments, Ref at) { static_cast<void>(quantized(p_.tuple(arguments), at)); }

  Tensor storage(Ref ref) {
    const Stored stored = storage_of(ref);
    View view;
    view.shape = {stored.elements};
    view.strides.push_back(1);
    return dense_view(stored, *stored.type, view);
  }

 private:
  struct Stored {
    const ElementType* type;
    Storage* storage;
    std::uint64_t elements;
  };

  [[noreturn]] void fail(std::string_view rule, const std::string& sentence, Ref at,
                         ErrorKind kind = ErrorKind::corrupt) const {
    Error error(kind, rule, sentence);
    if (p_.at(at) != 0) error.at(p_.at(at));
    throw error;
  }
  Meaning meaning_of_global(Ref ref) const {
    return p_.kind(ref) == PickleKind::global ? meanings_[p_.number_of(ref)] : Meaning::unknown;
  }
  Meaning meaning_of_callable(Ref ref) const {
    return p_.kind(ref) == PickleKind::call ? meaning_of_global(p_.callable(ref)) : Meaning::unknown;
  }

  Tensor call_as(Meaning meaning, Ref callable, Ref arguments, Ref at, unsigned depth) {
    constexpr unsigned kDeepest = 8;
    if (depth > kDeepest) fail("torch.tensor.form", "calls that rebuild tensors inside of each other", at);
    const std::span<const Ref> given = p_.tuple(arguments);
    switch (meaning) {
      case Meaning::tensor: require(given, 4, 4, at); return plain(given, nullptr, {}, at);
      case Meaning::tensor_v2: require(given, 6, 7, at); return plain(given, nullptr, given.subspan(6), at);
      case Meaning::tensor_v3:
        require(given, 7, 8, at);
        return plain(given, &element_of(given[6], at), given.subspan(7), at);
      case Meaning::parameter:
        require(given, 2, 4, at);
        if (!makes_tensor(meaning_of_callable(given[0]))) fail("torch.tensor.form", "a parameter of no tensor", at);
        return call(given[0], depth + 1);
      case Meaning::typed_tensor: {
        require(given, 4, 4, at);
        const Meaning inner = meaning_of_global(given[0]);
        if (!makes_tensor(inner) || p_.kind(given[2]) != PickleKind::tuple)
          fail("torch.tensor.form", "a tensor of a type, made by no call that rebuilds one", at);
        if (meaning_of_global(given[1]) != Meaning::type)
          fail("torch.tensor.kind", "a subclass of tensors that is not PyTorch's own", at, ErrorKind::unsupported);
        return call_as(inner, given[0], given[2], at, depth + 1);
      }
      case Meaning::sparse: return sparse(given, at);
      case Meaning::quantized: return quantized(given, at);
      default: break;
    }
    fail("torch.tensor.kind",
         fmt::format("a tensor of a kind that is not read (it is made by {})",
                     p_.kind(callable) == PickleKind::global ? p_.name_of(callable) : "no global"),
         at, ErrorKind::unsupported);
  }

  void require(std::span<const Ref> given, std::size_t least, std::size_t most, Ref at) const {
    if (given.size() < least || given.size() > most)
      fail("torch.tensor.form", fmt::format("expected {} to {} arguments, found {}", least, most, given.size()), at);
  }

  const ElementType& element_of(Ref ref, Ref at) const {
    if (meaning_of_global(ref) == Meaning::element) return *find_element(p_.name_of(ref));
    if (p_.kind(ref) == PickleKind::global)
      fail("torch.type", fmt::format("elements of type {} cannot be read", quote(p_.name_of(ref))), at,
           ErrorKind::unsupported);
    fail("torch.tensor.form", "the element type is not one", at);
  }

  std::uint64_t number(Ref ref, std::string_view rule, std::string_view what, Ref at) const {
    if (p_.kind(ref) == PickleKind::large) fail(rule, fmt::format("the {} is a number beyond 64 bits", what), at);
    if (p_.kind(ref) != PickleKind::integer) fail("torch.tensor.form", fmt::format("the {} is not a number", what), at);
    if (p_.integer(ref) < 0) fail(rule, fmt::format("the {} is {}", what, p_.integer(ref)), at);
    return static_cast<std::uint64_t>(p_.integer(ref));
  }

  // Returns the items of a tuple of numbers, or of a torch.Size of one.
  std::span<const Ref> numbers(Ref ref, Ref at) const {
    if (meaning_of_callable(ref) == Meaning::size && p_.tuple(p_.arguments(ref)).size() == 1)
      ref = p_.tuple(p_.arguments(ref))[0];
    if (p_.kind(ref) != PickleKind::tuple) fail("torch.tensor.form", "sizes or strides are not a tuple", at);
    return p_.tuple(ref);
  }
  Shape shape_of(Ref ref, Ref at) const {
    const std::span<const Ref> sizes = numbers(ref, at);
    if (sizes.size() > content_.options.limits.rank)
      fail("torch.tensor.rank",
           fmt::format("expected at most {} dimensions, found {}", content_.options.limits.rank, sizes.size()), at,
           ErrorKind::limit);
    Shape shape;
    for (const Ref size : sizes) shape.push_back(number(size, "torch.tensor.size", "size of a dimension", at));
    return shape;
  }

  Stored storage_of(Ref ref) {
    if (p_.kind(ref) != PickleKind::persistent) fail("torch.tensor.form", "the storage is not a persistent id", ref);
    const Ref id = p_.persistent(ref);
    if (p_.kind(id) == PickleKind::text)
      fail("torch.persistent.text", "a persistent id that is only text, as protocol 0 has it", ref,
           ErrorKind::unsupported);
    if (p_.kind(id) != PickleKind::tuple) fail("torch.persistent.form", "a persistent id that is not a tuple", ref);
    const std::span<const Ref> parts = p_.tuple(id);
    if (parts.size() < 5 || parts.size() > 6)
      fail("torch.persistent.form", fmt::format("expected a persistent id of 5 or 6 parts, found {}", parts.size()),
           ref);
    for (const Ref part : parts)
      if (p_.kind(part) == PickleKind::persistent)
        fail("torch.persistent.nested", "a persistent id inside of a persistent id", ref);
    if (p_.kind(parts[0]) != PickleKind::text || p_.text(parts[0]) != "storage" ||
        p_.kind(parts[2]) != PickleKind::text)
      fail("torch.persistent.form", "a persistent id that is not that of a storage", ref);
    if (meaning_of_global(parts[1]) != Meaning::storage)
      fail("torch.persistent.form", "the type of a storage is not one", ref);
    Stored stored = {find_storage(p_.name_of(parts[1])), nullptr,
                     number(parts[4], "torch.storage.size", "size of the storage", ref)};
    if (stored.type == nullptr)
      fail("torch.type", fmt::format("a {} cannot be read", p_.name_of(parts[1])), ref, ErrorKind::unsupported);
    if (parts.size() == 6 && p_.kind(parts[5]) != PickleKind::none)
      fail("torch.storage.view", "a storage that is a part of another one", ref, ErrorKind::unsupported);
    const std::string_view key = p_.text(parts[2]);
    charge_steps(key.size() / 16);  // the look-up hashes the key, and a key of a megabyte may be used many times
    stored.storage = content_.storages.find(key);
    if (stored.storage == nullptr)
      fail("torch.storage.missing", fmt::format("the file has no storage \"{}\"", quote(key)), ref);
    const auto bytes = checked_mul(stored.elements, width_of(*stored.type));
    if (!bytes || *bytes != stored.storage->blob.size())
      fail("torch.storage.size",
           fmt::format("storage \"{}\" is to have {} elements of {} bytes, the file has {} bytes", quote(key),
                       stored.elements, width_of(*stored.type), stored.storage->blob.size()),
           ref);
    return stored;
  }

  View view_of(std::span<const Ref> given, Ref at) const {
    View view;
    view.offset = number(given[1], "torch.tensor.bounds", "offset", at);
    view.shape = shape_of(given[2], at);
    const std::span<const Ref> strides = numbers(given[3], at);
    if (strides.size() != view.shape.size())
      fail("torch.tensor.form", fmt::format("{} sizes and {} strides", view.shape.size(), strides.size()), at);
    for (const Ref stride : strides) view.strides.push_back(number(stride, "torch.tensor.stride", "stride", at));
    return view;
  }

  // Calls `visit` with the names in a dict that are true.
  template <typename Visit>
  void each_flag(Ref metadata, Ref at, const Visit& visit) const {
    constexpr unsigned kMostFlags = 16;
    unsigned flags = 0;
    if (p_.kind(metadata) != PickleKind::dict) return;
    p_.each_pair(metadata, [&](Ref key, Ref value) {
      if (++flags > kMostFlags) fail("torch.tensor.form", "more metadata than a tensor has", at);
      if (p_.kind(value) == PickleKind::boolean && p_.boolean(value))
        visit(p_.kind(key) == PickleKind::text ? p_.text(key) : "?");
    });
  }

  Tensor plain(std::span<const Ref> given, const ElementType* type, std::span<const Ref> metadata, Ref at) {
    const Stored stored = storage_of(given[0]);
    if (!metadata.empty())
      each_flag(metadata[0], at, [&](std::string_view flag) {
        fail("torch.tensor.lazy",
             fmt::format("a view whose numbers are still to be changed ({}); save its resolve_conj().resolve_neg()",
                         quote(flag)),
             at, ErrorKind::unsupported);
      });
    if (type == nullptr) type = stored.type;
    if (type->quantized) fail("torch.tensor.form", "a quantized storage without its scale", at);
    return dense_view(stored, *type, view_of(given, at));
  }

  Blob elements(const Stored& stored, const ElementType& type, const View& view) const {
    Blob blob = viewed(*stored.storage, width_of(type), view, content_.options.limits);
    return content_.storages.swapped() ? byte_swapped_blob(std::move(blob), size_of(type.dtype)) : blob;
  }

  Tensor dense_view(const Stored& stored, const ElementType& type, const View& view) const {
    Blob blob = elements(stored, type, view);
    if (type.layout.empty()) return dense({}, view.shape, type.dtype, std::move(blob), std::string(type.type));
    // There are two elements per byte, and the last dimension counts bytes.
    Tensor tensor;
    tensor.shape = view.shape.empty() ? Shape{1} : view.shape;
    const auto doubled = checked_mul(tensor.shape[tensor.shape.size() - 1], 2);
    if (!doubled) throw Error(ErrorKind::corrupt, "torch.tensor.size", "a dimension of more than 64 bits");
    tensor.shape[tensor.shape.size() - 1] = *doubled;
    tensor.layout = type.layout;
    tensor.components.push_back({"payload", DType::u8, {}, std::move(blob)});
    return tensor;
  }

  Tensor part(Ref ref, std::string_view what, Ref at);
  Tensor sparse(std::span<const Ref> given, Ref at);
  Tensor quantized(std::span<const Ref> given, Ref at);

  const Content& content_;
  const Pickle& p_;
  const std::vector<Meaning>& meanings_;
};

// Rebuilds the tensor of indices or values of a sparse or quantized tensor.
Tensor Rebuilder::part(Ref ref, std::string_view what, Ref at) {
  if (!makes_tensor(meaning_of_callable(ref)))
    fail("torch.tensor.form", fmt::format("the {} are not a tensor", what), at);
  const Meaning inner = meaning_of_callable(ref);
  if (inner != Meaning::tensor && inner != Meaning::tensor_v2 && inner != Meaning::tensor_v3)
    fail("torch.tensor.form", fmt::format("the {} are not a plain tensor", what), at);
  return call(ref, 1);
}

Tensor Rebuilder::sparse(std::span<const Ref> given, Ref at) {
  require(given, 2, 2, at);
  const Ref called = given[0];
  std::string_view layout;
  if (meaning_of_callable(called) == Meaning::text_of && p_.tuple(p_.arguments(called)).size() == 1 &&
      p_.kind(p_.tuple(p_.arguments(called))[0]) == PickleKind::text)
    layout = p_.text(p_.tuple(p_.arguments(called))[0]);
  if (p_.kind(given[1]) != PickleKind::tuple) fail("torch.tensor.form", "a sparse tensor without its parts", at);
  const std::span<const Ref> parts = p_.tuple(given[1]);
  Tensor tensor;
  const auto add_index = [&](std::string_view role, Tensor index) {
    if (index.components[0].dtype != DType::i64 || !index.is_dense())
      fail("torch.tensor.kind", fmt::format("indices of type {}, i64 can be read", index.components[0].type_name()), at,
           ErrorKind::unsupported);
    // Negative indices become larger than every dimension, so the layout's own rules refuse them.
    tensor.components.push_back({std::string(role), DType::u64, {}, std::move(index.components[0].blob)});
  };
  const auto add_values = [&](Tensor values) {
    if (values.shape.rank() != 1 || !values.is_dense())
      fail("torch.tensor.kind", fmt::format("values of shape {}, single numbers can be read", values.shape.text()), at,
           ErrorKind::unsupported);
    Component& data = values.components[0];
    tensor.components.push_back({"values", data.dtype, data.type, std::move(data.blob)});
  };
  if (layout == "torch.sparse_coo") {
    require(parts, 3, 4, at);
    tensor.layout = "sparse_coo";
    tensor.shape = shape_of(parts[2], at);
    Tensor indices = part(parts[0], "indices", at), values = part(parts[1], "values", at);
    if (indices.shape.rank() != 2 || indices.shape[0] != tensor.shape.rank())
      fail("torch.tensor.kind",
           fmt::format("indices of shape {} for {} dimensions", indices.shape.text(), tensor.shape.rank()), at,
           ErrorKind::unsupported);
    add_values(std::move(values));
    add_index("coords", std::move(indices));
  } else if (layout == "torch.sparse_csr") {
    require(parts, 4, 4, at);
    tensor.layout = "sparse_csr";
    tensor.shape = shape_of(parts[3], at);
    add_values(part(parts[2], "values", at));
    add_index("indices", part(parts[1], "columns", at));
    add_index("indptr", part(parts[0], "rows", at));
  } else {
    fail("torch.tensor.kind",
         fmt::format("a sparse tensor of layout {}; sparse_coo and sparse_csr can be read",
                     layout.empty() ? "?" : quote(layout)),
         at, ErrorKind::unsupported);
  }
  const Codec* const codec = find_codec(tensor.layout);
  if (const auto problem = codec->check(tensor)) fail("torch.tensor.sparse", problem->sentence, at);
  return tensor;
}

Tensor Rebuilder::quantized(std::span<const Ref> given, Ref at) {
  require(given, 7, 7, at);
  const Stored stored = storage_of(given[0]);
  if (!stored.type->quantized) fail("torch.tensor.form", "a quantized tensor over a storage that is not", at);
  const View view = view_of(given, at);
  Dequantized plan;
  plan.codes = elements(stored, *stored.type, view);
  plan.dtype = stored.type->dtype;
  plan.elements = view.shape.elements().value_or(0);
  if (p_.kind(given[4]) != PickleKind::tuple) fail("torch.tensor.form", "a quantized tensor without its scheme", at);
  const std::span<const Ref> scheme = p_.tuple(given[4]);
  const std::string_view name =
      !scheme.empty() && meaning_of_global(scheme[0]) == Meaning::scheme ? p_.name_of(scheme[0]) : "";
  if (name.starts_with("per_tensor")) {
    require(scheme, 3, 3, at);
    if (p_.kind(scheme[1]) != PickleKind::real || p_.kind(scheme[2]) != PickleKind::integer)
      fail("torch.tensor.form", "the scale or the zero point is not a number", at);
    plan.scale = p_.real(scheme[1]);
    plan.zero = static_cast<double>(p_.integer(scheme[2]));
  } else if (name.starts_with("per_channel")) {
    require(scheme, 4, 4, at);
    plan.scales = part(scheme[1], "scales", at);
    plan.zeros = part(scheme[2], "zero points", at);
    const std::uint64_t axis = number(scheme[3], "torch.tensor.quantized", "axis", at);
    const auto is_vector = [&](const Tensor& tensor) {
      const DType dtype = tensor.components[0].dtype;
      return tensor.is_dense() && tensor.components[0].type.empty() &&
             (dtype == DType::f64 || dtype == DType::f32 || dtype == DType::i64 || dtype == DType::i32) &&
             tensor.shape.rank() == 1 && tensor.shape[0] == view.shape[axis];
    };
    if (axis >= view.shape.rank() || !is_vector(plan.scales) || !is_vector(plan.zeros))
      fail("torch.tensor.quantized",
           fmt::format("scales {} and zero points {} along axis {} of {}", plan.scales.shape.text(),
                       plan.zeros.shape.text(), axis, view.shape.text()),
           at);
    plan.channels = view.shape[axis];
    for (std::size_t i = axis + 1; i < view.shape.rank(); ++i) plan.inner *= view.shape[i];
  } else {
    fail("torch.tensor.kind", "a scheme of quantization that is not read", at, ErrorKind::unsupported);
  }
  return dense({}, view.shape, DType::f32, dequantized_blob(std::move(plan)));
}

}  // namespace

StorageId storage_id(const Content& content, const std::vector<Meaning>& meanings, Ref persistent) {
  return Rebuilder(content, meanings).storage_id(persistent);
}

DenseView dense_call(const Content& content, const std::vector<Meaning>& meanings, Meaning call, Ref arguments,
                     Ref at) {
  return Rebuilder(content, meanings).dense_call(call, arguments, at);
}

void check_quantized(const Content& content, const std::vector<Meaning>& meanings, Ref arguments, Ref at) {
  Rebuilder(content, meanings).check_quantized(arguments, at);
}

Tensor rebuild(const Content& content, const std::vector<Meaning>& meanings, Ref ref) {
  Rebuilder rebuilder(content, meanings);
  return content.pickle.kind(ref) == PickleKind::persistent ? rebuilder.storage(ref) : rebuilder.call(ref);
}

}  // namespace tare::torch
