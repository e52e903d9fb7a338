// demo: a small model, taken through every container that can be written and back, checked at each step.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/text.hpp"
#include "cli/demo/journey.hpp"
#include "cli/demo/model.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "io/workshop.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli::demo_verb {
namespace {

// A directory that goes away with everything in it, however we end; one that a kill left goes with the next.
class Scratch {
 public:
  Scratch() {
    const std::string place = std::filesystem::temp_directory_path().string();
    const io::Directory around = io::Directory::open(place.c_str());
    if (!around) throw io::system_error("cli.demo", "cannot open the directory for temporary files", place, errno);
    io::sweep_workshops(around, false);
    workshop_.emplace(around, "cli.demo", place);
    path_ = fmt::format("{}/{}", place, workshop_->name());
  }
  const std::string& path() const { return path_; }

 private:
  std::optional<io::Workshop> workshop_;
  std::string path_;
};

struct Leg {
  const Format* format = nullptr;
  Model model;                       // what the format can hold of it
  std::vector<std::string> changes;  // why it is not the whole model
  std::vector<std::string> refused;  // tensors it has no place for
};

struct Outcome {
  std::string path;
  std::uint64_t bytes = 0;
  bool kept = false;  // the content digest is that of the original
  bool read = false;  // what was read is what was written
  bool back = false;  // and is the same after a return to the first container
  std::size_t findings = 0;
  bool verified = false;
  bool good(const Leg& leg) const { return read && back && verified && (kept || !leg.changes.empty()); }
};

// What the format's row says it has no room for, by the words of --drop.
std::vector<std::string> without_room(const Model& model, const Capabilities& holds) {
  std::vector<std::string> drop;
  const auto fits = [&](const Map::Entry& entry) {
    const auto& keys = holds.metadata_keys;
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](auto key) { return key == "*" || key == entry.first; });
    return known &&
           (holds.metadata == Room::tree || (holds.metadata == Room::strings && entry.second.text() != nullptr));
  };
  if (!std::all_of(model.metadata.begin(), model.metadata.end(), fits)) drop.emplace_back("metadata");
  if (!model.config.empty() && !holds.config) drop.emplace_back("config");
  if (!model.vocabulary.empty() && !holds.vocabulary) drop.emplace_back("vocabulary");
  if (!model.attachments.empty() && !holds.attachments) drop.emplace_back("attachments");
  return drop;
}

// The model as the format can hold it: whole if possible, else without what it refuses, saying so.
Leg prepare(const Model& original, const Format& format) {
  Leg leg{&format, original, {}, {}};
  AdaptOptions options;
  options.drop = without_room(original, format.holds);
  const auto tensors = std::exchange(leg.model.tensors, {});
  for (const Tensor& tensor : tensors) {
    Model one;
    one.tensors.push_back(tensor);
    try {
      adapt(one, format);
      leg.model.tensors.push_back(tensor);
    } catch (const Error&) {
      leg.refused.push_back(tensor.name);
    }
  }
  if (!leg.refused.empty())
    leg.changes.push_back(fmt::format("{} left out, of types it cannot hold: {}", counted(leg.refused.size(), "tensor"),
                                      fmt::join(leg.refused, ", ")));
  if (!format.holds.many_tensors && leg.model.tensors.size() > 1) {
    leg.model.tensors.resize(1);
    leg.changes = {fmt::format("takes one tensor, without its name: {}", leg.model.tensors[0].name)};
  }
  Adapted adapted = adapt(std::move(leg.model), format, options);
  leg.model = std::move(adapted.model);
  // One line a codec is a line too many here.
  std::size_t decoded = 0;
  for (std::string& change : adapted.changes) {
    if (change.find(" decoded from ") != std::string::npos)
      ++decoded;
    else
      leg.changes.push_back(std::move(change));
  }
  if (decoded > 0) leg.changes.push_back(fmt::format("{} decoded to dense", counted(decoded, "layout")));
  return leg;
}

std::uint64_t write_file(const Model& model, const Format& format, const std::string& path,
                         const Arguments& arguments) {
  WriteOptions options;
  options.threads = arguments.threads();
  if (format.holds.zstd) options.zstd_level = 3;
  if (format.holds.digests) options.digest = DigestAlgorithm::sha256;
  if (format.write == nullptr) return format.write_tree(model, path, options, arguments.has("force"));
  const auto sink = create_file(path, {.overwrite = arguments.has("force"), .durable = false});
  format.write(model, *sink, options);
  const std::uint64_t bytes = sink->position();
  sink->commit();
  return bytes;
}

// Whether every field that was written came back. A container of fixed fields also gives those nobody set.
bool came_back(const Config& written, const Config& read) {
  const Map found = read.to_map();
  for (const auto& [key, value] : written.to_map())
    if (const Value* const there = found.find(key); there == nullptr || !(*there == value)) return false;
  return true;
}

// Whether everything beside the tensors came back too, where the format has room for it.
bool same_rest(const Model& a, const Model& b, const Capabilities& holds) {
  return (holds.metadata != Room::tree || a.metadata == b.metadata) &&
         (!holds.config || came_back(a.config, b.config)) && (!holds.vocabulary || a.vocabulary == b.vocabulary) &&
         (!holds.attachments || a.attachments.size() == b.attachments.size());
}

Outcome travel(const Leg& leg, const Format& home, const std::string& original_digest, const std::string& directory,
               const Arguments& arguments) {
  const unsigned threads = arguments.threads();
  Outcome outcome;
  outcome.path = fmt::format("{}/demo{}", directory, leg.format->suffixes.empty() ? "" : leg.format->suffixes[0]);
  outcome.bytes = write_file(leg.model, *leg.format, outcome.path, arguments);

  const std::string written = content_digest(leg.model, threads);
  Model there = open(outcome.path, read_options(arguments));
  // A container of one tensor has no name for it: the file's name is taken.
  if (!leg.format->holds.many_tensors) there.tensors.at(0).name = leg.model.tensors.at(0).name;
  outcome.kept = written == original_digest;
  outcome.read = content_digest(there, threads) == written && same_rest(leg.model, there, leg.format->holds);

  VerifyOptions verify_options;
  verify_options.read = read_options(arguments);
  verify_options.threads = threads;
  const Verification verification = verify(outcome.path, verify_options);
  outcome.verified = verification.ok(false);
  outcome.findings = verification.count(Severity::error) + verification.count(Severity::warning);

  MemorySink sink;
  const Adapted returned = adapt(there, home);
  home.write(returned.model, sink, {});
  outcome.back = content_digest(open(memory_source(sink.take())), threads) == written;
  return outcome;
}

// The container the model is at home in: the first that holds it unchanged.
const Format& home_of(const Model& model) {
  for (const Format& format : formats()) {
    if (format.write == nullptr) continue;
    try {
      if (adapt(model, format).changes.empty()) return format;
    } catch (const Error&) {
      continue;  // not this one
    }
  }
  throw Error(ErrorKind::unsupported, "cli.demo", "no container holds the whole model");
}

Cell verdict(bool good, std::string_view yes, std::string_view no) {
  return good ? Cell(yes, Style::green) : Cell(no, Style::red);
}

int tour(const std::string& directory, const Arguments& arguments, Session& session) {
  const Model model = demo_model();
  const Format& home = home_of(model);
  const std::string digest = content_digest(model, arguments.threads());
  session.line(
      fmt::format("A model of {}, {}.", counted(model.tensors.size(), "tensor"), size_text(tensor_bytes(model))));
  session.line(digest);
  session.line();

  Table table({{"FORMAT"},
               {"FILE", Align::left, true},
               {"BYTES", Align::right},
               {"TENSORS", Align::right},
               {"READ BACK"},
               {"CONTENT"},
               {fmt::format("TO {} AGAIN", home.name)},
               {"VERIFY"}});
  std::vector<std::string> remarks;
  bool all_good = true;
  for (const Format& format : formats()) {
    if (!is_writable(format)) continue;
    const std::string_view architecture = format.holds.architecture;
    const Model own = architecture.empty() ? Model() : demo_model(architecture);
    Leg leg = prepare(architecture.empty() ? model : own, format);
    const Outcome outcome = travel(leg, home, architecture.empty() ? digest : content_digest(own, arguments.threads()),
                                   directory, arguments);
    if (!architecture.empty()) leg.changes.push_back(fmt::format("takes a model of its own, a {}", architecture));
    all_good = all_good && outcome.good(leg);
    table.add(
        {Cell(format.name, Style::cyan), outcome.path.substr(directory.size() + 1), count_text(outcome.bytes),
         count_text(leg.model.tensors.size()), verdict(outcome.read, "the same", "DIFFERS"),
         outcome.kept ? Cell("kept", Style::green) : Cell("changed", leg.changes.empty() ? Style::red : Style::yellow),
         verdict(outcome.back, "the same", "DIFFERS"),
         outcome.verified && outcome.findings == 0 ? Cell("ok", Style::green)
                                                   : verdict(outcome.verified, "warnings", "BAD")});
    for (const std::string& change : leg.changes) remarks.push_back(fmt::format("{}: {}", format.name, change));
  }
  table.print(session);
  if (!remarks.empty()) session.line();
  for (const std::string& remark : remarks) session.line(printable(remark));
  session.line();
  all_good = demo_journey(directory, arguments, session) && all_good;
  session.line();
  session.line(all_good ? session.paint(Style::green, "Every file is read back as it was written.")
                        : session.paint(Style::red, "Something was lost on the way."));
  return all_good ? kDone : kFailed;
}

int run(const Arguments& arguments, Session& session) {
  if (arguments.size() == 0) {
    const Scratch scratch;
    return tour(scratch.path(), arguments, session);
  }
  const std::string& directory = arguments.operand(0);
  if (!io::make_path(directory))
    throw Error(ErrorKind::io, "cli.demo",
                fmt::format("cannot make the directory: {}", std::generic_category().message(errno)))
        .in(directory);
  return tour(directory, arguments, session);
}

constexpr Operand kOperands[] = {{.name = "DIR", .required = false, .completes = Completes::directories}};
constexpr Option kOptions[] = {kForce, kNoMmap, kThreads};
constexpr Example kExamples[] = {
    {"tare demo", "does everything work here?"},
    {"tare demo /tmp/demo && tare info /tmp/demo/demo.zt", "keep the files to look at"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "demo",
    .summary = "take a small model through every container",
    .description =
        "Makes a small model with every type and layout, metadata, a configuration, a vocabulary and an "
        "attachment, writes it in every container, reads each file back, verifies it and converts it back, "
        "comparing the content digest at each step. Then a small language model in the shape of a download "
        "travels from container to container, each made from the one before. Where a container cannot hold "
        "everything, it says what was changed. With DIR the files are kept there.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::demo_verb
