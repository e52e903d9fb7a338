// Checks whether a container can hold a model, by the container's row in the table of formats. Every writer calls this
// first, so that what the container cannot hold is refused and never dropped. Lengths, ranges and names with rules of
// their own are checked by the writer.
#pragma once

#include "formats/format.hpp"

namespace tare {

// Throws the error of a broken tensor, and Error unsupported under the name of the format:
//   write.room        metadata, a field of the config, a part of the vocabulary, attachments, attributes
//   write.metadata    a metadata value that is not a text, in a container of texts
//   write.single      not exactly one tensor
//   write.name        a tensor's name that is too long
//   write.rank        too many dimensions
//   write.layout      a layout that it does not have
//   write.type        an element type that it does not have
//   write.duplicate   two tensors with the same name
//   dense.size, ...   a rule of the layout
void require_fit(const Model& model, const Format& format);

}  // namespace tare
