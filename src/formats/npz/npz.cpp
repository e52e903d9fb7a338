// .npz: a zip archive of .npy arrays.
//
//   member NAME.npy       the tensor NAME: an array (npy.cpp), stored or deflated
//   member __tare__.json  what npz has no field for (private.hpp)
//   member __tare__/N     an attachment with a name that cannot be a member's
//   any other member      an attachment; so is an array that does not hold numbers (text, objects, dates, records),
//                         under its member's name, NAME.npy, and it is written back as that member
//
// wire/zip.cpp implements zip itself. Files are written in a canonical form: stored, sorted by name, dated 1980-01-01,
// every array's data on a 64-byte boundary of the file, so that it can be mapped (NumPy's headers have lengths that are
// multiples of 64; a padding record in the member's header does the rest). bf16 is written as '<V2' and fp8 as '|V1':
// any NumPy loads them, `.view(ml_dtypes.bfloat16)` makes them numbers, and the private member stores the type.
// Refused: everything that npy.cpp refuses, and archives without arrays.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/budget.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/fits.hpp"
#include "formats/npy/npy.hpp"
#include "formats/npz/private.hpp"
#include "formats/private_tree.hpp"
#include "formats/rows.hpp"
#include "formats/unknown.hpp"
#include "io/metadata.hpp"
#include "model/element_types.hpp"
#include "wire/zip.hpp"
#include "wire/zip_writer.hpp"

namespace tare::npz {
namespace {

constexpr std::string_view kSuffix = ".npy";

// Zip archives whose first member shows that they are something else: PyTorch's, Office's, Java's, EPUB's.
bool is_foreign(std::string_view name) {
  return name.ends_with(".pkl") || name.ends_with("/byteorder") || name.ends_with("/version") ||
         name.ends_with("/.format_version") || name.find("/.data/") != std::string_view::npos ||
         name == "[Content_Types].xml" || name.starts_with("META-INF/") || name == "mimetype";
}

bool recognize(const Source& source) {
  std::array<std::byte, wire::kZipLocalSize + 256> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  if (length < 4) return false;
  source.read(0, std::span(head).first(length));
  if (std::memcmp(head.data(), "PK\5\6", 4) == 0) return true;  // an empty archive: np.savez without arrays
  if (std::memcmp(head.data(), "PK\3\4", 4) != 0) return false;
  if (length < wire::kZipLocalSize) return true;
  const std::size_t name = std::to_integer<std::size_t>(head[26]) | std::to_integer<std::size_t>(head[27]) << 8;
  const std::size_t shown = std::min<std::size_t>(name, length - wire::kZipLocalSize);
  return !is_foreign({reinterpret_cast<const char*>(head.data()) + wire::kZipLocalSize, shown});
}

class Reader {
 public:
  Reader(const Input& input, const ReadOptions& options)
      : source_(input.source),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics),
        window_(*source_) {}

  Model run() {
    std::vector<wire::BadMember> bad;
    const auto members = wire::read_zip(*source_, options_.limits.metadata_bytes, diagnostics_, &bad);
    for (const auto& [name, error] : bad) add_broken(name, error);
    model_.tensors.reserve(members.size());
    const wire::ZipMember* own = nullptr;
    for (const wire::ZipMember& member : members) {
      if (member.name == kPrivateMember)
        own = &member;
      else
        guarded(member, [&] { add(member); });
    }
    if (model_.tensors.empty() && own == nullptr && !model_.attachments.empty() && !has_arrays_)
      // An archive that is known to be another program's gets that error, not the one for missing arrays.
      diagnostics_.error(Error(ErrorKind::unsupported,
                               is_foreign_archive(*source_) ? "open.unrecognized" : "npz.no_array", words_for(*source_))
                             .in(source_->name())
                             .at(0));
    if (own != nullptr) guarded(*own, [&] { read_own(*own); });
    source_->check();
    std::sort(typed_.begin(), typed_.end());
    for (const auto& [name, note] : notes_)
      if (!std::binary_search(typed_.begin(), typed_.end(), name)) diagnostics_.note(note);
    if (diagnostics_.thorough()) check_crcs(members);
    model_.version = version_ == 0 ? "" : fmt::format("{}.0", version_);
    return std::move(model_);
  }

 private:
  template <typename Work>
  void guarded(const wire::ZipMember& member, const Work& work) {
    try {
      work();
    } catch (Error& error) {
      add_broken(member.name, error.in(source_->name()).at(member.data).about(quote(member.name)));
    }
  }

  // A broken array does not hide the others. An attachment that cannot be read is an error of the archive.
  void add_broken(std::string_view member, const Error& error) {
    if (!member.ends_with(kSuffix) || error.kind() == ErrorKind::io) return diagnostics_.error(error);
    diagnostics_.tensor_error(error);
    has_arrays_ = true;
    BrokenTensor& broken = model_.broken.emplace_back(BrokenTensor{Tensor(), error});
    broken.tensor.name = member.substr(0, member.size() - kSuffix.size());
  }

  void add(const wire::ZipMember& member) {
    if (member.deflated() && member.size > options_.limits.component_bytes)
      throw Error(
          ErrorKind::limit, "npz.member.large",
          fmt::format("inflates to {} bytes, at most {} allowed", member.size, options_.limits.component_bytes));
    if (member.name.ends_with(kSuffix)) {
      has_arrays_ = true;
      try {
        return add_tensor(member);
      } catch (const npy::OtherArray& error) {
        diagnostics_.note(error.reworded(fmt::format("{}; it is carried unchanged as a file", error.sentence()))
                              .in(source_->name())
                              .at(member.data)
                              .about(quote(member.name)));
      }
      attach(member);
    } else if (!member.is_directory()) {
      attach(member);
    } else if (member.size != 0) {
      throw Error(ErrorKind::corrupt, "npz.member.folder",
                  fmt::format("a folder with {} bytes of content", member.size));
    }
  }

  void attach(const wire::ZipMember& member) {
    model_.attachments.push_back({member.name, wire::zip_blob(source_, member)});
    attached_.insert(member.name);
  }

  void add_tensor(const wire::ZipMember& member) {
    std::uint64_t length = 0;
    const npy::Header header = member.deflated() ? inflate_header(member, length) : stored_header(member, length);
    npy::check_length(header, length, member.size);
    std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
    version_ = std::max(version_, header.major);
    if (header.element.raw && options_.diagnostics != nullptr)
      notes_.emplace_back(name, npy::raw_note(header).in(source_->name()).at(member.data).about(quote(name)));
    model_.tensors.push_back(npy::to_tensor(std::move(name), header, wire::zip_blob(source_, member, length)));
  }

  npy::Header stored_header(const wire::ZipMember& member, std::uint64_t& length) {
    length =
        npy::header_length(window_.get(member.data, std::min<std::uint64_t>(npy::kPrefix, member.size)), member.size);
    return npy::parse_header(window_.get(member.data, length), options_.limits.rank);
  }

  npy::Header inflate_header(const wire::ZipMember& member, std::uint64_t& length) {
    const auto reader = wire::zip_blob(source_, member).open();
    Bytes bytes(static_cast<std::size_t>(std::min<std::uint64_t>(npy::kPrefix, member.size)));
    reader->read(bytes);
    length = npy::header_length(bytes, member.size);
    charge_bytes(4 * length);  // a header of a megabyte deflates to almost nothing, and is parsed byte by byte
    bytes.resize(length);
    if (length > npy::kPrefix) reader->read(std::span(bytes).subspan(npy::kPrefix));
    return npy::parse_header(bytes, options_.limits.rank);
  }

  // Deflated tensors are checked when they are decoded; attachments are never decoded, so they are checked here.
  void check_crcs(const std::vector<wire::ZipMember>& members) {
    wire::check_zip_crcs(*source_, members, diagnostics_, options_.work.threads);
    for (const wire::ZipMember& member : members)
      if (member.deflated() && attached_.contains(member.name))
        guarded(member, [&] { wire::zip_blob(source_, member).verify(); });
  }

  void read_own(const wire::ZipMember& member) {
    if (member.size > options_.limits.metadata_bytes)
      throw Error(
          ErrorKind::limit, "npz.private.large",
          fmt::format("expected at most {} bytes of metadata, found {}", options_.limits.metadata_bytes, member.size));
    if (member.deflated()) charge_bytes(member.size);
    const Bytes text = wire::zip_blob(source_, member).bytes(member.size, options_.work.threads);
    read_private(as_text(text), private_bounds(options_.limits), model_, typed_, diagnostics_);
  }

  SourcePtr source_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  io::Window window_;
  Model model_;
  unsigned version_ = 0;
  bool has_arrays_ = false;                           // arrays of any kind
  NameSet attached_;                                  // names of members
  std::vector<std::pair<std::string, Error>> notes_;  // raw bits by tensor, unless the private member states the type
  std::vector<std::string> typed_;
};

Model read(const Input& input, const ReadOptions& options) { return Reader(input, options).run(); }

// Throws before the first byte is written if a tensor's name cannot be a member's name.
void check_names(const Model& model) {
  NameViewSet names;
  for (const Tensor& tensor : model.tensors) {
    const std::string& name = tensor.name;
    const auto refuse = [&](std::string_view rule, std::string_view sentence) {
      throw Error(ErrorKind::unsupported, rule, sentence).about(quote(name));
    };
    if (name.empty()) refuse("npz.write.name", "a tensor without a name cannot be a member of an archive");
    if (name.size() > wire::kZipMaxName - kSuffix.size())
      refuse("npz.write.name", fmt::format("a name of {} bytes; a member's has at most {}", name.size(),
                                           wire::kZipMaxName - kSuffix.size()));
    if (name.find('\0') != std::string::npos) refuse("npz.write.name", "a name with a zero byte cannot be a member's");
    if (!names.insert(name).second) refuse("npz.write.duplicate", "the name appears twice");
  }
}

// Adds the attachments as members. Returns the pairs (member, attachment) of those that need another name.
std::vector<std::pair<std::string, std::string>> add_attachments(const Model& model,
                                                                 std::vector<wire::ZipEntry>& entries) {
  std::vector<const Attachment*> sorted;
  NameViewMap<int> uses;
  for (const Attachment& attachment : model.attachments) {
    sorted.push_back(&attachment);
    ++uses[attachment.name];
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  NameSet taken;
  for (const wire::ZipEntry& entry : entries) taken.insert(entry.name);
  const auto is_array = [&](const Attachment& attachment) {
    return attachment.name.ends_with(kSuffix) && is_safe_path(attachment.name) && !taken.contains(attachment.name) &&
           npy::holds_other_array(attachment.blob);
  };
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const Attachment* const attachment : sorted) {
    std::string member = attachment->name;
    if ((!is_safe_name(member) && !is_array(*attachment)) || uses[attachment->name] > 1) {
      member = fmt::format("{}/{:06}", kPrivatePrefix, renamed.size());
      renamed.emplace_back(member, attachment->name);
    }
    entries.push_back({std::move(member), {}, attachment->blob});
  }
  return renamed;
}

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  require_fit(model, kFormat);
  check_names(model);
  std::vector<wire::ZipEntry> entries;
  entries.reserve(model.tensors.size() + model.attachments.size() + 1);
  for (const Tensor& tensor : model.tensors) {
    npy::check_writable(tensor);
    entries.push_back({tensor.name + std::string(kSuffix), npy::header_for(tensor), tensor.components.front().blob});
  }
  const auto renamed = add_attachments(model, entries);
  if (const std::string text = write_private(model, renamed); !text.empty()) {
    entries.push_back({std::string(kPrivateMember), to_bytes(text), Blob::memory({})});
  }
  wire::write_zip(sink, std::move(entries), options.work.threads, options.work.progress);
}

constexpr std::string_view kSuffixes[] = {".npz"};
constexpr std::string_view kLayouts[] = {"dense"};

}  // namespace

constinit const Format kFormat = {
    .name = "npz",
    .title = "NumPy archive",
    .versions = "reads zip and zip64, stored and deflated, arrays 1.0 to 3.0; writes stored, aligned arrays",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kAllDTypes,
              .logical_types = kLogicalNames,
              .layouts = kLayouts,
              .metadata = Room::tree,
              .config = true,
              .vocabulary = true,
              .attachments = true,
              .tensor_attributes = true,
              .forward_only = true},
    .recognize = recognize,
    .read = read,
    .write = write,
};

}  // namespace tare::npz
