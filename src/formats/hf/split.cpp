// Safetensors files that the processes of torch.distributed.checkpoint wrote, each process its own
// (HuggingFaceStorageWriter with save_sharded), without an index or .metadata.
//
//   shard-00002-model-00001-of-00003.safetensors    the part of process 2 of the first of three files
//   __metadata__: DCP_SHARDING_INFO                 JSON: name -> {"saved_offsets": [..]}, where in its tensor the box begins;
//                                                   without it every box begins at 0
//
// The size of a tensor is not stated: it follows from its boxes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "formats/hf/hf.hpp"
#include "formats/rows.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "formats/torch/torch.hpp"
#include "resources/json_file.hpp"

namespace tare::hf {
namespace {

constexpr std::string_view kInfoKey = "DCP_SHARDING_INFO", kVersionKey = "DCP_VERSION", kSplitPrefix = "shard-";

// Returns the 2 of shard-00002-model-00001-of-00003.safetensors.
std::optional<std::uint64_t> process_of(std::string_view name) {
  const auto shard = safetensors::parse_shard_name(name);
  if (!shard || !name.starts_with(kSplitPrefix)) return std::nullopt;
  std::uint64_t number = 0;
  std::size_t at = kSplitPrefix.size();
  for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && number < 1'000'000; ++at)
    number = number * 10 + static_cast<std::uint64_t>(name[at] - '0');
  const bool digits = at > kSplitPrefix.size();
  return digits && name.substr(at).starts_with("-model-") ? std::optional(number) : std::nullopt;
}

struct SplitTensor {
  Component data;  // the component of the first box
  std::vector<torch::Box> boxes;
};

class SplitReader {
 public:
  SplitReader(const std::string& directory, const ReadOptions& options) : directory_(directory), options_(options) {}

  Model run(const std::vector<std::string>& files) {
    require_all(files);
    for (const std::string& file : files) read(fmt::format("{}/{}", directory_, file));
    for (const std::string& name : order_) {
      SplitTensor& found = tensors_.find(name)->second;
      try {
        Shape size = found.boxes.front().offsets;
        for (const torch::Box& box : found.boxes) grow(size, box);
        model_.tensors.push_back(
            dense(name, size, found.data.dtype, torch::join_boxes(size, found.boxes), found.data.type));
      } catch (Error& error) {
        throw error.in(directory_).about("tensor " + quote(name));
      }
    }
    for (const std::string_view key : {kInfoKey, kVersionKey}) model_.metadata.erase(key);
    return std::move(model_);
  }

 private:
  // Checks that no process is missing; they are counted from 1.
  void require_all(const std::vector<std::string>& files) const {
    std::set<std::uint64_t> processes;
    for (const std::string& file : files) processes.insert(*process_of(file));
    std::uint64_t next = 1;
    for (const std::uint64_t process : processes)
      if (process != next++)
        throw Error(
            ErrorKind::corrupt, "hf.split.missing",
            fmt::format("there are shards of process {}, and none of process {}; download them too", process, next - 1))
            .in(directory_);
  }

  static void grow(Shape& size, const torch::Box& box) {
    if (box.sizes.rank() != size.rank() || box.offsets.rank() != size.rank())
      throw Error(ErrorKind::corrupt, "torch.distributed.chunks", "chunks of different ranks");
    for (std::size_t i = 0; i < size.rank(); ++i) {
      const auto end = checked_add(box.offsets[i], box.sizes[i]);
      if (!end) throw Error(ErrorKind::corrupt, "hf.split.info", "an offset beyond 64 bits");
      size[i] = std::max(size[i], *end);
    }
  }

  void read(const std::string& path) {
    const SourcePtr source = open_file(path, options_.access);
    const Format& found = detect(*source);
    if (found.name != safetensors::kFormat.name || safetensors::is_index(*source))
      throw Error(ErrorKind::corrupt, "hf.weights.format", fmt::format("expected safetensors, found {}", found.title))
          .in(path);
    Model part = safetensors::read_file(source, options_);
    const Map info = info_of(part, path);
    for (Tensor& tensor : part.tensors) add(tensor, info, path);
    for (BrokenTensor& broken : part.broken) model_.broken.push_back(std::move(broken));
    for (auto& [key, value] : part.metadata)
      if (model_.metadata.find(key) == nullptr) model_.metadata.append(key, std::move(value));
    model_.file_bytes += source->size();
    model_.sources.push_back(source);
  }

  static Map info_of(const Model& part, const std::string& path) {
    const Value* const value = part.metadata.find(kInfoKey);
    if (value == nullptr) return {};
    try {
      if (value->text() != nullptr && value->text()->size() <= resources::kMaxSmallBytes)
        return resources::parse_small_json(*value->text());
    } catch (const Error& error) {
      throw Error(ErrorKind::corrupt, "hf.split.info", fmt::format("{}: {}", kInfoKey, error.sentence())).in(path);
    }
    throw Error(ErrorKind::corrupt, "hf.split.info", fmt::format("{} is not JSON text", kInfoKey)).in(path);
  }

  static Shape offsets_of(const Tensor& tensor, const Map& info, const std::string& path) {
    Shape offsets = tensor.shape;
    std::ranges::fill(offsets, 0);
    if (info.empty()) return offsets;
    const Value* const entry = info.find(tensor.name);
    const Map* const facts = entry == nullptr ? nullptr : entry->get<Map>();
    const Value* const saved = facts == nullptr ? nullptr : facts->find("saved_offsets");
    const List* const list = saved == nullptr ? nullptr : saved->get<List>();
    const auto refuse = [&] {
      throw Error(ErrorKind::corrupt, "hf.split.info",
                  fmt::format("{} does not state where the box begins, in {} whole numbers", kInfoKey, offsets.rank()))
          .in(path)
          .about("tensor " + quote(tensor.name));
    };
    if (list == nullptr || list->size() != offsets.rank()) refuse();
    for (std::size_t i = 0; i < offsets.rank(); ++i) {
      const auto number = resources::count_of((*list)[i]);
      if (!number) refuse();
      offsets[i] = *number;
    }
    return offsets;
  }

  void add(Tensor& tensor, const Map& info, const std::string& path) {
    const Component& data = tensor.components.front();
    if (!tensor.is_dense() || tensor.components.size() != 1)
      throw Error(ErrorKind::unsupported, "hf.split.type", "only dense tensors are put together")
          .in(path)
          .about("tensor " + quote(tensor.name));
    const auto [place, is_new] = tensors_.try_emplace(tensor.name);
    if (is_new) {
      order_.push_back(tensor.name);
      place->second.data = data;
    }
    if (place->second.data.type_name() != data.type_name())
      throw Error(ErrorKind::corrupt, "hf.split.type",
                  fmt::format("this box is {}, another one is {}", data.type_name(), place->second.data.type_name()))
          .in(path)
          .about("tensor " + quote(tensor.name));
    place->second.boxes.push_back({offsets_of(tensor, info, path), tensor.shape, data.blob});
  }

  const std::string& directory_;
  const ReadOptions& options_;
  NameMap<SplitTensor> tensors_;
  std::vector<std::string> order_;
  Model model_;
};

}  // namespace

bool is_split_shard(std::string_view name) { return process_of(name).has_value(); }

Model read_split(const std::string& directory, const std::vector<std::string>& files, const ReadOptions& options) {
  return SplitReader(directory, options).run(files);
}

}  // namespace tare::hf
