// Implements tare/rows.hpp: checks the arguments, then calls the layout's functions.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "tare/codec.hpp"
#include "tare/error.hpp"
#include "tare/rows.hpp"

namespace tare {
namespace {

void require_rows(const Rows& rows, std::uint64_t first, std::uint64_t count) {
  if (!fits(first, count, rows.rows()))
    throw Error(ErrorKind::usage, "rows.bounds",
                fmt::format("{} rows from row {} were asked for, there are {}", count, first, rows.rows()));
}

void require_size(std::string_view what, std::uint64_t found, std::optional<std::uint64_t> expected) {
  if (!expected || found != *expected)
    throw Error(ErrorKind::usage, "rows.size",
                fmt::format("{} has {} values, {} are needed", what, found,
                            expected ? fmt::to_string(*expected) : "more than 2^64"));
}

}  // namespace

void Rows::decode(std::uint64_t first, std::uint64_t count, std::span<float> out) const {
  require_rows(*this, first, count);
  require_size("the output", out.size(), checked_mul(count, columns_));
  if (!out.empty()) do_decode(first, count, out.data());
}

void Rows::dot(std::uint64_t first, std::uint64_t count, std::span<const float> vector, std::span<float> out) const {
  require_rows(*this, first, count);
  require_size("the vector", vector.size(), columns_);
  require_size("the output", out.size(), count);
  if (!out.empty()) do_dot(first, count, vector.data(), out.data());
}

void Rows::dot(std::uint64_t first, std::uint64_t count, const QuantizedVector& vector, std::span<float> out) const {
  require_rows(*this, first, count);
  require_size("the vector", vector.size(), columns_);
  require_size("the output", out.size(), count);
  if (!out.empty()) do_dot(first, count, vector, out.data());
}

std::unique_ptr<const Rows> open_rows(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || codec->rows == nullptr)
    throw Error(ErrorKind::unsupported, "codec.no_rows",
                fmt::format("the layout \"{}\" has no arithmetic on rows", tensor.layout))
        .about(tensor.name);
  if (const auto problem = codec->check(tensor))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about(tensor.name);
  return codec->rows(tensor);
}

}  // namespace tare
