// "zt.quant_group/1" and "zt.mx/1": codes in row-major order; groups along one axis share a scale (and a zero point).
//
//   scales   an array of the tensor's shape in which the axis counts groups
//   value    (code - zero) * scale, computed as double and rounded once to f32
//
// quant_group: codes of 2 to 8 bits fill words, the first code in the lowest bits (lsb_first) or in the highest. Zero
// points are a constant, an array like the scales, or packed like the codes. A group size of 0 means groups of one
// element, because that gives the sizes that the profile requires.
//
// mx: the codes are f4_e2m1, f8_e4m3fn, f8_e5m2, or i8 in units of 1/64; scales are powers of two (f8_e8m0).
#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/first_block.hpp"
#include "codecs/rows.hpp"
#include "codecs/streams.hpp"
#include "codecs/zt2/rules.hpp"
#include "model/element_types.hpp"

namespace tare::codec::zt2 {
namespace {

constexpr std::array<std::string_view, 3> kRoles = {"data", "scales", "zeros"};
constexpr std::array<std::string_view, 6> kGroupParameters = {"bits",    "group_size", "axis",
                                                              "packing", "scale_form", "zero_point"};
constexpr std::array<std::string_view, 3> kMxParameters = {"block_size", "axis", "scale_form"};
constexpr Coding kF4Coding = small_coding("f4_e2m1");

// Codes that fill words, in order.
class PackedCodes {
 public:
  PackedCodes(const Blob& blob, std::size_t width, const GroupPlan& plan, std::uint64_t first)
      : bytes_(blob, first / plan.per_word * width),
        width_(width),
        bits_(static_cast<unsigned>(plan.bits)),
        per_word_(static_cast<unsigned>(plan.per_word)),
        msb_(plan.order == "msb_first"),
        at_(per_word_) {
    for (std::uint64_t i = 0; i < first % plan.per_word; ++i) next();
  }
  double next() {
    if (at_ == per_word_) {
      std::array<std::byte, 8> word{};
      std::copy_n(bytes_.take(width_), width_, word.begin());
      word_ = load_le<std::uint64_t>(word.data());
      at_ = 0;
    }
    const unsigned place = msb_ ? per_word_ - 1 - at_ : at_;
    ++at_;
    return static_cast<double>(word_ >> (place * bits_) & ((std::uint64_t{1} << bits_) - 1));
  }

 private:
  ByteStream bytes_;
  std::size_t width_;
  unsigned bits_, per_word_;
  bool msb_;
  unsigned at_;
  std::uint64_t word_ = 0;
};

// Shared by all readers of a tensor. Keeps a copy of it, because readers may outlive the producer.
struct Grouped {
  Tensor tensor;
  GroupPlan plan;
  bool mx = false;
  std::uint64_t elements = 0, group = 1, inner = 1;

  const Component& data() const { return *tensor.component("data"); }
  const Component& scales() const { return *tensor.component("scales"); }
  bool packed_zeros() const { return plan.zero_packing == "same_as_data"; }
  // Number of codes per unit that begins at a whole byte of the data.
  std::uint64_t unit() const { return mx ? (data().type == kF4 ? 2 : 1) : plan.per_word; }
  // The index of an element's scale.
  std::uint64_t scale_of(std::uint64_t element) const { return element / inner / group * inner + element % inner; }
};

class GroupedReader final : public BlockReader {
 public:
  GroupedReader(std::shared_ptr<const Grouped> all, std::uint64_t first) : all_(std::move(all)), next_(first) {
    if (!all_->mx)
      codes_.emplace(all_->data().blob, size_of(all_->data().dtype), all_->plan, first);
    else if (all_->data().type == kF4)
      codes_.emplace(all_->data().blob, 1, kNibbles, first);
    else
      values_.emplace(all_->data(), first);
  }

 protected:
  std::span<const std::byte> make_block() override {
    constexpr std::uint64_t kMost = 8192;
    std::uint64_t count = std::min(kMost, all_->elements - next_);
    // Inside one row, scales are contiguous.
    if (all_->inner > 1) count = std::min(count, all_->inner - next_ % all_->inner);
    if (count == 0) return {};
    const auto n = count;
    read_codes(n);
    const std::uint64_t first = all_->scale_of(next_), last = all_->scale_of(next_ + count - 1);
    const auto groups = last - first + 1;
    scales_.resize(groups);
    ElementStream(all_->scales(), first).read(scales_);
    read_zeros(first, groups);
    block_.resize(n * sizeof(float));
    for (std::size_t i = 0; i < n; ++i) {
      const auto g = all_->scale_of(next_ + i) - first;
      store_le(block_.data() + i * sizeof(float), f64_to_f32((numbers_[i] - zeros_[g]) * scales_[g]));
    }
    next_ += count;
    return block_;
  }

 private:
  static constexpr GroupPlan kNibbles = {.bits = 4, .per_word = 2};

  void read_codes(std::size_t count) {
    numbers_.resize(count);
    if (values_) {
      values_->read(numbers_);
      constexpr double kUnit = 1.0 / 64;
      if (all_->data().type.empty())
        for (double& number : numbers_) number *= kUnit;
      return;
    }
    for (double& number : numbers_) number = codes_->next();
    if (all_->mx)
      for (double& number : numbers_) number = kF4Coding.value(static_cast<std::uint32_t>(number));
  }

  void read_zeros(std::uint64_t first, std::size_t count) {
    zeros_.assign(count, static_cast<double>(all_->plan.zero));
    const Component* const zeros = all_->tensor.component("zeros");
    if (zeros == nullptr) return;
    if (!all_->packed_zeros()) return ElementStream(*zeros, first).read(zeros_);
    PackedCodes codes(zeros->blob, size_of(all_->data().dtype), all_->plan, first);
    for (double& zero : zeros_) zero = codes.next();
  }

  std::shared_ptr<const Grouped> all_;
  std::uint64_t next_;
  std::optional<PackedCodes> codes_;
  std::optional<ElementStream> values_;
  std::vector<double> numbers_, scales_, zeros_;
  std::vector<std::byte> block_;
};

class GroupedProducer final : public BlobProducer {
 public:
  explicit GroupedProducer(std::shared_ptr<const Grouped> all) : all_(std::move(all)) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t element = offset / sizeof(float), first = element / all_->unit() * all_->unit();
    auto reader = std::make_unique<GroupedReader>(all_, first);
    reader->skip(offset - first * sizeof(float));
    return reader;
  }
  std::uint64_t seek_granularity() const override {
    for (const Component& component : all_->tensor.components)
      if (!is_seekable(component.blob)) return 0;
    return all_->unit() * sizeof(float);
  }
  void verify() const override {
    for (const Component& component : all_->tensor.components) component.blob.verify();
  }

 private:
  std::shared_ptr<const Grouped> all_;
};

Tensor decode_grouped(const Tensor& tensor, bool mx, std::span<const std::string_view> parameters) {
  auto all = std::make_shared<Grouped>();
  all->tensor = tensor;
  all->mx = mx;
  if (const auto problem = mx ? check_mx(all->tensor, all->plan) : check_group(all->tensor, all->plan))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about(tensor.name);
  all->elements = *tensor.shape.elements();
  all->group = std::max<std::uint64_t>(1, all->plan.size);
  for (std::size_t d = all->plan.axis + 1; d < tensor.shape.rank(); ++d) all->inner *= tensor.shape[d];
  const auto bytes = checked_mul(all->elements, sizeof(float));
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "its values do not fit 64 bits of length").about(tensor.name);
  Tensor decoded = dense(tensor.name, tensor.shape, DType::f32,
                         Blob::produced(*bytes, std::make_shared<const GroupedProducer>(std::move(all))));
  for (const auto& [key, value] : tensor.attributes)
    if (std::ranges::find(parameters, key) == parameters.end()) decoded.attributes.append(key, value);
  return decoded;
}

// Explains the first group; or, if groups are not along the last axis, the first few elements, whose scales differ.
std::optional<FirstBlock> explain_grouped(const Tensor& tensor, bool mx) {
  Grouped all{.tensor = tensor, .plan = {}, .mx = mx};
  if (mx ? check_mx(all.tensor, all.plan) : check_group(all.tensor, all.plan)) return std::nullopt;
  all.group = std::max<std::uint64_t>(1, all.plan.size);
  for (std::size_t d = all.plan.axis + 1; d < tensor.shape.rank(); ++d) all.inner *= tensor.shape[d];
  const bool along = all.inner == 1;
  const std::uint64_t weights =
      along ? std::min({all.group, tensor.shape.back(), kMostExplained}) : std::min<std::uint64_t>(all.inner, 32);
  const std::uint64_t groups = along ? 1 : weights;
  Explainer block(tensor, weights, mx ? "w = scale x" : "w = scale (q - zero)");
  const bool nibbles = mx && all.data().type == kF4, lowest = mx || all.plan.order != "msb_first";
  const unsigned bits = nibbles ? 4 : static_cast<unsigned>(all.plan.bits);
  // Unpacks the codes of words, whose first code is in the lowest bits or in the highest.
  const auto unpack = [&](std::string_view role, std::string_view what, std::uint64_t count) {
    const std::uint64_t width = mx ? 1 : size_of(all.data().dtype), per_word = mx ? 2 : all.plan.per_word;
    const Bytes bytes = block.field(role, {.what = what,
                                           .kind = FieldKind::bits,
                                           .bytes = ceil_div(count, per_word) * width,
                                           .bits = bits,
                                           .high_first = !lowest && width == 1});
    const std::vector<double> stored = codes_in(bytes, bits, bytes.size() * 8 / bits);
    std::vector<double> codes(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t in_word = i % per_word;
      codes[i] = stored[(i - in_word + (lowest ? in_word : per_word - 1 - in_word))];
    }
    return codes;
  };
  if (mx && !nibbles) {
    std::vector<double> values = block.numbers("data", "values of the block", 0, weights);
    if (all.data().type.empty())
      for (double& value : values) value /= 64;
    block.term("x", std::move(values));
  } else {
    std::vector<double> codes =
        unpack("data", mx ? "4-bit floats, two in a byte, the first in the low half" : "codes", weights);
    block.term("q", codes);
    for (double& code : codes) code = kF4Coding.value(static_cast<std::uint32_t>(code));
    if (mx) block.term("x", std::move(codes));
  }
  block.term("scale", block.numbers("scales", along ? "scale of the group" : "scales of the groups", 0, groups));
  if (mx) return block.take();
  if (tensor.component("zeros") == nullptr) return block.term("zero", static_cast<double>(all.plan.zero)).take();
  constexpr std::string_view kZero = "the code that stands for 0";
  return block
      .term("zero", all.packed_zeros() ? unpack("zeros", kZero, groups) : block.numbers("zeros", kZero, 0, groups))
      .take();
}

void verify_components(const Tensor& tensor, const std::function<void(Problem)>& report) {
  for (const Component& component : tensor.components) {
    verify_type(component, report);
    verify_booleans(component, report);
  }
}

}  // namespace

constinit const Codec kQuantGroup = {
    .layout = kGroupId,
    .name = kGroupId,
    .title = "2 to 8 bits with a scale and a zero point for each group along an axis",
    .methods = {},
    .roles = kRoles,
    .parameters = kGroupParameters,
    .check =
        [](const Tensor& tensor) {
          GroupPlan plan;
          return check_group(tensor, plan);
        },
    .verify = verify_components,
    .decode = [](const Tensor& tensor) { return decode_grouped(tensor, false, kGroupParameters); },
    .explain = explain};

constinit const Codec kMx = {.layout = kMxId,
                             .name = kMxId,
                             .title = "small floats with a power of two for each block along an axis (OCP MX)",
                             .methods = {},
                             .roles = kRoles,
                             .parameters = kMxParameters,
                             .check =
                                 [](const Tensor& tensor) {
                                   GroupPlan plan;
                                   return check_mx(tensor, plan);
                                 },
                             .verify = verify_components,
                             .decode = [](const Tensor& tensor) { return decode_grouped(tensor, true, kMxParameters); },
                             .explain = explain};

std::optional<FirstBlock> explain(const Tensor& tensor) {
  if (tensor.layout == kOddF4) {
    Explainer block(tensor, std::min<std::uint64_t>(32, *tensor.shape.elements()),
                    "w = x; x is the float of the code q");
    std::vector<double> codes = block.codes("data", "4-bit floats, two in a byte, the first in the low half", 4);
    block.term("q", codes);
    for (double& code : codes) code = kF4Coding.value(static_cast<std::uint32_t>(code));
    return block.term("x", std::move(codes)).take();
  }
  if (tensor.layout != kGroupId && tensor.layout != kMxId) return std::nullopt;
  return explain_grouped(tensor, tensor.layout == kMxId);
}

}  // namespace tare::codec::zt2
