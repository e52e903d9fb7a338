// The table of formats. A new container is one file, one declaration in rows.hpp and one entry here.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "formats/rows.hpp"

namespace tare {

std::span<const Format> formats() {
  // In order of detection: the more certain a magic, the earlier. Copied on first use, so that the order in which
  // translation units are initialised does not matter.
  static const std::array table = {kZt, kMcf, kTllm, kAlt, kAlt1, kNpz, kNpy, kSafetensors, kHf};
  return table;
}

const Format* find_format(std::string_view name) {
  for (const Format& format : formats())
    if (format.name == name) return &format;
  return nullptr;
}

const Format* format_of_suffix(std::string_view path) {
  for (const Format& format : formats())
    for (const std::string_view suffix : format.suffixes)
      if (path.size() > suffix.size() && path.ends_with(suffix)) return &format;
  return nullptr;
}

namespace {

// Says what bytes are that are no model: the wrong thing downloaded is the most common bad file there is.
std::string look_at(const Source& source) {
  if (source.size() == 0) return "the file is empty";
  std::array<char, 512> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  source.read(0, std::as_writable_bytes(std::span(head).first(length)));
  const std::string_view text(head.data(), length);

  std::string lower(text.substr(0, 64));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  lower.erase(0, lower.find_first_not_of(" \t\r\n"));

  if (text.starts_with("version https://git-lfs.github.com/spec/"))
    return "a git-lfs pointer, not the file it points to; fetch it with `git lfs pull`";
  if (lower.starts_with("<!doctype html") || lower.starts_with("<html"))
    return "an HTML page, probably an error page saved in place of the model; download it again";
  if (lower.starts_with("<?xml")) return "an XML document, probably a server's error saved in place of the model";
  if (text.starts_with("\x1f\x8b")) return "gzip data; unpack it first";
  if (text.starts_with("\x28\xb5\x2f\xfd")) return "a bare zstd stream; unpack it first";
  if (text.starts_with("\x7f"
                       "ELF"))
    return "a program, not a model";
  if (text.find_first_not_of('\0') == std::string_view::npos) return "zeros only: a download that was never filled in";
  return fmt::format(
      "not a format Tare knows (first bytes {:02x})",
      fmt::join(reinterpret_cast<const unsigned char*>(text.data()),
                reinterpret_cast<const unsigned char*>(text.data()) + std::min<std::size_t>(8, length), " "));
}

const Format& detect_directory(const std::string& path) {
  for (const Format& format : formats())
    if (format.recognize_tree != nullptr && format.recognize_tree(path)) return format;
  throw Error(ErrorKind::unsupported, "open.directory",
              "a directory without a model: it has no config.json, no tokenizer and no weights (*.safetensors)")
      .in(path);
}

}  // namespace

const Format& detect(const Source& source) {
  for (const Format& format : formats())
    if (format.recognize(source)) return format;
  throw Error(ErrorKind::unsupported, "open.unrecognized", look_at(source)).in(source.name()).at(0);
}

Model open(const SourcePtr& source, const ReadOptions& options) {
  const Format& format = detect(*source);
  Model model;
  try {
    model = format.read({source->name(), source}, options);
  } catch (const Error&) {
    source->check();  // lost bytes of a mapped file read as zeros: say that, not what the zeros look like
    throw;
  }
  model.format = format.name;
  if (model.file_bytes == 0) model.file_bytes = source->size();  // a set of files has counted its own
  return model;
}

Model open(const std::string& path, const ReadOptions& options) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return open(open_file(path, options.access), options);
  const Format& format = detect_directory(path);
  Model model = format.read({path, nullptr}, options);
  model.format = format.name;
  return model;
}

}  // namespace tare
