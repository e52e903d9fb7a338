// Sends a random model through two random containers. What a container claims to hold must read back unchanged, and
// what `adapt` makes of it for the second container must read back from that one.
#include <cstdio>
#include <cstdlib>

#include "convert/adapt.hpp"
#include "model_maker.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace {

using namespace tare;
using namespace tare::fuzz;

[[noreturn]] void fail(const Format& format, const char* what, const std::string& more) {
  std::fprintf(stderr, "%.*s: %s: %s\n", static_cast<int>(format.name.size()), format.name.data(), what, more.c_str());
  std::abort();
}

Bytes write(const Format& format, const Model& model, const WriteOptions& options) {
  MemorySink sink;
  format.write(model, sink, options);
  sink.commit();
  return sink.take();
}

Model read(const Format& format, const Bytes& bytes) {
  try {
    return format.read({"it", memory_source(bytes, "it")}, {});
  } catch (const Error& error) {
    fail(format, "what was written cannot be read", error.what());
  }
}

std::string digest_without_names(Model model, const Capabilities& holds) {
  if (!holds.many_tensors)
    for (Tensor& tensor : model.tensors) tensor.name = "it";
  return content_digest(model, {.threads = 1});
}

void expect_same(const Format& format, const Model& wanted, const Model& found) {
  if (digest_without_names(wanted, format.holds) != digest_without_names(found, format.holds))
    fail(format, "other tensors came back", content_digest(found, {.threads = 1}));
  // A container with fixed keys may add some of its own.
  for (const auto& [key, value] : wanted.metadata)
    if (const Value* const there = found.metadata.find(key); there == nullptr || !(*there == value))
      fail(format, "other metadata came back for", key);
  // A container may always store whether embeddings are tied: false if the model does not state it.
  Config config = found.config;
  if (!wanted.config.tie_word_embeddings && config.tie_word_embeddings == false) config.tie_word_embeddings.reset();
  if (!(config == wanted.config)) fail(format, "another config came back", to_json(config.to_map()));
  if (!(found.vocabulary == wanted.vocabulary))
    fail(format, "another vocabulary came back", to_json(found.vocabulary.to_map()));
}

std::vector<const Format*> writers() {
  std::vector<const Format*> found;
  for (const Format& format : formats())
    if (format.write != nullptr) found.push_back(&format);
  return found;
}

WriteOptions any_options(Script& script, const Capabilities& holds) {
  WriteOptions options{.work = {.threads = 1}};
  if (holds.zstd && script.coin()) options.zstd_level = 1;
  if (holds.digests && script.coin()) options.digest = DigestAlgorithm::crc32c;
  if (holds.dedup && script.coin()) options.dedup = true;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(std::as_bytes(std::span(data, size)));
  const std::vector<const Format*> all = writers();
  const Format& first = *script.one_of(all);
  const Format& second = *script.one_of(all);
  const std::string_view architecture = first.holds.architecture.empty() && first.holds.many_tensors
                                            ? second.holds.architecture
                                            : first.holds.architecture;
  const WriteOptions first_options = any_options(script, first.holds),
                     second_options = any_options(script, second.holds);
  const Model model = any_model(script, first.holds, architecture);
  Bytes bytes;
  try {
    bytes = write(first, model, first_options);
  } catch (const Error& error) {
    fail(first, "refuses what it says it can hold", error.what());
  }
  const Model back = read(first, bytes);
  expect_same(first, model, back);

  AdaptOptions adapt_options;
  adapt_options.drop = {std::begin(kModelParts), std::end(kModelParts)};
  Adapted adapted;
  try {
    adapted = adapt(back, second, adapt_options, {.threads = 1});
    bytes = write(second, adapted.model, second_options);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::corrupt) fail(second, "calls what we wrote corrupt", error.what());
    return 0;  // a type or an architecture that it cannot hold
  }
  const Model there = read(second, bytes);
  if (digest_without_names(adapted.model, second.holds) != digest_without_names(there, second.holds))
    fail(second, "not the tensors that were adapted to it", content_digest(there, {.threads = 1}));
  return 0;
}
