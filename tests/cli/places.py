#!/usr/bin/env python3
"""Links and names that others planted where a verb is to write.

    places.py TARE        exit 77 unless it can give links away
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import fixtures

SOMEBODY = 12345


def main():
    tare = sys.argv[1]
    if os.geteuid() != 0:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        home = pathlib.Path(name)
        fixtures.make(name)

        def refused(rule, *words):
            done = subprocess.run([tare, *words], cwd=home, capture_output=True, text=True)
            assert done.returncode != 0 and f"({rule})" in done.stderr, (words, done.returncode, done.stderr)

        # A directory of the user's that somebody else's link leads to.
        (home / "precious").mkdir()
        for link, target in (("planted", "precious"), ("dangling", "not_there")):
            (home / link).symlink_to(target)
            os.chown(home / link, SOMEBODY, SOMEBODY, follow_symlinks=False)
            for words in ((link,), (link, "--force"), (link + "/", "--force")):
                refused("io.sink.link", "demo", *words)
        assert not list((home / "precious").iterdir()) and not (home / "not_there").exists()

        # A file that has another name does not grow under both.
        os.link(home / "model.zt", home / "kept.zt")
        before = (home / "kept.zt").read_bytes()
        refused("io.sink.names", "append", "model.zt", "one.npy")
        assert (home / "kept.zt").read_bytes() == before


if __name__ == "__main__":
    main()
