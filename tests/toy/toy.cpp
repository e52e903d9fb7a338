// Toy Box (.toy): an example of a small container. Only the tests' table has this row; CONTRIBUTING.md uses it as the
// example to begin with.
//
//   0    "TOYBOX1\n"
//   8    u32 length of what follows up to the data        (numbers are little-endian)
//   12   u32 number of tensors, then for each of them
//          u16 length of its name, the name, u8 type (0 f32, 1 i8), u8 rank, u64 for each dimension
//        the private tree (formats/private_tree.hpp), up to the data; empty if there is nothing to store
//   16k  the tensors in that order, each at a multiple of 16; the file ends with the last one
#include "toy/toy.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/fits.hpp"
#include "formats/private_tree.hpp"
#include "io/metadata.hpp"
#include "model/transfer.hpp"

namespace tare::toy {
namespace {

constexpr std::string_view kMagic = "TOYBOX1\n", kRule = "toy.private.form";
constexpr std::uint64_t kFixed = 12, kAlignment = 16;
constexpr DType kTypes[] = {DType::f32, DType::i8};

bool recognize(const Source& source) {
  std::array<char, kMagic.size()> magic{};
  if (source.size() < magic.size()) return false;
  source.read(0, std::as_writable_bytes(std::span(magic)));
  return std::string_view(magic.data(), magic.size()) == kMagic;
}

class Reader {
 public:
  Reader(const Input& input, const ReadOptions& options)
      : source_(input.source),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics) {}

  Model run() {
    if (!recognize(*source_) || source_->size() < kFixed)
      throw error("toy.magic", "the file is not a Toy Box, or shorter than its first 12 bytes", 0);
    std::array<std::byte, 4> length{};
    source_->read(kMagic.size(), length);
    const std::uint64_t header = load_le<std::uint32_t>(length.data());
    if (header > source_->size() - kFixed || header > options_.limits.metadata_bytes)
      throw error("toy.header", fmt::format("{} bytes of header, {} are there", header, source_->size() - kFixed), 8);
    header_ = io::Metadata(*source_, kFixed, header);
    end_ = kFixed + header;
    read_tensors();
    read_private();
    if (end_ != source_->size())
      throw error("toy.size", fmt::format("the tensors end at byte {}, the file at {}", end_, source_->size()), end_);
    source_->check();
    model_.version = "1";
    return std::move(model_);
  }

 private:
  Error error(std::string_view rule, std::string_view sentence, std::uint64_t at) const {
    return Error(ErrorKind::corrupt, rule, sentence).in(source_->name()).at(at);
  }

  // Returns the next bytes of the header.
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > header_.bytes().size() - at_)
      throw error("toy.header",
                  fmt::format("expected {} bytes, but the header ends after {}", count, header_.bytes().size() - at_),
                  kFixed + at_);
    at_ += count;
    return header_.bytes().subspan(at_ - count, count);
  }
  template <typename T>
  T number() {
    return load_le<T>(take(sizeof(T)).data());
  }

  void read_tensors() {
    for (auto left = number<std::uint32_t>(); left > 0; --left) read_tensor();
  }

  void read_tensor() {
    const std::uint64_t at = kFixed + at_;
    const auto name = take(number<std::uint16_t>());
    Tensor tensor;
    tensor.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    const auto type = number<std::uint8_t>();
    const auto rank = number<std::uint8_t>();
    if (type >= std::size(kTypes)) throw error("toy.type", fmt::format("type {}; 0 and 1 are defined", type), at);
    if (rank > options_.limits.rank) throw error("toy.rank", fmt::format("{} dimensions", rank), at);
    for (unsigned d = 0; d < rank; ++d) tensor.shape.push_back(number<std::uint64_t>());
    const auto elements = tensor.shape.elements();
    const auto bytes = elements ? checked_mul(*elements, size_of(kTypes[type])) : std::nullopt;
    const auto begin = checked_align(end_, kAlignment);
    if (!bytes || !begin || !fits(*begin, *bytes, source_->size()))
      throw error("toy.tensor.bounds", fmt::format("shape {} reaches beyond the file", tensor.shape.text()), at)
          .about(quote(tensor.name));
    end_ = *begin + *bytes;
    tensor.components.push_back({"data", kTypes[type], {}, Blob::range(source_, *begin, *bytes)});
    if (!names_.insert(tensor.name).second)
      throw error("toy.tensor.duplicate", "the name appears twice", at).about(quote(tensor.name));
    model_.tensors.push_back(std::move(tensor));
  }

  void read_private() {
    const std::string_view text = header_.text().substr(at_);
    if (text.empty()) return;
    try {
      PrivateTree tree = PrivateTree::parse(text, private_bounds(options_.limits), kRule);
      if (Map* const metadata = tree.map("metadata")) model_.metadata = std::move(*metadata);
      tree.take_config(model_);
      tree.take_vocabulary(model_);
      tree.take_attributes(tensors_by_name(model_), [&](const std::string& name) {
        diagnostics_.warning(error("toy.private.stale", fmt::format("there is no tensor {}", quote(name)), 12));
      });
    } catch (const Error& problem) {
      throw error(kRule, problem.sentence(), kFixed + at_);
    }
  }

  SourcePtr source_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  io::Metadata header_;
  std::uint64_t at_ = 0, end_ = 0;
  NameSet names_;
  Model model_;
};

Model read(const Input& input, const ReadOptions& options) { return Reader(input, options).run(); }

Bytes header_of(const Model& model) {
  Bytes header;
  const auto put = [&](auto number) {
    header.resize(header.size() + sizeof(number));
    store_le(header.data() + header.size() - sizeof(number), number);
  };
  const auto put_text = [&](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    header.insert(header.end(), bytes.begin(), bytes.end());
  };
  std::vector<const Tensor*> tensors;
  put(static_cast<std::uint32_t>(model.tensors.size()));
  for (const Tensor& tensor : model.tensors) {
    if (tensor.name.size() > std::numeric_limits<std::uint16_t>::max())
      throw Error(ErrorKind::limit, "toy.write.name", "a name may have 65535 bytes").about(quote(tensor.name));
    put(static_cast<std::uint16_t>(tensor.name.size()));
    put_text(tensor.name);
    put(static_cast<std::uint8_t>(tensor.components.front().dtype == DType::i8));
    put(static_cast<std::uint8_t>(tensor.shape.rank()));
    for (const std::uint64_t dimension : tensor.shape) put(dimension);
    tensors.push_back(&tensor);
  }
  PrivateTree tree(kRule);
  tree.put("metadata", model.metadata);
  tree.put("config", model.config.to_map());
  if (!model.vocabulary.empty()) tree.put("vocabulary", model.vocabulary.to_map());
  tree.put_attributes(tensors);
  if (!tree.empty()) put_text(tree.text());
  return header;
}

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  require_fit(model, kFormat);
  const Bytes header = header_of(model);
  std::array<std::byte, 4> length{};
  store_le(length.data(), static_cast<std::uint32_t>(header.size()));
  sink.write(std::as_bytes(std::span(kMagic)));
  sink.write(length);
  sink.write(header);
  TransferOptions transfer;
  transfer.alignment = kAlignment;
  transfer.threads = options.work.threads;
  transfer.progress = options.work.progress;
  Transfer out(sink, transfer);
  for (const Tensor& tensor : model.tensors) out.add(tensor.component("data")->blob);
  out.finish();
}

constexpr std::string_view kSuffixes[] = {".toy"}, kLayouts[] = {"dense"};

}  // namespace

constinit const Format kFormat = {
    .name = "toy",
    .title = "Toy Box",
    .versions = "1",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kTypes,
              .logical_types = {},
              .layouts = kLayouts,
              .metadata = Room::tree,
              .config = true,
              .vocabulary = true,
              .tensor_attributes = true,
              .forward_only = true},
    .recognize = recognize,
    .read = read,
    .write = write,
};

}  // namespace tare::toy
