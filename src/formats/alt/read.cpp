// Reads version 2. Its two dialects have no flag, so they are recognized by their contents.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/alt/alt.hpp"

namespace tare::alt {
namespace {

class Reader {
 public:
  Reader(const Input& input, Diagnostics& diagnostics) : input_(input), cursor_(input, "alt", diagnostics) {}

  Model read() {
    start();
    general();
    parameters();
    tokenizer_ = read_tokenizer(cursor_, sections_.front(), model_.vocabulary);
    sections_.push_back(tokenizer_.section);
    finish_parameters();
    take_seq_len();
    const std::uint64_t tensors_at = cursor_.at();
    const bool has_tensors = next_is(cursor_, kTensors);
    if (has_tensors) {
      Section tensors = open_section(cursor_, "tensor", kTensors);
      read_tensors(cursor_, input_, 2, model_);
      close_section(cursor_, tensors);
      sections_.push_back(tensors);
    } else if (!next_is(cursor_, kEnd)) {
      cursor_.set_item("tensor section");
      cursor_.fail("section.marker", "neither a tensor section nor the end marker follows the tokenizer", cursor_.at());
    }
    cursor_.set_item({});
    read_end(cursor_, 8);
    check_dialect();
    check_tensor_section(has_tensors, tensors_at);
    model_.version = altc_ ? "2 (altc)" : "2";
    input_.source->check();
    return std::move(model_);
  }

 private:
  void start() {
    cursor_.set_item("start marker");
    const std::uint64_t magic = cursor_.u64("magic");
    if (magic != kMagic2 && magic != kMagic1)
      cursor_.fail("magic", fmt::format("expected {:#x}, found {:#x}", kMagic2, magic), 0);
    if (magic == kMagic1) cursor_.warn("magic.old", fmt::format("the magic is {:#x}, not {:#x}", magic, kMagic2), 0);
    Section section{"start", 0, cursor_.u64("section size"), 0};
    const std::int32_t version = cursor_.i32("magic_version");
    if (version != 2)
      throw cursor_.error(ErrorKind::unsupported, "version", fmt::format("version {} of ALT is not known", version),
                          16);
    section.alignment = alignment();
    close_section(cursor_, section);
    sections_.push_back(section);
  }

  // Reads the alignment of the sections.
  std::uint64_t alignment() {
    const std::int32_t stated = cursor_.i32("magic_alignment");
    if (stated < kLeastAlignment || stated > kMostAlignment || (stated & (stated - 1)) != 0)
      throw cursor_.error(ErrorKind::unsupported, "alignment",
                          fmt::format("expected an alignment that is a power of two from {} to {}, found {}",
                                      kLeastAlignment, kMostAlignment, stated),
                          20);
    cursor_.set_alignment(static_cast<std::uint64_t>(stated));
    if (cursor_.alignment() != kAlignment)
      cursor_.warn("alignment.other", fmt::format("an alignment of {}, {} is usual", stated, kAlignment), 20);
    return cursor_.alignment();
  }

  std::string text(std::string_view what, const Section& section) {
    const std::uint64_t at = cursor_.at();
    std::string found = cursor_.string(what, section.limit());
    if (!is_valid_utf8(found)) cursor_.warn("string.utf8", fmt::format("{} is not UTF-8", what), at);
    return found;
  }

  void general() {
    Section section = open_section(cursor_, "general", kGeneral);
    for (std::size_t i = 0; i < std::size(kGeneralKeys); ++i) {
      general_at_[i] = cursor_.at();
      general_[i] = text(kGeneralKeys[i], section);
    }
    close_section(cursor_, section);
    sections_.push_back(section);
  }

  void parameters() {
    Section section = open_section(cursor_, "parameters", kParameters);
    hidden_act_ = text("hidden_act", section);
    tie_ = cursor_.take<std::uint8_t>("tie_word_embeddings");
    if (tie_ > 1)
      cursor_.complain("parameters.tie", fmt::format("tie_word_embeddings is {}, not 0 or 1", tie_), cursor_.at() - 1);
    read_numbers(cursor_, kFields, kNumbers, model_.config);
    tail_at_ = cursor_.at();
    for (std::uint32_t& word : tail_) word = cursor_.take<std::uint32_t>("parameters");
    close_section(cursor_, section);
    sections_.push_back(section);
  }

  // Called once the dialect is known, because an absent text looks different in each.
  void take_texts() {
    const auto is_there = [&](const std::string& text) { return !text.empty() && !(altc_ && text == kUnknown); };
    if (is_there(general_[0])) model_.config.model_type = general_[0];
    if (is_there(hidden_act_)) model_.config.hidden_act = hidden_act_;
    for (std::size_t i = 1; i < std::size(kGeneralKeys); ++i) {
      if (!is_there(general_[i])) continue;
      model_.metadata.append(std::string(kGeneralKeys[i]), general_[i]);
      const std::string problem = general_problem(kGeneralKeys[i], general_[i], altc_);
      if (problem.empty()) continue;
      cursor_.set_item("general section");
      cursor_.warn(is_date_key(kGeneralKeys[i]) ? "general.date" : "general.uuid", problem, general_at_[i]);
      cursor_.set_item({});
    }
    // A section of zeros is an absent config; its 0 for tie_word_embeddings means nothing.
    const bool says_something = !model_.config.empty() || tie_ != 0 ||
                                std::any_of(tail_.begin(), tail_.end(), [](auto word) { return word != 0; });
    if (says_something) model_.config.tie_word_embeddings = tie_ != 0;
  }

  using Order = std::array<std::string_view, 4>;
  static std::size_t head_size_at(const Order& order) {
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), "head_size") - order.begin());
  }
  std::int32_t head_size_in(const Order& order) const { return static_cast<std::int32_t>(tail_[head_size_at(order)]); }

  // Returns whether the last four numbers can be in this order: the bits of a head size are a small integer, which as a
  // float would be almost 0; those of a float are 0 or not a small integer.
  bool can_be(const Order& order) const {
    constexpr std::uint32_t kMostHeadSize = 1 << 20, kExponent = 0x7F800000;
    const std::size_t head = head_size_at(order);
    for (std::size_t i = 0; i < tail_.size(); ++i)
      if (i == head ? tail_[i] > kMostHeadSize : tail_[i] != 0 && (tail_[i] & kExponent) == 0) return false;
    return true;
  }

  // The last four numbers are in one of two orders. A head_size that follows from the other numbers decides, or else
  // what each number can be. If that decides nothing, files with tokens in alt.c's layout have alt.c's order.
  void finish_parameters() {
    Config& config = model_.config;
    const std::int64_t heads = config.num_attention_heads.value_or(0), hidden = config.hidden_size.value_or(0);
    const std::int64_t usual = heads > 0 && hidden % heads == 0 ? hidden / heads : 0;
    const bool usual_in_spec = usual > 0 && head_size_in(kTail) == usual;
    const bool usual_in_altc = usual > 0 && head_size_in(kAltcTail) == usual;
    const bool by_size = usual_in_spec != usual_in_altc, by_kind = can_be(kTail) != can_be(kAltcTail);
    parameters_altc_ = by_size ? usual_in_altc : by_kind ? can_be(kAltcTail) : tokenizer_.layout.altc;
    altc_ = tokenizer_.layout.altc && parameters_altc_;
    take_texts();

    const Order& order = parameters_altc_ ? kAltcTail : kTail;
    const std::uint64_t at = tail_at_ + 4 * head_size_at(order);
    const std::int32_t head_size = head_size_in(order);
    cursor_.set_item("parameters section");
    // Many models have a head size that does not follow from the other numbers: warn only if it may be another field.
    const bool is_sure = (by_size || by_kind) && head_size > 0;
    if (head_size != usual && !is_sure && cursor_.diagnostics().thorough())
      warn_head_size(head_size, usual, by_size || by_kind, at);
    for (std::size_t i = 0; i < order.size(); ++i)
      set_parameter(cursor_, kFields, order[i], tail_[i], tail_at_ + 4 * i, config);
    cursor_.set_item({});
  }

  // seq_len normally repeats max_position_embeddings. If it differs, it is kept.
  void take_seq_len() {
    const std::int32_t seq_len = tokenizer_.seq_len;
    std::optional<std::int64_t>& positions = model_.config.max_position_embeddings;
    if (seq_len <= 0) return;
    if (!positions) positions = seq_len;
    if (*positions != seq_len) model_.metadata.append(std::string(kSeqLenKey), std::to_string(seq_len));
  }

  void warn_head_size(std::int32_t head_size, std::int64_t usual, bool order_is_stated, std::uint64_t at) const {
    std::string sentence = fmt::format("head_size is {}", head_size);
    sentence += usual > 0 ? fmt::format(", hidden_size / num_attention_heads is {}", usual)
                          : " and does not follow from hidden_size and num_attention_heads";
    if (!order_is_stated)
      sentence += fmt::format(": that the last four numbers are in the order of {} is a guess",
                              parameters_altc_ ? "alt.c" : "the document");
    cursor_.warn("parameters.head_size", sentence, at);
  }

  // ---- dialect

  void check_dialect() {
    for (const Section& section : sections_) check_size(section);
    if (altc_)
      cursor_.note("dialect.altc", "the dialect of alt.c", 0);
    else if (tokenizer_.layout.altc)
      warn_mixed(tokenizer_.section);
    else if (parameters_altc_)
      warn_mixed(sections_[2]);
    if (!tokenizer_.layout.altc) check_seq_len();
  }

  // Files that alt.c writes have no tensor section; files that follow the document always have one.
  void check_tensor_section(bool there, std::uint64_t at) const {
    if (altc_ && there)
      cursor_.warn("dialect.tensors", "a tensor section in a file that is otherwise of the dialect of alt.c", at);
    else if (altc_)
      cursor_.note("tensors.none", "no tensor section, as alt.c has it: a tokenizer only", at);
    else if (!there)
      cursor_.warn("tensors.none", "no tensor section", at);
  }

  void check_size(const Section& section) {
    const bool alt_c_tokens = section.name == "tokenizer" && tokenizer_.layout.altc;
    const std::uint64_t alt_c_size =
        alt_c_tokens ? altc_size(section, model_.vocabulary.tokens.size()) : section.size_in(SizeForm::fields);
    cursor_.set_item(fmt::format("{} section", section.name));
    if (alt_c_tokens && !altc_ && section.size == alt_c_size)
      cursor_.warn("section.size_form", "the size of the tokenizer section counts as alt.c does", section.begin + 8);
    else
      alt::check_size(cursor_, section, altc_ ? alt_c_size : section.size_in(SizeForm::all));
    cursor_.set_item({});
  }

  void warn_mixed(const Section& section) const {
    cursor_.warn("dialect.mixed",
                 fmt::format("the {} section is laid out as alt.c does, the rest is not", section.name), section.begin);
  }

  void check_seq_len() const {
    const std::uint64_t at = tokenizer_.section.begin + kHeader + 20;
    const std::int64_t positions = model_.config.max_position_embeddings.value_or(0);
    if (!tokenizer_.layout.seq_len)
      cursor_.warn("tokenizer.seq_len", "the tokenizer section has no seq_len", at);
    else if (tokenizer_.seq_len < 0)
      cursor_.warn("parameters.negative", fmt::format("seq_len is {}: taken as absent", tokenizer_.seq_len), at);
    else if (tokenizer_.seq_len > 0 && tokenizer_.seq_len != positions)
      cursor_.note("tokenizer.seq_len_differs",
                   fmt::format("seq_len is {}, max_position_embeddings {}: the former is kept as the metadata key {}",
                               tokenizer_.seq_len, positions, kSeqLenKey),
                   at);
  }

  const Input& input_;
  Cursor cursor_;
  Model model_;
  std::vector<Section> sections_;
  std::array<std::string, std::size(kGeneralKeys)> general_;
  std::array<std::uint64_t, std::size(kGeneralKeys)> general_at_{};
  std::string hidden_act_;
  std::uint8_t tie_ = 0;
  std::array<std::uint32_t, 4> tail_{};  // the numbers after sliding_window
  std::uint64_t tail_at_ = 0;
  Tokenizer tokenizer_;
  bool parameters_altc_ = false, altc_ = false;
};

}  // namespace

Model read_v2(const Input& input, const ReadOptions& options) {
  Diagnostics throwing;
  return Reader(input, options.diagnostics == nullptr ? throwing : *options.diagnostics).read();
}

}  // namespace tare::alt
