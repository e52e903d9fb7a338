// Random models through every container and back.

#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "conformance/values.hpp"
#include "convert/adapt.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Tensor any_tensor(const Capabilities& holds, const std::string& name) {
  const std::vector<DType> dtypes(holds.dtypes.begin(), holds.dtypes.end());
  const std::uint64_t seed = *rc::gen::arbitrary<std::uint32_t>();
  const int rank = *rc::gen::inRange(0, static_cast<int>(std::min<std::size_t>(5, holds.max_rank)) + 1);
  Shape shape;
  for (int d = 0; d < rank; ++d)
    shape.push_back(*rc::gen::weightedElement<std::uint64_t>({{6, 1}, {6, 2}, {4, 3}, {2, 7}, {1, 0}}));
  std::vector<const LogicalType*> logical;
  for (const LogicalType& type : known_logical_types())
    if (lists(holds.logical_types, type.name)) logical.push_back(&type);
  const int kind = *rc::gen::inRange(0, 8);
  if (kind == 0 && lists(holds.layouts, "sparse_csr")) return make_csr(name);
  if (kind == 1 && lists(holds.layouts, "sparse_coo")) return make_coo(name);
  if (kind == 2 && lists(holds.layouts, "*")) return make_strange(name);
  if (kind == 3 && !logical.empty()) {
    const LogicalType& type = **rc::gen::elementOf(logical);
    return make_dense(name, shape, type.storage, std::string(type.name), seed);
  }
  return make_dense(name, shape, *rc::gen::elementOf(dtypes), "", seed);
}

Model any_of_architecture(std::string_view architecture, const Capabilities& holds) {
  if (architecture != "tiny_llama") return architecture_model(architecture, holds, Scale::full);
  const auto size = [](int most) { return *rc::gen::inRange(1, most + 1); };
  const int heads = size(3);
  return tiny_llama_model({heads * size(3), size(3), heads, size(5), size(5), size(5), *rc::gen::inRange(0, 16) / 16.0},
                          holds, 7);
}

Model any_model(const Capabilities& holds) {
  if (!holds.architecture.empty()) return any_of_architecture(holds.architecture, holds);
  Model model;
  const int count = holds.many_tensors ? *rc::gen::inRange(0, 7) : 1;
  for (int i = 0; i < count; ++i) {
    // Names that every container accepts: unique, not empty, no NUL.
    std::string name = std::to_string(i) + *gen_text();
    std::replace(name.begin(), name.end(), '\0', '0');
    if (name.size() > holds.max_name) name = std::to_string(i);
    model.tensors.push_back(any_tensor(holds, name));
    if (holds.tensor_attributes && *rc::gen::inRange(0, 3) == 0) model.tensors.back().attributes = any_map(3);
  }
  if (holds.metadata == Room::tree && lists(holds.metadata_keys, "*")) model.metadata = any_map(4);
  if (holds.attachments && *rc::gen::arbitrary<bool>())
    model.attachments = {{"a/b.txt", Blob::memory(noise(static_cast<std::size_t>(*rc::gen::inRange(0, 3000)), 3))}};
  if (holds.vocabulary && *rc::gen::arbitrary<bool>()) model.vocabulary = sample_vocabulary(holds);
  if (holds.config && *rc::gen::arbitrary<bool>())
    model.config = sample_config(holds, *rc::gen::inRange(1, 1000000) / 16.0);
  return model;
}

void expect_round_trip(const Format& format, const Model& model, const WriteOptions& options) {
  const Bytes bytes = write_bytes(format, model, options);
  Model found = open(memory_source(bytes, "it"));
  Model wanted = model;
  forget_names(found, format.holds);
  forget_names(wanted, format.holds);
  forget_filled_in(found, wanted, format.holds);
  RC_ASSERT(describe(found) == describe(wanted));
  RC_ASSERT(content_digest(found) == content_digest(wanted));
  RC_ASSERT(found.metadata == wanted.metadata);
  RC_ASSERT(found.config == wanted.config);
  RC_ASSERT(found.vocabulary == wanted.vocabulary);
  RC_ASSERT(found.attachments.size() == wanted.attachments.size());
  // Writing the model again gives the same file.
  if (!options.zstd_level && format.holds.many_tensors)
    RC_ASSERT(write_bytes(format, open(memory_source(bytes, "it")), options) == bytes);
}

RC_GTEST_PROP(ConformanceProperty, ModelsComeBackFromEveryFormat, ()) {
  for (const Format& format : formats()) {
    if (format.write == nullptr) continue;
    const Model model = any_model(format.holds);
    WriteOptions options;
    if (format.holds.zstd && *rc::gen::arbitrary<bool>()) options.zstd_level = 1;
    if (format.holds.digests && *rc::gen::arbitrary<bool>()) options.digest = DigestAlgorithm::crc32c;
    expect_round_trip(format, model, options);
  }
}

// Each of two formats that hold the same things can carry the other's models.
RC_GTEST_PROP(ConformanceProperty, ModelsComeBackByWayOfEveryFormat, ()) {
  for (const Format& first : formats())
    for (const Format& second : formats()) {
      if (first.write == nullptr || second.write == nullptr || !second.holds.many_tensors) continue;
      if (!second.holds.architecture.empty() && !first.holds.many_tensors) continue;
      if (!kCountsMemory && *rc::gen::inRange(0, 6) != 0)
        continue;  // slow with sanitizers, so each pair runs in 17 of 100 rounds
      Model model = second.holds.architecture.empty() ? any_model(first.holds)
                                                      : any_of_architecture(second.holds.architecture, first.holds);
      const auto& types = second.holds.dtypes;
      std::erase_if(model.tensors, [&](const Tensor& t) {
        return !lists(second.holds.layouts, t.layout) || exceeds(t, second.holds) ||
               std::any_of(t.components.begin(), t.components.end(), [&](const Component& c) {
                 return std::find(types.begin(), types.end(), c.dtype) == types.end() ||
                        (!c.type.empty() && !lists(second.holds.logical_types, c.type));
               });
      });
      if (model.tensors.empty() && !first.holds.many_tensors) continue;
      Model before = open(memory_source(write_bytes(first, model), "it"));
      if (!has_room(before, second.holds)) continue;
      AdaptOptions options;
      options.keep_names = true;
      Model there = open(memory_source(write_bytes(second, adapt(before, second, options).model), "it"));
      forget_filled_in(there, before, second.holds);
      forget_computed(before, second.holds);
      RC_ASSERT(content_digest(there) == content_digest(before));
      RC_ASSERT(there.metadata == before.metadata);
    }
}

RC_GTEST_PROP(ConformanceProperty, SoupBehindAGoodStartNeverCrashes, (const std::vector<std::uint8_t>& soup)) {
  for (const Format& format : formats()) {
    if (format.write == nullptr) continue;
    Bytes bytes = write_bytes(format, small_model(format.holds));
    bytes.resize(8);
    const auto more = std::as_bytes(std::span(soup));
    bytes.insert(bytes.end(), more.begin(), more.end());
    error_of([&] { listing(format.read({"it", borrow_memory(bytes, "it")}, {})); });
    error_of([&] { listing(format.read({"it", borrow_memory(more, "it")}, {})); });
  }
}

}  // namespace
}  // namespace tare
