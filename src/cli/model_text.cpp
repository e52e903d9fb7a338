#include "cli/model_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

template <typename Item>
const Item& find_named(const std::vector<Item>& items, const std::string& file, std::string_view name,
                       std::string_view thing) {
  for (const Item& item : items)
    if (item.name == name) return item;
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const Item& item : items) {
    names.push_back(escape_name(item.name));
    if (names.back() == name) return item;
  }
  throw Error(ErrorKind::not_found, fmt::format("cli.{}", thing),
              fmt::format("no {} '{}'{}", thing, name, did_you_mean(name, names)))
      .in(file);
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const auto near = nearest(name, candidates, 3);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", fmt::join(near, ", "));
}

const Tensor& find_tensor(const Model& model, const std::string& file, std::string_view name) {
  for (const BrokenTensor& broken : model.broken)
    if (broken.tensor.name == name || escape_name(broken.tensor.name) == name) throw broken.error;
  return find_named(model.tensors, file, name, "tensor");
}

const Attachment& find_attachment(const Model& model, const std::string& file, std::string_view name) {
  return find_named(model.attachments, file, name, "attachment");
}

std::uint64_t tensor_bytes(const Model& model) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes += tensor.bytes();
  return bytes;
}

bool is_writable(const Format& format) { return format.write != nullptr || format.write_tree != nullptr; }

std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", count_text(number), thing, number == 1 ? "" : "s");
}

std::string share_bar(double share, std::size_t columns, bool unicode) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(columns);
  auto whole = static_cast<std::size_t>(filled);
  std::string bar;
  for (std::size_t i = 0; i < whole; ++i) bar += unicode ? "█" : "#";
  // Something is never drawn as nothing.
  auto eighths = static_cast<std::size_t>((filled - static_cast<double>(whole)) * 8);
  if (whole == 0 && eighths == 0 && share > 0) eighths = 1;
  if (unicode)
    bar += kEighths[eighths];
  else if (eighths >= 4 || (whole == 0 && share > 0))
    bar += '#';
  return bar;
}

OutputTarget::OutputTarget(const Arguments& arguments, Session& session, bool binary) {
  const std::string path = arguments.get("output");
  if (!path.empty() && path != "-") {
    file_ = create_file(path, {.overwrite = arguments.has("force")});
    sink_ = file_.get();
    return;
  }
  if (binary && session.screen().terminal && !arguments.has("force"))
    throw UsageError("these bytes are not for a terminal; give -o PATH, a pipe, or --force");
  sink_ = &session.raw();
}

void OutputTarget::commit() {
  if (file_ != nullptr) file_->commit();
}

}  // namespace tare::cli
