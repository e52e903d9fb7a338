#include "options.hpp"

#include <cmath>

#include "model/dtype_option.hpp"
#include "values.hpp"

namespace tare::py {
namespace {

// The two items of a tuple, or of a list, because pairs from JSON are lists.
std::pair<Ref, Ref> pair_of(PyObject* item, const std::string& otherwise) {
  if ((!PyTuple_Check(item) && !PyList_Check(item)) || PySequence_Size(item) != 2) raise_type_error(otherwise);
  return {Ref::take(item_of(item, 0)), Ref::take(item_of(item, 1))};
}

double real_of(PyObject* object) {
  const double value = as_double(object);
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

}  // namespace

Options::Options(PyObject* dict) : dict_(dict) {
  if (!PyDict_Check(dict)) raise_type_error("options must be a dict");
}

PyObject* Options::find(const char* key) const {
  PyObject* const found = PyDict_GetItemString(dict_, key);
  return found == Py_None ? nullptr : found;
}

bool Options::flag(const char* key) const {
  PyObject* const found = find(key);
  return found != nullptr && checked(is_true(found)) != 0;
}

std::string Options::text(const char* key) const {
  PyObject* const found = find(key);
  return found == nullptr ? std::string() : text_of(found, key);
}

std::vector<std::string> Options::texts(const char* key) const {
  std::vector<std::string> all;
  PyObject* const found = find(key);
  if (found == nullptr) return all;
  const Ref list = Ref::take(as_list(found));
  const Py_ssize_t size = PyList_Size(list.get());
  for (Py_ssize_t i = 0; i < size; ++i) all.push_back(text_of(PyList_GetItem(list.get(), i), key));
  return all;
}

std::vector<std::pair<std::string, std::string>> Options::pairs(const char* key) const {
  std::vector<std::pair<std::string, std::string>> all;
  PyObject* const found = find(key);
  if (found == nullptr) return all;
  const Ref list = Ref::take(PyDict_Check(found) ? PyDict_Items(found) : as_list(found));
  const Py_ssize_t size = PyList_Size(list.get());
  for (Py_ssize_t i = 0; i < size; ++i) {
    const auto [first, second] = pair_of(PyList_GetItem(list.get(), i), std::string(key) + ": expected pairs of texts");
    all.emplace_back(text_of(first.get(), key), text_of(second.get(), key));
  }
  return all;
}

std::optional<std::int64_t> Options::number(const char* key) const {
  PyObject* const found = find(key);
  if (found == nullptr) return std::nullopt;
  const Ref index = Ref::take(as_index(found));
  const long long value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

std::optional<double> Options::real(const char* key) const {
  PyObject* const found = find(key);
  if (found == nullptr) return std::nullopt;
  return real_of(found);
}

unsigned Options::threads() const {
  const std::int64_t threads = number("threads").value_or(0);
  if (threads < 0 || threads > 4096) raise_value_error("threads must be between 0, which means all cores, and 4096");
  return static_cast<unsigned>(threads);
}

ReadOptions Options::read() const {
  ReadOptions options;
  if (PyObject* const mapped = find("mmap"); mapped != nullptr && checked(is_true(mapped)) == 0)
    options.access = Access::pread;
  options.attach = texts("attach");
  options.keep_broken = flag("keep_broken");
  options.work.threads = threads();
  if (const auto most = number("max_expansion")) {
    if (*most < 1) raise_value_error("max_expansion must be at least 1");
    options.limits.expansion = static_cast<std::uint64_t>(*most);
    options.limits.component_bytes = UINT64_MAX;  // as the command does
  }
  return options;
}

WriteOptions Options::write() const {
  WriteOptions options;
  if (const auto level = number("zstd")) {
    if (*level < -100 || *level > 22) raise_value_error("a level of zstd is at most 22");
    options.zstd_level = static_cast<int>(*level);
  }
  options.unpack = flag("unpack");
  if (const std::string digest = text("digest"); !digest.empty()) {
    options.digest = parse_digest_algorithm(digest);
    if (!options.digest)
      raise_value_error("no digest \"" + digest + "\"; the choices are sha256, crc32c, xxh3, xxh3-128 and none");
  }
  options.dedup = flag("dedup");
  options.dialect = text("dialect");
  if (const auto shard = number("shard")) {
    if (*shard <= 0) raise_value_error("the size of a shard must be positive");
    options.shard_bytes = static_cast<std::uint64_t>(*shard);
  }
  options.work.threads = threads();
  return options;
}

Quantization Options::quantization() const {
  Quantization recipe;
  recipe.method = text("method");
  recipe.rules = pairs("rules");
  recipe.bits = real("bits");
  recipe.fast = flag("fast");
  recipe.range = flag("range");
  recipe.pure = flag("pure");
  recipe.no_fallback = flag("no_fallback");
  if (PyObject* const clip = find("clip")) {
    const auto [first, second] = pair_of(clip, "clip must be a pair of numbers");
    const auto low = static_cast<float>(real_of(first.get())), high = static_cast<float>(real_of(second.get()));
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high))
      raise_value_error("clip must be two numbers, the smaller one first");
    recipe.clip = {low, high};
  }
  if (PyObject* const path = find("importance")) recipe.importance = read_importance(path_of(path), {});
  return recipe;
}

AdaptOptions Options::adapt() const {
  AdaptOptions options;
  if (const std::string dtype = text("dtype"); !dtype.empty()) {
    options.dtype = parse_dtype_option(dtype);
    if (!options.dtype) raise_value_error("there is no type \"" + dtype + "\"");
  }
  if (const std::string overflow = text("overflow"); overflow == "clamp" || overflow == "infinity")
    options.overflow = overflow == "clamp" ? Overflow::clamp : Overflow::infinity;
  else if (!overflow.empty() && overflow != "error")
    raise_value_error("overflow must be \"error\", \"clamp\" or \"infinity\"");
  if (!text("overflow").empty() && !options.dtype && find("quant") == nullptr)
    raise_value_error("overflow needs dtype, the type to cast to");
  if (PyObject* const quant = find("quant")) options.quant = Options(quant).quantization();
  options.match = texts("match");
  options.skip = texts("skip");
  if (PyObject* const metadata = find("metadata")) options.values = to_map(metadata, "metadata");
  for (const std::string& name : texts("drop")) {
    const auto part = parse_model_part(name);
    if (!part)
      raise_value_error("there is no part \"" + name +
                        "\" of a model; the choices are metadata, config, vocabulary, attachments and attributes");
    options.drop.push_back(*part);
  }
  options.keep_names = flag("keep_names");
  options.weights_only = flag("weights_only");
  return options;
}

SaveOptions Options::save() const {
  return {adapt(), write(), text("format"), flag("overwrite"), {.threads = threads()}};
}

ConvertOptions Options::convert() const {
  return {adapt(),           read(),        write(),        text("format"),
          flag("overwrite"), flag("check"), texts("merge"), {.threads = threads()}};
}

}  // namespace tare::py
