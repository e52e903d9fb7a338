// Whether a model is one that a container can hold, by its row. Every writer asks this first, so that what has no place is
// refused and never dropped; lengths, ranges and names that only the container knows it checks itself.
#pragma once

#include "tare/format.hpp"

namespace tare {

// Throws the error of a broken tensor, and Error unsupported under the name of the format:
//   write.room        metadata, a field of the config, a part of the vocabulary, attachments, attributes without a place
//   write.metadata    a metadata value that is not a text, where only texts can be
//   write.single      not exactly one tensor
//   write.name        a tensor's name that is too long
//   write.rank        too many dimensions
//   write.layout      a layout it does not have
//   write.type        a type of elements it does not have
//   write.duplicate   two tensors of one name
//   dense.size, ...   a rule of the layout
void require_fit(const Model& model, const Format& format);

}  // namespace tare
