// The list of tensors, searched, filtered and sorted, a page at a time; and the tree of their names.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "view/endpoints.hpp"
#include "view/fuzzy.hpp"
#include "view/names.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kMostRows = 500;

template <typename Key>
void sort_by(std::vector<std::uint32_t>& order, bool down, const Key& key) {
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return down ? key(b) < key(a) : key(a) < key(b); });
}

void sort_rows(std::vector<std::uint32_t>& order, const OpenModel& model, std::string_view by, bool down) {
  const auto& items = model.items();
  const auto& all = model.model().tensors;
  if (by == "name") {
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return down ? naturally_less(all[b].name, all[a].name) : naturally_less(all[a].name, all[b].name);
    });
  } else if (by == "bytes") {
    sort_by(order, down, [&](std::uint32_t i) { return items[i].stored; });
  } else if (by == "elements") {
    sort_by(order, down, [&](std::uint32_t i) { return items[i].elements; });
  } else if (by == "bits") {
    sort_by(order, down, [&](std::uint32_t i) { return items[i].bits; });
  } else if (by == "type") {
    sort_by(order, down, [&](std::uint32_t i) { return std::string_view(model.types()[items[i].type]); });
  } else if (by == "layer") {
    sort_by(order, down, [&](std::uint32_t i) { return items[i].layer; });
  } else if (down) {
    std::reverse(order.begin(), order.end());
  }
}

}  // namespace

void tensors(const Context& context, const Query& query, JsonWriter& json) {
  static constexpr std::string_view kSorts[] = {"file", "name", "bytes", "elements", "bits", "type", "layer"};
  static constexpr std::string_view kWays[] = {"up", "down"};
  const OpenModel& model = context.model(query);
  const std::string_view wanted = query.short_text("search", kMostSearched), type = query.text("type"),
                         role = query.text("role");
  const std::string_view by = query.choice("sort", kSorts);
  const bool down = query.choice("way", kWays) == "down";
  const auto& items = model.items();

  std::vector<std::uint32_t> order;
  std::vector<int> scores(wanted.empty() ? 0 : items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (!type.empty() && model.types()[items[i].type] != type) continue;
    if (!role.empty() && model.roles()[items[i].role] != role) continue;
    if (!wanted.empty()) {
      const auto score = fuzzy_score(wanted, model.model().tensors[i].name);
      if (!score) continue;
      scores[i] = *score;
    }
    order.push_back(i);
  }
  if (!query.find("sort") && !wanted.empty())
    sort_by(order, true, [&](std::uint32_t i) { return scores[i]; });
  else
    sort_rows(order, model, by, down);

  const std::uint64_t from = std::min<std::uint64_t>(query.number("from", 0, 0, UINT32_MAX), order.size());
  const std::uint64_t count = std::min(query.number("count", 100, 0, kMostRows), order.size() - from);
  json.open('{').key("all").number(std::uint64_t{items.size()}).key("found").number(std::uint64_t{order.size()});
  json.key("from").number(from);
  if (query.find("with")) {  // where the list has this tensor
    const auto found = std::find(order.begin(), order.end(), query.number("with", 0, 0, UINT32_MAX));
    json.key("place");
    found == order.end() ? json.null() : json.number(std::int64_t{found - order.begin()});
  }
  json.key("rows").open('[');
  for (std::uint64_t i = from; i < from + count; ++i) write_item(json, model, order[i]);
  json.close(']').close('}');
}

void tree(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModel& model = context.model(query);
  const std::string_view prefix = query.text("under");
  const auto [begin, end] = run_of(model, prefix);
  const std::vector<Branch> all = branches(model, prefix, begin, end);
  const std::uint64_t from = std::min<std::uint64_t>(query.number("from", 0, 0, UINT32_MAX), all.size());
  const std::uint64_t count = std::min(query.number("count", 200, 0, kMostRows), all.size() - from);
  json.open('{').key("under").text(short_name(prefix)).key("found").number(std::uint64_t{all.size()});
  json.key("from").number(from).key("branches").open('[');
  for (std::uint64_t i = from; i < from + count; ++i) {
    const Branch& branch = all[i];
    json.open('{')
        .key("label")
        .text(short_name(branch.label))
        .key("under")
        .text(branch.prefix.size() > kMostPrefix ? std::string_view() : std::string_view(branch.prefix))
        .key("tensor");
    if (branch.leaf)
      json.number(std::uint64_t{model.by_name()[branch.begin]});
    else
      json.null();
    json.key("tensors").number(std::uint64_t{branch.end - branch.begin}).key("elements").number(branch.elements);
    json.key("bytes").number(branch.bytes).key("type");
    json.text(branch.type < 0 ? std::string_view("mixed")
                              : std::string_view(model.types()[static_cast<std::size_t>(branch.type)]));
    json.key("bits");
    write_number(
        json, branch.elements == 0 ? 0 : static_cast<double>(branch.bytes) * 8 / static_cast<double>(branch.elements));
    json.close('}');
  }
  json.close(']').close('}');
}

}  // namespace tare::view
