// GPTQ ("gptq2", "gptq3", "gptq4", "gptq8") and AWQ ("awq4"): weights of a linear layer, packed along its inputs or
// outputs and stored transposed. The tensor is [out, in], as in the layer.
//
//   GPTQ   qweight  i32 [in * bits / 32, out]   the codes of one output are a stream of bits down its column
//          qzeros   i32 [groups, out * bits / 32]   a stream of bits along the row
//          scales   f16 (bf16, f32) [groups, out]
//          g_idx    i32 [in], the group of each input; may be missing: then the group is input / group_size
//          w = scale * (code - (zero + zero_offset) mod 2^bits)
//          zero_offset is 1 for the checkpoint_format "gptq", the usual one, and 0 for "gptq_v2".
//   AWQ    qweight  i32 [in, out / 8]           eight outputs per word, in the order 0 2 4 6 1 3 5 7 (version "gemm")
//          qzeros   i32 [groups, out / 8]       in the same order
//          scales   f16 (bf16, f32) [groups, out]
//          w = scale * (code - zero)
//
// Bits and the number of groups follow from the shapes; the config states group_size, checkpoint_format or version.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/once.hpp"
#include "base/printable.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/packs/families.hpp"
#include "codecs/packs/groups.hpp"
#include "codecs/packs/kernels.hpp"
#include "codecs/packs/nibbles.hpp"
#include "tare/error.hpp"

namespace tare::codec::packs {
namespace {

constexpr std::uint64_t kInputBlock = 4096;  // columns whose words are transposed at a time

// Scales and zero points of a few rows; a file has one column of them per row.
struct RowParameters {
  std::vector<float> scales, zeros;  // [row][group]
};

class GptqMaker final : public Maker {
 public:
  GptqMaker(const Tensor& tensor, unsigned bits)
      : Maker(tensor.shape[0], tensor.shape[1], kOutputs),
        bits_(bits),
        zero_offset_(static_cast<std::uint32_t>(whole_number(tensor, "zero_offset"))),
        group_size_(whole_number(tensor, "group_size")),
        groups_(ceil_div(columns(), group_size_)),
        qweight_(*tensor.component("qweight")),
        qzeros_(*tensor.component("qzeros")),
        scales_(*tensor.component("scales")),
        order_(tensor.component("g_idx"), columns(), group_size_, groups_) {
    read_from({&qweight_, &qzeros_, &scales_, order_.array()}, {&scales_});
  }

  void make(const Tile& tile, float* out) const override {
    const GroupIndex* const index = order_.index();
    const GroupRange range = groups_of(tile, group_size_, groups_, index);
    const RowParameters parameters = parameters_of(tile, range);
    std::vector<std::uint8_t> codes(kInputBlock);
    for_each_run(tile, [&](std::size_t row, std::uint64_t column, std::size_t count, const std::byte* stream) {
      expand(bits_, stream, count, codes.data());
      scale_groups({codes.data(), count}, column - range.first * group_size_, group_size_, index,
                   parameters.scales.data() + row * range.count, parameters.zeros.data() + row * range.count,
                   out + row * tile.columns + (column - tile.column));
    });
  }

  bool make_bf16(const Tile& tile, std::byte* out) const override {
    if (bits_ != 4 || order_.index() != nullptr) return false;
    const GroupRange range = groups_of(tile, group_size_, groups_, nullptr);
    const RowParameters parameters = parameters_of(tile, range);
    bool fit = true;
    for_each_run(tile, [&](std::size_t row, std::uint64_t column, std::size_t count, const std::byte* stream) {
      std::byte* const to = out + 2 * (row * tile.columns + (column - tile.column));
      const float* const scales = parameters.scales.data() + row * range.count;
      const float* const zeros = parameters.zeros.data() + row * range.count;
      for_each_group(column - range.first * group_size_, count, group_size_,
                     [&](std::size_t at, std::size_t part, std::size_t group) {
                       // A group can begin inside a byte only if its size is odd.
                       fit = fit && at % 2 == 0 &&
                             nibbles_to_bf16(NibbleOrder::low_first, stream + at / 2, part,
                                             {kWholeNibbles, zeros[group], scales[group]}, to + 2 * at);
                     });
    });
    return fit;
  }

  void verify(const std::function<void(Problem)>& report) const override {
    Maker::verify(report);
    order_.verify(report);
  }

  // Explains the first output. Its words are a column of the file, and so are its scales and zero points.
  FirstBlock explain(const Tensor& tensor) const override {
    const FirstGroup first = first_group(order_, columns(), group_size_);
    Explainer block(tensor, first.weights, "w = scale (q - zero); of the first output");
    const Bytes words =
        block.field("qweight", {.name = "qweight",
                                .what = "codes of the output's inputs, the first in the lowest bits of the first word",
                                .kind = FieldKind::bits,
                                .bytes = 4,
                                .bits = bits_,
                                .runs = ceil_div(first.weights * bits_, std::uint64_t{32}),
                                .stride = rows() * 4});
    const Bytes zeros = block.field(
        "qzeros", {.name = "qzeros",
                   .what = zero_offset_ == 0 ? "zero points of outputs, the first's in the lowest bits"
                                             : "zero points of outputs less one, the first's in the lowest bits",
                   .kind = FieldKind::bits,
                   .bytes = 4,
                   .bits = bits_,
                   .runs = first.groups,
                   .stride = rows() * bits_ / 32 * 4});
    std::vector<double> own_zeros(static_cast<std::size_t>(first.groups));
    for (std::size_t group = 0; group < own_zeros.size(); ++group)
      own_zeros[group] = (field_at(zeros.data() + 4 * group, 0, bits_) + zero_offset_) & ((1u << bits_) - 1);
    block.term("q", codes_in(words, bits_, first.weights)).term("zero", first.spread(own_zeros));
    block.term("scale", first.spread(block.numbers("scales", "scales of the groups", 0, first.groups, rows())));
    if (order_.array() != nullptr) block.term("group", block.numbers("g_idx", "group of each input", 0, first.weights));
    return block.take();
  }

 private:
  // The words of sixteen outputs share a cache line; those of the next input are far away.
  static constexpr std::uint64_t kOutputs = 64;

  // Calls visit(row, column, count, stream) for some inputs of each row in turn; `stream` has the codes from `column`
  // on, as a stream of bits.
  template <typename Visit>
  void for_each_run(const Tile& tile, const Visit& visit) const {
    const auto rows = static_cast<std::size_t>(tile.rows);
    std::vector<std::uint32_t> words;
    Bytes buffer;
    for (std::uint64_t done = 0; done < tile.columns; done += kInputBlock) {
      const auto count = static_cast<std::size_t>(std::min(kInputBlock, tile.columns - done));
      const std::uint64_t column = tile.column + done, pitch = Maker::rows() * 4;
      const auto height = ceil_div(std::uint64_t{count} * bits_, std::uint64_t{32});
      words.resize(rows * height);
      turn_words(qweight_.lines(column * bits_ / 32 * pitch + tile.row * 4, pitch, height, rows * 4, buffer), rows,
                 words.data(), height);
      for (std::size_t row = 0; row < rows; ++row)
        visit(row, column, count, reinterpret_cast<const std::byte*>(words.data() + row * height));
    }
  }

  RowParameters parameters_of(const Tile& tile, const GroupRange& range) const {
    const std::size_t rows = static_cast<std::size_t>(tile.rows), groups = range.count;
    RowParameters made{std::vector<float>(rows * groups), std::vector<float>(rows * groups)};
    std::vector<float> line(rows);
    Bytes buffer;
    const std::uint64_t zero_words = Maker::rows() * bits_ / 32;
    const std::uint64_t begin = tile.row * bits_ / 32,
                        end = ceil_div((tile.row + tile.rows) * bits_, std::uint64_t{32});
    const std::uint32_t mask = (1u << bits_) - 1;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::uint64_t own = range.first + group;
      scales_.floats(own * Maker::rows() + tile.row, rows, line.data());
      for (std::size_t row = 0; row < rows; ++row) made.scales[row * groups + group] = line[row];
      // Starts at a multiple of `bits` words, where a field begins at the start of a word.
      const std::uint64_t run = begin / bits_ * bits_;
      const std::byte* const zeros = qzeros_.at((own * zero_words + run) * 4, (end - run) * 4, buffer);
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint32_t zero = field_at(zeros, tile.row + row - run * 32 / bits_, bits_);
        made.zeros[row * groups + group] = static_cast<float>((zero + zero_offset_) & mask);
      }
    }
    return made;
  }

  unsigned bits_;
  std::uint32_t zero_offset_;
  std::uint64_t group_size_, groups_;
  Array qweight_, qzeros_, scales_;
  GroupOrder order_;
};

class AwqMaker final : public Maker {
 public:
  explicit AwqMaker(const Tensor& tensor)
      : Maker(tensor.shape[0], tensor.shape[1], kOutputs),
        group_size_(whole_number(tensor, "group_size")),
        groups_(ceil_div(columns(), group_size_)),
        qweight_(*tensor.component("qweight")),
        qzeros_(*tensor.component("qzeros")),
        scales_(*tensor.component("scales")) {
    read_from({&qweight_, &qzeros_, &scales_}, {&scales_});
  }

  void make(const Tile& tile, float* out) const override {
    const GroupRange range = groups_of(tile, group_size_, groups_, nullptr);
    const RowParameters parameters = parameters_of(tile, range);
    std::vector<std::uint8_t> codes(kBlock);
    for_each_run(
        tile, [&](std::size_t row, std::uint64_t column, std::size_t count, const std::byte* bytes, bool high) {
          for (std::size_t i = 0; i < count; ++i)
            codes[i] = static_cast<std::uint8_t>(std::to_integer<unsigned>(bytes[i]) >> (high ? 4 : 0) & 15u);
          scale_groups({codes.data(), count}, column - range.first * group_size_, group_size_, nullptr,
                       parameters.scales.data() + row * range.count, parameters.zeros.data() + row * range.count,
                       out + row * tile.columns + (column - tile.column));
        });
  }

  bool make_bf16(const Tile& tile, std::byte* out) const override {
    const GroupRange range = groups_of(tile, group_size_, groups_, nullptr);
    const RowParameters parameters = parameters_of(tile, range);
    bool fit = true;
    for_each_run(tile, [&](std::size_t row, std::uint64_t column, std::size_t count, const std::byte* bytes,
                           bool high) {
      std::byte* const to = out + 2 * (row * tile.columns + (column - tile.column));
      const float* const scales = parameters.scales.data() + row * range.count;
      const float* const zeros = parameters.zeros.data() + row * range.count;
      for_each_group(column - range.first * group_size_, count, group_size_,
                     [&](std::size_t at, std::size_t part, std::size_t group) {
                       fit = fit && nibbles_to_bf16(high ? NibbleOrder::high_only : NibbleOrder::low_only, bytes + at,
                                                    part, {kWholeNibbles, zeros[group], scales[group]}, to + 2 * at);
                     });
    });
    return fit;
  }

  // Explains the first output, which is in the lowest bits of a word per input.
  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(tensor, std::min({columns(), group_size_, kMostExplained}),
                    "w = scale (q - zero); of the first output, q in the lowest bits of each word");
    constexpr std::string_view kOrder = "8 outputs in a word, in the order 0 2 4 6 1 3 5 7";
    const Bytes words = block.field("qweight", {.name = "qweight",
                                                .what = kOrder,
                                                .kind = FieldKind::bits,
                                                .bytes = 4,
                                                .bits = 4,
                                                .runs = block.weights(),
                                                .stride = rows() / 8 * 4});
    const Bytes zeros =
        block.field("qzeros", {.name = "qzeros", .what = kOrder, .kind = FieldKind::bits, .bytes = 4, .bits = 4});
    std::vector<double> codes(block.weights());
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = std::to_integer<unsigned>(words[4 * i]) & 15;
    block.term("q", std::move(codes)).term("zero", std::to_integer<unsigned>(zeros[0]) & 15);
    return block.term("scale", block.numbers("scales", "scale of the group")).take();
  }

 private:
  static constexpr std::size_t kBlock = 2048;  // columns whose bytes are transposed at a time
  // Their words fill a cache line; those of the next input are far away, often in another page.
  static constexpr std::uint64_t kOutputs = 128;

  // The nibble of an output in its word.
  static unsigned place_of(std::uint64_t output) {
    constexpr std::array<std::uint8_t, 8> kPlaces = {0, 4, 1, 5, 2, 6, 3, 7};
    return kPlaces[output % 8];
  }

  // Calls visit(row, column, count, bytes, high) for some inputs of each row in turn. Each byte has a code in its high
  // or in its low half.
  template <typename Visit>
  void for_each_run(const Tile& tile, const Visit& visit) const {
    const std::uint64_t first = tile.row / 8, pitch = rows() / 2;
    const auto wide = (ceil_div(tile.row + tile.rows, std::uint64_t{8}) - first) * 4;
    Bytes turned(wide * kBlock), buffer;
    for (std::uint64_t done = 0; done < tile.columns; done += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, tile.columns - done));
      const std::uint64_t column = tile.column + done;
      turn_bytes(qweight_.lines(column * pitch + first * 4, pitch, count, wide, buffer), wide, turned.data(), kBlock);
      for (std::uint64_t row = 0; row < tile.rows; ++row) {
        const std::uint64_t output = tile.row + row;
        const auto byte = (output / 8 - first) * 4 + place_of(output) / 2;
        visit(row, column, count, turned.data() + byte * kBlock, place_of(output) % 2 != 0);
      }
    }
  }

  RowParameters parameters_of(const Tile& tile, const GroupRange& range) const {
    const std::size_t rows = static_cast<std::size_t>(tile.rows), groups = range.count;
    RowParameters made{std::vector<float>(rows * groups), std::vector<float>(rows * groups)};
    std::vector<float> line(rows);
    const std::uint64_t first = tile.row / 8;
    const auto wide = ceil_div(tile.row + tile.rows, std::uint64_t{8}) - first;
    Bytes buffer;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::uint64_t own = range.first + group;
      scales_.floats(own * Maker::rows() + tile.row, rows, line.data());
      const std::byte* const zeros = qzeros_.at((own * (Maker::rows() / 8) + first) * 4, wide * 4, buffer);
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint64_t output = tile.row + row;
        const auto word = load_le<std::uint32_t>(zeros + (output / 8 - first) * 4);
        made.scales[row * groups + group] = line[row];
        made.zeros[row * groups + group] = static_cast<float>(word >> (4 * place_of(output)) & 15);
      }
    }
    return made;
  }

  std::uint64_t group_size_, groups_;
  Array qweight_, qzeros_, scales_;
};

constexpr std::string_view kGptqParameters[] = {"group_size", "zero_offset", kArrays};
constexpr std::string_view kAwqParameters[] = {"group_size", kArrays};

std::uint64_t groups_in(const Tensor& tensor) {
  const std::uint64_t size = whole_number(tensor, "group_size");
  if (size == 0) refuse("pack.group", "the group size is 0");
  return ceil_div(tensor.shape[1], size);
}

template <unsigned kBits>
std::shared_ptr<const Maker> plan_gptq(const Tensor& tensor) {
  require_rank(tensor, 2, 2);
  const std::uint64_t out = matrix_rows(tensor), in = tensor.shape[1], groups = groups_in(tensor);
  if (whole_number(tensor, "zero_offset") > 1) refuse("pack.attribute", "zero_offset is 0 or 1");
  if (in * kBits % 32 != 0 || out * kBits % 32 != 0)
    refuse("pack.shape", fmt::format("{} bits of {} are not whole words", kBits, tensor.shape.text()));
  require_array(tensor, "qweight", kWords, product(in * kBits / 32, out));
  require_array(tensor, "qzeros", kWords, product(groups, out * kBits / 32));
  require_array(tensor, "scales", kFloats, product(groups, out));
  optional_array(tensor, "g_idx", kWords, in);
  refuse_long_index(tensor, "g_idx");
  return std::make_shared<GptqMaker>(tensor, kBits);
}

std::shared_ptr<const Maker> plan_awq(const Tensor& tensor) {
  require_rank(tensor, 2, 2);
  const std::uint64_t out = matrix_rows(tensor), in = tensor.shape[1], groups = groups_in(tensor);
  if (out % 8 != 0) refuse("pack.shape", fmt::format("{} outputs are not whole words of 8", out));
  require_array(tensor, "qweight", kWords, product(in, out / 8));
  require_array(tensor, "qzeros", kWords, product(groups, out / 8));
  require_array(tensor, "scales", kFloats, product(groups, out));
  return std::make_shared<AwqMaker>(tensor);
}

// The size of `groups` groups of inputs: as the config states, or else as the number of groups implies.
std::uint64_t group_size_of(const Set& set, std::uint64_t in, std::uint64_t groups) {
  if (groups == 0) refuse("pack.group", "there are no groups of scales");
  for (const std::string_view key : {"group_size", "q_group_size"}) {
    const auto stated = stated_whole(set.stated().config, key, "pack.group");
    if (!stated) continue;
    if (*stated == 0 || *stated < -1)
      refuse("pack.group", fmt::format("the config states a group size of {}", *stated));
    const std::uint64_t size = *stated == -1 ? in : static_cast<std::uint64_t>(*stated);  // -1: one group
    if (size > 0 && ceil_div(in, size) == groups) return size;
    if (!has_exceptions(set.stated()))
      refuse("pack.group",
             fmt::format("{} inputs in groups of {}, which the config states, are not {} groups", in, *stated, groups));
  }
  // A layer may differ from what the config states for all layers.
  const std::uint64_t size = ceil_div(in, groups);
  if (size == 0 || ceil_div(in, size) != groups)
    refuse("pack.group", fmt::format("{} inputs do not make {} groups of one size", in, groups));
  return size;
}

// auto-round writes the layouts of other programs, and its config states which.
struct AutoRound {
  std::string_view packing;
  std::string_view method;  // the method whose arrays it has
  std::uint64_t zero_offset;
};
constexpr AutoRound kAutoRound[] = {{"auto_round:auto_gptq", "gptq", 1}, {"auto_gptq", "gptq", 1},
                                    {"auto_round:gptqmodel", "gptq", 0}, {"auto_round", "gptq", 0},
                                    {"auto_round:auto_awq", "awq", 0},   {"auto_awq", "awq", 0}};

// Null if the config states another method.
const AutoRound* auto_round(const Stated& stated) {
  if (stated.method != "auto-round" && stated.method != "intel/auto-round") return nullptr;
  const std::string* const packing = stated_text(stated, "packing_format");
  for (const AutoRound& row : kAutoRound)
    if (packing != nullptr && row.packing == *packing) return &row;
  refuse_variant(packing == nullptr
                     ? std::string("auto-round's config does not state a packing_format")
                     : fmt::format("auto-round's packing format \"{}\" is not decoded", quote(*packing)));
}

bool is_method(const Set& set) {
  const Stated& stated = set.stated();
  if (stated.method.empty() || stated.method == set.scheme().method) return true;
  const AutoRound* const row = auto_round(stated);
  return row != nullptr && row->method == set.scheme().method;
}

std::uint64_t zero_offset_of(const Stated& stated) {
  if (const AutoRound* const row = auto_round(stated)) return row->zero_offset;
  for (const std::string_view key : {"checkpoint_format", "format"}) {
    const std::string* const format = stated_text(stated, key);
    if (const Value* const value = stated.config.find(key); value != nullptr && format == nullptr && !value->is_null())
      refuse("pack.type", fmt::format("the config states a {} that is not text", key));
    if (format == nullptr || *format == "gptq") continue;
    if (*format == "gptq_v2") return 0;
    refuse_variant(fmt::format("GPTQ's checkpoint format \"{}\" is packed in an order of its own", quote(*format)));
  }
  return 1;
}

void require_stated_bits(const Set& set, std::uint64_t bits) {
  for (const std::string_view key : {"bits", "w_bit"}) {
    const auto stated = stated_whole(set.stated().config, key, "pack.shape");
    if (stated && *stated != static_cast<std::int64_t>(bits) && !has_exceptions(set.stated()))
      refuse("pack.shape", fmt::format("the config states codes of {} bits, the shapes those of {}", *stated, bits));
  }
}

std::optional<Tensor> join_gptq(const Set& set) {
  const Tensor& codes = set.codes();
  const Tensor& scales = set.require("scales");
  if (!is_method(set)) return std::nullopt;
  const std::uint64_t zero_offset = zero_offset_of(set.stated());  // first, because other formats have other arrays
  const bool whole = codes.shape.rank() == 2 && scales.shape.rank() == 2 && codes.shape[1] == scales.shape[1];
  if (!whole && set.stated().method.empty()) return std::nullopt;
  if (codes.shape.rank() != 2 || scales.shape.rank() != 2)
    refuse("pack.shape", "the codes and the scales are not matrices");
  const Tensor& zeros = set.require("qzeros");
  const Tensor* const order = set.find("g_idx");
  const std::uint64_t words = codes.shape[0], out = codes.shape[1], groups = scales.shape[0];
  // From the number of inputs if it is known, else from the zero points of the outputs.
  std::uint64_t bits = 0;
  if (order != nullptr && order->shape.rank() == 1 && order->shape[0] > 0) bits = product(words, 32) / order->shape[0];
  if (order == nullptr && zeros.shape.rank() == 2 && out > 0) bits = product(zeros.shape[1], 32) / out;
  if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
    refuse("pack.shape", fmt::format("codes of {} are not of 2, 3, 4 or 8 bits", codes.shape.text()));
  require_stated_bits(set, bits);
  const std::uint64_t in = order != nullptr ? order->shape[0] : product(words, 32) / bits;
  Joining joining(set, fmt::format("gptq{}", bits), {out, in});
  joining.set("group_size", group_size_of(set, in, groups)).set("zero_offset", zero_offset);
  joining.add("qweight", codes, kWords, {product(in, bits) / 32, out});
  joining.add("qzeros", zeros, kWords, {groups, product(out, bits) / 32});
  joining.add("scales", scales, kFloats, {groups, out});
  if (order != nullptr) joining.add("g_idx", *order, kWords, {in});
  return joining.take();
}

std::optional<Tensor> join_awq(const Set& set) {
  const Tensor& codes = set.codes();
  const Tensor& scales = set.require("scales");
  if (!is_method(set)) return std::nullopt;
  if (const std::string* const version = stated_text(set.stated(), "version"); version != nullptr)
    if (*version != "gemm" && *version != "GEMM")
      refuse_variant(fmt::format("AWQ's version \"{}\" is packed in an order of its own", quote(*version)));
  if (codes.shape.rank() != 2 || scales.shape.rank() != 2)
    refuse("pack.shape", "the codes and the scales are not matrices");
  require_stated_bits(set, 4);
  const std::uint64_t in = codes.shape[0], out = product(codes.shape[1], 8), groups = scales.shape[0];
  Joining joining(set, "awq4", {out, in});
  joining.set("group_size", group_size_of(set, in, groups));
  joining.add("qweight", codes, kWords, {in, out / 8});
  joining.add("qzeros", set.require("qzeros"), kWords, {groups, out / 8});
  joining.add("scales", scales, kFloats, {groups, out});
  return joining.take();
}

constexpr Member kGptqMembers[] = {{".qweight", "codes", "qweight"},
                                   {".qzeros", "zeros", "qzeros", true},
                                   {".scales", "scales", "scales"},
                                   {".g_idx", "groups", "g_idx"}};
constexpr Member kAwqMembers[] = {
    {".qweight", "codes", "qweight"}, {".qzeros", "zeros", "qzeros"}, {".scales", "scales", "scales"}};

// GPTQ packs several inputs into a word, AWQ several outputs; in both the scales have a column for every output.
bool outputs_whole(const Shape& codes, const Shape& scales) {
  return codes.rank() == 2 && scales.rank() == 2 && codes[1] == scales[1];
}
bool outputs_packed(const Shape& codes, const Shape& scales) {
  return codes.rank() == 2 && scales.rank() == 2 && codes[1] < scales[1];
}

constexpr Scheme kGptqSchemes[] = {
    {.name = "gptq",
     .title = "GPTQ",
     .method = "gptq",
     .types = kWords,
     .members = kGptqMembers,
     .beside = 2,
     .fits = outputs_whole,
     .join = join_gptq,
     .certain = true,
     .guess = "zero points stored less 1 (checkpoint_format gptq, not gptq_v2)"},
    {.name = "awq",
     .title = "AWQ",
     .method = "awq",
     .types = kWords,
     .members = kAwqMembers,
     .beside = 2,
     .bits = 4,
     .fits = outputs_packed,
     .join = join_awq,
     .certain = true},
};

template <unsigned kBits>
constexpr Pack gptq_pack(std::string_view layout, std::string_view title) {
  return {layout, title, kRoles<kGptqMembers>, kGptqParameters, plan_gptq<kBits>};
}

constexpr Pack kGptqPacks[] = {
    gptq_pack<2>("gptq2", "GPTQ: 2 bits with a scale and a zero point for each group of inputs"),
    gptq_pack<3>("gptq3", "GPTQ: 3 bits with a scale and a zero point for each group of inputs"),
    gptq_pack<4>("gptq4", "GPTQ: 4 bits with a scale and a zero point for each group of inputs"),
    gptq_pack<8>("gptq8", "GPTQ: 8 bits with a scale and a zero point for each group of inputs"),
    {"awq4", "AWQ: 4 bits with a scale and a zero point for each group of inputs", kRoles<kAwqMembers>, kAwqParameters,
     plan_awq},
};

}  // namespace

constinit const Family kGptqFamily = {kGptqSchemes, kGptqPacks};

}  // namespace tare::codec::packs
