#!/usr/bin/env python3
"""For every option of `tare convert`: a plan gives the bytes that convert gives, or both refuse.

    option_walk.py TARE

The options are those that `tare convert --help` lists; option_samples.py has orders for each.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import option_samples


def attempt(command, folder, *words):
    done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{words}: exit code {done.returncode}: {done.stderr}")
    return done


def fresh(folder, output):
    """Removes the output, or puts something in its place for the sample that replaces it."""
    path = folder / output
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    if output == "exists.zt":
        shutil.copy(folder / "twice.zt", path)
    return path


def planned(command, folder, words, source, output):
    """By a plan of three tasks, in another order; the first step that fails."""
    (folder / "job.json").unlink(missing_ok=True)
    made = attempt(command, folder, "plan", "job.json", "--tasks", "3", "--", source, output, *words)
    if made.returncode != 0:
        return made
    for task in reversed(range(int(made.stdout))):
        done = attempt(command, folder, "task", "job.json", str(task))
        if done.returncode != 0:
            return done
    return attempt(command, folder, "finish", "job.json", *(() if "--json" in words else ["--json"]))


def changes_in(run):
    """The changes that a run with --json reports, sorted."""
    return sorted(json.dumps(change, sort_keys=True) for change in json.loads(run.stdout)["changes"])


def main(command):
    wrong, count, refused = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="tare-options-") as place:
        folder = pathlib.Path(place)
        tare = option_samples.runner(command, folder)
        option_samples.make_files(folder, tare)
        general = {"color", "quiet", "help"}
        options = option_samples.options_of(tare, "convert") - general
        if options != option_samples.SAMPLES.keys():
            raise SystemExit(f"samples and options differ: {sorted(options ^ option_samples.SAMPLES.keys())}")
        for option, samples in option_samples.SAMPLES.items():
            for words, source, output, _ in samples:
                path = fresh(folder, output)
                before = option_samples.content(path)
                direct = attempt(command, folder, "convert", source, output, *words, *(() if "--json" in words else ["--json"]))
                expected = option_samples.content(path)
                fresh(folder, output)
                by_plan = planned(command, folder, words, source, output)
                found = option_samples.content(path)
                count += 1
                refused += direct.returncode != 0
                what = f"--{option}: {source} -> {output} {' '.join(words)}"
                if (direct.returncode == 0) != (by_plan.returncode == 0):
                    wrong.append(f"{what}: convert {direct.returncode} {direct.stderr} plan {by_plan.returncode} {by_plan.stderr}")
                elif found != expected:
                    wrong.append(f"{what}: other bytes")
                elif direct.returncode == 0 and changes_in(direct) != changes_in(by_plan):
                    wrong.append(f"{what}: convert says {changes_in(direct)}, finish {changes_in(by_plan)}")
                elif direct.returncode != 0 and found != before:
                    wrong.append(f"{what}: refused, and something was written")
        # An adapter is a part of what a plan is about.
        shutil.copytree(folder / "lora", folder / "other")
        fresh(folder, "out.zt")
        attempt(command, folder, "plan", "job.json", "--force", "--tasks", "2", "--", "mistral", "out.zt", "--merge", "other")
        attempt(command, folder, "task", "job.json", "0")
        config = folder / "other" / "adapter_config.json"
        config.write_text(config.read_text().replace('"lora_alpha": 4', '"lora_alpha": 8'))
        attempt(command, folder, "task", "job.json", "1")
        done = attempt(command, folder, "finish", "job.json")
        if done.returncode != 1 or "plan.source" not in done.stderr:
            wrong.append(f"parts of two adapters: {done.returncode} {done.stderr}")
    for line in wrong:
        print(line)
    print(f"{count} orders, {refused} of them refused by convert and by plan; {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
