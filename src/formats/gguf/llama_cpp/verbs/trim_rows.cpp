// Verb::trim_rows: encoders that number positions after the padding have rows that no position uses. GGUF's runtime
// counts from 0, so its table begins with the first that one uses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/model_classes.hpp"
#include "base/checked.hpp"
#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/adopt_numbers.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/joined_blob.hpp"
#include "resources/json_file.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Attribute: the type and the bytes of the rows that were cut.
constexpr std::string_view kCut = "gguf.cut";

// The rows that were cut, if the attribute has them as many and as long as the others.
std::optional<Tensor> cut_rows(const Tensor& tensor, std::uint64_t count) {
  const Value* const kept = tensor.attributes.find(kCut);
  const List* const parts = kept == nullptr ? nullptr : kept->get<List>();
  if (parts == nullptr || parts->size() != 2 || (*parts)[0].text() == nullptr) return std::nullopt;
  const auto type = parse_dtype(*(*parts)[0].text());
  const Bytes* const bytes = (*parts)[1].get<Bytes>();
  if (!type || !is_float(*type) || bytes == nullptr) return std::nullopt;
  const auto elements = checked_mul(count, tensor.shape[1]);
  if (!elements || bytes->size() / size_of(*type) != *elements || bytes->size() % size_of(*type) != 0)
    return std::nullopt;
  return cast(dense(tensor.name, {count, tensor.shape[1]}, *type, Blob::memory(*bytes)),
              tensor.components.front().dtype);
}

}  // namespace

std::uint64_t rows_before_positions(const ConfigFile& file, const arch::Step& step) {
  if (!arch::class_of(file.model_type()).pads_positions) return 0;
  const double padding = file.number(step.key).value_or(-1);
  constexpr double kMost = 1 << 20;
  if (padding < 0 || padding > kMost || std::trunc(padding) != padding)
    throw refused_setting(step.key, "the id of a token", Value(padding));
  return static_cast<std::uint64_t>(padding) + 1;
}

Tensor trim_rows(Tensor tensor, std::uint64_t count) {
  if (count == 0) return tensor;
  if (!has_elements(tensor, 2) || tensor.shape[0] <= count)
    throw unmapped(
        fmt::format("{}: expected more than {} rows, the first of which belong to padding, found the shape {}",
                    quote(tensor.name), count, tensor.shape.text()));
  const Tensor cut = slice(tensor, parse_slice(fmt::format(":{}", count)));
  Tensor rest = slice(tensor, parse_slice(fmt::format("{}:", count)));
  rest.name = tensor.name;
  rest.attributes = std::move(tensor.attributes);
  rest.attributes.set(kCut, List{Value(name_of(cut.components.front().dtype)),
                                 Value(cut.components.front().blob.bytes(resources::kMaxSmallBytes))});
  return rest;
}

Tensor restore_rows(Tensor tensor, std::uint64_t count) {
  const bool joins = count > 0 && has_elements(tensor, 2);
  const std::optional<Tensor> kept = joins ? cut_rows(tensor, count) : std::nullopt;
  tensor.attributes.erase(kCut);
  if (!joins) return tensor;
  Component& data = tensor.components.front();
  const std::uint64_t row = data.blob.size() / tensor.shape[0];
  if (count > resources::kMaxSmallBytes / std::max<std::uint64_t>(row, 1))
    throw no_way_back(fmt::format("{}: config.json asks for {} rows for padding", quote(tensor.name), count));
  const Blob first = kept ? kept->components.front().blob : Blob::memory(Bytes(static_cast<std::size_t>(row * count)));
  data.blob = joined_blob({first, data.blob});
  tensor.shape = {tensor.shape[0] + count, tensor.shape[1]};
  return tensor;
}

}  // namespace tare::gguf::llama_cpp
