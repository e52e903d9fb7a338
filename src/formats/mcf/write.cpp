// Writes the file. Every size is known before the first byte, so the header is final when it is written, and the output
// may be a pipe.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/fits.hpp"
#include "formats/mcf/mcf.hpp"
#include "formats/mcf/methods.hpp"
#include "formats/rows.hpp"
#include "model/transfer.hpp"
#include "tare/codec.hpp"

namespace tare::mcf {
namespace {

Error unwritable(std::string_view rule, const Tensor& tensor, std::string_view sentence,
                 ErrorKind kind = ErrorKind::unsupported) {
  return Error(kind, rule, sentence).about("tensor " + quote(tensor.name));
}

Error too_large(std::string_view what) {
  return {ErrorKind::limit, "mcf.write.limit", fmt::format("{} more than MCF's fields can say", what)};
}

std::uint64_t align(std::uint64_t position, std::uint64_t alignment) {
  const auto aligned = checked_align(position, alignment);
  if (!aligned) throw too_large("the file has");
  return *aligned;
}

void check_tensor(const Tensor& tensor) {
  if (tensor.name.empty()) throw unwritable("mcf.write.name", tensor, "a tensor needs a name in MCF");
  if (tensor.components.size() != 1)
    throw unwritable("mcf.write.components", tensor,
                     fmt::format("MCF holds one run of bytes per tensor, this one has {}", tensor.components.size()));
  if (!tensor.is_dense() && !codec::mcf::attributes_of(tensor.attributes))
    throw unwritable("mcf.write.quant", tensor, "its domain or clipping range is not one that QuantInfo can state");
}

class Writer {
 public:
  Writer(const Model& model, Sink& sink, const WriteOptions& options) : model_(model), sink_(sink), options_(options) {}

  void run() {
    for (const Tensor& tensor : model_.tensors) check_tensor(tensor);
    sort_names();
    outline_ = outline_of(model_);
    build_index();
    plan();
    write_header();
    put_blobs(outline_.resources);
    put(SectionType::model_info, outline_.info);
    if (!model_.tensors.empty()) {
      put_tensors();
      put(SectionType::tensor_index, index_);
    }
    if (quantized_ > 0) put(SectionType::quant_info, build_records());
    put_blobs(outline_.others);
    put_directory();
  }

 private:
  void sort_names() {
    by_name_.resize(model_.tensors.size());
    std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
    const auto name = [&](std::size_t i) -> const std::string& { return model_.tensors[i].name; };
    std::sort(by_name_.begin(), by_name_.end(), [&](std::size_t a, std::size_t b) { return name(a) < name(b); });
    for (std::size_t i = 1; i < by_name_.size(); ++i)
      if (name(by_name_[i]) == name(by_name_[i - 1]))
        throw unwritable("mcf.write.duplicate", model_.tensors[by_name_[i]], "the name appears twice");
  }

  // ---- the plan: offsets of everything ----

  void plan() {
    const std::uint64_t header = kHeaderBytes + outline_.header.extra.size();
    if (header > kMaxU32) throw too_large("the header has");
    std::uint64_t position = header;
    const auto place = [&](const Section& section) {
      position = align(position, kSectionAlignment);
      sections_.push_back({section.type, section.version, position, section.size});
      const auto end = checked_add(position, section.size);
      if (!end) throw too_large("the file has");
      position = *end;
    };
    for (const auto& [section, blob] : outline_.resources) place(section);
    place({SectionType::model_info, 1, 0, outline_.info.size()});
    if (!model_.tensors.empty()) {
      position = align(position, kSectionAlignment);
      place({SectionType::tensor_data, 1, 0, place_payloads(position) - position});
      place({SectionType::tensor_index, 1, 0, index_.size()});
    }
    if (quantized_ > 0) place({SectionType::quant_info, 1, 0, kQuantHeaderBytes + quantized_ * kQuantRecordBytes});
    for (const auto& [section, blob] : outline_.others) place(section);

    Header& out = outline_.header;
    out.section_count = static_cast<std::uint32_t>(sections_.size());
    out.directory_offset = align(position, kSectionAlignment);
    out.file_size = out.directory_offset + sections_.size() * kDirectoryEntryBytes;
    if (out.file_size < out.directory_offset || sections_.size() > kMaxU32) throw too_large("the file has");
  }

  // Assigns offsets to all tensors from `start` on and writes them into the index; returns the end of the last payload.
  std::uint64_t place_payloads(std::uint64_t start) {
    if (options_.dedup) {
      first_ = find_equal_payloads(model_.tensors, options_.work.threads);
    } else {
      first_.resize(model_.tensors.size());
      std::iota(first_.begin(), first_.end(), std::size_t{0});
    }
    std::vector<std::uint64_t> offsets(first_.size());
    std::uint64_t position = start;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      if (first_[i] != i) {
        offsets[i] = offsets[first_[i]];
        continue;
      }
      offsets[i] = align(position, kPayloadAlignment);
      const auto end = checked_add(offsets[i], model_.tensors[i].components.front().blob.size());
      if (!end) throw too_large("the tensors have");
      position = *end;
    }
    for (std::size_t entry = 0; entry < by_name_.size(); ++entry)
      store_le(index_.data() + kIndexHeaderBytes + entry * kIndexEntryBytes + 24, offsets[by_name_[entry]]);
    return position;
  }

  // Builds TensorIndex without the offsets.
  void build_index() {
    std::uint64_t dims = 0, strings = 0;
    bool utf8 = true;
    for (const Tensor& tensor : model_.tensors) {
      dims += rank_of(tensor);
      strings += tensor.name.size();
      utf8 = utf8 && is_valid_utf8(tensor.name);
      if (!tensor.is_dense()) ++quantized_;
    }
    if (model_.tensors.empty()) return;
    // The fields for offsets of names and indices of dimensions have 32 bits.
    if (model_.tensors.size() > kMaxU32 || dims > kMaxU32 || strings > kMaxU32)
      throw too_large(
          fmt::format("{} tensors with {} dimensions and {} bytes of names are", model_.tensors.size(), dims, strings));
    const std::uint64_t dims_off = kIndexHeaderBytes + model_.tensors.size() * kIndexEntryBytes;
    const std::uint64_t strings_off = dims_off + dims * 8;
    index_.resize(strings_off + strings);
    std::byte* const base = index_.data();
    store_le(base, std::uint32_t{1});
    store_le(base + 4, kIndexSorted | (utf8 ? kIndexUtf8 : 0));
    store_le(base + 8, static_cast<std::uint32_t>(model_.tensors.size()));
    store_le(base + 12, static_cast<std::uint32_t>(dims));
    store_le(base + 16, kIndexHeaderBytes);
    store_le(base + 24, dims_off);
    store_le(base + 32, strings_off);
    store_le(base + 40, strings);

    std::byte* entry = base + kIndexHeaderBytes;
    std::uint32_t dim = 0, name = 0;
    for (const std::size_t number : by_name_) {
      const Tensor& tensor = model_.tensors[number];
      const Component& component = tensor.components.front();
      const codec::mcf::Method* const method = tensor.is_dense() ? nullptr : codec::mcf::find_method(tensor.layout);
      const auto rank = static_cast<std::uint32_t>(rank_of(tensor));
      store_le(entry, name);
      store_le(entry + 4, static_cast<std::uint32_t>(tensor.name.size()));
      store_le(entry + 8, method != nullptr ? std::uint32_t{record_of(*method).number} : stored_type(component).number);
      store_le(entry + 12, rank);
      store_le(entry + 16, dim);
      store_le(entry + 32, component.blob.size());
      entry += kIndexEntryBytes;
      std::byte* at = base + dims_off + std::uint64_t{dim} * 8;
      for (const std::uint64_t dimension : tensor.shape) {
        store_le(at, dimension);
        at += 8;
      }
      if (rank > tensor.shape.rank()) store_le(at, std::uint64_t{2});  // real and imaginary part
      std::copy_n(tensor.name.data(), tensor.name.size(), reinterpret_cast<char*>(base + strings_off + name));
      dim += rank;
      name += static_cast<std::uint32_t>(tensor.name.size());
    }
  }

  static std::uint64_t rank_of(const Tensor& tensor) {
    const bool pairs = tensor.is_dense() && stored_type(tensor.components.front()).pairs;
    const std::uint64_t rank = tensor.shape.rank() + (pairs ? 1 : 0);
    if (rank > kMaxRank)
      throw unwritable("mcf.write.rank", tensor, fmt::format("{} dimensions, at most {} in MCF", rank, kMaxRank));
    return rank;
  }

  // ---- the bytes ----

  void write_header() {
    const Header& header = outline_.header;
    std::byte bytes[kHeaderBytes] = {};
    std::copy_n(std::as_bytes(std::span(kMagic)).data(), kMagic.size(), bytes);
    store_le(bytes + 4, kMajor);
    store_le(bytes + 6, header.minor);
    store_le(bytes + 8, static_cast<std::uint32_t>(kHeaderBytes + header.extra.size()));
    store_le(bytes + 12, header.section_count);
    store_le(bytes + 16, header.directory_offset);
    store_le(bytes + 24, header.file_size);
    store_le(bytes + 32, header.flags);
    sink_.write(bytes);
    sink_.write(header.extra);
  }

  void put(SectionType /*type*/, std::span<const std::byte> bytes) {
    sink_.align(kSectionAlignment);
    sink_.write(bytes);
  }

  void put_blobs(std::span<const std::pair<Section, Blob>> blobs) {
    Transfer transfer(sink_, {.alignment = kSectionAlignment,
                              .zstd_level = std::nullopt,
                              .digest = std::nullopt,
                              .threads = options_.work.threads});
    for (const auto& [section, blob] : blobs) transfer.add(blob);
    transfer.finish();
  }

  void put_tensors() {
    sink_.align(kSectionAlignment);
    Transfer transfer(sink_, {.alignment = kPayloadAlignment,
                              .zstd_level = std::nullopt,
                              .digest = std::nullopt,
                              .threads = options_.work.threads,
                              .progress = options_.work.progress});
    for (std::size_t i = 0; i < model_.tensors.size(); ++i)
      if (first_[i] == i) transfer.add(model_.tensors[i].components.front().blob);
    transfer.finish();
  }

  // Called after the tensors are written: the clipping range of a tensor that is quantized on the fly is known only
  // then.
  Bytes build_records() const {
    Bytes out(kQuantHeaderBytes + quantized_ * kQuantRecordBytes);
    store_le(out.data(), std::uint32_t{1});
    store_le(out.data() + 4, static_cast<std::uint32_t>(quantized_));
    std::byte* record = out.data() + kQuantHeaderBytes;
    for (std::size_t entry = 0; entry < by_name_.size(); ++entry) {
      const Tensor& tensor = model_.tensors[by_name_[entry]];
      if (tensor.is_dense()) continue;
      const MethodRecord& method = record_of(*codec::mcf::find_method(tensor.layout));
      const Map attributes = tensor.complete_attributes();
      auto info = codec::mcf::attributes_of(attributes);
      if (!info) throw unwritable("mcf.write.quant", tensor, "its domain or clipping range is not one of QuantInfo's");
      // An unknown bound is NaN, not 0.
      if (attributes.find("min_clip") == nullptr) info->min_clip = std::numeric_limits<float>::quiet_NaN();
      if (attributes.find("max_clip") == nullptr) info->max_clip = std::numeric_limits<float>::quiet_NaN();
      store_le(record, static_cast<std::uint32_t>(entry));
      store_le(record + 4, method.number);
      store_le(record + 5, domain_number(info->domain));
      store_le(record + 6, method.block);
      store_le(record + 8, method.super_block);
      store_le(record + 16, info->min_clip);
      store_le(record + 20, info->max_clip);
      record += kQuantRecordBytes;
    }
    return out;
  }

  void put_directory() {
    std::sort(sections_.begin(), sections_.end(), [](const Section& a, const Section& b) { return a.type < b.type; });
    sink_.align(kSectionAlignment);
    Bytes out(sections_.size() * kDirectoryEntryBytes);
    std::byte* entry = out.data();
    for (const Section& section : sections_) {
      store_le(entry, static_cast<std::uint32_t>(section.type));
      store_le(entry + 4, section.version);
      store_le(entry + 8, section.offset);
      store_le(entry + 16, section.size);
      entry += kDirectoryEntryBytes;
    }
    sink_.write(out);
  }

  const Model& model_;
  Sink& sink_;
  const WriteOptions& options_;
  Outline outline_;
  std::vector<std::size_t> by_name_, first_;
  std::uint64_t quantized_ = 0;
  Bytes index_;
  std::vector<Section> sections_;
};

}  // namespace

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  require_fit(model, kFormat);
  Writer(model, sink, options).run();
}

}  // namespace tare::mcf
