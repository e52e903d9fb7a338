// Walks over the messages of a model: its graphs, their nodes, and the tensors in both.
//
//   ModelProto      1 ir_version, 2 producer_name, 3 producer_version, 4 domain, 5 model_version, 6 doc_string, 7 graph,
//                   8 opset_import (1 domain, 2 version), 14 metadata_props (1 key, 2 value), 20 training_info
//                   (1 initialization, 2 algorithm: graphs), 25 functions (1 name, 7 node)
//   GraphProto      1 node, 2 name, 5 initializer, 15 sparse_initializer
//   NodeProto       1 input, 2 output, 3 name, 4 op_type, 5 attribute, 7 domain
//   AttributeProto  1 name, 2 f, 3 i, 4 s, 5 t, 6 g, 7 floats, 8 ints, 9 strings, 11 graphs, 22 sparse_tensor
#include <fmt/format.h>

#include "base/budget.hpp"
#include "base/endian.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/onnx/onnx.hpp"
#include "formats/registry_limits.hpp"

namespace tare::onnx {
namespace {

constexpr std::string_view kPackedMethod = "matmulnbits", kPackedDomain = "com.microsoft", kPackedOp = "MatMulNBits";

// The nodes of a graph or a function; its tensors have names of their own.
struct Scope {
  std::string path;  // nodes and attributes that lead to it, for names that appear twice
  unsigned number, depth;
};

struct Node {
  std::string name, op, domain, output;
  std::vector<FileRange> inputs;  // the first few
  bool has_attributes = false;

  bool is_constant() const { return op == "Constant" && (domain.empty() || domain == "ai.onnx"); }
  bool is_packed() const { return op == kPackedOp && domain == kPackedDomain; }
};

class Reader {
 public:
  Reader(const SourcePtr& source, const ReadOptions& options)
      : context_{source, options, io::Window(*source), ExternalFiles(source, options)},
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics) {}

  Model run() {
    try {
      read_model();
    } catch (Error& error) {
      throw error.in(context_.source->name());
    }
    context_.source->check();
    state_packing();
    model_.sources.push_back(context_.source);
    model_.file_bytes = context_.source->size();
    for (const SourcePtr& file : context_.external.opened()) {
      model_.sources.push_back(file);
      model_.file_bytes += file->size();
    }
    return std::move(model_);
  }

 private:
  void read_model() {
    bool has_graph = false;
    std::optional<std::uint64_t> version;
    Map opsets, kept;
    Fields fields(context_.window, {0, context_.source->size()});
    while (const auto field = fields.next()) {
      const bool text = field->type == Wire::bytes, number = field->type == Wire::varint;
      switch (field->number) {
        case 1:
          if (number) version = field->value;
          break;
        case 2: own_text(kProducerKey, *field); break;
        case 3: own_text(kProducerVersionKey, *field); break;
        case 4: own_text(kDomainKey, *field); break;
        case 5:
          if (number) model_.metadata.set(kModelVersionKey, static_cast<std::int64_t>(field->value));
          break;
        case 6: own_text(kDocKey, *field); break;
        case 7:
          if (text) read_graph(field->range, {"", scopes_++, 0});
          has_graph = has_graph || text;
          break;
        case 8:
          if (text) read_opset(field->range, opsets);
          break;
        case 14:
          if (text) read_property(field->range, kept);
          break;
        case 20:
          if (text) read_training(field->range);
          break;
        case 25:
          if (text) read_function(field->range);
          break;
        default: break;
      }
    }
    if (!version || !has_graph)
      throw Error(ErrorKind::corrupt, "onnx.graph",
                  !version ? "not an ONNX model: it states no ir_version" : "the model has no graph")
          .at(0);
    model_.version = std::to_string(*version);
    model_.metadata.set(kVersionKey, static_cast<std::int64_t>(*version));
    if (!opsets.empty()) model_.metadata.set(kOpsetsKey, std::move(opsets));
    for (auto& [key, value] : kept)
      if (model_.metadata.find(key) == nullptr) model_.metadata.append(key, std::move(value));
  }

  void own_text(std::string_view key, const Fields::Field& field) {
    if (field.type != Wire::bytes || field.range.size() == 0) return;
    charge_values(1 + kKeyPrice);
    model_.metadata.set(key, text_of(context_, field.range));
  }

  void read_opset(FileRange message, Map& opsets) {
    std::string domain;
    std::int64_t version = 0;
    Fields fields(context_.window, message);
    while (const auto field = fields.next()) {
      if (field->is(1, Wire::bytes)) domain = text_of(context_, field->range);
      if (field->is(2, Wire::varint)) version = static_cast<std::int64_t>(field->value);
    }
    charge_values(1 + kKeyPrice);
    add_once(opsets, domain.empty() ? "ai.onnx" : domain, version, opset_names_);
  }

  void read_property(FileRange message, Map& kept) {
    std::string key, value;
    Fields fields(context_.window, message);
    while (const auto field = fields.next()) {
      if (field->is(1, Wire::bytes)) key = text_of(context_, field->range);
      if (field->is(2, Wire::bytes)) value = text_of(context_, field->range);
    }
    charge_values(1 + kKeyPrice);
    add_once(kept, key, std::move(value), property_names_);
  }

  void add_once(Map& map, const std::string& key, Value value, NameSet& names) {
    if (names.insert(key).second) return map.append(key, std::move(value));
    diagnostics_.warning(Error(ErrorKind::corrupt, "onnx.metadata.duplicate",
                               fmt::format("{} appears twice; the first one is read", quote(key)))
                             .in(context_.source->name()));
  }

  void read_training(FileRange message) {
    Fields fields(context_.window, message);
    while (const auto field = fields.next()) {
      if (field->is(1, Wire::bytes)) read_graph(field->range, {"training.initialization", scopes_++, 0});
      if (field->is(2, Wire::bytes)) read_graph(field->range, {"training.algorithm", scopes_++, 0});
    }
  }

  void read_function(FileRange message) {
    Scope scope = {"", scopes_++, 0};
    Fields names(context_.window, message);
    while (const auto field = names.next())
      if (field->is(1, Wire::bytes)) scope.path = text_of(context_, field->range);
    Fields fields(context_.window, message);
    while (const auto field = fields.next())
      if (field->is(7, Wire::bytes)) read_node(field->range, scope);
  }

  void read_graph(FileRange message, const Scope& scope) {
    if (scope.depth > context_.options.limits.depth)
      throw Error(ErrorKind::limit, "onnx.depth",
                  fmt::format("expected graphs at most {} deep inside of each other, found more",
                              context_.options.limits.depth))
          .at(message.begin);
    Fields fields(context_.window, message);
    while (const auto field = fields.next()) {
      if (field->type != Wire::bytes) continue;
      if (field->number == 1) read_node(field->range, scope);
      if (field->number == 2 && scope.number == 0) own_text(kGraphKey, *field);
      if (field->number == 5)
        add(scope, field->range, name_of_tensor(context_, field->range),
            [&] { return tensor_of(context_, field->range); });
      if (field->number == 15)
        add(scope, field->range, name_of_sparse(context_, field->range),
            [&] { return sparse_tensor_of(context_, field->range); });
    }
  }

  void read_node(FileRange message, const Scope& scope) {
    constexpr std::size_t kInputs = 6;
    Node node;
    Fields fields(context_.window, message);
    while (const auto field = fields.next()) {
      if (field->type != Wire::bytes) continue;
      if (field->number == 1 && node.inputs.size() < kInputs) node.inputs.push_back(field->range);
      if (field->number == 2 && node.output.empty()) node.output = text_of(context_, field->range);
      if (field->number == 3) node.name = text_of(context_, field->range);
      if (field->number == 4) node.op = text_of(context_, field->range);
      if (field->number == 5) node.has_attributes = true;
      if (field->number == 7) node.domain = text_of(context_, field->range);
    }
    if (!node.has_attributes) return;
    Map numbers;
    Fields attributes(context_.window, message);
    while (const auto field = attributes.next())
      if (field->is(5, Wire::bytes)) read_attribute(field->range, node, scope, numbers);
    if (node.is_packed()) note_packed(node, std::move(numbers));
  }

  void read_attribute(FileRange message, const Node& node, const Scope& scope, Map& numbers) {
    std::string name;
    std::optional<std::uint64_t> number;
    std::optional<FileRange> tensor, sparse;
    std::uint32_t real = 0;
    bool graphs = false;
    Fields fields(context_.window, message);
    while (const auto field = fields.next()) {
      if (field->is(1, Wire::bytes)) name = text_of(context_, field->range);
      if (field->is(2, Wire::fixed32)) real = static_cast<std::uint32_t>(field->value);
      if (field->is(3, Wire::varint)) number = field->value;
      if (field->is(5, Wire::bytes)) tensor = field->range;
      if (field->is(22, Wire::bytes)) sparse = field->range;
      graphs = graphs || field->is(6, Wire::bytes) || field->is(11, Wire::bytes);
    }
    if (graphs) {
      Fields again(context_.window, message);
      while (const auto field = again.next())
        if (field->is(6, Wire::bytes) || field->is(11, Wire::bytes)) {
          charge_bytes(scope.path.size() + node.name.size() + name.size());
          read_graph(field->range, {fmt::format("{}{}{}.{}", scope.path, scope.path.empty() ? "" : "/",
                                                node.name.empty() ? node.op : node.name, name),
                                    scopes_++, scope.depth + 1});
        }
    }
    if (node.is_packed() && number) numbers.set(name, static_cast<std::int64_t>(*number));
    if (!node.is_constant()) return;
    if (name == "value" && tensor)
      add(scope, *tensor, node.output, [&] { return tensor_of(context_, *tensor); });
    else if (name == "sparse_value" && sparse)
      add(scope, *sparse, node.output, [&] { return sparse_tensor_of(context_, *sparse); });
    else if (name == "value_float")
      add(scope, message, node.output, [&] { return dense({}, {}, DType::f32, bytes_of<std::uint32_t>({real})); });
    else if (name == "value_int")
      add(scope, message, node.output,
          [&] { return dense({}, {}, DType::i64, bytes_of<std::uint64_t>({number.value_or(0)})); });
    else if (name == "value_floats" || name == "value_ints")
      add(scope, message, node.output, [&] { return list_of(message, name == "value_floats"); });
    else if (name == "value_string" || name == "value_strings")
      add(scope, message, node.output, []() -> Tensor {
        throw Error(ErrorKind::unsupported, "onnx.type", "its elements are of type STRING; a Model has only numbers");
      });
  }

  template <typename T>
  static Blob bytes_of(const std::vector<T>& numbers) {
    Bytes bytes(numbers.size() * sizeof(T));
    for (std::size_t i = 0; i < numbers.size(); ++i) store_le(bytes.data() + i * sizeof(T), numbers[i]);
    return Blob::memory(std::move(bytes));
  }

  // The numbers of an attribute: 7 floats, 8 ints.
  Tensor list_of(FileRange attribute, bool floats) {
    std::vector<std::uint32_t> reals;
    std::vector<std::uint64_t> wholes;
    Fields fields(context_.window, attribute);
    while (const auto field = fields.next()) {
      if (floats && field->is(7, Wire::fixed32)) reals.push_back(static_cast<std::uint32_t>(field->value));
      if (floats && field->is(7, Wire::bytes))
        for (std::uint64_t at = field->range.begin; at + 4 <= field->range.end; at += 4)
          reals.push_back(load_le<std::uint32_t>(context_.window.get(at, 4).data()));
      if (!floats && field->is(8, Wire::varint)) wholes.push_back(field->value);
      if (!floats && field->is(8, Wire::bytes)) {
        Fields list(context_.window, field->range);
        while (!list.at_end()) {
          charge_bytes(sizeof(std::uint64_t));
          wholes.push_back(list.packed_varint());
        }
      }
    }
    if (floats) return dense({}, {reals.size()}, DType::f32, bytes_of(reals));
    return dense({}, {wholes.size()}, DType::i64, bytes_of(wholes));
  }

  // Adds the tensor that `make` returns. Names are unique in a graph and the graphs around it; a second graph may have
  // the same ones, and then the path of the graph is added.
  template <typename Make>
  void add(const Scope& scope, FileRange at, std::string name, const Make& make) {
    charge_values(kTensorPrice);
    std::optional<Error> broken;
    try {
      if (name.empty()) throw Error(ErrorKind::corrupt, "onnx.name", "a tensor without a name");
      const auto [first, is_new] = names_.emplace(name, scope.number);
      if (!is_new) {
        const bool other = first->second != scope.number && !scope.path.empty();
        if (other) {
          charge_bytes(scope.path.size() + name.size());
          name = scope.path + "/" + name;
        }
        if (!other || !names_.emplace(name, scope.number).second)
          throw Error(ErrorKind::corrupt, "onnx.name.duplicate", "the name appears twice");
      }
      Tensor tensor = make();
      tensor.name = std::move(name);
      model_.tensors.push_back(std::move(tensor));
      return;
    } catch (Error& error) {
      if (error.kind() == ErrorKind::limit) throw;  // it may be what the model as a whole may cost
      broken = error.in(context_.source->name()).at(at.begin).about("tensor " + quote(name));
    }
    diagnostics_.tensor_error(*broken);
    model_.broken.push_back({Tensor(), *broken});
    model_.broken.back().tensor.name = std::move(name);
  }

  // ---- packed weights ----

  void note_packed(const Node& node, Map numbers) {
    constexpr std::string_view kRoles[] = {"", "", "scales", "zero_points", "g_idx"};
    if (node.inputs.size() < 3) return;
    std::string codes = text_of(context_, node.inputs[1]);
    for (std::size_t i = 2; i < std::size(kRoles) && i < node.inputs.size(); ++i)
      if (std::string name = text_of(context_, node.inputs[i]); !name.empty()) numbers.set(kRoles[i], std::move(name));
    charge_values(1 + kKeyPrice + (1 + kKeyPrice) * numbers.size());
    // A matrix may be used by several nodes.
    if (packed_names_.insert(codes).second) packed_.append(std::move(codes), std::move(numbers));
  }

  // What was found is stated as a config states it, so that the weights are recognised in every container.
  void state_packing() {
    Map known;
    for (auto& [name, facts] : packed_)
      if (names_.contains(name)) known.append(name, std::move(facts));
    if (known.empty()) return;
    Map config;
    config.append("quant_method", std::string(kPackedMethod));
    config.append("weights", std::move(known));
    model_.metadata.set("quantization_config", std::move(config));
  }

  Context context_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  Model model_;
  unsigned scopes_ = 0;
  NameMap<unsigned> names_;  // each tensor, with the graph that has it
  NameSet opset_names_, property_names_, packed_names_;
  Map packed_;
};

}  // namespace

Model read(const Input& input, const ReadOptions& options) {
  // `open` has made a budget, but callers of the row itself have none.
  const Spending spending(allowance_of(options.limits));
  if (spending.is_outermost()) grant_source(*input.source);
  return Reader(input.source, options).run();
}

}  // namespace tare::onnx
