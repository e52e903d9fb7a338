// Options that several verbs share, each described once; those of conversions are in options/conversion.hpp.
#pragma once

#include <algorithm>
#include <array>

#include "cli/command.hpp"
#include "options/conversion.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {

inline constexpr Option kJson = conversion_option("json");
inline constexpr Option kNoMmap = conversion_option("no-mmap");
inline constexpr Option kMaxExpansion = conversion_option("max-expansion");
inline constexpr Option kThreads = conversion_option("threads");
inline constexpr Option kMatch = conversion_option("match");
inline constexpr Option kSkip = conversion_option("skip");
inline constexpr Option kForce{.letter = 'f', .name = "force", .help = "replace an existing output file"};
inline constexpr Option kOutput{.letter = 'o',
                                .name = "output",
                                .value = "PATH",
                                .help = "write to PATH instead of standard output",
                                .completes = Completes::files};

// The rows of the table that `column` includes, in the order of the verb's help.
template <auto column>
consteval auto rows_in() {
  constexpr auto rank = [](const Option& option) { return static_cast<unsigned>(option.*column); };
  std::array<Option, static_cast<std::size_t>(std::ranges::count_if(kConversionOptions, rank))> found{};
  std::size_t size = 0;
  for (unsigned section = 1; size < found.size(); ++section)
    for (const Option& option : kConversionOptions)
      if (rank(option) == section) found[size++] = option;
  return found;
}
// The options of a verb that converts: kOptionsIn<&Option::convert>.
template <auto column>
inline constexpr auto kOptionsIn = rows_in<column>();

inline constexpr std::string_view kSectionTitles[] = {
    "", "Most used options", "How it is quantized", "What is written", "How it is stored", "Reading", "Reporting"};
template <Section Option::*column>
consteval bool begins_section(std::size_t i) {
  return i == 0 || kOptionsIn<column>[i].*column != kOptionsIn<column>[i - 1].*column;
}
template <Section Option::*column>
consteval std::size_t count_sections() {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kOptionsIn<column>.size(); ++i) count += begins_section<column>(i) ? 1 : 0;
  return count;
}
template <Section Option::*column>
consteval auto sections_in() {
  std::array<OptionSection, count_sections<column>()> sections{};
  std::size_t size = 0;
  for (std::size_t i = 0; i < kOptionsIn<column>.size(); ++i) {
    const Option& option = kOptionsIn<column>[i];
    if (begins_section<column>(i))
      sections[size++] = {kSectionTitles[static_cast<std::size_t>(option.*column)], option.name};
  }
  return sections;
}
// Their headings in the help.
template <Section Option::*column>
inline constexpr auto kSectionsIn = sections_in<column>();

inline constexpr Operand kFile{.name = "FILE", .completes = Completes::files};
inline constexpr Operand kFiles{.name = "FILE", .many = true, .completes = Completes::files};
inline constexpr Operand kTensor{.name = "TENSOR", .completes = Completes::tensors};

// Returns the options that were given as library options: each sets the field of its row. Broken tensors are listed in
// the model. --method, --keep and the like need the model: see recipe_from.
ConvertOptions conversion_options(const Arguments& arguments);
// The part of them that `open` takes.
ReadOptions read_options(const Arguments& arguments);
// The same for verbs that decode no tensor: these also open files that decode to too much.
ReadOptions listing_options(const Arguments& arguments);
// The part that concerns how the bytes are stored.
WriteOptions write_options(const Arguments& arguments);
// Returns whether --verbose was given; throws a UsageError if --quiet was given too.
bool verbose(const Arguments& arguments);
// Returns whether --match and --skip select a tensor's name.
bool selected(const Arguments& arguments, std::string_view name);

}  // namespace tare::cli
