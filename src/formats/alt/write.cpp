// Writes version 2, and the tensor records of both versions.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/checked.hpp"
#include "base/half.hpp"
#include "base/text.hpp"
#include "formats/alt/alt.hpp"
#include "formats/rows.hpp"
#include "model/transfer.hpp"

namespace tare::alt {
namespace {

float attribute(const Tensor& tensor, std::string_view key) {
  const Value* const value = tensor.attributes.find(key);
  if (value == nullptr) return 0;
  if (const auto* real = value->get<double>()) return f64_to_f32(*real);
  const auto* integer = value->get<std::int64_t>();
  return integer == nullptr ? 0 : static_cast<float>(*integer);
}

bool is_packed(const Tensor& tensor) {
  const Value* const packed = tensor.attributes.find("packed");
  return packed != nullptr && packed->get<bool>() != nullptr && *packed->get<bool>();
}

void put_record(FieldWriter& out, const Tensor& tensor, int version) {
  const std::int32_t type = data_type_of(tensor);
  if (version == 1) {
    out.i32(static_cast<std::int64_t>(tensor.shape.size()));
    out.i32(static_cast<std::int64_t>(tensor.name.size()));
    out.i32(type);
    for (const std::uint64_t dimension : tensor.shape) out.i32(static_cast<std::int64_t>(dimension));
    out.bytes(tensor.name);
    return;
  }
  const Place place = place_of(tensor.name);
  for (const std::int32_t number : {place.component, place.block, place.layer, place.projection}) out.i32(number);
  out.i32(static_cast<std::int64_t>(tensor.shape.size()));
  for (const std::uint64_t dimension : tensor.shape) out.i32(static_cast<std::int64_t>(dimension));
  out.string(tensor.name);
  out.i32(type);
  out.put(attribute(tensor, "delta"));
  out.put(attribute(tensor, "min"));
  out.put(attribute(tensor, "max"));
  out.put<std::int8_t>(is_packed(tensor) ? 1 : 0);
}

std::uint64_t record_bytes(const Tensor& tensor, int version) {
  return (version == 1 ? 12 : 16 + 4 + 4 + 4 + 12 + 1) + 4 * tensor.shape.size() + tensor.name.size() + tensor.bytes();
}

// Everything before the tensors. A uuid that is not known yet is filled in at `uuid_at`.
struct Head {
  FieldWriter fields;
  std::size_t uuid_at = 0;
};

void put_general(Head& head, const Model& model, bool altc) {
  FieldWriter& out = head.fields;
  const std::size_t begin = out.begin_section(kGeneral);
  for (const std::string_view key : kGeneralKeys) {
    const std::string text = general_text(model, key);
    if (text.empty() && key == "uuid") {
      head.uuid_at = out.size() + 4;
      out.string(std::string(kUuidLength, '0'));
    } else {
      out.string(text.empty() && altc ? kUnknown : text);
    }
  }
  out.end_section(begin, altc ? SizeForm::fields : SizeForm::all);
}

void put_parameters(FieldWriter& out, const Config& config, bool altc) {
  const std::string act = config.hidden_act.value_or("");
  out.string(act.empty() && altc ? kUnknown : act);
  out.put<std::uint8_t>(config.tie_word_embeddings.value_or(false) ? 1 : 0);
  put_numbers(out, kFields, kNumbers, config);
  put_numbers(out, kFields, altc ? kAltcTail : kTail, config);
}

void put_tokenizer(FieldWriter& out, const Vocabulary& v, std::int64_t seq_len, bool altc) {
  out.i32(static_cast<std::int64_t>(v.tokens.size()));
  for (const std::int64_t id : {v.bos, v.eos, v.pad, v.unk}) out.i32(id);
  if (!altc) out.i32(seq_len);
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    const Token& token = v.tokens[id];
    if (!altc) out.string(token.text);
    out.put(token.score);
    out.i32(number_of(token.type, altc));
    if (altc) {
      out.i32(static_cast<std::int64_t>(id));
      out.string(token.text);
    }
  }
}

// Config and seq_len as they are written: each of seq_len and max_position_embeddings replaces the other if that is
// absent, as in the reader.
struct Numbers {
  Config config;
  std::int64_t seq_len = 0;

  explicit Numbers(const Model& model) : config(model.config) {
    const std::int64_t stated = stated_seq_len(model).value_or(0);
    if (number_or_zero(config.max_position_embeddings) == 0 && stated > 0) config.max_position_embeddings = stated;
    seq_len = stated > 0 ? stated : number_or_zero(config.max_position_embeddings);
  }
};

// The digest of what identifies a model: config, vocabulary and tensors; neither author nor dates nor the dialect.
Digest identity(const Model& model, const Digest& tensors) {
  const Numbers numbers(model);
  FieldWriter fields;
  fields.string(numbers.config.model_type.value_or(""));
  put_parameters(fields, numbers.config, false);
  put_tokenizer(fields, model.vocabulary, numbers.seq_len, false);
  Hasher hasher(DigestAlgorithm::xxh3_128);
  hasher.update(fields.result());
  hasher.update(tensors.bytes());
  return hasher.finish();
}

Head make_head(const Model& model, bool altc) {
  Head head;
  const SizeForm form = altc ? SizeForm::fields : SizeForm::all;
  const std::size_t begin = head.fields.begin_section(kMagic2);
  head.fields.i32(2);
  head.fields.i32(static_cast<std::int64_t>(kAlignment));
  head.fields.end_section(begin, form);
  put_general(head, model, altc);
  const Numbers numbers(model);
  const std::size_t parameters = head.fields.begin_section(kParameters);
  put_parameters(head.fields, numbers.config, altc);
  head.fields.end_section(parameters, form);
  const std::size_t tokenizer = head.fields.begin_section(kTokenizer);
  put_tokenizer(head.fields, model.vocabulary, numbers.seq_len, altc);
  const Section section{"tokenizer", tokenizer, 0, head.fields.size()};
  head.fields.end_section(tokenizer, form);
  // alt.c rejects any other size.
  if (altc)
    store_le<std::uint64_t>(head.fields.result().data() + tokenizer + 8,
                            altc_size(section, model.vocabulary.tokens.size()));
  return head;
}

void put_end(FieldWriter& out) { out.put<std::uint64_t>(kEnd); }

// Throws if the file would be read as something else than the model: no field names the dialect, and unlucky numbers
// can look like the other one.
void require_readable(const Head& head, bool altc) {
  FieldWriter file = head.fields;
  put_end(file);
  const Model again = read_v2({"", memory_source(std::move(file.result()), "")}, {});
  if (make_head(again, altc).fields.result() != head.fields.result())
    throw Error(
        ErrorKind::unsupported, "alt.write.ambiguous",
        fmt::format("the parameters or tokens happen to look like those of the dialect {} and would be read as such",
                    altc ? "spec" : "altc"));
}

// Returns whether the model has an embedding but no output matrix.
bool lacks_output(const Model& model) {
  const auto has = [&](std::int32_t component) {
    return std::any_of(model.tensors.begin(), model.tensors.end(),
                       [&](const Tensor& tensor) { return place_of(tensor.name).component == component; });
  };
  return has(kEmbedTokens) && !has(kLmHead);
}

}  // namespace

std::int32_t data_type_of(const Tensor& tensor) {
  if (tensor.layout == "alt.qint4") return kQint4;
  if (tensor.layout == "alt.qint8") return kQint8;
  switch (tensor.components.begin()->dtype) {
    case DType::f32: return kFloat32;
    case DType::f16: return kFloat16;
    default: return kQint8;
  }
}

void put_tensors(const Model& model, Sink& sink, const WriteOptions& options, int version, Digest* running) {
  const std::vector<const Tensor*> order = in_order(model.tensors);
  FieldWriter out;
  const std::size_t begin = out.begin_section(kTensors);
  std::uint64_t dimensions = 0, bytes = version == 1 ? 32 : 40;
  std::set<std::int32_t> blocks;
  std::int64_t unique = 0;
  for (const Tensor* tensor : order) {
    dimensions += tensor->shape.size();
    bytes += record_bytes(*tensor, version);
    const Place place = place_of(tensor->name);
    if (place.block >= 0)
      blocks.insert(place.block);
    else
      ++unique;
  }
  out.put<std::uint64_t>(order.size());
  out.put<std::uint64_t>(dimensions);
  if (version == 2) {
    out.i32(static_cast<std::int64_t>(blocks.size()));
    out.i32(unique);
  }
  const Section section{"tensor", begin, 0, bytes};
  store_le<std::uint64_t>(out.result().data() + 8,
                          section.size_in(version == 1 ? SizeForm::fields_and_header : SizeForm::all));
  sink.write(out.result());

  TransferOptions transfer_options;
  transfer_options.alignment = 1;
  transfer_options.threads = options.work.threads;
  transfer_options.progress = options.work.progress;
  if (running != nullptr) transfer_options.running = DigestAlgorithm::xxh3_128;
  Transfer transfer(sink, transfer_options);
  for (const Tensor* tensor : order) {
    FieldWriter record;
    put_record(record, *tensor, version);
    sink.write(record.result());
    transfer.add(tensor->components.begin()->blob);
  }
  transfer.finish();
  if (running != nullptr) *running = transfer.running();
  sink.align(kAlignment);
}

void write_v2(const Model& model, Sink& sink, const WriteOptions& options) {
  const bool altc = options.dialect == "altc";
  check_writable(model, kFormat);
  if (altc) require_altc(model);
  if (!sink.positional())
    throw Error(ErrorKind::unsupported, "alt.write.pipe",
                "the uuid is filled in last: ALT cannot be written to a pipe");
  Head head = make_head(model, altc);
  require_readable(head, altc);
  sink.write(head.fields.result());
  Digest running = Hasher(DigestAlgorithm::xxh3_128).finish();
  if (!altc) put_tensors(model, sink, options, 2, head.uuid_at == 0 ? nullptr : &running);
  if (head.uuid_at != 0) {
    const std::string uuid = uuid_of(identity(model, running));
    sink.write_at(head.uuid_at, std::as_bytes(std::span(uuid)));
  }
  FieldWriter end;
  put_end(end);
  sink.write(end.result());
}

std::vector<Change> remarks_v2(const Model& model, const WriteOptions& options) {
  const bool altc = options.dialect == "altc";
  std::vector<std::string> empty, problems;
  bool texts_are_empty = false;
  for (const std::string_view key : kGeneralKeys) {
    if (key == "model_type" || key == "uuid") continue;  // a field of the config; made if absent
    const std::string text = general_text(model, key);
    if (text.empty()) empty.emplace_back(key);
    texts_are_empty = texts_are_empty || text.empty();
  }
  for (const std::string_view key : kGeneralKeys)
    if (const std::string text = general_text(model, key); !text.empty())
      if (std::string problem = general_problem(key, text, altc); !problem.empty())
        problems.push_back(std::move(problem));
  const std::vector<Token>& tokens = model.vocabulary.tokens;
  const auto is_bare = [](const Token& token) { return token.score == 0 && token.type == TokenType::normal; };
  if (!tokens.empty() && std::all_of(tokens.begin(), tokens.end(), is_bare))
    empty.emplace_back("token scores and types");
  std::vector<Change> lines = remarks(model, empty, kFields, altc ? kUnknown : "empty");
  if (texts_are_empty) lines.front().remedies.push_back({Remedy::set, ""});
  for (std::string& problem : problems) lines.push_back({.detail = std::move(problem)});
  if (!model.config.tie_word_embeddings && !model.config.empty() && lacks_output(model))
    lines.push_back({.detail =
                         "tie_word_embeddings is written as 0, for the input does not state it; without an lm_head the "
                         "embeddings may be tied"});
  if (altc)
    for (Change& line : remarks_altc(model)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace tare::alt
