// Checks before the first byte is written: numbers that must fit 32 bits, names, layouts and types.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/glob.hpp"
#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/alt/alt.hpp"
#include "formats/fits.hpp"
#include "formats/rows.hpp"
#include "tare/codec.hpp"

namespace tare::alt {
namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::int32_t>::max();

class Checker {
 public:
  Checker(const Model& model, std::string_view format) : model_(model), format_(format) {}

  void run() const {
    for (const ConfigField& field : config_fields()) check_field(field);
    check_vocabulary();
    check_metadata();
    for (const Tensor& tensor : model_.tensors) check_tensor(tensor);
    if (model_.tensors.size() > kMost32)
      throw limit(fmt::format("{} tensors, {} is the most", model_.tensors.size(), kMost32)).remedy(Remedy::match);
  }

 private:
  Error error(std::string_view rule, std::string_view sentence) const {
    return {ErrorKind::unsupported, fmt::format("{}.{}", format_, rule), sentence};
  }

  Error limit(std::string_view sentence) const { return error("write.limit", sentence); }
  Error config_limit(std::string_view sentence) const {
    return limit(sentence).about("config").remedy(Remedy::drop, "config");
  }
  Error vocabulary_limit(std::string_view sentence) const {
    return limit(sentence).about("vocabulary").remedy(Remedy::drop, "vocabulary");
  }

  void check_metadata() const {
    for (const auto& [key, value] : model_.metadata) {
      if (value.text()->size() > kMost32)
        throw error("write.metadata",
                    fmt::format("the metadata key {} is not text of at most {} bytes", quote(key), kMost32));
    }
    if (!stated_seq_len(model_))
      throw error("write.seq_len", fmt::format("the metadata key {} is \"{}\", not a number from 1 to {}", kSeqLenKey,
                                               quote(*model_.metadata.find(kSeqLenKey)->text()), kMost32))
          .remedy(Remedy::set, fmt::format("{}=\"N\"", kSeqLenKey));
  }

  void check_field(const ConfigField& field) const {
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
    for (const Token& token : v.tokens)
      if (token.text.size() > kMost32)
        throw vocabulary_limit(fmt::format("a token has {} bytes, {} is the most", token.text.size(), kMost32));
  }

  void check_tensor(const Tensor& tensor) const {
    const auto refuse = [&](std::string_view rule, std::string_view sentence) {
      throw error(rule, sentence).about("tensor " + quote(tensor.name));
    };
    if (tensor.name.empty() || !is_valid_utf8(tensor.name)) refuse("write.name", "the name is empty or not UTF-8");
    const auto too_much = [&](std::string_view sentence) {
      throw limit(sentence).about("tensor " + quote(tensor.name)).remedy(Remedy::skip, escape_glob(tensor.name));
    };
    if (tensor.name.size() > kMost32)
      too_much(fmt::format("a name of {} bytes, {} is the most", tensor.name.size(), kMost32));
    if (tensor.shape.size() > kMostDimensions)
      too_much(fmt::format("{} dimensions, {} is the most", tensor.shape.size(), kMostDimensions));
    for (const std::uint64_t dimension : tensor.shape)
      if (dimension > kMost32) too_much(fmt::format("a dimension of {}, {} is the most", dimension, kMost32));
    if (tensor.components.size() != 1) refuse("write.layout", "more than one component");
  }

  const Model& model_;
  std::string_view format_;
};

}  // namespace

void check_writable(const Model& model, const Format& format) {
  require_fit(model, format);
  Checker(model, format.name).run();
}

}  // namespace tare::alt
