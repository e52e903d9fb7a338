// The endpoints' answers: correct numbers, bounded size for any model, and an error for anything else.
#include "view/service.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/text.hpp"
#include "service_cases.hpp"
#include "tare/codec.hpp"
#include "tare/convert.hpp"
#include "view/fuzzy.hpp"
#include "view/heat.hpp"
#include "view/held_values.hpp"
#include "view/names.hpp"
#include "view/page.hpp"
#include "view/palette.hpp"
#include "view/reading.hpp"
#include "view/report.hpp"
#include "view/svg.hpp"

namespace tare::view {
namespace {

TEST(ViewService, EveryEndpointAnswersAndIsBounded) {
  Service service({shown(small_model()), shown(small_model())});
  for (const std::string_view name : endpoint_names()) {
    const bool change = name.find('/') != std::string_view::npos || name == "reopen";
    for (const std::string& target :
         {std::string(name), fmt::format("{}?tensor=1", name), fmt::format("{}?of=b", name)}) {
      const Answer answer = service.answer(target, change);
      EXPECT_LE(answer.body.size(), kMostAnswer) << target;
      EXPECT_EQ(answer.body.front(), '{') << target;
      wire::TreeBounds bounds;
      EXPECT_NO_THROW(static_cast<void>(wire::read_json(answer.body, bounds))) << target;
    }
    if (change) {
      EXPECT_EQ(service.answer(name).status, 405) << name << " wants a POST";
    }
  }
}

TEST(ViewService, SaysWhatItCannotAnswer) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  EXPECT_EQ(service.answer("nothing").status, 404);
  EXPECT_EQ(service.answer("").status, 404);
  EXPECT_EQ(service.answer("tensor?tensor=9999").status, 404);
  EXPECT_EQ(service.answer("tensor?tensor=no.such.tensor").status, 404);
  EXPECT_EQ(service.answer("tensor?tensor=../../etc/passwd").status, 404);
  EXPECT_EQ(service.answer("compare").status, 400);
  EXPECT_EQ(service.answer("heat?tensor=1&of=b").status, 400);
  EXPECT_EQ(service.answer("heat?tensor=1&height=100000").status, 400);
  EXPECT_EQ(service.answer("values?tensor=1&slice=x").status, 400);
  EXPECT_EQ(service.answer("metadata?at=0.5.7").status, 404);
  EXPECT_EQ(service.answer("attachment?attachment=7").status, 400);
  // A truncated query would mean something else.
  const std::string letters(201, '1');
  for (const std::string_view target : {"tensors?search=", "tokens?search=", "values?tensor=0&slice="}) {
    const Answer answer = service.answer(std::string(target) + letters);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_NE(answer.body.find("at most 200 bytes, found 201"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(service.answer("metadata?at=" + std::string(401, '0')).status, 400);
  // The errors name the alternatives.
  const auto says = [&](std::string_view target, std::string_view words) {
    const Answer answer = service.answer(target);
    EXPECT_NE(answer.body.find(words), std::string::npos) << answer.body;
  };
  says("nothing", "the choices are overview, layers, ");
  says("numbers", "tensor=0");
  says("tensor?tensor=9999", "the model has 26, counted from 0");
  says("tensor?tensor=q_proj", "tensors?search=");
}

// A picture is requested on the command line, where other advice helps.
TEST(ViewService, PicturesOfTensorsThatAreNot) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  for (const std::string name : {"heat:q_proj", "histogram:q_proj"}) {
    try {
      static_cast<void>(picture(service, name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::not_found);
      EXPECT_EQ(
          error.sentence(),
          "there is no tensor q_proj; did you mean model.layers.0.self_attn.q_proj.weight, "
          "model.layers.1.self_attn.q_proj.weight, model.layers.2.self_attn.q_proj.weight? `tare ls` lists the names");
    }
  }
  EXPECT_THROW(static_cast<void>(picture(service, "heat:26")), Error);
  EXPECT_EQ(picture(service, "histogram:1"), picture(service, "histogram:model.layers.0.mlp.up_proj.weight"));
}

// Everything that is coloured is explained, and nothing is drawn over anything else.
TEST(ViewService, PicturesHaveLegends) {
  Model model = small_model();
  std::string wide;  // 60 characters that are twice as wide as a letter
  for (int i = 0; i < 60; ++i) wide += "重";
  model.tensors.push_back(numbers_of(wide, {64, 64}));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  const auto count = [](const std::string& text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  const std::string treemap = picture(service, "treemap");
  EXPECT_EQ(count(treemap, ">f32</text>"), 1U);
  EXPECT_EQ(count(treemap, ">f16</text>"), 1U);
  EXPECT_NE(treemap.find("重…</text>"), std::string::npos) << "shortened between two characters";
  EXPECT_EQ(treemap.find(wide + "</text>"), std::string::npos);
  const std::string layers = picture(service, "layers");
  EXPECT_EQ(count(layers, "rotate("), 2U) << "a label for each role";
  EXPECT_EQ(count(layers, ">f16</text>"), 1U);
}

TEST(ViewService, OverviewAndLayers) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  const Value model = list(in(asked(service, "overview"), "models")).front();
  EXPECT_EQ(number(in(model, "tensors")), 26);
  EXPECT_EQ(number(in(model, "layers")), 12);
  EXPECT_EQ(number(in(model, "elements")), 24 * 128 + 512 + 2);
  const Value grid = asked(service, "layers");
  ASSERT_EQ(list(in(grid, "roles")).size(), 2U);
  EXPECT_EQ(*list(in(grid, "roles"))[0].text(), "q");
  const List& rows = list(in(grid, "layers"));
  ASSERT_EQ(rows.size(), 12U);
  for (std::size_t layer = 0; layer < rows.size(); ++layer) {
    EXPECT_EQ(in(list(rows[layer])[0], "odd"), Value(false));
    EXPECT_EQ(in(list(rows[layer])[1], "odd"), Value(layer == 5)) << layer;
  }
}

TEST(ViewService, ListSearchSortFilter) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  EXPECT_EQ(number(in(asked(service, "tensors?count=3"), "found")), 26);
  EXPECT_EQ(list(in(asked(service, "tensors?count=3"), "rows")).size(), 3U);
  const Value found = asked(service, "tensors?search=l.11+up");
  EXPECT_EQ(*in(list(in(found, "rows"))[0], "name").text(), "model.layers.11.mlp.up_proj.weight");
  const Value sorted = asked(service, "tensors?sort=bytes&way=down&count=1");
  EXPECT_EQ(*in(list(in(sorted, "rows"))[0], "name").text(), "model.embed_tokens.weight");
  EXPECT_EQ(number(in(asked(service, "tensors?type=f16"), "found")), 1);
  EXPECT_EQ(number(in(asked(service, "tensors?role=q"), "found")), 12);
  const Value tree = asked(service, "tree?under=model.layers.");
  ASSERT_EQ(list(in(tree, "branches")).size(), 12U);
  EXPECT_EQ(*in(list(in(tree, "branches"))[10], "label").text(), "10.") << "after 9";
}

TEST(ViewService, NamesAreDataAndNothingElse) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  EXPECT_EQ(*in(list(in(asked(service, "tensors?search=script"), "rows"))[0], "name").text(),
            "<script>alert(1)</script>");
  const std::string page = report(service);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("\\u003cscript>alert"), std::string::npos);
  for (const std::string_view name :
       {"treemap", "layers", "map", "heat:<script>alert(1)</script>", "histogram:model.embed_tokens.weight"}) {
    const std::string svg = picture(service, name);
    EXPECT_EQ(svg.find("<script"), std::string::npos) << name;
    EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n")) << name;
  }
}

TEST(ViewService, NumbersByHand) {
  Model model;
  std::vector<float> values(6 * 4, 0.0F);
  values[5] = -8, values[6] = 4, values[23] = NAN, values[22] = INFINITY;
  model.tensors.push_back(dense("w", {6, 4}, values));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  const Value answer = asked(service, "numbers?tensor=w");
  EXPECT_EQ(in(answer, "exact"), Value(true));
  EXPECT_EQ(number(in(answer, "min")), -8);
  EXPECT_EQ(number(in(answer, "max")), 4);
  EXPECT_EQ(number(in(answer, "nan")), 1);
  EXPECT_EQ(number(in(answer, "infinite")), 1);
  EXPECT_EQ(number(in(answer, "zeros")), 20);
  EXPECT_NEAR(number(in(answer, "mean")), -4.0 / 22, 1e-6);
  const Value& worst = list(in(answer, "outliers"))[0];
  EXPECT_EQ(number(in(worst, "value")), -8);
  EXPECT_EQ(number(in(worst, "row")), 1);
  EXPECT_EQ(number(in(worst, "column")), 1);
  double sum = 0;
  for (const Value& bin : list(in(answer, "histogram"))) sum += number(bin);
  EXPECT_EQ(sum, 22);
  ASSERT_EQ(list(in(answer, "row_norms")).size(), 6U);
  EXPECT_NEAR(number(list(in(answer, "row_norms"))[1]), std::sqrt(80.0 / 4), 1e-4);
  ASSERT_EQ(list(in(answer, "column_norms")).size(), 4U);
  EXPECT_NEAR(number(list(in(answer, "column_norms"))[1]), std::sqrt(64.0 / 6), 1e-4);
  const Value& sizes = in(answer, "magnitudes");
  const auto first = static_cast<std::size_t>(-number(in(sizes, "first_exponent")));
  EXPECT_EQ(number(list(in(sizes, "negative"))[first + 3]), 1) << "8 = 2^3";
  EXPECT_EQ(number(list(in(sizes, "positive"))[first + 2]), 1);
}

TEST(ViewService, ASampleOfALargeTensorIsSpreadAndBounded) {
  Model model;
  model.tensors.push_back(numbers_of("large", {2048, 1024}, 1e-3));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  const Value answer = asked(service, "numbers?tensor=0");
  EXPECT_EQ(in(answer, "exact"), Value(false));
  EXPECT_LE(number(in(answer, "read")), 2 * static_cast<double>(kReadBudget));
  EXPECT_LE(number(in(answer, "counted")), 1 << 20);
  std::size_t known = 0;
  for (const Value& norm : list(in(answer, "row_norms"))) {
    known += !norm.is_null();
    EXPECT_NE(norm, Value(0)) << "of rows that were not looked at nothing is known";
  }
  EXPECT_GT(known, 100U);
  EXPECT_LT(number(in(answer, "min")), 100);
  EXPECT_GT(number(in(answer, "max")), 2000);
  // The complete tensor, as a job.
  const std::string text = finished(service, "numbers/all?tensor=0", "numbers?tensor=0&all=1");
  wire::TreeBounds bounds;
  const Value all = wire::read_json(text, bounds);
  EXPECT_EQ(in(all, "exact"), Value(true));
  EXPECT_EQ(number(in(all, "counted")), 2048 * 1024);
}

TEST(ViewHeat, ReducesByLargestMeanSample) {
  std::vector<float> values(64 * 64, 1.0F);
  values[65] = -9;
  const Tensor tensor = dense("w", {64, 64}, values);
  const HeatMap largest = heat_map(tensor, {}, 16, 16, Reduce::largest);
  ASSERT_EQ(largest.cells.size(), 256U);
  EXPECT_TRUE(largest.exact);
  EXPECT_EQ(largest.cells[0], -9);
  EXPECT_EQ(largest.cells[1], 1);
  EXPECT_NEAR(heat_map(tensor, {}, 16, 16, Reduce::mean).cells[0], 6.0 / 16, 1e-9);
  EXPECT_EQ(heat_map(tensor, {}, 16, 16, Reduce::sample).cells[0], 1);
  const HeatMap part = heat_map(tensor, {1, 3, 0, 4}, 128, 128, Reduce::largest);
  EXPECT_EQ(part.height, 2U);
  EXPECT_EQ(part.width, 4U);
  EXPECT_EQ(part.cells[1], -9) << "single values";
  EXPECT_EQ(heat_map(tensor, {70, 80, 0, 9}, 8, 8, Reduce::mean).cells.size(), 0U) << "outside";
}

// What shows a whole tensor compares its digest. A part is shown without.
TEST(ViewHeat, ADamagedTensorIsRefusedAsAWhole) {
  Model model;
  model.tensors = {dense("w", {8, 8}, std::vector<float>(64, 1.0F))};
  MemorySink sink;
  static_cast<void>(save(std::move(model), sink, {.write = {.digest = DigestAlgorithm::xxh3}, .to = "zt"}));
  Bytes bytes = sink.take();
  {
    const Model whole = open(memory_source(bytes));
    bytes[static_cast<std::size_t>(whole.at("w").components[0].blob.offset()) + 5] ^= std::byte{1};
  }
  const Model damaged = open(memory_source(bytes));
  const auto rule_of = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      return std::string(error.rule());
    }
    return "";
  };
  EXPECT_EQ(rule_of([&] { heat_map(damaged.at("w"), {}, 4, 4, Reduce::largest); }), "digest.mismatch");
  EXPECT_EQ(rule_of([&] { heat_map(damaged.at("w"), {2, 4, 0, 8}, 4, 4, Reduce::largest); }), "");
  Service service({shown(damaged)});
  EXPECT_EQ(rule_of([&] { static_cast<void>(picture(service, "heat:w")); }), "digest.mismatch");
  EXPECT_EQ(rule_of([&] { static_cast<void>(service.call("values?tensor=0")); }), "digest.mismatch");
  EXPECT_EQ(rule_of([&] { static_cast<void>(service.call("values?tensor=0&slice=2")); }), "");
}

// Short rows are read many at a time; what is read is what was asked for.
TEST(ViewHeat, TallMatrices) {
  for (const std::uint64_t columns : {1, 3, 100, 5000}) {
    const std::uint64_t rows = 40'000 / columns + 9;
    std::vector<float> values(rows * columns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const HeatMap map = heat_map(dense("w", {rows, columns}, values), {}, 7, 2, Reduce::largest);
    ASSERT_TRUE(map.exact);
    for (std::size_t y = 0; y < map.height; ++y) {
      const std::uint64_t bottom = rows / map.height * (y + 1) + rows % map.height * (y + 1) / map.height;
      EXPECT_EQ(map.cells[(y + 1) * map.width - 1], static_cast<double>(bottom * columns - 1)) << columns << ' ' << y;
    }
  }
  const HeatMap sampled = heat_map(numbers_of("w", {6'000'000, 1}), {}, 128, 128, Reduce::largest);
  EXPECT_FALSE(sampled.exact);
  EXPECT_EQ(sampled.cells.size(), 128U);
  const HeatMap column = heat_map(numbers_of("w", {50'000, 8}), {0, 50'000, 3, 4}, 16, 16, Reduce::mean);
  EXPECT_LE(column.read, (4U << 15)) << "elements that do not follow each other are sampled";
}

TEST(ViewHeat, OddShapes) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 0}, Shape{2, 3, 5}, Shape{1000003}}) {
    const HeatMap map = heat_map(numbers_of("w", shape), {}, 32, 32, Reduce::largest);
    EXPECT_EQ(map.cells.size(), map.height * map.width) << shape.text();
    EXPECT_EQ(map.cells.empty(), *shape.elements() == 0) << shape.text();
  }
}

// Matrix rows that do not align with blocks, and a codec whose blocks must be entered in the middle.
TEST(ViewReading, DecodesFromAnywhere) {
  const Codec* const codec = find_codec_by_method("q8_0");
  ASSERT_NE(codec, nullptr);
  EncodeOptions options;
  options.method = "q8_0";
  const Tensor coded = codec->encode(numbers_of("w", {64, 96}, 0.01), options);
  std::vector<double> whole(64 * 96), part(50);
  Reading(coded).read(0, whole);
  Reading reading(coded);
  for (const std::uint64_t first : {0, 7, 1000, 6000, 33}) {
    ASSERT_TRUE(reading.read(first, part));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first))) << first;
  }
  EXPECT_GE(reading.bytes_read(), 5 * 50 * sizeof(float));
  EXPECT_FALSE(Reading(coded, 100).read(0, part)) << "beyond the budget";
}

// Numbers are shown exactly: no digit is lost, and NaN and infinities are named.
TEST(ViewService, ValuesAreExact) {
  Model model;
  model.tensors.push_back(dense("f", {4}, std::vector<float>{1.0000001F, 0.1F, 100000.5F, 16777215}));
  model.tensors.push_back(dense("i", {3}, std::vector<std::int64_t>{1234567, -9007199254740993, INT64_MAX}));
  model.tensors.push_back(dense("u", {1}, std::vector<std::uint64_t>{UINT64_MAX}));
  model.tensors.push_back(dense("d", {2}, std::vector<double>{0.1, 1e308}));
  model.tensors.push_back(dense("odd", {2, 4}, std::vector<float>{NAN, INFINITY, -INFINITY, 3, 1, 2, 3, 4}));
  model.tensors.push_back(dense("nan", {2}, std::vector<float>{NAN, NAN}));
  model.tensors.push_back(dense("wide", {2}, std::vector<double>{1e308, -1e308}));
  model.tensors.push_back(dense("scalar", {}, std::vector<float>{7}));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  const auto has = [&](std::string_view target, std::string_view text) {
    const std::string body = service.answer(target).body;
    EXPECT_NE(body.find(text), std::string::npos) << target << ": " << body.substr(0, 600);
  };
  has("values?tensor=f", "[1.0000001,0.1,100000.5,16777215]");
  has("values?tensor=i", "[1234567,-9007199254740993,9223372036854775807]");
  has("values?tensor=u", "[18446744073709551615]");
  has("values?tensor=d", "[0.1,1e+308]");
  has("values?tensor=odd&slice=0", R"(["nan","inf","-inf",3])");
  has("values?tensor=scalar", "[7]");
  has("heat?tensor=odd", R"(["nan","inf","-inf",3,1,2,3,4])");
  has("heat?tensor=odd&height=1&width=1&by=mean", R"("cells":["nan"])");
  has("numbers?tensor=f", "\"max\":16777215,");
  has("numbers?tensor=i", R"("min":-9007199254740993,"max":9223372036854775807,)");
  has("numbers?tensor=i", R"("outliers":[{"value":9223372036854775807,)");
  has("numbers?tensor=i", R"({"value":-9007199254740993,"row":0,"column":1})");
  has("numbers?tensor=u", R"("max":18446744073709551615,)");
  constexpr std::string_view kWhole = R"("values":[1234567,-9007199254740993,9223372036854775807])";
  const std::string block = service.answer("block?tensor=i").body;
  EXPECT_NE(block.find(kWhole), std::string::npos) << block;
  EXPECT_NE(block.rfind(kWhole), block.find(kWhole)) << "as its bytes are read, and decoded";
  has("numbers?tensor=nan", R"("min":null,"max":null,"mean":null,"std":null,"rms":null)");
  const List bins = list(in(asked(service, "numbers?tensor=wide"), "histogram"));
  EXPECT_EQ(number(bins.front()), 1) << "the range is more than a double holds";
  EXPECT_EQ(number(bins.back()), 1);
  has("values?tensor=f&cuont=5", "view.request");
  EXPECT_EQ(service.answer("tensors?cuont=5").status, 400);
}

// Numbers whose squares, sums or differences do not fit a double: the figures are those computed by hand.
TEST(ViewService, NumbersNearTheEndsOfADouble) {
  Model model;
  constexpr double kTiny = 5e-324;  // the smallest double
  const auto add = [&](const char* name, std::vector<double> values) {
    const std::uint64_t columns = values.size() / 2;
    model.tensors.push_back(dense(name, {2, columns}, values));
  };
  add("large", {1e300, -1e300, 3e300, -3e300});
  add("largest", {1.7e308, 1.7e308, 1.6e308, 1.6e308});
  add("small", {1e-300, -1e-300, 3e-300, -3e-300});
  add("least", {kTiny, 3 * kTiny, 5 * kTiny, 7 * kTiny});
  add("both", {1e-300, 1e-300, 1e300, 1e300});
  add("offset", {1e15 + 1, 1e15 - 1, 1e15 + 1, 1e15 - 1});
  add("alike", {0.1, 0.1, 0.1, 0.1});
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  const auto expect = [&](std::string_view name, double mean, double deviation, double rms, std::vector<double> rows) {
    const Value answer = asked(service, fmt::format("numbers?tensor={}", name));
    const auto near = [&](std::string_view key, double wanted) {
      EXPECT_NEAR(number(in(answer, key)) / (wanted == 0 ? 1 : wanted), wanted == 0 ? 0 : 1, 1e-5)
          << name << ' ' << key;
    };
    near("mean", mean), near("std", deviation), near("rms", rms);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_NEAR(number(list(in(answer, "row_norms"))[i]) / rows[i], 1, 1e-5) << name << " row " << i;
    double binned = 0;
    for (const Value& bin : list(in(answer, "histogram"))) binned += number(bin);
    EXPECT_EQ(binned, 4) << name;
  };
  expect("large", 0, std::sqrt(5.0) * 1e300, std::sqrt(5.0) * 1e300, {1e300, 3e300});
  expect("largest", 1.65e308, 0.05e308, std::sqrt((1.7 * 1.7 + 1.6 * 1.6) / 2) * 1e308, {1.7e308, 1.6e308});
  expect("small", 0, std::sqrt(5.0) * 1e-300, std::sqrt(5.0) * 1e-300, {1e-300, 3e-300});
  // Results are multiples of the smallest double, so they are rounded: 4 (mean), 2.24 (std), 4.58 (rms), 2.24 and 6.08
  // (rows).
  expect("least", 4 * kTiny, 2 * kTiny, 5 * kTiny, {2 * kTiny, 6 * kTiny});
  expect("both", 0.5e300, 0.5e300, std::sqrt(0.5) * 1e300, {1e-300, 1e300});
  expect("offset", 1e15, 1, 1e15, {1e15, 1e15});
  expect("alike", 0.1, 0, 0.1, {0.1, 0.1});
  const List bins = list(in(asked(service, "numbers?tensor=least"), "histogram"));
  EXPECT_EQ(number(bins.front()), 1) << "also where a bin is less than any number";
  EXPECT_EQ(number(bins.back()), 1);
  EXPECT_EQ(number(in(list(in(asked(service, "numbers?tensor=both"), "outliers"))[0], "value")), 1e300);
  const List columns = list(in(asked(service, "numbers?tensor=large"), "column_norms"));
  EXPECT_NEAR(number(columns[0]) / (std::sqrt(5.0) * 1e300), 1, 1e-5);
}

TEST(ViewHeat, MeansOfNumbersWhoseSumIsNone) {
  const Tensor tensor = dense("w", {2, 2}, std::vector<double>{1.7e308, 1.7e308, 1.5e308, 1.5e308});
  EXPECT_NEAR(heat_map(tensor, {}, 1, 1, Reduce::mean).cells[0] / 1.6e308, 1, 1e-12);
  const Tensor odd = dense("w", {1, 2}, std::vector<double>{1.7e308, INFINITY});
  EXPECT_TRUE(std::isinf(heat_map(odd, {}, 1, 1, Reduce::mean).cells[0]));
}

TEST(ViewService, SlicesAsInNumpy) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  const Value answer = asked(service, "values?tensor=model.embed_tokens.weight&slice=1:3,::4");
  ASSERT_EQ(list(in(answer, "values")).size(), 4U);
  EXPECT_EQ(number(list(in(answer, "values"))[0]), 8);
  EXPECT_EQ(number(list(in(answer, "values"))[3]), 20);
  EXPECT_EQ(list(in(asked(service, "values?tensor=0&slice=:"), "values")).size(), 128U);
}

TEST(ViewService, Words) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  const Value found = asked(service, "tokens?search=AB");
  ASSERT_EQ(list(in(found, "rows")).size(), 1U);
  EXPECT_EQ(number(in(list(in(found, "rows"))[0], "id")), 2);
  EXPECT_EQ(number(in(asked(service, "tokens?search=%234"), "found")), 1);
  EXPECT_EQ(number(in(asked(service, "tokens?type=control"), "found")), 1);
  EXPECT_EQ(number(in(asked(service, "tokens?what=merges"), "found")), 1);
  EXPECT_EQ(service.answer("tokens?type=x").status, 400);
}

// The worst names, keys and counts that a file may have.
// Layers that are alike: all of them are opened, or none.
Model layers_of_experts(int layers, int experts) {
  Model model;
  for (int layer = 0; layer < layers; ++layer)
    for (int expert = 0; expert < experts; ++expert)
      model.tensors.push_back(numbers_of(fmt::format("model.layers.{}.mlp.experts.{}.w", layer, expert), {2, 2}));
  return model;
}

TEST(ViewService, TreemapTreatsAlikeGroupsAlike) {
  for (const auto& [layers, experts] : {std::pair(60, 20), std::pair(60, 64), std::pair(12, 300), std::pair(7, 5)}) {
    Service service(std::vector<OpenModelPtr>{shown(layers_of_experts(layers, experts))});
    const Value answer = asked(service, "treemap?width=1280&height=460");
    std::size_t opened = 0, closed = 0;
    for (const Value& tile : list(in(answer, "tiles"))) {
      if (number(in(tile, "tensors")) != experts) continue;
      *in(tile, "opened").get<bool>() ? ++opened : ++closed;
    }
    EXPECT_TRUE(opened == 0 || closed == 0) << layers << " x " << experts << ": " << opened << ", " << closed;
    EXPECT_EQ(opened + closed, static_cast<std::size_t>(layers));
    EXPECT_LE(list(in(answer, "tiles")).size(), 2000U);
  }
}

TEST(ViewService, TreemapBundlesVeryManyTensorsEvenly) {
  Model model;
  for (int i = 0; i < 5000; ++i) model.tensors.push_back(numbers_of(fmt::format("w{}", i), {1, 4}));
  model.tensors.push_back(numbers_of("large", {64, 64}));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  const Value answer = asked(service, "treemap");
  double most = 0, tensors = 0;
  bool alone = false;
  for (const Value& tile : list(in(answer, "tiles"))) {
    tensors += number(in(tile, "tensors"));
    if (*in(tile, "label").text() == "large") {
      alone = number(in(tile, "tensors")) == 1;
      continue;
    }
    most = std::max(most, number(in(tile, "tensors")));
  }
  EXPECT_EQ(tensors, 5001);
  EXPECT_TRUE(alone) << "a large tensor has a tile of its own";
  EXPECT_LE(most, 10) << "no tile is a heap of the rest";
  EXPECT_LE(list(in(answer, "tiles")).size(), 1201U);
}

TEST(ViewService, FileMapKeepsTheTypeOfTensorsThatShareASpan) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("tare-map-{}.zt", ::getpid());
  Model model = layers_of_experts(100, 20);
  static_cast<void>(save(model, path.string()));
  {
    Service service({path.string()}, {});
    double bytes = 0, grey = 0;
    const Value answer = asked(service, "map?most=100");
    for (const Value& span : list(in(answer, "spans"))) {
      if (*in(span, "kind").text() != "several") continue;
      bytes += number(in(span, "bytes"));
      const Value* const type = span.get<Map>()->find("type");
      if (type == nullptr || *type->text() != "f32") grey += number(in(span, "bytes"));
    }
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(grey, 0) << "of " << bytes;
  }
  std::filesystem::remove(path);
}

TEST(ViewService, OutliersDoNotFlattenTheHistogram) {
  std::vector<float> values(4096);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  Model model;
  model.tensors.push_back(dense("plain", {64, 64}, values));
  values[7] = 1e6F, values[8] = -1e5F;
  model.tensors.push_back(dense("outliers", {64, 64}, values));
  model.tensors.push_back(dense("tiny", {4}, std::vector<double>{1e-30, -1e-30, 2e-30, 1e-25}));
  model.tensors.push_back(dense("huge", {4}, std::vector<double>{1e30, -1e30, 2e30, 1e300}));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  EXPECT_TRUE(in(asked(service, "numbers?tensor=plain"), "inner").is_null());
  const Value numbers = asked(service, "numbers?tensor=outliers");
  const Value& inner = in(numbers, "inner");
  EXPECT_EQ(number(in(inner, "below")), 1);
  EXPECT_EQ(number(in(inner, "above")), 1);
  EXPECT_EQ(number(in(inner, "low")), -1);
  EXPECT_EQ(number(in(inner, "high")), 1);
  double inside = 0;
  for (const Value& bar : list(in(inner, "histogram"))) inside += number(bar);
  EXPECT_EQ(inside, 4094);
  // Magnitudes beyond the counted powers of two have no bound to clip at.
  for (const char* name : {"tiny", "huge"})
    EXPECT_TRUE(in(asked(service, fmt::format("numbers?tensor={}", name)), "inner").is_null()) << name;
}

TEST(ViewPalette, AScaleEndsBeforeOutliers) {
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (i % 2 == 0 ? 1 : -1) * static_cast<double>(i) / 1000;
  EXPECT_EQ(bound_without_outliers(values), 0.999);  // without outliers, at the largest
  values[0] = 1e6, values[1] = NAN, values[2] = -INFINITY, values[3] = 1.5;
  EXPECT_EQ(bound_without_outliers(values), 1.5);
  EXPECT_EQ(bound_without_outliers({1, 2, 1e9}), 2);
  EXPECT_EQ(bound_without_outliers({0, 0, 0, 0, 3}), 3);
  EXPECT_EQ(bound_without_outliers({}), 0);
  EXPECT_EQ(bound_without_outliers({NAN, 0}), 0);
}

// What a legend names has a colour of its own, and integers are not coloured as quantized types.
TEST(ViewPalette, TypesOfOneFileDifferInColour) {
  const std::vector<std::vector<std::string_view>> files = {
      {"f32",         "f16",        "bf16",         "ggml.q4_0",  "ggml.q4_1",   "ggml.q4_k",   "ggml.q5_0",
       "ggml.q5_1",   "ggml.q5_k",  "ggml.q6_k",    "ggml.q8_0",  "ggml.q3_k",   "ggml.q2_k",   "ggml.iq4_nl",
       "ggml.iq4_xs", "ggml.iq3_s", "ggml.iq3_xxs", "ggml.iq2_s", "ggml.iq2_xs", "ggml.iq2_xxs"},
      {"mcf.int8", "mcf.int4", "mcf.q8", "mcf.q4", "mcf.k6", "mcf.k4", "mcf.k3", "mcf.k2", "f16"},
      {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool", "f8_e4m3fn",
       "f8_e5m2", "complex64", "packed.f4_e2m1", "packed.f6_e2m3"}};
  for (const auto& types : files) {
    std::map<std::string_view, std::string_view> by_colour;
    for (const std::string_view type : types) {
      const auto [found, is_new] = by_colour.emplace(colour_of_type(type), type);
      EXPECT_TRUE(is_new) << type << " and " << found->second;
    }
  }
  EXPECT_EQ(colour_of_type("zt.group"), colour_of_type("zt.quant_group/1"));
  EXPECT_EQ(ink_on("#332288"), "#ffffff");
  EXPECT_EQ(ink_on("#88ccee"), "#16181d");
}

TEST(ViewService, PicturesOfOutliersCountThem) {
  std::vector<float> values(4096);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  values[7] = 1e6F, values[9] = NAN;
  Model model;
  model.tensors.push_back(dense("w", {64, 64}, values));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  const std::string heat = picture(service, "heat:w"), histogram = picture(service, "histogram:w");
  EXPECT_NE(heat.find("1 of 4096 cells with NaN or infinity: w"), std::string::npos) << heat.substr(0, 600);
  EXPECT_NE(heat.find("1 of 4096 cells is beyond 1, where the colours end"), std::string::npos);
  EXPECT_NE(heat.find("#ffaa00"), std::string::npos);
  EXPECT_NE(heat.find("#3c000e"), std::string::npos);
  EXPECT_NE(histogram.find("0 values are below and 1 above, from -1 to 1e+06"), std::string::npos)
      << histogram.substr(histogram.find("<text"), 300);
  // The ends of the scale, what is outside, and zero are labelled.
  for (const char* label : {">-1</text>", ">1</text>", ">outside</text>", ">NaN or infinity</text>"})
    EXPECT_NE(heat.find(label), std::string::npos) << label;
  for (const char* label : {">-1</text>", ">0</text>", ">1</text>", ">1 ▸</text>"})
    EXPECT_NE(histogram.find(label), std::string::npos) << label;
}

TEST(ViewService, SaysWhereTheListHasATensor) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  EXPECT_EQ(number(in(asked(service, "tensors?with=20&count=0"), "place")), 20);
  EXPECT_EQ(number(in(asked(service, "tensors?with=0&count=0&way=down"), "place")), 25);
  EXPECT_EQ(number(in(asked(service, "tensors?with=24&count=0&search=embed"), "place")), 0);
  EXPECT_TRUE(in(asked(service, "tensors?with=3&count=0&search=embed"), "place").is_null());
  EXPECT_TRUE(in(asked(service, "tensors?with=9999&count=0"), "place").is_null());
}

TEST(ViewService, ALongNameIsWhole) {
  Model model;
  const std::string name = std::string(1000, 'a') + "." + std::string(1000, 'b');
  model.tensors.push_back(numbers_of(name, {2}));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  EXPECT_EQ(*in(asked(service, "tensor?tensor=0"), "full_name").text(), name);
}

TEST(ViewService, FindingsAreCountedWorstFirst) {
  Model model = small_model();
  std::vector<float> values(8, 1.0F);
  values[3] = NAN;
  model.tensors.push_back(dense("bad", {8}, values));
  const auto path = std::filesystem::temp_directory_path() / fmt::format("tare-nan-{}.zt", ::getpid());
  static_cast<void>(save(model, path.string()));
  {
    Service service({path.string()}, {});
    wire::TreeBounds bounds;
    const Value found = wire::read_json(service.call_and_wait("check/start"), bounds);
    const List& findings = list(in(found, "findings"));
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(number(in(found, "errors")), 0);
    EXPECT_GE(number(in(found, "warnings")), 1);
    EXPECT_EQ(*in(findings[0], "severity").text(), "warning");
    EXPECT_EQ(*in(findings[0], "item").text(), "tensor bad");
  }
  std::filesystem::remove(path);
}

TEST(ViewService, StoppedWorkCountsAsNeverStarted) {
  Service service(std::vector<OpenModelPtr>{shown(small_model())});
  for (const std::string_view stop : {"check/stop", "numbers/stop?tensor=1"}) {
    const Answer answer = service.answer(stop, true);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body, "{\"started\":false,\"done\":false}");
  }
}

TEST(ViewPage, ARefusalIsAPageForPeople) {
  const Page page = refusal_page(403, "view.token", "the link is <b>not</b> complete");
  EXPECT_NE(page.html.find("the link is &lt;b&gt;not&lt;/b&gt; complete"), std::string::npos) << page.html;
  EXPECT_NE(page.html.find("view.token"), std::string::npos);
  EXPECT_EQ(page.html.find("{{"), std::string::npos);
  EXPECT_EQ(page.html.find("<script"), std::string::npos);
  EXPECT_NE(page.policy.find("default-src 'none'; style-src 'sha256-"), std::string::npos) << page.policy;
}

TEST(ViewService, HostileModelsGetBoundedAnswers) {
  Model model;
  const std::string dots(2000, '.'), letters(20000, 'x');
  for (int i = 0; i < 6000; ++i)
    model.tensors.push_back(dense(fmt::format("{}{}\xFF<{}>\n", i, dots.substr(0, static_cast<std::size_t>(i % 50)), i),
                                  {1}, std::vector<float>{1}));
  for (int i = 0; i < 300; ++i) model.tensors.push_back(dense(letters + std::to_string(i), {1}, std::vector<float>{1}));
  model.tensors.push_back(dense(dots, {1}, std::vector<float>{1}));
  model.tensors.push_back(dense("", {1}, std::vector<float>{1}));
  model.tensors.push_back(model.tensors.back());
  for (int i = 0; i < 600; ++i) model.metadata.set(letters.substr(0, 5000) + std::to_string(i), Value(letters));
  for (int i = 0; i < 600; ++i) model.vocabulary.tokens.push_back({letters, 0, TokenType::normal});
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  for (const std::string_view target :
       {"overview", "layers", "treemap", "treemap?width=4096&height=4096", "map", "tensors?count=500",
        "tensors?count=500&from=5900", "tensors?search=xxxx&count=500", "tree?count=500", "tree?under=1&count=500",
        "tensor?tensor=6100", "numbers?tensor=6100", "block?tensor=6300", "metadata?count=500", "metadata?at=3",
        "tokens?count=500", "template", "attachments"}) {
    const Answer answer = service.answer(target);
    EXPECT_LE(answer.body.size(), kMostAnswer) << target;
    EXPECT_LT(answer.status, 500) << target;
  }
  EXPECT_LE(report(service).size(), kMostReport);
}

// Texts of any length, and shapes with the most dimensions that a tensor may have.
TEST(ViewService, LongWordsAreShortened) {
  Model model;
  const std::string letters(3 << 20, 'x');
  model.version = letters;
  model.config.model_type = letters;
  model.vocabulary.kind = letters;
  model.vocabulary.tokens.push_back({letters, 0, TokenType::normal});
  Shape deep;
  for (int i = 0; i < 64; ++i) deep.push_back(1);
  for (int layer = 0; layer < 300; ++layer)
    for (int role = 0; role < 30; ++role)
      model.tensors.push_back(dense(fmt::format("layers.{}.r{}", layer, role), deep, std::vector<float>{1}));
  Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
  for (const std::string_view target : {"overview", "layers", "tensors?count=500", "tokens", "metadata?what=config"}) {
    const Answer answer = service.answer(target);
    EXPECT_EQ(answer.status, 200) << target;
    EXPECT_LE(answer.body.size(), kMostAnswer) << target;
  }
  EXPECT_LE(service.answer("overview").body.size(), 16384U);
}

// Text is cut between two characters: half a character is not valid JSON, and a report parses the answers.
TEST(ViewService, LongTextIsCutBetweenCharacters) {
  for (std::size_t before = 0; before < 4; ++before) {
    Model model;
    std::string text(before, 'a');
    for (int i = 0; i < 100'000; ++i) text += "\U0001F600";
    model.tensors.push_back(numbers_of("w", {2}));
    model.metadata.set("long", Value(text));
    model.metadata.set("list", Value(List{Value(text)}));
    model.metadata.set("chat_template", Value(text));
    Service service(std::vector<OpenModelPtr>{shown(std::move(model))});
    for (const std::string_view target : {"metadata", "metadata?at=0", "metadata?at=1", "template"})
      EXPECT_TRUE(is_valid_utf8(service.answer(target).body)) << target << before;
    EXPECT_LE(report(service).size(), kMostReport);
  }
  EXPECT_EQ(beginning_of("abc", 5), "abc");
  EXPECT_EQ(beginning_of("ab\xC3\xA9", 3), "ab");
  EXPECT_EQ(beginning_of("ab\xC3\xA9", 4), "ab\xC3\xA9");
}

TEST(ViewService, AModelThatVanishesIsAnErrorAndTheServiceLives) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("tare-view-{}", ::getpid());
  std::filesystem::create_directories(directory);
  const std::string path = directory / "model.zt";
  const auto write = [&] {
    const std::unique_ptr<Sink> sink = create_file(path, {.overwrite = true, .durable = false});
    Model model;
    model.tensors.push_back(numbers_of("w", {4, 4}));
    find_format("zt")->write(model, *sink, {});
    sink->commit();
  };
  write();
  Service service(std::vector<std::string>{path}, {});
  EXPECT_EQ(service.answer("overview").status, 200);
  std::filesystem::remove(path);
  EXPECT_EQ(service.answer("overview").status, 409);
  EXPECT_NE(service.answer("numbers?tensor=0").body.find("view.vanished"), std::string::npos);
  EXPECT_EQ(service.answer("reopen", true).status, 404);
  write();
  EXPECT_NE(service.answer("overview").body.find("view.replaced"), std::string::npos);
  EXPECT_EQ(service.answer("check/start", true).status, 409) << "that would be of another file";
  EXPECT_EQ(service.answer("reopen", true).status, 200);
  EXPECT_EQ(service.answer("numbers?tensor=0").status, 200);
  std::filesystem::resize_file(path, 100);
  EXPECT_EQ(service.answer("overview").status, 409);
  std::filesystem::remove_all(directory);
}

TEST(ViewNames, NineBeforeTen) {
  EXPECT_TRUE(naturally_less("a.9.b", "a.10.b"));
  EXPECT_FALSE(naturally_less("a.10.b", "a.9.b"));
  EXPECT_TRUE(naturally_less("a", "a.b"));
  EXPECT_FALSE(naturally_less("a", "a"));
  EXPECT_TRUE(naturally_less("", "a"));
}

TEST(ViewFuzzy, BetterFitsComeFirst) {
  EXPECT_FALSE(fuzzy_score("xyz", "model.layers"));
  EXPECT_TRUE(fuzzy_score("mly", "model.layers"));
  EXPECT_GT(*fuzzy_score("q_proj", "a.q_proj.weight"), *fuzzy_score("q_proj", "a.qq_pp_rr_oo_jj.weight"));
  EXPECT_GT(*fuzzy_score("12", "layers.12.w"), *fuzzy_score("12", "layers.112.w"));
  EXPECT_TRUE(fuzzy_score("weight Q_PROJ", "a.q_proj.weight")) << "words in any order, any case";
}

}  // namespace
}  // namespace tare::view
