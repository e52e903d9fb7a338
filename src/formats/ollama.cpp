// Ollama's store is a directory: OLLAMA_MODELS, or .ollama/models in the user's home, or that of the system's service.
//
//   manifests/HOST/NAMESPACE/NAME/TAG   JSON: "config" and "layers", each with mediaType, digest, size and maybe a name
//   blobs/sha256-DIGEST                 the bytes of a layer
//
// mediaType is application/vnd.ollama.image. and a kind:
//   model               the weights, one GGUF file
//   tensor              a safetensors file with one tensor, or a few that belong together
//   json, config        with a name: a file such as config.json
//   template, system, params, messages, license   what belongs to a conversation: attachments
//   projector, adapter  other models, which are not part of this one
//
// A name is [[HOST/]NAMESPACE/]NAME[:TAG]. Without a host, every host in the store is looked at; the namespace is
// "library", the tag "latest". Digests become file names only if they are 64 hexadecimal digits, and links may not lead out
// of the store.
#include "formats/ollama.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "formats/registry_limits.hpp"
#include "io/links.hpp"
#include "io/listing.hpp"
#include "model/pull_blob.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/error.hpp"

namespace tare::ollama {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "library", kLatest = "latest", kKind = "application/vnd.ollama.image.";
constexpr std::string_view kSystem = "/usr/share/ollama/.ollama/models";
constexpr std::uint64_t kMostManifest = std::uint64_t{16} << 20, kMostText = std::uint64_t{16} << 20;
constexpr std::size_t kMostLayers = 200'000;

[[noreturn]] void fail(ErrorKind kind, std::string_view rule, const std::string& sentence, const std::string& file) {
  throw Error(kind, rule, sentence).in(file);
}

// The stores of this user and of the system. Only the one that the environment names, if it names one.
std::vector<std::string> stores() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string own = variable("OLLAMA_MODELS"); !own.empty()) return {own};
  std::vector<std::string> found;
  if (const std::string home = variable("HOME"); !home.empty()) found.push_back(home + "/.ollama/models");
  found.emplace_back(kSystem);
  return found;
}

struct Name {
  std::string host, space, name, tag;  // no host: any
};

bool is_part(std::string_view text, bool host) {
  constexpr std::size_t kLongest = 255;
  const auto is_usual = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || (host && c == ':');
  };
  return !text.empty() && text.size() <= kLongest && text[0] != '.' && std::ranges::all_of(text, is_usual);
}

Name parse(const std::string& path) {
  std::string_view left = std::string_view(path).substr(kScheme.size());
  Name name;
  const std::size_t slash = left.rfind('/') + 1, colon = left.rfind(':');  // npos + 1 is 0
  name.tag = kLatest;
  if (colon != left.npos && colon >= slash) {
    name.tag = left.substr(colon + 1);
    left = left.substr(0, colon);
  }
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t end = std::min(left.find('/', begin), left.size());
    parts.emplace_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  const bool three = parts.size() == 3;
  if (three) name.host = parts[0];
  name.space = parts.size() < 2 ? std::string(kLibrary) : parts[parts.size() - 2];
  name.name = parts.back();
  if (parts.size() > 3 || (three && !is_part(name.host, true)) || !is_part(name.space, false) ||
      !is_part(name.name, false) || !is_part(name.tag, false))
    fail(ErrorKind::usage, "ollama.name",
         fmt::format("expected ollama:[[HOST/]NAMESPACE/]NAME[:TAG], found {}", quote(path)), path);
  return name;
}

// The folders in a directory whose names can be parts of a model's name.
std::vector<std::string> folders_in(const std::string& path, bool hosts) {
  std::vector<std::string> found;
  std::error_code failed;
  for (const std::string& name : io::names_in(path, failed))
    if (is_part(name, hosts) && fs::is_directory(io::path_in(path, name), failed)) found.push_back(name);
  return found;
}

struct Place {
  std::string store, manifest;
};

Place find(const std::string& path) {
  const Name name = parse(path);
  std::vector<Place> found;
  std::vector<std::string> looked;
  for (const std::string& store : stores()) {
    const std::string manifests = store + "/manifests";
    looked.push_back(store);
    for (const std::string& host :
         name.host.empty() ? folders_in(manifests, true) : std::vector<std::string>{name.host}) {
      std::string manifest = fmt::format("{}/{}/{}/{}/{}", manifests, host, name.space, name.name, name.tag);
      std::error_code none;
      if (fs::is_regular_file(manifest, none)) found.push_back({store, std::move(manifest)});
    }
    if (!found.empty()) break;
  }
  if (found.empty())
    fail(ErrorKind::not_found, "ollama.missing", fmt::format("there is no such model in {}", fmt::join(looked, " or ")),
         path);
  if (found.size() > 1)
    fail(ErrorKind::usage, "ollama.ambiguous",
         fmt::format("models of {} hosts have this name; write the host before it, as in {} or {}", found.size(),
                     found[0].manifest, found[1].manifest),
         path);
  return std::move(found.front());
}

struct Layer {
  std::string kind, name, digest;
  std::optional<std::uint64_t> size;
};

struct Manifest {
  std::vector<Layer> layers;
  std::optional<Layer> config;
};

bool is_digest(std::string_view text) {
  constexpr std::string_view kAlgorithm = "sha256:";
  return text.starts_with(kAlgorithm) && text.size() == kAlgorithm.size() + 64 &&
         text.substr(kAlgorithm.size()).find_first_not_of("0123456789abcdef") == text.npos;
}

Layer layer_of(const Value& value, const std::string& file) {
  const Map* const entry = value.get<Map>();
  if (entry == nullptr) fail(ErrorKind::corrupt, "ollama.manifest", "a layer that is not an object", file);
  const auto text = [&](std::string_view key) {
    const std::string* const found = resources::get<std::string>(*entry, key);
    return found == nullptr ? std::string() : *found;
  };
  Layer layer;
  layer.digest = text("digest");
  layer.name = text("name");
  const std::string type = text("mediaType");
  if (type.starts_with(kKind)) layer.kind = type.substr(kKind.size(), type.find(';') - kKind.size());
  if (const Value* const size = entry->find("size")) layer.size = resources::count_of(*size);
  if (!is_digest(layer.digest))
    fail(ErrorKind::corrupt, "ollama.digest",
         fmt::format("a layer has the digest {}, which is not a SHA-256", quote(layer.digest)), file);
  return layer;
}

Manifest read_manifest(const SourcePtr& source) {
  const std::string& file = source->name();
  if (source->size() > kMostManifest)
    fail(ErrorKind::limit, "ollama.manifest",
         fmt::format("expected a manifest of at most {} bytes, found {}", kMostManifest, source->size()), file);
  Bytes bytes(source->size());
  source->read(0, bytes);
  Map root;
  try {
    root = resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (Error& error) {
    throw error.in(file);
  }
  const List* const layers = resources::get<List>(root, "layers");
  if (layers == nullptr) fail(ErrorKind::corrupt, "ollama.manifest", "the list of layers is missing", file);
  if (layers->size() > kMostLayers)
    fail(ErrorKind::limit, "ollama.manifest",
         fmt::format("expected at most {} layers, found {}", kMostLayers, layers->size()), file);
  Manifest manifest;
  for (const Value& layer : *layers) manifest.layers.push_back(layer_of(layer, file));
  if (const Value* const config = root.find("config"); config != nullptr && config->get<Map>() != nullptr)
    manifest.config = layer_of(*config, file);
  return manifest;
}

class Opener {
 public:
  Opener(PackedForm form, Place place, const ReadOptions& options)
      : form_(form),
        place_(std::move(place)),
        links_(place_.store),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics) {}

  Model run() {
    const CountedAsOne counted(options_.limits);
    const SourcePtr source = opened(place_.manifest);
    const Manifest manifest = read_manifest(source);
    std::vector<const Layer*> models, tensors;
    for (const Layer& layer : manifest.layers) {
      if (layer.kind == "model") models.push_back(&layer);
      if (layer.kind == "tensor") tensors.push_back(&layer);
    }
    if (models.size() + (tensors.empty() ? 0 : 1) != 1)
      fail(ErrorKind::unsupported, "ollama.layers",
           fmt::format("expected weights in one layer, or in layers of tensors; found {} and {}", models.size(),
                       tensors.size()),
           place_.manifest);
    if (tensors.empty())
      take_model(*models.front());
    else
      take_tensors(tensors);
    for (const Layer& layer : manifest.layers) add_file(layer);
    if (manifest.config) add_config(*manifest.config);
    if (!tensors.empty()) resources::describe(model_, diagnostics_);
    model_.sources.push_back(source);
    return std::move(model_);
  }

 private:
  SourcePtr opened(const std::string& path) {
    if (const auto outside = links_.outside(path)) fail(ErrorKind::unsupported, "io.open.outside", *outside, path);
    SourcePtr source = open_file(path, options_.access);
    if (!links_.allow(*source))
      fail(ErrorKind::unsupported, "io.open.outside", "was exchanged for another file while it was opened", path);
    return source;
  }

  // Each is opened once, however many layers it is.
  SourcePtr blob(const Layer& layer) {
    SourcePtr& source = blobs_[layer.digest];
    if (source == nullptr) source = opened_blob(layer);
    if (layer.size && *layer.size != source->size())
      fail(ErrorKind::corrupt, "ollama.blob.size",
           fmt::format("the manifest states {} bytes, the file has {}", *layer.size, source->size()), source->name());
    if (diagnostics_.thorough()) verify(layer, source);
    return source;
  }

  SourcePtr opened_blob(const Layer& layer) {
    const std::string path = fmt::format("{}/blobs/sha256-{}", place_.store, layer.digest.substr(7));
    std::error_code none;
    if (!fs::exists(path, none))
      fail(ErrorKind::not_found, "ollama.blob.missing",
           fmt::format("the model is not complete: the layer {} does not exist; pull it again", layer.digest), path);
    return opened(path);
  }

  void verify(const Layer& layer, const SourcePtr& source) {
    if (!verified_.insert(layer.digest).second) return;
    Hasher hasher(DigestAlgorithm::sha256);
    pull_blob(Blob::range(source, 0, source->size()), [&](std::span<const std::byte> bytes) {
      hasher.update(bytes);
      return true;
    });
    const Digest found = hasher.finish();
    if (found.hex() != layer.digest.substr(7))
      diagnostics_.error(Error(ErrorKind::corrupt, "ollama.blob.digest",
                               fmt::format("its SHA-256 is {}, not the one of its name", found.hex()))
                             .in(source->name()));
  }

  void take_model(const Layer& layer) { model_ = open_as(form_, blob(layer), options_); }

  void take_tensors(const std::vector<const Layer*>& layers) {
    NameSet names;
    Map facts;
    for (const Layer* const layer : layers) {
      Model part = open_as(PackedForm::stored, blob(*layer), options_);
      for (Tensor& tensor : part.tensors) {
        if (!names.insert(tensor.name).second) {
          const Error twice = Error(ErrorKind::corrupt, "ollama.tensor.duplicate", "two layers have this tensor")
                                  .in(place_.manifest)
                                  .about("tensor " + quote(tensor.name));
          diagnostics_.tensor_error(twice);
          Tensor broken;
          broken.name = tensor.name;
          model_.broken.push_back({std::move(broken), twice});
          continue;
        }
        model_.tensors.push_back(std::move(tensor));
      }
      for (BrokenTensor& tensor : part.broken) model_.broken.push_back(std::move(tensor));
      // How the tensors of a layer were quantized.
      if (!part.metadata.empty()) facts.append(layer->name, std::move(part.metadata));
      model_.file_bytes += part.file_bytes;
      model_.sources.insert(model_.sources.end(), part.sources.begin(), part.sources.end());
      model_.format = part.format;
      model_.version = part.version;
    }
    if (!facts.empty()) model_.metadata.append("ollama.tensors", std::move(facts));
  }

  void attach(const std::string& name, const Layer& layer) {
    charge_values(kAttachmentPrice);
    if (attached_.empty())
      for (const Attachment& own : model_.attachments) attached_.insert(own.name);
    std::string unused = name;
    // Each number is tried once, however many layers want the name.
    for (unsigned& next = next_[name]; !attached_.insert(unused).second;)
      unused = fmt::format("{}.{}", name, ++next + 1);
    const SourcePtr source = blob(layer);
    model_.attachments.push_back({std::move(unused), Blob::range(source, 0, source->size())});
    if (sources_.insert(layer.digest).second) model_.sources.push_back(source);
  }

  void add_file(const Layer& layer) {
    for (const std::string_view kind : {"template", "system", "license"})
      if (layer.kind == kind) return attach(fmt::format("ollama/{}", kind), layer);
    for (const std::string_view kind : {"params", "messages"})
      if (layer.kind == kind) return attach(fmt::format("ollama/{}.json", kind), layer);
    if (layer.kind == "json" || layer.kind == "config") {
      if (!is_file_name(layer.name)) {
        diagnostics_.warning(Error(ErrorKind::corrupt, "ollama.layer.name",
                                   fmt::format("a file is called {}, which is not a path inside a model; it is omitted",
                                               quote(layer.name)))
                                 .in(place_.manifest));
        return;
      }
      return attach(layer.name, layer);
    }
    if (layer.kind != "model" && layer.kind != "tensor")
      diagnostics_.left_behind(
          Error(ErrorKind::unsupported, "ollama.layer.kind",
                fmt::format("a layer of the kind {} is not part of the model that is read", quote(layer.kind)))
              .in(place_.manifest));
  }

  static bool is_file_name(std::string_view name) {
    for (std::size_t begin = 0; begin <= name.size();) {
      const std::size_t end = std::min(name.find('/', begin), name.size());
      if (!is_part(name.substr(begin, end - begin), false)) return false;
      begin = end + 1;
    }
    return name.size() <= 1024;
  }

  // What Ollama states about the model: its family, its size, the type of most weights.
  void add_config(const Layer& layer) {
    const SourcePtr source = blob(layer);
    if (source->size() > kMostText) return;
    Bytes bytes(source->size());
    source->read(0, bytes);
    try {
      model_.metadata.set("ollama.config",
                          resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::corrupt) throw;
      diagnostics_.warning(error.reworded(fmt::format("{}; it is ignored", error.sentence())));
    }
  }

  PackedForm form_;
  Place place_;
  Links links_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  Model model_;
  NameSet verified_, attached_, sources_;
  NameMap<SourcePtr> blobs_;
  NameMap<unsigned> next_;  // the last number that was put after a name
};

}  // namespace

Model open_named(PackedForm form, const std::string& name, const ReadOptions& options) {
  return Opener(form, find(name), options).run();
}

std::vector<Stored> list() {
  std::vector<Stored> found;
  const Spending spending;
  for (const std::string& store : stores()) {
    const std::string manifests = store + "/manifests";
    for (const std::string& host : folders_in(manifests, true))
      for (const std::string& space : folders_in(fmt::format("{}/{}", manifests, host), false))
        for (const std::string& name : folders_in(fmt::format("{}/{}/{}", manifests, host, space), false)) {
          const std::string folder = fmt::format("{}/{}/{}/{}", manifests, host, space, name);
          std::error_code failed;
          for (const std::string& tag : io::names_in(folder, failed)) {
            const std::string manifest = io::path_in(folder, tag);
            if (!is_part(tag, false) || !fs::is_regular_file(manifest, failed)) continue;
            Stored stored{fmt::format("{}{}/{}/{}:{}", kScheme, host, space, name, tag), manifest};
            try {
              const Manifest read = read_manifest(open_file(manifest, Access::pread));
              for (const Layer& layer : read.layers) {
                const auto sum = checked_add(stored.bytes, layer.size.value_or(0));
                stored.bytes = sum.value_or(stored.bytes);
              }
            } catch (const Error& error) {
              if (error.kind() == ErrorKind::limit) throw;
              stored.bytes = 0;
            }
            found.push_back(std::move(stored));
          }
        }
  }
  std::ranges::sort(found, {}, &Stored::name);
  return found;
}

void refuse_stored(const std::string& path, std::string_view doing) {
  const auto refuse = [&](const std::string& sentence) {
    throw Error(ErrorKind::usage, "ollama.write", fmt::format("{}, so it is not {}", sentence, doing))
        .in(path)
        .blame(Subject::output);
  };
  if (is_name(path)) refuse("a model of Ollama's store, whose files are named by their digests");
  const fs::path file(path);
  const std::string name = file.filename().native(), folder = file.parent_path().filename().native();
  std::error_code none;
  if (folder == "blobs" && name.starts_with("sha256-") && is_digest("sha256:" + name.substr(7)) &&
      fs::is_directory(io::path_in(file.parent_path().parent_path().native(), "manifests"), none))
    refuse("a blob of Ollama's store, which is named by its digest");
}

}  // namespace tare::ollama
