// The public functions take one Work: its stop request and its progress apply to everything that they do.
#include "conformance/models.hpp"
#include "conformance/scratch.hpp"
#include "tare/tare.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Model two_matrices() {
  Model model;
  for (const char* const name : {"a", "b"})
    model.tensors.push_back(dense(name, {64, 64}, std::vector<float>(64 * 64, 1.5F)));
  return model;
}

TEST(Work, AStopRequestEndsEveryFunction) {
  const Scratch scratch;
  const std::string in = scratch / "in.zt", out = scratch / "out.zt";
  static_cast<void>(save(two_matrices(), in));
  const Model model = open(in);
  Stop stop;
  stop.ask();
  const Work work{.stop = &stop};
  const std::vector<std::pair<std::string_view, std::function<void()>>> functions = {
      {"save", [&] { static_cast<void>(save(model, out, {.work = work})); }},
      {"convert", [&] { static_cast<void>(convert(in, out, {.work = work})); }},
      {"write_part",
       [&] {
         write_part(in, out, {.work = work}, {0, 1, "plan"}, scratch / "part");
       }},
      {"verify", [&] { static_cast<void>(verify(in, {.work = work})); }},
      {"content_digest", [&] { static_cast<void>(content_digest(model, work)); }},
      {"diff", [&] { static_cast<void>(diff(model, model, work)); }},
      {"statistics", [&] { static_cast<void>(statistics(model.at("a"), 8, 8, work)); }},
  };
  for (const auto& [name, function] : functions) EXPECT_EQ(rule_of(function), "work.stopped") << name;
  EXPECT_FALSE(std::filesystem::exists(out));
  // Later work in the same thread does not see the request.
  EXPECT_EQ(content_digest(model), content_digest(two_matrices()));
}

TEST(Work, ProgressCountsTheBytesOfTheTensors) {
  const Scratch scratch;
  const std::string in = scratch / "in.zt";
  static_cast<void>(save(two_matrices(), in));
  constexpr std::uint64_t kBytes = 2 * 64 * 64 * sizeof(float);
  const auto counted = [&](const std::function<void(const Work&)>& function) {
    Progress progress;
    function({.threads = 1, .progress = &progress});
    return progress.done();
  };
  EXPECT_EQ(counted([&](const Work& work) { static_cast<void>(convert(in, scratch / "out.npz", {.work = work})); }),
            kBytes);
  EXPECT_EQ(counted([&](const Work& work) { static_cast<void>(save(open(in), scratch / "out.mcf", {.work = work})); }),
            kBytes);
  EXPECT_EQ(counted([&](const Work& work) { static_cast<void>(content_digest(open(in), work)); }), kBytes);
  EXPECT_EQ(counted([&](const Work& work) { static_cast<void>(verify(in, {.work = work})); }), kBytes);
}

TEST(FormatList, HasEveryRow) {
  const std::vector<FormatInfo> list = format_list();
  ASSERT_EQ(list.size(), formats().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].name, formats()[i].name);
    EXPECT_EQ(list[i].writes, is_writable(formats()[i]));
    EXPECT_EQ(list[i].vocabulary, formats()[i].holds.vocabulary);
  }
}

}  // namespace
}  // namespace tare
