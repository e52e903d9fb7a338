#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/sizes.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

Words color_words() { return {"auto", "always", "never"}; }

constexpr Option kUniversal[] = {
    {.name = "color",
     .value = "WHEN",
     .help = "when to colour; auto, the default, means on a terminal unless NO_COLOR is set",
     .words = color_words},
    {.letter = 'q', .name = "quiet", .help = "no progress and no remarks; results and errors only"},
    {.letter = 'h', .name = "help", .help = "show this help"},
};

}  // namespace

std::span<const Option> universal_options() { return kUniversal; }

std::string description_of(const Verb& verb) {
  std::string text(verb.description);
  if (verb.more != nullptr) text += "\n\n" + verb.more();
  return text;
}

std::vector<Option> own_options_of(const Verb& verb) {
  std::vector<Option> options;
  if (verb.more_options != nullptr) options = verb.more_options();
  options.insert(options.end(), verb.options.begin(), verb.options.end());
  return options;
}

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> options = own_options_of(verb);
  options.insert(options.end(), std::begin(kUniversal), std::end(kUniversal));
  return options;
}

std::string operands_text(const Verb& verb) {
  std::string text;
  for (const Operand& operand : verb.operands) {
    if (!text.empty()) text += ' ';
    const std::string name = fmt::format("{}{}", operand.name, operand.many ? "..." : "");
    text += operand.required ? name : fmt::format("[{}]", name);
  }
  return text;
}

std::string help_of(const Verb& verb, const Option& option) {
  const bool needed =
      !option.with.empty() && std::ranges::find(verb.options, option.with, &Option::name) != verb.options.end();
  return needed ? fmt::format("with --{}: {}", option.with, option.help) : std::string(option.help);
}

std::string spelling(const Option& option) {
  if (option.value.empty()) return fmt::format("--{}", option.name);
  if (option.optional_value) return fmt::format("--{}[={}]", option.name, option.value);
  return fmt::format("--{} {}", option.name, option.value);
}

namespace {

double real_of(const Option& option, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw UsageError(fmt::format("--{}: '{}' is not a number", option.name, text));
  return value;
}

// Sets the field of an option that was given. There is one function for each type of field.
struct Reader {
  const Arguments& arguments;
  const Option& option;
  ConvertOptions& options;

  std::string value() const { return arguments.get(option.name); }
  const std::vector<std::string>& values() const { return arguments.all(option.name); }

  void operator()(std::monostate) const {}
  void operator()(In<bool> in) const { in(options) = true; }
  void operator()(In<std::string> in) const { in(options) = value(); }
  void operator()(Globs globs) const { globs.in(options) = values(); }
  void operator()(Paths paths) const { paths.in(options) = values(); }
  void operator()(In<std::optional<int>> in) const {
    in(options) = static_cast<int>(arguments.number(option.name, 3, 1, 22));
  }
  void operator()(In<std::optional<std::uint64_t>> in) const {
    const auto bytes = parse_size(value());
    if (!bytes || *bytes == 0)
      throw UsageError(fmt::format("--{} takes a size such as 5GB or 500MiB, not '{}'", option.name, value()));
    in(options) = bytes;
  }
  void operator()(In<std::optional<double>> in) const { in(options) = real_of(option, value()); }
  void operator()(In<std::optional<std::pair<float, float>>> in) const {
    const std::string text = value();
    const auto comma = text.find(',');
    if (comma == std::string::npos) throw UsageError(fmt::format("--{} takes two numbers: MIN,MAX", option.name));
    const double low = real_of(option, std::string_view(text).substr(0, comma));
    const double high = real_of(option, std::string_view(text).substr(comma + 1));
    if (!(low < high))
      throw UsageError(fmt::format("--{}: MIN ({}) must be less than MAX ({})", option.name, low, high));
    in(options) = {f64_to_f32(low), f64_to_f32(high)};
  }
  // These have a closed set of words, which the parser has checked.
  void operator()(In<std::optional<DType>> in) const { in(options) = parse_dtype(value()); }
  void operator()(In<Overflow> in) const { in(options) = *parse_overflow(value()); }
  void operator()(In<std::optional<DigestAlgorithm>> in) const { in(options) = parse_digest_algorithm(value()); }
  void operator()(In<std::vector<ModelPart>> in) const {
    for (const std::string& word : values()) in(options).push_back(*parse_model_part(word));
  }
  void operator()(In<Quantization> in) const { in(options).method = value(); }

  void operator()(In<Access> in) const { in(options) = arguments.access(); }
  void operator()(In<Limits> in) const {
    in(options).expansion = static_cast<std::uint64_t>(arguments.number(option.name, 32, 1, UINT32_MAX));
    in(options).component_bytes = UINT64_MAX;
  }
  void operator()(Metadata) const {
    for (const std::string& text : values()) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0)
        throw UsageError(fmt::format("--{} takes {}, not '{}'", option.name, option.value, printable(text)));
      options.adapt.set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  void operator()(Threads) const {
    options.work.threads = options.read.work.threads = options.write.work.threads = arguments.threads();
  }

  // recipe_from reads these.
  void operator()(In<Importance>) const {}
  void operator()(Method) const {}
  void operator()(KeptGlobs) const {}
  void operator()(Rules) const {}
};

}  // namespace

ConvertOptions conversion_options(const Arguments& arguments) {
  ConvertOptions options;
  options.read.keep_broken = true;  // verbs that need all tensors refuse a model with broken ones
  for (const Option& option : arguments.given()) std::visit(Reader{arguments, option, options}, option.stored);
  if (options.write.unpack && options.write.zstd_level) throw UsageError("--zstd and --no-zstd exclude each other");
  return options;
}

ReadOptions read_options(const Arguments& arguments) { return conversion_options(arguments).read; }

ReadOptions listing_options(const Arguments& arguments) {
  ReadOptions options = read_options(arguments);
  options.listing = true;
  return options;
}

WriteOptions write_options(const Arguments& arguments) { return conversion_options(arguments).write; }

bool verbose(const Arguments& arguments) {
  if (arguments.has("quiet") && arguments.has("verbose")) throw UsageError("--quiet and --verbose exclude each other");
  return arguments.has("verbose");
}

bool selected(const Arguments& arguments, std::string_view name) {
  const auto hit = [&](const std::string& pattern) { return glob_match(pattern, name); };
  const auto& match = arguments.all("match");
  const auto& skip = arguments.all("skip");
  return (match.empty() || std::any_of(match.begin(), match.end(), hit)) && std::none_of(skip.begin(), skip.end(), hit);
}

}  // namespace tare::cli
