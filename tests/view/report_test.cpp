// The page that users send to others: what it contains, what it omits, and its size.
#include "view/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/half.hpp"
#include "conformance/memory.hpp"
#include "conformance/scratch.hpp"
#include "service_cases.hpp"
#include "view/held_values.hpp"
#include "view/page.hpp"

namespace tare::view {
namespace {

std::string report_of(Service service) { return report(service); }

// A report may be sent to others, so it must not reveal directories.
TEST(ViewReport, HasNoPaths) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("tare-secret-{}", ::getpid());
  std::filesystem::create_directories(directory);
  const std::string path = directory / "model.zt";
  {
    const std::unique_ptr<Sink> sink = create_file(path, {.overwrite = true, .durable = false});
    Model model = small_model();
    find_format("zt")->write(model, *sink, {});
    sink->commit();
  }
  const std::string page = report_of(Service(std::vector<std::string>{path, path}, {}));
  EXPECT_NE(page.find("model.zt"), std::string::npos);
  EXPECT_EQ(page.find("tare-secret"), std::string::npos) << page.substr(page.find("tare-secret") - 100, 200);
  EXPECT_NE(page.find("whole?tensor=0&of=left"), std::string::npos) << "both sides of a small tensor";
  EXPECT_NE(page.find("whole?tensor=0&of=right"), std::string::npos);
  std::filesystem::remove_all(directory);
}

// The answers inside a report's page.
Value answers_in(const std::string& page) {
  const std::size_t begin = page.find("id=\"answers\">") + 13, end = page.find("</script>", begin);
  wire::TreeBounds bounds;
  return wire::read_json(std::string_view(page).substr(begin, end - begin), bounds);
}

// Fails with an error of this kind once the model has been shown.
class FailingSource final : public Source {
 public:
  FailingSource(std::uint64_t size, ErrorKind kind) : Source("failing", size), kind_(kind) {}

 protected:
  void do_read(std::uint64_t, std::span<std::byte>) const override {
    throw Error(kind_, kind_ == ErrorKind::io ? "io.source.read" : "test.corrupt", "fails").in(name());
  }

 private:
  ErrorKind kind_;
};

// A report in which the values of a tensor or a file were missing because of the disk would look like a complete one.
TEST(ViewReport, FailsIfAFileCannotBeRead) {
  const auto rule_of_report = [](ErrorKind kind, std::uint64_t rows, bool attached) {
    Model model;
    const auto source = std::make_shared<FailingSource>(rows * 512 * sizeof(float), kind);
    const Blob blob = Blob::range(source, 0, source->size());
    if (attached)
      model.attachments.push_back({"notes.txt", blob});
    else
      model.tensors.push_back(dense("w", {rows, 512}, DType::f32, blob));
    return tare::testing::rule_of([&] { report_of(Service(std::vector<OpenModelPtr>{shown(std::move(model))})); });
  };
  for (const std::uint64_t rows : {1, 40, 4000})
    EXPECT_EQ(rule_of_report(ErrorKind::io, rows, false), "io.source.read");
  EXPECT_EQ(rule_of_report(ErrorKind::io, 1, true), "io.source.read");
  EXPECT_EQ(rule_of_report(ErrorKind::corrupt, 40, false), "") << "the page says so next to the tensor";
}

// A report contains all values of small tensors; for large ones a picture, a finer one if there is space, and the
// corners.
TEST(ViewReport, HoldsValuesAndPictures) {
  Model model;
  model.tensors.push_back(numbers_of("small", {3, 5}));
  model.tensors.push_back(numbers_of("large", {1024, 512}, 0.25));
  model.tensors.push_back(dense("long", {1000}, std::vector<double>(1000, 1e300)));
  model.tensors.push_back(dense("whole", {2}, std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1, -1}));
  const Value answers = answers_in(report_of(Service(std::vector<OpenModelPtr>{shown(std::move(model))})));
  // 0, 1, 2 as f32.
  EXPECT_TRUE(in(in(answers, "whole?tensor=0"), "values").text()->starts_with("AAAAAAAAgD8AAABA"));
  EXPECT_EQ(*in(in(answers, "whole?tensor=2"), "type").text(), "f64");
  EXPECT_EQ(in(answers, "whole?tensor=2").get<Map>()->find("values")->text()->size(), (8000 + 2) / 3 * 4U);
  EXPECT_EQ(*in(in(answers, "whole?tensor=3"), "type").text(), "i64");
  EXPECT_EQ(*in(in(answers, "whole?tensor=3"), "values").text(), "AQAAAAAAIAD//////////w==") << "no digit is lost";
  EXPECT_EQ(answers.get<Map>()->find("whole?tensor=1"), nullptr);
  EXPECT_EQ(answers.get<Map>()->find("grid?tensor=0"), nullptr) << "its values say more";
  for (const auto& [target, height, width] :
       {std::tuple("grid?tensor=1", 32, 48), std::tuple("grid?tensor=1&fine=1", 96, 128),
        std::tuple("grid?tensor=1&fine=2", 256, 384)}) {
    const Value& grid = in(answers, target);
    EXPECT_EQ(number(in(grid, "height")), height);
    EXPECT_EQ(number(in(grid, "width")), width);
    EXPECT_EQ(in(grid, "cells").text()->size(), static_cast<std::size_t>((height * width * 2 + 2) / 3 * 4)) << target;
  }
  const List& blocks = list(in(in(answers, "corners?tensor=1"), "blocks"));
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_EQ(number(in(blocks[3], "top")), 1016);
  EXPECT_EQ(number(in(blocks[3], "left")), 496);
}

// Pictures in a report have three correct digits, as the page reads them.
TEST(ViewReport, PicturesHoldThreeDigits) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<double> values{1234.567, 9.994, 9.996, 1e300, -1e300, 5e-324, 0.9999, 1.005, -65504, 3e38, 1e-45};
  for (int i = 0; i < 3000; ++i) values.push_back(std::pow(10.0, i * 0.01 - 15));
  for (const double value : values) {
    wire::TreeBounds bounds;
    std::uint64_t cost = 0;
    const Value grid =
        wire::read_json(grid_json(dense("w", {1}, std::vector<double>{value}), 8, 8, kHeatSample, cost), bounds);
    const std::string& text = *in(grid, "cells").text();
    std::uint32_t bits = 0;
    for (const char letter : text.substr(0, 3)) bits = bits << 6U | static_cast<std::uint32_t>(kLetters.find(letter));
    const auto cell = static_cast<std::uint16_t>((bits >> 10U & 0xFFU) | (bits >> 2U & 0xFFU) << 8U);
    const double held = std::ldexp(double{f16_to_f32(cell)}, static_cast<int>(number(in(grid, "exponent"))));
    EXPECT_EQ(fmt::format("{:.3g}", held), fmt::format("{:.3g}", value)) << value;
  }
}

// For any model, a report is no larger than promised.
TEST(ViewReport, IsBounded) {
  Model many;
  for (int i = 0; i < (testing::kCountsMemory ? 100'000 : 10'000); ++i)
    many.tensors.push_back(
        dense(fmt::format("blocks.{}.experts.{}.w", i / 100, i % 100), {2, 2}, std::vector<float>(4)));
  EXPECT_LE(report_of(Service(std::vector<OpenModelPtr>{shown(std::move(many))})).size(), kMostReport);
  Model large, other;
  for (int i = 0; i < (testing::kCountsMemory ? 60 : 12); ++i) {
    large.tensors.push_back(numbers_of(fmt::format("layers.{}.w", i), {256, 300}));
    other.tensors.push_back(numbers_of(fmt::format("layers.{}.w", i), {256, 300}, 1.5));
  }
  // A report reads more of a model the larger its file is.
  large.file_bytes = other.file_bytes = large.tensors.size() * 256 * 300 * sizeof(float);
  const std::string two = report_of(Service({shown(std::move(large)), shown(std::move(other))}));
  EXPECT_LE(two.size(), kMostReport);
  EXPECT_NE(two.find("fine=1"), std::string::npos) << "room is kept for finer pictures";
  // A character that the page escapes with six letters counts as six.
  Model markup;
  for (int i = 0; i < 4000; ++i)
    markup.tensors.push_back(dense(std::string(280, '<') + std::to_string(i), {1}, std::vector<float>{1}));
  EXPECT_LE(report_of(Service(std::vector<OpenModelPtr>{shown(std::move(markup))})).size(), kMostReport);
}

TEST(ViewPage, LoadsNothingFromElsewhere) {
  const Page page = live_page("<i>{{script}}</i>");
  EXPECT_EQ(page.html.find("<i>"), std::string::npos);
  EXPECT_NE(page.html.find("&lt;i&gt;{{script}}"), std::string::npos) << "what is put in is not looked at again";
  EXPECT_NE(page.policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(page.html.find("src="), std::string::npos);
  EXPECT_EQ(page.html.find("innerHTML"), std::string::npos);
  EXPECT_EQ(page.html.find("\nimport "), std::string::npos);
  EXPECT_EQ(page.html.find("\nexport "), std::string::npos);
  EXPECT_LT(page.html.size(), 200U << 10);
}

}  // namespace
}  // namespace tare::view
