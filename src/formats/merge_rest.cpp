#include "formats/merge_rest.hpp"

#include <fmt/format.h>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "codecs/packs/join.hpp"
#include "formats/form.hpp"
#include "resources/packed_config.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

using codec::packs::expect_joined_as;

// A model without tensors that states the packing of another one. Files next to `file` count if that has none of its
// own.
Model statement_of(const Model& rest, const SourcePtr& file) {
  Model statement;
  statement.metadata = rest.metadata;
  statement.attachments = rest.attachments;
  if (file != nullptr) statement.sources = {file};
  return statement;
}

Model joined(std::vector<Tensor> arrays, Model statement) {
  statement.tensors = std::move(arrays);
  Diagnostics silent;
  codec::packs::join_packs(statement, resources::stated_packing(statement), "", silent);
  return statement;
}

bool states_same(const Model& a, const Model& b) {
  const Value *const one = a.metadata.find(resources::kPackingKey), *const other =
                                                                        b.metadata.find(resources::kPackingKey);
  return a.attachments.size() == b.attachments.size() &&
         (one == nullptr || other == nullptr ? one == other : *one == *other);
}

// One statement holds for all tensors of a file: it must not change what either model's arrays mean.
void expect_packs_kept(const Model& old, const Model& extra, const Model& all, const SourcePtr& file) {
  if (!codec::packs::may_be_packed(extra) && states_same(old, all)) return;
  std::vector<Tensor> tensors = old.tensors;
  tensors.insert(tensors.end(), extra.tensors.begin(), extra.tensors.end());
  const Model grown = joined(std::move(tensors), statement_of(all, file));
  expect_joined_as(joined(old.tensors, statement_of(old, file)), grown);
  expect_joined_as(joined(extra.tensors, statement_of(extra, nullptr)), grown);
}

}  // namespace

Model merged_rest(const Model& old, const Model& extra, const SourcePtr& file, std::string_view rule) {
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
  expect_packs_kept(old, extra, all, file);
  return all;
}

}  // namespace tare
