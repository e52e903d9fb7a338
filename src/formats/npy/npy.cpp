// .npy: one NumPy array.
//
//   0    "\x93NUMPY", version (1.0, 2.0, 3.0), header length, header (header.hpp)
//   n    the array, exactly as long as its shape needs; n is a multiple of 64 in files that NumPy and Tare write
//
// The array becomes one dense tensor named after the file. The file cannot hold metadata and has no descriptor for fp8
// that NumPy reads back; such models are refused. Python objects (pickles), records, text and dates are refused too.
#include "formats/npy/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "formats/fits.hpp"
#include "formats/npy/order.hpp"
#include "formats/rows.hpp"
#include "io/metadata.hpp"
#include "model/transfer.hpp"

namespace tare::npy {

void check_length(const Header& header, std::uint64_t header_bytes, std::uint64_t total) {
  const std::uint64_t found = total - header_bytes;
  if (found == header.data_bytes) return;
  throw Error(ErrorKind::corrupt, "npy.data.length",
              fmt::format("an array {} of '{}' takes {} bytes, {} follow the header", header.shape.text(), header.descr,
                          header.data_bytes, found));
}

Tensor to_tensor(std::string name, const Header& header, Blob stored) {
  return dense(std::move(name), header.shape, header.element.dtype, in_c_order(std::move(stored), header),
               std::string(header.element.type));
}

Error raw_note(const Header& header) {
  const Element& element = header.element;
  // Two bytes are nearly always bf16, so that is the guess. Single bytes stay integers, and their meaning is lost.
  const bool given_up = element.type.empty() && element.dtype == DType::u8;
  return {given_up ? ErrorKind::lossy : ErrorKind::unsupported, "npy.descr.raw",
          fmt::format("'{}' are bits without a type; read as {}", header.descr,
                      element.type.empty() ? name_of(element.dtype) : element.type)};
}

bool holds_other_array(const Blob& bytes) {
  try {
    const auto reader = bytes.open();
    Bytes head(static_cast<std::size_t>(std::min<std::uint64_t>(kPrefix, bytes.size())));
    reader->read(head);
    const std::uint64_t length = header_length(head, bytes.size());
    if (length > head.size()) {
      head.resize(static_cast<std::size_t>(length));
      reader->read(std::span(head).subspan(kPrefix));
    }
    parse_header(std::span(head).first(static_cast<std::size_t>(length)));
  } catch (const OtherArray&) {
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
  return false;
}

void check_writable(const Tensor& tensor) {
  const auto refuse = [&](ErrorKind kind, std::string_view rule, std::string_view sentence) {
    throw Error(kind, rule, sentence).about(quote(tensor.name));
  };
  const Component* const data = tensor.component("data");
  if (!tensor.is_dense() || data == nullptr)
    refuse(ErrorKind::unsupported, "npz.write.layout",
           fmt::format("layout {} cannot be an array; only dense can", quote(tensor.layout)));
  if (tensor.components.size() != 1)
    refuse(ErrorKind::unsupported, "npz.write.components",
           fmt::format("{} components; an array has a place for \"data\" only", tensor.components.size()));
  if (descr_of(data->dtype, data->type).empty())
    refuse(ErrorKind::unsupported, "npz.write.type",
           fmt::format("no array type for {} over {}", quote(data->type), name_of(data->dtype)));
  if (tensor.shape.rank() > kMaxRank)
    refuse(ErrorKind::limit, "npz.write.rank",
           fmt::format("{} dimensions, readers take at most {}", tensor.shape.rank(), kMaxRank));
}

Bytes header_for(const Tensor& tensor) {
  const Component& data = *tensor.component("data");
  return write_header(descr_of(data.dtype, data.type), tensor.shape);
}

namespace {

bool recognize(const Source& source) {
  std::array<char, kMagic.size()> head{};
  if (source.size() < head.size()) return false;
  source.read(0, std::as_writable_bytes(std::span(head)));
  return std::string_view(head.data(), head.size()) == kMagic;
}

Model read(const Input& input, const ReadOptions& options) {
  Diagnostics strict;
  Diagnostics& diagnostics = options.diagnostics == nullptr ? strict : *options.diagnostics;
  const SourcePtr& source = input.source;
  Model model;
  try {
    io::Window window(*source);
    const std::uint64_t length = header_length(window.get(0, kPrefix), source->size());
    const Header header = parse_header(window.get(0, length), options.limits.rank);
    check_length(header, length, source->size());
    source->check();
    if (header.element.raw) diagnostics.note(raw_note(header).in(source->name()).at(0));
    model.version = fmt::format("{}.{}", header.major, header.minor);
    model.tensors.push_back(to_tensor(std::filesystem::path(input.path).stem().string(), header,
                                      Blob::range(source, length, source->size() - length)));
  } catch (Error& error) {
    diagnostics.error(error.in(source->name()).at(0));
  }
  return model;
}

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  const auto refuse = [&](std::string_view rule, std::string_view sentence) {
    throw Error(ErrorKind::unsupported, rule, sentence).in(sink.name());
  };
  require_fit(model, kFormat);
  const Tensor& tensor = model.tensors.front();
  check_writable(tensor);
  const Component& data = *tensor.component("data");
  if (descr_of(data.dtype, data.type) == "|V1")
    refuse("npy.write.type", fmt::format("an .npy file cannot say that its bytes are {}; .npz can", data.type));

  sink.write(header_for(tensor));
  TransferOptions transfer;
  transfer.digest = DigestAlgorithm::none;
  transfer.threads = options.work.threads;
  transfer.progress = options.work.progress;
  Transfer out(sink, transfer);
  out.add(data.blob);
  out.finish();
}

constexpr std::string_view kSuffixes[] = {".npy"};
constexpr std::string_view kLogical[] = {"complex64", "complex128"};
constexpr std::string_view kLayouts[] = {"dense"};

}  // namespace

constinit const Format kFormat = {
    .name = "npy",
    .title = "NumPy array",
    .versions = "reads 1.0, 2.0, 3.0; writes 1.0 (2.0 for long headers)",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kAllDTypes,
              .logical_types = kLogical,
              .layouts = kLayouts,
              .metadata = Room::none,
              .forward_only = true,
              .many_tensors = false},
    .recognize = recognize,
    .read = read,
    .write = write,
};

}  // namespace tare::npy
