#include "formats/fits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace {

class FitCheck {
 public:
  FitCheck(const Model& model, const Format& format) : model_(model), format_(format), holds_(format.holds) {}

  void run() const {
    model_.refuse_broken();
    std::vector<std::string> unplaced;
    add_unplaced(unplaced);
    if (!unplaced.empty()) throw error("room", fmt::format("{} cannot hold {}", format_.name, listed(unplaced)));
    if (!holds_.many_tensors && model_.tensors.size() != 1)
      throw error("single", fmt::format("{} tensors; {} holds exactly one", model_.tensors.size(), format_.name));
    if (!holds_.architecture.empty()) return;  // its writer knows every tensor, and reports all problems at once
    for (const Tensor& tensor : model_.tensors) check_tensor(tensor);
    check_names();
  }

 private:
  Error error(std::string_view rule, std::string_view sentence) const {
    return {ErrorKind::unsupported, fmt::format("{}.write.{}", format_.name, rule), sentence};
  }
  Error error(std::string_view rule, std::string_view sentence, const Tensor& tensor) const {
    return error(rule, sentence).about("tensor " + quote(tensor.name));
  }

  void add_unplaced(std::vector<std::string>& unplaced) const {
    for (const auto& [key, value] : model_.metadata) {
      if (holds_.metadata == Room::none || !lists(holds_.metadata_keys, key))
        unplaced.push_back(fmt::format("the metadata key {}", quote(key)));
      else if (holds_.metadata == Room::strings && value.text() == nullptr)
        throw error("metadata", fmt::format("the metadata key {} is not text", quote(key)));
    }
    for (const auto& [field, value] : model_.config.to_map())
      if (!holds_.config || !holds_.has_field(field)) unplaced.push_back(fmt::format("config {}", field));
    add_vocabulary(unplaced);
    if (!holds_.attachments && !model_.attachments.empty()) unplaced.emplace_back("attachments");
    for (const Tensor& tensor : model_.tensors)
      if (has_unplaced_attributes(tensor)) unplaced.push_back(fmt::format("attributes of {}", quote(tensor.name)));
  }

  void add_vocabulary(std::vector<std::string>& unplaced) const {
    const Vocabulary& vocabulary = model_.vocabulary;
    if (vocabulary.empty()) return;
    if (!holds_.vocabulary) return unplaced.emplace_back("a vocabulary"), void();
    const auto add = [&](std::string_view part, std::string_view words, bool present) {
      if (present && !lists(holds_.vocabulary_parts, part)) unplaced.emplace_back(words);
    };
    const auto any = [&](const auto& is) { return std::ranges::any_of(vocabulary.tokens, is); };
    add("kind", "the vocabulary's kind", !vocabulary.kind.empty());
    add("merges", "merges", !vocabulary.merges.empty());
    add("scores", "scores of tokens", any([](const Token& token) { return token.score != 0; }));
    add("types", "types of tokens", any([](const Token& token) { return token.type != TokenType::normal; }));
  }

  // The parameters of a codec are attributes that every container of its layout stores.
  bool has_unplaced_attributes(const Tensor& tensor) const {
    if (holds_.tensor_attributes || tensor.attributes.empty()) return false;
    const Codec* const codec = find_codec(tensor.layout);
    return std::ranges::any_of(tensor.attributes, [&](const Map::Entry& entry) {
      return codec == nullptr || std::ranges::find(codec->parameters, entry.first) == codec->parameters.end();
    });
  }

  void check_tensor(const Tensor& tensor) const {
    if (tensor.name.size() > holds_.max_name)
      throw error("name",
                  fmt::format("a name of {} bytes, {} takes {}", tensor.name.size(), format_.name, holds_.max_name),
                  tensor);
    if (tensor.shape.rank() > holds_.max_rank)
      throw error("rank", fmt::format("{} dimensions, {} takes {}", tensor.shape.rank(), format_.name, holds_.max_rank),
                  tensor);
    if (!lists(holds_.layouts, tensor.layout))
      throw error("layout", fmt::format("{} cannot hold the layout \"{}\"", format_.name, quote(tensor.layout)),
                  tensor);
    const bool dense = tensor.is_dense();
    for (const Component& component : tensor.components) {
      const bool stored = std::ranges::find(holds_.dtypes, component.dtype) != holds_.dtypes.end();
      const bool typed = component.type.empty() || lists(holds_.logical_types, component.type);
      // Only dense components need a type of the container; those of a codec have fixed types.
      if (dense && (!stored || !typed))
        throw error("type", fmt::format("{} has no type for {}", format_.name, quote(component.type_name())), tensor);
    }
    const Codec* const codec = find_codec(tensor.layout);
    if (const auto problem = codec == nullptr ? std::nullopt : codec->check(tensor))
      throw Error(ErrorKind::unsupported, fmt::format("{}.{}", format_.name, problem->rule), problem->sentence)
          .about("tensor " + quote(tensor.name));
  }

  void check_names() const {
    std::vector<std::string_view> names;
    names.reserve(model_.tensors.size());
    for (const Tensor& tensor : model_.tensors) names.push_back(tensor.name);
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
      throw error("duplicate", "the name appears twice").about("tensor " + quote(*twice));
  }

  const Model& model_;
  const Format& format_;
  const Capabilities& holds_;
};

}  // namespace

bool lists(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view known) { return known == "*" || known == name; });
}

void require_fit(const Model& model, const Format& format) { FitCheck(model, format).run(); }

}  // namespace tare
