// Writes one file from front to back: everything before the data is known in advance.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/fits.hpp"
#include "formats/gguf/gguf.hpp"
#include "formats/rows.hpp"
#include "model/transfer.hpp"

namespace tare::gguf {
namespace {

class HeadWriter {
 public:
  template <typename T>
  void put(T number) {
    bytes_.resize(bytes_.size() + sizeof(T));
    store_le(bytes_.data() + bytes_.size() - sizeof(T), number);
  }
  void put_bytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void put_text(std::string_view text) {
    put<std::uint64_t>(text.size());
    put_bytes(std::as_bytes(std::span(text)));
  }
  void put_entry(const Entry& entry) {
    put_text(entry.key);
    if (entry.type.array) put(static_cast<std::uint32_t>(ValueType::array));
    put(static_cast<std::uint32_t>(entry.type.type));
    std::visit([&](const auto& payload) { put_payload(payload, entry.type); }, entry.payload);
  }
  void put_info(const Tensor& tensor, const TensorType& type, std::uint64_t offset) {
    put_text(tensor.name);
    put(static_cast<std::uint32_t>(tensor.shape.size()));
    for (std::size_t d = tensor.shape.size(); d-- > 0;) put<std::uint64_t>(tensor.shape[d]);
    put(type.number);
    put(offset);
  }
  const Bytes& bytes() const { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  void put_payload(const Value& value, const EntryType& type) {
    if (!type.array) return put_single(value, type.type);
    if (const Bytes* const bytes = value.get<Bytes>()) {
      put<std::uint64_t>(bytes->size());
      return put_bytes(*bytes);
    }
    const List& list = *value.get<List>();
    put<std::uint64_t>(list.size());
    for (const Value& item : list) put_single(item, type.type);
  }
  void put_payload(const std::vector<std::string>& texts, const EntryType& /*strings*/) {
    put<std::uint64_t>(texts.size());
    for (const std::string& text : texts) put_text(text);
  }
  template <typename T>
  void put_payload(const std::vector<T>& numbers, const EntryType& /*of T*/) {
    put<std::uint64_t>(numbers.size());
    for (const T number : numbers) put(number);
  }

  // Requires `is_of`.
  void put_single(const Value& value, ValueType type) {
    std::uint64_t integer = 0;
    if (const auto* const number = value.get<std::int64_t>()) integer = static_cast<std::uint64_t>(*number);
    if (const auto* const number = value.get<std::uint64_t>()) integer = *number;
    switch (type) {
      case ValueType::u8:
      case ValueType::i8: return put(static_cast<std::uint8_t>(integer));
      case ValueType::u16:
      case ValueType::i16: return put(static_cast<std::uint16_t>(integer));
      case ValueType::u32:
      case ValueType::i32: return put(static_cast<std::uint32_t>(integer));
      case ValueType::u64:
      case ValueType::i64: return put(integer);
      case ValueType::f32: return put(carry_to_f32(*value.get<double>()));
      case ValueType::f64: return put(*value.get<double>());
      case ValueType::boolean: return put(static_cast<std::uint8_t>(*value.get<bool>()));
      case ValueType::string: {
        if (value.text() != nullptr) return put_text(*value.text());
        const Bytes& bytes = *value.get<Bytes>();
        put<std::uint64_t>(bytes.size());
        return put_bytes(bytes);
      }
      case ValueType::array: return;
    }
  }

  Bytes bytes_;
};

Error unwritable(std::string_view rule, const Tensor& tensor, std::string_view sentence) {
  return Error(ErrorKind::unsupported, rule, sentence).about("tensor " + quote(tensor.name));
}

void check_tensor(const Tensor& tensor) {
  const TensorType* const type = type_of(tensor);
  if (type == nullptr || tensor.components.size() != 1)
    throw unwritable("gguf.write.type", tensor, fmt::format("GGUF has no type for the layout {}", tensor.layout));
  // Blocks without a codec were not checked by require_fit.
  const std::uint64_t row = tensor.shape.empty() ? 1 : tensor.shape[tensor.shape.size() - 1];
  const auto elements = tensor.shape.elements();
  const auto bytes = elements ? checked_mul(*elements / type->weights, type->bytes) : std::nullopt;
  if (row % type->weights != 0 || !bytes || *bytes != tensor.bytes() ||
      *elements > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw unwritable(
        "gguf.write.shape", tensor,
        fmt::format("the shape {} is not one of {} bytes of {}", tensor.shape.text(), tensor.bytes(), tensor.layout));
  // Readers multiply from the left, so the product may overflow before a zero.
  std::optional<std::uint64_t> product = 1;
  for (const std::uint64_t dimension : tensor.shape)
    if (product) product = checked_mul(*product, dimension);
  if (!product)
    throw unwritable("gguf.write.shape", tensor, fmt::format("the shape {} overflows", tensor.shape.text()));
}

}  // namespace

void check_writable(const Model& model) {
  require_fit(model, kFormat);
  for (const Tensor& tensor : model.tensors) check_tensor(tensor);
  NameViewSet names;
  for (const Attachment& file : model.attachments)
    if (!names.insert(file.name).second || file.name.empty() || file.name.size() > kMaxKey - kFilePrefix.size() ||
        !is_valid_utf8(file.name) || file.blob.size() > kMaxCount)
      throw Error(
          ErrorKind::unsupported, "gguf.write.file",
          "a file whose name appears twice, or is empty, too long or not text, or which has more than a gigabyte")
          .about(quote(file.name));
}

std::uint64_t alignment_in(const std::vector<Entry>& entries) {
  const auto found = std::ranges::find(entries, kAlignmentKey, &Entry::key);
  if (found == entries.end()) return kAlignment;
  const Value& value = std::get<Value>(found->payload);
  const auto* const number = value.get<std::int64_t>();
  const auto alignment = number == nullptr || *number < 0 ? 0 : static_cast<std::uint64_t>(*number);
  if (found->type != EntryType{ValueType::u32, false} || alignment == 0 || (alignment & (alignment - 1)) != 0 ||
      alignment > kMaxAlignment)
    throw Error(
        ErrorKind::usage, "gguf.write.alignment",
        fmt::format("{}: expected a power of two up to {}, found {}", kAlignmentKey, kMaxAlignment, to_json(value)));
  return alignment;
}

Bytes make_head(const std::vector<Entry>& entries, std::uint64_t tensors, std::span<const std::byte> infos) {
  HeadWriter head;
  head.put_bytes(std::as_bytes(std::span(kMagic)));
  head.put(kVersion);
  head.put<std::uint64_t>(tensors);
  head.put<std::uint64_t>(entries.size());
  for (const Entry& entry : entries) head.put_entry(entry);
  head.put_bytes(infos);
  return head.take();
}

Bytes make_head(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors) {
  const std::uint64_t alignment = alignment_in(entries);
  HeadWriter infos;
  std::uint64_t offset = 0;
  for (const Tensor* const tensor : tensors) {
    infos.put_info(*tensor, *type_of(*tensor), offset);
    const auto end = checked_add(offset, tensor->bytes());
    const auto next = end ? checked_align(*end, alignment) : std::nullopt;
    if (!next) throw unwritable("gguf.write.shape", *tensor, "the data does not fit 64 bits of length");
    offset = *next;
  }
  return make_head(entries, tensors.size(), infos.bytes());
}

void write_file(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors, Sink& sink,
                const WriteOptions& options, bool padded) {
  const std::uint64_t alignment = alignment_in(entries);
  sink.write(make_head(entries, tensors));
  if (padded || !tensors.empty()) sink.align(alignment);
  if (tensors.empty()) return;
  Transfer transfer(sink, {.alignment = alignment,
                           .zstd_level = std::nullopt,
                           .digest = std::nullopt,
                           .threads = options.work.threads,
                           .progress = options.work.progress});
  for (const Tensor* const tensor : tensors) transfer.add(tensor->components.front().blob);
  transfer.finish();
  sink.align(alignment);
}

std::vector<const Tensor*> tensors_of(const Model& model) {
  std::vector<const Tensor*> tensors;
  tensors.reserve(model.tensors.size());
  for (const Tensor& tensor : model.tensors) tensors.push_back(&tensor);
  return tensors;
}

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  check_writable(model);
  write_file(entries_of(model), tensors_of(model), sink, options, is_padded(model));
}

bool is_padded(const Model& model) {
  const Value* const padded = model.metadata.find(kPaddedKey);
  return padded != nullptr && *padded == true;
}

std::string facts_of(const std::vector<Entry>& entries, FactsOf area) {
  const auto named = std::ranges::find(entries, kArchitectureKey, &Entry::key);
  const Value* const value = named == entries.end() ? nullptr : std::get_if<Value>(&named->payload);
  const std::string prefix = value != nullptr && value->text() != nullptr ? *value->text() + "." : std::string();
  // Sorts by key: other programs may change the order of the entries.
  std::vector<const Entry*> facts;
  const auto is_fact = [&](std::string_view key) {
    if (area == FactsOf::config) return !prefix.empty() && key.starts_with(prefix);
    // No attached file has llama.cpp's name for how text is split.
    if (!key.starts_with("tokenizer.") || key == "tokenizer.ggml.pre") return false;
    return area == FactsOf::tokenizer || key.ends_with("_token_id");
  };
  for (const Entry& entry : entries)
    if (is_fact(entry.key)) facts.push_back(&entry);
  std::ranges::sort(facts, {}, &Entry::key);
  HeadWriter head;
  for (const Entry* const fact : facts) head.put_entry(*fact);
  return digest_of(DigestAlgorithm::sha256, head.bytes()).hex();
}

std::uint64_t head_bytes(const std::vector<Entry>& entries, const std::vector<const Tensor*>& tensors) {
  HeadWriter head;
  for (const Entry& entry : entries) head.put_entry(entry);
  for (const Tensor* const tensor : tensors) head.put_info(*tensor, *type_of(*tensor), 0);
  return kFixedBytes + head.bytes().size();
}

}  // namespace tare::gguf
