// Shared by the source files of MCF's codecs.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "codecs/mcf/layout.hpp"
#include "tare/codec.hpp"

namespace tare::codec::mcf {

// See Codec::explain.
std::optional<FirstBlock> explain(const Tensor& tensor);

// The geometry of a tensor that has passed `check`. Throws `quant.*` for others.
Geometry geometry_of(const Tensor& tensor);

// Attributes that describe the payload.
inline constexpr std::array<std::string_view, 3> kParameters = {"domain", "min_clip", "max_clip"};

std::optional<Problem> check(const Tensor& tensor);
void verify(const Tensor& tensor, const std::function<void(Problem)>& report);
Tensor decode(const Tensor& tensor);
std::unique_ptr<const Rows> make_rows(const Tensor& tensor);

}  // namespace tare::codec::mcf
