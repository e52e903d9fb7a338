#!/usr/bin/env python3
"""Compares how Tare and jinja2, with transformers' settings, render chat templates and expressions.

    judge.py TARE_TESTS [FOLDER...]   renders the templates of this folder, those of the FOLDERs, and the expressions below, for
                                      hundreds of random conversations; exit 1 if one differs
    judge.py --record                 writes recorded.json, which the test ChatTemplate.Recorded compares without any package

Needs jinja2.
"""

import copy
import datetime
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import jinja2
import jinja2.ext
import jinja2.sandbox

HERE = pathlib.Path(__file__).resolve().parent
NOW = 1721990000  # 2024-07-26 in UTC


class Generation(jinja2.ext.Extension):
    """{% generation %} of transformers: writes its content unchanged."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_support"), [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _support(self, context, caller):
        return caller()


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(format):
        return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).strftime(format)

    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = strftime_now
    return made


# ---- conversations ----

WORDS = ["hello", "  two  blanks ", "line\nfeed\n", "", "naïve café", "日本語 テキスト", "👩‍👩‍👧 emoji", "\ttab", "<think>\nwhy?\n</think>\n\nso", "a\"b'c", "\\n \\",
         "{{ not }} {% a %} {# tag #}", "</s><|im_end|>", "<tool_response>x</tool_response>", "\u00a0nbsp\u3000", "x" * 300, "\x00\x1f\x7f", "Straße", "1.5e3", "the end."]
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather \"now\" in <city>", "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "Name & country"}, "days": {"type": ["integer", "null"]}, "units": {"type": "array", "items": {"type": "string"}}},
        "required": ["city"]}}},
    {"type": "function", "function": {"name": "größe", "description": "", "parameters": {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "number"}}, "B": {}}}, "return": {"type": "number"}}},
    {"type": "function", "function": {"name": "none", "description": "no parameters", "parameters": {"type": "object", "properties": {}, "required": []}}},
]


def text(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 4)))


def call(rng):
    arguments = {"city": text(rng), "n": rng.choice([1, -2, 2.5, 1e20, True, None, [1, "a", {"x": []}], {}])}
    made = {"type": "function", "function": {"name": rng.choice(["get_weather", "größe"]), "arguments": rng.choice([arguments, arguments, {}])}}
    if rng.random() < 0.8:
        made["id"] = rng.choice(["abcdefghi", "call_1", "123456789"])
    return made


def content(rng, role):
    kind = rng.random()
    if kind < 0.85:
        return text(rng)
    if kind < 0.93:
        return [{"type": "text", "text": text(rng)}, *([{"type": "image"}] if rng.random() < 0.5 else [])]
    return None if role == "assistant" else ""


def conversation(rng):
    messages = []
    if rng.random() < 0.5:
        messages.append({"role": rng.choice(["system", "system", "developer"]), "content": content(rng, "system")})
    orderly = rng.random() < 0.8
    for i in range(rng.randrange(0 if rng.random() < 0.05 else 1, 7)):
        role = ("user" if i % 2 == 0 else "assistant") if orderly else rng.choice(["user", "assistant", "tool", "system", "ipython", "other"])
        message = {"role": role, "content": content(rng, role)}
        if role == "assistant":
            if rng.random() < 0.25:
                message["tool_calls"] = [call(rng) for _ in range(rng.randrange(1, 3))]
            if rng.random() < 0.2:
                message["reasoning_content"] = text(rng)
        messages.append(message)
        if role == "assistant" and message.get("tool_calls") and rng.random() < 0.8:
            for one in message["tool_calls"]:
                messages.append({"role": "tool", "content": rng.choice([text(rng), {"content": text(rng), "ok": True}, '{"t": 3}']), "tool_call_id": one.get("id", "x"), "name": one["function"]["name"]})
    variables = {"messages": messages, "add_generation_prompt": rng.random() < 0.5, "tools": None, "documents": None}
    if rng.random() < 0.3:
        variables["tools"] = rng.sample(TOOLS, rng.randrange(0, 4))
    if rng.random() < 0.9:
        variables.update(bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>")
    if rng.random() < 0.1:
        variables["enable_thinking"] = rng.random() < 0.5
    if rng.random() < 0.05:
        variables["builtin_tools"] = ["code_interpreter", "brave_search"]
    if rng.random() < 0.1:
        variables["date_string"] = "1 Jan 2000"
    return variables


# ---- expressions ----

VALUES = {
    "none": None, "yes": True, "no": False, "zero": 0, "one": 1, "seven": 7, "minus": -3, "large": 2**40, "half": 0.5, "third": 1 / 3, "big": 1e22, "tiny": 1e-7,
    "e": "", "s": "Hello World", "t": "  padded\n", "u": "naïve Ünï 日本 👍", "n": "42", "f": " 3.5 ", "q": "it's \"x\"", "w": "a b  c\td\ne", "c": "a,b,,c", "lines": "one\ntwo\r\n\n three",
    "l": [3, 1, 2], "m": ["b", "A", "c", "a"], "el": [], "nested": [[1, 2], [3, [4]]], "ds": [{"a": 1, "b": "x"}, {"a": 2}, {"a": 1, "b": None}],
    "d": {"k": "v", "items": 1, "n": None, "Z": 2, "a": [1]}, "ed": {}, "dd": {"x": {"y": [10, {"z": "deep"}]}},
}
ATOMS = list(VALUES) + ["undef", "1", "2", "-1", "0", "'a'", "'b'", "'l'", "'k'", "'items'", "''", "[1, 'a']", "(1,)", "{'a': 1}", "true", "none", "1.5"]
FILTERS = ["abs", "capitalize", "count", "d('x')", "default('x', true)", "dictsort", "first", "float", "indent", "indent(2, true)", "indent('> ', false, true)", "int", "items|list", "join",
           "join(', ')", "join('-', 'a')", "last", "length", "list", "lower", "map('upper')|list", "map(attribute='a')|list", "map(attribute='b', default='-')|list", "map('int')|list", "max", "min",
           "reject|list", "reject('none')|list", "rejectattr('b')|list", "rejectattr('b', 'none')|list", "replace('a', 'X')", "replace('', '-', 2)", "replace('l', '')", "reverse|list", "reverse", "round",
           "select|list", "select('string')|list", "select('in', [1, 'a'])|list", "selectattr('a', 'equalto', 1)|list", "selectattr('b', 'defined')|list", "sort", "sort(reverse=true)",
           "sort(case_sensitive=true)", "sort(attribute='a')", "string", "sum", "sum('a')", "sum(start=2)", "title", "tojson", "tojson(indent=2)", "tojson(sort_keys=true)",
           "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'))", "trim", "trim('aH ')", "unique|list", "upper", "list|length", "string|length", "safe"]
TESTS = ["boolean", "callable", "defined", "divisibleby 3", "eq 1", "== 'a'", "even", "false", "float", "ge 2", "gt 1", "in [1, 'a']", "in 'abc'", "integer", "iterable", "le 2", "lower", "lt 2",
         "mapping", "ne none", "none", "number", "odd", "sameas none", "sameas true", "sequence", "string", "true", "undefined", "upper", "not string", "not none"]
PARTS = [".items()", ".items()|list", ".keys()|list", ".values()|list", ".get('k')", ".get('q')", ".get('q', 3)", ".k", ".a", ".upper()", ".lower()", ".title()", ".capitalize()", ".strip()", ".lstrip()", ".rstrip()",
         ".strip('Hd \\n')", ".split()", ".split(' ')", ".split(',')", ".split(',', 1)", ".rsplit(',', 1)", ".split(none, 1)", ".splitlines()", ".splitlines(true)", ".startswith('H')",
         ".startswith(('x', 'a'))", ".endswith('d')", ".replace('l', 'L')", ".replace('l', 'L', 1)", ".find('o')", ".rfind('o')", ".count('l')", ".index(1)", ".index('a')", ".count(1)", ".join(m)", ".removeprefix('a')",
         ".removesuffix('c')", ".isdigit()", ".isspace()", ".isalpha()", ".isupper()", ".islower()", ".partition(',')", ".rpartition(' ')", ".x.y[0]", ".x.y.1.z", ".nope", ".nope.nope", "[0]", "[-1]", "[9]", "['k']",
         "['items']", "[1:]", "[:-1]", "[::-1]", "[1:2]", "[::2]", "[5:1:-2]", "[-2:]", "[:]", "['nope']", "[none]", ".append(1)", ".__class__"]
SIGNS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
WHOLE = [
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}",
    "{% for x in l if x > 1 %}{{ x }}{{ loop.length }}{% else %}none{% endfor %}|{% for x in el %}{% else %}empty{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }},{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% for c in u %}[{{ c }}]{% endfor %}",
    "{% set x = 1 %}{% for i in l %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}",
    "{% set ns = namespace(a=1, b='x') %}{% for i in l %}{% set ns.a = ns.a + i %}{% set ns.c = i %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ ns.d }}{{ ns['a'] }}",
    "{% if zero %}a{% elif one %}b{% else %}c{% endif %}{{ 'x' if undef }}{{ 'y' if yes else 'z' }}{{ 1 if no else 2 if no else 3 }}",
    "{% macro f(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}{{ one }}{% endmacro %}{{ f(1) }} {{ f(1, 3) }} {{ f(b=5, a=6) }} {{ f() }}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% macro f() %}{{ later }}{% endmacro %}{% set later = 'set' %}{{ f() }}{% for late in m %}{{ f() }}{% endfor %}",
    "{% set a, b = l[0], l[1] %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}{% set (x, y) = t %}{{ y }}",
    "{% set a %}  text {{ one }}\n{% endset %}[{{ a }}]{% set b | trim | upper %}  text {% endset %}[{{ b }}]",
    "a\n  {% if yes %}\n  b\n  {%- endif %}\n  c\n  {%+ if yes %}d{% endif +%}\n e\n  {# c #}\n f {#- x -#} \n g",
    "  {{ one }}  \n  {{- one -}}  \n x {{ '{{' }} {{ '}}' }} {% raw %}{{ raw }} {% if %}\n{% endraw %}\n  {%- raw -%}  y  {%- endraw -%}  z",
    "{{ '\\n\\t\\x41\\u00e9\\'\\\"\\\\ \\q \\101' }}{{ \"a\" 'b' \"c\" }}",
    "{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}{{ range(4)|list }}{{ range(10)[2:4]|list }}{{ range(3)|length }}{{ 2 in range(3) }}",
    "{% for i in range(6) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for x in l %}{% for y in m %}{% if y == 'c' %}{% break %}{% endif %}{{ x }}{{ y }}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for i in range(7) %}{{ loop.cycle('a', 'b', 'c') }}{% if loop.changed(i // 2) %}!{% endif %}{% endfor %}",
    "{% with a = 1, b = one %}{{ a + b }}{% set a = 5 %}{{ a }}{% endwith %}{{ a }}",
    "{% filter upper %}abc {{ s }}{% endfilter %}{% filter replace('a', 'b') | trim %} aaa {% endfilter %}",
    "{{ dict(a=1, b=2) }}{{ dict({'x': 1}, y=2).y }}{{ {'a': 1, 'a': 2, 1: 'x', none: 0, (1, 2): 3} }}{{ [1, [2, (3,)], {'a': 'b'}, none, true, 1.0, undef] }}",
    "{{ 1 == 1.0 }}{{ true == 1 }}{{ 'a' < 'b' < 'c' }}{{ 1 < 2 > 1 }}{{ not 1 == 2 }}{{ not undef }}{{ (1, 2) == (1, 2) }}{{ [1] == (1,) }}{{ {'a': 1} == {'a': 1.0} }}",
    "{{ 2 ** 3 }}{{ -2 ** 2 }}{{ -1 | abs }}{{ 7 // 2 }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 7.5 // 2 }}{{ -7.5 % 2 }}{{ 1 / 2 }}{{ 10 / 5 }}{{ 'a' * 3 }}{{ [1] * 2 }}{{ 1 + 2 ~ 3 }}",
    "{{ strftime_now('%d %b %Y') }} {{ strftime_now('%A %B %e %H:%M:%S %p %j %y %m %%') }}",
    "{{ raise_exception('no ' ~ s) }}", "{{ undef.x }}", "{{ undef() }}", "{{ s() }}", "{% for x in 5 %}{% endfor %}", "{{ none + 1 }}", "{{ [] < 1 }}", "{% set s.x = 1 %}", "{{ f(1) }}",
    "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "{% macro f(a) %}{% endmacro %}{{ f(b=2) }}", "{% set a, b = [1] %}", "{{ l[0:1:0] }}", "{{ 1 // 0 }}", "{{ 'x' in 5 }}", "{{ {[1]: 2} }}",
    "{% generation %}a {{ one }}{% endgeneration %}", "{%- for i in l -%}\n  {{ i }}\n{%- endfor %}\n\nend\n", "{{ s }}\n", "{{ s }}\n\n", "\n\n{{ s }}", "{#- c -#}\n x {# c #}\ny",
    "{% if yes %}\n\n  a\n\n{% endif %}\n\nb", "  {% set x = 1 %}  \n  {% set y = 2 %}\nz", "{% set x = 1 %} {% set y = 2 %}\n z", "\ta\t{% if yes %}\t\n{% endif %}", "{{ [1,2,\n3] }}{{ (1) }}{{ () }}{{ (1,) }}",
    "{{ '{} {1}'.format(1) }}{{ 'a{}b{0}{{}}{x}'.format(s, x=l) }}", "{{ '<' + (s|safe) + '>' }}{{ ('<'|safe) ~ '>' }}{% set x = '\"&' + d|tojson|safe %}{{ x }}", "{{ 'x' if no else nope|nope }}",
    "{% for i in l %}{% continue %}{% else %}none{% endfor %}{% for i in l %}{% break %}{% else %}none{% endfor %}{% for i in l %}{% if i == 2 %}{% break %}{% endif %}{% else %}none{% endfor %}",
    "{{ d.items }}", "{{ loop }}", "{{ undef == undef2 }}{{ undef is defined }}{{ undef ~ 'x' }}{{ [undef] }}{{ undef|length }}{{ undef|list }}{{ 1 in undef }}", "{% if a is defined and a %}{% endif %}{{ a is undefined }}",
    "{% set messages = [1] + [2] %}{% for m in messages %}{{ m }}{% set messages = [] %}{% endfor %}{{ messages }}",
]


def expressions(rng, count):
    def atom(depth):
        if depth == 0 or rng.random() < 0.3:
            made = rng.choice(ATOMS)
        else:
            made = f"({one(depth - 1)})"
        return made + rng.choice(PARTS) if rng.random() < 0.45 else made

    def one(depth):
        kind = rng.random()
        if kind < 0.35:
            return f"{atom(depth)}|{rng.choice(FILTERS)}"
        if kind < 0.5:
            return f"{atom(depth)} is {rng.choice(TESTS)}"
        if kind < 0.75:
            return f"{atom(depth)} {rng.choice(SIGNS)} {atom(depth)}"
        if kind < 0.8:
            return f"not {atom(depth)}"
        return atom(depth)

    return ["{{ " + one(rng.randrange(0, 3)) + " }}" for _ in range(count)]


# ---- cases ----

HUGE = re.compile(r"large.*\*|\*.*large|\*\*.*\*\*|seven.*\*\*")  # what takes Python hours
# jinja2 computes these when it compiles, by other rules than when it runs.
SLICED_CONSTANT = re.compile(r"[)}]\[[^\]]*:|(?<![\w'])(none|true|[\d.]+)\[[^\]]*:")


@functools.lru_cache(maxsize=1)
def compiled(env, source):
    return env.from_string(source)


def outcome(env, source, variables):
    try:
        return {"text": compiled(env, source).render(**variables)}
    except jinja2.exceptions.TemplateError as error:
        return {"error": str(error)}
    except Exception as error:  # an operation that Python refuses
        return {"error": f"{type(error).__name__}: {error}"}


def is_portable(case):
    """Not what depends on where an object is, and what JSON cannot hold."""
    text = case.get("text", "")
    return " object at 0x" not in text and "<" + "function" not in text and not any(0xD800 <= ord(c) < 0xE000 for c in text)


def cases(sources, rng, conversations, count):
    env = environment()
    all_cases = []
    for source in sources:
        made = [conversation(rng) for _ in range(conversations)]
        all_cases.append({"template": source, "cases": [{"variables": v, **outcome(env, source, copy.deepcopy(v))} for v in made]})
    for source in WHOLE + expressions(rng, count):
        if not SLICED_CONSTANT.search(source) and not HUGE.search(source):
            all_cases.append({"template": source, "cases": [{"variables": "values", **outcome(env, source, copy.deepcopy(VALUES))}]})
    for one in all_cases:
        one["cases"] = [case for case in one["cases"] if is_portable(case)]
    return {"now": NOW, "values": VALUES, "templates": [one for one in all_cases if one["cases"]]}


def main(words):
    own = [path.read_text(encoding="utf-8") for path in sorted((HERE / "templates").glob("*.jinja"))]
    if words == ["--record"]:
        made = cases(own, random.Random(1), 6, 700)
        text = ",\n".join(json.dumps(one, ensure_ascii=True) for one in made["templates"])
        rest = {key: value for key, value in made.items() if key != "templates"}
        (HERE / "recorded.json").write_text(json.dumps(rest)[:-1] + ', "templates": [\n' + text + "\n]}\n")
        return 0
    sources = own + [path.read_text(encoding="utf-8") for folder in words[1:] for path in sorted(pathlib.Path(folder).glob("*.jinja"))]
    made = cases(sources, random.Random(int(os.environ.get("SEED", "7"))), int(os.environ.get("CONVERSATIONS", "200")), int(os.environ.get("EXPRESSIONS", "20000")))
    print(len(sources), "templates,", sum(len(one["cases"]) for one in made["templates"]), "cases,",
          sum("error" in case for one in made["templates"] for case in one["cases"]), "of them errors")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(made, file)
        file.flush()
        return subprocess.run([words[0], "--gtest_brief=1", "--gtest_filter=ChatTemplate.Recorded"], env={**os.environ, "TARE_CHAT_CASES": file.name, "TZ": "UTC"}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
