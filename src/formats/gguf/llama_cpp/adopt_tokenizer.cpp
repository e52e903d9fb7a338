// Converts the tokenizer for llama.cpp: its kind, special tokens, how text is split, and the chat template.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/budget.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "resources/byte_alphabet.hpp"
#include "resources/json_file.hpp"
#include "resources/piece_merges.hpp"
#include "resources/resources.hpp"

namespace tare::gguf::llama_cpp {
namespace {

constexpr std::string_view kPreKey = kPreTokenizerKey, kBlankKey = "tokenizer.ggml.add_space_prefix";
constexpr std::string_view kTemplateFolder = "additional_chat_templates/", kTemplateSuffix = ".jinja";

std::optional<std::string> text_of(const Model& model, std::string_view name) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return std::nullopt;
  const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
  return std::string(as_text(bytes));
}

// Parses an attached file; returns nothing if the model has none or it cannot be parsed.
template <typename Parse>
auto parsed(const Model& model, std::string_view name, const Parse& parse)
    -> std::optional<decltype(parse(std::string_view()))> {
  const auto text = text_of(model, name);
  if (!text) return std::nullopt;
  try {
    return parse(*text);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return std::nullopt;
  }
}

// Many models do not mark all of their special tokens as such (DeepSeek Coder, Command R, Gemma); llama.cpp's converter
// knows these by their texts.
bool looks_special(std::string_view text) {
  const auto is_between = [&](std::string_view begin, std::string_view end) {
    return text.starts_with(begin) && text.ends_with(end);
  };
  return text == "<pad>" || text == "<mask>" || text == "<2mass>" || text == "[@BOS@]" || is_between("<|", "|>") ||
         is_between("<\uFF5C", "\uFF5C>") || is_between("<unused", ">");
}

class TokenizerAdopter {
 public:
  TokenizerAdopter(Model& model, const arch::Family& family, std::vector<Change>& changes)
      : model_(model), family_(family), changes_(changes), vocabulary_(model.vocabulary) {}

  void run() {
    if (vocabulary_.tokens.empty()) return;
    rules_ = parsed(model_, "tokenizer.json", resources::parse_tokenizer_rules);
    settings_ = parsed(model_, "tokenizer_config.json",
                       [](std::string_view text) { return resources::parse_small_json(text); });
    for (const char* const name : {"tokenizer.model", "spiece.model"})
      if (!pieces_) pieces_ = parsed(model_, name, resources::parse_piece_rules);
    if (const std::string asked = asked_model(); asked.empty())
      infer_kind();
    else
      take_kind(kind_of_model(asked), asked);
    const bool stated = model_.metadata.find(kBlankKey) != nullptr;
    choose_kind();
    if (!stated) report_assumed_rules();
    mark_control_tokens();
    if (vocabulary_.kind == "spm" || vocabulary_.kind == "unigram") spell_user_defined();
    pad();
    add_roles();
    add_frame();
    add_template();
    report_normalizers();
  }

 private:
  bool is_byte_level() const {
    if (rules_) return rules_->byte_level;
    // Pieces of any other kind spell blanks as U+2581.
    return vocabulary_.kind == "bpe" && (model_.attachment("vocab.json") != nullptr ||
                                         resources::is_byte_level(vocabulary_) || !resources::has_blanks(vocabulary_));
  }

  // The kind that the metadata states, most often because the user set it; empty if it states none.
  std::string asked_model() const {
    const Value* const value = model_.metadata.find(kTokenizerModel);
    return value == nullptr || value->text() == nullptr ? std::string() : *value->text();
  }

  bool is_scored() const {
    return std::ranges::any_of(vocabulary_.tokens, [](const Token& token) { return token.score != 0; });
  }

  // llama.cpp finds merges by the spelling of the tokens, which is that of the byte-level alphabet. One character outside
  // of it shows that the merges are plain text.
  void spell_merges() {
    const auto parts = [](const std::string& merge) {
      const std::size_t blank = merge.find(' ', 1);
      return blank == merge.npos ? std::pair(merge, std::string())
                                 : std::pair(merge.substr(0, blank), merge.substr(blank + 1));
    };
    const auto is_spelled = [&](const std::string& merge) {
      const auto [left, right] = parts(merge);
      return resources::from_byte_alphabet(left) && resources::from_byte_alphabet(right);
    };
    if (std::ranges::all_of(vocabulary_.merges, is_spelled)) return;
    for (std::string& merge : vocabulary_.merges) {
      const auto [left, right] = parts(merge);
      merge = fmt::format("{} {}", resources::to_byte_alphabet(left), resources::to_byte_alphabet(right));
    }
  }

  void make_merges_of_ranks() {
    vocabulary_.merges = resources::byte_merges_of_ranked(vocabulary_);
    for (Token& token : vocabulary_.tokens) token.score = 0;
  }

  // The kind is stated, so nothing else decides it. `kind`: empty for one that only other programs have.
  void take_kind(std::string_view kind, std::string_view model) {
    if (vocabulary_.kind.empty()) resources::infer_types(vocabulary_);
    asked_ = !kind.empty();
    if (!asked_) return;
    model_.metadata.erase(kTokenizerModel);  // the vocabulary has it
    if (vocabulary_.kind == kind) return;
    const auto require = [&](bool there, std::string_view parts) {
      if (there) return;
      throw Error(ErrorKind::unsupported, "convert.tokenizer_kind",
                  fmt::format("a tokenizer of the kind \"{}\" ({}={}) needs {}, and the vocabulary has none", model,
                              kTokenizerModel, model, parts))
          .remedy(Remedy::drop, name_of(ModelPart::vocabulary));
    };
    if (kind == "bpe") {
      if (vocabulary_.merges.empty() && resources::is_ranked(vocabulary_)) make_merges_of_ranks();
      require(!vocabulary_.merges.empty(), "merges");
      spell_merges();
    } else if (kind == "spm" || kind == "unigram") {
      if (!is_scored()) resources::rank_by_merges(vocabulary_);
      require(is_scored(), "scores");
      vocabulary_.merges.clear();
    }
    vocabulary_.kind = kind;
  }

  // Some containers have no field for the kind: it is decided by the tokens then.
  void infer_kind() {
    if (!vocabulary_.kind.empty()) return;
    resources::infer_types(vocabulary_);
    const bool ranked = resources::is_ranked(vocabulary_), blanks = resources::has_blanks(vocabulary_);
    const bool scored = is_scored();
    const bool bytes = rules_ ? rules_->byte_level : resources::is_byte_level(vocabulary_) || !blanks;
    if (pieces_) {
      vocabulary_.kind = "spm";
    } else if (bytes && (ranked || !vocabulary_.merges.empty())) {
      vocabulary_.kind = "bpe";
      if (vocabulary_.merges.empty()) make_merges_of_ranks();
    } else if (blanks && (scored || !vocabulary_.merges.empty())) {
      vocabulary_.kind = !vocabulary_.merges.empty() ? "bpe" : ranked ? "spm" : "unigram";
    } else {
      changes_.push_back(
          {.kind = ChangeKind::remark,
           .impact = Impact::results,
           .part = "vocabulary",
           .detail = "the kind of its tokenizer is not known, and nothing in its tokens shows it: llama.cpp "
                     "does not load this file without a tokenizer.ggml.model, which is llama, gpt2, t5 or bert",
           .remedies = {{Remedy::set, "tokenizer.ggml.model=KIND"}}});
    }
  }

  void choose_kind() {
    if (vocabulary_.kind == "bpe" && (asked_ || is_byte_level())) return set_pre();
    const bool pieces = vocabulary_.kind == "spm" || vocabulary_.kind == "unigram" || vocabulary_.kind == "bpe";
    if (vocabulary_.kind == "wordlevel")
      report(fmt::format("llama.cpp has no tokenizer of the kind \"{}\", and does not load such a model",
                         quote(vocabulary_.kind)));
    if (!pieces) return;
    set(kPreKey, "default");
    if (asked_ && vocabulary_.kind == "unigram") return choose_unigram();
    const bool likely = vocabulary_.kind == "unigram" || (vocabulary_.kind == "spm" && pieces_ && pieces_->unigram);
    const bool unsaid = !pieces_ && !rules_ && std::ranges::any_of(vocabulary_.tokens, [](const Token& token) {
      return token.type == TokenType::byte;
    });
    const bool bytes = unsaid || (pieces_ && pieces_->byte_fallback) || (rules_ && rules_->byte_fallback);
    if (likely && !bytes && !asked_) return choose_unigram();
    // llama.cpp's T5 tokenizer would map each line break to the unknown token; splitting a few texts differently is the
    // lesser harm.
    if (likely) report("it chooses the likeliest pieces, and llama.cpp puts them together by their scores");
    // llama.cpp joins the pieces by scores, not by merges.
    if (vocabulary_.kind == "bpe" && resources::rank_by_merges(vocabulary_)) vocabulary_.merges.clear();
    vocabulary_.kind = "spm";
    if (!adds_blank()) set(kBlankKey, false);
  }

  // Unigram tokenizers without byte fallback map to llama.cpp's T5 tokenizer.
  void choose_unigram() {
    vocabulary_.kind = "unigram";
    set(kBlankKey, adds_blank());
    if (pieces_) {
      set("tokenizer.ggml.remove_extra_whitespaces", pieces_->joins_blanks);
      const std::string& table = pieces_->characters;
      if (!table.empty()) set("tokenizer.ggml.precompiled_charsmap", to_bytes(table));
    }
  }

  // tokenizer.json takes precedence over the files that it was made from.
  bool adds_blank() const {
    if (family_.runtime.adds_no_blank) return false;
    if (rules_) return rules_->adds_blank.value_or(false);
    const bool* const said = settings_ ? resources::get<bool>(*settings_, "add_prefix_space") : nullptr;
    return said != nullptr ? *said : !pieces_ || pieces_->adds_blank;
  }

  void report(std::string detail) {
    changes_.push_back({.kind = ChangeKind::remark,
                        .impact = Impact::results,
                        .part = rules_ ? "tokenizer.json" : "tokenizer.model",
                        .detail = std::move(detail)});
  }

  // Without the files of a tokenizer, llama.cpp's defaults for the kind decide. The byte-level kind is reported with its
  // pre-tokenizer, an unknown kind where it is inferred.
  void report_assumed_rules() {
    if (rules_ || pieces_ || asked_ || model_.attachment("vocab.txt") != nullptr) return;
    const std::string_view model = model_of_kind(vocabulary_.kind);
    if (model.empty() || vocabulary_.kind == "bpe") return;
    changes_.push_back({.kind = ChangeKind::remark,
                        .impact = Impact::results,
                        .part = "vocabulary",
                        .detail = fmt::format("how it splits text, and what it puts around it, is unknown without "
                                              "tokenizer.json; the rules of llama.cpp's \"{}\" are assumed",
                                              model)});
  }

  // Reports how a text is normalized before it is tokenized: llama.cpp does not do this, except with T5's table.
  void report_normalizers() {
    const bool unigram = vocabulary_.kind == "unigram";
    if (rules_) {
      std::vector<std::string> steps = rules_->normalizers;
      if (unigram && pieces_) std::erase(steps, "Precompiled");
      if (!steps.empty() && vocabulary_.kind != "wordpiece")
        report(fmt::format("llama.cpp does not do to a text what its normalizers do: {}",
                           quote(fmt::format("{}", fmt::join(steps, ", ")))));
      if (rules_->adds_byte_blank) report("it puts a blank before a text, and llama.cpp does not");
      if (unigram || vocabulary_.kind == "spm") report_pieces();
      // Several blanks become one in llama.cpp, too, if the key asks for it.
      if ((unigram && !(pieces_ && pieces_->joins_blanks)) || vocabulary_.kind == "spm") report_blank();
      if (vocabulary_.kind == "bpe" && (rules_->spells_blanks || rules_->adds_blank))
        report("it spells blanks as pieces do, and llama.cpp as bytes");
      report_decoders();
    } else if (pieces_ && !unigram && (!pieces_->characters.empty() || pieces_->joins_blanks)) {
      report(pieces_->characters.empty() ? "it makes one blank of several, and llama.cpp does not"
                                         : "it rewrites characters (NFKC or the like), and llama.cpp does not");
    }
  }

  // Reports what llama.cpp does not do when it makes text of tokens.
  void report_decoders() {
    const auto note = [&](std::string_view detail) {
      changes_.push_back({.kind = ChangeKind::remark,
                          .impact = Impact::note,
                          .part = "tokenizer.json",
                          .detail = std::string(detail)});
    };
    const auto has = [&](std::string_view type) {
      return std::ranges::find(rules_->decoders, type) != rules_->decoders.end();
    };
    if (vocabulary_.kind == "wordlevel") return;  // choose_kind reports it
    if (vocabulary_.kind == "wordpiece" ? !has("WordPiece")
        : vocabulary_.kind == "bpe"     ? !has("ByteLevel")
                                        : !has("Metaspace") && !has("Replace"))
      note("when tokens become text, it does not undo how they are spelled, and llama.cpp does");
    else if ((vocabulary_.kind == "spm" || vocabulary_.kind == "unigram") && rules_->strips_blank != adds_blank())
      note(rules_->strips_blank
               ? "when tokens become text, it removes a blank at the beginning, and llama.cpp does not"
               : "when tokens become text, it keeps the blank at the beginning, and llama.cpp does not");
  }

  void report_blank() {
    if (!adds_blank()) return;
    if (rules_->first_blank_only)
      report("it puts a blank only before a text, and llama.cpp also after each special token in it");
    if (!rules_->skips_blank) return;
    changes_.push_back({.kind = ChangeKind::remark,
                        .impact = Impact::note,
                        .part = "tokenizer.json",
                        .detail = "it puts no blank before a text that begins with one, and llama.cpp does"});
  }

  // llama.cpp splits text for a piece tokenizer only at blanks, where all pieces begin. Reports any other split.
  void report_pieces() {
    if (!rules_->spells_blanks) report("it keeps blanks as they are, and llama.cpp spells them as pieces do");
    std::vector<std::string> cuts = rules_->cuts;
    std::erase_if(cuts,
                  [](const std::string& cut) { return cut == "WhitespaceSplit" || cut == resources::kSplitByBlank; });
    if (!cuts.empty())
      report(fmt::format("llama.cpp does not split text into pieces as it does: {}",
                         quote(fmt::format("{}", fmt::join(cuts, ", then ")))));
  }

  void set_pre() {
    if (model_.metadata.find(kPreKey) != nullptr) return;  // the metadata already has it
    const TokenizerTraits traits =
        traits_of(rules_ ? &*rules_ : nullptr, settings_ ? &*settings_ : nullptr, model_.config);
    const std::vector<std::string>& cuts = traits.cuts;
    const std::string_view name = pre_tokenizer_of(traits);
    if (name.empty())
      throw Error(ErrorKind::unsupported, "convert.pre_tokenizer",
                  fmt::format("llama.cpp's name for how tokenizer.json splits text is not known ({})",
                              quote(fmt::format("{}", fmt::join(cuts, ", then ")))))
          .remedy(Remedy::set, fmt::format("{}=NAME", kPreKey))
          .remedy(Remedy::drop, name_of(ModelPart::vocabulary));
    set(kPreKey, name);
    if (!rules_ && model_.attachment("vocab.json") == nullptr)
      changes_.push_back(
          {.kind = ChangeKind::remark,
           .impact = Impact::results,
           .part = "vocabulary",
           .detail = fmt::format("how it splits text is unknown without tokenizer.json; \"{}\" is assumed", name)});
    const PreFlags flags = *flags_of(name);
    if (flags.ignores_merges != traits.ignores_merges)
      report(traits.ignores_merges ? "it takes a word that is a token as it is, and llama.cpp merges its pieces"
                                   : "it merges the pieces of a word that is a token, and llama.cpp takes it as it is");
    if (traits.keeps_blanks && flags.keeps_blanks != *traits.keeps_blanks)
      changes_.push_back({.kind = ChangeKind::remark,
                          .impact = Impact::note,
                          .part = "tokenizer_config.json",
                          .detail = flags.keeps_blanks
                                        ? "it removes blanks before punctuation when tokens become text, and llama.cpp "
                                          "keeps them"
                                        : "it keeps blanks before punctuation when tokens become text, and llama.cpp "
                                          "removes them"});
  }

  // The ids identify the special tokens. Byte-level vocabularies can spell every text and have no unknown token:
  // llama.cpp's converter marks a token with that role (<|endoftext|> of SmolLM) as a control token.
  void mark_control_tokens() {
    const bool bytes = vocabulary_.kind == "bpe";
    for (Token& token : vocabulary_.tokens)
      if (token.type > TokenType::byte || (bytes && token.type == TokenType::unknown) ||
          (token.type == TokenType::user_defined && looks_special(token.text)))
        token.type = TokenType::control;
  }

  // llama.cpp looks for user-defined tokens in a text before it spells blanks as pieces do, and prints them as they are.
  void spell_user_defined() {
    NameSet texts;
    for (const Token& token : vocabulary_.tokens)
      if (token.text.find(' ') != std::string::npos) texts.insert(token.text);
    for (Token& token : vocabulary_.tokens) {
      if (token.type != TokenType::user_defined) continue;
      std::string text = resources::with_plain_blanks(token.text);
      // llama.cpp refuses two tokens of the same text.
      if (text != token.text && texts.insert(text).second) token.text = std::move(text);
    }
  }

  // Fills up to one token per row of the token table: the runtime refuses a model with fewer.
  void pad() {
    const auto name = arch::spell(family_, arch::Dialect::gguf, {.role = arch::Role::token_embedding});
    const auto table = std::ranges::find(model_.tensors, name.value_or(""), &Tensor::name);
    if (table == model_.tensors.end() || table->shape.rank() != 2) return;
    const std::uint64_t rows = table->shape[0];
    std::vector<Token>& tokens = vocabulary_.tokens;
    if (tokens.size() > rows) {
      changes_.push_back(
          {.kind = ChangeKind::remark,
           .impact = Impact::results,
           .part = "vocabulary",
           .detail = fmt::format("{} tokens for {} rows of the token table: llama.cpp refuses such a model",
                                 tokens.size(), rows)});
      return;
    }
    for (Token& token : tokens) {
      // Unused ids have no text, but llama.cpp needs a distinct text for each.
      if (token.text.empty() && token.type == TokenType::unused) token.text = pad_text(&token - tokens.data());
    }
    // The table may be empty, compressed or narrow, so its rows can take fewer bytes than the tokens: charge the
    // budget.
    const Spending spending;
    if (spending.is_outermost()) current_budget()->grant(table->bytes());
    charge_values(rows - tokens.size());
    while (tokens.size() < rows)
      tokens.push_back({pad_text(static_cast<std::ptrdiff_t>(tokens.size())), 0, TokenType::unused});
  }

  // The text of a token in tokenizer_config.json, such as "sep_token"; empty if it states none.
  std::string stated_text(std::string_view key) const {
    const Value* const found = settings_ ? settings_->find(key) : nullptr;
    if (found == nullptr) return {};
    const Map* const object = found->get<Map>();
    const std::string* const text = object == nullptr ? found->text() : resources::get<std::string>(*object, "content");
    return text == nullptr ? std::string() : *text;
  }

  // The id of a token that frames, separates or masks, as llama.cpp's converter finds it: by its text in
  // tokenizer_config.json, otherwise by its id in config.json. WordPiece vocabularies have a usual one. -1: none.
  std::int64_t role_of(std::string_view name, std::string_view usual, const std::optional<Map>& config) const {
    const auto special = [&](std::string_view text) {
      const std::int64_t id = text.empty() ? -1 : id_of(text);
      return id >= 0 && vocabulary_.tokens[static_cast<std::size_t>(id)].type != TokenType::normal ? id : -1;
    };
    if (const std::int64_t id = special(stated_text(fmt::format("{}_token", name))); id >= 0) return id;
    const auto* const id = config ? resources::get<std::int64_t>(*config, fmt::format("{}_token_id", name)) : nullptr;
    if (id != nullptr && *id >= 0 && static_cast<std::size_t>(*id) < vocabulary_.tokens.size()) return *id;
    return vocabulary_.kind == "wordpiece" ? special(usual) : -1;
  }

  // llama.cpp puts bos before words and the separator after them, and assumes BERT's ids for those that no key gives.
  void add_roles() {
    const auto config =
        parsed(model_, "config.json", [](std::string_view text) { return resources::parse_small_json(text); });
    const std::int64_t separator = role_of("sep", "[SEP]", config), mask = role_of("mask", "[MASK]", config);
    if (separator >= 0) set("tokenizer.ggml.seperator_token_id", separator);
    if (mask >= 0) set("tokenizer.ggml.mask_token_id", mask);
    if (vocabulary_.kind != "wordpiece") return;
    const std::int64_t first = role_of("cls", "[CLS]", config);
    if (first >= 0 && stated_text("bos_token").empty()) vocabulary_.bos = first;
    if (separator >= 0 && stated_text("eos_token").empty()) vocabulary_.eos = separator;
  }

  void add_frame() {
    const auto flag = [&](std::string_view name) -> std::optional<bool> {
      const bool* const said = settings_ ? resources::get<bool>(*settings_, name) : nullptr;
      return said == nullptr ? std::nullopt : std::optional(*said);
    };
    const auto frames = [&](const std::vector<std::string>& texts, std::int64_t id) {
      return id >= 0 && static_cast<std::size_t>(id) < vocabulary_.tokens.size() &&
             std::ranges::find(texts, vocabulary_.tokens[static_cast<std::size_t>(id)].text) != texts.end();
    };
    std::optional<bool> bos = flag("add_bos_token"), eos = flag("add_eos_token");
    if (rules_) {
      // Without a bos token, a single token before each text serves as one.
      if (vocabulary_.bos < 0 && rules_->before.size() == 1) vocabulary_.bos = id_of(rules_->before.front());
      if (!rules_->before.empty() || !bos) bos = frames(rules_->before, vocabulary_.bos);
      if (!rules_->behind.empty() || !eos) eos = frames(rules_->behind, vocabulary_.eos);
      report_frame(rules_->before, *bos, "before");
      report_frame(rules_->behind, *eos, "after");
    }
    if (vocabulary_.kind == "unigram") {
      // llama.cpp's default for T5 is to append eos.
      bos = bos.value_or(true);
      eos = eos.value_or(false);
    }
    if (bos) set("tokenizer.ggml.add_bos_token", *bos);
    if (eos) set("tokenizer.ggml.add_eos_token", *eos);
  }

  std::int64_t id_of(std::string_view text) const {
    const auto found = std::ranges::find(vocabulary_.tokens, text, &Token::text);
    return found == vocabulary_.tokens.end() ? -1 : found - vocabulary_.tokens.begin();
  }

  // llama.cpp adds at most one token at each end.
  void report_frame(const std::vector<std::string>& texts, bool puts, std::string_view where) {
    if (texts.size() == (puts ? 1 : 0)) return;
    if (texts.empty())
      return report(fmt::format(
          "it puts nothing {} a text, and llama.cpp puts a token there, as tokenizer_config.json says", where));
    report(fmt::format("it puts {} {} a text, and llama.cpp {}", quote(fmt::format("{}", fmt::join(texts, " "))), where,
                       puts ? "one token only" : "none of them"));
  }

  void add_template() {
    for (const Attachment& file : model_.attachments)
      if (file.name.starts_with(kTemplateFolder) && file.name.ends_with(kTemplateSuffix))
        if (auto text = text_of(model_, file.name))
          add_named(std::string_view(file.name).substr(
                        kTemplateFolder.size(), file.name.size() - kTemplateFolder.size() - kTemplateSuffix.size()),
                    *text);
    if (auto text = text_of(model_, "chat_template.jinja"))
      set(kTemplateKey, std::move(*text));
    else
      add_templates_of_settings();
    if (template_names_.empty()) return;
    List names;
    for (const std::string& name : template_names_) names.emplace_back(name);
    set(kTemplatesKey, std::move(names));
  }

  void add_templates_of_settings() {
    const Value* found = settings_ ? settings_->find("chat_template") : nullptr;
    const auto file =
        parsed(model_, "chat_template.json", [](std::string_view text) { return resources::parse_small_json(text); });
    if (found == nullptr && file) found = file->find("chat_template");
    if (found == nullptr) return;
    if (found->text() != nullptr) return set(kTemplateKey, *found->text());
    const List* const several = found->get<List>();
    if (several == nullptr) return;
    for (const Value& one : *several) {
      const Map* const named = one.get<Map>();
      const std::string* const name = named == nullptr ? nullptr : resources::get<std::string>(*named, "name");
      const std::string* const text = named == nullptr ? nullptr : resources::get<std::string>(*named, "template");
      if (name == nullptr || text == nullptr) continue;
      if (*name == "default")
        set(kTemplateKey, *text);
      else
        add_named(*name, *text);
    }
  }

  // llama.cpp's converter allows only letters, digits and underscores in the name of a template.
  void add_named(std::string_view name, const std::string& text) {
    std::string plain(name);
    std::ranges::replace_if(
        plain, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')); },
        '_');
    if (!known_templates_.insert(plain).second) {
      // Each name is compared once: it has one number at its end, so it can be in the way of one stem only.
      std::size_t& number = same_templates_.try_emplace(plain, 1).first->second;
      std::string other;
      do other = fmt::format("{}_{}", plain, ++number);
      while (!known_templates_.insert(other).second);
      plain = std::move(other);
    }
    constexpr std::size_t kMostReported = 16;  // a model has two or three, a file can have any number
    if (plain != name && ++renamed_templates_ <= kMostReported)
      changes_.push_back(
          {.kind = ChangeKind::remark,
           .impact = Impact::note,
           .part = "chat_template",
           .detail = renamed_templates_ < kMostReported
                         ? fmt::format("the template \"{}\" is called \"{}\" in GGUF", quote(name), quote(plain))
                         : "more templates have another name in GGUF"});
    template_names_.push_back(plain);
    set(fmt::format("{}.{}", kTemplateKey, plain), text);
  }

  void set(std::string_view key, Value value) {
    if (model_.metadata.find(key) == nullptr) model_.metadata.append(std::string(key), std::move(value));
  }

  Model& model_;
  const arch::Family& family_;
  std::vector<Change>& changes_;
  Vocabulary& vocabulary_;
  bool asked_ = false;  // the kind is stated, and stays
  std::optional<resources::TokenizerRules> rules_;
  std::optional<resources::PieceRules> pieces_;
  std::optional<Map> settings_;
  std::vector<std::string> template_names_;  // but the default
  NameSet known_templates_;                  // the same
  std::size_t renamed_templates_ = 0;
  NameMap<std::size_t> same_templates_;  // names that appear again, with the last number that was added to one
};

}  // namespace

std::string pad_text(std::int64_t id) { return fmt::format("[PAD{}]", id); }

void adopt_tokenizer(Model& model, const arch::Family& family, std::vector<Change>& changes) {
  TokenizerAdopter(model, family, changes).run();
}

}  // namespace tare::gguf::llama_cpp
