// The parser: CLI11 told about one verb's options, operands sorted out here.
//
// Operands are what CLI11 leaves over, not options of its own: its lists would split a glob or a file name in square
// brackets, and its sentences would differ from ours.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/text.hpp"
#include "tare/convert.hpp"
#include "tare/digest.hpp"

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

std::string flag_names(const Option& option) {
  return option.letter != 0 ? fmt::format("-{},--{}", option.letter, option.name) : fmt::format("--{}", option.name);
}

void check_words(const Option& option, const std::vector<std::string>& values) {
  if (option.words == nullptr) return;
  const Words allowed = option.words();
  for (const std::string& value : values)
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      throw UsageError(
          fmt::format("--{} takes one of {}, not '{}'", option.name, fmt::join(allowed, ", "), printable(value)));
}

[[noreturn]] void unknown_option(const std::vector<Option>& options, const std::string& word) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const Option& option : options) names.push_back(fmt::format("--{}", option.name));
  const auto near = nearest(word.substr(0, word.find('=')), names, 1);
  throw UsageError(fmt::format("unknown option '{}'{}", printable(word),
                               near.empty() ? "" : fmt::format("; did you mean {}?", near.front())));
}

}  // namespace

std::span<const Option> universal_options() { return kUniversal; }

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> options(verb.options.begin(), verb.options.end());
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

std::string spelling(const Option& option) {
  if (option.value.empty()) return fmt::format("--{}", option.name);
  if (option.optional_value) return fmt::format("--{}[={}]", option.name, option.value);
  return fmt::format("--{} {}", option.name, option.value);
}

// Fills an Arguments; its friend.
class Parser {
 public:
  explicit Parser(const Verb& verb) : verb_(verb), options_(options_of(verb)) {}

  Arguments parse(std::span<const std::string> words) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    parse_options({words.begin(), dashes});
    if (arguments_.has("help")) return std::move(arguments_);
    if (dashes != words.end()) arguments_.operands_.insert(arguments_.operands_.end(), dashes + 1, words.end());
    check_operands();
    return std::move(arguments_);
  }

 private:
  void parse_options(std::vector<std::string> words) {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::vector<CLI::Option*> parsed;
    for (const Option& option : options_) {
      if (option.value.empty() || option.optional_value) {
        parsed.push_back(app.add_flag(flag_names(option)));
      } else {
        parsed.push_back(app.add_option(flag_names(option)));
        parsed.back()->type_size(1)->expected(1);
      }
      parsed.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    const std::string last = words.empty() ? "" : words.back();  // only the last option can lack its value
    std::reverse(words.begin(), words.end());                    // CLI11 takes them last first
    try {
      app.parse(std::move(words));
    } catch (const CLI::ArgumentMismatch&) {
      throw UsageError(fmt::format("{} needs a value", printable(last)));
    } catch (const CLI::ParseError& e) {
      throw UsageError(e.what());
    }
    for (std::size_t i = 0; i < options_.size(); ++i) keep(options_[i], *parsed[i]);
    for (const std::string& word : app.remaining()) {
      if (word.size() > 1 && word.front() == '-') unknown_option(options_, word);
      arguments_.operands_.push_back(word);
    }
  }

  void keep(const Option& option, const CLI::Option& parsed) {
    if (parsed.count() == 0) return;
    std::vector<std::string> values = parsed.results();
    if (option.value.empty()) {
      if (std::any_of(values.begin(), values.end(), [](const std::string& v) { return v != "true"; }))
        throw UsageError(fmt::format("--{} takes no value", option.name));
      values.clear();
    } else if (option.optional_value) {
      // CLI11 says "true" for a bare flag.
      for (std::string& value : values)
        if (value == "true") value.clear();
    } else {
      check_words(option, values);
    }
    arguments_.options_[std::string(option.name)] = std::move(values);
  }

  void check_operands() const {
    const auto& given = arguments_.operands_;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i].empty()) throw UsageError(fmt::format("operand {} is empty", i + 1));
    std::size_t least = 0;
    for (const Operand& operand : verb_.operands) least += operand.required;
    if (given.size() < least) {
      const Operand& missing = verb_.operands[given.size()];
      throw UsageError(fmt::format("{} is missing", missing.name));
    }
    const bool many = !verb_.operands.empty() && verb_.operands.back().many;
    if (!many && given.size() > verb_.operands.size())
      throw UsageError(fmt::format("unexpected '{}'", printable(given[verb_.operands.size()])));
  }

  const Verb& verb_;
  std::vector<Option> options_;
  Arguments arguments_;
};

Arguments parse(const Verb& verb, std::span<const std::string> words) { return Parser(verb).parse(words); }

bool Arguments::has(std::string_view option) const { return options_.contains(option); }

const std::vector<std::string>& Arguments::all(std::string_view option) const {
  static const std::vector<std::string> none;
  const auto found = options_.find(option);
  return found == options_.end() ? none : found->second;
}

std::string Arguments::get(std::string_view option, std::string_view fallback) const {
  const auto& values = all(option);
  return values.empty() ? std::string(fallback) : values.back();
}

Access Arguments::access() const { return has("no-mmap") ? Access::pread : Access::mapped; }

unsigned Arguments::threads() const { return static_cast<unsigned>(number("threads", 0, 0, 4096)); }

long Arguments::number(std::string_view option, long fallback, long least, long most) const {
  const std::string text = get(option);
  if (!has(option) || text.empty()) return fallback;
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw UsageError(
        fmt::format("--{} takes a whole number from {} to {}, not '{}'", option, least, most, printable(text)));
  return value;
}

Words drop_words() {
  Words words;
  for (const std::string_view word : kDroppable) words.emplace_back(word);
  return words;
}

Words digest_words() {
  Words words{std::string(name_of(DigestAlgorithm::none))};
  for (const auto algorithm :
       {DigestAlgorithm::sha256, DigestAlgorithm::crc32c, DigestAlgorithm::xxh3, DigestAlgorithm::xxh3_128})
    words.emplace_back(name_of(algorithm));
  return words;
}

ReadOptions read_options(const Arguments& arguments) {
  ReadOptions options;
  options.access = arguments.access();
  options.threads = arguments.threads();
  options.attach = arguments.all("attach");
  options.keep_broken = true;  // what wants all tensors refuses a model with broken ones
  if (arguments.has("max-expansion")) {
    options.limits.expansion = static_cast<std::uint64_t>(arguments.number("max-expansion", 32, 1, UINT32_MAX));
    options.limits.component_bytes = UINT64_MAX;
  }
  return options;
}

ReadOptions listing_options(const Arguments& arguments) {
  ReadOptions options = read_options(arguments);
  options.listing = true;
  return options;
}

WriteOptions write_options(const Arguments& arguments) {
  WriteOptions options;
  options.threads = arguments.threads();
  if (arguments.has("zstd")) options.zstd_level = static_cast<int>(arguments.number("zstd", 3, 1, 22));
  options.unpack = arguments.has("no-zstd");
  if (options.unpack && options.zstd_level) throw UsageError("--zstd and --no-zstd exclude each other");
  if (arguments.has("digest")) options.digest = parse_digest_algorithm(arguments.get("digest"));
  return options;
}

std::vector<std::pair<std::string, std::string>> set_pairs(const Arguments& arguments) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : arguments.all("set")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--set takes KEY=VALUE, not '{}'", printable(text)));
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

bool selected(const Arguments& arguments, std::string_view name) {
  const auto hit = [&](const std::string& pattern) { return glob_match(pattern, name); };
  const auto& match = arguments.all("match");
  const auto& skip = arguments.all("skip");
  return (match.empty() || std::any_of(match.begin(), match.end(), hit)) && std::none_of(skip.begin(), skip.end(), hit);
}

}  // namespace tare::cli
