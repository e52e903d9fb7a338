#include "formats/safetensors/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "base/printable.hpp"

namespace tare::safetensors {
namespace {

// Multiplies from the left, as the reference implementation does: a zero after an overflow does not make the size
// valid.
std::optional<std::uint64_t> bits_of(const Shape& shape, const HeaderType& type) {
  std::optional<std::uint64_t> bits = 1;
  for (const std::uint64_t dimension : shape)
    if (bits) bits = checked_mul(*bits, dimension);
  return bits ? checked_mul(*bits, type.bits) : std::nullopt;
}

}  // namespace

// Reserves memory for tensors. The header does not state their number, so it is estimated from the length of the first
// entries.
void Placer::make_room(std::uint64_t at) {
  constexpr std::size_t kFirst = 64, kSmallestEntry = 46;
  std::size_t count = kFirst;
  if (!tensors_.empty()) {
    const double each = static_cast<double>(at - 8) / static_cast<double>(tensors_.size());
    const auto guess = static_cast<std::size_t>(static_cast<double>(data_ - 8) / each * 1.02 + 16);
    const std::size_t most = tensors_.size() + (data_ - at) / kSmallestEntry + 1;
    count = std::min(std::max(tensors_.size() * 2, guess), most);
  }
  tensors_.reserve(count);
  entries_.reserve(count);
  prefer_huge_pages(tensors_.data(), tensors_.capacity() * sizeof(Tensor));
}

void Placer::finish(const HeaderType& type, std::uint64_t begin, std::uint64_t end) {
  Entry& entry = entries_.back();
  entry.begin = begin;
  entry.end = end;
  entry.type = &type;
  // If the tensors are in order, everything is known now, while the tensor is still in the cache.
  if (deferred_ == 0 && begin == end_ && end >= begin && end <= room_ && fits_its_shape(tensors_.back(), entry)) {
    end_ = end;
    place(tensors_.back(), entry);
  } else {
    ++deferred_;
  }
}

void Placer::drop(Error error, std::uint64_t begin, std::uint64_t end) {
  diagnostics_.tensor_error(error);
  broken_.push_back({std::move(tensors_.back()), std::move(error)});
  entries_.back().begin = begin;
  entries_.back().end = end;
  ++deferred_;
}

bool Placer::fits_its_shape(const Tensor& tensor, const Entry& entry) const {
  const auto bits = bits_of(tensor.shape, *entry.type);
  return bits && *bits % 8 == 0 && *bits / 8 == entry.end - entry.begin;
}

void Placer::place(Tensor& tensor, const Entry& entry) {
  const HeaderType& type = *entry.type;
  // Layouts of the same length are both "dense"
  if (type.layout.size() != tensor.layout.size()) tensor.layout = type.layout;
  Component& data = tensor.components.emplace_back();
  data.role = type.role;
  data.dtype = type.storage;
  if (!type.type.empty()) data.type = type.type;
  data.blob = Blob::range(source_, data_ + entry.begin, entry.end - entry.begin);
}

Error Placer::about(std::size_t i, std::string_view rule, const std::string& sentence) const {
  return Error(ErrorKind::corrupt, rule, sentence)
      .in(source_->name())
      .at(entries_[i].at)
      .about("tensor " + quote(tensors_[i].name));
}

void Placer::report(std::size_t i, std::string_view rule, const std::string& sentence) {
  Error error = about(i, rule, sentence);
  diagnostics_.tensor_error(error);
  Tensor known;
  known.name = tensors_[i].name;
  known.shape = tensors_[i].shape;
  broken_.push_back({std::move(known), std::move(error)});
}

// Sorts by begin, then by end, so that empty tensors precede the tensor at the same offset.
bool Placer::sort() {
  order_.resize(entries_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const Entry &x = entries_[a], &y = entries_[b];
    if (x.begin != y.begin) return x.begin < y.begin;
    return x.end != y.end ? x.end < y.end : a < b;
  };
  if (std::is_sorted(order_.begin(), order_.end(), before)) return true;
  std::sort(order_.begin(), order_.end(), before);
  return false;
}

bool Placer::follows(std::size_t i, std::uint64_t end) {
  const Entry& entry = entries_[i];
  if (entry.end < entry.begin) {
    report(i, "safetensors.tensor.backwards",
           fmt::format("data_offsets [{}, {}]: it ends before it begins", entry.begin, entry.end));
    return false;
  }
  if (entry.begin == end) return true;
  if (entry.begin > end)  // an error of the file: this tensor's own bytes are fine
    diagnostics_.error(about(i, "safetensors.tensor.hole",
                             fmt::format("data_offsets [{}, {}]: the data before it ends at {}, {} bytes belong to "
                                         "nothing",
                                         entry.begin, entry.end, end, entry.begin - end)));
  else
    report(i, "safetensors.tensor.overlap",
           fmt::format("data_offsets [{}, {}]: overlaps the data before it, which ends at {}", entry.begin, entry.end,
                       end));
  return false;
}

bool Placer::has_its_size(std::size_t i) {
  const Entry& entry = entries_[i];
  const Shape& shape = tensors_[i].shape;
  const auto bits = bits_of(shape, *entry.type);
  const std::string what = fmt::format("the shape {} of {}", shape.text(), entry.type->name);
  if (!bits)
    report(i, "safetensors.tensor.overflow", what + " does not fit 64 bits");
  else if (*bits % 8 != 0)
    report(i, "safetensors.tensor.bits",
           fmt::format("{} takes {} bits, which is not a whole number of bytes", what, *bits));
  else if (*bits / 8 != entry.end - entry.begin)
    report(i, "safetensors.tensor.size",
           fmt::format("{} takes {} bytes, data_offsets give it {}", what, *bits / 8, entry.end - entry.begin));
  else
    return true;
  return false;
}

void Placer::check_length(std::uint64_t end) {
  if (end == room_) return;
  const auto need = checked_add(data_, end);
  Error error =
      end > room_ ? Error(ErrorKind::corrupt, "safetensors.data.truncated",
                          fmt::format("the tensors need {} bytes, the file has {}: it is truncated (download it again)",
                                      need ? fmt::to_string(*need) : "more than 2^64", source_->size()))
                  : Error(ErrorKind::corrupt, "safetensors.data.trailing",
                          fmt::format("the file has {} bytes, its tensors end at {}: {} bytes follow", source_->size(),
                                      *need, room_ - end));
  diagnostics_.error(error.in(source_->name()).at(std::min(source_->size(), need.value_or(UINT64_MAX))));
}

// Notes unaligned tensors, which are legal but cannot be used in a mapped file.
void Placer::note_unaligned(const std::vector<Tensor>& tensors) {
  std::size_t count = 0;
  const Tensor* first = nullptr;
  for (const Tensor& tensor : tensors) {
    const Component& data = tensor.components.front();
    if (data.blob.size() == 0 || data.blob.offset() % size_of(data.dtype) == 0) continue;
    if (count++ == 0) first = &tensor;
  }
  if (first == nullptr) return;
  diagnostics_.note(Error(ErrorKind::corrupt, "safetensors.tensor.unaligned",
                          fmt::format("is not at a multiple of its element size; {} such in all", count))
                        .in(source_->name())
                        .at(first->components.front().blob.offset())
                        .about("tensor " + quote(first->name)));
}

std::vector<Tensor> Placer::sorted(const std::vector<bool>& sound) {
  // Each tensor is at another place in memory, so prefetch it.
  constexpr std::size_t kAhead = 8, kLine = 64;
  std::vector<Tensor> sorted;
  sorted.reserve(order_.size());
  prefer_huge_pages(sorted.data(), sorted.capacity() * sizeof(Tensor));
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (i + kAhead < order_.size()) {
      const auto* const next = reinterpret_cast<const std::byte*>(&tensors_[order_[i + kAhead]]);
      for (std::size_t line = 0; line < sizeof(Tensor); line += kLine) __builtin_prefetch(next + line, 1);
    }
    if (sound[order_[i]]) sorted.push_back(std::move(tensors_[order_[i]]));
  }
  return sorted;
}

std::vector<Tensor> Placer::take() {
  std::vector<Tensor> taken;
  if (deferred_ == 0) {
    check_length(end_);
    taken = std::move(tensors_);
  } else {
    bool whole = sort();
    std::uint64_t end = 0;
    std::vector<bool> sound(tensors_.size(), true);
    for (const std::uint32_t i : order_) {
      sound[i] = entries_[i].type != nullptr && follows(i, end) && has_its_size(i);
      end = std::max(end, entries_[i].end);
    }
    check_length(end);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (entries_[i].end > room_) sound[i] = false;  // reported once for all
      if (sound[i] && tensors_[i].components.empty()) place(tensors_[i], entries_[i]);
      whole = whole && sound[i];
    }
    taken = whole ? std::move(tensors_) : sorted(sound);
  }
  if (diagnostics_.thorough()) note_unaligned(taken);
  return taken;
}

}  // namespace tare::safetensors
