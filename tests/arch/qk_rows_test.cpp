#include "arch/qk_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "arch/names.hpp"
#include "base/endian.hpp"
#include "codecs/toy_q4_0.hpp"
#include "counting_source.hpp"
#include "produced_blob.hpp"
#include "tare/codec.hpp"

namespace tare::arch {
namespace {

Bytes numbered(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  return bytes;
}

// The definition, row by row.
Bytes naive(const Bytes& bytes, std::size_t rows, std::size_t heads, QkOrder to) {
  const std::size_t head = rows / heads, row = bytes.size() / rows;
  Bytes result(bytes.size());
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t k = 0; k < head / 2; ++k)
      for (std::size_t p = 0; p < 2; ++p) {
        const std::size_t pair = h * head + 2 * k + p, half = h * head + p * (head / 2) + k;
        const std::size_t from = to == QkOrder::pairs ? half : pair, into = to == QkOrder::pairs ? pair : half;
        std::copy_n(bytes.data() + from * row, row, result.data() + into * row);
      }
  return result;
}

struct Case {
  std::size_t heads, head, row;  // matrix rows of a head, bytes of a row
};
// Biases, single pairs, rows above and below the sizes that are read together, many heads.
constexpr Case kCases[] = {{1, 2, 1},     {1, 2, 4},  {3, 2, 5},    {4, 8, 2},       {32, 128, 4},  {8, 64, 130},
                           {2, 128, 600}, {2, 4, 70}, {1, 6, 4099}, {1, 4, 300'001}, {3, 1000, 70}, {1, 2, 1'100'000}};

TEST(ArchQkRows, AgreesWithTheDefinitionAndIsItsOwnInverse) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(fmt::format("{} heads of {} rows of {} bytes", c.heads, c.head, c.row));
    const std::size_t rows = c.heads * c.head;
    const Bytes bytes = numbered(rows * c.row);
    const Blob blobs[] = {Blob::memory(bytes), test::produced_blob(bytes, 0), test::produced_blob(bytes, 4096),
                          Blob::range(std::make_shared<test::CountingSource>(bytes), 0, bytes.size())};
    for (const Blob& blob : blobs)
      for (const QkOrder to : {QkOrder::pairs, QkOrder::halves}) {
        const Blob moved = reorder_qk(blob, rows, c.heads, to);
        ASSERT_EQ(moved.size(), bytes.size());
        EXPECT_TRUE(moved.bytes() == naive(bytes, rows, c.heads, to));
        const QkOrder back = to == QkOrder::pairs ? QkOrder::halves : QkOrder::pairs;
        EXPECT_TRUE(reorder_qk(moved, rows, c.heads, back).bytes() == bytes);
      }
  }
}

TEST(ArchQkRows, CanBeEnteredAnywhere) {
  const Bytes bytes = numbered(8 * 16 * 33);
  const Blob moved = reorder_qk(Blob::memory(bytes), 8 * 16, 8, QkOrder::pairs);
  const Bytes all = naive(bytes, 8 * 16, 8, QkOrder::pairs);
  for (std::size_t offset = 0; offset < all.size(); offset += 7) {
    Bytes part(std::min<std::size_t>(100, all.size() - offset));
    moved.read(offset, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(offset))) << offset;
  }
}

// Scattered rows cost no more reading than adjacent ones.
TEST(ArchQkRows, ReadsEveryByteOnce) {
  const Bytes bytes = numbered(16 * 128 * 1024);
  for (const QkOrder to : {QkOrder::pairs, QkOrder::halves}) {
    const auto source = std::make_shared<test::CountingSource>(bytes);
    reorder_qk(Blob::range(source, 0, bytes.size()), 16 * 128, 16, to).bytes(UINT64_MAX, 1);
    EXPECT_EQ(source->count, bytes.size());
  }
}

TEST(ArchQkRows, TensorsKeepTypeShapeAndAttributes) {
  Bytes bytes(12 * 3 * 2);
  for (std::size_t i = 0; i < 36; ++i) store_le<std::uint16_t>(bytes.data() + 2 * i, static_cast<std::uint16_t>(i));
  Tensor tensor = dense("model.layers.0.self_attn.q_proj.weight", {12, 3}, DType::bf16, Blob::memory(bytes));
  tensor.attributes.set("note", Value("kept"));
  const Tensor moved = reorder_qk(tensor, 2, QkOrder::pairs);
  EXPECT_EQ(moved.name, tensor.name);
  EXPECT_EQ(moved.shape, tensor.shape);
  EXPECT_EQ(moved.component("data")->dtype, DType::bf16);
  EXPECT_EQ(moved.attributes, tensor.attributes);
  const Bytes after = moved.component("data")->blob.bytes();
  std::vector<int> first;  // the first column of each row
  for (std::size_t row = 0; row < 12; ++row) first.push_back(load_le<std::uint16_t>(after.data() + 6 * row) / 3);
  EXPECT_EQ(first, (std::vector<int>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));

  const Tensor bias = dense("b", {4}, DType::u8, Blob::memory(numbered(4)));
  EXPECT_TRUE(reorder_qk(bias, 1, QkOrder::pairs).component("data")->blob.bytes() ==
              naive(numbered(4), 4, 1, QkOrder::pairs));
}

// Rows of whole blocks move undecoded: decoded afterwards, they equal the decoded rows after moving.
TEST(ArchQkRows, QuantizedRowsMoveWithoutBeingDecoded) {
  constexpr std::size_t kRows = 2 * 8, kColumns = 64;
  Bytes floats(kRows * kColumns * 4);
  for (std::size_t i = 0; i < kRows * kColumns; ++i)
    store_le<float>(floats.data() + 4 * i, static_cast<float>(static_cast<int>(i * 37 % 211) - 105) / 16);
  const Tensor tensor = dense("q", {kRows, kColumns}, DType::f32, Blob::memory(floats));
  const Tensor coded = codec::encode_blocks(codec::toy::kQ4_0, tensor, {});
  Tensor moved = coded;
  for (Component& component : moved.components) component.blob = reorder_qk(component.blob, kRows, 2, QkOrder::pairs);
  const auto decoded = [](const Tensor& from) {
    return codec::decode_blocks(codec::toy::kQ4_0, from).component("data")->blob.bytes();
  };
  EXPECT_TRUE(decoded(moved) == naive(decoded(coded), kRows, 2, QkOrder::pairs));
  EXPECT_FALSE(decoded(moved) == decoded(coded));
}

template <typename Action>
std::string rule_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.rule());
  }
  return {};
}

TEST(ArchQkRows, RefusesWhatIsNoHeads) {
  const auto rule = [](std::uint64_t bytes, std::uint64_t rows, std::uint64_t heads) {
    return rule_of([&] { reorder_qk(Blob::memory(Bytes(bytes)), rows, heads, QkOrder::pairs); });
  };
  EXPECT_EQ(rule(24, 12, 2), "");
  EXPECT_EQ(rule(0, 12, 2), "");
  EXPECT_EQ(rule(0, 0, 2), "");
  EXPECT_EQ(rule(24, 12, 0), "arch.qk.heads");
  EXPECT_EQ(rule(24, 12, 5), "arch.qk.heads");
  EXPECT_EQ(rule(24, 12, 4), "arch.qk.heads");  // heads of 3 rows
  EXPECT_EQ(rule(24, 12, UINT64_MAX), "arch.qk.heads");
  EXPECT_EQ(rule(25, 12, 2), "arch.qk.bytes");
  EXPECT_EQ(rule(24, 0, 2), "arch.qk.bytes");
  Tensor sparse = dense("s", {4, 1}, DType::u8, Blob::memory(Bytes(4)));
  sparse.layout = "sparse_csr";
  EXPECT_EQ(rule_of([&] { reorder_qk(sparse, 1, QkOrder::pairs); }), "arch.qk.layout");
  EXPECT_EQ(rule_of([] { reorder_qk(dense("x", {}, DType::u8, Blob::memory(Bytes(1))), 1, QkOrder::pairs); }),
            "arch.qk.layout");
}

TEST(ArchQkRows, OrdersAreThoseOfTheRuntimes) {
  for (const std::string_view name : {"llama", "mistral", "mixtral", "ministral3", "smollm3", "granite", "olmo"}) {
    EXPECT_TRUE(find_step(*find_family(name), Role::q, Verb::pair_rows)) << name;
    EXPECT_TRUE(find_step(*find_family(name), Role::k, Verb::pair_rows)) << name;
    EXPECT_FALSE(find_step(*find_family(name), Role::v, Verb::pair_rows)) << name;
  }
  for (const std::string_view name :
       {"qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3", "phi3", "olmo2"})
    EXPECT_FALSE(find_step(*find_family(name), Role::q, Verb::pair_rows)) << name;
  const Pattern* const meta = find_row(*find_family("llama"), Dialect::meta, {.role = Role::q, .layer = 0});
  ASSERT_NE(meta, nullptr);
  EXPECT_TRUE(meta->steps.empty());  // in pairs as they are
}

TEST(ArchQkRows, HeadsOfARole) {
  Config config;
  EXPECT_FALSE(rotated_heads(Role::q, config));
  config.num_attention_heads = 32;
  EXPECT_EQ(rotated_heads(Role::q, config), 32u);
  EXPECT_EQ(rotated_heads(Role::k, config), 32u);
  config.num_key_value_heads = 8;
  EXPECT_EQ(rotated_heads(Role::q, config), 32u);
  EXPECT_EQ(rotated_heads(Role::k, config), 8u);
  EXPECT_FALSE(rotated_heads(Role::v, config));
  config.num_key_value_heads = -8;
  EXPECT_FALSE(rotated_heads(Role::k, config));
}

}  // namespace
}  // namespace tare::arch
