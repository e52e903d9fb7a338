#include "view/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "view/page.hpp"
#include "wire/json.hpp"

namespace tare::view {
namespace {

constexpr std::size_t kMostListed = 4000;                           // rows of the list of tensors
constexpr std::size_t kMostShown = 400;                             // tensors with numbers and pictures
constexpr std::size_t kMostNested = 200, kLargestValue = 32 << 10;  // nested metadata: answers, bytes of one
constexpr std::size_t kMostAttached = 16, kAllFiles = 512 << 10;    // attachments: how many, bytes of all
constexpr std::size_t kMostBytesShown = 50;                         // findings with the bytes around them

// Answers under what would be asked for.
class Answers {
 public:
  explicit Answers(const Service& service) : service_(service) {}

  // False when there is no room for it. What cannot be answered is left out: the page says so.
  bool add(const std::string& target) {
    const Answer answer = service_.answer(target);
    return answer.status != 200 || put(target, answer.body);
  }
  // The same of what is left out if it is large.
  bool add_small(const std::string& target, std::size_t most) {
    const Answer answer = service_.answer(target);
    return answer.status == 200 && answer.body.size() <= most && put(target, answer.body);
  }
  std::size_t size() const { return size_; }
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

// Entries, and what is in those that are nested or long, as far as that goes.
void add_metadata(Answers& answers, const Service& service, std::string_view what, const std::string& end,
                  const std::string& at, int depth, std::size_t& room) {
  constexpr int kDeepest = 6;
  std::string query(what);
  if (!at.empty()) query += (query.empty() ? "at=" : "&at=") + at;
  query += query.empty() && !end.empty() ? end.substr(1) : end;
  const std::string target = query.empty() ? "metadata" : "metadata?" + query;
  const Answer answer = service.answer(target);
  if (answer.status != 200 || room == 0) return;
  if (depth > 0 && answer.body.size() > kLargestValue) return;
  --room;
  if (!answers.put(target, answer.body) || depth == kDeepest) return;
  wire::TreeBounds bounds;
  const Value found = wire::read_json(answer.body, bounds);
  const Value* const list = found.get<Map>()->find("entries");
  if (list == nullptr || list->get<List>() == nullptr) return;
  for (const Value& entry : *list->get<List>()) {
    const auto text = [&](std::string_view key) {
      const Value* const value = entry.get<Map>()->find(key);
      return value == nullptr || value->text() == nullptr ? std::string() : *value->text();
    };
    const auto number = [&](std::string_view key) {
      const Value* const value = entry.get<Map>()->find(key);
      const auto* const whole = value == nullptr ? nullptr : value->get<std::int64_t>();
      return whole == nullptr ? 0 : *whole;
    };
    const std::string kind = text("kind");
    const bool nested = kind == "map" || kind == "list";
    const bool is_long = kind == "text" && number("size") > static_cast<std::int64_t>(text("preview").size());
    if (!nested && !is_long) continue;
    const std::string place = fmt::format("{}{}{}", at, at.empty() ? "" : ".", number("place"));
    add_metadata(answers, service, what, end, place, depth + 1, room);
  }
}

void add_model(Answers& answers, const Service& service, const Exhibit& model, std::string_view of) {
  const std::string end = of == "a" ? "" : "&of=b";
  const std::string only = of == "a" ? "" : "?of=b";
  answers.add("layers" + only);
  answers.add("treemap?width=960&height=480" + end);
  for (std::size_t file = 0; file < std::min<std::size_t>(model.files().size(), 16); ++file)
    answers.add(fmt::format("map?file={}{}", file, end));
  const std::size_t listed = std::min(model.items().size(), kMostListed);
  for (std::size_t from = 0; from < listed; from += 500)
    answers.add(fmt::format("tensors?from={}&count=500{}", from, end));
  for (const std::string_view what : {"", "what=config"}) {
    std::size_t room = kMostNested;
    add_metadata(answers, service, what, end, "", 0, room);
  }
  answers.add("attachments" + only);
  answers.add("template" + only);
  answers.add("tokens?count=500" + end);
  answers.add("tokens?what=merges&count=500" + end);
  const std::size_t before = answers.size();
  for (std::size_t i = 0; i < std::min(model.model().attachments.size(), kMostAttached); ++i)
    if (answers.size() - before < kAllFiles)
      answers.add_small(fmt::format("attachment?attachment={}{}", i, end), kAllFiles / 4);
}

// The bytes around what was found, as the page asks for them.
void add_findings(Answers& answers, std::string_view found, const std::string& end) {
  wire::TreeBounds bounds;
  const Value answer = wire::read_json(found, bounds);
  const Map* const map = answer.get<Map>();
  const Value* const list = map == nullptr ? nullptr : map->find("findings");
  if (list == nullptr || list->get<List>() == nullptr) return;
  std::size_t shown = 0;
  for (const Value& finding : *list->get<List>()) {
    const Value* const offset = finding.get<Map>()->find("offset");
    const Value* const file = finding.get<Map>()->find("file");
    const auto* const at = offset == nullptr ? nullptr : offset->get<std::int64_t>();
    const auto* const in = file == nullptr ? nullptr : file->get<std::int64_t>();
    if (at == nullptr || in == nullptr || *at < 0) continue;
    if (shown++ == kMostBytesShown) return;
    answers.add(
        fmt::format("bytes?file={}&from={}&count=128{}", *in, std::max<std::int64_t>(0, *at - *at % 16 - 32), end));
  }
}

// Numbers and pictures of a tensor; of one that both models have, of both and of their difference.
bool add_tensor(Answers& answers, std::size_t tensor, const std::string& end, bool paired) {
  const auto add = [&](std::string_view request, std::string_view more) {
    return answers.add(fmt::format("{}?tensor={}{}", request, tensor, more));
  };
  const auto sides = [&](std::string_view of) {
    return add("numbers", of) && add("heat", fmt::format("&by=max&height=32&width=48&digits=3{}", of));
  };
  if (!add("tensor", end) || !add("block", end)) return false;
  return paired ? sides("&of=left") && sides("&of=right") && sides("&of=error") : sides(end);
}

// The largest first, a tensor and its counterpart together.
void add_tensors(Answers& answers, const std::vector<ExhibitPtr>& models, const Pairing* pairing) {
  struct Shown {
    std::size_t model, tensor;
    std::int64_t other;
    std::uint64_t bytes;
  };
  std::vector<Shown> order;
  for (std::size_t m = 0; m < models.size(); ++m)
    for (std::size_t i = 0; i < std::min(models[m]->items().size(), kMostListed); ++i) {
      const std::int64_t pair = pairing == nullptr ? -1 : (m == 0 ? pairing->of_a : pairing->of_b)[i];
      const Pair* const found = pair < 0 ? nullptr : &pairing->pairs[static_cast<std::size_t>(pair)];
      if (m == 1 && found != nullptr && found->a >= 0) continue;  // with its counterpart
      order.push_back({m, i, found == nullptr ? -1 : found->b, models[m]->items()[i].stored});
    }
  std::stable_sort(order.begin(), order.end(), [](const Shown& a, const Shown& b) { return a.bytes > b.bytes; });
  if (order.size() > kMostShown) order.resize(kMostShown);
  for (const Shown& shown : order) {
    const bool paired = shown.model == 0 && shown.other >= 0;
    if (!add_tensor(answers, shown.tensor, shown.model == 0 ? "" : "&of=b", paired)) return;
    if (!paired) continue;
    if (!answers.add(fmt::format("tensor?tensor={}&of=b", shown.other)) ||
        !answers.add(fmt::format("block?tensor={}&of=b", shown.other)))
      return;
  }
}

}  // namespace

std::string report(const Service& service) {
  const auto models = service.models();
  Answers answers(service);
  // The page goes to others: names of files, and not where they are on this machine.
  answers.put("overview", service.call("overview?names=1"));
  for (std::size_t i = 0; i < models.size(); ++i) add_model(answers, service, *models[i], i == 0 ? "a" : "b");
  if (models.size() == 2)
    answers.put("compare", service.call_and_wait("compare/all?sort=relative_rms&way=down&plot=1"));
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string found = service.call_and_wait(i == 0 ? "check/start" : "check/start?of=b");
    answers.put(i == 0 ? "check" : "check?of=b", found);
    add_findings(answers, found, i == 0 ? "" : "&of=b");
  }
  add_tensors(answers, models, service.pairing().get());
  return report_page(models.front()->name(), answers.finish()).html;
}

}  // namespace tare::view
