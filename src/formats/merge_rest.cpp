#include "formats/merge_rest.hpp"

#include <fmt/format.h>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "formats/form.hpp"
#include "tare/error.hpp"

namespace tare {

Model merged_rest(const Model& old, const Model& extra, std::string_view rule) {
  NameViewSet names;
  for (const Tensor& tensor : old.tensors) names.insert(tensor.name);
  for (const Tensor& tensor : extra.tensors)
    if (names.contains(tensor.name))
      throw Error(ErrorKind::usage, rule, "the file has a tensor of this name already")
          .about("tensor " + quote(tensor.name))
          .blame(Subject::output);
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorKind::usage, rule, fmt::format("the file has another {} already", what)).blame(Subject::output);
  };
  if (!old.config.empty() && !extra.config.empty() && !(old.config == extra.config)) refuse("config");
  if (!old.vocabulary.empty() && !extra.vocabulary.empty() && !(old.vocabulary == extra.vocabulary))
    refuse("vocabulary");
  Model all;
  all.metadata = old.metadata;
  for (const auto& [key, value] : extra.metadata) {
    // Appending cannot change the config and the files that state the same.
    if (const Value* const before = old.metadata.find(key); before == nullptr || *before != value)
      require_plain_key(old, key);
    all.metadata.set(key, value);
  }
  all.config = old.config.empty() ? extra.config : old.config;
  all.vocabulary = old.vocabulary.empty() ? extra.vocabulary : old.vocabulary;
  all.attachments = old.attachments;
  NameViewSet taken;
  for (const Attachment& attachment : old.attachments) taken.insert(attachment.name);
  for (const Attachment& attachment : extra.attachments) {
    if (taken.contains(attachment.name))
      throw Error(ErrorKind::usage, rule, "the file has an attachment of this name already")
          .about("attachment " + quote(attachment.name))
          .blame(Subject::output);
    all.attachments.push_back(attachment);
  }
  return all;
}

}  // namespace tare
