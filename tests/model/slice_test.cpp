// Slices compared with a plain walk over every element of the result, and the bytes that they read.
#include "tare/slice.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>

#include "base/endian.hpp"
#include "model/sliced_blob.hpp"
#include "produced_blob.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

using Kind = SliceItem::Kind;

// --- syntax ---

std::string spelled(const SliceSpec& spec) {
  std::string text;
  const auto number = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : std::string("_"); };
  for (const SliceItem& item : spec) {
    if (!text.empty()) text += ' ';
    switch (item.kind) {
      case Kind::index: text += number(item.start); break;
      case Kind::range: text += number(item.start) + ":" + number(item.stop) + ":" + number(item.step); break;
      case Kind::ellipsis: text += "..."; break;
      case Kind::new_axis: text += "new"; break;
    }
  }
  return text;
}

TEST(SliceSyntax, Accepts) {
  EXPECT_EQ(spelled(parse_slice("1:10:2, -1, ..., :")), "1:10:2 -1 ... _:_:_");
  EXPECT_EQ(spelled(parse_slice("::-1")), "_:_:-1");
  EXPECT_EQ(spelled(parse_slice("::")), "_:_:_");
  EXPECT_EQ(spelled(parse_slice(" 3 : ,None,newaxis , -4:+5 ")), "3:_:_ new new -4:5:_");
  EXPECT_EQ(spelled(parse_slice("[0, 1:]")), "0 1:_:_");
  EXPECT_EQ(spelled(parse_slice("7,")), "7");
  EXPECT_EQ(spelled(parse_slice("...")), "...");
  EXPECT_EQ(spelled(parse_slice(":99999999999999999999999")), "_:9223372036854775807:_");
  EXPECT_EQ(spelled(parse_slice("-99999999999999999999999:")), "-9223372036854775807:_:_");
}

TEST(SliceSyntax, RefusesAndSaysWhere) {
  for (const char* text : {"", " ", "a", "1,,2", ",", "1:2:3:4", "1 2", "..", "..., ...", "-", "1:-", "[1", "1]", "[]",
                           "1.5", "0x10", "--1", "1;2", "...:"}) {
    try {
      parse_slice(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "slice.syntax") << text;
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
      EXPECT_NE(error.sentence().find("character"), std::string::npos) << text;
    }
  }
}

// --- NumPy's rules, implemented simply and slowly ---

// The indices of one range: from start by step while inside, as the Python tutorial explains slices.
std::vector<std::int64_t> walk(const SliceItem& item, std::int64_t n) {
  const std::int64_t step = item.step.value_or(1);
  std::vector<std::int64_t> picked;
  if (step > 0) {
    std::int64_t start = item.start.value_or(0), stop = item.stop.value_or(n);
    if (start < 0) start = std::max<std::int64_t>(0, start + n);
    if (stop < 0) stop += n;
    for (std::int64_t i = start; i < stop && i < n; i += step) picked.push_back(i);
  } else {
    std::int64_t start = item.start.value_or(n - 1), stop = item.stop.value_or(-1 - n);
    if (start < 0) start += n;
    if (stop < 0) stop += n;
    for (std::int64_t i = std::min(start, n - 1); i > stop && i >= 0; i += step) picked.push_back(i);
  }
  return picked;
}

struct SelectedElements {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> elements;  // indices of the selected elements, in order
};

SelectedElements brute_force(const Shape& shape, const SliceSpec& spec) {
  std::size_t used = 0;
  for (const SliceItem& item : spec) used += item.kind == Kind::index || item.kind == Kind::range;
  SelectedElements result;
  std::vector<std::uint64_t> picked = {0};
  std::size_t axis = 0;
  const auto extend = [&](const std::vector<std::int64_t>& indices) {
    std::vector<std::uint64_t> next;
    for (const std::uint64_t base : picked)
      for (const std::int64_t i : indices) next.push_back(base * shape[axis] + static_cast<std::uint64_t>(i));
    picked = std::move(next);
    ++axis;
  };
  const auto whole = [&] {
    std::vector<std::int64_t> all(shape[axis]);
    std::iota(all.begin(), all.end(), 0);
    result.shape.push_back(shape[axis]);
    extend(all);
  };
  for (const SliceItem& item : spec) {
    if (item.kind == Kind::new_axis) {
      result.shape.push_back(1);
    } else if (item.kind == Kind::ellipsis) {
      for (std::size_t i = used; i < shape.rank(); ++i) whole();
    } else if (item.kind == Kind::index) {
      extend({*item.start < 0 ? *item.start + static_cast<std::int64_t>(shape[axis]) : *item.start});
    } else {
      const auto indices = walk(item, static_cast<std::int64_t>(shape[axis]));
      result.shape.push_back(indices.size());
      extend(indices);
    }
  }
  while (axis < shape.rank()) whole();
  result.elements = std::move(picked);
  return result;
}

// --- sources ---

// Offers no view, and records which bytes are read.
class RecordingSource final : public Source {
 public:
  explicit RecordingSource(Bytes bytes) : Source("recording", bytes.size()), bytes_(std::move(bytes)) {
    touched_.resize(bytes_.size());
  }
  bool touched(std::size_t i) const { return touched_[i]; }
  std::size_t touched_count() const {
    return static_cast<std::size_t>(std::count(touched_.begin(), touched_.end(), true));
  }
  std::size_t reads() const { return reads_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
    const std::lock_guard lock(mutex_);
    std::fill_n(touched_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), true);
    ++reads_;
    bytes_read_ += out.size();
  }

 private:
  Bytes bytes_;
  mutable std::mutex mutex_;
  mutable std::vector<bool> touched_;
  mutable std::size_t reads_ = 0;
  mutable std::uint64_t bytes_read_ = 0;
};

// Byte i of element e is a hash of both, so that a wrong element, or a wrong part of one, is detected.
Bytes pattern(std::uint64_t elements, std::uint64_t width) {
  Bytes bytes(elements * width);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>((i * 2654435761u) >> 16);
  return bytes;
}

Bytes picked_bytes(const Bytes& all, const std::vector<std::uint64_t>& elements, std::uint64_t width) {
  Bytes bytes(elements.size() * width);
  std::byte* to = bytes.data();
  for (const std::uint64_t e : elements) {
    std::memcpy(to, &all.at(e * width), width);
    to += width;
  }
  return bytes;
}

// With memcmp, which is faster than == of std::byte.
bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

struct ElementType {
  DType dtype;
  std::string type;
  std::uint64_t width;
};
const std::vector<ElementType> kTypes = {{DType::u8, "", 1},           {DType::f16, "", 2},
                                         {DType::f32, "", 4},          {DType::f64, "", 8},
                                         {DType::f32, "complex64", 8}, {DType::f64, "complex128", 16},
                                         {DType::u8, "f8_e4m3fn", 1}};

// --- generators ---

Shape random_shape(std::uint64_t most = 8) {
  Shape shape;
  const auto rank = *rc::gen::inRange(0, 5);
  for (int i = 0; i < rank; ++i)
    shape.push_back(*rc::gen::weightedOneOf<std::uint64_t>(
        {{12, rc::gen::inRange<std::uint64_t>(1, most + 1)}, {1, rc::gen::just<std::uint64_t>(0)}}));
  return shape;
}

std::optional<std::int64_t> maybe(std::int64_t low, std::int64_t high) {
  if (*rc::gen::inRange(0, 3) == 0) return std::nullopt;
  return *rc::gen::inRange<std::int64_t>(low, high);
}

SliceSpec random_spec(const Shape& shape) {
  SliceSpec spec;
  const auto items = *rc::gen::inRange<std::size_t>(0, shape.rank() + 1);
  bool ellipsis = false;
  std::size_t axis = 0;
  for (std::size_t i = 0; i < items; ++i) {
    if (*rc::gen::inRange(0, 8) == 0) spec.push_back({Kind::new_axis, {}, {}, {}});
    if (!ellipsis && *rc::gen::inRange(0, 5) == 0) {
      spec.push_back({Kind::ellipsis, {}, {}, {}});
      axis += shape.rank() - items;
      ellipsis = true;
    }
    const auto n = static_cast<std::int64_t>(shape[axis++]);
    if (n > 0 && *rc::gen::inRange(0, 4) == 0) {
      spec.push_back({Kind::index, *rc::gen::inRange<std::int64_t>(-n, n), {}, {}});
    } else {
      auto step = maybe(-4, 5);
      if (step == 0) step = -1;
      spec.push_back({Kind::range, maybe(-n - 3, n + 4), maybe(-n - 3, n + 4), step});
    }
  }
  return spec;
}

// --- properties ---

TEST(SliceProperty, EqualsBruteForceOverEveryKindOfBlob) {
  EXPECT_TRUE(rc::check("slice == brute force", [] {
    const Shape shape = random_shape();
    const SliceSpec spec = random_spec(shape);
    const ElementType type = *rc::gen::elementOf(kTypes);
    const Bytes all = pattern(shape.elements().value(), type.width);
    const SelectedElements expected = brute_force(shape, spec);
    const Bytes bytes = picked_bytes(all, expected.elements, type.width);
    const Blob blobs[] = {Blob::memory(all), Blob::range(std::make_shared<RecordingSource>(all), 0, all.size()),
                          test::produced_blob(all, 0), test::produced_blob(all, 1), test::produced_blob(all, 8192)};
    for (const Blob& blob : blobs) {
      const Tensor part = slice(dense("t", shape, type.dtype, blob, type.type), spec);
      RC_ASSERT(std::vector<std::uint64_t>(part.shape.begin(), part.shape.end()) == expected.shape);
      RC_ASSERT(part.component("data")->dtype == type.dtype);
      RC_ASSERT(part.component("data")->type == type.type);
      const Blob& result = part.component("data")->blob;
      RC_ASSERT(result.size() == bytes.size());
      RC_ASSERT(same(result.bytes(), bytes));
      // From the middle, in odd pieces.
      const auto offset = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
      Bytes tail(bytes.size() - offset);
      const auto reader = result.open(offset);
      for (std::size_t at = 0; at < tail.size(); at += std::min<std::size_t>(7, tail.size() - at))
        reader->read(std::span(tail).subspan(at, std::min<std::size_t>(7, tail.size() - at)));
      RC_ASSERT(std::equal(tail.begin(), tail.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset)));
    }
  }));
}

// Only the needed bytes may be read, and gaps of at most 512 bytes between two of them.
void expect_only_needed(const RecordingSource& source, const std::vector<std::uint64_t>& elements,
                        std::uint64_t width) {
  std::vector<bool> allowed(source.size());
  std::vector<std::uint64_t> sorted = elements;
  std::sort(sorted.begin(), sorted.end());
  std::optional<std::uint64_t> end;
  for (const std::uint64_t e : sorted) {
    const std::uint64_t begin = e * width;
    const std::uint64_t from = end && begin - *end <= 512 ? *end : begin;
    std::fill(allowed.begin() + static_cast<std::ptrdiff_t>(from),
              allowed.begin() + static_cast<std::ptrdiff_t>(begin + width), true);
    end = begin + width;
  }
  for (std::size_t i = 0; i < allowed.size(); ++i)
    if (source.touched(i)) RC_ASSERT(allowed[i]);
}

TEST(SliceProperty, TouchesOnlyNeededBytes) {
  EXPECT_TRUE(rc::check("no byte outside of the slice and its small gaps", [] {
    const Shape shape = random_shape(24);
    const SliceSpec spec = random_spec(shape);
    const ElementType type = *rc::gen::elementOf(kTypes);
    const auto source = std::make_shared<RecordingSource>(pattern(shape.elements().value(), type.width));
    const Tensor tensor = dense("t", shape, type.dtype, Blob::range(source, 0, source->size()), type.type);
    const Tensor part = slice(tensor, spec);
    RC_ASSERT(source->touched_count() == 0u);  // lazy
    part.component("data")->blob.bytes();
    expect_only_needed(*source, brute_force(shape, spec).elements, type.width);
  }));
}

// --- particular slices ---

Tensor counting(const Shape& shape) {
  const std::uint64_t count = shape.elements().value();
  Bytes bytes(count * 4);
  for (std::uint64_t i = 0; i < count; ++i)
    store_le<std::uint32_t>(bytes.data() + 4 * i, static_cast<std::uint32_t>(i));
  return dense("t", shape, DType::u32, Blob::memory(std::move(bytes)));
}

std::vector<std::uint32_t> numbers(const Tensor& tensor) {
  const Bytes bytes = tensor.component("data")->blob.bytes();
  std::vector<std::uint32_t> result(bytes.size() / 4);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = load_le<std::uint32_t>(bytes.data() + 4 * i);
  return result;
}

using Numbers = std::vector<std::uint32_t>;

// Results copied from NumPy: np.arange(24).reshape(2, 3, 4)[...].
TEST(Slice, LikeNumPy) {
  const Tensor t = counting({2, 3, 4});
  const auto at = [&](std::string_view text) { return slice(t, parse_slice(text)); };
  EXPECT_EQ(numbers(at("1, 2, 3")), Numbers({23}));
  EXPECT_EQ(at("1, 2, 3").shape.text(), "-");
  EXPECT_EQ(numbers(at("-1, ::-1, 1::2")), Numbers({21, 23, 17, 19, 13, 15}));
  EXPECT_EQ(at("-1, ::-1, 1::2").shape.text(), "3x2");
  EXPECT_EQ(numbers(at("..., 0")), Numbers({0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(at("None, ..., 0:1").shape.text(), "1x2x3x1");
  EXPECT_EQ(numbers(at("::-1, 5:0:-2, -100:2")), Numbers({20, 21, 8, 9}));
  EXPECT_EQ(at("0, 3:1").shape.text(), "0x4");
  EXPECT_EQ(at("0, 7:9").shape.text(), "0x4");
  EXPECT_EQ(numbers(at("0, 1, -2:")), Numbers({6, 7}));
  EXPECT_EQ(numbers(at("0, 1, ::-9223372036854775808")), Numbers({7}));
  EXPECT_EQ(numbers(at("0, 1, ::9223372036854775807")), Numbers({4}));
}

TEST(Slice, ScalarsAndEmpties) {
  const Tensor scalar = counting({});
  EXPECT_EQ(numbers(slice(scalar, parse_slice("..."))), Numbers({0}));
  EXPECT_EQ(slice(scalar, parse_slice("None, None")).shape.text(), "1x1");
  EXPECT_EQ(slice(counting({0, 3}), parse_slice(":, 1")).shape.text(), "0");
  // Dimensions next to a zero may be so large that strides would overflow.
  const Tensor wide = dense("w", {0, std::uint64_t{1} << 40, std::uint64_t{1} << 40}, DType::f32, Blob::memory({}));
  EXPECT_EQ(slice(wide, parse_slice("..., 5:7")).shape.text(), "0x1099511627776x2");
}

void expect_refused(const Tensor& tensor, std::string_view text, std::string_view rule) {
  try {
    slice(tensor, parse_slice(text));
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), rule) << text;
    EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    EXPECT_EQ(error.item(), "t") << text;
  }
}

TEST(Slice, Refuses) {
  const Tensor t = counting({2, 3});
  expect_refused(t, "0,0,0", "slice.rank");
  expect_refused(t, "..., 0, 0, 0", "slice.rank");
  expect_refused(t, "2", "slice.index");
  expect_refused(t, "-3", "slice.index");
  expect_refused(t, "0, 99999999999999999999", "slice.index");
  expect_refused(t, "::0", "slice.step");
  expect_refused(counting({}), "0", "slice.rank");
  Tensor sparse = t;
  sparse.layout = "sparse_csr";
  expect_refused(sparse, "0", "slice.layout");
  EXPECT_THROW(slice(t, {{Kind::ellipsis, {}, {}, {}}, {Kind::ellipsis, {}, {}, {}}}), Error);
  EXPECT_THROW(slice(dense("t", {5}, DType::u32, Blob::memory(Bytes(16))), {}), Error);
}

TEST(Slice, OneRunIsARangeOfTheSameSource) {
  const Tensor t = counting({4, 5, 6});
  const Blob& whole = t.component("data")->blob;
  const Tensor rows = slice(t, parse_slice("1:3"));
  const Blob& part = rows.component("data")->blob;
  ASSERT_TRUE(part.is_plain());
  EXPECT_EQ(part.source(), whole.source());
  EXPECT_EQ(part.offset(), 30u * 4);
  EXPECT_EQ(part.size(), 60u * 4);
  EXPECT_TRUE(slice(t, parse_slice("2, 1:2, 3:5")).component("data")->blob.is_plain());
  EXPECT_FALSE(slice(t, parse_slice("2, :, 3:5")).component("data")->blob.is_plain());
}

TEST(Slice, AColumnFarApartIsReadElementByElement) {
  const auto source = std::make_shared<RecordingSource>(pattern(1000 * 1000, 4));
  const Tensor t = dense("t", {1000, 1000}, DType::f32, Blob::range(source, 0, source->size()));
  slice(t, parse_slice(":, 7")).component("data")->blob.bytes();
  EXPECT_EQ(source->touched_count(), 1000u * 4);
}

TEST(Slice, SmallStepsAreReadTogether) {
  const auto source = std::make_shared<RecordingSource>(pattern(1'000'000, 4));
  const Tensor t = dense("t", {1'000'000}, DType::f32, Blob::range(source, 0, source->size()));
  slice(t, parse_slice("100:900000:3")).component("data")->blob.bytes();
  EXPECT_LE(source->touched_count(), 4u * 899'900);
  EXPECT_LE(source->reads(), 100u);
}

// Larger than any internal block, through all paths, with pieces that start in the middle of runs.
TEST(Slice, LargerThanABlock) {
  const Shape shape = {7, 300, 513};
  const Bytes all = pattern(shape.elements().value(), 4);
  for (const char* text : {"::-1", "1:6:2, ::-1, ::2", "..., ::-1", ":, 10:290, 1:512", ":, ::150, :"}) {
    const SliceSpec spec = parse_slice(text);
    const Bytes expected = picked_bytes(all, brute_force(shape, spec).elements, 4);
    const Blob blobs[] = {Blob::memory(all), Blob::range(std::make_shared<RecordingSource>(all), 0, all.size()),
                          test::produced_blob(all, 0), test::produced_blob(all, 4), test::produced_blob(all, 65536)};
    for (const Blob& blob : blobs) {
      const Blob result = slice(dense("t", shape, DType::f32, blob), spec).component("data")->blob;
      EXPECT_TRUE(same(result.bytes(), expected)) << text;
      const std::size_t from = expected.size() / 3 + 1;
      Bytes middle(expected.size() / 2);
      result.read(from, middle);
      EXPECT_TRUE(same(middle, std::span(expected).subspan(from, middle.size()))) << text;
    }
  }
}

// --- permuted axes ---

// The axes of a dense array, permuted: those of the result, slowest first. The innermost one is the lane.
SlicePlan turned_plan(const std::vector<SliceAxis>& axes) {
  SlicePlan plan;
  plan.elements = 1;
  for (const SliceAxis& axis : axes) {
    plan.shape.push_back(axis.count);
    plan.elements *= axis.count;
    plan.outer.push_back(axis);
  }
  plan.lane = plan.outer.back();
  plan.outer.pop_back();
  return plan;
}

Bytes walked(const Bytes& all, const std::vector<SliceAxis>& axes, std::uint64_t width) {
  std::vector<std::uint64_t> elements{0};
  for (const SliceAxis& axis : axes) {
    std::vector<std::uint64_t> next;
    for (const std::uint64_t e : elements)
      for (std::uint64_t i = 0; i < axis.count; ++i) next.push_back(e + i * static_cast<std::uint64_t>(axis.stride));
    elements = std::move(next);
  }
  return picked_bytes(all, elements, width);
}

void expect_turned(std::vector<SliceAxis> axes, std::uint64_t width) {
  std::uint64_t last = 0;
  for (const SliceAxis& axis : axes) last += (axis.count - 1) * static_cast<std::uint64_t>(axis.stride);
  const Bytes all = pattern(last + 1, width);
  const Bytes expected = walked(all, axes, width);
  const Blob blobs[] = {Blob::memory(all), Blob::range(std::make_shared<RecordingSource>(all), 0, all.size()),
                        test::produced_blob(all, 0), test::produced_blob(all, width), test::produced_blob(all, 8192)};
  for (const Blob& blob : blobs) {
    const Blob result = sliced_blob(blob, turned_plan(axes), width);
    EXPECT_TRUE(same(result.bytes(), expected));
    for (const std::size_t from : {std::size_t{1}, expected.size() / 3, expected.size() - 1}) {
      Bytes tail(expected.size() - from);
      result.read(from, tail);
      EXPECT_TRUE(same(tail, std::span(expected).subspan(from))) << from;
    }
  }
}

TEST(SliceProperty, AxesInAnyOrderEqualAWalk) {
  EXPECT_TRUE(rc::check("turned axes", [] {
    const auto rank = *rc::gen::inRange<std::size_t>(1, 5);
    std::vector<SliceAxis> axes;
    std::int64_t stride = *rc::gen::inRange<std::int64_t>(1, 3);
    for (std::size_t i = 0; i < rank; ++i) {
      const auto count = *rc::gen::inRange<std::uint64_t>(1, 9);
      axes.push_back({count, *rc::gen::inRange(0, 8) == 0 ? 0 : stride});
      stride *= static_cast<std::int64_t>(count);
      stride += *rc::gen::inRange<std::int64_t>(0, 2);
    }
    for (std::size_t i = rank; i > 1; --i) std::swap(axes[i - 1], axes[*rc::gen::inRange<std::size_t>(0, i)]);
    expect_turned(axes, *rc::gen::element<std::uint64_t>(1, 2, 4, 8, 16, 3));
  }));
}

// Several blocks, more runs than are listed at a time, and a step that does not fit into one.
TEST(Slice, AxesInAnotherOrderLargerThanABlock) {
  expect_turned({{1100, 1}, {1000, 1100}}, 4);
  expect_turned({{5, 100 * 401}, {401, 1}, {100, 401}}, 4);
  expect_turned({{401, 1}, {3, 100 * 401}, {100, 401}}, 4);
  expect_turned({{4000, 1}, {70, 4000}}, 8);
  expect_turned({{2, 1}, {600'000, 2}}, 4);
}

TEST(Slice, AxesInAnotherOrderAreReadAboutOnce) {
  const auto source = std::make_shared<RecordingSource>(pattern(2000 * 2000, 4));
  const Blob result = sliced_blob(Blob::range(source, 0, source->size()), turned_plan({{2000, 1}, {2000, 2000}}), 4);
  (void)result.bytes();
  EXPECT_EQ(source->bytes_read(), source->size());
  EXPECT_LE(source->reads(), 4u * 2000u);  // in blocks of 4 MiB
}

}  // namespace
}  // namespace tare
