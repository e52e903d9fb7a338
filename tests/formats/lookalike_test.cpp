// Errors for files and directories of other kinds name what they are.
#include "conformance/hf_cases.hpp"
#include "conformance/models.hpp"
#include "formats/foreign_weights.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace std::string_literals;
namespace fs = std::filesystem;

std::string sentence_about(const std::string& path) {
  const auto error = error_of([&] { open(path); });
  return error ? error->sentence() : "";
}

TEST(Lookalike, WeightsOfOtherPrograms) {
  const Scratch scratch(Scratch::fast_place());
  std::string tar(512, '\0');
  tar.replace(0, 10, "weights.pt");
  tar.replace(257, 5, "ustar");
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"ggml.bin", "algg\3\0\0\0"s, "a GGLA file"},
      {"tf_model.h5", "\x89HDF\r\n\x1a\n"s + std::string(64, '\0'), "an HDF5 file"},
      {"m.tflite", "\x1c\0\0\0TFL3"s + std::string(64, '\0'), "a TensorFlow Lite model"},
      {"m.nemo", tar, "a tar archive"},
      {"weight.bin", "\2\0\0\0\2\0\0\0"s + std::string(56, '\0') + "\xef\xbe\xad\xde\1\0\0\0"s,
       "the weights of a Core ML model"},
      {"truncated",
       "\x08\x08\x12\x07pytorch\x1a\x05"
       "2.1.0:"s,
       "an ONNX model"},
      {"model", "\x08\x09:\xaa\x01\x0a\x02"s + std::string(16, 'x'), "an ONNX model"},
      {"m.mlmodel", "\x08\x04\x12\x1e\x0a\x0d\x0a\x05input"s + std::string(64, '\1'), "a Core ML model"},
      {"flax_model.msgpack",
       "\x81\xa6params\x82\xa5"
       "dense"s,
       "Flax weights"},
      {"m.xz",
       "\xfd"
       "7zXZ\0"s,
       "xz data"},
      {"words", "just some words", "not a format Tare knows (first bytes 6a 75 73 74 20 73 6f 6d)"},
      {"config.json", R"({"model_type": "llama"})", "a model's config; give the directory, not its config.json"},
  };
  int number = 0;
  for (const auto& [name, bytes, words] : cases) {
    const std::string folder = scratch / std::to_string(++number);
    put_files(folder, {{name, to_bytes(bytes)}});
    const std::string path = folder + "/" + name;
    EXPECT_TRUE(sentence_about(path).starts_with(words)) << name << ": " << sentence_about(path);
    EXPECT_EQ(rule_of([&] { open(path); }), "open.unrecognized") << name;
  }
}

TEST(Lookalike, ZipArchives) {
  const Scratch scratch(Scratch::fast_place());
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"a.txt", "archive/data.pkl", "archive/data/0", "archive/version"}, "a zip archive with a PyTorch file's"},
      {{"m/data.pkl", "m/code/__torch__.py", "m/constants.pkl"}, "a TorchScript program"},
      {{"m/code/__torch__.py", "m/data.pkl"}, "a TorchScript program"},
      {{"m/archive_format", "m/data/weights/weight_0"}, "an exported PyTorch program"},
      {{"metadata.json", "config.json", "model.weights.h5"}, "a Keras model"},
      {{"a.txt", "b.txt"}, "a zip archive with 2 members, none of them an array"},
  };
  for (const auto& [names, words] : cases)
    for (const char* const file : {"m.pt", "pytorch_model.bin", "m.npz", "m"}) {
      std::vector<MadeMember> members;
      for (const std::string& name : names) members.push_back(made(name, "x"));
      put_file(scratch / file, to_bytes(make_zip(members).bytes));
      EXPECT_TRUE(sentence_about(scratch / file).starts_with(words)) << file << ": " << sentence_about(scratch / file);
      // An archive of another program is not called an archive of arrays.
      const std::string rule = rule_of([&] { open(scratch / file); });
      if (words.starts_with("a zip archive with 2"))
        EXPECT_EQ(rule, "npz.no_array") << file;
      else
        EXPECT_TRUE(rule == "open.unrecognized" || rule.starts_with("torch.")) << file << ": " << words << " " << rule;
    }
}

TEST(Lookalike, Directories) {
  const Scratch scratch(Scratch::fast_place());
  const Bytes weights = hf_weights();
  const std::pair<Files, std::string> cases[] = {
      {{{"model_index.json", to_bytes("{}")},
        {"unet/config.json", hf_config()},
        {"unet/diffusion_pytorch_model.safetensors", weights},
        {"vae/diffusion_pytorch_model.safetensors", weights},
        {"tokenizer/vocab.json", to_bytes("{}")}},
       "this directory holds no model; there are models in unet/, vae/: use one of these paths"},
      {{{"blobs/x", weights}, {"refs/main", to_bytes("abc")}, {"snapshots/abc/model.safetensors", weights}},
       "this directory holds no model; there is one in snapshots/abc/: use that path"},
      {{{"a.h5", weights}, {"b.keras", weights}},
       "a directory without weights that Tare reads; there are a.h5 (HDF5), b.keras (Keras)"},
      {{{"a.ggml", weights}, {"b.onnx", weights}},
       "not a directory in Hugging Face's layout; give one of its files: a.ggml, b.onnx"},
      {{{"model.zt", weights}}, "not a directory in Hugging Face's layout; give one of its files: model.zt"},
      {{{"README.md", weights}},
       "a directory without a model: it has no config.json, no tokenizer and no weights that Tare reads"},
  };
  int number = 0;
  for (const auto& [files, words] : cases) {
    const std::string path = scratch / std::to_string(++number);
    put_files(path, files);
    EXPECT_EQ(sentence_about(path), words);
    EXPECT_EQ(rule_of([&] { open(path); }), "open.directory");
  }
  put_files(scratch / "g", {{"config.json", hf_config()}, {"tf_model.h5", weights}});
  EXPECT_EQ(sentence_about(scratch / "g"),
            "there are no weights that Tare can read; tf_model.h5 (HDF5) is there; download the model's "
            "model.safetensors");
}

}  // namespace
}  // namespace tare
