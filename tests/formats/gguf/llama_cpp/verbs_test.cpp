// Each verb and its inverse.
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"

#include <limits>

#include "arch/names.hpp"
#include "conformance/models.hpp"
#include "resources/layer_sizes.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using arch::Role;

Tensor numbers(const std::string& name, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(*shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return dense<float>(name, shape, values);
}

std::string rule_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.rule());
  }
  return {};
}

TEST(GgufVerbs, PairedRowsGoBack) {
  const arch::Family& llama = *arch::find_family("llama");
  Config config;
  config.num_attention_heads = 2;
  const Tensor tensor = numbers("q", {8, 2});
  arch::HeadRows heads(llama, config);
  const Tensor paired = pair_rows(tensor, Role::q, config, heads);
  EXPECT_EQ(paired.values<float>(), (std::vector<float>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
  EXPECT_EQ(unpair_rows(paired, Role::q, config, heads).values<float>(), tensor.values<float>());
  EXPECT_EQ(rule_of([&] { pair_rows(tensor, Role::q, Config(), heads); }), "convert.names");
  EXPECT_EQ(rule_of([&] { unpair_rows(numbers("q", {6, 2}), Role::q, config, heads); }), "convert.names");
}

TEST(GgufVerbs, AddedNumbersAreSubtractedExactly) {
  const std::vector<float> values = {0.5F, -1, 1e-9F, 3e7F};  // the last two are rounded
  const Tensor sum = add_number(dense<float>("norm", {4}, values), 1);
  EXPECT_EQ(sum.values<float>(), (std::vector<float>{1.5F, 0, 1, 3e7F + 1}));
  const Tensor back = subtract_number(sum, 1);
  EXPECT_EQ(back.values<float>(), values);
  EXPECT_TRUE(back.attributes.empty());
  EXPECT_EQ(rule_of([] { add_number(dense("norm", {4}, DType::u8, Blob::memory(Bytes(4))), 1); }), "convert.names");
}

TEST(GgufVerbs, HalvesAreJoined) {
  const Tensor whole = numbers("experts", {2, 4, 3});
  const auto [gate, up] = halve_rows(whole);
  EXPECT_EQ(gate.shape, (Shape{2, 2, 3}));
  EXPECT_EQ(up.values<float>(), (std::vector<float>{6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23}));
  const Tensor back = join_rows(gate, up);
  EXPECT_EQ(back.shape, whole.shape);
  EXPECT_EQ(back.values<float>(), whole.values<float>());
  EXPECT_EQ(rule_of([] { halve_rows(numbers("x", {2, 3, 3})); }), "convert.names");
  const auto [upper, lower] = halve_rows(numbers("matrix", {4, 2}));
  EXPECT_EQ(lower.values<float>(), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(join_rows(upper, lower).shape, (Shape{4, 2}));
  EXPECT_EQ(rule_of([] { halve_rows(numbers("x", {4})); }), "convert.names");
  EXPECT_EQ(rule_of([&, &half = gate] { join_rows(half, numbers("x", {2, 1, 3})); }), "convert.names");
  EXPECT_EQ(rule_of([] { join_rows(numbers("x", {2, 0, 3}), numbers("y", {2, 0, 3})); }), "convert.names");
}

// Two heads of three rows each: two for keys, one for values.
TEST(GgufVerbs, SplitHeadsAreJoined) {
  Config config;
  config.num_attention_heads = 2;
  const Tensor whole = numbers("kv_b", {6, 4});
  const auto [keys, values] = split_heads(whole, config, 2);
  EXPECT_EQ(keys.shape, (Shape{2, 4, 2}));
  EXPECT_EQ(keys.values<float>(), (std::vector<float>{0, 4, 1, 5, 2, 6, 3, 7, 12, 16, 13, 17, 14, 18, 15, 19}));
  EXPECT_EQ(values.shape, (Shape{2, 1, 4}));
  EXPECT_EQ(values.values<float>(), (std::vector<float>{8, 9, 10, 11, 20, 21, 22, 23}));
  const Tensor back = join_heads(keys, values);
  EXPECT_EQ(back.shape, whole.shape);
  EXPECT_EQ(back.values<float>(), whole.values<float>());
  for (const auto first : {std::optional<double>(), std::optional(0.0), std::optional(3.0), std::optional(-1e300)})
    EXPECT_EQ(rule_of([&] { split_heads(whole, config, first); }), "convert.names");
  EXPECT_EQ(rule_of([&] { split_heads(numbers("kv_b", {5, 4}), config, 2); }), "convert.names");
  EXPECT_EQ(rule_of([&] { split_heads(whole, Config(), 2); }), "convert.names");
  EXPECT_EQ(rule_of([&, &half = keys] { join_heads(half, half); }), "convert.names");
  EXPECT_EQ(rule_of([&, &half = keys] { join_heads(half, numbers("v", {3, 1, 4})); }), "convert.names");
}

TEST(GgufVerbs, ThirdsAreJoined) {
  const Tensor whole = numbers("qkv", {6, 2}), bias = numbers("bias", {6});
  const std::vector<Tensor> parts = part_thirds(whole), biases = part_thirds(bias);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].shape, (Shape{2, 2}));
  EXPECT_EQ(parts[1].values<float>(), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(biases[2].values<float>(), (std::vector<float>{4, 5}));
  EXPECT_EQ(join_thirds(parts[0], parts[1], parts[2]).values<float>(), whole.values<float>());
  EXPECT_EQ(join_thirds(parts[0], parts[1], parts[2]).shape, whole.shape);
  EXPECT_EQ(rule_of([] { part_thirds(numbers("x", {4, 2})); }), "convert.names");
  EXPECT_EQ(rule_of([&] { join_thirds(parts[0], parts[1], biases[2]); }), "convert.names");
}

// One output, two channels, two frames of one row with two columns.
TEST(GgufVerbs, FramesAreJoined) {
  const Tensor whole = numbers("kernel", {1, 2, 2, 1, 2});
  const auto [first, second] = part_frames(whole);
  EXPECT_EQ(first.shape, (Shape{1, 2, 1, 2}));
  EXPECT_EQ(first.values<float>(), (std::vector<float>{0, 1, 4, 5}));
  EXPECT_EQ(second.values<float>(), (std::vector<float>{2, 3, 6, 7}));
  EXPECT_EQ(join_frames(first, second).shape, whole.shape);
  EXPECT_EQ(join_frames(first, second).values<float>(), whole.values<float>());
  EXPECT_EQ(rule_of([] { part_frames(numbers("x", {1, 2, 3, 1, 2})); }), "convert.names");
  EXPECT_EQ(rule_of([] { part_frames(numbers("x", {1, 2, 2, 1})); }), "convert.names");
  EXPECT_EQ(rule_of([&, &one = first] { join_frames(one, numbers("x", {1, 2, 2, 1})); }), "convert.names");
}

TEST(GgufVerbs, TransposingTwiceIsNothing) {
  const Tensor matrix = numbers("w", {2, 3}), stack = numbers("e", {2, 2, 3}), vector = numbers("b", {3});
  EXPECT_EQ(transposed_last(matrix).shape, (Shape{3, 2}));
  EXPECT_EQ(transposed_last(matrix).values<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transposed_last(stack).shape, (Shape{2, 3, 2}));
  EXPECT_EQ(transposed_last(stack).values<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  EXPECT_EQ(transposed_last(transposed_last(matrix)).values<float>(), matrix.values<float>());
  EXPECT_EQ(transposed_last(transposed_last(stack)).values<float>(), stack.values<float>());
  EXPECT_EQ(transposed_last(vector).values<float>(), vector.values<float>());
  EXPECT_EQ(rule_of([] { transposed_last(numbers("x", {1, 2, 2, 2})); }), "convert.names");
  EXPECT_EQ(rule_of([] { transposed_last(numbers("x", {0, 2})); }), "convert.names");
}

TEST(GgufVerbs, AnAxisOfOneIsDroppedAndReturns) {
  const Tensor kernel = numbers("conv", {4, 1, 3});
  EXPECT_EQ(squeezed(kernel).shape, (Shape{4, 3}));
  EXPECT_EQ(unsqueezed(squeezed(kernel)).shape, kernel.shape);
  EXPECT_EQ(unsqueezed(squeezed(kernel)).values<float>(), kernel.values<float>());
  EXPECT_EQ(rule_of([] { squeezed(numbers("x", {4, 2, 3})); }), "convert.names");
  EXPECT_EQ(rule_of([] { squeezed(numbers("x", {4, 3})); }), "convert.names");
  EXPECT_EQ(rule_of([] { unsqueezed(numbers("x", {4})); }), "convert.names");
}

// Two groups of two heads of queries, one of keys and one of values, with one row each.
TEST(GgufVerbs, SortedHeadsGoBack) {
  Config config;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  const Tensor weights = numbers("qkv", {8, 2}), bias = numbers("bias", {8});
  EXPECT_EQ(sort_heads(bias, config).values<float>(), (std::vector<float>{0, 1, 4, 5, 2, 6, 3, 7}));
  EXPECT_EQ(sort_heads(weights, config).values<float>(),
            (std::vector<float>{0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}));
  for (const Tensor& tensor : {weights, bias}) {
    const Tensor back = unsort_heads(sort_heads(tensor, config), config);
    EXPECT_EQ(back.shape, tensor.shape);
    EXPECT_EQ(back.values<float>(), tensor.values<float>());
  }
  // Without a number for keys there are as many as queries.
  config.num_key_value_heads.reset();
  EXPECT_EQ(sort_heads(numbers("bias", {24}), config).values<float>()[2], 6);
  EXPECT_EQ(rule_of([&] { sort_heads(numbers("x", {7, 2}), config); }), "convert.names");
  EXPECT_EQ(rule_of([&] { unsort_heads(numbers("x", {7, 2}), config); }), "convert.names");
  EXPECT_EQ(rule_of([&] { sort_heads(numbers("x", {2, 2, 2}), config); }), "convert.names");
  EXPECT_EQ(rule_of([&] { sort_heads(weights, Config()); }), "convert.names");
  config.num_key_value_heads = 3;
  EXPECT_EQ(rule_of([&] { sort_heads(weights, config); }), "convert.names");
}

TEST(GgufVerbs, DealtRowsAreMerged) {
  const Tensor whole = numbers("experts", {2, 4, 2}), bias = numbers("bias", {2, 4});
  const auto [gate, up] = deal_rows(whole);
  EXPECT_EQ(gate.shape, (Shape{2, 2, 2}));
  EXPECT_EQ(gate.values<float>(), (std::vector<float>{0, 1, 4, 5, 8, 9, 12, 13}));
  EXPECT_EQ(up.values<float>(), (std::vector<float>{2, 3, 6, 7, 10, 11, 14, 15}));
  EXPECT_EQ(merge_rows(gate, up).shape, whole.shape);
  EXPECT_EQ(merge_rows(gate, up).values<float>(), whole.values<float>());
  const auto [even, odd] = deal_rows(bias);
  EXPECT_EQ(even.values<float>(), (std::vector<float>{0, 2, 4, 6}));
  EXPECT_EQ(merge_rows(even, odd).values<float>(), bias.values<float>());
  EXPECT_EQ(rule_of([] { deal_rows(numbers("x", {2, 3, 3})); }), "convert.names");
  EXPECT_EQ(rule_of([] { deal_rows(numbers("x", {4})); }), "convert.names");
  EXPECT_EQ(rule_of([&, &half = gate] { merge_rows(half, numbers("x", {2, 1, 2})); }), "convert.names");
}

// Experts of 64 inputs and 4 outputs, with codes of all kinds.
Tensor packed_experts(std::byte exponent = std::byte{125}) {
  Tensor experts;
  experts.name = "experts";
  experts.layout = "mxfp4";
  experts.shape = {2, 64, 4};
  Bytes codes(2 * 4 * 2 * 16), exponents(2 * 4 * 2, exponent);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i * 37 % 256);
  for (std::size_t i = 1; i < exponents.size(); ++i) exponents[i] = static_cast<std::byte>(120 + i % 7);
  experts.components.push_back({"blocks", DType::u8, "", Blob::memory(codes)});
  experts.components.push_back({"scales", DType::u8, "", Blob::memory(exponents)});
  return experts;
}

// Both layouts have a decoder of their own, so that equal values show that the codes are where they belong.
TEST(GgufVerbs, PackedColumnsBecomeRowsWithoutLoss) {
  const Tensor columns = packed_experts();
  ASSERT_TRUE(has_packed_columns(columns));
  const Tensor rows = transposed_last(columns);
  ASSERT_TRUE(has_packed_rows(rows));
  EXPECT_EQ(rows.layout, "ggml.mxfp4");
  EXPECT_EQ(rows.shape, (Shape{2, 4, 64}));
  EXPECT_EQ(to_dense(rows).values<float>(), transposed_last(to_dense(columns)).values<float>());
  Tensor back = packed_columns(rows);
  name_arrays(back);
  EXPECT_EQ(back.shape, columns.shape);
  for (const char* const role : {"blocks", "scales"})
    EXPECT_EQ(back.component(role)->blob.bytes(), columns.component(role)->blob.bytes()) << role;
  EXPECT_EQ(to_dense(back).values<float>(), to_dense(columns).values<float>());
  // Readers may begin anywhere, and end inside a block.
  const Bytes all = rows.components[0].blob.bytes();
  Bytes some(40);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{17}, all.size() - 40}) {
    rows.components[0].blob.read(at, some);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + static_cast<std::ptrdiff_t>(at))) << at;
  }
  EXPECT_EQ(
      rule_of([] { static_cast<void>(transposed_last(packed_experts(std::byte{255})).components[0].blob.bytes()); }),
      "pack.scale");
  Tensor shorter = packed_experts();
  shorter.components[0].blob = Blob::memory(Bytes(3));
  EXPECT_FALSE(has_packed_columns(shorter));
}

TEST(GgufVerbs, RowsOfBlocksAreDealtWithoutDecoding) {
  const Tensor rows = transposed_last(packed_experts());
  const auto [gate, up] = deal_rows(rows);
  EXPECT_EQ(gate.layout, rows.layout);
  EXPECT_EQ(gate.shape, (Shape{2, 2, 64}));
  EXPECT_EQ(to_dense(gate).values<float>(), deal_rows(to_dense(rows)).first.values<float>());
  EXPECT_EQ(to_dense(up).values<float>(), deal_rows(to_dense(rows)).second.values<float>());
  const Tensor back = merge_rows(gate, up);
  EXPECT_EQ(back.shape, rows.shape);
  EXPECT_EQ(back.components[0].blob.bytes(), rows.components[0].blob.bytes());
}

TEST(GgufVerbs, LogarithmsComeBackExactly) {
  const std::vector<float> values = {0, 1, -3, 2.7734375F, 100, -100};
  const Tensor rates = negate_exp(dense<float>("a", {6}, values));
  EXPECT_EQ(rates.values<float>()[0], -1);
  EXPECT_EQ(rates.values<float>()[1], -2.7182817F);
  EXPECT_EQ(undo_negate_exp(rates).values<float>(), values);
  EXPECT_TRUE(undo_negate_exp(rates).attributes.empty());
  // Another program has changed the first number.
  Tensor other = dense<float>("a", {2}, std::vector<float>{-2, -1});
  other.attributes = negate_exp(dense<float>("a", {2}, std::vector<float>{1, 0})).attributes;
  EXPECT_NEAR(undo_negate_exp(other).values<float>()[0], 0.6931472, 1e-6);
  EXPECT_EQ(rule_of([] { negate_exp(dense("a", {2}, DType::i32, Blob::memory(Bytes(8)))); }), "convert.names");
}

// Two heads of keys with one element; each has two heads of values with one element.
TEST(GgufVerbs, HeadsOfStatesArePartedAndRejoined) {
  const StateHeads heads{.keys = 2, .values = 4, .key_size = 1, .value_size = 1};
  // q k v v z z
  const Tensor whole = numbers("qkvz", {12, 1});
  const auto [qkv, gates] = part_heads(whole, heads);
  EXPECT_EQ(qkv.values<float>(), (std::vector<float>{0, 6, 1, 7, 2, 3, 8, 9}));
  EXPECT_EQ(gates.values<float>(), (std::vector<float>{4, 5, 10, 11}));
  EXPECT_EQ(rejoin_heads(qkv, gates, heads).shape, whole.shape);
  EXPECT_EQ(rejoin_heads(qkv, gates, heads).values<float>(), whole.values<float>());
  EXPECT_EQ(rule_of([&] { part_heads(numbers("x", {11, 1}), heads); }), "convert.names");
  EXPECT_EQ(rule_of([&] { part_heads(whole, StateHeads()); }), "convert.names");
  EXPECT_EQ(rule_of([&, &half = qkv] { rejoin_heads(half, half, heads); }), "convert.names");
  EXPECT_EQ(rule_of([&, &half = qkv] { rejoin_heads(half, half, StateHeads()); }), "convert.names");
}

// Two groups of three heads of values, with two elements each.
TEST(GgufVerbs, HeadsOfValuesAreTiled) {
  const StateHeads heads{.keys = 2, .values = 6, .key_size = 1, .value_size = 2};
  const Tensor vector = numbers("a", {6});
  EXPECT_EQ(tile_rows(vector, heads, true).values<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(untile_rows(tile_rows(vector, heads, true), heads, true).values<float>(), vector.values<float>());
  // The first two rows are not those of values.
  const Tensor rows = numbers("qkv", {14, 1});
  EXPECT_EQ(tile_rows(rows, heads, false).values<float>(),
            (std::vector<float>{0, 1, 2, 3, 8, 9, 4, 5, 10, 11, 6, 7, 12, 13}));
  EXPECT_EQ(untile_rows(tile_rows(rows, heads, false), heads, false).values<float>(), rows.values<float>());
  const Tensor columns = numbers("out", {1, 12});
  EXPECT_EQ(tile_columns(columns, heads).values<float>(), (std::vector<float>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  EXPECT_EQ(untile_columns(tile_columns(columns, heads), heads).values<float>(), columns.values<float>());
  const StateHeads equal{.keys = 6, .values = 6, .key_size = 1, .value_size = 2};
  EXPECT_EQ(tile_rows(vector, equal, true).values<float>(), vector.values<float>());
  EXPECT_EQ(tile_columns(columns, equal).values<float>(), columns.values<float>());
  EXPECT_EQ(rule_of([&] { tile_rows(numbers("x", {5}), heads, true); }), "convert.names");
  EXPECT_EQ(rule_of([&] { tile_columns(numbers("x", {1, 11}), heads); }), "convert.names");
  EXPECT_EQ(rule_of([&] { untile_columns(numbers("x", {12}), heads); }), "convert.names");
  EXPECT_EQ(rule_of([&] { untile_rows(vector, StateHeads(), true); }), "convert.names");
}

TEST(GgufVerbs, StacksComeApart) {
  Stacks stacks;
  for (const std::uint32_t expert : {1u, 0u})
    stacks.add(dense<float>(expert == 0 ? "a" : "b", {1, 2}, std::vector<float>(2, static_cast<float>(expert))),
               {.role = Role::expert_up, .layer = 3, .expert = expert}, Role::stacked_up);
  std::vector<Tensor> all;
  stacks.finish([&](Tensor tensor, const arch::TensorName& name, const std::vector<std::string>& names) {
    EXPECT_EQ(name, (arch::TensorName{.role = Role::stacked_up, .layer = 3}));
    EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
    all.push_back(std::move(tensor));
  });
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].shape, (Shape{2, 1, 2}));
  EXPECT_EQ(count_unstacked(all[0]), 2u);
  const std::vector<Tensor> back = unstack(all[0]);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].values<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(count_unstacked(numbers("x", {2, 2})), 0u);
  EXPECT_EQ(rule_of([] { unstack(numbers("x", {2, 2})); }), "convert.names");
  EXPECT_EQ(rule_of([] { unstack(numbers("x", {2, 0, 2})); }), "convert.names");
}

TEST(GgufVerbs, HalvesAreOfEachExpert) {
  const auto [gate, up] = halve_rows(numbers("x", {2, 2, 1}));
  EXPECT_EQ(gate.values<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(up.values<float>(), (std::vector<float>{1, 3}));
  EXPECT_EQ(rule_of([] { halve_rows(numbers("x", {2, 3, 1})); }), "convert.names");
}

TEST(GgufVerbs, CopiesAreKnownAsSuch) {
  const arch::Family& gemma = *arch::find_family("gemma");
  const Tensor table = numbers("table", {2, 2});
  const Tensor head = copy_of(table, "head");
  EXPECT_TRUE(is_copy(head));
  EXPECT_FALSE(is_copy(restored_copy(table, "head")));
  require_copy(head, &table, gemma);
  EXPECT_EQ(rule_of([&] { require_copy(numbers("head", {4}), &table, gemma); }), "convert.head");
  EXPECT_EQ(rule_of([&] { require_copy(head, nullptr, gemma); }), "convert.head");
}

TEST(GgufVerbs, DivisorsGiveTheirNumbersBack) {
  const Llama3Scaling scaling{.factor = 32, .low = 1, .high = 4, .context = 8192};
  const Map found = llama3_scaling_of(llama3_divisors(scaling, 500000, 64), 500000);
  ASSERT_NE(found.find("factor"), nullptr);
  EXPECT_EQ(*found.find("factor"), Value(32.0));
  EXPECT_TRUE(llama3_scaling_of({1, 2, 3}, 500000).empty());
}

TEST(GgufVerbs, PaddedRowsGoBack) {
  const Tensor table = numbers("table", {3, 2});
  const Tensor padded = pad_rows(table, 5);
  EXPECT_EQ(padded.shape, (Shape{5, 2}));
  EXPECT_EQ(padded.values<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5, 0, 0, 0, 0}));
  const Tensor back = without_padding(padded);
  EXPECT_EQ(back.values<float>(), table.values<float>());
  EXPECT_TRUE(back.attributes.empty());
}

// config.json may state anything: a count of rows is a whole number, and bytes for it are made up to a limit.
TEST(GgufVerbs, NoCountMakesATableOfAnotherSizeThanItsBytes) {
  for (const double count : {-1.0, 0.0, 3.0, 3.9, 4.5, std::numeric_limits<double>::quiet_NaN()}) {
    const Tensor padded = pad_rows(numbers("table", {3, 2}), count);
    EXPECT_EQ(padded.shape[0], count > 4 ? 4U : 3U) << count;
    EXPECT_EQ(padded.components.front().blob.size(), *padded.shape.elements() * sizeof(float)) << count;
  }
  for (const double count : {1e12, 1e30, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(rule_of([&] { pad_rows(numbers("table", {3, 2}), count); }), "convert.names") << count;
}

// A network that is twice as wide: a hostile size is not doubled beyond what an integer holds.
TEST(GgufVerbs, DoubledNetworksOfHostileSizesHaveNone) {
  for (const double rows : {1e30, 0x1p62, 6.0}) {
    Map json;
    json.set("model_type", "gemma4_text");
    json.set("num_hidden_layers", std::int64_t{2});
    json.set("num_kv_shared_layers", std::int64_t{1});
    json.set("use_double_wide_mlp", true);
    json.set("intermediate_size", rows);
    Config config;
    config.num_hidden_layers = 2;
    const auto sizes = resources::layer_sizes(*arch::find_family("gemma4_text"), resources::ConfigFile(json), config);
    ASSERT_EQ(sizes.layers.size(), 2U);
    EXPECT_EQ(sizes.layers[1].rows, rows == 6 ? std::optional<std::int64_t>(12) : std::nullopt) << rows;
  }
}

}  // namespace
}  // namespace tare::gguf::llama_cpp
