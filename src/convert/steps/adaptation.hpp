// A model during its conversion for a target, and the steps of the conversion. The table in convert/adapt.cpp has their
// order, with the reason for each position.
//
// A step reads and changes one Adaptation and nothing else. It may rely on the results of the steps before it.
#pragma once

#include <optional>
#include <vector>

#include "convert/directory_form.hpp"
#include "convert/recipe.hpp"
#include "convert/steps/packed_guard.hpp"
#include "convert/steps/statements.hpp"
#include "convert/steps/tensor_changes.hpp"
#include "resources/packed_config.hpp"

namespace tare {

struct Adaptation {
  Adaptation(Model input, const Format& target, const AdaptOptions& options, unsigned threads,
             Completeness completeness);

  Model model;
  const Format& target;
  const AdaptOptions& options;
  const unsigned threads;  // for codecs that read the data before they know the encoded size
  const Completeness completeness;

  // Facts about the input that cannot be determined once its tensors change.
  const Statements statements;
  const codec::packs::Stated stated;             // for a model with packed weights
  const recipe::Objective* objective = nullptr;  // for a budget of bits; null: squared errors
  const bool had_token_table;

  // Results of steps for those that follow.
  std::optional<PackedGuard> packed;  // guard_codes
  bool settings_wait = false;         // set_metadata: keys of the target are set once the model has the target's form
  bool repacked = false;              // decode_packed: the conventions of the target keep what is packed
  bool packed_anew = false;           // follow_conventions: some weights became packed weights
  std::vector<Renamed> renamed;       // follow_conventions
  bool files_dropped = false;         // follow_conventions: those of the input; the ones that are left were made there
  Quantization quant;  // follow_conventions: what was asked for; importance values by the current names of tensors
  std::vector<recipe::Decision> decisions;  // decide_types: one for each tensor

  // Reported to the caller.
  TensorChanges changes;      // about tensors
  std::vector<Change> lines;  // about everything else
  std::vector<LostKeys> lost;
  std::vector<TensorOutcome> outcomes;
};

namespace steps {

// Before: anything. After: the target can hold the float type that was asked for.
void check_type(Adaptation& it);
// After: only tensors that were asked for are left, and none of them is broken.
void select_tensors(Adaptation& it);
// After: if a cast or quantization was asked for, no tensor that it would change holds another program's codes.
void guard_codes(Adaptation& it);
// After: the metadata has the keys that were set, and config, vocabulary and files agree with them.
void set_metadata(Adaptation& it);
// After: no packed weights are left that a cast or other names would apply to: they are decoded, unless the target has a
// layout for them.
void decode_packed(Adaptation& it);
// After: if programs run the target's files, a model in a directory's form has every tensor that its config.json
// implies. Otherwise these programs would refuse it, or compute something else.
void check_complete(Adaptation& it);
// After: names, row order, keys and files follow the conventions of the target's readers.
void follow_conventions(Adaptation& it);
// After: the target can hold this number of tensors.
void check_count(Adaptation& it);
// After: the target can hold all of the model but its tensors.
void fit_parts(Adaptation& it);
// After: dense tensors of floats have the type that was asked for.
void cast_types(Adaptation& it);
// After: for each tensor it is decided whether and how it is quantized.
void decide_types(Adaptation& it);
// After: the target can hold each tensor: its layout, type, rank, name and attributes.
void fit_tensors(Adaptation& it);
// After: the statements of metadata and files about the tensors are true for the tensors as they are now.
void update_statements(Adaptation& it);
// After: a directory has every tensor that its config.json implies, as it is written.
void check_configured(Adaptation& it);
// After: every tensor is in the form that a container stores; packed weights are separate arrays again.
void separate_packed(Adaptation& it);

}  // namespace steps

}  // namespace tare
