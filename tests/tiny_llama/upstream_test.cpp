// The ids that Tiny Llama's own program produces: its rules one by one, and compared with a simple, slow implementation
// with strings.
#include <map>
#include <random>
#include <sstream>

#include "conformance/memory.hpp"
#include "conformance/scratch.hpp"
#include "tiny_llama/tokenizer.hpp"
#include "tiny_llama/tokenizer_files.hpp"

namespace tiny_llama {
namespace {

using namespace tare::testing;
using testing::tokenizer_of;
using Tokens = std::vector<std::int32_t>;

BytePairTokenizer upstream_of(const std::string& vocab, const std::string& merges) {
  return tokenizer_of(vocab, merges, Rules::upstream);
}

const std::string kFirst = "<unk>\n<pad>\n<bos>\n<eos>\n";

TEST(TinyLlamaUpstream, DuplicatesTakeNoId) {
  const auto tokenizer = upstream_of(kFirst + "a\nb\na\nthe\nb\nc\n", "t h\nth e\n");
  EXPECT_EQ(tokenizer.size(), 8U);
  EXPECT_EQ(tokenizer.encode("abthec"), (Tokens{4, 5, 6, 7}));
  EXPECT_EQ(tokenizer.rules(), Rules::upstream);
  EXPECT_EQ(tokenizer.unknown(), 0);
  // The four special tokens exist whether the file has them or not.
  EXPECT_EQ(upstream_of("a\nb\n", "").encode("b<"), (Tokens{5, 0}));
}

TEST(TinyLlamaUpstream, MergesGoThroughWhatIsNoToken) {
  const auto tokenizer = upstream_of(kFirst + "the\n", "#version: 0.2\nt h\nth e\nthe\n\nx\n");
  EXPECT_EQ(tokenizer.encode("the"), (Tokens{4}));
  EXPECT_EQ(tokenizer.encode("th"), (Tokens{0}));
}

TEST(TinyLlamaUpstream, ASpaceIsUnknown) {
  const auto tokenizer = upstream_of(kFirst + " \na\nb\n", "");
  EXPECT_EQ(tokenizer.text_of(4), "") << "the line of a space";
  EXPECT_EQ(tokenizer.encode("a b"), (Tokens{5, 0, 6}));
  EXPECT_EQ(tokenizer.encode("a\t\n b\v"), (Tokens{5, 0, 0, 0, 6, 0}));
  EXPECT_EQ(tokenizer.encode(""), Tokens{});
}

TEST(TinyLlamaUpstream, LettersAreMadeSmallAndBytesCount) {
  const auto tokenizer = upstream_of(kFirst + "a\nA\nthe\n", "t h\nth e\n");
  EXPECT_EQ(tokenizer.encode("AThE"), (Tokens{4, 6}));
  EXPECT_EQ(tokenizer.encode("a\xC3\xAF"), (Tokens{4, 0, 0}));
}

TEST(TinyLlamaUpstream, IdsInTheFile) {
  const auto tokenizer = upstream_of("a 9\nb\nc -1\nd 0\ne 9x\nf +12\ng 99999999999\n", "");
  EXPECT_EQ(tokenizer.encode("abcdefgh"), (Tokens{9, 10, 11, 0, 9, 12, 13, 0}));
  EXPECT_EQ(tokenizer.text_of(9), "e");
  EXPECT_EQ(tokenizer.text_of(7), "");
  EXPECT_EQ(rule_of([] { upstream_of("a\nb 1048576\n", ""); }), "bpe.vocab.id");
  EXPECT_EQ(rule_of([] { upstream_of("b 2147483647\n", ""); }), "bpe.vocab.id");
}

TEST(TinyLlamaUpstream, AllOfAPairAreMergedBeforeABetterOneIsSeen) {
  // Merging one at a time from the left, the first ab would merge with the x and its neighbour before the second ab is
  // made.
  const std::string vocab = kFirst + "ab\nabx\nabxa\nb\n", merges = "ab x\nabx a\na b\n";
  EXPECT_EQ(upstream_of(vocab, merges).encode("abxab"), (Tokens{5, 4}));
}

TEST(TinyLlamaUpstream, EitherTakesItsFilesAndSaysWhy) {
  const auto own = tokenizer_of(kFirst + "a\na\n", "", Rules::either);
  EXPECT_EQ(own.rules(), Rules::upstream);
  EXPECT_NE(own.complaint().find("bpe.vocab.duplicate"), std::string::npos) << own.complaint();
  const auto sound = tokenizer_of(kFirst + "a\n", "", Rules::either);
  EXPECT_EQ(sound.rules(), Rules::strict);
  EXPECT_EQ(sound.complaint(), "");
  EXPECT_EQ(rule_of([] { tokenizer_of("a\na\n", "", Rules::either); }), "bpe.vocab.duplicate") << "somebody else's";
  EXPECT_EQ(rule_of([] { tokenizer_of("", "", Rules::either); }), "bpe.vocab.empty");
}

TEST(TinyLlamaUpstream, LongWordsTakeNoSquareOfTime) {
  const auto tokenizer = upstream_of(kFirst + "aaaa\n", "a a\naa aa\n");
  constexpr std::size_t kTokens = kCountsMemory ? 1 << 18 : 1 << 15;
  EXPECT_EQ(tokenizer.encode(std::string(4 * kTokens, 'a')), Tokens(kTokens, 4));
}

// ---- the rules, implemented simply

class Plain {
 public:
  Plain(const std::string& vocab, const std::string& merges) {
    for (const char* const token : {"<unk>", "<pad>", "<bos>", "<eos>"}) add(token);
    std::istringstream lines(vocab);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      std::istringstream words(line);
      std::string token;
      int id = -1;
      if ((words >> token >> id) && id >= 0)
        next_ = std::max(next_, id + 1), ids_[token] = id;
      else
        add(token);
    }
    std::istringstream rest(merges);
    std::string line;
    for (bool first = true; std::getline(rest, line); first = false) {
      if (first && line.find("#version") != std::string::npos) continue;
      std::istringstream words(line);
      std::string left, right;
      if (words >> left >> right) ranks_[{left, right}] = rank_++;
    }
  }

  Tokens encode(std::string text) const {
    Tokens tokens;
    std::string word;
    text += ' ';
    for (char c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      if (std::string_view(" \t\n\v\f\r").find(c) == std::string_view::npos) {
        word += c;
        continue;
      }
      for (const std::string& piece : pieces(word)) tokens.push_back(id(piece));
      tokens.push_back(id(" "));
      word.clear();
    }
    tokens.pop_back();  // removes the space that was added
    return tokens;
  }

 private:
  void add(const std::string& token) {
    if (ids_.emplace(token, next_).second) ++next_;
  }
  int id(const std::string& token) const { return ids_.contains(token) ? ids_.at(token) : ids_.at("<unk>"); }

  std::vector<std::string> pieces(const std::string& word) const {
    std::vector<std::string> row;
    for (const char c : word) row.emplace_back(1, c);
    while (true) {
      const std::pair<std::string, std::string>* best = nullptr;
      int least = 1 << 30;
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        const auto found = ranks_.find({row[i], row[i + 1]});
        if (found != ranks_.end() && found->second < least) best = &found->first, least = found->second;
      }
      if (best == nullptr) return row;
      std::vector<std::string> merged;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const bool is_pair = i + 1 < row.size() && row[i] == best->first && row[i + 1] == best->second;
        merged.push_back(is_pair ? row[i] + row[i + 1] : row[i]);
        i += is_pair ? 1 : 0;
      }
      row = std::move(merged);
    }
  }

  std::map<std::string, int> ids_;
  std::map<std::pair<std::string, std::string>, int> ranks_;
  int next_ = 0, rank_ = 0;
};

TEST(TinyLlamaUpstream, RandomFilesAndTextsGiveTheSameIds) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const std::string letters = seed % 3 == 0 ? "ab" : seed % 3 == 1 ? "abcdeXY" : std::string("a\xC3\xAFz<>9");
    const auto word = [&](std::size_t most) {
      std::string made;
      for (std::size_t i = below(most) + 1; i > 0; --i) made += letters[below(letters.size())];
      return made;
    };
    std::string vocab, merges = seed % 2 == 0 ? "#version: 0.2\n" : "";
    for (std::size_t i = below(40); i > 0; --i) {
      const char* const tails[] = {"", "", "", " 7", "\t-3", " x", "\r", " 20z", " 00012", " ", "\n"};
      vocab += (below(20) == 0 ? std::string(" ") : word(4)) + tails[below(std::size(tails))] + "\n";
    }
    std::vector<std::string> parts;
    for (const char letter : letters) parts.emplace_back(1, letter);
    for (std::size_t i = below(30); i > 0; --i) {
      const std::string left = parts[below(parts.size())], right = parts[below(parts.size())];
      merges += left + (below(12) == 0 ? "" : " ") + right + (below(9) == 0 ? " z" : "") + "\n";
      parts.push_back(left + right);
    }
    const auto tokenizer = upstream_of(vocab, merges);
    const Plain plain(vocab, merges);
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (std::size_t j = below(8); j > 0; --j)
        text += below(3) == 0 ? " " : below(2) == 0 ? word(12) : parts[below(parts.size())];
      ASSERT_EQ(tokenizer.encode(text), plain.encode(text)) << seed << ": " << text;
    }
  }
}

}  // namespace
}  // namespace tiny_llama
