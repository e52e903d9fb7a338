// Encoding of dense float tensors with MCF's methods.
#pragma once

#include "tare/codec.hpp"

namespace tare::codec::mcf {

// Encodes the tensor with `options.method` ("k4" or "mcf.k4"). Reads nothing yet: the payload is made from the input
// when its bytes are pulled, in memory that does not grow with the tensor.
//
// The payload is a structure of arrays, so it is best made in pieces (BlobProducer::pieces): one pass over the input,
// on all cores. Transfer does that if it can. Pulled from front to back, each region costs a pass. Either way the bytes
// are the same, for any number of threads and on every machine.
//
// `attributes` has "domain" from the start, and "min_clip" and "max_clip" if `options.clip` is set. Otherwise these two
// depend on the data: Tensor::complete_attributes adds them, at no cost once the payload has been made. A writer calls
// it after it has written the tensors.
//
// `options.report` is filled by the thread that makes the last part of the payload. int* read all weights before they
// make the first byte, twice unless `fast`, with `options.threads` threads. `options.importance` weighs the search of
// q* and k*.
//
// Throws quant.method, quant.input (not dense, not float), quant.rank, quant.domain (`range` with q* or k*),
// quant.too_large, quant.clip, quant.importance. While the payload is made: quant.nonfinite, quant.overflow.
Tensor encode(const Tensor& tensor, const EncodeOptions& options);

}  // namespace tare::codec::mcf
