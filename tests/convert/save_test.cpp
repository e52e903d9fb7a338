// save: the output, what may be in the way, and what happens to the files that the model is read from.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>

#include "conformance/scratch.hpp"
#include "convert/writable.hpp"
#include "formats/format.hpp"
#include "tare/append.hpp"
#include "tare/tare.hpp"
#include "use_all.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model small_model() {
  Model model;
  model.tensors.push_back(dense("w", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  model.tensors.push_back(dense("b", {2}, std::vector<float>{-1, 0.5}));
  return model;
}

// Hidden files do not count as output.
std::vector<std::string> visible(const Scratch& scratch) {
  std::vector<std::string> names = scratch.entries();
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  return names;
}

TEST(Save, IsReadBackFromEveryContainerOfSeveralTensors) {
  const Scratch scratch;
  const std::string digest = content_digest(small_model());
  for (const std::string name : {"m.zt", "m.mcf", "m.npz", "m.safetensors", "m.alt", "dir/"}) {
    SCOPED_TRACE(name);
    const Saved saved = save(small_model(), scratch / name);
    const Model again = open(scratch / name);
    EXPECT_EQ(saved.to, again.format);
    EXPECT_EQ(saved.tensors, 2U);
    EXPECT_EQ(saved.bytes, 32U);
    EXPECT_GE(saved.file_bytes, again.file_bytes) << "of a directory, of all its files";
    EXPECT_TRUE(saved.file_bytes == again.file_bytes || name == "dir/");
    EXPECT_EQ(content_digest(again), digest);
  }
}

// A file that decodes to more than `open` allows by default is written, with a remark that names the limit to raise.
TEST(Save, WhatIsNotOpenedByDefaultIsSaid) {
  Model model = small_model();
  Tensor sparse;
  sparse.name = "s";
  sparse.shape = {std::uint64_t{1} << 20, std::uint64_t{1} << 20};
  sparse.layout = "sparse_coo";
  const std::vector<std::uint64_t> place = {7, 9};
  sparse.components = {{"values", DType::f32, "", blob_of(std::vector<float>{1})},
                       {"coords", DType::u64, "", blob_of(place)}};
  const auto told = [](const std::vector<Change>& changes) {
    std::vector<Advice> advice;
    for (const Change& change : changes)
      for (const Advice& remedy : change.remedies)
        if (remedy.remedy == Remedy::allow_expansion) advice.push_back(remedy);
    return advice;
  };
  const Scratch scratch;
  for (const std::string name : {"m.zt", "m.zt2", "dir2/"}) {
    SCOPED_TRACE(name);
    const SaveOptions options{.to = name == "m.zt" ? "zt" : "zt2", .overwrite = true};
    EXPECT_TRUE(told(save(model, scratch / name, options).changes).empty());
    Model large = model;
    large.tensors.push_back(sparse);
    const std::vector<Advice> advice = told(save(large, scratch / name, options).changes);
    ASSERT_EQ(advice.size(), 1U);
    const auto error = error_of([&] { open(scratch / name); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rule(), "open.expansion");
    EXPECT_EQ(error->remedies(), advice) << "the same number";
    EXPECT_EQ(open(scratch / name, {.limits = {.expansion = std::stoull(advice[0].argument)}}).tensors.size(), 3U);
    // Likewise if tensors are appended.
    if (name.back() == '/') continue;
    (void)save(model, scratch / name, options);
    Model extra;
    extra.tensors = {dense("more", {1}, std::vector<float>{1})};
    EXPECT_TRUE(told(append(scratch / name, extra)).empty());
    extra.tensors = {sparse};
    EXPECT_EQ(told(append(scratch / name, extra)).size(), 1U);
  }
}

// An output that cannot be read back is judged by its sizes.
TEST(Save, WhatIsNotOpenedByDefaultIsSaidAfterAPipe) {
  Model model;
  const std::vector<float> zeros(20'000);
  for (int i = 0; i < 600; ++i) model.tensors.push_back(dense(fmt::format("t{}", i), {20'000}, zeros));
  testing::PipeSink sink;
  const Saved saved = save(model, sink, {.to = "zt2"});
  const auto advises = [](const Change& change) {
    return std::ranges::any_of(change.remedies,
                               [](const Advice& advice) { return advice.remedy == Remedy::allow_expansion; });
  };
  EXPECT_TRUE(std::ranges::any_of(saved.changes, advises)) << "equal tensors are stored once";
  testing::PipeSink other;
  EXPECT_TRUE(std::ranges::none_of(save(small_model(), other, {.to = "zt2"}).changes, advises));
}

// Every container that keeps metadata keeps the sign and the payload of a NaN, or a change names the key.
TEST(Save, NanInMetadataKeepsItsBitsOrIsReported) {
  std::size_t kept = 0, reported = 0;
  for (const Format& format : formats()) {
    if (format.write == nullptr || format.holds.metadata != Room::tree || !format.holds.architecture.empty()) continue;
    SCOPED_TRACE(format.name);
    for (const std::uint64_t bits : {0x7FF8'0000'0000'0000U, 0xFFF8'0000'0000'0000U, 0x7FF8'0000'0001'2345U}) {
      Model model = small_model();
      model.metadata.set("plain", Value(1.5));
      model.metadata.set("odd", Value(List{Value(1.5), Value(std::bit_cast<double>(bits))}));
      MemorySink sink;
      const Saved saved = save(model, sink, {.to = std::string(format.name)});
      const Model again = open(sink.written());
      const Value* const found = again.metadata.find("odd");
      ASSERT_NE(found, nullptr);
      const List& list = *found->get<List>();
      const bool same = std::bit_cast<std::uint64_t>(*list.at(1).get<double>()) == bits;
      const bool named = std::ranges::any_of(saved.changes, [](const Change& change) {
        return change.impact == Impact::changed && to_text(change).find("odd") != std::string::npos;
      });
      EXPECT_NE(same, named);
      ++(same ? kept : reported);
    }
  }
  EXPECT_GE(kept, 3U);
  EXPECT_EQ(reported, 2U) << "zTensor 2 allows one NaN";
}

TEST(Save, TheFormatByNameAndTheBytesThatConvertWrites) {
  const Scratch scratch;
  save(small_model(), scratch / "a.zt");
  const Saved saved = save(open(scratch / "a.zt"), scratch / "a.weights", {.to = "mcf"});
  EXPECT_EQ(saved.to, "mcf");
  convert(scratch / "a.zt", scratch / "b.mcf");
  EXPECT_EQ(get_file(scratch / "a.weights"), get_file(scratch / "b.mcf"));
}

TEST(Save, SaysWhatChanged) {
  const Scratch scratch;
  Model model = small_model();
  model.tensors.push_back(dense("h", {1}, DType::bf16, Blob::memory(Bytes(2))));
  const Saved saved = save(model, scratch / "m.alt", {.adapt = {.skip = {"b"}}});
  EXPECT_EQ(saved.tensors, 2U);
  ASSERT_GE(saved.changes.size(), 2U);
  EXPECT_EQ(to_text(saved.changes[0]), "1 tensor omitted: b");
  EXPECT_EQ(to_text(saved.changes[1]), "1 tensor widened from bf16 to f32: h");
  EXPECT_EQ(model.tensors.size(), 3U) << "the caller's is as it was";

  Model weights;
  weights.tensors.push_back(dense("w", {1, 256}, std::vector<float>(256, 0.25F)));
  const Saved coded = save(std::move(weights), scratch / "k.mcf", {.adapt = {.quant = {.method = "k4"}}});
  ASSERT_EQ(coded.outcomes.size(), 1U);
  EXPECT_EQ(coded.outcomes[0].type, "mcf.k4");
  EXPECT_TRUE(coded.outcomes[0].report->complete);
}

// `lossy`: values were rounded, or something is not in the output.
TEST(Save, SaysWhetherAnythingWasLost) {
  const Scratch scratch;
  Model model;
  model.tensors.push_back(dense("w", {4, 32}, std::vector<float>(128, 0.1F)));
  model.tensors.push_back(dense("b", {2}, std::vector<float>{-1, 0.5}));
  const auto is_lossy = [&](const AdaptOptions& options) {
    const Saved saved = save(model, scratch / "m.zt", {.adapt = options, .overwrite = true});
    return std::ranges::any_of(saved.changes, &Change::lossy);
  };
  EXPECT_FALSE(is_lossy({}));
  EXPECT_FALSE(is_lossy({.dtype = DType::f64}));
  EXPECT_TRUE(is_lossy({.dtype = DType::f16}));
  EXPECT_TRUE(is_lossy({.quant = {.method = "q8_0"}}));
  EXPECT_TRUE(is_lossy({.skip = {"b"}}));
}

TEST(Save, NothingIsLeft) {
  const Scratch scratch;
  const auto sentence_of = [&](AdaptOptions options) {
    try {
      static_cast<void>(save(small_model(), scratch / "m.zt", {.adapt = std::move(options)}));
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), "convert.match");
      return error.sentence();
    }
    return std::string("saved");
  };
  EXPECT_EQ(sentence_of({.skip = {"*"}}), "no tensor is left: the patterns to skip omit all 2");
  EXPECT_EQ(sentence_of({.match = {"w"}, .skip = {"w"}}),
            "no tensor is left: the patterns to match and to skip omit all 2");
  EXPECT_EQ(sentence_of({.match = {"[wx]*"}}), "saved");
  EXPECT_EQ(save(Model(), scratch / "empty.zt").tensors, 0U) << "nothing was omitted";
}

TEST(Save, ShardsAreADirectory) {
  const Scratch scratch;
  const SaveOptions options{.write = {.shard_bytes = 24}, .to = "safetensors"};
  EXPECT_EQ(rule_of([&] { save(small_model(), scratch / "m.safetensors", options); }), "convert.shards");
  const Saved saved = save(small_model(), scratch / "set/", options);
  EXPECT_EQ(open(scratch / "set").tensors.size(), 2U);
  EXPECT_GT(saved.file_bytes, 32U);
  EXPECT_TRUE(std::filesystem::exists(scratch / "set/model-00002-of-00002.safetensors"));
}

TEST(Save, BadPaths) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "dir.zt");
  put_file(scratch / "file", to_bytes("x"));
  struct Row {
    std::string path, rule;
    SaveOptions options = {};
  };
  const std::vector<Row> rows = {
      {"missing/m.zt", "io.sink.create"},
      {"missing/deeper/out/", "io.tree.create"},
      {"file/m.zt", "io.sink.create"},
      {"file/", "io.tree.file", {.to = "hf"}},
      {"dir.zt", "io.sink.directory"},
      {std::string(300, 'n') + ".zt", "io.sink.create"},
      {"m.unheard_of", "convert.format"},
      {"m", "convert.format"},
      {"m.zt", "convert.format", {.to = "unheard_of"}},
      {"m.npz", "convert.option", {.write = {.zstd_level = 3}}},
      {"m.npz", "convert.option", {.write = {.unpack = true}}},
      {"m.zt", "convert.option", {.adapt = {.overflow = Overflow::clamp}}},
      {"m.zt", "convert.option", {.write = {.zstd_level = 0}}},
      {"m.zt", "convert.option", {.write = {.zstd_level = 23}}},
      {"m/", "convert.option", {.write = {.shard_bytes = 0}, .to = "hf"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.path);
    const auto error = error_of([&] { save(small_model(), scratch / row.path, row.options); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->rule(), row.rule) << error->what();
    const std::string path = row.path.ends_with('/') ? row.path.substr(0, row.path.size() - 1) : row.path;
    if (row.options.to != "unheard_of" && row.rule != "convert.option") {
      EXPECT_NE(std::string(error->what()).find(path), std::string::npos) << error->what();
    }
  }
  EXPECT_EQ(rule_of([&] { save(small_model(), ""); }), "convert.format");
  EXPECT_EQ(visible(scratch), (std::vector<std::string>{"dir.zt", "file"}));
}

TEST(Save, FloatsBecomeIntegersOnlyIfEveryNumberSurvivesOrThatIsAskedFor) {
  const auto rule_for = [](const std::vector<float>& values, DType to, Overflow overflow = Overflow::refuse) {
    Model model;
    model.tensors = {dense("w", Shape{values.size()}, values)};
    MemorySink sink;
    return rule_of(
        [&] { static_cast<void>(save(model, sink, {.adapt = {.dtype = to, .overflow = overflow}, .to = "zt"})); });
  };
  const std::vector<float> whole{0, 1, -3, 127}, parts{0, 1, 0.25F}, flags{0, 1};
  EXPECT_EQ(rule_for(whole, DType::i8), "");
  EXPECT_EQ(rule_for(whole, DType::boolean), "cast.fraction") << "3 would become 1";
  EXPECT_EQ(rule_for(flags, DType::boolean), "");
  EXPECT_EQ(rule_for(parts, DType::i8), "cast.fraction");
  EXPECT_EQ(rule_for(parts, DType::i64), "cast.fraction");
  EXPECT_EQ(rule_for(parts, DType::i8, Overflow::infinity), "cast.fraction") << "says nothing about fractions";
  EXPECT_EQ(rule_for(parts, DType::i8, Overflow::clamp), "");
  EXPECT_EQ(rule_for(parts, DType::f16), "");
}

TEST(Save, NoPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const Scratch scratch;
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0500), 0);
  const auto file = error_of([&] { save(small_model(), scratch / "m.zt"); });
  const auto tree = error_of([&] { save(small_model(), scratch / "m/"); });
  ::chmod(scratch.path().c_str(), 0700);
  ASSERT_TRUE(file && tree);
  EXPECT_EQ(file->rule(), "io.sink.create") << file->what();
  EXPECT_EQ(tree->rule(), "io.tree.create") << tree->what();
}

TEST(Save, AFormatThatCanOnlyBeRead) {
  Format format = *find_format("zt");
  EXPECT_EQ(rule_of([&] { require_writable(format, {}); }), "");
  format.write = nullptr;
  const auto error = error_of([&] { require_writable(format, {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "convert.read_only");
  EXPECT_EQ(error->kind(), ErrorKind::unsupported);
}

TEST(Save, AModelThatDoesNotFitTouchesNothing) {
  const Scratch scratch;
  save(small_model(), scratch / "old.alt");
  const Bytes old = get_file(scratch / "old.alt");

  Model wide = small_model();
  wide.tensors.push_back(dense("n", {1}, std::vector<std::int64_t>{1}));
  const auto type = error_of([&] { save(wide, scratch / "old.alt", {.overwrite = true}); });
  ASSERT_TRUE(type);
  EXPECT_EQ(type->rule(), "convert.type");
  EXPECT_EQ(type->file(), scratch / "old.alt");
  EXPECT_EQ(type->item(), "tensor n");

  Model told = small_model();
  told.metadata.set("nobody.knows", "this");
  EXPECT_EQ(rule_of([&] { save(told, scratch / "old.alt", {.overwrite = true}); }), "convert.room");
  EXPECT_EQ(rule_of([&] { save(small_model(), scratch / "one.npy"); }), "convert.one_tensor");
  EXPECT_EQ(get_file(scratch / "old.alt"), old);
  EXPECT_EQ(visible(scratch), (std::vector<std::string>{"old.alt"}));
  save(told, scratch / "old.alt", {.adapt = {.drop = {ModelPart::metadata}}, .overwrite = true});
  EXPECT_EQ(open(scratch / "old.alt").tensors.size(), 2U);
}

TEST(Save, BrokenTensors) {
  const Scratch scratch;
  Model model = small_model();
  Tensor bad;
  bad.name = "bad";
  model.broken.push_back({bad, Error(ErrorKind::corrupt, "zt.dense.size", "too short")});
  EXPECT_EQ(rule_of([&] { save(model, scratch / "m.zt"); }), "zt.dense.size");
  EXPECT_EQ(visible(scratch), std::vector<std::string>());
  EXPECT_EQ(save(model, scratch / "m.zt", {.adapt = {.skip = {"bad"}}}).tensors, 2U);

  // Malformed models made by hand: bytes that do not fit the shape, no bytes at all, two tensors of one name.
  for (const auto& break_it : std::vector<void (*)(Model&)>{
           [](Model& m) { m.tensors[0].shape = {7}; },
           [](Model& m) { m.tensors[0].components = {}; },
           [](Model& m) { m.tensors[0].name = m.tensors[1].name; },
       })
    for (const std::string name : {"n.zt", "n.mcf", "n.npz", "n.safetensors", "n.alt", "n/"}) {
      SCOPED_TRACE(name);
      Model wrong = small_model();
      break_it(wrong);
      EXPECT_TRUE(error_of([&] { save(wrong, scratch / name); }));
      EXPECT_EQ(visible(scratch), (std::vector<std::string>{"m.zt"}));
    }
}

TEST(Save, OverAnExistingOutputOnlyWhenAsked) {
  const Scratch scratch;
  for (const std::string name : {"m.zt", "dir/"}) {
    SCOPED_TRACE(name);
    save(small_model(), scratch / name);
    const std::string file = name == "m.zt" ? name : "dir/model.safetensors";
    const Bytes old = get_file(scratch / file);
    Model other = small_model();
    other.tensors.pop_back();
    EXPECT_EQ(rule_of([&] { save(other, scratch / name); }), name == "m.zt" ? "io.sink.exists" : "io.tree.exists");
    EXPECT_EQ(get_file(scratch / file), old);
    save(other, scratch / name, {.overwrite = true});
    EXPECT_EQ(open(scratch / name).tensors.size(), 1U);
  }
}

// The config.json of another model must not end up next to weights that it does not describe.
TEST(Save, NotNextToTheConfigOfAnotherModel) {
  for (const char* const kept : {"config.json", "adapter_config.json"})
    for (const char* const to : {"safetensors", "gguf", "zt2"})
      for (const bool has_weights : {true, false}) {
        SCOPED_TRACE(fmt::format("{} {} {}", kept, to, has_weights));
        const Scratch scratch;
        std::filesystem::create_directories(scratch / "d");
        if (has_weights) save(small_model(), scratch / "d/", {.to = "hf", .overwrite = true});
        put_file(scratch / (std::string("d/") + kept), to_bytes(R"({"model_type":"llama"})"));
        SaveOptions options{.to = to, .overwrite = true};
        options.write.shard_bytes = 1 << 20;
        options.adapt.weights_only = true;
        EXPECT_EQ(rule_of([&] { save(small_model(), scratch / "d/", options); }), "convert.directory");
        EXPECT_EQ(get_file(scratch / (std::string("d/") + kept)), to_bytes(R"({"model_type":"llama"})"));
        std::filesystem::remove_all(scratch / "d");
        save(small_model(), scratch / "d/", options);
        save(small_model(), scratch / "d/", options);
      }
}

// transformers loads the model that an adapter_config.json names, not the weights next to it.
TEST(Save, NotNextToAnAdapterThatStays) {
  const Scratch scratch;
  const SaveOptions over{.to = "hf", .overwrite = true};
  const std::string config = scratch / "d/adapter_config.json";
  save(small_model(), scratch / "d/", over);
  put_file(config, to_bytes(R"({"base_model_name_or_path":"other"})"));
  EXPECT_EQ(rule_of([&] { save(small_model(), scratch / "d/", over); }), "convert.directory");
  EXPECT_TRUE(std::filesystem::exists(config));
  // A model that has the file itself replaces it, and so is an adapter that is the only model of the directory.
  save(open(scratch / "d"), scratch / "d/", over);
  EXPECT_TRUE(std::filesystem::exists(config));
  std::filesystem::rename(scratch / "d/model.safetensors", scratch / "d/adapter_model.safetensors");
  save(small_model(), scratch / "d/", over);
  EXPECT_FALSE(std::filesystem::exists(config));
  EXPECT_FALSE(std::filesystem::exists(scratch / "d/adapter_model.safetensors"));
}

// What a replaced model takes along is named, unless the new model has such a file; weights follow weights.
TEST(Save, NamesTheFilesThatGoWithAReplacedModel) {
  const Scratch scratch;
  const SaveOptions over{.to = "hf", .overwrite = true};
  const auto removed = [](const Saved& done) {
    for (const Change& change : done.changes)
      if (change.detail.starts_with("removed from the directory")) {
        EXPECT_EQ(change.impact, Impact::lost);
        EXPECT_NE(to_text(change).find(change.items.front()), std::string::npos) << to_text(change);
        return change.items;
      }
    return std::vector<std::string>();
  };
  SaveOptions in_shards = over;
  in_shards.write.shard_bytes = 16;
  EXPECT_EQ(removed(save(small_model(), scratch / "d/", in_shards)), std::vector<std::string>());
  for (const char* const name : {"d/generation_config.json", "d/special_tokens_map.json", "d/notes.txt", "d/README.md"})
    put_file(scratch / name, to_bytes("{}"));
  std::filesystem::create_directories(scratch / "d/additional_chat_templates");
  put_file(scratch / "d/additional_chat_templates/tool.jinja", to_bytes("x"));
  EXPECT_EQ(removed(save(small_model(), scratch / "d/", over)),
            (std::vector<std::string>{"additional_chat_templates/tool.jinja", "generation_config.json",
                                      "special_tokens_map.json"}));
  EXPECT_TRUE(std::filesystem::exists(scratch / "d/notes.txt"));
  EXPECT_EQ(removed(save(small_model(), scratch / "d/", over)), std::vector<std::string>());
}

// A directory with two GGUF models is not opened as either.
TEST(Save, NotNextToAnotherFileOfTheFormat) {
  const Scratch scratch;
  SaveOptions options{.to = "gguf", .overwrite = true};
  options.write.shard_bytes = 16;
  save(small_model(), scratch / "d/", options);
  save(small_model(), scratch / "d/", options);
  std::filesystem::create_directories(scratch / "e");
  save(small_model(), scratch / "e/other.gguf", {.to = "gguf"});
  const Bytes other = get_file(scratch / "e/other.gguf");
  EXPECT_EQ(rule_of([&] { save(small_model(), scratch / "e/", options); }), "gguf.directory");
  EXPECT_EQ(get_file(scratch / "e/other.gguf"), other);
}

TEST(Save, OverTheFilesItIsReadFrom) {
  const Scratch scratch;
  for (const std::string name : {"m.zt", "m.safetensors", "dir/"}) {
    for (const Access access : {Access::mapped, Access::pread}) {
      SCOPED_TRACE(name);
      save(small_model(), scratch / name, {.overwrite = true});
      const Model model = open(scratch / name, {.access = access});
      EXPECT_NE(rule_of([&] { save(model, scratch / name); }), "") << "not without being asked";
      Model shorter = model;
      shorter.tensors.erase(shorter.tensors.begin());
      save(shorter, scratch / name, {.overwrite = true});
      EXPECT_EQ(open(scratch / name).tensors.size(), 1U);
      // The old file has no name any more, but the model still has it open.
      model.check_sources();
      EXPECT_EQ(model.tensor("w")->values<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
      save(model, scratch / name, {.overwrite = true});
      EXPECT_EQ(content_digest(open(scratch / name)), content_digest(small_model()));
    }
  }
}

TEST(Save, AFileThatWasWrittenToMeanwhileIsNotPassedOn) {
  const Scratch scratch;
  save(small_model(), scratch / "in.zt");
  const Model model = open(scratch / "in.zt");
  Bytes bytes = get_file(scratch / "in.zt");
  put_file(scratch / "in.zt", std::span(bytes).first(bytes.size() / 2));
  const std::string rule = rule_of([&] { save(model, scratch / "out.mcf"); });
  EXPECT_TRUE(rule.starts_with("io.source.")) << rule;
  EXPECT_EQ(visible(scratch), (std::vector<std::string>{"in.zt"}));
}

// The argument of a remedy can be used verbatim: a name that looks like a glob skips only itself.
TEST(Save, TheSkipThatIsAdvisedSkipsNothingElse) {
  const Scratch scratch;
  for (const std::string name : {"w?", "w[0]*", "w\\1"}) {
    Model model = small_model();
    model.tensors.push_back(dense("w1", {1}, std::vector<float>{1}));
    Tensor odd = model.tensors.back();
    odd.name = name;
    odd.layout = "nobody.knows";
    model.tensors.push_back(odd);
    const auto error = error_of([&] { save(model, scratch / "m.npz"); });
    ASSERT_TRUE(error);
    ASSERT_FALSE(error->remedies().empty());
    ASSERT_EQ(error->remedies()[0].remedy, Remedy::skip);
    const Saved saved =
        save(model, scratch / "m.npz", {.adapt = {.skip = {error->remedies()[0].argument}}, .overwrite = true});
    EXPECT_EQ(saved.tensors, model.tensors.size() - 1) << name;
  }
}

TEST(Save, APathWithAZeroByteIsNoPath) {
  const Scratch scratch;
  put_file(scratch / "victim", to_bytes("mine"));
  const std::string path = (scratch / "victim") + std::string("\0.zt", 4);
  EXPECT_EQ(rule_of([&] { save(small_model(), path, {.overwrite = true}); }), "io.path.zero");
  EXPECT_EQ(rule_of([&] { save(small_model(), path + "/", {.to = "hf", .overwrite = true}); }), "io.path.zero");
  EXPECT_EQ(rule_of([&] { open(path); }), "io.path.zero");
  EXPECT_EQ(rule_of([&] { open(SourcePtr()); }), "open.source");
  EXPECT_EQ(to_text(get_file(scratch / "victim")), "mine");
}

// A size that was mistyped: no container is written in more files than any model has.
TEST(Save, InFewerFilesThanTensors) {
  const Scratch scratch;
  Model model;
  for (int i = 0; i < 5001; ++i) model.tensors.push_back(dense(std::to_string(i), {1}, std::vector<float>{1}));
  std::size_t tried = 0;
  for (const Format& format : formats()) {
    if (!format.holds.shards || format.write_tree == nullptr || !format.holds.architecture.empty()) continue;
    ++tried;
    const std::string out = scratch / std::string(format.name);
    SaveOptions options{.to = std::string(format.name)};
    options.write.shard_bytes = 1;
    const std::string rule = rule_of([&] { static_cast<void>(save(model, out + "/", options)); });
    EXPECT_TRUE(rule.ends_with(".write.shards")) << format.name << ": " << rule;
    EXPECT_FALSE(std::filesystem::exists(out)) << format.name;
  }
  EXPECT_GE(tried, 3U);
}

}  // namespace
}  // namespace tare
