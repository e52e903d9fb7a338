// The exact bytes of a canonical MCF file.
#include "base/text.hpp"
#include "conformance/mcf_bytes.hpp"
#include "conformance/models.hpp"
#include "formats/mcf/write_mcf.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace tare::testing::mcf_bytes;

void expect_bytes(const Bytes& found, const std::string& expected) {
  EXPECT_EQ(found.size(), expected.size());
  const std::string text = to_text(found);
  for (std::size_t i = 0; i < std::min(text.size(), expected.size()); i += 8)
    EXPECT_EQ(to_hex(to_bytes(text.substr(i, 8))), to_hex(to_bytes(expected.substr(i, 8)))) << "at byte " << i;
}

// A file always has at least one section, ModelInfo.
TEST(McfFile, EmptyModel) {
  const std::string file = std::string("MCF\0", 4) + u16(1) + u16(1) + u32(40) + u32(1)  //  0: version 1.1, one section
                           + u64(128) + u64(152) + u64(1)                                // 16: directory, size, flags
                           + u32(1) + u32(0)                                             // 40: ModelInfo 1, flags
                           + std::string(80, '\0')                                       // 48: nothing known
                           + u32(1) + u32(1) + u64(40) + u64(88);                        // 128: ModelInfo
  expect_bytes(write_mcf({}), file);
}

// Every section, with each field written by hand.
TEST(McfFile, EverySection) {
  Model model;
  model.metadata.set("general.name", "tiny");
  model.metadata.set("epochs", 3);
  model.metadata.set("rate", 0.5);
  model.metadata.set("by", "me");
  model.config.model_type = "llama";
  model.config.vocab_size = 32;
  model.config.rope_theta = 10000.0;
  model.attachments = {{"merges.txt", Blob::memory(to_bytes("a b\n"))}, {"config.json", Blob::memory(to_bytes("{ }"))}};
  // Payload order is the model's: w, then b. Index order is by name: b, flag, w.
  tare::Tensor w;
  w.name = "w";
  w.shape = {1, 2};
  w.layout = "mcf.q8";
  w.components = {
      {"payload", DType::u8, "", Blob::memory(to_bytes(padded(u16(0x3C00), 64) + "\x01\xFF" + std::string(30, '\0')))}};
  w.attributes.set("domain", "weights");
  w.attributes.set("min_clip", -127.0);
  w.attributes.set("max_clip", 127.0);
  model.tensors = {w, dense("b", {2}, DType::f32, Blob::memory(to_bytes(f32(1) + f32(-2)))),
                   dense("flag", {}, DType::boolean, Blob::memory(to_bytes("\x01")))};

  const std::string info = u32(1) + u32(0)                                //   0: version, flags
                           + u32(1) + u32(0)                              //   8: arch llama
                           + u32(32) + u32(0) + u32(0) + u32(0) + u32(0)  //  16: vocab, hidden, layers, heads, kv_heads
                           + u32(0) + u32(0)                              //  36: context, train_context
                           + u32(1) + f32(10000) + f32(1)                 //  44: rope standard, base, scale
                           + u64(88) + u64(0)                             //  56: model_name, base_model
                           + u32(4) + u32(0) + u64(184)                   //  72: pairs
                           + u32(4) + "tiny"                              //  88
                           + u32(2) + "by" + u16(0)                       //  96
                           + u32(2) + "me" + u16(0)                       // 104
                           + padded(u32(6) + "epochs", 8)                 // 112
                           + padded(u32(3), 8)                            // 128
                           + u32(4) + "rate"                              // 136
                           + padded(f32(0.5), 8)                          // 144
                           + padded(u32(14) + "tare.type.flag", 8)        // 152
                           + padded(u32(4) + "bool", 8);                  // 176
  ASSERT_EQ(info.size(), 184U);
  const std::string pairs = u64(96) + u32(3) + u32(0) + u64(104)      // by: string
                            + u64(112) + u32(1) + u32(0) + u64(128)   // epochs: u32
                            + u64(136) + u32(2) + u32(0) + u64(144)   // rate: f32
                            + u64(152) + u32(3) + u32(0) + u64(176);  // tare.type.flag: string

  const std::string head = std::string("MCF\0", 4) + u16(1) + u16(1) + u32(40) + u32(6);
  std::string file = std::string(40, '\0')  // the header, below
                     + padded("{ }", 8)     //  40: config.json
                     + padded("a b\n", 8);  //  48: merges.txt
  file += info + pairs;                     //  56: ModelInfo, 184 + 96 bytes
  ASSERT_EQ(file.size(), 336U);             // 336: TensorData
  file = padded(file, 64);                  // 384: w
  file += padded(u16(0x3C00), 64) + "\x01\xFF" + std::string(30, '\0');
  file = padded(file, 64);  // 512: b
  file += f32(1) + f32(-2);
  file = padded(file, 64) + "\x01";  // 576: flag
  file = padded(file, 8);            // 584: TensorIndex
  ASSERT_EQ(file.size(), 584U);
  file += u32(1) + u32(3) + u32(3) + u32(3)                                              // three tensors, dims
          + u64(48) + u64(168) + u64(192) + u64(6)                                       // tables
          + u32(0) + u32(1) + u32(1) + u32(1) + u32(0) + u32(0) + u64(512) + u64(8)      // b: f32
          + u32(1) + u32(4) + u32(6) + u32(0) + u32(1) + u32(0) + u64(576) + u64(1)      // flag: u8, scalar
          + u32(5) + u32(1) + u32(0x20) + u32(2) + u32(1) + u32(0) + u64(384) + u64(96)  // w: q8
          + u64(2) + u64(1) + u64(2) + "bflagw";
  ASSERT_EQ(file.size(), 584U + 198);
  file = padded(file, 8);  // 784: QuantInfo
  file += u32(1) + u32(1) + u32(2) + "\x20" + std::string(1, '\0') + u16(32) + u16(0) + std::string(6, '\0') +
          f32(-127) + f32(127);
  ASSERT_EQ(file.size(), 816U);
  file += u32(1) + u32(1) + u64(56) + u64(280)           // ModelInfo
          + u32(2) + u32(1) + u64(784) + u64(32)         // QuantInfo
          + u32(3) + u32(1) + u64(584) + u64(198)        // TensorIndex
          + u32(4) + u32(1) + u64(336) + u64(577 - 336)  // TensorData
          + u32(0x100) + u32(1) + u64(40) + u64(3)       // config.json
          + u32(0x105) + u32(1) + u64(48) + u64(4);      // merges.txt
  file.replace(0, 40, head + u64(816) + u64(816 + 144) + u64(1));
  expect_bytes(write_mcf(model), file);

  const Model found = open(memory_source(to_bytes(file)));
  expect_same(model, found, find_format("mcf")->holds);
  EXPECT_EQ(found.version, "1.1");
  EXPECT_EQ(found.tensors[0].name, "w");
}

// Reading and writing a canonical file gives the same file.
TEST(McfFile, CanonicalFilesStayAsTheyAre) {
  const Bytes file = write_mcf(full_model(find_format("mcf")->holds));
  EXPECT_TRUE(write_mcf(open(memory_source(file))) == file);
}

}  // namespace
}  // namespace tare
