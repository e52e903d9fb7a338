// ALT version 1 (also .alt; --to alt1), the first version of Altiera's container: parameters, tokens without scores or
// types, tensors.
//
//    0  i32 0x616C7463 ("altc"), zeros to 32
//       parameters 0xDEADBEEF  model_type, then i32 hidden_size num_hidden_layers intermediate_size
//                              num_attention_heads num_key_value_heads sliding_window, f32 rope_theta rms_norm_eps, i32
//                              head_size data_type context_length
//       tokenizer  0xBADDCAFE  i32 vocab_size bos eos pad unk, then for each token i32 length, bytes
//       tensors    0xFACEFEED  i64 tensor_count shape_count, then records: i32 dimensions name_length data_type,
//                              i32 dims[], name, data
//       i32 0x0FFFFFFF
//
// A section is i64 marker, i64 size, fields; each and the end marker begin on a multiple of 32, with zeros before it.
// The size counts header and fields. Tolerated, with a warning: a size that counts the fields only, or the padding as
// well; the tokenizer's size repeated after its header. Strings are i32 length and bytes.
//
// data_type: 0 float32, 1 float16, 2 qint8, which is plain int8 here: there is no field for a scale. The data_type of
// the parameters is the most common one of the tensors. Absent numbers are 0, absent ids -1.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/alt/alt.hpp"
#include "formats/rows.hpp"

namespace tare::alt {
namespace {

// The number of tensors per data type.
std::array<std::uint64_t, 3> type_counts(const Model& model) {
  std::array<std::uint64_t, 3> counts{};
  for (const Tensor& tensor : model.tensors) ++counts[static_cast<std::size_t>(data_type_of(tensor))];
  return counts;
}
// The most common data type; the lowest number if there are several.
std::int32_t common_type(const Model& model) {
  const auto counts = type_counts(model);
  return static_cast<std::int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

class Reader1 {
 public:
  Reader1(const Input& input, Diagnostics& diagnostics) : input_(input), cursor_(input, "alt1", diagnostics) {}

  Model read() {
    const auto magic = cursor_.take<std::uint32_t>("magic");
    if (magic != kMagic1) cursor_.fail("magic", fmt::format("expected {:#x}, found {:#x}", kMagic1, magic), 0);
    cursor_.padding();
    parameters();
    tokenizer();
    Section section = open_section(cursor_, "tensor", kTensors);
    read_tensors(cursor_, input_, 1, model_);
    finish(section);
    check_data_type();
    read_end(cursor_, 4);
    model_.version = std::string("1");
    input_.source->check();
    return std::move(model_);
  }

 private:
  void finish(Section& section) {
    close_section(cursor_, section);
    cursor_.set_item(fmt::format("{} section", section.name));
    check_size(cursor_, section, section.size_in(SizeForm::fields_and_header));
    cursor_.set_item({});
  }

  void parameters() {
    Section section = open_section(cursor_, "parameters", kParameters);
    Config& config = model_.config;
    const std::uint64_t start = cursor_.at();
    if (std::string type = cursor_.string("model_type", section.limit()); !type.empty()) {
      if (!is_valid_utf8(type)) cursor_.warn("string.utf8", "model_type is not UTF-8", start);
      config.model_type = std::move(type);
    }
    read_numbers(cursor_, kFields1, kNumbers1, config);
    data_type_at_ = cursor_.at();
    data_type_ = cursor_.i32("data_type");
    if (data_type_ < kFloat32 || data_type_ > kQint8)
      cursor_.complain("parameters.data_type", fmt::format("the data type {} is not known", data_type_), data_type_at_);
    read_numbers(cursor_, kFields1, kLastNumber1, config);
    finish(section);
  }

  // Returns whether the tokens parse from here up to a tensor section on the next boundary. Reports nothing.
  bool fits(std::uint64_t from) {
    const std::uint64_t start = cursor_.at();
    bool good = false;
    try {
      cursor_.go(from);
      const std::int32_t size = cursor_.i32("vocab_size");
      cursor_.bytes(16, "ids");
      good = size >= 0 && static_cast<std::uint64_t>(size) <= cursor_.left() / 4;
      for (std::int32_t id = 0; good && id < size; ++id) {
        const std::int32_t length = cursor_.i32("length");
        good = length >= 0 && static_cast<std::uint64_t>(length) <= cursor_.left();
        if (good) cursor_.go(cursor_.at() + static_cast<std::uint64_t>(length));
      }
      cursor_.go((cursor_.at() + kAlignment - 1) / kAlignment * kAlignment);
      good = good && cursor_.at() <= cursor_.size() && cursor_.u64("section marker") == kTensors;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      good = false;
    }
    cursor_.go(start);
    return good;
  }

  // The document can be understood to repeat the size after the header, and some files do so.
  void skip_repeated_size(const Section& section) {
    const std::uint64_t start = cursor_.at();
    if (fits(start) || cursor_.left() < 8 || !fits(start + 8)) return;
    const std::uint64_t again = cursor_.u64("section size");
    if (again == section.size)
      cursor_.warn("tokenizer.size_twice", "the size is repeated after the header", start);
    else
      cursor_.complain("section.size",
                       fmt::format("the size is repeated after the header as {}; the header says {}",
                                   static_cast<std::int64_t>(again), static_cast<std::int64_t>(section.size)),
                       start);
  }

  void tokenizer() {
    Section section = open_section(cursor_, "tokenizer", kTokenizer);
    skip_repeated_size(section);
    const std::uint64_t start = cursor_.at();
    const std::int32_t size = cursor_.i32("vocab_size");
    const std::uint64_t room = cursor_.left() < 16 ? 0 : (cursor_.left() - 16) / 4;
    if (size < 0 || static_cast<std::uint64_t>(size) > room)
      cursor_.fail("tokenizer.vocab_size", fmt::format("vocab_size is {}, there is room for {} tokens", size, room),
                   start);
    Vocabulary& vocabulary = model_.vocabulary;
    read_special_ids(cursor_, size, vocabulary);
    for (std::int32_t id = 0; id < size; ++id) {
      cursor_.set_item(fmt::format("token {}", id));
      vocabulary.tokens.push_back({cursor_.string("token", cursor_.size()), 0, TokenType::normal});
    }
    finish(section);
  }

  void check_data_type() {
    if (data_type_ < kFloat32 || data_type_ > kQint8) return;
    const auto counts = type_counts(model_);
    const std::int32_t common = common_type(model_);
    if (counts[static_cast<std::size_t>(data_type_)] == counts[static_cast<std::size_t>(common)]) return;
    cursor_.set_item("parameters section");
    cursor_.warn("parameters.data_type_differs",
                 fmt::format("data_type is {}, most tensors have {}", data_type_, common), data_type_at_);
    cursor_.set_item({});
  }

  const Input& input_;
  Cursor cursor_;
  Model model_;
  std::int32_t data_type_ = 0;
  std::uint64_t data_type_at_ = 0;
};

bool recognize1(const Source& source) {
  std::array<std::byte, 20> head{};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source.size()));
  if (length < 4) return false;
  source.read(0, std::span(head).first(length));
  if (load_le<std::uint32_t>(head.data()) != kMagic1) return false;
  // A file of version 2 with the old magic has its version number here; version 1 has zeros.
  return length < head.size() || load_le<std::int32_t>(head.data() + 16) == 0 ||
         load_le<std::uint32_t>(head.data() + 4) != 0;
}

constexpr DType kTypes1[] = {DType::f32, DType::f16, DType::i8};
constexpr std::string_view kLayouts1[] = {"dense"};
constexpr std::string_view kSuffixes1[] = {".alt1"};

}  // namespace

Model read_v1(const Input& input, const ReadOptions& options) {
  Diagnostics throwing;
  return Reader1(input, options.diagnostics == nullptr ? throwing : *options.diagnostics).read();
}

void write_v1(const Model& model, Sink& sink, const WriteOptions& options) {
  check_writable(model, kFormat1);
  const Config& config = model.config;
  const Vocabulary& v = model.vocabulary;
  FieldWriter out;
  out.put(kMagic1);
  out.align();
  const std::size_t parameters = out.begin_section(kParameters);
  out.string(config.model_type.value_or(""));
  put_numbers(out, kFields1, kNumbers1, config);
  out.i32(common_type(model));
  put_numbers(out, kFields1, kLastNumber1, config);
  out.end_section(parameters, SizeForm::fields_and_header);
  const std::size_t tokenizer = out.begin_section(kTokenizer);
  out.i32(static_cast<std::int64_t>(v.tokens.size()));
  for (const std::int64_t id : {v.bos, v.eos, v.pad, v.unk}) out.i32(id);
  for (const Token& token : v.tokens) out.string(token.text);
  out.end_section(tokenizer, SizeForm::fields_and_header);
  sink.write(out.result());
  put_tensors(model, sink, options, 1, nullptr);
  FieldWriter end;
  end.put(static_cast<std::uint32_t>(kEnd));
  sink.write(end.result());
}

std::vector<Change> remarks_v1(const Model& model, const WriteOptions& /*options*/) {
  return remarks(model, {}, kFields1, "empty");
}

constexpr Format kFormat1 = {
    .name = "alt1",
    .title = "ALT, version 1",
    .versions = "1",
    .suffixes = kSuffixes1,
    .holds = {.dtypes = kTypes1,
              .logical_types = {},
              .layouts = kLayouts1,
              .config = true,
              .vocabulary = true,
              .vocabulary_parts = {},
              .own_fields = kFields1,
              .other_fields = false,
              .widens_logical_types = false,
              .forward_only = true},
    .recognize = recognize1,
    .read = read_v1,
    .write = write_v1,
    .remarks = remarks_v1,
};

}  // namespace tare::alt
