// Files on their way into a target: carried, made, replaced by fields, refused.
#include "convert/fit_files.hpp"

#include <algorithm>

#include "resources/resources.hpp"

namespace tare {
namespace {

// What could not be read, and why, of the files that say what config and vocabulary are.
std::vector<std::string> unreadable(const std::vector<Attachment>& files) {
  class Lines final : public Diagnostics {
   public:
    void warning(const Error& about) override {
      if (about.rule() == "config.type") return;  // one value, not the file
      lines.push_back(fmt::format("{}: {}", about.item().empty() ? about.file() : about.item(), about.sentence()));
    }
    std::vector<std::string> lines;
  } collected;
  Model model;
  model.attachments = files;
  resources::describe(model, collected);
  return collected.lines;
}

bool has_vocabulary_file(const Model& model) {
  return std::any_of(model.attachments.begin(), model.attachments.end(),
                     [](const Attachment& file) { return resources::holds_vocabulary(file.name); });
}

std::string text_of(const Attachment& file) {
  const Bytes bytes = file.blob.bytes(resources::kMaxFileBytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What a file says that no field does, and stays behind with it. A file that cannot be read is told elsewhere.
template <typename KeysOf>
void name_lost_keys(const Model& model, std::string_view name, const KeysOf& keys_of, std::vector<std::string>& lines) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return;
  try {
    std::vector<std::string> keys = keys_of(text_of(*file));
    if (!keys.empty()) lines.push_back(fmt::format("{}: {} left out", name, listed(std::move(keys))));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
}

void name_lost_rules(const Model& model, std::vector<std::string>& lines) {
  std::vector<std::string_view> files;
  for (const Attachment& file : model.attachments)
    if (resources::holds_vocabulary(file.name)) files.push_back(file.name);
  if (!files.empty() && !model.vocabulary.empty())
    lines.push_back(fmt::format("{}: how a text is normalized and split left out", fmt::join(files, ", ")));
}

// A target whose fields hold what config.json and the tokenizer's files say needs no copy of those files, if they could
// be read.
void replace_by_fields(Model& model, const Format& target, const AdaptOptions& options, Homeless& refused,
                       std::vector<std::string>& lines) {
  std::vector<std::string> described, left_out, homeless;
  for (const Attachment& attachment : model.attachments) {
    const resources::Role role = resources::role_of(attachment.name);
    if (role == resources::Role::other || !target.holds.config || !target.holds.vocabulary)
      homeless.push_back(attachment.name);
    else if (role == resources::Role::described && (attachment.name != "config.json" || !model.config.empty()))
      described.push_back(attachment.name);
    else
      left_out.push_back(attachment.name);
  }
  if (!homeless.empty()) {
    const std::string_view plural = homeless.size() == 1 ? "" : "s";
    return refused.add(fmt::format("the attachment{} {}", plural, listed(std::move(homeless))), "attachments");
  }
  const bool unread_config =
      model.attachment("config.json") != nullptr && model.config.empty() && !asked_to_drop(options, "config");
  const bool unread_vocabulary =
      has_vocabulary_file(model) && model.vocabulary.empty() && !asked_to_drop(options, "vocabulary");
  for (const std::string& line : unreadable(model.attachments)) {
    if (unread_config || unread_vocabulary)
      throw Error(ErrorKind::lossy, "convert.resource",
                  fmt::format("{}; {} has no place for the file as it is, --drop attachments goes without it", line,
                              target.name));
    lines.push_back(line);
  }
  name_lost_keys(model, "config.json", resources::keys_beyond_config, lines);
  name_lost_keys(model, "tokenizer_config.json", resources::keys_beyond_vocabulary, lines);
  name_lost_rules(model, lines);
  model.attachments.clear();
  if (!described.empty())
    lines.push_back(fmt::format("{} kept as config and vocabulary, not as {}", fmt::join(described, ", "),
                                described.size() == 1 ? "a file" : "files"));
  if (!left_out.empty())
    lines.push_back(fmt::format("{} left out, {} has no place for it", fmt::join(left_out, ", "), target.name));
}

// Files for programs that look for nothing else, from what is known without them.
void make_files(Model& model, std::vector<std::string>& lines) {
  const std::size_t before = model.attachments.size();
  resources::complete(model);
  std::vector<std::string_view> made;
  for (std::size_t i = before; i < model.attachments.size(); ++i) made.push_back(model.attachments[i].name);
  if (!made.empty()) lines.push_back(fmt::format("{} made from config and vocabulary", fmt::join(made, ", ")));
}

}  // namespace

void fit_files(Model& model, const Format& target, const AdaptOptions& options, Homeless& refused,
               std::vector<std::string>& lines) {
  if (target.holds.wants_files && !asked_to_drop(options, "attachments")) make_files(model, lines);
  if (model.attachments.empty()) return;
  if (asked_to_drop(options, "attachments")) {
    lines.push_back(fmt::format("attachments dropped ({} entries)", model.attachments.size()));
    model.attachments.clear();
    return;
  }
  if (!target.holds.attachments) return replace_by_fields(model, target, options, refused, lines);
  // Carried as they are; that nothing can be read from them is worth a word all the same.
  if (!model.vocabulary.empty() || asked_to_drop(options, "vocabulary") || !has_vocabulary_file(model)) return;
  for (const std::string& line : unreadable(model.attachments))
    lines.push_back(line + "; the file is carried as it is");
}

}  // namespace tare
