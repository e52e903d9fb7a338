// Packed weights of other programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "codecs/packs/fixtures.hpp"
#include "codecs/packs/join.hpp"
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "convert/adapt.hpp"
#include "formats/open_as.hpp"
#include "lines.hpp"
#include "resources/packed_config.hpp"
#include "simd_targets.hpp"
#include "tare/append.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace tare::pack_fixtures;
namespace fs = std::filesystem;
namespace packs = codec::packs;

TEST(Packs, DecodeToWhatTheirLibrariesSay) {
  ASSERT_GE(names().size(), 30u);
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Model model = open(path_of(name));
    const Model expected = open(path_of(name) + ".expected.safetensors");
    ASSERT_EQ(model.tensors.size(), expected.tensors.size());
    const bool exact = *expected.metadata.find("steps") == Value("0");
    for (const Tensor& wanted : expected.tensors) {
      const Tensor* const tensor = model.tensor(wanted.name);
      ASSERT_NE(tensor, nullptr);
      EXPECT_EQ(tensor->shape, wanted.shape);
      const Component& data = *wanted.component("data");
      const Tensor decoded = cast(to_dense(*tensor), data.dtype);
      if (exact) {
        for_each_simd_target([&] { EXPECT_EQ(decoded.component("data")->blob.bytes(), data.blob.bytes()); });
        continue;
      }
      const std::vector<float> ours = decoded.values<float>(), theirs = wanted.values<float>();
      float largest = 0;
      for (const float value : theirs) largest = std::max(largest, std::abs(value));
      const float step = largest * (data.dtype == DType::bf16 ? 0x1p-7f : 0x1p-10f);
      for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], theirs[i], step) << i;
    }
  }
}

// Every layout in the table is tested with values of another program.
TEST(Packs, EveryLayoutHasAFixture) {
  std::set<std::string, std::less<>> proven;
  for (const std::string& name : names()) proven.insert(open(path_of(name)).tensors.at(0).layout);
  for (const Codec& codec : codecs())
    if (std::ranges::find(codec.parameters, packs::kArrays) != codec.parameters.end()) {
      EXPECT_TRUE(proven.contains(codec.layout)) << codec.layout;
    }
}

TEST(Packs, ComeApartAsTheyWere) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Model arrays = arrays_of(name);
    Model model = arrays;
    EXPECT_EQ(join(model), "");
    EXPECT_EQ(model.tensors.size(), 1u);
    EXPECT_TRUE(packs::is_joined(model.tensors[0]));
    packs::separate(model);
    expect_same(model, arrays);
  }
}

// Decoding does not depend on the kind of source or on where reading begins.
TEST(Packs, DecodeFromAnywhere) {
  const Scratch scratch;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Model mapped = open(path_of(name));
    const Blob whole = to_dense(mapped.tensors[0]).components[0].blob;
    const Bytes wanted = whole.bytes(~std::uint64_t{0}, 1);
    const Model read = open(path_of(name), {.access = Access::pread});
    EXPECT_EQ(to_dense(read.tensors[0]).components[0].blob.bytes(), wanted);
    const std::string packed = scratch / (name + ".zt");
    save(mapped, packed, {.write = {.zstd_level = 3}});
    const Model compressed = open(packed);
    ASSERT_TRUE(packs::is_joined(compressed.tensors[0]));
    EXPECT_EQ(to_dense(compressed.tensors[0]).components[0].blob.bytes(), wanted);
    for (const std::size_t at : {std::size_t{1}, wanted.size() / 3, wanted.size() / 2 + 4, wanted.size() - 5}) {
      Bytes part(std::min<std::size_t>(wanted.size() - at, 1000));
      whole.read(at, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), wanted.begin() + static_cast<std::ptrdiff_t>(at))) << at;
    }
  }
}

TEST(Packs, GoIntoContainersAsArrays) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Model model = open(path_of(name)), arrays = arrays_of(name);
    for (const char* const format : {"hf", "safetensors", "zt", "mcf", "npz"}) {
      Adapted adapted = adapt(model, *find_format(format), {.drop = {ModelPart::attachments}});
      EXPECT_FALSE(packs::has_joined(adapted.model)) << format;
      expect_same(adapted.model, arrays);
    }
    EXPECT_EQ(content_digest(model), content_digest(arrays));
    // Other containers get the weights.
    const Adapted decoded = adapt(model, *find_format("gguf"), {.drop = {ModelPart::attachments}, .keep_names = true});
    ASSERT_EQ(decoded.model.tensors.size(), 1u);
    EXPECT_EQ(dtype_name(decoded.model.tensors[0]), "f32");
    EXPECT_TRUE(mentions(decoded.changes, "decoded"));
  }
}

// A container gets the arrays, even if the caller does not separate them.
TEST(Packs, WritersStoreTheArrays) {
  const Scratch scratch;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    Model model = open(path_of(name)), arrays = arrays_of(name);
    ASSERT_TRUE(packs::has_joined(model));
    for (Model* const given : {&model, &arrays}) given->attachments.clear();
    for (const char* const container : {"safetensors", "zt", "npz"}) {
      const Format& format = *find_format(container);
      MemorySink one, other;
      format.write(model, one, {});
      format.write(arrays, other, {});
      EXPECT_EQ(one.bytes(), other.bytes()) << container;
    }
    const std::string grown = scratch / (name + ".zt");
    (void)save(Model(), grown);
    (void)append(grown, model);
    expect_same(open_as(PackedForm::stored, grown), arrays);
    const std::string tree = scratch / name;
    find_format("hf")->write_tree(model, tree, {}, false);
    expect_same(open_as(PackedForm::stored, tree), arrays);
    EXPECT_FALSE(packs::has_joined(open_as(PackedForm::stored, path_of(name))));
  }
}

// What a file states about the way of packing holds for all of its tensors.
TEST(Packs, AreNotAppendedToWeightsPackedInAnotherWay) {
  const auto named = [](const std::string& name, const std::string& prefix, const Format& format) {
    Model model = arrays_of(name);
    for (Tensor& tensor : model.tensors) tensor.name = prefix + tensor.name;
    join(model);
    return adapt(model, format, {.drop = {ModelPart::attachments}}).model;
  };
  const Scratch scratch;
  for (const char* const container : {"zt", "zt2"}) {
    SCOPED_TRACE(container);
    const Format& format = *find_format(container);
    const std::string path = scratch / fmt::format("m.{}", container);
    put_file(path, write_bytes(format, named("gptq4", "a.", format)));
    (void)append(path, named("gptq4", "b.", format));
    const Bytes before = get_file(path);
    for (const char* const other : {"gptq4-v2", "mlx-affine4"}) {
      const Model extra = named(other, "c.", format);
      if (extra.metadata.find("quantization_config") == nullptr) continue;
      EXPECT_EQ(rule_of([&] { (void)append(path, extra); }), "pack.changed") << other;
      EXPECT_EQ(get_file(path), before) << other;
    }
    const Model grown = open(path);
    ASSERT_EQ(grown.tensors.size(), 2u);
    EXPECT_EQ(grown.tensors[0].values<float>(), grown.tensors[1].values<float>());
  }
}

// What only the config states is kept without it, from container to container, and removed when the weights are
// decoded.
TEST(Packs, TheWayOfPackingOutlivesTheConfig) {
  const Scratch scratch;
  for (const std::string name : {"gptq4-v2", "mlx-affine4-bf16", "gptq4"}) {
    SCOPED_TRACE(name);
    const Model first = open(path_of(name));
    EXPECT_EQ(packs::describes_itself(first.tensors[0]), name == "gptq4");
    const std::vector<float> weights = first.tensors[0].values<float>();
    std::string from = path_of(name);
    for (const char* const suffix : {".safetensors", ".zt", ".npz", ".mcf", ".safetensors"}) {
      const std::string to = scratch / (name + from.substr(from.rfind('/') + 1) + suffix);
      (void)save(open(from), to, {.adapt = {.drop = {ModelPart::attachments}}});
      const Model back = open(to);
      ASSERT_EQ(back.tensors.size(), 1u) << suffix;
      EXPECT_EQ(back.tensors[0].layout, first.tensors[0].layout);
      EXPECT_EQ(back.tensors[0].values<float>(), weights) << suffix;
      EXPECT_EQ(content_digest(back), content_digest(first));
      EXPECT_EQ(back.metadata.find("quantization_config") == nullptr, packs::describes_itself(first.tensors[0]));
      from = to;
    }
    const Adapted decoded = adapt(open(from), *find_format("zt"), {.dtype = DType::f32});
    EXPECT_EQ(decoded.model.metadata.find("quantization_config"), nullptr);
    EXPECT_EQ(decoded.model.tensors[0].values<float>(), weights);
  }
}

// Only the arrays are stored, so a change to the joined tensor would be lost although it seems to be saved.
TEST(Packs, WhatWasChangedIsNotSaved) {
  const auto rule_of_save = [](const Model& model) -> std::string {
    try {
      (void)adapt(model, *find_format("zt"), {.drop = {ModelPart::attachments}});
    } catch (const Error& error) {
      EXPECT_NE(error.item().find("tensor "), std::string::npos) << error.item();
      return error.rule();
    }
    return "";
  };
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Model model = open(path_of(name));
    EXPECT_EQ(rule_of_save(model), "");
    Model changed = model;
    changed.tensors[0].name = "new.weight";
    EXPECT_EQ(rule_of_save(changed), "pack.changed");
    changed = model;
    changed.tensors[0].shape = {1, 1};
    EXPECT_EQ(rule_of_save(changed), "pack.changed");
    changed = model;
    changed.tensors[0].attributes.set("note", "mine");
    EXPECT_EQ(rule_of_save(changed), "pack.changed");
    Model alone;  // without the config
    alone.tensors = model.tensors;
    EXPECT_EQ(rule_of_save(alone), packs::describes_itself(model.tensors[0]) ? "" : "pack.changed");
  }
}

TEST(Packs, DecodedModelsSayNothingOfCodes) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Adapted adapted = adapt(open(path_of(name)), *find_format("hf"), {.dtype = DType::bf16});
    EXPECT_EQ(dtype_name(adapted.model.tensors.at(0)), "bf16");
    const Bytes config = adapted.model.attachment("config.json")->blob.bytes();
    const std::string text(reinterpret_cast<const char*>(config.data()), config.size());
    EXPECT_EQ(text, "{\n \"model_type\": \"packed\"\n}\n");
    EXPECT_FALSE(resources::stated_packing(adapted.model));
  }
}

// Libraries look for the codes of all layers that the config calls packed.
TEST(Packs, AreDecodedAllOrNoneInADirectory) {
  for (const std::string name : {"gptq4", "fp8-block", "bnb-nf4", "mlx-affine4"}) {
    SCOPED_TRACE(name);
    Model model = arrays_of(name);
    const std::vector<Tensor> arrays = model.tensors;
    model.tensors.clear();
    for (const char* const prefix : {"a.", "b."})
      for (Tensor tensor : arrays) {
        tensor.name = prefix + tensor.name;
        model.tensors.push_back(std::move(tensor));
      }
    join(model);
    ASSERT_EQ(model.tensors.size(), 2u);
    const auto rule_for = [&](const char* target, AdaptOptions options) {
      return rule_of([&] { (void)adapt(model, *find_format(target), options); });
    };
    const AdaptOptions one = {.quant = {.rules = {{"a.*", "bf16"}}}}, both = {.quant = {.rules = {{"*", "bf16"}}}};
    for (const char* const target : {"hf", "mcf"}) {
      EXPECT_EQ(rule_for(target, one), "convert.partly_packed") << target;
      EXPECT_EQ(rule_for(target, both), "") << target;
      EXPECT_EQ(rule_for(target, {}), "") << target;
    }
    EXPECT_EQ(rule_for("zt", one), "");
    AdaptOptions kept = one;
    kept.keep_names = true;
    EXPECT_EQ(rule_for("hf", kept), "");
  }
}

TEST(Packs, AreQuantizedWithoutADetour) {
  Quantization quant;
  quant.method = "q8_0";
  for (const std::string name : {"awq4", "fp8-block", "gptq4", "bnb-nf4"}) {
    SCOPED_TRACE(name);
    const Adapted adapted = adapt(open(path_of(name)), *find_format("gguf"),
                                  {.quant = quant, .drop = {ModelPart::attachments}, .keep_names = true});
    EXPECT_EQ(adapted.model.tensors.at(0).layout, "ggml.q8_0");
    const std::vector<float> ours = adapted.model.tensors[0].values<float>();
    const std::vector<float> exact = open(path_of(name)).tensors[0].values<float>();
    float largest = 0;
    for (const float value : exact) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_NEAR(ours[i], exact[i], largest / 100) << i;
  }
}

// If the weights' file itself is opened, the config next to it still applies. Without one, assumptions are reported.
TEST(Packs, AFileIsReadAsItsDirectoryStates) {
  const Scratch scratch;
  for (const std::string name : {"gptq4", "gptq4-v2", "mlx-affine8", "fp8-block", "bnb-nf4"}) {
    SCOPED_TRACE(name);
    const std::string own = scratch / name;
    fs::copy(path_of(name), own, fs::copy_options::recursive);
    const Model whole = open(own);
    Collected quiet;
    const Model stated = open(own + "/model.safetensors", {.diagnostics = &quiet});
    EXPECT_EQ(quiet.rules, (std::vector<std::string>{}));
    EXPECT_EQ(describe_layouts(stated), describe_layouts(whole));
    for (const char* const file : {"config.json", "quantize_config.json"}) fs::remove(own + "/" + file);
    Collected told;
    open(own + "/model.safetensors", {.diagnostics = &told});
    const bool guessed = name != "bnb-nf4";
    EXPECT_EQ(told.rules, guessed ? std::vector<std::string>{"pack.guess"} : std::vector<std::string>());
    // Bytes in memory have no files next to them.
    const SourcePtr memory = memory_source(get_file(own + "/model.safetensors"), own + "/model.safetensors");
    EXPECT_EQ(open(memory).tensors.size(), open(own + "/model.safetensors").tensors.size());
  }
}

// Experts whose outputs are the last axis have scales per column; a square matrix does not show this.
TEST(Packs, ScalesOfColumns) {
  for (const std::uint64_t inner : {3U, 2U}) {
    Model model;
    Bytes codes(2 * inner * 2, std::byte{0x38});  // 1 in f8_e4m3fn
    model.tensors.push_back(dense("e.down_proj", {2, inner, 2}, DType::u8, Blob::memory(codes), "f8_e4m3fn"));
    model.tensors.push_back(dense("e.down_proj_scale", {2, 2, 1}, std::vector<float>{1, 2, 3, 4}));
    state(model, R"({"quantization_config":{"quant_method":"fbgemm_fp8"}})");
    EXPECT_EQ(join(model), "");
    ASSERT_EQ(model.tensors.size(), 1U);
    std::vector<float> expected;
    for (const float first : {1.0F, 3.0F})
      for (std::uint64_t i = 0; i < inner; ++i) expected.insert(expected.end(), {first, first + 1});
    EXPECT_EQ(model.tensors[0].values<float>(), expected);
  }
}

// A config with exceptions for single layers does not apply to each layer; small layers fit more than one number of
// bits.
TEST(Packs, WhatTheConfigSaysOfAllLayers) {
  Model model = arrays_of("gptq4");
  state(model, R"({"quantization_config":{"quant_method":"gptq","bits":8,"group_size":16,"dynamic":{"-:x":{}}}})");
  EXPECT_EQ(join(model), "");
  // Blocks that do not divide the matrix.
  Model ragged = arrays_of("fp8-block");
  array(ragged, ".weight") = dense("q.weight", {40, 56}, DType::u8, Blob::memory(Bytes(40 * 56)), "f8_e4m3fn");
  array(ragged, ".weight_scale_inv") = dense("q.weight_scale_inv", {3, 4}, std::vector<float>(12, 2.0f));
  state(ragged, R"({"quantization_config":{"quant_method":"compressed-tensors","config_groups":{"group_0":{"weights":
                 {"strategy":"block","block_structure":[16,16]}}}}})");
  EXPECT_EQ(join(ragged), "");
  EXPECT_EQ(ragged.tensors.at(0).layout, "fp8.block");
}

// A layout that several programs write is decoded if the config names the program.
TEST(Packs, AutoRoundSaysWhoseLayoutItIs) {
  const auto stated = [](const std::string& method, const std::string& packing) {
    return R"({"quantization_config":{"quant_method":")" + method + R"(","bits":4,"packing_format":")" + packing +
           "\"}}";
  };
  struct Packing {
    std::string fixture, format;
  };
  for (const auto& [fixture, format] :
       {Packing{"gptq4", "auto_round:auto_gptq"}, Packing{"gptq4-v2", "auto_round"},
        Packing{"gptq4-v2", "auto_round:gptqmodel"}, Packing{"awq4", "auto_round:auto_awq"}})
    for (const std::string method : {"auto-round", "intel/auto-round"}) {
      SCOPED_TRACE(format);
      Model model = arrays_of(fixture);
      state(model, stated(method, format));
      EXPECT_EQ(join(model), "");
      ASSERT_EQ(model.tensors.size(), 1u);
      EXPECT_EQ(model.tensors[0].values<float>(), open(path_of(fixture)).tensors[0].values<float>());
    }
  for (const std::string fixture : {"gptq4", "awq4"}) {
    Model other = arrays_of(fixture);
    state(other, stated("auto-round", "auto_round:new"));
    EXPECT_EQ(join(other), "pack.variant (note)");
    Model unsaid = arrays_of(fixture);
    state(unsaid, R"({"quantization_config":{"quant_method":"auto-round"}})");
    EXPECT_EQ(join(unsaid), "pack.variant (note)");
  }
}

// A config value of another type than text is not treated as the default.
TEST(Packs, NamesThatAreNumbers) {
  Model format = arrays_of("gptq4");
  state(format, R"({"quantization_config":{"quant_method":"gptq","bits":4,"checkpoint_format":2}})");
  EXPECT_EQ(join(format), "pack.type");
  Model method = arrays_of("gptq4");
  state(method, R"({"quantization_config":{"quant_method":7,"bits":4}})");
  EXPECT_EQ(join(method), "pack.variant (note)");
  Model scaled = arrays_of("fp8-channel");
  state(scaled, R"({"quantization_config":{"quant_method":7}})");
  EXPECT_EQ(join(scaled), "pack.guess");
}

// Arrays that belong to codes, without the codes or without what makes them codes; also without a config.
TEST(Packs, LostMembersAreMissed) {
  struct Lost {
    std::string fixture, ending;
  };
  for (const auto& [fixture, ending] :
       {Lost{"gptq4", ".qweight"}, Lost{"awq4", ".qweight"}, Lost{"bnb-nf4", "q.weight"}, Lost{"bnb-nf4", "__nf4"},
        Lost{"bnb-int8", ".weight"}, Lost{"mxfp4", "_scales"}, Lost{"ct-int4", ".weight_packed"},
        Lost{"nvfp4", ".weight_packed"}, Lost{"nvfp4-modelopt", ".weight"}, Lost{"fp8-block", ".weight"}})
    for (const bool alone : {false, true}) {
      SCOPED_TRACE(fixture + " " + ending);
      Model model = arrays_of(fixture);
      erase(model, ending);
      if (alone) state(model, "{}");
      EXPECT_EQ(join(model), "pack.missing");
    }
  // For some, only the config shows it.
  Model blocks = arrays_of("mxfp4");
  erase(blocks, "_blocks");
  state(blocks, R"({"quantization_config":{"quant_method":"mxfp4"}})");
  EXPECT_EQ(join(blocks), "pack.missing");
  Model scale = arrays_of("fp8-block");
  erase(scale, ".weight_scale_inv");
  state(scale, R"({"quantization_config":{"quant_method":"fp8"}})");
  EXPECT_EQ(join(scale), "pack.missing");
  state(scale, "{}");
  EXPECT_EQ(join(scale), "");
  for (const DType type : {DType::i64, DType::f32}) {
    Model typed = arrays_of("gptq4");
    const Shape shape = array(typed, ".qweight").shape;
    array(typed, ".qweight") = dense("q.qweight", shape, type,
                                     Blob::memory(Bytes(static_cast<std::size_t>(*shape.elements()) * size_of(type))));
    EXPECT_EQ(join(typed), "pack.type");
  }
  // A program that decoded the weights may have left the scales.
  Model unpacked = arrays_of("fp8-block");
  const Shape shape = array(unpacked, ".weight").shape;
  const std::string name = array(unpacked, ".weight").name;
  array(unpacked, ".weight") = dense(name, shape, std::vector<float>(static_cast<std::size_t>(*shape.elements())));
  EXPECT_EQ(join(unpacked), "");
}

// Nothing is wrong with it: this format has other arrays.
TEST(Packs, MarlinIsNotABadSet) {
  Model marlin = arrays_of("gptq4");
  erase(marlin, ".qzeros");
  erase(marlin, ".g_idx");
  state(marlin, R"({"quantization_config":{"quant_method":"gptq","checkpoint_format":"marlin","bits":4}})");
  EXPECT_EQ(join(marlin), "pack.variant (note)");
  Model sparse;
  sparse.tensors.push_back(dense("q.weight_packed", {2, 16}, DType::i32, Blob::memory(Bytes(128))));
  sparse.tensors.push_back(dense("q.scale_packed", {1, 16}, DType::f16, Blob::memory(Bytes(32))));
  sparse.tensors.push_back(dense("q.meta", {16, 2}, DType::i16, Blob::memory(Bytes(64))));
  state(sparse, R"({"quantization_config":{"quant_method":"compressed-tensors","format":"marlin-24"}})");
  EXPECT_EQ(join(sparse), "pack.variant (note)");
  // FSDP stores bitsandbytes' codes under a float type.
  Model disguised = arrays_of("bnb-nf4");
  Tensor& codes = array(disguised, ".weight");
  codes.components[0].dtype = DType::bf16;
  codes.shape = {codes.shape[0] / 2, 1};
  EXPECT_EQ(join(disguised), "pack.variant (note)");
}

// If the method is not decoded, sets that were joined by name are not all of its arrays.
TEST(Packs, WhatIsLeftBesideJoinedSetsIsNamed) {
  for (const auto& [method, said] : {std::pair{"torchao", "pack.variant (note)"}, std::pair{"fbgemm_fp8", ""}}) {
    Model model = arrays_of("fp8-channel");
    model.tensors.push_back(dense("k.strange", {8, 8}, DType::i32, Blob::memory(Bytes(256))));
    state(model, fmt::format(R"({{"quantization_config":{{"quant_method":"{}"}}}})", method));
    EXPECT_EQ(join(model), said) << method;
    EXPECT_EQ(model.tensors.size(), 2u);
  }
}

// Assumptions that neither arrays nor config confirm are reported, or refused if they may well be wrong.
TEST(Packs, WhatIsAssumedIsTold) {
  for (const std::string fixture : {"nvfp4", "ct-int4", "int8-channel", "fp8-channel"}) {
    Model model = arrays_of(fixture);
    state(model, R"({"quantization_config":{"quant_method":"mystery"}})");
    EXPECT_EQ(join(model), "pack.guess") << fixture;
    EXPECT_EQ(packs::find_sets(*packs::StoredForm(model), resources::stated_packing(model)).guesses.size(), 1u);
  }
  // Codes of 7 bits may be stored in 8.
  Model eight = arrays_of("ct-int8");
  state(eight, "{}");
  EXPECT_EQ(join(eight), "pack.guess");
  const auto with_scales = [](Shape shape, const std::string& config) {
    Model model;
    model.tensors.push_back(dense("q.weight", {96, 64}, DType::u8, Blob::memory(Bytes(96 * 64)), "f8_e4m3fn"));
    const auto count = static_cast<std::size_t>(*shape.elements());
    model.tensors.push_back(dense("q.weight_scale", shape, std::vector<float>(count, 1)));
    state(model, config);
    return join(model);
  };
  const std::string stated = R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[32,64]}})";
  EXPECT_EQ(with_scales({3}, "{}"), "pack.variant (note)");
  EXPECT_EQ(with_scales({3}, R"({"quantization_config":{"quant_method":"fp8"}})"), "pack.variant (note)");
  EXPECT_EQ(with_scales({3, 1}, stated), "");
  EXPECT_EQ(with_scales({3, 2}, "{}"), "pack.guess");
  EXPECT_EQ(with_scales({96}, "{}"), "");
  EXPECT_EQ(with_scales({1}, "{}"), "");
}

// One note, whatever the number of layers.
TEST(Packs, AReasonIsToldOnce) {
  Model model;
  for (int i = 0; i < 5; ++i) {
    model.tensors.push_back(dense(fmt::format("{}.W_q", i), {2, 2}, DType::u8, Blob::memory(Bytes(4))));
    model.tensors.push_back(dense(fmt::format("{}.scale", i), {2}, std::vector<float>{1, 1}));
  }
  EXPECT_EQ(join(model), "pack.variant (note)");
}

TEST(Packs, MicroscalingFormatsThatAreNotDecodedAreNamed) {
  Model six;
  six.tensors.push_back(dense("q.weight_packed", {2, 24}, DType::u8, Blob::memory(Bytes(48))));
  six.tensors.push_back(dense("q.weight_scale", {2, 1}, DType::u8, Blob::memory(Bytes(2))));
  EXPECT_EQ(join(six), "pack.variant (note)");
  Model eight;
  eight.tensors.push_back(dense("q.weight", {2, 32}, DType::u8, Blob::memory(Bytes(64)), "f8_e4m3fn"));
  eight.tensors.push_back(dense("q.weight_scale", {2, 1}, DType::u8, Blob::memory(Bytes(2))));
  EXPECT_EQ(join(eight), "pack.variant (note)");
}

// A container that stores layouts by name may use these names with any components and attributes.
TEST(Packs, LayoutsAreCheckedByThemselves) {
  const Model model = open(path_of("gptq4"));
  const auto rule = [](const Tensor& tensor) {
    const auto problem = find_codec(tensor.layout)->check(tensor);
    return problem ? problem->rule : std::string();
  };
  Tensor tensor = model.tensors[0];
  EXPECT_EQ(rule(tensor), "");
  tensor.attributes.set("group_size", 0);
  EXPECT_EQ(rule(tensor), "pack.group");
  tensor.attributes.set("group_size", "32");
  EXPECT_EQ(rule(tensor), "pack.attribute");
  tensor.attributes.erase("group_size");
  EXPECT_EQ(rule(tensor), "pack.attribute");
  tensor = model.tensors[0];
  tensor.shape = {32};
  EXPECT_EQ(rule(tensor), "pack.shape");
  tensor.shape = {std::uint64_t{1} << 62, std::uint64_t{1} << 62};
  EXPECT_EQ(rule(tensor), "pack.shape");
  tensor = model.tensors[0];
  tensor.layout = "gptq8";
  EXPECT_EQ(rule(tensor), "pack.shape");
  // Without the description of the arrays, the components cannot be separated.
  tensor = model.tensors[0];
  tensor.attributes.find(packs::kArrays)->get<Map>()->begin()->second.get<Map>()->set("shape", List{Value(1)});
  EXPECT_FALSE(packs::is_joined(tensor));
}

// Each name is looked at once, and models without codes not further.
TEST(Packs, PlainModelsAreLeftAlone) {
  Model model;
  for (int i = 0; i < 10; ++i) model.tensors.push_back(dense(fmt::format("{}.weight", i), {1}, std::vector<float>{1}));
  model.tensors.push_back(dense("position_ids", {2}, std::vector<std::int64_t>{1, 2}));
  EXPECT_FALSE(packs::may_be_packed(model));
  model.tensors.push_back(dense("q.qweight", {1, 1}, std::vector<std::int32_t>{1}));
  EXPECT_TRUE(packs::may_be_packed(model));
}

TEST(Packs, ArraysThatLostTheirPlacesStayTogether) {
  Model model = arrays_of("gptq4");
  model.tensors.insert(model.tensors.begin(), dense("a", {1}, std::vector<float>{1}));
  model.tensors.push_back(dense("z", {1}, std::vector<float>{1}));
  const Model before = model;
  EXPECT_EQ(join(model), "");
  ASSERT_EQ(model.tensors.size(), 3u);
  Model same = model;
  packs::separate(same);
  expect_same(same, before);
  model.tensors.erase(model.tensors.begin());
  packs::separate(model);
  ASSERT_EQ(model.tensors.size(), 5u);
  EXPECT_EQ(model.tensors.back().name, "z");
}

// Integers named .weight are not codes unless the model has the array that makes them so.
TEST(Packs, RowsWithoutTheirArrayBesideAreNotTried) {
  Model model;
  for (const char* const name : {"a.weight", "b.weight", "b.bias", "absmax"})
    model.tensors.push_back(dense(name, Shape{2}, DType::u8, Blob::memory(Bytes(2))));
  EXPECT_TRUE(packs::schemes_with_beside(model.tensors).empty());
  // Rows by statement do not go by names.
  std::vector<const packs::Scheme*> by_names;
  for (const packs::Scheme* const row : packs::schemes())
    if (!row->by_statement) by_names.push_back(row);
  for (const packs::Scheme* const row : by_names) {
    const std::string beside = "x" + std::string(row->beside_ending());
    model.tensors.push_back(dense(beside, Shape{1}, DType::u8, Blob::memory(Bytes(1))));
    const auto found = packs::schemes_with_beside(model.tensors);
    EXPECT_NE(std::ranges::find(found, row), found.end()) << beside;
    for (const packs::Scheme* const other : found) EXPECT_TRUE(beside.ends_with(other->beside_ending())) << beside;
    model.tensors.pop_back();
  }
  for (const packs::Scheme* const row : by_names)
    model.tensors.push_back(
        dense("x" + std::string(row->beside_ending()), Shape{1}, DType::u8, Blob::memory(Bytes(1))));
  EXPECT_TRUE(std::ranges::equal(packs::schemes_with_beside(model.tensors), by_names));  // in the order of the table
}

}  // namespace
}  // namespace tare
