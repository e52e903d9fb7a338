"""Pictures with matplotlib: histograms of tensors, and what quantization costs."""


def histogram(tensor, bins=100, ax=None, log=True):
    """The elements of a tensor. Returns the axes."""
    ax = _axes(ax)
    counts, edges = tensor.histogram(bins)
    ax.stairs(counts, edges, fill=True)
    if log:
        ax.set_yscale("symlog", linthresh=1)
    ax.set_title(f"{tensor.name} {'x'.join(map(str, tensor.shape))} {tensor.type}")
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
