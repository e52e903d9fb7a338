// The zip layout of torch.save since PyTorch 1.6; see torch.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/torch/torch.hpp"
#include "wire/zip.hpp"

namespace tare::torch {
namespace {

constexpr std::string_view kPickle = "data.pkl", kData = "data/", kOrder = "byteorder", kVersion = "version";

// Returns whether the name is absolute or leads out of the archive.
bool leads_elsewhere(std::string_view name) {
  if (name.starts_with('/') || name.find('\\') != std::string_view::npos || name.find(':') != std::string_view::npos)
    return true;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

class ArchiveReader {
 public:
  ArchiveReader(SourcePtr source, const ReadOptions& options, bool lone_values)
      : lone_values_(lone_values),
        source_(std::move(source)),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics) {}

  Model run(const Use& use) {
    members_ = wire::read_zip(*source_, options_.limits.metadata_bytes, diagnostics_);
    find_pickle();
    check_names();
    const bool swapped = is_big_endian();
    Loaded pickle(load(*pickle_), pickle_->deflated() ? 0 : pickle_->data);
    // The functions of a TorchScript program are text in the archive, and its data has types that only they define.
    if (const wire::ZipMember* const code = find("constants.pkl"))
      throw error(ErrorKind::unsupported, "torch.script",
                  "a TorchScript program (torch.jit.save), not tensors; save its state_dict() instead", *code);
    Storages storages(swapped);
    add_storages(storages);
    pickle.run(*source_, diagnostics_);
    source_->check();
    if (pickle->length() < pickle_->size)
      diagnostics_.warning(error(ErrorKind::corrupt, "torch.pickle.trailing",
                                 fmt::format("{} bytes after the end of the pickle", pickle_->size - pickle->length()),
                                 *pickle_));
    Model model;
    use({*pickle, storages, *source_, options_, diagnostics_, lone_values_}, model);
    if (const std::size_t unused = storages.unused(); unused > 0)
      diagnostics_.note(Error(ErrorKind::unsupported, "torch.storage.unused",
                              fmt::format("{} to no tensor", unused == 1 ? "1 storage belongs"
                                                                         : fmt::format("{} storages belong", unused)))
                            .in(source_->name()));
    const wire::ZipMember* const version = find(kVersion);
    model.version = version == nullptr ? "zip" : fmt::format("zip {}", word(*version));
    if (diagnostics_.thorough()) wire::check_zip_crcs(*source_, members_, diagnostics_, options_.work.threads);
    return model;
  }

 private:
  Error error(ErrorKind kind, std::string_view rule, const std::string& sentence, const wire::ZipMember& member) const {
    return Error(kind, rule, sentence).in(source_->name()).at(member.data).about(quote(member.name));
  }

  // PyTorch uses the folder of the first member. Two pickles would be two models, and readers could choose different
  // ones.
  void find_pickle() {
    for (const wire::ZipMember& member : members_) {
      const std::size_t slash = member.name.find('/');
      if (slash == std::string::npos || member.name.substr(slash + 1) != kPickle) continue;
      if (pickle_ != nullptr)
        throw error(ErrorKind::corrupt, "torch.archive.pickle",
                    fmt::format("a second {}, the first is {}", kPickle, quote(pickle_->name)), member);
      pickle_ = &member;
    }
    if (pickle_ == nullptr)
      throw Error(ErrorKind::corrupt, "torch.archive.pickle",
                  fmt::format("none of the {} members of the archive is a {} in a folder", members_.size(), kPickle))
          .in(source_->name())
          .at(0);
    prefix_ = pickle_->name.substr(0, pickle_->name.size() - kPickle.size());
  }

  void check_names() {
    for (const wire::ZipMember& member : members_) {
      if (leads_elsewhere(member.name))
        diagnostics_.error(
            error(ErrorKind::corrupt, "torch.archive.name", "a member whose name leads out of the archive", member));
      else if (!member.name.starts_with(prefix_))
        diagnostics_.warning(error(ErrorKind::corrupt, "torch.archive.stray",
                                   fmt::format("a member outside of the folder {}", quote(prefix_)), member));
    }
  }

  const wire::ZipMember* find(std::string_view name) const {
    const auto found = std::ranges::find(members_, prefix_ + std::string(name), &wire::ZipMember::name);
    return found == members_.end() ? nullptr : &*found;
  }

  // Returns the content of a member that holds one word.
  std::string word(const wire::ZipMember& member) const {
    constexpr std::uint64_t kLongest = 16;
    if (member.size > kLongest) return "?";
    const Bytes bytes = wire::zip_blob(source_, member).bytes(kLongest, 1);
    std::string text(as_text(bytes));
    while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
    return quote(text);
  }

  bool is_big_endian() const {
    const wire::ZipMember* const order = find(kOrder);
    if (order == nullptr) return false;  // older files do not state it; the machines were little-endian
    const std::string said = word(*order);
    if (said != "little" && said != "big")
      throw error(ErrorKind::corrupt, "torch.archive.byteorder",
                  fmt::format("expected the byte order little or big, found \"{}\"", said), *order);
    return said == "big";
  }

  io::Metadata load(const wire::ZipMember& member) const {
    const std::uint64_t limit = options_.limits.metadata_bytes;
    if (member.size > limit)
      throw error(ErrorKind::limit, "torch.pickle.large",
                  fmt::format("expected a pickle of at most {} bytes, found {}", limit, member.size), member);
    if (!member.deflated()) {
      // Names and shapes are in it. `verify` compares the CRC-32 of all members itself, and goes on if one is wrong.
      if (!diagnostics_.thorough()) wire::zip_blob(source_, member).verify();
      return {*source_, member.data, member.size};
    }
    charge_bytes(member.size);
    const SourcePtr inflated = memory_source(wire::zip_blob(source_, member).bytes(limit, 1));
    return {*inflated, 0, inflated->size()};
  }

  void add_storages(Storages& storages) const {
    const std::string folder = prefix_ + std::string(kData);
    std::uint64_t inflated = 0;
    storages.reserve(members_.size());
    for (const wire::ZipMember& member : members_) {
      if (!member.name.starts_with(folder) || member.is_directory()) continue;
      if (member.deflated()) {
        inflated = checked_add(inflated, member.size).value_or(UINT64_MAX);
        if (inflated > options_.limits.decoded_from(source_->size()))
          throw error(ErrorKind::limit, "torch.archive.inflated",
                      fmt::format("the storages so far inflate to {} bytes, those of a file of {} bytes", inflated,
                                  source_->size()),
                      member)
              .remedy(Remedy::allow_expansion);
      }
      storages.add(std::string_view(member.name).substr(folder.size()), wire::zip_blob(source_, member));
    }
  }

  bool lone_values_;
  SourcePtr source_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  std::vector<wire::ZipMember> members_;
  const wire::ZipMember* pickle_ = nullptr;
  std::string prefix_;
};

}  // namespace

bool is_archive(const Source& source) {
  std::array<char, wire::kZipLocalSize + 256> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  if (length < wire::kZipLocalSize) return false;
  source.read(0, std::as_writable_bytes(std::span(head).first(length)));
  if (std::memcmp(head.data(), "PK\3\4", 4) != 0) return false;
  const std::size_t size = static_cast<unsigned char>(head[26]) | std::size_t{static_cast<unsigned char>(head[27])}
                                                                      << 8;
  const std::string_view name(head.data() + wire::kZipLocalSize, std::min(size, length - wire::kZipLocalSize));
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view inner = name.substr(slash + 1);
  constexpr std::string_view kInner[] = {kPickle,        kOrder, kVersion, ".format_version", ".storage_alignment",
                                         "constants.pkl"};
  return std::ranges::find(kInner, inner) != std::end(kInner) || inner.starts_with(".data/") ||
         (inner.starts_with(kData) && inner.size() > kData.size() && inner.find('.') == std::string_view::npos);
}

Model read_archive(const SourcePtr& source, const ReadOptions& options, bool lone_values, const Use& use) {
  return ArchiveReader(source, options, lone_values).run(use);
}

}  // namespace tare::torch
