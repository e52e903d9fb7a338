#include "cli/model_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/names.hpp"
#include "base/glob.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

template <typename Item>
const Item& find_named(const std::vector<Item>& items, const std::string& file, std::string_view name,
                       std::string_view thing, std::string_view list) {
  for (const Item& item : items)
    if (item.name == name) return item;
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const Item& item : items) {
    names.push_back(item.name);
    if (escape_name(item.name) == name || one_line(item.name) == name)
      return item;  // the spelling of `ls`, or of --json
  }
  throw Error(ErrorKind::not_found, fmt::format("cli.{}", thing), there_is_no(thing, name, names, list)).in(file);
}

}  // namespace

namespace {

// The name that a tensor of another dialect's name has in this model; empty if there is none.
std::string name_here(const Model& model, std::string_view name) {
  for (const arch::Family& family : arch::families())
    for (const arch::Dialect from : arch::kDialects) {
      const auto known = arch::parse(family, from, name);
      if (!known) continue;
      for (const arch::Dialect to : arch::kDialects) {
        const auto spelled = arch::spell(family, to, *known);
        if (spelled && model.tensor(*spelled) != nullptr) return *spelled;
      }
    }
  return {};
}

}  // namespace

const Tensor& find_tensor(const Model& model, const std::string& file, std::string_view name) {
  for (const BrokenTensor& broken : model.broken)
    if (broken.tensor.name == name || escape_name(broken.tensor.name) == name || one_line(broken.tensor.name) == name)
      throw broken.error;
  const auto is_named = [&](const Tensor& tensor) {
    return tensor.name == name || escape_name(tensor.name) == name || one_line(tensor.name) == name;
  };
  if (std::ranges::none_of(model.tensors, is_named)) {
    const auto refuse = [&](const std::string& hint) {
      throw Error(ErrorKind::not_found, "cli.tensor", there_is_no("tensor", name, {}, hint)).in(file);
    };
    if (std::ranges::any_of(model.tensors, [&](const Tensor& tensor) { return glob_match(name, tensor.name); }))
      refuse(fmt::format("; for a pattern: tare ls {} --match {}", shell_word(file), shell_word(name)));
    if (const std::string here = name_here(model, name); !here.empty())
      refuse(fmt::format("; in this file it is {}", quote(here)));
  }
  return find_named(model.tensors, file, name, "tensor", "; `tare ls` lists the names");
}

const Attachment& find_attachment(const Model& model, const std::string& file, std::string_view name) {
  return find_named(model.attachments, file, name, "attachment", "; `tare extract FILE` lists them");
}

std::uint64_t tensor_bytes(const Model& model) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : model.tensors) bytes += tensor.bytes();
  return bytes;
}

std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", count_text(number), thing, number == 1 ? "" : "s");
}

std::string summary_of(const Vocabulary& vocabulary) {
  std::string text = counted(vocabulary.tokens.size(), "token");
  if (!vocabulary.kind.empty()) text = fmt::format("{}, {}", vocabulary.kind, text);
  if (!vocabulary.merges.empty()) text += fmt::format(", {}", counted(vocabulary.merges.size(), "merge"));
  const std::pair<std::string_view, std::int64_t> ids[] = {
      {"bos", vocabulary.bos}, {"eos", vocabulary.eos}, {"pad", vocabulary.pad}, {"unk", vocabulary.unk}};
  for (const auto& [name, id] : ids)
    if (id >= 0) text += fmt::format(", {} {}", name, id);
  return text;
}

std::string share_bar(double share, std::size_t columns, bool unicode) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(columns);
  auto whole = static_cast<std::size_t>(filled);
  std::string bar;
  for (std::size_t i = 0; i < whole; ++i) bar += unicode ? "█" : "#";
  // A small share still gets one eighth, so that it is visible.
  auto eighths = static_cast<std::size_t>((filled - static_cast<double>(whole)) * 8);
  if (whole == 0 && eighths == 0 && share > 0) eighths = 1;
  if (unicode)
    bar += kEighths[eighths];
  else if (eighths >= 4 || (whole == 0 && share > 0))
    bar += '#';
  return bar;
}

namespace {

class TerminalSink final : public Sink {
 public:
  explicit TerminalSink(Sink& terminal) : terminal_(terminal) {}
  const std::string& name() const override { return terminal_.name(); }
  void commit() override { put(filter_.finish()); }

 protected:
  void do_write(std::uint64_t /*offset*/, std::span<const std::byte> bytes) override {
    put(filter_.filter(as_text(bytes)));
  }

 private:
  void put(std::string_view text) { terminal_.write(std::as_bytes(std::span(text))); }

  Sink& terminal_;
  TerminalFilter filter_;
};

}  // namespace

OutputTarget::OutputTarget(const Arguments& arguments, Session& session, bool binary) {
  const std::string path = arguments.get("output");
  const bool shown = session.screen().terminal && !arguments.has("force");
  if (!path.empty() && path != "-") {
    own_ = create_file(path, {.overwrite = arguments.has("force")});
  } else if (shown) {
    if (binary) throw UsageError("binary data is not written to a terminal; use -o PATH, a pipe, or --force");
    own_ = std::make_unique<TerminalSink>(session.raw());
  }
  sink_ = own_ != nullptr ? own_.get() : &session.raw();
}

void OutputTarget::commit() {
  if (own_ != nullptr) own_->commit();
}

}  // namespace tare::cli
