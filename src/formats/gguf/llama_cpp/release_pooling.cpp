// Makes the files of sentence-transformers: modules.json and 1_Pooling/config.json.
#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.hpp"
#include "formats/gguf/llama_cpp/release_files.hpp"

namespace tare::gguf::llama_cpp {

void attach_pooling(const Origin& origin) {
  const auto number = origin.number("pooling_type");
  const auto pooling = std::ranges::find_if(
      poolings(), [&](const Pooling& one) { return static_cast<double>(one.number) == number.value_or(-1); });
  if (pooling == poolings().end() && number.value_or(0) > 0)
    origin.report_key("pooling_type",
                      fmt::format("the way {} of pooling the vectors of the tokens is not known", *number));
  if (pooling == poolings().end()) return;
  const auto module = [](std::int64_t index, std::string_view path, std::string_view type) {
    Map entry;
    entry.append("idx", index);
    entry.append("name", fmt::format("{}", index));
    entry.append("path", std::string(path));
    entry.append("type", fmt::format("sentence_transformers.models.{}", type));
    return Value(std::move(entry));
  };
  const JsonStyle style{.indent = 2};
  origin.attach(
      std::string(kModulesFile),
      write_json(Value(List{module(0, "", "Transformer"), module(1, kPoolingFolder, "Pooling")}), style) + '\n');
  Map settings;
  settings.append("word_embedding_dimension", origin.model.config.hidden_size.value_or(0));
  for (const Pooling& one : poolings()) settings.append(std::string(one.flag), &one == &*pooling);
  origin.attach(fmt::format("{}/config.json", kPoolingFolder), write_json(settings, style) + '\n');
}

}  // namespace tare::gguf::llama_cpp
