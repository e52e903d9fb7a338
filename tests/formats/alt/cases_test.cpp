// Every rule of ALT is broken: the golden files with one change each.
#include <fmt/format.h>

#include <limits>
#include <set>

#include "base/endian.hpp"
#include "conformance/alt_cases.hpp"
#include "formats/alt/alt.hpp"
#include "lines.hpp"

namespace tare {
namespace testing {
namespace {

// Offsets in the golden file of version 2.
constexpr std::size_t kGeneral = 32, kCreated = 67, kUuid = 102, kParameters = 160, kAct = 176, kTie = 184,
                      kHidden = 185, kTheta = 213, kHead = 225, kTokenizer = 256, kVocabulary = 272, kBos = 276,
                      kSeqLen = 292, kToken = 296, kTokenType = 307, kTensors = 352, kCount = 368, kRecord = 392,
                      kRank = 408, kDimension = 412, kNameLength = 416, kName = 420, kType = 449, kDelta = 453,
                      kMin = 457, kMax = 461, kPacking = 465, kSecondName = 506, kSecondDelta = 524, kPadding = 541,
                      kEnd = 544;

template <typename T>
Bytes patched(Bytes file, std::size_t at, T value) {
  store_le<T>(file.data() + at, value);
  return file;
}
Bytes patched(Bytes file, std::size_t at, std::uint8_t value, std::size_t at2, char value2) {
  return patched(patched(std::move(file), at, value), at2, value2);
}
Bytes with32(std::size_t at, std::int32_t value) { return patched(alt_golden_v2(), at, value); }
Bytes with64(std::size_t at, std::int64_t value) { return patched(alt_golden_v2(), at, value); }
Bytes with_float(std::size_t at, float value) { return patched(alt_golden_v2(), at, value); }
Bytes with8(std::size_t at, int value) { return patched(alt_golden_v2(), at, static_cast<std::uint8_t>(value)); }
Bytes cut(Bytes file, std::size_t length) {
  file.resize(length);
  return file;
}
Bytes without(Bytes file, std::size_t at, std::size_t count) {
  file.erase(file.begin() + static_cast<std::ptrdiff_t>(at), file.begin() + static_cast<std::ptrdiff_t>(at + count));
  return file;
}

// A record of codes instead of the first tensor: 8 bytes of data are 8 qint8.
Bytes quantized(std::int32_t type, float delta, float min, float max, int packing) {
  Bytes file = patched(with32(kType, type), kDimension, std::int32_t{8});
  file = patched(patched(patched(file, kDelta, delta), kMin, min), kMax, max);
  return patched(file, kPacking, static_cast<std::int8_t>(packing));
}

// The offset of the tokenizer section.
std::size_t open_tokenizer(const Bytes& file) {
  std::size_t at = 0;
  while (load_le<std::uint64_t>(file.data() + at) != alt::kTokenizer) at += 32;
  return at;
}

// Version 2 of the specification up to the tokenizer, which is alt.c's; no tensors.
Bytes mixed_tokenizer() {
  Bytes file = cut(alt_golden_v2(), kTokenizer);
  const Bytes altc = alt_golden_altc();
  file.insert(file.end(), altc.begin() + kTokenizer, altc.end());
  return file;
}

// A file of alt.c with the tensors of the specification, whose section's size is counted as alt.c does.
Bytes altc_with_tensors() {
  Bytes file = alt_golden_altc();
  const Bytes spec = patched(alt_golden_v2(), kTensors + 8, std::int64_t{173});
  file.insert(file.end() - 8, spec.begin() + kTensors, spec.begin() + kEnd);
  return file;
}

// The golden file with its sections at multiples of another number than 32.
Bytes realigned(std::size_t alignment) {
  Bytes file;
  const Bytes golden = patched(alt_golden_v2(), 20, static_cast<std::int32_t>(alignment));
  const std::pair<std::size_t, std::size_t> sections[] = {
      {0, 24}, {kGeneral, 142}, {kParameters, kParameters + 69}, {kTokenizer, kTokenizer + 69}, {kTensors, kPadding}};
  for (const auto& [begin, end] : sections) {
    const std::size_t at = file.size();
    file.insert(file.end(), golden.begin() + static_cast<std::ptrdiff_t>(begin),
                golden.begin() + static_cast<std::ptrdiff_t>(end));
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    const auto size = static_cast<std::int64_t>(file.size() - at);
    file = patched(std::move(file), at + 8, size);
  }
  file.insert(file.end(), golden.begin() + kEnd, golden.end());
  return file;
}

// What alt.c wrote for six days: its own records with the specification's numbers of types.
Bytes altc_with_document_types() {
  Model model;
  model.config.model_type = "tiny";
  for (const char* const text : {"<unk>", "<0x00>", "<0x01>", "a"}) model.vocabulary.tokens.push_back({text});
  Bytes file = write_bytes(*find_format("alt"), model, {.dialect = "altc"});
  const std::size_t tokenizer = open_tokenizer(file);
  std::size_t at = tokenizer + 16 + 20;
  for (const auto& [length, type] : {std::pair(5, 3), std::pair(6, 1), std::pair(6, 1), std::pair(1, 0)}) {
    file = patched(std::move(file), at + 4, std::int32_t{type});
    at += 16 + static_cast<std::size_t>(length);
  }
  return file;
}

void add_v2_errors(std::vector<AltCase>& cases) {
  const auto add = [&](std::string rule, std::string name, Bytes file) {
    cases.push_back({Severity::error, "alt", "alt." + std::move(rule), std::move(name), std::move(file)});
  };
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  add("version", "three", with32(16, 3));
  add("version", "negative", with32(16, -2));
  for (const std::int32_t alignment : {0, 4, 12, 33, 8192, INT32_MIN, -32})
    add("alignment", std::to_string(alignment), with32(20, alignment));
  add("padding", "start", with8(31, 1));
  add("padding", "general", with8(159, 7));
  add("padding", "tensors", with8(kPadding, 255));
  add("section.marker", "general", with64(kGeneral, 0xCAFEBABF));
  add("section.marker", "general_sign_extended", with64(kGeneral, static_cast<std::int64_t>(0xFFFFFFFFCAFEBABE)));
  add("section.marker", "parameters", with64(kParameters, 0));
  add("section.marker", "tokenizer", with64(kTokenizer, 0xDEADBEEF));
  add("section.marker", "tensors", with64(kTensors, 1));
  for (const std::int64_t size : std::initializer_list<std::int64_t>{0, -1, 1, 95, 97, 4096, INT64_MAX - 100})
    add("section.size", "tokenizer_" + std::to_string(size), with64(kTokenizer + 8, size));
  add("section.size", "start", with64(8, 31));
  add("section.size", "general", with64(kGeneral + 8, 129));
  add("section.size", "tensors", with64(kTensors + 8, 193));
  add("string.length", "general_negative", with32(48, -1));
  add("string.length", "general_past_the_section", with32(48, 125));
  add("string.length", "general_past_the_file", with32(48, INT32_MAX));
  add("string.length", "hidden_act", with32(kAct, 100));
  add("string.length", "token_negative", with32(kToken, -3));
  add("string.length", "token_past_the_file", with32(kToken, 1 << 20));
  add("parameters.tie", "two", with8(kTie, 2));
  add("parameters.nonfinite", "rope_theta", with_float(kTheta, kNaN));
  add("parameters.nonfinite", "rms_norm_eps", with_float(kTheta + 4, kInf));
  add("parameters.nonfinite", "initializer_range", with_float(kTheta + 8, -kInf));
  // alt.c requires 20 + (12 + 3) + (12 + 2).
  add("section.size", "altc_tokenizer", patched(alt_golden_altc(), kTokenizer + 8, std::int64_t{50}));
  add("tokenizer.vocab_size", "negative", with32(kVocabulary, -1));
  add("tokenizer.vocab_size", "too_many", with32(kVocabulary, 1000));
  add("tokenizer.vocab_size", "most", with32(kVocabulary, INT32_MAX));
  add("token.type", "nine", with32(kTokenType, 9));
  add("token.type", "negative", with32(kTokenType, -1));
  add("tensor.count", "negative", with64(kCount, -1));
  add("tensor.count", "too_many", with64(kCount, 1000));
  add("tensor.count", "most", with64(kCount, INT64_MAX));
  add("tensor.shape_count", "one_more", with64(kCount + 8, 4));
  add("tensor.rank", "negative", with32(kRank, -1));
  add("tensor.rank", "many", with32(kRank, 65));
  add("tensor.dimension", "negative", with32(kDimension, -2));
  add("tensor.name_length", "negative", with32(kNameLength, -1));
  add("tensor.name_length", "past_the_file", with32(kNameLength, 200));
  add("tensor.name", "not_utf8", with8(kName, 0xFF));
  add("tensor.type", "four", with32(kType, 4));
  add("tensor.type", "negative", with32(kType, -1));
  add("tensor.bounds", "dimension", with32(kDimension, 1 << 20));
  add("tensor.packing", "float", with8(kPacking, 1));
  add("tensor.packing", "two", with8(kPacking, 2));
  add("tensor.packing", "qint8", quantized(2, 1, 0, 0, 1));
  add("tensor.packing", "qint4_minus_one", quantized(3, 1, 0, 0, -1));
  add("tensor.delta", "nan", quantized(2, kNaN, 0, 0, 0));
  add("tensor.delta", "infinite", quantized(3, kInf, 0, 0, 0));
  add("tensor.delta", "min", quantized(2, 1, -kInf, 0, 0));
  add("tensor.delta", "float_tensor", with_float(kSecondDelta, kNaN));
  add("qint.range", "max_below_min", quantized(2, 1, 3, 2, 0));
  add("qint.range", "equal", quantized(2, 1, 2, 2, 0));
  add("end.marker", "other", with32(kEnd, 0x0FFFFFFE));
  add("end.marker", "missing", cut(alt_golden_v2(), kEnd));
  add("end.marker", "two_bytes", cut(alt_golden_v2(), kEnd + 2));
  add("end.trailing", "high_word", with32(kEnd + 4, 1));
  add("truncated", "in_the_data", cut(alt_golden_v2(), kPadding));
  add("truncated", "in_the_start", cut(alt_golden_v2(), 22));
  add("truncated", "behind_the_magic", cut(alt_golden_v2(), 8));
  add("truncated", "before_the_version", cut(alt_golden_v2(), 19));
  add("tensor.bounds", "cut", cut(alt_golden_v2(), kPadding - 1));
  Bytes longer = alt_golden_v2();
  longer.push_back(std::byte{0});
  add("end.trailing", "one_byte", longer);
  longer.resize(longer.size() + 31);
  add("end.trailing", "a_block", longer);
  // 2^62 elements: three dimensions, which take the place of one and of the first eight bytes of the name.
  Bytes huge = with32(kRank, 3);
  for (const std::size_t at : {kDimension, kDimension + 4, kDimension + 8})
    huge = patched(huge, at, std::int32_t{INT32_MAX});
  huge = patched(huge, kDimension + 12, std::int32_t{21});
  add("tensor.size", "product", huge);
  // The second tensor with the name of the first: the same length, then the same text.
  Model twice;
  twice.tensors = {make_dense("a", {1}, DType::f32), make_dense("b", {1}, DType::f32)};
  Bytes same = write_bytes(*find_format("alt"), twice);
  *std::find(same.rbegin(), same.rend(), std::byte{'b'}) = std::byte{'a'};
  add("tensor.duplicate", "a", same);
  // An empty name: the length and the byte are removed, the section's size and padding are kept consistent.
  Model one;
  one.tensors = {make_dense("x", {0}, DType::f32)};
  Bytes empty = write_bytes(*find_format("alt"), one);
  const std::size_t at =
      static_cast<std::size_t>(std::find(empty.rbegin(), empty.rend(), std::byte{'x'}).base() - empty.begin());
  empty = patched(empty, at - 5, std::int32_t{0});
  empty.erase(empty.begin() + static_cast<std::ptrdiff_t>(at - 1));
  empty.insert(empty.end() - 8, std::byte{0});
  add("tensor.name", "empty", empty);
  Bytes id = patched(alt_golden_altc(), 300, std::int32_t{5});
  add("token.id", "altc", id);
}

void add_v2_warnings(std::vector<AltCase>& cases) {
  const auto add = [&](Severity severity, std::string rule, std::string name, Bytes file) {
    cases.push_back({severity, "alt", "alt." + std::move(rule), std::move(name), std::move(file)});
  };
  const auto warn = [&](std::string rule, std::string name, Bytes file) {
    add(Severity::warning, std::move(rule), std::move(name), std::move(file));
  };
  warn("magic.old", "altc", with64(0, 0x616C7463));
  for (const std::int64_t size : {53, 69, 80})
    warn("section.size_form", "parameters_" + std::to_string(size), with64(kParameters + 8, size));
  for (const std::int64_t size : {173, 189, 176})
    warn("section.size_form", "tensors_" + std::to_string(size), with64(kTensors + 8, size));
  for (const std::int64_t size : {8, 16, 24})
    warn("section.size_form", "start_" + std::to_string(size), with64(8, size));
  warn("string.utf8", "model_type", with8(52, 0xFF));
  // The length of the fields alone, which alt.c refuses.
  warn("section.size_form", "altc_tokenizer", patched(alt_golden_altc(), kTokenizer + 8, std::int64_t{57}));
  warn("parameters.negative", "hidden_size", with32(kHidden, -1));
  warn("parameters.negative", "rope_theta", with_float(kTheta, -10000));
  warn("parameters.head_size", "zero", with32(kHead, 0));
  warn("parameters.head_size", "guessed", patched(with32(kHead, 0), kTheta, std::int32_t{0}));
  for (const std::size_t alignment : {8U, 16U, 64U, 4096U})
    warn("alignment.other", std::to_string(alignment), realigned(alignment));
  warn("general.date", "month_19", patched(alt_golden_v2(), kCreated + 9, std::uint8_t{'1'}, kCreated + 10, '9'));
  warn("general.date", "february_30", patched(alt_golden_v2(), kCreated + 10, std::uint8_t{'2'}, kCreated + 12, '3'));
  warn("general.date", "slashes", with8(kCreated + 8, '/'));
  warn("general.uuid", "a_g", with8(kUuid + 4, 'g'));
  warn("general.uuid", "no_dash", with8(kUuid + 12, 'a'));
  warn("tensor.negative_delta", "qint8", quantized(2, -1, 0, 0, 0));
  warn("token.types", "of_the_document", altc_with_document_types());
  warn("tokenizer.id", "three", with32(kBos, 3));
  warn("tokenizer.id", "minus_two", with32(kBos, -2));
  warn("tokenizer.seq_len", "none", [] {
    Bytes file = without(alt_golden_v2(), kSeqLen, 4);
    file.insert(file.begin() + kTensors - 4, 4, std::byte{0});
    return file;
  }());
  warn("tensor.numbers", "block", with32(kRecord + 4, 1));
  warn("tensor.counts", "blocks", with32(kCount + 16, 2));
  warn("tensor.scale", "float", with_float(kSecondDelta, 1));
  warn("end.short", "four_bytes", cut(alt_golden_v2(), kEnd + 4));
  warn("dialect.mixed", "parameters", [] {
    Bytes file = with32(kTheta, 4);  // head_size first
    return patched(patched(file, kTheta + 8, 10000.0F), kHead, 0.02F);
  }());
  warn("dialect.mixed", "tokenizer", mixed_tokenizer());
  warn("parameters.head_size", "altc_zero", patched(alt_golden_altc(), kTheta, std::int32_t{0}));
  warn("dialect.tensors", "altc", altc_with_tensors());
  warn("tensors.none", "spec", without(alt_golden_v2(), kTensors, kEnd - kTensors));
  warn("parameters.negative", "seq_len", with32(kSeqLen, -1));
  add(Severity::note, "dialect.altc", "golden", alt_golden_altc());
  add(Severity::note, "tensors.none", "altc", alt_golden_altc());
  add(Severity::note, "tokenizer.seq_len_differs", "32", with32(kSeqLen, 32));
  add(Severity::error, "qint.code", "most_negative",
      patched(quantized(2, 1, 0, 0, 0), kPacking + 1, std::uint8_t{0x80}));
  add(Severity::error, "qint.code", "unpacked_nine", patched(quantized(3, 1, 0, 0, 0), kPacking + 1, std::uint8_t{9}));
  Model odd;
  odd.tensors = {
      find_codec("alt.qint4")->encode(make_dense("x", {1, 3}, DType::f32), {.method = "qint4", .threads = 1})};
  Bytes nibble = write_bytes(*find_format("alt"), odd);
  const Blob payload = open(memory_source(nibble, "it")).tensors[0].components.begin()->blob;
  nibble[static_cast<std::size_t>(payload.offset()) + 1] |= std::byte{5};
  add(Severity::error, "qint.unused_nibble", "five", nibble);
  warn("data.nonfinite", "codes", patched(quantized(2, 3e38F, 0, 0, 0), kPacking + 1, std::uint64_t{0x00017F81}));
  add(Severity::warning, "data.nonfinite", "nan", with_float(kPacking + 1, std::numeric_limits<float>::quiet_NaN()));
}

void add_v1(std::vector<AltCase>& cases) {
  constexpr std::size_t kParameters1 = 32, kTokenizer1 = 128, kTensors1 = 192;
  const auto add = [&](Severity severity, std::string rule, std::string name, Bytes file) {
    cases.push_back({severity, "alt1", "alt1." + std::move(rule), std::move(name), std::move(file)});
  };
  const auto bad32 = [](std::size_t at, std::int32_t value) { return patched(alt_golden_v1(), at, value); };
  const auto bad64 = [](std::size_t at, std::int64_t value) { return patched(alt_golden_v1(), at, value); };
  const auto error = [&](std::string rule, std::string name, Bytes file) {
    add(Severity::error, std::move(rule), std::move(name), std::move(file));
  };
  error("padding", "start", bad32(28, 256));
  error("padding", "tensors", patched(alt_golden_v1(), 319, std::uint8_t{1}));
  error("section.marker", "parameters", bad64(kParameters1, 0xCAFEBABE));
  error("section.marker", "tokenizer", bad64(kTokenizer1, -1));
  error("section.marker", "tensors", bad64(kTensors1, 0));
  error("section.size", "parameters", bad64(kParameters1 + 8, 67));
  error("section.size", "tokenizer", bad64(kTokenizer1 + 8, -1));
  error("section.size", "tensors", bad64(kTensors1 + 8, 0));
  error("string.length", "model_type", bad32(48, 65));
  error("string.length", "model_type_negative", bad32(48, INT32_MIN));
  error("string.length", "token", bad32(164, -1));
  error("parameters.data_type", "three", bad32(92, 3));
  error("parameters.nonfinite", "rope_theta", bad32(80, 0x7F800000));
  error("parameters.nonfinite", "rms_norm_eps", bad32(84, 0x7FC00000));
  error("tokenizer.vocab_size", "negative", bad32(144, -1));
  error("tokenizer.vocab_size", "too_many", bad32(144, 100));
  error("tensor.count", "negative", bad64(208, -1));
  error("tensor.count", "too_many", bad64(208, 50));
  error("tensor.shape_count", "two", bad64(216, 2));
  error("tensor.rank", "negative", bad32(224, -1));
  error("tensor.name_length", "negative", bad32(228, -1));
  error("tensor.name_length", "past_the_file", bad32(228, 4000));
  error("tensor.type", "qint4", bad32(232, 3));
  error("tensor.dimension", "negative", bad32(236, -1));
  error("tensor.bounds", "dimension", bad32(236, INT32_MAX));
  error("tensor.name", "not_utf8", patched(alt_golden_v1(), 240, std::uint8_t{0x80}));
  error("end.marker", "other", bad32(320, 0x0FFFFFF));
  error("end.marker", "missing", cut(alt_golden_v1(), 320));
  error("truncated", "in_the_padding", cut(alt_golden_v1(), 318));
  Bytes longer = alt_golden_v1();
  longer.resize(longer.size() + 4);
  error("end.trailing", "eight_bytes", longer);
  Model twice;
  twice.tensors = {make_dense("a", {1}, DType::f32), make_dense("b", {1}, DType::f32)};
  Bytes same = write_bytes(*find_format("alt1"), twice);
  *std::find(same.rbegin(), same.rend(), std::byte{'b'}) = std::byte{'a'};
  error("tensor.duplicate", "a", same);
  Bytes huge = bad32(224, 3);
  for (const std::size_t at : {236U, 240U, 244U}) huge = patched(huge, at, std::int32_t{INT32_MAX});
  error("tensor.size", "product", patched(huge, 228, std::int32_t{21}));

  for (const std::int64_t size : {52, 80, 96})
    add(Severity::warning, "section.size_form", "parameters_" + std::to_string(size), bad64(kParameters1 + 8, size));
  add(Severity::warning, "string.utf8", "model_type", patched(alt_golden_v1(), 52, std::uint8_t{0xFF}));
  add(Severity::warning, "parameters.negative", "sliding_window", bad32(76, -1));
  add(Severity::warning, "tokenizer.id", "nine", bad32(148, 9));
  add(Severity::warning, "tokenizer.id", "minus_two", bad32(148, -2));
  Bytes repeated = alt_golden_v1();
  repeated.erase(repeated.begin() + 180, repeated.begin() + 188);
  repeated.insert(repeated.begin() + 144, 8, std::byte{0});
  repeated = patched(patched(repeated, 144, std::int64_t{57}), kTokenizer1 + 8, std::int64_t{57});
  add(Severity::warning, "tokenizer.size_twice", "as_the_document_says", repeated);
  error("section.size", "another_behind_the_header", patched(repeated, 144, std::int64_t{58}));
  add(Severity::warning, "parameters.negative", "rms_norm_eps", patched(alt_golden_v1(), 84, -1e-5F));
  add(Severity::warning, "parameters.data_type_differs", "qint8", bad32(92, 2));
  add(Severity::warning, "data.nonfinite", "nan", bad32(269, 0x7FC00000));
}

}  // namespace

std::vector<AltCase> alt_cases() {
  std::vector<AltCase> cases;
  add_v2_errors(cases);
  add_v2_warnings(cases);
  add_v1(cases);
  return cases;
}

}  // namespace testing

namespace {

using namespace tare::testing;

bool about_data(const AltCase& bad) {
  return bad.rule.find(".qint.code") != std::string::npos || bad.rule.ends_with("nibble");
}

TEST(AltRules, EveryBadFileIsRefusedWithItsRule) {
  for (const AltCase& bad : alt_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    const auto error = error_of([&] { find_format(bad.format)->read({"it", memory_source(bad.file, "it")}, {}); });
    if (bad.severity != Severity::error || about_data(bad)) {
      EXPECT_FALSE(error.has_value()) << error->what();
      continue;
    }
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), bad.rule) << error->what();
    EXPECT_EQ(error->file(), "it");
    EXPECT_TRUE(error->offset().has_value());
  }
}

TEST(AltRules, VerifyFindsEachWithItsWeight) {
  const Scratch scratch(Scratch::fast_place());
  for (const AltCase& bad : alt_cases()) {
    SCOPED_TRACE(bad.rule + " / " + bad.name);
    put_file(scratch / "it", bad.file);
    const Verification result = verify(scratch / "it", {.work = {.threads = 1}});
    const auto found = std::find_if(result.findings.begin(), result.findings.end(),
                                    [&](const Finding& f) { return f.rule == bad.rule; });
    ASSERT_NE(found, result.findings.end()) << (result.findings.empty() ? "nothing found" : result.findings[0].rule);
    EXPECT_EQ(found->severity, bad.severity);
    EXPECT_EQ(result.ok(true), bad.severity == Severity::note);
  }
}

// The rules in a source file, without the format's name.
std::set<std::string> rules_in(const std::filesystem::path& file) {
  std::set<std::string> rules;
  const std::string text = to_text(get_file(file));
  for (const std::string_view call : {"fail(\"", "complain(\"", "warn(\"", "note(\""})
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
      const std::size_t begin = at + call.size();
      rules.insert(text.substr(begin, text.find('"', begin) - begin));
    }
  return rules;
}

// Each rule in the source has a file above and a line on its page.
TEST(AltRules, EveryRuleHasAFileAndStandsOnItsPage) {
  const std::filesystem::path root = std::filesystem::path(TARE_TEST_DIR) / "..";
  const std::string page2 = to_text(get_file(root / "docs/formats/alt.md"));
  const std::string page1 = to_text(get_file(root / "docs/formats/alt1.md"));
  std::set<std::string> broken;
  for (const AltCase& bad : alt_cases()) {
    broken.insert(bad.rule);
    EXPECT_NE((bad.format == "alt" ? page2 : page1).find("`" + bad.rule + "`"), std::string::npos) << bad.rule;
  }
  // Rules that version 1 does not share: it lacks these fields, and its end marker is always short.
  const std::set<std::string> only_version_2 = {"tensor.packing",       "tensor.numbers", "tensor.counts",
                                                "tensor.delta",         "tensor.scale",   "end.short",
                                                "tensor.negative_delta"};
  const std::set<std::string> version_2_files = {"read.cpp", "tokenizer.cpp"};
  std::size_t named = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root / "src/formats/alt")) {
    const std::string file = entry.path().filename();
    for (const std::string& rule : rules_in(entry.path())) {
      ++named;
      if (rule == "magic") continue;  // another magic is another format; tested below
      const bool in_version_1 = !version_2_files.contains(file) && !only_version_2.contains(rule);
      EXPECT_TRUE(file == "v1.cpp" || broken.contains("alt." + rule)) << rule << ": no file breaks it";
      EXPECT_TRUE(!in_version_1 || broken.contains("alt1." + rule)) << rule << ": no file of version 1 breaks it";
    }
  }
  EXPECT_GT(named, 25U);
}

TEST(AltRules, AnotherMagicIsNotOurs) {
  for (const std::string name : {"alt", "alt1"}) {
    Bytes file = name == "alt" ? alt_golden_v2() : alt_golden_v1();
    file[0] ^= std::byte{1};
    EXPECT_EQ(rule_of([&] { find_format(name)->read({"it", memory_source(file, "it")}, {}); }), name + ".magic");
    EXPECT_EQ(rule_of([&] { open(memory_source(file, "it")); }), "open.unrecognized");
  }
}

TEST(AltWriting, WhatDoesNotFitIsRefusedBeforeAByteIsWritten) {
  const auto rule = [](const char* format, const auto& change, const WriteOptions& options = {}) {
    Model model;
    model.tensors = {make_dense("w", {2}, DType::f32)};
    change(model);
    MemorySink sink;
    const std::string found = rule_of([&] { find_format(format)->write(model, sink, options); });
    EXPECT_EQ(sink.bytes().size(), 0U);
    return found;
  };
  const auto nothing = [](Model&) {};
  static constexpr std::int64_t kTooMuch = std::int64_t{1} << 31;
  for (const char* const format : {"alt", "alt1"}) {
    const std::string prefix = format;
    EXPECT_EQ(rule(format, [](Model& m) { m.tensors[0].name.clear(); }), prefix + ".write.name");
    EXPECT_EQ(rule(format, [](Model& m) { m.tensors[0].name = "\xFF"; }), prefix + ".write.name");
    EXPECT_EQ(rule(format, [](Model& m) { m.tensors.push_back(m.tensors[0]); }), prefix + ".write.duplicate");
    EXPECT_EQ(rule(format, [](Model& m) { m.config.hidden_size = kTooMuch; }), prefix + ".write.limit");
    EXPECT_EQ(rule(format, [](Model& m) { m.config.hidden_size = -1; }), prefix + ".write.limit");
    EXPECT_EQ(rule(format, [](Model& m) { m.config.rope_theta = 1e300; }), prefix + ".write.limit");
    EXPECT_EQ(rule(format, [](Model& m) { m.config.rope_theta = -1; }), prefix + ".write.limit");
    EXPECT_EQ(rule(format, [](Model& m) { m.vocabulary.bos = kTooMuch; }), prefix + ".write.limit");
    EXPECT_EQ(rule(format, [](Model& m) { m.vocabulary.unk = -2; }), prefix + ".write.limit");
    EXPECT_EQ(rule(format,
                   [](Model& m) {
                     m.tensors[0] = make_dense("w", {1 << 16, 1 << 16, 0, 1ULL << 31}, DType::f32);
                   }),
              prefix + ".write.limit");
    EXPECT_EQ(rule(format, [](Model& m) { m.tensors[0] = make_dense("w", {1}, DType::u8); }), prefix + ".write.type");
    EXPECT_EQ(rule(format, [](Model& m) { m.tensors[0] = make_dense("w", {1}, DType::u8, "f8_e5m2"); }),
              prefix + ".write.type");
    EXPECT_EQ(rule(format, [](Model& m) { m.tensors[0] = make_csr("w"); }), prefix + ".write.layout");
    EXPECT_EQ(rule(format, [](Model& m) { m.metadata.set("author", 3); }),
              prefix + (prefix == "alt" ? ".write.metadata" : ".write.room"));
    EXPECT_EQ(rule(format, [](Model& m) { m.metadata.set("run", "7"); }), prefix + ".write.room");
    EXPECT_EQ(rule(format, [](Model& m) { m.attachments = {{"x", Blob::memory({})}}; }), prefix + ".write.room");
    EXPECT_EQ(rule(format, [](Model& m) { m.config.vocab_size = 3; }), prefix + ".write.room");
    EXPECT_EQ(rule(format, [](Model& m) { m.vocabulary.merges = {"a b"}; }), prefix + ".write.room");
  }
  EXPECT_EQ(
      rule("alt1",
           [](Model& m) {
             m.tensors[0] = find_codec("alt.qint8")->encode(make_dense("w", {2, 2}, DType::f32), {.method = "qint8"});
           }),
      "alt1.write.layout");
  EXPECT_EQ(rule("alt", nothing, {.dialect = "altc"}), "alt.write.dialect");
  // Tokens that alt.c cannot read, because it stores them as C strings.
  for (const std::string& text :
       {std::string(), std::string("\0", 1), std::string("\0a", 2), std::string("b"), std::string("b\0c", 3)}) {
    const auto with_token = [&](Model& m) {
      m.tensors.clear();
      m.vocabulary.tokens = {{"b"}, {text}};
    };
    EXPECT_EQ(rule("alt", with_token, {.dialect = "altc"}), "alt.write.token") << escape_name(text);
    MemorySink sink;
    Model model;
    with_token(model);
    EXPECT_NO_THROW(find_format("alt")->write(model, sink, {})) << "the dialect spec holds it";
  }
  // Numbers at the place where the other dialect has head_size, with its expected value.
  const auto misleading = [](std::optional<double> Config::*field) {
    return [=](Model& m) {
      m.tensors.clear();
      m.config.hidden_size = 8;
      m.config.num_attention_heads = 2;
      m.config.head_dim = 5;
      m.config.*field = std::bit_cast<float>(4);
    };
  };
  EXPECT_EQ(rule("alt", misleading(&Config::rope_theta)), "alt.write.ambiguous");
  EXPECT_EQ(rule("alt", misleading(&Config::initializer_range), {.dialect = "altc"}), "alt.write.ambiguous");
  for (const char* const seq_len : {"", "-1", "0", "+1", " 1", "1.0", "2147483648", "many"})
    EXPECT_EQ(rule("alt", [&](Model& m) { m.metadata.set("alt.seq_len", seq_len); }), "alt.write.seq_len") << seq_len;
  EXPECT_EQ(rule("alt1", [](Model& m) { m.config.hidden_act = "silu"; }), "alt1.write.room");
  EXPECT_EQ(rule("alt1", [](Model& m) { m.vocabulary.tokens = {{"a", 1, TokenType::normal}}; }), "alt1.write.room");
}

TEST(AltWriting, ALimitSaysWhatCanBeDone) {
  const auto sentence = [](const auto& change) {
    Model model;
    model.tensors = {make_dense("w", {2}, DType::f32)};
    change(model);
    const auto error = error_of([&] { write_bytes(*find_format("alt"), model); });
    return fmt::format("{}: {}", error->sentence(), text_of(error->remedies()));
  };
  EXPECT_EQ(sentence([](Model& m) { m.config.hidden_size = -1; }),
            "hidden_size is -1, ALT holds 0 to 2147483647: drop config");
  EXPECT_EQ(sentence([](Model& m) { m.vocabulary.unk = -2; }),
            "a special id is -2, ALT holds -1 to 2147483647: drop vocabulary");
  EXPECT_EQ(sentence([](Model& m) {
              m.tensors[0] = make_dense("deep", Shape(std::vector<std::uint64_t>(65, 1)), DType::f32);
            }),
            "65 dimensions, 64 is the most: skip deep");
}

TEST(AltNames, NumbersAndOrder) {
  const auto numbers = [](std::string_view name) {
    const alt::Place p = alt::place_of(name);
    return std::vector<int>{p.component, p.block, p.layer, p.projection};
  };
  using V = std::vector<int>;
  EXPECT_EQ(numbers("model.embed_tokens.weight"), (V{1, -1, 5, 0}));
  EXPECT_EQ(numbers("lm_head.weight"), (V{2, -2, 5, 0}));
  EXPECT_EQ(numbers("model.norm.weight"), (V{3, -3, 5, 0}));
  EXPECT_EQ(numbers("norm"), (V{3, -3, 0, 0}));
  EXPECT_EQ(numbers("lm_head.bias"), (V{2, -2, 6, 0}));
  EXPECT_EQ(numbers("w"), (V{4, -4, 0, 0}));
  EXPECT_EQ(numbers("vision.patch.weight"), (V{4, -4, 5, 0}));
  EXPECT_EQ(numbers("rotary.inv_freq"), (V{4, -4, 6, 0}));
  EXPECT_EQ(numbers("model.layers.0.self_attn.q_proj.weight"), (V{0, 0, 1, 1}));
  EXPECT_EQ(numbers("layers.31.mlp.down_proj.weight"), (V{0, 31, 2, 7}));
  EXPECT_EQ(numbers("model.layers.3.input_layernorm.weight"), (V{0, 3, 3, 0}));
  EXPECT_EQ(numbers("model.layers.3.post_attention_layernorm.weight"), (V{0, 3, 4, 0}));
  EXPECT_EQ(numbers("model.layers.3.mlp.experts.7.w1.weight"), (V{0, 3, 2, 8}));
  EXPECT_EQ(numbers("model.layers.3.norm.weight"), (V{0, 3, 6, 0}));
  EXPECT_EQ(numbers("layers.2.weight"), (V{0, 2, 5, 0}));
  EXPECT_EQ(numbers("layers.x.layers.4.mlp.up_proj"), (V{0, 4, 2, 6}));
  EXPECT_EQ(numbers("layers.-1.mlp"), (V{4, -4, 6, 0}));
  EXPECT_EQ(numbers("layers.99999999999.mlp"), (V{4, -4, 6, 0}));
  EXPECT_EQ(numbers("layers.5"), (V{4, -4, 6, 0}));

  std::vector<Tensor> tensors;
  for (const char* const name :
       {"z", "lm_head.weight", "a", "model.norm.weight", "model.layers.10.mlp.up_proj.weight",
        "model.layers.2.self_attn.q_proj.weight", "model.layers.2.mlp.up_proj.weight", "model.embed_tokens.weight"})
    tensors.push_back(make_dense(name, {1}, DType::f32));
  std::vector<std::string> names;
  for (const Tensor* tensor : alt::in_order(tensors)) names.push_back(tensor->name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"model.embed_tokens.weight", "model.layers.2.mlp.up_proj.weight",
                                      "model.layers.2.self_attn.q_proj.weight", "model.layers.10.mlp.up_proj.weight",
                                      "model.norm.weight", "lm_head.weight", "a", "z"}));
}

}  // namespace
}  // namespace tare
