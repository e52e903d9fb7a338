"""Texts for tokenizers and models, written for these tests."""

# News-like prose, as language models see most often; about 500 tokens.
PROSE = """The harbour of the small island was quiet on Tuesday morning when the first ferry of the season arrived with \
eleven passengers, two goats and a crate of oranges. Officials had expected more visitors after the long winter, but the storm \
that crossed the coast on Sunday kept most of them at home. "We were told that the water would be calm," said one of the \
travellers, a teacher from the mainland who comes every spring to count birds. "It was not calm at all."

The council plans to rebuild the old pier before the end of next year. According to the engineer in charge, the wooden posts \
have to be replaced because shipworms have eaten almost half of them, and the price of oak has doubled since the project was first \
discussed. A group of residents has asked for a concrete pier instead, which would be cheaper and would last about sixty years. \
Others fear that it would spoil the view for which the village is known, and that fewer painters would come in the summer.

Scientists at the marine station have been measuring the temperature of the bay since 1958. Their records show that the average in \
March has risen by 1.4 degrees, and that mussels now settle three weeks earlier than they did in the 1970s. The station will receive \
a new boat in May, paid for by a foundation that supports research in remote places. Until then, the team of four borrows the boat of \
a fisherman, who takes them out at five o'clock in the morning and wants to be back before breakfast.

In the evening, the passengers met in the only restaurant that was open. There was soup with fennel, bread, and a wine that the owner \
described as honest. Nobody complained. Somebody played an accordion, the goats were heard from the yard, and the lights of the \
ferry, which stays for the night, could be seen from every window. The next departure is planned for Thursday, if the wind allows it, \
and the crew has already said that it probably will not."""

_WORDS = ["don't  stop", "Hello , world . Is it ?", "foo.bar() != baz && qux || !z", "  two blanks first", "ends with a blank ", "\ttab\there",
          "line\nline\n\n  line", "\r\nwindows\r\n", "1234567890", "3.14159, 2,718,281", "a1b2c3", "CamelCaseAndsnake_case", "we're you'll I'd they've it's",
          "WE'RE YOU'LL", "caf\u00e9 na\u00efve \u00fcber", "cafe\u0301 (combining)", "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440!",
          "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e", "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji", "\u00a0no-break\u00a0blank", "\u200bzero width",
          "...---...", "!?!?", "$100 & 50% @home #tag", "<html><body class=\"x\">", "{\"key\": [1, 2, null]}", "C:\\path\\to\\file", "https://example.org/a?b=c&d=e#f",
          "user@example.org", "`code` **bold** _it_", "| a | b |\n| --- | --- |", "- item\n  - item\n    - item", "x = y ** 2 // 3 % 4",
          "if (a && !b) { return a->b[c]; }", "def f(x):\n    return x + 1\n\n\nclass A:\n    pass\n", "\n    return", "for i in range(10):\n\tprint(i)\n",
          "SELECT * FROM t WHERE a <> 'b' ;", "#include <stdio.h>\nint main ( ) { }", "a  b   c    d     e", " ", "   ", "\n", "\n\n\n", "\t\t", "a", "Z", "0",
          "\u00df\u1e9e \ufb01ligature", "\u2026 \u2014 \u2018quotes\u2019 \u201cmore\u201d", "\u00b2\u00b3\u00bd\u2167", "\u0660\u0661\u0662\u0663", "\ud55c\uad6d\uc5b4 \ubb38\uc7a5", "\u0e44\u0e17\u0e22", "i\u0307\u0130\u0131I", "\U00010348\U0001d400",
          "the the the the", "antidisestablishmentarianism", "e.g. i.e. etc.", "Mr. Smith's dog; it, too!", "(a) [b] {c} <d>", "-1 +2 *3 /4 ^5 =6"]


def texts():
    """200 different texts: each of the words, halves of the prose's sentences, and joins of both."""
    sentences = [sentence for paragraph in PROSE.split("\n\n") for sentence in paragraph.split(". ")]
    made = list(_WORDS) + sentences + [sentence[len(sentence) // 2:] for sentence in sentences]
    for number in range(len(_WORDS) * 8):
        made.append(_WORDS[number % len(_WORDS)] + (" ", "", "\n", "  ")[number // len(_WORDS) % 4] + _WORDS[(number * 13 + 5) % len(_WORDS)])
    return list(dict.fromkeys(made))[:200]
