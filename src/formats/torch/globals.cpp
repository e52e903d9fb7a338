// The globals that a pickle may contain, and what each means. None is ever imported or called: the name of a function
// that rebuilds a tensor is enough to know what it would do.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "formats/torch/torch.hpp"

namespace tare::torch {
namespace {

struct Known {
  std::string_view module, name;
  Meaning meaning;
};

constexpr Known kKnown[] = {
    {"torch._utils", "_rebuild_tensor", Meaning::tensor},
    {"torch._utils", "_rebuild_tensor_v2", Meaning::tensor_v2},
    {"torch._utils", "_rebuild_tensor_v3", Meaning::tensor_v3},
    {"torch._utils", "_rebuild_parameter", Meaning::parameter},
    {"torch._utils", "_rebuild_parameter_with_state", Meaning::parameter},
    {"torch._tensor", "_rebuild_from_type_v2", Meaning::typed_tensor},
    {"torch._tensor", "_rebuild_from_type", Meaning::typed_tensor},
    {"torch.tensor", "_rebuild_from_type", Meaning::typed_tensor},
    {"torch._utils", "_rebuild_qtensor", Meaning::quantized},
    {"torch._utils", "_rebuild_sparse_tensor", Meaning::sparse},
    {"torch._utils", "_rebuild_sparse_csr_tensor", Meaning::sparse},
    {"torch._utils", "_rebuild_nested_tensor", Meaning::other_tensor},
    {"torch._utils", "_rebuild_meta_tensor_no_storage", Meaning::other_tensor},
    {"torch._utils", "_rebuild_wrapper_subclass", Meaning::other_tensor},
    {"torch._utils", "_rebuild_device_tensor_from_numpy", Meaning::other_tensor},
    {"torch._utils", "_rebuild_device_tensor_from_cpu_tensor", Meaning::other_tensor},
    {"collections", "OrderedDict", Meaning::dict},
    {"collections", "defaultdict", Meaning::dict},
    {"collections", "Counter", Meaning::dict},
    {"collections", "deque", Meaning::list},
    {"builtins", "set", Meaning::list},
    {"__builtin__", "set", Meaning::list},
    {"builtins", "frozenset", Meaning::list},
    {"__builtin__", "frozenset", Meaning::list},
    {"builtins", "list", Meaning::list},
    {"__builtin__", "list", Meaning::list},
    {"builtins", "dict", Meaning::dict},
    {"__builtin__", "dict", Meaning::dict},
    {"argparse", "Namespace", Meaning::object},
    {"types", "SimpleNamespace", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "Metadata", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "TensorStorageMetadata", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "BytesStorageMetadata", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "ChunkStorageMetadata", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "TensorProperties", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "MetadataIndex", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "StorageMeta", Meaning::object},
    {"torch.distributed.checkpoint.metadata", "_MEM_FORMAT_ENCODING", Meaning::enumeration},
    {"torch.distributed.checkpoint.filesystem", "_StorageInfo", Meaning::object},
    {"pathlib", "PosixPath", Meaning::copied},
    {"pathlib._local", "PosixPath", Meaning::copied},
    {"torch", "Size", Meaning::size},
    {"torch", "device", Meaning::text_of},
    {"torch.serialization", "_get_layout", Meaning::text_of},
    {"_codecs", "encode", Meaning::encoded},
    {"builtins", "bytearray", Meaning::copied},
    {"__builtin__", "bytearray", Meaning::copied},
    {"builtins", "bytes", Meaning::copied},
    {"__builtin__", "bytes", Meaning::copied},
    {"builtins", "complex", Meaning::copied},
    {"__builtin__", "complex", Meaning::copied},
    {"builtins", "range", Meaning::copied},
    {"__builtin__", "xrange", Meaning::copied},
    {"builtins", "slice", Meaning::copied},
    {"__builtin__", "slice", Meaning::copied},
    {"builtins", "int", Meaning::name},
    {"__builtin__", "int", Meaning::name},
    {"__builtin__", "long", Meaning::name},
    {"builtins", "float", Meaning::name},
    {"__builtin__", "float", Meaning::name},
    {"builtins", "str", Meaning::name},
    {"__builtin__", "unicode", Meaning::name},
    {"builtins", "bool", Meaning::name},
    {"__builtin__", "bool", Meaning::name},
    {"torch", "Tensor", Meaning::type},
    {"torch.nn.parameter", "Parameter", Meaning::type},
    {"torch.nn.parameter", "Buffer", Meaning::type},
    {"torch.storage", "UntypedStorage", Meaning::storage},
    {"torch", "UntypedStorage", Meaning::storage},
    {"torch", "per_tensor_affine", Meaning::scheme},
    {"torch", "per_tensor_symmetric", Meaning::scheme},
    {"torch", "per_channel_affine", Meaning::scheme},
    {"torch", "per_channel_symmetric", Meaning::scheme},
    {"torch", "per_channel_affine_float_qparams", Meaning::scheme},
};

// Element types of torch that Tare does not read.
constexpr std::string_view kOtherTypes[] = {"complex32", "bcomplex32", "quint4x2", "quint2x4", "bits8", "bits16",
                                            "bits1x8",   "bits2x4",    "bits4x2",  "int1",     "int2",  "int3",
                                            "int4",      "int5",       "int6",     "int7",     "uint1", "uint2",
                                            "uint3",     "uint4",      "uint5",    "uint6",    "uint7"};

// Modules with functions that run code, start programs, or reach files and the network.
constexpr std::string_view kDangerousModules[] = {
    "os",          "posix",    "nt",        "posixpath",  "ntpath",     "subprocess", "sys",
    "shutil",      "socket",   "pickle",    "_pickle",    "cPickle",    "dill",       "_dill",
    "cloudpickle", "joblib",   "importlib", "imp",        "runpy",      "code",       "codeop",
    "ctypes",      "_ctypes",  "commands",  "webbrowser", "urllib",     "urllib2",    "requests",
    "http",        "httplib",  "ftplib",    "smtplib",    "ssl",        "asyncio",    "multiprocessing",
    "pty",         "platform", "timeit",    "cProfile",   "profile",    "pdb",        "bdb",
    "pip",         "operator", "_operator", "functools",  "_functools", "types",      "marshal",
    "tempfile",    "pathlib",  "glob",      "io",         "_io",        "codecs",     "signal",
    "threading",   "_thread",  "sqlite3",   "zipfile",    "tarfile",    "fileinput",  "linecache",
    "inspect",     "gc",       "atexit",    "distutils",  "setuptools", "ensurepip",  "venv",
    "idlelib",     "doctest",  "trace",     "logging",    "zipimport",  "pkgutil",    "antigravity",
    "pydoc",
};
// Modules of which only some names are dangerous.
constexpr Known kDangerousNames[] = {
    {"builtins", "*", Meaning::dangerous},
    {"__builtin__", "*", Meaning::dangerous},
    {"torch", "load", Meaning::dangerous},
    {"torch.storage", "_load_from_bytes", Meaning::dangerous},
    {"torch.serialization", "load", Meaning::dangerous},
    {"torch.hub", "*", Meaning::dangerous},
    {"torch.jit", "*", Meaning::dangerous},
    {"torch._inductor", "*", Meaning::dangerous},
    {"torch._dynamo", "*", Meaning::dangerous},
    {"torch.utils.cpp_extension", "*", Meaning::dangerous},
    {"torch.fx", "*", Meaning::dangerous},
    {"numpy.testing", "*", Meaning::dangerous},
    {"numpy.f2py", "*", Meaning::dangerous},
};

bool is_below(std::string_view module, std::string_view parent) {
  return module.starts_with(parent) && (module.size() == parent.size() || module[parent.size()] == '.');
}

std::string_view words_for_known(Meaning meaning) {
  if (makes_tensor(meaning)) return "rebuilds a tensor";
  switch (meaning) {
    case Meaning::dict:
    case Meaning::list:
    case Meaning::object: return "a collection";
    case Meaning::storage: return "a type of storage";
    case Meaning::element: return "an element type";
    default: return "plain data";
  }
}

std::string words_for_refused(const Pickle::Global& global, Meaning meaning) {
  if (meaning == Meaning::dangerous) return "it can run code, reach files or the network";
  if (is_below(global.module, "torch.nn")) return "it is a module, not tensors: save its state_dict() instead";
  if (is_below(global.module, "numpy")) return "it makes NumPy's objects, not tensors";
  return "it is not one of the names that rebuild tensors";
}

}  // namespace

Meaning meaning_of(std::string_view module, std::string_view name) {
  for (const Known& known : kKnown)
    if (known.module == module && known.name == name) return known.meaning;
  if (module == "torch" && find_storage(name) != nullptr) return Meaning::storage;
  if (module == "torch" && find_element(name) != nullptr) return Meaning::element;
  if (module == "torch" && std::ranges::find(kOtherTypes, name) != std::end(kOtherTypes)) return Meaning::name;
  if (module == "torch" && (name == "QUInt4x2Storage" || name == "QUInt2x4Storage")) return Meaning::storage;
  for (const std::string_view parent : kDangerousModules)
    if (is_below(module, parent)) return Meaning::dangerous;
  for (const Known& known : kDangerousNames)
    if (is_below(module, known.module) && (known.name == "*" || known.name == name)) return Meaning::dangerous;
  // A dotted name walks through attributes: torch, "_utils.os.system".
  if (name.find('.') != std::string_view::npos) return Meaning::dangerous;
  return Meaning::unknown;
}

namespace {

// Python 3.11 stores the values of an enumeration as getattr(Enumeration, "NAME"). Returns whether the whole pickle
// uses getattr for nothing else.
bool only_names_values(const Pickle& pickle, const std::vector<Meaning>& meanings, std::size_t getattr) {
  bool any = false;
  for (Ref ref = 0; ref < pickle.nodes(); ++ref) {
    if (pickle.kind(ref) != PickleKind::call || pickle.kind(pickle.callable(ref)) != PickleKind::global ||
        pickle.number_of(pickle.callable(ref)) != getattr)
      continue;
    const std::span<const Ref> given = pickle.tuple(pickle.arguments(ref));
    if (given.size() != 2 || pickle.kind(given[0]) != PickleKind::global ||
        meanings[pickle.number_of(given[0])] != Meaning::enumeration || pickle.kind(given[1]) != PickleKind::text ||
        pickle.text(given[1]).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string_view::npos ||
        pickle.text(given[1]).starts_with('_'))
      return false;
    any = true;
  }
  return any && pickle.is_whole();
}

}  // namespace

std::vector<Meaning> meanings_of(const Pickle& pickle) {
  std::vector<Meaning> meanings;
  for (const Pickle::Global& global : pickle.globals()) meanings.push_back(meaning_of(global.module, global.name));
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    const Pickle::Global& global = pickle.globals()[i];
    if ((global.module == "builtins" || global.module == "__builtin__") && global.name == "getattr" &&
        only_names_values(pickle, meanings, i))
      meanings[i] = Meaning::member;
  }
  return meanings;
}

void report_globals(const Pickle& pickle, const Source& source, Diagnostics& diagnostics) {
  constexpr std::size_t kNamed = 1000;  // more are not readable
  const std::vector<Meaning> meanings = meanings_of(pickle);
  std::vector<std::size_t> order(meanings.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // The worst first, because `open` throws the first.
  const auto rank = [&](std::size_t i) {
    return meanings[i] == Meaning::dangerous ? 0 : meanings[i] == Meaning::unknown ? 1 : 2;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  for (std::size_t n = 0; n < order.size(); ++n) {
    const Pickle::Global& global = pickle.globals()[order[n]];
    const Meaning meaning = meanings[order[n]];
    if (n == kNamed) {
      diagnostics.error(Error(ErrorKind::limit, "torch.global.many",
                              fmt::format("the pickle asks for {} globals; {} are listed", order.size(), kNamed))
                            .in(source.name())
                            .at(global.at));
      return;
    }
    const std::string called = fmt::format("{}.{}", quote(global.module), quote(global.name));
    const std::string times = global.mentions == 1 ? "once" : fmt::format("{} times", global.mentions);
    const bool refused = rank(order[n]) < 2;
    Error error(ErrorKind::unsupported,
                meaning == Meaning::dangerous ? "torch.global.dangerous"
                : refused                     ? "torch.global.refused"
                                              : "torch.global.known",
                refused ? fmt::format("the pickle asks for it {}: {}; nothing in it is run", times,
                                      words_for_refused(global, meaning))
                        : fmt::format("the pickle asks for it {}: {}", times, words_for_known(meaning)));
    error.in(source.name()).at(global.at).about(called);
    if (refused)
      diagnostics.error(error);
    else
      diagnostics.note(error);
  }
}

void Loaded::run(const Source& source, Diagnostics& diagnostics) {
  try {
    pickle_.run();
  } catch (Error& error) {
    error.in(source.name());
    pickle_.scan_rest();
    report_globals(pickle_, source, diagnostics);
    throw;
  }
  report_globals(pickle_, source, diagnostics);
}

}  // namespace tare::torch
