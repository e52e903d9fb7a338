// Towers of multimodal models as data: what reads images, in addition to a language model. llama.cpp keeps it in a file of
// its own ("mmproj"), in which all towers have one architecture.
//
// Every fact comes from llama.cpp's converter (commit b21e4de7, August 2026).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "arch/families.hpp"

namespace tare::arch {

// What a key of the file states.
enum class TowerForm : std::uint8_t {
  count,           // a number of config.json
  optional_count,  // likewise, if it is there and not 0
  real,            // a number, as a float
  always,          // true
  activation,      // true if the activation is `text`, otherwise there is no key
  side,            // the side of an image, from the number of positions, each of which is one patch
  windows,         // how many layers one with full attention comes after, itself included: config.json lists the latter
  taps,            // a flag for each layer: whether the list has it
  pooled,          // how many patches in each direction become one token, from the number of tokens; not `otherwise`
  ratio,           // one by the number
};

struct TowerKey {
  std::string_view key;  // without the prefix of the architecture
  // Paths in config.json, or else in the files of the preprocessor; the first that exists is read.
  std::array<std::string_view, 3> from = {};
  TowerForm form = TowerForm::count;
  double otherwise = 0;  // without any of them; 0: there must be one
  std::string_view text = {};
};

struct Tower {
  std::span<const std::string_view> model_types;  // "model_type" in config.json
  // The names of its tensors begin so, with or without "model.".
  std::span<const std::string_view> prefixes;
  std::string_view title = {};      // for people
  std::string_view projector = {};  // "clip.projector_type"; empty: it stays in the directory
  // Names and steps; `gguf` is the architecture of all towers.
  Family form = {};
  std::array<std::span<const TowerKey>, 2> keys = {};
  std::string_view vision_type = {};  // the model_type of vision_config, if other ones are not known to llama.cpp
  std::string_view line_end = {};     // the text of the token after each row of an image, whose vector the file has
  // Tensors whose names begin with `taps_before` are numbered by themselves; this list of config.json has their layers, which
  // number them in GGUF.
  std::string_view taps = {}, taps_before = {};
};

inline constexpr std::string_view kTowerArchitecture = "clip";

std::span<const Tower> towers();
// Whether models with this model_type in config.json have it. A type may have several, whose tensors have other names.
bool is_tower_of(const Tower& tower, std::string_view model_type);
// The first of them; null if its models are of text alone, or not known.
const Tower* find_tower(std::string_view model_type);
// Returns whether a tensor of such a model is part of the tower or its projector.
bool is_of_tower(const Tower& tower, std::string_view name);

}  // namespace tare::arch
