// The exact bytes of a canonical zTensor file.
#include <fmt/format.h>
#include <rapidcheck.h>

#include "base/text.hpp"
#include "conformance/models.hpp"
#include "conformance/zt_text.hpp"
#include "formats/rows.hpp"
#include "io/zstd.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Bytes write_zt(const Model& model, const WriteOptions& options = {}) {
  MemorySink sink;
  zt::kFormat.write(model, sink, options);
  return sink.take();
}

// The manifest of a file as text.
std::string manifest_of(const Bytes& file) {
  std::uint64_t length = 0;
  for (int i = 0; i < 8; ++i) length |= std::to_integer<std::uint64_t>(file[file.size() - 16 + i]) << (8 * i);
  return to_text(std::span(file).subspan(file.size() - 16 - length, length));
}

Tensor two_floats(const std::string& name) {
  return dense(name, {2}, DType::f32, Blob::memory(to_bytes(zt_text::kTwoFloats)));
}

TEST(ZtGolden, EmptyFile) {
  EXPECT_EQ(to_hex(write_zt({})),
            "5a54454e31303030a26776657273696f6e65312e322e30676f626a65637473a018000000000000005a54454e31303030");
  EXPECT_EQ(write_zt({}).size(), 48U);
}

TEST(ZtGolden, OneTensorWithACrc) {
  Model model;
  model.tensors = {two_floats("w")};
  const Bytes file = write_zt(model, {.digest = DigestAlgorithm::crc32c});
  EXPECT_EQ(file.size(), 206U);
  EXPECT_EQ(
      to_hex(to_bytes(manifest_of(file))),
      "a26776657273696f6e65312e322e30676f626a65637473a16177a3657368617065810266666f726d61746564656e73656a636f6d706f6e"
      "656e7473a16464617461a465647479706563663332666f66667365741840666c656e6774680866646967657374716372633332633a3078"
      "3238433043394231");
  EXPECT_EQ(digest_of(DigestAlgorithm::sha256, file).hex(),
            "99f6acc79fc8182a1ce0cbd7a14afe23f6b103673691cdc4381498b781778db4");
  const Model back = open(memory_source(file));
  EXPECT_EQ(back.version, "1.2.0");
  EXPECT_EQ(back.tensors.at(0).components[0].blob.offset(), 64U);
  EXPECT_EQ(back.tensors[0].components[0].blob.digest().text(), "crc32c:0x28C0C9B1");
}

TEST(ZtGolden, DigestSpelling) {
  Model model;
  model.tensors = {two_floats("w")};
  const auto spelling = [&](DigestAlgorithm algorithm) {
    return open(memory_source(write_zt(model, {.digest = algorithm}))).tensors.at(0).components[0].blob.digest().text();
  };
  const std::string sha = digest_of(DigestAlgorithm::sha256, to_bytes(zt_text::kTwoFloats)).hex();
  EXPECT_EQ(spelling(DigestAlgorithm::sha256), "sha256:" + sha);
  EXPECT_EQ(sha.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(spelling(DigestAlgorithm::crc32c), "crc32c:0x28C0C9B1");
  EXPECT_EQ(spelling(DigestAlgorithm::none), "");
}

// A matrix without entries: two of the three components have no bytes.
Tensor make_empty_csr(const std::string& name, std::uint64_t rows) {
  Tensor tensor;
  tensor.name = name;
  tensor.layout = "sparse_csr";
  tensor.shape = {rows, 2};
  tensor.components = {{"values", DType::f32, {}, Blob::memory({})},
                       {"indices", DType::u64, {}, Blob::memory({})},
                       {"indptr", DType::u64, {}, Blob::memory(Bytes((rows + 1) * 8))}};
  return tensor;
}

// Blobs are in the model's order at 64-byte boundaries, with zeros between them; names are sorted bytewise, so aa is
// before b.
TEST(ZtGolden, OrderAndPadding) {
  using namespace zt_text;
  Model model;
  const auto byte = [](const std::string& name, char value) {
    return dense(name, {1}, DType::u8, Blob::memory(to_bytes(std::string(1, value))));
  };
  model.tensors = {byte("b", 'B'), byte("aa", 'A'), make_dense("empty", {0}, DType::u8), byte("B", 'C')};
  const auto entry = [](std::uint64_t offset, std::uint64_t length) {
    return cbor::map(object({length}, "dense", {{"data", cbor::map(component(offset, length, "u8"))}}));
  };
  const std::string data = padded("B") + padded("A") + "C";
  const Bytes expected = file(
      data,
      cbor::map(root({{"B", entry(192, 1)}, {"aa", entry(128, 1)}, {"b", entry(64, 1)}, {"empty", entry(192, 0)}})));
  EXPECT_EQ(to_hex(write_zt(model)), to_hex(expected));
  // Reading returns them in the order of the blobs.
  std::string names;
  for (const Tensor& tensor : open(memory_source(expected)).tensors) names += tensor.name + " ";
  EXPECT_EQ(names, "b aa empty B ");
}

// Tensors without bytes have the offset of the next one; reading must not move them after it.
TEST(ZtGolden, WrittenReadAndWrittenAgainIsTheSame) {
  EXPECT_TRUE(rc::check("empty tensors anywhere", [] {
    Model model;
    const auto sizes = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 3));
    for (const std::uint64_t size : sizes) {
      const std::string name = fmt::format("{}.{}", *rc::gen::inRange('a', 'z'), model.tensors.size());
      model.tensors.push_back(make_dense(name, {size}, DType::u8));
      if (*rc::gen::inRange(0, 4) == 0) model.tensors.back() = make_empty_csr(name, size);
    }
    const Bytes once = write_zt(model);
    RC_ASSERT(write_zt(open(memory_source(once))) == once);
  }));
}

TEST(ZtGolden, ComponentsAreLaidOutInTheirOwnOrder) {
  const auto order = [](Tensor tensor) {
    std::reverse(tensor.components.begin(), tensor.components.end());
    Model model;
    model.tensors = {std::move(tensor)};
    const Model back = open(memory_source(write_zt(model)));
    std::vector<const Component*> parts;
    for (const Component& c : back.tensors.at(0).components) parts.push_back(&c);
    // The manifest has them sorted by name.
    EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end(), [](auto* a, auto* b) { return a->role < b->role; }));
    std::sort(parts.begin(), parts.end(), [](auto* a, auto* b) { return a->blob.offset() < b->blob.offset(); });
    std::string roles;
    for (const Component* c : parts) roles += c->role + " ";
    return roles;
  };
  EXPECT_EQ(order(make_csr("t")), "values indices indptr ");
  EXPECT_EQ(order(make_coo("t")), "values coords ");
  EXPECT_EQ(order(make_group("t")), "packed_weight scales zeros ");
  EXPECT_EQ(order(make_strange("t")), "book codes ");
}

TEST(ZtGolden, KeysAndAttributes) {
  using namespace zt_text;
  Model model;
  model.tensors = {two_floats("w")};
  model.tensors[0].components[0].type = "x.odd";
  Map inner;  // nested maps keep their order; the attributes themselves are sorted
  inner.set("z", 1);
  inner.set("a", 0.1);
  model.tensors[0].attributes.set("b", 1.5);
  model.tensors[0].attributes.set("aa", inner);
  model.metadata.set("pi", 3.14159274101257324);  // an f32
  model.metadata.set("list", List{true, nullptr, "x"});
  const auto floats = [](const char* bytes, std::size_t count) { return std::string(bytes, count); };
  const cbor::Item tenth = floats("\xFB\x3F\xB9\x99\x99\x99\x99\x99\x9A", 9);
  const Entries data = {{"dtype", cbor::text("f32")},
                        {"type", cbor::text("x.odd")},
                        {"offset", cbor::number(64)},
                        {"length", cbor::number(8)}};
  const Entries w = {{"shape", shape({2})},
                     {"format", cbor::text("dense")},
                     {"attributes", cbor::map({{"aa", cbor::map({{"z", cbor::number(1)}, {"a", tenth}})},
                                               {"b", floats("\xF9\x3E\0", 3)}})},
                     {"components", cbor::map({{"data", cbor::map(data)}})}};
  const Entries all = {{"version", cbor::text("1.2.0")},
                       {"attributes", cbor::map({{"list", cbor::array({"\xF5", "\xF6", cbor::text("x")})},
                                                 {"pi", floats("\xFA\x40\x49\x0F\xDB", 5)}})},
                       {"objects", cbor::map({{"w", cbor::map(w)}})}};
  EXPECT_EQ(to_hex(write_zt(model)), to_hex(file(kTwoFloats, cbor::map(all))));
}

// Frames of 4 MiB of input, each with its content size; what does not shrink is stored uncompressed.
TEST(ZtGolden, ZstdFrames) {
  const std::size_t size = 2 * io::kZstdFrame + 1000;
  Model model;
  model.tensors = {dense("zeros", {size}, DType::u8, Blob::memory(Bytes(size))),
                   dense("noise", {5000}, DType::u8, Blob::memory(noise(5000, 3))),
                   make_dense("none", {0}, DType::f32)};
  const Bytes file = write_zt(model, {.zstd_level = 3, .digest = DigestAlgorithm::sha256});
  const Model back = open(memory_source(file));
  const Blob& zeros = back.tensor("zeros")->components[0].blob;
  EXPECT_EQ(zeros.encoding(), Encoding::zstd);
  EXPECT_EQ(zeros.size(), size);
  EXPECT_LT(zeros.stored_size(), 5000U);
  EXPECT_EQ(zeros.digest().hex(),
            digest_of(DigestAlgorithm::sha256, std::span(file).subspan(zeros.offset(), zeros.stored_size())).hex());
  EXPECT_EQ(zeros.seek_granularity(), io::kZstdFrame);
  std::uint64_t at = zeros.offset(), decoded = 0;
  for (int frame = 0; frame < 3; ++frame) {
    const auto rest = std::span(file).subspan(at, zeros.offset() + zeros.stored_size() - at);
    const auto content = ZSTD_getFrameContentSize(rest.data(), rest.size());
    EXPECT_EQ(content, std::min(io::kZstdFrame, size - decoded));
    decoded += content;
    at += ZSTD_findFrameCompressedSize(rest.data(), rest.size());
  }
  EXPECT_EQ(at, zeros.offset() + zeros.stored_size());
  EXPECT_EQ(back.tensor("noise")->components[0].blob.encoding(), Encoding::raw);
  EXPECT_EQ(back.tensor("none")->components[0].blob.encoding(), Encoding::raw);
  EXPECT_EQ(content_digest(back), content_digest(model));
  EXPECT_NE(manifest_of(file).find("uncompressed_length"), std::string::npos);
}

// What the specification does not define is carried at its place.
TEST(ZtGolden, UnknownThingsAreCarried) {
  using namespace zt_text;
  const Entries data = {{"dtype", cbor::text("f32")},          {"type", cbor::text("f8_future")},
                        {"offset", cbor::number(64)},          {"length", cbor::number(8)},
                        {"digest", cbor::text("blake3:abcd")}, {"zz", cbor::tag(7, cbor::number(9))}};
  Entries w = object({77}, "x.format/3", {{"any", cbor::map(data)}});
  w.emplace_back("later", cbor::array({cbor::number(1)}));
  Entries all = root({{"w", cbor::map(w)}});
  all.emplace_back("signature", cbor::bytes("abc"));
  const Bytes bytes = file(kTwoFloats, cbor::map(all));
  const Model model = open(memory_source(bytes));
  EXPECT_EQ(model.tensors.at(0).layout, "x.format/3");
  EXPECT_EQ(model.tensors[0].components[0].type, "f8_future");
  EXPECT_EQ(to_hex(write_zt(model)), to_hex(bytes));
}

// As deeply nested as a reader accepts, whether the tree can represent it (lists) or not (a tag inside), at every place
// for such values.
TEST(ZtGolden, TheDeepestUnknownThingsAreCarried) {
  using namespace zt_text;
  for (const bool opaque : {false, true}) {
    const auto deep = [&](int levels) {
      cbor::Item item = opaque ? cbor::tag(7, cbor::number(9)) : cbor::number(9);
      for (int i = 0; i < levels; ++i) item = cbor::array({item});
      return item;
    };
    const auto file_with = [&](int in_root, int in_object, int in_attributes, int in_component) {
      Entries data = component(64, 8);
      data.emplace_back("zz", deep(in_component));
      Entries w = object({2}, "dense", {{"data", cbor::map(data)}});
      w.insert(w.begin() + 2, {"attributes", cbor::map({{"a", deep(in_attributes)}})});
      w.emplace_back("zz", deep(in_object));
      Entries all = root({{"w", cbor::map(w)}});
      all.emplace_back("zz", deep(in_root));
      return file(kTwoFloats, cbor::map(all));
    };
    const Bytes bytes = file_with(63, 61, 60, 59);
    EXPECT_EQ(to_hex(write_zt(open(memory_source(bytes)))), to_hex(bytes));
    for (int place = 0; place < 4; ++place) {
      const auto more = [&](int which, int levels) { return levels + (which == place ? 1 : 0); };
      const SourcePtr deeper = memory_source(file_with(more(0, 63), more(1, 61), more(2, 60), more(3, 59)));
      EXPECT_EQ(rule_of([&] { static_cast<void>(open(deeper)); }), "cbor.depth") << place;
      const Model read = open(deeper, {.limits = {.depth = 100}});
      EXPECT_EQ(rule_of([&] { write_zt(read); }), "zt.write.depth") << place;
    }
  }
}

// Attributes may look like our private ones; nothing is lost silently.
TEST(ZtGolden, MalformedPrivateAttributesAreKept) {
  using namespace zt_text;
  for (const std::string key : {"tare.config", "tare.vocabulary", "tare.attachments"}) {
    Entries all = root({});
    all.insert(all.begin() + 1, {"attributes", cbor::map({{key, cbor::number(5)}})});
    const Model model = open(memory_source(file("", cbor::map(all))));
    ASSERT_NE(model.metadata.find(key), nullptr) << key;
    EXPECT_EQ(*model.metadata.find(key), Value(5));
  }
}

}  // namespace
}  // namespace tare
