#!/usr/bin/env python3
"""The server of `tare view` as its clients see it: who is let in, what slow and broken ones do to others, what happens when the
model changes. Exit code 77 when libmicrohttpd is missing.

    server.py TARE
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import models

TARE = sys.argv[1]


class Server:
    def __init__(self, *arguments):
        # Whoever runs this in the background ignores SIGINT, and so would the server.
        self.process = subprocess.Popen([TARE, "view", "--no-browser", *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
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
    for wrong in ("/", "/api/overview", f"/{'0' * 32}/api/overview", f"/{server.token[:-1]}/api/overview", f"/{server.token}", f"/{server.token.upper()}x/",
                  f"//{server.token}/api/overview", f"/?token={server.token}"):
        status = server.ask(wrong)[0]
        assert status in (403, 404), (wrong, status)
    # DNS rebinding and requests of other pages.
    for host in ("attacker.example", f"attacker.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", f"127.0.0.1.attacker.example:{server.port}"):
        assert rule(server.ask(api, host=host)) == "view.host", host
    status = server.ask(api, host="")[0]
    assert status in (400, 403), status
    for origin in ("http://attacker.example", "null", f"https://{own}", f"http://{own}.attacker.example"):
        assert rule(server.ask(api, headers={"Origin": origin})) == "view.origin", origin
        assert rule(server.ask(f"/{server.token}/api/reopen", "POST", headers={"Origin": origin})) == "view.origin", origin
    assert rule(server.ask(api, headers={"Sec-Fetch-Site": "cross-site"})) == "view.origin"
    assert server.ask(api, headers={"Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"})[0] == 200
    # Methods, bodies, sizes.
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert server.ask(api, method)[0] in (405, 501), method
    assert server.ask(f"/{server.token}/api/reopen")[0] == 400, "a GET changes nothing"
    assert server.ask(f"/{server.token}/api/reopen", "POST", body=b"x" * 100)[0] == 413
    assert server.ask(f"/{server.token}/api/tensors?search={'x' * 5000}")[0] == 400
    assert server.ask(f"/{server.token}/api/{'x' * 60000}")[0] in (413, 414, 431, 400)
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
    # They are sent away, and so is one that says a letter a second.
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


def check_rate(server):
    # Far more than a person asks for: some are told to wait, and none is lost or breaks the server.
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
    once = subprocess.run([TARE, "view", path, "--json", "tensors?count=1"], capture_output=True, text=True, check=True)
    assert json.loads(once.stdout)["rows"], once.stdout


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
        print("two models, two servers, options: ok")


if __name__ == "__main__":
    main()
