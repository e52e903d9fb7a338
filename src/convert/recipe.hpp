// Decides how each tensor is encoded: a Quantization applied to the tensors of one model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/families.hpp"
#include "formats/format.hpp"
#include "tare/change.hpp"
#include "tare/quantize.hpp"

namespace tare::recipe {

// The same numbers as a dense tensor of a plain float type.
Tensor as_plain_floats(const Tensor& tensor);

// What a budget of bits may get for a tensor: a method (empty: the tensor is kept), its bytes, what it costs.
struct Offer {
  std::string method = {};
  std::uint64_t bytes = 0;
  double relative_error = 0;  // squared, weighted by column, relative to the weights
  double cost = 0;
};
// What a tensor got, and what else it could have had, smallest first.
struct Bargain {
  std::string tensor;
  std::uint64_t elements = 0;
  std::vector<Offer> offers;
  std::size_t chosen = 0;
};
// What a budget of bits minimizes instead of squared errors.
struct Objective {
  // The cost of each unit of relative error of a tensor.
  std::function<double(const Tensor&)> rate;
  std::function<void(Bargain)> report;  // called for each tensor, in their order
};

struct Target {
  const Format& format;
  // The bytes that a kept tensor takes in this format: perhaps more than now, in a type or layout that the format has.
  std::function<std::uint64_t(const Tensor&)> kept_bytes;
  const Objective* objective = nullptr;  // null: the sum of squared errors
};

struct Decision {
  std::string method;                 // empty: the tensor is kept
  std::optional<DType> type = {};     // or: it is cast to this float type
  std::optional<Change> remark = {};  // what was asked for and is not possible
};

// A rule may name a float type instead of a method: "f16".
std::optional<DType> type_called(std::string_view method);

// Translates importance values by tensor names before a renaming to the names after it. Values by new names are kept.
Importance in_new_names(Importance importance, const std::vector<Renamed>& renamed);

// Null if it is not known.
const arch::Family* family_of(const Model& model);

// Gives importance values the names that the model's tensors have, if its family has other names for them in another
// dialect. Experts of a stack that the model has one by one get those of the stack.
Importance in_names_of(const Model& model, Importance importance);

// Returns one decision for each tensor. Rules are matched with the names of tensors, and with those that they had before
// `renamed`; importance values have the new names. Throws usage `convert.quant` for a method that does not exist or has
// no form with a range, `quantize.rule` for a rule that matches no tensor, `quantize.importance` for importance values
// without effect (with `fast`, or for no tensor of the model), and what `fit_budget` throws.
std::vector<Decision> decide(const Model& model, const Quantization& how, const std::vector<Renamed>& renamed,
                             const Target& target, unsigned threads);

struct MixOptions {
  bool pure = false;      // the mix's main method for all tensors
  bool weighted = false;  // there are importance values
};

// Returns the method that a mix has for each tensor; empty if it is kept. `config` has the number of heads that share a
// key.
std::vector<std::string> methods_of_mix(std::string_view mix, const std::vector<Tensor>& tensors, const Config& config,
                                        const MixOptions& options);

// Returns whether `method` is the name of a mix, even if it is also the name of the mix's main method.
bool is_mix(std::string_view method);

// Returns the mix's main method, "q4_k" of q4_k_m; empty if there is no such mix.
std::string_view base_of_mix(std::string_view mix);

// Returns whether a method has so few bits that llama.cpp's quantizer refuses it without importance values.
bool wants_importance(std::string_view method);

EncodeOptions encode_options(const Quantization& how, const std::string& tensor, const std::string& method,
                             unsigned threads);

// Chooses methods for the tensors marked `open`; those of the others are given. Errors are estimated from a sample of
// every tensor's rows. Only methods that the target can hold are tried. Throws unsupported `convert.quant` if it can
// hold none, usage `quantize.bits` if the budget is too small for the smallest methods.
void fit_budget(const std::vector<Tensor>& tensors, const std::vector<bool>& open, const Quantization& how,
                const Target& target, unsigned threads, std::vector<Decision>& decisions);

}  // namespace tare::recipe
