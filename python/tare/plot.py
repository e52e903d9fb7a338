"""Pictures with matplotlib: histograms of tensors, and what quantization costs."""

import numpy as np


def histogram(tensor, bins=100, ax=None, log=True):
    """The finite elements of a tensor, or of an array. Returns the axes."""
    ax = _axes(ax)
    if hasattr(tensor, "histogram"):
        counts, edges = tensor.histogram(bins)
        name, kind = tensor.name, tensor.type
    else:
        array = np.asarray(tensor, dtype=np.float64)
        counts, edges = np.histogram(array[np.isfinite(array)], bins)
        name, kind = "", str(tensor.dtype)
    ax.stairs(counts, edges, fill=True)
    if log:
        ax.set_yscale("symlog", linthresh=1)
    ax.set_title(f"{name} {'x'.join(map(str, tensor.shape))} {kind}".strip())
    ax.set_xlabel("value")
    ax.set_ylabel("elements")
    return ax


def errors(reports, ax=None):
    """Bits per weight against relative error, for a dict from names to what `tare.quantize` returned. Returns the axes."""
    ax = _axes(ax)
    points = sorted((report.bits_per_weight, report.relative_rms, name) for name, report in reports.items())
    ax.plot([bits for bits, _, _ in points], [error for _, error, _ in points], marker="o")
    for bits, error, name in points:
        ax.annotate(name, (bits, error), textcoords="offset points", xytext=(4, 4))
    ax.set_yscale("log")
    ax.set_xlabel("bits per weight")
    ax.set_ylabel("relative rms error")
    return ax


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots()[1]
