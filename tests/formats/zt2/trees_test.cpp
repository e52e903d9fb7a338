// The directories of conformance/zt2_cases.hpp: roots, with shards that match their description or do not.
#include <filesystem>
#include <set>

#include "conformance/models.hpp"
#include "conformance/zt2_cases.hpp"
#include "tare/tare.hpp"

namespace tare::testing {
namespace {

using namespace zt2_text;
using cbor::with;
using TreeFound = Zt2Case::Found;

struct TableLine {
  std::string name;
  std::uint64_t size;
  std::string digest;
};

Entries line_entry(const TableLine& line) {
  return {{"size", cbor::number(line.size)}, {"digest", cbor::text(line.digest)}};
}

Item tensor_in(std::string_view shard, std::uint64_t offset = 4096, std::uint64_t floats = 2) {
  return map(object({floats}, "dense", {{"data", map(with(part(offset, 4 * floats), "shard", cbor::text(shard)))}}));
}

std::string tree_root(const std::vector<TableLine>& lines, const Entries& objects) {
  Entries table;
  for (const TableLine& line : lines) table.emplace_back(line.name, map(line_entry(line)));
  return file_text("", map({{"shards", map(table)}, {"objects", map(objects)}}));
}

// The contents of a shard: two floats at 4096, and a manifest of its own, which a root ignores.
std::string shard_text() {
  return file_text(kTwoFloats,
                   root({{"own", map(dense(with(part(4096, 8), "digest", cbor::text(xxh3(kTwoFloats)))))}}));
}
TableLine line_of(std::string name, const std::string& shard) { return {std::move(name), shard.size(), xxh3(shard)}; }

void add_identities(std::vector<Zt2Tree>& trees) {
  const std::string good = shard_text();
  const auto add = [&](std::string name, const TableLine& line, const std::string& shard,
                       TreeFound found = TreeFound::on_open) {
    trees.push_back(
        {found,
         "zt2.shard.identity",
         std::move(name),
         {{"model.zt", to_bytes(tree_root({line}, {{"w", tensor_in("a")}}))}, {"model-a.zt", to_bytes(shard)}}});
  };
  const auto sized = [&](std::uint64_t size) { return TableLine{"a", size, xxh3(good)}; };
  add("size_larger", sized(good.size() + 1), good);
  add("size_smaller", sized(good.size() - 1), good);
  add("size_huge", sized(UINT64_MAX), good);
  add("truncated", line_of("a", good), good.substr(0, good.size() - 100));
  std::string other = good;
  other.back() = '?';
  add("footer", line_of("a", other), other);
  other = good;
  other.front() = '?';
  add("header", line_of("a", other), other);
  other = file_text(kTwoFloats, root({}), {.version = 3});
  add("version", line_of("a", other), other);
  other = std::string(good.size(), '\0');
  add("zeros", line_of("a", other), other);
  // `open` does not read these bytes.
  other = good;
  other[4096] ^= 1;
  add("digest_xxh3", line_of("a", good), other, TreeFound::by_verify);
  add("digest_sha256", {"a", good.size(), "sha256:" + hex_of(DigestAlgorithm::sha256, good)}, other,
      TreeFound::by_verify);
  other = good;
  other[4200] ^= 1;  // between the blobs
  add("digest_padding", line_of("a", good), other, TreeFound::by_verify);
  add("digest_digits", {"a", good.size(), "xxh3:0123"}, good, TreeFound::by_verify);
}

// A file cannot contain its own digest, so no root can validly be its own shard.
void add_cycles(std::vector<Zt2Tree>& trees) {
  const std::string good = shard_text();
  const auto over = [&](std::string_view name, std::uint64_t size) {
    return tree_root({{std::string(name), size, xxh3(good)}}, {{"w", tensor_in(name)}});
  };
  std::size_t own = 10000;
  for (int i = 0; i < 3; ++i) own = over("self", own).size();
  trees.push_back({TreeFound::on_open, "zt2.shard.missing", "itself", {{"model.zt", to_bytes(over("self", own))}}});
  // Each is the shard of the other, with the correct size.
  trees.push_back({TreeFound::by_verify,
                   "zt2.shard.identity",
                   "two_roots",
                   {{"model.zt", to_bytes(over("self", own))}, {"model-self.zt", to_bytes(over("root", own))}}});
  const std::string empty = tree_root({{"self", own, xxh3(good)}}, {});
  own = tree_root({{"self", empty.size(), xxh3(good)}}, {}).size();
  const Bytes listless = to_bytes(tree_root({{"self", own, xxh3(good)}}, {}));
  trees.push_back(
      {TreeFound::by_verify, "zt2.shard.identity", "cycle", {{"model.zt", listless}, {"model-self.zt", listless}}});
}

void add_tables(std::vector<Zt2Tree>& trees) {
  const std::string good = shard_text();
  const Bytes shard = to_bytes(good);
  const auto add = [&](std::string rule, std::string name, const std::string& root_text,
                       std::map<std::string, Bytes> others, TreeFound found = TreeFound::on_open) {
    others["model.zt"] = to_bytes(root_text);
    trees.push_back({found, std::move(rule), std::move(name), std::move(others)});
  };
  const TableLine line = line_of("a", good);
  add("zt2.shard.missing", "one_of_two", tree_root({line, {"b", 8000, xxh3("b")}}, {{"w", tensor_in("a")}}),
      {{"model-a.zt", shard}});
  add("zt2.shard.missing", "another_digest", tree_root({{"a", good.size(), xxh3("else")}}, {{"w", tensor_in("a")}}),
      {{"model-b.zt", shard}});
  add("zt2.shard.missing", "unheard_of_digest", tree_root({{"a", good.size(), "blake3:0123"}}, {{"w", tensor_in("a")}}),
      {});
  add("zt2.shard.unknown", "beside_another", tree_root({line}, {{"v", tensor_in("a")}, {"w", tensor_in("b")}}),
      {{"model-a.zt", shard}});
  add("zt2.blob.bounds", "in_a_shard", tree_root({line}, {{"w", tensor_in("a", 4096, 10000)}}),
      {{"model-a.zt", shard}});
  add("zt2.blob.bounds", "in_its_footer", tree_root({line}, {{"w", tensor_in("a", 8192, (good.size() - 8192) / 4)}}),
      {{"model-a.zt", shard}});
  add("zt2.blob.misaligned", "in_a_shard", tree_root({line}, {{"w", tensor_in("a", 4100, 2)}}),
      {{"model-a.zt", shard}});
  add("zt2.blob.overlap", "in_a_shard",
      tree_root({line}, {{"v", tensor_in("a", 4096, 2)}, {"w", tensor_in("a", 4096, 4)}}), {{"model-a.zt", shard}});
  // The same name twice, with different entries.
  const std::string twice = file_text(
      "", map({{"shards", cbor::map({{"a", map(line_entry(line))}, {"a", map(line_entry({"a", 8000, xxh3("b")}))}})},
               {"objects", map({})}}));
  add("zt2.cbor.duplicate", "shard", twice, {{"model-a.zt", shard}});
  // The shard is the right one, but its contents differ from what the root states.
  const Entries wrong = with(with(part(4096, 8), "shard", cbor::text("a")), "digest", cbor::text(xxh3("other bytes")));
  add("digest.mismatch", "in_a_shard", tree_root({line}, {{"w", map(object({2}, "dense", {{"data", map(wrong)}}))}}),
      {{"model-a.zt", shard}}, TreeFound::by_verify);
}

void add_valid(std::vector<Zt2Tree>& trees) {
  const std::string good = shard_text();
  const Bytes shard = to_bytes(good);
  const auto digested = [](std::string_view name) {
    const Entries entry = with(with(part(4096, 8), "shard", cbor::text(name)), "digest", cbor::text(xxh3(kTwoFloats)));
    return map(object({2}, "dense", {{"data", map(entry)}}));
  };
  const auto add = [&](std::string name, const std::vector<TableLine>& lines, const Entries& objects,
                       std::map<std::string, Bytes> others) {
    others["model.zt"] = to_bytes(tree_root(lines, objects));
    trees.push_back({TreeFound::on_open, "", std::move(name), std::move(others)});
  };
  const TableLine a = line_of("a", good), b = line_of("b", good);
  const Entries one = {{"w", digested("a")}};
  add("shards", {a}, one, {{"model-a.zt", shard}});
  add("shards_by_sha256", {{"a", good.size(), "sha256:" + hex_of(DigestAlgorithm::sha256, good)}}, one,
      {{"model-a.zt", shard}});
  add("shards_in_a_store", {a}, one, {{"blobs/xxh3/" + xxh3(good).substr(5), shard}});
  add("shards_by_content", {a}, one, {{"model-under_another_name.zt", shard}});
  add("shards_doubled", {a, b}, {{"v", digested("a")}, {"w", digested("b")}}, {{"model-a.zt", shard}});
  add("shards_unused", {a}, {}, {{"model-a.zt", shard}});
  // A shard without a manifest; and a shard that is itself a root, whose own shards are ignored.
  const std::string data = padded(padded(kMagic) + kTwoFloats) + std::string(24, '\0') + le(2, 4) + le(0, 4) + kMagic;
  add("shards_of_data", {line_of("a", data)}, one, {{"model-a.zt", to_bytes(data)}});
  const std::string nested = file_text(
      kTwoFloats,
      map({{"shards", map({{"gone", map(line_entry({"gone", 5000, xxh3("gone")}))}})}, {"objects", map({})}}));
  add("shards_nested", {line_of("a", nested)}, one, {{"model-a.zt", to_bytes(nested)}});
}

}  // namespace

std::vector<Zt2Tree> zt2_trees() {
  std::vector<Zt2Tree> trees;
  add_identities(trees);
  add_cycles(trees);
  add_tables(trees);
  add_valid(trees);
  return trees;
}

}  // namespace tare::testing

namespace tare {
namespace {

using namespace tare::testing;

TEST(Zt2Trees, EveryOneBreaksItsRuleOrNone) {
  const Scratch scratch;
  std::set<std::string> names;
  for (const Zt2Tree& tree : zt2_trees()) {
    SCOPED_TRACE(tree.rule + " " + tree.name);
    const std::string name = tree.rule + "." + tree.name, folder = scratch / name;
    EXPECT_TRUE(names.insert(name).second) << "made twice";
    for (const auto& [file, bytes] : tree.files) {
      std::filesystem::create_directories(std::filesystem::path(folder + "/" + file).parent_path());
      put_file(folder + "/" + file, bytes);
    }
    for (const std::string& path : {folder, folder + "/model.zt"}) {
      const bool open_fails = !tree.rule.empty() && tree.found == Zt2Case::Found::on_open;
      EXPECT_EQ(rule_of([&] { open(path); }), open_fails ? tree.rule : "");
      const Verification result = verify(path);
      EXPECT_EQ(result.ok(true), tree.rule.empty()) << path;
      EXPECT_TRUE(tree.rule.empty() || std::ranges::count(result.findings, tree.rule, &Finding::rule) > 0)
          << (result.findings.empty() ? "nothing was found" : result.findings[0].rule);
      if (!tree.rule.empty()) continue;
      EXPECT_EQ(result.format, "zt2");
      for (const Tensor& tensor : open(path).tensors) EXPECT_EQ(tensor.values<float>(), (std::vector<float>{1, 2}));
    }
  }
}

// A root has the size and the digest of its shards: one that changed would damage the model.
TEST(Zt2Trees, ShardsAreNotChangedAlone) {
  const Scratch scratch;
  Model model;
  for (const char* const name : {"a", "b"})
    model.tensors.push_back(tare::dense(name, {2000}, std::vector<float>(2000, 1)));
  save(model, scratch / "set/", {.write = {.shard_bytes = 9000}, .to = "zt2"});
  save(model, scratch / "other.zt", {.to = "zt2"});
  const std::string shard = scratch / "set/model-00002-of-00002.zt", link = scratch / "link.zt";
  ASSERT_TRUE(std::filesystem::exists(shard));
  std::filesystem::create_symlink(shard, link);
  const Bytes before = get_file(shard);
  Model extra;
  extra.tensors.push_back(tare::dense("c", {2}, std::vector<float>{1, 2}));
  for (const std::string& path : {shard, link}) {
    EXPECT_EQ(rule_of([&] { append(path, extra); }), "append.files") << path;
    EXPECT_EQ(rule_of([&] { edit_metadata(path, std::vector<MetadataEdit>{{.key = "a", .value = "b"}}); }),
              "meta.files");
    EXPECT_EQ(rule_of([&] { convert(scratch / "other.zt", path, {.to = "zt2", .overwrite = true}); }), "convert.files");
  }
  EXPECT_EQ(get_file(shard), before);
  EXPECT_TRUE(verify(scratch / "set").ok(false));
  // Its root can be edited, a file of such a name without a root as well.
  EXPECT_EQ(rule_of([&] { edit_metadata(scratch / "set", std::vector<MetadataEdit>{{.key = "a", .value = "b"}}); }),
            "");
  std::filesystem::copy_file(scratch / "other.zt", scratch / "model-00002-of-00002.zt");
  EXPECT_EQ(rule_of([&] { append(scratch / "model-00002-of-00002.zt", extra); }), "");
}

// A link would bring a file from elsewhere into what is printed and written.
TEST(Zt2Trees, RootsOutsideTheDirectoryAreNotRead) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(tare::dense("a", {2}, std::vector<float>{1, 2}));
  save(model, scratch / "private.zt", {.to = "zt2"});
  std::filesystem::create_directory(scratch / "set");
  std::filesystem::create_symlink("../private.zt", scratch / "set/model.zt");
  EXPECT_EQ(rule_of([&] { open(scratch / "set"); }), "zt2.shard.outside");
  EXPECT_EQ(rule_of([&] { open(scratch / "set/model.zt"); }), "") << "the user has named it";
}

// A root can be listed without its shards.
TEST(Zt2Trees, AreListedWithoutTheirShards) {
  const Scratch scratch;
  for (const Zt2Tree& tree : zt2_trees()) {
    if (tree.rule != "zt2.shard.identity" && tree.rule != "zt2.shard.missing") continue;
    put_file(scratch / "model.zt", tree.files.at("model.zt"));
    EXPECT_EQ(rule_of([&] { open(scratch / "model.zt", {.listing = true}); }), "") << tree.name;
  }
}

}  // namespace
}  // namespace tare
