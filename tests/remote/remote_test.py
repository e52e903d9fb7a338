#!/usr/bin/env python3
"""Runs the command on files of servers that behave, and of servers that do everything wrong: remote_test.py TARE [CASE...]

All servers are on this machine, on ports that the system chooses. What is counted: requests and bytes. No secret may be in an
output or in the cache.
"""

import ctypes
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from server import COMMIT, TOKEN, Hub, Server, good, trickle  # noqa: E402

TARE = str(pathlib.Path(sys.argv[1]).resolve())
BOUND = 60  # seconds within which every run must end


def safetensors(tensors, metadata=None, dtype="U8"):
    """{"name": (shape, bytes)} as a file of tensors of one type."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def noise(size, seed=0):
    out = bytearray()
    while len(out) < size:
        out += hashlib.sha256(b"%d %d" % (seed, len(out))).digest()
    return bytes(out[:size])


def sharded(count, size=100_000):
    """A repository's files: a model in `count` shards."""
    files, weights = {}, {}
    for i in range(count):
        shard = f"model-{i + 1:05}-of-{count:05}.safetensors"
        files[shard] = safetensors({f"layers.{i}.w": ([size // 4], noise(size, i))}, {"format": "pt"}, "F32")
        weights[f"layers.{i}.w"] = shard
    files["model.safetensors.index.json"] = json.dumps({"metadata": {"total_size": count * size}, "weight_map": weights}).encode()
    files["config.json"] = json.dumps({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": count}).encode()
    files["README.md"] = b"# Model\n"
    return files


WEIGHTS = noise(300_000)
MODEL = safetensors({"small": ([4], b"abcd"), "w": ([300_000], WEIGHTS)})


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tare-remote-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.secrets = [TOKEN, "SignedSecret", "NetrcSecret"]
        self.extra = {"HF_TOKEN": TOKEN}

    def serve(self, **options):
        server = Server(**options)
        self.addCleanup(server.close)
        return server

    def hub(self, files, **options):
        hub = Hub(files, **options)
        self.addCleanup(hub.close)
        self.extra["HF_ENDPOINT"] = hub.server.url
        return hub

    def run_tare(self, *words, **extra):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "TMPDIR": str(self.folder), "LC_ALL": "C.UTF-8",
               "TARE_REMOTE_TIMEOUT": "2"}
        env |= {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS") or key == "LD_LIBRARY_PATH"}
        done = subprocess.run([TARE, *words], env=env | self.extra | extra, cwd=self.folder, capture_output=True, timeout=BOUND)
        for secret in self.secrets:
            self.assertNotIn(secret.encode(), done.stdout + done.stderr)
        for path in self.folder.rglob("*"):
            if path.is_file() and path.name != ".netrc":
                content = path.read_bytes()
                for secret in self.secrets:
                    self.assertNotIn(secret.encode(), content, path)
        return done

    def good(self, *words, **extra):
        done = self.run_tare(*words, **extra)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, done.stderr.decode()))
        return done.stdout

    def rule(self, rule, *words, **extra):
        done = self.run_tare(*words, **extra)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"({rule}", done.stderr.decode())
        return done.stderr.decode()


class Reading(Case):
    def test_verbs(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": MODEL, "a b.safetensors": MODEL})
        local = self.folder / "model.safetensors"
        local.write_bytes(MODEL)
        url = f"{server.url}/m/model.safetensors"
        self.assertEqual(self.good("ls", url), self.good("ls", str(local)))
        self.assertEqual(self.good("cat", url, "w"), WEIGHTS)
        self.assertEqual(self.good("hash", url).split()[0], self.good("hash", str(local)).split()[0])
        self.good("verify", url)
        self.good("diff", url, str(local))
        self.good("convert", url, "copy.safetensors")
        self.good("convert", str(local), "right.safetensors")
        self.assertEqual((self.folder / "copy.safetensors").read_bytes(), (self.folder / "right.safetensors").read_bytes())
        self.good("info", url)
        self.good(url)
        self.assertEqual(self.good("cat", f"{server.url}/m/a b.safetensors", "small"), b"abcd")
        self.good("show", url, "w")
        self.good("view", url, "--json", "overview")

    def test_counts(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": MODEL})
        url = f"{server.url}/m/model.safetensors"
        self.good("ls", url)
        self.assertEqual(server.counted(), (1, 48 << 10))
        server.forget()
        self.good("ls", url)
        self.assertEqual(server.counted()[0], 1)
        server.forget()
        self.good("cat", url, "w", TARE_CACHE_SIZE="0")
        requests, bytes_ = server.counted()
        self.assertLessEqual(requests, 3)
        self.assertLessEqual(bytes_, len(WEIGHTS) + (64 << 10))
        for request in server.requests:
            self.assertEqual(request["headers"]["accept-encoding"], "identity")
            self.assertNotIn("authorization", request["headers"])

    def test_a_small_tensor_costs_little(self):
        server = self.serve()
        tensors = {"big": ([1 << 20], noise(1 << 20)), "w": ([5000], noise(5000, 1)), "more": ([1 << 20], noise(1 << 20, 2))}
        server.routes["m"] = good({"model.safetensors": safetensors(tensors)})
        self.assertEqual(self.good("cat", f"{server.url}/m/model.safetensors", "w"), noise(5000, 1))
        self.assertLessEqual(server.counted()[1], 5000 + (64 << 10))

    def test_a_large_vocabulary(self):
        """The bytes of a file pay for its metadata, on a server as well."""
        count = 150_000

        def text(value):
            return struct.pack("<Q", len(value)) + value

        head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, count)
        model = head + b"".join(text(b"token%d" % i) for i in range(count))
        server = self.serve()
        server.routes["m"] = good({"m.gguf": model})
        self.hub({"m.gguf": model})
        (self.folder / "m.gguf").write_bytes(model)
        shown = self.good("vocab", "m.gguf", "--find", "token149999")
        for address in (f"{server.url}/m/m.gguf", "hf://org/name/m.gguf"):
            self.assertEqual(self.good("vocab", address, "--find", "token149999"), shown)

    def test_a_long_header(self):
        server = self.serve()
        tensors = {f"layers.{i}.attention.weight": ([16], noise(16, i)) for i in range(3000)}
        data = safetensors(tensors)
        server.routes["m"] = good({"model.safetensors": data})
        url = f"{server.url}/m/model.safetensors"
        self.good("ls", url)
        self.assertEqual(server.counted()[0], 2)
        self.assertLess(server.counted()[1], len(data))
        server.forget()
        self.good("ls", url)
        self.assertEqual(server.counted()[0], 1)

    def test_conversion_asks_once(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": MODEL})
        self.good("convert", f"{server.url}/m/model.safetensors", "copy.zt")
        self.assertLessEqual(server.counted()[1], 1.02 * len(MODEL))

    def test_an_empty_file(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": b""})
        self.rule("open.unrecognized", "ls", f"{server.url}/m/model.safetensors")

    def test_a_missing_file(self):
        server = self.serve()
        server.routes["m"] = good({})
        self.rule("remote.missing", "ls", f"{server.url}/m/model.safetensors")

    def test_sets_of_files(self):
        files = sharded(3)
        server = self.serve()
        server.routes["m"] = good(files)
        listed = self.good("ls", f"{server.url}/m/model.safetensors.index.json").decode()
        self.assertEqual(listed.count("layers."), 3)

    def test_nothing_is_written_to_servers(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": MODEL})
        url = f"{server.url}/m/model.safetensors"
        self.rule("io.sink.remote", "convert", url, f"{server.url}/m/copy.safetensors")
        self.rule("io.sink.remote", "meta", url, "--set", "a=b")

    def test_without_the_library(self):
        (self.folder / "lib").mkdir()
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            (self.folder / "lib" / name).write_bytes(b"not a library")
        said = self.rule("remote.library", "ls", "http://127.0.0.1:1/m.gguf", LD_LIBRARY_PATH=str(self.folder / "lib"))
        self.assertIn("libcurl4", said)
        self.good("version", LD_LIBRARY_PATH=str(self.folder / "lib"))


class Cache(Case):
    def test_it_is_listed_and_emptied(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": MODEL})
        url = f"{server.url}/m/model.safetensors"
        self.good("ls", url + "?Signature=SignedSecret")
        self.assertIn(url, self.good("cache").decode())
        listed = json.loads(self.good("cache", "--json"))
        self.assertEqual([f["name"] for f in listed["files"]], [url])
        self.good("cache", "--empty")
        self.assertEqual(json.loads(self.good("cache", "--json"))["files"], [])
        self.assertEqual(list((self.folder / ".cache/tare/remote").iterdir()), [])

    def parts(self):
        return [path for path in (self.folder / ".cache/tare/remote").rglob("*-*") if path.is_file()]

    def test_damage_is_found(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": MODEL})
        url = f"{server.url}/m/model.safetensors"
        right = self.good("cat", url, "w")
        for damage in (lambda b: b[:-1], lambda b: b[:-1] + bytes([b[-1] ^ 1]), lambda b: b""):
            for part in self.parts():
                part.write_bytes(damage(part.read_bytes()))
            self.assertEqual(self.good("cat", url, "w"), right)

    def test_it_is_bounded(self):
        server = self.serve()
        server.routes["m"] = good({f"{i}.npy": noise(48 << 10, i) for i in range(40)})
        for i in range(40):
            self.run_tare("ls", f"{server.url}/m/{i}.npy", TARE_CACHE_SIZE="1")
        self.assertLess(sum(path.stat().st_size for path in self.parts()), 1 << 20)
        self.assertTrue(self.parts())

    def test_another_file_is_another_entry(self):
        files = {"model.safetensors": MODEL}
        server = self.serve()
        server.routes["m"] = good(files)
        url = f"{server.url}/m/model.safetensors"
        self.good("cat", url, "small")
        files["model.safetensors"] = safetensors({"small": ([4], b"efgh"), "w": ([300_000], WEIGHTS)})
        self.assertEqual(self.good("cat", url, "small"), b"efgh")

    def test_another_query_is_another_entry(self):
        others = noise(300_000, 1)
        files = {"file=a": MODEL, "file=b": safetensors({"small": ([4], b"abcd"), "w": ([300_000], others)})}
        server = self.serve()
        server.routes["m"] = lambda r: r.part(files[r.path.split("?")[1]])  # all have the same ETag
        for query, wanted in (("file=a", WEIGHTS), ("file=b", others), ("file=a", WEIGHTS)):
            self.assertEqual(self.good("cat", f"{server.url}/m/get?{query}", "w"), wanted)

    def test_many_processes_at_once(self):
        server = self.serve()
        server.routes["m"] = good({"model.safetensors": MODEL})
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        runs = [subprocess.Popen([TARE, "cat", f"{server.url}/m/model.safetensors", "w"], env=env, stdout=subprocess.PIPE)
                for _ in range(8)]
        runs[0].kill()
        for run in runs:
            out = run.communicate(timeout=BOUND)[0]
            self.assertTrue(out == WEIGHTS or run is runs[0])
        self.assertEqual(self.good("cat", f"{server.url}/m/model.safetensors", "w"), WEIGHTS)


class Repositories(Case):
    def test_counts(self):
        count = 5
        hub = self.hub(sharded(count))
        listed = self.good("ls", "hf://org/name")
        self.assertEqual(listed.decode().count("layers."), count)
        self.assertLessEqual(hub.counted()[0], count + 2)
        hub.forget()
        self.assertEqual(self.good("ls", "hf://org/name"), listed)
        self.assertLessEqual(hub.counted()[0], 1)
        hub.forget()
        self.good("ls", "hf:org/name", "--json")
        self.good("ls", "hf:org/name", "--json")
        self.assertLessEqual(hub.counted()[0], 3)  # two lists, and config.json

    def test_verbs(self):
        files = sharded(2)
        self.hub(files)
        local = self.folder / "local"
        local.mkdir()
        for name, data in files.items():
            (local / name).write_bytes(data)
        for address in ("hf://org/name", "hf:org/name/", "hf:org/name@main", f"hf://org/name@{COMMIT}", "hf:org/name@refs/pr/1"):
            self.assertEqual(self.good("ls", address), self.good("ls", "local"))
        self.assertEqual(self.good("hash", "hf:org/name").split()[0], self.good("hash", "local").split()[0])
        for verb in (("info",), ("verify",), ("diff", "local")):
            self.good(verb[0], "hf:org/name", *verb[1:])
        self.good("convert", "hf:org/name", "copy/")
        self.assertEqual(self.good("hash", "copy").split()[0], self.good("hash", "local").split()[0])
        self.assertEqual(json.loads((self.folder / "copy/config.json").read_bytes()), json.loads(files["config.json"]))
        shard = "hf:org/name/model-00001-of-00002.safetensors"
        self.assertEqual(self.good("cat", shard, "layers.0.w"), noise(100_000, 0))

    def test_the_token_goes_only_to_the_hub(self):
        hub = self.hub(sharded(2), private=True)
        self.good("ls", "hf:org/name")
        self.assertTrue(hub.store.requests)
        for request in hub.store.requests:
            self.assertNotIn("authorization", request["headers"])
        for request in hub.server.requests:
            self.assertEqual(request["headers"]["authorization"], f"Bearer {TOKEN}")
        said = self.rule("remote.denied", "ls", "hf:org/name", HF_TOKEN="wrong", TARE_CACHE_SIZE="0")
        self.assertIn("restricted", said)
        (self.folder / "token").write_text(TOKEN + "\n")
        self.secrets = []
        self.good("ls", "hf:org/name", HF_TOKEN="", HF_TOKEN_PATH=str(self.folder / "token"))
        self.rule("remote.token", "ls", "hf:org/name", HF_TOKEN="a\r\nX-Other: b")

    def test_expired_links_are_resolved_anew(self):
        hub = self.hub(sharded(1, 400_000))
        hub.uses = 1
        self.assertEqual(self.good("cat", "hf:org/name", "layers.0.w"), noise(400_000, 0))
        self.assertGreater(hub.signature, 1)
        hub.uses = 0
        self.rule("remote.denied", "cat", "hf:org/name", "layers.0.w", TARE_CACHE_SIZE="0")

    def test_what_does_not_exist(self):
        self.hub(sharded(1))
        self.rule("remote.missing", "ls", "hf:org/other")
        self.rule("remote.missing", "ls", "hf:org/name@nothing")
        self.rule("remote.missing", "ls", "hf:org/name/nothing.gguf")
        for address in ("hf:name", "hf://org/..", "hf:datasets/x", "hf:org/name@", "hf:org/na me"):
            self.rule("remote.url", "ls", address)

    def test_a_changed_link(self):
        hub = self.hub(sharded(1))
        resolve = hub.resolve

        def changed(request):
            answer = request.answer
            request.answer = lambda status, *words, **headers: answer(
                status, *words, **headers | ({"X_Linked_ETag": '"' + "0" * 64 + '"'} if status == 302 else {}))
            resolve(request)

        hub.server.routes["org"] = changed
        self.rule("io.source.changed", "ls", "hf:org/name")

    def test_small_files_are_compared_with_their_digests(self):
        hub = self.hub(sharded(1))
        resolve = hub.resolve

        def changed(request):
            part = request.part
            request.part = lambda data, etag, **headers: part(data[:-1] + b"!", etag, **headers)
            resolve(request)

        hub.server.routes["org"] = changed
        self.rule("remote.digest", "ls", "hf:org/name")

    def test_one_server_does_not_answer_for_another(self):
        """A server can state any digest for a large file."""
        lying, honest = self.hub({"m.safetensors": MODEL}), self.hub({"m.safetensors": MODEL})
        others = noise(300_000, 1)
        lying.store.routes["blob"] = lambda r: r.part(safetensors({"small": ([4], b"abcd"), "w": ([300_000], others)}))
        for hub, wanted in ((lying, others), (honest, WEIGHTS)):
            self.assertEqual(self.good("cat", "hf://org/name/m.safetensors", "w", HF_ENDPOINT=hub.server.url), wanted)

    def test_bad_lists(self):
        hub = self.hub(sharded(1))
        for text in (b"", b"[]", b"{}", b'{"sha":"main"}', b'{"sha":"%s"}' % COMMIT.encode(),
                     b'{"sha":"%s","siblings":[1]}' % COMMIT.encode(),
                     b'{"sha":"%s","siblings":[{"rfilename":"../x"}]}' % COMMIT.encode(),
                     b'{"sha":"%s","siblings":[{"rfilename":"a\\u001b[0m"}]}' % COMMIT.encode(), b"[" * 100_000):
            hub.server.routes["api"] = lambda request, text=text: request.answer(200, text)
            self.rule("remote.listing", "ls", "hf:org/name")
        hub.server.routes["api"] = lambda request: request.answer(200, b" " * (33 << 20))
        self.rule("remote.body.long", "ls", "hf:org/name")

    def test_files_that_were_downloaded_are_used(self):
        files = sharded(2)
        hub = self.hub(files)
        blobs = self.folder / ".cache/huggingface/hub/models--org--name/blobs"
        blobs.mkdir(parents=True)
        for name, data in files.items():
            if len(data) > hub.large:
                (blobs / hashlib.sha256(data).hexdigest()).write_bytes(data)
        self.assertEqual(self.good("cat", "hf:org/name", "layers.1.w"), noise(100_000, 1))
        self.assertEqual(hub.store.requests, [])


def signature(request, secret, region):
    """Amazon's signature (version 4) of a request, from its description."""
    words = request["headers"]["authorization"]
    names = re.search(r"SignedHeaders=([^,]*)", words)[1].split(";")
    path, _, query = request["path"].partition("?")
    lines = ["GET", path, query, *(f"{name}:{request['headers'][name]}" for name in names), "", ";".join(names),
             request["headers"]["x-amz-content-sha256"]]
    time = request["headers"]["x-amz-date"]
    key = ("AWS4" + secret).encode()
    for part in (time[:8], region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{time}\n{time[:8]}/{region}/s3/aws4_request\n{digest}"
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Objects(Case):
    def setUp(self):
        super().setUp()
        self.secrets += ["AwsSecret", "AwsSession"]
        self.server = self.serve()
        self.server.routes["bucket"] = good({"dir/model.safetensors": MODEL, "a b=+&.safetensors": MODEL} | sharded(2))
        self.extra |= {"AWS_ENDPOINT_URL": self.server.url, "AWS_ACCESS_KEY_ID": "ID", "AWS_SECRET_ACCESS_KEY": "AwsSecret"}

    def signed(self, region="us-east-1"):
        self.assertTrue(self.server.requests)
        for request in self.server.requests:
            words = request["headers"]["authorization"]
            self.assertTrue(words.endswith("Signature=" + signature(request, "AwsSecret", region)), words)
            self.assertEqual(request["headers"]["x-amz-content-sha256"], hashlib.sha256(b"").hexdigest())

    def test_requests_are_signed(self):
        self.assertEqual(self.good("cat", "s3://bucket/dir/model.safetensors", "w"), WEIGHTS)
        self.signed()
        self.server.forget()
        self.good("ls", "s3://bucket/a b=+&.safetensors", AWS_SESSION_TOKEN="AwsSession", AWS_REGION="eu-1")
        self.signed("eu-1")
        self.assertEqual(self.server.requests[0]["headers"]["x-amz-security-token"], "AwsSession")
        self.server.forget()
        listed = self.good("ls", "s3://bucket/model.safetensors.index.json")
        self.assertEqual(listed.decode().count("layers."), 2)
        self.signed()

    def test_keys_of_files(self):
        (self.folder / "keys").write_text("[default]\naws_access_key_id=X\naws_secret_access_key=Y\n[work]\n"
                                          "aws_access_key_id = ID\naws_secret_access_key = AwsSecret\n")
        (self.folder / "config").write_text("[profile work]\nregion = eu-2\n")
        self.secrets = []  # they are in the file
        self.good("ls", "s3://bucket/dir/model.safetensors", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="", AWS_PROFILE="work",
                  AWS_SHARED_CREDENTIALS_FILE=str(self.folder / "keys"), AWS_CONFIG_FILE=str(self.folder / "config"))
        self.signed("eu-2")

    def test_without_keys(self):
        self.good("ls", "s3://bucket/dir/model.safetensors", AWS_ACCESS_KEY_ID="")
        self.assertNotIn("authorization", self.server.requests[0]["headers"])

    def test_other_servers_get_no_signature(self):
        other = self.serve()
        other.routes["x"] = good({"m": MODEL})
        self.server.routes["bucket"] = lambda r: r.answer(307, Location=f"{other.url}/x/m")
        self.good("ls", "s3://bucket/dir/model.safetensors", AWS_SESSION_TOKEN="AwsSession")
        for request in other.requests:
            self.assertFalse([name for name in request["headers"] if name.startswith("x-amz") or name == "authorization"])

    def test_bad_keys(self):
        self.rule("remote.token", "ls", "s3://bucket/dir/model.safetensors", AWS_SECRET_ACCESS_KEY="a\nb")
        self.server.routes["bucket"] = lambda r: r.answer(403)
        self.rule("remote.denied", "ls", "s3://bucket/dir/model.safetensors")


class Misbehaviour(Case):
    def bad(self, rule, serve, data=MODEL, **extra):
        """`serve` answers all requests; the file is read with this rule as the result, and nothing is written."""
        server = self.serve()
        server.routes["m"] = serve
        said = self.rule(rule, "convert", f"{server.url}/m/model.safetensors", "out.zt", TARE_CACHE_SIZE="0", **extra)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith((".", "out"))], [])
        return server, said

    def test_the_whole_file_for_a_range(self):
        self.bad("remote.range.ignored", lambda r: r.answer(200, MODEL, ETag='"a"'))

    def test_another_range(self):
        for text in ("bytes 1-49152/301000", "bytes 0-9/301000", "bytes 0-49151/*", "bytes 5-4/9", "0-49151/301000", "bytes 0-49151/1",
                     "bytes 0-49151/99999999999999999999999999"):
            self.bad("remote.range.other", lambda r, text=text: r.part(MODEL, Content_Range=text))

    def test_no_range(self):
        self.bad("remote.range.other", lambda r: r.answer(206, MODEL[: 48 << 10], ETag='"a"'))

    def test_short_bodies(self):
        def short(r):
            r.answer(206, MODEL[:100], length=48 << 10, Content_Range=f"bytes 0-49151/{len(MODEL)}", ETag='"a"')
            r.close_connection = True

        server, _ = self.bad("remote.body.short", short)
        self.assertEqual(len(server.requests), 4)

        def shorter(r):  # the length is that of the body, and not that of the range
            r.answer(206, MODEL[:100], Content_Range=f"bytes 0-49151/{len(MODEL)}", ETag='"a"')

        self.bad("remote.body.short", shorter)

    def test_long_bodies(self):
        def endless(r):
            r.send_response_only(206)
            for name, value in (("Content-Range", f"bytes 0-49151/{len(MODEL)}"), ("ETag", '"a"'), ("Transfer-Encoding", "chunked")):
                r.send_header(name, value)
            r.end_headers()
            while True:
                r.put(b"1000\r\n" + bytes(4096) + b"\r\n")

        server, _ = self.bad("remote.body.long", endless)
        self.assertLess(server.counted()[1], 64 << 20)

    def test_resets(self):
        def always(r):
            r.send_response_only(206)
            for name, value in (("Content-Range", f"bytes 0-49151/{len(MODEL)}"), ("ETag", '"a"'), ("Content-Length", "49152")):
                r.send_header(name, value)
            r.end_headers()
            r.put(MODEL[:1000])
            r.reset()

        server, _ = self.bad("remote.failed", always)
        self.assertEqual(len(server.requests), 4)

    def test_some_resets_cost_nothing(self):
        server = self.serve()

        def some(r):
            if r.record["number"] % 2 == 1:
                return r.reset()
            return r.part(MODEL)

        server.routes["m"] = some
        self.assertEqual(self.good("cat", f"{server.url}/m/model.safetensors", "w"), WEIGHTS)

    def test_a_body_continues_where_it_ended(self):
        server = self.serve()

        def halves(r):
            begin, end = (int(x) for x in r.record["headers"]["range"][6:].split("-"))
            end = min(end, len(MODEL) - 1)
            if r.record["number"] < 3:
                r.answer(206, MODEL[begin : end + 1][: (end - begin) // 2], length=end + 1 - begin,
                         Content_Range=f"bytes {begin}-{end}/{len(MODEL)}", ETag='"one"')
                r.close_connection = True
                return None
            return r.part(MODEL)

        server.routes["m"] = halves
        self.assertEqual(self.good("cat", f"{server.url}/m/model.safetensors", "w"), WEIGHTS)

    def test_encoded_bodies(self):
        self.bad("remote.encoding", lambda r: r.part(MODEL, Content_Encoding="gzip"))

    def test_changing_files(self):
        # A server that compares, one that does not, and one whose file grows.
        self.bad("io.source.changed", lambda r: r.part(MODEL, f'"{r.record["number"]}"'))

        def careless(r):
            r.record["headers"].pop("if-match", None)
            r.part(MODEL, f'"{r.record["number"]}"')

        self.bad("io.source.changed", careless)

        def growing(r):
            r.part(MODEL + bytes(r.record["number"] - 1))

        self.bad("io.source.changed", growing)
        self.bad("io.source.changed", lambda r: r.part(MODEL if r.record["number"] == 1 else MODEL[:100]))
        self.bad("io.source.changed", lambda r: r.part(MODEL, "", Last_Modified=f"Mon, 0{r.record['number']} Jan 2024 00:00:00 GMT"))

    def test_no_validator(self):
        self.bad("remote.validator", lambda r: r.part(MODEL, ""))
        self.bad("remote.validator", lambda r: r.part(MODEL, 'W/"weak"'))

    def test_redirects(self):
        self.bad("remote.redirect.many", lambda r: r.answer(302, Location="/m/model.safetensors"))
        self.bad("remote.redirect.form", lambda r: r.answer(302, Location="file:///etc/passwd"))
        self.bad("remote.redirect.form", lambda r: r.answer(302, Location="gopher://127.0.0.1/"))
        self.bad("remote.redirect.form", lambda r: r.answer(302))
        self.bad("remote.redirect.form", lambda r: r.answer(302, Location="http://a@b/"))
        self.bad("remote.redirect.form", lambda r: r.answer(302, Location="/m/../n"))
        self.bad("remote.plain", lambda r: r.answer(302, Location="http://example.org/"))

    def test_redirects_to_other_networks(self):
        # From this machine to a private network: as from a public server, it is another one.
        for host in ("10.0.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "[fd00::1]", "0.0.0.0", "[::ffff:10.0.0.1]"):
            self.bad("remote.redirect.private", lambda r, host=host: r.answer(302, Location=f"http://{host}/x"), TARE_REMOTE_ALLOW="http")

    def test_five_redirects(self):
        server = self.serve()

        def steps(r):
            step = int(r.path.split("/")[2])
            return r.answer(307, Location=f"../m/{step + 1}" if step == 9 else f"/m/{step + 1}") if step < 5 else r.part(MODEL)

        server.routes["m"] = steps
        self.good("ls", f"{server.url}/m/0")

    def test_slow_trickles(self):
        self.bad("remote.timeout", lambda r: trickle(r, MODEL))

    def test_huge_headers(self):
        self.bad("remote.headers", lambda r: r.part(MODEL, **{f"X_{i}": "y" * 1000 for i in range(90)}))

    def test_contradicting_headers(self):
        def twice(r):
            r.send_response_only(206)
            for value in ('"a"', '"b"'):
                r.send_header("ETag", value)
            r.send_header("Content-Range", f"bytes 0-49151/{len(MODEL)}")
            r.send_header("Content-Length", "49152")
            r.end_headers()
            r.put(MODEL[:49152])

        self.bad("remote.headers", twice)

    def test_busy_servers(self):
        server = self.serve()
        server.routes["m"] = lambda r: r.answer(429, Retry_After="0") if r.record["number"] < 3 else r.part(MODEL)
        self.good("ls", f"{server.url}/m/model.safetensors", TARE_CACHE_SIZE="0")
        server, said = self.bad("remote.busy", lambda r: r.answer(503, Retry_After="3600"))
        self.assertEqual(len(server.requests), 1)
        self.assertIn("3600 seconds", said)
        self.bad("remote.busy", lambda r: r.answer(429, Retry_After="99999999999999999999"))
        server, _ = self.bad("remote.status", lambda r: r.answer(500))
        self.assertEqual(len(server.requests), 4)

    def test_statuses(self):
        self.bad("remote.denied", lambda r: r.answer(403))
        self.bad("remote.status", lambda r: r.answer(418, X_Error_Message="a\x1b[31mteapot"))
        self.bad("remote.missing", lambda r: r.answer(404))

    def test_no_server(self):
        self.rule("remote.failed", "ls", "http://127.0.0.1:1/m.gguf")

    def test_addresses(self):
        said = self.rule("remote.url", "ls", "https://user:SignedSecret@host/m.gguf")
        self.assertIn("netrc", said)
        for url in ("https://", "https://ho st/x", "http://h:99999/x", "http://[::1/x", "https://h/a/../b", "https://h/%2e%2e/b"):
            self.rule("remote.url", "ls", url)
        self.rule("remote.plain", "ls", "http://example.org/m.gguf")
        self.rule("remote.folder", "ls", "http://127.0.0.1:1/models/")
        for url in ("s3://", "s3://bucket", "s3://bucket/", "s3://Bucket/x", "s3://a..b/x", "s3:///x"):
            self.rule("remote.url", "ls", url)


class Secrets(Case):
    def test_netrc(self):
        server, other = self.serve(), self.serve(host="127.0.0.2")
        (self.folder / ".netrc").write_text("machine 127.0.0.1 login me password NetrcSecret\nmachine 127.0.0.2 login me password NetrcSecret\n")
        server.routes["m"] = lambda r: r.answer(302, Location=f"{other.url}/m/x")
        other.routes["m"] = good({"x": MODEL})
        self.good("ls", f"{server.url}/m/model.safetensors")
        self.assertTrue(server.requests[0]["headers"]["authorization"].startswith("Basic "))
        for request in other.requests:
            self.assertNotIn("authorization", request["headers"])

    def test_names_in_files_are_no_addresses(self):
        hub = self.hub({"x.bin": b"abcd"})
        # A tensor of one f32 whose data is in a file next to the model.
        place = b"hf:org/name/x.bin"
        entry = b"\x0a\x08location\x12" + bytes([len(place)]) + place
        tensor = b"\x08\x01\x10\x01\x42\x01a\x6a" + bytes([len(entry)]) + entry + b"\x70\x01"
        graph = b"\x2a" + bytes([len(tensor)]) + tensor
        (self.folder / "m.onnx").write_bytes(b"\x08\x08\x3a" + bytes([len(graph)]) + graph)
        for words in (["ls", "m.onnx"], ["ls", "./m.onnx"], ["verify", "m.onnx"]):
            done = self.run_tare(*words)
            self.assertIn(b"onnx.external.missing", done.stdout + done.stderr)
        self.assertEqual(hub.server.requests + hub.store.requests, [])

    def test_the_query_of_a_signed_address(self):
        server = self.serve()
        server.routes["m"] = good({})
        self.rule("remote.missing", "ls", f"{server.url}/m/x.gguf?Signature=SignedSecret")
        server.routes["m"] = lambda r: r.answer(200, MODEL)
        self.rule("remote.range.ignored", "ls", f"{server.url}/m/x.gguf?Signature=SignedSecret")


@unittest.skipUnless(shutil.which("openssl"), "makes the certificates")
class Tls(Case):
    def certificate(self, name):
        key, cert = self.folder / f"{name}.key", self.folder / f"{name}.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, "-subj",
                        f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        return str(cert), context

    def test_names_and_authorities(self):
        cert, context = self.certificate("localhost")
        server = self.serve(host="localhost", context=context)
        server.routes["m"] = good({"model.safetensors": MODEL})
        url = f"{server.url}/m/model.safetensors"
        self.good("ls", url, SSL_CERT_FILE=cert)
        self.rule("remote.tls", "ls", url)
        wrong, context = self.certificate("example.org")
        server = self.serve(host="localhost", context=context)
        self.rule("remote.tls", "ls", f"{server.url}/m/model.safetensors", SSL_CERT_FILE=wrong)

    def test_no_way_down(self):
        cert, context = self.certificate("localhost")
        server, plain = self.serve(host="localhost", context=context), self.serve()
        server.routes["m"] = lambda r: r.answer(302, Location=f"{plain.url}/m/x")
        self.rule("remote.redirect.insecure", "ls", f"{server.url}/m/x", SSL_CERT_FILE=cert, TARE_REMOTE_ALLOW="http private")
        self.assertEqual(plain.requests, [])


def has_curl():
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


if __name__ == "__main__":
    if not has_curl():
        print("libcurl is not installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
