// demo: takes a small model through the main verbs on one screen, and checks every container.
#include "cli/demo/demo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <system_error>

#include "base/text.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "io/place.hpp"
#include "io/staging_directory.hpp"

namespace tare::cli::demo_verb {
namespace {

// A directory that is removed with its content, also after an error; one that a kill left is removed by the next run.
class Scratch {
 public:
  Scratch() {
    const std::string place = std::filesystem::temp_directory_path().string();
    const io::Directory around = io::Directory::open(place.c_str());
    if (!around) throw io::system_error("cli.demo", "cannot open the directory for temporary files", place, errno);
    io::sweep_staging_directories(around, false);
    staging_.emplace(around, "cli.demo", place);
    path_ = fmt::format("{}/{}", place, staging_->name());
  }
  const std::string& path() const { return path_; }

 private:
  std::optional<io::StagingDirectory> staging_;
  std::string path_;
};

Cell verdict(bool good, std::string_view yes, std::string_view no) {
  return good ? Cell(yes, Style::green) : Cell(no, Style::red);
}

// `good`: whether the difference was reported.
Cell kept_cell(std::string_view kept, bool good) {
  return Cell(kept, kept.starts_with("same") ? Style::green : good ? Style::yellow : Style::red);
}

std::size_t columns_of(const Session& session) { return session.screen().terminal ? session.screen().columns : 80; }

void print_wrapped(const std::string& text, std::string_view indent, Session& session) {
  std::string_view before;
  for (const std::string& line : wrap(printable(text), columns_of(session) - indent.size())) {
    session.line(fmt::format("{}{}", before, line));
    before = indent;
  }
}

void print_tour(const Tour& tour, Session& session) {
  print_wrapped(fmt::format("A small language model, as if just downloaded: {}. Each file below is made from the one "
                            "above it.",
                            tour.model),
                {}, session);
  session.line();
  Table table({{"FILE"}, {"MADE BY"}, {"BYTES", Align::right}, {"WEIGHTS"}, {"CONFIG"}, {"TOKENIZER"}, {"VERIFY"}});
  const Stop& start = tour.stops.front();
  table.add({Cell(start.file, Style::cyan), start.made_by, count_text(start.bytes), start.weights, "-", "-",
             verdict(start.verified, "ok", "BAD")});
  for (const Stop& stop : std::span(tour.stops).subspan(1))
    table.add({Cell(stop.file, Style::cyan), stop.made_by, count_text(stop.bytes), kept_cell(stop.weights, stop.good),
               kept_cell(stop.config, stop.good), kept_cell(stop.tokens, stop.good),
               verdict(stop.verified, "ok", "BAD")});
  table.print(session);
  for (const Stop& stop : tour.stops) {
    std::vector<std::string> lost;
    for (const ReportLine& change : stop.changes)
      if (change.impact == Impact::results || change.impact == Impact::lost) lost.push_back(change.brief);
    if (lost.empty()) continue;
    print_wrapped(fmt::format("lost on the way to {}, and so missing below it: {}", stop.file, fmt::join(lost, "; ")),
                  "  ", session);
  }
}

// Groups containers by the number of tensors that fit, most first: "42: zt mcf npz".
void print_containers(const std::vector<Visit>& visits, Session& session) {
  std::map<std::size_t, std::vector<const Visit*>, std::greater<>> fitting;
  std::vector<const Visit*> own;  // containers for one architecture only
  for (const Visit& visit : visits)
    (visit.format->holds.architecture.empty() ? fitting[visit.tensors] : own).push_back(&visit);
  std::string line;
  std::size_t used = 0;
  const auto put = [&](const std::string& group, const std::vector<const Visit*>& members) {
    std::string plain = group, painted = group;
    for (const Visit* visit : members) {
      const std::string name = fmt::format(" {}{}", visit->format->name, visit->good() ? "" : " (BAD)");
      plain += name;
      painted += session.paint(visit->good() ? Style::green : Style::red, name);
    }
    if (used > 0 && used + 2 + plain.size() > columns_of(session)) {
      session.line(line);
      line.clear();
      used = 0;
    }
    line += "  " + painted;
    used += 2 + plain.size();
  };
  print_wrapped(fmt::format("A model with {} tensors, one for every type and layout; how many each container can hold:",
                            fitting.empty() ? 0 : fitting.begin()->first),
                {}, session);
  for (const auto& [tensors, members] : fitting) put(fmt::format("{}:", tensors), members);
  if (!own.empty()) put("its own model only:", own);
  session.line(line);
}

void print_details(const Tour& tour, const std::vector<Visit>& visits, Session& session) {
  session.line();
  for (const Stop& stop : tour.stops)
    for (const ReportLine& change : stop.changes)
      session.line(printable(fmt::format("{}: {}", stop.file, change.full)));
  session.line();
  Table table({{"FORMAT"},
               {"FILE", Align::left, true},
               {"BYTES", Align::right},
               {"TENSORS", Align::right},
               {"READ BACK"},
               {"CONTENT"},
               {"AND BACK"},
               {"VERIFY"}});
  for (const Visit& visit : visits)
    table.add(
        {Cell(visit.format->name, Style::cyan), visit.file, count_text(visit.bytes), count_text(visit.tensors),
         verdict(visit.read, "same", "DIFFERS"),
         visit.kept ? Cell("same", Style::green) : Cell("changed", visit.changes.empty() ? Style::red : Style::yellow),
         verdict(visit.back, "same", "DIFFERS"), verdict(visit.verified, "ok", "BAD")});
  table.print(session);
  session.line();
  for (const Visit& visit : visits)
    for (const std::string& change : visit.changes)
      session.line(printable(fmt::format("{}: {}", visit.format->name, change)));
}

// `kept`: the directory of the files; empty if they are removed.
void print_next(const std::string& kept, Session& session) {
  const std::string model = kept.empty() ? "MODEL" : fmt::format("{}/mistral", kept);
  session.line(kept.empty() ? "Next, with a model of your own (a Hugging Face directory, or a file):"
                            : "Next, with one of these files or with a model of your own:");
  std::vector<std::pair<std::string, std::string_view>> commands = {
      {fmt::format("tare info {}", model), "what is in it"},
      {fmt::format("tare convert {} model.zt", model), "the same, in one file"},
      {fmt::format("tare convert {} model.gguf", model), "for llama.cpp"},
      {fmt::format("tare quantize {} model.mcf --method k4", model), "4 bits per weight"},
  };
  if (kept.empty()) commands.emplace_back("tare demo DIR", "keep the files of this demo");
  std::size_t widest = 0;
  for (const auto& [command, meaning] : commands) widest = std::max(widest, display_width(command));
  for (const auto& [command, meaning] : commands) {
    // A command is meant to be typed, so it is never shortened; its meaning is omitted if it does not fit.
    const bool fits = 2 + widest + 2 + meaning.size() <= columns_of(session);
    const std::string gap = fits ? std::string(widest + 2 - display_width(command), ' ') : std::string();
    session.line(fmt::format("  {}{}{}", session.paint(Style::bold, printable(command)), gap, fits ? meaning : ""));
  }
}

// `undo`: called if the files cannot all be made; half of them are of no use.
int tour(const std::string& directory, bool kept, const Arguments& arguments, Session& session,
         const std::function<void()>& undo) {
  std::vector<Visit> visits;
  Tour tour;
  try {
    visits = visit_containers(directory, arguments);
    tour = demo_tour(directory, arguments);
  } catch (...) {
    undo();
    throw;
  }
  const bool good = std::ranges::all_of(visits, &Visit::good) && std::ranges::all_of(tour.stops, &Stop::good);
  print_tour(tour, session);
  session.line();
  print_containers(visits, session);
  if (verbose(arguments)) print_details(tour, visits, session);
  session.line(
      good ? session.paint(Style::green, "Every file was verified, and reads back exactly what was written to it.")
           : session.paint(Style::red, "Something was lost on the way; --verbose shows what."));
  session.line();
  print_next(kept ? directory : std::string(), session);
  return good ? kDone : kFailed;
}

int run(const Arguments& arguments, Session& session) {
  verbose(arguments);
  if (arguments.size() == 0) {
    const Scratch scratch;
    return tour(scratch.path(), false, arguments, session, [] {});
  }
  const std::string& directory = arguments.operand(0);
  std::error_code unknown;
  const bool existed = std::filesystem::exists(std::filesystem::symlink_status(directory, unknown));
  if (!io::make_path(directory))
    throw Error(ErrorKind::io, "cli.demo",
                fmt::format("cannot make the directory: {}", std::generic_category().message(errno)))
        .in(directory);
  // The directory may have existed: this throws if its name is a link of another user.
  std::string plain = directory;
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  const io::Place place = io::find_place(plain, "cli.demo", "cannot open the directory");
  return tour(directory, true, arguments, session, [&] {
    if (existed) return;
    const io::Directory made = place.parent.enter(place.name.c_str());
    if (made && made.remove_inside()) place.parent.remove_folder(place.name.c_str());
  });
}

constexpr Operand kOperands[] = {{.name = "DIR", .required = false, .completes = Completes::directories}};
constexpr Option kOptions[] = {
    kForce,
    {.letter = 'v', .name = "verbose", .help = "report what changed on the way, for every container"},
    kNoMmap,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare demo", "does everything work here?"},
    {"tare demo /tmp/demo && tare info /tmp/demo/demo.zt", "keep the files to look at"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "demo",
    .summary = "see it work, on a small model",
    .description =
        "Makes a small language model in the shape of a download, converts it from container to container, each file "
        "made from the one before, verifies every file and quantizes the last. Then a model with every type and "
        "layout, metadata, a configuration, a vocabulary and an attachment is written in every container, read back, "
        "verified and converted back, its content digest compared at each step. With DIR the files are kept there.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::demo_verb
