// The layout of torch.save before PyTorch 1.6; see torch.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/printable.hpp"
#include "formats/torch/torch.hpp"

namespace tare::torch {
namespace {

// 0x1950a86a20f9469cfc6c, as the bytes of a Python integer.
constexpr std::string_view kMagic = "\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19";
// The same number in protocols 0 and 1.
constexpr std::string_view kMagicDigits = "119547037146038801333356", kMagicLine = "L119547037146038801333356L\n";
constexpr std::int64_t kProtocol = 1001;

class LegacyReader {
 public:
  LegacyReader(SourcePtr source, const ReadOptions& options)
      : source_(std::move(source)),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics) {}

  Model run(const Use& use) {
    const auto magic = next_pickle();
    const Ref number = (*magic)->root();
    if ((*magic)->kind(number) != PickleKind::large ||
        ((*magic)->text(number) != kMagic && (*magic)->text(number) != kMagicDigits))
      fail("torch.legacy.magic", "a pickle, but not one that torch.save wrote: it does not begin with PyTorch's number",
           0, ErrorKind::unsupported);
    const auto protocol = next_pickle();
    if (!is_number(**protocol, (*protocol)->root(), kProtocol))
      fail("torch.legacy.protocol", fmt::format("the second pickle is not the number {}", kProtocol), 0);
    const bool swapped = is_big_endian(*next_pickle());
    const auto content = next_pickle(true);
    const auto keys = next_pickle();
    Storages storages(swapped);
    add_storages(storages, **content, **keys);
    source_->check();
    Model model;
    model.version = "legacy";
    use({**content, storages, *source_, options_, diagnostics_}, model);
    return model;
  }

 private:
  [[noreturn]] void fail(std::string_view rule, const std::string& sentence, std::uint64_t at,
                         ErrorKind kind = ErrorKind::corrupt) const {
    throw Error(kind, rule, sentence).in(source_->name()).at(at);
  }
  static bool is_number(const Pickle& pickle, Ref ref, std::int64_t number) {
    return pickle.kind(ref) == PickleKind::integer && pickle.integer(ref) == number;
  }

  // Reads the pickle at `at_`. Its length is not stated, so a part of the file is tried, twice as much each time.
  std::unique_ptr<Loaded> next_pickle(bool large = false) {
    const std::uint64_t left = source_->size() - at_;
    for (std::uint64_t part = large ? std::uint64_t{256} << 10 : 4096;; part *= 2) {
      const std::uint64_t length = std::min({part, left, options_.limits.metadata_bytes});
      io::Metadata bytes(*source_, at_, length);
      const auto end = Pickle::length_of(bytes.bytes());
      if (!end && length == part) continue;
      if (!end && length == options_.limits.metadata_bytes && length < left)
        throw Error(ErrorKind::limit, "torch.pickle.large",
                    fmt::format("a pickle of more than {} bytes", options_.limits.metadata_bytes))
            .in(source_->name())
            .at(at_);
      if (end && *end < length) bytes = io::Metadata(*source_, at_, *end);
      auto loaded = std::make_unique<Loaded>(std::move(bytes), at_);
      loaded->run(*source_, diagnostics_);
      at_ += (*loaded)->length();
      return loaded;
    }
  }

  // Reads {"protocol_version": 1001, "little_endian": True, "type_sizes": {...}}.
  bool is_big_endian(const Loaded& info) const {
    bool big = false;
    if (info->kind(info->root()) != PickleKind::dict)
      fail("torch.legacy.info", "the third pickle is not a dict about the machine", at_);
    info->each_pair(info->root(), [&](Ref key, Ref value) {
      if (info->kind(key) == PickleKind::text && info->text(key) == "little_endian")
        big = info->kind(value) == PickleKind::boolean && !info->boolean(value);
    });
    return big;
  }

  // Each storage is the number of elements, then the elements; their width is only in the ids of the pickle.
  void add_storages(Storages& storages, const Pickle& content, const Pickle& keys) {
    const NameViewMap<std::uint64_t> widths = widths_in(content);
    if (keys.kind(keys.root()) != PickleKind::list)
      fail("torch.legacy.keys", "the keys of the storages are not a list", at_);
    keys.each_item(keys.root(), [&](Ref item) {
      if (keys.kind(item) != PickleKind::text) fail("torch.legacy.keys", "the key of a storage is not text", at_);
      const std::string_view key = keys.text(item);
      const auto width = widths.find(key);
      if (width == widths.end())
        fail("torch.legacy.keys", fmt::format("the pickle does not mention the storage \"{}\"", quote(key)), at_);
      std::array<std::byte, 8> count;
      if (!fits(at_, count.size(), source_->size()))
        fail("torch.legacy.truncated", fmt::format("the file ends before the storage \"{}\"", quote(key)), at_);
      source_->read(at_, count);
      at_ += count.size();
      const auto elements =
          storages.swapped() ? load_be<std::uint64_t>(count.data()) : load_le<std::uint64_t>(count.data());
      const auto bytes = checked_mul(elements, width->second);
      if (!bytes || !fits(at_, *bytes, source_->size()))
        fail("torch.legacy.truncated",
             fmt::format("the storage \"{}\" is to have {} elements of {} bytes, {} bytes are left", quote(key),
                         elements, width->second, source_->size() - at_),
             at_ - count.size());
      if (storages.find(key) != nullptr)
        fail("torch.legacy.keys", fmt::format("the storage \"{}\" appears twice", quote(key)), at_);
      storages.add(key, Blob::range(source_, at_, *bytes));
      at_ += *bytes;
    });
    if (at_ < source_->size())
      diagnostics_.warning(Error(ErrorKind::corrupt, "torch.legacy.trailing",
                                 fmt::format("{} bytes after the last storage", source_->size() - at_))
                               .in(source_->name())
                               .at(at_));
  }

  // Returns the widths of all storage ids in the pickle, by key.
  NameViewMap<std::uint64_t> widths_in(const Pickle& content) const {
    NameViewMap<std::uint64_t> widths;
    for (Ref ref = 0; ref < content.nodes(); ++ref) {
      if (content.kind(ref) != PickleKind::persistent) continue;
      if (content.kind(content.persistent(ref)) == PickleKind::text)
        fail("torch.persistent.text",
             "a persistent id that is only text, as protocol 0 has it; save it with another protocol", content.at(ref),
             ErrorKind::unsupported);
      if (content.kind(content.persistent(ref)) != PickleKind::tuple) continue;
      const auto parts = content.tuple(content.persistent(ref));
      if (parts.size() < 3 || content.kind(parts[1]) != PickleKind::global ||
          content.kind(parts[2]) != PickleKind::text)
        continue;
      const ElementType* const type = find_storage(content.name_of(parts[1]));
      if (type == nullptr) continue;
      const auto [known, is_new] = widths.try_emplace(content.text(parts[2]), width_of(*type));
      if (!is_new && known->second != width_of(*type))
        fail("torch.legacy.keys",
             fmt::format("the storage \"{}\" has elements of {} and of {} bytes", quote(content.text(parts[2])),
                         known->second, width_of(*type)),
             content.at(ref));
    }
    return widths;
  }

  SourcePtr source_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  std::uint64_t at_ = 0;
};

std::array<char, 32> head_of(const Source& source) {
  std::array<char, 32> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  source.read(0, std::as_writable_bytes(std::span(head).first(length)));
  return head;
}

}  // namespace

bool is_pickle(const Source& source) {
  if (source.size() < 4) return false;
  const auto head = head_of(source);
  if (std::string_view(head.data(), head.size()).starts_with(kMagicLine)) return true;
  // PROTO, followed by one of the first opcodes of Python's picklers: FRAME, a collection, a global, a text, a number.
  return head[0] == '\x80' && head[1] >= 2 && head[1] <= 5 &&
         std::string_view("\x95}](cX\x8C)\x8A").find(head[2]) != std::string_view::npos;
}

bool is_legacy(const Source& source) {
  const auto head = head_of(source);
  const std::string_view text(head.data(), head.size());
  return is_pickle(source) && (text.find(kMagic) < 16 || text.starts_with(kMagicLine));
}

bool is_old_tar(const Source& source) {
  std::array<char, 512> head{};
  if (source.size() < head.size()) return false;
  source.read(0, std::as_writable_bytes(std::span(head)));
  const std::string_view text(head.data(), head.size());
  return text.substr(257, 5) == "ustar" && text.starts_with(std::string_view("sys_info\0", 9));
}

Model read_legacy(const SourcePtr& source, const ReadOptions& options, const Use& use) {
  return LegacyReader(source, options).run(use);
}

}  // namespace tare::torch
