// Where the bytes of a model that is being converted came from.
#pragma once

#include <string>
#include <vector>

#include "base/name_map.hpp"
#include "tare/error.hpp"
#include "tare/model.hpp"

namespace tare {

class Origins {
 public:
  explicit Origins(const Model& input);

  // Checks the digests and guards of bytes that `output` holds in another form (cast, decoded, quantized): a writer
  // sees only the result. The writer itself checks bytes that it copies. Throws `digest.mismatch`. `omitted`: the
  // tensors that are not in `output`, by their names in the input.
  void verify_changed(const Model& output, const NameSet& omitted, unsigned threads) const;
  // Adds the name of the tensor to an error at an offset of the input.
  void name_tensor(Error& error) const;

 private:
  // Minimal, because a small file may have hundreds of thousands of tensors.
  struct Origin {
    std::string tensor;
    SourcePtr source;
    std::uint64_t offset, bytes;
  };
  struct Digested {
    std::size_t origin;
    Blob blob;
  };
  std::vector<Origin> origins_;
  std::vector<Digested> digested_;
};

}  // namespace tare
