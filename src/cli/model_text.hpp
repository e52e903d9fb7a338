// Small functions on models that several verbs use.
#pragma once

#include <string>
#include <string_view>

#include "cli/session.hpp"
#include "formats/format.hpp"
#include "tare/model.hpp"

namespace tare::cli {

// Returns the tensor with that name, spelled as in the file or as by `ls`. Throws not_found `cli.tensor`, with similar
// names.
const Tensor& find_tensor(const Model& model, const std::string& file, std::string_view name);
// Does the same for attachments; throws `cli.attachment`.
const Attachment& find_attachment(const Model& model, const std::string& file, std::string_view name);

// Returns the decoded bytes of all tensors.
std::uint64_t tensor_bytes(const Model& model);
// Returns for example "3 tensors" or "1 tensor".
std::string counted(std::uint64_t number, std::string_view thing);
// Returns for example "spm, 32,000 tokens, bos 1, eos 2".
std::string summary_of(const Vocabulary& vocabulary);

// Returns a bar of at most `columns`, of which `share` (0 to 1) is filled; in steps of an eighth of a column with
// Unicode.
std::string share_bar(double share, std::size_t columns, bool unicode);

// The sink that -o names, or standard output. Without --force, binary output to a terminal is refused, and text has
// control characters removed (TerminalFilter). The caller must commit the result.
class OutputTarget {
 public:
  OutputTarget(const Arguments& arguments, Session& session, bool binary);
  Sink& sink() { return *sink_; }
  void commit();

 private:
  std::unique_ptr<Sink> own_;
  Sink* sink_ = nullptr;
};

}  // namespace tare::cli
