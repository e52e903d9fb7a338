// Reads tensor records. The next record begins where the last one ends, so a record of unknown length is fatal; any
// other problem is reported and the tensor omitted.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/alt/alt.hpp"
#include "tare/codec.hpp"

namespace tare::alt {
namespace {

// The smallest possible record: its numbers and a name of one byte.
constexpr std::uint64_t kLeastRecord1 = 13, kLeastRecord2 = 42;

struct Record {
  std::uint64_t begin = 0;
  Place place;
  std::string name;
  Shape shape;
  std::int32_t data_type = 0;
  float delta = 0, min = 0, max = 0;
  std::int8_t packing = 0;
};

class RecordReader {
 public:
  RecordReader(Cursor& cursor, const Input& input, int version, Model& model)
      : cursor_(cursor), input_(input), version_(version), model_(model) {}

  void read_all() {
    const std::uint64_t counts_at = cursor_.at();
    const std::uint64_t count = read_count("tensor_count", version_ == 1 ? kLeastRecord1 : kLeastRecord2);
    const auto shape_count = cursor_.take<std::int64_t>("shape_count");
    std::int32_t block_count = 0, unique_count = 0;
    if (version_ == 2) {
      block_count = cursor_.i32("block_count");
      unique_count = cursor_.i32("unique_count");
    }
    // The tensors are not reserved: the stated count may be wrong.
    for (std::uint64_t i = 0; i < count; ++i) read_one(i);
    cursor_.set_item("tensor section");
    if (shape_count < 0 || static_cast<std::uint64_t>(shape_count) != dimensions_)
      cursor_.complain("tensor.shape_count",
                       fmt::format("shape_count is {}, the records have {} dimensions", shape_count, dimensions_),
                       counts_at + 8);
    if (version_ == 2 && (block_count != static_cast<std::int64_t>(blocks_.size()) || unique_count != unique_))
      cursor_.warn("tensor.counts",
                   fmt::format("block_count and unique_count are {} and {}; by their names there are {} blocks and {} "
                               "tensors outside",
                               block_count, unique_count, blocks_.size(), unique_),
                   counts_at + 16);
  }

 private:
  std::uint64_t read_count(std::string_view what, std::uint64_t least) {
    const std::uint64_t at = cursor_.at();
    const auto count = cursor_.take<std::int64_t>(what);
    if (count < 0 || static_cast<std::uint64_t>(count) > cursor_.left() / least)
      cursor_.fail("tensor.count", fmt::format("{} is {}, there is room for {}", what, count, cursor_.left() / least),
                   at);
    return static_cast<std::uint64_t>(count);
  }

  void read_one(std::uint64_t number) {
    cursor_.set_item(fmt::format("tensor record {}", number));
    Record record = version_ == 1 ? fields_v1() : fields_v2();
    cursor_.set_item("tensor " + quote(record.name));
    if (record.data_type < kFloat32 || record.data_type > (version_ == 1 ? kQint8 : kQint4))
      cursor_.fail("tensor.type", fmt::format("the data type {} is not known", record.data_type), record.begin);
    dimensions_ += record.shape.size();
    const std::uint64_t bytes = data_bytes(record);
    const std::uint64_t offset = cursor_.at();
    if (bytes > cursor_.left())
      cursor_.fail("tensor.bounds", fmt::format("{} bytes of data, the file has {} left", bytes, cursor_.left()),
                   offset);
    cursor_.go(offset + bytes);
    count_place(record);
    if (sound(record)) add(record, Blob::range(input_.source, offset, bytes));
  }

  std::string name(std::int32_t length, std::uint64_t at) {
    if (length < 0 || static_cast<std::uint64_t>(length) > cursor_.left())
      cursor_.fail("tensor.name_length",
                   fmt::format("a name of {} bytes, the file has {} left", length, cursor_.left()), at);
    return std::string(as_text(cursor_.bytes(static_cast<std::uint64_t>(length), "name")));
  }

  Shape dimensions(std::int32_t count, std::uint64_t at) {
    if (count < 0 || static_cast<std::uint64_t>(count) > kMostDimensions)
      cursor_.fail("tensor.rank", fmt::format("{} dimensions, 0 to {} are possible", count, kMostDimensions), at);
    Shape shape;
    for (std::int32_t i = 0; i < count; ++i) {
      const std::uint64_t where = cursor_.at();
      const std::int32_t dimension = cursor_.i32("dimension");
      if (dimension < 0) cursor_.fail("tensor.dimension", fmt::format("dimension {} is {}", i, dimension), where);
      shape.push_back(static_cast<std::uint64_t>(dimension));
    }
    return shape;
  }

  Record fields_v1() {
    Record record;
    record.begin = cursor_.at();
    const std::int32_t rank = cursor_.i32("dimensions");
    const std::int32_t name_length = cursor_.i32("name_length");
    record.data_type = cursor_.i32("data_type");
    record.shape = dimensions(rank, record.begin);
    record.name = name(name_length, record.begin + 4);
    return record;
  }

  Record fields_v2() {
    Record record;
    record.begin = cursor_.at();
    record.place.component = cursor_.i32("component_type");
    record.place.block = cursor_.i32("block_index");
    record.place.layer = cursor_.i32("layer_type");
    record.place.projection = cursor_.i32("projection_type");
    const std::uint64_t rank_at = cursor_.at();
    record.shape = dimensions(cursor_.i32("n_dims"), rank_at);
    const std::uint64_t length_at = cursor_.at();
    record.name = name(cursor_.i32("name_len"), length_at);
    record.data_type = cursor_.i32("data_type");
    record.delta = cursor_.f32("delta");
    record.min = cursor_.f32("min");
    record.max = cursor_.f32("max");
    record.packing = cursor_.take<std::int8_t>("packing_flag");
    if (record.packing != 0 && (record.packing != 1 || record.data_type != kQint4))
      cursor_.fail("tensor.packing",
                   fmt::format("packing_flag {} with data type {}: only qint4 is packed, with 1", record.packing,
                               record.data_type),
                   cursor_.at() - 1);
    return record;
  }

  std::uint64_t data_bytes(const Record& record) const {
    const auto elements = record.shape.elements();
    if (elements && record.data_type == kQint4 && record.packing == 1) return ceil_div(*elements, 2);
    const std::uint64_t width = record.data_type == kFloat32 ? 4 : record.data_type == kFloat16 ? 2 : 1;
    const auto bytes = elements ? checked_mul(*elements, width) : std::nullopt;
    if (!bytes)
      cursor_.fail("tensor.size", fmt::format("the shape {} does not fit 64 bits of length", record.shape.text()),
                   record.begin);
    return *bytes;
  }

  void count_place(const Record& record) {
    if (version_ == 1) return;
    const Place derived = place_of(record.name);
    if (derived.block >= 0)
      blocks_.insert(derived.block);
    else
      ++unique_;
    if (derived != record.place)
      cursor_.warn(
          "tensor.numbers",
          fmt::format("component, block, layer and projection are {}, {}, {}, {}; the name says {}, {}, {}, {}",
                      record.place.component, record.place.block, record.place.layer, record.place.projection,
                      derived.component, derived.block, derived.layer, derived.projection),
          record.begin);
  }

  bool sound(const Record& record) {
    if (record.name.empty()) return cursor_.complain("tensor.name", "the name is empty", record.begin), false;
    if (!is_valid_utf8(record.name))
      return cursor_.complain("tensor.name", "the name is not UTF-8", record.begin), false;
    if (!names_.insert(record.name).second)
      return cursor_.complain("tensor.duplicate", "the name appears twice", record.begin), false;
    if (!std::isfinite(record.delta) || !std::isfinite(record.min) || !std::isfinite(record.max))
      return cursor_.complain("tensor.delta",
                              fmt::format("delta, min and max are finite numbers, found {}, {}, {}", record.delta,
                                          record.min, record.max),
                              record.begin),
             false;
    const bool scaled = record.delta != 0 || record.min != 0 || record.max != 0;
    if (record.data_type < kQint8 && scaled)
      cursor_.warn("tensor.scale",
                   fmt::format("a float tensor with delta {}, min {}, max {}", record.delta, record.min, record.max),
                   record.begin);
    if (record.data_type >= kQint8 && record.delta < 0)
      cursor_.warn("tensor.negative_delta", fmt::format("delta is {}, a scale is above 0", record.delta), record.begin);
    return true;
  }

  void add(const Record& record, Blob blob) {
    Tensor tensor;
    tensor.name = record.name;
    tensor.shape = record.shape;
    if (version_ == 1 || record.data_type < kQint8) {
      const DType types[] = {DType::f32, DType::f16, DType::i8};
      tensor.components.push_back({"data", types[record.data_type], {}, std::move(blob)});
    } else {
      tensor.layout = record.data_type == kQint8 ? "alt.qint8" : "alt.qint4";
      tensor.components.push_back({"payload", DType::u8, {}, std::move(blob)});
      tensor.attributes.append("delta", static_cast<double>(record.delta));
      tensor.attributes.append("min", static_cast<double>(record.min));
      tensor.attributes.append("max", static_cast<double>(record.max));
      tensor.attributes.append("packed", record.packing == 1);
    }
    if (const auto problem = find_codec(tensor.layout)->check(tensor))
      return cursor_.complain(problem->rule, problem->sentence, record.begin);
    model_.tensors.push_back(std::move(tensor));
  }

  Cursor& cursor_;
  const Input& input_;
  int version_;
  Model& model_;
  std::uint64_t dimensions_ = 0;
  NameSet names_;
  std::set<std::int32_t> blocks_;
  std::int32_t unique_ = 0;
};

}  // namespace

void read_tensors(Cursor& cursor, const Input& input, int version, Model& model) {
  RecordReader(cursor, input, version, model).read_all();
}

}  // namespace tare::alt
