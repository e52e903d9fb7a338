// Updates the statements of metadata and files about the tensors, once the tensors are final.
#include <fmt/format.h>

#include "convert/steps/adaptation.hpp"
#include "convert/steps/settings.hpp"

namespace tare {
namespace {

// Checks a model that follows another container's conventions: in a directory's form, from a copy without vocabulary.
void check_released(Adaptation& it) {
  Vocabulary vocabulary;
  std::swap(vocabulary, it.model.vocabulary);
  Model copy = it.model;
  std::swap(vocabulary, it.model.vocabulary);
  std::vector<Change> remarks;
  try {
    if (!release_conventions(copy, remarks).empty()) require_configured(copy, remarks);
  } catch (const Error& error) {
    // Names that are not known elsewhere are no obstacle for this target, nor are keys if it has the same.
    const bool keeps_keys = it.target.adopt != nullptr;
    if (error.kind() != ErrorKind::unsupported && (error.kind() != ErrorKind::lossy || !keeps_keys)) throw;
  }
}

// Keys that the caller set are true of the tensors: the target's programs refuse the file otherwise, or compute something
// else.
void check_set_keys(Adaptation& it) {
  if (!it.settings_wait || it.target.adopt == nullptr || it.renamed.empty()) return;
  Model copy = it.model;
  copy.vocabulary = {};
  std::vector<Change> remarks;
  try {
    if (!release_conventions(copy, remarks).empty()) require_configured(copy, remarks, &it.target);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    throw Error(ErrorKind::usage, "convert.set",
                fmt::format("the keys that are set contradict the tensors: {}", error.sentence()))
        .about(error.item());
  }
}

// What tensors lost is true of these tensors alone.
void forget_changed_quality(Adaptation& it) {
  if (!it.changes.any_type() && it.options.match.empty() && it.options.skip.empty()) return;
  std::vector<std::string> asked;
  for (const MetadataEdit& edit : steps::requested_edits(it.options)) asked.push_back(edit.key);
  forget_quality(it.model, asked, it.lines);
}

}  // namespace

void steps::update_statements(Adaptation& it) {
  it.statements.update(it.model, it.lines);
  forget_changed_quality(it);
  if (!it.repacked) it.statements.forget_decoded(it.model, it.packed_anew, it.lines);
  const std::string_view mix = recipe::is_mix(it.quant.method) ? std::string_view(it.quant.method) : std::string_view();
  if (it.renamed.empty() && !it.changes.any_type() && mix.empty()) return;
  // For every container: a model may carry the keys of the one that it comes from. Keys that were set stay.
  Map kept;
  for (const MetadataEdit& edit : requested_edits(it.options))
    if (const Value* const value = it.model.metadata.find(edit.key)) kept.set(edit.key, *value);
  for (const Format& format : formats())
    if (format.retyped != nullptr) format.retyped(it.model, &format == &it.target, mix);
  for (const auto& [key, value] : kept) it.model.metadata.set(key, value);
}

void steps::check_configured(Adaptation& it) {
  if (it.completeness == Completeness::required) check_set_keys(it);
  if (it.completeness == Completeness::required && has_directory_form(it.target))
    require_configured(it.model, it.lines);
}

void steps::check_complete(Adaptation& it) {
  // A directory is checked as it is written; a container without fields accepts a part of a model as well.
  if (it.completeness != Completeness::required || is_directory(it.target) || it.target.holds.own_fields.empty())
    return;
  if (find_format(it.model.format) == &it.target) return;
  const Format* const used_by = it.target.adopt == nullptr ? nullptr : &it.target;
  // require_configured does not check a model whose names have another form; its remark is not needed here.
  std::vector<Change> remarks;
  // A container that only stores fields takes any tensors next to them, as it may have held them before.
  const bool only_stores = used_by == nullptr && !has_directory_form(it.target);
  if (!only_stores || it.model.attachment("config.json") != nullptr) require_configured(it.model, remarks, used_by);
  if (has_directory_form(it.target)) return;  // check_configured repeats it, on the files as they are written
  std::erase_if(remarks, [](const Change& line) { return line.remedies.empty(); });
  it.lines.insert(it.lines.end(), remarks.begin(), remarks.end());
  check_released(it);
}

}  // namespace tare
