// "sparse_coo": a list of coordinates and values.
//
//   values  one element per entry
//   coords  u64[rank * entries]: the first coordinate of every entry, then the second coordinate of every entry, ...
//
// Entries at the same place are added up, in the order in which they are stored and in the values' own type, as SciPy
// does: integers wrap, bools are ORed, floats round once per addition. Values of a type without addition (8-bit floats,
// unknown types) must not repeat a place.
//
// Decoding first reads all coordinates once to check them and to find out whether they are in order. Entries in
// row-major order are then read in a single pass; others are sorted once into windows of 4 MiB of dense output, in
// scratch space. The file may have changed since the first pass, so each pass checks every coordinate that it uses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/once.hpp"
#include "codecs/buckets.hpp"
#include "codecs/coordinates.hpp"
#include "codecs/rows.hpp"
#include "codecs/sparse/sparse.hpp"
#include "model/element_size.hpp"
#include "model/scratch_blob.hpp"

namespace tare::codec::sparse {
namespace {

constexpr std::array<std::string_view, 2> kCooRoles = {"values", "coords"};
constexpr std::uint64_t kWindow = std::uint64_t{4} << 20;

std::uint64_t width_of(const Component& values) { return element_bytes(values.dtype, values.type); }

std::optional<Problem> check_coo(const Tensor& tensor) {
  const Component* const values = tensor.component("values");
  if (values == nullptr) return Problem{"coo.missing", "a sparse_coo tensor needs the component \"values\""};
  if (auto problem = check_index(tensor, "coo", "coords")) return problem;
  const std::uint64_t width = width_of(*values);
  if (values->blob.size() % width != 0)
    return Problem{"coo.counts", fmt::format("values has {} bytes, not a multiple of the {} that {} takes",
                                             values->blob.size(), width, values->type_name())};
  const std::uint64_t entries = values->blob.size() / width, coords = tensor.component("coords")->blob.size();
  const auto numbers = checked_mul(tensor.shape.rank(), entries);
  const auto bytes = numbers ? checked_mul(*numbers, 8) : std::nullopt;
  if (!bytes || coords != *bytes)
    return Problem{"coo.coords",
                   fmt::format("{} entries of {} dimensions need {} coordinates of 8 bytes, the component "
                               "has {} bytes",
                               entries, tensor.shape.rank(), numbers ? fmt::to_string(*numbers) : "2^64", coords)};
  return std::nullopt;
}

// The coordinates of the entries, from entry `first` on.
class Coordinates {
 public:
  Coordinates(const Tensor& tensor, std::uint64_t first) : shape_(tensor.shape), current_(tensor.shape) {
    const Component& values = *tensor.component("values");
    const std::uint64_t entries = values.blob.size() / width_of(values);
    for (std::size_t d = 0; d < shape_.rank(); ++d)
      streams_.emplace_back(tensor.component("coords")->blob, d * entries + first);
  }

  // Reads the next entry. Returns the first dimension in which it is outside the shape; nothing if it is inside.
  std::optional<std::size_t> next() {
    std::optional<std::size_t> outside;
    for (std::size_t d = 0; d < streams_.size(); ++d) {
      current_[d] = streams_[d].next();
      if (current_[d] >= shape_[d] && !outside) outside = d;
    }
    return outside;
  }
  const Shape& current() const { return current_; }
  // Row-major; only for an entry inside a shape whose number of elements fits 64 bits.
  std::uint64_t place() const {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < shape_.rank(); ++d) place = place * shape_[d] + current_[d];
    return place;
  }

 private:
  Shape shape_, current_;
  std::vector<IndexStream> streams_;
};

// There is one stream of coordinates per dimension. Compressed coordinates would be decompressed from the start for
// each, with a decoder's memory for each; so they are decompressed once, to scratch.
Tensor with_seekable_coords(const Tensor& tensor) {
  Tensor copy = tensor;
  for (Component& component : copy.components)
    if (component.role == "coords" && tensor.shape.rank() > 1 && !is_seekable(component.blob))
      component.blob = scratch_blob(component.blob);
  return copy;
}

// The file offset of coordinate d of an entry; the entries of a scalar have none.
std::optional<std::uint64_t> coordinate_offset(const Tensor& tensor, std::uint64_t entry, std::size_t d) {
  const Blob& coords = tensor.component("coords")->blob;
  if (tensor.shape.rank() == 0) return std::nullopt;
  return file_offset(coords, d * (coords.size() / tensor.shape.rank()) + entry * 8);
}

Problem outside_problem(const Tensor& tensor, const Coordinates& at, std::uint64_t entry, std::size_t d) {
  return {"coo.bounds",
          fmt::format("entry {}: coordinate {} of dimension {} is outside of the shape {}", entry, at.current()[d], d,
                      tensor.shape.text()),
          coordinate_offset(tensor, entry, d)};
}

// Reads the next entry. Throws `coo.bounds` if it is outside the shape.
void next_inside(const Tensor& tensor, Coordinates& at, std::uint64_t entry) {
  if (const auto d = at.next())
    throw_corrupt(tensor, *tensor.component("coords"), outside_problem(tensor, at, entry, *d));
}

using Report = std::function<void(Problem)>;

// The result of one pass over the coordinates.
struct Survey {
  std::uint64_t outside = 0, repeated = 0;  // repeated: at the same place as the entry before
  bool rising = true;
  std::optional<Problem> first_outside, first_repeated;
};

// `entered` is the same tensor with seekable coordinates.
Survey survey(const Tensor& tensor, const Tensor& entered, std::uint64_t entries) {
  Survey found;
  Coordinates at(entered, 0);
  Shape previous;
  for (std::uint64_t entry = 0; entry < entries; ++entry) {
    if (const auto d = at.next())
      if (found.outside++ == 0) found.first_outside = outside_problem(tensor, at, entry, *d);
    if (entry > 0) {
      const Shape& now = at.current();
      if (std::lexicographical_compare(now.begin(), now.end(), previous.begin(), previous.end())) found.rising = false;
      if (now == previous && found.repeated++ == 0)
        found.first_repeated =
            Problem{"coo.duplicate", fmt::format("entries {} and {} are at the same place", entry - 1, entry),
                    coordinate_offset(tensor, entry, 0)};
    }
    previous = at.current();
  }
  return found;
}

// Mixes the bits of a place (the finalizer of MurmurHash3), to divide places into equal shares.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDu;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53u;
  return x ^ (x >> 33);
}

// Finds a place that two entries share if the entries are in no order: divides the places into shares that fit memory,
// and sorts each.
std::optional<Problem> find_repeated(const Tensor& tensor, std::uint64_t entries) {
  constexpr std::uint64_t kShare = std::uint64_t{1} << 20;
  std::vector<std::uint64_t> counts(ceil_div(entries, kShare));
  const auto each_place = [&](const auto& visit) {
    Coordinates at(tensor, 0);
    for (std::uint64_t entry = 0; entry < entries; ++entry) {
      at.next();
      const std::uint64_t place = at.place();
      visit(place, mixed(place) % counts.size());
    }
  };
  each_place([&](std::uint64_t, std::size_t share) { ++counts[share]; });
  Buckets shares(counts, 8);
  each_place([&](std::uint64_t place, std::size_t share) {
    std::array<std::byte, 8> record;
    store_le(record.data(), place);
    shares.put(share, record);
  });
  shares.seal();
  std::vector<std::uint64_t> places;
  for (std::size_t share = 0; share < counts.size(); ++share) {
    // A share exceeds twice its expected size only if places repeat, which is found anyway, or if a file was made to
    // defeat the mixing.
    places.resize(static_cast<std::size_t>(std::min(counts[share], 2 * kShare)));
    IndexStream dealt(shares.records(share), 0);
    for (std::uint64_t& place : places) place = dealt.next();
    std::sort(places.begin(), places.end());
    const auto twice = std::adjacent_find(places.begin(), places.end());
    if (twice != places.end())
      return Problem{"coo.duplicate", fmt::format("two entries are at the same place, {} in row-major order", *twice)};
  }
  return std::nullopt;
}

template <typename T>
void add_integer(std::byte* sum, const std::byte* value) {
  store_le<T>(sum, static_cast<T>(load_le<T>(sum) + load_le<T>(value)));
}
template <typename T>
void add_float(std::byte* sum, const std::byte* value) {
  store_le<T>(sum, load_le<T>(sum) + load_le<T>(value));
}
// Adds in double, which is wide enough for a single correct rounding.
template <auto Widen, auto Round>
void add_half(std::byte* sum, const std::byte* value) {
  const double wide = double{Widen(load_le<std::uint16_t>(sum))} + double{Widen(load_le<std::uint16_t>(value))};
  store_le<std::uint16_t>(sum, Round(wide));
}
void add_boolean(std::byte* sum, const std::byte* value) { *sum |= *value; }

using Add = void (*)(std::byte* sum, const std::byte* value);

// Null if the type has no addition here.
Add addition(const Component& values) {
  if (!values.type.empty() && storage_per_element(values.dtype, values.type) == 1) return nullptr;
  switch (values.dtype) {
    case DType::f64: return add_float<double>;
    case DType::f32: return add_float<float>;
    case DType::f16: return add_half<f16_to_f32, f64_to_f16>;
    case DType::bf16: return add_half<bf16_to_f32, f64_to_bf16>;
    case DType::i64:
    case DType::u64: return add_integer<std::uint64_t>;
    case DType::i32:
    case DType::u32: return add_integer<std::uint32_t>;
    case DType::i16:
    case DType::u16: return add_integer<std::uint16_t>;
    case DType::i8:
    case DType::u8: return add_integer<std::uint8_t>;
    case DType::boolean: return add_boolean;
  }
  return nullptr;
}

// The first two entries at the same place, if there are any. Problems with the coordinates themselves go to `outside`.
std::optional<Problem> repeated_place(const Tensor& tensor, const Report& outside) {
  const Component& values = *tensor.component("values");
  const std::uint64_t entries = values.blob.size() / width_of(values);
  const Tensor entered = with_seekable_coords(tensor);
  Survey found = survey(tensor, entered, entries);
  if (found.first_outside) {
    if (found.outside > 1) found.first_outside->sentence += fmt::format(" ({} such entries in all)", found.outside);
    outside(*found.first_outside);
  }
  if (found.first_repeated) {
    if (found.repeated > 1) found.first_repeated->sentence += fmt::format(" ({} such pairs)", found.repeated);
    return std::move(found.first_repeated);
  }
  if (found.rising || found.outside > 0 || !tensor.shape.elements()) return std::nullopt;
  return find_repeated(entered, entries);
}

// Adds one entry's value to another's at the same place.
class Adder {
 public:
  explicit Adder(const Tensor& tensor)
      : add_(addition(*tensor.component("values"))),
        step_(size_of(tensor.component("values")->dtype)),
        width_(width_of(*tensor.component("values"))) {}
  void operator()(const Tensor& tensor, std::uint64_t place, std::byte* sum, const std::byte* value) const {
    const Component& values = *tensor.component("values");
    if (add_ == nullptr)
      throw_corrupt(tensor, values,
                    {"coo.duplicate", fmt::format("two entries at place {}, and values of type {} cannot be added",
                                                  place, values.type_name())});
    for (std::size_t i = 0; i < width_; i += step_) add_(sum + i, value + i);
  }

 private:
  Add add_;
  std::size_t step_, width_;
};

// Reads entries that are in order; entries at the same place become one.
class CooCursor final : public Cursor {
 public:
  CooCursor(const Tensor& tensor, std::uint64_t entry, std::uint64_t entries)
      : tensor_(tensor),
        entry_(entry),
        entries_(entries),
        at_(tensor, entry),
        values_(tensor.component("values")->blob, entry * width_of(*tensor.component("values"))),
        add_(tensor),
        sum_(width_of(*tensor.component("values"))) {
    pull();
    advance();
  }

  void advance() override {
    place_ = next_place_;
    if (place_ == kEnd) return;
    std::memcpy(sum_.data(), next_value_, sum_.size());
    value_ = sum_.data();
    for (pull(); next_place_ == place_; pull()) add_(tensor_, place_, sum_.data(), next_value_);
  }

 private:
  void pull() {
    const std::uint64_t last = next_place_;
    next_place_ = kEnd;
    if (entry_ == entries_) return;
    next_inside(tensor_, at_, entry_);
    next_place_ = at_.place();
    if (last != kEnd && next_place_ < last)
      throw_corrupt(
          tensor_, *tensor_.component("coords"),
          {"coo.order", fmt::format("entry {} comes before the previous one, although an earlier read found them "
                                    "in order: the file was written to",
                                    entry_)});
    next_value_ = values_.take(sum_.size());
    ++entry_;
  }

  Tensor tensor_;
  std::uint64_t entry_, entries_;  // the next entry; the number of entries
  Coordinates at_;
  ByteStream values_;
  Adder add_;
  std::uint64_t next_place_ = kEnd;
  const std::byte* next_value_ = nullptr;
  std::vector<std::byte> sum_;
};

// Entries in any order, sorted into windows of the output. Inside a window they keep the order in which they are
// stored.
class CooWindows {
 public:
  CooWindows(const Tensor& tensor, std::uint64_t entries, std::vector<std::uint64_t> counts)
      : width_(width_of(*tensor.component("values"))), buckets_(std::move(counts), 8 + width_) {
    Coordinates at(tensor, 0);
    ByteStream values(tensor.component("values")->blob, 0);
    Bytes record(8 + width_);
    for (std::uint64_t entry = 0; entry < entries; ++entry) {
      next_inside(tensor, at, entry);
      store_le(record.data(), at.place());
      std::memcpy(record.data() + 8, values.take(width_), width_);
      buckets_.put(at.place() / elements(width_), record);
    }
    buckets_.seal();
  }

  // Elements per window.
  static std::uint64_t elements(std::uint64_t width) { return kWindow / width; }
  // Calls `visit(place, value)` for each entry of a window.
  template <typename Visit>
  void each(std::size_t window, const Visit& visit) const {
    ByteStream records(buckets_.records(window), 0);
    for (std::uint64_t left = buckets_.count(window); left > 0; --left) {
      const std::byte* const record = records.take(8 + width_);
      visit(load_le<std::uint64_t>(record), record + 8);
    }
  }

 private:
  std::size_t width_;
  Buckets buckets_;
};

class CooWindowReader final : public BlockReader {
 public:
  CooWindowReader(const Tensor& tensor, std::shared_ptr<const CooWindows> windows, std::uint64_t first,
                  std::uint64_t elements)
      : tensor_(tensor),
        windows_(std::move(windows)),
        width_(width_of(*tensor.component("values"))),
        next_(first),
        end_(elements),
        add_(tensor) {}

 protected:
  std::span<const std::byte> make_block() override {
    const std::uint64_t each = CooWindows::elements(width_), window = next_ / each;
    const auto count = std::min(end_, (window + 1) * each) - next_;
    const auto width = width_;
    block_.assign(count * width, std::byte{});
    filled_.assign(count, false);
    windows_->each(static_cast<std::size_t>(window), [&](std::uint64_t place, const std::byte* value) {
      if (place < next_ || place - next_ >= count) return;
      const auto slot = place - next_;
      std::byte* const sum = block_.data() + slot * width;
      if (filled_[slot])
        add_(tensor_, place, sum, value);
      else
        std::memcpy(sum, value, width);
      filled_[slot] = true;
    });
    next_ += count;
    return block_;
  }

 private:
  Tensor tensor_;
  std::shared_ptr<const CooWindows> windows_;
  std::uint64_t width_, next_, end_;
  Adder add_;
  std::vector<std::byte> block_;
  std::vector<bool> filled_;
};

class CooProducer final : public BlobProducer {
 public:
  CooProducer(const Tensor& tensor, std::uint64_t elements) : tensor_(tensor), elements_(elements) {
    const Component& values = *tensor_.component("values");
    width_ = width_of(values);
    entries_ = values.blob.size() / width_;
  }

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    once_.run([this] { scan(); });
    const std::uint64_t element = offset / width_;
    std::unique_ptr<BlockReader> reader;
    if (rising_) {
      auto cursor = std::make_unique<CooCursor>(entered_, seekable() ? first_entry(element) : 0, entries_);
      reader = std::make_unique<DenseReader>(std::move(cursor), element, elements_, static_cast<std::size_t>(width_));
    } else {
      reader = std::make_unique<CooWindowReader>(tensor_, windows_, element, elements_);
    }
    reader->skip(offset % width_);
    return reader;
  }

  std::uint64_t seek_granularity() const override { return seekable() ? kWindow : 0; }
  void verify() const override {
    for (const std::string_view role : kCooRoles) tensor_.component(role)->blob.verify();
  }

 private:
  bool seekable() const {
    return is_seekable(tensor_.component("values")->blob) && is_seekable(tensor_.component("coords")->blob);
  }

  // Finds out whether the entries are in order; if not, sorts them into windows. Throws for bad coordinates before
  // anything is decoded.
  void scan() const {
    entered_ = with_seekable_coords(tensor_);
    Coordinates at(entered_, 0);
    std::uint64_t previous = 0;
    rising_ = true;
    std::vector<std::uint64_t> counts(ceil_div(elements_, CooWindows::elements(width_)));
    for (std::uint64_t entry = 0; entry < entries_; ++entry) {
      next_inside(tensor_, at, entry);
      const std::uint64_t place = at.place();
      if (place < previous) rising_ = false;
      previous = place;
      ++counts[place / CooWindows::elements(width_)];
    }
    if (rising_) return;
    windows_ = std::make_shared<const CooWindows>(entered_, entries_, std::move(counts));
    entered_ = tensor_;  // frees the scratch space
  }

  // The first entry at or after a place.
  std::uint64_t first_entry(std::uint64_t place) const {
    std::uint64_t low = 0, high = entries_;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (place_of(middle) < place)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  std::uint64_t place_of(std::uint64_t entry) const {
    const Blob& coords = tensor_.component("coords")->blob;
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < tensor_.shape.rank(); ++d) {
      std::array<std::byte, 8> number;
      coords.read((d * entries_ + entry) * 8, number);
      place = place * tensor_.shape[d] + load_le<std::uint64_t>(number.data());
    }
    return place;
  }

  Tensor tensor_;
  std::uint64_t elements_, width_ = 0, entries_ = 0;
  mutable Once once_;
  mutable bool rising_ = false;
  mutable Tensor entered_;  // the tensor with seekable coordinates
  mutable std::shared_ptr<const CooWindows> windows_;
};

Tensor decode_coo(const Tensor& tensor) {
  const Component& values = *tensor.component("values");
  const std::uint64_t bytes = dense_bytes(tensor, values);
  return as_dense(tensor, values, bytes, std::make_shared<CooProducer>(tensor, bytes / width_of(values)));
}

}  // namespace

constinit const Codec kCoo = {
    .layout = "sparse_coo",
    .name = {},
    .title = "list of coordinates",
    .methods = {},
    .roles = kCooRoles,
    .check = check_coo,
    .verify = [](const Tensor& tensor,
                 const std::function<void(Problem)>& report) { verify_coo(tensor, report, Repeats::added_up); },
    .decode = decode_coo,
    .encode = nullptr};

}  // namespace tare::codec::sparse

namespace tare::codec {

void verify_coo(const Tensor& tensor, const std::function<void(Problem)>& report, Repeats repeats) {
  const Component& values = *tensor.component("values");
  verify_type(values, report);
  verify_booleans(values, report);
  std::optional<Problem> repeated = sparse::repeated_place(tensor, report);
  if (!repeated) return;
  // Repeated places are valid if their values can be added.
  if (repeats == Repeats::added_up && sparse::addition(values) != nullptr) {
    repeated->severity = Severity::warning;
    repeated->sentence += "; their values are added up";
  }
  report(*repeated);
}

std::optional<Problem> find_repeated_place(const Tensor& tensor) {
  return sparse::repeated_place(tensor, [](const Problem&) {});
}

}  // namespace tare::codec
