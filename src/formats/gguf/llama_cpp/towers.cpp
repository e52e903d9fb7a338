// The tower of a multimodal model, which llama.cpp reads from a file of its own ("mmproj"): general.architecture "clip",
// general.type "mmproj", names that begin with "v." and "mm.". What its tensors are called elsewhere, and which keys the
// file has, is in the table of towers (arch/towers.hpp).
//
// config.json and all other files stay with the text model.
#include "arch/towers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/budget.hpp"
#include "base/half.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/whole.hpp"
#include "formats/gguf/llama_cpp/arch_keys.hpp"
#include "formats/gguf/llama_cpp/towers.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "resources/config_parts.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using arch::Tower;
using arch::TowerForm;
using arch::TowerKey;

constexpr std::string_view kProjector = "projector_type", kHeads = "vision.attention.head_count",
                           kWidth = "vision.embedding_length", kLayers = "vision.block_count",
                           kTaps = "vision.is_deepstack_layers", kMmproj = "mmproj";

// The beginning of what a file states, for a message: a list may have a million numbers.
std::string shown_setting(const Value* value) {
  if (value == nullptr) return "none";
  std::string text = to_json(*value);
  const std::string_view begin = beginning(text, kQuotedBytes);
  return begin.size() == text.size() ? text : fmt::format("{}...", begin);
}

Error refused_tower(const std::string& sentence) {
  return Error(ErrorKind::unsupported, "convert.tower", sentence).blame(Subject::input);
}

Map file_of(const Model& model, std::string_view name) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return {};
  try {
    const Bytes bytes = file->blob.bytes(resources::kMaxSmallBytes);
    return resources::parse_small_json(as_text(bytes));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return {};
  }
}

// config.json and the files of the preprocessor. The later of the two takes precedence, and what it has for images alone.
struct TowerFiles {
  Map config, preprocessor;

  explicit TowerFiles(const Model& model) : config(file_of(model, "config.json")) {
    for (const std::string_view name : {"preprocessor_config.json", "processor_config.json"}) {
      const Map file = file_of(model, name);
      const auto take = [&](const Map& from) {
        for (const auto& [key, value] : from) preprocessor.set(key, value);
      };
      take(file);
      for (const std::string_view part : {"media_proc_cfg", "image_processor"})
        if (const Map* const inner = resources::get<Map>(file, part)) take(*inner);
    }
  }

  const Value* find(std::string_view path) const {
    for (const Map* const file : {&config, &preprocessor})
      if (const Value* const found = resources::find_path(*file, path); found != nullptr && !found->is_null())
        return found;
    return nullptr;
  }
  // The first of these that exists.
  const Value* find(const TowerKey& key) const {
    for (const std::string_view path : key.from)
      if (const Value* const found = path.empty() ? nullptr : find(path)) return found;
    return nullptr;
  }
  std::optional<double> number(std::string_view path) const {
    const Value* const found = find(path);
    return found == nullptr ? std::nullopt : resources::number_of(*found);
  }
  std::string text(std::string_view path) const {
    const Value* const found = find(path);
    return found != nullptr && found->text() != nullptr ? *found->text() : std::string();
  }
};

// The numbers of the layers in a list of config.json.
std::vector<std::uint32_t> listed_layers(const Value* value) {
  std::vector<std::uint32_t> layers;
  const List* const list = value == nullptr ? nullptr : value->get<List>();
  constexpr std::uint64_t kMost = 1 << 16;
  for (const Value& item : list == nullptr ? List() : *list)
    if (const auto layer = resources::count_of(item); layer && *layer < kMost)
      layers.push_back(static_cast<std::uint32_t>(*layer));
    else
      throw refused_tower(fmt::format("expected numbers of layers, found {}", shown_setting(value)));
  return layers;
}

class TowerKeys {
 public:
  TowerKeys(const Tower& tower, const TowerFiles& files, Model& model) : tower_(tower), files_(files), model_(model) {}

  void run() {
    set(kProjector, std::string(tower_.projector));
    for (const std::span<const TowerKey> keys : tower_.keys)
      for (const TowerKey& key : keys) add(key);
    for (const auto& [key, path] : {std::pair("vision.image_mean", "image_mean"), {"vision.image_std", "image_std"}})
      add_colors(key, path);
  }

 private:
  void set(std::string_view key, Value value) { model_.metadata.set(key_of(tower_.form, key), std::move(value)); }

  [[noreturn]] void refuse(const TowerKey& key, std::string_view expected) const {
    std::vector<std::string_view> names;
    for (const std::string_view name : key.from)
      if (!name.empty()) names.push_back(name);
    const Value* const found = files_.find(key);
    throw refused_tower(
        fmt::format("expected {} under {}, found {}", expected, fmt::join(names, " or "), shown_setting(found)));
  }

  double number(const TowerKey& key) const {
    const Value* const found = files_.find(key);
    if (found == nullptr && key.otherwise != 0) return key.otherwise;
    // InternVL states both sides of an image.
    const List* const list = found == nullptr ? nullptr : found->get<List>();
    const auto stated =
        found == nullptr ? std::nullopt : resources::number_of(list != nullptr && !list->empty() ? (*list)[0] : *found);
    if (!stated) refuse(key, "a number");
    return *stated;
  }
  std::int64_t count(const TowerKey& key) const {
    const double found = number(key);
    constexpr double kMost = 1 << 30;
    if (!(found >= 1 && found <= kMost) || std::trunc(found) != found) refuse(key, "a whole number above 0");
    return static_cast<std::int64_t>(found);
  }

  void add(const TowerKey& key) {
    switch (key.form) {
      case TowerForm::count: return set(key.key, count(key));
      case TowerForm::optional_count:
        if (const Value* const found = files_.find(key); found != nullptr && resources::number_of(*found) != 0.0)
          set(key.key, count(key));
        return;
      case TowerForm::real: return set(key.key, decimal_double(f64_to_f32(number(key))));
      case TowerForm::always: return set(key.key, true);
      case TowerForm::activation:
        if (files_.text(key.from[0]) == key.text) set(key.key, true);
        return;
      case TowerForm::side:
        return set(key.key,
                   whole_part(std::sqrt(number(key)) * files_.number("vision_config.patch_size").value_or(16)));
      case TowerForm::windows: return add_windows(key);
      case TowerForm::taps: return add_taps(key);
      case TowerForm::pooled: return add_pooled(key);
      case TowerForm::ratio: return set(key.key, whole_part(1 / std::max(number(key), 1e-6)));
    }
  }

  // A layer that sees everything comes after as many others each time.
  void add_windows(const TowerKey& key) {
    const std::vector<std::uint32_t> layers = listed_layers(files_.find(key));
    if (layers.empty()) refuse(key, "the layers that see everything");
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (layers[i] != (layers[0] + 1) * (i + 1) - 1) refuse(key, "layers at equal distances");
    set(key.key, std::int64_t{layers[0]} + 1);
  }

  void add_taps(const TowerKey& key) {
    const auto layers = resources::number_of(*model_.metadata.find(key_of(tower_.form, kLayers)));
    const auto all = static_cast<std::size_t>(layers.value_or(0));
    require_count(all, "layers");
    List flags(all, Value(false));
    for (const std::uint32_t layer : listed_layers(files_.find(key))) {
      if (layer >= all) refuse(key, fmt::format("numbers of {} layers", all));
      flags[layer] = Value(true);
    }
    if (!flags.empty()) set(key.key, std::move(flags));
  }

  void add_pooled(const TowerKey& key) {
    constexpr double kUsualTokens = 256;
    const Value* const found = files_.find(key);
    const double tokens = found == nullptr ? kUsualTokens : resources::number_of(*found).value_or(kUsualTokens);
    const double patch = files_.number("vision_config.patch_size").value_or(0);
    const double patches = patch >= 1 ? std::floor(files_.number("vision_config.image_size").value_or(0) / patch) : 0;
    const double each = std::floor(patches / std::max(std::floor(std::sqrt(tokens)), 1.0));
    if (each > 0 && each != key.otherwise) set(key.key, whole_part(each));
  }

  void add_colors(std::string_view key, std::string_view path) {
    const Value* const found = resources::find_path(files_.preprocessor, path);
    const List* const said = found == nullptr ? nullptr : found->get<List>();
    List numbers;
    for (const Value& item : said == nullptr ? List() : *said)
      if (const auto number = resources::number_of(item)) numbers.emplace_back(decimal_double(f64_to_f32(*number)));
    constexpr std::size_t kColors = 3;
    if (numbers.size() != kColors)
      throw refused_tower(fmt::format("expected three numbers under {} of preprocessor_config.json, found {}", path,
                                      shown_setting(found)));
    set(key, std::move(numbers));
  }

  const Tower& tower_;
  const TowerFiles& files_;
  Model& model_;
};

// The vector of the token after each row of an image.
Tensor line_end_of(const Model& model, const Tower& tower) {
  const auto token = std::ranges::find(model.vocabulary.tokens, tower.line_end, &Token::text);
  const auto table = std::ranges::find_if(model.tensors, [&](const Tensor& tensor) {
    const auto name = arch::recognize(tensor.name);
    return name && name->name.role == arch::Role::token_embedding && name->dialect == arch::Dialect::hugging_face;
  });
  const auto row = static_cast<std::uint64_t>(token - model.vocabulary.tokens.begin());
  if (token == model.vocabulary.tokens.end() || table == model.tensors.end() || table->shape.rank() != 2 ||
      row >= table->shape[0])
    throw refused_tower(
        fmt::format("expected a row of the token table for the token \"{}\", found none", tower.line_end));
  const std::string name = arch::spell(tower.form, arch::Dialect::gguf, {.role = arch::Role::tower_line_end}).value();
  Tensor one = slice(to_dense(*table), parse_slice(fmt::format("{}", row)));
  one.name = name;
  return cast(one, DType::f32);
}

// Gives tensors that have numbers of their own those of their layers, or the other way around.
void renumber_taps(std::vector<Tensor>& tensors, const Tower& tower, std::span<const std::uint32_t> layers, bool back) {
  if (tower.taps_before.empty()) return;
  NameMap<std::uint32_t> numbers;  // the first place of each
  for (std::uint32_t i = 0; i < layers.size(); ++i)
    numbers.try_emplace(fmt::format("{}", back ? layers[i] : i), back ? i : layers[i]);
  for (Tensor& tensor : tensors) {
    const std::size_t at = tensor.name.find(tower.taps_before);
    if (at == tensor.name.npos) continue;
    const std::size_t begin = at + tower.taps_before.size(),
                      end = std::min(tensor.name.find('.', begin), tensor.name.size());
    if (const auto found = numbers.find(tensor.name.substr(begin, end - begin)); found != numbers.end())
      tensor.name = fmt::format("{}{}{}", tensor.name.substr(0, begin), found->second, tensor.name.substr(end));
  }
}

// `tensors`: those of the tower, as config.json's program names them; they decide if there are several.
const Tower& known_tower(const Map& config, std::span<const Tensor> tensors) {
  const std::string* const type = resources::get<std::string>(config, "model_type");
  const Tower* tower = type == nullptr ? nullptr : arch::find_tower(*type);
  const auto known = [&](const Tower& one) {
    return std::ranges::count_if(tensors, [&](const Tensor& tensor) {
      return arch::parse(one.form, arch::Dialect::hugging_face, tensor.name).has_value();
    });
  };
  if (tower != nullptr)
    for (const Tower& other : arch::towers())
      if (arch::is_tower_of(other, *type) && known(other) > known(*tower)) tower = &other;
  if (tower == nullptr)
    throw refused_tower(fmt::format("no vision tower of a {} model is known",
                                    type == nullptr ? std::string("nameless") : quote(*type)));
  if (tower->projector.empty())
    throw refused_tower(fmt::format("what llama.cpp calls the vision tower of {} is not known here", tower->title));
  const Value* const vision = resources::find_path(config, "vision_config.model_type");
  if (!tower->vision_type.empty() && (vision == nullptr || *vision != Value(tower->vision_type)))
    throw refused_tower(fmt::format("expected a tower of the type {}, found {}, which llama.cpp does not know",
                                    tower->vision_type, shown_setting(vision)));
  return *tower;
}

// The tower whose names the file recorded, if its type has several.
const Tower& named_tower(const Tower& first, const Model& file) {
  const Value* const said = file.metadata.find(kTowerKey);
  for (const Tower& tower : arch::towers())
    if (said != nullptr && *said == Value(tower.form.name) && tower.projector == first.projector) return tower;
  return first;
}

// What decides how rows of the tower move.
Config tower_config(std::optional<double> heads, std::optional<double> width) {
  Config config;
  config.model_type = std::string(arch::kTowerArchitecture);
  if (heads) config.num_attention_heads = whole_part(*heads);
  if (width) config.hidden_size = whole_part(*width);
  return config;
}

}  // namespace

void leave_out_tower(Model& model, const arch::Tower& tower, std::vector<Change>& changes) {
  std::vector<std::string> names;
  std::erase_if(model.tensors, [&](const Tensor& tensor) {
    if (!arch::is_of_tower(tower, tensor.name)) return false;
    names.push_back(tensor.name);
    return true;
  });
  if (names.empty()) return;
  model.metadata.set(kTowerKey, "in a file of its own");
  changes.push_back(
      {.kind = ChangeKind::remark,
       .impact = Impact::lost,
       .part = std::string(kTowerPart),
       .items = names,
       .detail = fmt::format("this is the text model of {}: {} {} of its vision tower, which llama.cpp reads "
                             "from a file of its own, {} not in it",
                             tower.title, names.size(), names.size() == 1 ? "tensor" : "tensors",
                             names.size() == 1 ? "is" : "are"),
       .remedies = {{Remedy::attach, "tower"}}});
}

bool lacks_tower(const Model& model) { return model.metadata.find(kTowerKey) != nullptr; }

void forget_tower(Model& model, std::vector<Change>& changes) {
  constexpr std::string_view kFiles[] = {"config.json", "preprocessor_config.json", "processor_config.json",
                                         "video_preprocessor_config.json"};
  model.metadata.erase(kTowerKey);
  std::vector<std::string> files;
  std::erase_if(model.attachments, [&](const Attachment& file) {
    if (std::ranges::find(kFiles, file.name) == std::end(kFiles)) return false;
    files.push_back(file.name);
    return true;
  });
  if (!files.empty())
    changes.push_back({.kind = ChangeKind::left_out,
                       .impact = Impact::changed,
                       .part = std::string(kTowerPart),
                       .items = std::move(files),
                       .detail = "the file has the text model alone, for which config.json is made of its keys"});
}

Model adopt_tower(const Model& model, std::vector<Change>& changes) {
  const TowerFiles files(model);
  const Tower& tower = known_tower(files.config, model.tensors);
  Model made;
  made.format = model.format;
  made.sources = model.sources;
  for (const Tensor& tensor : model.tensors)
    if (arch::is_of_tower(tower, tensor.name)) made.tensors.push_back(tensor);
  if (made.tensors.empty()) throw refused_tower("the model has no tensors of a vision tower");
  renumber_taps(made.tensors, tower, listed_layers(files.find(tower.taps)), false);
  made.config =
      tower_config(files.find("vision_config.num_attention_heads") ? files.number("vision_config.num_attention_heads")
                                                                   : files.number("vision_config.num_heads"),
                   files.number("vision_config.hidden_size"));
  std::vector<Renamed> renamed;
  adopt_tensors(made, tower.form, ConfigFile(Map()), changes, renamed);
  if (!tower.line_end.empty()) made.tensors.push_back(line_end_of(model, tower));
  made.config = {};
  made.config.model_type = std::string(arch::kTowerArchitecture);
  TowerKeys(tower, files, made).run();
  adopt_general(made, ConfigFile(files.config));
  made.metadata.erase("general.size_label");
  if (&tower != arch::find_tower(tower.model_types.front())) made.metadata.set(kTowerKey, std::string(tower.form.name));
  made.metadata.set("general.type", std::string(kMmproj));
  made.metadata.set("general.quantization_version", 2);
  retyped(made, true, {});
  return made;
}

void join_tower(Model& model, Model tower, std::vector<Change>& changes) {
  const Map config = file_of(model, "config.json");
  if (config.empty())
    throw refused_tower("the file of the text model carries no config.json, which a directory of both needs");
  const Tower& known = named_tower(known_tower(config, {}), tower);
  const Value* const projector = tower.metadata.find(key_of(known.form, kProjector));
  if (projector == nullptr || *projector != Value(known.projector))
    throw refused_tower(fmt::format("expected a tower with the projector \"{}\" of {}, found {}", known.projector,
                                    known.title, shown_setting(projector)));
  const ArchKeys keys(tower, known.form);
  tower.config = tower_config(keys.number(kHeads), keys.number(kWidth));
  const Value* const said = tower.metadata.find(kRootKey);
  const auto root = said == nullptr || said->text() == nullptr ? std::nullopt : arch::parse_root(*said->text());
  const auto line_end = arch::spell(known.form, arch::Dialect::gguf, {.role = arch::Role::tower_line_end});
  std::erase_if(tower.tensors, [&](const Tensor& tensor) { return line_end && tensor.name == *line_end; });
  model.metadata.erase(kTowerKey);
  std::vector<Renamed> renamed;
  release(model, changes, renamed);
  if (renamed.empty()) throw refused_tower("the tensors of the text model do not have llama.cpp's names");
  const Way way{.root = root.value_or(known.form.root), .has_config = true};  // no biases of zeros are added
  release_tensors(tower, known.form, way, changes, renamed);
  std::vector<std::uint32_t> layers;
  if (const Value* const flags = keys.find(kTaps); flags != nullptr && flags->get<List>() != nullptr)
    for (std::uint32_t layer = 0; layer < flags->get<List>()->size(); ++layer)
      if ((*flags->get<List>())[layer] == true) layers.push_back(layer);
  renumber_taps(tower.tensors, known, layers, true);
  for (Tensor& tensor : tower.tensors) model.tensors.push_back(std::move(tensor));
  model.sources.insert(model.sources.end(), tower.sources.begin(), tower.sources.end());
  changes.push_back({.impact = Impact::detail,
                     .detail = fmt::format("the text model and its vision tower ({} tensors) are one model again",
                                           tower.tensors.size())});
}

}  // namespace tare::gguf::llama_cpp
