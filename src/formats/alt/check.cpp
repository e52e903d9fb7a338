// What is looked at before the first byte is written: numbers that 32 bits must hold, names, layouts and types.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/half.hpp"
#include "base/text.hpp"
#include "formats/alt/alt.hpp"
#include "tare/codec.hpp"

namespace tare::alt {
namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::int32_t>::max();

class Checker {
 public:
  Checker(const Model& model, std::string_view format, int version)
      : model_(model), format_(format), version_(version), holds_(find_format(format)->holds) {}

  void run() const {
    for (const ConfigField& field : config_fields()) check_field(field);
    check_vocabulary();
    check_metadata();
    if (!model_.attachments.empty()) throw error("write.room", "there is no place for attachments");
    std::vector<std::string_view> names;
    for (const Tensor& tensor : model_.tensors) {
      check_tensor(tensor);
      names.push_back(tensor.name);
    }
    if (names.size() > kMost32)
      throw limit(fmt::format("{} tensors, {} is the most", names.size(), kMost32), "--match takes some of them");
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
      throw error("write.name", "two tensors of this name").about("tensor " + escape_name(*twice));
  }

 private:
  Error error(std::string_view rule, std::string_view sentence) const {
    return {ErrorKind::unsupported, fmt::format("{}.{}", format_, rule), sentence};
  }

  // With what can be done about it.
  Error limit(std::string_view sentence, std::string_view way_out) const {
    return error("write.limit", fmt::format("{}; {}", sentence, way_out));
  }
  Error config_limit(std::string_view sentence) const {
    return limit(sentence, "--drop config leaves the parameters out").about("config");
  }
  Error vocabulary_limit(std::string_view sentence) const {
    return limit(sentence, "--drop vocabulary leaves the tokens out").about("vocabulary");
  }

  static bool lists(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void check_metadata() const {
    for (const auto& [key, value] : model_.metadata) {
      const std::string* const text = value.text();
      if (text == nullptr || text->size() > kMost32)
        throw error("write.metadata",
                    fmt::format("the metadata key {} is not a text of at most {} bytes", escape_name(key), kMost32));
      if (!lists(holds_.metadata_keys, key) || holds_.metadata == Room::none)
        throw error("write.room", fmt::format("there is no place for the metadata key {}", escape_name(key)));
    }
    if (!stated_seq_len(model_))
      throw error("write.seq_len",
                  fmt::format("the metadata key {0} is \"{1}\", not a number from 1 to {2}; --set "
                              "'{0}=\"N\"' gives another",
                              kSeqLenKey, escape_name(*model_.metadata.find(kSeqLenKey)->text()), kMost32));
  }

  void check_field(const ConfigField& field) const {
    const bool set = std::visit([&](auto member) { return (model_.config.*member).has_value(); }, field.member);
    if (set && !holds_.has_field(field.name))
      throw error("write.room", fmt::format("there is no place for {}", field.name)).about("config");
    if (const auto* member = std::get_if<std::optional<std::int64_t> Config::*>(&field.member)) {
      const auto& value = model_.config.**member;
      if (value && (*value < 0 || *value > static_cast<std::int64_t>(kMost32)))
        throw config_limit(fmt::format("{} is {}, ALT holds 0 to {}", field.name, *value, kMost32));
    } else if (const auto* real = std::get_if<std::optional<double> Config::*>(&field.member)) {
      const auto& value = model_.config.**real;
      if (value && !std::isfinite(f64_to_f32(*value)))
        throw config_limit(fmt::format("{} is {}, not a float of 32 bits", field.name, *value));
      if (value && *value < 0) throw config_limit(fmt::format("{} is {}, ALT holds 0 and above", field.name, *value));
    } else if (const auto* text = std::get_if<std::optional<std::string> Config::*>(&field.member)) {
      const auto& value = model_.config.**text;
      if (value && value->size() > kMost32)
        throw config_limit(fmt::format("{} has {} bytes, {} is the most", field.name, value->size(), kMost32));
    }
  }

  void check_vocabulary() const {
    const Vocabulary& v = model_.vocabulary;
    if (v.tokens.size() > kMost32)
      throw vocabulary_limit(fmt::format("{} tokens, {} is the most", v.tokens.size(), kMost32));
    for (const std::int64_t id : {v.bos, v.eos, v.pad, v.unk})
      if (id < -1 || id > static_cast<std::int64_t>(kMost32))
        throw vocabulary_limit(fmt::format("a special id is {}, ALT holds -1 to {}", id, kMost32));
    if (!v.kind.empty() || !v.merges.empty())
      throw error("write.room", "there is no place for a vocabulary's kind and merges").about("vocabulary");
    for (const Token& token : v.tokens) {
      if (token.text.size() > kMost32)
        throw vocabulary_limit(fmt::format("a token has {} bytes, {} is the most", token.text.size(), kMost32));
      if (version_ == 1 && (token.score != 0 || token.type != TokenType::normal))
        throw error("write.room", "there is no place for scores and token types").about("vocabulary");
    }
  }

  void check_tensor(const Tensor& tensor) const {
    const auto refuse = [&](std::string_view rule, std::string_view sentence) {
      throw error(rule, sentence).about("tensor " + escape_name(tensor.name));
    };
    if (tensor.name.empty() || !is_valid_utf8(tensor.name)) refuse("write.name", "the name is empty or not UTF-8");
    const auto too_much = [&](std::string_view sentence) {
      throw limit(sentence, "--skip leaves the tensor out").about("tensor " + escape_name(tensor.name));
    };
    if (tensor.name.size() > kMost32)
      too_much(fmt::format("a name of {} bytes, {} is the most", tensor.name.size(), kMost32));
    if (tensor.shape.size() > kMostDimensions)
      too_much(fmt::format("{} dimensions, {} is the most", tensor.shape.size(), kMostDimensions));
    for (const std::uint64_t dimension : tensor.shape)
      if (dimension > kMost32) too_much(fmt::format("a dimension of {}, {} is the most", dimension, kMost32));
    const Codec* const codec = find_codec(tensor.layout);
    if (codec == nullptr || (!tensor.is_dense() && (version_ == 1 || !tensor.layout.starts_with("alt."))))
      refuse("write.layout", fmt::format("the layout \"{}\" has no place in ALT", escape_name(tensor.layout)));
    if (const auto problem = codec->check(tensor)) refuse(problem->rule, problem->sentence);
    if (tensor.components.size() != 1) refuse("write.layout", "more than one component");
    const Component& only = *tensor.components.begin();
    const bool known =
        only.dtype == DType::f32 || only.dtype == DType::f16 || (version_ == 1 && only.dtype == DType::i8);
    if (tensor.is_dense() && (!known || !only.type.empty()))
      refuse("write.type", fmt::format("the type {} has no place in ALT", only.type_name()));
  }

  const Model& model_;
  std::string_view format_;
  int version_;
  const Capabilities& holds_;
};

}  // namespace

void check_writable(const Model& model, std::string_view format, int version) {
  model.refuse_broken();
  Checker(model, format, version).run();
}

}  // namespace tare::alt
