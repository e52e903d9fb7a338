#!/usr/bin/env python3
"""Times `tare view` on a sparse model of 5 GiB, warm: the first requests of the page and every interaction, each with the bytes it
read. With chromium, also the first paint.

    bench/view.py build/release/tare [--rounds 9] [--file MODEL]

"ms" is the median time that a client waits; "cpu" the mean processor time of the server, which alone is meaningful on a busy machine.
The exit code is 1 if a first request of the page takes 300 ms of processor time, or an interaction 200.
"""

import argparse
import copy
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/view"))
import devtools  # noqa: E402
import models  # noqa: E402

FIRST = ["overview", "treemap?width=1202&height=460", "layers", "map?file=0"]
INTERACTIONS = [
    "tensors?count=100", "tensors?search=11+down&count=100", "tensors?sort=bytes&way=down&count=100", "tree?under=model.layers.",
    "treemap?under=model.layers.3.&width=1202&height=460", "map?file=0&from=1000000000&to=2000000000",
    "tensor?tensor=T", "block?tensor=T", "numbers?tensor=T", "values?tensor=T&slice=:8,:8",
    "heat?tensor=T&by=max&height=128&width=192", "heat?tensor=T&by=mean&height=128&width=192", "heat?tensor=T&by=sample&height=128&width=192",
    "heat?tensor=T&by=max&top=1000&bottom=5000&left=100&right=2000&height=128&width=192", "heat?tensor=T&by=max&top=8&bottom=24&left=0&right=16",
    "tokens?search=a", "metadata", "template",
]

# For two models: the pictures of A, B and their difference, which the page requests together, and the comparison of all tensors.
LINKED = [
    "heat?tensor=T&of=left&height=96&width=128", "heat?tensor=T&of=right&height=96&width=128", "heat?tensor=T&of=error&height=96&width=128",
    "numbers?tensor=T&of=error", "compare?sort=relative_rms&way=down&count=300", "compare?count=0&plot=1",
]


# Requests that are answered from memory and must not wait for other work.
CHEAP = ["overview", "tree?under=model.layers.", "tensors?search=11+down&count=100", "tensor?tensor=T", "treemap?width=1202&height=460", "check"]


class Client:
    def __init__(self, tare, *paths):
        self.process = subprocess.Popen([tare, "view", "--no-browser", *map(str, paths)], stdout=subprocess.PIPE, text=True)
        self.link = self.process.stdout.readline().strip()
        self.connect()

    def connect(self):
        host, self.token = self.link[len("http://"):].rstrip("/").split("/")
        self.connection = http.client.HTTPConnection(host, timeout=120)

    def another(self):
        """Another connection to the same server."""
        made = copy.copy(self)
        made.connect()
        return made

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.terminate()
        self.process.wait()

    def ask(self, target, method="GET"):
        begin = time.perf_counter()
        self.connection.request(method, f"/{self.token}/api/{target}")
        answer = self.connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - begin
        assert answer.status in (200, 422), (target, body[:200])
        return took, body


def measure(client, target, rounds):
    client.ask(target)  # warm
    cpu, times, body = client.cpu(), [], b""
    for _ in range(rounds):
        took, body = client.ask(target)
        times.append(took)
    return statistics.median(times) * 1000, (client.cpu() - cpu) / rounds * 1000, len(body), json.loads(body).get("read")


def measure_all(client, targets, tensor, most, rounds):
    """Prints the cost of each request; returns those that took more than `most` ms of processor time."""
    slow = []
    for target in targets:
        wall, cpu, size, read = measure(client, target.replace("tensor=T", f"tensor={tensor}"), rounds)
        print(f"{target:<86} {wall:7.1f} {cpu:7.1f} {size:9,} {'' if read is None else f'{read:,}':>10}")
        if cpu > most:
            slow.append(target)
    return slow


def measure_beside_work(client, tensor, rounds):
    """Times cheap requests while a check and a comparison of every value run, and four other clients request pictures."""
    ended = threading.Event()

    def look(number):
        own = client.another()
        while not ended.is_set():
            own.ask(f"heat?tensor={number}&by=max&height=128&width=192")
            own.ask(f"numbers?tensor={number}")

    client.ask("check/start", "POST")
    client.ask("compare/all?count=0", "POST")
    others = [threading.Thread(target=look, args=(tensor + i,)) for i in range(4)]
    for other in others:
        other.start()
    print("beside a check, a comparison of every value and four clients who look at pictures: median and longest, ms")
    try:
        for target in CHEAP:
            times = sorted(client.ask(target.replace("tensor=T", f"tensor={tensor}"))[0] * 1000 for _ in range(5 * rounds))
            print(f"{target:<86} {statistics.median(times):7.1f} {times[-1]:7.1f}")
    finally:
        ended.set()
        for other in others:
            other.join()
    state = json.loads(client.ask("compare?count=0")[1])["every_value"]
    print(f"by then {state['progress'] / max(1, state['expected']):.0%} of all values had been compared")


def first_paint(link):
    browser = devtools.Browser()
    try:
        results = []
        for _ in range(3):
            browser.open("about:blank")
            browser.open(link)
            browser.wait("document.querySelectorAll('svg.map rect').length > 3")
            browser.wait("performance.getEntriesByName('first-contentful-paint').length > 0")  # reported slightly after the event
            results.append(browser.script("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        return min(results)
    finally:
        browser.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tare")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--file")
    arguments = parser.parse_args()
    slow = []
    with tempfile.TemporaryDirectory() as directory:
        path = arguments.file or models.large(pathlib.Path(directory, "large.safetensors"))
        begin = time.perf_counter()
        client = Client(arguments.tare, path)
        try:
            print(f"{pathlib.Path(path).stat().st_size / (1 << 30):.1f} GiB; the link is there after {(time.perf_counter() - begin) * 1000:.0f} ms")
            tensors = json.loads(client.ask("tensors?sort=bytes&way=down&count=40")[1])["rows"]
            tensor = next((row for row in tensors if row["role"] == "down"), tensors[0])["tensor"]
            print(f"{'request':<86} {'ms':>7} {'cpu':>7} {'answer':>9} {'read':>10}")
            for most, targets in ((300, FIRST), (200, INTERACTIONS)):
                slow += measure_all(client, targets, tensor, most, arguments.rounds)
            memory = [line for line in pathlib.Path(f"/proc/{client.process.pid}/status").read_text().splitlines() if line.startswith(("VmHWM", "RssAnon"))]
            print("memory of the server: " + ", ".join(" ".join(line.split()) for line in memory))
            if devtools.missing() is None:
                print(f"first paint in chromium: {first_paint(client.link):.0f} ms")
        finally:
            client.end()
        client = Client(arguments.tare, path, path)
        try:
            begin = time.perf_counter()
            client.ask("compare/start", "POST")
            while not json.loads(client.ask("compare?count=0")[1])["done"]:
                time.sleep(0.02)
            print(f"two models: a sample of all tensors is compared after {(time.perf_counter() - begin) * 1000:.0f} ms")
            slow += measure_all(client, LINKED, tensor, 200, arguments.rounds)
            measure_beside_work(client, tensor, arguments.rounds)
        finally:
            client.end()
    for target in slow:
        print(f"too slow: {target}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
