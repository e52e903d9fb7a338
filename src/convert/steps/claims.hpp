// What metadata and files say about the tensors, kept true when the tensors change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tare/format.hpp"

namespace tare {

class Claims {
 public:
  // Of the model as it was read.
  explicit Claims(const Model& model);
  // Settles them for the model as it is to be written, with a line for each that had to change: the dtype of config.json
  // where most weights are of another float type now, the quantization that files state where packed weights were decoded,
  // the number of parameters that an index states.
  void settle(Model& model, std::vector<Change>& lines) const;

 private:
  void settle_dtype(Model& model, std::vector<Change>& lines) const;
  void settle_quantization(Model& model, std::vector<Change>& lines) const;
  void settle_counts(Model& model, std::vector<Change>& lines) const;
  void settle_count(const OwnKey& own, std::optional<std::uint64_t> now, Model& model,
                    std::vector<Change>& lines) const;

  bool packed_;  // by another program
  std::optional<DType> common_;
  std::optional<std::uint64_t> elements_;
};

// Takes away what the files of a model state about the packing of weights that are no longer packed.
void forget_packing(Model& model, std::vector<Change>& lines);

}  // namespace tare
