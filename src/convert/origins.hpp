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

  // Checks the digests and guards of bytes that `output` holds in another form (cast, decoded, quantized): a writer sees only what
  // became of them. Those it gets as they were it checks itself. Throws `digest.mismatch`.
  // `omitted`: the tensors that are not in `output`, as they are called in the input.
  void verify_changed(const Model& output, const NameSet& omitted, unsigned threads) const;
  // Says which tensor an error is about that happened at a place in the input.
  void name_tensor(Error& error) const;

 private:
  // As little as naming a tensor takes: a small file may have hundreds of thousands.
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
