// A model on its way into a target, and the steps of that way. Their order, with the reason for each place, is the table in
// convert/adapt.cpp.
//
// A step reads and changes one Adaptation and nothing else. It may rely on what the steps before it have done.
#pragma once

#include <optional>
#include <vector>

#include "convert/directory_form.hpp"
#include "convert/recipe.hpp"
#include "convert/steps/claims.hpp"
#include "convert/steps/packed_guard.hpp"
#include "convert/steps/tensor_changes.hpp"
#include "resources/packed_config.hpp"

namespace tare {

struct Adaptation {
  Adaptation(Model input, const Format& target, const AdaptOptions& options, Completeness completeness);

  Model model;
  const Format& target;
  const AdaptOptions& options;
  const Completeness completeness;

  // Facts about the input that are gone once its tensors change.
  const Claims claims;
  const std::optional<resources::StatedQuantization> stated;  // of a model with packed weights
  const bool had_token_table;

  // What the steps find out for those that follow.
  std::optional<PackedGuard> packed;  // guard_codes
  std::vector<Renamed> renamed;       // follow_conventions
  Quantization quant;                 // follow_conventions: what was asked for, by the names that tensors have now
  std::vector<recipe::Decision> decisions;  // decide_types: one for each tensor

  // What the caller learns.
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
// After: the metadata has the keys that were set.
void set_metadata(Adaptation& it);
// After: no packed weights are left that a cast or other names would apply to; their numbers are there instead.
void decode_packed(Adaptation& it);
// After: a model whose tensors and config.json are those of a directory has every tensor that config.json implies, if the
// target is one that programs run. They would refuse it, or compute something else.
void check_complete(Adaptation& it);
// After: names, order of rows, keys and files follow the conventions of the target's readers.
void follow_conventions(Adaptation& it);
// After: there are as many tensors as the target holds.
void check_count(Adaptation& it);
// After: the target can hold all of the model but its tensors.
void fit_parts(Adaptation& it);
// After: dense tensors of floats have the type that was asked for.
void cast_types(Adaptation& it);
// After: it is decided for each tensor whether and how it is quantized.
void decide_types(Adaptation& it);
// After: the target can hold each tensor: its layout, type, rank, name and attributes.
void fit_tensors(Adaptation& it);
// After: what metadata and files state about the tensors is true of the tensors as they are now.
void restate_claims(Adaptation& it);
// After: a directory has every tensor that its config.json implies, as it is written.
void check_configured(Adaptation& it);
// After: every tensor is what a container stores; packed weights are separate arrays again.
void separate_packed(Adaptation& it);

}  // namespace steps

}  // namespace tare
