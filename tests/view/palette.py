#!/usr/bin/env python3
"""Colours of types: the page has the same as the pictures of `tare report --svg`, and types of one file differ visibly.

    palette.py SRC      the folder src/view
"""

import itertools
import pathlib
import re
import sys

# Types that appear in one file.
FILES = [
    "f32 f16 bf16 ggml.q4_0 ggml.q4_1 ggml.q4_k ggml.q5_0 ggml.q5_1 ggml.q5_k ggml.q6_k ggml.q8_0 ggml.q3_k ggml.q2_k ggml.iq4_nl ggml.iq4_xs "
    "ggml.iq3_s ggml.iq3_xxs ggml.iq2_s ggml.iq2_xs ggml.iq2_xxs",
    "f16 mcf.int8 mcf.int4 mcf.q8 mcf.q4 mcf.k6 mcf.k4 mcf.k3 mcf.k2",
    "f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool f8_e4m3fn f8_e5m2 complex64",
]
LEAST = 10  # a distance in CIELAB: 2 is just noticeable, and small squares in a legend need more


def lab(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))]
    x, y, z = (sum(a * b for a, b in zip(row, linear)) for row in ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8729)))
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def main(source):
    native = re.findall(r'\{"([^"]+)", "(#[0-9a-f]{6})"\}', (source / "palette.cpp").read_text())
    page = re.findall(r"\['([^']+)', '(#[0-9a-f]{6})'\]", (source / "page/colour.js").read_text())
    assert len(native) > 20 and native == page, set(native) ^ set(page)
    for names in map(str.split, FILES):
        colours = {name: next(colour for part, colour in native if part in name) for name in names}
        near = [(a, b) for a, b in itertools.combinations(names, 2) if sum((p - q) ** 2 for p, q in zip(lab(colours[a]), lab(colours[b]))) < LEAST ** 2]
        assert near == [], near
    print(f"{len(native)} colours are those of the page")


main(pathlib.Path(sys.argv[1]))
