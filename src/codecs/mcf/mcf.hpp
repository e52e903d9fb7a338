// Shared by the files of MCF's codec rows.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "codecs/mcf/layout.hpp"
#include "tare/codec.hpp"

namespace tare {

// The geometry of a tensor that has passed `check`. Throws `quant.*` for one that has not.
McfGeometry mcf_geometry_of(const Tensor& tensor);

std::optional<Problem> mcf_check(const Tensor& tensor);
void mcf_verify(const Tensor& tensor, const std::function<void(Problem)>& report);
Tensor mcf_to_dense(const Tensor& tensor);
std::unique_ptr<const Rows> mcf_open_rows(const Tensor& tensor);

}  // namespace tare
