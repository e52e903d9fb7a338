"""What Python's module makes of a file, for run.py: in_python.py WHAT PATH TENSOR."""
import sys

import tare


def open_it(path, tensor):
    model = tare.open(path)
    return [repr(model), len(model), model.metadata, model.config, tensor in model]


def use_it(path, tensor):
    model = tare.open(path)
    found = [model.info(), model.table(), model.vocabulary and model.vocabulary[0], list(model.attachments)]
    for name in list(model)[:3]:
        found += [model[name], model.tensor(name).stats()]
    return found + [tare.verify(path), tare.hash(path), tare.diff(path, path), tare.to_bytes(model, format="zt")]


def as_safetensors(path, tensor):
    from tare.safetensors import safe_open
    from tare.safetensors.numpy import load_file
    with safe_open(path, framework="np") as file:
        found = [file.metadata(), len(list(file.keys()))]
    return found + [len(load_file(path))]


def usual_names(path, tensor):
    with tare.open(path, usual_names=True) as model, tare.open(path, arrays=True) as arrays:
        return [len(model), len(arrays)]


def rows(path, tensor):
    """One by one, from the last to the first and then at random."""
    found = tare.open(path).tensor(tensor)
    every = range(0, len(found), max(1, len(found) // 300))
    return [found[i].sum() for i in [*reversed(every), *sorted(every, key=lambda i: i * 7919 % 1009)]]


def run_it(path, tensor):
    scorer = tare.run(path)
    return [scorer.logits([0, 1] * 100).shape, scorer.perplexity().value]


try:
    {"python open": open_it, "python use": use_it, "python safetensors": as_safetensors,
     "python usual names": usual_names, "python rows": rows,
     "python run": run_it}[sys.argv[1]](*sys.argv[2:])
except (tare.Error, KeyError, ValueError) as error:
    print(str(error)[:200], file=sys.stderr)
    sys.exit(1)
