// The corpus in fuzz/corpus: made here, stored as files for the fuzzers, and checked against the rules in the file
// names.
#include "corpus.hpp"

#include <cstdlib>
#include <map>
#include <set>

#include "../fuzz/set.hpp"
#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "conformance/torch_cases.hpp"
#include "conformance/zt2_cases.hpp"
#include "conformance/zt_cases.hpp"
#include "formats/npy/header.hpp"

namespace tare {
namespace {

using namespace tare::testing;

constexpr std::size_t kMostBytes = std::size_t{64} << 10;

std::filesystem::path corpus_folder() {
  const char* const elsewhere = std::getenv("TARE_CORPUS");
  return elsewhere != nullptr ? std::filesystem::path(elsewhere)
                              : std::filesystem::path(TARE_TEST_DIR) / "../fuzz/corpus";
}

void add_format(Corpus& corpus, const Format& format) {
  const std::string folder = std::string(format.name) + "/valid.";
  const auto add = [&](const std::string& name, const Model& model, const WriteOptions& options = {}) {
    const Bytes bytes = write_bytes(format, model, compact(format, options));
    if (bytes.size() < kMostBytes) corpus[folder + name] = bytes;
  };
  add("small", small_model(format.holds));
  add("full", full_model(format.holds));
  if (format.holds.many_tensors && format.holds.architecture.empty()) add("empty", Model());
  if (format.holds.digests) add("digests", small_model(format.holds), {.digest = DigestAlgorithm::sha256});
  if (!format.holds.zstd) return;
  Model model = small_model(format.holds);
  model.tensors.push_back(dense("zeros", {1000}, DType::u8, Blob::memory(Bytes(1000))));
  add("zstd", model, {.zstd_level = 3, .digest = DigestAlgorithm::crc32c});
}

void add_resources(Corpus& corpus) {
  const auto add = [&](char kind, const std::string& name, const std::string& text) {
    corpus["resources/" + name] = to_bytes(kind + text);
  };
  add('\0', "config",
      R"({"model_type":"m","hidden_size":8,"rope_parameters":{"rope_theta":1e4},"text_config":{"n_layer":2}})");
  add('\1', "bpe",
      R"({"added_tokens":[{"id":3,"content":"<s>","special":true}],"decoder":{"type":"ByteLevel"},)"
      R"("model":{"type":"BPE","unk_token":null,"vocab":{"a":0,"b":1,"ab":2},"merges":["a b",["a","b"]]}})");
  add('\1', "unigram",
      R"({"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["<unk>",0],["<0x0A>",-1.5]]}})");
  add('\1', "wordpiece", R"({"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"##s":1}}})");
  add('\2', "pieces",
      std::string("\x0A\x0E\x0A\x05<unk>\x15\0\0\0\0\x18\x02", 16) +
          std::string("\x0A\x0A\x0A\x01\x61\x15\0\0\x80\xBF\x18\x01", 12));
  add('\3', "vocab_and_merges", std::string(R"({"a":0,"b":1,"ab":2})") + '\0' + "#version: 0.2\na b\n");
  add('\5', "added", std::string(R"({"model":{"type":"WordLevel","vocab":{"a":0}}})") + '\0' + R"({"<s>":1,"</s>":2})");
  add('\6', "decoder",
      std::string(R"({"model":{"type":"WordLevel","vocab":{"a":0}}})") + '\0' +
          R"({"added_tokens_decoder":{"1":{"content":"<s>","special":true}},"bos_token":"<s>","chat_template":"x"})");
  add('\7', "directory",
      std::string(1, '\0') + R"({"model_type":"llama","rope_scaling":{"type":"linear","factor":2}})" + '\0' + '\5' +
          R"({"a":0,"b":1,"ab":2})" + '\0' + '\6' + "a b\n" + '\0' + '\3' + R"({"bos_token":{"content":"a"}})");
  add('\4', "words", "[PAD]\n[UNK]\n[CLS]\na\n##b\n");
}

// Inputs of targets that read bytes as decisions: they have no meaning, only variety.
void add_scripts(Corpus& corpus) {
  for (const char* const target : {"codec", "roundtrip"})
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      Bytes script = noise(400, seed + 77);
      script[0] = static_cast<std::byte>(seed);  // the row of a table
      corpus[std::string(target) + "/" + std::to_string(seed)] = script;
    }
  // The input: the file's own format, viewed or read, two changes at the second and third access, the file.
  for (const Format& format : formats())
    for (const char viewed : {0, 1}) {
      const std::vector<Bytes> stored = stored_files(format);
      if (format.write == nullptr && stored.empty()) continue;
      const Bytes file = format.write == nullptr
                             ? *std::ranges::min_element(stored, {}, [](const Bytes& bytes) { return bytes.size(); })
                             : write_bytes(format, small_model(format.holds), compact(format));
      Bytes input = to_bytes(std::string{0, viewed, 2, 1, 9, 0, 127, 2, 70, 0, 3});
      input.insert(input.end(), file.begin(), file.end());
      corpus["changing/" + std::string(format.name) + (viewed != 0 ? ".viewed" : ".read")] = input;
    }
}

void add_syntaxes(Corpus& corpus) {
  corpus["cbor/tree"] = to_bytes(
      cbor::map({{"a", cbor::tag(1, cbor::number(5))}, {"b", cbor::indefinite_array({"\xF9\x3E", cbor::bytes("x")})}}));
  int number = 0;
  for (const char* const text :
       {R"({"a":[1,-2.5,null,true,"x"],"b":{"$bytes":"00ff"},"c":{"$f64":"7ff8000000000000"}})",
        R"({"$map":[["$bytes",{"$text":"ff"}],["k",{"$opaque":["cbor","c100"]}]]})",
        R"({"kind":"bpe","tokens":[["a",0,0],["b",1.5,5]],"merges":["a b"],"bos":0,"hidden_size":4})"})
    corpus["value_json/" + std::to_string(number++)] = to_bytes(text);
  number = 0;
  for (const char* const text :
       {"1", "1:2", "::-1", "...,0", "-1,None,1:10:3", "1:2:0", "9999999999999999999", "[", ":,:,:,:"})
    corpus["slice/" + std::to_string(number++)] = to_bytes(text);
  for (const char* const text : {"*\nlayer.0", "layer.[0-9].*\nlayer.1.w", "[!a]?\nbc", "[\n[", "\\*\n*"})
    corpus["glob/" + std::to_string(number++)] = to_bytes(text);
  // Requests to the server of `tare view`: method, Host, Origin, Sec-Fetch-Site, target.
  number = 0;
  for (const std::string target : {"overview",
                                   "layers?of=b",
                                   "treemap?width=300&height=200&under=layers.",
                                   "map?file=0&from=1&to=9",
                                   "bytes?from=0",
                                   "tensors?search=w&sort=bytes&way=down&from=1&count=2",
                                   "tree?under=layers.",
                                   "tensor?tensor=1",
                                   "block?tensor=1",
                                   "values?tensor=0&slice=1:3,::-2",
                                   "numbers?tensor=0&of=error",
                                   "heat?tensor=0&by=mean&top=1&bottom=9&left=2&right=40&height=4&width=5",
                                   "compare",
                                   "tokens?search=%23&what=tokens",
                                   "template",
                                   "metadata?at=0.1",
                                   "attachments?from=0",
                                   "attachment?attachment=0",
                                   "check",
                                   "reopen",
                                   "tensors?%41=%zz",
                                   "block?tensor=3&of=b",
                                   "block?tensor=q4_k",
                                   "compare?sort=relative_rms&way=down&only=changed&search=q4&plot=1&count=3",
                                   "compare?only=other&sort=type&from=1",
                                   "heat?tensor=k4&of=error&top=1&bottom=3",
                                   "heat?tensor=1&of=left&digits=3&by=mean",
                                   "values?tensor=qint4&of=right&slice=1,:8"})
    corpus["view/" + std::to_string(number++)] = to_bytes("GET\n127.0.0.1:1\n\nsame-origin\n/token/api/" + target);
  corpus["view/page"] = to_bytes("GET\n127.0.0.1:1\n\n\n/token/");
  corpus["view/foreign"] = to_bytes("POST\nevil.example\nhttp://evil.example\ncross-site\n/token/api/reopen");
  const Format& npz = *find_format("npz");
  corpus["zip/small"] = write_bytes(npz, small_model(npz.holds));
  for (const char* const descr : {"<f4", "|b1", ">i8", "<c16", "|V2"}) {
    Bytes header = npy::write_header(descr, {2, 3});
    corpus["npy_header/" + std::string(descr).substr(1)] = header;
  }
}

// A file of each format, and directories of each kind. fuzz/seeds.py makes the many that exceed limits.
void add_verbs_and_sets(Corpus& corpus) {
  for (const Format& format : formats()) {
    if (format.write == nullptr) continue;
    Bytes input = {std::byte{0}};  // every verb
    const Bytes file = write_bytes(format, small_model(format.holds), compact(format));
    input.insert(input.end(), file.begin(), file.end());
    corpus["verbs/" + std::string(format.name)] = input;
  }
  const auto add = [&](const std::string& name, const Files& files, const std::string& opened = "") {
    fuzz::Set set;
    for (const auto& [file, bytes] : files) {
      set.entries.push_back({file, false, bytes});
      if (file == opened) set.place = static_cast<std::uint8_t>(set.entries.size());
    }
    corpus["sets/" + name] = fuzz::pack_set(set);
  };
  add("downloaded", hf_good());
  add("split", split_good_case().files);
  add("pytorch", {{"config.json", hf_config()}, {"pytorch_model.bin", pk::good().front().second}});
  add("pipeline",
      {{"model_index.json", to_bytes(R"({"_class_name":"P","unet":["diffusers","U"],"vae":["diffusers","V"]})")},
       {"unet/config.json", to_bytes("{}")},
       {"unet/diffusion_pytorch_model.safetensors", hf_weights()},
       {"vae/config.json", to_bytes("{}")},
       {"vae/diffusion_pytorch_model.safetensors", hf_weights()}});
  add("adapter",
      {{"adapter_config.json", to_bytes(R"({"peft_type":"LORA","r":1,"lora_alpha":2})")},
       {"adapter_model.safetensors",
        st_file("{" + st_entry("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "F32", "1,4", 0, 16) +
                    "," +
                    st_entry("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", "F32", "4,1", 16, 32) +
                    "}",
                32)}});
  for (const Zt2Tree& tree : zt2_trees())
    if (tree.rule.empty()) add("zt2_" + tree.name, tree.files, "model.zt");
  for (const char* const name : {"gguf", "hf"}) {
    const Format& format = *find_format(name);
    const Scratch scratch;
    format.write_tree(full_model(format.holds), scratch / "d", {.shard_bytes = 9000}, false);
    add(std::string(name) + "_shards", files_in(scratch / "d"));
  }
}

Corpus make_corpus() {
  Corpus corpus;
  for (const Format& format : formats())
    if (format.write != nullptr) add_format(corpus, format);
  for (const auto add : corpus_parts()) add(corpus);
  add_resources(corpus);
  add_syntaxes(corpus);
  add_verbs_and_sets(corpus);
  add_scripts(corpus);
  return corpus;
}

TEST(Corpus, IsWhatTheCodeMakes) {
  const Corpus corpus = make_corpus();
  const bool record = std::getenv("TARE_RECORD") != nullptr;
  for (const auto& [name, bytes] : corpus) {
    EXPECT_LT(bytes.size(), kMostBytes) << name;
    const std::filesystem::path path = corpus_folder() / name;
    if (record) {
      std::filesystem::create_directories(path.parent_path());
      put_file(path, bytes);
    }
    ASSERT_TRUE(std::filesystem::exists(path)) << name << ": TARE_RECORD=1 writes it";
    // The output of a compressor changes with its version.
    if (to_text(bytes).find("\x28\xB5\x2F\xFD") != std::string::npos) continue;
    EXPECT_TRUE(get_file(path) == bytes) << name << ": TARE_RECORD=1 writes it anew";
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus_folder())) {
    if (!entry.is_regular_file() || entry.path().filename() == "README.md") continue;
    const std::string name = std::filesystem::relative(entry.path(), corpus_folder());
    const bool found = entry.path().filename().string().starts_with("found.");
    if (record && !found && !corpus.contains(name)) std::filesystem::remove(entry.path());
    EXPECT_TRUE(found || record || corpus.contains(name)) << name << " is a stray";
  }
}

TEST(Corpus, EveryFormatIsFuzzed) {
  for (const Format& format : formats())
    EXPECT_TRUE(std::filesystem::is_directory(corpus_folder() / format.name)) << format.name;
}

TEST(Corpus, EveryFolderIsDescribed) {
  const std::string page = to_text(get_file(corpus_folder() / "README.md"));
  for (const auto& entry : std::filesystem::directory_iterator(corpus_folder())) {
    const std::string name = entry.path().filename();
    const bool described = find_format(name) != nullptr || page.find("`" + name + "`") != std::string::npos;
    EXPECT_TRUE(!entry.is_directory() || described) << name;
  }
}

// Valid files pass a strict verification; all others break the rule in their name.
TEST(Corpus, FilesDoWhatTheirNamesSay) {
  std::map<std::string, int> seen;
  for (const Format& format : formats())
    for (const auto& entry : std::filesystem::directory_iterator(corpus_folder() / format.name)) {
      const std::string name = entry.path().filename();
      SCOPED_TRACE(std::string(format.name) + "/" + name);
      const Verification result = verify(entry.path());
      ++seen[name.substr(0, name.find('.'))];
      if (name.starts_with("valid.")) {
        EXPECT_TRUE(result.ok(true)) << result.findings.at(0).sentence;
        EXPECT_EQ(result.format, format.name);
      } else if (name.starts_with("reject.")) {
        EXPECT_TRUE(std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& f) {
          return name.starts_with("reject." + f.rule + ".");
        })) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
      }
    }
  EXPECT_GE(seen["valid"], 10);
  EXPECT_GE(seen["reject"], 150);
}

}  // namespace
}  // namespace tare
