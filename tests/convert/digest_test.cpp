// The digests of an input during a conversion: bytes that do not match are not passed on, whatever happens to them, and
// the error names their tensor.
#include "conformance/models.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

using namespace tare::testing;

class ConvertDigests : public ::testing::Test {
 protected:
  ConvertDigests() {
    Model model;
    model.tensors = {make_dense("good", {64}, DType::f32), make_dense("bad", {64}, DType::f32)};
    Bytes bytes = write_bytes(*find_format("zt"), model, {.digest = DigestAlgorithm::sha256});
    const Model written = open(memory_source(bytes));
    bytes[written.tensors.at(1).components[0].blob.offset() + 5] ^= std::byte{1};
    put_file(input(), bytes);
  }

  std::string input() const { return scratch_ / "in.zt"; }
  std::optional<Error> error_into(const std::string& name, const ConvertOptions& options) const {
    auto error = error_of([&] { convert(input(), scratch_ / name, options); });
    EXPECT_EQ(std::filesystem::exists(scratch_ / name), !error.has_value());
    return error;
  }
  void expect_refused(const std::string& name, const ConvertOptions& options) const {
    SCOPED_TRACE(name);
    const auto error = error_into(name, options);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->rule(), "digest.mismatch") << error->what();
    EXPECT_EQ(error->item(), "tensor bad");
    EXPECT_EQ(error->file(), input());
  }

 private:
  Scratch scratch_;
};

TEST_F(ConvertDigests, AreCheckedWhateverBecomesOfTheBytes) {
  expect_refused("same.zt", {});
  expect_refused("other_digest.zt", {.write = {.digest = DigestAlgorithm::crc32c}});
  expect_refused("no_digest.zt", {.write = {.digest = DigestAlgorithm::none}});
  expect_refused("packed.zt", {.write = {.zstd_level = 1}});
  expect_refused("archive.npz", {});
  expect_refused("plain.safetensors", {});
  expect_refused("cast.zt", {.adapt = {.dtype = DType::f16}});
  expect_refused("cast.npz", {.adapt = {.dtype = DType::f64}});
}

TEST_F(ConvertDigests, OfTensorsLeftOutDoNotMatter) {
  EXPECT_FALSE(error_into("rest.zt", {.adapt = {.dtype = DType::f16, .skip = {"bad"}}}).has_value());
}

}  // namespace
}  // namespace tare
