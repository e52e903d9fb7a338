// An option as data, for the command and for the Python module.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/format.hpp"
#include "tare/convert.hpp"

namespace tare {

// What a shell completes for a value or an operand.
// `tensors`: those of the file that an earlier word names.
enum class Completes : std::uint8_t { nothing, files, directories, verbs, tensors };

using Words = std::vector<std::string>;

// The field of ConvertOptions that an option sets. Its type determines the values: each front end has one function
// per type (cli/options.cpp, python/src/options.cpp).
template <typename T>
using In = T& (*)(ConvertOptions&);
// Fields whose type does not determine the values.
struct Globs {
  In<std::vector<std::string>> in;
};
struct Paths {
  In<std::vector<std::string>> in;
};
// A method, globs of what to keep, and rules. In the command, --method has both methods and rules, and the order of all
// rules is fixed (cli/quantize_recipe.cpp).
struct Method {
  In<std::string> in;
};
struct KeptGlobs {
  In<std::vector<std::pair<std::string, std::string>>> in;
};
struct Rules {
  In<std::vector<std::pair<std::string, std::string>>> in;
};
// Keys of metadata: texts from the command, values from Python.
struct Metadata {};
struct Threads {};

using Stored =
    std::variant<std::monostate,  // the verb itself asks for it
                 In<bool>, In<std::string>, Globs, Paths, In<std::optional<int>>, In<std::optional<std::uint64_t>>,
                 In<std::optional<double>>, In<std::optional<std::pair<float, float>>>, In<std::optional<DType>>,
                 In<Overflow>, In<std::optional<DigestAlgorithm>>, In<std::vector<ModelPart>>, In<Access>, In<Limits>,
                 In<Quantization>, In<Importance>, Method, KeptGlobs, Rules, Metadata, Threads>;

// A heading in the help of `convert` and `quantize`. `none`: the verb does not have the option.
enum class Section : std::uint8_t { none, common, quantized, written, stored, reading, reporting };

// Which Python functions have an option as a keyword.
enum class Keyword : std::uint8_t {
  none,
  convert,  // tare.convert, tare.plan and tare.quantize
  save,     // these, tare.save, tare.to_bytes and tare.Writer
  recipe,   // tare.quantize, and a key of `quant`
};

struct Option {
  char letter = 0;              // 'o'; 0 if there is only the long name
  std::string_view name = {};   // "output", without dashes; empty: the command does not have it
  std::string_view value = {};  // "PATH"; empty: a switch
  std::string_view help = {};   // one sentence, no capital, no full stop
  std::string_view with = {};   // in a verb that has the option `with`, this one needs it
  bool optional_value = false;  // --zstd or --zstd=3
  bool repeatable = false;
  Words (*words)() = nullptr;                                    // the only values allowed, if there is a closed set
  std::string (*canonical)(const std::string& value) = nullptr;  // turns other spellings of a value into one of `words`
  Completes completes = Completes::nothing;

  // Only for the options of conversions (options/conversion.hpp).
  Section convert = Section::none, quantize = Section::none;  // where the help of the verb lists it
  bool append = false;                                        // `append` has it, too
  Keyword keyword = Keyword::none;
  // The keyword, if it is not the name with underscores. Without a keyword: what to do in Python instead.
  std::string_view python = {};
  Stored stored = {};
  bool Capabilities::*needs = nullptr;  // what the target must be able to do
};

// The keyword of an option in Python: "no_zstd".
std::string keyword_of(const Option& option);

}  // namespace tare
