// Stores of other programs: Ollama's, by names; llamafiles; LM Studio's and llama.cpp's directories, by paths.
#include <cstdlib>
#include <filesystem>
#include <set>

#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "formats/ollama.hpp"
#include "tare/convert.hpp"
#include "tare/metadata.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Bytes gguf_file() {
  const Format& format = *find_format("gguf");
  return write_bytes(format, small_model(format.holds));
}

std::string sha256_of(const Bytes& bytes) { return digest_of(DigestAlgorithm::sha256, bytes).hex(); }

// A store in a folder of its own, named by the environment until it is destroyed. (Tests of one program run one after
// another.)
class Store {
 public:
  Store() { ::setenv("OLLAMA_MODELS", path().c_str(), 1); }
  ~Store() { ::unsetenv("OLLAMA_MODELS"); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  std::string path() const { return scratch_ / "models"; }
  std::string blob_path(const Bytes& bytes) const { return path() + "/blobs/sha256-" + sha256_of(bytes); }
  // Adds a blob and returns its layer.
  std::string layer(const std::string& kind, const Bytes& bytes, const std::string& name = "") const {
    put_files(path(), {{"blobs/sha256-" + sha256_of(bytes), bytes}});
    return R"({"mediaType":"application/vnd.ollama.image.)" + kind + R"(","digest":"sha256:)" + sha256_of(bytes) +
           R"(","size":)" + std::to_string(bytes.size()) + (name.empty() ? "" : R"(,"name":")" + name + '"') + "}";
  }
  void manifest(const std::string& place, const std::vector<std::string>& layers, const std::string& more = "") const {
    std::string text = R"({"schemaVersion":2,"layers":[)";
    for (std::size_t i = 0; i < layers.size(); ++i) text += (i == 0 ? "" : ",") + layers[i];
    put_files(path() + "/manifests", {{place, to_bytes(text + "]" + more + "}")}});
  }

 private:
  Scratch scratch_;
};

TEST(Ollama, AModelOfOneFile) {
  const Store store;
  const Bytes weights = gguf_file();
  store.manifest("registry.example/library/tiny/latest",
                 {store.layer("model", weights), store.layer("template", to_bytes("{{ .Prompt }}")),
                  store.layer("params", to_bytes(R"({"stop":["x"]})")), store.layer("license", to_bytes("one")),
                  store.layer("license", to_bytes("two")), store.layer("system", to_bytes("Be kind.")),
                  store.layer("projector", to_bytes("other weights"))},
                 R"(,"config":)" + store.layer("config", to_bytes(R"({"model_family":"llama"})")));
  for (const char* const name :
       {"ollama:tiny", "ollama:tiny:latest", "ollama:library/tiny", "ollama:registry.example/library/tiny:latest"}) {
    const Model model = open(name);
    EXPECT_EQ(model.format, "gguf") << name;
    EXPECT_EQ(content_digest(model), content_digest(open(memory_source(weights, "x")))) << name;
    EXPECT_EQ(to_text(model.attachment("ollama/system")->blob.bytes()), "Be kind.");
    EXPECT_EQ(to_text(model.attachment("ollama/license.2")->blob.bytes()), "two");
    EXPECT_NE(model.attachment("ollama/template"), nullptr);
    EXPECT_NE(model.attachment("ollama/params.json"), nullptr);
    EXPECT_EQ(to_json(*model.metadata.find("ollama.config")), R"({"model_family":"llama"})");
    EXPECT_TRUE(verify(name).ok(false)) << name;
  }
  const auto listed = ollama::list();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].name, "ollama:registry.example/library/tiny:latest");
  EXPECT_GT(listed[0].bytes, weights.size());
}

TEST(Ollama, AFilePerTensor) {
  const Store store;
  const auto tensor = [&](const std::string& name) {
    return store.layer("tensor", st_file("{" + st_entry(name, "F32", "2", 0, 8) + "}", 8), name);
  };
  store.manifest("h/library/parts/8b",
                 {tensor("a.weight"), tensor("b.weight"), store.layer("json", hf_config(), "config.json"),
                  store.layer("json", hf_tokenizer(), "tokenizer.json")});
  const Model model = open("ollama:parts:8b");
  ASSERT_EQ(model.tensors.size(), 2U);
  EXPECT_EQ(model.tensors[1].name, "b.weight");
  EXPECT_EQ(model.config.hidden_size, 2);
  EXPECT_EQ(model.vocabulary.tokens.size(), 3U);
  EXPECT_TRUE(verify("ollama:parts:8b").ok(false));
}

TEST(Ollama, WhatIsRefused) {
  const Store store;
  const Bytes weights = gguf_file();
  const std::string model = store.layer("model", weights);
  const std::string place = "h/library/m/latest";
  const auto rule = [](const std::string& name) { return rule_of([&] { static_cast<void>(open(name)); }); };
  for (const char* const name : {"ollama:", "ollama:a/b/c/d", "ollama:../m", "ollama:m:", "ollama:m:../x", "ollama:a b",
                                 "ollama:.m", "ollama:/m", "ollama:h//m"})
    EXPECT_EQ(rule(name), "ollama.name") << name;
  EXPECT_EQ(rule("ollama:none"), "ollama.missing");
  store.manifest(place, {});
  EXPECT_EQ(rule("ollama:m"), "ollama.layers");
  store.manifest(place, {model, model});
  EXPECT_EQ(rule("ollama:m"), "ollama.layers");
  put_files(store.path(), {{"manifests/" + place, to_bytes("[]")}});
  EXPECT_NE(rule("ollama:m"), "");
  put_files(store.path(), {{"manifests/" + place, to_bytes("{}")}});
  EXPECT_EQ(rule("ollama:m"), "ollama.manifest");
  store.manifest(place, {R"({"mediaType":"application/vnd.ollama.image.model","digest":"sha256:../../x"})"});
  EXPECT_EQ(rule("ollama:m"), "ollama.digest");
  store.manifest(
      place, {R"({"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" + std::string(64, '0') + "\"}"});
  EXPECT_EQ(rule("ollama:m"), "ollama.blob.missing");
  store.manifest(place, {model});
  store.manifest("g/library/m/latest", {model});
  EXPECT_EQ(rule("ollama:m"), "ollama.ambiguous");
  EXPECT_EQ(rule("ollama:h/library/m"), "");
  // Damaged, truncated, a link that leads out of the store.
  Bytes damaged = weights;
  damaged.back() ^= std::byte{1};
  put_file(store.blob_path(weights), damaged);
  EXPECT_EQ(rule("ollama:h/library/m"), "");
  const Verification found = verify("ollama:h/library/m");
  EXPECT_TRUE(std::ranges::any_of(found.findings, [](const Finding& f) { return f.rule == "ollama.blob.digest"; }));
  damaged.pop_back();
  put_file(store.blob_path(weights), damaged);
  EXPECT_EQ(rule("ollama:h/library/m"), "ollama.blob.size");
  const Scratch outside;
  put_file(outside / "w", weights);
  std::filesystem::remove(store.blob_path(weights));
  std::filesystem::create_symlink(outside / "w", store.blob_path(weights));
  EXPECT_EQ(rule("ollama:h/library/m"), "io.open.outside");
}

// Neither a name nor a blob is written to, whatever is asked.
TEST(Ollama, ManyLayersOfOneKind) {
  const Store store;
  std::vector<std::string> layers = {store.layer("model", gguf_file())};
  const std::string text = store.layer("license", to_bytes("the same"));
  constexpr std::size_t kMany = 300;
  for (std::size_t i = 0; i < kMany; ++i) layers.push_back(text);
  // A name that is taken already.
  layers.insert(layers.begin() + 1, store.layer("json", to_bytes("{}"), "ollama/license.7"));
  store.manifest("registry.example/library/many/latest", layers);
  const Model model = open("ollama:many");
  std::set<std::string> names;
  for (const Attachment& file : model.attachments) names.insert(file.name);
  EXPECT_EQ(names.size(), model.attachments.size());
  EXPECT_EQ(names.count("ollama/license") + names.count("ollama/license.2") + names.count("ollama/license.301"), 3U);
  // The same bytes are opened once.
  EXPECT_EQ(model.sources.size(), 4U);
}

TEST(Ollama, AStoreIsNeverChanged) {
  const Store store;
  const Bytes weights = gguf_file();
  store.manifest("h/library/m/latest", {store.layer("model", weights)});
  const Files before = files_in(store.path());
  const Scratch scratch;
  put_file(scratch / "in.gguf", weights);
  const auto rule = [&](const std::string& output) {
    return rule_of([&] { static_cast<void>(convert(scratch / "in.gguf", output, {.to = "gguf", .overwrite = true})); });
  };
  EXPECT_EQ(rule("ollama:m"), "ollama.write");
  EXPECT_EQ(rule(store.blob_path(weights)), "io.sink.store");
  EXPECT_EQ(rule_of([&] { ollama::refuse_stored(store.blob_path(weights), "changed"); }), "ollama.write");
  EXPECT_TRUE(files_in(store.path()) == before);
  EXPECT_FALSE(std::filesystem::exists("ollama:m"));
  // Reading works, into any container.
  static_cast<void>(convert("ollama:m", scratch / "out.safetensors", {}));
  EXPECT_EQ(content_digest(open(scratch / "out.safetensors")), content_digest(open("ollama:m")));
}

TEST(Ollama, EveryTruncationOfAManifestIsAnError) {
  const Store store;
  const std::string place = store.path() + "/manifests/h/library/m/latest";
  store.manifest("h/library/m/latest", {store.layer("model", gguf_file())});
  const Bytes whole = get_file(place);
  const std::size_t tensors = open("ollama:m").tensors.size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put_file(place, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_NE(rule_of([&] { static_cast<void>(open("ollama:m")); }), "") << size;
  }
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    put_file(place, flipped);
    // It is an Error, or the model as before.
    try {
      EXPECT_EQ(open("ollama:m").tensors.size(), tensors);
    } catch (const Error&) {
    }
  }
}

// A program, then an archive with these members.
Bytes llamafile(const std::vector<MadeMember>& members, std::string head = "MZqFpD='\n") {
  head.resize(4096, ' ');
  const auto zip = make_zip(members);
  std::string bytes = zip.bytes;
  // Offsets in the archive count from the beginning of the file.
  const auto add = [&](std::size_t at) {
    std::uint32_t value = load_le<std::uint32_t>(bytes.data() + at) + static_cast<std::uint32_t>(head.size());
    store_le(bytes.data() + at, value);
  };
  for (std::size_t at = bytes.find("PK\1\2"); at != std::string::npos; at = bytes.find("PK\1\2", at + 4)) add(at + 42);
  add(bytes.rfind("PK\5\6") + 16);
  return bytes_of(head + bytes);
}

TEST(Llamafile, IsOpenedInPlace) {
  const Scratch scratch;
  const Bytes weights = gguf_file();
  const std::string path = scratch / "run.llamafile";
  put_file(path, llamafile({made(".args", "-m\nmodel.gguf\n..."), made("model.gguf", text_of(weights))}));
  const Model model = open(path), inner = open(memory_source(weights, "x"));
  EXPECT_EQ(model.format, "gguf");
  EXPECT_EQ(content_digest(model), content_digest(inner));
  ASSERT_EQ(model.sources.size(), 1U);
  EXPECT_EQ(model.sources[0]->size(), std::filesystem::file_size(path));
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    const Blob& blob = model.tensors[i].components[0].blob;
    EXPECT_EQ(blob.source(), model.sources[0]);
    EXPECT_TRUE(blob.view().has_value());
    EXPECT_TRUE(blob.bytes() == inner.tensors[i].components[0].blob.bytes());
  }
  EXPECT_EQ(*model.metadata.get<std::string>("llamafile.member"), "model.gguf");
  EXPECT_TRUE(verify(path).ok(false));
  static_cast<void>(convert(path, scratch / "out.safetensors", {}));
  EXPECT_EQ(content_digest(open(scratch / "out.safetensors")), content_digest(inner));
}

TEST(Llamafile, WhatIsRefused) {
  const std::string weights = text_of(gguf_file());
  const auto rule = [](const Bytes& bytes) {
    return rule_of([&] { static_cast<void>(open(memory_source(bytes, "it"))); });
  };
  EXPECT_EQ(rule(llamafile({made("a.gguf", weights), made("b.gguf", weights)})), "llamafile.several");
  EXPECT_EQ(rule(llamafile({made(".args", "-m\nb.gguf\n"), made("a.gguf", "x"), made("b.gguf", weights)})), "");
  EXPECT_EQ(rule(llamafile({made("a.gguf", weights, true)})), "llamafile.compressed");
  EXPECT_EQ(rule(llamafile({made("a.gguf", "not a model at all")})), "llamafile.model");
  EXPECT_EQ(rule(llamafile({made("a.txt", "x")})), "open.unrecognized");
  // A model inside of a model inside of a program is not looked for.
  EXPECT_EQ(rule(llamafile({made("a.gguf", text_of(llamafile({made("b.gguf", weights)})))})), "llamafile.model");
}

TEST(Llamafile, EveryTruncationIsAnError) {
  const Bytes whole = llamafile({made("model.gguf", text_of(gguf_file()))});
  for (std::size_t size = 0; size < whole.size(); size += 7)
    EXPECT_NE(rule_of([&] {
                static_cast<void>(
                    open(memory_source(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), "it")));
              }),
              "")
        << size;
}

TEST(Stores, DirectoriesOfOtherProgramsAreOpenedByPath) {
  const Scratch scratch;
  const Bytes weights = gguf_file();
  put_files(scratch / "lmstudio/models/someone/Tiny-GGUF", {{"Tiny-Q8_0.gguf", weights}});
  put_files(scratch / "cache/llama.cpp", {{"someone_Tiny-GGUF_Tiny-Q8_0.gguf", weights},
                                          {"someone_Tiny-GGUF_Tiny-Q8_0.gguf.json", to_bytes("{}")},
                                          {"manifest=someone=Tiny-GGUF=latest.json", to_bytes("{}")}});
  for (const char* const path :
       {"lmstudio/models/someone/Tiny-GGUF/Tiny-Q8_0.gguf", "lmstudio/models/someone/Tiny-GGUF",
        "cache/llama.cpp/someone_Tiny-GGUF_Tiny-Q8_0.gguf"})
    EXPECT_EQ(content_digest(open(scratch / path)), content_digest(open(memory_source(weights, "x")))) << path;
}

}  // namespace
}  // namespace tare
