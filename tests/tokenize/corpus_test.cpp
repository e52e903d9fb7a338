// Tokenizers and texts for the fuzz target tokenize, which explains the first byte.
#include "corpus.hpp"

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "resources/piece_bytes.hpp"

namespace tare {
namespace {

using namespace tare::testing;

constexpr std::string_view kText = "Hello, I'm the quick 123 \u4f60\u597d <|a|> \u00ff\n  x";

constexpr std::string_view kBytes =
    R"json({"added_tokens":[{"id":9,"content":"<|a|>","special":true,"lstrip":true,"rstrip":true,)json"
    R"json("single_word":false,"normalized":false}],"normalizer":{"type":"Sequence",)json"
    R"json("normalizers":[{"type":"NFKC"},{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "}]},)json"
    R"json("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split",)json"
    R"json("pattern":{"Regex":"(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s+"},)json"
    R"json("behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,)json"
    R"json("use_regex":false}]},"post_processor":{"type":"TemplateProcessing",)json"
    R"json("single":[{"SpecialToken":{"id":"x","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],)json"
    R"json("special_tokens":{"x":{"id":"x","ids":[9],"tokens":["<|a|>"]}}},"decoder":{"type":"ByteLevel"},)json"
    R"json("model":{"type":"BPE","vocab":{"h":0,"e":1,"l":2,"o":3,"he":4,"ll":5,"hell":6,"Ġ":7,"1":8},)json"
    R"json("merges":["h e","l l","he ll"]}})json";

constexpr std::string_view kFallback =
    R"json({"normalizer":{"type":"Prepend","prepend":"▁"},"decoder":{"type":"Sequence",)json"
    R"json("decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},)json"
    R"json({"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},"model":{"type":"BPE",)json"
    R"json("unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":{"<unk>":0,"<0xC3>":1,)json"
    R"json("<0xA9>":2,"a":3,"b":4,"ab":5,"aba":6},"merges":[["a","b"],["ab","a"]]}})json";

constexpr std::string_view kLikeliest =
    R"json({"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},)json"
    R"json("decoder":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"},)json"
    R"json("model":{"type":"Unigram","unk_id":0,"byte_fallback":false,"vocab":[["<unk>",0],["▁",-2],)json"
    R"json(["▁the",-3],["h",-4],["e",-4],["he",-5],["l",-4]]}})json";

constexpr std::string_view kWhole =
    R"json({"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","unk_token":"<unk>",)json"
    R"json("vocab":{"<unk>":0,"the":1}}})json";

constexpr std::string_view kWords =
    R"json({"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,)json"
    R"json("strip_accents":null,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},)json"
    R"json("decoder":{"type":"WordPiece","prefix":"##","cleanup":true},"model":{"type":"WordPiece",)json"
    R"json("unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,)json"
    R"json("vocab":{"[UNK]":0,"the":1,"qu":2,"##ick":3,"he":4,"##llo":5}}})json";

constexpr std::string_view kPatterns[] = {R"((?:a|aa)+b)", R"((?i:'s|'ll)|\p{L}++|\s+(?!\S)|\s+)",
                                          R"([\p{Lu}&&[^A-C]]*+x{2,3}?|(?<=a)b|(?<!b)c|\bq|^z$)", R"((?>a+)b|(?=ab)a)"};

std::string with_form(char form, std::string_view content, std::string_view text) {
  return form + std::string(content) + '\0' + std::string(text);
}

// A tokenizer.model: 1 is a unigram model, 2 merges pairs.
std::string pieces_of(std::uint64_t kind) {
  const std::string model = proto_piece("<unk>", 0, 2) + proto_piece("<s>", 0, 3) + proto_piece("\u2581", -2, 1) +
                            proto_piece("h", -3, 1) + proto_piece("e", -3, 1) + proto_piece("he", -1, 1) +
                            proto_piece("\u2581he", -2, 1) + proto_piece("ud", 0, 4) + proto_piece("hee", -4, 5) +
                            proto_field(2, proto_number(3, kind)) + proto_field(3, proto_number(3, 1));
  return std::string("\x01") + static_cast<char>(model.size() & 0xFF) + static_cast<char>(model.size() >> 8) + model +
         "he hee ud \xFF x";
}

void add_to_corpus(Corpus& corpus) {
  corpus["tokenize/json.bytes"] = to_bytes(with_form('\0', kBytes, kText));
  corpus["tokenize/json.fallback"] = to_bytes(with_form('\0', kFallback, kText));
  corpus["tokenize/json.likeliest"] = to_bytes(with_form('\0', kLikeliest, kText));
  corpus["tokenize/json.whole"] = to_bytes(with_form('\0', kWhole, kText));
  corpus["tokenize/json.words"] = to_bytes(with_form('\0', kWords, kText));
  corpus["tokenize/pieces.unigram"] = to_bytes(pieces_of(1));
  corpus["tokenize/pieces.bpe"] = to_bytes(pieces_of(2));
  corpus["tokenize/words"] = to_bytes(with_form('\2', "[UNK]\n[CLS]\n[SEP]\nthe\nqu\n##ick\n", kText));
  for (std::size_t i = 0; i < std::size(kPatterns); ++i)
    corpus["tokenize/pattern." + std::to_string(i)] =
        to_bytes(with_form('\3', kPatterns[i], "aaaaaaab I'll go ABC xxx \u00E9"));
}

const CorpusPart kCorpusPart(add_to_corpus);

}  // namespace
}  // namespace tare
