// What a model lost, as a claim in its metadata.
#include "tare/quality.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "convert/steps/statements.hpp"
#include "run/words.hpp"
#include "tare/inspect.hpp"
#include "tare/open.hpp"
#include "tare/sink.hpp"

namespace tare::run {

static_assert(kQualityPrefix == kQualityKeys);  // the keys that conversions omit

namespace {

// How far a number of a claim may be from what is measured: a part of its distance from that of a model that lost nothing,
// a part of its standard error, and what processors may round differently.
constexpr double kPart = 0.01, kErrorPart = 0.25;

// The numbers of a claim. `most`: what one can be.
struct ClaimedNumber {
  std::string_view key;
  Estimate Quality::*number;
  bool error;  // the key is for its standard error
  double most;
  double lossless;  // the number of a model that lost nothing
  double rounding;
};
constexpr double kAny = HUGE_VAL;
constexpr ClaimedNumber kNumbers[] = {{"kl", &Quality::kl, false, kAny, 0, 1e-8},
                                      {"kl_error", &Quality::kl, true, kAny, 0, 1e-8},
                                      {"kl_99", &Quality::kl_99, false, kAny, 0, 1e-8},
                                      {"kl_99_error", &Quality::kl_99, true, kAny, 0, 1e-8},
                                      {"perplexity_ratio", &Quality::ratio, false, kAny, 1, 1e-5},
                                      {"perplexity_ratio_error", &Quality::ratio, true, kAny, 0, 1e-5},
                                      {"top_1", &Quality::top_1, false, 1, 1, 1e-5},
                                      {"top_1_error", &Quality::top_1, true, 1, 0, 1e-5}};
struct ClaimedText {
  std::string_view key;
  std::string Quality::*text;
};
constexpr ClaimedText kTexts[] = {
    {"source", &Quality::source}, {"text", &Quality::text}, {"tokenizer", &Quality::tokenizer}};
struct ClaimedCount {
  std::string_view key;
  std::uint64_t Quality::*count;
};
constexpr ClaimedCount kCounts[] = {{"tokens", &Quality::tokens}, {"context", &Quality::context}};

std::string key_of(std::string_view name) { return fmt::format("{}{}", kQualityPrefix, name); }

// Containers that hold texts alone have numbers as such.
std::optional<double> number_in(const Value& value) {
  if (const auto* const number = value.get<double>()) return *number;
  if (const auto* const number = value.get<std::int64_t>()) return static_cast<double>(*number);
  if (const auto* const number = value.get<std::uint64_t>()) return static_cast<double>(*number);
  const std::string* const text = value.text();
  if (text == nullptr) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

const Value& value_in(const Map& metadata, std::string_view name) {
  const Value* const found = metadata.find(key_of(name));
  if (found == nullptr)
    throw Error(ErrorKind::corrupt, "quality.value", "a claim about quality has this key; expected it, found none")
        .about(key_of(name))
        .blame(Subject::input);
  return *found;
}

Error no_number(std::string_view name, double most) {
  return Error(ErrorKind::corrupt, "quality.value",
               most == kAny ? std::string("expected a number of at least 0")
                            : fmt::format("expected a number from 0 to {}", most))
      .about(key_of(name))
      .blame(Subject::input);
}

Finding refuted(std::string_view rule, std::string_view key, std::string sentence) {
  Finding finding;
  finding.rule = rule, finding.sentence = std::move(sentence), finding.item = key_of(key);
  return finding;
}

// A file that is read back and never gets its name.
class Draft final : public Sink {
 public:
  explicit Draft(const std::string& path) : file_(create_file(path, {.overwrite = true, .durable = false})) {}

  const std::string& name() const override { return file_->name(); }
  bool positional() const override { return file_->positional(); }
  SourcePtr written() override { return file_->written(); }
  void commit() override { file_->rewind(position()); }

 protected:
  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    file_->rewind(offset);
    file_->write(bytes);
  }
  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override { file_->write_at(offset, bytes); }
  void do_copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) override {
    file_->copy_at(offset, from, from_offset, length);
  }
  void do_skip(std::uint64_t new_end) override { file_->skip(new_end - file_->position()); }

 private:
  std::unique_ptr<Sink> file_;
};

// A claim about something else than what was measured.
std::vector<Finding> other_subject(const Quality& stated, const Quality& found) {
  std::vector<Finding> findings;
  const auto check = [&](std::string_view rule, std::string_view key, const std::string& said, const std::string& is,
                         std::string_view what) {
    if (said != is)
      findings.push_back(
          refuted(rule, key, fmt::format("the claim is about {} {}, this is {}", what, quote(said), is)));
  };
  check("quality.source", "source", stated.source, found.source, "an original with the digest");
  check("quality.text", "text", stated.text, found.text, "a text with the digest");
  // If the text is another one, its tokens differ anyway, and that would not be worth a finding.
  if (findings.empty())
    check("quality.tokenizer", "tokenizer", stated.tokenizer, found.tokenizer, "tokens with the digest");
  return findings;
}

}  // namespace

bool operator==(const Quality& a, const Quality& b) {
  const auto same = [](const Estimate& x, const Estimate& y) { return x.value == y.value && x.error == y.error; };
  return a.source == b.source && a.text == b.text && a.tokenizer == b.tokenizer && a.tokens == b.tokens &&
         a.context == b.context && same(a.kl, b.kl) && same(a.kl_99, b.kl_99) && same(a.ratio, b.ratio) &&
         same(a.top_1, b.top_1);
}

Quality measure_quality(const Model& original, const Model& made, std::string_view text, const Options& options) {
  const Scorer a(original), b(made);
  const Comparison compared = compare(a, b, text, options);
  const Tokenizer* const own = tokenizer_if_any(b);
  const std::vector<std::int32_t> tokens = tokens_of_text(own != nullptr ? *own : a.tokenizer(), text);
  return {.source = content_digest(original, {.threads = options.work.threads}),
          .text = digest_of_text(text),
          .tokenizer = digest_of_tokens(tokens),
          .tokens = compared.tokens,
          .context = compared.a.context,
          .kl = compared.kl,
          .kl_99 = compared.kl_99,
          .ratio = compared.ratio,
          .top_1 = compared.top_1};
}

Quality draft_quality(const Model& original, const std::string& path, SaveOptions how, std::string_view text,
                      const Options& options) {
  Draft draft(path);
  how.write.shard_bytes.reset();
  static_cast<void>(save(original, draft, how));
  return measure_quality(original, open(draft.written()), text, options);
}

std::vector<MetadataEdit> quality_edits(const Quality& quality) {
  std::vector<MetadataEdit> edits;
  const auto set = [&](std::string_view name, Value value) {
    edits.push_back({.kind = MetadataEditKind::set, .key = key_of(name), .value = std::move(value)});
  };
  for (const ClaimedText& one : kTexts) set(one.key, quality.*one.text);
  for (const ClaimedCount& one : kCounts) set(one.key, quality.*one.count);
  for (const ClaimedNumber& one : kNumbers)
    set(one.key, one.error ? (quality.*one.number).error : (quality.*one.number).value);
  return edits;
}

std::optional<Quality> stated_quality(const Map& metadata) {
  bool any = false;
  for (const auto& [key, value] : metadata) any = any || key.starts_with(kQualityPrefix);
  if (!any) return std::nullopt;
  Quality stated;
  for (const ClaimedText& one : kTexts) {
    const std::string* const text = value_in(metadata, one.key).text();
    if (text == nullptr || text->empty())
      throw Error(ErrorKind::corrupt, "quality.value", "expected a digest")
          .about(key_of(one.key))
          .blame(Subject::input);
    stated.*one.text = *text;
  }
  for (const ClaimedCount& one : kCounts) {
    const std::optional<double> number = number_in(value_in(metadata, one.key));
    if (!number || !(*number >= 0) || *number > 0x1p53 || *number != std::floor(*number))
      throw no_number(one.key, kAny);
    stated.*one.count = static_cast<std::uint64_t>(*number);
  }
  for (const ClaimedNumber& one : kNumbers) {
    const std::optional<double> number = number_in(value_in(metadata, one.key));
    if (!number || !std::isfinite(*number) || *number < 0 || *number > one.most) throw no_number(one.key, one.most);
    (one.error ? (stated.*one.number).error : (stated.*one.number).value) = *number;
  }
  return stated;
}

std::string to_text(const Quality& quality) {
  return fmt::format("KL {} ± {}, 99% {}, perplexity x{:.4f}, same best token {:.1f}% ({} tokens)",
                     number_text(quality.kl.value), number_text(quality.kl.error, 2), number_text(quality.kl_99.value),
                     quality.ratio.value, 100 * quality.top_1.value, count_text(quality.tokens));
}

std::vector<Finding> refuted_quality(const Model& original, const Model& made, std::string_view text,
                                     const Options& options) {
  std::optional<Quality> stated;
  try {
    stated = stated_quality(made.metadata);
  } catch (const Error& error) {
    Finding finding;
    finding.rule = error.rule(), finding.sentence = error.sentence(), finding.item = error.item();
    return {finding};
  }
  if (!stated) {
    Finding finding;
    finding.kind = ErrorKind::not_found, finding.rule = "quality.none";
    finding.sentence = "the file makes no claim about its quality";
    return {finding};
  }
  Options asked = options;
  if (asked.context == 0) asked.context = stated->context;
  const Quality found = measure_quality(original, made, text, asked);
  std::vector<Finding> findings = other_subject(*stated, found);
  if (!findings.empty()) return findings;
  if (stated->tokens != found.tokens)
    findings.push_back(
        refuted("quality.claim", "tokens", fmt::format("the claim is {}, measured {}", stated->tokens, found.tokens)));
  for (const ClaimedNumber& one : kNumbers) {
    const Estimate &said = (*stated).*one.number, &is = found.*one.number;
    const double claimed = one.error ? said.error : said.value, measured = one.error ? is.error : is.value;
    // Standard errors have errors themselves, which are not known: more room for them.
    const double room =
        (one.error ? 10 * kPart : kPart) * std::fabs(measured - one.lossless) + kErrorPart * is.error + one.rounding;
    if (!(std::fabs(claimed - measured) <= room))
      findings.push_back(
          refuted("quality.claim", one.key,
                  fmt::format("the claim is {}, measured {}", number_text(claimed, 6), number_text(measured, 6))));
  }
  return findings;
}

}  // namespace tare::run
