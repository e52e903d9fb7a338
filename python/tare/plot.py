"""Pictures with matplotlib: histograms of tensors, and what quantization costs."""

import numpy as np


def histogram(tensor, bins=100, ax=None, log=True):
    """The finite elements of a tensor, or of an array, without a few far ones, whose number the title states. Returns the axes."""
    ax = _axes(ax)
    if hasattr(tensor, "histogram"):
        counts, edges, outside = tensor._inner_histogram(bins)
        name, kind = tensor.name, tensor.type
    else:
        array = np.asarray(tensor, dtype=np.float64)
        array = array[np.isfinite(array)]
        counts, edges = np.histogram(array, bins, _inner_range(array))
        outside = array.size - int(counts.sum())
        name, kind = "", str(tensor.dtype)
    ax.stairs(counts, edges, fill=True)
    if log:
        ax.set_yscale("symlog", linthresh=1)
    far = f"\n{outside:,} outside of {edges[0]:.4g} to {edges[-1]:.4g}" if outside else ""
    ax.set_title(f"{name} {'x'.join(map(str, tensor.shape))} {kind}".strip() + far)
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


def _inner_range(values):
    """As for a tensor: the power of two that 99.9 % of what is not zero stays below, then 99 %, if that is less than a third of the range."""
    magnitudes = np.abs(values[values != 0])
    if not magnitudes.size:
        return None
    least, most, found = values.min(), values.max(), None
    for share in (0.999, 0.99):
        below = np.partition(magnitudes, (at := max(0, int(np.ceil(share * magnitudes.size)) - 1)))[at]
        bound = 2.0 ** (np.floor(np.log2(below)) + 1)
        low, high = max(least, -bound), min(most, bound)
        if low < high and 3 * (high - low) < most - least:
            least, most = found = low, high
    return found


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots()[1]
