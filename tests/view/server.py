#!/usr/bin/env python3
"""The server of `tare view` as its clients see it: access, what slow and broken ones do to others, what happens when the
model changes. Exit code 77 when libmicrohttpd is missing.

    server.py TARE
"""

import concurrent.futures
import fcntl
import http.client
import json
import os
import pathlib
import pty
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

import models

TARE = sys.argv[1]


class Server:
    def __init__(self, *arguments, files=None):
        def prepare():
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell that runs this in the background ignores it
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        self.process = subprocess.Popen([TARE, "view", "--no-browser", *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True,
                                        preexec_fn=prepare)
        self.link = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.link)
        if match is None:
            error = self.process.stderr.read()
            if "view.library" in error:
                print("skipped: " + error.strip())
                sys.exit(77)
            raise AssertionError(f"no link: {self.link!r} {error!r}")
        self.port, self.token = int(match[1]), match[2]

    def ask(self, target, method="GET", host=None, headers=None, body=None, timeout=60):
        """(status, headers, body) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            if host != "":
                connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def api(self, target, **more):
        status, headers, body = self.ask(f"/{self.token}/api/{target}", **more)
        return status, json.loads(body)

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        code = self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def rule(answer):
    return json.loads(answer[2])["error"]["rule"]


def check_door(server):
    api, own = f"/{server.token}/api/overview", f"127.0.0.1:{server.port}"
    status, headers, body = server.ask(f"/{server.token}/")
    assert status == 200 and body.startswith(b"<!doctype html>"), status
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, policy
    for name, value in {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
                        "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY"}.items():
        assert headers[name] == value, (name, headers[name])
    assert "Access-Control-Allow-Origin" not in headers
    assert server.ask(api)[0] == 200
    assert server.ask(api, host=f"localhost:{server.port}")[0] == 200
    # The token, and nothing near it.
    for wrong in ("/", "/api/overview", f"/{'0' * 32}/api/overview", f"/{server.token[:-1]}/api/overview", f"/{server.token[:-1]}", f"/{server.token.upper()}x/",
                  f"//{server.token}/api/overview", f"/?token={server.token}"):
        status = server.ask(wrong)[0]
        assert status in (403, 404), (wrong, status)
    # The link without its last slash leads to the one with it.
    status, headers, _ = server.ask(f"/{server.token}")
    assert status == 308 and headers["Location"] == f"/{server.token}/", (status, headers)
    assert server.ask(f"/{server.token}", host="attacker.example")[0] == 403
    # A browser that opens a wrong link gets a page. The page does not contain the right link and runs no script.
    for wrong, host in (("/", None), (f"/{'0' * 32}/", None), (f"/{server.token}/", "attacker.example")):
        status, headers, body = server.ask(wrong, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}, **({"host": host} if host else {}))
        assert status == 403 and headers["Content-Type"].startswith("text/html") and b"<h1>This link does not work</h1>" in body, (wrong, status, body)
        assert server.token.encode() not in body and b"<script" not in body and b"{{" not in body, body
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src" not in policy, policy
        assert headers["X-Frame-Options"] == "DENY" and headers["Cache-Control"] == "no-store"
    # DNS rebinding and requests of other pages.
    for host in ("attacker.example", f"attacker.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"127.0.0.1.attacker.example:{server.port}"):
        refused = server.ask(api, host=host)
        assert rule(refused) == "view.host", host
        # It explains how to get access, without the secret.
        assert b"--host NAME" in refused[2] and server.token.encode() not in refused[2], refused[2]
    status = server.ask(api, host="")[0]
    assert status in (400, 403), status
    for origin in ("http://attacker.example", "null", f"https://{own}", f"http://{own}.attacker.example"):
        assert rule(server.ask(api, headers={"Origin": origin})) == "view.origin", origin
        assert rule(server.ask(f"/{server.token}/api/reopen", "POST", headers={"Origin": origin})) == "view.origin", origin
    assert rule(server.ask(api, headers={"Sec-Fetch-Site": "cross-site"})) == "view.origin"
    assert server.ask(api, headers={"Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"})[0] == 200
    # Methods, bodies, sizes.
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        status, headers, _ = server.ask(api, method)
        assert status == 501 or status == 405 and headers["Allow"] == "GET, HEAD, POST", (method, status)
    status, headers, _ = server.ask(f"/{server.token}/api/reopen")
    assert status == 405 and headers["Allow"] == "POST", "a GET changes nothing"
    assert server.ask(f"/{server.token}/api/reopen", "POST", body=b"x" * 100)[0] == 413
    assert server.ask(f"/{server.token}/api/tensors?search={'x' * 5000}")[0] == 400
    assert server.ask(f"/{server.token}/api/{'x' * 60000}")[0] in (413, 414, 431, 400)
    # What is about two models, of one.
    for name in ("compare", "compare/start", "compare/all", "compare/stop"):
        status, answer = server.api(name, method="POST")
        assert status == 400 and answer["error"]["sentence"] == "there is no second model", (name, answer)
    assert server.ask(api)[0] == 200, "it lives"
    status, answer = server.ask(f"/{server.token}/nothing")[::2]
    assert status == 404 and json.loads(answer)["error"]["kind"] == "not_found", answer
    # No path is taken from a request.
    for path in ("../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "page.css", "%00"):
        status, _, body = server.ask(f"/{server.token}/{path}")
        assert status in (400, 403, 404) and b"root:" not in body, (path, status)
        status, _, body = server.ask(f"/{server.token}/api/attachment?attachment={path.replace('%', '%25')}")
        assert status in (400, 404) and b"root:" not in body, (path, status)


def connect(port):
    made = socket.create_connection(("127.0.0.1", port), timeout=60)
    return made


def check_slow_clients(server):
    api = f"/{server.token}/api/overview"
    # Half a request and then nothing; a letter now and then; garbage; an answer that is never read.
    idle = [connect(server.port) for _ in range(60)]
    for client in idle[:30]:
        client.sendall(b"GET /")
    for client in idle[30:45]:
        client.sendall(b"\x16\x03\x01\x00\xff" * 20)
    for client in idle[45:]:
        client.sendall(f"GET /{server.token}/api/treemap?width=4000 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
    begin = time.monotonic()
    for _ in range(20):
        assert server.ask(api)[0] == 200
    took = time.monotonic() - begin
    assert took < 10, f"20 requests took {took:.1f} s beside 60 slow clients"
    # They are sent away, and so is one that sends a letter a second.
    dripping, ended = connect(server.port), False
    begin = time.monotonic()
    while time.monotonic() - begin < 40 and not ended:
        try:
            dripping.sendall(b"G")
            dripping.settimeout(0.5)
            ended = dripping.recv(4096) == b""
        except socket.timeout:
            pass
        except OSError:
            ended = True
    assert ended, "a client that drips letters is never sent away"
    for client in idle + [dripping]:
        client.close()
    assert server.ask(api)[0] == 200
    # More of them than connections there may be: others have to wait a moment, not for ever.
    crowd = []
    for _ in range(300):
        try:
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", server.port))
            crowd.append(client)
        except OSError:
            break
    assert server.ask(api, timeout=60)[0] == 200
    for client in crowd:
        client.close()


def check_few_files(path):
    """A process that may open few files keeps some for itself, however many clients connect."""
    for files in (24, 40, 64):
        server = Server(path, files=files)
        try:
            begin = time.monotonic()
            crowd = [connect(server.port) for _ in range(100)]
            for _ in range(3):
                assert server.ask(f"/{server.token}/api/overview")[0] == 200, files
                # Opens the model again, and so its file.
                assert server.ask(f"/{server.token}/api/reopen", method="POST", headers={"Origin": f"http://127.0.0.1:{server.port}"})[0] == 200, files
                assert server.ask(f"/{server.token}/api/numbers?tensor=0")[0] == 200, files
            # Otherwise each request waits for ten seconds, until idle clients are sent away.
            assert time.monotonic() - begin < 15, files
            for client in crowd:
                client.close()
        finally:
            server.end()


def check_rate(server):
    # Far more than a person asks for: some have to wait, and none is lost or breaks the server.
    def one(_):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        statuses = []
        for _ in range(120):
            connection.request("GET", f"/{server.token}/api/template")
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()
        return statuses

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = [status for part in pool.map(one, range(8)) for status in part]
    assert set(statuses) <= {200, 429, 503}, set(statuses)
    assert statuses.count(200) > 100
    time.sleep(1)
    assert server.api("overview")[0] == 200


def check_model_changes(server, path):
    content = path.read_bytes()
    path.unlink()
    status, answer = server.api("overview")
    assert status == 409 and answer["error"]["rule"] == "view.vanished", answer
    assert server.api("reopen", method="POST")[0] in (404, 409, 422)
    path.write_bytes(content)
    assert server.api("overview")[1]["error"]["rule"] == "view.replaced"
    assert server.api("reopen", method="POST")[0] == 200
    assert server.api("numbers?tensor=0")[0] == 200
    with open(path, "r+b") as file:
        file.truncate(len(content) // 2)
    status, answer = server.api("heat?tensor=0")
    assert status == 409 and answer["error"]["rule"] in ("io.source.shrank", "io.source.changed"), answer
    path.write_bytes(b"not a model")
    assert server.api("reopen", method="POST")[0] in (404, 409, 422)
    path.unlink()
    path.write_bytes(content)
    assert server.api("reopen", method="POST")[0] == 200
    assert server.process.poll() is None


def check_two_models(directory, a, b):
    server = Server(a, b)
    try:
        assert len(server.api("overview")[1]["models"]) == 2
        status, answer = server.api("compare/start", method="POST", headers={"Origin": f"http://127.0.0.1:{server.port}"})
        while not answer["done"]:
            time.sleep(0.05)
            answer = server.api("compare")[1]
        assert answer["pairs"] > 0
        # Every value, in the background; it reports its progress and its end.
        status, answer = server.api("compare/all", method="POST")
        while not answer["every_value"]["done"]:
            time.sleep(0.05)
            answer = server.api("compare")[1]
        assert answer["summary"]["exact"] == answer["summary"]["compared"], answer["summary"]
        assert answer["every_value"]["progress"] == answer["every_value"]["expected"] == answer["elements"]
    finally:
        assert server.end() == -signal.SIGINT


def check_options(path):
    first = Server(path)
    taken = subprocess.run([TARE, "view", "--no-browser", "--port", str(first.port), path], capture_output=True, text=True)
    assert taken.returncode == 1 and "view.listen" in taken.stderr, taken
    second = Server(path)
    assert second.port != first.port and second.token != first.token
    assert second.ask(f"/{first.token}/api/overview")[0] == 403, "the link of one is not that of another"
    listening = subprocess.run(["ss", "-Hltn"], capture_output=True, text=True).stdout if os.path.exists("/usr/bin/ss") else ""
    for line in listening.splitlines():
        if f":{first.port} " in line:
            assert f"127.0.0.1:{first.port}" in line, line
    assert first.end(signal.SIGTERM) == -signal.SIGTERM
    assert second.end() == -signal.SIGINT
    bad = subprocess.run([TARE, "view", "--listen", "example.org", path], capture_output=True, text=True)
    assert bad.returncode == 1 and "view.listen" in bad.stderr, bad
    answer = lambda request: json.loads(subprocess.run([TARE, "view", path, "--json", request], capture_output=True, text=True, check=True).stdout)
    assert answer("tensors?count=1")["rows"]
    # Work that takes time is waited for: the client could not ask again.
    for request in ("check", "check/start", "numbers/all?tensor=0"):
        assert answer(request)["done"] is True, request
    # On all addresses: each has a link, and a name has to be given.
    everywhere = subprocess.Popen([TARE, "view", "--no-browser", "--listen", "0.0.0.0", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    words = ""
    while "Ctrl-C" not in words:
        words += everywhere.stderr.readline()
    assert "listen in" in words, words
    first = everywhere.stdout.readline().strip()
    everywhere.terminate()
    links = [first] + everywhere.stdout.read().split()
    everywhere.wait()
    everywhere.stdout.close()
    everywhere.stderr.close()
    assert first.startswith("http://127.0.0.1:") and len({link.split("/")[3] for link in links}) == 1, links


def run_on_terminal(path, directory, environment, *options):
    """`tare view` on a terminal: (process, the terminal, the link that it prints)."""
    master, slave = pty.openpty()
    process = subprocess.Popen([TARE, "view", *options, path], stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True,
                               preexec_fn=lambda: (signal.signal(signal.SIGINT, signal.SIG_DFL), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
    os.close(slave)
    text = b""
    while b"Ctrl-C" not in text:
        text += os.read(master, 4096)
    return process, master, re.search(rb"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", text)[0].decode()


def check_browser(path, directory):
    """A browser is opened where there is one: on a terminal with a screen, or the one that $BROWSER names."""
    programs, record, runtime = directory / "programs", directory / "record", directory / "runtime"
    programs.mkdir()
    runtime.mkdir(mode=0o700)
    for name in ("xdg-open", "mine"):
        (programs / name).write_text(f"#!/bin/sh\nprintf '%s\\n' {name} $$ \"$@\" > {record}.part\nmv {record}.part {record}\nexec sleep 60\n")
        (programs / name).chmod(0o755)
    plain = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
    plain |= {"PATH": f"{programs}:/usr/bin:/bin", "XDG_RUNTIME_DIR": str(runtime)}
    screen = {**plain, "DISPLAY": ":99"}
    for environment, options, expected in ((screen, (), ["xdg-open"]), ({**plain, "WAYLAND_DISPLAY": "wayland-0"}, (), ["xdg-open"]),
                                           ({**plain, "BROWSER": "no-such-program:mine --new %s --end"}, (), ["mine", "--new", "LINK", "--end"]),
                                           ({**screen, "BROWSER": "mine"}, (), ["mine"]), (plain, (), None), (screen, ("--no-browser",), None),
                                           ({**plain, "DISPLAY": "", "WAYLAND_DISPLAY": ""}, (), None),
                                           ({**screen, "PATH": str(directory)}, (), None)):
        record.unlink(missing_ok=True)
        process, terminal, link = run_on_terminal(path, directory, environment, *options)
        deadline = time.monotonic() + (20 if expected else 0.5)
        while time.monotonic() < deadline and not record.exists():
            time.sleep(0.02)
        assert record.exists() == (expected is not None), (environment.get("DISPLAY"), options, expected)
        browser = None
        if expected:
            program, browser, *given = record.read_text().splitlines()
            [page] = [word for word in given if word.startswith("file://")]
            assert program == expected[0] and [word if word != page else "LINK" for word in given] == (expected[1:] or ["LINK"]), given
            # Others can see the arguments of a process: what is there leads to the link only for users that may read the file.
            assert link.split("/")[3] not in page
            page = pathlib.Path(page[len("file://"):])
            assert page.parent.parent == runtime and page.stat().st_mode & 0o777 == 0o600 and page.parent.stat().st_mode & 0o777 == 0o700
            assert f'url={link}"' in page.read_text()
            if expected == ["xdg-open"]:  # once the page has been shown, it is gone
                connection = http.client.HTTPConnection("127.0.0.1", int(link.split(":")[2].split("/")[0]))
                connection.request("GET", "/" + link.split("/", 3)[3])
                assert connection.getresponse().status == 200
                connection.close()
                deadline = time.monotonic() + 20
                while page.exists() and time.monotonic() < deadline:
                    time.sleep(0.02)
                assert not page.exists()
            assert os.getsid(int(browser)) != os.getsid(process.pid), "Ctrl-C would end the browser, too"
        os.write(terminal, b"\x03")
        assert process.wait(30) == -signal.SIGINT
        os.close(terminal)
        assert not list(runtime.iterdir()), "what was there for the browser is removed"
        if browser:
            os.kill(int(browser), signal.SIGTERM)


def check_untaken_answers(directory):
    """Clients that ask for much and take nothing cost bounded memory, and others get their answers."""
    server = Server(models.safetensors(directory / "wide.safetensors", {"w": ("F32", [256, 256], 4)}, data={"w": [(0, os.urandom(256 * 1024))]}))
    try:
        request = f"GET /{server.token}/api/heat?tensor=0&height=256&width=256 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
        size = len(server.ask(f"/{server.token}/api/heat?tensor=0&height=256&width=256")[2])
        lazy = []
        for _ in range(220):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
            client.sendall(request)
            lazy.append(client)
            time.sleep(0.005)
        # A slow server answers that it is busy as long as all of them wait for an answer.
        deadline = time.monotonic() + 120
        while (status := server.ask(f"/{server.token}/api/overview")[0]) in (429, 503) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert status == 200, status
        for _ in range(10):
            assert server.ask(f"/{server.token}/api/overview")[0] == 200
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) >> 10
        print(f"220 answers of {size >> 10} KiB that nobody takes: {resident} MiB")
        # Sanitizers keep what was freed.
        sanitized = re.search(r"lib[at]san", pathlib.Path(f"/proc/{server.process.pid}/maps").read_text())
        assert sanitized or resident < 400, resident
        for client in lazy:
            client.close()
        assert server.ask(f"/{server.token}/api/overview")[0] == 200
    finally:
        assert server.end() == -signal.SIGINT


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        path = directory / "model.safetensors"
        models.safetensors(path, {f"layers.{i}.w": ("F32", [64, 64], 4) for i in range(8)})
        server = Server(path)
        try:
            for check in (check_door, check_slow_clients, check_rate):
                begin = time.monotonic()
                check(server)
                print(f"{check.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)
            check_model_changes(server, path)
            print("check_model_changes: ok", flush=True)
        finally:
            code = server.end()
        assert code == -signal.SIGINT, code
        check_two_models(directory, path, models.hostile(directory / "hostile.safetensors"))
        check_options(path)
        print("two models, two servers, options: ok", flush=True)
        check_browser(path, directory)
        print("check_browser: ok", flush=True)
        check_untaken_answers(directory)
        print("check_untaken_answers: ok")
        check_few_files(path)
        print("check_few_files: ok")


if __name__ == "__main__":
    main()
