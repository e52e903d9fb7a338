// Writes a directory: first the model's attachments and the files that are made from its config and vocabulary, the
// weights last.
#include <fmt/format.h>

#include <algorithm>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/stopping.hpp"
#include "base/text.hpp"
#include "formats/hf/hf.hpp"
#include "formats/private_tree.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "io/tree_sink.hpp"
#include "model/copy_blob.hpp"
#include "model/stored_vocabulary.hpp"
#include "resources/config_file.hpp"
#include "resources/model_files.hpp"
#include "resources/resources.hpp"

namespace tare::hf {
namespace {

// Older versions of transformers refuse weights that do not name the library that wrote them.
constexpr std::string_view kFormatKey = "format", kFormat = "pt";

// Returns config, vocabulary and all files; files that are made here follow the model's own.
Model completed(const Model& model) {
  Model whole;
  whole.attachments = model.attachments;
  whole.config = model.config;
  whole.vocabulary = model.vocabulary;
  resources::complete(whole);
  return whole;
}

std::vector<std::string> made_names(const Model& whole) {
  std::vector<std::string> names;
  for (const Attachment& attachment : whole.attachments)
    if (attachment.made) names.push_back(attachment.name);
  return names;
}

// Returns the name of the weights' files in the source directory, if it is not `stem`: the shards of a set may have
// another name than their index.
std::string other_stem(const Model& model, std::string_view stem) {
  if (model.format != "hf") return {};
  for (const Tensor& tensor : model.tensors)
    for (const Component& component : tensor.components) {
      if (component.blob.source() == nullptr) continue;
      const std::string_view path = component.blob.source()->name(), file = path.substr(path.rfind('/') + 1);
      const auto shard = safetensors::parse_shard_name(file);
      if (!file.ends_with(safetensors::kSuffix)) continue;
      const std::string_view before = shard ? shard->stem : file.substr(0, file.size() - safetensors::kSuffix.size());
      if (before != stem) return std::string(before);
    }
  return {};
}

// Returns the name of the weights: the model's own, or the one that PEFT looks for.
std::optional<std::string> stem_for(const Model& model) {
  if (auto stem = stem_in(model.metadata)) return stem;
  const bool has_parts = std::ranges::any_of(
      model.tensors, [](const Tensor& tensor) { return tensor.name.find(".lora_") != std::string::npos; });
  if (has_parts && model.attachment("adapter_config.json") != nullptr) return "adapter_model";
  return std::nullopt;
}

// The contents of the directory.
class Plan {
 public:
  explicit Plan(const Model& model) {
    const Model whole = completed(model);
    named_ = resources::named_by(whole.attachments);
    for (const Attachment& attachment : whole.attachments) add(attachment);
    List made;
    for (const std::string& name : made_names(whole)) made.emplace_back(name);
    private_.put("made", std::move(made));
    weights_.tensors = model.tensors;
    weights_.metadata = model.metadata;
    if (const auto stem = stem_for(model)) {
      stem_ = *stem;
      weights_.metadata.erase(kStemKey);  // the name of the file replaces it
    }
    if (weights_.metadata.find(kFormatKey) == nullptr) {
      weights_.metadata.set(kFormatKey, kFormat);
      private_.put("added", List{Value(kFormatKey)});
    }
    private_.put("attachments", std::move(others_));
    keep_what_files_lose(model, whole);
  }

  const Model& weights() const { return weights_; }
  const std::string& stem() const { return stem_; }
  const std::vector<Attachment>& files() const { return files_; }
  // The sum of all tensors and files, without headers.
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Attachment& file : files_) sum += file.blob.size();
    for (const Tensor& tensor : weights_.tensors) sum += tensor.bytes();
    return sum;
  }
  // Empty if the other files hold everything.
  std::string private_text() const { return private_.empty() ? std::string() : private_.text(); }

 private:
  void add(const Attachment& attachment) {
    std::string name = attachment.name;
    require_config(attachment);
    if (!is_free(name)) name = fmt::format("{}/{:06}", kPrivateFolder, ++renamed_);
    if (!is_resource(name) && !named_.cover(name)) others_.append(name, attachment.name);
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      folders_.insert(name.substr(0, slash));
    names_.insert(name);
    files_.push_back({name, attachment.blob});
  }

  // Throws if config.json is invalid, because the directory could not be opened again.
  static void require_config(const Attachment& attachment) {
    if (attachment.name != "config.json") return;
    try {
      const Bytes bytes = attachment.blob.bytes(resources::kMaxFileBytes);
      resources::parse_config(as_text(bytes));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      throw Error(ErrorKind::unsupported, "hf.config.json",
                  fmt::format("the attachment is not a valid file: {}", error.sentence()))
          .about("config.json")
          .blame(Subject::input)
          .remedy(Remedy::drop, "attachments");
    }
  }

  bool is_free(const std::string& name) const {
    if (!is_safe_path(name) || name == kPrivateFile || name.starts_with(kPrivateFolder) || name.starts_with('.') ||
        name.find("/.") != std::string::npos ||
        // The weights of a module are in its folder.
        (name.find('/') == std::string::npos &&
         (name.ends_with(safetensors::kSuffix) || name.ends_with(safetensors::kIndexSuffix) || is_weights(name) ||
          is_others_weights(name))))
      return false;
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      // A folder must not have the name of a file that readers look for, even if the model does not have that file.
      const std::string folder = name.substr(0, slash);
      if (names_.contains(folder) || is_resource(folder) || is_weights(folder) || folder == kPrivateFile) return false;
    }
    return !names_.contains(name) && !folders_.contains(name);
  }

  // The files are written for other programs. If reading them gives something else than the model has, tare.json keeps
  // the model's own values.
  void keep_what_files_lose(const Model& model, const Model& whole) {
    Model found;
    found.attachments = whole.attachments;
    Diagnostics quiet;
    resources::describe(found, quiet);
    // A field whose value config.json implies by lacking it is not lost.
    Config meant = found.config;
    const Map silent = resources::assume_fields(meant, resources::ConfigFile(whole));
    Map wanted = model.config.to_map();
    wanted.erase_if([&](const Map::Entry& entry) {
      const Value* const assumed = silent.find(entry.first);
      return assumed != nullptr && *assumed == entry.second;
    });
    if (const Map lost = differences(found.config, Config::from_map(wanted)); !lost.empty())
      private_.put("config", Value(lost));
    if (found.vocabulary.tokens.empty() && found.vocabulary != model.vocabulary)
      private_.put("vocabulary", stored_map(model.vocabulary));
    else
      private_.put("vocabulary_changes", differences(found.vocabulary, model.vocabulary));
    // These parts are valid only as long as the files are not edited.
    const auto keeps = [&](std::string_view key) { return private_.find(key) != nullptr; };
    if (keeps("made") || keeps("config") || keeps("vocabulary") || keeps("vocabulary_changes"))
      private_.put("digests", Value(digests_of(files_)));
  }

  Model weights_;
  std::string stem_{safetensors::kUsualStem};
  resources::NamedFiles named_;
  std::vector<Attachment> files_;
  PrivateTree private_{kPrivateRule};
  Map others_;
  NameSet names_, folders_;
  unsigned renamed_ = 0;
};

}  // namespace

std::vector<Change> remarks(const Model& model, const WriteOptions& /*options*/) {
  std::vector<Change> lines;
  const std::vector<std::string> made = made_names(completed(model));
  if (!made.empty()) lines.push_back({.kind = ChangeKind::made, .impact = Impact::changed, .items = made});
  const std::string stem = stem_for(model).value_or(std::string(safetensors::kUsualStem));
  if (const std::string before = other_stem(model, stem); !before.empty())
    lines.push_back({.kind = ChangeKind::renamed,
                     .impact = Impact::changed,
                     .part = "the weights",
                     .before = escape_name(before),
                     .after = stem});
  return lines;
}

std::uint64_t write(const Model& model, const std::string& path, const WriteOptions& options, bool overwrite) {
  const Plan plan(model);
  safetensors::check_writable(plan.weights());
  io::TreeSink tree(path, {.overwrite = overwrite, .durable = true, .old_files = old_files});
  tree.expect(plan.bytes());
  const auto put = [&](const Attachment& file) {
    const auto sink = tree.file(file.name);
    copy_blob(file.blob, *sink);
    sink->commit();
  };
  for (const Attachment& file : plan.files()) put(file);
  if (const std::string text = plan.private_text(); !text.empty())
    put({std::string(kPrivateFile), Blob::memory(to_bytes(text))});
  safetensors::write_set(
      plan.weights(), [&](const std::string& name) { return tree.file(name); }, options, plan.stem());
  const std::uint64_t bytes = tree.bytes();
  model.check_sources();
  check_last_stop();
  tree.commit();
  return bytes;
}

}  // namespace tare::hf
