#!/usr/bin/env python3
"""Plans and parts of other users: what `tare task` and `tare finish` do with them.

    plan_owners.py TARE        exit 77 unless it can give files away
"""
import os
import pathlib
import shutil
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

        def run(*words):
            done = subprocess.run([tare, *words], cwd=home, capture_output=True, text=True)
            return done.returncode, done.stderr

        def refused(rule, *words):
            code, said = run(*words)
            assert code == 1 and f"({rule})" in said, (words, code, said)

        def works(*words):
            code, said = run(*words)
            assert code == 0, (words, code, said)

        def plan():
            (home / "out.npz").unlink(missing_ok=True)
            works("plan", "job.json", "--force", "--tasks", "2", "--", "model.zt", "out.npz", "--drop", "attributes")

        part = home / "job.json.00001.part"

        # A part of another user.
        plan()
        works("task", "job.json", "0")
        works("task", "job.json", "1")
        os.chown(part, SOMEBODY, SOMEBODY)
        refused("plan.part.owner", "finish", "job.json")
        assert not (home / "out.npz").exists() and part.exists()
        works("finish", "job.json", "--any-owner")
        assert not part.exists()

        # A plan of another user decides what to overwrite.
        plan()
        os.chown(home / "job.json", SOMEBODY, SOMEBODY)
        refused("cli.plan.owner", "task", "job.json", "0")
        refused("cli.plan.owner", "finish", "job.json")
        works("task", "job.json", "0", "--any-owner")

        # A link to a plan of the user's own, planted by any user.
        plan()
        (home / "planted.json").symlink_to("job.json")
        refused("cli.plan.link", "task", "planted.json", "0")
        refused("cli.plan.link", "finish", "planted.json")

        # "link/.." is where the link leads, and the part is next to the plan.
        (home / "deep" / "inner").mkdir(parents=True)
        (home / "side").mkdir()
        (home / "side" / "link").symlink_to("../deep/inner")
        works("plan", "deep/far.json", "--tasks", "1", "--", "model.zt", "far.zt")
        works("task", "side/link/../far.json", "0")
        assert (home / "deep" / "far.json.00000.part").exists(), sorted(home.rglob("*.part"))
        works("finish", "side/link/../far.json")

        # A link in the place of a part, whosever it is: not written through, not read, and its target not removed.
        plan()
        mine = home / "mine"
        mine.write_text("precious")
        part.symlink_to(mine)
        refused("io.sink.link", "task", "job.json", "1")
        part.unlink()
        works("task", "job.json", "0")
        works("task", "job.json", "1")
        shutil.move(part, home / "elsewhere")
        part.symlink_to("elsewhere")
        code, said = run("finish", "job.json")
        assert code == 1 and "1 of 2 tasks not done" in said, said
        assert mine.read_text() == "precious" and (home / "elsewhere").exists()


if __name__ == "__main__":
    main()
