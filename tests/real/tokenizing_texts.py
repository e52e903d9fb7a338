"""Diverse texts for tokenizers, made from a seed: scripts, emoji, combining marks, code, numbers, contractions, runs of blanks."""
import random
import unicodedata

SCRIPTS = ["the quick brown fox jumps over lazy dogs", "\u00catre o\u00f9 na\u00efve fa\u00e7ade \u0153uvre", "Stra\u00dfe Gr\u00fc\u00dfe \u00c4\u00d6\u00dc \u1e9e",
           "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 \u043a\u0430\u043a \u0434\u0435\u043b\u0430 \u0401\u0416", "\u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5 \u039a\u03cc\u03c3\u03bc\u03b5 \u0386\u0388\u0389",
           "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u0671\u0644\u0633\u064e\u0651\u0644\u064e\u0627\u0645\u064f",
           "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0915\u094d\u0937\u0924\u094d\u0930\u093f\u092f", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
           "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c\u30ab\u30bf\u30ab\u30ca", "\u4f60\u597d\u4e16\u754c\u4e2d\u6587\u6f22\u5b57", "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4", "Ti\u1ebfng Vi\u1ec7t \u0111\u1eb7c bi\u1ec7t",
           "\u12a0\u121b\u122d\u129b", "\u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8", "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0bae\u0bca\u0bb4\u0bbf", "\u0130stanbul \u0131Ii\u0130", "\u01c5 \u01c8 \u00aa \u00ba \u02b0",
           "\U0001d518\U0001d52b\U0001d526\U0001d520 \U0001d4b3", "\ufb01 \ufb02 \ufdfa \u338f \u2460 \u00bd \u00b2"]
EMOJI = ["\U0001f600", "\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", "\u2764\ufe0f",
         "\U0001f3f3\ufe0f\u200d\U0001f308", "1\ufe0f\u20e3", "\U0001f937\U0001f3fe\u200d\u2640\ufe0f", "\u2603", "\u200d"]
MARKS = ["e\u0301", "a\u0308\u0323", "n\u0303", "\u0301", "o\u0302\u0301", "\u0915\u093c", "\u20dd"]
CODE = ["def f(x):\n    return x**2\n", "for(int i=0;i<n;++i){a[i]+=b;}", "<div class=\"x\">&nbsp;</div>", "SELECT * FROM t WHERE a!='b';", "#include <vector>",
        "x->y::z", "https://ex.org/a?b=c&d=%20", "{\"a\": [1, 2.5e-3, null]}", "\\frac{1}{2}", "if __name__ == \"__main__\":", "/* c */ // d", "a\\nb\\t", "$x = @{y} ~ `z` ^ |"]
BLANKS = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", "  \n  ", "\t\t ", "\u00a0", "\u3000", "\u2003", "\u200b", "     ", "\n \n", "\u0085", "\u2028", "\x0b", "\x1c", " \n"]
NUMBERS = ["1", "42", "007", "1234567890", "3.14159", "1,000,000", "\u0663\u0664\u0665", "\u0967\u0968\u0969", "\u2167", "\u00bd", "10^6", "0xFF", "1e-9", "\u4e8c\u5341"]
CONTRACTIONS = ["I'm", "don't", "we'll", "they've", "you're", "he'd", "it's", "'S", "'LL", "o'clock", "IT'S", "'\u017f", "''", "\u2019s", "she's'"]
SIGNS = [*"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "\u2026", "\u2014", "\u00ab\u00bb", "\u00bf\u00a1", "\u3001\u3002", "\uff01\uff1f", "\u20ac", "\u00a3", "\u00a5", "\u2260", "\u2192", "\u00a7", "\u00a9", "\u2122"]
WORDS = [word for script in SCRIPTS for word in script.split()] + ["Hello", "WORLD", "CamelCaseWord", "snake_case_name", "iPhone", "McDonald", "a", "I", "ABC", "xyz123", "UPPER",
                                                                   "qwertyuiopasdfghjklzxcvbnm"]


def some_character(chance):
    """One that Unicode 3.2 has: the judges have tables of several later versions, some of them old."""
    while True:
        first, last = chance.choice([(32, 127), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0xFFFE), (0x10000, 0x20000)])
        character = chr(chance.randrange(first, last))
        if unicodedata.ucd_3_2_0.category(character) != "Cn":
            return character


def texts(count, seed=7, special=()):
    chance = random.Random(seed)
    pools = [WORDS, WORDS, WORDS, EMOJI, MARKS, CODE, BLANKS, BLANKS, NUMBERS, CONTRACTIONS, SIGNS, *([list(special)] if special else [])]
    made = ["", " ", "a", "\n"]
    while len(made) < count:
        text = ""
        for _ in range(chance.choice([1, 2, 3, 5, 8, 13, 30])):
            kind = chance.random()
            if kind < 0.03:
                text += some_character(chance)
            elif kind < 0.05:
                text += chance.choice("ab 0.\n") * chance.randrange(2, 40)
            else:
                text += chance.choice(chance.choice(pools))
            if chance.random() < 0.45:
                text += " "
        made.append(text)
    return made


def malformed(count, seed=5):
    """Bytes that are not UTF-8."""
    chance = random.Random(seed)
    made = []
    for text in texts(count, seed + 1):
        data = bytearray(text.encode())
        for _ in range(chance.randrange(1, 4)):
            data.insert(chance.randrange(len(data) + 1), chance.choice([0x80, 0xBF, 0xFF, 0xFE, 0xE2, 0xF0, 0xC3]))
        made.append(bytes(data))
    return made
