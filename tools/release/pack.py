#!/usr/bin/env python3
"""Puts what was built into the files of a release, with the same bytes each time: names sorted, times those of the commit.

    tools/release/pack.py wheel WHEEL TARGET DIST      renames its tag; adds the licences and the list of parts
    tools/release/pack.py archive TARE TARGET DIST     tare-VERSION-linux-PROCESSOR[-static].tar.gz
    tools/release/pack.py sums DIST                    SHA256SUMS and the list of parts of the whole release

TARGET is one of tools/release/kit. SOURCE_DATE_EPOCH is the time.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import sys
import tarfile
import time
import uuid
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
from version import version  # noqa: E402

GLIBC = "2_28"
LIMITS = {".whl": 12_000_000, ".tar.gz": 6_000_000}  # bytes; README.md states them, and tests/packaging.py compares


def epoch():
    return int(os.environ["SOURCE_DATE_EPOCH"])


def parts(target):
    """What is linked in: dictionaries of CycloneDX."""
    for line in (ROOT / "build/kit" / target / "versions.txt").read_text().splitlines():
        name, number, licence, linked, place, digest = line.split("\t")
        part = {"type": "library", "name": name, "version": number, "description": f"linked in: {linked}", "purl": place}
        if digest != "-":
            part["hashes"] = [{"alg": "SHA-256", "content": digest}]
        part["licenses"] = [{"expression": licence} if " " in licence else {"license": {"id": licence}}]
        yield part


def bill(components, name):
    """A CycloneDX document. Its number is made of its content, so that it is the same each time."""
    components = sorted({json.dumps(part, sort_keys=True): part for part in components}.values(), key=lambda part: part["purl"])
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch()))
    subject = {"type": "application", "name": name, "version": version(), "licenses": [{"license": {"id": "Apache-2.0"}}],
               "purl": f"pkg:pypi/tare-weights@{version()}"}
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"timestamp": stamp, "component": subject},
                "components": components}
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return json.dumps({**document, "serialNumber": f"urn:uuid:{number}"}, indent=1, sort_keys=True) + "\n"


def described(metadata):
    """METADATA, which ends with the README: PyPI shows it where relative links lead nowhere and pictures do not exist."""
    head, text = metadata.split("\n\n", 1)
    text = re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)]*\)", r"\1", text)
    return f"{head}\n\n{text}"


def licences(target):
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    for path in sorted((ROOT / "build/kit" / target / "licences").iterdir()):
        yield f"linked/{path.name}", path.read_bytes()


def print_size(path):
    size, limit = path.stat().st_size, next(limit for suffix, limit in LIMITS.items() if path.name.endswith(suffix))
    if size > limit:
        sys.exit(f"{path}: expected at most {limit} bytes, found {size}")
    print(f"{path} {size} bytes")


def pack_wheel(source, target, dist):
    processor = target.split("-")[0]
    tag = f"cp311-abi3-manylinux_{GLIBC}_{processor}"
    members = {}
    with zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                members[info.filename] = (archive.read(info), (info.external_attr >> 16) & 0o111)
    folder = next(name.split("/")[0] for name in members if name.endswith(".dist-info/WHEEL"))
    for name in [name for name in members if name.startswith(f"{folder}/licenses/") or name == f"{folder}/RECORD"]:
        del members[name]
    wheel, _ = members[f"{folder}/WHEEL"]
    members[f"{folder}/WHEEL"] = (re.sub(rb"(?m)^Tag: .*$", f"Tag: {tag}".encode(), wheel), 0)
    members[f"{folder}/METADATA"] = (described(members[f"{folder}/METADATA"][0].decode()).encode(), 0)
    for name, data in licences(target):
        members[f"{folder}/licenses/{name}"] = (data, 0)
    members[f"{folder}/sboms/tare-weights.cdx.json"] = (bill(parts(target), "tare-weights").encode(), 0)
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for name, (data, _) in sorted(members.items()))
    members[f"{folder}/RECORD"] = (f"{record}{folder}/RECORD,,\n".encode(), 0)

    out = dist / f"tare_weights-{version()}-{tag}.whl"
    when = time.gmtime(max(epoch(), 315532800))[:6]  # zip knows no time before 1980
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        # The description last, as the format asks for.
        for name in sorted(members, key=lambda name: (name.startswith(folder), name)):
            data, executable = members[name]
            info = zipfile.ZipInfo(name, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o100755 if executable or "/scripts/" in name else 0o100644) << 16
            archive.writestr(info, data)
    print_size(out)


def pack_archive(command, target, dist):
    processor, libc = target.split("-")
    name = f"tare-{version()}-linux-{processor}" + ("-static" if libc == "musl" else "")
    pages = ROOT / "build/kit/pages"
    members = {"bin/tare": (command.read_bytes(), 0o755), "share/man/man1/tare.1": ((pages / "tare.1").read_bytes(), 0o644),
               "share/bash-completion/completions/tare": ((pages / "tare.bash").read_bytes(), 0o644),
               "share/zsh/site-functions/_tare": ((pages / "_tare").read_bytes(), 0o644),
               "share/fish/vendor_completions.d/tare.fish": ((pages / "tare.fish").read_bytes(), 0o644),
               "share/doc/tare/parts.cdx.json": (bill(parts(target), "tare").encode(), 0o644)}
    for licence, data in licences(target):
        members[f"share/doc/tare/licences/{licence}"] = (data, 0o644)
    folders = sorted({str(parent) for member in members for parent in pathlib.PurePosixPath(member).parents if str(parent) != "."})

    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def add(path, data, mode, kind):
            info = tarfile.TarInfo(f"{name}/{path}".rstrip("/"))
            info.size, info.mode, info.mtime, info.type = len(data), mode, epoch(), kind
            archive.addfile(info, io.BytesIO(data))

        add("", b"", 0o755, tarfile.DIRTYPE)
        for folder in folders:
            add(folder, b"", 0o755, tarfile.DIRTYPE)
        for member, (data, mode) in sorted(members.items()):
            add(member, data, mode, tarfile.REGTYPE)
    out = dist / f"{name}.tar.gz"
    with open(out, "wb") as file, gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=epoch()) as packed:
        packed.write(raw.getvalue())
    print_size(out)


def pack_sums(dist):
    kits = [path.name for path in sorted((ROOT / "build/kit").iterdir()) if (path / "versions.txt").exists()]
    (dist / f"tare-{version()}.cdx.json").write_text(bill([part for kit in kits for part in parts(kit)], "tare"))
    names = sorted(path.name for path in dist.iterdir() if path.name != "SHA256SUMS")
    (dist / "SHA256SUMS").write_text("".join(f"{hashlib.sha256((dist / name).read_bytes()).hexdigest()}  {name}\n" for name in names))
    print(f"{dist / 'SHA256SUMS'} {len(names)} files")


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "wheel":
        pack_wheel(pathlib.Path(arguments[1]), arguments[2], pathlib.Path(arguments[3]))
    elif len(arguments) == 4 and arguments[0] == "archive":
        pack_archive(pathlib.Path(arguments[1]), arguments[2], pathlib.Path(arguments[3]))
    elif len(arguments) == 2 and arguments[0] == "sums":
        pack_sums(pathlib.Path(arguments[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
