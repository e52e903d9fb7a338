// ONNX models: what the files of this folder share. onnx.cpp has the byte map.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "io/links.hpp"
#include "io/metadata.hpp"
#include "wire/protobuf_file.hpp"

namespace tare::onnx {

using wire::FileRange;
using Fields = wire::ProtobufFileReader;
using Wire = wire::ProtobufFileReader::Type;

inline constexpr std::uint64_t kMostText = std::uint64_t{1} << 20;  // bytes of a name, a key or a location

// ---- types.cpp ----

// The field of TensorProto with the elements of a type, if they are not raw bytes; its number is the enumerator.
enum class Typed : std::uint8_t { floats = 4, int32s = 5, strings = 6, int64s = 7, doubles = 10, uint64s = 11 };

struct ElementType {
  std::uint32_t number;   // TensorProto.DataType
  std::string_view name;  // as in onnx.proto
  unsigned bits;          // bits of an element in raw bytes
  DType dtype;            // what it is read as; of a type of fewer than 8 bits, once it is unpacked
  std::string_view type;  // likewise, the logical type
  Typed field;
  std::string_view layout = {};  // for elements of fewer than 8 bits that stay packed
};
// Null if ONNX has no such type.
const ElementType* find_element(std::uint64_t number);

// Elements of 2, 4 or 6 bits, the first in the lowest bits, as one byte each: integers as themselves, floats as
// f8_e4m3fn, which has all their values.
Blob unpacked(Blob packed, const ElementType& type, std::uint64_t elements);

// ---- external.cpp ----

// The files with the data of tensors next to a model. Only those in its folder, or below, are read.
class ExternalFiles {
 public:
  ExternalFiles(SourcePtr model, const ReadOptions& options) : model_(std::move(model)), options_(options) {}
  // Opens each file once. Throws `onnx.external.*`, or `io.open.outside` for a link that leads out of the folder.
  SourcePtr open(const std::string& location);
  // The files that were opened, in this order.
  const std::vector<SourcePtr>& opened() const { return opened_; }

 private:
  SourcePtr model_;
  const ReadOptions& options_;
  std::optional<Links> links_;
  std::map<std::string, SourcePtr> files_;
  std::vector<SourcePtr> opened_;
};

// ---- tensors.cpp ----

// What the messages of a file are read with.
struct Context {
  SourcePtr source;
  const ReadOptions& options;
  io::Window window;
  ExternalFiles external;
};

// A string of the file. Throws limit `onnx.text` if it is longer than kMostText.
std::string text_of(Context& context, FileRange range);
// The name of a TensorProto (field 8).
std::string name_of_tensor(Context& context, FileRange message);
// Throws an Error about the tensor.
Tensor tensor_of(Context& context, FileRange message);
// The same for a SparseTensorProto; its name is that of its values.
Tensor sparse_tensor_of(Context& context, FileRange message);
std::string name_of_sparse(Context& context, FileRange message);

// ---- read.cpp ----

Model read(const Input& input, const ReadOptions& options);

inline constexpr std::string_view kVersionKey = "onnx.ir_version", kProducerKey = "onnx.producer_name",
                                  kProducerVersionKey = "onnx.producer_version", kDomainKey = "onnx.domain",
                                  kModelVersionKey = "onnx.model_version", kDocKey = "onnx.doc_string",
                                  kOpsetsKey = "onnx.opset_import", kGraphKey = "onnx.graph_name";

}  // namespace tare::onnx
