// PyTorch files: values, names, metadata, limits.
#include "conformance/hf_cases.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "conformance/torch_cases.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model opened(const Bytes& file, const ReadOptions& options = {}) { return open(memory_source(file, "it.pt"), options); }
Bytes good(std::string_view name) {
  for (auto& [called, file] : pk::good())
    if (called == name) return file;
  ADD_FAILURE() << "no file " << name;
  return {};
}
std::vector<float> floats_of(const Model& model, std::string_view name) { return model.tensor(name)->values<float>(); }

TEST(Torch, ViewsArePutInOrder) {
  const Model model = opened(good("views"));
  EXPECT_EQ(floats_of(model, "a"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(floats_of(model, "t"), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(floats_of(model, "part"), (std::vector<float>{1, 3}));
  EXPECT_EQ(floats_of(model, "wide"), (std::vector<float>{5, 5, 5, 5}));
  EXPECT_EQ(floats_of(model, "scalar"), (std::vector<float>{5}));
  EXPECT_EQ(model.tensor("empty")->shape, (Shape{0, 3}));
  // Without a copy, and both share their bytes.
  EXPECT_TRUE(model.tensor("a")->components[0].blob.is_plain());
  EXPECT_EQ(model.tensor("a")->components[0].blob.offset(), model.tensor("tied")->components[0].blob.offset());
}

TEST(Torch, TiesAreReported) {
  const Scratch scratch;
  put_file(scratch / "it.pt", good("views"));
  const Verification result = verify(scratch / "it.pt");
  EXPECT_TRUE(std::any_of(result.findings.begin(), result.findings.end(), [](const Finding& finding) {
    return finding.rule == "torch.tied" && finding.item == "tensor tied" && finding.severity == Severity::note;
  }));
}

TEST(Torch, TreesBecomeNamesAndMetadata) {
  const Model model = opened(good("tree"));
  std::vector<std::string> names;
  for (const Tensor& tensor : model.tensors) names.push_back(tensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"model.w", "list.0", "list.1.0"}));
  EXPECT_EQ(to_json(model.metadata),
            R"({"list.1.1":3,"list.2":"x","epoch":-7,"loss":0.5,"none":null,"on":true,"bytes":{"$bytes":"ff7a"},)"
            R"("device":"cuda:1","dtype":"torch.float16","size":[1,2],"options":{"lr":0.001,"betas":[0.9,0.5]},)"
            R"("torch._metadata":{"model":{"":{"version":1}}}})");
}

TEST(Torch, KeysThatReadTheSameAreBothKept) {
  const std::string number = pk::integer(1) + pk::text("number"), word = pk::text("1") + pk::text("word");
  const std::string flag = "\x88" + pk::text("flag"), none = "N" + pk::text("none");
  const auto config = [](const std::string& entries) {
    return to_json(opened(pk::archive(pk::dict({{"config", "}(" + entries + "u"}}))).metadata);
  };
  EXPECT_EQ(config(number + word), R"_({"config":{"1":"word","1 (int)":"number"}})_");
  EXPECT_EQ(config(word + number), R"_({"config":{"1":"word","1 (int)":"number"}})_");
  EXPECT_EQ(config(flag + pk::text("True") + pk::text("word")), R"_({"config":{"True":"word","True (bool)":"flag"}})_");
  EXPECT_EQ(config(none + pk::text("None") + pk::text("word")),
            R"_({"config":{"None":"word","None (NoneType)":"none"}})_");
  // A repeated key counts once, as in Python.
  EXPECT_EQ(config(number + pk::integer(1) + pk::text("last")), R"_({"config":{"1":"last"}})_");
  EXPECT_EQ(config(number), R"_({"config":{"1":"number"}})_");
  EXPECT_EQ(rule_of([&] { config(pk::text("1 (int)") + pk::text("x") + word + number); }), "torch.name.duplicate");
}

TEST(Torch, AttributesOfDictsAreReported) {
  const Scratch scratch;
  const std::string state = pk::dict({{"_metadata", pk::integer(1)}, {"other", pk::integer(2)}}) + "b";
  const std::string weights = pk::ordered_dict() + "(" + pk::text("w") + pk::floats("0", 1) + "u" + state;
  const std::string empty = pk::ordered_dict() + state;
  put_file(scratch / "it.pt", pk::archive(pk::dict({{"model", weights}, {"rest", empty}}), {std::string(4, '\0')}));
  std::vector<std::string> said;
  for (const Finding& finding : verify(scratch / "it.pt").findings)
    if (finding.rule == "torch.attribute") {
      EXPECT_EQ(finding.severity, Severity::warning);
      said.push_back(finding.sentence);
    }
  EXPECT_EQ(said, (std::vector<std::string>{"attributes of the dict \"model\" are omitted (1)",
                                            "attributes of the dict \"rest\" are omitted (2)"}));
}

TEST(Torch, IntegersWhoseBytesAreDigits) {
  const Model model = opened(pk::archive(pk::dict({{"n",
                                                    "\x8a\x0a"
                                                    "1234567890"},
                                                   {"d", "L12345678901234567890L\n"}})));
  EXPECT_EQ(to_json(model.metadata), R"({"n":"227729106355936394687025","d":"12345678901234567890"})");
}

TEST(Torch, OtherByteOrdersLayoutsAndProtocols) {
  for (const char* const name : {"big_endian", "legacy", "protocol_4"})
    EXPECT_EQ(floats_of(opened(good(name)), "a"), (std::vector<float>{0, 1, 2, 3, 4, 5})) << name;
  EXPECT_EQ(floats_of(opened(good("legacy")), "t"), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(floats_of(opened(good("lone")), "tensor").size(), 6U);
  EXPECT_EQ(to_json(opened(good("lines")).metadata),
            R"({"aé":[1,-2,3,1.5,true,"xA\n",null],"b":[1,-2,3,1.5,true,"xA\n",null]})");
  const Model typed = opened(good("parameters"));
  EXPECT_EQ(typed.tensor("f8")->components[0].type, "f8_e4m3fn");
}

TEST(Torch, EveryRuleIsBrokenByItsFile) {
  const Scratch scratch;
  for (const pk::Case& bad : pk::bad()) {
    put_file(scratch / "it.pt", bad.file);
    const Verification result = verify(scratch / "it.pt");
    EXPECT_TRUE(std::any_of(result.findings.begin(), result.findings.end(),
                            [&](const Finding& finding) { return finding.rule == bad.rule; }))
        << bad.rule << "." << bad.name << ": " << (result.findings.empty() ? "nothing" : result.findings[0].rule);
    EXPECT_EQ(result.format, "torch") << bad.name;
  }
}

// `verify` lists every global, its kind and its offset, also for files that are refused.
TEST(Torch, GlobalsAreListedAlsoOfFilesThatAreRefused) {
  const Scratch scratch;
  const auto rules = [&](const Bytes& file) {
    put_file(scratch / "it.pt", file);
    std::map<std::string, std::string> found;
    for (const Finding& finding : verify(scratch / "it.pt").findings)
      if (finding.rule.starts_with("torch.global.")) {
        found[finding.item] = finding.rule.substr(13);
        EXPECT_TRUE(finding.offset.has_value()) << finding.item;
      }
    return found;
  };
  const std::map<std::string, std::string> plain = {{"torch._utils._rebuild_tensor_v2", "known"},
                                                    {"torch.FloatStorage", "known"},
                                                    {"collections.OrderedDict", "known"}};
  EXPECT_EQ(rules(good("small")), plain);
  auto all = plain;
  all["os.system"] = "dangerous";
  all["my.Class"] = "refused";
  const std::string object = pk::dict({{"a", pk::floats("0", 1)},
                                       {"b", pk::global("my", "Class")},
                                       {"c", pk::call(pk::global("os", "system"), {pk::text("true")})}});
  EXPECT_EQ(rules(pk::archive(object, {pk::counted(1)})), all);
  // A pickle that ends in the middle.
  EXPECT_EQ(rules(pk::archive(object + "RRRR", {pk::counted(1)})), all);
  // `open` reports the worst.
  EXPECT_EQ(rule_of([&] { opened(pk::archive(object, {pk::counted(1)})); }), "torch.global.dangerous");
}

TEST(Torch, ABrokenTensorDoesNotHideTheOthers) {
  const Bytes file = pk::archive(pk::dict({{"a", pk::floats("0", 1)}, {"b", pk::floats("9", 1)}}), {pk::counted(1)});
  EXPECT_EQ(rule_of([&] { opened(file); }), "torch.storage.missing");
  const Model model = opened(file, {.keep_broken = true});
  EXPECT_EQ(model.tensors.size(), 1U);
  ASSERT_EQ(model.broken.size(), 1U);
  EXPECT_EQ(model.broken[0].tensor.name, "b");
}

TEST(Torch, LimitsHold) {
  ReadOptions few;
  few.limits.metadata_values = 8;
  EXPECT_EQ(rule_of([&] { opened(pk::archive("(" + std::string(200, ']') + "t"), few); }), "open.values");
  ReadOptions small;
  small.limits.metadata_bytes = 100;
  EXPECT_EQ(rule_of([&] { opened(good("views"), small); }), "zip.directory.large");
  small.limits.metadata_bytes = 400;
  EXPECT_EQ(rule_of([&] { opened(good("views"), small); }), "torch.pickle.large");
  // A storage that inflates to much more than its file.
  auto members =
      pk::members(pk::whole(pk::dict({{"a", pk::view(pk::storage("ByteStorage", "0", 1 << 20), 0, {1}, {1})}})), {});
  members.push_back(made("m/data/0", std::string(1 << 20, '\0'), true));
  const Bytes bomb = bytes_of(make_zip(members).bytes);
  EXPECT_EQ(rule_of([&] { opened(bomb); }), "");
  ReadOptions tight;
  tight.limits.decoded_bytes = 0;
  EXPECT_EQ(rule_of([&] { opened(bomb, tight); }), "torch.archive.inflated");
}

Bytes file_with(const std::string& name) {
  return pk::archive(pk::dict({{name, pk::floats("0", 6)}}), {pk::counted(6)});
}

TEST(Torch, ADirectoryOfABinFile) {
  const Scratch scratch;
  put_files(scratch / "d",
            {{"config.json", hf_config()}, {"pytorch_model.bin", file_with("w")}, {"optimizer.pt", Bytes()}});
  const Model model = open(scratch / "d");
  EXPECT_EQ(model.format, "hf");
  EXPECT_EQ(floats_of(model, "w").size(), 6U);
  EXPECT_NE(model.attachment("config.json"), nullptr);
  convert(scratch / "d", scratch / "out/");
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/model.safetensors"));
  EXPECT_EQ(content_digest(open(scratch / "out")), content_digest(model));
  // An adapter keeps its name.
  put_files(scratch / "a", {{"adapter_model.bin", file_with("w")}, {"adapter_config.json", to_bytes("{}")}});
  convert(scratch / "a", scratch / "adapter/");
  EXPECT_TRUE(std::filesystem::exists(scratch / "adapter/adapter_model.safetensors"));
}

TEST(Torch, SafetensorsCountForMoreThanABinFile) {
  const Scratch scratch;
  put_files(scratch / "d", {{"model.safetensors", hf_weights()}, {"pytorch_model.bin", file_with("w")}});
  EXPECT_EQ(open(scratch / "d").tensor("w") == nullptr, open(scratch / "d/model.safetensors").tensor("w") == nullptr);
  const Verification result = verify(scratch / "d");
  EXPECT_TRUE(result.ok(true));
  EXPECT_TRUE(std::ranges::any_of(result.findings, [](const Finding& f) { return f.rule == "hf.weights.both"; }));
}

TEST(Torch, ShardsAreASetHoweverTheyAreNamed) {
  const Scratch scratch;
  const std::string first = "pytorch_model-00001-of-00002.bin", second = "pytorch_model-00002-of-00002.bin";
  const std::string index =
      R"({"metadata": {"total_size": 48}, "weight_map": {"a": ")" + first + R"(", "b": ")" + second + R"("}})";
  put_files(scratch / "d", {{"config.json", hf_config()},
                            {"pytorch_model.bin.index.json", to_bytes(index)},
                            {first, file_with("a")},
                            {second, file_with("b")}});
  const std::string whole = content_digest(open(scratch / "d"));
  EXPECT_EQ(open(scratch / "d").tensors.size(), 2U);
  for (const std::string& name : {first, second, std::string("pytorch_model.bin.index.json")})
    EXPECT_EQ(content_digest(open(scratch / ("d/" + name))), whole) << name;
  EXPECT_TRUE(verify(scratch / "d").ok(true));
  // The same for safetensors.
  convert(scratch / "d", scratch / "s/", {.write = {.shard_bytes = 30}});
  for (const char* const name :
       {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"}) {
    EXPECT_EQ(content_digest(open(scratch / (std::string("s/") + name))), whole) << name;
    EXPECT_TRUE(verify(scratch / (std::string("s/") + name)).ok(true)) << name;
  }
  // The layout of the hub's cache: links to blobs with other names.
  std::filesystem::create_directories(scratch / "hub/snapshots/abc");
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "d")) {
    const std::string name = entry.path().filename();
    std::filesystem::create_directories(scratch / "hub/blobs");
    std::filesystem::copy(entry.path(), scratch / ("hub/blobs/b" + name));
    std::filesystem::create_symlink("../../blobs/b" + name, scratch / ("hub/snapshots/abc/" + name));
  }
  for (const std::string& name : {std::string(), first, second, std::string("pytorch_model.bin.index.json")})
    EXPECT_EQ(content_digest(open(scratch / ("hub/snapshots/abc/" + name))), whole) << name;
  EXPECT_NE(open(scratch / "hub/snapshots/abc").attachment("config.json"), nullptr);
  std::filesystem::remove(scratch / ("d/" + second));
  EXPECT_EQ(rule_of([&] { open(scratch / "d"); }), "safetensors.index.missing_shard");
  std::filesystem::remove(scratch / "d/pytorch_model.bin.index.json");
  EXPECT_EQ(rule_of([&] { open(scratch / "d"); }), "hf.weights.no_index");
  EXPECT_EQ(open(scratch / ("d/" + first)).tensors.size(), 1U);
}

TEST(Torch, CollectionsThatACallMakesOfOthers) {
  for (const char* const name : {"list", "set", "frozenset"}) {
    const std::string two = pk::tuple({pk::floats("0", 1), pk::floats("0", 1)});
    const std::string made = pk::call(pk::global("builtins", name), {two});
    const Model model = opened(pk::archive(pk::dict({{"x", made}}), {pk::counted(1)}));
    EXPECT_EQ(model.tensors.size(), 2U) << name;
    EXPECT_NE(model.tensor("x.1"), nullptr) << name;
  }
}

TEST(Torch, FourBitFloatsAreRead) {
  const std::string tensor =
      pk::call(pk::rebuild("_rebuild_tensor_v3"),
               {pk::storage("UntypedStorage", "0", 16), pk::integer(0), pk::integers({4, 4}), pk::integers({4, 1}),
                "\x89", pk::ordered_dict(), pk::global("torch", "float4_e2m1fn_x2")});
  const Scratch scratch;
  put_file(scratch / "it.pt", pk::archive(pk::dict({{"w", tensor}}), {std::string(16, '\x21')}));
  EXPECT_TRUE(verify(scratch / "it.pt").ok(true));
  const Model model = open(scratch / "it.pt");
  EXPECT_EQ(model.tensor("w")->layout, "packed.f4_e2m1");
  EXPECT_EQ(model.tensor("w")->shape, (Shape{4, 8}));
  const std::vector<float> values = floats_of(model, "w");
  ASSERT_EQ(values.size(), 32U);
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_EQ(values[1], 1.0f);
  convert(scratch / "it.pt", scratch / "it.safetensors");
  EXPECT_EQ(open(scratch / "it.safetensors").tensor("w")->layout, "packed.f4_e2m1");
  for (const char* const name : {"it.npz", "it.gguf", "it.zt"}) {
    convert(scratch / "it.pt", scratch / name);
    EXPECT_EQ(floats_of(open(scratch / name), "w"), values) << name;
  }
}

// Exactly as `dequantize` computes it: scales of channels are f64, and so is the product.
TEST(Torch, ScalesOfChannelsAreMultipliedInDouble) {
  std::string scales, zeros;
  for (const double scale : {0.3, 0.07}) put<std::uint64_t>(scales, std::bit_cast<std::uint64_t>(scale));
  for (const std::uint64_t zero : {0, 1}) put<std::uint64_t>(zeros, zero);
  const std::string scheme =
      pk::tuple({pk::global("torch", "per_channel_affine"), pk::view(pk::storage("DoubleStorage", "1", 2), 0, {2}, {1}),
                 pk::view(pk::storage("LongStorage", "2", 2), 0, {2}, {1}), pk::integer(0)});
  const std::string tensor = pk::call(pk::rebuild("_rebuild_qtensor"),
                                      {pk::storage("QInt8Storage", "0", 6), pk::integer(0), pk::integers({2, 3}),
                                       pk::integers({3, 1}), scheme, "\x89", pk::ordered_dict()});
  const Model model = opened(pk::archive(pk::dict({{"q", tensor}}), {"\x03\x06\x07\x04\x07\x0D", scales, zeros}));
  const std::vector<float> wanted = {static_cast<float>(3 * 0.3),  static_cast<float>(6 * 0.3),
                                     static_cast<float>(7 * 0.3),  static_cast<float>(3 * 0.07),
                                     static_cast<float>(6 * 0.07), static_cast<float>(12 * 0.07)};
  EXPECT_EQ(floats_of(model, "q"), wanted);
  EXPECT_NE(wanted[0], 3 * 0.3f);
}

TEST(Torch, TheOldestProtocolsAndLargeNumbers) {
  const std::string head = "L119547037146038801333356L\n.I1001\n.(dp0\nS'little_endian'\np1\nI01\ns.";
  const std::string positive =
      std::string("\x8A\x11") + std::string("\x00\x00\x00\x00\x00\x61\xF5\xB9\xAB\xBF\xA4\x5C\xC3\xF1\x29\x63\x1D", 17);
  const std::string negative =
      std::string("\x8A\x11") + std::string("\x00\x00\x00\x00\x00\x9F\x0A\x46\x54\x40\x5B\xA3\x3C\x0E\xD6\x9C\xE2", 17);
  const std::string content = pk::dict({{"a", pk::floats("k", 6)},
                                        {"binary", positive},
                                        {"negative", negative},
                                        {"line", "L10000000000000000000000000000000000000000L\n"}});
  const Bytes file =
      to_bytes(head + content + "." + pk::list({pk::text("k")}) + "." + pk::legacy_storage(6, pk::counted(6)));
  const Model model = opened(file);
  EXPECT_EQ(floats_of(model, "a"), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const std::string digits = "1" + std::string(40, '0');
  EXPECT_EQ(*model.metadata.find("binary"), Value(digits));
  EXPECT_EQ(*model.metadata.find("negative"), Value("-" + digits));
  EXPECT_EQ(*model.metadata.find("line"), Value(digits));
  // Protocol 0 cannot express which storage is meant.
  const std::string text_only = pk::dict({{"a", pk::view("P('storage', 'k')\n", 0, {1}, {1})}});
  EXPECT_EQ(rule_of([&] { opened(to_bytes(head + text_only + "." + pk::list({}) + ".")); }), "torch.persistent.text");
}

// A distributed checkpoint: boxes of one tensor, one after the other in a file.
struct Box {
  std::vector<std::int64_t> offsets, sizes;
  std::vector<std::string> info = {};  // description of the place: key, value, ...; empty: the correct one
};
std::string distributed_object(std::string_view name, const pk::Pairs& state) {
  return pk::global("torch.distributed.checkpoint.metadata", name) + ")\x81" + pk::dict(state) + "b";
}
std::string size_of_torch(const std::vector<std::int64_t>& sizes) {
  return pk::call(pk::global("torch", "Size"), {pk::integers(sizes)});
}
Files distributed(const std::vector<std::int64_t>& shape, const std::vector<Box>& boxes,
                  const std::vector<std::vector<float>>& values, std::string_view file = "a.distcp",
                  const std::string& type = "") {
  std::string data, chunks, places = "}";
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const auto& [offsets, sizes, info] = boxes[i];
    std::string bytes;
    for (const float value : values[i]) put<std::uint32_t>(bytes, std::bit_cast<std::uint32_t>(value));
    std::vector<std::int64_t> strides(sizes.size(), 1);
    for (std::size_t d = sizes.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * sizes[d + 1];
    const std::int64_t count = static_cast<std::int64_t>(values[i].size());
    const Bytes item = pk::archive(pk::view(pk::storage("FloatStorage", "0", count), 0, sizes, strides), {bytes});
    listed.push_back(distributed_object("ChunkStorageMetadata",
                                        {{"offsets", size_of_torch(offsets)}, {"sizes", size_of_torch(sizes)}}));
    pk::Pairs place = {{"relative_path", pk::text(file)},
                       {"offset", pk::integer(static_cast<std::int64_t>(data.size()))},
                       {"length", pk::integer(static_cast<std::int64_t>(item.size()))}};
    for (std::size_t k = 0; k + 1 < info.size(); k += 2) place.emplace_back(info[k], info[k + 1]);
    places += distributed_object("MetadataIndex", {{"fqn", pk::text("w")}, {"offset", size_of_torch(offsets)}}) +
              pk::global("torch.distributed.checkpoint.filesystem", "_StorageInfo") + ")\x81" + pk::dict(place) + "bs";
    data += to_text(item);
  }
  pk::Pairs facts = {{"size", size_of_torch(shape)}, {"chunks", pk::list(listed)}};
  if (!type.empty())  // (dtype, layout, requires_grad, ...)
    facts.emplace_back("properties", pk::global("torch.distributed.checkpoint.metadata", "TensorProperties") + ")\x81" +
                                         pk::tuple({pk::global("torch", type), pk::integer(0)}) + "b");
  const std::string tensor = distributed_object("TensorStorageMetadata", facts);
  const std::string all =
      distributed_object("Metadata", {{"state_dict_metadata", pk::dict({{"w", tensor}})}, {"storage_data", places}});
  return {{".metadata", to_bytes(pk::whole(all))}, {"a.distcp", to_bytes(data)}};
}

// Python 3.11 stores values of an enumeration by name, other versions by value.
TEST(Torch, ValuesOfEnumerationsArePlainData) {
  const std::string kind = pk::global("torch.distributed.checkpoint.metadata", "_MEM_FORMAT_ENCODING");
  const std::string named = pk::call(pk::global("builtins", "getattr"), {kind, pk::text("TORCH_CONTIGUOUS_FORMAT")});
  const std::string counted = pk::call(kind, {pk::integer(0)});
  const Model model = open(memory_source(
      pk::archive(pk::dict({{"w", pk::floats("0", 1)}, {"named", named}, {"counted", counted}}), {pk::counted(1)}),
      "it.pt"));
  EXPECT_EQ(model.tensors.size(), 1U);
  EXPECT_EQ(*model.metadata.find("named")->text(), "TORCH_CONTIGUOUS_FORMAT");
  EXPECT_EQ(*model.metadata.find("counted")->get<std::int64_t>(), 0);
}

TEST(Torch, ADistributedCheckpointIsOneModel) {
  const Scratch scratch;
  // 3 x 4 as a grid of four boxes.
  put_files(scratch / "d", distributed({3, 4}, {{{0, 0}, {2, 3}}, {{0, 3}, {2, 1}}, {{2, 0}, {1, 3}}, {{2, 3}, {1, 1}}},
                                       {{0, 1, 2, 4, 5, 6}, {3, 7}, {8, 9, 10}, {11}}));
  const Model model = open(scratch / "d");
  EXPECT_EQ(model.format, "torch");
  EXPECT_EQ(floats_of(model, "w"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  for (std::uint64_t at = 0; at < 48; ++at) {  // reads from any offset
    std::array<std::byte, 1> one;
    model.tensors[0].components[0].blob.read(at, one);
    EXPECT_EQ(one[0], model.tensors[0].components[0].blob.bytes()[at]) << at;
  }
  EXPECT_TRUE(verify(scratch / "d").ok(true));
}

// With a config and a tokenizer, it is an ordinary directory.
TEST(Torch, ADistributedCheckpointBesideAConfig) {
  const Scratch scratch;
  Files files = distributed({4}, {{{0}, {2}}, {{2}, {2}}}, {{0, 1}, {2, 3}});
  files["config.json"] = hf_config();
  put_files(scratch / "d", files);
  const Model model = open(scratch / "d");
  EXPECT_EQ(model.format, "hf");
  EXPECT_EQ(floats_of(model, "w"), (std::vector<float>{0, 1, 2, 3}));
  ASSERT_NE(model.attachment("config.json"), nullptr);
  EXPECT_EQ(model.attachment(".metadata"), nullptr);
  EXPECT_TRUE(verify(scratch / "d").ok(true));
  convert(scratch / "d", scratch / "out/");
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "out/.metadata"));
  EXPECT_EQ(content_digest(open(scratch / "out")), content_digest(model));
  // If there are safetensors next to it, they are the weights.
  put_file(scratch / "d/model.safetensors", hf_weights());
  EXPECT_EQ(open(scratch / "d").tensor("w") == nullptr, open(scratch / "d/model.safetensors").tensor("w") == nullptr);
}

// Processes that write safetensors leave neither an index nor .metadata.
TEST(Torch, ACheckpointInShardsOfSafetensorsIsOneModel) {
  const Scratch scratch;
  put_files(scratch / "d", split_good_case().files);
  const Model model = open(scratch / "d");
  ASSERT_EQ(model.tensors.size(), 1U);
  EXPECT_EQ(model.tensors[0].shape, (Shape{2, 4}));
  EXPECT_EQ(model.tensors[0].values<std::uint8_t>(), (std::vector<std::uint8_t>{0, 1, 2, 0, 3, 4, 5, 1}));
  EXPECT_EQ(model.metadata.find("DCP_SHARDING_INFO"), nullptr);
  const Verification result = verify(scratch / "d");
  EXPECT_TRUE(result.ok(true));
  EXPECT_TRUE(std::ranges::any_of(result.findings, [](const Finding& found) { return found.rule == "hf.split"; }));
  convert(scratch / "d", scratch / "out/");
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/model.safetensors"));
  EXPECT_EQ(content_digest(open(scratch / "out")), content_digest(model));
  for (const HfCase& bad : split_reject_cases()) {
    const Scratch other;
    put_files(other / "d", bad.files);
    EXPECT_EQ(rule_of([&] { open(other / "d"); }), bad.rule) << bad.name;
  }
}

TEST(Torch, DistributedCheckpointsThatDoNotFit) {
  const auto rule = [](const Files& files) {
    const Scratch scratch;
    put_files(scratch / "d", files);
    return rule_of([&] { open(scratch / "d"); });
  };
  const std::vector<std::vector<float>> two = {{0, 1}, {2, 3}};
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{2}, {2}}}, two)), "");
  EXPECT_EQ(rule(distributed({5}, {{{0}, {2}}, {{2}, {2}}}, two)), "torch.distributed.chunks");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{1}, {2}}}, two)), "torch.distributed.chunks");
  EXPECT_EQ(rule(distributed({3}, {{{0}, {2}}, {{2}, {2}}}, two)), "torch.distributed.chunks");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}, {"offset", pk::integer(1 << 20)}}, {{2}, {2}}}, two)),
            "torch.distributed.bounds");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{2}, {2}, {"offset", pk::integer(0)}}}, two)),
            "torch.distributed.overlap");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{2}, {2}, {"length", pk::integer(-1)}}}, two)),
            "torch.distributed.metadata");
  EXPECT_EQ(
      rule(distributed({4}, {{{0}, {2}}, {{2}, {2}, {"transform_descriptors", pk::list({pk::text("zstd")})}}}, two)),
      "torch.distributed.transform");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{2}, {2}}}, two, "../a.distcp")), "torch.distributed.file");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{2}, {2}}}, two, "a.distcp", "float32")), "");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{2}, {2}}}, two, "a.distcp", "int32")), "torch.distributed.type");
  EXPECT_EQ(rule(distributed({4}, {{{0}, {2}}, {{2}, {2}}}, two, "a.distcp", "float64")), "torch.distributed.type");
  {
    const Scratch scratch;
    put_files(scratch / "elsewhere", distributed({4}, {{{0}, {2}}, {{2}, {2}}}, two));
    put_files(scratch / "d", {{"a.distcp", get_file(scratch / "elsewhere/a.distcp")}});
    std::filesystem::create_symlink("../elsewhere/.metadata", scratch / "d/.metadata");
    EXPECT_EQ(rule_of([&] { open(scratch / "d"); }), "torch.distributed.file") << "a link out of the directory";
  }
  Files gone = distributed({4}, {{{0}, {2}}, {{2}, {2}}}, two, "b.distcp");
  EXPECT_EQ(rule(gone), "io.open.missing");
}

TEST(Torch, PicklesAreNotWritten) {
  const Scratch scratch;
  put_file(scratch / "it.pt", good("views"));
  const auto error = error_of([&] { convert(scratch / "it.pt", scratch / "out.pt"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->rule(), "convert.read_only");
  EXPECT_NE(error->sentence().find("safetensors"), std::string::npos) << error->sentence();
}

// Nested lists: a few more bytes at each level, but ten times the values.
TEST(Torch, LaughsTakeLittleMemory) {
  if (!kCountsMemory) GTEST_SKIP() << "memory is not counted under a sanitizer";
  for (const pk::Case& bad : pk::bad_pickles()) {
    if (!bad.rule.starts_with("open.")) continue;
    const std::size_t peak = peak_during([&] { error_of([&] { opened(bad.file); }); });
    EXPECT_LT(peak, std::size_t{64} << 20) << bad.name;
  }
}

}  // namespace
}  // namespace tare
