// Small things several verbs do with a model.
#pragma once

#include <string>
#include <string_view>

#include "cli/session.hpp"
#include "tare/format.hpp"
#include "tare/model.hpp"

namespace tare::cli {

// The tensor of that name, as the file or as `ls` spells it. Throws not_found `cli.tensor` and suggests near names.
const Tensor& find_tensor(const Model& model, const std::string& file, std::string_view name);
// The same for attachments, `cli.attachment`.
const Attachment& find_attachment(const Model& model, const std::string& file, std::string_view name);

// "; did you mean a, b?" or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates,
                         std::string_view otherwise = {});

// Bytes of all tensors, decoded.
std::uint64_t tensor_bytes(const Model& model);
// "3 tensors", "1 tensor"
std::string counted(std::uint64_t number, std::string_view thing);
// "spm, 32,000 tokens, bos 1, eos 2"
std::string summary_of(const Vocabulary& vocabulary);

// A bar of at most `columns`, `share` (0 to 1) of it filled; eighths of a column where Unicode may be drawn.
std::string share_bar(double share, std::size_t columns, bool unicode);

// The sink that -o names, or standard output. Without --force a terminal is refused when `binary`, and is shown text
// without what could steer it (TerminalFilter) when not. Commit the result.
class OutputTarget {
 public:
  OutputTarget(const Arguments& arguments, Session& session, bool binary);
  Sink& sink() { return *sink_; }
  void commit();

 private:
  std::unique_ptr<Sink> own_;
  Sink* sink_ = nullptr;
};

// Whether a format can be written, as a file or as a directory.
bool is_writable(const Format& format);

}  // namespace tare::cli
