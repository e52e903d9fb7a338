#include "convert/fill_card.hpp"

#include "convert/steps/fit_rest.hpp"
#include "convert/wording.hpp"
#include "formats/format.hpp"
#include "resources/model_card.hpp"

namespace tare {

void fill_card(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines) {
  // A target that accepts any key carries the files themselves.
  if (target.holds.metadata == Room::none || lists(target.holds.metadata_keys, "*") ||
      asked_to_drop(options, ModelPart::metadata))
    return;
  const resources::Card card = resources::card_of(model);
  Change filled{
      .kind = ChangeKind::filled_in, .impact = Impact::detail, .part = "metadata", .detail = "from the model's files"};
  const auto fill = [&](std::string_view key, const std::string& text) {
    if (text.empty() || !lists(target.holds.metadata_keys, key) || model.metadata.find(key) != nullptr) return;
    model.metadata.set(key, text);
    filled.items.emplace_back(key);
    filled.values.push_back(text);
  };
  fill("base_model", card.base_model);
  fill("license", card.license);
  if (!filled.items.empty()) lines.push_back(std::move(filled));
}

}  // namespace tare
