// Reads TensorData: turns the entries of the index into tensors over ranges of the file.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "base/printable.hpp"
#include "formats/mcf/index.hpp"
#include "tare/codec.hpp"

namespace tare::mcf {
namespace {

class TensorReader {
 public:
  TensorReader(const Input& input, const Container& container, TensorNotes& notes, Diagnostics& diagnostics)
      : input_(input),
        container_(container),
        data_(container.find(SectionType::tensor_data)),
        notes_(notes),
        diagnostics_(diagnostics) {}

  std::vector<Tensor> run(const Limits& limits) {
    const EntryReport report{input_, diagnostics_, errors_};
    if (const Section* const section = container_.find(SectionType::tensor_index))
      index_.emplace(SectionBytes(*input_.source, *section, limits), data_, report);
    const std::span<Entry> entries = index_ ? std::span(index_->entries()) : std::span<Entry>();
    if (const Section* const section = container_.find(SectionType::quant_info)) {
      try {
        records_.emplace(*input_.source, *section, limits);
        read_records(*records_, entries, report);
      } catch (Error& error) {
        diagnostics_.error(error.in(input_.path).about("section " + name_of(section->type)));
      }
    }
    check_quantized(entries, report);
    sort_by_offset(entries);
    check_overlaps(report);
    if (diagnostics_.thorough()) note_deviations(entries, report);
    make_tensors(report);
    list_broken(entries);
    return std::move(tensors_);
  }
  std::vector<BrokenTensor> take_broken() { return std::move(broken_); }

 private:
  // Checks what quantized tensors require of the rest of the file.
  void check_quantized(std::span<Entry> entries, const EntryReport& report) {
    const Entry* aligned = nullptr;
    for (Entry& entry : entries) {
      const codec::mcf::Method* const method = entry.method();
      if (method == nullptr) continue;
      if (records_ && entry.record == 0 && entry.good)
        report.bad(entry, "mcf.quantinfo.missing", "a quantized tensor without a record in QuantInfo");
      if (method->family == codec::mcf::Family::raw) continue;
      if (aligned == nullptr) aligned = &entry;
      if (entry.good && entry.data_off % kPayloadAlignment != 0)
        report.bad(entry, "mcf.tensor.misaligned",
                   fmt::format("its payload at {} is not on a multiple of 64", entry.data_off));
    }
    if (aligned != nullptr && (container_.header.flags & kFlagAligned64) == 0)
      diagnostics_.error(Error(ErrorKind::corrupt, "mcf.flags.aligned",
                               "flag bit 0 (TensorDataAligned64) is not set in a file with q* or k* tensors")
                             .in(input_.path)
                             .at(32)
                             .about("tensor " + quote(aligned->name)));
  }

  // Sorts empty payloads before the payload at the same offset, so that writing them again gives the same offsets.
  void sort_by_offset(std::span<Entry> entries) {
    order_.reserve(entries.size());
    for (Entry& entry : entries)
      if (entry.good) order_.push_back({entry.data_off, entry.data_size, &entry});
    const auto before = [](const Place& a, const Place& b) {
      if (a.offset != b.offset) return a.offset < b.offset;
      if (a.size != b.size) return a.size < b.size;
      return a.entry->name < b.entry->name;
    };
    if (!std::is_sorted(order_.begin(), order_.end(), before)) std::sort(order_.begin(), order_.end(), before);
  }

  void check_overlaps(const EntryReport& report) {
    const Place* last = nullptr;
    for (const Place& place : order_) {
      if (place.size == 0) continue;
      const Place* const previous = std::exchange(last, &place);
      if (previous == nullptr || place.offset >= previous->offset + previous->size) continue;
      if (place.offset == previous->offset && place.size == previous->size) continue;
      report.bad(*place.entry, "mcf.tensor.overlap",
                 fmt::format("its {} bytes at {} overlap the {} bytes at {} of tensor {}", place.size, place.offset,
                             previous->size, previous->offset, quote(previous->entry->name)));
    }
  }

  void note_deviations(std::span<const Entry> entries, const EntryReport& report) {
    if (index_) index_->note_deviations();
    if (data_ != nullptr) {
      std::vector<Range> used;
      used.reserve(order_.size());
      for (const Place& place : order_) used.push_back({place.offset, place.size});
      for (const auto& [entry, error] : errors_)  // a broken tensor still owns its bytes
        if (entry->data_off >= data_->offset && fits(entry->data_off - data_->offset, entry->data_size, data_->size))
          used.push_back({entry->data_off, entry->data_size});
      std::sort(used.begin(), used.end(), [](const Range& a, const Range& b) { return a.offset < b.offset; });
      check_gaps(*input_.source, used, data_->offset, data_->offset + data_->size, diagnostics_);
    }
    const auto astray = std::count_if(order_.begin(), order_.end(),
                                      [](const Place& place) { return place.offset % kPayloadAlignment != 0; });
    if (astray > 0)
      diagnostics_.warning(Error(ErrorKind::corrupt, "mcf.tensor.unaligned",
                                 fmt::format("{} of {} payloads are not on a multiple of 64", astray, order_.size()))
                               .in(input_.path)
                               .at(data_->offset));
    const auto coded =
        std::find_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.method() != nullptr; });
    if (coded != entries.end() && !records_)
      diagnostics_.warning(report.about(*coded, "mcf.quantinfo.absent", "quantized, and the file has no QuantInfo"));
  }

  void make_tensors(const EntryReport& report) {
    tensors_.reserve(order_.size());
    prefer_huge_pages(tensors_.data(), tensors_.capacity() * sizeof(Tensor));
    const Codec* const dense = find_codec("dense");
    for (const Place& place : order_) {
      Entry& entry = *place.entry;
      if (!entry.good) continue;
      Tensor& tensor = tensors_.emplace_back();
      tensor.name = entry.name;
      tensor.shape = index_->shape(entry);
      Component& component = tensor.components.emplace_back();
      component.blob = Blob::range(input_.source, entry.data_off, entry.data_size);
      const Codec* codec = dense;
      if (const codec::mcf::Method* const method = entry.method()) {
        describe_quantized(tensor, entry, *method);
        codec = find_codec(tensor.layout);
      } else {
        component.role = "data";
        component.dtype = *plain_type(entry.dtype);
      }
      if (!notes_.types.empty() || !notes_.attributes.empty()) take_notes(tensor, entry, report);
      const auto problem = codec->check(tensor);
      if (!problem) continue;
      report.bad(entry, "mcf." + problem->rule, problem->sentence);
      tensors_.pop_back();
    }
  }

  void list_broken(std::span<const Entry> entries) {
    if (errors_.empty()) return;
    for (const Entry& entry : entries) {
      const auto found = errors_.find(&entry);
      if (found == errors_.end()) continue;
      BrokenTensor& broken = broken_.emplace_back(BrokenTensor{Tensor(), std::move(found->second)});
      broken.tensor.name = entry.name;
      broken.tensor.shape = index_->shape(entry);
      if (const codec::mcf::Method* const method = entry.method()) broken.tensor.layout = method->layout;
      // The private keys of a broken tensor are not stale.
      notes_.types.erase(entry.name);
      notes_.attributes.erase(entry.name);
    }
  }

  void describe_quantized(Tensor& tensor, const Entry& entry, const codec::mcf::Method& method) const {
    tensor.layout = method.layout;
    tensor.components.front().role = "payload";
    if (entry.record != 0) return set_attributes(*records_, entry.record, tensor.attributes);
    // Without a record, only the size shows whether a zero point is stored.
    auto domain = codec::mcf::Domain::weights;
    if (method.family == codec::mcf::Family::raw) {
      const auto with_zero = codec::mcf::geometry_of(method, codec::mcf::Domain::activations, tensor.shape);
      if (with_zero && with_zero->bytes == entry.data_size && entry.data_size != 0)
        domain = codec::mcf::Domain::activations;
    }
    tensor.attributes.append("domain", std::string(codec::mcf::name_of(domain)));
  }

  void take_notes(Tensor& tensor, const Entry& entry, const EntryReport& report) {
    if (const auto found = notes_.types.find(entry.name); found != notes_.types.end()) {
      if (tensor.is_dense() && apply_note(found->second, tensor.components.front(), tensor.shape))
        notes_.types.erase(found);
      else
        diagnostics_.warning(report.about(
            entry, "mcf.private.type",
            fmt::format("said to be {}, which its stored type {:#x} cannot be", quote(found->second), entry.dtype)));
    }
    if (const auto found = notes_.attributes.find(entry.name); found != notes_.attributes.end()) {
      for (auto& [key, value] : found->second)
        if (tensor.is_dense() || tensor.attributes.find(key) == nullptr)
          tensor.attributes.append(key, std::move(value));
      notes_.attributes.erase(found);
    }
  }

  struct Place {
    std::uint64_t offset, size;
    Entry* entry;
  };

  const Input& input_;
  const Container& container_;
  const Section* data_;
  TensorNotes& notes_;
  Diagnostics& diagnostics_;
  std::optional<Index> index_;
  std::optional<SectionBytes> records_;
  std::vector<Place> order_;
  std::vector<Tensor> tensors_;
  std::unordered_map<const Entry*, Error> errors_;
  std::vector<BrokenTensor> broken_;
};

}  // namespace

void read_tensors(const Input& input, const ReadOptions& options, const Container& container, TensorNotes& notes,
                  Model& model, Diagnostics& diagnostics) {
  TensorReader reader(input, container, notes, diagnostics);
  model.tensors = reader.run(options.limits);
  model.broken = reader.take_broken();
}

}  // namespace tare::mcf
