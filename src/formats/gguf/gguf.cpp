// GGUF (.gguf): the container of llama.cpp and other programs that use ggml.
//
//   0   "GGUF"
//   4   u32 version: 1, 2 or 3
//   8   u64 number of tensors
//   16  u64 number of metadata entries
//   24  the entries, one after another: string key, u32 type, value
//         types   0 u8, 1 i8, 2 u16, 3 i16, 4 u32, 5 i32, 6 f32, 7 bool, 8 string, 9 array, 10 u64, 11 i64, 12 f64
//         string  u64 length, bytes
//         array   u32 type of its elements (not another array), u64 count, the elements one after another
//       the tensors: string name, u32 number of dimensions (at most 4), u64 for each dimension, the fastest first,
//         u32 type (types.cpp), u64 offset from the beginning of the data
//       zeros up to a multiple of the alignment: the entry general.alignment, else 32
//       the data: the tensors in that order, each followed by zeros up to a multiple of the alignment
//
// Version 1 has u32 lengths, counts and dimensions. Version 3 may be in the other byte order throughout, including the
// numbers inside blocks; the bytes of the version show which. Tare writes version 3, little-endian, with alignment 32
// unless the model has another.
//
// Mapping: shapes have the slowest dimension first, as everywhere in Tare. Blocks are layouts "ggml.q4_0", ... with one
// component `payload`. Entries with the architecture's hyper-parameters become the config, those of the tokenizer the
// vocabulary (vocabulary.cpp), all others metadata under their keys. The order and the types of the keys are kept in the
// metadata key gguf.keys. What GGUF has no field for is kept in the entry tare.private.
//
// Models in several files: splits.cpp. Editing the entries of a file: entries.cpp, amend.cpp. The container keeps the names
// and the numbers of tensors as they are; what llama.cpp expects of them is in the folder llama_cpp.
#include "formats/gguf/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/families.hpp"
#include "base/text.hpp"
#include "codecs/ggml/type_table.hpp"
#include "formats/gguf/llama_cpp/llama_cpp.hpp"
#include "formats/gguf/llama_cpp/towers.hpp"
#include "formats/gguf/vocabulary.hpp"
#include "formats/rows.hpp"

namespace tare::gguf {
namespace {

bool recognize(const Source& source) {
  std::array<char, 4> head{};
  if (source.size() < head.size()) return false;
  source.read(0, std::as_writable_bytes(std::span(head)));
  return std::string_view(head.data(), head.size()) == kMagic;
}

// Notes how much attached files add. They travel so that converting back gives the same directory; no runtime reads
// them. Small ones are not mentioned.
void report_attached(const Model& model, std::vector<Change>& lines) {
  constexpr std::uint64_t kSmall = std::uint64_t{256} << 10;
  std::uint64_t bytes = 0;
  for (const Attachment& file : model.attachments) bytes += file.blob.size();
  if (bytes < kSmall) return;
  const std::size_t files = model.attachments.size();
  lines.push_back(
      {.impact = Impact::note,
       .detail = fmt::format("{} attached {} {} of the file; runtimes ignore {}", files,
                             files == 1 ? "file takes" : "files take", size_text(bytes), files == 1 ? "it" : "them"),
       .remedies = {{Remedy::drop, "attachments"}}});
}

// Notes what llama.cpp needs and the model lacks, and what llama.cpp does not use.
std::vector<Change> remarks(const Model& model, const WriteOptions& /*options*/) {
  std::vector<Change> all;
  report_attached(model, all);
  for (std::string& problem : std::vector{text_problem(model), repetition_problem(model)})
    if (!problem.empty())
      all.push_back(
          {.kind = ChangeKind::remark, .impact = Impact::results, .part = "vocabulary", .detail = std::move(problem)});
  const bool is_model =
      model.metadata.find("general.type") == nullptr || *model.metadata.find("general.type") == "model";
  if (!is_model || model.tensors.size() < 2) return all;
  const auto add = [&](std::string_view sentence) {
    all.push_back({.impact = Impact::note, .detail = std::string(sentence)});
  };
  if (!model.config.model_type)
    add("the model does not state its architecture: llama.cpp will not load this file");
  else if (model.vocabulary.tokens.empty() && arch::find_family(*model.config.model_type) != nullptr)
    add("there is no tokenizer: llama.cpp will not load this file");
  return all;
}

// An edit of the pre-tokenizer's name contradicts the attached files that state how text is split.
void apply_model(Model& model, std::vector<MetadataEntry> list) {
  const Value* const named = model.metadata.find(kPreTokenizerKey);
  const Value before = named == nullptr ? Value() : *named;
  apply_entries(model, std::move(list));
  llama_cpp::drop_other_cuts(model, before);
}

constexpr MetadataRules kMetadataRules = {
    .list = list_entries,
    .apply = apply_model,
    .is_type = is_entry_type,
    .types = "u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, bool, string, and [u8] and so on for arrays",
    .declared_type = declared_entry_type,
    .fit = fit_entry,
    .usual_type = usual_entry_type,
    .reserved = reserved_key,
    .owns = llama_cpp::owns_key,
    .describes = llama_cpp::describes_model};

constexpr DType kTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16,
                            DType::i64, DType::i32, DType::i16, DType::i8};
constexpr auto kLayouts = [] {
  std::array<std::string_view, 1 + std::size(codec::ggml::kTypes)> all = {"dense"};
  std::ranges::transform(codec::ggml::kTypes, all.begin() + 1, &codec::ggml::TypeFacts::layout);
  return all;
}();
constexpr std::string_view kSuffixes[] = {kSuffix};
constexpr OwnKey kOwnKeys[] = {{.key = kKeysKey, .about_file = true},   {.key = kPlainTokensKey, .about_file = true},
                               {.key = kPaddedKey, .about_file = true}, {.key = kRootKey, .about_file = true},
                               {.key = kTowerKey, .about_file = true},  {.key = kAlignmentKey, .about_file = true}};

}  // namespace

constinit const TowerConventions kTowers = {
    .format = kFormatName, .adopt = llama_cpp::adopt_tower, .join = llama_cpp::join_tower};

constinit const Format kFormat = {
    .name = kFormatName,
    .title = "GGUF",
    .versions = "reads 1 to 3, either byte order, split sets; writes 3",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kTypes,
              .logical_types = {},
              .layouts = kLayouts,
              .metadata = Room::tree,
              .config = true,
              .vocabulary = true,
              .attachments = true,
              .own_fields = kOwnFields,
              .tensor_attributes = true,
              .shards = true,
              .forward_only = true,
              .max_rank = kMaxRank,
              .max_name = kMaxName},
    .recognize = recognize,
    .read = read,
    .write = write,
    .remarks = remarks,
    .own_keys = kOwnKeys,
    .adopt = llama_cpp::adopt,
    .release = llama_cpp::release,
    .follows = llama_cpp::follows,
    .count_released = llama_cpp::count_released,
    .wants_f32 = llama_cpp::wants_f32,
    .retyped = llama_cpp::retyped,
    .metadata = &kMetadataRules,
    .amend = amend,
    .rewrite_metadata = rewrite_metadata,
    .recognize_tree = recognize_tree,
    .write_tree = write_tree,
};

}  // namespace tare::gguf
