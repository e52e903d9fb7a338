// Everything the library can do with an untrusted path. Each verb must end in a result or in an Error, within the cost
// allowed for so many bytes. Each verb opens the path itself, as the command does, and is measured separately.
//
// Further checks: output of `convert` can be read, a container that holds everything returns the same tensors, and a
// conversion in parts gives the same bytes as a whole conversion.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "cost.hpp"
#include "place.hpp"
#include "tare/append.hpp"
#include "tare/codec.hpp"
#include "tare/inspect.hpp"
#include "tare/merge.hpp"
#include "tare/metadata.hpp"
#include "tare/pipeline.hpp"
#include "tare/plan.hpp"
#include "view/service.hpp"

namespace tare::fuzz {

struct Subject {
  std::string path;
  std::string work;  // directory for output, which exists and is empty
  std::string out(std::string_view name) const { return work + "/" + std::string(name); }
};

namespace verb {

[[noreturn]] inline void fail(const Subject& subject, const char* what, const std::string& more) {
  std::fprintf(stderr, "%s: %s: %s\n", subject.path.c_str(), what, more.c_str());
  std::abort();
}

inline ReadOptions one_thread() { return {.work = {.threads = 1}}; }

inline void list(const Subject& subject) {
  const Model model = open(subject.path, {.listing = true, .work = {.threads = 1}, .keep_broken = true});
  std::size_t seen = to_json(model.config.to_map()).size();
  for (const Tensor& tensor : model.tensors) {
    seen += tensor.shape.text().size() + to_json(tensor.complete_attributes()).size();
    if (const Codec* const codec = find_codec(tensor.layout)) seen += codec->check(tensor) ? 1 : 0;
  }
  for (const MetadataEntry& entry : metadata_entries(model)) seen += to_json(entry.value).size();
  if (seen == SIZE_MAX) std::abort();
}

inline void view(const Subject& subject) {
  view::Service service({subject.path}, one_thread());
  for (const std::string_view name : view::endpoint_names())
    for (const char* const parameters : {"", "?tensor=0", "?search=a"}) {
      const view::Answer answer = service.answer(std::string(name) + parameters);
      if (answer.body.size() > view::kMostAnswer || answer.status >= 500)
        fail(subject, "answered", answer.body.substr(0, 500));
    }
}

inline void verify(const Subject& subject) {
  const Verification found = tare::verify(subject.path, one_thread());
  std::size_t bytes = 0;
  for (const Finding& finding : found.findings) bytes += finding.sentence.size();
  if (bytes > (std::size_t{64} << 20)) fail(subject, "bytes of findings", std::to_string(bytes));
}

inline void digest(const Subject& subject) {
  const Model model = open(subject.path, one_thread());
  (void)content_digest(model, {.threads = 1});
  if (const Format* const format = find_format(model.format); format != nullptr && format->content_digest != nullptr)
    (void)format->content_digest(model, {.threads = 1});
}

inline void show(const Subject& subject) {
  const Model model = open(subject.path, one_thread());
  for (std::size_t i = 0; i < std::min<std::size_t>(model.tensors.size(), 4); ++i) try {
      (void)statistics(model.tensors[i], 24, 8, {.threads = 1});
    } catch (const Error&) {
    }
}

inline void compare(const Subject& subject) {
  const Model model = open(subject.path, one_thread());
  (void)diff(model, model, {.threads = 1});
}

inline void pipeline(const Subject& subject) {
  const auto found = find_pipeline(subject.path);
  if (!found) return;
  for (const PipelinePart& part : found->parts)
    if (part.is_model) (void)open(subject.path + "/" + part.name, one_thread());
}

inline ConvertOptions anything_goes() {
  ConvertOptions options;
  options.adapt.drop = {std::begin(kModelParts), std::end(kModelParts)};
  options.work.threads = 1;
  options.overwrite = true;
  return options;
}

// An error about the source is fine; an error about the output is not.
inline void convert_to(const Subject& subject, const std::string& name, const ConvertOptions& options) {
  const std::string out = subject.out(name);
  (void)convert(subject.path, out, options);
  try {
    (void)open(out, {.listing = true, .work = {.threads = 1}});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::limit) fail(subject, "what was written cannot be read", error.what());
  }
}
template <char const* kName>
void convert_into(const Subject& subject) {
  convert_to(subject, kName, anything_goes());
}

inline void convert_and_compare(const Subject& subject) {
  const std::string before = content_digest(open(subject.path, one_thread()), {.threads = 1});
  ConvertOptions options = anything_goes();
  options.adapt.keep_names = true;
  convert_to(subject, "same.zt", options);
  try {
    if (content_digest(open(subject.out("same.zt"), one_thread()), {.threads = 1}) != before)
      fail(subject, "converted to zt", "the tensors are others");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::limit) fail(subject, "converted to zt", error.what());
  }
}

inline void quantize(const Subject& subject) {
  ConvertOptions options = anything_goes();
  options.adapt.quant.method = "q4_0";
  convert_to(subject, "quantized.gguf", options);
}

inline std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void plan(const Subject& subject) {
  const ConvertOptions options = anything_goes();
  const std::string out = subject.out("planned.zt");
  const std::size_t count = planned_tensors(subject.path, out, options).size();
  std::vector<std::string> parts;
  for (const auto& [first, size] : {std::pair(std::size_t{0}, count / 2), std::pair(count / 2, count - count / 2)}) {
    if (size == 0) continue;
    parts.push_back(subject.out("part" + std::to_string(parts.size())));
    write_part(subject.path, out, options, {first, size, "plan"}, parts.back());
  }
  (void)convert_from_parts(subject.path, out, options, parts, "plan");
  (void)convert(subject.path, subject.out("whole.zt"), options);
  if (content(out) != content(subject.out("whole.zt"))) fail(subject, "in parts", "the file is another");
}

// Makes a Llama of one matrix, to which the path is added as an adapter.
inline void merge(const Subject& subject) {
  const std::string base = subject.out("base");
  const std::string header =
      R"({"model.layers.0.self_attn.q_proj.weight":{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]}})";
  std::string weights(8, '\0');
  weights[0] = static_cast<char>(header.size());
  weights += header + std::string(64, '\0');
  put_file(base + "/model.safetensors", std::as_bytes(std::span(weights)));
  put_file(base + "/config.json", std::as_bytes(std::span(std::string_view(R"({"model_type":"llama"})"))));
  ConvertOptions options = anything_goes();
  options.merge = {subject.path};
  (void)convert(base, subject.out("merged.safetensors"), options);
}

inline void importance(const Subject& subject) { (void)read_importance(subject.path, one_thread()); }

inline void append(const Subject& subject) {
  const Model extra = open(subject.path, one_thread());
  const std::string grown = subject.out("grown.zt");
  SaveOptions options;
  options.overwrite = true;
  (void)save(Model(), grown, options);
  (void)tare::append(grown, extra, {.work = {.threads = 1}});
  try {
    (void)open(grown, {.listing = true, .work = {.threads = 1}});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::limit) fail(subject, "what was appended cannot be read", error.what());
  }
}

inline void meta(const Subject& subject) {
  const MetadataEdit edit{.kind = MetadataEditKind::read, .key = "general.name", .value = "x"};
  (void)edit_metadata(subject.path, {&edit, 1}, {.read = one_thread(), .dry_run = true, .work = {.threads = 1}});
}

inline constexpr char kZt[] = "out.zt", kZt2[] = "out.zt2", kGguf[] = "out.gguf", kNpz[] = "out.npz",
                      kMcf[] = "out.mcf", kAlt[] = "out.alt", kSafetensors[] = "out.safetensors", kDirectory[] = "out/";

struct Row {
  const char* name;
  void (*run)(const Subject& subject);
  unsigned calls = 1;  // calls of the library, each with its own budget
};
inline constexpr Row kRows[] = {
    {"list", list},
    {"view", view},
    {"verify", verify},
    {"digest", digest},
    {"show", show},
    {"diff", compare},
    {"pipeline", pipeline},
    {"plan", plan, 5},
    {"convert same", convert_and_compare, 4},
    {"convert zt", convert_into<kZt>, 2},
    {"convert zt2", convert_into<kZt2>, 2},
    {"convert gguf", convert_into<kGguf>, 2},
    {"convert npz", convert_into<kNpz>, 2},
    {"convert mcf", convert_into<kMcf>, 2},
    {"convert alt", convert_into<kAlt>, 2},
    {"convert safetensors", convert_into<kSafetensors>, 2},
    {"convert directory", convert_into<kDirectory>, 2},
    {"quantize", quantize, 2},
    {"merge", merge, 2},
    {"importance", importance},
    {"append", append, 3},
    {"meta", meta},
};

}  // namespace verb

// `choice`: 0 for all verbs, otherwise the number of one. `bytes`: the total size of the input.
inline void every_verb(const Subject& subject, std::size_t bytes, std::uint8_t choice) {
  for (std::size_t i = 0; i < std::size(verb::kRows); ++i) {
    if (choice != 0 && (choice - 1U) % std::size(verb::kRows) != i) continue;
    const verb::Row& row = verb::kRows[i];
    const auto run = [&] {
      try {
        row.run(subject);
      } catch (const Error&) {
      }
    };
    metered(row.name, bytes, run, row.calls);
  }
}

}  // namespace tare::fuzz
