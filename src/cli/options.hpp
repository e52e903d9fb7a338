// Options that several verbs share, each described once.
#pragma once

#include "cli/command.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {

inline constexpr Option kJson{.name = "json", .help = "print JSON for programs"};
inline constexpr Option kNoMmap{.name = "no-mmap", .help = "read the file instead of mapping it into memory"};
inline constexpr Option kMaxExpansion{
    .name = "max-expansion",
    .value = "N",
    .help = "let the file decode to N times its size plus 16 MiB; 32 times by default"};
inline constexpr Option kThreads{
    .name = "threads", .value = "N", .help = "use at most N threads; 0, the default, means all cores"};
inline constexpr Option kForce{.letter = 'f', .name = "force", .help = "replace an existing output file"};
inline constexpr Option kVerbose{
    .letter = 'v', .name = "verbose", .help = "report every change, harmless ones too, with the names of tensors"};
inline constexpr Option kMatch{.name = "match",
                               .value = "GLOB",
                               .help = "only tensors whose name matches (*, ?, [a-z]); may be given several times",
                               .repeatable = true};
inline constexpr Option kSkip{.name = "skip",
                              .value = "GLOB",
                              .help = "omit tensors whose name matches; may be given several times",
                              .repeatable = true};
inline constexpr Option kSet{.name = "set",
                             .value = "KEY=VALUE",
                             .help = "set a metadata key; VALUE is JSON, or else a string; may be given several times",
                             .repeatable = true};
inline constexpr Option kOutput{.letter = 'o',
                                .name = "output",
                                .value = "PATH",
                                .help = "write to PATH instead of standard output",
                                .completes = Completes::files};
inline constexpr Option kZstd{.name = "zstd",
                              .value = "LEVEL",
                              .help = "compress with zstd, from 1 (fast) to 22 (small); 3 by default",
                              .optional_value = true};
inline constexpr Option kNoZstd{.name = "no-zstd",
                                .help = "decompress what IN stores compressed with zstd; by default it stays as it is"};

Words drop_words();
// Returns the parts that --drop names.
std::vector<ModelPart> dropped_parts(const Arguments& arguments);
inline constexpr Option kDrop{.name = "drop",
                              .value = "WHAT",
                              .help = "omit this from OUT; may be given several times",
                              .repeatable = true,
                              .words = drop_words};

inline constexpr Option kWeightsOnly{.name = "weights-only",
                                     .help = "write the tensors only, without config, vocabulary and files"};
Words names_words();
inline constexpr Option kShard{
    .name = "shard",
    .value = "SIZE",
    .help = "split the tensors into files of at most SIZE (5GB, 500MiB) in the directory OUT"};
inline constexpr Option kMerge{
    .name = "merge",
    .value = "ADAPTER",
    .help = "add a LoRA adapter, the directory that PEFT writes, to the weights; may be given several times",
    .repeatable = true,
    .completes = Completes::files};
inline constexpr Option kNames{
    .name = "names",
    .value = "WHAT",
    .help = "\"keep\" keeps the tensor names of IN; by default, OUT gets those that programs expect",
    .words = names_words};
inline constexpr Option kAttach{
    .name = "attach",
    .value = "GLOB",
    .help = "also carry files of the directory IN whose name matches (*.md, onnx/*); may be given several times",
    .repeatable = true};

// Returns for example "f16" for "float16", and "float16" for "floaat16"; the value itself if no type is similar.
std::string dtype_spelling(const std::string& value);
// The methods of --quant: those of the layouts, by short and full name, and the mixes.
Words quant_words();
Words digest_words();
inline constexpr Option kDigest{.name = "digest",
                                .value = "ALGORITHM",
                                .help = "store a digest with every component; \"none\" omits those stored in IN",
                                .words = digest_words};

inline constexpr Operand kFile{.name = "FILE", .completes = Completes::files};
inline constexpr Operand kFiles{.name = "FILE", .many = true, .completes = Completes::files};
inline constexpr Operand kTensor{.name = "TENSOR", .completes = Completes::tensors};

// Returns --no-mmap, --max-expansion and --attach as library options. Broken tensors are listed in the model.
ReadOptions read_options(const Arguments& arguments);
// The same for verbs that decode no tensor: these also open files that decode to too much.
ReadOptions listing_options(const Arguments& arguments);
// Returns --zstd, --no-zstd, --digest and --threads as library options.
WriteOptions write_options(const Arguments& arguments);
// Returns the options that convert and quantize share. All verbs that convert use this function, so that none can
// ignore an option of another.
ConvertOptions conversion_options(const Arguments& arguments);
// The values of --overflow.
Words overflow_words();
Overflow overflow_from(const Arguments& arguments);
// Returns the metadata pairs of --set; throws a UsageError for a pair without "=".
std::vector<std::pair<std::string, std::string>> set_pairs(const Arguments& arguments);
// Returns whether --verbose was given; throws a UsageError if --quiet was given too.
bool verbose(const Arguments& arguments);
// Returns whether --match and --skip select a tensor's name.
bool selected(const Arguments& arguments, std::string_view name);

}  // namespace tare::cli
