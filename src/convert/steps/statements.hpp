// Keeps the statements of metadata and files about the tensors true when the tensors change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"

namespace tare {

class Statements {
 public:
  // Takes the model as it was read.
  explicit Statements(const Model& model);
  // Corrects the statements for the model as it will be written, with a line for each change: the dtype of config.json
  // if most weights have another float type now, the number of parameters that an index states.
  void update(Model& model, std::vector<Change>& lines) const;
  // Removes the quantization that files state if packed weights were decoded. `packed_anew`: a step packed some.
  void forget_decoded(Model& model, bool packed_anew, std::vector<Change>& lines) const;
  bool had_no_packed() const { return packed_.empty(); }
  // The tensors that were packed and no longer are.
  std::vector<std::string> decoded(const Model& model) const;

 private:
  void update_dtype(Model& model, std::vector<Change>& lines) const;
  void update_counts(Model& model, std::vector<Change>& lines) const;
  void update_count(const OwnKey& own, std::optional<std::uint64_t> now, Model& model,
                    std::vector<Change>& lines) const;

  std::vector<std::string> packed_;  // the input's packed weights
  std::optional<DType> common_;
  std::optional<std::uint64_t> elements_;
};

// Removes what the files of a model state about the packing of weights that are no longer packed.
void forget_packing(Model& model, std::vector<Change>& lines);

// The keys for what a model lost against the one that it was made from begin with this (tare::run::Quality).
inline constexpr std::string_view kQualityKeys = "tare.quality.";
// Removes them, because tensors changed; those of `except` stay.
void forget_quality(Model& model, std::span<const std::string> except, std::vector<Change>& lines);

}  // namespace tare
