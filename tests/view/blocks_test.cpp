// Tests the explanation of the first block of every quantized layout in the table: it is complete and correct.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "codecs/first_block.hpp"
#include "conformance/memory.hpp"
#include "formats/format.hpp"
#include "produced_blob.hpp"
#include "tare/elements.hpp"
#include "tare/error.hpp"

namespace tare::codec {
namespace {

Bytes random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

Tensor random_weights(Shape shape) {
  std::mt19937 random(7);
  std::vector<float> values(static_cast<std::size_t>(*shape.elements()));
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  return dense("w", std::move(shape), values);
}

std::vector<double> decoded(const Tensor& tensor) {
  const Tensor whole = to_dense(tensor);
  const Component& data = *whole.component("data");
  std::vector<double> values(static_cast<std::size_t>(data.blob.size() / size_of(data.dtype)));
  decode_elements(data.dtype, data.type, data.blob.bytes(), values);
  return values;
}

// The weights that the explanation covers.
std::vector<double> weights_of(const Tensor& tensor, const FirstBlock& block) {
  const std::vector<double> all = decoded(tensor);
  std::vector<double> own;
  for (std::uint64_t i = 0; i < block.weights; ++i) own.push_back(all.at(static_cast<std::size_t>(i * block.step)));
  return own;
}

// --- evaluates a formula: products (also by juxtaposition), quotients, sums, names, numbers, parentheses ---

class Formula {
 public:
  Formula(std::string_view text, std::map<std::string, double, std::less<>> names) : names_(std::move(names)) {
    text = text.substr(text.find('=') + 1);
    rest_ = text.substr(0, std::min(text.find(';'), text.size()));
  }
  double value() {
    const double result = sum();
    EXPECT_EQ(peek(), '\0') << rest_;
    return result;
  }

 private:
  char peek() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }
  double sum() {
    double value = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      rest_.remove_prefix(1);
      const double next = product();
      value = c == '+' ? value + next : value - next;
    }
    return value;
  }
  double product() {
    double value = factor();
    for (char c = peek(); c != '\0' && c != '+' && c != '-' && c != ')'; c = peek()) {
      if (c == '/') rest_.remove_prefix(1);
      const double next = factor();
      value = c == '/' ? value / next : value * next;
    }
    return value;
  }
  double factor() {
    if (peek() == '(') {
      rest_.remove_prefix(1);
      const double value = sum();
      EXPECT_EQ(peek(), ')');
      rest_.remove_prefix(1);
      return value;
    }
    std::size_t size = 0;
    while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) != 0 || rest_[size] == '_'))
      ++size;
    const std::string word(rest_.substr(0, size));
    rest_.remove_prefix(size == 0 ? rest_.size() : size);
    if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0) return std::stod(word);
    const auto found = names_.find(word);
    EXPECT_NE(found, names_.end()) << "the formula names '" << word << "'";
    return found == names_.end() ? 0 : found->second;
  }

  std::map<std::string, double, std::less<>> names_;
  std::string_view rest_;
};

void expect_formula(const FirstBlock& block, const std::vector<double>& weights) {
  double largest = 0;
  for (const double weight : weights) largest = std::max(largest, std::abs(weight));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::map<std::string, double, std::less<>> names;
    double scale = largest;
    for (const BlockTerm& term : block.terms) {
      ASSERT_TRUE(term.values.size() == 1 || term.values.size() == block.weights) << term.name;
      names.emplace(term.name, term.values[term.values.size() == 1 ? 0 : i]);
    }
    // A difference of two products is as exact as the products.
    if (names.contains("minimum")) scale = std::max(scale, std::abs(names["dmin"] * names["minimum"]));
    ASSERT_NEAR(Formula(block.formula, names).value(), weights[i], 2e-6 * scale + 1e-30)
        << block.formula << ", weight " << i;
  }
}

// --- which bytes the block depends on ---

std::vector<std::vector<bool>> covered(const Tensor& tensor, const FirstBlock& block) {
  std::vector<std::vector<bool>> all;
  for (const Component& component : tensor.components)
    all.emplace_back(static_cast<std::size_t>(component.blob.size()));
  for (const BlockField& field : block.fields)
    for (std::uint64_t run = 0; run < field.runs; ++run)
      for (std::uint64_t i = 0; i < field.bytes; ++i) {
        auto&& place = all.at(field.component).at(static_cast<std::size_t>(field.offset + run * field.stride + i));
        EXPECT_FALSE(place) << field.name << ": its bytes are in two fields";
        place = true;
      }
  return all;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Changing a byte outside the fields changes no weight of the block. Each field has a byte that does, except fields for
// other purposes.
void expect_fields(const Tensor& tensor, const FirstBlock& block) {
  const auto inside = covered(tensor, block);
  const std::vector<double> before = weights_of(tensor, block);
  std::set<std::string_view> felt;
  std::mt19937 random(3);
  for (std::size_t c = 0; c < tensor.components.size(); ++c) {
    const Bytes bytes = tensor.components[c].blob.bytes();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      if (at > (testing::kCountsMemory ? 600 : 100) && !inside[c][at] && random() % (bytes.size() / 100 + 1) != 0)
        continue;
      for (const unsigned flip : {0x01U, 0x5AU, 0xFFU}) {
        Tensor changed = tensor;
        Bytes other = bytes;
        other[at] ^= static_cast<std::byte>(flip);
        changed.components[c].blob = Blob::memory(std::move(other));
        try {
          if (same(weights_of(changed, block), before)) continue;
        } catch (const Error&) {
          continue;  // an invalid index
        }
        EXPECT_TRUE(inside[c][at]) << "byte " << at << " of " << tensor.components[c].role << " is in no field";
        for (const BlockField& field : block.fields) {
          const std::uint64_t first =
              field.runs > 1 && at >= field.offset ? (at - field.offset) % field.stride : at - field.offset;
          if (field.component == c && at >= field.offset && first < field.bytes) felt.insert(field.name);
        }
      }
    }
  }
  for (const BlockField& field : block.fields)
    EXPECT_TRUE(felt.contains(field.name) || field.what.find("sum") != std::string_view::npos) << field.name;
}

// --- a tensor of every layout ---

using Samples = std::vector<Tensor>;

// Blocks of a few bytes, one after the other, of any bits that are numbers.
void add_blocks(const Codec& codec, Samples& samples) {
  for (const std::uint64_t weights : {32, 64, 128, 256})
    for (std::size_t bytes = 1; bytes < 300; ++bytes) {
      Tensor tensor;
      tensor.name = "w";
      tensor.layout = codec.layout;
      tensor.shape = {2, weights};
      tensor.components.push_back({std::string(codec.roles.front()), DType::u8, {}, Blob::memory(Bytes(2 * bytes))});
      if (codec.check(tensor)) continue;
      for (unsigned seed = 0; seed < 1000; ++seed) {
        tensor.components[0].blob = Blob::memory(random_bytes(2 * bytes, seed));
        const std::vector<double> values = decoded(tensor);
        double largest = 0;
        for (const double value : values) largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 1e30);
        if (largest > 1e-6 && largest < 1e20) break;
      }
      samples.push_back(tensor);
      return;
    }
}

Tensor grouped(std::string_view layout, Shape shape, const char* data_type, DType data, std::size_t data_bytes,
               DType scale, std::string scale_type, std::size_t scales) {
  Tensor tensor;
  tensor.name = "w";
  tensor.layout = layout;
  tensor.shape = std::move(shape);
  Bytes bytes = random_bytes(data_bytes, 5);
  for (std::byte& byte : bytes)
    if (std::string_view(data_type).starts_with("f8")) byte &= std::byte{0x6F};  // finite
  tensor.components.push_back({"data", data, data_type, Blob::memory(std::move(bytes))});
  Bytes own;
  if (scale == DType::f32) {
    std::vector<float> values(scales);
    for (std::size_t i = 0; i < scales; ++i) values[i] = 0.25F + static_cast<float>(i) / 64;
    own.resize(scales * 4);
    std::memcpy(own.data(), values.data(), own.size());
  } else {
    for (std::size_t i = 0; i < scales; ++i) own.push_back(static_cast<std::byte>(120 + i % 8));
  }
  tensor.components.push_back({"scales", scale, std::move(scale_type), Blob::memory(std::move(own))});
  return tensor;
}

Map word_packing(std::string_view word, int per_word, std::string_view order) {
  Map packing;
  packing.set("word", Value(std::string(word)));
  packing.set("per_word", per_word);
  packing.set("order", Value(std::string(order)));
  return packing;
}

void add_profiles(Samples& samples) {
  const auto group = [&](int bits, DType word, std::string_view order, int axis, std::string_view zeros) {
    const std::size_t width = size_of(word), elements = 8 * 64, groups = axis == 1 ? 8 * 2 : 2 * 64;
    const auto per_word = static_cast<int>(8 * width) / bits;
    Tensor tensor = grouped("zt.quant_group/1", {8, 64}, "", word, elements * static_cast<std::size_t>(bits) / 8,
                            DType::f32, "", groups);
    tensor.attributes.set("bits", bits);
    tensor.attributes.set("group_size", axis == 1 ? 32 : 4);
    tensor.attributes.set("axis", axis);
    tensor.attributes.set("packing", Value(word_packing(width == 4 ? "u32" : "u8", per_word, order)));
    tensor.attributes.set("scale_form", Value("f32_factors"));
    Map zero;
    zero.set("form", Value(std::string(zeros == "packed" || zeros == "plain" ? "tensor" : zeros)));
    if (zeros == "implied") zero.set("value", 3);
    if (zeros == "packed") {
      zero.set("packing", Value("same_as_data"));
      tensor.components.push_back(
          {"zeros", word, {}, Blob::memory(random_bytes(groups * static_cast<std::size_t>(bits) / 8, 9))});
    } else if (zeros == "plain") {
      zero.set("packing", Value("plain"));
      tensor.components.push_back({"zeros", DType::u8, {}, Blob::memory(random_bytes(groups, 9))});
    }
    tensor.attributes.set("zero_point", Value(zero));
    samples.push_back(tensor);
  };
  group(4, DType::u32, "lsb_first", 1, "none");
  group(4, DType::u32, "msb_first", 1, "implied");
  group(2, DType::u8, "lsb_first", 1, "plain");
  group(4, DType::u8, "msb_first", 1, "packed");
  group(8, DType::u32, "lsb_first", 0, "packed");
  group(4, DType::u32, "msb_first", 0, "plain");
  const auto mx = [&](const char* type, DType data, std::size_t bytes, int axis) {
    Tensor tensor = grouped("zt.mx/1", {8, 64}, type, data, bytes, DType::u8, "f8_e8m0", axis == 1 ? 16 : 4 * 64);
    tensor.attributes.set("block_size", axis == 1 ? 32 : 2);
    tensor.attributes.set("axis", axis);
    tensor.attributes.set("scale_form", Value("e8m0_exponent"));
    samples.push_back(tensor);
  };
  mx("f4_e2m1", DType::u8, 256, 1);
  mx("f8_e4m3fn", DType::u8, 512, 1);
  mx("f8_e5m2", DType::u8, 512, 0);
  mx("", DType::i8, 512, 1);
  mx("f4_e2m1", DType::u8, 256, 0);
  Tensor odd;
  odd.name = "w";
  odd.layout = "zt.f4_e2m1";
  odd.shape = {33};
  Bytes halves = random_bytes(17, 4);
  halves.back() &= std::byte{0x0F};
  odd.components.push_back({"data", DType::u8, "f4_e2m1", Blob::memory(std::move(halves))});
  samples.push_back(odd);
}

// Made by the libraries that define these packed weights.
void add_packs(Samples& samples) {
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TARE_TEST_DIR) + "/codecs/packs/data"))
    if (entry.is_directory())
      for (const Tensor& tensor : open(entry.path()).tensors) samples.push_back(tensor);
}

std::map<std::string, Samples, std::less<>> all_samples() {
  Samples samples;
  add_packs(samples);
  add_profiles(samples);
  for (const Codec& codec : codecs()) {
    if (codec.name.empty()) continue;
    if (codec.methods.empty() && codec.roles.size() == 1) add_blocks(codec, samples);
    for (const std::string_view method : codec.methods)
      for (const bool range : {false, true})
        if (!range || codec.ranged)
          samples.push_back(codec.encode(random_weights({4, 512}), {.method = std::string(method), .range = range}));
  }
  std::map<std::string, Samples, std::less<>> by_layout;
  for (Tensor& tensor : samples) by_layout[tensor.layout].push_back(std::move(tensor));
  return by_layout;
}

TEST(FirstBlocks, OfEveryQuantizedLayout) {
  const auto samples = all_samples();
  std::size_t layouts = 0;
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.layout);
    if (codec.name.empty()) continue;  // plain and sparse numbers have no blocks
    ++layouts;
    const auto found = samples.find(codec.layout);
    ASSERT_NE(found, samples.end()) << "no tensor of this layout";
    // Number of tensors to corrupt; few with sanitizers, which are slow.
    std::size_t left = testing::kCountsMemory ? found->second.size() : 1;
    for (const Tensor& coded : found->second) {
      SCOPED_TRACE(coded.name);
      // Encoders make bytes on demand; here they are read many times, so they are copied.
      Tensor tensor = coded;
      for (Component& component : tensor.components) component.blob = Blob::memory(component.blob.bytes());
      const auto block = first_block(tensor);
      ASSERT_TRUE(block);
      EXPECT_GT(block->weights, 1U);
      expect_formula(*block, weights_of(tensor, *block));
      if (left == 0) continue;
      expect_fields(tensor, *block);
      --left;
    }
  }
  EXPECT_GE(layouts, 60U);
}

// Bytes that can only be read from the beginning give the same result.
TEST(FirstBlocks, OfBytesInOneStream) {
  for (const auto& [layout, tensors] : all_samples()) {
    const auto plain = first_block(tensors.front());
    Tensor tensor = tensors.front();
    for (Component& component : tensor.components) component.blob = test::produced_blob(component.blob.bytes(), 0);
    const auto packed = first_block(tensor);
    ASSERT_TRUE(plain && packed) << layout;
    ASSERT_EQ(plain->terms.size(), packed->terms.size());
    for (std::size_t i = 0; i < plain->terms.size(); ++i)
      EXPECT_EQ(plain->terms[i].values, packed->terms[i].values) << layout << " " << plain->terms[i].name;
  }
}

TEST(FirstBlocks, OfNothing) {
  EXPECT_FALSE(first_block(random_weights({4, 4})));
  Tensor empty;
  empty.name = "w";
  empty.layout = "ggml.q4_0";
  empty.shape = {0, 32};
  empty.components.push_back({"payload", DType::u8, {}, Blob::memory({})});
  EXPECT_FALSE(first_block(empty));
  empty.shape = {1, 32};
  EXPECT_FALSE(first_block(empty)) << "its payload is too short";
}

}  // namespace
}  // namespace tare::codec
