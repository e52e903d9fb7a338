"""What a notebook shows."""

import html
import math

from ._tare import number_text, size_text

_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d")
_MOST_ROWS = 60
_MOST_TILES = 400
_MOST_LETTERS = 300
# The words of the command for the impact of a change, the worst first. It does not list the others ("detail").
_IMPACTS = {"results": "warning", "lost": "lost", "changed": "changed", "note": "note"}


def model(m):
    """A table of the tensors, and a map of their sizes."""
    if m.closed:
        return "<p>a model that has been closed</p>"
    facts, rows = m.info(), m.table()
    types = sorted(facts["types"], key=lambda kind: -facts["types"][kind]["bytes"])
    colours = {kind: _COLOURS[i % len(_COLOURS)] for i, kind in enumerate(types)}
    name = html.escape(_printable(str(m.path) if m.path is not None else "bytes"))
    head = (
        f"<p><b>{name}</b>: {_format(facts['format'], facts['version'])}, {facts['tensors']:,} tensors, "
        f"{facts['parameters']:,} parameters, {size_text(facts['bytes'])}</p>"
    )
    lines = "".join(
        f"<tr><td style='text-align:left'>{html.escape(_printable(row['name']))}</td>"
        f"<td style='text-align:left'>{' &times; '.join(map(str, row['shape'])) or 'scalar'}</td>"
        f"<td style='text-align:left'><span style='color:{colours[row['type']]}'>&#9632;</span> {html.escape(_printable(row['type']))}</td>"
        f"<td style='text-align:right'>{size_text(row['bytes'])}</td></tr>"
        for row in rows[:_MOST_ROWS]
    )
    more = f"<p>and {len(rows) - _MOST_ROWS:,} more</p>" if len(rows) > _MOST_ROWS else ""
    heads = "".join(f"<th style='text-align:left'>{name}</th>" for name in ("name", "shape", "type"))
    table = f"<table><tr>{heads}<th style='text-align:right'>size</th></tr>{lines}</table>{more}"
    return head + treemap([(row["name"], row["bytes"], colours[row["type"]]) for row in rows]) + table


def tensor(t):
    """What is known about a tensor, and the histogram of its elements."""
    facts = (
        f"<p><b>{html.escape(_printable(t.name))}</b>: {' &times; '.join(map(str, t.shape)) or 'scalar'} "
        f"{html.escape(_printable(t.type))}, {size_text(t.nbytes)}</p>"
    )
    try:
        stats = t.stats(bins=1, first=0)
        counts, edges, outside = t._inner_histogram(40)
    except Exception as error:  # noqa: BLE001: a notebook shows what it can
        return facts + f"<p>{html.escape(_printable(str(error)))}</p>"
    words = ", ".join(f"{key} {number_text(stats[key])}" for key in ("min", "max", "mean", "std"))
    return facts + f"<p>{words}, {stats['nan']} NaN, {stats['inf']} infinite</p>" + histogram(counts, edges) + _outside(outside, edges)


def _outside(count, edges):
    if not count:
        return ""
    values = "1 value lies" if count == 1 else f"{count:,} values lie"
    return f"<p>{values} outside of {number_text(edges[0])} to {number_text(edges[-1])}</p>"


def verification(v):
    """The verdict, good without errors and warnings such as NaN in the weights, and a row for each finding, the worst first."""
    counts = [(word, v._count(word)) for word in ("error", "warning", "note") if v._count(word)]
    verdict = ", ".join(f"{count:,} {word}{'s' if count > 1 else ''}" for word, count in counts) or "nothing is wrong"
    head = _verdict(v.strict, f"{_format(v.format, v.version)}, {v.tensors:,} tensors, {size_text(v.bytes)}: {verdict}")
    worst_first = sorted(v.findings, key=lambda finding: ("error", "warning", "note").index(finding.severity))
    rows = [(finding.severity, finding.rule, finding.item, finding.sentence) for finding in worst_first]
    return head + _table(("severity", "rule", "item", "what is wrong"), rows)


def difference(d):
    """The verdict, and a row for each tensor, the worst first, and key that differs."""
    verdict = "the same" if d.same else f"{len(d.tensors):,} tensors and {len(d.metadata):,} keys differ"
    head = _verdict(d.same, f"{d.compared:,} tensors compared: {verdict}")
    rows = [
        (row["name"], *_two_sides(row), *(_number(row[fact]) if row["compared"] else "" for fact in ("relative_rms", "max_abs", "cosine")))
        for row in sorted(d.tensors, key=_badness, reverse=True)
    ]
    keys = [(row["part"], row["text"]) for row in d.metadata]
    return head + _table(("tensor", "A", "B", "relative error", "largest error", "cosine"), rows) + _table(("part", "difference"), keys)


def _badness(row):
    """What cannot be compared is the worst, then what has NaN."""
    if not row["compared"]:
        return math.inf, True
    return (math.inf, False) if math.isnan(row["relative_rms"]) else (row["relative_rms"], False)


def _two_sides(row):
    """What a tensor is in each of the two models."""
    if row["only_in"] is not None:
        return ("present", "missing") if row["only_in"] == "a" else ("missing", "present")
    sides = [[], []]
    for fact in ("shape", "type"):
        for side, value in zip(sides, row[fact] or ()):
            side.append(value)
    return tuple(" ".join(side) for side in sides)


def saved(s):
    """What was written, and what changed on the way."""
    head = _verdict(not s.lossy, f"{_text(s.format)}, {s.tensors:,} tensors, {size_text(s.file_bytes)}")
    rows = [(label, change["text"]) for impact, label in _IMPACTS.items() for change in s.changes if change["impact"] == impact]
    details = sum(change["impact"] not in _IMPACTS for change in s.changes)
    more = f"<p>and {details:,} detail{'s' if details > 1 else ''} in <code>changes</code></p>" if details else ""
    return head + _table(("", "what changed"), rows) + more


def vocabulary(v):
    """The special tokens, and a row for each of the first tokens."""
    special = ", ".join(f"{name} {number}" for name in ("bos", "eos", "pad", "unk") if (number := getattr(v, name)) >= 0)
    merges = f", {len(v.merges):,} merges" if v.merges else ""
    head = f"<p><b>{_text(v.kind or 'vocabulary')}</b>: {len(v):,} tokens{merges}{f'; {special}' if special else ''}</p>"
    first = v.tokens[:_MOST_ROWS]
    kinds = [v.TYPES[number] for number in v._parts["types"][: len(first)]] or [""] * len(first)
    rows = [(i, token.decode(errors="backslashreplace"), kind) for i, (token, kind) in enumerate(zip(first, kinds))]
    more = f"<p>and {len(v) - len(rows):,} more</p>" if len(v) > len(rows) else ""
    return head + _table(("id", "token", "type"), rows) + more


def quantized(q):
    """The size and the error of the whole, and of each tensor, the worst first."""
    head = saved(q) + f"<p>{q.bits_per_weight:.2f} bits per weight, relative error {number_text(q.relative_rms)}</p>"
    report = sorted(q.report, key=lambda row: -(row["relative_rms"] or 0))
    rows = [(row["name"], row["type"], f"{row['bits_per_weight']:.2f}", _number(row["relative_rms"])) for row in report]
    return head + _table(("tensor", "type", "bits per weight", "relative error"), rows)


def _verdict(good, words):
    # Both colours are legible on white and on black.
    colour, mark = ("#2e8540", "&#10003;") if good else ("#c4700b", "&#9888;")
    return f"<p><b style='color:{colour}'>{mark}</b> {words}</p>"


def _format(name, version):
    return _text(" ".join(part for part in (name, version) if part))


def _text(value):
    return html.escape(_printable(str(value)))


def _number(value):
    return "" if value is None else number_text(value)


def _table(names, rows):
    if not rows:
        return ""
    heads = "".join(f"<th style='text-align:left'>{name}</th>" for name in names)
    lines = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows[:_MOST_ROWS]
    )
    more = f"<p>and {len(rows) - _MOST_ROWS:,} more</p>" if len(rows) > _MOST_ROWS else ""
    return f"<table><tr>{heads}</tr>{lines}</table>{more}"


def histogram(counts, edges, width=480, height=120):
    """Bars as SVG."""
    most = max(int(max(counts, default=0)), 1)
    step = width / max(len(counts), 1)
    bars = "".join(
        f"<rect x='{i * step:.1f}' y='{height - height * int(count) / most:.1f}' width='{step * 0.9:.1f}' "
        f"height='{height * int(count) / most:.1f}' fill='{_COLOURS[0]}'><title>{number_text(edges[i])} to {number_text(edges[i + 1])}: "
        f"{int(count):,}</title></rect>"
        for i, count in enumerate(counts)
    )
    ends = (
        f"<text x='0' y='{height + 14}' font-size='11' fill='currentColor'>{number_text(edges[0])}</text>"
        f"<text x='{width}' y='{height + 14}' font-size='11' fill='currentColor' text-anchor='end'>{number_text(edges[-1])}</text>"
    )
    return f"<svg width='{width}' height='{height + 18}' xmlns='http://www.w3.org/2000/svg'>{bars}{ends}</svg>"


def treemap(items, width=640, height=160):
    """Rectangles as large as the tensors, by halving the list again and again."""
    items = _bundled(sorted((item for item in items if item[1] > 0), key=lambda item: -item[1]))
    shapes = []

    def place(part, x, y, w, h):
        if len(part) == 1:
            name, size, colour = part[0]
            shapes.append(
                f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(w - 0.5, 0.2):.1f}' height='{max(h - 0.5, 0.2):.1f}' "
                f"fill='{colour}'><title>{html.escape(_printable(name))}: {size_text(size)}</title></rect>"
            )
            return
        total, have, cut = sum(size for _, size, _ in part), 0, 0
        while cut < len(part) - 1 and have < total / 2:
            have += part[cut][1]
            cut += 1
        share = have / total
        if w >= h:
            place(part[:cut], x, y, w * share, h), place(part[cut:], x + w * share, y, w * (1 - share), h)
        else:
            place(part[:cut], x, y, w, h * share), place(part[cut:], x, y + h * share, w, h * (1 - share))

    if items:
        place(items, 0, 0, width, height)
    return f"<svg width='{width}' height='{height}' xmlns='http://www.w3.org/2000/svg'>{''.join(shapes)}</svg>"


def _bundled(items, most=_MOST_TILES):
    """At most so many items: the small ones, at the end, are put together to tiles of about the same size."""
    if len(items) <= most:
        return items
    rest, left, out = sum(size for _, size, _ in items), most, []
    while items and left > 1:
        part, size = 0, 0
        while part < len(items) and (not part or size + items[part][1] / 2 <= rest / left):
            size += items[part][1]
            part += 1
        out.append(_bundle(items[:part]))
        items, rest, left = items[part:], rest - size, left - 1
    return out + [_bundle(items)] if items else out


def _bundle(items):
    """One tile, in the colour of most of its bytes."""
    if len(items) == 1:
        return items[0]
    bytes_of = {}
    for _, size, colour in items:
        bytes_of[colour] = bytes_of.get(colour, 0) + size
    name = f"{len(items):,} tensors, from {items[0][0]} to {items[-1][0]}"
    return name, sum(bytes_of.values()), max(bytes_of, key=bytes_of.get)


def _printable(text):
    """Text of a file, cut, without control characters and invalid characters."""
    if len(text) > _MOST_LETTERS:
        text = text[: _MOST_LETTERS // 2] + "..." + text[-_MOST_LETTERS // 2 :]
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
