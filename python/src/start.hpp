// What a text goes on from, as Python gives it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "python.hpp"
#include "tare/run.hpp"

namespace tare::py {

// From an array of 32-bit integers, little-endian.
std::vector<std::int32_t> tokens_of(PyObject* object);

// Tokens, a text, or the variables of a conversation.
struct Start {
  std::vector<std::int32_t> tokens;
  std::string text;
  Map variables;
  bool is_text = false, is_chat = false;

  // `first`: nothing comes before them, so a text begins with the token that the model expects there.
  std::vector<std::int32_t> tokens_for(const Model& model, const run::Scorer& scorer, bool first = true) const;
};
Start start_of(PyObject* object);

// A conversation by the template of the model.
std::string rendered(const Model& model, const Map& given);

}  // namespace tare::py
