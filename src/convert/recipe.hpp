// Which tensor is encoded how: a Quantization applied to the tensors of one model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tare/change.hpp"
#include "tare/quantize.hpp"

namespace tare::recipe {

// The same numbers as a dense tensor of a plain float type.
Tensor as_plain_floats(const Tensor& tensor);

struct Target {
  const Format& format;
  // What a tensor takes in it that is kept: perhaps more than now, in a type or layout that the format has.
  std::function<std::uint64_t(const Tensor&)> kept_bytes;
};

struct Decision {
  std::string method;                 // empty: the tensor is kept
  std::optional<DType> type = {};     // or: it becomes one of this float type
  std::optional<Change> remark = {};  // what was asked for and cannot be
};

// A rule may name a float type instead of a method: "f16".
std::optional<DType> type_called(std::string_view method);

// A recipe that was written for the names of before, for the tensors as they are called now. Names of now are understood
// as well.
Quantization in_new_names(Quantization how, const std::vector<Tensor>& tensors, const std::vector<Renamed>& renamed);

// One for each tensor. Throws usage `convert.quant` for a method that does not exist or has no form with a range,
// `quantize.rule` for a rule that fits no tensor, `quantize.importance` for one that nothing would look at, and what
// `fit_budget` throws.
std::vector<Decision> decide(const Model& model, const Quantization& how, const Target& target, unsigned threads);

struct MixOptions {
  bool pure = false;      // the mix's main method for all of them
  bool weighted = false;  // there are importance values
};

// The method that a mix has for each tensor; empty: it is kept. `config` says how many heads share a key.
std::vector<std::string> methods_of_mix(std::string_view mix, const std::vector<Tensor>& tensors, const Config& config,
                                        const MixOptions& options);

// Whether `method` is the name of a mix, also if it is that of its main method, too.
bool is_mix(std::string_view method);

EncodeOptions encode_options(const Quantization& how, const std::string& tensor, const std::string& method,
                             unsigned threads);

// Chooses methods for the tensors marked `open`; those of the others are given. Errors are estimated from a sample of
// every tensor's rows. Only methods that the target can hold are tried. Throws unsupported `convert.quant` when it can hold
// none, usage `quantize.bits` when the budget is too small for the smallest methods.
void fit_budget(const std::vector<Tensor>& tensors, const std::vector<bool>& open, const Quantization& how,
                const Target& target, unsigned threads, std::vector<Decision>& decisions);

}  // namespace tare::recipe
