#!/usr/bin/env python3
"""The JSON that the command prints: docs/schema/tare.json describes it, and this draws the tables of docs/json.md from that; tools/verbs.py
puts those of the verbs on their pages.

    tools/schema.py             rewrites the tables
    tools/schema.py --check     exit 1 if that would change something
    tools/schema.py --selftest  shows that validation and the check can fail

`problems` validates a value against the part of JSON Schema that the file uses; tests/cli/json_schema.py calls it with real outputs.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "docs" / "schema" / "tare.json"
PAGE = ROOT / "docs" / "json.md"
REGION = re.compile(r"(<!-- tables of tare.json -->\n).*?(<!-- end -->)", re.DOTALL)
WORDS = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties", "items",
         "prefixItems", "minItems", "maxItems", "minimum", "enum", "pattern", "anyOf"}
VERBS = {choice["$ref"].removeprefix("#/$defs/") for choice in json.loads(SCHEMA.read_text(encoding="utf-8"))["anyOf"]}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def load():
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


def is_type(value, name):
    if name in ("number", "integer"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def problems(value, rule, schema, at="$", seen=None):
    """What is wrong with a value, as lines. Keys that the schema does not know are wrong here, though a reader should ignore them.
    `seen` collects (definition, key) of every property that was there."""
    seen = set() if seen is None else seen
    return list(_problems(value, rule, schema, at, "", seen))


def _problems(value, rule, schema, at, definition, seen):
    if unknown := set(rule) - WORDS:
        raise ValueError(f"the schema has words that are not checked: {', '.join(sorted(unknown))}")
    if "$ref" in rule:
        definition = rule["$ref"].removeprefix("#/$defs/")
        yield from _problems(value, schema["$defs"][definition], schema, at, definition, seen)
        return
    if "anyOf" in rule:
        tries = []
        for choice in rule["anyOf"]:
            also = set()
            found = list(_problems(value, choice, schema, at, definition, also))
            if not found:
                seen |= also
                return
            tries.append(found)
        yield f"{at}: fits none of {len(tries)} choices, such as: {min(tries, key=len)[0]}"
        return
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_type(value, kind) for kind in kinds):
        yield f"{at}: expected {' or '.join(kinds)}, found {json.dumps(value)[:60]}"
        return
    if "enum" in rule and value not in rule["enum"]:
        yield f"{at}: {json.dumps(value)} is not one of {json.dumps(rule['enum'])}"
    if "minimum" in rule and is_type(value, "number") and value < rule["minimum"]:
        yield f"{at}: {value} is less than {rule['minimum']}"
    if "pattern" in rule and isinstance(value, str) and not re.search(rule["pattern"], value):
        yield f"{at}: {value!r} does not match {rule['pattern']}"
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items"
        for number, item in enumerate(value):
            first = rule.get("prefixItems", [])
            yield from _problems(item, first[number] if number < len(first) else rule.get("items", {}), schema, f"{at}[{number}]", definition, seen)
    if isinstance(value, dict) and ("properties" in rule or "additionalProperties" in rule):
        for key in rule.get("required", []):
            if key not in value:
                yield f"{at}: no key {key}"
        rest = rule.get("additionalProperties", False)
        for key, item in value.items():
            if key in rule.get("properties", {}):
                seen.add((definition, key))
                yield from _problems(item, rule["properties"][key], schema, f"{at}.{key}", definition, seen)
            elif rest is False:
                yield f"{at}: the schema has no key {key}"
            elif rest is not True:
                yield from _problems(item, rest, schema, f"{at}.{key}", definition, seen)


def properties(rule, schema):
    """(path, rule) of every property of a definition, those of objects inside it included."""
    for key, inner in rule.get("properties", {}).items():
        yield key, inner, key in rule["required"]
        inside = inner.get("items", inner)
        mark = "[]" if "items" in inner else ""
        for path, deeper, required in properties(inside, schema):
            yield f"{key}{mark}.{path}", deeper, required


def kind_of(rule, verb=None):
    """The type in words. `verb`: whose page it is on; other verbs and parts are on other pages."""
    if "$ref" in rule:
        name = rule["$ref"].removeprefix("#/$defs/")
        if name == "real":
            return "number"
        if verb is None or name.startswith(f"{verb}_"):
            return f"[{name}](#{name})"
        return f"[{name}]({name}.md#json)" if name in VERBS else f"[{name}](../json.md#{name})"
    if "anyOf" in rule:
        return " or ".join(kind_of(choice, verb) for choice in rule["anyOf"])
    if "enum" in rule and len(rule["enum"]) <= 7:
        return " ".join(f"`{word}`" for word in rule["enum"])
    kinds = rule.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    names = [f"list of {kind_of(rule['items'], verb)}" if kind == "array" and "items" in rule else kind for kind in kinds]
    return " or ".join({"string": "text", "boolean": "bool", "array": "list"}.get(name, name) for name in names)


def table(name, schema, verb=None):
    rule = schema["$defs"][name]
    out = [] if name == verb else [f"### {name}", ""]
    if "description" in rule:
        out += [rule["description"], ""]
    if "anyOf" in rule:
        return out + ["One of " + ", ".join(kind_of(choice, verb) for choice in rule["anyOf"]) + ".", ""]
    if "$ref" in rule:
        return out + [f"The same as {kind_of(rule, verb)}.", ""]
    # Neighbours that are alike share a row.
    rows = []
    for path, inner, required in properties(rule.get("items", rule), schema):
        what = inner.get("description", "")
        alike = (path.rpartition(".")[0], kind_of(inner, verb), what if required else f"optional{'; ' + what if what else ''}")
        if rows and rows[-1][1] == alike:
            rows[-1][0].append(path.rpartition(".")[2])
        else:
            rows.append(([path], alike))
    if rows:
        out += ["| key | type | |", "| --- | --- | --- |"]
        out += [f"| {' '.join(f'`{path}`' for path in paths)} | {kind} | {what} |".replace(" |  |", " | |") for paths, (_, kind, what) in rows]
        out.append("")
    return out


def verbs_of(schema):
    return [choice["$ref"].removeprefix("#/$defs/") for choice in schema["anyOf"] if choice["$ref"] != "#/$defs/error"]


def of_verb(verb, schema):
    """The lines of a verb's page about its JSON; none if it prints none."""
    if verb not in verbs_of(schema):
        return []
    names = [verb, *(other for other in schema["$defs"] if other.startswith(f"{verb}_"))]
    return ["## JSON", "", *(line for name in names for line in table(name, schema, verb))]


def tables(schema):
    verbs = verbs_of(schema)
    out = ["## Verbs", "", "What each prints is on its page: " + ", ".join(f"[{verb}](verbs/{verb}.md#json)" for verb in verbs) + ".", "", "## Parts", ""]
    for name in schema["$defs"]:
        if name.split("_")[0] not in verbs and name != "real":
            out += table(name, schema)
    return "\n".join(out)


def filled(text, schema):
    if not REGION.search(text):
        sys.exit("docs/json.md: no place for the tables")
    return REGION.sub(lambda found: f"{found[1]}\n{tables(schema)}\n{found[2]}", text)


def selftest():
    schema = {"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {
        "real": {"anyOf": [{"type": "number"}, {"enum": ["NaN"]}]},
        "a": {"type": "object", "required": ["n"], "properties": {
            "n": {"type": "integer", "minimum": 0}, "s": {"type": ["string", "null"], "enum": ["x", None]},
            "l": {"type": "array", "items": {"$ref": "#/$defs/real"}, "maxItems": 2}, "o": {"type": "object", "additionalProperties": True},
            "p": {"type": "string", "pattern": "^a"}}}}}
    right = [{"n": 1}, {"n": 0, "s": None, "l": [1.5, "NaN"], "o": {"any": 1}, "p": "ab"}]
    wrong = [{}, {"n": -1}, {"n": True}, {"n": 1.5}, {"n": 1, "s": "y"}, {"n": 1, "l": [1, 2, 3]}, {"n": 1, "l": ["x"]}, {"n": 1, "q": 1}, {"n": 1, "p": "b"}, [], 1]
    for value in right:
        assert not problems(value, schema["$defs"]["a"], schema), value
    for value in wrong:
        assert len(problems(value, schema["$defs"]["a"], schema)) == 1, value
    seen = set()
    problems(right[0], {"$ref": "#/$defs/a"}, schema, seen=seen)
    assert seen == {("a", "n")}, seen
    try:
        problems(1, {"oneOf": []}, schema)
        raise AssertionError("a word that is not checked was accepted")
    except ValueError:
        pass
    page = "x\n<!-- tables of tare.json -->\nold\n<!-- end -->\n"
    assert filled(page, schema) != page and filled(filled(page, schema), schema) == filled(page, schema)


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    old = PAGE.read_text(encoding="utf-8")
    new = filled(old, load())
    if arguments == ["--check"]:
        if old != new:
            sys.exit("docs/json.md is not what docs/schema/tare.json says: run `make readme`")
    else:
        PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
