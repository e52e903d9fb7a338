// Connects MCF payloads to the framework for block codecs: the planes, and the decoding of runs.
#pragma once

#include "base/once.hpp"
#include "codecs/block_codec.hpp"
#include "codecs/mcf/reference.hpp"

namespace tare::codec::mcf {

// Planes of codes, scales and (k*) sub-scales. int* are one row of all elements. The payload must fit the geometry.
Planes planes_of(const Blob& payload, const Geometry& geometry);
// The rows of a run of these planes; `parameters` are S and Z of int*.
RowSpan rows_of(const Geometry& geometry, const Run& run, const ScaleZero& parameters);

class PayloadDecoder final : public Decoder {
 public:
  PayloadDecoder(const Blob& payload, const Geometry& geometry);
  void decode(const Run& run, float* out) const override;
  RowSpan rows(const Run& run) const;

 private:
  // Read when they are first needed.
  ScaleZero parameters() const;

  Blob payload_;
  Geometry geometry_;
  mutable Once read_;
  mutable ScaleZero parameters_;
};

}  // namespace tare::codec::mcf
