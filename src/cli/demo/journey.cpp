// A downloaded model on its way from container to container: what is kept, and why what is not kept is not.
#include "cli/demo/journey.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.hpp"
#include "cli/demo/model.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {
namespace {

struct Stop {
  std::string_view file;
  std::optional<DType> dtype = {};
};
// ALT has no bf16 and widens it; the way back asks for it again.
constexpr std::string_view kStart = "mistral/";
constexpr Stop kStops[] = {
    {"mistral.alt"}, {"mistral-again/", DType::bf16}, {"mistral.mcf"}, {"mistral.zt"}, {"mistral.npz"}};
constexpr std::uint64_t kShardBytes = 96 << 10;  // two shards

std::uint64_t bytes_at(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return std::filesystem::file_size(path);
  std::uint64_t total = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) total += entry.file_size();
  return total;
}

class Journey {
 public:
  Journey(const std::string& directory, const Arguments& arguments, Session& session)
      : directory_(directory), arguments_(arguments), session_(session) {}

  bool run() {
    const Model model = mistral_model();
    WriteOptions write;
    write.threads = arguments_.threads();
    write.shard_bytes = kShardBytes;
    find_format("hf")->write_tree(model, path_of(kStart), write, arguments_.has("force"));
    before_ = original_ = open_at(kStart);
    digest_before_ = digest_ = content_digest(original_, arguments_.threads());
    session_.line(fmt::format("A downloaded model of {}, {}, {}: bf16 in two shards.",
                              counted(original_.tensors.size(), "tensor"), size_text(tensor_bytes(original_)),
                              counted(original_.vocabulary.tokens.size(), "token")));
    session_.line(digest_);
    session_.line();
    report("", kStart, {});
    std::string_view from = kStart;
    for (const Stop& stop : kStops) {
      visit(from, stop);
      from = stop.file;
    }
    table_.print(session_);
    session_.line();
    for (const std::string& remark : remarks_) session_.line(printable(remark));
    return good_;
  }

 private:
  std::string path_of(std::string_view file) const { return fmt::format("{}/{}", directory_, file); }
  Model open_at(std::string_view file) const { return open(path_of(file), read_options(arguments_)); }

  void visit(std::string_view from, const Stop& stop) {
    ConvertOptions options;
    options.read = read_options(arguments_);
    options.write.threads = options.adapt.threads = arguments_.threads();
    options.adapt.dtype = stop.dtype;
    options.overwrite = arguments_.has("force");
    const Conversion done = convert(path_of(from), path_of(stop.file), options);
    const std::string flag = stop.dtype ? fmt::format("--dtype {}", name_of(*stop.dtype)) : "";
    for (const std::string& change : done.changes)
      remarks_.push_back(fmt::format("{} -> {}: {}", from, stop.file, change));
    report(flag, stop.file, done.changes);
  }

  // What is said is against the start; what needs a reason is a change since the stop before.
  void report(std::string_view flag, std::string_view file, const std::vector<std::string>& changes) {
    const Model model = open_at(file);
    const std::string digest = content_digest(model, arguments_.threads());
    const bool as_before =
        digest == digest_before_ && model.config == before_.config && model.vocabulary == before_.vocabulary;
    good_ = good_ && (as_before || !changes.empty());
    const auto cell = [&](bool kept) {
      return kept ? Cell("kept", Style::green)
                  : Cell("changed", as_before || !changes.empty() ? Style::yellow : Style::red);
    };
    table_.add({Cell(file, Style::cyan), flag, count_text(bytes_at(path_of(file))), count_text(model.tensors.size()),
                cell(digest == digest_), cell(model.config == original_.config),
                cell(model.vocabulary == original_.vocabulary), count_text(model.attachments.size())});
    before_ = model;
    digest_before_ = digest;
  }

  const std::string& directory_;
  const Arguments& arguments_;
  Session& session_;
  Model original_, before_;
  std::string digest_, digest_before_;
  Table table_{{{"FROM THE ONE ABOVE", Align::left, true},
                {"WITH"},
                {"BYTES", Align::right},
                {"TENSORS", Align::right},
                {"CONTENT"},
                {"CONFIG"},
                {"VOCABULARY"},
                {"FILES", Align::right}}};
  std::vector<std::string> remarks_;
  bool good_ = true;
};

}  // namespace

bool demo_journey(const std::string& directory, const Arguments& arguments, Session& session) {
  return Journey(directory, arguments, session).run();
}

}  // namespace tare::cli
