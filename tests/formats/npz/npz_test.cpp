// NumPy's arrays and archives: headers, orders, the private member, and the error of each invalid file.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>

#include "base/budget.hpp"
#include "conformance/scratch.hpp"
#include "formats/npy/header.hpp"
#include "formats/npy/order.hpp"
#include "formats/npz/private.hpp"
#include "formats/rows.hpp"
#include "lines.hpp"
#include "tare/convert.hpp"
#include "tare/sink.hpp"
#include "wire/zip.hpp"
#include "zip_maker.hpp"

namespace tare {
namespace {

using testing::bytes_of;
using testing::made;
using testing::make_zip;
using testing::text_of;
using u64 = std::uint64_t;

std::string rule_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    return error.rule();
  }
}

struct Collected final : Diagnostics {
  std::vector<std::string> errors, warnings, notes;
  void error(const Error& e) override { errors.push_back(e.rule()); }
  void warning(const Error& e) override { warnings.push_back(e.rule()); }
  void note(const Error& e) override { notes.push_back(e.rule()); }
  bool thorough() const override { return true; }
};

// The bytes of an array, from the text of its header.
std::string npy(std::string_view text, std::string_view data, unsigned major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  if (major == 1)
    testing::put<std::uint16_t>(bytes, text.size());
  else
    testing::put<std::uint32_t>(bytes, text.size());
  return bytes.append(text).append(data);
}

std::string dict(std::string_view descr, std::string_view shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, fortran ? "True" : "False",
                     shape);
}

Model open_npy(const std::string& bytes) {
  return npy::kFormat.read({"folder/weights.npy", memory_source(bytes_of(bytes), "folder/weights.npy")}, {});
}
std::string npy_rule(const std::string& bytes) {
  return rule_of([&] { (void)open_npy(bytes); });
}
Model open_npz(const std::string& bytes, Diagnostics* diagnostics = nullptr) {
  ReadOptions options;
  options.diagnostics = diagnostics;
  const Spending spending;
  current_budget()->grant(bytes.size());
  return npz::kFormat.read({"test.npz", memory_source(bytes_of(bytes), "test.npz")}, options);
}
std::string npz_rule(const std::string& bytes) {
  return rule_of([&] { (void)open_npz(bytes); });
}
std::string write_npz(const Model& model, unsigned threads = 2) {
  MemorySink sink;
  WriteOptions options;
  options.work.threads = threads;
  npz::kFormat.write(model, sink, options);
  return text_of(sink.bytes());
}
std::string data_of(const Tensor& tensor) { return text_of(tensor.components.front().blob.bytes()); }

// Reads everything; returns the rule that was broken, if any.
std::string deep_rule(const Format& format, const std::string& bytes) {
  return rule_of([&] {
    const Model model = format.read({"x", memory_source(bytes_of(bytes), "x")}, {});
    for (const Tensor& tensor : model.tensors)
      for (const Component& component : tensor.components) (void)component.blob.bytes(1 << 24);
    for (const Attachment& attachment : model.attachments) (void)attachment.blob.bytes(1 << 24);
  });
}

// ---- the header

TEST(NpyHeader, Variants) {
  const std::string data(24, '\1');
  for (const std::string text : {
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
           "{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}",
           " { 'fortran_order' : False , 'shape' : ( 2L , 3L , ) , 'descr' : '<f4' } \n\t",
           "{'descr': 'float32', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3)}",
       })
    for (const unsigned major : {1u, 2u, 3u}) {
      const Model model = open_npy(npy(text, data, major));
      ASSERT_EQ(model.tensors.size(), 1u) << text;
      EXPECT_EQ(model.tensors[0].name, "weights");
      EXPECT_EQ(model.tensors[0].shape, (Shape{2, 3}));
      EXPECT_EQ(model.tensors[0].components[0].dtype, DType::f32);
      EXPECT_TRUE(model.tensors[0].components[0].blob.is_plain());
      EXPECT_EQ(data_of(model.tensors[0]), data);
      EXPECT_EQ(model.version, fmt::format("{}.0", major));
    }
}

TEST(NpyHeader, Shapes) {
  EXPECT_EQ(open_npy(npy(dict("<f4", "()"), "1234")).tensors[0].shape, Shape());
  EXPECT_EQ(open_npy(npy(dict("|u1", "(4,)"), "1234")).tensors[0].shape, Shape{4});
  EXPECT_EQ(open_npy(npy(dict("<f4", "(0, 5)"), "")).tensors[0].shape, (Shape{0, 5}));
  EXPECT_EQ(open_npy(npy(dict("<f4", "(18446744073709551615, 18446744073709551615, 0)"), "")).tensors.size(), 1u);
}

TEST(NpyHeader, Types) {
  struct Row {
    const char* descr;
    DType dtype;
    const char* type;
    std::size_t bytes;
  };
  for (const Row& row : std::initializer_list<Row>{{"<f8", DType::f64, "", 8},
                                                   {"<f2", DType::f16, "", 2},
                                                   {"<i8", DType::i64, "", 8},
                                                   {"<i4", DType::i32, "", 4},
                                                   {"<i2", DType::i16, "", 2},
                                                   {"|i1", DType::i8, "", 1},
                                                   {"<u8", DType::u64, "", 8},
                                                   {"<u4", DType::u32, "", 4},
                                                   {"<u2", DType::u16, "", 2},
                                                   {"|u1", DType::u8, "", 1},
                                                   {"|b1", DType::boolean, "", 1},
                                                   {"<c8", DType::f32, "complex64", 8},
                                                   {"<c16", DType::f64, "complex128", 16},
                                                   {"<V2", DType::bf16, "", 2},
                                                   {"|V2", DType::bf16, "", 2},
                                                   {"|V1", DType::u8, "", 1},
                                                   {"<V1", DType::u8, "", 1},
                                                   {"<f1", DType::u8, "f8_e5m2", 1},
                                                   {"bfloat16", DType::bf16, "", 2},
                                                   {"float8_e4m3fn", DType::u8, "f8_e4m3fn", 1},
                                                   {"float8_e5m2", DType::u8, "f8_e5m2", 1},
                                                   {"float8_e4m3fnuz", DType::u8, "f8_e4m3fnuz", 1},
                                                   {"float8_e5m2fnuz", DType::u8, "f8_e5m2fnuz", 1}}) {
    const Model model = open_npy(npy(dict(row.descr, "(3,)"), std::string(3 * row.bytes, '\0')));
    EXPECT_EQ(model.tensors[0].components[0].dtype, row.dtype) << row.descr;
    EXPECT_EQ(model.tensors[0].components[0].type, row.type) << row.descr;
  }
}

TEST(NpyHeader, RawBitsAreNoted) {
  Collected found;
  ReadOptions options;
  options.diagnostics = &found;
  (void)npy::kFormat.read({"x.npy", memory_source(bytes_of(npy(dict("<V2", "(1,)"), "12")))}, options);
  EXPECT_EQ(found.notes, std::vector<std::string>{"npy.descr.raw"});
}

// Conversion reports that the type of the bytes is unknown.
TEST(NpyHeader, BytesWithoutATypeAreToldOfWhenConverted) {
  const testing::Scratch scratch;
  const auto told = [&](std::string_view descr, std::string_view data) {
    const testing::MadeZip zip = make_zip({made("a.npy", npy(dict(descr, "(2,)"), data))});
    testing::put_file(scratch / "in.npz", bytes_of(zip.bytes));
    const Conversion done = convert(scratch / "in.npz", scratch / "out.zt", {.overwrite = true});
    return testing::mentions(done.changes, "bits without a type; read as u8");
  };
  EXPECT_TRUE(told("|V1", "12"));
  EXPECT_FALSE(told("|u1", "12"));
}

TEST(NpyHeader, EachRefusalHasItsRule) {
  const auto text = [](std::string_view t) { return npy_rule(npy(t, "1234")); };
  EXPECT_EQ(npy_rule("\x93NUMPY\1"), "npy.short");
  EXPECT_EQ(npy_rule("\x93NUMPX\1............."), "npy.magic");
  EXPECT_EQ(npy_rule(npy(dict("<f4", "(1,)"), "1234", 4)), "npy.version");
  EXPECT_EQ(npy_rule(npy(dict("<f4", "(1,)"), "1234").substr(0, 40)), "npy.header.length");
  EXPECT_EQ(npy_rule(npy(std::string(2 << 20, ' '), "", 2)), "npy.header.large");
  EXPECT_EQ(text(""), "npy.header.syntax");
  EXPECT_EQ(text("[]"), "npy.header.syntax");
  EXPECT_EQ(text("{}"), "npy.header.keys");
  EXPECT_EQ(text("{'descr': '<f4', 'shape': (1,)}"), "npy.header.keys");
  EXPECT_EQ(text("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"), "npy.header.keys");
  EXPECT_EQ(text("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"), "npy.header.keys");
  EXPECT_EQ(text("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} __import__('os')"), "npy.header.syntax");
  EXPECT_EQ(text("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"), "npy.header.syntax");
  EXPECT_EQ(text("{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}"), "npy.header.syntax");
  EXPECT_EQ(text("{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}"), "npy.descr.unknown");
  EXPECT_EQ(text("{'descr': '<f4"), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(1)")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "[1]")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(1 1)")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(,)")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(01,)")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(0x1,)")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(1.0,)")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(True,)")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(1,")), "npy.header.syntax");
  EXPECT_EQ(text(dict("<f4", "(-1,)")), "npy.shape.negative");
  EXPECT_EQ(text(dict("<f4", "(18446744073709551616,)")), "npy.shape.overflow");
  EXPECT_EQ(text(dict("<f4", "(4294967296, 4294967296)")), "npy.shape.overflow");
  EXPECT_EQ(text(dict("<f4", "(9223372036854775808,)")), "npy.shape.overflow");
  EXPECT_EQ(text(dict("<f4", "(9223372036854775807, 2)")), "npy.shape.overflow");
  EXPECT_EQ(text(dict("<f4", "(2,)")), "npy.data.length");
  EXPECT_EQ(text(dict("|u1", "(3,)")), "npy.data.length");
  EXPECT_EQ(text(dict("|O", "(1,)")), "npy.descr.object");
  EXPECT_EQ(text(dict("|S4", "(1,)")), "npy.descr.text");
  EXPECT_EQ(text(dict("<U1", "(1,)")), "npy.descr.text");
  EXPECT_EQ(text(dict("<M8[s]", "(1,)")), "npy.descr.datetime");
  EXPECT_EQ(text(dict("<m8", "(1,)")), "npy.descr.datetime");
  EXPECT_EQ(text(dict("|V4", "(1,)")), "npy.descr.void");
  EXPECT_EQ(text(dict("<f16", "(1,)")), "npy.descr.longdouble");
  EXPECT_EQ(text(dict("<c32", "(1,)")), "npy.descr.longdouble");
  for (const char* const size : {"<f10", "<f12", "<c20", "<c24"})
    EXPECT_EQ(text(dict(size, "(1,)")), "npy.descr.longdouble") << size;
  // Sizes that no float type has.
  for (const char* const size : {"<f3", "<f5", ">f7", "<f0", "<f32", "<c3", "<c4", "<c64", "<f016"})
    EXPECT_EQ(text(dict(size, "(1,)")), "npy.descr.unknown") << size;
  EXPECT_EQ(text(dict("<q7", "(1,)")), "npy.descr.unknown");
  EXPECT_EQ(text(dict("", "(1,)")), "npy.descr.unknown");
  EXPECT_EQ(text("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), "npy.descr.structured");
  EXPECT_EQ(text("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,)}"), "npy.descr.structured");
}

TEST(NpyHeader, WrittenAsNumPySpellsIt) {
  const auto text = [](std::string_view descr, const Shape& shape) { return text_of(npy::write_header(descr, shape)); };
  EXPECT_EQ(text("<f4", {2, 3}), std::string("\x93NUMPY\1\0\x76\0", 10) +
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                                     std::string(58, ' ') + "\n");
  EXPECT_NE(text("<f4", {}).find("'shape': (), }"), std::string::npos);
  EXPECT_NE(text("<f4", {7}).find("'shape': (7,), }"), std::string::npos);
  for (std::size_t rank = 0; rank < 40; ++rank) {
    Shape shape;
    for (std::size_t i = 0; i < rank; ++i) shape.push_back(u64{1} << (i % 3));
    EXPECT_EQ(text("<f4", shape).size() % 64, 0u);
    EXPECT_EQ(npy::parse_header(npy::write_header("<f4", shape)).shape, shape);
  }
  Shape many;
  for (int i = 0; i < 30000; ++i) many.push_back(1);
  const Bytes header = npy::write_header("<f4", many);
  EXPECT_EQ(header[6], std::byte{2});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(npy::header_length(header, header.size()), header.size());
  EXPECT_EQ(npy::parse_header(header, many.rank()).shape, many);
  EXPECT_EQ(rule_of([&] { npy::parse_header(header); }), "npy.shape.rank");
}

// ---- orders

// Reorders an array from Fortran order to C order, item by item, the last index first.
std::string c_order(const std::string& fortran, const Shape& shape, std::size_t item) {
  std::string out(fortran.size(), '\0');
  const char* const from = fortran.data();
  char* to = out.data();
  const auto rank = static_cast<int>(shape.rank());
  std::vector<u64> index(shape.rank()), steps(shape.rank(), item);
  for (int d = 1; d < rank; ++d) steps[d] = steps[d - 1] * shape[d - 1];
  for (u64 at = 0; to != out.data() + out.size(); to += item) {
    std::memcpy(to, from + at, item);
    for (int d = rank - 1; d >= 0; --d) {
      at += steps[d];
      if (++index[d] != shape[d]) break;
      at -= steps[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

std::string swapped(std::string bytes, std::size_t width) {
  char* item = bytes.data();
  for (std::size_t left = bytes.size() / width; left > 0; --left, item += width) std::reverse(item, item + width);
  return bytes;
}

std::string counting(std::size_t size) {
  std::string bytes(size, '\0');
  char* const out = bytes.data();
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 2654435761u >> 13);
  return bytes;
}

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (const u64 d : shape) text += fmt::format("{},", d);
  return text + ")";
}

// A temporary file, removed by the destructor.
class TempFile {
 public:
  explicit TempFile(const std::string& bytes) {
    std::string pattern = ::testing::TempDir() + "/npzXXXXXX";
    const char* const made_dir = ::mkdtemp(pattern.data());
    directory_ = made_dir == nullptr ? "" : made_dir;
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  ~TempFile() { std::filesystem::remove_all(directory_); }
  std::string path() const { return directory_ + "/file"; }

 private:
  std::string directory_;
};

class NpyOrder : public ::testing::TestWithParam<std::tuple<const char*, bool, bool>> {};

// Stored and deflated, mapped and pread, whole and in odd pieces.
TEST_P(NpyOrder, IsConverted) {
  const auto [descr, fortran, deflated] = GetParam();
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{1, 7, 1}, Shape{3, 5}, Shape{70, 33}, Shape{33, 70},
                             Shape{2, 3, 4}, Shape{17, 5, 1, 19}, Shape{4, 0, 3}, Shape{2, 2, 2, 2, 2, 2}}) {
    const npy::Header header = npy::parse_header(bytes_of(npy(dict(descr, shape_text(shape), fortran), "")));
    const std::string data = counting(static_cast<std::size_t>(header.data_bytes));
    const std::size_t item = header.element.bytes(), width = size_of(header.element.dtype);
    std::string expected = fortran ? c_order(data, shape, item) : data;
    if (descr[0] == '>') expected = swapped(expected, width);
    const TempFile file(make_zip({made("a.npy", npy(dict(descr, shape_text(shape), fortran), data), deflated)}).bytes);
    for (const Access access : {Access::mapped, Access::pread}) {
      const Model model = npz::kFormat.read({file.path(), open_file(file.path(), access)}, {});
      const Blob& blob = model.tensors.at(0).components[0].blob;
      ASSERT_EQ(blob.size(), expected.size());
      EXPECT_EQ(text_of(blob.bytes()), expected) << shape.text();
      blob.verify();
      for (std::size_t at = 0; at < expected.size(); at += 1 + expected.size() / 13) {
        Bytes part(std::min<std::size_t>(expected.size() - at, 1 + at % 29));
        blob.read(at, part);
        EXPECT_EQ(text_of(part), expected.substr(at, part.size()));
      }
      const auto reader = blob.open(expected.size() / 3);
      std::string pulled;
      for (std::size_t left = expected.size() - expected.size() / 3, step = 1; left > 0; step = step * 3 % 101) {
        Bytes part(std::min(left, step));
        reader->read(part);
        pulled += text_of(part);
        left -= part.size();
      }
      EXPECT_EQ(pulled, expected.substr(expected.size() / 3));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NpyOrder,
                         ::testing::Combine(::testing::Values("|u1", "<f2", "<f4", "<f8", "<c8", "<c16", ">f2", ">i4",
                                                              ">f8", ">c8", ">c16"),
                                            ::testing::Bool(), ::testing::Bool()),
                         [](const auto& chosen) {
                           std::string name = std::get<0>(chosen.param);
                           name[0] = name[0] == '>' ? 'B' : 'L';
                           return name + (std::get<1>(chosen.param) ? "Fortran" : "C") +
                                  (std::get<2>(chosen.param) ? "Deflated" : "Stored");
                         });

// Larger than a band: several bands, rows longer than one, and streams that need more than one pass.
TEST(NpyOrderLarge, BandsAndPasses) {
  for (const auto& [shape, deflated] : std::initializer_list<std::pair<Shape, bool>>{{{1500, 1001}, false},
                                                                                     {{3, 1300000}, false},
                                                                                     {{1300000, 3}, false},
                                                                                     {{40, 30, 1100}, false},
                                                                                     {{9, 600000}, true}}) {
    const npy::Header header = npy::parse_header(bytes_of(npy(dict(">i4", shape_text(shape), true), "")));
    const std::string data = counting(static_cast<std::size_t>(header.data_bytes));
    const std::string expected = swapped(c_order(data, shape, 4), 4);
    const SourcePtr source = memory_source(
        bytes_of(make_zip({made("a.npy", npy(dict(">i4", shape_text(shape), true), data), deflated)}).bytes));
    const Model model = npz::kFormat.read({"a.npz", source}, {});
    const Blob& blob = model.tensors.at(0).components[0].blob;
    EXPECT_TRUE(text_of(blob.bytes()) == expected) << shape.text();
    if (const u64 step = blob.seek_granularity(); step != 0 && step < blob.size()) {
      Bytes part(1000);
      blob.read(step, part);
      EXPECT_EQ(text_of(part), expected.substr(static_cast<std::size_t>(step), 1000));
    }
    EXPECT_EQ(blob.seek_granularity() == 0, deflated);
  }
}

TEST(NpyOrderLarge, TrivialFortranStaysAView) {
  EXPECT_TRUE(
      open_npy(npy(dict("<f4", "(1, 6, 1)", true), std::string(24, 'x'))).tensors[0].components[0].blob.is_plain());
}

TEST(NpyOrderProperty, AnyShape) {
  EXPECT_TRUE(rc::check("Fortran order of any shape becomes C order", [] {
    const auto dims = *rc::gen::container<std::vector<int>>(*rc::gen::inRange(0, 6), rc::gen::inRange(1, 9));
    Shape shape;
    for (const int d : dims) shape.push_back(static_cast<u64>(d));
    const std::size_t elements = static_cast<std::size_t>(*shape.elements());
    const std::string data = counting(elements * 2);
    const Model model = open_npy(npy(dict("<u2", shape_text(shape), true), data));
    RC_ASSERT(data_of(model.tensors[0]) == c_order(data, shape, 2));
  }));
}

// ---- npz: reading

std::string array(std::string_view data) { return npy(dict("|u1", fmt::format("({},)", data.size())), data); }

TEST(NpzRead, MembersAndAttachments) {
  const Model model = open_npz(make_zip({made("z.npy", array("zz")), made("notes.txt", "hello", true), made("dir/", ""),
                                         made("dir/a.npy", array("aaa"), true)})
                                   .bytes);
  ASSERT_EQ(model.tensors.size(), 2u);
  EXPECT_EQ(model.tensors[0].name, "z");
  EXPECT_TRUE(model.tensors[0].components[0].blob.is_plain());
  EXPECT_EQ(model.tensors[1].name, "dir/a");
  EXPECT_EQ(data_of(model.tensors[1]), "aaa");
  EXPECT_EQ(model.tensors[1].components[0].blob.encoding(), Encoding::deflate);
  ASSERT_EQ(model.attachments.size(), 1u);
  EXPECT_EQ(model.attachments[0].name, "notes.txt");
  EXPECT_EQ(text_of(model.attachments[0].blob.bytes()), "hello");
}

TEST(NpzRead, EmptyArchiveHasNoTensors) { EXPECT_TRUE(open_npz(make_zip({}).bytes).tensors.empty()); }

TEST(NpzRead, APickleIsCarriedAndNeverRun) {
  // A pickle that would create a file if it were executed.
  const std::string marker = ::testing::TempDir() + "/npz_pickle_was_run";
  const std::string pickle = "cos\nsystem\n(S'touch " + marker + "'\ntR.";
  const std::string bytes =
      make_zip({made("good.npy", array("1")), made("evil.npy", npy(dict("|O", "()"), pickle))}).bytes;
  Collected found;
  const Model model = open_npz(bytes, &found);
  EXPECT_EQ(model.tensors.size(), 1u);
  ASSERT_EQ(model.attachments.size(), 1u);
  EXPECT_EQ(model.attachments[0].name, "evil.npy");
  EXPECT_EQ(found.errors, std::vector<std::string>{});
  EXPECT_EQ(found.notes, std::vector<std::string>{"npy.descr.object"});
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST(NpzRead, RefusalsNameTheMember) {
  const std::string bytes = make_zip({made("good.npy", array("1")), made("bad.npy", array("1") + "x")}).bytes;
  try {
    (void)open_npz(bytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "npy.data.length");
    EXPECT_EQ(error.item(), "bad.npy");
    EXPECT_EQ(error.file(), "test.npz");
    EXPECT_TRUE(error.offset().has_value());
  }
  Collected found;
  EXPECT_EQ(open_npz(bytes, &found).tensors.size(), 1u);
  EXPECT_EQ(found.errors, std::vector<std::string>{"npy.data.length"});
}

TEST(NpzRead, OtherRefusals) {
  EXPECT_EQ(npz_rule(make_zip({made("readme.txt", "a zip of something else")}).bytes), "npz.no_array");
  EXPECT_EQ(npz_rule(make_zip({made("a.npy", array("1")), made("folder/", "x")}).bytes), "npz.member.folder");
  EXPECT_EQ(npz_rule(make_zip({made("a.npy", array("1") + "x")}).bytes), "npy.data.length");
  EXPECT_EQ(npz_rule(make_zip({made("a.npy", array("1") + "x", true)}).bytes), "npy.data.length");
  EXPECT_EQ(npz_rule(make_zip({made("a.npy", "")}).bytes), "npy.short");
  EXPECT_EQ(npz_rule(make_zip({made("a.npy", "", true)}).bytes), "npy.short");
  EXPECT_EQ(npz_rule(make_zip({made("a.npy", "\x93NUMPY\2", true)}).bytes), "npy.short");
  EXPECT_EQ(npz_rule(make_zip({made("a.npy", array("1")), made("a.npy", array("2"))}).bytes), "zip.member.duplicate");
  ReadOptions small;
  small.limits.component_bytes = 1000;
  const SourcePtr source =
      memory_source(bytes_of(make_zip({made("a.npy", array(std::string(2000, 'x')), true)}).bytes));
  EXPECT_EQ(rule_of([&] { (void)npz::kFormat.read({"x", source}, small); }), "npz.member.large");
}

TEST(NpzRead, ThoroughReadersCheckStoredBytes) {
  auto zip = make_zip({made("a.npy", array("1234"))});
  zip.bytes[zip.directory - 1] = '5';
  EXPECT_EQ(npz_rule(zip.bytes), "");
  Collected found;
  (void)open_npz(zip.bytes, &found);
  EXPECT_EQ(found.errors, std::vector<std::string>{"zip.member.crc"});
  testing::MadeMember notes = made("notes", "deflated attachment", true);
  notes.crc ^= 1;
  found.errors.clear();
  (void)open_npz(make_zip({made("a.npy", array("1234")), notes}).bytes, &found);
  EXPECT_EQ(found.errors, std::vector<std::string>{"zip.member.crc"});
}

// Every reader of all bytes compares the CRC.
TEST(NpzRead, WhoeverReadsStoredBytesComparesTheirCrc) {
  auto zip = make_zip({made("a.npy", array("1234"))});
  zip.bytes[zip.directory - 1] = '5';
  const Model model = open_npz(zip.bytes);
  const Blob& blob = model.tensors.at(0).components[0].blob;
  EXPECT_EQ(rule_of([&] { blob.verify(); }), "zip.member.crc");
  EXPECT_EQ(rule_of([&] { (void)blob.bytes(); }), "zip.member.crc");
  EXPECT_EQ(rule_of([&] { (void)blob.open(); }), "zip.member.crc");
  EXPECT_EQ(rule_of([&] { (void)blob.view(); }), "zip.member.crc");
  EXPECT_EQ(rule_of([&] { (void)write_bytes(npz::kFormat, model); }), "zip.member.crc");
  EXPECT_EQ(blob.unchecked().bytes().size(), blob.size());
}

TEST(NpzRead, Recognition) {
  const auto is = [](const Format& format, const std::string& bytes) {
    return format.recognize(*memory_source(bytes_of(bytes)));
  };
  EXPECT_TRUE(is(npz::kFormat, make_zip({made("a.npy", array("1"))}).bytes));
  EXPECT_TRUE(is(npz::kFormat, make_zip({}).bytes));
  EXPECT_TRUE(is(npz::kFormat, "PK\3\4"));
  EXPECT_FALSE(is(npz::kFormat, make_zip({made("archive/data.pkl", "1")}).bytes));
  EXPECT_FALSE(is(npz::kFormat, make_zip({made("[Content_Types].xml", "1")}).bytes));
  EXPECT_FALSE(is(npz::kFormat, "PK"));
  EXPECT_FALSE(is(npz::kFormat, ""));
  EXPECT_FALSE(is(npz::kFormat, array("1")));
  EXPECT_TRUE(is(npy::kFormat, array("1")));
  EXPECT_FALSE(is(npy::kFormat, "\x93NUMP"));
}

TEST(NpzHostile, TruncationsAndFlips) {
  Model model;
  model.tensors.push_back(dense("w", {2}, DType::bf16, Blob::memory(bytes_of("abcd"))));
  model.metadata.append("k", "v");
  const std::string written = write_npz(model);
  const std::string packed =
      make_zip({made("f.npy", npy(dict(">f4", "(2, 3)", true), counting(24)), true), made("t", "x")}).bytes;
  for (const std::string& good : {written, packed}) {
    ASSERT_EQ(deep_rule(npz::kFormat, good), "");
    for (std::size_t length = 0; length < good.size(); ++length)
      EXPECT_NE(deep_rule(npz::kFormat, good.substr(0, length)), "") << length;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string bytes = good;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      (void)deep_rule(npz::kFormat, bytes);  // must return: an Error or a model that can be read
    }
  }
}

TEST(NpyHostile, TruncationsAndFlips) {
  const std::string good = npy(dict(">f4", "(2, 3)", true), counting(24));
  ASSERT_EQ(deep_rule(npy::kFormat, good), "");
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(deep_rule(npy::kFormat, good.substr(0, length)), "") << length;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    (void)deep_rule(npy::kFormat, bytes);
  }
}

// ---- npz: writing

Model rich() {
  Model model;
  const auto add = [&](const std::string& name, Shape shape, DType dtype, std::string type = {}) {
    const LogicalType* const logical = find_logical_type(type);
    const std::size_t item = size_of(dtype) * (logical == nullptr ? 1 : logical->per_element);
    const auto size = static_cast<std::size_t>(*shape.elements()) * item;
    std::string data = counting(size);
    if (dtype == DType::boolean)
      for (char& c : data) c &= 1;
    model.tensors.push_back(dense(name, std::move(shape), dtype, Blob::memory(bytes_of(data)), std::move(type)));
  };
  for (const DType dtype : kAllDTypes) add(fmt::format("plain.{}", name_of(dtype)), {3, 5}, dtype);
  for (const LogicalType& type : known_logical_types())
    add(fmt::format("logical/{}", type.name), {2, 2}, type.storage, std::string(type.name));
  add("scalar", {}, DType::f32);
  add("empty", {0, 4}, DType::f32);
  add("\xc3\xa9t\xc3\xa9", {1}, DType::u8);
  add("not utf-8 \xff", {1}, DType::bf16);
  add("large", {700, 1000}, DType::f32);
  model.tensors[0].attributes.append("scale", 0.5);
  model.tensors[0].attributes.append("raw", Opaque{"cbor", bytes_of("\xc0\x60")});
  model.metadata.append("name", "test");
  model.metadata.append("nan", -std::numeric_limits<double>::infinity());
  model.metadata.append("bytes", bytes_of(std::string("\0\1\xff", 3)));
  model.metadata.append("odd \xff", List{1, 2.5, nullptr, Map()});
  model.config.hidden_size = 64;
  model.config.rope_theta = 10000.0;
  model.config.model_type = "llama";
  model.vocabulary.kind = "bpe";
  model.vocabulary.tokens = {{"a", 0.5f, TokenType::normal}, {"\xff", -1, TokenType::byte}};
  model.vocabulary.merges = {"a b"};
  model.vocabulary.bos = 1;
  for (const char* name : {"config.json", "sub/merges.txt", "../escape", "/etc/passwd", "c:\\x", "fake.npy",
                           "__tare__.json", "", "config.json"})
    model.attachments.push_back({name, Blob::memory(bytes_of(fmt::format("content of {}", model.attachments.size())))});
  return model;
}

TEST(NpzWrite, NothingIsLost) {
  const Model model = rich();
  Collected found;
  const Model back = open_npz(write_npz(model), &found);
  EXPECT_TRUE(found.errors.empty());
  EXPECT_TRUE(found.warnings.empty());
  EXPECT_TRUE(found.notes.empty());
  ASSERT_EQ(back.tensors.size(), model.tensors.size());
  for (const Tensor& tensor : model.tensors) {
    const Tensor* const other = back.tensor(tensor.name);
    ASSERT_NE(other, nullptr) << tensor.name;
    EXPECT_EQ(other->shape, tensor.shape);
    EXPECT_EQ(other->components[0].dtype, tensor.components[0].dtype) << tensor.name;
    EXPECT_EQ(other->components[0].type, tensor.components[0].type) << tensor.name;
    EXPECT_EQ(other->attributes, tensor.attributes);
    EXPECT_TRUE(other->components[0].blob.is_plain());
    EXPECT_EQ(other->components[0].blob.offset() % 64, 0u);
    EXPECT_TRUE(data_of(*other) == data_of(tensor));
  }
  EXPECT_EQ(back.metadata, model.metadata);
  EXPECT_EQ(back.config, model.config);
  EXPECT_EQ(back.vocabulary, model.vocabulary);
  const auto listed = [](const Model& m) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Attachment& a : m.attachments) all.emplace_back(a.name, text_of(a.blob.bytes()));
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(listed(back), listed(model));
  EXPECT_TRUE(write_npz(back) == write_npz(model));
}

TEST(NpzWrite, MembersAreSafe) {
  Diagnostics strict;
  const auto bytes = write_npz(rich());
  for (const auto& member : wire::read_zip(*memory_source(bytes_of(bytes)), 1 << 20, strict)) {
    EXPECT_FALSE(member.name.starts_with("/") || member.name.find("..") != std::string::npos) << member.name;
    EXPECT_EQ(member.method, 0);
    EXPECT_EQ(member.data % 64, 0u);
  }
}

TEST(NpzWrite, PrivateMemberOnlyWhenNeeded) {
  Model model;
  model.tensors.push_back(dense("w", {4}, DType::u8, Blob::memory(bytes_of("abcd"))));
  EXPECT_EQ(write_npz(model).find("__tare__"), std::string::npos);
  model.attachments.push_back({"readme", Blob::memory(bytes_of("x"))});
  EXPECT_EQ(write_npz(model).find("__tare__"), std::string::npos);
  model.tensors.clear();
  const Model back = open_npz(write_npz(model));  // an archive that is marked as ours
  EXPECT_EQ(back.attachments.size(), 1u);
  EXPECT_EQ(write_npz(Model()).size(), 22u);
}

TEST(NpzWrite, RefusesBeforeTheFirstByte) {
  const auto refused = [](const std::function<void(Model&)>& change) {
    Model model;
    model.tensors.push_back(dense("w", {4}, DType::u8, Blob::memory(bytes_of("abcd"))));
    change(model);
    MemorySink sink;
    const std::string rule = rule_of([&] { npz::kFormat.write(model, sink, {}); });
    EXPECT_TRUE(sink.bytes().empty() || rule.empty());
    return rule;
  };
  EXPECT_EQ(refused([](Model&) {}), "");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].name = ""; }), "npz.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].name = std::string(65532, 'x'); }), "npz.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].name = std::string(65531, 'x'); }), "");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].name = std::string("a\0b", 3); }), "npz.write.name");
  EXPECT_EQ(refused([](Model& m) { m.tensors.push_back(m.tensors[0]); }), "npz.write.duplicate");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].layout = "sparse_coo"; }), "npz.write.layout");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].components.push_back(m.tensors[0].components[0]); }),
            "npz.write.components");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].components[0].type = "posit8"; }), "npz.write.type");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].components[0].type = "complex64"; }), "npz.write.type");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].shape = {5}; }), "npz.dense.size");
  EXPECT_EQ(refused([](Model& m) { m.tensors[0].shape = {u64{1} << 63, 2}; }), "npz.dense.size");
  EXPECT_EQ(refused([](Model& m) {
              for (int i = 0; i < 60000; ++i) m.tensors[0].shape.push_back(1);
            }),
            "npz.write.rank");
}

TEST(NpzPrivate, EachRefusalHasItsRule) {
  const auto rule = [](const std::string& text, bool deflated = false) {
    return npz_rule(make_zip({made("w.npy", array("1234")), made("__tare__.json", text, deflated)}).bytes);
  };
  EXPECT_EQ(rule("{\"tare\":1}"), "");
  EXPECT_EQ(rule("{\"tare\":1}", true), "");
  EXPECT_EQ(rule("{}"), "npz.private.version");
  EXPECT_EQ(rule("{\"tare\":2}"), "npz.private.version");
  EXPECT_EQ(rule("[]"), "npz.private.form");
  EXPECT_EQ(rule("{\"tare\":1,\"metadata\":3}"), "npz.private.form");
  EXPECT_EQ(rule("{\"tare\":1,\"types\":{\"w\":3}}"), "npz.private.form");
  EXPECT_EQ(rule("{\"tare\":1,\"attributes\":{\"w\":3}}"), "npz.private.form");
  EXPECT_EQ(rule("{\"tare\":1,\"types\":{\"w\":\"f8_e5m2\"}}"), "");
  EXPECT_EQ(rule("{\"tare\":1,\"types\":{\"w\":\"bf16\"}}"), "npz.private.type");
  EXPECT_EQ(rule("{\"tare\":1,\"types\":{\"w\":\"complex64\"}}"), "npz.private.type");
  EXPECT_EQ(rule("{\"tare\":1,\"vocabulary\":{}}"), "vocabulary.malformed");
  EXPECT_EQ(rule("{"), "json.syntax");
  EXPECT_EQ(rule(""), "json.syntax");
  EXPECT_EQ(rule("{\"tare\":1,\"metadata\":" + std::string(5000, '[') + std::string(5000, ']') + "}"), "json.depth");
  EXPECT_EQ(rule(std::string(std::size_t{65} << 20, ' '), true), "open.bytes");
  Collected found;
  (void)open_npz(
      make_zip({made("w.npy", array("1")),
                made("__tare__.json", "{\"tare\":1,\"types\":{\"gone\":\"f8_e5m2\"},\"attachments\":{\"x\":\"y\"}}")})
          .bytes,
      &found);
  EXPECT_EQ(found.warnings, (std::vector<std::string>{"npz.private.stale", "npz.private.stale"}));
}

TEST(NpzPrivate, SafeNames) {
  for (const std::string_view good : {"a", "a/b", "a..b", ".hidden", "x.npz"})
    EXPECT_TRUE(npz::is_safe_name(good)) << good;
  for (const std::string_view bad :
       {"", "/a", "a/", "../a", "a/../b", "a/..", "./a", "a//b", "a\\b", "c:a", "a.npy", "__tare__/0"})
    EXPECT_FALSE(npz::is_safe_name(bad)) << bad;
}

TEST(NpyWrite, RoundTripAndRefusals) {
  Model model;
  model.tensors.push_back(dense("w", {2, 2}, DType::f32, Blob::memory(bytes_of("0123456789abcdef")), "complex64"));
  const auto write = [&] {
    MemorySink sink;
    npy::kFormat.write(model, sink, {});
    return text_of(sink.bytes());
  };
  EXPECT_EQ(rule_of(write), "npy.dense.size");
  model.tensors[0].shape = {2, 1};
  const Model back = open_npy(write());
  EXPECT_EQ(back.tensors[0].components[0].type, "complex64");
  EXPECT_EQ(back.tensors[0].components[0].blob.offset() % 64, 0u);
  EXPECT_EQ(data_of(back.tensors[0]), "0123456789abcdef");
  model.metadata.append("k", 1);
  EXPECT_EQ(rule_of(write), "npy.write.room");
  model.metadata = {};
  model.tensors[0] = dense("w", {1}, DType::u8, Blob::memory(bytes_of("x")), "f8_e5m2");
  EXPECT_EQ(rule_of(write), "npy.write.type");
  model.tensors.clear();
  EXPECT_EQ(rule_of(write), "npy.write.single");
}

}  // namespace
}  // namespace tare
