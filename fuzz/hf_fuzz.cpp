// The parts of a directory that are read before any weights: the index of a sharded set, and its file names.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "call.hpp"
#include "formats/hf/hf.hpp"
#include "formats/safetensors/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const tare::fuzz::Call call(size);
    const auto index = tare::safetensors::parse_index(text, "it");
    for (const auto& entry : index.weights)
      if (entry.shard >= index.shards.size()) std::abort();
    for (const std::string& shard : index.shards)
      if (!tare::hf::is_safe_path(shard) && shard.size() < 200) std::abort();
  } catch (const tare::Error&) {
  }
  tare::hf::is_resource(text);
  return 0;
}
