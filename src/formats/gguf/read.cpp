// Reads one file: its header, its entries and its tensors.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/cursor.hpp"
#include "formats/gguf/vocabulary.hpp"
#include "model/byte_swap.hpp"

namespace tare::gguf {
namespace {

class Reader {
 public:
  Reader(const SourcePtr& source, const ReadOptions& options)
      : source_(source),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics),
        cursor_(*source, options.limits) {}

  Model run(Parts& parts) {
    read_header();
    std::vector<Entry> entries = read_entries();
    take_alignment(entries);
    take_split(entries, parts.split);
    parts.tensors = tensors_;
    parts.infos = cursor_.at();
    read_infos();
    parts.infos_end = cursor_.at();
    place_tensors();
    interpret(entries, model_, Complaints(source_->name(), diagnostics_), options_.vocabulary,
              parts.split ? &parts.split->attributes : nullptr);
    source_->check();
    return std::move(model_);
  }

 private:
  // Memory grows with the bytes that were read, not with a stated count: gigabytes of weights may follow, so a huge
  // count can pass the check against the remaining bytes.
  static constexpr std::size_t kAtOnce = 4096;

  struct Info {
    std::string name;
    Shape shape;
    std::uint32_t type;
    std::uint64_t offset, at;
  };
  // Where the next tensor is expected; unknown after a tensor of unknown size.
  struct Next {
    std::uint64_t offset = 0;
    bool known = true;
  };

  // ---- header ----

  void read_header() {
    const auto magic = cursor_.bytes(kMagic.size(), "the magic");
    if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0)
      cursor_.fail("gguf.magic", "the file does not begin with \"GGUF\"", 0);
    auto version = cursor_.take<std::uint32_t>("the version");
    // The only hint at the byte order: version numbers are small.
    const bool big = version != 0 && (version & 0xFFFF) == 0;
    if (big) version = byte_swapped(version);
    if (version == 0 || version > kVersion)
      throw cursor_.error(ErrorKind::unsupported, "gguf.version", fmt::format("version {}; 1 to 3 are known", version),
                          4);
    cursor_.set_form(big, version == 1);
    model_.version = fmt::format("{}{}", version, big ? ", big-endian" : "");
    old_ = version == 1;
    tensors_ = read_count("tensors", 2 * cursor_.length_bytes() + 8);
    entries_ = read_count("keys", cursor_.length_bytes() + 5);
  }

  // Reads a count of items that take at least `least` bytes each.
  std::uint64_t read_count(std::string_view what, std::uint64_t least) {
    const std::uint64_t at = cursor_.at(), count = cursor_.length(what);
    if (count > cursor_.left() / least)
      cursor_.fail(
          "gguf.count",
          fmt::format(
              "the header states {} {}, but the file has room for {}: it is truncated (download it again) or not GGUF",
              count, what, cursor_.left() / least),
          at);
    return count;
  }

  // ---- entries ----

  std::vector<Entry> read_entries() {
    std::vector<Entry> entries;
    NameSet keys;
    for (std::uint64_t i = 0; i < entries_; ++i) {
      Entry entry;
      entry.at = cursor_.at();
      entry.key = cursor_.text("a key");
      check_key(entry);
      charge_values(kKeyPrice + 1);
      if (!keys.insert(entry.key).second)
        cursor_.fail("gguf.key.duplicate", fmt::format("the key {} appears twice", quote(entry.key)), entry.at);
      const std::size_t files = model_.attachments.size();
      read_value(entry);
      if (model_.attachments.size() == files) entries.push_back(std::move(entry));
    }
    return entries;
  }

  void check_key(const Entry& entry) const {
    if (entry.key.empty()) cursor_.fail("gguf.key.empty", "a key without a name", entry.at);
    if (entry.key.size() > kMaxKey)
      cursor_.fail("gguf.key.long",
                   fmt::format("expected a key of at most {} bytes, found {}", kMaxKey, entry.key.size()), entry.at);
    if (!is_valid_utf8(entry.key))
      cursor_.fail("gguf.key.utf8", fmt::format("the key {} is not UTF-8", quote(entry.key)), entry.at);
  }

  ValueType read_type(const Entry& entry) {
    const std::uint64_t at = cursor_.at();
    const auto number = cursor_.take<std::uint32_t>("a type");
    const auto type = static_cast<ValueType>(number);
    if (number >= kValueTypes.size() || (old_ && number > static_cast<std::uint32_t>(ValueType::array)))
      throw about(entry, "gguf.value.type", fmt::format("the type of values {} is not known", number), at);
    return type;
  }

  void read_value(Entry& entry) {
    entry.type.type = read_type(entry);
    if (entry.type.type != ValueType::array) {
      entry.payload = read_single(entry, entry.type.type);
      return;
    }
    entry.type = {read_type(entry), true};
    if (entry.type.type == ValueType::array)
      throw about(entry, "gguf.value.nested", "an array of arrays, which no program reads", cursor_.at() - 4);
    const std::uint64_t at = cursor_.at(), count = cursor_.length("an array");
    const bool texts = entry.type.type == ValueType::string;
    const std::uint64_t least = texts ? cursor_.length_bytes() : size_of(entry.type.type);
    if (count > kMaxCount || count > cursor_.left() / least)
      throw about(entry, "gguf.array.length",
                  fmt::format("{} elements, there is room for {}", count, std::min(kMaxCount, cursor_.left() / least)),
                  at);
    if (entry.key.starts_with(kFilePrefix) && entry.type.type == ValueType::u8) {
      cursor_.skip(count, "a file");
      model_.attachments.push_back(
          {entry.key.substr(kFilePrefix.size()), Blob::range(source_, cursor_.at() - count, count)});
    } else if (!options_.vocabulary && is_vocabulary_key(entry.key))
      skip_items(entry.type.type, count);
    else
      entry.payload = read_items(entry, count);
  }

  // Moves the cursor past the items.
  void skip_items(ValueType type, std::uint64_t count) {
    if (type != ValueType::string) return cursor_.skip(count * size_of(type), "an array");
    for (std::uint64_t i = 0; i < count; ++i) cursor_.text("a string");
  }

  Payload read_items(const Entry& entry, std::uint64_t count) {
    const auto size = count;
    switch (entry.type.type) {
      case ValueType::string: {
        std::vector<std::string> texts;
        texts.reserve(std::min(size, kAtOnce));
        bool valid = true;
        for (std::uint64_t i = 0; i < count; ++i) {
          texts.emplace_back(cursor_.text("a string"));
          // Tokens may be any bytes.
          if (diagnostics_.thorough() && !is_vocabulary_key(entry.key)) valid = valid && is_valid_utf8(texts.back());
        }
        if (!valid) warn(entry, "gguf.string.utf8", "a string in it is not UTF-8");
        return texts;
      }
      case ValueType::f32: return read_numbers<float>(count);
      case ValueType::i32: return read_numbers<std::int32_t>(count);
      case ValueType::u8: {
        const auto bytes = cursor_.bytes(count, "an array");
        return Value(Bytes(bytes.begin(), bytes.end()));
      }
      default: break;
    }
    // A Value takes many times the bytes of a small number: charge the budget.
    try {
      charge_values(count);
    } catch (Error& error) {
      throw error.in(source_->name()).at(entry.at).about("key " + quote(entry.key));
    }
    List list;
    list.reserve(std::min(size, kAtOnce));
    for (std::uint64_t i = 0; i < count; ++i) list.push_back(read_single(entry, entry.type.type));
    return Value(std::move(list));
  }

  template <typename T>
  std::vector<T> read_numbers(std::uint64_t count) {
    std::vector<T> numbers;
    for (std::uint64_t left = count; left > 0;) {
      const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(kAtOnce, left));
      const auto bytes = cursor_.bytes(some * sizeof(T), "an array");
      for (std::size_t i = 0; i < some; ++i) numbers.push_back(cursor_.load<T>(bytes.data() + i * sizeof(T)));
      left -= some;
    }
    return numbers;
  }

  Value read_single(const Entry& entry, ValueType type) {
    const auto integer = [&]<typename T>(T value) { return Value(std::int64_t{value}); };
    const std::uint64_t at = cursor_.at();
    switch (type) {
      case ValueType::u8: return integer(cursor_.take<std::uint8_t>("a value"));
      case ValueType::i8: return integer(cursor_.take<std::int8_t>("a value"));
      case ValueType::u16: return integer(cursor_.take<std::uint16_t>("a value"));
      case ValueType::i16: return integer(cursor_.take<std::int16_t>("a value"));
      case ValueType::u32: return integer(cursor_.take<std::uint32_t>("a value"));
      case ValueType::i32: return integer(cursor_.take<std::int32_t>("a value"));
      case ValueType::i64: return integer(cursor_.take<std::int64_t>("a value"));
      case ValueType::u64: return Value(cursor_.take<std::uint64_t>("a value"));
      case ValueType::f32: return Value(decimal_double(cursor_.take<float>("a value")));
      case ValueType::f64: return Value(cursor_.take<double>("a value"));
      case ValueType::string: {
        std::string text(cursor_.text("a string"));
        if (!is_valid_utf8(text)) warn(entry, "gguf.string.utf8", "is not UTF-8");
        return Value(std::move(text));
      }
      case ValueType::boolean: {
        const auto byte = cursor_.take<std::uint8_t>("a value");
        if (byte > 1) throw about(entry, "gguf.bool", fmt::format("a bool of {}; only 0 and 1 are allowed", byte), at);
        return Value(byte == 1);
      }
      case ValueType::array: break;
    }
    return {};
  }

  Error about(const Entry& entry, std::string_view rule, std::string_view sentence, std::uint64_t at) const {
    return cursor_.error(ErrorKind::corrupt, rule, sentence, at).about("key " + quote(entry.key));
  }
  void warn(const Entry& entry, std::string_view rule, std::string_view sentence) const {
    diagnostics_.warning(about(entry, rule, sentence, entry.at));
  }

  // ---- entries about the file ----

  void take_alignment(const std::vector<Entry>& entries) {
    const auto found = std::ranges::find(entries, kAlignmentKey, &Entry::key);
    if (found == entries.end()) return;
    if (found->type != EntryType{ValueType::u32, false})
      throw about(*found, "gguf.alignment", fmt::format("is of type {}, not u32", found->type.text()), found->at);
    alignment_ = static_cast<std::uint64_t>(*std::get<Value>(found->payload).get<std::int64_t>());
    if (alignment_ == 0 || (alignment_ & (alignment_ - 1)) != 0 || alignment_ > kMaxAlignment)
      throw about(*found, "gguf.alignment",
                  fmt::format("expected a power of two up to {}, found {}", kMaxAlignment, alignment_), found->at);
    if (alignment_ < kAlignment)
      warn(*found, "gguf.alignment.small", fmt::format("is {}; llama.cpp needs {}", alignment_, kAlignment));
  }

  void take_split(std::vector<Entry>& entries, std::optional<Split>& split) const {
    const auto number = [&](std::string_view key, ValueType type) -> std::optional<std::int64_t> {
      const auto found = std::ranges::find(entries, key, &Entry::key);
      if (found == entries.end()) return std::nullopt;
      if (found->type != EntryType{type, false})
        throw about(*found, "gguf.split.type",
                    fmt::format("is of type {}, not {}", found->type.text(), EntryType{type, false}.text()), found->at);
      return std::get<Value>(found->payload).get<std::int64_t>() == nullptr
                 ? std::nullopt
                 : std::optional(*std::get<Value>(found->payload).get<std::int64_t>());
    };
    const auto count = number(kSplitCount, ValueType::u16);
    const auto no = number(kSplitNumber, ValueType::u16);
    const auto tensors = number(kSplitTensors, ValueType::i32);
    if (count.value_or(0) <= 1) return;  // a single file; programs that merge a set leave such keys
    split = Split{static_cast<std::uint32_t>(no.value_or(0)), static_cast<std::uint32_t>(*count), tensors.value_or(-1)};
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (is_split_key(entries[i].key))
        split->entries.push_back({entries[i], i == 0 ? std::string() : entries[i - 1].key, i});
    std::erase_if(entries, [](const Entry& entry) { return is_split_key(entry.key); });
  }

  // ---- tensors ----

  void read_infos() {
    NameSet names;
    for (std::uint64_t i = 0; i < tensors_; ++i) {
      Info info;
      info.at = cursor_.at();
      const std::string_view name = cursor_.text("the name of a tensor");
      if (name.size() > kMaxName)
        cursor_.fail("gguf.name.long",
                     fmt::format("expected a name of at most {} bytes, found {}", kMaxName, name.size()), info.at);
      info.name = name;
      if (!names.insert(info.name).second) throw tensor_error(info, "gguf.name.duplicate", "the name appears twice");
      const auto rank = cursor_.take<std::uint32_t>("the number of dimensions");
      if (rank > kMaxRank)
        throw tensor_error(info, "gguf.rank", fmt::format("expected at most 4 dimensions, found {}", rank));
      std::array<std::uint64_t, kMaxRank> dims{};
      for (std::uint32_t d = 0; d < rank; ++d) dims[d] = cursor_.length("a dimension");
      // GGUF stores the fastest dimension first.
      for (std::uint32_t d = rank; d-- > 0;) info.shape.push_back(dims[d]);
      info.type = cursor_.take<std::uint32_t>("the type of a tensor");
      info.offset = cursor_.take<std::uint64_t>("the offset of a tensor");
      infos_.push_back(std::move(info));
    }
  }

  Error tensor_error(const Info& info, std::string_view rule, std::string_view sentence,
                     ErrorKind kind = ErrorKind::corrupt) const {
    return cursor_.error(kind, rule, sentence, info.at).about("tensor " + quote(info.name));
  }

  void place_tensors() {
    if (infos_.empty()) return check_end_of_none();
    const auto start = checked_align(cursor_.at(), alignment_);
    if (!start || *start > source_->size())
      cursor_.fail("gguf.truncated",
                   fmt::format("the data begins at byte {}, the file has {}", start.value_or(0), source_->size()),
                   cursor_.at());
    check_padding(cursor_.at(), *start);
    model_.tensors.reserve(infos_.size());
    Next next;
    for (Info& info : infos_) {
      try {
        place(info, *start, next);
      } catch (const Error& error) {
        diagnostics_.tensor_error(error);
        BrokenTensor& broken = model_.broken.emplace_back(BrokenTensor{Tensor(), error});
        broken.tensor.name = info.name;
        broken.tensor.shape = info.shape;
      }
    }
    if (next.known && diagnostics_.thorough()) check_end(*start + next.offset);
  }

  // Some programs pad a file without tensors as if data followed, some do not.
  void check_end_of_none() {
    const std::uint64_t end = cursor_.at(), padded = checked_align(end, alignment_).value_or(end);
    if (end != padded && source_->size() == padded) {
      model_.metadata.append(std::string(kPaddedKey), true);
      check_padding(end, padded);
    } else if (diagnostics_.thorough() && source_->size() > end) {
      check_end(end);
    }
  }

  void place(Info& info, std::uint64_t start, Next& next) {
    const Next expected = next;
    next.known = false;
    const TensorType* const type = find_type(info.type);
    if (const std::string_view own = name_in_ik_llama(info.type); type == nullptr && !own.empty())
      throw tensor_error(info, "gguf.type",
                         fmt::format("the type {} is {} of ik_llama.cpp, which is not one of llama.cpp's; the file is "
                                     "not damaged, and that program reads it",
                                     info.type, own),
                         ErrorKind::unsupported);
    if (type == nullptr)
      throw tensor_error(info, "gguf.type", fmt::format("the type {} is not one of GGUF's", info.type),
                         ErrorKind::unsupported);
    const std::uint64_t bytes = bytes_of(info, *type);
    const auto begin = checked_add(start, info.offset);
    if (!begin || !fits(*begin, bytes, source_->size()))
      throw tensor_error(
          info, "gguf.bounds",
          fmt::format("its {} bytes at data offset {} extend beyond the end of the file ({} bytes): the file "
                      "is truncated (download it again)",
                      bytes, info.offset, source_->size()));
    const std::uint64_t end = info.offset + bytes;
    next = {end + (alignment_ - end % alignment_) % alignment_, true};  // cannot overflow: both are far below 2^64
    if (expected.known && info.offset != expected.offset)
      throw tensor_error(
          info, info.offset < expected.offset ? "gguf.overlap" : "gguf.gap",
          fmt::format("begins at {} of the data, the one before it ends at {}", info.offset, expected.offset));
    if (info.offset % alignment_ != 0)
      throw tensor_error(info, "gguf.misaligned",
                         fmt::format("begins at {} of the data, not at a multiple of {}", info.offset, alignment_));
    if (cursor_.big() && !type->either_order)
      throw tensor_error(info, "gguf.type.order", fmt::format("{} is not defined in big-endian files", type->layout),
                         ErrorKind::unsupported);
    check_padding(start + end, std::min(start + next.offset, source_->size()));
    Blob blob = Blob::range(source_, *begin, bytes);
    Tensor tensor;
    tensor.name = std::move(info.name);
    tensor.shape = info.shape;
    tensor.layout = type->layout;
    if (cursor_.big()) blob = type->is_dense() ? byte_swapped_blob(blob, type->bytes) : swapped_blocks(blob, *type);
    tensor.components.push_back({type->is_dense() ? "data" : "payload", type->dtype, {}, std::move(blob)});
    model_.tensors.push_back(std::move(tensor));
  }

  std::uint64_t bytes_of(const Info& info, const TensorType& type) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
    std::optional<std::uint64_t> elements = 1;
    for (const std::uint64_t dimension : info.shape)
      if (elements) elements = checked_mul(*elements, dimension);
    if (!elements || *elements >= kMost)
      throw tensor_error(info, "gguf.shape", fmt::format("the shape {} has too many elements", info.shape.text()));
    const std::uint64_t row = info.shape.empty() ? 1 : info.shape[info.shape.size() - 1];
    if (row % type.weights != 0)
      throw tensor_error(info, "gguf.row",
                         fmt::format("rows of {} do not divide into blocks of {}", row, type.weights));
    const auto bytes = checked_mul(*elements / type.weights, type.bytes);
    if (!bytes || *bytes >= kMost)
      throw tensor_error(info, "gguf.shape", fmt::format("the shape {} has too many bytes", info.shape.text()));
    return *bytes;
  }

  void check_padding(std::uint64_t begin, std::uint64_t end) {
    // Checks each gap once: tensors may share an offset, and an alignment can be a megabyte.
    begin = std::max(begin, padding_checked_);
    if (!diagnostics_.thorough() || begin >= end) return;
    padding_checked_ = end;
    Bytes bytes(end - begin);
    source_->read(begin, bytes);
    const auto bad = std::ranges::find_if(bytes, [](std::byte b) { return b != std::byte{0}; });
    if (bad != bytes.end())
      diagnostics_.warning(cursor_.error(ErrorKind::corrupt, "gguf.padding",
                                         fmt::format("a padding byte is {}, not 0", std::to_integer<unsigned>(*bad)),
                                         begin + static_cast<std::uint64_t>(bad - bytes.begin())));
  }

  void check_end(std::uint64_t end) const {
    if (source_->size() < end)
      diagnostics_.warning(cursor_.error(ErrorKind::corrupt, "gguf.padding.end",
                                         fmt::format("the last tensor is not padded: {} bytes are missing, without "
                                                     "which some programs refuse the file",
                                                     end - source_->size()),
                                         source_->size()));
    else if (source_->size() > end)
      diagnostics_.warning(cursor_.error(ErrorKind::corrupt, "gguf.trailing",
                                         fmt::format("{} bytes follow the last tensor", source_->size() - end), end));
  }

  SourcePtr source_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  Cursor cursor_;
  bool old_ = false;
  std::uint64_t tensors_ = 0, entries_ = 0, alignment_ = kAlignment;
  std::uint64_t padding_checked_ = 0;  // the end of the last gap that was checked
  std::vector<Info> infos_;
  Model model_;
};

}  // namespace

Model read_file(const SourcePtr& source, const ReadOptions& options, Parts& parts) {
  return Reader(source, options).run(parts);
}

}  // namespace tare::gguf
