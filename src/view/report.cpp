#include "view/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "view/page.hpp"

namespace tare::view {
namespace {

constexpr std::size_t kMostListed = 4000;  // rows of the list of tensors
constexpr std::size_t kMostShown = 400;    // tensors with numbers and pictures

// Answers under what would be asked for.
class Answers {
 public:
  explicit Answers(const Service& service) : service_(service) {}

  // False when there is no room for it. What cannot be answered is left out: the page says so.
  bool add(const std::string& target) {
    const Answer answer = service_.answer(target);
    return answer.status != 200 || put(target, answer.body);
  }
  bool put(const std::string& target, std::string_view body) {
    if (size_ + target.size() + body.size() + 8 > kMostReport - kPage) return false;
    JsonWriter json(text_);
    if (size_ > 0) text_ += ',';
    json.key(target).raw(body);
    size_ = text_.size();
    return true;
  }
  std::string finish() const { return "{" + text_ + "}"; }

 private:
  static constexpr std::size_t kPage = 512 << 10;  // room for the page itself, and for what escapes add
  const Service& service_;
  std::string text_;
  std::size_t size_ = 0;
};

std::string wait_for(const Service& service, const std::string& start, const std::string& target) {
  std::string text = service.call(start);
  while (text.find("\"done\":false") != std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    text = service.call(target);
  }
  return text;
}

void add_model(Answers& answers, const Exhibit& model, std::string_view of) {
  const std::string end = of == "a" ? "" : "&of=b";
  const std::string only = of == "a" ? "" : "?of=b";
  answers.add("layers" + only);
  answers.add("treemap?width=960&height=480" + end);
  for (std::size_t file = 0; file < std::min<std::size_t>(model.files().size(), 16); ++file)
    answers.add(fmt::format("map?file={}{}", file, end));
  const std::size_t listed = std::min(model.items().size(), kMostListed);
  for (std::size_t from = 0; from < listed; from += 500)
    answers.add(fmt::format("tensors?from={}&count=500{}", from, end));
  answers.add("metadata" + only);
  answers.add("metadata?what=config" + end);
  answers.add("attachments" + only);
  answers.add("template" + only);
  answers.add("tokens?count=500" + end);
}

void add_tensors(Answers& answers, const Exhibit& model, std::string_view of) {
  std::vector<std::uint32_t> order(std::min(model.items().size(), kMostListed));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return model.items()[a].stored > model.items()[b].stored; });
  if (order.size() > kMostShown) order.resize(kMostShown);
  const std::string end = of == "a" ? "" : "&of=b";
  for (const std::uint32_t tensor : order) {
    const bool room = answers.add(fmt::format("tensor?tensor={}{}", tensor, end)) &&
                      answers.add(fmt::format("numbers?tensor={}{}", tensor, end)) &&
                      answers.add(fmt::format("block?tensor={}{}", tensor, end)) &&
                      answers.add(fmt::format("heat?tensor={}&by=max&height=32&width=48{}", tensor, end));
    if (!room) return;
  }
}

}  // namespace

std::string report(const Service& service) {
  const auto models = service.models();
  Answers answers(service);
  answers.add("overview");
  for (std::size_t i = 0; i < models.size(); ++i) add_model(answers, *models[i], i == 0 ? "a" : "b");
  if (models.size() == 2) answers.put("compare", wait_for(service, "compare/start", "compare"));
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string of = i == 0 ? "a" : "b";
    answers.put("check" + std::string(i == 0 ? "" : "?of=b"),
                wait_for(service, "check/start?of=" + of, "check?of=" + of));
  }
  for (std::size_t i = 0; i < models.size(); ++i) add_tensors(answers, *models[i], i == 0 ? "a" : "b");
  const std::string& path = models.front()->path();
  return report_page(path, answers.finish()).html;
}

}  // namespace tare::view
