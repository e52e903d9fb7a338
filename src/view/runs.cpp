// Runs two models on the text that comes with Tare, as a job.
#include <algorithm>

#include "base/printable.hpp"
#include "tare/run.hpp"
#include "view/endpoints.hpp"

namespace tare::view {
namespace {

constexpr std::string_view kRunJob = "run";
constexpr std::size_t kMostPlaces = 2000, kMostDifferences = 100, kMostPiece = 200;  // per answer; bytes of a text

void write_estimate(JsonWriter& json, std::string_view key, const run::Estimate& estimate) {
  json.key(key).open('{').key("value");
  write_number(json, estimate.value);
  json.key("error");
  write_number(json, estimate.error);
  json.close('}');
}

void write_places(JsonWriter& json, const run::Comparison& found) {
  json.key("complete").boolean(found.places.size() <= kMostPlaces).key("places").open('[');
  for (std::size_t i = 0; i < std::min(found.places.size(), kMostPlaces); ++i) {
    const run::PlaceDifference& place = found.places[i];
    json.open('{').key("name").text(place.name).key("difference");
    write_drawn(json, place.difference);
    json.key("own");
    write_drawn(json, place.own);
    json.close('}');
  }
  json.close(']').key("parting");
  if (!found.parting) return static_cast<void>(json.null());
  json.open('{').key("place").text(found.parting->place).key("tensor").text(short_name(found.parting->tensor));
  json.key("role").text(found.parting->role).key("relative_rms");
  write_number(json, found.parting->relative_rms);
  json.close('}');
}

void write_differences(JsonWriter& json, const run::Comparison& found) {
  json.key("settings").open('[');
  for (std::size_t i = 0; i < std::min(found.settings.size(), kMostDifferences); ++i)
    json.open('{')
        .key("name")
        .text(found.settings[i].first)
        .key("change")
        .text(short_name(found.settings[i].second))
        .close('}');
  json.close(']').key("casts").open('[');
  for (std::size_t i = 0; i < std::min(found.casts.size(), kMostDifferences); ++i)
    json.open('{').key("change").text(found.casts[i].first).key("tensors").number(found.casts[i].second).close('}');
  json.close(']').key("worst").open('[');
  for (const run::Position& one : found.worst) {
    json.open('{').key("token").number(one.token).key("kl");
    write_number(json, one.kl);
    for (const auto& [key, text] :
         {std::pair("text", &one.text), {"next", &one.next}, {"said_a", &one.said_a}, {"said_b", &one.said_b}})
      json.key(key).text(short_name(*text, kMostPiece));
    json.close('}');
  }
  json.close(']');
}

std::string answer_for(const run::Comparison& found) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("done").boolean(true).key("tokens").number(found.tokens).key("predicted").number(found.predicted);
  write_estimate(json, "kl", found.kl), write_estimate(json, "kl_median", found.kl_median);
  write_estimate(json, "kl_99", found.kl_99), write_estimate(json, "ratio", found.ratio);
  write_estimate(json, "perplexity_a", found.a.perplexity), write_estimate(json, "perplexity_b", found.b.perplexity);
  write_estimate(json, "top_1", found.top_1), write_estimate(json, "top_5", found.top_5);
  json.key("kl_largest");
  write_number(json, found.kl_largest);
  json.key("largest_change");
  write_number(json, found.largest_change);
  write_places(json, found);
  write_differences(json, found);
  json.close('}');
  return text;
}

}  // namespace

JobPtr run_job_of(const Context& context, const Query& /*query*/) { return context.jobs->find(kRunJob); }

void run_models(const Context& context, const Query& query, JsonWriter& json) {
  static_cast<void>(context.comparison());  // there must be two
  write_job(json, run_job_of(context, query));
}

void start_run(const Context& context, const Query& query, JsonWriter& json) {
  static_cast<void>(context.comparison());
  static_cast<void>(context.jobs->start(std::string(kRunJob), [models = context.models](Job& job) {
    const run::Scorer a(models[0]->model()), b(models[1]->model());
    const run::Options options{.work = {.progress = &job.progress}};
    std::string answer = answer_for(run::compare(a, b, run::sample_text(), options));
    for (const OpenModelPtr& model : models) model->check();
    return answer;
  }));
  run_models(context, query, json);
}

void stop_run(const Context& context, const Query& query, JsonWriter& json) {
  context.jobs->stop(kRunJob);
  run_models(context, query, json);
}

}  // namespace tare::view
