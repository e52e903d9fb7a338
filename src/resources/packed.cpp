#include "resources/packed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "model/packed_sets.hpp"
#include "resources/packed_config.hpp"

namespace tare::resources {
namespace {

class SetFinder {
 public:
  explicit SetFinder(const Model& model)
      : model_(model), stated_(stated_quantization(model)), rows_(sets_with_beside(model.tensors)) {
    for (std::size_t i = 0; i < model.tensors.size(); ++i) at_.emplace(model.tensors[i].name, i);
    found_.parts.resize(model.tensors.size());
  }

  std::optional<Packed> run() {
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) recognize(i);
    if (found_.tensors == 0 && !recognize_stated()) return std::nullopt;
    if (stated_) take_stated();
    count();
    return std::move(found_);
  }

 private:
  const Tensor* find(std::string_view name) const {
    const auto found = at_.find(name);
    return found == at_.end() ? nullptr : &model_.tensors[found->second];
  }

  static const Component* data_of(const Tensor& tensor) {
    return tensor.is_dense() ? tensor.component("data") : nullptr;
  }

  bool is_codes(const PackedSet& row, const Tensor& tensor, std::string& stem) const {
    const Component* const data = data_of(tensor);
    if (data == nullptr || !row.is_named_as_codes(tensor.name, data->type_name())) return false;
    stem.assign(tensor.name, 0, tensor.name.size() - row.codes().size());
    const Tensor* const beside = find(stem + std::string(row.beside_ending()));
    return beside != nullptr && (row.fits == nullptr || row.fits(tensor.shape, beside->shape));
  }

  void recognize(std::size_t index) {
    const Tensor& tensor = model_.tensors[index];
    std::string stem;
    for (const PackedSet* const row : rows_) {
      if (!is_codes(*row, tensor, stem)) continue;
      if (found_.tensors++ == 0) name(*row, tensor);
      code_bits_.emplace_back(index, row->bits);
      for (const PackedMember& member : row->members)
        if (const auto at = at_.find(stem + std::string(member.ending)); at != at_.end())
          found_.parts[at->second] = member.part;
      return;
    }
  }

  void name(const PackedSet& row, const Tensor& tensor) {
    found_.scheme = row.scheme;
    found_.title = row.title;
    found_.stored = data_of(tensor)->type_name();
    found_.example = tensor.name;
    if (row.bits != 0) found_.bits = row.bits;
  }

  // Codes are stored as integers or 8-bit floats: if all matrices are plain floats, another program has decoded them
  // and left the statement. For a method that Tare does not decode, every tensor that can hold codes is taken for
  // codes.
  bool recognize_stated() {
    if (!stated_) return false;
    const StatedMethod method = stated_method(stated_->method);
    if ((method.decoded || !method.known) && !all_dense()) return false;
    const bool decoded = method.decoded || stated_->method.empty();
    bool any = false;
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) {
      if (!can_hold_codes(model_.tensors[i], decoded)) continue;
      found_.parts[i] = "codes";
      any = true;
    }
    return any;
  }

  // If a tensor has another layout, the statement is about that layout.
  bool all_dense() const {
    return std::ranges::all_of(model_.tensors, [](const Tensor& tensor) { return tensor.is_dense(); });
  }

  void take_stated() {
    found_.said_by = stated_->file;
    if (found_.tensors == 0) {
      found_.scheme = stated_->method.empty() ? "unknown" : stated_->method;
      found_.title = found_.scheme;
    }
    if (!found_.bits) found_.bits = stated_->bits;
    found_.group = stated_->group;
  }

  void count() {
    std::vector<std::uint64_t> weights(model_.tensors.size(), 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto elements = model_.tensors[i].shape.elements();
      if (!elements) return;
      if (found_.parts[i].empty()) weights[i] = *elements;
    }
    if (found_.tensors == 0) return;
    for (const auto& [index, bits] : code_bits_) {
      const std::uint64_t width = bits != 0 ? bits : found_.bits.value_or(0);
      const auto stored = checked_mul(model_.tensors[index].bytes(), std::uint64_t{8});
      if (width == 0 || !stored) return;
      weights[index] = *stored / width;
    }
    std::optional<std::uint64_t> sum = 0;
    for (const std::uint64_t number : weights) sum = sum ? checked_add(*sum, number) : std::nullopt;
    found_.parameters = sum;
  }

  const Model& model_;
  std::optional<StatedQuantization> stated_;
  std::vector<const PackedSet*> rows_;  // schemes whose tensors the model can have completely
  NameViewMap<std::size_t> at_;
  std::vector<std::pair<std::size_t, unsigned>> code_bits_;
  Packed found_;
};

}  // namespace

std::string Packed::text() const {
  std::string words = title;
  const bool whole_bytes = bits == 8 && (stored.ends_with("i8") || stored.ends_with("u8") || stored.starts_with("f8"));
  if (bits && !whole_bytes) words += fmt::format(" {}-bit", *bits);
  if (group) words += fmt::format(", group {}", *group);
  if (!stored.empty()) words += fmt::format(", {} {}", stored.starts_with('f') ? "stored as" : "packed in", stored);
  return words;
}

std::optional<Packed> find_packed(const Model& model) {
  // Every scheme has a tensor that is not plain floats, or that has a name of its own; most models have no such tensor.
  const auto plain = [](const Tensor& tensor) {
    const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
    return data != nullptr && data->type.empty() && is_float(data->dtype) && !tells_packing(tensor);
  };
  if (std::ranges::all_of(model.tensors, plain)) return std::nullopt;
  return SetFinder(model).run();
}

}  // namespace tare::resources
