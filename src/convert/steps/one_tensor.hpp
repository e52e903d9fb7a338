// The operations on one tensor: encode, decode and cast it, and fit it to the target. Each function reports what it did
// to `changes`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convert/steps/tensor_changes.hpp"
#include "formats/format.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"

namespace tare {

// An error about the tensor.
Error refused(ErrorKind kind, std::string_view rule, const Tensor& tensor, std::string_view sentence);

// Returns whether a dense tensor has more components than its data. Only the program that wrote them knows their
// meaning.
bool has_extras(const Tensor& tensor);

// Throws `convert.type` unless the target can hold the float type that is asked for: otherwise a number that was
// rounded to the type would have to be widened again.
void require_type(const AdaptOptions& options, const Format& target);

// Throws `convert.quant` unless the target can hold the result of `method`, of a mix that of its main method; an empty
// method has no result.
void require_method(std::string_view method, const Format& target);

// Encodes a tensor by `method`, unless it is already encoded that way.
void quantize(Tensor& tensor, const std::string& method, const Format& target, const Quantization& how,
              unsigned threads, TensorChanges& changes, TensorOutcome& outcome);

// Turns codes into floats.
void decode(Tensor& tensor, const Codec& codec, const AdaptOptions& options, TensorChanges& changes);

// Casts a dense tensor of floats to `options.dtype`, if that is given. Integers are not changed. Throws `cast.fraction`
// if an integer type would lose fractions and `options.overflow` does not accept that.
void cast_if_asked(Tensor& tensor, const Format& target, const AdaptOptions& options, unsigned threads,
                   TensorChanges& changes);

// Decodes and casts a quantized tensor to `options.dtype`, if that is given, even if the target could hold the codes.
void decode_if_asked(Tensor& tensor, const Format& target, const AdaptOptions& options, unsigned threads,
                     TensorChanges& changes);

// Decodes and casts any tensor to `type`.
void cast_to(DType type, Tensor& tensor, const Format& target, AdaptOptions options, unsigned threads,
             TensorChanges& changes);

// Decodes a tensor if the target cannot hold its layout. Throws `convert.layout` if that is not possible.
void fit_layout(Tensor& tensor, const Format& target, const AdaptOptions& options, TensorChanges& changes);

// Tensors of types that the target cannot hold. They are collected first, so that one error names all of them.
class UnfitTypes {
 public:
  UnfitTypes(const Format& target, const AdaptOptions& options) : target_(target), asked_(options.dtype.has_value()) {}

  void add(const Tensor& tensor);
  // Throws `convert.type` if there are any.
  void refuse_any() const;

 private:
  const Format& target_;
  bool asked_, castable_ = true;
  std::string first_;
  std::map<std::string, std::vector<std::string>> types_;
  std::vector<std::string> order_;
  std::size_t count_ = 0;
};

// Casts a tensor if the target cannot hold its type: to the type that was asked for, or without loss to a wider one. If
// neither is possible, the tensor goes to `unfit`. `refuse_widening` is called before a tensor is widened, and throws
// if its numbers are codes.
void fit_types(Tensor& tensor, const Format& target, const AdaptOptions& options, unsigned threads, UnfitTypes& unfit,
               TensorChanges& changes, const std::function<void()>& refuse_widening);

}  // namespace tare
