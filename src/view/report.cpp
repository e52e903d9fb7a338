#include "view/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "codecs/streams.hpp"
#include "tare/codec.hpp"
#include "view/endpoints.hpp"
#include "view/heat.hpp"
#include "view/held_values.hpp"
#include "view/page.hpp"
#include "wire/json.hpp"

namespace tare::view {
namespace {

constexpr std::size_t kMostListed = 4000;                           // table rows of the list of tensors
constexpr std::size_t kMostShown = 400;                             // tensors with numbers and pictures
constexpr std::size_t kMostNested = 200, kLargestValue = 32 << 10;  // nested metadata: number of answers, bytes of one
constexpr std::size_t kMostAttached = 16, kAllFiles = 512 << 10;    // attachments: number, bytes of all together
constexpr std::size_t kMostBytesShown = 50;                         // findings with the bytes around them
constexpr std::size_t kFiner = std::size_t{5} << 18;                // reserved for values and finer pictures
constexpr std::size_t kSmallTensor = 6 << 10;   // up to this many bytes, the values replace the picture
constexpr std::size_t kWholeTensor = 96 << 10;  // up to this many bytes, values are added if there is space

// Returns what `make` returns, or nothing if the model has no such thing: numbers of a layout that cannot be decoded. An
// error of the system is thrown: a report without this part would look complete.
template <typename Make>
auto unless_impossible(const Make& make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return std::nullopt;
  }
}

// Answers, by the request that they answer.
class Answers {
 public:
  explicit Answers(Service& service) : service_(service) {}

  // The answer to a request; nothing if the model has none.
  std::optional<std::string> ask(const std::string& target) {
    return unless_impossible([&] { return service_.call(target, false, Service::Files::unchecked); });
  }
  // Returns false if there is no space. A request that fails is omitted; the page reports that.
  bool add(const std::string& target) {
    const std::optional<std::string> answer = ask(target);
    return !answer || put(target, *answer);
  }
  // The same, but also omits an answer of more than `most` bytes.
  bool add_small(const std::string& target, std::size_t most) {
    const std::optional<std::string> answer = ask(target);
    return answer && answer->size() <= most && put(target, *answer);
  }
  std::size_t size() const { return size_; }
  // Reserves bytes of the report; `room` is the space left, including the reserved bytes.
  void keep_free(std::size_t bytes) { free_ = bytes; }
  std::size_t room() const { return kMostReport - kPage - std::min(size_, kMostReport - kPage); }
  bool put(const std::string& target, std::string_view body) {
    const std::size_t size = size_in_page(target) + size_in_page(body) + 8;
    if (size_ + size + free_ > kMostReport - kPage) return false;
    JsonWriter json(text_);
    if (size_ > 0) text_ += ',';
    json.key(target).raw(body);
    size_ += size;
    return true;
  }
  // Adds all entries or none.
  bool put_all(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::size_t size = 0;
    for (const auto& [target, body] : entries) size += size_in_page(target) + size_in_page(body) + 8;
    if (size_ + size + free_ > kMostReport - kPage) return false;
    for (const auto& [target, body] : entries) static_cast<void>(put(target, body));
    return true;
  }
  std::string finish() const { return "{" + text_ + "}"; }

 private:
  // The page writes '<' as a six-character escape.
  static std::size_t size_in_page(std::string_view text) {
    return text.size() + 5 * static_cast<std::size_t>(std::count(text.begin(), text.end(), '<'));
  }

  static constexpr std::size_t kPage = 512 << 10;  // size of the page itself, at most
  Service& service_;
  std::string text_;
  std::size_t size_ = 0, free_ = 0;
};

// Adds the entries, then the contents of nested and long ones, as far as there is space.
void add_metadata(Answers& answers, std::string_view what, const std::string& end, const std::string& at, int depth,
                  std::size_t& room) {
  constexpr int kDeepest = 6;
  std::string query(what);
  if (!at.empty()) query += (query.empty() ? "at=" : "&at=") + at;
  query += query.empty() && !end.empty() ? end.substr(1) : end;
  const std::string target = query.empty() ? "metadata" : "metadata?" + query;
  const std::optional<std::string> answer = answers.ask(target);
  if (!answer || room == 0) return;
  if (depth > 0 && answer->size() > kLargestValue) return;
  --room;
  if (!answers.put(target, *answer) || depth == kDeepest) return;
  wire::TreeBounds bounds;
  const Value found = wire::read_json(*answer, bounds);
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
    add_metadata(answers, what, end, place, depth + 1, room);
  }
}

void add_model(Answers& answers, const OpenModel& model, std::string_view of) {
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
    add_metadata(answers, what, end, "", 0, room);
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

// Adds the bytes around each finding, as the page requests them.
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

// One thing to read: a tensor, or for a pair each side and the difference, named as in requests.
struct Look {
  std::string request;  // "tensor=3&of=left"
  Tensor tensor;
  bool differs = false;
  bool whole_only = false;  // reading a part costs as much as reading all
};

// A tensor that the report shows: from one model or both.
struct ShownTensor {
  std::size_t model = 0, tensor = 0;
  std::int64_t other = -1;     // its counterpart's number in the second model
  const Pair* pair = nullptr;  // null if it has none
  std::uint64_t bytes = 0;
  bool whole = false;  // all of its values are in the report
  std::vector<Look> looks = {};
};

// Tensors in memory as numbers. A look reads a tensor from front to back, and the report has up to five looks at each; what
// is compressed or coded would be decoded for every one of them.
class DecodedTensors {
 public:
  Tensor hold(const Tensor& tensor) {
    const auto decoded = unless_impossible([&] {  // each look reports it
      Tensor dense = to_dense(tensor);
      if (dense.components.size() != 1) return tensor;
      Blob& blob = dense.components.front().blob;
      if (blob.is_plain() || blob.size() > left_) return tensor;
      blob = Blob::memory(blob.bytes(left_, 1));
      left_ -= blob.size();
      return dense;
    });
    return decoded.value_or(tensor);
  }

 private:
  std::uint64_t left_ = std::uint64_t{36} << 20;  // bytes
};

bool is_whole_only(const Tensor& tensor) {
  return std::any_of(tensor.components.begin(), tensor.components.end(),
                     [](const Component& component) { return !is_seekable(component.blob); });
}

std::vector<Look> looks_of(const std::vector<OpenModelPtr>& models, const ShownTensor& shown, DecodedTensors& decoded) {
  std::vector<Look> looks;
  const std::string request = fmt::format("tensor={}", shown.tensor);
  if (shown.pair == nullptr) {
    const Tensor tensor = decoded.hold(models[shown.model]->model().tensors[shown.tensor]);
    looks.push_back({request + (shown.model == 0 ? "" : "&of=b"), tensor, false, is_whole_only(tensor)});
    return looks;
  }
  const Tensor left = decoded.hold(shown.pair->tensor_a()), right = decoded.hold(shown.pair->tensor_b());
  looks.push_back({request + "&of=left", left, false, is_whole_only(left)});
  looks.push_back({request + "&of=right", right, false, is_whole_only(right)});
  // Tensors of different shapes have no difference; the page reports that.
  if (const auto error = unless_impossible([&] { return error_of(left, right); }))
    looks.push_back({request + "&of=error", *error, true, is_whole_only(left) || is_whole_only(right)});
  return looks;
}

// How many elements the looks may read, all together: a small file may unpack to far more than it has.
class Effort {
 public:
  Effort(const std::vector<OpenModelPtr>& models, const std::vector<ShownTensor>& order) {
    constexpr std::uint64_t kFree = std::uint64_t{2} << 20, kPerByte = 24, kMostBytes = std::uint64_t{1} << 40;
    left_ = kFree;
    for (const OpenModelPtr& model : models) left_ += std::min(model->model().file_bytes, kMostBytes) * kPerByte;
    const auto read_with = [&](std::uint64_t each) {
      constexpr std::uint64_t kVisits = 5;  // numbers take two, each of three pictures one
      std::uint64_t sum = 0;
      for (const ShownTensor& shown : order)
        sum += std::min(elements_of(models[shown.model]->model().tensors[shown.tensor]), each) * kVisits *
               (shown.pair == nullptr ? 1 : 3);
      return sum;
    };
    constexpr std::uint64_t kLeast = 8192;  // numbers are computed of so many at a time
    while (sample_ > kLeast && read_with(sample_) > left_) sample_ = sample_ * 3 / 4;
  }

  // About as many elements as one look may read.
  std::uint64_t sample() const { return sample_; }
  // Subtracts the cost of the numbers of each of these tensors, in elements: they are computed in two passes. Reading a
  // sample of a tensor that cannot be read from the middle costs as much as reading all of it.
  void spend_on_numbers(const std::vector<Look>& looks) {
    for (const Look& look : looks) {
      const std::uint64_t step = look.whole_only ? UINT64_MAX : sample_;
      spend(look, std::min(elements_of(look.tensor), step) * 2);
    }
  }
  // Subtracts what reading the tensor has cost, in elements. For a difference, two tensors are read.
  void spend(const Look& look, std::uint64_t cost) { left_ -= std::min(left_, look.differs ? 2 * cost : cost); }
  bool any_left() const { return left_ > 0; }

 private:
  static std::uint64_t elements_of(const Tensor& tensor) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    return std::min(tensor.shape.elements().value_or(kMost), kMost);
  }

  std::uint64_t left_ = 0, sample_ = kHeatSample;
};

// Adds the result of `make`, or nothing if the tensor has none. Returns false if there is no space.
template <typename Make>
bool add_made(Answers& answers, const std::string& target, const Make& make) {
  const std::optional<std::string> made = unless_impossible(make);
  return !made || answers.put(target, *made);
}

// Adds all values of every stored side, or nothing. The page computes the difference itself.
bool add_whole(Answers& answers, const std::vector<Look>& looks) {
  const auto made = unless_impossible([&] {
    std::vector<std::pair<std::string, std::string>> all;
    for (const Look& look : looks)
      if (!look.differs) all.emplace_back("whole?" + look.request, whole_json(look.tensor));
    return all;
  });
  return made && answers.put_all(*made);
}

std::uint64_t size_of_whole(const std::vector<Look>& looks) {
  const auto size = unless_impossible([&] {
    std::uint64_t sum = 0;
    for (const Look& look : looks)
      if (!look.differs) sum += whole_size(look.tensor);
    return sum;
  });
  return looks.empty() ? UINT64_MAX : size.value_or(UINT64_MAX);
}

// Adds the numbers and a small picture of a tensor; for a pair, of both sides and the difference.
bool add_tensor(Answers& answers, ShownTensor& shown, Effort& effort) {
  const std::uint64_t sample = effort.sample();
  const std::vector<Look>& looks = shown.looks;
  const auto facts = [&](std::size_t tensor, std::string_view end) {
    return answers.add(fmt::format("tensor?tensor={}{}", tensor, end)) &&
           answers.add(fmt::format("block?tensor={}{}", tensor, end));
  };
  if (!facts(shown.tensor, shown.model == 0 ? "" : "&of=b")) return false;
  if (shown.pair != nullptr && !facts(static_cast<std::size_t>(shown.other), "&of=b")) return false;
  for (const Look& look : looks)
    if (!add_made(answers, "numbers?" + look.request,
                  [&] { return sampled_numbers(look.tensor, std::min(sample, kNumbersSample)); }))
      return false;
  effort.spend_on_numbers(looks);
  shown.whole = size_of_whole(looks) <= kSmallTensor && add_whole(answers, looks);
  if (shown.whole) return true;
  for (const Look& look : looks) {
    std::uint64_t cost = 0;
    const bool added =
        add_made(answers, "grid?" + look.request, [&] { return grid_json(look.tensor, 32, 48, sample, cost); });
    effort.spend(look, cost);
    if (!added) return false;
    if (look.differs) continue;
    if (!add_made(answers, "corners?" + look.request, [&] { return corners_json(look.tensor); })) return false;
  }
  return true;
}

// Largest first, a tensor together with its counterpart.
std::vector<ShownTensor> tensors_to_show(const std::vector<OpenModelPtr>& models, const Pairing* pairing) {
  std::vector<ShownTensor> order;
  for (std::size_t m = 0; m < models.size(); ++m)
    for (std::size_t i = 0; i < std::min(models[m]->items().size(), kMostListed); ++i) {
      const std::int64_t pair = pairing == nullptr ? -1 : (m == 0 ? pairing->of_a : pairing->of_b)[i];
      const Pair* const found = pair < 0 ? nullptr : &pairing->pairs[static_cast<std::size_t>(pair)];
      if (m == 1 && found != nullptr && found->a >= 0) continue;  // shown with its counterpart
      const std::int64_t other = m == 0 && found != nullptr ? found->b : -1;
      order.push_back({m, i, other, other < 0 ? nullptr : found, models[m]->items()[i].stored});
    }
  std::stable_sort(order.begin(), order.end(),
                   [](const ShownTensor& a, const ShownTensor& b) { return a.bytes > b.bytes; });
  if (order.size() > kMostShown) order.resize(kMostShown);
  return order;
}

// First adds each tensor's facts and a small picture, as far as there is space. Then uses the reserved space for more:
// all values of small tensors, smallest first, and finer pictures, largest tensors first.
void add_tensors(Answers& answers, const std::vector<OpenModelPtr>& models, const Pairing* pairing) {
  std::vector<ShownTensor> order = tensors_to_show(models, pairing);
  answers.keep_free(kFiner);
  Effort effort(models, order);
  const std::uint64_t sample = effort.sample();
  DecodedTensors decoded;
  std::size_t shown = 0;
  for (; shown < order.size() && effort.any_left(); ++shown) {
    order[shown].looks = looks_of(models, order[shown], decoded);
    if (!add_tensor(answers, order[shown], effort)) break;
  }
  order.resize(shown);
  answers.keep_free(answers.room() / 2);
  for (std::size_t i = order.size(); i-- > 0;) {
    if (order[i].whole || size_of_whole(order[i].looks) > kWholeTensor) continue;
    order[i].whole = add_whole(answers, order[i].looks);
    if (!order[i].whole) break;
  }
  answers.keep_free(0);
  for (const auto& [fine, height, width] : {std::tuple(1, 96, 128), std::tuple(2, 256, 384)})
    for (const ShownTensor& tensor : order) {
      if (tensor.whole) continue;
      if (!effort.any_left()) return;
      const auto pictures = [&, fine = fine, height = std::size_t(height), width = std::size_t(width)] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const Look& look : tensor.looks) {
          std::uint64_t cost = 0;
          all.emplace_back(fmt::format("grid?{}&fine={}", look.request, fine),
                           grid_json(look.tensor, height, width, sample, cost));
          effort.spend(look, cost);
        }
        return all;
      };
      if (const auto made = unless_impossible(pictures); made && !answers.put_all(*made)) break;
    }
}

}  // namespace

std::string report(Service& service) {
  const auto models = service.models();
  service.check();
  Answers answers(service);
  // The report may be sent to others, so it contains file names without their directories.
  answers.put("overview", service.call("overview?names=1"));
  for (std::size_t i = 0; i < models.size(); ++i) add_model(answers, *models[i], i == 0 ? "a" : "b");
  if (models.size() == 2)
    answers.put("compare", service.call_and_wait("compare/all?sort=relative_rms&way=down&plot=1&grid=1"));
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string found = service.call_and_wait(i == 0 ? "check/start" : "check/start?of=b");
    answers.put(i == 0 ? "check" : "check?of=b", found);
    add_findings(answers, found, i == 0 ? "" : "&of=b");
  }
  add_tensors(answers, models, service.pairing().get());
  service.check();
  return report_page(models.front()->name(), answers.finish()).html;
}

}  // namespace tare::view
