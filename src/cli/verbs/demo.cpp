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
#include <utility>

#include "base/text.hpp"
#include "cli/change_report.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "convert/adapt.hpp"
#include "io/place.hpp"
#include "io/staging_directory.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli::demo_verb {
namespace {

// The files of the tour, each made from the one before. ALT has no bf16 and widens it; the conversion back asks for
// bf16 again.
struct Step {
  std::string_view file, made_by = "convert";
  std::optional<DType> dtype = {};
  std::string_view method = {};
};
constexpr std::string_view kStart = "mistral/";
constexpr Step kSteps[] = {{"mistral.alt"},
                           {"back/", "convert, bf16", DType::bf16},
                           {"mistral.mcf"},
                           {"mistral.zt"},
                           {"k4.mcf", "quantize, k4", {}, "k4"}};

Cell verdict(bool good, std::string_view yes, std::string_view no) {
  return good ? Cell(yes, Style::green) : Cell(no, Style::red);
}

// `good`: whether the difference was reported.
Cell kept_cell(std::string_view kept, bool good) {
  return Cell(kept, kept.starts_with("same") ? Style::green : good ? Style::yellow : Style::red);
}

// Returns whether one has all the fields of the other. A container with fixed fields may return more or fewer.
bool has_fields(const Config& config, const Config& fields) {
  const Map all = config.to_map(), wanted = fields.to_map();
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    const Value* const there = all.find(entry.first);
    return there != nullptr && *there == entry.second;
  });
}
std::string_view kept_of(const Config& now, const Config& start) {
  return now == start ? "same" : has_fields(start, now) ? "part" : "changed";
}
std::string_view kept_of(const Vocabulary& now, const Vocabulary& start) {
  return now == start ? "same" : now.tokens == start.tokens ? "part" : "changed";
}

// Returns the model as the format can hold it: complete if possible, else without what the format refuses. `changes`
// lists the differences. The tensors belong to no architecture, so names are not converted.
Model prepare(Model model, const Format& format, std::vector<std::string>& changes) {
  AdaptOptions options;
  options.keep_names = true;
  std::vector<std::string> refused;
  std::erase_if(model.tensors, [&](const Tensor& tensor) {
    Model one;
    one.tensors.push_back(tensor);
    try {
      static_cast<void>(adapt(one, format, options));
      return false;
    } catch (const Error&) {
      refused.push_back(tensor.name);
      return true;
    }
  });
  if (!refused.empty())
    changes.push_back(fmt::format("{} omitted, of types it cannot hold: {}", counted(refused.size(), "tensor"),
                                  fmt::join(refused, ", ")));
  const Capabilities& holds = format.holds;
  if (!holds.many_tensors && model.tensors.size() > 1) {
    model.tensors.resize(1);
    changes = {fmt::format("takes one tensor, without its name: {}", model.tensors[0].name)};
  }
  if (holds.metadata != Room::tree || holds.metadata_keys[0] != "*") options.drop.push_back(ModelPart::metadata);
  if (!holds.config) options.drop.push_back(ModelPart::config);
  if (!holds.vocabulary) options.drop.push_back(ModelPart::vocabulary);
  if (!holds.attachments) options.drop.push_back(ModelPart::attachments);
  Adapted adapted = adapt(std::move(model), format, options);
  // One line for each layout would be too much here, so they are counted.
  std::size_t decoded = 0;
  for (ReportLine& line : weigh(adapted.changes))
    if (line.kind == ChangeKind::decoded)
      ++decoded;
    else
      changes.push_back(std::move(line.full));
  if (decoded > 0) changes.push_back(fmt::format("{} decoded to dense", counted(decoded, "layout")));
  return std::move(adapted.model);
}

// Returns whether everything but the tensors was read back, as far as the format can hold it.
bool same_rest(const Model& written, const Model& read, const Capabilities& holds) {
  return (holds.metadata != Room::tree || written.metadata == read.metadata) &&
         (!holds.config || has_fields(read.config, written.config)) &&
         (!holds.vocabulary || written.vocabulary == read.vocabulary) &&
         (!holds.attachments || written.attachments.size() == read.attachments.size());
}

std::size_t columns_of(const Session& session) { return session.screen().terminal ? session.screen().columns : 80; }

void print_wrapped(const std::string& text, std::string_view indent, Session& session) {
  std::string_view before;
  for (const std::string& line : wrap(printable(text), columns_of(session) - indent.size())) {
    session.line(fmt::format("{}{}", before, line));
    before = indent;
  }
}

// Makes the files under a directory, then prints what became of them.
class Demo {
 public:
  Demo(std::string directory, const Arguments& arguments)
      : directory_(std::move(directory)),
        read_(read_options(arguments)),
        work_{.threads = arguments.threads()},
        overwrite_(arguments.has("force")) {}

  // Visits each container that can be written with a model that has every type and layout, then takes the small
  // language model from container to container.
  void run() {
    const Model model = demo_model();
    for (const Format& format : formats())
      if (is_writable(format)) visit(format, format.holds.architecture.empty() ? model : tiny_llama_model());
    take_tour();
  }
  bool good() const { return good_; }
  // Makes the samples of the recipes: an adapter, and a pickle that would run a command.
  void make_samples() const;
  void print(bool details, Session& session) const;

 private:
  std::string path_of(std::string_view file) const { return fmt::format("{}/{}", directory_, file); }
  std::string digest_of(const Model& model) const { return content_digest(model, work_); }
  void visit(const Format& format, const Model& original);
  void take_tour();
  bool same_values(const Model& a, const Model& b) const;
  void print_containers(Session& session) const;

  std::string directory_;
  ReadOptions read_;
  Work work_;
  bool overwrite_, good_ = true;
  std::string heading_;
  Table tour_{{{"FILE"}, {"MADE BY"}, {"BYTES", Align::right}, {"WEIGHTS"}, {"CONFIG"}, {"TOKENIZER"}, {"VERIFY"}}};
  std::vector<std::string> lost_, tour_changes_, visit_changes_;
  std::map<std::size_t, std::vector<Cell>, std::greater<>> fitting_;  // the containers, by the number of tensors
  Table visits_{{{"FORMAT"},
                 {"FILE", Align::left, true},
                 {"BYTES", Align::right},
                 {"TENSORS", Align::right},
                 {"READ BACK"},
                 {"CONTENT"},
                 {"AND BACK"},
                 {"VERIFY"}}};
};

void Demo::visit(const Format& format, const Model& original) {
  std::vector<std::string> changes;
  const Model model = prepare(original, format, changes);
  if (!format.holds.architecture.empty())
    changes.push_back(fmt::format("takes a model of its own, a {}", format.holds.architecture));
  const std::string file = fmt::format("demo{}", format.suffixes.empty() ? "" : format.suffixes[0]);
  SaveOptions options;
  options.adapt.keep_names = true;
  options.work = work_;
  if (format.holds.zstd) options.write.zstd_level = 3;
  if (format.holds.digests) options.write.digest = DigestAlgorithm::sha256;
  options.to = format.name;
  options.overwrite = overwrite_;
  const std::uint64_t bytes = save(model, path_of(file), options).file_bytes;
  const bool verified = verify(path_of(file), read_).ok(false);

  const std::string written = digest_of(model);
  Model there = open(path_of(file), read_);
  // A container of one tensor has no name for it, and uses the file's name.
  if (!format.holds.many_tensors) there.tensors.at(0).name = model.tensors.at(0).name;
  const bool kept = written == digest_of(original);
  const bool same = written == digest_of(there) && same_rest(model, there, format.holds);
  // Back to the container that holds everything.
  MemorySink sink;
  options.write = {};
  options.to = "zt";
  static_cast<void>(save(std::move(there), sink, options));
  const bool back = written == digest_of(open(memory_source(sink.take())));

  const bool good = same && back && verified && (kept || !changes.empty());
  good_ = good_ && good;
  fitting_[model.tensors.size()].push_back(good ? Cell(format.name, Style::green)
                                                : Cell(fmt::format("{} (BAD)", format.name), Style::red));
  visits_.add({Cell(format.name, Style::cyan), file, count_text(bytes), count_text(model.tensors.size()),
               verdict(same, "same", "DIFFERS"),
               kept ? Cell("same", Style::green) : Cell("changed", changes.empty() ? Style::red : Style::yellow),
               verdict(back, "same", "DIFFERS"), verdict(verified, "ok", "BAD")});
  for (const std::string& change : changes) visit_changes_.push_back(fmt::format("{}: {}", format.name, change));
}

void Demo::make_samples() const {
  const auto write = [&](std::string_view file, std::string_view text) {
    const auto sink = create_file(path_of(file), {.overwrite = overwrite_});
    sink->write(std::as_bytes(std::span(text)));
    sink->commit();
  };
  write("suspicious.pt",
        "\x80\x02"
        "cposix\nsystem\nU\x02"
        "id\x85R.");
  io::make_path(path_of("my-lora"));
  SaveOptions options;
  options.overwrite = overwrite_;
  static_cast<void>(save(lora_model(), path_of("my-lora/adapter_model.safetensors"), options));
  write("my-lora/adapter_config.json",
        R"({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"]})");
}

// Returns whether all numbers are equal, whatever their types.
bool Demo::same_values(const Model& a, const Model& b) const {
  Model x, y;
  x.tensors = a.tensors, y.tensors = b.tensors;
  return std::ranges::none_of(diff(x, y, {.threads = work_.threads}).tensors, [](const TensorDifference& found) {
    return found.values_differ || !found.compared || found.only_in.has_value();
  });
}

void Demo::take_tour() {
  ConvertOptions options;
  options.read = read_;
  options.work = work_;
  options.overwrite = overwrite_;
  WriteOptions write = options.write;
  write.shard_bytes = 96 << 10;  // gives two shards
  std::string file(kStart);
  const std::uint64_t bytes = find_format("hf")->write_tree(mistral_model(), path_of(file), write, overwrite_);
  const Model start = open(path_of(file), read_);
  const std::string start_digest = digest_of(start);
  heading_ = fmt::format(
      "A small language model, as if just downloaded: {}, {}, {}. Each file below is made from the one above it.",
      counted(start.tensors.size(), "tensor"), size_text(tensor_bytes(start)),
      counted(start.vocabulary.tokens.size(), "token"));
  const bool verified = verify(path_of(file), read_).ok(false);
  good_ = good_ && verified;
  tour_.add({Cell(file, Style::cyan), "-", count_text(bytes), dtype_name(start.tensors.front()), "-", "-",
             verdict(verified, "ok", "BAD")});
  std::string_view config = "same", tokens = "same";
  for (const Step& step : kSteps) {
    options.adapt.dtype = step.dtype;
    options.adapt.quant.method = step.method;
    const Conversion done = convert(path_of(file), path_of(step.file), options);
    file = step.file;
    const Model model = open(path_of(file), read_);
    const bool identical = digest_of(model) == start_digest, same = identical || same_values(start, model);
    const std::string weights = identical ? "same"
                                : same    ? fmt::format("same, as {}", dtype_name(model.tensors.front()))
                                : done.outcomes.empty()
                                    ? "changed"
                                    : fmt::format("rms error {:.1f}%", 100 * relative_error(done.outcomes));
    const auto last_config = std::exchange(config, kept_of(model.config, start.config));
    const auto last_tokens = std::exchange(tokens, kept_of(model.vocabulary, start.vocabulary));
    const bool sound = verify(path_of(file), read_).ok(false);
    // Only a change since the previous file needs an explanation.
    const bool as_before = same && config == last_config && tokens == last_tokens;
    const bool good = sound && (as_before || !done.changes.empty());
    good_ = good_ && good;
    tour_.add({Cell(file, Style::cyan), step.made_by, count_text(done.file_bytes), kept_cell(weights, good),
               kept_cell(config, good), kept_cell(tokens, good), verdict(sound, "ok", "BAD")});
    std::vector<std::string> lost;
    for (const ReportLine& change : weigh(done.changes)) {
      tour_changes_.push_back(fmt::format("{}: {}", file, change.full));
      if (change.impact == Impact::results || change.impact == Impact::lost) lost.push_back(change.brief);
    }
    if (!lost.empty())
      lost_.push_back(fmt::format("lost on the way to {}, and so missing below it: {}", file, fmt::join(lost, "; ")));
  }
}

// Groups containers by the number of tensors that fit, most first: "42: zt mcf npz".
void Demo::print_containers(Session& session) const {
  print_wrapped(fmt::format("A model with {} tensors, one for every type and layout; how many each container can hold:",
                            fitting_.empty() ? 0 : fitting_.begin()->first),
                {}, session);
  std::string line;
  std::size_t used = 0;
  for (const auto& [tensors, members] : fitting_) {
    std::string group = fmt::format("  {}:", tensors);
    std::size_t width = group.size();
    for (const Cell& member : members) {
      group += session.paint(member.style, " " + member.text);
      width += 1 + member.text.size();
    }
    if (used > 0 && used + width > columns_of(session)) {
      session.line(std::exchange(line, {}));
      used = 0;
    }
    line += group;
    used += width;
  }
  session.line(line);
}

void Demo::print(bool details, Session& session) const {
  const auto print_lines = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) session.line(printable(line));
  };
  print_wrapped(heading_, {}, session);
  session.line();
  tour_.print(session);
  if (details) {
    for (const std::string& line : lost_) print_wrapped(line, "  ", session);
    session.line();
    print_containers(session);
    session.line();
    print_lines(tour_changes_);
    session.line();
    visits_.print(session);
    session.line();
    print_lines(visit_changes_);
  } else {
    if (!lost_.empty()) print_wrapped("part: a container had no field for the rest; --verbose names it.", {}, session);
    session.line();
    print_wrapped("A model with a tensor of every type and layout went through every container.", {}, session);
  }
  session.line(
      good_ ? session.paint(Style::green, "Every file was verified, and reads back exactly what was written to it.")
            : session.paint(Style::red, "Something was lost on the way; --verbose shows what."));
  session.line();
}

// `kept`: the directory of the files; empty if they are removed.
void print_next(const std::string& kept, Session& session) {
  const std::string inside = kept.empty() || kept == "." ? std::string() : fmt::format("{}/", kept);
  const std::string model = kept.empty() ? "MODEL" : fmt::format("{}{}", inside, kStart.substr(0, kStart.size() - 1));
  session.line(kept.empty() ? "Next, with a model of your own (a Hugging Face directory, or a file):"
                            : "Next, with one of these files or with a model of your own:");
  std::vector<std::pair<std::string, std::string_view>> commands = {
      {fmt::format("tare info {}", model), "what is in it"},
      {fmt::format("tare quantize {} {}small.gguf --method q4_k_m", model, inside), "for llama.cpp"},
      {fmt::format("tare diff {} {}small.gguf", model, inside), "what that cost"},
      {fmt::format("tare view {}", model), "in the browser"},
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

int finish(const Demo& demo, const std::string& kept, const Arguments& arguments, Session& session) {
  demo.print(verbose(arguments), session);
  print_next(kept, session);
  return demo.good() ? kDone : kFailed;
}

// The files are removed, also after an error; those that a kill left are removed by the next run.
int run_in_scratch(const Arguments& arguments, Session& session) {
  const std::string place = std::filesystem::temp_directory_path().string();
  const io::Directory around = io::Directory::open(place.c_str());
  if (!around) throw io::system_error("cli.demo", "cannot open the directory for temporary files", place, errno);
  io::sweep_staging_directories(around, false);
  const io::StagingDirectory staging(around, "cli.demo", place);
  Demo demo(fmt::format("{}/{}", place, staging.name()), arguments);
  demo.run();
  return finish(demo, {}, arguments, session);
}

int run(const Arguments& arguments, Session& session) {
  verbose(arguments);
  if (arguments.size() == 0) return run_in_scratch(arguments, session);
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
  if (!arguments.has("force") && std::filesystem::exists(plain + "/mistral/config.json", unknown) &&
      std::filesystem::exists(plain + "/demo.zt", unknown))
    throw Error(ErrorKind::usage, "io.sink.exists", "the demo is here already")
        .in(directory)
        .blame(Subject::output)
        .remedy(Remedy::overwrite, "directory");
  const io::Place place = io::find_place(plain, "cli.demo", "cannot open the directory");
  Demo demo(directory, arguments);
  try {
    demo.run();
    demo.make_samples();
  } catch (...) {
    // Half of the files are of no use.
    const io::Directory made = existed ? io::Directory() : place.parent.enter(place.name.c_str());
    if (made && made.remove_inside()) place.parent.remove_folder(place.name.c_str());
    throw;
  }
  return finish(demo, plain, arguments, session);
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
        "verified and converted back, its content digest compared at each step. With DIR the files are kept there, "
        "next to what the recipes of the "
        "documentation need: a LoRA adapter, and a pickle that would run a command.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::demo_verb
