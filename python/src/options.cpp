#include "options.hpp"

#include <cmath>

#include "model/dtype_option.hpp"
#include "options/conversion.hpp"
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
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) raise_value_error(std::string(key) + " is too " + (overflow > 0 ? "large" : "small"));
  if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
  return value;
}

namespace {

// Sets the field of an option from its keyword. There is one function for each type of field.
struct Reader {
  const Options& given;
  std::string keyword;
  ConvertOptions& options;

  const char* name() const { return keyword.c_str(); }
  PyObject* value() const { return given.find(name()); }

  void operator()(std::monostate) const {}
  void operator()(In<bool> in) const { in(options) = given.flag(name()); }
  void operator()(In<std::string> in) const { in(options) = given.text(name()); }
  void operator()(Globs globs) const { globs.in(options) = given.texts(name()); }
  void operator()(Paths paths) const { paths.in(options) = given.texts(name()); }
  void operator()(In<std::optional<int>> in) const {
    const std::int64_t level = *given.number(name());
    if (level < -100 || level > 22) raise_value_error("a level of zstd is at most 22");
    in(options) = static_cast<int>(level);
  }
  void operator()(In<std::optional<std::uint64_t>> in) const {
    const std::int64_t size = *given.number(name());
    if (size <= 0) raise_value_error("the size of a " + keyword + " must be positive");
    in(options) = static_cast<std::uint64_t>(size);
  }
  void operator()(In<std::optional<double>> in) const { in(options) = real_of(value()); }
  void operator()(In<std::optional<std::pair<float, float>>> in) const {
    const auto [first, second] = pair_of(value(), keyword + " must be a pair of numbers");
    const auto low = static_cast<float>(real_of(first.get())), high = static_cast<float>(real_of(second.get()));
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high))
      raise_value_error(keyword + " must be two numbers, the smaller one first");
    in(options) = {low, high};
  }
  void operator()(In<std::optional<DType>> in) const {
    const std::string word = given.text(name());
    if (word.empty()) return;
    in(options) = parse_dtype_option(word);
    if (!in(options)) raise_value_error(no_such_type(word));
  }
  void operator()(In<Overflow> in) const {
    const std::string word = given.text(name());
    if (word.empty()) return;
    const auto overflow = parse_overflow(word);
    if (!overflow) raise_value_error(keyword + " must be \"error\", \"clamp\" or \"infinity\"");
    in(options) = *overflow;
    if (!options.adapt.dtype && options.adapt.quant.empty())
      raise_value_error(keyword + " needs dtype, the type to cast to");
  }
  void operator()(In<std::optional<DigestAlgorithm>> in) const {
    const std::string word = given.text(name());
    if (word.empty()) return;
    in(options) = parse_digest_algorithm(word);
    if (!in(options))
      raise_value_error("no " + keyword + " \"" + word + "\"; the choices are sha256, crc32c, xxh3, xxh3-128 and none");
  }
  void operator()(In<std::vector<ModelPart>> in) const {
    for (const std::string& word : given.texts(name())) {
      const auto part = parse_model_part(word);
      if (!part)
        raise_value_error("there is no part \"" + word +
                          "\" of a model; the choices are metadata, config, vocabulary, attachments and attributes");
      in(options).push_back(*part);
    }
  }
  void operator()(In<Quantization> in) const { in(options) = Options(value()).convert().adapt.quant; }
  void operator()(In<Importance> in) const { in(options) = read_importance(path_of(value()), {}); }
  void operator()(Method method) const {
    method.in(options) = given.text(name());
    if (const std::string why = why_not_written(method.in(options));
        !why.empty() && find_codec_by_method(method.in(options)) == nullptr)
      raise_value_error(why);
  }
  void operator()(KeptGlobs kept) const {
    for (const std::string& glob : given.texts(name())) kept.in(options).emplace_back(glob, kKeep);
  }
  void operator()(Rules rules) const {
    for (auto& rule : given.pairs(name())) rules.in(options).push_back(std::move(rule));
  }
  void operator()(In<Access> in) const { in(options) = given.flag(name()) ? Access::mapped : Access::pread; }
  void operator()(In<Limits> in) const {
    const std::int64_t most = *given.number(name());
    if (most < 1) raise_value_error(keyword + " must be at least 1");
    in(options).expansion = static_cast<std::uint64_t>(most);
    in(options).component_bytes = UINT64_MAX;  // as the command does
  }
  void operator()(Metadata) const { options.adapt.values = to_map(value(), name()); }
  void operator()(Threads) const {
    const std::int64_t threads = *given.number(name());
    if (threads < 0 || threads > 4096)
      raise_value_error(keyword + " must be between 0, which means all cores, and 4096");
    options.work.threads = options.read.work.threads = options.write.work.threads = static_cast<unsigned>(threads);
  }
};

// What an option takes, for the package (tare/_options.py).
struct Kind {
  const char* operator()(std::monostate) const { return ""; }
  const char* operator()(In<bool>) const { return "flag"; }
  const char* operator()(In<std::string>) const { return "text"; }
  const char* operator()(Globs) const { return "texts"; }
  const char* operator()(Paths) const { return "paths"; }
  const char* operator()(In<std::optional<int>>) const { return "level"; }
  const char* operator()(In<std::optional<std::uint64_t>>) const { return "size"; }
  const char* operator()(In<std::optional<double>>) const { return "real"; }
  const char* operator()(In<std::optional<std::pair<float, float>>>) const { return "reals"; }
  const char* operator()(In<std::optional<DType>>) const { return "type"; }
  const char* operator()(In<Overflow>) const { return "text"; }
  const char* operator()(In<std::optional<DigestAlgorithm>>) const { return "text"; }
  const char* operator()(In<std::vector<ModelPart>>) const { return "texts"; }
  const char* operator()(In<Quantization>) const { return "recipe"; }
  const char* operator()(In<Importance>) const { return "path"; }
  const char* operator()(Method) const { return "text"; }
  const char* operator()(KeptGlobs) const { return "texts"; }
  const char* operator()(Rules) const { return "pairs"; }
  const char* operator()(In<Access>) const { return "mapped"; }
  const char* operator()(In<Limits>) const { return "number"; }
  const char* operator()(Metadata) const { return "values"; }
  const char* operator()(Threads) const { return "count"; }
};

const char* name_of(Keyword keyword) {
  switch (keyword) {
    case Keyword::none: return "";
    case Keyword::convert: return "convert";
    case Keyword::save: return "save";
    case Keyword::recipe: return "recipe";
  }
  return "";
}

}  // namespace

Ref option_rows() {
  return list_of(kConversionOptions, [](const Option& option) {
    const bool here = option.keyword != Keyword::none;
    return Ref::take(PyTuple_Pack(5, text(here ? keyword_of(option) : "").get(), text(option.name).get(),
                                  text(name_of(option.keyword)).get(), text(std::visit(Kind(), option.stored)).get(),
                                  text(here ? option.help : option.python).get()));
  });
}

ConvertOptions Options::convert() const {
  ConvertOptions options;
  for (const Option& option : kConversionOptions)
    if (const Reader reader{*this, keyword_of(option), options};
        option.keyword != Keyword::none && reader.value() != nullptr)
      std::visit(reader, option.stored);
  return options;
}

ReadOptions Options::read() const {
  ReadOptions options = convert().read;
  options.keep_broken = flag("keep_broken");
  return options;
}

SaveOptions Options::save() const {
  ConvertOptions options = convert();
  return {std::move(options.adapt), std::move(options.write), std::move(options.to), options.overwrite, options.work};
}

}  // namespace tare::py
