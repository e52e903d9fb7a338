#!/usr/bin/env python3
"""Links and names that others planted where a verb is to write.

    places.py TARE        exit 77 unless it can give links away
"""
import os
import pathlib
import resource
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

        # A directory of the user's that another user's link leads to.
        (home / "precious").mkdir()
        for link, target in (("planted", "precious"), ("dangling", "not_there")):
            (home / link).symlink_to(target)
            os.chown(home / link, SOMEBODY, SOMEBODY, follow_symlinks=False)
            for words in ((link,), (link, "--force"), (link + "/", "--force")):
                refused("io.sink.link", "demo", *words)
        assert not list((home / "precious").iterdir()) and not (home / "not_there").exists()

        # Where there is no room, a directory that the demo made does not remain with half of its files.
        for most in (1 << 10, 40 << 10, 120 << 10):
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # noqa: B023, E731
            done = subprocess.run([tare, "demo", "made/by/demo"], cwd=home, capture_output=True, text=True, preexec_fn=limit)
            assert done.returncode == 1 and not (home / "made/by/demo").exists(), (most, done.returncode, done.stderr)
            (home / "mine").mkdir(exist_ok=True)
            (home / "mine/notes").write_text("mine")
            done = subprocess.run([tare, "demo", "mine"], cwd=home, capture_output=True, text=True, preexec_fn=limit)
            assert done.returncode == 1 and (home / "mine/notes").read_text() == "mine", (most, done.stderr)

        # A file that has another name does not grow under both.
        os.link(home / "model.zt", home / "kept.zt")
        before = (home / "kept.zt").read_bytes()
        refused("io.sink.names", "append", "model.zt", "one.npy")
        assert (home / "kept.zt").read_bytes() == before


if __name__ == "__main__":
    main()
