// Encoding a dense float tensor by one of MCF's methods.
#pragma once

#include "tare/codec.hpp"

namespace tare::codec::mcf {

// The tensor coded by `options.method` ("k4" or "mcf.k4"). Nothing is read here: the payload is made when its bytes are
// pulled, from the input, in memory that does not grow with the tensor.
//
// The payload is a structure of arrays, so it is best made in pieces (BlobProducer::pieces), which Transfer does where it
// can: one pass over the input, on all cores. Pulled front to back, each region is a pass of its own. Either way the bytes
// are the same, for any number of threads and on every machine.
//
// `attributes` has "domain" at once, and "min_clip" and "max_clip" where `options.clip` gives them. Otherwise those are
// what the data says: Tensor::complete_attributes has them, for nothing once the payload has been made. A writer asks
// that after it has written the tensors.
//
// `options.report` is filled by the thread that makes the last of the payload. int* look at all weights before they can
// make a byte, twice unless `fast`, with `options.threads` threads. `options.importance` weighs the search of q* and k*.
//
// Throws quant.method, quant.input (not dense, not float), quant.rank, quant.domain (`range` with q* or k*),
// quant.too_large, quant.clip, quant.importance. While the payload is made: quant.nonfinite, quant.overflow.
Tensor encode(const Tensor& tensor, const EncodeOptions& options);

}  // namespace tare::codec::mcf
