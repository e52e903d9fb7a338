#include "tokenize/text_budget.hpp"

#include <fmt/format.h>

#include "tare/error.hpp"

namespace tare::tokenize {

void TextBudget::overspent_steps() const {
  throw Error(ErrorKind::limit, "tokenizer.steps",
              fmt::format("the rules of the tokenizer ask for too many steps for a text of {} bytes", bytes_));
}

void TextBudget::too_long() const {
  throw Error(ErrorKind::limit, "tokenizer.text",
              fmt::format("the rules of the tokenizer make more than {} bytes of a text of {}", longest_, bytes_));
}

}  // namespace tare::tokenize
