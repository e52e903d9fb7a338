"""Servers on this machine for the tests of remote files: one that behaves, a hub with the interface of Hugging Face's, and one
that does everything wrong. Each request is recorded."""

import hashlib
import http.server
import json
import re
import socket
import struct
import threading
import time
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_SecretThatMustNotLeave"


def git_hash(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Server:
    """Answers on a port that the system chooses. `routes`: functions by the first folder of the path."""

    def __init__(self, host="127.0.0.1", context=None):
        self.requests, self.lock, self.routes = [], threading.Lock(), {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                record = {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "bytes": 0}
                with outer.lock:
                    outer.requests.append(record)
                    record["number"] = len(outer.requests)
                self.record = record
                first = urllib.parse.urlsplit(self.path).path.split("/")[1]
                outer.routes.get(first, missing)(self)

            def put(self, data):
                self.wfile.write(data)
                self.record["bytes"] += len(data)

            def answer(self, status, body=b"", length=None, **headers):
                self.record["status"] = status
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.put(body)

            def part(self, data, etag='"one"', **headers):
                """The range that was asked for, as a good server sends it."""
                match = self.record["headers"].get("if-match")
                if match and etag and match != etag:
                    return self.answer(412)
                ranged = re.fullmatch(r"bytes=(\d+)-(\d*)", self.record["headers"].get("range", ""))
                if etag:
                    headers["ETag"] = etag
                if not ranged:
                    return self.answer(200, data, **headers)
                begin, end = int(ranged[1]), min(int(ranged[2] or len(data)), len(data) - 1)
                if begin >= len(data):
                    return self.answer(416, Content_Range=f"bytes */{len(data)}")
                headers.setdefault("Content_Range", f"bytes {begin}-{end}/{len(data)}")
                return self.answer(206, data[begin : end + 1], **headers)

            def reset(self):
                """Ends the connection as a crash does."""
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()

            def log_message(self, *_):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # the client left

        self.server = Quiet((host, 0), Handler)
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.host, self.port = host, self.server.server_address[1]
        self.url = f"{'https' if context else 'http'}://{host}:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def forget(self):
        with self.lock:
            self.requests.clear()

    def counted(self):
        """(requests that are not redirects, bytes of bodies)"""
        with self.lock:
            return (sum(r.get("status") not in (302, 307) for r in self.requests), sum(r["bytes"] for r in self.requests))


def missing(request):
    request.answer(404)


def good(files):
    """Serves files under a folder: {"name": bytes}."""

    def serve(request):
        name = urllib.parse.unquote(urllib.parse.urlsplit(request.path).path.split("/", 2)[2])
        if name not in files:
            return request.answer(404)
        return request.part(files[name], f'"{hashlib.md5(files[name]).hexdigest()}"')

    return serve


class Hub:
    """A repository org/name, of which files above `large` bytes are on another server, at signed links."""

    def __init__(self, files, large=64 << 10, private=False):
        self.files, self.large, self.private = files, large, private
        self.server, self.store = Server(), Server()
        self.signature, self.uses = 0, None  # how often a link works
        self.server.routes = {"api": self.api, "org": self.resolve}
        self.store.routes = {"blob": self.blob}

    def close(self):
        self.server.close()
        self.store.close()

    def forget(self):
        self.server.forget()
        self.store.forget()

    def counted(self):
        a, b = self.server.counted(), self.store.counted()
        return a[0] + b[0], a[1] + b[1]

    def allowed(self, request):
        return not self.private or request.record["headers"].get("authorization") == f"Bearer {TOKEN}"

    def api(self, request):
        path = urllib.parse.urlsplit(request.path).path
        if path not in (f"/api/models/org/name/revision/{name}" for name in ("main", "refs%2Fpr%2F1", COMMIT)):
            return request.answer(404, X_Error_Message="Repository or revision not found")
        if not self.allowed(request):
            return request.answer(401, X_Error_Message="Access to model org/name is restricted")
        siblings = []
        for name, data in self.files.items():
            entry = {"rfilename": name, "size": len(data), "blobId": git_hash(data)}
            if len(data) > self.large:
                entry["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
            siblings.append(entry)
        return request.answer(200, json.dumps({"id": "org/name", "sha": COMMIT, "siblings": siblings}).encode())

    def resolve(self, request):
        match = re.fullmatch(rf"/org/name/resolve/{COMMIT}/(.*)", urllib.parse.urlsplit(request.path).path)
        if not match or not self.allowed(request):
            return request.answer(404 if not match else 401)
        name = urllib.parse.unquote(match[1])
        data = self.files.get(name)
        if data is None:
            return request.answer(404)
        if len(data) <= self.large:
            return request.part(data, f'"{git_hash(data)}"')
        self.signature += 1
        self.left = self.uses
        digest = hashlib.sha256(data).hexdigest()
        return request.answer(
            302,
            Location=f"{self.store.url}/blob/{urllib.parse.quote(name)}?Signature={self.signature}-SignedSecret",
            X_Linked_Size=str(len(data)),
            X_Linked_ETag=f'"{digest}"',
        )

    def blob(self, request):
        split = urllib.parse.urlsplit(request.path)
        data = self.files[urllib.parse.unquote(split.path[len("/blob/") :])]
        if self.uses is not None:
            self.left -= 1
            if self.left < 0 or not split.query.startswith(f"Signature={self.signature}-"):
                return request.answer(403)
        return request.part(data, f'"{hashlib.md5(data).hexdigest()}"')


def trickle(request, data, pause=0.3):
    request.send_response_only(206)
    request.send_header("Content-Range", f"bytes 0-{min(len(data), 49152) - 1}/{len(data)}")
    request.send_header("Content-Length", str(min(len(data), 49152)))
    request.send_header("ETag", '"slow"')
    request.end_headers()
    for byte in data:
        request.put(bytes([byte]))
        time.sleep(pause)
