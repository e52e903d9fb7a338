// bitsandbytes: "bnb.nf4", "bnb.fp4" and "bnb.int8".
//
//   4 bits   weight       u8, any shape: two codes per byte, the even one in the high half; blocks of `blocksize`
//                         weights continue over the whole tensor, whatever its shape
//            absmax       f32 [blocks]; or u8, quantized again in blocks of `nested_blocksize`
//            quant_map    f32 [16], the values of the codes
//            nested_absmax f32, nested_quant_map f32 [256]
//            quant_state  u8: JSON with the shape, blocksize, nested_blocksize, nested_offset, dtype
//            w = map[code] * absmax;  absmax = nested_map[byte] * nested_absmax + nested_offset; each step is f32
//   8 bits   weight i8 [out, in], SCB f32 [out], weight_format u8 (0: by rows)
//            w = code * SCB * (1 / 127), each product rounded to f32
//
// quant_state is read when a file is opened, because only it has the shape.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/packs/families.hpp"
#include "codecs/packs/groups.hpp"
#include "codecs/packs/kernels.hpp"
#include "codecs/packs/nibbles.hpp"
#include "tare/error.hpp"
#include "wire/json.hpp"

namespace tare::codec::packs {
namespace {

class Bnb4Maker final : public Maker {
 public:
  explicit Bnb4Maker(const Tensor& tensor)
      : Maker(matrix_rows(tensor), tensor.shape.empty() ? 1 : tensor.shape.back()),
        blocksize_(whole_number(tensor, "blocksize")),
        nested_blocksize_(whole_number(tensor, "nested_blocksize", 0)),
        codes_(*tensor.component("weight")),
        absmax_(*tensor.component("absmax")),
        map_(*tensor.component("quant_map")) {
    if (nested_blocksize_ != 0) {
      nested_absmax_.emplace(*tensor.component("nested_absmax"));
      nested_map_.emplace(*tensor.component("nested_quant_map"));
      const double* const offset = tensor.attributes.find("nested_offset")->get<double>();
      offset_ = offset == nullptr ? 0.0f : static_cast<float>(*offset);
    }
    const auto of = [](const std::optional<Array>& array) { return array ? &*array : nullptr; };
    const Array* const plain = nested_absmax_ ? nullptr : &absmax_;
    read_from({&codes_, &absmax_, &map_, of(nested_absmax_), of(nested_map_)},
              {plain, &map_, of(nested_absmax_), of(nested_map_)});
  }

  void make(const Tile& tile, float* out) const override {
    // Rows have no gaps between them, so a tile is one run of elements.
    const std::uint64_t first = tile.row * columns() + tile.column, end = first + tile.rows * tile.columns;
    std::array<float, 16> stored;
    map_.floats(0, stored.size(), stored.data());
    const NibbleTable map(stored);
    Bytes buffer;
    const std::byte* const codes = codes_.at(first / 2, (end + 1) / 2 - first / 2, buffer);
    const std::uint64_t block = first / blocksize_;
    const std::vector<float> absmax = absmax_of(block, ceil_div(end, blocksize_) - block);
    for (std::uint64_t at = first; at < end;) {
      const std::uint64_t own = at / blocksize_;
      auto count = std::min((own + 1) * blocksize_, end) - at;
      const float scale = absmax[own - block];
      const std::byte* const from = codes + (at / 2 - first / 2);
      // Only the first element of a tile can be in the second half of a byte, because blocks have even sizes.
      if (at % 2 != 0) {
        *out++ = map.values[std::to_integer<std::uint8_t>(*from) & 15] * scale;
        at += 1;
        continue;
      }
      scale_nibbles(map, from, count, true, scale, out);
      out += count;
      at += count;
    }
  }

  bool make_bf16(const Tile& tile, std::byte* out) const override {
    const std::uint64_t first = tile.row * columns() + tile.column;
    const auto count = tile.rows * tile.columns;
    if (first % 2 != 0) return false;
    std::array<float, 16> map;
    map_.floats(0, map.size(), map.data());
    Bytes buffer;
    const std::byte* const codes = codes_.at(first / 2, (count + 1) / 2, buffer);
    const std::uint64_t block = first / blocksize_;
    const std::vector<float> absmax = absmax_of(block, ceil_div(first + count, blocksize_) - block);
    bool fit = true;
    for_each_group(
        first - block * blocksize_, count, blocksize_, [&](std::size_t at, std::size_t part, std::size_t own) {
          fit = fit &&
                nibbles_to_bf16(NibbleOrder::high_first, codes + at / 2, part, {map, 0.0f, absmax[own]}, out + 2 * at);
        });
    return fit;
  }

  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(
        tensor, std::min({rows() * columns(), blocksize_, kMostExplained}),
        nested_absmax_ ? "w = absmax x; x = quant_map[q], absmax = nested_quant_map[byte] nested_absmax + nested_offset"
                       : "w = absmax x; x = quant_map[q]");
    std::vector<double> codes = block.codes("weight", "codes, two in a byte, the first in the high half", 4, true);
    const std::vector<double> map = block.numbers("quant_map", "what the codes stand for", 0, 16);
    block.term("q", codes);
    for (double& code : codes) code = map[static_cast<std::size_t>(code)];
    block.term("x", std::move(codes));
    std::vector<double> absmax =
        block.numbers("absmax", nested_absmax_ ? "code of the block's scale" : "scale of the block");
    if (nested_absmax_) {
      const auto byte = static_cast<std::uint64_t>(absmax[0]);
      const double scale = block.numbers("nested_absmax", "scale of 256 scales")[0];
      absmax[0] = block.numbers("nested_quant_map", "what the scale's code stands for", byte)[0] * scale + offset_;
      block.term("byte", static_cast<double>(byte)).term("nested_offset", offset_);
    }
    return block.term("absmax", std::move(absmax)).take();
  }

 protected:
  bool may_overflow() const override { return Maker::may_overflow() || !(std::abs(offset_) <= kUsualScale); }

 private:
  std::vector<float> absmax_of(std::uint64_t first, std::size_t count) const {
    std::vector<float> values(count);
    absmax_.floats(first, count, values.data());
    if (!nested_absmax_) return values;
    std::array<float, 256> map;
    nested_map_->floats(0, map.size(), map.data());
    const std::uint64_t block = first / nested_blocksize_;
    std::vector<float> scales((first + count - 1) / nested_blocksize_ - block + 1);
    nested_absmax_->floats(block, scales.size(), scales.data());
    for (std::size_t i = 0; i < count; ++i) {
      const float scale = scales[(first + i) / nested_blocksize_ - block];
      const float product = map[static_cast<std::size_t>(values[i])] * scale;
      values[i] = product + offset_;
    }
    return values;
  }

  std::uint64_t blocksize_, nested_blocksize_;
  float offset_ = 0;
  Array codes_, absmax_, map_;
  std::optional<Array> nested_absmax_, nested_map_;
};

class Bnb8Maker final : public Maker {
 public:
  explicit Bnb8Maker(const Tensor& tensor)
      : Maker(tensor.shape[0], tensor.shape[1]),
        codes_(*tensor.component("weight")),
        scales_(*tensor.component("SCB")) {
    read_from({&codes_, &scales_}, {&scales_});
  }
  void make(const Tile& tile, float* out) const override {
    constexpr float kShare = 7.874015718698502e-3f;
    Bytes buffer;
    for (std::uint64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      float scale = 0;
      scales_.floats(row, 1, &scale);
      const std::byte* const codes =
          codes_.at(row * columns() + tile.column, static_cast<std::size_t>(tile.columns), buffer);
      for (std::uint64_t i = 0; i < tile.columns; ++i)
        *out++ = static_cast<float>(static_cast<std::int8_t>(codes[i])) * scale * kShare;
    }
  }

  FirstBlock explain(const Tensor& tensor) const override {
    Explainer block(tensor, std::min<std::uint64_t>(columns(), 32), "w = q SCB / 127");
    block.term("q", block.numbers("weight", "codes", 0, block.weights()));
    return block.term("SCB", block.numbers("SCB", "largest magnitude of the row")).take();
  }

 private:
  Array codes_, scales_;
};

// False for NaN.
bool fits_f32(double value) { return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()); }

std::shared_ptr<const Maker> plan_bnb4(const Tensor& tensor) {
  const std::uint64_t elements = product(matrix_rows(tensor), tensor.shape.empty() ? 1 : tensor.shape.back());
  const std::uint64_t size = whole_number(tensor, "blocksize"), nested = whole_number(tensor, "nested_blocksize", 0);
  // bitsandbytes uses powers of two; an even size keeps blocks on whole bytes.
  if (size == 0 || size % 2 != 0) refuse("pack.group", fmt::format("the block size {} is not even and positive", size));
  const std::uint64_t blocks = ceil_div(elements, size);
  require_array(tensor, "weight", kU8, ceil_div(elements, std::uint64_t{2}));
  require_array(tensor, "quant_map", kF32, 16);
  require_array(tensor, "absmax", nested == 0 ? Types(kF32) : Types(kU8), blocks);
  if (nested != 0) {
    require_array(tensor, "nested_absmax", kF32, ceil_div(blocks, nested));
    require_array(tensor, "nested_quant_map", kF32, 256);
    const Value* const offset = tensor.attributes.find("nested_offset");
    if (offset == nullptr || offset->get<double>() == nullptr || !fits_f32(*offset->get<double>()))
      refuse("pack.attribute", "the attribute \"nested_offset\" is not a number that f32 holds");
  }
  return std::make_shared<Bnb4Maker>(tensor);
}

std::shared_ptr<const Maker> plan_bnb8(const Tensor& tensor) {
  require_rank(tensor, 2, 2);
  const std::uint64_t out = matrix_rows(tensor);
  require_array(tensor, "weight", kI8, product(out, tensor.shape[1]));
  require_array(tensor, "SCB", kF32, out);
  return std::make_shared<Bnb8Maker>(tensor);
}

// Reads quant_state, a JSON object. Throws Refusal `pack.state`.
Map read_state(const Tensor& state) {
  constexpr std::uint64_t kLongest = 64 << 10;
  const Component& data = state.components.front();
  if (data.type_name() != "u8" || data.blob.size() > kLongest)
    refuse("pack.state", fmt::format("{} is not a short text", quote(state.name)));
  const Bytes bytes = data.blob.bytes(kLongest);
  try {
    wire::TreeBounds bounds{.depth = 8, .values = 1024};
    Value root = wire::read_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, bounds,
                                 {.python_words = true, .last_key_counts = true});
    if (Map* const map = root.get<Map>()) return std::move(*map);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    refuse("pack.state", fmt::format("{} is not JSON: {}", quote(state.name), error.sentence()));
  }
  refuse("pack.state", fmt::format("{} is not a JSON object", quote(state.name)));
}

std::uint64_t state_count(const Map& state, std::string_view key) {
  const auto count = stated_count(state, key);
  if (!count) refuse("pack.state", fmt::format("quant_state has no whole number \"{}\"", key));
  return *count;
}

Shape state_shape(const Map& state) {
  const Value* const value = state.find("shape");
  const List* const list = value == nullptr ? nullptr : value->get<List>();
  if (list == nullptr || list->empty() || list->size() > 8) refuse("pack.state", "quant_state has no \"shape\"");
  Shape shape;
  for (const Value& dimension : *list) {
    const auto* const number = dimension.get<std::int64_t>();
    if (number == nullptr || *number < 0)
      refuse("pack.state", "the \"shape\" of quant_state is not one of whole numbers");
    shape.push_back(static_cast<std::uint64_t>(*number));
  }
  return shape;
}

std::optional<Tensor> join_bnb4(const Set& set, std::string_view type) {
  const Tensor& text = set.require("quant_state");
  const Map state = read_state(text);
  const Tensor& codes = set.codes();
  const Tensor& absmax = set.require("absmax");
  Joining joining(set, fmt::format("bnb.{}", type), state_shape(state));
  joining.set("blocksize", state_count(state, "blocksize"));
  joining.add("weight", codes, kU8, codes.shape);
  joining.add("absmax", absmax, absmax.components.front().dtype == DType::u8 ? Types(kU8) : Types(kF32), absmax.shape);
  joining.add("quant_map", set.require("quant_map"), kF32, {16});
  const Tensor* const nested = set.find("nested_absmax");
  const bool quantized = absmax.components.front().dtype == DType::u8;
  if (nested != nullptr || quantized) {
    joining.add("nested_absmax", set.require("nested_absmax"), kF32, set.require("nested_absmax").shape);
    joining.add("nested_quant_map", set.require("nested_quant_map"), kF32, {256});
    const std::uint64_t size = state_count(state, "nested_blocksize");
    if (size == 0) refuse("pack.group", "the nested block size is 0");
    joining.set("nested_blocksize", size);
    const Value* const offset = state.find("nested_offset");
    const double* const number = offset == nullptr ? nullptr : offset->get<double>();
    const auto* const whole = offset == nullptr ? nullptr : offset->get<std::int64_t>();
    if (number == nullptr && whole == nullptr) refuse("pack.state", "quant_state has no number \"nested_offset\"");
    const double value = number != nullptr ? *number : static_cast<double>(*whole);
    if (!fits_f32(value)) refuse("pack.scale", "the \"nested_offset\" of quant_state is not a finite f32");
    joining.set("nested_offset", value);
  }
  joining.add("quant_state", text, kU8, text.shape);
  return joining.take();
}

std::optional<Tensor> join_bnb8(const Set& set) {
  const Tensor& codes = set.codes();
  const Tensor& scales = set.require("SCB");
  if (codes.shape.rank() != 2) refuse("pack.shape", fmt::format("codes of {} are not a matrix", codes.shape.text()));
  if (const Tensor* const format = set.find("weight_format")) {
    const Bytes bytes = format->bytes() <= 8 ? format->components.front().blob.bytes() : Bytes();
    if (bytes.empty() || std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0}; }))
      refuse_variant("the weight_format is not that of rows");
  }
  Joining joining(set, "bnb.int8", codes.shape);
  joining.add("weight", codes, kI8, codes.shape);
  joining.add("SCB", scales, kF32, {codes.shape[0]});
  joining.carry("weight_format");
  return joining.take();
}

constexpr std::string_view kBnb4Parameters[] = {"blocksize", "nested_blocksize", "nested_offset", kArrays};
constexpr std::string_view kBnb8Parameters[] = {kArrays};

// FP4 has NF4's arrays, except for the name of the state. An absmax without codes is reported once, as NF4's.
constexpr Member kNf4Members[] = {{".weight", "codes", "weight"},
                                  {".weight.absmax", "scales", "absmax", true},
                                  {".weight.quant_map", "map", "quant_map"},
                                  {".weight.nested_absmax", "scales", "nested_absmax"},
                                  {".weight.nested_quant_map", "map", "nested_quant_map"},
                                  {".weight.quant_state.bitsandbytes__nf4", "state", "quant_state", true}};
constexpr Member kFp4Members[] = {{".weight", "codes", "weight"},
                                  {".weight.absmax", "scales", "absmax"},
                                  {".weight.quant_map", "map", "quant_map"},
                                  {".weight.nested_absmax", "scales", "nested_absmax"},
                                  {".weight.nested_quant_map", "map", "nested_quant_map"},
                                  {".weight.quant_state.bitsandbytes__fp4", "state", "quant_state", true}};
constexpr Member kBnb8Members[] = {
    {".weight", "codes", "weight"}, {".SCB", "scales", "SCB", true}, {".weight_format", "state", "weight_format"}};

// Bytes may be stored as floats, for FSDP: recognised, but not decoded.
constexpr std::string_view kDisguised[] = {"u8", "f16", "bf16", "f32"};

constexpr Scheme kBnbSchemes[] = {
    {.name = "bitsandbytes.nf4",
     .title = "bitsandbytes NF4",
     .method = "bitsandbytes",
     .types = kDisguised,
     .members = kNf4Members,
     .beside = 5,
     .bits = 4,
     .join = [](const Set& set) { return join_bnb4(set, "nf4"); }},
    {.name = "bitsandbytes.fp4",
     .title = "bitsandbytes FP4",
     .method = "bitsandbytes",
     .types = kDisguised,
     .members = kFp4Members,
     .beside = 5,
     .bits = 4,
     .join = [](const Set& set) { return join_bnb4(set, "fp4"); }},
    {.name = "bitsandbytes.int8",
     .title = "bitsandbytes int8",
     .method = "bitsandbytes",
     .types = kI8,
     .members = kBnb8Members,
     .bits = 8,
     .join = join_bnb8},
};

constexpr Pack kBnbPacks[] = {
    {"bnb.nf4", "bitsandbytes: 4 bits of a table (NF4) with a scale for each block", kRoles<kNf4Members>,
     kBnb4Parameters, plan_bnb4},
    {"bnb.fp4", "bitsandbytes: 4 bits of a table (FP4) with a scale for each block", kRoles<kFp4Members>,
     kBnb4Parameters, plan_bnb4},
    {"bnb.int8", "bitsandbytes: 8 bits with a scale for each row", kRoles<kBnb8Members>, kBnb8Parameters, plan_bnb8},
};

}  // namespace

constinit const Family kBnbFamily = {kBnbSchemes, kBnbPacks};

}  // namespace tare::codec::packs
