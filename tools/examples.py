#!/usr/bin/env python3
"""Takes the C++ examples out of the documents, so that the build compiles them.

    tools/examples.py OUTPUT_DIR DOCUMENT...

An example is a ```cpp block whose first line is `// example: NAME`. It is written to OUTPUT_DIR/NAME.cpp, unless that
file holds it already, and its name is printed. A cpp block without that line is an error: nothing in the documents is
C++ that was never compiled.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST_LINE = re.compile(r"// example: ([a-z0-9-]+)\n")


def main(output_dir, *documents):
    output = pathlib.Path(output_dir)
    output.mkdir(parents=True, exist_ok=True)
    seen = {}
    for document in map(pathlib.Path, documents):
        text = document.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            name = FIRST_LINE.match(block[1])
            if not name:
                sys.exit(f"{document}:{line}: a cpp block must start with `// example: NAME`")
            if name[1] in seen:
                sys.exit(f"{document}:{line}: example {name[1]} stands in {seen[name[1]]} already")
            seen[name[1]] = document
            program = f'#line {line + 1} "{document}"\n{block[1]}'
            path = output / f"{name[1]}.cpp"
            if not path.exists() or path.read_text(encoding="utf-8") != program:
                path.write_text(program, encoding="utf-8")
    print("\n".join(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
