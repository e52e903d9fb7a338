// "sparse_csr": compressed sparse rows of a matrix.
//
//   values   one element per entry, row by row
//   indices  u64, the column of each entry; strictly ascending inside a row
//   indptr   u64[rows + 1]: row r has the entries indptr[r] .. indptr[r + 1]
//
// Decoding reads each component once, from front to back, and can start at any row with the help of indptr. Therefore
// it refuses what `verify` reports: columns out of range or out of order, descending row pointers.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "codecs/rows.hpp"
#include "codecs/sparse/sparse.hpp"
#include "model/element_size.hpp"

namespace tare::codec::sparse {
namespace {

constexpr std::array<std::string_view, 3> kCsrRoles = {"values", "indices", "indptr"};

std::optional<Problem> check_csr(const Tensor& tensor) {
  if (tensor.shape.rank() != 2)
    return Problem{"csr.rank", fmt::format("sparse_csr has 2 dimensions, found {}", tensor.shape.rank())};
  const Component* const values = tensor.component("values");
  if (values == nullptr) return Problem{"csr.missing", "a sparse_csr tensor needs the component \"values\""};
  for (const std::string_view role : {"indices", "indptr"})
    if (auto problem = check_index(tensor, "csr", role)) return problem;

  const std::uint64_t rows = tensor.shape[0];
  const std::uint64_t pointers = tensor.component("indptr")->blob.size();
  const auto count = checked_add(rows, 1);
  const auto expected = count ? checked_mul(*count, 8) : std::nullopt;
  if (!expected || pointers != *expected)
    return Problem{"csr.indptr", fmt::format("{} rows need {} row pointers of 8 bytes, the component has {} bytes",
                                             rows, count ? fmt::to_string(*count) : "2^64", pointers)};

  const std::uint64_t indices = tensor.component("indices")->blob.size();
  const std::uint64_t width = element_bytes(values->dtype, values->type);
  if (indices % 8 != 0 || values->blob.size() % width != 0 || indices / 8 != values->blob.size() / width)
    return Problem{"csr.counts",
                   fmt::format("indices has {} bytes ({} entries), values {} bytes ({} entries of {})", indices,
                               indices / 8, values->blob.size(), values->blob.size() / width, values->type_name())};
  return std::nullopt;
}

using Report = std::function<void(Problem)>;

// Whether the row pointers are usable.
bool verify_pointers(const Blob& indptr, std::uint64_t rows, std::uint64_t entries, const Report& report) {
  IndexStream stream(indptr, 0);
  std::uint64_t previous = stream.next();
  bool good = previous == 0;
  if (!good)
    report({"csr.indptr_start", fmt::format("the first row pointer is 0, found {}", previous), file_offset(indptr, 0)});
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t next = stream.next();
    if (next < previous) {
      report({"csr.indptr_order", fmt::format("row {} ends at entry {}, before its start {}", row, next, previous),
              file_offset(indptr, (row + 1) * 8)});
      return false;
    }
    previous = next;
  }
  if (previous == entries) return good;
  report({"csr.indptr_end",
          fmt::format("the last row pointer is the number of entries, {}, found {}", entries, previous),
          file_offset(indptr, rows * 8)});
  return false;
}

// Counts violations of one rule and reports the first.
struct Tally {
  std::uint64_t count = 0;
  std::string first;
  std::uint64_t entry = 0;  // the entry of the first violation
  void add(std::uint64_t at, const std::string& sentence) {
    if (count++ > 0) return;
    first = sentence;
    entry = at;
  }
  void report_to(std::string_view rule, const Blob& indices, const Report& report) const {
    if (count > 0)
      report({std::string(rule), fmt::format("{} ({} such entries in all)", first, count),
              file_offset(indices, entry * 8)});
  }
};

void verify_csr(const Tensor& tensor, const Report& report) {
  const Component& values = *tensor.component("values");
  verify_type(values, report);
  verify_booleans(values, report);
  const Blob& indices = tensor.component("indices")->blob;
  const Blob& indptr = tensor.component("indptr")->blob;
  const std::uint64_t rows = tensor.shape[0], columns = tensor.shape[1], entries = indices.size() / 8;
  const bool rows_known = verify_pointers(indptr, rows, entries, report);

  Tally outside, order;
  IndexStream columns_of(indices, 0), ends(indptr, 1);
  std::uint64_t rows_entered = 0, end = 0, previous = 0;
  bool first_in_row = true;
  for (std::uint64_t entry = 0; entry < entries; ++entry) {
    for (; rows_known && entry == end; first_in_row = true) {
      ++rows_entered;
      end = ends.next();
    }
    const std::uint64_t column = columns_of.next();
    if (column >= columns)
      outside.add(entry, fmt::format("entry {} is in column {}, the matrix has {}", entry, column, columns));
    if (rows_known && !first_in_row && column <= previous)
      order.add(entry, fmt::format("row {}: column {} of entry {} follows column {}", rows_entered - 1, column, entry,
                                   previous));
    previous = column;
    first_in_row = false;
  }
  outside.report_to("csr.column", indices, report);
  order.report_to("csr.order", indices, report);
}

class CsrCursor final : public Cursor {
 public:
  // Keeps a copy of the tensor, because readers may outlive the producer.
  CsrCursor(const Tensor& tensor, std::uint64_t row)
      : tensor_(tensor),
        columns_(tensor.shape[1]),
        entries_(indices().blob.size() / 8),
        row_(row),
        pointers_(indptr().blob, row) {
    entry_ = pointers_.next();
    if (row == 0 && entry_ != 0)
      fail(indptr(), {"csr.indptr_start", fmt::format("the first row pointer is 0, found {}", entry_)});
    row_end_ = entry_;
    if (entry_ > entries_) fail_past_end(entry_);
    const Component& values = *tensor_.component("values");
    indices_.emplace(indices().blob, entry_);
    width_ = element_bytes(values.dtype, values.type);
    values_.emplace(values.blob, entry_ * width_);
    enter_row();
    advance();
  }

  void advance() override {
    while (entry_ == row_end_) {
      if (++row_ >= tensor_.shape[0]) {
        if (row_end_ != entries_)
          fail(indptr(), {"csr.indptr_end", fmt::format("the last row pointer is the number of entries, {}, found {}",
                                                        entries_, row_end_)});
        place_ = kEnd;
        return;
      }
      enter_row();
    }
    const std::uint64_t column = indices_->next();
    if (column >= columns_)
      fail(indices(),
           {"csr.column", fmt::format("entry {} is in column {}, the matrix has {}", entry_, column, columns_)});
    if (!first_in_row_ && column <= previous_)
      fail(indices(), {"csr.order", fmt::format("row {}: column {} of entry {} follows column {}", row_, column, entry_,
                                                previous_)});
    previous_ = column;
    first_in_row_ = false;
    place_ = row_ * columns_ + column;
    value_ = values_->take(width_);
    ++entry_;
  }

 private:
  const Component& indices() const { return *tensor_.component("indices"); }
  const Component& indptr() const { return *tensor_.component("indptr"); }
  [[noreturn]] void fail(const Component& component, const Problem& problem) const {
    throw_corrupt(tensor_, component, problem);
  }
  [[noreturn]] void fail_past_end(std::uint64_t pointer) const {
    fail(indptr(), {"csr.indptr_end", fmt::format("row {} ends at entry {}, there are {}", row_, pointer, entries_)});
  }

  void enter_row() {
    const std::uint64_t end = pointers_.next();
    if (end < row_end_)
      fail(indptr(),
           {"csr.indptr_order", fmt::format("row {} ends at entry {}, before its start {}", row_, end, row_end_)});
    if (end > entries_) fail_past_end(end);
    row_end_ = end;
    first_in_row_ = true;
  }

  Tensor tensor_;
  std::uint64_t columns_, entries_, row_;
  IndexStream pointers_;
  std::optional<IndexStream> indices_;
  std::optional<ByteStream> values_;
  std::size_t width_ = 0;
  std::uint64_t entry_ = 0, row_end_ = 0, previous_ = 0;
  bool first_in_row_ = true;
};

class CsrProducer final : public BlobProducer {
 public:
  CsrProducer(const Tensor& tensor, std::uint64_t elements) : tensor_(tensor), elements_(elements) {
    const Component& values = *tensor_.component("values");
    width_ = element_bytes(values.dtype, values.type);
  }

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::uint64_t element = offset / width_;
    // The offset at the very end belongs to no row.
    const std::uint64_t row = std::min(element / tensor_.shape[1], tensor_.shape[0] - 1);
    auto reader = std::make_unique<DenseReader>(std::make_unique<CsrCursor>(tensor_, row), element, elements_,
                                                static_cast<std::size_t>(width_));
    reader->skip(offset % width_);
    return reader;
  }

  std::uint64_t seek_granularity() const override {
    for (const std::string_view role : kCsrRoles)
      if (!is_seekable(tensor_.component(role)->blob)) return 0;
    return tensor_.shape[1] * width_;
  }
  void verify() const override {
    for (const std::string_view role : kCsrRoles) tensor_.component(role)->blob.verify();
  }

 private:
  Tensor tensor_;
  std::uint64_t elements_, width_;
};

Tensor decode_csr(const Tensor& tensor) {
  const Component& values = *tensor.component("values");
  const std::uint64_t bytes = dense_bytes(tensor, values);
  return as_dense(tensor, values, bytes,
                  std::make_shared<CsrProducer>(tensor, bytes / element_bytes(values.dtype, values.type)));
}

}  // namespace

constinit const Codec kCsr = {.layout = "sparse_csr",
                              .name = {},
                              .title = "compressed sparse rows",
                              .methods = {},
                              .roles = kCsrRoles,
                              .check = check_csr,
                              .verify = verify_csr,
                              .decode = decode_csr,
                              .encode = nullptr};

}  // namespace tare::codec::sparse
