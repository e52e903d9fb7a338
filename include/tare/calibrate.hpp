// What the matrices of a model are multiplied with, as weights for the errors of quantization: what llama.cpp calls an
// importance matrix (imatrix).
//
//   const tare::run::Scorer scorer(tare::open("model/"));
//   const tare::run::Calibration found = calibrate(scorer, tare::run::calibration_text());
//   (void)tare::save(importance_model(found), "imatrix.gguf", {.adapt = {.keep_names = true}});
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/change.hpp"
#include "tare/export.hpp"
#include "tare/model.hpp"
#include "tare/run.hpp"

namespace tare::run {

// The inputs of one matrix, or of a stack of experts.
struct MatrixInputs {
  std::string name;  // as GGUF names the matrix; as a directory does, if GGUF has no name for it
  std::uint64_t columns = 0;
  std::vector<float> squares;         // [experts][columns]: sums over the tokens that it was multiplied with
  std::vector<std::uint64_t> counts;  // how many tokens; one number without experts
};

struct Calibration {
  std::vector<MatrixInputs> matrices = {};            // in the order of their names
  std::uint64_t tokens = 0, pieces = 0, context = 0;  // context: tokens of a piece
  // From about so many tokens on, more of them change little: 4096, and in a mixture of experts so many for each of them
  // if all are chosen equally often.
  std::uint64_t enough = 0;
  std::string source = {};           // what the tokens come from: the digest of the text or of the tokens
  std::vector<Change> remarks = {};  // too few tokens; experts that none of them reached
};

// Runs the model once on the tokens, in whole pieces of Options::context (512, or what the model has; fewer tokens than
// that are one piece), and sums the squares of what each matrix is multiplied with: those of the layers, the routers and
// the output head. Memory: that of perplexity(), and four bytes for each column. Throws what Scorer::logits() throws.
[[nodiscard]] TARE_API Calibration calibrate(const Scorer& scorer, std::span<const std::int32_t> tokens,
                                             const Options& options = {});
// The same for the tokens of a text, as perplexity() makes them.
[[nodiscard]] TARE_API Calibration calibrate(const Scorer& scorer, std::string_view text, const Options& options = {});

// The tensors and keys of llama.cpp's own file: NAME.in_sum2, NAME.counts, imatrix.datasets, imatrix.chunk_count,
// imatrix.chunk_size. Save it with AdaptOptions::keep_names. `dataset`: the name of the text; the digest follows it.
[[nodiscard]] TARE_API Model importance_model(const Calibration& calibration, std::string_view dataset = {});

// A text to calibrate with: prose in two dozen languages, documentation, source code, conversations. It has no sentence in
// common with sample_text().
[[nodiscard]] TARE_API std::string_view calibration_text();

}  // namespace tare::run
