#include "base/error_runs.hpp"

#include <fmt/format.h>

namespace tare {

std::string sentence_of_run(std::string_view sentence, std::uint64_t count, std::string_view last_item) {
  return fmt::format("{}; {} more break the same rule, the last is {}", sentence, count - 1, last_item);
}

std::vector<Error> runs_summed_up(const std::vector<Error>& errors) {
  std::vector<Error> lines;
  for (std::size_t begin = 0, end = 0; begin < errors.size(); begin = end) {
    while (end < errors.size() && is_same_rule(errors[begin], errors[end])) ++end;
    if (end - begin <= kListedErrors)
      lines.insert(lines.end(), errors.begin() + static_cast<std::ptrdiff_t>(begin),
                   errors.begin() + static_cast<std::ptrdiff_t>(end));
    else
      lines.push_back(
          errors[begin].reworded(sentence_of_run(errors[begin].sentence(), end - begin, errors[end - 1].item())));
  }
  return lines;
}

}  // namespace tare
