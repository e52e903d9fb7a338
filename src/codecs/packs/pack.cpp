#include "codecs/packs/pack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/once.hpp"
#include "base/printable.hpp"
#include "codecs/narrow_reader.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/simd_floats.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::packs {
namespace {

// Floats per tile at most, unless one row has more.
constexpr std::uint64_t kMostTogether = std::uint64_t{1} << 20;
constexpr std::uint64_t kLongTile = std::uint64_t{64} << 10, kSmallTile = std::uint64_t{16} << 10;

class PackReader final : public NarrowReader {
 public:
  PackReader(std::shared_ptr<const Maker> maker, std::string name, std::uint64_t row, std::uint64_t column,
             std::uint64_t skip)
      : maker_(std::move(maker)), name_(std::move(name)), row_(row), column_(column), skip_(skip) {}

  void read(std::span<std::byte> out) override { take(out, sizeof(float)); }

  bool read_bf16(std::span<std::byte> out) override { return take(out, sizeof(std::uint16_t)); }

 private:
  // Fills `out` with elements of this width. Returns false if some of those that were made do not fit it.
  bool take(std::span<std::byte> out, std::size_t width) {
    bool all_fit = true;
    while (!out.empty()) {
      if (ready_.empty()) make_named(out, width);
      all_fit = all_fit && fit_;
      const std::size_t part = std::min(out.size(), ready_.size());
      // The data may have been made in place.
      if (ready_.data() != out.data()) std::memcpy(out.data(), ready_.data(), part);
      ready_ = ready_.subspan(part);
      out = out.subspan(part);
    }
    return all_fit;
  }

  void make_named(std::span<std::byte> out, std::size_t width) try { make(out, width); } catch (Error& error) {
    // A problem with the arrays is one of the stored tensor, not of what is made from it.
    if (error.item().empty()) error.about("tensor " + quote(name_)).blame(Subject::input);
    throw;
  }

  void make(std::span<std::byte> out, std::size_t width) {
    if (row_ == maker_->rows()) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    const Tile tile{row_, std::min(maker_->tile_rows(), maker_->rows() - row_), column_,
                    std::min(maker_->tile_columns(), maker_->columns() - column_)};
    const auto count = tile.rows * tile.columns;
    const bool aligned = reinterpret_cast<std::uintptr_t>(out.data()) % alignof(float) == 0;
    const bool in_place = aligned && skip_ == 0 && out.size() >= count * width;
    if (!in_place && buffer_.size() * sizeof(float) < count * width)
      buffer_.resize(ceil_div(count * width, sizeof(float)));
    float* const to = in_place ? reinterpret_cast<float*>(out.data()) : buffer_.data();
    const std::span<std::byte> made(reinterpret_cast<std::byte*>(to), count * width);
    fit_ = true;
    if (width == sizeof(float)) {
      maker_->make(tile, to);
      if constexpr (!kLittleEndianHost) swap_elements(made, sizeof(float));
    } else if (!maker_->make_bf16(tile, made.data())) {
      fit_ = narrow(tile, made);
    }
    maker_->check_sources();
    ready_ = made.subspan(skip_ / sizeof(float) * width + skip_ % sizeof(float));
    skip_ = 0;
    column_ += tile.columns;
    if (column_ < maker_->columns()) return;
    column_ = 0;
    row_ += tile.rows;
  }

  // Makes a few rows at a time if rows can be made alone: their floats are still in the L1 cache when they are rounded.
  bool narrow(const Tile& tile, std::span<std::byte> made) {
    constexpr std::uint64_t kFew = 4096;  // floats
    const std::uint64_t few = std::max<std::uint64_t>(1, kFew / std::max<std::uint64_t>(tile.columns, 1));
    const std::uint64_t step = maker_->rows_alone() ? few : tile.rows;
    bool fit = true;
    for (std::uint64_t row = 0; row < tile.rows; row += step) {
      const Tile part{tile.row + row, std::min(step, tile.rows - row), tile.column, tile.columns};
      const auto count = part.rows * part.columns;
      if (floats_.size() < count) floats_.resize(count);
      maker_->make(part, floats_.data());
      const std::span<std::byte> bytes = std::as_writable_bytes(std::span(floats_.data(), count));
      if constexpr (!kLittleEndianHost) swap_elements(bytes, sizeof(float));
      fit = floats_to_bf16(bytes.data(), count, made.data()) == 0 && fit;
      made = made.subspan(count * sizeof(std::uint16_t));
    }
    return fit;
  }

  std::shared_ptr<const Maker> maker_;
  std::string name_;
  std::uint64_t row_, column_, skip_;  // skip_: in bytes of floats; a multiple of 4 if bf16 is read
  std::vector<float> buffer_, floats_;
  std::span<const std::byte> ready_;
  bool fit_ = true;  // whether the values in ready_ fit
};

class PackProducer final : public BlobProducer {
 public:
  // Unless `scales` is `any`, `open` throws if scales are not finite.
  PackProducer(std::shared_ptr<const Maker> maker, std::string name, Scales scales)
      : maker_(std::move(maker)), name_(std::move(name)), allowed_(scales) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    plain_.run([&] { maker_->verify_plain(); });
    if (allowed_ != Scales::any) checked_.run([&] { check_scales(); });
    const std::uint64_t element = offset / sizeof(float);
    const std::uint64_t row = element / maker_->columns() / maker_->tile_rows() * maker_->tile_rows();
    const std::uint64_t column = maker_->tile_rows() > 1 || maker_->tile_columns() == maker_->columns()
                                     ? 0
                                     : element % maker_->columns() / maker_->tile_columns() * maker_->tile_columns();
    return std::make_unique<PackReader>(maker_, name_, row, column,
                                        offset - (row * maker_->columns() + column) * sizeof(float));
  }
  // The first reader copies arrays that are not seekable to scratch.
  std::uint64_t seek_granularity() const override {
    const bool long_rows = maker_->tile_columns() != maker_->columns();
    return (long_rows ? 1 : maker_->tile_rows() * maker_->columns()) * sizeof(float);
  }
  void verify() const override { maker_->verify_stored(); }

 private:
  // Cheap, because there are few scales, and they are about to be read anyway.
  void check_scales() const {
    const auto refuse_with = [&](const Problem& problem, std::string_view more) {
      Error error(ErrorKind::lossy, problem.rule, fmt::format("{}{}", problem.sentence, more));
      error.about("tensor " + quote(name_)).blame(Subject::input);
      if (allowed_ == Scales::finite_unless_accepted) error.remedy(Remedy::accept_overflow);
      if (problem.offset) error.at(*problem.offset);
      throw error;
    };
    maker_->verify_scales(
        [&](const Problem& problem) { refuse_with(problem, "; weights decoded with it would not be finite"); });
    maker_->verify_weights([&](const Problem& problem) { refuse_with(problem, ""); });
    maker_->check_sources();
  }

  std::shared_ptr<const Maker> maker_;
  std::string name_;
  Scales allowed_;
  mutable Once checked_, plain_;
};

std::optional<std::uint64_t> count_in(const Tensor& tensor, std::string_view attribute) {
  const Value* const value = tensor.attributes.find(attribute);
  const auto* const number = value == nullptr ? nullptr : value->get<std::int64_t>();
  if (value == nullptr) return std::nullopt;
  if (number == nullptr || *number < 0)
    refuse("pack.attribute", fmt::format("the attribute \"{}\" is not a whole number", attribute));
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

void refuse(std::string_view rule, std::string sentence) { throw Refusal{{std::string(rule), std::move(sentence)}}; }

void refuse_variant(std::string sentence) {
  throw Refusal{{"pack.variant", std::move(sentence), std::nullopt, Severity::note}};
}

Problem nonfinite(const Array& array, std::uint64_t first, std::uint64_t count) {
  const std::string more = count == 1 ? "" : fmt::format(" ({} such elements in all)", count);
  return {"pack.scale",
          fmt::format("element {} of \"{}\" is not a finite number{}", first, array.component().role, more),
          file_offset(array.component().blob, first * array.width())};
}

Maker::Maker(std::uint64_t rows, std::uint64_t columns, std::uint64_t together)
    : rows_(rows), columns_(columns), rows_alone_(together == 1) {
  if (columns > kLongRow) {
    tile_rows_ = 1;
    tile_columns_ = kLongTile;
    return;
  }
  tile_columns_ = columns;
  const std::uint64_t fitting = kMostTogether / std::max<std::uint64_t>(columns, 1);
  // Few rows at a time, so that they stay in the cache, but at least kSmallTile weights.
  const std::uint64_t wanted = std::max(together, ceil_div(kSmallTile, std::max<std::uint64_t>(columns, 1)));
  tile_rows_ = std::max<std::uint64_t>(together, wanted / together * together);
  while (tile_rows_ > 1 && tile_rows_ > fitting) tile_rows_ /= 2;
}

void Maker::read_from(std::initializer_list<const Array*> arrays, std::initializer_list<const Array*> scales) {
  for (const Array* const array : arrays)
    if (array != nullptr) arrays_.push_back(array);
  for (const Array* const array : scales)
    if (array != nullptr) scales_.push_back(array);
}

void Maker::verify_scales(const std::function<void(Problem)>& report) const {
  for (const Array* const array : scales_) {
    std::uint64_t first = 0;
    const std::uint64_t count = array->count_nonfinite(first);
    if (count > 0) report(nonfinite(*array, first, count));
  }
}

bool Maker::may_overflow() const {
  return std::ranges::any_of(scales_, [](const Array* array) { return array->any_unusual(); });
}

void Maker::verify_weights(const std::function<void(Problem)>& report) const {
  if (rows_ == 0 || columns_ == 0 || !may_overflow()) return;
  std::vector<float> values(std::min(tile_rows_, rows_) * std::min(tile_columns_, columns_));
  std::uint64_t count = 0, first_row = 0, first_column = 0;
  for (std::uint64_t row = 0; row < rows_; row += tile_rows_)
    for (std::uint64_t column = 0; column < columns_; column += tile_columns_) {
      const Tile tile{row, std::min(tile_rows_, rows_ - row), column, std::min(tile_columns_, columns_ - column)};
      make(tile, values.data());
      for (std::uint64_t i = 0; i < tile.rows * tile.columns; ++i) {
        if (std::isfinite(values[i]) || count++ > 0) continue;
        first_row = row + i / tile.columns;
        first_column = column + i % tile.columns;
      }
    }
  if (count > 0)
    report(
        {"pack.scale",
         fmt::format("the weight at row {}, column {} is more than f32 holds{}: the scales are finite, but too large "
                     "for their codes",
                     first_row, first_column, count == 1 ? "" : fmt::format(" ({} such in all)", count))});
}

void Maker::check_sources() const {
  const Source* last = nullptr;
  for (const Array* const array : arrays_) {
    const Source* const source = array->component().blob.source().get();
    if (source != nullptr && source != last) source->check();
    last = source;
  }
}

void Maker::verify_stored() const {
  for (const Array* const array : arrays_) array->component().blob.verify();
}

void Maker::verify_plain() const {
  for (const Array* const array : arrays_)
    if (array->component().blob.is_plain()) array->component().blob.verify();
}

std::optional<Problem> check_pack(const Pack& pack, const Tensor& tensor) try {
  pack.plan(tensor);
  return std::nullopt;
} catch (const Refusal& refusal) {
  return refusal.problem;
}

void verify_pack(const Pack& pack, const Tensor& tensor, const std::function<void(Problem)>& report) {
  const std::shared_ptr<const Maker> maker = pack.plan(tensor);
  bool sound = true;
  maker->verify([&](const Problem& problem) {
    sound = false;
    report(problem);
  });
  if (sound) maker->verify_weights(report);
  maker->check_sources();
}

Tensor decode_pack(const Pack& pack, const Tensor& tensor, Scales scales) {
  const auto elements = tensor.shape.elements();
  const auto bytes = elements ? checked_mul(*elements, sizeof(float)) : std::nullopt;
  if (!bytes)
    throw Error(ErrorKind::limit, "codec.too_large", "the decoded tensor does not fit 64 bits of length")
        .about(tensor.name);
  Blob blob = *bytes == 0
                  ? Blob::memory({})
                  : Blob::produced(*bytes, std::make_shared<PackProducer>(pack.plan(tensor), tensor.name, scales));
  Tensor result = dense(tensor.name, tensor.shape, DType::f32, std::move(blob));
  for (const auto& [key, value] : tensor.attributes)
    if (std::ranges::find(pack.parameters, key) == pack.parameters.end()) result.attributes.append(key, value);
  return result;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  const auto result = checked_mul(a, b);
  if (!result) refuse("pack.shape", fmt::format("{} times {} does not fit 64 bits", a, b));
  return *result;
}

std::uint64_t matrix_rows(const Tensor& tensor) {
  std::uint64_t rows = 1;
  for (std::size_t i = 0; i + 1 < tensor.shape.rank(); ++i) rows = product(rows, tensor.shape[i]);
  if (!tensor.shape.empty()) product(product(rows, tensor.shape.back()), 16);
  return rows;
}

void require_rank(const Tensor& tensor, std::size_t least, std::size_t most) {
  const std::size_t rank = tensor.shape.rank();
  if (rank < least || rank > most)
    refuse("pack.shape",
           fmt::format("the weights have {} dimensions; {} has {} to {}", rank, tensor.layout, least, most));
}

std::uint64_t whole_number(const Tensor& tensor, std::string_view attribute) {
  const auto number = count_in(tensor, attribute);
  if (!number) refuse("pack.attribute", fmt::format("{} needs the attribute \"{}\"", tensor.layout, attribute));
  return *number;
}

std::uint64_t whole_number(const Tensor& tensor, std::string_view attribute, std::uint64_t otherwise) {
  return count_in(tensor, attribute).value_or(otherwise);
}

const Component* optional_array(const Tensor& tensor, std::string_view role, Types types, std::uint64_t elements) {
  const Component* const found = tensor.component(role);
  if (found == nullptr) return nullptr;
  if (std::ranges::find(types, found->type_name()) == types.end())
    refuse("pack.type", fmt::format("\"{}\" is {}; expected {}", role, found->type_name(), fmt::join(types, " or ")));
  const std::uint64_t bytes = product(elements, size_of(found->dtype));
  if (found->blob.size() != bytes)
    refuse("pack.shape", fmt::format("weights of shape {} need {} bytes of \"{}\", found {}", tensor.shape.text(),
                                     bytes, role, found->blob.size()));
  return found;
}

const Component& require_array(const Tensor& tensor, std::string_view role, Types types, std::uint64_t elements) {
  const Component* const found = optional_array(tensor, role, types, elements);
  if (found == nullptr) refuse("pack.missing", fmt::format("\"{}\" is missing", role));
  return *found;
}

}  // namespace tare::codec::packs
