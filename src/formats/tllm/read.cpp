// Reads Tiny Llama weights: walks over the tensors that the header implies. Every size is compared with the bytes that
// remain before anything is allocated.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/text.hpp"
#include "formats/own_fields.hpp"
#include "formats/tllm/tllm.hpp"

namespace tare::tllm {
namespace {

class Reader {
 public:
  Reader(const Input& input, const ReadOptions& options)
      : source_(input.source), diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics) {}

  Model run() {
    if (read_header()) {
      describe();
      read_tensors();
    }
    source_->check();
    return std::move(model_);
  }

 private:
  void report(ErrorKind kind, std::string_view rule, std::uint64_t offset, const std::string& sentence,
              std::string_view item = {}) {
    Error error(kind, rule, sentence);
    if (!item.empty()) error.about(item);
    diagnostics_.error(error.in(source_->name()).at(offset));
  }

  bool read_header() {
    if (source_->size() < kHeaderBytes) {
      report(ErrorKind::corrupt, "tllm.header.short", source_->size(),
             fmt::format("the file has {} bytes, its header takes {}: {} are missing", source_->size(), kHeaderBytes,
                         kHeaderBytes - source_->size()));
      return false;
    }
    std::array<std::byte, kHeaderBytes> bytes{};
    source_->read(0, bytes);
    const auto magic = load_le<std::uint32_t>(bytes.data());
    const auto version = load_le<std::uint32_t>(bytes.data() + 4);
    if (magic == kSwappedMagic)
      report(
          ErrorKind::unsupported, "tllm.magic.swapped", 0,
          fmt::format("the magic number is byte-swapped: expected 0x{:08X}, found 0x{:08X}. The file was written by a "
                      "machine of the other byte order; the format is little-endian",
                      kMagic, magic));
    else if (magic != kMagic)
      report(ErrorKind::corrupt, "tllm.magic", 0,
             fmt::format("expected the magic number 0x{:08X} (\"TLLM\"), found 0x{:08X}", kMagic, magic));
    else if (version != kVersion)
      report(ErrorKind::unsupported, "tllm.version", 4,
             fmt::format("version {}; only version {} is known", version, kVersion));
    if (magic != kMagic || version != kVersion) return false;
    for (std::size_t i = 0; i < kFields.size(); ++i)
      header_.*kFields[i].member = load_le<std::int32_t>(bytes.data() + 8 + 4 * i);
    header_.dropout = load_le<float>(bytes.data() + 32);
    const auto problems = check_header(header_);
    for (const HeaderProblem& problem : problems)
      report(ErrorKind::corrupt, problem.rule, problem.offset, problem.sentence, problem.item);
    return problems.empty();
  }

  void describe() {
    model_.version = std::to_string(kVersion);
    for (const HeaderField& field : kFields)
      model_.config.*count_called(kOwnFields, field.name) = header_.*field.member;
    model_.metadata.set(kHeadsKey, header_.heads);
    model_.metadata.set(kPositionsKey, header_.positions);
    model_.metadata.set(kDropoutKey, decimal_double(header_.dropout));
  }

  void read_tensors() {
    std::uint64_t at = kHeaderBytes;
    bool whole = true;
    // Reserved only if the file has the implied size. Growing step by step takes half as much memory again for a file
    // of many tiny tensors.
    if (file_bytes(header_) == source_->size()) model_.tensors.reserve(tensor_count(header_));
    for_each_place(header_, [&](const Place& place) {
      whole = read_tensor(place, at);
      at += place.dims_bytes() + place.data_bytes();  // within the file, or the loop ends
      return whole;
    });
    if (whole && at != source_->size())
      report(ErrorKind::corrupt, "tllm.file.trailing", at,
             fmt::format("{} byte{} too many: output.weight, the last tensor, ends at byte {}, the file at {}",
                         source_->size() - at, source_->size() - at == 1 ? "" : "s", at, source_->size()));
  }

  // Returns false if the file ends before the tensor does; no tensor can follow.
  bool read_tensor(const Place& place, std::uint64_t at) {
    const std::uint64_t there = source_->size() - at;
    const bool has_dims = place.dims_bytes() <= there;
    if (has_dims) check_dims(place, at);
    if (has_dims && place.data_bytes() <= there - place.dims_bytes()) {
      model_.tensors.push_back(dense(place.name, place.shape(), DType::f32,
                                     Blob::range(source_, at + place.dims_bytes(), place.data_bytes())));
      return true;
    }
    const auto wanted = file_bytes(header_);
    report(ErrorKind::corrupt, "tllm.file.truncated", source_->size(),
           fmt::format("the file ends {} bytes into this tensor; its header asks for {} bytes in all, {} are there, {} "
                       "are missing",
                       there, wanted ? fmt::to_string(*wanted) : "more than 2^64", source_->size(),
                       wanted ? fmt::to_string(*wanted - source_->size()) : "most"),
           place.name);
    return false;
  }

  void check_dims(const Place& place, std::uint64_t at) {
    std::array<std::byte, 16> bytes{};
    source_->read(at, std::span(bytes).first(place.dims_bytes()));
    Shape found;
    for (std::size_t d = 0; d < place.rank; ++d) found.push_back(load_le<std::uint64_t>(bytes.data() + 8 * d));
    if (found != place.shape())
      report(ErrorKind::corrupt, "tllm.tensor.dims", at,
             fmt::format("it says {} {}, the header asks for {}", place.rank == 2 ? "rows x columns" : "size",
                         found.text(), place.shape().text()),
             place.name);
  }

  SourcePtr source_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  Header header_;
  Model model_;
};

}  // namespace

Model read(const Input& input, const ReadOptions& options) { return Reader(input, options).run(); }

}  // namespace tare::tllm
