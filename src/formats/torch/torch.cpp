// PyTorch checkpoints, files of torch.save: .pt, .pth, .bin, .ckpt.
//
// Since PyTorch 1.6 a zip archive (archive.cpp), all members stored, in one folder of any name:
//   FOLDER/data.pkl      a pickle of the saved object
//   FOLDER/data/KEY      the bytes of a storage, on a boundary of 64 bytes
//   FOLDER/byteorder     "little" or "big"; missing: little
//   FOLDER/version       and others that do not describe the model
// Before that one stream (legacy.cpp):
//   pickle, pickle       the numbers 0x1950a86a20f9469cfc6c and 1001
//   pickle               a dict about the machine: its byte order
//   pickle               the saved object
//   pickle               a list of the keys of the storages, and for each, in this order:
//     count              of elements, 8 bytes
//     elements
//
// A pickle is a program. It is interpreted without running anything (wire/pickle.hpp), and only the globals of
// globals.cpp may appear in it. A tensor is a call such as _rebuild_tensor_v2(storage, offset, sizes, strides, ...), of
// which only the arguments are read (tensors.cpp); a storage is a persistent id. Tensors in another order are converted
// to C order while they are read; tensors that share a storage share its bytes.
//
// The object is a tensor or a collection of tensors: nested dicts and lists are flattened, with their keys joined by
// dots (tree.cpp). Everything else becomes metadata.
//
// A directory with .metadata and *.distcp is also one model (distributed.cpp).
//
// Refused: every other global; TorchScript (its tensors need the program); the tar archives of PyTorch 0.1; writing.
#include "formats/torch/torch.hpp"

#include "formats/registry_limits.hpp"
#include "formats/rows.hpp"
#include "formats/unknown.hpp"
#include "io/places.hpp"
#include "model/element_types.hpp"

namespace tare::torch {
namespace {

bool recognize(const Source& source) { return is_archive(source) || is_pickle(source) || is_old_tar(source); }

// Returns the path of NAME.bin.index.json next to NAME-00001-of-00002.bin, if it names that file; empty otherwise.
std::string companion_index(const std::string& path) {
  constexpr std::string_view kBin = ".bin", kOf = "-of-";
  const std::size_t slash = path.rfind('/') + 1, of = path.rfind(kOf);
  if (!path.ends_with(kBin) || of == std::string::npos || of < slash) return {};
  const std::string_view count =
      std::string_view(path).substr(of + kOf.size(), path.size() - of - kOf.size() - kBin.size());
  const std::size_t dash = path.rfind('-', of - 1);
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (dash == std::string::npos || dash < slash || !is_number(count) ||
      !is_number(std::string_view(path).substr(dash + 1, of - dash - 1)))
    return {};
  std::string index = path.substr(0, dash) + ".bin.index.json";
  return io::has_neighbours(index) && io::is_file(index) ? index : std::string();
}

Model read(const Input& input, const ReadOptions& options) {
  const SourcePtr& source = input.source;
  // `open` has made a budget, but callers of the row itself have none: without one, nested lists could be expanded
  // without end.
  const Spending spending(allowance_of(options.limits));
  if (spending.is_outermost() && source != nullptr) grant_source(*source);
  if (source == nullptr) return read_distributed(input.path, options);
  if (is_old_tar(*source))
    throw Error(ErrorKind::unsupported, "torch.tar",
                "a tar archive of PyTorch 0.1, which is not read; load and save it with a PyTorch before 2.0")
        .in(source->name())
        .at(0);
  if (const std::string index = companion_index(input.path); !index.empty()) return open(index, options);
  if (is_archive(*source)) return read_archive(source, options);
  if (is_pickle(*source)) return read_legacy(source, options);
  // Only the name suggests this format, and .bin suggests little: many programs use it.
  const bool named = !source->name().ends_with(".bin") || source->name().ends_with("pytorch_model.bin");
  throw Error(ErrorKind::unsupported, named ? "torch.unrecognized" : "open.unrecognized", words_for(*source))
      .in(source->name())
      .at(0);
}

constexpr std::string_view kSuffixes[] = {".pt", ".pth", ".bin", ".ckpt"};
constexpr std::string_view kLayouts[] = {"dense", "sparse_coo", "sparse_csr", "packed.f4_e2m1"};
// Versions of modules, which only PyTorch reads.
constexpr OwnKey kOwnKeys[] = {{.key = "torch._metadata", .about_file = true}};

}  // namespace

constinit const Format kFormat = {
    .name = "torch",
    .title = "PyTorch",
    .versions = "reads the zip layout and the one before PyTorch 1.6, and executes nothing; write safetensors instead",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kAllDTypes, .logical_types = kLogicalNames, .layouts = kLayouts, .metadata = Room::tree},
    .recognize = recognize,
    .read = read,
    .own_keys = kOwnKeys,
    .recognize_tree = is_distributed,
};

}  // namespace tare::torch
