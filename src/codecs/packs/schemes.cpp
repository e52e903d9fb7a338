// The tables of this folder: a new family needs its file, a name in rows.hpp and an entry here.
#include <fmt/format.h>

#include "base/forever.hpp"
#include "base/printable.hpp"
#include "base/process_mutex.hpp"
#include "codecs/packs/families.hpp"
#include "codecs/rows.hpp"
#include "tare/error.hpp"

namespace tare::codec::packs {
namespace {

// Schemes are tried in this order. Those that are not decoded come last, because some have names that are part of
// another scheme's.
constexpr const Family* kFamilies[] = {&kGptqFamily,   &kBnbFamily,   &kStreamFamily, &kFp4Family,
                                       &kScaledFamily, &kNbitsFamily, &kNotDecoded};

// Null for a layout of another folder.
const Pack* find_pack(std::string_view layout) {
  for (const Family* const family : kFamilies)
    for (const Pack& pack : family->packs)
      if (pack.layout == layout) return &pack;
  return nullptr;
}

// A codec has functions without state: these find the pack by the layout of the tensor.
const Pack& pack_of(const Tensor& tensor) { return *find_pack(tensor.layout); }

Codec codec_of(const Pack& pack) {
  return {
      .layout = pack.layout,
      .name = pack.layout,
      .title = pack.title,
      .methods = {},
      .roles = pack.roles,
      .parameters = pack.parameters,
      .check = [](const Tensor& tensor) { return check_pack(pack_of(tensor), tensor); },
      .verify = [](const Tensor& tensor,
                   const std::function<void(Problem)>& report) { verify_pack(pack_of(tensor), tensor, report); },
      .decode = [](const Tensor& tensor) { return decode_pack(pack_of(tensor), tensor); },
      .explain = [](const Tensor& tensor) -> std::optional<FirstBlock> {
        return pack_of(tensor).plan(tensor)->explain(tensor);
      },
  };
}

const BeforeFork kSchemesBeforeFork([] { static_cast<void>(schemes()); });

}  // namespace

std::vector<Codec> codecs() {
  std::vector<Codec> rows;
  for (const Family* const family : kFamilies)
    for (const Pack& pack : family->packs) rows.push_back(codec_of(pack));
  return rows;
}

std::span<const Scheme* const> schemes() {
  static Forever<std::vector<const Scheme*>> all([] {
    std::vector<const Scheme*> rows;
    for (const Family* const family : kFamilies)
      for (const Scheme& scheme : family->schemes) rows.push_back(&scheme);
    return rows;
  }());
  return *all;
}

std::vector<const Scheme*> schemes_with_beside(std::span<const Tensor> tensors) {
  const auto all = schemes();
  std::vector<const Scheme*> found, left(all.begin(), all.end());
  for (const Tensor& tensor : tensors) {
    if (left.empty()) break;
    std::erase_if(left, [&](const Scheme* row) {
      if (row->by_statement || !tensor.name.ends_with(row->beside_ending())) return false;
      found.push_back(row);
      return true;
    });
  }
  // Restore the order of the table: the first row that fits is used.
  std::ranges::sort(found, {}, [&](const Scheme* row) { return std::ranges::find(all, row) - all.begin(); });
  return found;
}

StatedMethod stated_method(std::string_view method) {
  const Scheme* found = nullptr;
  for (const Scheme* const row : schemes())
    if (row->method == method && (found == nullptr || row->is_decoded())) found = row;
  const std::string stated = fmt::format("the config states the method \"{}\"", quote(method));
  if (found == nullptr) return {false, false, stated + ", which is not one that Tare knows"};
  if (found->is_decoded()) return {true, true, stated + ", and no arrays are named as it names them"};
  return {true, false, fmt::format("{}: {}", stated, found->why_not)};
}

bool is_method_name(std::string_view method) {
  // ModelOpt's quant_algo has a name for each way to quantize; the other names belong to one library each.
  constexpr std::string_view kOthers[] = {
      "auto-round",     "intel/auto-round", "fbgemm_fp8", "finegrained_fp8", "ptpc_fp8",  "modelopt_fp4",
      "nvfp4",          "nvfp4_awq",        "w4a16_awq",  "fp8_pb_wo",       "fp8_pc_pt", "fp8_per_channel_per_token",
      "mixed_precision"};
  return stated_method(method).known || std::ranges::find(kOthers, method) != std::end(kOthers);
}

Tensor decode_strictly(const Tensor& tensor, Scales scales) {
  const Pack* const pack = find_pack(tensor.layout);
  if (pack == nullptr) return to_dense(tensor);
  if (const auto problem = check_pack(*pack, tensor))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about("tensor " + quote(tensor.name));
  return decode_pack(*pack, tensor, scales);
}

std::string scale_problem(const Tensor& tensor) {
  std::string found;
  const Pack* const pack = find_pack(tensor.layout);
  if (pack == nullptr || check_pack(*pack, tensor)) return found;
  const auto take = [&](const Problem& problem) {
    if (found.empty()) found = problem.sentence;
  };
  const std::shared_ptr<const Maker> maker = pack->plan(tensor);
  maker->verify_scales(take);
  if (found.empty()) maker->verify_weights(take);
  return found;
}

}  // namespace tare::codec::packs
