// The promises of every layout of packed weights, for each of their rows in the table of codecs, checked with files
// that the original libraries made (tests/codecs/packs/data). Also covers corrupted arrays.
#include <fmt/format.h>

#include "codecs/packs/join.hpp"
#include "conformance/models.hpp"
#include "conformance/pack_cases.hpp"
#include "convert/adapt.hpp"
#include "resources/packed_config.hpp"
#include "simd_targets.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;
namespace packs = codec::packs;

const std::string kFixtures = std::string(TARE_TEST_DIR) + "/codecs/packs/data";

bool is_pack(const Codec& codec) {
  return std::ranges::find(codec.parameters, packs::kArrays) != codec.parameters.end();
}

std::vector<const Codec*> pack_rows() {
  std::vector<const Codec*> rows;
  for (const Codec& codec : codecs())
    if (is_pack(codec)) rows.push_back(&codec);
  return rows;
}

std::string name_of_pack(const ::testing::TestParamInfo<const Codec*>& row) {
  std::string name(row.param->layout);
  std::ranges::replace(name, '.', '_');
  return name;
}

class PackConformance : public ::testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const { return *GetParam(); }
  // Directories whose tensor has this layout.
  std::vector<std::string> fixtures() const {
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(kFixtures))
      if (entry.is_directory() && open(entry.path()).tensors.at(0).layout == codec().layout)
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    return paths;
  }
};

INSTANTIATE_TEST_SUITE_P(Packs, PackConformance, ::testing::ValuesIn(pack_rows()), name_of_pack);

TEST_P(PackConformance, RowIsComplete) {
  EXPECT_FALSE(codec().title.empty());
  EXPECT_FALSE(codec().roles.empty());
  EXPECT_NE(codec().check, nullptr);
  EXPECT_NE(codec().verify, nullptr);
  EXPECT_NE(codec().decode, nullptr);
  EXPECT_FALSE(fixtures().empty());
  const std::string page = to_text(get_file(std::string(TARE_TEST_DIR) + "/../docs/packed.md"));
  const std::string_view layout = codec().layout;
  const bool in_a_run = layout.starts_with("mlx.affine") && page.find("`mlx.affine2` to") != std::string::npos;
  EXPECT_TRUE(in_a_run || page.find(fmt::format("`{}`", layout)) != std::string::npos) << layout;
}

TEST_P(PackConformance, FilesPassVerification) {
  for (const std::string& path : fixtures()) {
    const Verification result = verify(path);
    EXPECT_TRUE(result.ok(true)) << path << ": " << (result.findings.empty() ? "" : result.findings[0].sentence);
  }
}

// Every writable container stores the arrays or the weights.
TEST_P(PackConformance, GoesThroughEveryContainer) {
  for (const std::string& path : fixtures()) {
    SCOPED_TRACE(path);
    const Model model = open(path);
    const std::vector<float> weights = model.tensors[0].values<float>();
    std::size_t written = 0;
    for (const Format& format : formats()) {
      if (format.write == nullptr) continue;
      SCOPED_TRACE(format.name);
      Bytes file;
      // A container of one architecture needs a complete model.
      const auto error = error_of([&] {
        file = write_bytes(format, adapt(model, format, {.drop = {ModelPart::attachments}, .keep_names = true}).model);
      });
      if (error) continue;
      ++written;
      const Model back = open(memory_source(std::move(file), "it" + std::string(format.suffixes.front())));
      if (back.tensors.size() == 1 && back.tensors[0].layout == codec().layout) {
        EXPECT_EQ(content_digest(back), content_digest(model));
        EXPECT_EQ(back.tensors[0].values<float>(), weights);
      } else if (back.tensors.size() == 1 && back.tensors[0].is_dense()) {
        EXPECT_EQ(back.tensors[0].values<float>().size(), weights.size());
      } else {
        // They stay plain arrays if a single file does not describe them completely.
        EXPECT_EQ(content_digest(back), content_digest(model));
      }
    }
    EXPECT_GE(written, 5u);
  }
}

// Rounding to bf16 in one step or in two gives the same result on every processor.
TEST_P(PackConformance, Bf16IsTheRoundedFloat) {
  for (const std::string& path : fixtures()) {
    SCOPED_TRACE(path);
    const Tensor floats = to_dense(open(path).tensors[0]);
    Tensor in_memory = floats;
    in_memory.components[0].blob = Blob::memory(floats.components[0].blob.bytes());
    const Bytes wanted = cast(in_memory, DType::bf16).components[0].blob.bytes();
    for_each_simd_target([&] { EXPECT_EQ(cast(floats, DType::bf16).components[0].blob.bytes(), wanted); });
  }
}

// ---- corrupted arrays ----

Model plain_arrays(const std::string& path) { return find_format("hf")->read({path, nullptr}, {}); }

// The arrays are joined or not. If they are, decoding and verification end in numbers or in an Error.
void expect_survived(Model model) {
  struct Quiet final : Diagnostics {
    void error(const Error&) override {}
    void warning(const Error&) override {}
    void note(const Error&) override {}
  } quiet;
  packs::join_packs(model, resources::stated_packing(model), "file", quiet);
  for (const Tensor& tensor : model.tensors) {
    if (tensor.is_dense()) continue;
    const Codec* const codec = find_codec(tensor.layout);
    ASSERT_NE(codec, nullptr);
    EXPECT_FALSE(codec->check(tensor));
    error_of([&] { codec->verify(tensor, [](const Problem&) {}); });
    const auto error = error_of([&] {
      EXPECT_EQ(tensor.values<float>().size(), tensor.shape.elements());
      cast(to_dense(tensor), DType::bf16, Overflow::infinity).components[0].blob.bytes();
    });
    if (error) {
      EXPECT_TRUE(error->rule().starts_with("pack.")) << error->what();
    }
  }
}

class PackHostile : public PackConformance {};
INSTANTIATE_TEST_SUITE_P(Packs, PackHostile, ::testing::ValuesIn(pack_rows()), name_of_pack);

TEST_P(PackHostile, ArraysThatAreMissingOrOfAnotherFormAreSurvived) {
  for (const std::string& path : fixtures()) {
    const Model good = plain_arrays(path);
    for (std::size_t i = 0; i < good.tensors.size(); ++i) {
      SCOPED_TRACE(path + " " + good.tensors[i].name);
      Model model = good;
      model.tensors.erase(model.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      expect_survived(model);
      const auto changed = [&](const auto& change) {
        Model other = good;
        Tensor& tensor = other.tensors[i];
        change(tensor);
        const auto elements = tensor.shape.elements();
        if (!elements || *elements > (1u << 20)) return;
        Bytes bytes = tensor.components[0].blob.bytes();
        bytes.resize(static_cast<std::size_t>(*elements) * size_of(tensor.components[0].dtype));
        tensor.components[0].blob = Blob::memory(bytes);
        expect_survived(other);
      };
      for (std::size_t d = 0; d < good.tensors[i].shape.rank(); ++d)
        for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, good.tensors[i].shape[d] - 1,
                                         good.tensors[i].shape[d] + 1, 2 * good.tensors[i].shape[d]})
          changed([&](Tensor& tensor) { tensor.shape[d] = size; });
      changed([](Tensor& tensor) { tensor.shape.push_back(1); });
      changed([](Tensor& tensor) { tensor.shape = {}; });
      for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::i64, DType::boolean})
        changed([&](Tensor& tensor) {
          tensor.components[0].dtype = dtype;
          tensor.components[0].type.clear();
        });
    }
  }
}

TEST_P(PackHostile, FlippedBytesAreSurvived) {
  for (const std::string& path : fixtures()) {
    const Model good = plain_arrays(path);
    for (std::size_t i = 0; i < good.tensors.size(); ++i) {
      const Bytes bytes = good.tensors[i].components[0].blob.bytes();
      // Some bytes of long arrays; all bytes of texts and shapes, which are short.
      const std::size_t step = std::max<std::size_t>(1, bytes.size() / 48);
      for (std::size_t at = 0; at < bytes.size(); at += step)
        for (const unsigned change : {0x01u, 0x80u, 0xFFu}) {
          SCOPED_TRACE(fmt::format("{} {} byte {} ^ {}", path, good.tensors[i].name, at, change));
          Model model = good;
          Bytes other = bytes;
          other[at] ^= static_cast<std::byte>(change);
          model.tensors[i].components[0].blob = Blob::memory(other);
          expect_survived(std::move(model));
        }
    }
  }
}

// For any quantization config.
TEST_P(PackHostile, LyingConfigsAreSurvived) {
  for (const std::string& path : fixtures())
    for (const char* const key : {"group_size", "q_group_size", "bits", "weight_block_size", "version", "mode",
                                  "checkpoint_format", "quant_method", "config_groups"})
      for (const char* const value :
           {"0", "-1", "1", "3", "1e300", "9223372036854775807", "18446744073709551616", "\"x\"", "null", "[]", "[0,0]",
            "[1]", "[9223372036854775807,9223372036854775807]", "{}"}) {
        SCOPED_TRACE(fmt::format("{} {} = {}", path, key, value));
        Model model = plain_arrays(path);
        std::erase_if(model.attachments, [](const Attachment& file) { return file.name == "config.json"; });
        const std::string config = fmt::format("{{\"quantization_config\": {{\"{}\": {}}}}}", key, value);
        model.attachments.push_back({"config.json", Blob::memory(to_bytes(config))});
        expect_survived(std::move(model));
      }
}

}  // namespace
}  // namespace tare
