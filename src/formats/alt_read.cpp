// Reading version 2: two dialects, told apart by what they say rather than by a flag, since there is none.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/alt.hpp"

namespace tare::alt {
namespace {

constexpr std::string_view kGeneralKeys[] = {"base_model", "author", "created_at", "last_modified", "license", "uuid"};

// How a tokenizer section is laid out.
struct TokenLayout {
  bool altc = false;    // score, type, id, length, bytes; else length, bytes, score, type
  bool seq_len = true;  // a sixth number before the tokens
};
constexpr TokenLayout kSpecLayout{false, true}, kNoSeqLen{false, false}, kAltcLayout{true, false};

// The four numbers behind sliding_window, as they stand in the file.
struct Tail {
  std::array<std::int32_t, 4> words{};
  float as_float(std::size_t i) const { return std::bit_cast<float>(words[i]); }
};

class Reader {
 public:
  Reader(const Input& input, Diagnostics& diagnostics) : input_(input), cursor_(input, "alt", diagnostics) {}

  Model read() {
    start();
    general();
    parameters();
    tokenizer();
    finish_parameters();
    Section tensors{};
    // A file of alt.c's own has no tensors.
    const bool has_tensors = next_is(kTensors);
    if (has_tensors) {
      tensors = open_section(cursor_, "tensor", kTensors);
      read_tensors(cursor_, input_, 2, model_);
      close_section(cursor_, tensors);
      sections_.push_back(tensors);
    } else if (!next_is(kEnd)) {
      cursor_.set_item("tensor section");
      cursor_.fail("section.marker", "neither a tensor section nor the end marker follows the tokenizer", cursor_.at());
    }
    cursor_.set_item({});
    read_end(cursor_, 8);
    check_dialect(has_tensors);
    model_.version = altc_ ? "2 (altc)" : "2";
    input_.source->check();
    return std::move(model_);
  }

 private:
  bool next_is(std::uint64_t marker) {
    if (cursor_.left() < 4) return false;
    const std::uint64_t at = cursor_.at();
    const auto low = cursor_.take<std::uint32_t>("section marker");
    cursor_.go(at);
    return low == marker;
  }

  void start() {
    cursor_.set_item("start marker");
    const std::uint64_t magic = cursor_.u64("magic");
    if (magic != kMagic2 && magic != kMagic1)
      cursor_.fail("magic", fmt::format("{:#x} was expected, found {:#x}", kMagic2, magic), 0);
    if (magic == kMagic1) cursor_.warn("magic.old", fmt::format("the magic is {:#x}, not {:#x}", magic, kMagic2), 0);
    Section section{"start", 0, cursor_.u64("section size"), 0};
    const std::int32_t version = cursor_.i32("magic_version");
    if (version != 2)
      throw cursor_.error(ErrorKind::unsupported, "version", fmt::format("version {} of ALT is not known", version),
                          16);
    const std::int32_t alignment = cursor_.i32("magic_alignment");
    if (alignment != static_cast<std::int32_t>(kAlignment))
      throw cursor_.error(ErrorKind::unsupported, "alignment",
                          fmt::format("an alignment of {}, {} was expected", alignment, kAlignment), 20);
    close_section(cursor_, section);
    sections_.push_back(section);
  }

  std::string text(std::string_view what, const Section& section) {
    const std::uint64_t at = cursor_.at();
    std::string found = cursor_.string(what, section.limit());
    if (!is_valid_utf8(found)) cursor_.warn("string.utf8", fmt::format("{} is not UTF-8", what), at);
    return found;
  }

  void general() {
    Section section = open_section(cursor_, "general", kGeneral);
    if (std::string type = text("model_type", section); !type.empty()) model_.config.model_type = std::move(type);
    for (const std::string_view key : kGeneralKeys)
      if (std::string found = text(key, section); !found.empty()) model_.metadata.append(std::string(key), found);
    close_section(cursor_, section);
    sections_.push_back(section);
  }

  void count(std::optional<std::int64_t>& field, std::string_view name, std::int32_t value, std::uint64_t at) {
    if (value < 0) cursor_.warn("parameters.negative", fmt::format("{} is {}: taken as absent", name, value), at);
    if (value > 0) field = value;
  }
  void count(std::optional<std::int64_t>& field, std::string_view name) {
    const std::uint64_t at = cursor_.at();
    count(field, name, cursor_.i32(name), at);
  }

  void parameters() {
    Section section = open_section(cursor_, "parameters", kParameters);
    Config& config = model_.config;
    if (std::string act = text("hidden_act", section); !act.empty()) config.hidden_act = std::move(act);
    const auto tie = cursor_.take<std::uint8_t>("tie_word_embeddings");
    if (tie > 1)
      cursor_.complain("parameters.tie", fmt::format("tie_word_embeddings is {}, not 0 or 1", tie), cursor_.at() - 1);
    count(config.hidden_size, "hidden_size");
    count(config.intermediate_size, "intermediate_size");
    count(config.max_position_embeddings, "max_position_embeddings");
    count(config.num_attention_heads, "num_attention_heads");
    count(config.num_hidden_layers, "num_hidden_layers");
    count(config.num_key_value_heads, "num_key_value_heads");
    count(config.sliding_window, "sliding_window");
    tail_at_ = cursor_.at();
    for (std::int32_t& word : tail_.words) word = cursor_.i32("parameters");
    // A section of zeros says nothing, and a byte of 0 in it not even that embeddings are not tied.
    const bool says_something = !config.empty() || tie != 0 ||
                                std::any_of(tail_.words.begin(), tail_.words.end(), [](auto w) { return w != 0; });
    if (says_something) config.tie_word_embeddings = tie != 0;
    close_section(cursor_, section);
    sections_.push_back(section);
  }

  // The last four numbers are in one of two orders; head_size tells which.
  void finish_parameters() {
    Config& config = model_.config;
    const std::int64_t heads = config.num_attention_heads.value_or(0), hidden = config.hidden_size.value_or(0);
    const std::int64_t head_size = heads > 0 && hidden % heads == 0 ? hidden / heads : 0;
    const bool spec = tail_.words[3] == head_size, altc = tail_.words[0] == head_size;
    parameters_altc_ = altc && (!spec || tokenizer_.altc);
    parameters_clear_ = spec != altc;
    if (!spec && !altc) {
      cursor_.set_item("parameters section");
      cursor_.warn("parameters.head_size",
                   fmt::format("head_size is not hidden_size / num_attention_heads = {} in either order", head_size),
                   tail_at_);
      cursor_.set_item({});
    }
    const auto real = [&](std::optional<double>& field, std::size_t i) {
      if (tail_.as_float(i) != 0) field = decimal_double(tail_.as_float(i));
    };
    cursor_.set_item("parameters section");
    count(config.head_dim, "head_size", tail_.words[parameters_altc_ ? 0 : 3], tail_at_);
    cursor_.set_item({});
    real(config.rope_theta, parameters_altc_ ? 2 : 0);
    real(config.rms_norm_eps, 1);
    real(config.initializer_range, parameters_altc_ ? 3 : 2);
    if (seq_len_ > 0 && !config.max_position_embeddings) config.max_position_embeddings = seq_len_;
  }

  // ---- tokenizer

  static std::uint64_t least_record(const TokenLayout& layout) { return layout.altc ? 16 : 12; }

  // Whether the section parses in this layout up to a marker on the next boundary. Reports nothing.
  bool fits_layout(const Section& section, const TokenLayout& layout) {
    const std::uint64_t fields = section.begin + kHeader;
    bool fits = false;
    try {
      cursor_.go(fields);
      const std::int32_t size = cursor_.i32("vocab_size");
      cursor_.bytes(layout.seq_len ? 20 : 16, "ids");
      fits = size >= 0 && static_cast<std::uint64_t>(size) <= cursor_.left() / least_record(layout);
      for (std::int32_t id = 0; fits && id < size; ++id) fits = skip_token(layout, id);
      const std::uint64_t end = cursor_.at();
      const std::uint64_t next = (end + kAlignment - 1) / kAlignment * kAlignment;
      if (fits) {
        const auto zeros = cursor_.bytes(next - end, "padding");
        fits = std::all_of(zeros.begin(), zeros.end(), [](std::byte b) { return b == std::byte{0}; }) &&
               (next_is(kTensors) || next_is(kEnd));
      }
      // Without tokens only the size tells whether a sixth number, 0 like the padding, is there.
      if (fits && size == 0 && layout.seq_len)
        fits = section.size != Section{{}, section.begin, 0, fields + 20}.size_in(SizeForm::fields) &&
               section.size != Section{{}, section.begin, 0, fields + 20}.size_in(SizeForm::fields_and_header);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      fits = false;
    }
    cursor_.go(fields);
    return fits;
  }

  bool skip_token(const TokenLayout& layout, std::int32_t id) {
    if (layout.altc) {
      cursor_.f32("score");
      const std::int32_t type = cursor_.i32("type");
      if (type < 0 || type > 8 || cursor_.i32("id") != id) return false;
    }
    const std::int32_t length = cursor_.i32("length");
    if (length < 0 || static_cast<std::uint64_t>(length) > cursor_.left()) return false;
    cursor_.go(cursor_.at() + static_cast<std::uint64_t>(length));
    if (layout.altc) return true;
    cursor_.f32("score");
    const std::int32_t type = cursor_.i32("type");
    return type >= 0 && type <= 8;
  }

  void tokenizer() {
    Section section = open_section(cursor_, "tokenizer", kTokenizer);
    const bool altc_first = sections_.front().size == sections_.front().size_in(SizeForm::fields);
    const TokenLayout layouts[] = {altc_first ? kAltcLayout : kSpecLayout, kNoSeqLen,
                                   altc_first ? kSpecLayout : kAltcLayout};
    tokenizer_ = layouts[0];  // when none fits: the one whose errors are told
    for (const TokenLayout& layout : layouts)
      if (fits_layout(section, layout)) {
        tokenizer_ = layout;
        break;
      }
    read_vocabulary();
    close_section(cursor_, section);
    sections_.push_back(section);
  }

  void read_vocabulary() {
    Vocabulary& vocabulary = model_.vocabulary;
    const std::uint64_t start = cursor_.at();
    const std::int32_t size = cursor_.i32("vocab_size");
    const std::uint64_t numbers = tokenizer_.seq_len ? 20 : 16;
    const std::uint64_t room = cursor_.left() < numbers ? 0 : (cursor_.left() - numbers) / least_record(tokenizer_);
    if (size < 0 || static_cast<std::uint64_t>(size) > room)
      cursor_.fail("tokenizer.vocab_size", fmt::format("vocab_size is {}, there is room for {} tokens", size, room),
                   start);
    for (std::int64_t Vocabulary::*const id :
         {&Vocabulary::bos, &Vocabulary::eos, &Vocabulary::pad, &Vocabulary::unk}) {
      const std::uint64_t at = cursor_.at();
      vocabulary.*id = cursor_.i32("special id");
      if (vocabulary.*id < -1 || vocabulary.*id >= size)
        cursor_.warn("tokenizer.id", fmt::format("a special id is {}, there are {} tokens", vocabulary.*id, size), at);
    }
    if (tokenizer_.seq_len) seq_len_ = cursor_.i32("seq_len");
    for (std::int32_t id = 0; id < size; ++id) vocabulary.tokens.push_back(read_token(id));
  }

  Token read_token(std::int32_t id) {
    cursor_.set_item(fmt::format("token {}", id));
    const std::uint64_t start = cursor_.at();
    Token token;
    std::int32_t type = 0;
    if (tokenizer_.altc) {
      token.score = cursor_.f32("score");
      type = cursor_.i32("type");
      if (const std::int32_t found = cursor_.i32("id"); found != id)
        cursor_.complain("token.id", fmt::format("tokens stand in the order of their ids, this one is {}", found),
                         start + 8);
      token.text = cursor_.string("token", cursor_.size());
    } else {
      token.text = cursor_.string("token", cursor_.size());
      token.score = cursor_.f32("score");
      type = cursor_.i32("type");
    }
    if (type < 0 || type > 8)
      cursor_.complain("token.type", fmt::format("the type {} is not known", type), start), type = 0;
    token.type = token_type(type, tokenizer_.altc);
    cursor_.set_item("tokenizer section");
    return token;
  }

  // ---- dialect

  // alt.c counts 12 bytes and the text for a token of 16 bytes and the text.
  std::uint64_t altc_tokenizer_size() const {
    std::uint64_t size = 20;
    for (const Token& token : model_.vocabulary.tokens) size += 12 + token.text.size();
    return size;
  }

  void check_dialect(bool has_tensors) {
    // A file whose parameters or tokenizer are clearly of the one and the rest could be of either is of that one.
    altc_ = tokenizer_.altc && (parameters_altc_ || !parameters_clear_);
    for (const Section& section : sections_) {
      cursor_.set_item(fmt::format("{} section", section.name));
      if (section.name == "tokenizer" && tokenizer_.altc && section.size == altc_tokenizer_size()) {
        if (!altc_)
          cursor_.warn("section.size_form", "the size of the tokenizer section counts as alt.c does",
                       section.begin + 8);
        continue;
      }
      check_size(cursor_, section, altc_ ? SizeForm::fields : SizeForm::all);
    }
    cursor_.set_item({});
    if (altc_)
      cursor_.note("dialect.altc", "the dialect of alt.c", 0);
    else if (tokenizer_.altc || parameters_altc_)
      cursor_.warn("dialect.mixed",
                   fmt::format("the {} is laid out as alt.c does, the rest is not",
                               tokenizer_.altc ? "tokenizer section" : "parameters section"),
                   0);
    if (!tokenizer_.altc && !tokenizer_.seq_len)
      cursor_.warn("tokenizer.seq_len", "the tokenizer section has no seq_len", 0);
    else if (seq_len_ > 0 && seq_len_ != model_.config.max_position_embeddings.value_or(0))
      cursor_.note("tokenizer.seq_len_differs",
                   fmt::format("seq_len is {}, max_position_embeddings {}: the model keeps the latter", seq_len_,
                               model_.config.max_position_embeddings.value_or(0)),
                   0);
    if (!has_tensors) cursor_.note("tensors.none", "no tensor section: a tokenizer only", 0);
  }

  const Input& input_;
  Cursor cursor_;
  Model model_;
  std::vector<Section> sections_;
  Tail tail_;
  std::uint64_t tail_at_ = 0;
  TokenLayout tokenizer_;
  std::int32_t seq_len_ = 0;
  bool parameters_altc_ = false, parameters_clear_ = false, altc_ = false;
};

}  // namespace

Model read_v2(const Input& input, const ReadOptions& options) {
  Diagnostics throwing;
  return Reader(input, options.diagnostics == nullptr ? throwing : *options.diagnostics).read();
}

}  // namespace tare::alt
