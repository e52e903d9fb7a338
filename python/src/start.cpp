#include "start.hpp"

#include "base/endian.hpp"
#include "buffer.hpp"
#include "tare/chat.hpp"
#include "values.hpp"

namespace tare::py {

std::vector<std::int32_t> tokens_of(PyObject* object) {
  const SourcePtr source = source_over(object, "tokens");
  Bytes bytes(static_cast<std::size_t>(source->size()));
  source->read(0, bytes);
  std::vector<std::int32_t> tokens(bytes.size() / sizeof(std::int32_t));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = load_le<std::int32_t>(bytes.data() + i * sizeof(std::int32_t));
  return tokens;
}

std::string rendered(const Model& model, const Map& given) {
  const auto source = chat::template_of(model);
  if (!source) throw Error(ErrorKind::not_found, "chat.none", "the model has no chat template");
  // The model's own files state some variables; the caller's take their place.
  Map variables = chat::conversation(model, {});
  for (const auto& [key, value] : given) variables.set(key, value);
  return chat::Template(*source).render(variables);
}

std::vector<std::int32_t> Start::tokens_for(const Model& model, const run::Scorer& scorer, bool first) const {
  if (is_chat) return scorer.tokenizer().encode(rendered(model, variables), {.frame = false, .special = true});
  if (!is_text) return tokens;
  std::vector<std::int32_t> made;
  if (first) made = scorer.tokenizer().before();
  const std::vector<std::int32_t> own = scorer.tokenizer().encode(text, {.frame = false});
  made.insert(made.end(), own.begin(), own.end());
  return made;
}

Start start_of(PyObject* object) {
  if (PyDict_Check(object)) return {{}, {}, to_map(object, "variables"), false, true};
  if (PyUnicode_Check(object)) return {{}, text_of(object, "the text"), {}, true, false};
  return {tokens_of(object), {}, {}, false, false};
}

}  // namespace tare::py
