#include "run.hpp"

#include <optional>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "model.hpp"
#include "run_job.hpp"
#include "start.hpp"
#include "tare/calibrate.hpp"
#include "tare/metadata.hpp"
#include "tare/quality.hpp"
#include "tare/run.hpp"
#include "tare/save.hpp"
#include "values.hpp"

namespace tare::py {
namespace {

// What a model runs on: an array of tokens, a text, or None for the text that comes with Tare.
struct Input {
  std::vector<std::int32_t> tokens;
  std::string text;
  bool is_text = false;
};
Input input_of(PyObject* object) {
  if (object == Py_None) return {{}, std::string(run::sample_text()), true};
  if (PyUnicode_Check(object)) return {{}, text_of(object, "the text"), true};
  return {tokens_of(object), {}, false};
}

// What all of them take: tokens, context, begin (-1: none), threads, report.
struct Asked {
  PyObject *tokens = nullptr, *report = nullptr;
  unsigned long long context = 0;
  int begin = -1;
  unsigned threads = 0;

  run::Options options(Progress& progress) const {
    run::Options options{.context = context, .work = {.threads = threads, .progress = &progress}};
    if (begin >= 0) options.begin = begin;
    return options;
  }
};

Ref estimate_tuple(const run::Estimate& estimate) {
  return Ref::take(PyTuple_Pack(2, real(estimate.value).get(), real(estimate.error).get()));
}

// _scorer(model)
PyObject* scorer_facts(PyObject*, PyObject* object) {
  return guarded([&] {
    const run::Scorer scorer(*complete_model_of(object));
    Dict facts;
    facts.set("vocab_size", number(scorer.vocab_size())).set("hidden_size", number(scorer.hidden_size()));
    facts.set("layers", number(scorer.layers())).set("context", number(scorer.context()));
    facts.set("doubts", list_of(scorer.doubts(), [](const Change& change) { return text(to_text(change)); }));
    return facts.done();
  });
}

// _logits(model, tokens, context, begin, threads, report)
PyObject* logits_of(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* object = nullptr;
    Asked asked;
    if (parse_tuple(args, "OOKiIO", &object, &asked.tokens, &asked.context, &asked.begin, &asked.threads,
                    &asked.report) == 0)
      throw PythonError();
    const auto model = complete_model_of(object);
    const std::vector<std::int32_t> tokens = tokens_of(asked.tokens);
    const auto logits = std::make_shared<std::vector<float>>();
    run_job(asked.report,
            [&](Progress& progress) { *logits = run::Scorer(*model).logits(tokens, asked.options(progress)); });
    return make_buffer(std::as_bytes(std::span<const float>(*logits)), logits);
  });
}

// _perplexity(model, tokens or text or None, context, begin, threads, report)
PyObject* perplexity_of(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject* object = nullptr;
    Asked asked;
    if (parse_tuple(args, "OOKiIO", &object, &asked.tokens, &asked.context, &asked.begin, &asked.threads,
                    &asked.report) == 0)
      throw PythonError();
    const auto model = complete_model_of(object);
    const Input input = input_of(asked.tokens);
    run::Perplexity found;
    run_job(asked.report, [&](Progress& progress) {
      const run::Scorer scorer(*model);
      const run::Options options = asked.options(progress);
      found =
          input.is_text ? run::perplexity(scorer, input.text, options) : run::perplexity(scorer, input.tokens, options);
    });
    Dict facts;
    facts.set("value", real(found.perplexity.value)).set("error", real(found.perplexity.error));
    facts.set("loss", real(found.loss.value));
    facts.set("tokens", number(found.tokens)).set("pieces", number(found.pieces));
    facts.set("context", number(found.context));
    return facts.done();
  });
}

Ref comparison_dict(const run::Comparison& found) {
  Dict facts;
  facts.set("tokens", number(found.tokens)).set("predicted", number(found.predicted));
  facts.set("kl", estimate_tuple(found.kl)).set("kl_median", estimate_tuple(found.kl_median));
  facts.set("kl_99", estimate_tuple(found.kl_99)).set("kl_largest", real(found.kl_largest));
  facts.set("perplexity_a", estimate_tuple(found.a.perplexity)).set("perplexity_b", estimate_tuple(found.b.perplexity));
  facts.set("ratio", estimate_tuple(found.ratio)).set("top_1", estimate_tuple(found.top_1));
  facts.set("top_5", estimate_tuple(found.top_5)).set("largest_change", real(found.largest_change));
  facts.set("places", list_of(found.places, [](const run::PlaceDifference& place) {
              Dict row;
              row.set("name", text(place.name)).set("difference", real(place.difference)).set("own", real(place.own));
              return row.done();
            }));
  if (found.parting) {
    Dict row;
    row.set("place", text(found.parting->place));
    row.set("layer", found.parting->layer ? number(*found.parting->layer) : none());
    row.set("tensor", found.parting->tensor.empty() ? none() : text(found.parting->tensor));
    row.set("role", found.parting->role.empty() ? none() : text(found.parting->role));
    row.set("relative_rms", real(found.parting->relative_rms));
    facts.set("parting", row.done());
  } else {
    facts.set("parting", none());
  }
  const auto pairs = [](const auto& all, const auto& made) {
    return list_of(all, [&](const auto& one) {
      return Ref::take(PyTuple_Pack(2, text(one.first).get(), made(one.second).get()));
    });
  };
  facts.set("settings", pairs(found.settings, [](const std::string& values) { return text(values); }));
  facts.set("casts", pairs(found.casts, [](std::uint64_t count) { return number(count); }));
  facts.set("worst", list_of(found.worst, [](const run::Position& one) {
              Dict row;
              row.set("token", number(one.token)).set("kl", real(one.kl));
              row.set("best_a", number(std::int64_t{one.best_a})).set("best_b", number(std::int64_t{one.best_b}));
              if (!one.text.empty()) {
                row.set("text", text(one.text)).set("next", text(one.next));
                row.set("said_a", text(one.said_a)).set("said_b", text(one.said_b));
              }
              return row.done();
            }));
  return facts.done();
}

// _compare(a, b, tokens or text or None, context, begin, threads, report)
PyObject* compare_models(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *first = nullptr, *second = nullptr;
    Asked asked;
    if (parse_tuple(args, "OOOKiIO", &first, &second, &asked.tokens, &asked.context, &asked.begin, &asked.threads,
                    &asked.report) == 0)
      throw PythonError();
    const auto a = complete_model_of(first), b = complete_model_of(second);
    const Input input = input_of(asked.tokens);
    run::Comparison found;
    run_job(asked.report, [&](Progress& progress) {
      const run::Scorer one(*a), other(*b);
      const run::Options options = asked.options(progress);
      found = input.is_text ? run::compare(one, other, input.text, options)
                            : run::compare(one, other, input.tokens, options);
    });
    return comparison_dict(found);
  });
}

// _calibrate(model, output, dataset, overwrite, tokens or text or None, context, begin, threads, report)
PyObject* calibrate_model(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *output = nullptr, *dataset = nullptr;
    int overwrite = 0;
    Asked asked;
    if (parse_tuple(args, "OOOpOKiIO", &object, &output, &dataset, &overwrite, &asked.tokens, &asked.context,
                    &asked.begin, &asked.threads, &asked.report) == 0)
      throw PythonError();
    const auto model = complete_model_of(object);
    const std::string path = path_of(output), name = text_of(dataset, "the name of the text");
    const Input input =
        asked.tokens == Py_None ? Input{{}, std::string(run::calibration_text()), true} : input_of(asked.tokens);
    run::Calibration found;
    run_job(asked.report, [&](Progress& progress) {
      const run::Scorer scorer(*model);
      const run::Options options = asked.options(progress);
      found =
          input.is_text ? run::calibrate(scorer, input.text, options) : run::calibrate(scorer, input.tokens, options);
      static_cast<void>(
          save(importance_model(found, name), path, {.adapt = {.keep_names = true}, .overwrite = overwrite != 0}));
    });
    Dict facts;
    facts.set("tokens", number(found.tokens)).set("pieces", number(found.pieces));
    facts.set("context", number(found.context)).set("enough", number(found.enough));
    facts.set("source", text(found.source));
    Dict matrices;
    for (const run::MatrixInputs& matrix : found.matrices)
      matrices.set(matrix.name, list_of(matrix.counts, [](std::uint64_t count) { return number(count); }));
    facts.set("matrices", matrices.done());
    facts.set("remarks", list_of(found.remarks, [](const Change& change) { return text(to_text(change)); }));
    return facts.done();
  });
}

// _measure(original, made, path to write to or None, text or None, context, begin, threads, report)
PyObject* measure_models(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *first = nullptr, *second = nullptr, *path = nullptr;
    Asked asked;
    if (parse_tuple(args, "OOOOKiIO", &first, &second, &path, &asked.tokens, &asked.context, &asked.begin,
                    &asked.threads, &asked.report) == 0)
      throw PythonError();
    const auto original = complete_model_of(first), made = complete_model_of(second);
    const std::string file = path == Py_None ? std::string() : path_of(path), text_said = input_of(asked.tokens).text;
    run::Quality found;
    run_job(asked.report, [&](Progress& progress) {
      found = run::measure_quality(*original, *made, text_said, asked.options(progress));
      if (!file.empty()) static_cast<void>(edit_metadata(file, run::quality_edits(found)));
    });
    Dict facts;
    facts.set("source", text(found.source)).set("text", text(found.text)).set("tokenizer", text(found.tokenizer));
    facts.set("tokens", number(found.tokens)).set("context", number(found.context));
    facts.set("kl", estimate_tuple(found.kl)).set("kl_99", estimate_tuple(found.kl_99));
    facts.set("ratio", estimate_tuple(found.ratio)).set("top_1", estimate_tuple(found.top_1));
    return facts.done();
  });
}

// _render(model, variables)
PyObject* render_chat(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *variables = nullptr;
    if (parse_tuple(args, "OO", &object, &variables) == 0) throw PythonError();
    const auto model = complete_model_of(object);
    const Map given = to_map(variables, "variables");
    std::string made;
    run_job(Py_None, [&](Progress&) { made = rendered(*model, given); });
    return text(made);
  });
}

// The text of what was made; nothing if the model has no tokenizer that is known, and none was needed.
std::optional<std::string> text_made(const run::Scorer& scorer, std::span<const std::int32_t> tokens) {
  try {
    return run::continuation(scorer.tokenizer(), tokens);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found && error.kind() != ErrorKind::unsupported) throw;
    return std::nullopt;
  }
}

// _generate(model, start, count, temperature, top_k, top_p, min_p, seed, stops, fast, threads, report)
PyObject* generate_tokens(PyObject*, PyObject* args) {
  return guarded([&] {
    PyObject *object = nullptr, *begin = nullptr, *stops = nullptr, *report = nullptr;
    unsigned long long count = 0, seed = 0;
    unsigned top_k = 0, threads = 0;
    double temperature = 0, top_p = 1, min_p = 0;
    int fast = 0;
    if (parse_tuple(args, "OOKdIddKOpIO", &object, &begin, &count, &temperature, &top_k, &top_p, &min_p, &seed, &stops,
                    &fast, &threads, &report) == 0)
      throw PythonError();
    const auto model = complete_model_of(object);
    const Start start = start_of(begin);
    run::GenerateOptions options{.count = count,
                                 .sampling = {.temperature = static_cast<float>(temperature),
                                              .top_k = top_k,
                                              .top_p = static_cast<float>(top_p),
                                              .min_p = static_cast<float>(min_p),
                                              .seed = seed},
                                 .stops = tokens_of(stops)};
    std::vector<std::int32_t> prompt;
    run::Generated made;
    std::optional<std::string> words;
    run_job(report, [&](Progress& progress) {
      const run::Scorer scorer(*model);
      prompt = start.tokens_for(*model, scorer);
      const std::vector<std::int32_t> own = scorer.stop_tokens();
      options.stops.insert(options.stops.end(), own.begin(), own.end());
      progress.expect(count);
      options.on_token = [&](std::int32_t) {
        progress.advance(1);
        return true;
      };
      made = generate(scorer, prompt, options, {.quantized = fast != 0, .work = {.threads = threads}});
      words = text_made(scorer, made.tokens);
    });
    const auto ids = [](const std::vector<std::int32_t>& all) {
      return list_of(all, [](std::int32_t id) { return number(std::int64_t{id}); });
    };
    Dict facts;
    facts.set("prompt", ids(prompt)).set("tokens", ids(made.tokens));
    facts.set("text",
              words ? Ref::take(PyUnicode_DecodeUTF8(words->data(), static_cast<Py_ssize_t>(words->size()), "replace"))
                    : none());
    facts.set("end", text(name_of(made.end)));
    return facts.done();
  });
}

PyMethodDef run_methods[] = {{"_scorer", scorer_facts, METH_O, nullptr},
                             {"_logits", logits_of, METH_VARARGS, nullptr},
                             {"_perplexity", perplexity_of, METH_VARARGS, nullptr},
                             {"_compare", compare_models, METH_VARARGS, nullptr},
                             {"_calibrate", calibrate_model, METH_VARARGS, nullptr},
                             {"_measure", measure_models, METH_VARARGS, nullptr},
                             {"_render", render_chat, METH_VARARGS, nullptr},
                             {"_generate", generate_tokens, METH_VARARGS, nullptr},
                             {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMethodDef* run_functions() { return run_methods; }

}  // namespace tare::py
