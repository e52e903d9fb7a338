// Manifests with a correct hash and false contents, and false tables of frames: the result is an Error or a model that
// can be read.
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "conformance/zt2_cases.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace text = tare::testing::zt2_text;

// Sets the footer's hash to that of the current manifest.
void rehash(std::string& file) {
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(file[at + i]);
    return value;
  };
  const std::size_t footer = file.size() - 40;
  const std::string manifest = file.substr(number(footer), number(footer + 8));
  const std::string hex = text::hex_of(DigestAlgorithm::xxh3, manifest);
  for (std::size_t i = 0; i < 8; ++i)
    file[footer + 16 + i] = static_cast<char>(std::stoi(hex.substr(14 - 2 * i, 2), nullptr, 16));
}

std::size_t manifest_at(const std::string& file) {
  std::size_t at = 0;
  for (std::size_t i = 8; i-- > 0;) at = at << 8 | static_cast<unsigned char>(file[file.size() - 40 + i]);
  return at;
}

void read_whole(const Bytes& bytes) {
  error_of([&] {
    const Model model = open(borrow_memory(bytes, "it"));
    for (const Tensor& tensor : model.tensors) {
      for (const Component& component : tensor.components)
        if (component.blob.size() < (std::size_t{1} << 24)) component.blob.bytes();
      if (tensor.bytes() < (std::size_t{1} << 20))
        error_of([&] { (void)tensor.values<float>(std::uint64_t{1} << 24, 1); });
    }
  });
}

std::vector<std::string> files() {
  std::vector<std::string> all;
  for (const char* const name : {"digest", "seekable", "csr_u32", "q4_0", "mx", "attributes"})
    all.push_back(to_text(zt2_good().at(name)));
  Model model;
  model.tensors = {make_group("g"), make_coo("c"), make_dense("d", {3}, DType::f16)};
  model.metadata = sample_metadata(Room::tree);
  all.push_back(to_text(write_bytes(*find_format("zt2"), model, {.dialect = "pages"})));
  return all;
}

TEST(Zt2Hostile, AManifestThatHashesRightAndSaysWrongThings) {
  for (const std::string& good : files()) {
    std::string file = good;
    for (std::size_t at = manifest_at(good); at < good.size() - 40; ++at) {
      for (unsigned change = 1; change < 256; change += at % 16 == 0 && kCountsMemory ? 5 : 43) {
        file[at] = static_cast<char>(static_cast<unsigned char>(good[at]) ^ change);
        rehash(file);
        read_whole(to_bytes(file));
      }
      file[at] = good[at];
    }
  }
}

TEST(Zt2Hostile, LyingManifestsAllocateNothing) {
  if (!kCountsMemory) GTEST_SKIP() << "memory is not counted under a sanitizer";
  for (const std::string& good : files()) {
    std::string file = good;
    const std::size_t most = (std::size_t{64} << 10) + 8 * good.size();
    for (std::size_t at = manifest_at(good); at + 9 < good.size() - 40; ++at) {
      const std::string kept = file.substr(at, 9);
      for (unsigned major = 0; major < 8; ++major) {  // a head that states a very large or a very small number
        const std::uint64_t number = major % 2 == 0 ? UINT64_MAX >> (at % 60) : std::uint64_t{1} << 40;
        file.replace(at, 9, cbor::head(major, number, 8));
        rehash(file);
        const Bytes bytes = to_bytes(file);
        const std::size_t peak = peak_during([&] { error_of([&] { open(borrow_memory(bytes, "it")); }); });
        EXPECT_LT(peak, most) << at;
        file.replace(at, 9, kept);
      }
    }
  }
}

TEST(Zt2Hostile, TablesOfFramesThatLie) {
  const std::string good = text::SeekText().add(text::frame("abcd"), 4).add(text::frame("efgh"), 4).text();
  const auto file_of = [](const std::string& stored) {
    return text::one(text::object({8}, "dense", {{"data", text::map(text::packed_part(stored, 8, "u8"))}}), stored);
  };
  EXPECT_EQ(to_text(open(memory_source(file_of(good), "it")).tensors.at(0).components[0].blob.bytes()), "abcdefgh");
  for (std::size_t at = 0; at < good.size(); ++at)
    for (unsigned change = 1; change < 256; change += kCountsMemory ? 1 : 6) {
      std::string bad = good;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ change);
      error_of([&] {
        const Model model = open(memory_source(file_of(bad), "it"));
        EXPECT_EQ(to_text(model.tensors.at(0).components[0].blob.bytes()), "abcdefgh") << at << " " << change;
      });
    }
}

}  // namespace
}  // namespace tare
