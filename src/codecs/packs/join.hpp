// Joins the arrays of packed weights to tensors when a model is opened, and checks before it is saved that they will be
// joined again.
//
// Sets that cannot be joined remain plain arrays, and the reason is reported: a broken rule as a warning (as an error if
// all findings are collected), a variant that is not decoded as a note.
#pragma once

#include <string>

#include "codecs/packs/find.hpp"
#include "codecs/packs/stored.hpp"
#include "tare/model.hpp"

namespace tare::codec::packs {

// Joins all sets that can be joined. `file` is for the reports.
void join_packs(Model& model, Stated stated, const std::string& file, Diagnostics& diagnostics);

// Whether the arrays of a joined tensor describe it completely: without a config, they are joined to the same tensor.
bool describes_itself(const Tensor& tensor);

// Throws `pack.changed` for a joined tensor of `before` that `after` does not have, or has in another form.
void expect_joined_as(const Model& before, const Model& after);

// Throws `pack.changed` for a joined tensor that could not be read back: its arrays, joined again with `stated`, give
// another name, layout or shape. A program changed it, or removed the config that describes the packing.
void expect_joined_again(const Model& model, Stated stated);

}  // namespace tare::codec::packs
