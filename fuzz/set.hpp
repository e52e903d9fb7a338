// Several files in one input, for targets that open a directory or a set of files:
//
//   choice   u8           number of a verb, see every_verb
//   place    u8           what is opened: 0 the directory, otherwise a file, modulo their number
//   entries  until the end, each
//     name   u8           a row of kSetNames; beyond the table: a name of its own, as length (u8) and bytes
//     size   u24          little-endian; the highest bit marks a link, whose target is in `bytes`
//     bytes               fewer at the end of the input
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "place.hpp"
#include "script.hpp"

namespace tare::fuzz {

inline constexpr std::string_view kSetNames[] = {"config.json",
                                                 "model.safetensors",
                                                 "model.safetensors.index.json",
                                                 "model-00001-of-00002.safetensors",
                                                 "model-00002-of-00002.safetensors",
                                                 "pytorch_model.bin",
                                                 "pytorch_model.bin.index.json",
                                                 "tokenizer.json",
                                                 "tokenizer_config.json",
                                                 "tokenizer.model",
                                                 "special_tokens_map.json",
                                                 "added_tokens.json",
                                                 "vocab.json",
                                                 "merges.txt",
                                                 "vocab.txt",
                                                 "generation_config.json",
                                                 "chat_template.jinja",
                                                 "chat_template.json",
                                                 "tare.json",
                                                 "README.md",
                                                 "adapter_config.json",
                                                 "adapter_model.safetensors",
                                                 "adapter_model.bin",
                                                 "quantize_config.json",
                                                 "hf_quant_config.json",
                                                 "preprocessor_config.json",
                                                 "modules.json",
                                                 "1_Pooling/config.json",
                                                 "model_index.json",
                                                 "unet/config.json",
                                                 "unet/diffusion_pytorch_model.safetensors",
                                                 "vae/config.json",
                                                 "vae/diffusion_pytorch_model.safetensors",
                                                 ".metadata",
                                                 "__0_0.distcp",
                                                 "__1_0.distcp",
                                                 "a.distcp",
                                                 "m-00001-of-00002.gguf",
                                                 "m-00002-of-00002.gguf",
                                                 "m.gguf",
                                                 "root.zt",
                                                 "shard.zt",
                                                 "imatrix.dat",
                                                 "w.pt"};

struct SetEntry {
  std::string name;
  bool link = false;
  Bytes bytes;
};

struct Set {
  std::uint8_t choice = 0, place = 0;
  std::vector<SetEntry> entries;
};

inline Set parse_set(std::span<const std::byte> input) {
  Script script(input);
  Set set{.choice = script.byte(), .place = script.byte(), .entries = {}};
  constexpr std::size_t kMostEntries = 500;  // each is a file to create and remove
  while (!script.at_end() && set.entries.size() < kMostEntries) {
    SetEntry entry;
    if (const std::uint8_t row = script.byte(); row < std::size(kSetNames)) {
      entry.name = kSetNames[row];
    } else {
      const Bytes own = script.take(script.byte());
      entry.name.assign(reinterpret_cast<const char*>(own.data()), own.size());
    }
    const std::size_t low = script.word(), high = script.byte();
    entry.link = (high & 0x80) != 0;
    entry.bytes = script.take(low | (high & 0x7F) << 16);
    set.entries.push_back(std::move(entry));
  }
  return set;
}

inline Bytes pack_set(const Set& set) {
  Bytes out = {std::byte{set.choice}, std::byte{set.place}};
  const auto put = [&](std::size_t number) { out.push_back(static_cast<std::byte>(number)); };
  for (const SetEntry& entry : set.entries) {
    const auto row = static_cast<std::size_t>(std::ranges::find(kSetNames, entry.name) - std::begin(kSetNames));
    put(row < std::size(kSetNames) ? row : 255);
    if (row >= std::size(kSetNames)) {
      const std::string_view name = std::string_view(entry.name).substr(0, 255);
      put(name.size());
      for (const char c : name) put(static_cast<unsigned char>(c));
    }
    const std::size_t size = std::min<std::size_t>(entry.bytes.size(), 0x7FFFFF);
    put(size & 0xFF);
    put(size >> 8 & 0xFF);
    put(size >> 16 | (entry.link ? 0x80 : 0));
    out.insert(out.end(), entry.bytes.begin(), entry.bytes.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return out;
}

// Whether a name is relative, does not leave the directory, and is not too long for a file system.
inline bool is_inside(const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos || name.front() == '/' || name.back() == '/') return false;
  std::size_t parts = 0;
  for (const auto& part : std::filesystem::path(name)) {
    if (part == ".." || part == "." || part.native().size() > 200 || ++parts > 4) return false;
  }
  return true;
}

// Creates the files below `directory` and returns the path to open.
inline std::string unpack_set(const Set& set, const std::string& directory) {
  std::filesystem::create_directories(directory);
  std::vector<std::string> made;
  for (const SetEntry& entry : set.entries) {
    if (!is_inside(entry.name)) continue;
    const std::string path = directory + "/" + entry.name;
    if (!entry.link) {
      put_file(path, entry.bytes);
      made.push_back(path);
      continue;
    }
    const std::string target(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    if (is_inside(target)) std::filesystem::create_symlink(target, path, ignored);
  }
  return set.place == 0 || made.empty() ? directory : made[(set.place - 1U) % made.size()];
}

}  // namespace tare::fuzz
