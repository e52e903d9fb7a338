// ONNX models, .onnx: one message of Protocol Buffers (onnx.proto).
//
//   ModelProto   ir_version, graph, opset_import, producer, metadata_props
//   GraphProto   nodes; initializers, each a TensorProto; sparse initializers
//   NodeProto    operator, inputs, outputs; attributes, which may be tensors or graphs
//   TensorProto  dims, data_type, and the elements: raw_data, a typed field, or a place in a file next to the model
// read.cpp and tensors.cpp begin with the numbers of the fields.
//
// A Model has the tensors: initializers of all graphs, also those inside of nodes (the branches of If, the bodies of
// Loop), of functions and of training, and the outputs of Constant nodes. Names are as they are; if a second graph has a
// name again, the path of nodes to the graph is put before it. Their bytes are ranges of the file, or of the files with
// external data, which must be in the model's folder (external.cpp). int4, uint4, int2 and uint2 are unpacked to i8 and
// u8 while they are read. metadata_props are the metadata; what the file states about itself has keys with "onnx.".
//
// The matrices of MatMulNBits nodes, blocks of codes with scales, are stated in the metadata as a config would state
// them, and become packed weights (codecs/packs/nbits.cpp).
//
// Refused: tensors of strings, segments, data in two places. The nodes themselves are not read, and writing is not
// possible: a Model does not know how its weights are used.
#include "formats/onnx/onnx.hpp"

#include "formats/rows.hpp"
#include "model/element_types.hpp"

namespace tare::onnx {
namespace {

// The types of ModelProto's fields; nothing for a number that it does not have.
std::optional<Wire> type_of_field(std::uint32_t number) {
  switch (number) {
    case 1:
    case 5: return Wire::varint;
    case 2:
    case 3:
    case 4:
    case 6:
    case 7:
    case 8:
    case 14:
    case 20:
    case 25:
    case 26: return Wire::bytes;
    default: return std::nullopt;
  }
}

// There is no magic: the first fields must be those of a model, with their types, among them the version and the graph.
bool recognize(const Source& source) {
  constexpr int kMostFields = 64;
  bool version = false;
  try {
    io::Window window(source, 512);
    Fields fields(window, {0, source.size()});
    for (int i = 0; i < kMostFields; ++i) {
      const auto field = fields.next();
      if (!field) return false;
      const auto type = type_of_field(field->number);
      if (!type || *type != field->type) return false;
      if (field->number == 1) version = field->value > 0 && field->value < 1000;
      if (field->number == 7) {
        if (!version) continue;  // it may follow
        // The graph begins with a field of its own: a node, a name, a tensor and so on, all of them messages or text.
        Fields graph(window, field->range);
        const auto first = graph.next();
        return !first || (first->type == Wire::bytes && first->number <= 16);
      }
    }
  } catch (const Error&) {
    return false;
  }
  return false;
}

constexpr std::string_view kSuffixes[] = {".onnx"};
constexpr std::string_view kLayouts[] = {"dense", "sparse_coo", "packed.f4_e2m1", "packed.f6_e2m3", "packed.f6_e3m2"};
constexpr OwnKey kOwnKeys[] = {
    {.key = kVersionKey, .about_file = true},         {.key = kProducerKey, .about_file = true},
    {.key = kProducerVersionKey, .about_file = true}, {.key = kDomainKey, .about_file = true},
    {.key = kModelVersionKey, .about_file = true},    {.key = kDocKey, .about_file = true},
    {.key = kOpsetsKey, .about_file = true},          {.key = kGraphKey, .about_file = true}};

}  // namespace

constinit const Format kFormat = {
    .name = "onnx",
    .title = "ONNX",
    .versions = "reads the tensors of all IR versions, with external data; not the nodes; write safetensors instead",
    .suffixes = kSuffixes,
    .holds = {.dtypes = kAllDTypes, .logical_types = kLogicalNames, .layouts = kLayouts, .metadata = Room::tree},
    .recognize = recognize,
    .read = read,
    .own_keys = kOwnKeys,
};

}  // namespace tare::onnx
