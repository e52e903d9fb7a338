// A llamafile is a program, in the form of Windows and of Unix at once, and a zip archive: the archive's directory is at
// the end of the file. Among its members are the weights, stored and aligned, so that the program can map them, and ".args",
// a line for each argument. Everything else in it belongs to the program.
#include "formats/llamafile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/format.hpp"
#include "wire/zip.hpp"

namespace tare {
namespace {

constexpr std::uint64_t kMostArguments = std::uint64_t{64} << 10;

// Shows a range of another source.
class RangeSource final : public Source {
 public:
  RangeSource(SourcePtr whole, std::uint64_t offset, std::uint64_t size)
      : Source(whole->name(), size), whole_(std::move(whole)), offset_(offset) {}
  void check() const override { whole_->check(); }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override { whole_->read(offset_ + offset, out); }
  const std::byte* do_view() const override {
    const auto shown = whole_->view(offset_, size());
    return shown ? shown->data() : nullptr;
  }

  SourcePtr whole_;
  std::uint64_t offset_;
};

// Whether the file begins as programs of Windows or Unix do, and ends as zip archives do.
bool may_be_program(const Source& source) {
  std::array<std::byte, 4> head{}, end{};
  if (source.size() < 64 + wire::kZipEndSize) return false;
  source.read(0, head);
  const std::string_view first = as_text(head);
  if (!first.starts_with("MZ") && first !=
                                      "\x7f"
                                      "ELF")
    return false;
  source.read(source.size() - wire::kZipEndSize, end);
  return as_text(end) == "PK\5\6";
}

std::string arguments_of(const SourcePtr& program, const std::vector<wire::ZipMember>& members) {
  const auto found = std::ranges::find(members, ".args", &wire::ZipMember::name);
  if (found == members.end() || found->size > kMostArguments) return {};
  charge_bytes(found->size);
  return std::string(as_text(wire::zip_blob(program, *found).bytes(kMostArguments, 1)));
}

// The argument after -m, or the long form of that; empty if there is none.
std::string_view named_by(std::string_view arguments) {
  bool next = false;
  while (!arguments.empty()) {
    const std::size_t end = std::min(arguments.find('\n'), arguments.size());
    const std::string_view line = arguments.substr(0, end);
    if (next) return line.substr(line.rfind('/') + 1);  // npos + 1 is 0
    next = line == "-m" || line.ends_with("-model");
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
  }
  return {};
}

bool begins_as_named(const Source& source, std::string_view name) {
  const Format* const format = format_of_suffix(name);
  return format != nullptr && format->recognize(source);
}

}  // namespace

std::optional<Inside> look_inside(const SourcePtr& program, const ReadOptions& options) {
  if (!may_be_program(*program)) return std::nullopt;
  Diagnostics strict;
  std::vector<wire::BadMember> bad;
  std::vector<wire::ZipMember> members, models;
  try {
    members = wire::read_zip(*program, options.limits.metadata_bytes, strict, &bad);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    return std::nullopt;  // bytes that only look like an archive's end
  }
  constexpr std::string_view kSuffix = ".gguf";
  for (const wire::ZipMember& member : members)
    if (member.name.ends_with(kSuffix)) models.push_back(member);
  if (models.empty()) return std::nullopt;
  Inside inside;
  inside.arguments = arguments_of(program, members);
  const std::string_view named = named_by(inside.arguments);
  const auto chosen = models.size() == 1 ? models.begin() : std::ranges::find(models, named, &wire::ZipMember::name);
  if (chosen == models.end())
    throw Error(
        ErrorKind::unsupported, "llamafile.several",
        fmt::format("a program with {} models inside, {} and {} among them, and its arguments name none of them",
                    models.size(), quote(models[0].name), quote(models[1].name)))
        .in(program->name());
  if (chosen->deflated())
    throw Error(ErrorKind::unsupported, "llamafile.compressed",
                fmt::format("the model {} is compressed; unpack it with unzip", quote(chosen->name)))
        .in(program->name())
        .at(chosen->data);
  inside.source = std::make_shared<const RangeSource>(program, chosen->data, chosen->size);
  inside.offset = chosen->data;
  inside.member = chosen->name;
  if (!begins_as_named(*inside.source, inside.member))
    throw Error(ErrorKind::corrupt, "llamafile.model",
                fmt::format("the member {} does not begin as its name says", quote(chosen->name)))
        .in(program->name())
        .at(chosen->data);
  if (options.diagnostics != nullptr && options.diagnostics->thorough())
    wire::check_zip_crcs(*program, {*chosen}, *options.diagnostics, options.work.threads);
  return inside;
}

void bring_outside(Model& model, const Inside& inside, const SourcePtr& program) {
  const auto moved = [&](Blob& blob) {
    if (blob.is_plain() && blob.source() == inside.source)
      blob = Blob::range(program, inside.offset + blob.offset(), blob.size(), blob.digest());
  };
  for (Tensor& tensor : model.tensors)
    for (Component& component : tensor.components) moved(component.blob);
  for (Attachment& attachment : model.attachments) moved(attachment.blob);
  model.sources = {program};
  model.file_bytes = program->size();
  model.metadata.set("llamafile.member", inside.member);
  if (!inside.arguments.empty()) model.metadata.set("llamafile.args", inside.arguments);
}

}  // namespace tare
