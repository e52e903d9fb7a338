#include "formats/foreign_weights.hpp"

#include <algorithm>

#include "base/glob.hpp"

namespace tare {
namespace {

struct Magic {
  std::size_t at;
  std::string_view bytes;
  std::string_view words;
};

using namespace std::string_view_literals;

constexpr Magic kMagics[] = {
    {0, "algg"sv, "a GGLA file, an adapter in a form of llama.cpp's before GGUF"sv},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras and TensorFlow keep weights in them), which Tare cannot read yet"},
    {4, "TFL3"sv, "a TensorFlow Lite model, which Tare cannot read yet"},
    {64, "\xef\xbe\xad\xde"sv,
     "the weights of a Core ML model (weight.bin in an .mlpackage), which Tare cannot read yet"},
    {257, "ustar"sv, "a tar archive (a .nemo model is one); unpack it first"sv},
    {0,
     "\xfd"
     "7zXZ"sv,
     "xz data; unpack it first"sv},
    {0, "7z\xbc\xaf"sv, "a 7-Zip archive; unpack it first"sv},
    {0, "BZh"sv, "bzip2 data; unpack it first"sv},
    {0, "Rar!"sv, "a RAR archive; unpack it first"sv},
    {0, "PAR1"sv, "a Parquet file: a table of data, not a model"sv},
    {0, "SQLite format 3"sv, "a SQLite database, not a model"sv},
};

constexpr std::string_view kOnnx = "an ONNX model that is damaged or truncated; download it again";
constexpr std::string_view kCoreMl = "a Core ML model, which Tare cannot read yet";
constexpr std::string_view kFlax = "Flax weights (msgpack), which Tare cannot read yet";
constexpr std::string_view kTorch =
    "a zip archive with a PyTorch file's members, and others before them; save it again with PyTorch";
constexpr std::string_view kTorchScript =
    "a TorchScript program (torch.jit.save), which is more than tensors; save its state_dict() with PyTorch";
constexpr std::string_view kExported =
    "an exported PyTorch program (.pt2), which is more than tensors; save its state_dict() with PyTorch";
constexpr std::string_view kKeras = "a Keras model (.keras), which Tare cannot read yet";

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::size_t byte_at(std::string_view head, std::size_t at) {
  return at < head.size() ? static_cast<unsigned char>(head[at]) : 0;
}

// A protobuf message whose field 1 is a small number (ir_version or specificationVersion): both formats begin so. Field
// 2 is text in ONNX (the producer's name) and a message in Core ML (a description).
std::string_view as_protobuf(std::string_view head) {
  const std::size_t version = byte_at(head, 1), length = byte_at(head, 3);
  if (head.size() < 8 || head[0] != '\x08' || version == 0 || version > 40) return {};
  if (head[2] == '\x12' && length > 0 && length < 64 && head.size() >= 4 + length)
    return is_printable(head.substr(4, length)) ? kOnnx : kCoreMl;
  return head[2] == '\x3a' ? kOnnx : std::string_view();
}

// Whether it is a map whose first key is a short text.
bool is_msgpack_map(std::string_view head) {
  const std::size_t first = byte_at(head, 0);
  std::size_t at = 1;
  if (first == 0xde) at = 3;
  if (first == 0xdf) at = 5;
  if ((first & 0xf0) != 0x80 && at == 1) return false;
  std::size_t length = byte_at(head, at);
  if (length == 0xd9)
    length = byte_at(head, ++at);
  else if ((length & 0xe0) == 0xa0)
    length &= 0x1f;
  else
    return false;
  return length > 0 && head.size() > at + length && is_printable(head.substr(at + 1, length));
}

struct NamedWeights {
  std::string_view pattern, words;
};

constexpr NamedWeights kNames[] = {
    {"*.pt2", "an exported PyTorch program"},
    {"*.ggml", "GGML"},
    {"*.onnx", "ONNX"},
    {"*.h5", "HDF5"},
    {"*.hdf5", "HDF5"},
    {"*.keras", "Keras"},
    {"*.msgpack", "Flax"},
    {"*.tflite", "TensorFlow Lite"},
    {"saved_model.pb", "TensorFlow"},
    {"*.ckpt.index", "TensorFlow"},
    {"*.mlmodel", "Core ML"},
    {"*.nemo", "NeMo"},
    {"openvino_model*.xml", "OpenVINO"},
    {"*.pdparams", "Paddle's format"},
    {"*.pkl", "a Python pickle"},
    {"*.joblib", "a Python pickle"},
};

}  // namespace

std::string_view foreign_lookalike(std::string_view head, std::string_view name) {
  for (const Magic& magic : kMagics)
    if (head.size() >= magic.at + magic.bytes.size() && head.substr(magic.at, magic.bytes.size()) == magic.bytes)
      return magic.words;
  if (const std::string_view words = as_protobuf(head); !words.empty())
    return name.ends_with(".mlmodel") ? kCoreMl : words;
  if (is_msgpack_map(head)) return kFlax;
  return {};
}

std::string_view archive_lookalike(std::span<const std::string> members) {
  bool data = false, script = false, exported = false, keras = false;
  for (const std::string& name : members) {
    data = data || name.ends_with("/data.pkl");
    script = script || name.ends_with("/constants.pkl") || name.find("/code/") != std::string::npos;
    exported = exported || name.ends_with("archive_format") || name == "serialized_exported_program.json";
    keras = keras || name.ends_with("model.weights.h5");
  }
  if (exported) return kExported;
  if (script) return kTorchScript;
  if (data) return kTorch;
  if (keras) return kKeras;
  return {};
}

std::string_view foreign_weights(std::string_view file_name) {
  const auto* const row = std::find_if(std::begin(kNames), std::end(kNames),
                                       [&](const NamedWeights& r) { return glob_match(r.pattern, file_name); });
  return row == std::end(kNames) ? std::string_view() : row->words;
}

}  // namespace tare
