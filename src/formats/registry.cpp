// The table of formats. A new container needs its folder, one line in rows.hpp and one line here.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <new>
#include <vector>

#include "base/forever.hpp"
#include "base/printable.hpp"
#include "base/process_mutex.hpp"
#include "base/stopping.hpp"
#include "codecs/packs/join.hpp"
#include "formats/llamafile.hpp"
#include "formats/ollama.hpp"
#include "formats/open_as.hpp"
#include "formats/registry_limits.hpp"
#include "formats/rows.hpp"
#include "formats/unknown.hpp"
#include "io/descriptor.hpp"
#include "io/input_files.hpp"
#include "io/places.hpp"
#include "io/remote/url.hpp"
#include "io/tree_sink.hpp"
#include "resources/packed_config.hpp"
#include "tare/formats.hpp"

namespace tare {

namespace {

std::vector<Format>& added_formats() {
  static Forever<std::vector<Format>> rows;
  return *rows;
}

const BeforeFork kFormatsBeforeFork([] { static_cast<void>(formats()); });

}  // namespace

const TowerConventions* tower_conventions(const Format& format) {
  static constexpr const TowerConventions* kAll[] = {&gguf::kTowers};
  const auto* const found = std::ranges::find(kAll, format.name, [](const auto* one) { return one->format; });
  return found == std::end(kAll) ? nullptr : *found;
}

const TowerConventions* tower_conventions_of(const Model& model) {
  for (const Format& format : formats())
    if (format.follows != nullptr && format.follows(model))
      if (const TowerConventions* const found = tower_conventions(format)) return found;
  return nullptr;
}

void add_row(Format row) { added_formats().push_back(std::move(row)); }

std::span<const Format> formats() {
  // In order of detection: formats with a more certain magic come first. The rows are copied on first use, so that the
  // order in which translation units are initialised does not matter.
  static Forever<std::vector<Format>> table([] {
    std::vector<Format> rows = {
        table_row<zt::kFormat>(),           //
        table_row<zt2::kFormat>(),          //
        table_row<mcf::kFormat>(),          //
        table_row<gguf::kFormat>(),         //
        table_row<tllm::kFormat>(),         //
        table_row<alt::kFormat>(),          //
        table_row<alt::kFormat1>(),         //
        table_row<npz::kFormat>(),          //
        table_row<npy::kFormat>(),          //
        table_row<safetensors::kFormat>(),  //
        table_row<hf::kFormat>(),           //
        table_row<torch::kFormat>(),        //
        table_row<onnx::kFormat>(),         //
        table_row<ggmlbin::kFormat>(),      //
    };
    for (const Format& added : added_formats()) rows.push_back(added);
    return rows;
  }());
  return *table;
}

std::vector<FormatInfo> format_list() {
  std::vector<FormatInfo> list;
  for (const Format& format : formats()) {
    const Capabilities& holds = format.holds;
    list.push_back({.name = format.name,
                    .title = format.title,
                    .versions = format.versions,
                    .suffixes = format.suffixes,
                    .reads = is_readable(format),
                    .writes = is_writable(format),
                    .metadata = holds.metadata != Room::none,
                    .config = holds.config,
                    .vocabulary = holds.vocabulary,
                    .attachments = holds.attachments,
                    .shards = holds.shards,
                    .to_a_pipe = holds.forward_only});
  }
  return list;
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
  // An existing directory needs no slash after its name.
  std::error_code none;
  if (!path.ends_with('/') && !io::is_remote(path) && std::filesystem::is_directory(path, none))
    return format_of_suffix(std::string(path) + "/");
  return nullptr;
}

namespace {

const Format& detect_directory(const std::string& path) {
  for (const Format& format : formats())
    if (format.recognize_tree != nullptr && format.recognize_tree(path)) return format;
  throw Error(ErrorKind::unsupported, "open.directory", words_for_directory(path)).in(path);
}

}  // namespace

namespace {

// The format whose bytes these are; null if there is none.
const Format* recognized(const Source& source) {
  for (const Format& format : formats())
    if (format.recognize(source)) return &format;
  return nullptr;
}

}  // namespace

const Format& detect(const Source& source) {
  if (const Format* const found = recognized(source)) return *found;
  // A file with the suffix of a format, and not of another well-known kind, is probably a damaged file of that format;
  // its reader reports the damage best.
  const Format* const named = format_of_suffix(source.name());
  if (named != nullptr && certain_words(source).empty()) return *named;
  throw Error(ErrorKind::unsupported, "open.unrecognized", words_for(source)).in(source.name()).at(0);
}

void refuse_listed(const std::string& path, std::string_view rule, std::string_view doing) {
  ollama::refuse_stored(path, doing);
  const SeparateSpending spending(allowance_of(Limits()));
  for (const Format& format : formats()) {
    const std::string root = format.listed_in == nullptr ? std::string() : format.listed_in(path);
    if (root.empty()) continue;
    throw Error(
        ErrorKind::unsupported, rule,
        fmt::format("is a part of the model {}, which has its size and digest, so it is not {}: the model would be "
                    "damaged; convert the model into one file first",
                    quote(root), doing))
        .in(path)
        .blame(Subject::output);
  }
}

namespace {

// Passes every finding on, except errors of single tensors: those are listed in the model, up to a limit.
class KeepBroken final : public Diagnostics {
 public:
  explicit KeepBroken(Diagnostics* next) : next_(next != nullptr ? *next : throwing_) {}
  void error(const Error& error) override { next_.error(error); }
  void tensor_error(const Error& about) override {
    if (++broken_ > kMostBroken)
      throw Error(ErrorKind::limit, "open.broken",
                  fmt::format("more than {} tensors are broken, the last one: {} ({})", kMostBroken, about.sentence(),
                              about.rule()))
          .in(about.file());
  }
  void warning(const Error& about) override { next_.warning(about); }
  void note(const Error& about) override { next_.note(about); }
  void ignored_value(const Error& about) override { next_.ignored_value(about); }
  void left_behind(const Error& about) override { next_.left_behind(about); }
  bool thorough() const override { return next_.thorough(); }

 private:
  static constexpr std::size_t kMostBroken = 1000;

  Diagnostics throwing_;
  Diagnostics& next_;
  std::size_t broken_ = 0;
};

// Turns packed weights of other programs into tensors of their true shapes, with the arrays of the file as components.
// A file next to the weights states how they were packed, so it is read even if only the weights were named.
void join_packed(Model& model, const Input& input, const ReadOptions& options) {
  if (!codec::packs::may_be_packed(model)) return;
  Diagnostics quiet;
  codec::packs::join_packs(model, resources::stated_packing(model), input.path,
                           options.diagnostics != nullptr ? *options.diagnostics : quiet);
}

// Charges the budget for what the model holds in memory and no parser has charged. The price of a tensor includes a
// shape of the usual rank.
constexpr std::size_t kUsualRank = 4;
// In addition to that of a token: it takes a line of 130 bytes in tokenizer.json, which is parsed again.
constexpr std::uint64_t kSpecialTokenPrice = 2;
void charge_contents(const Model& model) {
  charge_values(kAttachmentPrice * model.attachments.size());
  charge_values(kTensorPrice * (model.tensors.size() + model.broken.size()));
  for (const Tensor& tensor : model.tensors)
    if (tensor.shape.rank() > kUsualRank) charge_values(tensor.shape.rank() / 2);
  charge_values(model.vocabulary.tokens.size() + model.vocabulary.merges.size());
  const auto is_special = [](const Token& token) {
    return token.type != TokenType::normal && token.type != TokenType::unused && token.type != TokenType::byte;
  };
  const auto special = std::ranges::count_if(model.vocabulary.tokens, is_special);
  charge_values(kSpecialTokenPrice * static_cast<std::uint64_t>(special));
}

// Returns whether the reader has opened this file itself, as one of several files.
bool is_source_of(const Model& model, const Source& source) {
  struct stat wanted {
  }, found{};
  if (model.sources.empty() || source.descriptor() < 0 || ::fstat(source.descriptor(), &wanted) != 0) return false;
  return std::ranges::any_of(model.sources, [&](const SourcePtr& each) {
    return each->descriptor() >= 0 && ::fstat(each->descriptor(), &found) == 0 && found.st_dev == wanted.st_dev &&
           found.st_ino == wanted.st_ino;
  });
}

// Converts every exception into an Error: readers throw Error, but an exception of another library must not end a run
// over many files.
Model read(const Format& format, const Input& input, ReadOptions options, PackedForm form) {
  const Spending spending(allowance_of(options.limits));
  if (input.source != nullptr) grant_source(*input.source);
  KeepBroken keep(options.diagnostics);
  if (options.keep_broken) options.diagnostics = &keep;
  try {
    Model model = format.read(input, options);
    model.format = format.name;
    if (input.source != nullptr && !is_source_of(model, *input.source)) model.sources.push_back(input.source);
    charge_contents(model);
    // The reader of a set of files has set `file_bytes` itself.
    if (model.file_bytes == 0 && input.source != nullptr) model.file_bytes = input.source->size();
    if (!options.listing) check_expansion(model, options.limits, input.path);
    if (form == PackedForm::stored)
      codec::packs::separate(model);  // a container that names layouts may hold joined tensors
    else
      join_packed(model, input, options);
    return model;
  } catch (Error& error) {
    if (input.source != nullptr)
      // Lost bytes of a mapped file read as zeros: report the loss, not what the zeros look like
      input.source->check();
    error.in(input.path);
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::corrupt, "open.reader", fmt::format("the reader gave up: {}", error.what())).in(input.path);
  }
}

}  // namespace

Model open_as(PackedForm form, const SourcePtr& source, const ReadOptions& options) {
  const StopScope stop(options.work);
  if (source == nullptr) throw Error(ErrorKind::usage, "open.source", "there is no source");
  const Format* const found = recognized(*source);
  if (found == nullptr) {
    const Spending spending(allowance_of(options.limits));
    grant_source(*source);
    if (const auto inside = look_inside(source, options)) {
      Model model = read(detect(*inside->source), {source->name(), inside->source}, options, form);
      bring_outside(model, *inside, source);
      return model;
    }
  }
  return read(found != nullptr ? *found : detect(*source), {source->name(), source}, options, form);
}

namespace {

// `detect_directory`, which looks at files that need not belong to the model.
const Format& look_into(const std::string& directory) {
  const io::OnlyLooking looking;
  return detect_directory(directory);
}

}  // namespace

Model open_as(PackedForm form, const std::string& path, const ReadOptions& options) {
  const StopScope stop(options.work);
  if (ollama::is_name(path)) return ollama::open_named(form, path, options);
  io::check_path(path);
  if (!io::is_folder(path)) return open_as(form, open_file(path, options.access), options);
  try {
    return read(look_into(path), {path, nullptr}, options, form);
  } catch (const Error& error) {
    constexpr std::string_view kMoment = "at this moment; try again";
    const auto says = [&](std::string_view text) { return error.sentence().find(text) != std::string_view::npos; };
    if (says(kMoment) || !io::is_being_replaced(path)) throw;
    if (const std::vector<std::string> left = io::find_leftovers(path); !left.empty()) {
      if (says(left.front())) throw;
      throw error.reworded(fmt::format("{}; a conversion into the directory was interrupted, a whole model is in {}",
                                       error.sentence(), left.front()));
    }
    throw error.reworded(
        fmt::format("{}; another program is replacing the files of this directory {}", error.sentence(), kMoment));
  }
}

Model open(const SourcePtr& source, const ReadOptions& options) { return open_as(PackedForm::joined, source, options); }

Model open(const std::string& path, const ReadOptions& options) { return open_as(PackedForm::joined, path, options); }

}  // namespace tare
