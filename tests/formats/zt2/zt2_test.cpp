// The bytes of known files, the profiles, compressed parts, several files, and appending in place.
#include "formats/zt2/zt2.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cmath>

#include "base/endian.hpp"
#include "conformance/models.hpp"
#include "conformance/steps.hpp"
#include "conformance/zt2_cases.hpp"
#include "tare/append.hpp"
#include "tare/metadata.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;
namespace text = tare::testing::zt2_text;

const Format& row() { return *find_format("zt2"); }
Model reopen(Bytes bytes) { return open(memory_source(std::move(bytes), "it.zt2")); }

// The file that upstream's conformance corpus calls canonical-basic.
Model basic() {
  Model model;
  model.tensors = {dense("tied", {2, 4}, DType::bf16, Blob::memory(Bytes(16, std::byte{2}))),
                   dense("a.weight", {2, 4}, DType::bf16, Blob::memory(Bytes(16, std::byte{2}))),
                   dense("a.bias", {4}, DType::f32, Blob::memory(Bytes(16, std::byte{1})))};
  return model;
}

TEST(Zt2Golden, CanonicalBytesAreThoseOfUpstream) {
  const Bytes bytes = write_bytes(row(), basic());
  EXPECT_EQ(digest_of(DigestAlgorithm::sha256, bytes).hex(),
            "638a90bf6fdd9b4e084c53738cec877aede48e9fdce5715cb70820fdd1f60bcb");
  EXPECT_EQ(row().content_digest(basic(), {}),
            "sha256:4811d499a49d509f70874bb87b0f71f9d8895873acca2d29581e17bff2be8a9c");
  const Model found = reopen(bytes);
  ASSERT_EQ(found.tensors.size(), 3U);
  EXPECT_EQ(found.tensors[0].name, "a.bias");
  EXPECT_EQ(found.tensor("a.bias")->components[0].blob.offset(), 65536U);
  EXPECT_EQ(found.tensor("a.weight")->components[0].blob.offset(), 131072U);
  EXPECT_EQ(found.tensor("tied")->components[0].blob.offset(), 131072U);
  EXPECT_TRUE(write_bytes(row(), found) == bytes);
}

TEST(Zt2Golden, AnEmptyModelIsAManifestAtItsPlace) {
  const Bytes bytes = write_bytes(row(), Model());
  const std::string manifest = text::root({});
  EXPECT_EQ(bytes.size(), 65536 + manifest.size() + 40);
  EXPECT_EQ(to_text(bytes).substr(65536, manifest.size()), manifest);
}

TEST(Zt2Golden, EqualBytesAreStoredOnceAndEmptyOnesShareAPlace) {
  Model model;
  model.tensors = {make_dense("a", {30000}, DType::f32, "", 1), make_dense("b", {30000}, DType::f32, "", 1),
                   make_dense("c", {30000}, DType::f32, "", 2), make_dense("d", {0}, DType::f32),
                   make_dense("e", {0, 3}, DType::u8),          make_dense("f", {60000}, DType::u16, "", 1)};
  model.tensors[5].components[0].blob = model.tensors[0].components[0].blob;  // the same bytes as another type
  Bytes nearly = model.tensors[0].components[0].blob.bytes();
  nearly[60000] ^= std::byte{1};
  model.tensors.push_back(dense("g", {30000}, DType::f32, Blob::memory(nearly)));
  const Model found = reopen(write_bytes(row(), model));
  const auto place = [&](const char* name) { return found.tensor(name)->components[0].blob.offset(); };
  EXPECT_EQ(place("a"), place("b"));
  EXPECT_EQ(place("a"), place("f"));
  EXPECT_NE(place("a"), place("c"));
  EXPECT_NE(place("a"), place("g"));
  EXPECT_EQ(place("d"), place("e"));
  expect_same(model, found, row().holds);
}

// Every layout of ours is read back unchanged, under the id that the specification has for it.
TEST(Zt2Layouts, HaveTheirProfiles) {
  Tensor f4;
  f4.name = "f4";
  f4.shape = {4};
  f4.layout = "packed.f4_e2m1";
  f4.components = {{"payload", DType::u8, "", Blob::memory(noise(2, 1))}};
  Tensor blocks = f4;
  blocks.name = "blocks";
  blocks.shape = {2, 32};
  blocks.layout = "ggml.q8_0";
  blocks.components[0].blob = Blob::memory(noise(68, 2));
  Tensor two = make_dense("two", {3}, DType::f32);
  two.components.push_back(two.components[0]);
  two.components[1].role = "more";
  const std::pair<Tensor, std::string> all[] = {{make_dense("b", {3}, DType::boolean), "dense"},
                                                {f4, "dense"},
                                                {make_csr("csr"), "zt.sparse_csr/1"},
                                                {make_coo("coo"), "zt.sparse_coo/1"},
                                                {make_group("group"), "zt.quant_group/1"},
                                                {blocks, "gguf.q8_0/1"},
                                                {two, "tare.dense/1"},
                                                {make_strange("strange"), "tare.x.unheard_of/1"}};
  for (const auto& [tensor, id] : all) {
    SCOPED_TRACE(tensor.name);
    EXPECT_EQ(zt2::object_of(tensor).layout, id);
    Model model;
    model.tensors = {tensor};
    expect_same(model, reopen(write_bytes(row(), model)), row().holds);
  }
  for (const std::string id : {"x.own/2", "zt2:dense", "zt2:plain", "tare.x/1", "dense.more", "zt2:zt2:x/1"}) {
    Tensor tensor = make_strange("t");
    tensor.layout = id;
    Model model;
    model.tensors = {tensor};
    EXPECT_EQ(reopen(write_bytes(row(), model)).tensors[0].layout, id);
  }
}

// Repeated places are added up in other containers but forbidden here, so such a tensor keeps its own layout name and
// is read back unchanged.
TEST(Zt2Layouts, CoordinatesThatRepeatAreNotThisProfile) {
  Tensor coo = make_coo("c");
  EXPECT_EQ(zt2::object_of(coo).layout, "zt.sparse_coo/1");
  Bytes coords = coo.component("coords")->blob.bytes();
  const std::size_t each = coords.size() / coo.shape.rank();
  for (std::size_t d = 0; d < coo.shape.rank(); ++d)  // the last entry is at the same place as the first
    std::copy_n(coords.begin() + static_cast<std::ptrdiff_t>(d * each), 8,
                coords.begin() + static_cast<std::ptrdiff_t>((d + 1) * each - 8));
  for (Component& component : coo.components)
    if (component.role == "coords") component.blob = Blob::memory(coords);
  EXPECT_EQ(zt2::object_of(coo).layout, "tare.sparse_coo/1");
  Model model;
  model.tensors = {coo};
  expect_same(model, reopen(write_bytes(row(), model)), row().holds);
  const Scratch scratch;
  put_file(scratch / "f.zt", write_bytes(row(), model));
  EXPECT_TRUE(verify(scratch / "f.zt").ok(false));
}

TEST(Zt2Rules, APlaceThatAppearsTwiceIsAnErrorSaidOnce) {
  const Scratch scratch;
  for (const Zt2Case& each : zt2_cases()) {
    if (each.rule != "zt2.coo.duplicate") continue;
    put_file(scratch / "f.zt", each.file);
    const Verification result = verify(scratch / "f.zt");
    EXPECT_FALSE(result.ok(false)) << each.name;
    EXPECT_EQ(std::ranges::count(result.findings, each.rule, &Finding::rule), 1) << each.name;
  }
}

TEST(Zt2Canonical, NamesThatAreNotInFormCAreKeptAndSaid) {
  const std::string composed = "caf\xC3\xA9", decomposed = "cafe\xCC\x81";
  Model model;
  model.tensors = {make_dense(composed, {3}, DType::f32, "", 1), make_dense(decomposed, {3}, DType::f32, "", 2)};
  const Scratch scratch;
  put_file(scratch / "f.zt", write_bytes(row(), model));
  expect_same(model, open(scratch / "f.zt"), row().holds);
  const Verification result = verify(scratch / "f.zt");
  EXPECT_TRUE(result.ok(true));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].rule, "zt2.canonical");
  EXPECT_NE(result.findings[0].sentence.find("form C"), std::string::npos);
  ASSERT_EQ(row().remarks(model, {}).size(), 1U);
  model.tensors.pop_back();
  put_file(scratch / "g.zt", write_bytes(row(), model));
  EXPECT_TRUE(verify(scratch / "g.zt").findings.empty());
  EXPECT_TRUE(row().remarks(model, {}).empty());
}

TEST(Zt2Seekable, AnyPartIsReadAndStoredAsItIs) {
  Model model;
  Bytes bytes = noise((std::size_t{3} << 20) + 77, 1);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (i % 7 != 0) bytes[i] = std::byte{0};
  model.tensors = {dense("a", {bytes.size()}, DType::u8, Blob::memory(bytes)),
                   dense("noise", {5000}, DType::u8, Blob::memory(noise(5000, 9)))};
  const Bytes file = write_bytes(row(), model, {.zstd_level = 3});
  EXPECT_LT(file.size(), bytes.size());
  const Model found = reopen(file);
  const Blob& blob = found.tensor("a")->components[0].blob;
  EXPECT_EQ(blob.encoding(), Encoding::zstd_seekable);
  EXPECT_EQ(found.tensor("noise")->components[0].blob.encoding(), Encoding::raw);
  EXPECT_EQ(blob.seek_granularity(), std::uint64_t{1} << 20);
  EXPECT_TRUE(blob.bytes() == bytes);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, (std::size_t{1} << 20) - 1, std::size_t{1} << 20,
                               (std::size_t{2} << 20) + 5, bytes.size() - 3}) {
    Bytes some(std::min<std::size_t>(bytes.size() - at, 3000));
    blob.read(at, some);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at))) << at;
  }
  // Written again without decompression; and decompressed.
  EXPECT_TRUE(write_bytes(row(), found) == file);
  EXPECT_EQ(row().content_digest(found, {}), row().content_digest(model, {}));
  EXPECT_EQ(reopen(write_bytes(row(), found, {.unpack = true})).tensors[0].components[0].blob.encoding(),
            Encoding::raw);
  // A reader may outlive its blob.
  std::unique_ptr<BlobReader> reader;
  {
    Model gone = reopen(file);
    reader = gone.tensor("a")->components[0].blob.open();
  }
  Bytes first(10);
  reader->read(first);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), bytes.begin()));
}

// Keys that the specification forbids, also with values that only CBOR can express, and the key under which they are
// kept.
TEST(Zt2Attributes, ForbiddenKeysComeBack) {
  const auto opaque = [](const std::string& bytes) { return Opaque{"cbor", to_bytes(bytes)}; };
  const Value int_keys = opaque("\xA1\x01\x61x");
  Map nested;
  nested.set("tare.keys", 1);
  for (const std::string& key : {std::string(), std::string("tare.keys"), std::string("a\0b", 3), std::string("plain")})
    for (const Value& value : {int_keys, Value(1), Value(nested), Value(Map())}) {
      Model model;
      model.tensors = {make_dense("w", {3}, DType::f32)};
      model.metadata.set(key, value);
      model.metadata.set("beside", 2);
      model.tensors[0].attributes.set(key, value);
      const Bytes once = write_bytes(row(), model);
      const Model found = reopen(once);
      EXPECT_EQ(found.metadata, model.metadata) << key;
      EXPECT_EQ(found.tensors[0].attributes, model.tensors[0].attributes) << key;
      EXPECT_TRUE(write_bytes(row(), found) == once) << key;
    }
}

// The reader has a fast path for the most common objects. It finds every error, too.
TEST(Zt2Plain, DefectsOfPlainObjectsHaveTheirRules) {
  const std::string digest = text::xxh3(text::kTwoFloats);
  const auto digested = [&](text::Entries part) { return cbor::with(std::move(part), "digest", cbor::text(digest)); };
  const text::Entries good = digested(text::part(4096, 8));
  const auto shaped = [&](const std::vector<std::uint64_t>& shape) {
    return text::one(text::object(shape, "dense", {{"data", text::map(good)}}));
  };
  const auto named = [&](std::string_view name) {
    return text::file(text::kTwoFloats, text::root({{std::string(name), text::map(text::dense(good))}}));
  };
  const auto with = [&](const std::string& key, const cbor::Item& value) {
    return text::one_part(cbor::with(good, key, value));
  };
  const auto without = [&](const std::string& key) { return text::one_part(cbor::without(good, key)); };
  const std::pair<Bytes, const char*> all[] = {
      {text::one_part(good), ""},
      {text::one_part(digested(text::part(4100, 8))), "zt2.blob.misaligned"},
      {text::one_part(digested(text::part(0, 8))), "zt2.blob.misaligned"},
      {text::one_part(digested(text::part(std::uint64_t{1} << 20, 8))), "zt2.blob.bounds"},
      {text::one_part(digested(text::part(UINT64_MAX - 4095, 8))), "zt2.blob.bounds"},
      {text::one_part(digested(text::part(4096, UINT64_MAX - 3))), "zt2.blob.bounds"},
      {text::one_part(digested(text::part(4096, 12))), "zt2.dense.size"},
      {text::one_part(digested(text::part(4096, 8, "f64"))), "zt2.dense.size"},
      {text::one_part(digested(text::part(4096, 8, "bool"))), "zt2.schema"},
      {text::one_part(digested(text::part(4096, 8, "f4"))), "zt2.schema"},
      {text::one_part(digested(text::part(4096, 8, "f320"))), "zt2.schema"},
      {with("blob", text::numbers({4096})), "zt2.schema"},
      {with("blob", "\x82" + cbor::number(4096) + cbor::number(8, 1)), "zt2.cbor.form"},
      {with("blob", "\x82" + cbor::number(4096, 4) + cbor::number(8)), "zt2.cbor.form"},
      {with("digest", cbor::text("xxh3:0123456789ABCDEF")), "zt2.schema"},
      {with("digest", cbor::text("xxh3:0123456789abcdeg")), "zt2.schema"},
      {with("type", cbor::text("bool")), "zt2.schema"},
      {with("shard", cbor::text("s")), "zt2.shard.unknown"},
      {without("blob"), "zt2.schema"},
      {without("dtype"), "zt2.schema"},
      {shaped({3}), "zt2.dense.size"},
      {shaped({}), "zt2.dense.size"},
      {shaped({1, 1, 1, 1, 2}), ""},
      {shaped({std::uint64_t{1} << 33, std::uint64_t{1} << 33}), "zt2.shape"},
      {shaped({std::uint64_t{1} << 33, std::uint64_t{1} << 33, 0}), "zt2.shape"},
      {shaped({0, std::uint64_t{1} << 33, std::uint64_t{1} << 33}), "zt2.dense.size"},
      {shaped({std::uint64_t{1} << 62}), "zt2.dense.size"},
      {shaped({(std::uint64_t{1} << 62) + 2}), "zt2.dense.size"},  // four times that wraps to 8
      {shaped(std::vector<std::uint64_t>(65, 1)), "zt2.shape"},
      {named(""), "zt2.name"},
      {named(std::string_view("a\0b", 3)), "zt2.name"},
      {named(std::string(1025, 'n')), "zt2.name"},
      {named(std::string(1024, 'n')), ""},
      {named("\xFF"), "zt2.cbor.syntax"},
      {text::one(cbor::with(text::dense(good), "layout", cbor::text("other"))), ""},
  };
  std::size_t number = 0;
  for (const auto& it : all) {
    EXPECT_EQ(rule_of([&] { reopen(it.first); }), it.second) << number;
    ++number;
  }
}

TEST(Zt2Plain, ListsAreInTheOrderOfBlobsWhateverIsAmongThem) {
  Model model;
  model.tensors = {make_dense("bb", {3}, DType::f32, "", 1),     make_dense("a", {1, 2, 3, 4, 5}, DType::u8, "", 2),
                   make_dense("ccc", {0}, DType::f32),           make_csr("b"),
                   make_dense("tied to bb", {3}, DType::f32),    make_dense("d", {2}, DType::boolean),
                   make_dense("aa", {2, 2, 2, 2}, DType::i64),   make_dense("c", {}, DType::bf16),
                   make_dense("bc", {5}, DType::u8, "f8_e4m3fn")};
  model.tensors[4].components[0].blob = model.tensors[0].components[0].blob;
  const auto names = [](const Model& of) {
    std::vector<std::string> all;
    for (const Tensor& tensor : of.tensors) all.push_back(tensor.name);
    return all;
  };
  for (const bool all : {true, false}) {
    if (!all)
      std::erase_if(model.tensors, [](const Tensor& t) { return t.name == "b" || t.name == "d" || t.name == "bc"; });
    for (const WriteOptions& options : {WriteOptions{}, WriteOptions{.dialect = "pages"}}) {
      const Model found = reopen(write_bytes(row(), model, options));
      expect_same(model, found, row().holds);
      std::vector<std::string> expected = {"a", "aa", "b", "bb", "tied to bb", "bc", "c", "ccc", "d"};
      if (!all) std::erase_if(expected, [](const std::string& n) { return n == "b" || n == "d" || n == "bc"; });
      EXPECT_EQ(names(found), expected);
    }
  }
}

// If two share some of their bytes, the second is invalid; all others are read.
TEST(Zt2Plain, OverlapsAreFoundAmongThem) {
  const std::string data(3 * 4096, 'x');
  const auto at = [&](std::uint64_t offset, std::uint64_t count) {
    const std::string digest = text::xxh3(data.substr(0, count));
    return text::map(
        text::object({count}, "dense",
                     {{"data", text::map(cbor::with(text::part(offset, count, "u8"), "digest", cbor::text(digest)))}}));
  };
  const Bytes file = text::file(data, text::root({{"a", at(4096, 5000)}, {"b", at(8192, 8)}, {"c", at(12288, 8)}}));
  EXPECT_EQ(rule_of([&] { reopen(file); }), "zt2.blob.overlap");
  const Model kept = open(memory_source(file, "it.zt2"), {.keep_broken = true});
  ASSERT_EQ(kept.tensors.size(), 2U);
  EXPECT_EQ(kept.tensors[0].name, "a");
  EXPECT_EQ(kept.tensors[1].name, "c");
  ASSERT_EQ(kept.broken.size(), 1U);
  EXPECT_EQ(kept.broken[0].tensor.name, "b");
  EXPECT_EQ(kept.broken[0].error.item(), "tensor b");
  const Bytes over = text::file(data, text::root({{"a", at(12288, 4097)}}));
  EXPECT_EQ(rule_of([&] { reopen(over); }), "zt2.blob.overlap") << "with the manifest";
}

class Zt2Shards : public ::testing::Test {
 protected:
  Zt2Shards() {
    for (std::uint64_t i = 0; i < 6; ++i)
      model_.tensors.push_back(make_dense("t" + std::to_string(i), {20000}, DType::f32, "", i + 1));
    model_.metadata.set("k", "v");
    row().write_tree(model_, folder_, {.shard_bytes = 300000}, false);
  }
  std::vector<std::string> shards() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename() != "model.zt") names.push_back(entry.path().string());
    std::ranges::sort(names);
    return names;
  }
  std::string rule() const {
    return rule_of([&] { open(folder_ + "/model.zt"); });
  }

  const Scratch scratch_;
  const std::string folder_ = scratch_ / "d";
  Model model_;
};

TEST_F(Zt2Shards, AreOneModelAndModelsOfTheirOwn) {
  const Model found = open(folder_ + "/model.zt");
  expect_same(model_, found, row().holds);
  EXPECT_EQ(found.sources.size(), shards().size() + 1);
  std::size_t tensors = 0;
  for (const std::string& shard : shards()) {
    const Verification result = verify(shard);
    EXPECT_TRUE(result.ok(true));
    EXPECT_TRUE(result.findings.empty()) << result.findings[0].sentence;  // canonical
    tensors += result.tensors;
  }
  EXPECT_EQ(tensors, model_.tensors.size());
}

TEST_F(Zt2Shards, MissingOrOtherOnesAreRefused) {
  const std::string shard = shards().at(1);
  const Bytes good = get_file(shard);
  fs::rename(shard, folder_ + "/elsewhere");
  EXPECT_EQ(rule(), "zt2.shard.missing");
  EXPECT_EQ(open(folder_ + "/model.zt", {.listing = true}).tensors.size(), model_.tensors.size());
  EXPECT_FALSE(verify(folder_ + "/model.zt").ok(false));
  fs::rename(folder_ + "/elsewhere", folder_ + "/model-other.zt");  // found by its content
  EXPECT_EQ(rule(), "");
  fs::remove(folder_ + "/model-other.zt");
  Bytes bad = good;
  bad.push_back(std::byte{0});
  put_file(shard, bad);
  EXPECT_EQ(rule(), "zt2.shard.identity");
  bad = good;
  bad.back() ^= std::byte{1};
  put_file(shard, bad);
  EXPECT_EQ(rule(), "zt2.shard.identity");
  // `open` does not look for a flipped bit of data, but verify does.
  bad = good;
  bad[65536] ^= std::byte{1};
  put_file(shard, bad);
  EXPECT_EQ(rule(), "");
  const Verification result = verify(folder_ + "/model.zt");
  EXPECT_TRUE(std::ranges::any_of(result.findings, [](const Finding& f) { return f.rule == "zt2.shard.identity"; }));
}

// The file that is read is the one that is verified, even if the correct one exists under another name.
TEST_F(Zt2Shards, AnExchangedOneIsFoundBesideTheTrueOne) {
  const std::string shard = shards().at(0);
  fs::copy_file(shard, folder_ + "/model-true.zt");
  Bytes evil = get_file(shard);
  evil[65536] ^= std::byte{1};
  put_file(shard, evil);
  const Verification result = verify(folder_ + "/model.zt");
  EXPECT_EQ(std::ranges::count(result.findings, "zt2.shard.identity", &Finding::rule), 1);
  fs::remove(shard);
  EXPECT_TRUE(verify(folder_ + "/model.zt").ok(true));
  expect_same(model_, open(folder_), row().holds);
}

TEST_F(Zt2Shards, LinksOutOfTheDirectoryAreRefused) {
  const std::string shard = shards().at(0);
  fs::rename(shard, scratch_ / "elsewhere.zt");
  for (const std::string& name : {shard, folder_ + "/model-another.zt"}) {
    fs::create_symlink(scratch_ / "elsewhere.zt", name);
    EXPECT_EQ(rule(), name == shard ? "zt2.shard.outside" : "zt2.shard.missing");
    EXPECT_FALSE(verify(folder_).ok(false));
    fs::remove(name);
  }
  fs::rename(scratch_ / "elsewhere.zt", folder_ + "/model-within.zt");
  fs::create_symlink("model-within.zt", shard);
  EXPECT_EQ(rule(), "");
}

// Each file is hashed once, however many shards are missing.
TEST_F(Zt2Shards, ManyAreLookedForInOneGo) {
  text::Entries table;
  const std::size_t size = get_file(shards().at(0)).size();
  for (int i = 0; i < 3000; ++i)
    table.emplace_back(
        "s" + std::to_string(10'000 + i),
        text::map({{"size", cbor::number(size)}, {"digest", cbor::text(text::xxh3(std::to_string(i)))}}));
  for (int i = 0; i < 200; ++i)
    fs::create_hard_link(shards().at(0), folder_ + "/model-copy" + std::to_string(i) + ".zt");
  put_file(folder_ + "/model.zt",
           text::file("", text::map({{"shards", cbor::map(table)}, {"objects", text::map({})}})));
  EXPECT_EQ(rule(), "zt2.shard.missing");
  EXPECT_TRUE(open(folder_ + "/model.zt", {.listing = true}).tensors.empty());
}

TEST_F(Zt2Shards, TwoNamesMayMeanOneFileAndARootMayBeAShard) {
  // A root over the first shard, under two names: a duplicate is not an error, and a shard's own manifest is ignored.
  const std::string shard = shards().at(0);
  const Bytes bytes = get_file(shard);
  const std::string digest = "xxh3:" + digest_of(DigestAlgorithm::xxh3, bytes).hex();
  const Blob blob = open(shard).tensors.at(0).components[0].blob;
  const auto entry = [&] { return text::map({{"size", cbor::number(bytes.size())}, {"digest", cbor::text(digest)}}); };
  const auto part = [&](std::string_view name) {
    return text::map(text::object(
        {20000}, "dense",
        {{"data", text::map(cbor::with(text::part(blob.offset(), blob.size()), "shard", cbor::text(name)))}}));
  };
  put_file(folder_ + "/over.zt",
           text::file("", text::map({{"shards", text::map({{"a", entry()}, {"b", entry()}})},
                                     {"objects", text::map({{"x", part("a")}, {"y", part("b")}})}})));
  const Model found = open(folder_ + "/over.zt");
  EXPECT_EQ(found.tensors.size(), 2U);
  EXPECT_EQ(found.tensors[0].components[0].blob.bytes(), found.tensors[1].components[0].blob.bytes());
}

// The sizes that the root states are compared with the files.
TEST_F(Zt2Shards, LyingSizesAndCyclesAreRefused) {
  const std::string shard = shards().at(0);
  const Bytes bytes = get_file(shard);
  const Blob blob = open(shard).tensors.at(0).components[0].blob;
  const auto root_over = [&](std::uint64_t size, const std::string& digest, std::uint64_t offset,
                             std::string_view name) {
    const auto entry = text::map({{"size", cbor::number(size)}, {"digest", cbor::text(digest)}});
    const auto part = text::map(cbor::with(text::part(offset, blob.size()), "shard", cbor::text(name)));
    return text::file(
        "", text::map({{"shards", text::map({{std::string(name), entry}})},
                       {"objects", text::map({{"x", text::map(text::object({20000}, "dense", {{"data", part}}))}})}}));
  };
  const std::string right = "xxh3:" + digest_of(DigestAlgorithm::xxh3, bytes).hex();
  const std::string name = fs::path(shard).stem().string().substr(6);  // model-NAME.zt
  const std::string over = folder_ + "/model.zt";
  put_file(over, root_over(bytes.size(), right, blob.offset(), name));
  EXPECT_EQ(rule(), "");
  for (const std::uint64_t size :
       {std::uint64_t{65536}, std::uint64_t{bytes.size()} + 1, std::uint64_t{1} << 62, UINT64_MAX})
    for (const std::uint64_t offset : {blob.offset(), std::uint64_t{1} << 40}) {
      put_file(over, root_over(size, right, offset, name));
      const std::string found = rule();
      EXPECT_TRUE(found == "zt2.shard.identity" || found == "zt2.blob.bounds") << size << " " << offset << " " << found;
      EXPECT_FALSE(verify(over).ok(false));
      error_of([&] { open(over, {.listing = true}); });
    }
  // A root that is its own shard, found by its size: no file can contain its own digest.
  std::size_t own = bytes.size();
  for (int i = 0; i < 3; ++i) own = root_over(own, right, 4096, "self").size();
  put_file(folder_ + "/self.zt", root_over(own, right, 4096, "self"));
  EXPECT_EQ(rule_of([&] { open(folder_ + "/self.zt"); }), "zt2.shard.missing");
  // Two roots, each the other's shard, under the expected names: the sizes match, the digests cannot.
  put_file(folder_ + "/a.zt", root_over(own, right, 4096, "bbbb"));
  put_file(folder_ + "/a-bbbb.zt", root_over(own, right, 4096, "cccc"));
  EXPECT_EQ(rule_of([&] { open(folder_ + "/a.zt").tensors.at(0).components[0].blob.bytes(); }), "zt2.blob.bounds");
  EXPECT_FALSE(verify(folder_ + "/a.zt").ok(false));
}

// If the root is missing, the first shard is not taken for the model.
TEST_F(Zt2Shards, WithoutTheirRootAreNoModel) {
  fs::remove(folder_ + "/model.zt");
  EXPECT_EQ(rule_of([&] { row().read({folder_, nullptr}, {}); }), "zt2.directory");
  const std::vector<std::string> all = shards();
  for (std::size_t i = 1; i < all.size(); ++i) fs::remove(all[i]);
  EXPECT_EQ(rule_of([&] { row().read({folder_, nullptr}, {}); }), "zt2.directory");
  EXPECT_FALSE(row().recognize_tree(folder_));
  EXPECT_FALSE(open(all[0]).tensors.empty());  // opened by its own name, it is a model
}

TEST_F(Zt2Shards, TheRootsMetadataIsEditedInPlace) {
  std::map<std::string, Bytes> before;
  for (const std::string& shard : shards()) before[shard] = get_file(shard);
  const Bytes root = get_file(folder_ + "/model.zt");
  for (const std::string& path : {folder_, folder_ + "/model.zt"}) {
    const MetadataEdit edit{.key = "note", .value = Value(path)};
    const Edited done = edit_metadata(path, {&edit, 1});
    EXPECT_TRUE(done.in_place);
    const Model found = open(path);
    EXPECT_EQ(done.file_bytes, found.file_bytes);
    EXPECT_EQ(*found.metadata.find("note"), Value(path));
    EXPECT_EQ(*found.metadata.find("k"), Value("v"));
    EXPECT_EQ(found.tensors.size(), model_.tensors.size());
    EXPECT_TRUE(verify(path).ok(true));
  }
  for (const auto& [path, bytes] : before) EXPECT_TRUE(get_file(path) == bytes) << path;
  const Bytes after = get_file(folder_ + "/model.zt");
  EXPECT_TRUE(std::equal(root.begin(), root.end(), after.begin()));
}

TEST(Zt2Directory, NeedsOneRoot) {
  const Scratch scratch;
  const std::string folder = scratch / "d";
  fs::create_directory(folder);
  Model model;
  model.tensors = {make_dense("w", {3}, DType::f32)};
  put_file(folder + "/a.zt", write_bytes(row(), model));
  EXPECT_EQ(open(folder).tensors.size(), 1U);
  put_file(folder + "/b.zt", write_bytes(row(), model));
  EXPECT_EQ(rule_of([&] { row().read({folder, nullptr}, {}); }), "zt2.directory");
}

TEST_F(Zt2Shards, AStoreKeepsThemByContent) {
  const std::string store = scratch_ / "s";
  row().write_tree(model_, store, {.dialect = "store", .shard_bytes = 300000}, false);
  EXPECT_TRUE(fs::is_directory(store + "/blobs/sha256"));
  expect_same(model_, open(store), row().holds);
  EXPECT_TRUE(verify(store).ok(true));
  row().write_tree(model_, store, {}, true);
  EXPECT_EQ(fs::exists(store + "/blobs") && !fs::is_empty(store + "/blobs/sha256"), false) << "old blobs are gone";
  expect_same(model_, open(store), row().holds);
}

class Zt2Append : public ::testing::Test {
 protected:
  Zt2Append() {
    base_.tensors = {make_dense("b", {30}, DType::f32, "", 1), make_csr("csr")};
    base_.metadata.set("k", "v");
    extra_.tensors = {make_dense("a", {1000}, DType::f32, "", 2), make_group("group"),
                      make_dense("none", {0}, DType::u8)};
    extra_.metadata.set("k", "w");
    renew({});
  }
  void renew(const WriteOptions& options) { put_file(path_, write_bytes(row(), base_, options)); }
  Model expected() const {
    Model all = base_;
    all.tensors.insert(all.tensors.end(), extra_.tensors.begin(), extra_.tensors.end());
    all.metadata = extra_.metadata;
    return all;
  }

  const Scratch scratch_{Scratch::fast_place()};
  const std::string path_ = scratch_ / "f.zt";
  Model base_, extra_;
};

TEST_F(Zt2Append, NoByteThatWasThereChanges) {
  for (const WriteOptions& how : {WriteOptions{}, WriteOptions{.dialect = "pages"}})
    for (const WriteOptions& options : {WriteOptions{}, WriteOptions{.zstd_level = 3}}) {
      renew(how);
      const Bytes before = get_file(path_);
      append(path_, extra_, options);
      const Bytes after = get_file(path_);
      EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
      expect_same(expected(), open(path_), row().holds);
      EXPECT_TRUE(verify(path_).ok(true));
      const std::uint64_t alignment = how.dialect.empty() ? 65536 : 4096;
      EXPECT_EQ(open(path_).tensor("a")->components[0].blob.offset() % alignment, 0U);
      // Once more, with metadata only.
      const MetadataEdit edit{.key = "note", .value = Value("x")};
      EXPECT_TRUE(edit_metadata(path_, {&edit, 1}).in_place);
      EXPECT_EQ(*open(path_).metadata.find("note"), Value("x"));
    }
}

TEST_F(Zt2Append, RefusesWhatIsThereAndWhatIsNoList) {
  const Bytes before = get_file(path_);
  EXPECT_EQ(rule_of([&] { append(path_, base_); }), "zt2.append.exists");
  const int fd = ::open(path_.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  EXPECT_EQ(rule_of([&] { append(path_, extra_); }), "zt2.append.locked");
  ::close(fd);
  EXPECT_TRUE(get_file(path_) == before);
  put_file(path_, to_bytes(text::kMagic + std::string(24, '\0') + text::le(2, 4) + text::le(0, 4) + text::kMagic));
  EXPECT_EQ(rule_of([&] { append(path_, extra_); }), "zt2.append.data");
}

// Killed before every system call that changes something: the file lists the old tensors or all of them.
TEST_F(Zt2Append, AKillLeavesTheOldListOrTheNewOne) {
  const Bytes before = get_file(path_);
  for (int step = 0;; ++step) {
    put_file(path_, before);
    const Stopped stopped = kill_before_step(step, [&] {
      append(path_, extra_, {.work = {.threads = 1}});
      return 0;
    });
    if (stopped == Stopped::not_allowed) GTEST_SKIP() << "no ptrace here";
    if (stopped == Stopped::finished) {
      EXPECT_GT(step, 4);
      break;
    }
    const Model found = open(path_);
    const bool old = found.tensors.size() == base_.tensors.size();
    expect_same(old ? base_ : expected(), found, row().holds);
    EXPECT_TRUE(verify(path_).ok(true)) << step;
    if (!old) continue;
    append(path_, extra_, {.work = {.threads = 1}});  // as if nothing had happened
    expect_same(expected(), open(path_), row().holds);
    EXPECT_LT(fs::file_size(path_), std::uint64_t{2} << 20);
  }
}

}  // namespace
}  // namespace tare
