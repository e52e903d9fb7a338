// Sizes that differ by layer, as config.json states them: heads of two kinds, networks of several sizes, and layers that use
// the keys of others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/families.hpp"
#include "resources/config_file.hpp"

namespace tare::resources {

struct LayerSize {
  bool has_window = false;
  // Elements of a head, heads of keys, rows of the network: if config.json has them.
  std::optional<std::int64_t> head, keys, rows;
  bool has_keys = true, has_values = true;  // has matrices of its own for them
};
struct LayerSizes {
  std::vector<LayerSize> layers;
  bool states_keys = false;  // the number of heads of keys in layers without a window
  bool lists_rows = false;   // config.json states several sizes of networks, or one for each layer

  // The first layer of a kind; null if there is none.
  const LayerSize* first(bool has_window) const;
};
// Without layers for families in which all are alike. Throws `open.count` for more layers than any model has.
LayerSizes layer_sizes(const arch::Family& family, const ConfigFile& file, const Config& config);

}  // namespace tare::resources
