#!/usr/bin/env python3
"""Writes docs/benchmarks.md, its charts and the numbers in README.md from the stored runs in bench/results.

    bench/page.py             writes them
    bench/page.py --check     exit 1, saying what, if that would change something, or a number is not where it should be in the page that
                              describes its run
    bench/page.py --selftest  shows that the check can fail

bench/suite.py makes a file for each kind of machine; earlier.json has the numbers of runs that need other machines, each with the page
that describes its run and the two cells of a table there, `[row, column]`, that have Tare's number and the rival's. The check compares
all three: the cells are of one job and one run, name Tare and that rival, and have these numbers.
In README.md, `<!-- numbers: ID ID -->` to `<!-- end -->` is a table of some of these; MACHINE:JOB is a job of a run of bench/suite.py.
"""

import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
NUMBERS = re.compile(r"(<!-- numbers: ([\w: -]+) -->\n).*?(<!-- end -->)", re.DOTALL)
GROUPS = {"open": "Opening and listing", "python": "Python: load and save", "convert": "Converting", "check": "Hashing and verifying", "quantize": "Quantizing"}
COLOURS = {"Tare": "#2f6fde", "Tare, --fast": "#7fa8ee"}
NAMES = {"gguf": "gguf-py", "llama_cpp": "llama.cpp"}


def seconds_text(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def memory_text(megabytes, floor):
    return f"{megabytes} MB" if megabytes > floor * 1.02 else f"at most {floor} MB"


def ratio_text(row):
    """How many times as fast as the fastest other; below 1, the other is faster."""
    times = row["processor_seconds"]
    others = {who: time for who, time in times.items() if not who.startswith("Tare")}
    return f"{min(others.values()) / times['Tare']:.1f}" if others else "-"


# ---- charts


def text(x, y, words, anchor="start", size=12, colour="#333"):
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace("`", "")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{words}</text>'


def svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def bars(rows):
    """For each job a bar per contender; the slowest of a job has the full width."""
    parts, y = [], 18
    for row in rows:
        parts.append(text(10, y, row["title"], size=13))
        y += 8
        most = max(row["processor_seconds"].values())
        for who, seconds in row["processor_seconds"].items():
            width = max(2, 420 * seconds / most)
            parts.append(text(150, y + 12, NAMES.get(who, who), "end"))
            parts.append(f'<rect x="158" y="{y}" width="{width:.1f}" height="16" fill="{COLOURS.get(who, "#b0b6c0")}"/>')
            parts.append(text(164 + width, y + 12, seconds_text(seconds)))
            y += 20
        y += 18
    return svg(680, y, parts)


def lines(x, series, x_label, y_label):
    """Logarithmic on both axes."""
    left, top, width, height = 70, 16, 440, 200
    values = [value for column in series.values() for value in column]
    low, high = (math.log10(min(values)) - 0.1, math.log10(max(values)) + 0.1)
    first, last = math.log10(x[0]), math.log10(x[-1])
    place = lambda a, b: (left + width * (math.log10(a) - first) / (last - first), top + height * (1 - (math.log10(b) - low) / (high - low)))  # noqa: E731
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#ccc"/>']
    for value in x:
        parts.append(text(place(value, values[0])[0], top + height + 16, f"{value:,}", "middle", 11))
    parts += [text(left + width / 2, top + height + 34, x_label, "middle"), text(10, top + 4, y_label, size=11)]
    for (name, column), colour in zip(series.items(), ("#2f6fde", "#d07020", "#3a9a5c")):
        points = [place(a, b) for a, b in zip(x, column)]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        parts += [text(a, b - 7, f"{value:,}", "middle", 10, colour) for (a, b), value in zip(points, column)]
        parts.append(text(left + width + 10, points[-1][1] + 4, name, size=11, colour=colour))
    return svg(640, top + height + 44, parts)


# ---- the page


def job_table(rows):
    who = [name for name in dict.fromkeys(name for row in rows for name in row["processor_seconds"])]
    out = ["| job | " + " | ".join(NAMES.get(name, name) for name in who) + " | times as fast |", "| --- |" + " --- |" * (len(who) + 1)]
    for row in rows:
        cells = [seconds_text(row["processor_seconds"][name]) if name in row["processor_seconds"] else "" for name in who]
        out.append(f"| {row['title']} | " + " | ".join(cells) + f" | {ratio_text(row)} |")
    return out


def error_table(rows):
    who = [name for name in dict.fromkeys(name for row in rows for name in row["relative_rms"])]
    out = ["| relative error | " + " | ".join(NAMES.get(name, name) for name in who) + " |", "| --- |" + " --- |" * len(who)]
    return out + [f"| {row['title']} | " + " | ".join(f"{row['relative_rms'][name]:.4g}" if name in row["relative_rms"] else "" for name in who) + " |" for row in rows]


def rival_table(run):
    out = ["| rival | version | to install it |", "| --- | --- | --- |"]
    return out + [f"| {NAMES.get(name, name)} | {rival['version'] or 'not installed in this run'} | `{rival['install']}` |" for name, rival in run["rivals"].items()]


# What models that run should reach: bench/run.py's ratios, at least (or at most) these.
SCORE_OF_BLAS, SCORE_OF_BF16, GENERATE, PROMPT = 0.6, 1.3, 0.7, 0.5


def models_section(ran):
    """The tables of bench/run.py."""
    rival = ran["llama_cpp"]
    ratio = lambda row, job, who: row[job].get("of_llama_cpp", {}).get(who)  # noqa: E731
    shown = lambda three: f"{three[0]:.2f} ({three[1]:.2f} to {three[2]:.2f})" if three else ""  # noqa: E731
    load = ", ".join(map(str, ran["load"]))
    out = ["### Running models", "",
           f"Threads: {ran['threads']}. Rounds: {min(row['rounds'] for row in ran['rows'])} or more; ratios are medians over the rounds, in which all take turns. The load of the machine at the end was {load}",
           "(1, 5 and 15 minutes): other programs ran at the same time, so times are processor time, and vary. A thread read "
           f"{ran['read_bytes_per_second'] / 1e9:.1f} GB/s.", ""]
    if rival:
        out += [f"llama.cpp is that of {rival['version']}, built with: {rival['system'].split(':', 1)[-1].strip(' |')}.", ""]
    out += ["| scoring | tokens/s | f32 products of OpenBLAS | share of it | time next to bf16 |", "| --- | --- | --- | --- | --- |"]
    for row in ran["rows"]:
        out.append(f"| {row['model']}, {row['type']} | {row['score_tokens_per_second']:.0f} | {row['blas_gigaflops']:.0f} GFLOP/s | {row['score_of_blas']:.2f} | {row.get('score_of_bf16', '')} |")
    for job, title in (("prompt", "a prompt of 512 tokens"), ("generate", "generating")):
        out += ["", f"| {title} | Tare | next to llama.cpp | Tare, `--fast` | next to llama.cpp | llama.cpp |", "| --- | --- | --- | --- | --- | --- |"]
        for row in ran["rows"]:
            speeds = row[job]
            cells = [f"{speeds['Tare']:.0f} tokens/s", shown(ratio(row, job, "Tare")), f"{speeds['Tare, --fast']:.0f} tokens/s", shown(ratio(row, job, "Tare, --fast"))]
            out.append(f"| {row['model']}, {row['type']} | " + " | ".join(cells) + " | " + (f"{speeds['llama_cpp']:.0f} tokens/s" if "llama_cpp" in speeds else "") + " |")
    return [*out, ""]


def model_losses(ran):
    """What does not reach the numbers above, or is slower than llama.cpp."""
    found = []
    for row in ran.get("rows", []):
        name = f"{row['model']}, {row['type']}"
        if row["score_of_blas"] < SCORE_OF_BLAS and "score_of_bf16" not in row:
            found.append(f"scoring, {name}: {row['score_of_blas']:.2f} of OpenBLAS's f32 products")
        if row.get("score_of_bf16", 0) > SCORE_OF_BF16:
            found.append(f"scoring, {name}: {row['score_of_bf16']:.2f} of the time of bf16")
        for job in ("prompt", "generate"):
            for who, (middle, *_) in row[job].get("of_llama_cpp", {}).items():
                if middle < 1:
                    found.append(f"{'a prompt' if job == 'prompt' else 'generating'}, {name}: {who} is {middle:.2f} times as fast as llama.cpp")
    return found


def losses(runs, earlier):
    found = [line for run in runs.values() for line in model_losses(run.get("run", {}))]
    for run in runs.values():
        found += [f"{row['title']}: {ratio_text(row)} times as fast as the best of the others" for row in run["jobs"] if ratio_text(row) != "-" and float(ratio_text(row)) <= 1]
    for row in earlier:
        mine, other = (float(row[key].split()[0].replace(",", "")) for key in ("tare", "other"))
        better = mine >= other if "/s" in row["tare"] else mine <= other
        if not better or mine == other:
            found.append(f"{row['job']}: {row['tare']}, {row['who']} {row['other']}")
    return found


def machine_sections(kind, run, charts):
    out = [f"## {run['machine']}", "",
           f"Measured on {run['date']} with Tare {run['tare']}, Python {run['python']} and NumPy {run['numpy']}, at a load of {run['load']}. All times are **processor time**, which other",
           "programs on the machine disturb little." + (" Each is the best of several rounds, in which the contenders take turns." if run["jobs"] else ""), ""]
    for group, title in GROUPS.items():
        rows = [row for row in run["jobs"] if row["group"] == group]
        if not rows:
            continue
        charts[f"{kind}-{group}.svg"] = bars(rows)
        out += [f"### {title}", "", *job_table(rows), ""]
        if group == "quantize":
            out += [*error_table(rows), "", "The weights are Gaussian. In the rows of one type, gguf-py and llama.cpp are timed without reading and writing files, Tare with both.",
                    "All use one thread. More: [quantization.md](quantization.md).", ""]
        out += [f"![{title}](benchmarks/{kind}-{group}.svg)", ""]
    grown = run["growth"]
    if grown:
        tensors, sizes = grown["tensors"], grown["bytes"]
        mib = [value >> 20 for value in sizes["x"]]
        floor = grown["floor_mb"]
        charts[f"{kind}-tensors.svg"] = lines(tensors["x"], {"time, ms": tensors["info_ms"], "memory, MB": tensors["info_mb"]}, "tensors in the file, `tare info`", "ms, MB")
        charts[f"{kind}-bytes.svg"] = lines(mib, {"convert, ms": sizes["convert_ms"], "quantize, ms": sizes["quantize_ms"], "quantize, MB": sizes["quantize_mb"]}, "MiB in the file", "ms, MB")
        out += ["### Growth", "", "| tensors | `tare info` | peak memory |", "| --- | --- | --- |"]
        out += [f"| {count:,} | {time} ms | {memory_text(memory, floor)} |" for count, time, memory in zip(tensors["x"], tensors["info_ms"], tensors["info_mb"])]
        out += ["", "| file | `tare convert` to zTensor | peak memory | `tare quantize --method k4` | peak memory |", "| --- | --- | --- | --- | --- |"]
        out += [f"| {size} MiB | {a} ms | {memory_text(b, floor)} | {c} ms | {memory_text(d, floor)} |" for size, a, b, c, d in
                zip(mib, sizes["convert_ms"], sizes["convert_mb"], sizes["quantize_ms"], sizes["quantize_mb"])]
        if waited := grown.get("threads"):
            out += ["", "| threads, 512 MiB, wall time | " + " | ".join(f"`tare {name}`" for name in waited["wall_ms"]) + " |", "| --- |" + " --- |" * len(waited["wall_ms"])]
            out += [f"| {count} | " + " | ".join(f"{time} ms" for time in times) + " |" for count, *times in zip(waited["x"], *waited["wall_ms"].values())]
        out += ["", "Peak memory counts the pages of the mapped file that were in use, too; the system can take those back at any time.", "",
                f"![Growth with the number of tensors](benchmarks/{kind}-tensors.svg)", f"![Growth with the size of the file](benchmarks/{kind}-bytes.svg)", ""]
    if run.get("run"):
        out += models_section(run["run"])
    return out + ["### Rivals in this run", "", *rival_table(run), ""]


def numbers_table(rows):
    out = ["| job | Tare | next best | source |", "| --- | --- | --- | --- |"]
    return out + [f"| {row['job']} | {row['tare']} | {row['who']} {row['other']} | [{row['page'].split('/')[-1]}]({row['page']}) |" for row in rows]


def best_row(run, kind, job):
    """A job of a stored run as a row of earlier.json: Tare, and the fastest of the others."""
    row = next((row for row in run["jobs"] if row["id"] == job), None)
    others = {who: time for who, time in (row or {"processor_seconds": {}})["processor_seconds"].items() if not who.startswith("Tare")}
    if not others:
        sys.exit(f"README.md: bench/results/{kind}.json has no job {job} with a rival")
    who = min(others, key=others.get)
    return {"job": f"CPU time to {row['title']}", "tare": seconds_text(row["processor_seconds"]["Tare"]), "who": NAMES.get(who, who), "other": seconds_text(others[who]), "page": "docs/benchmarks.md"}


def unmeasured(runs):
    """What no stored run has: `make bench` measures the first of these where the rival is installed."""
    contenders = {who for run in runs.values() for row in run["jobs"] for who in row["processor_seconds"]}
    wanted = {"llama_cpp": "llama.cpp's quantizer in the same run ([quantization.md](quantization.md#next-to-ggml) has an earlier one)",
              "convert_hf_to_gguf": "llama.cpp's convert_hf_to_gguf.py in the same run"}
    found = [words for who, words in wanted.items() if who not in contenders]
    if not any(run["growth"].get("threads") for run in runs.values()):
        found.append("speed-up by threads, which needs a quiet machine")
    return [*found, "several GPUs", "network file systems"]


def made(runs, earlier, readme):
    """{path: text} of everything that is generated."""
    charts = {}
    lost = losses(runs, earlier)
    absent = unmeasured(runs)
    out = ["# Benchmarks", "", "<!-- Written by bench/page.py from bench/results; edit those. -->", "",
           "`make bench` runs the jobs below with Tare and with the rivals that are installed, stores the numbers in [bench/results](../bench/results), and writes this",
           "page. Jobs in which Tare is slower are included. The numbers in the README are rows of this page; a test compares job, number and rival.", "",
           "## Where Tare is not faster", "", *[f"- {line}" for line in lost or ["nowhere in these runs"]], "",
           "Not measured yet:", "", *[f"- {line}" for line in absent], "",
           "## Other machines", "", "Each of these runs is described on the page that is named.", "", "| job | Tare | otherwise | machine | described in |", "| --- | --- | --- | --- | --- |"]
    out += [f"| {row['job']} | {row['tare']} | {row['who']} {row['other']} | {row['machine']} | [{row['page'].split('/')[-1]}]({row['page'].removeprefix('docs/')}) |" for row in earlier]
    out += ["", "[bench/gpu](../bench/gpu) measures the GPU; `make limits` measures the limits of the machine, and single kernels.", ""]
    for kind, run in runs.items():
        out += machine_sections(kind, run, charts)
    known = {row["id"]: row for row in earlier}

    def table(region):
        ids = region[2].split()
        if missing := [name for name in ids if name not in known and name.split(":")[0] not in runs]:
            sys.exit(f"README.md: no stored number is called {', '.join(missing)}")
        rows = [known[name] if name in known else best_row(runs[name.split(":")[0]], *name.split(":", 1)) for name in ids]
        return region[1] + "\n".join(numbers_table(rows)) + "\n" + region[3]

    if not NUMBERS.search(readme):
        sys.exit("README.md: no table of numbers")
    files = {"docs/benchmarks.md": "\n".join(out).rstrip("\n") + "\n", "README.md": NUMBERS.sub(table, readme)}
    return files | {f"docs/benchmarks/{name}": text for name, text in charts.items()}


MARK = re.compile(r" \((\d+)\)$")  # marks a row from another run


def tables(page):
    """Each table of a page as {(row, column): text}; labels are without bold letters and code marks."""
    plain = lambda text: text.strip().replace("**", "").replace("`", "")  # noqa: E731
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        head, _, *rows = [[plain(cell) for cell in line.strip().strip("|").split("|")] for line in block.splitlines() if line.count("|") > 2] or [[""], ""]
        found.append({(row[0], column): cell for row in rows for column, cell in zip(head[1:], row[1:])})
    return found


def misquoted(row, page):
    """What is wrong with a row of earlier.json, next to the page that describes its run; None if nothing is."""
    mine, other = (tuple(row["at"][key]) for key in ("tare", "other"))
    table = next((table for table in tables(page) if mine in table and other in table), None)
    if table is None:
        return f"{row['page']} has no table with the cells {mine} and {other}"
    for place, number in ((mine, row["tare"]), (other, row["other"])):
        if not re.match(rf"{re.escape(number.split()[0])}(?![\d.,]\d|\d)", table[place]):
            return f"{row['page']} has {table[place]} at {place}, not {number}"
    common = [a == b for a, b in zip(mine, other)]
    if sum(common) != 1:
        return f"{mine} and {other} are not of one job: they share neither a row nor a column"
    shared = common.index(True)
    contenders = (mine[1 - shared], other[1 - shared])
    marks = [MARK.findall(name) for name in contenders]
    if marks[0] != marks[1]:
        return f"{mine} and {other} are of different runs"
    if "tare" not in contenders[0].lower() or not all(word.lower() in contenders[1].lower() for word in row["who"].replace(",", "").split()):
        return f"{mine} is not Tare's, or {other} not of {row['who']}"
    if shared == 1:  # a contender per row: all others of this run
        best = [text for (name, column), text in table.items() if column == mine[1] and MARK.findall(name) == marks[0] and not name.lower().startswith("tare")]
        if any(re.match(r"[\d.]+", text) and float(re.match(r"[\d.]+", text)[0]) > float(row["other"].split()[0]) for text in best):
            return f"{other} is not the best of the others in {mine[1]}"
    return None


def undescribed(earlier, pages):
    found = [(row["id"], misquoted(row, pages.get(row["page"], ""))) for row in earlier]
    return [f"bench/results/earlier.json: {name}: {problem}" for name, problem in found if problem]


def stored():
    runs = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json")) if path.stem != "earlier"}
    if small := [name for name, run in runs.items() if run.get("small")]:
        sys.exit(f"bench/results/{small[0]}.json: a run with --small, whose numbers mean nothing")
    return runs, json.loads((RESULTS / "earlier.json").read_text(encoding="utf-8"))["rows"]


def selftest():
    row = {"id": "a", "job": "j", "tare": "2.2 s", "other": "19.2 s", "who": "x", "machine": "m", "page": "docs/p.md",
           "at": {"tare": ["j", "Tare"], "other": ["j", "x"]}}
    table = "| job | Tare | x | y |\n| --- | --- | --- | --- |\n| `j` | **2.2 s** | 19.2 s | 3 s |\n| k | 2.2 s | 19.2 s | 3 s |\n"
    quoted = lambda page, **other: undescribed([row | other], {"docs/p.md": page})  # noqa: E731
    assert quoted(table) == []
    assert "no table" in quoted("2.2 s, and 19.2 s")[0] and "not 2.2 s" in quoted(table.replace("**2.2", "**12.2"))[0]
    assert "not 19.2 s" in quoted(table.replace("19.2 s | 3 s |\n| k", "19.21 s | 3 s |\n| k"))[0]
    assert "not of y" in quoted(table, who="y")[0] and "one job" in quoted(table, at={"tare": ["j", "Tare"], "other": ["k", "x"]})[0]
    loaders = "| loader | big |\n| --- | --- |\n| Tare | 52.5 |\n| x | 40.2 |\n| x fast (1) | 40.5 |\n| y | 41 |\n"
    speed = {"tare": "52.5 GB/s", "other": "40.2 GB/s", "at": {"tare": ["Tare", "big"], "other": ["x", "big"]}}
    assert "not the best" in quoted(loaders, **speed)[0] and quoted(loaders.replace("41", "39"), **speed) == []
    assert "different runs" in quoted(loaders, **(speed | {"other": "40.5 GB/s", "at": {"tare": ["Tare", "big"], "other": ["x fast (1)", "big"]}}))[0]
    run = {"machine": "m", "date": "d", "tare": "1", "python": "3", "numpy": "2", "load": 0, "rivals": {}, "growth": {},
           "jobs": [{"id": "j", "group": "open", "title": "t", "processor_seconds": {"Tare": 2.0, "x": 1.0}}]}
    readme = "<!-- numbers: a -->\nold\n<!-- end -->\n"
    files = made({"k": run}, [row], readme)
    assert "| j | 2.2 s | x 19.2 s |" in files["README.md"] and "old" not in files["README.md"], files["README.md"]
    assert "| CPU time to t | 2.00 s | x 1.00 s | [benchmarks.md](docs/benchmarks.md) |" in made({"k": run}, [row], readme.replace("a -->", "k:j -->"))["README.md"]
    assert "t: 0.5 times as fast" in files["docs/benchmarks.md"] and "docs/benchmarks/k-open.svg" in files
    grown = {"floor_mb": 1, "tensors": {"x": [1, 2], "info_ms": [1, 2], "info_mb": [1, 2]}, "threads": {"x": [1, 2], "wall_ms": {"hash": [20, 10]}},
             "bytes": {"x": [1 << 20, 2 << 20], "convert_ms": [1, 2], "convert_mb": [1, 2], "quantize_ms": [1, 2], "quantize_mb": [1, 2]}}
    fast = {"id": "q", "group": "quantize", "title": "t", "processor_seconds": {"Tare": 1.0, "llama_cpp": 2.0}, "relative_rms": {"Tare": 0.1, "llama_cpp": 0.2}}
    full = made({"k": run | {"growth": grown, "jobs": [*run["jobs"], fast]}}, [row], readme)["docs/benchmarks.md"]
    assert "| 2 | 10 ms |" in full and "| t | 0.1 | 0.2 |" in full and "llama.cpp's quantizer in the same run" not in full
    assert "llama.cpp's quantizer in the same run" in files["docs/benchmarks.md"]
    ran = {"threads": 1, "load": [1.0, 2.0, 3.0], "read_bytes_per_second": 1e10, "llama_cpp": {"version": "x 1", "system": "CPU : AVX2 = 1 |"}, "rows": [
        {"model": "m", "type": "q8_0", "rounds": 3, "score_tokens_per_second": 500.0, "score_of_blas": 0.5, "blas_gigaflops": 100.0, "score_of_bf16": 1.4,
         "prompt": {"Tare": 10.0, "Tare, --fast": 20.0, "llama_cpp": 11.0, "of_llama_cpp": {"Tare": [0.9, 0.8, 1.0], "Tare, --fast": [1.8, 1.7, 1.9]}},
         "generate": {"Tare": 10.0, "Tare, --fast": 20.0}}]}
    full = made({"k": run | {"run": ran}}, [row], readme)["docs/benchmarks.md"]
    assert "| m, q8_0 | 10 tokens/s | 0.90 (0.80 to 1.00) | 20 tokens/s | 1.80 (1.70 to 1.90) | 11 tokens/s |" in full, full
    assert "1.40 of the time of bf16" in full and "Tare is 0.90 times as fast" in full and "--fast is" not in full
    slower = row | {"tare": "3 GB/s", "other": "4 GB/s"}
    assert losses({}, [row]) == [] and len(losses({}, [slower])) == 1


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    runs, earlier = stored()
    files = made(runs, earlier, (ROOT / "README.md").read_text(encoding="utf-8"))
    pages = {row["page"]: (ROOT / row["page"]).read_text(encoding="utf-8") for row in earlier}
    found = undescribed(earlier, pages)
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "docs/benchmarks").glob("*.svg")}
    for name in sorted(there - files.keys()):
        found.append(f"{name}: no stored run has it")
    for name, content in files.items():
        path = ROOT / name
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        if arguments == ["--check"]:
            found.append(f"{name}: not what bench/results has; run bench/page.py")
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(sys.argv[1:])
